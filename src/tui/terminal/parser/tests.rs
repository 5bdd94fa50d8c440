use proptest::prelude::*;

use super::*;
use crate::tui::{
    keys::{Key, KeyCode, Modifiers},
    terminal::{Mouse, MouseButton, MouseKind, Report},
};

/// Feeds steps that are far apart: each is a read, and all time-outs pass after it.
fn parse(reads: &[&[u8]]) -> Vec<InputEvent> {
    let mut parser = Parser::new();
    let mut events = Vec::new();
    for (at, read) in reads.iter().enumerate() {
        events.extend(parser.feed(read, at as u64 * 10_000));
        while let Some(deadline) = parser.deadline() {
            events.extend(parser.expire(deadline));
        }
    }
    events
}

fn text(events: &[InputEvent]) -> String {
    let spell = |event: &InputEvent| match event {
        InputEvent::Key(key) => key.typed().map_or_else(|| format!("<{key}>"), String::from),
        InputEvent::Paste(text) => format!("<paste {text:?}>"),
        other => format!("<{other:?}>"),
    };
    events.iter().map(spell).collect()
}

#[test]
fn keys_are_known_in_all_encodings() {
    for (bytes, expected) in [
        (&b"aB1 ~"[..], "aB1 ~"),
        ("é日😀".as_bytes(), "é日😀"),
        (b"\r", "<enter>"),
        (b"\n", "<ctrl+j>"),
        (b"\t\x1b[Z", "<tab><shift+tab>"),
        (b"\x7f\x08", "<backspace><ctrl+h>"),
        (b"\x00\x01\x1a\x1c\x1d\x1e\x1f", "<ctrl+space><ctrl+a><ctrl+z><ctrl+\\><ctrl+]><ctrl+^><ctrl+->"),
        (b"\x1b\r", "<alt+enter>"),
        (b"\x1bb\x1bB\x1b\x7f\x1b\x1d", "<alt+b><shift+alt+b><alt+backspace><ctrl+alt+]>"),
        ("\u{1b}é".as_bytes(), "<alt+é>"),
        // xterm
        (b"\x1b[A\x1b[B\x1b[C\x1b[D\x1b[H\x1b[F", "<up><down><right><left><home><end>"),
        (b"\x1bOA\x1bOH\x1bOP\x1bOS\x1bOM", "<up><home><f1><f4><enter>"),
        (
            b"\x1b[1;5A\x1b[1;2D\x1b[1;3C\x1b[1;6H\x1b[1;5P",
            "<ctrl+up><shift+left><alt+right><ctrl+shift+home><ctrl+f1>",
        ),
        (b"\x1b[2~\x1b[3~\x1b[5~\x1b[6~\x1b[1~\x1b[4~", "<insert><delete><pageUp><pageDown><home><end>"),
        (b"\x1b[11~\x1b[15~\x1b[17~\x1b[24~\x1b[24;5~\x1b[5;5~", "<f1><f5><f6><f12><ctrl+f12><ctrl+pageUp>"),
        // rxvt and the Linux console
        (
            b"\x1b[a\x1bOd\x1b[7~\x1b[8~\x1b[3^\x1b[3$\x1b[3@",
            "<shift+up><ctrl+left><home><end><ctrl+delete><shift+delete><ctrl+shift+delete>",
        ),
        (b"\x1b[[A\x1b[[E", "<f1><f5>"),
        (b"\x1b\x1b[A", "<alt+up>"),
        // modifyOtherKeys
        (b"\x1b[27;2;13~\x1b[27;5;13~\x1b[27;6;80~", "<shift+enter><ctrl+enter><ctrl+shift+p>"),
        (b"\x1b[27;2;65~\x1b[27;2;33~\x1b[27;5;105~", "A!<ctrl+i>"),
        // kitty
        (
            b"\x1b[13;2u\x1b[27u\x1b[57414u\x1b[9;5u\x1b[127;5u",
            "<shift+enter><escape><enter><ctrl+tab><ctrl+backspace>",
        ),
        (b"\x1b[97;5u\x1b[112;6u\x1b[112:80;6u\x1b[93;7u", "<ctrl+a><ctrl+shift+p><ctrl+shift+p><ctrl+alt+]>"),
        (b"\x1b[98;1:1u\x1b[98;1:2u\x1b[98;1:3u\x1b[1;1:3D\x1b[3;1:3~", "bb"),
        (b"\x1b[97;2u\x1b[97:65;2u\x1b[49:33;2u\x1b[97;2;65u\x1b[97;65u", "AA!Aa"),
        (b"\x1b[45:95;6u\x1b[45;5u\x1b[32;5u\x1b[32;2u", "<ctrl+-><ctrl+-><ctrl+space> "),
        (b"\x1b[1089::99;5u\x1b[1089;1u", "<ctrl+c>с"),
        (b"\x1b[57399u\x1b[57408u\x1b[57413u\x1b[57417u\x1b[57376u", "09+<left><f13>"),
        (b"\x1b[97;9u\x1b[97;133u", "<super+a><ctrl+a>"),
    ] {
        assert_eq!(text(&parse(&[bytes])), expected, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn what_terminals_say_of_themselves_is_a_report_and_never_text() {
    let report = InputEvent::Report;
    let mouse = |kind, modifiers| InputEvent::Mouse(Mouse { kind, column: 9, row: 4, modifiers });
    for (bytes, expected) in [
        (&b"\x1b]11;rgb:1111/2222/3333\x1b\\"[..], vec![report(Report::Background([0x11, 0x22, 0x33]))]),
        (b"\x1b]10;rgb:ff/ff/ff\x07", vec![report(Report::Foreground([255; 3]))]),
        (b"\x1b]4;2;rgb:0000/8000/0000\x1b\\", vec![report(Report::Palette(2, [0, 127, 0]))]),
        (b"\x1b[?62;22c", vec![report(Report::Attributes(vec![62, 22]))]),
        (b"\x1b[?1u", vec![report(Report::KittyKeyboard(1))]),
        (b"\x1b[?2026;2$y", vec![report(Report::Mode(2026, true))]),
        (b"\x1b[?2026;0$y", vec![report(Report::Mode(2026, false))]),
        (b"\x1bP>|accept-vt 1.0\x1b\\", vec![report(Report::Version("accept-vt 1.0".into()))]),
        (b"\x1b[?997;1n\x1b[?997;2n", vec![report(Report::Appearance(true)), report(Report::Appearance(false))]),
        (b"\x1b[6;16;8t", vec![report(Report::CellSize(8, 16))]),
        (b"\x1b[I\x1b[O", vec![InputEvent::Focus(true), InputEvent::Focus(false)]),
        (b"\x1b[<0;10;5M", vec![mouse(MouseKind::Down(MouseButton::Left), Modifiers::NONE)]),
        (b"\x1b[<2;10;5m", vec![mouse(MouseKind::Up(MouseButton::Right), Modifiers::NONE)]),
        (b"\x1b[<32;10;5M", vec![mouse(MouseKind::Drag(MouseButton::Left), Modifiers::NONE)]),
        (b"\x1b[<80;10;5M", vec![mouse(MouseKind::WheelUp, Modifiers::CTRL)]),
        (b"\x1b[<65;10;5M", vec![mouse(MouseKind::WheelDown, Modifiers::NONE)]),
        (b"\x1b[<35;10;10M\x1b[<66;1;1M\x1b[<128;1;1M\x1b[<0;0;0M", vec![]),
    ] {
        assert_eq!(parse(&[bytes]), expected, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn unknown_and_odd_sequences_put_no_text_anywhere() {
    let long = [b"\x1b[".to_vec(), b"1;".repeat(5000), b"m".to_vec()].concat();
    let endless = [b"\x1b]0;".to_vec(), b"x".repeat(100_000), b"\x07".to_vec()].concat();
    for bytes in [
        &b"\x1b[1;9z"[..],
        b"\x1b[57358u",
        b"\x1b[u\x1b[~\x1b[;u\x1b[999999999999u",
        b"\x1b[200;3~\x1b[201~",
        b"\x1b[>41;388;0c",
        b"\x1b[12;40R",
        b"\x1b[1 A\x1b[!p",
        b"\x1b[M !!",
        b"\x1b_Gi=1;OK\x1b\\\x1bXfoo\x1b\\\x1b^bar\x1b\\",
        b"\x1bP1$r0 q\x1b\\",
        b"\xff\xfe\xc3\xc3\x80\x80",
        b"\xc2\x9b",
        &long,
        &endless,
    ] {
        let events = parse(&[bytes, b"k"]);
        let told: Vec<_> = events.iter().filter(|event| matches!(event, InputEvent::Key(_))).cloned().collect();
        let rest = text(&told).replace('À', "");
        assert_eq!(rest, "k", "{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(40)]));
    }
}

/// Reads at times, with the time-outs between them: text of what came.
fn timed(reads: &[(u64, &[u8])]) -> String {
    let mut parser = Parser::new();
    let mut events = Vec::new();
    for (now, read) in reads {
        while let Some(deadline) = parser.deadline().filter(|deadline| deadline <= now) {
            events.extend(parser.expire(deadline));
        }
        events.extend(parser.feed(read, *now));
    }
    while let Some(deadline) = parser.deadline() {
        events.extend(parser.expire(deadline));
    }
    text(&events)
}

#[test]
fn fc_070_fc_072_sequences_that_come_in_pieces_are_never_text() {
    for (reads, expected) in [
        (&[(0, &b"\x1b"[..])][..], "<escape>"),
        (&[(0, b"\x1b"), (2, b"[D")], "<left>"),
        (&[(0, b"\x1b["), (40, b"D"), (50, b"b")], "<left>b"),
        // The rule for a sequence whose ESC was taken for the key.
        (&[(0, b"\x1b"), (80, b"[D"), (90, b"b")], "<escape><left>b"),
        (&[(0, b"\x1b"), (20, b"["), (40, b"A")], "<escape><up>"),
        (&[(0, b"\x1b"), (80, b"OA")], "<escape><up>"),
        (&[(0, b"\x1b"), (80, b"[1;"), (160, b"5A"), (170, b"x")], "<escape><ctrl+up>x"),
        (&[(0, b"\x1b"), (80, b"[D!")], "<escape>[D!"),
        (&[(0, b"\x1b"), (80, b"["), (90, b"x] todo")], "<escape>[x] todo"),
        (&[(0, b"\x1b"), (80, b"[")], "<escape>["),
        (&[(0, b"\x1b"), (300, b"[D")], "<escape>[D"),
        (&[(0, b"\x1b"), (40, b"Only")], "<escape>Only"),
        (&[(0, b"\x1b"), (50, b"\x1b")], "<escape><escape>"),
        (&[(0, b"\x1b\x1b")], "<escape><escape>"),
        (&[(0, b"\x1b\x1bx")], "<escape><alt+x>"),
        (&[(0, b"\x1b\x1b]11;?\x07x")], "<escape>x"),
        // What was begun may be a key with alt, and what is lost is dropped.
        (&[(0, b"\x1b["), (400, b"x")], "<alt+[>x"),
        (&[(0, b"\x1bO"), (400, b"x")], "<shift+alt+o>x"),
        (&[(0, b"\x1b[1;"), (3000, b"x")], "x"),
        (&[(0, b"\x1b[1;\r")], "<enter>"),
        (&[(0, b"\x1b[1;\x1b[A")], "<up>"),
        (&[(0, b"\x1b]11;rgb:11"), (80, b"11/2222/3333\x1b\\ok")], "<Report(Background([17, 34, 51]))>ok"),
        (&[(0, b"\x1b]11;rgb:11/22"), (3000, b"x")], "x"),
        (&[(0, b"\x1b]11;rgb:11/22\rx")], "<enter>x"),
        (&[(0, b"a\xe6"), (15, b"\x97"), (30, b"\xa5b")], "a日b"),
    ] {
        assert_eq!(timed(reads), expected, "{reads:?}");
    }
}

#[test]
fn over_ssh_the_rest_of_a_sequence_may_take_longer() {
    let mut parser = Parser::with_escape_timeout(ESCAPE_TIMEOUT_SSH);
    assert_eq!(parser.feed(b"\x1b", 0), []);
    assert_eq!((parser.deadline(), parser.expire(80)), (Some(100), vec![]));
    assert_eq!(text(&parser.feed(b"[D", 80)), "<left>");
}

#[test]
fn fc_060_pastes_are_one_event_however_they_come() {
    for (reads, expected) in [
        (&[(0, &b"\x1b[200~a\nb\x1b[201~c"[..])][..], "<paste \"a\\nb\">c"),
        (&[(0, b"\x1b[200~a\x1b[20"), (5, b"1~\r")], "<paste \"a\"><enter>"),
        (&[(0, b"\x1b[200~"), (5, b"\x1b[201~")], "<paste \"\">"),
        (&[(0, b"\x1b[200~a\x1b[A\x07b\x1b[201~")], "<paste \"a\\u{1b}[A\\u{7}b\">"),
        (&[(0, b"\x1b[200~safe\x1b[201~rm\n\x1b[201~")], "<paste \"saferm\\n\">"),
        (&[(0, b"\x1b[200~1\x1b[201~x\x1b[200~2\x1b[201~")], "<paste \"1\">x<paste \"2\">"),
        (&[(0, b"\x1b[200~lost"), (3000, b"typed\r")], "<paste \"lost\">typed<enter>"),
        (&[(0, b"\x1b[200~lost"), (3000, b"end\x1b[201~")], "<paste \"lost\">end"),
        (&[(0, b"\x1b[200~\xff\xe6\x97\xa5\x1b[201~")], "<paste \"\u{fffd}日\">"),
    ] {
        assert_eq!(timed(reads), expected, "{reads:?}");
    }
}

#[test]
fn many_lines_at_once_are_a_paste_where_the_terminal_marks_none() {
    for (reads, expected) in [
        (&[(0, &b"row 0\rrow 1\rrow 2"[..])][..], "<paste \"row 0\\nrow 1\\nrow 2\">"),
        (&[(0, b"a\rb\rc"), (5, b"\rd\re"), (200, b"\r")], "<paste \"a\\nb\\nc\"><paste \"\\nd\\ne\"><enter>"),
        (&[(0, b"a\rb\rc"), (5, b"\r")], "<paste \"a\\nb\\nc\"><enter>"),
        (&[(0, b"first\rsecond\r")], "first<enter>second<enter>"),
        (&[(0, b"a\r")], "a<enter>"),
        (&[(0, b"a\rb\r\x1b[Ac\rd")], "a<enter>b<enter><up>c<enter>d"),
        (&[(0, b"\x1b[200~x\x1b[201~"), (1000, b"a\rb\rc")], "<paste \"x\">a<enter>b<enter>c"),
        (&[(0, b"\x1b[200~x"), (3000, b"a\rb\rc")], "<paste \"x\"><paste \"a\\nb\\nc\">"),
    ] {
        assert_eq!(timed(reads), expected, "{reads:?}");
    }
}

#[test]
fn a_large_paste_in_small_reads_is_taken_once() {
    let line = b"pasted line with some words in it\n".repeat(300_000);
    let mut parser = Parser::new();
    let mut events = parser.feed(b"\x1b[200~", 0);
    for read in line.chunks(4096) {
        events.extend(parser.feed(read, 1));
    }
    events.extend(parser.feed(b"\x1b[201~", 1));
    let [InputEvent::Paste(text)] = &*events else { panic!("{} events", events.len()) };
    assert_eq!(text.as_bytes(), line);
}

/// A piece of input that is whole in itself.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let fixed: &[&[u8]] = &[
        b"\x1b[A",
        b"\x1b[1;5C",
        b"\x1bOP",
        b"\x1b[97;5u",
        b"\x1b[27;6;80~",
        b"\x1bb",
        b"\x1b\r",
        b"\x1b\x1b[B",
        b"\r",
        b"\n",
        b"\x7f",
        b"\x1b[<0;3;4M",
        b"\x1b]11;rgb:11/22/33\x1b\\",
        b"\x1b]4;1;rgb:1/2/3\x07",
        b"\x1b[?62c",
        b"\x1bP>|x\x1b\\",
        b"\x1b[3$",
        b"\x1b[[A",
        b"\x1b[M abc"[..6].as_ref(),
        "日本".as_bytes(),
        "\u{1b}é".as_bytes(),
        b"\x1b[200~some\r\npaste\x1b[Ax\x1b[201~",
        b"\x1b[200~\x1b[201~",
    ];
    let owned: Vec<Vec<u8>> = fixed.iter().map(|bytes| bytes.to_vec()).collect();
    prop_oneof![proptest::sample::select(owned), "[a-zA-Z0-9 ]{1,6}".prop_map(String::into_bytes)]
}

proptest! {
    #[test]
    fn how_bytes_are_cut_into_reads_changes_nothing(
        pieces in prop::collection::vec(piece(), 1..12),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        // A paste first: many lines at once are keys then.
        let bytes = [b"\x1b[200~p\x1b[201~".to_vec(), pieces.concat()].concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        cuts.sort_unstable();
        let mut whole = Parser::new();
        let expected = whole.feed(&bytes, 0);
        let mut parser = Parser::new();
        let mut events = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([bytes.len()]) {
            events.extend(parser.feed(&bytes[from..cut], 0));
            from = cut;
        }
        prop_assert_eq!(events, expected);
    }

    #[test]
    fn no_bytes_at_any_time_break_it(
        reads in prop::collection::vec((prop::collection::vec(prop_oneof![Just(0x1b_u8), Just(b'['), Just(b'O'), Just(b';'), Just(b'~'), any::<u8>()], 0..40), 0_u64..2500), 0..20),
    ) {
        let mut parser = Parser::new();
        let mut now = 0;
        for (read, later) in reads {
            now += later;
            let deadlines: Vec<_> = parser.deadline().into_iter().collect();
            for deadline in deadlines.into_iter().filter(|deadline| *deadline <= now) {
                parser.expire(deadline);
            }
            for event in parser.feed(&read, now) {
                if let InputEvent::Key(Key { code: KeyCode::Char(character), .. }) = event {
                    prop_assert!(!character.is_control());
                }
            }
        }
    }
}
