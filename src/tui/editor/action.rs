//! What can be done to the text besides typing.

/// Something to do to the text. The names are those of the key bindings `tui.editor.*` and `tui.input.newLine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EditorAction {
    /// To the row above; from the first row to the start, and from there to the prompt before in the history.
    CursorUp,
    /// To the row below; from the last row to the next prompt of the history, or to the end.
    CursorDown,
    /// The prompt before in the history.
    HistoryPrevious,
    /// The prompt behind in the history; behind the newest is what was being written.
    HistoryNext,
    /// One character to the left.
    CursorLeft,
    /// One character to the right.
    CursorRight,
    /// To the start of the word.
    CursorWordLeft,
    /// To the end of the word.
    CursorWordRight,
    /// To the start of the line, not of the row.
    CursorLineStart,
    /// To the end of the line, not of the row.
    CursorLineEnd,
    /// To the start of the text.
    CursorTextStart,
    /// To the end of the text.
    CursorTextEnd,
    /// The next typed character is where the caret goes: its next occurrence.
    JumpForward,
    /// The same towards the start.
    JumpBackward,
    /// As many rows up as are shown.
    PageUp,
    /// As many rows down as are shown.
    PageDown,
    /// Removes the character before the caret.
    DeleteCharBackward,
    /// Removes the character behind it.
    DeleteCharForward,
    /// Kills to the start of the word.
    DeleteWordBackward,
    /// Kills to the end of the word.
    DeleteWordForward,
    /// Kills to the start of the line; at the start, the newline before it.
    DeleteToLineStart,
    /// Kills to the end of the line; at the end, the newline behind it.
    DeleteToLineEnd,
    /// Inserts what was killed last.
    Yank,
    /// Right after a yank: what was killed before takes its place.
    YankPop,
    /// Takes the last change back.
    Undo,
    /// Takes the last undo back.
    Redo,
    /// Starts a new line.
    NewLine,
}
