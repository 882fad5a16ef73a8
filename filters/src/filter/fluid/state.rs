//! A state as bytes, and back; and what it is known by.
//!
//! Little endian: version u32, steps u64, parcels u32; then places along x, along y, speeds along x, along y, by number,
//! each as four stretches of bytes, the highest first: those of a kind stand together, which is what packs well. Whoever
//! keeps the bytes sees to it that they come back as they were.

use crate::noise::seed::mix64;

/// The version of the scenes and of the bytes: another one makes another key.
const VERSION: u32 = 2;
const HEAD: usize = 16;

/// What states of a scene are known by: all that shapes them.
pub(super) fn key(words: &[u32]) -> u128 {
    let half = |start: u64| {
        words.iter().fold(start, |h, w| {
            mix64(
                h.wrapping_add(u64::from(*w))
                    .wrapping_mul(0x2545_f491_4f6c_dd1d)
                    .wrapping_add(VERSION.into()),
            )
        })
    };
    u128::from(half(0x666c_7569_6421)) << 64 | u128::from(half(0x9e37_79b9_7f4a_7c15))
}

/// What the state after so many steps is known by.
pub(super) fn at(key: u128, steps: u64) -> u128 {
    let half = |h: u64| mix64(h ^ mix64(steps.wrapping_add(0x9e37_79b9_7f4a_7c15)));
    u128::from(half((key >> 64) as u64)) << 64 | u128::from(half(key as u64).wrapping_add(steps))
}

pub(super) fn save(parcels: &[[f32; 4]], steps: u64) -> Vec<u8> {
    let n = parcels.len();
    let mut out = Vec::with_capacity(HEAD + 16 * n);
    out.extend(VERSION.to_le_bytes());
    out.extend(steps.to_le_bytes());
    out.extend((n as u32).to_le_bytes());
    for axis in 0..4 {
        for byte in (0..4).rev() {
            out.extend(parcels.iter().map(|p| (p[axis].to_bits() >> (8 * byte)) as u8));
        }
    }
    out
}

/// The parcels; `None` for bytes that are no state after so many steps, of at most so many parcels.
pub(super) fn load(bytes: &[u8], steps: u64, most: usize) -> Option<Vec<[f32; 4]>> {
    let (head, body) = bytes.split_first_chunk::<HEAD>()?;
    let n = u32::from_le_bytes(*head.last_chunk()?) as usize;
    let right = head[..4] == VERSION.to_le_bytes() && head[4..12] == steps.to_le_bytes();
    if !right || n > most || body.len() != 16 * n {
        return None;
    }
    let mut parcels = vec![[0f32; 4]; n];
    if n == 0 {
        return Some(parcels);
    }
    for (axis, part) in body.chunks_exact(4 * n).enumerate() {
        for (i, p) in parcels.iter_mut().enumerate() {
            let bits = (0..4).fold(0u32, |bits, byte| bits << 8 | u32::from(part[byte * n + i]));
            p[axis] = f32::from_bits(bits);
        }
    }
    Some(parcels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back_and_others_are_refused() {
        let parcels: Vec<[f32; 4]> =
            (0..100).map(|i| [0, 1, 2, 3].map(|k| (i * 4 + k) as f32 * -0.37)).collect();
        let bytes = save(&parcels, 48);
        assert_eq!(load(&bytes, 48, 100).as_deref(), Some(&parcels[..]));
        assert_eq!(load(&bytes, 49, 100), None);
        assert_eq!(load(&bytes, 48, 99), None);
        for cut in 0..bytes.len() {
            assert_eq!(load(&bytes[..cut], 48, 100), None);
        }
        assert_eq!(load(&save(&[], 0), 0, 0), Some(vec![]));
    }

    #[test]
    fn keys_differ() {
        let mut all = vec![key(&[]), key(&[0]), key(&[0, 0]), key(&[1, 0]), key(&[0, 1])];
        all.extend((0..100).map(|n| at(key(&[7]), n)));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
