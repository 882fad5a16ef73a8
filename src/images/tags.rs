//! Resolutions that the image library does not hand over: JFIF's density and TIFF's resolution tags.

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

const X_RESOLUTION: u16 = 282;
const Y_RESOLUTION: u16 = 283;
const RESOLUTION_UNIT: u16 = 296;

/// A classic TIFF's first directory.
struct Directory {
    big_endian: bool,
    first: usize,
    count: usize,
}

impl Directory {
    fn find(file: &[u8]) -> Option<Directory> {
        let big_endian = match file.get(..4)? {
            [b'I', b'I', 42, 0] => false,
            [b'M', b'M', 0, 42] => true,
            _ => return None,
        };
        let mut directory = Directory { big_endian, first: 0, count: 0 };
        let at = directory.long(file, 4)? as usize;
        directory.first = at.checked_add(2)?;
        directory.count = directory.short(file, at)?.into();
        Some(directory)
    }

    fn short(&self, file: &[u8], at: usize) -> Option<u16> {
        let bytes = file.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn long(&self, file: &[u8], at: usize) -> Option<u32> {
        let bytes = file.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// Where the 12 bytes of a tag's entry are.
    fn entry(&self, file: &[u8], tag: u16) -> Option<usize> {
        (0..self.count).map(|i| self.first + 12 * i).find(|&at| self.short(file, at) == Some(tag))
    }

    /// Where the two longs of a rational are.
    fn rational(&self, file: &[u8], tag: u16) -> Option<usize> {
        let at = self.entry(file, tag)?;
        (self.short(file, at + 2)? == 5).then_some(self.long(file, at + 8)? as usize)
    }
}

/// Whether a TIFF has a directory behind its first: another page, or a small picture for lists.
pub fn more_in_tiff(file: &[u8]) -> bool {
    let next = |dir: Directory| dir.long(file, dir.count.checked_mul(12)?.checked_add(dir.first)?);
    Directory::find(file).and_then(next).is_some_and(|at| at != 0)
}

/// Whether a WebP is an animation.
pub fn moves_in_webp(file: &[u8]) -> bool {
    file.get(12..16) == Some(b"VP8X") && file.get(20).is_some_and(|flags| flags & 2 != 0)
}

/// The resolution in a TIFF.
pub fn tiff_density(file: &[u8]) -> Option<Density> {
    let dir = Directory::find(file)?;
    let rational = |tag| {
        let at = dir.rational(file, tag)?;
        let (num, den) = (dir.long(file, at)?, dir.long(file, at.checked_add(4)?)?);
        (num > 0 && den > 0).then(|| f64::from(num) / f64::from(den))
    };
    let unit = match dir.entry(file, RESOLUTION_UNIT).and_then(|at| dir.short(file, at + 8)) {
        Some(1) => Unit::None,
        Some(3) => Unit::Centimetre,
        _ => Unit::Inch, // what TIFF says when the tag is missing
    };
    Some(Density { x: rational(X_RESOLUTION)?, y: rational(Y_RESOLUTION)?, unit })
}

/// Writes a resolution over the one that a TIFF has; `None` when it has no place for it.
pub fn set_tiff_density(file: &mut [u8], density: &Density) -> Option<()> {
    let dir = Directory::find(file)?;
    let (x, y, unit) = match (density.unit, density.per_inch()) {
        (Unit::Centimetre, _) => (density.x, density.y, 3u16),
        (_, Some((x, y))) => (x, y, 2),
        (_, None) => (density.x, density.y, 1),
    };
    let to_bytes = |v: u32| if dir.big_endian { v.to_be_bytes() } else { v.to_le_bytes() };
    for (tag, value) in [(X_RESOLUTION, x), (Y_RESOLUTION, y)] {
        let at = dir.rational(file, tag)?;
        // a whole number stays one; else ten thousandths, for 300 dots an inch said in metres
        let (num, den) = [1.0, 10_000.0]
            .into_iter()
            .map(|den| ((value * den + 0.5).clamp(1.0, u32::MAX.into()) as u32, den as u32))
            .find(|&(num, den)| (f64::from(num) - value * f64::from(den)).abs() < 1e-9 || den > 1)?;
        file.get_mut(at..at.checked_add(4)?)?.copy_from_slice(&to_bytes(num));
        file.get_mut(at + 4..at.checked_add(8)?)?.copy_from_slice(&to_bytes(den));
    }
    let at = dir.entry(file, RESOLUTION_UNIT)? + 8;
    let unit = if dir.big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
    file.get_mut(at..at + 2)?.copy_from_slice(&unit);
    Some(())
}
