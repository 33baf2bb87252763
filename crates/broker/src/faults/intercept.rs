//! [`Intercept`]: single requests of an [`EmbeddedCluster`](crate::EmbeddedCluster) that fare otherwise than they would.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use milena_protocol::{
    ApiKey, Decoder, ErrorCode, Frame, Message, Request, decode_response_header, encode_response,
};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::error_answers::error_answer;
use super::make_answer::{Call, MakeAnswer, in_words, make_answer};
use super::network::FaultId;

/// The bytes in front of a frame that say how long it is.
const LENGTH_PREFIX: usize = 4;

/// Which requests are meant: of one API, be it a client that asks or another broker.
///
/// ```
/// use milena_broker::{Intercept, InterceptAction};
/// use milena_protocol::{ApiKey, ErrorCode};
///
/// let first_of_x = Intercept::on(ApiKey::Produce).client_id("x").broker(2).times(1);
/// let action = InterceptAction::error(ErrorCode::NOT_ENOUGH_REPLICAS);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Intercept {
    api: ApiKey,
    client_id: Option<String>,
    broker: Option<i32>,
    times: Option<u64>,
}

impl Intercept {
    /// All requests of this API, from everybody, to every broker.
    pub fn on(api: ApiKey) -> Self {
        Self { api, client_id: None, broker: None, times: None }
    }

    /// Only those whose `client.id` is this one. That of brokers is `milena-broker`.
    pub fn client_id(mut self, id: impl Into<String>) -> Self {
        self.client_id = Some(id.into());
        self
    }

    /// Only those to this broker.
    pub fn broker(mut self, id: i32) -> Self {
        self.broker = Some(id);
        self
    }

    /// Only the first so many, at least 1.
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// The one broker that it is for.
    pub(crate) fn on_broker(&self) -> Option<i32> {
        self.broker
    }

    fn matches(&self, broker: i32, api: ApiKey, client_id: Option<&str>) -> bool {
        self.api == api
            && self.broker.is_none_or(|id| id == broker)
            && self.client_id.as_deref().is_none_or(|id| Some(id) == client_id)
            && self.times != Some(0)
    }
}

/// What becomes of an intercepted request.
#[derive(Debug, Clone)]
pub struct InterceptAction(Action);

#[derive(Clone)]
pub(crate) enum Action {
    /// Nobody handles it; the answer is this error, wherever the API has a place for one.
    Error(ErrorCode),
    Delay(Duration),
    LoseRequest,
    LoseAnswer,
    Disconnect,
    /// Nobody handles it; the answer is made from the request.
    Answer(ApiKey, MakeAnswer),
    /// It is handled, and the answer changed.
    Change(ApiKey, ChangeAnswer),
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(code) => write!(f, "answer {code}"),
            Self::Delay(by) => write!(f, "delay by {by:?}"),
            Self::LoseRequest => f.write_str("lose the request"),
            Self::LoseAnswer => f.write_str("lose the answer"),
            Self::Disconnect => f.write_str("disconnect"),
            Self::Answer(..) => f.write_str("answer otherwise"),
            Self::Change(..) => f.write_str("change the answer"),
        }
    }
}

pub(crate) type ChangeAnswer = Arc<dyn Fn(&Frame, Call) -> Result<Frame, String> + Send + Sync>;

impl InterceptAction {
    /// The request is not handled, and answered with this error: for the whole of it, or for each topic, partition or group
    /// that it names, as the API has it.
    #[must_use]
    pub fn error(code: ErrorCode) -> Self {
        Self(Action::Error(code))
    }

    /// The request is handled so much later, and so are those behind it on its connection.
    #[must_use]
    pub fn delay(by: Duration) -> Self {
        Self(Action::Delay(by))
    }

    /// The request is not handled and never answered. Answers are in order, so its connection answers nothing any more.
    #[must_use]
    pub fn lose_request() -> Self {
        Self(Action::LoseRequest)
    }

    /// The request is handled, and never answered, as in [`lose_request`](Self::lose_request).
    #[must_use]
    pub fn lose_answer() -> Self {
        Self(Action::LoseAnswer)
    }

    /// The connection is closed instead of handling the request.
    #[must_use]
    pub fn disconnect() -> Self {
        Self(Action::Disconnect)
    }

    /// The request is not handled; `answer` makes the answer. A produce request with acks=0 gets none.
    #[must_use]
    pub fn answer<R: Request>(answer: impl Fn(&R) -> R::Response + Send + Sync + 'static) -> Self {
        Self(Action::Answer(R::API_KEY, make_answer(answer)))
    }

    /// The request is handled, and `change` has its way with the answer.
    #[must_use]
    pub fn change<R: Request>(change: impl Fn(&mut R::Response) + Send + Sync + 'static) -> Self {
        let change: ChangeAnswer = Arc::new(move |frame, call| {
            let mut decoder = Decoder::new(frame.to_bytes().slice(LENGTH_PREFIX..));
            decode_response_header(&mut decoder, R::API_KEY, call.version).map_err(in_words)?;
            let mut response = R::Response::decode(&mut decoder, call.version).map_err(in_words)?;
            change(&mut response);
            encode_response(R::API_KEY, call.version, call.correlation_id, &response).map_err(in_words)
        });
        Self(Action::Change(R::API_KEY, change))
    }

    /// The API that the action is made for; None for all.
    fn api(&self) -> Option<ApiKey> {
        match self.0 {
            Action::Answer(api, _) | Action::Change(api, _) => Some(api),
            _ => None,
        }
    }
}

/// Why requests cannot be intercepted like that.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadIntercept {
    #[error("the action is for {action} requests, and the intercepted ones are {api}")]
    OtherApi { action: &'static str, api: &'static str },
    #[error(
        "no error can be answered to {0} requests: delay or lose them, or disconnect; a program may make the whole answer, with \
         InterceptAction::answer"
    )]
    NoError(&'static str),
    #[error("an intercept of the first 0 requests would do nothing: give it 1 or more")]
    NoTimes,
}

/// The intercepts of a cluster.
#[derive(Debug, Default)]
pub(crate) struct Intercepts {
    any: AtomicBool,
    state: Mutex<(FaultId, BTreeMap<FaultId, Entry>)>,
}

#[derive(Debug)]
struct Entry {
    intercept: Intercept,
    /// In words.
    what: String,
    action: Action,
    /// Closed when the entry goes.
    ended: watch::Sender<()>,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) struct Intercepted {
    pub(crate) action: Action,
    ended: watch::Receiver<()>,
}

impl Intercepted {
    /// Waits until the intercept has been taken back.
    pub(crate) async fn taken_back(&mut self) {
        while self.ended.changed().await.is_ok() {}
    }
}

impl Intercepts {
    pub(crate) fn begin(
        &self,
        intercept: Intercept,
        action: InterceptAction,
    ) -> Result<FaultId, BadIntercept> {
        let api = intercept.api;
        if let Some(other) = action.api().filter(|other| *other != api) {
            return Err(BadIntercept::OtherApi { action: other.name(), api: api.name() });
        }
        if intercept.times == Some(0) {
            return Err(BadIntercept::NoTimes);
        }
        let what = format!("intercepts {}: {:?}", api.name(), action.0);
        let action = match action.0 {
            Action::Error(code) => {
                let answer = error_answer(api, code).ok_or(BadIntercept::NoError(api.name()))?;
                Action::Answer(api, answer)
            }
            other => other,
        };
        let (last, entries) = &mut *self.state.lock();
        *last += 1;
        entries.insert(*last, Entry { intercept, what, action, ended: watch::Sender::new(()) });
        self.any.store(true, Ordering::Release);
        Ok(*last)
    }

    pub(crate) fn end(&self, id: FaultId) {
        self.retain(|entry, _| entry != id);
    }

    /// Ends those that are for one broker alone, or all.
    pub(crate) fn heal(&self, broker: Option<i32>) {
        self.retain(|_, intercept| broker.is_some() && intercept.broker != broker);
    }

    pub(crate) fn describe(&self, broker: i32) -> Vec<String> {
        let (_, entries) = &*self.state.lock();
        let mine = entries.values().filter(|entry| entry.intercept.broker.is_none_or(|id| id == broker));
        let words = |Entry { what, intercept, .. }: &Entry| match intercept.times {
            None => Some(what.clone()),
            // It does nothing any more.
            Some(0) => None,
            Some(left) => Some(format!("{what} ({left} more)")),
        };
        mine.filter_map(words).collect()
    }

    #[cfg(test)]
    pub(crate) fn are_used_up(&self) -> bool {
        self.state.lock().1.values().all(|entry| entry.intercept.times == Some(0))
    }

    fn retain(&self, keep: impl Fn(FaultId, &Intercept) -> bool) {
        let (_, entries) = &mut *self.state.lock();
        entries.retain(|id, entry| keep(*id, &entry.intercept));
        self.any.store(!entries.is_empty(), Ordering::Release);
    }

    /// What the oldest intercept that means a request does to it.
    pub(crate) fn intercept(&self, broker: i32, api: ApiKey, client_id: Option<&str>) -> Option<Intercepted> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let (_, entries) = &mut *self.state.lock();
        let entry = entries.values_mut().find(|entry| entry.intercept.matches(broker, api, client_id))?;
        entry.intercept.times = entry.intercept.times.map(|times| times - 1);
        Some(Intercepted { action: entry.action.clone(), ended: entry.ended.subscribe() })
    }
}
