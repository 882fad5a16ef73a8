//! Runs one frame through a chain.
//!
//! Stages that read no other rows than those they write are fused: each band of rows goes through all of them while it
//! is in the cache, and what lies between two depths or formats is never stored as a picture. A stage that reads beyond
//! its own row needs its whole input first, so it starts a new pass over the picture; but if it reads only a few rows
//! beyond and follows a conversion, the conversion makes those rows for each band anew.

use super::bind::{Chain, Fields, Stage};
use super::states::States;
use crate::filter::{Band, FrameParams, Reach, State};
use crate::frame::{
    Depth, Format, Frame, FrameMut, FrameRef, FrameTime, Parity, PlaneRef, PlaneSet, Scratch,
};
use crate::host::{Host, PrepareError, lock, wait};
use crate::pixel::blend::{Opacity, blend_row, blend_row_by};
use crate::pixel::tone::CodeMap;
use crate::ratio::Ratio;
use std::sync::{Arc, Mutex};

/// Size of a band, all planes of all pictures that a pass writes together, in bytes: a part of one core's cache.
const BAND_BYTES: usize = 256 << 10;

/// The largest distance in luma rows at which a stage reads the result of a conversion that is made for each band.
const NEAR_ROWS: usize = 16;

/// The cost of separate stages from which looking up their common result is faster, in passes of one multiplication.
const LOOK_UP_COST: u32 = 3;

/// The buffers that a worker lends to [`Chain::run`], which reuses them for each frame.
#[derive(Debug, Default)]
pub struct Workspace {
    spare: Option<Frame>,
    between: Option<Frame>,
    scratch: Mutex<Vec<BandScratch>>,
}

/// The memory for the work on one band.
#[derive(Debug, Default)]
struct BandScratch {
    filter: Scratch,
    /// Rows as they were before a stage that is blended.
    saved_rows: Scratch,
    /// Pictures between two stages.
    between: Scratch,
}

/// The work on one picture (the frame, or one field) of a stage in this frame.
struct Part {
    parity: Option<Parity>,
    index: i64,
    /// The filter's parameters; `None` if it does nothing.
    now: Option<FrameParams>,
    /// The planes that the filter writes.
    writes: PlaneSet,
    state: Option<State>,
}

/// Stages that run on a band one after the other, of which all but the first work in place.
struct Group<'a> {
    stages: &'a [ActiveStage<'a>],
    /// Whether it is the first of its pass.
    is_first: bool,
    /// The number of leading stages whose results are looked up, and the results of each plane.
    fused: usize,
    maps: Vec<CodeMap>,
}

/// The position of a pass within a frame.
struct PassPosition {
    first: bool,
    last: bool,
}

struct ActiveStage<'a> {
    number: usize,
    stage: &'a Stage,
    parts: Vec<Part>,
    opacity: Opacity,
    /// Weights of the result at each sample of a stage with a mask, when they are known.
    weights: Option<Arc<Frame>>,
    /// Whether it can work in place, and whether it can then also read its samples from another picture.
    local: bool,
    reads_samples: bool,
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
        self.passes(at, duration, states, host, |pass, _| {
            pass[0].key((at, duration), frame.as_ref(), states, host)?;
            self.pass(pass, frame, work, host);
            Ok(())
        })
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
            let from = if position.first { input } else { between.as_ref() };
            pass[0].key((at, duration), from, states, host)?;
            match (position.first, position.last) {
                (true, true) => self.pass_between(pass, input, output.reborrow(), work, host),
                (true, false) => {
                    between.reset(output_format(pass));
                    self.pass_between(pass, input, between.as_mut(), work, host);
                }
                (false, true) => self.pass_between(pass, between.as_ref(), output.reborrow(), work, host),
                (false, false) => self.pass(pass, &mut between, work, host),
            }
            Ok(())
        });
        work.between = Some(between);
        if result.is_ok() && !done {
            (0..self.input.planes()).for_each(|p| copy_rows(&input, &mut output, p));
        }
        result
    }

    /// Calls `run` for each pass over the picture, after its states are prepared. A pass consists of one stage of any
    /// kind and the stages after it that read only their own rows. All of them work in place if the first does. Before the
    /// first, there may be conversions.
    fn passes(
        &self,
        at: &FrameTime,
        duration: Ratio,
        states: &States,
        host: &Host<'_>,
        mut run: impl FnMut(&mut [ActiveStage<'_>], PassPosition) -> Result<(), PrepareError>,
    ) -> Result<(), PrepareError> {
        let mut active = self.active(at, duration);
        // If no filter is active, skip the conversion to the working depth and back.
        if self.input == *self.output() && !active.iter().any(|a| a.stage.from_recipe) {
            return Ok(());
        }
        let mut rest = &mut active[..];
        let mut first = true;
        host.check()?;
        while !rest.is_empty() {
            // Planes that the first stage does not write are copied only after it, so no stage can join its pass.
            let alone = !rest[0].local && !rest[0].writes_all();
            let in_place = rest[0].works_in_place();
            let joins = |a: &&ActiveStage<'_>| {
                !a.mask_reads_picture() && (a.local || (!in_place && a.reads_own_rows()))
            };
            let converts = |a: &&ActiveStage<'_>| !a.stage.from_recipe && !a.local && a.reads_own_rows();
            let mut len = 1;
            if !alone {
                let before = rest.iter().take_while(converts).count();
                let near = |a: &ActiveStage<'_>| a.reads_near_rows() && !a.mask_reads_picture();
                len += usize::from(before > 0 && rest.get(before).is_some_and(near)) * before;
                len += rest[len..].iter().take_while(joins).count();
            }
            let (pass, later) = rest.split_at_mut(len);
            for a in pass.iter_mut() {
                a.prepare((at, duration), states, host)?;
            }
            run(pass, PassPosition { first, last: later.is_empty() })?;
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
        for (number, stage) in self.stages.iter().enumerate() {
            if stage.enable.as_ref().is_some_and(|e| !e.contains(at.index, at.time)) {
                continue;
            }
            let opacity = Opacity::new(stage.opacity.at(at));
            if opacity.is_none() {
                continue;
            }
            let mut parts = Vec::new();
            for (i, filter) in stage.filters.iter().enumerate() {
                let (parity, mut at) = self.field_time(at, duration, stage.filters.len(), i);
                if stage.is_static {
                    at.index = at.index.rem_euclid(stage.filters.len() as i64);
                }
                let now = filter.at(&at);
                let writes = match (&now, stage.planes) {
                    (None, _) => PlaneSet::NONE,
                    (Some(now), Some(wanted)) => wanted & (now.plan.writes | now.plan.on_request),
                    (Some(now), None) => now.plan.writes,
                };
                parts.push(Part { parity, index: at.index, now, writes, state: None });
            }
            if parts.iter().any(|p| !p.writes.is_empty()) {
                let all = |reaches: &[Reach]| {
                    parts.iter().flat_map(|p| &p.now).all(|now| reaches.contains(&now.plan.reach))
                };
                let (local, reads_samples) = (all(&[Reach::InPlace, Reach::Sample]), all(&[Reach::Sample]));
                list.push(ActiveStage { number, stage, parts, opacity, weights: None, local, reads_samples });
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
        if pass[0].works_in_place() {
            let input = None;
            self.bands(pass, input, frame.as_mut(), scratch, host);
            return;
        }
        let head = &pass[0];
        let output = spare.get_or_insert_with(|| Frame::new(output_format(pass)));
        output.reset(output_format(pass));
        self.bands(pass, Some(frame.as_ref()), output.as_mut(), scratch, host);
        // A stage that can work in place has got copies of all planes.
        for p in (0..head.stage.output.planes()).filter(|&p| !head.local && !head.writes_plane(p)) {
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
        if !head.local {
            let planes = (0..head.stage.output.planes()).filter(|&p| !head.writes_plane(p));
            planes.for_each(|p| copy_rows(&input, &mut output, p));
        }
        self.bands(pass, Some(input), output, &work.scratch, host);
    }

    /// Renders a pass band by band. If its first stage works only in place, the input, if any, is copied first.
    fn bands(
        &self,
        pass: &[ActiveStage<'_>],
        input: Option<FrameRef<'_>>,
        output: FrameMut<'_>,
        pool: &Mutex<Vec<BandScratch>>,
        host: &Host<'_>,
    ) {
        let format = output.format;
        let mut groups: Vec<Group<'_>> = Vec::new();
        for stages in pass.chunk_by(|_, next| next.local) {
            let from = groups.last().map(|before| output_format(before.stages));
            let from = from.or(input.map(|input| input.format));
            groups.push(Group { is_first: groups.is_empty(), ..Group::new(stages, from) });
        }
        let (mut bands, mut rest) = (Vec::new(), output);
        let (_, height) = format.plane_size(0);
        let extra =
            pass.iter().flat_map(|a| &a.parts).flat_map(|p| &p.now).map(|now| now.plan.extra_rows).max();
        let step = band_rows(pass, host.executor.width(), extra.unwrap_or(0) as usize);
        let mut start = step;
        // The last band keeps a few rows more: alone they may have no chroma in the bottom field.
        while start + 4 < height {
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
            let Some(mut band) = lock(&bands[i]).take() else { return };
            let mut scratch = lock(pool).pop().unwrap_or_default();
            self.render_band(&groups, input, &mut band, &mut scratch);
            lock(pool).push(scratch);
        });
    }

    /// Renders a band of rows through groups of stages.
    fn render_band(
        &self,
        groups: &[Group<'_>],
        input: Option<FrameRef<'_>>,
        output: &mut FrameMut<'_>,
        scratch: &mut BandScratch,
    ) {
        let [group, later @ ..] = groups else { return };
        if later.is_empty() {
            return self.render_group(group, input, output, scratch);
        }
        let mut memory = core::mem::take(&mut scratch.between);
        let (rows, format) = (output.plane(0).rows(), output_format(group.stages));
        // Whole chroma blocks and field pairs, as bands are.
        let reach = later.iter().map(|group| group.stages[0].near_rows()).sum::<usize>().next_multiple_of(8);
        let rows = rows.start.saturating_sub(reach)..(rows.end + reach).min(format.plane_size(0).1);
        let (mut picture, rest) = memory.picture(format, &rows);
        self.render_group(group, input, &mut picture, scratch);
        scratch.between = core::mem::take(rest);
        self.render_band(later, Some(picture.as_ref()), output, scratch);
        *rest = core::mem::take(&mut scratch.between);
        scratch.between = memory;
    }

    fn render_group(
        &self,
        group: &Group<'_>,
        mut input: Option<FrameRef<'_>>,
        output: &mut FrameMut<'_>,
        scratch: &mut BandScratch,
    ) {
        let head = &group.stages[0];
        if head.local
            && let Some(from) = input
        {
            let copied = |p: &usize| !(head.reads_samples && head.writes_plane(*p));
            (0..from.format.planes()).filter(copied).for_each(|p| copy_rows(&from, output, p));
            input = input.filter(|_| head.reads_samples);
        } else if let Some(from) = input.filter(|_| !group.is_first) {
            let copied = |p: &usize| !head.writes_plane(*p);
            (0..from.format.planes()).filter(copied).for_each(|p| copy_rows(&from, output, p));
        }
        if let Some(input) = input.take_if(|_| group.fused > 0) {
            for (p, map) in group.maps.iter().enumerate() {
                let (from, to) = (input.plane(p), output.plane_mut(p));
                for y in to.rows() {
                    map.row(self.level, to.row_mut(y), from.row(y));
                }
            }
        }
        for stage in &group.stages[group.fused..] {
            stage.render(self, input.take(), output, scratch);
        }
    }
}

impl<'a> Group<'a> {
    /// Finds leading stages that widen 8-bit codes and then change each by itself.
    fn new(stages: &'a [ActiveStage<'a>], from: Option<Format>) -> Group<'a> {
        let output = stages[0].stage.output;
        let mut group = Group { stages, is_first: true, fused: 0, maps: Vec::new() };
        let widens = |from: Format| from.depth == Depth::Bits(8) && from.planes() == output.planes();
        if output.depth != Depth::Bits(16) || !from.is_some_and(widens) {
            return group;
        }
        let mut costs = vec![0; output.planes()];
        let mut words = vec![core::array::from_fn::<u16, 256, _>(|code| code as u16); output.planes()];
        for stage in stages {
            let mut next = words.clone();
            let parts: Option<Vec<u32>> =
                (0..).zip(&mut next).map(|(p, codes)| stage.map_codes(p, codes)).collect();
            let Some(parts) = parts else { break };
            costs.iter_mut().zip(parts).for_each(|(cost, part)| *cost += part);
            words = next;
            group.fused += 1;
        }
        if costs.iter().all(|&cost| cost < LOOK_UP_COST) {
            return Group { fused: 0, ..group };
        }
        group.maps.extend(words.into_iter().map(CodeMap::new));
        group
    }
}

/// The format of the picture after a pass.
fn output_format(pass: &[ActiveStage<'_>]) -> Format {
    pass[pass.len() - 1].stage.output
}

/// Luma rows of a band: whole chroma blocks and field pairs, about [`BAND_BYTES`], and enough bands for every thread;
/// but at least twice, better eight times, the `extra` rows that a band costs, and twice the rows that a conversion makes
/// anew.
fn band_rows(pass: &[ActiveStage<'_>], threads: usize, extra: usize) -> usize {
    let (_, height) = pass[0].stage.output.plane_size(0);
    let written = pass.chunk_by(|_, next| next.local).map(|stages| output_format(stages).frame_bytes());
    let row_bytes = (written.sum::<usize>() / height.max(1)).max(1);
    let fields = pass.iter().any(|a| a.parts.len() > 1);
    let subsampling = pass.iter().map(|a| a.stage.output.subsampling.1).max();
    let block = (1 << subsampling.unwrap_or(0)) * if fields { 2 } else { 1 };
    // More extra rows cost more than a larger cache, as long as every thread has several bands.
    let few_extra = (8 * extra).min(height.div_ceil(4 * threads));
    let near = pass[1..].iter().map(ActiveStage::near_rows).max().unwrap_or(0);
    let rows =
        (BAND_BYTES / row_bytes).min(height.div_ceil(threads)).max(2 * extra).max(few_extra).max(4 * near);
    rows.next_multiple_of(block).max(block)
}

impl ActiveStage<'_> {
    fn mask_reads_picture(&self) -> bool {
        self.stage.mask.as_ref().is_some_and(|mask| mask.reads_picture)
    }

    /// Whether it needs no picture beside its output.
    fn works_in_place(&self) -> bool {
        self.local && !self.mask_reads_picture()
    }

    /// Whether its result replaces its input.
    fn replaces(&self) -> bool {
        self.opacity.is_full() && self.stage.mask.is_none()
    }

    /// Computes the weights of a mask that is made from the picture before the stage.
    fn key(
        &mut self,
        at: (&FrameTime, Ratio),
        picture: FrameRef<'_>,
        states: &States,
        host: &Host<'_>,
    ) -> Result<(), PrepareError> {
        if let Some(mask) = self.stage.mask.as_ref().filter(|mask| mask.reads_picture) {
            self.weights = Some(mask.weights(at, Some(picture), &states.mask(self.number), host)?);
        }
        Ok(())
    }

    fn writes_plane(&self, p: usize) -> bool {
        self.parts.iter().any(|part| part.writes.has(p))
    }

    fn writes_all(&self) -> bool {
        (0..self.stage.output.planes()).all(|p| self.writes_plane(p))
    }

    /// The distance in luma rows of the frame at which it reads its input.
    fn near_rows(&self) -> usize {
        let reach = |part: &Part| match part.now.as_ref().map(|now| now.plan.reach) {
            Some(Reach::Rows(rows)) => rows as usize * self.parts.len(),
            None | Some(Reach::InPlace | Reach::Sample) => 0,
            Some(Reach::Whole) => usize::MAX,
        };
        self.parts.iter().map(reach).max().unwrap_or(0)
    }

    fn reads_near_rows(&self) -> bool {
        !self.local && self.near_rows() <= NEAR_ROWS
    }

    /// Whether it writes every plane from the same rows of its input.
    fn reads_own_rows(&self) -> bool {
        let own = |part: &Part| part.now.as_ref().is_some_and(|now| now.plan.reach == Reach::Rows(0));
        self.parts.iter().all(own) && self.writes_all()
    }

    /// See [`Render::map_codes`](crate::filter::Render::map_codes).
    fn map_codes(&self, p: usize, codes: &mut [u16]) -> Option<u32> {
        let ([part], true) = (&self.parts[..], self.replaces()) else { return None };
        let now = part.now.as_ref()?;
        if !part.writes.has(p) {
            return Some(0);
        }
        self.stage.filters[0].map_codes(now, part.state.as_ref(), p, codes)
    }

    fn prepare(
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

    fn give_back(&mut self, states: &States) {
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

    fn render(
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

    fn blend(
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
