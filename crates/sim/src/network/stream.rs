//! [`SimStream`]: one end of a connection.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use milena_protocol::FrameReader;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::Network;
use super::state::poll_found;

/// No frame of a run is longer.
const MAX_FRAME: usize = 64 << 20;

/// One end of a connection. It is closed when the last clone is dropped; only one of them may read.
#[derive(Debug)]
pub struct SimStream {
    end: Arc<End>,
    timer: Option<Pin<Box<Sleep>>>,
    received: BytesMut,
}

#[derive(Debug)]
struct End {
    network: Network,
    id: u64,
    side: usize,
}

impl Drop for End {
    fn drop(&mut self) {
        self.network.state().close(self.id, self.side);
    }
}

impl Clone for SimStream {
    fn clone(&self) -> Self {
        Self { end: self.end.clone(), timer: None, received: BytesMut::new() }
    }
}

impl SimStream {
    pub(super) fn new(network: Network, id: u64, side: usize) -> Self {
        Self { end: Arc::new(End { network, id, side }), timer: None, received: BytesMut::new() }
    }

    /// Writes bytes; they are on their way when this returns.
    ///
    /// # Errors
    /// When the connection is known to have ended.
    pub fn send(&self, bytes: Bytes) -> io::Result<()> {
        self.end.network.state().write(self.end.id, self.end.side, bytes)
    }

    /// The next frame, without its length; None at the end.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn frame(&mut self) -> io::Result<Option<Bytes>> {
        let frames = FrameReader::new(MAX_FRAME);
        loop {
            let next = frames.next_frame(&mut self.received);
            if let Some(frame) = next.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))? {
                return Ok(Some(frame));
            }
            match std::future::poll_fn(|context| self.poll_bytes(context, usize::MAX)).await? {
                Some(bytes) => self.received.extend_from_slice(&bytes),
                None => return Ok(None),
            }
        }
    }

    fn poll_bytes(&mut self, context: &mut Context<'_>, limit: usize) -> Poll<io::Result<Option<Bytes>>> {
        loop {
            let found = self.end.network.state().read(self.end.id, self.end.side, limit, context);
            let timer = &mut self.timer;
            let sleep = |at: Instant| {
                let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
                if timer.deadline() != at {
                    timer.as_mut().reset(at);
                }
                timer.as_mut().poll(context)
            };
            if let Some(polled) = poll_found(found, sleep) {
                return polled;
            }
        }
    }
}

impl AsyncRead for SimStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(self.poll_bytes(context, buffer.remaining()))?;
        if let Some(bytes) = read {
            buffer.put_slice(&bytes);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SimStream {
    fn poll_write(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(self.send(Bytes::copy_from_slice(buffer)).map(|()| buffer.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
