//! What keys can do.

/// Declares the actions once: variant, id in `keybindings.json`, keys, and what it does in few words.
macro_rules! actions {
    ($($variant:ident = $id:literal [$($key:literal),*] $does:literal,)*) => {
        /// Something that a key can do. The ids are pi's, but for the last ones.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = concat!("`", $id, "`: ", $does, ".")] $variant,)*
        }

        impl Action {
            /// All of them, in the order in which they are listed.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The id in `keybindings.json`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)*
                }
            }

            /// The names of its keys when the file says nothing.
            #[must_use]
            pub const fn default_keys(self) -> &'static [&'static str] {
                match self {
                    $(Self::$variant => &[$($key),*],)*
                }
            }

            /// What it does, in a few words.
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => $does,)*
                }
            }
        }
    };
}

actions! {
    // the editor
    CursorUp = "tui.editor.cursorUp" ["up"] "Move the cursor up",
    CursorDown = "tui.editor.cursorDown" ["down"] "Move the cursor down",
    HistoryPrevious = "tui.editor.historyPrevious" [] "Take the prompt before from the history",
    HistoryNext = "tui.editor.historyNext" [] "Take the next prompt from the history",
    CursorLeft = "tui.editor.cursorLeft" ["left", "ctrl+b"] "Move the cursor left",
    CursorRight = "tui.editor.cursorRight" ["right", "ctrl+f"] "Move the cursor right",
    CursorWordLeft = "tui.editor.cursorWordLeft" ["alt+left", "ctrl+left", "alt+b"] "Move the cursor a word left",
    CursorWordRight = "tui.editor.cursorWordRight" ["alt+right", "ctrl+right", "alt+f"] "Move the cursor a word right",
    CursorLineStart = "tui.editor.cursorLineStart" ["home", "ctrl+a"] "Move the cursor to the start of the line",
    CursorLineEnd = "tui.editor.cursorLineEnd" ["end", "ctrl+e"] "Move the cursor to the end of the line",
    JumpForward = "tui.editor.jumpForward" ["ctrl+]"] "Jump forward to a character",
    JumpBackward = "tui.editor.jumpBackward" ["ctrl+alt+]"] "Jump backward to a character",
    EditorPageUp = "tui.editor.pageUp" ["pageUp", "ctrl+pageUp"] "Move the cursor a page up",
    EditorPageDown = "tui.editor.pageDown" ["pageDown", "ctrl+pageDown"] "Move the cursor a page down",
    DeleteCharBackward = "tui.editor.deleteCharBackward" ["backspace"] "Delete the character before the cursor",
    DeleteCharForward = "tui.editor.deleteCharForward" ["delete", "ctrl+d"] "Delete the character at the cursor",
    DeleteWordBackward = "tui.editor.deleteWordBackward" ["ctrl+w", "alt+backspace"] "Delete the word before the cursor",
    DeleteWordForward = "tui.editor.deleteWordForward" ["alt+d", "alt+delete"] "Delete the word after the cursor",
    DeleteToLineStart = "tui.editor.deleteToLineStart" ["ctrl+u"] "Delete to the start of the line",
    DeleteToLineEnd = "tui.editor.deleteToLineEnd" ["ctrl+k"] "Delete to the end of the line",
    Yank = "tui.editor.yank" ["ctrl+y"] "Put back what was deleted last",
    YankPop = "tui.editor.yankPop" ["alt+y"] "Replace what was put back by what was deleted before it",
    Undo = "tui.editor.undo" ["ctrl+-"] "Undo",
    // input
    NewLine = "tui.input.newLine" ["shift+enter", "ctrl+j"] "Begin a new line",
    Submit = "tui.input.submit" ["enter"] "Send",
    InputTab = "tui.input.tab" ["tab"] "Complete",
    InputCopy = "tui.input.copy" ["ctrl+c"] "Copy what is selected",
    // lists
    SelectUp = "tui.select.up" ["up"] "Go up in a list",
    SelectDown = "tui.select.down" ["down"] "Go down in a list",
    SelectPageUp = "tui.select.pageUp" ["pageUp"] "Go a page up in a list",
    SelectPageDown = "tui.select.pageDown" ["pageDown"] "Go a page down in a list",
    SelectConfirm = "tui.select.confirm" ["enter"] "Take what is marked",
    SelectCancel = "tui.select.cancel" ["escape", "ctrl+c"] "Leave a list",
    // the transcript in full screen
    ScrollPageUp = "tui.altScreen.pageUp" ["pageUp"] "Scroll a page up",
    ScrollPageDown = "tui.altScreen.pageDown" ["pageDown"] "Scroll a page down",
    ScrollHalfPageUp = "tui.altScreen.halfPageUp" [] "Scroll half a page up",
    ScrollHalfPageDown = "tui.altScreen.halfPageDown" [] "Scroll half a page down",
    ScrollLineUp = "tui.altScreen.lineUp" [] "Scroll a line up",
    ScrollLineDown = "tui.altScreen.lineDown" [] "Scroll a line down",
    PreviousPrompt = "tui.altScreen.previousPrompt" ["ctrl+shift+up", "ctrl+up"] "Scroll to the prompt before",
    NextPrompt = "tui.altScreen.nextPrompt" ["ctrl+shift+down", "ctrl+down"] "Scroll to the next prompt",
    Search = "tui.altScreen.search" ["ctrl+shift+f"] "Search the transcript",
    SearchNext = "tui.altScreen.searchNext" ["enter", "ctrl+g"] "Go to the next match",
    SearchPrevious = "tui.altScreen.searchPrevious" ["shift+enter", "ctrl+shift+g"] "Go to the match before",
    SearchClose = "tui.altScreen.searchClose" ["escape"] "Leave the search",
    ScrollTop = "tui.altScreen.top" ["ctrl+home"] "Scroll to the start",
    ScrollBottom = "tui.altScreen.bottom" ["ctrl+end"] "Scroll to the end",
    // the program
    Interrupt = "app.interrupt" ["escape"] "Stop what is running",
    Clear = "app.clear" ["ctrl+c"] "Clear the editor; twice quits",
    Exit = "app.exit" ["ctrl+d"] "Quit when the editor is empty",
    Suspend = "app.suspend" ["ctrl+z"] "Suspend to the shell",
    ExternalEditor = "app.editor.external" ["ctrl+g"] "Edit in $EDITOR",
    PasteImage = "app.clipboard.pasteImage" ["ctrl+v"] "Paste an image or text from the clipboard",
    CycleThinking = "app.thinking.cycle" ["shift+tab"] "Next thinking level",
    SaveThinking = "app.thinking.save" ["ctrl+s"] "Save the thinking level as the default",
    ToggleThinking = "app.thinking.toggle" ["ctrl+t"] "Show or hide thinking",
    SelectModel = "app.model.select" ["ctrl+l"] "Choose a model",
    NextModel = "app.model.cycleForward" ["ctrl+p"] "Next model",
    PreviousModel = "app.model.cycleBackward" ["ctrl+shift+p"] "Model before",
    SaveModel = "app.models.save" ["ctrl+s"] "Save the model choice as the default",
    EnableAllModels = "app.models.enableAll" ["ctrl+a"] "Enable all models",
    ClearAllModels = "app.models.clearAll" ["ctrl+x"] "Disable all models",
    ToggleProvider = "app.models.toggleProvider" ["ctrl+p"] "Enable or disable a provider's models",
    ReorderModelUp = "app.models.reorderUp" ["alt+up"] "Move a model up",
    ReorderModelDown = "app.models.reorderDown" ["alt+down"] "Move a model down",
    ExpandTools = "app.tools.expand" ["ctrl+o"] "Show tools in full or short",
    CopyMessage = "app.message.copy" ["ctrl+x"] "Copy the last answer",
    FollowUp = "app.message.followUp" ["alt+enter"] "Send after the current run",
    Dequeue = "app.message.dequeue" ["alt+up"] "Take queued messages back into the editor",
    NewSession = "app.session.new" [] "Begin a new session",
    SessionTree = "app.session.tree" [] "Show the session's tree",
    ForkSession = "app.session.fork" [] "Fork the session",
    ResumeSession = "app.session.resume" [] "Resume a session",
    ToggleSessionPath = "app.session.togglePath" ["ctrl+p"] "Show or hide the folders of sessions",
    ToggleSessionSort = "app.session.toggleSort" ["ctrl+s"] "Sort the sessions in another way",
    ToggleNamedSessions = "app.session.toggleNamedFilter" ["ctrl+n"] "Show named sessions only, or all",
    RenameSession = "app.session.rename" ["ctrl+r"] "Rename a session",
    DeleteSession = "app.session.delete" ["ctrl+d"] "Delete a session",
    DeleteSessionNoninvasive = "app.session.deleteNoninvasive" ["ctrl+backspace"] "Delete a session when nothing is searched",
    FoldOrUp = "app.tree.foldOrUp" ["ctrl+left", "alt+left"] "Fold a branch, or go up",
    UnfoldOrDown = "app.tree.unfoldOrDown" ["ctrl+right", "alt+right"] "Unfold a branch, or go down",
    EditLabel = "app.tree.editLabel" ["shift+l"] "Label an entry",
    ToggleLabelTimestamp = "app.tree.toggleLabelTimestamp" ["shift+t"] "Show or hide the times of labels",
    FilterDefault = "app.tree.filter.default" ["ctrl+d"] "Show what usually matters in the tree",
    FilterNoTools = "app.tree.filter.noTools" ["ctrl+t"] "Hide tools in the tree",
    FilterUserOnly = "app.tree.filter.userOnly" ["ctrl+u"] "Show prompts only in the tree",
    FilterLabeledOnly = "app.tree.filter.labeledOnly" ["ctrl+l"] "Show labelled entries only in the tree",
    FilterAll = "app.tree.filter.all" ["ctrl+a"] "Show everything in the tree",
    NextFilter = "app.tree.filter.cycleForward" ["ctrl+o"] "Next filter of the tree",
    PreviousFilter = "app.tree.filter.cycleBackward" ["ctrl+shift+o"] "Filter before",
    // ours
    ShowAgents = "app.agents.show" ["alt+a"] "Show the agents below this one",
    SteerAgent = "app.agents.steer" ["ctrl+s"] "Send an agent a message",
    StopAgent = "app.agents.stop" ["ctrl+d"] "Stop an agent",
    RestartAgent = "app.agents.restart" ["ctrl+r"] "Start an agent again",
    PauseAgent = "app.agents.pause" ["ctrl+p"] "Hold an agent, or let it go on",
}

/// Names that older files have, where they are not the new id without its first words.
const OLD_NAMES: &[(&str, Action)] = &[
    ("selectUp", Action::SelectUp),
    ("selectDown", Action::SelectDown),
    ("selectPageUp", Action::SelectPageUp),
    ("selectPageDown", Action::SelectPageDown),
    ("selectConfirm", Action::SelectConfirm),
    ("selectCancel", Action::SelectCancel),
    ("externalEditor", Action::ExternalEditor),
    ("pasteImage", Action::PasteImage),
    ("cycleThinkingLevel", Action::CycleThinking),
    ("toggleThinking", Action::ToggleThinking),
    ("selectModel", Action::SelectModel),
    ("cycleModelForward", Action::NextModel),
    ("cycleModelBackward", Action::PreviousModel),
    ("expandTools", Action::ExpandTools),
    ("followUp", Action::FollowUp),
    ("dequeue", Action::Dequeue),
    ("newSession", Action::NewSession),
    ("tree", Action::SessionTree),
    ("fork", Action::ForkSession),
    ("resume", Action::ResumeSession),
    ("toggleSessionPath", Action::ToggleSessionPath),
    ("toggleSessionSort", Action::ToggleSessionSort),
    ("toggleSessionNamedFilter", Action::ToggleNamedSessions),
    ("renameSession", Action::RenameSession),
    ("deleteSession", Action::DeleteSession),
    ("deleteSessionNoninvasive", Action::DeleteSessionNoninvasive),
];

/// What a short name leaves out, in the order in which a name is looked for.
const LEFT_OUT: [&str; 3] = ["tui.editor.", "tui.input.", "app."];

impl Action {
    /// The action of an id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.id() == id)
    }

    /// The action of a name that older files have: `submit`, `cursorUp`, `interrupt`.
    #[must_use]
    pub fn from_old_name(name: &str) -> Option<Self> {
        let old = OLD_NAMES.iter().find(|(old, _)| *old == name).map(|(_, action)| *action);
        old.or_else(|| LEFT_OUT.iter().find_map(|prefix| Self::from_id(&format!("{prefix}{name}"))))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::tui::keys::Key;

    #[test]
    fn every_action_has_an_id_of_its_own_and_keys_that_exist() {
        assert_eq!(Action::ALL.len(), 95);
        assert_eq!(Action::ALL.iter().map(|action| action.id()).collect::<HashSet<_>>().len(), 95);
        for action in Action::ALL {
            assert_eq!(Action::from_id(action.id()), Some(*action));
            for key in action.default_keys() {
                assert!(Key::parse(key).is_ok(), "{}: {key}", action.id());
            }
        }
    }

    #[test]
    fn old_names_are_understood() {
        for (name, action) in [
            ("cursorUp", Some(Action::CursorUp)),
            ("submit", Some(Action::Submit)),
            ("copy", Some(Action::InputCopy)),
            ("pageUp", Some(Action::EditorPageUp)),
            ("interrupt", Some(Action::Interrupt)),
            ("message.copy", Some(Action::CopyMessage)),
            ("expandTools", Some(Action::ExpandTools)),
            ("nonsense", None),
            ("", None),
        ] {
            assert_eq!(Action::from_old_name(name), action, "{name}");
        }
    }
}
