//! The controller's decisions, without a broker around them.

use milena_protocol::{ErrorCode, Uuid};

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use milena_storage::fs::MemoryFileSystem;

use super::{
    ConfigChange, ConfigOp, ControlBody, ControllerConfig, ControllerEngine, ControllerState, CreateTopic,
    Effect, TopicSelector,
};
use crate::metadata_cache::{BrokerInfo, LEADER_DURING_DELETE, MetadataUpdate};
use crate::registry::{RegisteredBroker, RegistryState, RegistryStore};
use crate::{Broker, BrokerConfig};

fn registered(ids: impl IntoIterator<Item = i32>, epoch: i64) -> BTreeMap<i32, RegisteredBroker> {
    let broker = |id| RegisteredBroker {
        epoch,
        info: BrokerInfo { id, rack: None, endpoints: Vec::new() },
        log_dir_failed: false,
    };
    ids.into_iter().map(|id| (id, broker(id))).collect()
}

fn update_of(effect: &Effect) -> Option<&MetadataUpdate> {
    match effect {
        Effect::Send(request) => match &request.body {
            ControlBody::UpdateMetadata(update) => Some(update),
            _ => None,
        },
        _ => None,
    }
}

fn is_role(effect: &Effect) -> bool {
    matches!(effect, Effect::Send(request) if matches!(request.body, ControlBody::LeaderAndIsr(_)))
}

fn elected(state: ControllerState, brokers: impl IntoIterator<Item = i32>) -> ControllerEngine {
    let epoch = i64::from(state.controller_epoch) + 1;
    elected_at(state, &registered(brokers, epoch))
}

fn elected_at(mut state: ControllerState, brokers: &BTreeMap<i32, RegisteredBroker>) -> ControllerEngine {
    state.controller_epoch += 1;
    let config = ControllerConfig {
        node_id: 1,
        default_partitions: 2,
        default_replication_factor: 1,
        unclean_leader_election: false,
        leader_rebalance: None,
        inter_broker_listener: "PLAINTEXT".to_owned(),
    };
    let mut engine = ControllerEngine::elected(config, Arc::new(state));
    engine.handle_brokers(brokers);
    effects(&mut engine);
    engine
}

/// What there is to do, all of it done at once.
fn effects(engine: &mut ControllerEngine) -> Vec<Effect> {
    let mut effects = Vec::new();
    while let Some(effect) = engine.poll_effect() {
        if let Effect::Send(request) = &effect {
            engine.handle_answer(request.id, &[]);
        }
        effects.push(effect);
    }
    effects
}

fn create(name: &str) -> CreateTopic {
    CreateTopic {
        name: name.to_owned(),
        id: Uuid([name.len() as u8; 16]),
        num_partitions: -1,
        replication_factor: -1,
        assignments: Vec::new(),
        configs: Vec::new(),
    }
}

fn refusal(engine: &mut ControllerEngine, request: CreateTopic) -> ErrorCode {
    let before = engine.state().clone();
    let error = engine.handle_create_topic(request, false).unwrap_err();
    assert!(effects(engine).is_empty());
    assert_eq!(*engine.state(), before);
    error.code
}

#[test]
fn a_new_topic_is_durable_then_led_then_announced() {
    let mut engine = elected(ControllerState::new("c".to_owned()), [1, 2, 3]);
    let request = CreateTopic { num_partitions: 3, replication_factor: 2, ..create("t") };
    let created = engine.handle_create_topic(request, false).unwrap();
    assert_eq!((created.num_partitions, created.replication_factor), (3, 2));

    let effects = effects(&mut engine);
    let position = |is: fn(&Effect) -> bool| effects.iter().position(is).unwrap();
    let last_role = effects.iter().rposition(is_role).unwrap();
    assert_eq!(position(|e| *e == Effect::Persist), 0);
    assert!(last_role < position(|e| update_of(e).is_some()));
    let told = effects.iter().filter_map(update_of).count();
    assert_eq!(told, 3, "every live broker hears of it");

    // The first live replica leads, the live replicas are in sync, the epoch is 0; leaders are spread.
    let partitions = &engine.state().topics["t"].partitions;
    let leaders: Vec<i32> = partitions.iter().map(|partition| partition.leader).collect();
    assert_eq!(leaders, [1, 2, 3]);
    for partition in partitions {
        assert_eq!((partition.leader, partition.leader_epoch), (partition.replicas[0], 0));
        assert_eq!(partition.isr, partition.replicas);
    }
}

#[test]
fn what_kafka_refuses_is_refused() {
    let mut engine = elected(ControllerState::new("c".to_owned()), [1, 2]);
    engine.handle_create_topic(create("a.b"), false).unwrap();
    effects(&mut engine);
    let config = |name: &str, value: Option<&str>| vec![(name.to_owned(), value.map(str::to_owned))];
    let assigned = |assignments| CreateTopic { assignments, ..create("t") };
    let cases = [
        (create("a.b"), ErrorCode::TOPIC_ALREADY_EXISTS),
        (create("a_b"), ErrorCode::INVALID_TOPIC_EXCEPTION),
        (create(".."), ErrorCode::INVALID_TOPIC_EXCEPTION),
        (CreateTopic { num_partitions: 0, ..create("t") }, ErrorCode::INVALID_PARTITIONS),
        (CreateTopic { num_partitions: -2, ..create("t") }, ErrorCode::INVALID_PARTITIONS),
        (CreateTopic { num_partitions: i32::MAX, ..create("t") }, ErrorCode::POLICY_VIOLATION),
        (CreateTopic { replication_factor: 3, ..create("t") }, ErrorCode::INVALID_REPLICATION_FACTOR),
        (CreateTopic { replication_factor: 0, ..create("t") }, ErrorCode::INVALID_REPLICATION_FACTOR),
        (
            CreateTopic { configs: config("retention.ms", Some("week")), ..create("t") },
            ErrorCode::INVALID_CONFIG,
        ),
        (CreateTopic { configs: config("no.such", Some("1")), ..create("t") }, ErrorCode::INVALID_CONFIG),
        (CreateTopic { configs: config("retention.ms", None), ..create("t") }, ErrorCode::INVALID_CONFIG),
        (assigned(vec![(1, vec![1])]), ErrorCode::INVALID_REPLICA_ASSIGNMENT),
        (assigned(vec![(0, vec![9])]), ErrorCode::INVALID_REPLICA_ASSIGNMENT),
        (assigned(vec![(0, vec![1, 1])]), ErrorCode::INVALID_REPLICA_ASSIGNMENT),
        (assigned(vec![(0, vec![])]), ErrorCode::INVALID_REPLICA_ASSIGNMENT),
        (assigned(vec![(0, vec![1]), (1, vec![1, 2])]), ErrorCode::INVALID_REPLICA_ASSIGNMENT),
        (CreateTopic { num_partitions: 1, ..assigned(vec![(0, vec![1])]) }, ErrorCode::INVALID_REQUEST),
    ];
    for (request, expected) in cases {
        let what = format!("{request:?}");
        assert_eq!(refusal(&mut engine, request), expected, "{what}");
    }
    let by_hand = assigned(vec![(1, vec![2, 1]), (0, vec![1, 2])]);
    engine.handle_create_topic(by_hand, false).unwrap();
    assert_eq!(engine.state().topics["t"].partitions[1].leader, 2);
}

#[test]
fn validating_changes_nothing() {
    let mut engine = elected(ControllerState::new("c".to_owned()), [1]);
    let before = engine.state().clone();
    assert_eq!(engine.handle_create_topic(create("t"), true).unwrap().num_partitions, 2);
    assert_eq!(*engine.state(), before);
    engine.handle_create_topic(create("t"), false).unwrap();
    effects(&mut engine);
    engine.handle_create_partitions("t", 5, None, true).unwrap();
    assert!(effects(&mut engine).is_empty());
    assert_eq!(engine.state().topics["t"].partitions.len(), 2);
}

#[test]
fn partitions_are_only_ever_added() {
    let mut engine = elected(ControllerState::new("c".to_owned()), [1]);
    engine.handle_create_topic(create("t"), false).unwrap();
    effects(&mut engine);
    let mut grow = |name: &str, count, assignments| {
        engine.handle_create_partitions(name, count, assignments, false).map_err(|error| error.code)
    };
    assert_eq!(grow("u", 3, None), Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
    assert_eq!(grow("t", 1, None), Err(ErrorCode::INVALID_PARTITIONS));
    assert_eq!(grow("t", 2, None), Err(ErrorCode::INVALID_PARTITIONS));
    assert_eq!(grow("t", -1, None), Err(ErrorCode::INVALID_PARTITIONS));
    assert_eq!(grow("t", i32::MAX, None), Err(ErrorCode::POLICY_VIOLATION));
    assert_eq!(grow("t", 4, Some(vec![vec![1]])), Err(ErrorCode::INVALID_REPLICA_ASSIGNMENT));
    assert_eq!(grow("t", 4, Some(vec![vec![1], vec![1]])), Ok(()));
    assert_eq!(engine.state().topics["t"].partitions.len(), 4);
    let effects = effects(&mut engine);
    let announced = effects.iter().find_map(update_of).map(|update| &update.topics[0].partitions);
    let numbers: Vec<i32> = announced.unwrap().iter().map(|partition| partition.partition).collect();
    assert_eq!(numbers, [2, 3], "only the new ones are news");
}

#[test]
fn partitions_that_are_added_have_as_many_replicas_as_the_others() {
    let mut engine = elected(ControllerState::new("c".to_owned()), [1, 2, 3]);
    let request = CreateTopic { num_partitions: 1, replication_factor: 3, ..create("t") };
    engine.handle_create_topic(request, false).unwrap();
    effects(&mut engine);
    let grow = |engine: &mut ControllerEngine, count, assignments| {
        engine.handle_create_partitions("t", count, assignments, false).map_err(|error| error.code)
    };
    assert_eq!(grow(&mut engine, 2, Some(vec![vec![1]])), Err(ErrorCode::INVALID_REPLICA_ASSIGNMENT));
    let epoch = i64::from(engine.controller_epoch());
    engine.handle_brokers(&registered([1, 2], epoch));
    effects(&mut engine);
    assert_eq!(grow(&mut engine, 2, None), Err(ErrorCode::INVALID_REPLICATION_FACTOR), "3 is dead");
    engine.handle_brokers(&registered([1, 2, 3, 4], epoch));
    engine.handle_alter_reassignment("t", 0, Some(vec![4, 2, 3]), false).unwrap();
    assert_eq!(grow(&mut engine, 2, None), Ok(()));
    let added = engine.state().partition("t", 1).unwrap();
    assert_eq!(added.replicas.len(), 3, "and not what a reassignment has for a while");
}

#[test]
fn a_deleted_topic_is_withdrawn_before_its_logs_go() {
    let mut engine = elected(ControllerState::new("c".to_owned()), [1]);
    engine.handle_create_topic(create("t"), false).unwrap();
    effects(&mut engine);
    let id = Uuid([1; 16]);
    assert_eq!(engine.handle_delete_topic(&TopicSelector::Id(id)).unwrap(), ("t".to_owned(), id));
    let effects = effects(&mut engine);
    let [Effect::Persist, update, Effect::Send(stop), Effect::TopicConfigs { .. }, Effect::Persist] =
        &effects[..]
    else {
        panic!("{effects:?}")
    };
    let (Some(update), ControlBody::StopReplica(stop)) = (update_of(update), &stop.body) else {
        panic!("{effects:?}")
    };
    assert!(engine.state().deleting.is_empty(), "everybody has forgotten it");
    assert!(update.topics[0].partitions.iter().all(|partition| partition.leader == LEADER_DURING_DELETE));
    let stopped: Vec<_> = stop.topics[0].partitions.iter().map(|p| (p.partition, p.delete)).collect();
    assert_eq!(stopped, [(0, true), (1, true)]);
    for (selector, code) in [
        (TopicSelector::Name("t".to_owned()), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        (TopicSelector::Id(id), ErrorCode::UNKNOWN_TOPIC_ID),
    ] {
        assert_eq!(engine.handle_delete_topic(&selector).unwrap_err().code, code);
    }
}

#[test]
fn the_state_is_read_as_it_was_saved_and_epochs_rise() {
    let dir = tempfile::tempdir().unwrap();
    let store =
        RegistryStore::new(milena_storage::fs::RealFileSystem::shared(), dir.path(), "controller.json");
    assert_eq!(store.load().unwrap(), None);
    let mut engine = elected(ControllerState::new("c".to_owned()), [1]);
    engine.handle_create_topic(create("t"), false).unwrap();
    let saved = RegistryState { next_broker_epoch: 7, next_producer_id: 9, cluster: engine.state().clone() };
    store.save(&saved).unwrap();

    let state = store.load().unwrap().unwrap();
    assert_eq!(state, saved);
    let next = elected(ControllerState::clone(&state.cluster), [1]);
    assert_eq!(next.state().controller_epoch, engine.state().controller_epoch + 1);
    assert_eq!(next.state().topics["t"].partitions[0].leader_epoch, 1, "led again, in a new epoch");
}

#[test]
fn a_state_of_another_version_is_refused_and_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let store =
        RegistryStore::new(milena_storage::fs::RealFileSystem::shared(), dir.path(), "controller.json");
    for content in ["{\"version\":2,\"state\":{}}", "{\"version\":1,\"state\":{}}", "garbage"] {
        std::fs::write(dir.path().join("controller.json"), content).unwrap();
        let error = store.load().unwrap_err().to_string();
        assert!(error.contains("controller.json"), "{error}");
    }
}

#[test]
fn the_file_of_a_broker_that_was_alone_before_there_were_clusters_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let store =
        RegistryStore::new(milena_storage::fs::RealFileSystem::shared(), dir.path(), "controller.json");
    let partition = r#"{"replicas":[1],"isr":[1],"leader":1,"leader_epoch":4}"#;
    let topic = format!(r#"{{"id":"{}","partitions":[{partition}]}}"#, Uuid([1; 16]));
    let state =
        format!(r#"{{"cluster_id":"c","controller_epoch":3,"next_producer_id":5,"topics":{{"t":{topic}}}}}"#);
    let file = format!(r#"{{"version":1,"state":{state}}}"#);
    std::fs::write(dir.path().join("controller.json"), file).unwrap();
    let state = store.load().unwrap().unwrap();
    assert_eq!((state.next_broker_epoch, state.next_producer_id, state.cluster.controller_epoch), (1, 5, 3));
    let engine = elected(ControllerState::clone(&state.cluster), [1]);
    let partition = &engine.state().topics["t"].partitions[0];
    assert_eq!((partition.leader, partition.leader_epoch, partition.partition_epoch), (1, 5, 1));
}

#[test]
fn settings_change_all_together_or_not_at_all() {
    let mut engine = elected(ControllerState::new("c".to_owned()), [1]);
    engine.handle_create_topic(create("t"), false).unwrap();
    effects(&mut engine);
    let change = |name: &str, op, value: Option<&str>| ConfigChange {
        name: name.to_owned(),
        op,
        value: value.map(str::to_owned),
    };
    let set = |name: &str, value| change(name, ConfigOp::Set, Some(value));
    let good = vec![set("retention.ms", "1000"), change("cleanup.policy", ConfigOp::Append, Some("compact"))];
    engine.handle_incremental_alter_configs("t", good.clone(), true).unwrap();
    assert!(effects(&mut engine).is_empty());
    engine.handle_incremental_alter_configs("t", good, false).unwrap();
    let configs = engine.state().topics["t"].configs.clone();
    assert_eq!((&*configs["retention.ms"], &*configs["cleanup.policy"]), ("1000", "delete,compact"));
    let told = effects(&mut engine);
    assert!(matches!(&told[..], [Effect::Persist, Effect::TopicConfigs { .. }]), "{told:?}");

    let bad = [
        ("t", vec![set("retention.ms", "5"), set("no.such", "1")], ErrorCode::INVALID_CONFIG),
        ("t", vec![change("retention.ms", ConfigOp::Append, Some("5"))], ErrorCode::INVALID_CONFIG),
        ("t", vec![change("retention.ms", ConfigOp::Set, None)], ErrorCode::INVALID_CONFIG),
        ("t", vec![set("retention.ms", "5"), set("retention.ms", "6")], ErrorCode::INVALID_REQUEST),
        ("u", vec![set("retention.ms", "5")], ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
    ];
    for (topic, changes, code) in bad {
        let refused = engine.handle_incremental_alter_configs(topic, changes, false);
        assert_eq!(refused.unwrap_err().code, code);
        assert_eq!(engine.state().topics["t"].configs, configs);
    }
    let back = vec![
        change("retention.ms", ConfigOp::Delete, None),
        change("cleanup.policy", ConfigOp::Subtract, Some("delete")),
    ];
    engine.handle_incremental_alter_configs("t", back, false).unwrap();
    let configs = &engine.state().topics["t"].configs;
    assert_eq!(configs.iter().collect::<Vec<_>>(), [(&"cleanup.policy".to_owned(), &"compact".to_owned())]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_is_alone_returns_to_the_office_that_it_had_to_give_up() {
    let file_system = MemoryFileSystem::shared();
    let broker = Broker::start(BrokerConfig { file_system, ..BrokerConfig::new("alone") }).await.unwrap();
    let controller = broker.node().controller.clone();
    // What time wants done may bring it back at once.
    controller.clone().replaced(1).await;
    controller.create_topics(vec![create("t")], false, Duration::from_secs(90)).await.remove(0).unwrap();
    assert!(controller.is_active());
    assert!(broker.node().registry.cluster_state().controller_epoch > 1, "another office");
    broker.shutdown().await.unwrap();
}

/// How many requests of each kind there are to each broker, all of them answered.
fn sent(engine: &mut ControllerEngine) -> BTreeMap<(i32, &'static str), usize> {
    let mut sent = BTreeMap::new();
    for effect in effects(engine) {
        let Effect::Send(request) = effect else { continue };
        let kind = match request.body {
            ControlBody::LeaderAndIsr(_) => "LeaderAndIsr",
            ControlBody::UpdateMetadata(_) => "UpdateMetadata",
            ControlBody::StopReplica(_) => "StopReplica",
        };
        *sent.entry((request.broker, kind)).or_default() += 1;
    }
    sent
}

#[test]
fn a_broker_hears_at_once_of_all_that_a_request_does() {
    let mut engine = elected(ControllerState::new("c".to_owned()), 1..=2);
    // Ids follow the length.
    let names: Vec<String> = (1..50).map(|len| "t".repeat(len)).collect();
    let replicated = |name: &String| CreateTopic { replication_factor: 2, ..create(name) };
    engine.together(|engine| {
        for name in &names {
            engine.handle_create_topic(replicated(name), false).unwrap();
        }
        engine.handle_create_topic(replicated(&names[0]), false).unwrap_err();
    });
    assert!(names.iter().all(|name| !engine.is_settled(name)), "every broker has to hear of each");
    let both = |kinds: [&'static str; 2]| kinds.map(|kind| [((1, kind), 1), ((2, kind), 1)]).concat();
    assert_eq!(sent(&mut engine), both(["LeaderAndIsr", "UpdateMetadata"]).into_iter().collect());
    assert!(names.iter().all(|name| engine.is_settled(name)));
    engine.together(|engine| {
        for name in &names {
            engine.handle_delete_topic(&TopicSelector::Name(name.clone())).unwrap();
        }
    });
    assert_eq!(sent(&mut engine), both(["StopReplica", "UpdateMetadata"]).into_iter().collect());
    assert!(engine.state().deleting.is_empty());
    engine.together(|engine| engine.handle_delete_topic(&TopicSelector::Name("t".to_owned())).unwrap_err());
    assert_eq!(engine.poll_effect(), None, "nothing was decided");
}
