//! Owners of libav's structures: each is made and freed in one place, and never null.

use super::error::{AvError, check};
use super::log::Log;
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::FieldOrder;
use std::mem::ManuallyDrop;

/// Out of memory.
pub(crate) const NO_MEMORY: AvError = AvError(-libc::ENOMEM);

/// A packet of coded data.
pub(crate) struct Packet(*mut sys::AVPacket);

// SAFETY: a packet's buffers are reference-counted with atomics, and it is not bound to a thread.
unsafe impl Send for Packet {}

impl Packet {
    pub(crate) fn new() -> Result<Packet, AvError> {
        // SAFETY: returns a new packet or null.
        let p = unsafe { sys::av_packet_alloc() };
        if p.is_null() { Err(NO_MEMORY) } else { Ok(Packet(p)) }
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::AVPacket {
        self.0
    }

    pub(crate) fn get(&self) -> &sys::AVPacket {
        // SAFETY: never null, and valid as long as `self`.
        unsafe { &*self.0 }
    }

    /// The coded bytes, without padding.
    pub(crate) fn data(&self) -> &[u8] {
        let p = self.get();
        if p.data.is_null() || p.size <= 0 {
            return &[];
        }
        // SAFETY: libav keeps `size` bytes there until the packet is unreferenced, which needs `&mut self`.
        unsafe { std::slice::from_raw_parts(p.data, p.size as usize) }
    }

    /// Gives the packet a number that the pictures coded in it will have (see [`AvFrame::take_mark`]). Every version of
    /// libav passes side data on to the picture without interpreting it; this kind has no meaning in video.
    pub(crate) fn mark(&mut self, number: u32) -> Result<(), AvError> {
        let kind = sys::AVPacketSideDataType::AV_PKT_DATA_REPLAYGAIN;
        let bytes = number.to_ne_bytes();
        // SAFETY: a valid packet of ours; libav returns this number of bytes, or null.
        unsafe {
            let data = sys::av_packet_new_side_data(self.0, kind, bytes.len());
            if data.is_null() {
                return Err(NO_MEMORY);
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len());
        }
        Ok(())
    }

    /// Releases the data.
    pub(crate) fn clear(&mut self) {
        // SAFETY: a valid packet; afterwards it is blank.
        unsafe { sys::av_packet_unref(self.0) }
    }
}

impl AsMut<sys::AVPacket> for Packet {
    fn as_mut(&mut self) -> &mut sys::AVPacket {
        // SAFETY: never null, and valid as long as `self`.
        unsafe { &mut *self.0 }
    }
}

impl Drop for Packet {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, freed once.
        unsafe { sys::av_packet_free(&mut self.0) }
    }
}

/// A decoded frame.
pub(crate) struct AvFrame(*mut sys::AVFrame);

// SAFETY: like packets; a decoded frame is only read.
unsafe impl Send for AvFrame {}

impl AvFrame {
    pub(crate) fn new() -> Result<AvFrame, AvError> {
        // SAFETY: returns a new frame or null.
        let p = unsafe { sys::av_frame_alloc() };
        if p.is_null() { Err(NO_MEMORY) } else { Ok(AvFrame(p)) }
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::AVFrame {
        self.0
    }

    pub(crate) fn get(&self) -> &sys::AVFrame {
        // SAFETY: never null, and valid as long as `self`.
        unsafe { &*self.0 }
    }

    /// Moves the contents to a new owner and leaves the frame blank.
    pub(crate) fn take(&mut self) -> Result<AvFrame, AvError> {
        let to = AvFrame::new()?;
        // SAFETY: both are valid; the target is blank.
        unsafe { sys::av_frame_move_ref(to.0, self.0) };
        Ok(to)
    }

    /// The wrapper's view, whose accessors handle the differences between versions of libav.
    fn view<T>(&self, f: impl FnOnce(&ffmpeg_next::frame::Video) -> T) -> T {
        // SAFETY: the frame is valid; the view is never dropped, since it must not free the frame.
        let view = ManuallyDrop::new(unsafe { ffmpeg_next::frame::Video::wrap(self.0) });
        f(&view)
    }

    /// The order of its fields, if it consists of two.
    pub(crate) fn field_order(&self) -> Option<FieldOrder> {
        let top_first = self.view(ffmpeg_next::frame::Video::is_top_first);
        let order = if top_first { FieldOrder::TopFirst } else { FieldOrder::BottomFirst };
        self.view(ffmpeg_next::frame::Video::is_interlaced).then_some(order)
    }

    /// The duration from its packet, in the stream's ticks; 0 if unspecified.
    pub(crate) fn duration(&self) -> i64 {
        self.view(|v| v.packet().duration).max(0)
    }

    /// Its pixel format.
    pub(crate) fn pix_fmt(&self) -> sys::AVPixelFormat {
        self.view(|v| v.format()).into()
    }

    /// Whether the decoder reports that samples are wrong or guessed.
    pub(crate) fn damaged(&self) -> bool {
        let f = self.get();
        f.flags & sys::AV_FRAME_FLAG_CORRUPT != 0 || f.decode_error_flags != 0
    }

    /// Marks it as damaged.
    pub(crate) fn mark_damaged(&mut self) {
        // SAFETY: a valid frame of which this is the only owner.
        unsafe { (*self.0).flags |= sys::AV_FRAME_FLAG_CORRUPT };
    }

    /// Removes and returns the number of the packet in which it was coded, if it was marked.
    pub(crate) fn take_mark(&mut self) -> Option<u32> {
        let kind = sys::AVFrameSideDataType::AV_FRAME_DATA_REPLAYGAIN;
        // SAFETY: a valid frame of which this is the only owner; libav gives the number of bytes.
        unsafe {
            let found = sys::av_frame_get_side_data(self.0, kind).as_ref()?;
            let bytes = (found.size == 4 && !found.data.is_null())
                .then(|| std::ptr::read_unaligned(found.data.cast::<[u8; 4]>()));
            sys::av_frame_remove_side_data(self.0, kind);
            bytes.map(u32::from_ne_bytes)
        }
    }

    /// The kinds of its side data.
    pub(crate) fn side_data(&self) -> Vec<sys::AVFrameSideDataType> {
        let f = self.get();
        let count = usize::try_from(f.nb_side_data).unwrap_or(0);
        // SAFETY: a valid frame with this number of entries.
        (0..count).map(|i| unsafe { (**f.side_data.add(i)).type_ }).collect()
    }

    /// A checksum of the visible samples, to recognise a picture.
    pub(crate) fn checksum(&self) -> u64 {
        let f = self.get();
        let (width, height) = (f.width.max(0), f.height.max(0));
        let mut sum = Checksum::new((width as u64) << 32 | height as u64);
        // SAFETY: a decoded software frame: libav's description gives the length and number of rows of each plane,
        // which are `linesize` apart; it may be negative.
        unsafe {
            let Some(description) = sys::av_pix_fmt_desc_get(self.pix_fmt()).as_ref() else { return 0 };
            let palette = description.flags & sys::AV_PIX_FMT_FLAG_PAL as u64 != 0;
            for plane in 0..4 {
                let data = f.data[plane];
                if data.is_null() {
                    break;
                }
                if palette && plane == 1 {
                    sum.add(std::slice::from_raw_parts(data, 1024));
                    break;
                }
                let bytes = sys::av_image_get_linesize(self.pix_fmt(), width, plane as i32).max(0) as usize;
                let shift = if plane == 1 || plane == 2 { description.log2_chroma_h } else { 0 };
                for row in 0..(height + (1 << shift) - 1) >> shift {
                    let start = data.offset(row as isize * f.linesize[plane] as isize);
                    sum.add(std::slice::from_raw_parts(start, bytes));
                }
            }
        }
        sum.0
    }

    /// libav's best-effort timestamp, in the stream's ticks.
    pub(crate) fn timestamp(&self) -> Option<i64> {
        let t = self.get().best_effort_timestamp;
        (t != sys::AV_NOPTS_VALUE).then_some(t)
    }
}

/// A fast checksum that distinguishes pictures; not secure against forgery.
struct Checksum(u64);

impl Checksum {
    fn new(start: u64) -> Checksum {
        Checksum(start ^ 0x9e37_79b9_7f4a_7c15)
    }

    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.0 ^= self.0 >> 32;
    }

    fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|w| self.word(u64::from_le_bytes(*w)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
    }
}

impl Drop for AvFrame {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, freed once.
        unsafe { sys::av_frame_free(&mut self.0) }
    }
}

/// An open decoder.
pub(crate) struct Decoder {
    context: *mut sys::AVCodecContext,
    /// Outlives the context.
    log: Log,
    /// The number of errors that had been reported when it was opened.
    before: u32,
}

// SAFETY: used by one thread at a time; libav manages its own threads.
unsafe impl Send for Decoder {}

/// The result of receiving a frame from a decoder.
pub(crate) enum Received {
    /// A frame was received.
    Frame,
    /// The decoder needs another packet first.
    NeedsInput,
    /// There are no more frames.
    End,
}

impl Decoder {
    /// Opens libav's decoder for a stream. `threads` 0 means as many as the machine has.
    ///
    /// # Safety
    /// `stream` must be a valid stream.
    pub(crate) unsafe fn open(
        stream: *const sys::AVStream,
        codec: *const sys::AVCodec,
        threads: usize,
    ) -> Result<Decoder, AvError> {
        // SAFETY: the stream is valid as the caller guarantees; `Decoder` frees the context in all cases.
        unsafe {
            let context = sys::avcodec_alloc_context3(codec);
            if context.is_null() {
                return Err(NO_MEMORY);
            }
            let log = Log::here();
            // The contexts of its threads are copies.
            log.adopt(context);
            let before = log.faults();
            let own = Decoder { context, log, before };
            check(sys::avcodec_parameters_to_context(context, (*stream).codecpar))?;
            (*context).pkt_timebase = (*stream).time_base;
            (*context).thread_count = i32::try_from(threads).unwrap_or(0).min(64);
            (*context).thread_type = match (*codec).id {
                // One frame at a time, so that messages can be assigned to frames: see `decoder_messages`.
                sys::AVCodecID::AV_CODEC_ID_FFV1 => sys::FF_THREAD_SLICE,
                _ => sys::FF_THREAD_FRAME | sys::FF_THREAD_SLICE,
            };
            // Without this, libav rounds a crop from the left down to what its own filters need.
            (*context).flags |= sys::AV_CODEC_FLAG_UNALIGNED as i32;
            // A damaged header must not cause an allocation larger than any picture needs.
            (*context).max_pixels = MAX_PIXELS;
            check(sys::avcodec_open2(context, codec, std::ptr::null_mut()))?;
            Ok(own)
        }
    }

    /// Sends a packet, or `None` at the end.
    pub(crate) fn send(&mut self, packet: Option<&Packet>) -> Result<(), AvError> {
        let packet = packet.map_or(std::ptr::null(), |p| p.as_ptr().cast_const());
        // SAFETY: an open decoder, and a valid packet or null, to which libav takes a reference.
        check(unsafe { sys::avcodec_send_packet(self.context, packet) }).map(|_| ())
    }

    /// Receives a frame.
    pub(crate) fn receive(&mut self, into: &mut AvFrame) -> Result<Received, AvError> {
        // SAFETY: an open decoder and a valid frame, which libav unreferences first.
        match check(unsafe { sys::avcodec_receive_frame(self.context, into.as_ptr()) }) {
            Ok(_) => Ok(Received::Frame),
            Err(AvError::AGAIN) => Ok(Received::NeedsInput),
            Err(AvError::EOF) => Ok(Received::End),
            Err(error) => Err(error),
        }
    }

    /// The messages about the last frame, for a codec that reports damage only by messages: FFV1 verifies checksums
    /// and returns a frame patched from the one before, without a mark.
    pub(crate) fn decoder_messages(&self) -> Vec<String> {
        // SAFETY: an open decoder.
        match unsafe { (*self.context).codec_id } {
            sys::AVCodecID::AV_CODEC_ID_FFV1 => self.log.drain_decoders(),
            _ => Vec::new(),
        }
    }

    /// The number of errors that it has reported, on any of its threads.
    pub(crate) fn faults(&self) -> u32 {
        self.log.faults().wrapping_sub(self.before)
    }

    /// Drops all data that were sent, before reading continues elsewhere.
    pub(crate) fn flush(&mut self) {
        // SAFETY: an open decoder.
        unsafe { sys::avcodec_flush_buffers(self.context) }
    }
}

/// The largest number of samples in a plane of a video's picture.
const MAX_PIXELS: i64 = 1 << 28;

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: allocated in `open`, freed once.
        unsafe { sys::avcodec_free_context(&mut self.context) }
    }
}
