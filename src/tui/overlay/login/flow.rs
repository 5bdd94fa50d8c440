//! A login with a browser, or with a code on another device.

use ratatui::layout::Rect;

use super::Origin;
use crate::{
    providers::oauth::Notice,
    tui::{
        keys::{Action, Key},
        overlay::{
            Outcome, Overlay, OverlayContext,
            input::LineInput,
            panel::{Panel, hints, notes, title},
        },
        terminal::Frame,
        text::{Hang, StyledLine, fold, link_target, one_line},
        theme::{Theme, ThemeColor},
        work::{
            WorkDone,
            login::{LoginLine, LoginStep},
        },
    },
};

/// Rows of words at most.
const MOST_ROWS: usize = 6;

/// The dialog.
pub struct FlowView {
    name: String,
    line: LoginLine,
    origin: Origin,
    state: State,
    /// Something can be pasted.
    pastes: bool,
    input: LineInput,
    problem: Option<String>,
    over: bool,
}

/// What is to be done.
enum State {
    Waiting,
    Page { address: String, words: String },
    Code { address: String, code: String },
}

impl FlowView {
    /// The dialog of a login at the provider of that name.
    #[must_use]
    pub fn new(name: &str, line: LoginLine, origin: Origin) -> Self {
        Self {
            name: name.to_owned(),
            line,
            origin,
            state: State::Waiting,
            pastes: false,
            input: LineInput::default(),
            problem: None,
            over: false,
        }
    }

    fn told(&mut self, notice: &Notice, opened: bool) {
        let open = if opened { "A browser opens. If it does not, open this page" } else { "Open this page" };
        match notice {
            Notice::OpenPage { url, returns } => {
                let then = if *returns {
                    "The login ends by itself when the browser runs on this machine. If it runs elsewhere, paste the \
                     address that it ends at."
                } else {
                    "Then paste the code, or the address that the browser ends at."
                };
                self.pastes = true;
                self.state = State::Page { address: url.to_string(), words: format!("{open} and log in. {then}") };
            }
            Notice::EnterCode { code, page, .. } => {
                self.state = State::Code { address: page.to_string(), code: code.clone() };
            }
            Notice::NotUnderstood { why } => {
                self.input.clear();
                self.problem = Some(format!("{why} Paste it again."));
            }
        }
    }

    fn rows(&self, width: u16, theme: &Theme) -> Vec<StyledLine> {
        let text = |text: &str| notes(text, ThemeColor::Text, width, MOST_ROWS, theme);
        let mut rows = match &self.state {
            _ if self.over => Vec::new(),
            State::Waiting => text("Asking the provider..."),
            State::Page { address, words } => {
                [text(words), vec![StyledLine::default()], link(address, width, theme)].concat()
            }
            State::Code { address, code } => {
                let mut line = StyledLine::of("Code: ", theme.fg(ThemeColor::Text));
                line.push(one_line(code), theme.fg(ThemeColor::Accent));
                let words = text("Open this page on any device, log in and enter the code:");
                [words, vec![StyledLine::default()], link(address, width, theme), vec![line]].concat()
            }
        };
        if let Some(problem) = &self.problem {
            rows.extend(notes(problem, ThemeColor::Error, width, MOST_ROWS, theme));
        }
        rows
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let paste = [(Action::SelectConfirm, "send what was pasted"), (Action::SelectCancel, "give up")];
        let actions = if self.pastes && !self.over { &paste[..] } else { &paste[1..] };
        Panel {
            title: title(format!("Log in at {}", one_line(&self.name)), context.theme),
            input: self.pastes.then_some((&self.input, "Paste it here")),
            hints: hints(context.keymap, actions, width, context.theme),
            ..Panel::default()
        }
    }
}

/// An address, all of it: it may be copied by hand.
fn link(address: &str, width: u16, theme: &Theme) -> Vec<StyledLine> {
    let mut line = StyledLine::of(one_line(address), theme.fg(ThemeColor::MdLink));
    line.spans[0].link = link_target(address);
    fold(&line, usize::from(width).max(1), &Hang::default())
}

impl Overlay for FlowView {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        if context.keymap.is(key, Action::SelectCancel) {
            self.line.cancel();
            return self.origin.back();
        }
        if self.pastes && context.keymap.is(key, Action::SelectConfirm) {
            let text = self.input.text().trim().to_owned();
            if !text.is_empty() {
                self.problem = None;
                self.line.paste(text);
            }
            return Outcome::stay();
        }
        if self.pastes {
            self.input.on_key(key, context.keymap);
        }
        Outcome::stay()
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        if self.pastes {
            self.input.paste(text);
        }
        Outcome::stay()
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        match done {
            WorkDone::Login(LoginStep::Tell { notice, opened }) => {
                self.told(notice, *opened);
                Outcome::stay()
            }
            WorkDone::Login(LoginStep::Done { .. }) => Outcome::close(),
            WorkDone::Login(LoginStep::Failed(why)) => {
                self.problem = Some(why.clone());
                self.over = true;
                self.pastes = false;
                Outcome::stay()
            }
            _ => Outcome::stay(),
        }
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        let rows = self.rows(width, context.theme).len();
        self.panel(width, context).height(rows).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let rows = self.rows(area.width, context.theme);
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            (0..body.height).zip(&rows).for_each(|(row, line)| frame.line(body, row, line));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::{World, told};

    fn tell(notice: Notice) -> WorkDone {
        WorkDone::Login(LoginStep::Tell { notice, opened: false })
    }

    fn page() -> WorkDone {
        tell(Notice::OpenPage { url: "https://login.example/auth?x=1".parse().unwrap(), returns: true })
    }

    #[test]
    fn the_page_is_shown_whole_and_what_is_pasted_goes_to_the_login() {
        let world = World::default();
        let line = LoginLine::default();
        let mut view = FlowView::new("Router", line.clone(), Origin::Command);
        assert!(world.draw(&view, 60, 12).contains("Asking the provider..."));
        view.on_worked(&page(), &world.context());
        let narrow = world.draw(&view, 20, 20).replace('\n', "");
        assert!(narrow.contains("https://login.example/auth?x=1"), "{narrow}");
        view.on_paste("http://localhost/?code=abc", &world.context());
        assert_eq!(told(&world.press(&mut view, "enter")), "stay");
        view.on_worked(&tell(Notice::NotUnderstood { why: "There is no code in it.".into() }), &world.context());
        assert!(world.draw(&view, 60, 20).contains("There is no code in it. Paste it again."));
        let done = WorkDone::Login(LoginStep::Done { text: String::new(), model: None });
        assert_eq!(told(&view.on_worked(&done, &world.context())), "close");
    }

    #[test]
    fn a_code_is_shown_with_its_page() {
        let world = World::default();
        let mut view = FlowView::new("Router", LoginLine::default(), Origin::Command);
        let code = Notice::EnterCode {
            code: "ABCD-1234".into(),
            page: "https://login.example/device".parse().unwrap(),
            page_with_code: None,
        };
        view.on_worked(&tell(code), &world.context());
        let picture = world.draw(&view, 60, 20);
        assert!(picture.contains("https://login.example/device") && picture.contains("Code: ABCD-1234"), "{picture}");
    }

    #[test]
    fn a_failure_stays_until_it_was_read_and_escape_gives_up() {
        let world = World::default();
        let mut view = FlowView::new("Router", LoginLine::default(), Origin::Command);
        view.on_worked(&page(), &world.context());
        view.on_worked(&WorkDone::Login(LoginStep::Failed("It was refused.".into())), &world.context());
        let picture = world.draw(&view, 60, 20);
        assert!(picture.contains("It was refused.") && !picture.contains("https://"), "{picture}");
        assert_eq!(told(&world.press(&mut view, "escape")), "close");
        let mut view = FlowView::new("Router", LoginLine::default(), Origin::FirstRun);
        assert_eq!(told(&world.press(&mut view, "escape")), "become Work(Servers)");
    }
}
