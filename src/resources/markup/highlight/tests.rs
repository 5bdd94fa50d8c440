use proptest::prelude::*;

use super::{
    Token::{Operator, Punctuation},
    *,
};

/// The tokens of a text, `token:piece`, without what has none and without punctuation.
fn tokens(language: &str, text: &str) -> Vec<String> {
    let mut highlighter = Highlighter::new(Language::named(language).unwrap());
    let lines = text.split_inclusive('\n').flat_map(|line| highlighter.line(line));
    let shown = lines.filter(|(token, _)| !matches!(token, None | Some(Punctuation | Operator)));
    shown.map(|(token, piece)| format!("{:?}:{}", token.unwrap(), piece.trim_end())).collect()
}

#[test]
fn words_texts_and_comments_are_told_apart() {
    let table: [(&str, &str, &[&str]); 14] = [
        (
            "rust",
            "fn f(x: &'a str) -> u8 { 'x' } // c",
            &["Keyword:fn", "Function:f", "Type:'a", "Type:str", "Type:u8", "String:'x'", "Comment:// c"],
        ),
        (
            "rs",
            "r#\"a\" b\"# /* x\ny */ 1_000",
            &["String:r#\"a\" b\"#", "Comment:/* x", "Comment:y */", "Number:1_000"],
        ),
        ("rust", "'\\'' println!(\"a\\\"b\")", &["String:'\\''", "Function:println", "String:\"a\\\"b\""]),
        (
            "python",
            "\"\"\"a\nb\"\"\" # c\n@dec\nNone",
            &["String:\"\"\"a", "String:b\"\"\"", "Comment:# c", "Function:@dec", "Number:None"],
        ),
        ("ts", "const a = `x\n${y}` as Foo", &["Keyword:const", "String:`x", "String:${y}`", "Keyword:as", "Type:Foo"]),
        (
            "json",
            "{\"a\": \"b\", \"c\": true, \"d\": 1.5e3}",
            &["Variable:\"a\"", "String:\"b\"", "Variable:\"c\"", "Number:true", "Variable:\"d\"", "Number:1.5e3"],
        ),
        (
            "toml",
            "[a]\nkey-1 = 'x' # c\nurl#x = 1",
            &["Variable:key-1", "String:'x'", "Comment:# c", "Variable:x", "Number:1"],
        ),
        ("yaml", "a: b # c\nu: http://x#y", &["Variable:a", "Comment:# c", "Variable:u"]),
        (
            "bash",
            "ls -l | grep \"$x\" ${y} # c\nif true; then echo a#b; fi",
            &[
                "Function:ls",
                "Function:grep",
                "String:\"$x\"",
                "Variable:${y}",
                "Comment:# c",
                "Keyword:if",
                "Number:true",
                "Keyword:then",
                "Keyword:fi",
            ],
        ),
        (
            "sql",
            "SELECT a FROM t WHERE x = 'y' -- c",
            &["Keyword:SELECT", "Keyword:FROM", "Keyword:WHERE", "String:'y'", "Comment:-- c"],
        ),
        (
            "html",
            "<a href=\"x\">it's</a><!-- c\nd -->",
            &["Type:<a", "Variable:href", "String:\"x\"", "Type:>", "Type:</a>", "Comment:<!-- c", "Comment:d -->"],
        ),
        ("css", ".a { color: #fff !important }", &["Type:.a", "Variable:color", "Type:#fff", "Keyword:!important"]),
        (
            "c",
            "#include <a.h>\nint main(void) { return 0x1F; }",
            &["Keyword:#include", "Type:int", "Function:main", "Type:void", "Keyword:return", "Number:0x1F"],
        ),
        (
            "diff",
            "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z",
            &["Type:--- a", "Type:+++ b", "Type:@@ -1 +1 @@", "Keyword:-x", "String:+y"],
        ),
    ];
    for (language, text, wanted) in table {
        assert_eq!(tokens(language, text), wanted, "{language}: {text}");
    }
}

#[test]
fn languages_are_known_by_name_and_by_file() {
    for (name, known) in [("Rust", true), ("c++", true), (" py ", true), ("klingon", false), ("", false)] {
        assert_eq!(Language::named(name).is_some(), known, "{name}");
    }
    for (file, name) in [
        ("src/main.rs", Some("rust")),
        ("/a/Dockerfile", Some("dockerfile")),
        ("b.test.TSX", Some("typescript")),
        ("Makefile", Some("makefile")),
        ("CMakeLists.txt", Some("makefile")),
        ("notes.txt", None),
        ("README", None),
        ("", None),
    ] {
        assert_eq!(Language::of_file(file).map(|language| language.names[0]), name, "{file}");
    }
}

#[test]
fn no_name_stands_for_two_languages() {
    let mut seen = std::collections::HashSet::new();
    for name in languages::all().flat_map(|language| language.names) {
        assert!(seen.insert(*name), "{name}");
        assert_eq!(name.to_ascii_lowercase(), *name);
    }
}

proptest! {
    #[test]
    fn the_pieces_of_a_line_are_the_line(
        text in "[a-z'\"`#/*<>=!$\\\\{}\\[\\]()\\-:;.@ é日\u{202e}\n0-9]{0,200}",
        at in 0..languages::all().count(),
    ) {
        let language = languages::all().nth(at).unwrap();
        let mut highlighter = Highlighter::new(language);
        for line in text.split_inclusive('\n') {
            let pieces: String = highlighter.line(line).into_iter().map(|(_, piece)| piece).collect();
            prop_assert_eq!(pieces, line);
        }
    }
}
