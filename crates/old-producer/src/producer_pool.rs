//! [`ProducerPool`]: a [`SyncProducer`] per broker (`kafka.producer.ProducerPool`).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{BrokerAddress, Machine, ProducerConfig, SyncProducer};

/// The brokers that records are sent to, by id.
#[derive(Debug)]
pub(crate) struct ProducerPool {
    config: Arc<ProducerConfig>,
    machine: Arc<dyn Machine>,
    sync_producers: BTreeMap<i32, SyncProducer>,
}

impl ProducerPool {
    pub(crate) fn new(config: Arc<ProducerConfig>, machine: Arc<dyn Machine>) -> Self {
        Self { config, machine, sync_producers: BTreeMap::new() }
    }

    /// Closes the connections to these brokers and builds them anew, be they the same as before or not. As in 0.8, one that
    /// leads nothing any more stays as it is: nobody sends to it.
    pub(crate) fn update_producer(&mut self, leaders: BTreeMap<i32, BrokerAddress>) {
        for (id, broker) in leaders {
            self.sync_producers.insert(id, SyncProducer::of(broker, &self.config, &self.machine));
        }
    }

    pub(crate) fn get(&mut self, broker: i32) -> Option<&mut SyncProducer> {
        self.sync_producers.get_mut(&broker)
    }

    pub(crate) fn close(&mut self) {
        self.sync_producers.clear();
    }
}
