use super::ground::Ground;
use super::pieces::Piece;
use super::*;

const MATERIALS: [Material; 7] = [
    Material::Sand,
    Material::Snow,
    Material::Picture,
    Material::Confetti,
    Material::Leaves,
    Material::Ash,
    Material::Coins,
];

fn style(material: Material, radius: f32) -> Style {
    Style { material, light: [-0.6, -0.8], radius }
}

/// Grains over the lower part of a picture, dense below, single above.
fn pile(width: usize, height: usize, radius: f32) -> Vec<GrainPoint> {
    let area = (width * height) as f32 / (3.2 * radius * radius);
    (0..area as u32)
        .map(|id| {
            let (h, g) = (hash(id + 77), hash(id + 9999));
            let y = unit(h, 8) + 0.003 * unit(g, 0);
            GrainPoint {
                x: (unit(h, 0) + 0.003 * unit(g, 8)) * width as f32,
                y: (1.0 - 0.8 * y * y) * height as f32,
                radius: radius * (0.88 + 0.24 * unit(h, 16)),
                id,
                rgb: [unit(g, 0), unit(g, 8), unit(g, 16)],
                angle: unit(h, 24),
            }
        })
        .collect()
}

fn ground(width: usize, height: usize, style: &Style, grains: &[GrainPoint]) -> Ground {
    let mut ground = Ground::new(width, height, style.radius);
    grains.iter().for_each(|grain| ground.add(grain));
    ground
}

/// A tile of grains at rest, grains in flight and the light on the heap.
fn draw(style: &Style, ground: &Ground, tile: Tile, grains: &[GrainPoint]) -> Vec<[f32; 4]> {
    let mut out = vec![[9.0; 4]; tile.width * tile.height];
    draw_tile(style, ground, tile, grains, &mut out, &mut Scratch::default());
    out
}

fn bits(samples: &[[f32; 4]]) -> Vec<[u32; 4]> {
    samples.iter().map(|s| s.map(f32::to_bits)).collect()
}

#[test]
fn tiles_have_no_seams() {
    let (width, height) = (90, 70);
    for material in MATERIALS {
        for radius in [0.7, 1.4, 4.0] {
            let style = style(material, radius);
            let grains = pile(width, height, radius);
            let ground = ground(width, height, &style, &grains);
            let relief = ground.relief(&style);
            let flyers: Vec<Flyer> = grains
                .iter()
                .step_by(40)
                .map(|g| Flyer { grain: *g, way: [9.0 * unit(hash(g.id), 0), -7.5] })
                .collect();
            let picture = |tile: Tile| {
                let mut out = draw(&style, &ground, tile, &grains);
                relief.light(material, tile, &mut out);
                draw_flyers(&style, tile, &flyers, &mut out);
                let mut matte = vec![0.0; out.len()];
                draw_matte(tile, &grains, &mut matte);
                out.iter_mut().zip(matte).for_each(|(s, m)| s[3] += m);
                out
            };
            let whole = picture(Tile { x: 0, y: 0, width, height });
            assert!(whole.iter().flatten().all(|v| v.is_finite()));
            for (x0, x1) in [(0, 13), (13, 14), (14, 61), (61, 90)] {
                for (y0, y1) in [(0, 7), (7, 41), (41, 70)] {
                    let tile = Tile { x: x0, y: y0, width: x1 - x0, height: y1 - y0 };
                    let part = picture(tile);
                    for (y, row) in part.chunks_exact(tile.width).enumerate() {
                        let start = (y0 + y) * width + x0;
                        let from = &whole[start..start + tile.width];
                        assert_eq!(bits(row), bits(from), "{material:?} {radius} {tile:?} row {y}");
                    }
                }
            }
        }
    }
}

#[test]
fn grains_beyond_the_reach_do_not_matter() {
    let (width, height) = (700, 40);
    for material in MATERIALS {
        let style = style(material, 1.0);
        let tile = Tile { x: 330, y: 10, width: 20, height: 20 };
        let mut grains = pile(width, height, 1.0);
        let all = draw(&style, &ground(width, height, &style, &grains), tile, &grains);
        // The fields of a tile depend on 50 cells around what is near.
        let cell = Ground::new(width, height, style.radius).size().0;
        let margin = style.near() + (50 * cell) as f32;
        grains.retain(|g| g.x > 330.0 - margin && g.x < 350.0 + margin);
        let ground = ground(width, height, &style, &grains);
        grains.retain(|g| tile.sees(g, style.near()));
        assert!(grains.len() < 2000);
        assert_eq!(bits(&all), bits(&draw(&style, &ground, tile, &grains)), "{material:?}");
    }
}

#[test]
fn small_and_odd_input() {
    let nan = f32::NAN;
    let odd = [
        GrainPoint { x: nan, y: 2.0, radius: 1.0, ..Default::default() },
        GrainPoint { x: 1.0, y: f32::INFINITY, radius: 1.0, ..Default::default() },
        GrainPoint { x: 1.0, y: 1.0, radius: nan, ..Default::default() },
        GrainPoint { x: 1.0, y: 1.0, radius: 1.0, rgb: [nan, 0.0, 0.0], ..Default::default() },
        GrainPoint { x: -1e9, y: 1e9, radius: 1.0, ..Default::default() },
        GrainPoint { x: 2.0, y: 1.0, radius: 1.0, rgb: [0.5; 3], ..Default::default() },
        GrainPoint { x: 0.5, y: 0.5, radius: 1e-6, rgb: [1.0; 3], ..Default::default() },
        GrainPoint { x: 0.5, y: 0.5, radius: 50.0, rgb: [1.0; 3], ..Default::default() },
    ];
    for material in MATERIALS {
        for radius in [0.0, 1.0, 5.0] {
            let style = style(material, radius);
            let ground = ground(3, 2, &style, &odd);
            for (width, height) in [(0, 0), (0, 2), (1, 1), (3, 2)] {
                let tile = Tile { x: 0, y: 0, width, height };
                let mut out = draw(&style, &ground, tile, &odd);
                ground.relief(&style).light(material, tile, &mut out);
                for s in out {
                    assert!(s.iter().all(|v| (0.0..=1.0).contains(v)), "{material:?} {s:?}");
                    assert!(s[..3].iter().all(|v| *v <= s[3] + 1e-6), "{material:?} {s:?}");
                }
            }
        }
        let empty = Ground::new(9, 9, 1.0);
        let tile = Tile { x: 0, y: 0, width: 9, height: 9 };
        assert_eq!(draw(&style(material, 1.0), &empty, tile, &[]), [[0.0; 4]; 81]);
    }
}

#[test]
fn the_ground_forgets_the_order() {
    let style = style(Material::Sand, 1.0);
    let mut grains = pile(40, 40, 1.0);
    let forth = ground(40, 40, &style, &grains);
    grains.reverse();
    let back = ground(40, 40, &style, &grains);
    assert_eq!(forth.cells(), back.cells());
}

#[test]
fn a_packing_without_gaps_covers_the_matte() {
    let grains: Vec<GrainPoint> = (0..400)
        .map(|i| (i % 20, i / 20))
        .map(|(i, j)| GrainPoint {
            x: 1.4 * (i as f32 + 0.5 * (j & 1) as f32),
            y: 1.4 * 0.866 * j as f32,
            radius: 0.7,
            ..Default::default()
        })
        .collect();
    let mut out = vec![0.0; 400];
    draw_matte(Tile { x: 2, y: 2, width: 20, height: 20 }, &grains, &mut out);
    assert!(out.iter().all(|v| *v == 1.0));
}

/// Largest difference between a tile and its twin, in parts of 255.
fn difference(tile: &[[f32; 4]], twin: &[[f64; 4]]) -> f64 {
    let pairs = tile.iter().flatten().zip(twin.iter().flatten());
    pairs.fold(0.0, |most, (a, b)| (f64::from(*a) - b).abs().max(most)) * 255.0
}

#[test]
fn pieces_equal_their_twin() {
    for material in &MATERIALS[3..] {
        let style = style(*material, 4.0);
        let grains: Vec<GrainPoint> = pile(50, 50, 4.0).into_iter().step_by(3).collect();
        let ground = ground(50, 50, &style, &grains);
        let tile = Tile { x: 0, y: 0, width: 50, height: 50 };
        let inside = twin::fields(&ground, &style, 50, 50);
        let mut twin = Vec::new();
        for (k, f) in inside.iter().enumerate() {
            let ([mut s0, mut s1, mut s2, mut s3], gain) = twin::inside(f);
            for grain in &grains {
                let piece = Piece::new(&style, grain);
                let (dx, dy) = ((k % 50) as f32 + 0.5 - grain.x, (k / 50) as f32 + 0.5 - grain.y);
                if dx.abs().max(dy.abs()) > piece.reach() {
                    continue;
                }
                let touch = piece.touch(dx, dy);
                let cover = f64::from(touch.cover);
                let dim = (1.0 - cover) * (1.0 - f64::from(piece.shadow(dx, dy)));
                let [r, g, b] = touch.rgb.map(|c| f64::from(c) * cover);
                (s0, s1, s2) = (s0 * dim + r, s1 * dim + g, s2 * dim + b);
                s3 = 1.0 - (1.0 - s3) * dim;
            }
            let gain = 0.4 + 0.6 * gain;
            twin.push([(s0 * gain).min(s3), (s1 * gain).min(s3), (s2 * gain).min(s3), s3]);
        }
        let most = difference(&draw(&style, &ground, tile, &grains), &twin);
        assert!(most < 1.0, "{material:?}: {most}");
    }
}

#[test]
fn sand_and_snow_equal_their_twins() {
    for (material, radius) in [
        (Material::Sand, 0.7),
        (Material::Sand, 1.4),
        (Material::Picture, 3.0),
        (Material::Snow, 0.7),
        (Material::Snow, 2.0),
    ] {
        let style = style(material, radius);
        let grains = pile(48, 48, radius);
        let ground = ground(48, 48, &style, &grains);
        let tile = Tile { x: 0, y: 0, width: 48, height: 48 };
        let twin = twin::picture(&ground, &style, &grains, 48, 48);
        let most = difference(&draw(&style, &ground, tile, &grains), &twin);
        assert!(most < 1.0, "{material:?} {radius}: {most}");
    }
}

/// The same picture in f64, sample by sample over all grains.
mod twin;
