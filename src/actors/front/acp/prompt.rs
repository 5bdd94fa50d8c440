//! From the content blocks of a prompt to a user's words. Pure.

use std::{borrow::Cow, path::Path};

use agent_client_protocol_schema::v1::{ContentBlock, EmbeddedResourceResource, Error, ErrorCode};
use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::json_rpc::error;
use crate::{
    protocol::{ImageBlock, command::Input},
    tools::{encoding::Decoded, paths::resolve, picture::ImageKind},
};

/// What a prompt says.
///
/// # Errors
/// It holds something that no model gets, or nothing at all.
pub(super) fn input(blocks: Vec<ContentBlock>) -> Result<Input, Error> {
    let refused = |text: &str| Err(error(ErrorCode::InvalidParams, text));
    let (mut words, mut files, mut images) = (String::new(), String::new(), Vec::new());
    for block in blocks {
        match block {
            ContentBlock::Text(text) => words.push_str(&text.text),
            ContentBlock::Image(image) => {
                images.push(ImageBlock { data: image.data, mime_type: image.mime_type });
            }
            // The model reads what it needs.
            ContentBlock::ResourceLink(link) => words.push_str(&mention(&link.uri)),
            ContentBlock::Resource(resource) => match resource.resource {
                EmbeddedResourceResource::TextResourceContents(text) => {
                    words.push_str(&mention(&text.uri));
                    attach(&name_of(&text.uri), &text.text, &mut files);
                }
                EmbeddedResourceResource::BlobResourceContents(blob) => {
                    let Ok(bytes) = STANDARD.decode(blob.blob.as_bytes()) else {
                        return refused("the data of an embedded resource is no base64");
                    };
                    words.push_str(&mention(&blob.uri));
                    match ImageKind::sniff(&bytes) {
                        Some(kind) => {
                            attach_picture(&name_of(&blob.uri), &mut files);
                            images.push(ImageBlock { data: blob.blob, mime_type: kind.mime_type().to_owned() });
                        }
                        None => {
                            let text = String::from_utf8_lossy(&Decoded::new(&bytes).utf8).into_owned();
                            attach(&name_of(&blob.uri), &text, &mut files);
                        }
                    }
                }
                _ => return refused("an embedded resource of this kind is not supported"),
            },
            ContentBlock::Audio(_) => return refused("audio is not supported: no model takes it here"),
            _ => return refused("a content block of this kind is not supported"),
        }
    }
    let text = match (files.is_empty(), words.starts_with('/')) {
        (true, _) => words,
        // A command is known by its place at the beginning.
        (false, true) => format!("{words}\n\n{files}"),
        (false, false) => files + &words,
    };
    if text.trim().is_empty() && images.is_empty() {
        return refused("the prompt is empty");
    }
    Ok(Input { images, ..Input::text(text) })
}

/// The path of a local file, with what the client says of the place in it; any other address as it is.
fn name_of(uri: &str) -> Cow<'_, str> {
    match uri.starts_with("file://") {
        true => resolve(uri, Path::new("/"), None).to_string_lossy().into_owned().into(),
        false => uri.into(),
    }
}

/// How the words name what a block refers to: a file as on the command line, so that no path looks like a command.
fn mention(uri: &str) -> String {
    let mark = if uri.starts_with("file://") { "@" } else { "" };
    format!("{mark}{}", name_of(uri))
}

fn attach(name: &str, text: &str, files: &mut String) {
    files.push_str(&format!("<file name=\"{name}\">\n{text}\n</file>\n"));
}

fn attach_picture(name: &str, files: &mut String) {
    files.push_str(&format!("<file name=\"{name}\"></file>\n"));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(blocks: Value) -> Result<Input, String> {
        let blocks = serde_json::from_value(blocks).map_err(|error| error.to_string())?;
        input(blocks).map_err(|error| error.message)
    }

    #[test]
    fn files_come_before_the_words_unless_these_are_a_command() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let file = |uri: &str| json!({"type": "resource", "resource": {"uri": uri, "text": "X"}});
        let link = json!({"type": "resource_link", "name": "b", "uri": "file:///p/b"});
        let spaced = json!({"type": "resource_link", "name": "b", "uri": "file:///p/a%20b"});
        let blob = json!({"type": "resource", "resource": {"uri": "x:y", "blob": "Y2Fm6Q=="}});
        let table = [
            (json!([text("hi "), text("there")]), "hi there"),
            (json!([text("see "), link]), "see @/p/b"),
            (json!([spaced]), "@/p/a b"),
            (json!([text("see "), file("file:///p/a#L1:2")]), "<file name=\"/p/a#L1:2\">\nX\n</file>\nsee @/p/a#L1:2"),
            (json!([text("/fix "), file("zed://x")]), "/fix zed://x\n\n<file name=\"zed://x\">\nX\n</file>\n"),
            (json!([blob]), "<file name=\"x:y\">\ncaf\u{fffd}\n</file>\nx:y"),
        ];
        for (blocks, wanted) in table {
            assert_eq!(read(blocks.clone()).unwrap().text, wanted, "{blocks}");
        }
    }

    #[test]
    fn pictures_are_pictures_wherever_they_come() {
        let gif = STANDARD.encode(b"GIF89a\x01\0\x01\0");
        let embedded = json!([{"type": "resource", "resource": {"uri": "file:///g.gif", "blob": gif}}]);
        let input = read(embedded).unwrap();
        assert_eq!((input.text.as_str(), input.images.len()), ("<file name=\"/g.gif\"></file>\n@/g.gif", 1));
        let plain = read(json!([{"type": "image", "data": gif, "mimeType": "image/gif"}])).unwrap();
        assert_eq!((plain.text.as_str(), plain.images[0].mime_type.as_str()), ("", "image/gif"));
    }

    #[test]
    fn what_no_model_gets_is_refused() {
        let table = [
            (json!([]), "empty"),
            (json!([{"type": "text", "text": " "}]), "empty"),
            (json!([{"type": "audio", "data": "", "mimeType": "audio/wav"}]), "audio"),
            (json!([{"type": "resource", "resource": {"uri": "x", "blob": "*"}}]), "base64"),
        ];
        for (blocks, wanted) in table {
            let refused = read(blocks.clone()).unwrap_err();
            assert!(refused.contains(wanted), "{blocks}: {refused}");
        }
    }
}
