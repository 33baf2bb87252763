//! behaviours "Metadata", lines 1 to 14, in virtual time.

mod support;

use std::{
    collections::BTreeSet,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use milena_core::{
    cluster::Node,
    metadata::{LeaderHint, MetadataError, MetadataWait, RefreshReason, UpdateOutcome},
    time::Instant,
};
use milena_protocol::{
    ApiKey, ErrorCode,
    messages::{MetadataRequest, MetadataResponse},
};
use support::{
    Client, METADATA_VERSION, Peer, PeerRequest, Pure, Reach, Reply, START, assert_gaps, config, ms, secs,
};

/// The topics that a metadata request names.
fn names(request: &PeerRequest) -> Vec<String> {
    let topics = request.decode::<MetadataRequest>().topics.expect("no request for all topics");
    topics.into_iter().filter_map(|topic| topic.name).collect()
}

#[test]
fn metadata_01_a_bootstrap_cluster_is_refreshed_at_once() {
    let mut client = Client::new(Peer::new(3), &config(3));
    client.harness.peer.cluster.create("t", &[1]);
    client.handle.metadata().want_topic("t");
    let (outcome, took) = client.wait("t", None, secs(60));
    assert_eq!(outcome, Ok(()));
    // One way each: connect, ApiVersions, Metadata. Not one backoff in between.
    assert_eq!(took, ms(3));
    assert_eq!(client.harness.peer.count(ApiKey::Metadata), 1);
    assert!(!client.cluster().is_bootstrap());
    assert_eq!(client.cluster().nodes().count(), 3);
}

#[test]
fn metadata_02_a_failed_refresh_backs_off() {
    let mut peer = Peer::new(1);
    peer.cluster.error = ErrorCode::UNKNOWN_SERVER_ERROR;
    let mut client = Client::new(peer, &config(1));
    client.harness.advance(secs(6));
    assert_gaps(&client.harness.peer.gaps(ApiKey::Metadata), &[100, 200, 400, 800, 1000, 1000]);
    assert_eq!(client.version(), 0);
}

#[test]
fn metadata_02_an_answer_that_brings_nothing_new_backs_off_and_progress_resets_it() {
    let mut peer = Peer::new(2);
    peer.cluster.create("t", &[1]);
    let mut client = Client::connected(peer, &config(2));
    assert_eq!(client.wait("t", None, secs(1)).0, Ok(()));
    client.harness.advance(secs(5));
    client.harness.peer.requests.clear();
    let demand = |client: &mut Client, time| {
        let end = client.harness.now + time;
        while client.harness.now < end {
            client.handle.metadata().request_update(RefreshReason::Requested);
            client.harness.advance(ms(10));
        }
    };
    demand(&mut client, secs(6));
    assert_gaps(&client.harness.peer.gaps(ApiKey::Metadata), &[100, 200, 400, 800, 1000, 1000]);
    // A new leader is progress: the next demand waits the shortest time again.
    client.harness.peer.cluster.move_leader("t", 0, 2);
    demand(&mut client, secs(2));
    assert_eq!(client.cluster().partition("t", 0).and_then(|p| p.leader), Some(2));
    client.harness.peer.requests.clear();
    client.harness.peer.cluster.move_leader("t", 0, 1);
    demand(&mut client, secs(3));
    assert_gaps(&client.harness.peer.gaps(ApiKey::Metadata), &[100, 100, 200, 400]);
}

#[test]
fn metadata_03_a_new_topic_bypasses_the_backoff_and_leaves_the_age_of_the_view() {
    let mut peer = Peer::new(1);
    for topic in ["a", "b"] {
        peer.cluster.create(topic, &[1]);
    }
    let mut client = Client::new(peer, &config(1));
    client.handle.metadata().want_topic("a");
    assert_eq!(client.wait("a", None, secs(1)).0, Ok(()));
    // The full view is a moment old, and any repetition would have to wait 100 ms now.
    let (outcome, took) = client.wait("b", None, secs(60));
    assert_eq!((outcome, took), (Ok(()), ms(1)));
    let asked = client.harness.peer.asked(ApiKey::Metadata);
    assert_eq!(asked.iter().map(names).collect::<Vec<_>>(), [vec!["a"], vec!["b"]]);
    let reports = client.handle.metadata().take_refreshes();
    assert_eq!(
        reports.iter().map(|r| (r.partial, r.reason)).collect::<Vec<_>>(),
        [(false, RefreshReason::Bootstrap), (true, RefreshReason::NewTopic)]
    );
    // metadata.max.age.ms counts from the first answer, not from the partial one.
    let full_at = asked[0].at + ms(1);
    client.harness.advance(secs(200));
    for topic in ["a", "b"] {
        client.cluster().topic(topic).expect("known").touch(client.harness.now);
    }
    client.harness.advance(secs(101));
    let third = &client.harness.peer.asked(ApiKey::Metadata)[2];
    assert_eq!((third.at, names(third)), (full_at + secs(300), vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn metadata_04_an_answer_to_an_older_request_leaves_the_need_pending() {
    for demanded_meanwhile in [false, true] {
        let mut client = Client::connected(Peer::new(1), &config(1));
        client.harness.advance(secs(2));
        client.harness.peer.broker(1).delay = ms(50);
        client.harness.peer.requests.clear();
        client.handle.metadata().request_update(RefreshReason::Requested);
        client.harness.advance(ms(20));
        assert_eq!(client.harness.peer.count(ApiKey::Metadata), 1, "the first is under way");
        if demanded_meanwhile {
            client.handle.metadata().request_update(RefreshReason::UnknownLeader);
        }
        client.harness.advance(secs(5));
        let expected = if demanded_meanwhile { 2 } else { 1 };
        assert_eq!(client.harness.peer.count(ApiKey::Metadata), expected);
        assert!(!client.harness.engine.metadata().update_requested());
    }
}

#[test]
fn metadata_05_a_lower_epoch_is_rejected_until_it_persists() {
    let mut pure = Pure::with_topic(3, "t", &[1]);
    pure.cluster.partition("t", 0).epoch = 5;
    pure.metadata.request_update(RefreshReason::Requested);
    pure.refresh();
    assert_eq!(pure.leader("t", 0), (Some(1), Some(5)));
    // A broker that lags names an older leader. Each such answer is asked about again.
    (pure.cluster.partition("t", 0).leader, pure.cluster.partition("t", 0).epoch) = (2, 4);
    pure.metadata.request_update(RefreshReason::Requested);
    for _ in 0..4 {
        pure.refresh();
        assert_eq!(pure.leader("t", 0), (Some(1), Some(5)));
    }
    // Persistently: the cluster was restored from an older state.
    pure.refresh();
    assert_eq!(pure.leader("t", 0), (Some(2), Some(4)));
}

#[test]
fn metadata_05_one_answer_in_between_starts_the_count_of_lower_epochs_again() {
    let mut pure = Pure::with_topic(3, "t", &[1]);
    for (leader, epoch) in [(1, 5), (2, 4), (2, 4), (1, 5), (2, 4), (2, 4), (2, 4), (2, 4)] {
        (pure.cluster.partition("t", 0).leader, pure.cluster.partition("t", 0).epoch) = (leader, epoch);
        pure.metadata.request_update(RefreshReason::Requested);
        pure.refresh();
        assert_eq!(pure.leader("t", 0), (Some(1), Some(5)));
    }
}

#[test]
fn metadata_05_a_changed_topic_id_accepts_a_lower_epoch() {
    let mut pure = Pure::with_topic(3, "t", &[1]);
    pure.cluster.partition("t", 0).epoch = 5;
    pure.metadata.request_update(RefreshReason::Requested);
    pure.refresh();
    let id = pure.cluster.create("t", &[2]).id;
    pure.metadata.request_update(RefreshReason::Requested);
    pure.refresh();
    assert_eq!(pure.leader("t", 0), (Some(2), Some(0)));
    assert_eq!(pure.metadata.cluster().topic_id("t"), Some(id));
    assert_eq!(pure.metadata.cluster().topic_name(id).map(|name| &**name), Some("t"));
}

#[test]
fn metadata_05_below_version_9_epochs_are_ignored() {
    let mut pure = Pure::with_topic(3, "t", &[1]);
    (pure.cluster.partition("t", 0).leader, pure.cluster.partition("t", 0).epoch) = (1, 5);
    pure.metadata.request_update(RefreshReason::Requested);
    pure.refresh_in(8);
    assert_eq!(pure.leader("t", 0), (Some(1), None));
    (pure.cluster.partition("t", 0).leader, pure.cluster.partition("t", 0).epoch) = (2, 4);
    pure.metadata.request_update(RefreshReason::Requested);
    pure.refresh_in(8);
    assert_eq!(pure.leader("t", 0), (Some(2), None), "nothing to compare with: the latest answer counts");
}

#[test]
fn metadata_06_a_newer_epoch_seen_elsewhere_invalidates_the_leader() {
    let mut pure = Pure::with_topic(2, "t", &[1, 1]);
    assert!(!pure.metadata.last_seen_epoch_newer("t", 0, 0), "not newer");
    assert!(!pure.metadata.last_seen_epoch_newer("t", 9, 1), "not cached");
    assert!(!pure.metadata.update_requested());
    assert!(pure.metadata.last_seen_epoch_newer("t", 0, 3));
    assert_eq!((pure.leader("t", 0), pure.leader("t", 1)), ((None, Some(3)), (Some(1), Some(0))));
    assert!(pure.metadata.update_requested());
    assert_eq!(pure.metadata.cluster().topic("t").expect("known").available, [1]);
    // An answer that is older than what was seen does not bring the old leader back.
    pure.refresh();
    assert_eq!(pure.leader("t", 0), (None, Some(3)));
    (pure.cluster.partition("t", 0).leader, pure.cluster.partition("t", 0).epoch) = (2, 3);
    pure.refresh();
    assert_eq!(pure.leader("t", 0), (Some(2), Some(3)));
}

#[test]
fn metadata_07_a_leader_hint_needs_a_newer_epoch_a_known_node_and_a_cached_partition() {
    let mut pure = Pure::with_topic(2, "t", &[1]);
    let node = |id| Node { id, host: format!("b{id}").into(), port: 9092, rack: None };
    let hint = |leader_id, leader_epoch| LeaderHint { leader_id, leader_epoch };
    for (partition, hint) in
        [(0, hint(2, 0)), (0, hint(2, -1)), (0, hint(7, 1)), (0, hint(-1, 1)), (4, hint(2, 1))]
    {
        assert!(!pure.metadata.apply_leader_hint("t", partition, hint, &[]), "{hint:?}");
    }
    assert!(!pure.metadata.apply_leader_hint("other", 0, hint(2, 1), &[]));
    assert_eq!(pure.leader("t", 0), (Some(1), Some(0)));

    assert!(pure.metadata.apply_leader_hint("t", 0, hint(2, 1), &[]));
    assert_eq!(pure.leader("t", 0), (Some(2), Some(1)));
    // A node that only the hint's answer names is known from then on.
    assert!(pure.metadata.apply_leader_hint("t", 0, hint(7, 2), &[node(7)]));
    assert_eq!(pure.metadata.cluster().leader("t", 0).map(ToString::to_string), Some("b7:9092".to_owned()));
    assert!(!pure.metadata.update_requested(), "no round trip for it");
    // Callers see it with the next turn, and a lagging answer does not take it back.
    let handle = pure.metadata.handle();
    assert_eq!(handle.view().cluster.partition("t", 0).and_then(|p| p.leader), Some(1));
    pure.metadata.publish_changes();
    assert_eq!(handle.view().cluster.partition("t", 0).and_then(|p| p.leader), Some(7));
    pure.cluster.brokers.insert(7, ("b7".to_owned(), 9092));
    pure.metadata.request_update(RefreshReason::Requested);
    pure.refresh();
    assert_eq!(pure.leader("t", 0), (Some(7), Some(2)));
}

#[test]
fn metadata_08_a_partition_error_asks_again() {
    let mut pure = Pure::new(2);
    pure.cluster.create("t", &[1, -1]).partitions[1].error = ErrorCode::LEADER_NOT_AVAILABLE;
    pure.cluster.create("u", &[1]);
    for topic in ["t", "u"] {
        pure.metadata.handle().want_topic(topic);
    }
    pure.refresh();
    assert_eq!(pure.leader("t", 1), (None, Some(0)));
    // After the backoff, and about that topic alone.
    let next = pure.metadata.next_update_at();
    assert!(next - pure.now >= ms(80) && next - pure.now <= ms(120));
    let planned = pure.metadata.next_request(next).expect("due");
    assert_eq!(planned.topics.as_deref(), Some(&["t".into()][..]));
    assert_eq!(planned.reason, RefreshReason::AnswerError(ErrorCode::LEADER_NOT_AVAILABLE));
    pure.cluster.topic("t").partitions[1].error = ErrorCode::NONE;
    pure.cluster.move_leader("t", 1, 2);
    let answer = pure.cluster.metadata(&planned.request);
    pure.metadata.handle_response(&planned, &answer, METADATA_VERSION, next);
    assert_eq!(pure.leader("t", 1), (Some(2), Some(1)));
    assert_eq!(
        pure.metadata.next_update_at(),
        START + secs(300),
        "nothing is left to ask but the periodic refresh"
    );
}

#[test]
fn metadata_08_a_topic_error_reaches_only_those_who_wait_for_that_topic() {
    let mut peer = Peer::new(1);
    peer.cluster.create("mine", &[1]);
    peer.cluster.create("secret", &[1]).error = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    peer.cluster.create("b@d", &[1]).error = ErrorCode::INVALID_TOPIC_EXCEPTION;
    let mut client = Client::connected(peer, &config(1));
    let (outcome, _) = client.wait("secret", None, secs(60));
    assert_eq!(outcome, Err(MetadataError::TopicAuthorization { topic: "secret".into() }));
    // Who does not wait is told what was said last.
    let said_last = |topic, partition| {
        let wait = MetadataWait::new(topic, partition, client.harness.now);
        wait.said_last(client.handle.metadata(), client.harness.now)
    };
    assert_eq!(said_last("secret", None), outcome.err());
    assert_eq!(said_last("mine", None), None);
    let (outcome, _) = client.wait("b@d", None, secs(60));
    assert_eq!(outcome, Err(MetadataError::InvalidTopic { topic: "b@d".into() }));
    assert_eq!(client.wait("mine", None, secs(60)).0, Ok(()));
    let cluster = client.cluster();
    assert!(cluster.unauthorized_topics().map(|name| &**name).eq(["secret"]));
    assert!(cluster.invalid_topics().map(|name| &**name).eq(["b@d"]));
    // Once allowed, a new wait is not told the old error.
    client.harness.peer.cluster.topic("secret").error = ErrorCode::NONE;
    assert_eq!(client.wait("secret", None, secs(60)).0, Ok(()));
    assert_eq!(client.cluster().unauthorized_topics().count(), 0);
}

#[test]
fn metadata_08_a_fatal_error_wakes_all() {
    let mut pure = Pure::with_topic(1, "t", &[1]);
    let handle = pure.metadata.handle();
    let deadline = pure.now + secs(60);
    let mut waits = ["a", "b"].map(|topic| MetadataWait::new(topic, None, deadline));
    let mut listeners = [handle.listen(), handle.listen()].map(Box::pin);
    for wait in &mut waits {
        assert_eq!(wait.poll(&handle, pure.now), Poll::Pending);
    }
    pure.metadata.fail_fatally("authentication failed");
    let mut cx = Context::from_waker(Waker::noop());
    for (wait, listener) in waits.iter_mut().zip(&mut listeners) {
        assert_eq!(listener.as_mut().poll(&mut cx), Poll::Ready(()));
        let outcome = wait.poll(&handle, pure.now);
        assert_eq!(outcome, Poll::Ready(Err(MetadataError::Fatal("authentication failed".into()))));
    }
    // What is known is still known, and a success lifts it.
    assert_eq!(MetadataWait::new("t", None, deadline).poll(&handle, pure.now), Poll::Ready(Ok(())));
    pure.refresh();
    assert!(handle.view().fatal.is_none());
}

#[test]
fn metadata_09_a_leader_that_is_not_in_the_broker_list_is_no_leader() {
    let mut pure = Pure::with_topic(2, "t", &[2, 1]);
    pure.cluster.create("u", &[2]);
    pure.metadata.handle().want_topic("u");
    pure.refresh();
    assert_eq!(pure.metadata.cluster().partitions_by_node(2).count(), 2);
    // Broker 2 leaves; the answer that says so is about one topic, the other one is affected all the same.
    pure.cluster.brokers.remove(&2);
    pure.metadata.add_topic(&"t".into(), pure.now);
    pure.refresh();
    for topic in ["t", "u"] {
        assert_eq!(pure.leader(topic, 0).0, None);
        assert!(pure.metadata.cluster().leader(topic, 0).is_none());
    }
    assert_eq!(pure.metadata.cluster().topic("t").expect("known").available, [1]);
    assert_eq!(pure.metadata.cluster().partitions_by_node(2).count(), 0);
    // The brokers stay the same, but an answer names a leader that never was one of them.
    pure.cluster.move_leader("t", 1, 7);
    pure.metadata.add_topic(&"t".into(), pure.now);
    pure.refresh();
    assert_eq!(pure.leader("t", 1), (None, Some(1)));
    assert!(pure.metadata.next_update_at() < pure.now + secs(2), "asked again");
}

#[test]
fn metadata_09_an_empty_broker_list_is_a_failed_update() {
    let mut pure = Pure::with_topic(2, "t", &[2]);
    pure.metadata.request_update(RefreshReason::Requested);
    let before = pure.metadata.version();
    let next = pure.metadata.next_update_at();
    let planned = pure.metadata.next_request(next).expect("due");
    let outcome =
        pure.metadata.handle_response(&planned, &MetadataResponse::default(), METADATA_VERSION, next);
    assert_eq!(outcome, UpdateOutcome::Failed);
    assert_eq!((pure.metadata.version(), pure.leader("t", 0)), (before, (Some(2), Some(0))));
    assert!(pure.metadata.update_requested(), "the need is still there");
    assert!(pure.metadata.next_update_at() >= next + ms(80), "after a backoff");
    let failure = pure.metadata.handle().view().last_failure.clone().expect("said why");
    assert!(failure.contains("names no brokers"), "{failure}");
    // Nor do brokers help that cannot be reached.
    let planned = pure.metadata.next_request(next + secs(1)).expect("due");
    let mut answer = pure.cluster.metadata(&planned.request);
    answer.brokers.iter_mut().for_each(|broker| broker.port = -1);
    let outcome = pure.metadata.handle_response(&planned, &answer, METADATA_VERSION, next + secs(1));
    assert_eq!((outcome, pure.leader("t", 0)), (UpdateOutcome::Failed, (Some(2), Some(0))));
}

#[test]
fn metadata_10_idle_topics_expire_and_new_ones_do_not() {
    let mut pure = Pure::with_topic(1, "idle", &[1]);
    pure.cluster.create("used", &[1]);
    pure.metadata.handle().want_topic("used");
    pure.refresh();
    let used = Arc::clone(pure.metadata.cluster().topic("used").expect("known"));
    used.touch(pure.now + secs(200));
    // At the periodic refresh after 300 s one was used 100 s ago, one never since, and one is wanted just now.
    let due = pure.metadata.next_update_at();
    pure.now = due;
    pure.metadata.handle().want_topic("new");
    pure.metadata.poll(due);
    let planned = pure.metadata.next_request(due).expect("due");
    assert_eq!(planned.topics.as_deref(), Some(&["new".into(), "used".into()][..]));
    assert!(!planned.partial);
    let answer = pure.cluster.metadata(&planned.request);
    pure.metadata.handle_response(&planned, &answer, METADATA_VERSION, due);
    let cluster = pure.metadata.cluster();
    assert!(cluster.topic("idle").is_none() && cluster.topic("used").is_some());
    assert!(cluster.topics().map(|topic| &*topic.name).eq(["used"]));
}

#[test]
fn metadata_10_a_topic_that_expired_and_is_used_again_stays() {
    let mut pure = Pure::with_topic(1, "t", &[1]);
    // It expires with the periodic request, and is wanted again before that is answered.
    let due = pure.metadata.next_update_at();
    let full = pure.metadata.next_request(due).expect("due");
    assert_eq!(full.topics.as_deref(), Some(&[][..]));
    pure.metadata.add_topic(&"t".into(), due);
    let partial = pure.metadata.next_request(due).expect("a fresh topic");
    for planned in [&partial, &full] {
        let answer = pure.cluster.metadata(&planned.request);
        pure.metadata.handle_response(planned, &answer, METADATA_VERSION, due);
    }
    let topic = Arc::clone(pure.metadata.cluster().topic("t").expect("wanted"));
    topic.touch(due + secs(299));
    let planned = pure.metadata.next_request(due + secs(300)).expect("due");
    assert_eq!(planned.topics.as_deref(), Some(&["t".into()][..]), "its use counts");
}

#[test]
fn metadata_10_a_topic_that_was_never_answered_does_not_expire() {
    let mut pure = Pure::new(1);
    pure.metadata.handle().want_topic("new");
    for _ in 0..3 {
        pure.metadata.poll(pure.now);
        pure.now = pure.now.max(pure.metadata.next_update_at());
        let planned = pure.metadata.next_request(pure.now).expect("due");
        assert_eq!(planned.topics.as_deref(), Some(&["new".into()][..]));
        // Half an hour without an answer.
        pure.now += secs(1800);
        pure.metadata.handle_failure(&planned, "lost", pure.now);
    }
}

#[test]
fn metadata_11_close_wakes_every_waiter() {
    let mut pure = Pure::with_topic(1, "t", &[1]);
    let handle = pure.metadata.handle();
    let mut wait = MetadataWait::new("unknown", None, pure.now + secs(60));
    let mut listener = pin!(handle.listen());
    let mut cx = Context::from_waker(Waker::noop());
    assert_eq!(wait.poll(&handle, pure.now), Poll::Pending);
    assert_eq!(listener.as_mut().poll(&mut cx), Poll::Pending);
    pure.metadata.close();
    assert_eq!(listener.as_mut().poll(&mut cx), Poll::Ready(()));
    assert_eq!(wait.poll(&handle, pure.now), Poll::Ready(Err(MetadataError::Closed)));
    pure.metadata.poll(pure.now);
    assert_eq!(pure.metadata.next_update_at(), Instant::FAR_FUTURE, "a closed client asks nothing");
}

#[test]
fn metadata_11_readers_see_one_consistent_snapshot() {
    let mut pure = Pure::with_topic(1, "t", &[1; 32]);
    let handle = pure.metadata.handle();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = || {
            let (mut newest, mut seen) = (0, BTreeSet::new());
            while !done.load(Ordering::Acquire) {
                let view = handle.view();
                let topic = view.cluster.topic("t").expect("never emptied");
                let epochs: BTreeSet<_> = topic.partitions.iter().map(|p| p.leader_epoch).collect();
                assert_eq!(epochs.len(), 1, "a view between two updates: {epochs:?}");
                assert!(view.version >= newest);
                newest = view.version;
                seen.extend(epochs);
            }
            seen.len()
        };
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        for _ in 0..500 {
            (0..32).for_each(|partition| pure.cluster.move_leader("t", partition, 1));
            pure.metadata.request_update(RefreshReason::Requested);
            pure.refresh();
        }
        done.store(true, Ordering::Release);
        for reader in readers {
            assert!(reader.join().expect("no reader saw anything odd") >= 1);
        }
    });
}

#[test]
fn metadata_12_the_wait_ends_at_its_deadline_and_names_the_topics_error() {
    let mut client = Client::connected(Peer::new(1), &config(1));
    let (outcome, took) = client.wait("nowhere", None, ms(2_500));
    let error = outcome.expect_err("there is no such topic");
    assert!(took >= ms(2_450) && took <= ms(2_550), "{took:?}");
    let text = error.to_string();
    assert!(
        text.contains("`nowhere`") && text.contains("2500 ms") && text.contains("UNKNOWN_TOPIC_OR_PARTITION"),
        "{text}"
    );
}

#[test]
fn metadata_12_who_cannot_wait_asks_all_the_same() {
    let mut peer = Peer::new(1);
    peer.cluster.create("t", &[1]);
    let mut client = Client::connected(peer, &config(1));
    let (outcome, took) = client.wait("t", None, ms(0));
    assert!(matches!(outcome, Err(MetadataError::TimedOut { .. })) && took == ms(0), "{outcome:?}");
    client.harness.advance(ms(50));
    assert_eq!(client.wait("t", None, ms(0)).0, Ok(()));
}

#[test]
fn metadata_12_the_wait_names_the_last_failure_to_connect_and_its_address() {
    let mut peer = Peer::new(2);
    peer.broker(1).reach = Reach::Refuses;
    peer.broker(2).reach = Reach::Refuses;
    let mut client = Client::new(peer, &config(2));
    let (outcome, took) = client.wait("t", None, ms(1_000));
    assert!(took >= ms(950) && took <= ms(1_050), "{took:?}");
    let text = outcome.expect_err("nobody is there").to_string();
    let names_one = text.contains("b1:9092") || text.contains("b2:9092");
    assert!(names_one && text.contains("connection refused"), "{text}");
}

#[test]
fn metadata_13_a_partition_out_of_range_refreshes_at_once_then_fails_with_the_range() {
    let mut peer = Peer::new(1);
    peer.cluster.create("t", &[1, 1]);
    let mut client = Client::connected(peer, &config(1));
    assert_eq!(client.wait("t", Some(1), secs(60)).0, Ok(()));
    client.harness.advance(secs(10));
    client.harness.peer.requests.clear();
    let (outcome, took) = client.wait("t", Some(2), secs(60));
    let error = outcome.expect_err("there are two");
    assert_eq!(took, ms(1), "one question, and its answer");
    let text = error.to_string();
    assert!(text.contains("partition 2") && text.contains("[0, 2)"), "{text}");
    assert_eq!(
        client.harness.peer.asked(ApiKey::Metadata).iter().map(names).collect::<Vec<_>>(),
        [vec!["t"]]
    );
    // The question was worth it: partitions may have been added.
    client.harness.peer.cluster.create("t", &[1, 1, 1]);
    client.harness.advance(secs(10));
    assert_eq!(client.wait("t", Some(2), secs(60)).0, Ok(()));
}

#[test]
fn metadata_14_partitions_and_topics_that_an_answer_does_not_mention_survive() {
    let mut pure = Pure::with_topic(2, "t", &[1, 2, 1]);
    pure.metadata.request_update(RefreshReason::Requested);
    let next = pure.metadata.next_update_at();
    let planned = pure.metadata.next_request(next).expect("due");
    let mut answer = pure.cluster.metadata(&planned.request);
    answer.topics[0].partitions.remove(1);
    pure.metadata.handle_response(&planned, &answer, METADATA_VERSION, next);
    assert_eq!([0, 1, 2].map(|partition| pure.leader("t", partition).0), [Some(1), Some(2), Some(1)]);
    pure.now = next;
    pure.metadata.request_update(RefreshReason::Requested);
    let next = pure.metadata.next_update_at();
    let planned = pure.metadata.next_request(next).expect("due");
    let mut answer = pure.cluster.metadata(&planned.request);
    answer.topics.clear();
    pure.metadata.handle_response(&planned, &answer, METADATA_VERSION, next);
    assert_eq!(pure.leader("t", 1).0, Some(2));
}

#[test]
fn metadata_14_a_refresh_shares_what_did_not_change() {
    let mut pure = Pure::new(3);
    // A large cluster: 1,000 topics of 100 partitions.
    for topic in 0..1_000 {
        let name = format!("topic-{topic:04}");
        pure.cluster.create(&name, &[1 + topic % 3; 100]);
        pure.metadata.handle().want_topic(&name);
    }
    pure.refresh();
    let before = Arc::clone(pure.metadata.cluster());
    assert_eq!(before.topics().map(|topic| topic.partitions.len()).sum::<usize>(), 100_000);
    pure.cluster.create("late", &[1]);
    pure.metadata.handle().want_topic("late");
    pure.refresh();
    pure.cluster.move_leader("topic-0500", 7, 1);
    pure.metadata.request_update(RefreshReason::Requested);
    pure.refresh();
    let after = pure.metadata.cluster();
    let copied: Vec<&str> = before
        .topics()
        .filter(|topic| !after.topic(&topic.name).is_some_and(|same| Arc::ptr_eq(topic, same)))
        .map(|topic| &*topic.name)
        .collect();
    assert_eq!(copied, ["topic-0500"]);
    assert_eq!(after.topic_count(), 1_001);
}

#[test]
fn a_script_may_delay_answers() {
    let mut peer = Peer::new(1);
    peer.script(ApiKey::Metadata, |_, _| Reply::After(ms(30), Box::new(Reply::AsUsual)));
    let client = Client::connected(peer, &config(1));
    assert_eq!(client.harness.now, START + ms(33));
}

#[test]
fn the_same_seed_tells_the_same_story() {
    let story = |seed| {
        let mut peer = Peer::new(5);
        peer.cluster.create("t", &[1, 2, 3, 4, 5]);
        peer.broker(2).reach = Reach::Swallows;
        peer.broker(3).reach = Reach::Refuses;
        let mut client = Client::seeded(peer, &config(5), seed);
        let _ = client.wait("t", None, secs(5));
        for _ in 0..20 {
            client.handle.metadata().request_update(RefreshReason::Requested);
            client.harness.advance(secs(20));
        }
        client.harness.peer.story()
    };
    assert_eq!(story(1), story(1));
    assert_ne!(story(1), story(2));
}
