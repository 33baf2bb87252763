//! The registry: what ZooKeeper was to a cluster. Who is alive, who is the controller, and the state that outlives both.
//!
//! [`RegistryEngine`] is pure: requests go in, `now` is an argument, and whoever drives it makes its state durable before
//! anybody hears of it.

mod cluster;
mod engine;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use cluster::{ClusterRegistry, ClusterRegistryError, ConfigListener};
pub use engine::{
    ControllerInfo, RegisteredBroker, Registration, RegistryConfig, RegistryEngine, RegistryError,
    RegistryState, RegistryView,
};
pub(crate) use store::{REGISTRY_OF_MANY, REGISTRY_OF_ONE, RegistryStore};
