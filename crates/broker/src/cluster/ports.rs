//! [`Reservation`]: a port that stays a broker's while the broker is down.

use std::io;
use std::net::SocketAddr;

/// Holds a port with a socket that is bound and does not listen: connections are refused, as by a host on which nobody
/// listens, and the system gives the port to nobody who asks for any port. The broker's listener binds beside it, which
/// both allow (SO_REUSEADDR).
#[derive(Debug)]
pub(super) struct Reservation {
    _socket: Option<socket2::Socket>,
    pub(super) address: SocketAddr,
}

impl Reservation {
    /// Takes the port of `address`, or any free one for port 0.
    #[cfg(target_os = "linux")]
    pub(super) fn new(address: SocketAddr) -> io::Result<Self> {
        let socket =
            socket2::Socket::new(socket2::Domain::for_address(address), socket2::Type::STREAM, None)?;
        if address.port() == 0 {
            socket.bind(&address.into())?;
            socket.set_reuse_address(true)?;
        } else {
            // One that an earlier life has left in TIME_WAIT is free.
            socket.set_reuse_address(true)?;
            socket.bind(&address.into())?;
        }
        let bound = socket.local_addr()?.as_socket();
        Ok(Self { _socket: Some(socket), address: bound.unwrap_or(address) })
    }

    /// Elsewhere two sockets cannot have one port like that; a port is then the broker's only while it runs.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn new(address: SocketAddr) -> io::Result<Self> {
        Ok(Self { _socket: None, address })
    }
}
