//! Reads the events of a Responses stream (rules R4 to R12).
//!
//! The output is a list of items, each with a begin, pieces and an end that states it as a whole. Pieces find their
//! item by its place in the output and by its id, because gateways leave out or change either.

use std::collections::HashMap;

use super::{
    events::{Event, Response, WireItem, argument_text},
    items::{Item, Items, Kind, KindName, Part},
    replay::{TextItem, stored_call_id, with_encrypted_content},
    usage::tier_factor,
};
use crate::{
    protocol::{Failure, FailureClass, Model, StopReason},
    providers::{
        assembler::Assembler,
        error_body::is_error,
        errors::stream_failure,
        sse::SseEvent,
        wire_api::{EventDecoder, read_event, told_failure},
    },
};

/// What a free-text call's text becomes when the tool does not say.
const DEFAULT_PROPERTY: &str = "input";
const PARAGRAPH: &str = "\n\n";

/// Reads one answer.
pub struct Decoder {
    provider: String,
    model: String,
    /// The host's name of the model.
    sent_model: String,
    requested_tier: Option<String>,
    /// Arguments that the texts of free-text tools become, by tool.
    free_text: HashMap<String, String>,
    items: Items,
}

impl Decoder {
    /// A decoder for an answer of `model`, which the host calls `sent_model`. `requested_tier` prices the answer when it
    /// does not name its service tier.
    #[must_use]
    pub fn new(
        model: &Model,
        sent_model: &str,
        requested_tier: Option<&str>,
        free_text: HashMap<String, String>,
    ) -> Self {
        Self {
            provider: model.provider.clone(),
            model: model.id.clone(),
            sent_model: sent_model.to_owned(),
            requested_tier: requested_tier.map(str::to_owned),
            free_text,
            items: Items::default(),
        }
    }

    fn head(&self, response: &Response<'_>, out: &mut Assembler) {
        out.response_id(response.id.get().unwrap_or_default());
        out.response_model(response.model.get().filter(|model| *model != self.sent_model).unwrap_or_default());
        out.start();
    }

    fn find_for(&self, kind: KindName, event: &Event<'_>) -> Option<usize> {
        self.items.find(kind, event.output_index.0, event.item_id.get().unwrap_or_default())
    }

    /// Opens the block of an item.
    fn begin(&mut self, index: Option<u64>, item: &WireItem<'_>, out: &mut Assembler) -> Option<usize> {
        let id = item.id.get().unwrap_or_default();
        let (place, kind) = match KindName::of(item.kind.get())? {
            KindName::Message => {
                let place = out.text_start();
                let phase = item.phase.filled();
                keep_names(place, id, phase, out);
                (place, Kind::Message { phase: phase.map(str::to_owned) })
            }
            KindName::Reasoning => (out.thinking_start(), Kind::Reasoning { part: None, bare: None }),
            KindName::Call => {
                let (call_id, name) = (item.call_id.get().unwrap_or_default(), item.name.get().unwrap_or_default());
                let place = out.call_start(&stored_call_id(call_id, id), name);
                if item.kind.get() == Some("custom_tool_call") {
                    out.call_is_free_text(place, self.free_text.get(name).map_or(DEFAULT_PROPERTY, String::as_str));
                }
                (place, Kind::Call { call_id: call_id.to_owned(), initial: item.arguments().into_owned() })
            }
        };
        self.items.0.push(Item { index, id: id.to_owned(), place, done: false, kind });
        Some(self.items.0.len() - 1)
    }

    fn item_added(&mut self, event: &Event<'_>, out: &mut Assembler) {
        if let Some(item) = event.item.and_then(WireItem::read) {
            self.begin(event.output_index.0, &item, out);
        }
    }

    fn item_done(&mut self, event: &Event<'_>, out: &mut Assembler) {
        let Some((raw, item)) = event.item.and_then(|raw| Some((raw.get(), WireItem::read(raw)?))) else { return };
        let Some(kind) = KindName::of(item.kind.get()) else { return };
        let (index, id) = (event.output_index.0, item.id.get().unwrap_or_default());
        let at = match self.items.find(kind, index, id) {
            Some(at) => at,
            None if self.items.has_ended(index, id) => return,
            None => match self.begin(index, &item, out) {
                Some(at) => at,
                None => return,
            },
        };
        let Item { id: known_id, place, done, kind, .. } = &mut self.items.0[at];
        if !id.is_empty() {
            id.clone_into(known_id);
        }
        let (place, id) = (*place, known_id.as_str());
        *done = true;
        match kind {
            Kind::Message { phase } => {
                keep_names(place, id, item.phase.filled().or(phase.as_deref()), out);
                out.text_complete(place, &item.text());
            }
            Kind::Reasoning { bare, .. } => {
                out.thinking_complete(place, &item.thinking());
                out.thinking_replay(place, raw.to_owned());
                if item.encrypted_content.filled().is_none() {
                    // Its end is told with the answer's, because what goes back may still change.
                    *bare = Some(raw.to_owned());
                    return;
                }
            }
            Kind::Call { call_id, initial } => {
                out.call_renamed(place, &stored_call_id(item.call_id.filled().unwrap_or(call_id), id));
                out.call_name(place, item.name.get().unwrap_or_default());
                out.call_complete(place, &item.arguments());
                if out.call_is_bare(place) {
                    out.call_complete(place, initial);
                }
            }
        }
        out.end_block(place);
    }

    fn text(&self, event: &Event<'_>, out: &mut Assembler) {
        if let Some(at) = self.find_for(KindName::Message, event) {
            out.text_delta(self.items.0[at].place, event.delta.get().unwrap_or_default());
        }
    }

    /// A piece of reasoning. Parts are set apart by a blank line, which is told when the next one begins. Of a model that
    /// tells both a summary and the reasoning itself, the summary is shown.
    fn reasoning(&mut self, event: &Event<'_>, part: fn(u64) -> Part, number: Option<u64>, out: &mut Assembler) {
        let Some(at) = self.find_for(KindName::Reasoning, event) else { return };
        let Item { place, kind: Kind::Reasoning { part: told, .. }, .. } = &mut self.items.0[at] else { return };
        let new = match (number, *told) {
            (Some(number), _) => part(number),
            (None, Some(Part::Summary(number) | Part::Content(number))) => part(number),
            (None, None) => part(0),
        };
        match *told {
            Some(Part::Summary(_)) if matches!(new, Part::Content(_)) => return,
            Some(old) if old != new => out.thinking_delta(*place, PARAGRAPH),
            _ => {}
        }
        *told = Some(new);
        if let Some(delta) = event.delta.filled() {
            out.thinking_delta(*place, delta);
        }
    }

    /// The call that a piece belongs to. A piece that names no call, while several are open, could be of any: none of
    /// them may run.
    fn call(&self, event: &Event<'_>, out: &mut Assembler) -> Option<usize> {
        let is_anonymous = event.output_index.0.is_none() && event.item_id.filled().is_none();
        if is_anonymous && self.items.open_calls() > 1 {
            out.fail(mixed_up("The provider sent arguments of several calls without saying of which"));
            return None;
        }
        self.find_for(KindName::Call, event).map(|at| self.items.0[at].place)
    }

    /// The answer is over: judges how, and ends it.
    fn end(&self, kind: &str, event: &Event<'_>, json: &[u8], out: &mut Assembler) {
        let nothing = Response::default();
        let response = event.response.0.as_ref().unwrap_or(&nothing);
        self.head(response, out);
        if let Some(usage) = &response.usage.0 {
            let tier = response.service_tier.filled().or(self.requested_tier.as_deref());
            out.price_factor(tier_factor(&self.model, tier));
            out.usage(usage.tokens(), None);
        }
        if let Some(ends) = response.ends_turn() {
            out.end_turn(ends);
        }
        log_removed(response);
        let status = response.status.filled();
        match (kind, status) {
            ("response.failed" | "response.cancelled", _) | (_, Some("failed" | "cancelled")) => {
                let name = status.unwrap_or_else(|| kind.trim_start_matches("response."));
                out.raw_stop_reason(name);
                out.fail(self.failure(name, event, json));
            }
            ("response.incomplete", _) | (_, Some("incomplete")) => self.incomplete(response, out),
            (_, status) => {
                // Words that nobody knows count as no word.
                if let Some(known) = status.filter(|status| matches!(*status, "completed" | "in_progress" | "queued")) {
                    out.raw_stop_reason(known);
                }
                self.complete(response, out);
            }
        }
    }

    fn failure(&self, status: &str, event: &Event<'_>, json: &[u8]) -> Failure {
        let in_response = event.response.0.as_ref().is_some_and(|response| is_error(response.error));
        if !in_response && !is_error(event.error) {
            return match status {
                "cancelled" => Failure::new(FailureClass::ProviderStop, "The provider cancelled the answer"),
                _ => Failure::new(FailureClass::ServerError, "The provider reported a server error without a text"),
            };
        }
        let body: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
        stream_failure(&self.provider, if in_response { &body["response"] } else { &body })
    }

    fn incomplete(&self, response: &Response<'_>, out: &mut Assembler) {
        let reason = response.incomplete_details.0.as_ref().and_then(|details| details.reason.filled());
        match reason {
            Some(reason) => out.raw_stop_reason(&format!("incomplete.{reason}")),
            None => out.raw_stop_reason("incomplete"),
        }
        match reason {
            Some("max_output_tokens") => {
                self.add_late_reasoning(response, out);
                out.done(StopReason::Length);
            }
            Some("content_filter") => {
                let text = "A content filter of the provider stopped the answer (content_filter)";
                out.fail(Failure::new(FailureClass::ContentFilter, text));
            }
            reason => {
                let text = format!("Provider stopped the answer: {}", reason.unwrap_or("incomplete"));
                out.fail(Failure::new(FailureClass::ProviderStop, text));
            }
        }
    }

    fn complete(&self, response: &Response<'_>, out: &mut Assembler) {
        if self.items.open_calls() > 0 {
            return out.fail(mixed_up("The answer ended before its tool calls were complete"));
        }
        self.add_late_reasoning(response, out);
        out.done(StopReason::Stop);
    }

    /// Azure tells the encrypted content of reasoning with the end of the answer, and only there.
    fn add_late_reasoning(&self, response: &Response<'_>, out: &mut Assembler) {
        for raw in &response.output.0 {
            let Some(late) = WireItem::read(raw).filter(|late| late.kind.get() == Some("reasoning")) else { continue };
            let Some(id) = late.id.filled() else { continue };
            for item in self.items.0.iter().filter(|item| item.id == id) {
                match (&item.kind, late.encrypted_content.filled()) {
                    (Kind::Reasoning { bare: Some(bare), .. }, Some(content)) => {
                        if let Some(whole) = with_encrypted_content(bare, content) {
                            out.thinking_replay(item.place, whole);
                        }
                    }
                    (Kind::Reasoning { .. }, _) if !item.done => {
                        out.thinking_complete(item.place, &late.thinking());
                        out.thinking_replay(item.place, raw.get().to_owned());
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Keeps a message's id and phase with its text.
fn keep_names(place: usize, id: &str, phase: Option<&str>, out: &mut Assembler) {
    if let Some(signature) = TextItem::new(id, phase).to_signature() {
        out.text_replay(place, signature);
    }
}

fn mixed_up(what: &str) -> Failure {
    Failure::new(FailureClass::ProtocolError, format!("{what}: none of them was run"))
}

/// Reasoning that the server did not take back costs quality without any error.
fn log_removed(response: &Response<'_>) {
    let removed = response.input_transformations.0.iter().filter_map(|change| change.0.as_ref()?.reason.filled());
    for reason in removed.filter(|reason| *reason != "turn_boundary") {
        tracing::warn!(reason, "the provider left reasoning out of the request");
    }
}

impl EventDecoder for Decoder {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Assembler) {
        let mut mended = String::new();
        let Some((parsed, json)) = read_event::<Event<'_>>(event, &mut mended, out) else { return };
        // Some gateways drop the event line, others the type.
        let kind = parsed.kind.filled().unwrap_or(event.name);
        match kind {
            "response.created" | "response.queued" | "response.in_progress" => {
                self.head(parsed.response.0.as_ref().unwrap_or(&Response::default()), out);
            }
            "response.output_item.added" => self.item_added(&parsed, out),
            "response.output_item.done" => self.item_done(&parsed, out),
            "response.output_text.delta" | "response.refusal.delta" => self.text(&parsed, out),
            "response.reasoning_summary_part.added" | "response.reasoning_summary_text.delta" => {
                self.reasoning(&parsed, Part::Summary, parsed.summary_index.0, out);
            }
            "response.reasoning_text.delta" => self.reasoning(&parsed, Part::Content, parsed.content_index.0, out),
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                if let Some(place) = self.call(&parsed, out) {
                    out.call_delta(place, parsed.delta.get().unwrap_or_default());
                }
            }
            "response.function_call_arguments.done" => {
                if let Some(place) = self.call(&parsed, out) {
                    out.call_complete(place, &argument_text(parsed.arguments));
                }
            }
            "response.custom_tool_call_input.done" => {
                if let Some(place) = self.call(&parsed, out) {
                    out.call_complete(place, parsed.input.get().unwrap_or_default());
                }
            }
            "response.completed"
            | "response.done"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => self.end(kind, &parsed, json, out),
            known if known.starts_with("response.") => {}
            // Gateways also fail in the form of other APIs.
            other if other == "error" || event.name == "error" || is_error(parsed.error) => {
                out.fail(told_failure(&self.provider, json));
            }
            _ => {}
        }
    }

    fn finish(&mut self, fault: Option<Failure>, out: &mut Assembler) {
        let cut = || Failure::new(FailureClass::StreamTruncated, "Stream ended before a terminal response event");
        out.fail(fault.unwrap_or_else(cut));
    }

    fn is_complete(&self) -> bool {
        // The end mark ends the stream at once.
        false
    }
}

#[cfg(test)]
mod tests;
