//! The socket server with a handler that only echoes, in paused time where time matters.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse};
use milena_protocol::{ApiKey, Decoder, decode_request_head, encode_request, encode_response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{BoxFuture, CloseReason, Peer, Reply, RequestHandler, SocketServer};
use crate::client_memory::{ClientMemory, PATIENCE, STANDSTILL};
use crate::config::{ListenerConfig, SocketConfig};
use crate::faults::Host;
use crate::task_gate::TaskGate;

/// Answers each request with its correlation id: odd ones at once, even ones when `release` says so. −1 closes.
struct Echo {
    release: Arc<Notify>,
    answer_padding: usize,
    handled: Arc<AtomicUsize>,
}

impl RequestHandler for Echo {
    fn handle(&self, _peer: Arc<Peer>, frame: Bytes) -> BoxFuture<'_, Result<Reply, CloseReason>> {
        let head = decode_request_head(&mut Decoder::new(frame)).unwrap();
        let id = head.correlation_id;
        self.handled.fetch_add(1, Ordering::Relaxed);
        let api_keys = vec![Default::default(); self.answer_padding];
        let response = ApiVersionsResponse { api_keys, ..Default::default() };
        let answer = encode_response(ApiKey::ApiVersions, 0, id, &response).unwrap();
        let release = self.release.clone();
        Box::pin(async move {
            match id {
                -1 => Err(CloseReason("asked for".to_owned())),
                id if id % 2 == 1 => Ok(Reply::Now(Some(answer))),
                _ => Ok(Reply::Later(Box::pin(async move {
                    release.notified().await;
                    Ok(Some(answer))
                }))),
            }
        })
    }
}

struct Server {
    sockets: SocketServer,
    address: std::net::SocketAddr,
    release: Arc<Notify>,
    handled: Arc<AtomicUsize>,
}

async fn serve(config: SocketConfig, answer_padding: usize) -> Server {
    let listener = SocketServer::bind(&ListenerConfig::loopback(0), &Host::alone(1), true).await.unwrap();
    let address = listener.address;
    let release = Arc::new(Notify::new());
    let handled = Arc::new(AtomicUsize::new(0));
    let echo = Echo { release: release.clone(), answer_padding, handled: handled.clone() };
    let handler: Arc<dyn RequestHandler> = Arc::new(echo);
    let gate = TaskGate::new(tokio::runtime::Handle::current());
    Server {
        sockets: SocketServer::start(vec![listener], config, &handler, &gate),
        address,
        release,
        handled,
    }
}

fn request(id: i32) -> Bytes {
    encode_request(&ApiVersionsRequest::default(), 0, id, None).unwrap().to_bytes()
}

/// The correlation id of the next answer, or None at the end of the stream.
async fn answer(stream: &mut TcpStream) -> Option<i32> {
    let length = stream.read_i32().await.ok()?;
    let mut body = vec![0; length as usize];
    stream.read_exact(&mut body).await.ok()?;
    Some(i32::from_be_bytes(body[..4].try_into().unwrap()))
}

async fn is_closed(stream: &mut TcpStream) -> bool {
    !matches!(stream.read(&mut [0; 1]).await, Ok(1))
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_their_order() {
    let server = serve(SocketConfig::default(), 0).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let pipelined: Vec<u8> = [2, 3, 5, 4, 7].into_iter().flat_map(|id| request(id).to_vec()).collect();
    stream.write_all(&pipelined).await.unwrap();
    // 3 and 5 are ready long before 2, and wait for it.
    server.release.notify_one();
    assert_eq!(answer(&mut stream).await, Some(2));
    assert_eq!(answer(&mut stream).await, Some(3));
    assert_eq!(answer(&mut stream).await, Some(5));
    server.release.notify_one();
    assert_eq!(answer(&mut stream).await, Some(4));
    assert_eq!(answer(&mut stream).await, Some(7));
}

#[tokio::test]
async fn requests_that_were_sent_before_the_peer_closed_its_half_are_answered() {
    let server = serve(SocketConfig::default(), 0).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&[request(1), request(3)].concat()).await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(answer(&mut stream).await, Some(1));
    assert_eq!(answer(&mut stream).await, Some(3));
    assert_eq!(answer(&mut stream).await, None);
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_but_not_one_that_waits_for_an_answer() {
    let config = SocketConfig { connections_max_idle: Duration::from_secs(600), ..Default::default() };
    let server = serve(config, 0).await;
    let started = Instant::now();
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    assert!(is_closed(&mut idle).await);
    assert!(started.elapsed() >= Duration::from_secs(600));

    let mut waiting = TcpStream::connect(server.address).await.unwrap();
    waiting.write_all(&request(2)).await.unwrap();
    let early = tokio::time::timeout(Duration::from_secs(3_000), answer(&mut waiting)).await;
    assert!(early.is_err(), "still open, and not answered");
    server.release.notify_one();
    assert_eq!(answer(&mut waiting).await, Some(2));
    assert!(is_closed(&mut waiting).await, "now it is idle");
}

#[tokio::test(start_paused = true)]
async fn bad_input_34_a_request_that_never_ends_is_given_up() {
    let server = serve(SocketConfig::default(), 0).await;
    let mut slow = TcpStream::connect(server.address).await.unwrap();
    slow.write_all(&request(1)[..7]).await.unwrap();
    let started = Instant::now();
    assert!(is_closed(&mut slow).await);
    assert!(started.elapsed() >= Duration::from_secs(600));
}

#[tokio::test]
async fn bad_input_34_connections_are_bounded_in_number() {
    let server = serve(SocketConfig { max_connections: 2, ..Default::default() }, 0).await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    let mut second = TcpStream::connect(server.address).await.unwrap();
    for stream in [&mut first, &mut second] {
        stream.write_all(&request(1)).await.unwrap();
        assert_eq!(answer(stream).await, Some(1));
    }
    let mut third = TcpStream::connect(server.address).await.unwrap();
    assert!(is_closed(&mut third).await);

    // A place that is given back can be taken again, as soon as the broker has noticed.
    drop(first);
    loop {
        let mut next = TcpStream::connect(server.address).await.unwrap();
        if next.write_all(&request(1)).await.is_ok() && answer(&mut next).await == Some(1) {
            break;
        }
    }
}

#[tokio::test]
async fn bad_input_34_clients_take_no_place_of_another_listener() {
    let loopback = ListenerConfig::loopback(0);
    let clients = SocketServer::bind(&loopback, &Host::alone(1), true).await.unwrap();
    let brokers = SocketServer::bind(&loopback, &Host::alone(1), false).await.unwrap();
    let (for_clients, for_brokers) = (clients.address, brokers.address);
    let (release, handled) = (Arc::default(), Arc::default());
    let handler: Arc<dyn RequestHandler> = Arc::new(Echo { release, answer_padding: 0, handled });
    let gate = TaskGate::new(tokio::runtime::Handle::current());
    let config = SocketConfig { max_connections: 1, ..Default::default() };
    let _sockets = SocketServer::start(vec![clients, brokers], config, &handler, &gate);

    let mut client = TcpStream::connect(for_clients).await.unwrap();
    client.write_all(&request(1)).await.unwrap();
    assert_eq!(answer(&mut client).await, Some(1));
    let mut one_too_many = TcpStream::connect(for_clients).await.unwrap();
    assert!(is_closed(&mut one_too_many).await);
    let mut broker = TcpStream::connect(for_brokers).await.unwrap();
    broker.write_all(&request(3)).await.unwrap();
    assert_eq!(answer(&mut broker).await, Some(3));
}

#[tokio::test]
async fn bad_input_34_a_client_that_never_reads_is_stopped_and_then_closed() {
    let config = SocketConfig {
        write_timeout: Duration::from_millis(200),
        max_pipelined_bytes: 256 * 1024,
        ..Default::default()
    };
    // Each answer is some 200 KB, so a few of them fill the socket's buffers.
    let server = serve(config, 32_000).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    // The broker stops reading when its own bound is reached, and closes when nothing is taken for so long.
    let requests: Vec<u8> = (0..1_000).flat_map(|_| request(1).to_vec()).collect();
    let cut_off = async { while stream.write_all(&requests).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(20), cut_off).await.unwrap();
    let handled = server.handled.load(Ordering::Relaxed);
    assert!((1..200).contains(&handled), "{handled} answers of 200 KB for a client that does not read");
}

#[tokio::test]
async fn what_the_handler_cannot_bear_closes_the_connection() {
    let server = serve(SocketConfig::default(), 0).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&request(-1)).await.unwrap();
    assert!(is_closed(&mut stream).await);
}

#[tokio::test]
async fn a_shutdown_answers_what_was_read_and_a_drop_does_not() {
    let server = serve(SocketConfig::default(), 0).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&[request(1), request(2)].concat()).await.unwrap();
    assert_eq!(answer(&mut stream).await, Some(1));
    let stopping = tokio::spawn(server.sockets.shutdown(Duration::from_secs(20)));
    server.release.notify_one();
    assert_eq!(answer(&mut stream).await, Some(2));
    assert!(is_closed(&mut stream).await);
    stopping.await.unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());

    let server = serve(SocketConfig::default(), 0).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&[request(1), request(2)].concat()).await.unwrap();
    assert_eq!(answer(&mut stream).await, Some(1));
    drop(server);
    assert!(is_closed(&mut stream).await);
}

/// A request of 1 MB, as far as the server reads it: a frame that is answered as `id`.
fn large_request(id: i32) -> Vec<u8> {
    let small = request(id);
    let body = [&small[4..], &vec![0; 1_000_000][..]].concat();
    [&i32::try_from(body.len()).unwrap().to_be_bytes()[..], &body].concat()
}

#[tokio::test(start_paused = true)]
async fn bad_input_34_requests_that_arrive_share_a_bounded_memory() {
    // Room for one and a half of them.
    let config = SocketConfig { queued_max_request_bytes: 1_500_000, ..Default::default() };
    let server = serve(config, 0).await;
    let bytes = large_request(1);
    let (half, rest) = bytes.split_at(500_000);
    let connect = async || TcpStream::connect(server.address).await.unwrap();
    let mut first = connect().await;
    first.write_all(half).await.unwrap();
    // Nobody else wants the room: the request may take its time.
    tokio::time::sleep(Duration::from_secs(300)).await;

    let mut others = Vec::new();
    for _ in 0..3 {
        let mut other = connect().await;
        let sent = bytes.clone();
        others.push(tokio::spawn(async move {
            other.write_all(&sent).await.unwrap();
            answer(&mut other).await
        }));
    }
    let mut small = connect().await;
    small.write_all(&request(3)).await.unwrap();
    assert_eq!(answer(&mut small).await, Some(3), "small requests need no room");
    // It stands still. The others get the room one after the other.
    assert!(is_closed(&mut first).await);
    assert!(first.write_all(rest).await.is_err() || is_closed(&mut first).await);
    for other in others {
        assert_eq!(other.await.unwrap(), Some(1));
    }

    // One that is larger than all the room is let through alone.
    let config = SocketConfig { queued_max_request_bytes: 1_000, ..Default::default() };
    let server = serve(config, 0).await;
    let mut alone = TcpStream::connect(server.address).await.unwrap();
    alone.write_all(&[&bytes[..], &bytes].concat()).await.unwrap();
    assert_eq!((answer(&mut alone).await, answer(&mut alone).await), (Some(1), Some(1)));
}

/// The beginning of a request of so many bytes, of which the rest never comes.
async fn begin_request(server: &Server, bytes: i32) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_i32(bytes).await.unwrap();
    stream.write_all(&request(1)[4..]).await.unwrap();
    stream.write_all(&[0; 100_000]).await.unwrap();
    stream
}

#[tokio::test(start_paused = true)]
async fn bad_input_34_a_modest_request_hardly_waits_for_those_that_never_arrive() {
    const MB: i32 = 1_000_000;
    let config = SocketConfig { queued_max_request_bytes: 20_000_000, ..Default::default() };
    let server = serve(config, 0).await;
    let ask = async || {
        let started = Instant::now();
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(&large_request(1)).await.unwrap();
        (answer(&mut stream).await, started.elapsed())
    };
    let mut stopped = Vec::new();
    for _ in 0..10 {
        stopped.push(begin_request(&server, 7 * MB).await);
    }
    assert_eq!(ask().await, (Some(1), Duration::ZERO), "large ones have no room but their own");
    // They may stand still for as long as nobody needs their room. Now eight wait for the room of two.
    for stream in &mut stopped {
        assert!(is_closed(stream).await);
    }
    let alone = begin_request(&server, 14 * MB).await;
    // Those of its own size have all the rest, five of them, and more wait in front of it.
    let mut modest = Vec::new();
    for _ in 0..30 {
        modest.push(begin_request(&server, MB).await);
    }
    let (answer, waited) = ask().await;
    assert_eq!(answer, Some(1));
    assert!((PATIENCE..=PATIENCE + 7 * STANDSTILL).contains(&waited), "{waited:?}");
    // Its room is of no use to those who waited.
    assert_eq!(alone.try_read(&mut [0; 1]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

/// Answers each request in turn with 16 MB, or 1 KB if its id is odd, for which there has to be room.
struct Large {
    memory: Arc<ClientMemory>,
    large_ones: Arc<AtomicUsize>,
}

impl RequestHandler for Large {
    fn handle(&self, _peer: Arc<Peer>, frame: Bytes) -> BoxFuture<'_, Result<Reply, CloseReason>> {
        let id = decode_request_head(&mut Decoder::new(frame)).unwrap().correlation_id;
        let is_small = id % 2 == 1;
        let padding = if is_small { 1 << 10 } else { 16 << 20 };
        let (memory, large_ones) = (self.memory.clone(), self.large_ones.clone());
        Box::pin(async move {
            Ok(Reply::InTurn(Box::pin(async move {
                let room = memory.reserve(padding).await;
                large_ones.fetch_add(usize::from(!is_small), Ordering::Relaxed);
                // Each key is 6 bytes long.
                let api_keys = vec![Default::default(); padding / 6];
                let response = ApiVersionsResponse { api_keys, ..Default::default() };
                let answer = encode_response(ApiKey::ApiVersions, 0, id, &response).unwrap();
                Ok((answer, Some(room)))
            })))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn bad_input_34_who_takes_no_answers_makes_way_for_those_who_do() {
    let listener = SocketServer::bind(&ListenerConfig::loopback(0), &Host::alone(1), true).await.unwrap();
    let address = listener.address;
    let large_ones = Arc::new(AtomicUsize::new(0));
    // Less than one of the large answers.
    let handler: Arc<dyn RequestHandler> =
        Arc::new(Large { memory: ClientMemory::new(12 << 20), large_ones: large_ones.clone() });
    let gate = TaskGate::new(tokio::runtime::Handle::current());
    let _sockets = SocketServer::start(vec![listener], SocketConfig::default(), &handler, &gate);
    let ask = async |ids: &[i32]| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let requests: Vec<u8> = ids.iter().flat_map(|id| request(*id).to_vec()).collect();
        stream.write_all(&requests).await.unwrap();
        stream
    };
    let mut unread = ask(&[2, 4]).await;
    // It may take its time while it is in nobody's way.
    tokio::time::sleep(Duration::from_secs(20)).await;
    let mut others = Vec::new();
    for _ in 0..4 {
        others.push(ask(&[3, 2, 4]).await);
    }
    let started = Instant::now();
    let mut small = ask(&[5, 7]).await;
    assert_eq!((answer(&mut small).await, answer(&mut small).await), (Some(5), Some(7)));
    assert_eq!((started.elapsed(), large_ones.load(Ordering::Relaxed)), (Duration::ZERO, 1));

    let mut honest = ask(&[6, 8]).await;
    assert_eq!(answer(&mut honest).await, Some(6));
    let waited = started.elapsed();
    assert!((PATIENCE..=PATIENCE + 5 * STANDSTILL).contains(&waited), "{waited:?}");
    assert_eq!(answer(&mut honest).await, Some(8));
    assert_eq!(large_ones.load(Ordering::Relaxed), 7, "each of the others had one turn");
    assert_eq!(answer(&mut unread).await, None, "what was left of it is gone");
    for mut other in others {
        assert_eq!((answer(&mut other).await, answer(&mut other).await), (Some(3), None));
    }
}

#[tokio::test(start_paused = true)]
async fn bad_input_34_who_says_nothing_makes_room_for_those_who_may() {
    let config = SocketConfig { max_connections: 3, ..Default::default() };
    let patience = config.first_request_timeout;
    let server = serve(config, 0).await;
    let connect = async || TcpStream::connect(server.address).await.unwrap();
    let ask = async |stream: &mut TcpStream| {
        let sent = stream.write_all(&request(1)).await;
        if sent.is_err() { None } else { answer(stream).await }
    };
    let mut talks = connect().await;
    assert_eq!(ask(&mut talks).await, Some(1));
    let mut oldest = connect().await;
    oldest.write_all(&request(1)[..5]).await.unwrap();
    // Virtual time passes as soon as nothing moves, so every connection is let in before it does.
    let mut next = connect().await;
    tokio::time::sleep(patience / 2).await;
    let mut refused = connect().await;
    assert!(is_closed(&mut refused).await, "all are young enough");

    tokio::time::sleep(patience).await;
    let mut second = connect().await;
    assert_eq!(ask(&mut second).await, Some(1));
    assert!(is_closed(&mut oldest).await, "a part of a request is none");
    let mut third = connect().await;
    assert_eq!(ask(&mut third).await, Some(1));
    assert!(is_closed(&mut next).await);
    // Now all have spoken, and may be silent for as long as connections.max.idle.ms.
    tokio::time::sleep(10 * patience).await;
    let mut refused = connect().await;
    assert!(is_closed(&mut refused).await);
    for stream in [&mut talks, &mut second, &mut third] {
        assert_eq!(ask(stream).await, Some(1));
    }
}
