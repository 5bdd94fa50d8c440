//! Reading damaged, old and foreign files.

use std::path::Path;

use proptest::prelude::*;

use super::{
    Damage, Loaded, ReadError, Role,
    file::LineSource,
    kind::EntryKind,
    read::{LineText, read, read_tail},
};
use crate::store::testing::{answer, file, header, label, user};

fn load(bytes: &[u8]) -> Loaded {
    read(bytes, None).expect("a session")
}

fn ids(loaded: &Loaded) -> Vec<&str> {
    loaded.lines.iter().map(|line| line.id.as_str()).collect()
}

/// The text of each line, read again from the bytes.
fn texts(loaded: &Loaded, bytes: &[u8]) -> Vec<String> {
    let text = |text: &LineText| match text {
        LineText::Own(text) => text.to_string(),
        LineText::Stored(span) => bytes.to_vec().line(*span).expect("stored text"),
    };
    loaded.lines.iter().map(|line| text(&line.text)).collect()
}

fn three() -> Vec<String> {
    vec![header(), user("e1", "", "one"), answer("e2", "e1", "two"), label("e3", "e2", "e1", "x")]
}

#[test]
fn a_whole_file_gives_its_lines_as_they_stand() {
    let bytes = file(&three());
    let loaded = load(&bytes);
    assert_eq!(ids(&loaded), ["e1", "e2", "e3"]);
    assert_eq!(texts(&loaded, &bytes), three()[1..]);
    assert_eq!(loaded.lines[0].kind, EntryKind::Message(Role::User));
    assert!(loaded.damage.is_none() && loaded.ends_with_newline && loaded.gaps.is_empty());
    assert_eq!((loaded.version, loaded.length), (3, bytes.len() as u64));
}

#[test]
fn fc_001_a_file_cut_at_every_byte_keeps_all_complete_entries() {
    let lines = three();
    let bytes = file(&lines);
    // The length at which each line is complete: its newline is not needed.
    let complete: Vec<usize> = (1..=lines.len()).map(|n| file(&lines[..n]).len() - 1).collect();
    for cut in 0..bytes.len() {
        let result = read(&bytes[..cut], None);
        if cut < complete[0] {
            let expected = if cut == 0 { matches!(result, Err(ReadError::Empty)) } else { result.is_err() };
            assert!(expected, "cut at {cut}");
            continue;
        }
        let loaded = result.expect("a session");
        let whole = complete[1..].iter().filter(|end| **end <= cut).count();
        assert_eq!(loaded.lines.len(), whole, "cut at {cut}");
        let at_border = complete.iter().any(|end| cut == *end || cut == *end + 1);
        assert_eq!(loaded.damage.torn_tail, !at_border, "cut at {cut}");
        assert_eq!(loaded.ends_with_newline, bytes[cut - 1] == b'\n', "cut at {cut}");
    }
}

#[test]
fn fc_002_nul_blocks_are_stepped_over() {
    let mut bytes = file(&three());
    bytes.extend([0; 4096]);
    let loaded = load(&bytes);
    assert_eq!(ids(&loaded), ["e1", "e2", "e3"]);
    assert!(!loaded.ends_with_newline);
    assert_eq!(loaded.damage, Damage { nul_bytes: 4096, ..Damage::default() });
    // A program that knew nothing of it appended right behind.
    bytes.extend(file(&[user("e4", "e3", "four")]));
    let loaded = load(&bytes);
    assert_eq!(ids(&loaded), ["e1", "e2", "e3", "e4"]);
    assert_eq!(texts(&loaded, &bytes)[3], user("e4", "e3", "four"));
}

#[test]
fn fc_003_one_bad_line_costs_that_line_at_most() {
    let lines = |bad: &[u8]| {
        let (before, after) = ([header(), user("e1", "", "one")], [user("e3", "e2", "three"), answer("e4", "e3", "x")]);
        [file(&before), bad.to_vec(), b"\n".to_vec(), file(&after)].concat()
    };
    let good = answer("e2", "e1", "two words");
    let replaced = |from: &str, to: &[u8]| {
        let at = good.find(from).unwrap();
        [&good.as_bytes()[..at], to, &good.as_bytes()[at + from.len()..]].concat()
    };
    // A foreign byte in a string: read with a replacement character.
    let bytes = lines(&replaced("two", b"tw\xe9"));
    let loaded = load(&bytes);
    assert_eq!(ids(&loaded), ["e1", "e2", "e3", "e4"]);
    assert_eq!(loaded.damage.bad_text_lines, 1);
    assert!(texts(&loaded, &bytes)[1].contains("tw\u{fffd} words"));
    // A raw newline in a string, a line cut short, rubbish: the others are read, the place is known.
    for (bad, lines_lost) in [
        (replaced("two ", b"two\n"), 2),
        (good.as_bytes()[..good.len() - 30].to_vec(), 1),
        (b"\x01\x02 rubbish".to_vec(), 1),
        (b"[1,2]".to_vec(), 1),
        (br#"{"no":"type"}"#.to_vec(), 1),
        (br#"{"type":"label","targetId":"no id"}"#.to_vec(), 1),
    ] {
        let loaded = load(&lines(&bad));
        assert_eq!(ids(&loaded), ["e1", "e3", "e4"], "{}", String::from_utf8_lossy(&bad));
        assert_eq!(loaded.damage.unreadable_lines, lines_lost);
        assert_eq!(loaded.gaps[0].at, 1);
        assert!(!loaded.damage.torn_tail);
    }
}

#[test]
fn fc_001_an_entry_that_was_appended_right_behind_a_fragment_is_found() {
    let lost = answer("e2", "e1", "two");
    let fused = format!("{}{}", &lost[..40], answer("e3", "e2", "three"));
    let bytes = file(&[header(), user("e1", "", "one"), fused, user("e4", "e3", "four")]);
    let loaded = load(&bytes);
    assert_eq!(ids(&loaded), ["e1", "e3", "e4"]);
    assert_eq!(texts(&loaded, &bytes)[1], answer("e3", "e2", "three"));
    assert_eq!((loaded.damage.salvaged_lines, loaded.damage.unreadable_lines), (1, 1));
}

#[test]
fn fc_004_a_damaged_header_is_recovered_or_named() {
    let whole = file(&three());
    let mut bytes = whole.clone();
    bytes[..10].copy_from_slice(b"\0garbage\0\0");
    let loaded = load(&bytes);
    assert!(loaded.damage.header_recovered);
    assert_eq!((loaded.header.cwd.as_str(), ids(&loaded).len()), ("/srv/app", 3));
    // Id and folder are gone.
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    bytes[..first].fill(0);
    assert!(matches!(read(&bytes[..], Some(Path::new("x_y.jsonl"))), Err(ReadError::NotASession)));
}

#[test]
fn fc_104_other_files_are_no_sessions() {
    for text in ["{\"a\":1}\n{\"b\":2}\n", "not json\n{}\n", "root:x:0:0\n", "\n\n", "{\"type\":\"session\"}\n", "7\n"]
    {
        assert!(matches!(read(text.as_bytes(), None), Err(ReadError::NotASession)), "{text}");
    }
    // An entry in front: whoever wrote it did not write a session.
    assert!(matches!(read(&file(&three()[1..])[..], None), Err(ReadError::NotASession)));
    assert!(matches!(read(&b""[..], None), Err(ReadError::Empty)));
}

#[test]
fn fc_111_old_versions_get_ids_and_new_ones_keep_their_number() {
    let old = [
        r#"{"type":"session","id":"old-1","timestamp":"2025-01-02T03:04:05.678Z","cwd":"/p"}"#,
        r#"{"type":"message","message":{"role":"user","content":"A"}}"#,
        "",
        r#"{"type":"message","message":{"role":"assistant","content":[]}}"#,
        r#"{"type":"compaction","summary":"S","firstKeptEntryIndex":2,"tokensBefore":1}"#,
    ];
    let loaded = load(old.join("\n").as_bytes());
    assert_eq!(ids(&loaded), ["00000001", "00000002", "00000003"]);
    assert_eq!(loaded.lines[2].parent.as_ref().map(|id| id.as_str()), Some("00000002"));
    assert!(matches!(&loaded.lines[2].text, LineText::Own(text) if text.contains(r#""firstKeptEntryId":"00000002""#)));
    assert_eq!((loaded.version, loaded.header.version), (1, Some(3)));

    let newer = header().replace("\"version\":3", "\"version\":99");
    let loaded = load(&file(&[newer, user("e1", "", "one")]));
    assert_eq!((loaded.version, loaded.header.version, loaded.lines.len()), (99, Some(99), 1));
}

#[test]
fn what_another_program_appended_is_read_from_there_on() {
    let known = file(&three());
    let added = file(&[user("e4", "e3", "four")]);
    let all = [known.clone(), added.clone(), b"{\"ty".to_vec()].concat();
    let tail = read_tail(&all[known.len()..], known.len() as u64).unwrap();
    assert_eq!((tail.lines.len(), tail.length, tail.ends_with_newline), (1, added.len() as u64 + 4, false));
    let LineText::Stored(span) = tail.lines[0].text else { panic!("not stored") };
    assert_eq!(all.line(span).unwrap(), user("e4", "e3", "four"));
}

#[test]
fn lines_longer_than_a_block_and_many_blocks_are_read() {
    let long = "x".repeat(1 << 20);
    let mut lines = vec![header(), user("big", "", &long)];
    lines.extend((0..1000).map(|n| answer(&format!("e{n}"), "big", &"y".repeat(500))));
    let bytes = file(&lines);
    let loaded = load(&bytes);
    assert!(loaded.damage.is_none());
    assert_eq!(texts(&loaded, &bytes[..]).len(), 1001);
    let LineText::Stored(last) = loaded.lines[1000].text else { panic!("not stored") };
    assert_eq!(&bytes.line(last).unwrap(), lines.last().unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_between_whole_lines_cost_no_other_line(
        rubbish in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 5),
        cuts in prop::collection::vec(0usize..150, 5),
    ) {
        let mut bytes = file(&[header()]);
        for (n, (rubbish, cut)) in rubbish.iter().zip(&cuts).enumerate() {
            let line = user(&format!("e{n}"), "", "x");
            // A fragment of another entry, or anything at all, on a line of its own.
            let fragment = user("lost", "", "words");
            bytes.extend_from_slice(if n % 2 == 0 { rubbish } else { &fragment.as_bytes()[..*cut.min(&(fragment.len() - 1))] });
            bytes.push(b'\n');
            bytes.extend(file(&[line]));
        }
        let loaded = load(&bytes);
        prop_assert_eq!(ids(&loaded), ["e0", "e1", "e2", "e3", "e4"]);
        prop_assert_eq!(loaded.length, bytes.len() as u64);
    }
}
