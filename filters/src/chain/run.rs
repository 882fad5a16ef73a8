//! Runs one frame through a chain.
//!
//! Stages that read no other rows than those they write are fused: each band of rows goes through all of them while it
//! is in the cache, and what lies between two depths or formats is never stored as a picture. A stage that reads beyond
//! its own row needs its whole input first, so it starts a new pass over the picture; but if it reads only a few rows
//! beyond and follows a conversion, the conversion makes those rows for each band anew.

use super::active::{ActiveStage, BandScratch, Part, copy_rows};
use super::bound::{Chain, Fields};
use super::states::States;
use crate::filter::Reach;
use crate::frame::{Depth, Format, Frame, FrameMut, FrameRef, FrameTime, Parity, PlaneSet, SecondInput};
use crate::host::{Host, PrepareError, lock};
use crate::pixel::tone::CodeMap;
use crate::ratio::Ratio;
use std::sync::Mutex;

/// Size of a band, all planes of all pictures that a pass writes together, in bytes: a part of one core's cache.
const BAND_BYTES: usize = 256 << 10;

/// The cost of separate stages from which looking up their common result is faster, in passes of one multiplication: for
/// codes of 8 bits, and for those of more.
const LOOK_UP_COST: [u32; 2] = [3, 5];

/// The most bits of codes whose results are looked up: a table of each plane stays in the first-level cache.
const LOOK_UP_BITS: u8 = 12;

/// The buffers that a worker lends to [`Chain::run`], which reuses them for each frame.
#[derive(Debug, Default)]
pub struct Workspace {
    spare: Option<Frame>,
    between: Option<Frame>,
    scratch: Mutex<Vec<BandScratch>>,
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
            pass[0].read_picture((at, duration), frame.as_ref(), states, host)?;
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
            pass[0].read_picture((at, duration), from, states, host)?;
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
            let Some(opacity) = stage.opacity(at) else { continue };
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

    /// The pictures of second inputs that [`run`](Chain::run) reads for the frame at a time, for a host that has to fetch
    /// them before: each input and the place.
    pub fn second_pictures(&self, at: &FrameTime, duration: Ratio) -> Vec<(&dyn SecondInput, i64)> {
        let mut all = Vec::new();
        for stage in self.stages.iter().filter(|stage| stage.opacity(at).is_some()) {
            let pictures = stage.filters.len();
            let fields = stage.filters.iter().enumerate();
            all.extend(fields.filter_map(|(i, f)| f.second(&self.field_time(at, duration, pictures, i).1)));
            let masks = stage.mask.iter();
            all.extend(masks.flat_map(|mask| mask.chain.second_pictures(at, duration)));
        }
        all
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
                    match input.format.depth.bytes() {
                        1 => map.row_u8(self.level, to.row_mut(y), from.row(y)),
                        _ => map.row_u16(to.row_mut(y), from.row(y)),
                    }
                }
            }
        }
        for stage in &group.stages[group.fused..] {
            stage.render(self, input.take(), output, scratch);
        }
    }
}

impl<'a> Group<'a> {
    /// Finds leading stages that widen codes of few bits and then change each by itself.
    fn new(stages: &'a [ActiveStage<'a>], from: Option<Format>) -> Group<'a> {
        let output = stages[0].stage.output;
        let mut group = Group { stages, is_first: true, fused: 0, maps: Vec::new() };
        let bits = from.filter(|from| from.planes() == output.planes()).map(|from| from.depth);
        let (Some(Depth::Bits(bits @ 8..=LOOK_UP_BITS)), Depth::Bits(16)) = (bits, output.depth) else {
            return group;
        };
        let mut costs = vec![0; output.planes()];
        let mut words = vec![(0..1 << bits).collect::<Vec<u16>>(); output.planes()];
        for stage in stages {
            let mut next = words.clone();
            let parts: Option<Vec<u32>> =
                (0..).zip(&mut next).map(|(p, codes)| stage.map_codes(p, codes)).collect();
            let Some(parts) = parts else { break };
            costs.iter_mut().zip(parts).for_each(|(cost, part)| *cost += part);
            words = next;
            group.fused += 1;
        }
        let costly = costs.iter().any(|&cost| cost >= LOOK_UP_COST[usize::from(bits > 8)]);
        if costly || (bits == 8 && group.fused > 1) {
            let legal = |p: usize| output.legal(p).unwrap_or((0, u16::MAX));
            group.maps.extend((0..).zip(words).map(|(p, words)| CodeMap::new(words, legal(p))));
        }
        // One line from codes to words takes the place of two passes.
        if !costly && !group.maps.iter().all(CodeMap::is_fast) || group.maps.is_empty() {
            group.fused = 0;
        }
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
