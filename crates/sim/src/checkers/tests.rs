//! Each checker is shown a history that is as it should be, and then the same with the one thing wrong that it is there for.

use std::time::Duration;

use milena_broker::simulation::ReplicaView;
use milena_protocol::Uuid;

use super::check;
use crate::history::{FinalLog, Held, History, Leader, Logged, Outcome, Read, RecordId, Sent, Watermark};

/// The topic that there is in the end.
const TOPIC: Uuid = Uuid([2; 16]);
/// The one of the same name that was deleted.
const DELETED: Uuid = Uuid([1; 16]);

const fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn record(number: u64) -> RecordId {
    RecordId { producer: 0, number }
}

fn sent(number: u64, outcome: Outcome) -> Sent {
    Sent {
        producer: 0,
        number,
        // The last of the three when all is well again.
        at: if number == 2 { at(25) } else { at(number) },
        partition: 0,
        is_placed: true,
        acknowledged_in: matches!(outcome, Outcome::Acknowledged(_)).then_some(TOPIC),
        outcome: Some((at(26), outcome)),
    }
}

fn log(broker: i32) -> FinalLog {
    let logged = |number: u64| Logged {
        offset: i64::try_from(number).unwrap_or(0),
        leader_epoch: 0,
        record: record(number),
    };
    let view = ReplicaView {
        topic: "orders".to_owned(),
        topic_id: TOPIC,
        partition: 0,
        leads: broker == 1,
        leader: 1,
        leader_epoch: 0,
        high_watermark: 3,
        log_start_offset: 0,
        log_end_offset: 3,
    };
    FinalLog { view, records: (0..3).map(logged).collect() }
}

fn watermark(broker: i32, seconds: u64, offset: i64) -> Watermark {
    Watermark { at: at(seconds), broker, life: 1, topic_id: TOPIC, partition: 0, leader_epoch: 0, offset }
}

fn read(topic_id: Uuid, offset: i64, number: u64) -> Read {
    Read { consumer: 1, topic_id, partition: 0, offset, record: record(number) }
}

fn leader(topic_id: Uuid, broker: i32) -> Leader {
    Leader { topic_id, partition: 0, leader_epoch: 0, broker }
}

fn held(broker: i32, topic_id: Uuid) -> Held {
    Held { broker, topic_id: Some(topic_id), partition: 0 }
}

/// Records that are acknowledged, read and on two replicas, the last of them when all was well again.
fn fine() -> History {
    let offset = |number: u64| i64::try_from(number).unwrap_or(0);
    History {
        sent: (0..3).map(|number| sent(number, Outcome::Acknowledged(Some(offset(number))))).collect(),
        read: (0..3).map(|number| read(TOPIC, offset(number), number)).collect(),
        watermarks: vec![watermark(1, 1, 1), watermark(1, 2, 3)],
        consumer_watermarks: [(1, vec![watermark(1, 1, 1), watermark(1, 2, 3)])].into(),
        leaders: vec![leader(DELETED, 2), leader(TOPIC, 1)],
        producers: 1,
        carried: (0..3).map(|number| (record(number), TOPIC)).collect(),
        topic_id: TOPIC,
        held: vec![held(1, TOPIC), held(2, TOPIC)],
        logs: [((1, 0), log(1)), ((2, 0), log(2))].into(),
        assignments: [(0, vec![1, 2])].into(),
        in_sync: [(0, (1, vec![1, 2]))].into(),
        healed_at: at(10),
        calm_at: Some(at(30)),
        ..History::default()
    }
}

#[track_caller]
fn finds(what: &str, spoil: impl FnOnce(&mut History)) {
    let mut history = fine();
    spoil(&mut history);
    let violations = check(&mut history);
    assert!(violations.iter().any(|violation| violation.contains(what)), "{what} is not in {violations:?}");
}

fn logs(history: &mut History) -> impl Iterator<Item = &mut Vec<Logged>> {
    history.logs.values_mut().map(|log| &mut log.records)
}

#[test]
fn a_history_that_is_as_it_should_be_passes() {
    assert_eq!(check(&mut fine()), Vec::<String>::new());
}

#[test]
fn a_record_that_is_acknowledged_and_gone_is_found() {
    finds("lost", |history| {
        logs(history).for_each(|log| {
            log.pop();
        });
    });
}

#[test]
fn a_record_at_another_offset_than_was_said_is_found() {
    finds("moved", |history| {
        history.sent[1].outcome = Some((at(2), Outcome::Acknowledged(Some(2))));
    });
}

#[test]
fn a_record_that_a_consumer_has_read_and_that_is_gone_is_found() {
    finds("read and gone", |history| {
        history.sent.pop();
        logs(history).for_each(|log| {
            log.pop();
        });
    });
    finds("read and gone", |history| history.read[0].record = record(1));
}

#[test]
fn a_record_that_is_there_twice_is_found() {
    finds("twice", |history| {
        logs(history).for_each(|log| log.push(Logged { offset: 3, leader_epoch: 0, record: record(2) }));
    });
}

#[test]
fn an_acknowledgement_that_no_broker_gave_is_found() {
    finds("made up", |history| history.sent[1].acknowledged_in = None);
}

#[test]
fn what_was_acknowledged_in_a_deleted_topic_and_read_from_it_goes_with_it() {
    let mut history = fine();
    history.sent.push(Sent { acknowledged_in: Some(DELETED), ..sent(9, Outcome::Acknowledged(Some(1))) });
    history.read.extend([read(DELETED, 0, 0), read(DELETED, 1, 9)]);
    assert_eq!(check(&mut history), Vec::<String>::new());
    // In the topic that there is in the end it would be lost.
    history.sent[3].acknowledged_in = Some(TOPIC);
    assert!(check(&mut history).iter().any(|violation| violation.starts_with("lost")));
}

#[test]
fn what_a_deleted_topic_showed_twice_or_out_of_order_is_found() {
    finds("twice", |history| history.read.extend([read(DELETED, 0, 0), read(DELETED, 1, 0)]));
    finds("out of order", |history| history.read.extend([read(DELETED, 0, 1), read(DELETED, 1, 0)]));
    finds("a hole", |history| history.read.extend([read(DELETED, 0, 0), read(DELETED, 2, 1)]));
}

#[test]
fn a_record_of_another_topic_is_found() {
    finds("of another topic", |history| {
        history.carried.remove(&(record(1), TOPIC));
        history.carried.insert((record(1), DELETED));
    });
}

#[test]
fn a_log_that_a_broker_is_not_to_have_is_found() {
    finds("a stray", |history| history.held.push(held(3, DELETED)));
    finds("a stray", |history| history.held.push(held(3, TOPIC)));
    finds("a stray", |history| history.held.push(Held { topic_id: None, ..held(1, TOPIC) }));
}

#[test]
fn records_out_of_order_are_found() {
    finds("out of order", |history| {
        logs(history).for_each(|log| {
            let (first, second) = (log[0].record, log[1].record);
            log[0].record = second;
            log[1].record = first;
        });
    });
}

#[test]
fn a_hole_is_found() {
    finds("a hole", |history| {
        logs(history).for_each(|log| {
            log.remove(1);
        });
    });
}

#[test]
fn a_high_watermark_that_falls_is_found() {
    finds("seen by a leader", |history| history.watermarks.push(watermark(1, 3, 2)));
    finds("seen by consumer 1", |history| {
        history.consumer_watermarks.entry(1).or_default().push(watermark(1, 3, 2));
    });
    // That of another leader may be lower, and that of another topic.
    let mut history = fine();
    history.watermarks.push(watermark(2, 3, 2));
    history.watermarks.push(Watermark { topic_id: DELETED, ..watermark(1, 3, 2) });
    assert_eq!(check(&mut history), Vec::<String>::new());
}

#[test]
fn two_leaders_of_one_epoch_are_found() {
    finds("two leaders", |history| history.leaders.push(leader(TOPIC, 2)));
}

#[test]
fn replicas_that_differ_are_found() {
    finds("replicas differ", |history| {
        if let Some(log) = history.logs.get_mut(&(2, 0)) {
            log.records[2].leader_epoch = 1;
        }
    });
    finds("replicas differ", |history| {
        if let Some(log) = history.logs.get_mut(&(2, 0)) {
            log.records.pop();
        }
    });
}

#[test]
fn a_cluster_that_does_not_come_to_rest_is_found() {
    finds("no calm", |history| history.calm_at = None);
}

#[test]
fn a_producer_that_sends_nothing_any_more_is_found() {
    finds("silent", |history| history.producers = 2);
}

#[test]
fn a_record_without_an_outcome_is_found() {
    finds("no outcome", |history| history.sent[2].outcome = None);
}

#[test]
fn a_record_that_fails_though_all_is_well_is_found() {
    let failed = |seconds| Sent { at: at(seconds), ..sent(9, Outcome::Failed("why".to_owned())) };
    finds("failed though all was well", |history| history.sent.push(failed(30)));
    // While things go wrong it may.
    let mut history = fine();
    history.sent.push(failed(5));
    assert_eq!(check(&mut history), Vec::<String>::new());
}

#[test]
fn what_the_machinery_and_consumers_complain_of_counts() {
    finds("a spin", |history| history.broken.push("a spin".to_owned()));
    finds("out of range", |history| history.refused.push("out of range".to_owned()));
}
