//! What tools say below their output: how a command ended, and what was left out.

/// Beginnings of what `bash` says of a command that did not end well.
const STATUS: [&str; 4] = [
    "Command exited with code ",
    "Command timed out after ",
    "Command aborted",
    "The command's output could not be read",
];
/// Beginnings of what tools say about limits, without the bracket.
const LIMITS: [&str; 2] = ["Showing ", "Line "];

/// A result's text, and what is said about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ending<'t> {
    /// The output itself.
    pub output: &'t str,
    /// How the command ended, where it did not end well.
    pub status: Option<&'t str>,
    /// What was left out, without brackets.
    pub notices: Vec<&'t str>,
}

/// Takes a result's text apart. `is_error` says whether the last paragraph can be how it ended.
pub(super) fn split(text: &str, is_error: bool) -> Ending<'_> {
    let mut ending = Ending { output: text, status: None, notices: Vec::new() };
    if is_error {
        let (before, last) = last_paragraph(ending.output);
        if STATUS.iter().any(|status| last.starts_with(status)) {
            ending.output = before;
            ending.status = Some(last);
        }
    }
    loop {
        let (before, last) = last_paragraph(ending.output);
        let notice = last.strip_prefix('[').and_then(|notice| notice.strip_suffix(']'));
        let Some(notice) = notice.filter(|notice| is_notice(notice)) else { return ending };
        ending.output = before;
        ending.notices.insert(0, notice);
    }
}

fn is_notice(text: &str) -> bool {
    let says = ["more lines in file", "limit reached", "files were not searched", "lines truncated", "File encoding"];
    !text.contains('\n')
        && (LIMITS.iter().any(|start| text.starts_with(start)) || says.iter().any(|words| text.contains(words)))
}

/// What is before the last paragraph, and it.
fn last_paragraph(text: &str) -> (&str, &str) {
    match text.rfind("\n\n") {
        Some(at) => (&text[..at], &text[at + 2..]),
        None => ("", text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_about_an_output_is_told_from_it() {
        let cut = "Showing lines 5-9 of 9. Full output: /tmp/x.log";
        type Case<'t> = (&'t str, bool, &'t str, Option<&'t str>, &'t [&'t str]);
        let table: [Case<'_>; 7] = [
            ("out\n", false, "out\n", None, &[]),
            ("out\n\nCommand exited with code 9", true, "out", Some("Command exited with code 9"), &[]),
            ("out\n\nCommand exited with code 9", false, "out\n\nCommand exited with code 9", None, &[]),
            ("Command aborted", true, "", Some("Command aborted"), &[]),
            (
                &format!("out\n\n[{cut}]\n\nCommand timed out after 3 seconds"),
                true,
                "out",
                Some("Command timed out after 3 seconds"),
                &[cut],
            ),
            (
                "a\n\n[3 more lines in file. Use offset=4 to continue.]",
                false,
                "a",
                None,
                &["3 more lines in file. Use offset=4 to continue."],
            ),
            ("a\n\n[1, 2]", false, "a\n\n[1, 2]", None, &[]),
        ];
        for (text, is_error, output, status, notices) in table {
            assert_eq!(split(text, is_error), Ending { output, status, notices: notices.to_vec() }, "{text:?}");
        }
    }
}
