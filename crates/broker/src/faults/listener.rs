//! [`FaultyListener`]: a listening socket that can be cut off.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;

use parking_lot::Mutex;
use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::TcpListener;

use super::Host;
use super::network::{Direction, Link};
use super::stream::{FaultyStream, Gauge};

/// As tokio has it.
const BACKLOG: i32 = 1024;
/// Of a deaf listener; 0 would make the kernel suspect a SYN flood.
const DEAF_BACKLOG: i32 = 1;
/// One more than the backlog fills the queue; the others wait for the place of one that may be accepted at this very moment.
const FILLERS: usize = 4;

/// A listening socket, which outlives its broker when that is killed while nobody may hear of it.
#[derive(Debug)]
pub(super) struct ListenerSocket {
    name: String,
    link: Link,
    socket: TcpListener,
    /// Of a deaf listener: the connections that fill its queue.
    fillers: Mutex<Option<Vec<Socket>>>,
}

impl ListenerSocket {
    pub(super) fn link(&self) -> Link {
        self.link
    }

    pub(super) fn is(&self, broker: i32, name: &str) -> bool {
        matches!(self.link, Link::Accepted { at, .. } if at == broker) && self.name == name
    }

    /// Fills the queue of the connections that the kernel accepts for us, so that it answers to no SYN any more; or empties it.
    pub(super) fn turn_deaf(&self, deaf: bool) {
        let mut fillers = self.fillers.lock();
        if deaf == fillers.is_some() {
            return;
        }
        let socket = SockRef::from(&self.socket);
        let backlog = if deaf { DEAF_BACKLOG } else { BACKLOG };
        if let Err(error) = socket.listen(backlog) {
            tracing::warn!(%error, "a listener cannot be cut off; it will accept connections, and be silent");
        }
        *fillers = deaf.then(|| (0..FILLERS).filter_map(|_| self.filler().ok()).collect());
    }

    fn filler(&self) -> io::Result<Socket> {
        let address = self.socket.local_addr()?;
        let filler = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        filler.set_nonblocking(true)?;
        // It says that it is in progress.
        let _in_progress = filler.connect(&address.into());
        Ok(filler)
    }
}

/// A listener of one broker. While it is cut off it accepts nobody.
#[derive(Debug)]
pub(crate) struct FaultyListener {
    host: Host,
    socket: Arc<ListenerSocket>,
    gauge: Gauge,
}

impl FaultyListener {
    pub(super) async fn bind(
        host: &Host,
        name: &str,
        address: SocketAddr,
        from_clients: bool,
    ) -> io::Result<Self> {
        let link = Link::Accepted { at: host.broker, from_clients };
        let socket = match host.network.dig_out_listener(host.broker, name) {
            Some(socket) => socket,
            None => {
                let socket = TcpListener::bind(address).await?;
                Arc::new(ListenerSocket { name: name.to_owned(), link, socket, fillers: Mutex::default() })
            }
        };
        host.network.add_listener(&socket);
        let gauge = Gauge::new(host.network.clone(), host.network.new_link(), link, Direction::In);
        Ok(Self { host: host.clone(), socket, gauge })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.socket.local_addr()
    }

    pub(crate) async fn accept(&mut self) -> io::Result<(FaultyStream, SocketAddr)> {
        let (stream, address) = poll_fn(|context| {
            if self.gauge.holds(context) { Poll::Pending } else { self.socket.socket.poll_accept(context) }
        })
        .await?;
        Ok((FaultyStream::new(&self.host.network, self.socket.link, stream), address))
    }
}

impl Drop for FaultyListener {
    fn drop(&mut self) {
        self.host.network.bury_listener(self.socket.clone());
    }
}
