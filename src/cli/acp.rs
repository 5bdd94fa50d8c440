//! `troupe acp`: serves an editor by the Agent Client Protocol.

use std::{path::Path, sync::Arc};

use super::{
    args::{self, HiArgs, SessionChoice, Task},
    auth::{
        self,
        args::{AuthCommand, LoginArgs},
    },
    base::{Base, project_of},
    env::Environment,
    exit::Exit,
    mode::{Mode, Terminals},
    run::{fail, give_flags, warn},
    session::ChosenSession,
    sessions::change::trash_of,
    start::{self as starting, StartError},
    subcommand::{Parsed, Subcommand, usage, wrong},
};
use crate::{
    actors::{
        agent_factory::{AgentFactory, MadeAgent, Making, OpenSession, Retiring},
        front::{
            acp::{AcpFactory, host::AcpHost},
            say,
            stdout::keep_for_records,
        },
        shared::AgentShared,
    },
    extensions::ExtensionRegistry,
    providers::{catalogue::Catalogue, credentials::settle, environment::Environment as Variables},
    store::{sessions::SessionDir, settings::Settings, trash::Trash},
};

const USAGE: &str = "troupe acp [flags]   serve an editor by the Agent Client Protocol, on standard input and output

The flags are those of the agent: --model, --thinking, --permissions, --sandbox, --tools and so on; `troupe --help` lists
them. The editor chooses sessions and sends prompts. docs/acp.md says how to set editors up.";

/// What the command is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcpArgs {
    /// Serve, with these flags for the agents.
    Serve(Vec<String>),
    /// Let a person log in.
    LogIn,
}

/// The command. An editor that lets people log in adds `auth login` to the words with which it starts agents.
pub(super) fn parse(rest: &[&str]) -> Parsed {
    match rest {
        ["-h" | "--help", ..] => usage(USAGE),
        [.., "auth", "login"] => Ok(Subcommand::Acp(AcpArgs::LogIn)),
        _ => match rest.iter().position(|word| matches!(*word, "--mode" | "-p" | "--print" | "--export" | "--version"))
        {
            Some(at) => wrong(format!("{} makes no sense with \"acp\".", rest[at]), "troupe acp [flags]"),
            None => Ok(Subcommand::Acp(AcpArgs::Serve(rest.iter().map(|word| (*word).to_owned()).collect()))),
        },
    }
}

/// Serves until the editor closes standard input, or lets a person log in.
pub(super) fn run(environment: &Environment, args: AcpArgs, extensions: ExtensionRegistry) -> Exit {
    match args {
        AcpArgs::Serve(flags) => serve(environment, &flags, &extensions),
        AcpArgs::LogIn => log_in(environment),
    }
}

/// In the terminal that an editor opened: its words for it name no provider.
fn log_in(environment: &Environment) -> Exit {
    say("Log in to which provider (anthropic, openai, openrouter, …; `troupe auth list` lists them)? ");
    let mut provider = String::new();
    if let Err(error) = std::io::stdin().read_line(&mut provider) {
        return fail(&format!("the terminal cannot be read: {error}"));
    }
    let provider = provider.trim().to_owned();
    if provider.is_empty() {
        return fail("no provider was named; nothing was changed");
    }
    auth::run(environment, &AuthCommand::Login(LoginArgs { provider, api_key: false, no_browser: false }))
}

fn serve(environment: &Environment, flags: &[String], extensions: &ExtensionRegistry) -> Exit {
    let terminals = Terminals::of_process();
    let args = args::parse(flags).and_then(|low| HiArgs::new(low, environment.launch(terminals)));
    let args = match args {
        Ok(args) => args,
        Err(errors) => return errors.iter().fold(Exit::Failed, |_, error| fail(&error.to_string())),
    };
    args.warnings.iter().for_each(|warning| warn(warning));
    if let Err(errors) = give_flags(&args, extensions) {
        return errors.iter().fold(Exit::Failed, |_, error| fail(error));
    }
    if let Some(text) = refused(&args) {
        return fail(&text);
    }
    if terminals.stdin {
        warn("`troupe acp` is for editors: it waits for lines of JSON-RPC on standard input (docs/acp.md).");
    }
    if let Err(error) = keep_for_records() {
        return fail(&format!("standard output cannot be kept for records alone: {error}"));
    }
    match start(environment, args, extensions) {
        Ok(exit) => exit,
        Err(StartError::Failed(text)) => fail(&text),
    }
}

/// What is wrong with the flags of a server.
fn refused(args: &HiArgs) -> Option<String> {
    if !args.messages.is_empty() || !args.files.is_empty() {
        return Some("`troupe acp` takes flags alone: prompts and files come from the editor".to_owned());
    }
    if !matches!(args.session, SessionChoice::New | SessionChoice::InMemory) || args.name.is_some() {
        return Some("`troupe acp` takes no session: the editor chooses one".to_owned());
    }
    (!matches!(args.task, Task::Run(_))).then(|| "`troupe acp` only serves editors".to_owned())
}

fn start(environment: &Environment, args: HiArgs, extensions: &ExtensionRegistry) -> Result<Exit, StartError> {
    starting::prepare(environment, &args)?;
    let settings = user_settings(environment);
    let runtime = starting::async_runtime()?;
    let exit = runtime.block_on(async {
        // A program of a person's, like a client of RPC.
        let base = Arc::new(Base::open(environment, args, extensions, &settings, None, Mode::Rpc).await?);
        let (host, questions) = (Arc::new(Host(base.clone())), base.backstage.questions.clone());
        let front = Arc::new(AcpFactory { host, questions });
        let exit = starting::run_front(&base, base.extensions().observers(), front).await;
        base.close().await;
        // A renewed token that is lost logs the user out.
        settle().await;
        exit
    });
    // Threads that read or write standard streams may be blocked for ever: they do not hold up the end.
    runtime.shutdown_background();
    exit
}

fn user_settings(environment: &Environment) -> Settings {
    Settings::load(&environment.user_dir.join("settings.json"), None)
}

/// Makes the agents of an editor's sessions.
struct Host(Arc<Base>);

impl Host {
    async fn open(&self, session: OpenSession) -> Result<MadeAgent, StartError> {
        let chosen = ChosenSession::following(session.store, session.journal);
        let project = project_of(
            &self.0.environment,
            self.0.mode,
            self.0.args.trust,
            &chosen.cwd,
            self.0.extensions().registry(),
        )?;
        // Each begins with what the flags say.
        self.0.agent(ChosenSession { is_first: true, ..chosen }, project).await
    }
}

impl AgentFactory for Host {
    fn make(&self, session: OpenSession, _reload: bool) -> Making<'_> {
        Box::pin(async move { self.open(session).await.map_err(|error| error.to_string()) })
    }

    fn retire<'a>(&'a self, agent: &'a AgentShared) -> Retiring<'a> {
        self.0.retire(agent)
    }
}

impl AcpHost for Host {
    fn session_dir(&self, cwd: &Path) -> Option<SessionDir> {
        let Base { environment, args, .. } = &*self.0;
        if args.session == SessionChoice::InMemory {
            return None;
        }
        let mut there = environment.clone();
        there.cwd = cwd.to_owned();
        Some(match starting::session_dir(&there, args, &user_settings(environment)) {
            Some(path) => SessionDir::custom(path, cwd),
            None => SessionDir::of_project(&environment.user_dir, cwd),
        })
    }

    fn trash(&self) -> Trash {
        trash_of(&self.0.environment)
    }

    fn has_model(&self) -> bool {
        let stored = Catalogue::load(&self.0.environment.user_dir, Variables::of_process());
        !self.0.catalogue.now().available().is_empty() || !stored.available().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Parsed {
        parse(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn flags_of_agents_are_taken_and_what_makes_no_sense_is_refused() {
        for line in ["", "--model x --permissions ask"] {
            assert!(matches!(parsed(line), Ok(Subcommand::Acp(AcpArgs::Serve(_)))), "{line}");
        }
        assert!(matches!(parsed("--help"), Ok(Subcommand::Usage(_))));
        let log_in = parsed("--model x auth login");
        assert_eq!(log_in, Ok(Subcommand::Acp(AcpArgs::LogIn)), "how editors let people log in");
        for line in ["--mode rpc", "-p", "--model x --print"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
