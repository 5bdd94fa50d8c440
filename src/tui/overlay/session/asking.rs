//! What the list of sessions asks before it does something.

use std::path::PathBuf;

use super::{is_open, work::SessionsWork};
use crate::{
    protocol::Command,
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key, KeyCode},
        overlay::{
            OverlayContext,
            input::LineInput,
            panel::{Panel, hints, notes, title},
        },
        theme::ThemeColor,
        work::Work,
    },
};

/// A question of the list.
pub enum Asking {
    /// The name of a session.
    Name {
        /// Its file.
        path: PathBuf,
        /// The name that is being written.
        input: Box<LineInput>,
    },
    /// Whether a session goes into the trash.
    Delete {
        /// Its file.
        path: PathBuf,
        /// What it is known by.
        name: String,
    },
    /// Whether a session whose folder is gone goes on in this one.
    Gone {
        /// Its file.
        path: PathBuf,
        /// The folder.
        folder: String,
    },
}

/// What came of a key.
pub enum Next {
    /// It still asks.
    Asks,
    /// It asks no longer, and this is to be done.
    Over(Vec<Effect>),
}

impl Asking {
    pub fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Next {
        let says = |character: char| key == Key::plain(KeyCode::Char(character));
        let work = |work| Next::Over(vec![Effect::Work(Work::Sessions(work))]);
        if context.keymap.is(key, Action::SelectCancel) {
            return Next::Over(Vec::new());
        }
        let confirms = context.keymap.is(key, Action::SelectConfirm);
        match self {
            Self::Name { path, input } if confirms => {
                let (path, name) = (std::mem::take(path), input.text().trim().to_owned());
                if is_open(&path, context) {
                    return Next::Over(vec![Effect::Send(Command::SetSessionName(name), Purpose::Plain)]);
                }
                work(SessionsWork::Rename { path, name })
            }
            Self::Name { input, .. } => {
                input.on_key(key, context.keymap);
                Next::Asks
            }
            Self::Delete { path, .. } if confirms || says('y') => work(SessionsWork::Delete(std::mem::take(path))),
            Self::Gone { path, .. } if confirms || says('y') => work(SessionsWork::Copy(std::mem::take(path))),
            Self::Delete { .. } | Self::Gone { .. } if says('n') => Next::Over(Vec::new()),
            Self::Delete { .. } | Self::Gone { .. } => Next::Asks,
        }
    }

    pub fn on_paste(&mut self, text: &str) {
        if let Self::Name { input, .. } = self {
            input.paste(text);
        }
    }

    /// Puts the question around the list.
    pub fn around<'p>(&'p self, panel: &mut Panel<'p>, width: u16, context: &OverlayContext<'_>) {
        let theme = context.theme;
        let warn = |text: &str| notes(text, ThemeColor::Warning, width, 3, theme);
        let does = match self {
            Self::Name { input, .. } => {
                panel.title = title("Name of the session", theme);
                panel.input = Some((&**input, "a name; empty takes it away"));
                "name it"
            }
            Self::Delete { name, .. } => {
                panel.foot = warn(&format!("Put \"{}\" into the trash?", short(name)));
                "delete"
            }
            Self::Gone { folder, .. } => {
                panel.foot =
                    warn(&format!("Its folder {folder} is gone. Go on with a copy of the session in this folder?"));
                "go on here"
            }
        };
        panel.hints =
            hints(context.keymap, &[(Action::SelectConfirm, does), (Action::SelectCancel, "back")], width, theme);
    }
}

/// The beginning of a name.
fn short(name: &str) -> String {
    const SHOWN: usize = 60;
    let mut shown: String = name.chars().take(SHOWN).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    shown
}
