//! Frames: a length of four bytes, a header, and a request or a response.

use bytes::{Buf, Bytes, BytesMut};

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request};

const LENGTH_PREFIX: usize = 4;
/// Room for the small fields of a typical message.
const INITIAL_CAPACITY: usize = 256;
/// The room below which [`FrameReader`] makes more of it.
const RESERVE_MIN: usize = 4 * 1024;

/// A frame that is ready to be sent: its chunks, the length prefix included.
#[derive(Debug, Clone)]
pub struct Frame {
    chunks: Vec<Bytes>,
    len: usize,
}

impl Frame {
    /// The chunks in order, for a vectored write; none is empty.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = &Bytes> {
        self.chunks.iter()
    }

    /// The chunks in order, given away.
    pub fn into_chunks(self) -> Vec<Bytes> {
        self.chunks
    }

    /// The frame's length in bytes, the length prefix included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the frame is empty, which it never is.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The frame in one piece: copies everything.
    pub fn to_bytes(&self) -> Bytes {
        self.chunks.concat().into()
    }

    /// Ends the frame that `enc` began with four bytes of length.
    fn finish(mut enc: Encoder) -> Result<Self, EncodeError> {
        let len = enc.len();
        let max = i32::MAX as usize;
        let size = i32::try_from(len - LENGTH_PREFIX).map_err(|_| EncodeError::TooLong {
            field: "frame",
            len: len - LENGTH_PREFIX,
            max,
        })?;
        enc.patch_first_i32(size);
        Ok(Self { chunks: enc.finish(), len })
    }
}

/// Puts a request and its header into a frame.
///
/// # Errors
/// As for [`Message::encode`].
pub fn encode_request<R: Request>(
    request: &R,
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
) -> Result<Frame, EncodeError> {
    let mut enc = Encoder::with_capacity(INITIAL_CAPACITY);
    enc.i32(0);
    enc.i16(R::API_KEY as i16);
    enc.i16(version);
    enc.i32(correlation_id);
    let header = R::API_KEY.request_header_version(version);
    if header >= 1 {
        // Never compact, so that any broker can read the header of an ApiVersions request (KIP-511).
        enc.nullable_string(client_id, false, "RequestHeader.client_id")?;
    }
    if header >= 2 {
        enc.unsigned_varint(0);
    }
    request.encode(&mut enc, version)?;
    Frame::finish(enc)
}

/// Puts a response and its header into a frame.
///
/// # Errors
/// As for [`Message::encode`].
pub fn encode_response<M: Message>(
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    body: &M,
) -> Result<Frame, EncodeError> {
    let mut enc = Encoder::with_capacity(INITIAL_CAPACITY);
    enc.i32(0);
    enc.i32(correlation_id);
    if api.response_header_version(version) >= 1 {
        enc.unsigned_varint(0);
    }
    body.encode(&mut enc, version)?;
    Frame::finish(enc)
}

/// A request's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// The API key as received; it may be one that Kafka does not have.
    pub api_key: i16,
    /// The version as received; it may be one that the API does not have.
    pub api_version: i16,
    /// What the answer has to repeat.
    pub correlation_id: i32,
    /// The client's name for itself; None as well when the API or the version is unknown and nothing could be read.
    pub client_id: Option<String>,
}

impl RequestHead {
    /// The API, when Kafka has it.
    pub fn api(&self) -> Option<ApiKey> {
        ApiKey::from_i16(self.api_key)
    }

    /// The API, when Kafka has it and this version of it is valid.
    pub fn supported(&self) -> Option<ApiKey> {
        self.api().filter(|api| api.valid_versions().contains(self.api_version))
    }
}

/// Reads a request's header; the body is next.
///
/// Of an API or version that is unknown the first eight bytes are enough: a broker answers an ApiVersions request of
/// the future in version 0 with UNSUPPORTED_VERSION (KIP-511), and needs the correlation id to do it. Ask
/// [`RequestHead::supported`] before decoding the body.
///
/// # Errors
/// When fewer than eight bytes are there, or the API and version are known and the rest is not such a header.
pub fn decode_request_head(dec: &mut Decoder) -> Result<RequestHead, DecodeError> {
    let mut head = RequestHead {
        api_key: dec.i16("RequestHeader.request_api_key")?,
        api_version: dec.i16("RequestHeader.request_api_version")?,
        correlation_id: dec.i32("RequestHeader.correlation_id")?,
        client_id: None,
    };
    let Some(api) = head.api() else { return Ok(head) };
    let rest = request_head_rest(dec, api.request_header_version(head.api_version));
    head.client_id = if head.supported().is_some() { rest? } else { rest.unwrap_or_default() };
    Ok(head)
}

fn request_head_rest(dec: &mut Decoder, header: i16) -> Result<Option<String>, DecodeError> {
    let mut client_id = None;
    if header >= 1 {
        client_id = dec.nullable_string(false, "RequestHeader.client_id")?;
    }
    if header >= 2 {
        dec.skip_tagged_fields("RequestHeader")?;
    }
    Ok(client_id)
}

/// Reads the header of the answer to a request of `api` in `version`, and returns its correlation id; the body is next.
///
/// # Errors
/// When the bytes are not such a header.
pub fn decode_response_header(dec: &mut Decoder, api: ApiKey, version: i16) -> Result<i32, DecodeError> {
    let correlation_id = dec.i32("ResponseHeader.correlation_id")?;
    if api.response_header_version(version) >= 1 {
        dec.skip_tagged_fields("ResponseHeader")?;
    }
    Ok(correlation_id)
}

/// The stream of bytes holds no frame. The peer's fault: the connection is of no use any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A length below zero.
    #[error("frame with the negative length {0}: the peer does not speak Kafka's protocol")]
    NegativeLength(i32),
    /// A length above the reader's limit.
    #[error("frame of {len} bytes, above the limit of {max}: {}", hint(*len))]
    TooLong {
        /// The length that the peer announced, in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
}

/// What a length that nobody means may have been.
fn hint(len: usize) -> &'static str {
    match u32::try_from(len).unwrap_or(0).to_be_bytes() {
        [0x15, 3, _, _] | [0x16, 3, _, _] => "this looks like TLS on a plaintext connection",
        [b'H', b'T', b'T', b'P'] | [b'G', b'E', b'T', b' '] | [b'P', b'O', b'S', b'T'] => {
            "this looks like HTTP"
        }
        _ => "raise the limit if the peer is right",
    }
}

/// Cuts frames out of the bytes that the caller reads.
#[derive(Debug, Clone)]
pub struct FrameReader {
    max_frame: usize,
}

impl FrameReader {
    /// A reader that takes frames of at most `max_frame` bytes, the length prefix not counted.
    pub fn new(max_frame: usize) -> Self {
        Self { max_frame }
    }

    /// Takes the next frame off the front of `buffer`, without its length prefix; None when more bytes have to arrive.
    ///
    /// Then it has made room for them. The buffer never holds more than twice what has arrived and 8 KiB, because a
    /// length is only a claim.
    ///
    /// # Errors
    /// When the length is negative or above the limit.
    pub fn next_frame(&self, buffer: &mut BytesMut) -> Result<Option<Bytes>, FrameError> {
        let Some(prefix) = buffer.first_chunk::<LENGTH_PREFIX>() else {
            buffer.reserve(RESERVE_MIN);
            return Ok(None);
        };
        let length = i32::from_be_bytes(*prefix);
        let len = usize::try_from(length).map_err(|_| FrameError::NegativeLength(length))?;
        if len > self.max_frame {
            return Err(FrameError::TooLong { len, max: self.max_frame });
        }
        let missing = (LENGTH_PREFIX + len).saturating_sub(buffer.len());
        if missing > 0 {
            // Only when the room is used up: `reserve` may double what the buffer holds.
            if buffer.capacity() - buffer.len() < RESERVE_MIN {
                buffer.reserve(missing.min(buffer.len() + RESERVE_MIN));
            }
            return Ok(None);
        }
        buffer.advance(LENGTH_PREFIX);
        Ok(Some(buffer.split_to(len).freeze()))
    }
}
