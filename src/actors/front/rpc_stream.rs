//! Answers that are too long to be held: they are written straight from the session's file, element by element, by the
//! thread that owns standard output.

use std::io::{self, Write};

use super::stdout::Chunk;
use crate::{
    protocol::{
        EntryId,
        wire::{RequestId, RpcCommand, streamed_response},
    },
    store::tree::TreeView,
};

/// The answer to a question about a whole session; none for other questions, and where the entry that it begins behind
/// is unknown.
pub fn answer(tree: &TreeView, id: Option<&RequestId>, question: &RpcCommand) -> Option<Chunk> {
    let leaf_id = tree.leaf().map(|leaf| leaf.id().clone());
    let view = tree.clone();
    let name = question.name();
    Some(match question {
        RpcCommand::GetMessages => chunk(id, name, "messages", None, move |out| view.write_messages(out)),
        RpcCommand::GetTree => chunk(id, name, "tree", Some(&leaf_id), move |out| view.write_nodes(out)),
        RpcCommand::GetEntries { since } => {
            let since = since.clone();
            if since.as_ref().is_some_and(|since| tree.find(since).is_none()) {
                return None;
            }
            let entries = move |out: &mut dyn Write| view.write_entries(since.as_ref(), out);
            chunk(id, name, "entries", Some(&leaf_id), entries)
        }
        _ => return None,
    })
}

fn chunk(
    id: Option<&RequestId>,
    command: &'static str,
    list: &str,
    leaf_id: Option<&Option<EntryId>>,
    elements: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
) -> Chunk {
    let (head, tail) = streamed_response(id, command, list, leaf_id);
    let stream = move |out: &mut dyn Write| {
        elements(out)?;
        out.write_all(&tail)
    };
    Chunk { bytes: head, stream: Some(Box::new(stream)), ..Chunk::default() }
}
