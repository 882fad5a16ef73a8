//! HDR10's static metadata: mastering display (SMPTE ST 2086) and content light level (CTA-861.3), as side data for
//! containers and as text for encoders.

use crate::libav::versions::stream_side_data;
use ffmpeg_sys_next as sys;
use std::mem::size_of;
use sys::{AVFrameSideDataType, AVPacketSideDataType};

/// libav's `AVMasteringDisplayMetadata`, which the bindings lack. Its fields are part of libav's interface.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Display {
    /// x and y of red, green and blue.
    display_primaries: [[sys::AVRational; 2]; 3],
    white_point: [sys::AVRational; 2],
    min_luminance: sys::AVRational,
    max_luminance: sys::AVRational,
    has_primaries: i32,
    has_luminance: i32,
}

/// libav's `AVContentLightMetadata`, likewise, in cd/m2.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Light {
    max_cll: u32,
    max_fall: u32,
}

/// The mastering display and the content light level of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hdr {
    pub(crate) display: Option<Display>,
    pub(crate) light: Option<Light>,
}

/// Reads a structure of libav from bytes. Newer versions may append fields, but never remove any.
///
/// # Safety
/// `T` must be a structure of integers.
unsafe fn read<T: Copy>(bytes: Option<&[u8]>) -> Option<T> {
    let bytes = bytes.filter(|b| b.len() >= size_of::<T>())?;
    // SAFETY: the length was checked; any bytes are valid, as the caller guarantees.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// # Safety
/// `T` must be a structure of integers without padding.
unsafe fn bytes<T>(value: &T) -> &[u8] {
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

impl Hdr {
    /// The metadata of a stream.
    ///
    /// # Safety
    /// `stream` must be valid.
    pub(crate) unsafe fn of_stream(stream: *const sys::AVStream) -> Hdr {
        use AVPacketSideDataType::*;
        // SAFETY: guaranteed by the caller; structures of integers.
        unsafe {
            Hdr {
                display: read(stream_side_data(stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA)),
                light: read(stream_side_data(stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL)),
            }
        }
    }

    /// The metadata of a decoded frame.
    ///
    /// # Safety
    /// `frame` must be valid.
    pub(crate) unsafe fn of_frame(frame: *const sys::AVFrame) -> Hdr {
        use AVFrameSideDataType::*;
        // SAFETY: guaranteed by the caller; side data has the specified size.
        let data = |kind| unsafe {
            let side = sys::av_frame_get_side_data(frame, kind).as_ref()?;
            Some(std::slice::from_raw_parts(side.data.cast_const(), side.size))
        };
        // SAFETY: structures of integers.
        unsafe {
            Hdr {
                display: read(data(AV_FRAME_DATA_MASTERING_DISPLAY_METADATA)),
                light: read(data(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL)),
            }
        }
    }

    /// Fills missing metadata from `other`.
    pub(crate) fn or(self, other: Hdr) -> Hdr {
        Hdr { display: self.display.or(other.display), light: self.light.or(other.light) }
    }

    /// Which metadata are present.
    pub(crate) fn says(&self) -> (bool, bool) {
        (self.display.is_some(), self.light.is_some())
    }

    /// As stream side data.
    pub(crate) fn side_data(&self) -> Vec<(AVPacketSideDataType, Vec<u8>)> {
        use AVPacketSideDataType::*;
        // SAFETY: structures of 32-bit integers.
        let display = self.display.as_ref().map(|d| unsafe { bytes(d).to_vec() });
        // SAFETY: as above.
        let light = self.light.as_ref().map(|l| unsafe { bytes(l).to_vec() });
        let display = display.map(|d| (AV_PKT_DATA_MASTERING_DISPLAY_METADATA, d));
        let light = light.map(|l| (AV_PKT_DATA_CONTENT_LIGHT_LEVEL, l));
        display.into_iter().chain(light).collect()
    }

    /// Formats for x264 and x265: chromaticities in steps of 0.00002, luminances of 0.0001 cd/m2.
    pub(crate) fn display_text(&self) -> Option<String> {
        let d = self.display.filter(|d| d.has_primaries != 0 && d.has_luminance != 0)?;
        let steps = |q: sys::AVRational, unit: i64| {
            let den = i64::from(q.den).max(1);
            (i64::from(q.num) * unit + den / 2).div_euclid(den)
        };
        let point = |p: &[sys::AVRational; 2]| format!("({},{})", steps(p[0], 50_000), steps(p[1], 50_000));
        let [r, g, b] = &d.display_primaries;
        Some(format!(
            "G{}B{}R{}WP{}L({},{})",
            point(g),
            point(b),
            point(r),
            point(&d.white_point),
            steps(d.max_luminance, 10_000),
            steps(d.min_luminance, 10_000),
        ))
    }

    /// Formats for x264 and x265.
    pub(crate) fn light_text(&self) -> Option<String> {
        self.light.map(|l| format!("{},{}", l.max_cll, l.max_fall))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_encoders_want_it() {
        let q = |num, den| sys::AVRational { num, den };
        let d = Display {
            display_primaries: [
                [q(34000, 50000), q(16000, 50000)],
                [q(53, 200), q(69, 100)],
                [q(3, 20), q(3, 50)],
            ],
            white_point: [q(15635, 50000), q(16450, 50000)],
            min_luminance: q(1, 10000),
            max_luminance: q(1000, 1),
            has_primaries: 1,
            has_luminance: 1,
        };
        let hdr = Hdr { display: Some(d), light: Some(Light { max_cll: 1000, max_fall: 400 }) };
        let text = hdr.display_text().unwrap();
        assert_eq!(text, "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)");
        assert_eq!(hdr.light_text().unwrap(), "1000,400");
        assert_eq!(hdr.side_data().len(), 2);
    }
}
