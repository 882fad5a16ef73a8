//! The pseudo-random numbers of a particle: a seed is kept, everything drawn from it is made again when needed.

/// Mixes 32 bits: a bijection (multiply and xor-shift, with Wellons' `lowbias32` constants).
#[inline(always)]
pub const fn mix32(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// One step of the generator of "Compressing particles with pseudo-random seeds" (its Listing 2): the bits of the float before give a float in -1..1.
///
/// The low 23 bits of `214013 * bits + 2531011` become the mantissa of a float in 2..4, and 3 is taken off. The
/// subtraction is exact, so no machine rounds differently.
#[inline(always)]
pub const fn step(bits: u32) -> f32 {
    f32::from_bits(bits.wrapping_mul(214_013).wrapping_add(2_531_011) & 0x007f_ffff | 0x4000_0000) - 3.0
}

/// The numbers of one particle, in order.
///
/// Starts from the hash of the particle's seed: the generator is a lattice, and seeds that lie close together would
/// give numbers that do too. A sequence ends in a cycle of some thousand to 1.7 million numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Draws {
    bits: u32,
}

impl Draws {
    /// The numbers of the particle with this seed.
    #[inline(always)]
    pub const fn of(seed: u32) -> Draws {
        Draws { bits: mix32(seed) }
    }

    /// The raw generator, started from a float's bits without a hash, as that article does.
    #[inline(always)]
    pub const fn from_bits(bits: u32) -> Draws {
        Draws { bits }
    }

    /// The next number, -1 <= r < 1, a multiple of 2^-22.
    #[inline(always)]
    pub const fn draw(&mut self) -> f32 {
        let r = step(self.bits);
        self.bits = r.to_bits();
        r
    }

    /// Where the sequence stands: [`from_bits`](Draws::from_bits) goes on from here.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The float that the article starts from.
    const START: u32 = 0x4584_3800;

    #[test]
    fn golden_draws() {
        assert_eq!(4231.0f32.to_bits(), START);
        let mut draws = Draws::from_bits(START);
        let first: [u32; 8] = core::array::from_fn(|_| draws.draw().to_bits());
        assert_eq!(
            first,
            [
                0x3f67_db0c,
                0x3d0f_67c0,
                0x3dec_f060,
                0x3eca_6d18,
                0xbf59_2214,
                0x3f12_221c,
                0x3e9d_4378,
                0xbeea_5d28
            ]
        );
    }

    #[test]
    fn the_articles_distribution() {
        let mut draws = Draws::from_bits(START);
        let mut bins = [0u32; 100];
        for _ in 0..1_000_000 {
            bins[((draws.draw() + 1.0) * 50.0).floor() as usize] += 1;
        }
        let sd = (bins.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2)).sum::<f64>() / 100.0).sqrt();
        assert_eq!((bins.iter().min(), bins.iter().max()), (Some(&9829), Some(&10182)));
        assert!((sd - 71.989).abs() < 0.0005, "{sd}");
    }

    #[test]
    fn the_articles_cycle() {
        // Brent: the length of the cycle that the sequence from 4231.0 ends in.
        let next = |bits: u32| step(bits).to_bits();
        let (mut power, mut length, mut slow, mut fast) = (1u32, 1u32, START, next(START));
        while slow != fast {
            if power == length {
                (slow, power, length) = (fast, power * 2, 0);
            }
            fast = next(fast);
            length += 1;
        }
        assert_eq!(length, 1_675_857);
    }

    #[test]
    fn every_state_stays_in_range() {
        for bits in 0..1 << 23 {
            let r = step(bits);
            assert!((-1.0..1.0).contains(&r) && step(r.to_bits()).is_finite());
        }
    }

    #[test]
    fn hashed_seeds_in_a_row_are_unrelated() {
        // Correlation of the first draws of neighbours; the raw generator's is near 1 on this measure for many lags.
        for lag in 1..64u32 {
            let sum: f64 = (0..65_536u32)
                .map(|s| f64::from(Draws::of(s).draw()) * f64::from(Draws::of(s + lag).draw()))
                .sum();
            assert!((sum / 65_536.0 * 3.0).abs() < 5.0 / 256.0, "lag {lag}: {sum}");
        }
    }

    #[test]
    fn mix32_is_a_bijection_on_samples() {
        let mut seen: Vec<u32> = (0..1 << 16).map(|i: u32| mix32(i.wrapping_mul(0x0001_0001))).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 1 << 16);
    }
}
