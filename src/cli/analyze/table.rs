//! The report for people.

use grainfield_render::analyze::Report;
use grainfield_render::analyze::report::PlaneReport;
use std::fmt::Write;

/// Width of the first column, and of each plane's.
const LABEL: usize = 34;
const COLUMN: usize = 22;

/// Everything, section by section.
pub(super) fn text(report: &Report, title: &str) -> String {
    let mut t = Table { text: String::new(), planes: &report.planes };
    let frames = match (report.first, report.last) {
        (Some(first), Some(last)) if first != last => format!("{} frames ({first} to {last})", report.frames),
        (Some(first), _) => format!("frame {first}"),
        _ => "no frames".into(),
    };
    let _ = writeln!(t.text, "{}", visible(title));
    let _ = writeln!(
        t.text,
        "{}x{} {}, {frames}; 8-bit code values",
        report.width, report.height, report.pix_fmt
    );
    moments(&mut t, report);
    bands(&mut t, report);
    spectrum(&mut t);
    correlations(&mut t, report);
    sums(&mut t, report);
    t.text
}

fn moments(t: &mut Table<'_>, report: &Report) {
    t.head("");
    t.row("mean", |p| number(p.mean));
    t.row("standard deviation", |p| number(p.sd));
    t.row("skew", |p| number(p.skew));
    t.row("excess kurtosis", |p| number(p.kurtosis));
    t.row("KS distance to normal", |p| number(p.histogram.ks));
    if report.planes.iter().any(|p| p.not_numbers > 0) {
        t.row("not finite (NaN, infinite)", |p| p.not_numbers.to_string());
    }
}

fn bands(t: &mut Table<'_>, report: &Report) {
    t.head("Standard deviation by brightness");
    for from in (0..256).step_by(16).map(f64::from) {
        let find = |p: &PlaneReport| p.bands.iter().find(|b| b.from == from).map(|b| number(b.sd));
        if report.planes.iter().any(|p| find(p).is_some()) {
            t.row(&format!("luma {from:3} to {:3}", from + 16.0), |p| find(p).unwrap_or_else(|| "-".into()));
        }
    }
}

fn spectrum(t: &mut Table<'_>) {
    t.head("Radial spectrum, dB re white noise");
    t.row("off flat (chance)", |p| {
        format!("{} ({})", number(p.spectrum.flatness_db), number(p.spectrum.chance_db))
    });
    for group in 0..8 {
        let (from, to) = (f64::from(group) / 16.0, f64::from(group + 1) / 16.0);
        t.row(&format!("{from:.3} to {to:.3} cycles per sample"), |p| {
            let here: Vec<f64> =
                p.spectrum.rings.iter().filter(|r| r.0 > from && r.0 < to).map(|r| r.1).collect();
            if here.is_empty() {
                "-".into()
            } else {
                format!("{:+.2}", here.iter().sum::<f64>() / here.len() as f64)
            }
        });
    }
}

fn correlations(t: &mut Table<'_>, report: &Report) {
    t.head("Correlation (sigma)");
    for (dx, dy) in [(1, 0), (2, 0), (0, 1), (0, 2), (1, 1)] {
        t.row(&format!("itself, {dx} across, {dy} down"), |p| {
            format!("{:+.4}", p.autocorrelation.rows[dy][32 + dx])
        });
    }
    t.row("itself, worst of lags to 32", |p| {
        let w = p.autocorrelation.worst;
        with_sigma(w.value, w.sigmas)
    });
    t.row("... at (across, down)", |p| {
        format!("({}, {})", p.autocorrelation.worst.dx, p.autocorrelation.worst.dy)
    });
    t.row("lattice", |p| match p.lattice {
        Some(l) if l.found => {
            let way = if l.across { "columns" } else { "rows" };
            format!("every {} {way}, {:.2}:1", l.period, l.ratio)
        }
        Some(_) => "none".into(),
        None => "-".into(),
    });
    for p in report.planes.iter() {
        let Some(l) = p.lattice.filter(|l| l.found) else { continue };
        let (way, along) = if l.across { ("columns", "row") } else { ("rows", "column") };
        let _ = writeln!(
            t.text,
            "  {}: neighbours along a {along} differ {:.2} times as much (in variance) at some {way} as at \
                others, in a pattern that repeats every {} {way}: the noise comes from a coarser raster",
            p.name, l.ratio, l.period
        );
    }
    let back = report.planes.iter().map(|p| p.temporal.len()).max().unwrap_or(0);
    for i in 0..back {
        let label = if i == 0 { "the frame before".into() } else { format!("{} frames before", i + 1) };
        t.row(&label, |p| p.temporal.get(i).map_or("-".into(), |b| with_sigma(b.value, b.sigmas)));
    }
    if back > 0 {
        t.row("another frame, shifted", |p| {
            p.peak.map_or("-".into(), |k| format!("{:+.4} ({:.1})", k.value, k.sigmas))
        });
        t.row("... frames, at (across, down)", |p| {
            p.peak.map_or("-".into(), |k| format!("{}, {} ({}, {})", k.frames.0, k.frames.1, k.dx, k.dy))
        });
    }
    for c in &report.channels {
        let label = format!("{} with {}", c.planes.0, c.planes.1);
        let _ = writeln!(t.text, "  {label:LABEL$}{:>COLUMN$}", with_sigma(c.value, c.sigmas));
    }
}

fn sums(t: &mut Table<'_>, report: &Report) {
    t.head("Sums: variance, z skew, z kurtosis");
    let boxes = report.planes.iter().map(|p| p.boxes.len()).max().unwrap_or(0);
    for i in 0..boxes {
        let label = ["whole rows", "8x8", "64x64"].get(i).copied().unwrap_or("");
        t.row(label, |p| {
            p.boxes.get(i).map_or("-".into(), |b| {
                format!("{} {:+.1} {:+.1}", number(b.variance_ratio), b.skew_z, b.kurtosis_z)
            })
        });
    }
}

struct Table<'a> {
    text: String,
    planes: &'a [PlaneReport],
}

impl Table<'_> {
    fn head(&mut self, title: &str) {
        let _ = write!(self.text, "\n{title:w$}", w = LABEL + 2);
        for p in self.planes {
            let _ = write!(self.text, "{:>COLUMN$}", p.name);
        }
        self.text.push('\n');
    }

    fn row(&mut self, label: &str, value: impl Fn(&PlaneReport) -> String) {
        let _ = write!(self.text, "  {label:LABEL$}");
        for p in self.planes {
            let _ = write!(self.text, "{:>COLUMN$}", value(p));
        }
        self.text.push('\n');
    }
}

/// Four digits that matter.
fn number(x: f64) -> String {
    let size = x.abs();
    match size {
        _ if !size.is_finite() => x.to_string(),
        0.0 => "0".into(),
        s if s >= 1e6 => format!("{x:.3e}"),
        s if s >= 1000.0 => format!("{x:.0}"),
        s if s >= 100.0 => format!("{x:.1}"),
        s if s >= 10.0 => format!("{x:.2}"),
        s if s >= 1.0 => format!("{x:.3}"),
        s if s >= 5e-5 => format!("{x:.4}"),
        _ => format!("{x:.1e}"),
    }
}

fn with_sigma(value: f64, sigmas: f64) -> String {
    format!("{value:+.4} ({sigmas:+.1})")
}

/// Replaces control characters in the name of a file, which a terminal would execute.
fn visible(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let all =
            [(0.0, "0"), (6.0123, "6.012"), (-0.00012, "-0.0001"), (1.2e-7, "1.2e-7"), (123.45, "123.5")];
        for (x, text) in all {
            assert_eq!(number(x), text);
        }
        assert_eq!(with_sigma(-0.5, -3.25), "-0.5000 (-3.2)");
    }
}
