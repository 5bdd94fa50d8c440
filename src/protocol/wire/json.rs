//! Writing JSON records into a byte buffer, without intermediate values.

use serde::Serialize;

/// Appends `value` as JSON.
pub(super) fn write_value<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        // Only maps with keys that are no text fail, and the protocol has none. A null keeps the line readable.
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}

/// An object that is being appended to a buffer, field by field.
pub(super) struct Record<'a> {
    out: &'a mut Vec<u8>,
    separator: &'static [u8],
}

impl<'a> Record<'a> {
    /// Begins an object.
    pub fn begin(out: &'a mut Vec<u8>) -> Self {
        Self { out, separator: b"{" }
    }

    /// Begins an object whose first field is its `type`.
    pub fn of_type(kind: &str, out: &'a mut Vec<u8>) -> Self {
        Self::begin(out).field("type", kind)
    }

    /// Goes on with an object of which `out` already ends in a field.
    pub fn resume(out: &'a mut Vec<u8>) -> Self {
        Self { out, separator: b"," }
    }

    /// Appends a field. Names are our own and need no escaping.
    pub fn field<T: Serialize + ?Sized>(mut self, name: &str, value: &T) -> Self {
        self.name(name);
        write_value(self.out, value);
        self
    }

    /// Appends a field unless there is no value.
    pub fn optional<T: Serialize>(self, name: &str, value: Option<&T>) -> Self {
        match value {
            Some(value) => self.field(name, value),
            None => self,
        }
    }

    /// Appends a field whose value `write` appends.
    pub fn field_with(mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        self.name(name);
        write(self.out);
        self
    }

    /// Ends the object and the line.
    pub fn end(self) {
        self.end_with(b"}\n");
    }

    /// Ends the object with whatever closes the records around it too.
    pub fn end_with(self, tail: &[u8]) {
        self.out.extend_from_slice(tail);
    }

    fn name(&mut self, name: &str) {
        self.out.extend_from_slice(self.separator);
        self.separator = b",";
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }
}
