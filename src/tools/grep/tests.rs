use std::os::unix::fs::symlink;

use serde_json::json;

use crate::tools::testing::{Bench, text};

#[tokio::test]
async fn matches_are_shown_with_file_line_and_context() {
    let bench = Bench::new();
    bench.write("a.txt", "one\nTwo two\nthree\n");
    bench.write("sub/b.md", "two\r\n");
    bench.write(".hid/c.txt", "two hidden\n");
    bench.write("bin", b"two\0two\n");
    let table = [
        (json!({"pattern": "two"}), ".hid/c.txt:1: two hidden\na.txt:2: Two two\nsub/b.md:1: two"),
        (json!({"pattern": "TWO", "ignoreCase": true, "path": "a.txt"}), "a.txt:2: Two two"),
        (json!({"pattern": "Two", "path": "a.txt", "context": 1}), "a.txt-1- one\na.txt:2: Two two\na.txt-3- three"),
        (json!({"pattern": "two", "glob": "*.md"}), "sub/b.md:1: two"),
        (json!({"pattern": "two", "glob": "./sub/*"}), "sub/b.md:1: two"),
        (json!({"pattern": "two", "glob": "!*.txt"}), "sub/b.md:1: two"),
        (json!({"pattern": "two", "glob": "!./sub/*"}), ".hid/c.txt:1: two hidden\na.txt:2: Two two"),
        (json!({"pattern": "two", "glob": ""}), ".hid/c.txt:1: two hidden\na.txt:2: Two two\nsub/b.md:1: two"),
        (json!({"pattern": "two", "path": "bin"}), "bin:1: two\0two"),
        (json!({"pattern": "two", "path": "sub"}), "b.md:1: two"),
        (json!({"pattern": "t.o$", "path": "a.txt"}), "a.txt:2: Two two"),
        (json!({"pattern": "t.o", "literal": true}), "No matches found"),
        (json!({"pattern": "zzz"}), "No matches found"),
    ];
    for (arguments, wanted) in table {
        assert_eq!(bench.ok("grep", arguments.clone()).await, wanted, "{arguments}");
    }
}

#[tokio::test]
async fn limits_stop_at_the_last_match_with_what_follows_it() {
    let bench = Bench::new();
    bench.write("a.txt", (0..150).map(|n| format!("hit {n}\n")).collect::<String>());
    bench.write("c.txt", "x\nhit a\ny\nz\nhit b\n");
    bench.write("long.txt", format!("{} needle\n", "\u{1f642}x".repeat(700)));
    let all = bench.call("grep", json!({"pattern": "hit"})).await;
    assert_eq!(text(&all).lines().filter(|line| line.contains(": hit")).count(), 100);
    assert!(text(&all).ends_with("\n\n[100 matches limit reached. Use limit=200 for more, or refine pattern]"));
    assert_eq!(all.details.unwrap(), json!({"matchLimitReached": 100}));
    let exactly = bench.ok("grep", json!({"pattern": "hit 14", "limit": 11})).await;
    assert!(!exactly.contains("limit reached"), "{exactly}");
    let with_context = bench.ok("grep", json!({"pattern": "hit", "path": "c.txt", "limit": 1, "context": 1})).await;
    assert!(with_context.starts_with("c.txt-1- x\nc.txt:2: hit a\nc.txt-3- y\n\n[1 matches limit"), "{with_context}");
    let long = bench.call("grep", json!({"pattern": "needle"})).await;
    assert!(
        text(&long).contains(
            "\u{1f642}... [truncated]\n\n[Some lines truncated to 500 chars. Use read tool to see full lines]"
        )
    );
    assert_eq!(long.details.unwrap(), json!({"linesTruncated": true}));
    let many = bench.call("grep", json!({"pattern": "", "limit": 100_000, "path": "a.txt", "context": 3})).await;
    assert!(!many.is_error);
}

#[tokio::test]
async fn results_are_the_first_in_order_however_many_threads_search() {
    let bench = Bench::new();
    for folder in 0..20 {
        for file in 0..50 {
            bench.write(&format!("d{folder:02}/f{file:02}"), format!("hit {folder} {file}\nhit again\n"));
        }
    }
    let got = bench.ok("grep", json!({"pattern": "hit \\d", "limit": 120})).await;
    let lines: Vec<_> = got.lines().take(120).collect();
    for (index, line) in lines.iter().enumerate() {
        let (folder, file) = (index / 50, index % 50);
        assert_eq!(*line, format!("d{folder:02}/f{file:02}:1: hit {folder} {file}"));
    }
}

#[tokio::test]
async fn what_a_model_passes_is_never_an_option_fc_055() {
    let bench = Bench::new();
    bench.write("run.sh", format!("#!/bin/sh\ntouch {}\n", bench.path("marker").display()));
    bench.write("t.txt", "x --pre=./run.sh y\n");
    assert_eq!(
        bench.ok("grep", json!({"pattern": "--pre=./run.sh", "path": "."})).await,
        "t.txt:1: x --pre=./run.sh y"
    );
    assert_eq!(bench.ok("grep", json!({"pattern": "x", "glob": "--pre=./run.sh"})).await, "No matches found");
    let missing = bench.fails("grep", json!({"pattern": "x", "path": "--pre=./run.sh"})).await;
    assert!(missing.starts_with("Path not found: "), "{missing}");
    assert!(!bench.path("marker").exists());
}

#[tokio::test]
async fn ignore_files_hold_in_their_folder_and_links_are_not_followed_fc_056_fc_057() {
    let bench = Bench::new();
    bench.write("a/.gitignore", "secret.txt\n");
    bench.write("a/secret.txt", "needle\n");
    bench.write("b/secret.txt", "needle\n");
    symlink("..", bench.path("b/loop")).unwrap();
    symlink("/", bench.path("root")).unwrap();
    let grep = || bench.ok("grep", json!({"pattern": "needle"}));
    assert_eq!(grep().await, "a/secret.txt:1: needle\nb/secret.txt:1: needle", "outside a repository");
    bench.write(".git/config", "needle\n");
    assert_eq!(grep().await, "b/secret.txt:1: needle");
    bench.write("b/.ignore", "*.txt\n");
    assert_eq!(grep().await, "No matches found");
}

#[tokio::test]
async fn what_cannot_be_searched_is_told() {
    let bench = Bench::new();
    bench.write("a.txt", "x\n");
    assert_eq!(
        bench.fails("grep", json!({"pattern": "x", "path": "nowhere"})).await,
        format!("Path not found: {}", bench.path("nowhere").display())
    );
    let regex = bench.fails("grep", json!({"pattern": "(x"})).await;
    assert_eq!(
        regex,
        "Invalid regular expression \"(x\": regex parse error:\n    (x\n    ^\nerror: unclosed group. To search for it as \
         plain text, set literal to true."
    );
    for (pattern, literal) in [("a\\nb", false), ("a\nb", false), ("a\nb", true)] {
        let lines = bench.fails("grep", json!({"pattern": pattern, "literal": literal})).await;
        assert!(
            lines.ends_with("It has a line break, but lines are searched one by one. Search for one of its lines.")
        );
    }
    assert!(bench.fails("grep", json!({"pattern": "x", "glob": "[x"})).await.starts_with("Invalid glob pattern"));
    assert!(bench.fails("grep", json!({"pattern": "x", "path": "/dev/zero"})).await.starts_with("Not a file"));
    bench.cancel.cancel();
    assert_eq!(bench.fails("grep", json!({"pattern": "x"})).await, "Operation aborted");
}

#[tokio::test]
async fn what_follows_the_last_match_is_shown_also_where_it_matches() {
    let bench = Bench::new();
    bench.write("a", (1..=9).map(|n| format!("l{n}\n")).collect::<String>());
    bench.write("b", "l\n");
    let table = [
        (json!({"pattern": "l5|l6|l9", "limit": 1, "context": 2}), "a-3- l3\na-4- l4\na:5: l5\na-6- l6\na-7- l7", true),
        (json!({"pattern": "l", "limit": 2, "context": 3}), "a:1: l1\na:2: l2\na-3- l3\na-4- l4\na-5- l5", true),
        (json!({"pattern": "l9", "limit": 1, "context": 1}), "a-8- l8\na:9: l9", false),
        (json!({"pattern": "l9|l$", "limit": 1, "context": 1}), "a-8- l8\na:9: l9", true),
        (json!({"pattern": "l5|l8", "limit": 1, "context": 1}), "a-4- l4\na:5: l5\na-6- l6", true),
        (json!({"pattern": "l8|l9", "limit": 2, "context": 0}), "a:8: l8\na:9: l9", false),
    ];
    for (arguments, wanted, more) in table {
        let got = bench.ok("grep", arguments.clone()).await;
        assert_eq!(got.split("\n\n[").next().unwrap(), wanted, "{arguments}");
        assert_eq!(got.contains("matches limit reached"), more, "{arguments}");
    }
}

#[tokio::test]
async fn lines_that_no_memory_should_hold_are_left_out_and_told_of() {
    let bench = Bench::new();
    let long = std::fs::File::create(bench.path("long")).unwrap();
    std::io::Write::write_all(&mut &long, &vec![b'x'; 33 << 20]).unwrap();
    bench.write("short", "an x\n");
    let found = bench.call("grep", json!({"pattern": "an x|xyz"})).await;
    let notice = "[1 files were not searched, since they have extremely long lines]";
    assert_eq!(text(&found), format!("short:1: an x\n\n{notice}"));
    assert_eq!(found.details.unwrap(), json!({"filesNotSearched": 1}));
    assert_eq!(bench.ok("grep", json!({"pattern": "xyz"})).await, format!("No matches found\n\n{notice}"));
}
