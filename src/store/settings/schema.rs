//! What kind of value each setting takes, so that a typing error is told instead of silently reading as the default.

use Kind::{Flag, Limit, Number, Object, Size, Text, Texts, Word};

use crate::store::document::{Fault, Field};

/// A kind of value.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Flag,
    /// Zero or more.
    Number,
    /// Milliseconds, or `"disabled"`.
    Limit,
    Text,
    /// Bytes, or a text like `500MB`.
    Size,
    Texts,
    Word(&'static [&'static str]),
    Object,
}

const QUEUE_MODES: Kind = Word(&["one-at-a-time", "all"]);
const LEVELS: Kind = Word(&["off", "minimal", "low", "medium", "high", "xhigh", "max"]);

/// The settings that are checked. What is not here may hold anything: other programs and newer versions share the file.
const SETTINGS: &[(&[&str], Kind)] = &[
    (&["defaultProvider"], Text),
    (&["defaultModel"], Text),
    (&["defaultThinkingLevel"], LEVELS),
    (&["modelThinkingLevels"], Object),
    (&["thinkingBudgets"], Object),
    (&["thinkingBudgets", "minimal"], Number),
    (&["thinkingBudgets", "low"], Number),
    (&["thinkingBudgets", "medium"], Number),
    (&["thinkingBudgets", "high"], Number),
    (&["enabledModels"], Texts),
    (&["defaultTools"], Texts),
    (&["steeringMode"], QUEUE_MODES),
    (&["followUpMode"], QUEUE_MODES),
    (&["sessionDir"], Text),
    (&["compaction"], Object),
    (&["compaction", "enabled"], Flag),
    (&["compaction", "reserveTokens"], Number),
    (&["compaction", "keepRecentTokens"], Number),
    (&["compaction", "modelOverrides"], Object),
    (&["checkpoints"], Object),
    (&["checkpoints", "enabled"], Flag),
    (&["checkpoints", "required"], Flag),
    (&["checkpoints", "maxSize"], Size),
    (&["checkpoints", "maxAgeDays"], Number),
    (&["branchSummary"], Object),
    (&["branchSummary", "reserveTokens"], Number),
    (&["branchSummary", "skipPrompt"], Flag),
    (&["retry"], Object),
    (&["retry", "enabled"], Flag),
    (&["retry", "maxRetries"], Number),
    (&["retry", "baseDelayMs"], Number),
    (&["retry", "maxAgentDelayMs"], Number),
    (&["retry", "provider"], Object),
    (&["retry", "provider", "timeoutMs"], Limit),
    (&["retry", "provider", "maxRetries"], Number),
    (&["retry", "provider", "maxRetryDelayMs"], Number),
    (&["httpProxy"], Text),
    (&["oauth"], Object),
    (&["httpIdleTimeoutMs"], Limit),
    (&["httpConnectTimeoutMs"], Limit),
    (&["images"], Object),
    (&["images", "autoResize"], Flag),
    (&["images", "blockImages"], Flag),
    (&["permissions"], Object),
    (&["permissions", "mode"], Word(&["off", "allow", "ask", "deny"])),
    (&["permissions", "allow"], Texts),
    (&["permissions", "ask"], Texts),
    (&["permissions", "deny"], Texts),
    (&["permissions", "projectAllow"], Flag),
    (&["permissions", "askTimeoutMs"], Limit),
    (&["shellPath"], Text),
    (&["shellCommandPrefix"], Text),
    (&["sandbox"], Object),
    (&["ssh"], Object),
    (&["ssh", "options"], Texts),
    (&["defaultProjectTrust"], Word(&["ask", "always", "never"])),
    (&["hideThinkingBlock"], Flag),
    (&["enableSkillCommands"], Flag),
];

/// What is wrong with the values of a settings file. Each of them reads as its default.
pub(super) fn check(root: &Field<'_>) -> Vec<Fault> {
    SETTINGS.iter().filter_map(|(path, kind)| check_one(root, path, *kind)).collect()
}

fn check_one(root: &Field<'_>, path: &[&str], kind: Kind) -> Option<Fault> {
    let Some((key, rest)) = path.split_first() else { return kind.fault(root) };
    // An object that is none is told once, at its own line of the table.
    let field = root.object().ok()?.get(key)?;
    check_one(&field, rest, kind)
}

impl Kind {
    fn fault(self, field: &Field<'_>) -> Option<Fault> {
        let is_count = field.value().as_f64().is_some_and(|number| number >= 0.0);
        match self {
            Flag => field.flag().err(),
            Number => (!is_count).then(|| field.expected("a number, zero or more")),
            Limit if field.text() == Ok("disabled") => None,
            Limit => (!is_count).then(|| field.expected("milliseconds or \"disabled\"")),
            Size if field.text().is_ok_and(|text| super::checkpoints::parse_size(text).is_some()) => None,
            Size => (!is_count).then(|| field.expected("bytes, or a text like \"500MB\"")),
            Text => field.text().err(),
            Texts => field.items().and_then(|items| items.iter().try_for_each(|item| item.text().map(drop))).err(),
            Word(words) => field.one_of(words).err(),
            Object => field.object().err(),
        }
    }
}
