//! [`FaultyListener`]: a listening socket that can be cut off.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;

use tokio::net::TcpListener;

use super::Host;
use super::link::{Direction, Link};
use super::listener_socket::ListenerSocket;
use super::stream::{FaultyStream, Gauge};

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
            None => Arc::new(ListenerSocket::new(name, link, TcpListener::bind(address).await?)),
        };
        host.network.add_listener(&socket);
        let gauge = Gauge::new(host.network.clone(), host.network.new_link(), link, Direction::In);
        Ok(Self { host: host.clone(), socket, gauge })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub(crate) async fn accept(&mut self) -> io::Result<(FaultyStream, SocketAddr)> {
        let (stream, address) =
            poll_fn(
                |context| {
                    if self.gauge.holds(context) { Poll::Pending } else { self.socket.poll_accept(context) }
                },
            )
            .await?;
        Ok((FaultyStream::new(&self.host.network, self.socket.link(), stream), address))
    }
}

impl Drop for FaultyListener {
    fn drop(&mut self) {
        self.host.network.bury_listener(self.socket.clone());
    }
}
