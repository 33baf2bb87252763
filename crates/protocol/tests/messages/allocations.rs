//! Counts what a thread allocates, so that tests can say how much memory a decoder takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes on to the system's allocator unchanged. The counters are plain cells without a destructor,
// so that reaching them neither allocates nor fails while a thread ends.
#[allow(unsafe_code, reason = "an allocator that counts cannot be written without")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as promised to this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as promised to this function.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn count(bytes: isize) {
    LIVE.set(LIVE.get() + bytes);
    PEAK.set(PEAK.get().max(LIVE.get()));
}

/// What `action` returns, and the most memory in bytes that this thread held during it beyond what it held before.
pub(crate) fn peak_during<T>(action: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = action();
    (result, (PEAK.get() - before).max(0) as usize)
}
