//! An open input: its streams, and the packets of the one that is filtered.

use super::decoder::Decoder;
use super::dict::{Tag, Tagged};
use super::error::AvError;
use super::input::Input;
use super::input_url::InputUrl;
use super::log::Log;
use super::raw::{Fields, parameters};
use super::timeline::Timeline;
use ffmpeg_next::codec::{Id, decoder};
use ffmpeg_next::format::context::StreamIo;
use ffmpeg_next::{Packet, media};
use ffmpeg_sys_next as sys;
use grainfield_filters::ratio::Ratio;
use std::io::Read;

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
pub(crate) enum Purpose {
    Pictures,
    /// Only the packets of this stream. If the container's header has all the data for that, libav does not decode
    /// pictures to find more.
    Packets(usize),
    /// Only the size and duration of the video, which may remain unknown, by reading at most this number of bytes and a
    /// buffer.
    Head(i64),
}

/// The source of bytes.
pub(crate) enum ByteSource {
    /// An address that libav opens.
    Address(InputUrl),
    /// A reader, which can be read once, forwards.
    Reader(Box<dyn Read + Send>),
}

impl ByteSource {
    /// The address, if it can be opened again.
    pub(crate) fn address(&self) -> Option<InputUrl> {
        match self {
            ByteSource::Address(address) => Some(address.clone()),
            ByteSource::Reader(_) => None,
        }
    }
}

/// An open input.
pub(crate) struct Demuxer {
    pub(crate) input: Input,
    /// The stream that is filtered.
    video: usize,
    ended: bool,
    timeline: Timeline,
}

impl Demuxer {
    /// Opens an input and chooses the stream: the one marked as default, then the largest, except for single
    /// attached pictures.
    pub(crate) fn open(from: ByteSource, purpose: Purpose) -> Result<Demuxer, OpenError> {
        super::init();
        // a message about an earlier input
        Log::here().take_cut();
        let limit = if let Purpose::Head(bytes) = purpose { Some(bytes) } else { None };
        let mut input = match from {
            ByteSource::Address(InputUrl { url, protocols, stop, .. }) => {
                // The rest of the limit is for the end of the file.
                let probe = limit.map(|bytes| (bytes / 2).to_string());
                let probe = probe.iter().map(|bytes| ("probesize", &**bytes));
                let options: Vec<_> = probe.chain([("protocol_whitelist", &*protocols)]).collect();
                Input::open_header(&url, &options, Some((&stop, limit.unwrap_or(i64::MAX))), None)?
            }
            ByteSource::Reader(reader) => {
                let io = StreamIo::from_read_with_capacity(reader, PIPE_CHUNK).map_err(AvError::from)?;
                Input::open_header(c"pipe:", &[], None, Some(io))?
            }
        };
        let container = input.container();
        if container == "tty" {
            return Err(OpenError::Text);
        }
        let video = match purpose {
            Purpose::Packets(video) if container.starts_with("mov,") && video < input.streams().len() => {
                video
            }
            Purpose::Head(_) if has_size(&input) => choose(&input)?,
            _ => {
                let found = input.find_streams();
                // Within its limit it may have found enough.
                if limit.is_none() {
                    found?;
                }
                choose(&input)?
            }
        };
        input.skip_unless(|i| i == video);
        let timeline = Timeline::new(input.context(), input.streams()[video]);
        Ok(Demuxer { input, video, ended: false, timeline })
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
            let read = self.input.read(packet);
            self.ended = read != Ok(true);
            if !read? {
                return match self.input.io().map_or(AvError(0), |io| AvError(io.error)) {
                    AvError::EOF | AvError(0..) => Ok(false),
                    error => Err(error),
                };
            }
            if packet.stream() == self.video {
                self.timeline.place(packet.av_mut());
                return Ok(true);
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

    fn seek_by(&mut self, flag: i32, to: i64) -> Result<(), AvError> {
        self.ended = false;
        self.timeline.renew();
        self.input.seek(self.video, to, flag)
    }

    /// Whether the input supports seeking.
    pub(crate) fn seekable(&self) -> bool {
        self.input.io().is_some_and(|io| io.seekable & sys::AVIO_SEEKABLE_NORMAL != 0)
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
        let start = self.input.context().start_time;
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

    /// The streams that are not read, in a few words each: `audio (aac)`.
    pub(crate) fn beside(&self) -> Vec<String> {
        let others = self.input.streams().iter().enumerate().filter(|(i, _)| *i != self.video);
        others.map(|(_, stream)| label(stream)).collect()
    }

    /// The stream that is filtered.
    pub(crate) fn stream(&self) -> &sys::AVStream {
        self.input.streams()[self.video]
    }

    /// Its parameters.
    pub(crate) fn parameters(&self) -> &sys::AVCodecParameters {
        parameters(self.stream())
    }
}

/// Whether the header has the size and the duration of the video.
fn has_size(input: &Input) -> bool {
    let video = choose(input).map(|i| parameters(input.streams()[i]));
    input.context().duration > 0 && video.is_ok_and(|p| p.width > 0 && p.height > 0)
}

/// The index of the stream to filter.
fn choose(input: &Input) -> Result<usize, OpenError> {
    let streams = input.streams();
    let rank = |i: &usize| {
        let (s, p) = (streams[*i], parameters(streams[*i]));
        let attached = s.disposition & sys::AV_DISPOSITION_ATTACHED_PIC != 0;
        let default = s.disposition & sys::AV_DISPOSITION_DEFAULT != 0;
        let area = i64::from(p.width) * i64::from(p.height);
        (!attached, default, area, std::cmp::Reverse(*i))
    };
    let video = |i: &usize| parameters(streams[*i]).codec_type == sys::AVMediaType::AVMEDIA_TYPE_VIDEO;
    (0..streams.len()).filter(video).max_by_key(rank).ok_or_else(|| {
        let all: Vec<String> = streams.iter().map(|s| label(s)).collect();
        OpenError::NoVideo(if all.is_empty() { "nothing else".into() } else { all.join(", ") })
    })
}

/// A short description of a stream: `audio (aac)`.
pub(crate) fn label(stream: &sys::AVStream) -> String {
    let p = parameters(stream);
    let kind = format!("{:?}", media::Type::from(p.codec_type)).to_lowercase();
    format!("{kind} ({})", Id::from(p.codec_id).name())
}
