//! Which answers are tried again after.

use std::fmt;

use milena_protocol::{ErrorCode, Request};

use crate::network::Response;

/// What an answer means for the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the answer.
    Done,
    /// Try again after the backoff. With an error that says so ([`ErrorCode::is_invalid_metadata`], NOT_CONTROLLER), the
    /// metadata is refreshed first, and the broker may be another one.
    Retry(ErrorCode),
}

/// When a request is tried again, before its deadline.
pub struct RetryPolicy {
    classify: Box<dyn FnMut(&Response) -> Verdict + Send>,
    lost: bool,
}

impl RetryPolicy {
    /// The first answer or failure is the outcome.
    pub fn never() -> Self {
        Self { classify: Box::new(|_| Verdict::Done), lost: false }
    }

    /// Again after a lost connection or a spent request timeout; any answer is the outcome.
    pub fn lost() -> Self {
        Self { lost: true, ..Self::never() }
    }

    /// As [`lost`](Self::lost), and again after answers that the classifier says so of.
    pub fn classify(classify: impl FnMut(&Response) -> Verdict + Send + 'static) -> Self {
        Self { classify: Box::new(classify), lost: true }
    }

    /// As [`lost`](Self::lost), and again after answers to an `R` with an error code that is retriable or says that
    /// another broker is to be asked. An answer that cannot be decoded is the outcome: the caller will see that.
    pub fn errors_of<R: Request>(code_of: impl Fn(&R::Response) -> ErrorCode + Send + 'static) -> Self {
        Self::classify(move |response| match response.decode::<R>().map(|decoded| code_of(&decoded)) {
            Ok(code) if code.is_retriable() || code == ErrorCode::NOT_CONTROLLER => Verdict::Retry(code),
            _ => Verdict::Done,
        })
    }

    pub(super) fn judge(&mut self, response: &Response) -> Verdict {
        (self.classify)(response)
    }

    pub(super) fn retries_lost(&self) -> bool {
        self.lost
    }
}

impl fmt::Debug for RetryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryPolicy").field("lost", &self.lost).finish_non_exhaustive()
    }
}
