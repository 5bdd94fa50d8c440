//! Spans of the program, as they begin, are told more of, and end.

use std::time::{SystemTime, UNIX_EPOCH};

use tracing::{
    Metadata, Subscriber,
    field::{Field as Name, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, Filter},
    registry::LookupSpan,
};
use uuid::Uuid;

use super::{
    record::{Field, SpanRecord},
    sender::Sender,
};

/// Gives spans that have ended to the sender.
pub struct SpanLayer(Sender);

impl SpanLayer {
    /// A layer for this sender.
    #[must_use]
    pub fn new(sender: Sender) -> Self {
        Self(sender)
    }
}

/// Lets the program's own spans through, and nothing else.
pub struct OwnSpans;

impl<S> Filter<S> for OwnSpans {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        metadata.is_span() && metadata.target().starts_with("troupe::")
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for SpanLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let above = span.parent().and_then(|parent| {
            let extensions = parent.extensions();
            extensions.get::<SpanRecord>().map(|above| (above.trace_id, above.span_id))
        });
        let (first, own) = (Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes());
        let mut span_id = [0; 8];
        // The first bytes are random in all their bits but for four.
        span_id.copy_from_slice(&own[..8]);
        let mut record = SpanRecord {
            trace_id: above.map_or(first, |(trace, _)| trace),
            span_id,
            parent: above.map(|(_, parent)| parent),
            name: attributes.metadata().name(),
            start: now(),
            end: 0,
            fields: Vec::new(),
        };
        attributes.record(&mut Fields(&mut record));
        span.extensions_mut().insert(record);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(record) = span.extensions_mut().get_mut::<SpanRecord>() {
            values.record(&mut Fields(record));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let record = context.span(&id).and_then(|span| span.extensions_mut().remove::<SpanRecord>());
        if let Some(record) = record {
            self.0.send(SpanRecord { end: now(), ..record });
        }
    }
}

fn now() -> u64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX)
}

/// Takes fields in.
struct Fields<'r>(&'r mut SpanRecord);

impl Visit for Fields<'_> {
    fn record_str(&mut self, name: &Name, value: &str) {
        self.0.fields.push((name.name(), Field::Text(value.to_owned())));
    }

    fn record_i64(&mut self, name: &Name, value: i64) {
        self.0.fields.push((name.name(), Field::Whole(value)));
    }

    fn record_u64(&mut self, name: &Name, value: u64) {
        self.record_i64(name, i64::try_from(value).unwrap_or(i64::MAX));
    }

    fn record_bool(&mut self, name: &Name, value: bool) {
        self.0.fields.push((name.name(), Field::Flag(value)));
    }

    fn record_debug(&mut self, name: &Name, value: &dyn std::fmt::Debug) {
        self.record_str(name, &format!("{value:?}"));
    }
}
