//! One continuous time for a whole input whose timestamps restart in the middle.
//!
//! Transport and program streams (TS, MPG, VOB) can be joined by concatenation, and their clocks jump at the joints.
//! The filtered stream decides: where its timestamps go back or leap forward, its next frame follows the one before,
//! and all other streams are shifted by the same amount. Timestamps without jumps are unchanged. (libav has already
//! corrected a 33-bit clock that wraps once.)

use super::raw::Fields;
use ffmpeg_next::{Packet, Rescale};
use ffmpeg_sys_next as sys;
use std::collections::VecDeque;

/// No timestamp.
pub(crate) const NO_TIME: i64 = sys::AV_NOPTS_VALUE;

/// The largest step back of a stream's time, seconds: packets without decoding times are not in order.
const BACK: f64 = 0.25;
/// The largest step forward, seconds, as in the ffmpeg program.
const LEAP: f64 = 10.0;

/// The offset of timestamps since the last jump.
pub(crate) struct Timeline {
    /// Whether the container's timestamps may jump.
    may_jump: bool,
    base: sys::AVRational,
    /// The offset of each part between jumps, in ticks of `base`.
    parts: Vec<i64>,
    /// Time and duration of the last packet.
    last: Option<(i64, i64)>,
}

/// The time by which packets are in order.
fn time(p: &sys::AVPacket) -> Option<i64> {
    [p.dts, p.pts].into_iter().find(|t| *t != NO_TIME)
}

fn shift(p: &mut sys::AVPacket, by: i64) {
    for t in [&mut p.pts, &mut p.dts] {
        if *t != NO_TIME {
            *t = t.saturating_add(by);
        }
    }
}

fn ticks(seconds: f64, base: sys::AVRational) -> i64 {
    (seconds * f64::from(base.den) / f64::from(base.num.max(1))) as i64
}

fn follows(t: i64, last: i64, base: sys::AVRational) -> bool {
    t >= last.saturating_sub(ticks(BACK, base)) && t <= last.saturating_add(ticks(LEAP, base))
}

impl Timeline {
    /// For the filtered stream of an open input.
    pub(crate) fn new(context: &sys::AVFormatContext, stream: &sys::AVStream) -> Timeline {
        // SAFETY: an open input has a format, which is static.
        let flags = unsafe { (*context.iformat).flags };
        let may_jump = flags & sys::AVFMT_TS_DISCONT != 0;
        Timeline { may_jump, base: stream.time_base, parts: vec![0], last: None }
    }

    /// Whether the container's timestamps may jump.
    pub(crate) fn may_jump(&self) -> bool {
        self.may_jump
    }

    /// The number of parts so far.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Restarts after a seek.
    pub(crate) fn renew(&mut self) {
        (self.parts, self.last) = (vec![0], None);
    }

    /// Adjusts a packet of the filtered stream.
    pub(crate) fn place(&mut self, p: &mut sys::AVPacket) {
        let (Some(t), true) = (time(p), self.may_jump) else { return };
        let mut by = *self.parts.last().unwrap_or(&0);
        let mut own = t.saturating_add(by);
        if let Some((last, length)) = self.last {
            if !follows(own, last, self.base) {
                let wanted = last.saturating_add(length);
                by = by.saturating_add(wanted.saturating_sub(own));
                own = wanted;
                self.parts.push(by);
            }
            let length = if p.duration > 0 { p.duration } else { own.saturating_sub(last) };
            self.last = Some((own, length.max(1)));
        } else {
            self.last = Some((own, p.duration.max(1)));
        }
        shift(p, by);
    }
}

/// A stream other than the filtered one.
#[derive(Clone, Copy, Default)]
struct FollowerStream {
    part: usize,
    last: Option<(i64, i64)>,
}

/// Adjusts the packets of streams other than the filtered one.
#[derive(Default)]
pub(crate) struct FollowerStreams {
    streams: Vec<FollowerStream>,
    /// Packets after a jump that the filtered stream has not made yet.
    ahead: VecDeque<Packet>,
}

/// The decision for a packet.
#[derive(PartialEq, Eq, Debug)]
enum Disposition {
    Write,
    /// It is after a jump that is still to come.
    Wait,
    /// It overlaps the part before the jump.
    Drop,
}

/// The largest number of packets that wait for a jump of the filtered stream.
const AHEAD: usize = 4096;

impl FollowerStreams {
    /// Adds a packet; `ready` receives the packets to write now.
    pub(crate) fn take(
        &mut self,
        line: &Timeline,
        base: sys::AVRational,
        audio: bool,
        mut packet: Packet,
        ready: &mut VecDeque<Packet>,
    ) {
        if !line.may_jump {
            return ready.push_back(packet);
        }
        match self.decide(line, base, audio, packet.av_mut(), self.ahead.len() >= AHEAD) {
            Disposition::Write => ready.push_back(packet),
            Disposition::Wait => self.ahead.push_back(packet),
            Disposition::Drop => {}
        }
    }

    /// Releases the waiting packets: the filtered stream has jumped, or has ended.
    pub(crate) fn release(
        &mut self,
        line: &Timeline,
        base: impl Fn(usize) -> (sys::AVRational, bool),
        ready: &mut VecDeque<Packet>,
    ) {
        for mut packet in std::mem::take(&mut self.ahead) {
            let (base, audio) = base(packet.stream());
            match self.decide(line, base, audio, packet.av_mut(), true) {
                Disposition::Write => ready.push_back(packet),
                Disposition::Wait => self.ahead.push_back(packet),
                Disposition::Drop => {}
            }
        }
    }

    fn decide(
        &mut self,
        line: &Timeline,
        base: sys::AVRational,
        audio: bool,
        p: &mut sys::AVPacket,
        now: bool,
    ) -> Disposition {
        let index = usize::try_from(p.stream_index).unwrap_or(0);
        if self.streams.len() <= index {
            self.streams.resize(index + 1, FollowerStream::default());
        }
        let stream = &mut self.streams[index];
        let newest = line.parts.len() - 1;
        let by = |part: usize| line.parts[part].rescale(line.base, base);
        let Some(t) = time(p) else {
            shift(p, by(stream.part));
            return Disposition::Write;
        };
        let fits =
            |part: usize| stream.last.is_none_or(|(last, _)| follows(t.saturating_add(by(part)), last, base));
        // Subtitles are sparse: their own times do not show a jump.
        let part = match audio {
            true => (stream.part..=newest).find(|&part| fits(part)),
            false => Some(newest),
        };
        let now = now || newest > stream.part;
        let Some(part) = part.or_else(|| now.then_some(newest)) else { return Disposition::Wait };
        stream.part = part;
        let own = t.saturating_add(by(part));
        if let Some((last, length)) = stream.last
            && audio
            && part > 0
            && own < last.saturating_add(length / 2).max(last.saturating_add(1))
        {
            return Disposition::Drop;
        }
        *stream = FollowerStream { part, last: Some((own, p.duration)) };
        shift(p, by(part));
        Disposition::Write
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: sys::AVRational = sys::AVRational { num: 1, den: 1000 };

    fn packet(stream: i32, t: i64, duration: i64) -> Packet {
        let mut packet = Packet::empty();
        let p = packet.av_mut();
        (p.stream_index, p.pts, p.dts, p.duration) = (stream, t, t, duration);
        packet
    }

    /// Converts pictures (stream 0) and sound (1) from file order to order of time.
    fn through(all: &[(i32, i64)]) -> (Vec<i64>, Vec<i64>) {
        let mut line = Timeline { may_jump: true, base: BASE, parts: vec![0], last: None };
        let (mut followers, mut ready, mut pictures) =
            (FollowerStreams::default(), VecDeque::new(), Vec::new());
        for &(stream, t) in all {
            let mut p = packet(stream, t, if stream == 0 { 40 } else { 20 });
            if stream == 0 {
                let parts = line.parts();
                line.place(p.av_mut());
                pictures.push(p.av().pts);
                if line.parts() > parts {
                    followers.release(&line, |_| (BASE, true), &mut ready);
                }
            } else {
                followers.take(&line, BASE, true, p, &mut ready);
            }
        }
        followers.release(&line, |_| (BASE, true), &mut ready);
        (pictures, ready.iter().map(|p| p.av().pts).collect())
    }

    #[test]
    fn parts_follow_each_other_and_sound_goes_along() {
        // the second part's sound comes before its picture, and the first part's last sound after that
        let (pictures, sound) = through(&[
            (0, 1000),
            (1, 1000),
            (1, 1020),
            (0, 1040),
            (1, 1040),
            (0, 1080),
            (1, 1060),
            (1, 1080),
            (0, 1120),
            (0, 1160),
            (1, 1100),
            (1, 1120),
            (1, 1140),
            (1, 1160),
            (0, 1200),
            (0, 1240),
            (0, 1280),
            (0, 1320),
            (1, 1000 - 600),
            (0, 1000 - 600),
            (1, 1020 - 600),
            (0, 1040 - 600),
            (1, 1040 - 600),
        ]);
        assert_eq!(pictures, [1000, 1040, 1080, 1120, 1160, 1200, 1240, 1280, 1320, 1360, 1400]);
        assert_eq!(sound, [1000, 1020, 1040, 1060, 1080, 1100, 1120, 1140, 1160, 1360, 1380, 1400]);
    }

    #[test]
    fn times_without_jumps_are_unchanged() {
        let all = [(0, 0), (1, -20), (0, 80), (1, 5000), (0, 40), (0, 9000), (1, 5020)];
        assert_eq!(through(&all), (vec![0, 80, 40, 9000], vec![-20, 5000, 5020]));
    }
}
