//! The live supervision tree as text.

use crate::{
    protocol::{
        sibling::SiblingStatus,
        supervision::{ActorInfo, AgentInfo, Supervision},
    },
    tui::{
        text::{one_line, width_of},
        view::{
            cards::{name, word},
            numbers::{counted, dollars, tokens},
        },
    },
};

/// Columns between two columns.
const GAP: usize = 2;

/// What is shown of these processes: lines without ends.
#[must_use]
pub fn lines(processes: &[Supervision]) -> Vec<String> {
    if processes.is_empty() {
        return vec!["No Troupe of this user offers a control socket.".to_owned()];
    }
    let mut lines = Vec::new();
    for process in processes {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(head(process));
        lines.extend(columns(&agent_rows(&process.agents)));
        if let Some(root) = &process.actors {
            lines.push(String::new());
            let heads = ["ACTOR", "MAILBOX", "HANDLED", "RESTARTS", "AGE"];
            let mut rows = vec![heads.map(str::to_owned).to_vec()];
            actor_rows(root, 0, &mut rows);
            lines.extend(columns(&rows));
        }
    }
    lines
}

fn head(process: &Supervision) -> String {
    let run = process.run.as_ref().map(|run| format!(" {}", one_line(run))).unwrap_or_default();
    let running = process.agents.iter().filter(|agent| agent.status.state.is_active()).count();
    let agents = counted(process.agents.len(), "agent", "agents");
    format!(
        "{} {}{run} · {} · {agents}, {running} at work · {}",
        process.pid,
        one_line(&process.front),
        one_line(&process.cwd),
        age(process.seconds)
    )
}

fn agent_rows(agents: &[AgentInfo]) -> Vec<Vec<String>> {
    let heads = ["AGENT", "STATE", "TOOL", "TOKENS", "COST", "RESTARTS", "WAITING", "MODEL", "LAST LINE"];
    let row = |info: &AgentInfo| {
        let status: &SiblingStatus = &info.status;
        let indent = "  ".repeat(usize::try_from(status.depth).unwrap_or(0));
        vec![
            format!("{indent}{}", name(status)),
            word(status).to_owned(),
            status.tool.as_deref().map_or_else(|| "-".to_owned(), one_line),
            tokens(status.spent.tokens),
            dollars(status.spent.cost),
            info.restarts.to_string(),
            info.waiting.to_string(),
            status.model.as_ref().map_or_else(|| "-".to_owned(), |model| one_line(&model.to_string())),
            one_line(&status.last_line),
        ]
    };
    std::iter::once(heads.map(str::to_owned).to_vec()).chain(agents.iter().map(row)).collect()
}

fn actor_rows(actor: &ActorInfo, depth: usize, rows: &mut Vec<Vec<String>>) {
    let label = if actor.label.is_empty() { String::new() } else { format!(" {}", one_line(&actor.label)) };
    rows.push(vec![
        format!("{}{}{label}", "  ".repeat(depth), one_line(&actor.kind)),
        actor.mailbox.to_string(),
        actor.handled.to_string(),
        actor.restarts.to_string(),
        age(actor.seconds),
    ]);
    actor.children.iter().for_each(|child| actor_rows(child, depth + 1, rows));
}

/// Rows with their cells below each other.
fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| width_of(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - width_of(cell) + GAP));
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A time since something began: `7s`, `3m05s`, `2h10m`, `3d04h`.
fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::sibling;

    #[test]
    fn fc_064_the_tree_is_a_table_without_what_a_terminal_obeys() {
        let info = |status| AgentInfo { status, waiting: 1, restarts: 2 };
        let reads = SiblingStatus {
            name: Some("rea\u{1b}[2Jder".into()),
            tool: Some("bash".into()),
            last_line: "half\nof it".into(),
            ..sibling("agent-1")
        };
        let actor = |kind: &str, label: &str, children| ActorInfo {
            kind: kind.into(),
            label: label.into(),
            mailbox: 3,
            handled: 1_234,
            restarts: 0,
            seconds: 3_700,
            children,
        };
        let tree = actor("Runtime", "", vec![actor("Fleet", "", vec![actor("Agent", "main", Vec::new())])]);
        let process = Supervision {
            pid: 42,
            version: "1.2.3".into(),
            front: "run".into(),
            run: Some("nightly".into()),
            cwd: "/srv/app".into(),
            session_file: None,
            seconds: 185,
            agents: vec![info(reads), info(sibling("agent-1.1"))],
            actors: Some(tree),
        };
        insta::assert_snapshot!(lines(&[process]).join("\n"));
        assert_eq!(lines(&[]), ["No Troupe of this user offers a control socket."]);
    }

    #[test]
    fn ages_are_short() {
        for (seconds, expected) in [(7, "7s"), (185, "3m05s"), (7_800, "2h10m"), (273_600, "3d04h")] {
            assert_eq!(age(seconds), expected);
        }
    }
}
