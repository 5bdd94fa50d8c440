//! A disk that refuses: who waits, who goes on, and what is told.

mod replica;

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use serde_json::json;
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;

use super::*;
use crate::{
    actors::{
        event_bus::EventBus,
        spawn::spawn_root,
        testing::{Parts, inbox, watch, within},
    },
    protocol::EntryBody,
    store::{NewSession, SessionStore, Sidecar},
};

/// A writer whose session lies where a file is in the way of its folder.
struct Disk {
    dir: TempDir,
    shared: Arc<AgentShared>,
    stored: Recipient<Input>,
    answers: UnboundedReceiver<Input>,
    events: UnboundedReceiver<crate::actors::subscriber::Delivery>,
}

impl Disk {
    async fn new(on_refusal: OnRefusal, sync: SessionSync) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("in the way"), "").unwrap();
        let path = dir.path().join("in the way/s.jsonl");
        let store = SessionStore::create_in(path.parent().unwrap(), NewSession::in_folder(dir.path())).unwrap();
        let place = SessionPlace::new(store, Sidecar::in_memory()).with_saving(sync, on_refusal);
        let shared = Parts::default().build_in(place).0;
        let bus = spawn_root("EventBus", EventBus, shared.clone()).await.unwrap();
        shared.bus.fill(bus);
        shared.writer.fill(spawn_root("SessionWriter", SessionWriter, shared.clone()).await.unwrap());
        let events = watch(&shared, crate::actors::subscriber::SubscriberKind::Lossless).await.1;
        let (addr, answers) = inbox().await;
        Self { dir, shared, stored: Recipient::new(addr, |input| input), answers, events }
    }

    fn append(&self, text: &str) {
        let entry = EntryBody::Message { message: AgentMessage::user(text, 1) };
        let entries = vec![entry.into()];
        self.shared.writer.tell(WriterMsg::Append { work: 1, entries, to: self.stored.clone() });
    }

    async fn answer(&mut self) -> Result<usize, String> {
        match within("answer", self.answers.recv()).await.unwrap() {
            Input::Stored { result, .. } => result.map(|entries| entries.len()),
            other => panic!("{other:?}"),
        }
    }

    /// Makes room.
    fn mend(&self) -> PathBuf {
        fs::remove_file(self.dir.path().join("in the way")).unwrap();
        self.shared.place.store.path().unwrap()
    }

    /// The notices and changes of saving up to the next that `wanted` accepts.
    async fn told(&mut self, wanted: &str) -> Vec<String> {
        use crate::actors::subscriber::Delivered;
        let mut told = Vec::new();
        loop {
            let delivery = within(wanted, self.events.recv()).await.unwrap();
            let Delivered::Events(events) = delivery.content else { continue };
            told.extend(events.iter().map(|published| match &published.event {
                Event::Notice { text, .. } => text.clone(),
                other => format!("{other:?}"),
            }));
            if told.last().is_some_and(|text| text.contains(wanted)) {
                return told;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn fc_010_a_run_that_nobody_watches_waits_for_the_disk_and_goes_on_when_there_is_room() {
    let mut disk = Disk::new(OnRefusal::Wait(Duration::from_secs(30)), SessionSync::Turn).await;
    disk.append("a");
    disk.told("The run waits for that, 30 s at most").await;
    // What comes behind keeps its order.
    disk.append("b");
    assert!(disk.answers.try_recv().is_err());
    let path = disk.mend();
    assert_eq!((disk.answer().await, disk.answer().await), (Ok(1), Ok(1)));
    disk.told("saved again").await;
    let text = fs::read_to_string(path).unwrap();
    assert!(text.find("\"a\"").unwrap() < text.find("\"b\"").unwrap(), "{text}");
    assert!(!disk.shared.place.is_unsaved());
}

#[tokio::test(start_paused = true)]
async fn fc_010_a_run_that_waited_in_vain_fails_and_says_so() {
    let begun = tokio::time::Instant::now();
    let mut disk = Disk::new(OnRefusal::Wait(Duration::from_secs(30)), SessionSync::Turn).await;
    disk.append("a");
    let cause = disk.answer().await.unwrap_err();
    assert!(cause.contains("in the way"), "{cause}");
    assert!(begun.elapsed() >= Duration::from_secs(30) && disk.shared.place.is_unsaved());
    // An abort ends the wait.
    disk.append("b");
    disk.told("The run waits").await;
    disk.shared.writer.tell(WriterMsg::GiveUp);
    assert!(disk.answer().await.is_err());
    assert!(begun.elapsed() < Duration::from_secs(50));
}

#[tokio::test(start_paused = true)]
async fn fc_010_a_run_that_somebody_watches_goes_on_in_memory_and_is_saved_by_itself() {
    let mut disk = Disk::new(OnRefusal::GoOn, SessionSync::Entry).await;
    disk.append("a");
    disk.append("b");
    assert_eq!((disk.answer().await, disk.answer().await), (Ok(1), Ok(1)));
    let told = disk.told("goes on in memory only").await;
    assert!(told.iter().any(|text| text.contains("SavingChanged { unsaved: 1, reason: Some(")), "{told:?}");
    assert_eq!(disk.shared.place.store.unsaved().unwrap().entries, 2);
    let path = disk.mend();
    let told = disk.told("saved again, with 2 entries").await;
    assert!(told.iter().any(|text| text == "SavingChanged { unsaved: 0, reason: None }"), "{told:?}");
    assert_eq!(fs::read_to_string(path).unwrap().lines().count(), 3);
}

#[tokio::test]
async fn a_session_is_brought_to_the_disk_when_the_setting_says() {
    for (sync, [appended, called, settled]) in [
        (SessionSync::Entry, [true, true, true]),
        (SessionSync::Turn, [false, true, true]),
        (SessionSync::Never, [false, false, false]),
    ] {
        let mut disk = Disk::new(OnRefusal::Fail, sync).await;
        disk.mend();
        let synced = |disk: &Disk| disk.shared.place.store.syncer().is_some_and(|syncer| !syncer.is_new());
        disk.append("a");
        assert_eq!(disk.answer().await, Ok(1));
        assert_eq!(synced(&disk), appended, "{sync:?}: behind an entry");
        let (addr, mut marked) = inbox().await;
        let reply = Recipient::new(addr, |result: Result<(), String>| result);
        disk.shared.writer.tell(WriterMsg::CallsStarted { entry: "e".into(), places: vec![0], reply });
        assert_eq!(within("mark", marked.recv()).await, Some(Ok(())));
        assert_eq!(synced(&disk), called, "{sync:?}: before a call with effects");
        // A second entry is new, too, when another file takes the first one's place.
        fs::remove_file(disk.shared.place.store.path().unwrap()).unwrap();
        disk.append("b");
        assert_eq!(disk.answer().await, Ok(1));
        disk.shared.writer.tell(WriterMsg::Settled);
        disk.append("c");
        assert_eq!(disk.answer().await, Ok(1));
        assert_eq!(synced(&disk), settled, "{sync:?}: at the end of a trace");
    }
}

#[test]
fn every_note_has_its_line_in_the_journal() {
    let body = EntryBody::SessionInfo { name: Some("n".into()) };
    let held = NewEntry { body: body.clone(), reserved: Some("e1".into()) };
    let unnamed = NewEntry::from(body);
    let lines: Vec<_> = records(Note::Held(vec![held, unnamed])).iter().map(|record| json!(record)).collect();
    let expected = json!({"type": "held", "entryId": "e1", "body": {"type": "session_info", "name": "n"}});
    assert_eq!(lines, [expected], "without an id nobody could tell whether it is stored");
}
