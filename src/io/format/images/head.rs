//! A header with fields at fixed positions, in either byte order, as in Cineon and DPX.

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

    pub(super) fn text(&self, (at, len): (usize, usize)) -> Option<String> {
        let bytes = self.bytes[at..at + len].split(|b| matches!(b, 0 | 0xff)).next().unwrap_or_default();
        let text: String = String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_control()).collect();
        Some(text.trim().to_owned()).filter(|t| !t.is_empty())
    }
}
