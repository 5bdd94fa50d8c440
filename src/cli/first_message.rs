//! The prompts of a command line.

use super::files::Attachments;
use crate::protocol::command::Input;

/// The inputs to send one after another, each when the one before has settled: the first is the piped text, the files
/// and the first message, put together without a separator; the other messages follow by themselves. Empty inputs are
/// left out, since no provider takes them.
#[must_use]
pub fn prompts(piped: Option<String>, attachments: Attachments, messages: Vec<String>) -> Vec<Input> {
    let mut messages = messages.into_iter();
    let mut text = piped.unwrap_or_default();
    text.push_str(&attachments.text);
    text.push_str(&messages.next().unwrap_or_default());
    let first = Input { images: attachments.images, ..Input::text(text) };
    std::iter::once(first)
        .chain(messages.map(Input::text))
        .filter(|input| !input.text.is_empty() || !input.images.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ImageBlock;

    #[test]
    fn the_first_message_is_put_together_without_separators() {
        // piped, files, messages, inputs
        type Row<'a> = (Option<&'a str>, &'a str, &'a [&'a str], &'a [&'a str]);
        let table: &[Row] = &[
            (None, "", &[], &[]),
            (None, "", &[""], &[]),
            (None, "", &["", "b"], &["b"]),
            (Some("piped in"), "", &["arg text"], &["piped inarg text"]),
            (Some("IN"), "<file/>\n", &["one", "two", "", "three"], &["IN<file/>\none", "two", "three"]),
            (None, "<file/>\n", &[], &["<file/>\n"]),
            (Some("just this"), "", &[], &["just this"]),
        ];
        for (piped, files, messages, inputs) in table {
            let attachments = Attachments { text: (*files).to_owned(), images: Vec::new() };
            let messages = messages.iter().map(|m| (*m).to_owned()).collect();
            let got = prompts(piped.map(str::to_owned), attachments, messages);
            assert_eq!(got.iter().map(|input| input.text.as_str()).collect::<Vec<_>>(), *inputs);
            let mut ops: Vec<_> = got.iter().map(|input| &input.op).collect();
            ops.dedup();
            assert_eq!(ops.len(), got.len(), "each input is an operation of its own");
        }
    }

    #[test]
    fn pictures_go_with_the_first_message_even_without_text() {
        let image = ImageBlock { data: "AA==".into(), mime_type: "image/png".into() };
        let attachments = Attachments { text: String::new(), images: vec![image.clone()] };
        let got = prompts(None, attachments, vec![String::new(), "two".into()]);
        assert_eq!(got[0].images, [image]);
        assert_eq!((got.len(), got[1].images.len()), (2, 0));
    }
}
