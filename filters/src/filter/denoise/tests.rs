use super::super::testing::{
    at, bind, compare, compare_premultiplied, format, frame_time, noise, run, try_bind, values,
};
use super::*;
use crate::settings::Value;

/// The settings of the twin.
#[derive(Clone, Copy)]
struct Set {
    strength: f64,
    chroma: f64,
    detail: f64,
    search: isize,
}

/// The mean of similar samples, by the definition, in codes. `value` is a sample of a picture: 0 is the frame itself.
fn twin(
    f: &Format,
    set: Set,
    pictures: usize,
    value: &dyn Fn(usize, usize, isize, isize) -> f64,
    [p, x, y]: [usize; 3],
) -> f64 {
    let (w, h) = f.plane_size(p);
    let group = if f.is_rgb() {
        vec![0, 1, 2]
    } else if f.is_chroma(p) {
        vec![1, 2]
    } else {
        vec![p]
    };
    let sigma = set.strength
        * if f.is_chroma(p) { set.chroma } else { 1.0 }
        * f.depth.bits().map_or(1.0, |_| f64::from(f.codes().1))
        / 255.0;
    let mirror = |i: isize, len: usize| {
        let last = len as isize - 1;
        (if i > last { 2 * last - i } else { i.abs() }).clamp(0, last)
    };
    let value = |n, q, x, y| {
        let v = value(n, q, mirror(x, w), mirror(y, h));
        if v.is_finite() { v } else { 1e18 }
    };
    let (x, y) = (x as isize, y as isize);
    let own = value(0, p, x, y);
    let (mut sum, mut weights) = (0.0, 1.0);
    for n in 0..pictures {
        let r = if n == 0 { set.search } else { 1 };
        let k = (14.0 - 11.0 * set.detail) * if n == 0 { 1.0 } else { 0.3 };
        for (dx, dy) in (-r..=r).flat_map(|dy| (-r..=r).map(move |dx| (dx, dy))) {
            if n == 0 && (dx, dy) == (0, 0) {
                continue;
            }
            let mut distance = 0.0;
            for (i, j) in (-1..=1).flat_map(|j| (-1..=1).map(move |i| (i, j))) {
                for &q in &group {
                    let d = value(0, q, x + i, y + j) - value(n, q, x + i + dx, y + j + dy);
                    distance += d * d / (9.0 * group.len() as f64);
                }
            }
            let variance = sigma * sigma;
            let weight = (1.0 - (distance - 2.0 * variance) / (k * variance)).clamp(0.0, 1.0);
            weights += weight * weight;
            sum += weight * weight * (value(n, p, x + dx, y + dy) - own);
        }
    }
    own + sum / weights
}

const SETS: [Set; 3] = [
    Set { strength: 60.0, chroma: 1.3, detail: 0.0, search: 2 },
    Set { strength: 40.0, chroma: 2.0, detail: 0.5, search: 1 },
    Set { strength: 70.0, chroma: 1.0, detail: 1.0, search: 5 },
];

fn given(set: &Set) -> [(&'static str, String); 4] {
    let Set { strength, chroma, detail, search } = set;
    [
        ("strength", strength.to_string()),
        ("chroma", chroma.to_string()),
        ("detail", detail.to_string()),
        ("search", search.to_string()),
    ]
}

#[test]
fn every_sample_is_as_defined() {
    for set in SETS {
        let text = given(&set);
        compare(&ENTRY, &text.each_ref().map(|(id, v)| (*id, v.as_str())), 5, |frame, p, x, y| {
            let f = frame.format();
            if f.alpha_plane() == Some(p) || !at(frame, p, x, y).is_finite() {
                return None;
            }
            let by = if f.depth == Depth::Float { 1e-5 } else { 0.51 };
            let value = |_, q, x: isize, y: isize| at(frame, q, x as usize, y as usize);
            Some((twin(f, set, 1, &value, [p, x, y]), by))
        });
    }
    // Several blocks and strips.
    let (f, set) = (format("yuv420p10", 391, 141), SETS[0]);
    let (source, text) = (noise(f), given(&set));
    let made = run(
        &*bind(&ENTRY, &text.each_ref().map(|(id, v)| (*id, v.as_str())), &f, Level::best()),
        &source,
        3,
        &[],
    );
    let value = |_, q, x: isize, y: isize| at(&source, q, x as usize, y as usize);
    for (p, x, y) in (0..f.planes()).flat_map(|p| {
        let (w, h) = f.plane_size(p);
        (0..h).flat_map(move |y| (0..w).map(move |x| (p, x, y)))
    }) {
        let want = twin(&f, set, 1, &value, [p, x, y]);
        assert!((at(&made, p, x, y) - want).abs() <= 0.51, "{p} {x} {y}: {want}");
    }
}

/// Frames 0 to 9 of noise, each another part of one picture.
#[derive(Debug)]
struct Clip(Format);

impl Clip {
    fn picture(&self, number: i64) -> Frame {
        let tall = noise(Format { height: self.0.height + 40, ..self.0 });
        let mut frame = Frame::new(self.0);
        for p in 0..self.0.planes() {
            let skip = number as usize * (4 >> self.0.plane_subsampling(p).1);
            for y in 0..self.0.plane_size(p).1 {
                frame
                    .as_mut()
                    .plane_mut(p)
                    .row_bytes_mut(y)
                    .copy_from_slice(tall.as_ref().plane(p).row_bytes(y + skip));
            }
        }
        frame
    }
}

impl SourceFrames for Clip {
    fn format(&self) -> &Format {
        &self.0
    }
    fn frame(&self, number: i64) -> Result<Option<Arc<Frame>>, PrepareError> {
        if number == 8 {
            return Err(PrepareError::Failed("clip.y4m: cut off".into()));
        }
        Ok((0..10).contains(&number).then(|| Arc::new(self.picture(number))))
    }
}

fn with_frames(set: &Set, frames: i64, source: Clip) -> Values {
    let text = given(set);
    let mut values = values(&ENTRY, &text.each_ref().map(|(id, v)| (*id, v.as_str())));
    values.set("frames", Value::Integer(frames)).unwrap();
    values.supply_source(Arc::new(source));
    values
}

#[test]
fn neighbouring_frames_count_as_defined() {
    for (name, width, height) in
        [("yuv420p", 67, 35), ("gbrp", 33, 9), ("gbrapf32", 39, 11), ("gray10", 1, 1)]
    {
        let f = format(name, width, height);
        for (number, frames, near) in
            [(0, 1, vec![1]), (5, 2, vec![3, 4, 6, 7]), (9, 0, vec![]), (3, 1, vec![2, 4])]
        {
            let set = SETS[number as usize % 3];
            let source = Clip(f).picture(number);
            let pictures: Vec<Frame> = near.iter().map(|n| Clip(f).picture(*n)).collect();
            let run_at = |level, cuts: &[usize]| {
                let bound = ENTRY.bind(&with_frames(&set, frames, Clip(f)), &f, 1, level).unwrap();
                run(&*bound, &source, number, cuts)
            };
            let made = run_at(Level::SCALAR, &[]);
            let value = |n: usize, q, x: isize, y: isize| {
                at(if n == 0 { &source } else { &pictures[n - 1] }, q, x as usize, y as usize)
            };
            for p in f.color_planes().iter() {
                let (w, h) = f.plane_size(p);
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    let was = at(&source, p, x, y);
                    let want = twin(&f, set, 1 + near.len(), &value, [p, x, y]);
                    let by = if f.depth == Depth::Float { 1e-5 } else { 0.51 };
                    let is = at(&made, p, x, y);
                    assert!(
                        !was.is_finite() || (is - want).abs() <= by,
                        "{name} {number} {p} {x},{y}: {is} {want}"
                    );
                }
            }
            for &level in Level::available() {
                assert!(run_at(level, &[]) == made && run_at(level, &[4, 8, 16]) == made, "{name} {level}");
            }
        }
    }
}

#[test]
fn neighbours_are_reused_converted_and_reported() {
    let (deep, f) = (format("yuv420p16", 20, 12), format("yuv420p", 20, 12));
    let bound = ENTRY.bind(&with_frames(&SETS[0], 2, Clip(f)), &deep, 1, Level::best()).unwrap();
    let stop = core::sync::atomic::AtomicBool::new(false);
    let host = Host { executor: &crate::host::CurrentThread, cache: &crate::host::NoCache, stop: &stop };
    let state = |number, near| bound.prepare(&bound.at(&frame_time(number)).unwrap(), near, &host);
    let frames = |state: &super::super::State| state.downcast_ref::<Vec<(i64, Frame)>>().unwrap().clone();
    let fresh = frames(&state(4, None).unwrap());
    assert_eq!(fresh.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [2, 3, 5, 6]);
    assert!(frames(&state(4, Some(state(5, None).unwrap())).unwrap()) == fresh);
    assert_eq!(*fresh[0].1.format(), deep);
    assert_eq!(at(&fresh[0].1, 0, 3, 1), 256.0 * at(&Clip(f).picture(2), 0, 3, 1));
    let error = state(7, None).err().unwrap();
    assert_eq!(error, PrepareError::Failed("clip.y4m: cut off".into()));
    let error = try_bind(&ENTRY, &[("frames", "1")], &f, Level::best()).err().unwrap();
    assert!(error.to_string().contains("frames=0"), "{error}");
}

#[test]
fn fields_see_fields() {
    let f = format("yuv420p", 40, 24);
    for parity in [crate::frame::Parity::Top, crate::frame::Parity::Bottom] {
        let field = f.field(parity);
        let source = Clip(f).picture(2);
        let alone = |frame: &Frame| {
            let mut picture = Frame::new(Format { height: 12, ..f });
            for p in 0..3 {
                for y in 0..picture.format().plane_size(p).1 {
                    let row = frame.as_ref().field(parity).plane(p).row_bytes(y);
                    picture.as_mut().plane_mut(p).row_bytes_mut(y).copy_from_slice(row);
                }
            }
            picture
        };
        let halves = [1, 2, 3].map(|n| alone(&Clip(f).picture(n)));
        let bound = ENTRY.bind(&with_frames(&SETS[0], 1, Clip(f)), &field, 1, Level::best()).unwrap();
        let host_stop = core::sync::atomic::AtomicBool::new(false);
        let host =
            Host { executor: &crate::host::CurrentThread, cache: &crate::host::NoCache, stop: &host_stop };
        let now = bound.at(&frame_time(5)).unwrap();
        let state = bound.prepare(&now, None, &host).unwrap();
        let mut out = source.clone();
        let output = out.as_mut().field(parity);
        let input = Some(source.as_ref().field(parity));
        let mut band = Band { rows: 0..12, input, output, writes: now.plan.writes };
        bound.render(&now, Some(&state), &mut band, &mut Scratch::default());
        let made = alone(&out);
        let value = |n: usize, q, x: isize, y: isize| at(&halves[[1, 0, 2][n]], q, x as usize, y as usize);
        for (p, x, y) in (0..3).flat_map(|p| (0..6).flat_map(move |y| (0..20).map(move |x| (p, x, y)))) {
            let want = twin(&Format { height: 12, ..f }, SETS[0], 3, &value, [p, x, y]);
            assert!((at(&made, p, x, y) - want).abs() <= 0.51, "{parity:?} {p} {x} {y}");
        }
    }
}

#[test]
fn premultiplied_colour_is_that_of_the_straight_picture() {
    // Constant straight colours, multiplied by an alpha of any shape, do not change; an alpha of 0 stays untouched.
    compare_premultiplied(&ENTRY, &[("strength", "0.001"), ("detail", "1")], 0.51, |_, p, values, _| {
        Some(values[p])
    });
    let f = Format { alpha: Alpha::Premultiplied, ..format("gbrapf32", 24, 16) };
    let mut source = Frame::new(f);
    let colour = |p: usize, x: usize, y: usize| 0.2 * (p + 1) as f32 + ((x * 7 + y * 3) % 5) as f32 * 0.01;
    let alpha = |x: usize, y: usize| [0.0, 0.25, 1.0][(x / 4 + y / 4) % 3];
    for (p, x, y) in (0..4).flat_map(|p| (0..16).flat_map(move |y| (0..24).map(move |x| (p, x, y)))) {
        source.row_mut::<f32>(p, y)[x] = if p == 3 { alpha(x, y) } else { colour(p, x, y) * alpha(x, y) };
    }
    let set = Set { strength: 6.0, chroma: 1.0, detail: 0.0, search: 2 };
    let made = run(&*bind(&ENTRY, &[("strength", "6"), ("detail", "0")], &f, Level::best()), &source, 0, &[]);
    let value = |_, q: usize, x: isize, y: isize| {
        let (x, y) = (x as usize, y as usize);
        if alpha(x, y) > 0.0 { colour(q, x, y).into() } else { f64::NAN }
    };
    let mut changed = 0;
    for (p, x, y) in (0..3).flat_map(|p| (0..16).flat_map(move |y| (0..24).map(move |x| (p, x, y)))) {
        let (is, was) = (at(&made, p, x, y), at(&source, p, x, y));
        if alpha(x, y) == 0.0 {
            assert_eq!(is, was, "{p} {x} {y}");
            continue;
        }
        let want = twin(&f, set, 1, &value, [p, x, y]) * f64::from(alpha(x, y));
        changed += usize::from((is - was).abs() > 1e-4);
        assert!((is - want).abs() <= 1e-5, "{p} {x} {y}: {was} {is} {want}");
    }
    assert!(changed > 100, "{changed}");
}

#[test]
fn noise_goes_and_edges_stay() {
    let f = format("gray16", 96, 64);
    let mut source = Frame::new(f);
    // Sums of twelve random numbers have a standard deviation of 1: here of 4 codes of 8 bits.
    let mut state = 7u64;
    let mut random = || {
        let mut sum = -6.0;
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            sum += (state >> 40) as f64 / 16_777_216.0;
        }
        sum
    };
    for y in 0..64 {
        let row = source.row_mut::<u16>(0, y);
        (0..96).for_each(|x| row[x] = ((if x < 48 { 80.0 } else { 130.0 } + 4.0 * random()) * 256.0) as u16);
    }
    let made = run(&*bind(&ENTRY, &[], &f, Level::best()), &source, 0, &[]);
    let deviation = |frame: &Frame, columns: Range<usize>, level: f64| {
        let all = (0..64).flat_map(|y| columns.clone().map(move |x| (x, y)));
        let sum: f64 = all.map(|(x, y)| (at(frame, 0, x, y) / 256.0 - level).powi(2)).sum();
        (sum / 64.0 / columns.len() as f64).sqrt()
    };
    assert!((deviation(&source, 0..40, 80.0) - 4.0).abs() < 0.3);
    assert!(deviation(&made, 0..40, 80.0) < 1.3, "{}", deviation(&made, 0..40, 80.0));
    // The columns beside the edge are not drawn to the other side.
    assert!(deviation(&made, 46..48, 80.0) < 2.0 && deviation(&made, 48..50, 130.0) < 2.0);
}
