//! Pictures from the command line and over RPC, on their way to the model: made fit, or blocked.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::Cursor;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use image::{DynamicImage, ImageFormat};
use serde_json::{Value, json};
use support::*;

const BLOCKED: &str = "Image reading is disabled.";

fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    DynamicImage::new_rgb8(width, height).write_to(&mut file, format).unwrap();
    file.into_inner()
}

async fn obliging() -> Sandbox {
    Sandbox::new(replies([text("ok")])).await
}

/// The pictures of a request's message, decoded.
fn pictures(message: &Value) -> Vec<Vec<u8>> {
    let parts = message["content"].as_array().cloned().unwrap_or_default();
    let urls = parts.iter().filter_map(|part| part["image_url"]["url"].as_str());
    urls.map(|url| STANDARD.decode(url.split_once(";base64,").unwrap().1).unwrap()).collect()
}

/// The text parts of a request's message, one by one.
fn texts(message: &Value) -> Vec<&str> {
    match &message["content"] {
        Value::String(text) => vec![text],
        parts => parts.as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect(),
    }
}

async fn last_user(sandbox: &Sandbox) -> Value {
    sandbox.server.last().messages().iter().rfind(|message| message["role"] == "user").cloned().unwrap()
}

#[tokio::test]
async fn pictures_of_the_command_line_reach_a_model_that_sees_1_4() {
    let sandbox = obliging().await;
    let small = picture(3, 2, ImageFormat::Png);
    let path = sandbox.write("small.png", &small);
    sandbox.write("photo.jpg", picture(4, 4, ImageFormat::Jpeg));
    sandbox.write("old.bmp", picture(5, 4, ImageFormat::Bmp));
    let args = ["--model", "mock/img", "-p", "@small.png", "@photo.jpg", "@old.bmp", "what is this?"];
    let finished = sandbox.run(&args).await;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    let user = last_user(&sandbox).await;
    let sent = pictures(&user);
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[0], small, "what fits stays as it is");
    let formats: Vec<_> = sent.iter().map(|bytes| image::guess_format(bytes).unwrap()).collect();
    assert_eq!(formats, [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Png], "a bitmap is converted");
    let text = texts(&user).join("");
    let beginning = format!("<file name=\"{}\"></file>\n<file name=", path.display());
    assert!(text.starts_with(&beginning) && text.contains("what is this?"), "{text}");
    assert!(text.contains("image/bmp"), "the model is told of the conversion: {text}");
}

#[tokio::test]
async fn too_large_pictures_are_made_smaller_for_prompts_of_every_front_5_2() {
    let sandbox = obliging().await;
    let large = picture(3000, 30, ImageFormat::Png);
    sandbox.write("large.png", &large);
    let size = |bytes: &[u8]| {
        let picture = image::load_from_memory(bytes).unwrap();
        (picture.width(), picture.height())
    };
    sandbox.run(&["--model", "mock/img", "-p", "@large.png"]).await;
    let user = last_user(&sandbox).await;
    assert_eq!(size(&pictures(&user)[0]), (2000, 20));
    assert!(texts(&user).join("").contains("3000x30"), "the model is told of the scale: {user}");

    let mut rpc = sandbox.rpc(&["--model", "mock/img"]).await;
    let image = json!({"type": "image", "data": STANDARD.encode(&large), "mimeType": "image/png"});
    rpc.call(json!({"type": "prompt", "message": "over RPC", "images": [image]})).await;
    rpc.until("agent_settled").await;
    let user = last_user(&sandbox).await;
    assert_eq!(size(&pictures(&user)[0]), (2000, 20));
    assert!(texts(&user)[0].starts_with("over RPC\n\n["), "{user}");

    sandbox.settings(json!({"images": {"autoResize": false}}));
    sandbox.run(&["--model", "mock/img", "-p", "@large.png"]).await;
    assert_eq!(pictures(&last_user(&sandbox).await), [large]);
}

#[tokio::test]
async fn blocked_pictures_stay_in_the_session_and_out_of_every_request_2_7() {
    let read = calls([call("read", json!({"path": "small.png"}))]);
    let sandbox = Sandbox::new(replies([text("seen"), text("ok"), read, text("ok"), text("ok")])).await;
    let small = picture(3, 2, ImageFormat::Png);
    sandbox.write("small.png", &small);
    let run = async |args: &[&str]| {
        let finished = sandbox.run(&[&["-p", "--model", "mock/img"], args].concat()).await;
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    };
    run(&["@small.png", "look"]).await;
    sandbox.settings(json!({"images": {"blockImages": true}}));
    run(&["--continue", "@small.png", "@small.png", "again"]).await;
    let request = sandbox.server.last();
    for message in request.messages().iter().filter(|message| message["role"] == "user") {
        assert!(pictures(message).is_empty(), "{message}");
        assert_eq!(texts(message).iter().filter(|text| **text == BLOCKED).count(), 1, "one text a row: {message}");
    }
    run(&["--continue", "read it"]).await;
    let results = sandbox.server.last().results();
    assert!(results[0].contains(BLOCKED), "{results:?}");
    assert!(!sandbox.server.last().body.to_string().contains("image_url"));
    // The session has them, so that another setting brings them back.
    sandbox.settings(json!({}));
    run(&["--continue", "look again"]).await;
    let first = sandbox.server.last().messages().iter().find(|message| message["role"] == "user").cloned().unwrap();
    assert_eq!(pictures(&first), [small]);
}

#[tokio::test]
async fn a_model_that_does_not_see_gets_a_text_instead_11_8() {
    let sandbox = obliging().await;
    sandbox.write("small.png", picture(3, 2, ImageFormat::Png));
    sandbox.run(&["-p", "@small.png", "look"]).await;
    let user = last_user(&sandbox).await;
    assert!(pictures(&user).is_empty());
    assert!(texts(&user).iter().any(|text| text.contains("model does not support images")), "{user}");
}
