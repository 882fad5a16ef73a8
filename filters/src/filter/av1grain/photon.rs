//! The noise of light itself, as libaom's `photon_noise_table` estimates it.
//!
//! A camera counts photons, whose number varies by its square root; its electronics add some of their own, and no two of its
//! pixels respond quite alike. The picture is taken to be a whole frame of 36 by 24 mm, exposed as the ISO setting says, so that
//! the larger the picture is, the fewer photons each sample has.

use crate::film_grain::{ChromaIndex, DEFAULT_SEED, Params, Table};
use crate::frame::{Format, Transfer};
use crate::pixel::transfer::TransferFunction;

/// Of daylight, for each lux second and square micrometre.
const PHOTONS: f64 = 11260.0;
/// The part of them that makes electrons, behind a colour filter.
const EFFICIENCY: f64 = 0.2;
/// How far pixels respond differently.
const NON_UNIFORMITY: f64 = 0.005;
/// Electrons of noise without light.
const READ_NOISE: f64 = 1.5;
/// In square micrometres.
const SENSOR: f64 = 36_000.0 * 24_000.0;
/// Points of the curve.
const POINTS: u32 = 14;
/// Strength of 1 at a shift of 8 is so much less than a standard deviation of 1 code.
const SCALE: f64 = 7.88;

/// From samples to the light of a display, and the light that an exposure puts in the middle.
struct Tone {
    function: TransferFunction,
    /// The exponent that HLG's display adds.
    system: f64,
    middle: f64,
}

impl Tone {
    fn of(format: &Format) -> Tone {
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

/// The table for pictures of a format.
pub(super) fn table(format: &Format, iso: f64) -> Table {
    Table::constant(params(format, iso), DEFAULT_SEED)
}

fn params(format: &Format, iso: f64) -> Params {
    let tone = Tone::of(format);
    let sample = SENSOR / (f64::from(format.width) * f64::from(format.height));
    // Ten lux seconds over the ISO setting are the exposure of what comes out in the middle.
    let most = EFFICIENCY * PHOTONS * (10.0 / iso) * sample / tone.middle;
    let point = |i: u32| {
        let x = f64::from(i) / f64::from(POINTS - 1);
        let light = tone.light(x);
        let electrons = most * light;
        let non_uniform = NON_UNIFORMITY * electrons;
        let noise = (READ_NOISE * READ_NOISE + electrons + non_uniform * non_uniform).sqrt() / most;
        // How much a change of light changes the code, over two standard deviations on both sides.
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

/// Halves up, kept to a byte.
fn round(v: f64) -> u8 {
    (v + 0.5).clamp(0.0, 255.0) as u8
}
