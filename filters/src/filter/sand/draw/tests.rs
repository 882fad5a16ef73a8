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

pub(super) fn style(material: Material, radius: f32, size: [usize; 2]) -> Style {
    Style { material, light: [-0.6, -0.8], radius, size, level: Level::SCALAR }
}

/// Grains over the lower part of a picture, dense below, single above.
pub(super) fn pile(width: usize, height: usize, radius: f32) -> Vec<GrainPoint> {
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

fn ground(style: &Style, grains: &[GrainPoint]) -> Ground {
    let mut ground = Ground::new(style.size, style.radius);
    grains.iter().for_each(|grain| ground.add([grain.x, grain.y], grain.radius, 1));
    ground
}

pub(super) fn draw(style: &Style, tile: Tile, grains: &[GrainPoint]) -> Vec<[f32; 4]> {
    let mut out = vec![[9.0; 4]; tile.width * tile.height];
    draw_tile(style.level, style, tile, grains, &mut out, &mut Scratch::default());
    out
}

fn bits(samples: &[[f32; 4]]) -> Vec<[u32; 4]> {
    samples.iter().map(|s| s.map(f32::to_bits)).collect()
}

#[test]
fn tiles_have_no_seams_at_any_level() {
    let (width, height) = (90, 70);
    for material in MATERIALS {
        for radius in [0.7, 1.4, 4.0] {
            let style = style(material, radius, [width, height]);
            let grains = pile(width, height, radius);
            let light = ground(&style, &grains).light(&style);
            let flyers: Vec<Flyer> = grains
                .iter()
                .step_by(40)
                .map(|g| Flyer { grain: *g, way: [9.0 * unit(hash(g.id), 0), -7.5] })
                .collect();
            let picture = |tile: Tile, level: Level| {
                let drawn = draw(&Style { level, ..style }, tile, &grains);
                let mut out = vec![[9.0; 4]; drawn.len()];
                light.apply(&style, tile, &drawn, &mut out, tile.width);
                draw_flyers(&style, tile, &flyers, &mut out);
                let mut matte = vec![0.0; out.len()];
                draw_matte(tile, 2.0 * radius, &grains, &mut matte);
                out.iter_mut().zip(matte).for_each(|(s, m)| s[3] += m);
                out
            };
            let all = picture(Tile { x: 0, y: 0, width, height }, Level::SCALAR);
            assert!(all.iter().flatten().all(|v| v.is_finite()));
            for (i, (x0, x1)) in [(0, 13), (13, 14), (14, 61), (61, 90)].into_iter().enumerate() {
                for (y0, y1) in [(0, 7), (7, 41), (41, 70)] {
                    let tile = Tile { x: x0, y: y0, width: x1 - x0, height: y1 - y0 };
                    let levels = Level::available();
                    let part = picture(tile, levels[i % levels.len()]);
                    for (y, row) in part.chunks_exact(tile.width).enumerate() {
                        let start = (y0 + y) * width + x0;
                        let from = &all[start..start + tile.width];
                        assert_eq!(bits(row), bits(from), "{material:?} {radius} {tile:?} row {y}");
                    }
                }
            }
        }
    }
}

#[test]
fn grains_beyond_the_reach_do_not_matter() {
    for (material, radius) in MATERIALS.into_iter().flat_map(|m| [(m, 0.6), (m, 1.0), (m, 9.0)]) {
        let (width, height) = (700, 40);
        let style = style(material, radius, [width, height]);
        let tile = Tile { x: 330, y: 10, width: 20, height: 20 };
        let mut grains = pile(width, height, radius);
        let all = draw(&style, tile, &grains);
        let count = grains.len();
        grains.retain(|g| tile.sees(g, style.reach()));
        assert!(grains.len() < count);
        assert_eq!(bits(&all), bits(&draw(&style, tile, &grains)), "{material:?}");
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
            let style = style(material, radius, [3, 2]);
            for (width, height) in [(0, 0), (0, 2), (1, 1), (3, 2)] {
                let tile = Tile { x: 0, y: 0, width, height };
                let drawn = draw(&style, tile, &odd);
                let mut out = drawn.clone();
                ground(&style, &odd).light(&style).apply(&style, tile, &drawn, &mut out, width);
                for s in out {
                    assert!(s.iter().all(|v| (0.0..=1.0).contains(v)), "{material:?} {s:?}");
                    assert!(s[..3].iter().all(|v| *v <= s[3] + 1e-6), "{material:?} {s:?}");
                }
            }
        }
        let tile = Tile { x: 0, y: 0, width: 9, height: 9 };
        assert_eq!(draw(&style(material, 1.0, [9, 9]), tile, &[]), [[0.0; 4]; 81]);
    }
}

#[test]
fn the_ground_forgets_what_is_taken_away() {
    let style = style(Material::Sand, 1.0, [40, 40]);
    let mut grains = pile(40, 40, 1.0);
    let gain = ground(&style, &grains).light(&style).gain().to_vec();
    let gone = pile(40, 40, 1.3);
    grains.reverse();
    let mut ground = ground(&style, &gone);
    grains.iter().for_each(|g| ground.add([g.x, g.y], g.radius, 1));
    gone.iter().for_each(|g| ground.add([g.x, g.y], g.radius, -1));
    assert_eq!(ground.light(&style).gain(), gain);
}

#[test]
fn a_packing_without_gaps_covers_the_matte() {
    let grains: Vec<GrainPoint> = (0..400)
        .map(|i| (i % 20, i / 20))
        .map(|(i, j)| GrainPoint {
            x: 1.4 * (i as f32 + 0.5 * (j & 1) as f32),
            y: 1.4 * 0.866 * j as f32,
            // Grains are smaller than their places.
            radius: 0.3 + 0.02 * i as f32,
            ..Default::default()
        })
        .collect();
    let mut out = vec![0.0; 400];
    draw_matte(Tile { x: 2, y: 2, width: 20, height: 20 }, 1.4, &grains, &mut out);
    assert!(out.iter().all(|v| *v == 1.0));
}
