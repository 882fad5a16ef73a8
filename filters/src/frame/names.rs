//! FFmpeg's names of planar pixel formats (`yuv420p10`, `gray16`, `gbrapf32`).

use super::{Alpha, ColorRange, Depth, Family, Format};

/// No planar pixel format has that name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the pixel format '{0}' is not known; known are gray, yuv420p, yuv422p, yuv444p, yuv440p, yuv411p, yuv410p, \
     yuva420p, yuva422p, yuva444p, gbrp, gbrap, each with 9 to 16 bits (yuv420p10), and grayf32, gbrpf32, gbrapf32"
)]
pub struct NameError(pub String);

const CHROMA: [(&str, (u8, u8)); 6] =
    [("420", (1, 1)), ("422", (1, 0)), ("444", (0, 0)), ("440", (0, 1)), ("411", (2, 0)), ("410", (2, 2))];

impl Format {
    /// The name of the pixel format, without the byte order: `yuv420p10`, `gbrapf32`, `ya16` for grey with alpha.
    pub fn name(&self) -> String {
        let alpha = if self.has_alpha() { "a" } else { "" };
        let suffix = match self.depth {
            Depth::Bits(8) => String::new(),
            Depth::Bits(n) => n.to_string(),
            Depth::Float => "f32".into(),
        };
        match self.family {
            Family::Gray if self.has_alpha() && self.depth == Depth::Bits(8) => "ya8".into(),
            Family::Gray if self.has_alpha() => format!("ya{suffix}"),
            Family::Gray => format!("gray{suffix}"),
            Family::Rgb => format!("gbr{alpha}p{suffix}"),
            Family::Yuv => {
                let chroma = CHROMA.iter().find(|c| c.1 == self.subsampling).map_or("???", |c| c.0);
                format!("yuv{alpha}{chroma}p{suffix}")
            }
        }
    }

    /// Makes a format of the given size from a pixel format name. Accepts the names that [`name`](Format::name)
    /// returns, the byte orders `le` and `be` (samples are always held in native order), and `yuvj420p` for
    /// full range.
    ///
    /// # Errors
    /// No pixel format has this name, or the size exceeds a limit.
    pub fn from_name(name: &str, width: u32, height: u32) -> Result<Format, NameError> {
        let err = || NameError(name.into());
        let base = name.strip_suffix("le").or(name.strip_suffix("be")).unwrap_or(name);
        let depth = |text: &str| match text {
            "" => Ok(Depth::Bits(8)),
            "f32" => Ok(Depth::Float),
            "9" | "10" | "11" | "12" | "13" | "14" | "15" | "16" => {
                text.parse().map(Depth::Bits).map_err(|_| err())
            }
            _ => Err(err()),
        };
        let make = |family, depth, subsampling, alpha| {
            let alpha = if alpha { Alpha::Straight } else { Alpha::None };
            Format { alpha, ..Format::new(width, height, family, depth, subsampling) }
        };
        if let Some(d) = base.strip_prefix("gray") {
            return Ok(make(Family::Gray, depth(d)?, (0, 0), false));
        }
        if let Some(d) = base.strip_prefix("gbrap") {
            return Ok(make(Family::Rgb, depth(d)?, (0, 0), true));
        }
        if let Some(d) = base.strip_prefix("gbrp") {
            return Ok(make(Family::Rgb, depth(d)?, (0, 0), false));
        }
        if let Some(rest) = base.strip_prefix("yuv") {
            let (rest, alpha) = rest.strip_prefix('a').map_or((rest, false), |r| (r, true));
            let (rest, full) = rest.strip_prefix('j').map_or((rest, false), |r| (r, true));
            let (chroma, d) = rest.split_once('p').ok_or_else(err)?;
            let sub = CHROMA.iter().find(|c| c.0 == chroma).ok_or_else(err)?.1;
            let mut format = make(Family::Yuv, depth(d)?, sub, alpha);
            if full {
                format.range = ColorRange::Full;
            }
            return Ok(format);
        }
        match base.strip_prefix("ya") {
            Some("8") => Ok(make(Family::Gray, Depth::Bits(8), (0, 0), true)),
            Some(d) if !d.is_empty() => Ok(make(Family::Gray, depth(d)?, (0, 0), true)),
            _ => Err(err()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in [
            "gray",
            "gray10",
            "gray16",
            "grayf32",
            "ya8",
            "ya16",
            "yuv420p",
            "yuv422p12",
            "yuv444p9",
            "yuv440p",
            "yuv411p",
            "yuv410p",
            "yuva420p",
            "yuva444p16",
            "gbrp",
            "gbrp16",
            "gbrap",
            "gbrapf32",
        ] {
            assert_eq!(Format::from_name(name, 8, 8).unwrap().name(), name);
        }
        assert_eq!(Format::from_name("yuv420p10le", 8, 8).unwrap().name(), "yuv420p10");
        assert!(Format::from_name("yuvj420p", 8, 8).unwrap().full_range());
        for bad in ["", "yuv", "yuv420", "yuv430p", "gray8x", "rgb24", "yuv420p17", "ya", "gbrp8"] {
            assert!(Format::from_name(bad, 8, 8).is_err(), "{bad}");
        }
    }
}
