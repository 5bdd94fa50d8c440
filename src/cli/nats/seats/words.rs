//! From a role of a team to the run that is its agent.

use std::path::PathBuf;

use crate::{
    actors::team::driver::Assignment,
    cli::{
        env::Environment,
        runs::{args::RunLine, request, spec::RunSpec},
    },
    protocol::{
        command::Input,
        sibling::{Budget, SiblingSpec},
    },
    providers::catalogue::{SCRIPT, TROUPE},
};

/// How agents of a team are started.
#[derive(Clone, Debug, Default)]
pub struct SeatWords {
    /// The flags of all agents.
    pub all: Vec<String>,
    /// The model of agents that name none, and the script that it plays.
    pub model: Option<String>,
    /// The same.
    pub script: Option<PathBuf>,
}

/// A task as the message that it becomes: taken as it stands.
pub(super) fn prompt(text: &str) -> Input {
    Input { verbatim: true, ..Input::text(text) }
}

impl SeatWords {
    /// The run that is an agent with its first task.
    ///
    /// # Errors
    /// Nobody has said as what it is made, or its words make no sense.
    pub(super) fn run(
        &self,
        environment: &Environment,
        run: &str,
        on: &str,
        task: &Assignment,
    ) -> Result<RunSpec, String> {
        let Some(spec) = &task.spec else { return Err("the server does not know it any more".to_owned()) };
        let words = self.of(spec, &task.budget);
        let told = |errors: Vec<crate::cli::args::ArgError>| {
            errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        let line = RunLine::parse(&words).map_err(told)?;
        let prompts = vec![prompt(&task.text)];
        let made = request::new_run(environment, run.to_owned(), &words, &line, prompts, None);
        Ok(RunSpec { on: Some(on.to_owned()), ..made })
    }

    /// The words behind `troupe run` for an agent; what comes later wins.
    fn of(&self, spec: &SiblingSpec, budget: &Budget) -> Vec<String> {
        let mut words = self.all.clone();
        let mut add = |flag: &str, value: Option<String>| words.extend(value.map(|value| format!("--{flag}={value}")));
        let plays = spec.script.as_ref().map(|_| format!("{TROUPE}/{SCRIPT}"));
        let (model, script) = match spec.model.clone().or(plays) {
            Some(own) => (Some(own), &spec.script),
            None => (self.model.clone(), &self.script),
        };
        add("model", model);
        add("script", script.as_ref().map(|path| path.display().to_string()));
        add("thinking", spec.thinking.map(|level| level.as_str().to_owned()));
        add("append-system-prompt", spec.prompt.clone());
        add("max-tokens", budget.tokens.map(|limit| limit.to_string()));
        add("max-cost", budget.cost.map(|limit| limit.to_string()));
        add("max-turns", budget.turns.map(|limit| limit.to_string()));
        add("timeout", budget.seconds.map(|limit| format!("{}ms", (limit * 1000.0).ceil())));
        match &spec.tools {
            Some(tools) if tools.is_empty() => words.push("--no-tools".to_owned()),
            Some(tools) => words.push(format!("--tools={}", tools.join(","))),
            None => {}
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ThinkingLevel;

    #[test]
    fn a_role_becomes_the_words_of_a_run_that_can_be_read() {
        let all = SeatWords { all: vec!["--offline".into()], model: Some("first".into()), script: None };
        let budget =
            Budget { tokens: Some(9), cost: Some(0.25), turns: Some(3), seconds: Some(1.5), ..Budget::default() };
        let spec = SiblingSpec {
            thinking: Some(ThinkingLevel::High),
            tools: Some(vec!["read".into(), "grep".into()]),
            prompt: Some("--look\nand say".into()),
            ..SiblingSpec::default()
        };
        let words = all.of(&spec, &budget);
        assert_eq!(
            words.join("|"),
            "--offline|--model=first|--thinking=high|--append-system-prompt=--look\nand say|\
             --max-tokens=9|--max-cost=0.25|--max-turns=3|--timeout=1500ms|--tools=read,grep"
        );
        let line = RunLine::parse(&words).unwrap();
        assert_eq!((line.run.max_tokens, line.run.max_turns, line.run.max_cost), (Some(9), Some(3), Some(0.25)));
        assert!(line.refused().is_none() && line.agent.messages.is_empty());

        let plays = SiblingSpec { script: Some("/s.toml".into()), tools: Some(Vec::new()), ..SiblingSpec::default() };
        assert_eq!(
            all.of(&plays, &Budget::default()),
            ["--offline", "--model=troupe/script", "--script=/s.toml", "--no-tools"]
        );
        let named = SiblingSpec { model: Some("other".into()), ..SiblingSpec::default() };
        assert_eq!(all.of(&named, &Budget::default()), ["--offline", "--model=other"]);
    }
}
