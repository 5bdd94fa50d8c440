//! Tools by name, in order.

use std::sync::Arc;

use super::{
    Tool, bash::BashTool, edit::EditTool, find::FindTool, grep::GrepTool, jobs::JobsTool, ls::LsTool, read::ReadTool,
    write::WriteTool,
};
use crate::protocol::ToolDeclaration;

/// An ordered set of tools with different names: all that are registered, or those that are active. Cheap to clone.
#[derive(Clone, Default)]
pub struct ToolSet {
    tools: Vec<Arc<dyn Tool>>,
}

impl ToolSet {
    /// The tools of this crate. Which of them are active by default is [`super::selection::DEFAULT_TOOLS`].
    #[must_use]
    pub fn builtin() -> Self {
        Self {
            tools: vec![
                Arc::new(ReadTool::new()),
                Arc::new(BashTool::new()),
                Arc::new(EditTool::new()),
                Arc::new(WriteTool::new()),
                Arc::new(GrepTool::new()),
                Arc::new(FindTool::new()),
                Arc::new(LsTool::new()),
                Arc::new(JobsTool::new()),
            ],
        }
    }

    /// Adds a tool at the end. The first one of a name stays: false when the name is taken.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> bool {
        let free = self.get(&tool.declaration().name).is_none();
        if free {
            self.tools.push(tool);
        }
        free
    }

    /// Takes a tool out.
    pub fn remove(&mut self, name: &str) -> Option<Arc<dyn Tool>> {
        let place = self.tools.iter().position(|tool| tool.declaration().name == name)?;
        Some(self.tools.remove(place))
    }

    /// The tool of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.declaration().name == name)
    }

    /// The tools in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// The names in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.iter().map(|tool| tool.declaration().name.as_str())
    }

    /// The declarations in order.
    #[must_use]
    pub fn declarations(&self) -> Vec<ToolDeclaration> {
        self.tools.iter().map(|tool| tool.declaration().clone()).collect()
    }

    /// The tools of these names, in this order; names that are not in the set are left out.
    #[must_use]
    pub fn pick<S: AsRef<str>>(&self, names: &[S]) -> Self {
        Self { tools: names.iter().filter_map(|name| self.get(name.as_ref()).cloned()).collect() }
    }

    /// Whether there is no tool in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

impl FromIterator<Arc<dyn Tool>> for ToolSet {
    /// The tools in their order; the first one of a name stays.
    fn from_iter<I: IntoIterator<Item = Arc<dyn Tool>>>(tools: I) -> Self {
        let mut set = Self::default();
        for tool in tools {
            set.add(tool);
        }
        set
    }
}

impl std::fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::selection::DEFAULT_TOOLS;

    #[test]
    fn the_built_in_tools_declare_what_their_users_know() {
        let tools = ToolSet::builtin();
        let table = [
            ("read", json!(["path", "offset", "limit"]), json!(["path"]), true),
            ("bash", json!(["command", "timeout"]), json!(["command"]), false),
            ("edit", json!(["path", "edits"]), json!(["path", "edits"]), false),
            ("write", json!(["path", "content"]), json!(["path", "content"]), false),
            (
                "grep",
                json!(["pattern", "path", "glob", "ignoreCase", "literal", "context", "limit"]),
                json!(["pattern"]),
                true,
            ),
            ("find", json!(["pattern", "path", "limit"]), json!(["pattern"]), true),
            ("ls", json!(["path", "limit"]), json!(null), true),
            (
                "jobs",
                json!(["action", "id", "command", "keep", "from", "text", "close", "pattern", "seconds"]),
                json!(["action"]),
                false,
            ),
        ];
        assert!(tools.names().eq(table.iter().map(|row| row.0)));
        for (name, properties, required, read_only) in table {
            let tool = tools.get(name).unwrap();
            let parameters = &tool.declaration().parameters;
            let names: Vec<_> = parameters["properties"].as_object().unwrap().keys().collect();
            assert_eq!(json!(names), properties, "{name}");
            assert_eq!(parameters.get("required").cloned().unwrap_or_default(), required, "{name}");
            assert_eq!(tool.is_read_only(), read_only, "{name}");
            assert!(tool.prompt_snippet().is_some_and(|snippet| !snippet.contains('\n')), "{name}");
            assert!(!tool.declaration().description.is_empty(), "{name}");
        }
        assert!(DEFAULT_TOOLS.iter().all(|name| tools.get(name).is_some()));
    }

    #[test]
    fn the_first_tool_of_a_name_stays_and_picking_keeps_the_asked_order() {
        let mut tools = ToolSet::builtin();
        assert!(!tools.add(Arc::new(LsTool::new())));
        assert!(tools.remove("ls").is_some());
        assert!(tools.add(Arc::new(LsTool::new())));
        let picked = tools.pick(&["ls", "nothing", "read"]);
        assert!(picked.names().eq(["ls", "read"]));
    }
}
