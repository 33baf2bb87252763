//! `milena incident`: a broker's host dies, and the producer of Kafka 0.8 and Milena's meet it side by side.
//!
//! [`stage`] is the cluster and what kills a host; [`old`] and [`new`] are the producers, each with a [`schedule`] and a
//! [`meter`]; [`probe`] sees who leads. [`time_line`], [`summary`] and [`plot`] tell of it.

mod args;
mod meter;
mod new;
mod old;
mod plot;
mod probe;
mod schedule;
mod stage;
mod summary;
mod time_line;

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow};
use milena_old_producer::ProducerConfig;
use tokio::{
    sync::mpsc,
    time::{Instant as TokioInstant, MissedTickBehavior, interval_at, sleep, sleep_until, timeout},
};

pub(crate) use self::args::IncidentArgs;
use self::{
    meter::Meter,
    new::NewProducer,
    old::OldProducer,
    probe::{Probe, Seen, View},
    schedule::Schedule,
    stage::Stage,
    summary::{Refresh, Summary},
    time_line::Event,
};
use crate::{Outcome, args::Global, output::Sink, signals::Stop};

/// How long the topic may take to have leaders.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the end of the play waits for outcomes.
const LAST_OUTCOMES: Duration = Duration::from_secs(3);
/// Events and views that wait to be told.
const QUEUE: usize = 1024;
/// Failures of one producer that are told one by one.
const FAILURES_TOLD: u32 = 5;

pub(crate) async fn run(global: &Global, args: &IncidentArgs) -> anyhow::Result<Outcome> {
    args.check()?;
    let stop = Stop::listen()?;
    let mut stage = Stage::open(global, args).await?;
    let played = tokio::select! {
        played = play(&mut stage, args) => played.map(|()| Outcome::Done),
        () = stop.asked(1) => Ok(Outcome::Interrupted),
    };
    let closed = tokio::select! {
        closed = stage.close() => closed,
        () = stop.asked(2) => Ok(()),
    };
    played.and_then(|outcome| closed.map(|()| outcome))
}

async fn play(stage: &mut Stage, args: &IncidentArgs) -> anyhow::Result<()> {
    let bootstrap = stage.bootstrap();
    let mut list = ProducerConfig::default();
    list.set("metadata.broker.list", &bootstrap)?;
    let (seen, mut views) = mpsc::channel(QUEUE);
    let _probe = Probe::start(&list.metadata_broker_list, &args.topic, &seen)?;
    let before = first_view(&mut views, &args.topic).await?;

    let partitions = before.leaders.len() as u32;
    let (tell, events) = mpsc::channel(QUEUE);
    let old = OldProducer::build(args, &bootstrap, tell.clone())?;
    let old = OldProducer::warm_up(old, args.topic.clone(), partitions.cast_signed()).await?;
    let new = NewProducer::build(args, &bootstrap)?;
    NewProducer::warm_up(&new, &args.topic, partitions.cast_signed()).await?;

    let start = Instant::now();
    let schedule = Schedule::new(&args.topic, partitions, args.rate, start, args.duration);
    let mut play = Play::new(args, start, before);
    play.print(&play.opening(&stage.describe(args)))?;
    let old = OldProducer::start(old, schedule.clone(), Arc::clone(&play.old), tell.clone())?;
    let new = NewProducer::start(new, schedule.clone(), Arc::clone(&play.new), tell.clone());
    play.until_the_end(stage, &tell, events, views).await?;
    drop(old);
    let summary = play.summary(&schedule);
    new.close().await;

    play.print(&format!("\n{}\n{}", summary.table(), summary.sentence()))?;
    let svg = plot::svg(&summary, args.duration, &play.subtitle());
    std::fs::write(&args.svg, svg).with_context(|| format!("cannot write {}", args.svg.display()))?;
    play.print(&format!("The plot is in {}\n", args.svg.display()))
}

/// The topic, when each of its partitions has a leader.
async fn first_view(views: &mut mpsc::Receiver<Seen>, topic: &str) -> anyhow::Result<View> {
    let led = async {
        while let Some((_, view)) = views.recv().await {
            if view.is_led() {
                return Some(view);
            }
        }
        None
    };
    let view = timeout(PATIENCE, led).await.ok().flatten();
    view.ok_or_else(|| anyhow!("topic {topic} has not got a leader for each partition within {PATIENCE:?}"))
}

/// A play that runs.
struct Play<'a> {
    args: &'a IncidentArgs,
    start: Instant,
    out: Sink,
    /// The cluster before the fault.
    before: View,
    /// Ids by address.
    addresses: BTreeMap<String, i32>,
    old: Arc<Meter>,
    new: Arc<Meter>,
    refreshes: Vec<Refresh>,
    fault: Option<Duration>,
    moved: Option<Duration>,
    dead: BTreeSet<i32>,
    failures: BTreeMap<&'static str, u32>,
}

impl<'a> Play<'a> {
    fn new(args: &'a IncidentArgs, start: Instant, before: View) -> Self {
        let addresses = before.brokers.iter().map(|(id, address)| (address.clone(), *id)).collect();
        Self {
            args,
            start,
            out: Sink::stdout(),
            before,
            addresses,
            old: Arc::new(Meter::new(start)),
            new: Arc::new(Meter::new(start)),
            refreshes: Vec::new(),
            fault: None,
            moved: None,
            dead: BTreeSet::new(),
            failures: BTreeMap::new(),
        }
    }

    fn opening(&self, stage: &str) -> String {
        let IncidentArgs { rate, topic, duration, .. } = self.args;
        let partitions = self.before.leaders.len();
        let mut text = format!(
            "On {stage}: both producers send {rate} records/s each to the {partitions} partitions of {topic}, acks=all, for \
             {duration:?}.\n"
        );
        if let Some(scale) = self.args.scale() {
            text.push_str(&format!("So that it does not take hours, {scale}.\n"));
        }
        text.push('\n');
        text
    }

    fn subtitle(&self) -> String {
        let IncidentArgs { rate, request_timeout, interval, .. } = self.args;
        let interval =
            interval.0.map_or_else(|| "never".to_owned(), |interval| format!("every {interval:?}"));
        format!(
            "{rate} records/s each, acks=all; the old one refreshes {interval}, its request.timeout.ms is {request_timeout:?}"
        )
    }

    /// Tells what happens until nobody sends any more, and the last outcomes are known or late.
    async fn until_the_end(
        &mut self,
        stage: &mut Stage,
        tell: &mpsc::Sender<Event>,
        mut events: mpsc::Receiver<Event>,
        mut views: mpsc::Receiver<Seen>,
    ) -> anyhow::Result<()> {
        let start = TokioInstant::from_std(self.start);
        let mut seconds = interval_at(start + Duration::from_secs(1), Duration::from_secs(1));
        seconds.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let end = start + self.args.duration;
        let fault_at = start + self.args.fault_at();
        loop {
            tokio::select! {
                biased;
                Some(event) = events.recv() => self.tell(event)?,
                Some(seen) = views.recv() => self.look(&seen)?,
                () = sleep_until(fault_at), if self.fault.is_none() => {
                    self.fault = Some(self.start.elapsed());
                    let text = stage.strike(tell.clone())?;
                    self.print(&time_line::line(self.start.elapsed(), &text))?;
                }
                _ = seconds.tick() => self.second()?,
                () = sleep_until(end) => break,
            }
        }
        let late = end + LAST_OUTCOMES;
        while TokioInstant::now() < late && !(self.old.is_idle() && self.new.is_idle()) {
            sleep(Duration::from_millis(20)).await;
        }
        while let Ok(event) = events.try_recv() {
            self.tell(event)?;
        }
        Ok(())
    }

    fn tell(&mut self, event: Event) -> anyhow::Result<()> {
        let text = match event {
            Event::Struck(Ok(took)) => {
                time_line::line(self.start.elapsed(), &format!("the command took {}", time_line::wait(took)))
            }
            Event::Struck(Err(error)) => return Err(anyhow!(error)),
            // Before the play.
            Event::Refreshed { ended, .. } if ended < self.start => return Ok(()),
            Event::Refreshed { ended, report } => {
                let at = ended - self.start;
                let text = time_line::line(at, &time_line::refresh(&report, &self.addresses));
                self.refreshes.push(Refresh { at, report });
                text
            }
            Event::Failed { at, who, error } => {
                let told = self.failures.entry(who).or_default();
                *told += 1;
                if *told > FAILURES_TOLD {
                    return Ok(());
                }
                time_line::line(at, &format!("{who} producer fails: {error}"))
            }
        };
        self.print(&text)
    }

    fn look(&mut self, (at, view): &Seen) -> anyhow::Result<()> {
        if self.fault.is_none() || self.moved.is_some() {
            return Ok(());
        }
        let Some(gone) = view.has_moved_from(&self.before) else { return Ok(()) };
        let at = at.saturating_duration_since(self.start);
        self.moved = Some(at);
        self.dead = gone;
        let moves = view.moves_from(&self.before);
        let text = match moves.is_empty() {
            false => format!("LEADERS HAVE MOVED: partition → broker {moves}; all seems well"),
            true => format!("A BROKER HAS LEFT the cluster that led no partition of {}", self.args.topic),
        };
        self.print(&time_line::line(at, &text))
    }

    fn second(&mut self) -> anyhow::Result<()> {
        let now = self.start.elapsed();
        let (old, new) = (self.old.look(now), self.new.look(now));
        self.print(&time_line::second(now, old, new))
    }

    fn summary(&self, schedule: &Schedule) -> Summary {
        let now = self.start.elapsed();
        Summary {
            old: self.old.samples(now, schedule),
            new: self.new.samples(now, schedule),
            refreshes: self.refreshes.clone(),
            fault: self.fault.unwrap_or(now),
            moved: self.moved,
            dead: self.dead.clone(),
            touched: self.before.touched_by(&self.dead),
            request_timeout: self.args.request_timeout,
        }
    }

    /// At once: somebody watches. A reader that has gone keeps the play from nothing, the plot least of all.
    fn print(&mut self, text: &str) -> anyhow::Result<()> {
        self.out.print(|out| out.write_all(text.as_bytes()))?;
        self.out.flush()?;
        Ok(())
    }
}
