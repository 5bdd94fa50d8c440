//! The keys of vi.

use proptest::prelude::*;

use super::{Editor, Geometry, ROOM, lines, seen};
use crate::tui::{
    editor::{VimMode, VimOutcome},
    keys::{Key, KeyCode, Modifiers},
};

/// Plays keys from the normal mode on: `~` is Escape, `®` is ctrl+r; what vi does not take is typed.
fn play(text: &str, keys: &str, room: Geometry) -> Editor {
    let mut editor = Editor::new();
    let at = text.find('|').unwrap();
    editor.set_text(&text.replacen('|', "", 1));
    editor.set_vim(true);
    editor.vim(Key::plain(KeyCode::Escape), room);
    editor.go(at);
    for character in keys.chars() {
        let key = match character {
            '~' => Key::plain(KeyCode::Escape),
            '®' => Key::with(KeyCode::Char('r'), Modifiers::CTRL),
            _ => Key::plain(KeyCode::Char(character)),
        };
        if editor.vim(key, room) == VimOutcome::Pass && character != '~' {
            editor.type_char(character);
        }
    }
    editor
}

#[track_caller]
fn check(text: &str, keys: &str, expected: &str) {
    assert_eq!(seen(&play(text, keys, ROOM)), expected, "{text:?} {keys}");
}

#[test]
fn motions_stay_on_characters() {
    check("|abc", "l", "a|bc");
    check("|abc", "9l", "ab|c");
    check("ab|c", "h", "a|bc");
    check("ab|c\nd", "l", "ab|c\nd");
    check("|one two.x", "w", "one |two.x");
    check("|one two.x", "2w", "one two|.x");
    check("|one\n  two", "w", "one\n  |two");
    check("one tw|o", "b", "one |two");
    check("one tw|o", "bb", "|one two");
    check("|one two", "e", "on|e two");
    check("|one two", "ee", "one tw|o");
    check("  ab|c", "0", "|  abc");
    check("  ab|c", "^", "  |abc");
    check("|abc\nd", "$", "ab|c\nd");
    check("|a\nbcd\n e", "j$", "a\nbc|d\n e");
    check("|a\nb\n e", "G", "a\nb\n |e");
    check("a\nb\n |e", "gg", "|a\nb\n e");
    check("|a\nb\n e", "2G", "a\n|b\n e");
    check("|a-b-c", "f-", "a|-b-c");
    check("|a-b-c", "f-;", "a-b|-c");
    check("|a-b-c", "2t-", "a-|b-c");
    check("a-b-|c", "F-", "a-b|-c");
    check("a-b-|c", "F-;,", "a-b|-c");
    check("|日本 語", "w", "日本 |語");
    check("|", "hjklwbe0^$Gxu~", "|");
}

#[test]
fn up_and_down_keep_their_column() {
    check("abc|d\nx\nabcd", "jj", "abcd\nx\nabc|d");
    check("|a\nb", "k", "|a\nb");
    check("a\n|b", "j", "a\n|b");
}

#[test]
fn operators_work_on_what_motions_pass() {
    check("|one two three", "dw", "|two three");
    check("|one two three", "2dw", "|three");
    check("|one two three", "d2w", "|three");
    check("one |two\nthree", "dw", "one| \nthree");
    check("one two |three", "db", "one |three");
    check("|one two", "de", "| two");
    check("one |two", "d0", "|two");
    check("one |two", "D", "one| ");
    check("one |two\nx", "d$", "one| \nx");
    check("|a\nb\nc", "dj", "|c");
    check("a\nb\n|c", "dk", "|a");
    check("a\n|b\nc", "dG", "|a");
    check("a\n|b\nc", "dgg", "|c");
    check("|f(x)", "dt)", "|)");
    check("|f(x)", "df)", "|");
    check("|abc", "x", "|bc");
    check("ab|c", "x", "a|b");
    check("|abc", "2x", "|c");
    check("|abc", "dz", "|abc");
    check("|abc", "d~x", "|bc");
}

#[test]
fn lines_are_deleted_yanked_and_put_as_lines() {
    check("a\n|b\nc", "dd", "a\n|c");
    check("a\nb\n|c", "dd", "a\n|b");
    check("|a", "dd", "|");
    check("|a\nb\nc", "2dd", "|c");
    check("|a\nb", "yyp", "a\n|a\nb");
    check("|a\nb", "yyjP", "a\n|a\nb");
    check("|a\nb\nc", "ddp", "b\n|a\nc");
    check("|a\nb", "yy2p", "a\n|a\na\nb");
    check("a|b", "xP", "|ba");
    check("|ab", "xp", "b|a");
    check("|one two", "ywP", "one| one two");
    check("|a", "p", "|a");
}

#[test]
fn changes_begin_writing() {
    check("|one two", "cwx", "x| two");
    check("|o two", "cwx", "x| two");
    check("one| two", "cwx", "onex|two");
    check("a\n|b\nc", "ccx", "a\nx|\nc");
    check("one |two", "Cx", "one x|");
    check("|abc", "sx", "x|bc");
    check("a|bc", "ix~", "a|xbc");
    check("a|bc", "ax", "abx|c");
    check("  a|bc", "Ix", "  x|abc");
    check("|abc\nd", "Ax", "abcx|\nd");
    check("|a\nb", "ox", "a\nx|\nb");
    check("a\n|b", "Ox", "a\nx|\nb");
    check("|abc", "rx", "|xbc");
    check("|abc", "2rx", "x|xc");
    check("|abc", "9rx", "|abc");
}

#[test]
fn changes_are_undone_and_done_again() {
    check("|abc", "xxuu", "|abc");
    check("|abc", "xxuu®", "|bc");
    check("|a", "iword~u", "|a");
}

#[test]
fn the_visual_mode_selects_what_it_passes() {
    check("|abcd", "vld", "|cd");
    check("abc|d", "vhd", "a|b");
    check("|ab\ncd", "vjd", "|d");
    check("|abcd", "vlcx", "x|cd");
    check("|abcd", "vlyP", "a|babcd");
    check("|abcd", "vlrx", "|xxcd");
    check("a|bcd", "vlohd", "|d");
    check("|abcd", "vvx", "|bcd");
    check("|abcd", "v~x", "|bcd");
    let editor = play("|abcd", "vll", ROOM);
    assert_eq!((editor.selected.clone(), editor.vim_mode()), (0..3, Some(VimMode::Visual)));
    assert_eq!(play("|abcd", "vll~", ROOM).selected, 0..0);
}

#[test]
fn keys_of_others_pass() {
    let mut editor = Editor::new();
    let escape = Key::plain(KeyCode::Escape);
    assert_eq!(editor.vim(escape, ROOM), VimOutcome::Pass);
    editor.set_vim(true);
    let control = Key::with(KeyCode::Char('c'), Modifiers::CTRL);
    let mut outcome = |key| (editor.vim(key, ROOM), editor.vim_mode().unwrap());
    assert_eq!(outcome(Key::plain(KeyCode::Char('x'))), (VimOutcome::Pass, VimMode::Insert));
    assert_eq!(outcome(escape), (VimOutcome::Done, VimMode::Normal));
    assert_eq!(outcome(control), (VimOutcome::Pass, VimMode::Normal));
    assert_eq!(outcome(Key::plain(KeyCode::Enter)), (VimOutcome::Pass, VimMode::Normal));
    assert_eq!(outcome(escape), (VimOutcome::Pass, VimMode::Normal));
    assert_eq!(outcome(Key::plain(KeyCode::Char('d'))), (VimOutcome::Done, VimMode::Normal));
    assert_eq!(outcome(escape), (VimOutcome::Done, VimMode::Normal));
}

#[test]
fn the_next_text_begins_with_writing() {
    let mut editor = play("|abc", "yw", ROOM);
    editor.take();
    assert_eq!(editor.vim_mode(), Some(VimMode::Insert));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_keys_come_the_caret_is_on_a_character(
        keys in "[hjklwbe0^$Gg23fFtT;,xXsSdcyDCYiaIAoOpPuvr~® é日]{0,40}",
        text in "[a日é \n.]{0,20}",
    ) {
        let mut editor = play(&format!("|{text}"), &keys, ROOM);
        editor.paste(&lines(12));
        for key in keys.chars().chain("~".chars()) {
            let code = if key == '~' { KeyCode::Escape } else { KeyCode::Char(key) };
            editor.vim(Key::plain(code), ROOM);
            prop_assert_eq!(editor.text.edge(editor.caret), editor.caret);
        }
        let line = editor.text.line(editor.text.line_of(editor.caret));
        let is_normal = editor.vim_mode() == Some(VimMode::Normal);
        prop_assert!(!is_normal || editor.caret < line.end || line.is_empty(), "{}", seen(&editor));
    }
}
