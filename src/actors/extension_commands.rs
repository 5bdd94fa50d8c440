//! Slash commands of extensions: which there are, and which one a prompt means.

use super::{
    extension::{ExtMsg, Observer},
    extension_worker::Given,
    reply::ReplyTo,
    shared::AgentShared,
};
use crate::{
    extensions::commands::{CommandCall, CommandDeclaration, invocation_names, parse},
    protocol::{
        CommandError,
        wire::{CommandInfo, CommandSource, SourceInfo},
    },
};

/// A command of an extension.
struct Known<'a> {
    /// By which it is called.
    name: String,
    declared: CommandDeclaration,
    of: &'a Observer,
}

fn known(shared: &AgentShared) -> Vec<Known<'_>> {
    let of = |observer| {
        let observer: &Observer = observer;
        observer.extension.commands().into_iter().map(move |declared| (observer, declared))
    };
    let declared: Vec<_> = shared.config.observers.iter().flat_map(of).collect();
    let names: Vec<_> = declared.iter().map(|(_, declared)| declared.name.as_str()).collect();
    let names = invocation_names(&names);
    names.into_iter().zip(declared).map(|(name, (of, declared))| Known { name, declared, of }).collect()
}

/// All slash commands that prompts may use: those of extensions, then templates and skills.
#[must_use]
pub fn all(shared: &AgentShared) -> Vec<CommandInfo> {
    let info = |known: Known<'_>| CommandInfo {
        name: known.name,
        description: known.declared.description,
        source: CommandSource::Extension,
        source_info: SourceInfo {
            path: format!("<native:{}>", known.of.extension.name()),
            source: "native".to_owned(),
            scope: "temporary".to_owned(),
            origin: "top-level".to_owned(),
            base_dir: None,
        },
    };
    let mut all: Vec<_> = known(shared).into_iter().map(info).collect();
    all.extend(shared.config.resources.commands());
    all
}

/// A command that a prompt means, and whose it is.
pub(super) struct Meant {
    name: String,
    call: CommandCall,
    of: Observer,
}

/// The command that `text` means; none when it is no command of an extension.
pub(super) fn meant(shared: &AgentShared, text: &str) -> Option<Meant> {
    let (name, arguments) = parse(text)?;
    let Known { name, declared, of } = known(shared).into_iter().find(|known| known.name == name)?;
    let call = CommandCall { name: declared.name, arguments: arguments.to_owned() };
    Some(Meant { name, call, of: of.clone() })
}

impl Meant {
    /// Has the extension run it; the answer comes when it is done.
    pub(super) fn run(self, shared: &AgentShared, reply: ReplyTo) {
        let Self { call, of, .. } = self;
        if of.slot.get().is_none() {
            let text = format!("/{} was not run: the extension {} is not running.", call.name, of.extension.name());
            return reply.send(Err(CommandError::Refused(text)));
        }
        let given = Given::new(reply, of.control.agent(&shared.id));
        // Dropping what could not be delivered answers, too.
        drop(of.slot.try_tell(ExtMsg::Command { agent: shared.id.clone(), call, given }));
    }

    /// It cannot wait in a queue.
    pub(super) fn refuse_queue(&self) -> CommandError {
        let (name, extension) = (&self.name, self.of.extension.name());
        CommandError::Refused(format!(
            "/{name} is a command of the extension {extension} and cannot wait in a queue. Send it with prompt: it runs at \
             once, also while the agent works."
        ))
    }
}
