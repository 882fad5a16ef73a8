//! The response and addition in whole registers, for grain that fits 16-bit lanes and responses of 17 nodes, or by a
//! table of 8-bit codes.
#![allow(unsafe_code)] // loads and stores in rows whose lengths are checked once, not at each of their ten places

use super::kernel::{Fields, MARGIN, MIX_HALF, MIX_SHIFT, Sources, TURN, Taps};
use super::response::{Codes, Nodes, Ramp};
use crate::pixel::convert::CodeSample;
use crate::simd::{Vector, multiversion, prefetch_at};
use core::marker::PhantomData;

/// The prefetch distance in bytes, ahead of the samples that are being changed.
const AHEAD: usize = 2048;

/// Codes to u, S at the nodes, and the shift of its products: 14 to 30; for 8-bit samples at least 17.
type NodeResponse<'a> = (Ramp, &'a Nodes, u32);

/// A row to write, the samples to which grain is added (`None`: those of the row itself), and those whose brightness
/// counts (`None`: the same).
pub(super) type Samples<'a, T> = (&'a mut [T], Option<&'a [T]>, Option<&'a [T]>);

multiversion! {
    /// Adds grain n to as many samples of a row as fill whole registers; returns their number.
    pub(super) fn add<T: GrainSample>(
        level, row: &mut [T], light: Option<&[T]>, n: &[i16], response: NodeResponse<'_>, legal: (T, T),
    ) -> usize => add_body;
    /// Computes grain from its sources and adds it, by the nodes of the response; `false` if there is no kernel for
    /// these fields.
    pub(super) fn finish<T: GrainSample>(
        level, samples: Samples<'_, T>, fields: &mut Fields<'_>, response: NodeResponse<'_>, legal: (T, T),
    ) -> bool => finish_body;
    /// The same with a table of codes.
    pub(super) fn finish_codes(
        level, samples: Samples<'_, u8>, fields: &mut Fields<'_>, codes: &Codes, legal: (u8, u8),
    ) -> bool => finish_codes_body;
    /// Means of two by two samples, for as many samples of two rows as fill whole registers; returns their
    /// number.
    pub(super) fn means<T: GrainSample>(level, out: &mut [T], upper: &[T], lower: &[T]) -> usize => means_body;
}

/// A sample of 8 or 16 bits in registers. A turn is as many samples as a register has bytes: one register or two.
pub(crate) trait GrainSample: CodeSample {
    fn splat<V: Vector>(self, any: V) -> V;
    /// The first turn of a slice; bytes are all in the first register.
    fn load<V: Vector>(any: V, from: &[Self]) -> [V; 2];
    fn store<V: Vector>(turn: [V; 2], to: &mut [Self]);
    /// Adds the grain of a turn of samples with the numbers n.
    fn add<V: Vector>(by: &Lines<V>, old: [V; 2], light: [V; 2], n: [V; 2], ends: [V; 2]) -> [V; 2];
    /// Means of two by two samples: of twice two neighbouring registers.
    fn means<V: Vector>(upper: [V; 2], lower: [V; 2]) -> V;
}

impl GrainSample for u8 {
    #[inline(always)]
    fn splat<V: Vector>(self, any: V) -> V {
        any.splat8(self)
    }

    #[inline(always)]
    fn load<V: Vector>(any: V, from: &[u8]) -> [V; 2] {
        [any.load(from); 2]
    }

    #[inline(always)]
    fn store<V: Vector>(turn: [V; 2], to: &mut [u8]) {
        turn[0].store(to);
    }

    #[inline(always)]
    fn add<V: Vector>(by: &Lines<V>, old: [V; 2], light: [V; 2], n: [V; 2], ends: [V; 2]) -> [V; 2] {
        let zero = n[0].splat8(0);
        let samples = old[0].preshuffle_for_unpack();
        let above = by.above::<u8>(light[0].preshuffle_for_unpack());
        let [first, second] = by.grain([zero.unpack_low8(above), zero.unpack_high8(above)], n);
        let (first, second) =
            (samples.unpack_low8(zero).add16(first), samples.unpack_high8(zero).add16(second));
        [within(first.pack_u16(second).unshuffle_after_pack(), old[0], ends); 2]
    }

    #[inline(always)]
    fn means<V: Vector>(mut upper: [V; 2], lower: [V; 2]) -> V {
        let two = upper[0].splat16(2);
        for (a, b) in upper.iter_mut().zip(lower) {
            *a = a.add_pairs_u8().add16(b.add_pairs_u8()).add16(two).shr_u16(2);
        }
        upper[0].pack_u16(upper[1]).unshuffle_after_pack()
    }
}

impl GrainSample for u16 {
    #[inline(always)]
    fn splat<V: Vector>(self, any: V) -> V {
        any.splat16(self as i16)
    }

    #[inline(always)]
    fn load<V: Vector>(any: V, from: &[u16]) -> [V; 2] {
        [any.load(from), any.load(&from[V::BYTES / 2..])]
    }

    #[inline(always)]
    fn store<V: Vector>(turn: [V; 2], to: &mut [u16]) {
        turn[0].store(to);
        turn[1].store(&mut to[V::BYTES / 2..]);
    }

    #[inline(always)]
    fn add<V: Vector>(by: &Lines<V>, old: [V; 2], light: [V; 2], n: [V; 2], [lo, hi]: [V; 2]) -> [V; 2] {
        let inside = [by.above::<u16>(light[0]).shl16(by.up), by.above::<u16>(light[1]).shl16(by.up)];
        let mut turn = by.any_grain(inside, n);
        // Shifted by 2^15 codes fit signed lanes, whose addition saturates at both ends.
        let sign = lo.splat16(i16::MIN);
        for (sum, old) in turn.iter_mut().zip(old) {
            *sum = old.xor(sign).adds_i16(*sum).xor(sign).min_u16(old.max_u16(hi)).max_u16(old.min_u16(lo));
        }
        turn
    }

    #[inline(always)]
    fn means<V: Vector>(mut upper: [V; 2], lower: [V; 2]) -> V {
        // Samples are shifted by 2^15 to be signed, and their means back.
        let (one, sign, two) = (upper[0].splat16(1), upper[0].splat16(i16::MIN), upper[0].splat32(2));
        for (a, b) in upper.iter_mut().zip(lower) {
            *a = a.xor(sign).madd16(one).add32(b.xor(sign).madd16(one)).add32(two).shr_i32(2);
        }
        upper[0].pack_i32(upper[1]).unshuffle_after_pack().xor(sign)
    }
}

/// Bytes clamped to the legal codes, or to the value of the sample beyond them.
#[inline(always)]
fn within<V: Vector>(sum: V, old: V, [lo, hi]: [V; 2]) -> V {
    sum.min_u8(old.max_u8(hi)).max_u8(old.min_u8(lo))
}

/// A response of nodes: its sixteen segments are looked up by bits of u.
pub(crate) struct Lines<V> {
    /// The tables of all of u, of its first and of its last sixteenth.
    base: [[V; 2]; 3],
    slope: [[V; 2]; 3],
    /// Base and slope of the same segments, for registers without a shuffle.
    pairs: [[i16; 2]; 64],
    low: V,
    span: V,
    stretch: V,
    up: u32,
    half: V,
    shift: u32,
}

impl<V: Vector> Lines<V> {
    #[inline(always)]
    fn new<T: GrainSample>(zero: V, (ramp, nodes, shift): NodeResponse<'_>) -> Lines<V> {
        let [all, first, last] = nodes.tables();
        let mut pairs = [[0; 2]; 64];
        for (pairs, [base, slope]) in pairs.chunks_exact_mut(16).zip([&all, &first, &last]) {
            for (i, pair) in pairs.iter_mut().enumerate() {
                *pair = [base[i], slope[i]];
            }
        }
        Lines {
            pairs,
            base: [zero.table16(&all[0]), zero.table16(&first[0]), zero.table16(&last[0])],
            slope: [zero.table16(&all[1]), zero.table16(&first[1]), zero.table16(&last[1])],
            low: T::from_code(ramp.low).splat(zero),
            span: T::from_code(ramp.span).splat(zero),
            stretch: zero.splat16(ramp.stretch as i16),
            up: ramp.shift,
            // Wide products get a half of the rounding half, which counts twice.
            half: zero.splat16(if shift < 17 { 1 << (shift - 2) } else { 1 << (shift - 17) }),
            shift,
        }
    }

    /// Codes above black, at most those of white.
    #[inline(always)]
    fn above<T: GrainSample>(&self, light: V) -> V {
        if size_of::<T>() == 1 {
            light.subs_u8(self.low).min_u8(self.span)
        } else {
            light.subs_u16(self.low).min_u16(self.span)
        }
    }

    /// The lines `i` of a table at their parts.
    #[inline(always)]
    fn lines(&self, table: usize, i: [V; 2], part: [V; 2]) -> [V; 2] {
        let mut s = i[0].look_up16(i[1], self.base[table]);
        let slope = i[0].look_up16(i[1], self.slope[table]);
        for (s, (slope, part)) in s.iter_mut().zip(slope.into_iter().zip(part)) {
            *s = s.add16(slope.mulhi_i16(part));
        }
        s
    }

    /// The grain of numbers n in codes, for a shift of 17 and more. `inside`: codes above black, in the upper bits.
    #[inline(always)]
    fn grain(&self, inside: [V; 2], mut n: [V; 2]) -> [V; 2] {
        for (n, s) in n.iter_mut().zip(self.gains(inside)) {
            *n = n.mulhi_i16(s).add16(self.half).shr_i16(self.shift - 16);
        }
        n
    }

    /// The same for any shift.
    #[inline(always)]
    fn any_grain(&self, inside: [V; 2], mut n: [V; 2]) -> [V; 2] {
        if self.shift >= 17 {
            return self.grain(inside, n);
        }
        for (n, s) in n.iter_mut().zip(self.gains(inside)) {
            let two = n.splat16(2);
            let low = n.unpack_low16(two).madd16(s.unpack_low16(self.half)).shr_i32(self.shift);
            let high = n.unpack_high16(two).madd16(s.unpack_high16(self.half)).shr_i32(self.shift);
            *n = low.pack_i32(high);
        }
        n
    }

    /// The gains S of samples.
    #[inline(always)]
    fn gains(&self, inside: [V; 2]) -> [V; 2] {
        let [mut u, mut sixteenth, mut part] = [inside; 3];
        for (i, u) in u.iter_mut().enumerate() {
            *u = u.add16(u.mulhi_u16(self.stretch));
            sixteenth[i] = u.shr_u16(12);
            part[i] = u.shl16(3).and(u.splat16(0x7ff8));
        }
        let mut s = if V::LOOK_UPS { self.lines(0, sixteenth, part) } else { u };
        // Few samples are this near to black or white: turns without such samples skip this.
        let shifted = u[0].splat16(1 << 12);
        if u[0].add16(shifted).min_u16(u[1].add16(shifted)).shr_u16(13).any_zero16() {
            let (one, fourteen) = (u[0].splat16(1), u[0].splat16(14));
            let ([mut inner, mut inner_part], [mut first, mut last]) = ([u; 2], [u; 2]);
            for i in 0..2 {
                inner[i] = u[i].shl16(4).shr_u16(12);
                inner_part[i] = u[i].shl16(8).shr_u16(1);
                // All bits of the lanes in the first and in the last sixteenth.
                let zero = u[i].splat16(0);
                first[i] = zero.sub16(one.subs_u16(sixteenth[i]));
                last[i] = zero.sub16(sixteenth[i].subs_u16(fourteen));
            }
            let [low, high] = if V::LOOK_UPS {
                [self.lines(1, inner, inner_part), self.lines(2, inner, inner_part)]
            } else {
                [u; 2]
            };
            for i in 0..2 {
                let ends = first[i].or(last[i]);
                let middle = ends.xor(u[i].splat16(-1));
                if V::LOOK_UPS {
                    s[i] = s[i].and(middle).or(low[i].and(first[i]).or(high[i].and(last[i])));
                } else {
                    let table = u[i].splat16(16).and(first[i]).or(u[i].splat16(32).and(last[i]));
                    sixteenth[i] = sixteenth[i].and(middle).or(inner[i].add16(table).and(ends));
                    part[i] = part[i].and(middle).or(inner_part[i].and(ends));
                }
            }
        }
        if !V::LOOK_UPS {
            for i in 0..2 {
                let [base, slope] = sixteenth[i].look_up_pairs(&self.pairs);
                s[i] = base.add16(slope.mulhi_i16(part[i]));
            }
        }
        s
    }
}

/// The source of numbers n.
pub(crate) trait Numbers<V> {
    /// The number of places where a register of them may begin.
    fn starts(&self) -> usize;

    /// A register of them from `x` on.
    ///
    /// # Safety
    /// `x` is less than [`starts`](Numbers::starts).
    unsafe fn at(&self, x: usize) -> V;
}

struct Given<'a, V>(V, &'a [i16]);

impl<V: Vector> Numbers<V> for Given<'_, V> {
    #[inline(always)]
    fn starts(&self) -> usize {
        (self.1.len() + 1).saturating_sub(V::BYTES / 2)
    }

    #[inline(always)]
    unsafe fn at(&self, x: usize) -> V {
        // SAFETY: the caller's promise.
        unsafe { self.0.read(self.1.as_ptr().add(x)) }
    }
}

/// Numbers computed from their sources. `FRESH` is the horizontal reach of the fresh row, 0 if there is none.
struct Field<'a, V, const FRESH: u8, const FIVE: bool> {
    any: V,
    h: [*const i16; 5],
    white: *const i16,
    out: *mut i16,
    across: [V; 2],
    down: [V; 2],
    /// The number of places where a register within whole iterations may begin.
    starts: usize,
    sources: PhantomData<&'a mut i16>,
}

impl<'a, V: Vector, const FRESH: u8, const FIVE: bool> Field<'a, V, FRESH, FIVE> {
    /// Panics if the sources do not suffice for a row of `width`.
    #[inline(always)]
    fn new(any: V, sources: &'a mut Sources<'_>, width: usize) -> Self {
        assert!(sources.suffice(width) && (FRESH > 0) == sources.fresh.is_some());
        assert!(FIVE == (sources.down.reach() == 2));
        let (white, out) = match &mut sources.fresh {
            Some((white, out)) => (white.as_ptr().wrapping_add(MARGIN), out.as_mut_ptr()),
            None => (core::ptr::null(), core::ptr::null_mut()),
        };
        let taps = |t: Taps| [any.splat16(t.a), any.splat16(t.b)];
        let (across, down) = (taps(sources.across), taps(sources.down));
        let starts = (width.next_multiple_of(TURN) + 1).saturating_sub(V::BYTES / 2);
        let h = sources.h.map(|h| h.as_ptr());
        Field { any, h, white, out, across, down, starts, sources: PhantomData }
    }
}

impl<V: Vector, const FRESH: u8, const FIVE: bool> Numbers<V> for Field<'_, V, FRESH, FIVE> {
    #[inline(always)]
    fn starts(&self) -> usize {
        self.starts
    }

    #[inline(always)]
    unsafe fn at(&self, x: usize) -> V {
        // SAFETY: `new` has found the rows h that are read here as long as whole turns, and by the caller's promise `x`
        // with a register is within.
        let h = |i: usize| unsafe { self.any.read(self.h[i].add(x)) };
        let fresh = if FRESH > 0 {
            // SAFETY: likewise the white row, which goes on for more than two numbers at either end.
            let white = |i: isize| unsafe { self.any.read(self.white.add(x).offset(i)) };
            let mut v = white(0).add16(white(-1).add16(white(1)).mulhi_i16(self.across[0]));
            if FRESH == 2 {
                v = v.adds_i16(white(-2).add16(white(2)).mulhi_i16(self.across[1]));
            }
            // SAFETY: likewise the row it is for, which `sources` holds for this field alone.
            unsafe { v.write(self.out.add(x)) };
            v
        } else {
            h(if FIVE { 4 } else { 3 })
        };
        let near = h(1).adds_i16(if FIVE { h(3) } else { fresh });
        let n = h(2).adds_i16(near.mulhi_i16(self.down[0]));
        if FIVE { n.adds_i16(h(0).adds_i16(fresh).mulhi_i16(self.down[1])) } else { n }
    }
}

/// The weighted sum of two fields.
struct Sum<A, B, V> {
    of: (A, B),
    /// Both weights, in every lane of 32 bits.
    weights: V,
    half: V,
}

impl<A, B, V: Vector> Sum<A, B, V> {
    #[inline(always)]
    fn new(any: V, of: (A, B), [w, v]: [i16; 2]) -> Self {
        let weights = any.splat16(w).unpack_low16(any.splat16(v));
        Sum { of, weights, half: any.splat32(MIX_HALF) }
    }
}

impl<A: Numbers<V>, B: Numbers<V>, V: Vector> Numbers<V> for Sum<A, B, V> {
    #[inline(always)]
    fn starts(&self) -> usize {
        self.of.0.starts().min(self.of.1.starts())
    }

    #[inline(always)]
    unsafe fn at(&self, x: usize) -> V {
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (self.of.0.at(x), self.of.1.at(x)) };
        let [low, high] = a.add_products16(b, self.weights, [self.half; 2]);
        low.shr_i32(MIX_SHIFT).pack_i32(high.shr_i32(MIX_SHIFT))
    }
}

/// Adds grain to a pair of registers.
trait AddGrain<V: Vector, T> {
    fn add(&self, old: [V; 2], light: [V; 2], n: [V; 2]) -> [V; 2];
}

/// A response of nodes, and the legal codes.
struct ByNodes<V>(Lines<V>, [V; 2]);

impl<V: Vector, T: GrainSample> AddGrain<V, T> for ByNodes<V> {
    #[inline(always)]
    fn add(&self, old: [V; 2], light: [V; 2], n: [V; 2]) -> [V; 2] {
        T::add(&self.0, old, light, n, self.1)
    }
}

/// A response of a table of codes, and the legal ones.
struct ByCodes<'a, V> {
    codes: &'a Codes,
    half: V,
    ends: [V; 2],
}

impl<V: Vector> AddGrain<V, u8> for ByCodes<'_, V> {
    #[inline(always)]
    fn add(&self, [old, _]: [V; 2], [light, _]: [V; 2], n: [V; 2]) -> [V; 2] {
        let [s, t] = if V::BYTE_TABLES {
            let i = light.preshuffle_for_unpack();
            let (low, high) = (i.look_up8(&self.codes.low), i.look_up8(&self.codes.high));
            [low.unpack_low8(high), low.unpack_high8(high)]
        } else {
            light.look_up_words(&self.codes.words)
        };
        let down = self.codes.shift - 16;
        let first = n[0].mulhi_i16(s).add16(self.half).shr_i16(down);
        let second = n[1].mulhi_i16(t).add16(self.half).shr_i16(down);
        let sign = old.splat8(0x80);
        [within(old.xor(sign).adds_i8(first.low_bytes(second)).xor(sign), old, self.ends); 2]
    }
}

/// Adds to the whole turns of a row, whose numbers begin at `first`; returns the number of samples.
#[inline(always)]
fn whole<V: Vector, T: GrainSample>(
    any: V,
    (row, from, light): Samples<'_, T>,
    (n, first): (&impl Numbers<V>, usize),
    by: &impl AddGrain<V, T>,
) -> usize {
    assert!(first + row.len() / V::BYTES * V::BYTES < n.starts() + V::BYTES / 2, "numbers for a shorter row");
    let mut done = 0;
    for block in row.chunks_exact_mut(V::BYTES) {
        prefetch_at(block.as_ptr().wrapping_byte_add(AHEAD));
        let here = done..done + V::BYTES;
        let old = match from {
            Some(from) => {
                prefetch_at(from[done..].as_ptr().wrapping_byte_add(AHEAD));
                T::load(any, &from[here.clone()])
            }
            None => T::load(any, block),
        };
        let light = match light {
            Some(light) => T::load(any, &light[here]),
            None => old,
        };
        let x = first + done;
        // SAFETY: the last register of the row begins half a turn before its end, which was found to be a place to begin.
        let n = unsafe { [n.at(x), n.at(x + V::BYTES / 2)] };
        T::store(by.add(old, light, n), block);
        done += V::BYTES;
    }
    done
}

#[inline(always)]
fn add_body<V: Vector, T: GrainSample>(
    any: V,
    row: &mut [T],
    light: Option<&[T]>,
    n: &[i16],
    response: NodeResponse<'_>,
    (lo, hi): (T, T),
) -> usize {
    let by = ByNodes(Lines::new::<T>(any, response), [lo.splat(any), hi.splat(any)]);
    whole(any, (row, None, light), (&Given(any, n), 0), &by)
}

/// A whole row; an incomplete turn is processed in a copy.
#[inline(always)]
fn fused<V: Vector, T: GrainSample>(
    any: V,
    (row, from, light): Samples<'_, T>,
    n: &impl Numbers<V>,
    by: &impl AddGrain<V, T>,
) {
    let done = whole(any, (row, from, light), (n, 0), by);
    let rest = &mut row[done..];
    if !rest.is_empty() {
        let (mut samples, mut lights) = ([T::zeroed(); TURN], [T::zeroed(); TURN]);
        samples[..rest.len()].copy_from_slice(from.map_or(&*rest, |from| &from[done..]));
        lights[..rest.len()].copy_from_slice(light.map_or(&samples[..rest.len()], |l| &l[done..]));
        whole(any, (&mut samples[..V::BYTES], None, Some(&lights)), (n, done), by);
        rest.copy_from_slice(&samples[..rest.len()]);
    }
}

/// The whole row by a kernel for the reach of the taps: any of a single field, and the usual ones of two.
#[inline(always)]
fn by_reach<V: Vector, T: GrainSample>(
    any: V,
    samples: Samples<'_, T>,
    fields: &mut Fields<'_>,
    by: &impl AddGrain<V, T>,
) -> bool {
    let (width, weights) = (samples.0.len(), fields.weights);
    let sources = match (&mut fields.first, &mut fields.second) {
        (sources, None) => sources,
        (fine, Some(coarse)) if fine.fresh.is_some() && coarse.fresh.is_some() && fine.down.reach() == 2 => {
            let fine = Field::<V, 2, true>::new(any, fine, width);
            if coarse.down.reach() == 2 {
                let coarse = Field::<V, 2, true>::new(any, coarse, width);
                fused(any, samples, &Sum::new(any, (fine, coarse), weights), by);
            } else if coarse.across.reach() < 2 {
                let coarse = Field::<V, 1, false>::new(any, coarse, width);
                fused(any, samples, &Sum::new(any, (fine, coarse), weights), by);
            } else {
                return false;
            }
            return true;
        }
        _ => return false,
    };
    let fresh = if sources.fresh.is_none() { 0 } else { sources.across.reach().max(1) };
    match (fresh, sources.down.reach() == 2) {
        (0, false) => fused(any, samples, &Field::<V, 0, false>::new(any, sources, width), by),
        (1, false) => fused(any, samples, &Field::<V, 1, false>::new(any, sources, width), by),
        (_, false) => fused(any, samples, &Field::<V, 2, false>::new(any, sources, width), by),
        (0, true) => fused(any, samples, &Field::<V, 0, true>::new(any, sources, width), by),
        (_, true) => fused(any, samples, &Field::<V, 2, true>::new(any, sources, width), by),
    }
    true
}

#[inline(always)]
fn finish_body<V: Vector, T: GrainSample>(
    any: V,
    samples: Samples<'_, T>,
    fields: &mut Fields<'_>,
    response: NodeResponse<'_>,
    (lo, hi): (T, T),
) -> bool {
    let by = ByNodes(Lines::new::<T>(any, response), [lo.splat(any), hi.splat(any)]);
    by_reach(any, samples, fields, &by)
}

#[inline(always)]
fn finish_codes_body<V: Vector>(
    any: V,
    samples: Samples<'_, u8>,
    fields: &mut Fields<'_>,
    codes: &Codes,
    (lo, hi): (u8, u8),
) -> bool {
    // Not for AVX2 and AVX-512 without VBMI, where nodes are faster.
    (V::BYTE_TABLES || V::BYTES == 16) && {
        let half = any.splat16(1 << (codes.shift - 17));
        let by = ByCodes { codes, half, ends: [any.splat8(lo), any.splat8(hi)] };
        by_reach(any, samples, fields, &by)
    }
}

#[inline(always)]
fn means_body<V: Vector, T: GrainSample>(any: V, out: &mut [T], upper: &[T], lower: &[T]) -> usize {
    /// The prefetch distance in bytes: luma is read from memory here first.
    const AHEAD: usize = 4096;
    let step = V::BYTES / size_of::<T>();
    let mut done = 0;
    let blocks = upper.chunks_exact(2 * step).zip(lower.chunks_exact(2 * step));
    for (out, (a, b)) in out.chunks_exact_mut(step).zip(blocks) {
        for line in a.chunks(64 / size_of::<T>()).chain(b.chunks(64 / size_of::<T>())) {
            prefetch_at(line.as_ptr().wrapping_byte_add(AHEAD));
        }
        let upper = [any.load(a), any.load(&a[step..])];
        T::means(upper, [any.load(b), any.load(&b[step..])]).store(out);
        done += step;
    }
    done
}
