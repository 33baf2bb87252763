//! What a cluster does beyond what its brokers' own tests see.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_is_served_when_create_topic_returns() {
    let cluster = EmbeddedCluster::builder().start().await.unwrap();
    assert_eq!(cluster.broker_ids(), [1, 2, 3]);
    cluster.create_topic("orders", 6, 3).await.unwrap();
    // No waiting from here on.
    assert!(cluster.is_served("orders"));
    for partition in 0..6 {
        assert!(cluster.leader("orders", partition).is_some());
        assert_eq!(cluster.isr("orders", partition).len(), 3);
    }
    assert_eq!(cluster.leader("orders", 6), None);
    let exists = cluster.create_topic("orders", 6, 3).await.unwrap_err();
    assert!(
        matches!(exists, ClusterError::Refused { code: ErrorCode::TOPIC_ALREADY_EXISTS, .. }),
        "{exists}"
    );
    let too_many = cluster.create_topic("more", 1, 4).await.unwrap_err();
    assert!(
        matches!(too_many, ClusterError::Refused { code: ErrorCode::INVALID_REPLICATION_FACTOR, .. }),
        "{too_many}"
    );
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_topic_is_given_to_no_broker_that_is_away() {
    let cluster =
        EmbeddedCluster::builder().session_timeout(Duration::from_millis(400)).start().await.unwrap();
    let without = async |id: i32, topic: &str| {
        cluster.create_topic(topic, 6, 1).await.unwrap();
        let leaders: Vec<_> = (0..6).map(|number| cluster.leader(topic, number)).collect();
        assert!(leaders.iter().all(|leader| leader.is_some_and(|leader| leader != id)), "{id}: {leaders:?}");
        let too_few = cluster.create_topic(&format!("{topic}-on-all"), 1, 3).await.unwrap_err();
        assert!(
            matches!(too_few, ClusterError::Refused { code: ErrorCode::INVALID_REPLICATION_FACTOR, .. }),
            "{too_few}"
        );
    };
    let controller = cluster.controller().unwrap();
    let other = cluster.broker_ids().into_iter().find(|id| *id != controller).unwrap();
    for id in [other, controller] {
        cluster.pause(id).unwrap();
        without(id, &format!("pause-{id}")).await;
        cluster.resume(id).unwrap();
        let all = |cluster: &EmbeddedCluster| cluster.registry.watch().borrow().brokers.len() == 3;
        cluster.wait("its return", all).await.unwrap();
        cluster.kill(id).unwrap();
        without(id, &format!("kill-{id}")).await;
        cluster.restart(id).await.unwrap();
        let hole = cluster.black_hole(id).unwrap();
        without(id, &format!("hole-{id}")).await;
        drop(hole);
        cluster.wait("its return", all).await.unwrap();
    }
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_topic_lacks_is_named() {
    let cluster = EmbeddedCluster::builder().session_timeout(Duration::from_hours(1)).start().await.unwrap();
    cluster.create_topic("orders", 3, 1).await.unwrap();
    assert_eq!(cluster.unserved("orders"), ["not every broker knows its leaders"]);
    let killed = cluster.leader("orders", 1).unwrap();
    cluster.kill(killed).unwrap();
    let lacking = format!("partition 1 is to be led by broker {killed}");
    assert_eq!(cluster.unserved("orders"), [lacking]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_is_started_and_stopped_by_one_caller_at_a_time() {
    let cluster = EmbeddedCluster::builder().brokers(2).start().await.unwrap();
    let (stopped, restarted) = tokio::join!(cluster.stop(2), cluster.restart(2));
    stopped.unwrap();
    restarted.unwrap();
    cluster.kill(2).unwrap();
    let (first, second) = tokio::join!(cluster.restart(2), cluster.restart(2));
    first.unwrap();
    assert!(matches!(second, Err(ClusterError::StillRunning(2))), "{second:?}");
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_returns_on_its_ports_and_what_is_asked_of_the_wrong_one_is_refused() {
    let cluster = EmbeddedCluster::builder().brokers(2).start().await.unwrap();
    let addresses = |cluster: &EmbeddedCluster| {
        let broker = &cluster.brokers.lock()[&2];
        ["PLAINTEXT", "INTERNAL"].map(|name| broker.listener_address(name).unwrap())
    };
    let (before, bootstrap) = (addresses(&cluster), cluster.bootstrap());
    assert_eq!(bootstrap.split(',').count(), 2);
    assert!(matches!(cluster.restart(2).await, Err(ClusterError::StillRunning(2))));
    cluster.kill(2).unwrap();
    assert_eq!(cluster.running(), [1]);
    assert!(matches!(cluster.kill(2), Err(ClusterError::NotRunning(2))));
    assert!(matches!(cluster.stop(3).await, Err(ClusterError::UnknownBroker { id: 3, .. })));
    cluster.restart(2).await.unwrap();
    assert_eq!(addresses(&cluster), before);
    cluster.stop(2).await.unwrap();
    cluster.restart(2).await.unwrap();
    assert_eq!(addresses(&cluster), before);
    assert_eq!(cluster.bootstrap(), bootstrap);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_on_disk_is_the_same_when_it_starts_again() {
    let dir = tempfile::tempdir().unwrap();
    let builder = || EmbeddedCluster::builder().brokers(2).data_dir(dir.path().join("cluster"));
    let cluster = builder().start().await.unwrap();
    cluster.create_topic("orders", 2, 2).await.unwrap();
    let id = cluster.registry.cluster_state().cluster_id.clone();
    let in_use = builder().start().await.unwrap_err();
    assert!(matches!(in_use, ClusterError::Cluster(BrokerError::DataDirInUse { .. })), "{in_use}");
    cluster.shutdown().await.unwrap();

    let cluster = builder().start().await.unwrap();
    assert_eq!(cluster.registry.cluster_state().cluster_id, id);
    cluster.wait("the old topic", |cluster| cluster.is_served("orders")).await.unwrap();
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_that_cannot_be_are_refused() {
    for builder in
        [EmbeddedCluster::builder().brokers(0), EmbeddedCluster::builder().session_timeout(Duration::ZERO)]
    {
        let error = builder.start().await.unwrap_err();
        assert!(matches!(error, ClusterError::Cluster(BrokerError::InvalidConfig(_))), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_broker_is_replaced_and_follows_when_it_goes_on() {
    let cluster =
        EmbeddedCluster::builder().session_timeout(Duration::from_millis(400)).start().await.unwrap();
    cluster.create_topic("orders", 1, 3).await.unwrap();
    let paused = cluster.leader("orders", 0).unwrap();
    cluster.pause(paused).unwrap();
    let moved =
        |cluster: &EmbeddedCluster| cluster.leader("orders", 0).is_some_and(|leader| leader != paused);
    cluster.wait("another leader", moved).await.unwrap();
    cluster.wait("it serves", |cluster| cluster.is_served("orders")).await.unwrap();
    let leads = |cluster: &EmbeddedCluster| {
        let partition = cluster.brokers.lock()[&paused].node().replica_manager.partition("orders", 0);
        partition.unwrap().check_leader(-1).is_ok()
    };
    assert!(leads(&cluster), "it has not heard of it");
    // It was replaced as the controller, too, if it was one.
    cluster.create_topic("more", 1, 2).await.unwrap();
    cluster.resume(paused).unwrap();
    cluster.wait("a follower", |cluster| !leads(cluster)).await.unwrap();
    cluster.wait("a whole ISR", |cluster| cluster.isr("orders", 0).len() == 3).await.unwrap();
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_cluster_is_gone_with_its_paused_brokers() {
    let dir = tempfile::tempdir().unwrap();
    let builder = || EmbeddedCluster::builder().brokers(2).data_dir(dir.path());
    let cluster = builder().start().await.unwrap();
    cluster.create_topic("orders", 1, 2).await.unwrap();
    cluster.pause(2).unwrap();
    let nodes: Vec<_> = cluster.brokers.lock().values().map(|broker| Arc::downgrade(broker.node())).collect();
    let bootstrap = cluster.bootstrap();
    drop(cluster);
    // The directories are free as soon as the last task has ended.
    let next = builder().start().await.unwrap();
    assert!(nodes.iter().all(|node| node.upgrade().is_none()), "something of a broker lives on");
    for address in bootstrap.split(',').filter(|address| !next.bootstrap().contains(address)) {
        assert!(tokio::net::TcpStream::connect(address).await.is_err(), "{address} still listens");
    }
    next.wait("what it had", |cluster| cluster.is_served("orders")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_is_a_clusters_or_a_brokers_and_others_find_who_serves_it() {
    let dir = tempfile::tempdir().unwrap();
    let builder = |brokers| EmbeddedCluster::builder().brokers(brokers).data_dir(dir.path());
    assert_eq!(EmbeddedCluster::size_of(dir.path()), None);
    let cluster = builder(2).start().await.unwrap();
    assert_eq!(crate::running(dir.path()).unwrap().bootstrap, cluster.bootstrap());
    cluster.kill(2).unwrap();
    cluster.pause(1).unwrap();
    let states: Vec<_> = cluster.status().into_iter().map(|broker| broker.state).collect();
    assert_eq!(states, [BrokerState::Paused, BrokerState::Down]);
    cluster.shutdown().await.unwrap();
    assert_eq!(crate::running(dir.path()), None);
    assert_eq!(EmbeddedCluster::size_of(dir.path()), Some(2));

    let fewer = builder(1).start().await.unwrap_err();
    assert!(fewer.to_string().contains("has 2 brokers"), "{fewer}");
    let single = Broker::start(BrokerConfig::new(dir.path())).await.unwrap_err();
    assert!(single.to_string().contains("cluster of several brokers"), "{single}");
    builder(3).start().await.unwrap().shutdown().await.unwrap();

    let other = tempfile::tempdir().unwrap();
    Broker::start(BrokerConfig::new(other.path())).await.unwrap().shutdown().await.unwrap();
    let cluster = EmbeddedCluster::builder().data_dir(other.path()).start().await.unwrap_err();
    assert!(cluster.to_string().contains("a single broker"), "{cluster}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_without_end_are_never() {
    let never = |config: &mut BrokerConfig| {
        config.retention_check_interval = Duration::MAX;
        config.log_cleaner_backoff = Duration::MAX;
        config.leader_imbalance_check_interval = Duration::MAX;
    };
    let builder = EmbeddedCluster::builder().brokers(2).session_timeout(Duration::MAX).configure(never);
    let cluster = builder.start().await.unwrap();
    cluster.create_topic("orders", 2, 2).await.unwrap();
    // Nobody declares it dead, and it returns nevertheless.
    cluster.kill(2).unwrap();
    cluster.restart(2).await.unwrap();
    cluster.wait("a whole ISR", |cluster| cluster.isr("orders", 0).len() == 2).await.unwrap();
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_at_its_directory_keeps_no_cluster_from_starting() {
    let dir = tempfile::tempdir().unwrap();
    let fs = RealFileSystem::shared();
    let looked_at = DataDir::lock(&fs, dir.path()).unwrap();
    let start = EmbeddedCluster::builder().brokers(1).data_dir(dir.path()).start();
    let end_of_look = async {
        tokio::task::yield_now().await;
        drop(looked_at);
    };
    let (started, ()) = tokio::join!(start, end_of_look);
    started.unwrap().shutdown().await.unwrap();
}
