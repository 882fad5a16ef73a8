//! Masks against their definitions in f64.

use super::*;
use crate::catalog::{FILTERS, find};
use crate::filter::testing::{Backwards, at, noise as picture_of, zero_span};
use crate::frame::{Alpha, Depth, Family, FieldOrder, Format, Frame, FrameTime, SecondInput, Transfer};
use crate::host::{Host, NoCache, lock};
use crate::pixel::transfer::TransferFunction;
use crate::ratio::Ratio;
use crate::settings::common::{COMMON, MASK, WHERE};
use crate::settings::{FileAsset, FileKind, Kind, Setting, Value, Values};
use crate::simd::Level;
use core::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// The negative, under a mask.
fn step(common: &[(&str, &str)], clip: Option<&Frame>) -> Step {
    let filter = find("invert").unwrap();
    let mut step = Step::new(filter, Values::new(filter.settings));
    common.iter().for_each(|(id, value)| step.set(id, value).unwrap());
    for id in [MASK, WHERE] {
        if let (Some(Value::File(file)), Some(clip)) = (step.common.given(id), clip) {
            let clip: Arc<dyn SecondInput> = Arc::new(Arc::new(clip.clone()));
            let file = file.clone().read(clip, 1);
            step.set_value(id, Value::File(file)).unwrap();
        }
    }
    step
}

/// Frame 0, in place; from another buffer it must be the same.
fn try_render(step: &Step, source: &Frame) -> Result<Frame, String> {
    let format = *source.format();
    let fields = Fields::of(format.fields);
    let options = Options { seed: 0, level: Level::best(), first: 0, last: None, fields };
    let steps = core::slice::from_ref(step);
    let chain = Chain::bind::<ChainError>(steps, format, &options, |f| Ok(*f)).map_err(|e| e.to_string())?;
    let stop = AtomicBool::new(false);
    let host = Host { executor: &Backwards(7), cache: &NoCache, stop: &stop };
    let (mut work, states, at) =
        (Workspace::default(), States::default(), FrameTime::of_frame(0, Ratio::ONE));
    let (mut made, mut between) = (source.clone(), Frame::new(format));
    chain.run(&at, Ratio::ONE, &mut made, &mut work, &states, &host).map_err(|e| e.to_string())?;
    let to = between.as_mut();
    chain.run_between(&at, Ratio::ONE, source.as_ref(), to, &mut work, &states, &host).unwrap();
    assert!(made == between, "{} {:?}: another result between buffers", format.name(), step.common);
    Ok(made)
}

fn render(step: &Step, source: &Frame) -> Frame {
    try_render(step, source).unwrap()
}

/// The share of the negative in each sample, from what the step made of a picture.
fn shares(made: &Frame, source: &Frame, p: usize, x: usize, y: usize) -> Option<f64> {
    let (zero, span) = zero_span(source.format(), p);
    let before = (at(source, p, x, y) - zero) / span;
    let after = if source.format().is_chroma(p) { -before } else { 1.0 - before };
    // The negative of codes beyond white would lie below 0.
    let after = ((zero + span * after).clamp(0.0, source.format().codes().1.into()) - zero) / span;
    let share = ((at(made, p, x, y) - zero) / span - before) / (after - before);
    ((after - before).abs() > 0.05).then_some(share)
}

/// Checks the share of every sample against the mean of `weight` over the luma samples that it covers.
fn check(name: &str, made: &Frame, source: &Frame, tolerance: f64, weight: impl Fn(usize, usize) -> f64) {
    let format = source.format();
    let field = format.fields == FieldOrder::TopFirst;
    for p in (0..format.planes()).filter(|p| format.alpha_plane() != Some(*p)) {
        let ((w, h), (sx, sy)) = (format.plane_size(p), format.plane_subsampling(p));
        for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
            let Some(got) = shares(made, source, p, x, y) else { continue };
            // In fields, the rows that a sample covers are two apart.
            let row = |k: usize| match field {
                true => (((y / 2) << sy) + k) * 2 + y % 2,
                false => (y << sy) + k,
            };
            let rows = (0..1usize << sy).map(row).filter(|y| *y < format.height as usize);
            let all: Vec<f64> = rows
                .flat_map(|y| (x << sx..(x + 1) << sx).map(move |x| (x, y)))
                .filter(|(x, _)| *x < format.width as usize)
                .map(|(x, y)| weight(x, y))
                .collect();
            let want = all.iter().sum::<f64>() / all.len() as f64;
            assert!(
                (got - want).abs() <= tolerance,
                "{name} {} plane {p} {x},{y}: {got}, not {want}",
                format.name()
            );
        }
    }
}

fn formats() -> Vec<Format> {
    let named = |name: &str| Format::from_name(name, 67, 35).unwrap();
    let fields = FieldOrder::TopFirst;
    vec![named("gray16"), named("yuv420p16"), named("gbrp16"), Format { fields, ..named("yuv420p16") }]
}

#[test]
fn drawn_masks_cover_what_geometry_says() {
    // Samples 4/3 as wide as high: of the second, 0.9 limits the width; the third has room for 9.
    for (aspect, format) in ["", "0.9", "9"].iter().flat_map(|a| formats().into_iter().map(move |f| (*a, f)))
    {
        let shape: f64 = if aspect.is_empty() { 1.0 } else { 4.0 / 3.0 };
        let samples = if aspect.is_empty() { Ratio::ZERO } else { Ratio::new(4, 3).unwrap() };
        let source = picture_of(Format { aspect: samples, ..format });
        let mut place = vec![
            ("mask_at", "0.4,0.55"),
            ("mask_width", "0.5"),
            ("mask_height", "0.6"),
            ("mask_round", "0.8"),
        ];
        if !aspect.is_empty() {
            place.push(("mask_max_aspect", aspect));
        }
        // In rows.
        let high = 0.3 * 35.0;
        let wide = (0.25 * 67.0 * shape).min(aspect.parse().map_or(f64::MAX, |a: f64| a * high));
        let radius = 0.8 * high.min(wide);
        for (form, tolerance) in [("rectangle", 1e-3), ("ellipse", 0.06)] {
            // The part of 20 by 20 points of a sample that lie inside.
            let inside = |x: usize, y: usize| {
                let point = |i: usize| (i as f64 + 0.5) / 20.0;
                let is_in = |(i, j): (usize, usize)| {
                    let u = (x as f64 + point(i) - 0.4 * 67.0) * shape / wide;
                    let v = (y as f64 + point(j) - 0.55 * 35.0) / high;
                    // From the circle in a corner.
                    let corner = [(u.abs() - 1.0) * wide + radius, (v.abs() - 1.0) * high + radius];
                    let [a, b] = corner.map(|d| d.max(0.0));
                    if form == "ellipse" { u * u + v * v <= 1.0 } else { a * a + b * b <= radius * radius }
                };
                (0..400).filter(|k| is_in((k % 20, k / 20))).count() as f64 / 400.0
            };
            // Points measure the area of a rectangle in steps, and its round corners count on square samples.
            let steps = if aspect.is_empty() { 0.06 } else { 0.15 };
            let tolerance = tolerance + if form == "rectangle" { steps } else { 0.0 };
            for inverted in ["0", "1"] {
                let step = step(&[&place[..], &[("mask", form), ("mask_invert", inverted)]].concat(), None);
                let made = render(&step, &source);
                let flip = |w: f64| if inverted == "1" { 1.0 - w } else { w };
                check(form, &made, &source, tolerance, |x, y| flip(inside(x, y)));
            }
        }
    }
}

#[test]
fn keys_measure_the_picture() {
    for format in formats() {
        let source = picture_of(format);
        let luma = |x: usize, y: usize| {
            let value = |p: usize| (at(&source, p, x, y) - zero_span(&format, p).0) / zero_span(&format, p).1;
            // Planes of R, G and B are in the order G, B, R.
            if format.family == Family::Rgb {
                0.7152 * value(0) + 0.0722 * value(1) + 0.2126 * value(2)
            } else {
                value(0)
            }
        };
        let ramp = |v: f64| (1.0 - (0.3 - v).max(v - 0.6).max(0.0) / 0.2).clamp(0.0, 1.0);
        let key = [("mask", "luma"), ("mask_low", "0.3"), ("mask_high", "0.6"), ("mask_soft", "0.2")];
        check("luma", &render(&step(&key, None), &source), &source, 2e-3, |x, y| ramp(luma(x, y)));
    }
    let format = Format { alpha: Alpha::Straight, ..Format::from_name("gbrap16", 67, 35).unwrap() };
    let source = picture_of(format);
    let key = [("mask", "alpha"), ("mask_low", "0.4"), ("mask_high", "1"), ("mask_soft", "0.3")];
    let alpha = |x: usize, y: usize| at(&source, 3, x, y) / 65535.0;
    check("alpha", &render(&step(&key, None), &source), &source, 2e-3, |x, y| {
        (1.0 - (0.4 - alpha(x, y)).max(0.0) / 0.3).clamp(0.0, 1.0)
    });
    let format = Format::from_name("yuv444p16", 67, 35).unwrap();
    let source = picture_of(format);
    let key = [("mask", "color"), ("mask_color", "#ff0000"), ("mask_near", "0.3"), ("mask_soft", "0.2")];
    // U and V of red by BT.601, which pictures of this size have: -0.168736 and 0.5.
    let distance = |x: usize, y: usize| {
        let [u, v] = [1, 2].map(|p| (at(&source, p, x, y) - 32768.0) / 57344.0);
        ((u + 0.168_736) * (u + 0.168_736) + (v - 0.5) * (v - 0.5)).sqrt()
    };
    check("color", &render(&step(&key, None), &source), &source, 3e-3, |x, y| {
        (1.0 - (distance(x, y) - 0.3).max(0.0) / 0.2).clamp(0.0, 1.0)
    });
}

#[test]
fn a_picture_is_a_mask_by_its_luma_times_its_alpha() {
    for format in formats() {
        let source = picture_of(format);
        let alpha = Format { alpha: Alpha::Straight, ..Format::from_name("gbrap16", 67, 35).unwrap() };
        let clip = picture_of(alpha);
        let weight = |x: usize, y: usize| {
            let value = |p: usize| at(&clip, p, x, y) / 65535.0;
            (0.7152 * value(0) + 0.0722 * value(1) + 0.2126 * value(2)) * value(3)
        };
        let made = render(&step(&[("mask", "clip.png")], Some(&clip)), &source);
        check("clip", &made, &source, 1e-3, weight);
    }
}

#[test]
fn where_the_picture_is_that_of_the_clip_nothing_changes() {
    for name in ["yuv420p", "gray10", "gbrp12"] {
        let format = Format::from_name(name, 120, 60).unwrap();
        let clean = picture_of(format);
        let mut source = clean.clone();
        for p in 0..format.planes() {
            let (w, h) = format.plane_size(p);
            for y in 0..h {
                let half = format.codes().1.div_ceil(2);
                match format.depth.bytes() {
                    1 => source.row_mut::<u8>(p, y)[w / 2..].iter_mut().for_each(|v| *v ^= half as u8),
                    _ => source.row_mut::<u16>(p, y)[w / 2..].iter_mut().for_each(|v| *v ^= half),
                }
            }
        }
        let made = render(&step(&[("where", "clean.mp4")], Some(&clean)), &source);
        for p in 0..format.planes() {
            let (w, h) = format.plane_size(p);
            for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                if x < w / 2 - 2 {
                    assert_eq!(at(&made, p, x, y), at(&source, p, x, y), "{name} plane {p} {x},{y}");
                } else if x >= w / 2 + 2
                    && let Some(share) = shares(&made, &source, p, x, y)
                {
                    assert!((share - 1.0).abs() < 0.06, "{name} plane {p} {x},{y}: {share}");
                }
            }
        }
    }
    let format = Format::from_name("gray", 40, 30).unwrap();
    let other = picture_of(Format { width: 41, ..format });
    let error = try_render(&step(&[("where", "clean.mp4")], Some(&other)), &picture_of(format));
    assert!(error.unwrap_err().contains("41 x 30"));
    let both = step(&[("where", "clean.mp4"), ("mask", "luma")], None);
    assert!(try_render(&both, &picture_of(format)).unwrap_err().contains("only one of"));
    let none = step(&[("mask", "luma"), ("mask_low", "0.8"), ("mask_high", "0.2")], None);
    assert!(try_render(&none, &picture_of(format)).unwrap_err().contains("0.8 is above mask_high=0.2"));
}

#[test]
fn a_change_in_the_shadows_counts_alike_in_light_and_in_display_values() {
    // Display codes 10 and 24, as values of both kinds.
    let code = |light: f64| (TransferFunction::Srgb.code(light) * 255.0 + 0.5) as u8;
    let drawn = |f: Format, light: &dyn Fn(usize) -> f64| {
        let mut frame = Frame::new(f);
        for (p, y) in (0..f.planes()).flat_map(|p| (0..40).map(move |y| (p, y))) {
            for x in 0..120 {
                // Half of it is covered, where there is alpha.
                let v = if p == 3 { 0.5 } else { light(x) * if f.has_alpha() { 0.5 } else { 1.0 } };
                match f.depth {
                    Depth::Float => frame.row_mut::<f32>(p, y)[x] = v as f32,
                    _ => frame.row_mut::<u8>(p, y)[x] = code(v),
                }
            }
        }
        frame
    };
    let linear =
        |name: &str| Format { transfer: Transfer::LINEAR, ..Format::from_name(name, 120, 40).unwrap() };
    let multiplied = Format { alpha: Alpha::Premultiplied, ..linear("gbrapf32") };
    for f in [linear("gbrpf32"), multiplied, Format::from_name("gbrp", 120, 40).unwrap()] {
        let by = if f.has_alpha() { 2.0 } else { 1.0 };
        let clean = drawn(f, &|_| 0.003 * by);
        let source = drawn(f, &|x| by * if x < 60 { 0.003 } else { 0.009 });
        let made = render(&step(&[("where", "clean.exr")], Some(&clean)), &source);
        for x in (0..120).filter(|x| !(57..63).contains(x)) {
            let (was, is) = (at(&source, 0, x, 20), at(&made, 0, x, 20));
            let (_, span) = zero_span(&f, 0);
            let whole = if f.has_alpha() { 0.5 } else { span };
            let share = (is - was) / (whole - 2.0 * was);
            let want = if x < 60 { 0.0 } else { 1.0 };
            assert!((share - want).abs() < 0.01, "{} {x}: {share}", f.name());
        }
    }
}

/// A second input of 10 pictures a second that notes which are read.
struct Noting(Frame, Mutex<Vec<i64>>);

impl SecondInput for Noting {
    fn format(&self) -> Result<Format, String> {
        Ok(*self.0.format())
    }
    fn end(&self, _: Ratio) -> Option<Ratio> {
        Some(Ratio::ONE)
    }
    fn place(&self, time: Ratio, _: Ratio) -> i64 {
        (time * Ratio::whole(10)).floor().clamp(0, 9)
    }
    fn picture(&self, place: i64) -> Result<Arc<Frame>, String> {
        lock(&self.1).push(place);
        Ok(Arc::new(self.0.clone()))
    }
}

#[test]
fn hosts_are_told_which_pictures_are_read() {
    let format = Format::new(16, 12, Family::Yuv, Depth::Bits(8), (1, 1));
    let stop = AtomicBool::new(false);
    let host = Host { executor: &Backwards(7), cache: &NoCache, stop: &stop };
    for filter in FILTERS {
        // The common settings once.
        let common = COMMON.iter().filter(|_| filter.name == "invert");
        let takes_clips = |s: &&Setting| matches!(s.kind, Kind::File(FileKind::Clip | FileKind::Mask));
        for (setting, fields) in filter
            .settings
            .iter()
            .chain(common)
            .filter(takes_clips)
            .flat_map(|s| [FieldOrder::Progressive, FieldOrder::TopFirst].map(|fields| (s, fields)))
        {
            let format = Format { fields, ..format };
            let source = picture_of(format);
            let clip = Arc::new(Noting(picture_of(format), Mutex::default()));
            let mut step = Step::new(filter, Values::new(filter.settings));
            let file = FileAsset::named("clip").read(Arc::clone(&clip) as Arc<dyn SecondInput>, 1);
            step.set_value(setting.id, Value::File(file)).unwrap();
            step.set("enable", "1-").unwrap();
            let options =
                Options { seed: 0, level: Level::best(), first: 0, last: None, fields: Fields::of(fields) };
            let chain = Chain::bind::<ChainError>(&[step], format, &options, |f| Ok(*f)).unwrap();
            let (mut work, states) = (Workspace::default(), States::default());
            for n in [0, 7, 3, 40] {
                let at = FrameTime::of_frame(n, Ratio::whole(24));
                let duration = Ratio::new(1, 24).unwrap();
                let told = chain.second_pictures(&at, duration).into_iter();
                let mut told: Vec<i64> = told.map(|(_, place)| place).collect();
                told.dedup();
                chain.run(&at, duration, &mut source.clone(), &mut work, &states, &host).unwrap();
                let mut read = core::mem::take(&mut *lock(&clip.1));
                read.dedup();
                assert_eq!(told, read, "{} {} {fields:?}, frame {n}", filter.name, setting.id);
                assert_eq!(read.len(), usize::from(n > 0));
            }
        }
    }
}
