//! Screens while agents below the one in front work.

use std::sync::Arc;

use super::{
    happen_all, screen_on,
    sheet::{SIZES, regular, sheet, styled},
};
use crate::{
    protocol::{
        Event,
        sibling::{Outcome, SiblingState, SiblingStatus},
        supervision::AgentInfo,
    },
    store::testing::{answer, user},
    tui::{
        model::{Model, Msg},
        testing::{press, screen, sibling},
        theme::Theme,
        work::{WorkDone, agents::AgentsDone},
    },
};

fn started(status: SiblingStatus) -> Event {
    Event::SiblingStart { sibling: Arc::new(status) }
}

/// A screen on a family of this many, of which the first two have more to tell.
fn family_of(count: usize) -> Model {
    let mut model = screen_on(&[user("u1", "", "Look around"), answer("a1", "u1", "I have sent some out.")]);
    let first = SiblingStatus {
        name: Some("reader".into()),
        role: "researcher".into(),
        tool: Some("bash".into()),
        last_line: "half of it is \u{1b}[31mread".into(),
        ..sibling("agent-1")
    };
    let failed = Outcome::Failed { message: "529 overloaded_error".into(), may_pass: true };
    let second = SiblingStatus { state: SiblingState::Idle, outcome: Some(failed), ..sibling("agent-2") };
    let others = (3..=count).map(|number| sibling(&format!("agent-{number}")));
    happen_all(&mut model, [first, sibling("agent-2")].into_iter().chain(others).take(count).map(started));
    model.update(Msg::Tick, 65_000);
    if count > 1 {
        happen_all(&mut model, [Event::SiblingUpdate { sibling: Arc::new(second) }]);
    }
    model
}

#[test]
fn fc_064_agents_have_cards_that_fold_when_there_are_many() {
    for count in [1, 2, 4, 12] {
        insta::assert_snapshot!(format!("agents_{count}"), sheet(&mut family_of(count), &SIZES));
    }
    insta::assert_snapshot!("agents_regular", regular(&mut family_of(2), (60, 20)));
}

#[test]
fn cards_and_the_list_have_their_colours() {
    for (name, theme) in [("dark", Theme::dark()), ("light", Theme::light())] {
        let mut model = family_of(2);
        model.theme = theme;
        let cards = SIZES.map(|size| styled(&mut model, size)).join("\n");
        insta::assert_snapshot!(format!("agents_in_{name}"), cards);
        let infos = model.view.siblings.iter().map(|status| AgentInfo {
            status: SiblingStatus::clone(status),
            waiting: 1,
            restarts: 2,
        });
        let listed = WorkDone::Agents(AgentsDone::Listed(infos.collect()));
        press(&mut model, "alt+a");
        let now = model.now;
        model.update(Msg::Worked(listed), now);
        press(&mut model, "down");
        let list = SIZES.map(|size| styled(&mut model, size)).join("\n");
        insta::assert_snapshot!(format!("agents_list_in_{name}"), list);
    }
}

#[test]
fn a_card_goes_a_while_after_its_end_and_the_footer_counts_those_that_work() {
    let mut model = family_of(2);
    let picture = screen(&mut model);
    assert!(picture.contains("529 overloaded_error") && picture.contains("1 agent"), "{picture}");
    let later = model.now + 10_000;
    model.update(Msg::Tick, later);
    let picture = screen(&mut model);
    assert!(!picture.contains("529 overloaded_error") && picture.contains("agent-1 reader"), "{picture}");
}
