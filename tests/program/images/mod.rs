mod cineon;
mod dpx;
mod exr;
mod ffmpeg;
mod holes;
mod jxl;
mod kept;
mod light;
mod lost;
mod mutated;
mod pnm;
mod tiff;
mod turned;
mod writing;

use grainfield::sink::{self, Encoding, Plan, SinkError};
use grainfield::source::{self, FrameStamp, Missing, Options, Slot, Source, SourceError};
use grainfield_filters::frame::{Format, Frame};
use std::ffi::OsStr;
use std::path::Path;

/// A slot like a worker's.
pub(crate) fn slot() -> Slot {
    Slot::default()
}

pub(crate) fn open(input: impl AsRef<Path>, missing: Missing) -> Result<Box<dyn Source>, SourceError> {
    source::sequence::open(input.as_ref().as_os_str(), &Options { missing, ..Options::default() })
}

/// The next frame, decoded, with its carried data in its stamp, as in the pipeline.
pub(crate) fn next(source: &mut dyn Source) -> Result<Option<(FrameStamp, Frame)>, SourceError> {
    let mut slot = slot();
    let Some(mut stamp) = source.next(&mut slot)? else { return Ok(None) };
    source.decoder().decode(&stamp, &mut slot)?;
    if let Some(carried) = slot.carried.take() {
        stamp.carried = Some(carried);
    }
    Ok(Some((stamp, slot.frame)))
}

pub(crate) fn one(input: impl AsRef<Path>) -> (FrameStamp, Frame) {
    next(&mut *open(input, Missing::Error).unwrap()).unwrap().unwrap()
}

pub(crate) fn plan(format: Format, frames: Option<u64>) -> Plan {
    Plan {
        format,
        carried: None,
        untouched_format: true,
        overwrite: false,
        frames,
        ends: grainfield::journal::SourceEnds::BOTH,
        cuts: Default::default(),
        encoding: Encoding::default(),
        journal: Default::default(),
        lost_in_video: Vec::new(),
        timecode: None,
        clock: None,
        pix_fmt: None,
    }
}

/// Writes frames to an output and closes it.
pub(crate) fn write(output: &OsStr, plan: &Plan, frames: &[(FrameStamp, Frame)]) -> Result<(), SinkError> {
    let mut sink = sink::sequence::create(output, plan)?;
    let encoder = sink.encoder();
    for (stamp, frame) in frames {
        let mut bytes = Vec::new();
        encoder.encode(stamp, frame, &mut bytes)?;
        sink.write(stamp, frame, &bytes)?;
    }
    sink.finish()
}

/// Arbitrary samples: a scrambled counter.
pub(crate) fn noisy(format: Format) -> Frame {
    let mut frame = Frame::new(format);
    let mut state = 1u32;
    let mut draw = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    for p in 0..format.planes() {
        for y in 0..format.plane_size(p).1 {
            match format.depth.bytes() {
                1 => frame.row_mut::<u8>(p, y).fill_with(|| draw() as u8),
                2 => {
                    let max = (1u32 << format.depth.bits().unwrap()) - 1;
                    frame.row_mut::<u16>(p, y).fill_with(|| (draw() & max) as u16);
                }
                _ => frame.row_mut::<f32>(p, y).fill_with(|| draw() as f32 / (1 << 22) as f32 - 1.0),
            }
        }
    }
    frame
}
