//! [`TopicConfigs`]: what was set on topics themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::HashMap;
use milena_storage::LogConfig;
use parking_lot::RwLock;

type Configs = Arc<BTreeMap<String, String>>;

/// The settings of each topic that has some. What a topic does not set, it has from its broker.
#[derive(Debug, Default)]
pub(crate) struct TopicConfigs {
    topics: RwLock<HashMap<String, Configs>>,
}

impl TopicConfigs {
    pub(crate) fn get(&self, topic: &str) -> Configs {
        self.topics.read().get(topic).cloned().unwrap_or_default()
    }

    pub(crate) fn set(&self, topic: &str, configs: &BTreeMap<String, String>) {
        let mut topics = self.topics.write();
        if configs.is_empty() {
            topics.remove(topic);
        } else {
            topics.insert(topic.to_owned(), Arc::new(configs.clone()));
        }
    }

    /// `defaults` with what the topic overrides.
    pub(crate) fn log_config(&self, defaults: &LogConfig, topic: &str) -> LogConfig {
        let mut config = defaults.clone();
        for (name, value) in self.get(topic).iter() {
            // Validated when it was set; a setting that a later version no longer knows is left out.
            if let Err(error) = config.set(name, value) {
                tracing::warn!(topic, %error, "a setting of the topic is ignored");
            }
        }
        config
    }
}
