//! The planes of a format: the positions of their cells, their codes, and the effect of colours and blend
//! modes.

use super::style::{Blend, SplatStyle};
use crate::frame::{Format, Matrix};
use crate::pixel::convert::{Code, Coefficients, coefficients};

/// The contents of a plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PlaneContent {
    /// Luma, grey, or one of R, G, B: component 0 to 2 of a colour.
    Light(usize),
    /// Chroma: component 1 or 2.
    Chroma(usize),
    /// Alpha.
    Alpha,
}

/// The cells of the samples of some planes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Cells {
    /// log2 of luma samples in a cell, across and down.
    pub(super) shift: [u32; 2],
    /// Centre of cell 0, in 1/256 of a luma sample.
    pub(super) first: [i32; 2],
}

impl Cells {
    /// Size in luma samples.
    pub(super) fn size(&self) -> [f32; 2] {
        self.shift.map(|s| (1u32 << s) as f32)
    }

    /// The displayed size in luma rows, where a luma sample is `aspect` times as wide as it is high.
    #[inline(always)]
    pub(super) fn displayed(&self, aspect: f32) -> [f32; 2] {
        let [w, h] = self.size();
        [w * aspect, h]
    }

    /// Left or top edge of cell 0, in 1/256 of a luma sample.
    pub(super) fn edge(&self, axis: usize) -> i32 {
        self.first[axis] - (128 << self.shift[axis])
    }

    /// The vector from the position `at` to the centre of cell `index`, in luma samples.
    #[inline(always)]
    pub(super) fn offset(&self, axis: usize, at: i32, index: i32) -> f32 {
        let centre = (index << (8 + self.shift[axis])) + self.first[axis];
        centre.wrapping_sub(at) as f32 * (1.0 / 256.0)
    }

    /// The cells that an interval from `low` to `high` (1/256 of a luma sample) touches, as a half-open range.
    pub(super) fn touched(&self, axis: usize, low: i32, high: i32) -> (i32, i32) {
        let by = 8 + self.shift[axis];
        let edge = self.edge(axis);
        (low.saturating_sub(edge) >> by, (high.saturating_sub(edge) >> by) + 1)
    }
}

/// Planes with the same cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) cells: Cells,
    /// The index of their stamp in a set.
    pub(super) kind: usize,
    pub(super) planes: [usize; 4],
    pub(super) count: usize,
}

impl Group {
    pub(super) fn new(cells: Cells, kind: usize, plane: usize) -> Group {
        Group { cells, kind, planes: [plane, 0, 0, 0], count: 1 }
    }

    pub(super) fn add(&mut self, plane: usize) {
        self.planes[self.count.min(3)] = plane;
        self.count += 1;
    }

    pub(super) fn planes(&self) -> &[usize] {
        &self.planes[..self.count.min(4)]
    }
}

/// One plane of a format.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct DrawPlane {
    pub(super) content: PlaneContent,
    pub(super) cells: Cells,
    /// The code of nominal 0, and codes per nominal 1.
    pub(super) zero: f32,
    pub(super) span: f32,
    /// Lowest and highest legal code; `None` for float.
    pub(super) legal: Option<(f32, f32)>,
    /// Colours of splats are stored as square roots.
    pub(super) squared: bool,
}

/// Nominal values of three components multiplied by alpha, and alpha.
pub(super) type Premultiplied = [f32; 4];

/// The effect of coverage `c` on a sample `p` (relative to code zero): `p (1 - c fade) + c ink`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct BlendTerms {
    pub(super) fade: f32,
    pub(super) ink: f32,
}

impl BlendTerms {
    /// A sample after coverage `c`.
    #[inline(always)]
    pub(super) fn over(self, p: f32, c: f32) -> f32 {
        p * (1.0 - c * self.fade) + c * self.ink
    }

    /// Changes samples by their coverage; samples without coverage stay unchanged, bit for bit.
    #[inline(always)]
    pub(super) fn blend<const N: usize>(&self, cover: &[f32; N], samples: &mut [f32; N]) {
        // Through local arrays: in place, it would compile to gathers and scatters.
        let (p, mut drawn) = (*samples, [0.0; N]);
        for l in 0..N {
            let v = self.over(p[l], cover[l]);
            drawn[l] = if cover[l] > 0.0 { v } else { p[l] };
        }
        *samples = drawn;
    }
}

impl DrawPlane {
    pub(super) fn of(format: &Format, p: usize) -> DrawPlane {
        let content = match p {
            _ if format.alpha_plane() == Some(p) => PlaneContent::Alpha,
            _ if format.is_chroma(p) => PlaneContent::Chroma(p),
            _ => PlaneContent::Light(p.min(2)),
        };
        let sites = format.sites(p);
        let cells = Cells { shift: sites.map(|s| s.0.into()), first: sites.map(|s| 128 + 64 * s.1) };
        let code = Code::of(format, p);
        DrawPlane {
            content,
            cells,
            zero: code.zero as f32,
            span: code.span as f32,
            legal: format.legal(p).map(|(lo, hi)| (f32::from(lo), f32::from(hi))),
            squared: false,
        }
    }

    /// A splat's colour as nominal values of a picture's three components, and full alpha.
    #[inline(always)]
    fn nominal(&self, colour: [u16; 3], gain: f32) -> Premultiplied {
        let light = |i: usize| {
            let v = f32::from(colour[i]) * (1.0 / 65535.0);
            (if self.squared { v * v } else { v }) * gain
        };
        let chroma = |i: usize| (i32::from(colour[i]) - 32768) as f32 * (1.0 / 65534.0) * gain;
        match self.content {
            PlaneContent::Chroma(_) => [light(0), chroma(1), chroma(2), 1.0],
            _ => [light(0), light(1), light(2), 1.0],
        }
    }

    /// The effect of a splat's colour at full opacity on this plane.
    #[inline(always)]
    pub(super) fn splat_terms(&self, style: &SplatStyle, colour: [u16; 3]) -> BlendTerms {
        self.terms(style.blend, self.nominal(colour, style.gain))
    }

    /// The effect of a colour at full opacity on this plane.
    #[inline(always)]
    pub(super) fn terms(&self, blend: Blend, colour: Premultiplied) -> BlendTerms {
        let alpha = colour[3];
        // `min` and `max` in this form are one instruction each.
        let limit = |v: f32| {
            let v = if v > 0.0 { v } else { 0.0 };
            if v < alpha { v } else { alpha }
        };
        let (nominal, bright) = match self.content {
            PlaneContent::Light(i) => (colour[i], colour[i]),
            PlaneContent::Chroma(i) => (colour[i], colour[0]),
            PlaneContent::Alpha => (alpha, alpha),
        };
        let ink = nominal * self.span;
        match (blend, self.content) {
            (Blend::Multiply, PlaneContent::Alpha) => BlendTerms::default(),
            (Blend::Over, _) | (Blend::Screen, PlaneContent::Alpha) => BlendTerms { fade: alpha, ink },
            (Blend::Add, _) => BlendTerms { fade: 0.0, ink },
            (Blend::Screen, _) => {
                let unit = if bright > 0.0 { bright } else { 0.0 };
                BlendTerms { fade: if unit < 1.0 { unit } else { 1.0 }, ink }
            }
            (Blend::Multiply, _) => BlendTerms { fade: alpha - limit(bright), ink: 0.0 },
        }
    }
}

/// The number of splats in a group.
pub(super) const BATCH: usize = 16;

/// The matrix of a format's Y, U and V; `None` where the planes are not Y, U and V, or have no linear equations.
pub(super) fn matrix(format: &Format) -> Option<Coefficients> {
    if format.is_rgb() {
        return None;
    }
    let assumed = Matrix::assumed(format.height);
    let matrix = match format.matrix {
        Matrix::UNSPECIFIED | Matrix::RGB => assumed,
        said => said,
    };
    coefficients(matrix, format.primaries).or_else(|| coefficients(assumed, format.primaries))
}

/// R, G and B (0 to 1, as displayed) as nominal values of the first three planes, in their order; for grey, luma
/// first.
pub(super) fn nominal(matrix: Option<Coefficients>, [r, g, b]: [f64; 3]) -> [f64; 3] {
    let gbr = [g, b, r];
    match matrix {
        None => gbr,
        Some(m) => m.to_yuv().map(|row| row[0] * gbr[0] + row[1] * gbr[1] + row[2] * gbr[2]),
    }
}

/// Nominal values in the representation of a splat.
pub(super) fn packed(places: &[DrawPlane], nominal: [f64; 3]) -> [u16; 3] {
    let mut out = [0; 3];
    for (i, out) in out.iter_mut().enumerate() {
        let chroma = places.get(i).is_some_and(|p| matches!(p.content, PlaneContent::Chroma(_)));
        // `as` saturates and turns NaN into 0.
        *out = if chroma {
            (nominal[i] * 65534.0 + 32768.5).clamp(1.0, 65535.0) as u16
        } else {
            (nominal[i] * 65535.0 + 0.5) as u16
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{BlendSpace, Painter, Shape, Splat, SplatStyle, tests::drawn};
    use super::*;
    use crate::frame::sites::{place, sited};
    use crate::frame::{Depth, Frame};
    use crate::simd::Level;

    #[test]
    fn a_splat_has_one_centre_in_all_planes() {
        for format in sited([64, 128], Depth::Float) {
            let styles = vec![SplatStyle::new(Shape::disc(1.0).unwrap(), Blend::Over)];
            let painter = Painter::new(&format, styles, BlendSpace::Gamma, Level::best()).unwrap();
            let mut frame = Frame::new(format);
            drawn(
                &painter,
                &[Splat { colour: [65535; 3], ..Splat::new([31.3, 29.6], [12.0; 2]) }],
                &mut frame,
            );
            for p in 0..3 {
                let (w, h) = format.plane_size(p);
                let (mut sum, mut centre) = (0.0, [0.0; 2]);
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    let v = f64::from(frame.row::<f32>(p, y)[x]);
                    let at = place(&format, p, x as i64, y as i64);
                    sum += v;
                    centre = [0, 1].map(|i| centre[i] + v * at[i]);
                }
                let off = [centre[0] / sum - 31.3, centre[1] / sum - 29.6];
                assert!(off.iter().all(|v| v.abs() < 0.05), "{format:?} {p}: {off:?}");
            }
        }
    }
}
