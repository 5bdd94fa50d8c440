//! Tool calls of a stream: which call a piece belongs to, and its arguments (rules T1 to T4).

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::providers::{assembler::Assembler, lax::Text};

/// What a piece of a call says of the function.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::providers) struct Function<'a> {
    #[serde(borrow)]
    pub(in crate::providers) name: Text<'a>,
    #[serde(borrow)]
    pub(in crate::providers) arguments: Option<&'a RawValue>,
}

/// A call that is being streamed.
struct OpenCall {
    index: Option<u64>,
    id: String,
    place: usize,
}

/// The calls of one answer.
#[derive(Default)]
pub(in crate::providers) struct Calls {
    open: Vec<OpenCall>,
}

impl Calls {
    /// Takes a piece of a call.
    pub(in crate::providers) fn function(
        &mut self,
        index: Option<u64>,
        id: &str,
        function: &Function<'_>,
        out: &mut Assembler,
    ) {
        let place = self.place(index, id, function.name.get().unwrap_or_default(), out);
        let Some(raw) = function.arguments.map(RawValue::get) else { return };
        match serde_json::from_str::<Text<'_>>(raw).ok().as_ref().and_then(Text::get) {
            Some(text) => out.call_delta(place, text),
            // Some servers send the object itself, whole.
            None if raw.starts_with('{') => out.call_delta(place, raw),
            None => {}
        }
    }

    /// The place of the call that a piece belongs to. The same index is the same call, unless both another id and a
    /// name come: some servers number every call 0, others send a new id with each piece. Without an index the id
    /// decides, then whether there is a name.
    pub(in crate::providers) fn place(
        &mut self,
        index: Option<u64>,
        id: &str,
        name: &str,
        out: &mut Assembler,
    ) -> usize {
        let has_id = !id.is_empty() && id != "null";
        let known = match index {
            Some(index) => self.open.iter().rposition(|call| call.index == Some(index)).filter(|at| {
                let other_id = has_id && !self.open[*at].id.is_empty() && self.open[*at].id != id;
                !other_id || name.is_empty()
            }),
            None => match self.open.iter().rposition(|call| has_id && call.id == id) {
                None if name.is_empty() => self.open.len().checked_sub(1),
                found => found,
            },
        };
        if let Some(at) = known {
            let call = &mut self.open[at];
            if has_id && call.id.is_empty() {
                id.clone_into(&mut call.id);
                out.call_id(call.place, id);
            }
            out.call_name(call.place, name);
            return call.place;
        }
        // The id may still come with a later piece.
        let id = if has_id { id } else { "" };
        let place = out.call_start(id, name);
        self.open.push(OpenCall { index, id: id.to_owned(), place });
        place
    }
}
