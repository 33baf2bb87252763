//! [`Scenario`]: which kind of trouble a run is about.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use crate::chance::Chance;
use crate::faults::{self, Fault};
use crate::host::Ending;
use crate::network::Place;
use crate::note;
use crate::plan::TOPIC;
use crate::recreation;
use crate::sim::Sim;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Which kind of trouble a run is about. All but the first go for whoever leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scenario {
    /// Everything that can go wrong, at random.
    #[default]
    Random,
    /// A leader's machine dies and answers nothing any more, not even with a reset.
    DeadHost,
    /// A leader is paused for longer than its session, and goes on as if nothing had been.
    Zombie,
    /// Clients cannot reach a leader that the cluster finds alive.
    PartialPartition,
    /// Packets get from a leader to the others, and not back; or the other way round.
    Asymmetric,
    /// A leader is a hundred times as slow, and not dead.
    SlowBroker,
    /// A leader comes and goes.
    Flapping,
    /// Leaderships move on and on.
    LeadersFlip,
    /// Every broker is replaced by another one.
    AllReplaced,
    /// The topic is deleted and created again under its name, while brokers are in trouble that miss it.
    TopicRecreated,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Random,
        Self::DeadHost,
        Self::Zombie,
        Self::PartialPartition,
        Self::Asymmetric,
        Self::SlowBroker,
        Self::Flapping,
        Self::LeadersFlip,
        Self::AllReplaced,
        Self::TopicRecreated,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::DeadHost => "dead-host",
            Self::Zombie => "zombie",
            Self::PartialPartition => "partial-partition",
            Self::Asymmetric => "asymmetric",
            Self::SlowBroker => "slow-broker",
            Self::Flapping => "flapping",
            Self::LeadersFlip => "leaders-flip",
            Self::AllReplaced => "all-replaced",
            Self::TopicRecreated => "topic-recreated",
        }
    }

    /// Lets it happen until a time, and undoes it.
    pub(crate) async fn happen(self, sim: &Arc<Sim>, mut chance: Chance, until: Instant) {
        match self {
            Self::Random => return faults::happen(sim, chance, until).await,
            Self::AllReplaced => replace_all(sim, until).await,
            Self::TopicRecreated => return recreation::happen(sim, chance, until).await,
            _ => {
                while Instant::now() < until {
                    let pause = chance.time(ms(100), ms(3_000));
                    sleep_until(until.min(Instant::now() + pause)).await;
                    if let Some(leader) = some_leader(sim, &mut chance) {
                        self.trouble(sim, leader, &mut chance, until).await;
                    }
                }
            }
        }
        faults::heal(sim).await;
    }

    async fn trouble(self, sim: &Arc<Sim>, broker: i32, chance: &mut Chance, until: Instant) {
        let session = sim.plan.session_timeout;
        let fault = match self {
            Self::Zombie => Fault::Pause { broker },
            Self::PartialPartition => Fault::ClientsCut { broker },
            Self::SlowBroker => Fault::Slow { broker, factor: 100 },
            Self::Asymmetric => {
                let others: Vec<i32> = sim.plan.brokers.iter().copied().filter(|id| *id != broker).collect();
                let (own, other) = (Place::Broker(broker), Place::Broker(chance.pick(&others)));
                let (from, to) = if chance.percent(50) { (own, other) } else { (other, own) };
                Fault::OneWay { from, to }
            }
            Self::LeadersFlip if chance.percent(50) => Fault::CutOff { broker },
            Self::LeadersFlip => Fault::Leave { broker },
            Self::Random | Self::DeadHost | Self::Flapping | Self::AllReplaced | Self::TopicRecreated => {
                Fault::Unplug { broker }
            }
        };
        let lasts = match self {
            Self::Flapping => chance.time(ms(10), ms(2_500)),
            Self::LeadersFlip => chance.time(ms(10), session * 2),
            _ => chance.time(session / 2, session * 4),
        };
        fault.happen(sim.clone(), lasts.min(until.saturating_duration_since(Instant::now()))).await;
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scenario {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|scenario| scenario.name() == text)
            .ok_or_else(|| format!("no scenario {text}; there are {}", known()))
    }
}

/// A broker that leads a partition, as the controller has it.
fn some_leader(sim: &Sim, chance: &mut Chance) -> Option<i32> {
    let state = sim.registry.cluster_state();
    let partitions = &state.topics.get(TOPIC)?.partitions;
    let leader = partitions[chance.index(partitions.len())].leader;
    (leader >= 0).then_some(leader)
}

/// Starts a spare for each broker, moves every replica there, and lets the old brokers go for good.
async fn replace_all(sim: &Arc<Sim>, until: Instant) {
    for host in &sim.hosts {
        if !sim.plan.brokers.contains(&host.id) {
            host.put_to_use(true);
            host.start(sim).await;
        }
    }
    let target = |replicas: &[i32]| -> Vec<i32> {
        replicas
            .iter()
            .map(|id| if sim.plan.brokers.contains(id) { id + sim.plan.spare_ids } else { *id })
            .collect()
    };
    let is_moved = || {
        let state = sim.registry.cluster_state();
        let partitions = state.topics.get(TOPIC).map(|topic| topic.partitions.clone()).unwrap_or_default();
        partitions.iter().all(|one| !one.is_reassigning() && one.replicas == target(&one.replicas))
    };
    while !is_moved() {
        sleep(ms(500)).await;
        let controller = sim.registry.watch().borrow().controller;
        let host = controller.and_then(|controller| sim.host(controller.id));
        let state = sim.registry.cluster_state();
        let Some(topic) = state.topics.get(TOPIC) else { continue };
        let wanted = (0..).zip(&topic.partitions).filter(|(_, one)| !one.is_reassigning());
        let wanted =
            wanted.map(|(number, one)| (TOPIC.to_owned(), number, Some(target(&one.replicas)))).collect();
        if let Some(moving) = host.and_then(|host| host.with_broker(|broker| broker.reassign(wanted))) {
            let moved = moving.await;
            note!(sim.trace, "every replica is moved: {moved:?}");
        }
        if Instant::now() > until + Duration::from_secs(60) {
            sim.history().broken.push("the replicas do not move to the new brokers".to_owned());
            return;
        }
    }
    for host in &sim.hosts {
        if sim.plan.brokers.contains(&host.id) {
            host.put_to_use(false);
            host.end(sim, Ending::Killed { is_abrupt: false }).await;
            sleep(ms(300)).await;
        }
    }
    sleep_until(until.max(Instant::now())).await;
}
