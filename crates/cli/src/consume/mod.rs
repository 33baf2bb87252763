//! `milena consume`: records of a topic, printed in order within each partition.

mod ends;

use std::collections::BTreeMap;

use anyhow::{anyhow, bail};
use milena::{ConsumeError, Consumer, Fetched, MetadataError, StartAt};
use milena_protocol::ErrorCode;

use self::ends::Ends;
use crate::{
    Outcome,
    args::{ConsumeArgs, Global, StartOffset},
    client,
    cluster::Cluster,
    output::{Consumed, Format, Sink, write_json},
    say,
    signals::Stop,
    usage_error,
};

pub(crate) async fn run(global: &Global, args: &ConsumeArgs) -> anyhow::Result<Outcome> {
    let format = args.format().map_err(usage_error)?;
    let stop = Stop::listen()?;
    let cluster = Cluster::connect(global).await?;
    let outcome = match client::consumer(&cluster, &args.properties) {
        Ok(consumer) => tokio::select! {
            outcome = consume(consumer, args, format.as_ref()) => outcome,
            // The usual end of a consumer that follows a topic.
            () = stop.asked(1) => Ok(Outcome::Done),
        },
        Err(error) => Err(error),
    };
    let closed = cluster.close().await;
    let outcome = outcome?;
    closed?;
    Ok(outcome)
}

async fn consume(
    mut consumer: Consumer,
    args: &ConsumeArgs,
    format: Option<&Format>,
) -> anyhow::Result<Outcome> {
    let starts = starts(&consumer, args).await?;
    let ends = if args.exit_at_end { Some(ends(&consumer, &args.topic, &starts).await?) } else { None };
    let mut reading = Reading {
        open: starts.len(),
        printer: Printer { format, sink: Sink::stdout(), left: args.count },
        ends,
        failed: false,
    };
    let assigned =
        starts.into_iter().map(|(partition, start)| (args.topic.clone(), partition, StartAt::Offset(start)));
    consumer.assign(assigned.collect()).await?;
    while !reading.is_done() {
        if !reading.take(consumer.next().await)? {
            break;
        }
    }
    consumer.close().await;
    Ok(if reading.failed { Outcome::Failed } else { Outcome::Done })
}

/// The offsets to start from, by partition.
async fn starts(consumer: &Consumer, args: &ConsumeArgs) -> anyhow::Result<BTreeMap<i32, i64>> {
    let known = consumer.partitions(&args.topic).await.map_err(|error| match error {
        ConsumeError::Metadata(MetadataError::Topic {
            code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            topic,
        }) => {
            anyhow!("there is no topic {topic}; `milena topics list` names those that there are")
        }
        error => error.into(),
    })?;
    let wanted = match args.partition {
        None => known,
        Some(partition) if known.contains(&partition) => vec![partition],
        Some(partition) => {
            let (topic, count) = (&args.topic, known.len());
            bail!("topic {topic} has no partition {partition}: it has the partitions [0, {count})")
        }
    };
    let start = match args.offset {
        StartOffset::Beginning => StartAt::Beginning,
        StartOffset::End => StartAt::End,
        StartOffset::At(offset) => StartAt::Offset(offset),
        StartOffset::Last(count) => StartAt::Tail(count),
        StartOffset::Time(millis) => StartAt::Timestamp(millis),
    };
    let mut starts = BTreeMap::new();
    for partition in wanted {
        starts.insert(partition, consumer.resolve(&args.topic, partition, start).await?);
    }
    Ok(starts)
}

async fn ends(consumer: &Consumer, topic: &str, starts: &BTreeMap<i32, i64>) -> anyhow::Result<Ends> {
    let mut ends = Ends::default();
    for (partition, start) in starts {
        let (_, end) = consumer.offsets(topic, *partition).await?;
        ends.expect(*partition, *start, end);
    }
    Ok(ends)
}

/// What is read and how far.
struct Reading<'a> {
    /// Partitions that are still read.
    open: usize,
    printer: Printer<'a>,
    /// Where to stop, if anywhere.
    ends: Option<Ends>,
    failed: bool,
}

impl Reading<'_> {
    fn is_done(&self) -> bool {
        self.printer.left == Some(0) || self.open == 0 || self.ends.as_ref().is_some_and(Ends::are_reached)
    }

    /// False when nobody reads the output any more.
    fn take(&mut self, fetched: Result<Fetched, ConsumeError>) -> anyhow::Result<bool> {
        let fetched = match fetched {
            Ok(fetched) => fetched,
            Err(error) => return self.give_up(&error).map(|()| true),
        };
        for record in fetched.records() {
            let record = record?;
            let beyond =
                self.ends.as_ref().is_some_and(|ends| ends.is_beyond(fetched.partition, record.offset));
            if beyond || self.printer.left == Some(0) {
                break;
            }
            let consumed = Consumed {
                topic: &fetched.topic,
                partition: fetched.partition,
                timestamp_type: fetched.timestamp_type(record.offset),
                record: &record,
            };
            if !self.printer.print(&consumed)? {
                return Ok(false);
            }
        }
        if let Some(ends) = &mut self.ends {
            ends.passed(fetched.partition, fetched.next_offset);
        }
        self.printer.sink.flush()
    }

    /// One partition cannot be read any further; the others can.
    fn give_up(&mut self, error: &ConsumeError) -> anyhow::Result<()> {
        let partition = match error {
            ConsumeError::OffsetOutOfRange { partition, .. }
            | ConsumeError::Refused { partition, .. }
            | ConsumeError::Records { partition, .. } => *partition,
            _ => return Err(anyhow!("{error}")),
        };
        say(&error.to_string());
        self.failed = true;
        self.open = self.open.saturating_sub(1);
        if let Some(ends) = &mut self.ends {
            ends.passed(partition, i64::MAX);
        }
        Ok(())
    }
}

struct Printer<'a> {
    /// None for JSON.
    format: Option<&'a Format>,
    sink: Sink,
    /// Records that may still be printed.
    left: Option<u64>,
}

impl Printer<'_> {
    /// False when nobody reads the output any more.
    fn print(&mut self, consumed: &Consumed<'_>) -> anyhow::Result<bool> {
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        let format = self.format;
        self.sink.print(|out| match format {
            Some(format) => format.write(out, consumed),
            None => write_json(out, consumed),
        })
    }
}
