//! The items of an answer's output, and which of them an event speaks of (rule B1).

/// An item of the output that makes a block.
pub(super) struct Item {
    pub(super) index: Option<u64>,
    pub(super) id: String,
    pub(super) place: usize,
    pub(super) done: bool,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    Message {
        /// The phase that was told at the begin.
        phase: Option<String>,
    },
    Reasoning {
        /// The part that is being told.
        part: Option<Part>,
        /// The item as it ended, when its encrypted content may still come.
        bare: Option<String>,
    },
    Call {
        call_id: String,
        /// Arguments that came with the begin; they count when nothing follows.
        initial: String,
    },
}

/// Which items an event can speak of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KindName {
    Message,
    Reasoning,
    Call,
}

/// A part of reasoning: of its summary, or of the reasoning itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Summary(u64),
    Content(u64),
}

impl Kind {
    pub(super) fn name(&self) -> KindName {
        match self {
            Self::Message { .. } => KindName::Message,
            Self::Reasoning { .. } => KindName::Reasoning,
            Self::Call { .. } => KindName::Call,
        }
    }
}

impl KindName {
    /// The kind of an item of that type; items of hosted tools and what comes next year make no block.
    pub(super) fn of(item_type: Option<&str>) -> Option<Self> {
        match item_type? {
            "message" => Some(Self::Message),
            "reasoning" => Some(Self::Reasoning),
            "function_call" | "custom_tool_call" => Some(Self::Call),
            _ => None,
        }
    }
}

/// The items so far.
#[derive(Default)]
pub(super) struct Items(pub(super) Vec<Item>);

impl Items {
    /// The open item that an event speaks of: by place and id, by place alone (ids may change from event to event), by
    /// id alone. An event that names neither speaks of the newest.
    pub(super) fn find(&self, kind: KindName, index: Option<u64>, id: &str) -> Option<usize> {
        let by = |is_it: &dyn Fn(&Item) -> bool| {
            self.0.iter().rposition(|item| !item.done && item.kind.name() == kind && is_it(item))
        };
        let same_place = |item: &Item| index.is_some() && item.index == index;
        let same_id = |item: &Item| !id.is_empty() && item.id == id;
        by(&|item| same_place(item) && same_id(item))
            .or_else(|| by(&same_place))
            .or_else(|| by(&same_id))
            .or_else(|| if index.is_none() && id.is_empty() { by(&|_| true) } else { None })
    }

    /// Whether an item has ended already: some gateways say it twice.
    pub(super) fn has_ended(&self, index: Option<u64>, id: &str) -> bool {
        !id.is_empty() && self.0.iter().any(|item| item.done && item.index == index && item.id == id)
    }

    /// How many calls are open.
    pub(super) fn open_calls(&self) -> usize {
        self.0.iter().filter(|item| !item.done && item.kind.name() == KindName::Call).count()
    }
}
