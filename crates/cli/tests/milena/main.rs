//! The built `milena` command, as its users run it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod bad_input;
mod broker;
mod cluster;
mod consume;
mod incident;
mod kcat;
mod produce;
mod support;
mod topics;
