//! [`elect`]: who leads a partition next (`kafka.controller.Election`).

/// Why there is an election, which decides who may win it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElectionKind {
    /// The leader is gone, shuts down, or is to hold no replica any more: the first replica that is eligible and in
    /// sync.
    Clean,
    /// As [`Clean`](Self::Clean); when there is nobody, the first replica that is eligible, although it may lack
    /// records that were acknowledged.
    Unclean,
    /// The first replica or nobody.
    Preferred,
}

/// How an election ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Election {
    /// The leader, a member of `isr`.
    pub leader: i32,
    /// Who is in sync from now on.
    pub isr: Vec<i32>,
}

/// Elects a leader among `replicas`, in their order. None when nobody may lead.
pub fn elect(
    kind: ElectionKind,
    replicas: &[i32],
    isr: &[i32],
    is_eligible: impl Fn(i32) -> bool,
) -> Option<Election> {
    let may_lead = |id: i32| is_eligible(id) && isr.contains(&id);
    let first = |may: &dyn Fn(i32) -> bool| replicas.iter().copied().find(|id| may(*id));
    match kind {
        ElectionKind::Preferred => {
            let preferred = replicas.first().copied().filter(|id| may_lead(*id))?;
            Some(Election { leader: preferred, isr: isr.to_vec() })
        }
        ElectionKind::Clean | ElectionKind::Unclean => match first(&may_lead) {
            Some(leader) => {
                Some(Election { leader, isr: isr.iter().copied().filter(|id| is_eligible(*id)).collect() })
            }
            None if kind == ElectionKind::Unclean => {
                first(&is_eligible).map(|leader| Election { leader, isr: vec![leader] })
            }
            None => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elected(kind: ElectionKind, isr: &[i32], eligible: &[i32]) -> Option<(i32, Vec<i32>)> {
        let election = elect(kind, &[1, 2, 3], isr, |id| eligible.contains(&id))?;
        Some((election.leader, election.isr))
    }

    #[test]
    fn elections_19_the_first_assigned_replica_that_is_alive_and_in_sync() {
        let clean = |isr: &[i32], eligible: &[i32]| elected(ElectionKind::Clean, isr, eligible);
        assert_eq!(clean(&[3, 2], &[2, 3]), Some((2, vec![3, 2])), "the assignment's order, not the ISR's");
        assert_eq!(clean(&[1, 3], &[2, 3]), Some((3, vec![3])), "2 is alive, but not in sync");
        assert_eq!(clean(&[1], &[2, 3]), None);
    }

    #[test]
    fn elections_20_unclean_prefers_who_is_in_sync() {
        let unclean = |isr: &[i32], eligible: &[i32]| elected(ElectionKind::Unclean, isr, eligible);
        assert_eq!(unclean(&[3], &[2, 3]), Some((3, vec![3])));
        assert_eq!(unclean(&[1], &[3, 2]), Some((2, vec![2])));
        assert_eq!(unclean(&[1], &[]), None);
    }

    #[test]
    fn elections_21_preferred_is_the_first_or_nobody() {
        let preferred = |isr: &[i32], eligible: &[i32]| elected(ElectionKind::Preferred, isr, eligible);
        assert_eq!(preferred(&[2, 1], &[1, 2]), Some((1, vec![2, 1])));
        assert_eq!(preferred(&[2, 1], &[2, 3]), None);
        assert_eq!(preferred(&[2, 3], &[1, 2, 3]), None);
    }
}
