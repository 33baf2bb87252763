//! [`FaultGuard`]: a fault, for as long as somebody holds it.

use std::fmt;

/// What ends a fault.
pub(crate) type Undo = Box<dyn FnOnce() + Send + Sync>;

/// A fault of an [`EmbeddedCluster`](crate::EmbeddedCluster), which ends when this is dropped.
///
/// Faults compose: of two black holes of one broker each has to end, two delays add up. A guard may outlive its cluster, and
/// keeps nothing of it.
#[must_use = "the fault ends when the guard is dropped: give it a name, or `keep` it"]
pub struct FaultGuard {
    what: String,
    undo: Vec<Undo>,
}

impl fmt::Debug for FaultGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FaultGuard").field(&self.what).finish()
    }
}

impl FaultGuard {
    pub(crate) fn new(what: String, undo: Vec<Undo>) -> Self {
        Self { what, undo }
    }

    /// Ends the fault, as dropping does, in a word.
    pub fn heal(self) {}

    /// Leaves the fault in place without a guard, until [`EmbeddedCluster::heal`](crate::EmbeddedCluster::heal) ends it.
    pub fn keep(mut self) {
        self.undo.clear();
    }
}

impl Drop for FaultGuard {
    fn drop(&mut self) {
        for undo in self.undo.drain(..) {
            undo();
        }
    }
}
