//! Tests the work that the chain does itself, with tiny filters whose results are easy to state.

use super::*;
use crate::catalog::{Entry, Role};
use crate::filter::testing::Backwards;
use crate::filter::{Band, Filter, Plan, Reach, Render, Spec};
use crate::frame::{Depth, FieldOrder, Format, Frame, FrameTime, PlaneSet, Scratch};
use crate::host::{CurrentThread, Executor, Host, NoCache, PrepareError};
use crate::ratio::Ratio;
use crate::settings::{SettingError, Values};
use crate::simd::Level;
use core::sync::atomic::AtomicBool;

/// Adds 1 + (index mod 50) to every sample; prepared, so that states are used.
struct Add(Format);
/// Sets each sample to that of the row below (the last row stays).
struct Up;

impl Render for Add {
    type Params = u8;
    type State = u8;
    fn at(&self, at: &FrameTime) -> Option<(Plan, u8)> {
        let on_request = self.0.alpha_plane().map_or(PlaneSet::NONE, PlaneSet::one);
        let plan =
            Plan { on_request, state: Some(at.index as u128), ..Plan::in_place(self.0.color_planes()) };
        Some((plan, 1 + at.index.rem_euclid(50) as u8))
    }
    fn prepare(&self, now: &u8, _: u8, _: &Host<'_>) -> Result<u8, PrepareError> {
        Ok(*now)
    }
    fn render(&self, _: &u8, add: &u8, band: &mut Band<'_>, _: &mut Scratch) {
        for p in band.writes.iter().filter(|&p| p < self.0.planes()) {
            for y in band.output.plane(p).rows() {
                band.output.plane_mut(p).row_mut::<u8>(y).iter_mut().for_each(|v| *v = v.wrapping_add(*add));
            }
        }
    }
}

impl Render for Up {
    type Params = ();
    type State = ();
    fn at(&self, _: &FrameTime) -> Option<(Plan, ())> {
        Some((Plan { reach: Reach::Rows(1), ..Plan::in_place(PlaneSet::one(0)) }, ()))
    }
    fn render(&self, (): &(), (): &(), band: &mut Band<'_>, _: &mut Scratch) {
        let input = band.input.unwrap().plane(0);
        for y in band.output.plane(0).rows() {
            let from = (y + 1).min(input.height() - 1);
            band.output.plane_mut(0).row_mut::<u8>(y).copy_from_slice(input.row(from));
        }
    }
}

struct AddSpec;
struct UpSpec;
impl Spec for AddSpec {
    fn wants_16_bits(&self) -> bool {
        false
    }

    fn bind(&self, input: &Format, _: u64, _: Level) -> Result<Box<dyn Filter>, SettingError> {
        Ok(Add(*input).boxed())
    }
}
impl Spec for UpSpec {
    fn wants_16_bits(&self) -> bool {
        false
    }

    fn bind(&self, _: &Format, _: u64, _: Level) -> Result<Box<dyn Filter>, SettingError> {
        Ok(Up.boxed())
    }
}

static ADD: Entry = Entry {
    name: "add",
    label: "Add",
    help: "",
    role: Role::Adjusts,
    settings: &[],
    build: |_| Ok(Box::new(AddSpec)),
};
static UP: Entry = Entry {
    name: "up",
    label: "Up",
    help: "",
    role: Role::Adjusts,
    settings: &[],
    build: |_| Ok(Box::new(UpSpec)),
};

fn step(filter: &'static Entry) -> Step {
    Step::new(filter, Values::new(filter.settings))
}

fn with(filter: &'static Entry, common: &str, value: &str) -> Step {
    let mut step = step(filter);
    step.set(common, value).unwrap();
    step
}

fn picture(format: Format) -> Frame {
    let mut frame = Frame::new(format);
    for p in 0..format.planes() {
        for y in 0..format.plane_size(p).1 {
            let value = |x: usize| x * 3 + y * 7 + p * 50;
            if format.depth.bytes() == 1 {
                let row = frame.row_mut::<u8>(p, y);
                (0..).zip(row).for_each(|(x, v): (usize, _)| *v = value(x) as u8);
            } else {
                let row = frame.row_mut::<u16>(p, y);
                (0..).zip(row).for_each(|(x, v): (usize, _)| *v = value(x) as u16 % 1024);
            }
        }
    }
    frame
}

fn run(steps: &[Step], format: Format, index: i64, executor: &dyn Executor) -> Frame {
    run_on(steps, picture(format), format, index, executor)
}

fn run_on(steps: &[Step], mut frame: Frame, to: Format, index: i64, executor: &dyn Executor) -> Frame {
    let format = *frame.format();
    let options = Options {
        seed: 0,
        level: Level::best(),
        first: 0,
        last: Some(99),
        fields: Fields::of(format.fields),
    };
    let chain = Chain::bind::<ChainError>(steps, format, &options, |_| Ok(to)).unwrap();
    let stop = AtomicBool::new(false);
    let host = Host { executor, cache: &NoCache, stop: &stop };
    let (mut work, states) = (Workspace::default(), States::default());
    let at = FrameTime::of_frame(index, format.rate);
    // an older state, to be advanced
    chain
        .run(&FrameTime::of_frame(3, format.rate), Ratio::ZERO, &mut frame.clone(), &mut work, &states, &host)
        .unwrap();
    chain.run(&at, Ratio::ONE, &mut frame, &mut work, &states, &host).unwrap();
    frame
}

fn yuva() -> Format {
    Format::from_name("yuva420p", 61, 1001).unwrap()
}

/// Compares every sample with `expect(plane, x, y, before)`.
fn check(got: &Frame, format: Format, expect: impl Fn(usize, usize, usize, &Frame) -> u8) {
    let before = picture(format);
    for p in 0..format.planes() {
        let (w, h) = format.plane_size(p);
        for y in 0..h {
            for x in 0..w {
                assert_eq!(got.row::<u8>(p, y)[x], expect(p, x, y, &before), "plane {p} at {x},{y}");
            }
        }
    }
}

#[test]
fn in_place_does_not_change_alpha_unless_planes_name_it() {
    let add = |v: u8| v.wrapping_add(8);
    let got = run(&[step(&ADD)], yuva(), 7, &CurrentThread);
    check(&got, yuva(), |p, x, y, b| if p == 3 { b.row::<u8>(p, y)[x] } else { add(b.row::<u8>(p, y)[x]) });
    let asked = with(&ADD, "planes", "ya");
    let got = run(&[asked], yuva(), 7, &CurrentThread);
    check(
        &got,
        yuva(),
        |p, x, y, b| {
            if p == 3 || p == 0 { add(b.row::<u8>(p, y)[x]) } else { b.row::<u8>(p, y)[x] }
        },
    );
}

#[test]
fn fused_and_whole_passes_do_the_same_in_any_order_of_bands() {
    let steps = [step(&ADD), step(&UP), step(&ADD), step(&ADD), step(&UP)];
    for executor in [&CurrentThread as &dyn Executor, &Backwards(7)] {
        let got = run(&steps, yuva(), 7, executor);
        let (_, h) = yuva().plane_size(0);
        check(&got, yuva(), |p, x, y, b| match p {
            0 => b.row::<u8>(0, (y + 2).min(h - 1))[x].wrapping_add(24),
            3 => b.row::<u8>(3, y)[x],
            _ => b.row::<u8>(p, y)[x].wrapping_add(24),
        });
    }
}

#[test]
fn fields_are_pictures_of_their_own() {
    for (order, first) in [(FieldOrder::TopFirst, 0), (FieldOrder::BottomFirst, 1)] {
        let format = Format { fields: order, ..yuva() };
        let got = run(&[step(&UP), step(&ADD)], format, 10, &Backwards(7));
        check(&got, format, |p, x, y, b| {
            let add = if y % 2 == first { 21 } else { 22 };
            let (_, h) = format.plane_size(p);
            match p {
                0 if y + 2 < h => b.row::<u8>(0, y + 2)[x].wrapping_add(add),
                3 => b.row::<u8>(3, y)[x],
                _ => b.row::<u8>(p, y)[x].wrapping_add(add),
            }
        });
    }
}

#[test]
fn opacity_blends_both_kinds() {
    let got = run(&[with(&ADD, "opacity", "0.5")], yuva(), 7, &CurrentThread);
    let mix = |b: u8, a: u8| (u32::from(b) + u32::from(a)).div_ceil(2) as u8;
    check(&got, yuva(), |p, x, y, b| {
        let v = b.row::<u8>(p, y)[x];
        if p == 3 { v } else { mix(v, v.wrapping_add(8)) }
    });
    let got = run(&[with(&UP, "opacity", "0.5")], yuva(), 7, &CurrentThread);
    check(&got, yuva(), |p, x, y, b| {
        let v = b.row::<u8>(p, y)[x];
        if p == 0 { mix(v, b.row::<u8>(0, (y + 1).min(1000))[x]) } else { v }
    });
}

#[test]
fn enable_limits_to_frames() {
    let limited = with(&ADD, "enable", "5-6");
    assert_eq!(run(std::slice::from_ref(&limited), yuva(), 7, &CurrentThread), picture(yuva()));
    assert_ne!(run(&[limited], yuva(), 5, &CurrentThread), picture(yuva()));
}

#[test]
fn a_stop_ends_the_frame() {
    let format = yuva();
    let options = Options { seed: 0, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
    let chain = Chain::bind::<ChainError>(&[step(&ADD)], format, &options, |f| Ok(*f)).unwrap();
    let stop = AtomicBool::new(true);
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
    let at = FrameTime::of_frame(0, format.rate);
    let got = chain.run(
        &at,
        Ratio::ONE,
        &mut picture(format),
        &mut Workspace::default(),
        &States::default(),
        &host,
    );
    assert_eq!(got, Err(PrepareError::Cancelled));
}

#[test]
fn planes_that_are_not_there_are_refused() {
    let options = Options { seed: 0, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
    let red = with(&ADD, "planes", "r");
    let error = Chain::bind::<ChainError>(&[step(&ADD), red], yuva(), &options, |f| Ok(*f)).unwrap_err();
    assert_eq!(error.to_string(), "filter 2, 'add': planes: yuva420p has no plane 'r'");
}

#[test]
fn static_filters_show_what_frame_0_gets() {
    for (name, given) in [
        ("noise", "strength=40"),
        ("noise", "strength=40:octaves=4:temporal=ar1"),
        ("grain", "strength=40:temporal=0.3:hold=2"),
        ("dither", "bits=9"),
    ] {
        let filter = crate::catalog::find(name).unwrap();
        let of =
            |given: &str| Step { values: Values::parse(filter.settings, given).unwrap(), ..step(filter) };
        let (moving, still) = (of(given), of(&format!("{given}:static=1")));
        for fields in [FieldOrder::Progressive, FieldOrder::BottomFirst] {
            let format = Format { fields, ..Format::from_name("gray10", 64, 48).unwrap() };
            let frame = |step: &Step, n| run(core::slice::from_ref(step), format, n, &CurrentThread);
            let first = frame(&moving, 0);
            assert!(frame(&still, 7) == first && frame(&still, 0) == first, "{name} {given} {fields:?}");
            assert!(frame(&moving, 7) != first);
        }
    }
}

#[test]
fn between_buffers_it_is_the_same_as_in_place() {
    for steps in [&[][..], &[&ADD], &[&UP], &[&ADD, &UP], &[&UP, &ADD, &UP], &[&UP, &UP, &ADD]] {
        let steps: Vec<Step> = steps.iter().map(|filter| step(filter)).collect();
        for fields in [FieldOrder::Progressive, FieldOrder::TopFirst] {
            let format = Format { fields, ..yuva() };
            let want = run(&steps, format, 7, &CurrentThread);
            let options = Options {
                seed: 0,
                level: Level::best(),
                first: 0,
                last: Some(99),
                fields: Fields::of(fields),
            };
            let chain = Chain::bind::<ChainError>(&steps, format, &options, |f| Ok(*f)).unwrap();
            let (source, mut out) = (picture(format), Frame::new(format));
            let stop = AtomicBool::new(false);
            let host = Host { executor: &Backwards(7), cache: &NoCache, stop: &stop };
            let (at, mut work, states) =
                (FrameTime::of_frame(7, format.rate), Workspace::default(), States::default());
            for _ in 0..2 {
                let (input, output) = (source.as_ref(), out.as_mut());
                chain.run_between(&at, Ratio::ONE, input, output, &mut work, &states, &host).unwrap();
                assert!(out == want && source == picture(format), "{} {fields:?}", steps.len());
            }
        }
    }
}

/// Runs tasks in order, and cancels after the first.
struct OneOnly<'a>(&'a AtomicBool);

impl Executor for OneOnly<'_> {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        for i in 0..count {
            task(i);
            self.0.store(true, core::sync::atomic::Ordering::Relaxed);
        }
    }
    fn width(&self) -> usize {
        8
    }
}

#[test]
fn a_stop_is_heard_between_bands() {
    let format = Format::from_name("gray", 61, 1001).unwrap();
    let options = Options { seed: 0, level: Level::best(), first: 0, last: Some(99), fields: Fields::Frame };
    let chain = Chain::bind::<ChainError>(&[step(&ADD)], format, &options, |f| Ok(*f)).unwrap();
    let (stop, mut frame) = (AtomicBool::new(false), picture(format));
    let host = Host { executor: &OneOnly(&stop), cache: &NoCache, stop: &stop };
    let (at, mut work) = (FrameTime::of_frame(7, format.rate), Workspace::default());
    let ended = chain.run(&at, Ratio::ONE, &mut frame, &mut work, &States::default(), &host);
    assert_eq!(ended, Err(PrepareError::Cancelled));
    let before = picture(format);
    assert_ne!(frame.row::<u8>(0, 0), before.row::<u8>(0, 0));
    assert_eq!(frame.row::<u8>(0, 1000), before.row::<u8>(0, 1000));
}

#[test]
fn depths_within_one_pass_give_what_separate_passes_give() {
    let steps = |names: &[(&str, &str)]| -> Vec<Step> {
        let one = |&(name, given): &(&str, &str)| {
            let filter = crate::catalog::find(name).unwrap();
            Step { values: Values::parse(filter.settings, given).unwrap(), ..step(filter) }
        };
        names.iter().map(one).collect()
    };
    let rounded = ("dither", "mode=none");
    let orders = [FieldOrder::Progressive, FieldOrder::BottomFirst];
    for (fields, name) in orders.into_iter().flat_map(|f| [(f, "yuv420p10"), (f, "yuv420p")]) {
        // An odd height, of several bands.
        let shallow = Format { fields, ..Format::from_name(name, 61, 1001).unwrap() };
        let deep = Format { depth: Depth::Bits(16), ..shallow };
        let options =
            Options { seed: 0, level: Level::best(), first: 0, last: None, fields: Fields::of(fields) };
        let stop = AtomicBool::new(false);
        let pass = |names: &[(&str, &str)], to: Format, executor: &dyn Executor, mut frame: Frame| {
            let host = Host { executor, cache: &NoCache, stop: &stop };
            let chain =
                Chain::bind::<ChainError>(&steps(names), *frame.format(), &options, |_| Ok(to)).unwrap();
            let (mut work, states) = (Workspace::default(), States::default());
            let at = FrameTime::of_frame(7, to.rate);
            chain.run(&at, Ratio::ONE, &mut frame, &mut work, &states, &host).unwrap();
            frame
        };
        let fades = [
            ("fade", "amount=0.3"),
            ("fade", "amount=0.2:color=white"),
            ("levels", "gamma=1.2"),
            ("color", "contrast=0.9:saturation=1.2"),
        ];
        let widened = pass(&[], deep, &CurrentThread, picture(shallow));
        let faded = pass(&fades, deep, &CurrentThread, widened);
        let want = pass(&[rounded], shallow, &CurrentThread, faded);
        for executor in [&CurrentThread as &dyn Executor, &Backwards(7)] {
            let got = pass(&[&fades[..], &[rounded]].concat(), shallow, executor, picture(shallow));
            assert!(got == want, "{fields:?} {name}");
        }
    }
}

#[test]
fn a_conversion_of_the_rows_near_a_band_is_that_of_the_whole_picture() {
    use crate::filter::{blur, unsharp};
    for (entry, given) in [(&blur::ENTRY, "sigma=90"), (&unsharp::ENTRY, "size=60")] {
        for order in [FieldOrder::Progressive, FieldOrder::BottomFirst] {
            let format = Format { fields: order, ..Format::from_name("yuv420p", 61, 1001).unwrap() };
            let steps = [Step::new(entry, Values::parse(entry.settings, given).unwrap())];
            let got = run(&steps, format, 5, &Backwards(7));
            // The same chain on a picture that was converted before.
            let deep = Format { depth: Depth::Bits(16), ..format };
            let (before, mut frame) = (picture(format), Frame::new(deep));
            for (p, y) in (0..3).flat_map(|p| (0..format.plane_size(p).1).map(move |y| (p, y))) {
                let row = frame.row_mut::<u16>(p, y).iter_mut().zip(before.row::<u8>(p, y));
                row.for_each(|(to, &v)| *to = u16::from(v) << 8);
            }
            let want = run_on(&steps, frame, format, 5, &CurrentThread);
            assert!(got == want, "{} {order:?}", entry.name);
        }
    }
}
