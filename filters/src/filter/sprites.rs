//! `sprites`: a picture composited over the frame, moved by curves.
//!
//! Colours are mixed in the frame's own planes: only the picture is converted, once. At scale 1, without rotation, at
//! whole pixels it is copied exactly. Several pictures need several filters; one picture at thousands of positions
//! needs a track file.

use super::splats::{Overlay, SplatFilter};
use super::{Entry, Filter, Memory, Render, Role, Spec};
use crate::frame::{Alpha, Family, Format, Frame, FrameTime, Transfer};
use crate::host::PrepareError;
use crate::particle::draw::{Blend, BlendSpace, Image, MAX_STYLES, Shape, Splat, SplatStyle};
use crate::pixel::transfer::TransferFunction;
use crate::settings;
use crate::settings::{Animated, FileAsset, FileKind, ImageAsset, SettingError, Unit};
use crate::simd::Level;
use std::sync::Arc;
use tracks::{Sprite, SpriteTracks};

mod tracks;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<SpritesSpec>(
    "sprites",
    "Sprites",
    "Composites an image over the frame, with animated position, scale, rotation and opacity",
)
.with_role(Role::Covers);

/// The largest half side that a splat can have, in luma samples.
const MAX_HALF_SIDE: f64 = 4095.0;

settings! {
    struct SpritesSpec {
        /// Image file with alpha. Default: a soft white spot.
        image: Option<ImageAsset> = image(),
        /// Track file (.gfa) with a sprite for each NAME in it: tracks NAME.x and NAME.y (pixels), and optionally
        /// NAME.scale, NAME.rotation, NAME.opacity and NAME.cell. Later ones cover earlier ones. `grainfield curve fit`
        /// writes such files.
        tracks: Option<FileAsset> = file(FileKind::TrackFile),
        /// Position of the image's centre, from the top left corner of the frame. Default: the middle of the frame.
        /// With tracks: a shift of all sprites, default 0,0; `scale` and `fade` multiply, `rotation` and `cell` are
        /// added.
        position: Option<Animated<[f64; 2]>> = position(-1e6..=1e6).unit(Unit::Pixels),
        /// Magnification: 1 maps a pixel to a pixel, 2 is twice as wide and high.
        scale: Animated = number(0.0..=1000.0).default(1.0).soft(0.0..=4.0),
        /// Width relative to height: 2 makes a square twice as wide, 0.5 half as wide.
        stretch: Animated = number(0.01..=100.0).default(1.0).logarithmic(),
        /// Rotation, clockwise.
        rotation: Animated = number(-1e6..=1e6).default(0.0).unit(Unit::Degrees).soft(-180.0..=180.0),
        /// Opacity of the image: 0 is invisible.
        fade: Animated = number(0.0..=1.0).default(1.0).unit(Unit::Fraction),
        /// Blend mode.
        blend: Blend = choice("over"),
        /// Values in which the image is mixed with the frame.
        light: BlendSpace = choice("gamma"),
        /// Number of pictures side by side in the image, for a flip-book sheet.
        columns: i64 = integer(1..=256).default(1).group("Sheet"),
        /// Number of rows of pictures in the sheet.
        rows: i64 = integer(1..=256).default(1).group("Sheet"),
        /// Number of the picture in the sheet, from 0, row by row; after the last comes the first. Animate it
        /// to play the sheet.
        cell: Animated = number(0.0..=1e9).default(0.0).step(1.0).soft(0.0..=256.0).group("Sheet"),
    }
}

impl SpritesSpec {
    /// The styles, and half the width and height of each in rows.
    fn styles(&self, input: &Format) -> Result<(Vec<SplatStyle>, [f64; 2]), SettingError> {
        let Some(picture) = &self.image else {
            let shape = Shape::disc(1.0).map_err(|e| SettingError::new("", e))?;
            return Ok((vec![SplatStyle::new(shape, self.blend)], [f64::from(input.height) / 8.0; 2]));
        };
        let (parts, [width, height]) = sheet(picture, self.columns, self.rows, MAX_STYLES)?;
        let style = |part| SplatStyle::new(Shape::Image(Arc::new(part)), self.blend);
        Ok((parts.into_iter().map(style).collect(), [0.5 * width, 0.5 * height]))
    }
}

/// The pictures of a sheet row by row, at most `most`, and the width and height of each in rows as shown: pixels of a
/// picture may have another shape than a square, too.
pub(super) fn sheet(
    picture: &ImageAsset,
    columns: i64,
    rows: i64,
    most: usize,
) -> Result<(Vec<Image>, [f64; 2]), SettingError> {
    let frame = picture.require().map_err(|e| SettingError::new("image", e))?;
    let [across, down] = [columns as usize, rows as usize];
    if across * down > most {
        return Err(SettingError::new("columns", format!("a sheet has at most {most} pictures")));
    }
    let whole = image(frame).map_err(|e| SettingError::new("image", e))?;
    let parts = (0..across * down).map(|cell| whole.part(cell, across, down));
    let parts: Vec<Image> = parts.collect::<Result<_, _>>().map_err(|e| SettingError::new("columns", e))?;
    let [w, h] = parts.first().unwrap_or(&whole).size().map(|v| v as f64);
    Ok((parts, [w * frame.format().shape(), h]))
}

/// A picture of the program as a sprite.
pub(super) fn image(frame: &Frame) -> Result<Image, String> {
    let format = frame.format();
    if format.family == Family::Yuv {
        return Err("a sprite must be grey or RGB, not YUV: save it as PNG".into());
    }
    let (w, h) = format.plane_size(0);
    let at = |p: usize, x: usize, y: usize| frame.value(p, x, y);
    // As displayed: light of scenes is put into the curve of sRGB.
    let shown = |v: f32| {
        if format.transfer != Transfer::LINEAR || v.is_nan() {
            return v;
        }
        TransferFunction::Srgb.code(f64::from(v.clamp(0.0, 1.0))) as f32
    };
    let planes = if format.family == Family::Gray { [0, 0, 0] } else { [2, 0, 1] };
    let mut texels = Vec::with_capacity(w * h);
    for y in 0..h {
        for x in 0..w {
            let a = format.alpha_plane().map_or(1.0, |p| at(p, x, y));
            let by = if format.alpha == Alpha::Premultiplied && a > 0.0 { 1.0 / a } else { 1.0 };
            let [r, g, b] = planes.map(|p| shown(at(p, x, y) * by));
            texels.push([r, g, b, a]);
        }
    }
    Image::new(w, h, &texels).map_err(|e| e.to_string())
}

impl Spec for SpritesSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let (styles, half) = self.styles(input)?;
        let cells = styles.len();
        let tracks = self.tracks.as_ref().map(SpriteTracks::new).transpose()?;
        let most = tracks.as_ref().map_or(1, SpriteTracks::len);
        let overlay = Overlay::with_space(input, styles, self.light, most, level)?;
        Ok(Sprites { cells, half, set: self.clone(), overlay, tracks }.boxed())
    }
}

struct Sprites {
    overlay: Overlay,
    cells: usize,
    half: [f64; 2],
    set: SpritesSpec,
    tracks: Option<SpriteTracks>,
}

impl Sprites {
    /// The splats of sprites in order, each with what the settings add.
    fn all(&self, at: &FrameTime, sprites: impl Iterator<Item = Sprite>) -> Vec<Splat> {
        let set = &self.set;
        let wide = set.stretch.at(at).sqrt();
        let half = [self.half[0] * wide, self.half[1] / wide];
        let most = MAX_HALF_SIDE / half[0].max(half[1]);
        let (scale, rotation) = (set.scale.at(at), set.rotation.at(at));
        let (fade, cell) = (set.fade.at(at), set.cell.at(at));
        let colour = self.overlay.painter.colour([1.0; 3]);
        let splat = |sprite: Sprite| {
            // No larger than can be, in its own proportions.
            let scale = (scale * sprite.scale).min(most);
            let turns = (rotation + sprite.rotation) / 360.0;
            let splat = self.overlay.splat(sprite.centre, half.map(|v| v * scale), turns);
            let style = ((cell + sprite.cell) as usize % self.cells.max(1)) as u16;
            Splat { style, colour, ..splat }.faded((fade * sprite.opacity) as f32)
        };
        (0..).zip(sprites).map(|(rank, sprite)| Splat { rank, ..splat(sprite) }).collect()
    }
}

impl SplatFilter for Sprites {
    fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    fn shows(&self, at: &FrameTime) -> bool {
        self.set.fade.at(at) > 0.0
    }

    fn splats(&self, at: &FrameTime) -> Result<Vec<Splat>, PrepareError> {
        let [w, h] = self.overlay.size();
        let position = self.set.position.as_ref().map(|p| p.at(at));
        let Some(tracks) = &self.tracks else {
            let alone = Sprite { centre: position.unwrap_or([0.5 * w, 0.5 * h]), ..Sprite::default() };
            return Ok(self.all(at, core::iter::once(alone)));
        };
        let [dx, dy] = position.unwrap_or_default();
        let moved = |s: Sprite| Sprite { centre: [s.centre[0] + dx, s.centre[1] + dy], ..s };
        tracks.at(at, |sprites| self.all(at, sprites.filter(|s| s.opacity > 0.0).map(moved)))
    }

    fn memory(&self) -> Memory {
        let Memory { fixed, per_frame } = self.overlay.memory();
        let (kept, head) = self.tracks.as_ref().map_or((0, 0), SpriteTracks::memory);
        Memory { fixed: fixed + kept, per_frame: per_frame + head }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Band;
    use super::*;
    use crate::frame::{Depth, PlaneSet, Scratch};
    use crate::host::{CurrentThread, Host, NoCache};
    use crate::ratio::Ratio;
    use crate::settings::{Value, Values};
    use core::sync::atomic::AtomicBool;

    /// A chequered picture of R, G, B and alpha, 8 by 6.
    pub(super) fn picture() -> Frame {
        let format =
            Format { alpha: Alpha::Straight, ..Format::new(8, 6, Family::Rgb, Depth::Bits(8), (0, 0)) };
        let mut frame = Frame::new(format);
        for p in 0..4 {
            for y in 0..6 {
                for (x, s) in frame.row_mut::<u8>(p, y).iter_mut().enumerate() {
                    *s = if p == 3 { 255 } else { (40 * p + 20 * y + 7 * x) as u8 };
                }
            }
        }
        frame
    }

    fn drawn(settings: &[(&str, &str)], picture: Option<Frame>, at: i64) -> Frame {
        drawn_on(Format::new(40, 30, Family::Rgb, Depth::Bits(8), (0, 0)), settings, picture, at)
    }

    fn drawn_on(format: Format, settings: &[(&str, &str)], picture: Option<Frame>, at: i64) -> Frame {
        let mut values = Values::new(ENTRY.settings);
        for (id, text) in settings {
            let setting = ENTRY.settings.iter().find(|s| s.id == *id).unwrap();
            values.set(id, setting.parse(text).unwrap()).unwrap();
        }
        if let Some(frame) = picture {
            values.set("image", Value::Image(ImageAsset::named("x.png").read(frame))).unwrap();
        }
        let filter = ENTRY.bind(&values, &format, 1, Level::best()).unwrap();
        drawn_by(format, &[&*filter], at)
    }

    pub(super) fn drawn_at(filters: &[&dyn Filter], at: i64) -> Frame {
        drawn_by(Format::new(40, 30, Family::Rgb, Depth::Bits(8), (0, 0)), filters, at)
    }

    fn drawn_by(format: Format, filters: &[&dyn Filter], at: i64) -> Frame {
        let at = FrameTime::of_frame(at, Ratio::whole(24));
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
        let mut frame = Frame::new(format);
        for filter in filters {
            let Some(now) = filter.at(&at) else { continue };
            let state = filter.prepare(&now, None, &host).unwrap();
            let mut band = Band { rows: 0..30, input: None, output: frame.as_mut(), writes: PlaneSet::ALL };
            filter.render(&now, Some(&state), &mut band, &mut Scratch::default());
        }
        frame
    }

    #[test]
    fn a_picture_is_copied_to_the_sample_and_follows_its_curve() {
        let frame = drawn(&[("position", "0=10,10;5=20,15")], Some(picture()), 5);
        for p in 0..3 {
            for y in 0..30 {
                for x in 0..40 {
                    let inside = (16..24).contains(&x) && (12..18).contains(&y);
                    let want = if inside { picture().row::<u8>(p, y - 12)[x - 16] } else { 0 };
                    assert_eq!(frame.row::<u8>(p, y)[x], want, "{p} {x} {y}");
                }
            }
        }
    }

    /// Every sample against the definition in f64: the mean of the picture over the cell's rectangle, turned as the
    /// picture is, colour multiplied by alpha, laid over black.
    #[test]
    fn turned_and_scaled_it_is_the_mean_over_each_cell() {
        let mut seen = picture();
        for y in 0..6 {
            for (x, a) in seen.row_mut::<u8>(3, y).iter_mut().enumerate() {
                *a = (255 - 24 * x - 11 * y) as u8;
            }
        }
        for (degrees, scale) in [(30.0f64, 1.5f64), (-115.0, 1.5), (200.0, 0.5), (75.0, 3.0)] {
            let (d, s) = (format!("{degrees}"), format!("{scale}"));
            let given = [("position", "20.25,15.75"), ("rotation", &d), ("scale", &s), ("fade", "0.75")];
            let frame = drawn(&given, Some(seen.clone()), 0);
            let (sin, cos) = libm::sincos(degrees.to_radians());
            let long = libm::hypot(cos, sin) / scale;
            let half = 0.5 * long.max(1.0);
            for (y, x) in (0..30).flat_map(|y| (0..40).map(move |x| (y, x))) {
                let (dx, dy) = (x as f64 + 0.5 - 20.25, y as f64 + 0.5 - 15.75);
                let (u, v) = ((dx * cos + dy * sin) / scale + 4.0, (dy * cos - dx * sin) / scale + 3.0);
                let share = |at: f64, i: usize| {
                    ((at + half).min(i as f64 + 1.0) - (at - half).max(i as f64)).max(0.0) / (2.0 * half)
                };
                for p in 0..3 {
                    let mut want = 0.0;
                    for (row, column) in (0..6).flat_map(|r| (0..8).map(move |c| (r, c))) {
                        let [colour, alpha] = [p, 3].map(|p| f64::from(seen.row::<u8>(p, row)[column]));
                        want += 0.75 * colour * alpha / 255.0 * share(u, column) * share(v, row);
                    }
                    let got = f64::from(frame.row::<u8>(p, y)[x]);
                    assert!((got - want).abs() < 1.0, "{degrees} {scale}: {p} {x} {y}: {got}, not {want}");
                }
            }
        }
    }

    #[test]
    fn form_is_kept_as_shown() {
        let square = Format::new(40, 30, Family::Rgb, Depth::Bits(8), (0, 0));
        let wide = Format { aspect: Ratio::whole(2), ..square };
        let mut seen = picture();
        (0..3).for_each(|p| (0..6).for_each(|y| seen.row_mut::<u8>(p, y).fill(255)));
        // How many samples of the middle row and column it covers.
        let size = |format: Format, seen: &Frame, degrees: &str| {
            let frame = drawn_on(format, &[("rotation", degrees)], Some(seen.clone()), 0);
            let across: f64 = frame.row::<u8>(0, 15).iter().map(|v| f64::from(*v) / 255.0).sum();
            let down: f64 = (0..30).map(|y| f64::from(frame.row::<u8>(0, y)[20]) / 255.0).sum();
            [across, down].map(|v| (v * 2.0).round() / 2.0)
        };
        assert_eq!([size(square, &seen, "0"), size(square, &seen, "90")], [[8.0, 6.0], [6.0, 8.0]]);
        assert_eq!([size(wide, &seen, "0"), size(wide, &seen, "90")], [[4.0, 6.0], [3.0, 8.0]]);
        // Whose own pixels are as wide as the frame's samples is copied.
        seen.retag(Format { aspect: Ratio::whole(2), ..*seen.format() });
        assert_eq!(size(wide, &seen, "0"), [8.0, 6.0]);
    }

    #[test]
    fn light_is_mixed_as_the_setting_says() {
        let code = |light| {
            let given = [("fade", "0.5"), ("light", light)];
            let mut seen = picture();
            (0..4).for_each(|p| (0..6).for_each(|y| seen.row_mut::<u8>(p, y).fill(255)));
            drawn(&given, Some(seen), 0).row::<u8>(1, 15)[20]
        };
        // Half of white over black: half of the code, or the code of half the light by sRGB.
        assert_eq!([code("gamma"), code("linear")], [128, 188]);
    }

    #[test]
    fn pages_follow_the_cell_and_invalid_sheets_are_refused() {
        let sheet = [("columns", "4"), ("rows", "3"), ("position", "1,1"), ("cell", "0=0;5=5")];
        let frame = drawn(&sheet, Some(picture()), 5);
        // Cell 5 of parts of 2 by 2 is the second of the second row.
        assert_eq!(frame.row::<u8>(0, 0)[0], picture().row::<u8>(0, 2)[2]);
        assert!(drawn(&[("fade", "0")], Some(picture()), 0).row::<u8>(0, 15)[20] == 0);
        assert!(drawn(&[], None, 0).row::<u8>(0, 15)[20] > 220);
        let mut values = Values::new(ENTRY.settings);
        values.set("image", Value::Image(ImageAsset::named("not-read.png"))).unwrap();
        let format = Format::new(40, 30, Family::Gray, Depth::Bits(8), (0, 0));
        let refused = ENTRY.bind(&values, &format, 1, Level::best()).err().unwrap();
        assert_eq!(refused.setting, "image");
    }
}
