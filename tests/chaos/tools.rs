//! The tools of the script. They do nothing but note that they began, take their time and end.

use std::{
    collections::BTreeMap,
    panic::resume_unwind,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use tokio::time::sleep;
use troupe::{
    protocol::{ToolDeclaration, ToolOutput, tool::ExecutionMode},
    tools::{BoxFuture, OutputSource, Tool, ToolContext},
};

/// What happened in the world: how often each call began.
#[derive(Clone, Default)]
pub struct EffectLog(Arc<Mutex<BTreeMap<String, usize>>>);

impl EffectLog {
    fn begin(&self, id: &str) {
        *self.0.lock().unwrap().entry(id.to_owned()).or_default() += 1;
    }

    /// How often each call began, by its id.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        self.0.lock().unwrap().clone()
    }
}

/// A tool of the script; what it does follows from its name.
struct ScriptTool {
    declaration: ToolDeclaration,
    log: EffectLog,
}

/// All tools: effects side by side and in order, a reader, one that fails and one that panics.
pub fn tools(log: &EffectLog) -> Vec<Arc<dyn Tool>> {
    let tool = |name: &str| {
        let declaration = ToolDeclaration {
            name: name.to_owned(),
            description: format!("The tool {name}."),
            parameters: json!({"type": "object", "properties": {"turn": {"type": "integer"}}}),
            constrained_sampling: None,
        };
        Arc::new(ScriptTool { declaration, log: log.clone() }) as Arc<dyn Tool>
    };
    ["effect", "ordered", "read", "fail", "panic"].map(tool).into()
}

impl Tool for ScriptTool {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn execution_mode(&self) -> ExecutionMode {
        if self.declaration.name == "ordered" { ExecutionMode::Sequential } else { ExecutionMode::Parallel }
    }

    fn is_read_only(&self) -> bool {
        self.declaration.name == "read"
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let id = &context.tool_call_id;
            self.log.begin(id);
            context.progress.attach(Arc::new(Begun(id.clone())));
            sleep(Duration::from_secs(3)).await;
            match self.declaration.name.as_str() {
                "fail" => ToolOutput::error(format!("{id} failed")),
                // A panic without the report that panics print.
                "panic" => resume_unwind(Box::new(format!("{id} panicked"))),
                _ => ToolOutput::text(format!("{id} done")),
            }
        })
    }
}

/// What a running call has printed.
struct Begun(String);

impl OutputSource for Begun {
    fn snapshot(&self) -> ToolOutput {
        ToolOutput::text(format!("{} began", self.0))
    }
}
