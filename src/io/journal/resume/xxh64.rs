//! XXH64 with seed 0, the checksum in manifests and segments. It protects against damage, not against an adversary.

use std::hash::Hasher;
use twox_hash::XxHash64;

/// Computes the checksum of bytes that arrive in pieces.
#[derive(Clone, Debug, Default)]
pub struct Xxh64(XxHash64);

impl Xxh64 {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The checksum of all bytes added.
    pub fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// The checksum of bytes.
pub fn xxh64(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_sums() {
        for (text, sum) in [
            ("", 0xef46_db37_51d8_e999),
            ("a", 0xd24e_c4f1_a98c_6e5b),
            ("abc", 0x44bc_2cf5_ad77_0999),
            // 39 bytes: a stripe, no word, a half word and single bytes
            ("Nobody inspects the spammish repetition", 0xfbce_a83c_8a37_8bf1),
        ] {
            assert_eq!(xxh64(text.as_bytes()), sum, "{text}");
        }
    }

    #[test]
    fn pieces_do_not_matter() {
        let bytes: Vec<u8> = (0..200u32).map(|i| (i * 37 % 251) as u8).collect();
        for len in 0..bytes.len() {
            for step in [1, 3, 8, 31, 32, 33] {
                let mut sum = Xxh64::default();
                bytes[..len].chunks(step).for_each(|piece| sum.update(piece));
                assert_eq!(sum.finish(), xxh64(&bytes[..len]), "{len} {step}");
            }
        }
    }
}
