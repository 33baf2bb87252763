//! [`ControlFence`]: which requests of a controller a broker obeys.

use milena_protocol::ErrorCode;

use crate::registry::Registration;

/// Whose a control request is, whom it is meant for, and when it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlStamp {
    /// The epoch of the controller that sends it.
    pub controller_epoch: i32,
    /// The life of the broker that is meant; −1 for any.
    pub broker_epoch: i64,
    /// Grows with each request of one controller; −1 from one that does not count, as Kafka's own does not.
    pub sequence: i64,
}

/// What keeps a broker from obeying a controller that has been replaced, and what was meant for an earlier life of the
/// broker (KIP-380). The registry remembers both epochs across restarts, and tells them to each broker that registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlFence {
    controller_epoch: i32,
    broker_epoch: i64,
    /// Of the last request of the controller of that epoch.
    sequence: i64,
    /// Whether a controller has been heard that knows of this life, or of a later one.
    is_known: bool,
}

impl ControlFence {
    /// The fence of a broker that has just registered.
    #[must_use]
    pub fn new(registration: Registration) -> Self {
        let Registration { controller_epoch, broker_epoch } = registration;
        Self { controller_epoch, broker_epoch, sequence: -1, is_known: false }
    }

    /// The broker has registered again.
    pub fn registered(&mut self, registration: Registration) {
        self.broker_epoch = self.broker_epoch.max(registration.broker_epoch);
        self.is_known = false;
        self.hear(registration.controller_epoch);
    }

    /// Lets a request through, and remembers the epoch of its controller and its place in that one's order. Says whether the
    /// broker has to look which replicas it is to give up: when that controller is a new one, whose predecessor may have died
    /// before it told this broker; and when it is the first to be heard since the broker registered, because what the controller
    /// decided before it heard of that it told to others alone.
    ///
    /// A broker epoch above the broker's own is let through: the controller may hear of a registration before the broker
    /// does.
    ///
    /// A controller that gets no answer asks again on a new connection, and goes on when that is answered; what it asked first
    /// may still arrive, behind all that. A request that was let through once is let through again, as long as it is the last.
    ///
    /// # Errors
    /// STALE_BROKER_EPOCH, STALE_CONTROLLER_EPOCH, and INVALID_UPDATE_VERSION for a request that was overtaken by a later one
    /// of the same controller; nothing has changed then.
    pub fn admit(&mut self, stamp: ControlStamp) -> Result<bool, ErrorCode> {
        let ControlStamp { controller_epoch, broker_epoch, sequence } = stamp;
        if broker_epoch != -1 && broker_epoch < self.broker_epoch {
            return Err(ErrorCode::STALE_BROKER_EPOCH);
        }
        if controller_epoch < self.controller_epoch {
            return Err(ErrorCode::STALE_CONTROLLER_EPOCH);
        }
        let is_new = controller_epoch > self.controller_epoch || !self.is_known;
        if controller_epoch == self.controller_epoch && sequence != -1 && sequence < self.sequence {
            return Err(ErrorCode::INVALID_UPDATE_VERSION);
        }
        self.hear(controller_epoch);
        self.sequence = self.sequence.max(sequence);
        self.is_known = true;
        Ok(is_new)
    }

    /// Each controller counts for itself.
    fn hear(&mut self, controller_epoch: i32) {
        if controller_epoch > self.controller_epoch {
            self.controller_epoch = controller_epoch;
            self.sequence = -1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence() -> ControlFence {
        ControlFence::new(Registration { broker_epoch: 10, controller_epoch: 5 })
    }

    fn stamp(controller_epoch: i32, broker_epoch: i64) -> ControlStamp {
        ControlStamp { controller_epoch, broker_epoch, sequence: -1 }
    }

    #[test]
    fn fencing_08_an_older_controller_is_refused_and_a_newer_one_remembered() {
        let mut fence = fence();
        let before = fence;
        assert_eq!(
            fence.admit(stamp(4, 10)),
            Err(ErrorCode::STALE_CONTROLLER_EPOCH),
            "known from the registry alone"
        );
        assert_eq!(fence, before);
        assert_eq!(fence.admit(stamp(5, 10)), Ok(true), "the first since the broker registered");
        assert_eq!(fence.admit(stamp(5, 10)), Ok(false));
        assert_eq!(fence.admit(stamp(7, 10)), Ok(true));
        assert_eq!(fence.admit(stamp(7, 10)), Ok(false));
        assert_eq!(fence.admit(stamp(6, 10)), Err(ErrorCode::STALE_CONTROLLER_EPOCH));
        fence.registered(Registration { broker_epoch: 11, controller_epoch: 6 });
        assert_eq!(fence.admit(stamp(6, 11)), Err(ErrorCode::STALE_CONTROLLER_EPOCH));
        assert_eq!(
            fence.admit(stamp(7, 11)),
            Ok(true),
            "it may have decided something before it knew of the new life"
        );
        assert_eq!(fence.admit(stamp(7, 11)), Ok(false));
    }

    #[test]
    fn fencing_09_what_was_meant_for_an_earlier_life_is_refused() {
        let mut fence = fence();
        assert_eq!(fence.admit(stamp(5, 10)), Ok(true));
        assert_eq!(fence.admit(stamp(9, 9)), Err(ErrorCode::STALE_BROKER_EPOCH));
        assert_eq!(
            fence.admit(stamp(5, 10)),
            Ok(false),
            "the refused request has not raised the controller's epoch"
        );
        assert_eq!(fence.admit(stamp(5, -1)), Ok(false));
        assert_eq!(fence.admit(stamp(5, 11)), Ok(false), "the controller has heard of a registration first");
        fence.registered(Registration { broker_epoch: 12, controller_epoch: 5 });
        assert_eq!(fence.admit(stamp(5, 11)), Err(ErrorCode::STALE_BROKER_EPOCH));
    }

    #[test]
    fn fencing_08_what_was_overtaken_on_another_connection_is_refused() {
        let mut fence = fence();
        let of = |controller_epoch, sequence| ControlStamp { controller_epoch, broker_epoch: 10, sequence };
        assert_eq!(fence.admit(of(5, 3)), Ok(true));
        assert_eq!(fence.admit(of(5, 4)), Ok(false));
        let before = fence;
        assert_eq!(fence.admit(of(5, 3)), Err(ErrorCode::INVALID_UPDATE_VERSION));
        assert_eq!(fence, before);
        assert_eq!(fence.admit(of(5, 4)), Ok(false), "asked again, since the answer was lost");
        assert_eq!(fence.admit(of(5, -1)), Ok(false), "from one that does not count");
        assert_eq!(fence.admit(of(5, 3)), Err(ErrorCode::INVALID_UPDATE_VERSION), "which changes nothing");
        assert_eq!(fence.admit(of(6, 1)), Ok(true), "another controller begins anew");
        assert_eq!(fence.admit(of(5, 9)), Err(ErrorCode::STALE_CONTROLLER_EPOCH));
        fence.registered(Registration { broker_epoch: 11, controller_epoch: 6 });
        let again = ControlStamp { controller_epoch: 6, broker_epoch: 11, sequence: 0 };
        assert_eq!(fence.admit(again), Err(ErrorCode::INVALID_UPDATE_VERSION), "it is the same controller");
        fence.registered(Registration { broker_epoch: 12, controller_epoch: 7 });
        let newer = ControlStamp { controller_epoch: 7, broker_epoch: 12, sequence: 0 };
        assert_eq!(fence.admit(newer), Ok(true), "the registry told of another one");
    }
}
