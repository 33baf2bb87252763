//! What is wrong is named in one line, and the exit code says so.

use std::net::TcpListener;

use rustix::process::Signal;

use crate::support::Place;

#[test]
fn files_that_cannot_be_read() {
    let place = Place::new();
    let error = place.run(&["produce", "-t", "t", "missing.txt"]).error(1);
    assert!(error.starts_with("milena: cannot read missing.txt: No such file"), "{error}");
    let error = place.run(&["produce", "-t", "t", "."]).error(1);
    assert!(error.contains(". is a directory"), "{error}");
    assert!(!place.data().exists(), "no broker is started for a file that is not there");
}

#[test]
fn separators_properties_and_formats() {
    let place = Place::new();
    let error = place.run(&["produce", "-t", "t", "-K", ""]).error(2);
    assert!(error.contains("the separator is empty"), "{error}");
    let error = place.run(&["produce", "-t", "t", "-X", "linger.mss=5"]).error(2);
    assert_eq!(error, "milena: unknown setting `linger.mss`; did you mean `linger.ms`?");
    let error = place.run(&["produce", "-t", "t", "-X", "linger.ms"]).error(2);
    assert!(error.contains("expected key=value"), "{error}");
    let error = place.run(&["produce", "-t", "t", "-X", "acks=1"]).error(2);
    assert!(error.contains("enable.idempotence"), "{error}");
    let error = place.run(&["consume", "-t", "t", "-f", "%z"]).error(2);
    assert!(error.contains("`%z` is no token"), "{error}");
    let error = place.run(&["consume", "-t", "t", "-o", "start"]).error(2);
    assert!(error.contains("expected beginning, end, an offset"), "{error}");
    let error = place.run(&["consume", "-t", "t", "-X", "nonsense=1"]).error(2);
    assert!(error.contains("unknown setting `nonsense`"), "{error}");
    let error = place.run(&["broker", "-X", "nonsense=1"]).error(2);
    assert!(error.contains("unknown broker setting `nonsense`"), "{error}");
    let error = place.run(&["produce", "-t", "t", "-b", "no-port"]).error(2);
    assert!(error.contains("no-port") && error.contains("host:port"), "{error}");
}

#[test]
fn a_line_that_is_no_json_ends_the_run_and_keeps_what_stood_before_it() {
    let place = Place::new();
    let file = place.file("in.jsonl", "{\"k\":1}\n{\"k\":2}\n{\"k\":\n{\"k\":4}\n");
    let end = place.run(&["produce", "-t", "t", "--json-key", "k", file.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&end.stdout).starts_with("2 records acknowledged"), "{:?}", end.stdout);
    let error = end.error(1);
    assert!(error.contains("in.jsonl:3: not a JSON object"), "{error}");
    assert_eq!(place.ok(&["consume", "-t", "t", "-e", "-f", r"%k\n"]), "1\n2\n");

    let error = place.run_with(&["produce", "-t", "u", "--json-key", "k"], "{\"j\":1}\n").error(1);
    assert!(error.starts_with("milena: standard input:1: no field `k`"), "{error}");
}

#[test]
fn a_cluster_that_is_not_there() {
    let place = Place::new();
    // A port that was just free: nobody listens there.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let args = ["produce", "-t", "t", "-b", &address, "-X", "max.block.ms=500"];
    let error = place.run_with(&args, "a\n").error(1);
    assert!(error.contains(&address) && error.contains("refused"), "{error}");
    assert!(error.contains("standard input:1"), "{error}");
    assert!(!place.data().exists(), "a cluster was named, so no broker is started");
}

#[test]
fn brokers_that_do_not_answer_are_named_while_they_are_waited_for() {
    let place = Place::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let refusing = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let silent_address = silent.local_addr().unwrap().to_string();
    let list = format!("{refusing},{silent_address}");
    for (command, limit) in [
        (&["produce", "-t", "t"][..], "60000 ms have passed (max.block.ms)"),
        (&["produce", "-t", "t", "-X", "max.block.ms=900000"], "900000 ms have passed (max.block.ms)"),
        (&["consume", "-t", "t"], "60000 ms have passed (default.api.timeout.ms)"),
        (&["topics", "list", "-X", "default.api.timeout.ms=70000"], "70000 ms have passed"),
        (&["metadata"], "60000 ms have passed (default.api.timeout.ms)"),
        (&["metadata", "--watch"], "until Ctrl-C"),
    ] {
        let mut running = place.start(&[command, &["-b", &list]].concat());
        let told = running.first_error();
        assert!(told.starts_with("milena: no broker has answered yet ("), "{told}");
        assert!(told.contains(&refusing) && told.contains("refused"), "{told}");
        assert!(told.contains(&silent_address) && told.contains(limit), "{told}");
        running.signal(Signal::INT);
        running.finish();
    }
}

#[test]
fn topics_and_partitions_that_are_not_there() {
    let place = Place::new();
    let error = place.run(&["consume", "-t", "nope", "-e"]).error(1);
    assert!(error.contains("nope"), "{error}");
    place.run_with(&["produce", "-t", "t"], "a\n").ok();
    let error = place.run(&["consume", "-t", "t", "-p", "7", "-e"]).error(1);
    assert!(error.contains('7') && error.contains('t'), "{error}");
    let error = place.run_with(&["produce", "-t", "t", "-p", "7", "-X", "max.block.ms=500"], "a\n").error(1);
    assert!(error.contains("7") && error.contains("[0, 1)"), "{error}");
    let error = place.run_with(&["produce", "-t", "no good"], "a\n").error(1);
    assert!(error.contains("no good"), "{error}");
}

#[test]
fn a_directory_or_a_port_that_is_taken() {
    let place = Place::new();
    let (broker, bootstrap) = place.broker("0");
    let error = place.run(&["broker", "--port", "0"]).error(1);
    assert!(error.contains(&bootstrap) && error.contains(&broker.id()), "{error}");
    let file = place.file("file", "");
    let error = place.run(&["topics", "list", "--data", file.to_str().unwrap()]).error(1);
    assert!(error.contains(file.to_str().unwrap()) && error.contains("--data"), "{error}");
    assert!(error.contains("is no directory"), "{error}");
    let port = bootstrap.rsplit_once(':').unwrap().1;
    let error = place.run(&["broker", "--port", port]).error(1);
    assert!(error.contains(&broker.id()), "what is wrong is that it runs already: {error}");
    for brokers in [&[][..], &["--brokers", "1"], &["--brokers", "3"]] {
        let command = [&["broker", "--port", port, "--data", "elsewhere"], brokers].concat();
        let error = place.run(&command).error(1);
        assert!(error.contains(&bootstrap) && error.contains("--port"), "{error}");
        assert!(!place.data().with_file_name("elsewhere").exists(), "something is left behind");
    }
}
