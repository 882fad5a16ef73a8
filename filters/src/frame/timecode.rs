//! Timecodes of SMPTE ST 12: `01:00:10:00`, with drop frame `01:00:10;00`.

use crate::ratio::Ratio;
use core::fmt;
use core::str::FromStr;

/// Hours, minutes, seconds and frames.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Timecode {
    /// Hours, minutes, seconds and frames.
    parts: [u16; 4],
    /// Drop frame: at 29.97 frames per second the first two frames of a minute have no number, except in every tenth
    /// minute, so that timecode and clock agree.
    drop: bool,
}

impl Timecode {
    /// Whether it is a drop-frame timecode.
    pub const fn is_drop(self) -> bool {
        self.drop
    }

    /// The timecode so many frames after 00:00:00:00, with or without drop frame; after 24 hours it begins again. `None`
    /// if there are no such timecodes at this rate.
    pub fn of_frames(frames: i64, rate: Ratio, drop: bool) -> Option<Timecode> {
        let nominal = (rate + Ratio::HALF).floor();
        if !(1..=1000).contains(&nominal) || (drop && nominal % 30 != 0) {
            return None;
        }
        let dropped = if drop { nominal / 15 } else { 0 };
        let minute = 60 * nominal - dropped;
        let ten_minutes = 10 * minute + dropped;
        let frames = frames.rem_euclid(144 * ten_minutes);
        let (tens, rest) = (frames / ten_minutes, frames % ten_minutes);
        // The first of ten minutes has all its numbers.
        let minutes = ((rest - dropped) / minute).max(0);
        let number = frames + dropped * (9 * tens + minutes);
        let seconds = number / nominal;
        let parts = [seconds / 3600, seconds / 60 % 60, seconds % 60, number % nominal];
        Some(Timecode { parts: parts.map(|part| part as u16), drop })
    }

    /// The number of frames from 00:00:00:00; `None` if there is no such timecode at this rate.
    pub fn frames(self, rate: Ratio) -> Option<i64> {
        let nominal = (rate + Ratio::HALF).floor();
        let [hours, minutes, seconds, frames] = self.parts.map(i64::from);
        // rates with drop frame are 30000/1001 and its multiples
        let dropped = if self.drop { nominal / 15 } else { 0 };
        let possible = !self.drop || nominal % 30 == 0;
        let missing = seconds == 0 && minutes % 10 != 0 && frames < dropped;
        if nominal < 1 || frames >= nominal || !possible || missing {
            return None;
        }
        let minute = hours * 60 + minutes;
        Some((minute * 60 + seconds) * nominal + frames - dropped * (minute - minute / 10))
    }
}

/// Prints it as it is read.
impl fmt::Display for Timecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [hours, minutes, seconds, frames] = self.parts;
        let separator = if self.drop { ';' } else { ':' };
        write!(f, "{hours:02}:{minutes:02}:{seconds:02}{separator}{frames:02}")
    }
}

impl FromStr for Timecode {
    type Err = ();

    /// `HH:MM:SS:FF`; `;` or `.` before the frames means drop frame.
    fn from_str(text: &str) -> Result<Timecode, ()> {
        let at = text.rfind([':', ';', '.']).ok_or(())?;
        let drop = !text[at..].starts_with(':');
        let mut fields = text[..at].split(':').chain([&text[at + 1..]]);
        let mut field = |below: u16| {
            let digits = fields.next().filter(|t| t.bytes().all(|b| b.is_ascii_digit()))?;
            digits.parse::<u16>().ok().filter(|n| *n < below)
        };
        let parts = [field(24), field(60), field(60), field(1000)];
        let [Some(hours), Some(minutes), Some(seconds), Some(frames)] = parts else { return Err(()) };
        if fields.next().is_some() {
            return Err(());
        }
        Ok(Timecode { parts: [hours, minutes, seconds, frames], drop })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(text: &str, rate: (i64, i64)) -> Option<i64> {
        text.parse::<Timecode>().unwrap().frames(Ratio::new(rate.0, rate.1).unwrap())
    }

    #[test]
    fn timecodes_count_frames() {
        assert_eq!(frames("01:00:10:05", (25, 1)), Some((3600 + 10) * 25 + 5));
        assert_eq!(frames("00:00:01:00", (24000, 1001)), Some(24));
        assert_eq!(frames("00:00:00:24", (24000, 1001)), None);
        // the examples of SMPTE ST 12: the frame after 00:00:59;29 is 00:01:00;02
        let ntsc = (30000, 1001);
        assert_eq!(frames("00:00:59;29", ntsc), Some(1799));
        assert_eq!(frames("00:01:00;02", ntsc), Some(1800));
        assert_eq!(frames("00:01:00;01", ntsc), None);
        assert_eq!(frames("00:10:00;00", ntsc), Some(17982));
        assert_eq!(frames("01:00:00;00", ntsc), Some(107_892));
        assert_eq!(frames("00:01:00;04", (60000, 1001)), Some(3600));
        assert_eq!(frames("00:01:00;02", (25, 1)), None);
    }

    #[test]
    fn drop_frame_counts_without_gaps() {
        let rate = Ratio::new(30000, 1001).unwrap();
        let all = (0..11).flat_map(|m| (0..60).flat_map(move |s| (0..30).map(move |f| [0, m, s, f])));
        let numbers = all.filter_map(|parts| Timecode { parts, drop: true }.frames(rate));
        assert!(numbers.eq(0..17982 + 1798 + 2));
    }

    #[test]
    fn every_number_has_its_timecode() {
        for (rate, drop) in
            [((30000, 1001), true), ((60000, 1001), true), ((24000, 1001), false), ((25, 1), false)]
        {
            let rate = Ratio::new(rate.0, rate.1).unwrap();
            for n in 0..80_000 {
                let code = Timecode::of_frames(n, rate, drop).unwrap();
                assert_eq!((code.frames(rate), code.is_drop()), (Some(n), drop), "{code}");
            }
        }
        let text = |n: i64| Timecode::of_frames(n, Ratio::whole(25), false).unwrap().to_string();
        assert_eq!([text(-1), text(24 * 3600 * 25)], ["23:59:59:24", "00:00:00:00"]);
        assert_eq!(Timecode::of_frames(0, Ratio::whole(25), true), None);
        assert_eq!(Timecode::of_frames(0, Ratio::ZERO, false), None);
    }

    #[test]
    fn only_timecodes_are_read() {
        for text in ["01:00:10:00", "23:59:59;29"] {
            assert_eq!(text.parse::<Timecode>().unwrap().to_string(), text);
        }
        for text in
            ["", "1", "24:00:00:00", "00:60:00:00", "00:00:60:00", "1:2:3", "1:2:3:4:5", "1:2:3:é", "::::"]
        {
            assert!(text.parse::<Timecode>().is_err(), "{text}");
        }
    }
}
