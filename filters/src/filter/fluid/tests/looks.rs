//! What an eye expects of the scenes.

use super::super::drops::{Droplet, ParcelPoint};
use super::super::scene::{Kind, Scene, SceneParams};
use super::super::surface::{EDGE, Shape, Surface};
use super::*;

/// The scene with its surface at 24 frames per second, in a frame of 16:9.
fn scene(kind: Kind) -> (Scene, Shape) {
    let scene = Scene::new(SceneParams {
        kind,
        count: 3000,
        gravity: 1.6,
        viscosity: 0.0,
        tension: 0.3,
        seed: 5,
        aspect: 16.0 / 9.0,
        frame: 1.0 / 24.0,
        shape: None,
        solid: None,
    });
    let spacing = scene.set.spacing;
    let shape = Shape {
        aspect: 16.0 / 9.0,
        spacing,
        smoothness: 0.3,
        ripples: 1.0,
        row: 1.0 / 540.0,
        draft: false,
        speed: scene.speed() as f32,
    };
    (scene, shape)
}

fn surface(scene: &Scene, shape: &Shape, fluid: &Fluid2d) -> Surface {
    shape.surface(Level::best(), &scene.snapshot(fluid))
}

/// The surfaces of frames `from` to `to`.
fn surfaces(kind: Kind, from: u64, to: u64) -> Vec<Surface> {
    let (scene, shape) = scene(kind);
    let mut fluid = scene.start(Level::best()).unwrap();
    (0..to)
        .filter_map(|n| {
            (0..scene.steps).for_each(|_| scene.advance(&mut fluid, &CurrentThread));
            (n >= from).then(|| surface(&scene, &shape, &fluid))
        })
        .collect()
}

/// The nodes with liquid that are connected with those at a height of the frame.
fn connected(of: &Surface, y: f32) -> Vec<[usize; 2]> {
    let [w, h] = of.size;
    let top = ((y - of.origin[1]) * of.per) as usize + 1;
    let mut seen = vec![false; w * h];
    let mut open: Vec<usize> = (top * w..(top + 1) * w).collect();
    let mut found = Vec::new();
    while let Some(n) = open.pop() {
        if n >= w * h || seen[n] || of.nodes[n][0] <= EDGE {
            continue;
        }
        seen[n] = true;
        found.push([n % w, n / w]);
        open.extend([n + 1, n.wrapping_sub(1), n + w, n.wrapping_sub(w)]);
    }
    found
}

#[test]
fn the_pour_is_a_stream_from_the_top_to_the_bottom() {
    let all = surfaces(Kind::Pour, 30, 78);
    let mut streams = 0;
    for surface in &all {
        let found = connected(surface, 0.0);
        let row = |y: f32| ((y - surface.origin[1]) * surface.per) as usize;
        let (middle, bottom) = (row(0.5), row(0.9));
        let xs = || found.iter().filter(|n| n[1] == middle).map(|n| n[0]);
        let wide = xs().max().map_or(0.0, |last| (last - xs().min().unwrap()) as f32 / surface.per);
        // The nozzle is 0.06 wide; the surface runs about a parcel outside of the outer ones.
        streams += usize::from(found.iter().any(|n| n[1] >= bottom) && (0.025..0.11).contains(&wide));
    }
    assert!(streams * 100 >= all.len() * 95, "{streams} of {}", all.len());
}

#[test]
fn the_fountain_rises_in_jets() {
    let all = surfaces(Kind::Fountain, 36, 84);
    // From beside the mouths to the tops of the tall arcs, on both sides.
    let jets = all.iter().filter(|surface| {
        let [x, y] = [0, 1].map(|k: usize| move |v: f32| ((v - surface.origin[k]) * surface.per) as usize);
        let found = connected(surface, 0.65);
        let top =
            |from: f32, to: f32| found.iter().any(|n| (x(from)..x(to)).contains(&n[0]) && n[1] < y(0.25));
        top(0.0, 8.0 / 9.0) && top(8.0 / 9.0, 16.0 / 9.0)
    });
    let jets = jets.count();
    assert!(jets * 100 >= all.len() * 90, "{jets} of {}", all.len());
}

#[test]
fn the_large_drop_is_round() {
    let (scene, shape) = scene(Kind::Drop);
    let surface = surface(&scene, &shape, &scene.start(Level::best()).unwrap());
    let [w, _] = surface.size;
    let amount = |x: f32, y: f32| {
        let (u, v) = ((x - surface.origin[0]) * surface.per, (y - surface.origin[1]) * surface.per);
        let (i, j) = (u as usize, v as usize);
        let at = |i: usize, j: usize| surface.nodes[j * w + i][0];
        let row = |j: usize| at(i, j) + (at(i + 1, j) - at(i, j)) * (u - i as f32);
        row(j) + (row(j + 1) - row(j)) * (v - j as f32)
    };
    let radii: Vec<f32> = (0..360)
        .map(|turn| {
            let (sin, cos) = (turn as f32).to_radians().sin_cos();
            let outside = |r: &f32| amount(8.0 / 9.0 + r * cos, 0.26 + r * sin) < EDGE;
            (0..400).map(|k| 0.1 + 0.0005 * k as f32).find(outside).unwrap()
        })
        .collect();
    let mean = radii.iter().sum::<f32>() / 360.0;
    let worst = radii.iter().map(|r| (r - mean).abs()).fold(0.0, f32::max);
    assert!(worst < 0.15 * shape.spacing, "{worst} of {}", shape.spacing);
}

#[test]
fn droplets_are_longer_the_faster_they_are_and_most_are_fine() {
    let of = |id: u32, motion: [f32; 2]| {
        Droplet::of(&ParcelPoint { at: [0.5; 2], motion, room: f32::INFINITY, id }, 0.01, 1.0)
    };
    for id in 0..100 {
        for (slow, fast) in of(id, [0.0, 0.01]).iter().zip(of(id, [0.0, 0.04])) {
            assert!(
                fast.radius == slow.radius
                    && fast.reach[1] > 0.01
                    && (fast.reach[1] - 4.0 * slow.reach[1]).abs() < 1e-6
            );
        }
    }
    let mut radii: Vec<f32> = (0..1000).flat_map(|id| of(id, [0.0; 2])).map(|d| d.radius).collect();
    radii.sort_by(f32::total_cmp);
    let (middle, largest) = (radii[radii.len() / 2], radii[radii.len() - 1]);
    assert!(middle < 0.25 * largest, "{middle} {largest}");
}

/// The liquid has no light of its own.
#[test]
fn the_liquid_is_dark_in_the_dark() {
    let format = Format::from_name("gray", 96, 54).unwrap();
    let filter = bound(DAM, &format, Level::best());
    let mean = |code: u8| {
        let mut source = Frame::new(format);
        (0..54).for_each(|y| source.row_mut::<u8>(0, y).fill(code));
        let out = render_over(&source, &*filter, &mut None, 20, &NoCache, &[]);
        let codes: Vec<u8> = (30..54).flat_map(|y| out.row::<u8>(0, y).to_vec()).collect();
        codes.iter().map(|v| u64::from(*v)).sum::<u64>() / codes.len() as u64
    };
    let (dark, grey) = (mean(18), mean(110));
    assert!(dark < 26 && grey > 70, "{dark} {grey}");
}
