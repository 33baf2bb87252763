//! Behaviours 35 to 39.

use std::time::Duration;

use milena::{AppendError, Record, SendError};

use crate::support::{
    AN_HOUR, LIMIT, TOPIC, TestResult, acknowledged, cluster, led_by, patient, read, send, suspected,
};

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
    let cluster = cluster(AN_HOUR).await?;
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
    let cluster = cluster(AN_HOUR).await?;
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unhealthy_38_records_without_a_key_are_acknowledged_though_a_host_is_gone_for_good() -> TestResult {
    let cluster = cluster(AN_HOUR).await?;
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
    let cluster = cluster(AN_HOUR).await?;
    let _gone = cluster.black_hole(3)?;
    for _ in 0..100 {
        // Which one is tried first is left to chance.
        let producer = patient(&cluster).build()?;
        acknowledged(send(&producer, led_by(&cluster, 1), 0).await?).await?;
        producer.close(Duration::ZERO).await;
    }
    Ok(())
}
