//! [`Link`]: what a connection is.

/// What a connection is, seen from the end that looks for faults. One between brokers has two such ends, and the one that
/// has connected knows who both are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Link {
    Accepted { at: i32, from_clients: bool },
    Connected { from: i32, to: i32 },
}

impl Link {
    pub(super) fn owner(self) -> i32 {
        match self {
            Self::Accepted { at, .. } => at,
            Self::Connected { from, .. } => from,
        }
    }
}

/// Which way bytes go, seen from the same end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    In,
    Out,
}
