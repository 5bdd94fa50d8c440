//! Siblings that cannot take over everything from their parent: those in folders of their own, and those with scripts.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    args::HiArgs,
    base::Base,
    env::Environment,
    operations::{self, Closings},
};
use crate::{
    actors::{
        kin::SiblingMaker,
        shared::{AgentConfig, ResourceSource},
    },
    protocol::{section, wire::CommandInfo},
    providers::{Provider, scripted::Scripted},
    resources::{listing::Listing, roots::Root},
    store::settings::Settings,
    tools::Tool,
};

/// See the module.
pub struct Maker {
    environment: Environment,
    args: HiArgs,
    settings: Settings,
    elsewhere: bool,
    /// Ended with what the parent holds.
    closings: Closings,
}

impl Maker {
    /// For siblings of an agent with these settings.
    #[must_use]
    pub fn of(base: &Base, settings: Settings, closings: Closings) -> Self {
        let (environment, args) = (base.environment.clone(), base.args.clone());
        Self { environment, args, settings, elsewhere: base.remote.is_some(), closings }
    }
}

impl SiblingMaker for Maker {
    fn config_in(&self, parent: &AgentConfig, cwd: &Path) -> Result<AgentConfig, String> {
        if self.elsewhere {
            let text = "this session works on another machine, where its agents all work in the same folder";
            return Err(text.to_owned());
        }
        let works_with = operations::choose(&self.environment, &self.args, &self.settings, cwd, None);
        let works_with = works_with.map_err(|error| error.to_string())?;
        self.closings.adopt(&works_with.closings);
        let new: Vec<_> = works_with.sections.iter().map(|section| section.name()).collect();
        let kept = parent.sections.iter().filter(|section| !new.contains(&section.name())).cloned();
        Ok(AgentConfig {
            cwd: cwd.to_owned(),
            sections: works_with.sections.iter().cloned().chain(kept).collect(),
            operations: works_with.operations,
            user_operations: works_with.user_operations,
            plan_operations: works_with.plan_operations,
            resources: Arc::new(InFolder { cwd: cwd.to_owned(), rest: parent.resources.clone() }),
            ..parent.clone()
        })
    }

    fn script(&self, file: &Path) -> Result<Arc<dyn Provider>, String> {
        let scripted = Scripted::from_file(file).map_err(|error| error.to_string())?;
        Ok(Arc::new(scripted))
    }
}

/// The parent's resources, told of another folder.
struct InFolder {
    cwd: PathBuf,
    rest: Arc<dyn ResourceSource>,
}

impl ResourceSource for InFolder {
    fn prompt_sections(&self, tools: &[Arc<dyn Tool>]) -> Vec<(String, String)> {
        let mut sections = self.rest.prompt_sections(tools);
        for (name, text) in sections.iter_mut().filter(|(name, _)| name == "cwd") {
            *text = section::tagged(name, &self.cwd.to_string_lossy());
        }
        sections
    }

    fn expand(&self, text: &str) -> String {
        self.rest.expand(text)
    }

    fn commands(&self) -> Vec<CommandInfo> {
        self.rest.commands()
    }

    fn is_trusted(&self) -> bool {
        self.rest.is_trusted()
    }

    fn theme_roots(&self) -> Vec<Root> {
        self.rest.theme_roots()
    }

    fn listing(&self) -> Listing {
        self.rest.listing()
    }
}
