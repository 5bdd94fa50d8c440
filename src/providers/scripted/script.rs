//! The script file: its parts as types, and how they are read.

use std::{path::Path, time::Duration};

use serde_json::Value;

use super::expectation::Expectation;
use crate::{
    protocol::{Failure, FailureClass, StopReason, Usage},
    providers::{
        catalogue::builtin,
        models_json,
        playback::{Cut, Pace},
    },
    store::{
        document::{Document, DocumentError, Fault as FieldFault, Field, Object, Syntax},
        regular_file,
    },
};

/// How long a repeated text may be, in bytes: a slip in a number must not fill the memory.
pub const LONGEST_TEXT: usize = 64 << 20;

/// A whole script.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Fields that change the model.
    pub model: Option<Value>,
    /// Scenes in order; the last one is the file's own turns and has no condition.
    pub scenes: Vec<Scene>,
}

/// A list of turns and when it is played.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Only for requests like this.
    pub when: Option<Expectation>,
    /// How the turn is found.
    pub select: Select,
    /// What comes after the last turn.
    pub end: End,
    /// The turns; never empty.
    pub turns: Vec<Turn>,
}

/// How the turn of a request is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Select {
    /// By the number of answers in the history that did not fail.
    #[default]
    History,
    /// By the number of requests of the session to this scene.
    Calls,
}

/// What comes after the last turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The request fails.
    #[default]
    Fail,
    /// The last turn again.
    Repeat,
    /// All turns again.
    Loop,
}

/// One answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    /// What the request must be like, or the call fails.
    pub expect: Option<Expectation>,
    /// How fast it streams.
    pub pace: Pace,
    /// What it says.
    pub parts: Vec<Part>,
    /// Why it ends; follows from the content unless set.
    pub stop_reason: Option<StopReason>,
    /// Tokens; estimated unless set.
    pub usage: Option<Usage>,
    /// What goes wrong.
    pub fault: Option<Fault>,
}

/// A block of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// Thinking.
    Thinking(String),
    /// A tool call.
    Call {
        /// Its id; made up unless set.
        id: Option<String>,
        /// The tool.
        name: String,
        /// The raw argument text, which need not be JSON.
        arguments: String,
    },
}

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// After that many deltas; before the first event unless set.
    pub after_deltas: Option<u64>,
    /// How often in a session; for ever unless set.
    pub times: Option<u32>,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// The server answers with an error.
    Error(Failure),
    /// The connection ends.
    Disconnect,
    /// Nothing arrives any more.
    Stall,
    /// The worker panics.
    Panic(String),
}

impl Script {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read or a field is not as it should be.
    pub fn from_file(file: &Path) -> Result<Self, DocumentError> {
        let text = regular_file::read_to_string(file).map_err(|error| DocumentError {
            file: file.to_owned(),
            line: 1,
            column: 1,
            field: String::new(),
            message: format!("cannot be read: {error}"),
        })?;
        let document = Document::parse(file, text, Syntax::Comments)?;
        read(&document.root()).map_err(|fault| document.locate(&fault))
    }

    /// Reads a value.
    ///
    /// # Errors
    /// A field is not as it should be.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        read(&Field::of(value)).map_err(|fault| fault.describe())
    }
}

fn read(root: &Field<'_>) -> Result<Script, FieldFault> {
    let object = root.object()?;
    object.only(&["$schema", "model", "pace", "scenes", "select", "end", "turns"])?;
    let pace = object.read("pace", |field| read_pace(field, Pace::default()))?.unwrap_or_default();
    let mut scenes = Vec::new();
    for field in object.read("scenes", Field::items)?.unwrap_or_default() {
        let scene = field.object()?;
        scene.only(&["when", "select", "end", "turns"])?;
        scenes.push(read_scene(&scene, Some(Expectation::read(&scene.require("when", "a condition")?)?), pace)?);
    }
    scenes.push(read_scene(&object, None, pace)?);
    let model = object.get("model");
    if let Some(field) = &model {
        for plain in builtin::inside() {
            models_json::override_with(&plain, &field.object()?)?;
        }
    }
    Ok(Script { model: model.map(|field| field.value().clone()), scenes })
}

fn read_scene(object: &Object<'_>, when: Option<Expectation>, pace: Pace) -> Result<Scene, FieldFault> {
    let list = object.require("turns", "a list of turns")?;
    let turns = list.items()?.iter().map(|field| read_turn(field, pace)).collect::<Result<Vec<_>, _>>()?;
    if turns.is_empty() {
        return Err(list.fault("expected at least one turn"));
    }
    let select = object.read("select", |field| field.one_of(&["history", "calls"]))?;
    let end = object.read("end", |field| field.one_of(&["fail", "repeat", "loop"]))?;
    Ok(Scene {
        when,
        select: if select == Some("calls") { Select::Calls } else { Select::History },
        end: match end {
            Some("repeat") => End::Repeat,
            Some("loop") => End::Loop,
            _ => End::Fail,
        },
        turns,
    })
}

fn read_turn(field: &Field<'_>, pace: Pace) -> Result<Turn, FieldFault> {
    if let Some(text) = field.value().as_str() {
        return Ok(Turn { pace, parts: vec![Part::Text(text.to_owned())], ..Turn::default() });
    }
    let object = field.object().map_err(|_| field.expected("a turn: a text or an object"))?;
    object.only(&["expect", "pace", "thinking", "text", "calls", "content", "stopReason", "usage", "fault"])?;
    let mut parts = Vec::new();
    parts.extend(object.read("thinking", long_text)?.map(Part::Thinking));
    parts.extend(object.read("text", long_text)?.map(Part::Text));
    for call in object.read("calls", Field::items)?.unwrap_or_default() {
        parts.push(read_call(&call)?);
    }
    if let Some(content) = object.get("content") {
        if !parts.is_empty() {
            return Err(content.fault("expected either content or thinking, text and calls, found both"));
        }
        parts = content.items()?.iter().map(read_part).collect::<Result<_, _>>()?;
    }
    Ok(Turn {
        expect: object.read("expect", Expectation::read)?,
        pace: object.read("pace", |field| read_pace(field, pace))?.unwrap_or(pace),
        parts,
        stop_reason: object.read("stopReason", read_stop_reason)?,
        usage: object.read("usage", read_usage)?,
        fault: object.read("fault", read_fault)?,
    })
}

fn read_part(field: &Field<'_>) -> Result<Part, FieldFault> {
    let object = field.object()?;
    object.only(&["text", "thinking", "call"])?;
    let text = object.read("text", long_text)?.map(Part::Text);
    let thinking = object.read("thinking", long_text)?.map(Part::Thinking);
    let call = object.read("call", read_call)?;
    let mut given = [text, thinking, call].into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(part), None) => Ok(part),
        _ => Err(field.fault("expected exactly one of text, thinking, call")),
    }
}

/// A text, or a piece that is repeated.
fn long_text(field: &Field<'_>) -> Result<String, FieldFault> {
    if let Some(text) = field.value().as_str() {
        return Ok(text.to_owned());
    }
    let object = field.object().map_err(|_| field.expected("a text or {\"repeat\": TEXT, \"times\": NUMBER}"))?;
    object.only(&["repeat", "times"])?;
    let piece = object.require("repeat", "the text to repeat")?.text()?;
    let times = object.require("times", "how often")?;
    let number = times.whole()?;
    let room = LONGEST_TEXT.checked_div(piece.len()).unwrap_or(LONGEST_TEXT);
    match usize::try_from(number) {
        Ok(number) if number <= room => Ok(piece.repeat(number)),
        _ => Err(times.expected(&format!("at most {room} (a text of {} MiB)", LONGEST_TEXT >> 20))),
    }
}

fn read_call(field: &Field<'_>) -> Result<Part, FieldFault> {
    let object = field.object()?;
    object.only(&["id", "name", "arguments"])?;
    let arguments = object.read("arguments", |field| match field.value() {
        Value::String(raw) => Ok(raw.clone()),
        value @ Value::Object(_) => Ok(value.to_string()),
        _ => Err(field.expected("an object, or a text that is sent as it is")),
    })?;
    Ok(Part::Call {
        id: object.read("id", Field::text)?.map(str::to_owned),
        name: object.require("name", "the tool's name")?.text()?.to_owned(),
        arguments: arguments.unwrap_or_else(|| "{}".to_owned()),
    })
}

fn read_pace(field: &Field<'_>, base: Pace) -> Result<Pace, FieldFault> {
    let object = field.object()?;
    object.only(&["delayMs", "deltaDelayMs", "deltas", "deltaChars", "batch"])?;
    let time = |key, base| object.read(key, Field::whole).map(|ms| ms.map_or(base, Duration::from_millis));
    let count = |key| {
        object.read(key, |field| match field.whole()? {
            0 => Err(field.expected("a number above zero")),
            number => Ok(usize::try_from(number).unwrap_or(usize::MAX)),
        })
    };
    let cut = match (count("deltas")?, count("deltaChars")?) {
        (Some(_), Some(_)) => return Err(object.fault("expected one of deltas and deltaChars, found both")),
        (Some(deltas), None) => Cut::Count(deltas),
        (None, Some(chars)) => Cut::Chars(chars),
        (None, None) => base.cut,
    };
    Ok(Pace {
        delay: time("delayMs", base.delay)?,
        delta_delay: time("deltaDelayMs", base.delta_delay)?,
        cut,
        batch: count("batch")?.unwrap_or(base.batch),
    })
}

fn read_stop_reason(field: &Field<'_>) -> Result<StopReason, FieldFault> {
    Ok(match field.one_of(&["stop", "length", "toolUse"])? {
        "length" => StopReason::Length,
        "toolUse" => StopReason::ToolUse,
        _ => StopReason::Stop,
    })
}

fn read_usage(field: &Field<'_>) -> Result<Usage, FieldFault> {
    let object = field.object()?;
    object.only(&["input", "output", "cacheRead", "cacheWrite", "reasoning", "cost"])?;
    let tokens = |key| object.read(key, Field::whole);
    let mut usage = Usage {
        input: tokens("input")?.unwrap_or(0),
        output: tokens("output")?.unwrap_or(0),
        cache_read: tokens("cacheRead")?.unwrap_or(0),
        cache_write: tokens("cacheWrite")?.unwrap_or(0),
        reasoning: tokens("reasoning")?,
        ..Usage::default()
    };
    if let Some(dollars) = object.read("cost", Field::number)? {
        usage.cost.total = dollars;
        usage.cost.total_from_provider = Some(true);
    }
    Ok(usage.summed())
}

fn read_fault(field: &Field<'_>) -> Result<Fault, FieldFault> {
    let object = field.object()?;
    let common = ["kind", "afterDeltas", "times"];
    let kind = object.require("kind", "one of error, disconnect, stall, panic")?;
    let kind = match kind.one_of(&["error", "disconnect", "stall", "panic"])? {
        "error" => {
            object.only(&[
                "kind",
                "afterDeltas",
                "times",
                "class",
                "status",
                "message",
                "retryAfterMs",
                "retryable",
            ])?;
            FaultKind::Error(read_failure(&object)?)
        }
        "panic" => {
            object.only(&["kind", "afterDeltas", "times", "message"])?;
            let message = object.read("message", Field::text)?.unwrap_or("the script says: panic");
            FaultKind::Panic(message.to_owned())
        }
        "stall" => {
            object.only(&common)?;
            FaultKind::Stall
        }
        _ => {
            object.only(&common)?;
            FaultKind::Disconnect
        }
    };
    let times = object.read("times", Field::whole)?.map(|times| u32::try_from(times).unwrap_or(u32::MAX));
    Ok(Fault { kind, after_deltas: object.read("afterDeltas", Field::whole)?, times })
}

fn read_failure(object: &Object<'_>) -> Result<Failure, FieldFault> {
    let class = object.require("class", "a class such as overloaded")?;
    let parsed: FailureClass = serde_json::from_value(class.value().clone())
        .map_err(|_| class.expected("a failure class such as overloaded, rate_limited, server_error or auth"))?;
    let message = object.read("message", Field::text)?.unwrap_or("the script says so");
    let mut failure = Failure::new(parsed, message);
    failure.status =
        object.read("status", |field| u16::try_from(field.whole()?).map_err(|_| field.expected("an HTTP status")))?;
    failure.retry_after_ms = object.read("retryAfterMs", Field::whole)?;
    failure.retryable = object.read("retryable", Field::flag)?.unwrap_or(failure.retryable);
    Ok(failure)
}
