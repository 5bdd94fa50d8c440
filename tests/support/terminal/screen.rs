//! What is on the screen at one moment.

/// See the module. It is a copy: it does not change any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// The rows, without blanks at their ends.
    pub rows: Vec<String>,
    /// Row and column of the cursor, from 0; none when it is hidden.
    pub cursor: Option<(u16, u16)>,
    /// It is the alternate screen.
    pub alternate: bool,
    /// The terminal's title.
    pub title: String,
}

impl Screen {
    /// What an emulator shows.
    pub fn of(screen: &vt100::Screen, title: &str) -> Self {
        let rows = screen.rows(0, screen.size().1.get()).map(|row| row.trim_end().to_owned()).collect();
        let cursor = (!screen.hide_cursor()).then(|| screen.cursor_position());
        Self { rows, cursor, alternate: screen.alternate_screen(), title: title.to_owned() }
    }

    /// A text is on it, in one row or wrapped into several.
    pub fn has(&self, text: &str) -> bool {
        // A line that is wrapped loses the blank at its end.
        let whole = || self.rows.concat().replace(' ', "").contains(&text.replace(' ', ""));
        self.row_of(text).is_some() || (text.len() > 8 && whole())
    }

    /// The last row that holds a text.
    pub fn row_of(&self, text: &str) -> Option<usize> {
        self.rows.iter().rposition(|row| row.contains(text))
    }

    /// Rows that hold a text.
    pub fn count(&self, text: &str) -> usize {
        self.rows.iter().filter(|row| row.contains(text)).count()
    }

    /// The last rows, as one text.
    pub fn bottom(&self, rows: usize) -> String {
        self.rows[self.rows.len().saturating_sub(rows)..].join("\n")
    }

    /// All rows, one a line.
    pub fn text(&self) -> String {
        self.rows.join("\n")
    }

    /// For people: the rows between bars, and the cursor.
    pub fn picture(&self) -> String {
        let rows: Vec<_> = self.rows.iter().enumerate().map(|(at, row)| format!("{at:3} |{row}")).collect();
        format!("{}\ncursor {:?}, title {:?}", rows.join("\n"), self.cursor, self.title)
    }
}
