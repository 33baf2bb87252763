//! Makes the next snapshot of the old one and a broker's answer (client.md 5, 8, 9, 14).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use milena_protocol::{
    ErrorCode, Uuid,
    messages::{MetadataResponse, MetadataResponsePartition, MetadataResponseTopic},
};

use super::{RefreshReason, WantedTopics};
use crate::{
    cluster::{Cluster, Node, PartitionInfo, Removal, TopicInfo},
    network::NodeId,
};

/// Below this version the leader epochs of a metadata answer are not reliable (KAFKA-9212).
const RELIABLE_EPOCHS_FROM: i16 = 9;

/// So many answers in a row may name an older leader epoch before it is believed: brokers lag for moments, but a cluster
/// that was restored from an older state never comes back to the epoch that this client remembers.
const OLDER_EPOCH_ANSWERS_MAX: u32 = 5;

/// So many answers in a row must say UNKNOWN_TOPIC_OR_PARTITION before a topic that was known is forgotten: the broker
/// that answers may lag behind the topic's creation.
const UNKNOWN_TOPIC_ANSWERS_MAX: u32 = 2;

/// The most partitions that one answer may imply by naming one with a higher id. Partitions are numbered without gaps,
/// so a gap is a mistake; and a peer's number must not decide how much is allocated.
const GAP_PARTITIONS_MAX: usize = 10_000;

/// What outlives a snapshot: what was heard, but not yet believed.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// Answers in a row with an older epoch, by topic and partition; an entry lives until the next answer differs.
    older_epochs: BTreeMap<(Arc<str>, i32), u32>,
    /// Answers in a row without the topic.
    unknown_topics: BTreeMap<Arc<str>, u32>,
}

/// The outcome of a merge.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) cluster: Cluster,
    pub(super) topic_errors: BTreeMap<Arc<str>, ErrorCode>,
    /// Topics about which the answer leaves something to be asked.
    pub(super) ask_again: Vec<(Arc<str>, RefreshReason)>,
    /// False when it brought nothing new.
    pub(super) progress: bool,
}

/// One merge under way.
pub(super) struct Merge<'a> {
    /// None: all topics of the cluster are wanted.
    pub(super) wanted: Option<&'a WantedTopics>,
    pub(super) doubts: &'a mut Doubts,
    pub(super) old: &'a Cluster,
    pub(super) old_errors: &'a BTreeMap<Arc<str>, ErrorCode>,
    pub(super) api_version: i16,
    pub(super) partial: bool,
}

impl Merge<'_> {
    pub(super) fn run(mut self, response: &MetadataResponse) -> Merged {
        let (nodes, same_nodes) = self.nodes(response);
        let id = response.cluster_id.as_deref().map(Arc::from).or_else(|| self.old.cluster_id().cloned());
        let controller = (response.controller_id >= 0).then_some(response.controller_id);
        let mut merged = Merged {
            cluster: Cluster::told(id, nodes, controller).with_topics_of(self.old),
            topic_errors: self.old_errors.clone(),
            ask_again: Vec::new(),
            progress: !same_nodes || self.old.is_bootstrap(),
        };
        self.drop_unwanted(response, &mut merged);
        let mut gaps = GAP_PARTITIONS_MAX;
        for topic in &response.topics {
            let Some((name, topic)) =
                topic.name.as_deref().and_then(|name| Some((self.intern(name)?, topic)))
            else {
                continue;
            };
            if topic.error_code.is_ok() {
                self.merge_topic(name, topic, &mut gaps, &mut merged);
            } else {
                self.merge_error(&name, topic.error_code, &mut merged);
            }
        }
        if !same_nodes {
            drop_unknown_leaders(&mut merged.cluster);
        }
        merged
    }

    fn nodes(&self, response: &MetadataResponse) -> (BTreeMap<NodeId, Arc<Node>>, bool) {
        let mut nodes = BTreeMap::new();
        let mut same = response.brokers.len() == self.old.nodes().len();
        for broker in &response.brokers {
            // A port that no address can have is the peer's mistake; such a broker cannot be reached.
            let Ok(port) = u16::try_from(broker.port) else { continue };
            let rack = broker.rack.as_deref();
            let known = self.old.node(broker.node_id).filter(|known| {
                *known.host == *broker.host && known.port == port && known.rack.as_deref() == rack
            });
            same &= known.is_some();
            let node = known.cloned().unwrap_or_else(|| {
                Arc::new(Node {
                    id: broker.node_id,
                    host: broker.host.as_str().into(),
                    port,
                    rack: rack.map(Arc::from),
                })
            });
            nodes.insert(broker.node_id, node);
        }
        (nodes, same)
    }

    /// The topic's name as it is shared already; none for a topic that nobody wants.
    fn intern(&self, name: &str) -> Option<Arc<str>> {
        match self.wanted {
            Some(wanted) => wanted.entry(name).map(|(name, _)| Arc::clone(name)),
            None => Some(self.old.topic(name).map_or_else(|| name.into(), |topic| Arc::clone(&topic.name))),
        }
    }

    /// Topics that nobody wants any more leave with a full answer, and of all topics those that it does not name.
    fn drop_unwanted(&mut self, response: &MetadataResponse, merged: &mut Merged) {
        let before = merged.cluster.topic_count();
        match self.wanted {
            Some(wanted) => {
                merged.cluster.retain_topics(|topic| wanted.contains(&topic.name));
                merged.topic_errors.retain(|topic, _| wanted.contains(topic));
                self.doubts.older_epochs.retain(|(topic, _), _| wanted.contains(topic));
                self.doubts.unknown_topics.retain(|topic, _| wanted.contains(topic));
            }
            None if self.partial => {}
            None => {
                let named: BTreeSet<&str> =
                    response.topics.iter().filter_map(|topic| topic.name.as_deref()).collect();
                merged.cluster.retain_topics(|topic| named.contains(&*topic.name));
                merged.topic_errors.retain(|topic, _| named.contains(&**topic));
                self.doubts.older_epochs.retain(|(topic, _), _| named.contains(&**topic));
            }
        }
        merged.progress |= merged.cluster.topic_count() != before;
    }

    fn merge_error(&mut self, name: &Arc<str>, code: ErrorCode, merged: &mut Merged) {
        merged.progress |= merged.topic_errors.insert(Arc::clone(name), code) != Some(code);
        match code {
            ErrorCode::TOPIC_AUTHORIZATION_FAILED => merged.cluster.remove_topic(name, Removal::Unauthorized),
            ErrorCode::INVALID_TOPIC_EXCEPTION => merged.cluster.remove_topic(name, Removal::Invalid),
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION if merged.cluster.topic(name).is_some() => {
                let answers = self.doubts.unknown_topics.entry(Arc::clone(name)).or_default();
                *answers += 1;
                if *answers >= UNKNOWN_TOPIC_ANSWERS_MAX {
                    self.doubts.unknown_topics.remove(name);
                    merged.cluster.remove_topic(name, Removal::Gone);
                }
            }
            _ => {}
        }
        if code.is_retriable() {
            merged.ask_again.push((Arc::clone(name), RefreshReason::AnswerError(code)));
        }
    }

    fn merge_topic(
        &mut self,
        name: Arc<str>,
        answer: &MetadataResponseTopic,
        gaps: &mut usize,
        merged: &mut Merged,
    ) {
        merged.progress |= merged.topic_errors.remove(&name).is_some();
        self.doubts.unknown_topics.remove(&name);
        let cached = self.old.topic(&name);
        let recreated = cached.is_some_and(|old| !old.id.is_zero() && old.id != answer.topic_id)
            && !answer.topic_id.is_zero();
        let base = cached.filter(|_| !recreated);
        let mut partitions = base.map_or_else(Vec::new, |topic| topic.partitions.clone());
        let expected = partitions.len().max(answer.partitions.len());
        partitions.reserve(expected - partitions.len());
        let mut ask_again = None;
        for partition in &answer.partitions {
            let Ok(index) = usize::try_from(partition.partition_index) else { continue };
            let gap = index.saturating_sub(expected.saturating_sub(1).max(partitions.len()));
            if gap > *gaps {
                tracing::warn!(topic = %name, partition = index, "a partition far beyond the others is ignored");
                continue;
            }
            *gaps -= gap;
            for missing in partitions.len()..=index {
                let id = i32::try_from(missing).unwrap_or(i32::MAX);
                partitions.push(PartitionInfo::unknown(Arc::clone(&name), id));
            }
            let reason = self.merge_partition(&merged.cluster, &mut partitions[index], partition);
            ask_again = ask_again.or(reason);
        }
        if let Some(reason) = ask_again {
            merged.ask_again.push((Arc::clone(&name), reason));
        }
        let id = base.filter(|_| answer.topic_id.is_zero()).map_or(answer.topic_id, |old| old.id);
        self.keep_or_replace(cached, name, id, answer.is_internal, partitions, merged);
    }

    fn keep_or_replace(
        &self,
        cached: Option<&Arc<TopicInfo>>,
        name: Arc<str>,
        id: Uuid,
        is_internal: bool,
        partitions: Vec<PartitionInfo>,
        merged: &mut Merged,
    ) {
        let mut topic = TopicInfo::new(name, id, is_internal, partitions);
        let clock = self.wanted.and_then(|wanted| wanted.entry(&topic.name)).map(|(_, clock)| clock);
        let same =
            cached.filter(|old| old.says_the_same(&topic) && clock.is_none_or(|clock| old.is_used_at(clock)));
        if let Some(same) = same {
            // Marks of errors must go all the same.
            merged.cluster.insert_topic(Arc::clone(same));
            return;
        }
        merged.progress |= cached.is_none_or(|old| !old.led_the_same(&topic));
        if let Some(clock) = clock {
            topic = topic.used_at(Arc::clone(clock));
        }
        merged.cluster.insert_topic(Arc::new(topic));
    }

    /// Takes over one partition of the answer, unless it is older than what is known. Says why to ask again, if so.
    fn merge_partition(
        &mut self,
        cluster: &Cluster,
        known: &mut PartitionInfo,
        answer: &MetadataResponsePartition,
    ) -> Option<RefreshReason> {
        let reliable = self.api_version >= RELIABLE_EPOCHS_FROM && answer.leader_epoch >= 0;
        let epoch = reliable.then_some(answer.leader_epoch);
        let older = matches!((epoch, known.leader_epoch), (Some(new), Some(old)) if new < old);
        if older && self.doubt_epoch(known) {
            return Some(RefreshReason::OlderEpoch);
        }
        if !self.doubts.older_epochs.is_empty() {
            self.doubts.older_epochs.remove(&(Arc::clone(&known.topic), known.partition));
        }
        // A leader that is not in the broker list is no leader.
        known.leader = Some(answer.leader_id).filter(|id| cluster.node(*id).is_some());
        known.leader_epoch = epoch;
        replace(&mut known.replicas, &answer.replica_nodes);
        if *answer.isr_nodes == *known.replicas {
            known.isr = Arc::clone(&known.replicas);
        } else {
            replace(&mut known.isr, &answer.isr_nodes);
        }
        replace(&mut known.offline_replicas, &answer.offline_replicas);
        if answer.error_code.is_invalid_metadata() {
            return Some(RefreshReason::AnswerError(answer.error_code));
        }
        known.leader.is_none().then_some(RefreshReason::UnknownLeader)
    }

    /// True while an answer with an older epoch is not believed.
    fn doubt_epoch(&mut self, known: &PartitionInfo) -> bool {
        let answers =
            self.doubts.older_epochs.entry((Arc::clone(&known.topic), known.partition)).or_default();
        *answers += 1;
        *answers < OLDER_EPOCH_ANSWERS_MAX
    }
}

/// Takes over a list of replicas, allocating only when it changed.
fn replace(known: &mut Arc<[NodeId]>, answer: &[NodeId]) {
    if **known != *answer {
        *known = answer.into();
    }
}

/// Takes the leadership from brokers that left, also of topics that the answer did not name.
fn drop_unknown_leaders(cluster: &mut Cluster) {
    let stranded: Vec<Arc<str>> = cluster
        .topics()
        .filter(|topic| {
            topic.partitions.iter().any(|p| p.leader.is_some_and(|id| cluster.node(id).is_none()))
        })
        .map(|topic| Arc::clone(&topic.name))
        .collect();
    let nodes: BTreeSet<NodeId> = cluster.nodes().map(|node| node.id).collect();
    for name in stranded {
        if let Some(topic) = cluster.topic_mut(&name) {
            for partition in &mut topic.partitions {
                partition.leader = partition.leader.filter(|id| nodes.contains(id));
            }
            topic.index_available();
        }
    }
}
