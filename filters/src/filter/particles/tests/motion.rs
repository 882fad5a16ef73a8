//! Where particles were, where they end, and pictures that move in their frames.

use super::*;
use crate::particle::draw::Blend;
use crate::particle::{Spread, View};

/// Particles that go straight, and that all there is takes aside.
fn moving() -> Layer {
    Layer {
        when: Emission::Pulses { every: 1.0, count: 30.0 },
        place: SpawnArea::Box { x: [0.2, 0.8], y: [0.2, 0.8], z: [1.0, 1.3] },
        direction: [1.0, 0.4, 0.2],
        cone: 0.2,
        life: Spread::fixed(0.95),
        speed: Spread::between(0.1, 0.4),
        swirl: 0.2,
        swirl_size: 0.3,
        swirl_rate: 1.5,
        swirl_age: 0.4,
        sway: [0.05, 0.04],
        sway_rate: 1.3,
        size: Spread::fixed(0.003),
        opacity_over: vec![[0.0, 1.0]],
        thin: 0.0,
        ..Layer::default()
    }
}

fn splats(layer: Layer, format: &Format, n: i64) -> Vec<Splat> {
    let effect = Effect { layers: vec![layer], blend: Blend::Over, wind: 0.1, ..Default::default() };
    Particles::new(effect).splats(format, 3, Level::best(), &at(n)).unwrap()
}

#[test]
fn streaks_go_from_where_they_were_to_where_they_are() {
    let format = Format::from_name("gray", 1920, 1080).unwrap();
    // Three frames, or from birth on: the shutter opens at frames of their own, drawn without.
    let open = |shutter: f32| Layer { shutter, ..moving() };
    let mut long = 0;
    for (n, ago) in [(18, 3), (9, 3), (2, 2)] {
        let (was, is) = (splats(open(0.0), &format, n - ago), splats(open(0.0), &format, n));
        let streaks = splats(open(0.125), &format, n);
        assert!(was.len() == 30 && is.len() == 30 && streaks.len() == 30);
        for ((a, b), s) in was.iter().zip(&is).zip(&streaks) {
            let [a, b, s_at] = [a, b, s].map(|s| [s.x, s.y].map(|v| f64::from(v) / 256.0));
            let way = libm::hypot(b[0] - a[0], b[1] - a[1]);
            if way < 8.0 {
                continue;
            }
            long += 1;
            let middle = [0, 1].map(|i| 0.5 * (a[i] + b[i]));
            let off = libm::hypot(s_at[0] - middle[0], s_at[1] - middle[1]);
            let [half, thick] = s.half.map(|h| f64::from(h) / 16.0);
            assert!(off < 0.3 && (half - thick - 0.5 * way).abs() < 0.3, "{n}: {off} {half} {thick} {way}");
            let turns = libm::atan2(b[1] - a[1], b[0] - a[0]) / core::f64::consts::TAU;
            let turned = f64::from(s.angle) / 65536.0 - turns;
            assert!((turned - libm::round(turned)).abs() < 0.01, "{n}: {turned}");
        }
    }
    assert!(long > 60, "{long}");
}

#[test]
fn particles_end_on_the_floor_and_their_children_start_there() {
    let format = Format::from_name("gray", 640, 360).unwrap();
    for (drag, pull) in [(0.0f32, 0.0f32), (0.0, 1.5), (0.9, 2.0)] {
        let drop = Layer {
            name: "drop".into(),
            when: Emission::Steady(40.0),
            place: SpawnArea::Volume { z: [0.8, 1.6] },
            life: Spread::fixed(3.0),
            speed: Spread::between(0.8, 1.6),
            floor: Some(Spread::between(0.6, 0.9)),
            pull: [0.0, pull, 0.0],
            drag,
            wind: 1.0,
            size: Spread::fixed(0.004),
            opacity_over: vec![[0.0, 1.0]],
            ..Layer::default()
        };
        let still = Layer {
            stream: 1,
            name: String::new(),
            born_of: "drop".into(),
            life: Spread::fixed(2.0),
            speed: Spread::fixed(0.0),
            pull: [0.0; 3],
            floor: None,
            drag: 0.0,
            wind: 0.0,
            ..drop.clone()
        };
        let effect =
            Effect { layers: vec![drop, still], blend: Blend::Over, wind: 0.2, ..Default::default() };
        let spec = Particles::new(effect);
        let seen = |n: i64, which: u64| -> Vec<[f64; 3]> {
            let all = spec.splats(&format, 3, Level::best(), &at(n)).unwrap();
            let of = |s: &&Splat| s.rank & ((1 << 40) - 1) & 1 == which;
            let place = |s: &Splat| [f64::from(s.x) / 256.0, f64::from(s.y) / 256.0, (s.rank >> 1) as f64];
            all.iter().filter(of).map(place).collect()
        };
        // No particle is below the floor, and each falling particle will end where one of its children starts.
        let (falling, standing) = (seen(100, 0), seen(100, 1));
        assert!(falling.len() > 10 && standing.len() > 30, "{} {}", falling.len(), standing.len());
        assert!(falling.iter().all(|p| p[1] < 0.9 * 360.0 + 0.1), "drag {drag}");
        let low = 0.6 * 360.0 - 0.1;
        assert!(
            standing.iter().all(|p| (low..0.9 * 360.0 + 0.1).contains(&p[1])),
            "drag {drag}: {standing:?}"
        );
        // The last that is seen of a drop before it ends is above its child, within what a frame takes it.
        let mut met = 0;
        let fine = |k: i64| FrameTime { time: Ratio::new(k, 4096).unwrap(), ..at(k) };
        let at_fine = |k: i64, which: u64| -> Vec<(u64, [f64; 2])> {
            let all = spec.splats(&format, 3, Level::best(), &fine(k)).unwrap();
            let number = |s: &Splat| (s.rank & ((1 << 40) - 1)) >> 1;
            let list = all.iter().filter(|s| s.rank & 1 == which);
            list.map(|s| (number(s), [f64::from(s.x) / 256.0, f64::from(s.y) / 256.0])).collect()
        };
        for k in (8192..8192 + 512).step_by(4) {
            let (before, after) = (at_fine(k, 0), at_fine(k + 4, 0));
            let children = at_fine(k + 4, 1);
            for (number, from) in before {
                if after.iter().any(|a| a.0 == number) || from[0] < 8.0 || from[0] > 632.0 {
                    continue;
                }
                let Some((_, child)) = children.iter().find(|c| c.0 == number) else {
                    panic!("drag {drag}: {number} ended at {from:?} without a child")
                };
                let gone = [child[0] - from[0], child[1] - from[1]];
                assert!(gone[0].abs() < 0.5 && (-0.02..1.5).contains(&gone[1]), "drag {drag}: {gone:?}");
                met += 1;
            }
        }
        assert!(met >= 2, "drag {drag}: {met}");
    }
}

/// The places of each particle of an effect of one layer, by number, over frames `0..frames`.
fn ways(layer: Layer, wind: f64, frames: i64) -> std::collections::BTreeMap<u64, Vec<(i64, [i32; 2])>> {
    let format = Format::from_name("gray", 640, 360).unwrap();
    let effect = Effect { layers: vec![layer], blend: Blend::Over, wind, ..Default::default() };
    let spec = Particles::new(effect);
    let mut ways = std::collections::BTreeMap::<_, Vec<_>>::new();
    for n in 0..frames {
        for s in spec.splats(&format, 3, Level::best(), &at(n)).unwrap() {
            ways.entry(s.rank & ((1 << 40) - 1)).or_default().push((n, [s.x, s.y]));
        }
    }
    ways
}

#[test]
fn a_birthplace_is_the_same_in_every_frame() {
    // The path jumps at the very moment of a birth.
    let layer = Layer {
        when: Emission::Pulses { every: 1.0, count: 1.0 },
        place: SpawnArea::Path { z: [1.0; 2] },
        path: Some("0|=0.2,0.5;24|=0.8,0.5".parse().unwrap()),
        life: Spread::fixed(5.0),
        speed: Spread::fixed(0.0),
        size: Spread::fixed(0.02),
        opacity_over: vec![[0.0, 1.0]],
        ..Layer::default()
    };
    let ways = ways(layer, 0.0, 100);
    assert!(ways.len() > 7 && ways.values().filter(|way| way.len() > 50).count() > 3, "{ways:?}");
    for way in ways.values() {
        assert!(way.iter().all(|(_, at)| *at == way[0].1), "{way:?}");
    }
}

#[test]
fn particles_that_hit_the_floor_do_not_return() {
    // They sink to the floor, are lifted, and would rise above it again.
    for drag in [0.0, 0.5] {
        let layer = Layer {
            when: Emission::Steady(20.0),
            place: SpawnArea::Box { x: [0.2, 0.8], y: [0.2, 0.3], z: [1.0, 1.2] },
            life: Spread::fixed(3.0),
            speed: Spread::between(0.2, 1.2),
            pull: [0.0, -0.7, 0.0],
            drag,
            floor: Some(Spread::fixed(0.5)),
            wind: 0.0,
            size: Spread::fixed(0.01),
            opacity_over: vec![[0.0, 1.0]],
            ..Layer::default()
        };
        let (mut ended, mut turned) = (0, 0);
        for way in ways(layer, 0.0, 90).values() {
            assert!(way.windows(2).all(|w| w[1].0 == w[0].0 + 1), "drag {drag}: {way:?}");
            let lowest = way.iter().map(|w| w.1[1]).max().unwrap();
            assert!(lowest <= 180 * 256 + 1, "drag {drag}: {way:?}");
            let last = way[way.len() - 1];
            ended += usize::from(last.0 < 80 && last.1[1] > 160 * 256);
            turned += usize::from(lowest > way[0].1[1] && last.1[1] < lowest - 256);
        }
        assert!(ended > 5 && turned > 5, "drag {drag}: {ended} {turned}");
    }
}

#[test]
fn children_of_a_tunnel_are_on_the_floor() {
    let format = Format::from_name("gray", 640, 360).unwrap();
    let drop = Layer {
        name: "drop".into(),
        when: Emission::Steady(60.0),
        place: SpawnArea::Tunnel { z: [0.5, 2.0] },
        direction: [0.0, 0.8, -0.6],
        life: Spread::fixed(6.0),
        speed: Spread::between(0.8, 1.2),
        floor: Some(Spread::between(0.6, 0.9)),
        wind: 0.0,
        opacity_over: vec![[0.0, 1.0]],
        ..Layer::default()
    };
    let still = Layer {
        stream: 1,
        name: String::new(),
        born_of: "drop".into(),
        life: Spread::fixed(2.0),
        speed: Spread::fixed(0.0),
        floor: None,
        ..drop.clone()
    };
    let layers = vec![drop, still];
    let spec = Particles::new(Effect { layers, blend: Blend::Over, wind: 0.0, ..Default::default() });
    let mut standing = 0;
    for n in [100, 113, 171] {
        for s in spec.splats(&format, 3, Level::best(), &at(n)).unwrap() {
            let y = f64::from(s.y) / 256.0;
            assert!(y < 0.9 * 360.0 + 0.1, "{s:?}");
            if s.rank & ((1 << 40) - 1) & 1 == 1 {
                assert!(y > 0.6 * 360.0 - 0.1, "{n}: {y}");
                standing += 1;
            }
        }
    }
    assert!(standing > 100, "{standing}");
}

#[test]
fn culled_particles_are_invisible() {
    let format = Format::from_name("gray", 320, 180).unwrap();
    // Most of it is far to the left of the frame, and its children with it.
    let layer = Layer {
        name: "parent".into(),
        when: Emission::Steady(1000.0),
        place: SpawnArea::Box { x: [-6.0, 1.0], y: [-4.0, 1.0], z: [0.8, 1.4] },
        shutter: 0.06,
        trail: 0.3,
        trail_steps: 3,
        ..moving()
    };
    let child =
        Layer { name: String::new(), born_of: "parent".into(), inherit: 0.5, children: 3, ..layer.clone() };
    let open = Layer { trail: 0.0, drag: 0.6, ..layer.clone() };
    let layers = vec![layer, child, open];
    let mut spec = Particles::new(Effect { layers, blend: Blend::Over, wind: 0.1, ..Default::default() });
    for wind in [None, Some("0=0;48=1")] {
        spec.set.wind = wind.map(|text| {
            let parsed = ENTRY.settings.iter().find(|s| s.id == "wind").unwrap().parse(text).unwrap();
            let Value::Number(wind) = parsed else { unreachable!("a number") };
            wind
        });
        let bound = spec.bound(&format, 3, Level::best()).unwrap();
        let now = bound.now(&at(40));
        let culled = bound.scene(&now);
        let whole = Scene { views: vec![View::ALL; 3], ..bound.scene(&now) };
        for (i, layer) in bound.layers.iter().enumerate() {
            let mut pool = layer.pool().unwrap();
            pool.seek(now.flick);
            let (mut lanes, mut got, mut want, mut saved) =
                (Box::new(ParticleBlock::empty()), vec![], vec![], 0);
            for b in 0..pool.blocks() {
                layer.splats(&pool, b, &now, &culled, &mut lanes, &mut got);
                layer.splats(&pool, b, &now, &whole, &mut lanes, &mut want);
                let mut block = crate::particle::PlacedBlock::EMPTY;
                pool.place(b, &View::ALL, &mut block);
                let all = block.live;
                pool.place(b, &culled.views[i], &mut block);
                saved += (all & !block.live).count_ones();
            }
            assert!(got == want && got.len() > 20, "layer {i}: {} {}", got.len(), want.len());
            assert!(saved > 100, "layer {i}: {saved}");
        }
    }
}

#[test]
fn layers_of_a_stream_are_in_the_same_places() {
    let format = Format::from_name("gray", 640, 360).unwrap();
    let star = Layer { place: SpawnArea::Tunnel { z: [0.5, 3.0] }, ..moving() };
    let glow = Layer { size: Spread::fixed(0.3), ..star.clone() };
    let effect = Effect { layers: vec![star, glow], blend: Blend::Over, wind: 0.1, ..Default::default() };
    let all = Particles::new(effect).splats(&format, 3, Level::best(), &at(12)).unwrap();
    let of = |which: u64| all.iter().filter(move |s| s.rank & 1 == which).map(|s| (s.x, s.y, s.rank >> 1));
    let (stars, glows): (Vec<_>, Vec<_>) = (of(0).collect(), of(1).collect());
    // Of what is off the frame, the larger is seen longer.
    assert!(stars.len() > 3 && stars.iter().all(|s| glows.contains(s)), "{stars:?} {glows:?}");
}

#[test]
fn pictures_of_sprites_go_around_in_their_frames() {
    let format = Format::from_name("gray", 160, 90).unwrap();
    let mut picture = Frame::new(Format::from_name("gray", 16, 9).unwrap());
    for y in 0..9 {
        for (x, s) in picture.row_mut::<u8>(0, y).iter_mut().enumerate() {
            *s = (x * 13 + y * 5) as u8;
        }
    }
    // One sprite, a sample for a sample, that stands still.
    let read = ImageAsset::named("p.png").read(picture.clone());
    let sprite = |offset, scroll| Sprite {
        picture: read.clone(),
        columns: 1,
        rows: 1,
        page: Page::Chance,
        page_rate: 0.0,
        offset,
        scroll,
    };
    let drawn = |offset, scroll, n| {
        let layer = Layer {
            when: Emission::Pulses { every: 1.0, count: 1.0 },
            place: SpawnArea::Box { x: [0.5; 2], y: [0.5; 2], z: [1.0; 2] },
            life: Spread::fixed(0.99),
            size: Spread::fixed(8.0 / 90.0),
            squash: 9.0 / 16.0,
            opacity_over: vec![[0.0, 1.0]],
            form: Appearance::Sprite(sprite(offset, scroll)),
            ..Layer::default()
        };
        let effect = Effect { layers: vec![layer], blend: Blend::Over, wind: 0.0, ..Default::default() };
        frame(&format, &*Particles::new(effect).bind(&format, 1, Level::best()).unwrap(), n)
    };
    let fixed = |x, y| [Spread::fixed(x), Spread::fixed(y)];
    // As it is and moved by whole widths it is the same; moved by half a width, its halves change places.
    let plain = drawn(fixed(0.0, 0.0), fixed(0.0, 0.0), 5);
    assert!(drawn(fixed(-3.0, 2.0), fixed(24.0, -48.0), 5) == plain);
    let rows = 41..49;
    let half = drawn(fixed(0.5, 0.0), fixed(0.0, 0.0), 5);
    let scrolled = drawn(fixed(0.25, 0.0), fixed(1.2, 0.0), 5);
    for y in rows {
        let [a, b, c] = [&plain, &half, &scrolled].map(|f| &f.row::<u8>(0, y)[72..88]);
        assert!(a[..8] == b[8..] && a[8..] == b[..8] && b == c, "{a:?} {b:?} {c:?}");
    }
}
