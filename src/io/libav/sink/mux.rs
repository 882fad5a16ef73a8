//! Writes the container.

use super::container::Container;
use super::handles::{Dict, Packet};
use crate::libav::error::{AvError, check};
use ffmpeg_sys_next as sys;
use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::ptr;

/// The size of the write buffer.
const BUFFER: c_int = 256 << 10;

/// The file that a muxer writes.
struct Target {
    file: File,
    /// Where libav writes next, and the end of the file. Both also count bytes that could not be written, as libav does.
    at: u64,
    size: u64,
    /// Disk space that is released when the disk is full, so that the packets in the buffer and the end of the file can
    /// be written.
    reserve: Option<File>,
    /// The first error.
    error: Option<AvError>,
    /// The position of the first byte that could not be written.
    torn: Option<u64>,
}

impl Target {
    fn write(&mut self, bytes: &[u8]) -> Result<(), AvError> {
        let mut place = self.at;
        let mut rest = bytes;
        self.at += bytes.len() as u64;
        self.size = self.size.max(self.at);
        while !rest.is_empty() {
            let error = match self.file.write_at(rest, place) {
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => AvError(-e.raw_os_error().unwrap_or(libc::EIO)),
                Ok(0) => AvError(-libc::ENOSPC),
                Ok(n) => {
                    place += n as u64;
                    rest = &rest[n..];
                    continue;
                }
            };
            self.error.get_or_insert(error);
            if self.reserve.take().is_none() {
                self.torn.get_or_insert(place);
                return Err(error);
            }
        }
        Ok(())
    }

    /// The new position, or the size.
    fn seek(&mut self, offset: i64, whence: c_int) -> Option<u64> {
        let from = match whence {
            sys::SEEK_SET => 0,
            sys::SEEK_CUR => self.at,
            sys::SEEK_END => self.size,
            _ => return (whence & sys::AVSEEK_SIZE != 0).then_some(self.size),
        };
        self.at = from.checked_add_signed(offset)?;
        Some(self.at)
    }
}

#[cfg(not(ffmpeg_7_0))]
type Bytes = *mut u8;
#[cfg(ffmpeg_7_0)]
type Bytes = *const u8;

unsafe extern "C" fn write(target: *mut c_void, bytes: Bytes, size: c_int) -> c_int {
    let Ok(count) = usize::try_from(size) else { return -libc::EINVAL };
    // SAFETY: the target that `Muxer::new` boxed, which nothing else uses while libav writes; libav gives `size` bytes.
    let (target, bytes) =
        unsafe { (&mut *target.cast::<Target>(), std::slice::from_raw_parts(bytes.cast_const(), count)) };
    target.write(bytes).map_or_else(|e| e.0, |()| size)
}

unsafe extern "C" fn seek(target: *mut c_void, offset: i64, whence: c_int) -> i64 {
    // SAFETY: as above.
    let place = unsafe { &mut *target.cast::<Target>() }.seek(offset, whence);
    place.and_then(|place| i64::try_from(place).ok()).unwrap_or((-libc::EINVAL).into())
}

/// A muxer with its file.
pub(crate) struct Muxer {
    pub(crate) context: *mut sys::AVFormatContext,
    /// Whether the header has been written, so that a trailer must follow.
    begun: bool,
    /// Whether writing has failed.
    failed: bool,
    /// `None` if it writes to memory, as a test of what it supports. Libav has this pointer, too.
    target: Option<ptr::NonNull<Target>>,
    /// Whether this is Matroska in a version of libav whose muxer writes the codec delay of Opus, which readers
    /// subtract from every time, without adding it to the times.
    delays: bool,
}

// SAFETY: owned by one thread at a time.
unsafe impl Send for Muxer {}

impl Muxer {
    /// A muxer for an empty file, with disk space that is released when the disk is full.
    pub(crate) fn new(container: Container, file: File, reserve: Option<File>) -> Result<Muxer, AvError> {
        let mut muxer = Muxer::closed(container)?;
        let target = Target { file, at: 0, size: 0, reserve, error: None, torn: None };
        let target = ptr::NonNull::from(Box::leak(Box::new(target)));
        muxer.target = Some(target);
        // SAFETY: libav takes over the buffer; `muxer` owns and frees the rest.
        unsafe {
            let buffer = sys::av_malloc(BUFFER as usize).cast::<u8>();
            if buffer.is_null() {
                return Err(AvError(-libc::ENOMEM));
            }
            let opaque = target.as_ptr().cast();
            let pb = sys::avio_alloc_context(buffer, BUFFER, 1, opaque, None, Some(write), Some(seek));
            if pb.is_null() {
                sys::av_free(buffer.cast());
                return Err(AvError(-libc::ENOMEM));
            }
            // not after every packet
            (*pb).min_packet_size = BUFFER;
            (*muxer.context).pb = pb;
        }
        Ok(muxer)
    }

    /// A muxer that writes to memory: writing its header tests what the container supports.
    pub(crate) fn trial(container: Container) -> Result<Muxer, AvError> {
        let muxer = Muxer::closed(container)?;
        // SAFETY: our own context, which has no open file yet.
        check(unsafe { sys::avio_open_dyn_buf(&mut (*muxer.context).pb) })?;
        Ok(muxer)
    }

    fn closed(container: Container) -> Result<Muxer, AvError> {
        let mut muxer = Muxer {
            context: ptr::null_mut(),
            begun: false,
            failed: false,
            target: None,
            delays: container.is_matroska() && cfg!(not(ffmpeg_6_1)),
        };
        // SAFETY: `muxer` owns and frees what is made.
        unsafe {
            check(sys::avformat_alloc_output_context2(
                &mut muxer.context,
                container.muxer.cast_mut(),
                ptr::null(),
                ptr::null(),
            ))?;
            // allow features that are not standardised but widely supported (HDR10 boxes, Opus in MP4)
            (*muxer.context).strict_std_compliance = sys::FF_COMPLIANCE_UNOFFICIAL;
        }
        Ok(muxer)
    }

    /// A new stream.
    pub(crate) fn stream(&mut self) -> Result<&mut sys::AVStream, AvError> {
        // SAFETY: our own context; streams live as long as it.
        unsafe { sys::avformat_new_stream(self.context, ptr::null()).as_mut() }.ok_or(AvError(-libc::ENOMEM))
    }

    /// An existing stream.
    pub(crate) fn get(&mut self, index: usize) -> &mut sys::AVStream {
        // SAFETY: our own context.
        unsafe {
            assert!(index < (*self.context).nb_streams as usize, "streams are made before they are used");
            &mut **(*self.context).streams.add(index)
        }
    }

    pub(crate) fn failed(&self) -> bool {
        self.failed
    }

    pub(crate) fn begun(&self) -> bool {
        self.begun
    }

    fn target(&self) -> Option<&Target> {
        // SAFETY: boxed in `new`; libav changes it only in calls that need `&mut self`.
        self.target.map(|target| unsafe { target.as_ref() })
    }

    /// The first error of writing, also if the reserved disk space made up for it.
    fn error(&self) -> Result<(), AvError> {
        self.target().and_then(|target| target.error).map_or(Ok(()), Err)
    }

    /// The position of the first byte that could not be written.
    pub(crate) fn torn(&self) -> Option<u64> {
        self.target().and_then(|target| target.torn)
    }

    /// Writes the header; streams must not change any more, and their time bases are now the container's.
    pub(crate) fn begin(&mut self, mut options: Dict) -> Result<(), AvError> {
        // SAFETY: our own context, complete with streams and file; the name of its format is static.
        unsafe {
            let format = CStr::from_ptr((*(*self.context).oformat).name);
            for i in 0..(*self.context).nb_streams as usize {
                let par = &mut *self.get(i).codecpar;
                // Apple's players do not play HEVC with libav's default tag, hev1
                if par.codec_id == sys::AVCodecID::AV_CODEC_ID_HEVC && [c"mp4", c"mov"].contains(&format) {
                    par.codec_tag = u32::from_le_bytes(*b"hvc1");
                }
            }
        }
        // SAFETY: the same.
        check(unsafe { sys::avformat_write_header(self.context, &mut options.0) })?;
        self.begun = true;
        Ok(())
    }

    /// Writes a packet of a stream, with times in ticks of `base`. The packet is empty afterwards.
    pub(crate) fn write(&mut self, packet: &Packet, base: sys::AVRational, to: usize) -> Result<(), AvError> {
        // SAFETY: our own context and packet.
        unsafe {
            let stream = &*self.get(to);
            let (par, time_base) = (&*stream.codecpar, stream.time_base);
            let p = &mut *packet.0;
            p.stream_index = to as i32;
            p.pos = -1;
            if self.delays && par.codec_id == sys::AVCodecID::AV_CODEC_ID_OPUS && par.sample_rate > 0 {
                let tick = sys::AVRational { num: 1, den: par.sample_rate };
                sys::av_packet_rescale_ts(packet.0, base, tick);
                for t in [&mut p.pts, &mut p.dts] {
                    if *t != i64::MIN {
                        *t = t.saturating_add(par.initial_padding.into());
                    }
                }
                sys::av_packet_rescale_ts(packet.0, tick, time_base);
            } else {
                sys::av_packet_rescale_ts(packet.0, base, time_base);
            }
            let written = check(sys::av_interleaved_write_frame(self.context, packet.0)).map(drop);
            let written = written.and(self.error());
            self.failed |= written.is_err();
            written
        }
    }

    /// Writes waiting packets and the trailer. Returns the size of the file.
    pub(crate) fn end(&mut self) -> Result<u64, AvError> {
        // SAFETY: our own context; the trailer is written once, after the header.
        unsafe {
            let pb = &mut *(*self.context).pb;
            if self.failed {
                // Data that could not be written leave a gap; the table of contents after it may still fit.
                pb.error = 0;
            }
            let trailer = match std::mem::take(&mut self.begun) {
                true => check(sys::av_write_trailer(self.context)),
                false => Ok(0),
            };
            sys::avio_flush(pb);
            trailer.and(check(pb.error))?;
            Ok(self.target().map_or(0, |target| target.size))
        }
    }
}

impl Drop for Muxer {
    fn drop(&mut self) {
        // SAFETY: owned here and freed once; libav may have replaced the buffer, so its own pointer is freed.
        unsafe {
            if !self.context.is_null() {
                let pb = &mut (*self.context).pb;
                if self.target.is_some() && !pb.is_null() {
                    sys::av_freep((&raw mut (**pb).buffer).cast());
                    sys::avio_context_free(pb);
                } else if !pb.is_null() {
                    let mut written = ptr::null_mut();
                    sys::avio_close_dyn_buf(*pb, &mut written);
                    sys::av_free(written.cast());
                    *pb = ptr::null_mut();
                }
                sys::avformat_free_context(self.context);
            }
            if let Some(target) = self.target {
                drop(Box::from_raw(target.as_ptr()));
            }
        }
    }
}
