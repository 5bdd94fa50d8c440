//! The scripts that run on the other machine. POSIX shell; what systems do differently is chosen by what
//! [`super::facts::Facts`] found there.
//!
//! `$M` is the mark that answers begin with. `$p` is a path, absolute, so that no program takes it for an option.

/// Functions of all scripts that look at files: answers, and the kind of what a path leads to.
pub const PRELUDE: &str = r#"
LC_ALL=C; export LC_ALL
ok() { printf '%s ok %s\n' "$M" "$*"; }
fail() { printf '%s fail %s\n' "$M" "$(printf %s "$*" | tr '\n' ' ')"; exit 0; }
kind() {
  if [ -f "$1" ]; then k=file; elif [ -d "$1" ]; then k=folder; elif [ -p "$1" ]; then k=pipe
  elif [ -S "$1" ]; then k=socket; elif [ -e "$1" ]; then k=device; else k=none; fi
}
missing() { e=$(ls -dL "$1" 2>&1 >/dev/null); fail "${e:-No such file or directory}"; }
regular() { kind "$1"; case $k in file) ;; none) missing "$1";; *) fail "kind $k";; esac; }
"#;

/// `facts PATH`: size and time of change, as GNU's `stat` tells them.
pub const STAT_GNU: &str = r#"facts() { stat -L -c '%s %.9Y' "$1" 2>&1; }"#;
/// As busybox does: whole seconds.
pub const STAT_BUSYBOX: &str = r#"facts() { stat -L -c '%s %Y' "$1" 2>&1; }"#;
/// As BSD's and macOS's does.
pub const STAT_BSD: &str = r#"facts() { stat -L -f '%z %Fm' "$1" 2>&1; }"#;
/// Without `stat`: the size alone.
pub const STAT_NONE: &str = r#"facts() { if [ -f "$1" ]; then wc -c <"$1" 2>&1; else echo 0; fi; }"#;

/// Starts a command in a session of its own, with util-linux or busybox.
pub const GROUP_SETSID: &str = r#"group() { exec setsid "$@"; }"#;
/// With Perl, which macOS and some BSDs have.
pub const GROUP_PERL: &str = r#"group() { exec perl -e 'use POSIX; POSIX::setsid(); exec @ARGV; exit 127' "$@"; }"#;
/// Not at all: the command's own process can be killed, what it started only where /proc tells.
pub const GROUP_NONE: &str = r#"group() { exec "$@"; }"#;

/// Looks around in folder `$d` (empty: home). Login shells of ssh sessions often have a short PATH.
pub const HELLO: &str = r#"
case $d in '' | '~') d=${HOME:-/};; '~/'*) d=$HOME/${d#??};; /*) ;; *) d=${HOME:-/}/$d;; esac
kind "$d"
case $k in folder) ;; none) missing "$d";; *) fail 'Not a directory';; esac
cd "$d" 2>/dev/null || fail 'Permission denied'
if stat -L -c %.9Y / 2>/dev/null | grep '^[0-9]*[.][0-9]*$' >/dev/null; then s=gnu
elif stat -L -c %Y / 2>/dev/null | grep '^[0-9][0-9]*$' >/dev/null; then s=busybox
elif stat -L -f %Fm / 2>/dev/null | grep '^[0-9]' >/dev/null; then s=bsd
else s=none; fi
if command -v setsid >/dev/null 2>&1; then g=setsid
elif perl -e 'use POSIX; exit 0' 2>/dev/null; then g=perl
else g=none; fi
PATH=$PATH:/usr/local/bin:/opt/homebrew/bin:$HOME/.cargo/bin:$HOME/.local/bin
r=$(command -v rg 2>/dev/null)
[ -n "$r" ] && printf x | "$r" --no-config --json x - >/dev/null 2>&1 || r=
f=
for n in fd fdfind; do
  c=$(command -v "$n" 2>/dev/null) && case $("$c" --version 2>/dev/null) in fd\ * | fdfind\ *) f=$c; break;; esac
done
if printf 1 | grep -P '\d' >/dev/null 2>&1; then P=yes; else P=no; fi
ok
printf '%s\0' "$(pwd -P)" "${HOME:-/}" "$(uname -s 2>/dev/null)" "$s" "$g" "$r" "$f" "$P"
"#;

/// Facts of `$p`.
pub const STAT: &str = r#"kind "$p"; [ "$k" = none ] && missing "$p"; ok "$k" $(facts "$p")"#;

/// Facts and content of `$p`.
pub const OPEN: &str = r#"
regular "$p"
[ -r "$p" ] || fail 'Permission denied'
ok "$k" $(facts "$p")
exec cat "$p"
"#;

/// Whether `$p` may be read and written.
pub const ACCESS: &str = r#"
kind "$p"; [ "$k" = none ] && missing "$p"
[ -r "$p" ] && [ -w "$p" ] || fail 'Permission denied'
ok
"#;

/// Makes `$p` hold the `$n` bytes of the input. They are gathered aside first, so that a connection that breaks leaves
/// the file as it was; then written over the old content, whose rest is cut off last, so that a full disk is noticed
/// before anything is lost.
pub const WRITE: &str = r#"
kind "$p"
case $k in file) [ -w "$p" ] || fail 'Permission denied';; none) ;; *) fail "kind $k";; esac
t=$(umask 077; mktemp "${TMPDIR:-/tmp}/troupe.XXXXXX" 2>&1) || fail "$t"
trap 'rm -f "$t"' 0
trap 'exit 1' 1 2 13 15
e=$(cat 2>&1 >"$t") || fail "$e"
[ $(wc -c <"$t") -eq "$n" ] || fail 'the content did not arrive as a whole'
e=$(dd if="$t" of="$p" bs=65536 conv=notrunc 2>&1) || fail "$e"
e=$(dd if=/dev/null of="$p" bs=1 seek="$n" count=0 2>&1) || fail "$e"
ok file $(facts "$p")
"#;

/// Creates the folder `$p` and its parents.
pub const CREATE_FOLDER: &str = r#"e=$(mkdir -p "$p" 2>&1) || fail "$e"; ok"#;

/// The entries of the folder `$p`: for each a letter for its kind, its name, NUL.
pub const LIST: &str = r#"
kind "$p"
case $k in folder) ;; none) missing "$p";; *) fail 'Not a directory';; esac
[ -r "$p" ] && cd "$p" 2>/dev/null || fail 'Permission denied'
ok
for n in * .*; do
  case $n in . | ..) continue;; esac
  if [ -d "./$n" ]; then k=d; elif [ -f "./$n" ]; then k=f; elif [ -e "./$n" ]; then k=s
  elif [ -L "./$n" ]; then k=l; else continue; fi
  printf '%s%s\0' "$k" "$n"
done
"#;

/// Goes to the folder `$p`, or to the one of the file `$p`, and says which it is.
pub const SEARCH_ROOT: &str = r#"
kind "$p"
case $k in none) missing "$p";; folder) cd "$p" 2>/dev/null || fail 'Permission denied';; file) ;; *) fail "kind $k";; esac
ok "$k"
"#;

/// Runs ripgrep, `$r`, with the arguments; a glob, `$g`, is for folders alone. It fails also where a file could not be read, silently as we want it; only
/// with something to say it is a failure.
pub const RIPGREP: &str = r#"
if [ "$k" = file ]; then set -- "$@" -- "$p"
elif [ -n "$g" ]; then set -- "$@" "--glob=$g" '--glob=!.git/' -- ./
else set -- "$@" '--glob=!.git/' -- ./; fi
exec 3>&1
e=$("$r" "$@" </dev/null 2>&1 >&3 3>&-)
[ $? -lt 2 ] || [ -z "$e" ] || { printf '%s\n' "$e" >&2; exit 3; }
exit 0
"#;

/// Lists what fd, `$f`, sees: folders, an empty name, everything else; NUL ends each. `$1` may be an option.
pub const FD: &str = r#"
[ "$k" = folder ] || exit 0
"$f" --hidden --exclude .git/ --color never "$@" --type d --print0 . </dev/null 2>/dev/null
printf '\0'
"$f" --hidden --exclude .git/ --color never "$@" --type f --type l --type s --type p --print0 . </dev/null 2>/dev/null
exit 0
"#;

/// Lists everything: folders (and `.git` as itself alone), an empty name, regular files, an empty name, the rest.
pub const LIST_ALL: &str = r#"
[ "$k" = folder ] || exit 0
find . -name .git -type d -prune -print0 -o -type d -print0 2>/dev/null
printf '\0'
find . -name .git -type d -prune -o -type f -print0 2>/dev/null
printf '\0'
find . -name .git -type d -prune -o ! -type d ! -type f -print0 2>/dev/null
printf '\0'
"#;

/// Lists regular files that grep says may match; the arguments are grep's.
pub const CANDIDATES: &str = r#"
[ "$k" = folder ] || exit 0
find . -name .git -type d -prune -o -type f -exec grep -l "$@" {} + </dev/null 2>/dev/null
exit 0
"#;

/// The ignore files of and below the folder, and those of the folders around it: for each its path, NUL, its text,
/// NUL. A `.git`, which makes a repository, has no text.
pub const IGNORE_FILES: &str = r#"
[ "$k" = folder ] || exit 0
show='for n; do printf "%s\0" "$n"; [ "${n##*/}" = .git ] || cat "$n" | tr -d "\000"; printf "\0"; done'
find . -name .git -prune -exec sh -c "$show" sh {} + -o -type f \( -name .gitignore -o -name .ignore \
  -o -name .rgignore -o -name .fdignore \) -exec sh -c "$show" sh {} + 2>/dev/null
d=$(pwd -P)
while :; do
  [ "$d" != / ] || d=
  for n in "$d/.git/info/exclude" "$d/.git" "$d/.gitignore" "$d/.ignore" "$d/.rgignore" "$d/.fdignore"; do
    [ -e "$n" ] && sh -c "$show" sh "$n" 2>/dev/null
  done
  [ -n "$d" ] || break
  d=${d%/*}
done
exit 0
"#;

/// `kill_all GROUP MARK`: kills a command's process group, and on Linux whatever carries its mark, until a look finds
/// nothing: one may start another meanwhile.
pub const KILL: &str = r#"
kill_all() {
  [ -n "$1" ] && { kill -s KILL -- "-$1" || kill -s KILL "$1"; }
  [ -r /proc/self/environ ] || return
  for i in 1 2 3 4 5 6 7 8; do
    found=
    for e in $(grep -l -F "TROUPE_CALL=$2" /proc/[0-9]*/environ); do
      q=${e#/proc/}; kill -s KILL "${q%/environ}" && found=1
    done
    [ -n "$found" ] || return
  done
} 2>/dev/null
"#;

/// How a command that cannot be started says so: beside its output.
pub const FAIL_OF_COMMAND: &str = r#"fail() { printf '%s fail %s\n' "$M" "$*" >&2; exit 0; }"#;

/// Chooses the shell: `$shell` when it is set, else what a local command would get. Then goes to `$p`. The level keeps
/// bash, which knows sessions of ssh, from reading its startup file again: the login shell did.
pub const BEGIN: &str = r#"
TROUPE_CALL=$m; SHLVL=1; export TROUPE_CALL SHLVL
if [ -n "$shell" ]; then
  [ -e "$shell" ] || fail "The shell $shell does not exist there. Correct or remove the setting shellPath."
elif [ -x /bin/bash ]; then shell=/bin/bash
else shell=$(command -v bash 2>/dev/null) || shell=sh; fi
cd "$p" 2>/dev/null || fail "The working folder $p does not exist there, so no command can run in it."
"#;

/// Runs `$script` with an empty input. Our own input is the leash: when it ends, everything is killed, so that nothing
/// goes on when the connection breaks or the agent dies. What is said of the command comes on standard error, since
/// standard output is the command's, from the line with the mark on: a greeting of the login shell may come before it.
pub const RUN: &str = r#"
exec 3<&0
printf '%s\n' "$M"
group "$shell" -c "$script" </dev/null 2>&1 3<&- &
c=$!
printf '%s ok %s\n' "$M" "$c" >&2
{ IFS= read -r word; trap '' TERM; unset TROUPE_CALL; kill_all "$c" "$m"; } <&3 >/dev/null 2>&1 &
w=$!
exec 3<&-
wait "$c"
e=$?
kill "$w" 2>/dev/null
printf '%s exit %s\n' "$M" "$e" >&2
exit 0
"#;

/// Runs `$script` with our own input.
pub const RUN_WITH_INPUT: &str = r#"
exec 3<&0
printf '%s\n' "$M"
group "$shell" -c "$script" <&3 2>&1 3<&- &
c=$!
exec 3<&- </dev/null
printf '%s ok %s\n' "$M" "$c" >&2
wait "$c"
e=$?
printf '%s exit %s\n' "$M" "$e" >&2
exit 0
"#;
