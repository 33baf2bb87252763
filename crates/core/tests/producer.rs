//! The producer end to end, against pretended brokers in virtual time.

mod producer_support;
mod support;

use producer_support::{Test, config};

#[test]
fn a_record_is_produced() {
    let mut test = Test::new(config(), 1, &[1]);
    let delivery = test.send(0, "hello");
    let metadata = test.outcome(delivery).expect("written");
    assert_eq!((&*metadata.topic, metadata.partition, metadata.offset), ("t", 0, Some(0)));
    assert_eq!(test.values(0), ["hello"]);
    test.settle();
}
