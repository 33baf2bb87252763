//! [`ControlFence`]: which requests of a controller a broker obeys.

use milena_protocol::ErrorCode;

use crate::registry::Registration;

/// What keeps a broker from obeying a controller that has been replaced, and what was meant for an earlier life of the
/// broker (KIP-380). The registry remembers both epochs across restarts, and tells them to each broker that registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlFence {
    controller_epoch: i32,
    broker_epoch: i64,
    /// Whether a controller has been heard that knows of this life, or of a later one.
    is_known: bool,
}

impl ControlFence {
    /// The fence of a broker that has just registered.
    #[must_use]
    pub fn new(registration: Registration) -> Self {
        let Registration { controller_epoch, broker_epoch } = registration;
        Self { controller_epoch, broker_epoch, is_known: false }
    }

    /// The broker has registered again.
    pub fn registered(&mut self, registration: Registration) {
        self.broker_epoch = self.broker_epoch.max(registration.broker_epoch);
        self.is_known = false;
        self.controller_epoch = self.controller_epoch.max(registration.controller_epoch);
    }

    /// This life of the broker.
    pub fn broker_epoch(&self) -> i64 {
        self.broker_epoch
    }

    /// Lets a request through, and remembers the epoch of its controller. Says whether the broker has to look which replicas
    /// it is to give up: when that controller is a new one, whose predecessor may have died before it told this broker; and
    /// when it is the first to be heard since the broker registered, because what the controller decided before it heard of
    /// that it told to others alone.
    ///
    /// A broker epoch above the broker's own is let through: the controller may hear of a registration before the broker
    /// does. −1 says nothing about it.
    ///
    /// # Errors
    /// STALE_BROKER_EPOCH and STALE_CONTROLLER_EPOCH; nothing has changed then.
    pub fn admit(&mut self, controller_epoch: i32, broker_epoch: i64) -> Result<bool, ErrorCode> {
        if broker_epoch != -1 && broker_epoch < self.broker_epoch {
            return Err(ErrorCode::STALE_BROKER_EPOCH);
        }
        if controller_epoch < self.controller_epoch {
            return Err(ErrorCode::STALE_CONTROLLER_EPOCH);
        }
        let is_new = controller_epoch > self.controller_epoch || !self.is_known;
        self.controller_epoch = controller_epoch;
        self.is_known = true;
        Ok(is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence() -> ControlFence {
        ControlFence::new(Registration { broker_epoch: 10, controller_epoch: 5 })
    }

    #[test]
    fn fencing_08_an_older_controller_is_refused_and_a_newer_one_remembered() {
        let mut fence = fence();
        let before = fence;
        assert_eq!(
            fence.admit(4, 10),
            Err(ErrorCode::STALE_CONTROLLER_EPOCH),
            "known from the registry alone"
        );
        assert_eq!(fence, before);
        assert_eq!(fence.admit(5, 10), Ok(true), "the first since the broker registered");
        assert_eq!(fence.admit(5, 10), Ok(false));
        assert_eq!(fence.admit(7, 10), Ok(true));
        assert_eq!(fence.admit(7, 10), Ok(false));
        assert_eq!(fence.admit(6, 10), Err(ErrorCode::STALE_CONTROLLER_EPOCH));
        fence.registered(Registration { broker_epoch: 11, controller_epoch: 6 });
        assert_eq!(fence.admit(6, 11), Err(ErrorCode::STALE_CONTROLLER_EPOCH));
        assert_eq!(
            fence.admit(7, 11),
            Ok(true),
            "it may have decided something before it knew of the new life"
        );
        assert_eq!(fence.admit(7, 11), Ok(false));
    }

    #[test]
    fn fencing_09_what_was_meant_for_an_earlier_life_is_refused() {
        let mut fence = fence();
        assert_eq!(fence.admit(5, 10), Ok(true));
        assert_eq!(fence.admit(9, 9), Err(ErrorCode::STALE_BROKER_EPOCH));
        assert_eq!(
            fence.admit(5, 10),
            Ok(false),
            "the refused request has not raised the controller's epoch"
        );
        assert_eq!(fence.admit(5, -1), Ok(false));
        assert_eq!(fence.admit(5, 11), Ok(false), "the controller has heard of a registration first");
        fence.registered(Registration { broker_epoch: 12, controller_epoch: 5 });
        assert_eq!(fence.admit(5, 11), Err(ErrorCode::STALE_BROKER_EPOCH));
    }
}
