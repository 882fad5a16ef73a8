//! The encoder: opens it with the options of the job, sends pictures and receives packets.
//!
//! Its number of threads depends on the size of the picture, not on the machine, because the output of some encoders
//! (x264) depends on it: see [`threads`].

use super::av_fault;
use super::choice::{Choice, INTERLACED_BY_FLAG, PROGRESSIVE_ONLY};
use crate::encoding::{Encoding, Pass};
use crate::libav::color::{Tag, tag};
use crate::libav::container::{Container, among};
use crate::libav::dict::Dict;
use crate::libav::error::{AvError, check};
use crate::libav::hdr::Hdr;
use crate::libav::raw::{Fields, open, rational, received};
use crate::libav::side_data::FrameSideData;
use crate::libav::versions;
use crate::media::SinkError;
use ffmpeg_next::{Packet, codec, encoder, frame};
use ffmpeg_sys_next as sys;
use grainfield_filters::film_grain::{Segment, Table};
use grainfield_filters::frame::{Family, FieldOrder, Format, Frame};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::{Isa, Level};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::io::Write;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::NamedTempFile;

/// The default number of an encoder's threads (its option `threads` overrides it): one for each 130000 samples of
/// the picture, at most 12. It is the same on every machine.
pub(crate) fn threads(format: &Format) -> u32 {
    (u64::from(format.width) * u64::from(format.height)).div_ceil(130_000).clamp(1, 12) as u32
}

/// The work of the encoders of an output.
#[derive(Default)]
pub(super) struct EncoderProgress {
    /// Pictures that it holds.
    held: AtomicU64,
    /// Changes every time the encoder starts or ends a piece of work.
    calls: AtomicU64,
}

impl EncoderProgress {
    /// Counts a piece of work that begins or has ended, with the pictures taken and the packets given.
    pub(super) fn step(&self, taken: u64, given: u64) {
        self.held.fetch_add(taken.wrapping_sub(given), Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> (u64, u64) {
        (self.held.load(Ordering::Relaxed), self.calls.load(Ordering::Relaxed))
    }
}

/// An error while opening an encoder.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// The film grain table cannot be written to a file for the encoder.
    FilmGrain(std::io::Error),
    /// The measurements of the first pass cannot be read.
    Statistics(std::io::Error),
    /// Options that the encoder does not have.
    Unknown(Vec<String>),
    Av(AvError),
}

/// An open encoder.
pub(crate) struct Encoder {
    codec: encoder::Encoder,
    choice: Choice,
    picture: frame::Video,
    /// Durations of the pictures that it holds, by their times.
    durations: BTreeMap<i64, i64>,
    /// The time of the last picture that was sent.
    last: Option<i64>,
    progress: Arc<EncoderProgress>,
    /// The file from which libaom reads the film grain.
    _film_grain: Option<NamedTempFile>,
    /// The file of a first pass, if the encoder does not write it itself.
    statistics: Option<PathBuf>,
    /// The measurements that a second pass reads.
    _measured: Option<CString>,
}

impl Encoder {
    pub(crate) fn open(
        container: Container,
        choice: &Choice,
        time_base: sys::AVRational,
        encoding: &Encoding,
        hdr: &Hdr,
        progress: &Arc<EncoderProgress>,
    ) -> Result<Encoder, OpenError> {
        let mut codec = codec::Context::new_with_codec(choice.codec);
        let format = &choice.format;
        let film_grain =
            encoding.film_grain.as_deref().map(|table| film_grain_file(table, format)).transpose();
        let film_grain = film_grain.map_err(OpenError::FilmGrain)?;
        let mut options = settings(choice, encoding, hdr, film_grain.as_ref().map(NamedTempFile::path));
        let context = codec.av_mut();
        context.width = format.width as i32;
        context.height = format.height as i32;
        context.pix_fmt = choice.pix_fmt;
        context.time_base = time_base;
        if let Some(rate) = rational(format.rate) {
            context.framerate = rate;
        }
        if format.aspect > Ratio::ZERO
            && let Some(aspect) = rational(format.aspect)
        {
            context.sample_aspect_ratio = aspect;
        }
        context.color_range = format.range.to_av();
        context.colorspace = format.matrix.to_av();
        context.color_primaries = format.primaries.to_av();
        context.color_trc = format.transfer.to_av();
        context.chroma_sample_location = format.siting.to_av();
        // if the stream signals fields, the container needs the field order, too
        if !among(PROGRESSIVE_ONLY, choice.name()) {
            context.field_order = format.fields.to_av();
        }
        if matches!(format.fields, FieldOrder::TopFirst | FieldOrder::BottomFirst | FieldOrder::Mixed)
            && among(INTERLACED_BY_FLAG, choice.name())
        {
            context.flags |= sys::AV_CODEC_FLAG_INTERLACED_DCT as i32;
        }
        if container.flag(sys::AVFMT_GLOBALHEADER) {
            context.flags |= sys::AV_CODEC_FLAG_GLOBAL_HEADER as i32;
        }
        // limited range in MJPEG and similar codecs is common but unofficial
        context.strict_std_compliance = sys::FF_COMPLIANCE_UNOFFICIAL;
        let own_file = ["libx264", "libx264rgb", "libx265"].contains(&choice.name());
        let (mut statistics, mut measured) = (None, None);
        match &encoding.pass {
            // it has parameters instead of libav's flags
            Some(_) if choice.name() == "libx265" => {}
            Some(Pass::First(file)) => {
                context.flags |= sys::AV_CODEC_FLAG_PASS1 as i32;
                statistics = Some(file.clone()).filter(|_| !own_file);
            }
            Some(Pass::Second(file)) => {
                context.flags |= sys::AV_CODEC_FLAG_PASS2 as i32;
                if !own_file {
                    let bytes = std::fs::read(file).map_err(OpenError::Statistics)?;
                    let text = CString::new(bytes).unwrap_or_default();
                    // libav does not free it
                    context.stats_in = measured.insert(text).as_ptr().cast_mut();
                }
            }
            None => {}
        }
        open(&mut codec, &mut options).map_err(OpenError::Av)?;
        let unknown = options.keys();
        if !unknown.is_empty() {
            return Err(OpenError::Unknown(unknown));
        }
        Ok(Encoder {
            codec: codec.encoder(),
            choice: choice.clone(),
            picture: frame::Video::empty(),
            durations: BTreeMap::new(),
            last: None,
            progress: Arc::clone(progress),
            _film_grain: film_grain,
            statistics,
            _measured: measured,
        })
    }

    pub(crate) fn time_base(&self) -> sys::AVRational {
        self.codec.av().time_base
    }

    /// Its properties for a container, with its header of the stream.
    pub(crate) fn parameters(&self) -> codec::Parameters {
        codec::Parameters::from(&self.codec)
    }

    /// The time of the next picture: encoders require increasing times.
    pub(super) fn next_time(&self, pts: i64) -> i64 {
        self.last.map_or(pts, |last| pts.max(last + 1))
    }

    /// Sends a picture; the encoder copies it if it keeps it. `carried` are its other properties.
    pub(super) fn send(
        &mut self,
        frame: &Frame,
        pts: i64,
        duration: i64,
        carried: Option<&FrameSideData>,
    ) -> Result<(), AvError> {
        let format = &self.choice.format;
        let picture = self.picture.av_mut();
        // SAFETY: our own frame.
        unsafe {
            if picture.buf[0].is_null() {
                picture.format = self.choice.pix_fmt as i32;
                (picture.width, picture.height) = (format.width as i32, format.height as i32);
                check(sys::av_frame_get_buffer(picture, 0))?;
            }
            check(sys::av_frame_make_writable(picture))?;
        }
        self.choice.layout.pack(frame.as_ref(), &mut self.picture);
        self.set_properties(carried)?;
        let picture = self.picture.av_mut();
        picture.pts = pts;
        versions::set_duration(picture, duration);
        self.durations.insert(pts, duration);
        self.progress.step(1, 0);
        let sent = self.codec.send_frame(&self.picture);
        self.progress.step(0, 0);
        sent?;
        self.last = Some(pts);
        Ok(())
    }

    fn set_properties(&mut self, carried: Option<&FrameSideData>) -> Result<(), AvError> {
        let format = &self.choice.format;
        let picture = self.picture.av_mut();
        // SAFETY: our own frame, with this number of pieces of side data; the properties are valid as long as `carried`.
        unsafe {
            let count = usize::try_from(picture.nb_side_data).unwrap_or(0);
            let kinds: Vec<_> = (0..count).map(|i| (**picture.side_data.add(i)).type_).collect();
            kinds.into_iter().for_each(|kind| sys::av_frame_remove_side_data(picture, kind));
            if let Some(carried) = carried {
                check(sys::av_frame_copy_props(picture, carried.props()))?;
            }
        }
        picture.pict_type = sys::AVPictureType::AV_PICTURE_TYPE_NONE;
        // properties of the job override those of the source
        tag(picture, format);
        picture.sample_aspect_ratio = self.codec.av().sample_aspect_ratio;
        match format.fields {
            FieldOrder::TopFirst => versions::set_interlaced(picture, Some(true)),
            FieldOrder::BottomFirst => versions::set_interlaced(picture, Some(false)),
            FieldOrder::Mixed => (),
            _ => versions::set_interlaced(picture, None),
        }
        Ok(())
    }

    /// Ends the input.
    pub(crate) fn end(&mut self) -> Result<(), AvError> {
        let ended = self.codec.send_eof();
        self.progress.step(0, 0);
        Ok(ended?)
    }

    /// Writes all packets that are ready to the output `name`, with times in ticks of the base.
    pub(super) fn drain(
        &mut self,
        name: &str,
        mut write: impl FnMut(&mut Packet, sys::AVRational) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        let mut packet = Packet::empty();
        while self.receive(&mut packet).map_err(|e| av_fault(name, "the encoder failed", e))? {
            self.progress.step(0, 1);
            write(&mut packet, self.time_base())?;
        }
        Ok(())
    }

    /// After the end of a first pass: writes what libav has measured to its file. (x264 and x265 write theirs themselves.)
    pub(super) fn save_statistics(&self) -> std::io::Result<()> {
        let Some(file) = &self.statistics else { return Ok(()) };
        let text = self.codec.av().stats_out;
        // SAFETY: null or a string of the encoder, which lives as long as it.
        let text = unsafe { if text.is_null() { &[][..] } else { CStr::from_ptr(text).to_bytes() } };
        std::fs::write(file, text)
    }

    /// The next packet, with the duration of its picture; `false` if there is none yet, or none any more.
    fn receive(&mut self, packet: &mut Packet) -> Result<bool, AvError> {
        let found = received(self.codec.receive_packet(packet))?;
        if found && let Some(duration) = self.durations.remove(&packet.av().pts) {
            packet.set_duration(duration);
        }
        Ok(found)
    }
}

impl Drop for Encoder {
    /// SVT-AV1 waits forever if it is closed before it has received a picture, or before the end has been sent. The
    /// first case cannot be avoided: then its memory is not freed.
    fn drop(&mut self) {
        if self.choice.name() != "libsvtav1" {
            return;
        }
        if self.last.is_none() {
            mem::forget(mem::replace(&mut self.codec, encoder::new()));
        } else {
            // sending the end twice is harmless
            let _ = self.end();
            let mut packet = Packet::empty();
            while matches!(self.receive(&mut packet), Ok(true)) {}
        }
    }
}

/// Pictures with a side below this cannot be divided into FFV1's slices, of which there are two in each direction.
const TINY: u32 = 16;

/// Writes a table for libaom, which rejects lines that end in CR LF, and aborts at `update 0`, at 4:2:0 chroma that has
/// grain without luma, and at chroma grain of gray pictures.
fn film_grain_file(table: &Table, format: &Format) -> std::io::Result<NamedTempFile> {
    let plain = |i: usize| {
        // Without parameters there is no grain, as in a gap.
        let mut params = table.params(i)?.clone();
        let gray = format.family == Family::Gray;
        params.chroma_from_luma &= !gray;
        for p in [1, 2] {
            if gray || !params.has_grain(p, format.subsampling) {
                params.points[p].clear();
            }
        }
        Some(Segment { params: Some(params), ..table.segments[i].clone() })
    };
    let plain = Table { segments: (0..table.segments.len()).filter_map(plain).collect() };
    let mut file = NamedTempFile::new()?;
    file.write_all(plain.to_string().as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// The options of an encoder: our defaults, overridden by the user's.
fn settings(choice: &Choice, encoding: &Encoding, hdr: &Hdr, film_grain: Option<&Path>) -> Dict {
    let name = choice.name();
    let mut dict = Dict::new();
    dict.set("threads", &threads(&choice.format).to_string());
    let mut params: Vec<(&str, String)> = Vec::new(); // for x264-params, x265-params and aom-params
    if let Some(path) = film_grain {
        params.push(("film-grain-table", escaped(path)));
    }
    if let Some(Pass::First(file) | Pass::Second(file)) = &encoding.pass {
        let number = if matches!(encoding.pass, Some(Pass::First(_))) { "1" } else { "2" };
        match name {
            "libx265" => params.extend([("pass", number.into()), ("stats", escaped(file))]),
            "libx264" | "libx264rgb" => dict.set("stats", &file.to_string_lossy()),
            _ => {}
        }
    }
    codec_defaults(choice, encoding, hdr, &mut dict, &mut params);
    quality(name, encoding, &mut dict, &mut params);
    let params_key = match name {
        "libx264" | "libx264rgb" => Some("x264-params"),
        "libx265" => Some("x265-params"),
        "libaom-av1" => Some("aom-params"),
        _ => None,
    };
    let mut joined = params.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(":");
    for (key, value) in &encoding.options {
        if Some(key.as_str()) == params_key {
            // the last value of a key applies
            joined = if joined.is_empty() { value.clone() } else { format!("{joined}:{value}") };
        } else {
            dict.set(key, value);
        }
    }
    // with AVX2, x265's cutree writes at least four blocks of 16 samples for each row, outside its memory if the row is
    // shorter
    if name == "libx265" && choice.format.width < 64 {
        joined += ":cutree=0";
    }
    if let Some(key) = params_key.filter(|_| !joined.is_empty()) {
        dict.set(key, &joined);
    }
    dict
}

/// A file in the parameters of an encoder.
fn escaped(file: &Path) -> String {
    file.to_string_lossy().replace('\\', "\\\\").replace(':', "\\:").replace('\'', "\\'")
}

/// Options that an encoder needs for this picture; `params` are those of x264, x265 and libaom.
fn codec_defaults(
    choice: &Choice,
    encoding: &Encoding,
    hdr: &Hdr,
    dict: &mut Dict,
    params: &mut Vec<(&str, String)>,
) {
    match choice.name() {
        "libx264" | "libx264rgb" => {
            // the field order of each picture comes too late for the header of the first one
            match choice.format.fields {
                FieldOrder::TopFirst => params.push(("tff", "1".into())),
                FieldOrder::BottomFirst => params.push(("bff", "1".into())),
                _ => {}
            }
            params.extend(hdr.display_text().map(|t| ("mastering-display", t)));
            params.extend(hdr.light_text().map(|t| ("cll", t)));
            // x264's AVX-512 code for mbtree reads uninitialised memory if the width is not a multiple of 8
            // macroblocks: pictures then differ from run to run, and from those of machines without AVX-512. AVX2 is a
            // tenth slower
            if encoding.repeatable && Level::of(Isa::Avx512).is_some() {
                params.push(("asm", "AVX2".into()));
            }
        }
        "libx265" => {
            params.push(("frame-threads", threads(&choice.format).div_ceil(4).to_string()));
            params.push(("log-level", "error".into()));
            params.extend(hdr.display_text().map(|t| ("master-display", t)));
            params.extend(hdr.light_text().map(|t| ("max-cll", t)));
            if hdr.display.is_some() || hdr.light.is_some() {
                params.push(("hdr10", "1".into()));
            }
        }
        "ffv1" => {
            dict.set("g", "1");
            // it accepts slices of version 3 without samples, and then loses the picture or does not open; and
            // between slices in which chroma that is subsampled by four begins inside a sample, it loses a column
            let (width, height) = (choice.format.width, choice.format.height);
            let (sx, sy) = choice.format.subsampling;
            let fits = |size: u32, shift: u8| size >= TINY && (shift < 2 || size.is_multiple_of(2 << shift));
            if fits(width, sx) && fits(height, sy) {
                dict.set("level", "3");
                dict.set("slicecrc", "1");
            } else {
                // without slices: FFmpeg 9 chooses a version that has them
                dict.set("level", "1");
            }
        }
        "libvpx-vp9" => {
            dict.set("row-mt", "1");
            dict.set("deadline", "good");
        }
        "libwebp_anim" => dict.set("quality", "90"),
        "prores_ks" if choice.format.subsampling == (0, 0) => dict.set("profile", "4444"),
        "prores_ks" => dict.set("profile", "hq"),
        _ => {}
    }
}

/// Options that determine quality and speed.
fn quality(name: &str, encoding: &Encoding, dict: &mut Dict, params: &mut Vec<(&str, String)>) {
    let preset = match name {
        "libsvtav1" => Some(("preset", "8")),
        "libvpx-vp9" | "libaom-av1" => Some(("cpu-used", "4")),
        _ => None,
    };
    let preset_key = preset.map_or("preset", |p| p.0);
    if let Some(preset) = encoding.preset.as_deref().or(preset.map(|p| p.1)) {
        dict.set(preset_key, preset);
    }
    if encoding.lossless {
        match name {
            "libx264" | "libx264rgb" => dict.set("qp", "0"),
            "libx265" => params.push(("lossless", "1".into())),
            "libvpx-vp9" | "libwebp_anim" => dict.set("lossless", "1"),
            "libaom-av1" => params.push(("lossless", "1".into())),
            _ => {}
        }
        return;
    }
    let usual = match name {
        "libx264" | "libx264rgb" => Some(18.0),
        "libx265" => Some(20.0),
        "libsvtav1" | "libaom-av1" => Some(28.0),
        "libvpx-vp9" => Some(24.0),
        _ => None,
    };
    let crf = encoding.crf.or(usual.filter(|_| encoding.bitrate.is_none()));
    match (encoding.bitrate, crf) {
        (Some(bits), _) if encoding.crf.is_none() => dict.set("b", &bits.to_string()),
        (bits, Some(crf)) => {
            dict.set("crf", &crf.to_string());
            // with a quality, libvpx and libaom use the rate as the maximum, and 0 as no limit
            if matches!(name, "libvpx-vp9" | "libaom-av1" | "libsvtav1") {
                dict.set("b", &bits.unwrap_or(0).to_string());
            } else if let Some(bits) = bits {
                dict.set("maxrate", &bits.to_string());
                dict.set("bufsize", &(bits.saturating_mul(2)).to_string());
            }
        }
        _ if matches!(
            name,
            "mpeg4" | "mpeg2video" | "mpeg1video" | "mjpeg" | "libtheora" | "flv" | "msmpeg4"
        ) =>
        {
            let q = if name == "libtheora" { 8 } else { 2 };
            dict.set("flags", "+qscale");
            dict.set("global_quality", &(q * sys::FF_QP2LAMBDA).to_string());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::frame::{Depth, Family};

    #[test]
    fn threads_follow_the_picture() {
        let of = |w, h| threads(&Format::new(w, h, Family::Yuv, Depth::Bits(8), (1, 1)));
        assert_eq!(
            [of(16, 16), of(960, 540), of(1280, 720), of(1920, 1080), of(3840, 2160)],
            [1, 4, 8, 12, 12]
        );
    }
}
