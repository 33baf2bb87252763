//! The table of all APIs, and the list of all messages.

use std::fmt::Write;

use anyhow::Context;

use super::jar::Jar;
use super::model::{Message, name_counts};
use super::schema::{Schema, Versions};

pub(super) const NOTICE: &str =
    "// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.\n\n";

/// An API that Kafka has, whether its messages are generated or not.
pub(super) struct Api {
    key: i16,
    name: String,
    valid: Versions,
    flexible: Versions,
    latest_unstable: bool,
}

/// All APIs, by key. Those in `from_old` have only empty shells in `new`.
pub(super) fn apis(new: &Jar, old: &Jar, from_old: &[&str]) -> anyhow::Result<Vec<Api>> {
    let mut requests: Vec<Schema> = new.schemas()?;
    requests.retain(|schema| schema.r#type == "request");
    for schema in &mut requests {
        if from_old.iter().any(|name| schema.name == format!("{name}Request")) {
            *schema = old.schema(&schema.name)?;
        }
    }
    let mut apis = requests.iter().map(Api::new).collect::<anyhow::Result<Vec<_>>>()?;
    apis.sort_by_key(|api| api.key);
    Ok(apis)
}

impl Api {
    fn new(schema: &Schema) -> anyhow::Result<Self> {
        Ok(Self {
            key: schema.api_key.context("a request without an API key")?,
            name: schema.name.trim_end_matches("Request").to_owned(),
            valid: Versions::parse(&schema.valid_versions)?,
            flexible: Versions::parse_optional(schema.flexible_versions.as_ref())?,
            latest_unstable: schema.latest_version_unstable,
        })
    }
}

/// `api_key.rs`.
pub(super) fn api_key(apis: &[Api]) -> String {
    let mut variants = String::new();
    let mut from = String::new();
    let mut facts = String::new();
    let mut all = String::new();
    for Api { key, name, valid, flexible, latest_unstable } in apis {
        let _ = writeln!(variants, "/// Key {key}, versions {valid}.\n{name} = {key},");
        let _ = writeln!(from, "{key} => Self::{name},");
        let _ = write!(all, "Self::{name},");
        let range = if valid.is_empty() {
            "VersionRange::EMPTY".to_owned()
        } else {
            format!("VersionRange::new({}, {})", valid.min, valid.max)
        };
        let flexible =
            if flexible.is_empty() { "None".to_owned() } else { format!("Some({})", flexible.min) };
        let _ = writeln!(
            facts,
            "Self::{name} => ApiFacts {{ name: {name:?}, valid: {range}, latest_unstable: {latest_unstable}, flexible: {flexible} }},"
        );
    }
    format!(
        "{NOTICE}use crate::api_key::ApiFacts;\nuse crate::message::VersionRange;\n\n\
        /// The kinds of request that Kafka has, with their number on the wire.\n\
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]\n#[repr(i16)]\n#[non_exhaustive]\n\
        pub enum ApiKey {{ {variants} }}\n\n\
        impl ApiKey {{\n\
        /// All of them, in the order of their numbers.\n\
        pub const ALL: &[Self] = &[{all}];\n\n\
        /// The API of this number, if Kafka has it.\n\
        pub const fn from_i16(key: i16) -> Option<Self> {{ Some(match key {{ {from} _ => return None }}) }}\n\n\
        pub(crate) const fn facts(self) -> ApiFacts {{ match self {{ {facts} }} }}\n}}\n"
    )
}

/// `mod.rs`: the modules, the names that are unique, and the lists that tests go through.
pub(super) fn module(messages: &[Message]) -> String {
    let counts = name_counts(messages);
    let mut modules = String::new();
    let mut names = String::new();
    let mut all = String::new();
    let mut requests = String::new();
    for message in messages {
        let _ = writeln!(
            modules,
            "/// `{}`, versions {}.\npub mod {};",
            message.name, message.versions, message.module
        );
        let unique =
            message.structs.iter().filter(|s| s.name == message.name || counts[s.name.as_str()] == 1);
        let unique: Vec<&str> = unique.map(|s| s.name.as_str()).collect();
        let _ = writeln!(names, "pub use {}::{{{}}};", message.module, unique.join(", "));
        let _ = writeln!(all, "({} {})", message.module, message.name);
        if message.is_request {
            let _ = writeln!(requests, "({} {})", message.name.trim_end_matches("Request"), message.name);
        }
    }
    format!(
        "{NOTICE}pub(crate) mod api_key;\n{modules}\n{names}\n\
        /// Calls the macro `$callback` with a list of `(module Type)`, one for each message.\n\
        #[doc(hidden)]\n#[macro_export]\nmacro_rules! for_each_message {{ ($callback:ident) => {{ $callback! {{ {all} }} }}; }}\n\n\
        /// Calls the macro `$callback` with a list of `(ApiKey Type)`, one for each request.\n\
        #[doc(hidden)]\n#[macro_export]\nmacro_rules! for_each_request {{ ($callback:ident) => {{ $callback! {{ {requests} }} }}; }}\n"
    )
}
