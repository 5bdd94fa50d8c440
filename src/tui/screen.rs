//! The screen as an actor: it carries messages to the model, does what the model wants done, and draws.
//!
//! A key is drawn at once. What streams in is drawn at most 30 times a second: the bus hands over its next batch when the
//! one before was drawn, and deltas merge meanwhile. While the terminal is slow, frames are left out.
//!
//! | file | what |
//! |---|---|
//! | [`effects`] | what the model wants done |
//! | [`frames`] | when frames are drawn |
//! | [`rest`] | what is given back while nothing is |
//! | [`replace`] | another session in the place of the one in front |
//! | [`theme`] | the theme in use, and its file |
//! | [`memory`] | what is known beyond the life of a screen |

mod effects;
mod frames;
mod memory;
mod replace;
mod rest;
mod theme;

use std::sync::Arc;

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::time::Instant;

use super::{
    commands::login,
    effect::{Effect, Purpose},
    facts::AgentFacts,
    model::{Model, Msg},
    overlay::{login::first_run, trust::TrustQuestion},
    settings::Header,
    terminal::{Claim, InputEvent, Terminal, TerminalOptions},
    theme::Stamp,
    view,
    work::WorkDone,
};
use crate::{
    actors::{
        address::{Addr, Recipient},
        agent_factory::AgentFactory,
        front::{client::AgentClient, voice},
        replacing::Replaced,
        reply::{CommandResult, ReplyTo},
        runtime::Parts,
        spawn::ended,
        subscriber::{Delivered, Delivery, SubscriberKind},
    },
    extensions::backstage::WantedSession,
    protocol::{Command, Reply, command::QueueKind},
};

pub use memory::{FirstWords, ScreenMemory};

/// What the screen begins with.
pub struct ScreenArgs {
    /// What screens before it knew.
    pub memory: Arc<ScreenMemory>,
    /// The parts of the runtime.
    pub parts: Parts,
    /// Who makes agents on other sessions.
    pub factory: Arc<dyn AgentFactory>,
    /// Who hears how the process should end.
    pub done: Recipient<i32>,
    /// What is drawn.
    pub model: Box<Model>,
    /// Opens the terminal.
    pub open: OpenTerminal,
}

/// Opens a terminal whose events go to the screen, by the right to it.
pub type OpenTerminal = Box<dyn FnOnce(Claim, Addr<ScreenMsg>) -> Result<Terminal, String> + Send>;

/// What the screen is told.
#[derive(Debug)]
pub enum ScreenMsg {
    /// The agent takes commands, or does not.
    Opened(CommandResult),
    /// Something came from the terminal.
    Input(Vec<InputEvent>),
    /// The terminal has taken the last frame.
    Written,
    /// What the agent does.
    Delivery(Delivery),
    /// A command was answered, by this agent.
    Answered(Purpose, Arc<str>, CommandResult),
    /// A worker is done.
    Worked(WorkDone),
    /// Something was said that belongs on standard error.
    Said(String),
    /// An extension wants another session.
    Wanted(WantedSession),
    /// What came of the wish for another session.
    Replaced(Replaced),
    /// The user's editor ended.
    Edited(Result<String, String>),
    /// A worker is gone.
    Gone(ActorId),
    /// It is time for a frame.
    Frame,
    /// Things that move by themselves have moved.
    Tick,
    /// It is time to see whether the theme's file is another one.
    LookAtTheme,
    /// Nothing was drawn for a while, perhaps.
    Rest,
}

/// Who wants another session.
type Wisher = Option<Box<dyn FnOnce(Result<Option<Arc<str>>, String>) + Send>>;

/// State of the screen.
pub struct ScreenState {
    agent: AgentClient,
    parts: Parts,
    factory: Arc<dyn AgentFactory>,
    done: Recipient<i32>,
    me: Addr<ScreenMsg>,
    myself: ActorRef<ScreenMsg>,
    model: Box<Model>,
    terminal: Terminal,
    memory: Arc<ScreenMemory>,
    /// The number of this subscriber, and that the bus waits for it.
    watching: Option<(u64, bool)>,
    /// The worker that replaces the session, and who wants it.
    replacing: Option<(Option<ActorId>, Wisher)>,
    begun: Instant,
    drawn: Instant,
    /// The last frame is not what the model says any more.
    dirty: bool,
    /// Something was typed that the last frame does not show.
    owes_echo: bool,
    frame_due: bool,
    tick_due: bool,
    rest_due: bool,
    /// When it came to rest last.
    rested: Option<Instant>,
    /// What the theme's file was when it was read; none for a theme without a file.
    theme_file: Option<Stamp>,
    theme_due: bool,
    /// The revision of the text that is remembered.
    remembered: u64,
    /// Another program has the terminal.
    away: bool,
    ending: bool,
}

/// The actor.
pub struct Screen;

impl Actor for Screen {
    type Msg = ScreenMsg;
    type State = ScreenState;
    type Arguments = ScreenArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<ScreenMsg>,
        args: ScreenArgs,
    ) -> Result<ScreenState, ActorProcessingErr> {
        let me = Addr::of(&myself);
        let terminal = (args.open)(Claim::take().await?, me.clone())?;
        let said = me.clone();
        voice::listen(move |text| said.tell(ScreenMsg::Said(text.trim_end().to_owned())));
        let agent = AgentClient { shared: args.memory.agent(), fleet: args.parts.fleet.clone() };
        let opened = me.clone();
        if args.memory.lock().opened {
            opened.tell(ScreenMsg::Opened(Ok(Reply::Done)));
        } else {
            agent.open(ReplyTo::new(move |result| opened.tell(ScreenMsg::Opened(result))));
        }
        let begun = Instant::now();
        let mut state = ScreenState {
            agent,
            parts: args.parts,
            factory: args.factory,
            done: args.done,
            me,
            myself,
            model: args.model,
            terminal,
            memory: args.memory,
            watching: None,
            replacing: None,
            begun,
            drawn: begun,
            dirty: true,
            owes_echo: false,
            frame_due: false,
            tick_due: false,
            rest_due: false,
            rested: None,
            theme_file: None,
            theme_due: false,
            remembered: 0,
            away: false,
            ending: false,
        };
        state.recall();
        let warnings = state.find_themes();
        warnings.iter().for_each(|warning| state.model.said(&format!("Warning: {warning}")));
        state.model.look.colorfgbg = std::env::var("COLORFGBG").ok();
        state.model.look.level = state.terminal.capabilities().colors;
        state.model.pictures.possible = state.terminal.capabilities().images.is_some();
        state.retheme();
        if state.model.settings.header != Header::Hidden {
            state.model.transcript.show_header();
        }
        let (columns, rows) = state.terminal.size();
        state.update(Msg::Input(InputEvent::Resize { columns, rows })).await;
        state.draw();
        Ok(state)
    }

    async fn handle(
        &self,
        _: ActorRef<ScreenMsg>,
        message: ScreenMsg,
        state: &mut ScreenState,
    ) -> Result<(), ActorProcessingErr> {
        if state.ending {
            return Ok(());
        }
        match message {
            ScreenMsg::Opened(Ok(_)) => state.opened().await,
            ScreenMsg::Opened(Err(error)) => {
                tracing::error!(%error, "the agent did not open");
                state.end(1);
                crate::actors::front::complain(&format!("Error: {error}"));
            }
            ScreenMsg::Input(events) => {
                for event in events {
                    state.update(Msg::Input(event)).await;
                }
                state.remember();
                state.draw();
                // What is typed does not wait for the next frame when the terminal was busy.
                state.owes_echo |= state.dirty;
            }
            ScreenMsg::Written => {
                if state.owes_echo {
                    state.draw();
                } else if state.dirty {
                    state.draw_in_time();
                }
            }
            ScreenMsg::Delivery(delivery) => state.delivered(delivery).await,
            ScreenMsg::Answered(purpose, agent, result) => {
                if agent == state.agent.shared.id {
                    state.update(Msg::Answered(purpose, result)).await;
                    // A name, a model: not all that a command changes is an event.
                    state.look().await;
                    state.draw();
                } else if purpose.gives_back(&result) {
                    state.update(Msg::Answered(purpose, result)).await;
                    state.draw();
                }
            }
            ScreenMsg::Worked(done) => {
                state.update(Msg::Worked(done)).await;
                state.draw_in_time();
            }
            ScreenMsg::Said(text) => {
                voice::heard();
                state.model.said(&text);
                state.draw_in_time();
            }
            ScreenMsg::Wanted(wanted) => state.wanted(wanted).await,
            ScreenMsg::Replaced(replaced) => state.replaced(replaced).await,
            ScreenMsg::Edited(text) => state.back(text).await,
            ScreenMsg::Gone(worker) => {
                if state.replacing.as_ref().is_some_and(|(replacing, _)| *replacing == Some(worker)) {
                    state.replaced(Replaced::Failed("The work on the session broke off.".to_owned())).await;
                }
            }
            ScreenMsg::Frame => {
                state.frame_due = false;
                if state.dirty {
                    state.draw();
                }
            }
            ScreenMsg::LookAtTheme => {
                state.theme_due = false;
                if state.model.look.stamp(&state.model.settings.theme) != state.theme_file {
                    state.retheme();
                    state.draw();
                }
                state.look_at_theme_later();
            }
            ScreenMsg::Tick => {
                state.tick_due = false;
                state.update(Msg::Tick).await;
                state.draw_in_time();
            }
            ScreenMsg::Rest => state.rest(),
        }
        state.remember();
        state.plan_tick();
        state.plan_rest();
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<ScreenMsg>,
        event: SupervisionEvent,
        _: &mut ScreenState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, _)) = ended(&event) {
            Addr::of(&myself).tell(ScreenMsg::Gone(id));
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<ScreenMsg>, state: &mut ScreenState) -> Result<(), ActorProcessingErr> {
        state.leave();
        Ok(())
    }
}

impl Drop for ScreenState {
    /// A screen that died listens no more: what is said until the next one listens is kept for it.
    fn drop(&mut self) {
        if !self.ending {
            voice::hold();
        }
    }
}

impl ScreenState {
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Tells the model something and does what it wants.
    async fn update(&mut self, msg: Msg) {
        let now = self.now();
        let effects = self.model.update(msg, now);
        self.dirty = true;
        self.carry_out_all(effects).await;
    }

    async fn carry_out_all(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            // One of them may lead to others.
            Box::pin(self.carry_out(effect)).await;
        }
    }

    /// Begins to watch the agent, and says what is to be said first.
    async fn opened(&mut self) {
        self.watch();
        let me = self.me.clone();
        let config = &self.agent.shared.config;
        config.backstage.on_session_wanted(move |wanted| me.tell(ScreenMsg::Wanted(wanted)));
        config.questions.attend();
        let ask = self.memory.lock().ask_trust.take();
        match ask {
            Some(wants) => {
                let folder = self.model.surroundings.short(&self.agent.shared.config.cwd);
                self.model.overlays.push(Box::new(TrustQuestion::new(&folder, &wants)));
                self.draw();
            }
            None => self.begin().await,
        }
    }

    /// Says what is to be said first, once.
    async fn begin(&mut self) {
        let (first, prompts) = {
            let mut memory = self.memory.lock();
            memory.opened = true;
            (memory.first.take(), std::mem::take(&mut memory.prompts))
        };
        if let Some(name) = first {
            self.model.choosing = true;
            let effects = self.model.slash(name);
            self.carry_out_all(effects).await;
        } else if first_run::is_needed(&self.model.facts) {
            let effects = login::without_model(&mut self.model);
            self.carry_out_all(effects).await;
        }
        for input in prompts {
            let text = input.text.clone();
            self.send(Command::Prompt { input, behavior: Some(QueueKind::FollowUp) }, Purpose::Prompt(text));
        }
        self.draw();
    }

    fn watch(&mut self) {
        let to = Recipient::new(self.me.clone(), ScreenMsg::Delivery);
        self.watching = Some((self.agent.subscribe(SubscriberKind::Coalescing, to).id, false));
    }

    async fn delivered(&mut self, delivery: Delivery) {
        if delivery.agent != self.agent.shared.id {
            return;
        }
        match delivery.content {
            Delivered::Snapshot(view) => {
                self.update(Msg::Snapshot(view)).await;
                self.look().await;
                self.draw();
            }
            Delivered::Events(events) => {
                for event in events {
                    self.update(Msg::Happened(event)).await;
                }
                self.look().await;
                if let Some((_, waits)) = &mut self.watching {
                    *waits = true;
                }
                self.draw_in_time();
            }
        }
    }

    /// Tells the model how things are in the agent.
    async fn look(&mut self) {
        let facts = AgentFacts::of(&self.agent.shared, self.model.facts.commands.clone());
        self.update(Msg::Facts(Box::new(facts))).await;
    }

    fn end(&mut self, code: i32) {
        self.leave();
        // The root ends everything; when it is gone, so is the process.
        let _ = self.done.deliver(code);
    }

    /// Gives the terminal back, with what stays on it.
    fn leave(&mut self) {
        if std::mem::replace(&mut self.ending, true) {
            return;
        }
        if std::mem::take(&mut self.model.shows_progress) {
            self.terminal.show_progress(false);
        }
        let rest = view::rest::lines(&mut self.model);
        self.terminal.close(&rest);
        self.memory.lock().left = true;
        voice::release();
    }
}

/// Starts the screen below a supervisor.
///
/// # Errors
/// How its start failed.
pub async fn start(args: ScreenArgs, supervisor: ActorCell) -> Result<ActorCell, crate::actors::restart::Exit> {
    let addr = crate::actors::spawn::spawn("Screen", "", Screen, args, supervisor).await?;
    Ok(addr.actor().get_cell())
}

/// Opens the terminal of the process for the screen.
///
/// # Errors
/// There is none, or none that can show a screen: why, in words for people.
pub fn open(claim: Claim, options: TerminalOptions, to: Addr<ScreenMsg>) -> Result<Terminal, String> {
    let written = to.clone();
    let terminal = Terminal::open(
        claim,
        options,
        move |events| to.tell(ScreenMsg::Input(events)),
        move || written.tell(ScreenMsg::Written),
    );
    terminal.map_err(|error| error.to_string())
}
