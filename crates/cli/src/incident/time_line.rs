//! What happens, one line each.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use milena_old_producer::{Asked, RefreshReport};

use super::meter::Worst;

/// Something that has happened; the times are the play's.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// The command that makes a host dead has ended, after so long; or it failed.
    Struck(Result<Duration, String>),
    /// The old producer has refreshed its metadata, and sends again.
    Refreshed { ended: Instant, report: RefreshReport },
    /// Records of one of the producers have failed.
    Failed { at: Duration, who: &'static str, error: String },
}

/// One line of the time line.
pub(super) fn line(at: Duration, text: &str) -> String {
    format!("{:>6.1} s  {text}\n", at.as_secs_f64())
}

/// The longest waits of a second.
pub(super) fn second(at: Duration, old: Option<Worst>, new: Option<Worst>) -> String {
    let show = |worst: Option<Worst>| {
        worst.map_or_else(
            || "-".to_owned(),
            |worst| format!("{}{}", wait(worst.wait), if worst.waits_still { " …" } else { "" }),
        )
    };
    line(at, format!("  longest wait   old {:<12} new {}", show(old), show(new)).trim_end())
}

/// Whom a refresh has asked, and how long it took. `brokers` are the ids by address.
pub(super) fn refresh(report: &RefreshReport, brokers: &BTreeMap<String, i32>) -> String {
    let ask = |asked: &Asked| {
        let address = asked.broker.to_string();
        let name = brokers.get(&address).map_or(address, |id| format!("broker {id}"));
        match &asked.error {
            None => format!("{name}, which answered in {}", wait(asked.took)),
            Some(_) if asked.took >= Duration::from_millis(100) => {
                format!("{name}, which was silent, for {}", wait(asked.took))
            }
            Some(error) => format!("{name} in vain ({error})"),
        }
    };
    let asked: Vec<String> = report.asked.iter().map(ask).collect();
    format!("old producer has refreshed: asked {}", asked.join(", then "))
}

/// Three digits with a unit: `0.412 ms`, `23.1 ms`, `10.0 s`.
pub(super) fn wait(wait: Duration) -> String {
    let seconds = wait.as_secs_f64();
    match seconds {
        ..0.001 => format!("{:.3} ms", seconds * 1e3),
        ..0.9995 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use milena_old_producer::RequestError;

    use super::*;

    #[test]
    fn a_refresh_says_whom_it_asked_and_how_long() {
        let asked = |port: u16, millis, error| Asked {
            broker: format!("h:{port}").parse().unwrap(),
            took: Duration::from_millis(millis),
            error,
        };
        let timed_out = |port: u16| {
            let source = Arc::new(std::io::Error::from(std::io::ErrorKind::TimedOut));
            Some(RequestError::Connect { broker: format!("h:{port}").parse().unwrap(), source })
        };
        let report = RefreshReport {
            started: Duration::ZERO,
            took: Duration::from_secs(10),
            asked: vec![asked(3, 10_003, timed_out(3)), asked(4, 0, timed_out(4)), asked(1, 2, None)],
        };
        let brokers = BTreeMap::from([("h:1".to_owned(), 1), ("h:3".to_owned(), 3)]);
        assert_eq!(
            refresh(&report, &brokers),
            "old producer has refreshed: asked broker 3, which was silent, for 10.0 s, then h:4 in vain (connecting to h:4: \
             timed out), then broker 1, which answered in 2.0 ms"
        );
    }

    #[test]
    fn a_second() {
        let worst = |millis, waits_still| Some(Worst { wait: Duration::from_millis(millis), waits_still });
        let text = second(Duration::from_secs(12), worst(3_400, true), worst(2, false));
        assert_eq!(text, "  12.0 s    longest wait   old 3.4 s …      new 2.0 ms\n");
        assert!(second(Duration::ZERO, None, None).ends_with("old -            new -\n"));
    }

    #[test]
    fn waits() {
        assert_eq!(wait(Duration::from_micros(412)), "0.412 ms");
        assert_eq!(wait(Duration::from_micros(23_140)), "23.1 ms");
        assert_eq!(wait(Duration::from_micros(999_900)), "1.0 s");
        assert_eq!(wait(Duration::from_millis(10_020)), "10.0 s");
    }
}
