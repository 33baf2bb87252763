//! [`Fault`]: what goes wrong, for a while, as the seed says.

use std::sync::Arc;
use std::time::Duration;

use milena_storage::FsyncPolicy;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::chance::Chance;
use crate::host::{Ending, Host};
use crate::network::Place;
use crate::note;
use crate::sim::Sim;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A broker's process is killed, and started again later.
    Kill {
        /// Which.
        broker: i32,
        /// Whether what it has written to its sockets is lost.
        is_abrupt: bool,
    },
    /// A broker's machine falls off the network, and comes back.
    Unplug {
        /// Which.
        broker: i32,
    },
    /// A broker's machine loses its power.
    PowerCut {
        /// Which.
        broker: i32,
    },
    /// A broker's machine loses its power in the middle of a write, so many changes of the disk from now.
    TornWrite {
        /// Which.
        broker: i32,
        /// How many.
        operations: u64,
    },
    /// A broker leaves in order, and comes back.
    Leave {
        /// Which.
        broker: i32,
    },
    /// A broker makes no step.
    Pause {
        /// Which.
        broker: i32,
    },
    /// No packet gets from one place to another.
    OneWay {
        /// From here.
        from: Place,
        /// To here.
        to: Place,
    },
    /// No packet gets to a broker or from it: its machine answers nothing.
    Silence {
        /// Which.
        broker: i32,
    },
    /// No packet gets from a broker to the other brokers or back.
    Island {
        /// Which.
        broker: i32,
    },
    /// No packet gets from clients to a broker or back, though other brokers find it alive.
    ClientsCut {
        /// Which.
        broker: i32,
    },
    /// Connections break.
    Breaks {
        /// How many.
        count: u64,
    },
    /// All packets of a broker are slow.
    Slow {
        /// Which.
        broker: i32,
        /// How many times as slow.
        factor: u32,
    },
    /// A broker's disk is slow.
    SlowDisk {
        /// Which.
        broker: i32,
    },
    /// A broker's disk cannot sync; then the broker recovers its logs, or is started anew before it can.
    FsyncFails {
        /// Which.
        broker: i32,
    },
    /// A broker's disk is full; then the broker recovers its logs, or is started anew before it can.
    DiskFull {
        /// Which.
        broker: i32,
    },
    /// A broker's session is not kept alive, and it hears of nothing.
    CutOff {
        /// Which.
        broker: i32,
    },
    /// A broker's clock is wrong.
    Skew {
        /// Which.
        broker: i32,
        /// By how much.
        ms: i64,
    },
}

impl Fault {
    /// Some fault that this cluster has to bear.
    fn random(sim: &Sim, chance: &mut Chance) -> Self {
        let brokers = &sim.plan.brokers;
        let broker = chance.pick(brokers);
        let keeps_what_it_synced = sim.plan.fsync == FsyncPolicy::EveryBatch;
        match chance.below(20) {
            0..=2 => Self::Kill { broker, is_abrupt: chance.percent(50) },
            3 | 4 if keeps_what_it_synced => Self::PowerCut { broker },
            5 if keeps_what_it_synced => Self::TornWrite { broker, operations: chance.below(40) },
            3..=5 => Self::Kill { broker, is_abrupt: true },
            6 => Self::Leave { broker },
            7 | 8 => Self::Pause { broker },
            9 => {
                let (from, to) = (some_place(sim, chance), some_place(sim, chance));
                Self::OneWay { from, to }
            }
            10 if chance.percent(50) => Self::Unplug { broker },
            10 => Self::Silence { broker },
            11 => Self::Island { broker },
            12 => Self::ClientsCut { broker },
            13 => Self::Breaks { count: chance.range(1, 10) },
            14 => Self::Slow { broker, factor: chance.pick(&[10, 100]) },
            15 => Self::SlowDisk { broker },
            16 if keeps_what_it_synced => Self::FsyncFails { broker },
            16 | 17 => Self::DiskFull { broker },
            18 => Self::CutOff { broker },
            _ => {
                let ahead = i64::try_from(chance.below(120_000)).unwrap_or(0);
                Self::Skew { broker, ms: ahead - 60_000 }
            }
        }
    }

    /// Lets it happen for so long, and undoes it.
    pub(crate) async fn happen(self, sim: Arc<Sim>, lasts: Duration) {
        note!(sim.trace, "fault: {self:?} for {lasts:?}");
        match self {
            Self::Kill { broker, is_abrupt } => down(&sim, broker, Ending::Killed { is_abrupt }, lasts).await,
            Self::Unplug { broker } => down(&sim, broker, Ending::Unplugged, lasts).await,
            Self::PowerCut { broker } => down(&sim, broker, Ending::PowerCut, lasts).await,
            Self::TornWrite { broker, operations } => {
                // The monitor sees that the power is off and does the rest.
                with(&sim, broker, |host| host.disk.cut_power_after(operations));
            }
            Self::Leave { broker } => leave(&sim, broker, lasts).await,
            Self::Pause { broker } => {
                with(&sim, broker, |host| host.pause(&sim, true));
                sleep(lasts).await;
                with(&sim, broker, |host| host.pause(&sim, false));
            }
            Self::OneWay { from, to } => blocked(&sim, vec![(from, to)], lasts).await,
            Self::Silence { broker } => {
                blocked(&sim, around(broker, brokers(&sim).chain(clients(&sim))), lasts).await;
            }
            Self::Island { broker } => blocked(&sim, around(broker, brokers(&sim)), lasts).await,
            Self::ClientsCut { broker } => blocked(&sim, around(broker, clients(&sim)), lasts).await,
            Self::Breaks { count } => {
                for _ in 0..count {
                    let pick = sim.chance().number();
                    if let Some((from, to)) = sim.network.break_one(pick) {
                        note!(sim.trace, "a connection from {from} to {to} breaks");
                    }
                }
            }
            Self::Slow { broker, factor } => {
                sim.network.slow_down(Place::Broker(broker), factor);
                sleep(lasts).await;
                sim.network.slow_down(Place::Broker(broker), 1);
            }
            Self::SlowDisk { broker } => {
                with(&sim, broker, |host| host.slow_disk(ms(500)));
                sleep(lasts).await;
                with(&sim, broker, |host| host.slow_disk(sim.plan.disk));
            }
            Self::FsyncFails { broker } => {
                with(&sim, broker, |host| host.disk.fail_syncs(true));
                sleep(lasts).await;
                with(&sim, broker, |host| host.disk.fail_syncs(false));
                disk_is_sound(&sim, broker, lasts).await;
            }
            Self::DiskFull { broker } => {
                with(&sim, broker, |host| host.disk.set_free_space(Some(300)));
                sleep(lasts).await;
                with(&sim, broker, |host| host.disk.set_free_space(None));
                disk_is_sound(&sim, broker, lasts).await;
            }
            Self::CutOff { broker } => {
                with(&sim, broker, |host| host.cut_off(true));
                sleep(lasts).await;
                with(&sim, broker, |host| host.cut_off(false));
            }
            Self::Skew { broker, ms } => {
                with(&sim, broker, |host| host.skew_clock(ms));
                sleep(lasts).await;
                with(&sim, broker, |host| host.skew_clock(0));
            }
        }
        note!(sim.trace, "over: {self:?}");
    }
}

fn some_place(sim: &Sim, chance: &mut Chance) -> Place {
    let places: Vec<Place> = brokers(sim).chain(clients(sim)).collect();
    chance.pick(&places)
}

fn brokers(sim: &Sim) -> impl Iterator<Item = Place> + '_ {
    sim.plan.brokers.iter().map(|id| Place::Broker(*id))
}

fn clients(sim: &Sim) -> impl Iterator<Item = Place> + use<> {
    let producers = u32::try_from(sim.plan.producers.len()).unwrap_or(0);
    (0..producers + sim.plan.consumers).map(Place::Client)
}

/// The links between a broker and others, both ways.
fn around(broker: i32, others: impl Iterator<Item = Place>) -> Vec<(Place, Place)> {
    let own = Place::Broker(broker);
    others.filter(|other| *other != own).flat_map(|other| [(own, other), (other, own)]).collect()
}

async fn blocked(sim: &Sim, links: Vec<(Place, Place)>, lasts: Duration) {
    for (from, to) in &links {
        sim.network.block(*from, *to);
    }
    sleep(lasts).await;
    for (from, to) in links {
        sim.network.heal(from, to);
    }
}

fn with(sim: &Sim, broker: i32, act: impl FnOnce(&Host)) {
    if let Some(host) = sim.host(broker) {
        act(host);
    }
}

async fn down(sim: &Arc<Sim>, broker: i32, ending: Ending, lasts: Duration) {
    let Some(host) = sim.host(broker) else { return };
    host.end(sim, ending).await;
    sleep(lasts).await;
    host.start(sim).await;
}

/// A broker whose disk is sound again comes back by itself; some are started anew first.
async fn disk_is_sound(sim: &Arc<Sim>, broker: i32, after: Duration) {
    if after.as_millis().is_multiple_of(2) {
        down(sim, broker, Ending::Killed { is_abrupt: false }, ms(100)).await;
    }
}

async fn leave(sim: &Arc<Sim>, broker: i32, lasts: Duration) {
    let Some(host) = sim.host(broker) else { return };
    let (left, has_left) = tokio::sync::oneshot::channel();
    let leaving = host.spawn(|broker| {
        let leave = broker.leave();
        broker.spawn(async move {
            leave.await;
            let _nobody_waits = left.send(());
        })
    });
    let Some(leaving) = leaving else { return };
    let in_time = timeout(Duration::from_secs(10), has_left).await;
    note!(sim.trace, "b{broker} has {}", if in_time.is_ok() { "left" } else { "not left in time" });
    leaving.abort();
    down(sim, broker, Ending::Killed { is_abrupt: false }, lasts).await;
}

/// Lets faults happen until a time, and undoes them all.
pub async fn happen(sim: &Arc<Sim>, mut chance: Chance, until: Instant) {
    let mut under_way = JoinSet::new();
    let pace = chance.pick(&[ms(300), ms(1_000), ms(3_000)]);
    loop {
        let pause = chance.time(ms(1), pace);
        if Instant::now() + pause >= until {
            sleep_until(until).await;
            break;
        }
        sleep(pause).await;
        let fault = Fault::random(sim, &mut chance);
        let longest = chance.pick(&[ms(200), ms(3_000), ms(12_000)]);
        let lasts = chance.time(ms(1), longest).min(until - Instant::now());
        under_way.spawn(fault.happen(sim.clone(), lasts));
    }
    while under_way.join_next().await.is_some() {}
    heal(sim).await;
}

/// Undoes what is left.
pub async fn heal(sim: &Arc<Sim>) {
    for host in &sim.hosts {
        host.disk.set_free_space(None);
        host.disk.fail_syncs(false);
        host.cut_off(false);
        host.pause(sim, false);
        // Their logs take nothing until they are recovered.
        let is_poisoned = host.with_broker(|broker| !broker.poisoned().is_empty()).unwrap_or(false);
        if host.disk.is_powered_off() {
            host.end(sim, Ending::PowerCut).await;
        } else if is_poisoned {
            host.end(sim, Ending::Killed { is_abrupt: false }).await;
        }
        host.start(sim).await;
        if host.disk.is_powered_off() {
            // A write of the start was the one that the power cut was to hit.
            host.start(sim).await;
        }
    }
    note!(sim.trace, "all is healed");
}
