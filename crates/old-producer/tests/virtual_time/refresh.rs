//! When the metadata is refreshed, by whom, and what of.

use std::time::Duration;

use milena_old_producer::SendError;

use crate::world::{Happened, Health, REQUEST_TIMEOUT, World, keyless, produced, to_partition};

const TEN_MINUTES: Duration = Duration::from_mins(10);

#[test]
fn a_send_after_the_interval_refreshes_before_it_sends() {
    let world = World::new();
    let producer = world.producer(1, &[]);
    producer.send(vec![to_partition(0, "a")]).unwrap();
    assert_eq!(world.asked().len(), 1, "the first one knows nothing");
    world.happened();
    world.advance(TEN_MINUTES - Duration::from_millis(1));
    producer.send(vec![to_partition(0, "b")]).unwrap();
    assert_eq!(world.happened().len(), 1, "one request, over the connection that there is");
    world.advance(Duration::from_millis(1));
    producer.send(vec![to_partition(0, "c")]).unwrap();
    let happened = world.happened();
    let asked = happened.iter().position(|happened| matches!(happened, Happened::AskedMetadata(_)));
    let sent = happened.iter().position(|happened| matches!(happened, Happened::Produced { .. }));
    assert!(asked.unwrap() < sent.unwrap(), "{happened:?}");
    assert_eq!(world.asked().len(), 1);
}

#[test]
fn nothing_is_refreshed_while_nothing_is_sent() {
    let world = World::new();
    let producer = world.producer(1, &[]);
    producer.send(vec![to_partition(0, "a")]).unwrap();
    world.happened();
    world.advance(TEN_MINUTES * 100);
    assert_eq!(world.happened(), [], "there is no thread that could");
    producer.send(vec![to_partition(0, "b")]).unwrap();
    assert_eq!(world.asked().len(), 2, "and it is made up for once");
}

#[test]
fn a_negative_interval_never_refreshes() {
    let world = World::new();
    let producer = world.producer(1, &[("topic.metadata.refresh.interval.ms", "-1")]);
    producer.send(vec![to_partition(0, "a")]).unwrap();
    assert_eq!(world.asked().len(), 1, "a topic that is not known yet");
    world.die(3, Health::Swallows);
    for _ in 0..100 {
        world.advance(TEN_MINUTES);
        let (took, sent) = world.time(|| producer.send(vec![to_partition(0, "b"), to_partition(1, "c")]));
        sent.unwrap();
        assert_eq!(took, Duration::ZERO);
    }
    assert_eq!(world.asked(), [[0_u16; 0]; 0]);
}

#[test]
fn an_interval_of_zero_refreshes_before_each_send() {
    let world = World::new();
    let producer = world.producer(1, &[("topic.metadata.refresh.interval.ms", "0")]);
    for _ in 0..10 {
        producer.send(vec![to_partition(0, "a")]).unwrap();
    }
    assert_eq!(world.asked().len(), 10);
}

#[test]
fn the_list_is_shuffled_and_the_first_answer_ends_the_walk() {
    let world = World::new();
    let producer = world.producer(5, &[("topic.metadata.refresh.interval.ms", "0")]);
    for _ in 0..300 {
        producer.send(vec![to_partition(0, "a")]).unwrap();
    }
    let asked = world.asked();
    assert!(asked.iter().all(|asked| asked.len() == 1));
    for broker in 1..=3 {
        let first = asked.iter().filter(|asked| asked[0] == broker).count();
        assert!((60..=140).contains(&first), "broker {broker} was first {first} times of 300");
    }
}

#[test]
fn a_seed_says_whom_is_asked() {
    let order = |seed| {
        let world = World::new();
        let producer = world.producer(seed, &[("topic.metadata.refresh.interval.ms", "0")]);
        for _ in 0..50 {
            producer.send(vec![keyless("a")]).unwrap();
        }
        (world.asked(), world.happened())
    };
    assert_eq!(order(7), order(7));
    assert_ne!(order(7).0, order(8).0);
}

#[test]
fn each_broker_is_asked_over_a_connection_of_its_own_which_is_closed() {
    let world = World::new();
    world.set(1, Health::Refuses);
    world.set(2, Health::Refuses);
    let producer = world.producer(1, &[("topic.metadata.refresh.interval.ms", "0")]);
    for _ in 0..10 {
        producer.send(vec![to_partition(2, "a")]).unwrap();
        let happened = world.happened();
        let walk = world.asked().remove(0);
        assert_eq!(walk.last(), Some(&3));
        let mut expected: Vec<_> = walk.iter().map(|id| Happened::Connecting((*id).into())).collect();
        expected.extend([Happened::AskedMetadata(3), Happened::Closed(3)]);
        assert_eq!(happened[..expected.len()], expected);
    }
}

#[test]
fn when_nobody_answers_the_error_names_topics_and_brokers() {
    let world = World::new();
    for id in 1..=3 {
        world.set(id, Health::Swallows);
    }
    let producer = world.producer(1, &[("message.send.max.retries", "0"), ("retry.backoff.ms", "0")]);
    let (took, sent) = world.time(|| producer.send(vec![to_partition(0, "a")]));
    let error = sent.unwrap_err();
    let SendError::FailedToSend { messages: 1, tries: 1, cause, .. } = &error else { panic!("{error}") };
    let SendError::NoMetadata { topics, brokers, .. } = &**cause else { panic!("{error}") };
    assert_eq!(topics, &["t"]);
    assert_eq!(brokers.len(), 3);
    let text = error.to_string();
    for part in ["\"t\"", "b1:1", "b2:2", "b3:3", "10000 ms (request.timeout.ms)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The refresh that was due, the one for a topic that is not known, and the one after the failure, of three brokers each.
    assert_eq!(took, REQUEST_TIMEOUT * 9);
    assert_eq!(world.refreshes().iter().map(|report| report.asked.len()).collect::<Vec<_>>(), [3, 3, 3]);
}

#[test]
fn the_pool_is_rebuilt_after_each_refresh() {
    let world = World::new();
    let producer = world.producer(1, &[]);
    let all = || (0..3).map(|partition| to_partition(partition, "a")).collect::<Vec<_>>();
    producer.send(all()).unwrap();
    world.happened();
    producer.send(all()).unwrap();
    let happened = world.happened();
    assert_eq!(happened.len(), 3, "three requests over the connections that there are: {happened:?}");
    world.advance(TEN_MINUTES);
    producer.send(all()).unwrap();
    let happened = world.happened();
    for id in 1..=3 {
        let at = |what| happened.iter().rposition(|happened| *happened == what).unwrap();
        assert!(at(Happened::Closed(id)) < at(Happened::Connecting(id)), "broker {id}: {happened:?}");
    }
    assert_eq!(produced(&happened).len(), 3);
}

#[test]
fn keyless_messages_stick_to_a_partition_until_the_next_refresh() {
    let world = World::new();
    let producer = world.producer(3, &[]);
    let mut seen = Vec::new();
    for _ in 0..60 {
        for _ in 0..20 {
            producer.send(vec![keyless("a"), keyless("b")]).unwrap();
        }
        let happened = world.happened();
        let produced = produced(&happened);
        assert_eq!(produced.len(), 40);
        assert!(produced.iter().all(|(_, partition, _)| *partition == produced[0].1), "{produced:?}");
        seen.push(produced[0].1);
        world.advance(TEN_MINUTES);
    }
    for partition in 0..3 {
        let chosen = seen.iter().filter(|seen| **seen == partition).count();
        assert!(chosen > 5, "partition {partition} was chosen {chosen} times of 60");
    }
}

#[test]
fn keyless_messages_go_to_partitions_that_have_a_leader() {
    let world = World::new();
    world.lead(&[-1, 2, -1]);
    let producer = world.producer(3, &[("topic.metadata.refresh.interval.ms", "0")]);
    for _ in 0..20 {
        producer.send(vec![keyless("a")]).unwrap();
    }
    assert!(produced(&world.happened()).iter().all(|(_, partition, _)| *partition == 1));
}
