//! All settings: the kind of their values, their defaults, and whether they do anything yet.
//!
//! `docs/settings.md` has the same table for users; a test compares the two. Defaults are words for people; what the
//! program takes is in [`super::values`].

use Effect::{Kept, Later, Yes};
use Kind::{AutoOr, Flag, FlagOr, Levels, Limit, Number, Object, Packages, Range, Resources, Size, Text, Texts, Word};

/// A kind of value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// True or false.
    Flag,
    /// True, false, or one of these words.
    FlagOr(&'static [&'static str]),
    /// Zero or more.
    Number,
    /// What is outside counts as the nearest end.
    Range(u32, u32),
    /// `"auto"`, or a number of this range.
    AutoOr(u32, u32),
    /// Milliseconds, or `"disabled"`.
    Limit,
    /// Bytes, or a text like `500MB`.
    Size,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Files, folders and patterns. Once, `skills` was an object: that is migrated.
    Resources,
    /// Sources of packages, or objects with one.
    Packages,
    /// A thinking level for each of its keys.
    Levels,
    /// An object.
    Object,
}

/// Whether a setting does anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It does.
    Yes,
    /// It will, with what it belongs to.
    Later,
    /// It is pi's own; it is kept.
    Kept,
}

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name, with dots between an object and what is in it.
    pub key: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Its default, in words for people.
    pub default: &'static str,
    /// Whether it does anything.
    pub effect: Effect,
}

const fn row(key: &'static str, kind: Kind, default: &'static str, effect: Effect) -> Setting {
    Setting { key, kind, default, effect }
}

const QUEUE: Kind = Word(&["one-at-a-time", "all"]);
const LEVEL: Kind = Word(&LEVELS);

/// Names of thinking levels.
pub(super) const LEVELS: [&str; 7] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The settings, in the order of the documentation. What is not here may hold anything: other programs and newer
/// versions share the file.
pub const SETTINGS: &[Setting] = &[
    row("$schema", Text, "", Kept),
    row("lastChangelogVersion", Text, "", Kept),
    row("extensionChangelogVersions", Object, "", Kept),
    row("defaultProvider", Text, "automatic", Yes),
    row("defaultModel", Text, "automatic", Yes),
    row("defaultThinkingLevel", LEVEL, "medium", Yes),
    row("modelThinkingLevels", Levels, "{}", Yes),
    row("thinkingBudgets", Object, "{}", Yes),
    row("thinkingBudgets.minimal", Number, "by model", Yes),
    row("thinkingBudgets.low", Number, "by model", Yes),
    row("thinkingBudgets.medium", Number, "by model", Yes),
    row("thinkingBudgets.high", Number, "by model", Yes),
    row("enabledModels", Texts, "all", Yes),
    row("hideThinkingBlock", Flag, "false", Yes),
    row("showCacheMissNotices", Flag, "false", Yes),
    row("cacheWarming", Word(&["off", "streaming", "idle"]), "idle", Later),
    row("transport", Word(&["auto", "sse", "websocket", "websocket-cached"]), "auto", Later),
    row("sessionShareDestination", Word(&["auto", "gist", "radius"]), "auto", Later),
    row("steeringMode", QUEUE, "one-at-a-time", Yes),
    row("followUpMode", QUEUE, "one-at-a-time", Yes),
    row("externalEditor", Text, "`$VISUAL`, `$EDITOR`, nano", Yes),
    row("doubleEscapeAction", Word(&["tree", "fork", "none"]), "tree", Yes),
    row("treeFilterMode", Word(&["default", "no-tools", "user-only", "labeled-only", "all"]), "default", Yes),
    row("defaultProjectTrust", Word(&["ask", "always", "never"]), "ask", Yes),
    row("defaultTools", Texts, "read, bash, edit, write", Yes),
    row("codemode", Object, "{}", Later),
    row("codemode.mode", Word(&["on", "only"]), "on", Later),
    row("codemode.inlineBudget", Number, "3000", Later),
    row("sessionDir", Text, "`sessions` in the user's folder", Yes),
    row("sessionSync", Word(&["turn", "entry", "never"]), "turn", Yes),
    row("sessionSaveWaitMs", Number, "30000", Yes),
    row("compaction", Object, "{}", Yes),
    row("compaction.enabled", Flag, "true", Yes),
    row("compaction.reserveTokens", Number, "16384", Yes),
    row("compaction.keepRecentTokens", Number, "20000", Yes),
    row("compaction.modelOverrides", Object, "{}", Yes),
    row("branchSummary", Object, "{}", Yes),
    row("branchSummary.reserveTokens", Number, "16384", Yes),
    row("branchSummary.skipPrompt", Flag, "false", Yes),
    row("retry", Object, "{}", Yes),
    row("retry.enabled", Flag, "true", Yes),
    row("retry.maxRetries", Number, "3", Yes),
    row("retry.baseDelayMs", Number, "2000", Yes),
    row("retry.maxAgentDelayMs", Number, "60000", Yes),
    row("retry.provider", Object, "{}", Yes),
    row("retry.provider.timeoutMs", Limit, "`httpIdleTimeoutMs`", Yes),
    row("retry.provider.maxRetries", Number, "0", Yes),
    row("retry.provider.maxRetryDelayMs", Number, "60000", Yes),
    row("httpProxy", Text, "the usual variables", Yes),
    row("httpIdleTimeoutMs", Limit, "300000", Yes),
    row("httpConnectTimeoutMs", Limit, "30000", Yes),
    row("websocketConnectTimeoutMs", Limit, "15000", Later),
    row("theme", Text, "system", Yes),
    row("quietStartup", FlagOr(&["header"]), "false", Yes),
    row("tuiMode", Word(&["regular", "fullscreen"]), "fullscreen", Yes),
    row("fullscreenExitOutput", Word(&["transcript", "resume-hint"]), "transcript", Yes),
    row("fullscreenScrollbar", Word(&["auto", "always", "hidden"]), "auto", Yes),
    row("fullscreenCopyOnSelect", Flag, "true", Yes),
    row("fullscreenWheelScrollLines", AutoOr(1, 100), "auto", Yes),
    row("editorMode", Word(&["plain", "vim"]), "plain", Yes),
    row("editorPaddingX", Range(0, 3), "0", Yes),
    row("outputPad", Range(0, 1), "1", Yes),
    row("autocompleteMaxVisible", Range(3, 20), "5", Yes),
    row("showHardwareCursor", Flag, "false", Later),
    row("terminal", Object, "{}", Yes),
    row("terminal.showImages", Flag, "true", Yes),
    row("terminal.imageWidthCells", Number, "60", Yes),
    row("terminal.clearOnShrink", Flag, "false", Later),
    row("terminal.showTerminalProgress", Flag, "false", Yes),
    row("terminal.hyperlinks", FlagOr(&["auto"]), "auto", Yes),
    row("terminal.images", FlagOr(&["auto", "kitty", "iterm2"]), "auto", Yes),
    row("terminal.trueColor", FlagOr(&["auto"]), "auto", Yes),
    row("terminal.notifications", Word(&["bell", "off", "osc9", "osc777", "command"]), "bell", Yes),
    row("terminal.notificationCommand", Texts, "none", Yes),
    row("terminal.notifyWhen", Word(&["unfocused", "always"]), "unfocused", Yes),
    row("terminal.notifyAfterMs", Number, "10000", Yes),
    row("images", Object, "{}", Yes),
    row("images.autoResize", Flag, "true", Yes),
    row("images.blockImages", Flag, "false", Yes),
    row("markdown", Object, "{}", Yes),
    row("markdown.codeBlockIndent", Text, "two spaces", Yes),
    row("markdown.mermaid", Word(&["off", "final", "streaming"]), "streaming", Later),
    row("shellPath", Text, "bash", Yes),
    row("shellCommandPrefix", Text, "none", Yes),
    row("npmCommand", Texts, "npm", Yes),
    row("selfUpdateCommand", Texts, "none", Later),
    row("packages", Packages, "[]", Yes),
    row("extensions", Texts, "[]", Later),
    row("skills", Resources, "[]", Yes),
    row("prompts", Resources, "[]", Yes),
    row("themes", Resources, "[]", Yes),
    row("enableSkillCommands", Flag, "true", Yes),
    row("collapseChangelog", Flag, "false", Later),
    row("enableInstallTelemetry", Flag, "true", Kept),
    row("enableAnalytics", Flag, "false", Kept),
    row("trackingId", Text, "none", Kept),
    row("deviceId", Text, "none", Kept),
    row("warnings", Object, "{}", Later),
    row("warnings.anthropicExtraUsage", Flag, "true", Later),
    row("oauth", Object, "{}", Yes),
    row("permissions", Object, "{}", Yes),
    row("permissions.mode", Word(&["off", "allow", "ask", "deny"]), "off", Yes),
    row("permissions.allow", Texts, "[]", Yes),
    row("permissions.ask", Texts, "[]", Yes),
    row("permissions.deny", Texts, "[]", Yes),
    row("permissions.projectAllow", Flag, "false", Yes),
    row("permissions.askTimeoutMs", Limit, "none", Yes),
    row("sandbox", Object, "{}", Yes),
    row("sandbox.mode", Word(&["off", "workspace", "read-only"]), "off", Yes),
    row("sandbox.network", Flag, "false", Yes),
    row("sandbox.unixSockets", Flag, "false", Yes),
    row("sandbox.writable", Texts, "[]", Yes),
    row("sandbox.readable", Texts, "[]", Yes),
    row("sandbox.denied", Texts, "[]", Yes),
    row("ssh", Object, "{}", Yes),
    row("ssh.options", Texts, "[]", Yes),
    row("controlSocket", Flag, "true", Yes),
    row("checkpoints", Object, "{}", Yes),
    row("checkpoints.enabled", Flag, "true", Yes),
    row("checkpoints.required", Flag, "false", Yes),
    row("checkpoints.maxSize", Size, "500MB", Yes),
    row("checkpoints.maxAgeDays", Number, "30", Yes),
    row("siblings", Object, "{}", Yes),
    row("siblings.tools", Flag, "false", Yes),
    row("siblings.maxRunning", Number, "8", Yes),
    row("siblings.maxTotal", Number, "64", Yes),
    row("siblings.maxDepth", Number, "2", Yes),
];

/// Names of settings that older versions had; they are migrated on reading.
pub(super) const OLD_NAMES: [&str; 3] = ["queueMode", "websockets", "retry.maxDelayMs"];

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(kind: Kind) -> String {
        let words = |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        match kind {
            Flag => "true or false".into(),
            FlagOr(others) => format!("true, false, {}", words(others)),
            Number => "number".into(),
            Range(min, max) => format!("number from {min} to {max}"),
            AutoOr(min, max) => format!("`auto` or number from {min} to {max}"),
            Limit => "milliseconds or `disabled`".into(),
            Size => "bytes, or text like `500MB`".into(),
            Text => "text".into(),
            Texts | Resources => "list of texts".into(),
            Word(known) => words(known),
            Packages => "list of texts and objects".into(),
            Levels => "object of levels".into(),
            Object => "object".into(),
        }
    }

    #[test]
    fn the_documentation_has_this_table() {
        let page = include_str!("../../../docs/settings.md");
        let documented: Vec<String> = page
            .lines()
            .filter(|line| line.starts_with("| `") && line.matches(" | ").count() == 4)
            .filter_map(|line| line.rsplit_once(" | ").map(|(facts, _meaning)| facts.to_owned()))
            .collect();
        let effect = |effect| match effect {
            Yes => "yes",
            Later => "not yet",
            Kept => "kept",
        };
        let known: Vec<String> = SETTINGS
            .iter()
            .map(|s| format!("| `{}` | {} | {} | {}", s.key, spelled(s.kind), s.default, effect(s.effect)))
            .collect();
        assert_eq!(documented, known);
    }

    #[test]
    fn an_object_stands_before_what_is_in_it() {
        for (at, setting) in SETTINGS.iter().enumerate() {
            if let Some((object, _)) = setting.key.rsplit_once('.') {
                assert!(SETTINGS[..at].iter().any(|known| known.key == object), "{}", setting.key);
            }
        }
    }
}
