//! From the brightness at a place to the gain of the grain there.

use super::kernel::mulhi;
use std::sync::LazyLock;

/// Places of u between which the response is a straight line: 0, 1/16, ... 1; and, in the first and the last sixteenth,
/// sixteenths of that.
pub const NODES: usize = 17;

/// From a code to u: 0 at black and below, 65535 at white and above, a straight line between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ramp {
    /// The code of black.
    pub low: u16,
    /// Codes from black to white.
    pub span: u16,
    /// 16 less the bits of a sample.
    pub shift: u32,
    /// Scale that maps white to 65535, in 1/65536.
    pub stretch: u16,
}

impl Ramp {
    /// The ramp for samples of `bits` bits whose black and white are `low` and `high`; 8-bit white is 255 or 235.
    pub fn new(bits: u8, (low, high): (u16, u16)) -> Ramp {
        let shift = 16 - u32::from(bits);
        let span = high - low;
        let top = u64::from(span) << shift;
        // The smallest scale that maps white to 65535.
        let stretch = ((65535 - top) << 16).div_ceil(top);
        Ramp { low, span, shift, stretch: stretch as u16 }
    }

    /// u of a code.
    #[inline(always)]
    pub const fn of(self, code: u16) -> u16 {
        let above = code.saturating_sub(self.low);
        let inside = if above < self.span { above } else { self.span } << self.shift;
        inside + ((inside as u32 * self.stretch as u32) >> 16) as u16
    }

    /// u of a float sample, 0 for what is no number.
    #[inline(always)]
    pub fn of_float(v: f32) -> u16 {
        // A cast takes NaN and all below 0 to 0.
        (v.min(1.0) * 65535.0) as u16
    }
}

/// S at the nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct Nodes {
    /// Sixteenths of u.
    pub all: [i16; NODES],
    /// Sixteenths of the first and of the last sixteenth, where film's response is steep.
    pub ends: [[i16; NODES]; 2],
}

impl Nodes {
    /// For all of u, for the first and for the last sixteenth: S at the sixteen lower nodes, and twice the difference
    /// to the next node.
    pub(super) fn tables(&self) -> [[[i16; 16]; 2]; 3] {
        let table = |nodes: &[i16; NODES]| {
            [core::array::from_fn(|i| nodes[i]), core::array::from_fn(|i| slope(nodes, i))]
        };
        [table(&self.all), table(&self.ends[0]), table(&self.ends[1])]
    }
}

/// The gain S for each u.
#[derive(Clone, PartialEq, Debug)]
pub enum Response {
    /// Straight lines between nodes.
    Nodes(Box<Nodes>),
    /// One for each u / 16.
    Table(Box<[i16; 4096]>),
}

/// 2 (v[i+1] - v[i]), which `mulhi` of a part in 1/32768 halves again.
#[inline(always)]
const fn slope(nodes: &[i16; NODES], i: usize) -> i16 {
    2 * (nodes[i + 1] - nodes[i])
}

impl Response {
    /// S of u: the definition.
    #[inline(always)]
    pub fn of(&self, u: u16) -> i16 {
        match self {
            Response::Nodes(nodes) => {
                let end = match u >> 12 {
                    0 => &nodes.ends[0],
                    15 => &nodes.ends[1],
                    i => {
                        let i = usize::from(i);
                        return nodes.all[i] + mulhi(slope(&nodes.all, i), ((u & 0xfff) << 3) as i16);
                    }
                };
                let i = usize::from(u >> 8 & 15);
                end[i] + mulhi(slope(end, i), ((u & 0xff) << 7) as i16)
            }
            Response::Table(table) => table[usize::from(u >> 4)],
        }
    }

    fn is_zero(&self) -> bool {
        match self {
            Response::Nodes(nodes) => nodes.all.iter().chain(nodes.ends.as_flattened()).all(|&s| s == 0),
            Response::Table(table) => table.iter().all(|&s| s == 0),
        }
    }
}

/// A response and what its numbers count: the grain at u is n * S / 2^shift codes.
#[derive(Clone, PartialEq, Debug)]
pub struct Gain {
    /// S of u.
    pub response: Response,
    /// 8 to 30.
    pub shift: u32,
}

/// The largest S: twice the difference of two is a number of 16 bits.
const TOP: f64 = 16383.0;

impl Gain {
    /// From factors between n and codes at u (0 to 1), not negative and below 64. `nodes`: the factor is smooth, and lines
    /// between nodes are near enough; they are within a hundredth of film's response above 1/128 and below 127/128.
    pub fn new(nodes: bool, factor: impl Fn(f64) -> f64) -> Gain {
        let factor = |u: f64| {
            let v = factor(u);
            if v > 0.0 { v.min(63.9) } else { 0.0 }
        };
        // The table has the factors of its own places from black to white, both of them exactly.
        let places: Vec<f64> = if nodes {
            let all = (0..=16).map(|i| f64::from(i) / 16.0);
            let end = |first: i32| (first..=first + 16).map(|i| f64::from(i) / 256.0);
            all.chain(end(0)).chain(end(240)).collect()
        } else {
            (0..4096).map(|i| f64::from(i) / 4095.0).collect()
        };
        let mut factors: Vec<f64> = places.iter().map(|&u| factor(u)).collect();
        if nodes {
            // Where the response bends most, a chord lies below it in the middle: the outer nodes are raised by half of
            // that error.
            for (outer, inner, same) in [(1, 2, 17 + 16), (15, 14, 34)] {
                let chord = 0.5 * (factors[outer] + factors[inner]);
                let middle = factor(0.5 * (places[outer] + places[inner]));
                let raise = if chord > 0.0 { (middle / chord).sqrt().clamp(1.0, 1.02) } else { 1.0 };
                [outer, inner, same].into_iter().for_each(|i| factors[i] *= raise);
            }
        }
        let most = factors.iter().fold(0.0, |m: f64, &f| m.max(f));
        let (mut shift, mut unit) = (8, 256.0);
        while shift < 30 && most * unit * 2.0 <= TOP {
            (shift, unit) = (shift + 1, unit * 2.0);
        }
        let whole = |f: &f64| libm::floor((f * unit).min(TOP) + 0.5) as i16;
        let all: Vec<i16> = factors.iter().map(whole).collect();
        let response = if nodes {
            let part = |first: usize| core::array::from_fn(|i| all[first + i]);
            Response::Nodes(Box::new(Nodes { all: part(0), ends: [part(17), part(34)] }))
        } else {
            let mut table = Box::new([0; 4096]);
            table.copy_from_slice(&all);
            Response::Table(table)
        };
        Gain { response, shift }
    }

    /// Whether no n gives any grain.
    pub fn is_zero(&self) -> bool {
        self.response.is_zero()
    }

    /// Whether 16-bit lanes suffice.
    #[inline(always)]
    pub const fn fits_i16(&self) -> bool {
        self.shift >= 17
    }

    /// The grain of n at gain S in whole codes: the definition.
    #[inline(always)]
    pub const fn codes(&self, n: i16, s: i16) -> i32 {
        (n as i32 * s as i32 + (1 << (self.shift - 1))) >> self.shift
    }
}

/// The response of 8-bit samples, by code: S, and its low and high bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct Codes {
    pub(super) words: [i16; 256],
    pub(super) low: [u8; 256],
    pub(super) high: [u8; 256],
    pub(super) shift: u32,
}

impl Codes {
    /// `None` for grain of more than a signed byte.
    pub fn new(ramp: Ramp, gain: &Gain) -> Option<Box<Codes>> {
        let all: [i16; 256] = core::array::from_fn(|code| gain.response.of(ramp.of(code as u16)));
        let most = all.iter().copied().max().unwrap_or(0);
        let fits = gain.fits_i16() && gain.codes(i16::MIN, most) >= -128 && gain.codes(i16::MAX, most) <= 127;
        fits.then(|| {
            let [low, high] = [0, 1].map(|i| all.map(|s| s.to_le_bytes()[i]));
            Box::new(Codes { words: all, low, high, shift: gain.shift })
        })
    }
}

/// The standard deviation that normal numbers must have so that they have `wanted` once they are rounded to whole ones.
///
/// Rounding adds about 1/12 to the variance and takes away all that stays below a half; the inverse of that is
/// found by bisection at 256 places and read off between them.
pub fn rounded_sd(wanted: f64) -> f64 {
    const STEP: f64 = 1.0 / 64.0;
    static INVERSE: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let rounded = |sd: f64| {
            let mut var = 0.0;
            for k in 1..=32 {
                let edge = f64::from(k) - 0.5;
                var += f64::from(2 * k - 1) * libm::erfc(edge / (sd * core::f64::consts::SQRT_2));
            }
            var
        };
        let mut list = vec![0.0];
        for i in 1..=256 {
            let wanted = f64::from(i) * STEP;
            let (mut low, mut high) = (0.01, wanted + 0.5);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                if rounded(middle) < wanted * wanted { low = middle } else { high = middle }
            }
            list.push(0.5 * (low + high));
        }
        list
    });
    if wanted >= 3.9 {
        return (wanted * wanted - 1.0 / 12.0).sqrt();
    }
    if wanted > 0.0 {
        let place = wanted / STEP;
        let i = place as usize;
        let part = place - i as f64;
        return INVERSE[i] + (INVERSE[i + 1] - INVERSE[i]) * part;
    }
    0.0
}

/// The deviation of grain at a `distance` from black or white, where it is cut off: `wanted`, or less, so that the mean
/// shifts by no more than `most`; all in the same unit, codes of 8 bits.
pub fn limited_near_end(wanted: f64, distance: f64, most: f64) -> f64 {
    // The mean of a normal number that is clipped at -distance.
    let shift = |sd: f64| {
        let z = distance / sd;
        let density = libm::exp(-0.5 * z * z) / (2.0 * core::f64::consts::PI).sqrt();
        sd * (density - z * 0.5 * libm::erfc(z / core::f64::consts::SQRT_2))
    };
    if wanted <= 0.1 * distance || shift(wanted) < most {
        return wanted;
    }
    let (mut low, mut high) = (0.1 * distance, wanted);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if shift(middle) < most { low = middle } else { high = middle }
    }
    low
}
