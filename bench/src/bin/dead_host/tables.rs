//! What the runs come to, as tables.

use std::fmt::Write as _;

use milena_bench::{Fate, Report, Verdict, table};

use crate::windows::{Marks, is_healthy};
use crate::{Args, Outcome};

/// All that is to be said of the runs of one loop.
pub fn all(args: &Args, outcomes: &[Outcome]) -> String {
    let (settle, fault_after, seconds) = (args.settle, args.fault_after, args.seconds());
    let mut text = format!(
        "One of three hosts dies: {}; {} records/s of {} B, {}; {seconds} s without a fault, then {seconds} s with it at {fault_after} s\n",
        args.on.words(),
        args.rate(),
        args.size(),
        if args.keyless { "no partition named" } else { "6 partitions in turn" },
    );
    let from_to = format!("before: seconds {settle} to {fault_after}; across: from then on");
    let whole = if args.keyless { keyless(outcomes) } else { sick(args, outcomes) };
    _ = writeln!(text, "\n{whole}");
    for outcome in outcomes {
        let Some(fates) = &outcome.fault.fates else { continue };
        let (what, table) = if args.keyless {
            (
                "records not in flight to the dead broker when it was suspected",
                not_in_flight(&outcome.fault.marks, fates),
            )
        } else {
            ("healthy partitions", windows(&outcome.fault.marks, fates, is_healthy))
        };
        _ = writeln!(
            text,
            "\n{}, {what}, within the run with the fault ({from_to})\n\n{table}",
            outcome.client.name()
        );
        if let Some(fates) = outcome.healthy.fates.as_ref().filter(|_| !args.keyless) {
            let table = windows(&outcome.healthy.marks, fates, is_healthy);
            _ = writeln!(
                text,
                "\n{}, {what}, in the same times of the run without a fault\n\n{table}",
                outcome.client.name()
            );
        }
    }
    text
}

/// Both runs whole, with the programs' starts.
fn sick(args: &Args, outcomes: &[Outcome]) -> comfy_table::Table {
    let heads = [
        "client",
        "sick partitions, worst wait",
        "leaders moved after",
        "difference",
        "healthy partitions, p99.9 / max ms: run without a fault",
        "run with it",
        "CPU µs/record: before the fault",
        "host dead",
        "leaders moved",
        "failed",
        "lost / twice / out of order",
    ];
    let row = |outcome: &Outcome| {
        let (healthy, fault) = (&outcome.healthy, &outcome.fault);
        let (worst, moved_s) = (outcome.worst_s().unwrap_or(f64::NAN), fault.moved_s);
        let tail = |report: &Report| format!("{:.1} / {:.1}", report.p999_ms, report.max_ms);
        let [before, dead, moved] = fault.marks.cpu_per_record(args.rate()).map(|cpu| format!("{cpu:.1}"));
        [
            outcome.client.name().to_owned(),
            format!("{worst:.2} s"),
            format!("{moved_s:.2} s"),
            format!("{:+.2} s", worst - moved_s),
            tail(&healthy.report),
            tail(&fault.report),
            before,
            dead,
            moved,
            (healthy.report.err + fault.report.err).to_string(),
            words(healthy.verdict, fault.verdict),
        ]
    };
    table(heads, &outcomes.iter().map(row).collect::<Vec<_>>())
}

fn keyless(outcomes: &[Outcome]) -> comfy_table::Table {
    let heads = [
        "client",
        "run without a fault: p50 / p99.9 / max ms",
        "run with it, all records",
        "in flight to the dead broker: records",
        "worst wait",
        "the others: p99.9 / max ms",
        "leaders moved after",
        "failed",
        "lost / twice / out of order",
    ];
    let row = |outcome: &Outcome| {
        let tail =
            |report: &Report| format!("{:.1} / {:.1} / {:.1}", report.p50_ms, report.p999_ms, report.max_ms);
        let (healthy, fault) = (&outcome.healthy, &outcome.fault);
        let [mut count, mut worst, mut others] = ["-"; 3].map(str::to_owned);
        if let Some(fates) = &fault.fates {
            let in_flight = fault.marks.in_flight(fates);
            let waits = fault.marks.across(fates, |fate| !fault.marks.is_in_flight(fate)).waits;
            count = in_flight.count.to_string();
            worst = format!("{:.2} s", in_flight.worst_s);
            others = format!("{:.1} / {:.1}", waits.p999, waits.max);
        }
        [
            outcome.client.name().to_owned(),
            tail(&healthy.report),
            tail(&fault.report),
            count,
            worst,
            others,
            format!("{:.2} s", fault.moved_s),
            (healthy.report.err + fault.report.err).to_string(),
            words(healthy.verdict, fault.verdict),
        ]
    };
    table(heads, &outcomes.iter().map(row).collect::<Vec<_>>())
}

fn not_in_flight(marks: &Marks, fates: &[Fate]) -> comfy_table::Table {
    windows(marks, fates, |fate| !marks.is_in_flight(fate))
}

/// Before the fault and across it, within one run, of those records that `counts`.
fn windows(marks: &Marks, fates: &[Fate], counts: impl Fn(&Fate) -> bool) -> comfy_table::Table {
    let heads = ["", "seconds", "records", "p50 ms", "p99.9 ms", "max ms", "acks/s", "in the worst second"];
    let (before, across) = (marks.before(fates, &counts), marks.across(fates, &counts));
    let row = |name: &str, window: &crate::windows::Window| {
        let (waits, pace) = (window.waits, window.pace);
        [
            name.to_owned(),
            format!("{:.1}", window.seconds),
            waits.count.to_string(),
            format!("{:.1}", waits.p50),
            format!("{:.1}", waits.p999),
            format!("{:.1}", waits.max),
            format!("{:.0}", pace.mean),
            pace.least.to_string(),
        ]
    };
    let ratio = |of: [f64; 2]| format!("{:.2}", of[1] / of[0]);
    let ratios = [
        "across : before".to_owned(),
        String::new(),
        String::new(),
        ratio([before.waits.p50, across.waits.p50]),
        ratio([before.waits.p999, across.waits.p999]),
        ratio([before.waits.max, across.waits.max]),
        ratio([before.pace.mean, across.pace.mean]),
        ratio([before.pace.least, across.pace.least].map(|least| least as f64)),
    ];
    table(heads, &[row("before", &before), row("across", &across), ratios])
}

/// The verdict on both runs, one after the other; said once where both are the same.
fn words(before: Verdict, across: Verdict) -> String {
    if before == across { across.words() } else { format!("{}, then {}", before.words(), across.words()) }
}
