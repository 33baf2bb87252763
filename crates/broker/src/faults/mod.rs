//! Faults: what can be wrong with the brokers of an [`EmbeddedCluster`](crate::EmbeddedCluster), one file for each place.
//!
//! `network` knows the faults of the network; `stream` and `listener` are the sockets that obey it. `machine`
//! has those of the disk and the clock, `intercept` those of
//! single requests. A fault is there from
//! the call that makes it to the end of its [`FaultGuard`].

mod error_answers;
mod guard;
mod intercept;
mod link;
mod listener;
mod listener_socket;
mod machine;
mod make_answer;
mod network;
mod stream;
#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;

use tokio::net::TcpStream;

pub use self::guard::FaultGuard;
pub(crate) use self::guard::Undo;
pub(crate) use self::intercept::{Action, ChangeAnswer, Intercepted, Intercepts};
pub use self::intercept::{Intercept, InterceptAction};
use self::link::{Direction, Link};
pub(crate) use self::listener::FaultyListener;
pub(crate) use self::machine::{Machine, MachineFault};
pub(crate) use self::make_answer::Call;
pub(crate) use self::network::{NetFault, Network, Throttle};
use self::stream::Gauge;
pub(crate) use self::stream::{FaultyStream, ReadHalf, WriteHalf};

/// What can go wrong for one broker, in all its lives.
#[derive(Debug, Clone)]
pub(crate) struct BrokerFaults {
    pub(crate) host: Host,
    pub(crate) machine: Arc<Machine>,
    pub(crate) intercepts: Arc<Intercepts>,
}

impl BrokerFaults {
    /// Of a broker in this network.
    pub(crate) fn new(broker: i32, network: Arc<Network>, intercepts: Arc<Intercepts>) -> Self {
        Self { host: Host { broker, network }, machine: Arc::default(), intercepts }
    }

    /// Of a broker to which nobody does anything.
    pub(crate) fn none(broker: i32) -> Self {
        Self::new(broker, Arc::default(), Arc::default())
    }
}

/// Where a broker is in the network. All its sockets come from here.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    broker: i32,
    network: Arc<Network>,
}

impl Host {
    /// In a network without faults.
    #[cfg(test)]
    pub(crate) fn alone(broker: i32) -> Self {
        Self { broker, network: Arc::default() }
    }

    /// Takes a listener's port.
    pub(crate) async fn bind(
        &self,
        name: &str,
        address: SocketAddr,
        from_clients: bool,
    ) -> io::Result<FaultyListener> {
        FaultyListener::bind(self, name, address, from_clients).await
    }

    /// Connects to another broker, or to this one. While the way is cut it hangs.
    pub(crate) async fn connect(&self, to: i32, host: &str, port: u16) -> io::Result<FaultyStream> {
        let link = Link::Connected { from: self.broker, to };
        for direction in [Direction::Out, Direction::In] {
            self.passable(link, direction).await;
        }
        Ok(FaultyStream::new(&self.network, link, TcpStream::connect((host, port)).await?))
    }

    /// Whether the broker is cut off from everything, the registry too.
    pub(crate) fn is_gone(&self) -> bool {
        self.network.is_black_hole(self.broker)
    }

    /// Waits until the broker is not cut off from everything.
    pub(crate) async fn is_back(&self) {
        self.passable(Link::Accepted { at: self.broker, from_clients: false }, Direction::In).await;
    }

    async fn passable(&self, link: Link, direction: Direction) {
        let mut gauge = Gauge::new(self.network.clone(), self.network.new_link(), link, direction);
        poll_fn(|context| if gauge.holds(context) { Poll::Pending } else { Poll::Ready(()) }).await;
    }
}
