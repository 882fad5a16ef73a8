//! The panels.

use super::super::Report;
use super::super::report::{BandReport, PlaneReport};
use super::style::{Area, BOUND, INK, LINE, axes, bold, chart, decimal, one_line, soft};
use super::{Drawn, FONT, px};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const PAPER: RGBColor = RGBColor(255, 255, 255);

fn colour(plane: &str) -> RGBColor {
    match plane {
        "U" | "B" => RGBColor(37, 99, 235),
        "V" | "R" => RGBColor(220, 38, 38),
        "G" => RGBColor(22, 163, 74),
        "A" => RGBColor(147, 51, 234),
        _ => INK,
    }
}

fn font(size: i32) -> TextStyle<'static> {
    (FONT, px(size)).into_font().color(&INK)
}

/// Draws all panels.
pub(super) fn all(root: &Area<'_>, report: &Report, title: &str) -> Drawn {
    root.fill(&PAPER)?;
    let (head, body) = root.split_vertically(px(74));
    header(&head, report, title)?;
    let cells = body.margin(0, px(10), px(14), px(14)).split_evenly((2, 3));
    let drawings: [fn(&Area<'_>, &Report) -> Drawn; 6] =
        [spectrum, histogram, bands, autocorrelation, temporal, figures];
    for (cell, draw) in cells.iter().zip(drawings) {
        draw(&cell.margin(px(6), px(6), px(10), px(10)), report)?;
    }
    Ok(())
}

fn header(area: &Area<'_>, report: &Report, title: &str) -> Drawn {
    area.draw(&Text::new(one_line(title, 120), (px(26), px(14)), bold(22)))?;
    let frames = match (report.first, report.last) {
        (Some(a), Some(b)) if a != b => format!("frames {a} to {b}, {} of them", report.frames),
        (Some(a), _) => format!("frame {a}"),
        _ => "no frames".into(),
    };
    let text = format!(
        "{}\u{d7}{} {} \u{b7} {frames} \u{b7} in 8-bit code values",
        report.width, report.height, report.pix_fmt
    );
    area.draw(&Text::new(text, (px(26), px(46)), soft(15)))?;
    // One legend of the planes for all panels.
    let mut x = area.dim_in_pixel().0 as i32 - px(30);
    for p in report.planes.iter().rev() {
        x -= px(52);
        area.draw(&Rectangle::new([(x, px(26)), (x + px(18), px(32))], colour(p.name).filled()))?;
        area.draw(&Text::new(p.name, (x + px(24), px(20)), bold(16)))?;
    }
    Ok(())
}

/// The range of an axis around some values, with a margin, and at least this wide.
fn around(values: impl Iterator<Item = f64>, least: f64) -> (f64, f64) {
    let (low, high) =
        values.filter(|v| v.is_finite()).fold((0.0f64, 0.0f64), |(a, b), v| (a.min(v), b.max(v)));
    let room = (0.06 * (high - low)).max(least / 2.0);
    (low - room, high + room)
}

fn plain(x: &f64) -> String {
    decimal(*x, 3)
}

fn line<'a>(
    points: impl IntoIterator<Item = (f64, f64)>,
    p: &PlaneReport,
) -> LineSeries<BitMapBackend<'a>, (f64, f64)> {
    LineSeries::new(points, colour(p.name).stroke_width(px(2) as u32))
}

fn spectrum(area: &Area<'_>, report: &Report) -> Drawn {
    let all = report.planes.iter().flat_map(|p| &p.spectrum.rings).map(|r| r.1);
    let (low, high) = around(all.map(|v| v.max(-60.0)), 1.0);
    let mut chart = chart(area, "Radial power spectrum").build_cartesian_2d(0.0..0.5, low..high)?;
    axes!(chart, "cycles per sample", "dB relative to white noise", 8, &plain, &plain);
    chart.draw_series(LineSeries::new([(0.0, 0.0), (0.5, 0.0)], BOUND.stroke_width(px(1) as u32)))?;
    for p in &report.planes {
        chart.draw_series(line(p.spectrum.rings.iter().map(|r| (r.0, r.1.max(low))), p))?;
    }
    Ok(())
}

fn histogram(area: &Area<'_>, report: &Report) -> Drawn {
    let bell = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    let all = report.planes.iter().flat_map(|p| &p.histogram.bars).map(|b| b.1);
    let high = 1.08 * all.fold(0.42, f64::max);
    let mut chart =
        chart(area, "Distribution, and the normal distribution").build_cartesian_2d(-4.0..4.0, 0.0..high)?;
    axes!(chart, "standard deviations from the mean", "density", 8, &plain, &plain);
    let curve = (-160..=160).map(|i| f64::from(i) / 40.0).map(|x| (x, bell(x)));
    chart.draw_series(
        AreaSeries::new(curve, 0.0, BOUND.mix(0.22)).border_style(BOUND.stroke_width(px(1) as u32)),
    )?;
    for p in &report.planes {
        chart.draw_series(line(p.histogram.bars.iter().copied(), p))?;
    }
    Ok(())
}

fn bands(area: &Area<'_>, report: &Report) -> Drawn {
    let high = report.planes.iter().flat_map(|p| &p.bands).map(|b| b.sd).fold(0.0, f64::max);
    let high = if high > 0.0 { 1.12 * high } else { 1.0 };
    let mut chart = chart(area, "Strength by brightness").build_cartesian_2d(0.0..256.0, 0.0..high)?;
    axes!(chart, "luma", "standard deviation", 8, &plain, &plain);
    let ring = |at, ink: RGBAColor| Circle::new(at, px(4), ink.stroke_width(px(1) as u32));
    for p in &report.planes {
        let points = |counts: bool| p.bands.iter().filter(move |b| b.counts() == counts).map(middle);
        chart.draw_series(line(points(true), p))?;
        chart.draw_series(points(true).map(|at| Circle::new(at, px(4), colour(p.name).filled())))?;
        chart.draw_series(points(false).map(|at| ring(at, colour(p.name).mix(0.5))))?;
    }
    if report.planes.iter().flat_map(|p| &p.bands).any(|b| !b.counts()) {
        let style = soft(14).pos(Pos::new(HPos::Right, VPos::Center));
        chart.draw_series([Text::new("rings: too few samples", (252.0, 0.95 * high), style)])?;
    }
    Ok(())
}

/// Where a band is drawn.
fn middle(band: &BandReport) -> (f64, f64) {
    ((band.from + band.to) / 2.0, band.sd)
}

/// Draws both halves for the first plane: the value at (dx, dy) is also that at (-dx, -dy).
fn autocorrelation(area: &Area<'_>, report: &Report) -> Drawn {
    let Some(plane) = report.planes.first() else { return Ok(()) };
    let rows = &plane.autocorrelation.rows;
    let far = rows.len() as i32 - 1;
    let at = |x: i32, y: i32| {
        let (x, y) = if y < 0 { (-x, -y) } else { (x, y) };
        rows[y as usize][(x + far) as usize]
    };
    let others = || (0..=far).flat_map(|y| (-far..=far).map(move |x| (x, y))).filter(|&p| p != (0, 0));
    let top = others().map(|(x, y)| at(x, y).abs()).filter(|v| v.is_finite()).fold(0.02, f64::max);
    let title = format!("Autocorrelation of {}, colours to \u{b1}{}", plane.name, short(top));
    let range = (-f64::from(far) - 0.5)..(f64::from(far) + 0.5);
    let mut chart = chart(area, &title).build_cartesian_2d(range.clone(), range.end..range.start)?;
    axes!(chart, "samples across", "rows down", 8, &plain, &plain);
    let cells = (-far..=far).flat_map(|y| (-far..=far).map(move |x| (x, y)));
    chart.draw_series(cells.map(|(x, y)| {
        let fill = if (x, y) == (0, 0) { INK } else { diverging(at(x, y) / top) };
        let (x, y) = (f64::from(x), f64::from(y));
        Rectangle::new([(x - 0.5, y - 0.5), (x + 0.5, y + 0.5)], fill.filled())
    }))?;
    Ok(())
}

/// Blue below 0, white at 0, red above.
fn diverging(v: f64) -> RGBColor {
    let v = if v.is_finite() { v.clamp(-1.0, 1.0) } else { 0.0 };
    let end = if v < 0.0 { RGBColor(29, 78, 216) } else { RGBColor(200, 30, 30) };
    let mix = |c: u8| (255.0 + (f64::from(c) - 255.0) * v.abs()).round() as u8;
    RGBColor(mix(end.0), mix(end.1), mix(end.2))
}

fn temporal(area: &Area<'_>, report: &Report) -> Drawn {
    let backs = || report.planes.iter().flat_map(|p| &p.temporal);
    let (low, high) = around(backs().map(|b| b.value), 0.04);
    let mut chart = chart(area, "Correlation with earlier frames").build_cartesian_2d(0.5..8.5, low..high)?;
    let integer = |x: &f64| format!("{x:.0}");
    axes!(chart, "frames before", "coefficient", 8, &integer, &plain);
    chart.draw_series(LineSeries::new([(0.5, 0.0), (8.5, 0.0)], BOUND.stroke_width(px(1) as u32)))?;
    let count = report.planes.len() as f64;
    for (i, p) in report.planes.iter().enumerate() {
        let x = |frames: usize| frames as f64 + (i as f64 - (count - 1.0) / 2.0) * 0.16;
        let ink = colour(p.name);
        for b in &p.temporal {
            let stem = [(x(b.frames), 0.0), (x(b.frames), b.value)];
            chart.draw_series(LineSeries::new(stem, ink.stroke_width(px(2) as u32)))?;
            chart.draw_series([Circle::new(stem[1], px(4), ink.filled())])?;
        }
    }
    if backs().next().is_none() {
        let at = (4.5, (low + high) / 2.0);
        let style = soft(15).pos(Pos::new(HPos::Center, VPos::Center));
        chart.draw_series([Text::new("there is one frame only", at, style)])?;
    }
    Ok(())
}

fn short(x: f64) -> String {
    let text = match x.abs() {
        s if s >= 1e5 || (s > 0.0 && s < 1e-4) => format!("{x:.1e}"),
        s if s >= 100.0 => format!("{x:.1}"),
        s if s >= 10.0 => format!("{x:.2}"),
        _ => format!("{x:.4}"),
    };
    text.replace('-', "\u{2212}")
}

/// Draws the figures that no curve shows.
fn figures(area: &Area<'_>, report: &Report) -> Drawn {
    area.draw(&Text::new("Figures", (px(14), px(8)), bold(17)))?;
    let sigma = |v: f64| format!("{v:+.1} \u{3c3}").replace('-', "\u{2212}");
    type Row = (&'static str, fn(&PlaneReport) -> Option<f64>, bool);
    let rows: [Row; 12] = [
        ("mean", |p| Some(p.mean), false),
        ("standard deviation", |p| Some(p.sd), false),
        ("skew", |p| Some(p.skew), false),
        ("kurtosis", |p| Some(p.kurtosis), false),
        ("KS distance to normal", |p| Some(p.histogram.ks), false),
        ("spectrum off flat, dB", |p| Some(p.spectrum.flatness_db), false),
        ("... by chance", |p| Some(p.spectrum.chance_db), false),
        ("worst autocorrelation", |p| Some(p.autocorrelation.worst.sigmas), true),
        ("the frame before", |p| p.temporal.first().map(|b| b.sigmas), true),
        ("a frame, shifted", |p| p.peak.map(|k| k.sigmas), true),
        ("rows: skew", |p| p.boxes.first().map(|b| b.skew_z), true),
        ("8\u{d7}8 sums: kurtosis", |p| p.boxes.get(1).map(|b| b.kurtosis_z), true),
    ];
    let right = area.dim_in_pixel().0 as i32 - px(14);
    let column = |i: usize| right - px(86) * (report.planes.len() - 1 - i) as i32;
    let end = Pos::new(HPos::Right, VPos::Top);
    for (i, p) in report.planes.iter().enumerate() {
        area.draw(&Text::new(p.name, (column(i), px(38)), bold(15).color(&colour(p.name)).pos(end)))?;
    }
    let mut y = px(64);
    let separate =
        |y: i32| PathElement::new([(px(14), y - px(6)), (right, y - px(6))], LINE.stroke_width(px(1) as u32));
    for (label, value, in_sigmas) in rows {
        area.draw(&separate(y))?;
        area.draw(&Text::new(label, (px(14), y), font(14)))?;
        for (i, p) in report.planes.iter().enumerate() {
            let text = value(p).map_or("\u{2013}".into(), |v| if in_sigmas { sigma(v) } else { short(v) });
            area.draw(&Text::new(text, (column(i), y), font(14).pos(end)))?;
        }
        y += px(25);
    }
    for c in &report.channels {
        if y > area.dim_in_pixel().1 as i32 - px(24) {
            break;
        }
        area.draw(&separate(y))?;
        area.draw(&Text::new(format!("{} with {}", c.planes.0, c.planes.1), (px(14), y), font(14)))?;
        let text = format!("{} ({})", short(c.value), sigma(c.sigmas));
        area.draw(&Text::new(text, (right, y), font(14).pos(end)))?;
        y += px(25);
    }
    Ok(())
}
