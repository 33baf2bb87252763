//! `milena broker`, and what is left when it is killed.

use std::io::Write as _;

use rustix::process::Signal;

use crate::support::{Place, earthquake_lines};

/// The count that the totals begin with.
fn acknowledged(totals: &str) -> usize {
    let count = totals.split(' ').next().unwrap().replace(',', "");
    count.parse().unwrap_or_else(|_| panic!("{totals}"))
}

#[test]
fn a_broker_ends_cleanly_and_gives_its_directory_free() {
    let place = Place::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (broker, bootstrap) = place.broker("0");
        place.run_with(&["produce", "-b", &bootstrap, "-t", "t"], "a\n").ok();
        broker.signal(signal);
        assert!(broker.finish().status.success());
        assert!(place.data().join("logs/.kafka_cleanshutdown").exists(), "nothing to recover");
    }
    assert_eq!(place.ok(&["consume", "-t", "t", "-e"]), "a\na\na\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_broker_started_with_nohup_outlives_its_terminal() {
    let place = Place::new();
    let mut broker = place.start_with_nohup(&["broker", "--port", "0"]);
    let bootstrap = broker.first_line();
    broker.signal(Signal::HUP);
    place.run_with(&["produce", "-b", &bootstrap, "-t", "t"], "a\n").ok();
    broker.signal(Signal::TERM);
    assert!(broker.finish().status.success());
    assert_eq!(place.ok(&["consume", "-t", "t", "-e"]), "a\n");
}

#[test]
fn nothing_acknowledged_is_lost_when_the_broker_is_killed_and_started_again() {
    let place = Place::new();
    let lines = earthquake_lines();
    let (broker, bootstrap) = place.broker("0");
    place.ok(&["topics", "create", "-t", "quakes"]);
    let port = bootstrap.rsplit_once(':').unwrap().1.to_owned();
    let mut producer = place.start(&["produce", "-b", &bootstrap, "-t", "quakes", "--json-key", "net"]);
    let mut stdin = producer.stdin();
    let (before, after) = lines.split_at(900);
    for line in before {
        writeln!(stdin, "{line}").unwrap();
    }
    // Some are stored, the others are on their way.
    place.ok(&["consume", "-b", &bootstrap, "-t", "quakes", "-c", "100"]);
    broker.kill();
    for line in after {
        writeln!(stdin, "{line}").unwrap();
    }
    drop(stdin);
    let (_broker, again) = place.broker(&port);
    assert_eq!(again, bootstrap);
    let totals = producer.finish().ok();
    assert_eq!(acknowledged(&totals), lines.len(), "{totals}");
    let back = place.ok(&["consume", "-b", &bootstrap, "-t", "quakes", "-e"]);
    // One partition, an idempotent producer: all of them, once, in order.
    assert!(back.lines().eq(lines.iter()), "{} of {} lines", back.lines().count(), lines.len());
}

#[test]
fn what_was_acknowledged_before_the_broker_was_killed_is_there_afterwards() {
    let place = Place::new();
    let lines = earthquake_lines();
    let (broker, bootstrap) = place.broker("0");
    place.ok(&["topics", "create", "-t", "quakes"]);
    let mut producer = place.start(&[
        "produce",
        "-b",
        &bootstrap,
        "-t",
        "quakes",
        "-X",
        "request.timeout.ms=500",
        "-X",
        "delivery.timeout.ms=1000",
        "-X",
        "max.block.ms=1000",
        "--rate",
        "1000",
    ]);
    let mut stdin = producer.stdin();
    for line in &lines {
        writeln!(stdin, "{line}").unwrap();
    }
    drop(stdin);
    place.ok(&["consume", "-b", &bootstrap, "-t", "quakes", "-c", "300"]);
    broker.kill();
    let end = producer.finish();
    assert_eq!(end.status.code(), Some(1), "{}", end.stderr);
    let totals = String::from_utf8(end.stdout).unwrap();
    let acknowledged = acknowledged(&totals);
    assert!((300..lines.len()).contains(&acknowledged), "{totals}");
    assert!(end.stderr.contains("records failed, the first in line "), "{}", end.stderr);

    let back = place.ok(&["consume", "-t", "quakes", "-e"]);
    let back: Vec<&str> = back.lines().collect();
    assert!(back.len() >= acknowledged, "{} there, {acknowledged} acknowledged", back.len());
    assert!(back[..acknowledged].iter().eq(lines[..acknowledged].iter()), "not what was acknowledged");
}

#[test]
fn what_a_recovery_cuts_off_is_said() {
    let place = Place::new();
    place.run_with(&["produce", "-t", "t"], "a\nb\n").ok();
    // As after a kill, and with a bit that the disk has turned.
    std::fs::remove_file(place.data().join("logs/.kafka_cleanshutdown")).unwrap();
    let log = place.data().join("logs/t-0/00000000000000000000.log");
    let mut bytes = std::fs::read(&log).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let found = place.run(&["consume", "-t", "t", "-e"]);
    assert!(found.status.success() && found.stdout.is_empty(), "{found:?}");
    assert!(found.stderr.contains("00000000000000000000.log") && found.stderr.contains("CRC"), "{found:?}");
}
