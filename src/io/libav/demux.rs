//! An open input: its streams, and the packets of the one that is filtered.

use super::dict::{Tag, Tagged};
use super::error::{AvError, check};
use super::input_url::{InputUrl, confine};
use super::interrupt::Interrupt;
use super::log::Log;
use super::owned::Decoder;
use super::raw::{self, Fields};
use super::timeline::Timeline;
use ffmpeg_next::codec::{Id, decoder};
use ffmpeg_next::format::context::{Input, StreamIo};
use ffmpeg_next::{Dictionary, Frame, Packet, media};
use ffmpeg_sys_next as sys;
use grainfield_filters::ratio::Ratio;
use std::ffi::c_int;
use std::io::Read;
use std::ptr;

/// Bytes that libav requests from a pipe at a time.
const PIPE_CHUNK: usize = 64 << 10;

/// An error while opening an input.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    /// An error of libav or the system.
    #[error("{0}")]
    Av(AvError),
    /// The input is a text file, which libav would render as a picture.
    #[error("this is a text file, not a video")]
    Text,
    /// There is no video stream; the text lists the others.
    #[error("it has no video stream, only {0}")]
    NoVideo(String),
    /// This libav has no decoder for the codec.
    #[error("this FFmpeg has no decoder for {0}")]
    NoDecoder(String),
}

impl From<AvError> for OpenError {
    fn from(e: AvError) -> OpenError {
        OpenError::Av(e)
    }
}

/// The purpose of opening an input.
#[derive(Clone, Copy)]
enum For {
    Pictures,
    /// Only the packets of this stream.
    Packets(usize),
    /// Only size and duration, by reading this number of bytes.
    Head(i64),
}

/// The source of bytes.
pub(crate) enum ByteSource {
    /// An address that libav opens.
    Place(InputUrl),
    /// A reader, which can be read once, forwards.
    Reader(Box<dyn Read + Send>),
}

/// An open input.
pub(crate) struct Demuxer {
    pub(crate) input: Input,
    /// The context calls it; freed after the context.
    interrupt: Option<Interrupt>,
    /// The stream that is filtered.
    video: usize,
    ended: bool,
    timeline: Timeline,
}

impl Demuxer {
    /// Opens an input and chooses the stream: the one marked as default, then the largest, except for single
    /// attached pictures.
    pub(crate) fn open(from: ByteSource) -> Result<Demuxer, OpenError> {
        Demuxer::open_for(from, For::Pictures)
    }

    /// Opens an input again for its packets only. If the container's header has all the data for that, libav does
    /// not decode pictures to find more.
    pub(crate) fn packets(place: &InputUrl, video: usize) -> Result<Demuxer, OpenError> {
        Demuxer::open_for(ByteSource::Place(place.clone()), For::Packets(video))
    }

    /// Opens an input for the size and duration of its video, which may remain unknown, by reading at most this number
    /// of bytes and a buffer.
    pub(crate) fn head(place: &InputUrl, bytes: i64) -> Result<Demuxer, OpenError> {
        Demuxer::open_for(ByteSource::Place(place.clone()), For::Head(bytes))
    }

    fn open_for(from: ByteSource, purpose: For) -> Result<Demuxer, OpenError> {
        super::init();
        // a message about an earlier input
        Log::here().take_cut();
        let limit = if let For::Head(bytes) = purpose { Some(bytes) } else { None };
        let (mut input, interrupt) = open_input(from, limit)?;
        let container = input.format().name().to_owned();
        if container == "tty" {
            return Err(OpenError::Text);
        }
        let video = match purpose {
            For::Packets(video)
                if container.starts_with("mov,") && video < raw::streams(input.av()).len() =>
            {
                video
            }
            For::Head(_) if has_size(input.av()) => choose(input.av())?,
            _ => {
                let found = find_stream_info(&mut input);
                // Within its limit it may have found enough.
                if limit.is_none() {
                    found?;
                }
                choose(input.av())?
            }
        };
        discard_all_but(&mut input, video);
        let timeline = Timeline::new(input.av(), raw::streams(input.av())[video]);
        Ok(Demuxer { input, interrupt, video, ended: false, timeline })
    }

    /// Whether its reading is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.interrupt.as_ref().is_some_and(Interrupt::is_stopped)
    }

    /// Opens the decoder of the chosen stream.
    pub(crate) fn decoder(&self, threads: usize) -> Result<Decoder, OpenError> {
        let id = Id::from(self.parameters().codec_id);
        // libav's own decoders of these codecs drop the alpha plane.
        let with_alpha = match id {
            Id::VP9 => decoder::find_by_name("libvpx-vp9"),
            Id::VP8 => decoder::find_by_name("libvpx"),
            _ => None,
        };
        let has_alpha = |(key, value): &Tag| key.eq_ignore_ascii_case("alpha_mode") && value != "0";
        let codec = with_alpha.filter(|_| self.stream().tags().iter().any(has_alpha));
        let codec =
            codec.or_else(|| decoder::find(id)).ok_or_else(|| OpenError::NoDecoder(id.name().to_owned()))?;
        Ok(Decoder::open(self.stream(), codec, threads)?)
    }

    /// The next packet of the chosen stream; `false` at the end.
    pub(crate) fn read(&mut self, packet: &mut Packet) -> Result<bool, AvError> {
        while !self.ended {
            *packet = Packet::empty();
            self.interrupt.iter().for_each(Interrupt::renew);
            match packet.read(&mut self.input).map_err(AvError::from) {
                Ok(()) if packet.stream() == self.video => {
                    self.timeline.place(packet.av_mut());
                    return Ok(true);
                }
                Ok(()) | Err(AvError::AGAIN) => {}
                Err(AvError::EOF) => {
                    self.ended = true;
                    match io(&self.input).map_or(AvError(0), |io| AvError(io.error)) {
                        AvError::EOF | AvError(0..) => {}
                        error => return Err(error),
                    }
                }
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
        Ok(false)
    }

    /// Seeks to the last keyframe at or before `timestamp`, as far as the container knows.
    pub(crate) fn seek(&mut self, timestamp: i64) -> Result<(), AvError> {
        self.seek_by(sys::AVSEEK_FLAG_BACKWARD, timestamp)
    }

    /// Seeks to a position in the file, for containers that can be read from any position.
    pub(crate) fn seek_byte(&mut self, pos: i64) -> Result<(), AvError> {
        self.seek_by(sys::AVSEEK_FLAG_BYTE, pos)
    }

    fn seek_by(&mut self, flag: c_int, to: i64) -> Result<(), AvError> {
        self.ended = false;
        self.timeline.renew();
        // SAFETY: an open context. The wrapper seeks in microseconds only.
        check(unsafe { sys::av_seek_frame(self.input.as_mut_ptr(), self.video as c_int, to, flag) }).map(drop)
    }

    /// Whether the input supports seeking.
    pub(crate) fn seekable(&self) -> bool {
        io(&self.input).is_some_and(|io| io.seekable & sys::AVIO_SEEKABLE_NORMAL != 0)
    }

    /// The size of the input in bytes, if known.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.input.io_size()?.try_into().ok()
    }

    /// Whether timestamps have restarted so far.
    pub(crate) fn jumped(&self) -> bool {
        self.timeline.parts() > 1
    }

    /// Whether timestamps may restart in this container.
    pub(crate) fn may_jump(&self) -> bool {
        self.timeline.may_jump()
    }

    /// Seconds by which players shift everything so that it begins at zero: the start of the first stream. Sound
    /// that begins before zero, and pictures that do not, are not shifted.
    pub(crate) fn start(&self, first: Ratio) -> Ratio {
        let start = self.input.av().start_time;
        if start == sys::AV_NOPTS_VALUE || (start < 0 && first >= Ratio::ZERO) {
            return Ratio::ZERO;
        }
        let start = Ratio::new(start, i64::from(sys::AV_TIME_BASE)).unwrap_or(Ratio::ZERO);
        let near = Ratio::new(1, i64::from(sys::AV_TIME_BASE)).unwrap_or(Ratio::ZERO);
        let off = start - first;
        if off <= near && Ratio::ZERO - off <= near { first } else { start }
    }

    /// The index of the stream that is filtered.
    pub(crate) fn video(&self) -> usize {
        self.video
    }

    /// The stream that is filtered.
    pub(crate) fn stream(&self) -> &sys::AVStream {
        raw::streams(self.input.av())[self.video]
    }

    /// Its parameters.
    pub(crate) fn parameters(&self) -> &sys::AVCodecParameters {
        raw::parameters(self.stream())
    }

    /// libav's short name of the container.
    pub(crate) fn container(&self) -> String {
        self.input.format().name().to_owned()
    }

    /// The frame rate and the pixel aspect ratio that libav derives from the container, and from a frame if given.
    pub(crate) fn guess(&self, frame: Option<&Frame>) -> (sys::AVRational, sys::AVRational) {
        let frame = frame.map_or(ptr::null_mut(), |f| ptr::from_ref(f.av()).cast_mut());
        // SAFETY: an open context, its stream, and a frame or null, which are only read.
        unsafe {
            let (context, stream) = (self.input.as_ptr().cast_mut(), ptr::from_ref(self.stream()).cast_mut());
            (
                sys::av_guess_frame_rate(context, stream, ptr::null_mut()),
                sys::av_guess_sample_aspect_ratio(context, stream, frame),
            )
        }
    }
}

/// Opens what libav reads from, and reads the header, of at most `limit` bytes. This is not done with the wrapper, which
/// panics for names that are not UTF-8, gives no access to the context before, and always decodes pictures.
fn open_input(from: ByteSource, limit: Option<i64>) -> Result<(Input, Option<Interrupt>), AvError> {
    let mut options = Dictionary::new();
    // SAFETY: a failed open has freed the context. What it calls is freed after it, in both cases.
    unsafe {
        let mut context = sys::avformat_alloc_context();
        let fields = context.as_mut().ok_or(AvError::MEMORY)?;
        let (url, io, interrupt) = match from {
            ByteSource::Place(place) => {
                options.set("protocol_whitelist", &place.protocols.to_string_lossy());
                confine(fields);
                let interrupt = Interrupt::watch(&place.stop, fields);
                if let Some(bytes) = limit {
                    interrupt.limit(bytes);
                    // The rest is for the end of the file.
                    options.set("probesize", &(bytes / 2).to_string());
                }
                (place.url, None, Some(interrupt))
            }
            ByteSource::Reader(reader) => {
                let io = StreamIo::from_read_with_capacity(reader, PIPE_CHUNK);
                let mut io = io.inspect_err(|_| sys::avformat_free_context(context))?;
                fields.pb = io.as_mut_ptr();
                (c"pipe:".to_owned(), Some(io), None)
            }
        };
        let mut options = options.disown();
        let opened = sys::avformat_open_input(&mut context, url.as_ptr(), ptr::null(), &mut options);
        drop(Dictionary::own(options));
        check(opened)?;
        let input = match io {
            Some(io) => Input::wrap_with_custom_io(context, io),
            None => Input::wrap(context),
        };
        Ok((input, interrupt))
    }
}

/// Completes the header by reading and decoding the first packets.
fn find_stream_info(input: &mut Input) -> Result<(), AvError> {
    // SAFETY: an open context.
    check(unsafe { sys::avformat_find_stream_info(input.as_mut_ptr(), ptr::null_mut()) }).map(drop)
}

/// Whether the header has the size and the duration of the video.
fn has_size(context: &sys::AVFormatContext) -> bool {
    let video = choose(context).map(|i| raw::parameters(raw::streams(context)[i]));
    context.duration > 0 && video.is_ok_and(|p| p.width > 0 && p.height > 0)
}

/// The index of the stream to filter.
fn choose(context: &sys::AVFormatContext) -> Result<usize, OpenError> {
    let streams = raw::streams(context);
    let rank = |i: &usize| {
        let (s, p) = (streams[*i], raw::parameters(streams[*i]));
        let attached = s.disposition & sys::AV_DISPOSITION_ATTACHED_PIC != 0;
        let default = s.disposition & sys::AV_DISPOSITION_DEFAULT != 0;
        let area = i64::from(p.width) * i64::from(p.height);
        (!attached, default, area, std::cmp::Reverse(*i))
    };
    let video = |i: &usize| raw::parameters(streams[*i]).codec_type == sys::AVMediaType::AVMEDIA_TYPE_VIDEO;
    (0..streams.len()).filter(video).max_by_key(rank).ok_or_else(|| {
        let all: Vec<String> = streams.iter().map(|s| label(s)).collect();
        OpenError::NoVideo(if all.is_empty() { "nothing else".into() } else { all.join(", ") })
    })
}

/// Lets libav skip the packets of the other streams.
fn discard_all_but(input: &mut Input, video: usize) {
    let context = input.av_mut();
    for i in (0..context.nb_streams as usize).filter(|i| *i != video) {
        // SAFETY: the list has this number of valid streams.
        unsafe { (**context.streams.add(i)).discard = sys::AVDiscard::AVDISCARD_ALL };
    }
}

/// What an input reads from; `None` for formats that open files themselves.
fn io(input: &Input) -> Option<&sys::AVIOContext> {
    // SAFETY: null, or valid as long as the input.
    unsafe { input.av().pb.as_ref() }
}

/// A short description of a stream: `audio (aac)`.
pub(crate) fn label(stream: &sys::AVStream) -> String {
    let p = raw::parameters(stream);
    let kind = format!("{:?}", media::Type::from(p.codec_type)).to_lowercase();
    format!("{kind} ({})", Id::from(p.codec_id).name())
}
