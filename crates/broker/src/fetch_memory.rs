//! [`FetchMemory`]: what the answers to all fetching clients of one broker may hold until they are written.
//!
//! Kafka's brokers send from the page cache; here an answer is in memory from when it is read until the client has taken it,
//! and a client may ask for much and take nothing. When the memory is used up answers get smaller, down to the one batch that
//! each fetch is owed (KIP-74).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

/// Bytes that are free, shared by all fetches.
#[derive(Debug)]
pub(crate) struct FetchMemory {
    free: Arc<AtomicUsize>,
}

impl FetchMemory {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { free: Arc::new(AtomicUsize::new(bytes)) }
    }

    /// Takes as much of `wanted` as is free.
    pub(crate) fn lease(&self, wanted: usize) -> Lease {
        let mut bytes = 0;
        // Both orders may be relaxed: it is an account, and guards nothing.
        let _before = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| {
            bytes = wanted.min(free);
            Some(free - bytes)
        });
        Lease { free: self.free.clone(), bytes }
    }
}

/// Bytes of a [`FetchMemory`], given back when dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    free: Arc<AtomicUsize>,
    bytes: usize,
}

impl Lease {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps what `records` need, for as long as anybody has them. A first batch may be larger than what was free.
    pub(crate) fn hold(mut self, records: Bytes) -> Bytes {
        self.shrink_to(records.len());
        if self.bytes == 0 { records } else { Bytes::from_owner(Held { records, _lease: self }) }
    }

    fn shrink_to(&mut self, bytes: usize) {
        let surplus = self.bytes.saturating_sub(bytes);
        self.bytes -= surplus;
        self.free.fetch_add(surplus, Ordering::Relaxed);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

struct Held {
    records: Bytes,
    _lease: Lease,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_share_what_there_is_and_give_it_back() {
        let memory = FetchMemory::new(100);
        let first = memory.lease(80).hold(Bytes::from(vec![1; 60]));
        let second = memory.lease(80);
        assert_eq!(second.bytes(), 40);
        // A batch that is larger than what was left is let through, and takes no more than that.
        let second = second.hold(Bytes::from(vec![2; 50]));
        assert_eq!((second.len(), memory.lease(80).bytes()), (50, 0));
        let slice = first.slice(..1);
        drop(first);
        assert_eq!(memory.lease(80).bytes(), 0, "somebody still has a part of it");
        drop(slice);
        assert_eq!(memory.lease(80).bytes(), 60);
        drop(second);
        assert_eq!(memory.lease(1_000).bytes(), 100);
    }
}
