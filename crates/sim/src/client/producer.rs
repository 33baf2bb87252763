//! A producer: the product's engine and accumulator, driven in virtual time.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use milena_core::engine::Engine;
use milena_core::metadata::MetadataWait;
use milena_core::producer::{Append, Delivery, ProducerEngine, ProducerShared};
use milena_core::record::Record;
use milena_core::time::Instant as CoreInstant;
use tokio::time::{Instant, sleep_until};

use super::wire::Wire;
use super::witness::Witness;
use crate::chance::Chance;
use crate::history::{Outcome, RecordId, Sent};
use crate::network::Place;
use crate::note;
use crate::plan::{ProducerPlan, TOPIC};
use crate::sim::{Phase, Sim, client_clock_ms};

/// How long a producer waits for its topic to be known before it gives a record up.
const MAX_BLOCK: Duration = Duration::from_secs(5);

/// The longest pause between two bursts once nothing goes wrong any more.
const PAUSE_WHEN_HEALED: Duration = Duration::from_millis(1_500);
/// A driver that makes so many turns while no time passes makes no progress.
const TURNS_AT_ONCE: u32 = 10_000;

struct Producer {
    sim: Arc<Sim>,
    id: u32,
    plan: ProducerPlan,
    chance: Chance,
    engine: ProducerEngine,
    shared: Arc<ProducerShared>,
    next_number: u64,
    /// Records without an outcome: where they are in the history.
    waiting: Vec<(usize, Delivery)>,
    topic: MetadataWait,
}

/// Produces until the run drains, and ends when every record has an outcome.
pub(crate) async fn produce(sim: Arc<Sim>, id: u32, plan: ProducerPlan, mut chance: Chance) {
    let (engine, shared) = ProducerEngine::new(plan.config.clone(), chance.number(), now(&sim));
    let topic = MetadataWait::new(TOPIC, None, now(&sim) + MAX_BLOCK);
    let producer =
        Producer { sim, id, plan, chance, engine, shared, next_number: 0, waiting: Vec::new(), topic };
    producer.run().await;
}

fn now(sim: &Sim) -> CoreInstant {
    CoreInstant::ORIGIN + sim.now()
}

impl Producer {
    async fn run(mut self) {
        let (mut wire, mut events) = Wire::new(self.sim.clone(), Place::Client(self.id));
        let sim = self.sim.clone();
        let started = Instant::now() - self.sim.now();
        let mut next_burst = Instant::now();
        let mut is_closing = false;
        let mut turns = (Duration::ZERO, 0);
        loop {
            turns = if turns.0 == self.sim.now() { (turns.0, turns.1 + 1) } else { (self.sim.now(), 0) };
            if turns.1 == TURNS_AT_ONCE {
                let due = self.engine.next_timeout();
                let spins = format!("the driver of c{} spins at {:?}: due at {due:?}", self.id, turns.0);
                self.sim.history().broken.push(spins);
                return;
            }
            let phase_changed = sim.phase_changed.notified();
            let phase = sim.phase();
            if phase == Phase::Over {
                return;
            }
            if phase <= Phase::Healed && Instant::now() >= next_burst {
                self.burst();
                let pause = if phase == Phase::Healed { PAUSE_WHEN_HEALED } else { self.plan.pause };
                next_burst = Instant::now() + self.chance.time(Duration::from_millis(1), pause);
            }
            let at = now(&self.sim);
            self.engine.poll(at);
            while let Some(command) = self.engine.poll_command() {
                wire.carry_out(command);
            }
            self.take_outcomes(wire.witness());
            if phase == Phase::Draining && self.waiting.is_empty() && !is_closing {
                self.shared.begin_close(at + Duration::from_secs(1));
                is_closing = true;
                continue;
            }
            if self.engine.is_closed() {
                return;
            }
            let due = self.engine.next_timeout().map(|due| started + (due - CoreInstant::ORIGIN));
            let due = due.unwrap_or_else(|| Instant::now() + Duration::from_secs(3_600));
            let due = if phase <= Phase::Healed { due.min(next_burst) } else { due };
            if self.shared.signal().take() {
                continue;
            }
            tokio::select! {
                biased;
                event = events.recv() => {
                    let at = now(&self.sim);
                    let mut next = event;
                    while let Some(event) = next {
                        wire.take_note(&event);
                        self.engine.handle_event(event, at);
                        next = events.try_recv().ok();
                    }
                }
                () = phase_changed => {}
                () = sleep_until(due) => {}
            }
        }
    }

    /// Sends some records at once.
    fn burst(&mut self) {
        let at = now(&self.sim);
        match self.topic.poll(self.shared.metadata(), at) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => {
                note!(self.sim.trace, "c{} has no metadata: {error}", self.id);
                self.topic = MetadataWait::new(TOPIC, None, at + MAX_BLOCK);
                return;
            }
            Poll::Pending => return,
        }
        self.topic = MetadataWait::new(TOPIC, None, at + MAX_BLOCK);
        let view = self.shared.metadata().view_full();
        let Some(topic) = view.cluster.topic(TOPIC) else { return };
        for _ in 0..self.chance.range(1, self.plan.burst) {
            let padding = "x".repeat(self.chance.index(80));
            let value = format!("{}/{}/{padding}", self.id, self.next_number);
            let mut record = Record::to(TOPIC).value(&value);
            if self.plan.names_partitions {
                let partition = self.chance.index(topic.partitions.len());
                record = record.partition(i32::try_from(partition).unwrap_or(0));
            }
            match self.shared.append(topic, &record, client_clock_ms(self.sim.now()), at, None) {
                Ok(Append::Appended(delivery)) => self.sent(delivery),
                Ok(Append::NeedsMemory(_)) => return,
                Err(error) => {
                    note!(self.sim.trace, "c{} cannot send: {error}", self.id);
                    return;
                }
            }
        }
    }

    fn sent(&mut self, delivery: Delivery) {
        let mut history = self.sim.history();
        history.sent.push(Sent {
            producer: self.id,
            number: self.next_number,
            at: self.sim.now(),
            partition: delivery.partition(),
            is_placed: self.plan.names_partitions,
            outcome: None,
            acknowledged_in: None,
        });
        self.waiting.push((history.sent.len() - 1, delivery));
        self.next_number += 1;
    }

    fn take_outcomes(&mut self, witness: &mut Witness) {
        let (sim, id) = (&self.sim, self.id);
        self.waiting.retain_mut(|(index, delivery)| {
            let Some(result) = delivery.result() else { return true };
            let mut history = sim.history();
            let sent = &mut history.sent[*index];
            let outcome = match result {
                Ok(metadata) => {
                    let (partition, offset) = (metadata.partition, metadata.offset);
                    note!(
                        sim.trace,
                        "c{id} record {} is acknowledged in {partition} at {offset:?}",
                        sent.number
                    );
                    sent.partition = partition;
                    let record = RecordId { producer: sent.producer, number: sent.number };
                    sent.acknowledged_in = witness.acknowledged_in(record, partition);
                    Outcome::Acknowledged(metadata.offset)
                }
                Err(error) => {
                    note!(sim.trace, "c{id} record {} has failed: {error}", sent.number);
                    Outcome::Failed(error.to_string())
                }
            };
            sent.outcome = Some((sim.now(), outcome));
            false
        });
    }
}
