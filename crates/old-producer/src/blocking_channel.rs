//! [`BlockingChannel`]: a connection on which one waits (`kafka.network.BlockingChannel`).

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::Frame;

use crate::{BrokerAddress, Machine, Socket};

/// Above any answer to the two requests that are sent here; a longer one is no frame of Kafka's.
const MAX_RESPONSE: u32 = 64 << 20;

/// A connection to one broker, or the lack of one.
pub(crate) struct BlockingChannel {
    broker: BrokerAddress,
    /// 0.8 took `request.timeout.ms` for reading and for connecting. That it is 10 s is what makes the illness hurt.
    timeout: Duration,
    machine: Arc<dyn Machine>,
    socket: Option<Box<dyn Socket>>,
}

impl BlockingChannel {
    pub(crate) fn new(broker: BrokerAddress, timeout: Duration, machine: Arc<dyn Machine>) -> Self {
        Self { broker, timeout, machine, socket: None }
    }

    pub(crate) fn broker(&self) -> &BrokerAddress {
        &self.broker
    }

    /// Connects, if it is not connected. (0.8 swallowed the reason of a failure here, and failed a line later with a
    /// `ClosedChannelException`; it is told here.)
    pub(crate) fn connect(&mut self) -> io::Result<()> {
        if self.socket.is_none() {
            let socket = self.machine.connect(&self.broker, self.timeout);
            self.socket = Some(socket.map_err(|error| self.in_words(error))?);
        }
        Ok(())
    }

    pub(crate) fn disconnect(&mut self) {
        self.socket = None;
    }

    /// Writes a request, for as long as it takes.
    pub(crate) fn send(&mut self, frame: &Frame) -> io::Result<()> {
        let socket = self.socket.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        socket.write_all(&frame.to_bytes())?;
        socket.flush()
    }

    /// Waits for a frame, at most the timeout for each piece of it, and gives it without its length.
    pub(crate) fn receive(&mut self) -> io::Result<Bytes> {
        self.read_frame().map_err(|error| self.in_words(error))
    }

    fn read_frame(&mut self) -> io::Result<Bytes> {
        let socket = self.socket.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let mut prefix = [0; 4];
        socket.read_exact(&mut prefix)?;
        let length = u32::from_be_bytes(prefix);
        if length > MAX_RESPONSE {
            let text = format!("a frame of {length} bytes: this is no Kafka broker");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let mut frame = Vec::new();
        // Grows with what arrives: the length is only a claim.
        socket.take(length.into()).read_to_end(&mut frame)?;
        if frame.len() < length as usize {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(frame.into())
    }

    /// The system says `WouldBlock` for a read that timed out, and little about either.
    fn in_words(&self, error: io::Error) -> io::Error {
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no answer within {} ms (request.timeout.ms)", self.timeout.as_millis()),
            ),
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(io::ErrorKind::UnexpectedEof, "the broker has closed the connection")
            }
            _ => error,
        }
    }
}

impl fmt::Debug for BlockingChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingChannel")
            .field("broker", &self.broker)
            .field("connected", &self.socket.is_some())
            .finish_non_exhaustive()
    }
}
