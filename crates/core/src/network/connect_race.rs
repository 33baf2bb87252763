//! [`ConnectRace`]: the addresses of one host race for its connection (RFC 8305).
//!
//! Kafka's clients try one address after the other, each for up to socket.connection.setup.timeout.ms, which grows to 30 s. Here
//! the next address joins the race while the others go on; and when all of them are silent one is tried anew every second.

use std::{collections::VecDeque, net::SocketAddr, time::Duration};

use super::ConnectionId;
use crate::time::Instant;

/// The most addresses of one host that are tried; a resolver that answers more is not believed.
const ADDRESSES_MAX: usize = 64;

/// While an address neither answers nor refuses, the next one of the host is tried beside it after so long (RFC 8305).
const ADDRESS_STAGGER: Duration = Duration::from_millis(250);

/// While nothing comes from any address, one of them is tried anew so often. What the kernel sent to a host that was gone is
/// lost, and it repeats it at growing intervals: a host that comes back would be found late.
const ANEW_INTERVAL: Duration = Duration::from_secs(1);

/// What is being opened to one host.
#[derive(Debug, Default)]
pub(super) struct ConnectRace {
    /// Addresses that the last resolution gave and that are still untried.
    untried: VecDeque<SocketAddr>,
    /// Those that were tried, the one whose turn it is to be tried anew first.
    tried: VecDeque<SocketAddr>,
    /// Sockets that may still open, in the order in which they were begun.
    attempts: Vec<(ConnectionId, SocketAddr)>,
    /// The one of them that tries an address anew; the next such one replaces it.
    anew: Option<ConnectionId>,
    /// When the next attempt joins.
    next_at: Option<Instant>,
}

impl ConnectRace {
    /// Takes the resolver's addresses; `last` is tried last.
    pub(super) fn resolved(&mut self, addresses: Vec<SocketAddr>, last: Option<SocketAddr>) {
        self.tried.clear();
        self.untried = addresses.into_iter().take(ADDRESSES_MAX).collect();
        if let Some(at) = last.and_then(|last| self.untried.iter().position(|address| *address == last)) {
            let last = self.untried.remove(at);
            self.untried.extend(last);
        }
    }

    /// True when an address is left that was not tried.
    pub(super) fn has_untried(&self) -> bool {
        !self.untried.is_empty()
    }

    /// True when no socket is being opened.
    pub(super) fn is_empty(&self) -> bool {
        self.attempts.is_empty()
    }

    /// When [`next`](Self::next) or, if all were tried, [`next_anew`](Self::next_anew) is due.
    pub(super) fn next_at(&self) -> Instant {
        self.next_at.unwrap_or(Instant::FAR_FUTURE)
    }

    /// The next untried address.
    pub(super) fn next(&mut self, now: Instant) -> Option<SocketAddr> {
        let address = self.untried.pop_front()?;
        self.tried.push_back(address);
        self.next_at = Some(now + if self.untried.is_empty() { ANEW_INTERVAL } else { ADDRESS_STAGGER });
        Some(address)
    }

    /// The address to try anew, and the socket that did so before, which is to be closed.
    pub(super) fn next_anew(&mut self, now: Instant) -> Option<(SocketAddr, Option<ConnectionId>)> {
        let before = self.anew.take();
        self.attempts.retain(|(connection, _)| Some(*connection) != before);
        let address = self.tried.pop_front()?;
        self.tried.push_back(address);
        self.next_at = Some(now + ANEW_INTERVAL);
        Some((address, before))
    }

    /// The socket to an address that [`next`](Self::next) gave.
    pub(super) fn began(&mut self, connection: ConnectionId, address: SocketAddr) {
        self.attempts.push((connection, address));
    }

    /// The socket to an address that [`next_anew`](Self::next_anew) gave.
    pub(super) fn began_anew(&mut self, connection: ConnectionId, address: SocketAddr) {
        self.began(connection, address);
        self.anew = Some(connection);
    }

    /// A socket is open: the race is over. Its address, and the other sockets, to be closed.
    pub(super) fn won(&mut self, winner: ConnectionId) -> (Option<SocketAddr>, Vec<ConnectionId>) {
        let address = self.attempts.iter().find(|(connection, _)| *connection == winner);
        let address = address.map(|(_, address)| *address);
        self.attempts.retain(|(connection, _)| *connection != winner);
        self.untried.clear();
        (address, self.end())
    }

    /// A socket did not open; true while another one still may, and it is not an untried address's turn.
    pub(super) fn lost(&mut self, loser: ConnectionId) -> bool {
        let was_last = self.attempts.last().is_some_and(|(connection, _)| *connection == loser);
        self.attempts.retain(|(connection, _)| *connection != loser);
        self.anew.take_if(|anew| *anew == loser);
        let is_next_due = was_last && self.has_untried();
        !is_next_due && !self.attempts.is_empty()
    }

    /// Gives up the socket that was begun last, which is to be closed.
    pub(super) fn give_up_last(&mut self) -> Option<ConnectionId> {
        self.attempts.pop().map(|(connection, _)| connection)
    }

    /// Ends the race; its sockets are to be closed. What is untried is for the next one.
    pub(super) fn end(&mut self) -> Vec<ConnectionId> {
        (self.next_at, self.anew) = (None, None);
        self.attempts.drain(..).map(|(connection, _)| connection).collect()
    }
}
