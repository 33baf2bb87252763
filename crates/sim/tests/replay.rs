//! A seed says it all: what was found once is found again. And the seeds that found something once.

use milena_sim::scenario::Scenario;
use milena_sim::trace::TraceMode;
use milena_sim::{Options, run};

fn hash(seed: u64) -> u64 {
    run(seed, Options { trace: TraceMode::Hash, ..Options::default() }).hash
}

#[test]
fn a_seed_has_one_history() {
    for seed in [3, 30, 626] {
        assert_eq!(hash(seed), hash(seed), "seed {seed} has two histories");
    }
    assert_ne!(hash(3), hash(30));
}

#[test]
fn every_scenario_passes() {
    for scenario in Scenario::ALL {
        for seed in 0..2 {
            let violations = run(seed, Options { scenario, ..Options::default() }).violations;
            assert_eq!(violations, Vec::<String>::new(), "seed {seed} of {scenario}");
        }
    }
}

/// 123, 291: a broker that was told a role in a topic, and only then that the topic was deleted, created its log once more. 283,
/// 695: a topic was deleted between a broker's registration and the controller's hearing of it. 995: a stale view led a producer
/// to a deleted topic and back. 69, 976: a control request that was sent again came after the next one.
#[test]
fn seeds_of_topics_created_again_that_failed_once_pass() {
    for seed in [69, 123, 283, 291, 695, 976, 995] {
        let options = Options { scenario: Scenario::TopicRecreated, ..Options::default() };
        assert_eq!(run(seed, options).violations, Vec::<String>::new(), "seed {seed}");
    }
}

/// 3, 19: a leader that had restarted did not know the last but one batch of a producer. 164: a leader waited half a minute
/// for a controller that was dead. 3000: a recovery moved the start of a leader epoch. 28526, 34448, 68323, 70692: a control request
/// whose connection had died without a word waited for half a minute. 7163: a leader that had been replaced was believed that it
/// lacked a batch. 97175: a fault of the simulation's, a torn write that happened long after the end of all faults.
#[test]
fn seeds_that_failed_once_pass() {
    for seed in [3, 19, 164, 236, 3000, 7163, 28526, 34448, 68323, 70692, 97175] {
        let violations = run(seed, Options::default()).violations;
        assert_eq!(violations, Vec::<String>::new(), "seed {seed}");
    }
}
