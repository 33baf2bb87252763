//! The progress bar: on standard error, and only when that is a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{input::Source, output::count, say};

/// Time between two looks of the bar.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    drawn: Instant,
}

impl Progress {
    /// For an input of so many bytes, or of nobody knows how many. Whoever types is not disturbed.
    pub(super) fn new(source: &Source) -> Self {
        let (bar, template) = match source.size() {
            Some(size) => {
                let template = "{bar:16} {decimal_bytes}/{decimal_total_bytes}, {eta} left, {wide_msg}";
                (ProgressBar::new(size), template)
            }
            None => (ProgressBar::new_spinner(), "{spinner} {decimal_bytes} in {elapsed}, {wide_msg}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if source.is_typed() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self { bar, drawn: Instant::now() }
    }

    /// Shows how far it is, if it has not just done so.
    pub(super) fn show(&mut self, bytes_read: u64, acknowledged: u64, outstanding: usize, failed: u64) {
        if self.bar.is_hidden() || self.drawn.elapsed() < INTERVAL {
            return;
        }
        self.drawn = Instant::now();
        self.bar.set_position(bytes_read);
        let failures = if failed > 0 { format!(", {} failed", count(failed)) } else { String::new() };
        let (acknowledged, outstanding) = (count(acknowledged), count(outstanding as u64));
        self.bar.set_message(format!("{acknowledged} acknowledged, {outstanding} on their way{failures}"));
    }

    /// One line above the bar.
    pub(super) fn say(&self, text: &str) {
        self.bar.suspend(|| say(text));
    }

    /// Makes room for the totals.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
