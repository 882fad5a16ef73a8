//! Frames for measuring filters: more than any cache can hold.

use grainfield_filters::catalog::find;
use grainfield_filters::filter::{Band, Filter, FrameParams, Reach, State};
use grainfield_filters::frame::{Format, FrameMut, FrameRef, FrameTime, PlaneMut, PlaneRef, Scratch};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::settings::Values;
use grainfield_filters::simd::Level;
use std::sync::atomic::AtomicBool;

/// Frames of one format, used in turn.
pub(crate) struct Frames {
    /// The format of all frames.
    pub format: Format,
    bytes: Vec<u8>,
    frame: usize,
    next: usize,
}

impl Frames {
    /// `mib` MiB of frames (`GRAINFIELD_BENCH_MIB` overrides it), with slow ramps, so that every brightness
    /// occurs.
    pub(crate) fn new(name: &str, width: u32, height: u32, mib: usize) -> Frames {
        let format = Format::from_name(name, width, height).expect("a format of the bench's list");
        let mib = std::env::var("GRAINFIELD_BENCH_MIB").ok().and_then(|s| s.parse().ok()).unwrap_or(mib);
        let frame = format.frame_bytes().next_multiple_of(64);
        let count = ((mib << 20) / frame).max(4);
        let mut bytes = vec![0; count * frame];
        match format.depth.bytes() {
            1 => bytes.iter_mut().enumerate().for_each(|(i, b)| *b = (16 + (i / 8) % 220) as u8),
            2 => {
                let codes: &mut [u16] = bytemuck::cast_slice_mut(&mut bytes);
                codes.iter_mut().enumerate().for_each(|(i, b)| *b = (64 + (i / 2) % 876) as u16);
            }
            _ => {
                let codes: &mut [f32] = bytemuck::cast_slice_mut(&mut bytes);
                codes.iter_mut().enumerate().for_each(|(i, b)| *b = (i % 1000) as f32 / 1000.0);
            }
        }
        Frames { format, bytes, frame, next: 0 }
    }

    /// A frame, and another that was not used recently.
    fn pair(&mut self) -> (&mut [u8], &mut [u8]) {
        let count = self.bytes.len() / self.frame;
        self.next = (self.next + 1) % count;
        let other = (self.next + count / 2) % count;
        let (low, high) = (self.next.min(other), self.next.max(other));
        let (a, b) = self.bytes.split_at_mut(high * self.frame);
        let (low_frame, high_frame) = (&mut a[low * self.frame..][..self.frame], &mut b[..self.frame]);
        if self.next == low { (low_frame, high_frame) } else { (high_frame, low_frame) }
    }

    /// Copies one frame to the other.
    pub(crate) fn copy(&mut self) {
        let (from, to) = self.pair();
        to.copy_from_slice(from);
    }

    /// Renders one of them like the chain, from the other one if the filter has a reach.
    pub(crate) fn render(
        &mut self,
        filter: &dyn Filter,
        number: i64,
        state: &mut Kept,
        scratch: &mut Scratch,
    ) {
        let format = self.format;
        let (to, from) = self.pair();
        let at = FrameTime::of_frame(number, Ratio::whole(24));
        let now = filter.at(&at).expect("an idle filter is not measured");
        let plan = now.plan;
        state.prepare(filter, &now);
        let mut rest = &mut *to;
        let planes = [0, 1, 2].map(|p| {
            let (width, height) = format.plane_size(p);
            let stride = width * format.depth.bytes();
            let (plane, after) = core::mem::take(&mut rest).split_at_mut(stride * height);
            rest = after;
            PlaneMut::new(plane, stride, stride, height)
        });
        let mut rest = &*from;
        let sources = [0, 1, 2].map(|p| {
            let (width, height) = format.plane_size(p);
            let stride = width * format.depth.bytes();
            let (plane, after) = rest.split_at(stride * height);
            rest = after;
            PlaneRef::new(plane, stride, stride, height)
        });
        let [y, u, v] = planes;
        let mut output = FrameMut::new(format, [y, u, v, PlaneMut::default()]);
        let [y, u, v] = sources;
        let input =
            (plan.reach != Reach::InPlace).then(|| FrameRef::new(format, [y, u, v, PlaneRef::default()]));
        // Bands of the chain's size.
        let height = format.plane_size(0).1;
        let rows = ((256 << 10) / (format.frame_bytes() / height)).next_multiple_of(2);
        for start in (0..height).step_by(rows) {
            let end = (start + rows).min(height);
            let (output_band, below) = output.split_at_row(end);
            output = below;
            let mut band = Band { rows: start..end, input, output: output_band, writes: plan.writes };
            filter.render(&now, state.0.as_ref().map(|s| &s.1), &mut band, scratch);
        }
    }
}

/// The state of the frame before, kept as in the chain.
#[derive(Default)]
pub(crate) struct Kept(Option<(u128, State)>);

impl Kept {
    fn prepare(&mut self, filter: &dyn Filter, now: &FrameParams) {
        let Some(key) = now.plan.state else { return };
        if self.0.as_ref().is_some_and(|s| s.0 == key) {
            return;
        }
        let stop = AtomicBool::new(false);
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
        let state = filter.prepare(now, None, &host).expect("nothing stops it");
        self.0 = Some((key, state));
    }
}

/// A filter of the catalog with some settings.
pub(crate) fn bind(format: &Format, name: &str, given: &[(&str, &str)], level: Level) -> Box<dyn Filter> {
    let entry = find(name).expect("the catalog has it");
    let mut values = Values::new(entry.settings);
    for (id, text) in given {
        let setting = entry.settings.iter().find(|s| s.id == *id).expect("a setting");
        values.set(id, setting.parse(text).expect("a value")).expect("a legal value");
    }
    entry.bind(&values, format, 1, level).expect("settings that go together, and a format that they take")
}
