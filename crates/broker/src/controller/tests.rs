//! The controller's decisions, without a broker around them.

use milena_protocol::{ErrorCode, Uuid};

use super::engine::{ControllerEngine, CreateTopic, Effect, TopicSelector};
use super::state::ControllerState;
use super::store::ControllerStore;
use crate::metadata_cache::{BrokerInfo, LEADER_DURING_DELETE};

fn broker(id: i32) -> BrokerInfo {
    BrokerInfo { id, rack: None, endpoints: Vec::new() }
}

fn elected(state: ControllerState, brokers: impl IntoIterator<Item = i32>) -> ControllerEngine {
    let mut engine = ControllerEngine::elected(1, 2, 1, state);
    for id in brokers {
        engine.handle_broker_joined(broker(id));
    }
    effects(&mut engine);
    engine
}

fn effects(engine: &mut ControllerEngine) -> Vec<Effect> {
    std::iter::from_fn(|| engine.poll_effect()).collect()
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
    let last_role = effects.iter().rposition(|e| matches!(e, Effect::LeaderAndIsr(_))).unwrap();
    assert_eq!(position(|e| *e == Effect::Persist), 0);
    assert!(last_role < position(|e| matches!(e, Effect::UpdateMetadata { .. })));
    let told = effects.iter().filter(|e| matches!(e, Effect::UpdateMetadata { .. })).count();
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
    let announced = effects.iter().find_map(|effect| match effect {
        Effect::UpdateMetadata { update, .. } => Some(&update.topics[0].partitions),
        _ => None,
    });
    let numbers: Vec<i32> = announced.unwrap().iter().map(|partition| partition.partition).collect();
    assert_eq!(numbers, [2, 3], "only the new ones are news");
}

#[test]
fn a_deleted_topic_is_withdrawn_before_its_logs_go() {
    let mut engine = elected(ControllerState::new("c".to_owned()), [1]);
    engine.handle_create_topic(create("t"), false).unwrap();
    effects(&mut engine);
    let id = Uuid([1; 16]);
    assert_eq!(engine.handle_delete_topic(&TopicSelector::Id(id)).unwrap(), ("t".to_owned(), id));
    let effects = effects(&mut engine);
    let [
        Effect::Persist,
        Effect::UpdateMetadata { update, .. },
        Effect::StopReplica(stop),
        Effect::TopicConfigs { .. },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert!(update.topics[0].partitions.iter().all(|partition| partition.leader == LEADER_DURING_DELETE));
    assert_eq!(stop.partitions, [0, 1]);
    for (selector, code) in [
        (TopicSelector::Name("t".to_owned()), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        (TopicSelector::Id(id), ErrorCode::UNKNOWN_TOPIC_ID),
    ] {
        assert_eq!(engine.handle_delete_topic(&selector).unwrap_err().code, code);
    }
}

#[test]
fn epochs_rise_and_producer_ids_are_given_once_across_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let store = ControllerStore::new(milena_storage::fs::RealFileSystem::shared(), dir.path());
    assert_eq!(store.load().unwrap(), None);
    let mut engine = elected(ControllerState::new("c".to_owned()), [1]);
    engine.handle_create_topic(create("t"), false).unwrap();
    let first = engine.handle_allocate_producer_ids().unwrap();
    store.save(engine.state()).unwrap();

    let state = store.load().unwrap().unwrap();
    assert_eq!(state, **engine.state());
    let mut next = elected(state, [1]);
    assert_eq!(next.state().controller_epoch, engine.state().controller_epoch + 1);
    assert_eq!(next.state().topics["t"].partitions[0].leader_epoch, 1, "led again, in a new epoch");
    let second = next.handle_allocate_producer_ids().unwrap();
    assert_eq!(second.start, first.end);
}

#[test]
fn a_state_of_another_version_is_refused_and_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let store = ControllerStore::new(milena_storage::fs::RealFileSystem::shared(), dir.path());
    for content in ["{\"version\":2,\"state\":{}}", "{\"version\":1,\"state\":{}}", "garbage"] {
        std::fs::write(dir.path().join("controller.json"), content).unwrap();
        let error = store.load().unwrap_err().to_string();
        assert!(error.contains("controller.json"), "{error}");
    }
}
