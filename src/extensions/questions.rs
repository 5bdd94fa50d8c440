//! Questions to the people in front of agents.
//!
//! Who asks waits in a worker; its death withdraws the question. Where nobody can answer, there is no waiting at all.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{sync::oneshot, time::timeout};

use crate::protocol::{
    Event,
    question::{Answer, Dialog, Question, QuestionId},
};

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// No front of this process can ask anybody.
    #[error("nobody can be asked in this mode")]
    Nobody,
    /// The time is over.
    #[error("nobody answered within {} s", .0.as_secs())]
    Late(Duration),
}

/// The open questions of a process. Cheap to clone.
#[derive(Clone, Default)]
pub struct Questions(Arc<Desk>);

#[derive(Default)]
struct Desk {
    attended: AtomicBool,
    state: Mutex<State>,
}

type Publish = Arc<dyn Fn(Event) + Send + Sync>;

#[derive(Default)]
struct State {
    agents: HashMap<String, Publish>,
    open: HashMap<QuestionId, oneshot::Sender<Answer>>,
}

impl Questions {
    /// Says how events of an agent are published.
    pub fn register(&self, agent: &str, publish: impl Fn(Event) + Send + Sync + 'static) {
        self.state().agents.insert(agent.to_owned(), Arc::new(publish));
    }

    /// Events of an agent go where those of `above` go; its questions say who asks.
    pub fn register_below(&self, agent: &str, above: &str, label: String) {
        let Some(publish) = self.state().agents.get(above).cloned() else { return };
        self.register(agent, move |event| {
            publish(match event {
                Event::QuestionAsked { question } => {
                    let title = format!("{label}: {}", question.title);
                    Event::QuestionAsked { question: Arc::new(Question { title, ..(*question).clone() }) }
                }
                event => event,
            });
        });
    }

    /// An agent is gone for good.
    pub fn forget(&self, agent: &str) {
        self.state().agents.remove(agent);
    }

    /// A front says that from now on it shows questions and brings answers.
    pub fn attend(&self) {
        self.0.attended.store(true, Ordering::Release);
    }

    /// Nobody is there any more who could answer: all open questions end without an answer.
    pub fn leave(&self) {
        self.0.attended.store(false, Ordering::Release);
        self.state().open.clear();
    }

    /// Whether a front shows questions and brings answers.
    #[must_use]
    pub fn is_attended(&self) -> bool {
        self.0.attended.load(Ordering::Acquire)
    }

    /// Publishes an event of an agent.
    pub fn tell(&self, agent: &str, event: Event) {
        let publish = self.state().agents.get(agent).cloned();
        if let Some(publish) = publish {
            publish(event);
        }
    }

    /// Brings an answer. One to a question that nobody waits for is dropped.
    pub fn answer(&self, id: &QuestionId, answer: Answer) {
        let waiting = self.state().open.remove(id);
        if let Some(waiting) = waiting {
            // Who asked may be gone at this moment.
            let _ = waiting.send(answer);
        }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn ask(
        &self,
        agent: &str,
        title: String,
        dialog: Dialog,
        limit: Option<Duration>,
    ) -> Result<Answer, NoAnswer> {
        self.ask_about(agent, None, title, dialog, limit).await
    }

    /// The same about a call of the model, by the id that the model gave it.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn ask_about(
        &self,
        agent: &str,
        tool_call_id: Option<String>,
        title: String,
        dialog: Dialog,
        limit: Option<Duration>,
    ) -> Result<Answer, NoAnswer> {
        if !self.is_attended() {
            return Err(NoAnswer::Nobody);
        }
        let (sender, answer) = oneshot::channel();
        let id = QuestionId::fresh();
        self.state().open.insert(id.clone(), sender);
        let open = Open { questions: self, agent, id };
        let timeout_ms = limit.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        let question = Arc::new(Question { id: open.id.clone(), title, dialog, timeout_ms, tool_call_id });
        self.tell(agent, Event::QuestionAsked { question });
        let answer = async { answer.await.unwrap_or(Answer::Cancelled) };
        match limit {
            Some(limit) => timeout(limit, answer).await.map_err(|_| NoAnswer::Late(limit)),
            None => Ok(answer.await),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open question. It is withdrawn when nobody waits for it any more.
struct Open<'a> {
    questions: &'a Questions,
    agent: &'a str,
    id: QuestionId,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.questions.state().open.remove(&self.id);
        self.questions.tell(self.agent, Event::QuestionClosed { id: self.id.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk() -> (Questions, Arc<Mutex<Vec<Event>>>) {
        let (questions, events) = (Questions::default(), Arc::<Mutex<Vec<Event>>>::default());
        let seen = events.clone();
        questions.register("a", move |event| seen.lock().unwrap().push(event));
        (questions, events)
    }

    fn select() -> Dialog {
        Dialog::Select { options: vec!["yes".into()] }
    }

    fn asked(events: &Mutex<Vec<Event>>) -> Option<QuestionId> {
        events.lock().unwrap().iter().find_map(|event| match event {
            Event::QuestionAsked { question } => Some(question.id.clone()),
            _ => None,
        })
    }

    fn is_closed(events: &Mutex<Vec<Event>>) -> bool {
        matches!(events.lock().unwrap().last(), Some(Event::QuestionClosed { .. }))
    }

    #[tokio::test]
    async fn fc_096_without_a_front_that_can_ask_there_is_no_waiting() {
        let (questions, events) = desk();
        assert_eq!(questions.ask("a", "?".into(), select(), None).await, Err(NoAnswer::Nobody));
        assert!(events.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn an_answer_ends_the_question_and_late_or_unknown_ones_are_dropped() {
        let (questions, events) = desk();
        questions.attend();
        questions.answer(&QuestionId::fresh(), Answer::Confirmed(true));
        let ask = questions.ask("a", "?".into(), select(), None);
        let answer = async {
            let id = asked(&events).unwrap();
            questions.answer(&id, Answer::Value("yes".into()));
            questions.answer(&id, Answer::Value("again".into()));
        };
        let (got, ()) = tokio::join!(ask, answer);
        assert_eq!(got, Ok(Answer::Value("yes".into())));
        assert!(is_closed(&events));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_ends_with_its_time_and_with_whoever_asks() {
        let (questions, events) = desk();
        questions.attend();
        let limit = Duration::from_secs(5);
        assert_eq!(questions.ask("a", "?".into(), select(), Some(limit)).await, Err(NoAnswer::Late(limit)));
        assert!(is_closed(&events));
        events.lock().unwrap().clear();
        let dropped = timeout(Duration::from_secs(1), questions.ask("a", "?".into(), select(), None)).await;
        assert!(dropped.is_err() && is_closed(&events) && questions.state().open.is_empty());
    }
}
