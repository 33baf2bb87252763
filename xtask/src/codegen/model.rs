//! What a schema means: structs in the order in which they are needed, with every range clipped to the valid versions.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};

use super::schema::{self, Schema, Versions};

/// A message and the structs inside it.
pub(super) struct Message {
    pub(super) name: String,
    pub(super) module: String,
    /// The API's key; only requests and responses have one.
    pub(super) api_key: Option<i16>,
    pub(super) is_request: bool,
    pub(super) versions: Versions,
    pub(super) flexible: Versions,
    /// The first one is the message itself.
    pub(super) structs: Vec<Struct>,
}

/// A struct: the message itself, or one that a field holds.
pub(super) struct Struct {
    pub(super) name: String,
    /// The versions in which it can be on the wire.
    pub(super) versions: Versions,
    pub(super) fields: Vec<Field>,
}

/// A field that at least one valid version has.
pub(super) struct Field {
    /// The schema's name.
    pub(super) name: String,
    /// The name in Rust, without `r#`.
    pub(super) snake: String,
    /// The schema's type.
    pub(super) schema_type: String,
    pub(super) kind: Kind,
    pub(super) is_array: bool,
    pub(super) versions: Versions,
    /// The versions in which it may be null; when there is one the Rust type is an Option.
    pub(super) nullable: Versions,
    /// The versions in which it is written in its place.
    pub(super) plain: Versions,
    /// The versions in which it is a tagged field.
    pub(super) tagged: Versions,
    pub(super) tag: Option<u32>,
    pub(super) default: Default,
    pub(super) ignorable: bool,
    pub(super) never_compact: bool,
}

/// The type of a field, or of the elements of an array.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int8,
    Int16,
    ErrorCode,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Float64,
    Uuid,
    String,
    Bytes,
    Struct(String),
}

/// The value of a field that nobody set.
pub(super) enum Default {
    Null,
    /// Zero, false, or empty.
    Empty,
    /// A literal, as in Rust.
    Literal(String),
}

impl Message {
    pub(super) fn new(schema: &Schema) -> anyhow::Result<Self> {
        let versions = Versions::parse(&schema.valid_versions)?;
        ensure!(!versions.is_empty(), "{} has no valid version", schema.name);
        let flexible = Versions::parse_optional(schema.flexible_versions.as_ref())?.intersect(versions);
        ensure!(
            flexible.is_empty() || flexible.max == versions.max,
            "{}: not flexible to the end",
            schema.name
        );
        let mut structs = Vec::new();
        collect(&mut structs, &schema.name, versions, &schema.fields)?;
        for common in &schema.common_structs {
            let versions = Versions::parse(&common.versions)?.intersect(versions);
            collect(&mut structs, &common.name, versions, &common.fields)?;
        }
        Ok(Self {
            name: schema.name.clone(),
            module: snake_case(&schema.name),
            api_key: schema.api_key,
            is_request: schema.r#type == "request",
            versions,
            flexible,
            structs,
        })
    }

    /// The fewest bytes that an array element of this type takes on the wire, in any version of the array.
    pub(super) fn min_size(&self, kind: &Kind, versions: Versions) -> anyhow::Result<usize> {
        let mut min = usize::MAX;
        for version in versions.iter() {
            min = min.min(self.kind_size(kind, self.flexible.contains(version), version)?);
        }
        ensure!(min > 0, "{}: an array element that may take no byte at all", self.name);
        Ok(min)
    }

    fn kind_size(&self, kind: &Kind, flexible: bool, version: i16) -> anyhow::Result<usize> {
        Ok(match kind {
            Kind::Bool | Kind::Int8 => 1,
            Kind::Int16 | Kind::ErrorCode | Kind::Uint16 => 2,
            Kind::Int32 | Kind::Uint32 => 4,
            Kind::Int64 | Kind::Float64 => 8,
            Kind::Uuid => 16,
            Kind::String | Kind::Bytes if flexible => 1,
            Kind::String => 2,
            Kind::Bytes => 4,
            Kind::Struct(name) => {
                let mut size = usize::from(self.flexible.contains(version));
                let fields = &self.structs.iter().find(|s| s.name == *name).context("unknown struct")?.fields;
                for field in fields.iter().filter(|field| field.plain.contains(version)) {
                    let compact = flexible && !field.never_compact;
                    size += match (&field.kind, field.is_array) {
                        (_, true) => self.kind_size(&Kind::Bytes, compact, version)?,
                        (Kind::Struct(_), false) if !field.nullable.is_empty() => 1,
                        (kind, false) => self.kind_size(kind, compact, version)?,
                    };
                }
                size
            }
        })
    }
}

/// Adds the struct and those inside it.
fn collect(
    structs: &mut Vec<Struct>,
    name: &str,
    versions: Versions,
    fields: &[schema::Field],
) -> anyhow::Result<()> {
    ensure!(structs.iter().all(|known| known.name != name), "two structs named {name}");
    let index = structs.len();
    structs.push(Struct { name: name.to_owned(), versions, fields: Vec::new() });
    let mut own = Vec::new();
    for schema in fields {
        let field = Field::new(schema, versions).with_context(|| format!("{name}.{}", schema.name))?;
        if field.versions.is_empty() {
            continue;
        }
        if let (Kind::Struct(inner), false) = (&field.kind, schema.fields.is_empty()) {
            collect(structs, inner, field.versions, &schema.fields)?;
        }
        own.push(field);
    }
    structs[index].fields = own;
    Ok(())
}

impl Field {
    fn new(schema: &schema::Field, parent: Versions) -> anyhow::Result<Self> {
        let versions = Versions::parse(&schema.versions)?.intersect(parent);
        let nullable = Versions::parse_optional(schema.nullable_versions.as_ref())?.intersect(versions);
        let tagged = Versions::parse_optional(schema.tagged_versions.as_ref())?.intersect(versions);
        ensure!(tagged.is_empty() || tagged.max == versions.max, "not tagged to the end");
        ensure!(tagged.is_empty() || schema.tag.is_some(), "tagged without a tag");
        let plain = match tagged.is_empty() {
            true => versions,
            false => Versions { max: tagged.min - 1, ..versions }.intersect(versions),
        };
        let (is_array, element) = match schema.r#type.strip_prefix("[]") {
            Some(element) => (true, element),
            None => (false, schema.r#type.as_str()),
        };
        let kind = kind(element, &schema.name)?;
        let default = default(schema, &kind, is_array)?;
        ensure!(
            !matches!(default, Default::Null) || !nullable.is_empty(),
            "null by default but never nullable"
        );
        Ok(Self {
            name: schema.name.clone(),
            snake: snake_case(&schema.name),
            schema_type: schema.r#type.clone(),
            kind,
            is_array,
            versions,
            nullable,
            plain,
            tagged,
            tag: schema.tag,
            default,
            ignorable: schema.ignorable,
            never_compact: schema.flexible_versions.as_deref() == Some("none"),
        })
    }

    pub(super) fn is_nullable(&self) -> bool {
        !self.nullable.is_empty()
    }

    /// The name as an identifier.
    pub(super) fn ident(&self) -> String {
        match self.snake.as_str() {
            "type" | "match" | "move" | "ref" => format!("r#{}", self.snake),
            name => name.to_owned(),
        }
    }
}

fn kind(element: &str, field: &str) -> anyhow::Result<Kind> {
    Ok(match element {
        "bool" => Kind::Bool,
        "int8" => Kind::Int8,
        "int16" if field.ends_with("ErrorCode") => Kind::ErrorCode,
        "int16" => Kind::Int16,
        "uint16" => Kind::Uint16,
        "int32" => Kind::Int32,
        "uint32" => Kind::Uint32,
        "int64" => Kind::Int64,
        "float64" => Kind::Float64,
        "uuid" => Kind::Uuid,
        "string" => Kind::String,
        "bytes" | "records" => Kind::Bytes,
        name if name.starts_with(|c: char| c.is_ascii_uppercase()) => Kind::Struct(name.to_owned()),
        other => bail!("unknown type {other}"),
    })
}

fn default(schema: &schema::Field, kind: &Kind, is_array: bool) -> anyhow::Result<Default> {
    let text = match &schema.default {
        // As in Kafka's own generator: records start as null, everything else starts empty.
        None if schema.r#type == "records" && schema.nullable_versions.is_some() => "null".to_owned(),
        None => String::new(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    Ok(match (text.as_str(), kind) {
        ("null", _) => Default::Null,
        ("" | "false", _) => Default::Empty,
        (_, _) if is_array => bail!("default {text:?} of an array"),
        ("true", Kind::Bool) => Default::Literal(text),
        (text, Kind::String) => Default::Literal(format!("{text:?}")),
        (
            text,
            Kind::ErrorCode
            | Kind::Int8
            | Kind::Int16
            | Kind::Uint16
            | Kind::Int32
            | Kind::Uint32
            | Kind::Int64,
        ) => {
            let number = match text.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16)?,
                None => text.parse::<i64>()?,
            };
            match number {
                0 => Default::Empty,
                number if number == i64::from(i32::MAX) => Default::Literal("i32::MAX".to_owned()),
                number if number == i64::from(i32::MIN) => Default::Literal("i32::MIN".to_owned()),
                i64::MAX => Default::Literal("i64::MAX".to_owned()),
                number => Default::Literal(number.to_string()),
            }
        }
        (text, _) => bail!("default {text:?}"),
    })
}

/// `TopicId` becomes `topic_id`, `isKRaftController` becomes `is_kraft_controller`.
pub(super) fn snake_case(name: &str) -> String {
    let name = name.replace("KRaft", "Kraft");
    let chars: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (index, &c) in chars.iter().enumerate() {
        let after_lower = index > 0 && !chars[index - 1].is_ascii_uppercase();
        let before_lower = chars.get(index + 1).is_some_and(char::is_ascii_lowercase);
        if c.is_ascii_uppercase() && index > 0 && (after_lower || before_lower) {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// How often each struct name occurs, over all messages.
pub(super) fn name_counts(messages: &[Message]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for name in messages.iter().flat_map(|message| &message.structs).map(|s| s.name.as_str()) {
        *counts.entry(name).or_insert(0) += 1;
    }
    counts
}
