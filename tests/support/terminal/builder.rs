//! How a terminal is, and what runs in it.

use std::{
    fs::File,
    num::NonZeroU16,
    path::PathBuf,
    process::Command,
    sync::{Arc, Condvar, Mutex},
    time::Instant,
};

use rustix::termios::tcgetattr;

use super::{
    Answers, Audit, Modes, Shared, Stage, State, Terminal,
    answers::{Colors, DARK, LIGHT},
    pty,
    sequences::Scanner,
};
use crate::support::agent::example;

/// Lines that the emulator keeps above the main screen.
const HISTORY: usize = 10_000;

/// The prompt of the shell of [`Builder::in_a_shell`].
pub const PROMPT: &str = "shell>";

/// See the module.
pub struct Builder<'s> {
    stage: &'s Stage,
    program: Option<PathBuf>,
    args: Vec<String>,
    size: (u16, u16),
    answers: Answers,
    colors: Colors,
    held: bool,
    variables: Vec<(String, Option<String>)>,
    shell: Shell,
    stdout: Option<File>,
}

/// What stands between the terminal and the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shell {
    None,
    /// One that ignores hang-ups and becomes the program.
    Nohup,
    /// One that a person uses.
    Interactive,
}

impl<'s> Builder<'s> {
    pub(super) fn new(stage: &'s Stage) -> Self {
        Self {
            stage,
            program: None,
            args: Vec::new(),
            size: (80, 24),
            answers: Answers::Xterm,
            colors: DARK,
            held: false,
            variables: vec![("COLORTERM".into(), Some("truecolor".into()))],
            shell: Shell::None,
            stdout: None,
        }
    }

    /// One of the examples in the place of the binary.
    pub fn example(mut self, name: &str) -> Self {
        self.program = Some(example(name));
        self
    }

    /// Arguments of the program.
    pub fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    /// The terminal's size at the start.
    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = (columns, rows);
        self
    }

    /// How it answers questions.
    pub fn answers(mut self, answers: Answers) -> Self {
        self.answers = answers;
        self
    }

    /// It keeps its answers back until [`Terminal::release_answers`].
    pub fn slow_answers(mut self) -> Self {
        self.held = true;
        self
    }

    /// Its background is light.
    pub fn light(mut self) -> Self {
        self.colors = LIGHT;
        self
    }

    /// A variable of the environment; none takes it away.
    pub fn variable(mut self, name: &str, value: Option<&str>) -> Self {
        self.variables.push((name.to_owned(), value.map(str::to_owned)));
        self
    }

    /// The program ignores that the terminal goes away, as after `nohup`.
    pub fn ignoring_hang_ups(mut self) -> Self {
        self.shell = Shell::Nohup;
        self
    }

    /// The program's output is not the terminal.
    pub fn stdout(mut self, file: File) -> Self {
        self.stdout = Some(file);
        self
    }

    /// Starts it and waits until the screen is there.
    pub fn open(self) -> Terminal {
        let terminal = self.start();
        terminal.wait_ready();
        terminal
    }

    /// Starts an interactive shell, in which [`Terminal::run`] starts the program.
    pub fn in_a_shell(mut self) -> Terminal {
        self.shell = Shell::Interactive;
        let terminal = self.start();
        terminal.wait_prompt();
        terminal
    }

    /// Starts it, and waits for nothing.
    pub fn start(mut self) -> Terminal {
        let stdout = self.stdout.take();
        let (columns, rows) = self.size;
        let (terminal, program_side) = pty::pair(columns, rows);
        let before = tcgetattr(&terminal).unwrap();
        let (stop_side, stop) = std::io::pipe().unwrap();
        let (screen_rows, screen_columns) = size(columns, rows);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                parser: vt100::Parser::new(screen_rows, screen_columns, HISTORY),
                scanner: Scanner::default(),
                modes: Modes::default(),
                audit: Audit::default(),
                bytes: Vec::new(),
                answers: self.answers,
                colors: self.colors,
                held: self.held.then(String::new),
                closed: false,
                ended: None,
            }),
            changed: Condvar::new(),
        });
        let began = Instant::now();
        let child = pty::spawn(self.command(), program_side, stdout);
        let terminal = Arc::new(terminal);
        let reader = {
            let (terminal, shared) = (terminal.clone(), shared.clone());
            std::thread::spawn(move || {
                let stop_side = stop_side.into();
                pty::read(&terminal, &stop_side, |bytes| {
                    let answers = shared.state.lock().expect("no test failed while it looked").take(bytes);
                    shared.changed.notify_all();
                    pty::write(std::os::fd::AsFd::as_fd(&*terminal), answers.as_bytes());
                });
                if let Ok(mut state) = shared.state.lock() {
                    state.closed = true;
                }
                shared.changed.notify_all();
            })
        };
        let mut terminal =
            Terminal { child, line: Some(super::Line { terminal, reader, stop }), shared, waiter: None, before, began };
        terminal.waiter = Some(super::wait_for_end(terminal.pid(), terminal.shared.clone()));
        terminal
    }

    fn command(self) -> Command {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        let program = match &self.program {
            Some(program) => self.stage.sandbox.command_of(program, &args),
            None => self.stage.sandbox.command(&args),
        };
        let program = program.into_std();
        let mut command = match self.shell {
            Shell::None => program,
            Shell::Nohup => around(&program, &["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"], true),
            Shell::Interactive => {
                let mut shell = around(&program, &["bash", "--norc", "--noprofile", "--noediting", "-i"], false);
                shell.env("PS1", PROMPT).env("HISTFILE", "/dev/null");
                shell.env("PROGRAM", program.get_program());
                shell
            }
        };
        for (name, value) in self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }
}

/// Another program in the place of one: in its folder, with its environment, and its command line at the end when it
/// is to be `passed`.
fn around(program: &Command, words: &[&str], passed: bool) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env_clear();
    if passed {
        command.arg(program.get_program()).args(program.get_args());
    }
    command.current_dir(program.get_current_dir().unwrap());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// Rows and columns of an emulator: at least one.
pub(super) fn size(columns: u16, rows: u16) -> (NonZeroU16, NonZeroU16) {
    let at_least_one = |count: u16| NonZeroU16::new(count.max(1)).unwrap();
    (at_least_one(rows), at_least_one(columns))
}
