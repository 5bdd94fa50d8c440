use serde_json::json;

use super::*;
use crate::protocol::message::ImageBlock;

/// A call to be looked at.
struct Call {
    name: &'static str,
    args: Value,
    content: Vec<Block>,
    details: Option<Value>,
    is_error: bool,
}

impl Call {
    fn new(name: &'static str, args: Value) -> Self {
        Self { name, args, content: Vec::new(), details: None, is_error: false }
    }

    fn gave(mut self, text: &str) -> Self {
        self.content = vec![Block::text(text)];
        self
    }

    fn failed(mut self, text: &str) -> Self {
        self.is_error = true;
        self.gave(text)
    }

    fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    fn lines(&self, expanded: bool, width: usize, state: Option<ToolState<'_>>) -> Vec<StyledLine> {
        let theme = Theme::dark();
        let output = Output { content: &self.content, details: self.details.as_ref() };
        let done = ToolState::Done { output, is_error: self.is_error, duration_ms: Some(1_250) };
        let view = ToolCallView {
            name: self.name,
            args: self.args.as_object().unwrap(),
            state: state.unwrap_or(done),
            expanded,
            width,
            theme: &theme,
            cwd: Path::new("/p"),
            home: Some(Path::new("/u/me")),
            now: 10_000,
            expand_key: "ctrl+o",
            pictures: None,
        };
        view.lines()
    }

    /// What is in the box, without the blanks beside it.
    fn texts(&self, expanded: bool) -> Vec<String> {
        let lines = self.lines(expanded, 62, None);
        lines[1..lines.len() - 1].iter().map(|line| line.text().trim().to_owned()).collect()
    }
}

fn numbered(count: usize) -> String {
    (1..=count).map(|n| format!("out-{n}\n")).collect()
}

#[test]
fn a_call_is_shown_by_its_tool() {
    let more = "(ctrl+o to expand)";
    let table: [(Call, Vec<String>); 14] = [
        (
            Call::new("bash", json!({"command": "ls -l", "timeout": 5})).gave("a\nb\n"),
            vec!["$ ls -l (timeout 5s)  1.2s".into(), String::new(), "a".into(), "b".into()],
        ),
        (
            Call::new("bash", json!({"command": "seq 30"})).gave(&numbered(30)),
            [
                &["$ seq 30  1.2s".to_owned(), String::new(), format!("… 25 earlier lines {more}")][..],
                &[26, 27, 28, 29, 30].map(|n| format!("out-{n}")),
            ]
            .concat(),
        ),
        (
            Call::new("bash", json!({"command": "x"})).failed("bad\n\nCommand exited with code 9"),
            vec!["$ x  1.2s".into(), String::new(), "bad".into(), "Command exited with code 9".into()],
        ),
        (
            Call::new("bash", json!({"command": "x"})).gave("end\n\n[Showing lines 5-9 of 9. Full output: /tmp/x]"),
            vec!["$ x  1.2s".into(), String::new(), "end".into(), "Showing lines 5-9 of 9. Full output: /tmp/x".into()],
        ),
        (
            Call::new("read", json!({"path": "/p/a.rs", "offset": 5, "limit": 3})).gave("a\nb\nc"),
            vec!["read a.rs:5-7  1.2s".into(), String::new(), format!("… 3 lines {more}")],
        ),
        (
            Call::new("read", json!({"path": "/u/me/x.png"})).gave("Read image file [image/png]"),
            vec!["read ~/x.png  1.2s".into(), String::new(), format!("… 1 line {more}")],
        ),
        (
            Call::new("read", json!({"path": "no"})).failed("ENOENT: no such file"),
            vec!["read no  1.2s".into(), String::new(), "ENOENT: no such file".into()],
        ),
        (
            Call::new("write", json!({"path": "n.txt", "content": "fresh\nline2\n"})).gave("Successfully wrote"),
            vec!["write n.txt  1.2s".into(), String::new(), "fresh".into(), "line2".into()],
        ),
        (
            Call::new("edit", json!({"path": "/p/e", "edits": []}))
                .gave("done")
                .with(json!({"diff": "-1 alpha\n+1 omega"})),
            vec!["edit e  1.2s".into(), String::new(), "-1 alpha".into(), "+1 omega".into()],
        ),
        (
            Call::new("edit", json!({"path": "e", "oldText": "a", "newText": "b"})).failed("Could not find it"),
            vec!["edit e  1.2s".into(), String::new(), "Could not find it".into()],
        ),
        (
            Call::new("grep", json!({"pattern": "fn", "path": "/p/src", "glob": "*.rs"})).gave("a:1: fn\nb:2: fn"),
            vec!["grep /fn/ in src (*.rs)  1.2s".into(), String::new(), format!("… 2 lines {more}")],
        ),
        (
            Call::new("find", json!({"pattern": "*.rs"})).gave("No files found matching pattern"),
            vec!["find *.rs in .  1.2s".into(), String::new(), "No files found matching pattern".into()],
        ),
        (
            Call::new("ls", json!({})).gave("a\nb/\n\n[2 entries limit reached. Use limit=4 for more]"),
            vec![
                "ls .  1.2s".into(),
                String::new(),
                format!("… 2 entries {more}"),
                "2 entries limit reached. Use limit=4 for more".into(),
            ],
        ),
        (
            Call::new("weather", json!({"city": "Ulm", "days": [1, 2]})).gave("sun"),
            vec![
                "weather  1.2s".into(),
                String::new(),
                "city: Ulm".into(),
                "days: [1,2]".into(),
                String::new(),
                "sun".into(),
            ],
        ),
    ];
    for (call, wanted) in table {
        assert_eq!(call.texts(false), wanted, "{} {}", call.name, call.args);
    }
}

#[test]
fn expanded_everything_is_shown() {
    let bash = Call::new("bash", json!({"command": "seq 30"})).gave(&numbered(30)).texts(true);
    assert!(bash.contains(&"out-1".to_owned()) && bash.contains(&"out-30".to_owned()) && bash.len() == 32);
    let read = Call::new("read", json!({"path": "a.rs", "offset": 9})).gave("fn a() {}\n}").texts(true);
    assert_eq!(read[2..], ["9 fn a() {}", "10 }"]);
    let content = numbered(40);
    let write = Call::new("write", json!({"path": "x", "content": content}));
    assert_eq!(write.texts(true).len(), 42);
    assert_eq!(write.texts(false).last().unwrap(), "… 30 more lines (ctrl+o to expand)");
    let other = Call::new("weather", json!({"a": {"b": 1}, "t": "x\ny"})).gave("sun").texts(true);
    assert_eq!(other[2..8], ["a:", "{", "\"b\": 1", "}", "t:", "x"]);
}

#[test]
fn a_call_that_is_not_over_shows_how_far_it_is() {
    let texts = |call: &Call, state| {
        let lines = call.lines(false, 62, Some(state));
        lines[1..lines.len() - 1].iter().map(|line| line.text().trim().to_owned()).collect::<Vec<_>>()
    };
    let bash = Call::new("bash", json!({"command": "make"}));
    assert_eq!(texts(&bash, ToolState::Waiting), ["$ make  waiting"]);
    assert_eq!(texts(&Call::new("bash", json!({})), ToolState::Preparing), ["$ …"]);
    let content = [Block::text("tick 1\n")];
    let details = json!({"silentSeconds": 4});
    let output = Some(Output { content: &content, details: Some(&details) });
    let running = ToolState::Running { since: 7_000, output };
    assert_eq!(texts(&bash, running), ["$ make  3s", "", "tick 1", "no output for 4.0s"]);
    let edit = Call::new("edit", json!({"path": "e", "edits": [{"oldText": "same\nalpha", "newText": "same\nbeta"}]}));
    assert_eq!(texts(&edit, ToolState::Preparing), ["edit e", "", "same", "- alpha", "+ beta"]);
    let write = Call::new("write", json!({"path": "w", "content": numbered(40)}));
    assert_eq!(texts(&write, ToolState::Preparing)[2..4], ["… 30 earlier lines (ctrl+o to expand)", "out-31"]);
}

#[test]
fn states_have_their_grounds_and_pictures_are_named() {
    let theme = Theme::dark();
    let call = Call::new("bash", json!({"command": "x"}));
    for (call, state, ground) in [
        (&call, None, ThemeColor::ToolSuccessBg),
        (&call, Some(ToolState::Waiting), ThemeColor::ToolPendingBg),
        (&Call::new("x", json!({})).failed("bad"), None, ThemeColor::ToolErrorBg),
    ] {
        let lines = call.lines(false, 40, state);
        assert!(lines.iter().all(|line| line.fill == Some(theme.bg(ground))), "{}", ground.name());
        let grounds = lines.iter().flat_map(|line| &line.spans).map(|span| span.style.bg);
        assert!(grounds.into_iter().all(|bg| bg == Some(theme.color(ground))), "{}", ground.name());
    }
    let mut picture = Call::new("shot", json!({}));
    picture.content = vec![Block::Image(ImageBlock { data: "A".repeat(4096), mime_type: "image/png".into() })];
    assert_eq!(picture.texts(false)[2], "[image: image/png, 3.0KB]");
}

#[test]
fn fc_058_fc_064_no_row_is_too_wide_and_nothing_acts_on_the_terminal() {
    let evil = "\u{1b}]0;x\u{7}\u{9b}31m\u{202e}日本\t👩\u{200d}👧";
    let calls = [
        Call::new("bash", json!({"command": format!("echo {evil}\n{evil}")}))
            .gave(&format!("{evil}\r{evil}\n").repeat(9)),
        Call::new("read", json!({"path": evil})).failed(evil),
        Call::new("read", json!({"path": "a.rs"})).gave(evil),
        Call::new("write", json!({"path": "w", "content": format!("{evil}\n")})).gave("ok"),
        Call::new("edit", json!({"path": "w", "oldText": "a", "newText": evil})).gave("ok"),
        Call::new("edit", json!({"path": "w"})).gave("ok").with(json!({"diff": format!("-1 {evil}\n+1 {evil}{evil}")})),
        Call::new("grep", json!({"pattern": evil, "glob": evil})).gave(evil),
        Call::new("odd\u{1b}[2J", json!({evil: evil, "k": {evil: [evil]}})).gave(evil),
    ];
    for call in &calls {
        for expanded in [false, true] {
            for width in [1, 2, 3, 7, 8, 20, 80] {
                for line in call.lines(expanded, width, None) {
                    let text = line.text();
                    assert!(line.width() <= width, "{} in {width}: {text:?}", call.name);
                    assert!(!text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{text:?}");
                }
            }
        }
    }
}

#[test]
fn a_megabyte_in_one_line_costs_no_more_than_what_is_shown() {
    let call = Call::new("bash", json!({"command": "x".repeat(1 << 20)})).gave(&"é".repeat(1 << 20));
    // The box, ten rows of the command, a row between, five of the output.
    assert_eq!(call.lines(false, 80, None).len(), 2 + 10 + 1 + 5);
}

#[test]
fn errors_are_broken_between_words_and_folded_when_they_are_long() {
    let sentence = "oldText must be as the file has it, with all blanks and line breaks";
    let call = Call::new("edit", json!({"path": "a"})).failed(sentence);
    let broken = ["oldText must be as the file has it, with all blanks and line", "breaks"];
    for expanded in [false, true] {
        assert_eq!(call.texts(expanded)[2..], broken);
    }
    let long = Call::new("edit", json!({"path": "a"})).failed(&"why\n".repeat(ERROR_LINES));
    assert_eq!(long.texts(false)[2..].len(), 11);
    assert_eq!(long.texts(false).last().unwrap(), "… 20 more lines (ctrl+o to expand)");
    assert_eq!(long.texts(true)[2..].len(), ERROR_LINES);
}

/// Lines of an error that is long.
const ERROR_LINES: usize = 30;

#[test]
fn calls_about_agents_are_brief_and_name_them_with_their_outcomes() {
    let done = json!({"ends": [{"id": "agent-1", "task": 1, "outcome": "done"}]});
    let spawn = json!({"task": "a\nb\nc\nd", "name": "rea\u{1b}[2Jder", "background": true});
    let more = "(ctrl+o to expand)";
    let table: [(Call, &[&str]); 5] = [
        (
            Call::new("agent_spawn", spawn).gave("agent-1 is done (9 tokens). Its answer:\nyes").with(done.clone()),
            &[
                "agent_spawn rea<U+001B>[2Jder (in the background)  1.2s",
                "",
                "a",
                "b",
                "c",
                &format!("… 1 more line {more}"),
                "",
                "✓ agent-1 done",
                "agent-1 is done (9 tokens). Its answer:",
                "yes",
            ],
        ),
        (
            Call::new("agent_send", json!({"id": "agent-1", "message": "be quick", "mode": "follow_up"})).gave("Queued"),
            &["agent_send agent-1 (when it would stop)  1.2s", "", "be quick", "", "Queued"],
        ),
        (
            Call::new("agent_wait", json!({"ids": ["agent-1", "agent-2"], "mode": "any"})).gave("x").with(
                json!({"ends": [{"id": "agent-1", "task": 1, "outcome": "failed"}, {"id": "agent-2", "task": 1, "outcome": "stopped"}]}),
            ),
            &[
                "agent_wait agent-1, agent-2 (the first that ends)  1.2s",
                "",
                "✗ agent-1 failed",
                "■ agent-2 stopped",
                "x",
            ],
        ),
        (Call::new("agent_list", json!({})).gave("none"), &["agent_list  1.2s", "", "none"]),
        (Call::new("agent_stop", json!({"ids": ["a"]})).failed("There is no agent a."), &["agent_stop a  1.2s", "", "There is no agent a."]),
    ];
    for (call, expected) in table {
        assert_eq!(call.texts(false), expected);
    }
    let spawn = Call::new("agent_spawn", json!({"task": "a\nb\nc\nd", "role": "scout", "isolation": "worktree"}))
        .gave("1\n2\n3\n4\n5\n6\n7")
        .with(done);
    assert!(spawn.texts(false).iter().any(|row| *row == format!("… 1 more line {more}")), "{:?}", spawn.texts(false));
    assert_eq!(spawn.texts(false)[0], "agent_spawn scout (in a worktree)  1.2s");
    assert!(spawn.texts(true).ends_with(&["6".to_owned(), "7".to_owned()]));
}
