//! Records as JSON, one object a line, for `jq` and the like.

use std::io::{self, Write};

use base64::{
    display::Base64Display,
    engine::general_purpose::{GeneralPurpose, STANDARD},
};
use milena_protocol::records::TimestampType;

use super::Consumed;

/// Writes one object and a newline. The names are those of `kcat -J`, where it has one. Bytes that are not UTF-8 are
/// given in base64, and a field beside them says so: `"payload_encoding":"base64"`.
///
/// # Errors
/// What `out` says.
pub(crate) fn write_record(out: &mut impl Write, consumed: &Consumed<'_>) -> io::Result<()> {
    let record = consumed.record;
    out.write_all(b"{\"topic\":")?;
    serde_json::to_writer(&mut *out, consumed.topic)?;
    let kind = match consumed.timestamp_type {
        TimestampType::CreateTime => "create",
        TimestampType::LogAppendTime => "logappend",
    };
    write!(
        out,
        ",\"partition\":{},\"offset\":{},\"tstype\":\"{kind}\",\"ts\":{},\"headers\":[",
        consumed.partition, record.offset, record.timestamp
    )?;
    for (index, header) in record.headers.iter().enumerate() {
        out.write_all(if index == 0 { b"{" } else { b",{" })?;
        write_bytes(out, "key", Some(header.key.as_bytes()))?;
        out.write_all(b",")?;
        write_bytes(out, "value", header.value.as_deref())?;
        out.write_all(b"}")?;
    }
    out.write_all(b"],")?;
    write_bytes(out, "key", record.key.as_deref())?;
    out.write_all(b",")?;
    write_bytes(out, "payload", record.value.as_deref())?;
    out.write_all(b"}\n")
}

/// `"name":` and a string or null; with a marker when it had to be base64.
fn write_bytes(out: &mut impl Write, name: &str, bytes: Option<&[u8]>) -> io::Result<()> {
    write!(out, "\"{name}\":")?;
    match bytes.map(|bytes| (bytes, std::str::from_utf8(bytes))) {
        None => out.write_all(b"null"),
        Some((_, Ok(text))) => Ok(serde_json::to_writer(out, text)?),
        Some((bytes, Err(_))) => write!(out, "\"{}\",\"{name}_encoding\":\"base64\"", in_base64(bytes)),
    }
}

fn in_base64(bytes: &[u8]) -> Base64Display<'_, 'static, GeneralPurpose> {
    Base64Display::new(bytes, &STANDARD)
}

#[cfg(test)]
mod tests {
    use milena_protocol::records::Record;

    use super::*;

    fn printed(record: &Record, timestamp_type: TimestampType) -> String {
        let mut out = Vec::new();
        write_record(&mut out, &Consumed { topic: "q\"x", partition: 1, timestamp_type, record }).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_is_text_and_null_is_null() {
        let record = Record {
            offset: 7,
            timestamp: -1,
            key: None,
            value: Some("a\n\"é\"".into()),
            headers: Default::default(),
        };
        assert_eq!(
            printed(&record, TimestampType::CreateTime),
            "{\"topic\":\"q\\\"x\",\"partition\":1,\"offset\":7,\"tstype\":\"create\",\"ts\":-1,\"headers\":[],\
             \"key\":null,\"payload\":\"a\\n\\\"é\\\"\"}\n"
        );
    }

    #[test]
    fn other_bytes_are_marked() {
        let record = Record {
            offset: 7,
            timestamp: 5,
            key: Some((&b"\xff\x00"[..]).into()),
            value: Some((&b"\xfe"[..]).into()),
            headers: Default::default(),
        };
        let line = printed(&record, TimestampType::LogAppendTime);
        let json: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(json["key"], "/wA=");
        assert_eq!(json["key_encoding"], "base64");
        assert_eq!(json["payload"], "/g==");
        assert_eq!(json["payload_encoding"], "base64");
        assert_eq!(json["tstype"], "logappend");
    }
}
