//! Rows of any format as red, green and blue in f32, and back: for filters that work on colours.
//!
//! Subsampled chroma is interpolated at its positions, and the result is averaged to those positions again, both by the
//! arithmetic of [`convert`](super::convert). Premultiplied colour is divided by alpha in between; samples without
//! coverage, and float samples that are not finite, do not change.

use super::convert::{Convert, divide, multiply};
use super::point::mean_alpha;
use super::{Band, Render};
use crate::for_depth;
use crate::frame::{Alpha, Depth, Format, FrameMut, FrameRef, PlaneSet, Sample, Scratch};
use crate::pixel::convert::Code;
use crate::pixel::f32_rows::{ConvertF32, from_f32, to_f32};
use crate::pixel::resample::carry;
use crate::settings::SettingError;
use crate::simd::Level;
use core::ops::Range;

/// Luma rows that are converted at a time: whole chroma blocks, and few enough for a core's cache.
const ROWS: usize = 8;

/// Both conversions of a format, bound.
pub(super) struct ThroughRgb {
    pub(super) rgb: Format,
    format: Format,
    to_rgb: Convert,
    from_rgb: Convert,
    /// The format of differences, if the filter adds them to the picture.
    added: Option<Format>,
    /// Whether the rows given to the filter are those of the picture.
    reads: bool,
    level: Level,
}

impl ThroughRgb {
    /// For a filter whose rows replace the picture.
    ///
    /// # Errors
    /// The colours of the format have no linear matrix.
    pub(super) fn new(format: &Format, level: Level) -> Result<ThroughRgb, SettingError> {
        ThroughRgb::bound(format, None, level)
    }

    /// For a filter whose rows are added to the picture, so that chroma without a difference stays as it is.
    ///
    /// # Errors
    /// As those of [`new`](ThroughRgb::new).
    pub(super) fn adding(format: &Format, level: Level) -> Result<ThroughRgb, SettingError> {
        ThroughRgb::bound(format, Some(Format { depth: Depth::Float, ..*format }), level)
    }

    fn bound(format: &Format, added: Option<Format>, level: Level) -> Result<ThroughRgb, SettingError> {
        let multiplied = format.alpha == Alpha::Premultiplied;
        let rgb = format.float_rgb(if multiplied { Alpha::Premultiplied } else { Alpha::None });
        let bound = Convert::new(format, &rgb, level)
            .and_then(|to_rgb| Ok((to_rgb, Convert::new(&rgb, &added.unwrap_or(*format), level)?)));
        let (to_rgb, from_rgb) = bound.map_err(|e| SettingError::new("", e))?;
        Ok(ThroughRgb { rgb, format: *format, to_rgb, from_rgb, added, reads: true, level })
    }

    /// For a filter that draws whole rows whatever the picture is: unless it is multiplied by alpha, `render` gives rows
    /// of arbitrary contents, which saves their conversion.
    #[must_use]
    pub(super) fn drawing(self) -> ThroughRgb {
        ThroughRgb { reads: self.rgb.alpha != Alpha::None, ..self }
    }

    /// The number of luma rows beyond its own that an output row depends on.
    pub(super) fn reach(&self) -> u32 {
        self.to_rgb.reach() + self.from_rgb.reach()
    }

    /// These rows, and those beyond them from which the samples of subsampled chroma are averaged.
    pub(super) fn around(&self, rows: &Range<usize>) -> Range<usize> {
        let reach = self.from_rgb.reach() as usize;
        rows.start.saturating_sub(reach)..(rows.end + reach).min(self.rgb.plane_size(0).1)
    }

    /// The memory that [`render`](ThroughRgb::render) takes from its scratch.
    pub(super) fn memory(&self) -> usize {
        let rgb = Scratch::picture_bytes(&self.rgb, ROWS + 2 * self.from_rgb.reach() as usize);
        let added = self.added.map_or(0, |f| Scratch::picture_bytes(&f, ROWS));
        let rows = 2 * (8 * self.format.width as usize + 64);
        let convert = self.to_rgb.memory().per_frame.max(self.from_rgb.memory().per_frame);
        rgb + added + rows.max(convert)
    }

    /// Reads rows of straight R, G and B (planes G, B, R and premultiplied alpha).
    pub(super) fn read(&self, input: FrameRef<'_>, output: FrameMut<'_>, scratch: &mut Scratch) {
        let rows = output.plane(0).rows();
        let mut band = Band { rows: rows.clone(), input: Some(input), output, writes: PlaneSet::ALL };
        self.to_rgb.render(&(), &(), &mut band, scratch);
        let [planes @ .., alpha] = band.output.planes_mut();
        if self.rgb.alpha != Alpha::None {
            for plane in planes {
                rows.clone().for_each(|y| divide(plane.row_mut(y), alpha.row_mut(y)));
            }
        }
    }

    /// Writes the band's rows. `change` gets the number of a luma row, memory for two rows, and the row's straight R, G
    /// and B, which it replaces by the result or by what is added. Results for integer formats are clipped to the codes of the
    /// depth.
    pub(super) fn render(
        &self,
        band: &mut Band<'_>,
        scratch: &mut Scratch,
        mut change: impl FnMut(usize, &mut [f32], [&mut [f32]; 3]),
    ) {
        let input = band.source();
        let mut rest = band.output.reborrow();
        for start in band.rows.clone().step_by(ROWS) {
            let end = (start + ROWS).min(band.rows.end);
            let (mut output, below) = rest.split_at_row(end);
            rest = below;
            let rows = self.around(&(start..end));
            let (mut rgb, scratch) = scratch.picture(self.rgb, &rows);
            if self.reads {
                self.read(input, rgb.reborrow(), scratch);
            }
            let [room] = scratch.buffers::<f32, 1>([2 * self.format.width as usize]);
            let [g, b, r, a] = rgb.planes_mut();
            for y in rows {
                change(y, room, [r.row_mut(y), g.row_mut(y), b.row_mut(y)]);
                if self.rgb.alpha != Alpha::None {
                    let all = self.added.is_some();
                    [&mut *r, g, b].into_iter().for_each(|p| multiply(p.row_mut(y), a.row_mut(y), all));
                }
            }
            let (input_rgb, rows) = (Some(rgb.as_ref()), start..end);
            let Some(added) = self.added else {
                let mut back =
                    Band { rows, input: input_rgb, output: output.reborrow(), writes: band.writes };
                self.from_rgb.render(&(), &(), &mut back, scratch);
                self.keep(input, &mut output, band.writes, scratch);
                continue;
            };
            let (mut difference, scratch) = scratch.picture(added, &rows);
            let mut back =
                Band { rows, input: input_rgb, output: difference.reborrow(), writes: band.writes };
            self.from_rgb.render(&(), &(), &mut back, scratch);
            for_depth!(self.format.depth, T => self.add::<T>(input, &difference, &mut output, band.writes, scratch));
            self.keep(input, &mut output, band.writes, scratch);
        }
    }

    /// The input plus nominal differences.
    fn add<T: ConvertF32>(
        &self,
        input: FrameRef<'_>,
        difference: &FrameMut<'_>,
        output: &mut FrameMut<'_>,
        writes: PlaneSet,
        scratch: &mut Scratch,
    ) {
        for p in writes.iter().filter(|&p| p < self.format.planes()) {
            let Code { zero, span, .. } = Code::of(&self.format, p);
            let (zero, span) = (zero as f32, span as f32);
            let legal = self.format.legal(p).map_or((0.0, 0.0), |(lo, hi)| (lo.into(), hi.into()));
            let [sum] = scratch.buffers::<f32, 1>([self.format.plane_size(p).0]);
            let to = output.plane_mut(p);
            for y in to.rows() {
                let (from, more) = (input.plane(p).row::<T>(y), difference.plane(p).row::<f32>(y));
                to_f32(self.level, from, zero, sum);
                sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += span * more);
                to.row_mut::<T>(y).copy_from_slice(from);
                from_f32(self.level, sum, zero, legal, to.row_mut::<T>(y));
            }
        }
    }

    /// Restores the samples that must not change.
    fn keep(&self, input: FrameRef<'_>, output: &mut FrameMut<'_>, writes: PlaneSet, scratch: &mut Scratch) {
        for p in writes.iter().filter(|&p| p < self.format.planes()) {
            let (from, to) = (input.plane(p), output.plane_mut(p));
            if self.format.depth == Depth::Float {
                to.rows().for_each(|y| carry(self.level, to.row_mut(y), from.row(y)));
            }
            let Some(a) = self.format.alpha_plane().filter(|_| self.rgb.alpha != Alpha::None) else {
                continue;
            };
            let [alpha] = scratch.buffers::<f64, 1>([self.format.plane_size(p).0]);
            for y in to.rows() {
                mean_alpha(&self.format, input.plane(a), p, y, alpha);
                for_depth!(self.format.depth, T => uncovered::<T>(to.row_mut(y), from.row(y), alpha));
            }
        }
    }
}

/// Copies the samples without coverage.
fn uncovered<T: Sample>(to: &mut [T], from: &[T], alpha: &[f64]) {
    for ((to, from), alpha) in to.iter_mut().zip(from).zip(alpha) {
        if !(*alpha > 0.0 && alpha.is_finite()) {
            *to = *from;
        }
    }
}
