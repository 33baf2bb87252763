//! Programs in turns, and the tables of what came of them.

use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};

/// A figure of each run: its name, and how many digits follow its point. The first two of a contest are records per second and
/// CPU per record.
pub type Column = (&'static str, usize);

/// A client to be measured, and what came of it.
#[derive(Debug)]
pub struct Contestant<P> {
    /// Its name in the tables.
    pub name: String,
    /// How it is run.
    pub program: P,
    runs: Vec<Vec<f64>>,
}

impl<P> Contestant<P> {
    /// One that has not run.
    pub fn new(name: String, program: P) -> Self {
        Self { name, program, runs: Vec::new() }
    }
}

/// Runs all of them in turns, the order turned round from round to round, after a round that does not count. `run` is given the
/// contestant, the round and its place; it answers the run's figures in the order of the columns, or None for no run.
///
/// # Errors
/// The first of `run`.
pub fn in_turns<P>(
    contestants: &mut [Contestant<P>],
    rounds: usize,
    mut run: impl FnMut(&Contestant<P>, usize, usize) -> Result<Option<Vec<f64>>>,
) -> Result<()> {
    for round in 0..=rounds {
        let mut order: Vec<usize> = (0..contestants.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let contestant = &mut contestants[at];
            let Some(figures) = run(contestant, round, at)? else { continue };
            let which = if round == 0 { "warm-up".to_owned() } else { format!("round {round}") };
            if let [speed, cpu, ..] = figures[..] {
                eprintln!("{which}: {:<14} {speed:>9.0} records/s {cpu:>7.3} µs CPU", contestant.name);
            }
            if round > 0 {
                contestant.runs.push(figures);
            }
        }
    }
    Ok(())
}

/// The least, the middle and the greatest figure of each.
#[must_use]
pub fn spreads<P>(contestants: &[Contestant<P>], columns: &[Column]) -> Table {
    let heads = std::iter::once("client").chain(columns.iter().map(|(head, _)| *head));
    let rows = contestants.iter().map(|contestant| {
        let cell = |(at, (_, digits)): (usize, &Column)| {
            spread(contestant.runs.iter().filter_map(|run| run.get(at)).copied().collect(), *digits)
        };
        std::iter::once(contestant.name.clone()).chain(columns.iter().enumerate().map(cell)).collect()
    });
    table(heads.map(str::to_owned).collect(), rows)
}

/// The first client's throughput and CPU against each other's, round by round: what drifts from round to round falls out.
#[must_use]
pub fn ratios<P>(contestants: &[Contestant<P>]) -> Table {
    let heads = ["ratio in each round", "records/s", "CPU per record"].map(str::to_owned);
    let rows = contestants.split_first().into_iter().flat_map(|(first, others)| {
        others.iter().map(move |other| {
            let ratio = |at: usize| {
                let pairs = first.runs.iter().zip(&other.runs);
                spread(pairs.filter_map(|(one, two)| Some(one.get(at)? / two.get(at)?)).collect(), 2)
            };
            vec![format!("{} : {}", first.name, other.name), ratio(0), ratio(1)]
        })
    });
    table(heads.into(), rows)
}

fn table(heads: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(heads).add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// `least / middle / greatest`.
fn spread(mut figures: Vec<f64>, digits: usize) -> String {
    figures.retain(|figure| !figure.is_nan());
    figures.sort_by(f64::total_cmp);
    match (figures.first(), figures.get(figures.len() / 2), figures.last()) {
        (Some(least), Some(middle), Some(greatest)) => {
            format!("{least:.digits$} / {middle:.digits$} / {greatest:.digits$}")
        }
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_round_does_not_count_and_the_order_turns_round() {
        let mut contestants = ["a", "b"].map(|name| Contestant::new(name.to_owned(), ()));
        let mut order = String::new();
        in_turns(&mut contestants, 2, |contestant, round, at| {
            order.push_str(&contestant.name);
            Ok(Some(vec![(round * 10 + at) as f64, 1.0]))
        })
        .unwrap();
        assert_eq!(order, "abbaab");
        let lines = spreads(&contestants, &[("records/s", 0), ("CPU", 1)]).to_string();
        assert!(lines.contains("10 / 20 / 20") && lines.contains("11 / 21 / 21"), "{lines}");
        let lines = ratios(&contestants).to_string();
        assert!(lines.contains("a : b") && lines.contains("0.91 / 0.95 / 0.95"), "{lines}");
    }
}
