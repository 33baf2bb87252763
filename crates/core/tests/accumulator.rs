//! RecordAccumulator: client.md 22 to 30.

mod producer_support;
mod support;

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use milena_core::{
    config::ProducerConfig,
    engine::{Command, Engine, Event},
    producer::{Append, AppendError, Delivery, MemoryWait, ProduceError, Reservation},
    record::{Header, Record},
};
use milena_protocol::{ApiKey, ErrorCode, records::Compression};
use producer_support::{Fault, Produced, Test, config};
use support::{ms, secs};

const LINGER: Duration = ms(50);

fn lingering() -> ProducerConfig {
    ProducerConfig { linger: LINGER, ..config() }
}

/// A value of so many bytes.
fn large(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// The time from now until the next produce request.
fn until_sent(test: &mut Test) -> Duration {
    let (start, before) = (test.harness.now, test.produce_requests());
    test.harness.run_until(secs(100), |harness| harness.peer.count(ApiKey::Produce) > before);
    test.harness.now - start
}

fn poll(wait: &mut MemoryWait) -> Option<Reservation> {
    match std::pin::Pin::new(wait).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(memory) => Some(memory.expect("not closed")),
        Poll::Pending => None,
    }
}

#[test]
fn accumulator_22_a_batch_lingers() {
    let mut test = Test::warm(lingering(), 1, &[1]);
    let _delivery = test.send(0, "a");
    test.harness.advance(ms(10));
    let _delivery = test.send(0, "b");
    assert_eq!(until_sent(&mut test), LINGER - ms(10));
    assert_eq!(test.values(0), ["a", "b"]);
}

#[test]
fn accumulator_22_a_full_batch_goes_at_once() {
    let mut test = Test::warm(lingering(), 1, &[1]);
    let _small = test.send(0, &large(10_000));
    test.harness.advance(ms(1));
    assert_eq!(test.values(0).len(), 0);
    let _full = test.send(0, &large(10_000));
    assert_eq!(until_sent(&mut test), Duration::ZERO);
    assert_eq!(test.produced().len(), 1, "both in one batch");
}

#[test]
fn accumulator_22_batches_grow_while_their_broker_is_busy() {
    let mut test = Test::warm(lingering(), 1, &[1]);
    for _ in 0..2 {
        test.fault(Fault::Slow(ms(20)));
    }
    let _first = test.send_now(0, &large(17_000));
    let _second = test.send_now(0, &large(17_000));
    assert_eq!(
        test.produced().len(),
        1,
        "one request in flight: a batch of twice batch.size goes, this one grows"
    );
    let _third = test.send_now(0, &large(17_000));
    let sizes: Vec<usize> = test.produced().iter().map(|p| p.bytes.len()).collect();
    assert!(sizes.len() == 2 && sizes[1] > 34_000, "{sizes:?}");
    let _fourth = test.send_now(0, &large(40_000));
    assert_eq!(test.produced().len(), 2, "two in flight: not below four times batch.size");
    assert_eq!(until_sent(&mut test), ms(21), "but it goes when the broker is less busy");
}

#[test]
fn accumulator_22_exhausted_memory_makes_all_batches_ready() {
    let config = ProducerConfig { buffer_memory: 32 << 10, ..lingering() };
    let mut test = Test::warm(config, 1, &[1, 1, 1]);
    let topic = test.topic();
    let _both = [test.send(0, "a"), test.send(1, "b")];
    let third = Record::to("t").partition(2).value("c");
    let Ok(Append::NeedsMemory(mut wait)) = test.append(&topic, &third, 0) else {
        panic!("there is memory for two")
    };
    assert_eq!(until_sent(&mut test), Duration::ZERO);
    test.harness.advance(ms(2));
    let memory = poll(&mut wait).expect("both are acknowledged");
    let again = test.shared.append(&topic, &third, 0, test.harness.now, Some(memory));
    assert!(matches!(again, Ok(Append::Appended(_))));
}

#[test]
fn accumulator_22_flush_makes_all_batches_ready() {
    let mut test = Test::warm(lingering(), 1, &[1, 1]);
    let mut delivery = test.send(0, "a");
    let mut flush = test.shared.flush();
    assert_eq!(until_sent(&mut test), Duration::ZERO);
    let mut context = Context::from_waker(Waker::noop());
    assert!(std::pin::Pin::new(&mut flush).poll(&mut context).is_pending());
    let _later = test.send_now(1, "sent while the flush is under way");
    test.harness.run_until(secs(1), |_| std::pin::Pin::new(&mut flush).poll(&mut context).is_ready());
    assert!(delivery.result().is_some(), "a flush ends after what was queued before it");
    drop(flush);
    test.settle();
    let _after = test.send(0, "b");
    assert_eq!(until_sent(&mut test), LINGER, "after the flush batches linger again");
}

#[test]
fn accumulator_22_close_makes_all_batches_ready() {
    let mut test = Test::warm(lingering(), 1, &[1]);
    let mut delivery = test.send(0, "a");
    let start = test.harness.now;
    test.close(secs(5));
    assert!(test.harness.now - start < ms(10));
    assert!(delivery.result().expect("closed").is_ok());
}

#[test]
fn accumulator_22_without_a_leader_nothing_goes_and_the_metadata_is_asked() {
    let mut test = Test::warm(config(), 1, &[1, 1]);
    test.harness.peer.cluster.partition("t", 0).leader = -1;
    test.fault(Fault::Refuse(ErrorCode::LEADER_NOT_AVAILABLE));
    let delivery = test.send_now(0, "a");
    test.harness.advance(secs(3));
    assert_eq!(test.produced().len(), 1, "sent once, while the leader was known");
    let refreshes = test.harness.peer.count(ApiKey::Metadata);
    test.harness.advance(secs(3));
    let asked = test.harness.peer.count(ApiKey::Metadata) - refreshes;
    assert!((1..=10).contains(&asked), "{asked} in 3 s");
    let healthy = test.send(1, "b");
    test.outcome(healthy).expect("the other partition has a leader");
    test.harness.peer.cluster.move_leader("t", 0, 1);
    test.outcome(delivery).expect("written when there is a leader");
}

#[test]
fn accumulator_22_a_batch_in_backoff_waits() {
    let mut test = Test::warm(config(), 1, &[1]);
    test.fault(Fault::Refuse(ErrorCode::NOT_ENOUGH_REPLICAS));
    test.fault(Fault::Refuse(ErrorCode::NOT_ENOUGH_REPLICAS));
    let delivery = test.send(0, "a");
    test.outcome(delivery).expect("written at the third try");
    let at: Vec<_> = test.produced().iter().map(|p| p.at).collect();
    let waits = [(at[1] - at[0]).as_secs_f64(), (at[2] - at[1]).as_secs_f64()];
    assert!((0.08..0.13).contains(&waits[0]) && (0.16..0.25).contains(&waits[1]), "{waits:?}");
}

#[test]
fn accumulator_22_with_one_in_flight_a_partition_is_muted() {
    let mut config = ProducerConfig { idempotence: false, ..config() };
    config.client.max_in_flight = 1;
    let mut test = Test::warm(config, 2, &[1]);
    test.harness.peer.cluster.move_leader("t", 0, 2);
    test.fault(Fault::Slow(ms(500)));
    let first = test.send_now(0, "a");
    // The next leader is known and idle, but "a" may still fail and be sent again.
    test.shared.metadata().request_update(milena_core::metadata::RefreshReason::Requested);
    test.harness.advance(ms(200));
    let second = test.send_now(0, "b");
    test.outcome(first).expect("written");
    test.outcome(second).expect("written");
    assert_eq!(test.values(0), ["a", "b"]);
    assert!(test.produced().windows(2).all(|pair| pair[0].at < pair[1].at));
}

#[test]
fn accumulator_23_a_large_record_has_its_own_batch() {
    let mut test = Test::warm(lingering(), 1, &[1]);
    let small = test.send(0, "small");
    let topic = test.topic();
    let big = large(1_000_000);
    let record = Record::to("t").partition(0).value(&big);
    let Ok(Append::Appended(big)) = test.append(&topic, &record, 0) else {
        panic!("it is below max.request.size")
    };
    let medium = large(60_000);
    let medium = test.send(0, &medium);
    for outcome in test.outcomes(vec![small, big, medium]) {
        outcome.expect("written");
    }
    let counts: Vec<i32> = test.produced().iter().map(|p| p.header.record_count).collect();
    assert_eq!(counts, [2, 1], "it grew into the open batch, and nothing else fits beside it");
    test.settle();

    let too_large = large(1 << 20);
    let record = Record::to("t").partition(0).value(&too_large);
    let refused = test.append(&topic, &record, 0).expect_err("larger than max.request.size");
    assert!(refused.to_string().contains("`max.request.size` (1048576 bytes)"), "{refused}");
    assert_eq!(test.shared.accumulator().pool().free(), test.shared.accumulator().pool().total());
}

#[test]
fn accumulator_23_a_record_larger_than_batch_size_and_the_rest() {
    let config = ProducerConfig { batch_size: 100, max_request_size: 5_000, ..lingering() };
    let mut test = Test::warm(config, 1, &[1]);
    let sent: Vec<_> = [10, 3_000, 10, 4_000, 10].iter().map(|size| test.send(0, &large(*size))).collect();
    for outcome in test.outcomes(sent) {
        outcome.expect("written");
    }
    assert!(test.produced().iter().all(|p| p.bytes.len() <= 5_000));
    test.settle();
}

#[test]
fn accumulator_24_drains_begin_with_another_partition_each_time() {
    // Room for two batches in a request, three partitions that always have one, one request at a time.
    let mut config = ProducerConfig { max_request_size: 4_000, batch_size: 1_000, ..config() };
    config.client.max_in_flight = 1;
    let mut test = Test::warm(config, 1, &[1, 1, 1]);
    let mut deliveries: Vec<Delivery> = (0..3).map(|n| test.send(n, &large(1_900))).collect();
    while test.produced().len() < 18 {
        test.harness.poll();
        test.harness.advance(ms(1));
        for (n, delivery) in (0..).zip(&mut deliveries) {
            if delivery.result().is_some() {
                *delivery = test.send(n, &large(1_900));
            }
        }
    }
    let produced = test.produced();
    let of = |request: usize| produced.iter().filter(move |p| p.request == request).map(|p| p.partition);
    let requests = produced[0].request..produced[17].request;
    let firsts: Vec<i32> = requests.clone().filter_map(|request| of(request).next()).collect();
    assert!(firsts.windows(2).all(|pair| pair[0] != pair[1]), "{firsts:?}");
    let counts = [0, 1, 2].map(|n| requests.clone().flat_map(of).filter(|p| *p == n).count());
    assert!(counts.iter().all(|count| count.abs_diff(counts[0]) <= 1), "none starves: {counts:?}");
}

#[test]
fn accumulator_24_a_batch_larger_than_the_request_goes_alone() {
    let config = ProducerConfig { batch_size: 4_000, ..config() };
    let mut test = Test::warm(config, 1, &[1, 1]);
    // It was queued when larger ones were allowed: here a split's piece of one record is as large as that.
    let topic = test.topic();
    let value = large(1_040_000);
    let record = Record::to("t").partition(0).value(&value);
    let Ok(Append::Appended(big)) = test.append(&topic, &record, 0) else { panic!("below max.request.size") };
    let other = test.send(1, &large(20_000));
    for outcome in test.outcomes(vec![big, other]) {
        outcome.expect("written");
    }
    let produced = test.produced();
    assert_ne!(produced[0].request, produced[1].request, "one request holds at most max.request.size");
}

#[test]
fn accumulator_24_a_blocked_partition_does_not_end_the_drain() {
    let mut test = Test::warm(config(), 1, &[1, 1, 1]);
    test.logs.borrow_mut().refusals.entry(1).or_default().push_back(ErrorCode::NOT_ENOUGH_REPLICAS);
    let blocked = test.send_now(1, "b");
    test.harness.advance(ms(3));
    let start = test.harness.now;
    let others = vec![test.send(0, "a"), test.send(2, "c")];
    for outcome in test.outcomes(others) {
        outcome.expect("written");
    }
    assert!(test.harness.now - start < ms(5), "while partition 1 is in backoff");
    test.outcome(blocked).expect("written later");
}

#[test]
fn accumulator_25_a_known_new_leader_skips_the_backoff() {
    let mut test = Test::warm(config(), 2, &[1, 2]);
    test.harness.peer.cluster.move_leader("t", 0, 2);
    let start = test.harness.now;
    let delivery = test.send(0, "a");
    test.outcome(delivery).expect("written");
    assert!(test.harness.now - start < ms(10), "two round trips and no backoff");
    let brokers: Vec<i32> = test.produced().iter().map(|p| p.broker).collect();
    assert_eq!(brokers, [1, 2]);
}

#[test]
fn accumulator_25_requeued_batches_keep_their_order_and_their_bytes() {
    let mut test = Test::warm(config(), 1, &[1]);
    test.fault(Fault::Refuse(ErrorCode::NOT_ENOUGH_REPLICAS));
    let sent: Vec<_> = ["a", "b", "c", "d", "e"].iter().map(|value| test.send_now(0, value)).collect();
    assert_eq!(test.produced().len(), 5, "five in flight");
    for outcome in test.outcomes(sent) {
        outcome.expect("written");
    }
    assert_eq!(test.values(0), ["a", "b", "c", "d", "e"]);
    let produced = test.produced();
    for again in &produced[5..] {
        let first = produced.iter().find(|p| p.header.base_sequence == again.header.base_sequence);
        assert_eq!(first.map(|p| &p.bytes), Some(&again.bytes), "a retried batch has the same bytes");
    }
    assert!(produced.len() > 5);
}

fn assert_split_with(compression: Compression) {
    let config = ProducerConfig { compression, ..lingering() };
    let mut test = Test::warm(config, 1, &[1]);
    test.logs.borrow_mut().max_batch = 3_000;
    let topic = test.topic();
    let headers = [
        Header { key: "h", value: Some(&b"1"[..]) },
        Header { key: "h", value: None },
        Header { key: "h", value: Some(&b"\xff"[..]) },
    ];
    let mut state = 12_345_u32;
    let mut noise = |bytes: usize| -> Vec<u8> {
        let mut byte = || {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            (state >> 16) as u8
        };
        (0..bytes).map(|_| byte()).collect()
    };
    let values: Vec<Vec<u8>> = (0..20).map(|_| noise(900)).collect();
    let sent: Vec<Delivery> = values
        .iter()
        .enumerate()
        .map(|(n, value)| {
            let key = n.to_string();
            let record = Record::to("t").partition(0).key(&key).value(value).headers(&headers);
            match test.append(&topic, &record, 1_000 + n as i64) {
                Ok(Append::Appended(delivery)) => delivery,
                other => panic!("{other:?}"),
            }
        })
        .collect();
    let more = test.send(0, "behind it");
    let base = test.logs.borrow().logs.values().map(|log| log.first).max().expect("warm");
    for (n, outcome) in test.outcomes(sent).into_iter().enumerate() {
        let metadata = outcome.expect("written in pieces");
        assert_eq!(metadata.offset, Some(base + n as i64));
        assert_eq!(metadata.timestamp, 1_000 + n as i64);
    }
    test.outcome(more).expect("written");
    let logs = test.logs.borrow();
    let log = logs.logs.values().next().expect("one partition");
    for (n, record) in log.records.iter().take(20).enumerate() {
        assert_eq!(record.value.as_deref(), Some(&values[n][..]));
        assert_eq!(record.key.as_deref(), Some(n.to_string().as_bytes()));
        let expected = [Some(&b"1"[..]), None, Some(&b"\xff"[..])];
        assert!(
            record
                .headers
                .iter()
                .map(|(key, value)| (key.as_str(), value.as_deref()))
                .eq(expected.map(|v| ("h", v)))
        );
    }
    let accepted: Vec<&Produced> = logs.produced.iter().filter(|p| p.answer.is_ok()).collect();
    assert!(accepted.len() > 5 && accepted.iter().all(|p| p.bytes.len() <= 3_000));
    assert!(
        accepted.iter().all(|p| p.header.attributes.compression() == Ok(compression)),
        "the codec survives"
    );
    assert!(accepted.iter().all(|p| p.header.producer_epoch == 0));
    for pair in accepted.windows(2) {
        assert_eq!(
            pair[1].header.base_sequence,
            pair[0].header.last_sequence() + 1,
            "the sequence is gapless"
        );
    }
    drop(logs);
    test.settle();
}

#[test]
fn accumulator_26_a_batch_that_is_too_large_is_split() {
    assert_split_with(Compression::None);
}

#[test]
fn accumulator_26_a_compressed_batch_that_is_too_large_is_split() {
    for codec in [Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        assert_split_with(codec);
    }
}

#[test]
fn accumulator_26_one_record_that_is_too_large_fails_and_later_ones_do_not() {
    let mut test = Test::warm(config(), 1, &[1]);
    test.logs.borrow_mut().max_batch = 500;
    let large = test.send_now(0, &large(600));
    let small = test.send_now(0, "small");
    let error = test.outcome(large).expect_err("it cannot be split");
    assert_eq!(error.code(), Some(ErrorCode::MESSAGE_TOO_LARGE));
    test.outcome(small).expect("written, in a new epoch");
    assert_eq!(test.values(0), ["small"]);
    test.settle();
}

#[test]
fn accumulator_27_expiry_covers_batches_in_flight() {
    let mut config = ProducerConfig { delivery_timeout: secs(10), ..config() };
    config.client.request_timeout = secs(8);
    let mut test = Test::warm(config, 1, &[1]);
    test.harness.peer.broker(1).silent = true;
    let start = test.harness.now;
    let first = test.send_now(0, "first");
    test.harness.advance(secs(7));
    let second = test.send_now(0, "second");
    let error = test.outcome(first).expect_err("nobody answers");
    assert_eq!(test.harness.now - start, secs(10), "not a moment earlier, and not later");
    assert!(error.to_string().contains("no answer from"), "it names the cause: {error}");
    test.harness.peer.broker(1).silent = false;
    test.outcome(second).expect("it had its own time");
    assert_eq!(test.values(0), ["second"], "nothing is sent after its time");
    test.settle();
}

#[test]
fn accumulator_27_what_waits_expires_at_its_time() {
    let mut config = ProducerConfig { delivery_timeout: secs(10), ..config() };
    config.client.request_timeout = secs(3);
    let mut test = Test::warm(config, 1, &[1]);
    test.harness.peer.cluster.partition("t", 0).leader = -1;
    test.fault(Fault::Refuse(ErrorCode::NOT_LEADER_OR_FOLLOWER));
    let start = test.harness.now;
    let first = test.send_now(0, "a");
    test.harness.advance(secs(4));
    let second = test.send_now(0, "b");
    let error = test.outcome(first).expect_err("no leader");
    assert!(matches!(error, ProduceError::TimedOut { .. }) && error.is_retriable(), "{error:?}");
    assert_eq!(test.harness.now - start, secs(10));
    let error = test.outcome(second).expect_err("no leader");
    assert_eq!(test.harness.now - start, secs(14));
    assert!(error.to_string().contains("no leader"), "{error}");
    test.settle();
}

#[test]
fn accumulator_28_memory_is_first_come_first_served() {
    let config = ProducerConfig { buffer_memory: 48 << 10, ..lingering() };
    let mut test = Test::warm(config, 1, &[1, 1, 1, 1]);
    let topic = test.topic();
    test.fault(Fault::Slow(secs(1)));
    let _three = [test.send(0, "a"), test.send(1, "b"), test.send(2, "c")];
    let wait = |test: &Test, bytes: usize| {
        let value = large(bytes);
        match test.append(&topic, &Record::to("t").partition(3).value(&value), 0) {
            Ok(Append::NeedsMemory(wait)) => wait,
            other => panic!("{other:?}"),
        }
    };
    let mut waits = [wait(&test, 40_000), wait(&test, 10), wait(&test, 10)];
    let pool = Arc::clone(test.shared.accumulator().pool());
    assert!(pool.has_waiters() && pool.try_reserve(1, 0).is_none(), "nobody jumps the queue");
    test.harness.advance(ms(2_000));
    let first = poll(&mut waits[0]).expect("enough for the first");
    assert!(poll(&mut waits[1]).is_none(), "what is left is too little for the second");
    drop(first);
    let second = poll(&mut waits[1]).expect("served in turn");
    let third = poll(&mut waits[2]).expect("served in turn");
    drop((second, third, waits));
    assert_eq!(pool.free(), pool.total());
}

#[test]
fn accumulator_28_a_waiter_that_gives_up_leaks_nothing() {
    let pool = Arc::new(milena_core::producer::BufferPool::new(100, 100));
    let all = pool.try_reserve(100, 0).expect("all is free");
    let mut waits: Vec<MemoryWait> =
        [60, 30, 80].into_iter().map(|bytes| pool.wait(bytes, 0, false)).collect();
    // Gives up while it waits.
    drop(waits.remove(0));
    drop(all);
    // Gives up after it was served, without having taken it.
    assert!(!pool.has_waiters() || pool.free() < 80);
    drop(waits.remove(0));
    let memory = poll(&mut waits[0]).expect("the last one is served");
    assert_eq!((memory.bytes(), pool.free()), (80, 20));
    drop((memory, waits));
    assert_eq!(pool.free(), 100);
    assert!(!pool.has_waiters());
}

#[test]
fn accumulator_28_close_ends_the_wait_for_memory() {
    let pool = Arc::new(milena_core::producer::BufferPool::new(10, 10));
    let all = pool.try_reserve(10, 0).expect("all is free");
    let mut wait = pool.wait(5, 0, false);
    pool.close();
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(std::pin::Pin::new(&mut wait).poll(&mut context), Poll::Ready(Err(_))));
    let mut late = pool.wait(5, 0, false);
    assert!(matches!(std::pin::Pin::new(&mut late).poll(&mut context), Poll::Ready(Err(_))));
    drop((all, wait, late));
    assert_eq!(pool.free(), 10);
}

/// What the driver would write: the frame of the next produce request, not yet given to a socket.
fn hold_produce_frame(test: &mut Test) -> (milena_core::network::ConnectionId, milena_protocol::Frame) {
    test.harness.engine.poll(test.harness.now);
    loop {
        match test.harness.engine.poll_command().expect("a produce request") {
            Command::Transmit { connection, frame, .. } => return (connection, frame),
            _ => continue,
        }
    }
}

#[test]
fn accumulator_29_a_buffer_is_used_again_only_when_the_socket_has_let_go() {
    let config = ProducerConfig { delivery_timeout: secs(40), ..config() };
    let mut test = Test::warm(config, 1, &[1]);
    let mut first = test.send(0, &large(8_000));
    let (connection, frame) = hold_produce_frame(&mut test);
    let written = frame.to_bytes();
    // It expires, its connection ends, its records have failed; but the socket may still read the bytes.
    test.harness.schedule(secs(1), Event::Disconnected { connection, reason: "gone".to_owned() });
    test.harness.peer.broker(1).silent = true;
    test.harness.advance(secs(60));
    assert!(matches!(first.result(), Some(Err(ProduceError::TimedOut { .. }))));
    let pool = Arc::clone(test.shared.accumulator().pool());
    assert_eq!(pool.total() - pool.free(), 16 << 10, "its memory is still charged");
    test.harness.peer.broker(1).silent = false;
    let second = test.send(0, "other other other");
    test.outcome(second).expect("written");
    assert_eq!(frame.to_bytes(), written, "the bytes on the way are as they were");
    drop(frame);
    test.settle();
}

#[test]
fn accumulator_29_buffers_are_used_again() {
    let mut test = Test::warm(config(), 1, &[1]);
    let mut addresses = Vec::new();
    for _ in 0..3 {
        let delivery = test.send(0, &large(8_000));
        let (_, frame) = hold_produce_frame(&mut test);
        addresses.push(
            frame.chunks().max_by_key(|chunk| chunk.len()).map(|chunk: &Bytes| chunk.as_ptr() as usize),
        );
        drop(frame);
        test.harness.disconnect(1, "so that it is sent again");
        test.outcome(delivery).expect("written");
    }
    assert_eq!(addresses[1], addresses[2]);
}

/// Where records without a key went, in order.
fn keyless(test: &mut Test, count: usize, value: &str) -> Vec<i32> {
    let topic = test.topic();
    let record = Record::to("t").value(value);
    (0..count)
        .map(|_| match test.append(&topic, &record, 0) {
            Ok(Append::Appended(delivery)) => delivery.partition(),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn accumulator_30_the_sticky_partition_switches_at_batch_size() {
    let config = ProducerConfig { batch_size: 1_000, ..lingering() };
    let mut test = Test::warm(config, 1, &[1; 12]);
    let partitions = keyless(&mut test, 300, &large(90));
    let mut runs: Vec<(i32, usize)> = Vec::new();
    for partition in partitions {
        match runs.last_mut() {
            Some((last, count)) if *last == partition => *count += 1,
            _ => runs.push((partition, 1)),
        }
    }
    let (_last, whole) = runs.split_last().expect("some");
    // 97 or 98 bytes a record: the eleventh crosses 1,000. Two runs may happen to be of the same partition.
    assert!(whole.iter().all(|(_, count)| count % 11 == 0), "{runs:?}");
    let used: std::collections::BTreeSet<i32> = runs.iter().map(|(partition, _)| *partition).collect();
    assert!(used.len() > 6, "{used:?}");
}

#[test]
fn accumulator_30_brokers_with_short_queues_are_preferred() {
    let config = ProducerConfig { batch_size: 500, buffer_memory: 64 << 20, ..lingering() };
    let mut test = Test::warm(config, 2, &[1, 2]);
    test.harness.peer.broker(1).silent = true;
    // The queue of partition 0 grows, because its broker answers nothing.
    for _ in 0..400 {
        let _delivery = test.send(0, &large(400));
    }
    test.harness.advance(ms(100));
    let mut counts = [0_usize; 2];
    for _ in 0..200 {
        for partition in keyless(&mut test, 6, &large(100)) {
            counts[partition as usize] += 1;
        }
        test.harness.advance(ms(11));
    }
    assert!(counts[1] > counts[0] * 10, "{counts:?}");
}

#[test]
fn accumulator_30_partitions_without_a_leader_are_avoided() {
    let mut test = Test::warm(lingering(), 1, &[1, 1, 1]);
    test.harness.peer.cluster.partition("t", 1).leader = -1;
    test.shared.metadata().request_update(milena_core::metadata::RefreshReason::Requested);
    test.harness.advance(secs(1));
    let partitions = keyless(&mut test, 3_000, &large(100));
    assert!(partitions.iter().all(|partition| *partition != 1));
    assert!(partitions.contains(&0) && partitions.contains(&2));
}

#[test]
fn accumulator_30_brokers_that_take_nothing_are_avoided_after_the_availability_timeout() {
    let config = ProducerConfig { partitioner_availability_timeout: ms(500), ..config() };
    let mut test = Test::warm(config, 2, &[1, 2]);
    test.harness.peer.broker(1).silent = true;
    for _ in 0..100 {
        let _delivery = test.send_now(0, "nobody takes it");
        test.harness.advance(ms(20));
    }
    for _ in 0..50 {
        let partitions = keyless(&mut test, 40, &large(1_000));
        assert!(partitions[17..].iter().all(|partition| *partition == 1), "{partitions:?}");
        test.harness.advance(ms(20));
    }
}

#[test]
fn field_07_a_full_buffer_is_not_missing_metadata() {
    let full = AppendError::BufferFull { needed: 10, total: 20, waited: secs(60) };
    assert!(
        full.to_string().contains("the buffer is full") && !full.to_string().contains("metadata"),
        "{full}"
    );
}

#[test]
fn field_07_after_an_outage_all_memory_is_free_again() {
    let mut config = ProducerConfig { buffer_memory: 64 << 10, delivery_timeout: secs(30), ..config() };
    config.client.request_timeout = secs(5);
    let mut test = Test::warm(config, 2, &[1, 2]);
    let topic = test.topic();
    test.harness.peer.broker(1).silent = true;
    let mut waits = Vec::new();
    for n in 0..200 {
        let value = large(1_000);
        match test.append(&topic, &Record::to("t").partition(n % 2).value(&value), 0) {
            Ok(Append::Appended(_)) => {}
            Ok(Append::NeedsMemory(wait)) => waits.push(wait),
            Err(error) => panic!("{error}"),
        }
        test.harness.advance(ms(10));
    }
    assert!(!waits.is_empty(), "the outage filled the buffer");
    test.harness.advance(secs(20));
    drop(waits);
    test.harness.peer.broker(1).silent = false;
    test.settle();
    let delivery = test.send(0, "after");
    test.outcome(delivery).expect("it works again");
}
