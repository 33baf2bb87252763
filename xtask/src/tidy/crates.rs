//! Rules about the graph of crates: who may use whom, and that the default build needs no C compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

/// protocol ← core ← client; protocol ← storage ← broker; the command joins them. `cargo` itself refuses cycles; this refuses short cuts.
const LAYERS: [(&str, &[&str]); 7] = [
    ("milena-protocol", &[]),
    ("milena-core", &["milena-protocol"]),
    ("milena", &["milena-core", "milena-protocol"]),
    ("milena-storage", &["milena-protocol"]),
    ("milena-broker", &["milena-protocol", "milena-storage"]),
    ("milena-old-producer", &["milena-protocol"]),
    ("milena-cli", &["milena", "milena-broker", "milena-old-producer", "milena-protocol"]),
];

/// Crates without a runtime and without sockets, and what must not come into them even by way of another crate.
const PURE: [&str; 3] = ["milena-protocol", "milena-core", "milena-storage"];
const IMPURE: [&str; 8] =
    ["tokio", "mio", "socket2", "async-io", "async-std", "smol", "rustls", "hickory-resolver"];

/// Build dependencies that compile C or look for a C library.
const C_BUILDERS: [&str; 8] =
    ["cc", "cmake", "pkg-config", "bindgen", "vcpkg", "autotools", "nasm-rs", "system-deps"];

/// Crates in the default graph that may have a `links` key or a builder of C, and why they compile none here.
const NO_C_AFTER_ALL: [(&str, &str); 1] =
    [("rayon-core", "its `links` key only keeps a second copy out of the graph; there is no library")];

/// Adds what is wrong with the crates to `faults`.
///
/// # Errors
/// When cargo cannot be run.
pub(crate) fn check(root: &Path, faults: &mut Vec<String>) -> Result<()> {
    let metadata = Metadata::of(root)?;
    layering(&metadata, faults);
    for package in PURE {
        let tree = Tree::of(root, package, "normal")?;
        impurities(package, &tree, faults);
    }
    compilers_of_c(&Tree::of(root, "milena-cli", "normal,build")?, &metadata, faults);
    Ok(())
}

/// As much of `cargo metadata` as the rules need.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    links: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `null` for a normal one, `dev`, `build`.
    kind: Option<String>,
}

impl Metadata {
    fn of(root: &Path) -> Result<Self> {
        let output = cargo(root, &["metadata", "--format-version", "1"])?;
        serde_json::from_str(&output).context("reading the output of cargo metadata")
    }
}

fn layering(metadata: &Metadata, faults: &mut Vec<String>) {
    let ours: BTreeSet<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    for package in &metadata.packages {
        let Some((name, allowed)) = LAYERS.iter().find(|(name, _)| *name == package.name) else { continue };
        for dependency in
            package.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"))
        {
            let used = dependency.name.as_str();
            if ours.contains(used) && !allowed.contains(&used) {
                faults
                    .push(format!("{name} depends on {used}; of our own crates it may only use {allowed:?}"));
            }
        }
    }
}

/// The resolved dependencies of a package with its default features on this machine's target: what is really built, which
/// `cargo metadata` does not tell, because it unites the features of the whole workspace.
struct Tree {
    /// `name` and `version` of each package, with the names of those that depend on it.
    packages: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Tree {
    fn of(root: &Path, package: &str, edges: &str) -> Result<Self> {
        let arguments =
            ["tree", "-p", package, "-e", edges, "--prefix", "depth", "--no-dedupe", "--format", " {p}"];
        Self::parse(&cargo(root, &arguments)?)
    }

    /// Reads lines of `<depth> <name> v<version> …`.
    fn parse(text: &str) -> Result<Self> {
        let mut packages: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        let mut above: Vec<String> = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let mut words = line.split_whitespace();
            let depth: Option<usize> = words.next().and_then(|depth| depth.parse().ok());
            let version = |version: &str| version.trim_start_matches('v').to_owned();
            let (Some(depth), Some(name), Some(version)) = (depth, words.next(), words.next().map(version))
            else {
                anyhow::bail!("a line of cargo tree that is not `depth name version`: {line}");
            };
            above.truncate(depth);
            let users = packages.entry((name.to_owned(), version)).or_default();
            users.extend(above.last().cloned());
            above.push(name.to_owned());
        }
        ensure!(!packages.is_empty(), "cargo tree printed nothing");
        Ok(Self { packages })
    }
}

fn impurities(package: &str, tree: &Tree, faults: &mut Vec<String>) {
    for ((name, _), users) in &tree.packages {
        if IMPURE.contains(&name.as_str()) {
            faults.push(format!("{package} must stay pure, but {users:?} brings in {name}"));
        }
    }
}

fn compilers_of_c(tree: &Tree, metadata: &Metadata, faults: &mut Vec<String>) {
    let allowed = |name: &str| NO_C_AFTER_ALL.iter().any(|(allowed, _)| *allowed == name);
    for ((name, version), users) in &tree.packages {
        let package =
            metadata.packages.iter().find(|package| package.name == *name && package.version == *version);
        if let Some(library) = package.and_then(|package| package.links.as_ref()).filter(|_| !allowed(name)) {
            faults.push(format!(
                "the default build of milena-cli links to the C library `{library}` through {name} {version}"
            ));
        }
        let users: Vec<&String> = users.iter().filter(|user| !allowed(user)).collect();
        if C_BUILDERS.contains(&name.as_str()) && !users.is_empty() {
            faults.push(format!("the default build of milena-cli may compile C: {users:?} uses {name}"));
        }
    }
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program).args(arguments).current_dir(root).output().context("running cargo")?;
    let command = arguments.join(" ");
    ensure!(output.status.success(), "cargo {command}: {}", String::from_utf8_lossy(&output.stderr).trim());
    String::from_utf8(output.stdout).with_context(|| format!("cargo {command}: output that is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "0 milena-cli v0.1.0 (/somewhere)\n1 a v1.0.0\n2 b-sys v2.0.0\n3 cc v1.2.3\n1 c v1.0.0 (proc-macro)\n2 tokio v1.0.0\n";

    fn metadata(packages: &str) -> Metadata {
        serde_json::from_str(&format!("{{\"packages\": [{packages}]}}")).unwrap()
    }

    #[test]
    fn the_tree_tells_who_uses_whom() {
        let tree = Tree::parse(TREE).unwrap();
        let users = |name: &str, version: &str| &tree.packages[&(name.to_owned(), version.to_owned())];
        assert!(users("cc", "1.2.3").contains("b-sys"));
        assert!(users("tokio", "1.0.0").contains("c") && users("c", "1.0.0").contains("milena-cli"));
        assert!(Tree::parse("").is_err());
        assert!(Tree::parse("error: no").is_err());
    }

    #[test]
    fn c_in_the_default_build_is_refused() {
        let mut faults = Vec::new();
        let sys = metadata(r#"{"name": "b-sys", "version": "2.0.0", "links": "b", "dependencies": []}"#);
        compilers_of_c(&Tree::parse(TREE).unwrap(), &sys, &mut faults);
        assert_eq!(
            faults,
            [
                "the default build of milena-cli links to the C library `b` through b-sys 2.0.0",
                "the default build of milena-cli may compile C: [\"b-sys\"] uses cc",
            ]
        );
        faults.clear();
        let excused = "0 milena-cli v0.1.0\n1 rayon-core v1.0.0\n2 cc v1.0.0\n";
        let rayon = metadata(
            r#"{"name": "rayon-core", "version": "1.0.0", "links": "rayon-core", "dependencies": []}"#,
        );
        compilers_of_c(&Tree::parse(excused).unwrap(), &rayon, &mut faults);
        assert!(faults.is_empty(), "{faults:?}");
    }

    #[test]
    fn a_runtime_in_a_pure_crate_is_refused() {
        let mut faults = Vec::new();
        impurities("milena-core", &Tree::parse(TREE).unwrap(), &mut faults);
        assert_eq!(faults, ["milena-core must stay pure, but {\"c\"} brings in tokio"]);
    }

    #[test]
    fn short_cuts_between_layers_are_refused() {
        let mut faults = Vec::new();
        layering(
            &metadata(
                r#"{"name": "milena-core", "version": "0.1.0", "links": null, "dependencies": [
                    {"name": "milena-protocol", "kind": null}, {"name": "milena-broker", "kind": "dev"},
                    {"name": "milena-storage", "kind": null}]}"#,
            ),
            &mut faults,
        );
        let wanted =
            "milena-core depends on milena-storage; of our own crates it may only use [\"milena-protocol\"]";
        assert_eq!(faults, [wanted]);
    }
}
