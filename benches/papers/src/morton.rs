//! Morton (Z) order in three dimensions: the bits of a cell's coordinates interleaved into one key, so that cells that
//! are near in space are mostly near in memory. The order of a picture's cells is [`grainfield_filters::zorder`].
//!
//! Bit k of x becomes bit 3k of the key, bit k of y the one above it, then z: x varies fastest.

/// Coordinates that a key can hold: 21 bits each.
const LIMIT: u32 = 1 << 21;

/// The middle of the range, which is cell 0.
const BIAS: i32 = 1 << 20;

/// Inserts two zeros between any two of the low 21 bits; higher bits are dropped.
#[inline(always)]
const fn spread3(v: u32) -> u64 {
    let mut v = (v & (LIMIT - 1)) as u64;
    v = (v | (v << 32)) & 0x001f_0000_0000_ffff;
    v = (v | (v << 16)) & 0x001f_0000_ff00_00ff;
    v = (v | (v << 8)) & 0x100f_00f0_0f00_f00f;
    v = (v | (v << 4)) & 0x10c3_0c30_c30c_30c3;
    (v | (v << 2)) & 0x1249_2492_4924_9249
}

/// The key of a signed cell, at most 2^63 - 1.
///
/// The origin is shifted to the middle of the range, which keeps the order along each axis. Cells beyond -2^20..2^20-1
/// are clamped to the border cell: a particle that is far away is kept in a border cell and is not lost.
#[inline(always)]
pub fn cell3(c: [i32; 3]) -> u64 {
    let [x, y, z] = c.map(|v| spread3((v.clamp(-BIAS, BIAS - 1) + BIAS) as u32));
    x | (y << 1) | (z << 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    /// One bit at a time, as the reference.
    fn slow(c: [u32; 3]) -> u64 {
        let bits = |bit: usize| (0..3).map(move |axis| u64::from(c[axis] >> bit & 1) << (bit * 3 + axis));
        (0..21).flat_map(bits).sum()
    }

    #[test]
    fn known_keys() {
        assert_eq!(cell3([i32::MIN; 3]), 0);
        assert_eq!(cell3([1 - BIAS; 3]), 7);
        assert_eq!(cell3([-BIAS, -BIAS, 2 - BIAS]), 32);
        assert_eq!(cell3([i32::MAX; 3]), u64::MAX >> 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 256,
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn equals_bit_by_bit(c: [u32; 3]) {
            let c = c.map(|v| v % LIMIT);
            prop_assert_eq!(cell3(c.map(|v| v as i32 - BIAS)), slow(c));
        }

        #[test]
        fn signed_cells_keep_their_order(a: i32, b: i32, y: i32) {
            let c = [a, b, y].map(|v| v >> 11);
            prop_assert_eq!(cell3([c[0], c[2], 0]).cmp(&cell3([c[1], c[2], 0])), c[0].cmp(&c[1]));
            prop_assert!(cell3([a, 0, 0]) <= cell3([a.saturating_add(1), 0, 0]));
        }
    }
}
