//! Bit matrices over GF(2), the field of two elements: addition is XOR, multiplication is AND.
//!
//! A linear feedback shift register is a linear map of its state, so n steps of it are one product with a matrix
//! power. So noise can start at any frame, row or tile without stepping through the values before it.
//!
//! **Bit order.** A state is a *row* vector, and bit `i` of the word (value `1 << i`) is its element `i`. A map is
//! applied from the right, `x' = x * M`, so row `i` of a matrix is the image of bit `i`, and a product is the XOR
//! of the rows whose bits are set in `x`. `A * B` applies `A` first and then `B`.
//!
//! From simple and slow to fast:
//!
//! | what | how | for |
//! |---|---|---|
//! | [`Matrix32::pow`] | squaring and multiplying | computing the tables below |
//! | [`Powers32`] | M^(2^k) kept; one product a set bit of n | the reference for jumps |
//! | [`Jump32`] | M^(d * 256^k) kept, 128 kB; four products for any n below 2^32 | seeking, about 20 ns |

macro_rules! matrix {
    ($Matrix:ident, $Powers:ident, $Word:ident, $bits:literal) => {
        #[doc = concat!("A ", $bits, "x", $bits, " bit matrix; row `i` is where bit `i` goes.")]
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(align(64))]
        pub struct $Matrix {
            /// The image of each single bit.
            pub rows: [$Word; $bits],
        }

        impl $Matrix {
            /// The identity map.
            pub const IDENTITY: $Matrix = {
                let mut rows = [0; $bits];
                let mut i = 0;
                while i < $bits {
                    rows[i] = 1 << i;
                    i += 1;
                }
                $Matrix { rows }
            };

            /// The matrix of a map that must be linear (`f(a ^ b) = f(a) ^ f(b)`).
            pub fn of(f: impl Fn($Word) -> $Word) -> $Matrix {
                $Matrix { rows: core::array::from_fn(|i| f(1 << i)) }
            }

            /// `x * self`. It has no branches, so its time does not depend on the bits of `x`.
            #[inline(always)]
            pub fn apply(&self, x: $Word) -> $Word {
                let mut image = 0;
                for (i, row) in self.rows.iter().enumerate() {
                    image ^= row & (x >> i & 1).wrapping_neg();
                }
                image
            }

            /// `self * then`: first this map, then the other.
            pub fn then(&self, then: &$Matrix) -> $Matrix {
                $Matrix { rows: self.rows.map(|row| then.apply(row)) }
            }

            /// The `n`th power of this map; `n = 0` is the identity.
            pub fn pow(&self, mut n: u128) -> $Matrix {
                let (mut power, mut square) = ($Matrix::IDENTITY, *self);
                while n != 0 {
                    if n & 1 == 1 {
                        power = power.then(&square);
                    }
                    square = square.then(&square);
                    n >>= 1;
                }
                power
            }
        }

        impl core::fmt::Debug for $Matrix {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_list().entries(self.rows.iter().map(|r| format!("{r:x}"))).finish()
            }
        }

        #[doc = concat!("The powers M^(2^k), k below ", $bits, ", of one matrix.")]
        #[derive(Clone, Debug)]
        pub struct $Powers {
            squares: [$Matrix; $bits],
        }

        impl $Powers {
            /// Squares `m` repeatedly.
            pub fn new(m: &$Matrix) -> $Powers {
                let mut squares = [*m; $bits];
                for k in 1..$bits {
                    squares[k] = squares[k - 1].then(&squares[k - 1]);
                }
                $Powers { squares }
            }

            /// M^(2^k).
            pub fn square(&self, k: usize) -> &$Matrix {
                &self.squares[k]
            }

            /// `x * M^n`, one product for each bit of `n` that is set.
            pub fn jump(&self, x: $Word, n: $Word) -> $Word {
                let set = (0..$bits).filter(|k| n >> k & 1 == 1);
                set.fold(x, |x, k| self.squares[k].apply(x))
            }
        }
    };
}

matrix!(Matrix32, Powers32, u32, 32);
matrix!(Matrix64, Powers64, u64, 64);

/// The powers of one matrix by base-256 digits of the exponent: `digits[k][d]` is M^(d * 256^k).
#[derive(Clone)]
pub struct Jump32 {
    digits: Vec<[Matrix32; 256]>,
}

impl Jump32 {
    /// Computes four tables of 256 matrices, 128 kB.
    pub fn new(m: &Matrix32) -> Jump32 {
        let mut unit = *m;
        let digits = (0..4).map(|_| {
            let mut table = [Matrix32::IDENTITY; 256];
            for d in 1..256 {
                table[d] = table[d - 1].then(&unit);
            }
            unit = table[255].then(&unit);
            table
        });
        Jump32 { digits: digits.collect() }
    }

    /// M^(d * 256^k), k below 4.
    #[inline(always)]
    pub fn digit(&self, k: usize, d: u8) -> &Matrix32 {
        &self.digits[k][d as usize]
    }

    /// `x * M^n`, always four products.
    #[inline(always)]
    pub fn jump(&self, x: u32, n: u32) -> u32 {
        let digits = n.to_le_bytes();
        self.digits.iter().zip(digits).fold(x, |x, (table, d)| table[d as usize].apply(x))
    }
}

impl core::fmt::Debug for Jump32 {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Jump32({:?})", self.digits[0][1])
    }
}

/// The whole number `n` (negative too) reduced to the residue in `0..2^31 - 1`.
///
/// A generator whose states run through a cycle of 2^31 - 1 is moved by n steps exactly when it is moved by the
/// residue, so positions are computed as exact integers and reduced once.
#[cfg(test)]
pub(super) const fn mod_m31(n: i128) -> u32 {
    n.rem_euclid(M31 as i128) as u32
}

/// 2^31 - 1, a Mersenne prime: the period of a primitive generator of 31 bits.
pub const M31: u32 = (1 << 31) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn step32(x: u32) -> u32 {
        (x << 16).wrapping_add(((x >> 12) ^ (x >> 15)) & 0xffff)
    }
    fn step64(x: u64) -> u64 {
        let x = x ^ x << 13;
        let x = x ^ x >> 7;
        x ^ x << 17
    }

    #[test]
    fn apply_is_the_map() {
        let (m, n) = (Matrix32::of(step32), Matrix64::of(step64));
        let mut x = 0x0123_4567_89ab_cdefu64;
        for _ in 0..1000 {
            x = step64(x);
            assert_eq!(n.apply(x.rotate_left(7)), step64(x.rotate_left(7)));
            assert_eq!(m.apply(x as u32), step32(x as u32));
        }
        assert_eq!(Matrix32::IDENTITY.apply(0xdead_beef), 0xdead_beef);
    }

    #[test]
    fn order_of_a_product_is_left_then_right() {
        let (a, b) = (Matrix32::of(|x| x << 3), Matrix32::of(|x| x >> 1));
        assert_eq!(a.then(&b).apply(0xffff_ffff), (0xffff_ffffu32 << 3) >> 1);
        assert_eq!(b.then(&a).apply(0xffff_ffff), (0xffff_ffffu32 >> 1) << 3);
    }

    #[test]
    fn all_jumps_equal_steps() {
        let m = Matrix32::of(step32);
        let (powers, jump) = (Powers32::new(&m), Jump32::new(&m));
        let mut stepped = 0x1357_9bdfu32;
        for n in 0..2000u32 {
            assert_eq!(powers.jump(0x1357_9bdf, n), stepped);
            assert_eq!(jump.jump(0x1357_9bdf, n), stepped);
            assert_eq!(m.pow(n.into()).apply(0x1357_9bdf), stepped);
            stepped = step32(stepped);
        }
        for n in [65535, 65536, 0x0102_0304, 0x7fff_fffe, 0x8000_0001, 0xffff_ffff] {
            let direct = m.pow(n.into()).apply(77);
            assert_eq!((powers.jump(77, n), jump.jump(77, n)), (direct, direct), "{n:x}");
        }
    }

    #[test]
    fn wide_jumps_equal_steps() {
        let m = Matrix64::of(step64);
        let powers = Powers64::new(&m);
        let mut stepped = 42;
        for n in 0..500u64 {
            assert_eq!(powers.jump(42, n), stepped);
            stepped = step64(stepped);
        }
        let n = 0xfedc_ba98_7654_3210;
        assert_eq!(powers.jump(42, n), m.pow(n.into()).apply(42));
        // The period is 2^64 - 1 (Marsaglia's triple 13, 7, 17).
        assert_eq!(m.pow((1 << 64) - 1), Matrix64::IDENTITY);
    }

    #[test]
    fn residues_of_exact_integers() {
        let p = i128::from(M31);
        for (n, r) in
            [(0, 0), (-1, M31 - 1), (p, 0), (p + 5, 5), (-p - 1, M31 - 1), (1 << 31, 1), (1 << 62, 1)]
        {
            assert_eq!(mod_m31(n), r, "{n}");
        }
        // 2^31 = 1, so 2^126 = 2^(4*31 + 2) = 4.
        assert_eq!(mod_m31(1 << 126), 4);
        assert_eq!(mod_m31(i128::MIN), M31 - 8);
    }
}
