//! Random lives of a screen: whatever comes in whatever order, it draws a frame that a terminal can show, and no text
//! that somebody wrote is lost.

mod happening;
mod steps;

use std::sync::Arc;

use proptest::prelude::*;
use ratatui::layout::Position;

use self::steps::{Step, steps};
use super::actions::editing;
use crate::{
    actors::replacing::Replaced,
    protocol::{CommandError, Event, Reply, display::Display},
    store::testing::view as tree_of,
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key, KeyCode},
        model::{Model, Msg},
        surroundings::Surroundings,
        terminal::{Frame, InputEvent},
        testing::{facts_of, model_of, press, surroundings},
        text::{StyledLine, width_of},
        transcript::scroll::Scroll,
        view,
        work::{WorkDone, clipboard::Pasted},
    },
};

/// Characters that a terminal obeys, or that turn the direction of what is read.
fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// What is wrong with a frame.
fn faults(frame: &Frame) -> Vec<String> {
    let area = frame.area();
    let mut faults = Vec::new();
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            let symbol = frame.buffer[(x, y)].symbol();
            let width = u16::try_from(width_of(symbol)).unwrap();
            if symbol.chars().any(acts) || !(1..=2).contains(&width) {
                faults.push(format!("{x},{y}: {symbol:?}"));
            }
            let behind = x + 1..(x + width.max(1)).min(area.right());
            if x + width > area.right() || behind.clone().any(|x| frame.buffer[(x, y)].symbol() != " ") {
                faults.push(format!("{x},{y}: half of {symbol:?}"));
            }
            if frame.link(x, y).is_some_and(|link| link.chars().any(acts)) {
                faults.push(format!("{x},{y}: a link that acts"));
            }
        }
    }
    if frame.cursor.is_some_and(|Position { x, y }| x >= area.width || y >= area.height) {
        faults.push(format!("the cursor is at {:?} of {area}", frame.cursor));
    }
    faults
}

fn line_faults(line: &StyledLine, width: u16) -> Option<String> {
    let text = line.text();
    let fits = line.width() <= usize::from(width.max(2));
    (!fits || text.chars().any(acts)).then(|| format!("{text:?} in {width} columns"))
}

/// A screen, what it asked for, and what is known to be written.
struct Life {
    model: Model,
    sent: Vec<Purpose>,
}

impl Life {
    fn begin(fullscreen: bool) -> Self {
        let mut model = model_of(&steps::session(0));
        model.surroundings = Arc::new(Surroundings { fullscreen, ..surroundings() });
        Self { model, sent: Vec::new() }
    }

    fn tell(&mut self, msg: Msg, passed: u64) -> Result<(), String> {
        let now = self.model.now + passed;
        let effects = self.model.update(msg, now);
        self.follow(effects)
    }

    fn follow(&mut self, effects: Vec<Effect>) -> Result<(), String> {
        for effect in effects {
            match effect {
                Effect::Send(_, purpose) => self.sent.push(purpose),
                Effect::Title(title) if title.chars().any(acts) => return Err(format!("the title {title:?}")),
                Effect::Notify(call) if call.text.chars().any(acts) => return Err(format!("the call {:?}", call.text)),
                Effect::Replace(_) => self.model.replacing = true,
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes a step, and says what must still be written then.
    fn take(&mut self, step: Step) -> Result<(), String> {
        let before = self.model.editor.text();
        let mut kept = true;
        match step {
            Step::Key(key) => {
                kept = !self.may_change_text(key);
                self.tell(Msg::Input(InputEvent::Key(key)), 1)?;
            }
            Step::Type(text) => {
                kept = self.model.editor.vim_mode().is_none() && self.model.overlays.is_empty();
                for character in text.chars() {
                    self.tell(Msg::Input(InputEvent::Key(Key::plain(KeyCode::Char(character)))), 1)?;
                }
                // What is typed at the caret parts the text.
                return if kept { holds(&self.model.editor.text(), &before) } else { Ok(()) };
            }
            Step::Input(event) => {
                self.tell(Msg::Input(event), 1)?;
                return holds(&self.model.editor.text(), &before);
            }
            Step::Slash(at) => {
                let names: Vec<_> = crate::tui::commands::all().map(|command| command.name).collect();
                let effects = self.model.slash(names[at % names.len()]);
                self.follow(effects)?;
            }
            Step::Happened(event) => {
                kept = !matches!(event, Event::Display { display: Display::EditorText { .. }, .. });
                let seq = self.model.view.seq;
                let published = crate::protocol::Published { seq, event };
                self.tell(Msg::Happened(Arc::new(published)), 16)?;
            }
            Step::Snapshot(view) => self.tell(Msg::Snapshot(view), 1)?,
            Step::Facts(facts) => self.tell(Msg::Facts(facts), 1)?,
            Step::Answer(at, result) => {
                if !self.sent.is_empty() {
                    let purpose = self.sent.remove(at % self.sent.len());
                    let back = match (&purpose, &result) {
                        (Purpose::Prompt(text), Err(_)) => text.clone(),
                        _ => String::new(),
                    };
                    self.tell(Msg::Answered(purpose, result), 1)?;
                    holds(&self.model.editor.text(), back.trim())?;
                }
            }
            Step::Worked(done) => {
                let inserts = matches!(done, WorkDone::Pasted(Pasted::Text(_) | Pasted::Picture(_)));
                self.tell(Msg::Worked(done), 1)?;
                if inserts {
                    return holds(&self.model.editor.text(), &before);
                }
            }
            Step::Edited(text) => {
                kept = text.is_err();
                self.tell(Msg::Edited(text), 1)?;
            }
            Step::Kept(why) => {
                let kept = why.map_or(Replaced::Cancelled, Replaced::Failed);
                self.tell(Msg::Replaced(Box::new(kept)), 1)?;
            }
            Step::Time(passed) => self.tell(Msg::Tick, passed)?,
        }
        let after = self.model.editor.text();
        match kept && !after.contains(&before) {
            true => Err(format!("{before:?} is lost: {after:?}")),
            false => Ok(()),
        }
    }

    /// Whether a key does something to the text, or sends it.
    fn may_change_text(&self, key: Key) -> bool {
        let actions = [Action::Submit, Action::FollowUp, Action::Clear, Action::Interrupt, Action::InputTab];
        let changes = |action: Action| editing(action).is_some() || actions.contains(&action);
        self.model.overlays.is_empty()
            && (key.typed().is_some()
                || self.model.menu.is_some()
                || self.model.editor.vim_mode().is_some()
                || self.model.keymap.actions(key).any(changes))
    }

    fn drawn(&mut self) -> Result<(), String> {
        let (columns, rows) = self.model.size;
        let laid_out = self.model.transcript.laid_out();
        let frame = view::draw(&mut self.model);
        let most = 4 * usize::from(rows) + 16;
        let more = self.model.transcript.laid_out() - laid_out;
        if more > most {
            return Err(format!("{more} items were laid out for {rows} rows"));
        }
        let (over, live) = view::regular::draw(&mut self.model);
        let mut found = [faults(&frame), faults(&live)].concat();
        found.extend(over.iter().filter_map(|line| line_faults(line, columns)));
        if frame.area().height != rows || live.area().height > rows {
            found.push(format!("frames of {} and {} rows", frame.area(), live.area()));
        }
        if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
    }
}

/// Whether all that was written before is still there, in its order, with something between.
fn holds(after: &str, before: &str) -> Result<(), String> {
    let mut rest = after.chars();
    let is_there = before.chars().all(|wanted| rest.any(|found| found == wanted));
    if is_there { Ok(()) } else { Err(format!("{before:?} is lost: {after:?}")) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_is_drawn_and_no_text_is_lost(fullscreen in any::<bool>(), steps in steps()) {
        let mut life = Life::begin(fullscreen);
        for step in steps {
            let said = format!("{step:?}");
            let fate = life.take(step).and_then(|()| life.drawn());
            prop_assert!(fate.is_ok(), "{said} at {:?}: {}", life.model.size, fate.unwrap_err());
        }
    }
}

#[test]
fn fc_064_a_session_of_hard_texts_is_drawn_whole_at_all_widths() {
    for columns in [1, 2, 12, 60] {
        let mut life = Life::begin(true);
        life.tell(Msg::Facts(Box::new(facts_of(Some(tree_of(&steps::session(42)))))), 1).unwrap();
        life.model.size = (columns, 40);
        life.model.transcript.toggle_expanded();
        life.model.transcript.to_top();
        for _ in 0..4_000 {
            life.drawn().unwrap_or_else(|fault| panic!("{columns}: {fault}"));
            if life.model.transcript.scroll == Scroll::Bottom {
                break;
            }
            press(&mut life.model, "pagedown");
        }
        assert_eq!(life.model.transcript.scroll, Scroll::Bottom);
    }
}

/// Answers that make sense and such that do not.
fn answers() -> impl Strategy<Value = Result<Reply, CommandError>> {
    prop_oneof![
        Just(Ok(Reply::Done)),
        Just(Err(CommandError::Lost)),
        steps::text().prop_map(|text| Err(CommandError::Refused(text))),
        (steps::text(), steps::text())
            .prop_map(|(one, other)| Ok(Reply::Queue { steering: vec![one], follow_up: vec![other] })),
    ]
}
