//! The clients that the commands use, with their settings from the command line.

use std::time::Duration;

use milena::{Admin, BuildError, Consumer, Producer};

use crate::{
    args::{Properties, Property},
    cluster::Cluster,
    usage_error,
};

/// Kafka's name for the time that one request may take in all, which is no setting of the connection.
const API_TIMEOUT: &str = "default.api.timeout.ms";

/// # Errors
/// A setting is wrong.
pub(crate) fn producer(cluster: &Cluster, settings: &[Property]) -> anyhow::Result<Producer> {
    let mut builder = Producer::builder().bootstrap(cluster.bootstrap());
    for property in settings {
        builder = builder.set(&property.key, &property.value);
    }
    builder.build().map_err(usage)
}

/// # Errors
/// A setting is wrong.
pub(crate) fn consumer(
    cluster: &Cluster,
    Properties { properties }: &Properties,
) -> anyhow::Result<Consumer> {
    let mut builder = Consumer::builder().bootstrap(cluster.bootstrap());
    for property in properties {
        builder = match timeout(property)? {
            Some(timeout) => builder.timeout(timeout),
            None => builder.set(&property.key, &property.value),
        };
    }
    builder.build().map_err(usage)
}

/// With `all_topics` its metadata shows the whole cluster.
///
/// # Errors
/// A setting is wrong.
pub(crate) fn admin(
    cluster: &Cluster,
    Properties { properties }: &Properties,
    all_topics: bool,
) -> anyhow::Result<Admin> {
    let mut builder = Admin::builder().bootstrap(cluster.bootstrap());
    if all_topics {
        builder = builder.all_topics();
    }
    for property in properties {
        builder = match timeout(property)? {
            Some(timeout) => builder.timeout(timeout),
            None => builder.set(&property.key, &property.value),
        };
    }
    builder.build().map_err(usage)
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
