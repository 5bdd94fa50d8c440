//! What comments, texts and words look like in each language.

use std::path::Path;

/// A form of text: what it begins and ends with.
#[derive(Clone, Copy, Debug)]
pub struct Quote {
    /// Its first characters.
    pub open: &'static str,
    /// Its last characters.
    pub close: &'static str,
    /// Whether a backslash takes the next character's meaning.
    pub escapes: bool,
    /// Whether it may go on in the next line.
    pub lines: bool,
}

/// How names and words are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Most languages: a word before `(` is a function.
    Code,
    /// `key: value` and `key = value`.
    Keys,
    /// A shell: `$name`, `#` only where a word begins, the first word of a command.
    Shell,
    /// Tags and attributes.
    Tags,
    /// Selectors and properties.
    Style,
    /// Lines that came and went.
    Diff,
}

/// A language.
#[derive(Debug)]
pub struct Language {
    /// Its names behind a fence, and the endings of its files.
    pub names: &'static [&'static str],
    /// How words are read.
    pub flavour: Flavour,
    /// What begins a comment to the end of the line.
    pub line_comments: &'static [&'static str],
    /// What begins and ends a comment.
    pub block_comments: &'static [(&'static str, &'static str)],
    /// Forms of text, the longest beginning first.
    pub quotes: &'static [Quote],
    /// Whether `'` may also begin something else than a character: a lifetime.
    pub lifetimes: bool,
    /// Words of the language, between blanks.
    pub keywords: &'static str,
    /// Words that are values, between blanks.
    pub values: &'static str,
    /// Words that are types, between blanks.
    pub types: &'static str,
    /// Whether a name with a capital is a type.
    pub capital_types: bool,
    /// Whether the case of words matters.
    pub case: bool,
}

const fn quote(open: &'static str, close: &'static str, escapes: bool, lines: bool) -> Quote {
    Quote { open, close, escapes, lines }
}

const DOUBLE: Quote = quote("\"", "\"", true, false);
const SINGLE: Quote = quote("'", "'", true, false);
const DOUBLE_LINES: Quote = quote("\"", "\"", true, true);
const SINGLE_RAW_LINES: Quote = quote("'", "'", false, true);
const BACKTICK_LINES: Quote = quote("`", "`", true, true);
const BACKTICK_RAW: Quote = quote("`", "`", false, true);
const TRIPLE_DOUBLE: Quote = quote("\"\"\"", "\"\"\"", true, true);
const TRIPLE_SINGLE: Quote = quote("'''", "'''", true, true);
const C_COMMENT: &[(&str, &str)] = &[("/*", "*/")];

/// What most languages have in common.
const BASE: Language = Language {
    names: &[],
    flavour: Flavour::Code,
    line_comments: &["//"],
    block_comments: C_COMMENT,
    quotes: &[DOUBLE, SINGLE],
    lifetimes: false,
    keywords: "",
    values: "true false null",
    types: "",
    capital_types: true,
    case: true,
};

const C_WORDS: &str = "if else for while do switch case default break continue return goto sizeof typedef struct union \
    enum static extern const volatile inline register restrict auto class public private protected virtual override \
    final namespace using template typename new delete this throw try catch noexcept constexpr operator friend explicit \
    mutable co_await co_return co_yield concept requires #include #define #if #ifdef #ifndef #else #elif #endif #pragma";

/// All languages that are known.
static LANGUAGES: [Language; 27] = [
    Language {
        names: &["rust", "rs"],
        quotes: &[DOUBLE_LINES],
        lifetimes: true,
        keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod \
                   move mut pub ref return self static struct super trait type unsafe use where while yield macro_rules",
        values: "true false None Some Ok Err",
        types: "bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 Self",
        ..BASE
    },
    Language {
        names: &["python", "py", "pyi", "python3"],
        line_comments: &["#"],
        block_comments: &[],
        quotes: &[TRIPLE_DOUBLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        keywords: "and as assert async await break case class continue def del elif else except finally for from global \
                   if import in is lambda match nonlocal not or pass raise return try while with yield",
        values: "True False None",
        types: "int str float bool bytes list dict set tuple object type self cls",
        ..BASE
    },
    Language {
        names: &["typescript", "ts", "tsx", "javascript", "js", "jsx", "mjs", "cjs", "mts", "cts"],
        quotes: &[BACKTICK_LINES, DOUBLE, SINGLE],
        keywords: "abstract as async await break case catch class const continue debugger declare default delete do else \
                   enum export extends finally for from function get if implements import in instanceof interface is \
                   keyof let namespace new of private protected public readonly return satisfies set static super \
                   switch this throw try type typeof var void while with yield",
        values: "true false null undefined NaN Infinity",
        types: "any bigint boolean never number object string symbol unknown",
        ..BASE
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl", "ndjson"],
        flavour: Flavour::Keys,
        quotes: &[DOUBLE],
        capital_types: false,
        ..BASE
    },
    Language {
        names: &["toml", "ini", "cfg", "conf", "properties", "env", "editorconfig", "gitconfig"],
        flavour: Flavour::Keys,
        line_comments: &["#", ";"],
        block_comments: &[],
        quotes: &[TRIPLE_DOUBLE, quote("'''", "'''", false, true), DOUBLE, quote("'", "'", false, false)],
        capital_types: false,
        ..BASE
    },
    Language {
        names: &["yaml", "yml"],
        flavour: Flavour::Keys,
        line_comments: &["#"],
        block_comments: &[],
        quotes: &[DOUBLE_LINES, SINGLE],
        values: "true false null yes no on off",
        capital_types: false,
        ..BASE
    },
    Language {
        names: &["bash", "sh", "shell", "zsh", "console", "shellscript", "bashrc", "zshrc", "profile"],
        flavour: Flavour::Shell,
        line_comments: &["#"],
        block_comments: &[],
        quotes: &[DOUBLE_LINES, SINGLE_RAW_LINES],
        keywords: "if then else elif fi for while until do done case esac in function select time return exit break \
                   continue local export readonly declare set unset shift trap source alias eval exec",
        values: "true false",
        capital_types: false,
        ..BASE
    },
    Language {
        names: &["c", "h", "cpp", "cc", "cxx", "hpp", "hh", "c++", "objc", "m", "ino", "cu"],
        keywords: C_WORDS,
        values: "true false NULL nullptr",
        types: "int char void long short float double signed unsigned bool size_t ssize_t uint8_t uint16_t uint32_t \
                uint64_t int8_t int16_t int32_t int64_t wchar_t auto",
        ..BASE
    },
    Language {
        names: &["go"],
        quotes: &[BACKTICK_RAW, DOUBLE, SINGLE],
        keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface \
                   map package range return select struct switch type var",
        values: "true false nil iota",
        types: "bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 \
                uint16 uint32 uint64 uintptr any",
        ..BASE
    },
    Language {
        names: &["java", "kotlin", "kt", "kts", "scala", "groovy", "gradle"],
        quotes: &[TRIPLE_DOUBLE, DOUBLE, SINGLE],
        keywords: "abstract as assert break by case catch class companion const continue data def default do else enum \
                   extends final finally for fun if implements import in init instanceof interface internal is lateinit \
                   match native new object open operator out override package private protected public return sealed \
                   static super suspend switch synchronized this throw throws trait transient try typealias val var \
                   volatile when where while with yield record",
        types: "boolean byte char double float int long short void",
        ..BASE
    },
    Language {
        names: &["csharp", "cs", "c#", "fsharp", "fs"],
        quotes: &[TRIPLE_DOUBLE, DOUBLE, SINGLE],
        keywords: "abstract as async await base break case catch checked class const continue default delegate do else \
                   enum event explicit extern finally fixed for foreach get if implicit in init interface internal is \
                   let lock match module mutable namespace new of open operator out override params partial private \
                   protected public readonly record ref return sealed set sizeof static struct switch this throw try \
                   type typeof unsafe using var virtual when where while with yield",
        types: "bool byte char decimal double dynamic float int long object short string uint ulong void",
        ..BASE
    },
    Language {
        names: &["swift"],
        quotes: &[TRIPLE_DOUBLE, DOUBLE],
        keywords: "as associatedtype async await break case catch class continue default defer deinit do else enum \
                   extension fallthrough fileprivate final for func guard if import in indirect init inout internal is \
                   lazy let mutating open operator override private protocol public repeat required rethrows return \
                   self static struct subscript super switch throw throws try typealias var weak where while",
        values: "true false nil",
        ..BASE
    },
    Language {
        names: &["ruby", "rb", "rake", "gemspec"],
        line_comments: &["#"],
        block_comments: &[("=begin", "=end")],
        quotes: &[DOUBLE_LINES, quote("'", "'", true, true)],
        keywords: "alias and begin break case class def do else elsif end ensure for if in module next not or private \
                   protected public redo require require_relative rescue retry return self super then undef unless \
                   until when while yield attr_accessor attr_reader include extend",
        values: "true false nil",
        ..BASE
    },
    Language {
        names: &["php"],
        line_comments: &["//", "#"],
        quotes: &[DOUBLE_LINES, quote("'", "'", true, true)],
        keywords: "abstract and as break case catch class clone const continue declare default do echo else elseif enum \
                   extends final finally fn for foreach function global if implements include include_once instanceof \
                   interface match namespace new or print private protected public readonly require require_once return \
                   static switch throw trait try use var while yield",
        types: "array bool callable float int iterable mixed object string void",
        ..BASE
    },
    Language {
        names: &["sql", "psql", "mysql", "sqlite"],
        line_comments: &["--"],
        quotes: &[SINGLE_RAW_LINES, quote("\"", "\"", false, false)],
        keywords: "add all alter and as asc begin between by cascade case check commit constraint create cross database \
                   default delete desc distinct drop else end exists explain foreign from full group having if in index \
                   inner insert into is join key left like limit natural not offset on or order outer primary references \
                   returning right rollback select set table then transaction trigger union unique update using values \
                   view when where with",
        types: "bigint blob boolean char date decimal double float int integer json numeric real serial smallint text \
                time timestamp uuid varchar",
        capital_types: false,
        case: false,
        ..BASE
    },
    Language {
        names: &["html", "htm", "xml", "svg", "vue", "svelte", "xhtml", "plist", "xsl"],
        flavour: Flavour::Tags,
        line_comments: &[],
        block_comments: &[("<!--", "-->")],
        quotes: &[quote("\"", "\"", false, true), quote("'", "'", false, true)],
        values: "",
        capital_types: false,
        ..BASE
    },
    Language {
        names: &["css", "scss", "sass", "less"],
        flavour: Flavour::Style,
        line_comments: &[],
        keywords: "@media @import @keyframes @font-face @supports @layer @container @use @include @mixin !important",
        values: "auto none inherit initial unset",
        capital_types: false,
        ..BASE
    },
    Language {
        names: &["diff", "patch"],
        flavour: Flavour::Diff,
        line_comments: &[],
        block_comments: &[],
        quotes: &[],
        values: "",
        capital_types: false,
        ..BASE
    },
    Language {
        names: &["lua"],
        line_comments: &["--"],
        block_comments: &[("--[[", "]]")],
        quotes: &[quote("[[", "]]", false, true), DOUBLE, SINGLE],
        keywords: "and break do else elseif end for function goto if in local not or repeat return then until while",
        values: "true false nil",
        ..BASE
    },
    Language {
        names: &["haskell", "hs", "elm", "purescript"],
        line_comments: &["--"],
        block_comments: &[("{-", "-}")],
        quotes: &[DOUBLE],
        lifetimes: true,
        keywords: "case class data default deriving do else foreign forall if import in infix infixl infixr instance let \
                   module newtype of qualified then type where",
        values: "True False Nothing Just",
        ..BASE
    },
    Language {
        names: &["dockerfile", "containerfile"],
        line_comments: &["#"],
        block_comments: &[],
        keywords: "add arg as cmd copy entrypoint env expose from healthcheck label onbuild run shell stopsignal user \
                   volume workdir",
        capital_types: false,
        case: false,
        ..BASE
    },
    Language {
        names: &["makefile", "make", "mk", "cmake", "just", "justfile"],
        flavour: Flavour::Shell,
        line_comments: &["#"],
        block_comments: &[],
        quotes: &[DOUBLE, SINGLE],
        keywords: "ifeq ifneq ifdef ifndef else endif include define endef export override .PHONY if elseif foreach \
                   endforeach function endfunction set",
        capital_types: false,
        ..BASE
    },
    Language {
        names: &["nix"],
        line_comments: &["#"],
        quotes: &[quote("''", "''", false, true), DOUBLE_LINES],
        keywords: "assert else if in inherit let or rec then with import",
        ..BASE
    },
    Language {
        names: &["zig"],
        block_comments: &[],
        keywords: "align and asm async await break catch comptime const continue defer else enum errdefer error export \
                   extern fn for if inline noalias or orelse packed pub resume return struct suspend switch test try \
                   union unreachable usingnamespace var volatile while",
        values: "true false null undefined",
        types: "bool u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 void type anytype",
        ..BASE
    },
    Language {
        names: &["elixir", "ex", "exs", "erlang", "erl"],
        line_comments: &["#"],
        block_comments: &[],
        quotes: &[TRIPLE_DOUBLE, DOUBLE_LINES, SINGLE],
        keywords: "after alias and case catch cond def defmacro defmodule defp defstruct do else end fn for if import in \
                   not or quote raise receive require rescue try unless unquote use when with",
        values: "true false nil",
        ..BASE
    },
    Language {
        names: &["proto", "protobuf", "graphql", "gql", "thrift"],
        line_comments: &["//", "#"],
        keywords: "enum extend extends fragment import input interface message mutation on oneof option optional package \
                   query repeated required reserved returns rpc scalar schema service subscription syntax type union",
        types: "bool bytes double fixed32 fixed64 float int32 int64 string uint32 uint64",
        ..BASE
    },
    Language {
        names: &["hcl", "terraform", "tf", "tfvars"],
        line_comments: &["#", "//"],
        quotes: &[DOUBLE],
        keywords: "data dynamic for for_each if in locals module output provider resource terraform variable",
        types: "any bool list map number object set string tuple",
        capital_types: false,
        ..BASE
    },
];

/// Whole names of files without an ending that tells.
const FILES: [(&str, &str); 9] = [
    ("dockerfile", "dockerfile"),
    ("containerfile", "dockerfile"),
    ("makefile", "makefile"),
    ("justfile", "makefile"),
    ("cmakelists.txt", "cmake"),
    ("gemfile", "ruby"),
    ("rakefile", "ruby"),
    ("cargo.lock", "toml"),
    (".gitignore", "sh"),
];

/// All languages.
pub fn all() -> impl Iterator<Item = &'static Language> {
    LANGUAGES.iter()
}

impl Language {
    /// The language of that name, as it stands behind a fence. Case does not matter.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.trim().to_ascii_lowercase();
        LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()))
    }

    /// The language of a file, by its name.
    #[must_use]
    pub fn of_file(path: &str) -> Option<&'static Self> {
        let path = Path::new(path);
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let whole = FILES.iter().find(|(file, _)| *file == name).map(|(_, language)| *language);
        let ending = || name.rsplit_once('.').map(|(_, ending)| ending);
        Self::named(whole.or_else(ending)?)
    }

    /// Whether `word` is one of `list`.
    pub(super) fn has(&self, list: &str, word: &str) -> bool {
        let same = |known: &str| if self.case { known == word } else { known.eq_ignore_ascii_case(word) };
        list.split_ascii_whitespace().any(same)
    }
}
