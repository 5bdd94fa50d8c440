//! `troupe top`.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal},
    thread,
};

use ratatui::style::Style;
use serde_json::json;

use super::{args::TopArgs, client::processes, table};
use crate::{
    cli::{
        env::Environment,
        exit::Exit,
        run::{fail, write_out},
    },
    protocol::supervision::Supervision,
    tui::text::{StyledLine, cut},
};

/// Goes to the first cell.
const HOME: &str = "\u{1b}[H";
/// Clears the rest of a row, and ends it.
const END_OF_ROW: &str = "\u{1b}[K\r\n";
/// Clears what is below.
const CLEAR_BELOW: &str = "\u{1b}[J";

/// Shows the live supervision tree, again and again when a person looks.
#[must_use]
pub fn run(environment: &Environment, args: &TopArgs) -> Exit {
    show(args, || {
        let found = processes(&environment.user_dir, args.which.as_deref());
        if let Some(which) = args.which.as_ref().filter(|_| found.is_empty()) {
            return Err(format!(
                "no process and no run {which} of this user offers a control socket; `troupe top` lists them"
            ));
        }
        Ok(found.into_iter().map(|found| found.supervision).collect())
    })
}

/// Shows what `look` finds, as often as the words ask for.
pub fn show(args: &TopArgs, mut look: impl FnMut() -> Result<Vec<Supervision>, String>) -> Exit {
    let is_terminal = io::stdout().is_terminal();
    let once = args.once || (!is_terminal && !args.json);
    loop {
        let all = match look() {
            Ok(all) => all,
            Err(text) => return fail(&text),
        };
        let written = match (args.json, once) {
            (true, _) => write_out(&format!("{}\n", json!({ "processes": all }))),
            (false, true) => write_out(&format!("{}\n", table::lines(&all).join("\n"))),
            (false, false) => draw(&table::lines(&all)),
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Exit::Done,
            Err(error) => return fail(&format!("standard output cannot be written: {error}")),
            Ok(()) if once => return Exit::Done,
            Ok(()) => thread::sleep(args.interval),
        }
    }
}

/// Draws what fits over what was drawn before. Lines have no control characters.
fn draw(lines: &[String]) -> io::Result<()> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let (columns, rows) = size.map_or((80, 24), |size| (usize::from(size.ws_col), usize::from(size.ws_row)));
    let mut text = HOME.to_owned();
    for line in lines.iter().take(rows.saturating_sub(1)) {
        // Writing to a text does not fail.
        let _ = write!(text, "{}{END_OF_ROW}", cut(&StyledLine::of(line.clone(), Style::new()), columns).text());
    }
    text.push_str(CLEAR_BELOW);
    let mut out = io::stdout().lock();
    io::Write::write_all(&mut out, text.as_bytes()).and_then(|()| io::Write::flush(&mut out))
}
