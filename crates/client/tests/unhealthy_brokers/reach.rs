//! What a dead or slow broker may cost, line by line as `main.rs` has it.

use std::{
    collections::BTreeSet,
    net::{TcpListener, TcpStream},
    time::{Duration, Instant},
};

use milena::{Record, RefreshReason};
use milena_broker::EmbeddedCluster;
use milena_protocol::records::BatchHeader;

use crate::{
    observed::{Answer, Observer, batches},
    support::{
        AN_HOUR, Error, LIMIT, PARTITIONS, TOPIC, TestResult, acknowledged, all_acknowledged, asked_because,
        assert_written, cluster, led_by, patient, send, send_all, start, suspected,
    },
};

/// How often a client may ask who leads while it suspects somebody.
const STEP: Duration = Duration::from_millis(250);

/// How many requests that are a step apart may fall into so much time.
fn steps(time: Duration) -> usize {
    usize::try_from(time.as_millis() / STEP.as_millis()).unwrap_or(usize::MAX) + 1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reach_1_sick_records_follow_the_first_answer_that_names_their_next_leader() -> TestResult {
    let cluster = cluster(Duration::from_secs(1)).await?;
    let producer = patient(&cluster).set("client.id", "observed").build()?;
    all_acknowledged(send_all(&producer, PARTITIONS, 0..10).await?).await?;
    let sick = led_by(&cluster, 3);
    let observer = Observer::of(&cluster, "observed")?;
    let _gone = cluster.black_hole(3)?;
    all_acknowledged(send_all(&producer, PARTITIONS, 10..200).await?).await?;

    let answers = observer.take();
    let moved = |answer: &Answer| answer.leader(sick).is_some_and(|(leader, _)| leader != 3);
    let told = answers.iter().position(moved).ok_or("nobody told who leads now")?;
    let written = answers.iter().position(|answer| answer.written(sick).is_some());
    let written = written.ok_or("nobody has written the records")?;
    assert!(told < written, "sent before it was known to whom");
    assert_eq!(Some(answers[written].by), answers[told].leader(sick).map(|(leader, _)| leader));
    // All the time somebody was asked, a step apart; the records went when it was known, and not a timeout later.
    let asked = |answers: &[Answer]| answers.iter().filter(|answer| answer.is_metadata()).count();
    let from = answers.first().ok_or("no answers")?.at;
    for part in [&answers[..=told], &answers[told..=written]] {
        let allowed = steps(part.last().map_or(from, |answer| answer.at) - part[0].at) + 1;
        assert!(asked(part) <= allowed, "{} requests, {allowed} steps", asked(part));
    }
    assert_written(&cluster, PARTITIONS, 200).await?;
    producer.close(LIMIT).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reach_1_healthy_partitions_are_acknowledged_in_order_while_the_sick_one_waits() -> TestResult {
    // Sessions of an hour: nobody takes over from the dead host.
    let cluster = cluster(AN_HOUR).await?;
    let producer = patient(&cluster).build()?;
    all_acknowledged(send_all(&producer, PARTITIONS, 0..10).await?).await?;
    let sick = led_by(&cluster, 3);
    let gone = cluster.black_hole(3)?;
    let sent = send_all(&producer, PARTITIONS, 10..500).await?;
    let (mut of_the_sick, of_the_healthy): (Vec<_>, Vec<_>) =
        sent.into_iter().partition(|(partition, ..)| *partition == sick);
    all_acknowledged(of_the_healthy).await?;
    for (_, number, delivery) in &mut of_the_sick {
        assert!(delivery.result().is_none(), "who has acknowledged {number}?");
    }
    // Its host is back, and was the leader all the time.
    gone.heal();
    all_acknowledged(of_the_sick).await?;
    assert_written(&cluster, PARTITIONS, 500).await?;
    producer.close(LIMIT).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reach_2_records_without_a_key_that_wait_for_a_dead_host_go_elsewhere() -> TestResult {
    const SPREAD: &str = "spread";
    let cluster = cluster(AN_HOUR).await?;
    cluster.create_topic(SPREAD, PARTITIONS.end, 1).await?;
    let sick = PARTITIONS.into_iter().find(|partition| cluster.leader(SPREAD, *partition) == Some(3));
    let sick = sick.ok_or("broker 3 leads nothing")?;
    let settings = [
        // A single request, so that what comes later waits on this side.
        ("max.in.flight.requests.per.connection", "1"),
        // Each record has a batch, and the partition of each batch is left to chance.
        ("batch.size", "512"),
        ("partitioner.adaptive.partitioning.enable", "false"),
        ("milena.suspicion.floor.ms", "3000"),
    ];
    let producer =
        settings.into_iter().fold(patient(&cluster), |builder, (key, value)| builder.set(key, value));
    let producer = producer.build()?;
    for partition in PARTITIONS {
        acknowledged(producer.send(Record::to(SPREAD).partition(partition).value("")).await?).await?;
    }
    let gone = cluster.black_hole(3)?;
    let (mut in_flight, mut rescued) = (None, Vec::new());
    for number in 0_u32.. {
        let value = format!("{number:0600}");
        let delivery = producer.send(Record::to(SPREAD).value(&value)).await?;
        match (delivery.partition() == sick, &in_flight) {
            (true, None) => {
                in_flight = Some(delivery);
                // When a later one is acknowledged it is on its way, and takes no other along.
                let healthy = (sick + 1) % PARTITIONS.end;
                acknowledged(producer.send(Record::to(SPREAD).partition(healthy).value("")).await?).await?;
            }
            (true, Some(_)) => rescued.push(delivery),
            (false, _) => assert_ne!(acknowledged(delivery).await?.partition, sick),
        }
        if rescued.len() == 5 {
            break;
        }
        assert!(number < 1_000, "no record was placed on the partition of the dead host");
    }
    for delivery in rescued {
        assert_ne!(acknowledged(delivery).await?.partition, sick, "the host is gone all the time");
    }
    // Suspicion has fallen by now.
    for number in 0..100 {
        let delivery = producer.send(Record::to(SPREAD).value(&number.to_string())).await?;
        assert_ne!(acknowledged(delivery).await?.partition, sick);
    }
    let mut in_flight = in_flight.ok_or("nothing was sent to the dead host")?;
    assert!(in_flight.result().is_none(), "the host is gone, and its only replica with it");
    gone.heal();
    assert_eq!(acknowledged(in_flight).await?.partition, sick);
    producer.close(LIMIT).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reach_3_the_first_record_is_acknowledged_while_a_dead_host_is_still_being_asked() -> TestResult {
    // The kernel takes connections in its name, and nobody ever answers.
    let dead = TcpListener::bind("127.0.0.1:0")?;
    dead.set_nonblocking(true)?;
    let cluster = EmbeddedCluster::builder().brokers(1).start().await?;
    cluster.create_topic(TOPIC, 1, 1).await?;
    for number in 0..100 {
        // Which one is asked first is left to chance; the live one says nothing until the dead one was asked.
        cluster.pause(1)?;
        let list = format!("{},{}", dead.local_addr()?, cluster.bootstrap());
        let producer = patient(&cluster).bootstrap(&list).build()?;
        let first = async { acknowledged(send(&producer, 0, number).await?).await };
        let (placed, asked) = tokio::join!(first, async {
            let asked = connection_to(&dead).await?;
            assert!(is_waited_for(&asked)?, "the dead host was given up before anybody else had answered");
            cluster.resume(1)?;
            Ok::<TcpStream, Error>(asked)
        });
        // Kept until here: the dead host does not close what it was asked on.
        let asked = asked?;
        assert_eq!(placed?.offset, Some(i64::from(number)));
        producer.close(LIMIT).await;
        drop(asked);
    }
    Ok(())
}

/// Waits for a client that asks the dead host.
async fn connection_to(dead: &TcpListener) -> Result<TcpStream, Error> {
    let until = Instant::now() + LIMIT;
    loop {
        match dead.accept() {
            Ok((stream, _)) => return Ok(stream),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && Instant::now() < until => {
                tokio::task::yield_now().await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether a client has asked something and waits for the answer: its end is open.
fn is_waited_for(stream: &TcpStream) -> Result<bool, Error> {
    stream.set_nonblocking(true)?;
    let mut request = [0; 1024];
    loop {
        match std::io::Read::read(&mut &*stream, &mut request) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reach_4_a_broker_that_stalls_costs_four_metadata_requests_a_second_and_changes_nothing() -> TestResult
{
    // Two of the five brokers need none of the slow one's answers: it neither leads nor follows what they lead.
    const SLOW: i32 = 3;
    const ALL: std::ops::Range<i32> = 0..5;
    // No stall is as long as a session or a follower's lag: nobody leads or follows otherwise than before.
    let dir = tempfile::tempdir()?;
    let builder = EmbeddedCluster::builder().data_dir(dir.path()).session_timeout(AN_HOUR);
    let cluster = start(builder.configure(|config| config.replica_lag_time_max = AN_HOUR), ALL.end).await?;
    let producer = patient(&cluster).set("client.id", "observed").set("acks", "all").build()?;
    all_acknowledged(send_all(&producer, ALL, 0..20).await?).await?;
    let epochs = || -> Vec<_> {
        let cluster = &producer.metadata().view().cluster;
        ALL.map(|id| cluster.partition(TOPIC, id).map(|found| (found.leader, found.leader_epoch))).collect()
    };
    let epochs_before = epochs();

    let observer = Observer::of(&cluster, "observed")?;
    let (mut sent, mut answers) = (20, Vec::new());
    for stall in 0..12 {
        // Quick answers, one by one, until each silence is remarkable again.
        for number in sent..sent + 20 {
            all_acknowledged(send_all(&producer, ALL, number..number + 1).await?).await?;
        }
        answers.extend(observer.take());
        // What the stall before this one has led to is over.
        producer.metadata().take_refreshes();
        let begun = Instant::now();
        cluster.pause(SLOW)?;
        let under_way = send_all(&producer, ALL, sent + 20..sent + 50).await?;
        // Half a second is the floor; each fourth stall goes on for more steps after it.
        let length = STEP * if stall % 4 == 3 { 6 } else { 2 };
        while begun.elapsed() < length {
            asked_because(&producer, |reason| matches!(reason, RefreshReason::Suspected(_))).await?;
        }
        cluster.resume(SLOW)?;
        all_acknowledged(under_way).await?;
        sent += 50;
        let (answered, allowed) = (observer.take(), steps(begun.elapsed()));
        let asked = answered.iter().filter(|answer| answer.is_metadata()).count();
        assert!(asked > 0, "nobody has noticed the stall");
        assert!(asked <= allowed, "{asked} metadata requests in the time of {allowed}");
        answers.extend(answered);
    }
    assert_eq!(epochs(), epochs_before, "somebody else leads");
    for partition in ALL {
        let leader = cluster.leader(TOPIC, partition);
        let written: Vec<(i32, i64)> =
            answers.iter().filter_map(|answer| Some((answer.by, answer.written(partition)?))).collect();
        assert!(written.iter().all(|(by, _)| Some(*by) == leader), "a batch went elsewhere: {written:?}");
        let distinct: BTreeSet<i64> = written.iter().map(|(_, offset)| *offset).collect();
        assert_eq!(distinct.len(), written.len(), "a batch was sent twice: {written:?}");
    }
    assert_written(&cluster, ALL, sent).await?;
    producer.close(LIMIT).await;
    let leaders: Vec<_> = ALL.map(|partition| cluster.leader(TOPIC, partition)).collect();
    cluster.shutdown().await?;
    for (partition, leader) in ALL.zip(leaders) {
        let batches = batches(dir.path(), leader.ok_or("no leader")?, partition)?;
        let (mut next, first) = (0, *batches.first().ok_or("no batch")?);
        for batch in batches {
            let epochs = |batch: &BatchHeader| (batch.producer_epoch, batch.partition_leader_epoch);
            assert_eq!((batch.base_sequence, epochs(&batch)), (next, epochs(&first)), "{batch:?}");
            next += batch.record_count;
        }
        assert_eq!((next, first.producer_epoch), (i32::try_from(sent)?, 0));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reach_5_nothing_is_lost_twice_or_out_of_order_whatever_a_broker_suffers() -> TestResult {
    let cluster = cluster(Duration::from_secs(1)).await?;
    let producer = patient(&cluster).build()?;
    let mut sent = 0;
    for scenario in ["dead", "dead for clients", "paused", "flapping", "slow", "killed"] {
        let victim = cluster.leader(TOPIC, 0).ok_or("no leader")?;
        let is_replaced =
            |cluster: &EmbeddedCluster| cluster.leader(TOPIC, 0).is_some_and(|leader| leader != victim);
        let mut under_way = Vec::new();
        let mut more = async || {
            under_way.extend(send_all(&producer, PARTITIONS, sent..sent + 100).await?);
            sent += 100;
            Ok::<(), Error>(())
        };
        more().await?;
        match scenario {
            "dead" => {
                let _gone = cluster.black_hole(victim)?;
                more().await?;
                cluster.wait("another leader", is_replaced).await?;
                more().await?;
            }
            "dead for clients" => {
                // The cluster sees no reason to replace it.
                let _cut_off = cluster.partition_clients(victim)?;
                more().await?;
                suspected(&producer, victim).await?;
            }
            "paused" => {
                cluster.pause(victim)?;
                more().await?;
                cluster.wait("another leader", is_replaced).await?;
                more().await?;
                cluster.resume(victim)?;
            }
            "flapping" => {
                for _ in 0..5 {
                    let _gone = cluster.black_hole(victim)?;
                    more().await?;
                    let is_out = |cluster: &EmbeddedCluster| !cluster.isr(TOPIC, 0).contains(&victim);
                    cluster.wait("a broker that is gone", is_out).await?;
                }
            }
            "slow" => {
                let _late = cluster.delay(victim, Duration::from_millis(100))?;
                for _ in 0..5 {
                    more().await?;
                }
            }
            _ => {
                cluster.kill(victim)?;
                more().await?;
                cluster.wait("another leader", is_replaced).await?;
                cluster.restart(victim).await?;
            }
        }
        more().await?;
        all_acknowledged(under_way).await.map_err(|error| format!("{scenario}: {error}"))?;
        let is_whole = |cluster: &EmbeddedCluster| {
            PARTITIONS.into_iter().all(|partition| cluster.isr(TOPIC, partition).len() == 3)
        };
        cluster.wait("whole ISRs", is_whole).await?;
    }
    assert_written(&cluster, PARTITIONS, sent).await?;
    producer.close(LIMIT).await;
    Ok(())
}
