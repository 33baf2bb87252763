//! Clients: the product's producer over the simulated network, and a consumer of the simulation's own.

mod consumer;
mod producer;
mod wire;
mod witness;

pub(crate) use consumer::consume;
pub(crate) use producer::produce;
