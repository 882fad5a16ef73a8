//! HDR10's static metadata: mastering display (SMPTE ST 2086) and content light level (CTA-861.3), as side data for
//! containers and as text for encoders.

use super::versions::stream_side_data;
pub(crate) use crate::journal::Hdr;
use ffmpeg_sys_next as sys;
use sys::{AVFrameSideDataType, AVPacketSideDataType};

/// Reads a structure of libav from bytes. Newer versions may append fields, but never remove any.
fn read<T: bytemuck::AnyBitPattern>(bytes: Option<&[u8]>) -> Option<T> {
    Some(bytemuck::pod_read_unaligned(bytes?.get(..size_of::<T>())?))
}

impl Hdr {
    /// The metadata of a stream.
    pub(crate) fn of_stream(stream: &sys::AVStream) -> Hdr {
        use AVPacketSideDataType::*;
        Hdr {
            display: read(stream_side_data(stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA)),
            light: read(stream_side_data(stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL)),
        }
    }

    /// The metadata of a decoded frame.
    pub(crate) fn of_frame(frame: &sys::AVFrame) -> Hdr {
        use AVFrameSideDataType::*;
        // SAFETY: side data belongs to the frame and has the specified size.
        let data = |kind| unsafe {
            let side = sys::av_frame_get_side_data(frame, kind).as_ref()?;
            Some(std::slice::from_raw_parts(side.data.cast_const(), side.size))
        };
        Hdr {
            display: read(data(AV_FRAME_DATA_MASTERING_DISPLAY_METADATA)),
            light: read(data(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL)),
        }
    }

    /// Fills missing metadata from `other`.
    pub(crate) fn or(self, other: Hdr) -> Hdr {
        Hdr { display: self.display.or(other.display), light: self.light.or(other.light) }
    }

    /// Which metadata are present.
    pub(crate) fn presence(&self) -> (bool, bool) {
        (self.display.is_some(), self.light.is_some())
    }

    /// As stream side data.
    pub(crate) fn side_data(&self) -> Vec<(AVPacketSideDataType, Vec<u8>)> {
        use AVPacketSideDataType::*;
        let display =
            self.display.map(|d| (AV_PKT_DATA_MASTERING_DISPLAY_METADATA, bytemuck::bytes_of(&d).to_vec()));
        let light = self.light.map(|l| (AV_PKT_DATA_CONTENT_LIGHT_LEVEL, bytemuck::bytes_of(&l).to_vec()));
        display.into_iter().chain(light).collect()
    }

    /// Formats for x264 and x265: chromaticities in steps of 0.00002, luminances of 0.0001 cd/m2.
    pub(crate) fn display_text(&self) -> Option<String> {
        let d = self.display.filter(|d| d[20] != 0 && d[21] != 0)?;
        let steps = |fraction: usize, unit: i64| {
            let [num, den] = [d[2 * fraction], d[2 * fraction + 1]].map(i64::from);
            let den = den.max(1);
            (num * unit + den / 2).div_euclid(den)
        };
        // x and y of red, green, blue and white; then the least and the most luminance
        let point = |i: usize| format!("({},{})", steps(2 * i, 50_000), steps(2 * i + 1, 50_000));
        let [r, g, b, white] = [0, 1, 2, 3].map(point);
        Some(format!("G{g}B{b}R{r}WP{white}L({},{})", steps(9, 10_000), steps(8, 10_000)))
    }

    /// Formats for x264 and x265.
    pub(crate) fn light_text(&self) -> Option<String> {
        self.light.map(|[sample, average]| format!("{sample},{average}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_encoders_want_it() {
        let primaries = [34000, 50000, 16000, 50000, 53, 200, 69, 100, 3, 20, 3, 50];
        let display = [&primaries[..], &[15635, 50000, 16450, 50000, 1, 10000, 1000, 1, 1, 1]].concat();
        let hdr = Hdr { display: display.try_into().ok(), light: Some([1000, 400]) };
        let text = hdr.display_text().unwrap();
        assert_eq!(text, "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)");
        assert_eq!(hdr.light_text().unwrap(), "1000,400");
        assert_eq!(hdr.side_data().len(), 2);
    }
}
