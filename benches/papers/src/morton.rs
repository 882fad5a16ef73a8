//! Morton (Z) order: the bits of a cell's coordinates interleaved into one key, so that cells that are near in space
//! are mostly near in memory.
//!
//! Bit k of x becomes bit 2k (or 3k) of the key, bit k of y the one above it, then z: x varies fastest. Bits are
//! spread by doubling the gaps (five or six shift-or-mask steps), which needs no table and vectorises.
//!
//! **Signed cells.** [`cell2`] and [`cell3`] shift the origin to the middle of the range: coordinate c becomes c +
//! 2^31 (2-D) or c + 2^20 (3-D). That keeps the order along each axis, so a key is smaller exactly when it comes
//! first in Z order around the lowest corner. In 3-D, cells beyond -2^20..2^20-1 are clamped to the border cell: a
//! particle that is far away is kept in a border cell and is not lost. If the corner of the domain is known, subtract
//! it and use [`encode2`] or [`encode3`], which gives denser keys.

/// Coordinates that [`encode3`] can hold: 21 bits each.
pub const LIMIT3: u32 = 1 << 21;

/// The middle of the 3-D range, which is cell 0 of [`cell3`].
const BIAS3: i32 = 1 << 20;

/// The middle of the 2-D range, which is cell 0 of [`cell2`].
const BIAS2: u32 = 1 << 31;

/// Inserts a zero between any two bits.
#[inline(always)]
const fn spread2(v: u32) -> u64 {
    let mut v = v as u64;
    v = (v | (v << 16)) & 0x0000_ffff_0000_ffff;
    v = (v | (v << 8)) & 0x00ff_00ff_00ff_00ff;
    v = (v | (v << 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    v = (v | (v << 2)) & 0x3333_3333_3333_3333;
    (v | (v << 1)) & 0x5555_5555_5555_5555
}

/// Gathers every second bit, from bit 0 up.
#[inline(always)]
const fn gather2(v: u64) -> u32 {
    let mut v = v & 0x5555_5555_5555_5555;
    v = (v | (v >> 1)) & 0x3333_3333_3333_3333;
    v = (v | (v >> 2)) & 0x0f0f_0f0f_0f0f_0f0f;
    v = (v | (v >> 4)) & 0x00ff_00ff_00ff_00ff;
    v = (v | (v >> 8)) & 0x0000_ffff_0000_ffff;
    (v | (v >> 16)) as u32
}

/// Inserts two zeros between any two of the low 21 bits; higher bits are dropped.
#[inline(always)]
const fn spread3(v: u32) -> u64 {
    let mut v = (v & (LIMIT3 - 1)) as u64;
    v = (v | (v << 32)) & 0x001f_0000_0000_ffff;
    v = (v | (v << 16)) & 0x001f_0000_ff00_00ff;
    v = (v | (v << 8)) & 0x100f_00f0_0f00_f00f;
    v = (v | (v << 4)) & 0x10c3_0c30_c30c_30c3;
    (v | (v << 2)) & 0x1249_2492_4924_9249
}

/// Gathers every third bit, from bit 0 up.
#[inline(always)]
const fn gather3(v: u64) -> u32 {
    let mut v = v & 0x1249_2492_4924_9249;
    v = (v | (v >> 2)) & 0x10c3_0c30_c30c_30c3;
    v = (v | (v >> 4)) & 0x100f_00f0_0f00_f00f;
    v = (v | (v >> 8)) & 0x001f_0000_ff00_00ff;
    v = (v | (v >> 16)) & 0x001f_0000_0000_ffff;
    ((v | (v >> 32)) & (LIMIT3 as u64 - 1)) as u32
}

/// The key of cell `[x, y]`.
#[inline(always)]
pub const fn encode2(c: [u32; 2]) -> u64 {
    spread2(c[0]) | (spread2(c[1]) << 1)
}

/// The cell of a key: the inverse of [`encode2`].
#[inline(always)]
pub const fn decode2(key: u64) -> [u32; 2] {
    [gather2(key), gather2(key >> 1)]
}

/// The key of cell `[x, y, z]`, at most 2^63 - 1. Each coordinate is taken mod [`LIMIT3`].
#[inline(always)]
pub const fn encode3(c: [u32; 3]) -> u64 {
    spread3(c[0]) | (spread3(c[1]) << 1) | (spread3(c[2]) << 2)
}

/// The cell of a key: the inverse of [`encode3`]. Bit 63 of the key is ignored.
#[inline(always)]
pub const fn decode3(key: u64) -> [u32; 3] {
    [gather3(key), gather3(key >> 1), gather3(key >> 2)]
}

/// The key of any signed cell.
#[inline(always)]
pub const fn cell2(c: [i32; 2]) -> u64 {
    encode2([c[0] as u32 ^ BIAS2, c[1] as u32 ^ BIAS2])
}

/// The signed cell of a key: the inverse of [`cell2`].
#[inline(always)]
pub const fn uncell2(key: u64) -> [i32; 2] {
    let [x, y] = decode2(key);
    [(x ^ BIAS2) as i32, (y ^ BIAS2) as i32]
}

/// The key of a signed cell; each coordinate is first clamped to -2^20..=2^20-1.
#[inline(always)]
pub fn cell3(c: [i32; 3]) -> u64 {
    encode3(c.map(|v| (v.clamp(-BIAS3, BIAS3 - 1) + BIAS3) as u32))
}

/// The signed cell of a key: the inverse of [`cell3`] for cells that were not clamped.
#[inline(always)]
pub fn uncell3(key: u64) -> [i32; 3] {
    decode3(key).map(|v| v as i32 - BIAS3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    /// One bit at a time, as the reference.
    fn slow<const D: usize>(c: [u32; D], bits: usize) -> u64 {
        let mut key = 0;
        for bit in 0..bits {
            for (axis, v) in c.iter().enumerate() {
                key |= u64::from(v >> bit & 1) << (bit * D + axis);
            }
        }
        key
    }

    #[test]
    fn known_keys() {
        assert_eq!(encode2([1, 0]), 1);
        assert_eq!(encode2([0, 1]), 2);
        assert_eq!(encode2([u32::MAX, u32::MAX]), u64::MAX);
        assert_eq!(encode3([1, 1, 1]), 7);
        assert_eq!(encode3([0, 0, 2]), 32);
        assert_eq!(encode3([LIMIT3 - 1; 3]), u64::MAX >> 1);
        assert_eq!(encode3([LIMIT3, 0, 0]), 0);
        assert_eq!(cell2([i32::MIN; 2]), 0);
        assert_eq!(cell3([i32::MIN; 3]), 0);
        assert_eq!(cell3([i32::MAX; 3]), u64::MAX >> 1);
    }

    #[test]
    fn every_single_bit() {
        for bit in 0..32 {
            for c in [[1 << bit, 0], [0, 1 << bit], [!(1 << bit), 0], [0, !(1 << bit)]] {
                assert_eq!(encode2(c), slow(c, 32));
                assert_eq!(decode2(encode2(c)), c);
            }
        }
        for bit in 0..21 {
            for axis in 0..3 {
                let mut c = [0; 3];
                c[axis] = 1 << bit;
                assert_eq!(encode3(c), slow(c, 21));
                assert_eq!(decode3(encode3(c)), c);
                let c = c.map(|v| !v & (LIMIT3 - 1));
                assert_eq!(encode3(c), slow(c, 21));
                assert_eq!(decode3(encode3(c)), c);
            }
        }
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
            let flat = [c[0], c[1]];
            prop_assert_eq!(encode2(flat), slow(flat, 32));
            prop_assert_eq!(decode2(encode2(flat)), flat);
            prop_assert_eq!(encode3(c), slow(c, 21));
            prop_assert_eq!(decode3(encode3(c)), c.map(|v| v & (LIMIT3 - 1)));
        }

        #[test]
        fn every_key_has_its_cell(key: u64) {
            prop_assert_eq!(encode2(decode2(key)), key);
            prop_assert_eq!(encode3(decode3(key)), key & (u64::MAX >> 1));
            prop_assert_eq!(cell2(uncell2(key)), key);
        }

        #[test]
        fn signed_cells_keep_their_order(a: i32, b: i32, y: i32) {
            prop_assert_eq!(uncell2(cell2([a, y])), [a, y]);
            prop_assert_eq!(cell2([a, y]).cmp(&cell2([b, y])), a.cmp(&b));
            let c = [a, b, y].map(|v| v >> 11);
            prop_assert_eq!(uncell3(cell3(c)), c);
            prop_assert_eq!(cell3([c[0], c[2], 0]).cmp(&cell3([c[1], c[2], 0])), c[0].cmp(&c[1]));
            prop_assert!(cell3([a, 0, 0]) <= cell3([a.saturating_add(1), 0, 0]));
        }
    }
}
