use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use serde_json::json;

use super::{values::*, *};
use crate::{
    protocol::{ModelRef, ThinkingLevel, command::QueueMode},
    store::trust::DefaultTrust,
};

struct Files {
    _dir: tempfile::TempDir,
    global: PathBuf,
    project: PathBuf,
}

fn files(global: &str, project: &str) -> Files {
    let dir = tempfile::tempdir().unwrap();
    let files = Files { global: dir.path().join("settings.json"), project: dir.path().join("project.json"), _dir: dir };
    fs::write(&files.global, global).unwrap();
    fs::write(&files.project, project).unwrap();
    files
}

fn of(values: Value) -> Settings {
    let Value::Object(values) = values else { panic!("an object") };
    Settings::from_value(values)
}

#[test]
fn the_project_file_wins_by_key_but_not_for_keys_of_the_user_alone() {
    let files = files(
        r#"{"retry":{"enabled":false,"maxRetries":9},"enabledModels":["a"],"httpProxy":"http://user","defaultTools":["read"]}"#,
        r#"{"retry":{"maxRetries":1},"enabledModels":["b"],"httpProxy":"http://evil","defaultTools":["+ls"],"defaultProjectTrust":"always"}"#,
    );
    let mut settings = Settings::load(&files.global, Some(&files.project));
    assert_eq!((settings.retry().enabled, settings.retry().max_retries), (false, 1));
    assert_eq!(settings.enabled_models(), Some(vec!["b".to_owned()]));
    assert_eq!(settings.http_proxy(), Some("http://user"));
    assert_eq!(settings.default_project_trust(), DefaultTrust::Ask);
    assert_eq!(settings.default_tools(), ["read", "ls"]);
    assert_eq!(settings.get_in(Scope::Global, &["enabledModels"]), Some(&json!(["a"])));
    settings.override_with(json!({"retry": {"maxRetries": 0}}).as_object().unwrap());
    assert_eq!((settings.retry().enabled, settings.retry().max_retries), (false, 0));
    assert_eq!(
        Settings::load(&files.global, None).default_tools(),
        ["read"],
        "an untrusted project counts for nothing"
    );
}

#[test]
fn only_the_session_folder_is_read_before_trust() {
    let files = files("{}", r#"{"sessionDir":"here","theme":"x"}"#);
    assert_eq!(session_dir_before_trust(&files.project), Some("here".to_owned()));
}

#[test]
fn values_of_the_wrong_type_read_as_defaults() {
    let odd = of(json!({
        "theme": 7, "steeringMode": "bogus", "defaultTools": "x", "zzz": null, "retry": 3, "compaction": {"reserveTokens": "many"},
        "httpIdleTimeoutMs": -1, "defaultThinkingLevel": "deep", "quietStartup": 5, "thinkingBudgets": {"low": "x", "high": 9},
        "images": [], "enabledModels": {}, "sessionDir": "",
    }));
    let plain = of(json!({}));
    assert_eq!(odd.steering_mode(), QueueMode::OneAtATime);
    assert_eq!(odd.default_tools(), plain.default_tools());
    assert_eq!(odd.retry(), plain.retry());
    assert_eq!(odd.request_retry(), plain.request_retry());
    assert_eq!(odd.compaction(None), plain.compaction(None));
    assert_eq!(odd.http_timeouts(), plain.http_timeouts());
    let default = HttpTimeouts {
        connect: Some(Duration::from_secs(30)),
        first_byte: Some(Duration::from_secs(300)),
        idle: Some(Duration::from_secs(300)),
    };
    assert_eq!(plain.http_timeouts(), default);
    assert_eq!(odd.default_thinking_level(), None);
    assert_eq!(odd.quiet_startup(), QuietStartup::No);
    assert_eq!(Value::Object(odd.thinking_budgets()), json!({"high": 9}));
    assert_eq!(odd.images(), ImageSettings { auto_resize: true, block: false });
    assert_eq!((odd.enabled_models(), odd.session_dir()), (None, None));
}

#[test]
fn set_values_are_read() {
    let settings = of(json!({
        "defaultProvider": "p", "defaultModel": "a/b", "defaultThinkingLevel": "high", "modelThinkingLevels": {"p/a/b": "low"},
        "followUpMode": "all", "httpIdleTimeoutMs": "disabled", "httpConnectTimeoutMs": 900, "quietStartup": "header",
        "retry": {"baseDelayMs": 5, "maxAgentDelayMs": 7, "provider": {"maxRetries": 2, "maxRetryDelayMs": 0}},
        "compaction": {"enabled": false, "keepRecentTokens": 1, "modelOverrides": {"p/a/b": {"reserveTokens": 2}}},
    }));
    let model = ModelRef { provider: "p".into(), model_id: "a/b".into() };
    assert_eq!(settings.default_model(), Some(model.clone()));
    assert_eq!(settings.default_thinking_level(), Some(ThinkingLevel::High));
    assert_eq!(settings.model_thinking_level(&model), Some(ThinkingLevel::Low));
    assert_eq!(settings.follow_up_mode(), QueueMode::All);
    let ms = |ms| Some(Duration::from_millis(ms));
    assert_eq!(settings.http_timeouts(), HttpTimeouts { connect: ms(900), first_byte: None, idle: None });
    let own = of(json!({"retry": {"provider": {"timeoutMs": 70}}, "httpIdleTimeoutMs": 80, "httpConnectTimeoutMs": 0}));
    assert_eq!(own.http_timeouts(), HttpTimeouts { connect: None, first_byte: ms(70), idle: ms(80) });
    assert_eq!(settings.quiet_startup(), QuietStartup::Header);
    let (retry, request) = (settings.retry(), settings.request_retry());
    assert_eq!((retry.base_delay.as_millis(), retry.max_delay.as_millis()), (5, 7));
    assert_eq!((request.max_retries, request.max_delay), (2, Duration::ZERO));
    let compaction = settings.compaction(Some(&model));
    assert_eq!((compaction.enabled, compaction.reserve_tokens, compaction.keep_recent_tokens), (false, 2, 1));
    assert_eq!(settings.compaction(None).reserve_tokens, 16_384);
}

#[test]
fn a_change_keeps_unknown_keys_their_order_and_what_others_wrote_meanwhile() {
    let files = files(r#"{"zzz":{"deep":[1,2]},"retry":{"baseDelayMs":77,"odd":1}}"#, "{}");
    let mut settings = Settings::load(&files.global, None);
    let first = settings.set(Scope::Global, &["retry", "enabled"], Some(json!(false)));
    let second = settings.set(Scope::Global, &["zzz", "deep"], None);
    assert!(!settings.retry().enabled, "in memory at once");
    fs::write(&files.global, r#"{"zzz":{"deep":[1,2]},"retry":{"baseDelayMs":77,"odd":1},"other":true}"#).unwrap();
    first.write().unwrap();
    second.write().unwrap();
    let expected = "{\n  \"zzz\": {},\n  \"retry\": {\n    \"baseDelayMs\": 77,\n    \"odd\": 1,\n    \"enabled\": false\n  },\n  \"other\": true\n}\n";
    assert_eq!(fs::read_to_string(&files.global).unwrap(), expected);
    assert!(!files.global.with_extension("json.lock").exists());
}

#[test]
fn fc_008_a_broken_file_is_named_with_its_line_and_never_written() {
    let broken = r#"{"theme":"dark","keep":1,}"#;
    for raw in [broken, "[1]", "\"x\"", "3"] {
        let files = files(raw, "{}");
        let mut settings = Settings::load(&files.global, None);
        let problem = settings.problems()[0].to_string();
        assert!(problem.contains("settings.json:1:"), "{problem}");
        assert!(settings.check_writable(Scope::Global).is_err() && settings.check_writable(Scope::Project).is_ok());
        let refused = settings.set(Scope::Global, &["steeringMode"], Some(json!("all"))).write().unwrap_err();
        assert!(refused.to_string().contains("mend the file"), "{refused}");
        assert_eq!(settings.steering_mode(), QueueMode::All, "it holds for this run");
        assert_eq!(fs::read_to_string(&files.global).unwrap(), raw);
    }
    // Broken only after it was read: found when the change is written.
    let files = files("{}", "{}");
    let mut settings = Settings::load(&files.global, None);
    fs::write(&files.global, broken).unwrap();
    assert!(settings.set(Scope::Global, &["a"], Some(json!(1))).write().is_err());
    assert_eq!(fs::read_to_string(&files.global).unwrap(), broken);
}

#[test]
fn empty_files_and_byte_order_marks_are_fine() {
    for raw in ["", "null", " \n", "\u{feff}{\"followUpMode\":\"all\"}"] {
        let files = files(raw, "{}");
        let mut settings = Settings::load(&files.global, None);
        assert!(settings.problems().is_empty(), "{raw:?}");
        settings.set(Scope::Global, &["a"], Some(json!(1))).write().unwrap();
        let written = Settings::load(&files.global, None);
        assert_eq!(written.get(&["a"]), Some(&json!(1)));
        assert_eq!(written.follow_up_mode() == QueueMode::All, raw.contains("followUpMode"));
    }
}

#[test]
fn modes_and_links_are_kept_and_new_files_are_private() {
    let files = files("{}", "{}");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(&files.global, fs::Permissions::from_mode(0o640)).unwrap();
    let link = files.global.with_file_name("link.json");
    std::os::unix::fs::symlink("settings.json", &link).unwrap();
    Settings::load(&link, None).set(Scope::Global, &["a"], Some(json!(1))).write().unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(mode(&files.global), 0o640);
    assert!(fs::read_to_string(&files.global).unwrap().contains("\"a\": 1"));
    let fresh = files.global.with_file_name("new").join("settings.json");
    Settings::load(&fresh, None).set(Scope::Global, &["a"], Some(json!(1))).write().unwrap();
    assert_eq!((mode(&fresh), mode(fresh.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_held_lock_refuses_the_change_with_the_lock_s_name() {
    let files = files("{}", "{}");
    let lock = files.global.with_file_name("settings.json.lock");
    fs::create_dir(&lock).unwrap();
    let mut settings = Settings::load(&files.global, None);
    let refused = settings.set(Scope::Global, &["a"], Some(json!(1))).write().unwrap_err().to_string();
    assert!(refused.contains("settings.json.lock"), "{refused}");
    assert_eq!(fs::read_to_string(&files.global).unwrap(), "{}");
}

#[test]
fn writers_of_one_file_do_not_lose_each_other_s_keys() {
    let files = files("{}", "{}");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let file = &files.global;
            scope.spawn(move || {
                let key = format!("k{number}");
                Settings::load(file, None).set(Scope::Global, &[&key], Some(json!(number))).write().unwrap();
            });
        }
    });
    let written = Settings::load(&files.global, None);
    assert!((0..8).all(|number| written.get(&[&format!("k{number}")]) == Some(&json!(number))));
}

#[test]
fn a_settings_file_that_is_no_regular_file_is_a_problem_and_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = crate::store::testing::pipe_in(dir.path(), "settings.json");
    let settings = Settings::load(&pipe, None);
    let problem = settings.problems()[0].to_string();
    assert!(problem.contains("settings.json") && problem.contains("found a pipe"), "{problem}");
}

#[test]
fn a_value_of_the_wrong_type_is_told_with_its_place_and_the_others_count() {
    let files = files(
        "{\n \"httpIdleTimeoutMs\": \"5s\",\n \"retry\": {\"maxRetries\": -1, \"provider\": 4},\n \"steeringMode\": \"every\",\n \"theme\": 5, \"followUpMode\": \"all\",\n \"oauth\": []}",
        "{\"enabledModels\": [1]}",
    );
    let settings = Settings::load(&files.global, Some(&files.project));
    let told: Vec<_> = settings.problems().iter().map(|problem| problem.to_string()).collect();
    let expected = [
        "settings.json:2:2: httpIdleTimeoutMs: expected milliseconds or \"disabled\", found \"5s\"",
        "settings.json:3:12: retry.maxRetries: expected a number, zero or more, found -1",
        "settings.json:3:30: retry.provider: expected an object, found 4",
        "settings.json:4:2: steeringMode: expected one of one-at-a-time, all, found \"every\"",
        "settings.json:5:2: theme: expected a text, found 5",
        "settings.json:6:2: oauth: expected an object, found a list",
        "project.json:1:20: enabledModels[0]: expected a text, found 1",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.ends_with(expected), "{told}\n{expected}");
    }
    assert_eq!(settings.follow_up_mode(), QueueMode::All);
}

#[test]
fn each_kind_of_value_is_checked_and_slips_in_names_are_told() {
    let table: &[(&str, &str)] = &[
        (r#"{"quietStartup":"header","terminal":{"images":false,"hyperlinks":"auto"},"skills":["a","!b"]}"#, ""),
        (r#"{"quietStartup":"head"}"#, "quietStartup: expected true, false or one of header, found \"head\""),
        (r#"{"editorPaddingX":9}"#, "editorPaddingX: expected a number from 0 to 3, found 9; the nearest one counts"),
        (r#"{"editorPaddingX":"1"}"#, "editorPaddingX: expected a number from 0 to 3, found \"1\""),
        (r#"{"fullscreenWheelScrollLines":"auto"}"#, ""),
        (
            r#"{"fullscreenWheelScrollLines":true}"#,
            "fullscreenWheelScrollLines: expected auto or a number from 1 to 100, found true",
        ),
        (r#"{"packages":["npm:x",{"source":"./y","skills":[],"autoload":false}]}"#, ""),
        (r#"{"packages":[7]}"#, "packages[0]: expected a source such as \"npm:name\", or an object with one, found 7"),
        (r#"{"packages":[{}]}"#, "packages[0].source: expected where the package comes from, found nothing"),
        (r#"{"packages":[{"source":"x","skill":[]}]}"#, "packages[0].skill: unknown field (did you mean skills?)"),
        (r#"{"modelThinkingLevels":{"a/b":"low"}}"#, ""),
        (
            r#"{"modelThinkingLevels":{"a/b":"most"}}"#,
            "modelThinkingLevels.a/b: expected one of off, minimal, low, medium, high, xhigh, max, found \"most\"",
        ),
        (r#"{"queueMode":"all","websockets":true,"retry":{"maxDelayMs":1},"skills":{"customDirectories":[]}}"#, ""),
        (r#"{"defaultmodel":"x"}"#, "defaultmodel: unknown setting (did you mean defaultModel?)"),
        (r#"{"retry":{"maxRetires":1}}"#, "retry.maxRetires: unknown setting (did you mean maxRetries?)"),
        (r#"{"permissions":{},"sandbox":{},"zzz":1,"retry":{"odd":1},"thinkingBudgets":{"highest":1}}"#, ""),
    ];
    for (text, problem) in table {
        let files = files(text, "{}");
        let settings = Settings::load(&files.global, None);
        let told: Vec<_> = settings.problems().iter().map(|problem| problem.to_string()).collect();
        assert_eq!(told.len(), usize::from(!problem.is_empty()), "{text}: {told:?}");
        assert!(told.iter().all(|told| told.ends_with(problem)), "{text}: {told:?}");
    }
}

#[test]
fn fc_101_a_project_cannot_set_keys_of_the_user_alone_and_every_value_knows_its_file() {
    let files = files(
        r#"{"httpProxy":"http://user","retry":{"enabled":false},"theme":"dark"}"#,
        r#"{"httpProxy":"http://evil","oauth":{},"retry":{"maxRetries":1}}"#,
    );
    let mut settings = Settings::load(&files.global, Some(&files.project));
    let told: Vec<_> = settings.problems().iter().map(|problem| problem.to_string()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].ends_with("project.json:1:2: httpProxy: only the user's own settings.json may set this; it is ignored")
    );
    settings.override_with(json!({"theme": "light"}).as_object().unwrap());
    for (path, source) in [
        (&["httpProxy"][..], Some(ValueSource::User)),
        (&["retry", "enabled"], Some(ValueSource::User)),
        (&["retry", "maxRetries"], Some(ValueSource::Project)),
        (&["theme"], Some(ValueSource::Run)),
        (&["oauth"], None),
        (&["retry", "baseDelayMs"], None),
    ] {
        assert_eq!(settings.source_of(path), source, "{path:?}");
    }
}
