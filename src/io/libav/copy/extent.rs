//! The actual extent of sound between its beginning and end, which a container without times cannot store.

use crate::libav::input::Input;
use crate::libav::raw::parameters;
use ffmpeg_next::Packet;
use ffmpeg_sys_next as sys;

/// Gaps between two packets shorter than this are due to rounded times, seconds.
const ROUNDING_GAP: f64 = 0.1;

/// The extent of a stream, in seconds of the input's clock.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct AudioExtent {
    /// The end of its last packet.
    pub(crate) end: Option<f64>,
    /// The time of the first gap between packets of sound.
    pub(crate) gap: Option<f64>,
}

pub(super) fn is_audio(stream: &sys::AVStream) -> bool {
    parameters(stream).codec_type == sys::AVMediaType::AVMEDIA_TYPE_AUDIO
}

/// Reads an input to its end, and returns the extent of each stream by its index.
pub(crate) fn measure_extents(input: &mut Input) -> Vec<AudioExtent> {
    let mut all = vec![AudioExtent::default(); input.streams().len()];
    let mut packet = Packet::empty();
    // damage is reported when the stream is copied
    while let Ok(true) = input.read(&mut packet) {
        let index = packet.stream();
        let (Some(stream), Some(extent)) = (input.stream(index), all.get_mut(index)) else { continue };
        let Some(time) = packet.pts() else { continue };
        let unit = f64::from(stream.time_base.num) / f64::from(stream.time_base.den);
        let end = time.saturating_add(packet.duration().max(0)) as f64 * unit;
        let begin = time as f64 * unit;
        if let Some(before) = extent.end.filter(|before| is_audio(stream) && begin - before > ROUNDING_GAP) {
            extent.gap = extent.gap.or(Some(before));
        }
        extent.end = Some(extent.end.map_or(end, |before| before.max(end)));
    }
    all
}
