use super::*;
use crate::actors::team::template::Place;

/// A file with this in it, beside a [team] table.
fn parse(rest: &str) -> Result<TeamFile, String> {
    TeamFile::parse(Path::new("t.toml"), format!("[team]\nname = \"t\"\n{rest}")).map_err(|error| error.to_string())
}

#[test]
fn a_whole_file_is_read() {
    let team = parse(
        r#"
max_parallel = 2
budget = { tokens = 1_000, cost = 0.5, time = "10m", agents = 9 }
restarts = 1
within = "5m"
output = "draft"

[inputs]
topic = { description = "What it is about" }
style = "plain"

[defaults]
model = "small"
tools = ["read"]

[role.scout]
prompt = "Look for {{input.topic}}"
output_schema = { type = "object", properties = { tasks = { type = "array" } }, required = ["tasks"] }

[role.worker]
each = { output = "scout.output.tasks", at_most = 5 }
prompt = "{{item.title}} as agent {{number}}"
model = "large"
on_failure = "skip"
strategy = "rest_for_one"
verify = { command = "true", attempts = 1, time = "1s" }

[role.writer]
prompt = "Write from {{worker.output}} in {{input.style}} style"

[role.critic]
prompt = "Review {{writer.output}}"

[review.draft]
writer = "writer"
reviewer = "critic"
until = { contains = "APPROVED" }
revise = "Round {{round}}: {{critic.output}}"
"#,
    )
    .unwrap();
    assert_eq!(team.steps(), ["scout", "worker", "draft"]);
    assert_eq!(team.needs_of("draft"), ["worker"]);
    assert_eq!(team.needs_of("worker"), ["scout"]);
    let worker = team.role("worker").unwrap();
    assert_eq!((worker.model.as_deref(), worker.tools.as_deref()), (Some("large"), Some(&["read".to_owned()][..])));
    assert_eq!(team.role("scout").unwrap().model.as_deref(), Some("small"));
    assert_eq!(team.budget.time, Some(Duration::from_secs(600)));
    assert_eq!(team.inputs[1].default.as_deref(), Some("plain"));
    assert_eq!(worker.prompt.places().collect::<Vec<_>>(), [&Place::Item(vec!["title".into()]), &Place::Number]);
}

const TWO: &str = "[role.a]\nprompt = \"x\"\n[role.b]\nprompt = \"y {{a.output}}\"\n";

#[test]
fn mistakes_name_the_file_the_line_the_field_and_what_was_expected() {
    let table = [
        ("[rol.a]\nprompt = \"x\"", "t.toml:3:2: rol: unknown field (did you mean role?)"),
        ("", "t.toml:1:1: expected at least one role: a table [role.NAME]"),
        ("[role.a]\n", "t.toml:3:7: role.a.prompt: expected what the agent is to do, found nothing"),
        ("[role.a]\npromt = \"x\"", "t.toml:4:1: role.a.promt: unknown field (did you mean prompt?)"),
        ("[role.a]\nprompt = 3", "t.toml:4:1: role.a.prompt: expected a text, found 3"),
        ("[role.a]\nprompt = \"{{b.output}}\"", "t.toml:4:1: role.a.prompt: there is no step b; expected one of a"),
        (
            "[role.a]\nprompt = \"{{a.output}}\"",
            "t.toml:4:1: role.a.prompt: a cannot use its own output in its first message",
        ),
        ("[role.a]\nprompt = \"{{input.x}}\"", "t.toml:4:1: role.a.prompt: {{input.x}}: there is no input x"),
        ("[role.a]\nprompt = \"{{item}}\"", "t.toml:4:1: role.a.prompt: {{item}}: only a role with each has items"),
        ("[role.a]\nprompt = \"{{x == 1}}\"", "t.toml:4:1: role.a.prompt: {{x == 1}} is no place; expected input.NAME"),
        ("[role.a]\nprompt = \"x\"\nmerge = true", "t.toml:5:1: role.a.merge: needs worktree = true"),
        ("[role.a]\nprompt = \"x\"\nthinking = \"huge\"", "t.toml:5:1: role.a.thinking: expected one of off, minimal"),
        ("[role.a]\nprompt = \"x\"\nscript = \"no.json\"", "t.toml:5:1: role.a.script: there is no file no.json"),
        (
            "[role.a]\nprompt = \"x\"\nstrategy = \"any\"",
            "t.toml:5:1: role.a.strategy: is for roles with several agents",
        ),
        (
            "[role.a]\nprompt = \"x\"\nneeds = [\"z\"]",
            "t.toml:5:1: role.a.needs: there is no step z; expected one of a",
        ),
        (
            "[role.a]\nprompt = \"x\"\ncount = 2\neach = {}",
            "t.toml:6:1: role.a.each: expected one of count and each, found both",
        ),
        (
            "[role.a]\nprompt = \"x\"\neach = { files = [\"a\"], list = [1] }",
            "t.toml:5:1: role.a.each: expected exactly one of files,",
        ),
        (
            "[role.a]\nprompt = \"x\"\nbudget = { time = \"5 min\" }",
            "t.toml:5:12: role.a.budget.time: expected a time such as",
        ),
        (
            "[role.a]\nprompt = \"x\"\noutput_schema = { type = \"thing\" }",
            "t.toml:5:1: role.a.output_schema: expected a JSON schema: ",
        ),
        ("[role.a]\nprompt = \" \\n\"", "t.toml:4:1: role.a.prompt: expected a message with words in it, found"),
        ("[role.a]\nprompt = \"x\"\nneeds = [\"a\"]", "t.toml:5:1: role.a.needs: a cannot wait for itself"),
        (
            "[role.a]\nprompt = \"x\"\neach = { output = \"a.output\" }",
            "t.toml:5:1: role.a.each: a cannot wait for itself",
        ),
        ("[role.a]\nprompt = \"x\"\nverify = \"\"", "t.toml:5:1: role.a.verify: expected a text that is not empty"),
        (
            "[role.a]\nprompt = \"x\"\nverify = { command = \"c\", attempts = 0 }",
            "t.toml:5:27: role.a.verify.attempts: expected a number above zero, found 0",
        ),
        ("[role.a]\nprompt = \"x\"\nmodel = \" \"", "t.toml:5:1: role.a.model: expected a text that is not empty"),
        ("[role.a]\nprompt = \"x\"\neach = { list = [] }", "t.toml:5:10: role.a.each.list: the list has no element"),
        (
            "[role.a]\nprompt = \"x\"\neach = { list = [1, 2], at_most = 1 }",
            "t.toml:5:1: role.a.each: the list has 2 elements, and at_most is 1",
        ),
        (
            "[role.a]\nprompt = \"{{item}}\"\neach = { list = [\"a\", \"\"] }",
            "t.toml:5:1: role.a.each: element 2: the first message is empty: {{item}} has no words",
        ),
        ("[role.input]\nprompt = \"x\"", "t.toml:3:7: role.input: input means something else; use"),
        ("[role.a-2]\nprompt = \"x\"", "t.toml:3:7: role.a-2: ends like the name of an agent (worker-2)"),
        ("[role.a-try2]\nprompt = \"x\"", "t.toml:3:7: role.a-try2: ends like the name of an agent"),
        ("[role.a-]\nprompt = \"x\"", "t.toml:3:7: role.a-: expected a name that ends with a letter or a digit"),
        ("[role.a_]\nprompt = \"x\"", "t.toml:3:7: role.a_: expected a name that ends with a letter or a digit"),
        ("[role.\"a b\"]\nprompt = \"x\"", "t.toml:3:7: role.a b: expected a name of letters,"),
    ];
    for (rest, expected) in table {
        let error = parse(rest).unwrap_err();
        assert!(error.starts_with(expected), "{rest}\nexpected {expected}\nfound    {error}");
    }
}

#[test]
fn what_can_be_known_of_outputs_is_checked_before_anybody_works() {
    let schema = "[role.s]\nprompt = \"x\"\noutput_schema = { properties = { title = {} } }\n";
    let table = [
        ("[role.c]\nprompt = \"{{a.output.title}}\"", "a answers with a text: give it an output_schema"),
        ("[role.c]\nprompt = \"{{s.output.titel}}\"", "there is no field of s's output titel (did you mean title?)"),
        ("[role.c]\nprompt = \"{{a.patch}}\"", "{{a.patch}}: a works in no worktree of its own"),
        (
            "[role.m]\ncount = 2\nprompt = \"x\"\n[role.c]\nprompt = \"{{m.output.x}}\"",
            "m is several agents: its output is a list",
        ),
        ("[best.c]\nof = \"a\"\ncommand = \"true\"", "a is one agent; give it a count of 2 or more"),
        ("[debate.c]\nspeakers = [\"s\"]", "expected two speakers or more"),
        ("[debate.c]\nspeakers = [\"s\", \"w\"]", "there is no role w; expected one of a, b, s"),
        ("[debate.c]\nspeakers = [\"s\", \"a\"]", "a is part of c: use c"),
    ];
    for (rest, expected) in table {
        let error = parse(&format!("{TWO}{schema}{rest}")).unwrap_err();
        assert!(error.contains(expected), "{rest}\nexpected {expected}\nfound    {error}");
    }
    let review = |until: &str, writer: &str| {
        format!(
            "[role.w]\nprompt = \"{writer}\"\n[role.r]\nprompt = \"{{{{w.output}}}}\"\n[review.d]\nwriter = \"w\"\n\
             reviewer = \"r\"\nuntil = {until}\nrevise = \"{{{{r.output}}}}\"\n"
        )
    };
    assert!(parse(&review("{ contains = \"ok\" }", "x")).is_ok());
    let error = parse(&review("{ field = \"v\", is = true }", "x")).unwrap_err();
    assert!(error.contains("review.d.until: r answers with a text"), "{error}");
    let error = parse(&review("{ contains = \"ok\" }", "{{r.output}}")).unwrap_err();
    assert!(error.contains("role.w.prompt: r has not said anything yet"), "{error}");
}

#[test]
fn steps_that_wait_for_each_other_are_refused_by_name() {
    let error = parse(
        "[role.a]\nprompt = \"{{c.output}}\"\n[role.b]\nprompt = \"{{a.output}}\"\n[role.c]\nneeds = [\"b\"]\nprompt = \"x\"",
    );
    assert_eq!(error.unwrap_err(), "t.toml:3:7: role.a: waits for itself: a needs c needs b needs a");
}

#[test]
fn what_cannot_be_seen_from_the_file_alone_is_told_at_its_place_too() {
    let text = "[team]\nname = \"t\"\n[defaults]\nmodel = \"m\"\n[role.a]\nprompt = \"x\"\ntools = [\"y\"]\n";
    let file = Path::new("t.toml");
    let team = TeamFile::parse(file, text.to_owned()).unwrap();
    let table = [
        ("tools", "t.toml:7:1: role.a.tools: no"),
        ("model", "t.toml:4:1: defaults.model: role a: no"),
        ("script", "t.toml:5:7: role.a: no"),
    ];
    for (key, expected) in table {
        assert_eq!(team.fault(file, text, "a", key, "no"), expected);
    }
}
