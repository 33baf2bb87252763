//! behaviours "Connections", lines 15 to 21, in virtual time.

mod support;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use milena_core::{
    admin::{RetryPolicy, Target},
    config::ClientConfig,
    engine::Event,
    metadata::RefreshReason,
    network::{
        ClientRequest, ConnectionId, ConnectionState, DisconnectCause, NodeReadiness, RequestFailure,
        RequestToken, StateChange,
    },
};
use milena_protocol::{
    ApiKey, VersionRange,
    messages::{
        ApiVersionsRequest, ApiVersionsResponse, DescribeClusterRequest, DescribeClusterResponse,
        MetadataRequest,
    },
};
use support::{Bare, Client, Harness, Peer, Reach, Reply, assert_gaps, config, ms, named, secs};

fn ip(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 1, last))
}

fn address(last: u8) -> SocketAddr {
    SocketAddr::new(ip(last), 9092)
}

/// Broker 1 under a name with three addresses, of which only the third accepts.
fn three_addresses() -> Harness<Bare> {
    let mut harness = Bare::harness(1, &config(1));
    harness.peer.dns.insert("b1".to_owned(), Ok(vec![ip(1), ip(2), ip(3)]));
    harness.peer.add_address(1, address(1)).reach = Reach::Refuses;
    harness.peer.add_address(1, address(2)).reach = Reach::Refuses;
    harness.peer.add_address(1, address(3));
    harness.engine.wanted = vec![1];
    harness
}

fn tried(harness: &Harness<Bare>) -> Vec<SocketAddr> {
    harness.peer.connects.iter().map(|(_, address)| *address).collect()
}

fn last_cause(harness: &Harness<Bare>) -> Option<DisconnectCause> {
    harness.engine.changes.iter().rev().find_map(|change| match change.change {
        StateChange::Disconnected { cause, .. } => Some(cause),
        _ => None,
    })
}

#[test]
fn connections_15_the_reconnect_backoff_resets_only_when_ready() {
    let mut harness = Bare::harness(1, &config(1));
    // The socket opens, the handshake fails: that is no success.
    harness.peer.script(ApiKey::ApiVersions, |_, _| Reply::Disconnect);
    harness.engine.wanted = vec![1];
    harness.advance(secs(6));
    assert_gaps(&harness.peer.connect_gaps(), &[50, 100, 200, 400, 800, 1000, 1000]);
    harness.peer.script(ApiKey::ApiVersions, |_, _| Reply::AsUsual);
    harness.run_until(secs(3), |h| h.engine.network.is_ready(1, h.now));
    harness.peer.connects.clear();
    for _ in 0..3 {
        harness.disconnect(1, "restart");
        let lost_at = harness.now;
        harness.run_until(secs(3), |h| h.engine.network.state(1) == ConnectionState::Disconnected);
        harness.run_until(secs(3), |h| h.engine.network.is_ready(1, h.now));
        assert_gaps(&[harness.now - lost_at], &[50]);
    }
}

#[test]
fn connections_15_the_setup_timeout_grows_only_on_failed_connects() {
    let mut harness = Bare::harness(1, &config(1));
    harness.peer.script(ApiKey::ApiVersions, |_, _| Reply::Disconnect);
    harness.engine.wanted = vec![1];
    harness.advance(secs(6));
    // Many failed handshakes later the host is gone: the first timeout is still the shortest.
    harness.peer.broker(1).reach = Reach::Swallows;
    harness.peer.resolves.clear();
    harness.advance(secs(150));
    assert_gaps(&harness.peer.resolve_gaps(), &[11_000, 21_000, 31_000, 31_000]);
    // Once the socket opened it is short again.
    harness.peer.broker(1).reach = Reach::Accepts;
    harness.run_until(secs(60), |h| h.engine.network.state(1) == ConnectionState::CheckingApiVersions);
    harness.peer.broker(1).reach = Reach::Swallows;
    harness.advance(secs(2));
    harness.peer.resolves.clear();
    harness.advance(secs(40));
    assert_gaps(&harness.peer.resolve_gaps(), &[21_000]);
}

#[test]
fn connections_16_addresses_are_tried_one_by_one_then_the_name_is_resolved_again() {
    let mut harness = three_addresses();
    harness.run_until(secs(1), |h| h.engine.network.is_ready(1, h.now));
    assert_eq!(tried(&harness), [address(1), address(2), address(3)]);
    assert_eq!(harness.peer.resolves.len(), 1);
    // Two refusals, a connect and a handshake, and no backoff between addresses.
    assert_eq!(harness.now, support::START + ms(4));

    harness.peer.add_address(1, address(3)).reach = Reach::Refuses;
    harness.disconnect(1, "gone");
    harness.peer.connects.clear();
    harness.peer.resolves.clear();
    harness.advance(secs(2));
    let passes = harness.peer.resolves.len();
    assert!(passes >= 3, "resolved again when all failed: {passes}");
    assert_eq!(tried(&harness).len(), 3 * passes);
}

#[test]
fn connections_16_after_an_established_connection_drops_its_address_is_the_last_to_be_tried() {
    let mut harness = Bare::harness(1, &config(1));
    harness.peer.dns.insert("b1".to_owned(), Ok(vec![ip(1), ip(2)]));
    harness.peer.add_address(1, address(1));
    harness.peer.add_address(1, address(2));
    harness.engine.wanted = vec![1];
    harness.run_until(secs(1), |h| h.engine.network.is_ready(1, h.now));
    harness.disconnect(1, "restart");
    harness.run_until(secs(1), |h| !h.engine.network.is_ready(1, h.now));
    harness.run_until(secs(1), |h| h.engine.network.is_ready(1, h.now));
    assert_eq!(tried(&harness), [address(1), address(2)]);
    assert_eq!(harness.peer.resolves.len(), 2);
}

#[test]
fn connections_17_a_changed_address_loses_the_connection_state() {
    let mut harness = Bare::connected(2, &config(1));
    let token = harness.engine.send(1, MetadataRequest::default(), secs(30), harness.now);
    harness.peer.broker(1).silent = true;
    let mut moved = Peer::new(2);
    moved.cluster.brokers.insert(1, ("b9".to_owned(), 9092));
    harness.peer.add_broker(9);
    let now = harness.now;
    let mut pure = support::Pure::new(2);
    pure.cluster = moved.cluster;
    pure.refresh();
    harness.engine.network.set_nodes(pure.metadata.cluster(), now);
    harness.poll();
    // The old socket is closed at once, what was in flight on it failed, the other node is untouched.
    assert_eq!(harness.peer.closes, [(now, Peer::address(1))]);
    let failed =
        harness.engine.completions.iter().find(|completion| completion.token == token).expect("failed");
    assert!(matches!(failed.result, Err(RequestFailure::Disconnected { .. })));
    assert!(harness.engine.network.is_ready(2, now));
    harness.run_until(secs(1), |h| h.engine.network.is_ready(1, h.now));
    assert_eq!(harness.peer.connects.last().map(|(_, address)| *address), Some(Peer::address(9)));
    // And a node that is gone is forgotten.
    harness.engine.network.set_nodes(&named(1), harness.now);
    harness.poll();
    assert_eq!(harness.engine.network.state(2), ConnectionState::Disconnected);
    assert!(!harness.engine.network.ready(2, harness.now));
}

#[test]
fn connections_18_a_throttled_broker_is_not_selectable_and_the_deadline_never_moves_closer() {
    let mut harness = Bare::connected(2, &config(1));
    let now = harness.now;
    harness.engine.network.throttle(1, secs(5), now);
    harness.engine.network.throttle(1, secs(1), now);
    assert!(!harness.engine.network.can_send(1, now) && !harness.engine.network.is_ready(1, now));
    assert_eq!(harness.engine.network.poll_delay(1, now), now + secs(5));
    for _ in 0..20 {
        assert_eq!(harness.engine.network.least_loaded_node(now).map(|found| found.node), Some(2));
    }
    harness.engine.network.throttle(2, secs(9), now);
    assert_eq!(harness.engine.network.least_loaded_node(now), None);
    assert!(!harness.engine.network.can_send(1, now + ms(4_999)));
    assert!(harness.engine.network.can_send(1, now + secs(5)));
}

#[test]
fn connections_18_a_brokers_answers_throttle_it() {
    let mut peer = Peer::new(1);
    peer.script(ApiKey::DescribeCluster, |request, _| request.answer(&DescribeClusterResponse::default()));
    let mut client = Client::connected(peer, &config(1));
    let deadline = client.harness.now + secs(5);
    let request = DescribeClusterRequest::default();
    let mut pending = client.handle.submit(Target::Node(1), request, deadline, RetryPolicy::never());
    client.harness.run_until(secs(1), |_| pending.try_take().is_some());
    client.harness.advance(secs(5));
    client.harness.peer.script(ApiKey::Metadata, |request, cluster| {
        let mut answer = cluster.metadata(&request.decode());
        answer.throttle_time_ms = 3_000;
        request.answer(&answer)
    });
    client.harness.peer.requests.clear();
    client.handle.metadata().request_update(RefreshReason::Requested);
    client.harness.advance(ms(10));
    client.handle.metadata().request_update(RefreshReason::Requested);
    client.harness.advance(ms(2_980));
    assert_eq!(client.harness.peer.count(ApiKey::Metadata), 1);
    client.harness.advance(ms(20));
    assert_eq!(client.harness.peer.count(ApiKey::Metadata), 2);
}

#[test]
fn connections_19_a_request_past_its_timeout_fails_all_in_flight_in_order() {
    let mut harness = Bare::connected(1, &config(1));
    harness.peer.broker(1).silent = true;
    let sent_at = harness.now;
    let timeouts = [secs(20), secs(5), secs(30)];
    let tokens: Vec<RequestToken> =
        timeouts.iter().map(|t| harness.engine.send(1, MetadataRequest::default(), *t, sent_at)).collect();
    harness.run_until(secs(60), |h| !h.engine.completions.is_empty());
    assert_eq!(harness.now, sent_at + secs(5), "the shortest timeout decides");
    let completions = &harness.engine.completions;
    assert_eq!(completions.iter().map(|completion| completion.token).collect::<Vec<_>>(), tokens);
    let timed_out: Vec<bool> =
        completions.iter().map(|c| matches!(c.result, Err(RequestFailure::TimedOut { .. }))).collect();
    assert_eq!(timed_out, [false, true, false]);
    let text = completions[1].result.as_ref().expect_err("timed out").to_string();
    assert_eq!(text, "no answer from b1:9092 within 5s");
    assert_eq!(harness.peer.closes, [(harness.now, Peer::address(1))]);
    assert_eq!(last_cause(&harness), Some(DisconnectCause::RequestTimedOut));
    assert_eq!(harness.engine.network.in_flight(1), 0);
}

#[test]
fn connections_20_api_versions_falls_back_to_what_the_broker_knows() {
    let newest = ApiKey::ApiVersions.stable_versions().max;
    for (known, then) in [(VersionRange::new(0, 3), 3), (VersionRange::new(0, 0), 0)] {
        let mut harness = Bare::harness(1, &config(1));
        harness.peer.broker(1).api_versions = known;
        harness.engine.wanted = vec![1];
        harness.run_until(secs(1), |h| h.engine.network.is_ready(1, h.now));
        let asked = harness.peer.asked(ApiKey::ApiVersions);
        assert_eq!(asked.iter().map(|request| request.version).collect::<Vec<_>>(), [newest, then]);
        assert_eq!(asked[0].connection, asked[1].connection);
        let first: ApiVersionsRequest = asked[0].decode();
        assert_eq!(
            (&*first.client_software_name, &*first.client_software_version),
            ("milena", env!("CARGO_PKG_VERSION"))
        );
        let versions = harness.engine.network.api_versions(1).expect("told");
        assert_eq!(versions.versions(ApiKey::ApiVersions), Some(known));
    }
}

#[test]
fn connections_20_a_broker_that_names_no_versions_is_asked_in_version_0() {
    let mut harness = Bare::harness(1, &config(1));
    harness.peer.script(ApiKey::ApiVersions, |request, _| {
        if request.version == 0 {
            return Reply::AsUsual;
        }
        let nothing = ApiVersionsResponse {
            error_code: milena_protocol::ErrorCode::UNSUPPORTED_VERSION,
            ..Default::default()
        };
        request.answer_in(0, &nothing)
    });
    harness.engine.wanted = vec![1];
    harness.run_until(secs(1), |h| h.engine.network.is_ready(1, h.now));
    let versions: Vec<i16> =
        harness.peer.asked(ApiKey::ApiVersions).iter().map(|request| request.version).collect();
    assert_eq!(versions.last(), Some(&0));
}

#[test]
fn connections_20_a_stuck_handshake_times_out() {
    let mut harness = Bare::harness(1, &config(1));
    harness.peer.broker(1).silent = true;
    harness.engine.wanted = vec![1];
    harness.run_until(secs(60), |h| !h.peer.closes.is_empty());
    assert_eq!(harness.now, support::START + ms(1) + secs(10));
    assert_eq!(last_cause(&harness), Some(DisconnectCause::SetupFailed));
    harness.peer.broker(1).silent = false;
    harness.run_until(secs(2), |h| h.engine.network.is_ready(1, h.now));
}

#[test]
fn connections_21_a_connecting_broker_is_never_waited_for_while_a_connected_one_lives() {
    for seed in 0..20 {
        let mut peer = Peer::new(3);
        peer.script(ApiKey::DescribeCluster, |request, _| {
            request.answer(&DescribeClusterResponse::default())
        });
        let mut client = Client::seeded(peer, &config(1), seed);
        client.harness.run_until(secs(1), |h| h.engine.metadata().version() > 0);
        // The client is connected to 1; connections to 2 and 3 hang.
        for node in [2, 3] {
            client.harness.peer.broker(node).reach = Reach::Swallows;
        }
        let deadline = client.harness.now + secs(60);
        let ask = |node| {
            let request = DescribeClusterRequest::default();
            client.handle.submit(Target::Node(node), request, deadline, RetryPolicy::lost())
        };
        let mut pending = [ask(1), ask(2), ask(3)];
        client.harness.run_until(secs(1), |_| pending[0].try_take().is_some());
        client.harness.advance(secs(1));
        for node in [2, 3] {
            assert_eq!(client.harness.engine.network().state(node), ConnectionState::Connecting);
        }
        let asked_at = client.harness.now;
        let before = client.version();
        client.handle.metadata().request_update(RefreshReason::Requested);
        client.harness.run_until(ms(10), |h| h.engine.metadata().version() > before);
        assert_eq!(client.harness.now, asked_at + ms(1), "seed {seed}");
    }
}

#[test]
fn connections_21_metadata_is_asked_of_a_responsive_broker_first() {
    let mut harness = Bare::connected(3, &config(1));
    // Broker 1 has nothing in flight, 2 has one request for long, 3 has two that are fresh.
    harness.peer.broker(2).silent = true;
    harness.engine.send(2, MetadataRequest::default(), secs(30), harness.now);
    harness.advance(secs(2));
    let now = harness.now;
    for _ in 0..2 {
        harness.engine.send(3, MetadataRequest::default(), secs(30), now);
    }
    let asks =
        |harness: &mut Harness<Bare>| harness.engine.network.least_loaded_node(now).map(|found| found.node);
    for _ in 0..10 {
        assert_eq!(asks(&mut harness), Some(1));
    }
    harness.engine.network.throttle(1, secs(60), now);
    for _ in 0..10 {
        assert_eq!(asks(&mut harness), Some(3), "responsive before idle");
    }
    // What is asked of the suspected one could only wait behind what it owes.
    harness.engine.network.throttle(3, secs(60), now);
    assert_eq!(asks(&mut harness), None);
}

#[test]
fn connections_21_while_nobody_is_connected_the_next_is_tried_beside_a_slow_one() {
    let mut harness = Bare::harness(2, &config(1));
    harness.peer.broker(1).reach = Reach::Swallows;
    let now = harness.now;
    assert!(!harness.engine.network.ready(1, now));
    harness.poll();
    let found = harness.engine.network.least_loaded_node(now).expect("connecting");
    assert_eq!(
        (found.node, found.readiness, found.look_again_at),
        (1, NodeReadiness::Connecting, now + ms(5))
    );
    let found = harness.engine.network.least_loaded_node(now + ms(5)).expect("another");
    assert_eq!((found.node, found.readiness), (2, NodeReadiness::CanConnect));
}

fn address_of(n: usize) -> SocketAddr {
    address(u8::try_from(n).expect("few"))
}

/// Broker 1 behind a name with these addresses, each as reachable as said; the last one is its own.
fn behind(reaches: &[Reach]) -> Harness<Bare> {
    let mut harness = Bare::harness(1, &config(1));
    for (n, reach) in reaches.iter().enumerate() {
        harness.peer.add_address(1, address_of(n)).reach = *reach;
    }
    let addresses = (0..reaches.len()).map(|n| address_of(n).ip()).collect();
    harness.peer.dns.insert("b1".to_owned(), Ok(addresses));
    harness
}

#[test]
fn unhealthy_39_the_addresses_of_a_host_race() {
    use Reach::{Accepts, Refuses, Swallows};
    let races: [(&[Reach], u64); 5] = [
        (&[Swallows, Accepts], 250),
        (&[Swallows, Swallows, Accepts], 500),
        (&[Refuses, Accepts], 0),
        (&[Swallows, Refuses, Accepts], 250),
        (&[Swallows, Accepts, Accepts], 250),
    ];
    for (reaches, waits) in races {
        let mut harness = behind(reaches);
        let began_at = harness.now;
        assert!(!harness.engine.network.ready(1, began_at));
        harness.run_until(secs(5), |h| h.engine.network.state(1) == ConnectionState::Ready);
        let took = harness.now - began_at;
        assert!(took >= ms(waits) && took <= ms(waits + 20), "{reaches:?}: {took:?}");
        // The winner is the only one that is left, and it stays.
        harness.advance(secs(60));
        assert_eq!(harness.engine.network.state(1), ConnectionState::Ready, "{reaches:?}");
        assert_eq!(harness.peer.connections_of(1).len(), 1, "{reaches:?}");
    }
}

#[test]
fn unhealthy_39_a_refusal_ends_no_other_addresss_attempt() {
    let mut harness = behind(&[Reach::Swallows, Reach::Refuses, Reach::Swallows]);
    assert!(!harness.engine.network.ready(1, harness.now));
    harness.advance(ms(300));
    assert_eq!(tried(&harness), [address_of(0), address_of(1), address_of(2)]);
    assert_eq!(harness.peer.opening(), 2, "the first one may take longer than the second took to refuse");
}

#[test]
fn unhealthy_39_a_race_that_nobody_wins_ends_after_the_setup_timeout() {
    let mut harness = behind(&[Reach::Swallows, Reach::Swallows]);
    let began_at = harness.now;
    assert!(!harness.engine.network.ready(1, began_at));
    harness.run_until(secs(15), |h| h.engine.network.state(1) == ConnectionState::Disconnected);
    assert!(harness.now - began_at >= secs(8), "10 s, give or take the jitter");
    let attempts = harness.peer.connects.len() as u64;
    assert!((9..=14).contains(&attempts), "both, and one anew each second: {attempts}");
    // What any socket says later means nothing.
    for connection in 1..=attempts {
        harness.schedule(ms(1), Event::Connected { connection: ConnectionId(connection) });
    }
    harness.advance(ms(10));
    assert_eq!(harness.engine.network.state(1), ConnectionState::Disconnected);
}

#[test]
fn unhealthy_39_a_host_that_comes_back_is_found_within_a_second() {
    for reaches in [&[Reach::Swallows][..], &[Reach::Swallows; 3]] {
        let mut harness = behind(reaches);
        assert!(!harness.engine.network.ready(1, harness.now));
        harness.advance(ms(6_400));
        // The first sockets go on, and one tries anew: a host that takes longer than a second to connect to is reached, too.
        assert_eq!(harness.peer.opening(), reaches.len() + 1);
        let tried_anew: Vec<SocketAddr> = tried(&harness).split_off(reaches.len());
        assert!((5..=6).contains(&tried_anew.len()), "{tried_anew:?}");
        assert!(
            tried_anew.iter().enumerate().all(|(n, address)| *address == tried(&harness)[n % reaches.len()])
        );
        for n in 0..reaches.len() {
            harness.peer.add_address(1, address_of(n)).reach = Reach::Accepts;
        }
        let came_back_at = harness.now;
        harness.run_until(secs(5), |h| h.engine.network.state(1) == ConnectionState::Ready);
        assert!(harness.now - came_back_at <= ms(1_020), "{:?}", harness.now - came_back_at);
        harness.advance(secs(60));
        assert_eq!(harness.engine.network.state(1), ConnectionState::Ready);
        assert_eq!(
            (harness.peer.connections_of(1).len(), harness.peer.opening()),
            (1, 0),
            "the others are closed"
        );
    }
}

#[test]
fn the_bootstrap_connection_serves_until_a_named_broker_is_ready() {
    let mut peer = Peer::new(2);
    peer.script(ApiKey::DescribeCluster, |request, _| request.answer(&DescribeClusterResponse::default()));
    let mut client = Client::connected(peer, &config(1));
    client.harness.advance(secs(1));
    client.handle.metadata().request_update(RefreshReason::Requested);
    client.harness.advance(secs(1));
    assert_eq!(client.harness.peer.connects.len(), 1, "no second connection for a second question");
    assert!(client.harness.peer.closes.is_empty());
    let deadline = client.harness.now + secs(5);
    let request = DescribeClusterRequest::default();
    let mut pending = client.handle.submit(Target::Node(2), request, deadline, RetryPolicy::never());
    client.harness.run_until(secs(1), |_| pending.try_take().is_some());
    assert_eq!(client.harness.peer.closes.len(), 1);
    assert_eq!(client.harness.peer.closes[0].1, Peer::address(1));
}

#[test]
fn an_idle_connection_is_closed_and_comes_back_without_a_backoff() {
    let settings = ClientConfig { connections_max_idle: secs(60), ..config(1) };
    let mut harness = Bare::connected(1, &settings);
    harness.engine.wanted.clear();
    let used_at = harness.now;
    harness.run_until(secs(100), |h| !h.peer.closes.is_empty());
    assert_eq!(harness.now, used_at + secs(60));
    assert_eq!(last_cause(&harness), Some(DisconnectCause::Idle));
    assert!(!harness.engine.network.connection_failed(1, harness.now));
    harness.engine.wanted = vec![1];
    harness.run_until(ms(3), |h| h.engine.network.is_ready(1, h.now));
}

#[test]
fn an_answer_out_of_order_is_the_peers_fault() {
    let mut harness = Bare::connected(1, &config(1));
    harness.peer.script(ApiKey::Metadata, |request, cluster| {
        let mut other = request.clone();
        other.correlation_id += 1;
        other.answer(&cluster.metadata(&request.decode()))
    });
    harness.engine.send(1, MetadataRequest::default(), secs(30), harness.now);
    harness.run_until(secs(1), |h| !h.engine.completions.is_empty());
    let failure = harness.engine.completions[0].result.as_ref().expect_err("refused").to_string();
    assert!(failure.contains("correlation id"), "{failure}");
    assert_eq!(last_cause(&harness), Some(DisconnectCause::ProtocolViolation));
    assert_eq!(harness.peer.closes.len(), 1);
}

#[test]
fn a_version_that_the_broker_does_not_speak_fails_the_request_alone() {
    let mut harness = Bare::harness(1, &config(1));
    harness.peer.broker(1).max_versions.insert(ApiKey::Metadata as i16, 4);
    harness.engine.wanted = vec![1];
    harness.run_until(secs(1), |h| h.engine.network.is_ready(1, h.now));
    let token = harness.engine.network.next_token();
    let request = ClientRequest {
        token,
        request: Box::new(MetadataRequest::default()),
        versions: VersionRange::new(9, 13),
        timeout: secs(30),
        expects_response: true,
    };
    harness.engine.network.send(1, request, harness.now).expect("taken");
    harness.poll();
    let failure = harness.engine.completions[0].result.as_ref().expect_err("no version").to_string();
    assert_eq!(failure, "Metadata: the broker speaks versions 0-4, this client 9-13");
    assert!(harness.engine.network.is_ready(1, harness.now));
}

#[test]
fn a_request_without_an_answer_completes_when_it_is_written() {
    let mut harness = Bare::connected(1, &config(1));
    harness.peer.broker(1).silent = true;
    let token = harness.engine.network.next_token();
    let request = ClientRequest {
        token,
        request: Box::new(MetadataRequest::default()),
        versions: VersionRange::new(1, 13),
        timeout: secs(30),
        expects_response: false,
    };
    harness.engine.network.send(1, request, harness.now).expect("taken");
    harness.run_until(ms(1), |h| !h.engine.completions.is_empty());
    let completion = &harness.engine.completions[0];
    assert_eq!(completion.token, token);
    assert!(completion.result.as_ref().is_ok_and(|response| response.body.is_empty()));
    assert_eq!(harness.engine.network.in_flight(1), 0);
}

#[test]
fn late_events_of_a_closed_connection_mean_nothing() {
    let mut harness = Bare::connected(1, &config(1));
    harness.peer.latency = ms(100);
    harness.engine.send(1, MetadataRequest::default(), ms(50), harness.now);
    harness.advance(ms(80));
    assert_eq!(harness.engine.completions.len(), 1);
    // The answer arrives 50 ms after the connection was closed.
    harness.advance(secs(1));
    assert_eq!(harness.engine.completions.len(), 1);
    assert!(harness.engine.network.is_ready(1, harness.now));
}

#[test]
fn no_more_than_the_limit_is_in_flight() {
    let mut harness = Bare::connected(1, &config(1));
    harness.peer.broker(1).silent = true;
    for _ in 0..harness.engine.network.in_flight_limit() {
        harness.engine.send(1, MetadataRequest::default(), secs(30), harness.now);
    }
    assert!(!harness.engine.network.can_send(1, harness.now));
    assert!(harness.engine.network.is_ready(1, harness.now));
    assert_eq!(harness.engine.network.in_flight(1), 5);
    harness.advance(secs(3));
    assert_eq!(harness.engine.network.oldest_wait(1, harness.now), Some(secs(3)));
}
