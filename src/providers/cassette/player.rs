//! Plays a cassette: finds the exchange that answers a request, and gives its bytes.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    Cassette, Places, Secrets, access,
    difference::{self, Difference},
    tape::{Answer, Exchange, normal},
};
use crate::{
    protocol::{Content, Failure, FailureClass, Message, message::text_of},
    providers::{Request, wire_api::Outgoing},
};

/// Characters of a message that an error shows.
const SHOWN: usize = 60;

/// How fast a cassette is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Without waiting.
    #[default]
    Full,
    /// Every piece as long after the request as it came then.
    Recorded,
}

/// How a cassette is played.
pub struct Replay {
    /// How fast.
    pub pace: Pace,
    /// A request that differs from the recorded one fails; otherwise the recorded answer is played and a notice says so.
    pub strict: bool,
    /// Where this run's folders are.
    pub places: Places,
    /// What was taken out when it was recorded, as far as it is known here: it must not count as a difference.
    pub secrets: Secrets,
    /// Takes notices for people.
    pub notice: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Plays a cassette. Clones play the same one: each exchange is played once.
#[derive(Clone)]
pub struct Player(Arc<Shared>);

struct Shared {
    cassette: Cassette,
    replay: Replay,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Which exchanges were played, by place.
    played: Vec<bool>,
    requests: usize,
    differing: usize,
    /// The recorded session that a session of this run follows: agents with the same model do not mix.
    follows: HashMap<String, String>,
}

/// How much of a cassette was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    /// Exchanges of the cassette.
    pub exchanges: usize,
    /// Those of them that were played.
    pub played: usize,
    /// Requests that differed from what was recorded.
    pub differing: usize,
}

impl Player {
    /// Plays a cassette from its beginning.
    #[must_use]
    pub fn new(cassette: Cassette, replay: Replay) -> Self {
        if cassette.is_torn() {
            (replay.notice)(&format!(
                "The cassette {} ends within a line: the recording was cut off there.",
                cassette.path().display()
            ));
        }
        let state = State { played: vec![false; cassette.exchanges.len()], ..State::default() };
        Self(Arc::new(Shared { cassette, replay, state: Mutex::new(state) }))
    }

    /// What is played.
    #[must_use]
    pub fn cassette(&self) -> &Cassette {
        &self.0.cassette
    }

    /// How much was played so far.
    #[must_use]
    pub fn played(&self) -> Played {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        Played {
            exchanges: state.played.len(),
            played: state.played.iter().filter(|played| **played).count(),
            differing: state.differing,
        }
    }

    /// Gives a request what it needs to be written as the recorded one was; its own keys are dropped.
    pub(in crate::providers) fn prepare(&self, request: &mut Request) {
        let name = request.model.reference();
        if let Some(exchange) = self.0.cassette.exchanges.iter().find(|exchange| exchange.model == name) {
            access::pretend(request, exchange.access, &exchange.variables);
        }
    }

    /// Sends a request: the recorded answer, which begins when it began.
    pub(in crate::providers) async fn send(&self, request: &Request, outgoing: &Outgoing) -> Result<Playback, Failure> {
        let exchange = self.choose(request, outgoing)?;
        let clock = Clock { began: Instant::now(), pace: self.0.replay.pace };
        let Some(Answer { ms, status, headers }) = &exchange.answer else {
            let Some(end) = &exchange.end else { return Err(self.cut(&exchange)) };
            clock.reach(end.ms).await;
            return Err(end.fault.clone().unwrap_or_else(|| self.cut(&exchange)));
        };
        clock.reach(*ms).await;
        Ok(Playback { status: *status, headers: headers.clone(), exchange, next: 0, clock })
    }

    /// Waits before another try of the same request.
    pub(in crate::providers) async fn pause(&self, wait: Duration) {
        if self.0.replay.pace == Pace::Recorded {
            sleep(wait).await;
        }
    }

    /// The exchange that answers a request: the first unplayed one that was asked the same, else the first unplayed one
    /// with the same model; among equals, one of the session that this session has followed so far.
    fn choose(&self, request: &Request, outgoing: &Outgoing) -> Result<Arc<Exchange>, Failure> {
        let Shared { cassette, replay, state } = &*self.0;
        let name = request.model.reference();
        let asked = self.normal(request, outgoing);
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests += 1;
        let follows = request.session_id.as_ref().and_then(|session| state.follows.get(session));
        let rank = |exchange: &Exchange| match &exchange.session {
            Some(session) if Some(session) == follows => 0,
            Some(session) if state.follows.values().any(|taken| taken == session) => 2,
            _ => 1,
        };
        let unplayed = cassette.exchanges.iter().enumerate();
        let unplayed = unplayed.filter(|(place, exchange)| !state.played[*place] && exchange.model == name);
        let best = unplayed.min_by_key(|(place, exchange)| (exchange.asked != asked, rank(exchange), *place));
        let Some((place, exchange)) = best else { return Err(self.exhausted(request, state.requests)) };
        let difference = difference::first(&exchange.asked, &asked);
        if let Some(difference) = &difference {
            state.differing += 1;
            let text = self.diverged(exchange, state.requests, difference);
            if replay.strict {
                return Err(refused(text));
            }
            (replay.notice)(&format!("{text}. The recorded answer is played all the same."));
        }
        if exchange.end.is_none() {
            (replay.notice)(&format!(
                "Exchange {} of the cassette {} was cut off when it was recorded: the replay ends where the recording does.",
                exchange.number,
                cassette.path().display()
            ));
        }
        state.played[place] = true;
        if let (Some(session), Some(recorded)) = (&request.session_id, &exchange.session) {
            state.follows.entry(session.clone()).or_insert_with(|| recorded.clone());
        }
        Ok(exchange.clone())
    }

    fn normal(&self, request: &Request, outgoing: &Outgoing) -> Value {
        let body = serde_json::from_slice(&outgoing.body);
        let mut body: Value = body.unwrap_or_else(|_| String::from_utf8_lossy(&outgoing.body).into());
        self.0.replay.secrets.clean_value(&mut body);
        normal(&self.0.replay.places, request.session_id.as_deref(), body)
    }

    fn diverged(&self, exchange: &Exchange, request: usize, difference: &Difference) -> String {
        format!(
            "The run diverges from the cassette {}: request {request} is not what exchange {} ({}) was asked. First \
             difference at {difference}",
            self.0.cassette.path().display(),
            exchange.number,
            exchange.model,
        )
    }

    fn exhausted(&self, request: &Request, number: usize) -> Failure {
        let cassette = &self.0.cassette;
        let name = request.model.reference();
        let count = cassette.exchanges.iter().filter(|exchange| exchange.model == name).count();
        let what = match count {
            0 => {
                let known: Vec<_> = cassette.models().iter().map(|model| model.reference().to_string()).collect();
                format!("has no exchange with {name}; it was recorded with {}", known.join(", "))
            }
            1 => format!("has one exchange with {name}, which is played already"),
            _ => format!("has {count} exchanges with {name}, all of them played already"),
        };
        refused(format!("The cassette {} {what}. Request {number} {}", cassette.path().display(), describe(request)))
    }

    /// The failure of an exchange whose recording ends before its answer.
    fn cut(&self, exchange: &Exchange) -> Failure {
        let text = format!(
            "The recording in {} was cut off before exchange {} was answered",
            self.0.cassette.path().display(),
            exchange.number
        );
        Failure::new(FailureClass::StreamTruncated, text)
    }
}

/// A failure that no other try will mend.
fn refused(text: String) -> Failure {
    Failure::new(FailureClass::InvalidRequest, text)
}

/// A request in a few words.
fn describe(request: &Request) -> String {
    let (who, text) = match request.messages.last() {
        None => return "has no message".to_owned(),
        Some(Message::User(user)) => match &user.content {
            Content::Text(text) => ("the user", text.clone()),
            Content::Blocks(blocks) => ("the user", text_of(blocks, " ")),
        },
        Some(Message::ToolResult(result)) => ("a tool", text_of(&result.content, " ")),
        Some(Message::Assistant(answer)) => ("the model", text_of(&answer.content, " ")),
        Some(Message::System(_)) => ("the system", String::new()),
    };
    let last = request.messages.len();
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SHOWN).collect();
    format!("ends with message {last}, from {who}: \"{line}\"")
}

/// The time of an exchange.
struct Clock {
    began: Instant,
    pace: Pace,
}

impl Clock {
    /// Waits until so many milliseconds have passed since the request.
    async fn reach(&self, ms: u64) {
        if self.pace == Pace::Recorded {
            sleep_until(self.began + Duration::from_millis(ms)).await;
        }
    }
}

/// An exchange that is being played.
pub(in crate::providers) struct Playback {
    /// The status of the answer.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    exchange: Arc<Exchange>,
    next: usize,
    clock: Clock,
}

impl Playback {
    /// The next piece of the body; none at its end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// The recorded fault of the transport.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        if let Some(piece) = self.exchange.chunks.get(self.next) {
            self.clock.reach(piece.ms).await;
            self.next += 1;
            return Ok(Some(piece.bytes.clone()));
        }
        // A recording that was cut off ends as a connection does that closes too early.
        let Some(end) = &self.exchange.end else { return Ok(None) };
        self.clock.reach(end.ms).await;
        end.fault.clone().map_or(Ok(None), Err)
    }
}
