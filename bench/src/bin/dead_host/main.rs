//! One of three hosts dies under a producer, one client after the other: how long the records of its partitions wait, what the others
//! notice, and whether everything that was acknowledged is there afterwards. See README.md.

mod tables;
mod two_loops;
mod windows;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use milena_bench::plot::{self, Bar};
use milena_bench::wire::{self, Placement, Wire};
use milena_bench::{Client, Does, Fate, Found, On, Program, Report, Running, Stage, Verdict, monotonic};
use windows::{Mark, Marks};

/// The host that dies.
const DEAD: i32 = 3;
/// The replicas of each partition, the leader first: four partitions do not touch host 3.
const REPLICAS: [[i32; 2]; 6] = [[3, 1], [1, 2], [2, 1], [3, 2], [1, 2], [2, 1]];
/// The partitions that host 3 leads.
const SICK: [usize; 2] = [0, 3];
/// So long before the end of sending the last look is taken: the program is still at work then.
const BEFORE_THE_END: Duration = Duration::from_millis(200);
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
    /// Seconds of records for the brokers before anything is measured [default: 20; embedded 3]
    #[arg(long)]
    warm_up: Option<u64>,
    /// Seconds at the start of a program that are neither before the fault nor across it.
    #[arg(long, default_value_t = 5)]
    settle: u64,
    /// Seconds from the start of a program to the fault.
    #[arg(long, default_value_t = 15)]
    fault_after: u64,
    /// Seconds for which records are sent, in a run without a fault and in one with it [default: 36; with two loops 45]
    #[arg(long)]
    seconds: Option<u64>,
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
    ensure!(
        args.settle < args.fault_after && args.fault_after < args.seconds(),
        "--settle, --fault-after, --seconds: in this order"
    );
    let does = if args.two_loops { Does::TwoLoops } else { Does::Produce };
    let mut programs = Vec::new();
    for client in &args.clients {
        programs.push((*client, client.program(does, &args.peers)?));
    }
    let stage = Stage::start(args.on)?;
    eprintln!("serving: {}", stage.bootstrap());
    warm_up(&args, &stage)?;
    if args.two_loops { two_loops::run(&args, &stage, &programs) } else { one_loop(&args, &stage, &programs) }
}

/// A run that does not count: it warms the brokers' Java machines, and the caches of all.
fn warm_up(args: &Args, stage: &Stage) -> Result<()> {
    let seconds = args.warm_up.unwrap_or(if args.on == On::Real { 20 } else { 3 });
    let topic = Topic::create(stage, "warm-up")?;
    let program = Client::Milena.program(Does::Produce, &args.peers)?;
    let run = Run { args, stage, client: Client::Milena, program: &program, topic: &topic };
    let records = args.rate() * seconds;
    run.start(records, None)?.wait(PATIENCE)?;
    Ok(())
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
    healthy: Healthy,
    fault: Faulty,
}

/// A run without a fault.
struct Healthy {
    report: Report,
    /// When the host would have died.
    marks: Marks,
    fates: Option<Vec<Fate>>,
    verdict: Verdict,
}

/// A run with the fault.
struct Faulty {
    report: Report,
    /// Seconds from the fault to the leaders' move.
    moved_s: f64,
    marks: Marks,
    /// What became of each record; None for the peers, whose programs do not tell.
    fates: Option<Vec<Fate>>,
    verdict: Verdict,
}

fn one_loop(args: &Args, stage: &Stage, programs: &[(Client, Program)]) -> Result<()> {
    let mut outcomes = Vec::new();
    for (client, program) in programs {
        let topic = |what: &str| Topic::create(stage, &format!("{}-{what}", client.name()));
        let (before, across) = (topic("healthy")?, topic("fault")?);
        let run = |topic| Run { args, stage, client: *client, program, topic };
        eprintln!("{}: {} s without a fault", client.name(), args.seconds());
        let healthy = run(&before).healthy()?;
        eprintln!("{}: {} s with one", client.name(), args.seconds());
        let fault = run(&across).with_fault()?;
        let outcome = Outcome { client: *client, healthy, fault };
        eprintln!(
            "{}: worst {} s, leaders moved after {:.2} s, lost / twice / out of order {}",
            client.name(),
            outcome.worst_s().map_or_else(|| "?".to_owned(), |worst| format!("{worst:.2}")),
            outcome.fault.moved_s,
            outcome.fault.verdict.words()
        );
        outcomes.push(outcome);
    }
    println!("{}", tables::all(args, &outcomes));
    if let Some(path) = &args.svg {
        let bars: Vec<Bar> = outcomes.iter().filter_map(Outcome::bar).collect();
        let load = format!("{} records/s over 6 partitions, 2 led by that host", args.rate());
        let place = match args.note.as_str() {
            "" => args.on.words().to_owned(),
            note => format!("{}; {note}", args.on.words()),
        };
        std::fs::write(path, plot::svg(&bars, &[load, place]))
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

    fn seconds(&self) -> u64 {
        self.seconds.unwrap_or(if self.two_loops { 45 } else { 36 })
    }
}

impl Outcome {
    /// The longest wait on a sick partition; of any where the client places records by itself.
    fn worst_s(&self) -> Option<f64> {
        Some(self.fault.report.sick_max_ms? / 1e3)
    }

    fn bar(&self) -> Option<Bar> {
        Some(Bar {
            client: self.client.name().to_owned(),
            worst_s: self.worst_s()?,
            moved_s: self.fault.moved_s,
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
    fn healthy(&self) -> Result<Healthy> {
        let records = self.records();
        let folder = tempfile::tempdir().context("making a folder")?;
        let fates = (self.client == Client::Milena).then(|| folder.path().join("fates"));
        let running = self.start(records, fates.as_deref())?;
        let started = monotonic();
        let mark = |since_start: Duration| Mark::at(started + since_start);
        let fault = mark(Duration::from_secs(self.args.fault_after));
        let marks = Marks {
            settled: mark(Duration::from_secs(self.args.settle)),
            fault,
            moved: fault,
            end: mark(Duration::from_secs(self.args.seconds()) - BEFORE_THE_END),
        };
        let ended = running.wait(PATIENCE)?;
        let report = Report::read(&ended.said, records)?;
        let fates = fates.map(|path| Fate::read_all(&path)).transpose()?;
        let verdict = self.check(records, &report)?;
        Ok(Healthy { report, marks, fates, verdict })
    }

    fn with_fault(&self) -> Result<Faulty> {
        let records = self.records();
        let bootstrap = self.stage.bootstrap();
        let mut probe = Wire::connect(bootstrap.split(',').next().unwrap_or_default())?;
        let folder = tempfile::tempdir().context("making a folder")?;
        let fates = (self.client == Client::Milena).then(|| folder.path().join("fates"));
        let running = self.start(records, fates.as_deref())?;
        let (started, process) = (Instant::now(), running.process());
        let mark_at = |since_start: Duration| {
            thread::sleep(since_start.saturating_sub(started.elapsed()));
            Mark::now(process)
        };
        let settled = mark_at(Duration::from_secs(self.args.settle))?;
        let fault = mark_at(Duration::from_secs(self.args.fault_after))?;
        let down = self.stage.host_down(DEAD)?;
        let moved_at = wire::wait_for_leaders(&mut probe, &self.topic.name, &SICK, DEAD)?;
        let moved = Mark::now(process)?;
        let end = mark_at(Duration::from_secs(self.args.seconds()) - BEFORE_THE_END)?;
        let moved_s = (moved_at - down.since).as_secs_f64();
        let ended = running.wait(PATIENCE)?;
        drop(down);
        if !ended.complained.is_empty() {
            eprintln!("{} said: {}", self.client.name(), ended.complained.trim());
        }
        let report = Report::read(&ended.said, records)?;
        let fates = fates.map(|path| Fate::read_all(&path)).transpose()?;
        // The next one finds the cluster as this one did.
        wire::wait_until_whole(&bootstrap, &self.topic.name, REPLICAS.len())?;
        let verdict = self.check(records, &report)?;
        Ok(Faulty { report, moved_s, marks: Marks { settled, fault, moved, end }, fates, verdict })
    }

    fn records(&self) -> u64 {
        self.args.rate() * self.args.seconds()
    }

    fn start(&self, records: u64, fates: Option<&Path>) -> Result<Running> {
        let bootstrap = self.stage.bootstrap();
        let (records, size, rate) =
            (records.to_string(), self.args.size().to_string(), self.args.rate().to_string());
        let mut arguments =
            vec!["--bootstrap", &bootstrap, "--topic", &self.topic.name, "--records", &records];
        arguments.extend(["--size", &size, "--rate", &rate]);
        if !self.args.keyless {
            arguments.extend(["--partitions", "6", "--sick", "0,3"]);
        }
        if let Some(fates) = fates {
            arguments.extend(["--fates", fates.to_str().context("a path that is not UTF-8")?]);
        }
        if self.client == Client::Milena {
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
