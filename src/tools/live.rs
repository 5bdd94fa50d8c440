//! All tools of a process while extensions add some and take them away: whoever decides takes those of the moment.

use std::sync::{Arc, PoisonError, RwLock};

use super::{Tool, ToolSet};

/// The tools. Clones are handles of the same ones.
#[derive(Clone, Default)]
pub struct LiveTools(Arc<RwLock<Shelf>>);

#[derive(Default)]
struct Shelf {
    base: ToolSet,
    added: Vec<Added>,
    now: Arc<Vec<Arc<dyn Tool>>>,
}

/// A tool that an extension added.
#[derive(Clone)]
struct Added {
    owner: Arc<str>,
    tool: Arc<dyn Tool>,
    /// Every agent has it.
    active: bool,
}

impl Added {
    fn is(&self, name: &str) -> bool {
        self.tool.declaration().name == name
    }
}

/// Another extension has a tool of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the extension {owner} has registered a tool named {name} already; give yours another name")]
pub struct ToolTaken {
    /// The name.
    pub name: String,
    /// Who has it.
    pub owner: String,
}

impl LiveTools {
    /// The tools that are there from the start.
    #[must_use]
    pub fn new(base: ToolSet) -> Self {
        let mut shelf = Shelf { base, ..Shelf::default() };
        shelf.arrange();
        Self(Arc::new(RwLock::new(shelf)))
    }

    /// Other tools are there from the start; those that were added stay.
    pub fn replace_base(&self, base: ToolSet) {
        let mut shelf = self.0.write().unwrap_or_else(PoisonError::into_inner);
        shelf.base = base;
        shelf.arrange();
    }

    /// Takes all tools of `owner` away.
    pub fn forget(&self, owner: &str) {
        let mut shelf = self.0.write().unwrap_or_else(PoisonError::into_inner);
        shelf.added.retain(|known| *known.owner != *owner);
        shelf.arrange();
    }

    /// The tools of this moment, in order.
    #[must_use]
    pub fn now(&self) -> Arc<Vec<Arc<dyn Tool>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).now.clone()
    }

    /// Names of added tools that every agent has.
    #[must_use]
    pub fn active(&self) -> Vec<String> {
        let shelf = self.0.read().unwrap_or_else(PoisonError::into_inner);
        shelf.added.iter().filter(|added| added.active).map(|added| added.tool.declaration().name.clone()).collect()
    }

    /// The tool of a name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.now().iter().find(|tool| tool.declaration().name == name).cloned()
    }

    /// Adds a tool of `owner`, or changes it; `active` ones are for every agent, also for one that comes later. It
    /// replaces one of the same name that was there from the start.
    ///
    /// # Errors
    /// Another owner has added one of that name.
    pub fn register(&self, owner: &str, tool: Arc<dyn Tool>, active: bool) -> Result<(), ToolTaken> {
        let mut shelf = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let name = tool.declaration().name.clone();
        let added = Added { owner: owner.into(), tool, active };
        match shelf.added.iter_mut().find(|known| known.is(&name)) {
            Some(known) if *known.owner != *owner => return Err(ToolTaken { name, owner: known.owner.to_string() }),
            Some(known) => *known = added,
            None => shelf.added.push(added),
        }
        shelf.arrange();
        Ok(())
    }

    /// Takes a tool of `owner` away; what it replaced comes back. False when it has none of that name.
    pub fn unregister(&self, owner: &str, name: &str) -> bool {
        let mut shelf = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = shelf.added.len();
        shelf.added.retain(|known| *known.owner != *owner || !known.is(name));
        shelf.arrange();
        shelf.added.len() < before
    }
}

impl Shelf {
    fn arrange(&mut self) {
        let added = |name: &str| self.added.iter().find(|added| added.is(name));
        let mut now: Vec<Arc<dyn Tool>> = Vec::with_capacity(self.base.iter().len() + self.added.len());
        for tool in self.base.iter() {
            now.push(added(&tool.declaration().name).map_or(tool, |added| &added.tool).clone());
        }
        for Added { tool, .. } in &self.added {
            if self.base.get(&tool.declaration().name).is_none() {
                now.push(tool.clone());
            }
        }
        self.now = Arc::new(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::{ToolDeclaration, ToolOutput},
        tools::{BoxFuture, ToolContext},
    };

    struct Named(ToolDeclaration);

    impl Tool for Named {
        fn declaration(&self) -> &ToolDeclaration {
            &self.0
        }

        fn execute(&self, _: ToolContext) -> BoxFuture<'_, ToolOutput> {
            Box::pin(std::future::ready(ToolOutput::default()))
        }
    }

    fn tool(name: &str, description: &str) -> Arc<dyn Tool> {
        Arc::new(Named(ToolDeclaration {
            name: name.into(),
            description: description.into(),
            ..ToolDeclaration::default()
        }))
    }

    fn listed(tools: &LiveTools) -> Vec<String> {
        let line = |tool: &Arc<dyn Tool>| format!("{} {}", tool.declaration().name, tool.declaration().description);
        tools.now().iter().map(line).collect()
    }

    #[test]
    fn registered_tools_come_behind_the_others_or_in_the_place_of_one_and_go_again() {
        let mut base = ToolSet::default();
        base.add(tool("read", "0"));
        base.add(tool("bash", "0"));
        let tools = LiveTools::new(base);
        let other = tools.clone();
        tools.register("a", tool("weather", "1"), true).unwrap();
        tools.register("a", tool("read", "1"), true).unwrap();
        assert_eq!(listed(&other), ["read 1", "bash 0", "weather 1"]);
        tools.register("a", tool("weather", "2"), true).unwrap();
        assert_eq!(listed(&other), ["read 1", "bash 0", "weather 2"]);
        let taken = tools.register("b", tool("weather", "3"), true).unwrap_err();
        assert_eq!(taken, ToolTaken { name: "weather".into(), owner: "a".into() });
        assert!(!tools.unregister("b", "weather") && tools.unregister("a", "read"));
        assert_eq!(listed(&other), ["read 0", "bash 0", "weather 2"]);
        assert!(tools.unregister("a", "weather") && !tools.unregister("a", "weather"));
        assert!(tools.find("weather").is_none());
        tools.register("a", tool("idle", "1"), false).unwrap();
        tools.register("b", tool("busy", "1"), true).unwrap();
        assert_eq!(tools.active(), ["busy"]);
        tools.forget("b");
        tools.replace_base(ToolSet::default());
        assert_eq!(listed(&tools), ["idle 1"]);
    }
}
