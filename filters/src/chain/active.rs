//! A stage of the chain in one frame: what it reads and writes, its states, and its rows of a band.

use super::bound::{Chain, Stage};
use super::states::States;
use crate::filter::{Band, FrameParams, Reach, State};
use crate::frame::{Frame, FrameMut, FrameRef, FrameTime, Parity, PlaneRef, PlaneSet, Scratch};
use crate::host::{Host, PrepareError, lock, wait};
use crate::pixel::blend::{Opacity, blend_row, blend_row_by};
use crate::ratio::Ratio;
use std::sync::Arc;

/// The memory for the work on one band.
#[derive(Debug, Default)]
pub(super) struct BandScratch {
    pub(super) filter: Scratch,
    /// Rows as they were before a stage that is blended.
    pub(super) saved_rows: Scratch,
    /// Pictures between two stages.
    pub(super) between: Scratch,
}

/// The work on one picture (the frame, or one field) of a stage in this frame.
pub(super) struct Part {
    pub(super) parity: Option<Parity>,
    pub(super) index: i64,
    /// The filter's parameters; `None` if it does nothing.
    pub(super) now: Option<FrameParams>,
    /// The planes that the filter writes.
    pub(super) writes: PlaneSet,
    pub(super) state: Option<State>,
}

/// The largest distance in luma rows at which a stage reads the result of a conversion that is made for each band.
const NEAR_ROWS: usize = 16;

/// A stage that does something in this frame.
pub(super) struct ActiveStage<'a> {
    pub(super) number: usize,
    pub(super) stage: &'a Stage,
    pub(super) parts: Vec<Part>,
    pub(super) opacity: Opacity,
    /// Weights of the result at each sample of a stage with a mask, when they are known.
    pub(super) weights: Option<Arc<Frame>>,
    /// Whether it can work in place, and whether it can then also read its samples from another picture.
    pub(super) local: bool,
    pub(super) reads_samples: bool,
}

impl ActiveStage<'_> {
    pub(super) fn mask_reads_picture(&self) -> bool {
        self.stage.mask.as_ref().is_some_and(|mask| mask.reads_picture)
    }

    /// Whether it needs no picture beside its output.
    pub(super) fn works_in_place(&self) -> bool {
        self.local && !self.mask_reads_picture()
    }

    /// Whether its result replaces its input.
    pub(super) fn replaces(&self) -> bool {
        self.opacity.is_full() && self.stage.mask.is_none()
    }

    /// Computes what is made from the whole picture before the stage: the weights of a mask, and the states of filters that
    /// render whole pictures.
    pub(super) fn read_picture(
        &mut self,
        at: (&FrameTime, Ratio),
        picture: FrameRef<'_>,
        states: &States,
        host: &Host<'_>,
    ) -> Result<(), PrepareError> {
        if let Some(mask) = self.stage.mask.as_ref().filter(|mask| mask.reads_picture) {
            self.weights = Some(mask.weights(at, Some(picture), &states.mask(self.number), host)?);
        }
        for (filter, part) in self.stage.filters.iter().zip(&mut self.parts) {
            let whole = |now: &&FrameParams| now.plan.reach == Reach::Whole && now.plan.state.is_none();
            if let Some(now) = part.now.as_ref().filter(|now| !part.writes.is_empty() && whole(now)) {
                let picture = part.parity.map_or(picture, |parity| picture.field(parity));
                part.state = filter.of_picture(now, picture)?;
            }
        }
        Ok(())
    }

    pub(super) fn writes_plane(&self, p: usize) -> bool {
        self.parts.iter().any(|part| part.writes.has(p))
    }

    pub(super) fn writes_all(&self) -> bool {
        (0..self.stage.output.planes()).all(|p| self.writes_plane(p))
    }

    /// The distance in luma rows of the frame at which it reads its input.
    pub(super) fn near_rows(&self) -> usize {
        let reach = |part: &Part| match part.now.as_ref().map(|now| now.plan.reach) {
            Some(Reach::Rows(rows)) => rows as usize * self.parts.len(),
            None | Some(Reach::InPlace | Reach::Sample) => 0,
            Some(Reach::Whole) => usize::MAX,
        };
        self.parts.iter().map(reach).max().unwrap_or(0)
    }

    pub(super) fn reads_near_rows(&self) -> bool {
        !self.local && self.near_rows() <= NEAR_ROWS
    }

    /// Whether it writes every plane from the same rows of its input.
    pub(super) fn reads_own_rows(&self) -> bool {
        let own = |part: &Part| part.now.as_ref().is_some_and(|now| now.plan.reach == Reach::Rows(0));
        self.parts.iter().all(own) && self.writes_all()
    }

    /// See [`Render::map_codes`](crate::filter::Render::map_codes).
    pub(super) fn map_codes(&self, p: usize, codes: &mut [u16]) -> Option<u32> {
        let ([part], true) = (&self.parts[..], self.replaces()) else { return None };
        let now = part.now.as_ref()?;
        if !part.writes.has(p) {
            return Some(0);
        }
        self.stage.filters[0].map_codes(now, part.state.as_ref(), p, codes)
    }

    pub(super) fn prepare(
        &mut self,
        at: (&FrameTime, Ratio),
        states: &States,
        host: &Host<'_>,
    ) -> Result<(), PrepareError> {
        if let Some(mask) = self.stage.mask.as_ref().filter(|mask| !mask.reads_picture) {
            self.weights = Some(mask.weights(at, None, &states.mask(self.number), host)?);
        }
        for (i, part) in self.parts.iter_mut().enumerate() {
            let Some((now, key)) = part.now.as_ref().and_then(|now| Some((now, now.plan.state?))) else {
                continue;
            };
            let filter = &self.stage.filters[i];
            if filter.is_simulation() {
                let simulation = states.simulation(self.number);
                let free = || lock(&simulation);
                let stepped = filter.step(now, &mut wait(host.executor, free), host)?;
                part.state = Some(filter.prepare(now, Some(stepped), host)?);
                continue;
            }
            let (near, exact) = states.take((self.number, i), part.index, key);
            part.state = match near {
                Some(state) if exact => Some(state),
                near => Some(filter.prepare(now, near, host)?),
            };
        }
        Ok(())
    }

    pub(super) fn give_back(&mut self, states: &States) {
        for (i, part) in self.parts.iter_mut().enumerate() {
            if self.stage.filters[i].is_simulation() {
                part.state = None;
                continue;
            }
            let key = part.now.as_ref().and_then(|now| now.plan.state);
            if let (Some(state), Some(key)) = (part.state.take(), key) {
                states.put((self.number, i), part.index, key, state);
            }
        }
    }

    pub(super) fn render(
        &self,
        chain: &Chain,
        input: Option<FrameRef<'_>>,
        band: &mut FrameMut<'_>,
        scratch: &mut BandScratch,
    ) {
        let BandScratch { filter: scratch, saved_rows, .. } = scratch;
        band.format = self.stage.output;
        for (i, part) in self.parts.iter().enumerate() {
            let input = input.map(|f| part.parity.map_or(f, |parity| f.field(parity)));
            let picture = |band: &mut FrameMut<'_>, f: &mut dyn FnMut(FrameMut<'_>)| match part.parity {
                None => f(band.reborrow()),
                Some(parity) => f(band.reborrow().field(parity)),
            };
            let now = part.now.as_ref().filter(|_| !part.writes.is_empty());
            let idle = now.is_none();
            let mut saved = 0;
            picture(band, &mut |mut output| {
                // Copies the planes that this field does not write, and the field that is not filtered.
                if let Some(input) = input {
                    for p in (0..self.stage.output.planes()).filter(|&p| self.writes_plane(p)) {
                        if idle || !part.writes.has(p) {
                            copy_rows(&input, &mut output, p);
                        }
                    }
                } else if !idle && !self.replaces() {
                    saved = save_rows(&output, part.writes, saved_rows);
                }
                if let Some(now) = now {
                    let rows = output.plane(0).rows();
                    let writes = part.writes;
                    let mut band = Band { rows, input, output, writes };
                    self.stage.filters[i].render(now, part.state.as_ref(), &mut band, scratch);
                }
            });
            if !idle && !self.replaces() {
                let weights = self.weights.as_ref().map(|weights| weights.as_ref().as_ref());
                let weights = weights.map(|w| part.parity.map_or(w, |parity| w.field(parity)));
                picture(band, &mut |mut output| {
                    self.blend(chain, (input, weights), &mut output, part.writes, saved_rows, saved)
                });
            }
        }
    }

    pub(super) fn blend(
        &self,
        chain: &Chain,
        (input, weights): (Option<FrameRef<'_>>, Option<FrameRef<'_>>),
        output: &mut FrameMut<'_>,
        writes: PlaneSet,
        saved_rows: &mut Scratch,
        saved: usize,
    ) {
        let format = output.format;
        let width = 2 * format.width as usize;
        let [before, mean] = saved_rows.buffers::<u8, 2>([saved, width]);
        let mut offset = 0;
        for p in writes.iter().filter(|&p| p < self.stage.output.planes()) {
            for y in output.plane(p).rows() {
                let row = output.plane_mut(p).row_bytes_mut(y);
                let before = match &input {
                    Some(input) => input.plane(p).row_bytes(y),
                    None => &before[offset..offset + row.len()],
                };
                offset += row.len().next_multiple_of(64);
                let Some(weights) = weights else {
                    blend_row(chain.level, format.depth, row, before, self.opacity);
                    continue;
                };
                let by = match format.plane_subsampling(p) {
                    (0, 0) => weights.plane(0).row(y),
                    by => {
                        let mean = &mut bytemuck::cast_slice_mut(mean)[..format.plane_size(p).0];
                        mean_weights(weights.plane(0), by, y, mean);
                        &*mean
                    }
                };
                blend_row_by(chain.level, format.depth, row, before, by, self.opacity);
            }
        }
    }
}

/// The means of a mask over the areas of subsampled samples, rounded; at the edges over what there is of them.
fn mean_weights(mask: PlaneRef<'_>, (sx, sy): (u8, u8), y: usize, out: &mut [u16]) {
    let rows = mask.rows();
    let rows = (y << sy).min(rows.end - 1)..((y + 1) << sy).min(rows.end);
    for (x, out) in out.iter_mut().enumerate() {
        let (mut sum, mut count) = (0, 0);
        for y in rows.clone() {
            let row = mask.row::<u16>(y);
            let part = &row[x << sx..((x + 1) << sx).min(row.len())];
            sum += part.iter().map(|&w| u32::from(w)).sum::<u32>();
            count += part.len() as u32;
        }
        *out = ((sum + count / 2) / count.max(1)) as u16;
    }
}

pub(super) fn copy_rows(input: &FrameRef<'_>, output: &mut FrameMut<'_>, p: usize) {
    for y in output.plane(p).rows() {
        output.plane_mut(p).row_bytes_mut(y).copy_from_slice(input.plane(p).row_bytes(y));
    }
}

/// Copies the rows of some planes, each to a multiple of 64 bytes; returns the bytes used.
fn save_rows(output: &FrameMut<'_>, planes: PlaneSet, saved_rows: &mut Scratch) -> usize {
    let planes = || planes.iter().filter(|&p| p < output.format.planes());
    let size = |p: usize| {
        let plane = output.plane(p);
        let rows = plane.rows();
        if rows.is_empty() { 0 } else { plane.row_bytes(rows.start).len().next_multiple_of(64) * rows.len() }
    };
    let total = planes().map(size).sum();
    let [buffer] = saved_rows.buffers::<u8, 1>([total]);
    let mut offset = 0;
    for p in planes() {
        let plane = output.plane(p);
        for y in plane.rows() {
            let row = plane.row_bytes(y);
            buffer[offset..offset + row.len()].copy_from_slice(row);
            offset += row.len().next_multiple_of(64);
        }
    }
    total
}
