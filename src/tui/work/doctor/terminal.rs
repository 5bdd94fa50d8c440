//! What the terminal can do.

use super::{Finding, Patient};
use crate::tui::terminal::Report;

/// Columns and rows below which parts of the screen are left out.
const SMALL: (u16, u16) = (40, 12);

pub(super) fn look(patient: &Patient, variable: &dyn Fn(&str) -> Option<String>) -> Vec<Finding> {
    let mut findings = vec![kind(variable), size(patient.size)];
    findings.push(colors(variable));
    findings.push(keys(patient, variable));
    findings
}

fn kind(variable: &dyn Fn(&str) -> Option<String>) -> Finding {
    let term = variable("TERM").filter(|term| !term.is_empty());
    let program = variable("TERM_PROGRAM").map(|name| format!(", {name}")).unwrap_or_default();
    match term.as_deref() {
        None => Finding::warning("TERM is not set", "Set it to what the terminal is, such as xterm-256color."),
        Some("dumb") => Finding::problem("TERM is dumb", "Set TERM to what the terminal is, such as xterm-256color."),
        Some(term) => Finding::good(format!("terminal: {term}{program}")),
    }
}

fn size((columns, rows): (u16, u16)) -> Finding {
    let text = format!("size: {columns} columns, {rows} rows");
    if columns < SMALL.0 || rows < SMALL.1 {
        return Finding::warning(text, format!("Parts are left out below {}x{}.", SMALL.0, SMALL.1));
    }
    Finding::good(text)
}

fn colors(variable: &dyn Fn(&str) -> Option<String>) -> Finding {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if set("NO_COLOR").is_some() {
        return Finding::good("colours: none, as NO_COLOR says");
    }
    if set("COLORTERM").is_some_and(|value| value == "truecolor" || value == "24bit") {
        return Finding::good("colours: 24 bits");
    }
    if set("TERM").is_some_and(|term| term.contains("256")) {
        let advice =
            "If the terminal has 24-bit colours, set COLORTERM=truecolor, or terminal.trueColor in the settings.";
        return Finding { advice: Some(advice.to_owned()), ..Finding::good("colours: 256") };
    }
    Finding::warning("colours: 16", "Set TERM to what the terminal is, such as xterm-256color.")
}

fn keys(patient: &Patient, variable: &dyn Fn(&str) -> Option<String>) -> Finding {
    let kitty = patient.reports.iter().any(|report| matches!(report, Report::KittyKeyboard(_)));
    if kitty {
        return Finding::good("keys: all (kitty keyboard protocol)");
    }
    let advice = if variable("TMUX").is_some() {
        "In tmux, `set -s extended-keys on` and `set -as terminal-features 'xterm*:extkeys'` tell shift+enter from enter."
    } else {
        "Where shift+enter sends, use ctrl+j for a new line, or a terminal with the kitty keyboard protocol."
    };
    Finding::warning("keys: the terminal may not tell shift+enter and some others apart", advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::work::doctor::Health;

    fn check(variables: &[(&str, &str)], reports: Vec<Report>, expected: [Health; 4]) {
        let patient = Patient { reports, size: (80, 24), unsaved: None };
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let found: Vec<_> = look(&patient, &variable).iter().map(|finding| finding.health).collect();
        assert_eq!(found, expected, "{variables:?}");
    }

    #[test]
    fn what_the_terminal_lacks_is_told() {
        use Health::{Good, Problem, Warning};
        let kitty = || vec![Report::KittyKeyboard(1)];
        check(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], kitty(), [Good, Good, Good, Good]);
        check(&[("TERM", "xterm-256color")], Vec::new(), [Good, Good, Good, Warning]);
        check(&[("TERM", "dumb")], kitty(), [Problem, Good, Warning, Good]);
        check(&[("NO_COLOR", "1")], kitty(), [Warning, Good, Good, Good]);
        assert_eq!(size((39, 24)).health, Warning);
    }
}
