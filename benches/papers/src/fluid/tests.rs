//! Neighbours against all pairs; sums against their definition; what physics keeps; one result.

use super::settings::Constants;
use super::*;
use crate::simd::Level;
use grainfield_filters::host::{CurrentThread, Executor, Host, NoCache};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Real threads.
struct Threads(usize);

impl Executor for Threads {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|s| {
            for _ in 0..self.0 {
                s.spawn(|| {
                    loop {
                        let t = next.fetch_add(1, Ordering::Relaxed);
                        if t >= count {
                            break;
                        }
                        task(t);
                    }
                });
            }
        });
    }
    fn width(&self) -> usize {
        self.0
    }
}

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }
}

/// Clouds of several kinds: spread, clustered, on a lattice whose distances are exactly the radius, flat, far out.
fn clouds() -> Vec<(&'static str, Vec<[f32; 3]>, f32)> {
    let mut rng = Rng(11);
    let mut some = |n: usize, scale: [f32; 3], from: [f32; 3]| -> Vec<[f32; 3]> {
        (0..n).map(|_| core::array::from_fn(|a| from[a] + scale[a] * rng.unit())).collect()
    };
    let lattice = (0..512).map(|i| [i % 8, i / 8 % 8, i / 64].map(|v| v as f32 * 0.25)).collect();
    let mut mixed = some(300, [3.0, 2.0, 1.0], [0.0; 3]);
    mixed.extend(some(200, [0.1, 0.1, 0.1], [1.95, 0.9, 0.45]));
    mixed.extend([[1.0; 3]; 5]);
    vec![
        ("spread", some(700, [3.0, 2.0, 1.0], [0.0; 3]), 0.25),
        ("mixed", mixed, 0.31),
        ("lattice", lattice, 0.25),
        ("flat", some(500, [3.0, 2.0, 0.0], [0.0; 3]), 0.2),
        ("one cell", some(40, [0.2, 0.2, 0.2], [0.0; 3]), 1.0),
        ("negative", some(400, [2.0, 2.0, 2.0], [-1.0; 3]), 0.3),
        ("far", some(300, [2.0, 2.0, 2.0], [5000.0, -3000.0, 800.0]), 0.4),
        ("beyond", some(50, [2.0, 2.0, 2.0], [1e9, -1e9, 0.0]), 0.4),
        ("none", vec![], 1.0),
    ]
}

type Found = Vec<(u32, u32, u32)>;

fn all_pairs(places: &[[f32; 3]], radius: f32) -> Found {
    let mut found = vec![];
    for (i, a) in (0..).zip(places) {
        for (j, b) in (0..).zip(places) {
            let d2 = search::square(*a, *b);
            if i != j && d2 < radius * radius {
                found.push((i, j, d2.to_bits()));
            }
        }
    }
    found
}

#[test]
fn every_search_finds_all_pairs() {
    for (name, places, radius) in clouds() {
        let want = all_pairs(&places, radius);
        let domain = [3.0, 2.0, 1.0];
        for search in Search::ALL {
            let cell = search.cell(radius);
            for grid in [Grid::new(domain, cell), Grid::open(cell)] {
                if grid.is_dense() && matches!(name, "negative" | "far" | "beyond") {
                    continue; // what lies outside the box of a dense grid is filed at its border
                }
                let dense = grid.is_dense();
                let (layout, order) = Layout::of(grid, &places, Level::best()).unwrap();
                let mut found = vec![];
                let tested = pairs(search, &layout, radius, |i, j, d2| {
                    found.push((order[i as usize], order[j as usize], d2.to_bits()));
                });
                found.sort_unstable();
                assert!(found == want, "{name} {search:?} dense {dense}: {} of {}", found.len(), want.len());
                let both = if search == Search::H14 { 2 } else { 1 };
                assert!(tested * both >= want.len() as u64);
            }
        }
    }
}

#[test]
fn lists_hold_all_pairs_in_the_grids_order_on_every_level() {
    for (name, places, radius) in clouds() {
        for grid in [Grid::new([3.0, 2.0, 1.0], radius), Grid::open(radius)] {
            if grid.is_dense() && matches!(name, "negative" | "far" | "beyond") {
                continue;
            }
            let (layout, _) = Layout::of(grid, &places, Level::best()).unwrap();
            // The definition: cells by z, y, x, then by place.
            let mut want = vec![];
            for i in 0..layout.len() {
                let [x, y, z] = layout.grid().cell(layout.at(i));
                for (dz, dy, dx) in (0..27).map(|n| (n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1)) {
                    for j in layout.of_cell([x + dx, y + dy, z + dz]) {
                        let d2 = search::square(layout.at(i), layout.at(j as usize));
                        if d2 < radius * radius && j as usize != i {
                            want.push((i, j, d2.to_bits()));
                        }
                    }
                }
            }
            for &level in Level::available() {
                for cuts in [1, 2, 7] {
                    let (mut got, mut list, mut room) = (vec![], List::default(), Candidates::default());
                    let cells = layout.held().len();
                    for c in 0..cuts {
                        let range = cells * c / cuts..cells * (c + 1) / cuts;
                        list.fill(level, &layout, range, radius, &mut room).unwrap();
                        for k in 0..list.len() {
                            let (near, d2) = list.of(k);
                            let pairs = near.iter().zip(d2);
                            got.extend(pairs.map(|(j, d2)| (list.first() + k, *j, d2.to_bits())));
                        }
                    }
                    assert!(got == want, "{name} {level} {cuts}");
                }
            }
        }
    }
}

#[test]
fn a_grid_keeps_bit_0_for_x_and_numbers_each_cell_once() {
    let grid = Grid::new([353.5, 93.5, 54.5], 1.0);
    assert_eq!((grid.size(), grid.numbers()), ([354, 94, 55], 1 << 22));
    let mut seen = vec![false; grid.numbers() as usize];
    for (z, y, x) in (0..55).flat_map(|z| (0..94).flat_map(move |y| (0..354).map(move |x| (z, y, x)))) {
        let n = grid.number([x, y, z]).unwrap() as usize;
        assert!(!std::mem::replace(&mut seen[n], true));
        assert_eq!(n & 1, (x & 1) as usize);
    }
    assert_eq!(grid.number([354, 0, 0]), None);
    assert_eq!(grid.number([-1, 0, 0]), None);
    assert!(!Grid::new([1e6, 1e6, 1e6], 1.0).is_dense());
    assert!(Grid::new([0.0; 3], 1.0).is_dense());
}

#[test]
fn too_many_in_one_place_are_refused() {
    let places = vec![[0.5; 3]; MAX_NEIGHBORS + 1];
    let (layout, _) = Layout::of(Grid::new([1.0; 3], 0.3), &places, Level::best()).unwrap();
    for &level in Level::available() {
        let (mut list, mut room) = (List::default(), Candidates::default());
        let refused = list.fill(level, &layout, 0..1, 0.3, &mut room);
        assert_eq!(refused, Err(FluidError::Crowded { count: MAX_NEIGHBORS + 1, most: MAX_NEIGHBORS }));
    }
    let places = &places[1..];
    let (layout, _) = Layout::of(Grid::new([1.0; 3], 0.3), places, Level::best()).unwrap();
    for &level in Level::available() {
        let (mut list, mut room) = (List::default(), Candidates::default());
        list.fill(level, &layout, 0..1, 0.3, &mut room).unwrap();
        assert_eq!(list.pairs(), MAX_NEIGHBORS * (MAX_NEIGHBORS - 1));
    }
}

/// A small dam, disturbed, with every force at work.
fn disturbed(flat: bool, equation_of_state: EquationOfState) -> (Settings, Vec<Parcel>) {
    let base = if flat { Settings::flat([1.0, 0.6], 0.04) } else { Settings::solid([0.6, 0.5, 0.3], 0.05) };
    let settings = Settings { equation_of_state, cohesion: 50.0, ..base };
    let mut parcels = block(&settings, [0.3, 0.4, 0.3]).unwrap();
    let mut rng = Rng(5);
    for p in &mut parcels {
        for axis in 0..settings.axes() {
            p.pos[axis] += 0.3 * settings.spacing * (rng.unit() - 0.5);
            p.vel[axis] = rng.unit() - 0.5;
        }
    }
    (settings, parcels)
}

/// The equations as they are written, over all pairs, in f64; against what one step does.
#[test]
fn a_step_follows_the_equations() {
    for (flat, equation_of_state) in
        [(true, EquationOfState::Tait), (true, EquationOfState::Linear), (false, EquationOfState::Tait)]
    {
        let (s, parcels) = disturbed(flat, equation_of_state);
        let wide = |v: [f32; 3]| v.map(f64::from);
        let (h, c) = (f64::from(s.radius), f64::from(s.sound));
        let kernel = |r: f64| if r < h { (1.0 - r / h).powi(4) * (1.0 + 4.0 * r / h) } else { 0.0 };
        let slope = |r: f64| if r < h { -20.0 / (h * h) * (1.0 - r / h).powi(3) } else { 0.0 };
        let lattice = |f: &dyn Fn([f64; 3]) -> f64| {
            let (dx, mut sum) = (f64::from(s.spacing), 0.0);
            for (i, j, k) in (0..343).map(|n| (n % 7 - 3, n / 7 % 7 - 3, n / 49 - 3)) {
                if !flat || k == 0 {
                    sum += f([f64::from(i) * dx, f64::from(j) * dx, f64::from(k) * dx]);
                }
            }
            sum
        };
        let norm = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let whole = lattice(&|v| kernel(norm(v)));
        let shear = lattice(&|v| (1.0 - norm(v) / h).max(0.0).powi(3) * v[0] * v[0] * v[1] * v[1]);
        let gap = |a: &Parcel, b: &Parcel| {
            let (a, b) = (wide(a.pos), wide(b.pos));
            core::array::from_fn::<f64, 3, _>(|i| a[i] - b[i])
        };
        let density: Vec<f64> = parcels
            .iter()
            .map(|a| parcels.iter().map(|b| kernel(norm(gap(a, b)))).sum::<f64>() / whole)
            .collect();
        let stress = |d: f64| {
            let p = if equation_of_state == EquationOfState::Tait {
                c * c / 7.0 * (d.powi(7) - 1.0)
            } else {
                c * c * (d - 1.0)
            };
            p.max(0.0) / (d * d)
        };
        let mut fluid = Fluid::new(s, &parcels, Level::best()).unwrap();
        let dt = f64::from(fluid.step(&CurrentThread).unwrap());
        let mut after: Vec<Parcel> = fluid.parcels().copied().collect();
        after.sort_unstable_by_key(|p| p.id);
        let (skin, wall) = (0.5 * f64::from(s.spacing), (c / (2.0 * f64::from(s.spacing))).powi(2));
        for (i, a) in parcels.iter().enumerate() {
            let mut force = wide(s.gravity);
            for (j, b) in parcels.iter().enumerate().filter(|(j, _)| *j != i) {
                let (r, u) =
                    (gap(a, b), core::array::from_fn::<f64, 3, _>(|k| wide(a.vel)[k] - wide(b.vel)[k]));
                let d = norm(r);
                let pressure = -(stress(density[i]) + stress(density[j])) * slope(d) / whole;
                let along: f64 = r.iter().zip(u).map(|(r, u)| r * u).sum();
                let drag = 2.0 * f64::from(s.viscosity) / shear * along * (1.0 - d / h).max(0.0).powi(3)
                    / (density[i] * density[j]);
                let pull = f64::from(s.cohesion) / whole * kernel(d);
                for (f, r) in force.iter_mut().zip(r) {
                    *f += (pressure - drag - pull) * r;
                }
            }
            for (axis, force) in force.iter_mut().enumerate().take(s.axes()) {
                let x = f64::from(a.pos[axis]);
                let to_wall = f64::from(s.size[axis]) - x;
                *force += wall * ((skin - x).max(0.0) - (skin - to_wall).max(0.0));
                let vel = f64::from(a.vel[axis]) + *force * dt;
                let pos = x + vel * dt;
                let (got_vel, got_pos) = (f64::from(after[i].vel[axis]), f64::from(after[i].pos[axis]));
                let inside = (0.0..=f64::from(s.size[axis])).contains(&pos);
                assert!(
                    !inside || (got_vel - vel).abs() < 2e-4,
                    "{flat} {equation_of_state:?} {i} {got_vel} {vel}"
                );
                assert!(
                    !inside || (got_pos - pos).abs() < 1e-6,
                    "{flat} {equation_of_state:?} {i} {got_pos} {pos}"
                );
            }
        }
    }
}

fn hash(fluid: &Fluid) -> u64 {
    u64::from_le_bytes(*fluid.save().last_chunk().unwrap())
}

#[test]
fn threads_levels_and_restoring_change_nothing() {
    for (flat, walls) in [(true, true), (false, true), (false, false)] {
        let (s, parcels) = disturbed(flat, EquationOfState::Tait);
        let s = Settings { walls, ..s };
        let mut fluid = Fluid::new(s, &parcels, Level::best()).unwrap();
        let mut history = vec![];
        let mut saved = vec![];
        for _ in 0..120 {
            saved.push(fluid.save());
            fluid.step(&CurrentThread).unwrap();
            history.push(hash(&fluid));
        }
        for &level in Level::available() {
            for threads in [1, 2, 8] {
                // The order the parcels are given in is no matter either.
                let turned: Vec<Parcel> = parcels.iter().rev().copied().collect();
                let mut other = Fluid::new(s, &turned, level).unwrap();
                for (step, want) in history.iter().enumerate() {
                    other.step(&Threads(threads)).unwrap();
                    assert_eq!(hash(&other), *want, "{level} {threads} {step}");
                }
            }
        }
        // From every step's state, the next; from some, all the rest.
        for (step, bytes) in saved.iter().enumerate() {
            let mut again = Fluid::restore(s, bytes, Level::best()).unwrap();
            let to = if step % 40 == 7 { history.len() } else { step + 1 };
            for want in &history[step..to] {
                again.step(&CurrentThread).unwrap();
                assert_eq!(hash(&again), *want, "from {step}");
            }
        }
    }
}

#[test]
fn times_are_reached_exactly() {
    let (s, parcels) = disturbed(true, EquationOfState::Tait);
    let stop = AtomicBool::new(false);
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
    let mut fluid = Fluid::new(s, &parcels, Level::best()).unwrap();
    for frame in 1..=5 {
        fluid.advance(f64::from(frame) / 24.0, &host).unwrap();
        assert_eq!(fluid.time(), f64::from(frame) / 24.0);
    }
    let before = hash(&fluid);
    fluid.advance(0.1, &host).unwrap();
    assert_eq!(hash(&fluid), before);
    stop.store(true, Ordering::Relaxed);
    assert_eq!(fluid.advance(9.0, &host), Err(grainfield_filters::host::PrepareError::Cancelled));
    assert_eq!(hash(&fluid), before);
}

/// A corner breaking dam over 4,000 steps.
fn dam(settings: Settings, size: [f32; 3]) {
    let parcels = block(&settings, size).unwrap();
    let threads = [1, 2, 8];
    let mut fluids = threads.map(|_| Fluid::new(settings, &parcels, Level::best()).unwrap());
    let start = fluids[0].energy(&CurrentThread).unwrap();
    let mass = fluids[0].mass();
    // Energy is counted from the fluid lying flat on the ground, so that the bound means something.
    let mut greatest = 0f64;
    for step in 1..=4000u32 {
        for (fluid, threads) in fluids.iter_mut().zip(threads) {
            let executor: &dyn Executor = if threads == 1 { &CurrentThread } else { &Threads(threads) };
            fluid.step(executor).unwrap();
        }
        if step % 4 == 0 {
            let energy = fluids[0].energy(&CurrentThread).unwrap();
            greatest = greatest.max(energy.total() / start.total());
        }
        for (x, size) in fluids[0].parcels().flat_map(|p| p.pos.into_iter().zip(settings.size)) {
            assert!((0.0..=size).contains(&x), "step {step}");
        }
        if step % 50 == 0 {
            assert_eq!(fluids.each_ref().map(hash), [hash(&fluids[0]); 3], "step {step}");
        }
        if step % 500 == 250 {
            // The second goes on from its saved state.
            fluids[1] = Fluid::restore(settings, &fluids[1].save(), Level::SCALAR).unwrap();
        }
    }
    let mut ids: Vec<u32> = fluids[0].parcels().map(|p| p.id).collect();
    ids.sort_unstable();
    assert!(ids.iter().copied().eq(0..parcels.len() as u32));
    assert_eq!(fluids[0].mass(), mass);
    let end = fluids[0].energy(&CurrentThread).unwrap();
    println!(
        "{} parcels, {:.3} s: start {start:?}, greatest {greatest:.6}, end {end:?}",
        ids.len(),
        fluids[0].time()
    );
    assert!(greatest <= ENERGY, "{greatest}");
    // The dam did break.
    assert!(end.gravity < 0.8 * start.gravity);
}

/// The greatest energy a breaking dam may have, over that at the start.
const ENERGY: f64 = 1.001;

#[test]
fn a_breaking_dam_keeps_its_invariants_2d() {
    dam(Settings::flat([1.2, 0.6], 0.0125), [0.4, 0.4, 0.0]);
}

#[test]
fn a_breaking_dam_keeps_its_invariants_3d() {
    dam(Settings::solid([0.8, 0.5, 0.4], 0.033), [0.4, 0.4, 0.2]);
}

#[test]
fn momentum_is_kept_without_gravity_and_walls() {
    for flat in [true, false] {
        let (s, mut parcels) = disturbed(flat, EquationOfState::Tait);
        let s = Settings { walls: false, gravity: [0.0; 3], ..s };
        parcels.iter_mut().for_each(|p| p.vel[0] += 1.0);
        let mut fluid = Fluid::new(s, &parcels, Level::best()).unwrap();
        assert!(!fluid.layout().grid().is_dense());
        let start = fluid.momentum();
        // In units of what the parcels carry when all go one way.
        let carried = fluid.mass();
        let mut worst = 0f64;
        for _ in 0..4000 {
            fluid.step(&CurrentThread).unwrap();
            let now = fluid.momentum();
            for axis in 0..3 {
                worst = worst.max((now[axis] - start[axis]).abs() / carried);
            }
        }
        println!("flat {flat}: momentum strays {worst:e} of mass times 1 m/s");
        assert!(worst < 1e-5, "{worst}");
    }
}

#[test]
fn damaged_states_are_refused() {
    let (s, parcels) = disturbed(true, EquationOfState::Tait);
    let fluid = Fluid::new(s, &parcels, Level::best()).unwrap();
    let saved = fluid.save();
    let restore = |bytes: &[u8]| Fluid::restore(s, bytes, Level::best());
    assert!(restore(&saved).is_ok());
    for at in 0..saved.len() {
        let mut bytes = saved.clone();
        bytes[at] ^= 1 << (at % 8);
        assert!(restore(&bytes).is_err(), "byte {at}");
        assert!(restore(&saved[..at]).is_err(), "cut at {at}");
    }
    let mut longer = saved.clone();
    longer.push(0);
    assert!(restore(&longer).is_err());
    let other = Settings { cfl: 0.2, ..s };
    assert_eq!(Fluid::restore(other, &saved, Level::best()).err(), Some(FluidError::OtherSettings));
    let mut newer = saved.clone();
    newer[8] = 9;
    assert_eq!(restore(&newer).err(), Some(FluidError::Version { found: 9 }));
}

#[test]
fn invalid_fluids_are_refused() {
    let s = Settings::flat([1.0, 1.0], 0.05);
    let at = |pos: [f32; 3]| Parcel { pos, ..Parcel::default() };
    let new = |s: Settings, p: &[Parcel]| Fluid::new(s, p, Level::best()).err();
    assert_eq!(new(s, &[at([1.1, 0.5, 0.0])]), Some(FluidError::Parcel { id: 0 }));
    assert_eq!(new(s, &[at([0.5, f32::NAN, 0.0])]), Some(FluidError::Parcel { id: 0 }));
    assert_eq!(new(s, &[at([0.5, 0.5, 0.1])]), Some(FluidError::Parcel { id: 0 }));
    assert_eq!(
        new(s, &[at([0.5; 3].map(|v| v - v)), at([0.1, 0.1, 0.0])]),
        Some(FluidError::Twice { id: 0 })
    );
    for wrong in [
        Settings { spacing: 0.0, ..s },
        Settings { spacing: f32::NAN, ..s },
        Settings { radius: 1.0, ..s },
        Settings { size: [0.1, 1.0, 0.0], ..s },
        Settings { sound: 0.0, ..s },
        Settings { viscosity: -1.0, ..s },
        Settings { viscosity: f32::INFINITY, ..s },
        Settings { cfl: 0.9, ..s },
        Settings { gravity: [0.0, f32::NEG_INFINITY, 0.0], ..s },
    ] {
        assert!(matches!(new(wrong, &[]), Some(FluidError::Setting { .. })), "{wrong:?}");
    }
    let huge = Settings { size: [1e3, 1e3, 1e3], flat: false, ..s };
    assert!(matches!(block(&huge, [1e3; 3]), Err(FluidError::TooMany { .. })));
    // No parcels are a fluid too.
    let mut none = Fluid::new(s, &[], Level::best()).unwrap();
    none.step(&CurrentThread).unwrap();
    assert_eq!(Fluid::restore(s, &none.save(), Level::best()).unwrap().save(), none.save());
    // What flies apart is said, and leaves the state as it was.
    let mut fast =
        Fluid::new(s, &[Parcel { vel: [3e38, 3e38, 0.0], ..at([0.5, 0.5, 0.0]) }], Level::best()).unwrap();
    let before = fast.save();
    match fast.step(&CurrentThread) {
        Ok(_) => assert!(fast.parcels().all(|p| p.pos.iter().all(|v| (0.0..=1.0).contains(v)))),
        Err(e) => assert_eq!((e, fast.save()), (FluidError::Diverged { step: 0 }, before)),
    }
    let _ = Constants::new(&s);
}
