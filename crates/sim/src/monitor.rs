//! What is seen of the brokers from outside while they run.

use std::sync::Arc;
use std::time::Duration;

use milena_protocol::Uuid;
use tokio::time::sleep;

use crate::history::{Leader, Watermark};
use crate::host::{Ending, Host};
use crate::note;
use crate::sim::{Phase, Sim};

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a machine is down whose power went in the middle of a write.
const DOWN_MAX: Duration = Duration::from_secs(5);

/// Looks at all brokers again and again, and ends those whose disk has lost its power.
pub(crate) async fn watch_brokers(sim: Arc<Sim>) {
    let mut known = std::collections::BTreeMap::new();
    while sim.phase() != Phase::Over {
        for host in &sim.hosts {
            if host.disk.is_powered_off() && host.is_running() {
                host.end(&sim, Ending::PowerCut).await;
                let down = sim.chance().time(Duration::ZERO, DOWN_MAX);
                let (sim, host) = (sim.clone(), host.clone());
                tokio::spawn(async move {
                    sleep(down).await;
                    host.start(&sim).await;
                });
            } else if host.is_active() {
                look(&sim, host, &mut known);
            }
        }
        sleep(LOOK_EVERY).await;
    }
}

type Known = std::collections::BTreeMap<(i32, Uuid, i32), (bool, i32, i64)>;

fn look(sim: &Sim, host: &Host, known: &mut Known) {
    let life = host.life();
    for replica in host.replicas() {
        let now = (replica.leads, replica.leader_epoch, replica.high_watermark);
        let before = known.insert((host.id, replica.topic_id, replica.partition), now);
        if before.map(|(leads, epoch, _)| (leads, epoch)) != Some((now.0, now.1)) {
            note!(
                sim.trace,
                "b{} {} partition {} in epoch {}, from {} on, high watermark {}",
                host.id,
                if replica.leads { "leads".to_owned() } else { format!("follows b{} in", replica.leader) },
                replica.partition,
                replica.leader_epoch,
                replica.log_end_offset,
                replica.high_watermark
            );
            if replica.leads {
                let leader = Leader {
                    topic_id: replica.topic_id,
                    partition: replica.partition,
                    leader_epoch: replica.leader_epoch,
                    broker: host.id,
                };
                sim.history().leaders.push(leader);
            }
        }
        if replica.leads && before != Some(now) {
            let watermark = Watermark {
                at: sim.now(),
                broker: host.id,
                life,
                topic_id: replica.topic_id,
                partition: replica.partition,
                leader_epoch: replica.leader_epoch,
                offset: replica.high_watermark,
            };
            sim.history().watermarks.push(watermark);
        }
    }
}
