//! Reads, sends and harvests, without waiting for one delivery before the next send.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use anyhow::anyhow;
use milena::{AppendError, Delivery, Header, ProduceError, Producer, Record, RecordMetadata, SendError};

use super::{
    End, Totals,
    outstanding::{Outstanding, Pending, Settled},
    pace::Pace,
    progress::{INTERVAL, Progress},
    totals::records,
};
use crate::{
    args::{HeaderArg, ProduceArgs},
    input::{Chunk, KeyRule, Source},
    signals::Stop,
};

/// After Ctrl-C: how long what is on its way may still take.
const FLUSH_LIMIT: Duration = Duration::from_secs(10);
/// Records sent between two looks at what has arrived.
const HARVEST_EVERY: u32 = 256;

/// Everything that one run of `milena produce` holds.
pub(super) struct Pipeline<'a> {
    producer: Producer,
    topic: &'a str,
    partition: Option<i32>,
    headers: Vec<Header<'a>>,
    keys: KeyRule,
    pace: Option<Pace>,
    outstanding: Outstanding<Delivery>,
    totals: Totals,
    progress: Progress,
    stop: Stop,
    bytes_read: u64,
    since_harvest: u32,
}

/// Why sending ended before the input did.
enum Halt {
    Interrupted,
    Failed(anyhow::Error),
}

impl Pending for Delivery {
    fn result(&mut self) -> Option<Self::Output> {
        Delivery::result(self)
    }
}

impl<'a> Pipeline<'a> {
    pub(super) fn new(producer: Producer, args: &'a ProduceArgs, progress: Progress, stop: Stop) -> Self {
        let header =
            |arg: &'a HeaderArg| Header { key: &arg.key, value: arg.value.as_deref().map(str::as_bytes) };
        Self {
            producer,
            topic: &args.topic,
            partition: args.partition,
            headers: args.headers.iter().map(header).collect(),
            keys: args.key_rule(),
            pace: args.rate.map(|rate| Pace::new(rate, Instant::now())),
            outstanding: Outstanding::new(),
            totals: Totals::new(),
            progress,
            stop,
            bytes_read: 0,
            since_harvest: 0,
        }
    }

    /// Produces the source to its end, or until something stops that; then waits for what is on its way.
    ///
    /// # Errors
    /// Only when the input cannot be read at all. What comes later is in [`End`].
    pub(super) async fn run(mut self, source: Source) -> anyhow::Result<End> {
        let halt = self.send_all(source).await.err();
        let finished = self.finish(matches!(halt, Some(Halt::Interrupted))).await;
        self.progress.clear();
        let (interrupted, error) = match halt {
            None => (!finished, None),
            Some(Halt::Interrupted) => (true, None),
            Some(Halt::Failed(error)) => (false, Some(error)),
        };
        Ok(End { totals: self.totals, interrupted, error })
    }

    async fn send_all(&mut self, source: Source) -> Result<(), Halt> {
        let name = source.name().to_owned();
        let mut chunks = source.read().map_err(|error| Halt::Failed(error.into()))?;
        let stop = self.stop.clone();
        loop {
            let chunk = tokio::select! {
                biased;
                () = stop.asked(1) => return Err(Halt::Interrupted),
                chunk = chunks.next() => chunk,
                settled = self.outstanding.next() => {
                    settle(&mut self.totals, settled);
                    self.harvest();
                    continue;
                }
                () = tokio::time::sleep(INTERVAL) => {
                    self.harvest();
                    continue;
                }
            };
            match chunk {
                None => return Ok(()),
                Some(Ok(chunk)) => {
                    self.send_chunk(&chunk, &name).await?;
                    chunks.give_back(chunk);
                }
                Some(Err(error)) => return Err(Halt::Failed(anyhow!("{name}: {error}"))),
            }
        }
    }

    async fn send_chunk(&mut self, chunk: &Chunk, name: &str) -> Result<(), Halt> {
        for (number, line) in chunk.lines() {
            if self.pace.is_some() {
                self.wait_for_pace().await?;
            }
            if self.outstanding.is_full() {
                self.wait_for_room().await?;
            }
            self.send_line(number, line, name).await?;
            self.bytes_read += line.len() as u64 + 1;
            self.since_harvest += 1;
            if self.since_harvest >= HARVEST_EVERY {
                self.harvest();
            }
        }
        Ok(())
    }

    async fn send_line(&mut self, number: u64, line: &[u8], name: &str) -> Result<(), Halt> {
        let keyed =
            self.keys.split(line).map_err(|error| Halt::Failed(anyhow!("{name}:{number}: {error}")))?;
        let key = keyed.key.as_deref();
        let record = Record {
            topic: self.topic,
            partition: self.partition,
            timestamp: None,
            key,
            value: Some(keyed.value),
            headers: &self.headers,
        };
        let at = Instant::now();
        let bytes = key.map_or(0, <[u8]>::len) + keyed.value.len();
        // Most often `send` does not wait, and then the signals are not looked at: the chunk's end is soon.
        let sent = tokio::select! {
            biased;
            sent = self.producer.send(record) => sent,
            () = self.stop.asked(1) => return Err(Halt::Interrupted),
        };
        match sent {
            Ok(delivery) => self.outstanding.push(delivery, at, number, bytes),
            Err(SendError::Refused(error @ (AppendError::Closed | AppendError::Fatal(_)))) => {
                return Err(Halt::Failed(anyhow!("{name}:{number}: {error}")));
            }
            // This record alone cannot be sent; the next ones may.
            Err(SendError::Refused(error)) => self.totals.failed(number, error),
            Err(error) => return Err(Halt::Failed(anyhow!("{name}:{number}: {error}"))),
        }
        Ok(())
    }

    /// Waits until the next record is due.
    async fn wait_for_pace(&mut self) -> Result<(), Halt> {
        let stop = self.stop.clone();
        let Some(pace) = &mut self.pace else { return Ok(()) };
        let due = pace.due();
        pace.sent(Instant::now());
        if due <= Instant::now() {
            return Ok(());
        }
        let wait = tokio::time::sleep_until(due.into());
        tokio::pin!(wait);
        loop {
            tokio::select! {
                biased;
                () = stop.asked(1) => return Err(Halt::Interrupted),
                () = &mut wait => return Ok(()),
                settled = self.outstanding.next() => settle(&mut self.totals, settled),
                () = tokio::time::sleep(INTERVAL) => {}
            }
            self.harvest();
        }
    }

    /// Waits until fewer records are outstanding.
    async fn wait_for_room(&mut self) -> Result<(), Halt> {
        let stop = self.stop.clone();
        while self.outstanding.is_full() {
            tokio::select! {
                biased;
                () = stop.asked(1) => return Err(Halt::Interrupted),
                settled = self.outstanding.next() => settle(&mut self.totals, settled),
                () = tokio::time::sleep(INTERVAL) => {}
            }
            self.harvest();
        }
        Ok(())
    }

    /// Takes what has an outcome, and shows how far it is.
    fn harvest(&mut self) {
        self.since_harvest = 0;
        let totals = &mut self.totals;
        self.outstanding.harvest(|settled| settle(totals, settled));
        let (acknowledged, failed) = (self.totals.records_acknowledged(), self.totals.records_failed());
        self.progress.show(self.bytes_read, acknowledged, self.outstanding.len(), failed);
    }

    /// Waits for what is on its way: as long as delivery.timeout.ms lets it, or [`FLUSH_LIMIT`] after Ctrl-C. Then closes the
    /// producer, which fails the rest. False when Ctrl-C came meanwhile.
    async fn finish(&mut self, mut interrupted: bool) -> bool {
        let stop = self.stop.clone();
        let already = u32::from(interrupted);
        if !self.drain(stop.asked(already + 1), interrupted.then_some(FLUSH_LIMIT)).await && !interrupted {
            interrupted = true;
            self.drain(stop.asked(2), Some(FLUSH_LIMIT)).await;
        }
        self.producer.close(Duration::ZERO).await;
        self.harvest();
        !interrupted
    }

    /// Sends what lingers and waits for every outcome. False when `given_up` or the limit came first.
    async fn drain(&mut self, given_up: impl Future<Output = ()>, limit: Option<Duration>) -> bool {
        if self.outstanding.is_empty() {
            return true;
        }
        if let Some(limit) = limit {
            let seconds = limit.as_secs();
            let waiting = records(self.outstanding.len() as u64);
            self.progress
                .say(&format!("stopping; waiting at most {seconds} s for the acknowledgement of {waiting}"));
        }
        let expired = async {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(given_up, expired);
        let Self { producer, outstanding, totals, progress, bytes_read, .. } = self;
        let flush = producer.flush();
        tokio::pin!(flush);
        let mut flushed = false;
        while !outstanding.is_empty() {
            tokio::select! {
                biased;
                () = &mut given_up => return false,
                () = &mut flush, if !flushed => flushed = true,
                settled = outstanding.next() => settle(totals, settled),
                () = &mut expired => return false,
                () = tokio::time::sleep(INTERVAL) => {}
            }
            outstanding.harvest(|settled| settle(totals, settled));
            progress.show(
                *bytes_read,
                totals.records_acknowledged(),
                outstanding.len(),
                totals.records_failed(),
            );
        }
        true
    }
}

fn settle(totals: &mut Totals, settled: Settled<Result<RecordMetadata, ProduceError>>) {
    match settled.outcome {
        Ok(placed) => totals.acknowledged(placed.partition, placed.offset, settled.bytes, settled.latency),
        Err(error) => totals.failed(settled.line, error),
    }
}
