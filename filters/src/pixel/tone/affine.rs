//! A linear function of integer samples, rounded once.

mod arch;

use crate::simd::{Level, multiversion};

/// Fraction bits of the stored gain and offset.
const BITS: u32 = 31;
/// Fraction bits of the sums, for samples of 9 to 16 bits and of 8 bits.
const WIDE: u32 = 15;
const NARROW: u32 = 22;

/// `floor(x * gain + offset + 1/2)`, clamped to the codes `lo..=hi`.
///
/// Gain and offset are whole multiples of 2^-31 and 2^-15 (2^-22 for 8 bits), so that the error is at most half a
/// code plus 2^-14 codes; for 8 bits in 16-bit lanes, half a code plus 1/80 code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Affine {
    gain: i64,
    /// Including the half for rounding.
    offset: i64,
    lo: u16,
    hi: u16,
    /// Samples beyond `lo..=hi` may stay there.
    keep: bool,
    /// Samples beyond these give the results of these.
    first: u16,
    last: u16,
    /// The highest code.
    top: u16,
    /// The processing of 8-bit samples in 16-bit lanes, if possible.
    lanes: Option<ByteLine>,
}

/// `(sat(t + mulhi(t, part) + add)) >> 8` of `t = sat((x << 8) - sub)`, with t itself only when `whole`; the sums
/// saturate at 16 bits, and `mulhi(a, b) = floor(a b / 65536)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ByteLine {
    sub: u16,
    part: u16,
    whole: bool,
    add: u16,
}

/// The limits of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Clamp {
    /// No limits are needed.
    None,
    /// All results are clamped to these codes.
    All(u16, u16),
    /// Clamped to these codes, or to the sample beyond them.
    Legal(u16, u16),
}

/// A line through samples of 9 to 16 bits, for products of signed numbers of 16 bits: with v = x - 32768, the result is
/// `32768 + sat((v first + v second + fine + offset) >> 15)`, fine = `mulhi(x, low)`, less 32768 where `second` is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct WordLine {
    first: i16,
    second: i16,
    low: u16,
    offset: i32,
    /// Samples are clamped to these first, if sums would overflow 32 bits otherwise.
    range: Option<(u16, u16)>,
}

impl ByteLine {
    /// For gains from 0 to below 2, and offsets that fit.
    fn new(gain: f64, offset: f64) -> Option<ByteLine> {
        if !(0.0..1.999).contains(&gain) || !(-500.0..=255.0).contains(&offset) {
            return None;
        }
        let whole = gain >= 1.0;
        let part = libm::floor((gain - f64::from(u8::from(whole))) * 65536.0 + 0.5).min(65535.0) as u16;
        // The half for rounding, and half of the part that mulhi drops.
        let half = if part == 0 { 128.0 } else { 128.5 };
        let fixed = |v: f64| libm::floor(v + 0.5);
        if offset >= 0.0 {
            let add = fixed(offset * 256.0 + half) as u16;
            return Some(ByteLine { sub: 0, part, whole, add });
        }
        // Lines that are negative everywhere are for the other lanes.
        let sub = fixed(-offset / gain * 256.0);
        (sub <= 65280.0 && gain > 1.0 / 256.0).then_some(ByteLine {
            sub: sub as u16,
            part,
            whole,
            add: fixed(half) as u16,
        })
    }

    #[inline(always)]
    fn of(self, x: u8) -> u8 {
        let t = (u16::from(x) << 8).saturating_sub(self.sub);
        let product = ((u32::from(t) * u32::from(self.part)) >> 16) as u16;
        let t = if self.whole { t } else { 0 };
        (product.saturating_add(t).saturating_add(self.add) >> 8) as u8
    }
}

impl Affine {
    /// The largest absolute gain of the kernels; steeper lines are for a [`Table`](super::Table).
    pub const MAX_GAIN: f64 = 16.0;

    /// For samples of `bits` bits. `keep`: samples beyond `lo..=hi` may stay there. Gains beyond
    /// [`MAX_GAIN`](Affine::MAX_GAIN) are limited to it.
    pub fn new(bits: u8, gain: f64, offset: f64, (lo, hi): (u16, u16), keep: bool) -> Affine {
        let lanes = if bits == 8 { ByteLine::new(gain, offset) } else { None };
        let fine = if bits == 8 { NARROW } else { WIDE };
        let gain_bits = if bits == 8 { NARROW } else { BITS };
        let fixed = |v: f64, bits: u32| libm::floor(v * f64::from(1u32 << bits) + 0.5) as i64;
        let gain = fixed(gain.clamp(-Affine::MAX_GAIN, Affine::MAX_GAIN), gain_bits) << (BITS - gain_bits);
        // Beyond these, every sample gives a limit.
        let offset = fixed(offset.clamp(-2.0e6, 2.0e6), fine) + (1 << (fine - 1));
        let top = ((1u32 << bits) - 1) as u16;
        let offset = offset << (BITS - fine);
        Affine { gain, offset, lo, hi, keep, first: 0, last: top, top, lanes }.with_limited_samples()
    }

    /// A line of samples of 16 bits that gives these words for the codes in their upper halves, if there is one. Results are
    /// limited to `lo..=hi`, or to the sample beyond them.
    pub(super) fn through(words: &[u16; 256], (lo, hi): (u16, u16)) -> Option<Affine> {
        let x = |code: usize| (code as u16) << 8;
        let free = |v: u16| lo < v && v < hi;
        let inner = |code: &usize| free(words[*code]) && free(x(*code));
        let (a, b) = ((0..256).find(inner)?, (0..256).rfind(inner)?);
        let word = |code: usize| i64::from(words[code]) << BITS;
        let run = ((b - a).max(1) as i64) << 8;
        let [mut low, mut high] = [-1, 1].map(|code| (word(b) - word(a) + (code << BITS)).div_euclid(run));
        while low <= high {
            let gain = (low + high) >> 1;
            // Each code has offsets that give its word: all of them if these are more than none.
            let least = |code: &usize| word(*code) - i64::from(x(*code)) * gain;
            let (first, last) = ((a..=b).min_by_key(least)?, (a..=b).max_by_key(least)?);
            let (from, to) = (least(&last), least(&first) + (1 << BITS));
            if to - from > 2 << (BITS - WIDE) {
                let offset = (from + to) >> (BITS - WIDE + 1) << (BITS - WIDE);
                let top = u16::MAX;
                return [true, false].into_iter().find_map(|keep| {
                    let line = Affine { gain, offset, lo, hi, keep, first: 0, last: top, top, lanes: None };
                    let line = line.with_limited_samples();
                    (0..256).all(|code| line.of(x(code)) == words[code]).then_some(line)
                });
            }
            // A steeper line has lower offsets at its right.
            if last > first { low = gain + 1 } else { high = gain - 1 }
        }
        None
    }

    /// Limits samples where the result reaches its limit, so that sums fit 32 bits.
    fn with_limited_samples(mut self) -> Affine {
        let (low, high) = if self.keep { (0, self.top) } else { (self.lo, self.hi) };
        let (low, high) = (i64::from(low), i64::from(high));
        let (line, top) = (self, self.top);
        let raw = |x: u16| line.raw(x);
        let (first, last) = if self.gain >= 0 {
            (last_where(top, |x| raw(x) <= low), last_where(top, |x| raw(x) < high))
        } else {
            (last_where(top, |x| raw(x) >= high), last_where(top, |x| raw(x) > low))
        };
        let (first, last) = (first.unwrap_or(0), last.map_or(0, |x| x.saturating_add(1).min(top)));
        self.first = first;
        self.last = last.max(first);
        let value = self.raw(self.first);
        if self.first == self.last || value.clamp(-40000, 110_000) != value {
            // A constant: the result of the only remaining sample.
            self.gain = 0;
            self.offset = (value.clamp(low, high) << BITS) + (1 << (BITS - 1));
        }
        self
    }

    fn raw(&self, x: u16) -> i64 {
        (i64::from(x) * self.gain + self.offset) >> BITS
    }

    /// The result for a sample: the reference.
    pub fn of(&self, x: u16) -> u16 {
        let (lo, hi) = if self.keep { (self.lo.min(x), self.hi.max(x)) } else { (self.lo, self.hi) };
        if let Some(lanes) = self.lanes {
            return u16::from(lanes.of(x as u8)).clamp(lo, hi);
        }
        self.raw(x.clamp(self.first, self.last)).clamp(lo.into(), hi.into()) as u16
    }

    /// The line for products of 16 bits; `None` if it is too steep.
    fn wide(&self) -> Option<WordLine> {
        let (high, low) = (self.gain >> 16, (self.gain & 0xffff) as u16);
        let offset = (self.offset >> (BITS - WIDE)) - (32768 << WIDE) + 32768 * high;
        let (first, second, offset) = match high {
            -32768..=32767 => (high, 0, offset + 32768),
            32768..=65534 => (32767, high - 32767, offset),
            _ => return None,
        };
        // Sums are modulo 2^32, and the final result fits.
        let (first, second, offset) = (first as i16, second as i16, offset as i32);
        // The sums of all 16-bit codes fit, and codes beyond the depth are limited to the result of the highest
        // code.
        let fits = |x: u16| (-32768..=98303).contains(&self.raw(x));
        let fits = fits(0) && fits(u16::MAX) && (self.top == u16::MAX || !self.keep);
        let range = if fits { None } else { Some((self.first, self.last)) };
        Some(WordLine { first, second, low, offset, range })
    }

    fn limits(&self) -> Clamp {
        match self.keep {
            _ if self.is_free() => Clamp::None,
            false => {
                // The results at the ends bound the results of codes beyond the depth.
                let ends = [self.of(0), self.of(self.top)];
                Clamp::All(ends[0].min(ends[1]), ends[0].max(ends[1]))
            }
            true => Clamp::Legal(self.lo, self.hi),
        }
    }

    /// Whether neither samples nor results need limits: the ends of all codes give codes within `lo..=hi`, and so do
    /// all codes between them.
    fn is_free(&self) -> bool {
        let inside = |x: u16| (i64::from(self.lo)..=i64::from(self.hi)).contains(&self.raw(x));
        let all = self.first == 0 && self.last == self.top && inside(0) && inside(self.top);
        all && (0..=65535).contains(&self.raw(u16::MAX))
    }

    /// Whether 8-bit samples need more than 16-bit lanes: a table is faster then.
    pub(super) fn is_slow(&self) -> bool {
        self.top == 255 && self.lanes.is_none()
    }
}

/// The last of `0..=top` for which a monotonic condition holds.
fn last_where(top: u16, holds: impl Fn(u16) -> bool) -> Option<u16> {
    let (mut good, mut bad) = (-1i32, i32::from(top) + 1);
    while bad - good > 1 {
        let middle = (good + bad) / 2;
        if holds(middle as u16) { good = middle } else { bad = middle }
    }
    u16::try_from(good).ok()
}

#[inline(always)]
fn u8_body(row: &mut [u8], line: &Affine) {
    let Some(lanes) = line.lanes else {
        return row.iter_mut().for_each(|x| *x = line.of((*x).into()) as u8);
    };
    let (lo, hi) = (line.lo as u8, line.hi as u8);
    if line.keep {
        row.iter_mut().for_each(|x| *x = lanes.of(*x).max(lo.min(*x)).min(hi.max(*x)));
    } else {
        row.iter_mut().for_each(|x| *x = lanes.of(*x).max(lo).min(hi));
    }
}

#[inline(always)]
fn u16_body(row: &mut [u16], line: &Affine) {
    // gain = high * 2^-15 + low * 2^-31; sums are centred at the middle of all codes, so that they fit 32
    // bits.
    let (high, low) = ((line.gain >> 16) as i32, (line.gain & 0xffff) as u32);
    let offset = ((line.offset >> (BITS - WIDE)) - (32768 << WIDE)) as i32;
    let (lo, hi, first, last) = (line.lo, line.hi, line.first, line.last);
    let sum = |x: u16| {
        let fine = ((u32::from(x) * low) >> 16) as i32;
        i32::from(x).wrapping_mul(high).wrapping_add(fine).wrapping_add(offset) >> WIDE
    };
    let one = |x: u16| sum(x.max(first).min(last)).clamp(-32768, 32767) as i16 as u16 ^ 0x8000;
    if line.is_free() {
        row.iter_mut().for_each(|x| *x = sum(*x) as i16 as u16 ^ 0x8000);
    } else if line.keep {
        row.iter_mut().for_each(|x| *x = one(*x).max(lo.min(*x)).min(hi.max(*x)));
    } else {
        row.iter_mut().for_each(|x| *x = one(*x).max(lo).min(hi));
    }
}

#[inline(always)]
fn f32_body(row: &mut [f32], gain: f32, offset: f32) {
    for x in row {
        let sum = *x * gain + offset;
        // The NaN payload after an addition differs between machines.
        *x = if x.is_finite() { sum } else { *x };
    }
}

multiversion! {
    /// A row of 8-bit samples along a line.
    pub fn affine_u8(level, row: &mut [u8], line: &Affine) = u8_body;
    fn rest_u16(level, row: &mut [u16], line: &Affine) = u16_body;
    /// Finite float samples along a line: one multiplication, one addition.
    pub fn affine_f32(level, row: &mut [f32], gain: f32, offset: f32) = f32_body;
}

/// A row of samples of 9 to 16 bits along a line.
pub fn affine_u16(level: Level, row: &mut [u16], line: &Affine) {
    let done = line.wide().map_or(0, |wide| arch::line_u16(level, row, None, &wide, line.limits()));
    rest_u16(level, &mut row[done..], line);
}

/// Writes as many samples of a row along a line of 16 bits as fill registers, from codes that are their upper halves;
/// returns their number. Panics if the rows differ in length.
pub(super) fn affine_codes(level: Level, out: &mut [u16], row: &[u8], line: &Affine) -> usize {
    assert_eq!(out.len(), row.len());
    line.wide().map_or(0, |wide| arch::line_u16(level, out, Some(row), &wide, line.limits()))
}
