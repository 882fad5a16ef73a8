//! Makes inputs from others: a small mutator with a seed.

use super::LONGEST;

/// Numbers at which programs often fail.
const NUMBERS: [&str; 20] = [
    "0",
    "-1",
    "1",
    "-0",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e308",
    "1e-320",
    "nan",
    "inf",
    "0.5",
    "99999999999999999999",
];

/// splitmix64.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 16) as usize % n.max(1)
    }

    /// A random element.
    pub fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> Option<&'a T> {
        of.get(self.below(of.len())).copied()
    }
}

/// Changes `data` a few times, with words of the target and parts of `other`.
pub fn mutate(data: &mut Vec<u8>, other: &[u8], words: &[&str], random: &mut Random) {
    for _ in 0..1 + random.below(4) * random.below(3) {
        once(data, other, words, random);
    }
    data.truncate(LONGEST);
}

/// A range of up to `most` within a length.
fn stretch(len: usize, most: usize, random: &mut Random) -> std::ops::Range<usize> {
    let start = random.below(len + 1);
    start..(start + random.below(most + 1)).min(len)
}

fn once(data: &mut Vec<u8>, other: &[u8], words: &[&str], random: &mut Random) {
    let here = stretch(data.len(), 1, random).start;
    match random.below(12) {
        0 => {
            if let Some(byte) = data.get_mut(here) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            if let Some(byte) = data.get_mut(here) {
                *byte = random.bits() as u8;
            }
        }
        2 => data.insert(here, random.bits() as u8),
        3 => drop(data.drain(stretch(data.len(), 16, random))),
        4 => {
            let copied = data[stretch(data.len(), 32, random)].to_vec();
            data.splice(here..here, copied);
        }
        // A splice of two.
        5 => {
            data.truncate(here);
            data.extend_from_slice(&other[random.below(other.len() + 1)..]);
        }
        6 => {
            let taken = other[stretch(other.len(), 64, random)].to_vec();
            data.splice(here..here, taken);
        }
        7 | 8 => {
            let word = random.one(words).unwrap_or("").bytes();
            data.splice(here..here, word);
        }
        9 => {
            let (word, gone) = (random.one(words).unwrap_or(""), stretch(data.len(), 8, random));
            data.splice(gone, word.bytes());
        }
        10 => number(data, random),
        _ => {
            let times = 1 << random.below(7);
            let part = data[stretch(data.len(), 12, random)].repeat(times);
            data.splice(here..here, part);
        }
    }
}

/// Replaces a number by another.
fn number(data: &mut Vec<u8>, random: &mut Random) {
    let starts: Vec<usize> = (0..data.len())
        .filter(|&i| data[i].is_ascii_digit() && (i == 0 || !data[i - 1].is_ascii_digit()))
        .collect();
    let Some(&start) = starts.get(random.below(starts.len())) else { return };
    let end = start + data[start..].iter().take_while(|b| b.is_ascii_digit()).count();
    let text =
        if random.below(4) == 0 { random.bits().to_string() } else { NUMBERS[random.below(20)].to_owned() };
    data.splice(start..end, text.bytes());
}
