//! [`ControllerEngine`]: the controller's decisions. No clock, no disk, no network.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::batch::Batch;
use super::{ControllerState, Effect, PartitionState, RequestId, TopicState};
use super::{ElectionKind, elect};
use crate::metadata_cache::{BrokerInfo, NO_LEADER};
use crate::registry::RegisteredBroker;

/// What the controller is told when it is elected.
#[derive(Debug, Clone)]
pub struct ControllerConfig {
    /// The broker that it runs on.
    pub node_id: i32,
    /// `num.partitions`.
    pub default_partitions: i32,
    /// `default.replication.factor`.
    pub default_replication_factor: i16,
    /// `unclean.leader.election.enable`, for topics that do not say.
    pub unclean_leader_election: bool,
    /// Whether leaderships go back to the preferred replicas by themselves (`auto.leader.rebalance.enable`).
    pub leader_rebalance: Option<LeaderRebalance>,
    /// The listener at which brokers reach each other.
    pub inter_broker_listener: String,
}

/// When leaderships are moved back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaderRebalance {
    /// `leader.imbalance.check.interval.seconds`.
    pub check_interval: Duration,
    /// `leader.imbalance.per.broker.percentage`: how many of the partitions that prefer a broker may be led elsewhere, in a
    /// hundred.
    pub imbalance_percentage: u32,
}

/// The controller (`kafka.controller.KafkaController`).
///
/// Whatever it decides is in `state` before an effect tells of it, and [`Effect::Persist`] comes before that effect. A
/// decision raises the leader epoch of each partition that it is about, because brokers skip what does not.
#[derive(Debug, Clone)]
pub struct ControllerEngine {
    pub(super) config: ControllerConfig,
    pub(super) state: Arc<ControllerState>,
    /// The brokers that are alive, those that are shutting down among them.
    pub(super) live: BTreeMap<i32, LiveBroker>,
    /// Requests that are not answered; only to brokers that are alive.
    pub(super) in_flight: BTreeMap<RequestId, InFlight>,
    pub(super) next_request: i64,
    pub(super) effects: VecDeque<Effect>,
    /// What is to be told when all of a request is decided.
    pub(super) gathered: Option<Batch>,
    /// None before the first look at the time.
    pub(super) next_rebalance: Option<Duration>,
}

#[derive(Debug, Clone)]
pub(super) struct LiveBroker {
    pub(super) epoch: i64,
    pub(super) info: BrokerInfo,
    pub(super) shutting_down: bool,
    /// Whether no log can be used there.
    pub(super) log_dir_failed: bool,
    /// The partitions of topics whose log cannot be used there.
    pub(super) offline: BTreeMap<String, BTreeSet<i32>>,
}

#[derive(Debug, Clone)]
pub(super) struct InFlight {
    pub(super) broker: i32,
    /// The topics that the request is about, in order.
    pub(super) topics: Vec<Arc<str>>,
}

impl ControllerEngine {
    /// The controller, elected just now: `state` is what the election gave, with an epoch of its own. It does nothing
    /// before it hears which brokers there are.
    #[must_use]
    pub fn elected(config: ControllerConfig, state: Arc<ControllerState>) -> Self {
        Self {
            config,
            state,
            live: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            next_request: 0,
            effects: VecDeque::new(),
            gathered: None,
            next_rebalance: None,
        }
    }

    /// What is to be made durable.
    pub fn state(&self) -> &Arc<ControllerState> {
        &self.state
    }

    /// The epoch that it was elected in.
    pub fn controller_epoch(&self) -> i32 {
        self.state.controller_epoch
    }

    /// The next thing to do, if there is one.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Whether every live broker has done all that it was told about the topic: whoever leads a partition leads it, and
    /// every metadata cache knows.
    pub fn is_settled(&self, topic: &str) -> bool {
        let about = |request: &InFlight| request.topics.binary_search_by(|name| (**name).cmp(topic)).is_ok();
        !self.in_flight.values().any(about)
    }

    /// Which brokers are alive now, with the epoch of each. A broker whose epoch has changed has died and come back.
    ///
    /// The brokers that stay hear who is alive and what changed; one that is new hears everything. To a controller that
    /// was just elected all of them are new.
    pub fn handle_brokers(&mut self, registered: &BTreeMap<i32, RegisteredBroker>) {
        let is_elected_just_now = self.live.is_empty();
        let stays =
            |id: &i32, epoch: i64| registered.get(id).is_some_and(|registered| registered.epoch == epoch);
        let before = self.live.len();
        self.live.retain(|id, broker| stays(id, broker.epoch));
        let live = &self.live;
        self.in_flight.retain(|_, request| live.contains_key(&request.broker));
        let failed = self.note_failed_log_dirs(registered);
        if failed || self.live.len() < before {
            self.reconsider(&BTreeSet::new(), BTreeSet::new());
        }
        let joined: BTreeSet<i32> =
            registered.keys().copied().filter(|id| !self.live.contains_key(id)).collect();
        if !joined.is_empty() {
            for id in &joined {
                let RegisteredBroker { epoch, info, log_dir_failed } = registered[id].clone();
                let offline = BTreeMap::new();
                let broker = LiveBroker { epoch, info, shutting_down: false, log_dir_failed, offline };
                self.live.insert(*id, broker);
            }
            // Whoever restarted while there was no controller may have lost what its disk had not yet.
            let suspects = if is_elected_just_now { self.restarted_unseen() } else { BTreeSet::new() };
            self.reconsider(&suspects, joined);
        }
        self.settle_deletions();
        self.complete_reassignments();
    }

    /// Notes whose log directory has failed since it was looked at last; says whether one has. What that broker has is not
    /// online until it registers again (`KafkaController.processLogDirEventNotification`).
    fn note_failed_log_dirs(&mut self, registered: &BTreeMap<i32, RegisteredBroker>) -> bool {
        let mut any = false;
        for (id, broker) in &mut self.live {
            let has_failed = registered.get(id).is_some_and(|registered| registered.log_dir_failed);
            any |= has_failed && !broker.log_dir_failed;
            broker.log_dir_failed |= has_failed;
        }
        any
    }

    /// A broker has done what a request told it, but for the partitions whose log it cannot use.
    pub fn handle_answer(&mut self, id: RequestId, failed: &[(Arc<str>, i32)]) {
        let Some(request) = self.in_flight.remove(&id) else { return };
        if let Some(broker) = self.live.get_mut(&request.broker) {
            let mut is_news = false;
            for (topic, partition) in failed {
                is_news |= broker.offline.entry(topic.to_string()).or_default().insert(*partition);
            }
            // Of one without any log nothing else was to be expected.
            if is_news && !broker.log_dir_failed {
                self.reconsider(&BTreeSet::new(), BTreeSet::new());
            }
        }
        self.settle_deletions();
    }

    /// Looks at every partition: takes who is gone, and the `suspects`, out of the ISRs, and elects leaders where there
    /// are none. Tells what changed, and tells the brokers that have `joined` everything.
    fn reconsider(&mut self, suspects: &BTreeSet<i32>, joined: BTreeSet<i32>) {
        let mut changes = Vec::new();
        for (name, topic) in &self.state.topics {
            let unclean = self.allows_unclean_election(topic);
            for (number, partition) in (0i32..).zip(&topic.partitions) {
                let next = self.reconsidered((name, number), partition, unclean, suspects);
                changes.extend(next.map(|next| (name.clone(), number, next)));
            }
        }
        let epochs = self.live.iter().map(|(id, broker)| (*id, broker.epoch)).collect();
        let mut batch = Batch { joined, brokers_changed: true, ..Batch::default() };
        let state = Arc::make_mut(&mut self.state);
        state.broker_epochs = epochs;
        for (name, number, next) in changes {
            self.set_partition(&name, number, next);
            batch.change(&name, number);
        }
        self.commit(&batch);
    }

    /// What becomes of a partition now that replicas came or went. None when nothing does.
    fn reconsidered(
        &self,
        (topic, number): (&str, i32),
        partition: &PartitionState,
        unclean: bool,
        suspects: &BTreeSet<i32>,
    ) -> Option<PartitionState> {
        let online: Vec<i32> =
            partition.isr.iter().copied().filter(|id| self.is_online(*id, topic, number)).collect();
        let trusted: Vec<i32> = online.iter().copied().filter(|id| !suspects.contains(id)).collect();
        // With suspects alone there is nobody better: all of them have been in sync.
        let isr = if trusted.is_empty() { online } else { trusted };
        let leads_on = isr.contains(&partition.leader) && !suspects.contains(&partition.leader);
        if leads_on {
            return (isr.len() < partition.isr.len()).then(|| partition.led_by(partition.leader, isr));
        }
        let kind = if unclean { ElectionKind::Unclean } else { ElectionKind::Clean };
        let eligible = |id| self.is_eligible(id, topic, number);
        match elect(kind, &partition.replicas, &isr, eligible) {
            Some(election) => Some(partition.led_by(election.leader, election.isr)),
            None => {
                let isr = if isr.is_empty() { vec![last_in_sync(partition)] } else { isr };
                let is_news = partition.leader != NO_LEADER || isr != partition.isr;
                is_news.then(|| partition.led_by(NO_LEADER, isr))
            }
        }
    }

    /// The live brokers that are not known to have lived since the last controller saw them.
    fn restarted_unseen(&self) -> BTreeSet<i32> {
        let seen = &self.state.broker_epochs;
        let restarted = self.live.iter().filter(|(id, broker)| seen.get(id) != Some(&broker.epoch));
        restarted.map(|(id, _)| *id).collect()
    }

    pub(super) fn allows_unclean_election(&self, topic: &TopicState) -> bool {
        let own = topic.configs.get("unclean.leader.election.enable");
        own.map_or(self.config.unclean_leader_election, |value| value.eq_ignore_ascii_case("true"))
    }

    pub(super) fn is_alive(&self, broker: i32) -> bool {
        self.live.contains_key(&broker)
    }

    /// Whether the broker has the replica and is alive.
    pub(super) fn is_online(&self, broker: i32, topic: &str, partition: i32) -> bool {
        self.live.get(&broker).is_some_and(|broker| {
            let offline = broker.offline.get(topic);
            !broker.log_dir_failed && offline.is_none_or(|offline| !offline.contains(&partition))
        })
    }

    /// Whether the broker may be given new partitions: it can have logs, and is to stay.
    pub(super) fn is_usable(&self, broker: i32) -> bool {
        self.live.get(&broker).is_some_and(|broker| !broker.log_dir_failed && !broker.shutting_down)
    }

    /// Whether the broker may be given the leadership.
    pub(super) fn is_eligible(&self, broker: i32, topic: &str, partition: i32) -> bool {
        self.is_online(broker, topic, partition) && !self.live[&broker].shutting_down
    }

    pub(super) fn set_partition(&mut self, topic: &str, number: i32, next: PartitionState) {
        let topic = Arc::make_mut(&mut self.state).topics.get_mut(topic);
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(partition) = topic.and_then(|topic| topic.partitions.get_mut(index)) {
            *partition = next;
        }
    }

    /// Forgets the deleted topics that every live broker has forgotten.
    fn settle_deletions(&mut self) {
        let is_done = |name: &&String| self.is_settled(name);
        let done: Vec<String> = self.state.deleting.keys().filter(is_done).cloned().collect();
        if done.is_empty() {
            return;
        }
        let state = Arc::make_mut(&mut self.state);
        for name in &done {
            state.deleting.remove(name);
            // Another topic of this name has other logs.
            self.live.values_mut().for_each(|broker| drop(broker.offline.remove(name)));
        }
        self.effects.push_back(Effect::Persist);
    }
}

/// Who stays in the ISR of a partition whose in-sync replicas are all dead: it is the one to wait for.
fn last_in_sync(partition: &PartitionState) -> i32 {
    let leader = Some(partition.leader).filter(|leader| partition.isr.contains(leader));
    leader.or(partition.isr.first().copied()).unwrap_or(NO_LEADER)
}
