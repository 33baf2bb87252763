//! See the crate's README line in Cargo.toml; the tour comes with the code.
