//! Pretended brokers: who can be reached, what they answer, and what they saw.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use bytes::Bytes;
use milena_core::{network::ConnectionId, time::Instant};
use milena_protocol::{
    ApiKey, Decoder, Message, Request, VersionRange, decode_request_head, encode_response,
};

use super::{FakeCluster, ms};

/// What happens to an attempt to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It succeeds after the latency.
    Accepts,
    /// It fails after the latency.
    Refuses,
    /// Nothing ever comes back, as from a host that is gone.
    Swallows,
}

/// A pretended broker at one address.
#[derive(Clone, Debug)]
pub struct Broker {
    pub id: i32,
    pub reach: Reach,
    /// True: established connections take bytes and answer nothing.
    pub silent: bool,
    /// Beside the latency, so long it takes to answer.
    pub delay: Duration,
    /// The versions of ApiVersions that it knows.
    pub api_versions: VersionRange,
    /// The newest versions that it speaks of other APIs; what is not here is spoken as this crate does.
    pub max_versions: BTreeMap<i16, i16>,
}

impl Broker {
    fn new(id: i32) -> Self {
        Self {
            id,
            reach: Reach::Accepts,
            silent: false,
            delay: Duration::ZERO,
            api_versions: ApiKey::ApiVersions.stable_versions(),
            max_versions: BTreeMap::new(),
        }
    }

    /// What it says that it speaks.
    pub fn versions(&self) -> Vec<(ApiKey, VersionRange)> {
        let range = |api: ApiKey| match self.max_versions.get(&(api as i16)) {
            Some(max) => VersionRange::new(api.stable_versions().min, *max),
            None => api.stable_versions(),
        };
        ApiKey::ALL.iter().map(|api| (*api, range(*api))).filter(|(_, range)| !range.is_empty()).collect()
    }
}

/// A request as a broker got it.
#[derive(Clone, Debug)]
pub struct PeerRequest {
    pub at: Instant,
    pub broker: i32,
    pub address: SocketAddr,
    pub connection: ConnectionId,
    pub api: ApiKey,
    pub version: i16,
    pub correlation_id: i32,
    pub client_id: Option<String>,
    pub body: Bytes,
}

impl PeerRequest {
    /// The request itself.
    pub fn decode<R: Request>(&self) -> R {
        assert_eq!(self.api, R::API_KEY);
        R::decode(&mut Decoder::new(self.body.clone()), self.version)
            .expect("the client encodes what can be decoded")
    }

    /// An answer to it.
    pub fn answer<M: Message>(&self, response: &M) -> Reply {
        self.answer_in(self.version, response)
    }

    /// An answer in another version than it was asked in.
    pub fn answer_in<M: Message>(&self, version: i16, response: &M) -> Reply {
        let frame =
            encode_response(self.api, version, self.correlation_id, response).expect("a valid answer");
        Reply::Bytes(frame.to_bytes().slice(4..))
    }
}

/// What a broker does with a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Answers with this frame (without length prefix).
    Bytes(Bytes),
    /// Does it, but later.
    After(Duration, Box<Reply>),
    /// Says nothing, for ever.
    Nothing,
    /// Ends the connection.
    Disconnect,
    /// What it does without a script.
    AsUsual,
}

type Script = Box<dyn FnMut(&PeerRequest, &mut FakeCluster) -> Reply>;

/// The network and all brokers.
pub struct Peer {
    pub cluster: FakeCluster,
    pub brokers: BTreeMap<SocketAddr, Broker>,
    /// One way there and back: between a request and its answer.
    pub latency: Duration,
    /// Names and their addresses; an error for a resolver that is down. A name that is missing does not exist.
    pub dns: BTreeMap<String, Result<Vec<IpAddr>, String>>,
    /// True: the resolver never answers.
    pub dns_silent: bool,
    /// Everything that was asked of anybody, in order, ApiVersions too.
    pub requests: Vec<PeerRequest>,
    pub connects: Vec<(Instant, SocketAddr)>,
    pub resolves: Vec<(Instant, String)>,
    pub closes: Vec<(Instant, SocketAddr)>,
    scripts: BTreeMap<i16, Script>,
    open: BTreeMap<ConnectionId, SocketAddr>,
    opening: BTreeSet<ConnectionId>,
}

impl Peer {
    /// Brokers 1 to `brokers`, named `b1`, … on port 9092, at 10.0.0.1, ….
    pub fn new(brokers: i32) -> Self {
        let mut peer = Self {
            cluster: FakeCluster::new(brokers),
            brokers: BTreeMap::new(),
            latency: ms(1),
            dns: BTreeMap::new(),
            dns_silent: false,
            requests: Vec::new(),
            connects: Vec::new(),
            resolves: Vec::new(),
            closes: Vec::new(),
            scripts: BTreeMap::new(),
            open: BTreeMap::new(),
            opening: BTreeSet::new(),
        };
        for id in 1..=brokers {
            peer.add_broker(id);
        }
        peer
    }

    /// The usual address of a broker.
    pub fn address(id: i32) -> SocketAddr {
        let last = u8::try_from(id).expect("few brokers");
        SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)), 9092)
    }

    /// Makes a broker reachable at its usual name and address. It is in the metadata only if the cluster names it.
    pub fn add_broker(&mut self, id: i32) {
        self.brokers.insert(Self::address(id), Broker::new(id));
        self.dns.insert(format!("b{id}"), Ok(vec![Self::address(id).ip()]));
    }

    /// Makes a broker reachable at another address, too.
    pub fn add_address(&mut self, id: i32, address: SocketAddr) -> &mut Broker {
        self.brokers.entry(address).or_insert_with(|| Broker::new(id))
    }

    /// The broker at its usual address.
    pub fn broker(&mut self, id: i32) -> &mut Broker {
        self.brokers.get_mut(&Self::address(id)).expect("a broker of this id")
    }

    /// From now on, what brokers do with requests of this API. The script may change the cluster as well.
    pub fn script(
        &mut self,
        api: ApiKey,
        script: impl FnMut(&PeerRequest, &mut FakeCluster) -> Reply + 'static,
    ) {
        self.scripts.insert(api as i16, Box::new(script));
    }

    /// The requests of an API so far.
    pub fn asked(&self, api: ApiKey) -> Vec<PeerRequest> {
        self.requests.iter().filter(|request| request.api == api).cloned().collect()
    }

    /// How many requests of an API came so far.
    pub fn count(&self, api: ApiKey) -> usize {
        self.requests.iter().filter(|request| request.api == api).count()
    }

    /// The times between the requests of an API.
    pub fn gaps(&self, api: ApiKey) -> Vec<Duration> {
        self.asked(api).windows(2).map(|pair| pair[1].at - pair[0].at).collect()
    }

    /// The times between attempts to connect.
    pub fn connect_gaps(&self) -> Vec<Duration> {
        self.connects.windows(2).map(|pair| pair[1].0 - pair[0].0).collect()
    }

    /// The times between questions for a host's addresses.
    pub fn resolve_gaps(&self) -> Vec<Duration> {
        self.resolves.windows(2).map(|pair| pair[1].0 - pair[0].0).collect()
    }

    /// How many sockets wait for a host that swallows everything.
    pub fn opening(&self) -> usize {
        self.opening.len()
    }

    /// The open connections of a broker, oldest first.
    pub fn connections_of(&self, broker: i32) -> Vec<ConnectionId> {
        let of = |address: &SocketAddr| self.brokers.get(address).is_some_and(|b| b.id == broker);
        self.open.iter().filter(|(_, address)| of(address)).map(|(connection, _)| *connection).collect()
    }

    /// What the peer saw, for a test that failed.
    pub fn story(&self) -> String {
        let mut lines: Vec<(Instant, String)> = Vec::new();
        lines.extend(self.resolves.iter().map(|(at, host)| (*at, format!("resolve {host}"))));
        lines.extend(self.connects.iter().map(|(at, address)| (*at, format!("connect {address}"))));
        lines.extend(self.closes.iter().map(|(at, address)| (*at, format!("close {address}"))));
        let request = |r: &PeerRequest| (r.at, format!("{} v{} to {}", r.api.name(), r.version, r.broker));
        lines.extend(self.requests.iter().map(request));
        lines.sort();
        lines.iter().fold(String::new(), |mut story, (at, line)| {
            let _ = writeln!(story, "  {at:?} {line}");
            story
        })
    }

    pub(super) fn is_open(&self, connection: ConnectionId) -> bool {
        self.open.contains_key(&connection)
    }

    pub(super) fn forget(&mut self, connection: ConnectionId) {
        self.open.remove(&connection);
    }

    pub(super) fn close(&mut self, connection: ConnectionId, now: Instant) {
        self.opening.remove(&connection);
        if let Some(address) = self.open.remove(&connection) {
            self.closes.push((now, address));
        }
    }

    /// After what time the resolver answers what; never, without a time.
    pub(super) fn resolve(
        &mut self,
        host: &str,
        port: u16,
        now: Instant,
    ) -> (Option<Duration>, Result<Vec<SocketAddr>, String>) {
        self.resolves.push((now, host.to_owned()));
        let literal = host.parse().map(|ip| Ok(vec![ip]));
        let found = literal.ok().or_else(|| self.dns.get(host).cloned());
        let found = found.unwrap_or_else(|| Err("no such host".to_owned()));
        let addresses = found.map(|ips| ips.into_iter().map(|ip| SocketAddr::new(ip, port)).collect());
        ((!self.dns_silent).then_some(Duration::ZERO), addresses)
    }

    pub(super) fn connect(&mut self, connection: ConnectionId, address: SocketAddr, now: Instant) -> Reach {
        self.connects.push((now, address));
        let reach = self.brokers.get(&address).map_or(Reach::Swallows, |broker| broker.reach);
        match reach {
            Reach::Accepts => drop(self.open.insert(connection, address)),
            Reach::Swallows => drop(self.opening.insert(connection)),
            Reach::Refuses => {}
        }
        reach
    }

    /// What comes back for a frame: a delay, and a frame or the end of the connection.
    pub(super) fn receive(
        &mut self,
        connection: ConnectionId,
        frame: &Bytes,
        now: Instant,
    ) -> Vec<(Duration, Option<Bytes>)> {
        let Some(&address) = self.open.get(&connection) else { return Vec::new() };
        let Some(broker) = self.brokers.get(&address).cloned() else { return Vec::new() };
        let request = read(frame.slice(4..), connection, address, broker.id, now);
        self.requests.push(request.clone());
        if broker.silent {
            return Vec::new();
        }
        let scripted = self.scripts.get_mut(&(request.api as i16));
        let mut reply = scripted.map_or(Reply::AsUsual, |script| script(&request, &mut self.cluster));
        let mut delay = broker.delay;
        loop {
            reply = match reply {
                Reply::After(more, then) => {
                    delay += more;
                    *then
                }
                Reply::AsUsual => self.cluster.answer(&request, &broker),
                Reply::Bytes(frame) => return vec![(delay, Some(frame))],
                Reply::Nothing => return Vec::new(),
                Reply::Disconnect => {
                    self.open.remove(&connection);
                    return vec![(delay, None)];
                }
            };
        }
    }
}

fn read(
    frame: Bytes,
    connection: ConnectionId,
    address: SocketAddr,
    broker: i32,
    at: Instant,
) -> PeerRequest {
    let mut decoder = Decoder::new(frame);
    let head = decode_request_head(&mut decoder).expect("the client sends valid headers");
    let body = decoder.raw(decoder.remaining(), "body").expect("what remains");
    PeerRequest {
        at,
        broker,
        address,
        connection,
        api: head.api().expect("the client sends known APIs"),
        version: head.api_version,
        correlation_id: head.correlation_id,
        client_id: head.client_id,
        body,
    }
}
