//! [`ListenerSocket`]: a listening socket that can be deaf.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use super::link::Link;

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
    pub(super) fn new(name: &str, link: Link, socket: TcpListener) -> Self {
        Self { name: name.to_owned(), link, socket, fillers: Mutex::default() }
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub(super) fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        self.socket.poll_accept(context)
    }

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
