//! What a person may choose in a session: how permissions are handled, the model, how much it thinks. Pure.

use agent_client_protocol_schema::v1::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption, SessionMode, SessionModeState,
};

use crate::{
    actors::shared::AgentShared,
    protocol::{Command, ModelRef, ThinkingLevel, permission::PermissionMode},
};

/// The mode in which nothing is changed.
const PLAN: &str = "plan";

/// The ids of the options.
const MODE: &str = "mode";
/// See [`MODE`].
const MODEL: &str = "model";
/// See [`MODE`].
const THINKING: &str = "thinking";

/// What each mode is, for people: its id, its name, and what it does.
const MODES: [(&str, &str, &str); 5] = [
    ("off", "No permissions", "Every call runs, whatever the rules say"),
    ("allow", "Allow", "Calls run unless a rule denies them or asks"),
    ("ask", "Ask", "Calls that change something are asked about"),
    ("deny", "Deny", "Calls run only when a rule allows them"),
    (PLAN, "Plan", "The agent reads and plans; nothing is changed"),
];

/// What is chosen, and what else there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Choices {
    mode: &'static str,
    model: Option<String>,
    /// Names by their ids.
    models: Vec<(String, String)>,
    thinking: ThinkingLevel,
    levels: Vec<ThinkingLevel>,
}

impl Choices {
    /// Those of an agent now.
    pub(super) fn of(agent: &AgentShared) -> Self {
        let permissions = agent.config.permissions.mode();
        let selection = agent.selection().clone();
        let model = selection.model.as_ref().map(|model| model.reference().to_string());
        let available = agent.config.catalogue.now().available();
        let mut models: Vec<(String, String)> =
            available.iter().map(|model| (model.reference().to_string(), model.name.clone())).collect();
        // A model may be in use that no list has.
        if let (Some(id), Some(current)) = (&model, &selection.model)
            && models.iter().all(|(known, _)| known != id)
        {
            models.push((id.clone(), current.name.clone()));
        }
        Self {
            mode: if selection.plan_mode { PLAN } else { permissions.as_str() },
            models,
            thinking: selection.thinking,
            levels: selection.model.map(|model| model.thinking_levels()).unwrap_or_default(),
            model,
        }
    }

    /// The mode's id.
    pub(super) fn mode(&self) -> &'static str {
        self.mode
    }

    /// The modes, for clients that know no options.
    pub(super) fn modes(&self) -> SessionModeState {
        let mode =
            |(id, name, what): (&str, &str, &str)| SessionMode::new(id.to_owned(), name).description(what.to_owned());
        SessionModeState::new(self.mode, MODES.map(mode).to_vec())
    }

    /// The options.
    pub(super) fn options(&self) -> Vec<SessionConfigOption> {
        let choice = |(id, name, what): (&str, &str, &str)| {
            SessionConfigSelectOption::new(id.to_owned(), name).description(what.to_owned())
        };
        let mode = SessionConfigOption::select(MODE, "Mode", self.mode, MODES.map(choice).to_vec())
            .category(SessionConfigOptionCategory::Mode);
        let model = self.model.as_ref().map(|current| {
            let models = self.models.iter().map(|(id, name)| SessionConfigSelectOption::new(id.clone(), name));
            SessionConfigOption::select(MODEL, "Model", current.clone(), models.collect::<Vec<_>>())
                .category(SessionConfigOptionCategory::Model)
        });
        let thinking = (self.levels.len() > 1).then(|| {
            let levels = self.levels.iter().map(|level| SessionConfigSelectOption::new(level.as_str(), level.as_str()));
            SessionConfigOption::select(THINKING, "Thinking", self.thinking.as_str(), levels.collect::<Vec<_>>())
                .category(SessionConfigOptionCategory::ThoughtLevel)
        });
        [Some(mode), model, thinking].into_iter().flatten().collect()
    }

    /// The commands that choose a mode.
    pub(super) fn choose_mode(&self, id: &str) -> Result<Vec<Command>, String> {
        if id == PLAN {
            return Ok(vec![Command::SetPlanMode(true)]);
        }
        let Some(mode) = PermissionMode::parse(id) else {
            let known = MODES.map(|(id, ..)| id).join(", ");
            return Err(format!("there is no mode {id}; there are {known}"));
        };
        let leave = (self.mode == PLAN).then_some(Command::SetPlanMode(false));
        Ok(leave.into_iter().chain([Command::SetPermissionMode(mode)]).collect())
    }

    /// The commands that choose the value of an option.
    pub(super) fn choose(&self, option: &str, value: &str) -> Result<Vec<Command>, String> {
        match option {
            MODE => self.choose_mode(value),
            MODEL => match value.split_once('/') {
                Some((provider, model)) if self.models.iter().any(|(id, _)| id == value) => {
                    let name = ModelRef { provider: provider.to_owned(), model_id: model.to_owned() };
                    Ok(vec![Command::SetModel(name)])
                }
                _ => Err(format!("there is no model {value}; `troupe --list-models` lists them")),
            },
            THINKING => match ThinkingLevel::parse(value) {
                Some(level) => Ok(vec![Command::SetThinkingLevel(level)]),
                None => Err(format!("there is no thinking level {value}")),
            },
            _ => Err(format!("there is no option {option}; there are {MODE}, {MODEL} and {THINKING}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(mode: &'static str) -> Choices {
        Choices {
            mode,
            model: Some("a/b/c".into()),
            models: vec![("a/b/c".into(), "C".into()), ("d/e".into(), "E".into())],
            thinking: ThinkingLevel::Low,
            levels: vec![ThinkingLevel::Off, ThinkingLevel::Low],
        }
    }

    #[test]
    fn a_choice_becomes_commands_or_is_refused_in_words() {
        let table = [
            ("ask", "mode", "plan", "[SetPlanMode(true)]"),
            ("plan", "mode", "deny", "[SetPlanMode(false), SetPermissionMode(Deny)]"),
            ("off", "mode", "ask", "[SetPermissionMode(Ask)]"),
            ("off", "mode", "yolo", "there is no mode yolo; there are off, allow, ask, deny, plan"),
            ("off", "model", "a/b/c", "[SetModel(ModelRef { provider: \"a\", model_id: \"b/c\" })]"),
            ("off", "model", "a/x", "there is no model a/x; `troupe --list-models` lists them"),
            ("off", "thinking", "high", "[SetThinkingLevel(High)]"),
            ("off", "thinking", "deep", "there is no thinking level deep"),
            ("off", "speed", "fast", "there is no option speed; there are mode, model and thinking"),
        ];
        for (mode, option, value, wanted) in table {
            let got = choices(mode).choose(option, value).map_or_else(|text| text, |commands| format!("{commands:?}"));
            assert_eq!(got, wanted);
        }
    }

    #[test]
    fn all_modes_are_offered_and_options_only_where_there_is_a_choice() {
        let known: Vec<&str> = PermissionMode::NAMES.iter().map(|(name, _)| *name).chain([PLAN]).collect();
        assert_eq!(MODES.map(|(id, ..)| id).to_vec(), known);
        let ids = |choices: &Choices| choices.options().iter().map(|option| option.id.to_string()).collect::<Vec<_>>();
        assert_eq!(ids(&choices("off")), ["mode", "model", "thinking"]);
        let bare = Choices { model: None, levels: vec![ThinkingLevel::Off], ..choices("off") };
        assert_eq!(ids(&bare), ["mode"]);
        assert_eq!(choices("plan").modes().current_mode_id.to_string(), "plan");
    }
}
