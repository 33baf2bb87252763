//! A broker dies, or only seems to: who notices, and what becomes of its partitions' records (client.md 35 to 39).

mod producer_support;
mod support;

use std::{
    cell::Cell,
    pin::Pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use milena_core::{
    config::ProducerConfig,
    metadata::RefreshReason,
    producer::{Append, Delivery, MemoryWait, PoolClosed, Reservation},
    record::Record,
    time::Instant,
};
use milena_protocol::{ApiKey, ErrorCode};
use producer_support::{Fault, Test, config};
use support::{Reach, Reply, ms, secs};

/// Its host is gone: established connections are silent, new ones hang.
fn host_down(test: &mut Test, broker: i32) {
    let broker = test.harness.peer.broker(broker);
    (broker.silent, broker.reach) = (true, Reach::Swallows);
}

fn host_up(test: &mut Test, broker: i32) {
    let broker = test.harness.peer.broker(broker);
    (broker.silent, broker.reach) = (false, Reach::Accepts);
}

/// Three brokers of which each leads one partition of `t`; every connection stands.
fn three(config: ProducerConfig) -> Test {
    Test::warm(config, 3, &[1, 2, 3])
}

/// A record that is under way, and when it was sent.
struct Sent {
    at: Instant,
    partition: i32,
    delivery: Delivery,
}

/// Sends a record to each of the partitions every 10 ms; what arrived, with the partition and how long it took.
fn send_for(
    test: &mut Test,
    time: Duration,
    partitions: &[i32],
    under_way: &mut Vec<Sent>,
) -> Vec<(i32, Duration)> {
    let end = test.harness.now + time;
    let mut took = Vec::new();
    while test.harness.now < end {
        for &partition in partitions {
            let value = format!("{:?}", test.harness.now);
            let delivery = test.send_now(partition, &value);
            under_way.push(Sent { at: test.harness.now, partition, delivery });
        }
        test.harness.advance(ms(10));
        let now = test.harness.now;
        under_way.retain_mut(|sent| {
            let Some(outcome) = sent.delivery.result() else { return true };
            outcome.expect("nothing fails here");
            took.push((sent.partition, now - sent.at));
            false
        });
    }
    took
}

fn longest(took: &[(i32, Duration)], partitions: &[i32]) -> Duration {
    let of_them = took.iter().filter(|(partition, _)| partitions.contains(partition));
    of_them.map(|(_, took)| *took).max().unwrap_or_default()
}

/// Everything that was acknowledged is in the log once and in order, because each value is the time of its sending.
fn assert_in_order(test: &mut Test, partition: i32) {
    let values = test.values(partition);
    let times: Vec<f64> = values
        .iter()
        .map(|value| value.trim_start_matches("t+").trim_end_matches('s').parse().expect("a time"))
        .collect();
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{}", test.story(partition));
    assert!(!values.is_empty());
}

#[test]
fn unhealthy_35_and_36_a_dead_hosts_partitions_wait_for_the_move_and_no_longer_and_others_do_not_wait() {
    let mut test = three(config());
    let mut under_way = Vec::new();
    let before = send_for(&mut test, secs(2), &[0, 1, 2], &mut under_way);
    assert!(longest(&before, &[0, 1, 2]) <= ms(20), "healthy");
    host_down(&mut test, 3);
    let died_at = test.harness.now;
    let during = send_for(&mut test, secs(10), &[0, 1, 2], &mut under_way);
    assert!(longest(&during, &[0, 1]) <= ms(20), "the others do not notice");
    assert!(under_way.iter().all(|sent| sent.partition == 2) && under_way.len() > 990);
    test.harness.peer.cluster.move_leader("t", 2, 1);
    let moved_at = test.harness.now;
    let after = send_for(&mut test, secs(1), &[0, 1, 2], &mut under_way);
    assert!(longest(&after, &[2]) <= moved_at - died_at + ms(500), "half a second after the move");
    assert!(longest(&after, &[0, 1]) <= ms(20));
    send_for(&mut test, secs(1), &[], &mut under_way);
    assert!(under_way.is_empty());
    for partition in 0..3 {
        assert_in_order(&mut test, partition);
    }
}

#[test]
fn unhealthy_36_a_suspect_is_asked_nothing_and_the_others_at_most_four_times_a_second() {
    let mut test = three(config());
    host_down(&mut test, 3);
    let died_at = test.harness.now;
    let mut under_way = Vec::new();
    send_for(&mut test, secs(20), &[0, 1, 2], &mut under_way);
    let suspected_at = died_at + ms(500);
    let later = |api| {
        let asked = test.harness.peer.asked(api);
        asked.into_iter().filter(|request| request.at > suspected_at).collect::<Vec<_>>()
    };
    let metadata = later(ApiKey::Metadata);
    assert!(metadata.iter().all(|request| request.broker != 3), "a suspect is asked nothing");
    assert!(metadata.len() <= 80 && metadata.len() >= 70, "{} in 20 s", metadata.len());
    let to_suspect = later(ApiKey::Produce).iter().filter(|request| request.broker == 3).count();
    assert_eq!(to_suspect, 0, "no new work for it");
}

#[test]
fn unhealthy_36_one_more_suspect_makes_nobody_ask_more_often() {
    let mut test = Test::warm(config(), 4, &[1, 2, 3, 4]);
    let began_at = test.harness.now;
    let mut under_way = Vec::new();
    // Suspicion falls three times within a step: as when leaders wait for one slow follower.
    for broker in 2..=4 {
        host_down(&mut test, broker);
        send_for(&mut test, ms(80), &[0, 1, 2, 3], &mut under_way);
    }
    send_for(&mut test, secs(3), &[0, 1, 2, 3], &mut under_way);
    let asked = test.harness.peer.asked(ApiKey::Metadata);
    let asked: Vec<Instant> =
        asked.into_iter().map(|request| request.at).filter(|at| *at > began_at).collect();
    assert!(asked.len() > 8, "{asked:?}");
    assert!(asked.windows(2).all(|pair| pair[1] - pair[0] >= ms(250)), "{asked:?}");
}

#[test]
fn unhealthy_36_it_goes_at_once_where_a_hint_says() {
    let mut test = three(config());
    // Broker 3 swallows the first batch and then says, about the second, that another one leads.
    test.fault(Fault::Slow(secs(20)));
    let first = test.send_now(2, "a");
    test.harness.advance(ms(5));
    test.harness.peer.cluster.move_leader("t", 2, 2);
    let moved_at = test.harness.now;
    let outcomes = test.outcomes(vec![first]);
    assert!(outcomes[0].is_ok());
    assert!(test.harness.now - moved_at < secs(1), "not after 20 s");
    let second = test.send_now(2, "b");
    assert!(test.outcome(second).is_ok());
    test.harness.advance(secs(30));
    assert_eq!(test.values(2), ["a", "b"], "{}", test.story(2));
}

#[test]
fn unhealthy_36_the_old_leaders_late_answer_is_ignored() {
    for fault in [Fault::Swallow, Fault::WriteAndSwallow] {
        let mut test = three(config());
        test.fault(fault);
        let first = test.send_now(2, "a");
        test.harness.advance(ms(600));
        test.harness.peer.cluster.move_leader("t", 2, 1);
        let more: Vec<Delivery> = ["b", "c", "d"].map(|value| test.send_now(2, value)).into();
        assert!(test.outcome(first).is_ok());
        assert!(test.outcomes(more).iter().all(Result::is_ok));
        assert_eq!(test.values(2), ["a", "b", "c", "d"], "{}", test.story(2));
        test.settle();
    }
}

#[test]
fn unhealthy_36_a_leader_that_comes_back_writes_nothing_twice() {
    let mut test = three(config());
    let mut under_way = Vec::new();
    send_for(&mut test, ms(100), &[2], &mut under_way);
    for (from, to) in [(3, 1), (1, 3), (3, 2), (2, 3)] {
        test.fault(Fault::WriteAndSwallow);
        send_for(&mut test, ms(700), &[2], &mut under_way);
        host_down(&mut test, from);
        test.harness.peer.cluster.move_leader("t", 2, to);
        send_for(&mut test, ms(1_500), &[2], &mut under_way);
        host_up(&mut test, from);
        send_for(&mut test, secs(1), &[2], &mut under_way);
    }
    send_for(&mut test, secs(40), &[], &mut under_way);
    assert!(under_way.is_empty());
    assert_in_order(&mut test, 2);
    test.settle();
}

#[test]
fn unhealthy_36_a_view_that_has_gone_back_to_an_older_leader_is_not_followed() {
    let mut test = three(config());
    let lead = |test: &mut Test, leader: i32, epoch: i32| {
        let partition = test.harness.peer.cluster.partition("t", 2);
        (partition.leader, partition.epoch) = (leader, epoch);
        for _ in 0..20 {
            test.shared.metadata().request_update(RefreshReason::Requested);
            test.harness.advance(secs(2));
        }
    };
    lead(&mut test, 3, 2);
    // Written, and not acknowledged; then all that can be asked say that broker 2 leads, as it did before.
    test.fault(Fault::WriteAndRefuse(ErrorCode::REQUEST_TIMED_OUT));
    test.logs.borrow_mut().produced.clear();
    let in_doubt = test.send_now(2, "a");
    lead(&mut test, 2, 1);
    assert!(test.produced().iter().all(|produced| produced.broker == 3), "{}", test.story(2));
    lead(&mut test, 3, 2);
    assert!(test.outcome(in_doubt).is_ok());
    assert_eq!(test.values(2), ["a"], "{}", test.story(2));
}

#[test]
fn unhealthy_36_a_leader_that_was_replaced_and_does_not_know_it_is_not_believed_about_what_it_lacks() {
    let mut test = three(config());
    let mut under_way = Vec::new();
    send_for(&mut test, ms(100), &[2], &mut under_way);
    test.logs.borrow_mut().produced.clear();
    // Broker 1 led in epoch 1, and 3 leads again in epoch 2; 1 has not heard of that, and 2 hears of it late.
    let partition = test.harness.peer.cluster.partition("t", 2);
    (partition.leader, partition.epoch) = (3, 2);
    let heard = Rc::new(Cell::new(false));
    let knows = Rc::clone(&heard);
    test.harness.peer.script(ApiKey::Metadata, move |request, cluster| {
        let mut told = cluster.clone();
        if request.broker == 1 || !knows.get() {
            let partition = told.partition("t", 2);
            (partition.leader, partition.epoch) = (1, 1);
        }
        request.answer(&told.metadata(&request.decode()))
    });
    test.fault(Fault::WriteAndSwallow);
    for _ in 0..20 {
        test.fault(Fault::Refuse(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
    }
    let in_doubt = test.send_now(2, "a");
    test.harness.advance(ms(2));
    host_down(&mut test, 3);
    test.harness.run_until(secs(5), |harness| {
        let asked = harness.peer.asked(ApiKey::Produce);
        asked.last().is_some_and(|request| request.broker == 1)
    });
    test.harness.advance(secs(1));
    heard.set(true);
    test.harness.advance(secs(1));
    let produced = test.produced();
    let sequence = |at: usize| (produced[at].header.producer_epoch, produced[at].header.base_sequence);
    assert!((0..produced.len()).all(|at| sequence(at) == sequence(0)), "{produced:?}");
    assert!((2..10).contains(&produced.len()), "it is asked again, with pauses: {produced:?}");
    test.logs.borrow_mut().faults.clear();
    host_up(&mut test, 3);
    assert!(test.outcome(in_doubt).is_ok());
    let values = test.values(2);
    assert_eq!(values.iter().filter(|value| *value == "a").count(), 1, "{}", test.story(2));
    test.settle();
}

#[test]
fn unhealthy_36_a_new_leader_that_has_lost_records_is_believed_when_others_still_name_it() {
    let mut test = three(config());
    for value in ["a", "b", "c"] {
        let sent = test.send_now(2, value);
        test.harness.advance(ms(20));
        assert!(test.outcome(sent).is_ok());
    }
    test.fault(Fault::Swallow);
    let in_doubt = test.send_now(2, "d");
    test.harness.advance(ms(2));
    host_down(&mut test, 3);
    test.logs.borrow_mut().lose_the_last_batch();
    test.harness.peer.cluster.move_leader("t", 2, 1);
    let moved_at = test.harness.now;
    assert!(test.outcome(in_doubt).is_ok());
    assert_eq!(test.values(2), ["a", "b", "d"], "{}", test.story(2));
    assert!(test.harness.now - moved_at < secs(8));
    test.settle();
}

#[test]
fn unhealthy_36_without_idempotence_only_where_duplicates_are_allowed() {
    for (allowed, waits) in [(false, true), (true, false)] {
        let settings = ProducerConfig { idempotence: false, take_back_duplicates: allowed, ..config() };
        let mut test = three(settings);
        test.fault(Fault::Swallow);
        let sent_at = test.harness.now;
        let first = test.send_now(2, "a");
        test.harness.advance(ms(600));
        test.harness.peer.cluster.move_leader("t", 2, 1);
        assert!(test.outcome(first).is_ok());
        assert_eq!(test.harness.now - sent_at > secs(30), waits, "request.timeout.ms");
        assert_eq!(test.values(2), ["a"]);
    }
}

#[test]
fn unhealthy_36_a_slow_broker_costs_little_and_nothing_is_taken_back() {
    let mut test = three(config());
    let mut under_way = Vec::new();
    let began_at = test.harness.now;
    for _ in 0..20 {
        // As a collector of garbage that stops the world for 700 ms.
        test.harness.peer.broker(3).delay = ms(700);
        send_for(&mut test, ms(700), &[0, 1, 2], &mut under_way);
        test.harness.peer.broker(3).delay = Duration::ZERO;
        send_for(&mut test, ms(300), &[0, 1, 2], &mut under_way);
    }
    send_for(&mut test, secs(5), &[], &mut under_way);
    assert!(under_way.is_empty());
    let asked = test.harness.peer.asked(ApiKey::Metadata);
    let asked = asked.iter().filter(|request| request.at > began_at).count();
    assert!(asked <= 80, "{asked} in 20 s");
    let produced = test.produced();
    let mut sequences: Vec<i32> =
        produced.iter().filter(|p| p.partition == 2).map(|p| p.header.base_sequence).collect();
    sequences.dedup();
    assert_eq!(sequences.len(), produced.iter().filter(|p| p.partition == 2).count(), "each batch once");
    assert!(produced.iter().filter(|p| p.partition == 2).all(|p| p.broker == 3));
    assert_in_order(&mut test, 2);
}

#[test]
fn unhealthy_38_records_without_a_key_avoid_a_suspect() {
    for adaptive in [true, false] {
        let mut test = three(ProducerConfig { partitioner_adaptive: adaptive, ..config() });
        host_down(&mut test, 3);
        let to_it = test.send_now(2, "finds out");
        test.harness.advance(secs(1));
        let topic = test.topic();
        test.harness.peer.requests.clear();
        let mut last = None;
        for n in 0..200 {
            let value = vec![b'x'; 1 << 12];
            let record = Record::to("t").value(&value);
            let Ok(Append::Appended(delivery)) = test.append(&topic, &record, n) else {
                panic!("there is memory")
            };
            assert_ne!(delivery.partition(), 2, "record {n}, adaptive: {adaptive}");
            test.harness.advance(ms(5));
            last = Some(delivery);
        }
        assert!(test.outcome(last.expect("many")).is_ok());
        drop(to_it);
    }
}

#[test]
fn unhealthy_39_a_dead_bootstrap_address_costs_some_milliseconds() {
    for seed in 0..100 {
        let mut settings = config();
        settings.client.bootstrap = (1..=3).map(|id| (format!("b{id}"), 9092)).collect();
        let mut test = Test::seeded(settings, 3, &[1, 2], seed);
        host_down(&mut test, 3);
        let began_at = test.harness.now;
        let first = {
            test.topic();
            test.send_now(0, "first")
        };
        assert!(test.outcome(first).is_ok());
        let took = test.harness.now - began_at;
        assert!(took <= ms(25), "seed {seed}: {took:?}");
    }
}

/// 64 KiB of memory, of which half may wait for suspects; batches of 1 KiB.
fn little_memory() -> ProducerConfig {
    ProducerConfig { buffer_memory: 64 << 10, batch_size: 1 << 10, ..config() }
}

/// Appends a record of 800 bytes; none when it would have to wait.
fn try_append(test: &mut Test, partition: Option<i32>) -> Result<Delivery, MemoryWait> {
    let topic = test.topic();
    let value = vec![b'x'; 800];
    let mut record = Record::to("t").value(&value);
    record.partition = partition;
    match test.append(&topic, &record, 1).expect("not refused") {
        Append::Appended(delivery) => Ok(delivery),
        Append::NeedsMemory(wait) => Err(wait),
    }
}

#[test]
fn unhealthy_37_what_waits_for_a_suspect_leaves_memory_to_the_others() {
    let mut test = three(little_memory());
    host_down(&mut test, 3);
    let mut kept = vec![test.send_now(2, "finds out")];
    test.harness.advance(secs(1));
    // Whoever sends to the suspect is stopped at the share, however much is free.
    let mut wait = loop {
        match try_append(&mut test, Some(2)) {
            Ok(delivery) => kept.push(delivery),
            Err(wait) => break wait,
        }
        test.harness.advance(ms(10));
        assert!(kept.len() < 100, "no bound");
    };
    let pool = Arc::clone(test.shared.accumulator().pool());
    assert!(pool.free() >= pool.total() / 2 - (2 << 10), "{} of {}", pool.free(), pool.total());
    assert!(kept.len() > 20, "half of the memory is used");
    assert_eq!(wait.held_up_by().as_deref(), Some("broker 3 (b3:9092) does not answer"));
    assert!(!pool.has_waiters(), "it waits alone");
    // The others do not notice, and go on for as long as it lasts.
    for _ in 0..500 {
        for partition in [0, 1] {
            let delivery = try_append(&mut test, Some(partition)).unwrap_or_else(|_| panic!("it has memory"));
            test.harness.poll();
            assert!(test.outcome(delivery).is_ok());
        }
    }
    assert!(poll_once(&mut wait).is_pending());
    // When the leader has moved there is room again for those who wait.
    test.harness.peer.cluster.move_leader("t", 2, 1);
    test.harness.advance(secs(1));
    assert!(matches!(poll_once(&mut wait), Poll::Ready(Ok(memory)) if memory.bytes() > 0));
    assert!(test.outcomes(kept).iter().all(Result::is_ok));
    test.settle();
}

#[test]
fn unhealthy_37_a_full_buffer_lets_the_others_go_on_once_suspicion_has_fallen() {
    let mut test = three(little_memory());
    host_down(&mut test, 3);
    let mut kept = vec![test.send_now(2, "finds out")];
    // Before anybody can know, the records for the dead broker fill the memory.
    while let Ok(delivery) = try_append(&mut test, Some(2)) {
        kept.push(delivery);
        test.harness.poll();
    }
    let mut to_healthy = try_append(&mut test, Some(0)).expect_err("the memory is full");
    let mut to_suspect = try_append(&mut test, Some(2)).expect_err("the memory is full");
    let mut keyless = try_append(&mut test, None).expect_err("the memory is full");
    test.harness.advance(secs(1));
    // It is no more than full: the others get what is given back, as soon as something is.
    assert!(poll_once(&mut to_suspect).is_pending());
    test.harness.peer.cluster.move_leader("t", 2, 1);
    test.harness.advance(secs(1));
    for wait in [&mut to_healthy, &mut to_suspect, &mut keyless] {
        assert!(matches!(poll_once(wait), Poll::Ready(Ok(_))));
    }
    drop((to_healthy, to_suspect, keyless));
    assert!(test.outcomes(kept).iter().all(Result::is_ok));
    test.settle();
}

#[test]
fn unhealthy_38_what_was_placed_on_a_suspect_and_not_sent_goes_elsewhere() {
    // One request in flight: what comes after it waits in the queue.
    let mut settings = ProducerConfig { batch_size: 1 << 10, ..config() };
    settings.client.max_in_flight = 1;
    let mut test = three(settings);
    let mut kept = Vec::new();
    // Until the sticky partitioner has placed something on the partition whose broker has just died.
    host_down(&mut test, 3);
    while kept.iter().filter(|delivery: &&Delivery| delivery.partition() == 2).count() < 8 {
        kept.push(try_append(&mut test, None).unwrap_or_else(|_| panic!("there is memory")));
        test.harness.poll();
        assert!(kept.len() < 1_000);
    }
    let explicit = try_append(&mut test, Some(2)).unwrap_or_else(|_| panic!("there is memory"));
    let began_at = test.harness.now;
    test.harness.advance(secs(1));
    kept.retain_mut(|delivery| delivery.result().is_none());
    let in_flight: Vec<i32> = kept.iter().map(Delivery::partition).collect();
    assert!(
        in_flight.iter().all(|partition| *partition == 2),
        "what was never sent has arrived: {in_flight:?}"
    );
    assert!(in_flight.len() <= 2, "only what was in flight waits: {in_flight:?}");
    assert!(kept.iter().all(|delivery| delivery.attempts() == 1), "they were sent");
    assert_eq!((explicit.partition(), explicit.attempts()), (2, 0), "it was told where to go, and waits");
    test.harness.peer.cluster.move_leader("t", 2, 1);
    kept.push(explicit);
    while kept.iter_mut().any(|delivery| delivery.result().is_none()) {
        test.harness.poll();
        test.harness.advance(ms(1));
        assert!(test.harness.now - began_at < secs(2));
    }
    let explicit = kept.pop().map(|delivery| delivery.attempts());
    assert_eq!(explicit, Some(1), "it was sent once, to the new leader");
    assert!(kept.iter().all(|delivery| delivery.attempts() == 2), "they were sent again");
    assert!(kept.iter_mut().all(|delivery| delivery.result().is_some_and(|outcome| outcome.is_ok())));
    test.settle();
}

#[test]
fn unhealthy_38_while_nobody_answers_records_without_a_key_stay_where_they_are() {
    let mut test = three(config());
    (1..=3).for_each(|broker| host_down(&mut test, broker));
    let finds_out: Vec<_> = (0..3).map(|partition| test.send_now(partition, "finds out")).collect();
    test.harness.advance(secs(1));
    let before = test.shared.accumulator().incomplete_batches();
    let mut kept = Vec::new();
    for n in 0..1_000 {
        kept.push(try_append(&mut test, None).unwrap_or_else(|_| panic!("there is memory")));
        test.harness.poll();
        test.harness.advance(ms(n % 2));
    }
    let batches = test.shared.accumulator().incomplete_batches() - before;
    assert!(batches <= 60, "batches of 16 KiB would do for 1,000 records of 800 bytes, there are {batches}");
    (1..=3).for_each(|broker| host_up(&mut test, broker));
    kept.extend(finds_out);
    assert!(test.outcomes(kept).iter().all(Result::is_ok));
    test.settle();
}

#[test]
fn unhealthy_38_a_suspect_is_avoided_from_the_turn_on_in_which_suspicion_falls() {
    for seed in 0..10 {
        let mut test = Test::seeded(config(), 3, &[1, 2, 3], seed);
        test.warm_up(3);
        host_down(&mut test, 3);
        let mut kept = Vec::new();
        // Queues are measured every 10 ms: before suspicion falls last so many milliseconds.
        for _ in 0..seed {
            kept.push(test.send_now(0, "before"));
            test.harness.advance(ms(1));
        }
        kept.push(test.send_now(2, "finds out"));
        while !test.harness.engine.network().is_suspected(3) {
            kept.push(test.send_now(0, "meanwhile"));
            test.harness.advance(ms(1));
        }
        for n in 0..20 {
            let delivery = try_append(&mut test, None).unwrap_or_else(|_| panic!("there is memory"));
            assert_ne!(delivery.partition(), 2, "seed {seed}, record {n}");
        }
    }
}

fn poll_once(wait: &mut MemoryWait) -> Poll<Result<Reservation, PoolClosed>> {
    Pin::new(wait).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn unhealthy_39_a_refresh_that_is_not_answered_is_asked_of_the_next_broker() {
    for seed in 0..20 {
        let mut settings = config();
        settings.client.suspicion_floor = Duration::ZERO;
        let mut test = Test::seeded(settings, 3, &[1, 2, 3], seed);
        test.warm_up(3);
        test.harness.advance(secs(5));
        test.harness.peer.requests.clear();
        // The first that is asked keeps silent, and the second.
        let mut silent = Vec::new();
        test.harness.peer.script(ApiKey::Metadata, move |request, _| {
            if silent.len() < 2 {
                silent.push(request.broker);
                return Reply::Nothing;
            }
            assert!(!silent.contains(&request.broker), "each is asked once");
            Reply::AsUsual
        });
        let (asked_at, before) = (test.harness.now, test.harness.engine.metadata().version());
        test.shared.metadata().request_update(RefreshReason::Requested);
        test.harness.run_until(secs(2), |harness| harness.engine.metadata().version() > before);
        assert_eq!(test.harness.now - asked_at, ms(501), "two silences and an answer");
        // One refresh, however many were asked.
        test.harness.advance(secs(20));
        assert_eq!(test.harness.engine.metadata().version(), before + 1);
        assert_eq!(test.harness.peer.count(ApiKey::Metadata), 3);
    }
}
