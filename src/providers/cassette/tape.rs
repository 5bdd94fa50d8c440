//! Reads a cassette.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Map, Value};

use super::{
    CassetteError, Places,
    format::{Access, Answered, Asked, Chunk, Header, Record, VERSION},
    normal::Normal,
};
use crate::{
    protocol::{Failure, Model, ModelRef, ThinkingLevel},
    store::regular_file,
};

/// A cassette in memory.
#[derive(Debug)]
pub struct Cassette {
    path: PathBuf,
    models: Vec<Arc<Model>>,
    pub(super) exchanges: Vec<Arc<Exchange>>,
    torn: bool,
}

/// A recorded exchange.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Its number in the file, from 1.
    pub number: u64,
    pub model: ModelRef,
    pub thinking: ThinkingLevel,
    pub session: Option<String>,
    pub access: Access,
    pub variables: BTreeMap<String, String>,
    /// What was asked, without what differs from run to run.
    pub asked: Value,
    pub answer: Option<Answer>,
    pub chunks: Vec<Piece>,
    /// None when the recording was cut before the end.
    pub end: Option<Ending>,
}

/// The head of a recorded answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub ms: u64,
    pub status: StatusCode,
    pub headers: HeaderMap,
}

/// A piece of a recorded body.
#[derive(Debug)]
pub(super) struct Piece {
    pub ms: u64,
    pub bytes: Bytes,
}

/// How a recorded exchange ended.
#[derive(Debug)]
pub(super) struct Ending {
    pub ms: u64,
    pub fault: Option<Failure>,
}

impl Cassette {
    /// Reads a file. A last line that was cut off counts for nothing; so do kinds of lines that are not known.
    ///
    /// # Errors
    /// The file cannot be read, is no cassette, is of a later version, holds no exchange, or has a line that makes no
    /// sense; the text names the file and the line.
    pub fn read(path: &Path) -> Result<Self, CassetteError> {
        let bytes = regular_file::read(path).map_err(|source| CassetteError::Read { path: path.to_owned(), source })?;
        Self::parse(path, &bytes)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, CassetteError> {
        let whole = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        let mut lines = bytes[..whole].split(|byte| *byte == b'\n').enumerate();
        let first = lines.next().map_or(&[][..], |(_, line)| line);
        let Ok(Record::Cassette(header)) = serde_json::from_slice(first) else {
            return Err(CassetteError::Foreign { path: path.to_owned() });
        };
        if header.version > VERSION {
            return Err(CassetteError::Newer { path: path.to_owned(), version: header.version });
        }
        let mut reader = Reader { header, models: Vec::new(), exchanges: Vec::new(), places: HashMap::new() };
        for (index, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
            let read = serde_json::from_slice(line).map_err(|error| error.to_string());
            read.and_then(|record| reader.take(record)).map_err(|fault| CassetteError::Line {
                path: path.to_owned(),
                line: index + 1,
                fault,
            })?;
        }
        if reader.exchanges.is_empty() {
            return Err(CassetteError::Empty { path: path.to_owned() });
        }
        let exchanges = reader.exchanges.into_iter().map(Arc::new).collect();
        Ok(Self { path: path.to_owned(), models: reader.models, exchanges, torn: whole < bytes.len() })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The models that were talked to, in order, as they were described then.
    #[must_use]
    pub fn models(&self) -> &[Arc<Model>] {
        &self.models
    }

    /// The description of a model; none when no exchange is with it.
    #[must_use]
    pub fn model(&self, name: &ModelRef) -> Option<&Arc<Model>> {
        self.models.iter().find(|model| model.reference() == *name)
    }

    /// The model and the thinking level of the first exchange.
    #[must_use]
    pub fn start(&self) -> Option<(Arc<Model>, ThinkingLevel)> {
        let first = self.exchanges.first()?;
        Some((self.model(&first.model)?.clone(), first.thinking))
    }

    /// Whether the file ends within a line: whatever wrote it was killed.
    #[must_use]
    pub fn is_torn(&self) -> bool {
        self.torn
    }
}

/// Puts the lines together.
struct Reader {
    header: Header,
    models: Vec<Arc<Model>>,
    exchanges: Vec<Exchange>,
    /// Where an exchange is, by number.
    places: HashMap<u64, usize>,
}

impl Reader {
    fn take(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Cassette(_) => return Err("a second beginning: two cassettes in one file".to_owned()),
            Record::Unknown => {}
            // Two descriptions of one model differ in little (an address that moved): the first is as good as any.
            Record::Model { model } if self.models.iter().any(|known| known.reference() == model.reference()) => {}
            Record::Model { model } => self.models.push(Arc::new(*model)),
            Record::Request(asked) => self.begin(*asked)?,
            Record::Response(answered) => {
                let exchange = self.exchange(answered.exchange)?;
                exchange.answer = Some(answer(answered)?);
            }
            Record::Chunk(chunk) => {
                let exchange = self.exchange(chunk.exchange)?;
                exchange.chunks.push(piece(chunk)?);
            }
            Record::End(end) => {
                self.exchange(end.exchange)?.end = Some(Ending { ms: end.ms, fault: end.fault });
            }
        }
        Ok(())
    }

    fn begin(&mut self, asked: Asked) -> Result<(), String> {
        let model = ModelRef { provider: asked.provider, model_id: asked.model };
        if !self.models.iter().any(|known| known.reference() == model) {
            return Err(format!("an exchange with {model}, which no line before it describes"));
        }
        if self.places.insert(asked.exchange, self.exchanges.len()).is_some() {
            return Err(format!("exchange {} begins twice", asked.exchange));
        }
        let normal = normal(&self.header.places, asked.session.as_deref(), asked.body);
        self.exchanges.push(Exchange {
            number: asked.exchange,
            model,
            thinking: asked.thinking,
            session: asked.session,
            access: asked.access,
            variables: asked.variables,
            asked: normal,
            answer: None,
            chunks: Vec::new(),
            end: None,
        });
        Ok(())
    }

    fn exchange(&mut self, number: u64) -> Result<&mut Exchange, String> {
        let place = self.places.get(&number).ok_or_else(|| format!("exchange {number} has not begun"))?;
        Ok(&mut self.exchanges[*place])
    }
}

/// What a body asks, wherever it was written.
pub(super) fn normal(places: &Places, session: Option<&str>, body: Value) -> Value {
    Normal::new(places, session).of(body)
}

fn answer(answered: Answered) -> Result<Answer, String> {
    let status = StatusCode::from_u16(answered.status).map_err(|_| format!("no HTTP status: {}", answered.status))?;
    Ok(Answer { ms: answered.ms, status, headers: headers(&answered.headers)? })
}

fn headers(map: &Map<String, Value>) -> Result<HeaderMap, String> {
    let header = |(name, value): (&String, &Value)| {
        let value = HeaderValue::from_str(value.as_str()?).ok()?;
        Some((HeaderName::try_from(name.as_str()).ok()?, value))
    };
    map.iter().map(|pair| header(pair).ok_or_else(|| format!("the header {} cannot be one", pair.0))).collect()
}

fn piece(chunk: Chunk) -> Result<Piece, String> {
    let bytes = match (chunk.text, chunk.base64) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(text)) => STANDARD.decode(text).map_err(|error| format!("base64: {error}"))?,
        _ => return Err("a chunk has either text or base64".to_owned()),
    };
    Ok(Piece { ms: chunk.ms, bytes: bytes.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"type":"cassette","version":1,"program":"p","created":"c"}"#;
    const MODEL: &str = r#"{"type":"model","model":{"id":"m","name":"M","api":"openai-completions","provider":"p","baseUrl":"http://h","reasoning":false,"input":["text"],"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":1,"maxTokens":1}}"#;
    const ASKED: &str = r#"{"type":"request","exchange":1,"at":"t","api":"openai-completions","provider":"p","model":"m","thinking":"low","method":"POST","url":"http://h","headers":{},"body":{"a":1}}"#;

    fn parse(lines: &[&str], tail: &str) -> Result<Cassette, String> {
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>() + tail;
        Cassette::parse(Path::new("c.jsonl"), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_torn_tail_and_unknown_lines_cost_only_themselves() {
        let later = r#"{"type":"mood","of":{"the":["day"]}}"#;
        let chunk = r#"{"type":"chunk","exchange":1,"ms":5,"text":"a"}"#;
        let cassette = parse(&[HEAD, MODEL, later, "", ASKED, chunk], r#"{"type":"chunk","exch"#).unwrap();
        assert!(cassette.is_torn());
        let exchange = &cassette.exchanges[0];
        assert_eq!((exchange.chunks.len(), exchange.answer.is_none(), exchange.end.is_none()), (1, true, true));
        let (model, thinking) = cassette.start().unwrap();
        assert_eq!((model.name.as_str(), thinking), ("M", ThinkingLevel::Low));
        assert!(!parse(&[HEAD, MODEL, ASKED], "").unwrap().is_torn());
    }

    #[test]
    fn what_is_no_cassette_is_refused_with_the_place() {
        let newer = HEAD.replace("\"version\":1", "\"version\":9");
        let table: &[(&[&str], &str)] = &[
            (&[], "c.jsonl is no cassette"),
            (&[r#"{"type":"session","version":3}"#], "c.jsonl is no cassette"),
            (&["hello"], "c.jsonl is no cassette"),
            (&[&newer], "has version 9 of the format, this program reads up to 1"),
            (&[HEAD], "holds no exchange"),
            (&[HEAD, "", "{"], "line 3: EOF while parsing"),
            (&[HEAD, ASKED], "line 2: an exchange with p/m, which no line before it describes"),
            (&[HEAD, MODEL, ASKED, ASKED], "line 4: exchange 1 begins twice"),
            (&[HEAD, MODEL, ASKED, HEAD], "line 4: a second beginning"),
            (&[HEAD, r#"{"type":"end","exchange":7,"ms":1}"#], "line 2: exchange 7 has not begun"),
            (&[HEAD, MODEL, ASKED, r#"{"type":"chunk","exchange":1,"ms":1}"#], "line 4: a chunk has either text or"),
            (&[HEAD, MODEL, ASKED, r#"{"type":"chunk","exchange":1,"ms":1,"base64":"?"}"#], "line 4: base64: "),
            (
                &[HEAD, MODEL, ASKED, r#"{"type":"response","exchange":1,"ms":1,"status":7,"headers":{}}"#],
                "line 4: no HTTP",
            ),
        ];
        for (lines, expected) in table {
            let error = parse(lines, "").unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
