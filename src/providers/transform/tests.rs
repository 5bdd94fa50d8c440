use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{
    protocol::{StopReason, TextBlock, UserMessage, model::InputKind},
    providers::testing::{answer, assistant, call, model, plain_model, result, user},
};

/// The turns as short words: `u:text`, `a:[text|think|call id]`, `r:id=text`, `s`.
fn words(messages: &[Message], target: &Target<'_>) -> Vec<String> {
    let part = |part: &Part<'_>| match part {
        Part::Text(text) => (*text).to_owned(),
        Part::Image(image) => format!("<{}>", image.mime_type),
    };
    let parts = |list: &[Part<'_>]| list.iter().map(part).collect::<Vec<_>>().join("+");
    turns(messages, target)
        .iter()
        .map(|turn| match turn {
            Turn::System(place, _) => format!("s:{place}"),
            Turn::User(list) => format!("u:{}", parts(list)),
            Turn::Assistant(turn) => {
                let words = turn.parts.iter().map(|part| match part {
                    AssistantPart::Text(text, signature) => format!("{text}{}", signature.unwrap_or_default()),
                    AssistantPart::Thinking(block) => format!("~{}", block.thinking),
                    AssistantPart::Call(call) => format!("{}({})", call.name, call.id),
                });
                format!("a:{}", words.collect::<Vec<_>>().join("+"))
            }
            Turn::Results(results) => {
                let words = results.iter().map(|result| {
                    format!("{}{}={}", if result.is_error { "!" } else { "" }, result.id, parts(&result.parts))
                });
                format!("r:{}", words.collect::<Vec<_>>().join(","))
            }
        })
        .collect()
}

fn check(messages: &[Message], expected: &[&str]) {
    let model = model("openai-completions");
    let target = Target { model: &model, ids: IdForm::Chat, late_system: true, declared: &HashSet::new() };
    assert_eq!(words(messages, &target), expected);
}

fn system() -> Message {
    Message::System(Arc::default())
}

fn failed(reason: StopReason, content: Vec<Block>) -> Message {
    Message::Assistant(Arc::new(AssistantMessage { stop_reason: reason, ..answer(content) }))
}

fn ls(id: &str) -> Block {
    call(id, "ls", json!({}))
}

#[test]
fn fc_028_a_call_without_result_gets_one_beside_those_that_came() {
    check(
        &[user("1"), assistant(vec![ls("a"), ls("b")]), result("a", "A"), user("2"), assistant(vec![Block::text("t")])],
        &["u:1", "a:ls(a)+ls(b)", "r:a=A,!b=No result provided", "u:2", "a:t"],
    );
    check(&[user("1"), assistant(vec![ls("a")])], &["u:1", "a:ls(a)", "r:!a=No result provided"]);
}

#[test]
fn results_follow_in_the_order_of_the_calls_and_orphans_are_left_out() {
    check(
        &[
            assistant(vec![ls("a"), ls("b")]),
            result("b", "B"),
            result("x", "X"),
            result("a", "A"),
            result("a", "again"),
        ],
        &["a:ls(a)+ls(b)", "r:a=A,b=B"],
    );
    check(&[user("1"), result("a", "A")], &["u:1"]);
}

#[test]
fn calls_of_the_same_id_are_paired_in_order() {
    check(
        &[assistant(vec![ls("a"), ls("a")]), result("a", "1"), result("a", "2")],
        &["a:ls(a)+ls(a_2)", "r:a=1,a_2=2"],
    );
}

#[test]
fn fc_029_failed_answers_are_left_out_with_their_results() {
    check(
        &[
            user("1"),
            failed(StopReason::Error, vec![Block::text("half"), ls("a")]),
            result("a", "A"),
            failed(StopReason::Aborted, vec![Block::text("half")]),
            user("2"),
        ],
        &["u:1", "u:2"],
    );
    check(
        &[assistant(vec![ls("a")]), failed(StopReason::Error, vec![ls("a")]), result("a", "late")],
        &["a:ls(a)", "r:!a=No result provided"],
    );
}

#[test]
fn a_system_message_between_call_and_result_waits_for_the_result() {
    check(
        &[system(), user("1"), assistant(vec![ls("a")]), system(), result("a", "A"), system(), user("2"), system()],
        &["u:1", "a:ls(a)", "r:a=A", "s:3", "s:5", "u:2", "s:7"],
    );
}

#[test]
fn what_is_blank_or_unknown_disappears() {
    let odd = Message::User(Arc::new(UserMessage {
        content: Content::Blocks(vec![Block::text(" \n"), Block::Unknown(json!({"type": "video"}))]),
        timestamp: 1,
    }));
    let plain = Message::User(Arc::new(UserMessage { content: Content::Text("plain".into()), timestamp: 1 }));
    check(&[odd, user(""), plain, assistant(vec![Block::text("\n")])], &["u:plain"]);
}

#[test]
fn pictures_become_one_note_a_run_for_a_model_that_cannot_see() {
    let image = || Block::Image(ImageBlock { data: "AA==".into(), mime_type: "image/png".into() });
    let look = Message::User(Arc::new(UserMessage {
        content: Content::Blocks(vec![Block::text("see"), image(), image(), Block::text("and"), image()]),
        timestamp: 1,
    }));
    let shot = Message::ToolResult(Arc::new(ToolResultMessage {
        tool_call_id: "a".into(),
        content: vec![image(), image()],
        ..ToolResultMessage::default()
    }));
    let messages = [look, assistant(vec![ls("a")]), shot];
    check(
        &messages,
        &[
            "u:see+(image omitted: model does not support images)+and+(image omitted: model does not support images)",
            "a:ls(a)",
            "r:a=(tool image omitted: model does not support images)",
        ],
    );
    let sees = Model { input: vec![InputKind::Text, InputKind::Image], ..plain_model("openai-completions") };
    let target = Target { model: &sees, ids: IdForm::Chat, late_system: false, declared: &HashSet::new() };
    assert_eq!(words(&messages, &target)[2], "r:a=<image/png>+<image/png>");
}

#[test]
fn fc_026_thinking_and_opaque_data_go_back_to_their_own_model_only() {
    let thinking = |text: &str, signature: Option<&str>, redacted: Option<bool>| {
        Block::Thinking(ThinkingBlock {
            thinking: text.into(),
            thinking_signature: signature.map(str::to_owned),
            redacted,
        })
    };
    let content = vec![
        thinking("", Some("sig"), None),
        thinking("", None, Some(true)),
        thinking("open", None, None),
        thinking(" ", None, None),
        Block::Text(TextBlock { text: "t".into(), text_signature: Some("#1".into()) }),
    ];
    check(&[assistant(content.clone())], &["a:~+~+~open+t#1"]);
    let foreign = Message::Assistant(Arc::new(AssistantMessage { model: "other".into(), ..answer(content) }));
    check(&[foreign], &["a:t"]);
}

#[test]
fn fc_021_names_that_no_vendor_takes_are_replaced_unless_declared() {
    let declared = HashSet::from(["my.tool"]);
    for (name, sent) in
        [("", "unknown_tool"), ("functions.bash", "functions_bash"), ("my.tool", "my.tool"), ("ls", "ls")]
    {
        assert_eq!(wire_name(name, &declared), sent);
    }
    assert_eq!(wire_name(&"n".repeat(100), &declared).len(), NAME_LIMIT);
}

#[test]
fn ids_of_another_model_are_mapped_in_call_and_result_alike() {
    let long = format!("call_x|{}", "a+".repeat(200));
    let content = vec![ls(&long)];
    let foreign = Message::Assistant(Arc::new(AssistantMessage { api: "openai-responses".into(), ..answer(content) }));
    let model = model("openai-completions");
    for ids in [IdForm::Chat, IdForm::Anthropic] {
        let target = Target { model: &model, ids, late_system: false, declared: &HashSet::new() };
        let messages = [foreign.clone(), result(&long, "A")];
        let turns = turns(&messages, &target);
        let (Turn::Assistant(turn), Turn::Results(results)) = (&turns[0], &turns[1]) else { panic!("{turns:?}") };
        let AssistantPart::Call(call) = &turn.parts[0] else { panic!() };
        assert_eq!(call.id, results[0].id);
        assert!(call.id.len() <= 64 && !turn.same_model);
    }
}

#[test]
fn texts_join_without_a_copy_when_there_is_one() {
    assert!(matches!(joined_text(&[Part::Text("a")]), Cow::Borrowed("a")));
    assert_eq!(joined_text(&[Part::Text("a"), Part::Text("b"), Part::Text("c")]), "a\nb\nc");
    assert_eq!(joined_text(&[]), "");
}
