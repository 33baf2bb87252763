//! Leaderships that go back to the preferred replicas by themselves (`KafkaController.checkAndTriggerAutoLeaderRebalance`).

use std::collections::BTreeMap;
use std::time::Duration;

use super::ElectionKind;
use super::engine::ControllerEngine;

/// How long after its election a controller looks for the first time.
const FIRST_LOOK: Duration = Duration::from_secs(5);

impl ControllerEngine {
    /// When [`handle_time`](Self::handle_time) has something to do; None while it has not been told the time, or never.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Duration> {
        self.next_rebalance
    }

    /// It is `now`, since any fixed moment. The first time of all only sets the clock.
    pub fn handle_time(&mut self, now: Duration) {
        let Some(rebalance) = self.config.leader_rebalance else { return };
        // The first look is early: a controller's election has often been a broker's death.
        let first = FIRST_LOOK.min(rebalance.check_interval);
        let due = *self.next_rebalance.get_or_insert(now.saturating_add(first));
        if now < due {
            return;
        }
        self.next_rebalance = Some(now.saturating_add(rebalance.check_interval));
        let unbalanced = self.unbalanced(rebalance.imbalance_percentage);
        if !unbalanced.is_empty() {
            // Who is not alive or not in sync is refused, and is looked at again next time.
            let _answers = self.handle_elect_leaders(ElectionKind::Preferred, Some(unbalanced));
        }
    }

    /// The partitions to be led by their preferred replicas again, of the live brokers of which too many are led elsewhere.
    fn unbalanced(&self, percentage: u32) -> Vec<(String, i32)> {
        let mut preferred: BTreeMap<i32, (usize, Vec<(String, i32)>)> = BTreeMap::new();
        for (name, topic) in &self.state.topics {
            for (number, partition) in (0i32..).zip(&topic.partitions) {
                let Some(first) = partition.replicas.first().filter(|id| self.is_alive(**id)) else {
                    continue;
                };
                let (count, elsewhere) = preferred.entry(*first).or_default();
                *count += 1;
                if partition.leader != *first && !partition.is_reassigning() {
                    elsewhere.push((name.clone(), number));
                }
            }
        }
        let too_many =
            |(count, elsewhere): &(usize, Vec<_>)| elsewhere.len() * 100 > count * percentage as usize;
        preferred.into_values().filter(too_many).flat_map(|(_, elsewhere)| elsewhere).collect()
    }
}
