//! A span as OTLP's JSON writes it down, by the GenAI conventions of OpenTelemetry.

use serde_json::{Value, json};

/// What the name of a failed call is, where nothing better is known.
const FAILED: &str = "_OTHER";

/// A value of a span's field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// A text.
    Text(String),
    /// A number.
    Whole(i64),
    /// True or false.
    Flag(bool),
}

/// A span that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanRecord {
    /// The trace that it is in.
    pub trace_id: [u8; 16],
    /// Its own number.
    pub span_id: [u8; 8],
    /// The span around it.
    pub parent: Option<[u8; 8]>,
    /// Its name in the program: `trace`, `turn`, `call`, `tool`.
    pub name: &'static str,
    /// When it began, in nanoseconds since 1970.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// Its fields.
    pub fields: Vec<(&'static str, Field)>,
}

impl SpanRecord {
    fn text(&self, name: &str) -> Option<&str> {
        self.fields.iter().find_map(|(known, field)| match field {
            Field::Text(text) if *known == name => Some(text.as_str()),
            _ => None,
        })
    }

    /// The name of the operation, and what it is about.
    fn operation(&self) -> Option<(&'static str, &str)> {
        Some(match self.name {
            "trace" => ("invoke_agent", self.text("agent").unwrap_or_default()),
            "call" => ("chat", self.text("model").unwrap_or_default()),
            "tool" => ("execute_tool", self.text("tool").unwrap_or_default()),
            _ => return None,
        })
    }

    /// What went wrong, in a word.
    fn error(&self) -> Option<&str> {
        let failed = self.fields.contains(&("failed", Field::Flag(true)));
        self.text("error").or_else(|| failed.then_some(FAILED))
    }

    fn json(&self) -> Value {
        let mut attributes = Vec::new();
        let mut add = |key: &str, value: Value| attributes.push(json!({"key": key, "value": value}));
        let operation = self.operation();
        if let Some((operation, _)) = operation {
            add("gen_ai.operation.name", text(operation));
        }
        for (name, field) in &self.fields {
            let value = match field {
                Field::Text(value) if *name == "finish" => json!({"arrayValue": {"values": [text(value)]}}),
                Field::Text(value) => text(value),
                // As a text: numbers of JSON are not exact.
                Field::Whole(value) => json!({"intValue": value.to_string()}),
                Field::Flag(value) => json!({"boolValue": value}),
            };
            if let Some(key) = key(self.name, name) {
                add(key, value);
            }
        }
        if self.name == "tool" {
            add("gen_ai.tool.type", text("function"));
        }
        if let Some(error) = self.error() {
            add("error.type", text(error));
        }
        let name = match operation {
            Some((operation, about)) if !about.is_empty() => format!("{operation} {about}"),
            Some((operation, _)) => operation.to_owned(),
            None => self.name.to_owned(),
        };
        json!({
            "traceId": hex(&self.trace_id),
            "spanId": hex(&self.span_id),
            "parentSpanId": self.parent.map(|parent| hex(&parent)).unwrap_or_default(),
            "name": name,
            // A client of a server, or inside the program.
            "kind": if self.name == "call" { 3 } else { 1 },
            "startTimeUnixNano": self.start.to_string(),
            "endTimeUnixNano": self.end.to_string(),
            "attributes": attributes,
            "status": if self.error().is_some() { json!({"code": 2}) } else { json!({}) },
        })
    }
}

/// The attribute of a field; none for one that is told otherwise.
fn key(span: &str, field: &str) -> Option<&'static str> {
    Some(match (span, field) {
        ("trace", "agent") => "gen_ai.agent.name",
        ("call", "provider") => "gen_ai.provider.name",
        ("call", "model") => "gen_ai.request.model",
        ("call", "api") => "troupe.api",
        ("call", "input_tokens") => "gen_ai.usage.input_tokens",
        ("call", "output_tokens") => "gen_ai.usage.output_tokens",
        ("call", "finish") => "gen_ai.response.finish_reasons",
        ("tool", "tool") => "gen_ai.tool.name",
        ("tool", "call") => "gen_ai.tool.call.id",
        _ => return None,
    })
}

/// The body of a request with these spans.
#[must_use]
pub fn body(service: &str, spans: &[SpanRecord]) -> Value {
    let spans: Vec<Value> = spans.iter().map(SpanRecord::json).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": [
            {"key": "service.name", "value": text(service)},
            {"key": "service.version", "value": text(env!("CARGO_PKG_VERSION"))},
            {"key": "process.pid", "value": {"intValue": std::process::id().to_string()}},
        ]},
        "scopeSpans": [{"scope": {"name": "troupe"}, "spans": spans}],
    }]})
}

fn text(text: &str) -> Value {
    json!({ "stringValue": text })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
