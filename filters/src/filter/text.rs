//! `text`: writes text, as timecode, into the picture.
//!
//! The outlines of characters cover samples in proportion to the area; the edge around them is what is within its width
//! of an outline. Box, edge and text make one picture, which is drawn like a sprite. In an interlaced frame each field
//! has every other row of it.

use super::splats::Overlay;
use super::{Band, Entry, Filter, Memory, Plan, Render, Role, Spec};
use crate::font::{Font, FontFace};
use crate::frame::{ClipDetails, Format, FrameTime, Scratch};
use crate::host::{Host, PrepareError};
use crate::noise::seed::hash128;
use crate::particle::draw::{Bins, Blend, Picture, Shape, SplatStyle};
use crate::settings::{Animated, FileAsset, FileKind, Setting, SettingError, Settings, Unit, Values};
use crate::simd::Level;
use crate::{choices, settings};
use canvas::Canvas;
use fields::{Fields, Template};
use std::collections::BTreeSet;
use std::sync::Arc;

mod canvas;
mod fields;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<TextSpec>(
    "text",
    "Text",
    "Writes text into the picture: timecode, frame number, file name, properties of the clip",
)
.with_role(Role::Covers);

settings! {
    struct TextSettings {
        /// The text, in which these fields are filled in: `{timecode}`; `{frame}`, its number; `{time}` since the first frame;
        /// `{file}`, the name of the file; `{seed}` of the recipe; `{rate}` and `{size}` of the picture; `{info.NAME}`, a
        /// property that `grainfield probe` shows, such as `{info.tag title}`, or nothing; `{newline}` begins a line; `{{` is
        /// a brace. Plugins know no file, no properties and no timecode of the clip.
        text: String = text().default("{timecode}"),
        /// Timecode of the first frame, for `{timecode}`: 01:00:00:00, or with drop frame 01:00:00;00. Default: that of the
        /// clip, else 00:00:00:00.
        timecode: Option<String> = text(),
        /// Font file. Default: DejaVu Sans Mono Bold, which has Latin, Greek and Cyrillic letters.
        font: Option<FileAsset> = file(FileKind::Font),
        /// Size of the font, as a fraction of the picture's height.
        size: Animated = number(0.001..=2.0).default(0.05).unit(Unit::Fraction).soft(0.01..=0.3).logarithmic(),
        /// Limits the size so that the longest line is no wider than nine tenths of the picture, in all frames alike: digits
        /// count as the widest one, and `{frame}` has six. Off, wider text is cut at the edges of the picture.
        fit: bool = switch().default(true),
        /// The part of the text that is at the position. Lines are aligned at it.
        anchor: Anchor = choice("bottom"),
        /// Position, in fractions of the picture's width and height. Default: near the edge or corner of the anchor's
        /// name.
        position: Option<Animated<[f64; 2]>> = position(-9.0..=10.0).unit(Unit::Fraction).soft(0.0..=1.0),
        /// Colour of the text.
        color: Animated<[f64; 4]> = colour().default([1.0; 4]),
        /// Width of an edge around the letters, as a fraction of the size; it makes them readable on every picture.
        edge: Animated = number(0.0..=0.5).default(0.07).unit(Unit::Fraction).soft(0.0..=0.2),
        /// Colour of the edge.
        edge_color as "edge-color": Animated<[f64; 4]> = colour().default([0.0, 0.0, 0.0, 1.0]),
        /// Opacity of a box behind the text.
        backdrop as "box": Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).group("Box"),
        /// Colour of the box.
        box_color as "box-color": Animated<[f64; 4]> = colour().default([0.0, 0.0, 0.0, 1.0]).group("Box"),
    }
}

choices! {
    /// The part of the text that is at its position.
    enum Anchor {
        /// the left end of its top
        TopLeft = "top-left",
        /// the middle of its top
        Top = "top",
        /// the right end of its top
        TopRight = "top-right",
        /// the middle of its left side
        Left = "left",
        /// its middle
        Center = "center",
        /// the middle of its right side
        Right = "right",
        /// the left end of its bottom
        BottomLeft = "bottom-left",
        /// the middle of its bottom
        Bottom = "bottom",
        /// the right end of its bottom
        BottomRight = "bottom-right",
    }
}

impl Anchor {
    /// 0 for left or top, 0.5 for the middle, 1 for right or bottom.
    fn parts(self) -> [f64; 2] {
        [0.5 * f64::from(self as u8 % 3), 0.5 * f64::from(self as u8 / 3)]
    }
}

/// Where the text is without a position: so far from the edges, in fractions of the picture.
const MARGIN: f64 = 0.05;

/// The width of the box around the text, as a fraction of the size.
const PADDING: f64 = 0.25;

/// The settings, and what is known of the clip.
struct TextSpec {
    set: TextSettings,
    details: Option<Arc<ClipDetails>>,
}

impl Settings for TextSpec {
    const TABLE: &'static [Setting] = TextSettings::TABLE;

    fn read(values: &Values) -> TextSpec {
        TextSpec { set: TextSettings::read(values), details: values.details().cloned() }
    }
}

impl Spec for TextSpec {
    fn check(&mut self, _: &Values) -> Result<(), SettingError> {
        Template::parse(&self.set.text).map(drop).map_err(|e| SettingError::new("text", e))
    }

    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let (fields, font) = self.fields_and_font(input)?;
        let overlay = Overlay::new(input, vec![SplatStyle::new(Shape::Picture, Blend::Over)], 1, level)?;
        let longest = fields.longest();
        let lines = longest.split('\n').count();
        let mut max_size = f64::INFINITY;
        if self.set.fit {
            let face = font.face().map_err(|e| SettingError::new("font", e))?;
            max_size =
                (1.0 - 2.0 * MARGIN) * overlay.size()[0] / (widest(&face, &longest) * overlay.narrow());
        }
        Ok(Text { set: self.set.clone(), fields, lines, max_size, font, overlay }.boxed())
    }

    fn note(&self, input: &Format) -> Option<String> {
        let (fields, font) = self.fields_and_font(input).ok()?;
        let face = font.face().ok()?;
        let text = fields.longest();
        let lacks = |c: &char| !c.is_whitespace() && !face.has(*c);
        let lacking: BTreeSet<String> =
            text.chars().filter(lacks).map(|c| format!("{c:?}")).take(20).collect();
        let lacking = Vec::from_iter(lacking).join(", ");
        (!lacking.is_empty()).then(|| {
            format!("the font lacks {lacking}, for which it shows a box: name a font that has it (font=FILE)")
        })
    }
}

impl TextSpec {
    fn fields_and_font(&self, input: &Format) -> Result<(Fields, Font), SettingError> {
        let template = Template::parse(&self.set.text).map_err(|e| SettingError::new("text", e))?;
        let fields = template.bind(self.set.timecode.as_deref(), self.details.as_ref(), input);
        let fields = fields.map_err(|e| SettingError::new("timecode", e))?;
        let font = match &self.set.font {
            Some(file) => file.require::<Font>().map_err(|e| SettingError::new("font", e))?.clone(),
            None => Font::bundled(),
        };
        Ok((fields, font))
    }
}

/// The width of the widest line, as a multiple of the size, where each digit is as wide as the widest one.
fn widest(face: &FontFace<'_>, text: &str) -> f64 {
    let digit = ('0'..='9').map(|c| face.advance(c)).fold(0.0, f64::max);
    let advance = |c: char| if c.is_ascii_digit() { digit } else { face.advance(c) };
    text.split('\n').map(|line| line.chars().map(advance).sum()).fold(0.0, f64::max)
}

struct Text {
    set: TextSettings,
    fields: Fields,
    lines: usize,
    /// In rows of the frame.
    max_size: f64,
    font: Font,
    overlay: Overlay,
}

/// The text of a frame and its look. Lengths are in rows of the frame, the position is in samples.
struct Look {
    text: String,
    size: f64,
    position: [f64; 2],
    edge: f64,
    color: [f64; 4],
    edge_color: [f64; 4],
    box_color: [f64; 4],
}

impl Look {
    fn key(&self) -> u128 {
        let numbers = [self.size, self.edge].into_iter().chain(self.position);
        let colors = [self.color, self.edge_color, self.box_color].into_iter().flatten();
        let numbers = numbers.chain(colors).map(f64::to_bits);
        hash128(numbers.chain(self.text.bytes().map(u64::from)))
    }
}

/// A rectangle of the frame in samples: left and top, right and bottom.
type Area = [[f64; 2]; 2];

impl Text {
    /// The rectangle of the text, and of each line the text, its left end and its baseline.
    fn layout<'a>(&self, face: &FontFace<'_>, look: &'a Look) -> (Area, Vec<(&'a str, [f64; 2])>) {
        let across = look.size * self.overlay.narrow();
        let width = |line: &str| line.chars().map(|c| face.advance(c)).sum::<f64>() * across;
        let [rise, fall] = face.rise_and_fall().map(|v| v * look.size);
        let [part, down] = self.set.anchor.parts();
        let lines: Vec<(&str, f64)> = look.text.split('\n').map(|line| (line, width(line))).collect();
        let wide = lines.iter().fold(0.0, |wide: f64, line| wide.max(line.1));
        let high = (rise + fall) * lines.len() as f64;
        let [x, y] = look.position;
        let top = y - down * high;
        let baseline = |i: usize| top + (rise + fall) * i as f64 + rise;
        let places = lines.iter().enumerate();
        let places = places.map(|(i, (line, wide))| (*line, [x - part * wide, baseline(i)])).collect();
        ([[x - part * wide, top], [x + (1.0 - part) * wide, top + high]], places)
    }

    /// The picture of the text; `None` if all of it is beside the frame.
    fn picture(&self, look: &Look) -> Option<Picture> {
        // The font was checked when it was read.
        let face = self.font.face().ok()?;
        let ([from, to], lines) = self.layout(&face, look);
        let shape = self.overlay.format.shape();
        let pad = if look.box_color[3] > 0.0 { PADDING * look.size } else { 0.0 };
        let bounds = [[from[0] - pad / shape, from[1] - pad], [to[0] + pad / shape, to[1] + pad]];
        // Letters may stand out of their lines.
        let beyond = look.edge + 0.5 * look.size + 1.0;
        let [width, height] = self.overlay.size();
        let clip = |v: f64, i: usize| v.clamp(0.0, [width, height][i]) as usize;
        let low = [0, 1].map(|i: usize| clip((bounds[0][i] - beyond / [shape, 1.0][i]).floor(), i));
        let high = [0, 1].map(|i: usize| clip((bounds[1][i] + beyond / [shape, 1.0][i]).ceil(), i));
        let size = [0, 1].map(|i: usize| high[i].saturating_sub(low[i]).min(Picture::MAX_SIDE));
        if size.contains(&0) {
            return None;
        }
        let mut canvas = Canvas::new(low.map(|v| v as i32), size, look.edge > 0.0);
        self.draw(&face, look, &lines, &mut canvas);
        Some(self.colored(look, &canvas, bounds))
    }

    /// Draws the characters that reach into the canvas.
    fn draw(&self, face: &FontFace<'_>, look: &Look, lines: &[(&str, [f64; 2])], canvas: &mut Canvas) {
        let across = look.size * self.overlay.narrow();
        let shape = self.overlay.format.shape();
        let reach = look.edge + 1.0;
        let near = [reach / shape, reach];
        let mut outline = Vec::new();
        for (line, [mut x, y]) in lines.iter().copied() {
            for c in line.chars() {
                face.outline(c, [x, y], [across, look.size], &mut outline);
                x += face.advance(c) * across;
                let visible = (0..2).all(|i| {
                    let points = || outline.iter().map(|line| line[0][i]);
                    let first = f64::from(canvas.from[i]);
                    points().fold(f64::MIN, f64::max) + near[i] > first
                        && points().fold(f64::MAX, f64::min) - near[i] < first + canvas.size[i] as f64
                });
                if visible {
                    canvas.add(&outline, reach, shape);
                }
            }
        }
    }

    /// Box, edge and text in their colours, in the rows of the picture that is drawn.
    fn colored(&self, look: &Look, canvas: &Canvas, bounds: Area) -> Picture {
        let (step, first) = self.overlay.format.field_rows();
        let (step, first) = (step as usize, first as usize);
        let top = canvas.from[1] as usize;
        // The first row of this field that is not above the canvas.
        let skip = (first + step - top % step) % step;
        let mut picture =
            Picture::new([canvas.from[0], ((top + skip - first) / step) as i32], canvas.size[0]);
        let [color, edge_color, box_color] =
            [look.color, look.edge_color, look.box_color].map(|c| c.map(|v| v as f32));
        let edge = look.edge as f32;
        // The part of a sample that is within the box.
        let share = |v: f64, i: usize| (v + 1.0).min(bounds[1][i]) - v.max(bounds[0][i]);
        let boxed = |v: f64, i: usize| share(v, i).max(0.0) as f32;
        let columns: Vec<f32> =
            (0..canvas.size[0]).map(|x| boxed(f64::from(canvas.from[0]) + x as f64, 0)).collect();
        let mut cover = vec![0.0; canvas.size[0]];
        let mut out = vec![[0.0f32; 4]; canvas.size[0]];
        for y in (skip..canvas.size[1]).step_by(step) {
            let near = canvas.row(y, &mut cover);
            let row = boxed((top + y) as f64, 1);
            for (x, texel) in out.iter_mut().enumerate() {
                // An edge narrower than a row is fainter, and without one the letters have nothing behind them.
                let edged = near.get(x).map_or(0.0, |square| {
                    (edge + 0.5 - square.sqrt()).clamp(0.0, 1.0).max(cover[x]) * edge.min(1.0)
                });
                let layers = [(box_color, columns[x] * row), (edge_color, edged), (color, cover[x])];
                *texel = [0.0; 4];
                for ([r, g, b, opacity], covered) in &layers[usize::from(columns[x] * row == 0.0)..] {
                    let a = opacity * covered;
                    let above = [r * a, g * a, b * a, a];
                    *texel = core::array::from_fn(|i| above[i] + texel[i] * (1.0 - a));
                }
            }
            self.overlay.painter.add_row(&mut picture, &out);
        }
        picture
    }
}

impl Render for Text {
    type Params = Look;
    type State = Bins;

    fn at(&self, at: &FrameTime) -> Option<(Plan, Look)> {
        let text = self.fields.text(at);
        if text.trim().is_empty() {
            return None;
        }
        let set = &self.set;
        let frame = self.overlay.size();
        let size = (set.size.at(at) * frame[1]).min(self.max_size);
        let near_edge = set.anchor.parts().map(|part| MARGIN + (1.0 - 2.0 * MARGIN) * part);
        let position = set.position.as_ref().map_or(near_edge, |p| p.at(at));
        let [r, g, b, a] = set.box_color.at(at);
        let look = Look {
            text,
            size,
            position: [0, 1].map(|i: usize| position[i] * frame[i]),
            edge: set.edge.at(at) * size,
            color: set.color.at(at),
            edge_color: set.edge_color.at(at),
            box_color: [r, g, b, a * set.backdrop.at(at)],
        };
        Some((Plan { state: Some(look.key()), ..Plan::in_place(self.overlay.format.all_planes()) }, look))
    }

    fn memory(&self) -> Memory {
        let Memory { fixed, per_frame } = self.overlay.memory();
        let [width, height] = self.overlay.size();
        let size = (self.set.size.constant().unwrap_or(2.0) * height).min(self.max_size);
        let rows = (size * (1.6 * self.lines as f64 + 3.0)).min(height) as usize + 4;
        let samples = rows * width as usize;
        let room = Picture::most_bytes(samples, rows) + Canvas::bytes(samples);
        Memory { fixed, per_frame: per_frame + room }
    }

    fn prepare(&self, look: &Look, mut bins: Bins, host: &Host<'_>) -> Result<Bins, PrepareError> {
        host.check()?;
        let painter = &self.overlay.painter;
        let picture = self.picture(look);
        let splat = picture.as_ref().map(|picture| painter.splat_of(picture, 0, 0));
        painter.bin(splat.as_slice(), &mut bins, host.executor);
        bins.set_pictures(picture.into_iter().collect());
        Ok(bins)
    }

    fn render(&self, _: &Look, bins: &Bins, band: &mut Band<'_>, scratch: &mut Scratch) {
        self.overlay.painter.draw(bins, &mut band.output, band.writes, scratch);
    }
}

#[cfg(test)]
mod tests;
