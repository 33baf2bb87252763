//! Tables and numbers for people.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use indicatif::{DecimalBytes, HumanCount};

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table without lines, so that it can be cut and searched as well as read.
pub(crate) fn table<const N: usize>(
    columns: [(&str, Align); N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.map(|(name, _)| name));
    for row in rows {
        table.add_row(row);
    }
    for (index, (_, align)) in columns.iter().enumerate() {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
            column.set_padding((0, 2));
        }
    }
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// `1,707`.
pub(crate) fn count(n: u64) -> HumanCount {
    HumanCount(n)
}

/// `251.14 kB`.
pub(crate) fn size(bytes: u64) -> DecimalBytes {
    DecimalBytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_as_asked_and_lines_have_no_tail() {
        let rows = [
            ["a".to_owned(), "1".to_owned(), "x".to_owned()],
            ["bb".to_owned(), "22".to_owned(), String::new()],
        ];
        let text = table([("NAME", Align::Left), ("N", Align::Right), ("REST", Align::Left)], rows);
        assert_eq!(text, "NAME   N  REST\na      1  x\nbb    22\n");
    }

    #[test]
    fn numbers() {
        assert_eq!(count(1_234_567).to_string(), "1,234,567");
        assert_eq!(size(251_137).to_string(), "251.14 kB");
    }
}
