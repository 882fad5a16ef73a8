//! Metadata that the image library does not provide: JFIF's density, a JPEG's components, whether Exif has more than
//! the orientation, and whether a WebP is animated.

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

/// Whether the orientation is the only entry of Exif data.
pub fn is_orientation_alone(exif: &[u8]) -> bool {
    let little = exif.starts_with(b"II");
    let bytes = |at: usize, count: usize| exif.get(at..at.checked_add(count)?);
    let number = |at, count| {
        let sum = |sum: usize, byte: &u8| (sum << 8) | usize::from(*byte);
        let bytes: &[u8] = bytes(at, count)?;
        Some(if little { bytes.iter().rev().fold(0, sum) } else { bytes.iter().fold(0, sum) })
    };
    let alone = || {
        let start = number(4, 4)?;
        let count = number(start, 2)?;
        let orientation = number(start.checked_add(2)?, 2)? == 274;
        let next = number(start.checked_add(14)?, 4).unwrap_or(0);
        Some(count == 1 && orientation && next == 0)
    };
    alone() == Some(true)
}

/// The number of a JPEG's components: 4 are cyan, magenta, yellow and black.
pub fn jpeg_components(file: &[u8]) -> Option<u8> {
    let mut at = 2;
    loop {
        let marker = *file.get(at + 1).filter(|_| file.get(at) == Some(&0xff))?;
        match marker {
            0xff => at += 1,
            // start of a frame: length, bits, height, width, components
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => return file.get(at + 9).copied(),
            0xda => return None,
            _ => at += 2 + usize::from(u16::from_be_bytes([*file.get(at + 2)?, *file.get(at + 3)?])),
        }
    }
}

/// Whether a WebP is an animation.
pub fn moves_in_webp(file: &[u8]) -> bool {
    file.get(12..16) == Some(b"VP8X") && file.get(20).is_some_and(|flags| flags & 2 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exif_of_an_orientation_alone() {
        let little = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        let big = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
        assert!(is_orientation_alone(little) && is_orientation_alone(big));
        // two tags, another tag, a second directory, a truncated one
        for (at, byte) in [(8, 2), (10, 0x13), (22, 1)] {
            let mut more = *little;
            more[at] = byte;
            assert!(!is_orientation_alone(&more), "{at}");
        }
        assert!(!is_orientation_alone(&little[..9]) && !is_orientation_alone(b""));
    }
}
