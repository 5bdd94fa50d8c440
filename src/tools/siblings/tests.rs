use super::*;
use crate::protocol::{
    Usage,
    sibling::{BudgetKind, Outcome, Patch, SiblingId},
};

fn end(outcome: Outcome, text: &str) -> SiblingEnd {
    SiblingEnd {
        id: SiblingId::root().child(1),
        task: 1,
        outcome,
        text: text.to_owned(),
        truncated: false,
        usage: Usage { total_tokens: 1_200, ..Usage::default() },
        model: None,
        session_file: Some("/s/agent-1.jsonl".into()),
        patch: None,
    }
}

#[test]
fn an_end_is_told_with_its_answer_and_where_the_rest_is() {
    let failed = |may_pass| Outcome::Failed { message: "busy".into(), may_pass };
    let budget = Outcome::Budget { what: BudgetKind::Tokens, message: "agent-1 has used 9 tokens of 9 tokens".into() };
    let table = [
        (end(Outcome::Done, "42\n"), "agent-1 is done (1200 tokens). Its answer:\n42"),
        (SiblingEnd { task: 3, ..end(Outcome::Done, "") }, "agent-1, task 3 is done (1200 tokens)."),
        (end(failed(true), ""), "agent-1 failed: busy. It may work later: send it a message to go on."),
        (end(failed(false), "half"), "agent-1 failed: busy. What it said last:\nhalf"),
        (end(budget, ""), "agent-1 ran out of budget: agent-1 has used 9 tokens of 9 tokens."),
    ];
    for (end, wanted) in table {
        assert_eq!(told(&end), wanted);
    }
    let long = told(&end(Outcome::Done, &"x".repeat(9_000)));
    assert!(
        long.len() < 8_400 && long.ends_with("[cut: the last message in /s/agent-1.jsonl has all of it]"),
        "{long}"
    );
    let patch =
        Patch { file: "/s/agent-1.patch".into(), branch: "troupe/agent-1-x".into(), base: "c".into(), files: 2 };
    let text = told(&SiblingEnd { patch: Some(patch), ..end(Outcome::Done, "") });
    assert!(text.ends_with("in 2 files: the patch /s/agent-1.patch and the branch troupe/agent-1-x."), "{text}");
}

#[test]
fn results_name_the_ends_that_they_tell() {
    let details = output(String::new(), &[end(Outcome::Done, "")]).details.unwrap();
    assert_eq!(ends_in(&details), [(SiblingId::root().child(1), 1)]);
    assert_eq!(output(String::new(), &[]).details, None);
    assert_eq!(ends_in(&serde_json::json!({"ends": [{"id": "nobody", "task": 1}, 7]})), []);
}
