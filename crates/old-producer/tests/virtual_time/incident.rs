//! The incident: one broker's host dies, its leaderships move, all seems well.

use std::time::Duration;

use crate::world::{Health, REQUEST_TIMEOUT, World, produced, to_partition};

const TEN_MINUTES: Duration = Duration::from_mins(10);
const BACKOFF: Duration = Duration::from_millis(100);

/// What is to be sent each time: something for each partition, in one call.
fn everything() -> Vec<milena_old_producer::KeyedMessage> {
    (0..3).map(|partition| to_partition(partition, "a")).collect()
}

/// A producer that has been working, when broker 3's host dies and its leaderships have moved; and has noticed.
fn after_the_fault(
    seed: u64,
    health: Health,
    settings: &[(&str, &str)],
) -> (World, milena_old_producer::Producer) {
    let world = World::new();
    let producer = world.producer(seed, settings);
    producer.send(everything()).unwrap();
    world.die(3, health);
    // Over the old connection, or after a refresh: whatever it takes.
    while producer.send(everything()).is_err() {}
    world.advance(TEN_MINUTES);
    world.happened();
    world.refreshes();
    (world, producer)
}

#[test]
fn a_refresh_that_picks_the_dead_host_first_delays_sends_by_exactly_request_timeout() {
    for (settings, timeout) in
        [(&[][..], REQUEST_TIMEOUT), (&[("request.timeout.ms", "2500")], Duration::from_millis(2500))]
    {
        let (world, producer) = after_the_fault(11, Health::Swallows, settings);
        let mut first = 0;
        for _ in 0..300 {
            let (took, sent) = world.time(|| producer.send(everything()));
            sent.unwrap();
            let asked = world.asked().remove(0);
            let picked = asked[0] == 3;
            assert_eq!(took, if picked { timeout } else { Duration::ZERO }, "{asked:?}");
            assert_eq!(asked.len(), if picked { 2 } else { 1 }, "the next one answers: {asked:?}");
            first += u32::from(picked);
            // Until the next refresh all is well.
            let (took, sent) = world.time(|| producer.send(everything()));
            sent.unwrap();
            assert_eq!((took, world.asked().len()), (Duration::ZERO, 0));
            world.advance(TEN_MINUTES);
        }
        assert!((60..=140).contains(&first), "with probability 1/3: {first} of 300");
        assert_eq!(produced(&world.happened()).len(), 300 * 2 * 3, "nothing is lost, it only waits");
    }
}

#[test]
fn the_dead_broker_stays_in_the_list_for_ever() {
    let (world, producer) = after_the_fault(2, Health::Swallows, &[]);
    // A year of metadata that does not name it.
    world.advance(Duration::from_secs(365 * 86_400));
    let mut picked = 0;
    for _ in 0..50 {
        producer.send(everything()).unwrap();
        picked += world.asked().iter().filter(|asked| asked[0] == 3).count();
        world.advance(TEN_MINUTES);
    }
    assert!(picked > 5, "{picked} of 50");
}

#[test]
fn a_host_that_is_alive_without_kafka_costs_nothing() {
    let (world, producer) = after_the_fault(11, Health::Refuses, &[]);
    let mut picked = 0;
    for _ in 0..100 {
        let (took, sent) = world.time(|| producer.send(everything()));
        sent.unwrap();
        assert_eq!(took, Duration::ZERO, "a live host at the dead one's address is a way out");
        picked += world.asked().iter().filter(|asked| asked[0] == 3).count();
        world.advance(TEN_MINUTES);
    }
    assert!(picked > 10, "{picked} of 100");
}

#[test]
fn a_host_that_takes_connections_and_never_answers_costs_as_much() {
    let (world, producer) = after_the_fault(11, Health::Silent, &[]);
    let mut picked = 0;
    for _ in 0..100 {
        let (took, sent) = world.time(|| producer.send(everything()));
        sent.unwrap();
        let first = world.asked()[0][0] == 3;
        assert_eq!(took, if first { REQUEST_TIMEOUT } else { Duration::ZERO });
        picked += u32::from(first);
        world.advance(TEN_MINUTES);
    }
    assert!(picked > 10, "{picked} of 100");
}

#[test]
fn a_list_that_drops_dead_brokers_is_a_way_out() {
    // As behind a virtual IP: whoever answers there is alive.
    let (world, producer) = after_the_fault(11, Health::Swallows, &[("metadata.broker.list", "b1:1,b2:2")]);
    for _ in 0..100 {
        let (took, sent) = world.time(|| producer.send(everything()));
        sent.unwrap();
        assert_eq!(took, Duration::ZERO);
        world.advance(TEN_MINUTES);
    }
    assert_eq!(world.asked().len(), 100);
}

#[test]
fn a_refresh_that_is_due_holds_up_what_the_dead_host_has_no_part_in() {
    let (world, producer) = after_the_fault(11, Health::Swallows, &[]);
    let mut waited = Duration::ZERO;
    for _ in 0..30 {
        // Broker 1 is as well as ever.
        let (took, sent) = world.time(|| producer.send(vec![to_partition(0, "a")]));
        sent.unwrap();
        waited = waited.max(took);
        world.advance(TEN_MINUTES);
    }
    assert_eq!(waited, REQUEST_TIMEOUT);
}

#[test]
fn at_the_fault_itself_a_send_waits_for_the_answer_that_does_not_come() {
    let world = World::new();
    let producer = world.producer(11, &[("topic.metadata.refresh.interval.ms", "-1")]);
    producer.send(everything()).unwrap();
    world.refreshes();
    world.die(3, Health::Swallows);
    world.happened();
    let (took, sent) = world.time(|| producer.send(everything()));
    sent.unwrap();
    let asked = world.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    let walk = if asked[0][0] == 3 { REQUEST_TIMEOUT } else { Duration::ZERO };
    assert_eq!(took, REQUEST_TIMEOUT + BACKOFF + walk, "the connection is there, and nobody reads it");
    assert_eq!(produced(&world.happened()).len(), 3, "those that were acknowledged are not sent again");
}
