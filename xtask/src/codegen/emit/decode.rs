//! The function that reads a struct.

use std::fmt::Write;

use super::{condition, default, flexible, place, struct_place};
use crate::codegen::model::{Field, Kind, Message, Struct};
use crate::codegen::schema::Versions;

/// The body of the function.
pub(super) fn body(message: &Message, item: &Struct) -> anyhow::Result<String> {
    let (flexible, flexible_line) = flexible(message, item);
    let mut fields = String::new();
    for field in &item.fields {
        let value = plain_field(message, item, field, flexible)?;
        let _ = writeln!(fields, "{}: {value},", field.ident());
    }
    let tags = tagged_fields(message, item)?;
    let tags = match flexible {
        "true" => tags,
        "false" => String::new(),
        _ => format!("if flexible {{ {tags} }}"),
    };
    let mutable = if super::mentions(&tags, "out") { "mut " } else { "" };
    let body = match tags.is_empty() {
        true => format!("Ok(Self {{ {fields} }})"),
        false => format!("let {mutable}out = Self {{ {fields} }};\n{tags}\nOk(out)"),
    };
    let used = super::mentions(&body, "flexible");
    Ok(format!("{}{body}", if used { flexible_line.as_str() } else { "" }))
}

fn plain_field(message: &Message, item: &Struct, field: &Field, flexible: &str) -> anyhow::Result<String> {
    if field.plain.is_empty() {
        return Ok(default(field));
    }
    let read = read_value(message, item, field, field.plain, flexible)?;
    Ok(match condition(field.plain, item.versions) {
        None => read,
        Some(condition) => format!("if {condition} {{ {read} }} else {{ {} }}", default(field)),
    })
}

fn tagged_fields(message: &Message, item: &Struct) -> anyhow::Result<String> {
    let place = struct_place(message, item);
    let mut fields: Vec<&Field> = item.fields.iter().filter(|field| !field.tagged.is_empty()).collect();
    fields.sort_by_key(|field| field.tag);
    if fields.is_empty() {
        return Ok(format!("dec.skip_tagged_fields({place})?;\n"));
    }
    let mut arms = String::new();
    for field in fields {
        let read = read_value(message, item, field, field.tagged, "true")?;
        let guard = condition(field.tagged, message.flexible.intersect(item.versions));
        let guard = guard.map_or(String::new(), |condition| format!(" if {condition}"));
        let _ = writeln!(
            arms,
            "{}{guard} => {{ out.{} = {read}; }}",
            field.tag.unwrap_or_default(),
            field.ident()
        );
    }
    Ok(format!(
        "dec.tagged_fields({place}, |tag, dec| {{ match tag {{ {arms} _ => return Ok(false), }} Ok(true) }})?;\n"
    ))
}

/// An expression that reads the field, for a version in `versions`.
fn read_value(
    message: &Message,
    item: &Struct,
    field: &Field,
    versions: Versions,
    flexible: &str,
) -> anyhow::Result<String> {
    let place = place(message, item, field);
    let flexible = if field.never_compact { "false" } else { flexible };
    let (required, nullable) = if field.is_array {
        let size = message.min_size(&field.kind, field.versions)?;
        let element = element(field, flexible, &place);
        let arguments = format!("({flexible}, {size}, {place}, {element})?");
        (format!("dec.array{arguments}"), format!("dec.nullable_array{arguments}"))
    } else {
        match &field.kind {
            Kind::String => (
                format!("dec.string({flexible}, {place})?"),
                format!("dec.nullable_string({flexible}, {place})?"),
            ),
            Kind::Bytes => (
                format!("dec.bytes({flexible}, {place})?"),
                format!("dec.nullable_bytes({flexible}, {place})?"),
            ),
            Kind::Struct(name) => (
                format!("{name}::read(dec, version)?"),
                format!("if dec.i8({place})? < 0 {{ None }} else {{ Some({name}::read(dec, version)?) }}"),
            ),
            kind => (format!("{}?", number(kind, &place)), String::new()),
        }
    };
    if !field.is_nullable() {
        return Ok(required);
    }
    Ok(match condition(field.nullable, versions) {
        None => nullable,
        Some(condition) if condition == "false" => format!("Some({required})"),
        Some(condition) => format!("if {condition} {{ {nullable} }} else {{ Some({required}) }}"),
    })
}

/// The closure that reads one element of an array.
fn element(field: &Field, flexible: &str, place: &str) -> String {
    match &field.kind {
        Kind::String => format!("|dec| dec.string({flexible}, {place})"),
        Kind::Bytes => format!("|dec| dec.bytes({flexible}, {place})"),
        Kind::Struct(name) => format!("|dec| {name}::read(dec, version)"),
        Kind::ErrorCode => format!("|dec| dec.i16({place}).map(ErrorCode)"),
        kind => format!("|dec| {}", number(kind, place)),
    }
}

fn number(kind: &Kind, place: &str) -> String {
    match kind {
        Kind::ErrorCode => format!("dec.i16({place}).map(ErrorCode)"),
        Kind::Uuid => format!("dec.uuid({place})"),
        kind => format!("dec.{}({place})", super::element_type(kind)),
    }
}
