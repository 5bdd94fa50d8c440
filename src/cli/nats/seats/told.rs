//! What the sessions of an agent's run tell here of the agent.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    actors::front::complain,
    cli::runs::{history::History, spec::RunSpec},
    protocol::{AgentMessage, ModelRef, Usage},
    store::TreeView,
};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// What the run used, in all of its sessions; none when they cannot be read.
    pub usage: Option<Usage>,
    /// The model that answered last.
    pub model: Option<ModelRef>,
    /// The last session, here.
    pub file: Option<PathBuf>,
}

impl Told {
    /// What the sessions in `from` tell, of which the last one is put at `target`.
    ///
    /// # Errors
    /// The disk.
    pub fn bring(from: &Path, target: &Path, spec: &RunSpec) -> io::Result<Self> {
        let files = from.read_dir()?.collect::<io::Result<Vec<_>>>()?;
        let mut sessions: Vec<PathBuf> = files.into_iter().map(|file| file.path()).collect();
        sessions.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        // Their names begin with the times when they were begun.
        sessions.sort();
        let Some(last) = sessions.last() else { return Ok(Self::default()) };
        let mut told = match History::of(&sessions, spec) {
            Ok(history) => {
                let model = history.last.as_ref().and_then(model_of);
                Self { usage: Some(history.look.spent.usage), model, file: None }
            }
            Err(error) => {
                complain(&format!("Warning: the session {} cannot be read: {error}", target.display()));
                Self::default()
            }
        };
        fs::rename(last, target)?;
        told.file = Some(target.to_owned());
        Ok(told)
    }
}

fn model_of(tree: &TreeView) -> Option<ModelRef> {
    tree.last_message(|message| match message {
        AgentMessage::Assistant(answer) => {
            Some(ModelRef { provider: answer.provider.clone(), model_id: answer.model.clone() })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        actors::front::unattended::task::Message,
        protocol::{AssistantMessage, EntryBody, EntryId, command::Input},
        store::{NewEntry, NewSession, SessionStore},
    };

    /// A session file that begins with this entry and has an answer for so many tokens.
    fn session(file: &Path, first: EntryId, tokens: u64) {
        let dir = tempfile::tempdir().unwrap();
        let store = SessionStore::create_in(dir.path(), NewSession::in_folder("/w".as_ref())).unwrap();
        let usage = Usage { input: tokens, ..Usage::default() }.summed();
        let answer = AssistantMessage { usage, model: "m".into(), ..AssistantMessage::default() };
        let said = |message, id| NewEntry { body: EntryBody::Message { message }, id };
        let answer = AgentMessage::Assistant(Arc::new(answer));
        store.append(None, vec![said(AgentMessage::user("go", 0), Some(first)), said(answer, None)]).unwrap();
        fs::copy(store.path().unwrap(), file).unwrap();
    }

    #[test]
    fn what_an_agent_used_is_counted_over_all_sessions_also_when_one_took_the_place_of_another() {
        let (dir, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let spec = RunSpec { prompts: vec![Input::text("go")], ..RunSpec::nothing("r") };
        session(&dir.path().join("2026-01.jsonl"), Message::Prompt(0).id("s"), 7);
        session(&dir.path().join("2026-02.jsonl"), Message::Anew(1).id("s"), 5);
        let target = out.path().join("a.jsonl");
        let told = Told::bring(dir.path(), &target, &spec).unwrap();
        assert_eq!(told.usage.unwrap().context_tokens(), 12);
        assert_eq!((told.file.as_ref(), told.model.unwrap().model_id.as_str()), (Some(&target), "m"));
        assert!(target.is_file() && dir.path().join("2026-01.jsonl").is_file());
    }

    #[test]
    fn a_session_that_cannot_be_read_is_brought_and_tells_nothing() {
        let (dir, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let spec = RunSpec::nothing("r");
        let target = out.path().join("a.jsonl");
        assert!(Told::bring(dir.path(), &target, &spec).unwrap().file.is_none());
        fs::write(dir.path().join("x.jsonl"), "no session\n").unwrap();
        let told = Told::bring(dir.path(), &target, &spec).unwrap();
        assert!(told.usage.is_none() && told.file.is_some() && target.is_file());
    }
}
