//! Row kernels of conversion between families, depths, ranges and chroma grids.
//!
//! Every integer output sample is one linear form of input samples, rounded once:
//!
//! `out = floor(zero' + sum(coef * (in - zero)) + 1/2)`, clamped to the codes of the depth,
//!
//! where `in` runs over samples of one or three planes and their neighbours in the chroma grid, and `zero` and `zero'`
//! are the codes of nominal 0 ([`Code`]). Where one plane becomes one plane the form is exact ([`Scale`]). Elsewhere
//! resampling is exact in integers ([`Taps`]) and the coefficients of the matrix are fixed-point, close enough that the
//! value before rounding is off by at most 1/16 of a code ([`Fixed`]); a value that lies exactly between two codes goes
//! up in either case. Float samples are nominal (0..1, chroma -0.5..0.5) whatever their range tag, and go through f32
//! additions and multiplications in one fixed order ([`Real`]).

mod color;
mod mix;
mod resample;
mod scale;
mod taps;

pub use color::{Coefficients, chromaticities, coefficients};
pub use mix::{Fixed, Mix, Real, Term};
pub use resample::{Accumulate, Num, PAD, pad};
pub use scale::{CodeSample, Scale};
pub use taps::{Phase, Taps};

use crate::frame::{Depth, Format, Matrix};

/// The relation of the samples of a plane to nominal values: `nominal = (code - zero) / span`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// The code of nominal 0.
    pub zero: i32,
    /// Codes per nominal 1.
    pub span: i32,
    /// The highest code; 0 for float.
    pub top: u16,
}

impl Code {
    /// Float: the sample is the nominal value.
    pub const FLOAT: Code = Code { zero: 0, span: 1, top: 0 };

    /// The relation of the samples of plane `p` of a format to nominal values.
    pub fn of(format: &Format, p: usize) -> Code {
        let Depth::Bits(bits) = format.depth else { return Code::FLOAT };
        let full = format.full_range();
        match () {
            () if format.alpha_plane() == Some(p) => Code::alpha(bits),
            () if !format.is_chroma(p) => Code::luma(bits, full),
            () if format.matrix == Matrix::YCGCO => Code::chroma_ycgco(bits, full),
            () => Code::chroma(bits, full),
        }
    }

    const fn highest(bits: u8) -> i32 {
        (1 << bits) - 1
    }

    /// Luma, grey, R, G or B of `bits` bits: limited 16 to 235 (times a power of 2), or all codes.
    pub const fn luma(bits: u8, full: bool) -> Code {
        let top = Code::highest(bits);
        if full {
            return Code { zero: 0, span: top, top: top as u16 };
        }
        Code { zero: 16 << (bits - 8), span: 219 << (bits - 8), top: top as u16 }
    }

    /// A colour difference of `bits` bits, nominal -0.5..0.5. Nominal 0 is half of all codes in both ranges, and full
    /// range spans `2^bits - 1` codes, so +0.5 is clipped by half a code (H.273, equations for full range, and
    /// FFmpeg).
    pub const fn chroma(bits: u8, full: bool) -> Code {
        let top = Code::highest(bits);
        let span = if full { top } else { 224 << (bits - 8) };
        Code { zero: 1 << (bits - 1), span, top: top as u16 }
    }

    /// A colour difference of YCgCo, which H.273 forms from R, G and B after their scaling: in limited range it
    /// spans 219 codes, not 224.
    pub const fn chroma_ycgco(bits: u8, full: bool) -> Code {
        Code { span: Code::luma(bits, full).span, ..Code::chroma(bits, full) }
    }

    /// Alpha: always all codes.
    pub const fn alpha(bits: u8) -> Code {
        Code::luma(bits, true)
    }

    /// Whether it is float.
    pub const fn is_float(&self) -> bool {
        self.top == 0
    }
}
