//! What a session keeps of the API's items so that they can go back: ids and phases of messages, whole reasoning items,
//! and the two ids of a call. The format is pi's.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::providers::lax::{Obj, Text};

/// What is kept with a text: the message item's id and phase.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct TextItem<'a> {
    v: u8,
    /// The item's id; empty when it had none.
    pub(super) id: Cow<'a, str>,
    /// Whether the text was said on the way (`commentary`) or at the end (`final_answer`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) phase: Option<Cow<'a, str>>,
}

impl<'a> TextItem<'a> {
    pub(super) fn new(id: &'a str, phase: Option<&'a str>) -> Self {
        Self { v: 1, id: id.into(), phase: phase.map(Cow::Borrowed) }
    }

    /// The text signature; `None` when there is nothing to keep.
    pub(super) fn to_signature(&self) -> Option<String> {
        if self.id.is_empty() && self.phase.is_none() {
            return None;
        }
        serde_json::to_string(self).ok()
    }

    /// Reads a text signature. Old sessions hold the bare id.
    pub(super) fn read(signature: &'a str) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Kept<'k> {
            #[serde(borrow)]
            id: Text<'k>,
            #[serde(borrow)]
            phase: Text<'k>,
        }
        match serde_json::from_str::<Obj<Kept<'_>>>(signature) {
            Ok(Obj(Some(kept))) => Self {
                v: 1,
                id: kept.id.get().unwrap_or_default().to_owned().into(),
                phase: kept.phase.filled().map(|phase| phase.to_owned().into()),
            },
            Ok(Obj(None)) => Self::default(),
            Err(_) => Self::new(signature, None),
        }
    }
}

/// The reasoning item in a thinking signature, as it came.
pub(super) fn reasoning_item(signature: &str) -> Option<&RawValue> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Kept<'k> {
        #[serde(borrow, rename = "type")]
        kind: Text<'k>,
    }
    let raw: &RawValue = serde_json::from_str(signature).ok()?;
    let kept = serde_json::from_str::<Obj<Kept<'_>>>(raw.get()).ok()?.0?;
    (kept.kind.get() == Some("reasoning")).then_some(raw)
}

/// A stored reasoning item with the encrypted content that came later.
pub(super) fn with_encrypted_content(item: &str, content: &str) -> Option<String> {
    let mut item: Value = serde_json::from_str(item).ok()?;
    item.as_object_mut()?.insert("encrypted_content".to_owned(), content.into());
    Some(item.to_string())
}

/// The id under which a call is stored. Without an id of the call there is none.
pub(super) fn stored_call_id(call: &str, item: &str) -> String {
    match (call, item) {
        ("" | "null", _) => String::new(),
        (call, "") => call.to_owned(),
        (call, item) => format!("{call}|{item}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_items_are_kept_in_pis_format_and_old_forms_are_read() {
        let table = [
            (TextItem::new("msg_1", None), Some(r#"{"v":1,"id":"msg_1"}"#)),
            (TextItem::new("msg_1", Some("commentary")), Some(r#"{"v":1,"id":"msg_1","phase":"commentary"}"#)),
            (TextItem::new("", Some("final_answer")), Some(r#"{"v":1,"id":"","phase":"final_answer"}"#)),
            (TextItem::new("", None), None),
        ];
        for (item, signature) in table {
            assert_eq!(item.to_signature().as_deref(), signature);
            if let Some(signature) = signature {
                assert_eq!(TextItem::read(signature), item);
            }
        }
        assert_eq!(TextItem::read("msg_old"), TextItem::new("msg_old", None));
        assert_eq!(TextItem::read("{\"v\":1}").id, "");
        assert_eq!(TextItem::read("[1]").id, "");
    }

    #[test]
    fn only_reasoning_items_are_reasoning_items() {
        let item = r#"{"type":"reasoning", "id":"rs_1"}"#;
        assert_eq!(reasoning_item(item).map(RawValue::get), Some(item));
        for other in ["", "EqQB", "reasoning_content", "[]", "{}", r#"{"type":"message"}"#] {
            assert!(reasoning_item(other).is_none(), "{other}");
        }
        assert_eq!(
            with_encrypted_content(item, "g\"").as_deref(),
            Some(r#"{"type":"reasoning","id":"rs_1","encrypted_content":"g\""}"#)
        );
    }

    #[test]
    fn calls_are_stored_under_both_ids() {
        let table = [("c", "fc_1", "c|fc_1"), ("c", "", "c"), ("", "fc_1", ""), ("null", "fc_1", "")];
        for (call, item, stored) in table {
            assert_eq!(stored_call_id(call, item), stored);
        }
    }
}
