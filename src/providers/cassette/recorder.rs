//! Writes the exchanges of a run into a cassette.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::{
    Url,
    header::{HeaderMap, HeaderValue},
};
use serde_json::Value;
use tokio::time::Instant;

use super::{
    CassetteError, access,
    format::{Answered, Asked, Chunk, End, Header, Record, VERSION},
    secrets::{BodyCleaner, Secrets},
};
use crate::{
    protocol::{
        Failure,
        time::{iso, now_ms},
    },
    providers::{Request, errors::aborted, http::USER_AGENT, wire_api::Outgoing},
    store::regular_file,
};

/// Folders by their role: `cwd`, `home`, `user`. They stand in prompts and differ on the machine that replays.
pub type Places = BTreeMap<String, String>;

/// Writes a cassette. Clones write the same one.
#[derive(Clone)]
pub struct Recorder(Arc<Shared>);

struct Shared {
    path: PathBuf,
    tape: Mutex<Tape>,
}

struct Tape {
    file: File,
    secrets: Secrets,
    /// Descriptions of models that are in the file.
    models: Vec<Value>,
    exchanges: u64,
    /// Why nothing more is written.
    problem: Option<String>,
}

impl Recorder {
    /// Begins a cassette at `path`, readable by its owner alone. `secrets` are taken out of everything that is
    /// written, and so are those of each request.
    ///
    /// # Errors
    /// Something that is not empty is there already, or the file cannot be made.
    pub fn create(path: &Path, places: Places, secrets: Secrets) -> Result<Self, CassetteError> {
        let io = |source| CassetteError::Write { path: path.to_owned(), source };
        let mut new = OpenOptions::new();
        let file = match regular_file::open(path, new.append(true).create_new(true).mode(0o600)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let file = regular_file::open(path, OpenOptions::new().append(true)).map_err(io)?;
                if file.metadata().map_err(io)?.len() > 0 {
                    return Err(CassetteError::Exists { path: path.to_owned() });
                }
                file.set_permissions(Permissions::from_mode(0o600)).map_err(io)?;
                file
            }
            opened => opened.map_err(io)?,
        };
        let mut tape = Tape { file, secrets, models: Vec::new(), exchanges: 0, problem: None };
        let header = Header { version: VERSION, program: USER_AGENT.to_owned(), created: iso(now_ms()), places };
        tape.append(&Record::Cassette(header)).map_err(io)?;
        Ok(Self(Arc::new(Shared { path: path.to_owned(), tape: Mutex::new(tape) })))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// How many exchanges were begun.
    #[must_use]
    pub fn exchanges(&self) -> u64 {
        self.tape().exchanges
    }

    /// Why the cassette is not complete; none when it is.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        self.tape().problem.clone()
    }

    /// Begins an exchange.
    pub(in crate::providers) fn begin(&self, api: &str, request: &Request, url: &Url, outgoing: &Outgoing) -> Take {
        let mut tape = self.tape();
        let headers = outgoing.headers.clone().into_map();
        tape.secrets.learn_request(request, url, &headers);
        tape.exchanges += 1;
        let exchange = tape.exchanges;
        tape.describe(request);
        let body = serde_json::from_slice(&outgoing.body);
        let mut body: Value = body.unwrap_or_else(|_| String::from_utf8_lossy(&outgoing.body).into());
        tape.secrets.clean_value(&mut body);
        let asked = Asked {
            exchange,
            at: iso(now_ms()),
            session: request.session_id.clone(),
            api: api.to_owned(),
            provider: request.model.provider.clone(),
            model: request.model.id.clone(),
            thinking: request.thinking,
            access: access::kind(request),
            variables: access::variables(&request.environment),
            method: "POST".to_owned(),
            url: tape.secrets.clean_url(url),
            headers: tape.secrets.clean_asked(&headers),
            body,
        };
        tape.write(&Record::Request(Box::new(asked)));
        let cleaner = BodyCleaner::default();
        Take { recorder: self.clone(), exchange, began: Instant::now(), cleaner, over: false }
    }

    fn tape(&self) -> MutexGuard<'_, Tape> {
        self.0.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tape {
    /// Describes the model of a request, once.
    fn describe(&mut self, request: &Request) {
        let Ok(mut model) = serde_json::to_value(&*request.model) else { return };
        self.secrets.clean_model(&mut model);
        if self.models.contains(&model) {
            return;
        }
        if let Ok(clean) = serde_json::from_value(model.clone()) {
            self.write(&Record::Model { model: Box::new(clean) });
            self.models.push(model);
        }
    }

    /// Writes a line. A disk that is full must not end the run: the first failure ends the recording instead.
    fn write(&mut self, record: &Record) {
        if self.problem.is_none()
            && let Err(error) = self.append(record)
        {
            tracing::warn!(%error, "the cassette cannot be written");
            self.problem = Some(error.to_string());
        }
    }

    fn write_chunk(&mut self, exchange: u64, ms: u64, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let (text, base64) = match String::from_utf8(bytes) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(STANDARD.encode(error.as_bytes()))),
        };
        self.write(&Record::Chunk(Chunk { exchange, ms, text, base64 }));
    }

    fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

/// An exchange that is being recorded. One that is dropped before its end was aborted.
pub(in crate::providers) struct Take {
    recorder: Recorder,
    exchange: u64,
    began: Instant,
    cleaner: BodyCleaner,
    over: bool,
}

impl Take {
    /// The answer has begun.
    pub fn answered(&mut self, status: u16, headers: &HeaderMap<HeaderValue>) {
        let mut tape = self.recorder.tape();
        let headers = tape.secrets.clean_answered(headers);
        tape.write(&Record::Response(Answered { exchange: self.exchange, ms: self.elapsed(), status, headers }));
    }

    /// A piece of the body has come.
    pub fn chunk(&mut self, bytes: &[u8]) {
        let mut tape = self.recorder.tape();
        let bytes = self.cleaner.push(&tape.secrets, bytes);
        tape.write_chunk(self.exchange, self.elapsed(), bytes);
    }

    /// Nothing more is read: because of a fault, or because all has come that was wanted. The first word counts.
    pub fn end(&mut self, fault: Option<&Failure>) {
        if self.over {
            return;
        }
        self.over = true;
        let mut tape = self.recorder.tape();
        let rest = self.cleaner.finish();
        tape.write_chunk(self.exchange, self.elapsed(), rest);
        let fault = fault.map(|fault| Failure { message: tape.secrets.clean(&fault.message), ..fault.clone() });
        tape.write(&Record::End(End { exchange: self.exchange, ms: self.elapsed(), fault }));
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Drop for Take {
    fn drop(&mut self) {
        self.end(Some(&aborted()));
    }
}
