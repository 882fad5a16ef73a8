//! An open container, whose packets are read.

use super::dict::Dict;
use super::error::{AvError, check};
use super::input_url::{InputUrl, confine};
use super::interrupt::{Interrupt, StopFlag};
use super::raw::{Fields, stream_mut, streams};
use super::side_data::SourceFile;
use ffmpeg_next::format::context::{self, StreamIo};
use ffmpeg_next::{Frame, Packet};
use ffmpeg_sys_next as sys;
use std::ffi::{CStr, c_int};
use std::ptr;

/// A container whose packets are read.
pub(crate) struct Input {
    pub(crate) context: context::Input,
    /// The context calls it; freed after the context.
    interrupt: Option<Interrupt>,
}

impl Input {
    /// Opens the source again; `None` for a pipe.
    pub(crate) fn open(source: &SourceFile) -> Result<Option<Input>, AvError> {
        let Some(InputUrl { url, protocols, stop, .. }) = &source.address else { return Ok(None) };
        Input::open_with(url, &[("protocol_whitelist", protocols)], Some(stop)).map(Some)
    }

    /// Opens an address. With `stop`, its reads end after the stop request, and what it opens is confined.
    pub(crate) fn open_with(
        url: &CStr,
        options: &[(&str, &str)],
        stop: Option<&StopFlag>,
    ) -> Result<Input, AvError> {
        let mut input = Input::open_header(url, options, stop.map(|stop| (stop, i64::MAX)), None)?;
        input.find_streams()?;
        Ok(input)
    }

    /// The same without decoding packets to complete the header. Reads also end after a number of bytes. With `io`, the
    /// data comes from there. (The wrapper opens only names that are UTF-8, and always completes the header.)
    pub(crate) fn open_header(
        url: &CStr,
        options: &[(&str, &str)],
        stop: Option<(&StopFlag, i64)>,
        mut io: Option<StreamIo>,
    ) -> Result<Input, AvError> {
        let mut own = Dict::new();
        options.iter().for_each(|(key, value)| own.set(key, value));
        // SAFETY: strings live through the calls; on failure libav frees the context. What it calls is freed after it.
        unsafe {
            let mut context = sys::avformat_alloc_context();
            let fields = context.as_mut().ok_or(AvError::MEMORY)?;
            if let Some(io) = &mut io {
                fields.pb = io.as_mut_ptr();
            }
            let interrupt = stop.map(|(stop, limit)| {
                confine(context);
                Interrupt::watch(stop, limit, context)
            });
            check(sys::avformat_open_input(&mut context, url.as_ptr(), ptr::null(), own.as_mut_ptr()))?;
            let context = match io {
                Some(io) => context::Input::wrap_with_custom_io(context, io),
                None => context::Input::wrap(context),
            };
            Ok(Input { context, interrupt })
        }
    }

    /// Completes the header by decoding the first packets.
    pub(crate) fn find_streams(&mut self) -> Result<(), AvError> {
        // SAFETY: an open context.
        check(unsafe { sys::avformat_find_stream_info(self.context.as_mut_ptr(), ptr::null_mut()) }).map(drop)
    }

    /// libav's context.
    pub(crate) fn context(&self) -> &sys::AVFormatContext {
        self.context.av()
    }

    /// libav's short name of the container.
    pub(crate) fn container(&self) -> String {
        self.context.format().name().to_owned()
    }

    /// Its streams.
    pub(crate) fn streams(&self) -> &[&sys::AVStream] {
        streams(self.context.av())
    }

    /// A stream.
    pub(crate) fn stream(&self, index: usize) -> Option<&sys::AVStream> {
        self.streams().get(index).copied()
    }

    /// Its chapters.
    pub(crate) fn chapters(&self) -> impl Iterator<Item = &sys::AVChapter> {
        let context = self.context();
        // SAFETY: the list has this number of chapters, none of them null, and changes with the context only.
        (0..context.nb_chapters as usize).map(|i| unsafe { &**context.chapters.add(i) })
    }

    /// Skips the packets of all streams but those with these indices.
    pub(crate) fn skip_unless(&mut self, needed: impl Fn(usize) -> bool) {
        use sys::AVDiscard::{AVDISCARD_ALL, AVDISCARD_DEFAULT};
        for i in 0..self.streams().len() {
            if let Some(stream) = stream_mut(self.context.av_mut(), i) {
                stream.discard = if needed(i) { AVDISCARD_DEFAULT } else { AVDISCARD_ALL };
            }
        }
    }

    /// Reads the next packet; `false` at the end.
    pub(crate) fn read(&mut self, packet: &mut Packet) -> Result<bool, AvError> {
        *packet = Packet::empty();
        loop {
            self.interrupt.iter().for_each(Interrupt::renew);
            match packet.read(&mut self.context).map_err(AvError::from) {
                Ok(()) => return Ok(true),
                Err(AvError::AGAIN) => {}
                Err(AvError::EOF) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// Seeks in a stream, to a timestamp or a byte, as `flag` says. (The wrapper seeks in microseconds.)
    pub(crate) fn seek(&mut self, stream: usize, to: i64, flag: c_int) -> Result<(), AvError> {
        // SAFETY: an open context.
        check(unsafe { sys::av_seek_frame(self.context.as_mut_ptr(), stream as c_int, to, flag) }).map(drop)
    }

    /// The file or stream that it reads; `None` for formats that open files themselves.
    pub(crate) fn io(&self) -> Option<&sys::AVIOContext> {
        // SAFETY: null, or valid as long as the context.
        unsafe { self.context.av().pb.as_ref() }
    }

    /// The size in bytes, if known.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.context.io_size()?.try_into().ok()
    }

    /// Whether its reading is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.interrupt.as_ref().is_some_and(Interrupt::is_stopped)
    }

    /// The frame rate and the pixel aspect ratio that libav derives from the container, and from a frame if given.
    pub(crate) fn guess(
        &self,
        stream: &sys::AVStream,
        frame: Option<&Frame>,
    ) -> (sys::AVRational, sys::AVRational) {
        let frame = frame.map_or(ptr::null_mut(), |f| ptr::from_ref(f.av()).cast_mut());
        let (context, stream) = (ptr::from_ref(self.context()).cast_mut(), ptr::from_ref(stream).cast_mut());
        // SAFETY: an open context, its stream, and a frame or null, which are only read.
        unsafe {
            (
                sys::av_guess_frame_rate(context, stream, ptr::null_mut()),
                sys::av_guess_sample_aspect_ratio(context, stream, frame),
            )
        }
    }
}
