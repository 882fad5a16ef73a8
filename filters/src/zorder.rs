//! Z order (Morton order) of the cells of a picture: near cells have mostly near numbers, and an aligned square of
//! 2^k x 2^k cells is one range of numbers.
//!
//! Bit k of x is bit 2k of the number, and bit k of y the one above it.

/// The number of cell (x, y).
#[inline(always)]
pub const fn number(x: u16, y: u16) -> u32 {
    spread(x) | (spread(y) << 1)
}

/// The cell (x, y) with a number: the inverse of [`number`].
#[inline(always)]
pub const fn position(number: u32) -> (u16, u16) {
    (gather(number), gather(number >> 1))
}

/// Inserts a zero above each bit.
#[inline(always)]
const fn spread(v: u16) -> u32 {
    let mut v = v as u32;
    v = (v | (v << 8)) & 0x00ff_00ff;
    v = (v | (v << 4)) & 0x0f0f_0f0f;
    v = (v | (v << 2)) & 0x3333_3333;
    (v | (v << 1)) & 0x5555_5555
}

/// The bits with even numbers.
#[inline(always)]
const fn gather(v: u32) -> u16 {
    let mut v = v & 0x5555_5555;
    v = (v | (v >> 1)) & 0x3333_3333;
    v = (v | (v >> 2)) & 0x0f0f_0f0f;
    v = (v | (v >> 4)) & 0x00ff_00ff;
    (v | (v >> 8)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_interleave_the_bits_and_have_inverses() {
        assert_eq!((number(1, 0), number(0, 1), number(u16::MAX, u16::MAX)), (1, 2, u32::MAX));
        for x in 0..=u16::MAX {
            let spread = (0..16).map(|bit| u32::from(x >> bit & 1) << (2 * bit)).sum::<u32>();
            let y = x.wrapping_mul(40_503) ^ 0x5a5a;
            assert_eq!((number(x, 0), number(0, x)), (spread, 2 * spread));
            assert_eq!(position(number(x, y)), (x, y));
        }
    }

    #[test]
    fn an_aligned_square_is_a_range() {
        let first = number(48, 32);
        let numbers = (0..256).map(|i| number(48 + i % 16, 32 + i / 16));
        assert!(numbers.into_iter().all(|n| (first..first + 256).contains(&n)));
    }
}
