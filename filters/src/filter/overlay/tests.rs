use super::super::testing::{at, format, noise, zero_span};
use super::*;
use crate::frame::{Family, SecondInput};
use crate::host::{CurrentThread, NoCache};
use crate::settings::{Value, Values};
use core::sync::atomic::AtomicBool;

/// Pictures whose samples all are their number over 100, ten a second.
struct Numbered(Format, i64);

impl SecondInput for Numbered {
    fn format(&self) -> Result<Format, String> {
        Ok(self.0)
    }
    fn end(&self, _: Ratio) -> Option<Ratio> {
        Ratio::new(self.1, 10)
    }
    fn place(&self, time: Ratio, _: Ratio) -> i64 {
        (time * Ratio::whole(10)).floor().clamp(0, self.1 - 1)
    }
    fn picture(&self, place: i64) -> Result<Arc<Frame>, String> {
        let mut frame = Frame::new(self.0);
        for y in 0..self.0.height as usize {
            frame.row_mut::<f32>(0, y).fill(place as f32 / 100.0);
        }
        Ok(Arc::new(frame))
    }
}

fn bound(clip: Arc<dyn SecondInput>, given: &str, format: &Format) -> Box<dyn Filter> {
    let mut values = Values::parse(ENTRY.settings, given).unwrap();
    values.set("file", Value::File(FileAsset::named("clip").read(clip, 1))).unwrap();
    ENTRY.bind(&values, format, 1, Level::best()).unwrap()
}

/// The frame at a time; `None` if the filter does nothing then.
fn shown(filter: &dyn Filter, source: &Frame, time: Ratio) -> Option<Frame> {
    let now = filter.at(&FrameTime::of_time(0, time))?;
    let stop = AtomicBool::new(false);
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
    let state = filter.prepare(&now, None, &host).unwrap();
    let mut out = source.clone();
    let rows = 0..source.format().plane_size(0).1;
    let (input, output) = (Some(source.as_ref()), out.as_mut());
    let mut band = Band { rows, input, output, writes: now.plan.writes };
    filter.render(&now, Some(&state), &mut band, &mut Scratch::default());
    Some(out)
}

/// Nominal values from 0 to 1, and of alpha from 0 to 1 with both ends.
fn picture(format: Format, seed: u64) -> Frame {
    let mut frame = Frame::new(format);
    let mut n = seed;
    for p in 0..format.planes() {
        for y in 0..format.plane_size(p).1 {
            for v in frame.row_mut::<f32>(p, y) {
                n = crate::noise::seed::mix64(n);
                let part = (n >> 40) as f32 / (1 << 24) as f32;
                *v = if p == 3 { (part * 1.5 - 0.25).clamp(0.0, 1.0) } else { part };
            }
        }
    }
    if format.alpha == Alpha::Premultiplied {
        for y in 0..format.height as usize {
            let alpha = frame.row::<f32>(3, y).to_vec();
            (0..3).for_each(|p| frame.row_mut::<f32>(p, y).iter_mut().zip(&alpha).for_each(|(v, a)| *v *= a));
        }
    }
    frame
}

/// The definition: products of colour and alpha, in f64.
fn twin(blend: &str, [p, below]: [f64; 2], [c, a]: [f64; 2]) -> [f64; 2] {
    match blend {
        "over" => [p * (1.0 - a) + c, below + a - below * a],
        "add" => [p + c, (below + a).min(1.0)],
        "screen" => [p + c - p * c, below + a - below * a],
        _ => [p * (1.0 - a) + p * c, below],
    }
}

#[test]
fn every_blend_is_as_defined_with_every_kind_of_alpha() {
    let rgb = Format::new(37, 9, Family::Rgb, Depth::Float, (0, 0));
    for (own, other) in [Alpha::None, Alpha::Straight, Alpha::Premultiplied]
        .into_iter()
        .flat_map(|own| [Alpha::None, Alpha::Straight, Alpha::Premultiplied].map(|other| (own, other)))
    {
        let (source, clip) =
            (picture(Format { alpha: own, ..rgb }, 1), picture(Format { alpha: other, ..rgb }, 2));
        // Colour, and alpha, by which it is multiplied.
        let product = |frame: &Frame, p: usize, x: usize, y: usize| {
            let (v, kind) = (at(frame, p, x, y), frame.format().alpha);
            let a = if kind == Alpha::None { 1.0 } else { at(frame, 3, x, y) };
            [if kind == Alpha::Straight { v * a } else { v }, a]
        };
        for blend in ["over", "add", "screen", "multiply"] {
            let filter = bound(Arc::new(Arc::new(clip.clone())), &format!("blend={blend}"), source.format());
            let made = shown(&*filter, &source, Ratio::ZERO).unwrap();
            for (x, y) in (0..9).flat_map(|y| (0..37).map(move |x| (x, y))) {
                for p in 0..3 {
                    let [v, alpha] = twin(blend, product(&source, p, x, y), product(&clip, p, x, y));
                    let want = if own == Alpha::Straight && alpha > 0.0 { v / alpha } else { v };
                    let free = own == Alpha::Straight && alpha == 0.0;
                    let got = at(&made, p, x, y);
                    assert!(
                        free || (got - want).abs() < 2e-6,
                        "{own:?} {other:?} {blend} {p} {x},{y}: {got} {want}"
                    );
                    if own != Alpha::None {
                        assert!((at(&made, 3, x, y) - alpha).abs() < 1e-6, "{own:?} {other:?} {blend} alpha");
                    }
                }
            }
        }
    }
}

#[test]
fn nothing_changes_beside_the_clip_and_opaque_colours_arrive_in_every_format() {
    for (name, w, h) in [
        ("yuv420p", 68, 36),
        ("yuv422p10", 70, 22),
        ("gray16", 64, 33),
        ("gbrap", 66, 30),
        ("yuvj444p", 65, 31),
    ] {
        let format = format(name, w, h);
        let source = noise(format);
        let grey = Format::new(w, h, Family::Gray, Depth::Float, (0, 0));
        let clip: Arc<dyn SecondInput> = Arc::new(Numbered(grey, 50));
        // A quarter of the width and height, in the middle; time 4 s shows number 40.
        let made = shown(&*bound(clip, "size=0.25", &format), &source, Ratio::whole(4)).unwrap();
        for p in 0..format.planes() {
            let (pw, ph) = format.plane_size(p);
            let (zero, span) = zero_span(&format, p);
            let want = if format.alpha_plane() == Some(p) {
                1.0
            } else if format.is_chroma(p) {
                0.0
            } else {
                0.4
            };
            let got = (at(&made, p, pw / 2, ph / 2) - zero) / span;
            assert!((got - want).abs() <= 1.0 / span, "{name} {p}: {got}");
            for y in 0..ph {
                for x in (0..pw).filter(|x| *x < pw / 4 || *x >= pw - pw / 4) {
                    assert_eq!(at(&made, p, x, y), at(&source, p, x, y), "{name} {p} {x},{y}");
                }
            }
        }
    }
}

#[test]
fn the_clip_follows_its_own_time() {
    let format = Format::new(8, 4, Family::Gray, Depth::Float, (0, 0));
    let source = Frame::new(format);
    let number = |given: &str, tenths: i64| {
        let filter = bound(Arc::new(Numbered(format, 20)), given, &format);
        let made = shown(&*filter, &source, Ratio::new(tenths, 10).unwrap());
        made.map(|made| (at(&made, 0, 3, 2) * 100.0).round() as i64)
    };
    for (given, tenths, want) in [
        ("start=0", 7, Some(7)),
        ("start=0.5", 7, Some(2)),
        ("start=0.5", 4, None),
        ("start=-0.5", 7, Some(12)),
        ("skip=1:speed=0.5", 7, Some(13)),
        ("end=hold", 34, Some(19)),
        ("end=loop", 34, Some(14)),
        ("end=stop", 19, Some(19)),
        ("end=stop", 20, None),
    ] {
        assert_eq!(number(given, tenths), want, "{given} at {tenths} tenths");
    }
}

#[test]
fn a_clip_is_fitted_by_its_displayed_shape() {
    // A square clip over pixels that are twice as wide as high: 8 of 32 columns and all 16 rows.
    let format =
        Format { aspect: Ratio::whole(2), ..Format::new(32, 16, Family::Gray, Depth::Float, (0, 0)) };
    let clip = Format::new(10, 10, Family::Gray, Depth::Float, (0, 0));
    let made =
        shown(&*bound(Arc::new(Numbered(clip, 90)), "skip=8", &format), &Frame::new(format), Ratio::ZERO);
    let made = made.unwrap();
    for (x, y) in (0..16).flat_map(|y| (0..32).map(move |x| (x, y))) {
        let (got, inside) = (at(&made, 0, x, y), (12..20).contains(&x));
        // The kernel reaches beyond the edge.
        if !(10..22).contains(&x) || (14..18).contains(&x) {
            assert!((got - if inside { 0.8 } else { 0.0 }).abs() < 0.01, "{x},{y}: {got}");
        }
    }
}

#[test]
fn light_beyond_white_never_darkens_and_needs_no_coverage() {
    let rgb = Format { alpha: Alpha::Premultiplied, ..Format::new(3, 1, Family::Rgb, Depth::Float, (0, 0)) };
    let filled = |v: [f32; 3], a: f32| {
        let mut frame = Frame::new(rgb);
        (0..3).for_each(|p| frame.row_mut::<f32>(p, 0).copy_from_slice(&v));
        frame.row_mut::<f32>(3, 0).fill(a);
        frame
    };
    let (source, clip) = (filled([10.0, 0.5, 10.0], 1.0), filled([10.0, 10.0, 0.5], 1.0));
    let filter = bound(Arc::new(Arc::new(clip)), "blend=screen", &rgb);
    let made = shown(&*filter, &source, Ratio::ZERO).unwrap();
    assert_eq!(made.row::<f32>(0, 0), [10.0; 3]);
    for light in ["gamma", "linear"] {
        let flame = Arc::new(filled([3.0, 0.25, 0.0], 0.0));
        let filter = bound(
            Arc::new(flame),
            &format!("light={light}"),
            &Format { transfer: crate::frame::Transfer::LINEAR, ..rgb },
        );
        let made = shown(&*filter, &filled([0.0; 3], 1.0), Ratio::ZERO).unwrap();
        assert_eq!(made.row::<f32>(1, 0), [3.0, 0.25, 0.0], "{light}");
    }
}
