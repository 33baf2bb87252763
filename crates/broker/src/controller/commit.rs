//! Which requests tell of what one event changed (`kafka.controller.ControllerBrokerRequestBatch`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::batch::{Batch, Partitions};
use super::engine::{ControllerEngine, InFlight};
use super::{
    ControlBody, ControlRequest, ControlStamp, EPOCH_DURING_DELETE, Effect, LeaderAndIsr, LeaderAndIsrTopic,
    LiveLeader, RequestId, StopReplica, StopReplicaPartition, StopReplicaTopic, TopicState,
};
use crate::metadata_cache::{LEADER_DURING_DELETE, MetadataUpdate, PartitionUpdate, TopicUpdate};

impl ControllerEngine {
    /// Decides several things that one request wants, and tells everybody of all of them at once: who is told of each on its
    /// own has work that grows with the square of their number. Only for decisions that do not ask who has heard of earlier
    /// ones.
    pub fn together<T>(&mut self, decide: impl FnOnce(&mut Self) -> T) -> T {
        self.gathered = Some(Batch::default());
        let answer = decide(self);
        let batch = self.gathered.take().filter(|batch| *batch != Batch::default());
        if let Some(batch) = batch {
            self.commit(&batch);
        }
        answer
    }

    /// Has the state made durable, and then everybody told what concerns them: replicas first, so that as few as possible
    /// hear of a leader that does not lead yet, then the metadata caches, and only then logs are deleted.
    pub(super) fn commit(&mut self, batch: &Batch) {
        if let Some(gathered) = &mut self.gathered {
            return gathered.merge(batch);
        }
        self.effects.push_back(Effect::Persist);
        let joined = !batch.joined.is_empty();
        for (name, topic) in &self.state.topics {
            if batch.configs.contains(name) || (joined && !topic.configs.is_empty()) {
                let configs = topic.configs.clone();
                self.effects.push_back(Effect::TopicConfigs { topic: name.as_str().into(), configs });
            }
        }
        let brokers: Vec<i32> = self.live.keys().copied().collect();
        for broker in &brokers {
            let request = self.leader_and_isr(*broker, batch);
            if !request.topics.is_empty() {
                self.send(*broker, ControlBody::LeaderAndIsr(request));
            }
        }
        for broker in &brokers {
            let topics = self.topic_updates(*broker, batch);
            if batch.brokers_changed || !topics.is_empty() {
                self.send(*broker, ControlBody::UpdateMetadata(self.metadata_update(topics)));
            }
        }
        for broker in &brokers {
            let request = self.stop_replica(*broker, batch);
            if !request.topics.is_empty() {
                self.send(*broker, ControlBody::StopReplica(request));
            }
        }
        for name in &batch.deleted {
            let configs = BTreeMap::new();
            self.effects.push_back(Effect::TopicConfigs { topic: name.as_str().into(), configs });
        }
    }

    fn leader_and_isr(&self, broker: i32, batch: &Batch) -> LeaderAndIsr {
        let is_new = batch.joined.contains(&broker);
        let topics: Vec<LeaderAndIsrTopic> = self
            .topics_of(&batch.changed, is_new)
            .filter_map(|(name, topic, numbers)| {
                let partitions: Vec<_> = (0i32..)
                    .zip(&topic.partitions)
                    .filter(|(number, state)| {
                        numbers.is_none_or(|numbers| numbers.contains(number))
                            && state.replicas.contains(&broker)
                    })
                    .map(|(number, state)| (number, state.clone()))
                    .collect();
                (!partitions.is_empty()).then(|| LeaderAndIsrTopic {
                    name: name.as_str().into(),
                    id: topic.id,
                    partitions,
                })
            })
            .collect();
        let leaders = topics.iter().flat_map(|topic| topic.partitions.iter().map(|(_, state)| state.leader));
        let leaders: BTreeSet<i32> = leaders.collect();
        let live_leaders = leaders.into_iter().filter_map(|id| self.live_leader(id)).collect();
        LeaderAndIsr { topics, live_leaders }
    }

    fn live_leader(&self, id: i32) -> Option<LiveLeader> {
        let endpoint = self.live.get(&id)?.info.endpoint(&self.config.inter_broker_listener)?;
        Some(LiveLeader { id, host: endpoint.host.clone(), port: endpoint.port })
    }

    fn topic_updates(&self, broker: i32, batch: &Batch) -> Vec<TopicUpdate> {
        let is_new = batch.joined.contains(&broker);
        let deleted = self.deleted_of(batch, is_new).map(|(name, topic)| {
            let mut update = self.topic_update(name, topic, None);
            for partition in &mut update.partitions {
                partition.leader = LEADER_DURING_DELETE;
            }
            update
        });
        let changed = self.topics_of(&batch.announced, is_new);
        deleted.chain(changed.map(|(name, topic, numbers)| self.topic_update(name, topic, numbers))).collect()
    }

    fn stop_replica(&self, broker: i32, batch: &Batch) -> StopReplica {
        let is_new = batch.joined.contains(&broker);
        let deleted = self.deleted_of(batch, is_new).filter_map(|(name, topic)| {
            let hosted = (0i32..).zip(&topic.partitions);
            let hosted = hosted.filter(|(_, state)| state.replicas.contains(&broker));
            let delete = |partition| StopReplicaPartition {
                partition,
                leader_epoch: EPOCH_DURING_DELETE,
                delete: true,
            };
            let partitions: Vec<_> = hosted.map(|(number, _)| delete(number)).collect();
            (!partitions.is_empty()).then(|| StopReplicaTopic { name: name.as_str().into(), partitions })
        });
        let stopped = batch.stopped.get(&broker).into_iter().flatten();
        let stopped = stopped.map(|(name, partitions)| StopReplicaTopic {
            name: name.as_str().into(),
            partitions: partitions.clone(),
        });
        StopReplica { topics: deleted.chain(stopped).collect() }
    }

    /// Some partitions of some topics, or all of all.
    fn topics_of<'a>(
        &'a self,
        some: &'a Partitions,
        all: bool,
    ) -> impl Iterator<Item = (&'a String, &'a TopicState, Option<&'a BTreeSet<i32>>)> {
        let every = self.state.topics.iter().filter(move |_| all).map(|(name, topic)| (name, topic, None));
        let some = some.iter().filter(move |_| !all).filter_map(|(name, numbers)| {
            let topic = self.state.topics.get(name)?;
            Some((name, topic, Some(numbers)))
        });
        every.chain(some)
    }

    fn deleted_of<'a>(
        &'a self,
        batch: &'a Batch,
        all: bool,
    ) -> impl Iterator<Item = (&'a String, &'a TopicState)> {
        self.state.deleting.iter().filter(move |(name, _)| all || batch.deleted.contains(*name))
    }

    fn topic_update(&self, name: &str, topic: &TopicState, numbers: Option<&BTreeSet<i32>>) -> TopicUpdate {
        let partitions = (0i32..).zip(&topic.partitions);
        let partitions = partitions
            .filter(|(number, _)| numbers.is_none_or(|numbers| numbers.contains(number)))
            .map(|(partition, state)| {
                // Dead brokers are the cache's own finding; here are those whose disk has failed.
                let has_failed = |id: &i32| self.is_alive(*id) && !self.is_online(*id, name, partition);
                PartitionUpdate {
                    partition,
                    leader: state.leader,
                    leader_epoch: state.leader_epoch,
                    replicas: state.replicas.clone(),
                    isr: state.isr.clone(),
                    offline: state.replicas.iter().copied().filter(has_failed).collect(),
                }
            });
        TopicUpdate { name: name.into(), id: topic.id, partitions: partitions.collect() }
    }

    fn metadata_update(&self, topics: Vec<TopicUpdate>) -> MetadataUpdate {
        MetadataUpdate {
            controller_id: self.config.node_id,
            controller_epoch: self.state.controller_epoch,
            live_brokers: self.live.values().map(|broker| broker.info.clone()).collect(),
            topics,
        }
    }

    fn send(&mut self, broker: i32, body: ControlBody) {
        let Some(broker_epoch) = self.live.get(&broker).map(|broker| broker.epoch) else { return };
        let mut topics: Vec<Arc<str>> = match &body {
            ControlBody::LeaderAndIsr(body) => body.topics.iter().map(|topic| topic.name.clone()).collect(),
            ControlBody::UpdateMetadata(body) => body.topics.iter().map(|topic| topic.name.clone()).collect(),
            ControlBody::StopReplica(body) => body.topics.iter().map(|topic| topic.name.clone()).collect(),
        };
        topics.sort_unstable();
        self.next_request += 1;
        let id = RequestId(self.next_request);
        self.in_flight.insert(id, InFlight { broker, topics });
        let controller_epoch = self.state.controller_epoch;
        let stamp = ControlStamp { controller_epoch, broker_epoch, sequence: self.next_request };
        let controller_id = self.config.node_id;
        self.effects.push_back(Effect::Send(ControlRequest { id, broker, controller_id, stamp, body }));
    }
}
