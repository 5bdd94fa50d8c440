use std::path::Path;

use serde_json::json;
use tempfile::TempDir;
use tokio_stream::StreamExt as _;

use super::*;
use crate::{
    protocol::{Command, Event, StreamEvent, ToolDeclaration, ToolOutput},
    tools::{BoxFuture, Tool, ToolContext},
};

/// A home for one session: the user's folder, the project, and a script of answers.
struct Stage {
    root: TempDir,
}

impl Stage {
    fn new(turns: serde_json::Value) -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["user", "project"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        std::fs::write(root.path().join("script.json"), json!({ "turns": turns }).to_string()).unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.root.path().join(name)
    }

    fn builder(&self) -> Builder {
        let script = self.path("script.json");
        Troupe::builder()
            .user_dir(self.path("user"))
            .folder(self.path("project"))
            .model("troupe/script")
            .configure(move |args| args.script = Some(script))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_one_program_run_side_by_side() {
    let stages = [Stage::new(json!([{"text": "one"}, {"text": "more"}])), Stage::new(json!([{"text": "two"}]))];
    let first = stages[0].builder().in_memory().start().await.unwrap();
    let second = stages[1].builder().start().await.unwrap();
    let (one, two) = tokio::join!(first.prompt("a"), second.prompt("b"));
    assert_eq!((one.unwrap().text(), two.unwrap().text()), ("one".to_owned(), "two".to_owned()));
    assert_eq!(first.file(), None);
    assert!(second.file().unwrap().is_file());
    second.close().await.unwrap();
    assert_eq!(first.prompt("again").await.unwrap().text(), "more");
    assert_eq!(first.tree().unwrap().totals().user_messages, 2);
    first.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn both_paces_give_the_whole_text_and_end_with_the_session() {
    let text = "word ".repeat(200);
    let stage = Stage::new(json!([{ "text": text }]));
    let session = stage.builder().in_memory().start().await.unwrap();
    let watch = |pace| {
        let mut events = session.events(pace);
        tokio::spawn(async move {
            let mut read = String::new();
            while let Some(published) = events.next().await {
                if let Event::MessageUpdate { events } = &published.event {
                    for event in events {
                        if let StreamEvent::TextDelta { delta, .. } = event {
                            read.push_str(delta);
                        }
                    }
                }
            }
            (read, events.view().running)
        })
    };
    let (lossless, coalescing) = (watch(Pace::Lossless), watch(Pace::Coalescing));
    assert_eq!(session.prompt("go").await.unwrap().text(), text);
    session.close().await.unwrap();
    for watching in [lossless, coalescing] {
        assert_eq!(watching.await.unwrap(), (text.clone(), false));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_fails_says_why_and_odd_settings_are_told_not_printed() {
    let stage = Stage::new(json!([{"text": "x"}]));
    let failed = stage.builder().model("nobody/knows").in_memory().start().await.unwrap_err();
    assert!(failed.to_string().contains("nobody/knows"), "{failed}");
    std::fs::write(stage.path("user").join("settings.json"), r#"{"retry": "often"}"#).unwrap();
    let session = stage.builder().in_memory().start().await.unwrap();
    assert!(session.notices().iter().any(|notice| notice.contains("retry")), "{:?}", session.notices());
    session.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_call_is_an_error_and_commands_are_the_same_as_everywhere() {
    let fault = json!({"kind": "error", "class": "auth", "status": 401, "message": "no such key"});
    let stage = Stage::new(json!([{"text": "x", "fault": fault}, {"text": "y"}]));
    let session = stage.builder().in_memory().start().await.unwrap();
    let failed = session.prompt("go").await.unwrap_err();
    assert!(matches!(&failed, EmbedError::Failed(text) if text.contains("no such key")), "{failed:?}");
    session.command(Command::SetSessionName("a name".into())).await.unwrap();
    assert_eq!(session.tree().unwrap().name().as_deref(), Some("a name"));
    session.command(Command::WaitIdle).await.unwrap();
    session.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_session_takes_the_place_and_streams_of_the_old_one_end() {
    let stage = Stage::new(json!([{"text": "x"}, {"text": "y"}]));
    let mut session = stage.builder().start().await.unwrap();
    session.prompt("go").await.unwrap();
    let old = session.file().unwrap();
    let mut events = session.events(Pace::Lossless);
    assert!(session.replace(SessionChange::New { parent_session: None }).await.unwrap());
    while events.next().await.is_some() {}
    assert_ne!(session.file().unwrap(), old);
    assert_eq!(session.tree().unwrap().totals().user_messages, 0);
    let page = session.export_html(stage.path("page.html")).await.unwrap();
    assert!(std::fs::read_to_string(&page).unwrap().starts_with("<!doctype html>"));
    assert!(session.export_html(Path::new("/no/such/folder/page.html")).await.is_err());
    session.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_in_a_file_works_in_the_folder_of_the_builder_and_not_in_that_of_the_process() {
    let stage = Stage::new(
        json!([{"calls": [{"name": "bash", "arguments": {"command": "pwd"}}]}, {"text": "{{lastToolResult}}"}]),
    );
    let session = stage.builder().session_file(stage.path("new.jsonl")).start().await.unwrap();
    let answer = session.prompt("where?").await.unwrap().text();
    let folder = stage.path("project").canonicalize().unwrap();
    assert_eq!(answer.trim(), folder.to_string_lossy());
    session.close().await.unwrap();
}

/// A tool that does no good.
struct Broken(ToolDeclaration);

impl Tool for Broken {
    fn declaration(&self) -> &ToolDeclaration {
        &self.0
    }

    fn execute(&self, _: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async { panic!("out of order") })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_of_the_program_is_active_by_itself_beside_the_usual_ones_and_its_panic_is_a_result() {
    let call = |name: &str| json!({"calls": [{"name": name, "arguments": {"command": "echo fine"}}]});
    let text = json!({"text": "{{lastToolResult}}"});
    let stage = Stage::new(json!([call("broken"), text, call("bash"), text]));
    let parameters = json!({"type": "object"});
    let tool = Broken(ToolDeclaration { name: "broken".into(), parameters, ..ToolDeclaration::default() });
    let session = stage.builder().in_memory().tool(tool).start().await.unwrap();
    let broken = session.prompt("one").await.unwrap().text();
    assert!(broken.contains("out of order"), "{broken}");
    assert_eq!(session.prompt("two").await.unwrap().text().trim(), "fine");
    session.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_not_there_is_named() {
    let stage = Stage::new(json!([]));
    let error = stage.builder().folder(stage.path("gone")).in_memory().start().await.unwrap_err().to_string();
    assert!(error.starts_with("There is no folder ") && error.contains("/gone"), "{error}");
}
