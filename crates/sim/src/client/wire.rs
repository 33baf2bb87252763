//! How clients talk: carrying out an engine's commands, and single requests.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use milena_core::engine::{Command, Event};
use milena_core::network::ConnectionId;
use milena_protocol::{Decoder, Message, Request, decode_response_header, encode_request};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::witness::Witness;
use crate::network::{CLIENT_PORT, Network, Place, SimStream};
use crate::sim::{Sim, broker_named};

/// Carries out what an engine wants.
pub(super) struct Wire {
    sim: Arc<Sim>,
    place: Place,
    events: UnboundedSender<Event>,
    connections: BTreeMap<ConnectionId, Line>,
    witness: Witness,
}

struct Line {
    frames: UnboundedSender<(Bytes, bool)>,
    task: AbortHandle,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Wire {
    /// A wire and where its events come out.
    pub(super) fn new(sim: Arc<Sim>, place: Place) -> (Self, UnboundedReceiver<Event>) {
        let (events, inbox) = unbounded_channel();
        (Self { sim, place, events, connections: BTreeMap::new(), witness: Witness::default() }, inbox)
    }

    /// Takes note of an event before the engine does.
    pub(super) fn take_note(&mut self, event: &Event) {
        if let Event::Received { connection, frame } = event {
            self.witness.received(*connection, frame);
        }
    }

    /// Who has listened to what was sent and answered.
    pub(super) fn witness(&mut self) -> &mut Witness {
        &mut self.witness
    }

    pub(super) fn carry_out(&mut self, command: Command) {
        match command {
            Command::Resolve { node, host, port } => {
                let found = broker_named(&host).and_then(|id| u8::try_from(id).ok());
                let result = match found {
                    Some(id) => Ok(vec![SocketAddr::from(([10, 0, 0, id], port))]),
                    None => Err("no such host".to_owned()),
                };
                let (events, delay) = (self.events.clone(), self.sim.chance().time(ms(0), ms(5)));
                let event = Event::Resolved { node, host, result };
                tokio::spawn(async move {
                    sleep(delay).await;
                    let _ended = events.send(event);
                });
            }
            Command::Connect { connection, address, .. } => {
                let (frames, queue) = unbounded_channel();
                let to = broker_named(&address.ip().to_string()).unwrap_or(-1);
                let (network, from) = (self.sim.network.clone(), self.place);
                let line = talk(network, from, Place::Broker(to), address.port(), queue);
                let events = self.events.clone();
                let task = tokio::spawn(async move {
                    let reason = line.run(connection, &events).await;
                    let _ended = events.send(Event::Disconnected { connection, reason });
                });
                self.connections.insert(connection, Line { frames, task: task.abort_handle() });
            }
            Command::Transmit { connection, frame, notify } => {
                if let Some(line) = self.connections.get(&connection) {
                    let frame = frame.to_bytes();
                    let carried = self.witness.sent(connection, &frame);
                    self.sim.history().carried.extend(carried);
                    let _broken = line.frames.send((frame, notify));
                }
            }
            Command::Close { connection } => {
                self.connections.remove(&connection);
            }
            Command::Compress(mut job) => {
                job.run();
                let _ended = self.events.send(Event::Compressed(job));
            }
        }
    }
}

struct Talk {
    network: Network,
    from: Place,
    to: Place,
    port: u16,
    queue: UnboundedReceiver<(Bytes, bool)>,
}

fn talk(
    network: Network,
    from: Place,
    to: Place,
    port: u16,
    queue: UnboundedReceiver<(Bytes, bool)>,
) -> Talk {
    Talk { network, from, to, port, queue }
}

impl Talk {
    /// Connects and carries frames both ways; answers why it ended.
    async fn run(mut self, connection: ConnectionId, events: &UnboundedSender<Event>) -> String {
        let mut stream = match self.network.connect(self.from, self.to, self.port).await {
            Ok(stream) => stream,
            Err(error) => return error.to_string(),
        };
        let out = stream.clone();
        let _ended = events.send(Event::Connected { connection });
        loop {
            tokio::select! {
                biased;
                frame = self.queue.recv() => match frame {
                    Some((frame, notify)) => {
                        if let Err(error) = out.send(frame) {
                            return error.to_string();
                        }
                        if notify {
                            let _ended = events.send(Event::Transmitted { connection });
                        }
                    }
                    None => return "closed".to_owned(),
                },
                frame = stream.frame() => match frame {
                    Ok(Some(frame)) => {
                        let _ended = events.send(Event::Received { connection, frame });
                    }
                    Ok(None) => return "the broker has closed the connection".to_owned(),
                    Err(error) => return error.to_string(),
                },
            }
        }
    }
}

/// A connection for one request at a time.
pub(super) struct Caller {
    stream: SimStream,
    next: i32,
}

impl Caller {
    pub(super) async fn connect(sim: &Sim, from: Place, broker: i32) -> io::Result<Self> {
        let connecting = sim.network.connect(from, Place::Broker(broker), CLIENT_PORT);
        let stream = timeout(ms(2_000), connecting).await??;
        Ok(Self { stream, next: 0 })
    }

    pub(super) async fn call<R: Request>(&mut self, version: i16, request: &R) -> io::Result<R::Response> {
        timeout(ms(3_000), self.exchange(version, request)).await?
    }

    async fn exchange<R: Request>(&mut self, version: i16, request: &R) -> io::Result<R::Response> {
        let id = self.next;
        self.next += 1;
        let frame = encode_request(request, version, id, Some("consumer")).map_err(invalid)?;
        self.stream.send(frame.to_bytes())?;
        let answer = self.stream.frame().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut decoder = Decoder::new(answer);
        let answered = decode_response_header(&mut decoder, R::API_KEY, version).map_err(invalid)?;
        if answered != id {
            return Err(invalid(format!("answer {answered} to request {id}")));
        }
        R::Response::decode(&mut decoder, version).map_err(invalid)
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
