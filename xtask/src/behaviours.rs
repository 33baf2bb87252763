//! `cargo xtask behaviours`: each line of docs/behaviours.md and the tests that show it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use crate::source;

const DOCUMENT: &str = "docs/behaviours.md";

/// Prints the table of lines and tests.
///
/// # Errors
/// When a line has neither a test nor a mark, a test names a line that is not there, or a test that names one cannot fail.
pub(crate) fn run() -> Result<()> {
    let root = source::root();
    let text = std::fs::read_to_string(root.join(DOCUMENT)).with_context(|| format!("reading {DOCUMENT}"))?;
    let lines = parse_document(&text)?;
    let tests = tests_of(&root)?;
    let report = Report::new(&lines, &tests);
    print(&report.table);
    print(&report.notes);
    if report.faults.is_empty() {
        return Ok(());
    }
    bail!(
        "{} of the behaviours are not as they should be:\n{}",
        report.faults.len(),
        report.faults.join("\n")
    )
}

#[allow(clippy::print_stdout, reason = "the table is what the command is for")]
fn print(text: &str) {
    print!("{text}");
}

/// A numbered line of the document.
#[derive(Debug, PartialEq)]
struct Line {
    /// `metadata_03`: what the names of its tests begin with.
    id: String,
    text: String,
    /// Which later piece of work owns it.
    later: Option<String>,
}

/// A test function whose name may begin with a line's.
#[derive(Debug, Clone)]
struct Test {
    name: String,
    place: String,
    can_fail: bool,
    ignored: bool,
}

/// The list items `- **name_NN** text (later: whose)` of the document, whose text may go on in indented lines.
fn parse_document(text: &str) -> Result<Vec<Line>> {
    let mut items: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if let Some((id, rest)) = line.strip_prefix("- **").and_then(|rest| rest.split_once("** ")) {
            ensure!(section_of(id) == Some((id, "")), "{DOCUMENT}: `{id}` is not a name like `metadata_03`");
            ensure!(items.iter().all(|(known, _)| known != id), "{DOCUMENT}: `{id}` stands there twice");
            items.push((id.to_owned(), rest.trim().to_owned()));
            open = true;
        } else if let Some((_, item)) = items.last_mut().filter(|_| open && line.starts_with("  ")) {
            item.push(' ');
            item.push_str(line.trim());
        } else {
            open = false;
        }
    }
    ensure!(!items.is_empty(), "{DOCUMENT} holds no line of the form `- **metadata_03** …`");
    Ok(items.into_iter().map(|(id, text)| with_mark(id, text)).collect())
}

fn with_mark(id: String, text: String) -> Line {
    let mark = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (later: "));
    match mark {
        Some((text, owner)) => Line { id, text: text.to_owned(), later: Some(owner.to_owned()) },
        None => Line { id, text, later: None },
    }
}

/// Splits `metadata_03_a_new_topic` into `metadata_03` and `_a_new_topic`: letters, two digits, then an underscore or the end.
fn section_of(name: &str) -> Option<(&str, &str)> {
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    let section = name[..digits].strip_suffix('_')?;
    let end = name[digits..].find(|c: char| !c.is_ascii_digit()).map_or(name.len(), |length| digits + length);
    let (id, rest) = name.split_at(end);
    let whole = !section.is_empty() && end - digits == 2 && (rest.is_empty() || rest.starts_with('_'));
    whole.then_some((id, rest))
}

fn tests_of(root: &Path) -> Result<Vec<Test>> {
    let mut tests = Vec::new();
    for file in source::tracked_files(root)? {
        let searched = file.starts_with("crates") || file.starts_with("interop");
        if !searched || file.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(root.join(&file))
            .with_context(|| format!("reading {}", file.display()))?;
        tests.extend(tests_in(&file.display().to_string(), &text)?);
    }
    Ok(tests)
}

fn tests_in(file: &str, text: &str) -> Result<Vec<Test>> {
    let tokens = source::tokens(text).with_context(|| file.to_owned())?;
    let tests = source::functions(&tokens).into_iter().filter(source::Function::is_test);
    Ok(tests
        .map(|function| Test {
            place: format!("{file}:{}", function.line),
            can_fail: function.can_fail(),
            ignored: function.is_ignored(),
            name: function.name,
        })
        .collect())
}

/// What the command says.
#[derive(Default)]
struct Report {
    table: String,
    notes: String,
    faults: Vec<String>,
}

impl Report {
    fn new(lines: &[Line], tests: &[Test]) -> Self {
        let mut report = Self::default();
        let ids: BTreeSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
        let sections: BTreeSet<&str> =
            ids.iter().filter_map(|id| id.rsplit_once('_')).map(|(section, _)| section).collect();
        let mut shown: BTreeMap<&str, Vec<&Test>> = BTreeMap::new();
        for test in tests {
            let Some((id, _)) = section_of(&test.name) else { continue };
            if ids.contains(id) {
                report.judge(id, test);
                shown.entry(id).or_default().push(test);
            } else if id.rsplit_once('_').is_some_and(|(section, _)| sections.contains(section)) {
                report
                    .faults
                    .push(format!("  {} ({}) names {id}, which is not in {DOCUMENT}", test.name, test.place));
            }
        }
        for line in lines {
            report.add(line, shown.get(line.id.as_str()).map_or(&[], Vec::as_slice));
        }
        let shown_lines = shown.len();
        let later =
            lines.iter().filter(|line| line.later.is_some() && !shown.contains_key(line.id.as_str())).count();
        _ = writeln!(report.notes, "{} lines: {shown_lines} shown by tests, {later} later", lines.len());
        report
    }

    fn judge(&mut self, id: &str, test: &Test) {
        if !test.can_fail {
            self.faults.push(format!(
                "  {} ({}) names {id} but asserts nothing: no assert…!, no `?`, no call of a helper named assert_…, check_…, \
                 expect_…, must_… or verify_…",
                test.name, test.place
            ));
        }
        if test.ignored {
            self.faults.push(format!("  {} ({}) names {id} but is ignored", test.name, test.place));
        }
    }

    fn add(&mut self, line: &Line, tests: &[&Test]) {
        let id = &line.id;
        match (tests, &line.later) {
            ([], None) => {
                _ = writeln!(self.table, "{id:<18} NO TEST");
                self.faults.push(format!("  {id} has no test: {}", line.text));
            }
            ([], Some(owner)) => _ = writeln!(self.table, "{id:<18} later: {owner}"),
            (tests, later) => {
                for (at, test) in tests.iter().enumerate() {
                    let first = if at == 0 { id } else { "" };
                    _ = writeln!(self.table, "{first:<18} {} ({})", test.name, test.place);
                }
                if let Some(owner) = later {
                    _ = writeln!(self.notes, "note: {id} has a test; its mark `(later: {owner})` can go");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\n\n- **metadata_01** One line\n  that goes on.\n- **metadata_02** Two (later: the\n  cluster)\n\n  not part of it\n- **bad_input_33** Three\n";

    fn report(source: &str) -> Report {
        Report::new(&parse_document(TEXT).unwrap(), &tests_in("a.rs", source).unwrap())
    }

    #[test]
    fn the_document_is_read() {
        let lines = parse_document(TEXT).unwrap();
        let line = |id: &str, text: &str, later: Option<&str>| Line {
            id: id.to_owned(),
            text: text.to_owned(),
            later: later.map(str::to_owned),
        };
        let wanted = [
            line("metadata_01", "One line that goes on.", None),
            line("metadata_02", "Two", Some("the cluster")),
            line("bad_input_33", "Three", None),
        ];
        assert_eq!(lines, wanted);
        assert!(parse_document("- **metadata_1** x").is_err());
        assert!(parse_document("- **metadata_01** x\n- **metadata_01** y").is_err());
        assert!(parse_document("nothing").is_err());
    }

    #[test]
    fn every_line_with_a_test_or_a_mark_passes() {
        let report = report(
            "#[test] fn metadata_01_x() { assert!(a); } #[tokio::test] async fn bad_input_33() { b().await? } \
             #[test] fn batch_2_is_whole() { assert!(a); } #[test] fn a_100_records() {}",
        );
        assert_eq!(report.faults, Vec::<String>::new());
        assert!(report.table.contains("metadata_01        metadata_01_x (a.rs:1)"), "{}", report.table);
        assert!(report.table.contains("metadata_02        later: the cluster"), "{}", report.table);
        assert!(report.notes.contains("3 lines: 2 shown by tests, 1 later"), "{}", report.notes);
    }

    #[test]
    fn a_line_without_a_test_fails() {
        let report = report(
            "#[test] fn bad_input_33_x() { assert!(a); } fn metadata_01_no_attribute() { assert!(a); }",
        );
        assert_eq!(report.faults, ["  metadata_01 has no test: One line that goes on."]);
    }

    #[test]
    fn a_test_of_a_line_that_is_not_there_fails() {
        let report = report(
            "#[test] fn bad_input_33() { assert!(a) } #[test] fn metadata_01() { assert!(a) } #[test] fn metadata_07_x() { assert!(a) }",
        );
        assert_eq!(
            report.faults,
            ["  metadata_07_x (a.rs:1) names metadata_07, which is not in docs/behaviours.md"]
        );
    }

    #[test]
    fn a_test_that_cannot_fail_or_never_runs_fails() {
        let report = report(
            "#[test] fn bad_input_33() { run(); } #[test] #[ignore = \"slow\"] fn metadata_01() { assert!(a) }",
        );
        assert!(report.faults[0].contains("bad_input_33 (a.rs:1) names bad_input_33 but asserts nothing"));
        assert!(report.faults[1].contains("metadata_01 (a.rs:1) names metadata_01 but is ignored"));
        assert_eq!(report.faults.len(), 2);
    }

    #[test]
    fn a_mark_that_can_go_is_pointed_out() {
        let report = report(
            "#[test] fn bad_input_33() { assert!(a) } #[test] fn metadata_01() { assert!(a) } #[test] fn metadata_02() { assert!(a) }",
        );
        assert!(
            report.notes.contains("note: metadata_02 has a test; its mark `(later: the cluster)` can go")
        );
        assert!(report.faults.is_empty());
    }
}
