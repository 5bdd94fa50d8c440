//! What streams and what is stored look the same, and what is laid out again when.

use std::sync::Arc;

use serde_json::{Value, json};

use super::layout::LayoutContext;
use crate::{
    protocol::{
        AgentMessage, AssistantMessage, Event, StreamEvent, event::CallLabel, message::ToolCall, tool::ToolOutput,
    },
    store::testing::{answer, line, user, view as tree_of},
    tui::{
        model::{Model, Msg},
        testing::{facts_of, happen, model_of, press, screen},
        text::StyledLine,
        view::{with_layout, with_view},
    },
};

fn assistant(id: &str, parent: &str, content: &Value) -> String {
    let message =
        json!({"role": "assistant", "content": content, "provider": "acme", "model": "alpha", "timestamp": 6});
    line("message", id, parent, json!({ "message": message }))
}

/// The events of a stream that ends with this content.
fn events_of(content: &Value) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    for (index, block) in content.as_array().into_iter().flatten().enumerate() {
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        // In pieces of three characters.
        let pieces = |text: String| {
            let characters: Vec<char> = text.chars().collect();
            characters.chunks(3).map(String::from_iter).collect::<Vec<_>>()
        };
        match block["type"].as_str() {
            Some("text") => {
                events.push(StreamEvent::TextStart { index });
                events.extend(pieces(text("text")).into_iter().map(|delta| StreamEvent::TextDelta { index, delta }));
            }
            Some("thinking") => {
                events.push(StreamEvent::ThinkingStart { index });
                let deltas = pieces(text("thinking")).into_iter();
                events.extend(deltas.map(|delta| StreamEvent::ThinkingDelta { index, delta }));
            }
            _ => {
                let arguments = block["arguments"].as_object().cloned().unwrap_or_default();
                let call = ToolCall { id: text("id"), name: text("name"), arguments, ..ToolCall::default() };
                events.push(StreamEvent::ToolCallStart { index, id: call.id.clone(), name: call.name.clone() });
                events.push(StreamEvent::ToolCallEnd { index, call });
            }
        }
    }
    events
}

/// A model that an answer of these steps streams into.
fn streaming(events: Vec<StreamEvent>) -> Model {
    let mut model = model_of(&[user("u1", "", "Go")]);
    let message = AgentMessage::Assistant(Arc::new(AssistantMessage::default()));
    for event in [Event::AgentStart, Event::MessageStart { message }, Event::MessageUpdate { events }] {
        happen(&mut model, event);
    }
    model
}

/// The answer is stored.
fn store(model: &mut Model, content: &Value) {
    let message = AgentMessage::Assistant(Arc::new(AssistantMessage::default()));
    happen(model, Event::MessageEnd { message, entry_id: None });
    let tree = tree_of(&[user("u1", "", "Go"), assistant("a1", "u1", content)]);
    model.update(Msg::Facts(Box::new(facts_of(Some(tree)))), 0);
}

/// All rows of the conversation.
fn rows(model: &mut Model) -> Vec<String> {
    with_layout(model, |transcript, context| {
        let parts = transcript.visible(10_000, context);
        transcript.lines(&parts, context).iter().map(StyledLine::text).collect()
    })
}

#[test]
fn an_answer_does_not_jump_when_it_is_stored() {
    let code = "Look:\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
    let call =
        |name: &str, arguments: Value| json!({"type": "toolCall", "id": "c0", "name": name, "arguments": arguments});
    let table = [
        json!([{"type": "text", "text": "Hello"}]),
        json!([{"type": "text", "text": "\n\nHello\n\n"}]),
        json!([{"type": "text", "text": code}, {"type": "text", "text": "  \n"}, {"type": "text", "text": "end"}]),
        json!([{"type": "text", "text": "[only]: https://example.com"}]),
        json!([{"type": "thinking", "thinking": "  I *think*.\n\nSo.\n"}, {"type": "text", "text": "Hello"}]),
        json!([{"type": "thinking", "thinking": ""}, {"type": "thinking", "thinking": "a"},
               {"type": "thinking", "thinking": "b"}, {"type": "text", "text": "Hello"}]),
        json!([{"type": "text", "text": "Run"}, call("bash", json!({"command": "ls"}))]),
        json!([call("edit", json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]})), call("ls", json!({}))]),
        json!([call("write", json!({"path": "a.rs", "content": "fn a() {}\n".repeat(30)}))]),
        json!([call("other", json!({"question": "why?"}))]),
    ];
    for content in table {
        for hides_thinking in [false, true] {
            let mut model = streaming(events_of(&content));
            model.settings.hide_thinking = hides_thinking;
            let live = rows(&mut model);
            store(&mut model, &content);
            let stored = rows(&mut model);
            // A call that waits says so, and a text that was written is shown from its beginning.
            assert_eq!(live.len(), stored.len(), "{content}\n{live:#?}\n{stored:#?}");
            if !content.to_string().contains("toolCall") {
                assert_eq!(live, stored, "{content}");
            }
        }
    }
}

#[test]
fn thinking_is_hidden_by_a_key_and_then_told_of_once() {
    let content = json!([{"type": "thinking", "thinking": "one"}, {"type": "text", "text": "said"},
                         {"type": "thinking", "thinking": "two"}]);
    let mut live = streaming(events_of(&content));
    let mut stored = model_of(&[user("u1", "", "Go"), assistant("a1", "u1", &content)]);
    for model in [&mut live, &mut stored] {
        assert!(screen(model).contains("one") && screen(model).contains("two"), "{}", screen(model));
        press(model, "ctrl+t");
        let hidden = screen(model);
        assert_eq!(hidden.matches("Thinking...").count(), 1, "{hidden}");
        assert!(!hidden.contains("one") && !hidden.contains("two"), "{hidden}");
        press(model, "ctrl+t");
        assert!(screen(model).contains("two"));
        model.settings.hide_thinking = true;
        assert!(!screen(model).contains("two"), "a setting counts at once");
    }
}

fn label(place: usize) -> CallLabel {
    CallLabel { place, tool_call_id: format!("c{place}"), tool_name: "bash".into(), args: Arc::default() }
}

#[test]
fn a_running_call_lays_out_nothing_but_itself_again() {
    let content = json!([{"type": "text", "text": "A **long** answer."},
                         {"type": "toolCall", "id": "c0", "name": "bash", "arguments": {"command": "make"}}]);
    let lines = vec![
        user("u0", "", "before"),
        answer("a0", "u0", "done"),
        user("u1", "a0", "Go"),
        assistant("a1", "u1", &content),
    ];
    let mut model = model_of(&lines);
    happen(&mut model, Event::AgentStart);
    happen(&mut model, Event::ToolExecutionStart { call: label(0) });
    screen(&mut model);
    let answer_at = model.transcript.last_answer.unwrap();
    let text = |model: &Model| model.transcript.cache.settled.1[&0].clone();
    let other = |model: &Model| model.transcript.cache.known(answer_at - 1, model.now).unwrap();
    let (first, before) = (text(&model), other(&model));
    for step in 1..4_u64 {
        model.now = step * 100;
        let partial = Arc::new(ToolOutput::text(format!("step {step}\n").repeat(5_000)));
        happen(&mut model, Event::ToolExecutionUpdate { call: label(0), partial });
        assert!(screen(&mut model).contains(&format!("step {step}")));
        assert!(Arc::ptr_eq(&first, &text(&model)), "the text is not laid out again");
        assert!(Arc::ptr_eq(&before, &other(&model)), "nor is what is before the answer");
        assert!(model.transcript.cache.known(answer_at, model.now).is_some(), "rows are counted and drawn once");
    }
}

#[test]
fn new_colours_count_even_when_the_theme_keeps_its_name() {
    let mut model = model_of(&[user("u1", "", "Go"), answer("a1", "u1", "Hello")]);
    let first = |model: &mut Model| {
        with_layout(model, |transcript, context: &LayoutContext<'_>| {
            let last = transcript.count() - 1;
            transcript.lines_between(last, 1..2, context)[0].spans.last().unwrap().style
        })
    };
    let before = first(&mut model);
    let name = model.theme.name.clone();
    model.theme = crate::tui::theme::Theme::new(name, model.theme.appearance, |_| ratatui::style::Color::Blue);
    assert_ne!(first(&mut model), before);
}

#[test]
fn of_a_long_answer_only_what_is_seen_is_taken() {
    let mut model = streaming(vec![
        StreamEvent::TextStart { index: 0 },
        StreamEvent::TextDelta { index: 0, delta: "A word and another.\n\n".repeat(20_000) },
    ]);
    with_view(&mut model, |transcript, rows, context| {
        let parts = transcript.visible(rows, context);
        assert_eq!(parts.iter().map(|part| part.range.len()).sum::<usize>(), rows);
        assert_eq!(parts.len(), 1, "{parts:?}");
        assert_eq!(transcript.lines(&parts, context).len(), rows);
    });
}

#[test]
fn the_last_answer_is_known_without_a_search() {
    let mut model = model_of(&[user("u1", "", "Go"), answer("a1", "u1", "Hello"), user("u2", "a1", "More")]);
    let at = |model: &Model| model.transcript.last_answer.map(|at| model.transcript.items()[at].position());
    assert_eq!(at(&model), Some(Some(1)), "behind the start page");
    let longer =
        [user("u1", "", "Go"), answer("a1", "u1", "Hello"), user("u2", "a1", "More"), answer("a2", "u2", "Again")];
    model.update(Msg::Facts(Box::new(facts_of(Some(tree_of(&longer))))), 0);
    assert_eq!(at(&model), Some(Some(3)));
    // The conversation goes on elsewhere.
    model.update(Msg::Facts(Box::new(facts_of(Some(tree_of(&longer[..1]))))), 0);
    assert_eq!(at(&model), None);
}
