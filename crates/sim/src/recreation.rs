//! The topic is deleted and created again under its name, again and again, while brokers are in trouble: one that is dead,
//! paused, or cut off when the topic is deleted comes back with replicas of a topic that is no more, and some go on serving
//! them until they know.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use milena_broker::engines::{ControllerError, CreateTopic};
use milena_broker::simulation::SimulatedBroker;
use milena_protocol::Uuid;
use milena_storage::FsyncPolicy;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::chance::Chance;
use crate::faults::{self, Fault};
use crate::note;
use crate::plan::TOPIC;
use crate::sim::Sim;

/// How long the controller is waited for before it is asked again.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a cluster that is whole may take to delete a topic and create it again.
const IN_TIME: Duration = Duration::from_secs(40);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Lets it happen until a time, and undoes what else has gone wrong; in the end there is a topic.
pub(crate) async fn happen(sim: &Arc<Sim>, mut chance: Chance, until: Instant) {
    let mut under_way = JoinSet::new();
    let mut partitions = sim.plan.partitions;
    while Instant::now() < until {
        let pause = chance.time(ms(100), ms(3_000));
        sleep_until(until.min(Instant::now() + pause)).await;
        for _ in 0..chance.pick(&[0, 1, 1, 1, 2]) {
            let fault = trouble(sim, &mut chance);
            let longest = until.saturating_duration_since(Instant::now());
            let lasts = chance.time(ms(50), sim.plan.session_timeout * 3).min(longest);
            under_way.spawn(fault.happen(sim.clone(), lasts));
        }
        // From before anybody has noticed to after everybody has.
        sleep(chance.time(Duration::ZERO, sim.plan.session_timeout + ms(500))).await;
        if !delete(sim, until).await {
            break;
        }
        // With clients that find nothing under its name, or with hardly time to notice.
        let longest = chance.pick(&[0, 50, 2_000]);
        sleep(chance.time(Duration::ZERO, ms(longest))).await;
        if chance.one_in(3) {
            partitions = (partitions + 1).min(sim.plan.partitions_max);
        }
        create(sim, &mut chance, partitions, until).await;
    }
    while under_way.join_next().await.is_some() {}
    faults::heal(sim).await;
    create(sim, &mut chance, partitions, Instant::now() + IN_TIME).await;
    if !sim.registry.cluster_state().topics.contains_key(TOPIC) {
        sim.history().broken.push("no controller creates the topic again".to_owned());
    }
}

/// What goes wrong with a broker, one that leads a partition most of the time.
fn trouble(sim: &Sim, chance: &mut Chance) -> Fault {
    let state = sim.registry.cluster_state();
    let leaders = state.topics.get(TOPIC).map(|topic| topic.partitions.iter().map(|one| one.leader));
    let leaders: Vec<i32> = leaders.into_iter().flatten().filter(|id| *id >= 0).collect();
    let broker = match leaders.is_empty() || chance.one_in(4) {
        true => chance.pick(&sim.plan.brokers),
        false => chance.pick(&leaders),
    };
    match chance.below(10) {
        0 | 1 => Fault::Unplug { broker },
        2 | 3 => Fault::Pause { broker },
        4 | 5 => Fault::CutOff { broker },
        6 if sim.plan.fsync == FsyncPolicy::EveryBatch => Fault::PowerCut { broker },
        6 | 7 => Fault::Kill { broker, is_abrupt: chance.percent(50) },
        8 => Fault::Island { broker },
        _ => Fault::SlowDisk { broker },
    }
}

/// Deletes the topic, and says whether that is done; gives up at `until`.
async fn delete(sim: &Arc<Sim>, until: Instant) -> bool {
    let Some(id) = sim.registry.cluster_state().topics.get(TOPIC).map(|topic| topic.id) else { return true };
    while sim.registry.cluster_state().topics.contains_key(TOPIC) {
        if Instant::now() >= until {
            return false;
        }
        ask_controller(sim, |broker| broker.delete_topic(id, PATIENCE)).await;
    }
    note!(sim.trace, "the topic {id} is deleted");
    true
}

/// Creates the topic with a new id; gives up at `until`.
async fn create(sim: &Arc<Sim>, chance: &mut Chance, partitions: i32, until: Instant) {
    let id = Uuid((u128::from(chance.number()) | 1 << 100).to_be_bytes());
    while !sim.registry.cluster_state().topics.contains_key(TOPIC) && Instant::now() < until {
        let alive: Vec<i32> = sim.registry.watch().borrow().brokers.keys().copied().collect();
        if alive.len() < sim.plan.min_in_sync {
            sleep(ms(100)).await;
            continue;
        }
        let topic = topic(sim, id, partitions, &alive, chance);
        ask_controller(sim, |broker| broker.create_topic(topic, PATIENCE)).await;
    }
    if sim.registry.cluster_state().topics.get(TOPIC).is_some_and(|topic| topic.id == id) {
        note!(sim.trace, "the topic {id} is created with {partitions} partitions");
    }
}

/// The topic to create, with its replicas anywhere among the brokers that are alive.
fn topic(sim: &Sim, id: Uuid, partitions: i32, alive: &[i32], chance: &mut Chance) -> CreateTopic {
    // With one broker less than there should be, there is a topic all the same.
    let replicas = alive.len().min(3);
    let mut assigned = |_| {
        let mut brokers = alive.to_vec();
        while brokers.len() > replicas {
            brokers.remove(chance.index(brokers.len()));
        }
        let first = chance.index(brokers.len());
        brokers.rotate_left(first);
        brokers
    };
    CreateTopic {
        name: TOPIC.to_owned(),
        id,
        num_partitions: -1,
        replication_factor: -1,
        assignments: (0..partitions).map(|partition| (partition, assigned(partition))).collect(),
        configs: vec![("min.insync.replicas".to_owned(), Some(sim.plan.min_in_sync.to_string()))],
    }
}

/// Has the controller do something, as a task of its broker; waits for it no longer than [`PATIENCE`], and a little in any
/// case.
async fn ask_controller<F>(sim: &Arc<Sim>, ask: impl FnOnce(&SimulatedBroker) -> F)
where
    F: Future<Output = Result<(), ControllerError>> + Send + 'static,
{
    sleep(ms(20)).await;
    let view = sim.registry.watch().borrow().clone();
    let host = view.controller.and_then(|controller| sim.host(controller.id));
    let (answer, answered) = tokio::sync::oneshot::channel();
    let asked = host.and_then(|host| {
        host.spawn(|broker| {
            let done = ask(broker);
            broker.spawn(async move {
                let _nobody_waits = answer.send(done.await);
            })
        })
    });
    let Some(asked) = asked else { return sleep(ms(100)).await };
    match timeout(PATIENCE + ms(100), answered).await {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(error))) => {
            note!(sim.trace, "the controller refuses: {error}");
            sleep(ms(200)).await;
        }
        Ok(Err(_)) => sleep(ms(200)).await,
        // It may be paused, and must not do it when it goes on.
        Err(_) => asked.abort(),
    }
}
