//! Uniform and Gaussian noise of `lfsr31` generated and added in one pass, in the registers of the level.
//!
//! Filling a row with words and then adding them moves each word through the L1 cache twice, which takes more time than
//! reading and writing an 8-bit plane in memory. Here the last 32 steps stay in registers or on the stack, and each
//! word goes from the XOR directly to the multiplication.
//!
//! The output is bit-identical to that of [`lfsr31::fill`](crate::noise::lfsr31::fill) and the kernels of
//! [`add`](super). Noise of more than 8191 codes, 8-bit noise that is not the high byte of a 16-bit number ([`Scale`]),
//! and the scalar level take the two passes.

use super::Scale;
use super::scale::BYTE_SHIFT;
use crate::noise::Distribution;
use crate::noise::distribution::arch::{h8_by_parts, h8_in_order};
use crate::noise::lfsr31::{LANES, Lanes};
use crate::pixel::convert::CodeSample;
use crate::simd::{Level, Vector, multiversion, prefetch_at};

/// The prefetch distance in bytes, ahead of the samples that are being changed.
const AHEAD: usize = 3072;

/// The parameters of a kernel besides the samples and the lanes.
#[derive(Clone, Copy)]
struct KernelParams<T> {
    gain: i16,
    /// For 16-bit samples: 2^(shift-1) and shift, for the high product.
    round: i16,
    shift: u32,
    lo: T,
    hi: T,
}

impl KernelParams<u8> {
    /// `None` if the noise is not the high byte of a 16-bit number.
    #[inline]
    fn bytes(scale: Scale, (lo, hi): (u8, u8)) -> Option<KernelParams<u8>> {
        let (gain, shift) = scale.parts();
        (shift == BYTE_SHIFT).then_some(KernelParams { gain, round: 128, shift: 8, lo, hi })
    }
}

impl KernelParams<u16> {
    /// `None` for noise of more than 8191 codes.
    #[inline]
    fn words(scale: Scale, (lo, hi): (u16, u16)) -> Option<KernelParams<u16>> {
        let (gain, shift) = scale.parts();
        // Samples and bounds are moved by 2^15 to fit signed lanes.
        scale.fits_i16().then(|| KernelParams {
            gain,
            round: 1 << (shift - 17),
            shift: shift - 16,
            lo: lo ^ 0x8000,
            hi: hi ^ 0x8000,
        })
    }
}

/// Adds noise of `lfsr31`, from `lanes` on, to a row of 8-bit samples, as filling, centring and
/// [`add_u8`](super::add_u8) would. Returns `false`, and changes nothing, if there is no fused kernel: for sums of
/// several words, at the scalar level, and for some scales.
#[inline]
pub fn add_lfsr31_u8(
    level: Level,
    row: &mut [u8],
    lanes: &Lanes,
    distribution: Distribution,
    scale: Scale,
    legal: (u8, u8),
) -> bool {
    let fused = matches!(distribution, Distribution::UNIFORM | Distribution::H8);
    fused
        && KernelParams::bytes(scale, legal)
            .is_some_and(|params| fused_rows(level, row, lanes, distribution == Distribution::H8, params))
}

/// The same for samples of 9 to 16 bits, as [`add_u16`](super::add_u16).
#[inline]
pub fn add_lfsr31_u16(
    level: Level,
    row: &mut [u16],
    lanes: &Lanes,
    distribution: Distribution,
    scale: Scale,
    legal: (u16, u16),
) -> bool {
    let fused = matches!(distribution, Distribution::UNIFORM | Distribution::H8);
    fused
        && KernelParams::words(scale, legal)
            .is_some_and(|params| fused_rows(level, row, lanes, distribution == Distribution::H8, params))
}

/// Adds `c \| or`, at levels with a kernel.
#[inline]
pub(super) fn add_bytes(
    level: Level,
    row: &mut [u8],
    c: &[u16],
    or: i16,
    scale: Scale,
    legal: (u8, u8),
) -> bool {
    KernelParams::bytes(scale, legal).is_some_and(|params| rows(level, row, c, or, params))
}

/// Adds `c \| or`, at levels with a kernel.
#[inline]
pub(super) fn add_words(
    level: Level,
    row: &mut [u16],
    c: &[u16],
    or: i16,
    scale: Scale,
    legal: (u16, u16),
) -> bool {
    KernelParams::words(scale, legal).is_some_and(|params| rows(level, row, c, or, params))
}

multiversion! {
    fn fused_rows<T: Code>(level, row: &mut [T], lanes: &Lanes, h8: bool, params: KernelParams<T>) -> bool => fused_body;
    fn rows<T: Code>(level, row: &mut [T], c: &[u16], or: i16, params: KernelParams<T>) -> bool => rows_body;
}

/// Registers of eight steps, which are 64 pixels; only the first are used where a register holds several steps.
type Block<V> = [V; 8];
/// Pixels of eight steps.
const BLOCK: usize = 8 * LANES;

/// A sample of 8 or 16 bits in registers.
trait Code: CodeSample {
    /// The numbers c of eight steps, as [`add`](Code::add) takes them.
    fn centre<V: Vector, const H8: bool>(words: Block<V>) -> Block<V>;
    /// Adds as many numbers c as there are samples, at most a block. `FULL`: all codes are legal. `interleaved`: the parts
    /// of each two registers are, as [`high_bytes_of_parts`](Vector::high_bytes_of_parts) takes them.
    fn add<V: Vector, const FULL: bool>(by: &Adds<V>, samples: &mut [Self], c: &[V], interleaved: bool);
    fn splat<V: Vector>(self, any: V) -> V;
    /// Whether all codes are legal, so that saturation is sufficient.
    fn is_full(params: &KernelParams<Self>) -> bool;
}

/// The parameters of an addition.
struct Adds<V> {
    gain: V,
    half: V,
    shift: u32,
    sign: V,
    lo: V,
    hi: V,
}

impl<V: Vector> Adds<V> {
    #[inline(always)]
    fn new<T: Code>(any: V, params: KernelParams<T>) -> Adds<V> {
        Adds {
            gain: any.splat16(params.gain),
            half: any.splat16(params.round),
            shift: params.shift,
            sign: if size_of::<T>() == 1 { any.splat8(0x80) } else { any.splat16(i16::MIN) },
            lo: params.lo.splat(any),
            hi: params.hi.splat(any),
        }
    }
}

impl Code for u8 {
    /// Two registers each, in an order that packing reverses.
    #[inline(always)]
    fn centre<V: Vector, const H8: bool>(words: Block<V>) -> Block<V> {
        if H8 { h8_by_parts(words) } else { words }
    }

    #[inline(always)]
    fn add<V: Vector, const FULL: bool>(by: &Adds<V>, samples: &mut [u8], c: &[V], interleaved: bool) {
        for (samples, c) in samples.chunks_exact_mut(V::BYTES).zip(c.as_chunks::<2>().0) {
            let (a, b) = (c[0].mulhi_i16(by.gain), c[1].mulhi_i16(by.gain));
            let n = if interleaved { a.high_bytes_of_parts(b) } else { a.high_bytes(b) };
            let old = by.gain.load(samples);
            let sum = old.xor(by.sign).adds_i8(n).xor(by.sign);
            let sum = if FULL { sum } else { sum.min_u8(old.max_u8(by.hi)).max_u8(old.min_u8(by.lo)) };
            sum.store(samples);
        }
    }

    #[inline(always)]
    fn splat<V: Vector>(self, any: V) -> V {
        any.splat8(self)
    }

    #[inline(always)]
    fn is_full(params: &KernelParams<u8>) -> bool {
        (params.lo, params.hi) == (0, 255)
    }
}

impl Code for u16 {
    #[inline(always)]
    fn centre<V: Vector, const H8: bool>(words: Block<V>) -> Block<V> {
        if H8 { h8_in_order(words) } else { words }
    }

    #[inline(always)]
    fn add<V: Vector, const FULL: bool>(by: &Adds<V>, samples: &mut [u16], c: &[V], _: bool) {
        for (samples, c) in samples.chunks_exact_mut(V::BYTES / 2).zip(c) {
            let n = c.mulhi_i16(by.gain).add16(by.half).shr_i16(by.shift);
            let old = by.gain.load(samples).xor(by.sign);
            let (top, bottom) = (old.max_i16(by.hi), old.min_i16(by.lo));
            old.adds_i16(n).min_i16(top).max_i16(bottom).xor(by.sign).store(samples);
        }
    }

    #[inline(always)]
    fn splat<V: Vector>(self, any: V) -> V {
        any.splat16(self as i16)
    }

    #[inline(always)]
    fn is_full(_: &KernelParams<u16>) -> bool {
        false
    }
}

#[inline(always)]
fn fused_body<V: Vector, T: Code>(
    any: V,
    row: &mut [T],
    lanes: &Lanes,
    h8: bool,
    params: KernelParams<T>,
) -> bool {
    let split = size_of::<T>() == 1 && V::BYTES == 32;
    match (h8, T::is_full(&params), split) {
        (false, false, false) => fused::<V, T, false, false, false>(any, row, lanes, params),
        (false, true, false) => fused::<V, T, false, true, false>(any, row, lanes, params),
        (false, false, true) => fused::<V, T, false, false, true>(any, row, lanes, params),
        (false, true, true) => fused::<V, T, false, true, true>(any, row, lanes, params),
        (true, false, _) => fused::<V, T, true, false, false>(any, row, lanes, params),
        (true, true, _) => fused::<V, T, true, true, false>(any, row, lanes, params),
    }
    true
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
    fn centred<T: Code, const B: usize>(&self) -> Block<V> {
        let mut words = [self.0[0]; 8];
        words[..Self::BLOCK].copy_from_slice(&self.0[B * Self::BLOCK..][..Self::BLOCK]);
        // Bit 0 of the uniform distribution is set here and not in the lags, which is the fastest place.
        if !H8 {
            for w in &mut words {
                *w = w.or(w.splat16(1));
            }
        }
        T::centre::<V, H8>(words)
    }

    /// Adds block `B` and makes that of the next turn: w[n] = w[n-28] ^ w[n-31]. 31 steps before split ones are, for
    /// the even ones, the odd register beside them, and for the odd ones the second half of the even register and the
    /// first of the next.
    #[inline(always)]
    fn turn<T: Code, const FULL: bool, const B: usize>(&mut self, by: &Adds<V>, samples: &mut [T; BLOCK]) {
        for line in samples.chunks_exact(64 / size_of::<T>()) {
            prefetch_at(line.as_ptr().wrapping_byte_add(AHEAD));
        }
        T::add::<V, FULL>(by, samples, &self.centred::<T, B>(), H8 || EVEN_ODD_SPLIT);
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
    fn rest<T: Code, const FULL: bool, const B: usize>(&self, by: &Adds<V>, rest: Option<&mut [T]>) {
        let Some(rest) = rest else { return };
        let c = self.centred::<T, B>();
        if let Ok(whole) = <&mut [T; BLOCK]>::try_from(&mut *rest) {
            return T::add::<V, FULL>(by, whole, &c, H8 || EVEN_ODD_SPLIT);
        }
        let mut copy = [T::zeroed(); BLOCK];
        copy[..rest.len()].copy_from_slice(rest);
        T::add::<V, FULL>(by, &mut copy, &c, H8 || EVEN_ODD_SPLIT);
        rest.copy_from_slice(&copy[..rest.len()]);
    }
}

// Blocks are constant parameters, so that the indices into the lags are constants.
#[inline(always)]
fn fused<V: Vector, T: Code, const H8: bool, const FULL: bool, const EVEN_ODD_SPLIT: bool>(
    any: V,
    row: &mut [T],
    lanes: &Lanes,
    params: KernelParams<T>,
) {
    let by = Adds::new(any, params);
    let mut lags = LagState::<V, H8, EVEN_ODD_SPLIT>::new(any, lanes);
    let (blocks, _) = row.as_chunks_mut::<BLOCK>();
    let (turns, _) = blocks.as_chunks_mut::<4>();
    let done = turns.len() * 4 * BLOCK;
    for [a, b, c, d] in turns {
        lags.turn::<T, FULL, 0>(&by, a);
        lags.turn::<T, FULL, 1>(&by, b);
        lags.turn::<T, FULL, 2>(&by, c);
        lags.turn::<T, FULL, 3>(&by, d);
    }
    let mut rests = row[done..].chunks_mut(BLOCK);
    lags.rest::<T, FULL, 0>(&by, rests.next());
    lags.rest::<T, FULL, 1>(&by, rests.next());
    lags.rest::<T, FULL, 2>(&by, rests.next());
    lags.rest::<T, FULL, 3>(&by, rests.next());
}

/// Adds existing numbers: `c \| or`.
#[inline(always)]
fn rows_body<V: Vector, T: Code>(any: V, row: &mut [T], c: &[u16], or: i16, params: KernelParams<T>) -> bool {
    let (by, or) = (Adds::new(any, params), any.splat16(or));
    let (step, n) = (V::BYTES / size_of::<T>(), row.len().min(c.len()));
    let mut rows = row[..n].chunks_exact_mut(step);
    let mut numbers = c[..n].chunks_exact(step);
    for (samples, c) in (&mut rows).zip(&mut numbers) {
        prefetch_at(samples.as_ptr().wrapping_byte_add(AHEAD));
        add_given(&by, or, samples, c);
    }
    let (rest, rest_of_c) = (rows.into_remainder(), numbers.remainder());
    if !rest.is_empty() {
        let (mut samples, mut c) = ([T::zeroed(); BLOCK], [0; BLOCK]);
        samples[..rest.len()].copy_from_slice(rest);
        c[..rest.len()].copy_from_slice(rest_of_c);
        add_given(&by, or, &mut samples[..step], &c[..step]);
        rest.copy_from_slice(&samples[..rest.len()]);
    }
    true
}

/// One register of samples.
#[inline(always)]
fn add_given<V: Vector, T: Code>(by: &Adds<V>, or: V, samples: &mut [T], c: &[u16]) {
    // There are two registers of numbers for a register of bytes, and one for words.
    let second = &c[c.len() - V::BYTES / 2..];
    T::add::<V, false>(by, samples, &[or.load(c).or(or), or.load(second).or(or)], false);
}

#[cfg(test)]
mod tests;
