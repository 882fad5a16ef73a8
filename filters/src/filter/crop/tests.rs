use super::*;
use crate::filter::testing::{at, format, noise, run_to, values, zero_span};
use crate::frame::{Frame, Parity};
use crate::recipe::Recipe;

fn spec(chain: &str) -> Result<Box<dyn Spec>, SettingError> {
    let step = chain.parse::<Recipe>().unwrap().steps.remove(0);
    let mut values = step.values;
    values.resolve(0, Some(9)).unwrap();
    (step.filter.build)(&values)
}

/// The filter's result for a picture, in one and in several bands.
fn run(chain: &str, source: &Frame) -> Frame {
    let spec = spec(chain).unwrap();
    let filter = spec.bind(source.format(), 0, Level::best()).unwrap();
    let out = || Frame::new(spec.output_format(source.format()));
    let made = run_to(&*filter, source, out(), 0, &[]);
    assert!(run_to(&*filter, source, out(), 0, &[4, 8]) == made, "{chain}");
    made
}

#[test]
fn samples_are_copied_and_the_border_has_the_colour() {
    let colour = [1.0, 0.5, 0.25, 0.5];
    for (name, fields) in [
        ("yuv420p", false),
        ("yuv420p", true),
        ("yuva444p10", false),
        ("gbrap", false),
        ("gbrapf32", true),
        ("gray16", true),
        ("yuv411p", false),
    ] {
        let order = if fields { FieldOrder::TopFirst } else { FieldOrder::Progressive };
        let frame = Format { fields: order, ..format(name, 33, 26) };
        let pictures = [frame, frame.field(Parity::Top), frame.field(Parity::Bottom)];
        for from in pictures.into_iter().take(if fields { 3 } else { 1 }) {
            let source = noise(from);
            for (chain, left, top) in [
                ("crop=left=8:right=3:top=4:bottom=5", -8, -4),
                ("pad=left=8:right=3:top=4:bottom=5:color='1,0.5,0.25,0.5'", 8, 4),
                ("pad=width=64:height=40:color='1,0.5,0.25,0.5'", -1, -1),
            ] {
                let made = run(chain, &source);
                let to = made.format();
                let [across, down] = blocks(&from);
                let left = if left == -1 { 31 / 2 / across * across } else { left };
                let top = if top == -1 { 14 / 2 / down * down } else { top };
                for p in 0..to.planes() {
                    let (first, step) = to.frame_sites(p);
                    let ((width, height), (zero, span)) = (from.plane_size(p), zero_span(to, p));
                    let values = nominal(to, weights(to).unwrap(), colour);
                    let border = zero + values[p] * span;
                    for (x, y) in
                        (0..to.plane_size(p).1).flat_map(|y| (0..to.plane_size(p).0).map(move |x| (x, y)))
                    {
                        // The same place of the frame.
                        let (own, _) = from.frame_sites(p);
                        let place = [
                            (first[0] + x as f64 * step[0] - left as f64 - own[0]) / step[0],
                            (first[1] + y as f64 * step[1] - top as f64 - own[1]) / step[1],
                        ];
                        let inside = place[0] >= 0.0 && place[1] >= 0.0;
                        let [i, k] = place.map(|v| v as usize);
                        assert!(place.iter().all(|v| v.fract() == 0.0), "{place:?}");
                        let is = at(&made, p, x, y);
                        if inside && i < width && k < height {
                            let want = at(&source, p, i, k);
                            assert!(is == want || is.is_nan() && want.is_nan(), "{name} {chain} {p} {x},{y}");
                        } else {
                            assert!(
                                (is - border).abs() < 0.501,
                                "{name} {chain} {p} {x},{y}: {is}, not {border}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_colour_is_multiplied_where_all_is() {
    let from = Format { alpha: Alpha::Premultiplied, ..format("gbrap16", 4, 4) };
    let made = run("pad=right=4:color='1,0,0.5,0.5'", &noise(from));
    let [g, b, r, a] = [0, 1, 2, 3].map(|p| at(&made, p, 6, 2) / 65535.0);
    assert!((r - 0.5).abs() < 1e-4 && g == 0.0 && (b - 0.25).abs() < 1e-4 && (a - 0.5).abs() < 1e-4);
}

#[test]
fn errors_say_what_would_be_right() {
    let error = |chain: &str, f: Format| {
        let refused = spec(chain).and_then(|s| s.bind(&f, 0, Level::SCALAR).map(|_| ()));
        let SettingError { setting, problem } = refused.unwrap_err();
        format!("{setting}: {problem}")
    };
    let hd = format("yuv420p", 64, 32);
    let interlaced = Format { fields: FieldOrder::BottomFirst, ..hd };
    assert!(error("crop=left=3", hd).starts_with("left: 3") && error("crop=left=3", hd).ends_with("2 or 4"));
    assert!(error("crop=top=6", interlaced).ends_with("give 4 or 8"));
    assert!(error("crop=top=6", hd.field(Parity::Top)).ends_with("give 4 or 8"));
    assert!(error("crop=left=40:right=24", hd).contains("removes 64 of 64 columns"));
    assert!(error("pad=left=1", format("yuv411p", 64, 32)).ends_with("give 0 or 4"));
    assert!(error("pad=width=60", hd).starts_with("width: the picture has 64"));
    assert!(error("pad=width=70:left=2", hd).starts_with("width: "));
    assert!(error("pad=bottom=65530", hd).contains("65562"));
    assert!(spec("crop=top=6").unwrap().bind(&hd, 0, Level::SCALAR).is_ok());
    // Refused settings leave the format as it is, so that their error is the first.
    assert_eq!(spec("crop=left=64").unwrap().output_format(&hd), hd);
    assert!(values(&CROP, &[]).check().is_ok());
}

#[test]
fn a_border_without_a_colour_is_transparent_or_black() {
    let made = run("pad=right=4", &noise(format("gbrap", 4, 4)));
    assert!((0..4).all(|p| at(&made, p, 6, 2) == 0.0));
    let made = run("pad=right=4:color=black", &noise(format("gbrap", 4, 4)));
    assert_eq!([0, 1, 2, 3].map(|p| at(&made, p, 6, 2)), [0.0, 0.0, 0.0, 255.0]);
    let made = run("pad=right=4", &noise(format("yuv444p", 4, 4)));
    assert_eq!([0, 1, 2].map(|p| at(&made, p, 6, 2)), [16.0, 128.0, 128.0]);
}
