//! Reasoning: what is shown, and what is kept for the replay.

use super::*;

fn thinking(message: &AssistantMessage) -> (&str, Option<Value>) {
    let Some(Block::Thinking(block)) = message.content.first() else { panic!("{message:?}") };
    let item = block.thinking_signature.as_deref().map(|data| serde_json::from_str(data).unwrap());
    (&block.thinking, item)
}

fn summary(number: u64, delta: &str) -> Value {
    json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": number, "delta": delta})
}

fn raw_reasoning(number: u64, delta: &str) -> Value {
    json!({"type": "response.reasoning_text.delta", "output_index": 0, "content_index": number, "delta": delta})
}

#[test]
fn reasoning_is_told_part_by_part_and_kept_whole() {
    let item = |summary: Value, content: Value| json!({"type": "reasoning", "id": "rs_1", "summary": summary, "content": content, "encrypted_content": "g"});
    let text = |text: &str| json!({"text": text});
    let start = || added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []}));
    let next = |number: u64| json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": number});
    let two = || item(json!([text("A"), text("B")]), json!(null));
    let table = [
        (vec![start(), next(0), summary(0, "A"), next(1), summary(1, "B"), done(0, two())], "A\n\nB"),
        (vec![start(), summary(0, "A"), summary(1, "B"), done(0, two())], "A\n\nB"),
        (vec![start(), next(0), summary(0, "A"), next(1), done(0, two())], "A\n\nB"),
        (vec![start(), done(0, two())], "A\n\nB"),
        (vec![done(0, two())], "A\n\nB"),
        (vec![start(), raw_reasoning(0, "R"), done(0, item(json!([]), json!([text("R")])))], "R"),
        (vec![start(), done(0, item(json!([]), json!([text("R"), text("S")])))], "R\n\nS"),
        (
            vec![
                start(),
                raw_reasoning(0, "R"),
                raw_reasoning(1, "S"),
                done(0, item(json!([]), json!([text("R"), text("S")]))),
            ],
            "R\n\nS",
        ),
        // A model that tells both.
        (
            vec![
                start(),
                summary(0, "A"),
                raw_reasoning(0, "R"),
                summary(1, "B"),
                done(0, item(json!([text("A"), text("B")]), json!([text("R")]))),
            ],
            "A\n\nB",
        ),
        (vec![start(), done(0, item(json!([]), json!(null)))], ""),
    ];
    for (events, shown) in table {
        let whole = events.last().unwrap()["item"].clone();
        let all = play(decoder(), &[&events[..], &[end("completed", json!({}))]].concat());
        let told: String = all
            .iter()
            .filter_map(
                |event| if let StreamEvent::ThinkingDelta { delta, .. } = event { Some(delta.as_str()) } else { None },
            )
            .collect();
        let (message, failure) = ended(all);
        assert_eq!((told.as_str(), thinking(&message), failure), (shown, (shown, Some(whole)), None), "{events:?}");
    }
}

#[test]
fn encrypted_content_that_comes_with_the_end_is_added_to_the_item_that_lacks_it() {
    let bare = || json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let late =
        |id: &str| json!({"type": "reasoning", "id": id, "encrypted_content": "late", "summary": [{"text": "S"}]});
    let full = || json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "own"});
    let added_late = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "late"});
    let table = [
        (vec![added(0, bare()), done(0, bare())], late("rs_1"), "", Some(added_late)),
        (vec![added(0, bare()), done(0, bare())], late("rs_2"), "", Some(bare())),
        (vec![added(0, bare()), done(0, full())], late("rs_1"), "", Some(full())),
        // An item that never ended is taken from the end of the answer.
        (vec![added(0, bare())], late("rs_1"), "S", Some(late("rs_1"))),
        (vec![added(0, bare())], late("rs_2"), "", None),
    ];
    for (events, output, shown, kept) in table {
        let (message, _) = run(&[&events[..], &[end("completed", json!({"output": [output]}))]].concat());
        assert_eq!(thinking(&message), (shown, kept), "{events:?}");
    }
}
