//! The sink for video files.

use super::choose::{Choice, choose};
use super::clock::Clock;
use super::container::Container;
use super::encoder::{Encoder, OpenError, rational, threads};
use super::handles::Packet;
use super::hdr::Hdr;
use super::holds::lost_picture;
use super::mux::Muxer;
use super::output_file::{OutputFile, OutputParams};
use super::{av_fault, fault};
use crate::disk::{Partial, PartialOutput};
use crate::encoding::Encoding;
use crate::libav::copy::{timecode_after, video_tags};
use crate::libav::error::{AvError, check};
use crate::libav::log::Log;
use crate::libav::side_data::{self, FrameSideData};
use crate::libav::versions;
use crate::media::FrameStamp;
use crate::media::{Encode, Plain, Plan, Rescue, Sink, SinkError};
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::{Frame, Transfer};
use grainfield_filters::ratio::Ratio;
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use sys::{AVPacketSideDataType, AVRational};

/// A video file being written.
pub(super) struct Video {
    name: String,
    shared: Arc<Shared>,
    choice: Choice,
    encoding: Encoding,
    encoder: Encoder,
    /// Seconds per tick of the input timestamps.
    clock: Clock,
    base: AVRational,
    hdr: Hdr,
    packet: Packet,
    whole_end: bool,
    /// The offset that is subtracted from all times, known with the first picture.
    shift: i64,
    /// Time of the last picture, and the end of all so far, before the shift.
    last: Option<i64>,
    end: i64,
    /// Durations of the pictures in the encoder, by their times.
    durations: BTreeMap<i64, i64>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

/// The part that does not wait for the encoder.
struct Shared {
    /// `None` after it has been finished or abandoned.
    output_file: Mutex<Option<OutputFile>>,
    /// The file's name as long as it is incomplete.
    partial: Option<PathBuf>,
    progress: EncoderProgress,
}

/// What an encoder has done so far.
#[derive(Default)]
pub(super) struct EncoderProgress {
    /// Pictures that it holds.
    held: AtomicU64,
    /// Calls that have returned.
    calls: AtomicU64,
}

impl EncoderProgress {
    /// A call has returned; it took a picture or gave a packet.
    pub(super) fn step(&self, taken: u64, given: u64) {
        self.held.fetch_add(taken.wrapping_sub(given), Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> (u64, u64) {
        (self.held.load(Ordering::Relaxed), self.calls.load(Ordering::Relaxed))
    }
}

impl Rescue for Shared {
    fn end(&self) -> Result<PartialOutput, SinkError> {
        let _log = Log::new().enter();
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let file = match self.output_file.try_lock() {
                Ok(mut file) => file.take(),
                Err(TryLockError::Poisoned(file)) => file.into_inner().take(),
                Err(TryLockError::WouldBlock) => None,
            };
            match file {
                Some(file) => return file.abandon(),
                None => std::thread::sleep(PATIENCE / 100),
            }
        }
        let name = self.partial.as_deref().unwrap_or(Path::new("")).display().to_string();
        let problem = "it may not play, since writing it stands still, and its end is missing".into();
        Err(SinkError::Bad { name, problem }
            .leaving(PartialOutput { partial: self.partial.clone(), frames: None }))
    }

    fn progress(&self) -> (u64, u64) {
        self.progress.get()
    }
}

/// How long a write may stand still when the output is to end at once.
const PATIENCE: Duration = Duration::from_secs(1);

/// The common start of every video file.
pub(super) struct OpenedOutput {
    pub(super) output_file: OutputFile,
    pub(super) choice: Choice,
    pub(super) encoder: Encoder,
    pub(super) clock: Clock,
    pub(super) base: AVRational,
    pub(super) hdr: Hdr,
    pub(super) warnings: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Opens the encoder and makes the file with its streams; `by` is the folder of the temporary file.
pub(super) fn prepare(output: &OsStr, plan: &Plan, by: Option<&Path>) -> Result<OpenedOutput, SinkError> {
    let no_container = || fault(output, "no video container has this extension".into());
    let container = Container::of(output).ok_or_else(no_container)?;
    let choice = choose(output, &plan.format, &plan.encoding)?;
    let source = plan.carried.as_ref().and_then(|c| c.downcast_ref::<side_data::SourceFile>());
    let clock = Clock::of(&choice, container, source);
    let base = rational(clock.tick).unwrap_or(AVRational { num: 1, den: 1_000_000 });
    let clock = Clock { tick: Ratio::new(base.num.into(), base.den.into()).unwrap_or(clock.tick), ..clock };
    let alone = plan.journal.segments.as_ref().is_some_and(|grid| grid.picture_only);
    // shards are joined without the tags of the first one
    let codes = plan.timecode.as_ref().filter(|_| !alone && plan.journal.commit_hook.is_none());
    let timecode = codes.filter(|_| container.keeps_tag("timecode")).and_then(|(code, frames)| {
        timecode_after(code, rational(choice.format.rate)?, i32::try_from(*frames).ok()?)
    });
    let output_params = OutputParams {
        output,
        overwrite: plan.overwrite,
        by,
        container,
        base,
        rate: choice.format.rate,
        whole: plan.whole,
        encoding: &plan.encoding,
        source,
        timecode,
        alone,
    };
    let input = output_params.input()?;
    let from = input.as_ref().and_then(|input| input.stream(source.map_or(0, |s| s.video)));
    // SAFETY: a stream of the open input.
    let hdr = from.map_or_else(Hdr::default, |stream| unsafe { Hdr::of_stream(stream) });
    let hdr = source.filter(|_| is_hdr(&choice)).map_or(hdr, |source| hdr.or(source.hdr));
    let in_frames = source.map_or(&[][..], |s| &s.side_data);
    let mut said = lost_picture(from, in_frames, container, &choice, &hdr);
    let mut lost = plan.lost_in_video.clone();
    lost.retain(|what| output_params.timecode.is_none() || what != "time code");
    said.extend(
        (!lost.is_empty()).then(|| format!("information of the source is lost ({})", lost.join(", "))),
    );
    let rate = choice.format.rate;
    let seconds = rate.recip().unwrap_or(Ratio::ONE);
    match container.has_constant_rate() {
        _ if clock.grid.is_none() || !source.is_some_and(|s| s.variable) => {}
        true if !container.audio_codecs().is_empty() => {
            let problem = format!(
                "{} shows every frame for the same time, but the frame rate of the input varies: add --lavfi fps={rate} \
                 to repeat frames where they last longer, or name the output NAME.mov",
                container.name()
            );
            return Err(SinkError::Usage { name: output.to_string_lossy().into_owned(), problem });
        }
        true => said.push(format!("timestamps are lost: every frame is shown for {seconds} s")),
        false => said.push(format!("timestamps are rounded to multiples of {seconds} s")),
    }
    let encoder = open(output, container, &choice, base, &plan.encoding, &hdr)?;
    let (output_file, more) = OutputFile::create(&output_params, input, |muxer, from| {
        add_picture(muxer, from, container, &choice, &encoder, &hdr)
    })?;
    said.extend(more);
    let name = &output_file.name;
    let warnings = match said.is_empty() {
        true => Vec::new(),
        false => {
            vec![format!("{name} ({}) cannot keep everything: {}", container.name(), said.join("; "))]
        }
    };
    let threads = threads(&choice.format);
    let s = if threads == 1 { "" } else { "s" };
    let notes = vec![format!("{name}: {} by {}, {threads} thread{s}", choice.layout.name, choice.name)];
    Ok(OpenedOutput { output_file, choice, encoder, clock, base, hdr, warnings, notes })
}

/// Whether HDR10 metadata of frames still describe the picture, whose transfer the job may have changed.
fn is_hdr(choice: &Choice) -> bool {
    matches!(choice.format.transfer, Transfer::PQ | Transfer::HLG)
}

/// Completes HDR10 metadata of the container by those of a picture.
pub(super) fn hdr_with(hdr: Hdr, choice: &Choice, carried: Option<&FrameSideData>) -> Hdr {
    match carried.filter(|_| is_hdr(choice)) {
        // SAFETY: valid as long as `carried`.
        Some(carried) => hdr.or(unsafe { Hdr::of_frame(carried.props()) }),
        None => hdr,
    }
}

impl Video {
    pub(super) fn create(output: &OsStr, plan: &Plan) -> Result<Video, SinkError> {
        let OpenedOutput { mut output_file, choice, encoder, clock, base, hdr, warnings, notes } =
            prepare(output, plan, None)?;
        if let Some(hook) = &plan.journal.commit_hook {
            output_file.out.before_commit(hook.clone().boxed());
        }
        let partial = output_file.out.partial().map(Partial::path);
        let progress = EncoderProgress::default();
        Ok(Video {
            packet: Packet::new().ok_or_else(|| fault(output, "out of memory".into()))?,
            name: output_file.name.clone(),
            shared: Arc::new(Shared { output_file: Mutex::new(Some(output_file)), partial, progress }),
            choice,
            encoding: plan.encoding.clone(),
            encoder,
            clock,
            base,
            hdr,
            whole_end: plan.whole.1,
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

    /// Runs a function on the file, which is an error after it has been ended from another thread.
    fn with_file<T>(&self, f: impl FnOnce(&mut OutputFile) -> Result<T, SinkError>) -> Result<T, SinkError> {
        let mut file = self.shared.output_file.lock().unwrap_or_else(PoisonError::into_inner);
        file.as_mut().map_or_else(|| Err(self.fault("it has been ended", AvError::EXIT)), f)
    }

    /// Writes the header, for which the first picture is needed. Returns the shift of all times.
    fn begin(&mut self, pts: i64, carried: Option<&FrameSideData>) -> Result<i64, SinkError> {
        // If the picture has more HDR10 metadata than the container, open the encoder again.
        let hdr = hdr_with(self.hdr, &self.choice, carried);
        if hdr.says() != self.hdr.says() {
            self.hdr = hdr;
            let (output, container) = (OsStr::new(&self.name), self.with_file(|file| Ok(file.container))?);
            self.encoder = open(output, container, &self.choice, self.base, &self.encoding, &hdr)?;
            self.with_file(|file| {
                parameters(file.muxer.get(file.stream), &self.choice, &self.encoder, &hdr)
                    .map_err(|e| file.fault("no stream can be made", e))
            })?;
        }
        self.with_file(|file| file.begin(pts).map(|()| file.shift))
    }

    /// Writes all packets the encoder has ready.
    fn drain(&mut self) -> Result<(), SinkError> {
        while self.encoder.receive(&self.packet).map_err(|e| self.fault("the encoder failed", e))? {
            self.shared.progress.step(0, 1);
            // SAFETY: our own packet.
            let packet = unsafe { &mut *self.packet.0 };
            if let Some(duration) = self.durations.remove(&packet.pts) {
                packet.duration = duration;
            }
            self.with_file(|file| file.put(&self.packet, self.encoder.time_base()))?;
        }
        Ok(())
    }

    /// Flushes the encoder and writes the remaining packets. Returns the file without its trailer.
    fn close(&mut self, to_end: bool) -> Result<(OutputFile, Result<(), SinkError>), SinkError> {
        let mut result = Ok(());
        if self.with_file(|file| Ok(!file.muxer.failed() && file.muxer.begun()))? {
            result = self.encoder.end().map_err(|e| self.fault("the encoder failed", e));
            self.shared.progress.step(0, 0);
            result = result.and_then(|()| self.drain());
            if result.is_ok() {
                result = self.with_file(|file| file.rest((!to_end).then_some(self.end)));
            }
        }
        let file = self.shared.output_file.lock().unwrap_or_else(PoisonError::into_inner).take();
        // always write the trailer: without it most files do not play
        Ok((file.ok_or_else(|| self.fault("it has been ended", AvError::EXIT))?, result))
    }
}

impl Sink for Video {
    fn encoder(&self) -> Arc<dyn Encode> {
        Arc::new(Plain)
    }

    fn rescue(&self) -> Result<Arc<dyn Rescue>, SinkError> {
        Ok(self.shared.clone())
    }

    fn write(&mut self, stamp: &FrameStamp, frame: &Frame, _: &[u8]) -> Result<(), SinkError> {
        let carried = stamp.carried.as_ref().and_then(|c| c.downcast_ref::<FrameSideData>());
        let (pts, duration) = self.clock.shown(stamp);
        let first = self.last.is_none();
        // encoders require increasing times
        let pts = self.last.map_or(pts, |last| pts.max(last + 1));
        if first {
            self.shift = self.begin(pts, carried)?;
        }
        self.last = Some(pts);
        self.end = self.end.max(pts.saturating_add(duration));
        let time = pts.saturating_sub(self.shift);
        self.durations.insert(time, duration);
        self.shared.progress.step(1, 0);
        let sent = self.encoder.send(frame, time, duration, carried);
        self.shared.progress.step(0, 0);
        sent.map_err(|e| self.fault("the encoder refused the picture", e))?;
        self.drain()
    }

    fn keeps_times(&self) -> bool {
        self.clock.grid.is_none()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn finish(mut self: Box<Self>) -> Result<(), SinkError> {
        let (file, result) = self.close(self.whole_end)?;
        file.finish(result)
    }

    fn abandon(mut self: Box<Self>) -> Result<PartialOutput, SinkError> {
        // Errors of writing or copying are the reason for abandoning, or irrelevant.
        self.close(false)?.0.abandon()
    }
}

pub(super) fn open(
    output: &OsStr,
    container: Container,
    choice: &Choice,
    base: AVRational,
    encoding: &Encoding,
    hdr: &Hdr,
) -> Result<Encoder, SinkError> {
    Encoder::open(container, choice, base, encoding, hdr).map_err(|error| match error {
        OpenError::Memory => fault(output, "out of memory".into()),
        OpenError::FilmGrain(error) => {
            fault(output, format!("no temporary file for the film grain table: {error}"))
        }
        OpenError::Unknown(keys) => SinkError::Usage {
            name: output.to_string_lossy().into_owned(),
            problem: format!(
                "the encoder {} has no option {}; 'ffmpeg -h encoder={}' lists its options",
                choice.name,
                keys.join(", "),
                choice.name
            ),
        },
        OpenError::Av(error) => {
            // the system's error about a missing device is not an error of the output
            if choice.codec.capabilities as u32 & sys::AV_CODEC_CAP_HARDWARE != 0 {
                let what = "cannot be opened: it needs hardware and drivers that this machine seems to lack";
                return fault(output, format!("the encoder {} {what} ({error})", choice.name));
            }
            let what = format!("the encoder {} cannot be opened", choice.name);
            av_fault(&output.to_string_lossy(), &what, error)
        }
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

/// Sets the properties of the picture in the container.
pub(super) fn parameters(
    stream: &mut sys::AVStream,
    choice: &Choice,
    encoder: &Encoder,
    hdr: &Hdr,
) -> Result<(), AvError> {
    // in newer versions, side data of the stream are part of its parameters, and would be lost with the old
    // ones
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
        let par = &mut *stream.codecpar;
        if par.codec_id == sys::AVCodecID::AV_CODEC_ID_PRORES {
            // the encoder sets only the tag, but MXF needs the profile
            let tags = [b"apco", b"apcs", b"apcn", b"apch", b"ap4h", b"ap4x"];
            let found = tags.iter().position(|tag| par.codec_tag == u32::from_le_bytes(**tag));
            par.profile = found.map_or(par.profile, |profile| profile as i32);
        }
    }
    stream.time_base = encoder.time_base();
    if let Some(rate) = rational(choice.format.rate) {
        stream.avg_frame_rate = rate;
        stream.r_frame_rate = rate;
    }
    Ok(())
}
