//! `av1grain`: film grain exactly as AV1 decoders render it.
//!
//! The AV1 specification (section 7.18.3) generates grain from a few parameters and a seed. An autoregressive filter
//! shapes a template of white noise; blocks of 32 by 32 samples are copied from random positions in it, and each sample
//! gets the noise of its block times a strength that depends on the brightness. An encoder sends only the parameters
//! ([`film_grain`](crate::film_grain)), and this filter shows the result that a viewer sees.
//!
//! Frame n of a segment that begins with the table's seed s has the seed `s + 3381 n` ([`seed_of_frame`]), as in libaom
//! without frame reordering.
//!
//! Decoders support 8, 10 and 12 bits. For deeper samples, the upper 12 bits are as a decoder would render them, and
//! the lower bits are unchanged; 9 and 11 bits are rounded from 10 and 12. Chroma that is subsampled by four, which AV1
//! does not support, uses the template of 4:2:0. A 4:2:0 stream cannot have grain in chroma without grain in luma, so
//! chroma then has none.

mod blocks;
mod gaussian;
mod kernels;
mod photon;
mod template;
#[cfg(test)]
mod tests;

use super::{Band, Entry, Filter, Memory, Plan, Render, Spec};
use crate::film_grain::{TICKS, Table, VECTORS, seed_of_frame, vector};
use crate::for_depth;
use crate::frame::{Format, FrameTime, Scratch};
use crate::host::{Host, PrepareError};
use crate::ratio::Ratio;
use crate::settings;
use crate::settings::{FileAsset, FileKind, SettingError, Unit, Values};
use crate::simd::Level;
use blocks::{Blocks, Depths, Rows, ScalingLut, State};
use std::sync::Arc;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<Av1GrainSpec>(
    "av1grain",
    "AV1 grain",
    "Adds film grain exactly as AV1 decoders do, from a film grain table",
);

settings! {
    struct Av1GrainSpec {
        /// Film grain table (`filmgrn1`) to render, as encoders read it.
        table: Option<FileAsset> = file(FileKind::GrainTable).label("Grain table"),
        /// A test vector of libaom instead of a table: its film-grain-test.
        vector: Option<i64> = integer(1..=VECTORS as i64).label("Test vector"),
        /// Without a table or vector: photon noise of a camera at this ISO setting, as if the picture were a full frame
        /// of 36 by 24 mm. 400 is fine, 6400 is coarse.
        iso: i64 = integer(10..=10_000_000).default(800).label("ISO"),
        /// Seed of the first frame, 0 to 65535; of a larger number the lowest 16 bits count. Default: each segment of
        /// the table starts with its own.
        seed: Option<u64> = seed(),
        /// Position of the first frame in the table, for a clip that starts later than the table.
        offset: i64 = integer(-1_000_000_000..=1_000_000_000).default(0).unit(Unit::Frames),
    }
}

impl Spec for Av1GrainSpec {
    fn bind(&self, input: &Format, _seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let table = match (&self.table, self.vector) {
            (Some(file), _) => {
                file.require::<Arc<Table>>().map_err(|e| SettingError::new("table", e))?.clone()
            }
            (None, Some(number)) => {
                let Some((params, seed)) = vector(number as usize) else {
                    unreachable!("the range is the vectors'")
                };
                Arc::new(Table::constant(params, seed))
            }
            (None, None) => Arc::new(photon::table(input, self.iso as f64)),
        };
        let seed = self.seed.map(|s| s as u16);
        Ok(Av1Grain { format: *input, blocks: Blocks::new(input), table, seed, offset: self.offset, level }
            .boxed())
    }

    fn check(&mut self, given: &Values) -> Result<(), SettingError> {
        let said = |id| given.given(id).is_some();
        for (id, other) in [("vector", "table"), ("iso", "table"), ("iso", "vector")] {
            if said(id) && said(other) {
                let problem = format!("'{other}' also sets the grain: give only one of the two");
                return Err(SettingError::new(id, problem));
            }
        }
        Ok(())
    }

    fn wants_16_bits(&self) -> bool {
        false
    }

    fn works_at_final_depth(&self) -> bool {
        true
    }
}

struct Av1Grain {
    format: Format,
    blocks: Blocks,
    table: Arc<Table>,
    seed: Option<u16>,
    /// Frames.
    offset: i64,
    level: Level,
}

/// The grain of a frame: a segment of the table, and the seed.
#[derive(Clone, Copy)]
struct Now {
    segment: usize,
    seed: u16,
}

impl Av1Grain {
    /// The number of the picture in the table, counted in pictures of the format, and its time there in
    /// [`TICKS`].
    fn place(&self, at: &FrameTime) -> (i128, i128) {
        let pictures = i128::from(self.format.picture.per_frame());
        let (rate, time) = (self.format.rate, at.time);
        let (rn, rd) = (i128::from(rate.num()), i128::from(rate.den()));
        let (tn, td) = (i128::from(time.num()), i128::from(time.den()));
        // Round halves up, so that a time that was rounded to a container's time base gives the right frame.
        let number = (2 * tn * pictures * rn + td * rd).div_euclid(2 * td * rd);
        let offset = i128::from(self.offset);
        let shift = Ratio::whole(self.offset).checked_div(rate).unwrap_or(Ratio::ZERO);
        let ticks = i128::from(TICKS);
        let (sn, sd) = (i128::from(shift.num()), i128::from(shift.den()));
        // Round the sum down once, as if the source had begun earlier.
        let ticks = match (tn.checked_mul(sd), sn.checked_mul(td), td.checked_mul(sd)) {
            (Some(a), Some(b), Some(d)) => (a + b).checked_mul(ticks).map(|n| n.div_euclid(d)),
            _ => None,
        };
        (number + offset * pictures, ticks.unwrap_or(i128::from(i64::MAX)))
    }

    /// The number of the first picture of a segment.
    fn first(&self, start: i64) -> i128 {
        let per_second = i128::from(self.format.rate.num()) * i128::from(self.format.picture.per_frame());
        let den = i128::from(self.format.rate.den()) * i128::from(TICKS);
        // The smallest n whose time is at most one tick before the start.
        -((1 - i128::from(start)) * per_second).div_euclid(den).min(0)
    }
}

impl Render for Av1Grain {
    type Params = Now;
    type State = State;

    fn at(&self, at: &FrameTime) -> Option<(Plan, Now)> {
        let (number, time) = self.place(at);
        // Add a tick, since some programs round the start of a segment up.
        let time = i64::try_from(time.clamp(-1, i128::from(i64::MAX) - 2)).ok()?;
        let segment = self.table.at(if time < 0 { return None } else { time + 1 })?;
        let of = &self.table.segments[segment];
        let params = self.table.params(segment).filter(|_| of.apply)?;
        let (seed, first) = match self.seed {
            Some(seed) => (seed, 0),
            None => (of.seed, self.first(of.start)),
        };
        let seed = seed_of_frame(seed, u64::try_from(number - first).unwrap_or(0));
        let writes = self.format.color_planes().filter(|p| params.has_grain(p, self.format.subsampling));
        let key = (segment as u128) << 16 | u128::from(seed);
        let plan = Plan { state: Some(key), ..Plan::in_place(writes) };
        (!writes.is_empty()).then_some((plan, Now { segment, seed }))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: self.blocks.state_bytes() + self.blocks.scratch_bytes() }
    }

    fn prepare(&self, now: &Now, near: State, host: &Host<'_>) -> Result<State, PrepareError> {
        host.check()?;
        let Some(params) = self.table.params(now.segment) else { return Ok(near) };
        let mut state = near;
        let planes = self.format.color_planes().filter(|p| params.has_grain(p, self.format.subsampling));
        state.templates.make(self.level, params, now.seed, (&self.format, self.blocks.bits), planes);
        for p in planes.iter() {
            state.scales[p] = ScalingLut::new(params, p);
        }
        Ok(state)
    }

    fn render(&self, now: &Now, state: &State, band: &mut Band<'_>, scratch: &mut Scratch) {
        let Some(params) = self.table.params(now.segment) else { return };
        let rows = Rows { blocks: &self.blocks, params, seed: now.seed, state, level: self.level };
        for_depth!(self.format.depth, T => T::render(&rows, band, scratch));
    }
}
