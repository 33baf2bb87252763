//! A real Apache Kafka 4.4.0 for tests, and other people's clients: Kafka's own command-line tools and kcat.
//!
//! [`RealKafka`] starts a cluster of N brokers (`KRaft`, each broker also a controller) on 127.0.0.1 without Docker: it needs Java 17 and
//! Maven, which brings the jars on first use. The functions of [`tools`] run against any bootstrap list, also the embedded broker's.
//!
//! Tests of one binary share a cluster, because a start costs several seconds:
//!
//! ```no_run
//! use milena_interop::{RealKafka, tools};
//!
//! # fn main() -> anyhow::Result<()> {
//! let Some(kafka) = RealKafka::shared_or_skip(1) else { return Ok(()) };
//! tools::create_topic(&kafka.bootstrap(), "lines", 3, 1)?;
//! tools::console_producer(&kafka.bootstrap(), "lines", "one\ntwo\n", &[])?;
//! assert_eq!(tools::console_consumer(&kafka.bootstrap(), "lines", 2, &[])?, "one\ntwo\n");
//! # Ok(())
//! # }
//! ```
//!
//! Where Java or Maven is missing, such a test says so and passes; with `MILENA_REQUIRE_KAFKA=1` it fails.

mod broker;
mod clients;
mod cluster;
mod jars;
mod milena;
mod process;
mod program;
pub mod tools;

pub use clients::Client;
pub use cluster::{Builder, RealKafka};
pub use milena::milena;
pub use process::Output;
pub use program::Program;

/// Whether a test that cannot run must fail instead of being skipped: `MILENA_REQUIRE_KAFKA=1`.
#[must_use]
pub fn required() -> bool {
    std::env::var("MILENA_REQUIRE_KAFKA").is_ok_and(|value| value == "1")
}

/// Says on stderr why a test is skipped.
///
/// # Panics
/// With `MILENA_REQUIRE_KAFKA=1`: the test fails.
#[allow(clippy::print_stderr, reason = "a skipped test has no other way to say why")]
pub fn skip(why: &str) {
    assert!(!required(), "MILENA_REQUIRE_KAFKA=1, but {why}");
    eprintln!("skipped: {why}");
}
