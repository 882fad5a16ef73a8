//! Joins shards of a video: muxes their packets into one container, with the sound and other streams that the shards
//! lack. Nothing is encoded again.

use super::container::Container;
use super::handles::{Dict, Packet};
use super::mux::Muxer;
use super::output_file::{OutputFile, OutputParams};
use super::{av_fault, fault};
use crate::encoding::Encoding;
use crate::journal::segments::timeline::timeline;
use crate::journal::shard::Video;
use crate::libav::copy::video_tags;
use crate::libav::details;
use crate::libav::error::{AvError, check};
use crate::libav::side_data;
use crate::libav::versions;
use crate::media::Carried;
use crate::media::SinkError;
use ffmpeg_sys_next as sys;
use grainfield_filters::ratio::Ratio;
use std::ffi::{CString, OsStr};
use std::path::{Path, PathBuf};
use std::ptr;
use sys::AVPacketSideDataType::{
    AV_PKT_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_DISPLAYMATRIX, AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
    AV_PKT_DATA_SPHERICAL, AV_PKT_DATA_STEREO3D,
};
use sys::AVRational;

/// Reads a container packet by packet.
struct ShardReader {
    context: *mut sys::AVFormatContext,
    name: String,
    stream: usize,
}

impl ShardReader {
    fn open(path: &Path) -> Result<ShardReader, SinkError> {
        use std::os::unix::ffi::OsStrExt;
        let name = path.display().to_string();
        let url = [b"file:", path.as_os_str().as_bytes()].concat();
        let url =
            CString::new(url).map_err(|_| fault(path.as_os_str(), "the name contains a zero byte".into()))?;
        let mut options = Dict::new();
        options.set("protocol_whitelist", "file");
        // packets as they were written, without edit lists
        options.set("ignore_editlist", "1");
        let mut shard_reader = ShardReader { context: ptr::null_mut(), name, stream: 0 };
        // SAFETY: strings are valid during the calls; on failure libav leaves null.
        let opened = unsafe {
            check(sys::avformat_open_input(
                &mut shard_reader.context,
                url.as_ptr(),
                ptr::null_mut(),
                &mut options.0,
            ))
            .and_then(|_| check(sys::avformat_find_stream_info(shard_reader.context, ptr::null_mut())))
        };
        opened.map_err(|e| av_fault(&shard_reader.name, "it cannot be read", e))?;
        // SAFETY: an open context, whose streams live as long as it.
        let video = unsafe {
            let streams = std::slice::from_raw_parts(
                (*shard_reader.context).streams,
                (*shard_reader.context).nb_streams as usize,
            );
            streams.iter().position(|s| (*(**s).codecpar).codec_type == sys::AVMediaType::AVMEDIA_TYPE_VIDEO)
        };
        shard_reader.stream =
            video.ok_or_else(|| fault(path.as_os_str(), "it has no video stream".into()))?;
        Ok(shard_reader)
    }

    fn stream(&self) -> &sys::AVStream {
        // SAFETY: checked when it was opened.
        unsafe { &**(*self.context).streams.add(self.stream) }
    }

    fn extra(&self) -> &[u8] {
        // SAFETY: parameters are valid as long as the stream, with this number of bytes.
        unsafe {
            let par = &*self.stream().codecpar;
            match usize::try_from(par.extradata_size) {
                Ok(size) if !par.extradata.is_null() => std::slice::from_raw_parts(par.extradata, size),
                _ => &[],
            }
        }
    }

    /// Whether the packet is within the first `bytes` bytes of the file.
    fn lies_in(&self, packet: &Packet, bytes: u64) -> bool {
        // SAFETY: our own packet.
        let (at, size) = unsafe { ((*packet.0).pos, (*packet.0).size) };
        u64::try_from(at).is_ok_and(|at| at.saturating_add(size.unsigned_abs().into()) <= bytes)
    }

    /// The next packet of the picture; `false` at the end.
    fn next(&self, packet: &Packet) -> Result<bool, SinkError> {
        loop {
            // SAFETY: our own context and packet.
            match check(unsafe { sys::av_read_frame(self.context, packet.0) }) {
                // SAFETY: our own packet.
                Ok(_) if unsafe { (*packet.0).stream_index } as usize == self.stream => return Ok(true),
                // SAFETY: our own packet.
                Ok(_) => unsafe { sys::av_packet_unref(packet.0) },
                Err(AvError::EOF) => return Ok(false),
                Err(AvError::AGAIN) => {}
                Err(e) => return Err(av_fault(&self.name, "it cannot be read", e)),
            }
        }
    }
}

impl Drop for ShardReader {
    fn drop(&mut self) {
        // SAFETY: owned here and closed once; null is allowed.
        unsafe { sys::avformat_close_input(&mut self.context) }
    }
}

/// A shard and its note.
#[derive(Clone, Debug)]
pub struct Shard {
    /// The file.
    pub path: PathBuf,
    /// The times of its packets, and properties of the whole video.
    pub video: Video,
}

/// Joins shards in order. `carried` is that of the source, from which other streams are copied. Returns the number of
/// packets, and warnings about losses in the container.
pub fn join(
    output: &OsStr,
    overwrite: bool,
    shards: &[Shard],
    carried: &Carried,
) -> Result<(u64, Vec<String>), SinkError> {
    let _log = crate::libav::log::Log::new().enter();
    let container =
        Container::of(output).ok_or_else(|| fault(output, "no video container has this extension".into()))?;
    // a shard without pictures has no header either
    let filled: Vec<&Shard> = shards.iter().filter(|s| !s.video.times.is_empty()).collect();
    let Some(first) = filled.first() else {
        return Err(fault(output, "none of the shards has a frame".into()));
    };
    let source = carried.as_ref().and_then(|c| c.downcast_ref::<side_data::SourceFile>());
    let base = AVRational { num: first.video.tick.0, den: first.video.tick.1 };
    let encoding = Encoding {
        audio: first.video.audio,
        subs: first.video.subs,
        no_chapters: first.video.no_chapters,
        ..Encoding::default()
    };
    let whole = first.video.whole;
    let head = ShardReader::open(&first.path)?;
    let output_params = OutputParams {
        output,
        overwrite,
        by: None,
        container,
        base,
        rate: details::ratio(head.stream().avg_frame_rate).unwrap_or(Ratio::ONE),
        whole,
        encoding: &encoding,
        source,
        timecode: None,
        alone: false,
    };
    let (mut output_file, said) =
        OutputFile::create(&output_params, output_params.input()?, |muxer, from| {
            add_picture(muxer, from, head.stream(), container, base)
        })?;
    let times: Vec<(i64, i64)> = filled.iter().flat_map(|s| s.video.times.iter().copied()).collect();
    let line = timeline(&times);
    output_file.begin(line.iter().map(|t| t.pts).min().unwrap_or(0))?;
    let end = line.iter().map(|t| t.pts.saturating_add(t.duration)).max().unwrap_or(0);
    let packet = Packet::new().ok_or_else(|| fault(output, "out of memory".into()))?;
    let mut next = line.iter();
    for shard in &filled {
        let shard_reader = ShardReader::open(&shard.path)?;
        if shard_reader.extra() != head.extra() {
            let problem = format!("its encoder settings differ from those of {}", first.path.display());
            return Err(fault(shard.path.as_os_str(), problem));
        }
        let mut count = 0;
        while shard_reader.next(&packet)? {
            count += 1;
            let Some(time) = next.next().filter(|_| count <= shard.video.times.len()) else {
                return Err(other_count(shard));
            };
            // SAFETY: our own packet.
            let p = unsafe { &mut *packet.0 };
            p.pts = time.pts.saturating_sub(output_file.shift);
            p.dts = time.dts.saturating_sub(output_file.shift);
            p.duration = time.duration;
            output_file.put(&packet, base)?;
        }
        if count != shard.video.times.len() {
            return Err(other_count(shard));
        }
    }
    output_file.rest((!whole.1).then_some(end))?;
    output_file.finish(Ok(()))?;
    Ok((times.len() as u64, said))
}

/// The number of pictures in the first bytes of a file whose writing failed there, since later bytes may be invalid; and
/// the position of the last one. 0 if the file cannot be read.
pub(super) fn whole_pictures(path: &Path, bytes: u64) -> (u64, u64) {
    let (mut count, mut last) = (0, 0);
    if let (Ok(reader), Some(packet)) = (ShardReader::open(path), Packet::new()) {
        while reader.next(&packet).unwrap_or(false) {
            if reader.lies_in(&packet, bytes) {
                count += 1;
                // SAFETY: our own packet.
                last = unsafe { (*packet.0).pos }.unsigned_abs();
            }
        }
    }
    (count, last)
}

fn other_count(shard: &Shard) -> SinkError {
    let problem = format!("it does not have the expected {} packets", shard.video.times.len());
    fault(shard.path.as_os_str(), problem)
}

/// Makes the picture's stream as in a shard.
fn add_picture(
    muxer: &mut Muxer,
    from: Option<&sys::AVStream>,
    shard: &sys::AVStream,
    container: Container,
    base: AVRational,
) -> Result<usize, AvError> {
    let stream = muxer.stream()?;
    // SAFETY: all streams are valid; the tag of the shard's container is chosen anew.
    unsafe {
        let kinds = [
            AV_PKT_DATA_DISPLAYMATRIX,
            AV_PKT_DATA_STEREO3D,
            AV_PKT_DATA_SPHERICAL,
            AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
            AV_PKT_DATA_CONTENT_LIGHT_LEVEL,
        ];
        check(sys::avcodec_parameters_copy(stream.codecpar, shard.codecpar))?;
        (*stream.codecpar).codec_tag = 0;
        for kind in kinds {
            if let Some(bytes) = versions::stream_side_data(shard, kind) {
                let bytes = bytes.to_vec();
                versions::set_stream_side_data(stream, kind, &bytes);
            }
        }
        stream.sample_aspect_ratio = shard.sample_aspect_ratio;
        stream.avg_frame_rate = shard.avg_frame_rate;
        stream.r_frame_rate = shard.r_frame_rate;
        stream.disposition = shard.disposition;
        if let Some(from) = from {
            stream.disposition = from.disposition;
            video_tags(from, stream, container);
        }
        let encoder = sys::av_dict_get(shard.metadata, c"encoder".as_ptr(), ptr::null(), 0);
        if !encoder.is_null() {
            sys::av_dict_set(&mut stream.metadata, c"encoder".as_ptr(), (*encoder).value, 0);
        }
    }
    stream.time_base = base;
    Ok(stream.index as usize)
}
