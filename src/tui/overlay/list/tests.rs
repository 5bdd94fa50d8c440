use super::*;
use crate::tui::overlay::testing::{keys, picture};

struct Fruit(&'static str, &'static str, bool);

impl Item for Fruit {
    fn text(&self) -> &str {
        self.0
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        StyledLine::of(self.0, look.name())
    }

    fn is_enabled(&self) -> bool {
        self.2
    }

    fn heading(&self) -> Option<&str> {
        (!self.1.is_empty()).then_some(self.1)
    }
}

fn fruit() -> List<Fruit> {
    List::new(vec![
        Fruit("apple", "Trees", true),
        Fruit("pear", "Trees", true),
        Fruit("plum", "Trees", false),
        Fruit("grape", "Vines", true),
    ])
}

fn press(list: &mut List<Fruit>, pressed: &str) {
    for key in keys(pressed) {
        list.on_key(key, &Keymap::default());
    }
}

fn drawn(list: &List<Fruit>, rows: u16) -> String {
    let mut frame = Frame::new(30, rows);
    list.draw(&mut frame, Rect::new(0, 0, 30, rows), "  None", &Theme::plain());
    picture(&frame)
}

#[test]
fn keys_move_search_and_choose() {
    for (pressed, expected, marked) in [
        ("enter", Pressed::Chosen, Some("apple")),
        ("down enter", Pressed::Chosen, Some("pear")),
        ("down down", Pressed::Moved, Some("grape")),
        ("up", Pressed::Moved, Some("grape")),
        ("g r", Pressed::Searched, Some("grape")),
        ("z z", Pressed::Searched, None),
        ("z z enter", Pressed::Ignored, None),
        ("z z ctrl+u", Pressed::Searched, Some("apple")),
        ("escape", Pressed::Cancelled, Some("apple")),
        ("ctrl+c", Pressed::Cancelled, Some("apple")),
        ("tab", Pressed::Ignored, Some("apple")),
    ] {
        let mut list = fruit();
        let last = keys(pressed).into_iter().map(|key| list.on_key(key, &Keymap::default())).last();
        assert_eq!((last, list.marked().map(Item::text)), (Some(expected), marked), "{pressed}");
    }
}

#[test]
fn headings_stand_above_their_items_while_nothing_is_searched() {
    let mut list = fruit();
    assert_eq!(drawn(&list, 6), "Trees\n→ apple\n  pear\n  plum\nVines\n  grape");
    press(&mut list, "p");
    let mut rows: Vec<String> = drawn(&list, 6).lines().map(|line| line.chars().skip(2).collect()).collect();
    rows.sort();
    assert!(!rows.iter().any(|row| row == "Trees") && rows.len() == 4, "{rows:?}");
    list.on_paste("zz");
    assert_eq!(drawn(&list, 6), "  Nothing fits the search");
    assert_eq!(drawn(&List::<Fruit>::new(Vec::new()), 6), "  None");
}

#[test]
fn the_mark_stays_on_its_item_when_others_come() {
    let mut list = fruit();
    list.mark(3);
    list.replace(vec![Fruit("new", "", true), Fruit("grape", "", true)], |a, b| a.0 == b.0);
    assert_eq!(list.marked().map(Item::text), Some("grape"));
    list.replace(vec![Fruit("other", "", true)], |a, b| a.0 == b.0);
    assert_eq!(list.marked().map(Item::text), Some("other"));
}

#[test]
fn how_far_the_mark_is_is_told_where_not_all_is_seen() {
    let mut list = fruit();
    assert_eq!((list.count(6), list.count(3)), (None, Some("(1/4)".to_owned())));
    press(&mut list, "down down");
    assert_eq!(list.count(3).as_deref(), Some("(4/4)"));
    list.on_paste("zz");
    assert_eq!(list.count(3), None);
}

#[test]
fn only_rows_that_are_seen_are_made() {
    struct Counted<'c>(String, &'c std::cell::Cell<usize>);
    impl Item for Counted<'_> {
        fn text(&self) -> &str {
            &self.0
        }
        fn line(&self, look: &Look<'_>) -> StyledLine {
            self.1.set(self.1.get() + 1);
            StyledLine::of(self.0.clone(), look.name())
        }
    }
    let made = std::cell::Cell::new(0);
    let list = List::new((0..10_000).map(|n| Counted(format!("item {n}"), &made)).collect());
    let mut frame = Frame::new(20, 12);
    list.draw(&mut frame, Rect::new(0, 0, 20, 12), "", &Theme::plain());
    assert_eq!(made.get(), 12);
}
