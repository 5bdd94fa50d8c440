//! The worker that runs the user's check of the work.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio_util::sync::CancellationToken;

use super::task::Check;
use crate::{
    actors::{address::Recipient, shared::AgentShared},
    protocol::command::BashResult,
    tools::{
        truncate::{Limits, tail},
        user_bash,
    },
};

/// What of the output goes back to the agent: failures stand at the end.
const TOLD: Limits = Limits { lines: 200, bytes: 8 << 10 };

/// What the worker needs.
pub struct VerifyWork {
    /// The agent: the check runs where its tools do.
    pub shared: Arc<AgentShared>,
    /// The check.
    pub check: Check,
    /// Ends it.
    pub cancel: CancellationToken,
    /// Who gets the result: nothing when the check is content, else words for the model.
    pub to: Recipient<Result<(), String>>,
}

/// The worker.
pub struct Verify;

impl Actor for Verify {
    type Msg = VerifyWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<VerifyWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<VerifyWork>,
        work: VerifyWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let VerifyWork { shared, check, cancel, to } = work;
        let config = &shared.config;
        let (command, time) = (&check.command, check.timeout);
        let ran = user_bash::run_within(time, &*config.operations, command, &config.cwd, &config.facts, &cancel).await;
        let result = match ran {
            Ok((result, timed_out)) => judge(&check, &result, timed_out),
            Err(error) => Err(format!("The check `{command}` could not be run: {error}")),
        };
        // The front is gone: so is whoever wanted to know.
        let _ = to.deliver(result);
        myself.stop(None);
        Ok(())
    }
}

/// What the result means.
fn judge(check: &Check, result: &BashResult, timed_out: bool) -> Result<(), String> {
    let how = match result.exit_code {
        Some(0) => return Ok(()),
        Some(code) => format!("exit code {code}"),
        None if timed_out => format!("it took longer than {} s and was ended", check.timeout.as_secs_f32()),
        None => "it was ended".to_owned(),
    };
    let output = tail(result.output.trim_end(), TOLD);
    let output = match output.content.is_empty() {
        true => "It printed nothing.".to_owned(),
        false => format!("The end of its output:\n{}", output.content),
    };
    Err(format!(
        "The check `{}` failed ({how}). {output}\nFind out why and mend it. The check runs again then.",
        check.command
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_check_is_content_with_exit_code_0_alone_and_says_what_it_found_otherwise() {
        let check = Check { command: "make test".into(), timeout: Duration::from_secs(9), retries: 2 };
        let result = |exit_code, output: &str| BashResult { exit_code, output: output.into(), ..BashResult::default() };
        assert_eq!(judge(&check, &result(Some(0), "fine"), false), Ok(()));
        for (result, timed_out, words) in [
            (result(Some(1), "one\nboom\n"), false, "(exit code 1). The end of its output:\none\nboom\n"),
            (result(Some(1), ""), false, "It printed nothing."),
            (result(None, "x"), true, "longer than 9 s"),
            (result(None, "x"), false, "it was ended"),
        ] {
            let told = judge(&check, &result, timed_out).unwrap_err();
            assert!(told.contains(words) && told.contains("`make test`"), "{told}");
        }
        let long = "x".repeat(100).repeat(200) + "\nthe end";
        assert!(judge(&check, &result(Some(1), &long), false).unwrap_err().contains("the end"));
    }
}
