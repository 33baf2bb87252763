//! The log line about a peer's fault. In a binary of its own: tests beside it would decide for the whole process
//! whether anybody listens.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::{Arc, Mutex};

use support::{Client, start};

#[test]
fn bad_input_33_one_line_in_the_log_names_the_peer() {
    let written = Arc::new(Mutex::new(Vec::new()));
    let subscriber = Lines(written.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // One thread runs everything, so a subscriber for this thread hears everything, and nothing of other tests.
    let address = tracing::subscriber::with_default(subscriber, || {
        runtime.block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let broker = start(dir.path()).await;
            let mut client = Client::to(&broker).await;
            let address = client.stream.local_addr().unwrap();
            client.send_raw(&(-3i32).to_be_bytes()).await;
            client.expect_closed().await;
            address.to_string()
        })
    });
    let written = written.lock().unwrap();
    let about: Vec<_> = written.iter().filter(|line: &&String| line.contains(&address)).collect();
    assert_eq!(about.len(), 1, "{written:?}");
    assert!(about[0].contains("-3"), "the reason is named: {about:?}");
}

/// Collects what is logged as a warning or worse.
struct Lines(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Lines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

struct Line(String);

impl tracing::field::Visit for Line {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}
