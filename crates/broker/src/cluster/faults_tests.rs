//! Each fault, seen from a client and from the cluster.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::task::Poll;
use std::time::Instant;

use milena_protocol::messages::{ApiVersionsRequest, ProduceRequest};
use milena_protocol::records::Seal;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::*;
use crate::faults::FaultGuard;
use crate::leaving::{another_controller, move_leaderships_away};
use crate::network::InterBrokerConnection;
use crate::test_cluster::{self, record};

const SESSION: Duration = Duration::from_millis(400);

pub(super) async fn three_brokers() -> EmbeddedCluster {
    let lag = |config: &mut BrokerConfig| config.replica_lag_time_max = Duration::from_millis(400);
    let cluster = EmbeddedCluster::builder().session_timeout(SESSION).configure(lag).start().await.unwrap();
    cluster.create_topic("orders", 3, 3).await.unwrap();
    cluster
}

pub(super) fn address(cluster: &EmbeddedCluster, id: i32) -> SocketAddr {
    cluster.members[&id].config.listeners[0].bind
}

/// As a client.
pub(super) async fn connect(address: SocketAddr) -> InterBrokerConnection {
    test_cluster::connect(address).await.unwrap()
}

pub(super) fn produce_request(cluster: &EmbeddedCluster, partition: i32, bytes: usize) -> ProduceRequest {
    let topic_id = cluster.registry.cluster_state().topics["orders"].id;
    test_cluster::produce_request(topic_id, partition, record(&vec![7; bytes], Seal::default()), -1)
}

pub(super) async fn produce(connection: &mut InterBrokerConnection, request: &ProduceRequest) -> ErrorCode {
    connection.call(13, request).await.unwrap().responses[0].partition_responses[0].error_code
}

/// Produces one record to partition 0 in the background.
fn producing(
    cluster: &EmbeddedCluster,
    mut connection: InterBrokerConnection,
) -> JoinHandle<(ErrorCode, InterBrokerConnection)> {
    let request = produce_request(cluster, 0, 10);
    tokio::spawn(async move { (produce(&mut connection, &request).await, connection) })
}

fn connecting(address: SocketAddr) -> JoinHandle<std::io::Result<TcpStream>> {
    tokio::spawn(TcpStream::connect(address))
}

pub(super) fn end_offset(cluster: &EmbeddedCluster, id: i32) -> i64 {
    let partition = cluster.brokers.lock()[&id].node().replica_manager.partition("orders", 0).unwrap();
    partition.reader().log_end_offset()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_in_a_black_hole_is_silent_and_replaced_and_goes_on_when_it_is_back() {
    let cluster = three_brokers().await;
    let gone = cluster.leader("orders", 0).unwrap();
    let (_, client) = producing(&cluster, connect(address(&cluster, gone)).await).await.unwrap();
    let end = end_offset(&cluster, gone);
    assert_eq!(end, 1);

    let hole = cluster.black_hole(gone).unwrap();
    assert_eq!(cluster.faults(gone).unwrap(), ["black hole"]);
    let request = producing(&cluster, client);
    let connect_to_it = connecting(address(&cluster, gone));
    let moved = |cluster: &EmbeddedCluster| cluster.leader("orders", 0).is_some_and(|leader| leader != gone);
    cluster.wait("another leader", moved).await.unwrap();
    cluster.wait("it serves", |cluster| cluster.is_served("orders")).await.unwrap();
    // It may have been the controller, too.
    cluster.create_topic("more", 1, 2).await.unwrap();
    let leader = cluster.leader("orders", 0).unwrap();
    let (error, _) = producing(&cluster, connect(address(&cluster, leader)).await).await.unwrap();
    assert_eq!(error, ErrorCode::NONE);
    assert!(!request.is_finished() && !connect_to_it.is_finished(), "it has answered out of the black hole");
    assert_eq!(end_offset(&cluster, gone), end, "it has read what it was sent");
    assert!(matches!(cluster.restart(gone).await, Err(ClusterError::StillRunning(_))));

    hole.heal();
    let (error, _) = request.await.unwrap();
    assert_ne!(error, ErrorCode::NONE, "a record of nobody's is acknowledged");
    connect_to_it.await.unwrap().unwrap();
    cluster.wait("a whole ISR", |cluster| cluster.isr("orders", 0).len() == 3).await.unwrap();
    cluster.wait("the same log", |cluster| end_offset(cluster, gone) == 2).await.unwrap();
    cluster.shutdown().await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connect_into_a_black_hole_hangs_in_the_handshake() {
    let cluster = EmbeddedCluster::builder().brokers(1).start().await.unwrap();
    let _hole = cluster.black_hole(1).unwrap();
    for listener in &cluster.members[&1].config.listeners {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        assert!(socket.connect(&listener.bind.into()).is_err());
        // The kernel answers a SYN on the loopback before `connect` returns. No peer: still SYN_SENT.
        assert_eq!(socket.peer_addr().unwrap_err().kind(), ErrorKind::NotConnected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_broker_in_a_black_hole_is_not_heard_of() {
    let cluster = three_brokers().await;
    let mut client = TcpStream::connect(address(&cluster, 2)).await.unwrap();
    let node = Arc::downgrade(cluster.brokers.lock()[&2].node());
    let (hole, second) = (cluster.black_hole(2).unwrap(), cluster.black_hole(2).unwrap());
    cluster.kill(2).unwrap();
    cluster.wait("the end of its last task", |_| node.strong_count() == 0).await.unwrap();
    assert!(matches!(cluster.restart(2).await, Err(ClusterError::Unreachable(2))));
    let connect_to_it = connecting(address(&cluster, 2));
    drop(hole);
    assert_eq!(client.try_read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert!(!connect_to_it.is_finished());
    drop(second);
    // An end or a reset.
    assert_eq!(client.read(&mut [0; 1]).await.unwrap_or(0), 0);
    assert!(connect_to_it.await.unwrap().is_err());
    cluster.restart(2).await.unwrap();
    cluster.wait("a whole ISR", |cluster| cluster.isr("orders", 0).len() == 3).await.unwrap();
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_in_a_black_hole_stops_without_waiting_for_a_controller() {
    let cluster = three_brokers().await;
    let hole = cluster.black_hole(2).unwrap();
    let node = cluster.brokers.lock()[&2].node().clone();
    {
        let mut leaving = std::pin::pin!(move_leaderships_away(&node));
        let asks = poll_fn(|context| Poll::Ready(leaving.as_mut().poll(context).is_pending())).await;
        assert!(!asks, "it asks a controller that it does not reach");
    }
    drop(node);
    cluster.stop(2).await.unwrap();
    drop(hole);
    cluster.restart(2).await.unwrap();
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_stops_hears_that_the_controller_that_it_asks_is_replaced() {
    let cluster = three_brokers().await;
    let controller = cluster.controller().unwrap();
    let other = cluster.broker_ids().into_iter().find(|id| *id != controller).unwrap();
    let node = cluster.brokers.lock()[&other].node().clone();
    let hole;
    {
        let mut replaced = std::pin::pin!(another_controller(&node));
        let at_once = poll_fn(|context| Poll::Ready(replaced.as_mut().poll(context).is_ready())).await;
        assert!(!at_once, "nobody has replaced it");
        hole = cluster.black_hole(controller).unwrap();
        assert!(tokio::time::timeout(PATIENCE, replaced).await.is_ok(), "it is still asked");
    }
    drop(node);
    cluster.stop(other).await.unwrap();
    assert!((0..3).all(|number| cluster.leader("orders", number) != Some(other)));
    drop(hole);
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_does_not_start_on_a_disk_that_takes_nothing() {
    let cluster = EmbeddedCluster::builder().brokers(2).start().await.unwrap();
    type Fault = fn(&EmbeddedCluster, i32) -> Result<FaultGuard, ClusterError>;
    for fault in [EmbeddedCluster::disk_full as Fault, EmbeddedCluster::fsync_fails] {
        cluster.kill(2).unwrap();
        let guard = fault(&cluster, 2).unwrap();
        let refused = cluster.restart(2).await.unwrap_err();
        assert!(matches!(refused, ClusterError::Broker { id: 2, .. }), "{refused}");
        drop(guard);
        cluster.restart(2).await.unwrap();
    }
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_port_of_a_killed_broker_refuses_connections_and_stays_its_own() {
    let cluster = EmbeddedCluster::builder().brokers(2).start().await.unwrap();
    let node = Arc::downgrade(cluster.brokers.lock()[&2].node());
    cluster.kill(2).unwrap();
    cluster.wait("the end of its last task", |_| node.strong_count() == 0).await.unwrap();
    for listener in &cluster.members[&2].config.listeners {
        let refused = TcpStream::connect(listener.bind).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        if cfg!(target_os = "linux") {
            let plain = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
            assert_eq!(plain.bind(&listener.bind.into()).unwrap_err().kind(), ErrorKind::AddrInUse);
        }
    }
    cluster.restart(2).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn brokers_that_do_not_reach_each_other_drop_out_of_sync_and_stay_alive() {
    let cluster = three_brokers().await;
    let controller = cluster.controller().unwrap();
    // The leader has to reach the controller.
    let led = (0..3).find(|number| cluster.leader("orders", *number) == Some(controller)).unwrap();
    let follower = cluster.broker_ids().into_iter().find(|id| *id != controller).unwrap();
    let mut client = connect(address(&cluster, controller)).await;
    type Cut = fn(&EmbeddedCluster, i32, i32) -> Result<FaultGuard, ClusterError>;
    let ways: [Cut; 3] = [EmbeddedCluster::partition, EmbeddedCluster::partition_one_way, |cluster, a, b| {
        cluster.partition_one_way(b, a)
    }];
    for cut in ways {
        let guard = cut(&cluster, controller, follower).unwrap();
        // Who has all there is stays in sync, however silent.
        let request = ProduceRequest { acks: 1, ..produce_request(&cluster, led, 10) };
        assert_eq!(produce(&mut client, &request).await, ErrorCode::NONE);
        let shrunk = |cluster: &EmbeddedCluster| !cluster.isr("orders", led).contains(&follower);
        cluster.wait("a smaller ISR", shrunk).await.unwrap();
        assert_eq!(cluster.registry.watch().borrow().brokers.len(), 3, "a session has ended");
        assert_eq!(cluster.controller(), Some(controller));
        drop(guard);
        cluster.wait("a whole ISR", |cluster| cluster.isr("orders", led).len() == 3).await.unwrap();
    }
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_clients_do_not_reach_stays_a_broker() {
    let cluster = three_brokers().await;
    let cut = cluster.leader("orders", 0).unwrap();
    let client = connect(address(&cluster, cut)).await;
    let guard = cluster.partition_clients(cut).unwrap();
    let request = producing(&cluster, client);
    let connect_to_it = connecting(address(&cluster, cut));
    // All brokers answer the controller.
    cluster.create_topic("more", 1, 3).await.unwrap();
    assert_eq!(cluster.leader("orders", 0), Some(cut));
    assert!(!request.is_finished() && !connect_to_it.is_finished());
    assert_eq!(end_offset(&cluster, cut), 0);
    guard.keep();
    assert_eq!(cluster.faults(cut).unwrap(), ["cut off from clients"]);
    cluster.heal(cut).unwrap();
    assert_eq!(request.await.unwrap().0, ErrorCode::NONE);
    connect_to_it.await.unwrap().unwrap();
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_broker_may_be_cut_off_as_well() {
    let cluster = three_brokers().await;
    let gone = cluster.leader("orders", 0).unwrap();
    cluster.pause(gone).unwrap();
    let hole = cluster.black_hole(gone).unwrap();
    let moved = |cluster: &EmbeddedCluster| cluster.leader("orders", 0).is_some_and(|leader| leader != gone);
    cluster.wait("another leader", moved).await.unwrap();
    cluster.resume(gone).unwrap();
    cluster.create_topic("more", 1, 2).await.unwrap();
    assert!(!cluster.isr("orders", 0).contains(&gone));
    drop(hole);
    cluster.wait("a whole ISR", |cluster| cluster.isr("orders", 0).len() == 3).await.unwrap();
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delays_add_up_and_a_throttle_takes_its_time() {
    let cluster = three_brokers().await;
    let slow = cluster.leader("orders", 0).unwrap();
    let mut client = connect(address(&cluster, slow)).await;
    let part = Duration::from_millis(60);
    let (first, second) = (cluster.delay(slow, part).unwrap(), cluster.delay(slow, part).unwrap());
    let ask = ApiVersionsRequest::default();
    let started = Instant::now();
    client.call(0, &ask).await.unwrap();
    assert!(started.elapsed() >= 2 * part, "{:?}", started.elapsed());
    drop(first);
    drop(second);

    let request = produce_request(&cluster, 0, 50_000);
    let throttled = cluster.throttle(slow, 200_000).unwrap();
    let started = Instant::now();
    assert_eq!(produce(&mut client, &request).await, ErrorCode::NONE);
    // The last lot is not waited for.
    assert!(started.elapsed() >= Duration::from_millis(200), "{:?}", started.elapsed());
    drop(throttled);
    assert_eq!(cluster.faults(slow).unwrap(), [""; 0]);
    assert_eq!(produce(&mut client, &request).await, ErrorCode::NONE);
    // Undone while it matters: nobody waits for the rest of an hour.
    let hour = cluster.delay(slow, Duration::from_hours(1)).unwrap();
    let waiting = producing(&cluster, client);
    let other = cluster.broker_ids().into_iter().find(|id| *id != slow).unwrap();
    connect(address(&cluster, other)).await.call(0, &ask).await.unwrap();
    assert!(!waiting.is_finished());
    drop(hour);
    assert_eq!(waiting.await.unwrap().0, ErrorCode::NONE);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_with_a_full_disk_leads_nothing_until_it_has_room() {
    let cluster = three_brokers().await;
    let full = cluster.leader("orders", 0).unwrap();
    let mut client = connect(address(&cluster, full)).await;
    let request = produce_request(&cluster, 0, 10);
    assert_eq!(produce(&mut client, &request).await, ErrorCode::NONE);
    let (first, second) = (cluster.disk_full(full).unwrap(), cluster.disk_full(full).unwrap());
    assert_eq!(produce(&mut client, &request).await, ErrorCode::KAFKA_STORAGE_ERROR);
    let moved = |cluster: &EmbeddedCluster| cluster.leader("orders", 0).is_some_and(|leader| leader != full);
    cluster.wait("another leader", moved).await.unwrap();
    cluster.wait("its hearing of that", |cluster| cluster.is_served("orders")).await.unwrap();
    drop(first);
    assert_eq!(cluster.faults(full).unwrap(), ["disk full"]);
    // It lives, and serves no partition.
    assert_eq!(cluster.registry.watch().borrow().brokers.len(), 3);
    assert_eq!(produce(&mut client, &request).await, ErrorCode::KAFKA_STORAGE_ERROR);
    assert!((0..3).all(|number| !cluster.isr("orders", number).contains(&full)));
    let mut other = connect(address(&cluster, cluster.leader("orders", 0).unwrap())).await;
    assert_eq!(produce(&mut other, &request).await, ErrorCode::NONE);
    drop(second);
    cluster.wait("a whole ISR", |cluster| cluster.isr("orders", 0).len() == 3).await.unwrap();
    cluster.wait("the same log", |cluster| end_offset(cluster, full) == 2).await.unwrap();
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_with_a_full_disk_is_out_of_sync_until_it_has_room() {
    let cluster = three_brokers().await;
    let leader = cluster.leader("orders", 0).unwrap();
    let follower = cluster.broker_ids().into_iter().find(|id| *id != leader).unwrap();
    let mut client = connect(address(&cluster, leader)).await;
    let request = produce_request(&cluster, 0, 10);
    cluster.disk_full(follower).unwrap().keep();
    assert_eq!(produce(&mut client, &request).await, ErrorCode::NONE);
    assert!(!cluster.isr("orders", 0).contains(&follower));
    assert_eq!(cluster.leader("orders", 0), Some(leader));
    // What is created meanwhile has a replica there for later.
    cluster.create_topic("more", 3, 3).await.unwrap();
    assert!((0..3).all(|number| cluster.isr("more", number).len() == 2));
    cluster.heal_all();
    for topic in ["orders", "more"] {
        let whole = |cluster: &EmbeddedCluster| (0..3).all(|number| cluster.isr(topic, number).len() == 3);
        cluster.wait("a whole ISR", whole).await.unwrap();
    }
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn log_31_a_disk_that_does_not_sync_is_left_alone_and_its_logs_are_recovered() {
    let builder = EmbeddedCluster::builder().brokers(1);
    let builder = builder.configure(|config| config.fsync = crate::FsyncPolicy::EveryBatch);
    let cluster = builder.start().await.unwrap();
    cluster.create_topic("orders", 1, 1).await.unwrap();
    let request = produce_request(&cluster, 0, 10);
    let mut client = connect(address(&cluster, 1)).await;
    assert_eq!(produce(&mut client, &request).await, ErrorCode::NONE);
    let failing = cluster.fsync_fails(1).unwrap();
    assert_eq!(produce(&mut client, &request).await, ErrorCode::KAFKA_STORAGE_ERROR);
    cluster.wait("no leader", |cluster| cluster.leader("orders", 0).is_none()).await.unwrap();
    assert_eq!(cluster.isr("orders", 0), [1], "who has all that was acknowledged is waited for");
    assert_eq!(produce(&mut client, &request).await, ErrorCode::KAFKA_STORAGE_ERROR);
    drop(failing);
    cluster.wait("it leads", |cluster| cluster.is_served("orders")).await.unwrap();
    let end = end_offset(&cluster, 1);
    assert!(end >= 1, "an acknowledged record is lost");
    assert_eq!(produce(&mut client, &request).await, ErrorCode::NONE);
    assert_eq!(end_offset(&cluster, 1), end + 1);
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_disk_holds_up_appends_and_nothing_else() {
    let cluster = three_brokers().await;
    let slow = cluster.leader("orders", 0).unwrap();
    let client = connect(address(&cluster, slow)).await;
    let guard = cluster.slow_disk(slow, Duration::from_hours(1)).unwrap();
    let request = producing(&cluster, client);
    // On the same broker.
    connect(address(&cluster, slow)).await.call(0, &ApiVersionsRequest::default()).await.unwrap();
    cluster.create_topic("more", 1, 3).await.unwrap();
    assert!(!request.is_finished());
    assert_eq!(end_offset(&cluster, slow), 0);
    drop(guard);
    assert_eq!(request.await.unwrap().0, ErrorCode::NONE);
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_skewed_clock_tells_another_time_of_day() {
    let cluster = EmbeddedCluster::builder().brokers(1).start().await.unwrap();
    let by_the_log = [("message.timestamp.type", "LogAppendTime")];
    cluster.create_topic_with("orders", 1, 1, &by_the_log).await.unwrap();
    let request = produce_request(&cluster, 0, 10);
    let mut client = connect(address(&cluster, 1)).await;
    let mut append_time = async || {
        client.call(13, &request).await.unwrap().responses[0].partition_responses[0].log_append_time_ms
    };
    let hour = 3_600_000;
    let before = append_time().await;
    let (first, second) = (cluster.clock_skew(1, 3 * hour).unwrap(), cluster.clock_skew(1, -hour).unwrap());
    assert!(append_time().await >= before + 2 * hour);
    drop(first);
    assert!(append_time().await < before);
    drop(second);
    assert!(append_time().await >= before);
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guards_may_come_too_late_and_keep_nothing() {
    let cluster = EmbeddedCluster::builder().brokers(2).start().await.unwrap();
    let (healed, late) = (cluster.black_hole(1).unwrap(), cluster.delay(2, Duration::from_secs(9)).unwrap());
    cluster.heal(1).unwrap();
    let second = cluster.black_hole(1).unwrap();
    drop(healed);
    assert_eq!(cluster.faults(1).unwrap(), ["black hole"], "a guard has ended the fault of another one");
    let itself = cluster.partition(1, 1).unwrap_err();
    assert!(itself.to_string().contains("two brokers"), "{itself}");
    let mut client = TcpStream::connect(address(&cluster, 2)).await.unwrap();
    let _third = cluster.partition_clients(2).unwrap();
    let addresses = [address(&cluster, 1), address(&cluster, 2)];
    drop(cluster);
    // The guards live, the sockets do not.
    assert_eq!(client.read(&mut [0; 1]).await.unwrap_or(0), 0);
    let gone = async {
        for address in addresses {
            while TcpStream::connect(address).await.is_ok() {
                tokio::task::yield_now().await;
            }
        }
    };
    assert!(tokio::time::timeout(PATIENCE, gone).await.is_ok(), "a port is still listened on");
    drop((second, late));
}
