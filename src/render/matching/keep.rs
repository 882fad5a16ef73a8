//! Keeps the grain of a plate itself, as a picture for `grain=plate=FILE`.
//!
//! The difference of plate and clean version, divided by the strength that was measured at its brightness, is grain of
//! one strength wherever it is known. Squares of it are cut out where nothing is missing: one below the other they make
//! a picture of 16 bits, 4096 codes to the standard deviation of the first plane around the middle.

use super::error::MatchError;
use super::shot::Shot;
use grainfield_filters::frame::{
    Alpha, ColorRange, Depth, FieldOrder, Format, Frame, Matrix, PictureStructure, Primaries, Transfer,
};
use grainfield_filters::plate::{MAX_TILES, MIN_SIDE, Plate, PlateBuilder, PlateError, TILE, overlap};
use grainfield_filters::ratio::Ratio;
use grainfield_io::encoding::Encoding;
use grainfield_io::format::Formats;
use grainfield_io::journal::SourceEnds;
use grainfield_io::media::{FrameStamp, Plan};
use grainfield_io::sink::{self, SinkError};
use grainfield_measure::Field;
use grainfield_measure::residual::Residual;
use std::ffi::OsStr;

/// Sides of tiles, the largest first.
const SIDES: [usize; 5] = [TILE, 128, 96, 64, MIN_SIDE];
/// Tiles are looked for at every so many samples.
const STEP: usize = 8;
/// Codes per standard deviation.
const CODES: f32 = 4096.0;
/// The share of a tile's samples whose strength may be unknown.
const UNKNOWN: f64 = 0.01;

/// A tile's frame, and the luma samples left of it and above.
type Place = (usize, usize, usize);

/// Grain cut from a plate.
#[derive(Debug)]
pub struct PlateGrain {
    /// The tiles, one below the other.
    picture: Frame,
    /// The same, as the filter reads them.
    pub plate: Plate,
    /// The number of patches that a frame of the plate's size shows.
    pub cells: usize,
}

impl PlateGrain {
    /// Whether a frame of the plate's size shows some patch twice.
    pub fn repeats(&self) -> bool {
        self.cells > 4 * self.plate.count()
    }

    /// Writes the picture.
    ///
    /// # Errors
    /// See [`SinkError`].
    pub fn write(&self, name: &OsStr, overwrite: bool) -> Result<(), SinkError> {
        let format = *self.picture.format();
        let plan = Plan {
            format,
            carried: None,
            untouched_format: false,
            overwrite,
            frames: Some(1),
            pix_fmt: None,
            ends: SourceEnds::BOTH,
            cuts: Default::default(),
            encoding: Encoding::default(),
            journal: Default::default(),
            lost_in_video: Vec::new(),
            timecode: None,
            clock: None,
        };
        let mut sink = sink::create(name, &plan)?;
        let stamp = FrameStamp { number: 0, time: Ratio::ZERO, duration: Ratio::ONE, carried: None };
        let mut encoded = Vec::new();
        sink.encoder().encode(&stamp, &self.picture, &mut encoded)?;
        sink.write(&stamp, &self.picture, &encoded)?;
        sink.finish()
    }
}

/// The format of kept tiles.
fn kept_format(plate: &Format, side: usize, count: usize) -> Format {
    Format {
        width: side as u32,
        height: (side * count) as u32,
        picture: PictureStructure::Frame,
        depth: Depth::Bits(16),
        alpha: Alpha::None,
        range: ColorRange::Full,
        matrix: if plate.is_rgb() { plate.matrix } else { Matrix::UNSPECIFIED },
        primaries: Primaries::UNSPECIFIED,
        transfer: Transfer::UNSPECIFIED,
        fields: FieldOrder::Progressive,
        aspect: Ratio::ONE,
        ..*plate
    }
}

/// Returns an error if a file of this name cannot hold the grain of a plate.
///
/// # Errors
/// A usage error.
pub fn check_name(name: &OsStr, plate: &Format) -> Result<(), SinkError> {
    let wanted = kept_format(plate, MIN_SIDE, 1);
    let output = sink::Output::parse(name, Formats::default())?;
    let held = output.accepts(&wanted, &Encoding::default())?;
    let shape = |f: &Format| (f.width, f.height, f.family, f.depth, f.subsampling);
    if output.drops_metadata() && shape(&held) == shape(&wanted) {
        return Ok(());
    }
    let right = if plate.is_rgb() { "a picture of 16 bits, NAME.png or .tif" } else { "NAME.y4m" };
    let problem = format!("it cannot hold grain of {} unchanged: name {right}", wanted.name());
    Err(SinkError::usage(name.to_string_lossy().into_owned(), problem))
}

/// Places of tiles of a side in a frame where little is unknown: at most `most`, none over another. `unknown` has the
/// sums of unknown samples above and left of each place.
fn find_tiles(
    unknown: &[SummedArea],
    (width, height): (usize, usize),
    side: usize,
    most: usize,
) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    if width < side || height < side {
        return found;
    }
    let free = |x: usize, y: usize| {
        unknown.iter().all(|sums| {
            let (w, h) = (side >> sums.shift.0, side >> sums.shift.1);
            sums.sum(x >> sums.shift.0, y >> sums.shift.1, w, h) as f64 <= UNKNOWN * (w * h) as f64
        })
    };
    let mut y = 0;
    while y + side <= height && found.len() < most {
        let mut x = 0;
        while x + side <= width && found.len() < most {
            let taken = found.iter().find(|&&(a, b)| b + side > y && a < x + side && x < a + side);
            match taken {
                Some(&(a, _)) => x = a + side,
                None if free(x, y) => {
                    found.push((x, y));
                    x += side;
                }
                None => x += STEP,
            }
        }
        y += STEP;
    }
    found
}

/// The number of unknown samples in rectangles of a plane.
struct SummedArea {
    sums: Vec<u32>,
    width: usize,
    shift: (u8, u8),
}

impl SummedArea {
    fn new(field: &Field, shift: (u8, u8)) -> SummedArea {
        let width = field.width + 1;
        let mut sums = vec![0u32; width * (field.height + 1)];
        for y in 0..field.height {
            let mut row = 0;
            for (x, v) in field.row(y).iter().enumerate() {
                row += u32::from(v.is_nan());
                sums[(y + 1) * width + x + 1] = sums[y * width + x + 1] + row;
            }
        }
        SummedArea { sums, width, shift }
    }

    fn sum(&self, x: usize, y: usize, w: usize, h: usize) -> u32 {
        let at = |x: usize, y: usize| self.sums[y * self.width + x];
        at(x + w, y + h) + at(x, y) - at(x + w, y) - at(x, y + h)
    }
}

/// Cuts the grain of a plate with a clean version into tiles.
///
/// # Errors
/// [`MatchError::NoTiles`] if no part of the plate has enough measured grain.
pub fn keep(shot: &Shot, measured: &Residual) -> Result<PlateGrain, MatchError> {
    let format = shot.format();
    let fields = shot.grain_of(measured);
    let sums: Vec<Vec<SummedArea>> = fields
        .iter()
        .map(|planes| {
            let shift = |p| format.plane_subsampling(p);
            planes.iter().enumerate().map(|(p, field)| SummedArea::new(field, shift(p))).collect()
        })
        .collect();
    // The largest side whose tiles fill a frame without a second use of any; else that which comes nearest.
    let size = measured.size();
    let mut best: Option<(f64, usize, Vec<Place>)> = None;
    for side in SIDES {
        let mut found = Vec::new();
        for (n, sums) in sums.iter().enumerate() {
            let at = find_tiles(sums, size, side, MAX_TILES - found.len());
            found.extend(at.into_iter().map(|(x, y)| (n, x, y)));
        }
        let enough = 4.0 * found.len() as f64 / cells(side, format.plane_size(0)) as f64;
        if !found.is_empty() && best.as_ref().is_none_or(|b| b.0 < enough) {
            best = Some((enough, side, found));
        }
        if enough >= 1.0 {
            break;
        }
    }
    let (_, side, found) = best.ok_or(MatchError::NoTiles)?;
    let strengths = relative_strengths(measured);
    let mut picture = Frame::new(kept_format(format, side, found.len()));
    for (tile, &(n, x, y)) in found.iter().enumerate() {
        for (p, field) in fields[n].iter().enumerate() {
            let (sx, sy) = format.plane_subsampling(p);
            let (w, h) = (side >> sx, side >> sy);
            for row in 0..h {
                let from = &field.row((y >> sy) + row)[x >> sx..][..w];
                let to = picture.row_mut::<u16>(p, tile * h + row);
                for (to, v) in to.iter_mut().zip(from) {
                    let v = if v.is_nan() { 0.0 } else { *v };
                    *to = (32768.0 + CODES * strengths[p] * v).round().clamp(0.0, 65535.0) as u16;
                }
            }
        }
    }
    let cut = |picture: &Frame| -> Result<Plate, PlateError> {
        let mut builder = PlateBuilder::new(picture.format())?;
        builder.add(picture)?;
        builder.finish()
    };
    Ok(PlateGrain { plate: cut(&picture)?, picture, cells: cells(side, format.plane_size(0)) })
}

/// The number of patches that cover a frame, at most.
fn cells(side: usize, (width, height): (usize, usize)) -> usize {
    let distance = side - overlap(side);
    (width.div_ceil(distance) + 1) * (height.div_ceil(distance) + 1)
}

/// The strength of each plane's grain: that of U and V relative to both together, that of RGB to the first plane.
fn relative_strengths(measured: &Residual) -> Vec<f32> {
    let all: Vec<f64> = measured.planes().iter().map(|p| p.overall().0).collect();
    let chroma = |a: f64, b: f64| ((a * a + b * b) / 2.0).sqrt().max(1e-9);
    let part = |p: usize| match all[..] {
        [_, u, v] if measured.has_chroma() && p > 0 => all[p] / chroma(u, v),
        _ => all[p] / all[0].max(1e-9),
    };
    (0..all.len()).map(|p| part(p) as f32).collect()
}
