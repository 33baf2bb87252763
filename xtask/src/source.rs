//! Rust source as tokens: enough of a reading to find functions, their attributes and what is called in them, also inside macros
//! such as `proptest!`, where a parser of items would see nothing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr as _;

use anyhow::{Context as _, Result, ensure};
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

/// The root of the repository: the parent of this crate's folder.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The files that are in the repository or about to be (not ignored by git), relative to `root`, sorted.
///
/// # Errors
/// When git cannot be run or `root` is no checkout.
pub(crate) fn tracked_files(root: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("running git ls-files")?;
    ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    let names = String::from_utf8(output.stdout).context("a file name that is not UTF-8")?;
    let mut files: Vec<PathBuf> =
        names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
    files.retain(|file| root.join(file).is_file());
    files.sort();
    files.dedup();
    Ok(files)
}

/// Splits a source file into tokens.
///
/// # Errors
/// When the text is not Rust (an unclosed bracket or string).
pub(crate) fn tokens(text: &str) -> Result<TokenStream> {
    TokenStream::from_str(text).map_err(|error| anyhow::anyhow!("not Rust: {error}"))
}

/// A function with a body, wherever it stands.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) attributes: Vec<TokenStream>,
    pub(crate) body: TokenStream,
}

impl Function {
    /// Whether one of the attributes makes it a test: `#[test]`, `#[tokio::test(…)]`, and others whose path ends in `test`.
    pub(crate) fn is_test(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute_name(attribute).as_deref() == Some("test"))
    }

    /// Whether it is a test that is never run unless asked for.
    pub(crate) fn is_ignored(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute_name(attribute).as_deref() == Some("ignore"))
    }

    /// Whether the body can fail: an `assert…!` (or proptest's), `panic!`, `unreachable!`, a `?`, or a call of a helper whose name
    /// says that it checks.
    pub(crate) fn can_fail(&self) -> bool {
        let checks = ["assert", "check", "expect_", "must_", "verify", "prop_assert"];
        let mut found = false;
        walk(&self.body, &mut |before, tokens| {
            let fails = match tokens.first() {
                Some(TokenTree::Ident(ident)) => {
                    let name = ident.to_string();
                    let called = is_punct(tokens.get(1), '!') || is_call(tokens);
                    called
                        && (checks.iter().any(|check| name.starts_with(check))
                            || matches!(name.as_str(), "panic" | "unreachable"))
                }
                // `?Sized` is a bound, not a check.
                Some(token) => {
                    is_punct(Some(token), '?')
                        && before.is_some()
                        && !matches!(tokens.get(1), Some(TokenTree::Ident(next)) if *next == "Sized")
                }
                None => false,
            };
            found |= fails;
        });
        found
    }
}

/// All functions with a body in `tokens`, those inside macros and other functions included.
pub(crate) fn functions(tokens: &TokenStream) -> Vec<Function> {
    let mut found = Vec::new();
    collect_functions(tokens, &mut found);
    found
}

fn collect_functions(stream: &TokenStream, found: &mut Vec<Function>) {
    let mut attributes: Vec<TokenStream> = Vec::new();
    let tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                if group.delimiter() == Delimiter::Bracket && is_punct(previous(&tokens, at), '#') {
                    attributes.push(group.stream());
                } else {
                    if group.delimiter() != Delimiter::Parenthesis {
                        attributes.clear();
                    }
                    collect_functions(&group.stream(), found);
                }
            }
            TokenTree::Ident(ident) if *ident == "fn" => {
                let attributes = std::mem::take(&mut attributes);
                if let Some(function) = function_at(&tokens, at, attributes) {
                    found.push(function);
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => attributes.clear(),
            _ => {}
        }
    }
}

/// The function whose `fn` stands at `at`, if it has a name (a pointer type has none) and a body (a trait's may not).
fn function_at(tokens: &[TokenTree], at: usize, attributes: Vec<TokenStream>) -> Option<Function> {
    let rest = tokens.get(at + 1..)?;
    let TokenTree::Ident(name) = rest.first()? else { return None };
    for token in rest {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let line = name.span().start().line;
                return Some(Function { name: name.to_string(), line, attributes, body: group.stream() });
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => return None,
            _ => {}
        }
    }
    None
}

/// The last name of an attribute's path: `test` of `tokio::test(start_paused = true)`.
pub(crate) fn attribute_name(attribute: &TokenStream) -> Option<String> {
    let mut last: Option<Ident> = None;
    for token in attribute.clone() {
        match token {
            TokenTree::Ident(ident) => last = Some(ident),
            TokenTree::Punct(punct) if punct.as_char() == ':' => {}
            _ => break,
        }
    }
    last.map(|ident| ident.to_string())
}

/// Calls `visit` at every token of `stream` and of the groups in it, with the token before and the tokens from there on.
pub(crate) fn walk(stream: &TokenStream, visit: &mut impl FnMut(Option<&TokenTree>, &[TokenTree])) {
    let tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
    for at in 0..tokens.len() {
        visit(previous(&tokens, at), &tokens[at..]);
        if let TokenTree::Group(group) = &tokens[at] {
            walk(&group.stream(), visit);
        }
    }
}

/// Whether `token` is the punctuation `wanted`.
pub(crate) fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// Whether the name that `tokens` start with is called: `name(…)`, or `name::<T>(…)`.
pub(crate) fn is_call(tokens: &[TokenTree]) -> bool {
    let parenthesis = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
    if parenthesis(tokens.get(1)) {
        return true;
    }
    let turbofish =
        is_punct(tokens.get(1), ':') && is_punct(tokens.get(2), ':') && is_punct(tokens.get(3), '<');
    let end = tokens.iter().position(|token| is_punct(Some(token), '>'));
    turbofish && end.is_some_and(|end| parenthesis(tokens.get(end + 1)))
}

fn previous(tokens: &[TokenTree], at: usize) -> Option<&TokenTree> {
    at.checked_sub(1).and_then(|before| tokens.get(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Function> {
        functions(&tokens(text).unwrap())
    }

    #[test]
    fn tests_are_told_from_other_functions() {
        let found = of("
            #[test] fn a() { assert!(true); }
            #[tokio::test(start_paused = true)] pub(crate) async fn b() -> Result<()> { x()?; Ok(()) }
            fn c() { assert!(true) }
            #[derive(Debug)] struct S; fn d() {}
            mod m { #[cfg(test)] #[test] #[ignore = \"slow\"] fn e() {} }
            trait T { fn f(&self); fn g(&self) { } }
            // #[test] fn h() {}
            const TEXT: &str = \"#[test] fn i() {}\";");
        let seen: Vec<_> =
            found.iter().map(|f| (f.name.as_str(), f.is_test(), f.is_ignored(), f.can_fail())).collect();
        let wanted = [
            ("a", true, false, true),
            ("b", true, false, true),
            ("c", false, false, true),
            ("d", false, false, false),
            ("e", true, true, false),
            ("g", false, false, false),
        ];
        assert_eq!(seen, wanted);
        assert_eq!(found[1].line, 3);
    }

    #[test]
    fn tests_inside_a_macro_are_found() {
        let found = of("proptest! { #[test] fn a(x in any::<u8>()) { prop_assert!(x > 0); } }");
        assert!(found.len() == 1 && found[0].is_test() && found[0].can_fail());
    }

    #[test]
    fn what_can_fail() {
        for (body, fails) in [
            ("let x = 1;", false),
            ("assert_eq!(1, 1);", true),
            ("check_order(&log);", true),
            ("log.expect_ordered::<u8>(1);", true),
            ("fn f<T: ?Sized>() {}", false),
            ("if a { panic!(\"no\") }", true),
            ("let assert = 1;", false),
            ("println!(\"assert!(x)\");", false),
            ("send().await?;", true),
        ] {
            let found = of(&format!("#[test] fn t() {{ {body} }}"));
            assert_eq!(found[0].can_fail(), fails, "{body}");
        }
    }
}
