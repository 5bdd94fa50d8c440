use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    sync::mpsc,
};

use serde_json::{Value, json};
use tracing::field::Empty;
use tracing_subscriber::{Layer as _, layer::SubscriberExt as _};

use super::{
    layer::{OwnSpans, SpanLayer},
    record::{Field, SpanRecord, body},
    *,
};

/// A collector: the path, a header and the body of each request.
fn collector() -> (String, mpsc::Receiver<(String, bool, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/base/", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let (mut first, mut length, mut is_known) = (String::new(), 0, false);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                match line.trim_end().to_lowercase().split_once(": ") {
                    Some(("content-length", value)) => length = value.parse().unwrap(),
                    Some(("x-token", "secret")) => is_known = true,
                    Some(_) => {}
                    None => break,
                }
            }
            let mut bytes = vec![0; length];
            reader.read_exact(&mut bytes).unwrap();
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
            reader.get_mut().write_all(answer).unwrap();
            let path = first.split(' ').nth(1).unwrap().to_owned();
            sender.send((path, is_known, serde_json::from_slice(&bytes).unwrap())).unwrap();
        }
    });
    (address, requests)
}

fn target(endpoint: &str) -> Target {
    let variable = |name: &str| match name {
        "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(endpoint.to_owned()),
        "OTEL_EXPORTER_OTLP_HEADERS" => Some("x-token=secret, x-other = y".to_owned()),
        _ => None,
    };
    Target::of(variable).unwrap().unwrap()
}

fn attribute<'v>(span: &'v Value, key: &str) -> &'v Value {
    let attributes = span["attributes"].as_array().unwrap();
    attributes.iter().find(|attribute| attribute["key"] == key).map_or(&Value::Null, |found| &found["value"])
}

#[test]
fn agents_calls_and_tools_reach_a_collector_with_the_names_of_the_conventions() {
    let (address, requests) = collector();
    let sender = Sender::start(target(&address)).unwrap();
    let layer = SpanLayer::new(sender.clone()).with_filter(OwnSpans);
    // With one subscriber alone, tracing asks the thread that meets a span first, for all threads and for ever: a test
    // beside this one. With two it asks them.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
        let agent = tracing::info_span!(parent: None, "trace", agent = "main");
        let turn = tracing::info_span!(parent: &agent, "turn");
        for _ in 0..2 {
            let model = "m".to_owned();
            let call = tracing::info_span!(parent: &turn, "call", provider = "p", model, output_tokens = Empty);
            call.record("output_tokens", 7_u64);
        }
        let tool = tracing::info_span!(parent: &turn, "tool", tool = "echo", failed = Empty);
        tool.record("failed", true);
    });
    sender.flush();
    let mut spans = Vec::new();
    while let Ok((path, is_known, body)) = requests.try_recv() {
        assert_eq!((path.as_str(), is_known), ("/base/v1/traces", true));
        let resource = &body["resourceSpans"][0];
        assert_eq!(resource["resource"]["attributes"][0]["value"]["stringValue"], "troupe");
        spans.extend(resource["scopeSpans"][0]["spans"].as_array().unwrap().clone());
    }
    let of = |operation: &str| {
        let is = |span: &&Value| attribute(span, "gen_ai.operation.name")["stringValue"] == operation;
        spans.iter().filter(is).cloned().collect::<Vec<_>>()
    };
    let (agents, chats, tools) = (of("invoke_agent"), of("chat"), of("execute_tool"));
    assert_eq!((agents.len(), chats.len(), tools.len()), (1, 2, 1), "{spans:?}");
    let chat = &chats[0];
    assert!(chat["name"].as_str().unwrap().starts_with("chat ") && chat["kind"] == 3, "{chat}");
    assert_eq!(attribute(chat, "gen_ai.usage.output_tokens")["intValue"], "7", "{chat}");
    assert_eq!(attribute(&tools[0], "gen_ai.tool.name")["stringValue"], "echo");
    assert_eq!((&tools[0]["status"]["code"], &tools[0]["traceId"]), (&json!(2), &agents[0]["traceId"]));
    assert_eq!((&agents[0]["parentSpanId"], &chat["traceId"]), (&json!(""), &agents[0]["traceId"]));
    let ids: Vec<&Value> = spans.iter().map(|span| &span["spanId"]).collect();
    assert!(ids.contains(&&chat["parentSpanId"]), "{chat}");
}

#[test]
fn a_span_is_written_down_by_its_kind() {
    let record = SpanRecord {
        trace_id: [1; 16],
        span_id: [2; 8],
        parent: None,
        name: "call",
        start: 5,
        end: 7,
        fields: vec![
            ("model", Field::Text("m".into())),
            ("input_tokens", Field::Whole(12)),
            ("finish", Field::Text("stop".into())),
            ("error", Field::Text("rate_limited".into())),
            ("unknown", Field::Flag(true)),
        ],
    };
    let span = &body("s", &[record])["resourceSpans"][0]["scopeSpans"][0]["spans"][0].clone();
    assert_eq!((&span["name"], &span["startTimeUnixNano"]), (&json!("chat m"), &json!("5")));
    assert_eq!(span["traceId"].as_str().unwrap(), "01".repeat(16));
    assert_eq!(attribute(span, "gen_ai.usage.input_tokens"), &json!({"intValue": "12"}));
    assert_eq!(attribute(span, "gen_ai.response.finish_reasons")["arrayValue"]["values"][0]["stringValue"], "stop");
    assert_eq!(attribute(span, "error.type")["stringValue"], "rate_limited");
    assert_eq!((attribute(span, "unknown"), &span["status"]["code"]), (&Value::Null, &json!(2)));
}

#[test]
fn the_environment_says_where_to() {
    let of = |pairs: &[(&str, &str)]| {
        let found = |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Target::of(found).map(|target| target.map(|target| (target.url.to_string(), target.service)))
    };
    let service = || "troupe".to_owned();
    assert_eq!(of(&[]), Ok(None));
    let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");
    assert_eq!(of(&[all]), Ok(Some(("http://c:4318/v1/traces".to_owned(), service()))));
    let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c/t");
    assert_eq!(of(&[all, own]), Ok(Some(("http://c/t".to_owned(), service()))));
    let named = ("OTEL_SERVICE_NAME", "nightly");
    assert_eq!(of(&[own, named]), Ok(Some(("http://c/t".to_owned(), "nightly".to_owned()))));
    assert!(of(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "c:x y")]).is_err());
}
