//! The sink itself.

use super::choose::{Choice, choose};
use super::container::{Container, Kin};
use super::encoder::{Encoder, OpenError, rational, threads};
use super::handles::{Dict, Packet};
use super::hdr::Hdr;
use super::mux::Muxer;
use super::{av_fault, fault};
use crate::ffmpeg::carry::{self, FrameCarry};
use crate::ffmpeg::copy::{
    Copies, Input, Planned, Span, add_chapters, container_tags, plan as route, video_tags,
};
use crate::ffmpeg::error::{AvError, check};
use crate::ffmpeg::versions;
use crate::sink::partial::Output;
use crate::sink::{Encode, Encoding, Plain, Plan, Sink, SinkError};
use crate::source::Stamp;
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{FieldOrder, Frame, Transfer};
use grainfield_filters::ratio::Ratio;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sys::{AVPacketSideDataType, AVRational};

/// A video file on its way.
pub(super) struct Video {
    name: String,
    container: Container,
    choice: Choice,
    encoding: Encoding,
    whole: (bool, bool),
    encoder: Encoder,
    copies: Option<Copies>,
    muxer: Muxer,
    /// Dropped after the muxer, which has the file open as well.
    out: Output,
    /// Room on the disk that is given back when it is full, so that the end of the file can be written.
    spare: Option<File>,
    /// The picture's stream in the output.
    stream: usize,
    /// Seconds a tick of the timestamps that come in.
    clock: Ratio,
    base: AVRational,
    hdr: Hdr,
    packet: Packet,
    /// What is taken away from all times, known with the first picture.
    shift: i64,
    /// Time of the last picture, and the end of all so far, before the shift.
    last: Option<i64>,
    end: i64,
    /// How long the pictures are shown that the encoder still holds, by their times.
    durations: BTreeMap<i64, i64>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

impl Video {
    pub(super) fn create(output: &OsStr, plan: &Plan) -> Result<Video, SinkError> {
        crate::ffmpeg::log::drain();
        let name = output.to_string_lossy().into_owned();
        let no_container = || fault(output, "no video container has this extension".into());
        let container = Container::of(output).ok_or_else(no_container)?;
        let choice = choose(output, &plan.format, &plan.encoding)?;
        let source = plan.carried.as_ref().and_then(|c| c.downcast_ref::<carry::Container>());
        let clock = clock(&choice, source);
        let base = rational(clock).unwrap_or(AVRational { num: 1, den: 1_000_000 });
        let clock = Ratio::new(base.num.into(), base.den.into()).unwrap_or(clock);

        let av = |doing: &str, error| av_fault(&name, doing, error);
        let input = match source {
            Some(source) => {
                Input::open(source).map_err(|e| av("the input cannot be opened a second time", e))?
            }
            None => None,
        };
        let video = source.map_or(0, |s| s.video);
        let from = input.as_ref().and_then(|input| input.stream(video));
        // SAFETY: a stream of the open input.
        let hdr = from.map_or_else(Hdr::default, |stream| unsafe { Hdr::of_stream(stream) });
        let encoder = open(output, container, &choice, base, &plan.encoding, &hdr)?;

        let mut said = Vec::new();
        if source.is_some_and(|s| s.url.is_none()) {
            said.push(
                "sound, subtitles and all else beside the picture of a pipe, which cannot be read twice"
                    .into(),
            );
        }
        if source.is_some_and(|s| s.captions) && !has_option(&choice, c"a53cc") {
            said.push(format!("closed captions are lost, {} does not write them", choice.name));
        }
        let fields = matches!(
            choice.format.fields,
            FieldOrder::TopFirst | FieldOrder::BottomFirst | FieldOrder::Mixed
        );
        if fields && WHOLE_FRAMES.contains(&choice.name.as_str()) {
            said.push(format!("that frames are interlaced is lost, {} codes whole frames", choice.name));
        }
        let out = Output::create(output, plan.overwrite)?;
        let path =
            out.path().ok_or_else(|| fault(output, "is no file; a video container needs one".into()))?;
        let mut muxer = Muxer::new(container, path).map_err(|e| av("it cannot be begun", e))?;
        let mut stream = 0;
        let copies = match input {
            None => {
                stream = add_picture(&mut muxer, None, container, &choice, &encoder, &hdr)
                    .map_err(|e| av("no stream can be made", e))?;
                None
            }
            Some(input) => {
                if let Some(from) = input.stream(video) {
                    said.extend(cannot_hold(from, container));
                }
                let (plans, more) = route(&input, video, container, &plan.encoding);
                said.extend(more);
                let cut = plan.whole != (true, true);
                if plans.contains(&Planned::Picture) {
                    container_tags(&input, muxer.context);
                }
                let copies = Copies::new(input, &plans, container, &mut muxer, cut, |muxer, from| {
                    stream = add_picture(muxer, Some(from), container, &choice, &encoder, &hdr)?;
                    Ok(())
                });
                Some(copies.map_err(|e| av("a stream beside the picture cannot be carried over", e))?)
            }
        };
        let warnings = match said.is_empty() {
            true => Vec::new(),
            false => {
                vec![format!("{name} ({}) cannot hold all as it is: {}", container.name(), said.join("; "))]
            }
        };
        let notes = vec![format!(
            "{name}: {} by {}, {} threads",
            choice.layout.name,
            choice.name,
            threads(&choice.format)
        )];
        Ok(Video {
            packet: Packet::new().ok_or_else(|| fault(output, "memory is out".into()))?,
            name,
            container,
            choice,
            encoding: plan.encoding.clone(),
            whole: plan.whole,
            encoder,
            copies,
            muxer,
            spare: out.path().and_then(spare),
            out,
            stream,
            clock,
            base,
            hdr,
            shift: 0,
            last: None,
            end: 0,
            durations: BTreeMap::new(),
            warnings,
            notes,
        })
    }

    fn fault(&self, doing: &str, error: AvError) -> SinkError {
        av_fault(&self.name, doing, error)
    }

    /// With the first picture all is known that the header needs.
    fn begin(&mut self, pts: i64, carried: Option<&FrameCarry>) -> Result<(), SinkError> {
        if !self.whole.0 {
            self.shift = pts;
        }
        // What the container did not say of HDR10, the first picture may: then the encoder is opened again.
        if let Some(carried) = carried.filter(|_| self.choice.format.transfer == Transfer::PQ) {
            // SAFETY: valid as long as `carried`.
            let hdr = self.hdr.or(unsafe { Hdr::of_frame(carried.props()) });
            if hdr.says() != self.hdr.says() {
                self.hdr = hdr;
                let output = OsStr::new(&self.name);
                self.encoder = open(output, self.container, &self.choice, self.base, &self.encoding, &hdr)?;
                let stream = self.muxer.get(self.stream);
                parameters(stream, &self.choice, &self.encoder, &hdr)
                    .map_err(|e| av_fault(&self.name, "no stream can be made", e))?;
            }
        }
        let span =
            Span { base: self.base, first: (!self.whole.0).then_some(pts), end: None, shift: self.shift };
        if let Some(copies) = &mut self.copies {
            let begun = copies.begin(span, !self.whole.1, &mut self.muxer);
            begun.map_err(|e| self.fault("the streams beside the picture cannot be read", e))?;
        }
        // Matroska would move everything for the sake of sound that begins before zero; it need not
        if self.container.is_matroska() && pts - self.shift >= 0 {
            // SAFETY: our own context.
            unsafe { (*self.muxer.context).avoid_negative_ts = sys::AVFMT_AVOID_NEG_TS_DISABLED };
        }
        let begun = self.muxer.begin(Dict::new());
        begun.map_err(|e| self.fault("its header cannot be written", e))
    }

    /// Writes all packets the encoder has ready, each behind the sound that comes before it.
    fn drain(&mut self) -> Result<(), SinkError> {
        while self.encoder.receive(&self.packet).map_err(|e| self.fault("the encoder failed", e))? {
            // SAFETY: our own packet.
            let packet = unsafe { &mut *self.packet.0 };
            if let Some(duration) = self.durations.remove(&packet.pts) {
                packet.duration = duration;
            }
            let (dts, base) = (packet.dts, self.encoder.time_base());
            if let Some(copies) = &mut self.copies {
                let copied = copies.until(dts, base, &mut self.muxer);
                copied.map_err(|e| self.fault("a stream beside the picture cannot be copied", e))?;
            }
            let written = self.muxer.write(&self.packet, base, self.stream);
            written.map_err(|e| self.fault("it cannot be written", e))?;
        }
        Ok(())
    }

    /// Empties the encoder, writes the rest of the copied streams and the trailer, and closes the file.
    /// First how that went, then how long the file is if it has its end.
    fn close(&mut self, to_end: bool) -> (Result<(), SinkError>, Result<u64, SinkError>) {
        let mut result = Ok(());
        if self.muxer.failed() {
            self.spare = None;
        } else if self.muxer.begun() {
            result = self.encoder.end().map_err(|e| self.fault("the encoder failed", e));
            result = result.and_then(|()| self.drain());
            let end = (!to_end).then_some(self.end);
            if let (Ok(()), Some(copies)) = (&result, &mut self.copies) {
                let rest = copies.finish(end, &mut self.muxer).and_then(|span| match span {
                    Some(span) if !self.encoding.no_chapters => {
                        add_chapters(&copies.input, &span, self.muxer.context)
                    }
                    _ => Ok(()),
                });
                result = rest.map_err(|e| self.fault("a stream beside the picture cannot be copied", e));
            }
        }
        // the trailer is written whatever came before it: without it most files cannot be played
        if self.muxer.failed() {
            self.spare = None;
        }
        let size = self.muxer.end().map_err(|e| self.fault("it cannot be finished", e));
        (result, size)
    }
}

impl Sink for Video {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::new(Plain)
    }

    fn write(&mut self, stamp: &Stamp, frame: &Frame, _: &[u8]) -> Result<(), SinkError> {
        let carried = stamp.carried.as_ref().and_then(|c| c.downcast_ref::<FrameCarry>());
        let ticks = |t: Ratio| round(t.checked_div(self.clock).unwrap_or(t));
        let (pts, duration) = match carried {
            Some(c) if c.duration > 0 => (c.pts, c.duration),
            Some(c) => (c.pts, ticks(stamp.duration)),
            None => (ticks(stamp.time), ticks(stamp.duration)),
        };
        let first = self.last.is_none();
        // encoders refuse times that do not grow
        let pts = self.last.map_or(pts, |last| pts.max(last + 1));
        let duration = duration.max(1);
        if first {
            self.begin(pts, carried)?;
        }
        self.last = Some(pts);
        self.end = self.end.max(pts.saturating_add(duration));
        let time = pts.saturating_sub(self.shift);
        self.durations.insert(time, duration);
        let sent = self.encoder.send(frame, time, duration, carried);
        sent.map_err(|e| self.fault("the encoder refused the picture", e))?;
        self.drain()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn finish(mut self: Box<Self>) -> Result<(), SinkError> {
        let to_end = self.whole.1;
        let (result, size) = self.close(to_end);
        let closed = result.and(size);
        let Video { muxer, out, container, last, .. } = *self;
        drop(muxer);
        conclude(out, closed, container, last.is_some(), Output::finish)
    }

    fn abandon(mut self: Box<Self>) -> Result<Option<PathBuf>, SinkError> {
        // What could not be written or copied is why it is abandoned, or does not matter any more.
        let (_, size) = self.close(false);
        let Video { muxer, out, container, last, .. } = *self;
        drop(muxer);
        let shown = last.is_some();
        let kept = size.or_else(|e| if shown && container.is_matroska() { Ok(0) } else { Err(e) });
        conclude(out, kept, container, shown, Output::abandon)
    }
}

/// Names the file, or leaves what can be played of it under its partial name.
fn conclude<T>(
    mut out: Output,
    closed: Result<u64, SinkError>,
    container: Container,
    shown: bool,
    end: impl FnOnce(Output) -> Result<T, SinkError>,
) -> Result<T, SinkError> {
    // Matroska plays without its end, most others do not
    if shown && (closed.is_ok() || container.is_matroska()) {
        out.written_elsewhere();
    }
    closed?;
    end(out)
}

/// The source's clock; for sources without one, ticks of one frame.
fn clock(choice: &Choice, source: Option<&carry::Container>) -> Ratio {
    let own = source.map_or_else(|| choice.format.rate.recip().unwrap_or(Ratio::ONE), |s| s.time_base);
    // MPEG-4 part 2 and its kin count in 16 bits
    let coarse = matches!(choice.name.as_str(), "mpeg4" | "msmpeg4" | "msmpeg4v2" | "libxvid");
    if (coarse && own.den() > 65535) || rational(own).is_none() {
        return choice.format.rate.recip().unwrap_or(Ratio::ONE);
    }
    own
}

fn round(t: Ratio) -> i64 {
    (t + Ratio::HALF).floor()
}

fn open(
    output: &OsStr,
    container: Container,
    choice: &Choice,
    base: AVRational,
    encoding: &Encoding,
    hdr: &Hdr,
) -> Result<Encoder, SinkError> {
    Encoder::open(container, choice, base, encoding, hdr).map_err(|error| match error {
        OpenError::Memory => fault(output, "memory is out".into()),
        OpenError::Unknown(keys) => fault(
            output,
            format!(
                "the encoder {} has no option {}; 'ffmpeg -h encoder={}' lists what it has",
                choice.name,
                keys.join(", "),
                choice.name
            ),
        ),
        OpenError::Av(error) => av_fault(
            &output.to_string_lossy(),
            &format!("the encoder {} cannot be opened", choice.name),
            error,
        ),
    })
}

/// Makes the picture's stream.
fn add_picture(
    muxer: &mut Muxer,
    from: Option<&sys::AVStream>,
    container: Container,
    choice: &Choice,
    encoder: &Encoder,
    hdr: &Hdr,
) -> Result<usize, AvError> {
    let stream = muxer.stream()?;
    if let Some(from) = from {
        stream.disposition = from.disposition;
        // SAFETY: both streams are valid.
        unsafe {
            video_tags(from, stream, container);
            for kind in [
                AVPacketSideDataType::AV_PKT_DATA_DISPLAYMATRIX,
                AVPacketSideDataType::AV_PKT_DATA_STEREO3D,
                AVPacketSideDataType::AV_PKT_DATA_SPHERICAL,
            ] {
                if let Some(bytes) = versions::stream_side_data(from, kind) {
                    let bytes = bytes.to_vec();
                    versions::set_stream_side_data(stream, kind, &bytes);
                }
            }
        }
    }
    let named = CString::new(format!("Lavc {}", choice.name)).unwrap_or_default();
    // SAFETY: both strings are copied.
    unsafe { sys::av_dict_set(&mut stream.metadata, c"encoder".as_ptr(), named.as_ptr(), 0) };
    parameters(stream, choice, encoder, hdr)?;
    Ok(stream.index as usize)
}

/// What the container has to know of the picture.
fn parameters(
    stream: &mut sys::AVStream,
    choice: &Choice,
    encoder: &Encoder,
    hdr: &Hdr,
) -> Result<(), AvError> {
    // side data of the stream lives in its parameters in newer versions, and would be lost with the old ones
    let kinds = [
        AVPacketSideDataType::AV_PKT_DATA_DISPLAYMATRIX,
        AVPacketSideDataType::AV_PKT_DATA_STEREO3D,
        AVPacketSideDataType::AV_PKT_DATA_SPHERICAL,
    ];
    // SAFETY: our own stream and an open encoder.
    unsafe {
        let kept: Vec<_> = kinds
            .into_iter()
            .filter_map(|kind| versions::stream_side_data(stream, kind).map(|b| (kind, b.to_vec())))
            .collect();
        check(sys::avcodec_parameters_from_context(stream.codecpar, encoder.codec.0))?;
        for (kind, bytes) in kept.into_iter().chain(hdr.side_data()) {
            versions::set_stream_side_data(stream, kind, &bytes);
        }
        stream.sample_aspect_ratio = (*encoder.codec.0).sample_aspect_ratio;
    }
    stream.time_base = encoder.time_base();
    if let Some(rate) = rational(choice.format.rate) {
        stream.avg_frame_rate = rate;
        stream.r_frame_rate = rate;
    }
    Ok(())
}

/// A file without a name beside the output.
fn spare(path: &Path) -> Option<File> {
    let mut file = tempfile::tempfile_in(path.parent()?).ok()?;
    file.write_all(&vec![0; SPARE]).ok()?;
    Some(file)
}

/// The table of contents of some hours.
const SPARE: usize = 1 << 20;

/// Encoders that neither code fields nor say that a frame holds two.
const WHOLE_FRAMES: [&str; 7] =
    ["libx265", "libsvtav1", "libaom-av1", "librav1e", "libvpx", "libvpx-vp9", "libtheora"];

/// Whether an encoder has an option of its own of that name.
fn has_option(choice: &Choice, name: &CStr) -> bool {
    let class: *const sys::AVClass = choice.codec.priv_class;
    // SAFETY: a search in a static class by a pointer to a pointer to it, as libav asks for with this flag; a codec
    // without options of its own is not searched.
    !class.is_null()
        && unsafe {
            let searched = (&raw const class).cast_mut().cast();
            let flag = sys::AV_OPT_SEARCH_FAKE_OBJ;
            !sys::av_opt_find(searched, name.as_ptr(), std::ptr::null(), 0, flag).is_null()
        }
}

/// What the filtered stream has and the container cannot hold.
fn cannot_hold(from: &sys::AVStream, container: Container) -> Vec<String> {
    use AVPacketSideDataType::*;
    // SAFETY: a stream of the open input.
    let has = |kind| unsafe { versions::stream_side_data(from, kind).is_some() };
    let mut said = Vec::new();
    let turns =
        matches!(container.kin(), Kin::Mp4 | Kin::Mov) || (cfg!(ffmpeg_6_1) && container.is_matroska());
    if has(AV_PKT_DATA_DISPLAYMATRIX) && !turns {
        said.push("rotation is lost".into());
    }
    if has(AV_PKT_DATA_DOVI_CONF) {
        said.push("Dolby Vision data is lost".into());
    }
    let hdr = container.kin() != Kin::Other;
    if (has(AV_PKT_DATA_MASTERING_DISPLAY_METADATA) || has(AV_PKT_DATA_CONTENT_LIGHT_LEVEL)) && !hdr {
        said.push("HDR10 data is lost in the container, but may be in the stream".into());
    }
    said
}
