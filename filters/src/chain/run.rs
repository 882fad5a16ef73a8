//! Runs one frame through a chain.
//!
//! Layers that work in place are fused: each band of rows goes through all of them while it is in the cache. A
//! layer that reads beyond its own row needs its whole input first, so it starts a new pass over the picture.

use super::bind::{Chain, Fields, Stage};
use super::states::States;
use crate::filter::{Band, FrameParams, Reach, State};
use crate::frame::{Format, Frame, FrameMut, FrameRef, FrameTime, Parity, PlaneSet, Scratch};
use crate::host::{Host, PrepareError, wait};
use crate::pixel::blend::{Opacity, blend_row};
use crate::ratio::Ratio;
use std::sync::{Mutex, PoisonError};

/// Size of a band, all planes together, in bytes: a part of one core's cache.
const BAND_BYTES: usize = 256 << 10;

/// The buffers that a worker lends to [`Chain::run`], which reuses them for each frame.
#[derive(Debug, Default)]
pub struct Workspace {
    spare: Option<Frame>,
    between: Option<Frame>,
    scratch: Mutex<Vec<(Scratch, Scratch)>>,
}

/// The work on one picture (the frame, or one field) of a layer in this frame.
struct Part {
    parity: Option<Parity>,
    index: i64,
    /// The filter's parameters; `None` if it does nothing.
    now: Option<FrameParams>,
    /// The planes that the filter writes.
    writes: PlaneSet,
    state: Option<State>,
}

/// The position of a pass within a frame.
struct PassPosition {
    first: bool,
    last: bool,
}

struct ActiveStage<'a> {
    number: usize,
    layer: &'a Stage,
    parts: Vec<Part>,
    opacity: Opacity,
    local: bool,
}

impl Chain {
    /// Runs `frame` (in the format [`input`](Chain::input)) through the chain; afterwards it has the format
    /// [`output`](Chain::output). `at` is the time of the frame; `duration`, in seconds, gives the time of its
    /// second field.
    ///
    /// # Errors
    /// A filter cannot be prepared for the frame, or the host has cancelled; the frame is then undefined.
    pub fn run(
        &self,
        at: &FrameTime,
        duration: Ratio,
        frame: &mut Frame,
        work: &mut Workspace,
        states: &States,
        host: &Host<'_>,
    ) -> Result<(), PrepareError> {
        assert_eq!(frame.format(), &self.input, "the chain was bound to another format");
        self.passes(at, duration, states, host, |pass, _| self.pass(pass, frame, work, host))
    }

    /// Like [`run`](Chain::run), from buffers of a host to others: `input` has the format [`input`](Chain::input),
    /// and `output` receives the result in the format [`output`](Chain::output).
    ///
    /// # Errors
    /// As `run`; the output is then undefined.
    #[allow(clippy::too_many_arguments)] // the arguments of `run`, with two buffers for one
    pub fn run_between(
        &self,
        at: &FrameTime,
        duration: Ratio,
        input: FrameRef<'_>,
        mut output: FrameMut<'_>,
        work: &mut Workspace,
        states: &States,
        host: &Host<'_>,
    ) -> Result<(), PrepareError> {
        assert_eq!(input.format, self.input, "the chain was bound to another format");
        assert_eq!(output.format, *self.output(), "the chain was bound to another format");
        // The frame between the first pass and the last.
        let mut between = work.between.take().unwrap_or_else(|| Frame::new(self.input));
        let mut done = false;
        let result = self.passes(at, duration, states, host, |pass, position| {
            done = position.last;
            match (position.first, position.last) {
                (true, true) => self.pass_between(pass, input, output.reborrow(), work, host),
                (true, false) => {
                    between.reset(pass[0].layer.output);
                    self.pass_between(pass, input, between.as_mut(), work, host);
                }
                (false, true) => self.pass_between(pass, between.as_ref(), output.reborrow(), work, host),
                (false, false) => self.pass(pass, &mut between, work, host),
            }
        });
        work.between = Some(between);
        if result.is_ok() && !done {
            (0..self.input.planes()).for_each(|p| copy_rows(&input, &mut output, p));
        }
        result
    }

    /// Calls `run` for each pass over the picture, after its states are prepared. A pass consists of one layer of any
    /// kind and the local layers after it.
    fn passes(
        &self,
        at: &FrameTime,
        duration: Ratio,
        states: &States,
        host: &Host<'_>,
        mut run: impl FnMut(&[ActiveStage<'_>], PassPosition),
    ) -> Result<(), PrepareError> {
        let mut active = self.active(at, duration);
        // If no filter is active, skip the conversion to the working depth and back.
        if self.input == *self.output() && !active.iter().any(|a| a.layer.from_recipe) {
            return Ok(());
        }
        let mut rest = &mut active[..];
        let mut first = true;
        host.check()?;
        while !rest.is_empty() {
            // Planes that the first layer does not write are copied only after it, so no layer can join its pass.
            let alone = !rest[0].local && !rest[0].writes_all();
            let len = if alone { 1 } else { 1 + rest[1..].iter().take_while(|a| a.local).count() };
            let (pass, later) = rest.split_at_mut(len);
            for a in pass.iter_mut() {
                a.prepare(states, host)?;
            }
            run(pass, PassPosition { first, last: later.is_empty() });
            for a in pass {
                a.give_back(states);
            }
            // When the host cancels, skip the remaining bands.
            host.check()?;
            (rest, first) = (later, false);
        }
        Ok(())
    }

    fn active(&self, at: &FrameTime, duration: Ratio) -> Vec<ActiveStage<'_>> {
        let mut list = Vec::new();
        for (number, layer) in self.layers.iter().enumerate() {
            if layer.enable.as_ref().is_some_and(|e| !e.contains(at.index)) {
                continue;
            }
            let opacity = Opacity::new(layer.opacity.at(at));
            if opacity.is_none() {
                continue;
            }
            let mut parts = Vec::new();
            for (i, filter) in layer.filters.iter().enumerate() {
                let (parity, mut at) = self.field_time(at, duration, layer.filters.len(), i);
                if layer.is_static {
                    at.index = at.index.rem_euclid(layer.filters.len() as i64);
                }
                let now = filter.at(&at);
                let writes = match (&now, layer.planes) {
                    (None, _) => PlaneSet::NONE,
                    (Some(now), Some(wanted)) => wanted & (now.plan.writes | now.plan.on_request),
                    (Some(now), None) => now.plan.writes,
                };
                parts.push(Part { parity, index: at.index, now, writes, state: None });
            }
            if parts.iter().any(|p| !p.writes.is_empty()) {
                let local = parts.iter().flat_map(|p| &p.now).all(|now| now.plan.reach == Reach::InPlace);
                list.push(ActiveStage { number, layer, parts, opacity, local });
            }
        }
        list
    }

    fn field_time(
        &self,
        at: &FrameTime,
        duration: Ratio,
        pictures: usize,
        i: usize,
    ) -> (Option<Parity>, FrameTime) {
        let Fields::First(first) = self.fields else { return (None, *at) };
        if pictures == 1 {
            return (None, *at);
        }
        let parity = if i == 0 { Parity::Top } else { Parity::Bottom };
        let second = i64::from(parity != first);
        let half = |whole: Ratio| whole * Ratio::whole(second) * Ratio::HALF;
        let time = FrameTime {
            index: at.index.wrapping_mul(2).wrapping_add(second),
            frame: at.frame + half(Ratio::ONE),
            time: at.time + half(duration),
            late: half(duration),
        };
        (Some(parity), time)
    }

    fn pass(&self, pass: &[ActiveStage<'_>], frame: &mut Frame, work: &mut Workspace, host: &Host<'_>) {
        let Workspace { spare, scratch, .. } = work;
        if pass[0].local {
            let input = None;
            self.bands(pass, input, frame.as_mut(), scratch, host);
            return;
        }
        let head = &pass[0];
        let output = spare.get_or_insert_with(|| Frame::new(head.layer.output));
        output.reset(head.layer.output);
        self.bands(pass, Some(frame.as_ref()), output.as_mut(), scratch, host);
        for p in (0..head.layer.output.planes()).filter(|&p| !head.writes_plane(p)) {
            output.swap_plane(p, frame);
        }
        core::mem::swap(output, frame);
    }

    /// Runs a pass from one picture to another.
    fn pass_between(
        &self,
        pass: &[ActiveStage<'_>],
        input: FrameRef<'_>,
        mut output: FrameMut<'_>,
        work: &Workspace,
        host: &Host<'_>,
    ) {
        let head = &pass[0];
        let planes = 0..head.layer.output.planes();
        if head.local {
            planes.for_each(|p| copy_rows(&input, &mut output, p));
            self.bands(pass, None, output, &work.scratch, host);
        } else {
            planes.filter(|&p| !head.writes_plane(p)).for_each(|p| copy_rows(&input, &mut output, p));
            self.bands(pass, Some(input), output, &work.scratch, host);
        }
    }

    fn bands(
        &self,
        pass: &[ActiveStage<'_>],
        input: Option<FrameRef<'_>>,
        output: FrameMut<'_>,
        pool: &Mutex<Vec<(Scratch, Scratch)>>,
        host: &Host<'_>,
    ) {
        let format = output.format;
        let fields = pass.iter().any(|a| a.parts.len() > 1);
        let mut bands = Vec::new();
        let mut rest = output;
        let (_, height) = format.plane_size(0);
        let extra =
            pass.iter().flat_map(|a| &a.parts).flat_map(|p| &p.now).map(|now| now.plan.extra_rows).max();
        let step = band_rows(&format, fields, host.executor.width(), extra.unwrap_or(0) as usize);
        let mut start = step;
        while start < height {
            let (band, below) = rest.split_at_row(start);
            bands.push(Mutex::new(Some(band)));
            rest = below;
            start += step;
        }
        bands.push(Mutex::new(Some(rest)));
        host.executor.execute(bands.len(), &|i| {
            if host.check().is_err() {
                return;
            }
            let Some(mut band) = bands[i].lock().unwrap_or_else(PoisonError::into_inner).take() else {
                return;
            };
            let take = || pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let (mut scratch, mut saved_rows) = take().unwrap_or_default();
            for (k, a) in pass.iter().enumerate() {
                let input = if k == 0 { input } else { None };
                a.render(self, input, &mut band, &mut scratch, &mut saved_rows);
            }
            pool.lock().unwrap_or_else(PoisonError::into_inner).push((scratch, saved_rows));
        });
    }
}

/// Luma rows of a band: whole chroma blocks and field pairs, about [`BAND_BYTES`], and enough bands for every thread;
/// but at least twice the `extra` rows that a band costs.
fn band_rows(format: &Format, fields: bool, threads: usize, extra: usize) -> usize {
    let (_, height) = format.plane_size(0);
    let block = (1 << format.subsampling.1) * if fields { 2 } else { 1 };
    let row_bytes = (format.frame_bytes() / height.max(1)).max(1);
    let rows = (BAND_BYTES / row_bytes).min(height.div_ceil(threads)).max(2 * extra);
    rows.next_multiple_of(block).max(block)
}

impl ActiveStage<'_> {
    fn writes_plane(&self, p: usize) -> bool {
        self.parts.iter().any(|part| part.writes.has(p))
    }

    fn writes_all(&self) -> bool {
        (0..self.layer.output.planes()).all(|p| self.writes_plane(p))
    }

    fn prepare(&mut self, states: &States, host: &Host<'_>) -> Result<(), PrepareError> {
        for (i, part) in self.parts.iter_mut().enumerate() {
            let Some((now, key)) = part.now.as_ref().and_then(|now| Some((now, now.plan.state?))) else {
                continue;
            };
            let filter = &self.layer.filters[i];
            if filter.is_simulation() {
                let simulation = states.simulation(self.number);
                let free = || simulation.lock().unwrap_or_else(PoisonError::into_inner);
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

    fn give_back(&mut self, states: &States) {
        for (i, part) in self.parts.iter_mut().enumerate() {
            if self.layer.filters[i].is_simulation() {
                part.state = None;
                continue;
            }
            let key = part.now.as_ref().and_then(|now| now.plan.state);
            if let (Some(state), Some(key)) = (part.state.take(), key) {
                states.put((self.number, i), part.index, key, state);
            }
        }
    }

    fn render(
        &self,
        chain: &Chain,
        input: Option<FrameRef<'_>>,
        band: &mut FrameMut<'_>,
        scratch: &mut Scratch,
        saved_rows: &mut Scratch,
    ) {
        band.format = self.layer.output;
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
                    for p in (0..self.layer.output.planes()).filter(|&p| self.writes_plane(p)) {
                        if idle || !part.writes.has(p) {
                            copy_rows(&input, &mut output, p);
                        }
                    }
                } else if !idle && !self.opacity.is_full() {
                    saved = save_rows(&output, part.writes, saved_rows);
                }
                if let Some(now) = now {
                    let rows = output.plane(0).rows();
                    let writes = part.writes;
                    let mut band = Band { rows, input, output, writes };
                    self.layer.filters[i].render(now, part.state.as_ref(), &mut band, scratch);
                }
            });
            if !idle && !self.opacity.is_full() {
                picture(band, &mut |mut output| {
                    self.blend(chain, input, &mut output, part.writes, saved_rows, saved)
                });
            }
        }
    }

    fn blend(
        &self,
        chain: &Chain,
        input: Option<FrameRef<'_>>,
        output: &mut FrameMut<'_>,
        writes: PlaneSet,
        saved_rows: &mut Scratch,
        saved: usize,
    ) {
        let depth = output.format.depth;
        let [before] = saved_rows.buffers::<u8, 1>([saved]);
        let mut offset = 0;
        for p in writes.iter().filter(|&p| p < self.layer.output.planes()) {
            for y in output.plane(p).rows() {
                let row = output.plane_mut(p).row_bytes_mut(y);
                let before = match &input {
                    Some(input) => input.plane(p).row_bytes(y),
                    None => &before[offset..offset + row.len()],
                };
                offset += row.len().next_multiple_of(64);
                blend_row(chain.level, depth, row, before, self.opacity);
            }
        }
    }
}

fn copy_rows(input: &FrameRef<'_>, output: &mut FrameMut<'_>, p: usize) {
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
