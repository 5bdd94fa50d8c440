//! A sibling's conversation, for whoever wants to read it.

use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use crate::{
    actors::kin::Kin,
    protocol::{
        AgentMessage,
        sibling::{SiblingError, Transcript},
    },
    store::{session::open::read_view, tree::TreeView},
};

/// Messages of a sibling from a place on.
pub(super) async fn read(kin: &Kin, name: &str, from: usize, limit: usize) -> Result<Transcript, SiblingError> {
    let id = kin.board.resolve(&kin.id, name)?;
    let found = kin
        .board
        .look(&id, |member| (member.live().map(|agent| agent.place.store.clone()), member.note().session_file.clone()));
    let (store, file) = found.unwrap_or_default();
    let read = spawn_blocking(move || match (store, file) {
        (Some(store), _) => Ok(page(&store.view(), from, limit)),
        // Without an answer it had nothing to say that its parent's session does not.
        (None, Some(file)) if !Path::new(&file).exists() => Ok(Transcript { messages: Vec::new(), from: 0, total: 0 }),
        (None, Some(file)) => {
            let view = read_view(&PathBuf::from(file)).map_err(|error| error.to_string())?;
            Ok(page(&view, from, limit))
        }
        (None, None) => Err("its session was in memory, and is gone".to_owned()),
    });
    let read = read.await.unwrap_or_else(|error| Err(error.to_string()));
    read.map_err(|cause| SiblingError::Refused(format!("the conversation of {id} cannot be read: {cause}")))
}

fn page(view: &TreeView, from: usize, limit: usize) -> Transcript {
    let path = view.path();
    let messages = path.iter().filter_map(|entry| entry.entry().body.as_message().cloned());
    let all: Vec<_> = messages.filter(|message| !matches!(message, AgentMessage::System(_))).collect();
    let total = all.len();
    Transcript { messages: all.into_iter().skip(from).take(limit).collect(), from: from.min(total), total }
}
