//! Answers to commands: exactly one each, also when the one who should answer dies.

use std::fmt;

use tokio::sync::oneshot;

use crate::protocol::{CommandError, Reply};

/// The answer to a command.
pub type CommandResult = Result<Reply, CommandError>;

/// The duty to answer a command. Dropped without an answer, it answers [`CommandError::Lost`] by itself: the death of
/// whoever holds it is an answer too.
pub struct ReplyTo(Option<Box<dyn FnOnce(CommandResult) + Send>>);

impl ReplyTo {
    /// Calls `then` with the answer.
    pub fn new(then: impl FnOnce(CommandResult) + Send + 'static) -> Self {
        Self(Some(Box::new(then)))
    }

    /// Nobody wants the answer.
    #[must_use]
    pub fn nobody() -> Self {
        Self(None)
    }

    /// A duty and the place where its answer can be awaited.
    #[must_use]
    pub fn channel() -> (Self, oneshot::Receiver<CommandResult>) {
        let (sender, receiver) = oneshot::channel();
        (Self::new(move |result| drop(sender.send(result))), receiver)
    }

    /// Answers.
    pub fn send(mut self, result: CommandResult) {
        if let Some(then) = self.0.take() {
            then(result);
        }
    }
}

impl Drop for ReplyTo {
    fn drop(&mut self) {
        if let Some(then) = self.0.take() {
            then(Err(CommandError::Lost));
        }
    }
}

impl fmt::Debug for ReplyTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplyTo")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_dropped_duty_answers_that_the_command_is_lost() {
        let (reply, answer) = ReplyTo::channel();
        drop(reply);
        assert_eq!(answer.await.unwrap(), Err(CommandError::Lost));
        let (reply, answer) = ReplyTo::channel();
        reply.send(Ok(Reply::Done));
        assert_eq!(answer.await.unwrap(), Ok(Reply::Done));
    }
}
