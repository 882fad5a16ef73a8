//! The matrices of H.273 in f64, computed once per conversion, from + - * / only.

use crate::frame::{Matrix, Primaries};

/// A matrix with linear equations between nominal R, G, B and Y, U, V.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Coefficients {
    /// `Y = kr R + (1 - kr - kb) G + kb B`, `U = (B - Y) / (2 - 2 kb)`, `V = (R - Y) / (2 - 2 kr)`.
    Luma {
        /// Weight of red in luma.
        kr: f64,
        /// Weight of blue in luma.
        kb: f64,
    },
    /// `Y = G/2 + (R + B)/4`, `U = Cg = G/2 - (R + B)/4`, `V = Co = (R - B)/2`.
    YCgCo,
}

/// The equations of `matrix`; `None` if they are not linear in R, G and B (constant luminance, ICtCp), not needed
/// (RGB), or depend on unknown primaries. `primaries` affect [`Matrix::CHROMA_DERIVED_NC`] only.
pub fn coefficients(matrix: Matrix, primaries: Primaries) -> Option<Coefficients> {
    let luma = |kr, kb| Some(Coefficients::Luma { kr, kb });
    match matrix {
        Matrix::BT709 => luma(0.2126, 0.0722),
        Matrix::FCC => luma(0.30, 0.11),
        Matrix::BT470BG | Matrix::SMPTE170M => luma(0.299, 0.114),
        Matrix::SMPTE240M => luma(0.212, 0.087),
        Matrix::BT2020NC => luma(0.2627, 0.0593),
        Matrix::YCGCO => Some(Coefficients::YCgCo),
        Matrix::CHROMA_DERIVED_NC => {
            let (kr, kb) = derived(primaries)?;
            luma(kr, kb)
        }
        _ => None,
    }
}

/// The chromaticities x and y of red, green, blue and white, of primaries that have them (H.273, table 2).
pub fn chromaticities(primaries: Primaries) -> Option<[(f64, f64); 4]> {
    const D65: (f64, f64) = (0.3127, 0.3290);
    const C: (f64, f64) = (0.310, 0.316);
    let points = match primaries {
        Primaries::BT709 => [(0.640, 0.330), (0.300, 0.600), (0.150, 0.060), D65],
        Primaries::BT470M => [(0.67, 0.33), (0.21, 0.71), (0.14, 0.08), C],
        Primaries::BT470BG => [(0.64, 0.33), (0.29, 0.60), (0.15, 0.06), D65],
        Primaries::SMPTE170M | Primaries::SMPTE240M => [(0.630, 0.340), (0.310, 0.595), (0.155, 0.070), D65],
        Primaries::FILM => [(0.681, 0.319), (0.243, 0.692), (0.145, 0.049), C],
        Primaries::BT2020 => [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046), D65],
        Primaries::SMPTE431 => [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.314, 0.351)],
        Primaries::SMPTE432 => [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060), D65],
        Primaries::EBU3213 => [(0.630, 0.340), (0.295, 0.605), (0.155, 0.077), D65],
        _ => return None,
    };
    Some(points)
}

/// Weights of red and blue that follow from primaries and white (H.273, equations for MatrixCoefficients 12).
fn derived(primaries: Primaries) -> Option<(f64, f64)> {
    let [r, g, b, w] = chromaticities(primaries)?;
    let z = |p: (f64, f64)| 1.0 - p.0 - p.1;
    // the determinant of three points, each with its z: linear in the amounts of the primaries that add up to
    // white
    let det = |p: (f64, f64), q: (f64, f64), s: (f64, f64)| {
        p.0 * (q.1 * z(s) - s.1 * z(q)) - p.1 * (q.0 * z(s) - s.0 * z(q)) + z(p) * (q.0 * s.1 - s.0 * q.1)
    };
    let all = det(r, g, b) * w.1;
    Some((r.1 * det(w, g, b) / all, b.1 * det(r, g, w) / all))
}

impl Coefficients {
    /// Rows Y, U, V; columns in the order of planes G, B, R.
    pub fn to_yuv(self) -> [[f64; 3]; 3] {
        match self {
            Coefficients::Luma { kr, kb } => {
                let kg = 1.0 - kr - kb;
                let (u, v) = (2.0 * (1.0 - kb), 2.0 * (1.0 - kr));
                [[kg, kb, kr], [-kg / u, 0.5, -kr / u], [-kg / v, -kb / v, 0.5]]
            }
            Coefficients::YCgCo => [[0.5, 0.25, 0.25], [0.5, -0.25, -0.25], [0.0, -0.5, 0.5]],
        }
    }

    /// Rows in the order of planes G, B, R; columns Y, U, V.
    pub fn to_rgb(self) -> [[f64; 3]; 3] {
        match self {
            Coefficients::Luma { kr, kb } => {
                let kg = 1.0 - kr - kb;
                let (u, v) = (2.0 * (1.0 - kb), 2.0 * (1.0 - kr));
                [[1.0, -kb * u / kg, -kr * v / kg], [1.0, u, 0.0], [1.0, 0.0, v]]
            }
            Coefficients::YCgCo => [[1.0, 1.0, 0.0], [1.0, -1.0, -1.0], [1.0, -1.0, 1.0]],
        }
    }

    /// From `self`'s Y, U, V to `to`'s. Grey stays grey exactly: U and V never depend on Y.
    pub fn to_other(self, to: Coefficients) -> [[f64; 3]; 3] {
        let (a, b) = (to.to_yuv(), self.to_rgb());
        let mut m = [[0.0; 3]; 3];
        for (row, a) in m.iter_mut().zip(a) {
            for (j, cell) in row.iter_mut().enumerate() {
                *cell = a[0] * b[0][j] + a[1] * b[1][j] + a[2] * b[2][j];
            }
        }
        (m[0][0], m[1][0], m[2][0]) = (1.0, 0.0, 0.0);
        m
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_one() {
        for code in 0..16 {
            let Some(c) = coefficients(Matrix(code), Primaries::BT709) else { continue };
            let (a, b) = (c.to_yuv(), c.to_rgb());
            for (i, row) in a.iter().enumerate() {
                let product = [0, 1, 2].map(|j| row[0] * b[0][j] + row[1] * b[1][j] + row[2] * b[2][j]);
                for (j, dot) in product.into_iter().enumerate() {
                    assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-14, "{code} {i} {j} {dot}");
                }
            }
        }
    }

    #[test]
    fn derived_weights_agree_with_the_standards() {
        // BT.709 and BT.2020 give four digits of the values that follow from their primaries; FCC and 601
        // come from BT.470 M
        for (p, kr, kb) in [
            (Primaries::BT709, 0.2126, 0.0722),
            (Primaries::BT2020, 0.2627, 0.0593),
            (Primaries::BT470M, 0.299, 0.114),
            (Primaries::SMPTE240M, 0.212, 0.087),
        ] {
            let (r, b) = derived(p).unwrap();
            assert!((r - kr).abs() < 1e-3 && (b - kb).abs() < 1e-3, "{p:?} {r} {b}");
        }
        assert!(derived(Primaries::UNSPECIFIED).is_none());
    }

    #[test]
    fn red_of_bt709_is_as_published() {
        let c = coefficients(Matrix::BT709, Primaries::UNSPECIFIED).unwrap();
        let [_, b, r] = c.to_rgb();
        assert!((r[2] - 1.5748).abs() < 1e-12 && (b[1] - 1.8556).abs() < 1e-12);
    }
}
