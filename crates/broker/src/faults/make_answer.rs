//! [`MakeAnswer`]: an answer that is made from the request alone, with nobody to handle it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use milena_protocol::messages::ProduceRequest;
use milena_protocol::{Decoder, Frame, Request, encode_response};

/// What an answer has to have in common with its request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) version: i16,
    pub(crate) correlation_id: i32,
}

/// From the body of a request to its answer; None where the client wants none.
pub(crate) type MakeAnswer = Arc<dyn Fn(&mut Decoder, Call) -> Result<Option<Frame>, String> + Send + Sync>;

pub(super) fn make_answer<R: Request>(
    answer: impl Fn(&R) -> R::Response + Send + Sync + 'static,
) -> MakeAnswer {
    Arc::new(move |body, call| {
        let request = R::decode(body, call.version).map_err(in_words)?;
        let produce = (&request as &dyn Any).downcast_ref::<ProduceRequest>();
        if produce.is_some_and(|request| request.acks == 0) {
            return Ok(None);
        }
        encode_response(R::API_KEY, call.version, call.correlation_id, &answer(&request))
            .map(Some)
            .map_err(in_words)
    })
}

pub(super) fn in_words(error: impl fmt::Display) -> String {
    error.to_string()
}
