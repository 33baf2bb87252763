//! Single requests that fare otherwise.

use milena_protocol::messages::{
    ApiVersionsRequest, DescribeConfigsRequest, FetchRequest, MetadataRequest, ProduceRequest,
};
use milena_protocol::{ApiKey, Request};

use super::faults_tests::{address, connect, end_offset, produce, produce_request, three_brokers};
use super::*;
use crate::{Intercept, InterceptAction};

/// What each connection of these tests calls itself.
const CLIENT_ID: &str = "milena-broker";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_is_answered_as_often_as_asked_and_to_whom() {
    let cluster = three_brokers().await;
    let leader = cluster.leader("orders", 0).unwrap();
    let other = cluster.broker_ids().into_iter().find(|id| *id != leader).unwrap();
    let mut client = connect(address(&cluster, leader)).await;
    let request = produce_request(&cluster, 0, 10);
    let error = || InterceptAction::error(ErrorCode::NOT_ENOUGH_REPLICAS);
    let on = || Intercept::on(ApiKey::Produce);
    let _not_it = cluster.intercept(on().client_id("another"), error()).unwrap();
    let _not_there = cluster.intercept(on().broker(other), error()).unwrap();
    let twice = cluster.intercept(on().client_id(CLIENT_ID).broker(leader).times(2), error()).unwrap();
    for expected in [ErrorCode::NOT_ENOUGH_REPLICAS, ErrorCode::NOT_ENOUGH_REPLICAS, ErrorCode::NONE] {
        assert_eq!(produce(&mut client, &request).await, expected);
    }
    assert_eq!(end_offset(&cluster, leader), 1, "a refused record is in the log");
    drop(twice);
    let guard = cluster.intercept(on(), error()).unwrap();
    assert_eq!(produce(&mut client, &request).await, ErrorCode::NOT_ENOUGH_REPLICAS);
    assert_eq!(cluster.faults(leader).unwrap().len(), 2);
    drop(guard);
    assert_eq!(produce(&mut client, &request).await, ErrorCode::NONE);
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_changed_or_made_up() {
    let cluster = EmbeddedCluster::builder().brokers(1).start().await.unwrap();
    let mut client = connect(address(&cluster, 1)).await;
    let elsewhere = InterceptAction::change::<MetadataRequest>(|response| {
        for broker in &mut response.brokers {
            broker.host = "elsewhere".to_owned();
        }
    });
    let changed = cluster.intercept(Intercept::on(ApiKey::Metadata), elsewhere).unwrap();
    let all = MetadataRequest { topics: None, ..Default::default() };
    assert_eq!(client.call(12, &all).await.unwrap().brokers[0].host, "elsewhere");
    drop(changed);
    assert_eq!(client.call(12, &all).await.unwrap().brokers[0].host, "127.0.0.1");

    let nothing = InterceptAction::answer::<MetadataRequest>(|_| Default::default());
    let _made_up = cluster.intercept(Intercept::on(ApiKey::Metadata).times(1), nothing).unwrap();
    assert!(client.call(12, &all).await.unwrap().brokers.is_empty());
    assert_eq!(client.call(12, &all).await.unwrap().brokers.len(), 1);
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_request_is_not_done_and_a_lost_answer_is() {
    let cluster = three_brokers().await;
    let leader = cluster.leader("orders", 0).unwrap();
    let on = || Intercept::on(ApiKey::Produce).client_id(CLIENT_ID).times(1);
    for (action, appended) in [(InterceptAction::lose_request(), 0), (InterceptAction::lose_answer(), 1)] {
        let _lost = cluster.intercept(on(), action).unwrap();
        let mut client = connect(address(&cluster, leader)).await;
        let request = produce_request(&cluster, 0, 10);
        let unanswered = tokio::spawn(async move { produce(&mut client, &request).await });
        // Taken when it has come in.
        let taken = |cluster: &EmbeddedCluster| cluster.intercepts.are_used_up();
        cluster.wait("the request", taken).await.unwrap();
        cluster.wait("its record", |cluster| end_offset(cluster, leader) == appended).await.unwrap();
        // All that the leader does behind it is done on other connections.
        let mut client = connect(address(&cluster, leader)).await;
        client.call(0, &ApiVersionsRequest::default()).await.unwrap();
        assert!(!unanswered.is_finished());
        unanswered.abort();
    }
    assert_eq!(end_offset(&cluster, leader), 1);
    let _broken = cluster.intercept(on(), InterceptAction::disconnect()).unwrap();
    let mut client = connect(address(&cluster, leader)).await;
    client.call(13, &produce_request(&cluster, 0, 10)).await.unwrap_err();
    assert_eq!(end_offset(&cluster, leader), 1);
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delayed_request_goes_on_when_the_guard_is_dropped() {
    let cluster = EmbeddedCluster::builder().brokers(1).start().await.unwrap();
    let hour = InterceptAction::delay(Duration::from_hours(1));
    let guard = cluster.intercept(Intercept::on(ApiKey::ApiVersions).times(1), hour).unwrap();
    let mut client = connect(address(&cluster, 1)).await;
    let delayed = tokio::spawn(async move { client.call(0, &ApiVersionsRequest::default()).await });
    cluster.wait("the request", |cluster| cluster.intercepts.are_used_up()).await.unwrap();
    let mut other = connect(address(&cluster, 1)).await;
    other.call(0, &ApiVersionsRequest::default()).await.unwrap();
    assert!(!delayed.is_finished());
    drop(guard);
    delayed.await.unwrap().unwrap();
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_intercept_is_shown_with_what_is_left_of_it() {
    let cluster = EmbeddedCluster::builder().brokers(1).start().await.unwrap();
    let twice = Intercept::on(ApiKey::ApiVersions).times(2);
    let _guard = cluster.intercept(twice, InterceptAction::disconnect()).unwrap();
    for left in [
        &["intercepts ApiVersions: disconnect (2 more)"][..],
        &["intercepts ApiVersions: disconnect (1 more)"],
        &[],
    ] {
        assert_eq!(cluster.faults(1).unwrap(), left);
        let answer = connect(address(&cluster, 1)).await.call(0, &ApiVersionsRequest::default()).await;
        assert_eq!(answer.is_ok(), left.is_empty());
    }
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_answered_is_said_at_once() {
    let cluster = EmbeddedCluster::builder().brokers(1).start().await.unwrap();
    let of_fetch = InterceptAction::change::<FetchRequest>(|_| ());
    let refused = cluster.intercept(Intercept::on(ProduceRequest::API_KEY), of_fetch).unwrap_err();
    assert!(refused.to_string().contains("Fetch"), "{refused}");
    let error = InterceptAction::error(ErrorCode::UNKNOWN_SERVER_ERROR);
    let refused = cluster.intercept(Intercept::on(DescribeConfigsRequest::API_KEY), error).unwrap_err();
    assert!(refused.to_string().contains("DescribeConfigs"), "{refused}");
    let never = Intercept::on(ApiKey::Produce).times(0);
    let refused = cluster.intercept(never, InterceptAction::disconnect()).unwrap_err();
    assert!(refused.to_string().contains("first 0"), "{refused}");
    let nowhere = Intercept::on(ApiKey::Produce).broker(7);
    let refused = cluster.intercept(nowhere, InterceptAction::lose_answer()).unwrap_err();
    assert!(matches!(refused, ClusterError::UnknownBroker { id: 7, .. }), "{refused}");
    cluster.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_refuses_its_controller_is_told_again() {
    let cluster = three_brokers().await;
    let controller = cluster.controller().unwrap();
    let other = cluster.broker_ids().into_iter().find(|id| *id != controller).unwrap();
    for api in [ApiKey::LeaderAndIsr, ApiKey::UpdateMetadata] {
        let refusal = InterceptAction::error(ErrorCode::UNKNOWN_SERVER_ERROR);
        let _twice = cluster.intercept(Intercept::on(api).broker(other).times(2), refusal).unwrap();
        cluster.create_topic(&format!("after-{}", api.name()), 3, 3).await.unwrap();
        assert!(cluster.intercepts.are_used_up());
    }
    assert_eq!(cluster.controller(), Some(controller));

    // If it says that there is a later controller, somebody has to be elected.
    let refusal = InterceptAction::error(ErrorCode::STALE_CONTROLLER_EPOCH);
    let on = Intercept::on(ApiKey::LeaderAndIsr).broker(other).times(1);
    let _once = cluster.intercept(on, refusal).unwrap();
    cluster.create_topic("led", 3, 3).await.unwrap();
    assert!(cluster.intercepts.are_used_up());
    cluster.create_topic("by-another", 3, 3).await.unwrap();
    cluster.shutdown().await.unwrap();
}
