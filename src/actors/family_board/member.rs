//! One agent of a family, as the board knows it.

use std::{path::Path, sync::Arc};

use crate::{
    actors::{
        account::Account,
        family_notes::{SpawnNote, TaskNote},
        shared::AgentShared,
    },
    protocol::{
        ModelRef, Usage,
        sibling::{SiblingEnd, SiblingId, SiblingSpec, SiblingState, SiblingStatus, Spent},
    },
    store::tree::Totals,
};

/// Ends of one agent that are remembered; older ones are in its parent's session.
const ENDS: usize = 32;

/// Characters of a title.
const TITLE: usize = 80;

/// See the module.
pub struct Member {
    note: SpawnNote,
    /// What it and those below it have used.
    pub account: Arc<Account>,
    state: SiblingState,
    /// The task that was begun last.
    task: u32,
    /// The message of that task, while nobody knows whether the agent has it.
    pending: Option<TaskNote>,
    ends: Vec<SiblingEnd>,
    /// What its parent's session counts already.
    counted: Usage,
    /// It worked in an earlier process, and its account lacks what no end tells of.
    is_restored: bool,
    live: Option<Arc<AgentShared>>,
    /// Why it is to end.
    stopping: Option<String>,
    /// What it shows.
    pub face: Face,
}

/// What an agent shows while it works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Face {
    /// The tool that runs.
    pub tool: Option<String>,
    /// The last line that its model wrote.
    pub last_line: String,
}

impl Member {
    /// An agent that is being made for its first task.
    #[must_use]
    pub fn new(note: SpawnNote, account: Arc<Account>) -> Self {
        let task = u32::from(!note.spec.task.is_empty());
        Self {
            note,
            account,
            state: SiblingState::Starting,
            task,
            pending: None,
            ends: Vec::new(),
            counted: Usage::default(),
            is_restored: false,
            live: None,
            stopping: None,
            face: Face::default(),
        }
    }

    /// An agent that a session tells of.
    #[must_use]
    pub fn restored(note: SpawnNote, account: Arc<Account>) -> Self {
        Self { is_restored: true, ..Self::new(note, account) }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &SiblingId {
        &self.note.id
    }

    /// As what it was spawned.
    #[must_use]
    pub fn note(&self) -> &SpawnNote {
        &self.note
    }

    /// Its session lies in the folder of the sessions of this parent's children, if it did where it was spawned.
    pub(super) fn move_beside(&mut self, parent_file: &Path) {
        let own = parent_file.with_extension("agents");
        let Some(there) = self.note.session_file.as_deref().map(Path::new) else { return };
        if let (Some(folder), Some(name)) = (there.parent(), there.file_name())
            && folder.file_name() == own.file_name()
        {
            self.note.session_file = Some(own.join(name).display().to_string());
        }
    }

    /// What was asked for.
    #[must_use]
    pub fn spec(&self) -> &SiblingSpec {
        &self.note.spec
    }

    /// What it does.
    #[must_use]
    pub fn state(&self) -> SiblingState {
        self.state
    }

    /// The agent, while it is open.
    #[must_use]
    pub fn live(&self) -> Option<&Arc<AgentShared>> {
        self.live.as_ref()
    }

    /// The task that was begun last; 0 before the first.
    #[must_use]
    pub fn task(&self) -> u32 {
        self.task
    }

    /// The message of the last task, when it may not have arrived.
    #[must_use]
    pub fn pending(&self) -> Option<&TaskNote> {
        self.pending.as_ref()
    }

    /// The stored ends, the newest last.
    #[must_use]
    pub fn ends(&self) -> &[SiblingEnd] {
        &self.ends
    }

    /// How its last task ended.
    #[must_use]
    pub fn last_end(&self) -> Option<&SiblingEnd> {
        self.ends.last()
    }

    /// Whether a task was begun whose end is not stored.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.state != SiblingState::Gone && self.task > self.last_end().map_or(0, |end| end.task)
    }

    /// Why it is to end.
    #[must_use]
    pub fn stopping(&self) -> Option<&str> {
        self.stopping.as_deref()
    }

    /// Whether its task is over, or there was none, as `task` asks: 0 = it has nothing to do, else that one has ended.
    #[must_use]
    pub fn has_ended(&self, task: u32) -> bool {
        match task {
            0 => !self.is_busy(),
            task => self.state == SiblingState::Gone || self.last_end().is_some_and(|end| end.task >= task),
        }
    }

    /// What its session has used that its parent's session does not count yet.
    #[must_use]
    pub fn uncounted(&self, total: &Usage) -> Usage {
        total.without(&self.counted)
    }

    /// What an agent of an earlier process used, as far as no end tells of it; `session` sums up all that it did. None
    /// when its account counts that already.
    #[must_use]
    pub fn take_up(&mut self, session: &Totals) -> Option<Spent> {
        let turns = session.assistant_messages as u64;
        std::mem::take(&mut self.is_restored).then(|| Spent { turns, ..spent(&self.uncounted(&session.usage)) })
    }

    /// It is made.
    pub fn made(&mut self, live: Arc<AgentShared>) {
        self.live = Some(live);
    }

    /// The next task could not be noted, so it did not begin.
    pub fn take_task_back(&mut self, task: u32) {
        if self.task == task && self.pending.take().is_some() {
            self.task -= 1;
            self.idle();
        }
    }

    /// It is to be given its next task.
    pub fn next_task(&mut self, note: TaskNote) {
        self.task = note.task;
        self.pending = Some(note);
        self.state = SiblingState::Starting;
    }

    /// Its task has begun.
    pub fn begun(&mut self) {
        self.pending = None;
        if self.state == SiblingState::Starting {
            self.state = SiblingState::Running;
        }
    }

    /// It takes messages and has nothing to do.
    pub fn idle(&mut self) {
        if self.state != SiblingState::Stopping {
            self.state = SiblingState::Idle;
        }
        self.face.tool = None;
    }

    /// A task has ended, and its end is stored. False when that is known.
    pub fn ended(&mut self, end: SiblingEnd) -> bool {
        if self.last_end().is_some_and(|last| last.task >= end.task) {
            return false;
        }
        self.counted.add(&end.usage);
        // Most have one, or a few.
        self.ends.reserve_exact(1);
        self.ends.push(end);
        if self.ends.len() > ENDS {
            self.ends.remove(0);
        }
        self.pending = None;
        self.idle();
        true
    }

    /// It is held, or goes on.
    pub fn hold(&mut self, paused: bool) {
        self.state = match self.state {
            SiblingState::Running if paused => SiblingState::Paused,
            SiblingState::Paused if !paused => SiblingState::Running,
            state => state,
        };
    }

    /// It is to end for this reason; the first one counts. With `closing` it does not come back.
    pub fn stop(&mut self, reason: &str, closing: bool) {
        self.stopping.get_or_insert_with(|| reason.to_owned());
        if closing && self.state != SiblingState::Gone {
            self.state = SiblingState::Stopping;
        }
    }

    /// A new task has nothing to do with the stop of the one before.
    pub fn forget_stop(&mut self) {
        if self.state != SiblingState::Stopping {
            self.stopping = None;
        }
    }

    /// Its actors are gone; it is made again when it is needed.
    pub fn closed(&mut self) {
        self.live = None;
        self.face.tool = None;
    }

    /// It is gone for good.
    pub fn gone(&mut self) {
        self.state = SiblingState::Gone;
        self.live = None;
        self.pending = None;
        self.face.tool = None;
        self.account.close();
    }

    /// A snapshot.
    #[must_use]
    pub fn status(&self) -> SiblingStatus {
        let spec = &self.note.spec;
        let live = self.live.as_ref();
        let model = live.and_then(|live| live.selection().model.as_ref().map(|model| model.reference()));
        let outcome = self.last_end().filter(|_| !self.is_busy()).map(|end| end.outcome.clone());
        SiblingStatus {
            id: self.note.id.clone(),
            name: spec.name.clone(),
            role: self.role().to_owned(),
            parent_id: self.note.id.parent().unwrap_or_else(SiblingId::root),
            depth: self.note.id.depth(),
            state: self.state,
            task: self.task,
            title: one_line(&spec.task, TITLE),
            model: model.or_else(|| self.last_model()),
            spent: self.spent(),
            budget: spec.budget,
            tool: self.face.tool.clone(),
            last_line: self.face.last_line.clone(),
            outcome,
            session_file: self.note.session_file.clone(),
            worktree: live.filter(|_| self.is_apart()).map(|live| live.config.cwd.display().to_string()),
        }
    }

    /// What it is for.
    #[must_use]
    pub fn role(&self) -> &str {
        self.note.spec.role.as_deref().unwrap_or("sibling")
    }

    /// Whether it works in a worktree of its own.
    #[must_use]
    pub fn is_apart(&self) -> bool {
        self.note.spec.isolation == crate::protocol::sibling::Isolation::Worktree
    }

    fn last_model(&self) -> Option<ModelRef> {
        self.last_end().and_then(|end| end.model.clone())
    }

    fn spent(&self) -> Spent {
        self.account.spent()
    }
}

/// What an account carries of a stored end.
pub(super) fn spent(usage: &Usage) -> Spent {
    Spent { tokens: usage.context_tokens(), cost: usage.cost.total, ..Spent::default() }
}

/// The first line with words of a text, cut.
#[must_use]
pub fn one_line(text: &str, limit: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    crate::tools::truncate::cut_to_units(line, limit).unwrap_or(line).to_owned()
}
