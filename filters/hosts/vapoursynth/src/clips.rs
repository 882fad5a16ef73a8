//! The formats of clips, and clips as second inputs.
#![allow(unsafe_code)] // reads the planes of the host's frames

use crate::ffi::{self, FrameContext, VideoInfo};
use crate::host::{Clip, MapRef, Picture, fail};
use grainfield_filters::frame::{
    Alpha, ColorRange, Depth, Family, FieldOrder, Format, Frame, Matrix, Primaries, SecondInput, Siting,
    Transfer,
};
use grainfield_filters::host::lock;
use grainfield_filters::ratio::Ratio;
use host_kit::{HostError, planes};
use std::ffi::c_int;
use std::sync::{Arc, Mutex};

/// The frame property with the alpha plane.
pub(crate) const ALPHA: &str = "_Alpha";

/// A clip beside the source. While a frame is rendered it is too late to request others from the host: those that it needs
/// are requested before, and [held](SecondClip::hold) meanwhile.
pub(crate) struct SecondClip {
    pub(crate) clip: Clip,
    number: usize,
    info: VideoInfo,
    /// Without the tags that only frames have.
    untagged: Format,
    /// That of the first frame.
    format: Format,
    /// The frames that are held, each once for every frame that is being rendered with it.
    held: Mutex<Vec<(c_int, Arc<Picture>)>>,
}

/// Holds a frame until it is dropped.
pub(crate) struct Held<'a>(&'a SecondClip, c_int);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut held = lock(&self.0.held);
        if let Some(i) = held.iter().position(|(n, _)| *n == self.1) {
            held.swap_remove(i);
        }
    }
}

impl SecondClip {
    /// # Errors
    /// Its rate, format or size varies, or its first frame cannot be made.
    pub(crate) fn new(clip: Clip, number: usize) -> Result<SecondClip, HostError> {
        let (info, untagged) = (clip.info(), format(&clip.info())?);
        let mut second =
            SecondClip { clip, number, info, untagged, format: untagged, held: Mutex::default() };
        second.format = *second.read(&second.clip.frame(0)?)?.format();
        Ok(second)
    }

    /// Holds a frame that has been requested.
    pub(crate) fn hold(&self, n: c_int, context: *mut FrameContext) -> Result<Held<'_>, HostError> {
        let picture = self.clip.requested(n, context)?;
        lock(&self.held).push((n, Arc::new(picture)));
        Ok(Held(self, n))
    }

    fn read(&self, picture: &Picture) -> Result<Frame, HostError> {
        let (properties, mut info) = (picture.properties(), self.info);
        let mut format = tagged(self.untagged, properties);
        if !picture.is_of(&info) {
            return fail("a frame is of another format or size than its clip");
        }
        let mut from = picture.planes(&format);
        let alpha = properties.frame(ALPHA);
        if let Some(alpha) = &alpha {
            let grey =
                ffi::VideoFormat { color_family: ffi::GRAY, sub_w: 0, sub_h: 0, planes: 1, ..info.format };
            info.format = grey;
            if !alpha.is_of(&info) {
                return fail(
                    "the property _Alpha of a frame is not grey, or of another depth or size: make it with std.ClipToProp, or \
                     remove it with std.RemoveFrameProps",
                );
            }
            from.extend(alpha.planes(&Format { family: Family::Gray, alpha: Alpha::None, ..format }));
            format.alpha = Alpha::Straight;
        }
        // SAFETY: the frames live, have this format, which was checked, and are not written.
        let from = unsafe { planes::read(format, &from) }?;
        let mut frame = Frame::new(format);
        for p in 0..format.planes() {
            let plane = from.plane(p);
            plane.rows().for_each(|y| frame.row_bytes_mut(p, y).copy_from_slice(plane.row_bytes(y)));
        }
        Ok(frame)
    }
}

impl SecondInput for SecondClip {
    fn format(&self) -> Result<Format, String> {
        Ok(self.format)
    }

    fn end(&self, _: Ratio) -> Option<Ratio> {
        let frames = Some(Ratio::whole(self.info.frames.into())).filter(|_| self.info.frames > 1);
        frames?.checked_div(self.untagged.rate)
    }

    fn place(&self, time: Ratio, _: Ratio) -> i64 {
        (time * self.untagged.rate).floor().clamp(0, i64::from(self.info.frames) - 1)
    }

    fn picture(&self, place: i64) -> Result<Arc<Frame>, String> {
        let held = lock(&self.held).iter().find(|(n, _)| i64::from(*n) == place).map(|(_, p)| Arc::clone(p));
        let picture = held.ok_or_else(|| HostError(format!("frame {place} was not requested")));
        let read = picture.and_then(|picture| self.read(&picture));
        read.map(Arc::new).map_err(|e| format!("clip:{}: frame {place}: {e}", self.number))
    }
}

/// The format of a clip, without the properties of frames.
///
/// # Errors
/// The rate, the format or the size varies, or the depth is not supported.
pub(crate) fn format(info: &VideoInfo) -> Result<Format, HostError> {
    let (width, height) = (u32::try_from(info.width).unwrap_or(0), u32::try_from(info.height).unwrap_or(0));
    if width == 0 || height == 0 || info.format.color_family == 0 {
        return fail("the clip's format or size varies: it has to stay the same");
    }
    let Some(rate) = Ratio::new(info.fps_num, info.fps_den).filter(|rate| *rate > Ratio::ZERO) else {
        return fail("the clip has no constant rate: give it one with std.AssumeFPS");
    };
    let family = match info.format.color_family {
        ffi::GRAY => Family::Gray,
        ffi::RGB => Family::Rgb,
        _ => Family::Yuv,
    };
    let depth = match (info.format.sample_type, info.format.bits) {
        (1, 32) => Depth::Float,
        (0, bits @ 8..=16) => Depth::Bits(bits as u8),
        (1, bits) => {
            return fail(format!("{bits}-bit float is not supported: convert to 32 bits with resize"));
        }
        (_, bits) => {
            return fail(format!("{bits} bits are not supported: convert to 8 to 16, or to 32-bit float"));
        }
    };
    let sub = |n: c_int| u8::try_from(n).unwrap_or(u8::MAX);
    let subsampling = (sub(info.format.sub_w), sub(info.format.sub_h));
    Ok(Format { rate, ..Format::new(width, height, family, depth, subsampling) })
}

/// Adds the tags of a frame.
pub(crate) fn tagged(format: Format, properties: MapRef) -> Format {
    let code = |key| properties.int(key).and_then(|v| u8::try_from(v).ok());
    let range = match (properties.int("_Range"), properties.int("_ColorRange")) {
        (Some(1), _) | (None, Some(0)) => ColorRange::Full,
        (Some(0), _) | (None, Some(1)) => ColorRange::Limited,
        _ => format.range,
    };
    let siting = match properties.int("_ChromaLocation") {
        Some(0) => Siting::Left,
        Some(1) => Siting::Center,
        Some(2) => Siting::TopLeft,
        Some(3) => Siting::Top,
        Some(4) => Siting::BottomLeft,
        Some(5) => Siting::Bottom,
        _ => format.siting,
    };
    let fields = match properties.int("_FieldBased") {
        Some(0) => FieldOrder::Progressive,
        Some(1) => FieldOrder::BottomFirst,
        Some(2) => FieldOrder::TopFirst,
        _ => format.fields,
    };
    let aspect = properties.int("_SARNum").zip(properties.int("_SARDen"));
    Format {
        range,
        siting: if format.family == Family::Yuv { siting } else { format.siting },
        fields,
        matrix: code("_Matrix").map_or(format.matrix, Matrix),
        primaries: code("_Primaries").map_or(format.primaries, Primaries),
        transfer: code("_Transfer").map_or(format.transfer, Transfer),
        aspect: aspect
            .and_then(|(num, den)| Ratio::new(num, den))
            .filter(|a| *a > Ratio::ZERO)
            .unwrap_or(format.aspect),
        ..format
    }
}
