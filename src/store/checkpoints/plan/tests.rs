use super::*;
use crate::{
    protocol::checkpoint::CheckpointCause,
    store::checkpoints::{PathState, Record, Restored, Unkept},
};

fn file(content: &str) -> FileState {
    FileState::File(FileFacts {
        content: Content::Object(ObjectId::of(content.as_bytes())),
        len: content.len() as u64,
        mode: Some(0o644),
        modified: None,
    })
}

/// `-` is a missing file, `?` one whose content is not kept, anything else a content.
fn state(word: &str) -> FileState {
    match word {
        "-" => FileState::Missing,
        "?" => FileState::File(FileFacts {
            content: Content::Unkept(Unkept::NotSeen),
            len: 1,
            mode: Some(0o644),
            modified: Some(7),
        }),
        content => file(content),
    }
}

/// `NAME@ENTRY path:before>after …` is a checkpoint, `NAME -a +b` an undo of a that brings b back.
fn timeline(lines: &[&str]) -> Timeline {
    Timeline::of(records(lines))
}

fn records(lines: &[&str]) -> Vec<Record> {
    let states =
        |path: &str, word: &str| vec![PathState { path: std::path::Path::new(path).into(), state: state(word) }];
    let mut records = Vec::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap();
        if let Some((id, entry)) = name.split_once('@') {
            let entry = (!entry.is_empty()).then(|| EntryId::from(entry));
            records.push(Record::Begin { id: id.into(), entry, time: 0, cause: CheckpointCause::Tools, place: None });
            for word in words {
                let (path, change) = word.split_once(':').unwrap();
                let (before, after) = change.split_once('>').unwrap();
                records.push(Record::Before { id: id.into(), files: states(path, before) });
                if !after.is_empty() {
                    records.push(Record::After { id: id.into(), files: states(path, after) });
                }
            }
        } else {
            let of =
                |sign| line.split(' ').filter_map(move |word| word.strip_prefix(sign)).map(str::to_owned).collect();
            records.push(Record::Undo {
                id: name.into(),
                time: 0,
                undone: of('-'),
                redone: of('+'),
                takes_back: line.split('~').nth(1).map(str::to_owned),
                files: vec![Restored { path: std::path::Path::new("f").into(), was: state("was"), now: state("now") }],
            });
        }
    }
    records
}

/// `path:expected>target`, sorted.
fn wishes(plan: &Plan) -> Vec<String> {
    let word = |state: Option<&FileState>| {
        let known = ["-", "?", "a", "b", "c", "d", "x", "y", "was", "now"];
        let Some(state) = state else { return "nobody-knows".to_owned() };
        known.iter().find(|word| self::state(word) == *state).copied().unwrap_or("unknown").to_owned()
    };
    let wish =
        |wish: &Wish| format!("{}:{}>{}", wish.path.display(), word(wish.expected.as_ref()), word(Some(&wish.target)));
    plan.wishes.iter().map(wish).collect()
}

fn everywhere(_: &EntryId) -> bool {
    true
}

#[test]
fn the_last_turn_that_changed_files_is_undone() {
    /// The checkpoints that are undone, and the wishes.
    type Expected<'a> = Option<(&'a [&'a str], &'a [&'a str])>;
    let table: [(&[&str], Expected<'_>); 8] = [
        (&[], None),
        (&["1@A f:a>b"], Some((&["1"], &["f:b>a"]))),
        (&["1@A f:a>b", "2@B f:b>c g:->x"], Some((&["2"], &["f:c>b", "g:x>-"]))),
        // Two checkpoints of one turn, after a restart in the middle of it.
        (&["1@A f:a>b", "2@A f:b>c"], Some((&["1", "2"], &["f:c>a"]))),
        // A turn that changed nothing is passed over.
        (&["1@A f:a>b", "2@B g:x>x"], Some((&["1"], &["f:b>a"]))),
        (&["1@A f:a>b", "2@B f:b>c", "u -2"], Some((&["1"], &["f:b>a"]))),
        (&["1@A f:a>b", "u -1", "r +1 ~u"], Some((&["1"], &["f:b>a"]))),
        // Nobody recorded what became of the file.
        (&["1@A f:a>"], Some((&["1"], &["f:nobody-knows>a"]))),
    ];
    for (lines, expected) in table {
        let plan = undo_turn(&timeline(lines), everywhere).ok();
        let found = plan.map(|plan| (plan.undone.clone(), wishes(&plan)));
        let expected = expected.map(|(ids, wishes)| {
            (ids.iter().map(ToString::to_string).collect::<Vec<_>>(), wishes.iter().map(ToString::to_string).collect())
        });
        assert_eq!(found, expected, "{lines:?}");
    }
    // What a fork's parent did after the fork is not this session's.
    let of_session = |id: &EntryId| id.as_str() == "A";
    assert_eq!(undo_turn(&timeline(&["1@A f:a>b", "2@P f:b>c"]), of_session).unwrap().undone, ["1"]);
}

#[test]
fn going_to_an_entry_undoes_what_lies_behind_it_and_brings_back_what_lies_before_it() {
    let three: &[&str] = &["1@A f:a>b", "2@B f:b>c g:->x", "3@C g:x>y"];
    let left_branch: &[&str] = &["1@A f:a>b", "2@B f:b>c", "u -2", "3@C f:b>d"];
    /// The timeline, the entries above the target, what is undone and redone, and the wishes.
    type Row<'a> = (&'a [&'a str], &'a [&'a str], &'a [&'a str], &'a [&'a str], &'a [&'a str]);
    let table: [Row<'_>; 7] = [
        (three, &[], &["1", "2", "3"], &[], &["f:c>a", "g:y>-"]),
        (three, &["A"], &["2", "3"], &[], &["f:c>b", "g:y>-"]),
        (three, &["A", "B"], &["3"], &[], &["g:y>x"]),
        // To the branch that was left: 3 goes, 2 comes back.
        (left_branch, &["A", "B"], &["3"], &["2"], &["f:d>c"]),
        (left_branch, &["A"], &["3"], &[], &["f:d>b"]),
        // A change on the branch that stays covers an earlier one that goes.
        (&["1@A f:a>b", "2@B f:b>c"], &["B"], &["1"], &[], &[]),
        // What was changed before the first entry stays.
        (&["1@ f:a>b", "2@A f:b>c"], &[], &["2"], &[], &["f:c>b"]),
    ];
    for (lines, above, undone, redone, expected) in table {
        let above: HashSet<EntryId> = above.iter().map(|id| EntryId::from(*id)).collect();
        let plan = undo_to(&timeline(lines), &above, everywhere).unwrap();
        assert_eq!((plan.undone.as_slice(), plan.redone.as_slice()), (&own(undone)[..], &own(redone)[..]), "{lines:?}");
        assert_eq!(wishes(&plan), expected, "{lines:?} {above:?}");
    }
    let above = HashSet::from(["A", "B", "C"].map(EntryId::from));
    assert_eq!(undo_to(&timeline(three), &above, everywhere), Err(PlanError::NothingToUndo));
}

fn own(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

#[test]
fn an_undo_tells_of_a_later_turn_that_is_not_recorded() {
    let of = |lines: &[&str]| {
        let mut records = records(lines);
        let (id, entry) = ("cut".to_owned(), Some(EntryId::from("C")));
        let cause = CheckpointCause::Tools;
        records.push(Record::Begin { id: id.clone(), entry, time: 0, cause, place: None });
        records.push(Record::Command { id });
        Timeline::of(records)
    };
    let above = HashSet::from([EntryId::from("A")]);
    let alone = of(&[]);
    for refused in [undo_turn(&alone, everywhere), undo_to(&alone, &above, everywhere)] {
        assert!(matches!(refused, Err(PlanError::NotRecorded(why)) if why.contains("was cut off")));
    }
    let after = of(&["1@A f:a>b", "2@B f:b>c"]);
    for (plan, undone) in [(undo_turn(&after, everywhere), "2"), (undo_to(&after, &above, everywhere), "2")] {
        let plan = plan.unwrap();
        assert_eq!(plan.undone, [undone]);
        assert!(plan.notes.len() == 1 && plan.notes[0].contains("was cut off"), "{:?}", plan.notes);
    }
}

#[test]
fn the_last_undo_can_be_taken_back_until_files_change_again() {
    let table: [(&[&str], Result<&str, PlanError>); 7] = [
        (&[], Err(PlanError::NothingToRedo)),
        (&["1@A f:a>b"], Err(PlanError::ChangedSince)),
        (&["1@A f:a>b", "u -1"], Ok("u")),
        (&["1@A f:a>b", "2@B f:b>c", "u -2", "v -1"], Ok("v")),
        (&["1@A f:a>b", "2@B f:b>c", "u -2", "v -1", "r +1 ~v"], Ok("u")),
        (&["1@A f:a>b", "u -1", "r +1 ~u"], Err(PlanError::ChangedSince)),
        (&["1@A f:a>b", "u -1", "2@B f:a>d"], Err(PlanError::ChangedSince)),
    ];
    for (lines, expected) in table {
        let plan = redo(&timeline(lines));
        if let Ok(plan) = &plan {
            assert_eq!(wishes(plan), ["f:now>was"]);
        }
        let found = plan.map(|plan| plan.takes_back.unwrap());
        assert_eq!(found, expected.map(str::to_owned), "{lines:?}");
    }
}

#[test]
fn a_path_is_changed_only_while_it_holds_what_we_left_there() {
    let write = |content: &str, new: bool| Action::Write {
        object: ObjectId::of(content.as_bytes()),
        mode: new.then_some(0o644),
        new,
    };
    let link = |target: &str| FileState::Link { target: StoredPath(target.into()) };
    let skip = |why| Action::Skip(why);
    let replace = |then| Action::Replace(Box::new(then));
    let not_kept = || skip(Skip::NotKept(Unkept::NotSeen.to_string()));
    let mode = |mode| match file("a") {
        FileState::File(facts) => FileState::File(FileFacts { mode: Some(mode), ..facts }),
        other => other,
    };
    // Expected, target, present; what is done, and what is done with force.
    let table = [
        (Some(file("b")), file("a"), file("b"), write("a", false), write("a", false)),
        (Some(file("b")), file("a"), file("a"), Action::Keep, Action::Keep),
        (Some(file("b")), file("a"), file("x"), skip(Skip::Changed), write("a", false)),
        (Some(file("b")), file("a"), FileState::Missing, skip(Skip::Changed), write("a", true)),
        (Some(FileState::Missing), file("a"), FileState::Missing, write("a", true), write("a", true)),
        (None, file("a"), file("b"), skip(Skip::Unsure), write("a", false)),
        (Some(file("b")), FileState::Missing, file("b"), Action::Remove, Action::Remove),
        (Some(file("b")), FileState::Missing, file("x"), skip(Skip::Changed), Action::Remove),
        (Some(file("b")), FileState::Missing, FileState::Missing, Action::Keep, Action::Keep),
        (Some(FileState::Folder), FileState::Missing, FileState::Folder, Action::RemoveFolder, Action::RemoveFolder),
        (Some(FileState::Missing), FileState::Folder, FileState::Missing, Action::MakeFolder, Action::MakeFolder),
        (
            Some(link("x")),
            link("y"),
            link("x"),
            Action::Link(StoredPath("y".into())),
            Action::Link(StoredPath("y".into())),
        ),
        (Some(file("b")), file("a"), link("b"), skip(Skip::OtherKind("a link")), skip(Skip::OtherKind("a link"))),
        (
            Some(file("b")),
            file("a"),
            FileState::Folder,
            skip(Skip::OtherKind("a folder")),
            skip(Skip::OtherKind("a folder")),
        ),
        (Some(link("x")), link("y"), file("x"), skip(Skip::OtherKind("a file")), skip(Skip::OtherKind("a file"))),
        // What our own command put in its place goes.
        (Some(link("b")), file("a"), link("b"), replace(write("a", true)), replace(write("a", true))),
        (Some(link("b")), file("a"), link("c"), skip(Skip::OtherKind("a link")), skip(Skip::OtherKind("a link"))),
        (Some(link("b")), FileState::Folder, link("b"), replace(Action::MakeFolder), replace(Action::MakeFolder)),
        (Some(FileState::Folder), file("a"), FileState::Folder, replace(write("a", true)), replace(write("a", true))),
        (Some(link("b")), state("?"), link("b"), not_kept(), not_kept()),
        (Some(file("b")), state("?"), file("b"), not_kept(), not_kept()),
        (Some(mode(0o755)), file("a"), mode(0o755), Action::SetMode(0o644), Action::SetMode(0o644)),
        (Some(mode(0o755)), file("a"), mode(0o700), skip(Skip::Changed), Action::SetMode(0o644)),
    ];
    for (expected, target, present, action, forced) in table {
        let wish = Wish { path: "f".into(), expected, target };
        assert_eq!(decide(&wish, &present, false), action, "{wish:?} {present:?}");
        assert_eq!(decide(&wish, &present, true), forced, "{wish:?} {present:?}");
    }
}

#[test]
fn contents_without_names_are_compared_by_size_and_time() {
    let unnamed = state("?");
    let named = |modified| {
        FileState::File(FileFacts { content: Content::Object(ObjectId::of(b"?")), len: 1, mode: Some(0o644), modified })
    };
    assert!(unnamed.is_same(&named(Some(7))) && !unnamed.is_same(&named(Some(8))) && !unnamed.is_same(&named(None)));
}
