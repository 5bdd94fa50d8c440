use ratatui::style::Style;

use super::*;
use crate::tui::{
    terminal::{
        Capabilities, Frame, Painter,
        testing::{ABLE, emulator, rows},
    },
    text::{StyledLine, StyledSpan},
};

const KITTY: Capabilities = Capabilities { images: Some(Images::Kitty), ..ABLE };
const ITERM2: Capabilities = Capabilities { images: Some(Images::Iterm2), ..ABLE };

/// A line with a row of a picture that has `rows` rows of four columns.
fn row_of(id: u32, row: u16, rows: u16) -> StyledLine {
    let picture = Arc::new(Picture::testing(id, "PNG", (40, 50)));
    let part = PictureRow { picture, columns: 4, rows, row };
    StyledLine::from_spans(vec![
        StyledSpan::new(" ", Style::new()),
        StyledSpan { picture: Some(Box::new(part)), ..StyledSpan::new("    ", Style::new()) },
    ])
}

/// A frame of lines that are named: a text, or `7:2` for the third row of picture 7, which has five.
fn frame(lines: &[&str]) -> Frame {
    let mut frame = Frame::new(12, u16::try_from(lines.len()).unwrap());
    for (y, name) in (0..).zip(lines) {
        let line = match name.split_once(':') {
            Some((id, row)) => row_of(id.parse().unwrap(), row.parse().unwrap(), 5),
            None => StyledLine::of((*name).to_owned(), Style::new()),
        };
        let area = frame.area();
        frame.line(area, y, &line);
    }
    frame
}

/// What is written after `frames`, of which the last one counts.
fn painted(frames: &[&[&str]], capabilities: &Capabilities) -> String {
    let mut painter = Painter::default();
    let mut bytes = Vec::new();
    for lines in frames {
        bytes = painter.paint(frame(lines), capabilities);
    }
    String::from_utf8(bytes).unwrap()
}

/// The commands about pictures in some bytes, with the moves before them.
fn commands(bytes: &str) -> Vec<String> {
    let parts = bytes.split("\x1b_G").collect::<Vec<_>>();
    let commands = parts.windows(2).map(|pair| {
        let place = pair[0].rsplit_once("\x1b[").map(|(_, place)| place).filter(|place| place.ends_with('H'));
        let command = pair[1].split("\x1b\\").next().unwrap().replace(",q=2", "");
        format!("{}{command}", place.map(|place| format!("{place} ")).unwrap_or_default())
    });
    commands.collect()
}

const WHOLE: [&str; 7] = ["a", "7:0", "7:1", "7:2", "7:3", "7:4", "z"];
const LOWER: [&str; 7] = ["7:2", "7:3", "7:4", "z", "y", "x", "w"];
const UPPER: [&str; 7] = ["a", "b", "c", "d", "e", "7:0", "7:1"];
const BARE: [&str; 7] = ["a", "", "", "", "", "", "z"];

#[test]
fn a_picture_is_given_once_and_placed_where_it_shows() {
    let first = ["a=t,f=100,i=7,m=0;PNG", "2;2H a=p,i=7,p=1,c=4,r=5,C=1"];
    let moved = ["a", "b", "7:0", "7:1", "7:2", "7:3", "7:4"];
    let table: &[(&[&[&str]], &[&str])] = &[
        (&[&WHOLE], &first),
        (&[&WHOLE, &WHOLE], &[]),
        // What of it shows is a part of its 50 rows of pixels.
        (&[&WHOLE, &LOWER], &["1;2H a=p,i=7,p=1,y=20,h=30,c=4,r=3,C=1"]),
        (&[&WHOLE, &UPPER], &["6;2H a=p,i=7,p=1,y=0,h=20,c=4,r=2,C=1"]),
        (&[&WHOLE, &moved], &["3;2H a=p,i=7,p=1,c=4,r=5,C=1"]),
        (&[&WHOLE, &BARE], &["a=d,d=i,i=7,p=1"]),
        (&[&WHOLE, &BARE, &WHOLE], &["2;2H a=p,i=7,p=1,c=4,r=5,C=1"]),
        // Twice on the screen.
        (
            &[&["7:0", "x", "7:0", "8:0"]],
            &[
                "a=t,f=100,i=7,m=0;PNG",
                "a=t,f=100,i=8,m=0;PNG",
                "1;2H a=p,i=7,p=1,y=0,h=10,c=4,r=1,C=1",
                "3;2H a=p,i=7,p=2,y=0,h=10,c=4,r=1,C=1",
                "4;2H a=p,i=8,p=1,y=0,h=10,c=4,r=1,C=1",
            ],
        ),
        (&[&["7:0", "x", "7:0"], &["7:0", "x", "y"]], &["a=d,d=i,i=7,p=2"]),
        // The screen has another height: it was erased.
        (&[&WHOLE, &["7:0", "7:1"]], &["a=d,d=a", "1;2H a=p,i=7,p=1,y=0,h=20,c=4,r=2,C=1"]),
        (&[&BARE, &BARE], &[]),
    ];
    for (frames, expected) in table {
        assert_eq!(commands(&painted(frames, &KITTY)), *expected, "{frames:?}");
    }
}

#[test]
fn a_terminal_that_lost_everything_is_given_it_again() {
    let mut painter = Painter::default();
    painter.paint(frame(&WHOLE), &KITTY);
    painter.invalidate();
    let again = String::from_utf8(painter.paint(frame(&WHOLE), &KITTY)).unwrap();
    assert_eq!(commands(&again)[..2], ["a=d,d=A", "a=t,f=100,i=7,m=0;PNG"]);
    assert!(again.starts_with(FORGET) && again.contains("\x1b[2J"));
    painter.invalidate();
    let without = String::from_utf8(painter.paint(frame(&BARE), &KITTY)).unwrap();
    assert_eq!(commands(&without), ["a=d,d=A"]);
}

#[test]
fn a_large_picture_goes_in_pieces_and_old_ones_are_let_go() {
    let mut out = String::new();
    give(&Picture::testing(9, &"x".repeat(2 * CHUNK + 1), (1, 1)), &mut out);
    let pieces: Vec<_> = out.split("\x1b_G").skip(1).map(|piece| piece.split_once(';').unwrap()).collect();
    assert_eq!(pieces.iter().map(|piece| piece.0).collect::<Vec<_>>(), ["a=t,f=100,i=9,m=1,q=2", "m=1,q=2", "m=0,q=2"]);
    assert_eq!(pieces.iter().map(|piece| piece.1.len() - 2).collect::<Vec<_>>(), [CHUNK, CHUNK, 1]);

    let mut gallery = Gallery { given: vec![(1, LEFT), (2, 5)], ..Gallery::default() };
    let change = gallery.place(&frame(&["2:0"]).pictures, |_| false);
    assert_eq!(change.before, "\x1b_Ga=d,d=I,i=1,q=2\x1b\\");
    assert_eq!(gallery.given, [(2, 5)]);
}

#[test]
fn iterm2_is_given_whole_pictures_wherever_they_show() {
    let shown = |bytes: &str| bytes.matches("\x1b]1337;File=inline=1;width=4;height=5;").count();
    for (frames, expected) in [
        (&[&WHOLE[..]][..], 1),
        (&[&WHOLE, &WHOLE], 0),
        (&[&WHOLE, &LOWER], 0),
        (&[&BARE, &WHOLE], 1),
        (&[&WHOLE, &["a", "b", "7:0", "7:1", "7:2", "7:3", "7:4"]], 1),
    ] {
        assert_eq!(shown(&painted(frames, &ITERM2)), expected, "{frames:?}");
    }
    // Where it was, the blanks are written again.
    let gone = painted(&[&WHOLE, &BARE], &ITERM2);
    assert_eq!(gone.matches("\x1b[K").count() + gone.matches("    ").count(), 5, "{gone:?}");
}

#[test]
fn terminals_without_pictures_get_none_and_emulators_show_no_garbage() {
    assert!(!painted(&[&WHOLE, &UPPER], &ABLE).contains("PNG"));
    for capabilities in [KITTY, ITERM2] {
        let mut painter = Painter::default();
        let mut terminal = emulator(12, 7);
        for lines in [&WHOLE[..], &LOWER, &UPPER, &BARE, &WHOLE] {
            terminal.process(&painter.paint(frame(lines), &capabilities));
            let text = |name: &&str| if name.contains(':') { String::new() } else { (*name).to_owned() };
            assert_eq!(rows(&terminal), lines.iter().map(text).collect::<Vec<_>>());
        }
    }
}

#[test]
fn text_that_is_written_beside_a_picture_has_it_placed_again() {
    let mut beside = frame(&WHOLE);
    beside.buffer[(10, 3)].set_symbol("|");
    let mut painter = Painter::default();
    painter.paint(frame(&WHOLE), &KITTY);
    let bytes = String::from_utf8(painter.paint(beside, &KITTY)).unwrap();
    assert_eq!(commands(&bytes), ["2;2H a=p,i=7,p=1,c=4,r=5,C=1"]);
}

#[test]
fn in_text_that_scrolls_away_a_picture_is_placed_over_rows_that_were_just_written() {
    let written = |names: &[(u32, u16)], screen_rows, images| {
        let mut prints = Prints::default();
        let mut out = String::new();
        for (id, row) in names {
            prints.written(&row_of(*id, *row, 3), screen_rows, images, &mut out);
        }
        out
    };
    let whole = [(7, 0), (7, 1), (7, 2)];
    let shown = "\x1b_Ga=t,f=100,i=7,m=0,q=2;PNG\x1b\\\x1b[3A\x1b[2G\x1b_Ga=p,i=7,p=1,c=4,r=3,C=1,q=2\x1b\\\x1b[3B\r";
    assert_eq!(written(&whole, 4, Some(Images::Kitty)), shown);
    let twice = written(&[whole, whole].concat(), 4, Some(Images::Kitty));
    assert_eq!((twice.matches("a=t").count(), twice.matches("a=p").count()), (1, 2));
    assert!(written(&whole, 4, Some(Images::Iterm2)).starts_with("\x1b[3A\x1b[2G\x1b]1337;"));
    for (names, rows) in [(&whole[1..], 4), (&whole[..2], 4), (&whole[..], 3), (&[(7, 0), (8, 1), (8, 2)], 4)] {
        assert_eq!(written(names, rows, Some(Images::Kitty)), "", "{names:?}");
    }
    assert_eq!(written(&whole, 4, None), "");
}

#[test]
fn what_is_drawn_over_a_picture_takes_it_away() {
    let mut covered = frame(&WHOLE);
    covered.clear(Rect::new(0, 3, 12, 1), Style::new());
    assert_eq!(covered.pictures, []);
}
