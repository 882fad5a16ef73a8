//! Animated WebP as an input, by the image library. Frames depend on those before them, so seeking back begins at the
//! start again. (Still pictures are images; FFmpeg writes animations, but does not read them.)

use super::images::{MAX_BYTES, check_size, rows, tagged, tags::moves_in_webp};
use super::{FormatDescriptor, InputDescriptor};
use crate::disk::reach;
use crate::media::{Decode, Done, FrameStamp, Info, Options, Slot, Source, SourceError};
use grainfield_filters::frame::{Alpha, Depth, Family, Format};
use grainfield_filters::ratio::Ratio;
use image_webp::WebPDecoder;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// The input format.
pub const FORMAT: FormatDescriptor = FormatDescriptor {
    name: "webp",
    input: Some(InputDescriptor { matches: moves, open, reads: super::one_file }),
    output: None,
};

/// Whether a file is an animation.
fn moves(input: &OsStr) -> bool {
    let path = Path::new(input);
    let mut start = Vec::new();
    path.is_file()
        && reach::open(path).and_then(|file| file.take(32).read_to_end(&mut start)).is_ok()
        && start.starts_with(b"RIFF")
        && moves_in_webp(&start)
}

/// The times at which frames begin, in milliseconds, and the end of the last one.
fn times(reader: &mut (impl Read + Seek)) -> io::Result<Vec<u64>> {
    let mut times = vec![0];
    let mut head = [0; 8];
    reader.seek(SeekFrom::Start(12))?;
    // a damaged end hides the frames after it
    while reader.read_exact(&mut head).is_ok() {
        let size = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        let next = reader.stream_position()? + size + size % 2;
        let mut frame = [0; 16];
        if &head[..4] == b"ANMF" && reader.read_exact(&mut frame).is_ok() {
            let duration = u32::from_le_bytes([frame[12], frame[13], frame[14], 0]);
            times.push(times.last().unwrap_or(&0) + u64::from(duration.max(1)));
        }
        reader.seek(SeekFrom::Start(next))?;
    }
    Ok(times)
}

/// The frame rate of such times, and whether they follow it within a millisecond. Otherwise each is a multiple of its
/// frame's duration.
fn rate(times: &[u64]) -> (Ratio, bool) {
    let (count, end) = (times.len() as u64 - 1, times.last().copied().unwrap_or(0).max(1));
    let steady = (0..).zip(times).all(|(i, time)| (time * count).abs_diff(i * end) < count.max(1));
    let step = match steady {
        true => Ratio::new(end as i64, 1000 * count.max(1) as i64),
        false => {
            let common = times.iter().fold(0, |a, &b| gcd(a, b));
            Ratio::new(common as i64, 1000)
        }
    };
    (step.and_then(Ratio::recip).unwrap_or(Ratio::whole(25)), steady)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn open(input: &OsStr, _: &Options) -> Result<Box<dyn Source>, SourceError> {
    let path = Path::new(input);
    let name = path.display().to_string();
    let io = |cause| SourceError::Io { name: name.clone(), cause };
    let bad = |problem: String| SourceError::Bad { name: name.clone(), problem };
    let mut reader = BufReader::new(reach::open(path).map_err(io)?);
    let times = times(&mut reader).map_err(io)?;
    reader.rewind().map_err(io)?;
    let mut decoder = WebPDecoder::new(reader).map_err(|e| bad(format!("the WebP is damaged: {e}")))?;
    let (width, height) = decoder.dimensions();
    check_size(width.into(), height.into(), 4).map_err(|e| bad(e.to_string()))?;
    decoder.set_memory_limit(MAX_BYTES as usize);
    let (rate, steady) = rate(&times);
    let alpha = if decoder.has_alpha() { Alpha::Straight } else { Alpha::None };
    let plain = Format::new(width, height, Family::Rgb, Depth::Bits(8), (0, 0));
    let format = tagged(Format { alpha, rate, ..plain });
    let info = Info {
        name,
        kind: "animated WebP",
        format,
        first: 0,
        last: Some(times.len() as i64 - 2),
        seekable: true,
        variable_rate: !steady,
        notes: Vec::new(),
        details: vec![("frames".into(), decoder.num_frames().to_string())],
        carried: None,
    };
    Ok(Box::new(Webp { info, decoder, times, steady, next: 0, pixels: Vec::new() }))
}

struct Webp {
    info: Info,
    decoder: WebPDecoder<BufReader<File>>,
    times: Vec<u64>,
    steady: bool,
    /// Number of the next frame.
    next: i64,
    /// The whole picture, interleaved.
    pixels: Vec<u8>,
}

impl Webp {
    /// The time at which a frame begins.
    fn begin(&self, number: i64) -> Ratio {
        let time = usize::try_from(number).ok().and_then(|n| self.times.get(n)).copied().unwrap_or(0);
        match self.steady {
            true => Ratio::whole(number) * self.info.format.rate.recip().unwrap_or(Ratio::ONE),
            false => Ratio::new(time as i64, 1000).unwrap_or(Ratio::ZERO),
        }
    }

    /// Decodes the next frame over the one before.
    fn decode(&mut self) -> Result<(), SourceError> {
        let size = self.decoder.output_buffer_size().unwrap_or(0);
        self.pixels.resize(size, 0);
        let number = self.next;
        // a frame that cannot be decoded is left out
        self.next += 1;
        self.decoder.read_frame(&mut self.pixels).map(drop).map_err(|e| {
            let problem = format!("frame {number} is damaged: {e}");
            SourceError::Bad { name: self.info.name.clone(), problem }
        })
    }
}

impl Source for Webp {
    fn info(&self) -> &Info {
        &self.info
    }

    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        self.info.check_number(number)?;
        if number < self.next {
            self.decoder.reset_animation();
            self.next = 0;
        }
        while self.next < number {
            self.decode()?;
        }
        Ok(())
    }

    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
        let number = self.next;
        if self.info.last.is_none_or(|last| number > last) {
            return Ok(None);
        }
        slot.pending = None;
        self.decode()?;
        slot.frame.reset(self.info.format);
        let line = self.pixels.len() / self.info.format.height as usize;
        for (y, row) in self.pixels.chunks_exact(line.max(1)).enumerate() {
            rows::unpack_row(&mut slot.frame, y, row, false);
        }
        let time = self.begin(number);
        Ok(Some(FrameStamp { number, time, duration: self.begin(number + 1) - time, carried: None }))
    }

    fn decoder(&self) -> Arc<dyn Decode> {
        Arc::new(Done)
    }

    fn frame_from(&mut self, time: Ratio, after: bool) -> Result<i64, SourceError> {
        let all = 0..self.times.len() as i64;
        let earlier = |n: &i64| self.begin(*n) < time || (after && self.begin(*n) == time);
        Ok(all.take_while(earlier).count() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_times() {
        let of = |durations: &[u64]| {
            let mut times = vec![0];
            durations.iter().for_each(|d| times.push(times[times.len() - 1] + d));
            rate(&times)
        };
        assert_eq!(of(&[33, 33, 34, 33, 33, 34]), (Ratio::whole(30), true));
        assert_eq!(of(&[40]), (Ratio::whole(25), true));
        assert_eq!(of(&[40, 40, 80]), (Ratio::whole(25), false));
        assert!(of(&[]).1);
    }
}
