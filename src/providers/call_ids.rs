//! Ids of tool calls in the form that the target takes (rule H5).
//!
//! A conversation may have been begun with another API, whose ids are too long or of other characters. An id is changed
//! only when it must be, always in the same way, and two calls never get the same one: results find their calls, and
//! the prefix of the request stays the same from turn to turn.

use std::{borrow::Cow, collections::HashSet};

/// What a target takes as id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdForm {
    /// Chat Completions: its own ids stay; others get at most 40 characters of `[A-Za-z0-9_-]`. Unique within a turn.
    Chat,
    /// Anthropic: `[A-Za-z0-9_-]{1,64}`, unique within the request.
    Anthropic,
    /// Mistral: exactly nine of `[A-Za-z0-9]`, unique within the request.
    Mistral,
    /// Responses: the part before the `|` of a stored `call_id|item_id`, in Anthropic's form, not ending with `_`.
    Responses,
}

impl IdForm {
    fn limit(self) -> usize {
        match self {
            Self::Chat => 40,
            Self::Anthropic | Self::Responses => 64,
            Self::Mistral => 9,
        }
    }

    fn fit(self, id: &str, same_model: bool) -> Cow<'_, str> {
        if id.is_empty() || (self == Self::Chat && same_model) {
            return Cow::Borrowed(id);
        }
        if self == Self::Mistral {
            let fits = id.len() == self.limit() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
            return if fits { Cow::Borrowed(id) } else { Cow::Owned(nine_characters(id)) };
        }
        if self == Self::Responses {
            return match self.shortened(split_item(id).0) {
                Cow::Borrowed(id) => Cow::Borrowed(id.trim_end_matches('_')),
                Cow::Owned(id) => Cow::Owned(id.trim_end_matches('_').to_owned()),
            };
        }
        self.shortened(id)
    }

    fn shortened(self, id: &str) -> Cow<'_, str> {
        let clean = replace_foreign(id);
        if clean.len() <= self.limit() { clean } else { Cow::Owned(shorten(&clean, id, self.limit())) }
    }
}

/// Gives out ids for one request.
#[derive(Debug)]
pub struct CallIds<'a> {
    form: IdForm,
    used: HashSet<Cow<'a, str>>,
    count: usize,
}

impl<'a> CallIds<'a> {
    /// For a target of `form`.
    #[must_use]
    pub fn new(form: IdForm) -> Self {
        Self { form, used: HashSet::new(), count: 0 }
    }

    /// Another assistant turn begins.
    pub fn next_turn(&mut self) {
        if self.form == IdForm::Chat {
            self.used.clear();
        }
    }

    /// The id to send for the next call.
    pub fn assign(&mut self, id: &'a str, same_model: bool) -> Cow<'a, str> {
        self.count += 1;
        let fitted = self.form.fit(id, same_model);
        let mut given = fitted.clone();
        // Counted over the whole request: the same call gets the same id in every later request.
        let mut number = self.count;
        while given.is_empty() || self.used.contains(&given) {
            let base = if fitted.is_empty() { "call" } else { &fitted };
            let numbered = format!("{base}_{number}");
            let too_long = numbered.len() > self.form.limit() && !(self.form == IdForm::Chat && same_model);
            given = Cow::Owned(match self.form {
                IdForm::Mistral => nine_characters(&numbered),
                _ if too_long => shorten(base, &numbered, self.form.limit()),
                _ => numbered,
            });
            number += 1;
        }
        self.used.insert(given.clone());
        given
    }
}

/// Every character outside `[A-Za-z0-9_-]` becomes `_`.
pub(crate) fn replace_foreign(text: &str) -> Cow<'_, str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if text.chars().all(allowed) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if allowed(c) { c } else { '_' }).collect())
}

/// The beginning of an ASCII `text` and a hash of all of `original`, `limit` characters together.
pub(crate) fn shorten(text: &str, original: &str, limit: usize) -> String {
    let hash = fnv1a(original);
    let keep = text.len().min(limit - 9);
    format!("{}_{hash:08x}", &text[..keep])
}

/// Nine letters and digits made of all of `original`. There are 62^9 of them: two thousand calls share one about once in
/// ten thousand million requests, and then the later call gets another.
fn nine_characters(original: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut hash = fnv1a_64(original);
    let digits = std::iter::repeat_with(|| {
        let digit = DIGITS[(hash % 62) as usize];
        hash /= 62;
        char::from(digit)
    });
    digits.take(9).collect()
}

/// FNV-1a, 64 bits.
fn fnv1a_64(text: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The ids of a Responses call: that of the call, and that of its item where there is one.
pub(crate) fn split_item(id: &str) -> (&str, Option<&str>) {
    match id.split_once('|') {
        Some((call, item)) => (call, Some(item).filter(|item| !item.is_empty())),
        None => (id, None),
    }
}

/// FNV-1a, 32 bits: stable between versions and platforms, as ids must be.
pub(crate) fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assign(form: IdForm, ids: &[&str], same_model: bool) -> Vec<String> {
        let mut out = CallIds::new(form);
        ids.iter().map(|id| out.assign(id, same_model).into_owned()).collect()
    }

    #[test]
    fn ids_that_fit_stay_as_they_are() {
        assert_eq!(assign(IdForm::Chat, &["call_1", "x"], false), ["call_1", "x"]);
        assert_eq!(assign(IdForm::Chat, &["any:thing|at all"], true), ["any:thing|at all"]);
        assert_eq!(assign(IdForm::Anthropic, &["toolu_01A"], true), ["toolu_01A"]);
    }

    #[test]
    fn fc_022_a_long_composed_id_is_mapped_to_the_targets_form() {
        let long = format!("call_x|{}", "aB+/=".repeat(86));
        for (form, limit) in [(IdForm::Chat, 40), (IdForm::Anthropic, 64)] {
            let ids = assign(form, &[&long, &format!("{long}2")], false);
            assert_ne!(ids[0], ids[1]);
            assert!(ids.iter().all(|id| id.len() == limit && replace_foreign(id) == id.as_str()), "{ids:?}");
            assert_eq!(assign(form, &[&long], false)[0], ids[0], "the mapping is the same in every request");
        }
        assert_eq!(assign(IdForm::Chat, &["call_1|fc_2"], false), ["call_1_fc_2"]);
        assert_eq!(assign(IdForm::Responses, &[&long], true), ["call_x"]);
    }

    #[test]
    fn fc_021_empty_and_repeated_ids_become_distinct() {
        assert_eq!(assign(IdForm::Chat, &["", "", "a", "a"], true), ["call_1", "call_2", "a", "a_4"]);
        assert_eq!(assign(IdForm::Anthropic, &["a.b", "a_b", "a|b"], false), ["a_b", "a_b_2", "a_b_3"]);
    }

    #[test]
    fn mistrals_ids_are_nine_letters_and_digits_and_stay_the_same_as_the_conversation_grows() {
        let long = "x".repeat(430);
        let stored =
            ["D681PevKs", "call_1", "toolu_01A", "", "", "null", &long, "D681PevKs", "call_1", "D681-evKs", "é"];
        let all = assign(IdForm::Mistral, &stored, true);
        assert!(all.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())), "{all:?}");
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), stored.len(), "{all:?}");
        assert_eq!(all[0], "D681PevKs", "an id of the right form stays");
        for known in 0..stored.len() {
            assert_eq!(assign(IdForm::Mistral, &stored[..known], false), all[..known], "after {known} calls");
        }
        assert_eq!(all[1], "9gD2Dimct", "the mapping is the same in every version");
    }

    #[test]
    fn an_id_that_looks_like_the_hash_of_an_earlier_one_gets_another() {
        let hashed = assign(IdForm::Mistral, &["call_1"], false).remove(0);
        let ids = assign(IdForm::Mistral, &["call_1", &hashed], true);
        assert_eq!(ids[0], hashed);
        assert_ne!(ids[1], hashed);
    }

    #[test]
    fn chat_ids_may_repeat_in_another_turn() {
        let mut ids = CallIds::new(IdForm::Chat);
        assert_eq!(ids.assign("call_0", true), "call_0");
        ids.next_turn();
        assert_eq!(ids.assign("call_0", true), "call_0");
        let mut ids = CallIds::new(IdForm::Anthropic);
        ids.assign("call_0", true);
        ids.next_turn();
        assert_eq!(ids.assign("call_0", true), "call_0_2");
    }

    #[test]
    fn responses_ids_are_those_of_the_calls_without_their_items() {
        let table = [
            ("call_1|fc_1", "call_1"),
            ("call_1", "call_1"),
            ("toolu_01A", "toolu_01A"),
            ("a.b__|x", "a_b"),
            ("|fc_1", "call_1"),
            ("___", "call_1"),
        ];
        for (stored, sent) in table {
            assert_eq!(assign(IdForm::Responses, &[stored], false), [sent], "{stored}");
        }
        assert_eq!(assign(IdForm::Responses, &["a|fc_1", "a|fc_2", "a_"], true), ["a", "a_2", "a_3"]);
        assert_eq!(
            (split_item("c|f"), split_item("c|"), split_item("c")),
            (("c", Some("f")), ("c", None), ("c", None))
        );
    }

    proptest! {
        #[test]
        fn ids_are_valid_and_distinct(ids in prop::collection::vec("[a-b|é]{0,3}|[a-c+]{60,70}", 0..20)) {
            for form in [IdForm::Chat, IdForm::Anthropic, IdForm::Responses, IdForm::Mistral] {
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                let given = assign(form, &ids, false);
                prop_assert!(given.iter().all(|id| !id.is_empty() && id.len() <= form.limit()));
                prop_assert!(given.iter().all(|id| replace_foreign(id) == id.as_str()));
                prop_assert_eq!(given.iter().collect::<HashSet<_>>().len(), given.len());
            }
        }
    }
}
