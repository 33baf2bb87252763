//! The place where an answer arrives, for whatever runtime awaits it.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use parking_lot::Mutex;

use super::AdminError;
use crate::network::Response;

type Outcome = Result<Response, AdminError>;

#[derive(Debug)]
enum State {
    Waiting(Option<Waker>),
    Done(Option<Outcome>),
    /// Nobody waits any more.
    Abandoned,
}

/// The engine's end. Dropping it tells whoever waits that no answer will come.
#[derive(Debug)]
pub(super) struct Slot(Arc<Mutex<State>>);

impl Slot {
    pub(super) fn new() -> (Self, PendingResponse) {
        let state = Arc::new(Mutex::new(State::Waiting(None)));
        (Self(Arc::clone(&state)), PendingResponse(state))
    }

    pub(super) fn complete(&self, outcome: Outcome) {
        let mut state = self.0.lock();
        if let State::Waiting(waker) = &mut *state {
            let waker = waker.take();
            *state = State::Done(Some(outcome));
            drop(state);
            // Outside of the lock, as wakers may do anything.
            waker.into_iter().for_each(Waker::wake);
        }
    }

    pub(super) fn is_abandoned(&self) -> bool {
        matches!(*self.0.lock(), State::Abandoned)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.complete(Err(AdminError::Closed));
    }
}

/// An answer that will come. Dropping it gives the request up: it is not sent any more, or its answer is ignored.
#[derive(Debug)]
#[must_use = "a request whose answer nobody awaits is given up"]
pub struct PendingResponse(Arc<Mutex<State>>);

impl PendingResponse {
    /// The outcome, if it is there; to be taken once, here or by awaiting.
    pub fn try_take(&mut self) -> Option<Result<Response, AdminError>> {
        match &mut *self.0.lock() {
            State::Done(outcome) => outcome.take(),
            _ => None,
        }
    }
}

impl Future for PendingResponse {
    type Output = Result<Response, AdminError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self.0.lock() {
            State::Waiting(waker) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            State::Done(outcome) => Poll::Ready(outcome.take().unwrap_or(Err(AdminError::Closed))),
            State::Abandoned => Poll::Ready(Err(AdminError::Closed)),
        }
    }
}

impl Drop for PendingResponse {
    fn drop(&mut self) {
        *self.0.lock() = State::Abandoned;
    }
}
