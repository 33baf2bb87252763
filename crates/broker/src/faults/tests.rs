//! Connections over a network whose faults come and go: bytes are late, and never lost, twice or out of order.

use std::io::IoSlice;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

const BYTES: usize = 6 * 1024 * 1024;

fn byte(index: usize) -> u8 {
    // A period that no buffer's size is a multiple of.
    u8::try_from(index % 251).unwrap()
}

async fn send(mut write: impl tokio::io::AsyncWrite + Unpin) {
    let all: Vec<u8> = (0..BYTES).map(byte).collect();
    let mut sent = 0;
    while sent < BYTES {
        let rest = &all[sent..];
        let (first, second) = rest.split_at(rest.len().min(10_000));
        let slices = [IoSlice::new(first), IoSlice::new(second)];
        sent += write.write_vectored(&slices).await.unwrap();
    }
}

async fn receive(mut read: impl tokio::io::AsyncRead + Unpin) {
    let mut received = 0;
    let mut space = vec![0; 30_000];
    while received < BYTES {
        let count = read.read(&mut space).await.unwrap();
        assert!(count > 0, "the end after {received} bytes");
        for (index, byte_read) in space[..count].iter().enumerate() {
            assert_eq!(*byte_read, byte(received + index), "at {}", received + index);
        }
        received += count;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_arrive_whole_and_in_order_whatever_the_network_does() {
    let network = Arc::new(Network::default());
    let host = |broker| Host { broker, network: network.clone() };
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut listener = host(2).bind("INTERNAL", anywhere, false).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let from = host(1);
    let (connected, accepted) = tokio::join!(from.connect(2, "127.0.0.1", port), listener.accept());
    let (mut connected, (mut accepted, _)) = (connected.unwrap(), accepted.unwrap());

    let both_ways = |stream: FaultyStream| async move {
        let mut stream = stream;
        let (read, write) = stream.split().unwrap();
        tokio::join!(send(write), receive(read));
        stream
    };
    // One byte first, so that both ends are in the middle of something.
    connected.write_all(&[1]).await.unwrap();
    assert_eq!(accepted.read_u8().await.unwrap(), 1);
    let one = tokio::spawn(both_ways(connected));
    let other = tokio::spawn(both_ways(accepted));
    let mut faults = (0..).map(|round: u64| match round % 6 {
        0 => NetFault::Delay(2, Duration::from_millis(3)),
        1 => NetFault::BlackHole(1),
        2 => NetFault::Throttle(1, Arc::new(Throttle::new(400_000_000))),
        3 => NetFault::OneWay { from: 1, to: 2 },
        4 => NetFault::Delay(1, Duration::from_millis(1)),
        _ => NetFault::OneWay { from: 2, to: 1 },
    });
    while !one.is_finished() || !other.is_finished() {
        let fault = network.begin(faults.next().unwrap());
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        network.end(fault);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }
    let (one, mut other) = (one.await.unwrap(), other.await.unwrap());
    drop(one);
    assert_eq!(other.read(&mut [0; 1]).await.unwrap(), 0, "more than was sent");
}

#[tokio::test]
async fn the_end_of_a_stream_is_as_late_as_its_bytes() {
    let network = Arc::new(Network::default());
    let host = Host { broker: 1, network: network.clone() };
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut listener = host.bind("PLAINTEXT", anywhere, true).await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (mut accepted, _) = listener.accept().await.unwrap();
    let hour = network.begin(NetFault::Delay(1, Duration::from_hours(1)));
    client.write_all(b"last words").await.unwrap();
    drop(client);
    let mut words = Vec::new();
    {
        let mut reading = std::pin::pin!(accepted.read_to_end(&mut words));
        let now = poll_fn(|context| Poll::Ready(reading.as_mut().poll(context).is_ready())).await;
        assert!(!now, "it was not late");
        network.end(hour);
        reading.await.unwrap();
    }
    assert_eq!(words, b"last words");
}

#[tokio::test]
async fn a_delay_without_end_ends_with_its_fault() {
    let network = Arc::new(Network::default());
    let host = |broker| Host { broker, network: network.clone() };
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut listener = host(2).bind("INTERNAL", anywhere, false).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let from = host(1);
    let (connected, accepted) = tokio::join!(from.connect(2, "127.0.0.1", port), listener.accept());
    let (mut connected, (mut accepted, _)) = (connected.unwrap(), accepted.unwrap());
    let fault = network.begin(NetFault::Delay(2, Duration::MAX));
    connected.write_all(&[1]).await.unwrap();
    let late = tokio::time::timeout(Duration::from_millis(100), accepted.read_u8()).await;
    assert!(late.is_err(), "{late:?}");
    network.end(fault);
    assert_eq!(accepted.read_u8().await.unwrap(), 1);
}
