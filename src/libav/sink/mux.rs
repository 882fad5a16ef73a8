//! Writes the container.

use super::container::Container;
use super::handles::{Dict, Packet};
use crate::disk::reopening;
use crate::libav::error::{AvError, check};
use ffmpeg_sys_next as sys;
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// A muxer with its file.
pub(crate) struct Muxer {
    pub(crate) context: *mut sys::AVFormatContext,
    /// Whether the header has been written, so that a trailer must follow.
    begun: bool,
    /// Whether writing has failed.
    failed: bool,
    /// Whether it writes to memory, as a test of what it supports.
    trial: bool,
    /// Whether this is Matroska in a version of libav whose muxer writes the codec delay of Opus, which readers
    /// subtract from every time, without adding it to the times.
    delays: bool,
}

// SAFETY: owned by one thread at a time.
unsafe impl Send for Muxer {}

impl Muxer {
    /// A muxer for an existing empty file.
    pub(crate) fn new(container: Container, path: &Path) -> Result<Muxer, AvError> {
        // with the protocol `file:`, so that no part of the name is interpreted as a protocol
        let url = [b"file:", OsStr::as_bytes(path.as_os_str())].concat();
        let url = CString::new(url).map_err(|_| AvError(-libc::EINVAL))?;
        let mut options = Dict::new();
        options.set("blocksize", "262144");
        let muxer = Muxer::closed(container, &url)?;
        // SAFETY: strings are valid during the call; `muxer` owns and closes what is opened.
        let opened = reopening(|| unsafe {
            sys::avio_open2(
                &mut (*muxer.context).pb,
                url.as_ptr(),
                sys::AVIO_FLAG_WRITE,
                ptr::null(),
                &mut options.0,
            )
        });
        check(opened)?;
        Ok(muxer)
    }

    /// A muxer that writes to memory: writing its header tests what the container supports.
    pub(crate) fn trial(container: Container) -> Result<Muxer, AvError> {
        let mut muxer = Muxer::closed(container, c"trial")?;
        // SAFETY: our own context, which has no open file yet.
        check(unsafe { sys::avio_open_dyn_buf(&mut (*muxer.context).pb) })?;
        muxer.trial = true;
        Ok(muxer)
    }

    fn closed(container: Container, url: &CStr) -> Result<Muxer, AvError> {
        let mut muxer = Muxer {
            context: ptr::null_mut(),
            begun: false,
            failed: false,
            trial: false,
            delays: container.is_matroska() && cfg!(not(ffmpeg_6_1)),
        };
        // SAFETY: the string is copied; `muxer` owns and frees what is made.
        unsafe {
            check(sys::avformat_alloc_output_context2(
                &mut muxer.context,
                container.muxer.cast_mut(),
                ptr::null(),
                url.as_ptr(),
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
            self.failed |= written.is_err();
            written
        }
    }

    /// Writes waiting packets and the trailer, and closes the file. Returns its size.
    pub(crate) fn end(&mut self) -> Result<u64, AvError> {
        // SAFETY: our own context; the trailer is written once, after the header.
        unsafe {
            if let Some(pb) = (*self.context).pb.as_mut().filter(|_| self.failed) {
                // Data that could not be written leave a gap; the table of contents after it may still fit.
                pb.error = 0;
            }
            let trailer = if std::mem::take(&mut self.begun) {
                check(sys::av_write_trailer(self.context))
            } else {
                Ok(0)
            };
            let pb = (*self.context).pb;
            if pb.is_null() {
                return trailer.map(|_| 0);
            }
            sys::avio_flush(pb);
            let failed = check((*pb).error);
            let size = sys::avio_size(pb);
            // closing reports errors of buffered writes
            let closed = check(sys::avio_closep(&mut (*self.context).pb));
            trailer.and(failed).and(closed)?;
            Ok(u64::try_from(size).unwrap_or(0))
        }
    }
}

impl Drop for Muxer {
    fn drop(&mut self) {
        // SAFETY: owned here; closing a closed file does nothing.
        unsafe {
            if !self.context.is_null() {
                if self.trial {
                    let mut written = ptr::null_mut();
                    sys::avio_close_dyn_buf((*self.context).pb, &mut written);
                    sys::av_free(written.cast());
                    (*self.context).pb = ptr::null_mut();
                } else {
                    sys::avio_closep(&mut (*self.context).pb);
                }
                sys::avformat_free_context(self.context);
            }
        }
    }
}
