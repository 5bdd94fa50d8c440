use super::*;
use crate::{
    protocol::checkpoint::{CheckpointFile, FileOutcome, UndoReport, UndoneFile},
    tui::overlay::testing::{World, told},
};

fn checkpoint(entry: Option<&str>, path: &str, undone: bool) -> CheckpointInfo {
    CheckpointInfo {
        id: path.into(),
        entry_id: entry.map(Into::into),
        time: 1_767_323_045_678,
        cause: CheckpointCause::Tools,
        undone,
        files: vec![CheckpointFile { path: path.into(), change: FileChange::Changed, not_restorable: None }],
        notes: Vec::new(),
    }
}

fn selector(undone: bool) -> UndoSelector {
    let (mut selector, effects) = UndoSelector::new();
    assert_eq!(effects, [Effect::Send(Command::Checkpoints, Purpose::Overlay)]);
    let infos = vec![
        checkpoint(Some("e1"), "b.rs", undone),
        checkpoint(Some("e0"), "a.rs", false),
        checkpoint(None, "x", false),
    ];
    selector.on_answer(&Ok(Reply::Checkpoints(infos)), &World::default().context());
    selector
}

fn report(outcome: FileOutcome, dry_run: bool) -> UndoReport {
    let file = UndoneFile { path: "b.rs".into(), outcome, reason: None, diff: None };
    UndoReport { files: vec![file], dry_run, ..UndoReport::default() }
}

fn asks(target: UndoTarget) -> String {
    told(&Outcome::Stay(undo(Undo { target, dry_run: true, ..Undo::default() })))
}

#[test]
fn what_would_change_is_asked_for_first() {
    let entry = |id: &str| UndoTarget::Entry(id.into());
    for (undone, pressed, expected) in [
        (false, "enter", asks(entry("e1"))),
        (false, "down enter", asks(entry("e0"))),
        (false, "down down enter", asks(entry("e1"))),
        (true, "enter", asks(entry("e0"))),
        (true, "up up enter", asks(UndoTarget::Redo)),
        (false, "escape", "close".to_owned()),
    ] {
        assert_eq!(told(&World::default().press(&mut selector(undone), pressed)), expected, "{undone} {pressed}");
    }
}

#[test]
fn then_files_are_restored_as_the_user_wants() {
    let ask = Undo { target: UndoTarget::Entry("e1".into()), ..Undo::default() };
    let does = |ask: Undo| told(&Outcome::Stay(undo(ask)));
    for (outcome, pressed, expected) in [
        (FileOutcome::Restored, "enter", does(ask.clone())),
        (FileOutcome::Restored, "down enter", does(Undo { conversation: true, ..ask.clone() })),
        (FileOutcome::Conflict, "down enter", does(Undo { force: true, ..ask.clone() })),
        (FileOutcome::Restored, "escape", "stay".to_owned()),
    ] {
        let world = World::default();
        let mut selector = selector(false);
        selector.on_answer(&Ok(Reply::Undone(report(outcome, true))), &world.context());
        assert_eq!(told(&world.press(&mut selector, pressed)), expected, "{outcome:?} {pressed}");
    }
    for (outcome, expected) in [(FileOutcome::Restored, "close"), (FileOutcome::Conflict, "become")] {
        let done = Ok(Reply::Undone(report(outcome, false)));
        assert_eq!(told(&selector(false).on_answer(&done, &World::default().context())), expected);
    }
}

#[test]
fn both_steps_are_drawn() {
    let world = World::default();
    let mut selector = selector(true);
    insta::assert_snapshot!(world.draw(&selector, 60, 12), @r"
    ────────────────────────────────────────────────────────────
    Undo: files go back to before a change
    > search
      Take the last undo back
      ~b.rs                                 undone  model  03:04
    → ~a.rs                                         model  03:04
      ~x                                            model  03:04
    enter show what would change · escape leave
    ────────────────────────────────────────────────────────────
    ");
    selector.on_answer(&Ok(Reply::Undone(report(FileOutcome::Restored, true))), &world.context());
    insta::assert_snapshot!(world.draw(&selector, 60, 12), @r"
    ────────────────────────────────────────────────────────────
    What would change
    would be restored  b.rs
    → Restore the files
      Restore the files, and go back in the conversation
    enter do it · escape back · pageDown more of the text
    ────────────────────────────────────────────────────────────
    ");
}
