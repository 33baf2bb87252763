use super::{BatchBuilder, RecordsError, Seal};

/// What a control record says; its key's second field (`ControlRecordType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ControlType {
    /// The transaction was aborted.
    Abort,
    /// The transaction was committed.
    Commit,
    /// A new leader of a KRaft quorum (KIP-595).
    LeaderChange,
    /// The start of a KRaft snapshot (KIP-630).
    SnapshotHeader,
    /// The end of a KRaft snapshot (KIP-630).
    SnapshotFooter,
    /// The version of the KRaft protocol (KIP-853).
    KRaftVersion,
    /// The voters of a KRaft quorum (KIP-853).
    KRaftVoters,
    /// A type newer than this code; readers pass over it.
    Unknown(i16),
}

impl ControlType {
    /// Reads the key of a control record: a version, then the type. Later versions may add fields after these.
    ///
    /// # Errors
    /// If the key is shorter than 4 bytes or its version negative.
    pub fn from_key(key: &[u8]) -> Result<Self, RecordsError> {
        let Some([v0, v1, t0, t1]) = key.first_chunk().copied() else {
            return Err(RecordsError::malformed("a control record's key is shorter than 4 bytes"));
        };
        if i16::from_be_bytes([v0, v1]) < 0 {
            return Err(RecordsError::malformed("a control record's key has a negative version"));
        }
        Ok(match i16::from_be_bytes([t0, t1]) {
            0 => Self::Abort,
            1 => Self::Commit,
            2 => Self::LeaderChange,
            3 => Self::SnapshotHeader,
            4 => Self::SnapshotFooter,
            5 => Self::KRaftVersion,
            6 => Self::KRaftVoters,
            other => Self::Unknown(other),
        })
    }

    /// The number on the wire.
    pub fn id(self) -> i16 {
        match self {
            Self::Abort => 0,
            Self::Commit => 1,
            Self::LeaderChange => 2,
            Self::SnapshotHeader => 3,
            Self::SnapshotFooter => 4,
            Self::KRaftVersion => 5,
            Self::KRaftVoters => 6,
            Self::Unknown(id) => id,
        }
    }

    /// The key of a control record of this type, in version 0.
    pub fn to_key(self) -> [u8; 4] {
        let [high, low] = self.id().to_be_bytes();
        [0, 0, high, low]
    }
}

/// The end of a transaction, as the leader of each partition in it writes it (`EndTransactionMarker`, KIP-98).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndTransactionMarker {
    /// Commit, or else abort.
    pub commit: bool,
    /// Epoch of the transaction coordinator that decided.
    pub coordinator_epoch: i32,
}

impl EndTransactionMarker {
    /// The control batch that holds the marker, ready for the log: one record, transactional, without sequence.
    pub fn to_batch(self, timestamp: i64, producer_id: i64, producer_epoch: i16, buffer: Vec<u8>) -> Vec<u8> {
        let control_type = if self.commit { ControlType::Commit } else { ControlType::Abort };
        let mut value = [0; 6];
        value[2..].copy_from_slice(&self.coordinator_epoch.to_be_bytes());
        let mut builder = BatchBuilder::new(buffer);
        builder.append(timestamp, Some(&control_type.to_key()), Some(&value), &[]);
        builder.seal(Seal {
            producer_id,
            producer_epoch,
            transactional: true,
            control: true,
            ..Seal::default()
        })
    }

    /// Reads the marker from a control record's key and value.
    ///
    /// # Errors
    /// If the key is not a commit's or an abort's, or the value is shorter than a version and an epoch.
    pub fn from_record(key: &[u8], value: &[u8]) -> Result<Self, RecordsError> {
        let commit = match ControlType::from_key(key)? {
            ControlType::Commit => true,
            ControlType::Abort => false,
            _ => return Err(RecordsError::malformed("not the marker of a transaction's end")),
        };
        let Some([_, _, epoch @ ..]) = value.first_chunk::<6>().copied() else {
            return Err(RecordsError::malformed("a transaction marker's value is shorter than 6 bytes"));
        };
        Ok(Self { commit, coordinator_epoch: i32::from_be_bytes(epoch) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_survive_the_key() {
        for id in -1..9 {
            let control_type =
                ControlType::from_key(&[0, 0, i16::to_be_bytes(id)[0], i16::to_be_bytes(id)[1]]).unwrap();
            assert_eq!(control_type.id(), id);
            assert_eq!(ControlType::from_key(&control_type.to_key()), Ok(control_type));
        }
        assert!(ControlType::from_key(&[0, 0, 0]).is_err());
        assert!(ControlType::from_key(&[0xff, 0xff, 0, 0]).is_err());
    }
}
