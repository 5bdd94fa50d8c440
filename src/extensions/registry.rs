//! The extensions of a process, in the order in which they are asked.

use std::{path::Path, sync::Arc};

use super::{
    contract::{Extension, ExtensionError, Resources},
    flags::{FlagDeclaration, FlagError, FlagValues},
    models::ModelRegistrar,
};
use crate::{protocol::section::SectionSource, providers::catalogue::LiveCatalogue, tools::Tool};

/// Makes an extension.
type MakeExtension = Arc<dyn Fn() -> Arc<dyn Extension> + Send + Sync>;

/// An ordered list of extensions with unique names.
#[derive(Clone, Default)]
pub struct ExtensionRegistry {
    list: Vec<Registered>,
    flags: FlagValues,
}

#[derive(Clone)]
struct Registered {
    extension: Arc<dyn Extension>,
    /// How it is made anew; without, a reload leaves it as it is.
    make: Option<MakeExtension>,
}

impl ExtensionRegistry {
    /// Adds an extension at the end.
    ///
    /// # Errors
    /// When another one has the name.
    pub fn register(&mut self, extension: Arc<dyn Extension>) -> Result<(), DuplicateExtension> {
        self.add(Registered { extension, make: None })
    }

    /// Adds an extension that is made anew by each reload.
    ///
    /// # Errors
    /// When another one has the name.
    pub fn register_with(
        &mut self,
        make: impl Fn() -> Arc<dyn Extension> + Send + Sync + 'static,
    ) -> Result<(), DuplicateExtension> {
        self.add(Registered { extension: make(), make: Some(Arc::new(make)) })
    }

    fn add(&mut self, registered: Registered) -> Result<(), DuplicateExtension> {
        let name = registered.extension.name();
        if self.iter().any(|known| known.name() == name) {
            return Err(DuplicateExtension(name.to_owned()));
        }
        self.list.push(registered);
        Ok(())
    }

    /// The same list, with those made anew that say how.
    #[must_use]
    pub fn renewed(&self) -> Self {
        let again = |Registered { extension, make }: &Registered| Registered {
            extension: make.as_ref().map_or_else(|| extension.clone(), |make| make()),
            make: make.clone(),
        };
        Self { list: self.list.iter().map(again).collect(), flags: self.flags.clone() }
    }

    /// The extensions in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Extension>> {
        self.list.iter().map(|registered| &registered.extension)
    }

    /// The flags of all extensions, with the names of those that declared them; of two with one name the first counts.
    #[must_use]
    pub fn flags(&self) -> Vec<(String, FlagDeclaration)> {
        let mut flags: Vec<(String, FlagDeclaration)> = Vec::new();
        for extension in self.iter() {
            for flag in extension.flags() {
                if !flags.iter().any(|(_, known)| known.name == flag.name) {
                    flags.push((extension.name().to_owned(), flag));
                }
            }
        }
        flags
    }

    /// Says what the command line gave: names of flags, and the text behind them where there was one. What was not
    /// given has its default.
    ///
    /// # Errors
    /// Flags that were not given as they must be, in their order.
    pub fn set_flags(&self, given: &[(&str, Option<&str>)]) -> Result<(), Vec<FlagError>> {
        let mut errors = Vec::new();
        for (extension, flag) in self.flags() {
            // The last one counts, as everywhere on the command line.
            let value = given.iter().rev().find(|(name, _)| *name == flag.name).map(|(_, value)| *value);
            match flag.read(value) {
                Ok(Some(value)) => self.flags.set(&extension, &flag.name, value),
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// The values of the flags.
    #[must_use]
    pub fn flag_values(&self) -> FlagValues {
        self.flags.clone()
    }

    /// Has all extensions register their providers and virtual models; those that could not, and why.
    #[must_use]
    pub fn register_models(&self, catalogue: &LiveCatalogue) -> Vec<(String, ExtensionError)> {
        let register = |extension: &Arc<dyn Extension>| {
            let models = ModelRegistrar::new(extension.name(), catalogue.clone());
            extension.register(&models).err().map(|error| (extension.name().to_owned(), error))
        };
        self.iter().filter_map(register).collect()
    }

    /// What an extension says about the trust in the project around this folder; none when none decides. To be called
    /// where blocking is allowed.
    #[must_use]
    pub fn trusts(&self, cwd: &Path) -> Option<bool> {
        self.iter().find_map(|extension| extension.trusts(cwd))
    }

    /// Skills and prompt templates of all extensions, for sessions in this folder.
    #[must_use]
    pub fn resources(&self, cwd: &Path) -> Resources {
        let mut all = Resources::default();
        for extension in self.iter() {
            let Resources { skills, prompts } = extension.resources(cwd);
            all.skills.extend(skills);
            all.prompts.extend(prompts);
        }
        all
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The sections of all extensions, in order.
    #[must_use]
    pub fn sections(&self) -> Vec<Arc<dyn SectionSource>> {
        self.iter().flat_map(|extension| extension.sections()).collect()
    }

    /// The tools of all extensions, in order; of two with one name the first counts.
    #[must_use]
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for tool in self.iter().flat_map(|extension| extension.tools()) {
            if !tools.iter().any(|known| known.declaration().name == tool.declaration().name) {
                tools.push(tool);
            }
        }
        tools
    }
}

/// Two extensions have one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an extension named {0} is registered already; give each a name of its own")]
pub struct DuplicateExtension(pub String);

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::extensions::flags::FlagValue;

    struct Bringer(&'static str);

    impl Extension for Bringer {
        fn name(&self) -> &str {
            self.0
        }

        fn flags(&self) -> Vec<FlagDeclaration> {
            vec![FlagDeclaration::text("shared", "", Some(self.0)), FlagDeclaration::switch(self.0, "")]
        }

        fn resources(&self, cwd: &Path) -> Resources {
            Resources { skills: vec![cwd.join(self.0)], prompts: Vec::new() }
        }
    }

    fn two() -> ExtensionRegistry {
        let mut registry = ExtensionRegistry::default();
        registry.register(Arc::new(Bringer("a"))).unwrap();
        registry.register(Arc::new(Bringer("b"))).unwrap();
        registry
    }

    #[test]
    fn of_two_flags_with_one_name_the_first_counts_and_each_extension_reads_its_own() {
        let registry = two();
        assert_eq!(
            registry.flags().iter().map(|(_, flag)| flag.name.as_str()).collect::<Vec<_>>(),
            ["shared", "a", "b"]
        );
        registry.set_flags(&[("shared", Some("x")), ("b", None), ("shared", Some("y"))]).unwrap();
        let values = registry.flag_values();
        assert_eq!(values.get("a", "shared"), Some(FlagValue::Text("y".into())));
        assert_eq!((values.get("b", "shared"), values.get("a", "b")), (None, None));
        assert_eq!(values.get("b", "b"), Some(FlagValue::Switch(true)));
        assert_eq!(values.get("a", "a"), Some(FlagValue::Switch(false)));
        let errors = registry.set_flags(&[("shared", None), ("a", Some("x"))]).unwrap_err();
        assert_eq!(errors.len(), 2);
    }

    #[test]
    fn resources_of_all_extensions_are_brought_in_their_order() {
        assert_eq!(two().resources(Path::new("/p")).skills, [PathBuf::from("/p/a"), PathBuf::from("/p/b")]);
    }
}
