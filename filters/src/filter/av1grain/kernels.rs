//! Rows of grain: copied from templates, and added to samples by their strength.
//!
//! Each kernel is a plain body, which is the definition, and one in registers for as many samples as fill them.

use super::template::{STRIDE, round2};
use crate::pixel::convert::CodeSample;
use crate::simd::{Level, Vector, multiversion};
use bytemuck::Pod;

/// `floor(strength grain / 2^15 + 1/2)`.
#[inline(always)]
fn noise(strength: i16, grain: i16) -> i16 {
    ((i32::from(strength) * i32::from(grain) + (1 << 14)) >> 15) as i16
}

/// Weights of the previous block and of the current one in turn, in 32nds, from the start of their overlap on. It has at
/// most two samples; more are weighted because registers have more.
pub(super) type Weights = [i16; 8];
pub(super) const WHOLE: &Weights = &[27, 17, 17, 27, 0, 32, 0, 32];
pub(super) const HALVED: &Weights = &[23, 22, 0, 32, 0, 32, 0, 32];
const ALONE: &Weights = &[0, 32, 0, 32, 0, 32, 0, 32];

/// Samples of a template behind a block that are read with it.
const BEHIND: usize = 8;

/// A sample where two blocks overlap.
#[inline(always)]
fn blend(old: i16, new: i16, [a, b]: [i16; 2], limit: i16) -> i16 {
    let sum = i32::from(old) * i32::from(a) + i32::from(new) * i32::from(b);
    round2(sum, 5).clamp(-i32::from(limit), i32::from(limit) - 1) as i16
}

/// The blocks of a row in a template, and their overlap.
#[derive(Clone, Copy)]
pub(super) struct Layout<'a> {
    pub template: &'a [i16],
    /// Where the first row of each block begins.
    pub starts: &'a [i16],
    /// The row of the blocks.
    pub row: usize,
    /// `None`: blocks do not overlap.
    pub weights: Option<&'a Weights>,
    pub limit: i16,
}

impl Layout<'_> {
    /// The row of a block of `width` samples, and what is behind it.
    #[inline(always)]
    fn block(&self, start: i16, width: usize) -> &[i16] {
        &self.template[start as usize + self.row * STRIDE..][..width + BEHIND]
    }
}

/// Fills a row of blocks that are `width` wide. `first`: the number of blocks that are there.
fn fill_plain(out: &mut [i16], width: usize, of: Layout<'_>, first: usize) {
    for (i, block) in out.chunks_mut(width).enumerate().skip(first) {
        block.copy_from_slice(&of.block(of.starts[i], width)[..block.len()]);
        if let (Some(before), Some(weights)) = (i.checked_sub(1), of.weights) {
            let before = &of.block(of.starts[before], width)[width..];
            for ((v, &old), &weights) in block.iter_mut().zip(before).zip(weights.as_chunks::<2>().0) {
                *v = blend(old, *v, weights, of.limit);
            }
        }
    }
}

#[inline(always)]
fn fill_body<V: Vector>(any: V, out: &mut [i16], width: usize, of: Layout<'_>) -> usize {
    match (width, V::BYTES) {
        (32, _) => fill::<V, 32>(any, out, of),
        (16, 64) => fill::<V::Half, 16>(any.lower(), out, of),
        (16, _) => fill::<V, 16>(any, out, of),
        _ => 0,
    }
}

/// The whole blocks of a row; returns their number.
#[inline(always)]
fn fill<V: Vector, const W: usize>(any: V, out: &mut [i16], of: Layout<'_>) -> usize {
    let (blocks, part) = (out.as_chunks_mut::<W>().0, any.lower().lower());
    let (weights, alone) = (part.load(of.weights.unwrap_or(ALONE)), part.load(ALONE));
    let (half, least, most) = (part.splat32(16), part.splat16(-of.limit), part.splat16(of.limit - 1));
    let mut before = None;
    for (block, &start) in blocks.iter_mut().zip(of.starts) {
        let from = of.block(start, W);
        for x in (0..W).step_by(V::BYTES / 2) {
            any.load(&from[x..]).store(&mut block[x..]);
        }
        if let Some(before) = before.filter(|_| of.weights.is_some()) {
            let (before, new) = (part.load::<i16>(before), part.load(from));
            let low = before.unpack_low16(new).madd16(weights).add32(half).shr_i32(5);
            let high = before.unpack_high16(new).madd16(alone).add32(half).shr_i32(5);
            low.pack_i32(high).max_i16(least).min_i16(most).store(block);
        }
        before = Some(&from[W..]);
    }
    blocks.len().min(of.starts.len())
}

#[inline(always)]
fn join_body(out: &mut [i16], above: &[i16], weights: [i16; 2], limit: i16) {
    for (v, &old) in out.iter_mut().zip(above) {
        *v = blend(old, *v, weights, limit);
    }
}

/// `shift` is 2 or 4, so the result fits 16 bits.
#[inline(always)]
fn between_body(strength: &mut [i16], codes: &[u16], low: &[u8], high: &[u8], shift: u32, left: u32) {
    for (((s, &code), &low), &high) in strength.iter_mut().zip(codes).zip(low).zip(high) {
        let (low, high) = (i16::from(low), i16::from(high));
        let part = (code & ((1 << shift) - 1)) as i16;
        *s = (low + (((high - low) * part + (1 << (shift - 1))) >> shift)) << left;
    }
}

#[inline(always)]
fn tops_body(tops: &mut [u8], codes: &[u16], shift: u32) {
    for (top, &code) in tops.iter_mut().zip(codes) {
        *top = (code >> shift).min(255) as u8;
    }
}

/// The highest code of the deepest samples, of 12 bits.
const HIGHEST: u16 = 4095;

/// How grain is added to codes.
#[derive(Clone, Copy)]
pub(super) struct Adding {
    /// The shift of 8-bit strengths after which [`noise`] is 15 bits to the right.
    pub left: u32,
    /// The lowest and the highest code of the result.
    pub limits: (i16, i16),
}

/// Codes to which grain is added.
pub(super) trait Grained: CodeSample {
    /// A strength: 8 bits that are shifted later, or 16.
    type Strength: Pod;

    /// The strength as [`noise`] takes it.
    fn strength(of: Self::Strength, left: u32) -> i16;

    /// Adds grain to two registers of 16-bit lanes, or one of bytes, from the start of each slice on.
    fn add<V: Vector>(any: V, row: &mut [Self], grain: &[i16], strength: &[Self::Strength], by: Adding);

    /// The means of two luma codes each for two registers, or the codes themselves.
    fn means<V: Vector>(any: V, luma: &[Self], pairs: bool) -> [V; 2];

    /// Codes, at most [`HIGHEST`], as two registers of 16-bit lanes.
    fn wide<V: Vector>(any: V, from: &[Self]) -> [V; 2];

    /// The inverse.
    fn narrow<V: Vector>(of: [V; 2], to: &mut [Self]);
}

impl Grained for u8 {
    type Strength = u8;

    #[inline(always)]
    fn strength(of: u8, left: u32) -> i16 {
        i16::from(of) << left
    }

    #[inline(always)]
    fn add<V: Vector>(any: V, row: &mut [u8], grain: &[i16], strength: &[u8], by: Adding) {
        let (mut codes, strength) = (u8::wide(any, row), u8::wide(any, strength));
        for (i, (code, strength)) in codes.iter_mut().zip(strength).enumerate() {
            let grain = any.load(&grain[i * V::BYTES / 2..]);
            *code = code.add16(strength.shl16(by.left).mulhrs_i16(grain));
        }
        let (low, high) = (any.splat8(by.limits.0 as u8), any.splat8(by.limits.1 as u8));
        let [a, b] = codes;
        a.pack_u16(b).unshuffle_after_pack().max_u8(low).min_u8(high).store(row);
    }

    #[inline(always)]
    fn means<V: Vector>(any: V, luma: &[u8], pairs: bool) -> [V; 2] {
        if !pairs {
            return u8::wide(any, luma);
        }
        let mut means = [any.load(luma), any.load(&luma[V::BYTES..])];
        for mean in &mut means {
            *mean = mean.add_pairs_u8().add16(any.splat16(1)).shr_u16(1);
        }
        means
    }

    #[inline(always)]
    fn wide<V: Vector>(any: V, from: &[u8]) -> [V; 2] {
        let (bytes, zero) = (any.load(from).preshuffle_for_unpack(), any.splat8(0));
        [bytes.unpack_low8(zero), bytes.unpack_high8(zero)]
    }

    #[inline(always)]
    fn narrow<V: Vector>([a, b]: [V; 2], to: &mut [u8]) {
        a.pack_u16(b).unshuffle_after_pack().store(to);
    }
}

impl Grained for u16 {
    type Strength = i16;

    #[inline(always)]
    fn strength(of: i16, _: u32) -> i16 {
        of
    }

    #[inline(always)]
    fn add<V: Vector>(any: V, row: &mut [u16], grain: &[i16], strength: &[i16], by: Adding) {
        let (low, high) = (any.splat16(by.limits.0), any.splat16(by.limits.1));
        for at in [0, V::BYTES / 2] {
            let noise = any.load(&strength[at..]).mulhrs_i16(any.load(&grain[at..]));
            any.load(&row[at..]).add16(noise).max_i16(low).min_i16(high).store(&mut row[at..]);
        }
    }

    #[inline(always)]
    fn means<V: Vector>(any: V, luma: &[u16], pairs: bool) -> [V; 2] {
        if !pairs {
            return u16::wide(any, luma);
        }
        let (one, ones) = (any.splat32(1), any.splat16(1));
        let mut means = [any; 2];
        for (i, mean) in means.iter_mut().enumerate() {
            let [a, b] = u16::wide(any, &luma[i * V::BYTES..]);
            let (a, b) = (a.madd16(ones).add32(one), b.madd16(ones).add32(one));
            *mean = a.shr_i32(1).pack_i32(b.shr_i32(1)).unshuffle_after_pack();
        }
        means
    }

    #[inline(always)]
    fn wide<V: Vector>(any: V, from: &[u16]) -> [V; 2] {
        let most = any.splat16(HIGHEST as i16);
        [any.load(from).min_u16(most), any.load(&from[V::BYTES / 2..]).min_u16(most)]
    }

    #[inline(always)]
    fn narrow<V: Vector>([a, b]: [V; 2], to: &mut [u16]) {
        a.store(to);
        b.store(&mut to[V::BYTES / 2..]);
    }
}

#[inline(always)]
fn add_body<V: Vector, T: Grained>(
    any: V,
    row: &mut [T],
    grain: &[i16],
    strength: &[T::Strength],
    by: Adding,
) -> usize {
    let mut done = 0;
    let rows = row.chunks_exact_mut(V::BYTES).zip(grain.chunks_exact(V::BYTES));
    for ((row, grain), strength) in rows.zip(strength.chunks_exact(V::BYTES)) {
        T::add(any, row, grain, strength, by);
        done += V::BYTES;
    }
    done
}

/// The index of chroma's strength, as a mix of the mean of luma and the chroma sample.
#[derive(Clone, Copy)]
pub(super) struct Mix {
    /// log2 of luma samples per chroma sample, horizontally.
    pub across: u8,
    /// The weights in 64ths.
    pub luma: i16,
    pub own: i16,
    pub offset: i16,
    /// The highest code.
    pub top: i16,
}

impl Mix {
    #[inline(always)]
    fn index(self, luma: u16, own: u16) -> u16 {
        let combined = i32::from(luma) * i32::from(self.luma) + i32::from(own) * i32::from(self.own);
        ((combined >> 6) + i32::from(self.offset)).clamp(0, self.top.into()) as u16
    }
}

fn mix_plain<T: Grained>(index: &mut [T], luma: &[T], own: &[T], mix: Mix) {
    for (x, (i, own)) in index.iter_mut().zip(own).enumerate() {
        let at = x << mix.across;
        // The last sample of an odd width has no second one.
        let next = if mix.across == 0 { at } else { (at + 1).min(luma.len() - 1) };
        let code = |v: T| v.code().min(HIGHEST);
        *i = T::from_code(mix.index((code(luma[at]) + code(luma[next]) + 1) >> 1, code(*own)));
    }
}

#[inline(always)]
fn mix_body<V: Vector, T: Grained>(any: V, index: &mut [T], luma: &[T], own: &[T], mix: Mix) -> usize {
    if mix.across > 1 {
        return 0;
    }
    let weights = any.splat16(mix.luma).unpack_low16(any.splat16(mix.own));
    let (offset, top) = (any.splat16(mix.offset), any.splat16(mix.top));
    let rows = index.chunks_exact_mut(V::BYTES).zip(own.chunks_exact(V::BYTES));
    let mut done = 0;
    for ((index, own), luma) in rows.zip(luma.chunks_exact(V::BYTES << mix.across)) {
        let (mut mixed, own) = (T::means(any, luma, mix.across == 1), T::wide(any, own));
        for (mixed, own) in mixed.iter_mut().zip(own) {
            let low = mixed.unpack_low16(own).madd16(weights).shr_i32(6);
            let high = mixed.unpack_high16(own).madd16(weights).shr_i32(6);
            *mixed = low.pack_i32(high).add16(offset).max_i16(any.splat16(0)).min_i16(top);
        }
        T::narrow(mixed, index);
        done += V::BYTES;
    }
    done
}

multiversion! {
    /// Returns the number of blocks that it has filled.
    fn fill_blocks(level, out: &mut [i16], width: usize, of: Layout<'_>) -> usize => fill_body;
    /// Blends a row with that of the stripe above.
    pub(super) fn join(level, out: &mut [i16], above: &[i16], weights: [i16; 2], limit: i16) = join_body;
    /// The upper eight bits of codes.
    pub(super) fn tops(level, tops: &mut [u8], codes: &[u16], shift: u32) = tops_body;
    /// Strengths, interpolated between two.
    pub(super) fn between(
        level, strength: &mut [i16], codes: &[u16], low: &[u8], high: &[u8], shift: u32, left: u32,
    ) = between_body;
    fn add_registers<T: Grained>(
        level, row: &mut [T], grain: &[i16], strength: &[T::Strength], by: Adding,
    ) -> usize => add_body;
    fn mix_registers<T: Grained>(level, index: &mut [T], luma: &[T], own: &[T], mix: Mix) -> usize => mix_body;
}

/// Fills a row with blocks that are `width` wide.
pub(super) fn fill_row(level: Level, out: &mut [i16], width: usize, of: Layout<'_>) {
    let done = fill_blocks(level, out, width, of);
    fill_plain(out, width, of, done);
}

/// Adds grain times strength, and clips.
pub(super) fn add<T: Grained>(
    level: Level,
    row: &mut [T],
    grain: &[i16],
    strength: &[T::Strength],
    by: Adding,
) {
    let done = add_registers(level, row, grain, strength, by);
    for ((v, &g), &s) in row[done..].iter_mut().zip(&grain[done..]).zip(&strength[done..]) {
        let sum = (v.code() as i16).wrapping_add(noise(T::strength(s, by.left), g));
        *v = T::from_code(sum.clamp(by.limits.0, by.limits.1) as u16);
    }
}

/// The codes with which chroma's strength is looked up.
pub(super) fn mix_row<T: Grained>(level: Level, index: &mut [T], luma: &[T], own: &[T], mix: Mix) {
    let done = mix_registers(level, index, luma, own, mix);
    mix_plain(&mut index[done..], &luma[done << mix.across..], &own[done..], mix);
}
