//! The screen as an actor: it carries messages to the model, does what the model wants done, and draws.
//!
//! A key is drawn at once. What streams in is drawn at most 60 times a second: the bus hands over its next batch when the
//! one before was drawn, and deltas merge meanwhile. While the terminal is slow, frames are left out.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::time::Instant;

use super::{
    effect::{Effect, Purpose},
    facts::AgentFacts,
    model::{Model, Msg},
    overlay::{login::first_run, trust::TrustQuestion},
    terminal::{InputEvent, Terminal, TerminalOptions},
    view,
    work::{Work, WorkDone},
    working::{WorkContext, Working},
};
use crate::{
    actors::{
        address::{Addr, Recipient},
        agent_factory::{AgentFactory, MadeAgent},
        event_bus::BusMsg,
        front::{client::AgentClient, voice},
        replacing::{ReplaceWork, Replaced, Replacing},
        reply::{CommandResult, ReplyTo},
        runtime::Parts,
        shared::AgentShared,
        spawn::{ended, spawn_worker},
        subscriber::{Delivered, Delivery, SubscriberKind},
    },
    extensions::backstage::WantedSession,
    protocol::{
        Command, Reply,
        command::{Input, QueueKind},
        event::NoticeLevel,
        session_change::SessionChange,
    },
    store::trust::TrustAnswer,
};

/// The time between two frames of what streams in.
const FRAME: Duration = Duration::from_millis(16);
/// How often things that move by themselves are drawn.
const TICK: Duration = Duration::from_millis(view::status::SPINNER_MS);

/// What the first screen begins with.
#[derive(Clone, Debug, Default)]
pub struct FirstWords {
    /// What is said first.
    pub prompts: Vec<Input>,
    /// A slash command, before that.
    pub command: Option<&'static str>,
    /// What the project brings, when somebody is to be asked about it before all else.
    pub ask_trust: Option<Vec<PathBuf>>,
}

/// What is known beyond the life of a screen.
pub struct ScreenMemory(Mutex<Remembered>);

struct Remembered {
    /// The agent in front.
    agent: Arc<AgentShared>,
    /// It takes commands.
    opened: bool,
    /// The text that was being written.
    draft: String,
    /// What is to be said first.
    prompts: Vec<Input>,
    /// The slash command to begin with.
    first: Option<&'static str>,
    /// What the project brings, when somebody is to be asked about it.
    ask_trust: Option<Vec<PathBuf>>,
}

impl ScreenMemory {
    /// What the first screen is to know.
    #[must_use]
    pub fn new(agent: Arc<AgentShared>, first: FirstWords) -> Self {
        let FirstWords { prompts, command, ask_trust } = first;
        let draft = String::new();
        Self(Mutex::new(Remembered { agent, opened: false, draft, prompts, first: command, ask_trust }))
    }

    /// The agent in front.
    #[must_use]
    pub fn agent(&self) -> Arc<AgentShared> {
        self.lock().agent.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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

/// Opens a terminal whose events go to the screen.
pub type OpenTerminal = Box<dyn FnOnce(Addr<ScreenMsg>) -> Result<Terminal, String> + Send>;

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
    frame_due: bool,
    tick_due: bool,
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
        let terminal = (args.open)(me.clone())?;
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
            frame_due: false,
            tick_due: false,
            away: false,
            ending: false,
        };
        state.model.editor.set_text(&std::mem::take(&mut state.memory.lock().draft));
        state.find_themes();
        state.model.look.colorfgbg = std::env::var("COLORFGBG").ok();
        state.model.look.level = state.terminal.capabilities().colors;
        state.retheme();
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
                state.model.editor.draft().clone_into(&mut state.memory.lock().draft);
                state.draw();
            }
            ScreenMsg::Written => {
                if state.dirty {
                    state.draw_in_time();
                }
            }
            ScreenMsg::Delivery(delivery) => state.delivered(delivery).await,
            ScreenMsg::Answered(purpose, agent, result) => {
                if agent == state.agent.shared.id {
                    state.update(Msg::Answered(purpose, result)).await;
                    state.draw();
                }
            }
            ScreenMsg::Worked(done) => {
                state.update(Msg::Worked(done)).await;
                state.draw_in_time();
            }
            ScreenMsg::Said(text) => {
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
            ScreenMsg::Tick => {
                state.tick_due = false;
                state.update(Msg::Tick).await;
                state.draw();
            }
        }
        state.plan_tick();
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

impl ScreenState {
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Tells the model something and does what it wants.
    async fn update(&mut self, msg: Msg) {
        let now = self.now();
        let effects = self.model.update(msg, now);
        self.dirty = true;
        for effect in effects {
            self.carry_out(effect).await;
        }
    }

    async fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Send(command, purpose) => self.send(command, purpose),
            Effect::Replace(change) => self.replace(change, None).await,
            Effect::Trust(answer) => self.trust(answer).await,
            Effect::Work(work) => self.work(work).await,
            Effect::Retheme => self.retheme(),
            Effect::TryTheme(name) => {
                self.model.look.tried = name;
                self.retheme();
            }
            Effect::Copy(text) => {
                if !self.terminal.copy(&text) {
                    self.model.flash("The text is too long for the clipboard");
                }
            }
            Effect::Title(title) => self.terminal.set_title(&title),
            Effect::Notify(notification) => self.terminal.notify(&notification),
            Effect::EditOutside(text) => self.edit_outside(text),
            Effect::Suspend => {
                self.terminal.suspend();
                self.dirty = true;
            }
            Effect::Quit => self.end(0),
            Effect::HangUp => self.end(129),
        }
    }

    fn find_themes(&mut self) {
        let warnings = self.model.look.find(&self.agent.shared);
        warnings.iter().for_each(|warning| self.model.said(&format!("Warning: {warning}")));
    }

    fn retheme(&mut self) {
        let Model { look, settings, theme, .. } = &mut *self.model;
        match look.theme(&settings.theme) {
            Ok(found) => *theme = found,
            Err((error, other)) => {
                *theme = other;
                self.model.transcript.notice(NoticeLevel::Error, error);
            }
        }
    }

    /// Follows a decision about the project: what it brings is read now, or left alone.
    async fn trust(&mut self, answer: TrustAnswer) {
        if let Err(error) = self.factory.trust(&self.agent.shared.config.cwd, answer) {
            self.model.transcript.notice(NoticeLevel::Error, format!("The decision cannot be remembered: {error}"));
        }
        if answer.trusted {
            self.replace(SessionChange::Reload, None).await;
        } else {
            self.begin().await;
        }
    }

    fn send(&self, command: Command, purpose: Purpose) {
        let (me, agent) = (self.me.clone(), self.agent.shared.id.clone());
        self.agent.send(command, ReplyTo::new(move |result| me.tell(ScreenMsg::Answered(purpose, agent, result))));
    }

    async fn work(&mut self, work: Work) {
        let to = Recipient::new(self.me.clone(), ScreenMsg::Worked);
        let context = WorkContext::new(self.model.surroundings.clone(), self.agent.shared.clone(), to);
        let name = work.name();
        if let Err(exit) = spawn_worker("Working", name, Working, context, work, self.myself.get_cell()).await {
            self.model.transcript.notice(NoticeLevel::Error, format!("{name}: {}", exit.cause()));
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
            for effect in effects {
                Box::pin(self.carry_out(effect)).await;
            }
        }
        if first_run::is_needed(&self.model.facts) {
            let (page, effects) = first_run::open();
            self.model.overlays.push(page);
            for effect in effects {
                Box::pin(self.carry_out(effect)).await;
            }
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

    async fn wanted(&mut self, WantedSession { agent, change, then }: WantedSession) {
        if agent != self.agent.shared.id {
            then(Err(format!("the agent {agent} is not in front of anybody any more")));
        } else if self.replacing.is_some() {
            then(Err("the session is being replaced already".to_owned()));
        } else {
            self.replace(change, Some(then)).await;
        }
    }

    async fn replace(&mut self, change: SessionChange, wisher: Wisher) {
        if self.replacing.is_some() {
            return self.model.flash("The session is being replaced already");
        }
        let work = ReplaceWork {
            client: self.agent.clone(),
            parts: self.parts.clone(),
            factory: self.factory.clone(),
            change,
            to: Recipient::new(self.me.clone(), ScreenMsg::Replaced),
        };
        let worker = spawn_worker("Replacing", "", Replacing, (), work, self.myself.get_cell()).await;
        let failed = worker.as_ref().err().map(|exit| Replaced::Failed(exit.cause().to_owned()));
        self.replacing = Some((worker.ok().map(|worker| worker.id()), wisher));
        self.model.replacing = true;
        if let Some(failed) = failed {
            self.me.tell(ScreenMsg::Replaced(failed));
        }
    }

    async fn replaced(&mut self, replaced: Replaced) {
        let Some((_, wisher)) = self.replacing.take() else { return };
        let mut answer = Ok(None);
        let mut notices = Vec::new();
        match &replaced {
            Replaced::Done { agent: MadeAgent { shared }, notices: told, .. } => {
                self.agent = AgentClient { shared: shared.clone(), fleet: self.parts.fleet.clone() };
                self.memory.lock().agent = shared.clone();
                answer = Ok(Some(shared.id.clone()));
                notices.clone_from(told);
            }
            Replaced::Cancelled => {}
            Replaced::Failed(cause) => answer = Err(cause.clone()),
        }
        let is_new = matches!(replaced, Replaced::Done { .. });
        self.update(Msg::Replaced(Box::new(replaced))).await;
        if is_new {
            self.find_themes();
            self.retheme();
            self.watch();
            self.look().await;
            self.agent.shared.publish(notices);
            self.begin().await;
        }
        if let Some(wisher) = wisher {
            wisher(answer);
        }
        self.draw();
    }

    /// Gives the terminal to the user's editor.
    fn edit_outside(&mut self, text: String) {
        let command = super::outside::command(self.model.settings.external_editor.as_deref());
        self.terminal.pause();
        self.away = true;
        let me = self.me.clone();
        // A thread of its own: it waits for a person.
        std::thread::spawn(move || me.tell(ScreenMsg::Edited(super::outside::edit(&command, &text))));
    }

    /// The terminal is ours again.
    async fn back(&mut self, text: Result<String, String>) {
        self.away = false;
        self.terminal.resume();
        self.update(Msg::Edited(text)).await;
        self.draw();
    }

    /// Draws now, unless the terminal has not taken the last frame yet.
    fn draw(&mut self) {
        self.dirty = true;
        if self.away || self.ending || self.terminal.is_busy() {
            return;
        }
        if self.model.surroundings.fullscreen {
            self.terminal.draw(view::draw(&mut self.model));
        } else {
            let (over, live) = view::regular::draw(&mut self.model);
            self.terminal.commit(&over);
            self.terminal.draw(live);
        }
        self.dirty = false;
        self.drawn = Instant::now();
        if let Some((id, waits)) = &mut self.watching
            && std::mem::take(waits)
        {
            self.agent.shared.bus.tell(BusMsg::Ready(*id));
        }
    }

    /// Draws as soon as a frame's time has passed since the last one.
    fn draw_in_time(&mut self) {
        self.dirty = true;
        let passed = self.drawn.elapsed();
        if passed >= FRAME {
            return self.draw();
        }
        if !std::mem::replace(&mut self.frame_due, true) {
            self.myself.send_after(FRAME - passed, || ScreenMsg::Frame);
        }
    }

    fn plan_tick(&mut self) {
        if self.model.is_moving() && !std::mem::replace(&mut self.tick_due, true) {
            self.myself.send_after(TICK, || ScreenMsg::Tick);
        }
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
        let rest = view::rest::lines(&mut self.model);
        self.terminal.close(&rest);
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
pub fn open(options: TerminalOptions, to: Addr<ScreenMsg>) -> Result<Terminal, String> {
    let written = to.clone();
    let terminal = Terminal::open(
        options,
        move |events| to.tell(ScreenMsg::Input(events)),
        move || written.tell(ScreenMsg::Written),
    );
    terminal.map_err(|error| error.to_string())
}
