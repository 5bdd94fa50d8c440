//! The colours that themes name.

/// Declares the colours once: their variants and the names that theme files give them.
macro_rules! colors {
    ($($variant:ident = $name:literal,)*) => {
        /// A colour that a theme gives, by what it is for. The names in theme files are those of the variants, in camel case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ThemeColor {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        impl ThemeColor {
            /// All of them, in the order of the format's description.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in theme files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

colors! {
    Accent = "accent",
    Border = "border",
    BorderAccent = "borderAccent",
    BorderMuted = "borderMuted",
    Success = "success",
    Error = "error",
    Warning = "warning",
    Muted = "muted",
    Dim = "dim",
    Text = "text",
    ThinkingText = "thinkingText",
    SelectedBg = "selectedBg",
    UserMessageBg = "userMessageBg",
    UserMessageText = "userMessageText",
    CustomMessageBg = "customMessageBg",
    CustomMessageText = "customMessageText",
    CustomMessageLabel = "customMessageLabel",
    ToolPendingBg = "toolPendingBg",
    ToolSuccessBg = "toolSuccessBg",
    ToolErrorBg = "toolErrorBg",
    ToolTitle = "toolTitle",
    ToolOutput = "toolOutput",
    MdHeading = "mdHeading",
    MdLink = "mdLink",
    MdLinkUrl = "mdLinkUrl",
    MdCode = "mdCode",
    MdCodeBlock = "mdCodeBlock",
    MdCodeBlockBorder = "mdCodeBlockBorder",
    MdQuote = "mdQuote",
    MdQuoteBorder = "mdQuoteBorder",
    MdHr = "mdHr",
    MdListBullet = "mdListBullet",
    ToolDiffAdded = "toolDiffAdded",
    ToolDiffRemoved = "toolDiffRemoved",
    ToolDiffContext = "toolDiffContext",
    SyntaxComment = "syntaxComment",
    SyntaxKeyword = "syntaxKeyword",
    SyntaxFunction = "syntaxFunction",
    SyntaxVariable = "syntaxVariable",
    SyntaxString = "syntaxString",
    SyntaxNumber = "syntaxNumber",
    SyntaxType = "syntaxType",
    SyntaxOperator = "syntaxOperator",
    SyntaxPunctuation = "syntaxPunctuation",
    ThinkingOff = "thinkingOff",
    ThinkingMinimal = "thinkingMinimal",
    ThinkingLow = "thinkingLow",
    ThinkingMedium = "thinkingMedium",
    ThinkingHigh = "thinkingHigh",
    ThinkingXhigh = "thinkingXhigh",
    BashMode = "bashMode",
    ScrollbarTrack = "scrollbarTrack",
    ScrollbarThumb = "scrollbarThumb",
    SearchMatchBg = "searchMatchBg",
    SearchMatchText = "searchMatchText",
    ThinkingMax = "thinkingMax",
}

impl ThemeColor {
    /// The colour that stands for one that a theme may leave out; none when it must give it.
    #[must_use]
    pub const fn fallback(self) -> Option<Self> {
        match self {
            Self::ScrollbarTrack => Some(Self::Muted),
            Self::ScrollbarThumb => Some(Self::Text),
            Self::SearchMatchBg => Some(Self::SelectedBg),
            Self::SearchMatchText => Some(Self::Text),
            Self::ThinkingMax => Some(Self::ThinkingXhigh),
            _ => None,
        }
    }
}
