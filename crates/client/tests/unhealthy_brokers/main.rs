//! The host of a broker is gone, or only slow: what a program on the client sees of it. Order and outcomes, no speed: what
//! must not take long is made impossible otherwise, by timeouts of an hour, and what must be seldom is counted against the
//! time that really passed.
//!
//! `dead_hosts` has the numbered behaviours (docs/behaviours.md, unhealthy_35 to 39), `reach` what they are good for, a test
//! or more for each line:
//!
//! 1. The records of a dead broker's partitions wait until others lead and half a second more; those of the others as before:
//!    `reach_1_…`, `unhealthy_35_and_37_…`, `unhealthy_36_…`.
//! 2. A record without a key waits for nobody, but those in flight to the dead broker: `reach_2_…`, `unhealthy_38_…`.
//! 3. The first record is acknowledged with a dead host in the bootstrap list as without: `reach_3_…`, `unhealthy_39_…`.
//! 4. A broker that is merely slow costs at most four metadata requests a second; nothing is taken back from it while its
//!    epoch is the newest one, and nothing written twice: `reach_4_…`.
//! 5. Nothing is lost, twice or out of order: `reach_5_…`, and each of the others reads everything back.

mod dead_hosts;
mod observed;
mod reach;
mod support;
