//! A screen without a terminal and without an agent, for tests.

use std::sync::{Arc, LazyLock};

use super::{
    effect::Effect,
    facts::AgentFacts,
    keys::{Key, Keymap},
    model::{Model, Msg},
    settings::ScreenSettings,
    surroundings::Surroundings,
    terminal::InputEvent,
    text::StyledLine,
    view,
};
use crate::{
    protocol::{
        Event, ModelRef, Published, ThinkingLevel,
        event::Seq,
        permission::PermissionMode,
        sibling::{Budget, SiblingId, SiblingState, SiblingStatus, Spent},
    },
    providers::{
        catalogue::{Catalogue, LiveCatalogue},
        environment::Environment,
    },
    store::{sessions::SessionDir, settings::Settings, testing::view as tree_of, tree::TreeView},
};

/// The folder that tests play in. It does not exist.
pub const FOLDER: &str = "/srv/app";

/// The built-in models.
static CATALOGUE: LazyLock<LiveCatalogue> =
    LazyLock::new(|| LiveCatalogue::new(Catalogue::load("/nonexistent".as_ref(), Environment::default())));

/// Facts about an agent with this session, and a built-in model.
pub fn facts_of(tree: Option<TreeView>) -> AgentFacts {
    AgentFacts {
        read_only: false,
        agent: "main".into(),
        cwd: FOLDER.into(),
        session_file: None,
        tree,
        model: CATALOGUE.now().models().first().cloned(),
        scope: Arc::default(),
        thinking: ThinkingLevel::Medium,
        window: 0,
        auto_compaction: true,
        plan_mode: false,
        permission_mode: PermissionMode::Off,
        jobs: 0,
        catalogue: CATALOGUE.clone(),
        commands: Arc::default(),
    }
}

/// Surroundings of a user whose home folder is `/srv`.
pub fn surroundings() -> Surroundings {
    Surroundings {
        version: "1.2.3",
        user_dir: "/srv/user".into(),
        home: Some("/srv".into()),
        sessions: SessionDir::of_project("/srv/user".as_ref(), FOLDER.as_ref()),
        trash: crate::store::trash::Trash::default(),
        fullscreen: true,
        offline: false,
        notices: Vec::new(),
    }
}

/// A sibling of this id that works.
///
/// # Panics
/// It is no id.
pub fn sibling(id: &str) -> SiblingStatus {
    let id = SiblingId::parse(id).expect("an id of an agent");
    SiblingStatus {
        parent_id: id.parent().expect("an agent below another"),
        depth: id.depth(),
        id,
        name: None,
        role: "sibling".to_owned(),
        state: SiblingState::Running,
        task: 1,
        title: "look around".to_owned(),
        model: Some(ModelRef { provider: "acme".into(), model_id: "alpha".into() }),
        spent: Spent { tokens: 12_345, cost: 0.0123, turns: 2, seconds: 0.0, spawns: 0 },
        budget: Budget::default(),
        tool: None,
        last_line: String::new(),
        outcome: None,
        session_file: None,
        worktree: None,
    }
}

/// Lines as text, without blanks at their ends.
pub fn text_of(lines: &[StyledLine]) -> String {
    lines.iter().map(|line| line.text().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A model of a screen of 80 x 24 on an agent that rests, with the session in these lines; none: an empty one.
pub fn model_of(lines: &[String]) -> Model {
    let settings = ScreenSettings::of(&Settings::from_value(serde_json::Map::new()));
    let mut model = Model::new(Arc::new(surroundings()), facts_of(None), settings, Keymap::default());
    model.update(Msg::Snapshot(Box::default()), 0);
    model.update(Msg::Facts(Box::new(facts_of(Some(tree_of(lines))))), 0);
    model
}

/// Presses keys: words are key names (`ctrl+a`, `enter`), words in quotes are typed.
///
/// # Panics
/// A word names no key.
pub fn press(model: &mut Model, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for (at, part) in keys.split('"').enumerate() {
        if at % 2 == 1 {
            for character in part.chars() {
                let key = Key::plain(super::keys::KeyCode::Char(character));
                let now = model.now;
                effects.extend(model.update(Msg::Input(InputEvent::Key(key)), now));
            }
        } else {
            for word in part.split_whitespace() {
                let key = Key::parse(word).unwrap_or_else(|_| panic!("{word} is no key"));
                let now = model.now;
                effects.extend(model.update(Msg::Input(InputEvent::Key(key)), now));
            }
        }
    }
    effects
}

/// Tells the model what happened.
pub fn happen(model: &mut Model, event: Event) -> Vec<Effect> {
    let seq = Seq { epoch: 1, n: model.view.seq.n + 1 };
    let now = model.now;
    model.update(Msg::Happened(Arc::new(Published { seq, event })), now)
}

/// The screen as text: its rows without blanks at their ends.
pub fn screen(model: &mut Model) -> String {
    let frame = view::draw(model);
    let area = frame.area();
    let row = |y: u16| {
        let cells = (0..area.width).map(|x| frame.buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..area.height).map(row).collect::<Vec<_>>().join("\n")
}
