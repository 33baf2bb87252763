//! Zone 3: one task per broker connection, without policy. It connects, frames and writes; its end is an event.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
    net::SocketAddr,
};

use bytes::{Buf, Bytes, BytesMut};
use milena_core::{engine::Event, network::ConnectionId};
use milena_protocol::frame::{Frame, FrameReader};
use tokio::{
    io::Interest,
    net::{TcpSocket, TcpStream},
    sync::mpsc,
};

/// Slices handed to one vectored write.
const MAX_SLICES: usize = 64;
/// Reads of one connection before the others get their turn.
const READS_PER_WAKE: usize = 16;
/// The least room offered to a read.
const READ_CHUNK: usize = 64 << 10;

/// A frame to write, as the driver queues it.
pub(crate) struct Outgoing {
    pub(crate) frame: Frame,
    /// Report when it is written whole.
    pub(crate) notify: bool,
}

/// Connects, then moves frames both ways until either side ends; reports everything to `events`.
///
/// The task ends when `frames` is closed (the core closed the connection) or when the socket fails.
pub(crate) async fn run(
    connection: ConnectionId,
    address: SocketAddr,
    frames: mpsc::UnboundedReceiver<Outgoing>,
    events: mpsc::Sender<Event>,
    max_frame: usize,
) {
    let reason = match connect(address).await {
        Ok(stream) => {
            if events.send(Event::Connected { connection }).await.is_err() {
                return;
            }
            let transport = Transport { connection, stream, events: &events, outbox: Outbox::default() };
            match transport.run(frames, max_frame).await {
                Ok(()) => return,
                Err(error) => error.to_string(),
            }
        }
        Err(error) => error.to_string(),
    };
    // The driver may be gone, and then nobody needs to know.
    let _ = events.send(Event::Disconnected { connection, reason }).await;
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Nagle holds small requests back for the peer's delayed acknowledgement (field report 18).
    socket.set_nodelay(true)?;
    socket.set_keepalive(true)?;
    socket.connect(address).await
}

struct Transport<'a> {
    connection: ConnectionId,
    stream: TcpStream,
    events: &'a mpsc::Sender<Event>,
    outbox: Outbox,
}

impl Transport<'_> {
    /// Ok when the driver closed the connection.
    async fn run(
        mut self,
        mut frames: mpsc::UnboundedReceiver<Outgoing>,
        max_frame: usize,
    ) -> io::Result<()> {
        let reader = FrameReader::new(max_frame);
        let mut inbox = BytesMut::new();
        loop {
            let interest = if self.outbox.is_empty() {
                Interest::READABLE
            } else {
                Interest::READABLE | Interest::WRITABLE
            };
            tokio::select! {
                biased;
                next = frames.recv(), if !self.outbox.is_full() => {
                    let Some(outgoing) = next else { return Ok(()) };
                    self.outbox.push(outgoing);
                    while !self.outbox.is_full() && let Ok(more) = frames.try_recv() {
                        self.outbox.push(more);
                    }
                    self.write().await?;
                }
                ready = self.stream.ready(interest) => {
                    let ready = ready?;
                    if ready.is_writable() {
                        self.write().await?;
                    }
                    if ready.is_readable() || ready.is_read_closed() {
                        self.read(&reader, &mut inbox).await?;
                    }
                }
            }
        }
    }

    /// Writes until the socket takes no more.
    async fn write(&mut self) -> io::Result<()> {
        while !self.outbox.is_empty() {
            let written = {
                let mut slices = [IoSlice::new(&[]); MAX_SLICES];
                let count = self.outbox.slices(&mut slices);
                match self.stream.try_write_vectored(&slices[..count]) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(written) => written,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                    Err(error) => return Err(error),
                }
            };
            for _ in 0..self.outbox.advance(written) {
                self.report(Event::Transmitted { connection: self.connection }).await?;
            }
        }
        Ok(())
    }

    /// Reads what has arrived, a bounded number of times, and hands whole frames on.
    async fn read(&mut self, reader: &FrameReader, inbox: &mut BytesMut) -> io::Result<()> {
        for _ in 0..READS_PER_WAKE {
            inbox.reserve(READ_CHUNK);
            match self.stream.try_read_buf(inbox) {
                Ok(0) => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the broker closed the connection",
                    ));
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
            while let Some(frame) = reader.next_frame(inbox).map_err(io::Error::other)? {
                self.report(Event::Received { connection: self.connection, frame }).await?;
            }
        }
        Ok(())
    }

    async fn report(&self, event: Event) -> io::Result<()> {
        self.events.send(event).await.map_err(|_| io::Error::other("the client has ended"))
    }
}

/// Chunks that wait for the socket. Dropping a written chunk gives its memory back to whoever lent it.
#[derive(Default)]
struct Outbox {
    chunks: VecDeque<Chunk>,
}

struct Chunk {
    bytes: Bytes,
    /// The last chunk of a frame whose end is to be reported.
    notify: bool,
}

impl Outbox {
    /// Chunks above which no further frame is taken from the driver's queue.
    const CAPACITY: usize = 4 * MAX_SLICES;

    fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    fn is_full(&self) -> bool {
        self.chunks.len() >= Self::CAPACITY
    }

    fn push(&mut self, outgoing: Outgoing) {
        self.chunks
            .extend(outgoing.frame.into_chunks().into_iter().map(|bytes| Chunk { bytes, notify: false }));
        if let Some(last) = self.chunks.back_mut() {
            last.notify = outgoing.notify;
        }
    }

    fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>; MAX_SLICES]) -> usize {
        let mut count = 0;
        for (slot, chunk) in slices.iter_mut().zip(&self.chunks) {
            *slot = IoSlice::new(&chunk.bytes);
            count += 1;
        }
        count
    }

    /// Drops what was written; the number of frames that ended in it and are to be reported.
    fn advance(&mut self, mut written: usize) -> usize {
        let mut ended = 0;
        while let Some(chunk) = self.chunks.front_mut() {
            if written < chunk.bytes.len() {
                chunk.bytes.advance(written);
                break;
            }
            written -= chunk.bytes.len();
            ended += usize::from(chunk.notify);
            self.chunks.pop_front();
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn field_18_small_requests_are_not_held_back() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let stream = connect(address).await.expect("connected");
        assert!(stream.nodelay().expect("a socket option"));
    }

    #[test]
    fn chunks_are_given_back_as_they_are_written() {
        let frames = [&b"first frame"[..], &b"second"[..]].map(|body| {
            let request = milena_protocol::messages::ApiVersionsRequest {
                client_software_name: String::from_utf8_lossy(body).into_owned(),
                client_software_version: "1".to_owned(),
                ..Default::default()
            };
            milena_protocol::encode_request(&request, 3, 1, None).expect("encodes")
        });
        let total: usize = frames.iter().map(Frame::len).sum();
        let first = frames[0].len();
        let mut outbox = Outbox::default();
        for frame in frames {
            outbox.push(Outgoing { frame, notify: true });
        }
        assert_eq!(outbox.advance(first - 1), 0, "one byte is missing");
        assert_eq!(outbox.advance(1), 1);
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let count = outbox.slices(&mut slices);
        assert_eq!(slices[..count].iter().map(|slice| slice.len()).sum::<usize>(), total - first);
        assert_eq!(outbox.advance(total - first), 1);
        assert!(outbox.is_empty());
    }
}
