//! `milena broker --brokers`, and what `milena cluster` does to it.

use std::{
    io::{BufRead as _, BufReader, ErrorKind, Write as _},
    net::{SocketAddr, TcpStream},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    time::Duration,
};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::Place;

fn status(place: &Place) -> Vec<Value> {
    let text = place.ok(&["cluster", "status", "--json"]);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Who leads the only partition of a topic.
fn leader(place: &Place, topic: &str) -> i64 {
    let text = place.ok(&["metadata", "--json", "-t", topic]);
    let view: Value = serde_json::from_str(&text).unwrap();
    view["topics"][0]["partitions"][0]["leader"].as_i64().unwrap()
}

fn connect(broker: &Value) -> std::io::Result<TcpStream> {
    let address: SocketAddr = broker["address"].as_str().unwrap().parse().unwrap();
    // Who is there answers at once; who hangs does so for longer than any test.
    TcpStream::connect_timeout(&address, Duration::from_millis(300))
}

#[test]
fn a_leader_is_killed_and_comes_back_and_nothing_is_lost() {
    let place = Place::new();
    let (cluster, bootstrap) = place.cluster();
    place.ok(&["topics", "create", "-t", "t", "-r", "3", "-c", "min.insync.replicas=2"]);
    place.run_with(&["produce", "-t", "t"], "before\n").ok();
    let killed = leader(&place, "t");
    let mut watch = place.start(&["metadata", "--watch", "--json", "-t", "t"]);
    let mut views = watch.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(&line).unwrap();
        line["view"]["topics"][0]["partitions"][0]["leader"].as_i64()
    });
    assert_eq!(views.next(), Some(killed));
    let id = killed.to_string();
    place.ok(&["cluster", "kill", &id]);
    let moved = views.find(|leader| *leader != killed);
    assert!(moved.is_some(), "--watch shows no leader move");
    watch.signal(Signal::INT);
    watch.finish().ok();

    let brokers = status(&place);
    let dead = brokers.iter().find(|broker| broker["broker"] == killed).unwrap();
    assert_eq!((&dead["state"], &dead["leads"]), (&Value::from("down"), &Value::from(0)));
    assert_eq!(connect(dead).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    place.run_with(&["produce", "-t", "t"], "without it\n").ok();
    place.ok(&["cluster", "restart", &id]);
    assert!(status(&place).iter().all(|broker| broker["state"] == "running"));
    // It is the same one for its clients.
    place.run_with(&["produce", "-b", &bootstrap, "-t", "t"], "after\n").ok();
    assert_eq!(place.ok(&["consume", "-t", "t", "-e"]), "before\nwithout it\nafter\n");
    cluster.signal(Signal::TERM);
    assert!(cluster.finish().status.success());
}

#[test]
fn what_was_acknowledged_is_there_after_the_whole_process_was_killed() {
    let place = Place::new();
    let (cluster, _) = place.cluster();
    place.ok(&["topics", "create", "-t", "t", "-r", "3"]);
    place.run_with(&["produce", "-t", "t"], "a\nb\n").ok();
    cluster.kill();
    let gone = place.run(&["cluster", "status"]).error(1);
    assert!(gone.contains("no cluster runs on") && !gone.contains("--brokers"), "{gone}");
    let gone = place.run(&["consume", "-t", "t", "-e"]).error(1);
    assert!(gone.contains("the cluster of 3 brokers") && gone.contains("milena broker --data"), "{gone}");
    // As many as there were.
    let mut cluster = place.start(&["broker", "--port", "0"]);
    assert_eq!(cluster.first_line().split(',').count(), 3);
    assert_eq!(place.ok(&["consume", "-t", "t", "-e"]), "a\nb\n");
    assert_eq!(status(&place).len(), 3);
}

#[test]
fn faults_are_made_shown_and_healed() {
    let place = Place::new();
    let (_cluster, _) = place.cluster();
    for fault in [
        &["black-hole", "2"][..],
        &["partition", "1", "2"],
        &["partition", "2", "3", "--one-way"],
        &["partition-clients", "2"],
        &["delay", "2", "5ms"],
        &["throttle", "2", "1000000"],
        &["disk-full", "2"],
        &["fsync-fails", "2"],
        &["slow-disk", "2", "1s"],
        &["clock-skew", "2", "-5000"],
        &["intercept", "produce", "error=NOT_ENOUGH_REPLICAS", "--broker", "2", "--times", "1"],
    ] {
        place.ok(&[&["cluster"], fault].concat());
    }
    let brokers = status(&place);
    let faults = |broker: &Value| broker["faults"].as_array().unwrap().len();
    assert_eq!(brokers.iter().map(faults).collect::<Vec<_>>(), [2, 12, 1], "{brokers:?}");
    let intercept = "intercepts Produce: answer NOT_ENOUGH_REPLICAS (19) (1 more)";
    assert!(brokers[1]["faults"].to_string().contains(intercept), "{brokers:?}");
    assert_eq!(connect(&brokers[1]).unwrap_err().kind(), ErrorKind::TimedOut);
    let table = place.ok(&["cluster", "status"]);
    assert!(table.contains("black hole") && table.contains("controller"), "{table}");
    place.ok(&["cluster", "heal", "2"]);
    assert!(status(&place).iter().all(|broker| faults(broker) == 0));
    connect(&brokers[1]).unwrap();
    place.ok(&["cluster", "pause", "1"]);
    assert_eq!(status(&place)[0]["state"], "paused");
    place.ok(&["cluster", "resume", "1"]);
    place.ok(&["cluster", "delay", "1", "3s"]);
    place.ok(&["cluster", "heal"]);
    assert!(status(&place).iter().all(|broker| faults(broker) == 0));
    place.ok(&["cluster", "stop", "3"]);
    assert_eq!(status(&place)[2]["state"], "down");
}

#[test]
fn a_fault_that_nobody_would_see_is_said() {
    let place = Place::new();
    let (cluster, _) = place.cluster();
    let done = place.run(&["cluster", "fsync-fails", "2"]);
    assert!(done.status.success(), "{done:?}");
    assert!(done.stderr.contains("--fsync os") && done.stderr.contains("--fsync every-batch"), "{done:?}");
    cluster.signal(Signal::TERM);
    cluster.finish();
    let mut cluster = place.start(&["broker", "--port", "0", "--fsync", "every-batch"]);
    cluster.first_line();
    let done = place.run(&["cluster", "fsync-fails", "2"]);
    assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
    place.ok(&["cluster", "heal"]);
}

#[test]
fn a_cluster_whose_brokers_are_all_down_is_named_while_it_is_waited_for() {
    let place = Place::new();
    let (_cluster, bootstrap) = place.cluster();
    for broker in ["1", "2", "3"] {
        place.ok(&["cluster", "kill", broker]);
    }
    for command in [&["topics", "list"][..], &["metadata"], &["consume", "-t", "t"]] {
        let told = place.start(command).first_error();
        assert!(told.starts_with("milena: no broker has answered yet ("), "{told}");
        assert!(bootstrap.split(',').all(|address| told.contains(address)), "{told}");
    }
}

#[test]
fn a_cluster_that_does_not_answer_is_not_waited_for_for_ever() {
    let place = Place::new();
    let (_cluster, _) = place.cluster();
    let pointer = place.data().join("milena.control");
    let path = std::fs::read_to_string(&pointer).unwrap();
    let silent_path = place.data().join("silent");
    let _silent = UnixListener::bind(&silent_path).unwrap();
    std::fs::write(&pointer, silent_path.to_str().unwrap()).unwrap();
    let error = place.run(&["cluster", "stop", "1", "--timeout", "300ms"]).error(1);
    assert!(error.contains("has not answered for 300ms") && error.contains("--timeout"), "{error}");
    std::fs::write(&pointer, path).unwrap();
    place.ok(&["cluster", "--timeout", "300s", "stop", "1"]);
}

#[test]
fn what_cannot_be_done_is_said() {
    let place = Place::new();
    let nobody = place.run(&["cluster", "kill", "1"]).error(1);
    assert!(nobody.contains("no cluster runs on") && nobody.contains("--brokers 3"), "{nobody}");
    let (cluster, _) = place.cluster();
    let error = |args: &[&str]| place.run(&[&["cluster"], args].concat()).error(1);
    assert!(error(&["kill", "9"]).contains("there is no broker 9"));
    assert!(error(&["restart", "1"]).contains("broker 1 runs"));
    place.ok(&["cluster", "kill", "1"]);
    assert!(error(&["kill", "1"]).contains("broker 1 does not run"));
    assert!(error(&["pause", "1"]).contains("broker 1 does not run"));
    let no_error = error(&["intercept", "DescribeConfigs", "error=NOT_CONTROLLER"]);
    assert!(no_error.contains("DescribeConfigs") && no_error.contains("delay or lose"), "{no_error}");
    place.run(&["cluster", "intercept", "Produce", "error=NONSENSE"]).error(2);
    place.run(&["cluster", "intercept", "Produce", "disconnect", "--times", "0"]).error(2);
    let elsewhere = place.run(&["cluster", "status", "-b", "127.0.0.1:9"]).error(2);
    assert!(elsewhere.contains("leave -b out") && elsewhere.contains("--data"), "{elsewhere}");
    place.run(&["cluster", "delay", "1", "soon"]).error(2);
    let second = place.run(&["broker", "--brokers", "3", "--port", "0"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(second.stderr.contains("in use"), "{}", second.stderr);
    // As that of a program that has the brokers inside.
    let (pointer, elsewhere) = (place.data().join("milena.control"), place.data().join("elsewhere"));
    std::fs::rename(&pointer, &elsewhere).unwrap();
    assert!(error(&["status"]).contains("has no control socket"), "{}", error(&["status"]));
    std::fs::rename(&elsewhere, &pointer).unwrap();
    cluster.signal(Signal::INT);
    assert!(cluster.finish().status.success());

    let fewer = place.run(&["broker", "--brokers", "2", "--port", "0"]);
    assert_eq!(fewer.status.code(), Some(2));
    assert!(fewer.stderr.contains("has 3 brokers"), "{}", fewer.stderr);
    let single = Place::new();
    let (_broker, _) = single.broker("0");
    let refused = single.run(&["cluster", "kill", "1"]).error(1);
    assert!(refused.contains("a single broker runs on"), "{refused}");
}

#[test]
fn the_socket_takes_lines_wherever_the_data_is() {
    let place = Place::with_data(Path::new(&"d".repeat(80)).join("e".repeat(80)));
    let (cluster, _) = place.cluster();
    let path = std::fs::read_to_string(place.data().join("milena.control")).unwrap();
    let mut socket = UnixStream::connect(&path).unwrap();
    socket.write_all(b"{\"command\":\"pause\",\"broker\":2}\nnonsense\n{\"command\":\"status\"}\n").unwrap();
    let mut answers = BufReader::new(socket).lines();
    let mut answer = || -> Value { serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap() };
    assert_eq!(answer(), serde_json::json!({ "ok": true }));
    let refused = answer();
    assert!(
        refused["ok"] == false && refused["error"].as_str().unwrap().contains("not a command"),
        "{refused}"
    );
    assert_eq!(answer()["brokers"][1]["state"], "paused");
    cluster.signal(Signal::TERM);
    assert!(cluster.finish().status.success());
    assert!(!Path::new(&path).exists(), "the socket is left behind");
}
