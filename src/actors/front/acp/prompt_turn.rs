//! The prompt of a session: when its turn is over, and how. A pure value.
//!
//! The answer to the command that started it and the end of its trace come from different actors, in any order; the
//! numbers of events tell whether an end is that of this prompt or of an earlier trace.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{Error, ErrorCode, RequestId, StopReason as End};

use super::json_rpc::error;
use crate::protocol::{
    AssistantMessage, CommandError, StopReason,
    command::{Disposition, Input},
    event::Seq,
};

/// How a turn ended.
pub(super) type Ended = Result<End, Error>;

/// The answer to a prompt.
pub(super) type Answered = (RequestId, Ended);

/// A prompt that runs.
#[derive(Debug)]
struct Running {
    id: RequestId,
    input: Input,
    /// The last event before the agent had taken it.
    taken: Option<Seq>,
    /// The last end of a trace.
    settled: Option<(Seq, bool)>,
    cancelled: bool,
    last: Option<Arc<AssistantMessage>>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct PromptTurn {
    running: Option<Running>,
    /// A prompt that came while the one before was being cancelled.
    next: Option<(RequestId, Input)>,
}

impl PromptTurn {
    /// A prompt comes. It is to be sent at once when that is what comes back; none: it waits for the end of one that is
    /// cancelled.
    pub(super) fn begin(&mut self, id: RequestId, input: Input) -> Result<Option<Input>, Error> {
        match &self.running {
            None => {
                let sent = input.clone();
                self.running = Some(Running { id, input, taken: None, settled: None, cancelled: false, last: None });
                Ok(Some(sent))
            }
            Some(running) if running.cancelled && self.next.is_none() => {
                self.next = Some((id, input));
                Ok(None)
            }
            Some(_) => {
                let text = "a prompt is running in this session: wait for its end, or cancel it first";
                Err(error(ErrorCode::InvalidRequest, text))
            }
        }
    }

    /// The prompt that waited for the end of a cancelled one.
    pub(super) fn take_next(&mut self) -> Option<(RequestId, Input)> {
        if self.running.is_some() { None } else { self.next.take() }
    }

    /// What is to be sent again when its answer was lost.
    pub(super) fn input(&self) -> Option<Input> {
        self.running.as_ref().map(|running| running.input.clone())
    }

    /// The prompt is to end. True when there is one.
    pub(super) fn cancel(&mut self) -> bool {
        match &mut self.running {
            Some(running) => {
                running.cancelled = true;
                true
            }
            None => false,
        }
    }

    /// Whether this request is the prompt that runs.
    pub(super) fn is(&self, id: &RequestId) -> bool {
        self.running.as_ref().is_some_and(|running| running.id == *id)
    }

    /// The agent took the prompt, `after` being the last event before; or it did not.
    pub(super) fn taken(&mut self, result: Result<Disposition, CommandError>, after: Seq) -> Option<Answered> {
        let running = self.running.as_mut()?;
        match result {
            Ok(Disposition::Handled) => self.end(Ok(End::EndTurn)),
            Ok(Disposition::Started | Disposition::Queued) => {
                running.taken = Some(after);
                self.over()
            }
            Err(CommandError::NoModel) => {
                self.end(Err(error(ErrorCode::AuthRequired, CommandError::NoModel.to_string())))
            }
            Err(fault) => self.end(Err(error(ErrorCode::InternalError, fault.to_string()))),
        }
    }

    /// The model answered something.
    pub(super) fn answered(&mut self, message: &Arc<AssistantMessage>) {
        if let Some(running) = &mut self.running {
            running.last = Some(message.clone());
        }
    }

    /// A trace is over.
    pub(super) fn settled(&mut self, seq: Seq, aborted: bool) -> Option<Answered> {
        self.running.as_mut()?.settled = Some((seq, aborted));
        self.over()
    }

    /// Nothing will come any more.
    pub(super) fn broken(&mut self, cause: &str) -> Vec<Answered> {
        let running = self.running.take().map(|running| (running.id, running.cancelled));
        let next = self.next.take().map(|(id, _)| (id, false));
        let end = |(id, cancelled)| match cancelled {
            true => (id, Ok(End::Cancelled)),
            false => (id, Err(error(ErrorCode::InternalError, cause))),
        };
        running.into_iter().chain(next).map(end).collect()
    }

    fn over(&mut self) -> Option<Answered> {
        let running = self.running.as_ref()?;
        let (seq, aborted) = running.settled?;
        if seq <= running.taken? {
            return None;
        }
        let ended = if aborted { Ok(End::Cancelled) } else { how(running.last.as_deref()) };
        self.end(ended)
    }

    fn end(&mut self, ended: Ended) -> Option<Answered> {
        let running = self.running.take()?;
        // Whoever cancels is not told of what broke because of it.
        Some((running.id, if running.cancelled { Ok(End::Cancelled) } else { ended }))
    }
}

/// How a turn ended whose last answer is this one.
fn how(last: Option<&AssistantMessage>) -> Ended {
    let Some(last) = last else { return Ok(End::EndTurn) };
    match last.stop_reason {
        StopReason::Length => Ok(End::MaxTokens),
        StopReason::Aborted => Ok(End::Cancelled),
        StopReason::Error => {
            let text = last.error_message.clone().unwrap_or_else(|| "the request failed".to_owned());
            Err(error(ErrorCode::InternalError, text))
        }
        _ => Ok(End::EndTurn),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u64) -> Seq {
        Seq { epoch: 1, n }
    }

    fn answer(stop_reason: StopReason) -> Arc<AssistantMessage> {
        let error_message = (stop_reason == StopReason::Error).then(|| "no such model".to_owned());
        Arc::new(AssistantMessage { stop_reason, error_message, ..AssistantMessage::default() })
    }

    fn begun() -> PromptTurn {
        let mut turn = PromptTurn::default();
        assert!(turn.begin(RequestId::Number(1), Input::text("x")).unwrap().is_some());
        turn
    }

    fn text(answered: Option<Answered>) -> String {
        match answered {
            None => "none".to_owned(),
            Some((id, Ok(end))) => format!("{id} {end:?}"),
            Some((id, Err(error))) => format!("{id} {}", error.message),
        }
    }

    #[test]
    fn a_turn_ends_with_the_end_of_its_own_trace_whatever_comes_first() {
        let mut turn = begun();
        assert_eq!(text(turn.settled(at(3), false)), "none", "the end of an earlier trace, perhaps");
        assert_eq!(text(turn.taken(Ok(Disposition::Started), at(4))), "none", "it was");
        assert_eq!(text(turn.settled(at(9), false)), "1 EndTurn");
        assert_eq!(text(turn.settled(at(10), false)), "none");
        let mut turn = begun();
        assert_eq!(text(turn.settled(at(9), false)), "none");
        assert_eq!(text(turn.taken(Ok(Disposition::Queued), at(4))), "1 EndTurn");
    }

    #[test]
    fn the_last_answer_says_how_it_ended() {
        let table = [
            (StopReason::Stop, false, "1 EndTurn"),
            (StopReason::ToolUse, false, "1 EndTurn"),
            (StopReason::Length, false, "1 MaxTokens"),
            (StopReason::Error, false, "1 no such model"),
            (StopReason::Aborted, false, "1 Cancelled"),
            (StopReason::Stop, true, "1 Cancelled"),
        ];
        for (reason, aborted, wanted) in table {
            let mut turn = begun();
            turn.answered(&answer(reason));
            turn.taken(Ok(Disposition::Started), at(1));
            assert_eq!(text(turn.settled(at(2), aborted)), wanted, "{reason:?} {aborted}");
        }
    }

    #[test]
    fn a_prompt_that_is_not_taken_ends_at_once() {
        assert_eq!(text(begun().taken(Ok(Disposition::Handled), at(1))), "1 EndTurn");
        assert_eq!(text(begun().taken(Err(CommandError::Refused("no".into())), at(1))), "1 no");
        let no_model = begun().taken(Err(CommandError::NoModel), at(1));
        assert!(matches!(no_model, Some((_, Err(error))) if error.code == ErrorCode::AuthRequired));
    }

    #[test]
    fn another_prompt_is_refused_or_waits_for_the_end_of_a_cancelled_one() {
        let mut turn = begun();
        assert!(turn.begin(RequestId::Number(2), Input::text("y")).is_err());
        assert!(turn.cancel() && turn.is(&RequestId::Number(1)));
        assert!(turn.begin(RequestId::Number(2), Input::text("y")).unwrap().is_none());
        assert!(turn.begin(RequestId::Number(3), Input::text("z")).is_err());
        assert!(turn.take_next().is_none());
        turn.taken(Ok(Disposition::Started), at(1));
        turn.answered(&answer(StopReason::Error));
        assert_eq!(text(turn.settled(at(2), false)), "1 Cancelled", "what broke by it is no error");
        assert_eq!(turn.take_next().map(|(id, _)| id), Some(RequestId::Number(2)));
        assert!(!turn.cancel());
    }

    #[test]
    fn what_breaks_answers_all_who_wait() {
        let mut turn = begun();
        turn.cancel();
        assert!(turn.begin(RequestId::Number(2), Input::text("y")).unwrap().is_none());
        let answers: Vec<String> = turn.broken("gone").into_iter().map(|answer| text(Some(answer))).collect();
        assert_eq!(answers, ["1 Cancelled", "2 gone"]);
    }
}
