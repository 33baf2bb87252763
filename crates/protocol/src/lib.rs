//! Apache Kafka's wire protocol: typed messages, record batches and frames.
//!
//! * [`messages`] holds one struct per request and response, generated from the schemas that Kafka ships in its own
//!   client jar. Every version that the schemas call valid can be encoded and decoded, in both directions.
//! * [`frame`] puts a header and a body into a length-prefixed frame, and cuts frames out of a byte stream.
//! * [`wire`] is the layer below: an [`Encoder`] that does not copy payloads, a [`Decoder`] that hands them out as
//!   slices of what it was given.
//! * [`ErrorCode`], [`ApiKey`], [`Uuid`] and [`VersionRange`] are the protocol's own vocabulary.
//!
//! Decoding trusts nothing: a length or a count is compared with the bytes that are there before anything is
//! allocated for it, and whatever is wrong comes back as a typed [`DecodeError`] that names the field.
//!
//! ```
//! use bytes::BytesMut;
//! use milena_protocol::messages::{MetadataRequest, MetadataRequestTopic};
//! use milena_protocol::{ApiKey, Decoder, FrameReader, Message, decode_request_head, encode_request};
//!
//! let topic = MetadataRequestTopic { name: Some("orders".into()), ..Default::default() };
//! let request = MetadataRequest { topics: Some(vec![topic]), ..Default::default() };
//! let frame = encode_request(&request, 12, 7, Some("example"))?;
//!
//! // The other side: bytes arrive, frames come out.
//! let mut received = BytesMut::from(&frame.to_bytes()[..]);
//! let body = FrameReader::new(1024 * 1024).next_frame(&mut received)?.expect("the whole frame is here");
//! let mut decoder = Decoder::new(body);
//! let head = decode_request_head(&mut decoder)?;
//! assert_eq!((head.api(), head.correlation_id), (Some(ApiKey::Metadata), 7));
//! assert_eq!(MetadataRequest::decode(&mut decoder, head.api_version)?, request);
//! decoder.expect_empty("MetadataRequest")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod api_key;
pub mod error;
pub mod error_code;
pub mod frame;
pub mod message;
pub mod messages;
pub mod records;
pub mod uuid;
pub mod wire;

pub use api_key::ApiKey;
pub use error::{DecodeError, EncodeError};
pub use error_code::ErrorCode;
pub use frame::{
    Frame, FrameError, FrameReader, RequestHead, decode_request_head, decode_response_header, encode_request,
    encode_response,
};
pub use message::{Message, Request, VersionRange};
pub use uuid::Uuid;
pub use wire::{Decoder, Encoder};
