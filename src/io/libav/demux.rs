//! An open input: its streams, and the packets of the one that is filtered.

use super::error::{AvError, check};
use super::input_url::{InputUrl, confine};
use super::interrupt::Interrupt;
use super::log::Log;
use super::owned::{Decoder, NO_MEMORY, Packet};
use super::timeline::{NO_TIME, Timeline};
use ffmpeg_sys_next as sys;
use grainfield_filters::ratio::Ratio;
use std::ffi::{CStr, c_int, c_void};
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
    context: *mut sys::AVFormatContext,
    /// The adapter of a reader; freed after the context.
    _pipe: Option<Pipe>,
    /// The context calls it; freed after the context.
    interrupt: Option<Interrupt>,
    /// The stream that is filtered.
    video: usize,
    ended: bool,
    timeline: Option<Timeline>,
}

// SAFETY: used by one thread at a time; nothing in it is bound to a thread.
unsafe impl Send for Demuxer {}

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
        // SAFETY: `own` frees the context on an early return; a failed open has freed the context itself and
        // leaves null, which closing accepts.
        unsafe {
            let context = sys::avformat_alloc_context();
            if context.is_null() {
                return Err(NO_MEMORY.into());
            }
            // a message about an earlier input
            Log::here().take_cut();
            let mut own =
                Demuxer { context, _pipe: None, interrupt: None, video: 0, ended: false, timeline: None };
            let mut options = ptr::null_mut();
            let url = match from {
                ByteSource::Place(place) => {
                    let key = c"protocol_whitelist".as_ptr();
                    let set = sys::av_dict_set(&mut options, key, place.protocols.as_ptr(), 0);
                    check(set)?;
                    confine(context);
                    let interrupt = Interrupt::watch(&place.stop, context);
                    if let For::Head(bytes) = purpose {
                        interrupt.limit(bytes);
                        // The rest is for the end of the file.
                        check(sys::av_dict_set_int(&mut options, c"probesize".as_ptr(), bytes / 2, 0))?;
                    }
                    own.interrupt = Some(interrupt);
                    place.url
                }
                ByteSource::Reader(reader) => {
                    let pipe = Pipe::new(reader)?;
                    (*context).pb = pipe.0;
                    own._pipe = Some(pipe);
                    c"pipe:".to_owned()
                }
            };
            let opened =
                check(sys::avformat_open_input(&mut own.context, url.as_ptr(), ptr::null(), &mut options));
            sys::av_dict_free(&mut options);
            opened?;
            if own.container() == "tty" {
                return Err(OpenError::Text);
            }
            let container = own.container();
            match purpose {
                For::Packets(video) if container.starts_with("mov,") && video < own.count() => {
                    own.video = video
                }
                For::Head(_) if own.says_size() => own.video = own.choose()?,
                _ => {
                    let found = check(sys::avformat_find_stream_info(own.context, ptr::null_mut()));
                    // Within its limit it may have found enough.
                    if !matches!(purpose, For::Head(_)) {
                        found?;
                    }
                    own.video = own.choose()?;
                }
            }
            for i in 0..own.count() {
                if i != own.video {
                    (*own.stream_ptr(i)).discard = sys::AVDiscard::AVDISCARD_ALL;
                }
            }
            own.timeline = Some(Timeline::new(own.context(), own.stream(own.video)));
            Ok(own)
        }
    }

    /// Whether the header has the size and the duration of the video.
    fn says_size(&self) -> bool {
        let video = self.choose().ok().map(|i| self.parameters(i));
        self.context().duration > 0 && video.is_some_and(|p| p.width > 0 && p.height > 0)
    }

    /// Whether its reading is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|i| i.is_stopped())
    }

    fn choose(&self) -> Result<usize, OpenError> {
        let rank = |i: usize| {
            let s = self.stream(i);
            let p = self.parameters(i);
            let attached = s.disposition & sys::AV_DISPOSITION_ATTACHED_PIC != 0;
            let default = s.disposition & sys::AV_DISPOSITION_DEFAULT != 0;
            let area = i64::from(p.width) * i64::from(p.height);
            (!attached, default, area, std::cmp::Reverse(i))
        };
        let video = |&i: &usize| self.parameters(i).codec_type == sys::AVMediaType::AVMEDIA_TYPE_VIDEO;
        (0..self.count()).filter(video).max_by_key(|&i| rank(i)).ok_or_else(|| {
            let all: Vec<String> = (0..self.count()).map(|i| self.label(i)).collect();
            OpenError::NoVideo(if all.is_empty() { "nothing else".into() } else { all.join(", ") })
        })
    }

    /// Opens the decoder of the chosen stream.
    pub(crate) fn decoder(&self, threads: usize) -> Result<Decoder, OpenError> {
        let id = self.parameters(self.video).codec_id;
        // SAFETY: the stream is valid as long as the context; codecs are static.
        unsafe {
            let mut codec: *const sys::AVCodec = ptr::null();
            // libav's own decoders of these codecs drop the alpha plane.
            if self.tag(self.video, c"alpha_mode").is_some_and(|v| v != "0") {
                codec = match id {
                    sys::AVCodecID::AV_CODEC_ID_VP9 => {
                        sys::avcodec_find_decoder_by_name(c"libvpx-vp9".as_ptr())
                    }
                    sys::AVCodecID::AV_CODEC_ID_VP8 => sys::avcodec_find_decoder_by_name(c"libvpx".as_ptr()),
                    _ => ptr::null(),
                };
            }
            if codec.is_null() {
                codec = sys::avcodec_find_decoder(id);
            }
            if codec.is_null() {
                return Err(OpenError::NoDecoder(self.codec_name(self.video)));
            }
            Ok(Decoder::open(self.stream_ptr(self.video), codec, threads)?)
        }
    }

    /// The next packet of the chosen stream; `false` at the end.
    pub(crate) fn read(&mut self, packet: &mut Packet) -> Result<bool, AvError> {
        loop {
            if self.ended {
                return Ok(false);
            }
            packet.clear();
            self.interrupt.iter().for_each(|i| i.renew());
            // SAFETY: an open context and a valid packet.
            match check(unsafe { sys::av_read_frame(self.context, packet.as_ptr()) }) {
                Ok(_) if packet.get().stream_index as usize == self.video => {
                    self.timeline.iter_mut().for_each(|t| t.place(packet.as_mut()));
                    return Ok(true);
                }
                Ok(_) => {}
                Err(AvError::AGAIN) => {}
                Err(AvError::EOF) => {
                    self.ended = true;
                    // SAFETY: `pb` is null or valid.
                    let io = unsafe { (*self.context).pb.as_ref() }.map_or(0, |pb| pb.error);
                    if io < 0 && AvError(io) != AvError::EOF {
                        return Err(AvError(io));
                    }
                    return Ok(false);
                }
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
    }

    /// Seeks to the last keyframe at or before `timestamp`, as far as the container knows.
    pub(crate) fn seek(&mut self, timestamp: i64) -> Result<(), AvError> {
        self.ended = false;
        self.timeline.iter_mut().for_each(Timeline::renew);
        // SAFETY: an open context.
        let moved = unsafe {
            sys::av_seek_frame(self.context, self.video as c_int, timestamp, sys::AVSEEK_FLAG_BACKWARD)
        };
        check(moved).map(|_| ())
    }

    /// Seeks to a position in the file, for containers that can be read from any position.
    pub(crate) fn seek_byte(&mut self, pos: i64) -> Result<(), AvError> {
        self.ended = false;
        self.timeline.iter_mut().for_each(Timeline::renew);
        // SAFETY: an open context.
        let moved =
            unsafe { sys::av_seek_frame(self.context, self.video as c_int, pos, sys::AVSEEK_FLAG_BYTE) };
        check(moved).map(|_| ())
    }

    /// Whether the input supports seeking.
    pub(crate) fn seekable(&self) -> bool {
        // SAFETY: `pb` is null (formats that open files themselves) or valid.
        unsafe { (*self.context).pb.as_ref().is_some_and(|pb| pb.seekable & sys::AVIO_SEEKABLE_NORMAL != 0) }
    }

    /// The size of the input in bytes, if known.
    pub(crate) fn bytes(&self) -> Option<u64> {
        // SAFETY: `pb` is checked first.
        let size = unsafe {
            if (*self.context).pb.is_null() {
                return None;
            }
            sys::avio_size((*self.context).pb)
        };
        u64::try_from(size).ok()
    }

    /// Whether timestamps have restarted so far.
    pub(crate) fn jumped(&self) -> bool {
        self.timeline.as_ref().is_some_and(|t| t.parts() > 1)
    }

    /// Whether timestamps may restart in this container.
    pub(crate) fn may_jump(&self) -> bool {
        self.timeline.as_ref().is_some_and(Timeline::may_jump)
    }

    /// Seconds by which players shift everything so that it begins at zero: the start of the first stream. Sound
    /// that begins before zero, and pictures that do not, are not shifted.
    pub(crate) fn start(&self, first: Ratio) -> Ratio {
        let start = self.context().start_time;
        if start == NO_TIME || (start < 0 && first >= Ratio::ZERO) {
            return Ratio::ZERO;
        }
        let start = Ratio::new(start, i64::from(sys::AV_TIME_BASE)).unwrap_or(Ratio::ZERO);
        let near = Ratio::new(1, i64::from(sys::AV_TIME_BASE)).unwrap_or(Ratio::ZERO);
        let off = start - first;
        if off <= near && Ratio::ZERO - off <= near { first } else { start }
    }

    /// The stream that is filtered.
    pub(crate) fn video(&self) -> usize {
        self.video
    }

    /// The number of streams.
    pub(crate) fn count(&self) -> usize {
        // SAFETY: an open context.
        unsafe { (*self.context).nb_streams as usize }
    }

    pub(crate) fn context(&self) -> &sys::AVFormatContext {
        // SAFETY: open as long as `self`.
        unsafe { &*self.context }
    }

    pub(crate) fn context_ptr(&self) -> *mut sys::AVFormatContext {
        self.context
    }

    pub(crate) fn stream_ptr(&self, i: usize) -> *mut sys::AVStream {
        assert!(i < self.count(), "stream {i} of {}", self.count());
        // SAFETY: the array has `count` valid entries.
        unsafe { *(*self.context).streams.add(i) }
    }

    pub(crate) fn stream(&self, i: usize) -> &sys::AVStream {
        // SAFETY: valid as long as the context.
        unsafe { &*self.stream_ptr(i) }
    }

    pub(crate) fn parameters(&self, i: usize) -> &sys::AVCodecParameters {
        // SAFETY: every stream has parameters, as long as the context.
        unsafe { &*self.stream(i).codecpar }
    }

    /// A tag of a stream.
    pub(crate) fn tag(&self, i: usize, key: &CStr) -> Option<String> {
        // SAFETY: the dictionary may be null; the entry lives as long as it.
        unsafe {
            let entry = sys::av_dict_get(self.stream(i).metadata, key.as_ptr(), ptr::null(), 0);
            entry.as_ref().map(|e| CStr::from_ptr(e.value).to_string_lossy().into_owned())
        }
    }

    /// libav's short name of the container.
    pub(crate) fn container(&self) -> String {
        // SAFETY: an open input has a format, whose name is a static string.
        unsafe { text((*(*self.context).iformat).name) }
    }

    /// The name of a stream's codec.
    pub(crate) fn codec_name(&self, i: usize) -> String {
        // SAFETY: returns a static string.
        unsafe { text(sys::avcodec_get_name(self.parameters(i).codec_id)) }
    }

    /// A short description of a stream: `audio (aac)`.
    pub(crate) fn label(&self, i: usize) -> String {
        // SAFETY: returns a static string or null.
        let kind = unsafe { sys::av_get_media_type_string(self.parameters(i).codec_type) };
        // SAFETY: as above.
        let kind = if kind.is_null() { "unknown".into() } else { unsafe { text(kind) } };
        format!("{kind} ({})", self.codec_name(i))
    }
}

/// # Safety
/// `s` must be a zero-terminated string.
pub(crate) unsafe fn text(s: *const std::ffi::c_char) -> String {
    // SAFETY: guaranteed by the caller.
    unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned()
}

impl Drop for Demuxer {
    fn drop(&mut self) {
        // SAFETY: closed once; null is allowed. It does not free our reader, which `Pipe` does afterwards.
        unsafe { sys::avformat_close_input(&mut self.context) }
    }
}

/// Adapts a reader to libav's input.
struct Pipe(*mut sys::AVIOContext);

impl Pipe {
    fn new(reader: Box<dyn Read + Send>) -> Result<Pipe, AvError> {
        let opaque = Box::into_raw(Box::new(reader)).cast::<c_void>();
        // SAFETY: libav takes over the buffer; `opaque` is freed in `drop`, or here if there is no context.
        unsafe {
            let buffer = sys::av_malloc(PIPE_CHUNK).cast::<u8>();
            let context = if buffer.is_null() {
                ptr::null_mut()
            } else {
                sys::avio_alloc_context(buffer, PIPE_CHUNK as c_int, 0, opaque, Some(fill), None, None)
            };
            if context.is_null() {
                sys::av_free(buffer.cast());
                drop(Box::from_raw(opaque.cast::<Box<dyn Read + Send>>()));
                return Err(NO_MEMORY);
            }
            (*context).seekable = 0;
            Ok(Pipe(context))
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // SAFETY: made in `new`; libav may have replaced the buffer, so its own pointer is freed.
        unsafe {
            let opaque = (*self.0).opaque;
            sys::av_freep((&raw mut (*self.0).buffer).cast());
            sys::avio_context_free(&mut self.0);
            drop(Box::from_raw(opaque.cast::<Box<dyn Read + Send>>()));
        }
    }
}

unsafe extern "C" fn fill(opaque: *mut c_void, buffer: *mut u8, size: c_int) -> c_int {
    if size <= 0 {
        return AvError::EOF.0;
    }
    // SAFETY: `opaque` is the reader that `Pipe::new` boxed; libav provides `size` bytes, which are zeroed before
    // they are used as initialised.
    let (reader, room) = unsafe {
        ptr::write_bytes(buffer, 0, size as usize);
        (&mut *opaque.cast::<Box<dyn Read + Send>>(), std::slice::from_raw_parts_mut(buffer, size as usize))
    };
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        loop {
            match reader.read(room) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }));
    match read {
        Ok(Ok(0)) => AvError::EOF.0,
        Ok(Ok(n)) => n as c_int,
        Ok(Err(e)) => -e.raw_os_error().unwrap_or(libc::EIO),
        Err(_) => -libc::EIO,
    }
}
