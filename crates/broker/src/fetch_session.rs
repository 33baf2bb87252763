//! [`FetchSessionCache`]: what clients fetch again and again, so that they need not say it each time (KIP-227).
//!
//! A request of a session names the partitions that have changed since the last one; its answer names those that have news.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use foldhash::HashMap;
use milena_protocol::messages::fetch_response::PartitionData;
use milena_protocol::messages::{
    FetchPartition, FetchRequest, FetchResponse, FetchTopic, FetchableTopicResponse,
};
use milena_protocol::{ErrorCode, Uuid};

/// `max.incremental.fetch.session.cache.slots`.
const MAX_SESSIONS: usize = 1_000;
/// `FetchSessionCache`'s minimum time without use before another session may take the place.
const MIN_EVICTION: Duration = Duration::from_mins(2);
/// The session id of those that have none.
const NO_SESSION: i32 = 0;
/// The epoch of a request that asks for a session.
const INITIAL_EPOCH: i32 = 0;
/// The epoch of a request that closes its session, or never had one.
const FINAL_EPOCH: i32 = -1;

/// How a request takes part in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionFetch {
    /// Zero for none.
    session_id: i32,
    /// Whether the answer leaves out what has not changed.
    incremental: bool,
}

/// The sessions of one broker. Bounded: a newcomer takes the place of a session that nobody has used for a while, or gets
/// none, which costs it bytes only.
#[derive(Debug, Default)]
pub(crate) struct FetchSessionCache {
    sessions: HashMap<i32, Session>,
}

#[derive(Debug)]
struct Session {
    next_epoch: i32,
    used_at: Duration,
    by_id: bool,
    partitions: BTreeMap<(Topic, i32), CachedPartition>,
    /// The order in which partitions are looked at: one that got records goes to the end.
    order: Vec<(Topic, i32)>,
}

/// A topic by name or, in newer versions, by id; the other one is empty.
type Topic = (String, Uuid);

#[derive(Debug)]
struct CachedPartition {
    asked: FetchPartition,
    /// High watermark, last stable offset and log start of the last answer; None when the next one has to be told.
    told: Option<(i64, i64, i64)>,
}

impl FetchSessionCache {
    /// Begins a request: afterwards `request` names all partitions that are to be looked at. `random_id` makes up an id.
    ///
    /// # Errors
    /// FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH, or FETCH_SESSION_TOPIC_ID_ERROR for a client that has
    /// changed to topic ids, or back, in the middle of a session. It starts a new one then.
    pub(crate) fn begin(
        &mut self,
        request: &mut FetchRequest,
        by_id: bool,
        now: Duration,
        mut random_id: impl FnMut() -> i32,
    ) -> Result<SessionFetch, ErrorCode> {
        let none = SessionFetch { session_id: NO_SESSION, incremental: false };
        match request.session_epoch {
            FINAL_EPOCH => {
                self.sessions.remove(&request.session_id);
                Ok(none)
            }
            INITIAL_EPOCH => {
                self.sessions.remove(&request.session_id);
                if request.topics.is_empty() || !self.make_room(now) {
                    return Ok(none);
                }
                let session_id = loop {
                    let id = random_id();
                    if id > 0 && !self.sessions.contains_key(&id) {
                        break id;
                    }
                };
                let mut session = Session {
                    next_epoch: 1,
                    used_at: now,
                    by_id,
                    partitions: BTreeMap::new(),
                    order: Vec::new(),
                };
                session.change(request);
                self.sessions.insert(session_id, session);
                Ok(SessionFetch { session_id, incremental: false })
            }
            epoch => {
                let session_id = request.session_id;
                let session =
                    self.sessions.get_mut(&session_id).ok_or(ErrorCode::FETCH_SESSION_ID_NOT_FOUND)?;
                if session.next_epoch != epoch {
                    return Err(ErrorCode::INVALID_FETCH_SESSION_EPOCH);
                }
                if session.by_id != by_id {
                    return Err(ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR);
                }
                session.next_epoch = if epoch == i32::MAX { 1 } else { epoch + 1 };
                session.used_at = now;
                session.change(request);
                request.topics = session.topics();
                Ok(SessionFetch { session_id, incremental: true })
            }
        }
    }

    /// Ends a request: leaves out of an incremental answer what is no news.
    pub(crate) fn finish(&mut self, fetch: &SessionFetch, response: &mut FetchResponse) {
        response.session_id = fetch.session_id;
        let Some(session) = self.sessions.get_mut(&fetch.session_id) else { return };
        session.answered(response, fetch.incremental);
    }

    /// Whether there is a place for one more session.
    fn make_room(&mut self, now: Duration) -> bool {
        if self.sessions.len() < MAX_SESSIONS {
            return true;
        }
        let oldest = self.sessions.iter().min_by_key(|(id, session)| (session.used_at, **id));
        let evicted = oldest
            .filter(|(_, session)| now.saturating_sub(session.used_at) > MIN_EVICTION)
            .map(|(id, _)| *id);
        evicted.is_some_and(|id| self.sessions.remove(&id).is_some())
    }
}

impl Session {
    /// Takes over what a request says about partitions.
    fn change(&mut self, request: &FetchRequest) {
        let before = self.partitions.len();
        for forgotten in &request.forgotten_topics_data {
            for partition in &forgotten.partitions {
                self.partitions.remove(&((forgotten.topic.clone(), forgotten.topic_id), *partition));
            }
        }
        if self.partitions.len() < before {
            self.order.retain(|key| self.partitions.contains_key(key));
        }
        for topic in &request.topics {
            for asked in &topic.partitions {
                let key = ((topic.topic.clone(), topic.topic_id), asked.partition);
                match self.partitions.get_mut(&key) {
                    Some(known) => known.asked = asked.clone(),
                    None => {
                        self.order.push(key.clone());
                        self.partitions.insert(key, CachedPartition { asked: asked.clone(), told: None });
                    }
                }
            }
        }
    }

    /// All partitions, in the order in which they are to be looked at.
    fn topics(&self) -> Vec<FetchTopic> {
        let mut topics: Vec<FetchTopic> = Vec::new();
        for key in &self.order {
            let Some(cached) = self.partitions.get(key) else { continue };
            let ((topic, topic_id), _) = key;
            let same = |last: &&mut FetchTopic| last.topic == *topic && last.topic_id == *topic_id;
            match topics.last_mut().filter(same) {
                Some(last) => last.partitions.push(cached.asked.clone()),
                None => topics.push(FetchTopic {
                    topic: topic.clone(),
                    topic_id: *topic_id,
                    partitions: vec![cached.asked.clone()],
                }),
            }
        }
        topics
    }

    fn answered(&mut self, response: &mut FetchResponse, incremental: bool) {
        let mut got_records = Vec::new();
        for topic in &mut response.responses {
            let FetchableTopicResponse { topic, topic_id, partitions } = topic;
            partitions.retain(|data| {
                let key = ((topic.clone(), *topic_id), data.partition_index);
                let Some(cached) = self.partitions.get_mut(&key) else { return true };
                let news = cached.answered(data);
                if data.records.as_ref().is_some_and(|records| !records.is_empty()) {
                    got_records.push(key);
                }
                news || !incremental
            });
        }
        response.responses.retain(|topic| !topic.partitions.is_empty());
        if !got_records.is_empty() {
            let go_to_the_end: BTreeSet<_> = got_records.iter().collect();
            self.order.retain(|key| !go_to_the_end.contains(key));
            self.order.extend(got_records);
        }
    }
}

impl CachedPartition {
    /// Whether an answer has news for the client, who is taken to hear of it (`CachedPartition.maybeUpdateResponseData`).
    fn answered(&mut self, data: &PartitionData) -> bool {
        let current = (data.high_watermark, data.last_stable_offset, data.log_start_offset);
        let records = data.records.as_ref().is_some_and(|records| !records.is_empty());
        let failed = !data.error_code.is_ok() || data.diverging_epoch.end_offset >= 0;
        let redirected = data.preferred_read_replica >= 0;
        let news = records || failed || redirected || self.told != Some(current);
        // What failed is told again, however often it is the same.
        self.told = (!failed).then_some(current);
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use milena_protocol::messages::fetch_request::ForgottenTopic;

    fn topic(partitions: &[i32]) -> FetchTopic {
        let asked = |partition: &i32| FetchPartition { partition: *partition, ..Default::default() };
        let partitions = partitions.iter().map(asked).collect();
        FetchTopic { topic: "t".to_owned(), partitions, ..Default::default() }
    }

    fn request(session_id: i32, session_epoch: i32, partitions: &[i32]) -> FetchRequest {
        let topics = if partitions.is_empty() { Vec::new() } else { vec![topic(partitions)] };
        FetchRequest { session_id, session_epoch, topics, ..Default::default() }
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn looked_at(request: &FetchRequest) -> Vec<i32> {
        request.topics.iter().flat_map(|topic| &topic.partitions).map(|asked| asked.partition).collect()
    }

    fn response(partitions: Vec<PartitionData>) -> FetchResponse {
        let topic = FetchableTopicResponse { topic: "t".to_owned(), partitions, ..Default::default() };
        FetchResponse { responses: vec![topic], ..Default::default() }
    }

    fn data(partition_index: i32, high_watermark: i64, records: &'static [u8]) -> PartitionData {
        let records = Some(Bytes::from_static(records));
        PartitionData {
            partition_index,
            high_watermark,
            preferred_read_replica: -1,
            records,
            ..Default::default()
        }
    }

    fn answered(response: &FetchResponse) -> Vec<i32> {
        response.responses.iter().flat_map(|t| &t.partitions).map(|data| data.partition_index).collect()
    }

    #[test]
    fn a_session_remembers_what_is_fetched_and_tells_only_news() {
        let mut cache = FetchSessionCache::default();
        let mut first = request(0, 0, &[0, 1, 2]);
        let session = cache.begin(&mut first, false, at(0), || 77).unwrap();
        let mut full = response(vec![data(0, 5, b""), data(1, 5, b""), data(2, 5, b"")]);
        cache.finish(&session, &mut full);
        assert_eq!((full.session_id, answered(&full)), (77, vec![0, 1, 2]));

        let mut second = request(77, 1, &[]);
        let session = cache.begin(&mut second, false, at(1), || 0).unwrap();
        assert_eq!(looked_at(&second), [0, 1, 2]);
        let failed = PartitionData { error_code: ErrorCode::NOT_LEADER_OR_FOLLOWER, ..data(1, -1, b"") };
        let mut news = response(vec![data(0, 6, b"abc"), failed.clone(), data(2, 5, b"")]);
        cache.finish(&session, &mut news);
        assert_eq!(answered(&news), [0, 1]);

        // 0 got records and comes last; 1 is still an error; the high watermark of 2 has moved.
        let mut third = request(77, 2, &[]);
        let session = cache.begin(&mut third, false, at(2), || 0).unwrap();
        assert_eq!(looked_at(&third), [1, 2, 0]);
        let mut news = response(vec![failed, data(2, 6, b""), data(0, 6, b"")]);
        cache.finish(&session, &mut news);
        assert_eq!(answered(&news), [1, 2]);

        let mut fourth = request(77, 3, &[3]);
        fourth.forgotten_topics_data =
            vec![ForgottenTopic { topic: "t".to_owned(), partitions: vec![1, 9], ..Default::default() }];
        cache.begin(&mut fourth, false, at(3), || 0).unwrap();
        assert_eq!(looked_at(&fourth), [2, 0, 3]);
    }

    #[test]
    fn a_wrong_session_epoch_or_kind_of_topic_is_refused() {
        let mut cache = FetchSessionCache::default();
        let begin = |cache: &mut FetchSessionCache, id, epoch, by_id| {
            cache.begin(&mut request(id, epoch, &[0]), by_id, at(0), || 5)
        };
        begin(&mut cache, 0, 0, false).unwrap();
        assert_eq!(begin(&mut cache, 6, 1, false), Err(ErrorCode::FETCH_SESSION_ID_NOT_FOUND));
        assert_eq!(begin(&mut cache, 5, 2, false), Err(ErrorCode::INVALID_FETCH_SESSION_EPOCH));
        assert_eq!(begin(&mut cache, 5, 1, true), Err(ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR));
        // Closing it, which is a full fetch without a session.
        let closed = begin(&mut cache, 5, -1, false).unwrap();
        assert_eq!(closed, SessionFetch { session_id: 0, incremental: false });
        assert_eq!(begin(&mut cache, 5, 1, false), Err(ErrorCode::FETCH_SESSION_ID_NOT_FOUND));
    }

    #[test]
    fn sessions_are_bounded_and_only_idle_ones_give_their_place() {
        let mut cache = FetchSessionCache::default();
        let mut id = 0;
        let mut open = |cache: &mut FetchSessionCache, now| {
            id += 1;
            cache.begin(&mut request(0, 0, &[0]), false, now, || id).unwrap().session_id
        };
        for _ in 0..MAX_SESSIONS {
            assert_ne!(open(&mut cache, at(0)), 0);
        }
        assert_eq!(open(&mut cache, at(60)), 0);
        // All but the first one are idle for too long then.
        cache.begin(&mut request(1, 1, &[]), false, at(61), || 0).unwrap();
        assert_ne!(open(&mut cache, at(121)), 0);
        assert_eq!(cache.sessions.len(), MAX_SESSIONS);
        assert!(cache.sessions.contains_key(&1) && !cache.sessions.contains_key(&2));
    }
}
