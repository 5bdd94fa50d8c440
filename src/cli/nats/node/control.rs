//! Requests to the run's agent, wherever it works: they go to the control socket of its process.

use std::{io, path::Path, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

use crate::{
    actors::{front::control::socket::sockets, nats::RunRequest},
    cli::runs::folder::RunFolder,
    protocol::wire::{Incoming, Response, RpcCommand, parse_line, write_response},
};

/// How long an agent may take to answer: some requests wait for what an agent does.
const LIMIT: Duration = Duration::from_secs(60);

/// Answers a request with what the agent answers.
pub async fn answer(request: RunRequest, folder: RunFolder, user_dir: &Path) {
    let bytes = request.request.clone();
    let line = bytes.trim_ascii();
    let answer = match parse_line(line) {
        Incoming::Refused(response) => text_of(&response),
        Incoming::UiResponse(_) => return,
        Incoming::Request(asked) if matches!(asked.command, RpcCommand::Subscribe { .. }) => {
            let text = "the events of a run on a server come from the server";
            text_of(&Response::failed(asked.id, asked.command.name(), text.to_owned()))
        }
        Incoming::Request(asked) => {
            let name = asked.command.name();
            let answered = tokio::time::timeout(LIMIT, ask(&folder, user_dir, line)).await;
            let answered = answered.unwrap_or_else(|_| Err(io::Error::other("the agent does not answer")));
            answered.unwrap_or_else(|error| text_of(&Response::failed(asked.id, name, error.to_string())))
        }
    };
    if let Err(error) = request.answer(&answer).await {
        tracing::debug!(%error, "whoever asked does not get the answer");
    }
}

fn text_of(response: &Response) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_response(response, &mut bytes);
    bytes
}

/// Asks the agent's process.
async fn ask(folder: &RunFolder, user_dir: &Path, line: &[u8]) -> io::Result<Vec<u8>> {
    let none = || io::Error::other("the agent is not there right now, or offers no control socket");
    let worker = folder.state().ok().and_then(|state| state.worker).ok_or_else(none)?;
    let socket = sockets(user_dir).into_iter().find(|(pid, _)| *pid == worker.pid).ok_or_else(none)?.1;
    let mut stream = BufReader::new(UnixStream::connect(&socket).await?);
    stream.get_mut().write_all(&[line, b"\n"].concat()).await?;
    let mut answer = Vec::new();
    // Nobody subscribes: the first line is the answer.
    match stream.read_until(b'\n', &mut answer).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(answer),
    }
}
