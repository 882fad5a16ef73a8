//! Plots a match: strength by brightness, and spectrum, for each plane.

use super::report::{Match, PlaneMatch};
use crate::analyze::plot::style::{Area, BOUND, INK, axes, bold, chart, decimal, one_line, soft};
use crate::analyze::plot::{Drawn, PlotError, canvas, px};
use plotters::prelude::*;

/// Width of the plot, and height of its head and of each plane.
const WIDTH: u32 = 1400;
const HEAD: u32 = 70;
const ROW: u32 = 340;
const PLATE: RGBColor = INK;
const MATCH: RGBColor = RGBColor(220, 38, 38);

/// Draws a match with a title as a PNG.
///
/// # Errors
/// [`PlotError`] if it cannot be drawn.
pub fn png(matched: &Match, title: &str) -> Result<Vec<u8>, PlotError> {
    canvas((WIDTH, HEAD + ROW * matched.planes.len() as u32), |root| {
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(px(HEAD as i32));
        head.draw(&Text::new(one_line(title, 100), (px(26), px(12)), bold(22)))?;
        for (x, name, ink) in [(26, "plate", PLATE), (130, "match", MATCH)] {
            head.draw(&Rectangle::new([(px(x), px(50)), (px(x + 18), px(54))], ink.filled()))?;
            head.draw(&Text::new(name, (px(x + 26), px(43)), soft(15)))?;
        }
        for (cell, plane) in body.split_evenly((matched.planes.len().max(1), 1)).iter().zip(&matched.planes) {
            let halves = cell.split_evenly((1, 2));
            strength(&halves[0].margin(px(6), px(6), px(14), px(10)), plane)?;
            spectrum(&halves[1].margin(px(6), px(6), px(10), px(14)), plane)?;
        }
        Ok(())
    })
}

fn plain(x: &f64) -> String {
    decimal(*x, 2)
}

fn strength(area: &Area<'_>, plane: &PlaneMatch) -> Drawn {
    let counted = || plane.points.iter().filter(|p| p.counts);
    let high = counted().map(|p| p.plate.max(p.rendered)).fold(0.0, f64::max);
    let high = if high > 0.0 { 1.15 * high } else { 1.0 };
    let title =
        format!("{}: strength by brightness, off by {:.1} % rms", plane.name, 100.0 * plane.strength_rms);
    let mut chart = chart(area, &title).build_cartesian_2d(0.0..256.0, 0.0..high)?;
    axes!(chart, "luma, in 8-bit codes", "standard deviation", 8, &plain, &plain);
    let line = |ink: RGBColor, y: fn(&super::report::Point) -> f64| {
        LineSeries::new(counted().map(move |p| (p.brightness, y(p))), ink.stroke_width(px(2) as u32))
    };
    chart.draw_series(line(PLATE, |p| p.plate))?;
    chart.draw_series(line(MATCH, |p| p.rendered))?;
    chart.draw_series(counted().map(|p| Circle::new((p.brightness, p.plate), px(4), PLATE.filled())))?;
    Ok(())
}

fn spectrum(area: &Area<'_>, plane: &PlaneMatch) -> Drawn {
    let all = || plane.spectrum.iter().flatten().map(|r| r.1.max(-40.0));
    let (low, high) = all().fold((0.0f64, 0.0f64), |(a, b), v| (a.min(v), b.max(v)));
    let title = format!("{}: spectrum, off by {:.2} dB rms", plane.name, plane.spectrum_db);
    let mut chart = chart(area, &title).build_cartesian_2d(0.0..0.5, low - 1.0..high + 1.0)?;
    axes!(chart, "cycles per sample", "dB relative to white noise", 8, &plain, &plain);
    chart.draw_series(LineSeries::new([(0.0, 0.0), (0.5, 0.0)], BOUND.stroke_width(px(1) as u32)))?;
    for (rings, ink) in plane.spectrum.iter().zip([PLATE, MATCH]) {
        let points = rings.iter().map(|r| (r.0, r.1.max(-40.0)));
        chart.draw_series(LineSeries::new(points, ink.stroke_width(px(2) as u32)))?;
    }
    Ok(())
}
