//! A tool made of a closure.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::{
    protocol::{ToolDeclaration, ToolOutput, tool::ExecutionMode},
    tools::{BoxFuture, OutputSource, Tool, ToolContext, tool::PlanAccess},
};

type Run = Box<dyn Fn(ToolContext) -> BoxFuture<'static, ToolOutput> + Send + Sync>;

/// The tool.
pub struct FnTool {
    declaration: ToolDeclaration,
    mode: ExecutionMode,
    plan: PlanAccess,
    run: Run,
}

impl FnTool {
    /// A tool that takes an optional text `say`.
    pub fn new<F>(name: &str, run: impl Fn(ToolContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ToolOutput> + Send + 'static,
    {
        let declaration = ToolDeclaration {
            name: name.into(),
            description: "a tool of a test".into(),
            parameters: json!({"type": "object", "properties": {"say": {"type": "string"}}}),
            constrained_sampling: None,
        };
        let run: Run = Box::new(move |context| Box::pin(run(context)));
        Self { declaration, mode: ExecutionMode::Parallel, plan: PlanAccess::Changes, run }
    }

    /// It runs commands, as far as plan mode is concerned.
    pub fn running_commands(self) -> Self {
        Self { plan: PlanAccess::RunsCommands, ..self }
    }

    /// It only reads.
    pub fn reading(self) -> Self {
        Self { plan: PlanAccess::Reads, ..self }
    }

    pub fn sequential(self) -> Self {
        Self { mode: ExecutionMode::Sequential, ..self }
    }
}

impl Tool for FnTool {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn execution_mode(&self) -> ExecutionMode {
        self.mode
    }

    fn is_read_only(&self) -> bool {
        matches!(self.plan, PlanAccess::Reads)
    }

    fn plan_access(&self) -> PlanAccess {
        self.plan
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        (self.run)(context)
    }
}

/// What a running call has printed.
struct Printed(Mutex<String>);

impl OutputSource for Printed {
    fn snapshot(&self) -> ToolOutput {
        ToolOutput::text(self.0.lock().unwrap().clone())
    }
}

/// Gives a call output; call the result to print more.
pub fn output_of(context: &ToolContext) -> impl Fn(&str) + Send + Sync + 'static {
    let printed = Arc::new(Printed(Mutex::new(String::new())));
    let progress = context.progress.clone();
    progress.attach(printed.clone());
    move |more| {
        printed.0.lock().unwrap().push_str(more);
        progress.changed();
    }
}
