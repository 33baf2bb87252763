//! What went wrong for people with other clients (behaviours "Field reports"): the part that metadata and connections show.

mod support;

use std::{
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

use bytes::{BufMut, BytesMut};
use milena_core::{
    admin::{PendingResponse, RetryPolicy, Target},
    config::ClientConfig,
    metadata::RefreshReason,
};
use milena_protocol::{
    ApiKey, ErrorCode,
    messages::{DescribeClusterRequest, DescribeClusterResponse},
};
use support::{Client, METADATA_VERSION, Peer, Pure, Reach, Reply, config, ms, secs};

/// Brokers that also answer DescribeCluster, for connections that have nothing to do with metadata.
fn peer(brokers: i32) -> Peer {
    let mut peer = Peer::new(brokers);
    peer.script(ApiKey::DescribeCluster, |request, _| request.answer(&DescribeClusterResponse::default()));
    peer
}

fn ask(client: &Client, node: i32, timeout: Duration) -> PendingResponse {
    let deadline = client.harness.now + timeout;
    client.handle.submit(Target::Node(node), DescribeClusterRequest::default(), deadline, RetryPolicy::lost())
}

/// A client with open connections to brokers 1 to `brokers`.
fn connected_to_all(peer: Peer, brokers: i32) -> Client {
    let mut client = Client::connected(peer, &config(brokers));
    let mut pending: Vec<PendingResponse> = (1..=brokers).map(|node| ask(&client, node, secs(60))).collect();
    for answer in &mut pending {
        client.harness.run_until(secs(5), |_| answer.try_take().is_some());
    }
    client.harness.advance(secs(2));
    client
}

/// Takes a broker's host away: connections drop, and new ones meet `reach`.
fn die(client: &mut Client, broker: i32, reach: Reach) {
    client.harness.peer.broker(broker).reach = reach;
    client.harness.disconnect(broker, "connection reset by peer");
}

#[test]
fn field_01_a_spent_wait_says_why() {
    let mut client = Client::connected(peer(1), &config(1));
    let text = client.wait("t", None, secs(60)).0.expect_err("no such topic").to_string();
    assert!(
        text.starts_with("topic `t` is not in the metadata after 60000 ms: UNKNOWN_TOPIC_OR_PARTITION (3)"),
        "{text}"
    );
    // Another time the brokers are gone: then that is the cause.
    die(&mut client, 1, Reach::Refuses);
    client.harness.advance(secs(1));
    let text = client.wait("u", None, secs(60)).0.expect_err("no broker").to_string();
    assert!(text.ends_with("cannot connect to b1:9092: connection refused"), "{text}");
}

#[test]
fn field_02_a_topic_that_does_not_exist_is_asked_for_a_few_times() {
    let mut client = Client::connected(peer(3), &config(3));
    let (outcome, _) = client.wait("nowhere", None, ms(9_900));
    assert!(outcome.is_err());
    let asked = client.harness.peer.count(ApiKey::Metadata);
    assert!((8..=20).contains(&asked), "{asked} requests in 10 s");
}

#[test]
fn field_03_a_storm_of_not_leader_answers_follows_the_backoff() {
    let mut peer = peer(3);
    peer.cluster.create("t", &[1]);
    let mut client = Client::connected(peer, &config(3));
    assert!(client.wait("t", None, secs(1)).0.is_ok());
    client.harness.advance(secs(5));
    client.harness.peer.requests.clear();
    let stale = RefreshReason::Stale(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    for _ in 0..10_000 {
        client.handle.metadata().request_update(stale);
        client.harness.advance(ms(1));
    }
    let asked = client.harness.peer.count(ApiKey::Metadata);
    assert!((8..=20).contains(&asked), "{asked} requests for 10,000 answers in 10 s");
}

#[test]
fn field_04_a_broker_that_comes_back_under_a_new_address_is_found_there() {
    let mut client = connected_to_all(peer(2), 2);
    // Broker 2 moves to b9; its old host is still there, and answers to nobody.
    client.harness.peer.add_broker(9);
    client.harness.peer.cluster.brokers.insert(2, ("b9".to_owned(), 9092));
    client.harness.peer.broker(2).silent = true;
    let mut stuck = ask(&client, 2, secs(60));
    client.harness.advance(ms(100));
    client.handle.metadata().request_update(RefreshReason::Requested);
    client.harness.advance(ms(500));
    let old = Peer::address(2);
    assert!(
        client.harness.peer.closes.iter().any(|(_, address)| *address == old),
        "the old socket is closed"
    );
    assert!(stuck.try_take().is_some_and(|outcome| outcome.is_ok()), "what was asked there is asked again");
    let asked = client.harness.peer.asked(ApiKey::DescribeCluster);
    assert_eq!(asked.last().map(|request| request.address), Some(Peer::address(9)));
}

#[test]
fn field_05_one_dead_host_delays_no_refresh() {
    let mut worst = Duration::ZERO;
    for seed in 0..50 {
        let mut peer = peer(3);
        peer.broker(3).reach = Reach::Swallows;
        let mut client = Client::seeded(peer, &config(3), seed);
        client.harness.run_until(secs(5), |h| h.engine.metadata().version() > 0);
        worst = worst.max(client.harness.now - support::START);
        // Every ten minutes a refresh, for hours; idle connections are closed in between.
        client.handle.metadata().take_refreshes();
        for _ in 0..20 {
            client.harness.advance(secs(600));
            client.handle.metadata().request_update(RefreshReason::Requested);
            client.harness.advance(secs(5));
        }
        let reports = client.handle.metadata().take_refreshes();
        assert!(reports.len() >= 20);
        worst = reports.iter().fold(worst, |worst, report| worst.max(report.took));
        assert!(reports.iter().all(|report| report.error.is_none()), "{reports:?}");
    }
    assert!(worst < ms(300), "the worst refresh took {worst:?}");
}

#[test]
fn field_08_a_client_is_built_without_dns_and_recovers_with_it() {
    for silent in [false, true] {
        let mut peer = peer(1);
        let good = peer.dns.insert("b1".to_owned(), Err("temporary failure in name resolution".to_owned()));
        peer.dns_silent = silent;
        let mut client = Client::new(peer, &config(1));
        client.harness.advance(secs(60));
        let failure = client.handle.metadata().view().last_failure.clone().expect("said why");
        assert!(failure.contains("b1:9092"), "{failure}");
        assert!(client.harness.peer.resolves.len() < 80, "not in a loop");
        client.harness.peer.dns.insert("b1".to_owned(), good.expect("the usual address"));
        client.harness.peer.dns_silent = false;
        // A resolver that answers nothing has to time out first.
        client
            .harness
            .run_until(if silent { secs(40) } else { secs(2) }, |h| h.engine.metadata().version() > 0);
    }
}

#[test]
fn field_08_an_old_address_from_dns_is_given_up() {
    let mut peer = peer(1);
    let old = vec![IpAddr::V4(Ipv4Addr::new(10, 9, 9, 9))];
    let good = peer.dns.insert("b1".to_owned(), Ok(old));
    let mut client = Client::new(peer, &config(1));
    client.harness.advance(secs(5));
    client.harness.peer.dns.insert("b1".to_owned(), good.expect("the usual address"));
    client.harness.run_until(secs(10), |h| h.engine.metadata().version() > 0);
    assert_eq!(client.harness.peer.resolves.len(), 2);
}

#[test]
fn field_09_a_lagging_broker_does_not_move_the_leader_back() {
    let mut peer = peer(2);
    peer.cluster.create("t", &[1]);
    let mut client = Client::connected(peer, &config(2));
    assert!(client.wait("t", None, secs(1)).0.is_ok());
    client.harness.peer.cluster.move_leader("t", 0, 2);
    client.handle.metadata().request_update(RefreshReason::Requested);
    client.harness.advance(secs(3));
    let leader = |client: &Client| client.cluster().partition("t", 0).and_then(|p| p.leader);
    assert_eq!(leader(&client), Some(2));
    // For a while every second answer comes from a broker that has not heard of it.
    let mut answers = 0;
    client.harness.peer.script(ApiKey::Metadata, move |request, cluster| {
        answers += 1;
        let mut answer = cluster.metadata(&request.decode());
        if answers % 2 == 1 {
            let partition = &mut answer.topics[0].partitions[0];
            (partition.leader_id, partition.leader_epoch) = (1, 0);
        }
        request.answer(&answer)
    });
    for _ in 0..100 {
        client.handle.metadata().request_update(RefreshReason::Requested);
        client.harness.advance(ms(100));
        assert_eq!(leader(&client), Some(2));
    }
    // The cluster was restored from a backup: from now on all brokers say so.
    client.harness.peer.script(ApiKey::Metadata, |_, _| Reply::AsUsual);
    (
        client.harness.peer.cluster.partition("t", 0).leader,
        client.harness.peer.cluster.partition("t", 0).epoch,
    ) = (1, 0);
    client.handle.metadata().request_update(RefreshReason::Requested);
    client.harness.advance(secs(10));
    assert_eq!(leader(&client), Some(1));
}

#[test]
fn field_10_a_topic_that_is_created_again_is_another_topic() {
    let mut peer = peer(2);
    peer.cluster.create("t", &[1, 1, 1]);
    for _ in 0..5 {
        peer.cluster.move_leader("t", 0, 1);
    }
    let mut client = Client::connected(peer, &config(2));
    assert!(client.wait("t", None, secs(1)).0.is_ok());
    let id = client.harness.peer.cluster.create("t", &[2]).id;
    client.handle.metadata().request_update(RefreshReason::Requested);
    client.harness.advance(secs(1));
    let cluster = client.cluster();
    let topic = cluster.topic("t").expect("known");
    assert_eq!((topic.id, topic.partitions.len()), (id, 1), "its other partitions were the old topic's");
    assert_eq!((topic.partitions[0].leader, topic.partitions[0].leader_epoch), (Some(2), Some(0)));
}

#[test]
fn field_13_rebootstrap_drops_what_was_learned_and_resolves_the_names_again() {
    let mut client = connected_to_all(peer(3), 3);
    // The whole cluster is replaced; the names in bootstrap.servers lead to another one, of one broker.
    for broker in 1..=3 {
        die(&mut client, broker, Reach::Swallows);
    }
    client.harness.peer.add_broker(9);
    client.harness.peer.cluster.brokers = [(9, ("b9".to_owned(), 9092))].into();
    for name in ["b1", "b2", "b3"] {
        client.harness.peer.dns.insert(name.to_owned(), Ok(vec![Peer::address(9).ip()]));
    }
    client.harness.peer.resolves.clear();
    client.harness.run_until(secs(30), |h| h.engine.metadata().cluster().node(9).is_some());
    assert!(client.cluster().nodes().map(|node| node.id).eq([9]));
    assert!(client.harness.peer.resolves.iter().any(|(_, host)| host.starts_with('b')));
}

#[test]
fn field_13_rebootstrap_tries_the_learned_brokers_too() {
    // Only b1 is configured, 2 and 3 were learned from it.
    let mut client = Client::connected(peer(3), &config(1));
    for node in [2, 3] {
        let mut answer = ask(&client, node, secs(5));
        client.harness.run_until(secs(5), |_| answer.try_take().is_some());
    }
    for broker in 1..=3 {
        die(&mut client, broker, Reach::Refuses);
    }
    client.harness.advance(secs(10));
    assert!(client.cluster().is_bootstrap(), "{:?}", client.cluster());
    // The configured one is gone for good, and its name too. A learned one comes back.
    client.harness.peer.dns.insert("b1".to_owned(), Err("no such host".to_owned()));
    client.harness.peer.broker(3).reach = Reach::Accepts;
    client.harness.run_until(secs(3), |h| !h.engine.metadata().cluster().is_bootstrap());
}

#[test]
fn field_13_rebootstrap_does_not_loop() {
    // The bootstrap address answers, but every broker that it names refuses.
    let mut peer = peer(3);
    peer.cluster.brokers = [(2, ("b2".to_owned(), 9092)), (3, ("b3".to_owned(), 9092))].into();
    for broker in [2, 3] {
        peer.broker(broker).reach = Reach::Refuses;
    }
    let mut client = Client::connected(peer, &config(1));
    let mut pending = [ask(&client, 2, secs(60)), ask(&client, 3, secs(60))];
    let end = client.harness.now + secs(10);
    while client.harness.now < end {
        // It ends the connection after each answer, as some balancers do: nothing is left but to start again.
        client.harness.disconnect(1, "connection reset by peer");
        let version = client.version();
        client.harness.run_until(secs(5), |h| h.engine.metadata().version() > version);
    }
    let metadata = client.harness.peer.count(ApiKey::Metadata);
    let connects = client.harness.peer.connects.len();
    assert!(metadata <= 25 && connects <= 200, "{metadata} requests, {connects} connects in 10 s");
    assert!(pending.iter_mut().all(|answer| answer.try_take().is_none()));
}

#[test]
fn field_13_a_broker_may_demand_to_bootstrap_again() {
    let mut client = connected_to_all(peer(3), 3);
    let mut demanded = false;
    client.harness.peer.script(ApiKey::Metadata, move |request, cluster| {
        let mut answer = cluster.metadata(&request.decode());
        if !std::mem::replace(&mut demanded, true) {
            answer.error_code = ErrorCode::REBOOTSTRAP_REQUIRED;
        }
        request.answer(&answer)
    });
    client.harness.peer.resolves.clear();
    let version = client.version();
    client.handle.metadata().request_update(RefreshReason::Requested);
    client.harness.run_until(secs(1), |h| h.engine.metadata().version() > version);
    assert!(!client.harness.peer.resolves.is_empty(), "the names are resolved again");
    let reasons: Vec<_> =
        client.handle.metadata().take_refreshes().iter().map(|report| report.reason).collect();
    assert_eq!(reasons.last(), Some(&RefreshReason::Rebootstrap), "{reasons:?}");
}

#[test]
fn field_13_refreshes_that_fail_for_long_enough_bootstrap_again() {
    let mut client = Client::connected(peer(2), &config(1));
    client.harness.peer.cluster.error = ErrorCode::UNKNOWN_SERVER_ERROR;
    client.harness.advance(secs(5));
    client.handle.metadata().request_update(RefreshReason::Requested);
    let due_at = client.harness.now;
    client.harness.run_until(secs(400), |h| h.engine.metadata().cluster().is_bootstrap());
    let after = client.harness.now - due_at;
    assert!(after >= secs(300) && after <= secs(301), "{after:?}");
    // Unless that is switched off.
    let settings = ClientConfig { rebootstrap: false, ..config(1) };
    let mut client = Client::connected(peer(2), &settings);
    client.harness.peer.cluster.error = ErrorCode::UNKNOWN_SERVER_ERROR;
    client.handle.metadata().request_update(RefreshReason::Requested);
    client.harness.advance(secs(400));
    assert!(!client.cluster().is_bootstrap());
}

#[test]
fn field_14_no_refresh_empties_the_view() {
    let mut peer = peer(2);
    for topic in ["a", "b", "c"] {
        peer.cluster.create(topic, &[1, 2]);
    }
    let mut client = Client::connected(peer, &config(2));
    for topic in ["a", "b", "c"] {
        assert!(client.wait(topic, None, secs(1)).0.is_ok());
    }
    // Elections run, and one answer in three does not know one of the topics.
    let mut answers = 0;
    client.harness.peer.script(ApiKey::Metadata, move |request, cluster| {
        answers += 1;
        cluster.move_leader("b", 0, 1 + answers % 2);
        let mut answer = cluster.metadata(&request.decode());
        if answers % 3 == 0 {
            let forgotten = &mut answer.topics[0];
            forgotten.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
            forgotten.partitions.clear();
        }
        request.answer(&answer)
    });
    let handle = client.handle.clone();
    let before = client.version();
    let end = client.harness.now + secs(30);
    while client.harness.now < end {
        handle.metadata().request_update(RefreshReason::Requested);
        client.harness.advance(ms(5));
        let view = handle.metadata().view();
        for topic in ["a", "b", "c"] {
            assert_eq!(view.cluster.topic(topic).map(|topic| topic.partitions.len()), Some(2), "{topic}");
        }
    }
    assert!(client.version() > before + 100);
}

#[test]
fn field_15_when_the_broker_asked_dies_another_is_asked_at_once() {
    for seed in 0..10 {
        let mut peer = peer(3);
        let mut client = Client::seeded(std::mem::replace(&mut peer, Peer::new(0)), &config(3), seed);
        client.harness.run_until(secs(5), |h| h.engine.metadata().version() > 0);
        let mut pending = [1, 2, 3].map(|node| ask(&client, node, secs(60)));
        for answer in &mut pending {
            client.harness.run_until(secs(5), |_| answer.try_take().is_some());
        }
        client.harness.advance(secs(2));
        let before = client.version();
        client.harness.peer.requests.clear();
        client.harness.peer.script(ApiKey::Metadata, {
            let mut first = true;
            move |_, _| if std::mem::replace(&mut first, false) { Reply::Nothing } else { Reply::AsUsual }
        });
        client.handle.metadata().request_update(RefreshReason::Requested);
        client.harness.advance(ms(200));
        let asked = client.harness.peer.asked(ApiKey::Metadata);
        assert_eq!(asked.len(), 1, "one under way, unanswered");
        let died_at = client.harness.now;
        die(&mut client, asked[0].broker, Reach::Swallows);
        client.harness.run_until(ms(5), |h| h.engine.metadata().version() > before);
        let asked = client.harness.peer.asked(ApiKey::Metadata);
        assert_eq!(asked[1].at, died_at, "at once, not after a backoff");
        assert_ne!(asked[1].broker, asked[0].broker);
    }
}

#[test]
fn field_16_brokers_that_left_are_not_asked_any_more() {
    let mut client = connected_to_all(peer(3), 3);
    client.harness.peer.cluster.brokers.remove(&2);
    client.handle.metadata().request_update(RefreshReason::Requested);
    client.harness.run_until(secs(2), |h| h.engine.metadata().cluster().node(2).is_none());
    client.harness.poll();
    let gone = Peer::address(2);
    assert!(client.harness.peer.closes.iter().any(|(_, address)| *address == gone));
    client.harness.peer.connects.clear();
    client.harness.peer.requests.clear();
    for _ in 0..50 {
        client.handle.metadata().request_update(RefreshReason::Requested);
        client.harness.advance(secs(60));
    }
    assert!(client.harness.peer.count(ApiKey::Metadata) >= 50);
    assert!(client.harness.peer.requests.iter().all(|request| request.broker != 2));
    assert!(client.harness.peer.connects.iter().all(|(_, address)| *address != gone));
}

#[test]
fn field_17_the_first_message_waits_for_no_tick() {
    let mut peer = peer(1);
    peer.cluster.create("t", &[1]);
    // A client that has been idle for a while, and a topic that it has not used yet.
    let mut client = Client::connected(peer, &config(1));
    client.harness.advance(ms(137));
    let (outcome, took) = client.wait("t", Some(0), secs(60));
    assert_eq!((outcome, took), (Ok(()), ms(1)));
}

#[test]
fn field_25_a_count_in_an_answer_allocates_nothing() {
    let mut peer = peer(2);
    let mut evil = true;
    peer.script(ApiKey::Metadata, move |request, _| {
        if !std::mem::replace(&mut evil, false) {
            return Reply::AsUsual;
        }
        let mut frame = BytesMut::new();
        frame.put_i32(request.correlation_id);
        frame.put_u8(0); // no tagged fields in the header
        frame.put_i32(0); // throttle_time_ms
        frame.put_slice(&[0xff, 0xff, 0xff, 0xff, 0x0f]); // 4,294,967,294 brokers
        Reply::Bytes(frame.freeze())
    });
    let mut client = Client::new(peer, &config(2));
    client.harness.run_until(secs(2), |h| h.engine.metadata().version() > 0);
    let reports = client.handle.metadata().take_refreshes();
    let error = reports[0].error.as_deref().expect("the first answer was refused");
    assert!(error.contains("cannot be decoded") && error.contains("brokers"), "{error}");
    assert_eq!(client.harness.peer.closes.len(), 1, "the peer's fault: that connection is closed");
}

#[test]
fn field_25_a_partition_number_in_an_answer_allocates_nothing() {
    let mut pure = Pure::with_topic(1, "t", &[1, 1]);
    pure.metadata.request_update(RefreshReason::Requested);
    let next = pure.metadata.next_update_at();
    let planned = pure.metadata.next_request(next).expect("due");
    let mut answer = pure.cluster.metadata(&planned.request);
    answer.topics[0].partitions[1].partition_index = i32::MAX;
    let mut negative = answer.topics[0].partitions[0].clone();
    negative.partition_index = -1;
    answer.topics[0].partitions.push(negative);
    pure.metadata.handle_response(&planned, &answer, METADATA_VERSION, next);
    assert_eq!(pure.metadata.cluster().topic("t").expect("known").partitions.len(), 2);
}
