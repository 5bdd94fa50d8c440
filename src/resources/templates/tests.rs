use std::fs;

use super::{super::source::Scope, *};

fn template(name: &str, body: &str) -> Template {
    let root = Root::new("/p", RootKind::Folder, Scope::User);
    Template {
        name: name.into(),
        description: String::new(),
        argument_hint: None,
        body: body.into(),
        source: SourceInfo::new(Path::new("/p/t.md"), &root),
    }
}

fn expand_with(body: &str, text: &str) -> Option<String> {
    expand(text, &[template("t", body)])
}

#[test]
fn the_reference_vectors_expand_as_recorded() {
    let body = "1=$1 2=$2 at=$@ s2=${@:2} s21=${@:2:1} d=${3:-dflt} dd=${ARGUMENTS:-none} lit=$$1 x=${9}";
    let table = [
        (r#"/t a "b c" d\ e"#, r"1=a 2=b c at=a b c d\ e s2=b c d\ e s21=b c d=d\ dd=a b c d\ e lit=$a x=${9}"),
        ("/t", "1= 2= at= s2= s21= d=dflt dd=none lit=$ x=${9}"),
        (
            "/t\nq \"un closed",
            "1=q 2=\"un at=q \"un closed s2=\"un closed s21=\"un d=closed dd=q \"un closed lit=$q x=${9}",
        ),
        (r#"/t $1 'x \' y' """#, "1=$1 2=x ' y at=$1 x ' y  s2=x ' y  s21=x ' y d=dflt dd=$1 x ' y  lit=$$1 x=${9}"),
    ];
    for (text, expansion) in table {
        assert_eq!(expand_with(body, text).as_deref(), Some(expansion), "{text}");
    }
    for text in ["/nosuch z", "/t:x a", "/skill:none x", " /t a", "/T a", "t a", "/", ""] {
        assert_eq!(expand_with(body, text), None, "{text}");
    }
}

#[test]
fn arguments_are_split_like_words_with_quotes() {
    let table: &[(&str, &[&str])] = &[
        ("", &[]),
        ("  a   b ", &["a", "b"]),
        (r#""a"b c"#, &["ab", "c"]),
        (r#""" x"#, &["", "x"]),
        (r#""a\nb" 'c\"d'"#, &[r"a\nb", r#"c\"d"#]),
        (r#"a"b c"d"#, &["a\"b", "c\"d"]),
        ("\"a\tb\"", &["a\tb"]),
        (r#""a" "b"#, &["a", "\"b"]),
        (r#""a\""#, &["\"a\\\""]),
        ("'é ü' ö", &["é ü", "ö"]),
    ];
    for (text, arguments) in table {
        assert_eq!(arguments::split(text), *arguments, "{text}");
    }
}

#[test]
fn each_placeholder_is_filled_once() {
    let args = ["one", "two", "three"];
    // placeholder, with three arguments, without any
    let table = [
        ("$1", "one", ""),
        ("$10", "", ""),
        ("$0", "", ""),
        ("$99999999999999999999", "", ""),
        ("${1}", "${1}", "${1}"),
        ("${1:-}", "one", ""),
        ("${1:-a}b}", "oneb}", "ab}"),
        ("${1:-$2}", "one", "$2"),
        ("${2:-a:b-c}", "two", "a:b-c"),
        ("{${@}}", "{${@}}", "{${@}}"),
        ("$ARGUMENTSX", "one two threeX", "X"),
        ("${@:0}", "one two three", ""),
        ("${@:2}", "two three", ""),
        ("${@:2:0}", "", ""),
        ("${@:2:1}", "two", ""),
        ("${@:1:99}", "one two three", ""),
        ("${@:9}", "", ""),
        ("${@:x}", "${@:x}", "${@:x}"),
        ("${ARGUMENTS:2}", "${ARGUMENTS:2}", "${ARGUMENTS:2}"),
        ("${@:-x}", "one two three", "x"),
        ("${ARGUMENTS:-}", "one two three", ""),
        ("\\$1", "\\one", "\\"),
        ("$1x", "onex", "x"),
        ("$", "$", "$"),
        ("${", "${", "${"),
        ("a $ b $$ $é", "a $ b $$ $é", "a $ b $$ $é"),
    ];
    for (body, with, without) in table {
        assert_eq!(arguments::substitute(body, &args.map(str::to_owned)), with, "{body}");
        assert_eq!(arguments::substitute(body, &[]), without, "{body}");
    }
}

#[test]
fn files_become_templates_and_the_first_of_a_name_wins() {
    let dir = tempfile::tempdir().unwrap();
    let root = |path: &str, kind, scope| Root::new(dir.path().join(path), kind, scope);
    for (path, text) in [
        ("project/prompts/x.md", "PROJECT"),
        ("user/prompts/x.md", "USER"),
        ("user/prompts/head.md", "---\ndescription: Review it\nargument-hint: [pr]\n---\n\nReview $1\n\n"),
        ("user/prompts/plain.md", "\n\nfirst line\nmore\n"),
        ("user/prompts/long.md", "éxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy"),
        ("user/prompts/bad.md", "---\ndescription: \"unclosed\n---\nbody"),
        ("user/prompts/.dot.md", "dotted"),
        ("user/prompts/no.txt", "no"),
        ("user/prompts/sub/deep.md", "deep"),
        ("named/one.md", "ONE"),
    ] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let loaded = load(&[
        root("named/one.md", RootKind::Named, Scope::Temporary),
        root("named", RootKind::Named, Scope::Temporary),
        root("nosuch", RootKind::Named, Scope::Temporary),
        root("project/prompts", RootKind::Folder, Scope::Project),
        root("user/prompts", RootKind::Folder, Scope::User),
        root("absent", RootKind::Folder, Scope::User),
    ]);
    let names: Vec<_> = loaded.value.iter().map(|template| template.name.as_str()).collect();
    assert_eq!(names, ["one", "x", "head", "long", "plain"]);
    let of = |name: &str| loaded.value.iter().find(|template| template.name == name).unwrap();
    assert_eq!((of("x").body.as_str(), of("x").source.scope), ("PROJECT", Scope::Project));
    assert_eq!((of("head").body.as_str(), of("head").description.as_str()), ("Review $1", "Review it"));
    assert_eq!(of("head").argument_hint.as_deref(), Some("[pr]"));
    assert_eq!((of("plain").description.as_str(), of("plain").body.as_str()), ("first line", "\n\nfirst line\nmore\n"));
    assert_eq!(of("long").description, format!("é{}...", "x".repeat(59)));
    let warnings: Vec<_> = loaded.warnings.iter().map(ToString::to_string).collect();
    let at = dir.path().display();
    assert_eq!(
        warnings,
        [
            format!("{at}/nosuch: there is no such prompt template"),
            format!(
                "{at}/user/prompts/bad.md: is not loaded: line 2 of its front matter is malformed: a \
                 quote is never closed"
            ),
            format!("{at}/user/prompts/x.md: /x is already {at}/project/prompts/x.md"),
        ]
    );
    assert_eq!(
        serde_json::to_value(&of("head").source).unwrap(),
        serde_json::json!({
            "path": format!("{at}/user/prompts/head.md"), "source": "auto", "scope": "user", "origin": "top-level",
            "baseDir": format!("{at}/user")
        })
    );
    assert_eq!(
        serde_json::to_value(&of("one").source).unwrap(),
        serde_json::json!({
            "path": format!("{at}/named/one.md"), "source": "local", "scope": "temporary", "origin": "top-level",
            "baseDir": format!("{at}/named")
        })
    );
}
