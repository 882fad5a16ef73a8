//! `analog`: the picture as an analogue signal, on tape, and on a picture tube.
//!
//! The picture is not disturbed by tricks but sent. It becomes lines of the system's raster, luma sampled at four times
//! the frequency of the colour subcarrier (NTSC 756 samples of 486 lines, PAL and SECAM 924 of 576), colour differences
//! U and V once per cycle. A picture with fewer rows than the raster keeps its number, so that nothing is interpolated
//! vertically; lines always have the system's samples, since bandwidths are times. The whole width of the picture is the
//! visible part of a line, whatever its shape: wide pictures are anamorphic.
//!
//! 1. **Connection.** Luma and chroma are limited to their bands. With `composite`, chroma is modulated on the subcarrier
//!    in the right phase of line, field and frame, and taken from the sum again by a band-pass filter (`notch`), or by that of
//!    the difference from the line before with the opposite phase (`line`). What of luma lies near the carrier becomes colour
//!    (rainbows), and what of chroma lies far from it luma (crawling dots). PAL then takes the mean of two lines, SECAM
//!    the other colour difference from the line before. SECAM's frequency modulation itself is not computed: luma near the
//!    carrier is added to chroma ("fire"), and nothing of chroma remains in luma.
//! 2. **Tape**, as often as there are generations: noise, the band of luma with peaking, chroma at a low bandwidth, with the
//!    mean of two lines of a field, late. In the last copy lines lose signal (head switching, tracking, dropouts, a
//!    crease), and all are moved by the errors of the time base.
//! 3. **Screen**, if `crt` is not 0, on the rows of the output.
//!
//! Each line's noise and events follow from the seed and the number of the picture. `interlace` sends progressive frames
//! as two fields, whose lines then come from the same moment: movement between them is not invented. The phase of PAL
//! leaves out the offset of 25 Hz within a field.
//!
//! Sources: SMPTE 170M (NTSC), ITU-R BT.470 and BT.1700 (PAL, SECAM), SMPTE 244M (four samples per cycle), IEC 60774
//! (VHS), IEC 60712 (U-matic), IEC 60961 (Betacam).

mod crt;
mod events;
mod glass;
mod line;
mod output;
mod raster;
mod settings;
mod signal;
mod system;
mod tape;

use self::crt::{Crt, Light, Tube};
use self::events::{Events, Lines};
use self::line::{MARGIN, Room};
use self::raster::Rows;
use self::settings::AnalogSpec;
use self::signal::{NoiseRoom, Path, Picture, noise_len};
use super::rgb::ThroughRgb;
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
use crate::frame::{Format, FrameTime, Parity, PictureStructure, Scratch};
use crate::settings::{Animated, SettingError};
use crate::simd::Level;
use core::ops::Range;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<AnalogSpec>(
    "analog",
    "Analogue video",
    "Sends the picture through analogue television, a video cassette and a picture tube",
);

impl Spec for AnalogSpec {
    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let system = self.system.raster();
        let wanted = if self.lines > 0 { self.lines as usize } else { system.lines };
        let lines = wanted.min(input.height as usize);
        let Some(rows) = Rows::new(input, &system, lines, level) else {
            return Err(SettingError::new("", "the colours of this format have no linear matrix"));
        };
        let path = Path::new(self, lines, seed, level).map_err(|e| SettingError::new("", e))?;
        Ok(Analog {
            format: *input,
            events: Events::new(self, seed, input),
            crt: Crt::new(self, input, level),
            through: ThroughRgb::new(input, level)?.drawing(),
            set: self.clone(),
            rows,
            path,
            level,
        }
        .boxed())
    }
}

struct Analog {
    format: Format,
    set: AnalogSpec,
    rows: Rows,
    path: Path,
    events: Events,
    crt: Crt,
    through: ThroughRgb,
    level: Level,
}

/// The parameters of a picture.
struct Now {
    signal: signal::Now,
    tube: Option<Tube>,
}

impl Analog {
    /// The lines that a band is made of, without those above them.
    fn lines(&self, now: &Now, band: &Band<'_>) -> Range<usize> {
        match &now.tube {
            Some(tube) => self.crt.needed(tube, &self.through.around(&band.rows), self.rows.lines),
            None => self.rows.needed(&band.output),
        }
    }

    /// Whether there ever is a tube.
    fn has_tube(&self) -> bool {
        !matches!(self.set.crt, Animated::Constant(v) if v <= 0.0)
    }

    fn is_wide(&self, now: &Now) -> bool {
        now.tube.is_some() || self.format.is_rgb()
    }
}

impl Render for Analog {
    type Params = Now;
    type State = ();

    fn at(&self, at: &FrameTime) -> Option<(Plan, Now)> {
        if self.rows.lines == 0 {
            return None;
        }
        let (frame, _) = at.split(self.format.picture);
        let (field, part) = match self.format.picture {
            PictureStructure::Field(parity) => (usize::from(parity == Parity::Bottom), 0.5),
            PictureStructure::Frame => (0, 1.0),
        };
        let fields = self.set.interlace && part == 1.0 && self.rows.lines > 1;
        let unit = self.rows.width as f64 / 1920.0;
        let lines = Lines { count: self.rows.lines, step: 1 + usize::from(fields), field, part, unit };
        let events = self.events.at(at, &lines);
        let signal = self.path.now(&self.set, at, lines, events, frame);
        let tube = self.crt.at(&self.set, at, self.rows.lines);
        let per_line = self.format.plane_size(0).1.div_ceil(self.rows.lines) as u32;
        let glass = if tube.is_some() { 2 * Crt::reach(self.rows.lines) + self.rows.lines / 8 } else { 0 };
        let extra_rows = (self.path.lead(lines.step) + glass + 4) as u32 * per_line;
        let plan = Plan { reach: Reach::Whole, extra_rows, ..Plan::in_place(self.format.color_planes()) };
        Some((plan, Now { signal, tube }))
    }

    fn memory(&self) -> Memory {
        let (w, lines) = (self.rows.width, self.rows.lines + 1);
        let planes = if self.has_tube() {
            8
        } else if self.format.is_rgb() {
            5
        } else {
            2
        };
        let buffers = 4 * (planes * w * lines + 20 * (self.rows.room() + 2 * MARGIN));
        let events = 128 * lines;
        let masks = 48 * self.format.width as usize;
        Memory { fixed: self.rows.bytes() + masks, per_frame: buffers + events + self.through.memory() }
    }

    fn render(&self, now: &Now, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        let own = self.lines(now, band);
        if own.is_empty() {
            return;
        }
        let input = band.source();
        let first = own.start.saturating_sub(self.path.lead(now.signal.lines.step));
        let (w, c, count) = (self.rows.width, self.rows.width / 4, own.end - first);
        let wide = if self.is_wide(now) { w * count } else { 0 };
        let glow = if now.tube.is_some_and(|t| t.has_bloom()) { w * count } else { 0 };
        let n = noise_len(w);
        let room = self.rows.room();
        let sizes = [w * count, c * count, c * count, w + 2 * MARGIN, w, w];
        let ([y, u, v, spread, sum, more], scratch) = scratch.buffers_and_rest::<f32, 6>(sizes);
        let ([r, g, b, gr, gg, gb, cover, place, quads], scratch) =
            scratch.buffers_and_rest::<f32, 9>([wide, wide, wide, glow, glow, glow, room, room, 7 * w]);
        let ([words], scratch) = scratch.buffers_and_rest::<u16, 1>([n]);
        let ([fine, coarse], scratch) = scratch.buffers_and_rest::<i16, 2>([n, noise_len(c)]);
        let mut picture = Picture { first, width: w, y, u, v };
        let mut line = Room { level: self.level, wide: spread, sum, more };
        let mut noise = NoiseRoom { words, fine, coarse };
        self.rows.read(input, &mut picture, scratch);
        self.path.send(&now.signal, &mut picture, &mut line, &mut noise);
        let Some(tube) = &now.tube else {
            self.rows.write(input, &mut picture, [r, g, b], (&mut band.output, band.writes), scratch);
            return;
        };
        self.rows.rgb(&mut picture, &Rows::to_rgb(), [&mut *g, &mut *b, &mut *r]);
        let lines = self.rows.lines;
        self.crt.light(
            tube,
            [&mut *r, &mut *g, &mut *b],
            [&mut *gr, &mut *gg, &mut *gb],
            lines,
            &mut picture,
            &mut line,
        );
        let light = Light { first, lines, width: w, rgb: [r, g, b], glow: [gr, gg, gb] };
        self.through.render(band, scratch, |y, _, out| {
            self.crt.row(tube, &light, y, out, [&mut *cover, &mut *place, &mut *quads]);
        });
    }
}

#[cfg(test)]
mod tests;
