//! The registry in virtual time.

use std::sync::Arc;
use std::time::Duration;

use milena_storage::fs::MemoryFileSystem;

use super::{RegistryConfig, RegistryEngine, RegistryError, RegistryState, RegistryStore};
use crate::controller::ControllerState;
use crate::metadata_cache::BrokerInfo;

const TIMEOUT: Duration = Duration::from_secs(9);

fn broker(id: i32) -> BrokerInfo {
    BrokerInfo { id, rack: None, endpoints: Vec::new() }
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn registry(state: RegistryState) -> RegistryEngine {
    RegistryEngine::new(RegistryConfig { session_timeout: TIMEOUT }, state)
}

fn new_registry() -> RegistryEngine {
    registry(RegistryState::new("c".to_owned()))
}

#[test]
fn a_session_lives_as_long_as_its_broker_is_heard() {
    let mut registry = new_registry();
    let one = registry.register(broker(1), at(0)).broker_epoch;
    let two = registry.register(broker(2), at(0)).broker_epoch;
    assert_eq!(registry.next_expiry(), Some(at(9)));
    registry.heartbeat(1, one, at(8)).unwrap();
    registry.tick(at(9));
    assert_eq!(registry.view().brokers.into_keys().collect::<Vec<_>>(), [1]);
    assert_eq!(registry.heartbeat(2, two, at(9)), Err(RegistryError::NoSession { broker: 2, epoch: two }));
    // A heartbeat that comes too late does not bring the dead back, even if nobody looked in between.
    assert_eq!(registry.heartbeat(1, one, at(30)), Err(RegistryError::NoSession { broker: 1, epoch: one }));
    assert!(registry.view().brokers.is_empty());
}

#[test]
fn a_registry_that_stood_still_ends_no_session_for_it() {
    let mut registry = new_registry();
    let one = registry.register(broker(1), at(0)).broker_epoch;
    registry.register(broker(2), at(5));
    registry.forgive(at(20));
    registry.heartbeat(1, one, at(28)).unwrap();
    assert_eq!(registry.next_expiry(), Some(at(34)), "the other one's, at 14 s");
    registry.tick(at(34));
    assert_eq!(registry.view().brokers.into_keys().collect::<Vec<_>>(), [1]);
}

#[test]
fn a_session_may_last_for_ever() {
    let config = RegistryConfig { session_timeout: Duration::MAX };
    let mut registry = RegistryEngine::new(config, RegistryState::new("c".to_owned()));
    let one = registry.register(broker(1), at(1)).broker_epoch;
    registry.forgive(at(1));
    registry.heartbeat(1, one, at(2)).unwrap();
    registry.tick(at(1_000_000));
    assert_eq!(registry.view().brokers.len(), 1);
}

#[test]
fn a_state_of_any_size_is_read_again() {
    let store = RegistryStore::new(MemoryFileSystem::shared(), "".as_ref(), "cluster.json");
    let state = RegistryState::new("c".repeat(65 << 20));
    store.save(&state).unwrap();
    assert!(store.load().unwrap() == Some(state), "another state is read than was saved");
}

#[test]
fn a_failed_log_directory_is_seen_until_its_broker_registers_again() {
    let mut registry = new_registry();
    let first = registry.register(broker(1), at(0)).broker_epoch;
    registry.elect(1, first).unwrap();
    registry.log_dir_failed(1, first).unwrap();
    let failed = |registry: &RegistryEngine| registry.view().brokers[&1].log_dir_failed;
    assert!(failed(&registry));
    assert!(registry.view().controller.is_some(), "an office needs no log");
    registry.heartbeat(1, first, at(8)).unwrap();
    registry.tick(at(9));
    assert!(failed(&registry));
    let second = registry.register(broker(1), at(10)).broker_epoch;
    assert!(!failed(&registry));
    assert_eq!(
        registry.log_dir_failed(1, first),
        Err(RegistryError::NoSession { broker: 1, epoch: first }),
        "word of an earlier life, not of {second}"
    );
}

#[test]
fn controller_15_a_bounce_within_the_session_shows_in_the_epoch() {
    let mut registry = new_registry();
    let first = registry.register(broker(1), at(0)).broker_epoch;
    let (controller, _) = registry.elect(1, first).unwrap();
    let second = registry.register(broker(1), at(1)).broker_epoch;
    assert!(second > first);
    let view = registry.view();
    assert_eq!(view.brokers[&1].epoch, second);
    assert_eq!(view.controller, None, "the controller {controller:?} ended with the process that it ran in");
    // What is left of the old process has no say any more.
    assert!(registry.heartbeat(1, first, at(2)).is_err());
    assert!(registry.unregister(1, first).is_err());
    assert!(registry.elect(1, first).is_err());
    assert_eq!(registry.view(), view);
}

#[test]
fn controller_16_the_epoch_rises_with_each_move_and_survives_a_total_outage() {
    let mut registry = new_registry();
    let one = registry.register(broker(1), at(0)).broker_epoch;
    let two = registry.register(broker(2), at(5)).broker_epoch;
    let (first, state) = registry.elect(1, one).unwrap();
    assert_eq!((first.epoch, state.controller_epoch), (1, 1));
    assert_eq!(registry.elect(2, two), Err(RegistryError::ControllerExists(first)));
    assert_eq!(registry.elect(1, one), Err(RegistryError::ControllerExists(first)));

    registry.tick(at(9));
    let (second, _) = registry.elect(2, two).unwrap();
    assert_eq!((second.id, second.epoch), (2, 2));
    registry.resign(first);
    assert_eq!(registry.view().controller, Some(second), "only the controller itself resigns");

    // Everybody dies; what is durable is all that is left.
    assert!(registry.take_needs_persist());
    let mut registry = self::registry(registry.state().clone());
    let again = registry.register(broker(1), at(100));
    assert!(again.broker_epoch > two, "broker epochs never come twice");
    assert_eq!(again.controller_epoch, 2, "the broker refuses what an earlier controller may still send");
    assert_eq!(registry.elect(1, again.broker_epoch).unwrap().0.epoch, 3);
}

#[test]
fn fencing_08_a_controller_that_was_replaced_writes_nothing() {
    let mut registry = new_registry();
    let one = registry.register(broker(1), at(0)).broker_epoch;
    let (_, old) = registry.elect(1, one).unwrap();
    let two = registry.register(broker(2), at(9)).broker_epoch;
    registry.tick(at(9));
    let (_, new) = registry.elect(2, two).unwrap();
    assert!(registry.take_needs_persist());

    let late = ControllerState { cluster_id: "late".to_owned(), ..ControllerState::clone(&old) };
    let refused = registry.write(Arc::new(late));
    assert_eq!(refused, Err(RegistryError::StaleControllerEpoch { epoch: 1, current: 2 }));
    assert!(!registry.take_needs_persist());
    assert_eq!(registry.state().cluster, new);

    let next = ControllerState { broker_epochs: [(2, two)].into(), ..ControllerState::clone(&new) };
    registry.write(Arc::new(next)).unwrap();
    assert!(registry.take_needs_persist());
    assert_eq!(registry.state().cluster.broker_epochs[&2], two);
}

#[test]
fn a_producer_id_is_given_once() {
    let mut registry = new_registry();
    let first = registry.allocate_producer_ids().unwrap();
    assert!(registry.take_needs_persist());
    let mut registry = self::registry(registry.state().clone());
    let second = registry.allocate_producer_ids().unwrap();
    assert_eq!(second.start, first.end);
    let spent = RegistryState { next_producer_id: i64::MAX, ..registry.state().clone() };
    let mut registry = self::registry(spent);
    assert_eq!(registry.allocate_producer_ids(), Err(RegistryError::NoProducerIds));
    assert!(!registry.take_needs_persist());
}
