use std::fmt;

/// A partition of a topic: what a log is named after.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicPartition {
    /// The topic's name.
    pub topic: String,
    /// The partition's number.
    pub partition: i32,
}

impl TopicPartition {
    /// The partition `partition` of `topic`.
    #[must_use]
    pub fn new(topic: impl Into<String>, partition: i32) -> Self {
        Self { topic: topic.into(), partition }
    }

    /// The name of the log's directory: `topic-partition`.
    #[must_use]
    pub fn dir_name(&self) -> String {
        self.to_string()
    }

    /// Reads a directory's name; `None` when it is not a log's.
    #[must_use]
    pub fn from_dir_name(name: &str) -> Option<Self> {
        let (topic, partition) = name.rsplit_once('-')?;
        let is_number = !partition.is_empty() && partition.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && is_valid_topic_name(topic))
            .then(|| partition.parse().ok())
            .flatten()
            .map(|partition| Self::new(topic, partition))
    }
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

/// Whether Kafka allows the name: 1 to 249 of `a-z A-Z 0-9 . _ -`, and not `.` or `..` (Kafka: `Topic.validate`).
/// Anything else could leave the log directory.
#[must_use]
pub fn is_valid_topic_name(name: &str) -> bool {
    const MAX_LENGTH: usize = 249;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.is_empty() && name.len() <= MAX_LENGTH && name != "." && name != ".." && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_names_are_read_back() {
        for (topic, partition) in [("orders", 0), ("a-b.c_d", 12), ("x-1", 3)] {
            let topic_partition = TopicPartition::new(topic, partition);
            assert_eq!(TopicPartition::from_dir_name(&topic_partition.dir_name()), Some(topic_partition));
        }
        for name in
            ["orders", "orders-", "-0", "orders-x", "..-0", "a/b-0", "orders-0.delete", "orders-99999999999"]
        {
            assert_eq!(TopicPartition::from_dir_name(name), None, "{name}");
        }
    }
}
