//! The systems and tapes in numbers: rasters, subcarriers, bandwidths, and the filters that follow from them.
//!
//! NTSC is SMPTE 170M, PAL and SECAM are ITU-R BT.470 (BT.1700 today), VHS is IEC 60774-1 and S-VHS IEC 60774-3, U-matic
//! is IEC 60712, Betacam IEC 60961. Bandwidths of tapes are those of usual machines.

use crate::choices;

choices! {
    /// The colour television systems.
    pub(super) enum System {
        /// 525 lines, 486 of them visible; colour by amplitude and phase, which a wrong phase tints
        Ntsc = "ntsc",
        /// 625 lines, 576 visible; the phase alternates from line to line, so a wrong one only pales
        Pal = "pal",
        /// 625 lines; the two colour differences by frequency, one in each line
        Secam = "secam",
    }
}

choices! {
    /// How the picture gets to the tape or the screen.
    pub(super) enum Connection {
        /// luma and chroma in one signal: dots crawl along the edges of colours, fine detail gets rainbows
        Composite = "composite",
        /// luma and chroma on wires of their own
        SVideo = "svideo",
        /// no colour carrier at all
        Component = "component",
    }
}

choices! {
    /// How a receiver parts luma from chroma.
    pub(super) enum Comb {
        /// by frequency: softer, with dots and rainbows
        Notch = "notch",
        /// by the lines before: sharper, with dots on horizontal edges of colours
        Line = "line",
    }
}

choices! {
    /// The tape formats.
    pub(super) enum Tape {
        /// no tape, and none of its faults
        None = "none",
        /// VHS at its standard speed: 3 MHz of luma, .4 MHz of chroma
        VhsSp = "vhs-sp",
        /// VHS at half speed
        VhsLp = "vhs-lp",
        /// VHS at a third of the speed: softer and noisier
        VhsEp = "vhs-ep",
        /// S-VHS: 5 MHz of luma, chroma as VHS
        SVhs = "svhs",
        /// U-matic
        UMatic = "umatic",
        /// Betacam: components, 4.5 and 1.5 MHz
        Betacam = "betacam",
    }
}

/// A system in numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raster {
    /// Samples of a visible line, four per cycle of the subcarrier: whole cycles.
    pub width: usize,
    /// Visible lines of a frame.
    pub lines: usize,
    /// All lines of a frame, and those before its second field.
    total: i64,
    second: i64,
    /// Quarters of a cycle that the subcarrier's phase advances from line to line, of whole ones.
    advance: i64,
    /// Frequency of the subcarrier in MHz.
    pub carrier: f64,
    /// Bandwidths in MHz: of luma in a composite signal, and of the two colour differences (I and Q, or U and V):
    /// where they have fallen to half.
    pub luma: f64,
    pub chroma: [f64; 2],
    /// Lines of the field between those whose subcarriers are opposite.
    pub comb: usize,
}

impl System {
    pub(super) const fn raster(self) -> Raster {
        match self {
            System::Ntsc => Raster {
                width: 756,
                lines: 486,
                total: 525,
                second: 263,
                advance: 910,
                carrier: 3.579_545,
                luma: 4.2,
                chroma: [1.3, 0.57],
                comb: 1,
            },
            // The exact phase advances by 1135.0064 samples a line. The .0064 add up to a cycle per frame, which is
            // none, and half a cycle for its second field (see `phase`).
            System::Pal | System::Secam => Raster {
                width: 924,
                lines: 576,
                total: 625,
                second: 313,
                advance: 1135,
                carrier: 4.433_619,
                luma: 5.0,
                chroma: [1.3, 1.3],
                comb: 2,
            },
        }
    }
}

/// The subcarrier at the start of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Carrier {
    /// Quarters of a cycle, 0 to 3.
    pub phase: usize,
    /// Whether the line is an odd one of all lines since frame 0: PAL inverts V there, SECAM sends V.
    pub odd: bool,
}

impl Raster {
    /// The subcarrier at the start of a visible line of a field (0 or 1) of a frame. NTSC repeats after two frames, PAL
    /// after four.
    pub(super) const fn carrier(&self, frame: i64, field: i64, line: i64) -> Carrier {
        let lines = frame.rem_euclid(8) * self.total + field * self.second + line;
        let offset = if self.comb == 2 { 2 * field } else { 0 };
        Carrier { phase: (lines * self.advance + offset).rem_euclid(4) as usize, odd: lines % 2 == 1 }
    }

    /// Samples of a colour difference in a line: one per cycle of the subcarrier.
    #[cfg(test)]
    pub(super) const fn cycles(&self) -> usize {
        self.width / 4
    }
}

/// A tape in numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deck {
    /// Bandwidth of luma in MHz.
    pub luma: f64,
    /// Time in microseconds in which chroma rises from a tenth to nine tenths of a step, without the connection before:
    /// with it, .8 to 1 for VHS.
    pub chroma_rise: f64,
    /// Standard deviation of the noise of luma before the playback filter, where white is 1, and of chroma.
    pub noise: [f64; 2],
    /// Whether chroma is recorded on a low carrier, with the sum of two lines of the field as the filter against
    /// crosstalk, and with the errors of a wandering phase.
    pub color_under: bool,
}

impl Tape {
    pub(super) const fn deck(self) -> Option<Deck> {
        let (luma, chroma_rise, noise, color_under) = match self {
            Tape::None => return None,
            Tape::VhsSp => (3.0, 0.46, [0.015, 0.034], true),
            Tape::VhsLp => (2.8, 0.5, [0.019, 0.042], true),
            Tape::VhsEp => (2.5, 0.6, [0.024, 0.052], true),
            Tape::SVhs => (5.0, 0.44, [0.012, 0.026], true),
            Tape::UMatic => (3.4, 0.36, [0.011, 0.024], true),
            Tape::Betacam => (4.5, 0.22, [0.006, 0.008], false),
        };
        Some(Deck { luma, chroma_rise, noise, color_under })
    }
}

/// A low-pass filter that falls to half at `cut`, as a part of the sampling rate: a windowed sinc of `2 half + 1` taps
/// with a sum of 1. With `soft` there is no ringing; without, as much as in steep analogue filters.
pub(super) fn low_pass(cut: f64, half: usize, soft: bool) -> Vec<f32> {
    let taps: Vec<f64> = (-(half as i64)..=half as i64)
        .map(|n| {
            let x = core::f64::consts::PI * 2.0 * cut * n as f64;
            let sinc = if n == 0 { 1.0 } else { libm::sin(x) / x };
            let window = libm::cos(core::f64::consts::FRAC_PI_2 * n as f64 / (half + 1) as f64);
            sinc * if soft { window * window } else { window }
        })
        .collect();
    normal(&taps)
}

/// A Gaussian that makes a step rise from a tenth to nine tenths within `rise` samples.
pub(super) fn gaussian(rise: f64, half: usize) -> Vec<f32> {
    let sigma = rise / 2.563;
    let taps: Vec<f64> = (-(half as i64)..=half as i64)
        .map(|n| libm::exp(-0.5 * (n as f64 / sigma) * (n as f64 / sigma)))
        .collect();
    normal(&taps)
}

fn normal(taps: &[f64]) -> Vec<f32> {
    let sum: f64 = taps.iter().sum();
    taps.iter().map(|t| (t / sum) as f32).collect()
}

/// The band around the subcarrier, at four samples per cycle: exactly nothing of a constant, exactly all of the
/// subcarrier. `width` is the half width as a part of the sampling rate.
pub(super) fn band_pass(width: f64) -> Vec<f32> {
    const HALF: usize = 10;
    let mut taps: Vec<f64> = low_pass(width, HALF, true)
        .iter()
        .zip(0i64..)
        .map(|(&t, i)| match (i - HALF as i64).rem_euclid(4) {
            0 => 2.0 * f64::from(t),
            2 => -2.0 * f64::from(t),
            _ => 0.0,
        })
        .collect();
    // Two taps take up what the window leaves of a constant, and lacks of the subcarrier.
    let at_zero: f64 = taps.iter().sum();
    // In the middle of the taps the subcarrier is at its peak, two taps on at its opposite.
    let wave = |i: usize| if (i + 4 - HALF % 4).is_multiple_of(4) { 1.0 } else { -1.0 };
    let at_carrier: f64 = taps.iter().enumerate().map(|(i, t)| t * wave(i)).sum();
    let lack = 1.0 - at_carrier;
    taps[HALF] += (lack - at_zero) / 2.0;
    for side in [HALF - 2, HALF + 2] {
        taps[side] -= (lack + at_zero) / 4.0;
    }
    taps.iter().map(|&t| t as f32).collect()
}

/// Playback: a low-pass filter followed by peaking, which adds `amount` times the differences from the neighbours at a
/// distance. The ones to the right count more, as with a filter that only knows the past: edges get a bright line
/// after them.
pub(super) fn peaked(low: &[f32], amount: f64, distance: usize) -> Vec<f32> {
    const BEFORE: f64 = 0.62;
    let mut taps = vec![0.0; low.len() + 2 * distance];
    for (i, &t) in low.iter().enumerate() {
        let t = f64::from(t);
        taps[i + distance] += t * (1.0 + amount);
        // Tap `k` weighs sample `k - half` to the right: a lower tap is an earlier sample.
        taps[i] -= amount * BEFORE * t;
        taps[i + 2 * distance] -= amount * (1.0 - BEFORE) * t;
    }
    taps.iter().map(|&t| t as f32).collect()
}
