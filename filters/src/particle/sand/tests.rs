//! Piles: their slope, their rest, and that no grain is lost or passes anything.

use super::*;
use crate::filter::testing::ThreadsBackwards;
use crate::host::CurrentThread;
use crate::noise::seed::mix64;
use crate::particle::fluid::SignedDistanceField;
use std::sync::Arc;

pub(super) const SIZE: [f32; 2] = [200.0, 100.0];
pub(super) const FORCES: Forces = Forces {
    gravity: 500.0,
    friction: 0.8,
    drag: 1.5,
    wind: 0.0,
    gusts: 0.0,
    lifted: 0,
    melted: 0,
    shaken: 0,
    jolt: 0.0,
    drain: [0.0; 2],
    time: 0.0,
    seed: 0,
    number: 0,
};

pub(super) fn scene(solids: Solids) -> Sand {
    let settings = SandSettings { size: SIZE, step: 1.0 / 48.0, solids };
    Sand::new(settings, Level::best()).unwrap()
}

pub(super) fn floor() -> Solids {
    Solids { floor: true, ..Solids::default() }
}

/// Eight flyers per step from a point above the middle.
pub(super) fn poured(step: u32, seed: u64) -> Vec<Flyer> {
    let unit = |h: u64| (h >> 40) as f32 * (1.0 / (1u32 << 24) as f32);
    let flyer = |id: u32| {
        let hash = mix64(u64::from(id) ^ seed << 40);
        let at = [0.5 * SIZE[0] + 3.0 * (unit(hash) - 0.5), 12.0 + 4.0 * unit(mix64(hash))];
        Flyer { id, at, velocity: [0.0, 20.0] }
    };
    (8 * step..8 * step + 8).map(flyer).collect()
}

pub(super) fn grains(sand: &Sand) -> Vec<Grain> {
    let mut all = Vec::new();
    sand.read(0..sand.cells.count(), |grain| all.push(*grain));
    all
}

fn is_asleep(sand: &Sand) -> bool {
    sand.active.is_empty() && sand.flying().is_empty()
}

/// Pours 8 grains in each of so many steps, and waits until all sleep.
fn pile(friction: f32, steps: u32, seed: u64) -> Sand {
    let (mut sand, forces) = (scene(floor()), Forces { friction, ..FORCES });
    for step in 0..20_000 {
        let arrivals = if step < steps { poured(step, seed) } else { Vec::new() };
        sand.step(&forces, &arrivals, &CurrentThread).unwrap();
        let counted = sand.len() + sand.flying().len() + sand.drained() as usize;
        assert_eq!(counted as u32, 8 * steps.min(step + 1), "a grain is lost");
        if step > steps && is_asleep(&sand) {
            return sand;
        }
    }
    let awake: Vec<Grain> = grains(&sand).into_iter().filter(|g| g.still < ASLEEP).collect();
    panic!("a pile of friction {friction} does not come to rest: {awake:?} {:?}", sand.flying());
}

/// The angle of a pile's flanks in degrees, from lines through its surface between a fifth and four fifths of its height.
fn angle(sand: &Sand) -> f64 {
    let mut top = vec![0f64; SIZE[0] as usize];
    for grain in grains(sand) {
        if let Some(top) = top.get_mut(grain.at[0].max(0.0) as usize) {
            *top = top.max(f64::from(SIZE[1] - grain.at[1]));
        }
    }
    let peak = top.iter().copied().fold(0.0, f64::max);
    let middle = top.iter().position(|t| *t == peak).unwrap();
    let slope = |flank: &[f64]| {
        let points: Vec<(f64, f64)> = (0..)
            .map(f64::from)
            .zip(flank.iter().copied())
            .filter(|p| p.1 > 0.2 * peak && p.1 < 0.8 * peak)
            .collect();
        let n = points.len() as f64;
        let (mx, my) =
            (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
        let sxy: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
        let sxx: f64 = points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum();
        (sxy / sxx).abs()
    };
    let mean = 0.5 * (slope(&top[..middle]) + slope(&top[middle..]));
    mean.atan().to_degrees()
}

#[test]
fn piles_are_as_steep_as_the_friction_says() {
    for (friction, seeds) in [(0.6f32, 5), (0.8, 20), (1.1, 5)] {
        let angles: Vec<f64> = (0..seeds).map(|seed| angle(&pile(friction, 450, seed))).collect();
        let want = f64::from(friction).atan().to_degrees();
        let mean = angles.iter().sum::<f64>() / angles.len() as f64;
        let is_near = (mean - want).abs() < 1.5 && angles.iter().all(|angle| (angle - want).abs() < 3.0);
        assert!(is_near, "friction {friction}: {angles:?}, not {want}");
    }
}

/// The pile of friction 1.1 (47.7 degrees) after 500 steps with `forces`, without jolts in the last 200.
fn after(forces: Forces) -> Sand {
    let mut sand = pile(1.1, 300, 3);
    for step in 0..500 {
        let shaken = if step < 300 { forces.shaken } else { 0 };
        sand.step(&Forces { number: step, shaken, ..forces }, &[], &CurrentThread).unwrap();
    }
    sand
}

#[test]
fn less_friction_and_jolts_flatten_a_pile_and_a_drain_empties_it() {
    let loosened = angle(&after(Forces { friction: 0.7, shaken: 33, jolt: 16.0, ..FORCES }));
    let shaken = angle(&after(Forces { friction: 1.1, shaken: 33, jolt: 100.0, ..FORCES }));
    let before = angle(&pile(1.1, 300, 3));
    assert!((loosened - 35.0).abs() < 5.0 && shaken < before - 3.0, "{before} {loosened} {shaken}");
    let drain = [90.0, 110.0];
    let drained = after(Forces { friction: 1.1, drain, ..FORCES });
    let counted = drained.len() + drained.flying().len() + drained.drained() as usize;
    assert!(drained.drained() > 600 && counted == 2400, "{counted}");
    // What lies beside the hole stays.
    let rests_in_it = |g: &Grain| g.still >= ASLEEP && (94.0..106.0).contains(&g.at[0]);
    let rest: Vec<Grain> = grains(&drained).into_iter().filter(rests_in_it).collect();
    assert!(rest.is_empty() && drained.len() > 200, "{rest:?} of {}", drained.len());
}

/// Sleeping grains do not move, and overlap by less than a quarter of a diameter.
#[test]
fn a_pile_at_rest_stays_as_it_is() {
    let mut sand = pile(0.7, 250, 5);
    let before = sand.items();
    for _ in 0..1000 {
        sand.step(&FORCES, &[], &CurrentThread).unwrap();
    }
    assert!(sand.items() == before);
    let all = grains(&sand);
    for (i, a) in all.iter().enumerate() {
        for b in &all[i + 1..] {
            let [dx, dy] = [a.at[0] - b.at[0], a.at[1] - b.at[1]];
            let gap = (dx * dx + dy * dy).sqrt() - radius(a.id) - radius(b.id);
            assert!(gap > -0.25, "{a:?} {b:?} overlap by {}", -gap);
        }
    }
}

/// A state that was stored continues as the one that was not, on any threads.
#[test]
fn states_continue_after_they_were_restored() {
    let forces = |step: u32| Forces {
        wind: 30.0,
        gusts: 20.0,
        lifted: 3,
        melted: 1,
        shaken: 2,
        jolt: 20.0,
        drain: if step < 60 { [0.0; 2] } else { [90.0, 60.0 + 0.5 * step as f32] },
        seed: 7,
        number: u64::from(step),
        time: step as f32 / 48.0,
        ..FORCES
    };
    // Enough awake grains for several tasks.
    let many = |step: u32| {
        (0..10).flat_map(|k| poured(10 * step + k, 2)).map(|f| spread(f, step)).collect::<Vec<_>>()
    };
    let mut whole = scene(floor());
    let mut parts = scene(floor());
    let mut most = 0;
    for step in 0..160 {
        let arrivals = many(step);
        whole.step(&forces(step), &arrivals, &CurrentThread).unwrap();
        parts.step(&forces(step), &arrivals, &ThreadsBackwards(2)).unwrap();
        most = most.max(grains(&whole).iter().filter(|g| g.still < ASLEEP).count());
        if step % 37 == 36 {
            let items = parts.items();
            assert!(items == whole.items(), "step {step}");
            parts = scene(floor());
            assert!(parts.restore(&items));
        }
    }
    assert!(whole.items() == parts.items());
    assert!(most > 1100, "{most}");
    assert!(!parts.restore(&[[0.0, f32::MAX, 0.0, 0.0, 0.0, 0.0]]));
}

fn spread(flyer: Flyer, step: u32) -> Flyer {
    let x = (flyer.id * 7 % 180) as f32 + 10.0;
    Flyer { at: [x + 0.1 * (step % 7) as f32, flyer.at[1]], ..flyer }
}

/// A slab that is two grains thick holds everything back, however fast grains fall on it.
#[test]
fn no_grain_passes_a_wall_of_two_grains() {
    let border = BORDER as usize;
    let size = [SIZE[0] as usize + 2 * border + 1, SIZE[1] as usize + 2 * border + 1];
    let inside: Vec<bool> =
        (0..size[0] * size[1]).map(|i| (60..62).contains(&(i / size[0]).wrapping_sub(border))).collect();
    let obstacle = SignedDistanceField::new(size, [-BORDER; 2], 1.0, &inside).map(Arc::new);
    let mut sand = scene(Solids { obstacle, ..Solids::default() });
    for step in 0..600 {
        let mut arrivals = poured(step, 9);
        arrivals.iter_mut().for_each(|flyer| flyer.velocity[1] = 3000.0);
        let arrivals = if step < 300 { arrivals } else { Vec::new() };
        sand.step(&FORCES, &arrivals, &CurrentThread).unwrap();
        let below = |at: [f32; 2]| at[1] > 61.5 && (8.0..SIZE[0] - 8.0).contains(&at[0]);
        assert!(!grains(&sand).iter().any(|g| below(g.at)), "step {step}");
        assert!(!sand.flying().iter().any(|f| below(f.at)), "step {step}");
    }
    assert!(sand.len() > 1000);
}
