//! `milena produce`, and `milena consume` to see what it did.

use std::{collections::BTreeMap, io::Write as _};

use rustix::process::Signal;

use crate::support::{Place, earthquake_lines, earthquakes};

/// Consumed lines `PARTITION key payload`, by key; each key must be in one partition.
fn by_key(consumed: &str) -> BTreeMap<String, Vec<String>> {
    let mut partitions = BTreeMap::new();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in consumed.lines() {
        let mut fields = line.splitn(3, ' ');
        let mut field = || fields.next().expect("three fields").to_owned();
        let (partition, key, payload) = (field(), field(), field());
        assert_eq!(partitions.entry(key.clone()).or_insert_with(|| partition.clone()), &partition, "{key}");
        found.entry(key).or_default().push(payload);
    }
    found
}

fn earthquakes_by_key() -> BTreeMap<String, Vec<String>> {
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in earthquake_lines() {
        let json: serde_json::Value = serde_json::from_str(&line).unwrap();
        expected.entry(json["net"].as_str().unwrap().to_owned()).or_default().push(line);
    }
    expected
}

#[test]
fn earthquakes_come_back_byte_for_byte() {
    let place = Place::new();
    let file = earthquakes();
    let totals = place.ok(&["produce", "-t", "quakes", "--json-key", "net", file.to_str().unwrap()]);
    assert!(totals.starts_with("1,707 records acknowledged, "), "{totals}");
    let to = format!(
        "to topic quakes on the embedded broker on {} (started for this command)",
        place.data().display()
    );
    assert!(totals.contains(&to), "{totals}");
    assert!(totals.contains("p50") && totals.contains("p99"), "{totals}");
    assert!(totals.ends_with("        0    1,707  0–1706\n"), "{totals}");
    let back = place.run(&["consume", "-t", "quakes", "-e"]);
    assert!(back.status.success(), "{}", back.stderr);
    assert!(back.stdout == std::fs::read(file).unwrap(), "not what was produced");
    assert_eq!(back.stderr, "");
}

#[test]
fn keys_stay_together_and_in_order_on_many_partitions() {
    let place = Place::new();
    place.ok(&["topics", "create", "-t", "quakes", "-p", "6"]);
    let file = earthquakes();
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        place.ok(&["produce", "-t", "quakes", "--json-key", "net", "-z", codec, file.to_str().unwrap()]);
    }
    let back = place.ok(&["consume", "-t", "quakes", "-e", "-f", r"%p %k %s\n"]);
    let expected = earthquakes_by_key();
    let repeated: BTreeMap<String, Vec<String>> = expected
        .into_iter()
        .map(|(key, lines)| (key, std::iter::repeat_n(lines, 5).flatten().collect()))
        .collect();
    assert!(by_key(&back) == repeated, "not what was produced");
}

#[test]
fn every_line_is_a_record() {
    let place = Place::new();
    let totals =
        place.run_with(&["produce", "-t", "t", "-K", ":"], "k:v\n\nno key\r\n:x\n\u{e9}:y:z\nlast").ok();
    assert!(totals.contains("6 records acknowledged"), "{totals}");
    let back = place.ok(&["consume", "-t", "t", "-e", "-f", r"%K[%k]%S[%s]\n"]);
    assert_eq!(back, "1[k]1[v]\n-1[]0[]\n-1[]7[no key\r]\n0[]1[x]\n2[\u{e9}]3[y:z]\n-1[]4[last]\n");
}

#[test]
fn headers_partition_and_bytes_that_are_no_text() {
    let place = Place::new();
    place.ok(&["topics", "create", "-t", "t", "-p", "3"]);
    let args = ["produce", "-t", "t", "-p", "2", "-K", r"\t", "-H", "a=1", "-H", "b", "-H", "a=2="];
    place.run_with(&args, b"\xfe\t\xff\x00\n").ok();
    let back = place.run(&["consume", "-t", "t", "-e", "-f", "%p|%h|%k|%s"]);
    assert_eq!(back.stdout, b"2|a=1,b=NULL,a=2=|\xfe|\xff\x00");
    let json: serde_json::Value =
        serde_json::from_str(&place.ok(&["consume", "-t", "t", "-e", "-J"])).unwrap();
    assert_eq!((&json["key"], &json["key_encoding"]), (&"/g==".into(), &"base64".into()));
    assert_eq!((&json["payload"], &json["payload_encoding"]), (&"/wA=".into(), &"base64".into()));
    assert_eq!(json["headers"][1], serde_json::json!({"key": "b", "value": null}));
    assert_eq!(json["headers"][2], serde_json::json!({"key": "a", "value": "2="}));
    assert_eq!((&json["topic"], &json["partition"], &json["offset"]), (&"t".into(), &2.into(), &0.into()));
}

#[test]
fn ctrl_c_sends_what_was_read_and_prints_the_totals() {
    let place = Place::new();
    let (_broker, bootstrap) = place.broker("0");
    place.ok(&["topics", "create", "-t", "t"]);
    let mut producer = place.start(&["produce", "-b", &bootstrap, "-t", "t", "-X", "linger.ms=1"]);
    let mut stdin = producer.stdin();
    stdin.write_all(b"one\ntwo\nunfinished").unwrap();
    place.ok(&["consume", "-b", &bootstrap, "-t", "t", "-c", "2"]);
    producer.signal(Signal::INT);
    let end = producer.finish();
    let stdout = String::from_utf8(end.stdout).unwrap();
    assert_eq!(end.status.code(), Some(130), "{}", end.stderr);
    assert!(stdout.contains("2 records acknowledged"), "{stdout}");
    assert!(stdout.contains(&format!("to topic t on {bootstrap}\n")), "{stdout}");
    drop(stdin);
}

#[test]
fn records_that_fail_are_counted_by_error_and_the_rest_is_produced() {
    let place = Place::new();
    let long = "x".repeat(3_000);
    let input = format!("a\n{long}\nb\n{long}\n");
    let args = ["produce", "-t", "t", "-X", "max.request.size=2000", "-X", "batch.size=1000"];
    let end = place.run_with(&args, input);
    assert_eq!(end.status.code(), Some(1), "{}", end.stderr);
    assert!(String::from_utf8_lossy(&end.stdout).contains("2 records acknowledged"));
    let errors: Vec<&str> = end.stderr.lines().collect();
    assert_eq!(errors.len(), 1, "{}", end.stderr);
    assert!(errors[0].starts_with("milena: 2 records failed, the first in line 2: "), "{}", errors[0]);
    assert!(errors[0].contains("max.request.size"), "{}", errors[0]);
    assert_eq!(place.ok(&["consume", "-t", "t", "-e"]), "a\nb\n");
}

#[test]
fn a_command_joins_the_broker_that_runs() {
    let place = Place::new();
    let (broker, bootstrap) = place.broker("0");
    let totals = place.run_with(&["produce", "-t", "t"], "a\nb\n").ok();
    let joined = format!("(at {bootstrap}, process {})", broker.id());
    assert!(totals.contains(&joined), "{totals}");
    // Another directory is another cluster.
    let elsewhere = place.data().with_file_name("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    let totals = place.run_with(&["produce", "-t", "t", "--data", elsewhere], "c\n").ok();
    assert!(totals.contains("(started for this command)"), "{totals}");
    assert_eq!(place.ok(&["consume", "-t", "t", "-e"]), "a\nb\n");
    assert_eq!(place.ok(&["consume", "-t", "t", "-e", "--data", elsewhere]), "c\n");
    assert_eq!(place.ok(&["consume", "-t", "t", "-e", "-b", &bootstrap]), "a\nb\n");
}

#[test]
fn commands_on_one_directory_share_a_broker() {
    let place = Place::new();
    let producers: Vec<_> = (0..4).map(|_| place.start(&["produce", "-t", "t"])).collect();
    let fed = producers.into_iter().enumerate().map(|(i, mut producer)| {
        let mut stdin = producer.stdin();
        for n in 0..500 {
            writeln!(stdin, "{i}-{n}").unwrap();
        }
        producer
    });
    for producer in fed.collect::<Vec<_>>() {
        let totals = producer.finish().ok();
        assert!(totals.contains("500 records acknowledged"), "{totals}");
    }
    let back = place.ok(&["consume", "-t", "t", "-e"]);
    for i in 0..4 {
        let own: Vec<&str> = back.lines().filter(|line| line.starts_with(&format!("{i}-"))).collect();
        let expected: Vec<String> = (0..500).map(|n| format!("{i}-{n}")).collect();
        assert_eq!(own, expected);
    }
}

#[test]
fn a_command_takes_the_broker_over_from_the_one_that_started_it() {
    let place = Place::new();
    place.ok(&["topics", "create", "-t", "t"]);
    let mut first = place.start(&["produce", "-t", "t"]);
    place.until_a_broker_runs();
    let mut first_input = first.stdin();
    first_input.write_all(b"1\n").unwrap();
    place.ok(&["consume", "-t", "t", "-c", "1"]);
    let mut second = place.start(&["produce", "-t", "t", "-X", "linger.ms=1"]);
    let mut second_input = second.stdin();
    second_input.write_all(b"2\n").unwrap();
    place.ok(&["consume", "-t", "t", "-c", "2"]);

    drop(first_input);
    first.finish().ok();
    second_input.write_all(b"3\n").unwrap();
    assert_eq!(place.ok(&["consume", "-t", "t", "-c", "3"]), "1\n2\n3\n");
    drop(second_input);
    let totals = second.finish().ok();
    assert!(totals.contains("2 records acknowledged"), "{totals}");
}
