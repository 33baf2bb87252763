//! The clients that the commands use, with their settings from the command line.

use std::time::Duration;

use milena::{Admin, BuildError, Consumer, Producer};

use crate::{
    args::{Properties, Property},
    cluster::Cluster,
    silence::{self, Limit},
    usage_error,
};

/// Kafka's name for the time that one request may take in all, which is no setting of the connection.
const API_TIMEOUT: &str = "default.api.timeout.ms";
/// As long as a producer's record may wait for a broker, and what the clients allow a request, when nothing is said.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_BLOCK: &str = "max.block.ms";

/// # Errors
/// A setting is wrong.
pub(crate) fn producer(cluster: &Cluster, settings: &[Property]) -> anyhow::Result<Producer> {
    let mut builder = Producer::builder().bootstrap(cluster.bootstrap());
    let mut limit = Limit { time: DEFAULT_TIMEOUT, setting: MAX_BLOCK };
    for property in settings {
        builder = builder.set(&property.key, &property.value);
        if let (MAX_BLOCK, Ok(millis)) = (property.key.as_str(), property.value.parse()) {
            limit.time = Duration::from_millis(millis);
        }
    }
    let producer = builder.build().map_err(usage)?;
    silence::tell_of(cluster, producer.metadata(), Some(limit));
    Ok(producer)
}

/// # Errors
/// A setting is wrong.
pub(crate) fn consumer(
    cluster: &Cluster,
    Properties { properties }: &Properties,
) -> anyhow::Result<Consumer> {
    let mut builder = Consumer::builder().bootstrap(cluster.bootstrap());
    let mut limit = Limit { time: DEFAULT_TIMEOUT, setting: API_TIMEOUT };
    for property in properties {
        builder = match timeout(property)? {
            Some(timeout) => {
                limit.time = timeout;
                builder.timeout(timeout)
            }
            None => builder.set(&property.key, &property.value),
        };
    }
    let consumer = builder.build().map_err(usage)?;
    silence::tell_of(cluster, consumer.metadata(), Some(limit));
    Ok(consumer)
}

/// What an admin's view of the cluster is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// To know whom to ask.
    Requests,
    /// To be shown, with all topics.
    Shown,
    /// To be shown for as long as the user likes.
    Watched,
}

/// # Errors
/// A setting is wrong.
pub(crate) fn admin(
    cluster: &Cluster,
    Properties { properties }: &Properties,
    scope: Scope,
) -> anyhow::Result<Admin> {
    let mut builder = Admin::builder().bootstrap(cluster.bootstrap());
    if scope != Scope::Requests {
        builder = builder.all_topics();
    }
    let mut limit = Limit { time: DEFAULT_TIMEOUT, setting: API_TIMEOUT };
    for property in properties {
        builder = match timeout(property)? {
            Some(timeout) => {
                limit.time = timeout;
                builder.timeout(timeout)
            }
            None => builder.set(&property.key, &property.value),
        };
    }
    let admin = builder.build().map_err(usage)?;
    silence::tell_of(cluster, admin.metadata(), (scope != Scope::Watched).then_some(limit));
    Ok(admin)
}

/// The time limit of one request, if that is what the property sets.
///
/// # Errors
/// It is no number of milliseconds.
pub(crate) fn timeout(property: &Property) -> anyhow::Result<Option<Duration>> {
    let Property { key, value } = property;
    if key != API_TIMEOUT {
        return Ok(None);
    }
    let millis = value.parse().ok().filter(|millis: &u64| *millis > 0 && *millis <= 86_400_000);
    let expected = || usage_error(format!("`{key}={value}`: expected a number of milliseconds, up to a day"));
    Ok(Some(Duration::from_millis(millis.ok_or_else(expected)?)))
}

fn usage(error: BuildError) -> anyhow::Error {
    match error {
        BuildError::Config(error) => usage_error(error),
        error => error.into(),
    }
}
