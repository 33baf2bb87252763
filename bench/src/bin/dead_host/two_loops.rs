//! Two loops on one producer, one for the partitions that stay healthy, one for those whose leader dies.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use milena_bench::wire::{self, Wire};
use milena_bench::{Client, Pace, Program, Stage, TwoLoops, table};

use crate::{Args, DEAD, PATIENCE, REPLICAS, SICK, Topic};

pub fn run(args: &Args, stage: &Stage, programs: &[(Client, Program)]) -> Result<()> {
    let (seconds, rate) = (args.seconds(), args.rate());
    let mut rows = Vec::new();
    let mut lines = String::new();
    for (client, program) in programs {
        let topic = Topic::create(stage, &format!("{}-loops", client.name()))?;
        let bootstrap = stage.bootstrap();
        let mut probe = Wire::connect(bootstrap.split(',').next().unwrap_or_default())?;
        let (for_seconds, at_rate, size) = (seconds.to_string(), rate.to_string(), args.size().to_string());
        let mut arguments = vec![bootstrap.as_str(), &topic.name, &for_seconds, &at_rate, &size];
        if *client == Client::Milena {
            arguments.extend(args.milena.iter().map(String::as_str));
        }
        let (started, running) = (Instant::now(), program.start(&arguments)?);
        thread::sleep(Duration::from_secs(args.fault_after));
        let down = stage.host_down(DEAD)?;
        let fault_s = (down.since - started).as_secs() as usize;
        let moved = wire::wait_for_leaders(&mut probe, &topic.name, &SICK, DEAD)?;
        let moved_s = (moved - down.since).as_secs_f64();
        let ended = running.wait(PATIENCE)?;
        drop(down);
        let loops = TwoLoops::read(&ended.said)?;
        let row = LoopsRow::of(&loops, args.settle as usize, fault_s);
        // A program that starts late makes up for it, and has more before the fault than it is to have.
        let base = row.before.mean.min((rate * 2 / 3) as f64);
        lines.push_str(&format!("{}\n", ended.said.trim()));
        eprintln!("{}, leaders moved after {moved_s:.2} s", ended.said.trim());
        let back = row.back.map_or_else(|| "not at all".to_owned(), |second| format!("{second} s"));
        rows.push([
            client.name().to_owned(),
            row.before.words(),
            row.after.words(),
            format!("{:.1} %", 100.0 * row.after.mean / base),
            back,
            format!("{moved_s:.2} s"),
        ]);
        wire::wait_until_whole(&bootstrap, &topic.name, REPLICAS.len())?;
    }
    println!(
        "Two loops on one producer: {}; {rate} records/s of {} B, two thirds to healthy partitions; the fault after {} s of {seconds}\n",
        args.on.words(),
        args.size(),
        args.fault_after
    );
    let heads = [
        "client",
        "healthy acks/s before: mean / worst second",
        "after the fault",
        "mean, of what was before",
        "sick partitions back after",
        "leaders moved after",
    ];
    println!("{}\n\nSecond by second:\n{lines}", table(heads, &rows));
    Ok(())
}

/// The figures of two loops.
struct LoopsRow {
    /// Healthy acknowledgements before the fault.
    before: Pace,
    /// And after it.
    after: Pace,
    /// Whole seconds from the fault's to the first one in which a sick partition had an acknowledgement.
    back: Option<usize>,
}

impl LoopsRow {
    /// The first seconds, in which the program starts and connects, do not count; the second of the fault is neither before nor
    /// after, and the program's last one may be cut short.
    fn of(loops: &TwoLoops, settle: usize, fault_s: usize) -> Self {
        let pace = |counts: &[u64]| Pace {
            mean: counts.iter().sum::<u64>() as f64 / counts.len().max(1) as f64,
            least: counts.iter().copied().min().unwrap_or(0),
        };
        let before = loops.healthy.get(settle..fault_s).unwrap_or_default();
        let end = loops.healthy.len().saturating_sub(1);
        let after = loops.healthy.get(fault_s + 1..end).unwrap_or_default();
        // What was on its way when the host died, or was taken in by the program's late start, is acknowledged within two seconds.
        let sick = loops.sick.get(fault_s + 2..).unwrap_or_default();
        let back = sick.iter().position(|count| *count > 0).map(|second| second + 2);
        Self { before: pace(before), after: pace(after), back }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_before_and_after_the_fault_are_told_apart() {
        let loops = TwoLoops {
            healthy: vec![0, 500, 900, 1_000, 1_000, 700, 980, 990, 1_000, 3],
            sick: vec![0, 500, 500, 500, 500, 100, 0, 0, 40, 900],
        };
        let row = LoopsRow::of(&loops, 2, 5);
        let before = Pace { mean: 2_900.0 / 3.0, least: 900 };
        let after = Pace { mean: 990.0, least: 980 };
        assert_eq!((row.before, row.after, row.back), (before, after, Some(3)));
        let row = LoopsRow::of(&TwoLoops::default(), 2, 5);
        assert_eq!((row.after.least, row.back), (0, None));
    }
}
