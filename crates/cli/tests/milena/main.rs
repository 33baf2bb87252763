//! The built `milena` command, as its users run it.

mod bad_input;
mod broker;
mod consume;
mod kcat;
mod produce;
mod support;
mod topics;
