//! The same through the operations that work in this process.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use tokio_util::sync::CancellationToken;
use troupe::tools::operations::{
    FindQuery, GrepQuery, Operations as _, read_all,
    sandbox::{Grants, SandboxMode, linux::Sandboxed},
};

use crate::bench::{Bench, ORIGINAL, SECRET};

async fn read(sandbox: &Sandboxed, path: &Path) -> io::Result<String> {
    let mut reader = sandbox.open(path).await?;
    Ok(String::from_utf8_lossy(&read_all(reader.as_mut()).await?).into_owned())
}

/// Writes as the tool does: with the folders above it.
async fn write(sandbox: &Sandboxed, path: &Path) -> io::Result<()> {
    let real = sandbox.real_path(path);
    if let Some(folder) = real.parent() {
        sandbox.create_folder(folder).await?;
    }
    sandbox.write(&real, b"new".to_vec()).await?;
    // A path whose links were not taken out leads no further.
    sandbox.write(path, b"new".to_vec()).await.map(drop)
}

#[tokio::test]
async fn files_are_written_inside_and_nowhere_else_fc_103() {
    for bench in Bench::all(SandboxMode::Workspace) {
        let (work, outside) = (&bench.work, &bench.outside);
        symlink(outside.join("new"), work.join("dangling")).unwrap();
        symlink(outside, work.join("link")).unwrap();
        symlink(work.join("sub"), work.join("inner")).unwrap();
        symlink("inside", work.join("alias")).unwrap();
        symlink("/proc/self/root", work.join("root")).unwrap();
        let out = |path: &str| PathBuf::from(format!("{path}{}/new", outside.display()));
        let table = [
            (work.join("new"), true),
            (work.join("a/b/c/new"), true),
            (work.join("inner/new"), true),
            (work.join("alias"), true),
            (bench.sandbox.temp().join("new"), true),
            (work.join(".git/index"), true),
            (outside.join("new"), false),
            (outside.join("a/b/new"), false),
            (outside.join("file"), false),
            (work.join("dangling"), false),
            (work.join("link/new"), false),
            (work.join("link/file"), false),
            (work.join("link/a/new"), false),
            (work.join("../outside/new"), false),
            (out("/proc/self/root"), false),
            (out("/proc/self/cwd/../../../../../../../.."), false),
            (out(&format!("/proc/{}/root", std::process::id())), false),
            (work.join(format!("root{}/new", outside.display())), false),
            (work.join(".git/hooks/post-checkout"), false),
            (work.join(".git/config"), false),
            (work.join(".git/commondir"), false),
            (work.join(".troupe/settings.json"), false),
            (work.join(".pi/settings.json"), false),
        ];
        for (path, allowed) in table {
            let result = write(&bench.sandbox, &path).await;
            assert_eq!(result.is_ok(), allowed, "{}: {result:?}", path.display());
            if let Err(error) = result {
                assert!(error.to_string().contains("the sandbox"), "{}: {error}", path.display());
            }
            bench.assert_untouched(&path.display().to_string());
        }
        assert_eq!(fs::read_to_string(work.join("alias")).unwrap(), "new");
        assert!(work.join("alias").is_symlink());
        assert_eq!(fs::read_to_string(work.join(".git/config")).unwrap(), ORIGINAL);
    }
}

#[tokio::test]
async fn a_link_to_nothing_is_not_written_through_by_its_own_name() {
    for bench in Bench::all(SandboxMode::Workspace) {
        symlink(bench.outside.join("new"), bench.work.join("dangling")).unwrap();
        let error = bench.sandbox.write(&bench.work.join("dangling"), b"x".to_vec()).await.unwrap_err();
        assert!(error.to_string().contains("does not exist"), "{error}");
        let error = bench.sandbox.create_folder(&bench.work.join("dangling/x")).await.unwrap_err();
        assert!(error.to_string().contains("does not exist"), "{error}");
        bench.assert_untouched("dangling");
    }
}

#[tokio::test]
async fn secrets_are_neither_read_nor_found() {
    for mode in [SandboxMode::Workspace, SandboxMode::ReadOnly] {
        for bench in Bench::all(mode) {
            let (sandbox, home, work) = (&bench.sandbox, &bench.home, &bench.work);
            symlink(home.join(".ssh"), work.join("keys")).unwrap();
            symlink(home.join(".ssh/id"), work.join("key")).unwrap();
            symlink(home, work.join("home")).unwrap();
            let own = format!("/proc/{}/environ", std::process::id());
            let paths = [
                home.join(".ssh/id"),
                home.join(".netrc"),
                work.join("keys/id"),
                work.join("key"),
                work.join("home/.ssh/id"),
                format!("/proc/self/root{}/.ssh/id", home.display()).into(),
                own.into(),
                "/proc/self/environ".into(),
            ];
            for path in &paths {
                let error = read(sandbox, path).await.unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{}", path.display());
                assert!(error.to_string().contains("the sandbox"), "{error}");
                assert!(sandbox.stat(path).await.is_err());
            }
            assert!(sandbox.list(&work.join("keys")).await.is_err());
            assert_eq!(read(sandbox, &home.join("notes")).await.unwrap(), "no secret\n");
            for root in [home.clone(), work.join("home")] {
                let query = GrepQuery {
                    pattern: "secret".into(),
                    root: root.clone(),
                    limit: 9,
                    line_units: 99,
                    ..Default::default()
                };
                let hits = sandbox.grep(query, CancellationToken::new()).await.unwrap();
                let files: Vec<_> = hits.lines.iter().map(|line| line.path.to_string()).collect();
                assert_eq!(files, ["notes"]);
                let query = FindQuery { pattern: "*".into(), root, limit: 99 };
                let found = sandbox.find(query, CancellationToken::new()).await.unwrap();
                assert_eq!(found.paths, ["notes"]);
            }
            let query = GrepQuery { pattern: SECRET.into(), root: work.join("key"), limit: 9, ..Default::default() };
            assert!(sandbox.grep(query, CancellationToken::new()).await.is_err());
        }
    }
}

#[tokio::test]
async fn read_only_operations_share_the_temporary_folder_and_write_nothing_else() {
    for bench in Bench::all(SandboxMode::Workspace) {
        let read_only = bench.sandbox.read_only().unwrap();
        assert_eq!(read_only.temp(), bench.sandbox.temp());
        assert!(write(&read_only, &bench.work.join("new")).await.is_err());
        let error = read_only.check_access(&bench.work.join("inside")).await.unwrap_err();
        assert!(error.to_string().contains("plan mode is on"), "{error}");
        assert!(write(&read_only, &read_only.temp().join("new")).await.is_ok());
        assert!(write(&bench.sandbox, &bench.work.join("new")).await.is_ok());
        assert_eq!(read(&read_only, &bench.work.join("new")).await.unwrap(), "new");
    }
}

#[tokio::test]
async fn the_user_opens_further_folders_and_hides_others() {
    let grants = |root: &Path| Grants {
        writable: vec![root.join("outside/folder")],
        readable: vec![root.join("home/.netrc")],
        denied: vec![root.join("work/sub")],
        ..Grants::default()
    };
    for wall in [crate::bench::Bubblewrap, crate::bench::Landlock] {
        let Some(bench) = Bench::new(wall, SandboxMode::Workspace, grants) else { continue };
        fs::write(bench.work.join("sub/key"), SECRET).unwrap();
        assert!(read(&bench.sandbox, &bench.work.join("sub/key")).await.is_err());
        assert_eq!(read(&bench.sandbox, &bench.home.join(".netrc")).await.unwrap(), SECRET);
        assert!(write(&bench.sandbox, &bench.outside.join("folder/new")).await.is_ok());
        assert!(write(&bench.sandbox, &bench.outside.join("new")).await.is_err());
        let (code, output) = bench.run("cat HOME/.netrc && echo x > OUT/folder/other").await;
        assert_eq!(code, 0, "{output}");
        let (_, output) = bench.run("cat WORK/sub/key; mv WORK/sub WORK/s; cat WORK/s/key").await;
        let told = bench.sandbox.gaps().iter().any(|gap| gap.contains("work/sub"));
        assert_eq!(output.contains(SECRET), told, "hidden, or said that it is not: {output}");
    }
}

#[test]
fn a_folder_that_turns_into_a_link_and_back_leads_nowhere() {
    for bench in Bench::all(SandboxMode::Workspace) {
        let (door, aside) = (bench.work.join("door"), bench.work.join("aside"));
        fs::create_dir(&door).unwrap();
        symlink(&bench.outside, &aside).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let stop = AtomicBool::new(false);
        let written = std::thread::scope(|scope| {
            scope.spawn(|| {
                // The two change places, at once.
                while !stop.load(Ordering::Relaxed) {
                    let flags = rustix::fs::RenameFlags::EXCHANGE;
                    rustix::fs::renameat_with(rustix::fs::CWD, &door, rustix::fs::CWD, &aside, flags).unwrap();
                }
            });
            let mut written = 0;
            for round in 0..150 {
                let path = door.join(format!("f{round}/new"));
                let made = runtime.block_on(async {
                    bench.sandbox.create_folder(path.parent().unwrap()).await?;
                    bench.sandbox.write(&path, b"x".to_vec()).await
                });
                written += u32::from(made.is_ok());
            }
            stop.store(true, Ordering::Relaxed);
            written
        });
        bench.assert_untouched(&format!("after {written} writes that went well"));
    }
}
