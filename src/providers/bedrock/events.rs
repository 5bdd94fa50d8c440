//! The events of a Converse stream, as far as they are read.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    protocol::Usage,
    providers::lax::{Count, List, Obj, Text},
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Event<'a> {
    pub(super) content_block_index: Count,
    #[serde(borrow)]
    pub(super) start: Obj<HashMap<String, &'a RawValue>>,
    #[serde(borrow)]
    pub(super) delta: Obj<Delta<'a>>,
    #[serde(borrow)]
    pub(super) stop_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) usage: Obj<WireUsage<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_use: Obj<ToolDelta<'a>>,
    #[serde(borrow)]
    pub(super) reasoning_content: Obj<ReasoningDelta<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolDelta<'a> {
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ReasoningDelta<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) signature: Text<'a>,
    #[serde(borrow)]
    pub(super) redacted_content: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolStart<'a> {
    #[serde(borrow)]
    pub(super) tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    /// Tools that the service runs itself have one.
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireUsage<'a> {
    pub(super) input_tokens: Count,
    pub(super) output_tokens: Count,
    pub(super) total_tokens: Count,
    pub(super) cache_read_input_tokens: Count,
    pub(super) cache_write_input_tokens: Count,
    #[serde(borrow)]
    pub(super) cache_details: List<Obj<CacheDetail<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CacheDetail<'a> {
    #[serde(borrow)]
    pub(super) ttl: Text<'a>,
    pub(super) input_tokens: Count,
}

impl WireUsage<'_> {
    /// The input excludes what the cache gave and took. Without a total it is input and output.
    pub(super) fn read(&self) -> Usage {
        let count = |count: Count| count.0.unwrap_or(0);
        let (input, output) = (count(self.input_tokens), count(self.output_tokens));
        let details = self.cache_details.0.iter().filter_map(|detail| detail.0.as_ref());
        let hours = details.filter(|detail| detail.ttl.get() == Some("1h")).map(|detail| count(detail.input_tokens));
        Usage {
            input,
            output,
            cache_read: count(self.cache_read_input_tokens),
            cache_write: count(self.cache_write_input_tokens),
            cache_write_1h: hours.reduce(u64::saturating_add),
            total_tokens: self.total_tokens.0.unwrap_or_else(|| input.saturating_add(output)),
            ..Usage::default()
        }
    }
}
