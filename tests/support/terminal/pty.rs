//! A pseudo terminal, and a program that has it as its terminal.

use std::{
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Child, Command, Stdio},
    time::Instant,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{Mode, OFlags, fcntl_setfl, open},
    io::Errno,
    process::{ioctl_tiocsctty, setsid},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use crate::support::DEADLINE;

/// Opens a pseudo terminal: the side of the terminal, and the side of the program. No child inherits either by chance.
pub fn pair(columns: u16, rows: u16) -> (OwnedFd, OwnedFd) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let program = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    fcntl_setfl(&terminal, OFlags::RDWR | OFlags::NONBLOCK).unwrap();
    resize(terminal.as_fd(), columns, rows);
    (terminal, program)
}

/// Gives the terminal another size; the program is told by the kernel.
pub fn resize(terminal: BorrowedFd<'_>, columns: u16, rows: u16) {
    tcsetwinsize(terminal, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

/// Starts a program in a session of its own that has `program_side` as its terminal. `stdout` replaces its output.
pub fn spawn(mut command: Command, program_side: OwnedFd, stdout: Option<File>) -> Child {
    let side = || Stdio::from(program_side.try_clone().unwrap());
    command.stdin(side()).stdout(stdout.map_or_else(side, Stdio::from)).stderr(side());
    let lead = || -> io::Result<()> {
        setsid()?;
        ioctl_tiocsctty(rustix::stdio::stdin())?;
        Ok(())
    };
    // SAFETY: the closure makes two system calls and nothing else; no other way leads to a controlling terminal.
    unsafe { command.pre_exec(lead) };
    command.spawn().unwrap()
}

/// Writes all of it, as fast as the program reads.
pub fn write(terminal: BorrowedFd<'_>, mut bytes: &[u8]) {
    let end = Instant::now() + DEADLINE;
    while !bytes.is_empty() {
        match rustix::io::write(terminal, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                assert!(Instant::now() < end, "the program does not read what is typed");
                wait(&mut [PollFd::new(&terminal, PollFlags::OUT)], Some(1));
            }
            // Nobody is there any more: a terminal does not care.
            Err(Errno::IO) => return,
            Err(error) => panic!("cannot write to the terminal: {error}"),
        }
    }
}

/// Hands everything that the program writes to `seen`, until the program's side is closed or `stop` becomes readable.
pub fn read(terminal: &OwnedFd, stop: &OwnedFd, mut seen: impl FnMut(&[u8])) {
    let mut bytes = vec![0; 1 << 16];
    loop {
        let mut watched = [PollFd::new(terminal, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
        wait(&mut watched, None);
        if !watched[1].revents().is_empty() {
            return;
        }
        match rustix::io::read(terminal, &mut bytes) {
            Ok(0) | Err(Errno::IO) => return,
            Ok(count) => seen(&bytes[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => panic!("cannot read from the terminal: {error}"),
        }
    }
}

fn wait(watched: &mut [PollFd<'_>], seconds: Option<i64>) {
    let limit = seconds.map(|seconds| Timespec { tv_sec: seconds, tv_nsec: 0 });
    match poll(watched, limit.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => panic!("cannot wait for the terminal: {error}"),
    }
}
