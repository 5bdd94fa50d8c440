//! What a child does to itself between fork and exec.
//!
//! Only system calls happen there: everything that takes memory or a lock is prepared before.

use std::{
    io,
    os::fd::{AsRawFd as _, BorrowedFd, OwnedFd},
};

use libc::sock_filter;
use rustix::{
    io::{FdFlags, fcntl_setfd},
    thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs},
};
use tokio::process::Command;

/// Powers that root keeps: to work with files of other owners. None of them leads out.
pub const KEPT: CapabilitySet =
    CapabilitySet::CHOWN.union(CapabilitySet::DAC_OVERRIDE).union(CapabilitySet::FOWNER).union(CapabilitySet::FSETID);

/// File descriptors below this one are standard input, output and error.
const FIRST_OTHER: u32 = 3;
/// Where the kernel cannot close a range, this many are looked at.
const LOOKED_AT: i32 = 4096;

/// Has the command inherit this file and, besides standard input, output and error, no other.
pub fn pass_on(command: &mut Command, file: OwnedFd) {
    let prepare = move || {
        close_others();
        Ok(fcntl_setfd(&file, FdFlags::empty())?)
    };
    // SAFETY: the closure makes system calls only; it takes no memory and no lock.
    unsafe { command.pre_exec(prepare) };
}

/// Has the command live under the rules and the filter, without powers and inherited files.
///
/// # Errors
/// The powers of this process cannot be read.
pub fn enclose(command: &mut Command, rules: OwnedFd, filter: Vec<sock_filter>) -> io::Result<()> {
    let kept = capabilities(None)?.permitted & KEPT;
    let kept = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    let prepare = move || {
        close_others();
        set_no_new_privs(true)?;
        set_capabilities(None, kept)?;
        restrict(&rules)?;
        filter_calls(&filter)
    };
    // SAFETY: the closure makes system calls only; it takes no memory and no lock.
    unsafe { command.pre_exec(prepare) };
    Ok(())
}

/// Marks all other files to be closed by exec.
fn close_others() {
    // SAFETY: the call takes three numbers and changes flags of this process's descriptors.
    let done = unsafe { libc::syscall(libc::SYS_close_range, FIRST_OTHER, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done == 0 {
        return;
    }
    for fd in FIRST_OTHER.cast_signed()..LOOKED_AT {
        // SAFETY: the number is only used for this call, which fails where it is no descriptor.
        let _ = fcntl_setfd(unsafe { BorrowedFd::borrow_raw(fd) }, FdFlags::CLOEXEC);
    }
}

fn restrict(rules: &OwnedFd) -> io::Result<()> {
    // SAFETY: the call takes two numbers and changes nothing but the rights of this thread.
    match unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn filter_calls(filter: &[sock_filter]) -> io::Result<()> {
    let len = u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the kernel reads `len` steps at the pointer, which the slice has, and writes nothing.
    match unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
