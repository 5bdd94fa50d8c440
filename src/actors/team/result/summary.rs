//! Several runs beside each other.

use serde::{Deserialize, Serialize};

use super::TeamResult;
use crate::actors::front::page::numbers::{cost, duration, grouped};

/// Middle and ends of some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The middle one; the mean of the two in the middle.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of these numbers; all zero when there are none.
    #[must_use]
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Self {
        let mut numbers: Vec<f64> = numbers.into_iter().collect();
        numbers.sort_by(f64::total_cmp);
        let (Some(min), Some(max)) = (numbers.first().copied(), numbers.last().copied()) else {
            return Self::default();
        };
        let middle = numbers.len() / 2;
        let median = match numbers.len() % 2 {
            0 => f64::midpoint(numbers[middle - 1], numbers[middle]),
            _ => numbers[middle],
        };
        Self { median, min, max }
    }

    fn shown(&self, show: impl Fn(f64) -> String) -> String {
        if self.min == self.max {
            return show(self.median);
        }
        format!("{} ({}–{})", show(self.median), show(self.min), show(self.max))
    }
}

/// A run in a summary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunSummary {
    /// The folder of its result.
    pub folder: String,
    /// Its seed.
    pub seed: u64,
    /// How it ended.
    pub outcome: String,
    /// How long it took.
    pub wall_ms: u64,
    /// Tokens of all its agents.
    pub tokens: u64,
    /// Their cost in US dollars.
    pub cost: f64,
}

/// What the agents of a role used in a run, over all runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RoleSummary {
    /// The role.
    pub role: String,
    /// Agents.
    pub agents: Spread,
    /// Tokens.
    pub tokens: Spread,
    /// US dollars.
    pub cost: Spread,
    /// Milliseconds of work, one agent after the other.
    pub ms: Spread,
}

/// `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Summary {
    /// The team's name.
    pub team: String,
    /// Runs that came to their end.
    pub done: usize,
    /// All runs.
    pub runs: Vec<RunSummary>,
    /// Wall time in milliseconds.
    pub wall_ms: Spread,
    /// Tokens.
    pub tokens: Spread,
    /// US dollars.
    pub cost: Spread,
    /// The roles in the order in which they worked first.
    pub roles: Vec<RoleSummary>,
}

impl Summary {
    /// Of these runs, each with its folder.
    #[must_use]
    pub fn of(results: &[(String, TeamResult)]) -> Self {
        let runs: Vec<RunSummary> = results
            .iter()
            .map(|(folder, result)| RunSummary {
                folder: folder.clone(),
                seed: result.seed,
                outcome: result.outcome.clone(),
                wall_ms: result.wall_ms,
                tokens: result.usage.context_tokens(),
                cost: result.usage.cost.total,
            })
            .collect();
        let mut names: Vec<&str> = Vec::new();
        for agent in results.iter().flat_map(|(_, result)| &result.agents) {
            if !names.contains(&agent.role.as_str()) {
                names.push(&agent.role);
            }
        }
        let roles = names.into_iter().map(|role| RoleSummary::of(role, results)).collect();
        Self {
            team: results.first().map(|(_, result)| result.team.clone()).unwrap_or_default(),
            done: results.iter().filter(|(_, result)| result.is_done()).count(),
            wall_ms: Spread::of(runs.iter().map(|run| run.wall_ms as f64)),
            tokens: Spread::of(runs.iter().map(|run| run.tokens as f64)),
            cost: Spread::of(runs.iter().map(|run| run.cost)),
            runs,
            roles,
        }
    }

    /// The summary as tables.
    #[must_use]
    pub fn table(&self) -> String {
        let mut rows = vec![["run", "outcome", "seed", "time", "tokens", "cost"].map(str::to_owned).to_vec()];
        for (at, run) in self.runs.iter().enumerate() {
            rows.push(vec![
                (at + 1).to_string(),
                run.outcome.clone(),
                run.seed.to_string(),
                duration(run.wall_ms),
                grouped(run.tokens),
                cost(run.cost),
            ]);
        }
        rows.push(vec!["all".to_owned(), format!("{} of {} done", self.done, self.runs.len()), String::new()]);
        if let Some(last) = rows.last_mut() {
            last.extend([self.wall_ms.shown(time), self.tokens.shown(whole), self.cost.shown(cost)]);
        }
        let mut out = aligned(&rows);
        let mut rows = vec![["role", "agents", "tokens", "cost", "work"].map(str::to_owned).to_vec()];
        rows.extend(self.roles.iter().map(|role| {
            vec![
                role.role.clone(),
                role.agents.shown(whole),
                role.tokens.shown(whole),
                role.cost.shown(cost),
                role.ms.shown(time),
            ]
        }));
        out.push('\n');
        out.push_str(&aligned(&rows));
        out
    }
}

impl RoleSummary {
    fn of(role: &str, results: &[(String, TeamResult)]) -> Self {
        let sum = |value: fn(&super::AgentResult) -> f64| {
            Spread::of(
                results
                    .iter()
                    .map(|(_, result)| result.agents.iter().filter(|agent| agent.role == role).map(value).sum::<f64>()),
            )
        };
        Self {
            role: role.to_owned(),
            agents: sum(|_| 1.0),
            tokens: sum(|agent| agent.usage.context_tokens() as f64),
            cost: sum(|agent| agent.usage.cost.total),
            ms: sum(|agent| agent.ms as f64),
        }
    }
}

/// Groups of runs, one line each.
#[must_use]
pub fn comparison(groups: &[(String, Summary)]) -> String {
    let mut rows = vec![["results", "team", "done", "time", "tokens", "cost"].map(str::to_owned).to_vec()];
    rows.extend(groups.iter().map(|(name, summary)| {
        vec![
            name.clone(),
            summary.team.clone(),
            format!("{} of {}", summary.done, summary.runs.len()),
            summary.wall_ms.shown(time),
            summary.tokens.shown(whole),
            summary.cost.shown(cost),
        ]
    }));
    aligned(&rows)
}

fn time(ms: f64) -> String {
    duration(ms.max(0.0).round() as u64)
}

fn whole(number: f64) -> String {
    grouped(number.max(0.0).round() as u64)
}

/// Rows with their columns below each other.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{actors::team::result::AgentResult, protocol::Usage};

    fn result(outcome: &str, seed: u64, wall_ms: u64, tokens: &[u64]) -> (String, TeamResult) {
        let usage = |tokens| Usage { input: tokens, ..Usage::default() }.summed();
        let agent =
            |tokens: &u64| AgentResult { role: "worker".into(), usage: usage(*tokens), ..AgentResult::default() };
        let result = TeamResult {
            team: "t".into(),
            outcome: outcome.into(),
            seed,
            wall_ms,
            agents: tokens.iter().map(agent).collect(),
            usage: usage(tokens.iter().sum()),
            ..TeamResult::default()
        };
        (format!("run-{seed}"), result)
    }

    #[test]
    fn the_middle_and_the_ends_are_told() {
        for (numbers, expected) in [
            (&[][..], (0.0, 0.0, 0.0)),
            (&[3.0][..], (3.0, 3.0, 3.0)),
            (&[9.0, 1.0, 2.0][..], (2.0, 1.0, 9.0)),
            (&[4.0, 1.0][..], (2.5, 1.0, 4.0)),
        ] {
            let spread = Spread::of(numbers.iter().copied());
            assert_eq!((spread.median, spread.min, spread.max), expected);
        }
    }

    #[test]
    fn runs_stand_below_each_other_and_roles_with_their_spread() {
        let summary = Summary::of(&[
            result("done", 1, 1_500, &[10, 20]),
            result("failed", 2, 500, &[1_000]),
            result("done", 3, 700, &[40]),
        ]);
        let expected = "\
run  outcome      seed  time                   tokens         cost
1    done         1     1.5 s                  30             $0
2    failed       2     500 ms                 1,000          $0
3    done         3     700 ms                 40             $0
all  2 of 3 done        700 ms (500 ms–1.5 s)  40 (30–1,000)  $0

role    agents   tokens         cost  work
worker  1 (1–2)  40 (30–1,000)  $0    0 ms
";
        assert_eq!(summary.table(), expected);
        let line = comparison(&[("a".into(), summary)]);
        assert!(line.contains("a        t     2 of 3  700 ms (500 ms–1.5 s)"), "{line}");
    }
}
