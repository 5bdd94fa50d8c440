use encoding_rs::{
    BIG5, EUC_KR, GBK, ISO_8859_2, KOI8_U, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253,
};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tools::testing::{Bench, text};

const UTF_16: [TextEncoding; 4] = [
    TextEncoding::Utf16 { order: ByteOrder::Little, marked: true },
    TextEncoding::Utf16 { order: ByteOrder::Big, marked: true },
    TextEncoding::Utf16 { order: ByteOrder::Little, marked: false },
    TextEncoding::Utf16 { order: ByteOrder::Big, marked: false },
];

const LEGACY: [&Encoding; 10] =
    [WINDOWS_1252, WINDOWS_1251, WINDOWS_1250, WINDOWS_1253, ISO_8859_2, KOI8_U, SHIFT_JIS, GBK, BIG5, EUC_KR];

fn encoded(encoding: TextEncoding, text: &str) -> Vec<u8> {
    encoding.encode(text.as_bytes().to_vec()).unwrap()
}

#[test]
fn encodings_are_known_by_what_the_files_hold() {
    let french = "Le caf\u{e9} est d\u{e9}j\u{e0} ferm\u{e9} \u{2013} o\u{f9} aller\u{a0}?\r\n";
    let russian = "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{43c}\u{438}\u{440}! \u{42d}\u{442}\u{43e} \u{442}\u{435}\u{43a}\u{441}\u{442}.\n";
    let japanese = "\u{3053}\u{308c}\u{306f}\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{6587}\u{7ae0}\u{3067}\u{3059}\u{3002}\n";
    let legacy = [(WINDOWS_1252, french), (WINDOWS_1251, russian), (KOI8_U, russian), (SHIFT_JIS, japanese)];
    let table = legacy
        .map(|(encoding, text)| (TextEncoding::Legacy(encoding), text))
        .into_iter()
        .chain(
            ["caf\u{e9} \u{e0}\n", "na\u{ef}vet\u{e9}", "\u{a3}5 or \u{a3}6", "\u{ab}oui\u{bb}", "\u{153}uvre \u{e9}"]
                .map(|text| (TextEncoding::Legacy(WINDOWS_1252), text)),
        )
        .chain([(
            TextEncoding::Legacy(WINDOWS_1250),
            "za\u{17c}\u{f3}\u{142}\u{107} g\u{119}\u{15b}l\u{105} ja\u{17a}\u{144}",
        )])
        .chain(UTF_16.map(|encoding| (encoding, "using X;\r\n// caf\u{e9} \u{1f642}\n")))
        .chain(UTF_16[..2].iter().flat_map(|encoding| [(*encoding, russian), (*encoding, "")]));
    for (encoding, text) in table {
        let bytes = encoded(encoding, text);
        let decoded = Decoded::new(&bytes);
        assert_eq!((decoded.encoding, decoded.utf8.as_ref()), (encoding, text.as_bytes()), "{encoding}: {text}");
    }
}

#[test]
fn utf_8_damaged_or_not_and_what_is_no_text_stay_as_they_are() {
    let table: &[&[u8]] = &[
        b"",
        b"plain\r\ntext\n",
        b"caf\xe9\n",
        b"\xef\xbb\xbfcaf\xc3\xa9",
        b"mostly caf\xc3\xa9, na\xc3\xafve, one stray \xe9\n",
        b"cut in a character: \xc3\xa9\xc3\xa9\xe2\x82",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\xff\xe9",
        b"caf\xe9\0",
        b"\x01\x02\x03\xe9 control characters",
        // Halves of pairs, a lone NUL, an odd length: not UTF-16.
        b"\xff\xfea\0\0\xd8b\0",
        b"\xff\xfea\0\0\0",
        b"\xff\xfea\0b",
        b"a\0b\0",
        b"\x01\0\x02\0\x03\0\x04\0\x05\0",
        // UTF-32.
        b"\xff\xfe\0\0a\0\0\0b\0\0\0",
    ];
    for bytes in table {
        let decoded = Decoded::new(bytes);
        assert_eq!(
            decoded,
            Decoded { encoding: TextEncoding::Utf8, utf8: (*bytes).into() },
            "{}",
            bytes.escape_ascii()
        );
    }
}

#[test]
fn what_an_encoding_does_not_have_is_named_with_its_line() {
    let encoding = TextEncoding::Legacy(WINDOWS_1252);
    let error = encoding.encode("caf\u{e9}\nb\n\u{e9} \u{2192}\n".into()).unwrap_err();
    assert_eq!(error, Unencodable { encoding, character: '\u{2192}', line: 3 });
    let words = error.failure("f.txt").to_string();
    assert!(words.starts_with("f.txt is in windows-1252, which has no '\u{2192}' (U+2192, line 3 of the new text)"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn files_that_nobody_edits_stay_as_they_are(
        pieces in proptest::collection::vec(("[ -~]{0,9}|\\PC{0,4}|[\u{a0}-\u{45f}]{1,5}|[\u{3041}-\u{9fff}]{1,5}", "\r\n|\n|\r|"), 0..12),
        mark in any::<bool>(),
    ) {
        let text: String = pieces.into_iter().flat_map(|(line, end)| [line, end]).collect();
        let marked = format!("{}{text}", if mark { "\u{feff}" } else { "" });
        for encoding in UTF_16.into_iter().chain([TextEncoding::Utf8]).chain(LEGACY.map(TextEncoding::Legacy)) {
            let held: String = match encoding {
                TextEncoding::Legacy(_) => text.chars().filter(|c| encoding.encode(c.to_string().into()).is_ok()).collect(),
                _ => marked.clone(),
            };
            let bytes = encoded(encoding, &held);
            if let Some(decoded) = encoding.decode(&bytes) {
                prop_assert_eq!(&encoded(encoding, &decoded), &bytes, "{}", encoding);
            } else {
                prop_assert!(matches!(encoding, TextEncoding::Legacy(_)), "{}", encoding);
            }
            let detected = Decoded::new(&bytes);
            prop_assert_eq!(detected.encoding.encode(detected.utf8.into_owned()).unwrap(), bytes, "{}", encoding);
        }
    }

    #[test]
    fn any_bytes_stay_as_they_are(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let Decoded { encoding, utf8 } = Decoded::new(&bytes);
        prop_assert_eq!(encoding.encode(utf8.into_owned()).unwrap(), bytes);
    }

    #[test]
    fn what_is_plain_does_not_depend_on_the_pieces(
        text in "[a\u{e9}\u{20ac}\u{1f642}]{0,9}", cut in 0..40_usize, bad in any::<Option<u8>>(), size in 1..5_usize,
    ) {
        let mut bytes = text.into_bytes();
        bytes.truncate(cut);
        bytes.extend(bad);
        let mut check = PlainCheck::default();
        bytes.chunks(size).for_each(|piece| check.push(piece));
        prop_assert_eq!(check.is_plain(), std::str::from_utf8(&bytes).is_ok() && !bytes.contains(&0));
    }
}

#[tokio::test]
async fn files_in_other_encodings_are_read_edited_and_written_as_they_are_fc_046_fc_047() {
    let bench = Bench::new();
    let encodings = UTF_16.into_iter().chain([TextEncoding::Legacy(WINDOWS_1252)]);
    for (number, encoding) in encodings.enumerate() {
        let name = format!("f{number}.cs");
        bench.write(&name, encoded(encoding, "using X;\r\n// d\u{e9}j\u{e0} vu\nlast\r\n"));
        let read = bench.call("read", json!({"path": name, "limit": -2})).await;
        let shown = text(&read);
        let guess = if matches!(encoding, TextEncoding::Legacy(_)) { " (guessed from its bytes)" } else { "" };
        let note = format!("\n\n[File encoding: {encoding}{guess}. It stays so when edit or write change the file.]");
        assert!(shown.starts_with("using X;\r\n// d\u{e9}j\u{e0} vu\n\n[2 more lines"), "{encoding}: {shown}");
        assert!(shown.ends_with(&note), "{encoding}: {shown}");
        assert_eq!(read.details.unwrap(), json!({"encoding": encoding.to_string()}));
        let edits = json!([{"oldText": "X;\n// d\u{e9}j\u{e0}", "newText": "Y;\nnew\n// d\u{e9}j\u{e0}"}]);
        let edited = bench.call("edit", json!({"path": name, "edits": edits})).await;
        let told = format!("Successfully replaced 1 block(s) in {name}. The file stays in {encoding}.");
        assert_eq!(text(&edited), told);
        let wanted = "using Y;\r\nnew\r\n// d\u{e9}j\u{e0} vu\nlast\r\n";
        assert_eq!(bench.read(&name), encoded(encoding, wanted), "{encoding}");
        let write = bench.ok("write", json!({"path": name, "content": "tr\u{e8}s bien, d\u{e9}j\u{e0}\n"})).await;
        assert_eq!(write, format!("Successfully wrote to {name}. The file stays in {encoding}."));
        assert_eq!(bench.read(&name), encoded(encoding, "tr\u{e8}s bien, d\u{e9}j\u{e0}\n"), "{encoding}");
    }
}

#[tokio::test]
async fn nothing_is_written_that_the_file_s_encoding_does_not_have() {
    let bench = Bench::new();
    let content = b"d\xe9j\xe0 vu\nold\n";
    bench.write("f", content);
    let calls = [
        ("edit", json!({"path": "f", "edits": [{"oldText": "old", "newText": "\u{2192}"}]}), 2),
        ("write", json!({"path": "f", "content": "\u{2192}"}), 1),
    ];
    for (tool, arguments, line) in calls {
        let refused = bench.fails(tool, arguments).await;
        let words =
            format!("f is in windows-1252, which has no '\u{2192}' (U+2192, line {line} of the new text), so nothing");
        assert!(refused.starts_with(&words), "{refused}");
        assert_eq!(bench.read("f"), content);
    }
}

#[tokio::test]
async fn counts_are_those_of_the_text() {
    let bench = Bench::new();
    let lines: String = (1..=3000).map(|n| format!("line {n}\n")).collect();
    bench.write("f", encoded(UTF_16[0], &lines));
    bench.write("plain", &lines);
    let mut details = bench.call("read", json!({"path": "f"})).await.details.unwrap();
    assert_eq!(details["encoding"], "UTF-16LE");
    details.as_object_mut().unwrap().remove("encoding");
    assert_eq!(details, bench.call("read", json!({"path": "plain"})).await.details.unwrap());
}

#[tokio::test]
async fn searches_find_text_in_utf_16_with_a_mark() {
    let bench = Bench::new();
    for (name, encoding) in [("be", UTF_16[1]), ("le", UTF_16[0])] {
        bench.write(name, encoded(encoding, "one\r\nd\u{e9}j\u{e0} vu\r\n"));
    }
    let found = bench.ok("grep", json!({"pattern": "d\u{e9}j\u{e0}"})).await;
    assert_eq!(found, "be:2: d\u{e9}j\u{e0} vu\nle:2: d\u{e9}j\u{e0} vu");
}
