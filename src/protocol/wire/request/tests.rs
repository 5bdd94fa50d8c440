use serde_json::json;

use super::{super::ui::UiAnswer, *};

fn image() -> ImageBlock {
    ImageBlock { data: "AA==".into(), mime_type: "image/png".into() }
}

fn model() -> ModelRef {
    ModelRef { provider: "p".into(), model_id: "m/x".into() }
}

/// A request with all fields, and one with as few as possible where that differs.
fn all_commands() -> Vec<(Value, RpcCommand)> {
    use RpcCommand as C;
    let picture = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
    vec![
        (
            json!({"type": "prompt", "message": "hi", "images": [picture], "streamingBehavior": "followUp"}),
            C::Prompt { message: "hi".into(), images: vec![image()], streaming_behavior: Some(QueueKind::FollowUp) },
        ),
        (
            json!({"type": "prompt", "message": "", "images": null, "streamingBehavior": null, "more": 1}),
            C::Prompt { message: String::new(), images: vec![], streaming_behavior: None },
        ),
        (json!({"type": "steer", "message": "s"}), C::Steer { message: "s".into(), images: vec![] }),
        (
            json!({"type": "follow_up", "message": "f", "images": [picture]}),
            C::FollowUp { message: "f".into(), images: vec![image()] },
        ),
        (json!({"type": "abort"}), C::Abort),
        (json!({"type": "clear_queue"}), C::ClearQueue),
        (json!({"type": "new_session"}), C::NewSession { parent_session: None }),
        (json!({"type": "new_session", "parentSession": "f"}), C::NewSession { parent_session: Some("f".into()) }),
        (json!({"type": "get_state"}), C::GetState),
        (json!({"type": "get_messages"}), C::GetMessages),
        (json!({"type": "set_model", "provider": "p", "modelId": "m/x"}), C::SetModel(model())),
        (json!({"type": "cycle_model"}), C::CycleModel),
        (json!({"type": "get_available_models"}), C::GetAvailableModels),
        (json!({"type": "set_thinking_level", "level": "xhigh"}), C::SetThinkingLevel(ThinkingLevel::Xhigh)),
        (json!({"type": "cycle_thinking_level"}), C::CycleThinkingLevel),
        (json!({"type": "get_available_thinking_levels"}), C::GetAvailableThinkingLevels),
        (json!({"type": "set_steering_mode", "mode": "all"}), C::SetSteeringMode(QueueMode::All)),
        (json!({"type": "set_follow_up_mode", "mode": "one-at-a-time"}), C::SetFollowUpMode(QueueMode::OneAtATime)),
        (json!({"type": "compact"}), C::Compact { custom_instructions: None }),
        (json!({"type": "compact", "customInstructions": "c"}), C::Compact { custom_instructions: Some("c".into()) }),
        (json!({"type": "set_auto_compaction", "enabled": false}), C::SetAutoCompaction(false)),
        (json!({"type": "set_auto_retry", "enabled": true}), C::SetAutoRetry(true)),
        (json!({"type": "abort_retry"}), C::AbortRetry),
        (json!({"type": "bash", "command": "ls"}), C::Bash { command: "ls".into(), exclude_from_context: false }),
        (
            json!({"type": "bash", "command": "ls", "excludeFromContext": true}),
            C::Bash { command: "ls".into(), exclude_from_context: true },
        ),
        (json!({"type": "abort_bash"}), C::AbortBash),
        (json!({"type": "get_session_stats"}), C::GetSessionStats),
        (json!({"type": "export_html", "outputPath": "o"}), C::ExportHtml { output_path: Some("o".into()) }),
        (json!({"type": "switch_session", "sessionPath": "s"}), C::SwitchSession { session_path: "s".into() }),
        (json!({"type": "fork", "entryId": "e"}), C::Fork { entry_id: "e".into() }),
        (json!({"type": "clone"}), C::Clone),
        (json!({"type": "get_fork_messages"}), C::GetForkMessages),
        (json!({"type": "get_entries", "since": "e"}), C::GetEntries { since: Some("e".into()) }),
        (json!({"type": "get_tree"}), C::GetTree),
        (json!({"type": "get_last_assistant_text"}), C::GetLastAssistantText),
        (json!({"type": "set_session_name", "name": " n "}), C::SetSessionName(" n ".into())),
        (json!({"type": "get_commands"}), C::GetCommands),
        (json!({"type": "get_permissions"}), C::GetPermissions),
        (json!({"type": "set_permission_mode", "mode": "ask"}), C::SetPermissionMode(PermissionMode::Ask)),
        (json!({"type": "set_plan_mode", "enabled": true}), C::SetPlanMode(true)),
        (
            json!({"type": "set_label", "targetId": "e", "label": "l"}),
            C::SetLabel { target_id: "e".into(), label: Some("l".into()) },
        ),
        (json!({"type": "set_label", "targetId": "e"}), C::SetLabel { target_id: "e".into(), label: None }),
    ]
}

#[test]
fn all_33_commands_of_pi_and_our_own_are_understood() {
    let mut names = std::collections::BTreeSet::new();
    for (mut line, wanted) in all_commands() {
        assert_eq!(line["type"], wanted.name());
        names.insert(wanted.name());
        line["id"] = json!("q1");
        let got = parse_line(line.to_string().as_bytes());
        assert_eq!(got, Incoming::Request(Request { id: Some("q1".into()), command: wanted }), "{line}");
    }
    assert_eq!(names.len(), 33 + 4);
}

#[test]
fn what_the_agent_itself_can_do_becomes_its_command() {
    let id = RequestId::from("5");
    let mut asked_elsewhere = Vec::new();
    for (_, command) in all_commands() {
        let name = command.name();
        match command.into_command(Some(&id)) {
            Ok(Command::Prompt { input, .. } | Command::Queue { input, .. }) => {
                assert_eq!(input.source, InputSource::Rpc);
                assert!(!input.op.is_empty());
            }
            Ok(Command::Bash { id, .. }) => assert_eq!(id.as_deref(), Some("5")),
            Ok(_) => {}
            Err(_) => asked_elsewhere.push(name),
        }
    }
    asked_elsewhere.dedup();
    assert_eq!(
        asked_elsewhere,
        [
            "new_session",
            "get_state",
            "get_messages",
            "get_available_models",
            "get_available_thinking_levels",
            "get_session_stats",
            "export_html",
            "switch_session",
            "fork",
            "clone",
            "get_fork_messages",
            "get_entries",
            "get_tree",
            "get_last_assistant_text",
            "get_commands",
            "get_permissions",
        ]
    );
}

#[test]
fn what_is_no_request_gets_a_response_that_says_why() {
    let table: [(&[u8], Option<Value>, &str, &str); 22] = [
        (b"{bad", None, "parse", "Failed to parse command: "),
        (b"\xff\xfe", None, "parse", "Failed to parse command: "),
        (b"{\"type\":", None, "parse", "Failed to parse command: "),
        (b"", None, "parse", "Failed to parse command: "),
        (b"  \r", None, "parse", "Failed to parse command: "),
        (b"42", None, "parse", "Failed to parse command: expected an object, not a number"),
        (b"[]", None, "parse", "Failed to parse command: expected an object, not this list"),
        (b"\"x\"", None, "parse", "Failed to parse command: expected an object, not this text"),
        (b"null", None, "parse", "Failed to parse command: expected an object, not null"),
        (b"{}", None, "parse", "Failed to parse command: `type` must be the name of a command, not nothing"),
        (br#"{"id":"z","type":5}"#, Some(json!("z")), "parse", "Failed to parse command: `type` must be"),
        (br#"{"id":"7","type":"bogus"}"#, Some(json!("7")), "bogus", "Unknown command: bogus"),
        (br#"{"type":"Prompt","message":"x"}"#, None, "Prompt", "Unknown command: Prompt"),
        (br#"{"id":7,"type":"prompt"}"#, Some(json!(7)), "prompt", "Field `message` of prompt is missing"),
        (br#"{"id":null,"type":"steer","message":null}"#, Some(Value::Null), "steer", "Field `message` of steer is"),
        (br#"{"type":"prompt","message":5}"#, None, "prompt", "Field `message` of prompt must be text, not a number"),
        (
            br#"{"type":"prompt","message":"m","images":["x"]}"#,
            None,
            "prompt",
            "Field `images` of prompt must be a list",
        ),
        (
            br#"{"type":"prompt","message":"m","streamingBehavior":"later"}"#,
            None,
            "prompt",
            "Field `streamingBehavior` of prompt must be `steer` or `followUp`, not this text",
        ),
        (br#"{"type":"set_model","provider":"p"}"#, None, "set_model", "Field `modelId` of set_model is missing"),
        (br#"{"type":"set_thinking_level","level":"zz"}"#, None, "set_thinking_level", "Field `level` of"),
        (br#"{"type":"set_auto_retry","enabled":"yes"}"#, None, "set_auto_retry", "Field `enabled` of"),
        (br#"{"id":"y","type":"fork"}"#, Some(json!("y")), "fork", "Field `entryId` of fork is missing: expected text"),
    ];
    for (line, id, command, error) in table {
        let Incoming::Refused(response) = parse_line(line) else { panic!("{}", String::from_utf8_lossy(line)) };
        assert_eq!(response.id, id.map(RequestId), "{}", String::from_utf8_lossy(line));
        assert_eq!(response.command, command);
        let text = response.outcome.unwrap_err();
        assert!(text.starts_with(error), "{text}");
    }
}

#[test]
fn a_carriage_return_and_half_a_surrogate_pair_do_not_stop_a_request() {
    let Incoming::Request(request) = parse_line(b"{\"type\":\"prompt\",\"message\":\"a\\ud83d\xe2\x80\xa8b\"}\r")
    else {
        panic!()
    };
    let wanted = RpcCommand::Prompt { message: "a\u{fffd}\u{2028}b".into(), images: vec![], streaming_behavior: None };
    assert_eq!(request, Request { id: None, command: wanted });
}

#[test]
fn answers_to_dialogs_are_told_apart_from_commands() {
    let line = br#"{"type":"extension_ui_response","id":"u1","confirmed":true}"#;
    let wanted = UiResponse { id: "u1".into(), answer: UiAnswer::Confirmed(true) };
    assert_eq!(parse_line(line), Incoming::UiResponse(wanted));
}

#[test]
fn an_undo_says_how_far_and_what() {
    let parsed = |line: &str| match parse_line(line.as_bytes()) {
        Incoming::Request(Request { command: RpcCommand::Undo(undo), .. }) => Some(undo),
        _ => None,
    };
    let table = [
        (r#"{"type":"undo"}"#, Some(Undo::default())),
        (
            r#"{"type":"undo","target":"prompt","conversation":true}"#,
            Some(Undo { target: UndoTarget::Prompt, conversation: true, ..Undo::default() }),
        ),
        (
            r#"{"type":"undo","entryId":"ab","force":true,"dryRun":true}"#,
            Some(Undo { target: UndoTarget::Entry("ab".into()), force: true, dry_run: true, ..Undo::default() }),
        ),
        (r#"{"type":"undo","target":"redo"}"#, Some(Undo { target: UndoTarget::Redo, ..Undo::default() })),
        (r#"{"type":"undo","target":"tomorrow"}"#, None),
        (r#"{"type":"undo","force":"yes"}"#, None),
    ];
    for (line, expected) in table {
        assert_eq!(parsed(line), expected, "{line}");
    }
}

#[test]
fn a_move_says_where_to_and_null_is_the_beginning() {
    let navigate = |line: &str| match parse_line(line.as_bytes()) {
        Incoming::Request(Request { command: RpcCommand::NavigateTree(ask), .. }) => Some(ask),
        _ => None,
    };
    let target = Some(EntryId::from("ab"));
    for (line, wanted) in [
        (
            r#"{"type":"navigate_tree","targetId":"ab","summarize":true,"customInstructions":"c","replaceInstructions":true,"label":"l"}"#,
            Some(Navigate {
                target: target.clone(),
                summarize: true,
                custom_instructions: Some("c".into()),
                replace_instructions: true,
                label: Some("l".into()),
            }),
        ),
        (r#"{"type":"navigate_tree","targetId":"ab"}"#, Some(Navigate { target, ..Navigate::default() })),
        (r#"{"type":"navigate_tree","targetId":null}"#, Some(Navigate::default())),
        (r#"{"type":"navigate_tree"}"#, None),
        (r#"{"type":"navigate_tree","targetId":5}"#, None),
    ] {
        assert_eq!(navigate(line), wanted, "{line}");
    }
}
