//! Permissions: the guard that applies the rules of [`crate::tools::permissions`] to every call, and asks people where
//! the rules say so.
//!
//! It is the last interceptor of the chain, so that it judges the arguments that a tool really gets. It intervenes
//! only while permissions are on.
//!
//! | file | what |
//! |---|---|
//! | [`answers`] | what people may answer |
//! | [`words`] | what people and models read |

pub mod answers;
mod words;

use std::{
    collections::HashSet,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use super::{
    contract::{Answer as Boxed, Extension},
    control::AgentHandle,
    questions::{NoAnswer, Questions},
};
use crate::{
    protocol::{
        Event,
        ask::{AskPoint, ToolCallAsk, ToolCallVerdict, UserBashAsk, UserBashVerdict},
        event::NoticeLevel,
        permission::{PermissionMode, RuleInfo},
        question::{Answer, Dialog},
    },
    store::permissions::{PermissionsFile, Reach},
    tools::{
        Local, Operations,
        permissions::{Action, Decision, Policy, Reason, Rule, Source, path_pattern::Places, policy::Call},
    },
};

/// Longer than anybody waits.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);

/// What the guard works with.
pub struct PermissionsSetup {
    /// The rules and the mode to begin with.
    pub policy: Policy,
    /// How long a question waits for its answer; none: as long as the call lives.
    pub ask_timeout: Option<Duration>,
    /// Who asks people.
    pub questions: Questions,
    /// Files, for where links lead.
    pub operations: Arc<dyn Operations>,
    /// Where answers are remembered, and for which project; none: nowhere.
    pub remembered: Option<Remembered>,
}

/// Where answers are remembered.
#[derive(Clone, Debug)]
pub struct Remembered {
    /// The file.
    pub file: PathBuf,
    /// The project's folder without links.
    pub project: PathBuf,
}

/// The guard.
pub struct Permissions {
    state: Mutex<State>,
    setup: Fixed,
}

/// What does not change.
struct Fixed {
    ask_timeout: Option<Duration>,
    questions: Questions,
    operations: Arc<dyn Operations>,
    remembered: Option<Remembered>,
}

struct State {
    policy: Arc<Policy>,
    /// Calls that were allowed for this session and that no rule can describe, with their arguments.
    calls: HashSet<(String, String)>,
}

/// What a person decided.
enum Choice {
    Once,
    Session,
    Always,
    Deny { why: Option<String> },
}

impl Permissions {
    /// A guard with these rules.
    #[must_use]
    pub fn new(setup: PermissionsSetup) -> Arc<Self> {
        let PermissionsSetup { policy, ask_timeout, questions, operations, remembered } = setup;
        Arc::new(Self {
            state: Mutex::new(State { policy: Arc::new(policy), calls: HashSet::new() }),
            setup: Fixed { ask_timeout, questions, operations, remembered },
        })
    }

    /// A guard without rules that lets everything through.
    #[must_use]
    pub fn off() -> Arc<Self> {
        let places = Places { project: Vec::new(), home: None };
        let policy = Policy { mode: PermissionMode::Off, rules: Vec::new(), places, knows_shell: true };
        Self::new(PermissionsSetup {
            policy,
            ask_timeout: None,
            questions: Questions::default(),
            operations: Arc::new(Local),
            remembered: None,
        })
    }

    /// The mode in force.
    #[must_use]
    pub fn mode(&self) -> PermissionMode {
        self.policy().mode
    }

    /// Another mode from the next call on, for as long as the program runs.
    pub fn set_mode(&self, mode: PermissionMode) {
        let mut state = self.state();
        state.policy = Arc::new(Policy { mode, ..(*state.policy).clone() });
    }

    /// The rules, in no special order: their order does not matter.
    #[must_use]
    pub fn rules(&self) -> Vec<RuleInfo> {
        let info = |rule: &Rule| RuleInfo { action: rule.action, rule: rule.text().to_owned(), source: rule.source };
        self.policy().rules.iter().map(info).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn policy(&self) -> Arc<Policy> {
        self.state().policy.clone()
    }

    fn decide(&self, tool: &str, input: &Map<String, Value>) -> Decision {
        let operations = &self.setup.operations;
        self.policy().decide(&Call { tool, input }, &|path| operations.real_path(path))
    }

    async fn judge(&self, ask: &ToolCallAsk) -> ToolCallVerdict {
        let deny = |reason| ToolCallVerdict::Deny { reason, terminate: false };
        let reason = match self.decide(&ask.tool_name, &ask.input) {
            Decision::Allow => return ToolCallVerdict::default(),
            Decision::Deny(reason) => return deny(words::denied(&reason, None)),
            Decision::Ask(reason) => reason,
        };
        let call = (ask.tool_name.clone(), Value::Object(ask.input.clone()).to_string());
        if self.state().calls.contains(&call) {
            return ToolCallVerdict::default();
        }
        match self.ask(ask, &reason).await {
            Ok(Choice::Once) => {}
            Ok(Choice::Session) if reason.remedies.is_empty() => drop(self.state().calls.insert(call)),
            Ok(Choice::Session) => self.add(Source::Session, &reason.remedies),
            Ok(Choice::Always) => {
                self.add(Source::Remembered, &reason.remedies);
                self.remember(&ask.agent, reason.remedies).await;
            }
            Ok(Choice::Deny { why }) => return deny(words::denied_by_user(&reason, why.as_deref())),
            Err(nobody) => return deny(words::denied(&reason, Some(nobody))),
        }
        ToolCallVerdict::default()
    }

    async fn ask(&self, ask: &ToolCallAsk, reason: &Reason) -> Result<Choice, NoAnswer> {
        let Fixed { questions, ask_timeout, remembered, .. } = &self.setup;
        let can_remember = remembered.is_some() && !reason.remedies.is_empty();
        let mut options = vec![words::ONCE, words::SESSION];
        options.extend(can_remember.then_some(words::ALWAYS));
        options.extend([words::DENY, words::DENY_WHY]);
        let options = options.into_iter().map(str::to_owned).collect();
        let title = words::question(&ask.tool_name, &ask.input, reason, can_remember);
        let dialog = Dialog::Select { options };
        let call = Some(ask.tool_call_id.clone());
        let answer = questions.ask_about(&ask.agent, call.clone(), title, dialog, *ask_timeout).await?;
        // Whatever is not one of the options is a no.
        Ok(match answer {
            Answer::Value(text) if text == words::ONCE => Choice::Once,
            Answer::Value(text) if text == words::SESSION => Choice::Session,
            Answer::Value(text) if text == words::ALWAYS && can_remember => Choice::Always,
            Answer::Value(text) if text == words::DENY_WHY => {
                let dialog = Dialog::Input { placeholder: Some(words::WHY_PLACEHOLDER.to_owned()) };
                let title = words::WHY.to_owned();
                let why = questions.ask_about(&ask.agent, call, title, dialog, *ask_timeout).await;
                match why {
                    Ok(Answer::Value(why)) if !why.trim().is_empty() => {
                        Choice::Deny { why: Some(why.trim().to_owned()) }
                    }
                    _ => Choice::Deny { why: None },
                }
            }
            _ => Choice::Deny { why: None },
        })
    }

    /// Adds rules that allow. They were made from a call, so they can be read.
    fn add(&self, source: Source, texts: &[String]) {
        let mut state = self.state();
        let mut policy = (*state.policy).clone();
        for text in texts {
            match Rule::parse(Action::Allow, source, text, policy.places.home.as_deref()) {
                Ok(rule) => policy.rules.push(rule),
                Err(error) => tracing::warn!(%error, "an answer could not be kept"),
            }
        }
        state.policy = Arc::new(policy);
    }

    /// Keeps rules for the project. A failure is told, and the answer holds for this session all the same.
    async fn remember(&self, agent: &str, rules: Vec<String>) {
        let Some(Remembered { file, project }) = self.setup.remembered.clone() else { return };
        let written = spawn_blocking(move || {
            PermissionsFile::change(&file, |file| {
                let lists = file.rules_mut(Reach::Project(&project));
                rules.iter().for_each(|rule| lists.add(Action::Allow, rule));
            })
        });
        let failure = match written.await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        let text = format!("The answer could not be remembered and holds for this session: {failure}");
        self.setup.questions.tell(agent, Event::Notice { level: NoticeLevel::Warning, text });
    }
}

impl Extension for Permissions {
    fn name(&self) -> &str {
        "permissions"
    }

    fn points(&self) -> &[AskPoint] {
        let policy = self.policy();
        match policy.mode {
            PermissionMode::Off => &[],
            _ if policy.guards_user_commands() => &[AskPoint::ToolCall, AskPoint::UserBash],
            _ => &[AskPoint::ToolCall],
        }
    }

    /// A question has a time of its own, and ends with the worker that asks.
    fn deadline(&self, _: AskPoint) -> Duration {
        FOR_EVER
    }

    fn tool_call<'a>(&'a self, ask: ToolCallAsk, _: AgentHandle) -> Boxed<'a, ToolCallVerdict> {
        Box::pin(async move { Ok(self.judge(&ask).await) })
    }

    fn user_bash<'a>(&'a self, ask: UserBashAsk, _: AgentHandle) -> Boxed<'a, UserBashVerdict> {
        let operations = &self.setup.operations;
        let decision = self.policy().decide_user_command(&ask.command, &|path| operations.real_path(path));
        let verdict = match decision {
            Decision::Allow => UserBashVerdict::Allow,
            // The user typed it: there is nobody else to ask.
            Decision::Ask(reason) | Decision::Deny(reason) => {
                UserBashVerdict::Deny { reason: format!("Denied by permissions: {}: {}.", reason.part, reason.why) }
            }
        };
        Box::pin(std::future::ready(Ok(verdict)))
    }
}
