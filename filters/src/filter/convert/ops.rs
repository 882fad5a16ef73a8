//! The operations for each output plane, determined when a conversion is bound.

use super::ConvertError;
use crate::frame::{Depth, Family, Format, Matrix, Siting};
use crate::pixel::convert::{Code, Coefficients, Scale, Taps, Term, coefficients};

/// The source of one output plane.
#[derive(Debug)]
pub(super) enum Op {
    /// A constant: neutral chroma or opaque alpha.
    Fill { code: u16, real: f32 },
    /// Integer codes of one input plane, rescaled.
    Scale { source: usize, scale: Scale },
    /// Float samples of one input plane, unchanged.
    Copy { source: usize },
    /// A mix of planes, from a [`Group`].
    Mixed,
}

/// Output planes on one grid, computed from the same resampled input planes.
#[derive(Debug)]
pub(super) struct Group {
    grid: [(u8, i32); 2],
    pub(super) sources: Vec<Source>,
    pub(super) outputs: Vec<Output>,
}

/// An input plane, and its resampling to the group's grid.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) plane: usize,
    pub(super) code: Code,
    pub(super) down: Taps,
    pub(super) across: Taps,
}

/// An output plane as a linear combination of the group's sources.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) plane: usize,
    pub(super) code: Code,
    /// The group's sources to which the terms belong.
    pub(super) used: Vec<usize>,
    pub(super) terms: Vec<Term>,
}

/// A whole conversion.
#[derive(Debug)]
pub(super) struct Ops {
    pub(super) planes: Vec<Op>,
    pub(super) groups: Vec<Group>,
    /// The source's and the target's matrix as used, if they affect the result.
    pub(super) matrices: (Option<Matrix>, Option<Matrix>),
    /// Whether chroma is resampled.
    pub(super) resampled: bool,
}

/// Y, U and V of grey or YUV, or planes G, B and R; with the matrix as used.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Gray,
    Yuv(Matrix),
    Rgb,
}

fn kind(format: &Format, matrix: Matrix) -> Result<Kind, ConvertError> {
    match format.family {
        Family::Gray => Ok(Kind::Gray),
        _ if format.is_rgb() => Ok(Kind::Rgb),
        _ if format.matrix == Matrix::RGB => Err(ConvertError::SubsampledRgb),
        _ => Ok(Kind::Yuv(matrix)),
    }
}

fn said(matrix: Matrix) -> Option<Matrix> {
    (matrix != Matrix::UNSPECIFIED).then_some(matrix)
}

fn solve(matrix: Matrix, format: &Format) -> Result<Coefficients, ConvertError> {
    coefficients(matrix, format.primaries).ok_or(ConvertError::Matrix(matrix, format.primaries))
}

/// The code mapping of plane `p`.
fn code(format: &Format, kind: Kind, p: usize) -> Code {
    let Depth::Bits(bits) = format.depth else { return Code::FLOAT };
    let full = format.full_range();
    match kind {
        _ if format.alpha_plane() == Some(p) => Code::alpha(bits),
        Kind::Yuv(Matrix::YCGCO) if p > 0 => Code::chroma_ycgco(bits, full),
        Kind::Yuv(_) if p > 0 => Code::chroma(bits, full),
        _ => Code::luma(bits, full),
    }
}

impl Ops {
    pub(super) fn new(from: &Format, to: &Format) -> Result<Ops, ConvertError> {
        let default = Matrix::assumed(from.height);
        let (tag_in, tag_out) = (said(from.matrix), said(to.matrix));
        // an unspecified property is that of the other side, if that is YUV too
        let yuv = |f: &Format| f.family == Family::Yuv && !f.is_rgb();
        let both = yuv(from) && yuv(to);
        let matrix_in = tag_in.unwrap_or(default);
        let matrix_out = tag_out.or(both.then_some(matrix_in)).unwrap_or(default);
        let (a, b) = (kind(from, matrix_in)?, kind(to, matrix_out)?);
        let same_grid = both && from.subsampling == to.subsampling;
        let siting = if same_grid && to.siting == Siting::Unspecified { from.siting } else { to.siting };
        let sited = Format { siting, ..*to };
        let mut used = (None, None);
        let nominal = nominal(from, to, a, b, &mut used)?;
        let mut ops = Ops { planes: Vec::new(), groups: Vec::new(), matrices: used, resampled: false };
        let alpha_out = to.alpha_plane();
        for p in 0..to.planes() {
            let out = code(to, b, p);
            let row: Vec<(usize, f64)> = if alpha_out == Some(p) {
                from.alpha_plane().map(|p| (p, 1.0)).into_iter().collect()
            } else {
                nominal
                    .get(p)
                    .iter()
                    .flat_map(|r| r.iter().copied().enumerate())
                    .filter(|t| t.1 != 0.0)
                    .collect()
            };
            if row.is_empty() {
                let opaque = alpha_out == Some(p);
                let code = if opaque { out.top } else { out.zero as u16 };
                ops.planes.push(Op::Fill { code, real: f32::from(u8::from(opaque)) });
                continue;
            }
            let target = sited.sites(p);
            let sources: Vec<Source> = row
                .iter()
                .map(|&(plane, _)| {
                    let [x, y] = from.sites(plane);
                    let code = code(from, a, plane);
                    Source { plane, code, across: Taps::new(x, target[0]), down: Taps::new(y, target[1]) }
                })
                .collect();
            let still = |s: &Source| s.across.is_identity() && s.down.is_identity();
            ops.resampled |= !sources.iter().all(still);
            if let ([source], [(_, 1.0)]) = (&sources[..], &row[..])
                && still(source)
                && source.code.is_float() == out.is_float()
            {
                let plane = source.plane;
                ops.planes.push(if out.is_float() {
                    Op::Copy { source: plane }
                } else {
                    Op::Scale { source: plane, scale: Scale::new(source.code, out) }
                });
                continue;
            }
            ops.planes.push(Op::Mixed);
            let terms = row
                .iter()
                .zip(&sources)
                .map(|(&(_, n), s)| Term::new(n, s.code, s.across.bits + s.down.bits, out))
                .collect();
            ops.place(target, sources, terms, p, out);
        }
        Ok(ops)
    }

    /// Adds the plane to the group on its grid, or to a new one.
    fn place(
        &mut self,
        grid: [(u8, i32); 2],
        sources: Vec<Source>,
        terms: Vec<Term>,
        plane: usize,
        code: Code,
    ) {
        let at = self.groups.iter().position(|g| g.grid == grid).unwrap_or_else(|| {
            self.groups.push(Group { grid, sources: Vec::new(), outputs: Vec::new() });
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        let mut used = Vec::new();
        for s in sources {
            // the same plane on the same grid has the same taps
            let at = group.sources.iter().position(|k| k.plane == s.plane).unwrap_or_else(|| {
                group.sources.push(s);
                group.sources.len() - 1
            });
            used.push(at);
        }
        group.outputs.push(Output { plane, code, used, terms });
    }

    /// How many luma rows above or below an output row (with all luma rows of its chroma block) the input that it
    /// depends on may lie, including all luma rows of its own block.
    pub(super) fn reach(&self, from: &Format, to: &Format) -> u32 {
        let mut reach = 0;
        for group in &self.groups {
            for (source, output) in
                group.sources.iter().flat_map(|s| group.outputs.iter().map(move |o| (s, o)))
            {
                let (_, fine_in) = from.plane_subsampling(source.plane);
                let (_, fine_out) = to.plane_subsampling(output.plane);
                // all phases, far from the edges
                for i in 64..68usize {
                    let (first, weights) = source.down.at(i);
                    let (top, bottom) = ((i as i64) << fine_out, (i as i64 + 1) << fine_out);
                    let (above, below) = (first << fine_in, (first + weights.len() as i64) << fine_in);
                    reach = reach.max(top - above).max(below - bottom);
                }
            }
        }
        reach as u32
    }
}

/// Nominal output planes as sums of nominal input planes: rows are output planes, columns input planes, without
/// alpha. Records the matrices that it needed.
fn nominal(
    from: &Format,
    to: &Format,
    a: Kind,
    b: Kind,
    used: &mut (Option<Matrix>, Option<Matrix>),
) -> Result<[[f64; 3]; 3], ConvertError> {
    const SAME: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    const FIRST: [f64; 3] = [1.0, 0.0, 0.0];
    Ok(match (a, b) {
        (Kind::Gray, Kind::Rgb) => [FIRST; 3],
        (Kind::Gray, _) => [FIRST, [0.0; 3], [0.0; 3]],
        (Kind::Yuv(_), Kind::Gray) => [FIRST; 3],
        (Kind::Rgb, Kind::Rgb) => SAME,
        (Kind::Yuv(m), Kind::Rgb) => {
            used.0 = Some(m);
            solve(m, from)?.to_rgb()
        }
        (Kind::Rgb, Kind::Yuv(m)) => {
            used.1 = Some(m);
            solve(m, to)?.to_yuv()
        }
        (Kind::Rgb, Kind::Gray) => {
            // grey may have any matrix tag, including that of the RGB it was made from; use one that defines
            // luma
            let m = said(to.matrix).filter(|&m| m != Matrix::RGB).unwrap_or(Matrix::assumed(to.height));
            used.1 = Some(m);
            solve(m, to)?.to_yuv()
        }
        (Kind::Yuv(m), Kind::Yuv(n)) if m == n => SAME,
        (Kind::Yuv(m), Kind::Yuv(n)) => {
            let (c, d) = (solve(m, from)?, solve(n, to)?);
            *used = (Some(m), Some(n));
            if c == d { SAME } else { c.to_other(d) }
        }
    })
}
