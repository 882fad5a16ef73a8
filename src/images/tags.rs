//! What the image library does not hand over: JFIF's density, and whether a WebP moves.

use super::{Density, Unit};

/// The density in a JPEG's JFIF head.
pub fn jfif_density(file: &[u8]) -> Option<Density> {
    let head = file.strip_prefix(&[0xff, 0xd8, 0xff, 0xe0])?;
    if head.get(2..7)? != b"JFIF\0" {
        return None;
    }
    let word = |i: usize| Some(f64::from(u16::from_be_bytes([*head.get(i)?, *head.get(i + 1)?])));
    let unit = match head.get(9)? {
        0 => Unit::None,
        1 => Unit::Inch,
        2 => Unit::Centimetre,
        _ => return None,
    };
    let density = Density { x: word(10)?, y: word(12)?, unit };
    (density.x > 0.0 && density.y > 0.0).then_some(density)
}

/// Whether a WebP is an animation.
pub fn moves_in_webp(file: &[u8]) -> bool {
    file.get(12..16) == Some(b"VP8X") && file.get(20).is_some_and(|flags| flags & 2 != 0)
}
