//! The packets of streams that are not filtered, in order of time, cut to the rendered part.

use super::audio::AudioTranscoder;
use super::extent::is_audio;
use super::pcm::Pcm;
use super::route::Planned;
use super::span::Span;
use super::subtitles::Text;
use super::tags::stream_tags;
use crate::libav::container::Container;
use crate::libav::dict::Tagged;
use crate::libav::error::AvError;
use crate::libav::input::Input;
use crate::libav::mux::Muxer;
use crate::libav::raw::{Fields, parameters, parameters_mut, set_channels, set_extra, set_parameters};
use crate::libav::timeline::{FollowerStreams, NO_TIME, Timeline};
use crate::libav::versions::copy_stream_side_data;
use ffmpeg_next::{Packet, Rescale};
use ffmpeg_sys_next as sys;
use std::collections::VecDeque;
use std::sync::Arc;
use sys::{AVMediaType, AVPacketSideDataType, AVRational};

/// Kinds of side data that belong to a whole stream, for any codec.
const STREAM_SIDE_DATA: [AVPacketSideDataType; 6] = [
    AVPacketSideDataType::AV_PKT_DATA_DISPLAYMATRIX,
    AVPacketSideDataType::AV_PKT_DATA_STEREO3D,
    AVPacketSideDataType::AV_PKT_DATA_SPHERICAL,
    AVPacketSideDataType::AV_PKT_DATA_REPLAYGAIN,
    AVPacketSideDataType::AV_PKT_DATA_AUDIO_SERVICE_TYPE,
    AVPacketSideDataType::AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
];

/// The treatment of the packets of a stream.
enum Conversion {
    Copy,
    Audio(Box<AudioTranscoder>),
    Text(Box<Text>),
}

impl Conversion {
    fn write(
        &mut self,
        packet: &mut Packet,
        base: AVRational,
        to: usize,
        muxer: &mut Muxer,
    ) -> Result<(), AvError> {
        match self {
            Conversion::Copy => muxer.write(packet, base, to),
            Conversion::Audio(audio) => audio.convert(packet, base, to, muxer),
            Conversion::Text(text) => text.convert(packet, base, to, muxer),
        }
    }
}

/// The route of a stream.
struct Route {
    /// Index in the output.
    to: usize,
    conversion: Conversion,
    kind: AVMediaType,
    /// The number of cuts that its packets have passed, and the end of the last packet as written.
    cuts: usize,
    end: i64,
    pcm: Option<Pcm>,
}

impl Route {
    fn is_subtitle(&self) -> bool {
        self.kind == AVMediaType::AVMEDIA_TYPE_SUBTITLE
    }
}

/// Whether the first time is after the second.
fn is_later(a: i64, a_base: AVRational, b: i64, b_base: AVRational) -> bool {
    let exact = |t: i64, base: AVRational, other: AVRational| {
        i128::from(t) * i128::from(base.num) * i128::from(other.den)
    };
    exact(a, a_base, b_base) > exact(b, b_base, a_base)
}

/// Copies streams from a second reading of the input.
pub(crate) struct StreamCopier {
    pub(crate) input: Input,
    /// Indexed as in the input; `None` for streams that are not copied.
    routes: Vec<Option<Route>>,
    /// Packets that have been read but not written.
    read_ahead: VecDeque<Packet>,
    /// The filtered stream, the times of its packets, and the adjustment of all other streams to it.
    video: usize,
    timeline: Timeline,
    followers: FollowerStreams,
    ready: VecDeque<Packet>,
    /// Subtitles that may extend beyond the end of the picture, which is not known yet.
    pending_subtitles: VecDeque<Packet>,
    /// Whether streams are cut at an end.
    cut_end: bool,
    ended: bool,
    span: Option<Arc<Span>>,
}

/// The limits on packets and bytes that are read ahead to find where each sound begins.
const READ_AHEAD_LIMITS: (usize, usize) = (2000, 32 << 20);

impl StreamCopier {
    /// Makes the streams of the output; `picture` is called for the filtered one.
    pub(crate) fn new(
        mut input: Input,
        plans: &[Planned],
        container: Container,
        muxer: &mut Muxer,
        cut: bool,
        video: usize,
        picture: impl FnMut(&mut Muxer, &sys::AVStream) -> Result<(), AvError>,
    ) -> Result<StreamCopier, AvError> {
        let routes = create_streams(&input, plans, container, muxer, cut, picture)?;
        let ended = routes.iter().all(Option::is_none);
        let (read_ahead, pending_subtitles, ready) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        let picture = input.stream(video).ok_or(AvError(-libc::EINVAL))?;
        let timeline = Timeline::new(input.context(), picture);
        let jumps = timeline.may_jump();
        input.skip_unless(|i| routes.get(i).is_some_and(Option::is_some) || (i == video && jumps));
        let followers = FollowerStreams::default();
        Ok(StreamCopier {
            input,
            routes,
            read_ahead,
            video,
            timeline,
            followers,
            ready,
            pending_subtitles,
            cut_end: false,
            ended,
            span: None,
        })
    }

    /// Sets the start, seeks there, and finds where each sound begins.
    pub(crate) fn begin(
        &mut self,
        span: Span,
        cut_end: bool,
        jumps: bool,
        muxer: &mut Muxer,
    ) -> Result<(), AvError> {
        let span = Arc::new(span);
        self.span = Some(Arc::clone(&span));
        self.cut_end = cut_end;
        for route in self.routes.iter_mut().flatten() {
            if let Conversion::Audio(audio) = &mut route.conversion {
                audio.cuts_before_zero = span.first.is_some();
            }
        }
        if let Some(first) = span.first.filter(|_| !self.ended && !jumps) {
            // a second earlier, for subtitles that are still shown; inputs without seeking are read through
            let to = first.rescale(span.base, ffmpeg_next::rescale::TIME_BASE) - 1_000_000;
            let start = self.input.context().start_time;
            // before the start it fails, and what opening has read ahead is lost
            if to > if start == NO_TIME { 0 } else { start } {
                // where an input cannot seek, reading is only slower
                let _ = self.input.context.seek(to, ..to);
            }
        }
        let mut without_start: Vec<usize> = (0..self.routes.len()).filter(|&i| self.is_audio(i)).collect();
        let (mut count, mut bytes) = (0, 0);
        while !without_start.is_empty() && count < READ_AHEAD_LIMITS.0 && bytes < READ_AHEAD_LIMITS.1 {
            let Some(packet) = self.read()? else { break };
            let (index, pts) = (packet.stream(), packet.pts());
            (count, bytes) = (count + 1, bytes + packet.size());
            if self.is_hidden(&packet) {
                continue;
            }
            if without_start.contains(&index) {
                without_start.retain(|&i| i != index);
                self.set_codec_delay(index, pts, muxer);
            }
            self.read_ahead.push_back(packet);
        }
        Ok(())
    }

    /// Leaves out what is between two times of the filtered stream.
    pub(crate) fn cut(&mut self, from: i64, to: i64) {
        self.span.iter_mut().for_each(|span| Arc::make_mut(span).cuts.push(from, to));
    }

    fn is_audio(&self, i: usize) -> bool {
        let route = self.routes.get(i).and_then(Option::as_ref);
        route.is_some_and(|r| {
            r.kind == AVMediaType::AVMEDIA_TYPE_AUDIO && matches!(r.conversion, Conversion::Copy)
        })
    }

    /// Whether copied sound is hidden by an edit list and is not needed for the decoder's start: one packet, and the
    /// codec's pre-roll.
    fn is_hidden(&self, packet: &Packet) -> bool {
        let (index, p) = (packet.stream(), packet.av());
        let Some(stream) = self.input.stream(index) else { return false };
        if p.flags & sys::AV_PKT_FLAG_DISCARD == 0 || p.pts == NO_TIME || !self.is_audio(index) {
            return false;
        }
        let par = parameters(stream);
        let tick = AVRational { num: 1, den: par.sample_rate.max(1) };
        let preroll = i64::from(par.seek_preroll.max(0)).rescale(tick, stream.time_base);
        p.pts.saturating_add(p.duration).saturating_add(preroll.max(p.duration)) <= 0
    }

    /// Sound that begins before zero has leading samples of the codec; set this delay in the container if the
    /// codec's parameters do not contain it.
    fn set_codec_delay(&mut self, index: usize, pts: Option<i64>, muxer: &mut Muxer) {
        let (Some(Some(route)), Some(span)) = (self.routes.get(index), &self.span) else { return };
        let Some(stream) = self.input.stream(index) else { return };
        let Some(pts) = pts.filter(|&pts| pts < 0 && span.first.is_none()) else { return };
        let par = parameters_mut(muxer.get(route.to));
        if par.initial_padding == 0 && par.sample_rate > 0 {
            let tick = AVRational { num: 1, den: par.sample_rate };
            par.initial_padding = i32::try_from((-pts).rescale(stream.time_base, tick)).unwrap_or(0);
        }
    }

    /// The next packet to copy; `None` at the end.
    fn read(&mut self) -> Result<Option<Packet>, AvError> {
        loop {
            if let Some(packet) = self.ready.pop_front() {
                return Ok(Some(packet));
            }
            if self.ended {
                return Ok(None);
            }
            let mut packet = Packet::empty();
            let read = self.input.read(&mut packet);
            self.ended = !matches!(read, Ok(true));
            if !read? {
                self.release();
                continue;
            }
            let index = packet.stream();
            if index == self.video {
                let before = self.timeline.parts();
                self.timeline.place(packet.av_mut());
                if self.timeline.parts() > before {
                    self.release();
                }
            } else if self.routes.get(index).is_some_and(Option::is_some) {
                let (base, audio) = base_and_is_audio(&self.input, index);
                self.followers.take(&self.timeline, base, audio, packet, &mut self.ready);
            }
        }
    }

    /// Releases packets that wait for a jump of the filtered stream.
    fn release(&mut self) {
        self.followers.release(
            &self.timeline,
            |index| base_and_is_audio(&self.input, index),
            &mut self.ready,
        );
    }

    /// Writes all packets before a time, in ticks of a base and after the shift.
    pub(crate) fn write_before(
        &mut self,
        dts: i64,
        base: AVRational,
        muxer: &mut Muxer,
    ) -> Result<(), AvError> {
        let Some(span) = self.span.clone() else { return Ok(()) };
        while let Some(packet) = self.pending_subtitles.pop_front() {
            let (p, own_base) = self.packet_and_base(&packet);
            let end = span.output_time(p.pts.saturating_add(p.duration), own_base);
            if is_later(end, own_base, dts, base) {
                self.pending_subtitles.push_front(packet);
                break;
            }
            self.write(packet, muxer)?;
        }
        while let Some(packet) = self.next()? {
            let (p, own_base) = self.packet_and_base(&packet);
            let mut time = if p.dts == NO_TIME { p.pts } else { p.dts };
            let route = self.routes.get(packet.stream()).and_then(Option::as_ref);
            if time != NO_TIME && route.is_some_and(|route| route.pcm.is_some()) {
                // a cut in it may follow
                time = time.saturating_add(p.duration);
            }
            if time != NO_TIME && is_later(span.output_time(time, own_base), own_base, dts, base) {
                self.read_ahead.push_front(packet);
                break;
            }
            let subtitle = route.is_some_and(Route::is_subtitle);
            if subtitle && self.cut_end && p.pts != NO_TIME && p.duration > 0 {
                self.pending_subtitles.push_back(packet);
            } else {
                self.write(packet, muxer)?;
            }
        }
        Ok(())
    }

    /// A packet and its time base.
    fn packet_and_base<'a>(&self, packet: &'a Packet) -> (&'a sys::AVPacket, AVRational) {
        (packet.av(), base_and_is_audio(&self.input, packet.stream()).0)
    }

    fn next(&mut self) -> Result<Option<Packet>, AvError> {
        match self.read_ahead.pop_front() {
            Some(packet) => Ok(Some(packet)),
            None => self.read(),
        }
    }

    /// Writes the remaining packets, up to the end of the span.
    pub(crate) fn finish(
        &mut self,
        end: Option<i64>,
        muxer: &mut Muxer,
    ) -> Result<Option<Arc<Span>>, AvError> {
        let Some(span) = &mut self.span else { return Ok(None) };
        Arc::make_mut(span).end = end;
        let span = Arc::clone(span);
        // which streams have passed the end
        let mut past = vec![false; self.routes.len()];
        while let Some(packet) = self.pending_subtitles.pop_front() {
            self.write(packet, muxer)?;
        }
        while let Some(packet) = self.next()? {
            let index = packet.stream();
            if !self.write(packet, muxer)? {
                past[index] = true;
                let open = |(route, past): (&Option<Route>, &bool)| {
                    route.as_ref().is_some_and(|r| !r.is_subtitle()) && !past
                };
                // subtitles are sparse: do not wait for them
                if !self.routes.iter().zip(&past).any(open) {
                    break;
                }
            }
        }
        for route in self.routes.iter_mut().flatten() {
            if let Conversion::Audio(audio) = &mut route.conversion {
                audio.finish(route.to, muxer)?;
            }
        }
        Ok(Some(span))
    }

    /// Writes a packet, unless it is outside the span. `false` if it is after its end.
    fn write(&mut self, mut packet: Packet, muxer: &mut Muxer) -> Result<bool, AvError> {
        let Some(span) = &self.span else { return Ok(true) };
        if self.is_hidden(&packet) {
            return Ok(true);
        }
        let index = packet.stream();
        let p = packet.av_mut();
        let (Some(Some(route)), Some(stream)) = (self.routes.get_mut(index), self.input.stream(index)) else {
            return Ok(true);
        };
        let base = stream.time_base;
        let subtitle = route.is_subtitle();
        let cover = stream.disposition & sys::AV_DISPOSITION_ATTACHED_PIC != 0;
        let time = if p.pts == NO_TIME { p.dts } else { p.pts };
        if cover {
            // shown all the time: it has no time
            (p.pts, p.dts) = (0, 0);
        } else if let Some(pcm) = route.pcm.as_mut().filter(|_| time != NO_TIME && !span.is_whole()) {
            let tick = pcm.tick();
            let Some(parts) = pcm.split(&packet, base, span) else { return Ok(false) };
            for mut part in parts {
                route.conversion.write(&mut part, tick, route.to, muxer)?;
            }
            return Ok(true);
        } else if time != NO_TIME {
            let trimmed = matches!(route.conversion, Conversion::Audio(_));
            if let Some(first) = span.first_in(base).filter(|&first| time < first && !trimmed) {
                // a subtitle that is still shown begins with the first picture
                let end = time.saturating_add(p.duration);
                if !subtitle || end <= first {
                    return Ok(true);
                }
                (p.pts, p.dts, p.duration) = (first, first, end - first);
            }
            if let Some(end) = span.end_in(base) {
                if time >= end {
                    return Ok(false);
                }
                if subtitle && p.duration > 0 {
                    p.duration = p.duration.min(end - p.pts.max(time));
                }
            }
            let (cuts, inside) = span.cuts_before(time, base);
            let end = span.output_time(time.saturating_add(p.duration), base);
            let written = span.output_time(time, base);
            if subtitle {
                // what is still shown after a cut
                p.duration = if p.duration > 0 { end - written } else { 0 };
                if inside && p.duration == 0 {
                    return Ok(true);
                }
            } else if inside || (cuts > route.cuts && written < route.end) {
                // whole packets, none over another
                return Ok(true);
            }
            route.end = route.end.max(end);
            if cuts > route.cuts {
                route.cuts = cuts;
                if let Conversion::Audio(audio) = &mut route.conversion {
                    audio.after_cut = true;
                }
            }
            for t in [&mut p.pts, &mut p.dts] {
                if *t != NO_TIME {
                    *t = span.output_time(*t, base);
                }
            }
        }
        route.conversion.write(&mut packet, base, route.to, muxer)?;
        Ok(true)
    }
}

/// The time base of a stream, and whether it is sound.
fn base_and_is_audio(input: &Input, index: usize) -> (AVRational, bool) {
    let none = (AVRational { num: 1, den: 1 }, false);
    input.stream(index).map_or(none, |s| (s.time_base, is_audio(s)))
}

/// Whether a container accepts streams as planned, by writing a header for them.
pub(crate) fn container_accepts(
    input: &Input,
    plans: &[Planned],
    container: Container,
    picture: impl FnMut(&mut Muxer, &sys::AVStream) -> Result<(), AvError>,
) -> Result<(), AvError> {
    let mut muxer = Muxer::trial(container.name())?;
    create_streams(input, plans, container, &mut muxer, false, picture)?;
    muxer.begin()
}

/// Makes the streams of the output; `picture` is called for the filtered one.
fn create_streams(
    input: &Input,
    plans: &[Planned],
    container: Container,
    muxer: &mut Muxer,
    cut: bool,
    mut picture: impl FnMut(&mut Muxer, &sys::AVStream) -> Result<(), AvError>,
) -> Result<Vec<Option<Route>>, AvError> {
    let mut routes = Vec::new();
    for (&from, &plan) in input.streams().iter().zip(plans) {
        let route = match plan {
            Planned::Picture => picture(muxer, from).map(|()| None),
            Planned::Drop => Ok(None),
            Planned::Attach => attach(from, muxer).map(|()| None),
            plan => create_route(from, plan, container, muxer, cut).map(Some),
        }?;
        // attachments have no packets
        routes.push(route.filter(|route| route.kind != AVMediaType::AVMEDIA_TYPE_ATTACHMENT));
    }
    Ok(routes)
}

/// Makes the stream of the output for a stream of the input.
fn create_route(
    from: &sys::AVStream,
    plan: Planned,
    container: Container,
    muxer: &mut Muxer,
    cut: bool,
) -> Result<Route, AvError> {
    let kind = parameters(from).codec_type;
    let global = container.flag(sys::AVFMT_GLOBALHEADER);
    let stream = muxer.stream()?;
    let to = stream.index as usize;
    stream.time_base = from.time_base;
    stream.disposition = from.disposition;
    stream.sample_aspect_ratio = from.sample_aspect_ratio;
    stream.avg_frame_rate = from.avg_frame_rate;
    stream_tags(from, stream, container, cut || plan != Planned::Copy);
    let conversion = match plan {
        Planned::Audio(into) => {
            let pads_start = container.counts_frames();
            Conversion::Audio(Box::new(AudioTranscoder::new(from, into, global, pads_start, stream)?))
        }
        Planned::Text(codec) => Conversion::Text(Box::new(Text::new(from, codec, stream)?)),
        _ => {
            set_parameters(stream, parameters(from))?;
            // the tag of the old container has no meaning in the new one
            let par = parameters_mut(stream);
            par.codec_tag = 0;
            // PCM in Matroska does not name its channels. MP4 names them, and the muxer of FFmpeg 9 for FLV ends the program
            let unnamed = par.ch_layout.order == sys::AVChannelOrder::AV_CHANNEL_ORDER_UNSPEC;
            if unnamed && par.ch_layout.nb_channels > 0 && ["mp4", "flv"].contains(&container.name()) {
                set_channels(&mut par.ch_layout, parameters(from).ch_layout.nb_channels);
            }
            copy_stream_side_data(from, stream, &STREAM_SIDE_DATA);
            Conversion::Copy
        }
    };
    Ok(Route { to, conversion, kind, cuts: 0, end: 0, pcm: Pcm::new(parameters(from)) })
}

/// Writes an attached picture as a file, which Matroska supports.
fn attach(from: &sys::AVStream, muxer: &mut Muxer) -> Result<(), AvError> {
    let picture = attached_picture(from);
    if picture.is_empty() {
        return Ok(());
    }
    let to = muxer.stream()?;
    let par = parameters_mut(to);
    par.codec_type = AVMediaType::AVMEDIA_TYPE_ATTACHMENT;
    par.codec_id = parameters(from).codec_id;
    set_extra(par, picture)?;
    let (mime, name) = match par.codec_id {
        sys::AVCodecID::AV_CODEC_ID_PNG => ("image/png", "cover.png"),
        sys::AVCodecID::AV_CODEC_ID_BMP => ("image/bmp", "cover.bmp"),
        _ => ("image/jpeg", "cover.jpg"),
    };
    let file = [("filename", name), ("mimetype", mime)].map(|(key, value)| (key.into(), value.into()));
    to.add_tags(file.into_iter().chain(from.tags()));
    Ok(())
}

/// The bytes of a stream's attached picture.
fn attached_picture(stream: &sys::AVStream) -> &[u8] {
    let picture = &stream.attached_pic;
    match usize::try_from(picture.size) {
        // SAFETY: the stream owns the packet, which has this number of bytes.
        Ok(size) if !picture.data.is_null() => unsafe { std::slice::from_raw_parts(picture.data, size) },
        _ => &[],
    }
}
