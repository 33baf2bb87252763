//! Idempotence: client.md 31 to 34, and what Kafka's TransactionManager does with a broker's complaints.

mod producer_support;
mod support;

use milena_core::{
    config::ProducerConfig,
    producer::{Append, AppendError, ProduceError},
    record::Record,
};
use milena_protocol::{
    ApiKey, ErrorCode,
    messages::{InitProducerIdRequest, PartitionProduceResponse},
};
use producer_support::{Fault, Test, config};
use support::{Reply, ms, secs};

/// Epoch and sequence of each batch that came to partition 0, with what was answered.
fn sequences(test: &Test) -> Vec<(i16, i32, ErrorCode)> {
    let of = |p: &producer_support::Produced| (p.header.producer_epoch, p.header.base_sequence, p.answer);
    test.produced().iter().filter(|p| p.partition == 0).map(of).collect()
}

#[test]
fn idempotence_31_a_duplicate_is_success_without_an_offset() {
    let mut test = Test::warm(config(), 1, &[1]);
    test.logs.borrow_mut().duplicates_are_errors = true;
    test.fault(Fault::WriteAndLose);
    let delivery = test.send(0, "a");
    let metadata = test.outcome(delivery).expect("the broker has it");
    assert_eq!(metadata.offset, None);
    assert_eq!(sequences(&test)[1].2, ErrorCode::DUPLICATE_SEQUENCE_NUMBER);
    assert_eq!(test.values(0), ["a"]);
    test.settle();
}

#[test]
fn idempotence_32_what_is_not_next_is_sent_again() {
    let mut test = Test::warm(config(), 1, &[1]);
    test.fault(Fault::Refuse(ErrorCode::NOT_ENOUGH_REPLICAS));
    let sent: Vec<_> = ["a", "b", "c"].iter().map(|value| test.send_now(0, value)).collect();
    for outcome in test.outcomes(sent) {
        outcome.expect("written");
    }
    assert_eq!(test.values(0), ["a", "b", "c"]);
    let answers: Vec<ErrorCode> = sequences(&test).iter().map(|(_, _, answer)| *answer).collect();
    assert_eq!(answers[1..3], [ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER; 2]);
    assert!(sequences(&test).iter().all(|(epoch, _, _)| *epoch == 0), "no gap, no new epoch");
}

#[test]
fn idempotence_32_a_true_gap_bumps_the_epoch() {
    let mut test = Test::warm(config(), 1, &[1]);
    test.fault(Fault::Refuse(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
    let sent: Vec<_> = ["a", "b", "c"].iter().map(|value| test.send_now(0, value)).collect();
    for outcome in test.outcomes(sent) {
        outcome.expect("written");
    }
    assert_eq!(test.values(0), ["a", "b", "c"]);
    let accepted: Vec<_> = sequences(&test).into_iter().filter(|(_, _, answer)| answer.is_ok()).collect();
    let epochs: Vec<_> = accepted.iter().map(|(epoch, sequence, _)| (*epoch, *sequence)).collect();
    assert_eq!(epochs, [(1, 0), (1, 1), (1, 2)], "all three begin anew, in order");
    assert_eq!(test.harness.peer.count(ApiKey::InitProducerId), 1, "the epoch is bumped without asking");
    test.settle();
}

#[test]
fn idempotence_32_new_sequences_wait_for_what_is_in_flight() {
    let mut test = Test::warm(config(), 1, &[1]);
    // The first is refused for good; the answer to the second is late, and is that it is out of order.
    test.fault(Fault::Refuse(ErrorCode::INVALID_RECORD));
    test.fault(Fault::Slow(ms(300)));
    let first = test.send_now(0, "a");
    let second = test.send_now(0, "b");
    assert_eq!(test.outcome(first).expect_err("refused").code(), Some(ErrorCode::INVALID_RECORD));
    let third = test.send_now(0, "c");
    test.harness.advance(ms(200));
    assert_eq!(sequences(&test).len(), 2, "nothing is sent while the fate of the second is open");
    for outcome in test.outcomes(vec![second, third]) {
        outcome.expect("written");
    }
    assert_eq!(test.values(0), ["b", "c"]);
    let last: Vec<_> = sequences(&test)[2..].to_vec();
    assert_eq!(last, [(1, 0, ErrorCode::NONE), (1, 1, ErrorCode::NONE)]);
    test.settle();
}

fn short_lived() -> ProducerConfig {
    let mut config = ProducerConfig { delivery_timeout: secs(5), ..config() };
    config.client.request_timeout = secs(4);
    config
}

#[test]
fn idempotence_33_an_expired_batch_in_flight_blocks_its_partition() {
    let mut config = short_lived();
    config.client.request_timeout = secs(20);
    let mut test = Test::warm(config, 1, &[1, 1]);
    test.fault(Fault::Slow(secs(8)));
    let expired = test.send_now(0, "a");
    test.outcome(expired).expect_err("it took too long");
    let blocked = test.send_now(0, "b");
    test.harness.advance(secs(2));
    assert_eq!(sequences(&test).len(), 1, "nothing new before the fate of \"a\" is known");
    test.outcome(blocked).expect("\"a\" was written after all: no gap");
    assert_eq!(test.values(0), ["a", "b"]);
    assert!(sequences(&test).iter().all(|(epoch, _, _)| *epoch == 0));
    test.settle();
}

#[test]
fn idempotence_33_a_lost_batch_bumps_the_epoch_when_nobody_can_tell() {
    for fault in [Fault::Swallow, Fault::WriteAndSwallow] {
        let mut test = Test::warm(short_lived(), 1, &[1]);
        let written = matches!(fault, Fault::WriteAndSwallow);
        test.fault(fault.clone());
        test.fault(fault);
        let expired = test.send_now(0, "a");
        test.outcome(expired).expect_err("nobody answered");
        let next = test.send(0, "b");
        test.outcome(next).expect("written");
        assert_eq!(test.values(0), if written { vec!["a", "b"] } else { vec!["b"] });
        let last = *sequences(&test).last().expect("some");
        assert_eq!(
            last,
            (1, 0, ErrorCode::NONE),
            "whether \"a\" was written is not known: the next epoch begins"
        );
        test.settle();
    }
}

#[test]
fn idempotence_33_batches_behind_an_expired_one_tell_its_fate() {
    let mut config = short_lived();
    config.client.request_timeout = secs(2);
    // Or nothing would be sent behind what is not answered.
    config.client.suspicion_floor = ms(0);
    let mut test = Test::warm(config, 1, &[1]);
    test.fault(Fault::WriteAndSwallow);
    let expired = test.send_now(0, "a");
    test.harness.advance(ms(1_900));
    let behind = test.send_now(0, "b");
    // Both are written. The tries of "a" that follow are not answered either, until it is too old.
    test.fault(Fault::Swallow);
    test.fault(Fault::Swallow);
    test.outcome(expired).expect_err("nobody answered");
    test.outcome(behind).expect("the broker remembers it, and so it has \"a\" as well");
    let next = test.send(0, "c");
    test.outcome(next).expect("written");
    assert_eq!(test.values(0), ["a", "b", "c"]);
    assert!(sequences(&test).iter().all(|(epoch, _, _)| *epoch == 0), "no gap, no new epoch");
    test.settle();
}

#[test]
fn idempotence_33_what_a_later_batch_proves_is_not_a_failure() {
    let mut config = short_lived();
    config.client.request_timeout = secs(20);
    let mut test = Test::warm(config, 1, &[1]);
    test.fault(Fault::WriteAndRefuse(ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND));
    let first = test.send_now(0, "a");
    let second = test.send_now(0, "b");
    // "b" is acknowledged, so "a" is written, whatever becomes of the question for its offset.
    for _ in 0..5 {
        test.fault(Fault::Swallow);
    }
    test.outcome(second).expect("written");
    let metadata = test.outcome(first).expect("written as well");
    assert_eq!(metadata.offset, None);
    assert_eq!(test.values(0), ["a", "b"]);
}

#[test]
fn idempotence_34_five_batches_in_flight_in_order_whatever_is_retried() {
    let trouble = [
        Fault::Refuse(ErrorCode::NOT_ENOUGH_REPLICAS),
        Fault::WriteAndRefuse(ErrorCode::REQUEST_TIMED_OUT),
        Fault::Lose,
        Fault::WriteAndLose,
    ];
    for fault in trouble {
        for bad in 0..5 {
            let mut test = Test::warm(config(), 1, &[1]);
            for _ in 0..bad {
                test.fault(Fault::None);
            }
            test.fault(fault.clone());
            let values: Vec<String> = (0..12).map(|n| format!("{n:02}")).collect();
            let sent: Vec<_> = values.iter().map(|value| test.send_now(0, value)).collect();
            assert_eq!(test.harness.engine.network().in_flight(1), 5, "five in flight, the others wait");
            for outcome in test.outcomes(sent) {
                outcome.expect("written");
            }
            assert_eq!(test.values(0), values, "{fault:?} at {bad}");
            test.settle();
        }
    }
}

#[test]
fn idempotence_34_the_first_batch_of_a_sequence_goes_alone() {
    let mut test = Test::new(config(), 1, &[1]);
    test.topic();
    // A broker without anything of this producer would take the second batch without the first.
    test.fault(Fault::Refuse(ErrorCode::NOT_ENOUGH_REPLICAS));
    let sent: Vec<_> = ["a", "b", "c"].iter().map(|value| test.send_now(0, value)).collect();
    for outcome in test.outcomes(sent) {
        outcome.expect("written");
    }
    assert_eq!(test.values(0), ["a", "b", "c"]);
}

#[test]
fn sequences_count_records() {
    let mut test = Test::warm(config(), 1, &[1]);
    for n in 0..20 {
        let delivery = test.send(0, &n.to_string());
        test.outcome(delivery).expect("written");
    }
    let sequences: Vec<i32> = test.produced().iter().map(|p| p.header.base_sequence).collect();
    assert_eq!(sequences, (1..=20).collect::<Vec<i32>>());
}

#[test]
fn a_broker_that_takes_no_sequence_is_not_asked_without_a_pause() {
    let mut test = Test::warm(config(), 1, &[1]);
    let refusals = [ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER; 1_000];
    test.logs.borrow_mut().refusals.insert(0, refusals.into());
    let delivery = test.send_now(0, "a");
    test.harness.advance(secs(5));
    let tries = sequences(&test).len();
    assert!((5..=15).contains(&tries), "{tries} tries in 5 s");
    test.logs.borrow_mut().refusals.clear();
    test.outcome(delivery).expect("written");
    assert_eq!(test.values(0), ["a"]);
    test.settle();
}

#[test]
fn an_unknown_producer_begins_anew() {
    let mut test = Test::warm(config(), 1, &[1]);
    let unknown = |log_start_offset| {
        let error_code = ErrorCode::UNKNOWN_PRODUCER_ID;
        Fault::Answer(Box::new(PartitionProduceResponse {
            error_code,
            log_start_offset,
            ..Default::default()
        }))
    };
    test.fault(unknown(-1));
    test.fault(unknown(1));
    let delivery = test.send(0, "a");
    test.outcome(delivery).expect("written");
    let seen: Vec<_> = sequences(&test).iter().map(|(epoch, sequence, _)| (*epoch, *sequence)).collect();
    assert_eq!(seen, [(0, 1), (0, 1), (1, 0)], "without the log's start just again, with it in a new epoch");
}

#[test]
fn an_invalid_epoch_fails_the_batch_and_bumps_the_epoch() {
    let mut test = Test::warm(config(), 1, &[1]);
    test.fault(Fault::Refuse(ErrorCode::INVALID_PRODUCER_EPOCH));
    let refused = test.send_now(0, "a");
    let error = test.outcome(refused).expect_err("as in Kafka's client");
    assert_eq!(error.code(), Some(ErrorCode::INVALID_PRODUCER_EPOCH));
    let next = test.send(0, "b");
    test.outcome(next).expect("written");
    assert_eq!(sequences(&test).last(), Some(&(1, 0, ErrorCode::NONE)));
}

#[test]
fn a_fenced_producer_ends() {
    let mut test = Test::warm(config(), 1, &[1, 1]);
    test.fault(Fault::Refuse(ErrorCode::PRODUCER_FENCED));
    let fenced = test.send_now(0, "a");
    let error = test.outcome(fenced).expect_err("fenced");
    assert!(
        matches!(&error, ProduceError::Fatal { code: Some(ErrorCode::PRODUCER_FENCED), .. }),
        "{error:?}"
    );
    let topic = test.topic();
    let refused = test.append(&topic, &Record::to("t").value("b"), 0).expect_err("it cannot go on");
    assert_eq!(refused, AppendError::Fatal(error));
    test.settle();
}

#[test]
fn epochs_that_are_used_up_need_a_new_id() {
    let mut test = Test::new(config(), 1, &[1]);
    test.logs.borrow_mut().first_epoch = i16::MAX;
    test.warm_up(1);
    test.fault(Fault::Refuse(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
    let delivery = test.send(0, "a");
    test.outcome(delivery).expect("written");
    assert_eq!(test.harness.peer.count(ApiKey::InitProducerId), 2);
    let ids: Vec<i64> = test.produced().iter().map(|p| p.header.producer_id).collect();
    assert_ne!(ids[0], ids[1]);
    assert_eq!(test.produced()[1].header.base_sequence, 0);
}

#[test]
fn without_permission_the_producer_ends_and_says_what_to_do() {
    let mut test = Test::new(config(), 1, &[1]);
    test.logs.borrow_mut().init_errors.push_back(ErrorCode::CLUSTER_AUTHORIZATION_FAILED);
    let topic = test.topic();
    let record = Record::to("t").value("a");
    let refused = match test.append(&topic, &record, 0) {
        Ok(Append::Appended(delivery)) => test.outcome(delivery).expect_err("no id").to_string(),
        other => format!("{other:?}"),
    };
    assert!(
        refused.contains("IDEMPOTENT_WRITE") && refused.contains("enable.idempotence=false"),
        "{refused}"
    );
}

#[test]
fn a_cluster_without_idempotence_is_named_as_the_reason() {
    let mut test = Test::new(config(), 1, &[1]);
    test.harness.peer.broker(1).max_versions.insert(ApiKey::InitProducerId as i16, -1);
    let topic = test.topic();
    let error = match test.append(&topic, &Record::to("t").value("a"), 0) {
        Ok(Append::Appended(delivery)) => test.outcome(delivery).expect_err("no id").to_string(),
        other => format!("{other:?}"),
    };
    assert!(error.contains("enable.idempotence=false"), "{error}");
}

#[test]
fn the_id_is_asked_again_after_a_passing_error() {
    let mut test = Test::new(config(), 1, &[1]);
    test.logs.borrow_mut().init_errors.push_back(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
    let delivery = test.send(0, "a");
    test.outcome(delivery).expect("written");
    let asked = test.harness.peer.asked(ApiKey::InitProducerId);
    assert_eq!(asked.len(), 2);
    let request: InitProducerIdRequest = asked[0].decode();
    assert_eq!((request.transactional_id, request.producer_id, request.producer_epoch), (None, -1, -1));
}

#[test]
fn a_broker_that_says_nothing_does_not_hold_the_id_up() {
    let mut config = config();
    config.client.bootstrap = (1..=3).map(|n| (format!("b{n}"), 9092)).collect();
    let mut test = Test::new(config, 3, &[1, 2, 3]);
    let mut first = None;
    let logs = std::rc::Rc::clone(&test.logs);
    test.harness.peer.script(ApiKey::InitProducerId, move |request, cluster| {
        if *first.get_or_insert(request.broker) == request.broker {
            return Reply::Nothing;
        }
        logs.borrow_mut().serve(request, cluster)
    });
    let start = test.harness.now;
    let delivery = test.send(0, "a");
    test.outcome(delivery).expect("written");
    assert!(test.harness.now - start < secs(2), "another broker was asked: {:?}", test.harness.now - start);
}
