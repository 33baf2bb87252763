//! `milena topics` and `milena metadata`.

use rustix::process::Signal;

use crate::support::Place;

#[test]
fn topics_from_creation_to_deletion() {
    let place = Place::new();
    let created = place.ok(&["topics", "create", "-t", "quakes", "-p", "3", "-c", "retention.ms=1000000"]);
    assert!(created.contains("quakes") && created.contains("3 partitions"), "{created}");
    place.ok(&["topics", "create", "-t", "other"]);

    let list = place.ok(&["topics", "list"]);
    let names: Vec<&str> = list.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["other", "quakes"]);

    let description = place.ok(&["topics", "describe", "quakes"]);
    assert!(description.contains("retention.ms=1000000"), "{description}");
    assert_eq!(description.lines().filter(|line| line.trim_start().starts_with(['0', '1', '2'])).count(), 3);
    assert!(!description.contains("segment.bytes"), "only what differs from the default: {description}");
    let json: serde_json::Value =
        serde_json::from_str(&place.ok(&["topics", "describe", "quakes", "--json"])).unwrap();
    assert_eq!(json["partitions"].as_array().unwrap().len(), 3);
    assert_eq!(json["configs"]["retention.ms"], "1000000");

    place.ok(&["topics", "delete", "quakes"]);
    let list = place.ok(&["topics", "list", "--json"]);
    let names: Vec<serde_json::Value> =
        list.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(names.len(), 1, "{list}");
    assert_eq!(names[0]["topic"], "other");
}

#[test]
fn what_is_refused_is_said() {
    let place = Place::new();
    place.ok(&["topics", "create", "-t", "t"]);
    let error = place.run(&["topics", "create", "-t", "t"]).error(1);
    assert!(error.contains("t") && error.contains("already exists"), "{error}");
    let error = place.run(&["topics", "create", "-t", "u", "-c", "nonsense=1"]).error(1);
    assert!(error.contains("nonsense"), "{error}");
    let error = place.run(&["topics", "create", "-t", "u", "-r", "3"]).error(1);
    assert!(error.contains("replication"), "{error}");
    let error = place.run(&["topics", "delete", "nope"]).error(1);
    assert!(error.contains("nope"), "{error}");
    let error = place.run(&["topics", "describe", "nope"]).error(1);
    assert!(error.contains("nope"), "{error}");
}

#[test]
fn the_cluster_as_the_client_sees_it() {
    let place = Place::new();
    let (_broker, bootstrap) = place.broker("0");
    place.ok(&["topics", "create", "-t", "t", "-p", "2"]);
    let text = place.ok(&["metadata"]);
    let (host, port) = bootstrap.rsplit_once(':').unwrap();
    assert!(text.contains(host) && text.contains(port), "{text}");
    assert!(text.contains("version") && text.contains("controller"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&place.ok(&["metadata", "--json"])).unwrap();
    assert_eq!(json["nodes"][0]["port"].to_string(), port);
    assert_eq!(json["topics"][0]["topic"], "t");
    assert_eq!(json["topics"][0]["partitions"][1]["leader"], json["nodes"][0]["id"]);
}

#[test]
fn each_refresh_is_told_with_its_reason() {
    let place = Place::new();
    let (_broker, bootstrap) = place.broker("0");
    let mut watch = place.start(&["metadata", "-b", &bootstrap, "--watch", "--json"]);
    let first: serde_json::Value = serde_json::from_str(&watch.first_line()).unwrap();
    assert!(first["refresh"]["reason"].is_string(), "{first}");
    assert!(first["refresh"]["took_ms"].is_number(), "{first}");
    watch.signal(Signal::INT);
    assert!(watch.finish().status.success());
}
