//! Motions, deletions, kills, undo.

use super::{Editor, Geometry, ROOM, check, check_in, play, seen};

#[test]
fn the_caret_moves_by_characters_words_and_lines() {
    check("ad<left>c<left>b<right><right>e", "abcde|");
    check("bc<home>a<end>d<home><<end>>", "<abcd>|");
    check("one two three<word-left>3<word-left><word-left>2<word-right>!<word-right>$", "one 2two! 3three$|");
    check("a<nl>b<left><left>", "a|\nb");
    check("a<nl>b<left><word-left>", "a|\nb");
    check("a<nl>b<first><right><word-right>", "a\n|b");
    check("a<nl>b<first><last>", "a\nb|");
    check("<left><right><up><down><home><end><word-left><word-right><bs><del><word-bs><to-end><yank><pop><undo>", "|");
}

#[test]
fn a_grapheme_is_one_character_fc_071() {
    check("naïve 日本<left><left><left>x<end><word-bs><undo><home>>", ">|naïvex 日本");
    check("naïve 日本<left><left><left>x<end><word-bs><word-bs>", "|");
    check("a日本語b<left><left><bs>", "a日|語b");
    check("x👍🏽y😀<bs><bs><bs>", "x|");
    check("cafe\u{301}z<bs><bs>!", "caf!|");
    check("A👩\u{200d}👩\u{200d}👧B<bs><bs>🇨🇭<bs>1\u{fe0f}\u{20e3}<bs>Z", "AZ|");
    check("🇨🇭🇩🇪<left><bs>", "|🇩🇪");
    check("e\u{301}<home><del>", "|");
}

#[test]
fn a_caret_never_stays_inside_a_grapheme_that_an_edit_made() {
    check("<nl>\u{301}x<first>e<del>", "e\u{301}|x");
    check("🇭<home>🇨", "🇨🇭|");
    check("\r<paste \u{301}><home>e", "e\u{301}|");
}

#[test]
fn words_are_runs_of_letters_of_symbols_or_of_one_script() {
    check("foo_bar.baz --x<word-bs>", "foo_bar.baz --|");
    check("foo_bar.baz --x<word-bs><word-bs>", "foo_bar.baz |");
    check("foo_bar.baz<word-bs><word-bs>", "foo_bar|");
    check("日本語をテスト<word-bs>", "日本語を|");
    check("日本語をテスト<word-bs><word-bs>", "日本語|");
    check("日本語をテスト<home><word-right>", "日本語|をテスト");
    check("über straße<home><word-del>", "| straße");
    check("one  two  <word-bs>", "one  |");
    check("a<nl><word-bs>", "a|");
}

#[test]
fn kills_in_a_row_are_one_and_yanked_as_one() {
    check("one two three four<word-bs><word-bs>X", "one two X|");
    check("one two three<word-bs><word-bs><yank>", "one two three|");
    check("one two three<home><word-del><word-del><end>=<yank>", " three=one two|");
    check("abc def<left><left><left><to-start>x<home><right><to-end>y", "xy|");
    check("abc<home><to-end>1<yank><yank>", "1abcabc|");
    check("a<nl>b<home><to-start>", "a|b");
    check("a<nl>b<up><end><to-end>", "a|b");
}

#[test]
fn yank_pop_walks_the_kill_ring_right_after_a_yank_alone() {
    check("aa<to-start>bb<to-start><yank><pop>", "aa|");
    check("aa<to-start>bb<to-start>cc<to-start><yank><pop><pop>", "aa|");
    check("aa<to-start>bb<to-start>cc<to-start><yank><pop><pop><pop>", "cc|");
    check("aa<to-start>bb<to-start><yank>.<pop>", "bb.|");
    check("aa<to-start><yank><pop>", "aa|");
    check("aa<to-start>bb<to-start><yank><pop><undo>", "bb|");
}

#[test]
fn undo_takes_a_typed_word_back_and_redo_brings_it_again() {
    check("hello world<word-bs><undo>", "hello world|");
    check("hello world<undo>", "hello|");
    check("hello world<undo><undo>", "|");
    check("hello world<undo><undo><undo>", "|");
    check("hello world<undo><undo><redo><redo><redo>", "hello world|");
    check("hello world<undo>!<redo>", "hello!|");
    check("ab<left>c<undo>", "a|b");
    check("abc<bs><bs><undo>", "ab|");
    check("abc<clear><undo>", "abc|");
    check("a<nl>b<undo><undo>", "a|");
    check("abc<send><undo>", "|");
}

#[test]
fn a_jump_takes_the_next_typed_character() {
    check("abcxdef<home><jump>x<", "abc<|xdef");
    check("axbxc<jump-back>x", "axb|xc");
    check("axbxc<jump-back>x<jump-back>x", "a|xbxc");
    check("xa<nl>bx<first><jump>x", "xa\nb|x");
    check("abc<home><jump>z!", "!|abc");
    check("abc<home><jump><jump>c", "c|abc");
    check("abc<home><jump><right>c", "ac|bc");
    check("e\u{301}e<jump-back>\u{301}", "e\u{301}e|");
}

#[test]
fn a_jump_can_be_given_up() {
    let mut editor = Editor::new();
    play(&mut editor, "ab<home><jump>", ROOM);
    assert!(editor.waits_for_jump() && editor.cancel_jump() && !editor.cancel_jump());
    play(&mut editor, "b", ROOM);
    assert_eq!(seen(&editor), "b|ab");
}

#[test]
fn up_and_down_keep_their_column_through_short_and_wide_rows() {
    check("abc<nl>def<nl>ghi<up><up>1<down>2", "abc1\ndef2|\nghi");
    check("abcdef<nl>x<nl>abcdef<up><up>", "abcdef|\nx\nabcdef");
    check("日本語<nl>abcd<left><up>", "日|本語\nabcd");
    check("a<nl>b<up><up>", "|a\nb");
    check("a<nl>b<first><down><down>", "a\nb|");
}

#[test]
fn up_and_down_go_by_rows_of_wrapped_lines() {
    let narrow = Geometry { width: 6, rows: 3 };
    check_in(narrow, "abcdefghijkl<up>", "abcdefg|hijkl");
    check_in(narrow, "abcdefghijkl<up><up>", "ab|cdefghijkl");
    check_in(narrow, "abcdefghijkl<first><right><down><down>", "abcdefghijk|l");
    check_in(narrow, "aa bb cc dd<first><down>", "aa bb |cc dd");
    check_in(narrow, "aa bb cc dd<first><end><up><down>", "aa bb cc dd|");
    check_in(narrow, "日本日本日本<up>", "日本日|本日本");
}

#[test]
fn pages_are_as_high_as_the_room() {
    let room = Geometry { width: 40, rows: 3 };
    check_in(room, "1<nl>2<nl>3<nl>4<nl>5<page-up>", "1\n2|\n3\n4\n5");
    check_in(room, "1<nl>2<nl>3<nl>4<nl>5<page-up><page-up>", "1|\n2\n3\n4\n5");
    check_in(room, "1<nl>2<nl>3<nl>4<nl>5<first><page-down>", "1\n2\n3\n|4\n5");
    check_in(room, "1<nl>2<first><page-down><page-down>", "1\n2|");
}

#[test]
fn control_characters_cannot_be_typed() {
    check("a\u{1b}b\u{7}\u{9b}", "ab|");
}
