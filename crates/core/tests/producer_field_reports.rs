//! What went wrong for people with other clients, on the producer's side: docs/behaviours.md, field reports.

mod producer_support;
mod support;

use milena_core::{
    config::ProducerConfig,
    metadata::RefreshReason,
    producer::{Append, ProduceError},
    record::Record,
};
use milena_protocol::{
    ApiKey, ErrorCode,
    messages::{PartitionProduceResponse, produce_response::LeaderIdAndEpoch},
};
use producer_support::{Fault, Test, config};
use support::{ms, secs};

#[test]
fn field_06_a_slow_broker_expires_nothing_before_its_time() {
    let mut config = ProducerConfig { delivery_timeout: secs(120), ..config() };
    config.client.request_timeout = secs(30);
    let mut test = Test::warm(config, 1, &[1]);
    let mut sent = Vec::new();
    for n in 0..100 {
        test.fault(Fault::Slow(secs(25)));
        sent.push(test.send_now(0, &format!("{n:03}")));
        test.harness.advance(ms(100));
    }
    for outcome in test.outcomes(sent) {
        outcome.expect("slow, but in time");
    }
    assert_eq!(test.values(0).len(), 100);
    test.settle();
}

#[test]
fn field_06_a_batch_that_begins_in_an_idle_queue_expires_in_time_as_well() {
    let mut config = ProducerConfig { delivery_timeout: secs(2), linger: secs(1), ..config() };
    config.client.request_timeout = secs(1);
    let mut test = Test::new(config, 1, &[1]);
    // Batches that are full and acknowledged at once keep the queue among the active ones, empty as it is, at the moment
    // when the first of them would have expired.
    for _ in 0..3 {
        let delivery = test.send_now(0, &"x".repeat(20 << 10));
        test.harness.advance(ms(700));
        test.outcome(delivery).expect("nothing is wrong yet");
    }
    test.harness.peer.broker(1).silent = true;
    let start = test.harness.now;
    let delivery = test.send_now(0, "late");
    let error = test.outcome(delivery).expect_err("nobody answers");
    assert!(matches!(error, ProduceError::TimedOut { .. }), "{error:?}");
    assert_eq!(test.harness.now - start, secs(2));
    test.settle();
}

#[test]
fn field_10_a_topic_that_is_created_again_is_delivered_to_and_sequences_start_again() {
    let mut test = Test::warm(config(), 1, &[1, 1]);
    test.harness.peer.cluster.move_leader("t", 0, 1);
    for n in 0..3 {
        let delivery = test.send(0, &n.to_string());
        test.outcome(delivery).expect("written to the old topic");
    }
    // Deleted and created: another id, and epochs from zero.
    test.harness.peer.cluster.create("t", &[1, 1]);
    let sent: Vec<_> = ["a", "b", "c"].iter().map(|value| test.send_now(0, value)).collect();
    for outcome in test.outcomes(sent) {
        outcome.expect("written to the new topic");
    }
    assert_eq!(test.values(0), ["a", "b", "c"]);
    let new: Vec<i32> = test
        .produced()
        .iter()
        .filter(|p| p.partition == 0 && p.answer.is_ok())
        .skip(3)
        .map(|p| p.header.base_sequence)
        .collect();
    assert_eq!(new[0], 0, "{new:?}");
    assert!(test.produced().iter().all(|p| p.answer != ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
    test.settle();
}

#[test]
fn field_10_a_hint_of_the_deleted_topics_leader_says_nothing_of_the_new_topic() {
    let mut test = Test::warm(config(), 2, &[1]);
    test.harness.advance(secs(1));
    let current_leader = LeaderIdAndEpoch { leader_id: 2, leader_epoch: 7 };
    let moved = PartitionProduceResponse {
        error_code: ErrorCode::NOT_LEADER_OR_FOLLOWER,
        base_offset: -1,
        current_leader,
        ..Default::default()
    };
    test.logs.borrow_mut().faults.push_back(Fault::Answer(Box::new(moved)));
    test.harness.peer.latency = ms(5);
    // It is created again, with epochs from zero. The client hears of it between its request to the old leader and the answer.
    test.harness.peer.cluster.create("t", &[1]);
    test.shared.metadata().request_update(RefreshReason::Requested);
    test.harness.advance(ms(2));
    let delivery = test.send_now(0, "a");
    test.outcome(delivery).expect("written to the new topic");
    let answers: Vec<_> = test.produced().iter().map(|p| (p.broker, p.answer)).collect();
    assert_eq!(answers, [(1, ErrorCode::NOT_LEADER_OR_FOLLOWER), (1, ErrorCode::NONE)]);
    test.settle();
}

#[test]
fn field_10_a_view_that_comes_back_to_a_topic_that_was_left_brings_nothing_twice() {
    let mut test = Test::warm(config(), 1, &[1]);
    let current = test.harness.peer.cluster.topics["t"].clone();
    test.fault(Fault::WriteAndLose);
    let sent = [test.send_now(0, "a"), test.send_now(0, "b")];
    // A broker that has missed that the topic was created again tells of the one before, whose leader writes nothing.
    test.harness.peer.cluster.create("t", &[1]);
    test.logs.borrow_mut().refusals.insert(0, vec![ErrorCode::NOT_ENOUGH_REPLICAS; 100].into());
    test.harness.advance(secs(2));
    test.harness.peer.cluster.topics.insert("t".to_owned(), current);
    test.logs.borrow_mut().refusals.clear();
    test.shared.metadata().request_update(RefreshReason::Requested);
    for outcome in test.outcomes(sent.into()) {
        outcome.expect("written");
    }
    assert!(
        test.produced().iter().any(|p| p.answer == ErrorCode::NOT_ENOUGH_REPLICAS),
        "it went to the other"
    );
    assert_eq!(test.values(0), ["a", "b"], "once each");
    test.settle();
}

#[test]
fn field_10_a_deleted_topic_keeps_its_records_until_they_expire() {
    let mut config = ProducerConfig { delivery_timeout: secs(40), ..config() };
    config.client.request_timeout = secs(10);
    let mut test = Test::warm(config, 1, &[1]);
    let topic = test.topic();
    test.harness.peer.cluster.topics.clear();
    let start = test.harness.now;
    let delivery = test.send_to(&topic, 0, "a");
    let error = test.outcome(delivery).expect_err("nobody created it again");
    assert_eq!(test.harness.now - start, secs(40));
    assert!(matches!(error, ProduceError::TimedOut { .. }), "{error:?}");
    assert!(error.to_string().contains("UNKNOWN_TOPIC_ID"), "{error}");
    test.settle();
}

#[test]
fn field_11_a_leader_that_flips_and_flips_back_strands_nothing() {
    for hints in [true, false] {
        let mut test = Test::warm(config(), 2, &[1, 2]);
        test.logs.borrow_mut().hints = hints;
        let mut sent = Vec::new();
        for n in 0..60 {
            // A, B and A again while the first try is on its way, or waits for its backoff.
            test.harness.peer.cluster.move_leader("t", 0, if n % 3 == 0 { 2 } else { 1 });
            sent.push(test.send_now(0, &format!("{n:02}")));
            test.harness.advance(ms(3 * n % 40));
        }
        test.harness.peer.cluster.move_leader("t", 0, 1);
        let start = test.harness.now;
        for outcome in test.outcomes(sent) {
            outcome.expect("written");
        }
        assert!(test.harness.now - start < secs(5), "not stranded");
        let values = test.values(0);
        assert_eq!(values.len(), 60, "once each");
        assert!(values.is_sorted(), "in order");
        test.settle();
    }
}

#[test]
fn field_12_batches_are_routed_by_the_latest_view() {
    let mut test = Test::warm(ProducerConfig { linger: ms(500), ..config() }, 2, &[1, 2]);
    // Queued for broker 1 while it leads; when it is time to go, the view names broker 2.
    let delivery = test.send_now(0, "a");
    test.harness.peer.cluster.move_leader("t", 0, 2);
    test.shared.metadata().request_update(RefreshReason::Requested);
    test.outcome(delivery).expect("written");
    assert_eq!(test.produced().len(), 1);
    assert_eq!(test.produced()[0].broker, 2, "nothing was sent to the old leader");
}

#[test]
fn field_12_a_retry_goes_to_the_new_leader() {
    let mut test = Test::warm(config(), 2, &[1, 2]);
    test.fault(Fault::Refuse(ErrorCode::NOT_ENOUGH_REPLICAS));
    let delivery = test.send_now(0, "a");
    test.harness.advance(ms(10));
    test.harness.peer.cluster.move_leader("t", 0, 2);
    test.shared.metadata().request_update(RefreshReason::Requested);
    test.outcome(delivery).expect("written");
    let brokers: Vec<i32> = test.produced().iter().map(|p| p.broker).collect();
    assert_eq!(brokers, [1, 2]);
}

#[test]
fn field_19_retried_bytes_are_frozen() {
    let mut test = Test::warm(ProducerConfig { linger: ms(2), ..config() }, 2, &[1, 2]);
    for fault in [Fault::WriteAndLose, Fault::Lose, Fault::WriteAndRefuse(ErrorCode::REQUEST_TIMED_OUT)] {
        test.fault(fault);
    }
    let mut sent = vec![test.send(0, "a"), test.send(0, "b")];
    test.harness.advance(ms(3));
    // While the batch waits for its next try, more records come: they are no part of it.
    sent.extend([test.send(0, "c"), test.send(0, "d")]);
    for outcome in test.outcomes(sent) {
        outcome.expect("an unknown outcome is sent again, and a duplicate is success");
    }
    assert_eq!(test.values(0), ["a", "b", "c", "d"]);
    let produced = test.produced();
    let tries: Vec<_> = produced.iter().filter(|p| p.header.base_sequence == 1).collect();
    assert!(tries.len() >= 3);
    assert!(tries.iter().all(|p| p.bytes == tries[0].bytes));
    test.settle();
}

#[test]
fn field_20_a_silent_broker_stops_none_of_the_others() {
    let mut config = ProducerConfig { linger: ms(5), ..config() };
    config.client.request_timeout = secs(30);
    let mut test = Test::warm(config, 3, &[1, 2, 3]);
    test.harness.peer.broker(3).silent = true;
    let mut slowest = ms(0);
    for n in 0..200 {
        let _sick = test.send(2, "sick");
        let start = test.harness.now;
        let healthy = vec![test.send(0, &n.to_string()), test.send(1, &n.to_string())];
        for outcome in test.outcomes(healthy) {
            outcome.expect("their brokers are well");
        }
        slowest = slowest.max(test.harness.now - start);
        test.harness.advance(ms(50));
    }
    assert!(slowest <= ms(8), "{slowest:?}");
}

#[test]
fn field_21_an_expired_batch_in_flight_does_not_give_its_buffer_away() {
    let mut config = ProducerConfig { delivery_timeout: secs(2), ..config() };
    config.client.request_timeout = secs(20);
    let mut test = Test::warm(config, 1, &[1, 1]);
    test.fault(Fault::Slow(secs(10)));
    let big = "x".repeat(5_000);
    let expired = test.send_now(0, &big);
    test.outcome(expired).expect_err("too late");
    let pool = test.shared.accumulator().pool();
    assert_eq!(pool.total() - pool.free(), 16 << 10, "the request is still in flight, and so are its bytes");
    test.settle();
}

#[test]
fn field_24_with_log_append_time_the_brokers_timestamp_is_reported() {
    let mut test = Test::warm(ProducerConfig { linger: ms(5), ..config() }, 1, &[1]);
    test.logs.borrow_mut().log_append_time = Some(777_000);
    let topic = test.topic();
    let sent: Vec<_> = (1..=3)
        .map(|n| match test.append(&topic, &Record::to("t").partition(0).value("v"), n) {
            Ok(Append::Appended(delivery)) => delivery,
            other => panic!("{other:?}"),
        })
        .collect();
    for outcome in test.outcomes(sent) {
        assert_eq!(outcome.expect("written").timestamp, 777_000);
    }
    test.logs.borrow_mut().log_append_time = None;
    let own = match test.append(&topic, &Record::to("t").partition(0).value("v"), 42) {
        Ok(Append::Appended(delivery)) => delivery,
        other => panic!("{other:?}"),
    };
    assert_eq!(test.outcome(own).expect("written").timestamp, 42);
}

#[test]
fn a_storm_of_not_leader_follows_the_backoff() {
    let mut test = Test::warm(config(), 1, &[1]);
    test.logs.borrow_mut().hints = false;
    for _ in 0..200 {
        test.fault(Fault::Refuse(ErrorCode::NOT_LEADER_OR_FOLLOWER));
    }
    let _delivery = test.send_now(0, "a");
    let (requests, refreshes) = (test.produce_requests(), test.harness.peer.count(ApiKey::Metadata));
    test.harness.advance(secs(10));
    assert!(test.produce_requests() - requests < 20);
    assert!(test.harness.peer.count(ApiKey::Metadata) - refreshes <= 25);
}
