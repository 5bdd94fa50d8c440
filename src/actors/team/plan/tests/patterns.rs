use super::check;

#[test]
fn a_pipeline_hands_on_what_each_made() {
    check(
        r#"
        [inputs]
        topic = {}
        [role.scout]
        prompt = "Look for {{input.topic}}"
        [role.writer]
        prompt = "Write: {{scout.output}} (seed {{seed}})"
        "#,
        r#"
        > begin
        start scout: Look for ants
        > scout done: three ants
        stop scout
        start writer: Write: three ants (seed 7)
        > writer done: A text.
        stop writer
        done: "A text."
        "#,
    );
}

#[test]
fn a_list_is_spread_over_as_many_agents_as_may_work_at_once_and_joined_in_its_order() {
    check(
        r#"
        [role.map]
        each = { files = ["*.md"] }
        prompt = "Read {{item}} as {{number}}"
        [role.reduce]
        prompt = "{{map.output}}"
        "#,
        r####"
        > begin
        list for map: Files(["*.md"])
        > list a b c d
        start map-1: Read a as 1
        start map-2: Read b as 2
        start map-3: Read c as 3
        > map-2 done: B
        start map-4: Read d as 4
        > map-4 done: D
        > map-1 done: A
        > map-3 done: C
        stop map-1
        stop map-2
        stop map-3
        stop map-4
        start reduce: ### map-1 (a)||A||### map-2 (b)||B||### map-3 (c)||C||### map-4 (d)||D
        > reduce done: ABCD
        stop reduce
        done: "ABCD"
        "####,
    );
}

#[test]
fn a_planner_says_what_workers_do() {
    check(
        r#"
        [role.planner]
        prompt = "Plan"
        output_schema = { type = "object", properties = { tasks = { type = "array" } } }
        [role.worker]
        each = { output = "planner.output.tasks" }
        prompt = "Do {{item.what}}"
        "#,
        r#"
        > begin
        start planner: Plan
        > planner done: {"tasks": [{"what": "x"}, {"what": "y"}]}
        stop planner
        start worker-1: Do x
        start worker-2: Do y
        > worker-2 done: did y
        > worker-1 done: did x
        stop worker-1
        stop worker-2
        done: ["did x","did y"]
        "#,
    );
}

const REVIEW: &str = r#"
[role.writer]
prompt = "Write"
[role.critic]
prompt = "Judge {{writer.output}}"
output_schema = { type = "object", properties = { ok = { type = "boolean" }, notes = { type = "string" } } }
[review.draft]
writer = "writer"
reviewer = "critic"
until = { field = "ok", is = true }
rounds = 2
revise = "Round {{round}}: {{critic.output.notes}}"
"#;

#[test]
fn a_draft_goes_back_with_notes_until_a_fresh_reviewer_accepts_it() {
    check(
        REVIEW,
        r#"
        > begin
        start writer: Write
        > writer done: one
        start critic: Judge one
        > critic done: {"ok": false, "notes": "longer"}
        stop critic
        say writer: Round 2: longer
        > writer done: two
        start critic-round2: Judge two
        > critic-round2 done: {"ok": true}
        stop writer
        stop critic-round2
        done: "two"
        "#,
    );
}

#[test]
fn a_reviewer_that_remembers_is_told_the_next_draft_and_the_last_draft_counts_when_it_may() {
    check(
        &format!("{REVIEW}\nremembers = true\naccept_last = true"),
        r#"
        > begin
        start writer: Write
        > writer done: one
        start critic: Judge one
        > critic done: {"ok": false, "notes": "longer"}
        say writer: Round 2: longer
        > writer done: two
        say critic: Judge two
        > critic done: {"ok": false, "notes": "no"}
        stop writer
        stop critic
        done: "two"
        "#,
    );
}

#[test]
fn drafts_that_nobody_accepts_are_a_failure() {
    check(
        &REVIEW.replace("rounds = 2", "rounds = 1"),
        r#"
        > begin
        start writer: Write
        > writer done: one
        start critic: Judge one
        > critic done: {"ok": false, "notes": "no"}
        failed in draft: critic accepted none of 1 drafts of writer
        "#,
    );
}

const CANDIDATES: &str = "[role.worker]\ncount = 3\nworktree = true\nprompt = \"Solve ({{number}})\"\n";

#[test]
fn a_command_chooses_the_first_candidate_that_passes_and_its_work_is_merged() {
    check(
        &format!("{CANDIDATES}[best.fix]\nof = \"worker\"\ncommand = \"make test\"\nmerge = true"),
        r#"
        > begin
        start worker-1: Solve (1)
        start worker-2: Solve (2)
        start worker-3: Solve (3)
        > worker-3 done: c
        run for worker-3: make test
        > worker-1 done: a
        run for worker-1: make test
        > worker-3 passes
        > worker-2 done: b
        run for worker-2: make test
        > worker-1 fails the check
        > worker-2 passes
        stop worker-1
        stop worker-3
        merge worker-2
        > worker-2 merged
        stop worker-2
        done: "b"
        "#,
    );
}

#[test]
fn in_a_race_the_first_that_passes_ends_the_others_at_once() {
    check(
        &format!("{CANDIDATES}strategy = \"any\"\n[best.fix]\nof = \"worker\"\ncommand = \"make test\""),
        r#"
        > begin
        start worker-1: Solve (1)
        start worker-2: Solve (2)
        start worker-3: Solve (3)
        > worker-3 done: c
        run for worker-3: make test
        > worker-3 passes
        stop worker-1
        stop worker-2
        stop worker-3
        done: "c"
        "#,
    );
    check(
        &format!("{CANDIDATES}strategy = \"any\""),
        r#"
        > begin
        start worker-1: Solve (1)
        start worker-2: Solve (2)
        start worker-3: Solve (3)
        > worker-1 fails for good
        > worker-2 done: b
        stop worker-1
        stop worker-3
        stop worker-2
        done: "b"
        "#,
    );
}

#[test]
fn a_judge_chooses_by_number_among_those_that_are_done() {
    check(
        &format!(
            "{CANDIDATES}[role.judge]\nprompt = \"Choose: {{{{worker.output}}}}\"\n[best.fix]\nof = \"worker\"\njudge = \"judge\""
        ),
        r####"
        > begin
        start worker-1: Solve (1)
        start worker-2: Solve (2)
        start worker-3: Solve (3)
        > worker-1 fails for good
        > worker-2 done: b
        > worker-3 done: c
        start judge: Choose: ### worker-2||b||### worker-3||c
        > judge done: {"best": 1}
        say judge: Your answer cannot be used:|at /best: 1 is not one of 2 or 3
        > judge done: {"best": 3}
        stop worker-1
        stop worker-2
        stop worker-3
        stop judge
        done: "c"
        "####,
    );
}

#[test]
fn speakers_hear_the_others_and_a_chair_hears_all() {
    check(
        r#"
        [role.pro]
        prompt = "For"
        [role.con]
        prompt = "Against"
        [debate.talk]
        speakers = ["pro", "con"]
        rounds = 2
        reply = "Round {{round}}: {{others}}"
        [role.chair]
        prompt = "{{talk.output}}"
        "#,
        r####"
        > begin
        start pro: For
        start con: Against
        > con done: n1
        > pro done: p1
        say pro: Round 2: ### con||n1
        say con: Round 2: ### pro||p1
        > pro done: p2
        > con done: n2
        stop pro
        stop con
        start chair: ### pro, round 1||p1||### con, round 1||n1||### pro, round 2||p2||### con, round 2||n2
        > chair done: con wins
        stop chair
        done: "con wins"
        "####,
    );
}

#[test]
fn steps_that_nobody_needs_are_the_result_or_the_one_that_the_file_names() {
    let two = "[role.a]\nprompt = \"x\"\n[role.b]\nprompt = \"y\"\n";
    let rest = "
        > begin
        start a: x
        start b: y
        > b done: B
        stop b
        > a done: A
        stop a
        ";
    check(two, &format!("{rest}done: {{\"a\":\"A\",\"b\":\"B\"}}"));
    check(&format!("output = \"a\"\n{two}"), &format!("{rest}done: \"A\""));
}
