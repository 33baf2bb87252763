//! The old producer and scripted brokers in virtual time: what system.md and the crate's documentation say of it, statement by
//! statement.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod incident;
mod refresh;
mod retry;
mod world;
