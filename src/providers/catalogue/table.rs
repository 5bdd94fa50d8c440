//! The table of `--list-models`.

use std::sync::Arc;

use crate::protocol::Model;

const COLUMNS: [&str; 6] = ["provider", "model", "context", "max-out", "thinking", "images"];

/// The models as a table with a head line, sorted by provider and id. `search` keeps those whose name contains its
/// words' letters in order. Without any model the text says how to get one.
#[must_use]
pub fn list_models_table(models: &[Arc<Model>], search: Option<&str>) -> String {
    if models.is_empty() {
        return format!("{}\n", super::NO_MODEL);
    }
    let search = search.unwrap_or_default().to_lowercase();
    let mut found: Vec<_> = models.iter().filter(|model| matches(model, &search)).collect();
    if found.is_empty() {
        return format!("No models match \"{search}\"\n");
    }
    found.sort_by_cached_key(|model| (model.provider.clone(), model.id.to_lowercase(), model.id.clone()));
    let rows: Vec<[String; 6]> =
        std::iter::once(COLUMNS.map(str::to_owned)).chain(found.iter().map(|m| row(m))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut out = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        out.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}

fn row(model: &Model) -> [String; 6] {
    let yes_no = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    [
        model.provider.clone(),
        model.id.clone(),
        known(model.context_window),
        known(model.max_tokens),
        yes_no(model.reasoning),
        yes_no(model.takes_images()),
    ]
}

/// Virtual models may not know their sizes before a model has answered.
fn known(tokens: u64) -> String {
    if tokens == 0 { "-".to_owned() } else { size(tokens) }
}

/// A number of tokens in short: `200K`, `16.4K`, `1M`.
#[must_use]
pub fn size(tokens: u64) -> String {
    let (unit, letter) = match tokens {
        0..1000 => return tokens.to_string(),
        1000..1_000_000 => (1000, 'K'),
        _ => (1_000_000, 'M'),
    };
    if tokens.is_multiple_of(unit) {
        return format!("{}{letter}", tokens / unit);
    }
    let tenths = (tokens * 10 + unit / 2) / unit;
    format!("{}.{}{letter}", tenths / 10, tenths % 10)
}

fn matches(model: &Model, search: &str) -> bool {
    let name = format!("{}/{} {}", model.provider, model.id, model.name).to_lowercase();
    search.split_whitespace().all(|word| is_subsequence(word, &name))
}

fn is_subsequence(word: &str, text: &str) -> bool {
    let mut chars = text.chars();
    word.chars().all(|wanted| chars.any(|char| char == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::catalogue::tests::model;

    #[test]
    fn sizes_are_short() {
        let table = [(999, "999"), (16_384, "16.4K"), (200_000, "200K"), (1_000_000, "1M"), (1_048_576, "1.0M")];
        for (tokens, text) in table {
            assert_eq!(size(tokens), text);
        }
    }

    #[test]
    fn the_table_has_pi_s_columns_and_a_fuzzy_search() {
        let unknown = Model { context_window: 0, max_tokens: 0, ..model("team", "auto") };
        let models = [model("mock", "tiny"), model("mock", "m1"), model("abc", "long-name-x"), unknown].map(Arc::new);
        let expected = "\
provider  model        context  max-out  thinking  images
abc       long-name-x  200K     16.4K    no        no
mock      m1           200K     16.4K    no        no
mock      tiny         200K     16.4K    no        no
team      auto         -        -        no        no
";
        assert_eq!(list_models_table(&models, None), expected);
        assert_eq!(list_models_table(&models, Some("TNY")).lines().count(), 2);
        assert!(list_models_table(&[], None).starts_with("No model is available."));
        assert_eq!(list_models_table(&models, Some("zzz")), "No models match \"zzz\"\n");
    }
}
