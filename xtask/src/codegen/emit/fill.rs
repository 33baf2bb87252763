//! For the tests: functions that fill every struct at random with what a version can carry.

use std::fmt::Write;

use super::{condition, default};
use crate::codegen::model::{Field, Kind, Message};
use crate::codegen::schema::Versions;
use crate::codegen::table::NOTICE;

/// One module with an implementation of the tests' own trait `Fill` for each struct.
pub(in crate::codegen) fn module(messages: &[Message]) -> anyhow::Result<String> {
    let mut out = format!(
        "{NOTICE}//! Fills every struct at random with what a version can carry.\n\n\
        #![allow(clippy::redundant_closure_for_method_calls, reason = \"one form for all types\")]\n\n\
        use bytes::Bytes;\nuse milena_protocol::{{ErrorCode, Uuid, messages}};\n\nuse super::fill::{{Fill, Random}};\n\n"
    );
    for message in messages {
        for item in &message.structs {
            let mut fields = String::new();
            for field in &item.fields {
                let value = fill(message, field, field.versions);
                let value = match condition(field.versions, item.versions) {
                    None => value,
                    Some(condition) => {
                        format!(
                            "if {condition} {{ {value} }} else {{ {} }}",
                            qualified(&default(field), message, field)
                        )
                    }
                };
                let _ = writeln!(fields, "{}: {value},", field.ident());
            }
            let _ = writeln!(
                out,
                "impl Fill for messages::{}::{} {{ fn fill({}: &mut Random, {}: i16) -> Self {{ Self {{ {fields} }} }} }}\n",
                message.module,
                item.name,
                super::used("random", &fields),
                super::used("version", &fields),
            );
        }
    }
    Ok(out)
}

fn qualified(default: &str, message: &Message, field: &Field) -> String {
    match &field.kind {
        Kind::Struct(_) if default.contains("::default") => {
            format!("messages::{}::{default}", message.module)
        }
        _ => default.to_owned(),
    }
}

fn fill(message: &Message, field: &Field, versions: Versions) -> String {
    let element = match &field.kind {
        Kind::Bool => "random.bool()".to_owned(),
        Kind::ErrorCode => "ErrorCode(random.int() as i16)".to_owned(),
        Kind::Uuid => "Uuid(random.bytes())".to_owned(),
        Kind::Int64 => "random.int()".to_owned(),
        Kind::String => "random.string()".to_owned(),
        Kind::Bytes => "Bytes::from(random.payload())".to_owned(),
        Kind::Struct(name) => format!("messages::{}::{name}::fill(random, version)", message.module),
        kind => format!("random.int() as {}", super::element_type(kind)),
    };
    let value = if field.is_array { format!("random.vec(|random| {element})") } else { element };
    if !field.is_nullable() {
        return value;
    }
    let nullable = format!("random.option(|random| {value})");
    match condition(field.nullable, versions) {
        None => nullable,
        Some(condition) => format!("if {condition} {{ {nullable} }} else {{ Some({value}) }}"),
    }
}
