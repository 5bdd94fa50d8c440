//! Settings by name, with types and defaults. A value of the wrong type, or an unknown word, reads as the default.

use std::{path::PathBuf, time::Duration};

use serde_json::{Map, Value};

use super::Settings;
use crate::{
    protocol::{ModelRef, ThinkingLevel, command::QueueMode},
    store::trust::DefaultTrust,
};

/// Retries of a failed model call by the turn loop (`retry.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetrySettings {
    /// Whether the loop retries at all.
    pub enabled: bool,
    /// How often at most.
    pub max_retries: u32,
    /// The first wait; each further one is twice as long.
    pub base_delay: Duration,
    /// No wait is longer.
    pub max_delay: Duration,
}

/// How long a request waits for what. None = for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpTimeouts {
    /// `httpConnectTimeoutMs`: for the connection.
    pub connect: Option<Duration>,
    /// `retry.provider.timeoutMs`: for the beginning of the answer; `httpIdleTimeoutMs` unless set.
    pub first_byte: Option<Duration>,
    /// `httpIdleTimeoutMs`: for the next piece of the answer.
    pub idle: Option<Duration>,
}

/// Retries inside one request (`retry.provider.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRetrySettings {
    /// How often at most.
    pub max_retries: u32,
    /// A server that asks for a longer wait fails the call; zero = no limit.
    pub max_delay: Duration,
}

/// When and how far a session is compacted (`compaction.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionSettings {
    /// Whether it happens by itself.
    pub enabled: bool,
    /// Tokens of the window that stay free.
    pub reserve_tokens: u64,
    /// Tokens of recent messages that are kept as they are.
    pub keep_recent_tokens: u64,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self { enabled: true, reserve_tokens: 16_384, keep_recent_tokens: 20_000 }
    }
}

/// What happens to pictures (`images.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSettings {
    /// Too large ones are made smaller.
    pub auto_resize: bool,
    /// None is read or sent.
    pub block: bool,
}

/// What is printed at the start (`quietStartup`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuietStartup {
    /// Everything.
    #[default]
    No,
    /// The header alone.
    Header,
    /// Nothing.
    Yes,
}

/// `sessionDir`, `shellPath` and other paths may begin with `~`; whoever uses them expands it.
impl Settings {
    /// The text at `path`; an empty one counts as unset.
    #[must_use]
    pub fn text(&self, path: &[&str]) -> Option<&str> {
        self.get(path)?.as_str().filter(|text| !text.is_empty())
    }

    /// The flag at `path`.
    #[must_use]
    pub fn flag(&self, path: &[&str], default: bool) -> bool {
        self.get(path).and_then(Value::as_bool).unwrap_or(default)
    }

    /// The number at `path`, zero or more; fractions are cut.
    #[must_use]
    pub fn whole(&self, path: &[&str]) -> Option<u64> {
        let number = self.get(path)?.as_f64().filter(|number| number.is_finite() && *number >= 0.0)?;
        // Saturates, which is right for "as much as possible".
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some(number as u64)
    }

    /// The number at `path`, brought into `range`.
    #[must_use]
    pub fn clamped(&self, path: &[&str], range: std::ops::RangeInclusive<u64>, default: u64) -> u64 {
        self.whole(path).map_or(default, |number| number.clamp(*range.start(), *range.end()))
    }

    /// The word at `path` when it is one of `words`, else the first of them.
    #[must_use]
    pub fn word<'a>(&self, path: &[&str], words: &[&'a str]) -> &'a str {
        let set = self.text(path);
        words.iter().find(|word| set == Some(**word)).or(words.first()).copied().unwrap_or_default()
    }

    /// The texts of the list at `path`.
    #[must_use]
    pub fn texts(&self, path: &[&str]) -> Option<Vec<String>> {
        let list = self.get(path)?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// The duration in milliseconds at `path`; `"disabled"` and 0 are no limit.
    fn limit(&self, path: &[&str], default: Option<Duration>) -> Option<Duration> {
        let ms = match self.get(path) {
            Some(Value::String(word)) if word == "disabled" => 0,
            _ => match self.whole(path) {
                Some(ms) => ms,
                None => return default,
            },
        };
        (ms > 0).then(|| Duration::from_millis(ms))
    }

    /// `defaultProvider` and `defaultModel`, when both are set.
    #[must_use]
    pub fn default_model(&self) -> Option<ModelRef> {
        let provider = self.text(&["defaultProvider"])?.to_owned();
        Some(ModelRef { provider, model_id: self.text(&["defaultModel"])?.to_owned() })
    }

    /// `defaultThinkingLevel`.
    #[must_use]
    pub fn default_thinking_level(&self) -> Option<ThinkingLevel> {
        ThinkingLevel::parse(self.text(&["defaultThinkingLevel"])?)
    }

    /// The level that `modelThinkingLevels` has for a model.
    #[must_use]
    pub fn model_thinking_level(&self, model: &ModelRef) -> Option<ThinkingLevel> {
        ThinkingLevel::parse(self.text(&["modelThinkingLevels", &model.to_string()])?)
    }

    /// `thinkingBudgets`: tokens by level name.
    #[must_use]
    pub fn thinking_budgets(&self) -> Map<String, Value> {
        let budgets = self.get(&["thinkingBudgets"]).and_then(Value::as_object);
        let numbers = budgets.into_iter().flatten().filter(|(_, tokens)| tokens.as_u64().is_some());
        numbers.map(|(level, tokens)| (level.clone(), tokens.clone())).collect()
    }

    /// `enabledModels`: patterns of the models to choose from and to cycle through.
    #[must_use]
    pub fn enabled_models(&self) -> Option<Vec<String>> {
        self.texts(&["enabledModels"]).filter(|list| !list.is_empty())
    }

    /// `steeringMode`.
    #[must_use]
    pub fn steering_mode(&self) -> QueueMode {
        self.queue_mode("steeringMode")
    }

    /// `followUpMode`.
    #[must_use]
    pub fn follow_up_mode(&self) -> QueueMode {
        self.queue_mode("followUpMode")
    }

    fn queue_mode(&self, key: &str) -> QueueMode {
        match self.word(&[key], &["one-at-a-time", "all"]) {
            "all" => QueueMode::All,
            _ => QueueMode::OneAtATime,
        }
    }

    /// `retry.*` but `retry.provider`.
    #[must_use]
    pub fn retry(&self) -> RetrySettings {
        let ms = |key, default| Duration::from_millis(self.whole(&["retry", key]).unwrap_or(default));
        RetrySettings {
            enabled: self.flag(&["retry", "enabled"], true),
            max_retries: self.count(&["retry", "maxRetries"], 3),
            base_delay: ms("baseDelayMs", 2000),
            max_delay: ms("maxAgentDelayMs", 60_000),
        }
    }

    /// `retry.provider.*`.
    #[must_use]
    pub fn request_retry(&self) -> RequestRetrySettings {
        let max_delay = self.whole(&["retry", "provider", "maxRetryDelayMs"]).unwrap_or(60_000);
        RequestRetrySettings {
            max_retries: self.count(&["retry", "provider", "maxRetries"], 0),
            max_delay: Duration::from_millis(max_delay),
        }
    }

    fn count(&self, path: &[&str], default: u32) -> u32 {
        self.whole(path).map_or(default, |number| u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// `compaction.*` for a model (`compaction.modelOverrides` has numbers of its own by `provider/id`).
    #[must_use]
    pub fn compaction(&self, model: Option<&ModelRef>) -> CompactionSettings {
        let name = model.map(ModelRef::to_string).unwrap_or_default();
        let tokens = |key: &str, default| {
            let own = self.whole(&["compaction", "modelOverrides", &name, key]);
            own.or_else(|| self.whole(&["compaction", key])).unwrap_or(default)
        };
        let default = CompactionSettings::default();
        CompactionSettings {
            enabled: self.flag(&["compaction", "enabled"], default.enabled),
            reserve_tokens: tokens("reserveTokens", default.reserve_tokens),
            keep_recent_tokens: tokens("keepRecentTokens", default.keep_recent_tokens),
        }
    }

    /// `branchSummary.reserveTokens` and `branchSummary.skipPrompt`.
    #[must_use]
    pub fn branch_summary(&self) -> (u64, bool) {
        let reserve = self.whole(&["branchSummary", "reserveTokens"]).unwrap_or(16_384);
        (reserve, self.flag(&["branchSummary", "skipPrompt"], false))
    }

    /// `images.*`.
    #[must_use]
    pub fn images(&self) -> ImageSettings {
        ImageSettings {
            auto_resize: self.flag(&["images", "autoResize"], true),
            block: self.flag(&["images", "blockImages"], false),
        }
    }

    /// `httpConnectTimeoutMs`, `retry.provider.timeoutMs` and `httpIdleTimeoutMs`.
    #[must_use]
    pub fn http_timeouts(&self) -> HttpTimeouts {
        let idle = self.limit(&["httpIdleTimeoutMs"], Some(Duration::from_secs(300)));
        HttpTimeouts {
            connect: self.limit(&["httpConnectTimeoutMs"], Some(Duration::from_secs(30))),
            first_byte: self.limit(&["retry", "provider", "timeoutMs"], idle),
            idle,
        }
    }

    /// `httpProxy`.
    #[must_use]
    pub fn http_proxy(&self) -> Option<&str> {
        self.text(&["httpProxy"])
    }

    /// `sessionDir`.
    #[must_use]
    pub fn session_dir(&self) -> Option<PathBuf> {
        self.text(&["sessionDir"]).map(PathBuf::from)
    }

    /// `shellPath`.
    #[must_use]
    pub fn shell_path(&self) -> Option<&str> {
        self.text(&["shellPath"])
    }

    /// `ssh.options`: arguments of every call of ssh.
    #[must_use]
    pub fn ssh_options(&self) -> Vec<String> {
        self.texts(&["ssh", "options"]).unwrap_or_default()
    }

    /// `shellCommandPrefix`.
    #[must_use]
    pub fn shell_command_prefix(&self) -> Option<&str> {
        self.text(&["shellCommandPrefix"])
    }

    /// `defaultProjectTrust`.
    #[must_use]
    pub fn default_project_trust(&self) -> DefaultTrust {
        match self.word(&["defaultProjectTrust"], &["ask", "always", "never"]) {
            "always" => DefaultTrust::Always,
            "never" => DefaultTrust::Never,
            _ => DefaultTrust::Ask,
        }
    }

    /// `quietStartup`.
    #[must_use]
    pub fn quiet_startup(&self) -> QuietStartup {
        match self.get(&["quietStartup"]) {
            Some(Value::Bool(true)) => QuietStartup::Yes,
            Some(Value::String(word)) if word == "header" => QuietStartup::Header,
            _ => QuietStartup::No,
        }
    }

    /// `hideThinkingBlock`.
    #[must_use]
    pub fn hide_thinking(&self) -> bool {
        self.flag(&["hideThinkingBlock"], false)
    }

    /// `enableSkillCommands`.
    #[must_use]
    pub fn skill_commands(&self) -> bool {
        self.flag(&["enableSkillCommands"], true)
    }

    /// `npmCommand`: the program and its first arguments.
    #[must_use]
    pub fn npm_command(&self) -> Vec<String> {
        self.texts(&["npmCommand"]).filter(|list| !list.is_empty()).unwrap_or_else(|| vec!["npm".to_owned()])
    }
}
