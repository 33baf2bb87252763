//! `cargo xtask tidy`: what no compiler and no linter sees. The rules about text stand in [`text`], those about crates in [`crates`].

mod crates;
mod text;

use anyhow::{Context as _, Result, bail};

use crate::source;

/// Checks every file of the repository and the graph of its crates.
///
/// # Errors
/// When a rule is broken (each place is named), or git or cargo cannot be run.
pub(crate) fn run() -> Result<()> {
    let root = source::root();
    let mut faults = Vec::new();
    let files = source::tracked_files(&root)?;
    for file in &files {
        let bytes = std::fs::read(root.join(file)).with_context(|| format!("reading {}", file.display()))?;
        // A file that is not text has no lines to judge.
        if let Ok(text) = String::from_utf8(bytes) {
            text::check(&file.to_string_lossy(), &text, &mut faults)?;
        }
    }
    crates::check(&root, &mut faults)?;
    if faults.is_empty() {
        say(&format!("{} files and the crates' graph are tidy", files.len()));
        return Ok(());
    }
    bail!("{} things are untidy:\n  {}", faults.len(), faults.join("\n  "))
}

#[allow(clippy::print_stdout, reason = "one line says that the check ran")]
fn say(text: &str) {
    println!("{text}");
}
