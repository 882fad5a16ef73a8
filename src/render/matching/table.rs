//! Fits a film grain table.

use super::error::MatchError;
use super::fit::{Curve, distance_db, solve};
use super::render::{StepRenderer, synthetic_frame};
use super::report::Match;
use super::shot::Shot;
use grainfield_filters::chain::Step;
use grainfield_filters::film_grain::{ChromaIndex, DEFAULT_SEED, MAX_POINTS, Params, Table};
use grainfield_filters::frame::{Depth, Format};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::settings::{FileAsset, Value};
use grainfield_measure::residual::{PlaneGrain, Residual};
use std::sync::Arc;

/// The lag of the autoregressive filter.
const LAG: i64 = 3;
/// Values added to the diagonal of the equations: small ones keep filters of smooth grain stable, large ones lead to
/// white noise.
const RIDGES: [f64; 11] = [1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0];
/// Standard deviation of the templates' white noise, in 8-bit codes.
const WHITE: f64 = 32.0;
/// The largest deviation of templates, so that they are not clipped at 128.
const MOST_DEVIATION: f64 = 128.0 / 3.6;
/// The number of times that the match is applied to the clean frames and corrected.
const ROUNDS: usize = 3;
/// A strength in 8-bit codes below which grain is invisible.
const NO_GRAIN: f64 = 0.05;
/// The uniform picture with which filters are compared.
const FLAT: (u32, u32) = (512, 256);
const FLAT_FRAMES: i64 = 6;

/// A table that makes a clean picture as grainy as a plate, and the quality of the match.
#[derive(Clone, Debug)]
pub struct TableMatch {
    /// A table with one segment for all times.
    pub table: Table,
    /// The quality of the match.
    pub matched: Match,
}

/// A filter of a plane before rounding.
#[derive(Clone, Debug)]
struct Filter {
    /// Coefficients row by row; for chroma followed by that of luma.
    taps: Vec<f64>,
    /// The standard deviation of the innovation relative to that of the sample.
    innovation: f64,
}

/// Fits a table to the measurements of a shot.
///
/// # Errors
/// [`MatchError`] if a fitted table cannot be rendered, or the user has cancelled.
pub fn table(shot: &Shot, plate: &Residual) -> Result<TableMatch, MatchError> {
    let format = *shot.format();
    let planes = plate.planes();
    let mut best: Option<(f64, Params)> = None;
    for ridge in RIDGES {
        let luma = autoregression(&planes[0], None, ridge);
        let mut filters = vec![luma.clone()];
        for plane in planes.iter().skip(1) {
            // Chroma's coefficient applies to means of luma's template, which have a smaller variance.
            let part = luma.as_ref().map(|l| (l.innovation, mean_deviation(&planes[0], &format)));
            filters.push(autoregression(plane, if format.is_rgb() { None } else { part }, ridge));
        }
        let Some(filters) = filters.into_iter().collect::<Option<Vec<_>>>() else { continue };
        let Some(params) = rounded(&filters, format.is_rgb()) else { continue };
        let rendered = measure_on_flat(shot, &params, &format, plate)?;
        let is_stable = rendered.planes().iter().all(|p| p.overall().0 < 2.0 * MOST_DEVIATION);
        let distance: f64 =
            planes.iter().zip(rendered.planes()).map(|(a, b)| distance_db(&a.rings(), &b.rings())).sum();
        if is_stable && best.as_ref().is_none_or(|b| distance < b.0) {
            best = Some((distance, params));
        }
    }
    // A ridge of 1 is nearly white noise, and always has a solution.
    let Some((_, mut params)) = best else { unreachable!("white noise is a filter too") };
    let deviations = strengthen_templates(shot, &mut params, &format, plate)?;
    let wanted: Vec<Curve> = planes.iter().map(Curve::measured).collect();
    let mut curves = wanted.clone();
    let mut render = |curves: &[Curve]| {
        strengths(&mut params, curves, &deviations);
        shot.render(&steps(&params), plate, 0)
    };
    let mut rendered = render(&curves)?;
    for _ in 0..ROUNDS {
        for ((curve, wanted), rendered) in curves.iter_mut().zip(&wanted).zip(rendered.planes()) {
            *curve = curve.corrected(wanted, &Curve::measured(rendered), 1.0);
        }
        rendered = render(&curves)?;
    }
    let table = Table::constant(params, DEFAULT_SEED);
    Ok(TableMatch { table, matched: Match::new(plate, &rendered, format.is_rgb()) })
}

fn steps(params: &Params) -> Vec<Step> {
    let table = Arc::new(Table::constant(params.clone(), DEFAULT_SEED));
    super::step("av1grain", vec![("table", Value::File(FileAsset::named("the match").read(table, 0)))])
}

/// Positions of the filter's samples, row by row; the last one is the left neighbour.
fn neighbours() -> Vec<(i64, i64)> {
    let all = (-LAG..=0).flat_map(|dy| (-LAG..=LAG).map(move |dx| (dx, dy)));
    all.take_while(|&p| p != (0, 0)).collect()
}

/// The correlation of samples at a distance of (dx, dy).
fn correlation(plane: &PlaneGrain, dx: i64, dy: i64) -> f64 {
    if dy < 0 { plane.auto.at(-dx, -dy).value } else { plane.auto.at(dx, dy).value }
}

/// The standard deviation of luma's mean over a chroma sample, relative to that of luma.
fn mean_deviation(luma: &PlaneGrain, format: &Format) -> f64 {
    let (w, h) = (1i64 << format.subsampling.0, 1i64 << format.subsampling.1);
    let cells = || (0..h).flat_map(|y| (0..w).map(move |x| (x, y)));
    let sum: f64 = cells()
        .flat_map(|a| cells().map(move |b| (b.0 - a.0, b.1 - a.1)))
        .map(|(x, y)| correlation(luma, x, y))
        .sum();
    (sum.max(1e-9)).sqrt() / (w * h) as f64
}

/// The filter whose grain has the correlation of a plane: the Yule-Walker equations with `ridge` on the diagonal. With
/// `luma` (the innovation of luma, and the deviation of its means), luma is a variable, too. `None` if there is no
/// solution.
fn autoregression(plane: &PlaneGrain, luma: Option<(f64, f64)>, ridge: f64) -> Option<Filter> {
    let neighbours = neighbours();
    let n = neighbours.len() + usize::from(luma.is_some());
    // The correlation of chroma at an offset with luma here.
    let cross = |(dx, dy): (i64, i64)| plane.luma[(-dy * 7 + dx + 3) as usize].value();
    let mut matrix = vec![vec![0.0; n + 1]; n];
    for (i, row) in matrix.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate().take(n) {
            *cell = match (neighbours.get(i), neighbours.get(j)) {
                (Some(a), Some(b)) => correlation(plane, a.0 - b.0, a.1 - b.1),
                (Some(&p), None) | (None, Some(&p)) => cross(p),
                (None, None) => 1.0,
            };
            if i == j {
                *cell += ridge;
            }
        }
        row[n] = neighbours.get(i).map_or_else(|| cross((0, 0)), |p| correlation(plane, p.0, p.1));
    }
    let wanted: Vec<f64> = matrix.iter().map(|row| row[n]).collect();
    let mut taps = solve(matrix)?;
    let explained: f64 = taps.iter().zip(&wanted).map(|(a, b)| a * b).sum();
    let innovation = (1.0 - explained).max(1e-4).sqrt();
    if let (Some((luma_innovation, deviation)), Some(last)) = (luma, taps.last_mut()) {
        // Convert from relative deviations to those of the templates, which begin with the same strength.
        *last *= luma_innovation / (innovation * deviation.max(1e-6));
    } else if plane.channel.count() > 0.0 {
        taps.push(0.0);
    }
    taps.iter().all(|t| t.is_finite()).then_some(Filter { taps, innovation })
}

/// The filters in integers, with constant strength; `None` if a coefficient is too large.
fn rounded(filters: &[Filter], rgb: bool) -> Option<Params> {
    let largest = filters.iter().flat_map(|f| &f.taps).fold(0.0f64, |a, b| a.max(b.abs()));
    let shift = (6..=9u8).rev().find(|&s| (largest * f64::from(1u32 << s)).round() <= 127.0)?;
    let integers =
        |f: &Filter| f.taps.iter().map(|t| (t * f64::from(1u32 << shift)).round() as i8).collect::<Vec<_>>();
    let none = |p| vec![0; Params::coefficient_count(LAG as u8, p)];
    let coefficients = |p: usize| filters.get(p).map_or_else(|| none(p), integers);
    // Weak enough that the strongest template is not clipped.
    let gain = filters.iter().map(|f| 1.0 / f.innovation).fold(0.0, f64::max);
    let grain_shift = (0..3u8).find(|&s| WHITE * gain / f64::from(1u32 << s) <= MOST_DEVIATION).unwrap_or(3);
    let flat = |p: usize| if p < filters.len() { vec![[0, 64], [255, 64]] } else { Vec::new() };
    // Chroma's strength is looked up by luma only, that of B and R by the plane itself.
    let (own, luma) = if rgb { (192, 128) } else { (128, 192) };
    let index = ChromaIndex { own, luma, offset: 256 };
    Some(Params {
        points: [flat(0), flat(1), flat(2)],
        lag: LAG as u8,
        coefficients: [coefficients(0), coefficients(1), coefficients(2)],
        coefficient_shift: shift,
        grain_shift,
        scaling_shift: 8,
        chroma_from_luma: false,
        overlap: true,
        index: [index; 2],
        clip: false,
    })
}

/// Measures parameters on a uniform picture of 12 bits, which resolves fractions of codes.
fn measure_on_flat(
    shot: &Shot,
    params: &Params,
    like: &Format,
    plate: &Residual,
) -> Result<Residual, MatchError> {
    let format = Format { width: FLAT.0, height: FLAT.1, depth: Depth::Bits(12), ..*like };
    let flat = synthetic_frame(format, |_, _| 128.0);
    let mut renderer = StepRenderer::new(&steps(params), &format, &format, 0, shot.cancel())?;
    let frame_duration = Ratio::ONE.checked_div(format.rate).unwrap_or(Ratio::ONE);
    let mut all = Residual::new(&format, None).in_tiles_of(plate);
    for n in 0..FLAT_FRAMES {
        all.add(&renderer.frame(&flat, n, frame_duration * Ratio::whole(n), frame_duration)?, &flat);
    }
    Ok(all)
}

/// Halves templates until none of them clips, and returns their standard deviations in 8-bit
/// codes.
fn strengthen_templates(
    shot: &Shot,
    params: &mut Params,
    format: &Format,
    plate: &Residual,
) -> Result<Vec<f64>, MatchError> {
    loop {
        let rendered = measure_on_flat(shot, params, format, plate)?;
        // A strength of 64 over 2^8.
        let deviations: Vec<f64> = rendered.planes().iter().map(|p| 4.0 * p.overall().0).collect();
        let strongest = deviations.iter().copied().fold(0.0, f64::max);
        if strongest <= MOST_DEVIATION || params.grain_shift == 3 {
            return Ok(deviations.into_iter().map(|d| d.max(1e-3)).collect());
        }
        params.grain_shift += 1;
    }
}

/// Writes strengths by brightness as points, with the finest scale that the strongest one allows.
fn strengths(params: &mut Params, curves: &[Curve], deviations: &[f64]) {
    let strongest = curves.iter().zip(deviations).map(|(c, d)| c.peak() / d).fold(0.0, f64::max);
    let shift = (8..=11u8).rev().find(|&s| strongest * f64::from(1u32 << s) <= 255.0).unwrap_or(8);
    params.scaling_shift = shift;
    for (p, (curve, deviation)) in curves.iter().zip(deviations).enumerate() {
        let scale = f64::from(1u32 << shift) / deviation;
        let mut points: Vec<[u8; 2]> = Vec::new();
        for [x, y] in curve.simplified(0.002, MAX_POINTS[p]).0 {
            let x = x.round().clamp(0.0, 255.0) as u8;
            if points.last().is_none_or(|last| last[0] < x) {
                points.push([x, (y * scale).round().clamp(0.0, 255.0) as u8]);
            }
        }
        params.points[p] = points;
    }
    // 4:2:0 has points for both chroma planes or for none.
    if curves.iter().skip(1).all(|c| c.peak() < NO_GRAIN) {
        params.points[1].clear();
        params.points[2].clear();
    }
}
