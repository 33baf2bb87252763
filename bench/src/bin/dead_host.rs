//! One of three hosts dies under a producer, one client after the other: how long the records of its partitions wait, what the others
//! notice, and whether everything that was acknowledged is there afterwards. See README.md.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Parser;
use milena_bench::plot::{self, Bar};
use milena_bench::wire::{self, Placement, Wire};
use milena_bench::{Client, Does, Found, On, Program, Report, Stage, TwoLoops, Verdict, table};

/// The host that dies.
const DEAD: i32 = 3;
/// The replicas of each partition, the leader first: four partitions do not touch host 3.
const REPLICAS: [[i32; 2]; 6] = [[3, 1], [1, 2], [2, 1], [3, 2], [1, 2], [2, 1]];
/// The partitions that host 3 leads.
const SICK: [usize; 2] = [0, 3];
/// So long Milena's program starts, when its latencies are to be without the start; the peers' cannot say.
const SETTLE_SECONDS: u64 = 3;
/// No client takes longer to come back.
const PATIENCE: Duration = Duration::from_secs(200);

#[derive(Parser)]
#[command(about = "A host dies under each client in turn (needs root and iptables, with --on real)")]
struct Args {
    /// Which cluster.
    #[arg(long, value_enum, default_value_t = On::Real)]
    on: On,
    /// Which clients, one after the other.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [Client::Milena, Client::Java, Client::FranzGo])]
    clients: Vec<Client>,
    /// Records per second [default: 2,000; with two loops 6,000]
    #[arg(long)]
    rate: Option<u64>,
    /// Bytes of a record's value [default: 100; with two loops 1,024]
    #[arg(long)]
    size: Option<usize>,
    /// Seconds of the run without a fault.
    #[arg(long, default_value_t = 10)]
    healthy_seconds: u64,
    /// Seconds for which records are sent in the run with the fault [default: 24; with two loops 35]
    #[arg(long)]
    seconds: Option<u64>,
    /// Seconds from the start of that run to the fault.
    #[arg(long, default_value_t = 8)]
    fault_after: u64,
    /// Records name no partition: the client's partitioner chooses.
    #[arg(long)]
    keyless: bool,
    /// Two loops on one producer with its defaults, one for healthy partitions, one for sick ones.
    #[arg(long, conflicts_with = "keyless")]
    two_loops: bool,
    /// Where to put the plot.
    #[arg(long)]
    svg: Option<PathBuf>,
    /// What the plot says of when and where it was made.
    #[arg(long, default_value = "")]
    note: String,
    /// The folder with the peers' sources.
    #[arg(long, env = "PEERS", default_value = milena_bench::PEERS)]
    peers: PathBuf,
    /// Further arguments for Milena's program, such as `-X milena.suspicion.floor.ms=250`.
    #[arg(last = true)]
    milena: Vec<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let does = if args.two_loops { Does::TwoLoops } else { Does::Produce };
    let mut programs = Vec::new();
    for client in &args.clients {
        programs.push((*client, client.program(does, &args.peers)?));
    }
    let stage = Stage::start(args.on)?;
    eprintln!("serving: {}", stage.bootstrap());
    // A first run that does not count: it warms the brokers' Java machines, and the caches of all.
    if let Some((client, program)) = programs.first()
        && !args.two_loops
    {
        let topic = Topic::create(&stage, "warm-up")?;
        Run { args: &args, stage: &stage, client: *client, program, topic: &topic }.healthy(3)?;
    }
    if args.two_loops { two_loops(&args, &stage, &programs) } else { one_loop(&args, &stage, &programs) }
}

/// A topic placed so that four partitions do not touch host 3, with a name of this process's own.
struct Topic {
    name: String,
}

impl Topic {
    fn create(stage: &Stage, name: &str) -> Result<Self> {
        let name = format!("dead-host-{}-{name}", std::process::id());
        let placement = Placement::Given(REPLICAS.map(Vec::from).into());
        wire::create_topic(&stage.bootstrap(), &name, &placement)?;
        Ok(Self { name })
    }
}

/// What one client did.
struct Outcome {
    client: Client,
    healthy: Report,
    fault: Report,
    moved_s: f64,
    /// Of the run without a fault, and of that with it.
    verdicts: [Verdict; 2],
}

fn one_loop(args: &Args, stage: &Stage, programs: &[(Client, Program)]) -> Result<()> {
    let mut outcomes = Vec::new();
    for (client, program) in programs {
        let topic = |what: &str| Topic::create(stage, &format!("{}-{what}", client.name()));
        let (before, across) = (topic("healthy")?, topic("fault")?);
        let run = |topic| Run { args, stage, client: *client, program, topic };
        eprintln!("{}: {} s without a fault", client.name(), args.healthy_seconds);
        let (healthy, before) = run(&before).healthy(args.healthy_seconds)?;
        eprintln!("{}: {} s with one", client.name(), args.seconds());
        let (fault, moved_s, across) = run(&across).with_fault()?;
        let outcome = Outcome { client: *client, healthy, fault, moved_s, verdicts: [before, across] };
        eprintln!(
            "{}: worst {} s, leaders moved after {:.2} s, lost / twice / out of order {}",
            client.name(),
            outcome.worst_s().map_or_else(|| "?".to_owned(), |worst| format!("{worst:.2}")),
            moved_s,
            across.words()
        );
        outcomes.push(outcome);
    }
    let size = args.size();
    println!(
        "One of three hosts dies: {}; {} records/s of {size} B, {}, {} s without a fault and {} s with it at {} s\n",
        args.on.words(),
        args.rate(),
        if args.keyless { "no partition named" } else { "6 partitions in turn" },
        args.healthy_seconds,
        args.seconds(),
        args.fault_after
    );
    if args.keyless {
        println!("{}", keyless_table(&outcomes));
    } else {
        println!("{}", sick_table(&outcomes));
    }
    println!("{}", settled(&outcomes, args.settle_across()));
    if let Some(path) = &args.svg {
        let bars: Vec<Bar> = outcomes.iter().filter_map(Outcome::bar).collect();
        let subtitle = format!(
            "{} records/s over 6 partitions, 2 led by that host; {}{}{}",
            args.rate(),
            args.on.words(),
            if args.note.is_empty() { "" } else { "; " },
            args.note
        );
        std::fs::write(path, plot::svg(&bars, &subtitle))
            .with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

impl Args {
    fn size(&self) -> usize {
        self.size.unwrap_or(if self.two_loops { 1_024 } else { 100 })
    }

    /// Of both loops together.
    fn rate(&self) -> u64 {
        self.rate.unwrap_or(if self.two_loops { 6_000 } else { 2_000 })
    }

    /// From when on the latencies across the fault are told once more. Without keys that is when the dead broker is under suspicion: what
    /// was sent before may be in flight to it.
    fn settle_across(&self) -> u64 {
        if self.keyless { self.fault_after + 1 } else { SETTLE_SECONDS }
    }

    fn seconds(&self) -> u64 {
        self.seconds.unwrap_or(if self.two_loops { 35 } else { 24 })
    }
}

impl Outcome {
    /// The longest wait on a sick partition; of any where the client places records by itself.
    fn worst_s(&self) -> Option<f64> {
        Some(self.fault.sick_max_ms? / 1e3)
    }

    fn bar(&self) -> Option<Bar> {
        Some(Bar {
            client: self.client.name().to_owned(),
            worst_s: self.worst_s()?,
            moved_s: self.moved_s,
            ours: self.client == Client::Milena,
        })
    }
}

/// A client's program on a topic.
struct Run<'a> {
    args: &'a Args,
    stage: &'a Stage,
    client: Client,
    program: &'a Program,
    topic: &'a Topic,
}

impl Run<'_> {
    fn healthy(&self, seconds: u64) -> Result<(Report, Verdict)> {
        let records = self.args.rate() * seconds;
        let ended = self.start(records, SETTLE_SECONDS)?.wait(PATIENCE)?;
        let report = Report::read(&ended.said, records)?;
        let verdict = self.check(records, &report)?;
        Ok((report, verdict))
    }

    /// The report, the seconds from the fault to the leaders' move, and what is in the log afterwards.
    fn with_fault(&self) -> Result<(Report, f64, Verdict)> {
        let records = self.args.rate() * self.args.seconds();
        let bootstrap = self.stage.bootstrap();
        let mut probe = Wire::connect(bootstrap.split(',').next().unwrap_or_default())?;
        let running = self.start(records, self.args.settle_across())?;
        thread::sleep(Duration::from_secs(self.args.fault_after));
        let down = self.stage.host_down(DEAD)?;
        let moved = wire::wait_for_leaders(&mut probe, &self.topic.name, &SICK, DEAD)?;
        let moved_s = (moved - down.since).as_secs_f64();
        let ended = running.wait(PATIENCE)?;
        drop(down);
        if !ended.complained.is_empty() {
            eprintln!("{} said: {}", self.client.name(), ended.complained.trim());
        }
        let report = Report::read(&ended.said, records)?;
        // The next one finds the cluster as this one did.
        wire::wait_until_whole(&bootstrap, &self.topic.name, REPLICAS.len())?;
        let verdict = self.check(records, &report)?;
        Ok((report, moved_s, verdict))
    }

    fn start(&self, records: u64, settle: u64) -> Result<milena_bench::Running> {
        let (bootstrap, settle) = (self.stage.bootstrap(), settle.to_string());
        let (records, size, rate) =
            (records.to_string(), self.args.size().to_string(), self.args.rate().to_string());
        let mut arguments =
            vec!["--bootstrap", &bootstrap, "--topic", &self.topic.name, "--records", &records];
        arguments.extend(["--size", &size, "--rate", &rate]);
        if !self.args.keyless {
            arguments.extend(["--partitions", "6", "--sick", "0,3"]);
        }
        if self.client == Client::Milena {
            arguments.extend(["--settle", &settle]);
            if self.args.keyless {
                arguments.push("--any-order");
            }
            arguments.extend(self.args.milena.iter().map(String::as_str));
        }
        self.program.start(&arguments)
    }

    fn check(&self, sent: u64, report: &Report) -> Result<Verdict> {
        let found = Found::read(&self.stage.bootstrap(), &self.topic.name, REPLICAS.len())?;
        Ok(match self.client {
            Client::Milena => found.judge_numbered(sent, report.ok, !self.args.keyless),
            _ => found.judge_counted(sent, report.ok),
        })
    }
}

fn sick_table(outcomes: &[Outcome]) -> comfy_table::Table {
    let heads = [
        "client",
        "sick partitions, worst wait",
        "leaders moved after",
        "difference",
        "healthy partitions, p99.9 / max ms: before",
        "across the fault",
        "CPU µs/record: before",
        "across the fault",
        "failed",
        "lost / twice / out of order",
    ];
    let row = |outcome: &Outcome| {
        let Outcome { healthy, fault, moved_s, .. } = outcome;
        let worst = outcome.worst_s().unwrap_or(f64::NAN);
        let tail = |report: &Report| format!("{:.1} / {:.1}", report.p999_ms, report.max_ms);
        [
            outcome.client.name().to_owned(),
            format!("{worst:.2} s"),
            format!("{moved_s:.2} s"),
            format!("{:+.2} s", worst - moved_s),
            tail(healthy),
            tail(fault),
            format!("{:.1}", healthy.cpu_us_per_rec),
            format!("{:.1}", fault.cpu_us_per_rec),
            (healthy.err + fault.err).to_string(),
            words(&outcome.verdicts),
        ]
    };
    table(heads, &outcomes.iter().map(row).collect::<Vec<_>>())
}

/// Tails without the start, of those programs that can say.
fn settled(outcomes: &[Outcome], across_from: u64) -> String {
    let tail = |[p50, p999, max]: [f64; 3]| format!("{p50:.1} / {p999:.1} / {max:.1}");
    let line = |outcome: &Outcome| {
        let (before, across) = (outcome.healthy.settled_ms?, outcome.fault.settled_ms?);
        Some(format!(
            "\n{}, partitions that are not sick, p50 / p99.9 / max ms: {} before, of what was sent from {SETTLE_SECONDS} s on; {} across the \
             fault, of what was sent from {across_from} s on",
            outcome.client.name(),
            tail(before),
            tail(across)
        ))
    };
    outcomes.iter().filter_map(line).collect()
}

fn keyless_table(outcomes: &[Outcome]) -> comfy_table::Table {
    let heads = [
        "client",
        "before: p50 / p99.9 / max ms",
        "across the fault: p50 / p99.9 / max ms",
        "records that waited over 1 s",
        "leaders moved after",
        "failed",
        "lost / twice / out of order",
    ];
    let row = |outcome: &Outcome| {
        let tail =
            |report: &Report| format!("{:.1} / {:.1} / {:.1}", report.p50_ms, report.p999_ms, report.max_ms);
        let Outcome { healthy, fault, .. } = outcome;
        [
            outcome.client.name().to_owned(),
            tail(healthy),
            tail(fault),
            fault.slow.map_or_else(|| "-".to_owned(), |slow| format!("{slow} of {}", fault.ok)),
            format!("{:.2} s", outcome.moved_s),
            (healthy.err + fault.err).to_string(),
            words(&outcome.verdicts),
        ]
    };
    table(heads, &outcomes.iter().map(row).collect::<Vec<_>>())
}

/// The verdict on both runs, one after the other; said once where both are the same.
fn words([before, across]: &[Verdict; 2]) -> String {
    if before == across { across.words() } else { format!("{}, then {}", before.words(), across.words()) }
}

/// Seconds at the start that do not count: the program starts, connects and warms up.
const LOOPS_START: usize = 3;

fn two_loops(args: &Args, stage: &Stage, programs: &[(Client, Program)]) -> Result<()> {
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
        let row = LoopsRow::of(&loops, fault_s);
        // A program that starts late makes up for it, and has more before the fault than it is to have.
        let base = row.before.min((rate * 2 / 3) as f64);
        lines.push_str(&format!("{}\n", ended.said.trim()));
        eprintln!("{}, leaders moved after {moved_s:.2} s", ended.said.trim());
        let back = row.back.map_or_else(|| "not at all".to_owned(), |second| format!("{second} s"));
        rows.push([
            client.name().to_owned(),
            format!("{:.0}", row.before),
            format!("{:.0} ({:.1} %)", row.after, 100.0 * row.after / base),
            format!("{} ({:.1} %)", row.least, 100.0 * row.least as f64 / base),
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
        "healthy acks/s before",
        "after the fault, mean",
        "after the fault, the worst second",
        "sick partitions back after",
        "leaders moved after",
    ];
    println!("{}\n\nSecond by second:\n{lines}", table(heads, &rows));
    Ok(())
}

/// The figures of two loops.
struct LoopsRow {
    /// Healthy acknowledgements per second before the fault.
    before: f64,
    /// And after it.
    after: f64,
    least: u64,
    /// Whole seconds from the fault's to the first one in which a sick partition had an acknowledgement.
    back: Option<usize>,
}

impl LoopsRow {
    /// The second of the fault is neither before nor after, and the program's last one may be cut short.
    fn of(loops: &TwoLoops, fault_s: usize) -> Self {
        let mean = |counts: &[u64]| counts.iter().sum::<u64>() as f64 / counts.len().max(1) as f64;
        let before = loops.healthy.get(LOOPS_START..fault_s).unwrap_or_default();
        let end = loops.healthy.len().saturating_sub(1);
        let after = loops.healthy.get(fault_s + 1..end).unwrap_or_default();
        // What was on its way when the host died, or was taken in by the program's late start, is acknowledged within two seconds.
        let sick = loops.sick.get(fault_s + 2..).unwrap_or_default();
        let back = sick.iter().position(|count| *count > 0).map(|second| second + 2);
        Self {
            before: mean(before),
            after: mean(after),
            least: after.iter().copied().min().unwrap_or(0),
            back,
        }
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
        let row = LoopsRow::of(&loops, 5);
        assert_eq!((row.before, row.after, row.least, row.back), (1_000.0, 990.0, 980, Some(3)));
        let row = LoopsRow::of(&TwoLoops::default(), 5);
        assert_eq!((row.least, row.back), (0, None));
    }
}
