//! Where inputs come from and where they are kept.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::random::hash;

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The recorded bodies of an API with a status of success.
pub fn streams(api: &str) -> Vec<Vec<u8>> {
    recorded(|entry| entry["api"] == api && entry["status"] == 200)
}

/// The recorded bodies of refused requests.
pub fn errors() -> Vec<Vec<u8>> {
    recorded(|entry| entry["status"] != 200)
}

/// All recorded event streams.
pub fn all_streams() -> Vec<Vec<u8>> {
    recorded(|entry| entry["file"].as_str().is_some_and(|file| file.ends_with(".sse")))
}

fn recorded(wanted: impl Fn(&Value) -> bool) -> Vec<Vec<u8>> {
    let folder = fixtures().join("providers");
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let entries = manifest["entries"].as_array().unwrap().iter().filter(|entry| wanted(entry));
    // Some bodies are there to be large, and would only make each input slow.
    let bodies = entries.map(|entry| fs::read(folder.join(entry["file"].as_str().unwrap())).unwrap());
    bodies.filter(|body| body.len() <= 8 << 10).collect()
}

/// The kept inputs of a target, with their names, in a fixed order.
pub fn kept(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = folder(target);
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

/// Stores an input; gives its path.
pub fn keep(target: &str, kind: &str, input: &[u8]) -> PathBuf {
    let folder = folder(target);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{kind}-{:016x}", hash(input)));
    fs::write(&path, input).unwrap();
    path
}

fn folder(target: &str) -> PathBuf {
    fixtures().join("fuzz").join(Path::new(target))
}
