//! The container being written.

use super::container::Container;
use super::handles::{Dict, Packet};
use crate::disk::reopening;
use crate::libav::error::{AvError, check};
use ffmpeg_sys_next as sys;
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// A muxer with the file it writes.
pub(crate) struct Muxer {
    pub(crate) context: *mut sys::AVFormatContext,
    /// The header has been written, so a trailer is due.
    begun: bool,
    /// Something could not be written.
    failed: bool,
    /// It writes into memory, to see what it would take.
    trial: bool,
    /// Whether it is Matroska in a version of libav whose muxer writes the codec's delay of Opus, which readers take
    /// away from every time, but does not add it to the times itself.
    delays: bool,
}

// SAFETY: owned by one thread at a time.
unsafe impl Send for Muxer {}

impl Muxer {
    /// A muxer for a file that exists and is empty.
    pub(crate) fn new(container: Container, path: &Path) -> Result<Muxer, AvError> {
        // named as a file, so that nothing in its name is taken for a protocol
        let url = [b"file:", OsStr::as_bytes(path.as_os_str())].concat();
        let url = CString::new(url).map_err(|_| AvError(-libc::EINVAL))?;
        let mut options = Dict::new();
        options.set("blocksize", "262144");
        let muxer = Muxer::closed(container, &url)?;
        // SAFETY: strings live through the call; what is opened is owned by `muxer`, which closes it.
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

    /// A muxer that writes into memory: whether its header can be written tells what the container takes.
    pub(crate) fn trial(container: Container) -> Result<Muxer, AvError> {
        let mut muxer = Muxer::closed(container, c"trial")?;
        // SAFETY: our own context, which has nothing open yet.
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
        // SAFETY: the string is copied; what is made is owned by `muxer`, which frees it.
        unsafe {
            check(sys::avformat_alloc_output_context2(
                &mut muxer.context,
                container.muxer.cast_mut(),
                ptr::null(),
                url.as_ptr(),
            ))?;
            // what standards bodies have not settled but players know (HDR10 boxes, Opus in MP4)
            (*muxer.context).strict_std_compliance = sys::FF_COMPLIANCE_UNOFFICIAL;
        }
        Ok(muxer)
    }

    /// A new stream.
    pub(crate) fn stream(&mut self) -> Result<&mut sys::AVStream, AvError> {
        // SAFETY: our own context; streams live as long as it.
        unsafe { sys::avformat_new_stream(self.context, ptr::null()).as_mut() }.ok_or(AvError(-libc::ENOMEM))
    }

    /// A stream that has been made.
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

    /// Writes the header; streams may not change any more, and their time bases are now the container's.
    pub(crate) fn begin(&mut self, mut options: Dict) -> Result<(), AvError> {
        // SAFETY: our own context, complete with streams and file; the name of its format is static.
        unsafe {
            let format = CStr::from_ptr((*(*self.context).oformat).name);
            for i in 0..(*self.context).nb_streams as usize {
                let par = &mut *self.get(i).codecpar;
                // Apple's players refuse HEVC under libav's default, hev1
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

    /// Takes a packet of a stream, its times in ticks of `base`. The packet is empty afterwards.
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

    /// Writes what is still waiting and the end of the file, and closes it. Returns how long it is.
    pub(crate) fn end(&mut self) -> Result<u64, AvError> {
        // SAFETY: our own context; the trailer is written once, after the header.
        unsafe {
            if let Some(pb) = (*self.context).pb.as_mut().filter(|_| self.failed) {
                // What could not be written is a gap; the table of contents behind it may find room yet.
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
            // closing tells what writing behind our back met
            let closed = check(sys::avio_closep(&mut (*self.context).pb));
            trailer.and(failed).and(closed)?;
            Ok(u64::try_from(size).unwrap_or(0))
        }
    }
}

impl Drop for Muxer {
    fn drop(&mut self) {
        // SAFETY: ours alone; closing a file that is closed does nothing.
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
