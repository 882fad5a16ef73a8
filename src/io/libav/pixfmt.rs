//! Maps libav's pixel formats to ours, and converts samples between them without loss.
//!
//! It uses libav's description of a format (the byte and bit at which each component starts), so packed,
//! semi-planar, big-endian and padded formats are all converted to planes with their full depth.

use super::picture::{Plane, description};
use ffmpeg_next::format::Pixel;
use ffmpeg_next::frame;
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{Alpha, ColorRange, Depth, Family, Format, Frame, FrameRef, Siting};

/// The layout of a component in libav's planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Component {
    plane: usize,
    /// Bytes from one sample to the next.
    step: usize,
    /// Bytes before the first.
    offset: usize,
    /// Bits to drop at the low end.
    shift: u32,
    /// Significant bits.
    bits: u32,
}

/// A pixel format of libav that can be converted to planes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// libav's name.
    pub name: String,
    /// The format of the planes, with neither size nor tags.
    format: Format,
    /// One for each of our planes, in our order.
    components: Vec<Component>,
    kind: Kind,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Whole bytes or words with one sample each: rows are copied.
    Planar,
    /// Samples that are extracted from bytes or words.
    Packed,
    /// One bit per sample, eight per byte; `true`: 1 is black.
    Bits(bool),
    /// Indices into 256 colours.
    Palette,
}

/// The reason why a pixel format is not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pixel format {0} is not supported; convert it first (ffmpeg -pix_fmt ...)")]
pub struct Unsupported(pub String);

/// libav's name of a pixel format.
pub fn name(format: Pixel) -> &'static str {
    format.descriptor().map_or("unknown", |d| d.name())
}

/// The pixel format of that name, if libav has it.
pub fn by_name(name: &str) -> Option<Pixel> {
    name.parse().ok()
}

/// libav's planar pixel format with exactly the samples of `format`, if it has one.
pub fn exact(format: &Format) -> Option<sys::AVPixelFormat> {
    let name = format.name();
    // Ours are in native order, which is also the meaning of libav's names without a byte order.
    let found = by_name(&name)?;
    let layout = Layout::new(found).ok()?;
    layout.fits(format).then_some(found.into())
}

/// libav's pixel format with exactly the samples of `format`, planar or interleaved, and its layout, if it has one.
pub(crate) fn packed_as(format: &Format) -> Option<(Pixel, Layout)> {
    let found = by_name(&format.name())?;
    let layout = Layout::new(found).ok().filter(|layout| layout.can_pack() && layout.holds(format))?;
    Some((found, layout))
}

impl Layout {
    /// Reads libav's description.
    ///
    /// # Errors
    /// The pixel format has no counterpart.
    pub fn new(pix_fmt: impl Into<Pixel>) -> Result<Layout, Unsupported> {
        let pix_fmt = pix_fmt.into();
        let name = name(pix_fmt);
        let unsupported = || Unsupported(name.to_owned());
        let desc = description(pix_fmt).ok_or_else(unsupported)?;
        let has = |flag: i64| desc.flags & flag as u64 != 0;
        if has(sys::AV_PIX_FMT_FLAG_HWACCEL.into())
            || has(sys::AV_PIX_FMT_FLAG_BAYER.into())
            || name.starts_with("xyz")
            || name.starts_with("xv30")
        {
            return Err(unsupported());
        }
        let palette = has(sys::AV_PIX_FMT_FLAG_PAL.into());
        let bits = has(sys::AV_PIX_FMT_FLAG_BITSTREAM.into());
        let alpha = has(sys::AV_PIX_FMT_FLAG_ALPHA.into()) || palette;
        let rgb = has(sys::AV_PIX_FMT_FLAG_RGB.into()) || palette;
        let float = has(sys::AV_PIX_FMT_FLAG_FLOAT.into());
        let count = usize::from(desc.nb_components);
        let big_endian = has(sys::AV_PIX_FMT_FLAG_BE.into());
        let all: Vec<Component> = desc.comp[..count]
            .iter()
            .map(|c| Component {
                plane: c.plane as usize,
                step: c.step as usize,
                // A component that fits the low byte of a big-endian word is in its second byte. (libav gives
                // an offset of one byte less for some of these.)
                offset: (c.offset + i32::from(big_endian && c.shift + c.depth <= 8)) as usize,
                shift: c.shift as u32,
                bits: c.depth as u32,
            })
            .collect();
        // libav lists R G B A; our planes are in the order G B R A.
        let components = match (rgb, all.len()) {
            _ if palette => Vec::new(),
            (true, 3) => vec![all[1], all[2], all[0]],
            (true, 4) => vec![all[1], all[2], all[0], all[3]],
            _ => all,
        };
        let deepest = components.iter().map(|c| c.bits).max().unwrap_or(8);
        if (float && deepest != 32) || (!float && deepest > 16) || (bits && deepest != 1) {
            return Err(unsupported());
        }
        let depth = if float { Depth::Float } else { Depth::Bits(deepest.max(8) as u8) };
        let family = match (rgb, count) {
            (true, _) => Family::Rgb,
            (false, 1 | 2) => Family::Gray,
            _ => Family::Yuv,
        };
        let subsampling =
            if family == Family::Yuv { (desc.log2_chroma_w, desc.log2_chroma_h) } else { (0, 0) };
        let mut format = Format::new(1, 1, family, depth, subsampling);
        if alpha {
            format.alpha = Alpha::Straight;
        }
        if name.starts_with("yuvj") {
            format.range = ColorRange::Full;
            format.siting = Siting::Center;
        }
        if family == Family::Gray && bits {
            format.range = ColorRange::Full;
        }
        let native = deepest == 8 || big_endian == cfg!(target_endian = "big");
        let whole = components
            .iter()
            .all(|c| c.step == depth.bytes() && c.shift == 0 && c.offset == 0 && c.bits == deepest);
        let planes_apart =
            (0..components.len()).all(|i| (0..i).all(|j| components[i].plane != components[j].plane));
        let kind = match () {
            () if palette => Kind::Palette,
            () if bits => Kind::Bits(name == "monow"),
            () if native && whole && planes_apart && deepest >= 8 => Kind::Planar,
            () => Kind::Packed,
        };
        Ok(Layout { name: name.to_owned(), format, components, kind, big_endian })
    }

    /// The format, with family, depth, subsampling and alpha, of a picture of the given size, with all else
    /// unspecified.
    pub fn format(&self, width: u32, height: u32) -> Format {
        Format { width, height, ..self.format }
    }

    /// Whether rows are copied unchanged between this and planes of `format`.
    pub fn fits(&self, format: &Format) -> bool {
        self.kind == Kind::Planar && self.holds(format)
    }

    /// Whether it has the same samples as `format`.
    fn holds(&self, format: &Format) -> bool {
        let shape = |f: &Format| (f.family, f.depth, f.subsampling, f.has_alpha());
        shape(&self.format) == shape(format)
    }

    /// Extracts the samples of libav's frame. Panics unless it has this pixel format, and `out` this layout's shape and
    /// at most the frame's size.
    pub fn unpack(&self, frame: &frame::Video, out: &mut Frame) {
        assert_eq!(name(frame.format()), self.name);
        if self.kind == Kind::Palette {
            return unpack_palette(frame, out);
        }
        let format = *out.format();
        for (p, c) in self.components.iter().enumerate() {
            let plane = Plane::new(frame, c.plane);
            for y in 0..format.plane_size(p).1 {
                let row = plane.row(y);
                let to = out.row_bytes_mut(p, y);
                match self.kind {
                    Kind::Planar => {
                        to.copy_from_slice(&row[..to.len()]);
                        if let Depth::Bits(bits @ 9..=15) = format.depth {
                            clamp_row(bytemuck::cast_slice_mut(to), (1 << bits) - 1);
                        }
                    }
                    Kind::Bits(black) => {
                        for (x, v) in to.iter_mut().enumerate() {
                            let one = row[x / 8] >> (7 - x % 8) & 1 == 1;
                            *v = if one != black { 255 } else { 0 };
                        }
                    }
                    _ => self.unpack_row(c, format.depth, row, to),
                }
            }
        }
    }

    fn unpack_row(&self, c: &Component, depth: Depth, row: &[u8], to: &mut [u8]) {
        let starts = (0..).map(|x| x * c.step + c.offset);
        let word = |at: usize| {
            let pair = [row[at], row[at + 1]];
            if self.big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
        };
        let wide = c.word_bytes() > 1;
        let deep = depth.bits().map_or(8, u32::from);
        // The two cases of most video: interleaved bytes (NV12, RGB24), and words (P010).
        let steps = row[c.offset..].chunks(c.step);
        if !wide && c.shift == 0 && c.bits == 8 && deep == 8 {
            return to.iter_mut().zip(steps).for_each(|(v, s)| *v = s[0]);
        }
        if c.bits == deep && deep > 8 && c.shift + c.bits == 16 && !self.big_endian {
            let to = bytemuck::cast_slice_mut::<u8, u16>(to);
            return to.iter_mut().zip(steps).for_each(|(v, s)| {
                *v = u16::from_le_bytes([s[0], s[1]]) >> c.shift;
            });
        }
        let sample = |at: usize| {
            let raw = if wide { u32::from(word(at)) } else { u32::from(row[at]) };
            widen(raw >> c.shift & ((1 << c.bits) - 1), c.bits, deep)
        };
        match depth.bytes() {
            1 => to.iter_mut().zip(starts).for_each(|(v, at)| *v = sample(at) as u8),
            2 => bytemuck::cast_slice_mut::<u8, u16>(to)
                .iter_mut()
                .zip(starts)
                .for_each(|(v, at)| *v = sample(at) as u16),
            _ => bytemuck::cast_slice_mut::<u8, f32>(to).iter_mut().zip(starts).for_each(|(v, at)| {
                let four = [row[at], row[at + 1], row[at + 2], row[at + 3]];
                *v = if self.big_endian { f32::from_be_bytes(four) } else { f32::from_le_bytes(four) };
            }),
        }
    }

    /// Whether [`pack`](Layout::pack) can write this format: planes, or interleaved bytes or words, with the samples in
    /// their low or high bits.
    pub fn can_pack(&self) -> bool {
        let whole = |c: &Component| {
            let word = self.format.depth.bytes() == 2;
            let fits = c.shift == 0 || (word && c.shift + c.bits == 16);
            fits && self.format.depth.bits().is_some_and(|bits| u32::from(bits) == c.bits)
        };
        match self.kind {
            Kind::Planar => true,
            Kind::Packed => self.components.iter().all(whole),
            _ => false,
        }
    }

    /// Writes samples to libav's frame, for formats with [`can_pack`](Layout::can_pack). Panics unless both have this
    /// layout's shape, and the frame at least the other's size. A row that a field has too little, which has fewer rows of
    /// chroma than a frame of its height, repeats the last.
    pub fn pack(&self, from: FrameRef<'_>, to: &mut frame::Video) {
        assert!(
            self.can_pack() && self.holds(&from.format) && name(to.format()) == self.name,
            "{} cannot be written from {}",
            self.name,
            from.format.name()
        );
        let size = from.format.depth.bytes();
        for (p, c) in self.components.iter().enumerate() {
            let stride = to.stride(c.plane);
            let rows = from.plane(p).rows();
            for (y, to) in to.data_mut(c.plane).chunks_exact_mut(stride).enumerate() {
                let row = from.plane(p).row_bytes(y.min(rows.end - 1));
                if self.kind == Kind::Planar {
                    to[..row.len()].copy_from_slice(row);
                    continue;
                }
                let samples = row.chunks_exact(size).zip(to[c.offset..].chunks_mut(c.step));
                let native = self.big_endian == cfg!(target_endian = "big");
                if size == 1 || (native && c.shift == 0) {
                    samples.for_each(|(sample, to)| to[..size].copy_from_slice(sample));
                    continue;
                }
                samples.for_each(|(sample, to)| {
                    let word = u16::from_ne_bytes([sample[0], sample[1]]) << c.shift;
                    let bytes = if self.big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
                    to[..2].copy_from_slice(&bytes);
                });
            }
        }
    }
}

impl Component {
    /// Number of bytes of a sample.
    fn word_bytes(&self) -> usize {
        match self.shift + self.bits {
            0..=8 => 1,
            9..=16 => 2,
            _ => 4,
        }
    }
}

/// Limits samples to `top`: raw video may contain codes that other code does not expect.
fn clamp_row(row: &mut [u16], top: u16) {
    if row.iter().fold(0, |all, x| all | x) > top {
        row.iter_mut().for_each(|x| *x = (*x).min(top));
    }
}

/// Expands fewer than 8 bits to 8, and a shallower component of a deeper format to its depth, by repeating the
/// bits: the lowest and highest codes are kept, and the conversion is reversible.
fn widen(v: u32, bits: u32, to: u32) -> u32 {
    if bits >= to {
        return v;
    }
    let (mut wide, mut have) = (v, bits);
    while have < to {
        wide = wide << bits | v;
        have += bits;
    }
    wide >> (have - to)
}

fn unpack_palette(frame: &frame::Video, out: &mut Frame) {
    let indices = Plane::new(frame, 0);
    // 256 words of native-order ARGB
    let (palette, _) = Plane::new(frame, 1).row(0).as_chunks::<4>();
    for y in 0..out.format().plane_size(0).1 {
        let row = indices.row(y);
        // planes G B R A of 0xAARRGGBB
        for (p, shift) in [(0, 8), (1, 0), (2, 16), (3, 24)] {
            let to = out.row_bytes_mut(p, y);
            for (v, &index) in to.iter_mut().zip(row) {
                *v = (u32::from_ne_bytes(palette[usize::from(index)]) >> shift) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_planar_name_of_ours_is_libavs() {
        let mut missing = Vec::new();
        for name in [
            "gray",
            "gray9",
            "gray10",
            "gray12",
            "gray14",
            "gray16",
            "grayf32",
            "yuv420p",
            "yuv422p10",
            "yuv444p16",
            "yuv440p",
            "yuv440p10",
            "yuv411p",
            "yuv410p",
            "yuva420p",
            "yuva422p10",
            "yuva444p16",
            "gbrp",
            "gbrp9",
            "gbrp16",
            "gbrap",
            "gbrap12",
            "gbrpf32",
            "gbrapf32",
        ] {
            let format = Format::from_name(name, 8, 8).unwrap();
            if exact(&format).is_none() {
                missing.push(name);
            }
        }
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(exact(&Format::from_name("yuv420p13", 8, 8).unwrap()), None);
    }

    #[test]
    fn packed_samples_are_unpacked_the_same() {
        for name in [
            "rgb24",
            "bgra",
            "rgba64le",
            "nv12",
            "p010le",
            "p216le",
            "ya16le",
            "yuyv422",
            "rgb48be",
            "yuv420p12be",
        ] {
            let layout = Layout::new(by_name(name).unwrap()).unwrap();
            let mut frame = Frame::new(layout.format(6, 4));
            for p in 0..frame.format().planes() {
                for y in 0..frame.format().plane_size(p).1 {
                    let top = frame.format().codes().1;
                    let value = |x: usize| (x * 977 + y * 131 + p * 37) as u16 & top;
                    match frame.format().depth.bytes() {
                        1 => frame
                            .row_mut::<u8>(p, y)
                            .iter_mut()
                            .enumerate()
                            .for_each(|(x, v)| *v = value(x) as u8),
                        _ => {
                            frame.row_mut::<u16>(p, y).iter_mut().enumerate().for_each(|(x, v)| *v = value(x))
                        }
                    }
                }
            }
            let mut packed = frame::Video::new(by_name(name).unwrap(), 6, 4);
            assert!(layout.can_pack(), "{name}");
            layout.pack(frame.as_ref(), &mut packed);
            let mut again = Frame::new(layout.format(6, 4));
            layout.unpack(&packed, &mut again);
            assert!(again == frame, "{name}");
        }
    }

    #[test]
    fn widening_keeps_ends_and_order() {
        assert_eq!((widen(0, 5, 8), widen(31, 5, 8), widen(16, 5, 8)), (0, 255, 132));
        assert_eq!((widen(1, 1, 8), widen(3, 2, 8), widen(5, 8, 8)), (255, 255, 5));
    }
}
