//! Joins shards of a video: muxes their packets into one container, with the sound and other streams that the shards
//! lack. Nothing is encoded again.

use super::fault;
use super::part_reader::PartReader;
use super::video_file::{VideoFile, VideoFileParams};
use crate::encoding::Encoding;
use crate::journal::segments::timeline::timeline;
use crate::journal::shard::Video;
use crate::journal::{Cuts, PacketRecord};
use crate::libav::container::Container;
use crate::libav::copy::{CutTimes, video_tags};
use crate::libav::details;
use crate::libav::dict::Tagged;
use crate::libav::error::AvError;
use crate::libav::mux::Muxer;
use crate::libav::raw::{extra, parameters, parameters_mut, set_parameters};
use crate::libav::side_data;
use crate::libav::versions::copy_stream_side_data;
use crate::media::{Carried, SinkError};
use ffmpeg_next::Packet;
use ffmpeg_sys_next as sys;
use grainfield_filters::ratio::Ratio;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use sys::AVPacketSideDataType::{
    self, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_DISPLAYMATRIX, AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
    AV_PKT_DATA_SPHERICAL, AV_PKT_DATA_STEREO3D,
};
use sys::AVRational;

/// A shard and its record.
#[derive(Clone, Debug)]
pub struct Shard {
    /// The file.
    pub path: PathBuf,
    /// Its packets.
    pub packets: Vec<PacketRecord>,
    /// Properties of the whole video.
    pub video: Video,
}

/// Joins shards in order. `carried` is that of the source, from which other streams are copied. Returns warnings about
/// losses in the container.
///
/// # Errors
/// A shard cannot be read or does not continue the one before, or the output cannot be written.
pub fn join(
    output: &OsStr,
    overwrite: bool,
    shards: &[Shard],
    carried: &Carried,
) -> Result<Vec<String>, SinkError> {
    let _log = crate::libav::log::Log::new().enter();
    let container = Container::for_output(output)
        .ok_or_else(|| fault(output, "no video container has this extension".into()))?;
    // a shard without pictures has no header either
    let filled: Vec<&Shard> = shards.iter().filter(|s| !s.packets.is_empty()).collect();
    let Some(first) = filled.first() else {
        return Err(fault(output, "none of the shards has a frame".into()));
    };
    let source = carried.as_ref().and_then(|c| c.downcast_ref::<side_data::SourceFile>());
    let base = AVRational { num: first.video.tick.0, den: first.video.tick.1 };
    let encoding = Encoding {
        audio: first.video.audio,
        audio_codec: first.video.audio_codec.clone(),
        audio_bitrate: first.video.audio_bitrate,
        subs: first.video.subs,
        no_chapters: first.video.no_chapters,
        ..Encoding::default()
    };
    let ends = first.video.ends;
    let head = PartReader::open(&first.path, true)?;
    let params = VideoFileParams {
        output,
        overwrite,
        folder: None,
        container,
        base,
        rate: details::ratio(head.stream().avg_frame_rate).unwrap_or(Ratio::ONE),
        ends,
        cuts: &first.video.cuts,
        encoding: &encoding,
        source,
        timecode: None,
        picture_only: false,
    };
    let (mut video_file, losses) = VideoFile::create(&params, params.input()?, |muxer, from| {
        let index = add_picture(muxer, from, head.stream(), container, base)?;
        if let Some(Ok(tag)) = first.video.tag.as_ref().map(|tag| tag.as_bytes().try_into()) {
            parameters_mut(muxer.get(index)).codec_tag = u32::from_le_bytes(tag);
        }
        Ok(index)
    })?;
    let parts: Vec<Part<'_>> = filled.iter().map(|s| (s.path.as_path(), &*s.packets)).collect();
    let header = extra(parameters(head.stream()));
    video_file.write_parts(&parts, header, |part| PartReader::open(parts[part].0, true))?;
    video_file.finish(Ok(()))?;
    Ok(losses)
}

/// The times that are left out: from the end of the picture before each cut to the next. None if pictures are missing,
/// since their places are then unknown.
fn cut_times(packets: &[PacketRecord], cuts: &Cuts) -> Vec<(i64, i64)> {
    let mut shown: Vec<(i64, i64)> = packets.iter().map(|p| (p.0, p.0.saturating_add(p.1))).collect();
    shown.sort_unstable();
    if cuts.total != u64::MAX && cuts.total != shown.len() as u64 {
        return Vec::new();
    }
    let places = cuts.counts.iter().map_while(|&count| shown.get(count as usize - 1..=count as usize));
    places.map(|pair| (pair[0].1, pair[1].0)).filter(|(from, to)| from < to).collect()
}

/// The path and the packets of a file that is joined.
pub(super) type Part<'a> = (&'a Path, &'a [PacketRecord]);

impl VideoFile {
    /// Writes the header, the packets of all parts, and the copied streams. All parts have the same codec header. `open`
    /// opens the part with an index.
    pub(super) fn write_parts(
        &mut self,
        parts: &[Part<'_>],
        header: &[u8],
        open: impl Fn(usize) -> Result<PartReader, SinkError>,
    ) -> Result<(), SinkError> {
        let mut packets: Vec<PacketRecord> = parts.iter().flat_map(|part| part.1).copied().collect();
        let end = packets.iter().map(|p| p.0.saturating_add(p.1)).max().unwrap_or(0);
        let cuts = cut_times(&packets, &self.cuts);
        let mut times = CutTimes::default();
        cuts.iter().for_each(|&(from, to)| times.push(from, to));
        packets.iter_mut().for_each(|p| p.0 -= times.removed(p.0, |t| t));
        let line = timeline(&packets);
        self.begin(line.iter().map(|t| t.pts).min().unwrap_or(0))?;
        cuts.into_iter().for_each(|cut| self.cut(cut));
        let mut next = line.iter();
        let mut packet = Packet::empty();
        for (part, (path, packets)) in parts.iter().enumerate() {
            let mut reader = open(part)?;
            if extra(parameters(reader.stream())) != header {
                let problem =
                    "its encoder's header differs from that of the first part: delete it and render it again";
                return Err(fault(path, problem.into()));
            }
            let mut count = 0;
            while reader.next(&mut packet)? {
                count += 1;
                let Some(time) = next.next().filter(|_| count <= packets.len()) else { break };
                self.write_packet_at(&mut packet, time)?;
            }
            if count != packets.len() {
                let problem = format!("it does not have the expected {} packets", packets.len());
                return Err(fault(path, problem));
            }
        }
        self.finish_copies((!self.ends.last).then_some(end))
    }
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
    set_parameters(stream, parameters(shard))?;
    // the tag of the shard's container has no meaning in another
    parameters_mut(stream).codec_tag = 0;
    copy_stream_side_data(shard, stream, &KINDS);
    stream.sample_aspect_ratio = shard.sample_aspect_ratio;
    stream.avg_frame_rate = shard.avg_frame_rate;
    stream.r_frame_rate = shard.r_frame_rate;
    stream.disposition = shard.disposition;
    if let Some(from) = from {
        stream.disposition = from.disposition;
        video_tags(from, stream, container);
    }
    stream.add_tags(shard.tags().into_iter().filter(|tag| tag.0.eq_ignore_ascii_case("encoder")));
    stream.time_base = base;
    Ok(stream.index as usize)
}

/// Side data of the picture's stream.
const KINDS: [AVPacketSideDataType; 5] = [
    AV_PKT_DATA_DISPLAYMATRIX,
    AV_PKT_DATA_STEREO3D,
    AV_PKT_DATA_SPHERICAL,
    AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
    AV_PKT_DATA_CONTENT_LIGHT_LEVEL,
];
