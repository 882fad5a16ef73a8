//! Light never darkens.

use super::super::draw_plane::{self, DrawPlane, PlaneContent};
use super::super::*;
use super::light::{hard, sample, scatter, set};
use super::{Rng, drawn};
use crate::frame::{ColorRange, Depth, Family, Format, Frame, Siting};
use crate::simd::Level;

/// Adding light lowers no channel of any sample, as displayed, by more than rounding does.
#[test]
fn light_never_darkens() {
    let mut touched = 0;
    for name in [
        "gray",
        "gray10",
        "gray16",
        "grayf32",
        "ya8",
        "yuv420p",
        "yuv420p10",
        "yuv422p10",
        "yuv444p",
        "yuv444p12",
        "yuv411p",
        "yuv410p",
        "yuv440p",
        "yuva420p",
        "yuv420p16",
        "gbrp",
        "gbrp16",
        "gbrap",
        "gbrpf32",
        "gbrapf32",
    ] {
        for (case, range) in [ColorRange::Limited, ColorRange::Full].into_iter().enumerate() {
            for siting in [Siting::Left, Siting::Center, Siting::TopLeft, Siting::PalDv] {
                for kind in 0..5 {
                    let base = Format::from_name(name, 61, 43).unwrap();
                    let format = Format { range, siting, ..base };
                    let places: Vec<DrawPlane> =
                        (0..format.planes()).map(|p| DrawPlane::of(&format, p)).collect();
                    let matrix = draw_plane::matrix(&format).filter(|_| format.family == Family::Yuv);
                    let mut rng = Rng(70 + kind);
                    // Night, a bright sky, saturated colours, noise, and lamps, which float has beyond white.
                    let mut start = Frame::new(format);
                    for (p, place) in places.iter().enumerate() {
                        let (w, h) = format.plane_size(p);
                        for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
                            let rgb = match kind {
                                0 => [0.02, 0.03, 0.05],
                                1 => [0.55 + 0.3 * y as f64 / h as f64, 0.75, 0.98],
                                4 if format.depth == Depth::Float => [12.0, 0.4, 1.5],
                                2 => [f64::from((x / 8) as u8 & 1), f64::from((y / 8) as u8 & 1), 0.2],
                                _ => {
                                    // The same colour in all planes of a size.
                                    let mut rng = Rng((x + 997 * y) as u64 * 4);
                                    [0; 3].map(|_| f64::from(rng.next()))
                                }
                            };
                            let v = match place.content {
                                PlaneContent::Alpha => 1.0,
                                _ => draw_plane::nominal(matrix, rgb)[p],
                            };
                            let v = f64::from(place.zero) + v * f64::from(place.span);
                            set(
                                &mut start,
                                p,
                                x,
                                y,
                                if format.depth == Depth::Float { v } else { v.round() },
                            );
                        }
                    }
                    for blends in [&[Blend::Add][..], &[Blend::Screen], &[Blend::Add, Blend::Screen]] {
                        let space = [BlendSpace::Gamma, BlendSpace::Linear][case ^ (kind as usize & 1)];
                        let mut styles = hard(blends);
                        styles.extend(blends.iter().map(|b| SplatStyle::new(Shape::disc(1.0).unwrap(), *b)));
                        let painter = Painter::new(&format, styles.clone(), space, Level::best()).unwrap();
                        let splats = scatter(&painter, 50, styles.len(), &mut rng);
                        let mut frame = start.clone();
                        drawn(&painter, &splats, &mut frame);
                        let [sx, sy] = places[format.planes().min(3) - 1].cells.shift;
                        let shown = |frame: &Frame, x: usize, y: usize| -> Vec<f64> {
                            let value = |p: usize, x: usize, y: usize| {
                                (sample(frame, p, x, y) - f64::from(places[p].zero))
                                    / f64::from(places[p].span)
                            };
                            let Some(m) = matrix else {
                                let lights = if format.family == Family::Gray { 1 } else { 3 };
                                return (0..lights).map(|p| value(p, x, y)).collect();
                            };
                            let yuv =
                                [value(0, x, y), value(1, x >> sx, y >> sy), value(2, x >> sx, y >> sy)];
                            m.to_rgb()
                                .map(|r| (0..3).map(|k| r[k] * yuv[k]).sum::<f64>().clamp(0.0, 1.0))
                                .into()
                        };
                        // Half a code of each plane, for the plate, which may leave R, G and B beyond white, and for
                        // what is drawn.
                        let slack = match (matrix, format.depth) {
                            (Some(_), _) => 1.0 / f64::from(places[0].span) + 1.9 / f64::from(places[1].span),
                            (None, Depth::Float) => 2e-7,
                            (None, _) => 0.0,
                        };
                        let (w, h) = format.plane_size(0);
                        for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
                            let (was, now) = (shown(&start, x, y), shown(&frame, x, y));
                            for (was, now) in was.iter().zip(&now) {
                                assert!(
                                    now - was >= -slack - 1e-6,
                                    "{name} {siting:?} {kind} {blends:?} {space:?} {x} {y}: {was} {now}"
                                );
                                touched += usize::from(now > was);
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(touched > 100_000, "{touched}");
}
