//! What is logged. One test alone in its process: subscribers and the threads of other tests do not mix.

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use support::{Client, Peer, config, ms};

/// Counts warnings.
struct Warnings(Arc<AtomicUsize>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn field_02_a_topic_that_does_not_exist_is_logged_once_in_ten_seconds() {
    let warnings = Arc::new(AtomicUsize::new(0));
    tracing::subscriber::with_default(Warnings(Arc::clone(&warnings)), || {
        let mut client = Client::connected(Peer::new(3), &config(3));
        assert!(client.wait("nowhere", None, ms(9_900)).0.is_err());
        assert_eq!(warnings.load(Ordering::Relaxed), 1);
        assert!(client.wait("nowhere", None, ms(9_900)).0.is_err());
        assert_eq!(warnings.load(Ordering::Relaxed), 2);
    });
}
