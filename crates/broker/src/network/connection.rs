//! One connection: requests in, answers out, in the same order.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use bytes::{Buf, Bytes, BytesMut};
use milena_protocol::{Frame, FrameReader};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, timeout};

use super::silent::SilentPlace;
use super::{Answer, BoxFuture, CloseReason, Peer, Reply, Shared, stopped};
use crate::client_memory::Room;
use crate::faults::{FaultyStream, ReadHalf, WriteHalf};

/// Bytes of a request that are read before room is asked for: most requests never do, and a length is only a claim.
const UNRESERVED: usize = 64 * 1024;
/// Answers that are ready together go out together, up to about so many bytes.
const WRITE_BATCH: usize = 256 * 1024;
/// How many buffers one write names at most; the system's own limit is no lower anywhere.
const WRITE_BUFFERS: usize = 64;

/// Serves a connection until the peer leaves, misbehaves or the broker stops.
pub(super) async fn serve(
    shared: &Arc<Shared>,
    mut stream: FaultyStream,
    peer: Arc<Peer>,
    silent: SilentPlace,
) {
    let Some((read, write)) = stream.split() else { return };
    let (replies, queue) = mpsc::channel(shared.config.max_pipelined_requests.max(1));
    let connection = Connection {
        shared,
        peer: &peer,
        outstanding: AtomicUsize::new(0),
        memory: Arc::new(Semaphore::new(shared.config.max_pipelined_bytes.clamp(1, Semaphore::MAX_PERMITS))),
    };
    let mut writer = pin!(connection.write_answers(write, queue));
    let end = tokio::select! {
        end = connection.read_requests(read, replies, silent) => match end {
            // What was read before the peer closed its half, or the broker stopped, is still answered, unless that
            // takes longer than a peer may be slow.
            Ok(()) => timeout(shared.config.write_timeout, writer).await.unwrap_or(Err(End::Gone)),
            Err(end) => Err(end),
        },
        end = &mut writer => end,
    };
    match end {
        Ok(()) | Err(End::Gone) => tracing::debug!(peer = %peer.address, "the connection has ended"),
        Err(End::Fault(reason)) => shared.log.closed(&peer.listener, peer.address, &reason.0),
    }
}

/// Why a connection ends before both sides have said all they had to say.
enum End {
    /// The peer or the network ended it: no fault worth a line in the log.
    Gone,
    /// The peer did something wrong.
    Fault(CloseReason),
}

impl From<CloseReason> for End {
    fn from(reason: CloseReason) -> Self {
        Self::Fault(reason)
    }
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        tracing::debug!(%error, "a connection broke");
        Self::Gone
    }
}

struct Connection<'a> {
    shared: &'a Arc<Shared>,
    peer: &'a Arc<Peer>,
    /// Requests that are read and not yet answered.
    outstanding: AtomicUsize,
    /// A permit per byte of `max_pipelined_bytes`, held by requests that are handled and answers that are queued.
    memory: Arc<Semaphore>,
}

struct Queued {
    reply: Reply,
    memory: OwnedSemaphorePermit,
}

/// What a request needs to be read and handled.
struct Admitted {
    _memory: OwnedSemaphorePermit,
    /// Of a large one, among those of all connections.
    room: Option<Room>,
}

impl Connection<'_> {
    async fn read_requests(
        &self,
        mut read: ReadHalf<'_>,
        replies: mpsc::Sender<Queued>,
        silent: SilentPlace,
    ) -> Result<(), End> {
        let mut silent = Some(silent);
        let frames = FrameReader::new(self.shared.config.request_max_bytes);
        let mut buffer = BytesMut::new();
        let mut stopping = self.shared.stopping.clone();
        // For the request that is arriving, if it is a large one.
        let mut admitted: Option<Admitted> = None;
        loop {
            while let Some(frame) =
                frames.next_frame(&mut buffer).map_err(|error| CloseReason(error.to_string()))?
            {
                drop(silent.take());
                self.outstanding.fetch_add(1, Ordering::Relaxed);
                let Some(queued) = self.handle(frame, admitted.take()).await? else { return Ok(()) };
                if replies.send(queued).await.is_err() {
                    return Ok(());
                }
            }
            if admitted.is_none()
                && let Some(bytes) = large_request(&buffer)
            {
                // Until there is room nothing more is read.
                tokio::select! {
                    memory = self.admit(bytes) => admitted = memory,
                    () = stopped(&mut stopping) => return Ok(()),
                }
            }
            let room = admitted.as_ref().and_then(|admitted| admitted.room.as_ref());
            let progress = Instant::now();
            tokio::select! {
                biased;
                () = stopped(&mut stopping) => return Ok(()),
                more = self.read_more(&mut read, &mut buffer) => if !more? { return Ok(()) },
                () = overdue(room, progress) => return Err(too_slow("send a request")),
            }
        }
    }

    /// Waits for what a large request needs. What others wait for comes last: whoever has it waits for its client alone.
    async fn admit(&self, bytes: usize) -> Option<Admitted> {
        let memory = self.reserve(bytes).await?;
        Some(Admitted { _memory: memory, room: Some(self.shared.request_memory.reserve(bytes).await) })
    }

    /// Hands a request on. What it has is given back when it was taken on.
    async fn handle(&self, frame: Bytes, admitted: Option<Admitted>) -> Result<Option<Queued>, End> {
        let admitted = match admitted {
            Some(admitted) => Some(admitted),
            // The frame is in memory already; its permits bound what the requests behind it may add.
            None => self.reserve(frame.len()).await.map(|memory| Admitted { _memory: memory, room: None }),
        };
        let Some(admitted) = admitted else { return Ok(None) };
        let reply = self.shared.handler.handle(self.peer.clone(), frame).await?;
        drop(admitted);
        let answer_bytes = match &reply {
            Reply::Now(Some(frame)) => frame.len(),
            // Its answer is made when it is its turn to be written.
            Reply::Now(None) | Reply::Later(_) | Reply::InTurn(_) => 0,
        };
        Ok(self.reserve(answer_bytes).await.map(|memory| Queued { reply, memory }))
    }

    /// Permits for `bytes`, or for everything when `bytes` are more than the bound. None when the connection ends.
    async fn reserve(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let permits = bytes.min(self.shared.config.max_pipelined_bytes.max(1));
        self.memory.clone().acquire_many_owned(u32::try_from(permits).unwrap_or(u32::MAX)).await.ok()
    }

    /// Reads what there is; false at the end of the stream.
    async fn read_more(&self, read: &mut ReadHalf<'_>, buffer: &mut BytesMut) -> Result<bool, End> {
        let max_idle = self.shared.config.connections_max_idle;
        loop {
            match timeout(max_idle, read.read_buf(buffer)).await {
                Ok(Ok(0)) if buffer.is_empty() => return Ok(false),
                Ok(Ok(0)) => return Err(CloseReason("the stream ends inside a request".to_owned()).into()),
                Ok(Ok(_)) => return Ok(true),
                Ok(Err(error)) => return Err(error.into()),
                // A client that waits for an answer is not idle.
                Err(_) if self.outstanding.load(Ordering::Relaxed) > 0 => {}
                Err(_) if buffer.is_empty() => {
                    tracing::debug!(peer = %self.peer.address, ?max_idle, "closing an idle connection");
                    return Ok(false);
                }
                Err(_) => {
                    return Err(
                        CloseReason(format!("no byte of a request that has begun in {max_idle:?}")).into()
                    );
                }
            }
        }
    }

    async fn write_answers(
        &self,
        mut write: WriteHalf<'_>,
        mut queue: mpsc::Receiver<Queued>,
    ) -> Result<(), End> {
        let mut batch = WriteBatch::default();
        while let Some(Queued { reply, memory }) = queue.recv().await {
            batch.memory.push(memory);
            match reply {
                Reply::Now(answer) => batch.add(answer),
                Reply::Later(later) => batch.add(later.await?),
                Reply::InTurn(later) => batch.add_large(later.await?),
            }
            self.gather(&mut batch, &mut write, &mut queue).await?;
            self.write(&mut batch, &mut write).await?;
        }
        Ok(())
    }

    /// Adds the answers that are ready behind the first one. One that is not is waited for once the others are out.
    async fn gather(
        &self,
        batch: &mut WriteBatch,
        write: &mut WriteHalf<'_>,
        queue: &mut mpsc::Receiver<Queued>,
    ) -> Result<(), End> {
        while batch.bytes < WRITE_BATCH {
            let Ok(Queued { reply, memory }) = queue.try_recv() else { return Ok(()) };
            match reply {
                Reply::Now(answer) => batch.add(answer),
                Reply::Later(mut later) => match poll_once(&mut later).await {
                    Some(answer) => batch.add(answer?),
                    None => {
                        self.write(batch, write).await?;
                        batch.add(later.await?);
                    }
                },
                Reply::InTurn(later) => {
                    self.write(batch, write).await?;
                    batch.add_large(later.await?);
                }
            }
            batch.memory.push(memory);
        }
        Ok(())
    }

    async fn write(&self, batch: &mut WriteBatch, write: &mut WriteHalf<'_>) -> Result<(), End> {
        let limit = self.shared.config.write_timeout;
        while batch.has_remaining() {
            let mut slices = [io::IoSlice::new(&[]); WRITE_BUFFERS];
            let count = batch.chunks_vectored(&mut slices);
            let progress = Instant::now();
            let written = tokio::select! {
                biased;
                written = timeout(limit, write.write_vectored(&slices[..count])) => written,
                () = overdue(batch.room.as_ref(), progress) => return Err(too_slow("take an answer")),
            };
            match written {
                Ok(Ok(0)) => return Err(End::Gone),
                Ok(Ok(written)) => batch.advance(written),
                Ok(Err(error)) => return Err(error.into()),
                Err(_) => {
                    let reason = format!("the peer has taken no byte of an answer in {limit:?}");
                    return Err(CloseReason(reason).into());
                }
            }
        }
        self.outstanding.fetch_sub(batch.answers, Ordering::Relaxed);
        *batch = WriteBatch::default();
        Ok(())
    }
}

/// How long the request is that has begun in `buffer`, if it is one that needs room and has shown that it is meant.
fn large_request(buffer: &BytesMut) -> Option<usize> {
    let length = usize::try_from(i32::from_be_bytes(*buffer.first_chunk()?)).ok()?;
    (length > UNRESERVED && buffer.len() >= UNRESERVED).then_some(length)
}

/// Comes when others have waited too long for this room.
async fn overdue(room: Option<&Room>, progress: Instant) {
    match room {
        Some(room) => room.is_overdue(progress).await,
        None => std::future::pending().await,
    }
}

fn too_slow(what: &str) -> End {
    CloseReason(format!("the peer is too slow to {what}, and others wait for its memory")).into()
}

async fn poll_once(later: &mut BoxFuture<'static, Answer>) -> Option<Answer> {
    std::future::poll_fn(|context| match later.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Answers on their way out.
#[derive(Default)]
struct WriteBatch {
    chunks: std::collections::VecDeque<Bytes>,
    bytes: usize,
    answers: usize,
    memory: Vec<OwnedSemaphorePermit>,
    /// Of the large answer that it begins with, if it does.
    room: Option<Room>,
}

impl WriteBatch {
    fn add_large(&mut self, (frame, room): (Frame, Option<Room>)) {
        self.room = room;
        self.add(Some(frame));
    }

    fn add(&mut self, answer: Option<Frame>) {
        self.answers += 1;
        if let Some(frame) = answer {
            self.bytes += frame.len();
            self.chunks.extend(frame.into_chunks());
        }
    }
}

impl Buf for WriteBatch {
    fn remaining(&self) -> usize {
        self.bytes
    }

    fn chunk(&self) -> &[u8] {
        self.chunks.front().map_or(&[], |chunk| chunk)
    }

    fn chunks_vectored<'b>(&'b self, slices: &mut [io::IoSlice<'b>]) -> usize {
        let mut count = 0;
        for (slice, chunk) in slices.iter_mut().zip(&self.chunks) {
            *slice = io::IoSlice::new(chunk);
            count += 1;
        }
        count
    }

    fn advance(&mut self, mut written: usize) {
        self.bytes = self.bytes.saturating_sub(written);
        while let Some(front) = self.chunks.front_mut() {
            if written < front.len() {
                front.advance(written);
                return;
            }
            written -= front.len();
            self.chunks.pop_front();
        }
    }
}
