//! GIF animations: 256 colours a frame, with dither of blue noise, and times in hundredths of a second. They play forever.
//! (FFmpeg reads GIF.)
//!
//! Every frame has its own palette: that of its colours, if there are few enough, else one of the NeuQuant algorithm.
//! Memory is that of one frame.

use super::images::pattern::Pattern;
use super::{Files, FormatDescriptor, OutputDescriptor, only_for_videos, sequence};
use crate::disk::{OutputFile, PartialOutput};
use crate::journal::Cuts;
use crate::journal::shard::Kind;
use crate::media::sink::rescue;
use crate::media::{Encode, FrameStamp, Plan, Rescue, Sink, SinkError};
use ::gif::{DisposalMethod, Encoder, EncodingError, Repeat};
use color_quant::NeuQuant;
use grainfield_filters::frame::{Alpha, Depth, Family, Format, Frame};
use grainfield_filters::pixel::dither::blue;
use grainfield_filters::ratio::Ratio;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

/// The output format.
pub const FORMAT: FormatDescriptor = FormatDescriptor {
    name: "gif",
    input: None,
    output: Some(OutputDescriptor {
        matches: |name| {
            let named = Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("gif"));
            named && matches!(Pattern::parse(name), Ok(None))
        },
        accepts: |name, format, _| accepts(name, format),
        create,
        files: |name| Files::one(name, Kind::Animation),
        prefix: "",
        drops_metadata: false,
        allows: only_for_videos,
    }),
};

/// Red, green and blue, or grey, with 8 bits.
fn accepts(name: &OsStr, format: &Format) -> Result<Format, SinkError> {
    if format.width > u32::from(u16::MAX) || format.height > u32::from(u16::MAX) {
        let problem =
            format!("GIF holds at most 65535x65535, the picture is {}x{}", format.width, format.height);
        return Err(SinkError::usage(name.to_string_lossy().into_owned(), problem));
    }
    let image = sequence::sink::accepts(OsStr::new("one.png"), format)?;
    Ok(Format { depth: Depth::Bits(8), ..image })
}

/// The colours of a frame.
const COLORS: usize = 256;

/// One in so many pixels trains the palette.
const SAMPLED: i32 = 10;

fn failed(name: &str, e: EncodingError) -> SinkError {
    match e {
        EncodingError::Io(cause) => SinkError::io(name.into(), cause),
        e => SinkError::bad(name.into(), format!("cannot be written as GIF: {e}")),
    }
}

fn create(output: &OsStr, plan: &Plan) -> Result<Box<dyn Sink>, SinkError> {
    let format = &plan.format;
    let out = plan.open(output)?;
    let (width, height) = (format.width as u16, format.height as u16);
    let mut encoder = Encoder::new(Vec::new(), width, height, &[]).map_err(|e| failed(out.name(), e))?;
    encoder.set_repeat(Repeat::Infinite).map_err(|e| failed(out.name(), e))?;
    let (cuts, zero) = (plan.cuts.clone(), Ratio::ZERO);
    Ok(Box::new(Gif {
        out,
        encoder,
        format: *format,
        cuts,
        passed: 0,
        until: zero,
        removed: zero,
        last: None,
    }))
}

struct Gif {
    out: OutputFile,
    encoder: Encoder<Vec<u8>>,
    format: Format,
    cuts: Cuts,
    /// The number of cuts before the last frame, its end in the source, and what cuts have removed before it.
    passed: usize,
    until: Ratio,
    removed: Ratio,
    /// The last frame, which is written when the next one tells how long it is shown.
    last: Option<Shown>,
}

/// A frame with its begin and its own end in hundredths of a second.
struct Shown {
    begin: i64,
    end: i64,
    encoded: Vec<u8>,
}

impl Gif {
    /// Writes the last frame, which is shown until `end`, by default its own.
    fn put_last(&mut self, end: Option<i64>) -> Result<(), SinkError> {
        let Some(Shown { begin, end: own, encoded }) = self.last.take() else { return Ok(()) };
        let (colors, data) = encoded.split_at(3 * COLORS);
        let (alpha, format) = (self.format.has_alpha(), &self.format);
        let frame = ::gif::Frame {
            delay: u16::try_from(end.unwrap_or(own) - begin).unwrap_or(u16::MAX),
            dispose: if alpha { DisposalMethod::Background } else { DisposalMethod::Keep },
            transparent: alpha.then_some((COLORS - 1) as u8),
            width: format.width as u16,
            height: format.height as u16,
            palette: Some(colors.to_vec()),
            buffer: Cow::Borrowed(data),
            ..::gif::Frame::default()
        };
        let written = self.encoder.write_lzw_pre_encoded_frame(&frame);
        written.map_err(|e| failed(self.out.name(), e))?;
        self.flush()?;
        Ok(self.out.mark()?)
    }

    /// Moves what is encoded to the file.
    fn flush(&mut self) -> Result<(), SinkError> {
        let bytes = std::mem::take(self.encoder.get_mut());
        Ok(self.out.put(&bytes)?)
    }
}

/// Hundredths of a second, rounded.
fn hundredths(time: Ratio) -> i64 {
    (time * Ratio::whole(100) + Ratio::HALF).floor()
}

impl Sink for Gif {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::new(Quantise)
    }

    fn rescue(&self) -> Result<Arc<dyn Rescue>, SinkError> {
        rescue(&self.out)
    }

    fn warnings(&self) -> Vec<String> {
        let name = self.out.name();
        let mut lost = Vec::new();
        if self.format.has_alpha() {
            lost.push(format!(
                "{name} (gif) cannot keep everything: alpha becomes either transparent or opaque"
            ));
        }
        // players slow such files down to 10 frames a second
        if self.format.rate > Ratio::whole(50) {
            lost.push(format!(
                "{name} (gif) cannot keep everything: players show at most 50 frames per second, and the source has {}",
                self.format.rate
            ));
        }
        lost
    }

    fn notes(&self) -> Vec<String> {
        vec![format!("{}: 256 colours a frame, times in hundredths of a second", self.out.name())]
    }

    fn write(&mut self, stamp: &FrameStamp, _: &Frame, encoded: &[u8]) -> Result<(), SinkError> {
        let passed = self.cuts.before(stamp.number);
        if std::mem::replace(&mut self.passed, passed) < passed && self.last.is_some() {
            self.removed = self.removed + stamp.time - self.until;
        }
        self.until = stamp.time + stamp.duration;
        // times are rounded instead of durations, so that the whole is as long as it was
        let least = self.last.as_ref().map_or(i64::MIN, |last| last.begin + 1);
        let begin = hundredths(stamp.time - self.removed).max(least);
        self.put_last(Some(begin))?;
        let end = hundredths(self.until - self.removed).max(begin + 1);
        self.last = Some(Shown { begin, end, encoded: encoded.to_vec() });
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), SinkError> {
        self.put_last(None)?;
        self.flush()?;
        // the end of the file, which the encoder writes only when it is dropped
        self.out.put(&[0x3b])?;
        Ok(self.out.finish()?)
    }

    fn abandon(mut self: Box<Self>) -> Result<PartialOutput, SinkError> {
        self.put_last(None)?;
        Ok(self.out.abandon()?)
    }
}

/// Reduces frames to a palette: 256 colours, then the compressed indices.
struct Quantise;

impl Encode for Quantise {
    fn encode(&self, _: &FrameStamp, frame: &Frame, out: &mut Vec<u8>) -> Result<(), SinkError> {
        let format = *frame.format();
        let pixels = pixels(frame);
        let most = COLORS - usize::from(format.has_alpha());
        let opaque: Vec<[u8; 4]> =
            pixels.iter().copied().filter(|p| p[3] >= 128).map(|p| [p[0], p[1], p[2], 255]).collect();
        let distinct: BTreeSet<[u8; 4]> = first_distinct(&opaque, most + 1);
        let (mut palette, indices) = match distinct.len() <= most {
            true => exact(&pixels, &distinct),
            false => {
                nearest(&pixels, &NeuQuant::new(SAMPLED, most, opaque.as_flattened()), format.width as usize)
            }
        };
        palette.resize(3 * COLORS, 0);
        let mut packed = ::gif::Frame { buffer: indices.into(), ..::gif::Frame::default() };
        packed.make_lzw_pre_encoded();
        out.extend(palette);
        out.extend_from_slice(&packed.buffer);
        Ok(())
    }
}

/// Some of the colours: all, if there are fewer than this number.
fn first_distinct(pixels: &[[u8; 4]], most: usize) -> BTreeSet<[u8; 4]> {
    let mut found = BTreeSet::new();
    let mut last = None;
    for pixel in pixels {
        if last != Some(pixel) && found.insert(*pixel) && found.len() == most {
            break;
        }
        last = Some(pixel);
    }
    found
}

/// The pixels as red, green, blue and alpha.
fn pixels(frame: &Frame) -> Vec<[u8; 4]> {
    let format = frame.format();
    let planes = match (format.family, format.alpha) {
        (Family::Gray, Alpha::None) => [0, 0, 0, usize::MAX],
        (Family::Gray, _) => [0, 0, 0, 1],
        (_, Alpha::None) => [2, 0, 1, usize::MAX],
        (_, _) => [2, 0, 1, 3],
    };
    let mut all = Vec::with_capacity(format.width as usize * format.height as usize);
    for y in 0..format.height as usize {
        let [r, g, b] = [planes[0], planes[1], planes[2]].map(|p| frame.row::<u8>(p, y));
        let alpha = (planes[3] != usize::MAX).then(|| frame.row::<u8>(planes[3], y));
        all.extend((0..r.len()).map(|x| [r[x], g[x], b[x], alpha.map_or(255, |a| a[x])]));
    }
    all
}

/// The palette of few colours, and each pixel's index; the last index is transparent.
fn exact(pixels: &[[u8; 4]], colors: &BTreeSet<[u8; 4]>) -> (Vec<u8>, Vec<u8>) {
    let list: Vec<[u8; 4]> = colors.iter().copied().collect();
    let index = |p: &[u8; 4]| match p[3] >= 128 {
        true => list.binary_search(&[p[0], p[1], p[2], 255]).unwrap_or(0) as u8,
        false => (COLORS - 1) as u8,
    };
    (list.iter().flat_map(|c| [c[0], c[1], c[2]]).collect(), pixels.iter().map(index).collect())
}

/// The palette, and each pixel's nearest colour after dither of twice the mean error, which makes the steps between
/// colours invisible.
fn nearest(pixels: &[[u8; 4]], palette: &NeuQuant, width: usize) -> (Vec<u8>, Vec<u8>) {
    let colors = palette.color_map_rgb();
    let at = |p: &[u8; 4]| palette.index_of(&[p[0], p[1], p[2], 255]);
    let error = |p: &[u8; 4]| {
        let color = &colors[3 * at(p)..][..3];
        (0..3).map(|i| u64::from(p[i].abs_diff(color[i]))).sum::<u64>()
    };
    // one in 16 is enough for a mean
    let some = pixels.len().div_ceil(16).max(1) as u64;
    let total = pixels.iter().step_by(16).map(error).sum::<u64>();
    let reach = (2 * total / (3 * some)).min(64) as i32;
    let ranks = blue::ranks();
    let index = |(i, p): (usize, &[u8; 4])| {
        if p[3] < 128 {
            return (COLORS - 1) as u8;
        }
        let (x, y) = (i % width, i / width);
        let noise = |channel: usize| {
            // each channel has its own part of the mask
            let place = (y + 23 * channel) % blue::SIDE * blue::SIDE + (x + 41 * channel) % blue::SIDE;
            let steps = (blue::SIDE * blue::SIDE) as i32;
            let rank = 2 * i32::from(ranks[place]) + 1 - steps;
            reach * rank / steps
        };
        let [r, g, b] = [0, 1, 2].map(|c| (i32::from(p[c]) + noise(c)).clamp(0, 255) as u8);
        at(&[r, g, b, 255]) as u8
    };
    let indices = pixels.iter().enumerate().map(index).collect();
    (colors, indices)
}
