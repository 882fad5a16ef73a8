//! What sound really has between its beginning and its end: what a container without times cannot say.

use super::packets::NONE;
use super::{AvError, Input, check};
use crate::libav::sink::handles::Packet;
use ffmpeg_sys_next as sys;

/// Silence shorter than this between two packets is the roundness of their times, seconds.
const SHORT: f64 = 0.1;

/// What was heard of a stream, or seen. Seconds of the input's clock.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Heard {
    /// The end of its last packet.
    pub(crate) end: Option<f64>,
    /// Where packets of sound are missing first.
    pub(crate) gap: Option<f64>,
}

pub(super) fn is_sound(stream: &sys::AVStream) -> bool {
    // SAFETY: every stream has parameters.
    unsafe { (*stream.codecpar).codec_type == sys::AVMediaType::AVMEDIA_TYPE_AUDIO }
}

/// Reads an input to its end, and is told of each stream by its index.
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
                // what is damaged is told when it is copied
                Err(_) => return Ok(all),
            }
            let p = &*packet.0;
            (p.stream_index as usize, p.pts, p.duration.max(0))
        };
        let (Some(stream), Some(heard)) = (input.stream(index), all.get_mut(index)) else { continue };
        if time == NONE {
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
