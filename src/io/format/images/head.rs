//! A header with fields at fixed positions, in either byte order, as in Cineon and DPX.

use super::header_rate;
use grainfield_filters::ratio::Ratio;

/// An undefined number.
pub(super) const UNDEFINED: u32 = u32::MAX;

/// Size of a header in bytes, without user data.
pub(super) const HEAD: usize = 2048;
/// The largest user data that are kept, in bytes.
pub(super) const MAX_USER: usize = 1 << 20;

/// A header followed by the user data.
#[derive(Clone, Debug)]
pub struct FilmHeader {
    pub(super) bytes: Vec<u8>,
    pub(super) little: bool,
    /// Whether user data were truncated.
    pub(super) cut: bool,
}

impl FilmHeader {
    pub(super) fn word(&self, at: usize) -> u32 {
        let b = &self.bytes[at..at + 4];
        let b = [b[0], b[1], b[2], b[3]];
        if self.little { u32::from_le_bytes(b) } else { u32::from_be_bytes(b) }
    }

    pub(super) fn put(&mut self, at: usize, value: u32) {
        let b = if self.little { value.to_le_bytes() } else { value.to_be_bytes() };
        self.bytes[at..at + 4].copy_from_slice(&b);
    }

    pub(super) fn short(&self, at: usize) -> u16 {
        let b = [self.bytes[at], self.bytes[at + 1]];
        if self.little { u16::from_le_bytes(b) } else { u16::from_be_bytes(b) }
    }

    pub(super) fn put_short(&mut self, at: usize, value: u16) {
        let b = if self.little { value.to_le_bytes() } else { value.to_be_bytes() };
        self.bytes[at..at + 2].copy_from_slice(&b);
    }

    pub(super) fn number(&self, at: usize) -> Option<u32> {
        Some(self.word(at)).filter(|&v| v != UNDEFINED)
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        Some(self.bytes[at]).filter(|&v| v != u8::MAX)
    }

    pub(super) fn real(&self, at: usize) -> Option<f64> {
        let v = f32::from_bits(self.word(at));
        (v.is_finite() && v > 0.0).then(|| v.into())
    }

    /// The frame rate in a field, if it is a possible one.
    pub(super) fn rate(&self, at: usize) -> Option<Ratio> {
        // the shortest decimal number of single precision is the one that was meant
        header_rate(f32::from_bits(self.word(at)).to_string().parse().ok()?)
    }

    /// Writes the rate of the frames into those of the fields that state one, unless the first of these does already.
    pub(super) fn set_rate(&mut self, fields: &[usize], rate: Ratio) {
        let stated: Vec<_> = fields.iter().filter_map(|&at| Some((at, self.rate(at)?))).collect();
        if stated.first().is_some_and(|first| first.1 != rate) && rate > Ratio::ZERO {
            stated.iter().for_each(|field| self.put(field.0, (rate.to_f64() as f32).to_bits()));
        }
    }

    pub(super) fn text(&self, (at, len): (usize, usize)) -> Option<String> {
        let bytes = self.bytes[at..at + len].split(|b| matches!(b, 0 | 0xff)).next().unwrap_or_default();
        let text: String = String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_control()).collect();
        Some(text.trim().to_owned()).filter(|t| !t.is_empty())
    }
}
