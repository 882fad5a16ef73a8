//! Where seeds come from: one mixing function, one key, and one table that keeps layers apart.
//!
//! Filters, frames, planes, rows and layers get keys of their own from [`mix64`], a bijection of 64 bits in which every
//! input bit changes half of the output bits. With the generator xs64 each key starts noise of its own. With lfsr31 a
//! key is a position in the one cycle that there is, and rows share words now and then: see
//! [its limits](super::lfsr31#limits).

/// The finaliser of SplitMix64 (Stafford's thirteenth variant): a bijection, with `mix64(0) = 0`.
#[inline(always)]
pub const fn mix64(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 2^64 divided by the golden ratio: the step between consecutive inputs of [`mix64`].
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The key of one row: a hash of seed, frame, plane and row. Another layer of noise of the same plane is asked for
/// with [`Layer::plane`] in the place of the plane's number.
#[inline]
pub const fn key(seed: u64, frame: i64, plane: u32, row: u32) -> u64 {
    key_of_frame(seed, frame).row(plane, row)
}

/// The half of [`key`] that is the same in all rows of a frame.
#[inline]
pub const fn key_of_frame(seed: u64, frame: i64) -> FrameKey {
    let step = (frame as u64).wrapping_add(1).wrapping_mul(0xd134_2543_de82_ef95);
    FrameKey(mix64(seed.wrapping_add(step)))
}

/// Seed and frame, mixed; see [`key`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameKey(u64);

impl FrameKey {
    /// The key of a row of a plane.
    #[inline]
    pub const fn row(self, plane: u32, row: u32) -> u64 {
        let place = ((plane as u64) << 32 | row as u64).wrapping_add(1);
        mix64(self.0.wrapping_add(place.wrapping_mul(0x9e6c_63d0_876a_9a47)))
    }
}

/// The hash FNV-1a of 64 bits.
pub const fn fnv1a64(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
        i += 1;
    }
    hash
}

/// A hash of 128 bits of some words: the key of a state, or of a table that follows from them.
pub fn hash128(words: impl IntoIterator<Item = u64>) -> u128 {
    let mut halves = [1, GOLDEN];
    for word in words {
        halves = halves.map(|h| mix64(h.wrapping_add(word).wrapping_mul(0x2545_f491_4f6c_dd1d)));
    }
    u128::from(halves[0]) << 64 | u128::from(halves[1])
}

/// The seed of a filter: of the user's seed, the filter's name, and how many filters of that name stand before it in
/// the chain. A filter's own `seed=` is used as it is and does not pass through here.
pub const fn filter_seed(user: u64, name: &str, before: u64) -> u64 {
    mix64(user.wrapping_add(fnv1a64(name.as_bytes())).wrapping_add(before.wrapping_mul(GOLDEN)))
}

/// Independent fields of noise that one filter draws for one plane. The numbers are part of every address, so they
/// are frozen: a new use takes a new number, and numbers are never reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layer(pub u32);

impl Layer {
    /// The noise itself, or the first octave of it.
    pub const BASE: Layer = Layer(0);
    /// Further octaves, 1 to 15: each half as fine as the one before.
    pub const OCTAVE: Layer = Layer(1);
    /// Slower fields of 1/f noise in time, 1 to 15.
    pub const TEMPORAL: Layer = Layer(16);
    /// Rounding by dither.
    pub const DITHER: Layer = Layer(32);
    /// The offset of a dither mask from frame to frame.
    pub const DITHER_OFFSET: Layer = Layer(33);
    /// Grain that the channels of RGB have in common.
    pub const COMMON: Layer = Layer(34);
    /// Exposure that wobbles.
    pub const EXPOSURE: Layer = Layer(35);
    /// Where a frame stands in the gate.
    pub const WEAVE: Layer = Layer(36);
    /// Frames that jump.
    pub const HOP: Layer = Layer(37);
    /// The coarser part of grain of several sizes, and what the channels of RGB have of it in common.
    pub const COARSE: Layer = Layer(38);
    /// See [`Layer::COARSE`].
    pub const COARSE_COMMON: Layer = Layer(39);
    /// Patches of grain from a plate.
    pub const PLATE: Layer = Layer(40);
    /// Where deband looks, 4 iterations.
    pub const DEBAND: Layer = Layer(41);
    /// The noise of analogue signals: of the connection, then of 8 copies.
    pub const ANALOG: Layer = Layer(45);
    /// The events of lines of an analogue tape.
    pub const ANALOG_LINES: Layer = Layer(54);
    /// The octaves of air.
    pub const AIR: Layer = Layer(55);
    /// Slower fields of octaves 1 to 15: 256 + 16 * octave + field.
    pub const MIXED: Layer = Layer(256);

    /// The layer of an octave (0 is the finest) and of a field of 1/f noise in time (0 is the fastest), 0 to 15 each.
    pub const fn of(octave: u32, voice: u32) -> Layer {
        debug_assert!(octave < 16 && voice < 16);
        match (octave, voice) {
            (0, 0) => Layer::BASE,
            (0, voice) => Layer(Layer::TEMPORAL.0 + voice),
            (octave, 0) => Layer(Layer::OCTAVE.0 + octave - 1),
            (octave, voice) => Layer(Layer::MIXED.0 + 16 * octave + voice),
        }
    }

    /// The value of a key in the position of the plane's number.
    #[inline]
    pub const fn plane(self, plane: u32) -> u32 {
        self.0 << 8 | plane
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_keys() {
        assert_eq!(key(0, 0, 0, 0), 0xe39c_99f1_07fb_6fb6);
        assert_eq!(key(1, 0, 0, 0), 0xda8d_1615_b1fb_a510);
        assert_eq!(key(0, 1, 0, 0), 0x8373_6efd_da7c_088c);
        assert_eq!(key(0x0123_4567_89ab_cdef, 1_000_000, 2, 1079), 0x0e35_4ab0_95ab_816f);
    }

    #[test]
    fn fnv_is_fnv() {
        assert_eq!(fnv1a64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a64(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a64(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn layers_are_all_different() {
        let mut seen = vec![
            Layer::DITHER,
            Layer::DITHER_OFFSET,
            Layer::COMMON,
            Layer::EXPOSURE,
            Layer::WEAVE,
            Layer::HOP,
            Layer::COARSE,
            Layer::COARSE_COMMON,
            Layer::PLATE,
            Layer::DEBAND,
            Layer::ANALOG,
            Layer::ANALOG_LINES,
            Layer::AIR,
        ];
        for layer in (0..16).flat_map(|octave| (0..16).map(move |voice| Layer::of(octave, voice))) {
            assert!(!seen.contains(&layer), "{layer:?}");
            seen.push(layer);
        }
        assert_eq!(Layer::of(3, 0), Layer(3));
        assert_eq!(Layer::of(0, 3), Layer(19));
    }

    #[test]
    fn filters_do_not_share_seeds() {
        let seeds = [
            filter_seed(0, "noise", 0),
            filter_seed(0, "noise", 1),
            filter_seed(1, "noise", 0),
            filter_seed(0, "grain", 0),
        ];
        for (i, a) in seeds.iter().enumerate() {
            assert!(seeds[..i].iter().all(|b| a != b));
        }
    }
}
