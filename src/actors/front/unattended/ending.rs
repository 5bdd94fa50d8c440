//! How the front of a run ends: the trace that runs first, then the run, with a last word.

use super::{
    front::{UnattendedMsg, UnattendedState, Waiting},
    outcome::Outcome,
    progress,
    words::{Report, Word},
};
use crate::{
    actors::{front::complain, reply::ReplyTo},
    protocol::Command,
};

impl UnattendedState {
    /// Ends the trace that runs, and then the run.
    pub(super) fn stop(&mut self, outcome: Outcome, reason: Option<String>) {
        if self.found.stopping.is_some() {
            return;
        }
        self.found.stopping = Some((outcome, reason));
        if let Some(Waiting::Check(_, cancel)) = &self.waiting {
            cancel.cancel();
        }
        self.agent.send(Command::Abort, ReplyTo::nobody());
        self.look();
    }

    /// The run is over.
    pub(super) fn end(&mut self, outcome: Outcome, reason: Option<String>) {
        let tree = self.agent.shared.tree();
        let unsaved = self.agent.shared.place.is_unsaved();
        let look = self.found.look.take().map(|(_, look)| look).unwrap_or_default();
        let report = Report {
            outcome: if unsaved { Outcome::NotSaved } else { outcome },
            reason,
            answer: tree.as_ref().and_then(progress::last_text),
            value: self.found.form.clone().and_then(Result::ok),
            spent: look.spent,
            denied: look.denied,
            changed_files: look.files.into_iter().collect(),
        };
        self.last_word(&Word::End(Box::new(report)));
    }

    /// The run cannot go on, here or elsewhere.
    pub(super) fn fail(&mut self, reason: &str) {
        complain(&format!("Error: {reason}"));
        let report = Report { spent: self.spent, ..Report::bare(Outcome::Failed, reason) };
        self.last_word(&Word::End(Box::new(report)));
    }

    /// The run cannot go on here.
    pub(super) fn broken(&mut self, cause: &str) {
        complain(&format!("Error: {cause}"));
        self.last_word(&Word::Broken { cause: cause.to_owned() });
    }

    fn last_word(&mut self, word: &Word) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.tell(word);
        let (me, words) = (self.me.clone(), self.words.clone());
        let flush = move || words.flushed(move || me.tell(UnattendedMsg::Flushed));
        match &self.events {
            Some(events) => events.flushed(flush),
            None => flush(),
        }
    }
}
