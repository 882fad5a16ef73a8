//! The common part of a video file with one encoder and of one that is made of segments.

use super::choice::Choice;
use super::choose::choose;
use super::clock::Clock;
use super::encoder::{Encoder, EncoderProgress, OpenError, threads};
use super::losses::lost_picture;
use super::video_file::{VideoFile, VideoFileParams};
use super::{av_fault, encoding_error, fault};
use crate::encoding::Encoding;
use crate::libav::container::Container;
use crate::libav::copy::{timecode_after, video_tags};
use crate::libav::dict::Tagged;
use crate::libav::error::AvError;
use crate::libav::hdr::Hdr;
use crate::libav::input::Input;
use crate::libav::log::{Log, recent_messages};
use crate::libav::mux::Muxer;
use crate::libav::raw::{Fields, description, parameters_mut, rational, set_parameters};
use crate::libav::side_data::{self, FrameSideData};
use crate::libav::versions::{copy_stream_side_data, set_stream_side_data, stream_side_data};
use crate::media::{Plan, SinkError};
use ffmpeg_sys_next as sys;
use grainfield_filters::frame::Transfer;
use grainfield_filters::ratio::Ratio;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use sys::AVPacketSideDataType::{
    self, AV_PKT_DATA_DISPLAYMATRIX, AV_PKT_DATA_SPHERICAL, AV_PKT_DATA_STEREO3D,
};
use sys::AVRational;

/// The settings of the pictures of a video file.
pub(super) struct Setup {
    /// Messages of libav about this file.
    pub(super) log: Log,
    /// The output's name.
    pub(super) name: String,
    container: Container,
    /// Whether the pictures were turned upright.
    turned: bool,
    choice: Choice,
    pub(super) encoding: Encoding,
    /// The clock of the output timestamps.
    pub(super) clock: Clock,
    pub(super) base: AVRational,
    /// The HDR10 metadata of the container.
    pub(super) hdr: Hdr,
    /// The work of all encoders.
    pub(super) progress: Arc<EncoderProgress>,
    pub(super) warnings: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Opens the encoder and makes the file with its streams; `folder` is that of the temporary file.
pub(super) fn prepare(
    output: &OsStr,
    plan: &Plan,
    folder: Option<&Path>,
) -> Result<(Setup, Encoder, VideoFile), SinkError> {
    let Settings { mut setup, params, input, mut losses } = settings(output, plan, folder)?;
    let encoder = setup.encoder(&setup.hdr)?;
    let (video_file, more) =
        VideoFile::create(&params, input, |muxer, from| setup.add_picture(muxer, from, &encoder))?;
    losses.extend(more);
    if !losses.is_empty() {
        let lost = losses.join("; ");
        setup.warnings =
            vec![format!("{} ({}) cannot keep everything: {lost}", setup.name, setup.container.name())];
    }
    Ok((setup, encoder, video_file))
}

/// Opens the encoder only.
pub(super) fn prepare_encoder(output: &OsStr, plan: &Plan) -> Result<(Setup, Encoder), SinkError> {
    let setup = settings(output, plan, None)?.setup;
    let encoder = setup.encoder(&setup.hdr)?;
    Ok((setup, encoder))
}

/// The settings of the pictures and of the file, the input that is read for other streams, and what is lost of the
/// picture.
struct Settings<'a> {
    setup: Setup,
    params: VideoFileParams<'a>,
    input: Option<Input>,
    losses: Vec<String>,
}

fn settings<'a>(
    output: &'a OsStr,
    plan: &'a Plan,
    folder: Option<&'a Path>,
) -> Result<Settings<'a>, SinkError> {
    let no_container = || fault(output, "no video container has this extension".into());
    let container = Container::for_output(output).ok_or_else(no_container)?;
    let choice = choose(output, &plan.format, &plan.encoding)?;
    let source = plan.carried.as_ref().and_then(|c| c.downcast_ref::<side_data::SourceFile>());
    let clock = Clock::new(&choice, container, source);
    let base = rational(clock.tick).unwrap_or(AVRational { num: 1, den: 1_000_000 });
    let clock = Clock { tick: Ratio::new(base.num.into(), base.den.into()).unwrap_or(clock.tick), ..clock };
    let picture_only = plan.journal.segments.as_ref().is_some_and(|grid| grid.picture_only);
    // shards are joined without the tags of the first one
    let codes = plan.timecode.as_ref().filter(|_| !picture_only && plan.journal.commit_hook.is_none());
    let timecode = codes.filter(|_| container.keeps_tag("timecode")).and_then(|(code, frames)| {
        timecode_after(code, rational(choice.format.rate)?, i32::try_from(*frames).ok()?)
    });
    let params = VideoFileParams {
        output,
        overwrite: plan.overwrite,
        folder,
        container,
        base,
        rate: choice.format.rate,
        ends: plan.ends,
        cuts: &plan.cuts,
        encoding: &plan.encoding,
        source,
        timecode,
        picture_only,
    };
    let input = params.input()?;
    let from = input.as_ref().and_then(|input| input.stream(source.map_or(0, |s| s.video)));
    let hdr = from.map_or_else(Hdr::default, Hdr::of_stream);
    let hdr = source.filter(|_| is_hdr(&choice)).map_or(hdr, |source| hdr.or(source.hdr));
    let in_frames = source.map_or(&[][..], |s| &s.side_data);
    let turned = source.is_some_and(|s| s.turned);
    let mut losses = lost_picture(from, turned, in_frames, container, &choice, &hdr);
    let mut lost = plan.lost_in_video.clone();
    lost.retain(|what| params.timecode.is_none() || what != "time code");
    losses.extend(
        (!lost.is_empty()).then(|| format!("information of the source is lost ({})", lost.join(", "))),
    );
    losses.extend(lost_times(output, container, &clock, source, choice.format.rate)?);
    let threads =
        plan.encoding.option("threads").map_or_else(|| threads(&choice.format).to_string(), str::to_owned);
    let s = if threads == "1" { "" } else { "s" };
    let name = if output == "-" { "standard output".into() } else { output.to_string_lossy().into_owned() };
    let notes = vec![format!("{name}: {} by {}, {threads} thread{s}", choice.layout.name, choice.name())];
    let encoding = plan.encoding.clone();
    let (warnings, progress) = (Vec::new(), Arc::default());
    let log = Log::here();
    let setup =
        Setup { log, name, container, turned, choice, encoding, clock, base, hdr, progress, warnings, notes };
    Ok(Settings { setup, params, input, losses })
}

/// The loss of a varying frame rate; an error in a container with sound, which would no longer be in time.
fn lost_times(
    output: &OsStr,
    container: Container,
    clock: &Clock,
    source: Option<&side_data::SourceFile>,
    rate: Ratio,
) -> Result<Option<String>, SinkError> {
    if clock.rounded_from.is_none() || !source.is_some_and(|s| s.variable) {
        return Ok(None);
    }
    let seconds = rate.recip().unwrap_or(Ratio::ONE);
    if !container.has_constant_rate() {
        return Ok(Some(format!("timestamps are rounded to multiples of {seconds} s")));
    }
    if container.audio_codecs().is_empty() {
        return Ok(Some(format!("timestamps are lost: every frame is shown for {seconds} s")));
    }
    let name = output.to_string_lossy().into_owned();
    Err(SinkError::VaryingRate { name, container: container.name(), rate })
}

/// Whether HDR10 metadata of frames still describe the picture, whose transfer the job may have changed.
fn is_hdr(choice: &Choice) -> bool {
    matches!(choice.format.transfer, Transfer::PQ | Transfer::HLG)
}

/// Side data that describe how the picture is shown; the first does not hold for one that was turned upright.
const DISPLAY_SIDE_DATA: [AVPacketSideDataType; 3] =
    [AV_PKT_DATA_DISPLAYMATRIX, AV_PKT_DATA_STEREO3D, AV_PKT_DATA_SPHERICAL];

impl Setup {
    /// Completes HDR10 metadata of the container by those of a picture. `None` if that adds nothing.
    pub(super) fn more_hdr(&self, carried: Option<&FrameSideData>) -> Option<Hdr> {
        let carried = carried.filter(|_| is_hdr(&self.choice))?;
        Some(self.hdr.or(Hdr::of_frame(carried.props()))).filter(|hdr| hdr.presence() != self.hdr.presence())
    }

    /// Opens the encoder.
    pub(super) fn encoder(&self, hdr: &Hdr) -> Result<Encoder, SinkError> {
        let (name, choice) = (&self.name, &self.choice);
        let encoder = Encoder::open(self.container, choice, self.base, &self.encoding, hdr, &self.progress);
        encoder.map_err(|error| match error {
            OpenError::FilmGrain(error) => {
                fault(name, format!("no temporary file for the film grain table: {error}"))
            }
            OpenError::Statistics(error) => {
                fault(name, format!("the measurements of the first pass cannot be read: {error}"))
            }
            OpenError::Unknown(keys) => {
                let problem = format!(
                    "the encoder {} has no option {}; 'ffmpeg -h encoder={}' lists its options",
                    choice.name(),
                    keys.join(", "),
                    choice.name()
                );
                encoding_error(name, problem)
            }
            OpenError::Av(error) => {
                // the system's error about a missing device is not an error of the output
                if description(choice.codec).capabilities as u32 & sys::AV_CODEC_CAP_HARDWARE != 0 {
                    let what =
                        "cannot be opened: it needs hardware and drivers that this machine seems to lack";
                    let text = format!("the encoder {} {what} ({error}{})", choice.name(), recent_messages());
                    return fault(name, text);
                }
                av_fault(name, &format!("the encoder {} cannot be opened", choice.name()), error)
            }
        })
    }

    /// Makes the picture's stream.
    fn add_picture(
        &self,
        muxer: &mut Muxer,
        from: Option<&sys::AVStream>,
        encoder: &Encoder,
    ) -> Result<usize, AvError> {
        let stream = muxer.stream()?;
        if let Some(from) = from {
            stream.disposition = from.disposition;
            video_tags(from, stream, self.container);
            let turned = usize::from(self.turned);
            copy_stream_side_data(from, stream, &DISPLAY_SIDE_DATA[turned..]);
        }
        stream.add_tags([("encoder".into(), format!("Lavc {}", self.choice.name()))]);
        self.describe(stream, encoder, &self.hdr)?;
        Ok(stream.index as usize)
    }

    /// Sets the properties of the picture in the container.
    pub(super) fn describe(
        &self,
        stream: &mut sys::AVStream,
        encoder: &Encoder,
        hdr: &Hdr,
    ) -> Result<(), AvError> {
        // in newer versions, side data of the stream are part of its parameters, and would be lost with the old
        // ones
        let display = DISPLAY_SIDE_DATA
            .iter()
            .filter_map(|&kind| Some((kind, stream_side_data(stream, kind)?.to_vec())));
        let display: Vec<_> = display.collect();
        set_parameters(stream, encoder.parameters().av())?;
        for (kind, bytes) in display.into_iter().chain(hdr.side_data()) {
            set_stream_side_data(stream, kind, &bytes);
        }
        let par = parameters_mut(stream);
        if par.codec_id == sys::AVCodecID::AV_CODEC_ID_PRORES {
            // the encoder sets only the tag, but MXF needs the profile
            let tags = [b"apco", b"apcs", b"apcn", b"apch", b"ap4h", b"ap4x"];
            let found = tags.iter().position(|tag| par.codec_tag == u32::from_le_bytes(**tag));
            par.profile = found.map_or(par.profile, |profile| profile as i32);
        }
        if let Some(Ok(tag)) = self.encoding.tag.as_ref().map(|tag| tag.as_bytes().try_into()) {
            par.codec_tag = u32::from_le_bytes(tag);
        }
        stream.sample_aspect_ratio = par.sample_aspect_ratio;
        stream.time_base = encoder.time_base();
        if let Some(rate) = rational(self.choice.format.rate) {
            stream.avg_frame_rate = rate;
            stream.r_frame_rate = rate;
        }
        Ok(())
    }
}
