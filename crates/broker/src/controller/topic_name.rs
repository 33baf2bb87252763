//! Which names a topic may have (`org.apache.kafka.common.internals.Topic`).

/// The longest name: with `-` and a partition number it still is a file name.
const MAX_NAME_LENGTH: usize = 249;

/// Says what is wrong with a topic's name, if something is. The text is for the client.
pub(crate) fn validate_topic_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("Topic name is invalid: the empty string is not allowed".to_owned());
    }
    if name == "." || name == ".." {
        return Err("Topic name is invalid: '.' or '..' is not allowed".to_owned());
    }
    if name.len() > MAX_NAME_LENGTH {
        return Err(format!(
            "Topic name is invalid: the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
        ));
    }
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !name.chars().all(legal) {
        return Err(format!(
            "Topic name is invalid: '{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' \
             and '-'"
        ));
    }
    Ok(())
}

/// Whether two names differ only in `.` and `_`, which metrics cannot tell apart.
pub(crate) fn collide(one: &str, other: &str) -> bool {
    let unified = |name: &str| name.replace('.', "_");
    one != other && unified(one) == unified(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_kafka_allows() {
        let longest = "a".repeat(249);
        for name in ["a", "A.b_c-9", "...", longest.as_str()] {
            assert_eq!(validate_topic_name(name), Ok(()), "{name}");
        }
        let too_long = "a".repeat(250);
        for name in ["", ".", "..", "a b", "a/b", "ä", "a\0", too_long.as_str()] {
            assert!(validate_topic_name(name).is_err(), "{name}");
        }
        assert!(collide("a.b", "a_b") && !collide("a.b", "a.b") && !collide("a.b", "a-b"));
    }
}
