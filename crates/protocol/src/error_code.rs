//! [`ErrorCode`]: what a broker answers when something went wrong, or did not.

use std::fmt;

/// An error code of the protocol, known or not.
///
/// Names, numbers and classes are those of `org.apache.kafka.common.protocol.Errors` in Apache Kafka 4.4.0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ErrorCode(pub i16);

/// Where the code's exception stands below `ApiException` in Kafka's client.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Trying again does not help, or nobody may assume so.
    Fatal,
    /// A `RetriableException`.
    Retriable,
    /// An `InvalidMetadataException`: retriable, once the metadata has been refreshed.
    InvalidMetadata,
}

macro_rules! error_codes {
    ($($name:ident = $code:literal, $class:ident, $message:literal;)*) => {
        impl ErrorCode {
            $(
                #[doc = concat!("`", stringify!($name), "` (", $code, "): ", $message, ".")]
                pub const $name: Self = Self($code);
            )*

            /// All codes that Kafka has, in ascending order.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            fn entry(self) -> Option<(&'static str, Class, &'static str)> {
                match self.0 {
                    $($code => Some((stringify!($name), Class::$class, $message)),)*
                    _ => None,
                }
            }
        }
    };
}

error_codes! {
    UNKNOWN_SERVER_ERROR = -1, Fatal, "the broker failed for a reason that it has no code for";
    NONE = 0, Fatal, "no error";
    OFFSET_OUT_OF_RANGE = 1, Fatal, "the offset is outside of what the partition's log holds";
    CORRUPT_MESSAGE = 2, Retriable, "the records' checksum, size or shape is wrong";
    UNKNOWN_TOPIC_OR_PARTITION = 3, InvalidMetadata, "the broker does not have this topic or partition";
    INVALID_FETCH_SIZE = 4, Fatal, "the fetch size is not valid";
    LEADER_NOT_AVAILABLE = 5, InvalidMetadata, "the partition has no leader at the moment";
    NOT_LEADER_OR_FOLLOWER = 6, InvalidMetadata, "the broker is not the partition's leader, or does not hold a replica of it";
    REQUEST_TIMED_OUT = 7, Retriable, "the broker did not finish within the request's timeout";
    BROKER_NOT_AVAILABLE = 8, Fatal, "the broker is not available";
    REPLICA_NOT_AVAILABLE = 9, InvalidMetadata, "the replica is not available on this broker";
    MESSAGE_TOO_LARGE = 10, Fatal, "a message is larger than the broker accepts";
    STALE_CONTROLLER_EPOCH = 11, Fatal, "the sender's controller epoch is older than the broker's";
    OFFSET_METADATA_TOO_LARGE = 12, Fatal, "the metadata string of a committed offset is too large";
    NETWORK_EXCEPTION = 13, InvalidMetadata, "the connection was lost before an answer arrived";
    COORDINATOR_LOAD_IN_PROGRESS = 14, Retriable, "the coordinator is still loading its state";
    COORDINATOR_NOT_AVAILABLE = 15, Retriable, "there is no coordinator at the moment";
    NOT_COORDINATOR = 16, Retriable, "the broker is not the coordinator that was asked for";
    INVALID_TOPIC_EXCEPTION = 17, Fatal, "the topic's name is not valid, or the topic may not be used this way";
    RECORD_LIST_TOO_LARGE = 18, Fatal, "a record batch is larger than the broker accepts";
    NOT_ENOUGH_REPLICAS = 19, Retriable, "fewer replicas are in sync than min.insync.replicas asks for; nothing was written";
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20, Retriable, "the records were written, but fewer replicas are in sync than min.insync.replicas asks for";
    INVALID_REQUIRED_ACKS = 21, Fatal, "acks must be 0, 1 or -1";
    ILLEGAL_GENERATION = 22, Fatal, "the group has moved on to another generation";
    INCONSISTENT_GROUP_PROTOCOL = 23, Fatal, "the member's protocols do not fit those of the group";
    INVALID_GROUP_ID = 24, Fatal, "the group's id is not valid";
    UNKNOWN_MEMBER_ID = 25, Fatal, "the coordinator does not know this member";
    INVALID_SESSION_TIMEOUT = 26, Fatal, "the session timeout is outside of the range that the broker allows";
    REBALANCE_IN_PROGRESS = 27, Fatal, "the group is rebalancing; the member has to join again";
    INVALID_COMMIT_OFFSET_SIZE = 28, Fatal, "the offsets to commit are too large";
    TOPIC_AUTHORIZATION_FAILED = 29, Fatal, "not authorized to use this topic";
    GROUP_AUTHORIZATION_FAILED = 30, Fatal, "not authorized to use this group";
    CLUSTER_AUTHORIZATION_FAILED = 31, Fatal, "not authorized to do this on the cluster";
    INVALID_TIMESTAMP = 32, Fatal, "a record's timestamp is outside of the range that the topic allows";
    UNSUPPORTED_SASL_MECHANISM = 33, Fatal, "the broker does not offer this SASL mechanism";
    ILLEGAL_SASL_STATE = 34, Fatal, "the request does not fit the state of the SASL exchange";
    UNSUPPORTED_VERSION = 35, Fatal, "the broker does not speak this version of the API";
    TOPIC_ALREADY_EXISTS = 36, Fatal, "a topic of this name exists already";
    INVALID_PARTITIONS = 37, Fatal, "the number of partitions is not valid";
    INVALID_REPLICATION_FACTOR = 38, Fatal, "the replication factor is not valid or more than there are brokers";
    INVALID_REPLICA_ASSIGNMENT = 39, Fatal, "the assignment of replicas is not valid";
    INVALID_CONFIG = 40, Fatal, "a configuration value is not valid";
    NOT_CONTROLLER = 41, Retriable, "the broker is not the active controller";
    INVALID_REQUEST = 42, Fatal, "the request is malformed or contradicts itself";
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43, Fatal, "the log's message format cannot serve this request";
    POLICY_VIOLATION = 44, Fatal, "a policy of the cluster forbids this";
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45, Fatal, "the batch's sequence number does not follow the last one written";
    DUPLICATE_SEQUENCE_NUMBER = 46, Fatal, "the batch has been written before";
    INVALID_PRODUCER_EPOCH = 47, Fatal, "the producer's epoch is older than the current one";
    INVALID_TXN_STATE = 48, Fatal, "the transaction's state does not allow this";
    INVALID_PRODUCER_ID_MAPPING = 49, Fatal, "the producer id is not the one that belongs to the transactional id";
    INVALID_TRANSACTION_TIMEOUT = 50, Fatal, "the transaction timeout is larger than the broker allows";
    CONCURRENT_TRANSACTIONS = 51, Retriable, "another operation on the same transaction is still under way";
    TRANSACTION_COORDINATOR_FENCED = 52, Fatal, "the sender is no longer the transaction's coordinator";
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53, Fatal, "not authorized to use this transactional id";
    SECURITY_DISABLED = 54, Fatal, "the cluster has no security enabled";
    OPERATION_NOT_ATTEMPTED = 55, Fatal, "the broker did not get to this part of the request";
    KAFKA_STORAGE_ERROR = 56, InvalidMetadata, "the broker's disk failed on this partition";
    LOG_DIR_NOT_FOUND = 57, Fatal, "the broker has no such log directory";
    SASL_AUTHENTICATION_FAILED = 58, Fatal, "authentication failed";
    UNKNOWN_PRODUCER_ID = 59, Fatal, "the broker remembers nothing of this producer id";
    REASSIGNMENT_IN_PROGRESS = 60, Fatal, "a reassignment of the partition is under way";
    DELEGATION_TOKEN_AUTH_DISABLED = 61, Fatal, "delegation tokens are not enabled";
    DELEGATION_TOKEN_NOT_FOUND = 62, Fatal, "there is no such delegation token";
    DELEGATION_TOKEN_OWNER_MISMATCH = 63, Fatal, "the delegation token belongs to another principal";
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64, Fatal, "delegation tokens cannot be requested over this connection";
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65, Fatal, "not authorized to use this delegation token";
    DELEGATION_TOKEN_EXPIRED = 66, Fatal, "the delegation token has expired";
    INVALID_PRINCIPAL_TYPE = 67, Fatal, "this type of principal is not supported";
    NON_EMPTY_GROUP = 68, Fatal, "the group still has members";
    GROUP_ID_NOT_FOUND = 69, Fatal, "there is no such group";
    FETCH_SESSION_ID_NOT_FOUND = 70, Retriable, "the broker has no such fetch session";
    INVALID_FETCH_SESSION_EPOCH = 71, Retriable, "the fetch session's epoch is not the next one";
    LISTENER_NOT_FOUND = 72, InvalidMetadata, "the partition's leader has no listener of this name";
    TOPIC_DELETION_DISABLED = 73, Fatal, "topics cannot be deleted on this cluster";
    FENCED_LEADER_EPOCH = 74, InvalidMetadata, "the leader epoch is older than the broker's";
    UNKNOWN_LEADER_EPOCH = 75, Retriable, "the leader epoch is newer than the broker's";
    UNSUPPORTED_COMPRESSION_TYPE = 76, Fatal, "the peer does not support this compression";
    STALE_BROKER_EPOCH = 77, Fatal, "the broker's epoch is not the current one";
    OFFSET_NOT_AVAILABLE = 78, Retriable, "the new leader does not yet know how far the partition is committed";
    MEMBER_ID_REQUIRED = 79, Fatal, "the member has to join again with the id that it was given";
    PREFERRED_LEADER_NOT_AVAILABLE = 80, InvalidMetadata, "the preferred leader is not available";
    GROUP_MAX_SIZE_REACHED = 81, Fatal, "the group is full";
    FENCED_INSTANCE_ID = 82, Fatal, "another member has taken over this group instance id";
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83, InvalidMetadata, "no replica may become the partition's leader";
    ELECTION_NOT_NEEDED = 84, InvalidMetadata, "the partition needs no election";
    NO_REASSIGNMENT_IN_PROGRESS = 85, Fatal, "no reassignment of the partition is under way";
    GROUP_SUBSCRIBED_TO_TOPIC = 86, Fatal, "the group is still subscribed to the topic";
    INVALID_RECORD = 87, Fatal, "a record is not valid; the batch was refused";
    UNSTABLE_OFFSET_COMMIT = 88, Retriable, "some offsets of the group belong to an open transaction";
    THROTTLING_QUOTA_EXCEEDED = 89, Retriable, "the quota is used up";
    PRODUCER_FENCED = 90, Fatal, "another producer with the same transactional id has taken over";
    RESOURCE_NOT_FOUND = 91, Fatal, "the named thing does not exist";
    DUPLICATE_RESOURCE = 92, Fatal, "the request names the same thing twice";
    UNACCEPTABLE_CREDENTIAL = 93, Fatal, "the credential is not acceptable";
    INCONSISTENT_VOTER_SET = 94, Fatal, "sender and receiver disagree about who the voters are";
    INVALID_UPDATE_VERSION = 95, Fatal, "the version to update to is not valid";
    FEATURE_UPDATE_FAILED = 96, Fatal, "a feature could not be updated";
    PRINCIPAL_DESERIALIZATION_FAILURE = 97, Fatal, "the forwarded principal could not be read";
    SNAPSHOT_NOT_FOUND = 98, Fatal, "there is no such snapshot";
    POSITION_OUT_OF_RANGE = 99, Fatal, "the position lies outside of the snapshot";
    UNKNOWN_TOPIC_ID = 100, InvalidMetadata, "the broker does not have a topic of this id";
    DUPLICATE_BROKER_REGISTRATION = 101, Fatal, "this broker id is in use";
    BROKER_ID_NOT_REGISTERED = 102, Fatal, "this broker id is not registered";
    INCONSISTENT_TOPIC_ID = 103, InvalidMetadata, "the topic's id is not the one in the log";
    INCONSISTENT_CLUSTER_ID = 104, Fatal, "the cluster's id is not the expected one";
    TRANSACTIONAL_ID_NOT_FOUND = 105, Fatal, "there is no such transactional id";
    FETCH_SESSION_TOPIC_ID_ERROR = 106, Retriable, "the fetch session mixes topic names and topic ids";
    INELIGIBLE_REPLICA = 107, Fatal, "a replica of the new ISR may not be part of it";
    NEW_LEADER_ELECTED = 108, Fatal, "the partition was altered, and has a new leader";
    OFFSET_MOVED_TO_TIERED_STORAGE = 109, Fatal, "the offset lies in tiered storage";
    FENCED_MEMBER_EPOCH = 110, Fatal, "the member's epoch is fenced; it has to give up its partitions and join again";
    UNRELEASED_INSTANCE_ID = 111, Fatal, "the group instance id is still used by another member";
    UNSUPPORTED_ASSIGNOR = 112, Fatal, "the group does not support this assignor";
    STALE_MEMBER_EPOCH = 113, Fatal, "the member's epoch is stale";
    MISMATCHED_ENDPOINT_TYPE = 114, Fatal, "the endpoint is of another type";
    UNSUPPORTED_ENDPOINT_TYPE = 115, Fatal, "this type of endpoint is not supported";
    UNKNOWN_CONTROLLER_ID = 116, Fatal, "there is no controller of this id";
    UNKNOWN_SUBSCRIPTION_ID = 117, Fatal, "the telemetry subscription is out of date";
    TELEMETRY_TOO_LARGE = 118, Fatal, "the telemetry is larger than the broker accepts";
    INVALID_REGISTRATION = 119, Fatal, "the controller refuses the broker's registration";
    TRANSACTION_ABORTABLE = 120, Fatal, "the transaction failed and has to be aborted";
    INVALID_RECORD_STATE = 121, Fatal, "the record's state does not allow this acknowledgement";
    SHARE_SESSION_NOT_FOUND = 122, Retriable, "the broker has no such share session";
    INVALID_SHARE_SESSION_EPOCH = 123, Retriable, "the share session's epoch is not the next one";
    FENCED_STATE_EPOCH = 124, Fatal, "the state's epoch is not the current one";
    INVALID_VOTER_KEY = 125, Fatal, "the voter's key is not the replica's";
    DUPLICATE_VOTER = 126, Fatal, "the voter is one already";
    VOTER_NOT_FOUND = 127, Fatal, "there is no such voter";
    INVALID_REGULAR_EXPRESSION = 128, Fatal, "the regular expression is not valid";
    REBOOTSTRAP_REQUIRED = 129, Fatal, "the client has to bootstrap again";
    STREAMS_INVALID_TOPOLOGY = 130, Fatal, "the streams topology is not valid";
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131, Fatal, "the streams topology's epoch is not valid";
    STREAMS_TOPOLOGY_FENCED = 132, Fatal, "the streams topology's epoch is out of date";
    SHARE_SESSION_LIMIT_REACHED = 133, Retriable, "the broker has as many share sessions as it allows";
    GROUP_DELETION_FAILED = 134, Fatal, "the group was not deleted";
    STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED = 135, Fatal, "the description of the streams topology was not updated";
    CONTROLLER_ID_NOT_REGISTERED = 136, Fatal, "there is no registered controller of this id";
}

impl ErrorCode {
    /// Whether this is [`ErrorCode::NONE`].
    pub const fn is_ok(self) -> bool {
        self.0 == 0
    }

    /// Kafka's name of the code; `UNKNOWN_ERROR_CODE` for one that this crate does not know.
    pub fn name(self) -> &'static str {
        self.entry().map_or("UNKNOWN_ERROR_CODE", |(name, _, _)| name)
    }

    /// What the code says, in one plain sentence without a full stop.
    pub fn message(self) -> &'static str {
        self.entry()
            .map_or("the broker answered with a code that this version does not know", |(_, _, message)| {
                message
            })
    }

    /// Whether the same request may succeed later (Kafka's `RetriableException`). An unknown code is not retriable, as
    /// in Kafka, where it becomes `UNKNOWN_SERVER_ERROR`.
    pub fn is_retriable(self) -> bool {
        self.entry().is_some_and(|(_, class, _)| class != Class::Fatal)
    }

    /// Whether the sender's metadata is out of date and has to be refreshed (Kafka's `InvalidMetadataException`).
    pub fn is_invalid_metadata(self) -> bool {
        self.entry().is_some_and(|(_, class, _)| class == Class::InvalidMetadata)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.0)
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<i16> for ErrorCode {
    fn from(code: i16) -> Self {
        Self(code)
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorCode;

    #[test]
    fn codes_are_those_of_kafka() {
        assert_eq!(ErrorCode::default(), ErrorCode::NONE);
        assert_eq!(ErrorCode::NOT_LEADER_OR_FOLLOWER.to_string(), "NOT_LEADER_OR_FOLLOWER (6)");
        assert_eq!(ErrorCode::REBOOTSTRAP_REQUIRED, ErrorCode(129));
        assert_eq!(ErrorCode(9_999).to_string(), "UNKNOWN_ERROR_CODE (9999)");
        // Without a gap from -1 to the last one.
        let all: Vec<i16> = ErrorCode::ALL.iter().map(|code| code.0).collect();
        assert_eq!(all, (-1..=136).collect::<Vec<_>>());
    }

    #[test]
    fn classes_are_those_of_kafka() {
        let matching = |is: fn(ErrorCode) -> bool| -> Vec<i16> {
            ErrorCode::ALL.iter().filter(|code| is(**code)).map(|code| code.0).collect()
        };
        // From `Errors.forCode(code).exception() instanceof ...` of kafka-clients 4.4.0.
        let retriable = [
            2, 3, 5, 6, 7, 9, 13, 14, 15, 16, 19, 20, 41, 51, 56, 70, 71, 72, 74, 75, 78, 80, 83, 84, 88, 89,
            100, 103, 106, 122, 123, 133,
        ];
        let invalid_metadata = [3, 5, 6, 9, 13, 56, 72, 74, 80, 83, 84, 100, 103];
        assert_eq!(matching(ErrorCode::is_retriable), retriable);
        assert_eq!(matching(ErrorCode::is_invalid_metadata), invalid_metadata);
    }
}
