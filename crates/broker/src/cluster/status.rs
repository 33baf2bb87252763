//! [`BrokerStatus`]: how the brokers of an [`EmbeddedCluster`] fare, for people and tools.

use std::fmt;

use super::EmbeddedCluster;

/// How one broker fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerStatus {
    /// The broker's id.
    pub id: i32,
    /// Where clients find it, `host:port`.
    pub bootstrap: String,
    /// Whether it runs.
    pub state: BrokerState,
    /// Whether it is the controller, as the cluster has it: one that was killed is until its session ends.
    pub is_controller: bool,
    /// How many partitions it leads, as the controller has it.
    pub leads: usize,
    /// What is wrong with it, in words.
    pub faults: Vec<String>,
}

/// Whether a broker runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BrokerState {
    /// It runs; there may be faults.
    Running,
    /// It was paused.
    Paused,
    /// It was killed or stopped.
    Down,
}

impl fmt::Display for BrokerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Down => "down",
        })
    }
}

impl EmbeddedCluster {
    /// How each broker fares, in the order of their ids.
    pub fn status(&self) -> Vec<BrokerStatus> {
        let controller = self.registry.watch().borrow().controller.map(|controller| controller.id);
        let cluster = self.registry.cluster_state();
        let leaders = || cluster.topics.values().flat_map(|topic| &topic.partitions);
        let brokers = self.brokers.lock();
        let status = |(id, member): (&i32, &super::Member)| BrokerStatus {
            id: *id,
            bootstrap: member.bootstrap.clone(),
            state: match brokers.get(id) {
                None => BrokerState::Down,
                Some(broker) if broker.node().gate.is_closed() => BrokerState::Paused,
                Some(_) => BrokerState::Running,
            },
            is_controller: controller == Some(*id),
            leads: leaders().filter(|partition| partition.leader == *id).count(),
            faults: self.faults(*id).unwrap_or_default(),
        };
        self.members.iter().map(status).collect()
    }
}
