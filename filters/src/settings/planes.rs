//! Names of planes.

use crate::frame::{Family, Format, PlaneSet};
use core::fmt;
use core::str::FromStr;

/// A set of planes by name or number, independent of a format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Planes(u16);

/// The names in the order of printing: bit `i` of [`Planes`] is name `i`.
const NAMES: &[u8; 11] = b"yuvrgba0123";

impl Planes {
    /// Every plane, including alpha.
    pub const ALL: Planes = Planes(1 << NAMES.len());

    /// The named planes that a picture of this format has; may be empty.
    ///
    /// `y` is luma or grey, `u` and `v` are colour differences, `r`, `g`, `b` colours, `a` is alpha; a number is
    /// a plane in the order of the format (`Y U V A`, `G B R A`, `Y A`).
    pub fn resolve(self, format: &Format) -> PlaneSet {
        let there = format.all_planes();
        if self == Planes::ALL {
            return there;
        }
        let number = |name: u8| match (name, format.family) {
            (b'g', _) if format.is_rgb() => Some(0),
            (b'b', _) if format.is_rgb() => Some(1),
            (b'r', _) if format.is_rgb() => Some(2),
            (b'y', _) if !format.is_rgb() => Some(0),
            (b'u', Family::Yuv) if !format.is_rgb() => Some(1),
            (b'v', Family::Yuv) if !format.is_rgb() => Some(2),
            (b'a', _) => format.alpha_plane(),
            (b'0'..=b'3', _) => Some(usize::from(name - b'0')),
            _ => None,
        };
        let named = self.names().filter_map(number).fold(PlaneSet::NONE, |set, p| set | PlaneSet::one(p));
        named & there
    }

    /// Whether luma or colour differences are named, so that RGB must be converted.
    pub fn name_yuv(self) -> bool {
        self != Planes::ALL
            && self.names().any(|n| b"yuv".contains(&n))
            && !self.names().any(|n| b"rgb0123".contains(&n))
    }

    /// Whether only colour differences are named, which grey pictures do not have.
    pub fn name_chroma_only(self) -> bool {
        self != Planes::ALL && self.names().all(|n| b"uv".contains(&n))
    }

    fn names(self) -> impl Iterator<Item = u8> {
        NAMES.iter().enumerate().filter(move |(i, _)| self.0 >> i & 1 == 1).map(|(_, &name)| name)
    }
}

/// Prints `all`, or the names in one word.
impl fmt::Display for Planes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Planes::ALL {
            return f.write_str("all");
        }
        self.names().try_for_each(|name| write!(f, "{}", char::from(name)))
    }
}

/// An error in a text of planes: the byte offset of a character that is not a plane, or of the end if there is
/// no name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("planes are named y u v, r g b, a (alpha), 0 to 3, or all: write yuv or y+a")]
pub struct PlanesError {
    /// Offset in bytes.
    pub at: usize,
}

impl FromStr for Planes {
    type Err = PlanesError;

    /// Parses `all`, or letters of either case and numbers, in one word (`yuv`) or separated (`y,u`, `Y+U`, `0 2`).
    fn from_str(text: &str) -> Result<Planes, PlanesError> {
        if text.trim_ascii() == "all" {
            return Ok(Planes::ALL);
        }
        let mut bits = 0;
        for (at, b) in text.bytes().enumerate() {
            match NAMES.iter().position(|n| *n == b.to_ascii_lowercase()) {
                Some(i) => bits |= 1 << i,
                None if b == b',' || b == b'+' || b.is_ascii_whitespace() => {}
                None => return Err(PlanesError { at }),
            }
        }
        if bits == 0 { Err(PlanesError { at: text.len() }) } else { Ok(Planes(bits)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Alpha, Depth};

    fn resolved(text: &str, family: Family, alpha: Alpha) -> u8 {
        let format = Format { alpha, ..Format::new(8, 8, family, Depth::Bits(8), (0, 0)) };
        text.parse::<Planes>().unwrap().resolve(&format).0
    }

    #[test]
    fn names_find_their_planes() {
        use Alpha::{None, Straight};
        for (text, family, alpha, planes) in [
            ("y", Family::Yuv, None, 0b001),
            ("uv", Family::Yuv, None, 0b110),
            ("yuva", Family::Yuv, None, 0b111),
            ("a", Family::Yuv, Straight, 0b1000),
            ("a", Family::Gray, Straight, 0b10),
            ("a", Family::Gray, None, 0),
            ("G", Family::Rgb, None, 0b001),
            ("b", Family::Rgb, None, 0b010),
            ("r", Family::Rgb, None, 0b100),
            ("rgb", Family::Yuv, None, 0),
            ("y", Family::Rgb, None, 0),
            ("0,2", Family::Rgb, None, 0b101),
            ("3", Family::Yuv, None, 0),
            (" all ", Family::Gray, Straight, 0b11),
            ("all", Family::Rgb, Straight, 0b1111),
        ] {
            assert_eq!(resolved(text, family, alpha), planes, "{text} {family:?}");
        }
    }

    #[test]
    fn printing_parses_back() {
        for bits in 1..1 << NAMES.len() {
            assert_eq!(Planes(bits).to_string().parse(), Ok(Planes(bits)));
        }
        assert_eq!(Planes::ALL.to_string().parse(), Ok(Planes::ALL));
        assert_eq!("0 + u,y".parse::<Planes>().unwrap().to_string(), "yu0");
        for (bad, at) in [("", 0), (" , ", 3), ("y,x", 2), ("yé", 1), ("ally", 1)] {
            assert_eq!(bad.parse::<Planes>(), Err(PlanesError { at }), "{bad}");
        }
    }
}
