//! The actual extent of sound between its beginning and end, which a container without times cannot store.

use super::{AvError, Input, check};
use crate::libav::sink::handles::Packet;
use crate::libav::timeline::NO_TIME;
use ffmpeg_sys_next as sys;

/// Gaps between two packets shorter than this are due to rounded times, seconds.
const SHORT: f64 = 0.1;

/// The extent of a stream, in seconds of the input's clock.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Heard {
    /// The end of its last packet.
    pub(crate) end: Option<f64>,
    /// The time of the first gap between packets of sound.
    pub(crate) gap: Option<f64>,
}

pub(super) fn is_sound(stream: &sys::AVStream) -> bool {
    // SAFETY: every stream has parameters.
    unsafe { (*stream.codecpar).codec_type == sys::AVMediaType::AVMEDIA_TYPE_AUDIO }
}

/// Reads an input to its end, and returns the extent of each stream by its index.
pub(crate) fn hear(input: &mut Input) -> Result<Vec<Heard>, AvError> {
    let mut all = vec![Heard::default(); input.streams().len()];
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
        let (Some(stream), Some(heard)) = (input.stream(index), all.get_mut(index)) else { continue };
        if time == NO_TIME {
            continue;
        }
        let unit = f64::from(stream.time_base.num) / f64::from(stream.time_base.den);
        let (begin, end) = (time as f64 * unit, time.saturating_add(duration) as f64 * unit);
        if let Some(before) = heard.end.filter(|before| is_sound(stream) && begin - before > SHORT) {
            heard.gap = heard.gap.or(Some(before));
        }
        heard.end = Some(heard.end.map_or(end, |before| before.max(end)));
    }
}
