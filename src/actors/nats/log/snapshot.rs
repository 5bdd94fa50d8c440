//! All files of a run in one piece, in the object store. Each has a name of its own, and only the log says which one
//! counts: so a snapshot that its maker finished too late does no harm.

use std::{
    io::{self, Seek as _, Write as _},
    path::Path,
    time::Duration,
};

use async_nats::jetstream::object_store::ObjectMetadata;
use bytes::BytesMut;
use tokio::{io::AsyncReadExt as _, task::spawn_blocking, time::timeout};
use uuid::Uuid;

use super::{
    super::{Hub, NatsError},
    files::Files,
    frame::Frame,
    history::Pointer,
    tail::{ShippedFiles, read_shipped},
};

/// How long one attempt to store or load may take.
const ATTEMPT: Duration = Duration::from_secs(120);
/// How often it is tried.
const TRIES: usize = 3;
/// Bytes of one message of an object.
const CHUNK: usize = 256 << 10;

/// Stores what was shipped of the files below `folder`; the name of the object.
pub(super) async fn store(hub: &Hub, run: &str, folder: &Path, shipped: ShippedFiles) -> Result<String, NatsError> {
    let folder = folder.to_owned();
    let copied = spawn_blocking(move || copy(&folder, &shipped)).await;
    let disk = |cause: String| NatsError::Disk { action: "copy the files of the run".to_owned(), cause };
    let copy = copied.map_err(|error| disk(error.to_string()))?.map_err(|error| disk(error.to_string()))?;
    let name = format!("{run}/{}", Uuid::new_v4().simple());
    let mut tries = 1;
    loop {
        match timeout(ATTEMPT, upload(hub, &name, &copy)).await {
            Ok(Ok(())) => return Ok(name),
            Ok(Err(cause)) if tries == TRIES => return Err(failed("store a snapshot", cause)),
            Err(_) if tries == TRIES => return Err(failed("store a snapshot", "it takes too long".to_owned())),
            _ => tries += 1,
        }
    }
}

/// The files of a snapshot.
pub(super) async fn load(hub: &Hub, pointer: &Pointer) -> Result<Files, NatsError> {
    let mut tries = 1;
    let bytes = loop {
        match timeout(ATTEMPT, download(hub, &pointer.object)).await {
            Ok(Ok(bytes)) => break bytes,
            Ok(Err(cause)) if tries == TRIES => return Err(failed("load a snapshot", cause)),
            Err(_) if tries == TRIES => return Err(failed("load a snapshot", "it takes too long".to_owned())),
            _ => tries += 1,
        }
    };
    let unreadable = |cause| NatsError::Unreadable { what: format!("the snapshot {}", pointer.object), cause };
    let mut files = Files::default();
    let frames = Frame::decode(bytes.into()).map_err(unreadable)?;
    frames.into_iter().try_for_each(|frame| files.apply(frame)).map_err(unreadable)?;
    Ok(files)
}

/// Removes a snapshot that does not count any longer.
pub(super) async fn remove(hub: &Hub, object: &str) {
    let removed = match hub.snapshots().await {
        Ok(store) => store.delete(object).await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = removed {
        // It costs room, until the run is forgotten.
        tracing::debug!(error, object, "a snapshot was not removed");
    }
}

/// A file without a name that has everything. Blocks.
fn copy(folder: &Path, shipped: &ShippedFiles) -> io::Result<std::fs::File> {
    let mut copy = tempfile::tempfile_in(folder)?;
    let mut buffer = BytesMut::new();
    for (file, known) in shipped {
        let bytes = read_shipped(folder, file, known)?;
        Frame::Whole { file: file.clone(), bytes }.encode(&mut buffer);
        copy.write_all(&buffer.split())?;
    }
    Ok(copy)
}

async fn upload(hub: &Hub, name: &str, copy: &std::fs::File) -> Result<(), String> {
    let mut copy = copy.try_clone().map_err(|error| error.to_string())?;
    copy.rewind().map_err(|error| error.to_string())?;
    let store = hub.snapshots().await.map_err(|error| error.to_string())?;
    let meta =
        ObjectMetadata { name: name.to_owned(), chunk_size: Some(CHUNK.min(hub.room())), ..ObjectMetadata::default() };
    store.put(meta, &mut tokio::fs::File::from_std(copy)).await.map_err(|error| error.to_string())?;
    Ok(())
}

async fn download(hub: &Hub, name: &str) -> Result<Vec<u8>, String> {
    let store = hub.snapshots().await.map_err(|error| error.to_string())?;
    let mut object = store.get(name).await.map_err(|error| error.to_string())?;
    let mut bytes = Vec::with_capacity(object.info().size);
    object.read_to_end(&mut bytes).await.map_err(|error| error.to_string())?;
    if bytes.len() == object.info().size { Ok(bytes) } else { Err("a part of it is missing".to_owned()) }
}

fn failed(action: &str, cause: String) -> NatsError {
    NatsError::Failed { action: action.to_owned(), cause }
}
