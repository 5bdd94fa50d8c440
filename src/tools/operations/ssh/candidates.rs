//! Which files `grep` there has to look for, so that no file that matches is missed.

use regex_syntax::hir::{Hir, HirKind};

use crate::tools::operations::GrepQuery;

/// Arguments of `grep -l` that choose every file in which the query's pattern can match, and as few others as a plain
/// text can tell: one that each match of the pattern holds. Regular expressions themselves are too different there.
#[must_use]
pub fn arguments(query: &GrepQuery) -> Vec<Vec<u8>> {
    let text = if query.literal { Some(query.pattern.clone().into_bytes()) } else { required_by(&query.pattern) };
    // grep folds the case of plain letters only.
    let text = text.filter(|text| !query.ignore_case || text.is_ascii()).unwrap_or_default();
    let fold = query.ignore_case.then(|| b"-i".to_vec());
    [b"-F".to_vec()].into_iter().chain(fold).chain([b"-e".to_vec(), text]).collect()
}

fn required_by(pattern: &str) -> Option<Vec<u8>> {
    required(&regex_syntax::parse(pattern).ok()?)
}

/// The longest text that all matches hold.
fn required(hir: &Hir) -> Option<Vec<u8>> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(literal.0.to_vec()),
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(required).max_by_key(Vec::len),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_one_that_every_match_holds() {
        // pattern, literal, ignore case, arguments
        let table = [
            ("a.b", true, false, "-F -e a.b"),
            ("a.b", true, true, "-F -i -e a.b"),
            ("fn (main|test)\\(\\)", false, false, "-F -e fn "),
            ("(needle)+\\d?", false, false, "-F -e needle"),
            ("foo|bar", false, false, "-F -e "),
            ("\\d+", false, true, "-F -i -e "),
            ("\u{e4}rger", true, true, "-F -i -e "),
            ("(?i)abc", false, false, "-F -e "),
        ];
        for (pattern, literal, ignore_case, wanted) in table {
            let query = GrepQuery { pattern: pattern.into(), literal, ignore_case, ..GrepQuery::default() };
            let words: Vec<_> = arguments(&query).into_iter().map(|word| String::from_utf8(word).unwrap()).collect();
            assert_eq!(words.join(" "), wanted, "{pattern}");
        }
    }
}
