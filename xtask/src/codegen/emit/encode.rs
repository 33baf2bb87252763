//! The function that writes a struct.

use std::fmt::Write;

use super::{condition, flexible, inner_place, not_default, outside, place};
use crate::codegen::model::{Field, Kind, Message, Struct};
use crate::codegen::schema::Versions;

/// The body of the function.
pub(super) fn body(message: &Message, item: &Struct) -> String {
    let (flexible, flexible_line) = flexible(message, item);
    let mut out = String::new();
    for field in &item.fields {
        plain_field(&mut out, message, item, field, flexible);
    }
    let tags = tagged_fields(message, item, flexible);
    match flexible {
        "true" => out.push_str(&tags),
        "false" => {}
        _ => {
            let _ = writeln!(out, "if flexible {{ {tags} }}");
        }
    }
    let used = super::mentions(&out, "flexible");
    format!("{}{out}Ok(())", if used { flexible_line.as_str() } else { "" })
}

fn plain_field(out: &mut String, message: &Message, item: &Struct, field: &Field, flexible: &str) {
    if !field.plain.is_empty() {
        let write = write_value(message, item, field, field.plain, flexible);
        let _ = match condition(field.plain, item.versions) {
            None => writeln!(out, "{write}"),
            Some(condition) => writeln!(out, "if {condition} {{ {write} }}"),
        };
    }
    let Some(absent) = outside(field.versions, item.versions) else { return };
    if field.ignorable {
        return;
    }
    let lead = if field.plain == field.versions {
        out.truncate(out.trim_end().len());
        format!(" else if {}", not_default(field))
    } else {
        format!("if {absent} && {}", not_default(field))
    };
    let _ = writeln!(
        out,
        "{lead} {{ return Err(EncodeError::UnsupportedField {{ message: {:?}, field: {:?}, version }}); }}",
        message.name,
        inner_place(message, item, field),
    );
}

fn tagged_fields(message: &Message, item: &Struct, flexible: &str) -> String {
    let mut fields: Vec<&Field> = item.fields.iter().filter(|field| !field.tagged.is_empty()).collect();
    fields.sort_by_key(|field| field.tag);
    if fields.is_empty() {
        return "enc.unsigned_varint(0);\n".to_owned();
    }
    let flexible_versions = message.flexible.intersect(item.versions);
    let mut counts = Vec::new();
    let mut writes = String::new();
    for field in fields {
        let wanted = match condition(field.tagged, flexible_versions) {
            None => not_default(field),
            Some(condition) => format!("{condition} && {}", not_default(field)),
        };
        let write = write_value(
            message,
            item,
            field,
            field.tagged,
            if flexible == "false" { "false" } else { "true" },
        );
        let _ = writeln!(
            writes,
            "if {wanted} {{ enc.tagged_field({}, {}, |enc| {{ {write} Ok(()) }})?; }}",
            field.tag.unwrap_or_default(),
            place(message, item, field),
        );
        counts.push(format!("u32::from({wanted})"));
    }
    format!("enc.unsigned_varint({});\n{writes}", counts.join(" + "))
}

/// Statements that write the field, for a version in `versions`.
fn write_value(
    message: &Message,
    item: &Struct,
    field: &Field,
    versions: Versions,
    flexible: &str,
) -> String {
    let place = place(message, item, field);
    let flexible = if field.never_compact { "false" } else { flexible };
    let name = format!("self.{}", field.ident());
    let value = |borrowed: &str, owned: &str| present_value(field, borrowed, owned, flexible, &place);
    if !field.is_nullable() {
        return value(&format!("&{name}"), &name);
    }
    let required = format!(
        "let value = crate::messages::required({name}.as_ref(), {:?}, {:?}, version)?;\n{}",
        message.name,
        inner_place(message, item, field),
        value("value", "*value"),
    );
    let nullable = nullable_value(field, &name, flexible, &place);
    match condition(field.nullable, versions) {
        None => nullable,
        Some(condition) if condition == "false" => required,
        Some(condition) => format!("if {condition} {{ {nullable} }} else {{ {required} }}"),
    }
}

fn present_value(field: &Field, borrowed: &str, owned: &str, flexible: &str, place: &str) -> String {
    if field.is_array {
        return format!("enc.array({borrowed}, {flexible}, {place}, {})?;", element(field, flexible, place));
    }
    match &field.kind {
        Kind::String => format!("enc.string({borrowed}, {flexible}, {place})?;"),
        Kind::Bytes => format!("enc.bytes({borrowed}, {flexible}, {place})?;"),
        Kind::Struct(_) => format!("{}.write(enc, version)?;", owned.trim_start_matches('*')),
        kind => format!("enc.{};", number(kind, owned)),
    }
}

fn nullable_value(field: &Field, name: &str, flexible: &str, place: &str) -> String {
    if field.is_array {
        let element = element(field, flexible, place);
        return format!("enc.nullable_array({name}.as_deref(), {flexible}, {place}, {element})?;");
    }
    match &field.kind {
        Kind::String => format!("enc.nullable_string({name}.as_deref(), {flexible}, {place})?;"),
        Kind::Bytes => format!("enc.nullable_bytes({name}.as_ref(), {flexible}, {place})?;"),
        _ => format!(
            "match &{name} {{ None => enc.i8(-1), Some(value) => {{ enc.i8(1); value.write(enc, version)?; }} }}"
        ),
    }
}

/// The closure that writes one element of an array.
fn element(field: &Field, flexible: &str, place: &str) -> String {
    match &field.kind {
        Kind::String => format!("|enc, value| enc.string(value, {flexible}, {place})"),
        Kind::Bytes => format!("|enc, value| enc.bytes(value, {flexible}, {place})"),
        Kind::Struct(_) => "|enc, value| value.write(enc, version)".to_owned(),
        kind => format!("|enc, value| {{ enc.{}; Ok(()) }}", number(kind, "*value")),
    }
}

fn number(kind: &Kind, value: &str) -> String {
    match kind {
        Kind::ErrorCode => format!("i16({}.0)", value.trim_start_matches('*')),
        Kind::Uuid => format!("uuid({value})"),
        kind => format!("{}({value})", super::element_type(kind)),
    }
}
