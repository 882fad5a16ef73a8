//! The muxing half of a video file: the container with the packets of the filtered picture and of all copied
//! streams.

use super::losses::lost_metadata;
use super::part_reader::intact_pictures;
use super::{av_fault, encoding_error, fault};
use crate::disk::{OutputFile, Partial, PartialOutput};
use crate::encoding::{Audio, Encoding, Subs};
use crate::journal::segments::timeline::Time;
use crate::journal::{Cuts, SourceEnds};
use crate::libav::capabilities::Chapters;
use crate::libav::container::{Container, ContainerFamily};
use crate::libav::copy::{
    AudioExtent, CutTimes, Planned, Span, StreamCopier, TIMECODE, add_chapters, container_accepts,
    measure_extents, move_timecodes, plan as route, tags, timecode_after,
};
use crate::libav::details;
use crate::libav::dict::{Tag, Tagged};
use crate::libav::error::AvError;
use crate::libav::input::Input;
use crate::libav::mux::Muxer;
use crate::libav::raw::{Fields, rational};
use crate::libav::side_data;
use crate::media::SinkError;
use ffmpeg_next::Packet;
use ffmpeg_sys_next as sys;
use grainfield_filters::ratio::Ratio;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use sys::AVRational;

/// A file being written.
pub(super) struct VideoFile {
    pub(super) name: String,
    pub(super) container: Container,
    pub(super) ends: SourceEnds,
    pub(super) cuts: Cuts,
    no_chapters: bool,
    copies: Option<StreamCopier>,
    pub(super) muxer: Muxer,
    pub(super) out: OutputFile,
    /// The number of packets of the picture in the file.
    pub(super) pictures: u64,
    /// The picture's stream in the output.
    pub(super) stream: usize,
    base: AVRational,
    /// For the input: seconds to subtract from all times, and whether times restart in the middle.
    start: Ratio,
    jumps: bool,
    /// For a time code to be adjusted: frames per second, and the time of the input's first picture in
    /// seconds.
    timecode: Option<(Ratio, Ratio)>,
    /// The offset to subtract from all times, known with the first picture.
    pub(super) shift: i64,
}

/// The parameters of an output file.
pub(super) struct VideoFileParams<'a> {
    pub(super) output: &'a OsStr,
    pub(super) overwrite: bool,
    /// The folder for an incomplete file of which nothing is to be left.
    pub(super) folder: Option<&'a Path>,
    pub(super) container: Container,
    /// The time base of packets, and the frame rate.
    pub(super) base: AVRational,
    pub(super) rate: Ratio,
    pub(super) ends: SourceEnds,
    pub(super) cuts: &'a Cuts,
    pub(super) encoding: &'a Encoding,
    pub(super) source: Option<&'a side_data::SourceFile>,
    /// The time code of the first picture, if it is not in the input.
    pub(super) timecode: Option<String>,
    pub(super) picture_only: bool,
}

impl VideoFileParams<'_> {
    /// The input, opened a second time; `None` for a pipe and for inputs that are not containers.
    pub(super) fn input(&self) -> Result<Option<Input>, SinkError> {
        let opened = self.source.map_or(Ok(None), Input::open);
        opened.map_err(|e| self.fault("the input cannot be opened a second time", e))
    }

    /// The gaps and ends of sound, for a container without times.
    fn extents(&self) -> Result<Vec<AudioExtent>, SinkError> {
        let holds = self.container.counts_frames() && !self.container.audio_codecs().is_empty();
        let audio = self.encoding.audio != Audio::None && self.source.is_some_and(|s| !s.jumps);
        let input = if holds && audio { self.input()? } else { None };
        Ok(input.map_or_else(Vec::new, |mut input| measure_extents(&mut input)))
    }

    /// Creates the file under a temporary name, and its muxer.
    fn create_file(&self) -> Result<(OutputFile, Muxer), SinkError> {
        let out = OutputFile::create_by(self.output, self.overwrite, self.folder)?;
        let clone = |file: &File| file.try_clone().map_err(|cause| SinkError::io(out.name().into(), cause));
        let name = self.container.name();
        let muxer = match (out.partial(), out.stream().filter(|_| self.container.is_pipe)) {
            (Some(partial), _) => Muxer::new(name, clone(partial.file())?, reserve(partial)),
            (None, Some(pipe)) => Muxer::to_pipe(name, clone(pipe)?),
            (None, None) => {
                return Err(fault(self.output, "is not a file; a video container needs one".into()));
            }
        };
        let muxer = muxer.map_err(|e| self.fault("it cannot be started", e))?;
        Ok((out, muxer))
    }

    /// Plans the time codes of the input; those that are lost or wrong are added to `losses`.
    fn timecodes(&self, input: &Input, losses: &mut Vec<String>) -> Timecodes {
        let codes = input.timecodes();
        let mut timecodes = Timecodes::default();
        if codes.is_empty() {
            return timecodes;
        }
        let named = |tag: &Tag| tag.0.eq_ignore_ascii_case(TIMECODE);
        // if streams have no tags, set it for the file
        if self.container.family() == ContainerFamily::Other && !tags(input).iter().any(named) {
            match self.container.keeps_tag(TIMECODE) {
                true => timecodes.of_file = codes.first().cloned(),
                false => losses.push("the time code is lost".into()),
            }
        }
        if !self.ends.first {
            // the rate of the input's pictures as counted
            let own = self.source.and_then(|s| details::ratio(input.stream(s.video)?.avg_frame_rate));
            let steady = self.source.filter(|s| !s.variable && own == Some(self.rate));
            let moves =
                |code: &String| rational(self.rate).and_then(|rate| timecode_after(code, rate, 0)).is_some();
            timecodes.adjust = steady
                .filter(|_| codes.iter().all(moves))
                .map(|s| (self.rate, Ratio::whole(s.first) * s.time_base));
            if timecodes.adjust.is_none() {
                let problem =
                    "the time code is that of the input's first frame, not of the first rendered frame";
                losses.push(problem.into());
            }
        }
        timecodes
    }

    /// Makes the stream of the picture by `picture`, in a file that has no other.
    fn picture_stream(
        &self,
        muxer: &mut Muxer,
        mut picture: impl FnMut(&mut Muxer) -> Result<(), AvError>,
    ) -> Result<(), SinkError> {
        let failed = |e| self.fault("no stream can be made", e);
        let mut trial =
            Muxer::trial(self.container.name()).map_err(|e| self.fault("it cannot be started", e))?;
        picture(&mut trial).map_err(failed)?;
        trial.begin().map_err(|e| self.refused(e))?;
        picture(muxer).map_err(failed)?;
        muxer.context().add_tags(self.timecode.iter().map(timecode_tag));
        Ok(())
    }

    /// Makes the stream of the picture by `picture`, and those that are copied from the input; streams that are lost or
    /// converted are added to `losses`.
    fn all_streams(
        &self,
        input: Input,
        timecode: Option<String>,
        muxer: &mut Muxer,
        losses: &mut Vec<String>,
        mut picture: impl FnMut(&mut Muxer, &sys::AVStream) -> Result<(), AvError>,
    ) -> Result<StreamCopier, SinkError> {
        let video = self.source.map_or(0, |s| s.video);
        let mut plans = vec![Planned::Drop; input.streams().len()];
        plans.get_mut(video).into_iter().for_each(|plan| *plan = Planned::Picture);
        let mut tried = |plans: &[Planned]| container_accepts(&input, plans, self.container, &mut picture);
        tried(&plans).map_err(|e| self.refused(e))?;
        if !self.picture_only {
            let (extents, takes) = (self.extents()?, |plans: &[Planned]| tried(plans).is_ok());
            let more;
            (plans, more) = route(&input, video, self.container, self.encoding, self.ends, &extents, takes);
            // messages about rejected plans
            crate::libav::log::drain();
            losses.extend(more);
            if plans.contains(&Planned::Picture) {
                muxer.context().add_tags(tags(&input));
                muxer.context().add_tags(timecode.iter().map(timecode_tag));
            }
        }
        let cut = self.ends != SourceEnds::BOTH || !self.cuts.frames.is_empty();
        let copies = StreamCopier::new(input, &plans, self.container, muxer, cut, video, picture);
        copies.map_err(|e| self.fault("an extra stream cannot be set up", e))
    }

    fn fault(&self, doing: &str, error: AvError) -> SinkError {
        av_fault(&self.output.to_string_lossy(), doing, error)
    }

    /// The error that the container does not support even the picture.
    fn refused(&self, error: AvError) -> SinkError {
        let messages = crate::libav::log::drain().join("; ");
        let messages = if messages.is_empty() { error.to_string() } else { messages };
        let name = self.container.name();
        let problem = match &self.encoding.tag {
            Some(tag) => format!("{name} does not store this video with the tag {tag}: {messages}"),
            None => format!(
                "{name} cannot store this video: {messages}; name the output NAME.mkv, or choose another codec"
            ),
        };
        encoding_error(self.output, problem)
    }
}

/// How the time codes of the input are written.
#[derive(Default)]
struct Timecodes {
    /// For a tag of the whole file.
    of_file: Option<String>,
    /// To adjust them to the first rendered picture: frames per second, and the time of the input's first picture in
    /// seconds.
    adjust: Option<(Ratio, Ratio)>,
}

impl VideoFile {
    /// Makes the file under a temporary name, and its streams. `picture` makes that of the picture. Also returns the
    /// properties that the container loses, one clause each.
    pub(super) fn create(
        params: &VideoFileParams<'_>,
        input: Option<Input>,
        mut picture: impl FnMut(&mut Muxer, Option<&sys::AVStream>) -> Result<usize, AvError>,
    ) -> Result<(VideoFile, Vec<String>), SinkError> {
        let &VideoFileParams { output, container, ends, cuts, base, source, picture_only, .. } = params;
        let no_chapters = params.encoding.no_chapters || picture_only;
        let mut losses = Vec::new();
        let unread = source.filter(|_| !picture_only).map_or(&[][..], |source| &source.beside);
        let Encoding { audio, subs, .. } = params.encoding;
        let wanted = |label: &&String| match label.split(' ').next() {
            Some("audio") => *audio != Audio::None,
            Some("subtitle") => *subs != Subs::None,
            _ => true,
        };
        let unread: Vec<&str> = unread.iter().filter(wanted).map(String::as_str).collect();
        if !unread.is_empty() {
            let unread = unread.join(", ");
            losses.push(format!(
                "{unread} of the input, which is a pipe and can be read only once: use a file"
            ));
        }
        let (out, mut muxer) = params.create_file()?;
        let mut timecodes = Timecodes::default();
        if !picture_only && let Some(input) = &input {
            losses.extend(lost_metadata(input, container, !no_chapters, ends.last && cuts.frames.is_empty()));
            timecodes = params.timecodes(input, &mut losses);
        }
        let mut stream = 0;
        let mut picture = |muxer: &mut Muxer, from: Option<&sys::AVStream>| {
            picture(muxer, from).map(|index| stream = index)
        };
        let copies = match input {
            None => {
                params.picture_stream(&mut muxer, |muxer| picture(muxer, None))?;
                None
            }
            Some(input) => {
                let picture = |muxer: &mut Muxer, from: &sys::AVStream| picture(muxer, Some(from));
                let code = timecodes.of_file;
                Some(params.all_streams(input, code, &mut muxer, &mut losses, picture)?)
            }
        };
        let (start, jumps) = source.map_or((Ratio::ZERO, false), |s| (s.start, s.jumps));
        let video_file = VideoFile {
            name: output.to_string_lossy().into_owned(),
            container,
            ends,
            cuts: cuts.clone(),
            no_chapters,
            copies,
            muxer,
            out,
            pictures: 0,
            stream,
            base,
            start,
            jumps,
            timecode: timecodes.adjust,
            shift: 0,
        };
        Ok((video_file, losses))
    }

    pub(super) fn fault(&self, doing: &str, error: AvError) -> SinkError {
        av_fault(&self.name, doing, error)
    }

    /// Writes the header; `pts` is the time of the first picture. The streams must not change any more.
    pub(super) fn begin(&mut self, pts: i64) -> Result<(), SinkError> {
        // without times all streams begin together, and a late start would become a gap
        let together = !self.ends.first || self.container.counts_frames();
        let tick = Ratio::new(self.base.num.into(), self.base.den.into()).unwrap_or(Ratio::ONE);
        let start = self.start.checked_div(tick).unwrap_or(Ratio::ZERO);
        self.shift = if together { pts } else { (start + Ratio::HALF).floor() };
        let first = together.then_some(pts);
        let span = Span { base: self.base, first, end: None, shift: self.shift, cuts: CutTimes::default() };
        if let Some(copies) = &mut self.copies {
            let begun = copies.begin(span.clone(), !self.ends.last, self.jumps, &mut self.muxer);
            begun.map_err(|e| self.fault("the extra streams cannot be read", e))?;
        }
        if self.container.chapters() == Chapters::First
            && self.ends.last
            && self.cuts.frames.is_empty()
            && !self.no_chapters
            && let Some(copies) = &self.copies
        {
            let added = add_chapters(&copies.input, &span, self.muxer.context());
            added.map_err(|e| self.fault("its chapters cannot be written", e))?;
        }
        if let Some((rate, first)) = self.timecode
            && let Some(rational) = rational(rate)
        {
            let frames = ((Ratio::whole(pts) * tick - first) * rate + Ratio::HALF).floor();
            move_timecodes(self.muxer.context(), rational, i32::try_from(frames).unwrap_or(0));
        }
        // Matroska would shift everything because of sound that begins before zero, which is not necessary
        if self.container.is_matroska() && pts - self.shift >= 0 {
            self.muxer.context().avoid_negative_ts = sys::AVFMT_AVOID_NEG_TS_DISABLED;
        }
        let begun = self.muxer.begin();
        begun.map_err(|e| self.fault("its header cannot be written", e))
    }

    /// Leaves out what is between two times of the input, in ticks of the file.
    pub(super) fn cut(&mut self, (from, to): (i64, i64)) {
        self.copies.iter_mut().for_each(|copies| copies.cut(from, to));
    }

    /// Writes a packet of the picture, with times in ticks of `base` and after the shift, after the sound that
    /// precedes it.
    pub(super) fn write_packet(&mut self, packet: &mut Packet, base: AVRational) -> Result<(), SinkError> {
        let dts = packet.av().dts;
        if let Some(copies) = &mut self.copies {
            let copied = copies.write_before(dts, base, &mut self.muxer);
            copied.map_err(|e| self.fault("an extra stream cannot be copied", e))?;
        }
        let written = self.muxer.write(packet, base, self.stream);
        written.map_err(|e| self.fault("it cannot be written", e))?;
        self.pictures += 1;
        Ok(())
    }

    /// Writes a packet of the picture, with times in ticks of the file and before the shift.
    pub(super) fn write_packet_at(&mut self, packet: &mut Packet, time: &Time) -> Result<(), SinkError> {
        let p = packet.av_mut();
        p.pts = time.pts.saturating_sub(self.shift);
        p.dts = time.dts.saturating_sub(self.shift);
        (p.duration, p.flags) = (time.duration, time.flags);
        self.write_packet(packet, self.base)
    }

    /// Writes the remaining packets of the copied streams, up to `end` if the input continues after it.
    pub(super) fn finish_copies(&mut self, end: Option<i64>) -> Result<(), SinkError> {
        let Some(copies) = &mut self.copies else { return Ok(()) };
        let rest = copies.finish(end, &mut self.muxer).and_then(|span| match span {
            Some(span) if !self.no_chapters && self.container.chapters() == Chapters::Last => {
                add_chapters(&copies.input, &span, self.muxer.context())
            }
            _ => Ok(()),
        });
        rest.map_err(|e| self.fault("an extra stream cannot be copied", e))
    }

    /// Writes the trailer. Returns the file, how many of its pictures can be played, and the reason if it is incomplete.
    fn close(mut self) -> (OutputFile, u64, Result<(), SinkError>) {
        // a transport stream has no end, and Matroska plays without it; most others do not
        let stream = self.container.name() == "mpegts";
        let endless = stream || self.container.is_matroska();
        let unwritten_from = self.muxer.unwritten_from();
        let closed = match unwritten_from {
            // a gap before its end would be an error
            Some(_) if endless => Err(fault(&self.name, "its end could not be written".into())),
            _ => self.muxer.end().map_err(|e| {
                let problem = format!("it cannot be played, since its end cannot be written: {e}");
                fault(&self.name, problem)
            }),
        };
        let VideoFile { muxer, mut out, pictures, .. } = self;
        let (mut frames, mut bytes) = (0, 0);
        if pictures > 0 && (closed.is_ok() || endless) {
            frames = pictures;
            bytes = closed.as_ref().map_or(unwritten_from.unwrap_or(u64::MAX), |size| *size);
            if let (Some(end), Some(partial)) = (muxer.unwritten_from(), out.partial()) {
                let (count, last) = intact_pictures(&partial.path(), end);
                // its pictures have no lengths: the last one is torn
                (frames, bytes) = if stream { (count.saturating_sub(1), last) } else { (count, bytes) };
            }
        }
        if frames > 0 {
            out.keep_foreign_bytes(bytes, frames);
        }
        (out, frames, closed.map(drop))
    }

    /// Completes the file, unless there was an error.
    pub(super) fn finish(self, result: Result<(), SinkError>) -> Result<(), SinkError> {
        let (out, frames, closed) = self.close();
        match if frames == 0 { closed.and(result) } else { result.and(closed) } {
            Ok(()) => Ok(out.finish()?),
            Err(cause) => {
                Err(cause
                    .leaving(PartialOutput { frames: Some(frames), ..out.abandon().unwrap_or_default() }))
            }
        }
    }

    /// Keeps the pictures that are in the file.
    pub(super) fn abandon(self) -> Result<PartialOutput, SinkError> {
        let lost = self.pictures > 0;
        let (out, frames, closed) = self.close();
        let left = out.abandon()?;
        match closed {
            Err(cause) if lost && frames == 0 => Err(cause.leaving(left)),
            _ => Ok(left),
        }
    }
}

fn timecode_tag(code: impl Into<String>) -> Tag {
    (TIMECODE.into(), code.into())
}

/// Disk space beside the output, in a file without a name.
fn reserve(partial: &Partial) -> Option<File> {
    let mut file = tempfile::tempfile_in(partial.folder()).ok()?;
    file.write_all(&vec![0; RESERVE]).ok()?;
    Some(file)
}

/// Enough for the packets in the buffer and the table of contents of several hours.
const RESERVE: usize = 1 << 20;
