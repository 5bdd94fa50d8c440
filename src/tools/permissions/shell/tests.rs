//! Tables: what scripts would run.

use proptest::prelude::*;

use super::{Access, Standing, parse};

/// The commands of a script, those that need no rule in parentheses and opaque ones with a `!`; then its files.
fn outline(script: &str) -> String {
    let script = match parse(script) {
        Ok(script) => script,
        Err(why) => return format!("unclear: {why}"),
    };
    let commands = script.commands.iter().map(|command| match command.standing {
        Standing::Ordinary => command.text(),
        Standing::Free => format!("({})", command.text()),
        Standing::Opaque(_) => format!("!{}", command.text()),
    });
    let files = script.files.iter().map(|file| match file.access {
        Access::Read => format!("<{}", file.target.shown()),
        Access::Write => format!(">{}", file.target.shown()),
    });
    commands.chain(files).collect::<Vec<_>>().join(" | ")
}

#[test]
fn every_command_of_a_script_is_found() {
    let table = [
        ("git status", "git status"),
        ("git status && rm -rf x", "git status | rm -rf x"),
        ("git status; id", "git status | id"),
        ("git status\nid", "git status | id"),
        ("git status & id", "git status | id"),
        ("git status | sh", "git status | sh"),
        ("git status || id", "git status | id"),
        ("git status $(id)", "id | git status $(id)"),
        ("git status `id`", "id | git status `id`"),
        ("git status \"$(id)\"", "id | git status \"$(id)\""),
        ("git status '$(id)'", "git status '$(id)'"),
        ("git status <(id)", "id | git status <(id)"),
        ("git status > /etc/x", "git status | >/etc/x"),
        ("git status 2>&1 >>log 2>/dev/null <in", "git status | >log | >/dev/null | <in"),
        ("git status &>all", "git status | >all"),
        ("git status >& all", "git status | >all"),
        ("FOO=1 git status", "FOO=1 git status"),
        ("x=1; PATH=/evil; git status", "(x=1) | PATH=/evil | git status"),
        ("g\\it 'sta'\"tus\" gi\\\nt", "git status git"),
        ("gi\\\nt status &\\\n& id", "git status | id"),
        ("(a; b) > f", "a | b | >f"),
        ("{ a; b; } 2>f", "a | b | >f"),
        ("if a; then b; elif c; then d; else e; fi", "a | b | c | d | e"),
        ("while a; do b; done <f", "a | b | <f"),
        ("for f in *.rs $(ls); do cat \"$f\"; done", "ls | (f=) | cat \"$f\""),
        ("for f; do a; done", "(f=) | a"),
        ("case $x in a|b) c;; (d) e;& *) f; esac", "c | e | f"),
        ("f() { rm x; }; f", "rm x | f"),
        ("function f { rm x; }", "rm x"),
        ("! a", "a"),
        ("time -p a", "a"),
        ("a |& b # c\nd", "a | b | d"),
        ("cat <<EOF\n$(id) `a` '$(b)'\nEOF\nc", "cat | id | a | b | c"),
        ("cat <<'EOF' && c\n$(id)\nEOF", "cat | c"),
        ("cat <<-EOF\n\t$(id)\n\tEOF\nb", "cat | id | b"),
        ("cat <<< $(id)", "id | cat"),
        ("a ${x:-$(id)} ${y%%`b`}", "id | b | a ${x:-$(id)} ${y%%`b`}"),
        ("a $((1 + 2))", "a $((1 + 2))"),
        ("echo {a,b}; {rm,-rf,x}", "(echo {a,b}) | !{rm,-rf,x}"),
        ("$X a; \"$X\" a; ~/x; /bin/r? x", "!$X a | !\"$X\" a | !~/x | !/bin/r? x"),
        ("find . -exec rm {} + -o -name x", "find . -exec rm '{}' + -o -name x | rm {}"),
    ];
    for (script, wanted) in table {
        assert_eq!(outline(script), wanted, "{script}");
    }
}

#[test]
fn wrappers_show_what_they_run() {
    let table = [
        ("env rm x", "(env rm x) | rm x"),
        ("env FOO=1 rm x", "(env FOO=1 rm x) | FOO=1 rm x"),
        ("env -i rm x", "env -i rm x | rm x"),
        ("env -S 'rm x'", "!env -S 'rm x'"),
        ("env", "env"),
        ("sudo -u root rm x", "sudo -u root rm x | rm x"),
        (
            "nice -n 5 nohup timeout 5 rm x",
            "(nice -n 5 nohup timeout 5 rm x) | (nohup timeout 5 rm x) | (timeout 5 rm x) | rm x",
        ),
        ("command rm x; exec rm x", "(command rm x) | rm x | (exec rm x) | rm x"),
        ("sh -c 'rm x; id > f'", "(sh -c 'rm x; id > f') | rm x | id | >f"),
        ("bash -ec \"rm $X\"", "!bash -ec \"rm $X\""),
        ("bash -lc id", "!bash -lc id"),
        ("/tmp/sh -c id", "!/tmp/sh -c id"),
        ("bash x.sh", "bash x.sh"),
        ("eval 'rm x'", "(eval 'rm x') | rm x"),
        ("eval \"$X\"", "!eval \"$X\""),
        ("xargs -0 -n1 rm -f", "(xargs -0 -n1 rm -f) | rm -f …"),
        ("xargs", "(xargs) | (echo …)"),
        ("xargs -I{} sh -c 'echo {}'", "(xargs '-I{}' sh -c 'echo {}') | !sh -c 'echo {}'"),
        ("xargs -I % % x", "(xargs -I % % x) | !% x"),
        ("xargs env", "(xargs env) | !env …"),
        ("sudo -E A=1 rm x", "sudo -E A=1 rm x | A=1 rm x"),
        ("find . $X", "!find . $X"),
        ("find * -name x; find src/* -name x", "!find * -name x | find src/* -name x"),
    ];
    for (script, wanted) in table {
        assert_eq!(outline(script), wanted, "{script}");
    }
}

#[test]
fn what_evaluates_its_words_again_is_opaque_and_what_changes_nothing_is_free() {
    for script in [
        "source x",
        ". x",
        "export PATH=x",
        "alias ls=rm",
        "trap 'rm x' EXIT",
        "test -v 'a[$(id)]'",
        "[ $x = y ]",
        "[ \"$@\" = y ]",
        "[ \"$x\" \"$y\" ]",
        "test $x",
        "printf -v 'a[$(id)]' x",
        "printf \"$x\"",
        "read x",
        "set -a",
        "hash -p /tmp/x git",
        "let x=1",
        "shopt -s x",
    ] {
        assert!(outline(script).starts_with('!'), "{script}: {}", outline(script));
    }
    for script in [
        "true",
        "set -euo pipefail",
        "[ -f x ]",
        "[ -n \"$x\" ]",
        "test \"$x\" = y",
        "printf '%s' $x",
        "echo $x",
        "exit 1",
        "x=$y",
    ] {
        assert!(outline(script).starts_with('('), "{script}: {}", outline(script));
    }
}

#[test]
fn what_the_parser_does_not_know_it_refuses() {
    for script in [
        "<&-rm a b",
        "a >& -rm b",
        "a &>f rm x",
        "a &>f 2>g rm x",
        "a (b)",
        "a[$(id)]=1",
        "a=(b)",
        "[[ x ]]",
        "((x=1))",
        "$((x))",
        "${a[$(id)]}",
        "${!x}",
        "${x@P}",
        "${x:y}",
        "${x:=y}",
        "$[1]",
        "\"a",
        "'a",
        "`a",
        "$(a",
        "(a",
        "if a; then b",
        "for ((;;)); do a; done",
        "a <<EOF\nb",
        "echo $\"x\"",
        "coproc a",
        "echo $'a'",
        "select x in y; do z; done",
        "a )",
        "a ;; b",
        "done",
        "a | then",
        "a\\",
        "\"${x:-'}\"; rm x; '}\"",
        "ls @(a|b)",
    ] {
        assert!(outline(script).starts_with("unclear: "), "{script}: {}", outline(script));
    }
    assert!(outline(&"(".repeat(10_000)).starts_with("unclear: "));
    assert!(outline(&"$(".repeat(10_000)).starts_with("unclear: "));
    assert!(outline(&"`\\`".repeat(10_000)).starts_with("unclear: "));
    assert!(outline(&"! ".repeat(10_000)).starts_with("unclear: "));
    assert!(outline(&"sudo ".repeat(10_000)).starts_with("unclear: "));
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "a", " ", "'", "\"", "\\", "$", "(", ")", "{", "}", "`", "<", ">", "|", "&", ";", "\n", "#", "!", "=", "[",
            "*", "~", "EOF", "<<", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", "é", "2", "-c", "sh",
            "xargs", "find", "-exec", "env", "\\\n", "@",
        ]), 0..40),
        any in ".{0,40}",
    ) {
        let _ = parse(&pieces.concat());
        let _ = parse(&any);
    }
}
