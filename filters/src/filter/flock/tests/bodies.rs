//! Bodies as meshes, and the rasteriser against point sampling.

use super::super::light::Light;
use super::super::mesh::{Individual, Mesh, Skin};
use super::super::raster::{Corner, REACH, Strip, strip_bytes, strip_rows};
use super::super::vector::{cross, dot, sub};
use super::super::{bat, bird, fish, moth};
use super::*;
use crate::noise::seed::mix64;

/// A number from 0 to 1.
fn any(i: u64) -> f32 {
    (mix64(i) >> 40) as f32 / (1 << 24) as f32
}

/// The definition, slowly and in f64: the nearest of the triangles around a point, and its colour there. `None` near an edge or
/// where two are as near, where rounding decides.
fn point(triangles: &[[Corner; 3]], x: f64, y: f64) -> Option<Option<[f64; 3]>> {
    let mut best: Option<(f64, [f64; 3])> = None;
    let mut clear = true;
    for t in triangles {
        let p = t.map(|c| c.0.map(f64::from));
        let side = |a: [f64; 3], b: [f64; 3]| (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
        let area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
        let w = [side(p[1], p[2]), side(p[2], p[0]), side(p[0], p[1])].map(|v| v / area);
        let long = |a: [f64; 3], b: [f64; 3]| libm::hypot(a[0] - b[0], a[1] - b[1]);
        let far = [long(p[1], p[2]), long(p[2], p[0]), long(p[0], p[1])];
        let away = [0, 1, 2].map(|i: usize| w[i] * area.abs() / far[i]);
        // NaN, for a triangle without an area, is nowhere inside.
        if !away.iter().all(|a| *a > -1e-3) {
            continue;
        }
        if away.iter().any(|a| *a < 1e-3) {
            clear = false;
            continue;
        }
        let z = (0..3).map(|i| w[i] * p[i][2]).sum::<f64>();
        let rgb = [0, 1, 2].map(|c: usize| (0..3).map(|i| w[i] * f64::from(t[i].1[c])).sum::<f64>());
        match best {
            Some((near, _)) if (near - z).abs() < 1e-3 => clear = false,
            Some((near, _)) if near < z => {}
            _ => best = Some((z, rgb)),
        }
    }
    clear.then_some(best.map(|b| b.1))
}

#[test]
fn triangles_are_points_sampled() {
    let (wide, high) = (23, 17);
    let mut compared = [0; 2];
    for case in 0..60u64 {
        let corner = |i: u64| -> Corner {
            let at = |k: u64, far: f32| (any(case * 4096 + 8 * i + k) * 1.6 - 0.3) * far;
            let colour = [3, 4, 5].map(|k| any(case * 4096 + 8 * i + k));
            ([at(0, wide as f32), at(1, high as f32), at(2, 50.0)], colour)
        };
        let triangles: Vec<[Corner; 3]> = (0..12).map(|t| [0, 1, 2].map(|k| corner(3 * t + k))).collect();
        let mut strip = Strip::default();
        strip.start([wide, high], 0, 1);
        for [a, b, c] in &triangles {
            strip.triangle([a, b, c], 0);
        }
        strip.add();
        let (mut down, mut out) = (Vec::new(), Vec::new());
        for y in 0..high {
            strip.soft_row(y, 1.0, [0.0; 2], &mut down, &mut out);
            for (x, got) in out.iter().enumerate() {
                let Some(want) = point(&triangles, x as f64, y as f64) else { continue };
                let [r, g, b] = want.unwrap_or_default();
                let want = [r, g, b, f64::from(u8::from(want.is_some()))];
                for (got, want) in got.iter().zip(want) {
                    assert!((f64::from(*got) - want).abs() < 2e-3, "{case}: {x} {y}: {got}, not {want}");
                }
                compared[usize::from(want[3] > 0.0)] += 1;
            }
        }
    }
    assert!(compared[0] > 1000 && compared[1] > 1000, "{compared:?}");
}

/// Neither gaps nor overlaps along shared edges: a fan of triangles covers each point of a disc.
#[test]
fn neighbours_leave_no_gap() {
    for case in 0..200u64 {
        let middle: Corner = ([8.0 + any(3 * case), 8.0 + any(3 * case + 1), 0.0], [1.0; 3]);
        let rim: Vec<Corner> = (0..9)
            .map(|k| {
                let turns = (k as f32 + 0.7 * any(case * 16 + k)) / 9.0;
                let [x, y] = [0.25, 0.0].map(|a| 7.5 * vector::wave(turns + a));
                ([middle.0[0] + x, middle.0[1] + y, 0.0], [1.0; 3])
            })
            .collect();
        let mut strip = Strip::default();
        strip.start([18, 18], 0, 1);
        for k in 0..9 {
            strip.triangle([&middle, &rim[k], &rim[(k + 1) % 9]], 0);
        }
        strip.add();
        let (mut down, mut out) = (Vec::new(), Vec::new());
        for y in 0..18 {
            strip.soft_row(y, 1.0, [0.0; 2], &mut down, &mut out);
            for (x, got) in out.iter().enumerate() {
                let (dx, dy) = (x as f32 - middle.0[0], y as f32 - middle.0[1]);
                assert!(got[3] == 1.0 || dx * dx + dy * dy > 4.5 * 4.5, "{case}: {x} {y}");
            }
        }
    }
}

#[test]
fn strips_are_cut_anywhere() {
    let corner = |i: u64| -> Corner {
        let at = |k: u64, far: f32| (any(8 * i + k) * 1.6 - 0.3) * far;
        ([at(0, 60.0), at(1, 120.0), at(2, 50.0)], [3, 4, 5].map(|k| any(8 * i + k)))
    };
    let corners: Vec<Corner> = (0..60).map(corner).collect();
    let rows = |step: usize| {
        let (mut strip, mut all) = (Strip::default(), Vec::new());
        let (mut down, mut out) = (Vec::new(), Vec::new());
        for top in (0..60).step_by(step) {
            let wanted = step.min(60 - top);
            strip.start([30, wanted + 2 * REACH], top as i32 - REACH as i32, 2);
            for pose in 0..3 {
                strip.pose(pose);
                for t in corners.chunks(3).skip(pose) {
                    strip.triangle([&t[0], &t[1], &t[2]], 5);
                }
                strip.add();
            }
            for row in 0..wanted {
                strip.soft_row(row + REACH, 1.0 / 12.0, [0.3, 0.02], &mut down, &mut out);
                all.extend_from_slice(&out);
            }
        }
        all
    };
    let whole = rows(60);
    let [most, least] = [f32::max, f32::min].map(|f| whole.iter().map(|t| t[3]).reduce(f).unwrap());
    assert!(most > 0.6 && least == 0.0, "{most} {least}");
    for step in [1, 7, 16, 59] {
        assert!(rows(step) == whole, "{step}");
    }
    for (wide, sub) in [(1, 1), (30, 4), (1920, 2), (8180, 4)] {
        let bytes = 16 * wide * (sub * sub + 1) * (strip_rows(wide, sub) + 2 * REACH);
        assert!(bytes <= strip_bytes(wide), "{wide} {sub}: {bytes}");
    }
}

/// The bodies of all figures, at a phase.
fn bodies(half: f32, phase: f32, effort: f32) -> Vec<Mesh> {
    let own = Individual { phase, effort, ..Individual::new(3, 17, half) };
    let mut all = vec![Mesh::default(); 6];
    all.iter_mut().for_each(|m| m.clear(true));
    let [starling, gull, falcon, bat, moth, fish] = &mut all[..] else { unreachable!() };
    bird::STARLING.build(starling, &own);
    bird::GULL.build(gull, &own);
    bird::FALCON.build(falcon, &own);
    bat::build(bat, &own);
    moth::build(moth, &own);
    fish::build(fish, &own);
    all
}

#[test]
fn bodies_fit_their_areas_and_face_outwards() {
    for half in [3.0, 14.0, 95.0, 3000.0] {
        for phase in [0.0, 0.2, 0.4, 0.7, 0.93] {
            for effort in [0.05, 0.6, 1.2] {
                for (k, mesh) in bodies(half, phase, effort).iter().enumerate() {
                    assert_eq!(mesh.at.len(), mesh.skin.len());
                    assert!(mesh.at.len() < 40_000, "{k} {}", mesh.at.len());
                    for [x, y, z] in &mesh.at {
                        let fits = match k {
                            5 => x.abs() <= 1.15 && y.abs() <= 0.50 && z.abs() <= 0.5,
                            _ => x.abs() <= 0.85 && y * y + z * z <= 1.21,
                        };
                        assert!(fits, "{k} {half} {phase} {effort}: {x} {y} {z}");
                    }
                    // Solid parts: the normal of the body's coordinates, which are left-handed, points away from the
                    // middle of each ring.
                    for sheet in mesh.sheets.iter().filter(|s| s.closed) {
                        let [n, m] = sheet.n;
                        let ring = |i: usize| &mesh.at[sheet.first + i * m..][..m - 1];
                        let middle = |i: usize| {
                            let sum = ring(i).iter().fold([0.0f32; 3], |s, p| vector::add(s, *p));
                            vector::mul(sum, 1.0 / (m - 1) as f32)
                        };
                        let (i, a) = (n / 2, middle(n / 2));
                        for j in 0..m - 1 {
                            let (du, dv) =
                                (sub(middle(i), middle(i - 1)), sub(ring(i)[(j + 1) % (m - 1)], ring(i)[j]));
                            let normal = cross(dv, du);
                            let out =
                                sub(vector::mul(vector::add(ring(i)[j], ring(i)[(j + 1) % (m - 1)]), 0.5), a);
                            assert!(dot(normal, out) > 0.0, "{k} {half} {i} {j}");
                        }
                    }
                }
            }
        }
    }
}

/// Bodies move smoothly: nothing jumps between two near phases, nor from the end of a beat to its start.
#[test]
fn beats_are_continuous() {
    for step in 0..64 {
        let (a, b) = (step as f32 / 64.0, ((step + 1) % 64) as f32 / 64.0);
        for (k, (a, b)) in bodies(40.0, a, 1.0).iter().zip(&bodies(40.0, b, 1.0)).enumerate() {
            for (p, q) in a.at.iter().zip(&b.at) {
                let d = sub(*p, *q);
                assert!(dot(d, d).sqrt() < 0.2, "{k} {step}: {p:?} {q:?}");
            }
        }
    }
}

#[test]
fn any_settings_are_drawn() {
    for (w, h) in [(1, 1), (2, 2), (3, 40), (64, 1)] {
        let format = Format::from_name("yuv420p", w, h).unwrap();
        for size in ["0", "1", "60", "2000"] {
            for preset in ["starlings", "seagulls", "fish", "moths", "bats"] {
                let settings =
                    [("preset", preset), ("agents", "4"), ("size", size), ("start", "0"), ("shutter", "1")];
                let filter = bound(&settings, &format, Level::best());
                render(&format, &*filter, &mut None, 1, &NoCache, &CurrentThread, &[]);
            }
        }
    }
}

/// The nearest agents have pictures, as far as the memory reaches, and the memory that is stated holds them.
#[test]
fn pictures_keep_to_their_memory() {
    let format = Format::from_name("gray", 96, 54).unwrap();
    for (agents, size) in [("400", "900"), ("3", "2000"), ("2000", "200")] {
        let set = FlockSpec::read(&values(&[("agents", agents), ("size", size), ("figure", "gull")]));
        let flock = set.bound(&format, 3, Level::best()).unwrap();
        let now = flock.at(&FrameTime::of_frame(0, Ratio::whole(24))).unwrap().1;
        let state: Vec<Agent> = flock.rules.start(flock.step_state(0).home);
        let view = flock.view(&now);
        let (pictures, which) = flock.pictures(&view, &state, &CurrentThread);
        let (backwards, same) = flock.pictures(&view, &state, &Backwards(3));
        assert!(which == same && pictures.len() == backwards.len());
        assert!(!pictures.is_empty(), "{agents} {size} {}", flock.full);
        let bytes: usize = pictures.iter().map(Picture::bytes).sum();
        assert!(bytes <= flock.memory().per_frame, "{agents}: {bytes}");
        let nearest = (0..state.len()).min_by(|a, b| state[*a][2].total_cmp(&state[*b][2])).unwrap();
        if view.portrayed(&state[nearest], nearest as u64).is_some() {
            assert!(which[nearest] != NONE);
        }
        if agents == "400" {
            assert!(which.contains(&NONE), "more are wanted than fit");
        }
    }
}

/// What faces the light is brighter: the sky for most, the lamp for moths.
#[test]
fn light_comes_from_its_side() {
    let format = Format::from_name("gray", 96, 54).unwrap();
    let set = FlockSpec::read(&values(&[("preset", "moths")]));
    let flock = set.bound(&format, 3, Level::best()).unwrap();
    let now = flock.at(&FrameTime::of_frame(0, Ratio::whole(24))).unwrap().1;
    let view = flock.view(&now);
    let left = sub(now.lamp, [0.3, 0.0, 0.0]);
    let up = [0.0, -1.0, 0.0];
    let lit = [Figure::Starling, Figure::Gull, Figure::Bat, Figure::Herring].map(|figure| (figure, up));
    for (figure, towards) in lit.into_iter().chain([(Figure::Moth, [1.0, 0.0, 0.0])]) {
        let light = Light::new(&view, figure, left);
        let shade = |n| light.shade([0.4; 3], &Skin::plain([0.4; 3]), n, 0.4).iter().sum::<f32>();
        let (bright, dark) = (shade(towards), shade(vector::mul(towards, -1.0)));
        assert!(bright > 1.2 * dark, "{figure:?}: {bright} {dark}");
    }
}

/// Of two agents on one line of sight the nearer one is seen, whichever comes first.
#[test]
fn near_agents_cover_far_ones() {
    let format = Format::from_name("gray", 192, 108).unwrap();
    let set =
        FlockSpec::read(&values(&[("figure", "gull"), ("agents", "2"), ("size", "1200"), ("haze", "0")]));
    let flock = set.bound(&format, 3, Level::best()).unwrap();
    let now = flock.at(&FrameTime::of_frame(0, Ratio::whole(24))).unwrap().1;
    let view = flock.view(&now);
    let agent = |z: f32| -> Agent { [0.5 * flock.rules.aspect, 0.5, z, 1.0, 0.0, 0.0, 0.0, 0.0] };
    for depths in [[0.1, 1.5], [1.5, 0.1]] {
        let agents = depths.map(agent);
        let (pictures, which) = flock.pictures(&view, &agents, &CurrentThread);
        let ranks = [0, 1].map(|id: usize| {
            let index = which[id] as usize;
            view.splat_of(&agents[id], id as u64, &pictures[index], index).rank
        });
        // Higher ranks are drawn later.
        assert_eq!(ranks[0] > ranks[1], depths[0] < depths[1], "{depths:?}");
    }
}
