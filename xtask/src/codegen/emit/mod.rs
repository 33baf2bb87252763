//! Rust source for one message.

mod decode;
mod encode;
pub(super) mod fill;

use std::fmt::Write;

use super::model::{Default, Field, Kind, Message, Struct};
use super::schema::Versions;
use super::table::NOTICE;

/// The module of a message.
pub(super) fn message(message: &Message) -> anyhow::Result<String> {
    let mut body = String::new();
    for item in &message.structs {
        definition(&mut body, message, item);
        let encode = encode::body(message, item);
        let decode = decode::body(message, item)?;
        if item.name == message.name {
            implementation(&mut body, message, &encode, &decode);
        } else {
            let _ = writeln!(
                body,
                "impl {} {{\n\
                fn write(&self, {}: &mut Encoder, {}: i16) -> Result<(), EncodeError> {{ {encode} }}\n\n\
                fn read({}: &mut Decoder, {}: i16) -> Result<Self, DecodeError> {{ {decode} }}\n}}\n",
                item.name,
                used("enc", &encode),
                used("version", &encode),
                used("dec", &decode),
                used("version", &decode),
            );
        }
    }
    Ok(format!("{NOTICE}{}\n{body}", imports(&body)))
}

fn imports(body: &str) -> String {
    let mut names = vec!["DecodeError", "Decoder", "EncodeError", "Encoder", "Message", "VersionRange"];
    names.extend(["ApiKey", "ErrorCode", "Request", "Uuid"].iter().filter(|name| mentions(body, name)));
    names.sort_unstable();
    let bytes = if mentions(body, "Bytes") { "use bytes::Bytes;\n\n" } else { "" };
    format!("{bytes}use crate::{{{}}};\n", names.join(", "))
}

/// Whether `text` has `word` as a whole identifier, outside of comments.
fn mentions(text: &str, word: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("///"));
    code.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .any(|part| part == word)
}

/// The parameter's name, with an underscore when the body does not use it.
fn used(name: &str, body: &str) -> String {
    if mentions(body, name) { name.to_owned() } else { format!("_{name}") }
}

fn implementation(out: &mut String, message: &Message, encode: &str, decode: &str) {
    let Message { name, versions, .. } = message;
    let _ = writeln!(
        out,
        "impl Message for {name} {{\n\
        const NAME: &'static str = {name:?};\n\
        const VERSIONS: VersionRange = VersionRange::new({}, {});\n\n\
        fn encode(&self, {}: &mut Encoder, version: i16) -> Result<(), EncodeError> {{\n\
        Self::VERSIONS.check_encode(Self::NAME, version)?;\n{encode} }}\n\n\
        fn decode({}: &mut Decoder, version: i16) -> Result<Self, DecodeError> {{\n\
        Self::VERSIONS.check_decode(Self::NAME, version)?;\n{decode} }}\n}}\n",
        versions.min,
        versions.max,
        used("enc", encode),
        used("dec", decode),
    );
    if message.is_request {
        let api = name.trim_end_matches("Request");
        let _ = writeln!(
            out,
            "impl Request for {name} {{\nconst API_KEY: ApiKey = ApiKey::{api};\n\
            type Response = super::{api}Response;\n}}\n"
        );
    }
}

fn definition(out: &mut String, message: &Message, item: &Struct) {
    let derived = item.fields.iter().all(has_rust_default);
    let key = message.api_key.map_or(String::new(), |key| format!(" (API key {key})"));
    let _ = match item.name == message.name {
        true => writeln!(out, "/// `{}`{key}, versions {}.", item.name, item.versions),
        false => writeln!(out, "/// `{}` in a `{}`, versions {}.", item.name, message.name, item.versions),
    };
    let derive = if derived { "Debug, Clone, PartialEq, Default" } else { "Debug, Clone, PartialEq" };
    let _ = writeln!(out, "#[derive({derive})]\npub struct {} {{", item.name);
    for field in &item.fields {
        let _ = writeln!(out, "{}\npub {}: {},", doc(field), field.ident(), rust_type(field));
    }
    let _ = writeln!(out, "}}\n");
    if !derived {
        let _ = writeln!(out, "impl Default for {} {{ fn default() -> Self {{ Self {{", item.name);
        for field in &item.fields {
            let _ = writeln!(out, "{}: {},", field.ident(), default(field));
        }
        let _ = writeln!(out, "}} }} }}\n");
    }
}

fn doc(field: &Field) -> String {
    let mut doc = format!("/// `{}`: `{}`, versions {}", field.name, field.schema_type, field.versions);
    if !field.tagged.is_empty() {
        let _ = write!(doc, ", tag {}", field.tag.unwrap_or_default());
        if field.tagged != field.versions {
            let _ = write!(doc, " in {}", field.tagged);
        }
    }
    if field.is_nullable() {
        doc.push_str(", nullable");
        if field.nullable != field.versions {
            let _ = write!(doc, " in {}", field.nullable);
        }
    }
    match &field.default {
        Default::Null => doc.push_str("; null by default"),
        Default::Literal(text) => {
            let _ = write!(doc, "; {text} by default");
        }
        Default::Empty => {}
    }
    doc.push('.');
    doc
}

fn element_type(kind: &Kind) -> &str {
    match kind {
        Kind::Bool => "bool",
        Kind::Int8 => "i8",
        Kind::Int16 => "i16",
        Kind::ErrorCode => "ErrorCode",
        Kind::Uint16 => "u16",
        Kind::Int32 => "i32",
        Kind::Uint32 => "u32",
        Kind::Int64 => "i64",
        Kind::Float64 => "f64",
        Kind::Uuid => "Uuid",
        Kind::String => "String",
        Kind::Bytes => "Bytes",
        Kind::Struct(name) => name,
    }
}

fn rust_type(field: &Field) -> String {
    let mut name = element_type(&field.kind).to_owned();
    if field.is_array {
        name = format!("Vec<{name}>");
    }
    if field.is_nullable() {
        name = format!("Option<{name}>");
    }
    name
}

/// Whether the field's default is the one that Rust gives its type.
fn has_rust_default(field: &Field) -> bool {
    match field.default {
        Default::Null => true,
        Default::Empty => !field.is_nullable(),
        Default::Literal(_) => false,
    }
}

fn default(field: &Field) -> String {
    let value = match (&field.default, &field.kind) {
        (Default::Null, _) => return "None".to_owned(),
        (Default::Literal(text), Kind::String) => format!("{text}.to_owned()"),
        (Default::Literal(text), Kind::ErrorCode) => format!("ErrorCode({text})"),
        (Default::Literal(text), _) => text.clone(),
        (Default::Empty, _) if field.is_array => "Vec::new()".to_owned(),
        (Default::Empty, kind) => match kind {
            Kind::Bool => "false".to_owned(),
            Kind::Float64 => "0.0".to_owned(),
            Kind::ErrorCode => "ErrorCode::NONE".to_owned(),
            Kind::Uuid => "Uuid::ZERO".to_owned(),
            Kind::String => "String::new()".to_owned(),
            Kind::Bytes => "Bytes::new()".to_owned(),
            Kind::Struct(name) => format!("{name}::default()"),
            _ => "0".to_owned(),
        },
    };
    if field.is_nullable() { format!("Some({value})") } else { value }
}

/// An expression that is true when the field does not have its default.
fn not_default(field: &Field) -> String {
    let name = format!("self.{}", field.ident());
    let is_empty_by_default = matches!(field.default, Default::Empty);
    match (&field.default, &field.kind) {
        (Default::Null, _) => format!("{name}.is_some()"),
        _ if is_empty_by_default && field.is_nullable() => match (field.is_array, &field.kind) {
            (true, _) | (_, Kind::String | Kind::Bytes) => {
                format!("{name}.as_ref().is_none_or(|value| !value.is_empty())")
            }
            _ => format!("{name} != {}", default(field)),
        },
        _ if is_empty_by_default && (field.is_array || matches!(field.kind, Kind::String | Kind::Bytes)) => {
            format!("!{name}.is_empty()")
        }
        (Default::Empty, Kind::Bool) => name,
        (Default::Literal(_), Kind::Bool) => format!("!{name}"),
        (Default::Literal(text), Kind::String) if field.is_nullable() => {
            format!("{name}.as_deref() != Some({text})")
        }
        (Default::Literal(text), Kind::String) => format!("{name} != {text}"),
        _ => format!("{name} != {}", default(field)),
    }
}

/// The condition under which `version`, which is in `all`, is in `range`; None when it always is.
fn condition(range: Versions, all: Versions) -> Option<String> {
    let range = range.intersect(all);
    if range.is_empty() {
        return Some("false".to_owned());
    }
    match (range.min > all.min, range.max < all.max) {
        (false, false) => None,
        _ if range.min == range.max => Some(format!("version == {}", range.min)),
        (true, false) => Some(format!("version >= {}", range.min)),
        (false, true) => Some(format!("version <= {}", range.max)),
        (true, true) => Some(format!("({}..={}).contains(&version)", range.min, range.max)),
    }
}

/// The opposite of [`condition`].
fn outside(range: Versions, all: Versions) -> Option<String> {
    condition(range, all)?;
    Some(match (range.min > all.min, range.max < all.max) {
        (true, false) => format!("version < {}", range.min),
        (false, true) => format!("version > {}", range.max),
        _ => format!("!({}..={}).contains(&version)", range.min, range.max),
    })
}

/// Whether a version of the struct is flexible, as an expression, and the line that makes the expression valid.
fn flexible(message: &Message, item: &Struct) -> (&'static str, String) {
    match condition(message.flexible, item.versions) {
        None => ("true", String::new()),
        Some(text) if text == "false" => ("false", String::new()),
        Some(text) => ("flexible", format!("let flexible = {text};\n")),
    }
}

/// `"FetchResponse.PartitionData.high_watermark"`: where an error happened.
fn place(message: &Message, item: &Struct, field: &Field) -> String {
    format!("\"{}.{}\"", message.name, inner_place(message, item, field))
}

fn inner_place(message: &Message, item: &Struct, field: &Field) -> String {
    match item.name == message.name {
        true => field.snake.clone(),
        false => format!("{}.{}", item.name, field.snake),
    }
}

/// Where an error in the tagged fields happened.
fn struct_place(message: &Message, item: &Struct) -> String {
    match item.name == message.name {
        true => format!("\"{}\"", message.name),
        false => format!("\"{}.{}\"", message.name, item.name),
    }
}
