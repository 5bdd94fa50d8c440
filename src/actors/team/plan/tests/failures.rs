use super::check;

const ONE: &str = "[role.a]\nprompt = \"x\"\n";

#[test]
fn a_failure_that_may_pass_brings_a_new_agent_as_often_as_the_team_may() {
    check(
        &format!("restarts = 2\n{ONE}"),
        "
        > begin
        start a: x
        > a fails
        stop a
        start a-try2: x
        > a-try2 fails
        stop a-try2
        start a-try3 after 1s: x
        > a-try3 fails
        failed in a: it broke (given up after 2 restarts in the team)
        ",
    );
}

#[test]
fn limits_refusals_and_failures_for_good_are_never_tried_again() {
    check(
        ONE,
        "
        > begin
        start a: x
        > a fails for good
        failed in a: it broke
        ",
    );
    check(
        ONE,
        "
        > begin
        start a: x
        > a over budget
        limit of turns: a: 2 turns
        ",
    );
}

const THREE: &str = "[role.a]\ncount = 3\nprompt = \"x{{number}}\"\n";

#[test]
fn the_strategy_says_whom_a_failure_concerns() {
    let begin = "
        > begin
        start a-1: x1
        start a-2: x2
        start a-3: x3
        > a-1 done: A
        > a-2 fails
        ";
    check(
        THREE,
        &format!(
            "{begin}
        stop a-2
        start a-2-try2: x2
        "
        ),
    );
    check(
        &format!("{THREE}strategy = \"rest_for_one\""),
        &format!(
            "{begin}
        stop a-2
        stop a-3
        start a-2-try2: x2
        start a-3-try2: x3
        "
        ),
    );
    check(
        &format!("{THREE}strategy = \"one_for_all\""),
        &format!(
            "{begin}
        stop a-1
        stop a-2
        stop a-3
        start a-1-try2: x1
        start a-2-try2: x2
        start a-3-try2: x3
        "
        ),
    );
}

#[test]
fn of_several_agents_one_may_fail_when_the_file_says_so() {
    let begin = "
        > begin
        start a-1: x1
        start a-2: x2
        start a-3: x3
        > a-2 fails for good
        ";
    check(THREE, &format!("{begin}failed in a: a-2: it broke"));
    check(
        &format!("{THREE}on_failure = \"skip\""),
        &format!(
            "{begin}
        > a-1 done: A
        > a-3 done: C
        stop a-1
        stop a-2
        stop a-3
        done: [\"A\",\"C\"]
        "
        ),
    );
}

#[test]
fn speakers_who_have_talked_with_each_other_are_replaced_together() {
    check(
        "[role.p]\nprompt = \"P\"\n[role.c]\nprompt = \"C\"\n[debate.d]\nspeakers = [\"p\", \"c\"]\nrounds = 2\n",
        "
        > begin
        start p: P
        start c: C
        > p fails
        stop p
        start p-try2: P
        > p-try2 done: p1
        > c done: c1
        say p-try2: ### c||c1
        say c: ### p||p1
        > p-try2 done: p2
        > c fails
        stop p-try2
        stop c
        start p-try3 after 1s: P
        start c-try2 after 1s: C
        > c-try2 done: c1
        > p-try3 done: p1
        say p-try3: ### c||c1
        say c-try2: ### p||p1
        ",
    );
}

#[test]
fn an_answer_that_does_not_fit_is_asked_for_once_more() {
    check(
        "[role.a]\nprompt = \"x\"\noutput_schema = { type = \"object\", required = [\"n\"] }\n",
        r#"
        > begin
        start a: x
        > a done: {}
        say a: Your answer cannot be used:|"n" is a required property
        > a done: {"m": 1}
        failed in a: its answer does not fit output_schema: "n" is a required property
        "#,
    );
}

#[test]
fn a_failed_check_goes_back_to_the_agent_until_its_attempts_are_used_up() {
    check(
        "[role.a]\nprompt = \"x\"\nverify = { command = \"make\", attempts = 1 }\n",
        "
        > begin
        start a: x
        > a done: A
        run for a: make
        > a fails the check
        say a: The check `make` failed. This is the end of what it printed:||boom||Put it right, and answer again.
        > a done: B
        run for a: make
        > a fails the check
        failed in a: the check `make` failed: boom
        ",
    );
}

#[test]
fn changes_that_conflict_fail_the_step() {
    check(
        "[role.a]\nprompt = \"x\"\nworktree = true\nmerge = true\n",
        "
        > begin
        start a: x
        > a done: A
        merge a
        > a conflicts
        failed in a: its changes could not be merged: a.txt conflicts
        ",
    );
}

#[test]
fn no_candidate_that_passes_is_a_failure() {
    check(
        "[role.a]\ncount = 2\nprompt = \"x\"\n[best.b]\nof = \"a\"\ncommand = \"make\"\n",
        "
        > begin
        start a-1: x
        start a-2: x
        > a-1 fails for good
        > a-2 done: B
        run for a-2: make
        > a-2 fails the check
        failed in b: `make` succeeded for none of 2 candidates of b
        ",
    );
}

#[test]
fn lists_that_cannot_be_made_are_empty_or_too_long_are_failures() {
    let each = "[role.a]\neach = { command = \"ls\", at_most = 2 }\nprompt = \"{{item}}\"\n";
    for (input, problem) in [
        ("no list", "it cannot be made"),
        ("list", "the list has no element"),
        ("list a b c", "the list has 3 elements, and each.at_most is 2"),
    ] {
        check(each, &format!("> begin\nlist for a: Command(\"ls\")\n> {input}\nfailed in a: {problem}"));
    }
}

#[test]
fn a_field_that_an_item_does_not_have_fails_its_agent_before_it_is_paid_for() {
    check(
        "[role.a]\neach = { list = [{ x = 1 }, {}] }\nprompt = \"{{item.x}}\"\non_failure = \"skip\"\n",
        "
        > begin
        start a-1: 1
        > a-1 done: A
        stop a-1
        done: [\"A\"]
        ",
    );
}

#[test]
fn when_it_is_over_nothing_follows_any_more() {
    let after = "
        > a done: A
        > stop
        > limit
        ";
    for (input, finish) in [("stop", "stopped: asked to"), ("limit", "limit of cost: $1 used")] {
        check(ONE, &format!("> begin\nstart a: x\n> {input}\n{finish}\n{after}"));
    }
}

#[test]
fn a_team_starts_no_more_agents_than_it_may() {
    check(
        &format!("budget = {{ agents = 2 }}\n{THREE}"),
        "
        > begin
        start a-1: x1
        start a-2: x2
        limit of spawns: the team may start 2 agents, and needs another one
        ",
    );
}

#[test]
fn a_message_without_words_fails_its_step_and_nobody_waits_for_who_is_told_nothing() {
    check(
        "[role.a]\nprompt = \"x\"\n[role.b]\nprompt = \" {{a.output}}\\n\"\n",
        "
        > begin
        start a: x
        > a done
        stop a
        failed in b: its first message is empty: {{a.output}} has no words
        ",
    );
    check(
        "[role.p]\nprompt = \"p\"\noutput_schema = { type = \"array\" }\n[role.w]\neach = { output = \"p.output\" }\n\
         prompt = \"{{item}}\"\non_failure = \"skip\"\n",
        "
        > begin
        start p: p
        > p done: [\"\", \"b\"]
        stop p
        start w-2: b
        > w-2 done: B
        stop w-2
        done: [\"B\"]
        ",
    );
    check(
        "[role.w]\nprompt = \"w\"\n[role.r]\nprompt = \"{{w.output}}\"\n[review.d]\nwriter = \"w\"\nreviewer = \"r\"\n\
         until = { contains = \"ok\" }\nrevise = \"{{r.output}}\"\n",
        "
        > begin
        start w: w
        > w done: W
        start r: W
        > r done
        stop r
        failed in d: w: its next message is empty: {{r.output}} has no words
        ",
    );
}
