//! What a session is told beside the user's words, loaded once: the system prompt's parts, skills, prompt templates.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use super::{args::HiArgs, env::Environment, patience, project::Project, start::StartError};
use crate::{
    actors::shared::ResourceSource,
    extensions::contract::Resources,
    protocol::wire::{CommandInfo, CommandSource, SourceInfo},
    resources::{
        Loaded, Warning,
        context_files::{self, ContextFile},
        expand,
        kind::Kind,
        listing::Listing,
        packages::{self, Package, PackageList},
        roots::{Lists, Places, Root, roots},
        skills::{self, Skill},
        source, system_files,
        system_prompt::{PromptTool, SystemPrompt, sections, unlisted_skills},
        templates::{self, Template},
    },
    store::settings::{Scope, Settings},
    tools::Tool,
};

/// The resources of a session.
pub struct ProjectResources {
    prompt: SystemPrompt,
    skills: Vec<Skill>,
    templates: Vec<Template>,
    warnings: Vec<String>,
    shows_skills: bool,
    /// Where themes are looked for.
    themes: Vec<Root>,
    /// The project may bring settings and resources.
    trusted: bool,
}

/// What the settings say about resources of one kind.
struct OwnedLists {
    project: Vec<String>,
    user: Vec<String>,
    packages: Arc<Vec<Package>>,
}

impl OwnedLists {
    fn of(kind: Kind, settings: &Settings, packages: &Arc<Vec<Package>>) -> Self {
        let list = |scope| {
            let list = settings.get_in(scope, &[kind.key()]).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self { project: list(Scope::Project), user: list(Scope::Global), packages: packages.clone() }
    }

    fn as_lists(&self) -> Lists<'_> {
        Lists { project: &self.project, user: &self.user, packages: &self.packages }
    }
}

impl ProjectResources {
    /// Loads what the command line allows and, when the project is trusted, what the project brings. What does not
    /// answer within some seconds is left out, with a warning. `brought` comes from extensions.
    ///
    /// # Errors
    /// A file that was named for the prompt cannot be read.
    pub fn load(
        environment: &Environment,
        args: &HiArgs,
        settings: &Settings,
        cwd: &Path,
        project: &Project,
        brought: Resources,
    ) -> Result<Self, StartError> {
        let owned = Arc::new(OwnedPlaces::new(environment, cwd, project));
        let wanted = &args.resources;
        let texts = system_files::load(
            args.system_prompt.as_deref(),
            &args.append_system_prompt,
            &environment.cwd,
            &owned.places(),
        )
        .map_err(StartError::of)?;
        let packages = packages_of(environment, settings, project);
        let installed = Arc::new(packages.value);
        // Those of another machine lie there.
        let context = (wanted.context_files && args.ssh.is_none()).then(|| {
            let owned = owned.clone();
            patience::begin(move || context_files::load(&owned.user_dir, &owned.cwd))
        });
        let (named, usual) = ([&wanted.skills.named[..], &brought.skills].concat(), wanted.skills.usual);
        let (lists, places) = (OwnedLists::of(Kind::Skills, settings, &installed), owned.clone());
        let skills = patience::begin(move || {
            let roots = roots(Kind::Skills, &places.places(), &named, usual, lists.as_lists());
            with(roots.warnings, skills::load(&roots.value))
        });
        let (named, usual) =
            ([&wanted.prompt_templates.named[..], &brought.prompts].concat(), wanted.prompt_templates.usual);
        let (lists, places) = (OwnedLists::of(Kind::Prompts, settings, &installed), owned.clone());
        let templates = patience::begin(move || {
            let roots = roots(Kind::Prompts, &places.places(), &named, usual, lists.as_lists());
            with(roots.warnings, templates::load(&roots.value))
        });
        let (named, usual) = (wanted.themes.named.clone(), wanted.themes.usual);
        let (lists, places) = (OwnedLists::of(Kind::Themes, settings, &installed), owned.clone());
        let themes = patience::begin(move || roots(Kind::Themes, &places.places(), &named, usual, lists.as_lists()));
        let context = context.map(|work| in_time(work, "context files (AGENTS.md)", cwd)).unwrap_or_default();
        let skills = in_time(skills, "skills", cwd);
        let templates = in_time(templates, "prompt templates", cwd);
        let themes = in_time(themes, "themes", cwd);
        let warnings = [
            &texts.warnings,
            &context.warnings,
            &packages.warnings,
            &skills.warnings,
            &templates.warnings,
            &themes.warnings,
        ];
        let mut warnings: Vec<_> = warnings.into_iter().flatten().map(ToString::to_string).collect();
        let unlisted = unlisted_skills(&skills.value);
        if unlisted > 0 {
            warnings.push(format!(
                "The model is not told of {unlisted} skills for want of room; /skill:NAME calls them all the same. \
                 Patterns in the setting skills leave some out."
            ));
        }
        let prompt = SystemPrompt {
            custom: texts.value.system,
            addendum: texts.value.append,
            tools: Vec::new(),
            context_files: context.value,
            skills: skills.value.clone(),
            cwd: cwd.to_owned(),
            docs: environment.docs.clone(),
        };
        let shows_skills = settings.skill_commands();
        Ok(Self {
            prompt,
            skills: skills.value,
            templates: templates.value,
            warnings,
            shows_skills,
            trusted: project.trusted,
            themes: themes.value,
        })
    }

    /// The same for a session whose tools work on another machine: its folder and its files of instructions. Skills lie on this machine, where the model cannot read them: they are there for people who
    /// call them, but not offered.
    #[must_use]
    pub fn elsewhere(mut self, cwd: PathBuf, files: Loaded<Vec<ContextFile>>) -> Self {
        self.prompt.cwd = cwd;
        self.prompt.context_files = files.value;
        self.prompt.skills.clear();
        self.warnings.extend(files.warnings.iter().map(ToString::to_string));
        self
    }

    /// What is odd about them.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// The folders of a run, for work on other threads.
struct OwnedPlaces {
    user_dir: PathBuf,
    home: Option<PathBuf>,
    cwd: PathBuf,
    project: Project,
}

impl OwnedPlaces {
    fn new(environment: &Environment, cwd: &Path, project: &Project) -> Self {
        Self {
            user_dir: environment.user_dir.clone(),
            home: environment.home.clone(),
            cwd: cwd.to_owned(),
            project: project.clone(),
        }
    }

    fn places(&self) -> Places<'_> {
        Places {
            user_dir: &self.user_dir,
            home: self.home.as_deref(),
            cwd: &self.cwd,
            project_dir: self.project.dir.as_deref(),
            trusted: self.project.trusted,
        }
    }
}

/// The installed packages of the user and of a trusted project.
pub(super) fn packages_of(environment: &Environment, settings: &Settings, project: &Project) -> Loaded<Vec<Package>> {
    let entries = |scope| {
        let list = settings.get_in(scope, &["packages"]).and_then(Value::as_array);
        list.map(Vec::as_slice).unwrap_or_default()
    };
    let user = PackageList { entries: entries(Scope::Global), base: &environment.user_dir };
    let own = project.dir.as_deref().filter(|_| project.trusted);
    let own = own.map(|base| PackageList { entries: entries(Scope::Project), base });
    packages::load(user, own, environment.home.as_deref())
}

fn with<T>(mut warnings: Vec<Warning>, mut loaded: Loaded<T>) -> Loaded<T> {
    warnings.append(&mut loaded.warnings);
    Loaded { value: loaded.value, warnings }
}

/// What was loaded in time; else nothing, and a warning.
fn in_time<T: Default>(work: patience::Work<Loaded<T>>, what: &str, cwd: &Path) -> Loaded<T> {
    work.within(patience::FOR_FILES).unwrap_or_else(|| {
        let text = format!(
            "the {what} could not be read within {} seconds and are left out; a file system may hang",
            patience::FOR_FILES.as_secs()
        );
        Loaded { value: T::default(), warnings: vec![Warning::new(cwd, text)] }
    })
}

fn wire_source(info: &source::SourceInfo) -> SourceInfo {
    SourceInfo {
        path: info.path.to_string_lossy().into_owned(),
        source: info.source.as_str().to_owned(),
        scope: match info.scope {
            source::Scope::User => "user",
            source::Scope::Project => "project",
            source::Scope::Temporary => "temporary",
        }
        .to_owned(),
        origin: match info.origin {
            source::Origin::TopLevel => "top-level",
            source::Origin::Package => "package",
        }
        .to_owned(),
        base_dir: info.base_dir.as_ref().map(|dir| dir.to_string_lossy().into_owned()),
    }
}

impl ResourceSource for ProjectResources {
    fn prompt_sections(&self, tools: &[Arc<dyn Tool>]) -> Vec<(String, String)> {
        let tools = tools
            .iter()
            .map(|tool| PromptTool {
                name: tool.declaration().name.clone(),
                snippet: tool.prompt_snippet().map(str::to_owned),
                guidelines: tool.prompt_guidelines().iter().map(|line| (*line).to_owned()).collect(),
            })
            .collect();
        sections(&SystemPrompt { tools, ..self.prompt.clone() })
    }

    fn expand(&self, text: &str) -> String {
        let loaded = expand::expand(text, &self.skills, &self.templates);
        for warning in &loaded.warnings {
            tracing::warn!(%warning, "a skill");
        }
        loaded.value.into_owned()
    }

    fn commands(&self) -> Vec<CommandInfo> {
        let templates = self.templates.iter().map(|template| CommandInfo {
            name: template.name.clone(),
            description: Some(template.description.clone()).filter(|text| !text.is_empty()),
            source: CommandSource::Prompt,
            source_info: wire_source(&template.source),
        });
        let skills = self.skills.iter().filter(|_| self.shows_skills).map(|skill| CommandInfo {
            name: format!("skill:{}", skill.name),
            description: Some(skill.description.clone()),
            source: CommandSource::Skill,
            source_info: wire_source(&skill.source),
        });
        templates.chain(skills).collect()
    }

    fn listing(&self) -> Listing {
        let skill = |skill: &Skill| (skill.name.clone(), skill.file().to_owned());
        let template = |template: &Template| (template.name.clone(), template.source.path.clone());
        Listing {
            context_files: self.prompt.context_files.iter().map(|file| file.path.clone()).collect(),
            skills: self.skills.iter().map(skill).collect(),
            templates: self.templates.iter().map(template).collect(),
            warnings: self.warnings.clone(),
        }
    }

    fn is_trusted(&self) -> bool {
        self.trusted
    }

    fn theme_roots(&self) -> Vec<Root> {
        self.themes.clone()
    }
}
