//! `milena incident`, on a scale on which it takes seconds.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, test_kill_process};

use crate::support::Place;

const PLAY: [&str; 9] =
    ["incident", "--duration", "9s", "--request-timeout", "2s", "--interval", "500ms", "--rate", "40"];

/// The lines of `text` that contain `part`.
fn lines<'a>(text: &'a str, part: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.contains(part)).collect()
}

fn is_zombie(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.contains(") Z ")
}

fn plot(file: &Path) -> String {
    let svg = std::fs::read_to_string(file).expect("the plot");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    svg
}

#[test]
fn the_incident_is_played_told_and_drawn() {
    let place = Place::new();
    let told = place.ok(&PLAY);
    let file = place.data().with_file_name("incident.svg");

    assert!(told.starts_with("On three embedded brokers"), "{told}");
    assert!(told.contains("request.timeout.ms is 2s instead of 10 s (read each second as 5)"), "{told}");
    let fault = lines(&told, "FAULT: the host of broker ");
    let moved = lines(&told, "LEADERS HAVE MOVED: partition → broker ");
    assert_eq!((fault.len(), moved.len()), (1, 1), "{told}");
    assert!(told.find(fault[0]) < told.find(moved[0]), "{told}");
    let waits = lines(&told, "longest wait   old ");
    assert!(waits.len() >= 6 && waits.iter().all(|line| line.contains(" new ")), "{told}");
    // At the fault, or because of the interval, or both.
    let refreshes = lines(&told, "old producer has refreshed: asked broker ");
    assert!(refreshes.len() >= 2, "{told}");
    assert!(refreshes.iter().all(|line| line.contains(", which answered in ")), "somebody was left: {told}");
    // A healthy broker may be slow on a busy machine; one that was asked and silent is not skipped in the telling.
    for line in &refreshes {
        assert!(!line.contains("silent") || line.contains(", then broker "), "{line}");
    }

    let rows = lines(&told, "old  ");
    assert!(rows.len() == 1 && rows[0].contains("360"), "9 s of 40 records a second: {told}");
    assert!(!rows[0].contains(" - "), "the fault touches some partitions and some not: {told}");
    let sentence = lines(&told, "Seen: the host of broker ");
    assert_eq!(sentence.len(), 1, "{told}");
    for part in [
        " others led its partitions",
        "the old producer has refreshed",
        "the new producer's longest wait was ",
    ] {
        assert!(sentence[0].contains(part), "{part}: {told}");
    }
    assert!(told.ends_with("The plot is in ./incident.svg\n"), "{told}");

    let svg = plot(&file);
    for part in ["class=\"line old\"", "class=\"line new\"", "the host dies (", "leaders have moved ("] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
}

#[test]
fn what_contradicts_itself_is_refused() {
    let place = Place::new();
    let error = place.run(&["incident", "--fault", "true"]).error(2);
    assert!(error.contains("-b"), "{error}");
    let error = place.run(&["incident", "-b", "127.0.0.1:1"]).error(2);
    assert!(error.contains("--fault COMMAND is missing"), "{error}");
    let error = place.run(&["incident", "--fault-at", "50s"]).error(2);
    assert!(error.contains("--fault-at 50s is not before the end of the play (--duration 50s)"), "{error}");
    // Before the play, and not at its end.
    let error = place.run(&["incident", "--svg", "no/where.svg"]).error(1);
    assert!(error.contains("cannot write no/where.svg (--svg)"), "{error}");
}

#[test]
fn on_a_cluster_of_the_users_the_commands_are_run_and_the_topic_is_taken_away_again() {
    let place = Place::new();
    let (_broker, bootstrap) = place.broker("0");
    let command = ["incident", "-b", &bootstrap, "--fault", "echo > struck", "--heal", "echo > healed"];
    let scale = ["--duration", "1500ms", "--fault-at", "500ms", "--svg", "play.svg", "--rate", "20"];
    let told = place.ok(&[&command[..], &scale].concat());
    let file = |name: &str| place.data().with_file_name(name);
    assert!(told.contains("FAULT: a host dies by `echo > struck`"), "{told}");
    // There is one broker, and nothing has happened to it.
    assert!(told.contains("by the end of the play no partition had another leader"), "{told}");
    assert!(file("struck").exists() && file("healed").exists());
    assert!(plot(&file("play.svg")).contains("the host dies ("));
    let topics = place.ok(&["topics", "list", "-b", &bootstrap]);
    assert!(!topics.contains("milena-incident"), "{topics}");

    let failing = ["incident", "-b", &bootstrap, "--fault", "exit 3", "--heal", "echo > healed-again"];
    let error = place.run(&[&failing[..], &scale].concat()).error(1);
    assert!(error.contains("--fault: the command failed: exit status: 3"), "{error}");
    assert!(file("healed-again").exists(), "what it has done before it failed is undone");

    let not_healed = ["incident", "-b", &bootstrap, "--fault", "true", "--heal", "exit 4"];
    let error = place.run(&[&not_healed[..], &scale].concat()).error(1);
    assert!(error.contains("--heal: the host may be dead still"), "{error}");
}

#[test]
fn an_interrupted_play_undoes_the_fault() {
    let place = Place::new();
    let (_broker, bootstrap) = place.broker("0");
    // The fault is not there yet when it is undone: it must not come afterwards.
    let fault = "echo $$ > striking; sleep 600";
    let command = ["incident", "-b", &bootstrap, "--fault", fault, "--heal", "echo > healed"];
    let mut play = place.start(&[&command[..], &["--duration", "10m", "--fault-at", "10ms"]].concat());
    let mut lines = play.lines();
    assert!(lines.any(|line| line.contains("FAULT: ")));
    let striking = place.data().with_file_name("striking");
    let id = || std::fs::read_to_string(&striking).ok()?.trim().parse().ok();
    let patience = Instant::now() + Duration::from_secs(30);
    let process = loop {
        match id().and_then(Pid::from_raw) {
            Some(process) => break process,
            None => assert!(Instant::now() < patience, "the command has not begun"),
        }
        std::thread::yield_now();
    };
    play.signal(Signal::INT);
    assert_eq!(play.finish().status.code(), Some(130));
    assert!(place.data().with_file_name("healed").exists());
    // Whoever reaps it may need a moment.
    while test_kill_process(process).is_ok() && !is_zombie(process) {
        assert!(Instant::now() < patience, "the command lives on");
        std::thread::yield_now();
    }
}
