use proptest::prelude::*;
use serde_json::json;

use crate::{
    protocol::Block,
    tools::testing::{Bench, text},
};

fn lines(range: std::ops::RangeInclusive<usize>) -> String {
    range.map(|n| format!("line {n}\n")).collect()
}

#[tokio::test]
async fn long_files_come_in_parts_that_say_how_to_go_on() {
    let bench = Bench::new();
    bench.write("f.txt", lines(1..=3000));
    bench.write("wide.txt", "w".repeat(60_000));
    bench.write("e.txt", "");
    bench.write("two.txt", "a\nb");
    bench.write("b.txt", format!("{}\n", "x".repeat(99)).repeat(1000));
    let whole = bench.call("read", json!({"path": "f.txt"})).await;
    let notice = "\n[Showing lines 1-2000 of 3001. Use offset=2001 to continue.]";
    assert_eq!(text(&whole), lines(1..=2000) + notice);
    assert_eq!(whole.details.unwrap()["truncation"]["truncatedBy"], "lines");
    assert_eq!(whole.structured_content.unwrap(), json!(lines(1..=2000) + notice));
    let slice = bench.call("read", json!({"path": "f.txt", "offset": 5, "limit": 2})).await;
    assert_eq!(text(&slice), "line 5\nline 6\n\n[2995 more lines in file. Use offset=7 to continue.]");
    assert_eq!(slice.details, None);
    assert_eq!(
        bench.fails("read", json!({"path": "f.txt", "offset": 4000})).await,
        "Offset 4000 is beyond end of file (3001 lines total)"
    );
    assert_eq!(
        bench.ok("read", json!({"path": "wide.txt"})).await,
        "[Line 1 is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '1p' wide.txt | head -c 51200]"
    );
    assert_eq!(bench.ok("read", json!({"path": "e.txt"})).await, "");
    assert_eq!(bench.ok("read", json!({"path": "two.txt"})).await, "a\nb");
    let end = bench.ok("read", json!({"path": "f.txt", "offset": 2990})).await;
    assert_eq!(end, lines(2990..=3000));
    let by_bytes = bench.call("read", json!({"path": "b.txt"})).await;
    assert!(text(&by_bytes).ends_with("\n\n[Showing lines 1-512 of 1001 (50.0KB limit). Use offset=513 to continue.]"));
    assert_eq!(by_bytes.details.unwrap()["truncation"]["totalLines"], 1000);
}

#[tokio::test]
async fn odd_offsets_and_limits_slice_as_lists_do() {
    let bench = Bench::new();
    bench.write("f", "a\nb\nc\nd");
    let table = [
        (json!({"limit": -1}), "a\nb\nc"),
        (json!({"limit": -1, "offset": 3}), "\n\n[2 more lines in file. Use offset=3 to continue.]"),
        (json!({"limit": 0}), "\n\n[4 more lines in file. Use offset=1 to continue.]"),
        (json!({"offset": 2.5}), "b\nc\nd"),
        (json!({"offset": 0}), "a\nb\nc\nd"),
        (json!({"offset": -7, "limit": 1.9}), "a\n\n[3 more lines in file. Use offset=2 to continue.]"),
        (json!({"offset": "4"}), "d"),
    ];
    for (mut arguments, wanted) in table {
        arguments["path"] = json!("f");
        let got = bench.ok("read", arguments.clone()).await;
        assert!(got == wanted || got.split("\n\n[").next() == Some(wanted), "{arguments} {got:?}");
    }
}

#[tokio::test]
async fn characters_are_kept_and_what_is_no_text_is_replaced() {
    let bench = Bench::new();
    bench.write("c.txt", "\u{feff}a\r\nb\rc\n");
    bench.write("l.txt", b"caf\xc3\xa9 \xe9\xc3\xa9\n");
    bench.write("binary", b"\x7fELF\x02\0\0\x01\xe9\xff");
    bench.write("fake.png", "just text");
    bench.write("zero.png", "");
    assert_eq!(bench.ok("read", json!({"path": "c.txt"})).await, "\u{feff}a\r\nb\rc\n");
    assert_eq!(bench.ok("read", json!({"path": "l.txt"})).await, "caf\u{e9} \u{fffd}\u{e9}\n");
    assert_eq!(bench.ok("read", json!({"path": "binary"})).await, "\u{7f}ELF\u{2}\0\0\u{1}\u{fffd}\u{fffd}");
    assert_eq!(bench.ok("read", json!({"path": "fake.png"})).await, "just text");
    assert_eq!(bench.ok("read", json!({"path": "zero.png"})).await, "");
}

#[tokio::test]
async fn paths_and_names_that_models_write_are_found_fc_053() {
    let bench = Bench::new();
    bench.write("a.txt", "AA");
    bench.write("sub/b b.txt", "BB");
    bench.write("Shot 2031-01-02 at 4.05.06\u{202f}PM.txt", "shot");
    let url = format!("file://{}/sub/b%20b.txt", bench.root().display());
    let table = [
        ("@a.txt", "AA"),
        ("./sub/../a.txt", "AA"),
        (url.as_str(), "BB"),
        ("sub/b\u{a0}b.txt", "BB"),
        ("Shot 2031-01-02 at 4.05.06 PM.txt", "shot"),
        ("Shot 2031-01-02 at 4.05.06\u{202f}PM.txt", "shot"),
    ];
    for (path, wanted) in table {
        assert_eq!(bench.ok("read", json!({"path": path})).await, wanted, "{path}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_at_once_fc_054() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("d")).unwrap();
    let pipe = bench.path("p");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let missing = bench.path("none.txt");
    assert_eq!(
        bench.fails("read", json!({"path": "none.txt"})).await,
        format!("ENOENT: no such file or directory, access '{}'", missing.display())
    );
    assert!(bench.fails("read", json!({"path": "d"})).await.starts_with("EISDIR: "));
    assert!(bench.fails("read", json!({"path": "p"})).await.starts_with("not a regular file but a named pipe"));
    assert!(bench.fails("read", json!({"path": "/dev/zero"})).await.starts_with("not a regular file but a device"));
    bench.cancel.cancel();
    bench.write("a.txt", "AA");
    assert_eq!(bench.fails("read", json!({"path": "a.txt"})).await, "Operation aborted");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn files_of_the_kernel_and_endless_ones_are_read_to_a_bound_fc_054() {
    let bench = Bench::new();
    assert!(!bench.ok("read", json!({"path": "/proc/cpuinfo", "limit": 1})).await.is_empty());
    // Whatever it says: it must not wait for the kernel's next message.
    let _ = bench.call("read", json!({"path": "/proc/kmsg"})).await;
    let _socket = std::os::unix::net::UnixListener::bind(bench.path("s")).unwrap();
    assert!(bench.fails("read", json!({"path": "s"})).await.starts_with("not a regular file but a socket"));
    let sparse = std::fs::File::create(bench.path("sparse")).unwrap();
    sparse.set_len(100 << 30).unwrap();
    let line = bench.ok("read", json!({"path": "sparse"})).await;
    assert!(line.starts_with("[Line 1 is more than 4.1MB, exceeds 50.0KB limit."), "{line}");
    let refused = bench.fails("edit", json!({"path": "sparse", "edits": [{"oldText": "a", "newText": "b"}]})).await;
    assert!(refused.starts_with("Could not edit file: sparse. It has 102400.0MB, and edit takes"), "{refused}");
    bench.write("long", "a line\n".repeat(1 << 20));
    let counted = bench.ok("read", json!({"path": "long"})).await;
    assert!(
        counted.ends_with(" of more than 608549. Use offset=2001 to continue.]"),
        "{}",
        &counted[counted.len() - 90..]
    );
    let more = bench.ok("read", json!({"path": "long", "limit": 2})).await;
    assert!(more.ends_with("[more than 608547 more lines in file. Use offset=3 to continue.]"), "{more}");
    let last = bench.ok("read", json!({"path": "long", "offset": 1 << 20})).await;
    assert_eq!(last, "a line\n");
    bench.ok("write", json!({"path": "sparse", "content": "small"})).await;
    assert_eq!(bench.read("sparse"), b"small");
}

fn picture(width: u32, format: image::ImageFormat) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(width, 20).write_to(&mut file, format).unwrap();
    file.into_inner()
}

fn png(width: u32) -> Vec<u8> {
    picture(width, image::ImageFormat::Png)
}

#[tokio::test]
async fn fc_038_pictures_come_as_pictures_where_the_model_takes_them_and_limits_hold_for_base64() {
    let mut bench = Bench::new();
    bench.write("p.dat", png(5));
    bench.write("wide.png", png(2001));
    bench.write("heavy.png", [png(5), vec![0; 3_600_000]].concat());
    bench.facts.model = Some(("mock".into(), "m1".into()));
    bench.facts.takes_images = true;
    bench.facts.pictures.auto_resize = false;
    let shown = bench.call("read", json!({"path": "p.dat"})).await;
    assert_eq!(text(&shown), "Read image file [image/png]");
    let [_, Block::Image(image)] = shown.content.as_slice() else { panic!("{shown:?}") };
    assert_eq!((image.mime_type.as_str(), shown.details), ("image/png", None));
    assert_eq!(shown.structured_content.unwrap()["data"], json!(image.data));
    for (path, reason) in [("wide.png", "2001x20 pixels"), ("heavy.png", "3.4MB")] {
        let omitted = bench.call("read", json!({"path": path})).await;
        assert_eq!(omitted.content.len(), 1);
        assert!(
            text(&omitted).contains("[Image omitted: it is too large") && text(&omitted).contains(reason),
            "{omitted:?}"
        );
    }
    bench.facts.takes_images = false;
    let unseen = bench.call("read", json!({"path": "p.dat"})).await;
    assert_eq!(unseen.details.unwrap(), json!({"imageUnsupportedByModel": "m1"}));
    bench.facts.block_images = true;
    let blocked = bench.call("read", json!({"path": "p.dat"})).await;
    assert_eq!((blocked.content.len(), text(&blocked).contains("disabled")), (1, true));
}

#[tokio::test]
async fn fc_038_pictures_that_are_too_large_are_made_smaller_and_damaged_ones_are_told_of() {
    let mut bench = Bench::new();
    bench.write("p.bmp", picture(40, image::ImageFormat::Bmp));
    bench.write("damaged.png", &png(9)[..60]);
    bench.facts.pictures.max_width = 10;
    let shown = bench.call("read", json!({"path": "p.bmp"})).await;
    let note = "Read image file [image/png]\n[Picture converted from image/bmp to image/png.]\n[Picture scaled from 40x20 \
                to 10x5 pixels: multiply coordinates by 4.00 to find them in the original.]";
    assert_eq!(text(&shown), note);
    let [_, Block::Image(image)] = shown.content.as_slice() else { panic!("{shown:?}") };
    assert_eq!(image.mime_type, "image/png");
    let damaged = bench.call("read", json!({"path": "damaged.png"})).await;
    assert_eq!(damaged.content.len(), 1);
    assert!(text(&damaged).contains("[image/png]\n[Image omitted: it cannot be decoded ("), "{damaged:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn reads_that_go_on_where_the_last_one_ended_give_the_whole_file(
        lines in prop::collection::vec(("[a-z\u{e9}\u{1f642}\r \u{feff}]{0,12}", 1usize..900), 0..250),
        limit in prop::option::of(1usize..120),
        ends in any::<bool>(),
    ) {
        let mut file = lines.iter().map(|(word, times)| word.repeat(*times)).collect::<Vec<_>>().join("\n");
        if ends {
            file.push('\n');
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let bench = Bench::new();
        bench.write("f", &file);
        let mut read = String::new();
        let mut offset = 1;
        loop {
            let part = runtime.block_on(bench.ok("read", json!({"path": "f", "offset": offset, "limit": limit})));
            match part.rsplit_once("\n\n[") {
                Some((text, notice)) => {
                    read.push_str(text);
                    read.push('\n');
                    let next = notice.split("offset=").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
                    assert!(next > offset);
                    offset = next;
                }
                None => {
                    read.push_str(&part);
                    break;
                }
            }
        }
        prop_assert!(read == file, "{} bytes are {}", file.len(), read.len());
    }
}
