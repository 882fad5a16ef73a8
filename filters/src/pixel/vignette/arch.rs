//! Darkening in whole registers.
//!
//! A compiler widens products of 16 bits to 32, which halves the number of lanes; this kernel takes the upper halves
//! directly. It processes as many samples as fill registers and returns their number.

use super::Shade;
use crate::simd::{Vector, multiversion, prefetch_at};

/// The prefetch distance in bytes: parts of rows around the centre are skipped, and the hardware does not predict
/// where reading continues.
const AHEAD: usize = 4096;

multiversion! {
    /// Samples of 9 to 16 bits; `terms` are as many.
    pub(super) fn shade_u16(level, samples: &mut [u16], terms: &[u16], by: Shade) -> usize => shade_u16_body;
}

/// The loss at positions with these terms.
#[inline(always)]
fn loss<V: Vector>(term: V, by: Shade) -> V {
    let t = term.adds_u16(term.splat16(by.up as i16)).subs_u16(term.splat16(by.down as i16));
    let u = t.mulhi_u16(t);
    let v = u.mulhi_u16(t.xor(t.splat16(-1)));
    u.add16(v.add16(v)).mulhi_u16(t.splat16(by.amount as i16))
}

#[inline(always)]
fn shade_u16_body<V: Vector>(zero: V, samples: &mut [u16], terms: &[u16], by: Shade) -> usize {
    let nought = zero.splat16(by.zero as i16);
    let mut done = 0;
    for (block, terms) in samples.chunks_exact_mut(V::BYTES / 2).zip(terms.chunks_exact(V::BYTES / 2)) {
        prefetch_at(block.as_ptr().wrapping_byte_add(AHEAD));
        let (x, loss) = (zero.load(block), loss(zero.load(terms), by));
        let (over, under) = (x.subs_u16(nought), nought.subs_u16(x));
        let d = over.or(under);
        let e = d.mulhi_u16(loss).add16(d.mullo16(loss).shr_u16(15));
        x.sub16(e.min_u16(over)).add16(e.min_u16(under)).store(block);
        done += V::BYTES / 2;
    }
    done
}
