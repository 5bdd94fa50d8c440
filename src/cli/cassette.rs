//! `--record` and `--replay`: opens the cassette, and says at the end what became of it.

use std::{path::Path, sync::Arc};

use serde_json::Value;

use super::{
    args::{CassetteChoice, ModelChoice, ReplaySpeed},
    env::Environment,
    run::warn,
    start::StartError,
};
use crate::{
    actors::front::complain,
    protocol::{Model, ModelRef, ThinkingLevel, route::VIRTUAL_API},
    providers::{
        cassette::{Cassette, Pace, Places, Player, Recorder, Replay, Secrets},
        catalogue::Catalogue,
        selection::Chosen,
        transport::Transport,
    },
    store::{
        document::{Document, Syntax},
        regular_file,
    },
};

/// The cassette of a run, if it has one.
pub enum Deck {
    /// It has none.
    Empty,
    /// One is being recorded.
    Recording(Recorder),
    /// One is being played.
    Playing(Player),
}

impl Deck {
    /// Opens the cassette. Models of one that is played join the catalogue as they were described then.
    ///
    /// # Errors
    /// The file cannot be made, read or understood.
    pub fn open(
        choice: &CassetteChoice,
        environment: &Environment,
        cwd: &Path,
        catalogue: &mut Catalogue,
    ) -> Result<Self, StartError> {
        match choice {
            CassetteChoice::None => Ok(Self::Empty),
            CassetteChoice::Record(file) => {
                let secrets = secrets(environment, catalogue);
                let recorder = Recorder::create(file, places(environment, cwd), secrets);
                Ok(Self::Recording(recorder.map_err(StartError::of)?))
            }
            CassetteChoice::Replay { file, speed, strict } => {
                let cassette = Cassette::read(file).map_err(StartError::of)?;
                catalogue.add_recorded(cassette.models());
                let replay = Replay {
                    pace: match speed {
                        ReplaySpeed::Full => Pace::Full,
                        ReplaySpeed::Recorded => Pace::Recorded,
                    },
                    strict: *strict,
                    places: places(environment, cwd),
                    secrets: secrets(environment, catalogue),
                    notice: Arc::new(warn),
                };
                Ok(Self::Playing(Player::new(cassette, replay)))
            }
        }
    }

    /// What carries the run's requests.
    #[must_use]
    pub fn transport(&self) -> Transport {
        match self {
            Self::Empty => Transport::Network,
            Self::Recording(recorder) => Transport::Recorded(recorder.clone()),
            Self::Playing(player) => Transport::Replayed(player.clone()),
        }
    }

    /// True when a cassette is played: nothing goes to the network then.
    #[must_use]
    pub fn is_replay(&self) -> bool {
        matches!(self, Self::Playing(_))
    }

    /// The model and the level that a replay begins with when nothing else is asked for.
    #[must_use]
    pub fn start(&self) -> Option<(Arc<Model>, ThinkingLevel)> {
        match self {
            Self::Playing(player) => player.cassette().start(),
            _ => None,
        }
    }

    /// The model of the cassette that the command line names, by its id or full name, perhaps with a level behind it. It
    /// need not be one that the catalogue knows.
    #[must_use]
    pub fn named(&self, wanted: &ModelChoice) -> Option<Chosen> {
        let (Self::Playing(player), Some(pattern)) = (self, &wanted.pattern) else { return None };
        let with_level = pattern.rsplit_once(':').and_then(|(name, level)| Some((name, ThinkingLevel::parse(level)?)));
        let readings =
            [(pattern.as_str(), None)].into_iter().chain(with_level.map(|(name, level)| (name, Some(level))));
        let models = player.cassette().models();
        let models = || models.iter().filter(|model| wanted.provider.as_ref().is_none_or(|id| *id == model.provider));
        readings.into_iter().find_map(|(name, thinking)| {
            let model = models().find(|model| model.id == name || model.reference().to_string() == name)?.clone();
            Some(Chosen { model, thinking, warnings: Vec::new() })
        })
    }

    /// The description that counts for a model: when a cassette is played, that of the cassette. A virtual model asks
    /// nobody itself and stands in no cassette: it counts as the user describes it.
    ///
    /// # Errors
    /// The cassette has no exchange with the model.
    pub fn described(&self, name: &ModelRef, own: Arc<Model>) -> Result<Arc<Model>, StartError> {
        let Self::Playing(player) = self else { return Ok(own) };
        if own.api == VIRTUAL_API {
            return Ok(own);
        }
        player.cassette().model(name).cloned().ok_or_else(|| {
            let known: Vec<_> = player.cassette().models().iter().map(|model| model.reference().to_string()).collect();
            StartError::Failed(format!(
                "the cassette {} has no exchange with {name}; it was recorded with {}. Start without --model",
                player.cassette().path().display(),
                known.join(", ")
            ))
        })
    }

    /// Says what became of the cassette.
    pub fn report(&self) {
        match self {
            Self::Empty => {}
            Self::Recording(recorder) => report_recording(recorder),
            Self::Playing(player) => report_replay(player),
        }
    }
}

fn report_recording(recorder: &Recorder) {
    let file = recorder.path().display();
    if let Some(problem) = recorder.problem() {
        return warn(&format!("the cassette {file} is not complete: {problem}"));
    }
    match recorder.exchanges() {
        0 => {
            // Otherwise the next recording under this name would be refused.
            let kept = std::fs::remove_file(recorder.path()).is_err();
            let end = if kept { "is empty" } else { "was removed" };
            warn(&format!(
                "nothing was recorded, and {file} {end}: no request went over HTTP (the models troupe/offline and \
                 troupe/script answer inside the program)"
            ));
        }
        count => complain(&format!(
            "Recorded {count} {} in {file}. Keys were taken out; prompts, files and answers are in it as they were.",
            if count == 1 { "exchange" } else { "exchanges" }
        )),
    }
}

fn report_replay(player: &Player) {
    let played = player.played();
    let file = player.cassette().path().display();
    if played.differing > 0 || played.played < played.exchanges {
        complain(&format!(
            "Replayed {} of {} exchanges of {file}; {} {} differed from what was recorded.",
            played.played,
            played.exchanges,
            played.differing,
            if played.differing == 1 { "request" } else { "requests" }
        ));
    }
}

/// The folders whose names differ from machine to machine.
fn places(environment: &Environment, cwd: &Path) -> Places {
    let mut places = Places::new();
    let mut add = |role: &str, path: &Path| drop(places.insert(role.to_owned(), path.to_string_lossy().into_owned()));
    add("cwd", cwd);
    add("user", &environment.user_dir);
    environment.home.iter().for_each(|home| add("home", home));
    places
}

/// All keys that are known before a request is made: those of variables and of the user's files. Each request adds its
/// own.
fn secrets(environment: &Environment, catalogue: &Catalogue) -> Secrets {
    let names = catalogue.credentials().secret_variables();
    let of_variables = names.iter().filter_map(|name| environment.variable(name)).map(str::to_owned);
    let of_files = ["auth.json", "models.json"].into_iter().flat_map(|name| {
        let document = document(&environment.user_dir.join(name)).unwrap_or_default();
        Secrets::in_document(&document)
    });
    Secrets::new(of_variables.chain(of_files))
}

/// A file of the user. One that cannot be read is reported where it is used.
fn document(file: &Path) -> Option<Value> {
    let text = regular_file::read_to_string(file).ok()?;
    Some(Document::parse(file, text, Syntax::Comments).ok()?.into_value())
}
