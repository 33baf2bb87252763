//! The engine for requests of all kinds finds the broker, and tries again as it is told.

mod support;

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use milena_core::{
    admin::{AdminEngine, AdminError, PendingResponse, RetryPolicy, Target, Verdict},
    engine::Engine,
    metadata::{MetadataError, MetadataTopics, MetadataWait},
    network::RequestFailure,
};
use milena_protocol::{
    ApiKey, ErrorCode,
    messages::{
        DescribeClusterRequest, DescribeClusterResponse, FetchRequest, FetchResponse, ListOffsetsRequest,
        ListOffsetsResponse,
    },
};
use support::{Client, Harness, Peer, Reach, Reply, START, config, ms, secs};

fn peer() -> Peer {
    let mut peer = Peer::new(3);
    peer.cluster.controller = 3;
    peer.cluster.create("t", &[1, 2]);
    peer.script(ApiKey::DescribeCluster, |request, _| {
        request.answer(&DescribeClusterResponse { controller_id: request.broker, ..Default::default() })
    });
    peer.script(ApiKey::ListOffsets, |request, _| request.answer(&ListOffsetsResponse::default()));
    peer
}

fn describe(client: &Client, target: Target, policy: RetryPolicy) -> PendingResponse {
    client.handle.submit(target, DescribeClusterRequest::default(), client.harness.now + secs(30), policy)
}

fn leader(partition: i32) -> Target {
    Target::Leader { topic: "t".into(), partition }
}

/// Which broker answered.
#[track_caller]
fn answered_by(client: &mut Client, mut pending: PendingResponse) -> i32 {
    let mut outcome = None;
    client.harness.run_until(secs(60), |_| {
        outcome = pending.try_take();
        outcome.is_some()
    });
    let response = outcome.expect("just checked").expect("an answer");
    response.decode::<DescribeClusterRequest>().expect("a DescribeClusterResponse").controller_id
}

#[track_caller]
fn failure(client: &mut Client, mut pending: PendingResponse) -> AdminError {
    let mut outcome = None;
    client.harness.run_until(secs(600), |_| {
        outcome = pending.try_take();
        outcome.is_some()
    });
    outcome.expect("just checked").expect_err("a failure")
}

#[test]
fn a_request_goes_to_whom_it_is_addressed() {
    let mut client = Client::new(peer(), &config(1));
    let pending = describe(&client, Target::Node(2), RetryPolicy::never());
    assert_eq!(answered_by(&mut client, pending), 2);
    let pending = describe(&client, Target::Controller, RetryPolicy::never());
    assert_eq!(answered_by(&mut client, pending), 3);
    let pending = describe(&client, leader(0), RetryPolicy::never());
    assert_eq!(answered_by(&mut client, pending), 1);
    let pending = describe(&client, leader(1), RetryPolicy::never());
    assert_eq!(answered_by(&mut client, pending), 2);
    let pending = describe(&client, Target::Any, RetryPolicy::never());
    assert!((1..=3).contains(&answered_by(&mut client, pending)));
}

#[test]
fn the_first_request_of_a_fresh_client_needs_no_metadata_to_reach_anybody() {
    let mut client = Client::new(peer(), &config(1));
    let pending = describe(&client, Target::Any, RetryPolicy::never());
    assert_eq!(answered_by(&mut client, pending), 1);
    assert_eq!(client.harness.now, START + ms(3));
}

#[test]
fn not_controller_refreshes_and_asks_the_new_one() {
    let mut peer = peer();
    peer.script(ApiKey::DescribeCluster, |request, cluster| {
        let mut answer = DescribeClusterResponse { controller_id: request.broker, ..Default::default() };
        if request.broker != 2 {
            cluster.controller = 2;
            answer.error_code = ErrorCode::NOT_CONTROLLER;
        }
        request.answer(&answer)
    });
    let mut client = Client::connected(peer, &config(1));
    let policy = RetryPolicy::errors_of::<DescribeClusterRequest>(|answer| answer.error_code);
    let pending = describe(&client, Target::Controller, policy);
    assert_eq!(answered_by(&mut client, pending), 2);
    let asked: Vec<i32> =
        client.harness.peer.asked(ApiKey::DescribeCluster).iter().map(|r| r.broker).collect();
    assert_eq!(asked, [3, 2]);
}

#[test]
fn a_moved_leader_is_followed() {
    let mut peer = peer();
    peer.script(ApiKey::DescribeCluster, |request, cluster| {
        let mut answer = DescribeClusterResponse { controller_id: request.broker, ..Default::default() };
        if request.broker == 1 {
            cluster.move_leader("t", 0, 3);
            answer.error_code = ErrorCode::NOT_LEADER_OR_FOLLOWER;
        }
        request.answer(&answer)
    });
    let mut client = Client::connected(peer, &config(1));
    let policy = RetryPolicy::errors_of::<DescribeClusterRequest>(|answer| answer.error_code);
    let pending = describe(&client, leader(0), policy);
    assert_eq!(answered_by(&mut client, pending), 3);
}

#[test]
fn a_lost_connection_is_tried_again_or_not_as_told() {
    for retried in [true, false] {
        let mut client = Client::connected(peer(), &config(1));
        client.harness.peer.script(ApiKey::DescribeCluster, {
            let mut lost = false;
            move |request, _| {
                if !std::mem::replace(&mut lost, true) {
                    return Reply::Disconnect;
                }
                request
                    .answer(&DescribeClusterResponse { controller_id: request.broker, ..Default::default() })
            }
        });
        let policy = if retried { RetryPolicy::lost() } else { RetryPolicy::never() };
        let pending = describe(&client, Target::Node(2), policy);
        if retried {
            assert_eq!(answered_by(&mut client, pending), 2);
        } else {
            let failed = failure(&mut client, pending);
            assert!(matches!(failed, AdminError::Request(RequestFailure::Disconnected { .. })), "{failed}");
        }
    }
}

#[test]
fn retries_back_off_until_the_deadline_and_the_error_says_why() {
    let mut client = Client::connected(peer(), &config(1));
    client.harness.peer.script(ApiKey::DescribeCluster, |request, _| {
        let error_code = ErrorCode::COORDINATOR_LOAD_IN_PROGRESS;
        request.answer(&DescribeClusterResponse { error_code, ..Default::default() })
    });
    let begun = client.harness.now;
    let policy = RetryPolicy::errors_of::<DescribeClusterRequest>(|answer| answer.error_code);
    let pending = describe(&client, Target::Node(1), policy);
    let failed = failure(&mut client, pending);
    assert_eq!(client.harness.now - begun, secs(30));
    let text = failed.to_string();
    assert!(
        text.starts_with("no answer from broker 1 within 30000 ms: COORDINATOR_LOAD_IN_PROGRESS"),
        "{text}"
    );
    support::assert_gaps(
        &client.harness.peer.gaps(ApiKey::DescribeCluster),
        &[100, 200, 400, 800, 1000, 1000],
    );
}

#[test]
fn a_target_that_nobody_knows_times_out_with_the_reason() {
    let mut client = Client::connected(peer(), &config(1));
    for (target, reason) in [
        (Target::Node(77), "broker 77 is not in the metadata"),
        (Target::Leader { topic: "none".into(), partition: 0 }, "topic `none` is not in the metadata"),
        (leader(9), "topic `t` has the partitions [0, 2)"),
    ] {
        let pending = describe(&client, target, RetryPolicy::lost());
        let text = failure(&mut client, pending).to_string();
        assert!(text.ends_with(reason), "{text}");
    }
    let mut peer = Peer::new(1);
    peer.broker(1).reach = Reach::Refuses;
    let mut client = Client::new(peer, &config(1));
    let pending = describe(&client, Target::Any, RetryPolicy::lost());
    let text = failure(&mut client, pending).to_string();
    assert!(text.ends_with("cannot connect to b1:9092: connection refused"), "{text}");
}

#[test]
fn many_long_polls_are_in_flight_to_one_broker() {
    let mut peer = peer();
    peer.script(ApiKey::Fetch, |request, _| {
        Reply::After(ms(500), Box::new(request.answer(&FetchResponse::default())))
    });
    let mut client = Client::connected(peer, &config(1));
    let deadline = client.harness.now + secs(30);
    let mut polls: Vec<PendingResponse> = (0..50)
        .map(|_| client.handle.submit(leader(1), FetchRequest::default(), deadline, RetryPolicy::lost()))
        .collect();
    client.harness.advance(ms(100));
    assert_eq!(client.harness.peer.count(ApiKey::Fetch), 50, "none waits for another");
    client.harness.advance(secs(1));
    assert!(polls.iter_mut().all(|poll| poll.try_take().is_some_and(|outcome| outcome.is_ok())));
}

#[test]
fn a_dropped_answer_gives_the_request_up() {
    let mut peer = peer();
    peer.broker(2).reach = Reach::Swallows;
    let mut client = Client::connected(peer, &config(1));
    drop(describe(&client, Target::Node(2), RetryPolicy::lost()));
    client.harness.advance(secs(1));
    client.harness.peer.broker(2).reach = Reach::Accepts;
    client.harness.advance(secs(60));
    assert_eq!(client.harness.peer.count(ApiKey::DescribeCluster), 0);
}

#[test]
fn a_classifier_decides_what_is_an_answer() {
    let mut client = Client::connected(peer(), &config(1));
    let mut answers = 0;
    let policy = RetryPolicy::classify(move |_| {
        answers += 1;
        if answers < 3 { Verdict::Retry(ErrorCode::REQUEST_TIMED_OUT) } else { Verdict::Done }
    });
    let pending = describe(&client, Target::Node(1), policy);
    assert_eq!(answered_by(&mut client, pending), 1);
    assert_eq!(client.harness.peer.count(ApiKey::DescribeCluster), 3);
}

#[test]
fn an_api_that_the_broker_does_not_have_fails_at_once() {
    let mut peer = peer();
    peer.broker(1).max_versions.insert(ApiKey::DescribeCluster as i16, -1);
    let mut client = Client::connected(peer, &config(1));
    let pending = describe(&client, Target::Node(1), RetryPolicy::lost());
    let failed = failure(&mut client, pending);
    assert!(matches!(failed, AdminError::Request(RequestFailure::UnsupportedVersion { .. })), "{failed}");
    assert!(client.harness.now <= START + secs(1));
}

#[test]
fn close_ends_everything() {
    let mut peer = peer();
    peer.broker(2).silent = true;
    let mut client = Client::connected(peer, &config(1));
    let mut waiting = describe(&client, Target::Node(2), RetryPolicy::lost());
    client.harness.advance(ms(50));
    client.handle.close();
    client.harness.poll();
    assert!(client.harness.engine.is_closed());
    assert!(matches!(waiting.try_take(), Some(Err(AdminError::Closed))));
    let mut late = describe(&client, Target::Any, RetryPolicy::lost());
    assert!(matches!(late.try_take(), Some(Err(AdminError::Closed))));
    assert!(client.handle.metadata().view().closed);
    assert_eq!(client.harness.engine.next_timeout(), None);
    assert_eq!(client.harness.peer.closes.len(), client.harness.peer.connects.len());
}

struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn an_answer_wakes_the_task_that_awaits_it() {
    let mut client = Client::connected(peer(), &config(1));
    let mut pending = describe(&client, Target::Node(1), RetryPolicy::never());
    let woken = Arc::new(Woken(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = Context::from_waker(&waker);
    assert!(Pin::new(&mut pending).poll(&mut cx).is_pending());
    client.harness.advance(ms(50));
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    assert!(matches!(Pin::new(&mut pending).poll(&mut cx), Poll::Ready(Ok(_))));
}

#[test]
fn an_engine_that_is_dropped_leaves_nobody_waiting() {
    let mut client = Client::connected(peer(), &config(1));
    client.harness.peer.broker(1).silent = true;
    let mut in_flight = describe(&client, Target::Node(1), RetryPolicy::lost());
    client.harness.advance(ms(50));
    let mut queued = describe(&client, Target::Node(1), RetryPolicy::lost());
    let Client { harness, handle } = client;
    let now = harness.now;
    assert!(in_flight.try_take().is_none() && queued.try_take().is_none());
    drop(harness);
    let mut refused =
        handle.submit(Target::Any, DescribeClusterRequest::default(), now + secs(30), RetryPolicy::lost());
    for pending in [&mut in_flight, &mut queued, &mut refused] {
        assert!(matches!(pending.try_take(), Some(Err(AdminError::Closed))));
    }
    let mut wait = MetadataWait::new("new", None, now + secs(30));
    let Poll::Ready(Err(error)) = wait.poll(handle.metadata(), now) else { panic!("it waits") };
    assert!(matches!(error, MetadataError::Fatal(_)), "{error}");
}

#[test]
fn in_all_topics_mode_the_view_holds_the_whole_cluster() {
    let (engine, handle) = AdminEngine::new(&config(1), MetadataTopics::All, 1, START);
    let mut peer = peer();
    peer.cluster.create("u", &[3]);
    let mut harness = Harness::new(engine, peer);
    harness.run_until(secs(1), |_| handle.metadata().view().version > 0);
    let names = |view: &milena_core::metadata::MetadataView| -> Vec<String> {
        view.cluster.topics().map(|topic| topic.name.to_string()).collect()
    };
    assert_eq!(names(&handle.metadata().view()), ["t", "u"]);
    // A topic that a full answer does not name any more was deleted.
    harness.peer.cluster.topics.remove("t");
    harness.advance(secs(301));
    assert_eq!(names(&handle.metadata().view()), ["u"]);
    let reports = handle.metadata().take_refreshes();
    assert!(
        reports.len() >= 2 && reports.iter().all(|report| report.topics.is_none() && report.error.is_none())
    );
}

#[test]
fn a_list_offsets_request_reaches_the_leader_in_a_version_that_both_know() {
    let mut peer = peer();
    peer.broker(2).max_versions.insert(ApiKey::ListOffsets as i16, 5);
    let mut client = Client::connected(peer, &config(1));
    let deadline = client.harness.now + secs(5);
    let mut pending =
        client.handle.submit(leader(1), ListOffsetsRequest::default(), deadline, RetryPolicy::lost());
    let mut version = None;
    client.harness.run_until(secs(5), |_| {
        version = pending.try_take().map(|outcome| outcome.expect("an answer").version);
        version.is_some()
    });
    assert_eq!(version, Some(5));
    assert_eq!(client.harness.peer.asked(ApiKey::ListOffsets)[0].broker, 2);
}
