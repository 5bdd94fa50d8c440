//! What a session is told beside the user's words, loaded once: the system prompt's parts, skills, prompt templates.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{args::HiArgs, env::Environment, start::StartError};
use crate::{
    actors::shared::ResourceSource,
    protocol::wire::{CommandInfo, CommandSource, SourceInfo},
    resources::{
        context_files::{self, ContextFile},
        expand,
        project::project_dir,
        roots::{Places, skill_roots, template_roots},
        skills::{self, Skill},
        source, system_files,
        system_prompt::{PromptTool, SystemPrompt, sections},
        templates::{self, Template},
        warning::Loaded,
    },
    tools::Tool,
};

/// The resources of a session.
pub struct ProjectResources {
    prompt: SystemPrompt,
    skills: Vec<Skill>,
    templates: Vec<Template>,
    warnings: Vec<String>,
}

impl ProjectResources {
    /// The same, with what the model is told about its sandbox.
    #[must_use]
    pub fn with_sandbox(mut self, text: Option<String>) -> Self {
        self.prompt.sandbox = text;
        self
    }

    /// Loads what the command line allows and, when the project is trusted, what the project brings.
    ///
    /// # Errors
    /// A file that was named for the prompt cannot be read.
    pub fn load(environment: &Environment, args: &HiArgs, cwd: &Path, trusted: bool) -> Result<Self, StartError> {
        let project = project_dir(cwd, &environment.user_dir);
        let places = Places {
            user_dir: &environment.user_dir,
            home: environment.home.as_deref(),
            cwd,
            project_dir: project.as_deref(),
            trusted,
        };
        let wanted = &args.resources;
        let texts =
            system_files::load(args.system_prompt.as_deref(), &args.append_system_prompt, &environment.cwd, &places)
                .map_err(StartError::of)?;
        let context = match wanted.context_files && args.ssh.is_none() {
            true => context_files::load(&environment.user_dir, cwd),
            false => Default::default(),
        };
        let skills = skills::load(&skill_roots(&places, &wanted.skills.named, wanted.skills.usual));
        let templates =
            templates::load(&template_roots(&places, &wanted.prompt_templates.named, wanted.prompt_templates.usual));
        let warnings = [&texts.warnings, &context.warnings, &skills.warnings, &templates.warnings];
        let warnings = warnings.into_iter().flatten().map(ToString::to_string).collect();
        let prompt = SystemPrompt {
            custom: texts.value.system,
            addendum: texts.value.append,
            tools: Vec::new(),
            context_files: context.value,
            skills: skills.value.clone(),
            cwd: cwd.to_owned(),
            machine: None,
            docs: None,
            sandbox: None,
        };
        Ok(Self { prompt, skills: skills.value, templates: templates.value, warnings })
    }

    /// The same for a session whose tools work on another machine: its folder, its files of instructions, and what
    /// must be known of it. Skills lie on this machine, where the model cannot read them: they are there for people who
    /// call them, but not offered.
    #[must_use]
    pub fn elsewhere(mut self, cwd: PathBuf, files: Loaded<Vec<ContextFile>>, machine: String) -> Self {
        self.prompt.cwd = cwd;
        self.prompt.context_files = files.value;
        self.prompt.skills.clear();
        self.prompt.machine = Some(machine);
        self.warnings.extend(files.warnings.iter().map(ToString::to_string));
        self
    }

    /// What is odd about them.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Slash commands that prompts may use.
    #[must_use]
    pub fn commands(&self) -> Vec<CommandInfo> {
        let templates = self.templates.iter().map(|template| CommandInfo {
            name: template.name.clone(),
            description: Some(template.description.clone()).filter(|text| !text.is_empty()),
            source: CommandSource::Prompt,
            source_info: wire_source(&template.source),
        });
        let skills = self.skills.iter().map(|skill| CommandInfo {
            name: format!("skill:{}", skill.name),
            description: Some(skill.description.clone()),
            source: CommandSource::Skill,
            source_info: wire_source(&skill.source),
        });
        templates.chain(skills).collect()
    }
}

fn wire_source(info: &source::SourceInfo) -> SourceInfo {
    SourceInfo {
        path: info.path.to_string_lossy().into_owned(),
        source: match info.source {
            source::Found::Auto => "auto",
            source::Found::Local => "local",
        }
        .to_owned(),
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
}
