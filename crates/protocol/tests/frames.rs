//! Frames: put together from chunks, cut out of a stream, and refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bytes::{BufMut, Bytes, BytesMut};
use milena_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use milena_protocol::messages::{
    ApiVersionsRequest, ApiVersionsResponse, ControlledShutdownRequest, MetadataRequest, MetadataResponse,
    ProduceRequest,
};
use milena_protocol::{
    ApiKey, DecodeError, Decoder, EncodeError, ErrorCode, FrameError, FrameReader, Message,
    decode_request_head, decode_response_header, encode_request, encode_response,
};

const MAX_FRAME: usize = 100 * 1024 * 1024;

fn only_frame(bytes: &[u8]) -> Bytes {
    let mut buffer = BytesMut::from(bytes);
    let frame = FrameReader::new(MAX_FRAME).next_frame(&mut buffer).unwrap().unwrap();
    assert!(buffer.is_empty());
    frame
}

#[test]
fn a_produce_request_leaves_its_records_where_they_are() {
    let records = Bytes::from(vec![42; 5_000]);
    let partition = PartitionProduceData { index: 3, records: Some(records.clone()) };
    let topic = TopicProduceData { name: "t".into(), partition_data: vec![partition], ..Default::default() };
    let request = ProduceRequest { acks: -1, topic_data: vec![topic], ..Default::default() };
    let frame = encode_request(&request, 9, 77, Some("me")).unwrap();

    let chunks: Vec<&Bytes> = frame.chunks().collect();
    assert_eq!(chunks.len(), 3);
    assert_eq!(chunks[1].as_ptr(), records.as_ptr());
    let bytes = frame.to_bytes();
    assert_eq!(bytes.len(), frame.len());
    assert_eq!(bytes[..4], (bytes.len() as u32 - 4).to_be_bytes());

    let mut dec = Decoder::new(only_frame(&bytes));
    let head = decode_request_head(&mut dec).unwrap();
    assert_eq!((head.api_key, head.api_version, head.correlation_id), (0, 9, 77));
    assert_eq!(head.client_id.as_deref(), Some("me"));
    assert_eq!(head.supported(), Some(ApiKey::Produce));
    assert_eq!(ProduceRequest::decode(&mut dec, 9), Ok(request));
    assert_eq!(dec.expect_empty("ProduceRequest"), Ok(()));
}

#[test]
fn requests_have_the_header_of_their_version() {
    // Length, API key, version, correlation id; then nothing, a client id, a client id and tagged fields.
    let shutdown = ControlledShutdownRequest { broker_id: 5, ..Default::default() };
    let bytes = encode_request(&shutdown, 0, 1, Some("lost")).unwrap().to_bytes();
    assert_eq!(bytes[..], [0, 0, 0, 12, 0, 7, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5]);
    let head = decode_request_head(&mut Decoder::new(only_frame(&bytes))).unwrap();
    assert_eq!((head.api(), head.client_id), (Some(ApiKey::ControlledShutdown), None));
    let bytes = encode_request(&ApiVersionsRequest::default(), 2, 1, Some("x")).unwrap().to_bytes();
    assert_eq!(bytes[..], [0, 0, 0, 11, 0, 18, 0, 2, 0, 0, 0, 1, 0, 1, b'x']);
    let bytes = encode_request(&ApiVersionsRequest::default(), 3, 1, None).unwrap().to_bytes();
    assert_eq!(bytes[..], [0, 0, 0, 14, 0, 18, 0, 3, 0, 0, 0, 1, 0xff, 0xff, 0, 1, 1, 0]);
}

#[test]
fn responses_have_the_header_of_their_version() {
    for version in [8, 9] {
        let response = MetadataResponse { controller_id: 4, ..Default::default() };
        let frame = encode_response(ApiKey::Metadata, version, 9, &response).unwrap();
        let mut dec = Decoder::new(only_frame(&frame.to_bytes()));
        assert_eq!(decode_response_header(&mut dec, ApiKey::Metadata, version), Ok(9));
        assert_eq!(MetadataResponse::decode(&mut dec, version), Ok(response));
        assert_eq!(dec.expect_empty("MetadataResponse"), Ok(()));
    }
    // Not flexible even when the body is.
    let frame = encode_response(ApiKey::ApiVersions, 3, 9, &ApiVersionsResponse::default()).unwrap();
    assert_eq!(frame.to_bytes()[..], [0, 0, 0, 12, 0, 0, 0, 9, 0, 0, 1, 0, 0, 0, 0, 0]);
}

#[test]
fn an_unknown_version_or_api_can_still_be_answered() {
    let frame = encode_request(&ApiVersionsRequest::default(), 4, 31, Some("new")).unwrap();
    let mut bytes = BytesMut::from(&frame.to_bytes()[4..]);
    bytes[3] = 99;
    let head = decode_request_head(&mut Decoder::new(bytes.clone().freeze())).unwrap();
    assert_eq!((head.api(), head.supported()), (Some(ApiKey::ApiVersions), None));
    assert_eq!((head.api_version, head.correlation_id), (99, 31));
    assert_eq!(head.client_id.as_deref(), Some("new"));

    let answer = ApiVersionsResponse { error_code: ErrorCode::UNSUPPORTED_VERSION, ..Default::default() };
    let answer = encode_response(ApiKey::ApiVersions, 0, head.correlation_id, &answer).unwrap();
    assert_eq!(answer.to_bytes()[..], [0, 0, 0, 10, 0, 0, 0, 31, 0, 35, 0, 0, 0, 0]);

    bytes[..2].copy_from_slice(&999i16.to_be_bytes());
    bytes.truncate(8);
    let head = decode_request_head(&mut Decoder::new(bytes.clone().freeze())).unwrap();
    assert_eq!((head.api_key, head.api(), head.correlation_id), (999, None, 31));
    bytes.truncate(7);
    assert!(matches!(
        decode_request_head(&mut Decoder::new(bytes.freeze())),
        Err(DecodeError::Truncated { field: "RequestHeader.correlation_id", needed: 4, remaining: 3 })
    ));
}

#[test]
fn what_a_version_cannot_say_is_refused_by_name() {
    let request = MetadataRequest { topics: None, allow_auto_topic_creation: false, ..Default::default() };
    assert_eq!(
        encode_request(&request, 0, 1, None).unwrap_err(),
        EncodeError::NullNotAllowed { message: "MetadataRequest", field: "topics", version: 0 }
    );
    let request = MetadataRequest { allow_auto_topic_creation: false, ..Default::default() };
    let error = encode_request(&request, 3, 1, None).unwrap_err();
    let field = "allow_auto_topic_creation";
    assert_eq!(error, EncodeError::UnsupportedField { message: "MetadataRequest", field, version: 3 });
    assert!(matches!(
        encode_request(&request, 99, 1, None),
        Err(EncodeError::UnsupportedVersion { message: "MetadataRequest", version: 99, .. })
    ));
    assert!(matches!(
        MetadataRequest::decode(&mut Decoder::new(Bytes::new()), -1),
        Err(DecodeError::UnsupportedVersion { message: "MetadataRequest", version: -1, .. })
    ));
}

#[test]
fn frames_come_out_however_the_bytes_arrive() {
    let frames: Vec<Bytes> = (0..40usize).map(|n| Bytes::from(vec![n as u8; n * n * n])).collect();
    let mut stream = BytesMut::new();
    for frame in &frames {
        stream.put_u32(frame.len() as u32);
        stream.put_slice(frame);
    }
    let reader = FrameReader::new(MAX_FRAME);
    for step in [1, 2, 3, 5, 1_000, stream.len()] {
        let mut buffer = BytesMut::new();
        let mut received = Vec::new();
        for arrived in stream.chunks(step) {
            buffer.put_slice(arrived);
            while let Some(frame) = reader.next_frame(&mut buffer).unwrap() {
                received.push(frame);
            }
        }
        assert_eq!(received, frames, "{step} bytes at a time");
        assert!(buffer.is_empty());
    }
}

#[test]
fn bad_input_33_a_claimed_length_takes_no_memory() {
    let reader = FrameReader::new(MAX_FRAME);
    let mut buffer = BytesMut::with_capacity(64);
    buffer.put_u32(MAX_FRAME as u32 + 1);
    let error = FrameError::TooLong { len: MAX_FRAME + 1, max: MAX_FRAME };
    assert_eq!(reader.next_frame(&mut buffer), Err(error));
    assert_eq!(buffer.capacity(), 64);
    buffer.clear();
    buffer.put_i32(-5);
    assert_eq!(reader.next_frame(&mut buffer), Err(FrameError::NegativeLength(-5)));
    assert_eq!(buffer.capacity(), 64);

    // A length within the limit makes room for what may come next, in proportion to what came.
    buffer.clear();
    buffer.put_u32(MAX_FRAME as u32);
    let mut arrived = buffer.len();
    while arrived < 1024 * 1024 {
        assert_eq!(reader.next_frame(&mut buffer), Ok(None));
        assert!(buffer.capacity() > buffer.len(), "no room to read into");
        assert!(buffer.capacity() <= 2 * arrived + 8 * 1024, "{} for {arrived}", buffer.capacity());
        let room = (buffer.capacity() - buffer.len()).min(10_000);
        buffer.put_bytes(0, room);
        arrived = buffer.len();
    }
}

#[test]
fn bad_input_33_garbage_before_the_first_request_is_named() {
    for (garbage, hint) in [(&b"GET / HTTP/1.1\r\n"[..], "HTTP"), (&[0x16, 3, 1, 2, 0, 1, 0, 1], "TLS")] {
        let error = FrameReader::new(MAX_FRAME).next_frame(&mut BytesMut::from(garbage)).unwrap_err();
        assert!(error.to_string().contains(hint), "{error}");
    }
}
