//! Pictures of whole screens.
//!
//! They are kept in `snapshots`; after a wanted change, `INSTA_UPDATE=always cargo test tui::view::tests` writes them
//! again, and the difference is to be read.

mod agents;
mod conversation;
mod scenes;
mod sheet;

use std::sync::Arc;

use crate::{
    protocol::{Event, Model as LanguageModel, event::CallLabel},
    tui::{
        model::Model,
        testing::{happen, model_of},
        theme::Theme,
    },
};

/// A screen on this session, with a model whose name no catalogue changes, and colours that no terminal does.
fn screen_on(lines: &[String]) -> Model {
    let mut model = model_of(lines);
    let any = model.facts.model.as_deref().cloned().expect("a built-in model");
    let fixed = LanguageModel { id: "alpha".into(), name: "Alpha".into(), provider: "acme".into(), ..any };
    model.facts.model = Some(Arc::new(fixed));
    model.facts.window = 200_000;
    model.theme = Theme::dark();
    model.branch = Some("trunk".to_owned());
    model
}

/// A call of the running batch.
fn label(place: usize, tool: &str, args: serde_json::Value) -> CallLabel {
    CallLabel {
        place,
        tool_call_id: format!("c{place}"),
        tool_name: tool.to_owned(),
        args: Arc::new(args.as_object().cloned().unwrap_or_default()),
    }
}

/// Tells the model several things that happened.
fn happen_all(model: &mut Model, events: impl IntoIterator<Item = Event>) {
    for event in events {
        happen(model, event);
    }
}
