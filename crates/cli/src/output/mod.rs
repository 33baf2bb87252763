//! How records are printed.

mod escape;
mod format;
mod json;
mod sink;
mod table;

pub(crate) use escape::unescape;
pub(crate) use format::Format;
pub(crate) use json::write_record as write_json;
pub(crate) use sink::Sink;
pub(crate) use table::{Align, count, size, table};

use milena_protocol::records::{Record, TimestampType};

/// A record that was consumed, with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Consumed<'a> {
    pub(crate) topic: &'a str,
    pub(crate) partition: i32,
    pub(crate) timestamp_type: TimestampType,
    pub(crate) record: &'a Record,
}
