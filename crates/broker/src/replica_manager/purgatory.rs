//! Requests that wait for something to happen to a partition (Kafka: `DelayedOperationPurgatory`).
//!
//! A request registers its [`Waiter`] with every partition that it waits for, looks at them, and sleeps until one of them
//! wakes it or its time is over. Nothing polls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// A request that waits. A wake-up that comes before it sleeps is not lost.
#[derive(Debug, Default)]
pub(crate) struct Waiter {
    notify: Notify,
}

impl Waiter {
    /// Sleeps until one of the partitions has news since the last time.
    pub(crate) async fn woken(&self) {
        self.notify.notified().await;
    }
}

/// The requests that wait for one partition.
#[derive(Debug, Default)]
pub(super) struct WaitList {
    waiters: Mutex<Vec<Arc<Waiter>>>,
    /// `waiters.len()`, so that an append nobody waits for takes no lock.
    count: AtomicUsize,
}

impl WaitList {
    pub(super) fn register(self: &Arc<Self>, waiter: &Arc<Waiter>) -> Registration {
        let mut waiters = self.waiters.lock();
        waiters.push(waiter.clone());
        // Ordered before the look at the partition that the request takes next: either that look sees an append, or
        // the append sees this.
        self.count.store(waiters.len(), Ordering::SeqCst);
        Registration { list: self.clone(), waiter: waiter.clone() }
    }

    pub(super) fn wake(&self) {
        if self.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        for waiter in self.waiters.lock().iter() {
            waiter.notify.notify_one();
        }
    }
}

/// A place in a partition's list, left on drop.
#[derive(Debug)]
pub(crate) struct Registration {
    list: Arc<WaitList>,
    waiter: Arc<Waiter>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut waiters = self.list.waiters.lock();
        if let Some(index) = waiters.iter().position(|waiter| Arc::ptr_eq(waiter, &self.waiter)) {
            waiters.swap_remove(index);
        }
        self.list.count.store(waiters.len(), Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wake_up_before_the_sleep_is_not_lost_and_places_are_given_back() {
        let (one, other) = (Arc::new(WaitList::default()), Arc::new(WaitList::default()));
        let waiter = Arc::new(Waiter::default());
        let registrations = [one.register(&waiter), other.register(&waiter)];
        other.wake();
        waiter.woken().await;
        drop(registrations);
        assert_eq!((one.waiters.lock().len(), other.waiters.lock().len()), (0, 0));
        assert_eq!(one.count.load(Ordering::SeqCst), 0);
    }
}
