//! The kernels in the registers of the level: for given numbers, and for uniform and Gaussian noise of `lfsr31`, which
//! is generated and added in one pass.
//!
//! Filling a row with words and then adding them moves each word through the L1 cache twice, which takes more time than
//! reading and writing an 8-bit plane in memory. Here the last 32 steps stay in registers or on the stack, and each
//! word goes from the XOR directly to the multiplication.
//!
//! The output is bit-identical to that of [`lfsr31::fill`](crate::noise::lfsr31::fill) and [`add`](super::add).

use super::{BYTE_SHIFT, NoiseGain};
use crate::noise::Distribution;
use crate::noise::distribution::{h8_by_parts, h8_in_order};
use crate::noise::lfsr31::{LANES, Lanes};
use crate::pixel::convert::CodeSample;
use crate::simd::{Level, Vector, multiversion, prefetch_at};

/// The prefetch distance in bytes, ahead of the samples that are being changed.
const AHEAD: usize = 3072;

/// Samples of a block: of eight steps of `lfsr31`, and whole registers at every level.
const BLOCK: usize = 64;

/// The noise is the high byte of a 16-bit number, and all codes are legal, so saturation is sufficient.
const FULL_BYTES: u8 = 0;
/// The noise is the high byte of a 16-bit number.
const BYTES: u8 = 1;
/// Any noise that fits 16 bits.
const WORDS: u8 = 2;

/// A sample of 8 or 16 bits in registers.
pub(crate) trait NoiseSample: CodeSample {
    /// How [`add`](NoiseSample::add) adds noise of this scale.
    fn way(scale: NoiseGain, lo: Self, hi: Self) -> u8;
    /// Adds as many numbers c as there are samples, at most a block. `interleaved`: the 128-bit parts of each two
    /// registers are, as [`high_bytes_of_parts`](Vector::high_bytes_of_parts) takes them.
    fn add<V: Vector, const WAY: u8>(by: &AddParams<V>, samples: &mut [Self], c: &[V], interleaved: bool);
    /// The sample in every lane, as `add` takes the legal codes.
    fn splat<V: Vector>(self, any: V) -> V;
}

/// The parameters of an addition.
pub(crate) struct AddParams<V> {
    gain: V,
    half: V,
    shift: u32,
    sign: V,
    lo: V,
    hi: V,
}

impl<V: Vector> AddParams<V> {
    #[inline(always)]
    fn new<T: NoiseSample>(any: V, scale: NoiseGain, lo: T, hi: T) -> AddParams<V> {
        AddParams {
            gain: any.splat16(scale.gain),
            half: any.splat16(1 << (scale.shift - 17)),
            shift: scale.shift - 16,
            sign: if size_of::<T>() == 1 { any.splat8(0x80) } else { any.splat16(i16::MIN) },
            lo: lo.splat(any),
            hi: hi.splat(any),
        }
    }

    /// The noise of numbers c in codes.
    #[inline(always)]
    fn noise(&self, c: V) -> V {
        c.mulhi_i16(self.gain).add16(self.half).shr_i16(self.shift)
    }
}

impl NoiseSample for u8 {
    #[inline(always)]
    fn way(scale: NoiseGain, lo: u8, hi: u8) -> u8 {
        match (scale.shift, lo, hi) {
            (BYTE_SHIFT, 0, 255) => FULL_BYTES,
            (BYTE_SHIFT, ..) => BYTES,
            _ => WORDS,
        }
    }

    #[inline(always)]
    fn add<V: Vector, const WAY: u8>(by: &AddParams<V>, samples: &mut [u8], c: &[V], interleaved: bool) {
        for (samples, &[a, b]) in samples.chunks_exact_mut(V::BYTES).zip(c.as_chunks::<2>().0) {
            let old = by.gain.load(samples);
            let sum = if WAY == WORDS {
                let (a, b) = if interleaved && V::BYTES > 16 {
                    (a.interleave_even_128(b), a.interleave_odd_128(b))
                } else {
                    (a, b)
                };
                let (wide, zero) = (old.preshuffle_for_unpack(), old.splat8(0));
                let first = wide.unpack_low8(zero).add16(by.noise(a));
                first.pack_u16(wide.unpack_high8(zero).add16(by.noise(b))).unshuffle_after_pack()
            } else {
                let (a, b) = (a.mulhi_i16(by.gain), b.mulhi_i16(by.gain));
                let n = if interleaved { a.high_bytes_of_parts(b) } else { a.high_bytes(b) };
                old.xor(by.sign).adds_i8(n).xor(by.sign)
            };
            let full = WAY == FULL_BYTES;
            let sum = if full { sum } else { sum.min_u8(old.max_u8(by.hi)).max_u8(old.min_u8(by.lo)) };
            sum.store(samples);
        }
    }

    #[inline(always)]
    fn splat<V: Vector>(self, any: V) -> V {
        any.splat8(self)
    }
}

impl NoiseSample for u16 {
    #[inline(always)]
    fn way(_: NoiseGain, _: u16, _: u16) -> u8 {
        WORDS
    }

    #[inline(always)]
    fn add<V: Vector, const WAY: u8>(by: &AddParams<V>, samples: &mut [u16], c: &[V], _: bool) {
        for (samples, c) in samples.chunks_exact_mut(V::BYTES / 2).zip(c) {
            // Shifted by 2^15 the codes fit signed lanes, whose addition saturates at both ends.
            let old = by.gain.load(samples).xor(by.sign);
            let (top, bottom) = (old.max_i16(by.hi), old.min_i16(by.lo));
            old.adds_i16(by.noise(*c)).min_i16(top).max_i16(bottom).xor(by.sign).store(samples);
        }
    }

    #[inline(always)]
    fn splat<V: Vector>(self, any: V) -> V {
        any.splat16((self ^ 0x8000) as i16)
    }
}

#[inline(always)]
fn rows_body<V: Vector, T: NoiseSample>(
    any: V,
    row: &mut [T],
    c: &[i16],
    or: i16,
    scale: NoiseGain,
    lo: T,
    hi: T,
) -> bool {
    let by = AddParams::new(any, scale, lo, hi);
    match T::way(scale, lo, hi) {
        WORDS => numbers::<V, T, WORDS>(&by, row, c, or),
        _ => numbers::<V, T, BYTES>(&by, row, c, or),
    }
    true
}

/// Adds a row of numbers, at the end in a copy.
#[inline(always)]
fn numbers<V: Vector, T: NoiseSample, const WAY: u8>(by: &AddParams<V>, row: &mut [T], c: &[i16], or: i16) {
    let (or, n) = (by.gain.splat16(or), row.len().min(c.len()));
    let step = V::BYTES / size_of::<T>();
    let mut rows = row[..n].chunks_exact_mut(step);
    let mut numbers = c[..n].chunks_exact(step);
    for (samples, c) in (&mut rows).zip(&mut numbers) {
        prefetch_at(samples.as_ptr().wrapping_byte_add(AHEAD));
        register::<V, T, WAY>(by, or, samples, c);
    }
    let (rest, rest_of_c) = (rows.into_remainder(), numbers.remainder());
    if !rest.is_empty() {
        let (mut samples, mut c) = ([T::zeroed(); BLOCK], [0; BLOCK]);
        samples[..rest.len()].copy_from_slice(rest);
        c[..rest.len()].copy_from_slice(rest_of_c);
        register::<V, T, WAY>(by, or, &mut samples[..step], &c[..step]);
        rest.copy_from_slice(&samples[..rest.len()]);
    }
}

/// One register of samples.
#[inline(always)]
fn register<V: Vector, T: NoiseSample, const WAY: u8>(
    by: &AddParams<V>,
    or: V,
    samples: &mut [T],
    c: &[i16],
) {
    // There are two registers of numbers for a register of bytes, and one for words.
    let second = &c[c.len() - V::BYTES / 2..];
    T::add::<V, WAY>(by, samples, &[or.load(c).or(or), or.load(second).or(or)], false);
}

/// Whether there is a fused kernel: at levels with registers, for one word per pixel and noise of up to 8191 codes.
pub(crate) fn can_fuse(level: Level, distribution: Distribution, scale: NoiseGain) -> bool {
    level > Level::SCALAR && distribution.words() == 1 && scale.fits_i16()
}

/// Adds noise of `lfsr31`, from `lanes` on, to a row of samples, as filling, centring and [`add`](super::add) would.
/// Panics where there is [no kernel](can_fuse).
#[inline]
pub(crate) fn add_lfsr31<T: NoiseSample>(
    level: Level,
    row: &mut [T],
    lanes: &Lanes,
    distribution: Distribution,
    scale: NoiseGain,
    (lo, hi): (T, T),
) {
    assert!(can_fuse(level, distribution, scale), "noise without a fused kernel");
    fused_rows(level, row, lanes, distribution == Distribution::H8, scale, lo, hi);
}

multiversion! {
    /// Adds existing numbers, as [`add`](super::add), for noise of up to 8191 codes. Returns `false`, and does nothing, at
    /// the scalar level.
    pub(super) fn add<T: NoiseSample>(
        level, row: &mut [T], c: &[i16], or: i16, scale: NoiseGain, lo: T, hi: T,
    ) -> bool => rows_body;
    fn fused_rows<T: NoiseSample>(level, row: &mut [T], lanes: &Lanes, h8: bool, scale: NoiseGain, lo: T, hi: T) => fused_body;
}

/// Registers of eight steps, which are 64 pixels; only the first are used where a register holds several steps.
type Block<V> = [V; 8];

#[inline(always)]
fn fused_body<V: Vector, T: NoiseSample>(
    any: V,
    row: &mut [T],
    lanes: &Lanes,
    h8: bool,
    scale: NoiseGain,
    lo: T,
    hi: T,
) {
    let by = AddParams::new(any, scale, lo, hi);
    let split = size_of::<T>() == 1 && V::BYTES == 32;
    match (h8, T::way(scale, lo, hi), split) {
        (false, FULL_BYTES, false) => fused::<V, T, false, FULL_BYTES, false>(&by, row, lanes),
        (false, BYTES, false) => fused::<V, T, false, BYTES, false>(&by, row, lanes),
        (false, _, false) => fused::<V, T, false, WORDS, false>(&by, row, lanes),
        (false, FULL_BYTES, true) => fused::<V, T, false, FULL_BYTES, true>(&by, row, lanes),
        (false, BYTES, true) => fused::<V, T, false, BYTES, true>(&by, row, lanes),
        (false, _, true) => fused::<V, T, false, WORDS, true>(&by, row, lanes),
        (true, FULL_BYTES, _) => fused::<V, T, true, FULL_BYTES, false>(&by, row, lanes),
        (true, BYTES, _) => fused::<V, T, true, BYTES, false>(&by, row, lanes),
        (true, ..) => fused::<V, T, true, WORDS, false>(&by, row, lanes),
    }
}

/// The words that begin this many bits before `near`; `far` is one word before `near`.
#[inline(always)]
fn before<V: Vector>(far: V, near: V, bits: u32) -> V {
    far.shl16(16 - bits).xor(near.shr_u16(bits))
}

/// The last 32 steps, in as many registers as they fill, the rest of the array is unused.
///
/// `EVEN_ODD_SPLIT` is used if a register holds two steps and the distribution is uniform: of each four steps the even ones are
/// in the first of two registers and the odd ones in the second, in the order from which packing gives bytes in order.
struct LagState<V, const H8: bool, const EVEN_ODD_SPLIT: bool>([V; 32]);

impl<V: Vector, const H8: bool, const EVEN_ODD_SPLIT: bool> LagState<V, H8, EVEN_ODD_SPLIT> {
    /// Steps of a register.
    const STEPS: usize = V::BYTES / (2 * LANES);
    /// Registers of a block.
    const BLOCK: usize = 8 / Self::STEPS;

    /// Steps 0 to 31 of a row: the first eight as in the plain start, then in its rounds with lags of 28 and 31 times 4
    /// and 8 bits.
    #[inline(always)]
    fn new(any: V, lanes: &Lanes) -> Self {
        let mut lags = LagState([any; 32]);
        // Closures and arrays with variable indices would move registers through memory.
        let part = any.lower().lower();
        let (w0, w1) = (part.load(&lanes.hi), part.load(&lanes.lo));
        let w2 = before(w0, w1, 12).xor(before(w0, w1, 15));
        let w3 = before(w1, w2, 12).xor(before(w1, w2, 15));
        let w4 = before(w0, w1, 8).xor(before(w0, w1, 14));
        let w5 = before(w1, w2, 8).xor(before(w1, w2, 14));
        let w6 = before(w2, w3, 8).xor(before(w2, w3, 14));
        let w7 = before(w3, w4, 8).xor(before(w3, w4, 14));
        let w8 = w1.xor(before(w0, w1, 12));
        let w9 = w2.xor(before(w1, w2, 12));
        let w = [w2, w3, w4, w5, w6, w7, w8, w9];
        let half = any.lower();
        for m in 0..Self::BLOCK {
            let (step, apart) = (m * Self::STEPS, Self::STEPS / 2);
            let lower = half.join(w[step], w[step + apart / 2]);
            let upper = half.join(w[step + apart], w[step + apart + apart / 2]);
            lags.0[m] = any.join(lower, upper);
        }
        lags.eight(8, (8, 12), 7);
        lags.eight(16, (16, 8), 14);
        lags.eight(24, (16, 8), 14);
        if EVEN_ODD_SPLIT {
            for [a, b] in lags.0.as_chunks_mut::<2>().0 {
                (*a, *b) = (a.even_parts(*b), a.odd_parts(*b));
            }
        }
        lags
    }

    /// Steps from `first` on: each of the word so many bits before the step `far` back, and that of the step `near`
    /// back. At most eight at once: the compiler does not unroll longer loops, and the lags would be in memory.
    #[inline(always)]
    fn eight(&mut self, first: usize, (far, bits): (usize, u32), near: usize) {
        for step in (first..first + 8).step_by(Self::STEPS) {
            let word = before(self.at(step - far), self.at(step - far + 1), bits);
            self.0[step / Self::STEPS] = self.at(step - near).xor(word);
        }
    }

    /// The register that begins with a step, at most two after an existing step.
    #[inline(always)]
    fn at(&self, step: usize) -> V {
        let (m, len) = (step / Self::STEPS, 32 / Self::STEPS);
        let (this, next) = (self.0[m % len], self.0[(m + 1) % len]);
        match step % Self::STEPS {
            0 => this,
            1 => this.align_lanes_128(next),
            _ => this.align_lanes_256(next),
        }
    }

    /// The numbers c of block `B`.
    #[inline(always)]
    fn centred<T: NoiseSample, const B: usize>(&self) -> Block<V> {
        let mut words = [self.0[0]; 8];
        words[..Self::BLOCK].copy_from_slice(&self.0[B * Self::BLOCK..][..Self::BLOCK]);
        if H8 {
            // Bytes are packed from interleaved registers.
            return if size_of::<T>() == 1 { h8_by_parts(words) } else { h8_in_order(words) };
        }
        // Bit 0 of the uniform distribution is set here and not in the lags, which is the fastest place.
        for w in &mut words {
            *w = w.or(w.splat16(1));
        }
        words
    }

    /// Adds block `B` and makes that of the next turn: w[n] = w[n-28] ^ w[n-31]. 31 steps before split ones are, for
    /// the even ones, the odd register beside them, and for the odd ones the second half of the even register and the
    /// first of the next.
    #[inline(always)]
    fn turn<T: NoiseSample, const WAY: u8, const B: usize>(
        &mut self,
        by: &AddParams<V>,
        samples: &mut [T; BLOCK],
    ) {
        for line in samples.chunks_exact(64 / size_of::<T>()) {
            prefetch_at(line.as_ptr().wrapping_byte_add(AHEAD));
        }
        T::add::<V, WAY>(by, samples, &self.centred::<T, B>(), H8 || EVEN_ODD_SPLIT);
        let mut even = self.0[B * Self::BLOCK];
        for m in B * Self::BLOCK..(B + 1) * Self::BLOCK {
            let far = match m % 2 {
                0 if EVEN_ODD_SPLIT => self.0[m + 1],
                1 if EVEN_ODD_SPLIT => even.align_lanes_128(self.at(m * Self::STEPS + 2)),
                _ => self.at(m * Self::STEPS + 1),
            };
            let word = self.at(m * Self::STEPS + 4).xor(far);
            even = self.0[m];
            self.0[m] = word;
        }
    }

    /// Adds block `B` to the rest of a row, in a copy if it is less than a block.
    #[inline(always)]
    fn rest<T: NoiseSample, const WAY: u8, const B: usize>(&self, by: &AddParams<V>, rest: Option<&mut [T]>) {
        let Some(rest) = rest else { return };
        let c = self.centred::<T, B>();
        if let Ok(whole) = <&mut [T; BLOCK]>::try_from(&mut *rest) {
            return T::add::<V, WAY>(by, whole, &c, H8 || EVEN_ODD_SPLIT);
        }
        let mut copy = [T::zeroed(); BLOCK];
        copy[..rest.len()].copy_from_slice(rest);
        T::add::<V, WAY>(by, &mut copy, &c, H8 || EVEN_ODD_SPLIT);
        rest.copy_from_slice(&copy[..rest.len()]);
    }
}

// Blocks are constant parameters, so that the indices into the lags are constants.
#[inline(always)]
fn fused<V: Vector, T: NoiseSample, const H8: bool, const WAY: u8, const EVEN_ODD_SPLIT: bool>(
    by: &AddParams<V>,
    row: &mut [T],
    lanes: &Lanes,
) {
    let mut lags = LagState::<V, H8, EVEN_ODD_SPLIT>::new(by.gain, lanes);
    let (blocks, _) = row.as_chunks_mut::<BLOCK>();
    let (turns, _) = blocks.as_chunks_mut::<4>();
    let done = turns.len() * 4 * BLOCK;
    for [a, b, c, d] in turns {
        lags.turn::<T, WAY, 0>(by, a);
        lags.turn::<T, WAY, 1>(by, b);
        lags.turn::<T, WAY, 2>(by, c);
        lags.turn::<T, WAY, 3>(by, d);
    }
    let mut rests = row[done..].chunks_mut(BLOCK);
    lags.rest::<T, WAY, 0>(by, rests.next());
    lags.rest::<T, WAY, 1>(by, rests.next());
    lags.rest::<T, WAY, 2>(by, rests.next());
    lags.rest::<T, WAY, 3>(by, rests.next());
}
