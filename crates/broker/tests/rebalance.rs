//! Leaderships of a real cluster that go back by themselves.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use milena_broker::EmbeddedCluster;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn elections_21_a_broker_that_comes_back_leads_again() {
    let builder = EmbeddedCluster::builder().brokers(3);
    let builder = builder
        .configure(|config| config.leader_imbalance_check_interval = Duration::from_millis(50))
        .session_timeout(Duration::from_millis(500));
    let cluster = builder.start().await.unwrap();
    cluster.create_topic("t", 6, 3).await.unwrap();
    let leaders = |cluster: &EmbeddedCluster| -> Vec<_> {
        (0..6).filter_map(|partition| cluster.leader("t", partition)).collect()
    };
    let before = leaders(&cluster);
    assert_eq!(before.len(), 6);
    let victim = before[0];
    cluster.kill(victim).unwrap();
    cluster.wait("other leaders", |cluster| !leaders(cluster).contains(&victim)).await.unwrap();
    cluster.restart(victim).await.unwrap();
    cluster.wait("the leaders of before", |cluster| leaders(cluster) == before).await.unwrap();
    cluster.shutdown().await.unwrap();
}
