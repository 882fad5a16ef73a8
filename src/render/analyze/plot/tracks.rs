//! Plots curves over the samples that they were fitted to.

use super::style::{Area, BOUND, axes, bold, one_line};
use super::{Drawn, PlotError, canvas, px};
use grainfield_filters::curve::Curve;
use grainfield_filters::curve::fit::Sample;
use grainfield_filters::ratio::Ratio;
use plotters::prelude::*;

/// The most tracks in one picture.
pub const MAX_TRACKS: usize = 8;

const COLOURS: [RGBColor; MAX_TRACKS] = [
    RGBColor(37, 99, 235),
    RGBColor(220, 38, 38),
    RGBColor(22, 163, 74),
    RGBColor(147, 51, 234),
    RGBColor(8, 145, 178),
    RGBColor(202, 138, 4),
    RGBColor(190, 24, 93),
    RGBColor(75, 85, 99),
];

/// A curve, with the samples that it was fitted to.
#[derive(Clone, Debug)]
pub struct Track {
    /// The line of the legend.
    pub legend: String,
    /// May be empty.
    pub samples: Vec<Sample>,
    /// The curve.
    pub curve: Curve,
    /// The largest allowed distance of a sample from the curve.
    pub bound: f64,
}

fn plain(x: &f64) -> String {
    short(*x).replace('-', "\u{2212}")
}

/// Curves, keys and samples above; below them, where there are samples, how far each is from its curve.
///
/// # Errors
/// [`PlotError`] if the picture cannot be drawn.
pub fn tracks(all: &[Track]) -> Result<Vec<u8>, PlotError> {
    let errors = all.iter().any(|f| !f.samples.is_empty());
    let size = (1680, if errors { 980 } else { 720 });
    canvas(size, |root| {
        root.fill(&WHITE)?;
        let legend = 24 * all.len() as i32 + 20;
        let (head, body) = root.split_vertically(px(legend));
        header(&head, all)?;
        if errors {
            let (values, rest) = body.split_vertically(px((size.1 as i32 - legend) * 2 / 3));
            draw_values(&values, all)?;
            draw_errors(&rest, all)
        } else {
            draw_values(&body, all)
        }
    })
}

fn header(area: &Area<'_>, all: &[Track]) -> Drawn {
    for (i, f) in all.iter().enumerate() {
        let y = px(14 + 24 * i as i32);
        area.draw(&Rectangle::new([(px(26), y + px(6)), (px(44), y + px(11))], COLOURS[i].filled()))?;
        area.draw(&Text::new(one_line(&f.legend, 150), (px(54), y), bold(16)))?;
    }
    Ok(())
}

/// First and last time of all.
fn span(all: &[Track]) -> (Ratio, Ratio) {
    let times = all.iter().flat_map(|f| {
        let keys = f.curve.keys().iter().map(|k| k.at.ratio());
        keys.chain(f.samples.iter().map(|s| s.0.ratio()))
    });
    let (low, high) = times.fold((None, None), |(a, b): (Option<Ratio>, Option<Ratio>), t| {
        (Some(a.map_or(t, |a| a.min(t))), Some(b.map_or(t, |b| b.max(t))))
    });
    let (low, high) = (low.unwrap_or(Ratio::ZERO), high.unwrap_or(Ratio::ONE));
    // With a margin before and after, so that the rules there are visible.
    let room = (high - low) * Ratio::new(1, 25).unwrap_or(Ratio::ZERO);
    if high > low { (low - room, high + room) } else { (low - Ratio::ONE, high + Ratio::ONE) }
}

fn unit(all: &[Track]) -> &'static str {
    if all.iter().any(|f| f.curve.in_seconds()) { "seconds" } else { "frames" }
}

/// Writes values; a sum of steps may be a small number instead of 0.
fn near(size: f64) -> impl Fn(&f64) -> String {
    move |v| plain(if v.abs() < 1e-9 * size { &0.0 } else { v })
}

fn chart<'a, 'b>(area: &'a Area<'b>) -> ChartBuilder<'a, 'b, BitMapBackend<'b>> {
    let mut builder = ChartBuilder::on(area);
    builder.margin_left(px(12)).margin_right(px(24)).margin_top(px(6));
    builder.x_label_area_size(px(46)).y_label_area_size(px(84));
    builder
}

fn draw_values(area: &Area<'_>, all: &[Track]) -> Drawn {
    let (from, to) = span(all);
    let steps = 3000;
    let at = |i: i64| from + (to - from) * Ratio::new(i, steps).unwrap_or(Ratio::ZERO);
    let lines: Vec<Vec<(f64, f64)>> = all
        .iter()
        .map(|f| (0..=steps).map(|i| (at(i).to_f64(), f.curve.value_at(at(i)))).collect())
        .collect();
    let values = lines.iter().flatten().map(|p| p.1);
    let values = values.chain(all.iter().flat_map(|f| f.samples.iter().map(|s| s.1)));
    let (mut low, mut high) = values
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    if low >= high {
        (low, high) = if low == high { (low - 1.0, high + 1.0) } else { (0.0, 1.0) };
    }
    let room = 0.06 * (high - low);
    let mut chart = chart(area).build_cartesian_2d(from.to_f64()..to.to_f64(), low - room..high + room)?;
    axes!(chart, unit(all), "value", 12, &plain, &near(high - low));
    for (f, colour) in all.iter().zip(COLOURS) {
        let dots = f.samples.iter().map(|s| (s.0.ratio().to_f64(), s.1));
        let radius = if f.samples.len() > 700 { 1 } else { 2 };
        chart.draw_series(dots.map(|p| Circle::new(p, px(radius), colour.mix(0.4).filled())))?;
    }
    for (line, colour) in lines.into_iter().zip(COLOURS) {
        chart.draw_series(LineSeries::new(line, colour.stroke_width(px(2) as u32)))?;
    }
    for (f, colour) in all.iter().zip(COLOURS) {
        let r = px(if f.curve.keys().len() > 200 { 2 } else { 4 });
        let keys = f.curve.keys().iter().map(|k| (k.at.ratio().to_f64(), k.value));
        chart.draw_series(keys.map(|p| {
            EmptyElement::at(p)
                + Rectangle::new([(-r, -r), (r, r)], WHITE.filled())
                + Rectangle::new([(-r, -r), (r, r)], colour.stroke_width(px(2) as u32))
        }))?;
    }
    Ok(())
}

fn draw_errors(area: &Area<'_>, all: &[Track]) -> Drawn {
    let (from, to) = span(all);
    let off = |f: &Track| -> Vec<(f64, f64)> {
        f.samples.iter().map(|s| (s.0.ratio().to_f64(), s.1 - f.curve.value_at(s.0.ratio()))).collect()
    };
    let errors: Vec<Vec<(f64, f64)>> = all.iter().map(off).collect();
    let bounds = all.iter().map(|f| f.bound);
    let most = errors.iter().flatten().map(|e| e.1.abs()).chain(bounds).fold(0.0, f64::max);
    let most = if most > 0.0 { 1.15 * most } else { 1.0 };
    let mut chart =
        chart(area).margin_bottom(px(10)).build_cartesian_2d(from.to_f64()..to.to_f64(), -most..most)?;
    axes!(chart, unit(all), "error, and its bound", 12, &plain, &near(most));
    for (f, colour) in all.iter().zip(COLOURS) {
        let ink = if all.len() == 1 { BOUND } else { colour };
        for side in [-f.bound, f.bound] {
            let line = [(from.to_f64(), side), (to.to_f64(), side)];
            chart.draw_series(LineSeries::new(line, ink.mix(0.7).stroke_width(px(1) as u32)))?;
        }
    }
    for (line, colour) in errors.into_iter().zip(COLOURS) {
        chart.draw_series(LineSeries::new(line, colour.stroke_width(px(1) as u32)))?;
    }
    Ok(())
}

/// A number with four digits.
pub fn short(v: f64) -> String {
    let text = format!("{v:.3e}");
    let value: f64 = text.parse().unwrap_or(v);
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) { format!("{value:e}") } else { value.to_string() }
}
