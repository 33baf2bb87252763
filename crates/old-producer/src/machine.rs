//! [`Machine`]: time and sockets, so that a test may take their place. [`Host`] is the real one.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::BrokerAddress;

/// A blocking connection. A read fails with `TimedOut` or `WouldBlock` when nothing came within the time that it was made
/// with; dropping it closes it.
pub trait Socket: Read + Write + Send {}

impl<T: Read + Write + Send> Socket for T {}

/// What the producer needs of the machine that it runs on. Every call blocks the caller for as long as it takes.
pub trait Machine: Send + Sync + fmt::Debug {
    /// The time since some moment that stays the same. Never runs back.
    fn now(&self) -> Duration;

    /// Milliseconds since the Unix epoch.
    fn wall_millis(&self) -> i64;

    /// Waits.
    fn sleep(&self, time: Duration);

    /// Connects to a broker within `timeout`, which is the limit of each later read, too (`SO_TIMEOUT`). As in 0.8, writes
    /// have none.
    ///
    /// # Errors
    /// The system's; `TimedOut` when nobody answered within `timeout`.
    fn connect(&self, broker: &BrokerAddress, timeout: Duration) -> io::Result<Box<dyn Socket>>;
}

/// The machine as it is: the system's clock and TCP.
#[derive(Debug, Clone)]
pub struct Host {
    start: Instant,
}

impl Host {
    /// A machine whose time begins now.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl Machine for Host {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn wall_millis(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn connect(&self, broker: &BrokerAddress, timeout: Duration) -> io::Result<Box<dyn Socket>> {
        // As Java's InetSocketAddress: the first address, and the resolver takes what it takes.
        let mut addresses = (broker.host.as_str(), broker.port).to_socket_addrs()?;
        let address = addresses.next().ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("{} has no address", broker.host))
        })?;
        let socket = TcpStream::connect_timeout(&address, timeout)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(timeout))?;
        Ok(Box::new(socket))
    }
}
