//! [`InterBrokerConnection`]: this broker as a client of another one.

use std::io;

use bytes::BytesMut;
use milena_protocol::{Decoder, FrameReader, Message, Request, decode_response_header, encode_request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::faults::Host;
use crate::simulation::{self, Stream};

/// The longest answer that is taken from another broker: more than `replica.fetch.response.max.bytes` with the one batch
/// that may exceed it.
const MAX_ANSWER: usize = 256 * 1024 * 1024;

/// A connection to another broker, for one request at a time. Whoever gives up on an answer drops the connection with it.
#[derive(Debug)]
pub(crate) struct InterBrokerConnection {
    stream: Box<dyn Stream>,
    received: BytesMut,
    frames: FrameReader,
    next_correlation_id: i32,
}

impl InterBrokerConnection {
    /// Connects `own` to the broker `id`.
    pub(crate) async fn connect(own: &Host, id: i32, host: &str, port: u16) -> io::Result<Self> {
        let stream = open(own, id, host, port).await?;
        let frames = FrameReader::new(MAX_ANSWER);
        Ok(Self { stream, received: BytesMut::new(), frames, next_correlation_id: 0 })
    }

    /// Sends a request and waits for its answer. After an error the connection is of no use.
    pub(crate) async fn call<R: Request>(&mut self, version: i16, request: &R) -> io::Result<R::Response> {
        let id = self.next_correlation_id;
        self.next_correlation_id = id.wrapping_add(1);
        let frame = encode_request(request, version, id, Some("milena-broker"))
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        for chunk in frame.chunks() {
            self.stream.write_all(chunk).await?;
        }
        let mut decoder = loop {
            match self.frames.next_frame(&mut self.received).map_err(invalid)? {
                Some(frame) => break Decoder::new(frame),
                None if self.stream.read_buf(&mut self.received).await? == 0 => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                None => {}
            }
        };
        let answered = decode_response_header(&mut decoder, R::API_KEY, version).map_err(invalid)?;
        if answered != id {
            return Err(invalid(format!("answer {answered} to request {id}")));
        }
        R::Response::decode(&mut decoder, version).map_err(invalid)
    }
}

async fn open(own: &Host, id: i32, host: &str, port: u16) -> io::Result<Box<dyn Stream>> {
    let simulated = simulation::world().map(|(world, from)| world.connect(from, host, port));
    if let Some(connected) = simulated {
        return connected.await;
    }
    let stream = own.connect(id, host, port).await?;
    stream.set_nodelay(true)?;
    Ok(Box::new(stream))
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
