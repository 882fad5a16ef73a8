use super::super::testing::{at, format, noise, zero_span};
use super::*;
use crate::frame::{Alpha, Frame, Parity, PlaneSet};
use crate::host::{CurrentThread, NoCache};
use crate::ratio::Ratio;
use core::sync::atomic::AtomicBool;

fn bound(given: &str, format: &Format, level: Level) -> Box<dyn Filter> {
    let values = Values::parse(ENTRY.settings, given).unwrap();
    ENTRY.bind(&values, format, 1, level).unwrap()
}

fn written(given: &str, source: &Frame, frame: i64, level: Level) -> Frame {
    let mut out = source.clone();
    let filter = bound(given, source.format(), level);
    let Some(now) = filter.at(&FrameTime::of_frame(frame, Ratio::whole(24))) else { return out };
    let stop = AtomicBool::new(false);
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
    let state = filter.prepare(&now, None, &host).unwrap();
    let rows = 0..source.format().plane_size(0).1;
    let mut band = Band { rows, input: None, output: out.as_mut(), writes: PlaneSet::ALL };
    filter.render(&now, Some(&state), &mut band, &mut Scratch::default());
    out
}

/// Full of black with a stroke in white: the letter alone, without an edge.
#[test]
fn text_covers_what_its_outline_covers_in_every_format() {
    let (w, h) = (96, 64);
    let given = "text=H:size=0.9:position=0.5,0.5:anchor=center:edge=0";
    // The coverage of every luma sample.
    let look = |source: &Frame| written(given, source, 0, Level::best());
    let grey = Format::from_name("grayf32", w, h).unwrap();
    let cover = look(&Frame::new(grey));
    let inside = |x: usize, y: usize| at(&cover, 0, x, y);
    let full = (0..w as usize * h as usize).filter(|i| inside(i % 96, i / 96) == 1.0).count();
    let none = (0..w as usize * h as usize).filter(|i| inside(i % 96, i / 96) == 0.0).count();
    assert!(full > 500 && none > 3000, "{full} {none}");
    for name in ["yuv420p", "yuv411p", "yuv422p10", "yuva444p12", "gray16", "gbrp", "gbrap16", "gbrpf32"] {
        let source = noise(format(name, w, h));
        let format = *source.format();
        let made = look(&source);
        for p in 0..format.planes() {
            let (zero, span) = zero_span(&format, p);
            let (sx, sy) = format.plane_subsampling(p);
            let (pw, ph) = format.plane_size(p);
            for (x, y) in (0..ph).flat_map(|y| (0..pw).map(move |x| (x, y))) {
                // Samples around that of the plane, whatever its siting.
                let around = (0..3 << sy).flat_map(|j| (0..3 << sx).map(move |i| (i, j))).map(|(i, j)| {
                    let u = ((x << sx) + i).saturating_sub(1 << sx).min(w as usize - 1);
                    let v = ((y << sy) + j).saturating_sub(1 << sy).min(h as usize - 1);
                    inside(u, v)
                });
                let around: Vec<f64> = around.collect();
                let got = at(&made, p, x, y);
                if around.iter().all(|v| *v == 0.0) {
                    let old = at(&source, p, x, y);
                    assert_eq!(got.to_bits(), old.to_bits(), "{name} {p} {x},{y}");
                } else if around.iter().all(|v| *v == 1.0) && at(&source, p, x, y).is_finite() {
                    let want = if format.is_chroma(p) { 0.0 } else { 1.0 };
                    let off = (got - zero) / span - want;
                    assert!(off.abs() <= 0.5 / span.max(1.0) + 1e-6, "{name} {p} {x},{y}: {got}");
                }
            }
        }
    }
}

#[test]
fn the_edge_and_the_box_are_around_the_letters() {
    let grey = Format::from_name("grayf32", 96, 64).unwrap();
    let mut source = Frame::new(grey);
    (0..64).for_each(|y| source.row_mut::<f32>(0, y).fill(0.5));
    let count = |given: &str, value: f64| {
        let made = written(given, &source, 0, Level::best());
        (0..96 * 64).filter(|i| at(&made, 0, i % 96, i / 96) == value).count()
    };
    let plain = "text=I:size=0.6:anchor=center:edge=0";
    let edged = "text=I:size=0.6:anchor=center:edge=0.08";
    let boxed = "text=I:size=0.6:anchor=center:edge=0:box=1:box-color=#000000";
    assert_eq!(count(plain, 0.0), 0);
    assert!(count(plain, 1.0) > 100 && count(edged, 1.0) == count(plain, 1.0));
    assert!(count(edged, 0.0) > 100 && count(edged, 0.5) > 4000);
    // 0.6 * 64 rows by 0.6 of that, and the padding.
    let area = (38.4 * (1.164 + 0.5)) * (38.4 * (0.602 + 0.5));
    assert!((count(boxed, 0.0) as f64 + count(boxed, 1.0) as f64 - area).abs() < 350.0, "{area}");
}

#[test]
fn both_fields_together_are_the_frame() {
    let whole = format("yuv444p", 80, 48);
    let source = noise(whole);
    // Their pictures begin in even and in odd rows.
    let places = ["0.3,0.4", "0.3,0.8", "0.3,0.82"];
    for (place, parity) in places.iter().flat_map(|p| [Parity::Top, Parity::Bottom].map(|parity| (p, parity)))
    {
        let given = format!("text=Ag{{newline}}{{frame}}:size=0.12:position={place}:anchor=left:box=0.5");
        let want = written(&given, &source, 3, Level::best());
        assert!(want != source);
        let field = whole.field(parity);
        let mut half = Frame::new(field);
        let skip = usize::from(parity == Parity::Bottom);
        for (p, y) in (0..3).flat_map(|p| (0..24).map(move |y| (p, y))) {
            half.row_mut::<u8>(p, y).copy_from_slice(source.row::<u8>(p, 2 * y + skip));
        }
        let made = written(&given, &half, 3, Level::best());
        for (p, y) in (0..3).flat_map(|p| (0..24).map(move |y| (p, y))) {
            assert_eq!(made.row::<u8>(p, y), want.row::<u8>(p, 2 * y + skip), "{place} {parity:?} {p} {y}");
        }
    }
}

#[test]
fn alpha_is_opaque_under_letters() {
    for alpha in [Alpha::Straight, Alpha::Premultiplied] {
        let format = Format { alpha, ..Format::from_name("gbrapf32", 60, 40).unwrap() };
        let made = written("text=H:size=0.9:anchor=center:edge=0", &Frame::new(format), 0, Level::best());
        let cover: Vec<f64> = (0..2400).map(|i| at(&made, 3, i % 60, i / 60)).collect();
        assert!(cover.contains(&1.0) && cover.contains(&0.0));
        for (i, a) in cover.iter().enumerate().filter(|(_, a)| **a > 0.02) {
            let want = if alpha == Alpha::Straight { 1.0 } else { *a };
            let got = at(&made, 0, i % 60, i / 60);
            assert!((got - want).abs() < 1e-5, "{alpha:?} {i}: {got}, not {want}");
        }
    }
}

#[test]
fn any_size_and_place_is_possible() {
    for (name, w, h) in [("gray", 1, 1), ("yuv420p", 3, 1), ("gbrap16", 1, 5), ("yuv411p", 4101, 2)] {
        let source = noise(format(name, w, h));
        for given in [
            "size=2",
            "size=0.001:box=1",
            "text={time} {file}{seed}:size=1:position=10,-9",
            "text=WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW:size=2:anchor=top-left:position=-9,0:edge=0.5",
        ] {
            let made = written(given, &source, 5, Level::best());
            for level in Level::available() {
                assert!(written(given, &source, 5, *level) == made, "{name} {given} {level}");
            }
        }
    }
}

#[test]
fn wide_text_becomes_as_wide_as_the_picture_less_the_margin() {
    let shaped = |w, h, aspect| Format { aspect, ..format("gray", w, h) };
    let double = Ratio::whole(2);
    for (format, text, chars) in [
        (shaped(54, 96, Ratio::ONE), "Our holiday in Zürich", 21.0),
        (shaped(54, 96, double), "CAM 02  {timecode}", 19.0),
        (shaped(90, 60, Ratio::ONE), "{file}{newline}{time} {frame}{newline}9", 19.0),
    ] {
        let source = Frame::new(format);
        // All characters of the bundled font have an advance of 1233 / 2048.
        let size = 0.9 * f64::from(format.width) * format.shape() / (chars * 1233.0 / 2048.0);
        let size = size / f64::from(format.height);
        let given = format!("text={text}:anchor=bottom-left");
        for frame in [0, 7, 1234] {
            let made = |more: &str| written(&format!("{given}:{more}"), &source, frame, Level::best());
            let want = made(&format!("size={size}:fit=0"));
            assert!(made("size=0.3") == want && made("size=0=0.3;2000=2") == want, "{text} {frame}");
            assert!(made("size=0.3:fit=0") != want && made(&format!("size={size}")) == want);
            // Less than the limit.
            let small = size * 0.99;
            assert!(made(&format!("size={small}")) == made(&format!("size={small}:fit=0")));
        }
    }
}

#[test]
fn characters_that_the_font_lacks_are_named() {
    let note = |given: &str| {
        let values = Values::parse(ENTRY.settings, given).unwrap();
        (ENTRY.build)(&values).unwrap().note(&format("gray", 40, 30))
    };
    assert_eq!(note("text=Zürich {timecode} {file}{newline}Ω"), None);
    let lacking = note("text=I ❤ 本❤").unwrap();
    assert!(lacking.starts_with("the font lacks '❤', '本', for which"), "{lacking}");
}

#[test]
fn the_same_text_is_prepared_once() {
    let format = format("gray", 40, 30);
    let key = |given: &str, frame: i64| {
        let now = bound(given, &format, Level::best()).at(&FrameTime::of_frame(frame, Ratio::whole(24)));
        now.unwrap().plan.state
    };
    assert_eq!(key("text=Title", 1), key("text=Title", 2));
    assert_ne!(key("text={frame}", 1), key("text={frame}", 2));
    assert_ne!(key("text=Title", 1), key("text=Titel", 1));
    assert_ne!(key("color=#ffffff", 1), key("color=#fffffe", 1));
    assert_ne!(key("box=0.5", 1), key("box=0.6", 1));
    assert_ne!(key("text=Title:size=0=0.1;9=0.5", 1), key("text=Title:size=0=0.1;9=0.5", 2));
}

#[test]
fn wrong_settings_are_named() {
    let format = Format { rate: Ratio::whole(25), ..format("gray", 40, 30) };
    let error = |id: &str, text: &str| {
        let mut values = Values::new(ENTRY.settings);
        let setting = ENTRY.settings.iter().find(|s| s.id == id).unwrap();
        values.set(id, setting.parse(text).unwrap()).unwrap();
        ENTRY.bind(&values, &format, 1, Level::best()).err().unwrap()
    };
    assert_eq!(error("text", "{tiem}").setting, "text");
    assert_eq!(error("timecode", "00:00:00;00").setting, "timecode");
    assert_eq!(error("font", "a.ttf").to_string(), "font: a.ttf has not been read");
}
