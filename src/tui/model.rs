//! What the screen knows: everything that a frame is drawn from.

use std::sync::Arc;

use super::{
    cache_watch::CacheWatch,
    cards::Cards,
    complete::Menu,
    editor::Editor,
    facts::AgentFacts,
    gauges::Gauges,
    keys::Keymap,
    look::Look,
    overlay::{Overlay, OverlayContext},
    picture::Pictures,
    queue::LocalQueue,
    search::Search,
    selection::Selection,
    settings::ScreenSettings,
    start_page::StartPage,
    surroundings::Surroundings,
    terminal::{InputEvent, Report},
    theme::Theme,
    transcript::Transcript,
    update::completion::Completion,
    work::WorkDone,
};
use crate::{
    actors::{replacing::Replaced, reply::CommandResult},
    protocol::{Published, event::NoticeLevel, question::Question, view::View},
};

use super::effect::Purpose;

/// Something that the model hears.
#[derive(Debug)]
pub enum Msg {
    /// It came from the terminal.
    Input(InputEvent),
    /// How things are in the agent: events go on from here.
    Snapshot(Box<View>),
    /// Something happened in the agent.
    Happened(Arc<Published>),
    /// Facts about the agent, as of the last event.
    Facts(Box<AgentFacts>),
    /// A command was answered.
    Answered(Purpose, CommandResult),
    /// A worker is done.
    Worked(WorkDone),
    /// What came of the wish for another session. The facts of the new agent come next.
    Replaced(Box<Replaced>),
    /// The user's editor gave this text back; none when it failed or was left without saving.
    Edited(Result<String, String>),
    /// Time passed.
    Tick,
}

/// Text in the status line, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flash {
    /// The text.
    pub text: String,
    /// When it goes away, in milliseconds since the screen began.
    pub until: u64,
}

/// The wait before a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// When it is over, in milliseconds since the screen began.
    pub at: u64,
    /// Attempts at most.
    pub of: u32,
}

/// See the module.
pub struct Model {
    /// What does not change.
    pub surroundings: Arc<Surroundings>,
    /// Settings that the screen follows.
    pub settings: ScreenSettings,
    /// Colours.
    pub theme: Theme,
    /// Which key means what.
    pub keymap: Keymap,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Milliseconds since the screen began.
    pub now: u64,
    /// What the terminal said of itself.
    pub reports: Vec<Report>,
    /// What the theme is made from.
    pub look: Look,
    /// The pictures of the conversation.
    pub pictures: Pictures,
    /// The agent.
    pub facts: AgentFacts,
    /// What goes on in it.
    pub view: View,
    /// When the running trace began.
    pub running_since: Option<u64>,
    /// The wait before a retry.
    pub retry: Option<Retry>,
    /// Which agents below this one have a card.
    pub cards: Cards,
    /// Whether prompts are in the provider's cache.
    pub cache_watch: CacheWatch,
    /// The conversation.
    pub transcript: Transcript,
    /// The text that is being written.
    pub editor: Editor,
    /// What the mouse selects.
    pub selection: Option<Selection>,
    /// The search in the conversation.
    pub search: Option<Search>,
    /// Completion of it.
    pub menu: Option<Menu>,
    /// What completion knows.
    pub completion: Completion,
    /// What stands before the editor, the last in front.
    pub overlays: Vec<Box<dyn Overlay>>,
    /// What waits here and not in the agent.
    pub queue: LocalQueue,
    /// Prompts that the agent was sent and has not answered for: they are in no queue yet.
    pub sent: Vec<String>,
    /// They are to be taken back as soon as they are in one.
    pub taking_back: bool,
    /// A short text in the status line.
    pub flash: Option<Flash>,
    /// When the text was changed by hand last.
    pub written: Option<u64>,
    /// When a key that counts twice was pressed last: escape, and ctrl+c.
    pub pressed: Pressed,
    /// The git branch of the agent's folder.
    pub branch: Option<String>,
    /// Tokens and cost of the session, and how full the context is.
    pub gauges: Gauges,
    /// What was loaded for the session.
    pub start_page: StartPage,
    /// Fields of the status line that extensions set.
    pub statuses: Vec<(String, String)>,
    /// Lines beside the editor that extensions set: key, lines, below the editor.
    pub widgets: Vec<(String, Vec<String>, bool)>,
    /// The terminal's title that an extension set.
    pub title: Option<String>,
    /// The title that the terminal was given last.
    pub shown_title: String,
    /// The terminal shows that something is worked at.
    pub shows_progress: bool,
    /// The session is being replaced.
    pub replacing: bool,
    /// Why the disk refuses the session.
    pub unsaved: Option<String>,
    /// The terminal's window has the focus, as far as it says.
    pub focused: bool,
    /// The program was started to choose a session: whoever chooses none leaves.
    pub choosing: bool,
}

/// When keys that count twice were pressed last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressed {
    /// Escape on an empty editor.
    pub escape: Option<u64>,
    /// Ctrl+C.
    pub clear: Option<u64>,
}

impl Model {
    /// A model of an agent that has not been looked at.
    #[must_use]
    pub fn new(surroundings: Arc<Surroundings>, facts: AgentFacts, settings: ScreenSettings, keymap: Keymap) -> Self {
        Self {
            theme: Theme::dark(),
            size: (80, 24),
            now: 0,
            reports: Vec::new(),
            look: Look::default(),
            pictures: Pictures::default(),
            view: View::default(),
            running_since: None,
            retry: None,
            cards: Cards::default(),
            cache_watch: CacheWatch::default(),
            transcript: Transcript::default(),
            editor: {
                let mut editor = Editor::default();
                editor.set_vim(settings.vim);
                editor
            },
            menu: None,
            selection: None,
            search: None,
            completion: Completion::default(),
            overlays: Vec::new(),
            queue: LocalQueue::default(),
            sent: Vec::new(),
            taking_back: false,
            flash: None,
            written: None,
            pressed: Pressed::default(),
            branch: None,
            gauges: Gauges::default(),
            start_page: StartPage::default(),
            statuses: Vec::new(),
            widgets: Vec::new(),
            title: None,
            shown_title: String::new(),
            shows_progress: false,
            replacing: false,
            unsaved: None,
            focused: true,
            choosing: false,
            surroundings,
            settings,
            keymap,
            facts,
        }
    }

    /// Something runs that can be aborted.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.view.running || self.view.compacting
    }

    /// Somebody is in the middle of writing.
    #[must_use]
    pub fn is_writing(&self) -> bool {
        /// Whoever has not touched a key for so long looks up.
        const PAUSE_MS: u64 = 800;
        !self.editor.is_empty() && self.written.is_some_and(|at| self.now < at + PAUSE_MS)
    }

    /// What overlays may look at.
    #[must_use]
    pub fn context(&self) -> OverlayContext<'_> {
        OverlayContext {
            keymap: &self.keymap,
            theme: &self.theme,
            facts: &self.facts,
            surroundings: &self.surroundings,
            now: self.now,
        }
    }

    /// Whether frames change as time passes.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        self.is_busy()
            || self.replacing
            || self.flash.is_some()
            || self.unasked().is_some()
            || self.transcript.is_moving()
            || self.cards.is_moving()
            || self.overlays.last().is_some_and(|overlay| overlay.is_moving())
    }

    /// Takes what the terminal says of itself; true when the theme may be another one now.
    pub fn learn(&mut self, report: Report) -> bool {
        /// More than any terminal has to say at once.
        const MOST: usize = 64;
        if let Report::CellSize(width, height) = report {
            self.pictures.set_cell(width, height);
        }
        let changed = self.look.learn(&report);
        if self.reports.len() < MOST {
            self.reports.push(report);
        }
        changed
    }

    /// Puts a text into the editor, before what is being written.
    pub fn put_back(&mut self, text: &str) {
        if self.editor.is_empty() {
            self.editor.set_text(text);
        } else {
            self.editor.prepend(&format!("{text}\n\n"));
        }
    }

    /// Shows what was said on standard error.
    pub fn said(&mut self, text: &str) {
        let (level, text) = match text.split_once(": ") {
            Some(("Error", text)) => (NoticeLevel::Error, text),
            Some(("Warning", text)) => (NoticeLevel::Warning, text),
            _ => (NoticeLevel::Info, text),
        };
        self.transcript.notice(level, text.to_owned());
    }

    /// Shows a text in the status line for some seconds.
    pub fn flash(&mut self, text: impl Into<String>) {
        const SHOWN_MS: u64 = 4_000;
        self.flash = Some(Flash { text: text.into(), until: self.now + SHOWN_MS });
    }

    /// The question that is open and no dialog asks yet.
    #[must_use]
    pub fn unasked(&self) -> Option<Arc<Question>> {
        let asked = |question: &&Arc<Question>| {
            self.overlays.iter().any(|overlay| overlay.question().is_some_and(|id| *id == question.id))
        };
        self.view.questions.iter().find(|question| !asked(question)).cloned()
    }
}
