//! What a terminal sends for a key.

/// The final of an arrow and its like: `CSI` and it.
const ARROWS: [(&str, char); 6] =
    [("up", 'A'), ("down", 'B'), ("right", 'C'), ("left", 'D'), ("home", 'H'), ("end", 'F')];

/// The number of an editing key: `CSI`, it and `~`.
const EDITING: [(&str, u8); 4] = [("insert", 2), ("delete", 3), ("pageup", 5), ("pagedown", 6)];

/// Keys that have a character of their own: the name, what old terminals send, and its code in the kitty protocol.
const NAMED: [(&str, &str, u8); 5] =
    [("enter", "\r", 13), ("tab", "\t", 9), ("escape", "\x1b", 27), ("backspace", "\x7f", 127), ("space", " ", 32)];

/// The bytes of a key: a character, or a name with what is held (`ctrl+alt+left`, `shift+enter`). With `kitty`, as a
/// terminal sends it that was asked to tell keys apart.
pub fn encode(key: &str, kitty: bool) -> String {
    let (held, name) = key.rsplit_once('+').unwrap_or(("", key));
    let holds = |modifier: &str| held.split('+').any(|word| word == modifier);
    let (shift, alt, ctrl) = (holds("shift"), holds("alt"), holds("ctrl"));
    let modifiers = 1 + u8::from(shift) + 2 * u8::from(alt) + 4 * u8::from(ctrl);
    if let Some((_, end)) = ARROWS.iter().find(|(known, _)| *known == name) {
        return if modifiers == 1 { format!("\x1b[{end}") } else { format!("\x1b[1;{modifiers}{end}") };
    }
    if let Some((_, number)) = EDITING.iter().find(|(known, _)| *known == name) {
        return if modifiers == 1 { format!("\x1b[{number}~") } else { format!("\x1b[{number};{modifiers}~") };
    }
    let named = NAMED.iter().find(|(known, ..)| *known == name);
    let plain = named.map_or(name, |(_, plain, _)| plain);
    if kitty {
        let code = named.map_or_else(|| u32::from(character(name)), |(.., code)| u32::from(*code));
        return match modifiers {
            1 if name == "escape" => "\x1b[27u".into(),
            1 => plain.into(),
            _ => format!("\x1b[{code};{modifiers}u"),
        };
    }
    let before = if alt { "\x1b" } else { "" };
    match (name, shift, ctrl) {
        ("tab", true, _) => format!("{before}\x1b[Z"),
        // Old terminals cannot say it; xterm can, when it is told to.
        ("enter", true, _) | ("enter", _, true) => format!("\x1b[27;{modifiers};13~"),
        (_, _, true) => format!("{before}{}", control(name)),
        (_, true, _) => format!("{before}{}", plain.to_uppercase()),
        _ => format!("{before}{plain}"),
    }
}

/// The control character of a key.
fn control(name: &str) -> char {
    match name {
        "-" | "_" | "/" => '\x1f',
        "space" => '\0',
        _ => char::from(character(name).to_ascii_uppercase() as u8 & 0x1f),
    }
}

fn character(name: &str) -> char {
    let mut characters = name.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => character,
        _ => panic!("no key is called {name:?}"),
    }
}
