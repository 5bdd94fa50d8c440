//! What may follow the name of a command, for completion.

use crate::{protocol::ThinkingLevel, tui::model::Model};

/// Something that may follow a command's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// What is written.
    pub value: String,
    /// What it is, in few words.
    pub description: String,
}

impl Argument {
    fn new(value: impl Into<String>, description: impl Into<String>) -> Self {
        Self { value: value.into(), description: description.into() }
    }
}

/// All that may follow a command's name, unsorted; none for commands whose arguments are not completed.
#[must_use]
pub fn of(model: &Model, command: &str) -> Option<Vec<Argument>> {
    Some(match command {
        "model" => models(model),
        "thinking" => thinking(model),
        "login" => providers(model),
        "permissions" => permissions(),
        "diff" => vec![Argument::new("session", "What this session changed")],
        "plan" => vec![Argument::new("on", "Nothing is changed"), Argument::new("off", "The agent works")],
        _ => return None,
    })
}

/// Commands whose argument is a path.
#[must_use]
pub fn takes_path(command: &str) -> bool {
    matches!(command, "export" | "import")
}

fn models(model: &Model) -> Vec<Argument> {
    let models = model.facts.catalogue.now().available();
    models.iter().map(|model| Argument::new(model.reference().to_string(), model.name.clone())).collect()
}

fn thinking(model: &Model) -> Vec<Argument> {
    let supported = model.facts.model.as_ref();
    let levels = supported.map_or_else(|| ThinkingLevel::ALL.to_vec(), |model| model.thinking_levels());
    let now = |level| if level == model.facts.thinking { "now" } else { "" };
    levels.into_iter().map(|level| Argument::new(level.as_str(), now(level))).collect()
}

fn providers(model: &Model) -> Vec<Argument> {
    let catalogue = model.facts.catalogue.now();
    let known = catalogue.providers().iter().filter(|provider| !provider.keys.keyless);
    known.map(|provider| Argument::new(provider.id.clone(), provider.name.clone())).collect()
}

fn permissions() -> Vec<Argument> {
    use crate::protocol::permission::PermissionMode;
    let does = |mode| match mode {
        PermissionMode::Off => "Everything runs, rules do not count",
        PermissionMode::Allow => "What no rule is about runs",
        PermissionMode::Ask => "What no rule is about is asked",
        PermissionMode::Deny => "What no rule is about is denied",
    };
    PermissionMode::NAMES.iter().map(|(name, mode)| Argument::new(*name, does(*mode))).collect()
}
