use proptest::prelude::*;
use serde_json::{Value, json};

use crate::store::{
    testing::{answer, compaction, label, line, system, user, view},
    tree::TreeView,
};

/// The page of a session.
fn page(view: &TreeView) -> String {
    let mut page = Vec::new();
    super::write(view, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

/// The transcript of a page of these entries.
fn transcript(lines: &[String]) -> String {
    let page = page(&view(lines));
    let (_, rest) = page.split_once("<main id=\"transcript\">").unwrap();
    rest.split_once("<p id=\"nothing\"").unwrap().0.to_owned()
}

/// The transcript without what is the same in each: heads, and where things are hidden.
fn bare(lines: &[String]) -> String {
    let mut text = transcript(lines);
    while let Some((before, after)) = text.split_once("<header>").map(|(b, a)| (b.to_owned(), a.to_owned())) {
        let rest = after.split_once("</header>").unwrap().1.to_owned();
        text = before + &rest;
    }
    text
}

fn calls(id: &str, parent: &str, calls: Value) -> String {
    line(
        "message",
        id,
        parent,
        json!({"message": {"role": "assistant", "content": calls, "provider": "acme", "model": "alpha"}}),
    )
}

fn call(id: &str, name: &str, arguments: Value) -> Value {
    json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments})
}

fn result(id: &str, parent: &str, call: &str, name: &str, text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    let message = json!({"role": "toolResult", "toolCallId": call, "toolName": name, "content": content});
    line("message", id, parent, json!({ "message": message }))
}

#[test]
fn a_message_is_an_article_with_its_markdown() {
    assert_eq!(
        bare(&[user("u", "", "hi *there*\n\n```rust\nfn f() {}\n```")]),
        "<article id=\"e0\" data-e=\"0\" class=\"entry user\"><div class=\"prose\" dir=\"auto\"><p dir=\"auto\">hi \
         <em>there</em></p><figure class=\"fence\" dir=\"ltr\"><figcaption class=\"lang\">rust</figcaption><pre \
         class=\"code\"><code><i class=\"k\">fn</i> <i class=\"f\">f</i>() {}</code></pre></figure></div></article>"
    );
}

#[test]
fn results_stand_in_their_calls_whatever_order_they_come_in_and_ids_that_come_twice_are_no_trouble() {
    let lines = [
        user("u", "", "go"),
        calls(
            "a",
            "u",
            json!([
                call("1", "ls", json!({"path": "x"})),
                call("2", "ls", json!({"path": "y"})),
                call("1", "ls", json!({"path": "z"}))
            ]),
        ),
        result("r2", "a", "2", "ls", "of y"),
        line("custom", "c", "r2", json!({"customType": "note"})),
        result("r1", "c", "1", "ls", "of x"),
        result("r3", "r1", "1", "ls", "of z"),
        result("r4", "r3", "9", "ls", "of nobody"),
    ];
    let text = transcript(&lines);
    let order = ["line\">x<", "of x", "line\">y<", "of y", "line\">z<", "of z", "without its call", "of nobody"];
    let places: Vec<_> = order.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(text.matches("of y").count(), 1);
}

#[test]
fn other_branches_are_there_and_hidden_with_the_results_that_are_theirs() {
    let lines = [
        user("u", "", "go"),
        calls("a", "u", json!([call("1", "bash", json!({"command": "date"}))])),
        result("old", "a", "1", "bash", "yesterday"),
        answer("o", "old", "the branch that was left"),
        result("new", "a", "1", "bash", "today"),
        label("l", "new", "old", "back then"),
        answer("n", "l", "the branch that is"),
    ];
    let page = page(&view(&lines));
    for (at, class) in [(1, "assistant"), (2, "result off"), (3, "assistant off"), (4, "result"), (6, "assistant")] {
        let element = format!("id=\"e{at}\" data-e=\"{at}\" class=\"entry {class}\"");
        assert!(page.contains(&element), "{element}");
    }
    assert!(page.contains("id=\"parents\">[-1,0,1,2,1,4,5]</script>"));
    // The tree has the branches side by side, and the name of an entry that has no line of its own.
    let tree = page.split_once("<nav").unwrap().1;
    for node in [
        "class=\"named d1 off\" href=\"#e2\"",
        "class=\"answer d1 off\" href=\"#e3\"",
        "class=\"answer d0\" href=\"#e6\"",
    ] {
        assert!(tree.contains(node), "{node}: {tree}");
    }
}

#[test]
fn branches_are_numbered_where_there_are_several() {
    let lines = [user("a", "", "x"), user("b", "a", "y"), user("c", "a", "z"), user("d", "", "other root")];
    let text = transcript(&lines);
    let found: Vec<_> =
        text.match_indices("<span class=\"fork\">").map(|(at, mark)| &text[at + mark.len()..]).collect();
    let wanted = ["branch 1 of 2", "branch 1 of 2", "branch 2 of 2", "branch 2 of 2"];
    assert!(found.iter().zip(wanted).all(|(text, wanted)| text.starts_with(wanted)) && found.len() == 4, "{text}");
}

#[test]
fn a_link_holds_no_other_link_and_both_addresses_are_to_be_read() {
    for text in [
        "[![badge](https://img.example/b.png)](https://ci.example/run)",
        "![see [here](https://ci.example/run)](https://img.example/b.png)",
        "[*![badge](https://img.example/b.png)*](https://ci.example/run)",
    ] {
        let text = transcript(&[user("u", "", text)]);
        let (_, text) = text.split_once("<div class=\"prose\"").unwrap();
        assert_eq!(text.matches("<a ").count(), 1, "{text}");
        for address in ["(https://img.example/b.png)", "(https://ci.example/run)"] {
            assert!(text.contains(address), "{address}: {text}");
        }
    }
}

#[test]
fn hidden_characters_in_a_name_are_no_markup_in_the_title() {
    let page = page(&view(&[line("session_info", "i", "", json!({"name": "a\u{202e}b"}))]));
    assert!(page.contains("<title>a&lt;U+202E&gt;b</title>"), "{page}");
}

#[test]
fn each_tool_shows_what_it_was_asked_in_its_own_way() {
    let table = [
        ("bash", json!({"command": "ls | wc"}), "<i class=\"f\">ls</i>"),
        ("read", json!({"path": "a.rs", "offset": 5, "limit": 10}), "<code class=\"line\">a.rs:5-14</code>"),
        ("grep", json!({"pattern": "x", "path": "src", "glob": "*.rs"}), "<code class=\"line\">x in src (*.rs)</code>"),
        ("ls", json!({}), "<code class=\"line\">.</code>"),
        ("write", json!({"path": "a.py", "content": "def f():"}), "<i class=\"k\">def</i>"),
        (
            "edit",
            json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
            "<span class=\"del\">- x</span><span class=\"add\">+ y</span>",
        ),
        ("edit", json!({"path": "a", "oldText": "x", "newText": ""}), "<span class=\"del\">- x</span></code>"),
        ("weather", json!({"place": "Ulm", "days": 3}), "<dt class=\"\">days</dt><dd><code class=\"in\">3</code></dd>"),
    ];
    for (name, arguments, wanted) in table {
        let text = transcript(&[calls("a", "", json!([call("1", name, arguments)]))]);
        assert!(text.contains(wanted), "{name}: {text}");
        assert!(text.contains("no result of this call"), "{name}");
    }
}

#[test]
fn an_edit_shows_the_difference_that_it_made() {
    let mut edited: Value = serde_json::from_str(&result("r", "a", "1", "edit", "Successfully replaced")).unwrap();
    edited["message"]["details"] = json!({"diff": " 1 a\n-2 b\n+2 c", "patch": "not shown"});
    let edit = call("1", "edit", json!({"path": "f", "edits": [{"oldText": "b", "newText": "c"}]}));
    let text = transcript(&[calls("a", "", json!([edit])), edited.to_string()]);
    let diff = "<span class=\"same\"> 1 a</span><span class=\"del\">-2 b</span><span class=\"add\">+2 c</span>";
    assert!(text.contains(diff) && !text.contains("not shown"), "{text}");
}

#[test]
fn pictures_lie_in_the_page_and_only_as_pictures() {
    let block = |mime: &str, data: &str| json!([{"type": "image", "mimeType": mime, "data": data}]);
    let message = |content: Value| line("message", "u", "", json!({"message": {"role": "user", "content": content}}));
    let shown = transcript(&[message(block("image/png", "aGk="))]);
    assert!(shown.contains("src=\"data:image/png;base64,aGk=\""), "{shown}");
    for (mime, data) in [
        ("image/svg+xml", "aGk="),
        ("text/html", "aGk="),
        ("image/png", "\"><script>"),
        ("image/png\"", "aGk="),
        ("image/png", ""),
    ] {
        let text = transcript(&[message(block(mime, data))]);
        assert!(!text.contains("<img") && text.contains("cannot be shown"), "{mime} {data}: {text}");
    }
}

#[test]
fn marks_say_what_changed() {
    let lines = [
        line("model_change", "m", "", json!({"provider": "acme", "modelId": "beta"})),
        system("s", "m", json!({"preamble": "Be brief."})),
        user("u", "s", "go"),
        compaction("c", "u", "All of it.", "u"),
        line("branch_summary", "b", "c", json!({"fromId": "u", "summary": "Left."})),
        line("hologram", "h", "b", json!({"payload": "from the future"})),
        line("session_info", "i", "h", json!({"name": "A name"})),
        line("context_edit", "e", "i", json!({"targetId": "u", "replacement": null})),
    ];
    let page = page(&view(&lines));
    for wanted in [
        "<title>A name</title>",
        "Model: acme/beta",
        "Be brief.",
        "9 tokens of context",
        "<a href=\"#e2\">here</a>",
        "All of it.",
        "Left.",
        "the unknown kind hologram",
        "from the future",
        "does not see the entry u",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
}

#[test]
fn the_policy_allows_exactly_the_style_and_the_script_of_the_page() {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let page = page(&view(&[user("u", "", "x")]));
    let inside = |from: &str, to: &str| page.split_once(from).unwrap().1.split_once(to).unwrap().0;
    for text in [inside("<style>", "</style>"), inside("<script>", "</script>")] {
        let hash = STANDARD.encode(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()));
        assert!(page.contains(&format!("&#39;sha256-{hash}&#39;")));
    }
    assert!(inside("Content-Security-Policy\" content=\"", "\"").starts_with("default-src &#39;none&#39;;"));
}

/// Every attribute of a page that makes a browser load something, with its value.
fn loaded(page: &str) -> Vec<String> {
    let attributes = [
        " src=\"",
        " srcset=\"",
        " data=\"",
        " poster=\"",
        " background=\"",
        " action=\"",
        " style=\"",
        "url(",
        "@import",
    ];
    let values = |attribute: &&str| {
        page.match_indices(*attribute)
            .map(|(at, found)| page[at + found.len()..].chars().take(40).collect())
            .collect::<Vec<String>>()
    };
    attributes.iter().flat_map(values).collect()
}

#[test]
fn nothing_of_a_session_becomes_markup_or_leads_where_nobody_looks() {
    let nasty = [
        "</script><img src=x onerror=alert(1)>",
        "</style></title></textarea><svg onload=alert(1)>",
        "[x](javascript:alert(1)) [y]( JaVaScRiPt:alert(1)) <javascript:alert(1)>",
        "![x](https://evil.example/pixel.png) ![y](data:image/svg+xml;base64,AAAA)",
        "<https://evil.example/\"onmouseover=\"alert(1)>",
        "[a][b]\n\n[b]: javascript:alert(1) \"onx='1'\"",
        "`</code></pre><script>alert(1)</script>`",
        "```\"><script>alert(1)</script>\nx\n```",
        "<iframe src=https://evil.example></iframe>\n\n<!-- hidden -->",
        "]]><![CDATA[<script>alert(1)</script>",
        "<a href=\"https://evil.example\" style=\"position:fixed\">x</a>",
    ];
    for text in nasty {
        let lines = [
            user("u", "", text),
            calls(
                "a",
                "u",
                json!([
                    {"type": "thinking", "thinking": text},
                    {"type": "text", "text": text},
                    call(text, text, json!({text: text, "command": text, "path": text})),
                    call("2", "bash", json!({"command": text, "other": {text: text}})),
                    call("3", "edit", json!({"path": text, "edits": [{"oldText": text, "newText": text}]})),
                    call("4", "write", json!({"path": "a.html", "content": text})),
                ]),
            ),
            result("r", "a", text, text, text),
            line("label", "l", "r", json!({"targetId": "u", "label": text})),
            line("session_info", "i", "l", json!({"name": text})),
            line(
                "custom_message",
                "m",
                "i",
                json!({"customType": text, "content": text, "display": true, "details": {text: text}}),
            ),
            line("model_change", "n", "m", json!({"provider": text, "modelId": text})),
            line("message", "b", "n", json!({"message": {"role": "bashExecution", "command": text, "output": text}})),
            compaction("c", "b", text, text),
            system("s", "c", json!({text: text})),
            line(text, "k", "s", json!({text: text})),
        ];
        let page = page(&view(&lines));
        for (tag, most) in [
            ("<script", 2),
            ("</script", 2),
            ("<style", 1),
            ("<title", 1),
            ("<img", 0),
            ("<svg", 0),
            ("<iframe", 0),
            ("<!--", 0),
            ("<![", 0),
        ] {
            assert_eq!(page.matches(tag).count(), most, "{tag} of {text}");
        }
        assert_eq!(loaded(&page), Vec::<String>::new(), "{text}");
        // The script names some events; nothing else may.
        let (before, _) = page.split_once("<script>").unwrap();
        for (at, _) in before.match_indices("<a ") {
            let tag = before[at..].split_once('>').unwrap().0;
            let ours = tag.contains("href=\"#e");
            let safe = ["href=\"https://", "href=\"http://", "href=\"mailto:"].iter().any(|start| tag.contains(start));
            assert!(ours || (safe && tag.contains("rel=\"noopener noreferrer\"")), "{tag}");
        }
    }
}

/// How a text stands in the page.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    super::html::text(&mut out, text);
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_text_of_a_session_is_in_the_page(
        texts in prop::collection::vec("[a-z<>&\"' é日\u{202e}\u{200b}]{1,40}", 6),
        parents in prop::collection::vec(0usize..6, 6),
    ) {
        // Outputs, commands and names are shown as they are; markdown is not compared letter by letter.
        let lines: Vec<_> = texts.iter().enumerate().map(|(at, text)| {
            let parent = if at == 0 { String::new() } else { format!("b{}", parents[at] % at) };
            let message = json!({"role": "bashExecution", "command": "true", "output": text, "exitCode": 0});
            line("message", &format!("b{at}"), &parent, json!({ "message": message }))
        }).collect();
        let page = page(&view(&lines));
        for text in &texts {
            prop_assert!(page.contains(&format!("<code>{}</code>", escaped(text))), "{text}");
        }
        let shown = page.matches("class=\"entry shell\"").count();
        prop_assert_eq!(page.matches("class=\"entry shell").count(), 6);
        prop_assert_eq!(shown, view(&lines).path().len());
    }
}
