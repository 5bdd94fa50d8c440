use crate::tui::{
    complete::{Accept, Menu, MenuItem, MenuKind},
    text::StyledLine,
    theme::Theme,
};

fn menu(kind: MenuKind, names: &[&str]) -> Menu {
    let item = |name: &&str| MenuItem {
        label: (*name).into(),
        description: format!("about {name}"),
        insert: format!("{name} "),
        goes_on: false,
    };
    Menu::new(kind, names.iter().map(item).collect(), 2..5).unwrap()
}

fn drawn(menu: &Menu, width: u16, rows: usize) -> Vec<String> {
    menu.lines(&Theme::plain(), width, rows).iter().map(StyledLine::text).collect()
}

#[test]
fn an_empty_menu_is_none() {
    assert_eq!(Menu::new(MenuKind::Files, Vec::new(), 0..0), None);
}

#[test]
fn the_selection_goes_round() {
    let mut menu = menu(MenuKind::Files, &["a", "b", "c"]);
    let mut selected = |go: fn(&mut Menu)| {
        go(&mut menu);
        menu.selected()
    };
    assert_eq!(selected(Menu::up), 2);
    assert_eq!(selected(Menu::down), 0);
    assert_eq!(selected(Menu::down), 1);
    assert_eq!(selected(|menu| menu.page(5)), 2);
    assert_eq!(selected(|menu| menu.page(-5)), 0);
}

#[test]
fn enter_sends_a_command_at_once_and_nothing_else() {
    for (kind, by, sends) in [
        (MenuKind::Commands, Accept::Enter, true),
        (MenuKind::Commands, Accept::Tab, false),
        (MenuKind::Arguments, Accept::Enter, false),
        (MenuKind::Files, Accept::Enter, false),
        (MenuKind::Paths, Accept::Enter, false),
    ] {
        let accepted = menu(kind, &["a", "b"]).accept(by);
        assert_eq!((accepted.sends, accepted.range, &*accepted.insert), (sends, 2..5, "a "), "{kind:?} {by:?}");
    }
}

#[test]
fn rows_are_around_the_selection_and_counted_when_there_are_more() {
    let mut menu = menu(MenuKind::Commands, &["one", "second", "c", "d"]);
    assert_eq!(
        drawn(&menu, 40, 5),
        ["→ one     about one", "  second  about second", "  c       about c", "  d       about d",]
    );
    menu.up();
    assert_eq!(drawn(&menu, 40, 3), ["  second  about second", "  c       about c", "→ d       about d", "  (4/4)"]);
    assert_eq!(drawn(&menu, 10, 3), ["  second", "  c", "→ d", "  (4/4)"]);
}

#[test]
fn names_with_escapes_are_shown_harmlessly() {
    let menu = menu(MenuKind::Files, &["a\u{1b}[31m\n\u{202e}b"]);
    assert_eq!(drawn(&menu, 20, 3), ["→ a<U+001B>[31m <U+202E>b"]);
    assert_eq!(menu.accept(Accept::Tab).insert, "a\u{1b}[31m\n\u{202e}b ");
}
