//! The file of a control socket: `live/<process id>.sock` in the user's folder.
//!
//! The folder is the user's alone (0700), the socket too (0600), and whoever connects is asked for their user by the
//! system. A socket is there only while somebody listens: it gets its name when it listens, so that one that nobody
//! answers is a leftover of a process that was killed, and is removed by whoever finds it.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use tokio::net::{UnixListener, UnixStream};

use crate::store::paths::create_private_dir;

/// The folder in the user's folder.
const FOLDER: &str = "live";
/// What the names of sockets end with.
const ENDING: &str = "sock";

/// The name of a socket, as long as it is there. Dropped, the name goes.
#[derive(Debug)]
pub struct SocketFile(PathBuf);

impl SocketFile {
    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody may have tidied up.
        let _ = fs::remove_file(&self.0);
    }
}

/// Begins to listen for this process. Leftovers of others are removed on the way.
///
/// # Errors
/// The folder cannot be made or written, or the path is longer than the system allows for sockets (about 100 bytes).
pub fn listen(user_dir: &Path) -> io::Result<(SocketFile, UnixListener)> {
    let folder = user_dir.join(FOLDER);
    create_private_dir(&folder).map_err(|error| io::Error::other(error.to_string()))?;
    let pid = std::process::id();
    let own = folder.join(format!("{pid}.{ENDING}"));
    for (_, leftover) in sockets(user_dir) {
        if is_left_over(&leftover) {
            let _ = fs::remove_file(&leftover);
        }
    }
    let unnamed = folder.join(format!("{pid}.new"));
    // Of a process of the same number that was killed in between.
    let _ = fs::remove_file(&unnamed);
    let listener = UnixListener::bind(&unnamed)?;
    let named =
        fs::set_permissions(&unnamed, fs::Permissions::from_mode(0o600)).and_then(|()| fs::rename(&unnamed, &own));
    if let Err(error) = named {
        let _ = fs::remove_file(&unnamed);
        return Err(error);
    }
    Ok((SocketFile(own), listener))
}

/// The sockets in the user's folder, with the numbers of their processes, in the order of these.
#[must_use]
pub fn sockets(user_dir: &Path) -> Vec<(u32, PathBuf)> {
    let files = fs::read_dir(user_dir.join(FOLDER)).into_iter().flatten().flatten().map(|entry| entry.path());
    let socket = |path: PathBuf| {
        let is_one = path.extension().is_some_and(|ending| ending == ENDING);
        let pid = path.file_stem()?.to_str()?.parse().ok()?;
        is_one.then_some((pid, path))
    };
    let mut sockets: Vec<(u32, PathBuf)> = files.filter_map(socket).collect();
    sockets.sort_unstable();
    sockets
}

/// Whether nobody listens at a socket any more.
#[must_use]
pub fn is_left_over(socket: &Path) -> bool {
    let connected = std::os::unix::net::UnixStream::connect(socket);
    connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Whether whoever connected is of the same user, and no program that this process started: an agent must not steer itself
/// behind the back of its front.
#[must_use]
pub fn may_connect(stream: &UnixStream) -> bool {
    let Ok(peer) = stream.peer_cred() else { return false };
    peer.uid() == rustix::process::geteuid().as_raw() && !peer.pid().is_some_and(is_below_us)
}

/// Whether a process descends from this one, as far as the system tells.
fn is_below_us(pid: i32) -> bool {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    // Tests connect to themselves.
    pid != own && std::iter::successors(Some(pid), |pid| parent_of(*pid)).skip(1).take(64).any(|above| above == own)
}

/// The parent of a process, where `/proc` tells.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything; the state and the parent follow it.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent > 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[tokio::test]
    async fn a_socket_is_the_users_alone_and_goes_with_its_listener() {
        let dir = tempfile::tempdir().unwrap();
        let (file, listener) = listen(dir.path()).unwrap();
        assert_eq!((mode(&dir.path().join(FOLDER)), mode(file.path())), (0o700, 0o600));
        assert_eq!(sockets(dir.path()), [(std::process::id(), file.path().to_owned())]);
        assert!(!is_left_over(file.path()));
        drop(listener);
        assert!(is_left_over(file.path()));
        drop(file);
        assert_eq!(sockets(dir.path()), []);
    }

    #[tokio::test]
    async fn sockets_that_nobody_answers_are_removed_and_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(FOLDER);
        fs::create_dir(&folder).unwrap();
        let (dead, alive) = (folder.join("4000000.sock"), folder.join("4000001.sock"));
        drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
        let living = std::os::unix::net::UnixListener::bind(&alive).unwrap();
        fs::write(folder.join("notes.txt"), "").unwrap();
        let (file, _listener) = listen(dir.path()).unwrap();
        let left: Vec<PathBuf> = sockets(dir.path()).into_iter().map(|(_, path)| path).collect();
        assert!(left.contains(&alive) && left.contains(&file.path().to_owned()) && !left.contains(&dead), "{left:?}");
        assert!(folder.join("notes.txt").exists());
        drop(living);
    }

    #[tokio::test]
    async fn whoever_connects_is_asked_for_their_user_and_a_program_of_ours_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (file, listener) = listen(dir.path()).unwrap();
        let _own = UnixStream::connect(file.path()).await.unwrap();
        assert!(may_connect(&listener.accept().await.unwrap().0), "the test itself");
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        assert!(is_below_us(i32::try_from(child.id()).unwrap()));
        assert!(!is_below_us(1) && !is_below_us(parent_of(i32::try_from(std::process::id()).unwrap()).unwrap()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
