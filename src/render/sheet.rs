//! Contact sheets: frames of an input in one picture, alone or compared with the source.
//!
//! The frames go through the same pipeline as for any render; the sink makes thumbnails. For a comparison, the source
//! is rendered first.

use crate::analyze::plot::{self, FONT, PlotError};
use crate::session::job::{Collector, Endpoints, FirstFrames, JobError, Request};
use crate::session::{Error, Render};
use grainfield_filters::frame::{Format, Frame, Ranges};
use grainfield_filters::host::lock;
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_io::sink::{self, Encode, Sink, SinkError};
use grainfield_io::source::{FrameStamp, Source};
use image::imageops::{FilterType, resize};
use image::{Rgb, RgbImage};
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The default number of frames.
pub const DEFAULT_FRAMES: i64 = 16;
/// The largest number of frames of a sheet.
pub const MAX_FRAMES: u64 = 400;
/// The gain of a difference.
const ENLARGED: u32 = 8;

/// The kind of comparison with the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    /// The source on the left, the filtered frame on the right.
    Side,
    /// The left half of the source, the right half of the filtered frame.
    Split,
    /// The difference, amplified.
    Diff,
}

/// The reason why a sheet cannot be made of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SheetError {
    /// A comparison without filters.
    #[error("a comparison with the source needs filters")]
    NoFilters,
    /// A comparison of standard input.
    #[error("a comparison reads the input twice, so it cannot be standard input: name a file")]
    Pipe,
    /// There are too many frames.
    #[error("{0} frames are too many for one sheet, which shows at most {MAX_FRAMES}")]
    Frames(u64),
    /// Too much memory is needed.
    #[error("the differences of these frames need more than 1 GiB of memory: select fewer frames")]
    Memory,
}

impl From<SheetError> for JobError {
    fn from(error: SheetError) -> JobError {
        JobError::Endpoints(error.into())
    }
}

/// The layout of a sheet.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Width of the sheet in pixels.
    pub width: u32,
    /// Frames per row; `None` chooses by their number.
    pub columns: Option<u32>,
    /// The kind of comparison, if any.
    pub compare: Option<Compare>,
}

const MARGIN: u32 = 18;
const GAP: u32 = 10;
const HEAD: u32 = 62;
const LABEL: u32 = 26;
const PAPER: Rgb<u8> = Rgb([42, 42, 44]);
const INK: RGBColor = RGBColor(236, 236, 238);
const SOFT: RGBColor = RGBColor(164, 164, 170);

/// The geometry of a sheet.
#[derive(Clone, Copy, Debug)]
struct Grid {
    columns: u32,
    /// The size of one thumbnail.
    thumb: (u32, u32),
    /// The number of thumbnails side by side in a cell.
    side: u32,
}

impl Grid {
    fn new(layout: &Layout, count: u64, format: &Format) -> Grid {
        let side = if layout.compare == Some(Compare::Side) { 2 } else { 1 };
        // The displayed shape of the picture, with samples that may not be square.
        let shape = |r: Ratio| if r > Ratio::ZERO { r.to_f64() } else { 1.0 };
        let aspect = f64::from(format.width) * shape(format.aspect) / f64::from(format.height);
        let count = count.clamp(1, MAX_FRAMES) as u32;
        let columns = layout.columns.unwrap_or_else(|| {
            // The sheet has about the proportions of a screen.
            let cell = aspect * f64::from(side);
            ((f64::from(count) * 1.6 / cell).sqrt().round() as u32).clamp(1, 12)
        });
        let columns = columns.min(count);
        let inside = layout.width.saturating_sub(2 * MARGIN + (columns - 1) * GAP);
        let width = (inside / columns).saturating_sub((side - 1) * 2) / side;
        let width = width.max(8);
        let height = ((f64::from(width) / aspect).round() as u32).clamp(2, 8 * width);
        Grid { columns, thumb: (width, height), side }
    }

    fn cell(&self) -> (u32, u32) {
        (self.thumb.0 * self.side + (self.side - 1) * 2, self.thumb.1 + LABEL)
    }
}

struct Thumbnail {
    time: Ratio,
    picture: RgbImage,
}

/// The thumbnails so far.
#[derive(Default)]
struct ThumbnailState {
    grid: Option<Grid>,
    source: BTreeMap<i64, RgbImage>,
    thumbnails: BTreeMap<i64, Thumbnail>,
    /// The frames in the requested order, including repeated ones.
    order: Vec<i64>,
    format: String,
}

/// Receives the thumbnails of a job.
#[derive(Clone, Default)]
pub struct Thumbnails(Arc<Mutex<ThumbnailState>>);

impl std::fmt::Debug for Thumbnails {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Thumbnails").finish_non_exhaustive()
    }
}

/// Prepares a render whose frames become thumbnails; the request's output only names the sheet, which [`png()`] draws
/// afterwards. For a comparison, the source is rendered here.
///
/// # Errors
/// Of the kinds usage, input, output and cancelled.
pub fn prepare(mut request: Request, layout: Layout, thumbnails: &Thumbnails) -> Result<Render, Error> {
    request.pix_fmt = Some("gbrp".into());
    let ends =
        |is_source| Sheet { layout, offset: request.frame_offset, is_source, thumbnails: thumbnails.clone() };
    let (source, filtered) = (ends(true), ends(false));
    if layout.compare.is_some() {
        if request.recipe.steps.is_empty() {
            return Err(JobError::from(SheetError::NoFilters).into());
        }
        if request.input == "-" {
            return Err(JobError::from(SheetError::Pipe).into());
        }
        let plain = Request { recipe: Recipe::default(), ..request.clone() };
        Render::between(plain, source).start()?.wait()?;
    }
    Ok(Render::between(request, filtered))
}

/// The sink of a job that makes thumbnails.
struct Sheet {
    layout: Layout,
    offset: i64,
    /// Whether it is the source, for a comparison.
    is_source: bool,
    thumbnails: Thumbnails,
}

impl Endpoints for Sheet {
    fn source(
        &mut self,
        opened: Box<dyn Source>,
        frames: &mut Option<Ranges>,
    ) -> Result<Box<dyn Source>, JobError> {
        let mut info = opened.info().clone();
        lock(&self.thumbnails.0).format =
            format!("{}\u{d7}{} {}", info.format.width, info.format.height, info.format.name());
        let mut left = None;
        if frames.is_none() {
            match info.last {
                Some(last) if last - info.first >= DEFAULT_FRAMES => {
                    let step =
                        |i: i64| info.first + self.offset + i * (last - info.first) / (DEFAULT_FRAMES - 1);
                    *frames = Some((0..DEFAULT_FRAMES).map(step).collect());
                }
                Some(_) => {}
                None => {
                    left = Some(DEFAULT_FRAMES);
                    info.notes.push(format!(
                        "its length is not known: showing the first {DEFAULT_FRAMES} frames; a range of frames selects others"
                    ));
                }
            }
        }
        Ok(Box::new(FirstFrames { info, source: opened, left }))
    }

    fn sink(&mut self, _: &sink::Output, plan: &sink::Plan) -> Result<Box<dyn Sink>, JobError> {
        let count = plan.frames.unwrap_or(DEFAULT_FRAMES as u64);
        if count > MAX_FRAMES {
            return Err(SheetError::Frames(count).into());
        }
        let grid = Grid::new(&self.layout, count, &plan.format);
        // Pictures to be compared sample by sample are kept at full size.
        let full_size = self.is_source && self.layout.compare == Some(Compare::Diff);
        let most = 1 << 30;
        if full_size && count * 3 * u64::from(plan.format.width) * u64::from(plan.format.height) > most {
            return Err(SheetError::Memory.into());
        }
        lock(&self.thumbnails.0).grid = Some(grid);
        let (thumbnails, is_source, compare) = (self.thumbnails.clone(), self.is_source, self.layout.compare);
        let order = thumbnails.clone();
        let encoder = Arc::new(ThumbnailEncoder { thumbnails, is_source, compare, grid });
        let write = move |number| {
            if !is_source {
                lock(&order.0).order.push(number);
            }
        };
        Ok(Box::new(Collector { encoder, write }))
    }

    fn per_frame(&self, output: &Format) -> usize {
        8 * output.width as usize * output.height as usize
    }
}

/// Makes thumbnails on many threads.
struct ThumbnailEncoder {
    thumbnails: Thumbnails,
    is_source: bool,
    compare: Option<Compare>,
    grid: Grid,
}

impl Encode for ThumbnailEncoder {
    fn encode(&self, stamp: &FrameStamp, frame: &Frame, _: &mut Vec<u8>) -> Result<(), SinkError> {
        let number = stamp.number;
        let full = rgb(frame);
        let small =
            |picture: &RgbImage| resize(picture, self.grid.thumb.0, self.grid.thumb.1, FilterType::Lanczos3);
        if self.is_source {
            let kept = if self.compare == Some(Compare::Diff) { full } else { small(&full) };
            lock(&self.thumbnails.0).source.insert(number, kept);
            return Ok(());
        }
        // a frame may be requested twice
        let before = lock(&self.thumbnails.0).source.get(&number).cloned();
        let (w, h) = self.grid.thumb;
        let picture = match (self.compare, before) {
            (Some(Compare::Diff), Some(before)) => small(&difference(&before, &full)),
            (Some(Compare::Split), Some(mut before)) => {
                let after = small(&full);
                for (x, y, p) in after.enumerate_pixels().filter(|(x, ..)| *x >= w / 2) {
                    before.put_pixel(x, y, if x == w / 2 { Rgb([255; 3]) } else { *p });
                }
                before
            }
            (Some(Compare::Side), Some(before)) => {
                let mut both = RgbImage::from_pixel(2 * w + 2, h, PAPER);
                image::imageops::replace(&mut both, &before, 0, 0);
                image::imageops::replace(&mut both, &small(&full), i64::from(w) + 2, 0);
                both
            }
            _ => small(&full),
        };
        lock(&self.thumbnails.0).thumbnails.insert(number, Thumbnail { time: stamp.time, picture });
        Ok(())
    }
}

/// The planes of a `gbrp` frame as one picture.
fn rgb(frame: &Frame) -> RgbImage {
    let (w, h) = (frame.format().width as usize, frame.format().height as usize);
    let mut bytes = Vec::with_capacity(3 * w * h);
    for y in 0..h {
        let [g, b, r] = [0, 1, 2].map(|p| frame.row::<u8>(p, y));
        bytes.extend((0..w).flat_map(|x| [r[x], g[x], b[x]]));
    }
    // The buffer has exactly this size.
    RgbImage::from_raw(w as u32, h as u32, bytes).unwrap_or_default()
}

fn difference(a: &RgbImage, b: &RgbImage) -> RgbImage {
    let mut out = b.clone();
    for (to, (a, b)) in out.iter_mut().zip(a.iter().zip(b.iter())) {
        *to = (u32::from(a.abs_diff(*b)) * ENLARGED).min(255) as u8;
    }
    out
}

/// Formats minutes and seconds.
fn clock(time: Ratio) -> String {
    let ms = (time * Ratio::whole(1000)).floor();
    let (s, sign) = (ms.unsigned_abs() / 1000, if ms < 0 { "\u{2212}" } else { "" });
    let hours = if s >= 3600 { format!("{}:", s / 3600) } else { String::new() };
    format!("{sign}{hours}{:02}:{:02}.{:03}", s / 60 % 60, s % 60, ms.unsigned_abs() % 1000)
}

/// Draws the sheet of a finished job, as a PNG.
///
/// # Errors
/// [`PlotError`] if it cannot be drawn.
pub fn png(thumbnails: &Thumbnails, layout: &Layout, title: &str) -> Result<Vec<u8>, PlotError> {
    plot::fonts()?;
    let taken = lock(&thumbnails.0);
    let thumbnails: Vec<(i64, &Thumbnail)> =
        taken.order.iter().filter_map(|n| Some((*n, taken.thumbnails.get(n)?))).collect();
    let count = thumbnails.len() as u32;
    let Some(grid) = taken.grid else { return plot::packed((1, 1), &PAPER.0) };
    let cell = grid.cell();
    let columns = grid.columns.min(count.max(1));
    let rows = count.div_ceil(columns).max(1);
    let size = (
        (2 * MARGIN + columns * (cell.0 + GAP) - GAP).max(if count > 0 { 0 } else { 320 }),
        HEAD + MARGIN + rows * (cell.1 + GAP) - GAP,
    );
    let mut sheet = RgbImage::from_pixel(size.0, size.1, PAPER);
    let place = |i: u32| (MARGIN + i % columns * (cell.0 + GAP), HEAD + i / columns * (cell.1 + GAP));
    for (i, (_, shot)) in thumbnails.iter().enumerate() {
        let (x, y) = place(i as u32);
        image::imageops::replace(&mut sheet, &shot.picture, i64::from(x), i64::from(y));
    }
    let mut bytes = sheet.into_raw();
    {
        let root = BitMapBackend::with_buffer(&mut bytes, size).into_drawing_area();
        let write = |text: String, at: (u32, u32), height: u32, style: FontStyle, ink: &RGBColor| {
            let font = FontDesc::new(FontFamily::Name(FONT), f64::from(height), style);
            let at = (at.0 as i32, at.1 as i32);
            root.draw(&Text::new(text, at, font.color(ink)))
                .map_err(|e| PlotError::Draw(e.to_string().into()))
        };
        let fits = |text: &str, width: u32, height: u32| -> String {
            let most = (f64::from(width) / (0.58 * f64::from(height))) as usize;
            let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
            if text.chars().count() <= most {
                return plain.collect();
            }
            plain.take(most.saturating_sub(1)).chain(['\u{2026}']).collect()
        };
        let room = size.0 - 2 * MARGIN;
        write(fits(title, room, 19), (MARGIN, 12), 19, FontStyle::Bold, &INK)?;
        let how = match layout.compare {
            None => "",
            Some(Compare::Side) => " \u{b7} left: source, right: filtered",
            Some(Compare::Split) => " \u{b7} left half: source, right half: filtered",
            Some(Compare::Diff) => " \u{b7} difference from the source, multiplied by 8",
        };
        let s = if count == 1 { "" } else { "s" };
        let about = format!("{} \u{b7} {count} frame{s}{how}", taken.format);
        write(fits(&about, room, 14), (MARGIN, 38), 14, FontStyle::Normal, &SOFT)?;
        for (i, (number, shot)) in thumbnails.iter().enumerate() {
            let (x, y) = place(i as u32);
            let y = y + grid.thumb.1 + 5;
            // As much text as there is room for.
            let (number, time) = (number.to_string(), clock(shot.time));
            let text = match cell.0 {
                w if w >= 180 => format!("frame {number} \u{b7} {time}"),
                w if w >= 120 => format!("{number} \u{b7} {time}"),
                _ => number,
            };
            write(text, (x, y), 14, FontStyle::Normal, &SOFT)?;
        }
        root.present().map_err(|e| PlotError::Draw(Box::new(e)))?;
    }
    plot::packed(size, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contents of a test signal's sheet: numbers in order, and pictures by number.
    fn shown(frames: Option<&str>, offset: i64, compare: Option<Compare>) -> ThumbnailState {
        let recipe = "noise=strength=100".parse::<Recipe>().unwrap();
        let frames = frames.map(|f| f.parse().unwrap());
        let request = Request::new("pattern:grey:size=32x16:frames=3", "sheet.png");
        let request = Request { recipe, frames, frame_offset: offset, ..request };
        let (layout, thumbnails) = (Layout { width: 400, columns: Some(1), compare }, Thumbnails::default());
        prepare(request, layout, &thumbnails).unwrap().start().unwrap().wait().unwrap();
        std::mem::take(&mut *lock(&thumbnails.0))
    }

    #[test]
    fn frames_have_the_requested_numbers_and_order() {
        for compare in [None, Some(Compare::Split)] {
            assert_eq!(shown(None, 1000, compare).order, [1000, 1001, 1002]);
            assert_eq!(shown(Some("1002,1001"), 1000, compare).order, [1002, 1001]);
        }
        let twice = shown(Some("1,1"), 0, Some(Compare::Split));
        let (w, shot) = (twice.grid.unwrap().thumb.0, &twice.thumbnails[&1].picture);
        assert_eq!(twice.order, [1, 1]);
        // the line between the two halves, and the source's grey on its left
        assert!((0..shot.height()).all(|y| shot.get_pixel(w / 2, y) == &Rgb([255; 3])));
        assert!((0..w / 2).all(|x| shot.get_pixel(x, 3) == shot.get_pixel(0, 0)));
    }

    #[test]
    fn grids_fill_the_width_and_times_are_read() {
        let format = Format::from_name("gbrp", 1920, 1080).unwrap();
        for (count, compare, columns) in [
            (16, None, 4),
            (1, None, 1),
            (2, None, 1),
            (4, None, 2),
            (16, Some(Compare::Side), 3),
            (400, None, 12),
        ] {
            let layout = Layout { width: 1600, columns: None, compare };
            let grid = Grid::new(&layout, count, &format);
            assert_eq!(grid.columns, columns, "{count} {compare:?}");
            let width = 2 * MARGIN + grid.columns * (grid.cell().0 + GAP) - GAP;
            assert!((1560..=1600).contains(&width), "{width}");
        }
        let narrow = Grid::new(&Layout { width: 1, columns: Some(90), compare: None }, 400, &format);
        assert_eq!((narrow.columns, narrow.thumb.0), (90, 8));
        assert_eq!(clock(Ratio::new(12, 25).unwrap()), "00:00.480");
        assert_eq!(clock(Ratio::whole(3725)), "1:02:05.000");
    }
}
