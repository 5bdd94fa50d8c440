//! The program from its first word to its exit code.

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use super::{
    VERSION, acp,
    args::{self, HiArgs, Plan, Task},
    auth,
    env::{self, Environment},
    exit::Exit,
    export, files, first_message, help, listing, live,
    mode::{Mode, Terminals},
    nats, notices, packages, permissions, runs, sessions,
    start::{self, StartError},
    stdin,
    subcommand::{self, Subcommand},
    team, undo,
};
#[cfg(not(feature = "nats"))]
use super::{
    live::args::{AttachArgs, TopArgs},
    nats::flags::NatsFlags,
};
use crate::{
    actors::front::{stdout::keep_for_records, voice},
    extensions::ExtensionRegistry,
    protocol::{command::Input, hidden},
    tui::terminal,
};

/// Runs the program with this process's arguments and surroundings.
#[must_use]
pub fn main() -> ExitCode {
    main_with(ExtensionRegistry::default())
}

/// The same with native extensions: how to make a program of one's own that is Troupe and more.
#[must_use]
pub fn main_with(extensions: ExtensionRegistry) -> ExitCode {
    env::hide();
    let environment = match Environment::of_process() {
        Ok(environment) => environment,
        Err(error) => return fail(&error.to_string()).into(),
    };
    let exit = run(&environment, extensions);
    #[cfg(feature = "otlp")]
    super::otlp::finish();
    exit.into()
}

fn run(environment: &Environment, extensions: ExtensionRegistry) -> Exit {
    if let Some(command) = subcommand::parse(&environment.argv) {
        return match command {
            Ok(command) => run_subcommand(environment, command, extensions),
            Err(error) => {
                fail(&error.to_string());
                error.exit()
            }
        };
    }
    let terminals = Terminals::of_process();
    let plan = args::parse(&environment.argv).and_then(|low| Plan::new(low, environment.launch(terminals)));
    match plan {
        Ok(Plan::Version) => print(&format!("{VERSION}\n")),
        Ok(Plan::Export { session, output }) => export::run(&session, output.as_deref(), &environment.cwd),
        Ok(Plan::Start(args)) => begin(environment, *args, terminals, extensions),
        Err(errors) => errors.iter().fold(Exit::Failed, |_, error| fail(&error.to_string())),
    }
}

fn run_subcommand(environment: &Environment, command: Subcommand, extensions: ExtensionRegistry) -> Exit {
    match command {
        Subcommand::Packages(command) => packages::run(environment, &command),
        Subcommand::McpList { json } => print(&listing::mcp_servers(&[], json)),
        Subcommand::Usage(text) => print(&text),
        Subcommand::Auth(command) => auth::run(environment, &command),
        Subcommand::Permissions(command) => permissions::run(environment, command),
        Subcommand::Undo(command) => undo::run(environment, &command),
        Subcommand::Sessions(command) => sessions::run(environment, &command),
        Subcommand::Acp(args) => acp::run(environment, args, extensions),
        Subcommand::Run(command) => runs::run(environment, command, extensions),
        Subcommand::Runs(command) => runs::manage::run(environment, command, extensions),
        #[cfg(feature = "nats")]
        Subcommand::RunsOn(flags, command) => nats::manage::run(environment, &flags, command, &extensions),
        #[cfg(feature = "nats")]
        Subcommand::Worker(args) => nats::node::run(environment, args),
        #[cfg(not(feature = "nats"))]
        Subcommand::RunsOn(..) | Subcommand::Worker(_) => fail(nats::missing::TEXT),
        Subcommand::Team(command) => team::run(environment, command, &extensions),
        #[cfg(feature = "nats")]
        Subcommand::Top(args) if args.nats.on.is_some() => nats::live::top(environment, &args),
        #[cfg(feature = "nats")]
        Subcommand::Attach(args) if args.nats.on.is_some() => nats::live::attach(environment, &args),
        #[cfg(not(feature = "nats"))]
        Subcommand::Top(TopArgs { nats: NatsFlags { on: Some(_), .. }, .. })
        | Subcommand::Attach(AttachArgs { nats: NatsFlags { on: Some(_), .. }, .. }) => fail(nats::missing::TEXT),
        Subcommand::Top(args) => live::top::run(environment, &args),
        Subcommand::Attach(args) => live::attach::run(environment, &args),
    }
}

fn begin(environment: &Environment, args: HiArgs, terminals: Terminals, extensions: ExtensionRegistry) -> Exit {
    for warning in &args.warnings {
        warn(warning);
    }
    match args.task {
        Task::Help => {
            print(&help::text(&extensions.flags()));
            if let Some(error) = args.unknown_options(&flag_names(&extensions)) {
                warn(&error.to_string());
            }
            return Exit::Done;
        }
        Task::ListModels { ref search } => {
            return print(&start::list_models(environment, &extensions, search.as_deref()));
        }
        Task::Run(_) => {}
    }
    if let Err(errors) = give_flags(&args, &extensions) {
        return errors.iter().fold(Exit::Failed, |_, error| fail(error));
    }
    let Task::Run(mut mode) = args.task else { return Exit::Failed };
    let prompts = match gather(environment, &args, &mut mode, terminals) {
        Ok(prompts) => prompts,
        Err(text) => return fail(&text),
    };
    let quiet = (mode == Mode::Interactive).then(Quiet::begin);
    if matches!(mode, Mode::Rpc | Mode::Json)
        && let Err(error) = keep_for_records()
    {
        return fail(&format!("standard output cannot be kept for records alone: {error}"));
    }
    let ended = start::run(environment, args, extensions, mode, prompts);
    drop(quiet);
    match ended {
        Ok(exit) => exit,
        Err(StartError::Failed(text)) => fail(&text),
    }
}

/// The screen shows what is said, until this is gone.
struct Quiet;

impl Quiet {
    fn begin() -> Self {
        voice::hold();
        voice::catch_panics();
        Self
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // Whoever had the terminal has given it back, unless they are stuck.
        terminal::restore();
        voice::release();
    }
}

/// Gives the extensions the values of their flags; the errors say what is wrong with flags that are not the program's.
pub(super) fn give_flags(args: &HiArgs, extensions: &ExtensionRegistry) -> Result<(), Vec<String>> {
    if let Some(error) = args.unknown_options(&flag_names(extensions)) {
        return Err(vec![error.to_string()]);
    }
    let given: Vec<_> = args.extension_flags.iter().map(|flag| (flag.name.as_str(), flag.value.text())).collect();
    extensions.set_flags(&given).map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

pub(super) fn flag_names(extensions: &ExtensionRegistry) -> Vec<String> {
    extensions.flags().into_iter().map(|(_, flag)| flag.name).collect()
}

/// The prompts of the run: what was piped in, the `@files`, the messages.
fn gather(
    environment: &Environment,
    args: &HiArgs,
    mode: &mut Mode,
    terminals: Terminals,
) -> Result<Vec<Input>, String> {
    let attachments =
        files::attach(&args.files, &environment.cwd, environment.home.as_deref()).map_err(|error| error.to_string())?;
    let mut piped = None;
    if mode.reads_stdin(terminals) {
        piped = stdin::read(io::stdin().lock()).map_err(|error| format!("standard input cannot be read: {error}"))?;
        if piped.is_some() && *mode == Mode::Interactive {
            *mode = Mode::Print;
        }
    }
    Ok(first_message::prompts(piped, attachments, args.messages.clone()))
}

/// Says on standard error what is wrong.
pub(super) fn fail(text: &str) -> Exit {
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    notices::tell(&format!("Error: {text}"));
    Exit::Failed
}

/// Says on standard error what is odd.
pub(super) fn warn(text: &str) {
    notices::tell(&format!("Warning: {text}"));
}

/// Writes to standard output; a reader that went away is no fault of ours.
pub(super) fn print(text: &str) -> Exit {
    match write_out(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            fail(&format!("standard output cannot be written: {error}"))
        }
        _ => Exit::Done,
    }
}

/// Writes to standard output, for those who have more to say and stop when nobody reads it.
pub(super) fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    // Names of models, sessions and files may come from anywhere. A program gets them as they are.
    let text = if out.is_terminal() { hidden::for_terminal(text) } else { Cow::Borrowed(text) };
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// The same for lines of JSON.
pub(super) fn write_records(lines: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.is_terminal() {
        true => out.write_all(hidden::for_terminal_json(&String::from_utf8_lossy(lines)).as_bytes())?,
        false => out.write_all(lines)?,
    }
    out.flush()
}
