//! `@file` arguments: text files and pictures that go into the first message.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::paths;
use crate::{
    protocol::ImageBlock,
    tools::{encoding::Decoded, picture::ImageKind},
};

/// The largest file that is attached, in bytes. No model takes more; it also bounds `@/dev/zero`.
pub const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// What the files of a command line add to the first message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attachments {
    /// One `<file name="…">` element a file, in order.
    pub text: String,
    /// The pictures, in order.
    pub images: Vec<ImageBlock>,
}

/// A file that cannot be attached.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is no such file, under any spelling.
    #[error("File not found: {}", .0.display())]
    NotFound(PathBuf),
    /// It is a folder.
    #[error("Cannot attach {}: it is a folder; name its files, or ask for them in the prompt", .0.display())]
    Folder(PathBuf),
    /// It is larger than [`MAX_BYTES`].
    #[error(
        "Cannot attach {}: it is larger than {} MiB; name it in the prompt instead, without the @",
        .0.display(), MAX_BYTES >> 20
    )]
    TooLarge(PathBuf),
    /// It cannot be read.
    #[error("Cannot read {}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Reads the files of a command line, `names` being their arguments without the `@`. Empty files are left out; pictures
/// are known by their content and attached as they are (the session fits them to the model that it uses).
///
/// # Errors
/// The first file that cannot be attached.
pub fn attach(names: &[String], cwd: &Path, home: Option<&Path>) -> Result<Attachments, FileError> {
    let mut attachments = Attachments::default();
    for name in names {
        let path = paths::existing_file(name, cwd, home).map_err(FileError::NotFound)?;
        let bytes = read(&path)?;
        if !bytes.is_empty() {
            attachments.add(&path, &bytes);
        }
    }
    Ok(attachments)
}

impl Attachments {
    fn add(&mut self, path: &Path, bytes: &[u8]) {
        self.text.push_str("<file name=\"");
        self.text.push_str(&path.to_string_lossy());
        if let Some(kind) = ImageKind::sniff(bytes) {
            self.text.push_str("\"></file>\n");
            self.images.push(ImageBlock { data: STANDARD.encode(bytes), mime_type: kind.mime_type().to_owned() });
        } else {
            let decoded = Decoded::new(bytes);
            let text = String::from_utf8_lossy(&decoded.utf8);
            self.text.push_str("\">\n");
            self.text.push_str(text.strip_prefix('\u{feff}').unwrap_or(&text));
            self.text.push_str("\n</file>\n");
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_path_buf(), source };
    // Pipes are welcome (`@<(command)`), so anything that is no folder is opened.
    if path.is_dir() {
        return Err(FileError::Folder(path.to_path_buf()));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(FileError::TooLarge(path.to_path_buf()));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIF: &[u8] = b"GIF89a\x01\0\x01\0";

    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in [
            ("a.txt", "\u{feff}FILE\n".as_bytes()),
            ("empty.txt", b""),
            ("latin.txt", b"caf\xe9"),
            ("wide.txt", b"\xff\xfeh\0\xe9\0"),
            ("picture.txt", GIF),
        ] {
            std::fs::write(dir.path().join(name), bytes).unwrap();
        }
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        dir
    }

    fn attach_all(dir: &Path, names: &[&str]) -> Result<Attachments, FileError> {
        attach(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), dir, None)
    }

    #[test]
    fn texts_are_wrapped_pictures_become_blocks_and_empty_files_vanish() {
        let dir = folder();
        let at = dir.path().display();
        let got =
            attach_all(dir.path(), &["a.txt", "empty.txt", "sub/../picture.txt", "latin.txt", "wide.txt"]).unwrap();
        assert_eq!(
            got.text,
            format!(
                "<file name=\"{at}/a.txt\">\nFILE\n\n</file>\n<file name=\"{at}/picture.txt\"></file>\n\
                 <file name=\"{at}/latin.txt\">\ncaf\u{fffd}\n</file>\n<file name=\"{at}/wide.txt\">\nh\u{e9}\n</file>\n"
            )
        );
        assert_eq!(got.images, [ImageBlock { data: STANDARD.encode(GIF), mime_type: "image/gif".into() }]);
    }

    #[test]
    fn a_file_that_cannot_be_attached_is_named_with_its_whole_path() {
        let dir = folder();
        let at = dir.path().display();
        let text = |name| attach_all(dir.path(), &["a.txt", name]).unwrap_err().to_string();
        assert_eq!(text("missing.txt"), format!("File not found: {at}/missing.txt"));
        assert!(text("sub").starts_with(&format!("Cannot attach {at}/sub: it is a folder")));
        assert!(text("/dev/zero").starts_with("Cannot attach /dev/zero: it is larger than 32 MiB"));
    }
}
