//! Tables in Markdown.

use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};

/// A table with these heads and rows; all but the first column are aligned to the right.
#[must_use]
pub fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(heads);
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The middle one, or NaN when there are none.
#[must_use]
pub fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The greatest, or NaN when there are none.
#[must_use]
pub fn greatest(figures: &[f64]) -> f64 {
    figures.iter().copied().fold(f64::NAN, f64::max)
}
