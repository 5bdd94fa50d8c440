//! `troupe attach`.

use std::{
    io::{self, BufRead, BufReader, IsTerminal, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    thread,
};

use serde_json::{Value, json};

use super::{
    args::AttachArgs,
    client::{Found, processes},
    words::words,
};
use crate::{
    cli::{
        env::Environment,
        exit::Exit,
        run::{fail, write_out},
    },
    tui::text::one_line,
};

/// Shows what another process does, and sends it what is typed.
#[must_use]
pub fn run(environment: &Environment, args: &AttachArgs) -> Exit {
    let mut found = processes(&environment.user_dir, args.which.as_deref());
    let found = match (found.len(), &args.which) {
        (1, _) => found.remove(0),
        (0, None) => return fail("no Troupe of this user offers a control socket"),
        (0, Some(which)) => {
            return fail(&format!("no process and no run {which} of this user offers a control socket"));
        }
        _ => {
            let name =
                |found: &Found| found.supervision.run.clone().unwrap_or_else(|| found.supervision.pid.to_string());
            let names: Vec<String> = found.iter().map(name).collect();
            return fail(&format!("there are several: say which one of {}", names.join(", ")));
        }
    };
    let is_terminal = io::stdin().is_terminal();
    let attached = if is_terminal { talk(found) } else { pass_on(found) };
    match attached {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(&format!("the connection broke off: {error}")),
        _ => Exit::Done,
    }
}

/// Events as text lines, and typed lines as messages.
fn talk(found: Found) -> io::Result<()> {
    let Found { supervision, mut client } = found;
    let run = supervision.run.as_ref().map(|run| format!(", run {}", one_line(run))).unwrap_or_default();
    write_out(&format!(
        "Attached to process {}{run}, in {}.\nWhat you type is read at its next step; /stop stops it, /quit leaves it at work.\n",
        supervision.pid,
        one_line(&supervision.cwd)
    ))?;
    client.send(&json!({"type": "subscribe"}))?;
    let lines = client.into_lines()?;
    let stream = lines.get_ref().try_clone()?;
    thread::spawn(move || send_typed(stream));
    for line in lines.lines() {
        let record: Value = serde_json::from_str(&line?).unwrap_or_default();
        if let Some(words) = words(&record) {
            write_out(&format!("{words}\n"))?;
        }
    }
    write_out("The connection is closed.\n")
}

/// What a typed line means.
pub enum Typed {
    /// Nothing.
    Nothing,
    /// Leave it at work.
    Quit,
    /// This request.
    Request(Value),
}

/// What a typed line means.
#[must_use]
pub fn typed(line: &str) -> Typed {
    match line.trim() {
        "" => Typed::Nothing,
        "/quit" => Typed::Quit,
        "/stop" => Typed::Request(json!({"type": "abort"})),
        text => Typed::Request(json!({"type": "prompt", "message": text, "streamingBehavior": "steer"})),
    }
}

/// Sends what is typed, until there is no more: then the connection is ended.
fn send_typed(mut stream: UnixStream) {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let request = match typed(&line) {
            Typed::Nothing => continue,
            Typed::Quit => break,
            Typed::Request(request) => request,
        };
        if stream.write_all(format!("{request}\n").as_bytes()).is_err() {
            return;
        }
    }
    // Whoever reads sees the end.
    let _ = stream.shutdown(Shutdown::Both);
}

/// Requests from standard input, records to standard output, as they are.
fn pass_on(found: Found) -> io::Result<()> {
    let mut lines: BufReader<UnixStream> = found.client.into_lines()?;
    let mut requests = lines.get_ref().try_clone()?;
    thread::spawn(move || {
        let sent = io::copy(&mut io::stdin().lock(), &mut requests);
        // What was asked is still answered; then the other side ends the connection.
        if sent.is_ok() {
            let _ = requests.shutdown(Shutdown::Write);
        }
    });
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        write_out(&String::from_utf8_lossy(&line))?;
        line.clear();
    }
    Ok(())
}
