//! Random faults against logs that check sequences as Kafka's do: what is acknowledged is written, once, in order.
//!
//! `MILENA_SEEDS=5000 cargo test -p milena-core --test producer_chaos` runs more, `MILENA_SEED=17` one of them.

#![allow(clippy::print_stdout, reason = "the seed of a run that fails")]

mod producer_support;
mod support;

use std::{collections::BTreeSet, env, time::Duration};

use milena_core::{config::ProducerConfig, engine::Event, network::ConnectionId, producer::Delivery};
use milena_protocol::ErrorCode;
use producer_support::{Fault, Test, config};
use rand::{Rng, RngExt, SeedableRng, rngs::SmallRng};
use support::{ms, secs};

const BROKERS: i32 = 3;
const LEADERS: [i32; 4] = [1, 2, 3, 1];
const SEEDS: u64 = 200;

struct Sent {
    partition: i32,
    value: String,
    delivery: Delivery,
}

fn chaotic_config(rng: &mut SmallRng) -> ProducerConfig {
    let mut config = config();
    config.linger = ms(rng.random_range(0..5));
    config.batch_size = [0, 100, 256, 1024][rng.random_range(0..4)];
    config.max_request_size = [512, 2048, 1 << 20][rng.random_range(0..3)];
    config.delivery_timeout = secs([3, 10, 120][rng.random_range(0..3)]);
    config.client.request_timeout = secs([1, 2, 10][rng.random_range(0..3)]);
    config.client.max_in_flight = rng.random_range(1..=5);
    if rng.random_bool(0.2) {
        config.compression = milena_protocol::records::Compression::Lz4;
    }
    config
}

fn random_fault(rng: &mut SmallRng) -> Fault {
    const CODES: [ErrorCode; 7] = [
        ErrorCode::NOT_LEADER_OR_FOLLOWER,
        ErrorCode::NOT_ENOUGH_REPLICAS,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode::UNKNOWN_TOPIC_ID,
        ErrorCode::REQUEST_TIMED_OUT,
        ErrorCode::MESSAGE_TOO_LARGE,
        ErrorCode::TOPIC_AUTHORIZATION_FAILED,
    ];
    const WRITTEN: [ErrorCode; 4] = [
        ErrorCode::NOT_LEADER_OR_FOLLOWER,
        ErrorCode::REQUEST_TIMED_OUT,
        ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode::UNKNOWN_SERVER_ERROR,
    ];
    match rng.random_range(0..9) {
        0 => Fault::Lose,
        1 => Fault::WriteAndLose,
        2 => Fault::Swallow,
        3 => Fault::WriteAndSwallow,
        4 | 5 => Fault::Slow(ms(rng.random_range(1..4_000))),
        6 | 7 => Fault::Refuse(CODES[rng.random_range(0..CODES.len())]),
        _ => Fault::WriteAndRefuse(WRITTEN[rng.random_range(0..WRITTEN.len())]),
    }
}

fn something_happens(test: &mut Test, rng: &mut SmallRng) {
    let partition = rng.random_range(0..LEADERS.len());
    let broker = rng.random_range(1..=BROKERS);
    match rng.random_range(0..20) {
        0 => test.harness.peer.cluster.move_leader("t", partition, broker),
        1 => test.harness.peer.cluster.partition("t", partition).leader = -1,
        2 => test.harness.peer.cluster.move_leader("t", partition, LEADERS[partition]),
        3 => test.harness.disconnect(broker, "chaos"),
        4 => test.harness.peer.broker(broker).silent = true,
        5 => {
            let silent = test.harness.peer.broker(broker).silent;
            test.harness.peer.broker(broker).silent = false;
            if silent {
                test.harness.disconnect(broker, "restarted");
            }
        }
        6 => test.logs.borrow_mut().hints = rng.random_bool(0.5),
        7..=11 => {
            for _ in 0..rng.random_range(0..4) {
                test.logs.borrow_mut().faults.push_back(Fault::None);
            }
            test.fault(random_fault(rng));
        }
        12 => {
            let code = ErrorCode::NOT_ENOUGH_REPLICAS;
            let partition = i32::try_from(partition).expect("few");
            test.logs.borrow_mut().refusals.entry(partition).or_default().push_back(code);
        }
        _ => {}
    }
}

fn heal(test: &mut Test) {
    test.logs.borrow_mut().faults.clear();
    test.logs.borrow_mut().refusals.clear();
    for broker in 1..=BROKERS {
        test.harness.peer.broker(broker).silent = false;
        test.harness.disconnect(broker, "all restarted");
    }
    for (partition, leader) in LEADERS.iter().enumerate() {
        test.harness.peer.cluster.move_leader("t", partition, *leader);
    }
}

fn run(seed: u64) {
    println!("seed {seed}");
    let mut rng = SmallRng::seed_from_u64(seed);
    let config = chaotic_config(&mut rng);
    let delivery_timeout = config.delivery_timeout;
    let mut test = Test::seeded(config, BROKERS, &LEADERS, seed);
    let topic = test.topic();
    let mut sent: Vec<Sent> = Vec::new();
    for _ in 0..rng.random_range(10..120) {
        for _ in 0..rng.random_range(0..6) {
            let partition = rng.random_range(0..4);
            let padding = "x".repeat(rng.random_range(0..80));
            let value = format!("{:06}{padding}", sent.len());
            let delivery = test.send_to(&topic, partition, &value);
            if test.shared.signal().take() {
                test.harness.poll();
            }
            sent.push(Sent { partition, value, delivery });
        }
        something_happens(&mut test, &mut rng);
        let time = time(&mut rng);
        pass(&mut test, time);
    }
    heal(&mut test);
    test.harness.advance(delivery_timeout + secs(30));
    check(&mut test, sent, seed);
    test.settle();
}

/// Lets time pass without a turn that nobody asked for: what should have woken the driver and did not is missed.
fn pass(test: &mut Test, time: Duration) {
    let end = test.harness.now + time;
    let event = Event::Transmitted { connection: ConnectionId(u64::MAX) };
    test.harness.schedule(time, event);
    while test.harness.now < end && test.harness.step(end) {}
}

fn time(rng: &mut SmallRng) -> Duration {
    match rng.random_range(0..10) {
        0..=5 => Duration::from_micros(rng.next_u64() % 3_000),
        6..=8 => ms(rng.random_range(1..300)),
        _ => ms(rng.random_range(300..4_000)),
    }
}

fn check(test: &mut Test, sent: Vec<Sent>, seed: u64) {
    let logs: Vec<Vec<String>> = (0..4).map(|partition| test.values(partition)).collect();
    for (partition, log) in logs.iter().enumerate() {
        let unique: BTreeSet<&String> = log.iter().collect();
        let story = || test.story(i32::try_from(partition).expect("few"));
        assert_eq!(unique.len(), log.len(), "seed {seed}: twice in partition {partition}:\n{}", story());
        assert!(log.is_sorted(), "seed {seed}: out of order in partition {partition}:\n{}", story());
    }
    for Sent { partition, value, mut delivery } in sent {
        let log = &logs[usize::try_from(partition).expect("valid")];
        let outcome = delivery.result().unwrap_or_else(|| panic!("seed {seed}: {value} has no outcome"));
        if let Ok(metadata) = outcome {
            let at = log.iter().position(|logged| *logged == value);
            let at = at.unwrap_or_else(|| panic!("seed {seed}: {value} was acknowledged and is lost")) as i64;
            assert!(metadata.offset.is_none_or(|offset| offset == at), "seed {seed}: {value} is at {at}");
        }
    }
}

#[test]
fn what_is_acknowledged_is_written_once_and_in_order() {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("MILENA_SEED") {
        Some(seed) => run(seed),
        None => (0..number("MILENA_SEEDS").unwrap_or(SEEDS)).for_each(run),
    }
}
