//! [`Membership`]: a broker's session with the registry, and what it does when the cluster changes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::blocking::blocking;
use crate::clock::FOR_EVER;
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
    /// Apart from each other: what a controller has to do when a broker dies may take longer than its own session.
    async fn run(self, view: watch::Receiver<RegistryView>, period: Duration) {
        let no_controller = Notify::new();
        tokio::select! {
            () = self.follow_cluster(view, &no_controller) => {}
            () = self.keep_session(period, &no_controller) => {}
        }
    }

    async fn follow_cluster(&self, mut view: watch::Receiver<RegistryView>, no_controller: &Notify) {
        view.mark_changed();
        loop {
            let member = self.clone();
            tokio::select! {
                changed = news(&mut view, &member.node.faults.host) => if changed.is_err() { return },
                () = no_controller.notified() => {}
            }
            let view = view.borrow_and_update().clone();
            if blocking(move || member.cluster_changed(&view)).await.is_err() {
                return;
            }
        }
    }

    async fn keep_session(&self, period: Duration, no_controller: &Notify) {
        let mut heartbeats = interval(period.clamp(Duration::from_millis(1), FOR_EVER));
        heartbeats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            heartbeats.tick().await;
            let member = self.clone();
            match blocking(move || member.beat()).await {
                Ok(Beat::Alone) => no_controller.notify_one(),
                Ok(Beat::Done) => {}
                Err(_) => return,
            }
        }
    }

    /// Hears who is alive and who is the controller. Blocking, and never twice at a time: views come in their order.
    pub(crate) fn cluster_changed(&self, view: &RegistryView) {
        self.node.controller.registry_changed(view, self.node.obedience.broker_epoch());
    }

    /// Says that the broker is there; registers again if the session has ended. Blocking.
    pub(crate) fn beat(&self) -> Beat {
        if self.node.faults.host.is_gone() {
            return Beat::Done;
        }
        let Node { registry, obedience, config, .. } = &*self.node;
        if registry.heartbeat(config.node_id, obedience.broker_epoch()).is_ok() {
            let has_controller = registry.watch().borrow().controller.is_some();
            return if has_controller { Beat::Done } else { Beat::Alone };
        }
        tracing::warn!(broker = config.node_id, "the session has ended; registering again");
        if let Err(error) = obedience.register_again(self.info.clone()) {
            tracing::error!(%error, "cannot register");
        }
        Beat::Done
    }
}

/// What a broker finds when it says that it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beat {
    Done,
    /// Nobody is the controller. Whoever tried to be it could not, perhaps for want of room on the registry's disk, and nobody
    /// hears of that: it is to be tried again.
    Alone,
}
