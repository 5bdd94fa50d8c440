//! Starting the workers that the machine waits for: one at a time.

use std::sync::Arc;

use ractor::{ActorRef, Message};

use super::{LoopMsg, LoopState, Worker};
use crate::{
    actors::{
        address::{Addr, Recipient},
        asker::{AskWork, Asker},
        fleet::AgentSpawner,
        job_worker::AgentJobs,
        prepare::{Prepare, PrepareWork, command_environment},
        provider_stream::{ProviderStream, StreamWork},
        restart::Exit,
        spawn::{spawn, spawn_worker},
        store_check::{CheckWork, StoreCheck},
        tool_batch::{BatchArgs, BatchMsg, ToolBatch},
        turn_io::{Input, NewEntry, Work},
    },
    protocol::{EntryId, Failure, FailureClass, Model, ThinkingLevel, ToolCall, ask::Ask, checkpoint::CheckpointCause},
    store::tree::TreeView,
    tools::{Progress, ToolContext},
};

impl LoopState {
    /// Notes the worker that the machine waits for now; a worker that did not start is gone at once.
    fn waits_for<M: Message>(
        &mut self,
        kind: &'static str,
        work: Work,
        spawned: Result<Addr<M>, Exit>,
        cancel: impl FnOnce(&Addr<M>) -> Option<Box<dyn Fn() + Send + Sync>>,
    ) -> Option<Input> {
        match spawned {
            Ok(addr) => {
                let cancel = cancel(&addr);
                let id = addr.id();
                let kill = Box::new(move || addr.kill());
                self.worker = Some(Worker { id, kind, work, kill, cancel, entries: Vec::new() });
                None
            }
            Err(exit) => Some(Input::Gone { work, actor: kind, exit }),
        }
    }

    pub(super) async fn spawn_asker(&mut self, myself: &ActorRef<LoopMsg>, work: Work, ask: Ask) -> Option<Input> {
        let label = ask.point().name();
        let message =
            AskWork { shared: self.shared.clone(), asking: self.shared.asking(), ask, to: self.inputs(), work };
        let spawned = spawn_worker("Asker", label, Asker, (), message, myself.get_cell()).await;
        self.waits_for("Asker", work, spawned, |_| None)
    }

    /// Has extensions look at entries before they are stored.
    pub(super) async fn check(
        &mut self,
        myself: &ActorRef<LoopMsg>,
        work: Work,
        entries: Vec<NewEntry>,
    ) -> Option<Input> {
        let to = Recipient::new(self.me.clone(), move |entries| LoopMsg::Checked { work, entries });
        let message =
            CheckWork { shared: self.shared.clone(), asking: self.shared.asking(), entries: entries.clone(), to };
        match spawn_worker("StoreCheck", "", StoreCheck, (), message, myself.get_cell()).await {
            Ok(addr) => {
                let id = addr.id();
                let kill = Box::new(move || addr.kill());
                self.worker = Some(Worker { id, kind: "StoreCheck", work, kill, cancel: None, entries });
            }
            Err(_) => self.append(work, entries),
        }
        None
    }

    pub(super) async fn spawn_prepare(
        &mut self,
        myself: &ActorRef<LoopMsg>,
        work: Work,
        tree: TreeView,
        model: Arc<Model>,
        thinking: ThinkingLevel,
        system_prompt: Option<String>,
    ) -> Option<Input> {
        let message = PrepareWork {
            shared: self.shared.clone(),
            tree,
            model,
            thinking,
            system_prompt,
            cancel: Self::token(),
            asking: self.shared.asking(),
            to: Recipient::new(self.me.clone(), LoopMsg::Prepared),
            work,
        };
        let spawned = spawn_worker("Prepare", "", Prepare, (), message, myself.get_cell()).await;
        self.waits_for("Prepare", work, spawned, |_| None)
    }

    pub(super) async fn call(&mut self, myself: &ActorRef<LoopMsg>, work: Work) -> Option<Input> {
        let Some(ready) = self.ready.take() else {
            let failure = Failure::new(FailureClass::Internal, "the request was lost before it was sent");
            return Some(Input::Prepared { work, result: Err(failure) });
        };
        self.shared.warm_up();
        let label = ready.request.model.reference().to_string();
        let token = ready.request.cancel.clone();
        let message = StreamWork {
            shared: self.shared.clone(),
            provider: ready.provider,
            request: ready.request,
            routed: ready.routed,
            call: ready.call,
            to: self.inputs(),
            work,
            span: self.spans.current(),
        };
        let spawned = spawn_worker("ProviderStream", label, ProviderStream, (), message, myself.get_cell()).await;
        self.waits_for("ProviderStream", work, spawned, |_| Some(Box::new(move || token.cancel())))
    }

    pub(super) async fn run_tools(
        &mut self,
        myself: &ActorRef<LoopMsg>,
        work: Work,
        entry: EntryId,
        calls: Arc<[ToolCall]>,
        places: Vec<usize>,
    ) -> Option<Input> {
        let operations = self.shared.operations(Some(entry.clone()), CheckpointCause::Tools);
        let args = BatchArgs {
            shared: self.shared.clone(),
            to: self.inputs(),
            work,
            entry,
            calls,
            places,
            context: ToolContext { operations, ..self.tool_context() },
            tools: Arc::new(self.shared.active_tools()),
            span: self.spans.current(),
        };
        let label = self.shared.id.to_string();
        let spawned = spawn("ToolBatch", label, ToolBatch, args, myself.get_cell()).await;
        self.waits_for("ToolBatch", work, spawned, |addr| {
            let addr = addr.clone();
            Some(Box::new(move || addr.tell(BatchMsg::Abort)))
        })
    }

    /// What the tools of a batch may use.
    fn tool_context(&self) -> ToolContext {
        let (model, thinking) = self.selected();
        let config = &self.shared.config;
        let tree = self.shared.tree();
        let mut facts = config.facts.clone();
        facts.environment.extend(command_environment(
            tree.as_ref(),
            self.shared.place.file(),
            model.as_deref(),
            thinking,
        ));
        facts.takes_images = model.as_ref().is_some_and(|model| model.takes_images());
        if let Some(model) = &model {
            facts.pictures = facts.pictures.for_model(model);
        }
        facts.model = model.map(|model| (model.provider.clone(), model.id.clone()));
        facts.file_memory = Some(self.shared.file_memory.clone());
        facts.jobs = Some(Arc::new(AgentJobs::of(&self.shared)));
        if self.shared.kin.may_spawn() {
            facts.siblings = Some(Arc::new(AgentSpawner::of(&self.shared)));
        }
        facts.shares_folder = self.shared.kin.board.counts().0 > 0;
        ToolContext {
            tool_call_id: String::new(),
            arguments: serde_json::Map::new(),
            cwd: config.cwd.clone(),
            cancel: Self::token(),
            progress: Arc::new(Progress::default()),
            operations: config.operations.clone(),
            session: Arc::new(facts),
        }
    }
}
