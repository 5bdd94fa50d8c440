//! Models and how much they think.
//!
//! | file | what |
//! |---|---|
//! | [`select`] | choose a model |
//! | [`scoped`] | choose which models there are to choose from |
//! | [`thinking`] | choose a level |

mod scoped;
mod select;
mod thinking;

pub use scoped::{ScopeWork, ScopedModels};
pub use select::ModelSelector;
pub use thinking::ThinkingSelector;
