//! Fonts: the outlines of characters as straight lines.
//!
//! Curves become lines that stay within a fiftieth of a sample of them. All arithmetic is + - * / and sqrt of `f64`.

use std::sync::Arc;
use ttf_parser::{Face, OutlineBuilder};

/// The font that is part of the program: Latin, Greek, Cyrillic and a few signs, all of the same width.
const BUNDLED: &[u8] = include_bytes!("filter/text/DejaVuSansMono-Bold.ttf");

/// The largest number of lines of an outline; the rest of a longer one is left out.
const MAX_LINES: usize = 1 << 16;

/// The squared distance at which a curve is split further: one over eight times the tolerance.
const SPLIT: f64 = 1.0 / (8.0 * 0.02);

/// A point in samples to the right and rows down.
pub type Point = [f64; 2];

/// A TrueType or OpenType font.
#[derive(Clone, Debug)]
pub struct Font(Option<Arc<[u8]>>);

/// The error of bytes that are no font.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FontError {
    /// It cannot be parsed.
    #[error("not a TrueType or OpenType font: {0}")]
    Parse(String),
    /// It has pictures instead of outlines.
    #[error("the font has no outlines")]
    Outlines,
}

impl Font {
    /// The font that is part of the program.
    pub const fn bundled() -> Font {
        Font(None)
    }

    /// A font from the bytes of its file; the first of a collection.
    ///
    /// # Errors
    /// The bytes are no font with outlines.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Result<Font, FontError> {
        let bytes = bytes.into();
        let face = Face::parse(&bytes, 0).map_err(|e| FontError::Parse(e.to_string()))?;
        let tables = face.tables();
        if tables.glyf.is_none() && tables.cff.is_none() {
            return Err(FontError::Outlines);
        }
        Ok(Font(Some(bytes)))
    }

    /// The font for setting text.
    ///
    /// # Errors
    /// None for a font that [`new`](Font::new) has accepted.
    pub fn face(&self) -> Result<FontFace<'_>, FontError> {
        let face = Face::parse(self.0.as_deref().unwrap_or(BUNDLED), 0);
        face.map(FontFace).map_err(|e| FontError::Parse(e.to_string()))
    }
}

/// A font for setting text. Lengths are fractions of its size.
pub struct FontFace<'a>(Face<'a>);

impl FontFace<'_> {
    fn units(&self) -> f64 {
        f64::from(self.0.units_per_em().max(1))
    }

    /// From the baseline to the top of a line, and to its bottom.
    pub fn rise_and_fall(&self) -> [f64; 2] {
        [f64::from(self.0.ascender()), -f64::from(self.0.descender())].map(|v| v / self.units())
    }

    /// Whether it has an outline for a character.
    pub fn has(&self, c: char) -> bool {
        self.0.glyph_index(c).is_some()
    }

    /// From a character's origin to that of the next.
    pub fn advance(&self, c: char) -> f64 {
        let glyph = self.0.glyph_index(c).unwrap_or_default();
        f64::from(self.0.glyph_hor_advance(glyph).unwrap_or(0)) / self.units()
    }

    /// Replaces `lines` by the outline of a character, the one that stands for missing ones if the font lacks it. Its
    /// origin is at `at`; a length of 1 becomes `scale` samples across and rows down.
    pub fn outline(&self, c: char, at: Point, scale: [f64; 2], lines: &mut Vec<[Point; 2]>) {
        lines.clear();
        let scale = scale.map(|s| s / self.units());
        let mut pen = Pen { at, scale, first: at, last: at, lines };
        self.0.outline_glyph(self.0.glyph_index(c).unwrap_or_default(), &mut pen);
    }
}

/// Collects the lines of an outline.
struct Pen<'a> {
    at: Point,
    scale: [f64; 2],
    first: Point,
    last: Point,
    lines: &'a mut Vec<[Point; 2]>,
}

impl Pen<'_> {
    fn point(&self, x: f32, y: f32) -> Point {
        [self.at[0] + f64::from(x) * self.scale[0], self.at[1] - f64::from(y) * self.scale[1]]
    }

    fn line(&mut self, to: Point) {
        if self.lines.len() < MAX_LINES {
            self.lines.push([self.last, to]);
        }
        self.last = to;
    }

    /// Lines along a curve; `bend` is a bound of its second derivative.
    fn curve(&mut self, bend: f64, at: impl Fn(f64) -> Point) {
        // `as` saturates and turns NaN into 0.
        let count = (bend * SPLIT).sqrt().ceil().clamp(1.0, 99.0) as u32;
        (1..=count).for_each(|i| self.line(at(f64::from(i) / f64::from(count))));
    }
}

/// The length of `a - 2 b + c`.
fn second_difference(a: Point, b: Point, c: Point) -> f64 {
    let [x, y] = [0, 1].map(|i: usize| a[i] - 2.0 * b[i] + c[i]);
    (x * x + y * y).sqrt()
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.first = self.point(x, y);
        self.last = self.first;
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.line(self.point(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (a, b, c) = (self.last, self.point(x1, y1), self.point(x, y));
        self.curve(2.0 * second_difference(a, b, c), |t| {
            let s = 1.0 - t;
            [0, 1].map(|i: usize| a[i] * (s * s) + b[i] * (2.0 * s * t) + c[i] * (t * t))
        });
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b, c, d) = (self.last, self.point(x1, y1), self.point(x2, y2), self.point(x, y));
        let bend = second_difference(a, b, c).max(second_difference(b, c, d));
        self.curve(6.0 * bend, |t| {
            let s = 1.0 - t;
            let by = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
            [0, 1].map(|i: usize| a[i] * by[0] + b[i] * by[1] + c[i] * by[2] + d[i] * by[3])
        });
    }

    fn close(&mut self) {
        self.line(self.first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_font_has_its_characters_in_equal_widths_and_closed_outlines() {
        let font = Font::bundled();
        let face = font.face().unwrap();
        let mut lines = Vec::new();
        for c in "09:;.AZaz{}ÄÿŁΩЖ€→".chars() {
            assert_eq!(face.advance(c), face.advance('0'), "{c}");
            face.outline(c, [100.0, 50.0], [40.0, 20.0], &mut lines);
            assert!(!lines.is_empty(), "{c}");
            // What goes down goes up again.
            let sum: f64 = lines.iter().map(|[a, b]| b[1] - a[1]).sum();
            assert!(sum.abs() < 1e-9, "{c}");
            assert!(
                lines.iter().flatten().all(|p| p[0] > 95.0 && p[0] < 130.0 && p[1] > 25.0 && p[1] < 60.0)
            );
        }
        face.outline('本', [0.0; 2], [9.0; 2], &mut lines);
        assert!(!lines.is_empty(), "a box for what is missing");
        face.outline(' ', [0.0; 2], [9.0; 2], &mut lines);
        assert!(lines.is_empty());
    }

    #[test]
    fn what_is_no_font_is_refused() {
        assert!(matches!(Font::new(*b""), Err(FontError::Parse(_))));
        assert!(matches!(Font::new(vec![0; 999]), Err(FontError::Parse(_))));
        assert!(Font::new(BUNDLED).is_ok());
    }
}
