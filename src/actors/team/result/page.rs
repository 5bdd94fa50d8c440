//! The timeline as a page: one file, without scripts, in which no text of a team or a model is markup.

use super::{TeamResult, timeline::Timeline};
use crate::actors::{
    front::page::{
        html,
        numbers::{cost, duration, grouped, time},
    },
    team::template::shown,
};

const STYLE: &str = "body{font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#222;background:#fff}\
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}.facts{color:#555}.failed,.refused,.budget,.limit{color:#b00020}\
.rows{border-left:1px solid #ccc}.row{display:grid;grid-template-columns:12rem 1fr;align-items:center;gap:.5rem;height:1.7rem}\
.name{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;padding-left:.5rem}.track{position:relative;height:1.1rem;background:#f3f3f3}\
.bar{position:absolute;top:0;bottom:0;min-width:2px;background:#4a78c2}.bar.command{background:#b08a2e}.bar.merge{background:#4b8f5a}\
.bar.list{background:#888}.bar.break{background:#222}.bar.bad{background:#c23b4a}table{border-collapse:collapse}td,th{padding:.2rem .7rem;text-align:left;\
border-bottom:1px solid #ddd}td.n,th.n{text-align:right}pre{white-space:pre-wrap;background:#f6f6f6;padding:.7rem}.hid{color:#b00020}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.facts{color:#aaa}.track,pre{background:#262626}td,th{border-color:#333}}";

/// Tracks of the timeline at most; the table below has them all.
const MOST_TRACKS: usize = 500;

/// The page.
#[must_use]
pub fn write(result: &TeamResult, timeline: &Timeline) -> String {
    let mut out = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>",
    );
    html::bare_text(&mut out, &format!("Team {}", result.team));
    out.push_str(&format!("</title><style>{STYLE}</style></head><body>\n"));
    html::element(&mut out, "h1", "", &format!("Team {}", result.team));
    facts(&mut out, result);
    html::element(&mut out, "h2", "", "Timeline");
    tracks(&mut out, timeline);
    html::element(&mut out, "h2", "", "Agents");
    agents(&mut out, result);
    if !result.output.is_null() {
        html::element(&mut out, "h2", "", "Output");
        html::element(&mut out, "pre", "", &shown(&result.output));
    }
    out.push_str("</body></html>\n");
    out
}

fn facts(out: &mut String, result: &TeamResult) {
    let tokens = grouped(result.usage.context_tokens());
    let facts = format!(
        "{} · {} · {tokens} tokens · {} · {} agents · seed {}",
        time(&result.started_at),
        duration(result.wall_ms),
        cost(result.usage.cost.total),
        result.agents.len(),
        result.seed
    );
    html::element(out, "p", "facts", &facts);
    for pause in &result.breaks {
        let (at, down) = (duration(pause.at_ms), duration(pause.down_ms));
        html::element(out, "p", "facts", &format!("Broken off after {at}, gone on with {down} later"));
    }
    let mut outcome = result.outcome.clone();
    if let Some(step) = &result.step {
        outcome.push_str(&format!(" in {step}"));
    }
    if !result.message.is_empty() {
        outcome.push_str(&format!(": {}", result.message));
    }
    html::element(out, "p", if result.is_done() { "done" } else { "failed" }, &outcome);
}

fn tracks(out: &mut String, timeline: &Timeline) {
    let whole = timeline.wall_ms.max(1);
    let mut names: Vec<&str> = Vec::new();
    for span in &timeline.spans {
        if !names.contains(&span.agent.as_str()) {
            names.push(&span.agent);
        }
    }
    out.push_str("<div class=\"rows\">\n");
    for name in names.iter().take(MOST_TRACKS) {
        out.push_str("<div class=\"row\">");
        html::element(out, "div", "name", name);
        out.push_str("<div class=\"track\">");
        for span in timeline.spans.iter().filter(|span| span.agent == *name) {
            let to = span.to_ms.unwrap_or(timeline.wall_ms).max(span.from_ms);
            let bad = if matches!(span.outcome.as_str(), "done" | "stopped") { "" } else { " bad" };
            let title =
                format!("{} {}: {}, {}", span.kind.word(), span.agent, span.outcome, duration(to - span.from_ms));
            out.push_str(&format!("<div class=\"bar {}{bad}\"", span.kind.word()));
            html::attribute(out, "title", &title);
            out.push_str(&format!(
                " style=\"left:{:.3}%;width:{:.3}%\"></div>",
                percent(span.from_ms, whole),
                percent(to - span.from_ms, whole)
            ));
        }
        for pause in &timeline.breaks {
            out.push_str(&format!(
                "<div class=\"bar break\" title=\"broken off\" style=\"left:{:.3}%;width:0\"></div>",
                percent(pause.at_ms.min(whole), whole)
            ));
        }
        out.push_str("</div></div>\n");
    }
    out.push_str("</div>\n");
}

fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole as f64
}

fn agents(out: &mut String, result: &TeamResult) {
    out.push_str(
        "<table><tr><th>Agent</th><th>Role</th><th>Step</th><th>Model</th><th>Outcome</th><th class=\"n\">Tasks</th>\
         <th class=\"n\">Tokens</th><th class=\"n\">Cost</th><th class=\"n\">Time</th></tr>\n",
    );
    for agent in &result.agents {
        out.push_str("<tr>");
        for text in [&agent.name, &agent.role, &agent.step, agent.model.as_ref().unwrap_or(&String::new())] {
            html::element(out, "td", "", text);
        }
        let outcome = match agent.message.as_str() {
            "" => agent.outcome.clone(),
            message => format!("{}: {message}", agent.outcome),
        };
        html::element(out, "td", if agent.outcome == "done" { "" } else { "failed" }, &outcome);
        for text in [
            agent.tasks.to_string(),
            grouped(agent.usage.context_tokens()),
            cost(agent.usage.cost.total),
            duration(agent.ms),
        ] {
            html::element(out, "td", "n", &text);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actors::team::result::{AgentResult, timeline::Span};

    #[test]
    fn no_text_of_a_team_is_markup_and_bars_lie_within_their_track() {
        let evil = "<script>alert(1)</script>\u{202e}\"'&";
        let agent = AgentResult { name: evil.into(), message: evil.into(), ..AgentResult::default() };
        let result = TeamResult {
            team: evil.into(),
            message: evil.into(),
            output: evil.into(),
            agents: vec![agent],
            ..TeamResult::default()
        };
        let span = Span { agent: evil.into(), from_ms: 50, to_ms: Some(75), outcome: "done".into(), ..Span::default() };
        let open = Span { agent: evil.into(), from_ms: 90, outcome: "stopped".into(), ..Span::default() };
        let timeline = Timeline { wall_ms: 100, spans: vec![span, open], ..Timeline::default() };
        let page = write(&result, &timeline);
        assert!(!page.contains("<script") && !page.contains('\u{202e}'), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(page.contains("left:50.000%;width:25.000%"), "{page}");
        assert!(page.contains("left:90.000%;width:10.000%"), "{page}");
        assert!(page.contains("default-src 'none'"));
    }
}
