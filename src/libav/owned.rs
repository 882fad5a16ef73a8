//! Owners of libav's structures: each is made in one place, freed in one, and never null.

use super::error::{AvError, check};
use super::log::Log;
use ffmpeg_sys_next as sys;
use std::mem::ManuallyDrop;

/// Memory is out.
pub(crate) const NO_MEMORY: AvError = AvError(-libc::ENOMEM);

/// A packet of coded data.
pub(crate) struct Packet(*mut sys::AVPacket);

// SAFETY: a packet's buffers are reference-counted with atomics, and it has no tie to a thread.
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
        // SAFETY: never null, and borrowed as long as `self` is.
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

    /// Gives it a number that the pictures coded in it will bear (see [`AvFrame::take_mark`]). Of all that a packet
    /// carries, every version of libav hands on side data to the picture unlooked at; this kind means nothing in video.
    pub(crate) fn mark(&mut self, number: u32) -> Result<(), AvError> {
        let kind = sys::AVPacketSideDataType::AV_PKT_DATA_REPLAYGAIN;
        let bytes = number.to_ne_bytes();
        // SAFETY: a valid packet of ours; libav returns so many bytes, or null.
        unsafe {
            let data = sys::av_packet_new_side_data(self.0, kind, bytes.len());
            if data.is_null() {
                return Err(NO_MEMORY);
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len());
        }
        Ok(())
    }

    /// Lets go of the data.
    pub(crate) fn clear(&mut self) {
        // SAFETY: a valid packet; afterwards it is blank.
        unsafe { sys::av_packet_unref(self.0) }
    }
}

impl AsMut<sys::AVPacket> for Packet {
    fn as_mut(&mut self) -> &mut sys::AVPacket {
        // SAFETY: never null, and borrowed as long as `self` is.
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

// SAFETY: as with packets; what is in it is only read once it has been decoded.
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
        // SAFETY: never null, and borrowed as long as `self` is.
        unsafe { &*self.0 }
    }

    /// Moves what is in it to a new owner and leaves it blank.
    pub(crate) fn take(&mut self) -> Result<AvFrame, AvError> {
        let to = AvFrame::new()?;
        // SAFETY: both are valid; the target is blank.
        unsafe { sys::av_frame_move_ref(to.0, self.0) };
        Ok(to)
    }

    /// The wrapper's view, whose accessors know where each version of libav keeps a field.
    fn view<T>(&self, f: impl FnOnce(&ffmpeg_next::frame::Video) -> T) -> T {
        // SAFETY: the frame is valid; the view must not free it, so it is never dropped.
        let view = ManuallyDrop::new(unsafe { ffmpeg_next::frame::Video::wrap(self.0) });
        f(&view)
    }

    /// Whether it holds two fields.
    pub(crate) fn interlaced(&self) -> bool {
        self.view(ffmpeg_next::frame::Video::is_interlaced)
    }

    /// Whether the top field is the first, if it holds two.
    pub(crate) fn top_first(&self) -> bool {
        self.view(ffmpeg_next::frame::Video::is_top_first)
    }

    /// How long it is shown by its packet, in the stream's ticks; 0 when not said.
    pub(crate) fn duration(&self) -> i64 {
        self.view(|v| v.packet().duration).max(0)
    }

    /// Its pixel format.
    pub(crate) fn pix_fmt(&self) -> sys::AVPixelFormat {
        self.view(|v| v.format()).into()
    }

    /// Whether the decoder knows that samples are wrong or guessed.
    pub(crate) fn damaged(&self) -> bool {
        let f = self.get();
        f.flags & sys::AV_FRAME_FLAG_CORRUPT != 0 || f.decode_error_flags != 0
    }

    /// Marks it as damaged.
    pub(crate) fn mark_damaged(&mut self) {
        // SAFETY: a valid frame of which this is the only owner.
        unsafe { (*self.0).flags |= sys::AV_FRAME_FLAG_CORRUPT };
    }

    /// The number of the packet it was coded in, if that was marked; it is taken off.
    pub(crate) fn take_mark(&mut self) -> Option<u32> {
        let kind = sys::AVFrameSideDataType::AV_FRAME_DATA_REPLAYGAIN;
        // SAFETY: a valid frame of which this is the only owner; libav says how many bytes there are.
        unsafe {
            let found = sys::av_frame_get_side_data(self.0, kind).as_ref()?;
            let bytes = (found.size == 4 && !found.data.is_null())
                .then(|| std::ptr::read_unaligned(found.data.cast::<[u8; 4]>()));
            sys::av_frame_remove_side_data(self.0, kind);
            bytes.map(u32::from_ne_bytes)
        }
    }

    /// Whether it has closed captions.
    pub(crate) fn captions(&self) -> bool {
        let kind = sys::AVFrameSideDataType::AV_FRAME_DATA_A53_CC;
        // SAFETY: a valid frame.
        !unsafe { sys::av_frame_get_side_data(self.0, kind) }.is_null()
    }

    /// A sum of the visible samples, to know a picture again.
    pub(crate) fn checksum(&self) -> u64 {
        let f = self.get();
        let (width, height) = (f.width.max(0), f.height.max(0));
        let mut sum = Checksum::new((width as u64) << 32 | height as u64);
        // SAFETY: a decoded software frame: libav's own description tells how long and how many the rows of each plane
        // are, and they lie `linesize` apart, which may be negative.
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

    /// The timestamp that libav thinks best, in the stream's ticks.
    pub(crate) fn timestamp(&self) -> Option<i64> {
        let t = self.get().best_effort_timestamp;
        (t != sys::AV_NOPTS_VALUE).then_some(t)
    }
}

/// A sum of bytes that is quick and tells pictures apart; not one against forgers.
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
    /// Errors that had been told of when it was opened.
    before: u32,
}

// SAFETY: used by one thread at a time; its own threads are libav's affair.
unsafe impl Send for Decoder {}

/// What a decoder did when asked for a frame.
pub(crate) enum Received {
    /// There is one, in the picture handed in.
    Frame,
    /// It wants another packet first.
    Hungry,
    /// That was all.
    End,
}

impl Decoder {
    /// Opens libav's decoder for a stream. `threads` 0: as many as the machine has.
    ///
    /// # Safety
    /// `stream` must be a valid stream.
    pub(crate) unsafe fn open(
        stream: *const sys::AVStream,
        codec: *const sys::AVCodec,
        threads: usize,
    ) -> Result<Decoder, AvError> {
        // SAFETY: the stream is valid as promised; the context is freed by `Decoder` whatever happens.
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
                // One frame after the other, so that what it says belongs to the frame that comes: see `words`.
                sys::AVCodecID::AV_CODEC_ID_FFV1 => sys::FF_THREAD_SLICE,
                _ => sys::FF_THREAD_FRAME | sys::FF_THREAD_SLICE,
            };
            // A broken header must not make it allocate what no picture needs.
            (*context).max_pixels = MAX_PIXELS;
            check(sys::avcodec_open2(context, codec, std::ptr::null_mut()))?;
            Ok(own)
        }
    }

    /// Hands over a packet, or (`None`) says that there are no more.
    pub(crate) fn send(&mut self, packet: Option<&Packet>) -> Result<(), AvError> {
        let packet = packet.map_or(std::ptr::null(), |p| p.as_ptr().cast_const());
        // SAFETY: an open decoder, and a valid packet or null, of which libav takes a reference.
        check(unsafe { sys::avcodec_send_packet(self.context, packet) }).map(|_| ())
    }

    /// Asks for a frame.
    pub(crate) fn receive(&mut self, into: &mut AvFrame) -> Result<Received, AvError> {
        // SAFETY: an open decoder and a valid frame, which libav unreferences first.
        match check(unsafe { sys::avcodec_receive_frame(self.context, into.as_ptr()) }) {
            Ok(_) => Ok(Received::Frame),
            Err(AvError::AGAIN) => Ok(Received::Hungry),
            Err(AvError::EOF) => Ok(Received::End),
            Err(error) => Err(error),
        }
    }

    /// What it said about the frame that came last, where saying so is all that it does about damage: FFV1 checks sums
    /// and gives a frame patched from the one before, unmarked.
    pub(crate) fn words(&self) -> Vec<String> {
        // SAFETY: an open decoder.
        match unsafe { (*self.context).codec_id } {
            sys::AVCodecID::AV_CODEC_ID_FFV1 => self.log.drain_decoders(),
            _ => Vec::new(),
        }
    }

    /// How many errors it has told of, on any of its threads.
    pub(crate) fn faults(&self) -> u32 {
        self.log.faults().wrapping_sub(self.before)
    }

    /// Forgets everything that was sent, before reading goes on elsewhere.
    pub(crate) fn flush(&mut self) {
        // SAFETY: an open decoder.
        unsafe { sys::avcodec_flush_buffers(self.context) }
    }
}

/// The most samples that one plane of a video's picture may have.
const MAX_PIXELS: i64 = 1 << 28;

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: allocated in `open`, freed once.
        unsafe { sys::avcodec_free_context(&mut self.context) }
    }
}
