//! The tracing spans of a running trace: `trace`, in it a `turn` after the other, in those `call` (of a model) and `tool`.
//!
//! Their fields name things (agent, model, tool); they never hold what was said.

use tracing::Span;

use crate::protocol::Event;

/// The spans that are open.
#[derive(Default)]
pub(super) struct Spans {
    trace: Option<Span>,
    turn: Option<Span>,
}

impl Spans {
    /// Opens and closes spans as the loop's events say.
    pub fn note(&mut self, agent: &str, event: &Event) {
        match event {
            Event::AgentStart | Event::TurnStart if self.trace.is_none() => {
                self.trace = Some(tracing::info_span!(parent: None, "trace", agent));
                self.note(agent, event);
            }
            Event::TurnStart => {
                let trace = self.trace.as_ref().and_then(Span::id);
                self.turn = Some(tracing::info_span!(parent: trace, "turn"));
            }
            Event::TurnEnd { .. } => self.turn = None,
            Event::AgentSettled { .. } => *self = Self::default(),
            _ => {}
        }
    }

    /// The span that work of the loop belongs to.
    pub fn current(&self) -> Span {
        self.turn.as_ref().or(self.trace.as_ref()).cloned().unwrap_or_else(Span::none)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::json;
    use tracing::{Subscriber, span};
    use tracing_subscriber::{
        Layer,
        layer::{Context, SubscriberExt},
        registry::LookupSpan,
    };

    use crate::{
        actors::testing::{FnTool, Parts},
        protocol::ToolOutput,
    };

    /// Notes the names of spans with those around them.
    struct Paths(Arc<Mutex<Vec<String>>>);

    impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Paths {
        fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
            if attributes.metadata().target().starts_with("troupe::") {
                let scope = context.span(id).unwrap().scope();
                let names: Vec<_> = scope.from_root().map(|span| span.name()).collect();
                self.0.lock().unwrap().push(names.join(" "));
            }
        }
    }

    #[tokio::test]
    async fn each_trace_has_a_span_with_its_turns_and_those_have_their_calls_and_tools() {
        let paths: Arc<Mutex<Vec<String>>> = Arc::default();
        let layer = Paths(paths.clone());
        // With one subscriber alone, tracing asks the thread that meets a span first, for all threads and for ever: a
        // test beside this one. With two it asks them.
        let _second = tracing::Dispatch::new(tracing_subscriber::registry());
        let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        let echo = FnTool::new("echo", |_| async { ToolOutput::text("ran") });
        let calls = json!([{"name": "echo"}, {"name": "echo"}]);
        let turns = json!([{"calls": calls}, "done", "again"]);
        let mut bench = Parts { turns, tools: vec![Arc::new(echo)], ..Parts::default() }.start().await;
        bench.run("go").await;
        bench.run("more").await;
        let first = ["trace", "trace turn", "trace turn call", "trace turn tool", "trace turn tool"];
        let second = ["trace turn", "trace turn call"];
        let third = ["trace", "trace turn", "trace turn call"];
        assert_eq!(*paths.lock().unwrap(), [&first[..], &second, &third].concat());
    }
}
