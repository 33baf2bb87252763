//! The host of a broker is gone, or only slow: what a program on the client sees of it. Order and outcomes, no speed: what
//! must not take long is made impossible otherwise, by timeouts of an hour.

use std::time::Duration;

use milena::{
    AppendError, Consumer, Delivery, Producer, ProducerBuilder, Record, RefreshReason, SendError, StartAt,
};
use milena_broker::EmbeddedCluster;

type Error = Box<dyn std::error::Error>;
type TestResult = Result<(), Error>;

/// Longer than a test takes on any machine.
const LIMIT: Duration = Duration::from_secs(120);
const AN_HOUR: &str = "3600000";

/// Partition n of this topic is led by broker n + 1, and has two replicas.
const TOPIC: &str = "orders";

/// Three brokers, one partition each. `session` says how soon the others take over from one that is gone; as a follower it
/// holds their partitions up for half a second.
async fn cluster(session: Duration) -> Result<EmbeddedCluster, Error> {
    let builder = EmbeddedCluster::builder().brokers(3).session_timeout(session);
    let builder = builder.configure(|config| config.replica_lag_time_max = Duration::from_millis(500));
    let cluster = builder.start().await?;
    cluster.create_topic_with(TOPIC, 3, 3, &[("min.insync.replicas", "1")]).await?;
    let mut leaders: Vec<_> = (0..3).filter_map(|partition| cluster.leader(TOPIC, partition)).collect();
    leaders.sort_unstable();
    assert_eq!(leaders, [1, 2, 3], "each broker leads one");
    Ok(cluster)
}

/// Nobody waits for a timeout here: each is an hour or two.
fn patient(cluster: &EmbeddedCluster) -> ProducerBuilder {
    let timeouts = [
        "request.timeout.ms",
        "max.block.ms",
        "socket.connection.setup.timeout.ms",
        "socket.connection.setup.timeout.max.ms",
    ];
    let builder = Producer::builder().bootstrap(&cluster.bootstrap()).set("delivery.timeout.ms", "7200000");
    timeouts.into_iter().fold(builder, |builder, key| builder.set(key, AN_HOUR))
}

async fn send(producer: &Producer, partition: i32, number: u32) -> Result<Delivery, Error> {
    let value = number.to_string();
    Ok(producer.send(Record::to(TOPIC).partition(partition).value(&value)).await?)
}

async fn acknowledged(delivery: Delivery) -> TestResult {
    tokio::time::timeout(LIMIT, delivery).await??;
    Ok(())
}

/// The numbers in a partition, in order, up to and with `last`.
async fn read(cluster: &EmbeddedCluster, partition: i32, last: u32) -> Result<Vec<u32>, Error> {
    let mut consumer = Consumer::builder().bootstrap(&cluster.bootstrap()).build()?;
    consumer.assign(vec![(TOPIC.to_owned(), partition, StartAt::Beginning)]).await?;
    let mut numbers = Vec::new();
    while numbers.last() != Some(&last) {
        let fetched = tokio::time::timeout(LIMIT, consumer.next()).await??;
        for record in fetched.records() {
            numbers.push(std::str::from_utf8(&record?.value.ok_or("a record without a value")?)?.parse()?);
        }
    }
    consumer.close().await;
    Ok(numbers)
}

/// The partition that broker `id` leads.
fn led_by(cluster: &EmbeddedCluster, id: i32) -> i32 {
    (0..3).find(|partition| cluster.leader(TOPIC, *partition) == Some(id)).unwrap_or(-1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unhealthy_36_records_for_a_dead_host_go_to_the_next_leader_and_not_after_the_request_timeout()
-> TestResult {
    let cluster = cluster(Duration::from_secs(1)).await?;
    let producer = patient(&cluster).build()?;
    for number in 0..100 {
        for partition in 0..3 {
            acknowledged(send(&producer, partition, number).await?).await?;
        }
    }
    let sick = led_by(&cluster, 3);
    let gone = cluster.black_hole(3)?;
    let mut under_way = Vec::new();
    for number in 100..600 {
        for partition in 0..3 {
            under_way.push(send(&producer, partition, number).await?);
        }
    }
    for delivery in under_way {
        acknowledged(delivery).await?;
    }
    assert_ne!(cluster.leader(TOPIC, sick), Some(3), "somebody else leads, or who has acknowledged?");
    // Whatever the dead host had in its sockets, it adds nothing when it is back.
    gone.heal();
    cluster.wait("a whole ISR", |cluster| cluster.isr(TOPIC, sick).len() == 3).await?;
    for partition in 0..3 {
        acknowledged(send(&producer, partition, 600).await?).await?;
        assert_eq!(
            read(&cluster, partition, 600).await?,
            (0..=600).collect::<Vec<u32>>(),
            "each once, in order"
        );
    }
    producer.close(LIMIT).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unhealthy_36_a_paused_leader_that_wakes_up_writes_nothing_twice() -> TestResult {
    let cluster = cluster(Duration::from_secs(1)).await?;
    let producer = patient(&cluster).build()?;
    let partition = led_by(&cluster, 2);
    let mut sent = 0;
    for _ in 0..3 {
        let leader = cluster.leader(TOPIC, partition).ok_or("no leader")?;
        cluster.pause(leader)?;
        let mut under_way = Vec::new();
        for _ in 0..200 {
            under_way.push(send(&producer, partition, sent).await?);
            sent += 1;
        }
        for delivery in under_way {
            acknowledged(delivery).await?;
        }
        assert_ne!(cluster.leader(TOPIC, partition), Some(leader));
        cluster.resume(leader)?;
        cluster.wait("a whole ISR", |cluster| cluster.isr(TOPIC, partition).len() == 3).await?;
    }
    assert_eq!(read(&cluster, partition, sent - 1).await?, (0..sent).collect::<Vec<u32>>());
    producer.close(LIMIT).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unhealthy_35_and_37_a_dead_host_that_still_leads_holds_nobody_else_up() -> TestResult {
    // Sessions of an hour: its partition keeps its leader, and what waits for it waits for the end of the test.
    let cluster = cluster(Duration::from_secs(3600)).await?;
    let builder = patient(&cluster).set("buffer.memory", "262144").set("batch.size", "1024");
    let producer = builder.build()?;
    for partition in 0..3 {
        acknowledged(send(&producer, partition, 0).await?).await?;
    }
    let sick = led_by(&cluster, 3);
    let gone = cluster.black_hole(3)?;
    // Sends to the dead host until there is no room for that any more; what comes then waits alone.
    let big = vec![b'x'; 1_000];
    let mut kept = Vec::new();
    let blocked = loop {
        let record = Record::to(TOPIC).partition(sick).value(&big);
        let mut send = Box::pin(producer.send(record));
        // The first records find out that the host is gone: those of the others go on meanwhile.
        for partition in (0..3).filter(|partition| *partition != sick) {
            acknowledged(self::send(&producer, partition, 1).await?).await?;
        }
        match futures_poll(&mut send).await {
            Some(delivery) => kept.push(delivery?),
            None => break send,
        }
        assert!(kept.len() < 1_000, "no bound");
    };
    for number in 2..50 {
        for partition in (0..3).filter(|partition| *partition != sick) {
            acknowledged(send(&producer, partition, number).await?).await?;
        }
    }
    drop(blocked);
    // `close` gives up what waits for it at its deadline.
    let (closed, ()) =
        tokio::join!(tokio::time::timeout(LIMIT, producer.close(Duration::from_millis(200))), async {
            for delivery in kept {
                assert!(delivery.await.is_err(), "the host was gone all the time");
            }
        });
    closed?;
    gone.heal();
    Ok(())
}

/// The future's output if it has one now, after the runtime has had its turn.
async fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    tokio::time::timeout(Duration::from_millis(1), future).await.ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unhealthy_37_who_waits_for_a_dead_host_is_told_which() -> TestResult {
    let cluster = cluster(Duration::from_secs(3600)).await?;
    let builder = patient(&cluster).set("buffer.memory", "262144").set("batch.size", "1024");
    let producer = builder.set("max.block.ms", "3000").build()?;
    let sick = led_by(&cluster, 3);
    acknowledged(send(&producer, sick, 0).await?).await?;
    let _gone = cluster.black_hole(3)?;
    let big = vec![b'x'; 1_000];
    let refused = loop {
        let record = Record::to(TOPIC).partition(sick).value(&big);
        match tokio::time::timeout(LIMIT, producer.send(record)).await? {
            Ok(_) => {}
            Err(refused) => break refused,
        }
    };
    // Whether the first to wait did so before or after suspicion fell, at the deadline it is known who is to blame.
    let SendError::Refused(AppendError::HeldUp { reason, .. }) = &refused else { panic!("{refused}") };
    assert!(reason.starts_with("broker 3 (127.0.0.1:"), "{reason}");
    Ok(())
}

/// Waits until the producer asks who leads now, because the broker does not answer.
async fn suspected(producer: &Producer, broker: i32) -> TestResult {
    let metadata = producer.metadata();
    let asks = async {
        let mut version = 0;
        loop {
            version = metadata.changed(version).await.version;
            let refreshes = metadata.take_refreshes();
            if refreshes.iter().any(|refresh| refresh.reason == RefreshReason::Suspected(broker)) {
                return;
            }
        }
    };
    Ok(tokio::time::timeout(LIMIT, asks).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unhealthy_38_records_without_a_key_are_acknowledged_though_a_host_is_gone_for_good() -> TestResult {
    let cluster = cluster(Duration::from_secs(3600)).await?;
    let producer = patient(&cluster).build()?;
    for partition in 0..3 {
        acknowledged(send(&producer, partition, 0).await?).await?;
    }
    let sick = led_by(&cluster, 3);
    let _gone = cluster.black_hole(3)?;
    // What is in flight before anybody can know stays there: one batch, which finds out.
    let in_flight = send(&producer, sick, 1).await?;
    suspected(&producer, 3).await?;
    let value = vec![b'x'; 500];
    for round in 0..20 {
        let mut under_way = Vec::new();
        for _ in 0..100 {
            under_way.push(producer.send(Record::to(TOPIC).value(&value)).await?);
        }
        for delivery in under_way {
            let metadata = tokio::time::timeout(LIMIT, delivery).await??;
            assert_ne!(metadata.partition, sick, "round {round}");
        }
    }
    drop(in_flight);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unhealthy_39_a_dead_host_among_the_bootstrap_addresses_is_not_waited_for() -> TestResult {
    let cluster = cluster(Duration::from_secs(3600)).await?;
    let _gone = cluster.black_hole(3)?;
    for _ in 0..10 {
        // Which one is tried first is left to chance.
        let producer = patient(&cluster).build()?;
        acknowledged(send(&producer, led_by(&cluster, 1), 0).await?).await?;
        producer.close(Duration::ZERO).await;
    }
    Ok(())
}
