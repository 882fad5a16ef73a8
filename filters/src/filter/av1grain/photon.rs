//! Photon noise, as libaom's `photon_noise_table` estimates it.
//!
//! A camera counts photons, whose number has a standard deviation of its square root; read noise and the varying
//! sensitivity of pixels are added. The model assumes a full-frame sensor of 36 by 24 mm, exposed at the ISO setting,
//! so that a picture with more samples has fewer photons per sample.

use crate::film_grain::{ChromaIndex, DEFAULT_SEED, Params, Table};
use crate::frame::{Format, Transfer};
use crate::pixel::transfer::TransferFunction;

/// Photons of daylight per lux second and square micrometre.
const PHOTONS: f64 = 11260.0;
/// Quantum efficiency behind a colour filter.
const EFFICIENCY: f64 = 0.2;
/// Relative standard deviation of the sensitivity of pixels.
const NON_UNIFORMITY: f64 = 0.005;
/// Read noise in electrons.
const READ_NOISE: f64 = 1.5;
/// Area of the sensor in square micrometres.
const SENSOR: f64 = 36_000.0 * 24_000.0;
/// Points of the scaling function.
const POINTS: u32 = 14;
/// The ratio between a strength at shift 8 and the standard deviation in codes.
const SCALE: f64 = 7.88;

/// Conversion of samples to display light, and the light of middle grey.
struct Tone {
    function: TransferFunction,
    /// The exponent of the HLG system gamma.
    system: f64,
    middle: f64,
}

impl Tone {
    fn new(format: &Format) -> Tone {
        let (function, system, middle) = match format.transfer {
            Transfer::PQ => (TransferFunction::Pq, 1.0, 26.0 / 10_000.0),
            Transfer::HLG => (TransferFunction::Hlg, 1.2, 26.0 / 1000.0),
            Transfer::GAMMA22 => (TransferFunction::Power(2.2), 1.0, 0.18),
            Transfer::GAMMA28 => (TransferFunction::Power(2.8), 1.0, 0.18),
            _ => (TransferFunction::Srgb, 1.0, 0.18),
        };
        Tone { function, system, middle }
    }

    fn light(&self, v: f64) -> f64 {
        libm::pow(self.function.light(v), self.system)
    }

    fn code(&self, light: f64) -> f64 {
        self.function.code(libm::pow(light, 1.0 / self.system))
    }
}

/// Makes the table for pictures of a format.
pub(super) fn table(format: &Format, iso: f64) -> Table {
    Table::constant(params(format, iso), DEFAULT_SEED)
}

fn params(format: &Format, iso: f64) -> Params {
    let tone = Tone::new(format);
    let sample = SENSOR / (f64::from(format.width) * f64::from(format.height));
    // Middle grey has an exposure of ten lux seconds divided by the ISO setting.
    let most = EFFICIENCY * PHOTONS * (10.0 / iso) * sample / tone.middle;
    let point = |i: u32| {
        let x = f64::from(i) / f64::from(POINTS - 1);
        let light = tone.light(x);
        let electrons = most * light;
        let non_uniform = NON_UNIFORMITY * electrons;
        let noise = (READ_NOISE * READ_NOISE + electrons + non_uniform * non_uniform).sqrt() / most;
        // The slope of the code over light, measured over two standard deviations on both sides.
        let (from, to) = ((light - 2.0 * noise).max(0.0), (light + 2.0 * noise).min(1.0));
        let slope = (tone.code(to) - tone.code(from)) / (to - from);
        [round(255.0 * x), round(255.0 * SCALE * noise * slope)]
    };
    let still = ChromaIndex { own: 0, luma: 0, offset: 0 };
    Params {
        points: [(0..POINTS).map(point).collect(), Vec::new(), Vec::new()],
        lag: 0,
        coefficients: [vec![], vec![0], vec![0]],
        coefficient_shift: 6,
        grain_shift: 0,
        scaling_shift: 8,
        chroma_from_luma: false,
        overlap: true,
        index: [still; 2],
        clip: false,
    }
}

/// Rounds halves up, and clamps to a byte.
fn round(v: f64) -> u8 {
    (v + 0.5).clamp(0.0, 255.0) as u8
}
