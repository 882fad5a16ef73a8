//! The actual extent of sound between its beginning and end, which a container without times cannot store.

use super::{AvError, Input, check};
use crate::libav::sink::handles::Packet;
use crate::libav::timeline::NO_TIME;
use ffmpeg_sys_next as sys;

/// Gaps between two packets shorter than this are due to rounded times, seconds.
const SHORT: f64 = 0.1;

/// The extent of a stream, in seconds of the input's clock.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct AudioExtent {
    /// The end of its last packet.
    pub(crate) end: Option<f64>,
    /// The time of the first gap between packets of sound.
    pub(crate) gap: Option<f64>,
}

pub(super) fn is_audio(stream: &sys::AVStream) -> bool {
    // SAFETY: every stream has parameters.
    unsafe { (*stream.codecpar).codec_type == sys::AVMediaType::AVMEDIA_TYPE_AUDIO }
}

/// Reads an input to its end, and returns the extent of each stream by its index.
pub(crate) fn measure_extents(input: &mut Input) -> Result<Vec<AudioExtent>, AvError> {
    let mut all = vec![AudioExtent::default(); input.streams().len()];
    let packet = Packet::new().ok_or(AvError(-libc::ENOMEM))?;
    loop {
        input.interrupt.renew();
        // SAFETY: our own context and packet, which is empty again before the next is read.
        let (index, time, duration) = unsafe {
            sys::av_packet_unref(packet.0);
            match check(sys::av_read_frame(input.context, packet.0)) {
                Ok(_) => {}
                Err(AvError::AGAIN) => continue,
                // damage is reported when the stream is copied
                Err(_) => return Ok(all),
            }
            let p = &*packet.0;
            (p.stream_index as usize, p.pts, p.duration.max(0))
        };
        let (Some(stream), Some(extent)) = (input.stream(index), all.get_mut(index)) else { continue };
        if time == NO_TIME {
            continue;
        }
        let unit = f64::from(stream.time_base.num) / f64::from(stream.time_base.den);
        let (begin, end) = (time as f64 * unit, time.saturating_add(duration) as f64 * unit);
        if let Some(before) = extent.end.filter(|before| is_audio(stream) && begin - before > SHORT) {
            extent.gap = extent.gap.or(Some(before));
        }
        extent.end = Some(extent.end.map_or(end, |before| before.max(end)));
    }
}
