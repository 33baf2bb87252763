//! A whole cluster in virtual time: brokers, producers, consumers, and everything that goes wrong between them.
//!
//! The brokers are the product's, with their tasks, on a runtime whose clock is paused: [`milena_broker::simulation`] puts
//! the simulated network and disks under them. The producers are the product's engines. All that happens follows from a
//! seed, so that what was found once is found again: `sim --seed 17 --trace`.
//!
//! A tour:
//!
//! 1. [`run()`] plays one seed: it makes a [`plan`] and lets [`faults`] happen to it, as a [`scenario`] says, heals everything,
//!    and waits for calm.
//! 2. [`network`] is streams between places, [`host`] a machine with a broker, `client` the producers and consumers.
//! 3. [`history`] is what was seen from outside; [`checkers`] judge it, and share no code with what they judge. A topic that is
//!    deleted and created again is another topic: they tell them apart by their ids.
//! 4. [`trace`] is the story, for people.
//!
//! Not simulated: transactions, consumer groups, retention, compaction, and the sockets' own code.

#![forbid(unsafe_code)]

pub mod chance;
pub mod checkers;
mod client;
pub mod faults;
pub mod history;
pub mod host;
mod monitor;
pub mod network;
pub mod plan;
mod recreation;
mod run;
pub mod scenario;
pub mod sim;
mod tap;
pub mod trace;

pub use run::{Options, Report, count_panics, run};
