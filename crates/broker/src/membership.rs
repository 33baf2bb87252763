//! [`Membership`]: a broker's session with the registry, and what it does when the cluster changes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::blocking::blocking;
use crate::faults::Host;
use crate::metadata_cache::BrokerInfo;
use crate::node::Node;
use crate::registry::RegistryView;

/// The task; dropping it ends it, as a broker that is killed falls silent.
#[derive(Debug)]
pub(crate) struct Membership {
    task: JoinHandle<()>,
}

impl Membership {
    /// Keeps the session alive with a heartbeat in each `period`, holds the controller's office if it falls to this broker,
    /// and registers again when the session was lost.
    pub(crate) fn start(node: Arc<Node>, info: BrokerInfo, period: Duration) -> Self {
        let view = node.registry.watch();
        let gate = node.gate.clone();
        Self { task: gate.spawn(Member { node, info }.run(view, period)) }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Waits for news of the registry, which reach nobody in a black hole.
async fn news(view: &mut watch::Receiver<RegistryView>, host: &Host) -> Result<(), watch::error::RecvError> {
    view.changed().await?;
    // Still news if this is given up meanwhile.
    view.mark_changed();
    host.is_back().await;
    Ok(())
}

/// What a broker does when its session or the cluster wants something of it.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) node: Arc<Node>,
    pub(crate) info: BrokerInfo,
}

impl Member {
    async fn run(self, mut view: watch::Receiver<RegistryView>, period: Duration) {
        let mut heartbeats = interval(period.max(Duration::from_millis(1)));
        heartbeats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        view.mark_changed();
        loop {
            let member = self.clone();
            let done = tokio::select! {
                changed = news(&mut view, &member.node.faults.host) => {
                    if changed.is_err() {
                        return;
                    }
                    let view = view.borrow_and_update().clone();
                    blocking(move || member.cluster_changed(&view)).await
                }
                _ = heartbeats.tick() => blocking(move || member.beat()).await,
            };
            if done.is_err() {
                return;
            }
        }
    }

    /// Hears who is alive and who is the controller. Blocking.
    pub(crate) fn cluster_changed(&self, view: &RegistryView) {
        self.node.controller.registry_changed(view, self.node.obedience.broker_epoch());
    }

    /// Says that the broker is there; registers again if the session has ended. Blocking.
    pub(crate) fn beat(&self) {
        if self.node.faults.host.is_gone() {
            return;
        }
        let Node { registry, obedience, config, .. } = &*self.node;
        if registry.heartbeat(config.node_id, obedience.broker_epoch()).is_ok() {
            let view = registry.watch().borrow().clone();
            if view.controller.is_none() {
                // Whoever tried to be it could not, perhaps for want of room on the registry's disk, and nobody hears of that.
                self.cluster_changed(&view);
            }
            return;
        }
        tracing::warn!(broker = config.node_id, "the session has ended; registering again");
        match registry.register(self.info.clone()) {
            Ok(registration) => obedience.registered(registration),
            Err(error) => tracing::error!(%error, "cannot register"),
        }
    }
}
