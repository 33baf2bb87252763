//! Starts real Kafka clusters for tests.
