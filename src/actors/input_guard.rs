//! The worker that has guards decide about a user's input, and makes its pictures fit. Its death denies.

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{
    address::Recipient,
    chain::{Asking, Chain},
};
use crate::{
    protocol::{
        ImageBlock,
        ask::{InputAsk, InputVerdict},
    },
    tools::picture::{PicturePolicy, prompt::fit_all},
};

/// What the worker needs.
pub struct InputWork {
    /// The guards.
    pub chain: Chain,
    /// Who asks.
    pub asking: Asking,
    /// The question.
    pub ask: InputAsk,
    /// What pictures must be like.
    pub pictures: PicturePolicy,
    /// Who waits.
    pub to: Recipient<Admission>,
}

/// What came of an input.
#[derive(Clone, Debug)]
pub struct Admission {
    /// What the guards say, with pictures that fit.
    pub verdict: InputVerdict,
    /// What was done to the pictures, for the model: one bracketed line each.
    pub notes: Vec<String>,
}

impl From<InputVerdict> for Admission {
    fn from(verdict: InputVerdict) -> Self {
        Self { verdict, notes: Vec::new() }
    }
}

/// Denies when it is dropped undecided: a worker that dies has decided nothing.
struct Decision(Option<Recipient<Admission>>);

impl Decision {
    fn make(mut self, admission: Admission) {
        if let Some(to) = self.0.take() {
            // The loop is gone: nobody waits for the decision.
            let _ = to.deliver(admission);
        }
    }
}

impl Drop for Decision {
    fn drop(&mut self) {
        if let Some(to) = self.0.take() {
            let reason = "Denied: the worker that asks the input guards died".to_owned();
            let _ = to.deliver(InputVerdict::Deny { reason }.into());
        }
    }
}

/// The worker.
pub struct InputGuard;

impl Actor for InputGuard {
    type Msg = InputWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<InputWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<InputWork>,
        work: InputWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let InputWork { chain, asking, ask, pictures, to } = work;
        let decision = Decision(Some(to));
        let given = (ask.text.clone(), ask.images.clone());
        let verdict = chain.input(&asking, ask).await;
        decision.make(with_fitting_pictures(verdict, given, pictures).await);
        myself.stop(None);
        Ok(())
    }
}

/// The verdict on what was given, with the pictures that are left made fit.
async fn with_fitting_pictures(
    verdict: InputVerdict,
    given: (String, Vec<ImageBlock>),
    pictures: PicturePolicy,
) -> Admission {
    let (text, images) = match verdict {
        InputVerdict::Continue => given,
        InputVerdict::Transform { text, images } => (text, images.unwrap_or(given.1)),
        end @ (InputVerdict::Handled | InputVerdict::Deny { .. }) => return end.into(),
    };
    let (images, notes) = fit_all(images, pictures).await;
    Admission { verdict: InputVerdict::Transform { text, images: Some(images) }, notes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pictures_that_the_guards_leave_are_made_fit_and_what_is_refused_stays_refused() {
        // A GIF whose header promises more pixels than anybody decodes.
        let bomb = ImageBlock { data: "R0lGODlh/////wAAAA==".into(), mime_type: "image/gif".into() };
        let (deny, handled) = (InputVerdict::Deny { reason: "no".into() }, InputVerdict::Handled);
        let changed = |images| InputVerdict::Transform { text: "new".into(), images };
        let table = [
            (InputVerdict::Continue, Some(("old", 1))),
            (changed(None), Some(("new", 1))),
            (changed(Some(Vec::new())), Some(("new", 0))),
            (deny, None),
            (handled, None),
        ];
        for (verdict, wanted) in table {
            let given = ("old".to_owned(), vec![bomb.clone()]);
            let Admission { verdict: after, notes } =
                with_fitting_pictures(verdict.clone(), given, PicturePolicy::default()).await;
            match wanted {
                Some((text, omitted)) => {
                    assert_eq!(after, InputVerdict::Transform { text: text.into(), images: Some(Vec::new()) });
                    assert_eq!(notes.len(), omitted, "{notes:?}");
                }
                None => assert_eq!((after, notes.len()), (verdict, 0)),
            }
        }
    }
}
