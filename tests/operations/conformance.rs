//! The behaviours that tools rely on.

use std::{io, path::Path, time::Duration};

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use troupe::tools::operations::{
    FileKind, FindQuery, GrepQuery, Operations, Process, ProcessEvent, ShellCommand, read_all,
};

use crate::stage::{Stage, nowhere};

/// Longer than anything healthy takes.
const DEADLINE: Duration = Duration::from_secs(30);

/// Plays all behaviours; panics at the first that is another.
pub async fn conforms(operations: &dyn Operations, stage: &dyn Stage) {
    tells_facts(operations, stage).await;
    reads(operations, stage).await;
    writes(operations, stage).await;
    lists(operations, stage).await;
    knows_paths(operations, stage);
    greps(operations, stage).await;
    finds(operations, stage).await;
    runs(operations, stage).await;
    kills(operations, stage).await;
}

async fn content(operations: &dyn Operations, path: &Path) -> io::Result<Vec<u8>> {
    read_all(operations.open(path).await?.as_mut()).await
}

async fn tells_facts(operations: &dyn Operations, stage: &dyn Stage) {
    stage.file("facts/five", b"12345");
    stage.link("facts/link", "five");
    stage.link("facts/broken", "none");
    stage.pipe("facts/pipe");
    for (name, kind, len) in [
        ("facts/five", FileKind::File, Some(5)),
        ("facts/link", FileKind::File, Some(5)),
        ("facts", FileKind::Folder, None),
        ("facts/pipe", FileKind::Special, None),
    ] {
        let stat = operations.stat(&stage.path(name)).await.unwrap();
        assert_eq!(stat.kind, kind, "{name}");
        assert!(len.is_none_or(|len| len == stat.len), "{name}: {stat:?}");
    }
    for path in [stage.path("facts/broken"), nowhere(stage)] {
        assert_eq!(operations.stat(&path).await.unwrap_err().kind(), io::ErrorKind::NotFound, "{}", path.display());
    }
    let below_a_file = operations.stat(&stage.path("facts/five/x")).await.unwrap_err();
    assert_eq!(below_a_file.kind(), io::ErrorKind::NotADirectory);
}

async fn reads(operations: &dyn Operations, stage: &dyn Stage) {
    let all: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    stage.file("reads/all", &all);
    stage.file("reads/empty", b"");
    stage.file("reads/it's a \"name\" $(x)\n-\u{e4}\\", b"odd");
    stage.link("reads/link", "all");
    stage.pipe("reads/pipe");
    assert_eq!(content(operations, &stage.path("reads/all")).await.unwrap(), all);
    assert_eq!(content(operations, &stage.path("reads/link")).await.unwrap(), all);
    assert_eq!(content(operations, &stage.path("reads/empty")).await.unwrap(), b"");
    assert_eq!(content(operations, &stage.path("reads/it's a \"name\" $(x)\n-\u{e4}\\")).await.unwrap(), b"odd");
    let reader = operations.open(&stage.path("reads/all")).await.unwrap();
    assert_eq!(reader.stat(), operations.stat(&stage.path("reads/all")).await.unwrap());
    for (name, kind) in [
        ("reads/none", io::ErrorKind::NotFound),
        ("reads", io::ErrorKind::IsADirectory),
        ("reads/pipe", io::ErrorKind::InvalidInput),
    ] {
        let refused = timeout(DEADLINE, content(operations, &stage.path(name))).await.unwrap().unwrap_err();
        assert_eq!(refused.kind(), kind, "{name}: {refused}");
    }
    operations.check_access(&stage.path("reads/all")).await.unwrap();
    assert!(operations.check_access(&stage.path("reads/none")).await.is_err());
}

async fn writes(operations: &dyn Operations, stage: &dyn Stage) {
    stage.file("writes/script", b"#!/bin/sh\necho a long old text\n");
    stage.set_mode("writes/script", 0o755);
    stage.link("writes/link", "script");
    stage.link("writes/to-new", "new");
    stage.pipe("writes/pipe");
    let before = operations.stat(&stage.path("writes/script")).await.unwrap();
    let new: Vec<u8> = (0..=255).rev().collect();
    let stat = operations.write(&stage.path("writes/link"), new[..9].to_vec()).await.unwrap();
    assert_eq!((stat.kind, stat.len), (FileKind::File, 9));
    assert_ne!(stat, before);
    assert_eq!(stage.read("writes/script").unwrap(), new[..9]);
    assert!(stage.is_link("writes/link"), "a link stays one");
    assert_eq!(stage.mode("writes/script"), 0o755, "the mode stays");
    operations.write(&stage.path("writes/to-new"), b"through".to_vec()).await.unwrap();
    assert_eq!(stage.read("writes/new").unwrap(), b"through");
    let large = new.repeat(2000);
    operations.write(&stage.path("writes/large"), large.clone()).await.unwrap();
    assert_eq!(stage.read("writes/large").unwrap(), large);
    operations.write(&stage.path("writes/large"), Vec::new()).await.unwrap();
    assert_eq!(stage.read("writes/large").unwrap(), b"");
    for (name, kind) in [
        ("writes", io::ErrorKind::IsADirectory),
        ("writes/pipe", io::ErrorKind::InvalidInput),
        ("writes/no/folder", io::ErrorKind::NotFound),
    ] {
        let refused = timeout(DEADLINE, operations.write(&stage.path(name), b"x".to_vec())).await.unwrap();
        assert_eq!(refused.unwrap_err().kind(), kind, "{name}");
    }
    operations.create_folder(&stage.path("writes/a/b/c")).await.unwrap();
    operations.create_folder(&stage.path("writes/a/b/c")).await.unwrap();
    operations.write(&stage.path("writes/a/b/c/file"), b"deep".to_vec()).await.unwrap();
    assert_eq!(stage.read("writes/a/b/c/file").unwrap(), b"deep");
    assert!(operations.create_folder(&stage.path("writes/script/x")).await.is_err());
}

async fn lists(operations: &dyn Operations, stage: &dyn Stage) {
    let odd = "lists/a\nb *";
    stage.file("lists/file", b"");
    stage.file("lists/.hidden", b"");
    stage.file("lists/sub/x", b"");
    stage.file(odd, b"");
    stage.link("lists/to-sub", "sub");
    stage.link("lists/broken", "none");
    stage.pipe("lists/pipe");
    let mut entries = operations.list(&stage.path("lists")).await.unwrap();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let entries: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
    let (file, folder) = (Some(FileKind::File), Some(FileKind::Folder));
    assert_eq!(
        entries,
        [
            (".hidden", file),
            ("a\nb *", file),
            ("broken", None),
            ("file", file),
            ("pipe", Some(FileKind::Special)),
            ("sub", folder),
            ("to-sub", folder),
        ]
    );
    assert_eq!(operations.list(&stage.path("lists/file")).await.unwrap_err().kind(), io::ErrorKind::NotADirectory);
    assert_eq!(operations.list(&nowhere(stage)).await.unwrap_err().kind(), io::ErrorKind::NotFound);
}

fn knows_paths(operations: &dyn Operations, stage: &dyn Stage) {
    stage.file("paths/file", b"");
    assert_eq!(operations.real_path(&stage.path("paths/./x/../file")), stage.path("paths/file"));
    assert_eq!(operations.real_path(&stage.path("paths/missing/x")), stage.path("paths/missing/x"));
}

async fn greps(operations: &dyn Operations, stage: &dyn Stage) {
    stage.file("greps/a.txt", b"one\nTwo two\nthree\n");
    stage.file("greps/sub/b.md", b"two\r\n");
    stage.file("greps/.hid/c.txt", b"two hidden\n");
    stage.file("greps/bin", b"two\0two\n");
    stage.file("greps/sub/.gitignore", b"secret.txt\n/only\n");
    stage.file("greps/sub/secret.txt", b"two\n");
    stage.file("greps/sub/deep/.ignore", b"ig*\n!igloo\n");
    stage.file("greps/sub/deep/ignored", b"two\n");
    stage.file("greps/sub/deep/igloo", b"two\n");
    stage.file("greps/.git/config", b"two\n");
    stage.link("greps/sub/loop", "..");
    let grep = async |query: GrepQuery| {
        let query = GrepQuery { root: stage.path("greps").join(query.root), line_units: 500, ..query };
        let hits = operations.grep(query, CancellationToken::new()).await.unwrap();
        let show = |mark: bool| if mark { ':' } else { '-' };
        let lines: Vec<_> = hits
            .lines
            .iter()
            .map(|l| format!("{}{m}{}{m}{}", l.path, l.number, l.text, m = show(l.is_match)))
            .collect();
        lines.join("|") + if hits.more { "+" } else { "" }
    };
    let of = |pattern: &str| GrepQuery { pattern: pattern.into(), limit: 100, ..GrepQuery::default() };
    let all = ".hid/c.txt:1:two hidden|a.txt:2:Two two|sub/b.md:1:two|sub/deep/igloo:1:two";
    let table = [
        (of("two"), all),
        (GrepQuery { limit: 2, ..of("two") }, ".hid/c.txt:1:two hidden|a.txt:2:Two two+"),
        (GrepQuery { ignore_case: true, root: "a.txt".into(), ..of("TWO T") }, "a.txt:2:Two two"),
        (GrepQuery { context: 1, root: "a.txt".into(), ..of("Two") }, "a.txt-1-one|a.txt:2:Two two|a.txt-3-three"),
        (GrepQuery { glob: Some("*.md".into()), ..of("two") }, "sub/b.md:1:two"),
        (GrepQuery { glob: Some("./sub/b*".into()), ..of("two") }, "sub/b.md:1:two"),
        (GrepQuery { glob: Some("!*.txt".into()), ..of("t.o") }, "sub/b.md:1:two|sub/deep/igloo:1:two"),
        (GrepQuery { root: "sub".into(), ..of("^t[wx]o") }, "b.md:1:two|deep/igloo:1:two"),
        (GrepQuery { literal: true, ..of("t.o") }, ""),
        (of("--pre=./run.sh"), ""),
        (of("\\w+ \\bhid(den)?$"), ".hid/c.txt:1:two hidden"),
    ];
    for (query, wanted) in table {
        let what = format!("{query:?}");
        assert_eq!(timeout(DEADLINE, grep(query)).await.unwrap(), wanted, "{what}");
    }
    let missing = GrepQuery { root: nowhere(stage), ..of("x") };
    let missing = operations.grep(missing, CancellationToken::new()).await.unwrap_err().to_string();
    assert!(missing.starts_with("Path not found: "), "{missing}");
    stage.pipe("greps-pipe");
    let pipe = GrepQuery { root: stage.path("greps-pipe"), ..of("x") };
    let pipe = operations.grep(pipe, CancellationToken::new()).await.unwrap_err().to_string();
    assert!(pipe.starts_with("Not a file or folder: "), "{pipe}");
    let regex = operations.grep(GrepQuery { root: stage.root(), ..of("(x") }, CancellationToken::new()).await;
    assert!(regex.unwrap_err().to_string().starts_with("Invalid regular expression"));
}

async fn finds(operations: &dyn Operations, stage: &dyn Stage) {
    for name in ["a.txt", "src/b.txt", "src/deep/c.txt", "src/deep/d.md", ".hid/e.txt", "Foo.TXT", ".git/x.txt"] {
        stage.file(&format!("finds/{name}"), b"");
    }
    stage.file("finds/src/.gitignore", b"*.log\n!keep.log\nbuild/\n");
    stage.file("finds/src/x.log", b"");
    stage.file("finds/src/keep.log", b"");
    stage.file("finds/src/build/out.txt", b"");
    stage.file("finds/worktree/.git", b"gitdir: elsewhere\n");
    stage.link("finds/link.txt", "src");
    let absolute = format!("{}/src/*.txt", stage.path("finds").display());
    let table = [
        ("*.txt", 100, ".hid/e.txt Foo.TXT a.txt link.txt src/b.txt src/deep/c.txt"),
        ("*.txt", 2, ".hid/e.txt Foo.TXT +"),
        ("*.TXT", 100, "Foo.TXT"),
        ("*.log", 100, "src/keep.log"),
        ("src/**/*.txt", 100, "src/b.txt src/deep/c.txt"),
        ("./src/*.txt", 100, "src/b.txt"),
        ("deep", 100, "src/deep/"),
        ("deep/*", 100, ""),
        (".git", 100, "worktree/.git"),
        ("*.{md,TXT}", 100, "Foo.TXT src/deep/d.md"),
        ("--exec=./run.sh", 100, ""),
        (absolute.as_str(), 100, "src/b.txt"),
    ];
    for (pattern, limit, wanted) in table {
        let query = FindQuery { pattern: pattern.into(), root: stage.path("finds"), limit };
        let hits = operations.find(query, CancellationToken::new()).await.unwrap();
        let more = hits.more.then(|| "+".to_owned());
        assert_eq!(hits.paths.into_iter().chain(more).collect::<Vec<_>>().join(" "), wanted, "{pattern}");
    }
    let no_folder = FindQuery { pattern: "x".into(), root: stage.path("finds/a.txt"), limit: 1 };
    let no_folder = operations.find(no_folder, CancellationToken::new()).await.unwrap_err().to_string();
    assert!(no_folder.starts_with("Not a directory: "), "{no_folder}");
}

/// Follows a command to its end: its output and exit code.
pub async fn follow(process: &mut dyn Process) -> io::Result<(String, Option<i32>)> {
    let (mut output, mut exit, mut closed) = (Vec::new(), None, false);
    while exit.is_none() || !closed {
        match process.next(&mut output).await? {
            ProcessEvent::Output => {}
            ProcessEvent::Exited { code } => exit = Some(code),
            ProcessEvent::Closed => closed = true,
        }
    }
    Ok((String::from_utf8_lossy(&output).into_owned(), exit))
}

pub fn command(script: &str, cwd: &Path) -> ShellCommand {
    ShellCommand { script: script.into(), cwd: cwd.to_owned(), ..ShellCommand::default() }
}

async fn runs(operations: &dyn Operations, stage: &dyn Stage) {
    stage.file("runs in/x", b"");
    let cwd = stage.path("runs in");
    let folder = format!("{}\n", cwd.display());
    let table = [
        ("exit 7", "", 7),
        ("kill -9 $$", "", 137),
        ("pwd", folder.as_str(), 0),
        ("for i in 1 2 3; do echo out$i; echo err$i >&2; done", "out1\nerr1\nout2\nerr2\nout3\nerr3\n", 0),
        ("printf %s \"$GIVEN\"; printf %s \"${TAKEN-none}\"", "it's 'a' $value\nnone", 0),
    ];
    for (script, output, code) in table {
        let environment = vec![("TAKEN".to_owned(), None), ("GIVEN".to_owned(), Some("it's 'a' $value\n".to_owned()))];
        let command = ShellCommand { environment, ..command(script, &cwd) };
        let mut process = operations.spawn(command).await.unwrap();
        let got = timeout(DEADLINE, follow(process.as_mut())).await.unwrap().unwrap();
        assert_eq!(got, (output.to_owned(), Some(code)), "{script}");
    }
}

async fn kills(operations: &dyn Operations, stage: &dyn Stage) {
    let mut process = operations.spawn(command("sleep 300", &stage.root())).await.unwrap();
    let mut output = Vec::new();
    tokio::select! {
        biased;
        event = process.next(&mut output) => panic!("{event:?}"),
        () = tokio::task::yield_now() => {}
    }
    process.kill();
    let (_, code) = timeout(DEADLINE, follow(process.as_mut())).await.unwrap().unwrap();
    assert_eq!(code, Some(137));
}
