//! No allocation per record in the steady state: only per batch.

#![allow(unsafe_code, reason = "counting allocations needs an allocator, and GlobalAlloc is an unsafe trait")]

mod producer_support;
mod support;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use milena_core::{
    config::ProducerConfig,
    producer::{Append, Delivery},
    record::{Header, Record},
};
use producer_support::{Test, config};
use support::ms;

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator as it came; counting touches a thread-local cell only, which has no
// destructor and needs no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's obligations are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above, hence from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as for `dealloc`, and the size is the caller's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const RECORDS: usize = 20_000;

#[test]
fn records_cost_no_allocation_in_the_steady_state() {
    let config = ProducerConfig { linger: ms(1), ..config() };
    let mut test = Test::warm(config, 1, &[1; 6]);
    let topic = test.topic();
    let value = [b'v'; 100];
    let headers = [Header { key: "h", value: Some(b"1") }];
    let record = Record::to("t").value(&value).headers(&headers);
    let keyed = record.key("some key");
    let mut deliveries: Vec<Delivery> = Vec::with_capacity(RECORDS);
    let (mut allocations, mut batches) = (0, 0);
    for round in 0..4 {
        let before_batches = test.shared.accumulator().incomplete_batches();
        let before = COUNT.with(Cell::get);
        for n in 0..RECORDS {
            let record = if n % 2 == 0 { &record } else { &keyed };
            match test.append(&topic, record, 1) {
                Ok(Append::Appended(delivery)) => deliveries.push(delivery),
                other => panic!("{other:?}"),
            }
        }
        allocations = COUNT.with(Cell::get) - before;
        batches = test.shared.accumulator().incomplete_batches() - before_batches;
        test.harness.advance(ms(100));
        let before = COUNT.with(Cell::get);
        let delivered = deliveries.iter_mut().filter_map(Delivery::result).filter(Result::is_ok).count();
        assert_eq!(COUNT.with(Cell::get), before, "looking at outcomes allocates nothing");
        assert_eq!(delivered, RECORDS, "round {round}");
        deliveries.clear();
    }
    // A batch's completion, its place among the incomplete ones, its buffer's growth to its usual size.
    let allowed = 8 * batches as u64 + 8;
    assert!(allocations <= allowed, "{allocations} allocations for {RECORDS} records in {batches} batches");
}
