//! The settings that are listed, with their names for people. Kinds and defaults are those of the settings' own table.

use crate::store::settings::table::{Kind, SETTINGS, Setting};

/// A setting in the list.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// Its key, with dots between an object and what is in it.
    pub key: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
}

const fn row(key: &'static str, name: &'static str, about: &'static str) -> Listed {
    Listed { key, name, about }
}

/// The settings, in the order of the list.
pub const LISTED: &[Listed] = &[
    row("theme", "Theme", "Colours; system follows the terminal"),
    row("hideThinkingBlock", "Hide thinking", "Fold thoughts away"),
    row("defaultThinkingLevel", "Thinking level", "How much models think when nothing else says so"),
    row("compaction.enabled", "Compact by itself", "Summarise old history when the context is nearly full"),
    row("compaction.reserveTokens", "Tokens kept free", "Tokens of the context that a compaction leaves free"),
    row("compaction.keepRecentTokens", "Recent tokens kept", "Tokens of recent history that a compaction keeps"),
    row("steeringMode", "Steering messages", "How messages for the running turn are delivered"),
    row("followUpMode", "Follow-up messages", "How messages for after the run are delivered"),
    row("permissions.mode", "Permissions", "What becomes of calls that no rule is about"),
    row("permissions.projectAllow", "Projects may allow", "Rules of a project may allow calls, too"),
    row("sandbox.mode", "Sandbox", "Walls around commands; counts from the next start on"),
    row("sandbox.network", "Sandbox with network", "Commands in the sandbox reach the network"),
    row("checkpoints.enabled", "Checkpoints", "Keep what files held, so that changes can be undone"),
    row("checkpoints.maxSize", "Size of checkpoints", "How much is kept of files"),
    row("checkpoints.maxAgeDays", "Age of checkpoints", "Days that they are kept"),
    row("retry.enabled", "Retry failed calls", "Ask the model again when a call fails for a passing reason"),
    row("retry.maxRetries", "Retries", "How often at most"),
    row("showCacheMissNotices", "Tell cache misses", "Say when a prompt missed the provider's cache"),
    row("doubleEscapeAction", "Escape twice", "What it does in an empty editor"),
    row("treeFilterMode", "Filter of the tree", "What the session tree shows at first"),
    row("branchSummary.skipPrompt", "No question in the tree", "Go on elsewhere without asking about a summary"),
    row("enableSkillCommands", "Skills as commands", "Skills are called by /skill:name"),
    row("defaultProjectTrust", "Trust of projects", "What happens with projects that nobody decided about"),
    row("editorMode", "Keys of the editor, or Vim", "The usual ones, or those of Vim"),
    row("externalEditor", "External editor", "The editor for long prompts"),
    row("quietStartup", "Quiet start", "Show no header, or a short one"),
    row("tuiMode", "Screen", "The whole terminal, or lines in its own history; from the next start on"),
    row("fullscreenExitOutput", "Left on the terminal", "What stays when the whole screen is left"),
    row("fullscreenScrollbar", "Scrollbar", "Whether it is shown"),
    row("fullscreenCopyOnSelect", "Copy what is selected", "Selecting with the mouse copies"),
    row("fullscreenWheelScrollLines", "Lines of the wheel", "How far the mouse wheel scrolls"),
    row("editorPaddingX", "Space beside the editor", "Columns at both sides of the editor's text"),
    row("outputPad", "Space beside the text", "Columns at both sides of the conversation"),
    row("autocompleteMaxVisible", "Rows of completion", "How many suggestions are seen"),
    row("markdown.codeBlockIndent", "Indentation of code", "What stands before lines of code"),
    row("terminal.showImages", "Pictures", "Show pictures where the terminal can"),
    row("terminal.imageWidthCells", "Width of pictures", "Columns"),
    row("terminal.hyperlinks", "Links", "Whether links can be clicked"),
    row("terminal.trueColor", "True colour", "Whether the terminal shows all colours"),
    row("images.autoResize", "Shrink pictures", "Make pictures small enough for the model"),
    row("images.blockImages", "No pictures to models", "Never send pictures"),
    row("httpProxy", "Proxy", "The way to providers"),
    row("httpIdleTimeoutMs", "Silence of providers", "Milliseconds without a byte before a call fails"),
    row("shellPath", "Shell", "The program that runs commands"),
    row("shellCommandPrefix", "Before every command", "Runs in front of each command"),
    row("sessionDir", "Folder of sessions", "Where sessions are kept; from the next start on"),
    row("sessionSync", "Writing to the disk", "When a session must have reached the disk"),
];

impl Listed {
    /// What the settings' own table says of it.
    #[must_use]
    pub fn setting(&self) -> Option<&'static Setting> {
        SETTINGS.iter().find(|setting| setting.key == self.key)
    }

    /// The kind of its value.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.setting().map_or(Kind::Text, |setting| setting.kind)
    }

    /// The parts of its key.
    #[must_use]
    pub fn path(&self) -> Vec<&'static str> {
        self.key.split('.').collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::settings::table::Effect;

    #[test]
    fn every_listed_setting_exists_once_does_something_and_can_be_edited() {
        for (at, listed) in LISTED.iter().enumerate() {
            let setting = listed.setting().unwrap_or_else(|| panic!("{} is no setting", listed.key));
            assert_eq!(setting.effect, Effect::Yes, "{}", listed.key);
            assert!(
                !matches!(setting.kind, Kind::Object | Kind::Texts | Kind::Levels | Kind::Packages),
                "{}",
                listed.key
            );
            assert!(!LISTED[..at].iter().any(|other| other.key == listed.key), "{} stands there twice", listed.key);
        }
    }
}
