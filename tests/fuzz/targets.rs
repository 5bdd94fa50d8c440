//! The list of targets.

use troupe::providers::wire_apis;

use crate::{corpus, engine::guard, mutate::Framing, requests, texts, wire};

/// Panics when something does not hold. Gives a number that is the same for inputs that are treated alike.
type Check = dyn Fn(&[u8]) -> u64;

/// Something that must hold for every input.
pub struct Target {
    pub name: String,
    /// Good inputs to begin with.
    pub seeds: Vec<Vec<u8>>,
    /// What the inputs are made of.
    pub framing: Framing,
    check: Box<Check>,
}

impl Target {
    pub fn new(name: &str, seeds: Vec<Vec<u8>>, check: impl Fn(&[u8]) -> u64 + 'static) -> Self {
        Self { name: name.to_owned(), seeds, framing: Framing::Text, check: Box::new(check) }
    }

    /// Checks an input: its shape, or what does not hold.
    pub fn try_input(&self, input: &[u8]) -> Result<u64, String> {
        guard(|| (self.check)(input))
    }
}

/// Every target: one for each wire API that is spoken, and those of the layers that they share.
pub fn targets() -> Vec<Target> {
    let mut targets = vec![
        Target::new("sse", corpus::all_streams(), texts::sse),
        Target::new("json-repair", texts::arguments_seeds(), texts::repair),
        Target::new("arguments", texts::arguments_seeds(), texts::arguments),
        Target::new("errors", corpus::errors(), texts::errors),
        Target::new("requests", requests::seeds(), requests::check),
    ];
    let frames = Target::new("aws-frames", corpus::streams("bedrock-converse-stream"), texts::aws_frames);
    targets.push(Target { framing: Framing::Aws, ..frames });
    targets.extend(wire_apis().iter().map(|api| {
        let name = api.name();
        let framing = if name == "bedrock-converse-stream" { Framing::Aws } else { Framing::Text };
        let check = move |input: &[u8]| wire::check(name, input);
        Target { framing, ..Target::new(name, corpus::streams(name), check) }
    }));
    targets
}
