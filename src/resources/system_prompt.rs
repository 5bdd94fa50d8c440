//! The system prompt: named sections in a fixed order.
//!
//! The text depends on nothing but what is given here, so that two runs with the same surroundings send the same bytes
//! and providers can use their caches. There is no date in it for that reason.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use super::{context_files::ContextFile, skills::Skill, xml};
use crate::protocol::section::tagged;

/// All that the prompt is made of.
#[derive(Clone, Debug, Default)]
pub struct SystemPrompt {
    /// In place of the usual introduction; with it, nothing is said about tools, rules and documentation.
    pub custom: Option<String>,
    /// Texts to add.
    pub addendum: Vec<String>,
    /// The tools that are declared, in order.
    pub tools: Vec<PromptTool>,
    /// Instructions of the user and the project, outermost first.
    pub context_files: Vec<ContextFile>,
    /// Skills; those that are not for the model are left out.
    pub skills: Vec<Skill>,
    /// The folder that the session runs in.
    pub cwd: PathBuf,
    /// The folder with the program's own documentation, where there is one.
    pub docs: Option<PathBuf>,
}

/// What the prompt says about a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptTool {
    /// The tool's name.
    pub name: String,
    /// One line on what it does; without it the tool is not listed.
    pub snippet: Option<String>,
    /// Rules for its use.
    pub guidelines: Vec<String>,
}

const INTRODUCTION: &str = "You are a coding agent that works in Troupe, an agent runtime. You help the user by \
                            reading, running and changing what is in the working folder.";
const MORE_TOOLS: &str = "More tools may become available in the course of the session.";
const SHELL_RULE: &str = "List, find and search files with shell commands such as ls, find and rg";
const GENERAL_RULES: [&str; 2] = ["Answer briefly", "Name files by their paths when you talk about them"];
const CONTEXT_INTRODUCTION: &str = "Instructions for work in this folder, from the user and the project:";
const SKILLS_INTRODUCTION: &str = "Skills hold instructions for certain tasks. When a task fits a skill's description, \
                                   read the file at its location before you begin.\nRelative paths in a skill start at \
                                   the folder of its file; use absolute paths in tool calls.";

/// How much of the prompt the list of skills may take, in bytes. All of it is sent with every request.
const MAX_SKILLS: usize = 64 * 1024;

/// The sections with their names, as they are stored: `preamble` bare, every other one between tags of its name.
/// Sections without content are absent.
#[must_use]
pub fn sections(prompt: &SystemPrompt) -> Vec<(String, String)> {
    let usual = prompt.custom.is_none();
    let wrapped = [
        ("tools", usual.then(|| tools(&prompt.tools))),
        ("rules", usual.then(|| rules(&prompt.tools))),
        ("docs", prompt.docs.as_deref().filter(|_| usual).map(docs)),
        ("addendum", addendum(&prompt.addendum)),
        ("project_context", project_context(&prompt.context_files)),
        ("skills", skills(prompt)),
        ("cwd", Some(prompt.cwd.to_string_lossy().into_owned())),
    ];
    let preamble = prompt.custom.as_deref().unwrap_or(INTRODUCTION);
    let preamble = (!preamble.is_empty()).then(|| ("preamble".to_owned(), preamble.to_owned()));
    let wrap =
        |(name, content): (&str, Option<String>)| content.map(|content| (name.to_owned(), tagged(name, &content)));
    preamble.into_iter().chain(wrapped.into_iter().filter_map(wrap)).collect()
}

fn tools(tools: &[PromptTool]) -> String {
    let line = |tool: &PromptTool| Some(format!("- {}: {}", tool.name, one_line(tool.snippet.as_deref()?)));
    let mut lines: Vec<_> = tools.iter().filter_map(line).collect();
    if lines.is_empty() {
        lines.push("(none)".to_owned());
    }
    format!("{}\n\n{MORE_TOOLS}", lines.join("\n"))
}

fn rules(tools: &[PromptTool]) -> String {
    let has = |names: &[&str]| tools.iter().any(|tool| names.contains(&tool.name.as_str()));
    let shell = has(&["bash", "powershell"]) && !has(&["grep", "find", "ls"]);
    let of_tools = tools.iter().flat_map(|tool| &tool.guidelines).map(String::as_str);
    let mut rules: Vec<String> = Vec::new();
    for rule in shell.then_some(SHELL_RULE).into_iter().chain(of_tools).chain(GENERAL_RULES) {
        let rule = format!("- {}", one_line(rule));
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules.join("\n")
}

fn docs(folder: &Path) -> String {
    format!(
        "Troupe's own documentation is in {}. Read it only when the user asks about Troupe itself: its settings, \
         sessions, extensions, skills, prompt templates, themes or keys.",
        folder.display()
    )
}

fn addendum(texts: &[String]) -> Option<String> {
    let texts: Vec<_> = texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn project_context(files: &[ContextFile]) -> Option<String> {
    let mut out = CONTEXT_INTRODUCTION.to_owned();
    for file in files {
        let path = file.path.to_string_lossy();
        let (path, content) = (xml::escape(&path), &file.content);
        let _ = write!(out, "\n\n<project_instructions path=\"{path}\">\n{content}\n</project_instructions>");
    }
    (!files.is_empty()).then_some(out)
}

fn skills(prompt: &SystemPrompt) -> Option<String> {
    // Without one of these the model has no way to open a skill's file.
    let can_read = prompt.tools.iter().any(|tool| matches!(tool.name.as_str(), "read" | "bash"));
    let mut listed = prompt.skills.iter().filter(|skill| skill.for_model).peekable();
    if !can_read || listed.peek().is_none() {
        return None;
    }
    let mut out = format!("{SKILLS_INTRODUCTION}\n\n<available_skills>");
    for skill in listed.by_ref() {
        let location = skill.file().to_string_lossy();
        let _ = write!(
            out,
            "\n  <skill>\n    <name>{}</name>\n    <description>{}</description>\n    <location>{}</location>\n  \
             </skill>",
            xml::escape(&skill.name),
            xml::escape(&skill.description),
            xml::escape(&location),
        );
        if out.len() > MAX_SKILLS {
            break;
        }
    }
    out += "\n</available_skills>";
    let left_out = listed.count();
    if left_out > 0 {
        let _ = write!(out, "\n{left_out} more skills are there and not listed for want of room.");
    }
    Some(out)
}

/// How many skills do not find room in the prompt.
#[must_use]
pub fn unlisted_skills(skills: &[Skill]) -> usize {
    let prompt = SystemPrompt {
        skills: skills.to_vec(),
        tools: vec![PromptTool { name: "read".to_owned(), ..PromptTool::default() }],
        ..SystemPrompt::default()
    };
    let listed = self::skills(&prompt).map_or(0, |text| text.matches("\n  <skill>").count());
    skills.iter().filter(|skill| skill.for_model).count().saturating_sub(listed)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::{
        roots::{Root, RootKind},
        source::{Scope, SourceInfo},
    };

    fn tool(name: &str, guidelines: &[&str]) -> PromptTool {
        PromptTool {
            name: name.into(),
            snippet: Some(format!("{name}\n  does  things")),
            guidelines: guidelines.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    fn skill(name: &str, description: &str, for_model: bool) -> Skill {
        let root = Root::new("/u/skills", RootKind::Folder, Scope::User);
        let source = SourceInfo::new(Path::new(&format!("/u/skills/{name}/SKILL.md")), &root);
        Skill { name: name.into(), description: description.into(), for_model, source }
    }

    fn prompt() -> SystemPrompt {
        SystemPrompt {
            tools: vec![tool("read", &["Use read"]), tool("bash", &["Use  read", "Mind the shell"])],
            cwd: "/srv/app".into(),
            ..SystemPrompt::default()
        }
    }

    fn names(prompt: &SystemPrompt) -> String {
        sections(prompt).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
    }

    fn section(prompt: &SystemPrompt, name: &str) -> String {
        sections(prompt).into_iter().find(|(known, _)| known == name).map(|(_, text)| text).unwrap_or_default()
    }

    #[test]
    fn sections_come_in_a_fixed_order_and_only_with_content() {
        let mut prompt = prompt();
        assert_eq!(names(&prompt), "preamble tools rules cwd");
        assert_eq!(section(&prompt, "cwd"), "<cwd>\n/srv/app\n</cwd>");
        assert_eq!(section(&prompt, "preamble"), INTRODUCTION);
        prompt.docs = Some("/usr/share/doc/troupe".into());
        prompt.addendum = vec!["ADD-1".into(), String::new(), "ADD-2".into()];
        prompt.context_files = vec![ContextFile { path: "/a/AGENTS.md".into(), content: "HERE".into() }];
        prompt.skills = vec![skill("s", "d", true)];
        assert_eq!(names(&prompt), "preamble tools rules docs addendum project_context skills cwd");
        assert_eq!(section(&prompt, "addendum"), "<addendum>\nADD-1\n\nADD-2\n</addendum>");
        prompt.custom = Some("CUSTOM".into());
        assert_eq!(names(&prompt), "preamble addendum project_context skills cwd");
        assert_eq!(section(&prompt, "preamble"), "CUSTOM");
        prompt.custom = Some(String::new());
        assert_eq!(names(&prompt), "addendum project_context skills cwd");
    }

    #[test]
    fn tools_are_listed_by_their_snippets() {
        let mut prompt = prompt();
        prompt.tools.push(PromptTool { name: "silent".into(), ..PromptTool::default() });
        let text = format!("<tools>\n- read: read does things\n- bash: bash does things\n\n{MORE_TOOLS}\n</tools>");
        assert_eq!(section(&prompt, "tools"), text);
        prompt.tools.clear();
        assert_eq!(section(&prompt, "tools"), format!("<tools>\n(none)\n\n{MORE_TOOLS}\n</tools>"));
    }

    #[test]
    fn rules_come_once_and_the_shell_rule_only_without_search_tools() {
        let mut prompt = prompt();
        let rules = |prompt: &SystemPrompt| section(prompt, "rules").lines().map(str::to_owned).collect::<Vec<_>>();
        let general = GENERAL_RULES.map(|rule| format!("- {rule}"));
        let shell = format!("- {SHELL_RULE}");
        let expected = ["<rules>", &shell, "- Use read", "- Mind the shell", &general[0], &general[1], "</rules>"];
        assert_eq!(rules(&prompt), expected);
        for name in ["grep", "find", "ls"] {
            prompt.tools.truncate(2);
            prompt.tools.push(tool(name, &[]));
            assert!(!rules(&prompt).contains(&shell), "{name}");
        }
        prompt.tools = vec![tool("read", &[])];
        assert_eq!(rules(&prompt), ["<rules>", &general[0], &general[1], "</rules>"]);
    }

    #[test]
    fn context_files_keep_their_text_and_skills_are_escaped() {
        let mut prompt = prompt();
        prompt.context_files = vec![
            ContextFile { path: "/a/AGENTS.md".into(), content: "one < two\n\n".into() },
            ContextFile { path: "/a/\"q\"/CLAUDE.md".into(), content: String::new() },
        ];
        assert_eq!(
            section(&prompt, "project_context"),
            format!(
                "<project_context>\n{CONTEXT_INTRODUCTION}\n\n\
                 <project_instructions path=\"/a/AGENTS.md\">\none < two\n\n\n</project_instructions>\n\n\
                 <project_instructions path=\"/a/&quot;q&quot;/CLAUDE.md\">\n\n</project_instructions>\n\
                 </project_context>"
            )
        );
        prompt.skills = vec![skill("flagged", "D & <E>", true), skill("own", "d", false)];
        assert_eq!(
            section(&prompt, "skills"),
            format!(
                "<skills>\n{SKILLS_INTRODUCTION}\n\n<available_skills>\n  <skill>\n    <name>flagged</name>\n    \
                 <description>D &amp; &lt;E&gt;</description>\n    <location>/u/skills/flagged/SKILL.md</location>\n  \
                 </skill>\n</available_skills>\n</skills>"
            )
        );
        let many: Vec<_> = (0..900).map(|n| skill(&format!("s{n}"), &"d".repeat(100), n != 0)).collect();
        let left_out = unlisted_skills(&many);
        let long = section(&SystemPrompt { skills: many, ..prompt.clone() }, "skills");
        assert!(left_out > 400 && long.len() < 66_000, "{left_out} {}", long.len());
        assert!(long.contains(&format!("\n{left_out} more skills are there and not listed")));
        assert_eq!(unlisted_skills(&prompt.skills), 0);
        prompt.tools = vec![tool("ls", &[])];
        assert_eq!(section(&prompt, "skills"), "", "nothing can open a skill's file");
        prompt.tools = vec![tool("bash", &[])];
        prompt.skills.remove(0);
        assert_eq!(section(&prompt, "skills"), "", "none is for the model");
    }
}
