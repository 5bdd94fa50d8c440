//! What a file's text says, in its own words: counts, headings, first sentences, declarations.

/// How much of a paragraph is quoted.
const PARAGRAPH: usize = 320;
/// How many headings and declarations are quoted.
const ITEMS: usize = 12;

/// Describes a file in a few lines of Markdown. Everything in quotation marks is in the text.
pub(super) fn describe(name: &str, text: &str, cut: Option<&str>) -> String {
    if is_binary(text) {
        return format!("**`{name}`** is not text; I cannot say what is in it.");
    }
    let lines = text.lines().count();
    let words = text.split_whitespace().count();
    let mut out = format!("**`{name}`**: {}, {}.", counted(lines, "line"), counted(words, "word"));
    if let Some(remark) = cut {
        out.push_str(&format!(" That is not all of it; the tool says: {remark}"));
    }
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let about = match ending {
        "md" | "markdown" => markdown(text),
        "toml" | "json" | "yaml" | "yml" => settings(text),
        _ if is_code(ending) => code(text),
        _ => plain(text),
    };
    for line in about {
        out.push_str("\n- ");
        out.push_str(&line);
    }
    out
}

/// True for what no text holds: a zero byte, or many places that were no characters.
pub(super) fn is_binary(text: &str) -> bool {
    let lost = text.chars().filter(|char| *char == char::REPLACEMENT_CHARACTER).count();
    text.contains('\0') || lost * 10 > text.chars().count()
}

/// A number and its noun.
pub(super) fn counted(number: usize, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("1 {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {noun}s"),
    }
}

fn is_code(ending: &str) -> bool {
    ["rs", "py", "js", "mjs", "ts", "tsx", "go", "java", "c", "h", "cpp", "rb", "sh", "lua"].contains(&ending)
}

fn markdown(text: &str) -> Vec<String> {
    let mut about = Vec::new();
    let headings = headings(text);
    if let Some(first) = headings.first() {
        about.push(format!("Its first heading is {}.", quote(first)));
    }
    about.extend(first_paragraph(text).map(|paragraph| format!("It begins: {}", quote_start(&paragraph))));
    if headings.len() > 1 {
        about.push(format!("It has {}: {}", counted(headings.len(), "heading"), list(&headings)));
    }
    about
}

/// The lines, those of code blocks empty.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().map(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if fence || fenced { "" } else { line }
    })
}

/// Headings without their marks.
fn headings(text: &str) -> Vec<String> {
    let titles = prose(text).filter_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches('#'));
    titles
        .filter(|title| title.starts_with(' ') && !title.trim().is_empty())
        .map(|title| title.trim().to_owned())
        .collect()
}

/// The first lines of running text, joined.
fn first_paragraph(text: &str) -> Option<String> {
    const OTHER: [&str; 10] = ["#", "<", "|", "![", "[![", "- ", "* ", "===", "---", "> "];
    let runs_on = |line: &&str| !line.trim().is_empty() && !OTHER.iter().any(|start| line.trim().starts_with(start));
    let mut lines = prose(text).skip_while(|line| !runs_on(line)).take_while(runs_on).peekable();
    lines.peek()?;
    Some(lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" "))
}

/// Lines of a manifest that say what something is.
fn settings(text: &str) -> Vec<String> {
    const TELLING: [&str; 5] = ["name", "description", "version", "title", "license"];
    let tells = |line: &&str| {
        let key = line.trim_start().trim_start_matches('"');
        let key_end = key.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(key.len());
        TELLING.contains(&&key[..key_end]) && line.contains([':', '='])
    };
    let mut lines: Vec<_> = text.lines().filter(tells).take(ITEMS).map(|line| quote(line.trim())).collect();
    lines.dedup();
    if lines.is_empty() { plain(text) } else { vec![format!("It says {}", lines.join(", "))] }
}

fn code(text: &str) -> Vec<String> {
    let mut about = Vec::new();
    let comment: Vec<_> =
        text.lines().map(str::trim).skip_while(|line| line.starts_with("#!")).map_while(comment).collect();
    let comment = comment.join(" ");
    if !comment.trim().is_empty() {
        let tidy = comment.split_whitespace().collect::<Vec<_>>().join(" ");
        about.push(format!("It begins with the comment {}", quote_start(&tidy)));
    }
    let declared: Vec<String> =
        text.lines().filter(|line| declares(line)).map(|line| signature(line).to_owned()).collect();
    if !declared.is_empty() {
        about.push(format!("It declares {}: {}", counted(declared.len(), "item"), list(&declared)));
    }
    if about.is_empty() { plain(text) } else { about }
}

/// A comment line's text.
fn comment(line: &str) -> Option<&str> {
    let marks = ["//!", "///", "//", "#", "\"\"\"", "--"];
    marks.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim)
}

fn declares(line: &str) -> bool {
    const WORDS: [&str; 12] =
        ["fn", "struct", "enum", "trait", "impl", "mod", "class", "def", "func", "function", "interface", "type"];
    let first = line
        .split_whitespace()
        .find(|word| !word.starts_with("pub") && !["export", "async", "default", "const"].contains(word));
    // Nested items are left out.
    !line.starts_with([' ', '\t']) && first.is_some_and(|word| WORDS.contains(&word))
}

fn signature(line: &str) -> &str {
    line.trim_end().trim_end_matches(['{', ':', ';']).trim_end()
}

fn plain(text: &str) -> Vec<String> {
    let first: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
    if first.is_empty() {
        return vec!["It holds nothing but white space.".to_owned()];
    }
    vec![format!("It begins: {}", first.iter().map(|line| quote_start(line)).collect::<Vec<_>>().join(" / "))]
}

fn list(items: &[String]) -> String {
    let shown: Vec<_> = items.iter().take(ITEMS).map(|item| quote(item)).collect();
    let more = items.len().saturating_sub(ITEMS);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

fn quote(text: &str) -> String {
    format!("“{text}”")
}

/// The beginning of a long text, in quotation marks.
pub(super) fn quote_start(text: &str) -> String {
    match text.char_indices().nth(PARAGRAPH) {
        None => quote(text),
        Some((end, _)) => {
            let whole_words = text[..end].rfind(' ').map_or(end, |space| space);
            format!("{} …", quote(&text[..whole_words]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_described_in_its_own_words() {
        let page = "# Title\n\n[![badge](x)](y)\n\n`First` words\nof it.\n\n```sh\n# no heading\n```\n## Use\n#tag\n";
        let expected = "\
**`a.md`**: 12 lines, 15 words.
- Its first heading is “Title”.
- It begins: “`First` words of it.”
- It has 2 headings: “Title”, “Use”";
        assert_eq!(describe("a.md", page, None), expected);
    }

    #[test]
    fn code_manifests_and_other_files_are_described() {
        let code = "//! Does it.\n//! Well.\n\nuse x;\n\npub fn a() {\n    fn inner() {}\n}\nstruct B;\n";
        let expected = "\
**`a.rs`**: 9 lines, 17 words.
- It begins with the comment “Does it. Well.”
- It declares 2 items: “pub fn a()”, “struct B”";
        assert_eq!(describe("a.rs", code, None), expected);
        let manifest = describe("Cargo.toml", "[package]\nname = \"x\"\nnamespace = 1\nversion = \"2\"\n", None);
        assert!(manifest.ends_with("It says “name = \"x\"”, “version = \"2\"”"), "{manifest}");
        assert!(describe("x", "", Some("[Showing lines 1-1 of 9.]")).contains("not all of it"));
    }
}
