use super::*;
use crate::filter::testing::{at, bind, compare, format, noise, run, zero_span};
use crate::frame::sites::frame_place;
use crate::frame::{Format, Parity};
use crate::ratio::Ratio;

/// The darkening at a position of plane `p`, in f64.
fn loss(
    f: &Format,
    p: usize,
    x: usize,
    y: usize,
    [amount, radius, softness, round]: [f64; 4],
    c: [f64; 2],
) -> f64 {
    let (w, h) = (f64::from(f.width), f64::from(f.height));
    let [px, py] = frame_place(f, p, x as i64, y as i64);
    let (px, py) = (px - c[0] * w, py - c[1] * h);
    let half = (w * w + h * h).sqrt() / 2.0;
    let ellipse = 0.5f64.sqrt();
    let (rx, ry) = (w * ellipse + (half - w * ellipse) * round, h * ellipse + (half - h * ellipse) * round);
    let q = (px / rx) * (px / rx) + (py / ry) * (py / ry);
    let (a, b) = (radius * radius, (radius + softness) * (radius + softness));
    let t = ((q - a) / (b - a)).clamp(0.0, 1.0);
    amount * t * t * (3.0 - 2.0 * t)
}

fn check(given: &[(&str, &str)], numbers: [f64; 4], center: [f64; 2]) {
    compare(&ENTRY, given, 0, |source, p, x, y| {
        let f = source.format();
        if f.alpha_plane() == Some(p) {
            return None;
        }
        let was = at(source, p, x, y);
        if !was.is_finite() {
            return None;
        }
        let (zero, _) = zero_span(f, p);
        let lost = loss(f, p, x, y, numbers, center);
        // Half a code and 9/65536 of the difference.
        let by = match f.depth {
            Depth::Float => 4e-5,
            Depth::Bits(_) => 0.5 + (was - zero).abs() * 9.0 / 65536.0,
        };
        Some((was - (was - zero) * lost, by))
    });
}

#[test]
fn it_is_the_formula() {
    check(&[], [0.5, 0.35, 0.75, 0.0], [0.5, 0.5]);
    let given =
        [("amount", "1"), ("radius", "0"), ("softness", "1"), ("roundness", "1"), ("center", "0.2,0.9")];
    check(&given, [1.0, 0.0, 1.0, 1.0], [0.2, 0.9]);
    check(&[("amount", "0.7"), ("softness", "0.4"), ("roundness", "0.5")], [0.7, 0.35, 0.4, 0.5], [0.5, 0.5]);
}

#[test]
fn fields_are_rows_of_the_frame() {
    let whole = format("yuv420p10", 40, 24);
    let source = noise(whole);
    let want = run(&*bind(&ENTRY, &[], &whole, Level::best()), &source, 0, &[]);
    for parity in [Parity::Top, Parity::Bottom] {
        let part = whole.field(parity);
        let mut field = crate::frame::Frame::new(part);
        let odd = usize::from(parity == Parity::Bottom);
        for p in 0..3 {
            for y in 0..part.plane_size(p).1 {
                field.row_mut::<u16>(p, y).copy_from_slice(source.row(p, 2 * y + odd));
            }
        }
        let got = run(&*bind(&ENTRY, &[], &part, Level::best()), &field, 0, &[]);
        for p in 0..3 {
            for y in 0..part.plane_size(p).1 {
                assert_eq!(got.row::<u16>(p, y), want.row::<u16>(p, 2 * y + odd), "{parity:?} {p} {y}");
            }
        }
    }
}

#[test]
fn an_aspect_beyond_the_limits_is_the_limit() {
    let show = |num, den| {
        let f = Format { aspect: Ratio::new(num, den).unwrap(), ..format("gray16", 60, 40) };
        let mut source = crate::frame::Frame::new(f);
        (0..40).for_each(|y| source.row_mut::<u16>(0, y).fill(40000));
        let out = run(&*bind(&ENTRY, &[("roundness", "1")], &f, Level::best()), &source, 0, &[]);
        (0..40).flat_map(|y| out.row::<u16>(0, y).to_vec()).collect::<Vec<_>>()
    };
    assert!(show(1000, 1) == show(10, 1) && show(1, 1000) == show(1, 10));
    assert!(show(9, 1) != show(10, 1));
}
