//! Finding the control sockets of this user, and talking to one.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    actors::front::control::socket::{is_left_over, sockets},
    protocol::supervision::Supervision,
};

/// How long a process may take to answer. One that hangs is left out.
const PATIENCE: Duration = Duration::from_secs(2);

/// A connection to another process.
pub struct Client {
    lines: BufReader<UnixStream>,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn connect(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { lines: BufReader::new(stream) })
    }

    /// Sends a request without parameters and waits for the response: its data.
    ///
    /// # Errors
    /// It cannot be carried out, or nobody answers in time.
    pub fn ask(&mut self, command: &str) -> io::Result<Value> {
        self.send(&json!({"id": "1", "type": command}))?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.lines.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut record: Value = serde_json::from_str(&line)?;
            if record["type"] == "response" && record["id"] == "1" {
                return match record["success"] == true {
                    true => Ok(record["data"].take()),
                    false => Err(io::Error::other(record["error"].as_str().unwrap_or_default().to_owned())),
                };
            }
        }
    }

    /// Sends a request.
    ///
    /// # Errors
    /// The connection is over.
    pub fn send(&mut self, request: &Value) -> io::Result<()> {
        let mut line = request.to_string();
        line.push('\n');
        self.lines.get_mut().write_all(line.as_bytes())
    }

    /// The connection itself, from now on without limits of time.
    ///
    /// # Errors
    /// The system refuses.
    pub fn into_lines(self) -> io::Result<BufReader<UnixStream>> {
        self.lines.get_ref().set_read_timeout(None)?;
        self.lines.get_ref().set_write_timeout(None)?;
        Ok(self.lines)
    }
}

/// A process that answers.
pub struct Found {
    /// How things are in it.
    pub supervision: Supervision,
    /// The connection to it.
    pub client: Client,
}

/// The processes that answer, those that `which` names (by number, or by run) or all. Leftovers are removed.
#[must_use]
pub fn processes(user_dir: &Path, which: Option<&str>) -> Vec<Found> {
    let look = |socket: &Path| -> io::Result<Found> {
        let mut client = Client::connect(socket)?;
        let supervision = serde_json::from_value(client.ask("get_supervision_tree")?)?;
        Ok(Found { supervision, client })
    };
    let found = sockets(user_dir).into_iter().filter_map(|(_, socket)| match look(&socket) {
        Ok(found) => Some(found),
        Err(_) if is_left_over(&socket) => {
            // Somebody else may have been faster.
            let _ = fs::remove_file(&socket);
            None
        }
        Err(error) => {
            tracing::debug!(%error, socket = %socket.display(), "a process does not answer");
            None
        }
    });
    found.filter(|found| which.is_none_or(|which| is_named(&found.supervision, which))).collect()
}

fn is_named(supervision: &Supervision, which: &str) -> bool {
    supervision.pid.to_string() == which || supervision.run.as_deref() == Some(which)
}
