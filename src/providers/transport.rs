//! What carries requests to providers and answers back: the network, with or without a recorder, or a cassette.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{Client, Response, StatusCode, Url, header::HeaderMap};
use tokio::time::{sleep, timeout};

use super::{
    Request,
    cassette::{Playback, Player, Recorder, Take},
    errors::request_id,
    http::{client_for, may_be_stale, read_failure, seconds, send_failure, shown},
    wire_api::Outgoing,
};
use crate::protocol::{Failure, FailureClass};

/// What carries requests.
#[derive(Clone, Default)]
pub enum Transport {
    /// The network.
    #[default]
    Network,
    /// The network, and everything is kept in a cassette.
    Recorded(Recorder),
    /// A cassette alone. No connection is made.
    Replayed(Player),
}

/// A way to one server.
pub(super) enum Line<'a> {
    Network { client: Client, recorder: Option<&'a Recorder> },
    Cassette(&'a Player),
}

impl Transport {
    /// Changes what a request needs to be carried.
    pub(super) fn prepare(&self, request: &mut Request) {
        if let Self::Replayed(player) = self {
            player.prepare(request);
        }
    }

    /// A way to the server of a URL.
    pub(super) fn line(&self, url: &Url, connect: Option<Duration>) -> Result<Line<'_>, Failure> {
        let recorder = match self {
            Self::Network => None,
            Self::Recorded(recorder) => Some(recorder),
            Self::Replayed(player) => return Ok(Line::Cassette(player)),
        };
        Ok(Line::Network { client: client_for(url, connect)?, recorder })
    }
}

impl Line<'_> {
    /// Sends a request and waits for the head of the answer.
    pub(super) async fn send(
        &self,
        api: &str,
        url: &Url,
        outgoing: &Outgoing,
        request: &Request,
    ) -> Result<Answer, Failure> {
        match self {
            Self::Cassette(player) => {
                let mut playback = player.send(request, outgoing).await?;
                let headers = std::mem::take(&mut playback.headers);
                Ok(Answer { status: playback.status, headers, url: url.clone(), body: Body::Cassette(playback) })
            }
            Self::Network { client, recorder } => {
                let mut take = recorder.map(|recorder| recorder.begin(api, request, url, outgoing));
                let sent = send(client, url, outgoing, request).await;
                if let Some(take) = &mut take {
                    match &sent {
                        Ok(response) => take.answered(response.status().as_u16(), response.headers()),
                        Err(failure) => take.end(Some(failure)),
                    }
                }
                let mut response = sent?;
                Ok(Answer {
                    status: response.status(),
                    headers: std::mem::take(response.headers_mut()),
                    url: response.url().clone(),
                    body: Body::Network { response, take },
                })
            }
        }
    }

    /// Waits before another try.
    pub(super) async fn pause(&self, wait: Duration) {
        match self {
            Self::Network { .. } => sleep(wait).await,
            Self::Cassette(player) => player.pause(wait).await,
        }
    }
}

/// Sends once, and once more when the connection turned out to be dead before anything was answered.
async fn send(client: &Client, url: &Url, outgoing: &Outgoing, request: &Request) -> Result<Response, Failure> {
    let limits = request.timeouts;
    let headers = outgoing.headers.clone().into_map();
    let mut fresh = false;
    loop {
        let sending = client.post(url.clone()).headers(headers.clone()).body(outgoing.body.clone()).send();
        let error = match within(limits.first_byte, sending).await {
            None => return Err(timed_out("Request timed out: no answer within", limits.first_byte, url)),
            Some(Ok(response)) => {
                let request_id = request_id(response.headers());
                tracing::debug!(url = shown(url), status = response.status().as_u16(), request_id, "provider answered");
                return Ok(response);
            }
            Some(Err(error)) => error,
        };
        if fresh || !may_be_stale(&error) {
            return Err(send_failure(&error, url, limits.connect));
        }
        fresh = true;
    }
}

/// An answer whose body is still to be read.
pub(super) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Where it comes from, redirects followed.
    pub url: Url,
    body: Body,
}

enum Body {
    Network { response: Response, take: Option<Take> },
    Cassette(Playback),
}

impl Answer {
    /// The next bytes of the body; none at its end. Dropping the future loses nothing.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        let (response, take) = match &mut self.body {
            Body::Cassette(playback) => return playback.chunk().await,
            Body::Network { response, take } => (response, take),
        };
        let read = response.chunk().await.map_err(|error| read_failure(&error, &self.url));
        if let Some(take) = take {
            match &read {
                Ok(Some(bytes)) => take.chunk(bytes),
                Ok(None) => take.end(None),
                Err(failure) => take.end(Some(failure)),
            }
        }
        read
    }

    /// The same within a time; `late` begins the text of the failure when nothing came. A cassette has its own time:
    /// where a limit ended the recorded exchange, it is recorded.
    pub(super) async fn chunk_within(&mut self, limit: Option<Duration>, late: &str) -> Result<Option<Bytes>, Failure> {
        let limit = limit.filter(|_| matches!(self.body, Body::Network { .. }));
        if let Some(read) = within(limit, self.chunk()).await {
            return read;
        }
        let failure = timed_out(late, limit, &self.url);
        self.close(Some(&failure));
        Err(failure)
    }

    /// Nothing more will be read: because of a fault, or because all has come that was wanted.
    pub(super) fn close(&mut self, fault: Option<&Failure>) {
        if let Body::Network { take: Some(take), .. } = &mut self.body {
            take.end(fault);
        }
    }
}

/// Runs for at most `limit`; no limit waits for ever.
async fn within<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) => timeout(limit, work).await.ok(),
        None => Some(work.await),
    }
}

fn timed_out(what: &str, limit: Option<Duration>, url: &Url) -> Failure {
    let text = format!("{what} {} ({})", seconds(limit.unwrap_or_default()), shown(url));
    Failure::new(FailureClass::Network, text)
}
