//! Tables for the rules of the command line.

use std::path::{Path, PathBuf};

use super::*;
use crate::{
    cli::mode::{Mode, OutputMode, Terminals, TuiMode},
    protocol::ThinkingLevel,
    tools::operations::sandbox::SandboxMode,
};

/// A line split at spaces; `_` stands for a word that is empty.
fn words(line: &str) -> Vec<String> {
    line.split(' ').filter(|word| !word.is_empty()).map(|word| if word == "_" { "" } else { word }.to_owned()).collect()
}

fn low(line: &str) -> LowArgs {
    parse(&words(line)).unwrap_or_else(|errors| panic!("{line}: {errors:?}"))
}

fn launch() -> Launch<'static> {
    Launch { cwd: Path::new("/w"), home: Some(Path::new("/h")), terminals: Terminals { stdin: true, stdout: true } }
}

fn plan(line: &str) -> Result<Plan, String> {
    let join = |errors: Vec<ArgError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    Plan::new(parse(&words(line)).map_err(join)?, launch()).map_err(join)
}

fn high(line: &str) -> HiArgs {
    match plan(line) {
        Ok(Plan::Start(args)) => *args,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn words_are_flags_messages_files_or_flags_of_extensions() {
    // line, messages, files, extension flags
    type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [(&'a str, Option<&'a str>)]);
    let table: &[Row] = &[
        ("", &[], &[], &[]),
        ("a b", &["a", "b"], &[], &[]),
        ("_ a", &["", "a"], &[], &[]),
        ("@f a @ @g", &["a"], &["f", "", "g"], &[]),
        ("a -- -z --x @f -- b", &["a", "-z", "--x", "--", "b"], &["f"], &[]),
        ("-p", &[], &[], &[]),
        ("-p hi", &["hi"], &[], &[]),
        ("-p _", &[""], &[], &[]),
        ("-p @f hi", &["hi"], &["f"], &[]),
        ("-p --verbose hi", &["hi"], &[], &[]),
        ("-p --- b", &["---", "b"], &[], &[]),
        ("-p ---\ntitle b", &["---\ntitle", "b"], &[], &[]),
        ("-p -- -x", &["-x"], &[], &[]),
        ("--print=hi", &["hi"], &[], &[]),
        ("--preset", &[], &[], &[("preset", None)]),
        ("--preset fast hi", &["hi"], &[], &[("preset", Some("fast"))]),
        ("--preset @f", &[], &["f"], &[("preset", None)]),
        ("--preset --verbose x", &["x"], &[], &[("preset", None)]),
        ("--preset=a=b hi", &["hi"], &[], &[("preset", Some("a=b"))]),
        ("--preset= hi", &["hi"], &[], &[("preset", Some(""))]),
        ("--preset _", &[], &[], &[("preset", Some(""))]),
        ("--list-models", &[], &[], &[]),
        ("--list-models tiny hi", &["hi"], &[], &[]),
        ("--list-models @f", &[], &["f"], &[]),
    ];
    for (line, messages, files, extension_flags) in table {
        let got = low(line);
        assert_eq!(got.messages, *messages, "{line}");
        assert_eq!(got.files, *files, "{line}");
        let flags: Vec<_> = got
            .extension_flags
            .iter()
            .map(|flag| match &flag.value {
                FlagValue::Set => (flag.name.as_str(), None),
                FlagValue::Text(text) => (flag.name.as_str(), Some(text.as_str())),
            })
            .collect();
        assert_eq!(flags, *extension_flags, "{line}");
    }
}

#[test]
fn faults_of_the_words_are_named() {
    let table = [
        ("-z", "Unknown option: -z"),
        ("-", "Unknown option: -"),
        ("-t=read", "Unknown option: -t=read"),
        ("-zz -y", "Unknown option: -zz; Unknown option: -y"),
        ("--version -z", "Unknown option: -z"),
        ("--model", "--model requires a value (PATTERN)"),
        ("-t", "-t requires a value (NAMES)"),
        ("-xt", "-xt requires a value (NAMES)"),
        ("--name", "--name requires a value (TEXT)"),
        ("--use-theme", "--use-theme requires a value (NAME)"),
        ("--mode", "--mode requires text, json or rpc"),
        ("--tui-mode", "--tui-mode requires regular or fullscreen"),
        ("--mode yaml", "Invalid value \"yaml\" for --mode. Valid values: text, json, rpc"),
        ("--mode _", "Invalid value \"\" for --mode. Valid values: text, json, rpc"),
        ("--tui-mode x", "Invalid value \"x\" for --tui-mode. Valid values: regular, fullscreen"),
        (
            "--ssh=",
            "--ssh: \"\" names no machine (a name is missing): write [user@]host[:folder] or ssh://[user@]host[:port][/folder]",
        ),
        ("--no-tools=x", "--no-tools takes no value"),
        ("-z --mode yaml", "Unknown option: -z; Invalid value \"yaml\" for --mode. Valid values: text, json, rpc"),
    ];
    for (line, text) in table {
        assert_eq!(plan(line).map(|_| ()), Err(text.to_owned()), "{line}");
    }
}

#[test]
fn every_flag_reads_its_value_in_each_form() {
    fn text(value: &Option<String>) -> String {
        value.clone().unwrap_or_default()
    }
    type Read = fn(&LowArgs) -> String;
    let with_value: &[(&str, &str, Read)] = &[
        ("--provider", "", |a| text(&a.model.provider)),
        ("--model", "", |a| text(&a.model.model)),
        ("--api-key", "", |a| a.model.api_key.as_ref().unwrap().expose().to_owned()),
        ("--thinking", "", |a| text(&a.model.thinking)),
        ("--models", "", |a| a.model.models.as_ref().unwrap().0.join(",")),
        ("--session", "", |a| text(&a.session.session)),
        ("--session-id", "", |a| text(&a.session.session_id)),
        ("--fork", "", |a| text(&a.session.fork)),
        ("--session-dir", "", |a| text(&a.session.session_dir)),
        ("--name", "-n", |a| text(&a.session.name)),
        ("--tools", "-t", |a| a.tools.tools.as_ref().unwrap().0.join(",")),
        ("--exclude-tools", "-xt", |a| a.tools.exclude_tools.as_ref().unwrap().0.join(",")),
        ("--allow", "", |a| a.permissions.allow.join("|")),
        ("--deny", "", |a| a.permissions.deny.join("|")),
        ("--ssh", "", |a| text(&a.tools.ssh)),
        ("--system-prompt", "", |a| text(&a.prompt.system_prompt)),
        ("--append-system-prompt", "", |a| a.prompt.append_system_prompt.join("|")),
        ("--extension", "-e", |a| a.resources.extensions.join("|")),
        ("--skill", "", |a| a.resources.skills.join("|")),
        ("--prompt-template", "", |a| a.resources.prompt_templates.join("|")),
        ("--theme", "", |a| a.resources.themes.join("|")),
        ("--use-theme", "", |a| text(&a.resources.use_theme)),
        ("--sandbox-writable", "", |a| a.sandbox.sandbox_writable.join("|")),
        ("--export", "", |a| text(&a.output.export)),
        ("--script", "", |a| text(&a.diagnosis.script)),
        ("--record", "", |a| text(&a.diagnosis.record)),
        ("--replay", "", |a| text(&a.diagnosis.replay)),
        ("--trace-file", "", |a| text(&a.diagnosis.trace_file)),
        ("--log-file", "", |a| text(&a.diagnosis.log_file)),
    ];
    let repeatable = [
        "--allow",
        "--deny",
        "--append-system-prompt",
        "--extension",
        "--skill",
        "--prompt-template",
        "--theme",
        "--sandbox-writable",
    ];
    for (long, short, read) in with_value {
        // Whatever follows is the value, also what looks like a flag or a file.
        for value in ["x", "-v", "--help", "@f", "a=b"] {
            assert_eq!(read(&low(&format!("{long} {value}"))), value, "{long} {value}");
            assert_eq!(read(&low(&format!("{long}={value}"))), value, "{long}={value}");
            if !short.is_empty() {
                assert_eq!(read(&low(&format!("{short} {value}"))), value, "{short} {value}");
            }
        }
        let twice = if repeatable.contains(long) { "one|two" } else { "two" };
        assert_eq!(read(&low(&format!("{long} one {long} two"))), twice, "{long}");
    }

    type Holds = fn(&LowArgs) -> bool;
    let switches: &[(&str, &str, Holds)] = &[
        ("--continue", "-c", |a| a.session.continue_latest),
        ("--resume", "-r", |a| a.session.resume),
        ("--no-session", "", |a| a.session.no_session),
        ("--no-builtin-tools", "-nbt", |a| a.tools.no_builtin_tools),
        ("--no-tools", "-nt", |a| a.tools.no_tools),
        ("--siblings", "", |a| a.tools.siblings),
        ("--plan", "", |a| a.permissions.plan),
        ("--no-plan", "", |a| a.permissions.no_plan),
        ("--no-context-files", "-nc", |a| a.prompt.no_context_files),
        ("--no-extensions", "-ne", |a| a.resources.no_extensions),
        ("--no-mcp", "", |a| a.resources.no_mcp),
        ("--no-skills", "-ns", |a| a.resources.no_skills),
        ("--no-prompt-templates", "-np", |a| a.resources.no_prompt_templates),
        ("--no-themes", "", |a| a.resources.no_themes),
        ("--approve", "-a", |a| a.trust.approve),
        ("--no-approve", "-na", |a| a.trust.no_approve),
        ("--offline", "", |a| a.trust.offline),
        ("--sandbox-network", "", |a| a.sandbox.sandbox_network),
        ("--print", "-p", |a| a.output.print),
        ("--replay-strict", "", |a| a.diagnosis.replay_strict),
        ("--verbose", "", |a| a.output.verbose),
        ("--control", "", |a| a.diagnosis.control),
        ("--no-control", "", |a| a.diagnosis.no_control),
        ("--read-only", "", |a| a.session.read_only),
        ("--help", "-h", |a| a.output.help),
        ("--version", "-v", |a| a.output.version),
    ];
    for (long, short, read) in switches {
        for line in [(*long).to_owned(), (*short).to_owned(), format!("{long} {long}")] {
            assert!(line.is_empty() || read(&low(&line)), "{line}");
        }
        assert!(!read(&low("")), "{long}");
    }

    let others: &[(&str, Holds)] = &[
        ("--list-models", |a| a.model.list_models == Some(None)),
        ("--list-models x", |a| a.model.list_models == Some(Some("x".into()))),
        ("--mode json", |a| a.output.mode == Some(OutputMode::Json)),
        ("--mode=rpc", |a| a.output.mode == Some(OutputMode::Rpc)),
        ("--mode json --mode text", |a| a.output.mode == Some(OutputMode::Text)),
        ("--tui-mode regular", |a| a.output.tui_mode == Some(TuiMode::Regular)),
        ("--tui-mode=fullscreen", |a| a.output.tui_mode == Some(TuiMode::Fullscreen)),
        ("--sandbox read-only", |a| a.sandbox.sandbox == Some(SandboxMode::ReadOnly)),
        ("--sandbox=off", |a| a.sandbox.sandbox == Some(SandboxMode::Off)),
        ("--permissions ask", |a| a.permissions.permissions == Some(ModeName::Ask)),
        ("--on-denied=fail", |a| a.permissions.on_denied == Some(OnDenied::Fail)),
        ("--replay-speed recorded", |a| a.diagnosis.replay_speed == Some(ReplaySpeed::Recorded)),
    ];
    for (line, holds) in others {
        assert!(holds(&low(line)), "{line}");
    }
    // Nobody adds a flag without a row above; `others` are of seven flags.
    let flags = <LowArgs as clap::CommandFactory>::command().get_arguments().count();
    assert_eq!(flags, with_value.len() + switches.len() + 7);
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let table = [
        ("--fork a --session b", "--fork cannot be combined with --session"),
        ("--fork a -c", "--fork cannot be combined with --continue"),
        ("--fork a -r", "--fork cannot be combined with --resume"),
        ("--fork a --no-session", "--fork cannot be combined with --no-session"),
        ("--session-id a --session b", "--session-id cannot be combined with --session"),
        ("--session-id a -c", "--session-id cannot be combined with --continue"),
        ("--session-id a -r", "--session-id cannot be combined with --resume"),
        ("--record a --replay b", "--record cannot be combined with --replay"),
        ("--record a --replay-strict", "--replay-strict requires --replay FILE"),
        ("--replay-speed full", "--replay-speed requires --replay FILE"),
        ("--sandbox loose", "--sandbox: expected off, workspace or read-only, found \"loose\""),
        ("--replay a --replay-speed fast", "Invalid value \"fast\" for --replay-speed. Valid values: full, recorded"),
        ("--provider p", "--provider requires --model (for example: --provider p --model <pattern>)"),
        ("--name _", "--name requires a non-empty value"),
        ("--help --name _", "--name requires a non-empty value"),
        ("--mode rpc @f", "@file arguments are not supported in RPC mode; send the file's content in a prompt command"),
    ];
    for (line, text) in table {
        assert_eq!(plan(line).map(|_| ()), Err(text.to_owned()), "{line}");
    }
    for line in ["--version --fork a -c", "--export f --provider p", "--session-id a --fork b", "--mode json @f"] {
        assert!(plan(line).is_ok(), "{line}");
    }
}

#[test]
fn one_session_is_chosen() {
    use SessionChoice as S;
    let id = |text: &str| SessionTarget::Id(text.into());
    let path = |text: &str| SessionTarget::Path(text.into());
    let table = [
        ("", S::New),
        ("--no-session", S::InMemory),
        ("--no-session -c", S::InMemory),
        ("--help", S::InMemory),
        ("--list-models -c", S::InMemory),
        ("-c", S::Continue),
        ("-r", S::Pick),
        ("-c -r", S::Pick),
        ("--session 0197", S::Open(id("0197"))),
        ("--session a/b", S::Open(path("/w/a/b"))),
        ("--session ~/s.jsonl", S::Open(path("/h/s.jsonl"))),
        ("--session s.jsonl", S::Open(path("/w/s.jsonl"))),
        ("--session _", S::New),
        ("--session-id abc-1", S::OpenOrCreate { id: "abc-1".into(), tells: true }),
        ("--fork 01", S::Fork { source: id("01"), id: None }),
        ("--fork ../s.jsonl --session-id x", S::Fork { source: path("/s.jsonl"), id: Some("x".into()) }),
    ];
    for (line, session) in table {
        assert_eq!(high(line).session, session, "{line}");
    }
}

#[test]
fn fc_104_a_session_id_cannot_lead_out_of_the_folder() {
    for good in ["a", "abc-1", "A_b.c", "0197-x"] {
        assert!(plan(&format!("--session-id {good}")).is_ok(), "{good}");
    }
    for bad in ["_", "bad/id", "../x", "..", ".a", "a.", "-a", "a\\b", "a:b", "é", "a\u{0}b"] {
        let text = plan(&format!("--session-id {bad}")).unwrap_err();
        assert!(text.starts_with("--session-id: ") && text.contains("is no session id"), "{bad}: {text}");
    }
}

#[test]
fn the_first_fork_of_a_start_is_version_then_export_then_the_rest() {
    assert!(matches!(plan("--version --export f --help"), Ok(Plan::Version)));
    let Ok(Plan::Export { session, output }) = plan("--help --export s.jsonl out.html more") else { panic!() };
    assert_eq!((session, output), ("/w/s.jsonl".into(), Some(PathBuf::from("/w/out.html"))));
    let Ok(Plan::Export { output, .. }) = plan("--export s.jsonl") else { panic!() };
    assert_eq!(output, None);
    let table = [
        ("--help --list-models", Task::Help),
        ("--list-models", Task::ListModels { search: None }),
        ("--list-models tiny", Task::ListModels { search: Some("tiny".into()) }),
        ("hi", Task::Run(Mode::Interactive)),
        ("-p hi", Task::Run(Mode::Print)),
        ("--mode rpc", Task::Run(Mode::Rpc)),
    ];
    for (line, task) in table {
        assert_eq!(high(line).task, task, "{line}");
    }
}

#[test]
fn paths_are_absolute_and_the_rest_keeps_its_meaning() {
    let args = high(
        "--skill sk --skill /abs -ns --prompt-template ~/p --theme t --no-themes -e builtin:mcp -e npm:x -e ./e \
         --session-dir sd --script s.json --trace-file t.jsonl --log-file /l --no-mcp -nc --verbose",
    );
    let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(args.resources.skills, Discovery { named: paths(&["/w/sk", "/abs"]), usual: false });
    assert_eq!(args.resources.prompt_templates, Discovery { named: paths(&["/h/p"]), usual: true });
    assert_eq!(args.resources.themes, Discovery { named: paths(&["/w/t"]), usual: false });
    let extensions = [
        ExtensionSource::Builtin("mcp".into()),
        ExtensionSource::Package("npm:x".into()),
        ExtensionSource::Path("/w/e".into()),
    ];
    assert_eq!(args.resources.extensions, Discovery { named: extensions.to_vec(), usual: true });
    let files = [args.session_dir, args.script, args.trace_file, args.log_file].map(Option::unwrap);
    assert_eq!(files, ["/w/sd", "/w/s.json", "/w/t.jsonl", "/l"].map(PathBuf::from));
    assert!(!args.resources.mcp && !args.resources.context_files && args.verbose);
}

#[test]
fn a_run_is_recorded_or_replayed_or_neither() {
    use CassetteChoice as C;
    let replay = |speed, strict| C::Replay { file: "/w/b".into(), speed, strict };
    for (line, choice) in [
        ("", C::None),
        ("--record _ --replay _", C::None),
        ("--record a", C::Record("/w/a".into())),
        ("--record ~/a --replay _", C::Record("/h/a".into())),
        ("--replay b", replay(ReplaySpeed::Full, false)),
        ("--replay b --replay-speed recorded --replay-strict", replay(ReplaySpeed::Recorded, true)),
    ] {
        assert_eq!(high(line).cassette, choice, "{line}");
    }
}

#[test]
fn the_last_word_on_trust_counts() {
    for (line, trust) in [
        ("", None),
        ("-a", Some(true)),
        ("-na", Some(false)),
        ("-a -na", Some(false)),
        ("-na -a", Some(true)),
        ("-a -na -a", Some(true)),
    ] {
        assert_eq!(high(line).trust, trust, "{line}");
    }
}

#[test]
fn empty_values_say_nothing_and_a_wrong_level_only_warns() {
    let args =
        high("--model _ --system-prompt _ --session-dir _ --api-key _ --use-theme _ --thinking enormous --tools _");
    assert_eq!((args.model, args.system_prompt), (ModelChoice::default(), None));
    assert_eq!((args.session_dir, args.theme), (None, None));
    assert_eq!(args.tools.tools, Some(Vec::new()));
    let text = "Invalid thinking level \"enormous\". Valid values: off, minimal, low, medium, high, xhigh, max";
    assert_eq!(args.warnings, [text]);

    let args = high("--provider p --model m:high --thinking low --models a*,,b --name  x -nbt --exclude-tools b*");
    assert_eq!(args.model.thinking, Some(ThinkingLevel::Low));
    assert_eq!(args.model.pattern.as_deref(), Some("m:high"));
    assert_eq!(args.model.scope, Some(words("a* b")));
    assert_eq!(args.name.as_deref(), Some("x"));
    let tools = ToolRequest { exclude: words("b*"), no_builtin_tools: true, ..ToolRequest::default() };
    assert_eq!(args.tools, tools);
    for (line, selects) in [("", false), ("-xt b", false), ("-t +ls,-bash", true), ("-nt", true), ("-nbt", true)] {
        assert_eq!(high(line).tools.selects(), selects, "{line}");
    }
    assert_eq!(high("-t +ls,-bash").tools.tools, Some(words("+ls -bash")));
}

#[test]
fn flags_that_no_extension_knows_are_reported_later_with_a_hint() {
    let table: &[(&str, &[&str], Option<&str>)] = &[
        ("hi", &[], None),
        ("--preset fast", &["preset"], None),
        ("--nosuchflag=3", &[], Some("Unknown option: --nosuchflag")),
        ("--nosuch hi --preset --other", &["preset"], Some("Unknown options: --nosuch, --other")),
        ("--modle x", &[], Some("Unknown option: --modle\nDid you mean --model?")),
    ];
    for (line, registered, error) in table {
        let got = high(line).unknown_options(registered).map(|error| error.to_string());
        assert_eq!(got.as_deref(), *error, "{line}");
    }
}

#[test]
fn fc_106_the_key_of_the_command_line_is_not_shown() {
    let args = high("--model m --api-key sk-flag-1");
    assert_eq!(args.model.api_key.as_ref().map(ApiKey::expose), Some("sk-flag-1"));
    assert!(!format!("{:?} {args:?}", low("--api-key sk-flag-1")).contains("sk-flag"));
}
