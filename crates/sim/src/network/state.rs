//! [`State`]: connections, links and what is wrong with them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use super::{Accepted, Place};
use crate::chance::Chance;

/// How long the last attempts of a sender whose packets got lost are apart, at most.
const RETRANSMISSION_MAX: Duration = Duration::from_millis(400);

#[derive(Debug)]
pub(super) struct State {
    chance: Chance,
    fastest: Duration,
    slowest: Duration,
    /// How often each link has been blocked and not healed.
    blocked: BTreeMap<(Place, Place), u32>,
    dead: BTreeSet<Place>,
    slow: BTreeMap<Place, u32>,
    listeners: BTreeMap<Place, UnboundedSender<Accepted>>,
    connections: BTreeMap<u64, Connection>,
    next_connection: u64,
}

#[derive(Debug)]
struct Connection {
    /// The one that connected, the one that accepted.
    ends: [Place; 2],
    /// What each end has written and the other has not read.
    written: [Direction; 2],
    closed: [bool; 2],
    /// The machine behind this end does not know the connection any more.
    forgotten: [bool; 2],
}

#[derive(Debug)]
struct Direction {
    chunks: VecDeque<(Instant, Bytes)>,
    last_at: Instant,
    end_at: Option<Instant>,
    reset_at: Option<Instant>,
    reader: Option<Waker>,
}

impl Direction {
    fn new(now: Instant) -> Self {
        Self { chunks: VecDeque::new(), last_at: now, end_at: None, reset_at: None, reader: None }
    }

    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    fn reset(&mut self, at: Instant) {
        self.chunks.clear();
        self.reset_at = Some(self.reset_at.map_or(at, |earlier| earlier.min(at)));
        self.wake();
    }

    /// Nothing arrives before `at`.
    fn delay(&mut self, at: Instant) {
        for (arrival, _) in &mut self.chunks {
            *arrival = at.max(*arrival);
        }
        self.last_at = self.last_at.max(at);
        self.end_at = self.end_at.map(|end| end.max(at));
        self.wake();
    }
}

/// What a reader finds.
pub(super) enum Found {
    Bytes(Bytes),
    End,
    /// Nothing before then.
    Until(Instant),
    /// Nothing until it is woken.
    Wait,
}

impl State {
    pub(super) fn new(chance: Chance, fastest: Duration, slowest: Duration) -> Self {
        Self {
            chance,
            fastest,
            slowest,
            blocked: BTreeMap::new(),
            dead: BTreeSet::new(),
            slow: BTreeMap::new(),
            listeners: BTreeMap::new(),
            connections: BTreeMap::new(),
            next_connection: 0,
        }
    }

    pub(super) fn is_open(&self, from: Place, to: Place) -> bool {
        !self.blocked.contains_key(&(from, to)) && !self.dead.contains(&from) && !self.dead.contains(&to)
    }

    fn latency(&mut self, from: Place, to: Place) -> Duration {
        let base = self.chance.time(self.fastest, self.slowest);
        let spike = if self.chance.one_in(100) { 10 } else { 1 };
        let factor = |place| self.slow.get(place).copied().unwrap_or(1);
        base * spike * factor(&from).max(factor(&to))
    }

    pub(super) fn retransmission(&mut self) -> Duration {
        self.chance.time(Duration::ZERO, RETRANSMISSION_MAX)
    }

    pub(super) fn round_trip(&mut self, from: Place, to: Place) -> Option<Duration> {
        let is_open = self.is_open(from, to) && self.is_open(to, from);
        is_open.then(|| self.latency(from, to) + self.latency(to, from))
    }

    pub(super) fn listen(&mut self, place: Place, listener: UnboundedSender<Accepted>) {
        self.listeners.insert(place, listener);
    }

    pub(super) fn listener(&self, place: Place) -> Option<UnboundedSender<Accepted>> {
        self.listeners.get(&place).cloned()
    }

    pub(super) fn connect(&mut self, from: Place, to: Place) -> u64 {
        let (id, now) = (self.next_connection, Instant::now());
        self.next_connection += 1;
        let connection = Connection {
            ends: [from, to],
            written: [Direction::new(now), Direction::new(now)],
            closed: [false; 2],
            forgotten: [false; 2],
        };
        self.connections.insert(id, connection);
        id
    }

    pub(super) fn write(&mut self, id: u64, side: usize, bytes: Bytes) -> io::Result<()> {
        let Some(connection) = self.connections.get(&id) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let now = Instant::now();
        let other = 1 - side;
        let (from, to) = (connection.ends[side], connection.ends[other]);
        let is_reset = connection.written[other].reset_at.is_some_and(|at| at <= now);
        if is_reset || connection.closed[side] {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let (is_unknown, is_gone) = (connection.forgotten[other], connection.closed[other]);
        let is_open = self.is_open(from, to);
        let latency = self.latency(from, to);
        let answer = self.latency(to, from);
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(()) };
        if is_unknown || is_gone {
            // A machine that is up and does not know the connection says so.
            if is_open {
                connection.written[other].reset(now + latency + answer);
            }
            return Ok(());
        }
        let direction = &mut connection.written[side];
        direction.last_at = direction.last_at.max(now + latency);
        direction.chunks.push_back((direction.last_at, bytes));
        direction.wake();
        Ok(())
    }

    /// What the reader at `side` finds, at most `limit` bytes.
    pub(super) fn read(
        &mut self,
        id: u64,
        side: usize,
        limit: usize,
        context: &Context<'_>,
    ) -> io::Result<Found> {
        let now = Instant::now();
        let Some(connection) = self.connections.get(&id) else {
            return Err(io::ErrorKind::ConnectionReset.into());
        };
        let (from, to) = (connection.ends[1 - side], connection.ends[side]);
        let is_open = self.is_open(from, to);
        let fragments = self.chance.one_in(20);
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(Found::End) };
        if connection.closed[side] {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let direction = &mut connection.written[1 - side];
        match direction.reset_at {
            Some(at) if at <= now => return Err(io::ErrorKind::ConnectionReset.into()),
            Some(at) if direction.chunks.is_empty() => {
                direction.reader = Some(context.waker().clone());
                return Ok(Found::Until(at));
            }
            _ => {}
        }
        if !is_open {
            direction.reader = Some(context.waker().clone());
            return Ok(Found::Wait);
        }
        match direction.chunks.front_mut() {
            Some((at, bytes)) if *at <= now => {
                let room = if fragments { limit.min(bytes.len().div_ceil(2)) } else { limit };
                let read = bytes.split_to(room.min(bytes.len()));
                if bytes.is_empty() {
                    direction.chunks.pop_front();
                }
                Ok(Found::Bytes(read))
            }
            Some((at, _)) => {
                let at = *at;
                direction.reader = Some(context.waker().clone());
                Ok(Found::Until(at))
            }
            None => match direction.end_at {
                Some(at) if at <= now => Ok(Found::End),
                Some(at) => {
                    direction.reader = Some(context.waker().clone());
                    Ok(Found::Until(at))
                }
                None => {
                    direction.reader = Some(context.waker().clone());
                    Ok(Found::Wait)
                }
            },
        }
    }

    /// One end is closed: the other reads to the end of what was written.
    pub(super) fn close(&mut self, id: u64, side: usize) {
        let Some(connection) = self.connections.get(&id) else { return };
        if connection.closed[side] {
            return;
        }
        let (from, to) = (connection.ends[side], connection.ends[1 - side]);
        let latency = self.latency(from, to);
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.closed[side] = true;
        if connection.closed[1 - side] {
            self.connections.remove(&id);
            return;
        }
        connection.written[1 - side].chunks.clear();
        if connection.forgotten[side] {
            return;
        }
        let direction = &mut connection.written[side];
        direction.end_at = Some(direction.last_at.max(Instant::now() + latency));
        direction.wake();
    }

    fn of(&self, place: Place) -> Vec<(u64, usize)> {
        let sides = |(id, connection): (&u64, &Connection)| {
            let id = *id;
            let ends = connection.ends;
            (0..2).filter(move |side| ends[*side] == place).map(move |side| (id, side))
        };
        self.connections.iter().flat_map(sides).collect()
    }

    pub(super) fn process_ends(&mut self, place: Place, is_abrupt: bool) {
        self.listeners.remove(&place);
        if !is_abrupt {
            // The ends close when they are dropped.
            return;
        }
        for (id, side) in self.of(place) {
            let other = self.connections[&id].ends[1 - side];
            let at = Instant::now() + self.latency(place, other);
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.forgotten[side] = true;
                connection.written[1 - side].chunks.clear();
                connection.written[side].reset(at);
            }
        }
    }

    pub(super) fn host_dies(&mut self, place: Place) {
        self.listeners.remove(&place);
        self.dead.insert(place);
        for (id, side) in self.of(place) {
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.forgotten[side] = true;
                connection.written[side].chunks.clear();
                connection.written[side].end_at = None;
            }
        }
    }

    pub(super) fn host_returns(&mut self, place: Place) {
        self.dead.remove(&place);
        for (id, side) in self.of(place) {
            let Some(connection) = self.connections.get(&id).filter(|found| found.forgotten[side]) else {
                continue;
            };
            // Who still waits for an acknowledgement of bytes sends them again, and hears that nobody knows them.
            if connection.written[1 - side].chunks.is_empty() {
                continue;
            }
            let other = connection.ends[1 - side];
            let at = Instant::now() + self.retransmission() + self.latency(place, other);
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.written[1 - side].chunks.clear();
                connection.written[side].reset(at);
            }
        }
    }

    pub(super) fn block(&mut self, from: Place, to: Place) {
        *self.blocked.entry((from, to)).or_default() += 1;
    }

    pub(super) fn heal(&mut self, from: Place, to: Place) {
        match self.blocked.get_mut(&(from, to)) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) => {
                self.blocked.remove(&(from, to));
            }
            None => return,
        }
        if !self.is_open(from, to) {
            return;
        }
        let pause = self.retransmission();
        let at = Instant::now() + pause + self.latency(from, to);
        for connection in self.connections.values_mut() {
            for side in 0..2 {
                if (connection.ends[side], connection.ends[1 - side]) == (from, to) {
                    connection.written[side].delay(at);
                }
            }
        }
    }

    pub(super) fn slow_down(&mut self, place: Place, factor: u32) {
        if factor <= 1 {
            self.slow.remove(&place);
        } else {
            self.slow.insert(place, factor);
        }
    }

    pub(super) fn break_one(&mut self, pick: u64) -> Option<(Place, Place)> {
        let open: Vec<u64> = self.connections.keys().copied().collect();
        let id = *open.get(usize::try_from(pick % (open.len().max(1) as u64)).unwrap_or(0))?;
        let ends = self.connections[&id].ends;
        let now = Instant::now();
        let times = [now + self.latency(ends[0], ends[1]), now + self.latency(ends[1], ends[0])];
        let connection = self.connections.get_mut(&id)?;
        for (direction, at) in connection.written.iter_mut().zip(times) {
            direction.reset(at);
        }
        Some((ends[0], ends[1]))
    }
}

/// Turns what was found into what a reader is told, given a way to sleep until a time.
pub(super) fn poll_found(
    found: io::Result<Found>,
    mut sleep_until: impl FnMut(Instant) -> Poll<()>,
) -> Option<Poll<io::Result<Option<Bytes>>>> {
    match found {
        Err(error) => Some(Poll::Ready(Err(error))),
        Ok(Found::Bytes(bytes)) => Some(Poll::Ready(Ok(Some(bytes)))),
        Ok(Found::End) => Some(Poll::Ready(Ok(None))),
        Ok(Found::Wait) => Some(Poll::Pending),
        Ok(Found::Until(at)) => match sleep_until(at) {
            Poll::Pending => Some(Poll::Pending),
            Poll::Ready(()) => None,
        },
    }
}
