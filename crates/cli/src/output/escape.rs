//! Escapes as the shell user writes them: `\n`, `\t`, `\xNN`.

/// Replaces `\n`, `\r`, `\t`, `\0`, `\\` and `\xNN` (one or two hexadecimal digits); another escaped character stands for
/// itself, as with kcat.
///
/// # Errors
/// A `\x` without a digit, and a lone `\` at the end.
pub(crate) fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            push(&mut out, c);
            continue;
        }
        match rest.next() {
            None => return Err("`\\` at the end: write `\\\\` for a backslash".to_owned()),
            Some('n') => out.push(b'\n'),
            Some('r') => out.push(b'\r'),
            Some('t') => out.push(b'\t'),
            Some('0') => out.push(0),
            Some('x') => out.push(hexadecimal(&mut rest)?),
            Some(other) => push(&mut out, other),
        }
    }
    Ok(out)
}

fn push(out: &mut Vec<u8>, c: char) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn hexadecimal(rest: &mut std::str::Chars<'_>) -> Result<u8, String> {
    let mut value = 0;
    let mut digits = 0;
    while let Some(digit) = rest.clone().next().and_then(|c| c.to_digit(16)).filter(|_| digits < 2) {
        value = value * 16 + digit as u8;
        digits += 1;
        rest.next();
    }
    if digits == 0 {
        return Err("`\\x` needs one or two hexadecimal digits, such as `\\x1f`".to_owned());
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(unescape(r"a\tb\n\r\0\\\x1f\xFg\x414é"), Ok(b"a\tb\n\r\0\\\x1f\x0fgA4\xc3\xa9".to_vec()));
        assert_eq!(unescape(r"\q\%"), Ok(b"q%".to_vec()));
        assert!(unescape(r"\xg").is_err());
        assert!(unescape("a\\").is_err());
    }
}
