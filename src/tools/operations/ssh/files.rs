//! Reading and writing files of the other machine.

use std::{ffi::OsStr, io, os::unix::ffi::OsStrExt, path::Path};

use super::{Ssh, channel::Channel, reply, script::Script, scripts};
use crate::tools::{
    BoxFuture,
    operations::{FileKind, FileReader, FileStat, FolderEntry},
};

/// Files that claim to be empty and are not (`/proc`) are read up to here.
const UNSIZED_AT_MOST: u64 = 1 << 20;

impl Ssh {
    fn on(&self, path: &Path, commands: &str) -> Script {
        self.facts.file_script(&self.link).set("p", bytes(path)).run(commands)
    }

    async fn answer(&self, script: &Script) -> io::Result<String> {
        let mut channel = self.link.start(script).await?;
        let answer = channel.answer().await?;
        channel.finish().await?;
        Ok(answer)
    }

    pub(super) async fn stat_of(&self, path: &Path) -> io::Result<FileStat> {
        check(path)?;
        reply::stat(&self.answer(&self.on(path, scripts::STAT)).await?)
    }

    pub(super) async fn reader_of(&self, path: &Path) -> io::Result<SshReader> {
        check(path)?;
        let mut channel = self.link.start(&self.on(path, scripts::OPEN)).await?;
        channel.end_input();
        let stat = reply::stat(&channel.answer().await?)?;
        let left = if stat.len == 0 { UNSIZED_AT_MOST } else { stat.len };
        Ok(SshReader { channel: Some(channel), stat, left })
    }

    pub(super) async fn check_access_to(&self, path: &Path) -> io::Result<()> {
        check(path)?;
        self.answer(&self.on(path, scripts::ACCESS)).await.map(drop)
    }

    pub(super) async fn write_to(&self, path: &Path, content: &[u8]) -> io::Result<FileStat> {
        check(path)?;
        let script = self.facts.file_script(&self.link);
        let script = script.set("p", bytes(path)).set("n", content.len().to_string()).run(scripts::WRITE);
        let mut channel = self.link.start(&script).await?;
        channel.send(content).await;
        channel.end_input();
        let answer = channel.answer().await?;
        channel.finish().await?;
        reply::stat(&answer)
    }

    pub(super) async fn create_folder_at(&self, path: &Path) -> io::Result<()> {
        check(path)?;
        self.answer(&self.on(path, scripts::CREATE_FOLDER)).await.map(drop)
    }

    pub(super) async fn entries_of(&self, path: &Path) -> io::Result<Vec<FolderEntry>> {
        check(path)?;
        let mut channel = self.link.start(&self.on(path, scripts::LIST)).await?;
        channel.answer().await?;
        Ok(channel.rest().await?.split(|byte| *byte == 0).filter_map(entry).collect())
    }
}

/// A path as the bytes that it is.
pub(super) fn bytes(path: &Path) -> &[u8] {
    OsStr::as_bytes(path.as_os_str())
}

/// NUL ends a path for every system, and would end it early.
pub(super) fn check(path: &Path) -> io::Result<()> {
    if bytes(path).contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a path cannot hold a NUL character"));
    }
    Ok(())
}

fn entry(line: &[u8]) -> Option<FolderEntry> {
    let (kind, name) = line.split_first()?;
    let kind = match kind {
        b'd' => Some(FileKind::Folder),
        b'f' => Some(FileKind::File),
        b's' => Some(FileKind::Special),
        _ => None,
    };
    Some(FolderEntry { name: String::from_utf8_lossy(name).into_owned(), kind })
}

/// A file that is being read.
pub(super) struct SshReader {
    /// None at the end.
    channel: Option<Channel>,
    stat: FileStat,
    left: u64,
}

impl FileReader for SshReader {
    fn stat(&self) -> FileStat {
        self.stat
    }

    fn next_chunk(&mut self) -> BoxFuture<'_, io::Result<Vec<u8>>> {
        Box::pin(async move {
            let Some(channel) = &mut self.channel else { return Ok(Vec::new()) };
            let mut chunk = channel.chunk().await?;
            if chunk.is_empty() {
                // A file that came to an end too early tells by the script's end whether it has become shorter.
                let end = channel.finish().await;
                self.channel = None;
                return end.map(|()| Vec::new());
            }
            if chunk.len() as u64 >= self.left {
                chunk.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
                // Ends the script, should the file have grown.
                self.channel = None;
            }
            self.left -= chunk.len() as u64;
            Ok(chunk)
        })
    }
}
