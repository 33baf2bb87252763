//! [`SyncProducer`]: one request after the other to one broker (`kafka.producer.SyncProducer`).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::messages::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, ProduceRequest, ProduceResponse,
};
use milena_protocol::{Decoder, Message, Request, decode_response_header, encode_request};

use crate::blocking_channel::BlockingChannel;
use crate::{BrokerAddress, Machine, ProducerConfig, RequestError};

/// 0.8 did not ask what a broker speaks. These are the last versions without compact fields, which every broker from Kafka
/// 2.4 on has.
const METADATA_VERSION: i16 = 8;
const PRODUCE_VERSION: i16 = 8;

/// Speaks to one broker; connects when it has something to say, and blocks the caller until it has the answer.
#[derive(Debug)]
pub struct SyncProducer {
    channel: BlockingChannel,
    client_id: String,
}

impl SyncProducer {
    /// One for `broker`, which connects at the first request. `timeout` (request.timeout.ms) is the limit of the connect and
    /// of each read.
    pub fn new(
        broker: BrokerAddress,
        client_id: impl Into<String>,
        timeout: Duration,
        machine: Arc<dyn Machine>,
    ) -> Self {
        Self { channel: BlockingChannel::new(broker, timeout, machine), client_id: client_id.into() }
    }

    pub(crate) fn of(broker: BrokerAddress, config: &ProducerConfig, machine: &Arc<dyn Machine>) -> Self {
        Self::new(broker, &config.client_id, config.request_timeout, Arc::clone(machine))
    }

    /// Whom it speaks to.
    pub fn broker(&self) -> &BrokerAddress {
        self.channel.broker()
    }

    /// Asks for the metadata of these topics. As in the time of 0.8, brokers that may create them do.
    ///
    /// # Errors
    /// [`RequestError`], after at most twice the timeout.
    pub fn fetch_metadata(
        &mut self,
        topics: impl IntoIterator<Item = impl Into<String>>,
        correlation_id: i32,
    ) -> Result<MetadataResponse, RequestError> {
        let named = topics
            .into_iter()
            .map(|name| MetadataRequestTopic { name: Some(name.into()), ..Default::default() });
        let request = MetadataRequest {
            topics: Some(named.collect()),
            allow_auto_topic_creation: true,
            ..Default::default()
        };
        let frame = self.do_send(&request, METADATA_VERSION, correlation_id, true)?;
        self.decode::<MetadataRequest>(frame.unwrap_or_default(), METADATA_VERSION, correlation_id)
    }

    /// Sends a produce request. None without waiting if it asks for no acknowledgement.
    pub(crate) fn produce(
        &mut self,
        request: &ProduceRequest,
        correlation_id: i32,
    ) -> Result<Option<ProduceResponse>, RequestError> {
        let frame = self.do_send(request, PRODUCE_VERSION, correlation_id, request.acks != 0)?;
        let decode = |frame| self.decode::<ProduceRequest>(frame, PRODUCE_VERSION, correlation_id);
        frame.map(decode).transpose()
    }

    fn do_send<R: Request>(
        &mut self,
        request: &R,
        version: i16,
        correlation_id: i32,
        read_response: bool,
    ) -> Result<Option<Bytes>, RequestError> {
        let frame = encode_request(request, version, correlation_id, Some(&self.client_id))?;
        self.channel.connect().map_err(|error| RequestError::Connect {
            broker: self.broker().clone(),
            source: Arc::new(error),
        })?;
        let sent = self.channel.send(&frame);
        let answered =
            sent.and_then(|()| if read_response { self.channel.receive().map(Some) } else { Ok(None) });
        answered.map_err(|error| {
            // No way to tell whether it arrived, and a late answer must not be taken for the next one's.
            self.channel.disconnect();
            RequestError::Lost { broker: self.broker().clone(), source: Arc::new(error) }
        })
    }

    fn decode<R: Request>(
        &mut self,
        frame: Bytes,
        version: i16,
        correlation_id: i32,
    ) -> Result<R::Response, RequestError> {
        let mut decoder = Decoder::new(frame);
        let answer = decode_response_header(&mut decoder, R::API_KEY, version)
            .and_then(|answered| Ok((answered, R::Response::decode(&mut decoder, version)?)));
        let broker = self.broker().clone();
        match answer {
            Ok((answered, response)) if answered == correlation_id => Ok(response),
            Ok((answered, _)) => {
                self.channel.disconnect();
                let what = format!("correlation id {answered} instead of {correlation_id}");
                Err(RequestError::Misfit { broker, what })
            }
            Err(source) => {
                self.channel.disconnect();
                Err(RequestError::Malformed { broker, source })
            }
        }
    }
}
