//! Tables of the benches: aligned text, and Markdown for `./x bench tables`, which sets `GRAINFIELD_ROWS` to a file to
//! which all benches append. Gates are written to a separate file beside it.
#![allow(dead_code)] // each bench uses a part of it

use std::io::Write;

/// One table.
pub(crate) struct Sheet {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

impl Sheet {
    pub(crate) fn new(title: impl Into<String>, columns: &[&str]) -> Sheet {
        let columns = columns.iter().map(|c| (*c).to_owned()).collect();
        Sheet { title: title.into(), columns, rows: vec![], notes: vec![] }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// A sentence below the table.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Prints the table.
    pub(crate) fn done(self) {
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|c| {
                let cells = self.rows.iter().filter_map(|r| r.get(c)).chain([&self.columns[c]]);
                cells.map(|s| s.chars().count()).max().unwrap_or(0)
            })
            .collect();
        println!("\n{}", self.title);
        for row in std::iter::once(&self.columns).chain(&self.rows) {
            let mut line = String::new();
            for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
                let (before, after) = if i == 0 { ("", &gap[..]) } else { (&gap[..], "") };
                line += &format!("  {before}{cell}{after}");
            }
            println!("{}", line.trim_end());
        }
        self.notes.iter().for_each(|n| println!("  {n}"));
        let mut text = format!("\n### {}\n\n", self.title);
        for (i, row) in std::iter::once(&self.columns).chain(&self.rows).enumerate() {
            text += &format!("| {} |\n", row.join(" | "));
            if i == 0 {
                text += &format!("|---{}|\n", "|---:".repeat(self.columns.len().saturating_sub(1)));
            }
        }
        self.notes.iter().for_each(|n| text += &format!("\n{n}\n"));
        append("", &text);
    }
}

/// Records a target: `value` times as fast as a rival, which should be at least `gate`, and ideally `stretch`.
pub(crate) fn gate(work: &str, value: f64, gate: f64, stretch: Option<f64>) {
    verdict(work, value, gate, stretch, value >= gate, "");
}

/// Records a target of cost: `value` times a rival's time, at most `gate`.
pub(crate) fn gate_at_most(work: &str, value: f64, gate: f64, stretch: Option<f64>) {
    verdict(work, value, gate, stretch, value <= gate, "at most ");
}

fn verdict(work: &str, value: f64, gate: f64, stretch: Option<f64>, met: bool, how: &str) {
    if !value.is_finite() {
        return; // its row was not requested
    }
    let stretch = stretch.map_or("-".to_owned(), |s| format!("{s}x"));
    let met = if met { "yes" } else { "no" };
    println!("  gate: {work}: {value:.2}x, should be {how}{gate}x: {met}");
    append(".gates", &format!("| {work} | {value:.2}x | {how}{gate}x | {stretch} | {met} |\n"));
}

/// Appends to the file named in the environment, if there is one.
fn append(suffix: &str, text: &str) {
    let Some(mut path) = std::env::var_os("GRAINFIELD_ROWS") else { return };
    path.push(suffix);
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut f| f.write_all(text.as_bytes()));
    written.unwrap_or_else(|e| panic!("cannot write {}: {e}", path.display()));
}
