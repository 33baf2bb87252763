//! How callers' threads wake the one driver, without a runtime.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll},
};

use atomic_waker::AtomicWaker;

/// A flag with one waiter: many threads [`notify`](Signal::notify), the driver polls.
///
/// Notifications that arrive before the driver looks are merged into one.
#[derive(Debug, Default)]
pub struct Signal {
    raised: AtomicBool,
    waker: AtomicWaker,
}

impl Signal {
    /// Raises the flag, and wakes the driver if it was not raised already.
    pub fn notify(&self) {
        if !self.raised.swap(true, Ordering::AcqRel) {
            self.waker.wake();
        }
    }

    /// Ready, and lowered again, when the flag was raised since the last look.
    pub fn poll_notified(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.take() {
            return Poll::Ready(());
        }
        self.waker.register(cx.waker());
        // A notification between the look and the registration would otherwise be slept through.
        if self.take() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Lowers the flag; true if it was raised.
    pub fn take(&self) -> bool {
        self.raised.swap(false, Ordering::AcqRel)
    }
}
