//! Writes the container.

use super::error::{AvError, check};
use super::raw::{Fields, parameters, parameters_mut, stream_mut};
use crate::disk::system;
use ffmpeg_next::format::context::{Output, StreamIo};
use ffmpeg_next::packet::Mut;
use ffmpeg_next::{Codec, Packet, format};
use ffmpeg_sys_next as sys;
use grainfield_filters::host::lock;
use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::mem;
use std::sync::{Arc, Mutex};

/// The size of the write buffer.
const BUFFER: usize = 256 << 10;

/// The file that a muxer writes, shared with libav.
#[derive(Clone, Default)]
struct Target(Arc<Mutex<TargetFile>>);

#[derive(Default)]
struct TargetFile {
    /// `None` for a test of what a container supports.
    file: Option<File>,
    /// Whether the file is a pipe, which is written in order.
    is_pipe: bool,
    /// The position of libav's next write, and the end of the file. Both also count bytes that could not be written, as
    /// libav does.
    at: u64,
    size: u64,
    /// Disk space that is released when the disk is full, so that the packets in the buffer and the end of the file can
    /// be written.
    reserve: Option<File>,
    /// The first error.
    error: Option<AvError>,
    /// The position of the first byte that could not be written.
    unwritten_from: Option<u64>,
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let target = &mut *lock(&self.0);
        let (mut place, mut rest) = (target.at, bytes);
        target.at += bytes.len() as u64;
        target.size = target.size.max(target.at);
        while let Some(mut file) = target.file.as_ref().filter(|_| !rest.is_empty()) {
            let placed = if target.is_pipe { Ok(0) } else { file.seek(SeekFrom::Start(place)) };
            let wrote = placed.and_then(|_| file.write(rest));
            let error = match wrote {
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => system::errno(&e),
                Ok(0) => libc::ENOSPC,
                Ok(n) => {
                    place += n as u64;
                    rest = &rest[n..];
                    continue;
                }
            };
            target.error.get_or_insert(AvError(-error));
            if target.reserve.take().is_none() {
                target.unwritten_from.get_or_insert(place);
                return Err(system::from_errno(error));
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Target {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = &mut *lock(&self.0);
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(offset) => target.at.checked_add_signed(offset),
            SeekFrom::End(offset) => target.size.checked_add_signed(offset),
        };
        target.at = place.ok_or_else(|| system::from_errno(libc::EINVAL))?;
        Ok(target.at)
    }
}

/// A muxer with its file.
pub(crate) struct Muxer {
    output: Output,
    /// libav's name of it.
    name: &'static str,
    /// Whether the header has been written, so that a trailer must follow.
    begun: bool,
    /// Whether writing has failed.
    failed: bool,
    target: Target,
}

impl Muxer {
    /// A muxer by libav's name, for an empty file, with disk space that is released when the disk is full.
    pub(crate) fn new(name: &'static str, file: File, reserve: Option<File>) -> Result<Muxer, AvError> {
        let file = TargetFile { file: Some(file), reserve, ..TargetFile::default() };
        let mut muxer = Muxer::to(name, Target(Arc::new(Mutex::new(file))), BUFFER)?;
        // not after every packet
        muxer.io().min_packet_size = BUFFER as i32;
        Ok(muxer)
    }

    /// A muxer by libav's name that writes to a pipe, each packet at once.
    pub(crate) fn to_pipe(name: &'static str, pipe: File) -> Result<Muxer, AvError> {
        let file = TargetFile { file: Some(pipe), is_pipe: true, ..TargetFile::default() };
        let mut muxer = Muxer::to(name, Target(Arc::new(Mutex::new(file))), BUFFER)?;
        muxer.io().seekable = 0;
        muxer.context().flush_packets = 1;
        Ok(muxer)
    }

    /// A muxer for one stream of any codec in NUT, which keeps the bytes and the side data of packets.
    pub(crate) fn nut(file: File) -> Result<Muxer, AvError> {
        let mut muxer = Muxer::new("nut", file, None)?;
        let context = muxer.context();
        // side data needs the variant without synchronisation points, which libav calls experimental
        context.strict_std_compliance = sys::FF_COMPLIANCE_EXPERIMENTAL;
        // SAFETY: the muxer's own options, and strings.
        check(unsafe { sys::av_opt_set(context.priv_data, c"syncpoints".as_ptr(), c"none".as_ptr(), 0) })?;
        Ok(muxer)
    }

    /// A muxer that writes nowhere: writing its header tests what the container supports.
    pub(crate) fn trial(name: &'static str) -> Result<Muxer, AvError> {
        Muxer::to(name, Target::default(), 4096)
    }

    fn to(name: &'static str, target: Target, buffer: usize) -> Result<Muxer, AvError> {
        let io = StreamIo::from_write_seek_with_capacity(target.clone(), buffer)?;
        let mut output = format::output_to_stream(io, None, Some(name))?;
        // allow features that are not standardised but widely supported (HDR10 boxes, Opus in MP4)
        let context = output.av_mut();
        context.strict_std_compliance = sys::FF_COMPLIANCE_UNOFFICIAL;
        // animated pictures play forever
        if let Some(key) = match name {
            "apng" => Some(c"plays"),
            "webp" => Some(c"loop"),
            _ => None,
        } {
            // SAFETY: the muxer's own options, and strings.
            check(unsafe { sys::av_opt_set(context.priv_data, key.as_ptr(), c"0".as_ptr(), 0) })?;
        }
        Ok(Muxer { output, name, begun: false, failed: false, target })
    }

    fn io(&mut self) -> &mut sys::AVIOContext {
        // SAFETY: made with the output, which owns it.
        unsafe { &mut *self.output.av_mut().pb }
    }

    /// libav's context.
    pub(crate) fn context(&mut self) -> &mut sys::AVFormatContext {
        self.output.av_mut()
    }

    /// A new stream.
    pub(crate) fn stream(&mut self) -> Result<&mut sys::AVStream, AvError> {
        let index = self.output.add_stream(None::<Codec>).map_err(|_| AvError::MEMORY)?.index();
        Ok(self.get(index))
    }

    /// An existing stream.
    pub(crate) fn get(&mut self, index: usize) -> &mut sys::AVStream {
        let stream = stream_mut(self.output.av_mut(), index);
        stream.unwrap_or_else(|| panic!("stream {index} is used before it is made"))
    }

    /// Whether it can write packets: after the header, and until an error.
    pub(crate) fn is_open(&self) -> bool {
        self.begun && !self.failed
    }

    /// The position of the first byte that could not be written.
    pub(crate) fn unwritten_from(&self) -> Option<u64> {
        lock(&self.target.0).unwritten_from
    }

    /// Writes the header; streams must not change any more, and their time bases are now the container's.
    pub(crate) fn begin(&mut self) -> Result<(), AvError> {
        let tagged = ["mp4", "mov"].contains(&self.name);
        for i in 0..self.output.nb_streams() as usize {
            let par = parameters_mut(self.get(i));
            // Apple's players do not play HEVC with libav's default tag, hev1
            if tagged && par.codec_id == sys::AVCodecID::AV_CODEC_ID_HEVC && par.codec_tag == 0 {
                par.codec_tag = u32::from_le_bytes(*b"hvc1");
            }
        }
        self.output.write_header()?;
        self.begun = true;
        Ok(())
    }

    /// Writes a packet of a stream, with times in ticks of `base`. The packet is empty afterwards.
    pub(crate) fn write(
        &mut self,
        packet: &mut Packet,
        base: sys::AVRational,
        to: usize,
    ) -> Result<(), AvError> {
        // Before FFmpeg 6.1, the muxer for Matroska writes the codec delay of Opus, which readers subtract from every
        // time, without adding it to the times.
        let delays = ["matroska", "webm"].contains(&self.name) && cfg!(not(ffmpeg_6_1));
        let stream = self.get(to);
        let (par, time_base) = (parameters(stream), stream.time_base);
        packet.set_stream(to);
        packet.set_position(-1);
        if delays && par.codec_id == sys::AVCodecID::AV_CODEC_ID_OPUS && par.sample_rate > 0 {
            let tick = sys::AVRational { num: 1, den: par.sample_rate };
            let late = |t: i64| t.saturating_add(par.initial_padding.into());
            packet.rescale_ts(base, tick);
            packet.set_pts(packet.pts().map(late));
            packet.set_dts(packet.dts().map(late));
            packet.rescale_ts(tick, time_base);
        } else {
            packet.rescale_ts(base, time_base);
        }
        // SAFETY: a context with a header, and a packet, both ours. The wrapper's call refuses packets without bytes.
        let written =
            check(unsafe { sys::av_interleaved_write_frame(self.output.as_mut_ptr(), packet.as_mut_ptr()) });
        // an error for which the reserved disk space made up counts, too; the wrapper passes on the system's number
        let written = lock(&self.target.0).error.map_or(written.map(|_| ()), Err);
        self.failed |= written.is_err();
        written
    }

    /// Writes waiting packets and the trailer. Returns the size of the file.
    pub(crate) fn end(&mut self) -> Result<u64, AvError> {
        if self.failed {
            // Data that could not be written leave a gap; the table of contents after it may still fit.
            self.io().error = 0;
        }
        let trailer = if mem::take(&mut self.begun) { self.output.write_trailer() } else { Ok(()) };
        // SAFETY: the output's own file.
        unsafe { sys::avio_flush(self.io()) };
        trailer?;
        check(self.io().error)?;
        Ok(lock(&self.target.0).size)
    }
}
