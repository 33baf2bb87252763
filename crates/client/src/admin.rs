//! The admin client: topics, their settings, their offsets, and the cluster as it is.

use std::{sync::Arc, time::Duration};

use milena_core::{
    admin::{self, AdminEngine, AdminHandle, RetryPolicy, Target},
    config::{ClientConfig, ConfigError},
    metadata::MetadataTopics,
    network::{OutboundRequest, Response},
};
use milena_protocol::{
    DecodeError, ErrorCode, Request, Uuid,
    messages::{
        CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
        DeleteTopicState, DeleteTopicsRequest, DescribeConfigsRequest, DescribeConfigsResource,
        ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic, MetadataRequest, MetadataRequestTopic,
        MetadataResponse, MetadataResponseTopic,
    },
};

use crate::{
    clock::Clock,
    driver::{self, BuildError, DriverHandle},
    metadata::MetadataWatch,
};

/// Kafka's `ConfigResource.Type.TOPIC`.
const RESOURCE_TOPIC: i8 = 2;
/// Kafka's `ConfigEntry.ConfigSource.DEFAULT_CONFIG`.
const SOURCE_DEFAULT: i8 = 5;

/// Why a request of the admin client has no answer, or not the one that was wanted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AdminError {
    /// The request could not be sent, or nobody answered.
    #[error(transparent)]
    Request(#[from] admin::AdminError),
    /// The broker answered an error.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The broker's answer makes no sense: the broker's fault.
    #[error("the broker's answer cannot be read: {0}")]
    Malformed(#[from] DecodeError),
    /// The broker's answer does not speak of what was asked for: the broker's fault.
    #[error("the broker's answer lacks {0}")]
    Incomplete(String),
}

/// A broker's refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// Kafka's error.
    pub code: ErrorCode,
    /// The broker's words, or what the error means in general.
    pub message: String,
}

impl Refusal {
    pub(crate) fn check(code: ErrorCode, message: Option<&str>) -> Result<(), Self> {
        if code.is_ok() {
            return Ok(());
        }
        Err(Self { code, message: message.unwrap_or(code.message()).to_owned() })
    }
}

/// A topic to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTopic {
    /// Its name.
    pub name: String,
    /// How many partitions; −1 for the broker's default.
    pub partitions: i32,
    /// How many replicas of each; −1 for the broker's default.
    pub replication_factor: i16,
    /// The brokers that hold each partition, the preferred leader first, instead of `partitions` and `replication_factor`,
    /// which then have to be −1. Empty: the cluster chooses.
    pub assignments: Vec<Vec<i32>>,
    /// Settings that differ from the broker's defaults, by Kafka's names.
    pub configs: Vec<(String, String)>,
}

impl NewTopic {
    /// A topic with the broker's default partitions, replicas and settings.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self { name, partitions: -1, replication_factor: -1, assignments: Vec::new(), configs: Vec::new() }
    }
}

/// A topic and its partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicDescription {
    /// Its name.
    pub name: String,
    /// Its id; zero from brokers before Kafka 2.8.
    pub id: Uuid,
    /// Whether it is one of Kafka's own.
    pub is_internal: bool,
    /// Its partitions, by id.
    pub partitions: Vec<PartitionDescription>,
}

/// A partition: who leads it and where its replicas are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionDescription {
    /// Its id.
    pub partition: i32,
    /// The leader's id, if there is a leader.
    pub leader: Option<i32>,
    /// The leader's epoch; −1 from brokers that do not tell.
    pub leader_epoch: i32,
    /// The ids of the brokers that hold it.
    pub replicas: Vec<i32>,
    /// Those in sync.
    pub isr: Vec<i32>,
    /// Those offline.
    pub offline_replicas: Vec<i32>,
}

/// A setting of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigEntry {
    /// Its Kafka name.
    pub name: String,
    /// Its value; none if it is secret.
    pub value: Option<String>,
    /// Whether it is Kafka's default, set nowhere.
    pub is_default: bool,
    /// Whether it can be changed.
    pub read_only: bool,
}

/// Which offset of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetSpec {
    /// The first that is there.
    Earliest,
    /// The one that the next record will get (the high watermark).
    Latest,
    /// The first whose timestamp is this or later, in milliseconds since the Unix epoch.
    AtTimestamp(i64),
}

impl OffsetSpec {
    const fn to_wire(self) -> i64 {
        match self {
            Self::Earliest => -2,
            Self::Latest => -1,
            // Below 0 numbers mean something else; no record is as old.
            Self::AtTimestamp(millis) if millis < 0 => 0,
            Self::AtTimestamp(millis) => millis,
        }
    }
}

/// Collects settings under Kafka's names.
#[derive(Clone, Debug)]
pub struct AdminBuilder {
    config: ClientConfig,
    topics: MetadataTopics,
    timeout: Duration,
    error: Option<ConfigError>,
}

impl AdminBuilder {
    /// The brokers to start from: `host:port,host:port` (bootstrap.servers).
    #[must_use]
    pub fn bootstrap(self, list: &str) -> Self {
        self.set("bootstrap.servers", list)
    }

    /// A setting by its Kafka name; the first one that is wrong is reported by [`build`](Self::build).
    #[must_use]
    pub fn set(mut self, key: &str, value: &str) -> Self {
        if self.error.is_none() {
            self.error = self.config.set(key, value).err();
        }
        self
    }

    /// How long a call may take in all, retries included (default.api.timeout.ms; 60 s).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Accepts answers that are larger than usual by so many bytes.
    pub(crate) fn accept_larger_by(mut self, bytes: usize) -> Self {
        self.config.max_response_size = self.config.max_response_size.saturating_add(bytes);
        self
    }

    /// Suspects no broker that takes so much longer for an answer than usual: it was asked to, in long polls.
    pub(crate) fn patient_for(mut self, time: Duration) -> Self {
        if !self.config.suspicion_floor.is_zero() {
            self.config.suspicion_floor += time;
        }
        self
    }

    /// Watch the whole cluster, every topic: for [`Admin::metadata`].
    #[must_use]
    pub fn all_topics(mut self) -> Self {
        self.topics = MetadataTopics::All;
        self
    }

    /// Starts the client. Nothing is asked of the network or DNS yet.
    ///
    /// # Errors
    /// The first wrong setting, an empty bootstrap list, or the system's refusal of a thread.
    pub fn build(self) -> Result<Admin, BuildError> {
        if let Some(error) = self.error {
            return Err(error.into());
        }
        if self.config.bootstrap.is_empty() {
            let text = "`bootstrap.servers` is empty: name at least one broker as host:port";
            return Err(ConfigError::Conflict(text.to_owned()).into());
        }
        let clock = Arc::new(Clock::new());
        let (engine, handle) = AdminEngine::new(&self.config, self.topics, rand::random(), clock.now());
        let signal = Arc::clone(handle.signal());
        let max_frame = self.config.max_response_size;
        let driver = driver::spawn("milena-admin", engine, signal, Arc::clone(&clock), max_frame)?;
        let Self { timeout, config: ClientConfig { request_timeout, .. }, .. } = self;
        Ok(Admin { handle, clock, driver, timeout, request_timeout })
    }
}

/// Asks the cluster about itself and changes it. All methods take `&self` and may run at the same time.
#[derive(Debug)]
pub struct Admin {
    handle: AdminHandle,
    clock: Arc<Clock>,
    driver: DriverHandle,
    timeout: Duration,
    request_timeout: Duration,
}

impl Admin {
    /// A builder with Kafka's defaults.
    pub fn builder() -> AdminBuilder {
        AdminBuilder {
            config: ClientConfig::default(),
            topics: MetadataTopics::Wanted,
            timeout: Duration::from_secs(60),
            error: None,
        }
    }

    /// Creates topics; says of each, in the given order, its id or why it was not created.
    ///
    /// # Errors
    /// [`AdminError`] when the controller did not answer within the timeout.
    pub async fn create_topics(
        &self,
        topics: &[NewTopic],
    ) -> Result<Vec<(String, Result<Uuid, Refusal>)>, AdminError> {
        let topics = topics.iter().map(|topic| CreatableTopic {
            name: topic.name.clone(),
            num_partitions: topic.partitions,
            replication_factor: topic.replication_factor,
            assignments: (0..)
                .zip(&topic.assignments)
                .map(|(partition_index, broker_ids)| CreatableReplicaAssignment {
                    partition_index,
                    broker_ids: broker_ids.clone(),
                })
                .collect(),
            configs: topic
                .configs
                .iter()
                .map(|(name, value)| CreatableTopicConfig { name: name.clone(), value: Some(value.clone()) })
                .collect(),
        });
        let request = CreateTopicsRequest {
            topics: topics.collect(),
            timeout_ms: self.timeout_ms(),
            ..Default::default()
        };
        let policy = RetryPolicy::errors_of::<CreateTopicsRequest>(|response| {
            not_controller(response.topics.iter().map(|topic| topic.error_code))
        });
        let answer = self.ask(Target::Controller, request, policy).await?;
        let results = answer.topics.into_iter().map(|topic| {
            let refused = Refusal::check(topic.error_code, topic.error_message.as_deref());
            (topic.name, refused.map(|()| topic.topic_id))
        });
        Ok(results.collect())
    }

    /// Deletes topics and all that is in them; says of each, in the given order, whether it was deleted.
    ///
    /// # Errors
    /// [`AdminError`] when the controller did not answer within the timeout.
    pub async fn delete_topics(
        &self,
        topics: &[&str],
    ) -> Result<Vec<(String, Result<(), Refusal>)>, AdminError> {
        let names: Vec<String> = topics.iter().map(|&topic| topic.to_owned()).collect();
        let states =
            names.iter().map(|name| DeleteTopicState { name: Some(name.clone()), ..Default::default() });
        let request = Versioned::new(DeleteTopicsRequest {
            topics: states.collect(),
            timeout_ms: self.timeout_ms(),
            ..Default::default()
        })
        // Below version 6 topics go in another field; every broker since Kafka 2.8 has 6.
        .at_least(6);
        let policy = RetryPolicy::errors_of::<DeleteTopicsRequest>(|response| {
            not_controller(response.responses.iter().map(|topic| topic.error_code))
        });
        let answer = self.ask_versioned(Target::Controller, request, policy).await?;
        let results = answer.responses.into_iter().map(|topic| {
            let refused = Refusal::check(topic.error_code, topic.error_message.as_deref());
            (topic.name.unwrap_or_default(), refused)
        });
        Ok(results.collect())
    }

    /// All topics of the cluster, by name.
    ///
    /// # Errors
    /// [`AdminError`] when no broker answered within the timeout.
    pub async fn list_topics(&self) -> Result<Vec<TopicDescription>, AdminError> {
        let mut topics: Vec<_> =
            self.topic_metadata(None).await?.topics.into_iter().map(TopicDescription::from).collect();
        topics.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(topics)
    }

    /// Some topics; says of each what it is like or why that is not known.
    ///
    /// # Errors
    /// [`AdminError`] when no broker answered within the timeout.
    pub async fn describe_topics(
        &self,
        topics: &[&str],
    ) -> Result<Vec<(String, Result<TopicDescription, Refusal>)>, AdminError> {
        let names = topics
            .iter()
            .map(|&topic| MetadataRequestTopic { name: Some(topic.to_owned()), ..Default::default() })
            .collect();
        let answer = self.topic_metadata(Some(names)).await?;
        let described = answer.topics.into_iter().map(|topic| {
            let name = topic.name.clone().unwrap_or_default();
            let refused = Refusal::check(topic.error_code, None);
            (name, refused.map(|()| TopicDescription::from(topic)))
        });
        Ok(described.collect())
    }

    /// The settings of a topic.
    ///
    /// # Errors
    /// [`AdminError::Refused`] when there is no such topic; [`AdminError`] when nobody answered.
    pub async fn describe_configs(&self, topic: &str) -> Result<Vec<ConfigEntry>, AdminError> {
        let resource = DescribeConfigsResource {
            resource_type: RESOURCE_TOPIC,
            resource_name: topic.to_owned(),
            configuration_keys: None,
        };
        let request = DescribeConfigsRequest { resources: vec![resource], ..Default::default() };
        let answer = self.ask(Target::Any, request, RetryPolicy::lost()).await?;
        let result = answer
            .results
            .into_iter()
            .next()
            .ok_or_else(|| AdminError::Incomplete(format!("topic `{topic}`")))?;
        Refusal::check(result.error_code, result.error_message.as_deref())?;
        let entries = result.configs.into_iter().map(|entry| ConfigEntry {
            name: entry.name,
            value: entry.value,
            is_default: entry.config_source == SOURCE_DEFAULT,
            read_only: entry.read_only,
        });
        Ok(entries.collect())
    }

    /// An offset of a partition, from its leader. None: no record has that timestamp or a later one.
    ///
    /// # Errors
    /// [`AdminError::Refused`] with the leader's error; [`AdminError`] when the leader did not answer.
    pub async fn offset(
        &self,
        topic: &str,
        partition: i32,
        spec: OffsetSpec,
    ) -> Result<Option<i64>, AdminError> {
        let wanted = ListOffsetsPartition {
            partition_index: partition,
            current_leader_epoch: -1,
            timestamp: spec.to_wire(),
        };
        let request = ListOffsetsRequest {
            replica_id: -1,
            topics: vec![ListOffsetsTopic { name: topic.to_owned(), partitions: vec![wanted] }],
            ..Default::default()
        };
        let policy = RetryPolicy::errors_of::<ListOffsetsRequest>(|response| {
            let mut partitions = response.topics.iter().flat_map(|topic| &topic.partitions);
            partitions.next().map_or(ErrorCode::NONE, |partition| partition.error_code)
        });
        let target = Target::Leader { topic: topic.into(), partition };
        let answer = self.ask(target, request, policy).await?;
        let found = answer.topics.into_iter().flat_map(|topic| topic.partitions).next();
        let found = found.ok_or_else(|| AdminError::Incomplete(format!("{topic}-{partition}")))?;
        Refusal::check(found.error_code, None)?;
        Ok((found.offset >= 0).then_some(found.offset))
    }

    /// The cluster as this client sees it, and its refreshes.
    pub fn metadata(&self) -> MetadataWatch {
        MetadataWatch::new(self.handle.metadata().clone(), Arc::clone(&self.clock))
    }

    /// Closes the connections and ends the client's thread. What has no answer yet fails.
    pub async fn close(&self) {
        self.handle.close();
        self.driver.ended().await;
    }

    async fn topic_metadata(
        &self,
        topics: Option<Vec<MetadataRequestTopic>>,
    ) -> Result<MetadataResponse, AdminError> {
        let request = Versioned::new(MetadataRequest {
            topics,
            allow_auto_topic_creation: false,
            ..Default::default()
        })
        // The first version that can ask without creating.
        .at_least(4);
        self.ask_versioned(Target::Any, request, RetryPolicy::lost()).await
    }

    async fn ask<R: Request>(
        &self,
        target: Target,
        request: R,
        policy: RetryPolicy,
    ) -> Result<R::Response, AdminError> {
        let response = self.submit(target, request, policy).await?;
        Ok(response.decode::<R>()?)
    }

    async fn ask_versioned<R: Request>(
        &self,
        target: Target,
        request: Versioned<R>,
        policy: RetryPolicy,
    ) -> Result<R::Response, AdminError> {
        let response = self.submit(target, request, policy).await?;
        Ok(response.decode::<R>()?)
    }

    /// Sends any request of the protocol.
    pub(crate) async fn submit(
        &self,
        target: Target,
        request: impl OutboundRequest + Sync + 'static,
        policy: RetryPolicy,
    ) -> Result<Response, admin::AdminError> {
        self.handle.submit(target, request, self.clock.now() + self.timeout, policy).await
    }

    pub(crate) fn handle(&self) -> &AdminHandle {
        &self.handle
    }

    pub(crate) fn clock(&self) -> &Arc<Clock> {
        &self.clock
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How long a broker may take for a change: no longer than its answer is waited for. A change whose answer comes too
    /// late is asked for again, and has been made then.
    fn timeout_ms(&self) -> i32 {
        i32::try_from(self.timeout.min(self.request_timeout).as_millis()).unwrap_or(i32::MAX)
    }
}

impl Drop for Admin {
    fn drop(&mut self) {
        self.handle.close();
    }
}

/// A request that is said in some of its versions only.
#[derive(Debug)]
pub(crate) struct Versioned<R> {
    request: R,
    versions: milena_protocol::VersionRange,
}

impl<R: Request> Versioned<R> {
    pub(crate) fn new(request: R) -> Self {
        Self { request, versions: R::VERSIONS }
    }

    pub(crate) fn at_least(mut self, min: i16) -> Self {
        self.versions.min = self.versions.min.max(min);
        self
    }

    pub(crate) fn at_most(mut self, max: i16) -> Self {
        self.versions.max = self.versions.max.min(max);
        self
    }
}

impl<R: Request> OutboundRequest for Versioned<R> {
    fn api_key(&self) -> milena_protocol::ApiKey {
        R::API_KEY
    }

    fn versions(&self) -> milena_protocol::VersionRange {
        self.versions
    }

    fn encode(
        &self,
        version: i16,
        correlation_id: i32,
        client_id: &str,
    ) -> Result<milena_protocol::Frame, milena_protocol::EncodeError> {
        milena_protocol::encode_request(&self.request, version, correlation_id, Some(client_id))
    }
}

impl From<MetadataResponseTopic> for TopicDescription {
    fn from(topic: MetadataResponseTopic) -> Self {
        let partitions = topic.partitions.into_iter().map(|partition| PartitionDescription {
            partition: partition.partition_index,
            leader: Some(partition.leader_id).filter(|id| *id >= 0),
            leader_epoch: partition.leader_epoch,
            replicas: partition.replica_nodes,
            isr: partition.isr_nodes,
            offline_replicas: partition.offline_replicas,
        });
        let mut partitions: Vec<_> = partitions.collect();
        partitions.sort_by_key(|partition| partition.partition);
        Self {
            name: topic.name.unwrap_or_default(),
            id: topic.topic_id,
            is_internal: topic.is_internal,
            partitions,
        }
    }
}

/// NOT_CONTROLLER if any topic has it: then none was carried out, and the request goes to another broker.
fn not_controller(mut codes: impl Iterator<Item = ErrorCode>) -> ErrorCode {
    codes.find(|code| *code == ErrorCode::NOT_CONTROLLER).unwrap_or(ErrorCode::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_the_epoch_are_no_names_of_offsets() {
        assert_eq!([-2, -1, 0, 1].map(|at| OffsetSpec::AtTimestamp(at).to_wire()), [0, 0, 0, 1]);
    }

    #[test]
    fn a_broker_gets_no_longer_for_a_change_than_its_answer_is_waited_for() -> Result<(), BuildError> {
        let admin = Admin::builder().bootstrap("localhost:9092").timeout(Duration::from_secs(9));
        assert_eq!(admin.clone().build()?.timeout_ms(), 9_000);
        assert_eq!(admin.set("request.timeout.ms", "2000").build()?.timeout_ms(), 2_000);
        Ok(())
    }
}
