//! Where the samples of a plane lie: the one table of chroma siting.

use super::{Format, Parity, PictureStructure};

/// Position of chroma samples relative to luma samples.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Siting {
    /// Unspecified: treated as left, as in MPEG-2 and H.264.
    #[default]
    Unspecified,
    /// Aligned with the left column, between two rows (MPEG-2, H.264).
    Left,
    /// In the middle of its block (JPEG, MPEG-1).
    Center,
    /// At the top left sample (BT.2020, UHD).
    TopLeft,
    /// On the top row, between two columns.
    Top,
    /// At the bottom left sample.
    BottomLeft,
    /// On the bottom row, between two columns.
    Bottom,
    /// Left column, U one row below V: of the frame, or of the field where the picture is a field (PAL DV, IEC 61834).
    PalDv,
}

impl Siting {
    /// FFmpeg's name.
    pub fn name(self) -> &'static str {
        match self {
            Siting::Unspecified => "unspecified",
            Siting::Left => "left",
            Siting::Center => "center",
            Siting::TopLeft => "topleft",
            Siting::Top => "top",
            Siting::BottomLeft => "bottomleft",
            Siting::Bottom => "bottom",
            Siting::PalDv => "paldv",
        }
    }
}

impl Format {
    /// The positions of the samples of plane `p` in this picture (the frame or the field), horizontally and vertically:
    /// log2 of their distance in luma samples, and how far the first one lies right of (or below) the first luma
    /// sample, in quarters of a luma sample. Between fields, chroma rows alternate like luma rows.
    pub const fn sites(&self, p: usize) -> [(u8, i32); 2] {
        let (sx, sy) = self.plane_subsampling(p);
        // The middle of a block of luma samples.
        let (middle_x, middle_y) = (2 * ((1 << sx) - 1), 2 * ((1 << sy) - 1));
        let x = match self.siting {
            Siting::Center | Siting::Top | Siting::Bottom => middle_x,
            Siting::Unspecified | Siting::Left | Siting::TopLeft | Siting::BottomLeft | Siting::PalDv => 0,
        };
        let y = match self.siting {
            Siting::PalDv => return [(sx, x), (sy, if p == 1 && sy > 0 { 4 } else { 0 })],
            Siting::TopLeft | Siting::Top => 0,
            Siting::BottomLeft | Siting::Bottom => 2 * middle_y,
            Siting::Unspecified | Siting::Left | Siting::Center => middle_y,
        };
        // In rows of the field, the chroma of a top field is half as far down as that of the frame; that of a bottom
        // field half as far plus half of the difference of a chroma row and a luma row: 1/4 and 3/4 for 4:2:0 at the
        // left.
        let y = match self.picture {
            PictureStructure::Frame => y,
            PictureStructure::Field(Parity::Top) => y / 2,
            PictureStructure::Field(Parity::Bottom) => y / 2 + middle_y,
        };
        [(sx, x), (sy, y)]
    }

    /// The same in luma samples of the frame, from its upper left corner: the centre of the plane's first sample, and
    /// the distance between samples.
    pub fn frame_sites(&self, p: usize) -> ([f64; 2], [f64; 2]) {
        let (rows, first) = self.field_rows();
        let [(sx, x), (sy, y)] = self.sites(p);
        let step = [f64::from(1u32 << sx), f64::from(1u32 << sy) * rows];
        ([f64::from(x) / 4.0 + 0.5, f64::from(y) / 4.0 * rows + first + 0.5], step)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::frame::{Depth, Family};

    pub(crate) const SITINGS: [Siting; 8] = [
        Siting::Unspecified,
        Siting::Left,
        Siting::Center,
        Siting::TopLeft,
        Siting::Top,
        Siting::BottomLeft,
        Siting::Bottom,
        Siting::PalDv,
    ];
    pub(crate) const SUBSAMPLINGS: [(u8, u8); 6] = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 2), (0, 1)];
    pub(crate) const PICTURES: [PictureStructure; 3] = [
        PictureStructure::Frame,
        PictureStructure::Field(Parity::Top),
        PictureStructure::Field(Parity::Bottom),
    ];

    /// All of the above as 4:4:4 to 4:1:0 of a frame of this size.
    pub(crate) fn sited(size: [u32; 2], depth: Depth) -> impl Iterator<Item = Format> {
        let all = SITINGS.into_iter().flat_map(|s| SUBSAMPLINGS.into_iter().map(move |sub| (s, sub)));
        all.flat_map(|s| PICTURES.into_iter().map(move |p| (s, p))).map(move |((siting, sub), picture)| {
            Format { siting, picture, ..Format::new(size[0], size[1], Family::Yuv, depth, sub) }
        })
    }

    /// The definition: the centre of sample (i, j) of a plane in luma samples of the picture, from its corner.
    pub(crate) fn place(f: &Format, p: usize, i: i64, j: i64) -> [f64; 2] {
        let (sx, sy) = f.plane_subsampling(p);
        let (kx, ky) = (f64::from(1u32 << sx), f64::from(1u32 << sy));
        use Siting::*;
        let dx = if matches!(f.siting, Center | Top | Bottom) { kx / 2.0 } else { 0.5 };
        let dy = match f.siting {
            TopLeft | Top => 0.5,
            BottomLeft | Bottom => ky - 0.5,
            PalDv if p == 1 && sy > 0 => 1.5,
            PalDv => 0.5,
            Unspecified | Left | Center => ky / 2.0,
        };
        let line = match f.picture {
            PictureStructure::Field(parity) if f.siting != PalDv => {
                // Rows 2 j + q of the frame; the field's luma row n is row 2 n + q of it.
                let q = if parity == Parity::Bottom { 1.0 } else { 0.0 };
                ((2.0 * j as f64 + q) * ky + dy - q - 0.5) / 2.0 + 0.5
            }
            _ => j as f64 * ky + dy,
        };
        [i as f64 * kx + dx, line]
    }

    /// The same in luma samples of the frame.
    pub(crate) fn frame_place(f: &Format, p: usize, i: i64, j: i64) -> [f64; 2] {
        let [x, y] = place(f, p, i, j);
        match f.picture {
            PictureStructure::Frame => [x, y],
            PictureStructure::Field(parity) => [x, 2.0 * y - if parity == Parity::Top { 0.5 } else { -0.5 }],
        }
    }

    #[test]
    fn the_table_is_the_definition() {
        for f in sited([64, 48], Depth::Bits(8)) {
            for p in 0..3 {
                let sites = f.sites(p);
                let (first, step) = f.frame_sites(p);
                for n in [0, 1, 9] {
                    let at = sites.map(|(log, first)| f64::from(first) / 4.0 + 0.5 + f64::from(n << log));
                    assert_eq!(at, place(&f, p, n.into(), n.into()), "{f:?} {p}");
                    let at = [0, 1].map(|a| first[a] + f64::from(n) * step[a]);
                    assert_eq!(at, frame_place(&f, p, n.into(), n.into()), "{f:?} {p}");
                }
            }
        }
    }
}
