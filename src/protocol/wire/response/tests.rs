use serde_json::{Value, json};

use super::*;
use crate::protocol::{
    command::ModelChoice,
    model::{InputKind, ModelCost},
};

fn written(response: &Response) -> String {
    let mut out = Vec::new();
    write_response(response, &mut out);
    let text = String::from_utf8(out).unwrap();
    assert!(text.ends_with("}\n"), "{text}");
    text.trim_end().to_owned()
}

fn data(data: ResponseData) -> Value {
    let line = written(&Response::done(None, "x", Some(data)));
    serde_json::from_str::<Value>(&line).unwrap()["data"].clone()
}

fn model() -> Arc<Model> {
    Arc::new(Model {
        id: "m1".into(),
        name: "Model One".into(),
        api: "openai-completions".into(),
        provider: "mock".into(),
        base_url: "http://127.0.0.1:1/v1".into(),
        reasoning: false,
        thinking_level_map: None,
        input: vec![InputKind::Text],
        input_limits: None,
        cost: ModelCost::default(),
        prompt_cache: None,
        context_window: 200_000,
        max_tokens: 16_384,
        sampling_params: None,
        sampling_params_by_thinking_level: None,
        headers: None,
        compat: None,
    })
}

#[test]
fn the_frame_echoes_the_id_and_leaves_out_what_there_is_not() {
    let table = [
        (
            Response::done(Some("1".into()), "prompt", Some(ResponseData::Disposition(Disposition::Started))),
            r#"{"id":"1","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}"#,
        ),
        (Response::done(None, "abort", None), r#"{"type":"response","command":"abort","success":true}"#),
        (
            Response::done(Some("c".into()), "cycle_model", Some(ResponseData::ModelChoice(None))),
            r#"{"id":"c","type":"response","command":"cycle_model","success":true,"data":null}"#,
        ),
        (
            Response::done(None, "cycle_thinking_level", Some(ResponseData::Level(None))),
            r#"{"type":"response","command":"cycle_thinking_level","success":true,"data":null}"#,
        ),
        (
            Response::failed(Some("7".into()), "bogus".to_owned(), "Unknown command: bogus".into()),
            r#"{"id":"7","type":"response","command":"bogus","success":false,"error":"Unknown command: bogus"}"#,
        ),
    ];
    for (response, wanted) in table {
        assert_eq!(written(&response), wanted);
    }
}

#[test]
fn data_has_pis_field_names() {
    let state = StateData {
        model: None,
        thinking_level: ThinkingLevel::Off,
        is_streaming: true,
        is_compacting: false,
        steering_mode: QueueMode::OneAtATime,
        follow_up_mode: QueueMode::All,
        session_file: None,
        session_id: "i".into(),
        session_name: None,
        auto_compaction_enabled: true,
        message_count: 3,
        pending_message_count: 1,
        unsaved_entries: 0,
        read_only: false,
    };
    let stats = StatsData {
        session_id: "i".into(),
        user_messages: 1,
        cost: 0.25,
        context_usage: Some(ContextUsage { tokens: None, context_window: 9, percent: None }),
        ..StatsData::default()
    };
    let command = CommandInfo {
        name: "skill:x".into(),
        description: None,
        source: CommandSource::Skill,
        source_info: SourceInfo { path: "p".into(), scope: "user".into(), ..SourceInfo::default() },
    };
    let table = [
        (
            ResponseData::State(Box::new(state)),
            json!({"thinkingLevel": "off", "isStreaming": true, "isCompacting": false,
                "steeringMode": "one-at-a-time", "followUpMode": "all", "sessionId": "i",
                "autoCompactionEnabled": true, "messageCount": 3, "pendingMessageCount": 1}),
        ),
        (
            ResponseData::Stats(Box::new(stats)),
            json!({"sessionId": "i", "userMessages": 1, "assistantMessages": 0, "toolCalls": 0, "toolResults": 0,
                "totalMessages": 0, "tokens": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
                "cost": 0.25, "contextUsage": {"tokens": null, "contextWindow": 9, "percent": null}}),
        ),
        (
            ResponseData::Queue { steering: vec!["A".into()], follow_up: vec![] },
            json!({"steering": ["A"], "followUp": []}),
        ),
        (ResponseData::Cancelled(false), json!({"cancelled": false})),
        (ResponseData::Messages(vec![]), json!({"messages": []})),
        (ResponseData::Models(vec![]), json!({"models": []})),
        (ResponseData::Level(Some(ThinkingLevel::Low)), json!({"level": "low"})),
        (ResponseData::Levels(vec![ThinkingLevel::Off]), json!({"levels": ["off"]})),
        (
            ResponseData::Bash(BashResult { output: "hi\n".into(), exit_code: Some(3), ..BashResult::default() }),
            json!({"output": "hi\n", "exitCode": 3, "cancelled": false, "truncated": false}),
        ),
        (ResponseData::Path("/p".into()), json!({"path": "/p"})),
        (ResponseData::Fork(Some("t".into())), json!({"text": "t", "cancelled": false})),
        (ResponseData::Fork(None), json!({"cancelled": true})),
        (
            ResponseData::ForkMessages(vec![ForkMessage { entry_id: "e".into(), text: "t".into() }]),
            json!({"messages": [{"entryId": "e", "text": "t"}]}),
        ),
        (ResponseData::Entries { entries: vec![], leaf_id: None }, json!({"entries": [], "leafId": null})),
        (ResponseData::Tree(TreeData::default()), json!({"tree": [], "leafId": null})),
        (ResponseData::Text(None), json!({})),
        (ResponseData::Text(Some("t".into())), json!({"text": "t"})),
        (
            ResponseData::Commands(vec![command]),
            json!({"commands": [{"name": "skill:x", "source": "skill",
                "sourceInfo": {"path": "p", "source": "", "scope": "user", "origin": ""}}]}),
        ),
    ];
    for (given, wanted) in table {
        assert_eq!(data(given), wanted);
    }
    let model = data(ResponseData::Model(model()));
    assert_eq!((&model["id"], &model["contextWindow"]), (&json!("m1"), &json!(200_000)));
}

#[test]
fn replies_of_the_agent_become_the_data_of_the_command_that_was_sent() {
    let choice = || {
        let reference = model().reference();
        Reply::Model(Some(ModelChoice { model: reference, level: ThinkingLevel::High, scoped: true }))
    };
    let find = |_: &ModelRef| Some(model());
    let scoped = ModelChoiceData { model: model(), thinking_level: ThinkingLevel::High, is_scoped: true };
    let level = || Reply::Thinking(Some(ThinkingLevel::Low));
    let table = [
        ("abort", Reply::Done, None),
        ("prompt", Reply::Input(Disposition::Queued), Some(ResponseData::Disposition(Disposition::Queued))),
        ("set_thinking_level", level(), None),
        ("cycle_thinking_level", level(), Some(ResponseData::Level(Some(ThinkingLevel::Low)))),
        ("cycle_thinking_level", Reply::Thinking(None), Some(ResponseData::Level(None))),
        ("set_model", choice(), Some(ResponseData::Model(model()))),
        ("cycle_model", choice(), Some(ResponseData::ModelChoice(Some(scoped)))),
        ("cycle_model", Reply::Model(None), Some(ResponseData::ModelChoice(None))),
        ("bash", Reply::Bash(BashResult::default()), Some(ResponseData::Bash(BashResult::default()))),
    ];
    for (command, reply, wanted) in table {
        assert_eq!(reply_data(command, reply, find), wanted, "{command}");
    }
}

#[test]
fn a_response_in_two_parts_is_the_whole_one_around_its_elements() {
    let entry_id = Some(EntryId::from("e1"));
    let whole = |data: ResponseData, id: Option<RequestId>| {
        let mut out = Vec::new();
        write_response(&Response::done(id, "get_x", Some(data)), &mut out);
        out
    };
    for id in [None, Some(RequestId::from("a[]b"))] {
        let (head, tail) = streamed_response(id.as_ref(), "get_x", "entries", Some(&entry_id));
        let data = ResponseData::Entries { entries: Vec::new(), leaf_id: entry_id.clone() };
        assert_eq!([head, tail].concat(), whole(data, id.clone()));
        let (head, tail) = streamed_response(id.as_ref(), "get_x", "messages", None);
        assert_eq!([head, tail].concat(), whole(ResponseData::Messages(Vec::new()), id));
    }
}
