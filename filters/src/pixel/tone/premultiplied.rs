//! Towards a colour that is multiplied by alpha.

/// `floor(x * gain + base + alpha * weight + 1/2)`, all in 2^-31, within the codes `0..=top`: what fading towards a colour
/// makes of a sample that has been multiplied by alpha.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Premultiplied {
    gain: i64,
    base: i64,
    weight: i64,
    top: u16,
}

const BITS: u32 = 31;

impl Premultiplied {
    /// `base` is in codes, `weight` in codes per code of alpha.
    pub fn new(bits: u8, gain: f64, base: f64, weight: f64) -> Premultiplied {
        let fixed = |v: f64| libm::floor(v * f64::from(1u32 << BITS) + 0.5) as i64;
        let top = ((1u32 << bits) - 1) as u16;
        Premultiplied { gain: fixed(gain), base: fixed(base + 0.5), weight: fixed(weight), top }
    }

    /// What becomes of a sample.
    pub fn of(&self, x: u16, alpha: u16) -> u16 {
        let sum = i64::from(x) * self.gain + i64::from(alpha) * self.weight + self.base;
        (sum >> BITS).clamp(0, self.top.into()) as u16
    }
}
