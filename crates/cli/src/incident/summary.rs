//! What was seen: a table and one sentence. Every number is the run's.

use std::{collections::BTreeSet, time::Duration};

use milena_old_producer::RefreshReport;

use super::{
    meter::{Fate, Sample},
    time_line::wait,
};
use crate::output::{Align, count, table};

/// A refresh of the old producer.
#[derive(Clone, Debug)]
pub(super) struct Refresh {
    /// When it was over, in the play's time.
    pub(super) at: Duration,
    pub(super) report: RefreshReport,
}

impl Refresh {
    pub(super) fn began(&self) -> Duration {
        self.at.saturating_sub(self.report.took)
    }

    /// How long it was held up by brokers that did not answer before another one did.
    pub(super) fn held_up(&self) -> Duration {
        let silent = self.report.asked.iter().filter(|asked| asked.error.is_some());
        silent.map(|asked| asked.took).sum()
    }
}

/// The whole play.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    pub(super) old: Vec<Sample>,
    pub(super) new: Vec<Sample>,
    pub(super) refreshes: Vec<Refresh>,
    /// When the host died.
    pub(super) fault: Duration,
    /// When all of its partitions were led by others.
    pub(super) moved: Option<Duration>,
    /// Whose host it was.
    pub(super) dead: BTreeSet<i32>,
    /// The partitions with a replica there.
    pub(super) touched: BTreeSet<i32>,
    /// The old producer's.
    pub(super) request_timeout: Duration,
}

/// A wait, or the least that it is known to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
struct Longest {
    wait: Duration,
    at_least: bool,
}

impl Summary {
    /// The refreshes after the fault that a silent host has held up for about request.timeout.ms.
    pub(super) fn held_up(&self) -> impl Iterator<Item = &Refresh> {
        let after = self.refreshes.iter().filter(|refresh| refresh.at > self.fault);
        after.filter(|refresh| refresh.held_up() >= self.request_timeout / 2)
    }

    /// Waits before the fault and after it, of both.
    pub(super) fn table(&self) -> String {
        let columns = [
            ("PRODUCER", Align::Left),
            ("RECORDS", Align::Right),
            ("FAILED", Align::Right),
            ("MEDIAN BEFORE", Align::Right),
            ("LONGEST BEFORE", Align::Right),
            ("REPLICA ON THE DEAD HOST", Align::Right),
            ("NONE THERE", Align::Right),
            ("LEADERS HAVE MOVED", Align::Right),
        ];
        let row = |name: &str, samples: &[Sample]| {
            let failed = samples.iter().filter(|sample| sample.fate == Fate::Failed).count() as u64;
            let before = |sample: &Sample| sample.due + sample.wait < self.fault;
            let longest = |what: &dyn Fn(&Sample) -> bool| show(longest(samples, what));
            [
                name.to_owned(),
                count(samples.len() as u64).to_string(),
                count(failed).to_string(),
                median(samples.iter().filter(|sample| before(sample))).map_or("-".to_owned(), wait),
                longest(&before),
                longest(&|sample| !before(sample) && self.touched.contains(&sample.partition)),
                longest(&|sample| !before(sample) && !self.touched.contains(&sample.partition)),
                longest(&|sample| self.moved.is_some_and(|moved| sample.due > moved)),
            ]
        };
        table(columns, [row("old", &self.old), row("new", &self.new)])
    }

    /// What was seen, in one sentence.
    pub(super) fn sentence(&self) -> String {
        let Self { fault, moved, .. } = self;
        let dead: Vec<String> = self.dead.iter().map(ToString::to_string).collect();
        let who = if dead.is_empty() { "a broker".to_owned() } else { format!("broker {}", dead.join(", ")) };
        let since = |at: Duration| wait(at.saturating_sub(*fault));
        let cluster = match moved {
            Some(moved) => {
                format!("the host of {who} died, and after {} others led its partitions", since(*moved))
            }
            None => "a host was to die, and by the end of the play no partition had another leader (if the cluster needs no \
                     longer than that, nobody who leads one has died)"
                .to_owned(),
        };
        format!("Seen: {cluster}; {}; {}.\n", self.of_the_old(), self.of_the_new())
    }

    fn of_the_old(&self) -> String {
        let after = self.refreshes.iter().filter(|refresh| refresh.at > self.fault).count();
        let held_up: Vec<&Refresh> = self.held_up().collect();
        let longest_refresh = held_up.iter().map(|refresh| refresh.held_up()).max();
        let refreshes = match (after, longest_refresh) {
            (0, _) => "the old producer has not refreshed its metadata since".to_owned(),
            (after, None) => format!(
                "the old producer has refreshed its metadata {} since and never asked the dead host first (with another \
                 --seed it may)",
                times(after)
            ),
            (after, Some(longest)) => format!(
                "the old producer has refreshed its metadata {} since, in the sending thread, asking the dead host first {}, \
                 and whatever was to be sent waited for that up to {} (request.timeout.ms is {})",
                times(after),
                times(held_up.len()),
                wait(longest),
                wait(self.request_timeout)
            ),
        };
        format!("{refreshes}, and its longest wait of all was {}", show(self.after(&self.old)))
    }

    fn of_the_new(&self) -> String {
        let worst = self.after(&self.new);
        let took = self.moved.map(|moved| moved.saturating_sub(self.fault));
        let compared = match (worst, took) {
            (Some(worst), Some(took)) if worst.wait > took => {
                format!(", {} more than the cluster took", wait(worst.wait - took))
            }
            _ => String::new(),
        };
        let mut text = format!("the new producer's longest wait was {}{compared}", show(worst));
        if let Some(moved) = self.moved {
            let healthy = longest(&self.new, &|sample| {
                sample.due + sample.wait >= self.fault && !self.touched.contains(&sample.partition)
            });
            if healthy.is_some() {
                text.push_str(&format!(
                    ", that on partitions without a replica on the dead host {}",
                    show(healthy)
                ));
            }
            let later = longest(&self.new, &|sample| sample.due > moved);
            text.push_str(&format!(", and that of anything due once the leaders had moved {}", show(later)));
        }
        text
    }

    fn after(&self, samples: &[Sample]) -> Option<Longest> {
        longest(samples, &|sample| sample.due + sample.wait >= self.fault)
    }
}

fn longest(samples: &[Sample], what: &dyn Fn(&Sample) -> bool) -> Option<Longest> {
    let longest = samples.iter().filter(|sample| what(sample)).max_by_key(|sample| sample.wait)?;
    Some(Longest { wait: longest.wait, at_least: longest.fate == Fate::Waiting })
}

fn median<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<Duration> {
    let mut waits: Vec<Duration> = samples.map(|sample| sample.wait).collect();
    waits.sort_unstable();
    waits.get(waits.len() / 2).copied()
}

fn show(longest: Option<Longest>) -> String {
    match longest {
        None => "-".to_owned(),
        Some(Longest { wait: longest, at_least: false }) => wait(longest),
        Some(Longest { wait: longest, at_least: true }) => format!("more than {}", wait(longest)),
    }
}

fn times(n: usize) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use milena_old_producer::{Asked, RequestError};

    use super::*;

    fn sample(due: u64, wait: u64, partition: i32, fate: Fate) -> Sample {
        Sample { due: Duration::from_millis(due), wait: Duration::from_millis(wait), partition, fate }
    }

    fn refresh(at: u64, silent: Option<u64>) -> Refresh {
        let broker = || "h:1".parse().unwrap();
        let source = Arc::new(std::io::Error::from(std::io::ErrorKind::TimedOut));
        let silent = silent.map(|millis| Asked {
            broker: broker(),
            took: Duration::from_millis(millis),
            error: Some(RequestError::Connect { broker: broker(), source }),
        });
        let answered = Asked { broker: broker(), took: Duration::from_millis(1), error: None };
        let asked: Vec<Asked> = silent.into_iter().chain([answered]).collect();
        let took = asked.iter().map(|asked| asked.took).sum();
        let report = RefreshReport { started: Duration::ZERO, took, asked };
        Refresh { at: Duration::from_millis(at), report }
    }

    /// Broker 3 dies at 5 s; partition 2 was its.
    fn play() -> Summary {
        let ok = Fate::Acknowledged;
        Summary {
            old: vec![sample(0, 2, 0, ok), sample(5_000, 10_100, 2, ok), sample(21_000, 10_002, 0, ok)],
            new: vec![
                sample(0, 3, 0, ok),
                sample(5_000, 9_150, 2, ok),
                sample(6_000, 5, 0, ok),
                sample(15_000, 4, 2, ok),
            ],
            refreshes: vec![refresh(1, None), refresh(15_000, None), refresh(31_000, Some(10_001))],
            fault: Duration::from_secs(5),
            moved: Some(Duration::from_secs(14)),
            dead: BTreeSet::from([3]),
            touched: BTreeSet::from([2]),
            request_timeout: Duration::from_secs(10),
        }
    }

    #[test]
    fn one_sentence_says_what_was_seen() {
        assert_eq!(
            play().sentence(),
            "Seen: the host of broker 3 died, and after 9.0 s others led its partitions; the old producer has refreshed its \
             metadata twice since, in the sending thread, asking the dead host first once, and whatever was to be sent waited \
             for that up to 10.0 s (request.timeout.ms is 10.0 s), and its longest wait of all was 10.1 s; the new producer's \
             longest wait was 9.2 s, 150.0 ms more than the cluster took, that on partitions without a replica on the dead \
             host 5.0 ms, and that of anything due once the leaders had moved 4.0 ms.\n"
        );
    }

    #[test]
    fn what_did_not_happen_is_not_said() {
        let mut play = play();
        play.moved = None;
        play.dead.clear();
        play.refreshes.truncate(2);
        play.new[3].fate = Fate::Waiting;
        play.new[3].wait = Duration::from_secs(30);
        assert_eq!(
            play.sentence(),
            "Seen: a host was to die, and by the end of the play no partition had another leader (if the cluster needs no \
             longer than that, nobody who leads one has died); the old producer has refreshed its metadata once since and \
             never asked the dead host first (with another --seed it may), and its longest wait of all was 10.1 s; the new producer's longest wait was more than 30.0 s.\n"
        );
    }

    #[test]
    fn a_table_of_both() {
        let text = play().table();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split("  ").collect()).collect();
        let cells = |line: &[&str]| -> Vec<String> {
            line.iter().map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
        };
        assert_eq!(cells(&lines[1]), ["old", "3", "0", "2.0 ms", "2.0 ms", "10.1 s", "10.0 s", "10.0 s"]);
        assert_eq!(cells(&lines[2]), ["new", "4", "0", "3.0 ms", "3.0 ms", "9.2 s", "5.0 ms", "4.0 ms"]);
    }
}
