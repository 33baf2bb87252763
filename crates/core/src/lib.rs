//! The pure core of Milena's Kafka client: state machines without a runtime, a clock or a socket.
//!
//! Three zones (ARCHITECTURE.md, "Three zones of the client"):
//!
//! 1. **Shared with callers' threads**: [`producer`]'s `RecordAccumulator` and `BufferPool`, and [`metadata`]'s view, an
//!    immutable snapshot swapped whole.
//! 2. **Owned by one driver**: `Metadata`, [`network`]'s `NetworkClient`, the `Sender` and `TransactionManager`. They take
//!    `now` as an argument and are tested in virtual time.
//! 3. **Sockets** are not here: an [`engine::Engine`] emits [`engine::Command`]s and is told [`engine::Event`]s.
//!
//! Start reading at [`engine`], then [`metadata`], [`network`], [`producer`]; [`admin`] is for all other requests.
#![forbid(unsafe_code)]

pub mod admin;
pub mod backoff;
pub mod cluster;
pub mod config;
pub mod engine;
pub mod metadata;
pub mod network;
pub mod producer;
pub mod record;
pub mod signal;
pub mod time;
