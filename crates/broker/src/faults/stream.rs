//! [`FaultyStream`]: a connection over a network that has faults.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, tcp};
use tokio::time::{Instant, Sleep, sleep_until};

use super::link::{Direction, Link};
use super::network::{LinkId, Network, Passage};

/// What a line with a delay holds at most; beyond, the sender waits.
const ON_THE_LINE: usize = 4 * 1024 * 1024;
const READ_AT_ONCE: usize = 64 * 1024;

/// One direction of a link, and what the faults meant for it when it was last looked.
#[derive(Debug)]
pub(super) struct Gauge {
    network: Arc<Network>,
    id: LinkId,
    link: Link,
    direction: Direction,
    seen: u64,
    passage: Passage,
    has_waited: bool,
    timer: Timer,
}

impl Gauge {
    pub(super) fn new(network: Arc<Network>, id: LinkId, link: Link, direction: Direction) -> Self {
        let (seen, passage) = network.passage(link, direction);
        Self { network, id, link, direction, seen, passage, has_waited: false, timer: Timer::default() }
    }

    fn look(&mut self) -> &Passage {
        if self.network.version() != self.seen {
            (self.seen, self.passage) = self.network.passage(self.link, self.direction);
        }
        &self.passage
    }

    fn is_clear(&mut self) -> bool {
        self.look().is_clear()
    }

    /// Whether the link is cut; whoever asks is woken when it may be no more.
    pub(super) fn holds(&mut self, context: &Context<'_>) -> bool {
        loop {
            if !self.look().is_cut {
                return false;
            }
            if self.wake_on_change(context) {
                return true;
            }
        }
    }

    /// False when something has changed already.
    fn wake_on_change(&mut self, context: &Context<'_>) -> bool {
        self.has_waited = true;
        self.network.wait(self.seen, (self.id, self.direction), context.waker())
    }

    /// How many bytes may pass; pending while the line is busy.
    fn poll_lot(&mut self, context: &mut Context<'_>) -> Poll<usize> {
        loop {
            let Some(lot) = self.look().throttles.iter().map(|throttle| throttle.lot()).min() else {
                return Poll::Ready(usize::MAX);
            };
            let direction = self.direction;
            let free_at =
                self.passage.throttles.iter().filter_map(|throttle| throttle.free_at(direction)).max();
            match free_at.filter(|at| *at > Instant::now()) {
                None => return Poll::Ready(lot),
                // Afterwards somebody else may have been faster.
                Some(at) if self.wake_on_change(context) => ready!(self.timer.poll_until(at, context)),
                Some(_) => {}
            }
        }
    }

    /// Writes as many bytes as may go now.
    fn poll_write(
        &mut self,
        socket: &mut tcp::WriteHalf<'_>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let socket = Pin::new(socket);
        if self.is_clear() {
            return socket.poll_write_vectored(context, slices);
        }
        if self.holds(context) {
            return Poll::Pending;
        }
        let lot = ready!(self.poll_lot(context));
        let Some(first) = slices.iter().find(|slice| !slice.is_empty()) else { return Poll::Ready(Ok(0)) };
        let written = ready!(socket.poll_write(context, &first[..first.len().min(lot)]))?;
        self.passed(written);
        Poll::Ready(Ok(written))
    }

    fn passed(&self, bytes: usize) {
        for throttle in &self.passage.throttles {
            throttle.charge(self.direction, bytes, Instant::now());
        }
    }
}

/// Made when it is first needed: most connections never see a fault.
#[derive(Debug, Default)]
struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    fn poll_until(&mut self, at: Instant, context: &mut Context<'_>) -> Poll<()> {
        let timer = self.0.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if timer.deadline() != at {
            timer.as_mut().reset(at);
        }
        timer.as_mut().poll(context)
    }
}

impl Drop for Gauge {
    fn drop(&mut self) {
        if self.has_waited {
            self.network.forget(self.id);
        }
    }
}

/// A connection of a broker's. Closed while it is cut, it stays open for the other end until it is no more.
#[derive(Debug)]
pub(crate) struct FaultyStream {
    /// Only Drop takes it.
    socket: Option<TcpStream>,
    inbound: Inbound,
    outbound: Gauge,
}

impl FaultyStream {
    pub(super) fn new(network: &Arc<Network>, link: Link, socket: TcpStream) -> Self {
        let id = network.new_link();
        let gauge = |direction| Gauge::new(network.clone(), id, link, direction);
        let inbound =
            Inbound { gauge: gauge(Direction::In), held: VecDeque::new(), bytes: 0, due: Timer::default() };
        Self { socket: Some(socket), inbound, outbound: gauge(Direction::Out) }
    }

    pub(crate) fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.socket.as_ref().map_or(Ok(()), |socket| socket.set_nodelay(nodelay))
    }

    /// Both directions, to be used at once. None never happens while the connection is in use.
    pub(crate) fn split(&mut self) -> Option<(ReadHalf<'_>, WriteHalf<'_>)> {
        let (read, write) = self.socket.as_mut()?.split();
        let read = ReadHalf { socket: read, inbound: &mut self.inbound };
        Some((read, WriteHalf { socket: write, gauge: &mut self.outbound }))
    }
}

impl Drop for FaultyStream {
    fn drop(&mut self) {
        if let Some(socket) = self.socket.take() {
            self.outbound.network.bury(self.outbound.link, socket);
        }
    }
}

/// What has come in, and cannot be seen yet.
#[derive(Debug)]
struct Inbound {
    gauge: Gauge,
    /// With the time of arrival; the end of the stream is an empty one.
    held: VecDeque<(Instant, Bytes)>,
    bytes: usize,
    due: Timer,
}

impl Inbound {
    fn is_clear(&mut self) -> bool {
        self.held.is_empty() && self.gauge.is_clear()
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        self.held.push_back((Instant::now(), Bytes::copy_from_slice(bytes)));
    }

    fn has_room(&self) -> bool {
        self.bytes < ON_THE_LINE && self.held.back().is_none_or(|(_, bytes)| !bytes.is_empty())
    }

    /// Takes what the socket has, as fast as the line is.
    fn receive(&mut self, socket: &mut tcp::ReadHalf<'_>, context: &mut Context<'_>) -> io::Result<()> {
        let mut space = vec![0; READ_AT_ONCE];
        while self.has_room() {
            let Poll::Ready(lot) = self.gauge.poll_lot(context) else { return Ok(()) };
            let lot = lot.min(READ_AT_ONCE);
            let mut buf = ReadBuf::new(&mut space[..lot]);
            match Pin::new(&mut *socket).poll_read(context, &mut buf) {
                Poll::Ready(read) => read?,
                Poll::Pending => return Ok(()),
            }
            self.gauge.passed(buf.filled().len());
            self.hold(buf.filled());
        }
        Ok(())
    }

    fn poll_read(
        &mut self,
        socket: &mut tcp::ReadHalf<'_>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_clear() {
            let before = buf.filled().len();
            ready!(Pin::new(&mut *socket).poll_read(context, buf))?;
            if self.is_clear() {
                return Poll::Ready(Ok(()));
            }
            // A fault has begun meanwhile, and these bytes may have been sent after that.
            self.hold(&buf.filled()[before..]);
            buf.set_filled(before);
        }
        if self.gauge.holds(context) {
            return Poll::Pending;
        }
        self.receive(socket, context)?;
        self.poll_held(context, buf).map(Ok)
    }

    /// Hands out what is due.
    fn poll_held(&mut self, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<()> {
        loop {
            let Some((arrived, _)) = self.held.front() else { return Poll::Pending };
            let due = *arrived + self.gauge.look().delay;
            if due <= Instant::now() {
                break;
            }
            if self.gauge.wake_on_change(context) {
                ready!(self.due.poll_until(due, context));
            }
        }
        if let Some((_, bytes)) = self.held.front_mut() {
            let count = bytes.len().min(buf.remaining());
            buf.put_slice(&bytes[..count]);
            bytes.advance(count);
            self.bytes -= count;
            // The end of the stream stays the end.
            if bytes.is_empty() && count > 0 {
                self.held.pop_front();
            }
        }
        Poll::Ready(())
    }
}

/// What comes from the other end.
pub(crate) struct ReadHalf<'a> {
    socket: tcp::ReadHalf<'a>,
    inbound: &'a mut Inbound,
}

impl AsyncRead for ReadHalf<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { socket, inbound } = self.get_mut();
        inbound.poll_read(socket, context, buf)
    }
}

/// What goes to the other end.
pub(crate) struct WriteHalf<'a> {
    socket: tcp::WriteHalf<'a>,
    gauge: &'a mut Gauge,
}

impl AsyncWrite for WriteHalf<'_> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Self { socket, gauge } = self.get_mut();
        gauge.poll_write(socket, context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { socket, gauge } = self.get_mut();
        if gauge.holds(context) { Poll::Pending } else { Pin::new(socket).poll_shutdown(context) }
    }
}

impl AsyncRead for FaultyStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut().split() {
            Some((mut read, _)) => Pin::new(&mut read).poll_read(context, buf),
            None => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for FaultyStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut().split() {
            Some((_, mut write)) => Pin::new(&mut write).poll_write(context, buf),
            None => Poll::Ready(Ok(0)),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut().split() {
            Some((_, mut write)) => Pin::new(&mut write).poll_shutdown(context),
            None => Poll::Ready(Ok(())),
        }
    }
}
