//! The loop: while messages remain and retries are left.

use std::time::Duration;

use milena_old_producer::{Producer, ProducerConfig, SendError};
use milena_protocol::ErrorCode;

use crate::world::{Happened, World, keyless, produced, to_partition};

fn slept(happened: &[Happened]) -> Vec<Duration> {
    let slept = happened.iter().filter_map(|happened| match happened {
        Happened::Slept(time) => Some(*time),
        _ => None,
    });
    slept.collect()
}

#[test]
fn what_failed_is_sent_again_after_a_backoff_and_a_refresh() {
    let world = World::new();
    let producer = world.producer(1, &[("retry.backoff.ms", "250")]);
    producer.send(vec![to_partition(0, "a")]).unwrap();
    world.happened();
    world.refreshes();
    // The leader moves, and nobody tells the producer.
    world.lead(&[2, 2, 3]);
    producer.send(vec![to_partition(0, "b"), to_partition(1, "c")]).unwrap();
    let happened = world.happened();
    assert_eq!(slept(&happened), [Duration::from_millis(250)]);
    assert_eq!(world.asked().len(), 1);
    assert_eq!(produced(&happened), [(2, 1, "c"), (2, 0, "b")], "and only that: c was acknowledged");
}

#[test]
fn retries_are_counted() {
    for (refusals, sent) in [(0, true), (3, true), (4, false)] {
        let world = World::new();
        let producer = world.producer(1, &[("message.send.max.retries", "3")]);
        world.refuse(refusals);
        let outcome = producer.send(vec![to_partition(0, "a")]);
        assert_eq!(outcome.is_ok(), sent, "{outcome:?}");
        assert_eq!(slept(&world.happened()).len(), refusals as usize);
        let Err(error) = outcome else { continue };
        let SendError::FailedToSend { tries: 4, cause, .. } = &error else { panic!("{error}") };
        assert!(
            matches!(**cause, SendError::Refused { code: ErrorCode::NOT_ENOUGH_REPLICAS, .. }),
            "{error}"
        );
    }
}

#[test]
fn one_request_goes_to_each_broker_and_one_failure_spares_the_others() {
    let world = World::new();
    world.lead(&[1, 1, -1]);
    let producer = world.producer(1, &[("message.send.max.retries", "1")]);
    let messages = [(0, "a"), (1, "b"), (2, "c"), (0, "d")];
    let outcome = producer.send(messages.map(|(at, value)| to_partition(at, value)).into());
    let happened = world.happened();
    assert_eq!(produced(&happened), [(1, 0, "a"), (1, 0, "d"), (1, 1, "b")]);
    let error = outcome.unwrap_err();
    let SendError::FailedToSend { messages: 1, tries: 2, cause, .. } = &error else { panic!("{error}") };
    assert!(matches!(**cause, SendError::NoLeader(_)), "{error}");
}

#[test]
fn nobody_answers_with_acks_0_so_nothing_is_ever_sent_again() {
    let world = World::new();
    let producer = world.producer(1, &[("request.required.acks", "0")]);
    world.refuse(1);
    let (took, sent) = world.time(|| producer.send(vec![to_partition(0, "a")]));
    sent.unwrap();
    assert_eq!(took, Duration::ZERO);
    assert_eq!(produced(&world.happened()), [], "lost, and nobody knows");
}

#[test]
fn a_topic_that_does_not_exist_is_said() {
    let world = World::new();
    world.without_topic();
    let producer = world.producer(1, &[("message.send.max.retries", "1")]);
    let error = producer.send(vec![keyless("a")]).unwrap_err();
    let SendError::FailedToSend { cause, .. } = &error else { panic!("{error}") };
    assert!(matches!(&**cause, SendError::UnknownTopic(topic) if topic == "t"), "{error}");
}

#[test]
fn the_partition_key_decides_and_a_partition_that_is_not_there_is_refused() {
    let world = World::new();
    let producer = world.producer(1, &[("message.send.max.retries", "0")]);
    producer.send(vec![to_partition(0, "a").with_partition_key(vec![2])]).unwrap();
    assert_eq!(produced(&world.happened()), [(3, 2, "a")]);
    let error = producer.send(vec![to_partition(3, "a")]).unwrap_err();
    let SendError::FailedToSend { cause, .. } = &error else { panic!("{error}") };
    assert!(matches!(**cause, SendError::NoSuchPartition { partition: 3, partitions: 3, .. }), "{error}");
    assert!(error.to_string().contains("0 to 2"), "{error}");
}

#[test]
fn a_closed_producer_sends_nothing() {
    let world = World::new();
    let producer = world.producer(1, &[]);
    producer.send(vec![to_partition(0, "a")]).unwrap();
    world.happened();
    producer.close();
    let closed = |happened: &Happened| matches!(happened, Happened::Closed(_));
    assert!(world.happened().iter().all(closed));
    assert!(matches!(producer.send(vec![to_partition(0, "b")]), Err(SendError::Closed)));
    assert!(Producer::builder(ProducerConfig::default()).build().is_err(), "whom would it ask?");
}
