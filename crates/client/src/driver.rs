//! The driver: runs one engine on a thread of its own, and owns its sockets.
//!
//! A thread, because a task on the caller's runtime starves when the caller never yields (`send` seldom awaits), and
//! because the caller's blocking code must not delay what is on its way to a broker.

use std::{
    collections::HashMap,
    future::poll_fn,
    io,
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::Poll,
    thread,
    time::Duration,
};

use milena_core::{
    config::ConfigError,
    engine::{Command, Engine, Event},
    network::{ConnectionId, NodeId},
    signal::Signal,
    time::Instant,
};
use tokio::{
    sync::{Semaphore, mpsc, watch},
    task::{AbortHandle, spawn_blocking, yield_now},
    time::sleep_until,
};

use crate::{
    clock::Clock,
    connection::{self, Outgoing},
};

/// Events that may wait for the driver; a connection that finds the queue full waits, and so stops reading.
const EVENT_QUEUE: usize = 1024;
/// Events handled before the engine gets to act on them.
const EVENTS_PER_TURN: usize = 256;

/// A driver that wakes so long after it wanted to could not run, and nor could its connections.
const LATE: Duration = Duration::from_millis(10);
/// How often a late driver lets its connections run: once for the runtime to see which sockets have something, once for
/// the connections to read it, and once for good measure.
const YIELDS_WHEN_LATE: usize = 3;

/// Why a client could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The system refused a thread or a descriptor.
    #[error("cannot start the client's driver: {0}")]
    Driver(#[from] io::Error),
}

/// Knows when a driver's thread has ended.
#[derive(Clone, Debug)]
pub(crate) struct DriverHandle {
    /// Its sender lives in the driver's thread and is dropped with it.
    alive: watch::Receiver<()>,
}

impl DriverHandle {
    /// Until the driver has ended: all connections are closed then.
    pub(crate) async fn ended(&self) {
        let mut alive = self.alive.clone();
        while alive.changed().await.is_ok() {}
    }
}

/// Starts a driver thread; it ends when the engine says that it is closed.
pub(crate) fn spawn<E: Engine + 'static>(
    name: &str,
    engine: E,
    signal: Arc<Signal>,
    clock: Arc<Clock>,
    max_frame: usize,
) -> io::Result<DriverHandle> {
    let runtime = OwnRuntime(Some(tokio::runtime::Builder::new_current_thread().enable_all().build()?));
    let (life, alive) = watch::channel(());
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        let _life = life;
        if let Some(runtime) = &runtime.0 {
            runtime.block_on(Driver::new(engine, signal, clock, max_frame).run());
        }
    })?;
    Ok(DriverHandle { alive })
}

/// The driver's runtime; dropping it waits for nothing. A resolver's thread may hang in the system's resolver for
/// minutes, and where the system refuses the driver a thread, the runtime is dropped on the caller's, where waiting is
/// forbidden.
struct OwnRuntime(Option<tokio::runtime::Runtime>);

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

struct Driver<E> {
    engine: E,
    signal: Arc<Signal>,
    clock: Arc<Clock>,
    max_frame: usize,
    connections: HashMap<ConnectionId, Handle>,
    events: mpsc::Receiver<Event>,
    report: mpsc::Sender<Event>,
    /// A permit for each processor: more codecs at a time would only want more threads.
    codecs: Arc<Semaphore>,
    /// What the driver itself found out while it carried commands out.
    found: Vec<Event>,
}

struct Handle {
    /// Without a bound of its own: the engine bounds what is in flight to a node.
    frames: mpsc::UnboundedSender<Outgoing>,
    task: AbortHandle,
}

impl<E: Engine> Driver<E> {
    fn new(engine: E, signal: Arc<Signal>, clock: Arc<Clock>, max_frame: usize) -> Self {
        let (report, events) = mpsc::channel(EVENT_QUEUE);
        Self {
            engine,
            signal,
            clock,
            max_frame,
            connections: HashMap::new(),
            events,
            report,
            codecs: Arc::new(Semaphore::new(thread::available_parallelism().map_or(1, NonZero::get))),
            found: Vec::new(),
        }
    }

    async fn run(mut self) {
        loop {
            let now = self.clock.now();
            self.engine.poll(now);
            while let Some(command) = self.engine.poll_command() {
                self.carry_out(command);
            }
            if self.engine.is_closed() {
                return;
            }
            if !self.found.is_empty() {
                for event in std::mem::take(&mut self.found) {
                    self.engine.handle_event(event, now);
                }
                continue;
            }
            self.wait(self.engine.next_timeout()).await;
        }
    }

    /// Until there is something for the engine to do; takes note of what has happened.
    async fn wait(&mut self, deadline: Option<Instant>) {
        let timeout = async {
            match deadline {
                Some(at) => sleep_until(self.clock.to_tokio(at)).await,
                None => std::future::pending().await,
            }
        };
        let (signal, events) = (&self.signal, &mut self.events);
        let wake = poll_fn(|cx| {
            if let Poll::Ready(event) = events.poll_recv(cx) {
                return Poll::Ready(event);
            }
            signal.poll_notified(cx).map(|()| None)
        });
        let first = tokio::select! {
            biased;
            event = wake => event,
            () = timeout => None,
        };
        // A process that stood still finds its timeouts over and the answers unread. Those come first, as in Kafka's client, or
        // all brokers would be suspected, and their connections closed.
        if deadline.is_some_and(|at| self.clock.now() >= at + LATE) {
            for _ in 0..YIELDS_WHEN_LATE {
                yield_now().await;
            }
        }
        let now = self.clock.now();
        let rest = std::iter::from_fn(|| self.events.try_recv().ok());
        for event in first.into_iter().chain(rest).take(EVENTS_PER_TURN) {
            if let Event::Disconnected { connection, .. } = &event {
                self.connections.remove(connection);
            }
            self.engine.handle_event(event, now);
        }
    }

    fn carry_out(&mut self, command: Command) {
        match command {
            Command::Resolve { node, host, port } => self.resolve(node, host, port),
            Command::Connect { connection, address, .. } => {
                let (frames, queue) = mpsc::unbounded_channel();
                let task = connection::run(connection, address, queue, self.report.clone(), self.max_frame);
                let task = tokio::spawn(task).abort_handle();
                self.connections.insert(connection, Handle { frames, task });
            }
            Command::Transmit { connection, frame, notify } => {
                let Some(handle) = self.connections.get(&connection) else { return };
                if handle.frames.send(Outgoing { frame, notify }).is_err() {
                    // The task has ended. Its event is on its way, unless it panicked.
                    tracing::debug!(?connection, "the connection's task has ended");
                    self.connections.remove(&connection);
                    let reason = "the connection has ended".to_owned();
                    self.found.push(Event::Disconnected { connection, reason });
                }
            }
            Command::Close { connection } => {
                if let Some(handle) = self.connections.remove(&connection) {
                    handle.task.abort();
                }
            }
            Command::Compress(mut job) => {
                let (report, codecs) = (self.report.clone(), Arc::clone(&self.codecs));
                tokio::spawn(async move {
                    let _permit = codecs.acquire_owned().await;
                    let compressed = spawn_blocking(move || {
                        // A codec that panics costs one batch, whose fate the job tells.
                        let _ = catch_unwind(AssertUnwindSafe(|| job.run()));
                        job
                    });
                    if let Ok(job) = compressed.await {
                        // The driver may be gone, and then nobody needs the result.
                        let _ = report.send(Event::Compressed(job)).await;
                    }
                });
            }
        }
    }

    /// Looks a host up beside the driver (client.md 39); the system's resolver blocks, so it gets a thread.
    fn resolve(&self, node: NodeId, host: Arc<str>, port: u16) {
        let report = self.report.clone();
        tokio::spawn(async move {
            let result = match tokio::net::lookup_host((host.as_ref(), port)).await {
                Ok(addresses) => Ok(addresses.collect()),
                Err(error) => Err(error.to_string()),
            };
            let _ = report.send(Event::Resolved { node, host, result }).await;
        });
    }
}

impl<E> Drop for Driver<E> {
    fn drop(&mut self) {
        for handle in self.connections.values() {
            handle.task.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::VecDeque,
        io::{Read as _, Write as _},
        net::SocketAddr,
    };

    use milena_protocol::{Frame, encode_request, messages::MetadataRequest};
    use tokio::{io::AsyncReadExt, net::TcpListener};

    use super::*;

    /// Connects, sends a hundred frames in one turn, and ends with the connection.
    struct Burst {
        frame: Frame,
        commands: VecDeque<Command>,
        closed: bool,
    }

    impl Burst {
        const FRAMES: usize = 100;

        fn new(address: SocketAddr) -> Result<Self, milena_protocol::EncodeError> {
            let frame = encode_request(&MetadataRequest::default(), 12, 1, None)?;
            let connection = ConnectionId(1);
            let commands = VecDeque::from([Command::Connect { connection, node: 1, address }]);
            Ok(Self { frame, commands, closed: false })
        }
    }

    impl Engine for Burst {
        fn handle_event(&mut self, event: Event, _: Instant) {
            match event {
                Event::Connected { connection } => {
                    let transmit =
                        || Command::Transmit { connection, frame: self.frame.clone(), notify: false };
                    self.commands.extend(std::iter::repeat_with(transmit).take(Self::FRAMES));
                }
                Event::Disconnected { .. } => self.closed = true,
                _ => {}
            }
        }

        fn poll(&mut self, _: Instant) {}

        fn poll_command(&mut self) -> Option<Command> {
            self.commands.pop_front()
        }

        fn next_timeout(&self) -> Option<Instant> {
            None
        }

        fn is_closed(&self) -> bool {
            self.closed
        }
    }

    /// Asks, makes its thread stand still until the answer is there and its timeout is over, and then looks what came first.
    struct StandsStill {
        clock: Arc<Clock>,
        commands: VecDeque<Command>,
        frame: Frame,
        answered: Option<std::sync::mpsc::Receiver<()>>,
        asked: bool,
        timeout: Option<Instant>,
        received: bool,
        report: std::sync::mpsc::Sender<bool>,
        closed: bool,
    }

    impl Engine for StandsStill {
        fn handle_event(&mut self, event: Event, _: Instant) {
            match event {
                Event::Connected { connection } => {
                    let frame = self.frame.clone();
                    self.commands.push_back(Command::Transmit { connection, frame, notify: true });
                }
                Event::Transmitted { .. } => self.asked = true,
                Event::Received { .. } => self.received = true,
                _ => self.closed = true,
            }
        }

        fn poll(&mut self, now: Instant) {
            if self.timeout.is_some_and(|timeout| now >= timeout) {
                let _ = self.report.send(self.received);
                self.closed = true;
            } else if let Some(answered) = self.answered.take_if(|_| self.asked) {
                let timeout = now + Duration::from_millis(1);
                self.timeout = Some(timeout);
                let clock = Arc::clone(&self.clock);
                // It runs in the driver's thread when the driver sleeps.
                tokio::spawn(async move {
                    let _ = answered.recv();
                    while clock.now() < timeout + LATE * 2 {
                        std::hint::spin_loop();
                    }
                });
            }
        }

        fn poll_command(&mut self) -> Option<Command> {
            self.commands.pop_front()
        }

        fn next_timeout(&self) -> Option<Instant> {
            self.timeout
        }

        fn is_closed(&self) -> bool {
            self.closed
        }
    }

    #[test]
    fn what_arrived_while_the_process_stood_still_comes_before_timeouts()
    -> Result<(), Box<dyn std::error::Error>> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let clock = Arc::new(Clock::new());
        let ((tell, answered), (report, reported)) = (std::sync::mpsc::channel(), std::sync::mpsc::channel());
        let connection = ConnectionId(1);
        let engine = StandsStill {
            clock: Arc::clone(&clock),
            commands: VecDeque::from([Command::Connect { connection, node: 1, address }]),
            frame: encode_request(&MetadataRequest::default(), 12, 1, None)?,
            answered: Some(answered),
            asked: false,
            timeout: None,
            received: false,
            report,
            closed: false,
        };
        let _driver = spawn("milena-test", engine, Arc::default(), clock, 1 << 20)?;
        let (mut peer, _) = listener.accept()?;
        peer.read_exact(&mut [0; 8])?;
        peer.write_all(&[0, 0, 0, 4, 0, 0, 0, 1])?;
        tell.send(())?;
        assert!(reported.recv()?, "the timeout was over, and so it came first");
        Ok(())
    }

    #[tokio::test]
    async fn as_many_frames_go_at_once_as_an_engine_has() -> Result<(), Box<dyn std::error::Error>> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let engine = Burst::new(listener.local_addr()?)?;
        let expected = engine.frame.to_bytes().repeat(Burst::FRAMES);
        let driver = spawn("milena-test", engine, Arc::default(), Arc::new(Clock::new()), 1 << 20)?;
        let (mut peer, _) = listener.accept().await?;
        let mut received = vec![0; expected.len()];
        peer.read_exact(&mut received).await?;
        assert_eq!(received, expected);
        drop(peer);
        driver.ended().await;
        Ok(())
    }
}
