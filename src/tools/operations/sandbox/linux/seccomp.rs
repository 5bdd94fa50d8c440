//! The filter of system calls: what neither a mount nor Landlock keeps from a command.
//!
//! - Sockets. A socket with a name in the file system can be used wherever its name can be read, and behind it may be a
//!   program that does anything for its user (Docker, a desktop, a terminal multiplexer). Without rules for those in
//!   the kernel, the only way is to have no such sockets at all. Pairs of streams stay: they have no name.
//! - `io_uring`, which makes sockets past this filter.
//! - Keys that the kernel keeps for the user.
//! - Typing into a terminal.

use libc::{
    AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD,
    BPF_RET, BPF_W, ENOSYS, EPERM, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SOCK_SEQPACKET, SOCK_STREAM, c_int, c_long,
    sock_filter,
};

/// The kernel's number of this architecture (`AUDIT_ARCH_…`); none where the filter is not known to fit.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_003E);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_00B7);
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_00F3);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
const ARCHITECTURE: Option<u32> = None;

/// Calls of the 32-bit-pointer ABI of x86_64 have this bit; nobody uses them but to get around filters.
const X32: u32 = 0x4000_0000;
/// Places in `struct seccomp_data`; of arguments, the lower half on little-endian machines.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;
/// The bits of a socket's type without `SOCK_CLOEXEC` and `SOCK_NONBLOCK`.
const SOCKET_TYPE: u32 = 0xf;
/// Put a character into a terminal's input; paste a console's selection there.
const TERMINAL_INPUT: [u32; 2] = [0x5412, 0x541C];

/// Which sockets a command may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sockets {
    /// Of the internet protocols.
    pub internet: bool,
    /// With names in the file system.
    pub unix: bool,
}

/// The filter as the kernel takes it; none on an architecture that it is not known to fit.
pub fn program(sockets: Sockets) -> Option<Vec<sock_filter>> {
    let mut families = vec![AF_NETLINK];
    if sockets.internet {
        families.extend([AF_INET, AF_INET6]);
    }
    if sockets.unix {
        families.push(AF_UNIX);
    }
    let mut program = vec![
        load(ARCH),
        // Programs for another architecture have other numbers for their calls.
        jump(BPF_JEQ, ARCHITECTURE?, 1, 0),
        refuse(ENOSYS),
        load(NUMBER),
    ];
    if cfg!(target_arch = "x86_64") {
        program.extend([jump(BPF_JGE, X32, 0, 1), refuse(ENOSYS)]);
    }
    for call in [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register] {
        program.extend(on_call(call, vec![refuse(ENOSYS)]));
    }
    for call in [libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key] {
        program.extend(on_call(call, vec![refuse(EPERM)]));
    }
    program.extend(on_call(libc::SYS_socket, only(FIRST_ARGUMENT, u32::MAX, &families)));
    if !sockets.unix {
        // A pair of datagram sockets can send to any name.
        program
            .extend(on_call(libc::SYS_socketpair, only(SECOND_ARGUMENT, SOCKET_TYPE, &[SOCK_STREAM, SOCK_SEQPACKET])));
    }
    let mut terminal = vec![load(SECOND_ARGUMENT)];
    for request in TERMINAL_INPUT {
        terminal.extend([jump(BPF_JEQ, request, 0, 1), refuse(EPERM)]);
    }
    terminal.push(allow());
    program.extend(on_call(libc::SYS_ioctl, terminal));
    program.push(allow());
    Some(program)
}

/// `block`, which ends by itself, for this call; what follows, for any other.
fn on_call(call: c_long, block: Vec<sock_filter>) -> Vec<sock_filter> {
    let length = u8::try_from(block.len()).unwrap_or(u8::MAX);
    let mut whole = vec![jump(BPF_JEQ, u32::try_from(call).unwrap_or(u32::MAX), 0, length)];
    whole.extend(block);
    whole
}

/// Lets the call through when the argument's bits have one of the values.
fn only(argument: u32, bits: u32, values: &[c_int]) -> Vec<sock_filter> {
    let mut block = vec![load(argument), statement(BPF_ALU | BPF_AND | BPF_K, bits)];
    for value in values {
        block.extend([jump(BPF_JEQ, value.unsigned_abs(), 0, 1), allow()]);
    }
    block.push(refuse(EPERM));
    block
}

fn load(place: u32) -> sock_filter {
    statement(BPF_LD | BPF_W | BPF_ABS, place)
}

fn allow() -> sock_filter {
    statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
}

fn refuse(errno: c_int) -> sock_filter {
    statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errno.unsigned_abs())
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code_of(code), jt: 0, jf: 0, k }
}

fn jump(test: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: code_of(BPF_JMP | test | BPF_K), jt, jf, k }
}

/// All codes are small.
fn code_of(code: u32) -> u16 {
    u16::try_from(code).unwrap_or(u16::MAX)
}

/// The filter as bytes, for a program that reads it from a file.
pub fn bytes(program: &[sock_filter]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(program));
    for step in program {
        bytes.extend_from_slice(&step.code.to_ne_bytes());
        bytes.extend_from_slice(&[step.jt, step.jf]);
        bytes.extend_from_slice(&step.k.to_ne_bytes());
    }
    bytes
}
