use tokio::sync::{Semaphore, mpsc::UnboundedReceiver};

use super::*;
use crate::{
    actors::{
        address::Addr,
        spawn::spawn_root,
        testing::{Parts, inbox, watch, within},
    },
    protocol::{Published, view::View},
};

/// An agent of which only the bus runs.
async fn bus() -> Arc<AgentShared> {
    let (shared, _) = Parts::default().build();
    start(&shared).await;
    shared
}

async fn start(shared: &Arc<AgentShared>) -> Addr<BusMsg> {
    let addr = spawn_root("EventBus", EventBus, shared.clone()).await.unwrap();
    shared.bus.fill(addr.clone());
    addr
}

fn delta(text: &str) -> Vec<StreamEvent> {
    vec![StreamEvent::TextDelta { index: 0, delta: text.into() }]
}

async fn next(deliveries: &mut UnboundedReceiver<Delivery>) -> Delivery {
    within("delivery", deliveries.recv()).await.unwrap()
}

async fn snapshot(deliveries: &mut UnboundedReceiver<Delivery>) -> View {
    match next(deliveries).await.content {
        Delivered::Snapshot(view) => *view,
        Delivered::Events(events) => panic!("events instead of a snapshot: {events:?}"),
    }
}

async fn events(deliveries: &mut UnboundedReceiver<Delivery>) -> Vec<Arc<Published>> {
    match next(deliveries).await.content {
        Delivered::Events(events) => events,
        Delivered::Snapshot(view) => panic!("a snapshot instead of events: {view:?}"),
    }
}

fn seq(epoch: u32, n: u64) -> Seq {
    Seq { epoch, n }
}

/// Waits until the bus has handled what it was told so far.
async fn handled(shared: &AgentShared) {
    let (_, mut deliveries) = watch(shared, SubscriberKind::Lossless).await;
    snapshot(&mut deliveries).await;
}

#[tokio::test]
async fn events_are_numbered_without_a_gap_and_a_restarted_bus_begins_the_next_epoch_with_a_snapshot() {
    let shared = bus().await;
    let (_, mut deliveries) = watch(&shared, SubscriberKind::Lossless).await;
    assert_eq!(snapshot(&mut deliveries).await.seq, seq(1, 0));
    shared.publish(vec![Event::AgentStart, Event::TurnStart]);
    shared.stream(delta("a"), None);
    for n in 1..=3 {
        assert_eq!(events(&mut deliveries).await[0].seq, seq(1, n));
    }
    assert_eq!(shared.last_seq(), seq(1, 3));

    shared.bus.get().unwrap().kill();
    start(&shared).await;
    assert_eq!(snapshot(&mut deliveries).await.seq, seq(2, 0));
    assert_eq!(shared.last_seq(), seq(2, 0));
    shared.publish(vec![Event::TurnStart]);
    assert_eq!(events(&mut deliveries).await[0].seq, seq(2, 1));
    assert!(seq(2, 0) > seq(1, 3), "whoever saw an event of a later epoch has seen all earlier ones");
}

#[tokio::test]
async fn a_late_subscriber_goes_on_from_a_snapshot_of_what_runs() {
    let shared = bus().await;
    shared.publish(vec![
        Event::AgentStart,
        Event::QueueUpdate { steering: vec!["go left".into()], follow_up: Vec::new() },
    ]);
    let (_, mut deliveries) = watch(&shared, SubscriberKind::Lossless).await;
    let view = snapshot(&mut deliveries).await;
    assert!(view.running);
    assert_eq!((view.seq, view.steering), (seq(1, 2), vec!["go left".to_owned()]));
    shared.publish(vec![Event::TurnStart]);
    assert_eq!(events(&mut deliveries).await[0].seq, seq(1, 3));
}

#[tokio::test]
async fn a_subscription_that_died_with_the_bus_is_made_up_for_and_counts_once() {
    let (shared, _) = Parts::default().build();
    let (addr, mut deliveries) = inbox().await;
    let to = crate::actors::address::Recipient::new(addr, |delivery| delivery);
    let client = crate::actors::front::client::AgentClient { shared: shared.clone(), fleet: Default::default() };
    // Nobody is in the bus's place: the message is lost.
    let subscriber = client.subscribe(SubscriberKind::Lossless, to);
    start(&shared).await;
    snapshot(&mut deliveries).await;
    shared.bus.tell(BusMsg::Subscribe(subscriber));
    shared.publish(vec![Event::TurnStart]);
    assert_eq!(events(&mut deliveries).await.len(), 1);
    shared.publish(vec![Event::AgentStart]);
    assert_eq!(events(&mut deliveries).await[0].event, Event::AgentStart, "nothing comes twice");
}

#[tokio::test]
async fn a_coalescing_subscriber_that_lags_gets_one_batch_with_merged_text_and_every_lifecycle_event() {
    let shared = bus().await;
    let (subscriber, mut deliveries) = watch(&shared, SubscriberKind::Coalescing).await;
    snapshot(&mut deliveries).await;
    shared.publish(vec![Event::AgentStart]);
    assert_eq!(events(&mut deliveries).await.len(), 1, "it is ready from the start");
    shared.publish(vec![Event::TurnStart]);
    for _ in 0..500 {
        shared.stream(delta("x"), None);
    }
    shared.publish(vec![Event::AgentSettled { aborted: false }]);
    handled(&shared).await;
    assert!(deliveries.try_recv().is_err(), "nothing comes before it asks");
    shared.bus.tell(BusMsg::Ready(subscriber.id));
    let batch: Vec<_> = events(&mut deliveries).await.iter().map(|published| published.event.clone()).collect();
    let merged = Event::MessageUpdate { events: delta(&"x".repeat(500)) };
    assert_eq!(batch, [Event::TurnStart, merged, Event::AgentSettled { aborted: false }]);
}

#[tokio::test]
async fn a_subscriber_that_is_gone_is_forgotten_and_the_others_go_on() {
    let shared = bus().await;
    let (addr, _dead) = inbox::<Delivery>().await;
    let gone = subscriber(SubscriberKind::Lossless, crate::actors::address::Recipient::new(addr.clone(), |d| d));
    shared.bus.tell(BusMsg::Subscribe(gone));
    let (alive, mut deliveries) = watch(&shared, SubscriberKind::Lossless).await;
    snapshot(&mut deliveries).await;
    let actor = addr.actor().clone();
    actor.kill_and_wait(None).await.unwrap();
    shared.publish(vec![Event::AgentStart]);
    events(&mut deliveries).await;
    let left: Vec<_> = shared.subscribers.all().iter().map(|subscriber| subscriber.id).collect();
    assert_eq!(left, [alive.id]);
}

#[tokio::test]
async fn a_permit_comes_free_when_the_last_lossless_subscriber_lets_the_event_go() {
    let shared = bus().await;
    let permits = Arc::new(Semaphore::new(1));
    let take = || permits.clone().try_acquire_owned().ok();
    // Nobody watches: nothing holds the permit.
    shared.stream(delta("a"), take());
    handled(&shared).await;
    assert_eq!(permits.available_permits(), 1);

    let (_, mut first) = watch(&shared, SubscriberKind::Lossless).await;
    let (_, mut second) = watch(&shared, SubscriberKind::Lossless).await;
    let (_, _lagging) = watch(&shared, SubscriberKind::Coalescing).await;
    snapshot(&mut first).await;
    snapshot(&mut second).await;
    shared.stream(delta("b"), take());
    let held = [next(&mut first).await, next(&mut second).await];
    let [a, b] = held;
    drop(a);
    assert_eq!(permits.available_permits(), 0, "the second one still has it");
    drop(b);
    handled(&shared).await;
    assert_eq!(permits.available_permits(), 1, "one that lags does not hold it");
}

#[tokio::test(start_paused = true)]
async fn the_next_request_waits_for_a_lossless_subscriber_until_it_catches_up_or_goes_away() {
    for goes_away in [false, true] {
        let shared = bus().await;
        let (slow, mut deliveries) = watch(&shared, SubscriberKind::Lossless).await;
        let (_, _lagging) = watch(&shared, SubscriberKind::Coalescing).await;
        snapshot(&mut deliveries).await;
        shared.publish(vec![Event::TurnStart; 1_025]);
        handled(&shared).await;
        let waiting = tokio::spawn({
            let subscribers = shared.subscribers.clone();
            async move { subscribers.wait_low().await }
        });
        tokio::time::sleep(std::time::Duration::from_secs(30)).await;
        assert!(!waiting.is_finished());
        if goes_away {
            shared.bus.tell(BusMsg::Unsubscribe(slow.id));
        } else {
            let weight = events(&mut deliveries).await[0].event.weight();
            slow.backlog.release(weight);
            slow.backlog.release(weight);
        }
        within("end of the wait", waiting).await.unwrap();
    }
}

#[tokio::test]
async fn the_end_of_a_trace_that_died_with_the_bus_is_told_once() {
    let shared = bus().await;
    let (_, mut deliveries) = watch(&shared, SubscriberKind::Lossless).await;
    snapshot(&mut deliveries).await;
    shared.publish(vec![Event::AgentStart]);
    events(&mut deliveries).await;
    shared.bus.get().unwrap().kill();
    start(&shared).await;
    assert!(!snapshot(&mut deliveries).await.running);
    shared.bus.tell(BusMsg::Idle);
    shared.bus.tell(BusMsg::Idle);
    assert_eq!(events(&mut deliveries).await[0].event, Event::AgentSettled { aborted: false });
    handled(&shared).await;
    assert!(deliveries.try_recv().is_err());
    assert_eq!(shared.last_seq(), seq(2, 1));
}
