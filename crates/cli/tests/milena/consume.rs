//! `milena consume`: where it starts, where it ends, what it prints.

use std::io::Write as _;

use rustix::process::Signal;

use crate::support::Place;

fn numbers(place: &Place, range: std::ops::Range<u32>) {
    let input: Vec<String> = range.map(|n| format!("{n}\n")).collect();
    place.run_with(&["produce", "-t", "t"], input.concat()).ok();
}

#[test]
fn where_it_starts_and_where_it_ends() {
    let place = Place::new();
    numbers(&place, 0..100);
    let back = |options: &str| {
        let args: Vec<&str> = ["consume", "-t", "t"].into_iter().chain(options.split(' ')).collect();
        place.ok(&args)
    };
    assert_eq!(back("-c 3"), "0\n1\n2\n");
    assert_eq!(back("-o 42 -c 2"), "42\n43\n");
    assert_eq!(back("-o -2 -e"), "98\n99\n");
    assert_eq!(back("-o -1000 -c 1"), "0\n");
    assert_eq!(back("-o end -e"), "");
    assert_eq!(back("-o 99 -e"), "99\n");
    assert_eq!(back("-o @0 -c 1"), "0\n");
    assert_eq!(back("-o @4102444800000 -e"), "", "nothing is from the year 2100");
    assert_eq!(back("-c 0"), "");
    assert_eq!(back("-e").lines().count(), 100);
}

#[test]
fn a_time_is_where_it_starts() {
    let place = Place::new();
    numbers(&place, 0..3);
    let stamps = place.ok(&["consume", "-t", "t", "-e", "-f", r"%T\n"]);
    let last: i64 = stamps.lines().last().unwrap().parse().unwrap();
    numbers(&place, 3..4);
    let after = place.ok(&["consume", "-t", "t", "-e", "-o", &format!("@{}", last + 1)]);
    assert_eq!(after, "3\n");
}

#[test]
fn it_goes_on_until_it_is_told_to_stop() {
    let place = Place::new();
    let (_broker, bootstrap) = place.broker("0");
    numbers(&place, 0..10);
    let consumer = place.start(&["consume", "-b", &bootstrap, "-t", "t", "-o", "beginning"]);
    let mut producer = place.start(&["produce", "-b", &bootstrap, "-t", "t"]);
    producer.stdin().write_all(b"10\n").unwrap();
    producer.finish().ok();
    place.ok(&["consume", "-b", &bootstrap, "-t", "t", "-c", "11"]);
    consumer.signal(Signal::INT);
    let end = consumer.finish();
    assert!(end.status.success(), "{}", end.stderr);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let place = Place::new();
    let line = "x".repeat(1_000);
    let input: Vec<String> = (0..3_000).map(|n| format!("{n} {line}\n")).collect();
    place.run_with(&["produce", "-t", "t"], input.concat()).ok();
    let mut consumer = place.start(&["consume", "-t", "t"]);
    assert!(consumer.read_and_close(100).starts_with(b"0 xxx"));
    let end = consumer.finish();
    assert!(end.status.success(), "{}", end.stderr);
    assert_eq!(end.stderr, "");
}

#[test]
fn json_is_one_object_a_line() {
    let place = Place::new();
    place.run_with(&["produce", "-t", "t", "-K", ":"], "k:\"v\"\nnull key\n").ok();
    let back = place.ok(&["consume", "-t", "t", "-e", "--json"]);
    let lines: Vec<serde_json::Value> =
        back.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["key"], &lines[0]["payload"]), (&"k".into(), &"\"v\"".into()));
    assert_eq!((&lines[1]["key"], &lines[1]["offset"]), (&serde_json::Value::Null, &1.into()));
    assert_eq!(lines[1]["tstype"], "create");
    assert!(lines[1]["ts"].as_i64().unwrap() > 1_700_000_000_000);
}
