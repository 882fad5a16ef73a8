//! XXH64, the checksum that manifests and segments know bytes by: Y. Collet, "xxHash fast digest algorithm", version
//! 0.1.1. It guards against damage, not against an adversary.

const P1: u64 = 0x9e37_79b1_85eb_ca87;
const P2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const P3: u64 = 0x1656_67b1_9e37_79f9;
const P4: u64 = 0x85eb_ca77_c2b2_ae63;
const P5: u64 = 0x27d4_eb2f_1656_67c5;

/// The checksum of bytes that come piece by piece. The seed is 0.
#[derive(Clone, Debug)]
pub struct Xxh64 {
    lanes: [u64; 4],
    /// What does not fill a stripe yet.
    rest: [u8; 32],
    kept: usize,
    total: u64,
}

impl Default for Xxh64 {
    fn default() -> Xxh64 {
        let lanes = [P1.wrapping_add(P2), P2, 0, 0u64.wrapping_sub(P1)];
        Xxh64 { lanes, rest: [0; 32], kept: 0, total: 0 }
    }
}

fn round(lane: u64, input: u64) -> u64 {
    lane.wrapping_add(input.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1)
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    u64::from_le_bytes(word)
}

fn stripe(lanes: &mut [u64; 4], stripe: &[u8]) {
    for (lane, bytes) in lanes.iter_mut().zip(stripe.chunks_exact(8)) {
        *lane = round(*lane, word(bytes));
    }
}

impl Xxh64 {
    /// Takes more bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        self.total = self.total.wrapping_add(bytes.len() as u64);
        if self.kept > 0 {
            let take = bytes.len().min(32 - self.kept);
            self.rest[self.kept..self.kept + take].copy_from_slice(&bytes[..take]);
            self.kept += take;
            bytes = &bytes[take..];
            if self.kept < 32 {
                return;
            }
            stripe(&mut self.lanes, &self.rest);
            self.kept = 0;
        }
        let mut stripes = bytes.chunks_exact(32);
        let mut lanes = self.lanes;
        stripes.by_ref().for_each(|s| stripe(&mut lanes, s));
        self.lanes = lanes;
        let rest = stripes.remainder();
        self.rest[..rest.len()].copy_from_slice(rest);
        self.kept = rest.len();
    }

    /// The checksum of all that came.
    pub fn finish(&self) -> u64 {
        let [a, b, c, d] = self.lanes;
        let mut h = if self.total >= 32 {
            let turns = [a.rotate_left(1), b.rotate_left(7), c.rotate_left(12), d.rotate_left(18)];
            let sum = turns.into_iter().fold(0, u64::wrapping_add);
            self.lanes.iter().fold(sum, |h, &lane| (h ^ round(0, lane)).wrapping_mul(P1).wrapping_add(P4))
        } else {
            P5
        };
        h = h.wrapping_add(self.total);
        let rest = &self.rest[..self.kept];
        let mut words = rest.chunks_exact(8);
        for w in words.by_ref() {
            h = (h ^ round(0, word(w))).rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
        }
        let mut rest = words.remainder();
        if rest.len() >= 4 {
            h = (h ^ word(&rest[..4]).wrapping_mul(P1)).rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
            rest = &rest[4..];
        }
        for &byte in rest {
            h = (h ^ u64::from(byte).wrapping_mul(P5)).rotate_left(11).wrapping_mul(P1);
        }
        h = (h ^ (h >> 33)).wrapping_mul(P2);
        h = (h ^ (h >> 29)).wrapping_mul(P3);
        h ^ (h >> 32)
    }
}

/// The checksum of bytes.
pub fn xxh64(bytes: &[u8]) -> u64 {
    let mut all = Xxh64::default();
    all.update(bytes);
    all.finish()
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
