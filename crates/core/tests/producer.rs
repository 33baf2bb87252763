//! The producer end to end, against pretended brokers in virtual time.

mod producer_support;
mod support;

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Wake, Waker},
};

use milena_core::{
    config::{Acks, ProducerConfig},
    engine::Engine,
    producer::{Append, AppendError, Delivery, Fault as Blame, ProduceError},
    record::Record,
};
use milena_protocol::{
    ApiKey, ErrorCode,
    messages::{PartitionProduceResponse, produce_response::BatchIndexAndErrorMessage},
    records::Compression,
};
use producer_support::{Fault, Test, config};
use support::{START, ms, secs};

#[test]
fn a_record_is_produced() {
    let mut test = Test::new(config(), 1, &[1]);
    let delivery = test.send(0, "hello");
    let metadata = test.outcome(delivery).expect("written");
    assert_eq!((&*metadata.topic, metadata.partition, metadata.offset), ("t", 0, Some(0)));
    assert_eq!(metadata.timestamp, 1_003, "the time of the call: when the topic was known");
    assert_eq!(test.values(0), ["hello"]);
    test.settle();
}

#[test]
fn the_first_record_takes_no_longer_than_its_round_trips() {
    let mut test = Test::new(config(), 3, &[2]);
    let start = test.harness.now;
    let delivery = test.send(0, "hello");
    test.outcome(delivery).expect("written");
    // To a bootstrap address: connect, versions, metadata with the producer id beside it; to the leader: connect, versions, produce.
    assert_eq!(test.harness.now - start, ms(6), "{}", test.harness.peer.story());
}

#[test]
fn with_acks_0_what_is_written_to_the_socket_is_delivered() {
    let config = ProducerConfig { acks: Acks::None, idempotence: false, ..config() };
    let mut test = Test::new(config, 1, &[1]);
    let delivery = test.send(0, "a");
    let metadata = test.outcome(delivery).expect("written to the socket");
    assert_eq!(metadata.offset, None);
    assert_eq!(test.values(0), ["a"]);
    test.settle();
}

#[test]
fn with_acks_1_there_is_no_id_and_no_sequence() {
    let config = ProducerConfig { acks: Acks::Leader, idempotence: false, ..config() };
    let mut test = Test::new(config, 1, &[1]);
    let delivery = test.send(0, "a");
    assert_eq!(test.outcome(delivery).expect("written").offset, Some(0));
    let header = test.produced()[0].header;
    assert_eq!((header.producer_id, header.producer_epoch, header.base_sequence), (-1, -1, -1));
    assert_eq!(test.harness.peer.count(ApiKey::InitProducerId), 0);
}

#[test]
fn every_codec_is_written() {
    for compression in Compression::ALL {
        let mut test = Test::warm(ProducerConfig { compression, ..config() }, 1, &[1]);
        let values: Vec<String> = (0..50).map(|n| format!("value {n} value value value")).collect();
        let sent: Vec<Delivery> = values.iter().map(|value| test.send_now(0, value)).collect();
        for outcome in test.outcomes(sent) {
            outcome.expect("written");
        }
        assert_eq!(test.values(0), values);
        assert!(test.produced().iter().all(|p| p.header.attributes.compression() == Ok(compression)));
        test.settle();
    }
}

#[test]
fn a_level_that_the_codec_does_not_have_fails_the_records() {
    let config =
        ProducerConfig { compression: Compression::Gzip, compression_gzip_level: Some(1_000), ..config() };
    let mut test = Test::new(config, 1, &[1]);
    let delivery = test.send(0, "a");
    let error = test.outcome(delivery).expect_err("no such level");
    assert!(matches!(error, ProduceError::Encoding { .. }) && error.fault() == Blame::Caller, "{error:?}");
    assert!(error.to_string().contains("no level 1000"), "{error}");
    test.settle();
}

#[test]
fn topics_go_by_id_where_broker_and_metadata_know_it() {
    let mut test = Test::new(config(), 1, &[1]);
    let delivery = test.send(0, "a");
    test.outcome(delivery).expect("written");
    assert_eq!(test.produced()[0].version, 13);

    let mut test = Test::new(config(), 1, &[1]);
    test.harness.peer.cluster.topic("t").id = milena_protocol::Uuid::ZERO;
    let delivery = test.send(0, "a");
    test.outcome(delivery).expect("written");
    assert_eq!(test.produced()[0].version, 12);
}

#[test]
fn every_version_of_produce_is_understood() {
    for version in 3..=13 {
        let mut test = Test::new(config(), 2, &[1, 1]);
        for broker in 1..=2 {
            test.harness.peer.broker(broker).max_versions.insert(ApiKey::Produce as i16, version);
        }
        test.warm_up(2);
        test.harness.peer.cluster.move_leader("t", 0, 2);
        let start = test.harness.now;
        let sent = vec![test.send(0, "a"), test.send(1, "b")];
        for outcome in test.outcomes(sent) {
            outcome.expect("written");
        }
        let hinted = test.harness.now - start < ms(20);
        assert_eq!(hinted, version >= 10, "version {version}: leaders are hinted at from 10 on (KIP-951)");
        assert!(test.produced().iter().all(|p| p.version == version));
        test.settle();
    }
}

#[test]
fn a_refused_record_is_named_and_its_batch_mates_are_told() {
    let mut test = Test::warm(ProducerConfig { linger: ms(5), ..config() }, 1, &[1]);
    let error = BatchIndexAndErrorMessage {
        batch_index: 1,
        batch_index_error_message: Some("the key is missing".to_owned()),
    };
    test.fault(Fault::Answer(Box::new(PartitionProduceResponse {
        error_code: ErrorCode::INVALID_RECORD,
        record_errors: vec![error],
        error_message: Some("one or more records were rejected".to_owned()),
        ..Default::default()
    })));
    let sent: Vec<_> = ["a", "b", "c"].iter().map(|value| test.send(0, value)).collect();
    let errors: Vec<ProduceError> =
        test.outcomes(sent).into_iter().map(|o| o.expect_err("refused")).collect();
    assert!(
        matches!(&errors[1], ProduceError::InvalidRecord { message, .. } if &**message == "the key is missing")
    );
    for mate in [&errors[0], &errors[2]] {
        assert!(matches!(mate, ProduceError::BatchMate { code: ErrorCode::INVALID_RECORD, .. }), "{mate:?}");
        assert!(mate.is_retriable() && !errors[1].is_retriable());
    }
    let next = test.send(0, "d");
    test.outcome(next).expect("the producer goes on, in a new epoch");
    assert_eq!(test.values(0), ["d"]);
    test.settle();
}

#[test]
fn what_the_broker_has_no_version_for_fails_at_once_however_much_it_is() {
    for idempotence in [true, false] {
        let mut test = Test::new(ProducerConfig { idempotence, ..config() }, 1, &[1]);
        test.harness.peer.broker(1).max_versions.insert(ApiKey::Produce as i16, 2);
        let first = test.send(0, "a");
        assert!(matches!(test.outcome(first), Err(ProduceError::Unusable { .. })));
        // Batches of a record each, all of them there when the first one goes.
        let topic = test.topic();
        let large = "x".repeat(600 << 10);
        let mut sent: Vec<_> = (0..12).map(|_| test.send_to(&topic, 0, &large)).collect();
        test.harness.advance(ms(10));
        for delivery in &mut sent {
            let outcome = delivery.result();
            assert!(matches!(outcome, Some(Err(ProduceError::Unusable { .. }))), "{outcome:?}");
        }
        test.settle();
    }
}

#[test]
fn a_topic_that_one_may_not_write_fails_alone() {
    let mut test = Test::warm(config(), 1, &[1, 1]);
    test.logs.borrow_mut().refusals.entry(0).or_default().push_back(ErrorCode::TOPIC_AUTHORIZATION_FAILED);
    let sent = vec![test.send(0, "a"), test.send(1, "b")];
    let mut outcomes = test.outcomes(sent);
    outcomes.pop().expect("two").expect("the other partition's is written");
    let error = outcomes.pop().expect("two").expect_err("not authorized");
    assert_eq!((error.code(), error.fault()), (Some(ErrorCode::TOPIC_AUTHORIZATION_FAILED), Blame::Caller));
    assert!(error.to_string().starts_with("t-0: "), "{error}");
}

#[test]
fn retries_are_limited_when_asked_for() {
    let config = ProducerConfig { idempotence: false, retries: 2, ..config() };
    let mut test = Test::warm(config, 1, &[1]);
    for _ in 0..3 {
        test.fault(Fault::Refuse(ErrorCode::NOT_ENOUGH_REPLICAS));
    }
    let delivery = test.send(0, "a");
    let error = test.outcome(delivery).expect_err("three tries");
    assert_eq!(error.code(), Some(ErrorCode::NOT_ENOUGH_REPLICAS));
    assert_eq!(test.produced().len(), 3);
    test.settle();
}

#[test]
fn a_throttled_broker_is_left_alone() {
    let mut test = Test::warm(config(), 1, &[1]);
    test.logs.borrow_mut().throttle = secs(2);
    let first = test.send(0, "a");
    test.outcome(first).expect("written");
    let start = test.harness.now;
    let second = test.send(0, "b");
    test.outcome(second).expect("written");
    let waited = test.harness.now - start;
    assert!(waited >= secs(2) && waited < ms(2_010), "{waited:?}");
}

#[test]
fn close_sends_what_is_queued() {
    let mut test = Test::warm(ProducerConfig { linger: secs(3), ..config() }, 1, &[1]);
    let sent: Vec<_> = ["a", "b"].iter().map(|value| test.send(0, value)).collect();
    let topic = test.topic();
    test.close(secs(5));
    for mut delivery in sent {
        assert!(delivery.result().expect("closed").is_ok());
    }
    let refused = test.append(&topic, &Record::to("t").value("late"), 0).expect_err("closed");
    assert_eq!(refused, AppendError::Closed);
    assert_eq!(test.harness.engine.next_timeout(), None);
}

#[test]
fn close_fails_at_its_deadline_what_could_not_be_sent() {
    let mut test = Test::warm(config(), 1, &[1]);
    test.harness.peer.broker(1).silent = true;
    let mut in_flight = test.send_now(0, "a");
    let mut queued = test.send(0, "b");
    let start = test.harness.now;
    test.close(secs(3));
    assert_eq!(test.harness.now - start, secs(3));
    for delivery in [&mut in_flight, &mut queued] {
        assert_eq!(delivery.result(), Some(Err(ProduceError::Closed)));
    }
    let pool = test.shared.accumulator().pool();
    assert_eq!(pool.free(), pool.total());
}

#[test]
fn an_engine_that_is_dropped_leaves_nobody_waiting() {
    let mut test = Test::warm(ProducerConfig { buffer_memory: 32 << 10, ..config() }, 1, &[1]);
    let topic = test.topic();
    test.harness.peer.broker(1).silent = true;
    let value = "x".repeat(15 << 10);
    let in_flight = test.send_now(0, &value);
    test.harness.advance(ms(50));
    let queued = test.send(0, &value);
    let third = Record::to("t").partition(0).value(&value);
    let Ok(Append::NeedsMemory(mut memory)) = test.append(&topic, &third, 0) else {
        panic!("two batches fill the buffer")
    };
    let mut flush = test.shared.flush();
    let mut context = Context::from_waker(std::task::Waker::noop());
    assert!(Pin::new(&mut memory).poll(&mut context).is_pending());
    assert!(Pin::new(&mut flush).poll(&mut context).is_pending());

    // As when the thread that drives it panics.
    let Test { harness, shared, .. } = test;
    drop(harness);

    for mut delivery in [in_flight, queued] {
        let error = delivery.result().expect("an outcome").expect_err("not acknowledged");
        assert!(matches!(error, ProduceError::Fatal { .. }), "{error}");
    }
    assert!(Pin::new(&mut memory).poll(&mut context).is_ready());
    assert!(Pin::new(&mut flush).poll(&mut context).is_ready());
    let refused = shared.append(&topic, &third, 0, START, None).expect_err("nobody would send it");
    assert!(refused.to_string().contains("driver has ended unexpectedly"), "{refused}");
    assert_eq!(shared.accumulator().pool().free(), shared.accumulator().pool().total());
}

#[test]
fn nothing_is_sent_again_after_a_fatal_error() {
    let mut test = Test::warm(config(), 2, &[1, 2]);
    test.harness.peer.broker(2).delay = ms(10);
    for (partition, code) in
        [(0, ErrorCode::CLUSTER_AUTHORIZATION_FAILED), (1, ErrorCode::NOT_ENOUGH_REPLICAS)]
    {
        test.logs.borrow_mut().refusals.entry(partition).or_default().push_back(code);
    }
    let sent: Vec<_> = [0, 1].iter().map(|partition| test.send(*partition, "v")).collect();
    for outcome in test.outcomes(sent) {
        let error = outcome.expect_err("the producer may not go on");
        assert!(matches!(error, ProduceError::Fatal { .. }), "{error}");
    }
    assert_eq!(test.values(1), Vec::<String>::new());
}

#[test]
fn close_at_once_waits_for_nothing() {
    let mut test = Test::warm(config(), 1, &[1]);
    let mut delivery = test.send(0, "a");
    test.close(ms(0));
    assert_eq!(delivery.result(), Some(Err(ProduceError::Closed)));
}

/// Counts how often it is woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn thousands_of_deliveries_of_one_batch_are_woken_once_each() {
    let mut test = Test::warm(ProducerConfig { linger: ms(5), ..config() }, 1, &[1]);
    let topic = test.topic();
    let mut deliveries: Vec<Delivery> = (0..5_000).map(|_| test.send_to(&topic, 0, "")).collect();
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut context = Context::from_waker(&waker);
    for _ in 0..3 {
        for delivery in &mut deliveries {
            assert!(Pin::new(delivery).poll(&mut context).is_pending());
        }
    }
    // Dropping some cancels nothing, and they are not woken.
    deliveries.truncate(4_000);
    test.harness.advance(ms(50));
    assert_eq!(wakes.0.load(Ordering::Relaxed), 4_000);
    for (n, delivery) in deliveries.iter_mut().enumerate() {
        let std::task::Poll::Ready(Ok(metadata)) = Pin::new(delivery).poll(&mut context) else {
            panic!("{n}")
        };
        assert_eq!(metadata.offset, Some(1 + n as i64));
    }
    assert_eq!(test.values(0).len(), 5_000);
    assert_eq!(test.produced().len(), 1, "one batch");
}

#[test]
fn records_of_one_key_go_to_one_partition() {
    let mut test = Test::warm(config(), 1, &[1; 6]);
    let topic = test.topic();
    let partition = |key: &str| match test.append(&topic, &Record::to("t").key(key).value("v"), 0) {
        Ok(Append::Appended(delivery)) => delivery.partition(),
        other => panic!("{other:?}"),
    };
    // As Java's producer sends them: see the partitioner's own test.
    assert_eq!([partition("us"), partition("ci"), partition("nc"), partition("us")], [1, 4, 0, 1]);
}

#[test]
fn what_cannot_be_sent_is_refused_with_a_reason() {
    let mut test = Test::warm(config(), 1, &[1; 2]);
    let topic = test.topic();
    let refused = |record: &Record<'_>, timestamp| {
        test.append(&topic, record, timestamp).expect_err("refused").to_string()
    };
    let record = Record::to("t").value("v");
    assert_eq!(refused(&record.partition(2), 0), "partition 2 of topic t does not exist: valid are [0, 2)");
    assert!(refused(&record.partition(-1), 0).contains("partition -1"));
    assert_eq!(refused(&record, -5), "a record's timestamp is -5 ms, but it must not be negative");
}

#[test]
fn partitions_that_are_added_are_used() {
    let mut test = Test::warm(config(), 1, &[1]);
    let more = test.harness.peer.cluster.partition("t", 0).clone();
    test.harness.peer.cluster.topic("t").partitions.push(more);
    test.shared.metadata().request_update(milena_core::metadata::RefreshReason::Requested);
    test.harness.advance(secs(1));
    let sent = vec![test.send(1, "new"), test.send(0, "old")];
    for outcome in test.outcomes(sent) {
        outcome.expect("written");
    }
    assert_eq!((test.values(0), test.values(1)), (vec!["old".to_owned()], vec!["new".to_owned()]));
}
