//! Tools and providers of the program, as an extension like any other.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    extensions::{Extension, ExtensionError, ModelRegistrar},
    providers::Provider,
    tools::Tool,
};

/// What the program brings along.
#[derive(Clone, Default)]
pub struct Own {
    pub tools: Vec<Arc<dyn Tool>>,
    pub providers: Vec<(String, Value, Arc<dyn Provider>)>,
}

impl Extension for Own {
    fn name(&self) -> &str {
        "program"
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    fn register(&self, models: &ModelRegistrar) -> Result<(), ExtensionError> {
        self.providers
            .iter()
            .try_for_each(|(id, config, wire)| models.register_native_provider(id, config.clone(), wire.clone()))
    }
}
