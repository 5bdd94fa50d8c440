//! From a document to the values of a team file, field by field.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;

use super::{
    Condition, InputField, ItemSource, Items, Judge, OnFailure, Pattern, PatternKind, Role, RoleBudget, Spread,
    Strategy, Supervision, TeamBudget, TeamFile, Verify,
};
use crate::{
    actors::{
        json_answer,
        team::template::{OutputPath, Template},
    },
    protocol::{
        ThinkingLevel,
        time::{DurationFault, parse_duration},
    },
    store::{
        document::{Fault, Field, Object},
        regular_file,
    },
};

/// Agents at once when the file does not say.
const PARALLEL: usize = 4;
/// Elements of a list when the file does not say.
const ITEMS: u64 = 100;
/// Agents of a role at most: a slip in a number must not start thousands.
const LARGEST_COUNT: u64 = 1000;
/// How long a command that judges may take when the file does not say.
const COMMAND_TIME: Duration = Duration::from_secs(600);
/// How often the failure of `verify` goes back to the agent when the file does not say.
const ATTEMPTS: u32 = 2;
/// Rounds of a review or debate at most.
const MOST_ROUNDS: u64 = 50;

/// What a role says, and `defaults` for all roles.
const OF_DEFAULTS: [&str; 8] = ["model", "thinking", "tools", "system", "worktree", "budget", "script", "on_failure"];
const OF_ROLE: [&str; 16] = [
    "prompt",
    "model",
    "thinking",
    "tools",
    "system",
    "worktree",
    "merge",
    "budget",
    "output_schema",
    "verify",
    "count",
    "each",
    "needs",
    "on_failure",
    "strategy",
    "script",
];

/// Reads the whole file; paths begin at `folder`.
pub(super) fn team(root: &Field<'_>, folder: &Path) -> Result<TeamFile, Fault> {
    let object = root.object()?;
    object.only(&["team", "inputs", "defaults", "role", "review", "best", "debate"])?;
    let team = object.require("team", "a table [team]")?.object()?;
    team.only(&["name", "description", "max_parallel", "budget", "restarts", "within", "output"])?;
    let defaults = object.read("defaults", Field::object)?;
    if let Some(defaults) = &defaults {
        defaults.only(&OF_DEFAULTS)?;
    }
    let roles = tables(&object, "role")?;
    let roles = roles.iter().map(|field| role(field, defaults.as_ref(), folder)).collect::<Result<Vec<_>, _>>()?;
    if roles.is_empty() {
        return Err(object.fault("expected at least one role: a table [role.NAME]"));
    }
    let mut patterns = Vec::new();
    for (kind, read) in [("review", review as ReadPattern), ("best", best), ("debate", debate)] {
        for field in tables(&object, kind)? {
            patterns.push(Pattern { name: name_of(&field)?, kind: read(&field)? });
        }
    }
    Ok(TeamFile {
        name: name(&team.require("name", "the team's name")?)?,
        description: text(&team, "description")?,
        max_parallel: team.read("max_parallel", |field| count(field, LARGEST_COUNT))?.unwrap_or(PARALLEL),
        budget: team.read("budget", team_budget)?.unwrap_or_default(),
        supervision: Supervision {
            restarts: team.read("restarts", small)?.unwrap_or(3),
            within: team.read("within", duration)?.unwrap_or(Duration::from_secs(600)),
        },
        output: text(&team, "output")?,
        inputs: tables(&object, "inputs")?.iter().map(input).collect::<Result<_, _>>()?,
        roles,
        patterns,
    })
}

type ReadPattern = fn(&Field<'_>) -> Result<PatternKind, Fault>;

/// The tables below a key: `[role.a]`, `[role.b]`.
fn tables<'a>(object: &Object<'a>, key: &str) -> Result<Vec<Field<'a>>, Fault> {
    let Some(field) = object.get(key) else { return Ok(Vec::new()) };
    Ok(field.object()?.entries().map(|(_, field)| field).collect())
}

/// The name of a table: it stands in templates and in names of files.
fn name_of(field: &Field<'_>) -> Result<String, Fault> {
    let name = field.name().unwrap_or_default();
    if is_name(name) { Ok(name.to_owned()) } else { Err(field.fault(NAME)) }
}

fn name(field: &Field<'_>) -> Result<String, Fault> {
    let name = field.text()?;
    if is_name(name) { Ok(name.to_owned()) } else { Err(field.fault(NAME)) }
}

/// The name of a role: its agents are called after it, which are runs with such ids where they work elsewhere.
fn role_name(field: &Field<'_>) -> Result<String, Fault> {
    let name = name_of(field)?;
    match name.ends_with(|last: char| last.is_ascii_alphanumeric()) {
        true => Ok(name),
        false => Err(field.fault("expected a name that ends with a letter or a digit: agents are called after it")),
    }
}

const NAME: &str = "expected a name of letters, digits, - and _ that begins with a letter, 40 characters at most";

fn is_name(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn input(field: &Field<'_>) -> Result<InputField, Fault> {
    let name = name_of(field)?;
    // A text alone is the default.
    if let Some(default) = field.value().as_str() {
        return Ok(InputField { name, description: None, default: Some(default.to_owned()) });
    }
    let object = field.object().map_err(|_| field.expected("a default, or a table with description and default"))?;
    object.only(&["description", "default"])?;
    Ok(InputField { name, description: text(&object, "description")?, default: text(&object, "default")? })
}

fn role(field: &Field<'_>, defaults: Option<&Object<'_>>, folder: &Path) -> Result<Role, Fault> {
    let own = field.object()?;
    own.only(&OF_ROLE)?;
    let get = |key: &str| own.get(key).or_else(|| defaults.and_then(|defaults| defaults.get(key)));
    fn read<'a, T>(
        field: Option<Field<'a>>,
        read: impl Fn(&Field<'a>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        field.as_ref().map(read).transpose()
    }
    let on_failure = read(get("on_failure"), |field| field.one_of(&["stop", "skip"]))?;
    let strategies = ["one_for_one", "rest_for_one", "one_for_all", "any"];
    Ok(Role {
        name: role_name(field)?,
        model: read(get("model"), words)?,
        thinking: read(get("thinking"), thinking)?,
        tools: read(get("tools"), texts)?,
        system: read(get("system"), owned)?,
        prompt: template(&own.require("prompt", "what the agent is to do")?)?,
        worktree: read(get("worktree"), Field::flag)?.unwrap_or(false),
        merge: own.read("merge", Field::flag)?.unwrap_or(false),
        budget: read(get("budget"), role_budget)?.unwrap_or_default(),
        output_schema: own.read("output_schema", |field| schema(field, folder))?,
        schema_file: own.get("output_schema").and_then(|field| Some(folder.join(field.value().as_str()?))),
        verify: own.read("verify", verify)?,
        spread: spread(&own)?,
        needs: own.read("needs", texts)?.unwrap_or_default(),
        on_failure: if on_failure == Some("skip") { OnFailure::Skip } else { OnFailure::Stop },
        strategy: match own.read("strategy", |field| field.one_of(&strategies))? {
            Some("rest_for_one") => Strategy::RestForOne,
            Some("one_for_all") => Strategy::OneForAll,
            Some("any") => Strategy::Any,
            _ => Strategy::OneForOne,
        },
        script: read(get("script"), |field| file(field, folder))?,
    })
}

fn spread(role: &Object<'_>) -> Result<Spread, Fault> {
    match (role.get("count"), role.get("each")) {
        (Some(_), Some(each)) => Err(each.fault("expected one of count and each, found both")),
        (Some(field), None) => Ok(Spread::Count(count(&field, LARGEST_COUNT)?)),
        (None, Some(each)) => Ok(Spread::Each(items(&each)?)),
        (None, None) => Ok(Spread::One),
    }
}

fn items(field: &Field<'_>) -> Result<Items, Fault> {
    let object =
        field.object().map_err(|_| field.expected("a table with one of files, lines, command, output, list"))?;
    object.only(&["files", "lines", "command", "output", "list", "at_most"])?;
    let output = |field: &Field<'_>| {
        OutputPath::parse(field.text()?).ok_or_else(|| field.expected("STEP.output or STEP.output.FIELD"))
    };
    let mut sources = [
        object
            .read("files", |field| Ok(ItemSource::Files(some(field)?.iter().map(words).collect::<Result<_, _>>()?)))?,
        object.read("lines", words)?.map(ItemSource::Lines),
        object.read("command", words)?.map(ItemSource::Command),
        object.read("output", output)?.map(ItemSource::Output),
        object
            .read("list", |field| Ok(some(field)?.iter().map(|item| item.value().clone()).collect()))?
            .map(ItemSource::List),
    ]
    .into_iter()
    .flatten();
    let (Some(source), None) = (sources.next(), sources.next()) else {
        return Err(field.fault("expected exactly one of files, lines, command, output, list"));
    };
    let at_most = object.read("at_most", |field| count(field, LARGEST_COUNT))?;
    let at_most = at_most.unwrap_or(usize::try_from(ITEMS).unwrap_or(usize::MAX));
    match &source {
        ItemSource::List(list) if list.len() > at_most => {
            Err(field.fault(format!("the list has {} elements, and at_most is {at_most}", list.len())))
        }
        _ => Ok(Items { source, at_most }),
    }
}

fn review(field: &Field<'_>) -> Result<PatternKind, Fault> {
    let object = field.object()?;
    object.only(&["writer", "reviewer", "until", "rounds", "revise", "accept_last", "remembers"])?;
    Ok(PatternKind::Review {
        writer: owned(&object.require("writer", "the role that writes")?)?,
        reviewer: owned(&object.require("reviewer", "the role that reviews")?)?,
        until: condition(
            &object.require("until", "a condition: { contains = TEXT } or { field = NAME, is = VALUE }")?,
        )?,
        rounds: object.read("rounds", rounds)?.unwrap_or(3),
        revise: template(&object.require("revise", "what the writer is told after a review")?)?,
        accept_last: object.read("accept_last", Field::flag)?.unwrap_or(false),
        remembers: object.read("remembers", Field::flag)?.unwrap_or(false),
    })
}

fn condition(field: &Field<'_>) -> Result<Condition, Fault> {
    let object = field.object().map_err(|_| field.expected("{ contains = TEXT } or { field = NAME, is = VALUE }"))?;
    object.only(&["contains", "field", "is"])?;
    match (object.get("contains"), object.get("field"), object.get("is")) {
        (Some(text), None, None) => Ok(Condition::Contains(words(&text)?)),
        (None, Some(path), Some(is)) => {
            let path = words(&path)?.split('.').map(str::to_owned).collect();
            Ok(Condition::Field { path, is: is.value().clone() })
        }
        _ => Err(field.fault("expected { contains = TEXT } or { field = NAME, is = VALUE }")),
    }
}

fn best(field: &Field<'_>) -> Result<PatternKind, Fault> {
    let object = field.object()?;
    object.only(&["of", "judge", "command", "time", "merge"])?;
    let judge = match (object.get("judge"), object.get("command")) {
        (Some(role), None) => Judge::Role(owned(&role)?),
        (None, Some(command)) => {
            Judge::Command { command: words(&command)?, time: object.read("time", duration)?.unwrap_or(COMMAND_TIME) }
        }
        _ => return Err(field.fault("expected exactly one of judge (a role) and command")),
    };
    Ok(PatternKind::Best {
        of: owned(&object.require("of", "the role with several agents")?)?,
        judge,
        merge: object.read("merge", Field::flag)?.unwrap_or(false),
    })
}

fn debate(field: &Field<'_>) -> Result<PatternKind, Fault> {
    let object = field.object()?;
    object.only(&["speakers", "rounds", "reply"])?;
    Ok(PatternKind::Debate {
        speakers: texts(&object.require("speakers", "the roles that speak")?)?,
        rounds: object.read("rounds", rounds)?.unwrap_or(2),
        reply: match object.get("reply") {
            Some(field) => template(&field)?,
            None => Template::parse("{{others}}").map_err(|error| field.fault(error))?,
        },
    })
}

fn verify(field: &Field<'_>) -> Result<Verify, Fault> {
    if field.value().is_string() {
        return Ok(Verify { command: words(field)?, time: COMMAND_TIME, attempts: ATTEMPTS });
    }
    let object = field.object().map_err(|_| field.expected("a command, or a table with command, time, attempts"))?;
    object.only(&["command", "time", "attempts"])?;
    Ok(Verify {
        command: words(&object.require("command", "a shell command")?)?,
        time: object.read("time", duration)?.unwrap_or(COMMAND_TIME),
        attempts: object.read("attempts", |field| positive(field).and_then(|_| small(field)))?.unwrap_or(ATTEMPTS),
    })
}

fn team_budget(field: &Field<'_>) -> Result<TeamBudget, Fault> {
    let object = field.object()?;
    object.only(&["tokens", "cost", "time", "agents"])?;
    Ok(TeamBudget {
        tokens: object.read("tokens", positive)?,
        cost: object.read("cost", money)?,
        time: object.read("time", duration)?,
        agents: object.read("agents", |field| count(field, u64::MAX))?,
    })
}

fn role_budget(field: &Field<'_>) -> Result<RoleBudget, Fault> {
    let object = field.object()?;
    object.only(&["tokens", "cost", "time", "turns"])?;
    Ok(RoleBudget {
        tokens: object.read("tokens", positive)?,
        cost: object.read("cost", money)?,
        time: object.read("time", duration)?,
        turns: object.read("turns", positive)?,
    })
}

/// A schema as it stands, or the JSON file that has it.
fn schema(field: &Field<'_>, folder: &Path) -> Result<Value, Fault> {
    let schema = match field.value().as_str() {
        Some(_) => {
            let text =
                regular_file::read_to_string(&file(field, folder)?).map_err(|error| field.fault(format!("{error}")))?;
            serde_json::from_str(&text).map_err(|error| field.fault(format!("expected a JSON file: {error}")))?
        }
        None => field.object().map_err(|_| field.expected("a JSON schema, or a file with one"))?.map().clone().into(),
    };
    match json_answer::compile(&schema) {
        Ok(_) => Ok(schema),
        Err(error) => Err(field.fault(format!("expected a JSON schema: {error}"))),
    }
}

/// The path of a file that is there.
fn file(field: &Field<'_>, folder: &Path) -> Result<PathBuf, Fault> {
    let path = folder.join(field.text()?);
    if path.is_file() { Ok(path) } else { Err(field.fault(format!("there is no file {}", path.display()))) }
}

fn thinking(field: &Field<'_>) -> Result<ThinkingLevel, Fault> {
    let names = ThinkingLevel::ALL.map(ThinkingLevel::as_str);
    let level = field.one_of(&names)?;
    ThinkingLevel::parse(level).ok_or_else(|| field.expected("a thinking level"))
}

fn template(field: &Field<'_>) -> Result<Template, Fault> {
    let template = Template::parse(field.text()?).map_err(|error| field.fault(error))?;
    if template.is_blank() { Err(field.expected("a message with words in it")) } else { Ok(template) }
}

/// A time such as `90s`, `30m`, `2h`.
fn duration(field: &Field<'_>) -> Result<Duration, Fault> {
    let text = field.text().map_err(|_| field.expected("a time such as \"90s\", \"30m\" or \"2h\""))?;
    match parse_duration(text) {
        Err(DurationFault::Unit) => Err(field.expected("a time such as \"90s\", \"30m\" or \"2h\"")),
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err(field.expected("a time above zero such as \"90s\"")),
    }
}

fn money(field: &Field<'_>) -> Result<f64, Fault> {
    let dollars = field.number()?;
    if dollars > 0.0 { Ok(dollars) } else { Err(field.expected("a number of dollars above zero")) }
}

fn positive(field: &Field<'_>) -> Result<u64, Fault> {
    match field.whole()? {
        0 => Err(field.expected("a number above zero")),
        number => Ok(number),
    }
}

fn count(field: &Field<'_>, largest: u64) -> Result<usize, Fault> {
    let number = positive(field)?;
    if number > largest {
        return Err(field.expected(&format!("at most {largest}")));
    }
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

fn rounds(field: &Field<'_>) -> Result<u32, Fault> {
    let number = count(field, MOST_ROUNDS)?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

fn small(field: &Field<'_>) -> Result<u32, Fault> {
    let number = field.whole()?;
    u32::try_from(number).ok().filter(|number| *number <= 100).ok_or_else(|| field.expected("at most 100"))
}

fn owned(field: &Field<'_>) -> Result<String, Fault> {
    field.text().map(str::to_owned)
}

/// A text that says something.
fn words(field: &Field<'_>) -> Result<String, Fault> {
    let text = field.text()?;
    if text.trim().is_empty() { Err(field.expected("a text that is not empty")) } else { Ok(text.to_owned()) }
}

/// A list that has elements.
fn some<'a>(field: &Field<'a>) -> Result<Vec<Field<'a>>, Fault> {
    let items = field.items()?;
    if items.is_empty() { Err(field.fault("the list has no element")) } else { Ok(items) }
}

fn text(object: &Object<'_>, key: &str) -> Result<Option<String>, Fault> {
    object.read(key, owned)
}

fn texts(field: &Field<'_>) -> Result<Vec<String>, Fault> {
    field.items()?.iter().map(owned).collect()
}
