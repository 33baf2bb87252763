//! `milena produce`: lines become records; what became of them is counted and told.

mod outstanding;
mod pace;
mod pipeline;
mod progress;
mod totals;

use std::time::Instant;

use self::{pipeline::Pipeline, progress::Progress, totals::Totals};
use crate::{
    Outcome,
    args::{Global, ProduceArgs},
    client,
    cluster::Cluster,
    input::Source,
    output::Sink,
    say,
    signals::Stop,
};

pub(crate) async fn run(global: &Global, args: &ProduceArgs) -> anyhow::Result<Outcome> {
    let source = Source::open(&args.file)?;
    let stop = Stop::listen()?;
    let cluster = Cluster::connect(global).await?;
    if source.is_typed() {
        say("one record a line; Ctrl-D ends the input");
    }
    let started = Instant::now();
    let outcome = match client::producer(&cluster, &args.settings()) {
        Ok(producer) => Pipeline::new(producer, args, Progress::new(&source), stop).run(source).await,
        Err(error) => Err(error),
    };
    let took = started.elapsed();
    let to = format!("topic {} on {cluster}", args.topic);
    let closed = cluster.close().await;
    let end = outcome?;
    // Nothing sent and an error: the error says it all.
    if end.error.is_none() || end.totals.records() > 0 {
        let mut out = Sink::stdout();
        out.print(|out| std::io::Write::write_all(out, end.totals.report(&to, took).as_bytes()))?;
        out.flush()?;
    }
    for line in end.totals.failures() {
        say(&line);
    }
    if let Some(error) = end.error {
        return Err(error);
    }
    closed?;
    Ok(match (end.totals.records_failed(), end.interrupted) {
        (0, false) => Outcome::Done,
        (0, true) => Outcome::Interrupted,
        _ => Outcome::Failed,
    })
}

/// How producing ended.
struct End {
    totals: Totals,
    interrupted: bool,
    /// Why it ended before the input did.
    error: Option<anyhow::Error>,
}
