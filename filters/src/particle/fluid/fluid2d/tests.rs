use super::*;
use crate::host::CurrentThread;

struct Threads(usize);

impl Executor for Threads {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        let next = core::sync::atomic::AtomicUsize::new(0);
        let work = || {
            loop {
                let i = next.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
                if i >= count {
                    return;
                }
                task(i);
            }
        };
        std::thread::scope(|s| (0..self.0).for_each(|_| drop(s.spawn(work))));
    }
    fn width(&self) -> usize {
        self.0
    }
}

/// splitmix64, 0 to 1.
fn unit(n: u64) -> f32 {
    (crate::noise::seed::mix64(n + 1) >> 40) as f32 / (1u64 << 24) as f32
}

fn settings() -> Fluid2dSettings {
    let (radius, sound, viscosity) = (0.04, 3.0, 0.002);
    Fluid2dSettings {
        size: [1.3, 1.0],
        spacing: 0.02,
        radius,
        gravity: 1.6,
        sound,
        viscosity,
        cohesion: 40.0,
        step: Fluid2d::max_step(radius, sound, viscosity),
        max_speed: 4.0,
    }
}

/// A block in the middle of the box, disturbed.
fn block() -> Vec<[f32; 4]> {
    let place = |i: usize| 0.3 + 0.02 * i as f32;
    let all = (0..25).flat_map(|j| (0..31).map(move |i| (i, j)));
    all.enumerate()
        .map(|(n, (i, j))| {
            let r = |k: u64| unit(4 * n as u64 + k) - 0.5;
            [place(i) + 0.006 * r(0), place(j) + 0.006 * r(1), r(2), r(3)]
        })
        .collect()
}

/// The equations over all pairs, in f64.
#[test]
fn a_step_follows_the_equations() {
    let s = settings();
    let parcels = block();
    let wide: Vec<[f64; 4]> = parcels.iter().map(|p| p.map(f64::from)).collect();
    let (h, dx, c) = (f64::from(s.radius), f64::from(s.spacing), f64::from(s.sound));
    let kernel = |s: f64| if s < 1.0 { (1.0 - s).powi(4) * (1.0 + 4.0 * s) } else { 0.0 };
    let cube = |s: f64| if s < 1.0 { (1.0 - s).powi(3) } else { 0.0 };
    let (mut whole, mut shear) = (0.0, 0.0);
    for (i, j) in (-4..=4).flat_map(|j| (-4..=4).map(move |i| (i, j))) {
        let (x, y) = (f64::from(i) * dx, f64::from(j) * dx);
        let r = x.hypot(y) / h;
        whole += kernel(r);
        shear += cube(r) * x * x * y * y;
    }
    let density: Vec<f64> = wide
        .iter()
        .map(|a| wide.iter().map(|b| kernel((a[0] - b[0]).hypot(a[1] - b[1]) / h)).sum::<f64>() / whole)
        .collect();
    let pressure_term = |d: f64| (c * c * (d - 1.0)).max(0.0) / (d * d);
    let mut fluid = Fluid2d::new(s, None, &parcels, 0, Level::best()).unwrap();
    fluid.step(&CurrentThread);
    let after = fluid.parcels();
    for (i, a) in wide.iter().enumerate() {
        let mut force = [0.0, f64::from(s.gravity)];
        for (j, b) in wide.iter().enumerate().filter(|(j, _)| *j != i) {
            let (x, y) = (a[0] - b[0], a[1] - b[1]);
            let r = x.hypot(y) / h;
            let along = x * (a[2] - b[2]) + y * (a[3] - b[3]);
            let push = 20.0 / (whole * h * h) * (pressure_term(density[i]) + pressure_term(density[j]));
            let drag = 2.0 * f64::from(s.viscosity) / shear * along / (density[i] * density[j]);
            let pull = f64::from(s.cohesion) / whole * (1.0 - r) * (1.0 + 4.0 * r);
            let f = cube(r) * (push - drag - pull);
            force[0] += f * x;
            force[1] += f * y;
        }
        let dt = f64::from(s.step);
        let speed = [a[2] + force[0] * dt, a[3] + force[1] * dt];
        for k in 0..2 {
            assert!((f64::from(after[i][2 + k]) - speed[k]).abs() < 1e-3, "{i}: {after:?}", after = after[i]);
            let place = a[k] + speed[k] * dt;
            assert!((f64::from(after[i][k]) - place).abs() < 1e-5, "{i}");
        }
    }
}

/// Every pair that is near enough lies in cells that touch, however places are rounded and however fast parcels are.
#[test]
fn no_pair_is_missed() {
    let s = Fluid2dSettings { gravity: 9.0, ..settings() };
    let parcels: Vec<_> = (0..3000)
        .map(|i| {
            let [x, y, u, v] = [0, 1, 2, 3].map(|k| unit(4 * i + k));
            [1.3 * x, y, 8.0 * (u - 0.5), 8.0 * (v - 0.5)]
        })
        .collect();
    let mut fluid = Fluid2d::new(s, None, &parcels, 0, Level::best()).unwrap();
    for _ in 0..6 {
        fluid.sort_by_cell(&[], &CurrentThread);
        let (order, now) = (&fluid.order, &fluid.now);
        let (w, cells) = (order.size()[0], order.cells());
        let mut near = 0;
        for i in 0..now.len() {
            if i > 0 {
                assert!((cells[i - 1], now.ids[i - 1]) < (cells[i], now.ids[i]));
            }
            for j in 0..i {
                let far = (now.x[i] - now.x[j]).hypot(now.y[i] - now.y[j]);
                let [a, b] = [i, j].map(|k| [cells[k] as usize % w, cells[k] as usize / w]);
                let touch = a[0].abs_diff(b[0]) <= 1 && a[1].abs_diff(b[1]) <= 1;
                assert!(touch || far >= s.radius, "{i} {j}: {far}");
                near += usize::from(far < s.radius);
            }
        }
        assert!(near > 3000, "{near}");
        let mut sums = vec![0f64; now.len()];
        for (i, j) in (0..now.len()).flat_map(|i| (0..now.len()).map(move |j| (i, j))) {
            let r =
                f64::from(now.x[i] - now.x[j]).hypot(f64::from(now.y[i] - now.y[j])) / f64::from(s.radius);
            sums[i] += if r < 1.0 { (1.0 - r).powi(4) * (1.0 + 4.0 * r) } else { 0.0 };
        }
        fluid.step(&CurrentThread);
        for (i, want) in sums.iter().enumerate() {
            let density = 1.0 / f64::from(fluid.inv_density[i]);
            let want = want * f64::from(fluid.constants.scale);
            assert!((density - want).abs() < 1e-5 * want, "{i}: {density} {want}");
        }
    }
}

fn bits(fluid: &Fluid2d) -> Vec<[u32; 4]> {
    fluid.parcels().iter().map(|p| p.map(f32::to_bits)).collect()
}

fn go(fluid: &mut Fluid2d, steps: u64, executor: &dyn Executor) {
    for _ in 0..steps {
        fluid.sort_by_cell(&[], executor);
        fluid.step(executor);
    }
}

#[test]
fn levels_threads_and_restoring_change_nothing() {
    let s = settings();
    let inside: Vec<bool> =
        (0..40 * 40).map(|i| (i % 40 - 20i32).pow(2) + (i / 40 - 30i32).pow(2) < 60).collect();
    let solid = SignedDistanceField::new([40, 40], [0.0, 0.0], 35.0, &inside).map(Arc::new);
    let parcels: Vec<_> =
        block().into_iter().filter(|p| solid.as_ref().is_some_and(|s| s.at(p[0], p[1]).0 > 0.0)).collect();
    let new = |level| Fluid2d::new(s, solid.clone(), &parcels, 0, level).unwrap();
    let mut want = new(Level::SCALAR);
    go(&mut want, 40, &CurrentThread);
    let middle = want.parcels();
    go(&mut want, 200, &CurrentThread);
    for &level in Level::available() {
        for threads in [1, 3] {
            let mut other = new(level);
            go(&mut other, 240, &Threads(threads));
            assert!(bits(&other) == bits(&want), "{level} {threads}");
        }
        let mut again = Fluid2d::new(s, solid.clone(), &middle, 40, level).unwrap();
        go(&mut again, 200, &CurrentThread);
        assert!(bits(&again) == bits(&want) && again.steps() == 240, "{level}");
    }
    // It has fallen, and nothing is where it cannot be.
    let solid = solid.unwrap();
    for p in want.parcels() {
        assert!((0.0..=1.3).contains(&p[0]) && (0.0..=1.0).contains(&p[1]));
        assert!(solid.at(p[0], p[1]).0 > -0.02, "{p:?}");
    }
    let mean = |all: &[[f32; 4]]| all.iter().map(|p| p[1]).sum::<f32>() / all.len() as f32;
    assert!(mean(&want.parcels()) > mean(&parcels) + 0.05);
}

#[test]
fn nothing_makes_it_fail() {
    let s = Fluid2dSettings { gravity: 20.0, ..settings() };
    // All in one place, and as fast as can be.
    let parcels: Vec<_> = (0..500).map(|i| [0.5, 0.5, 1e30 * (unit(i) - 0.5), f32::MAX]).collect();
    let mut fluid = Fluid2d::new(s, None, &parcels, 0, Level::best()).unwrap();
    for _ in 0..100 {
        go(&mut fluid, 2, &CurrentThread);
        for p in fluid.parcels() {
            assert!((0.0..=1.3).contains(&p[0]) && (0.0..=1.0).contains(&p[1]), "{p:?}");
            assert!(p[2].hypot(p[3]) <= s.max_speed * 1.001);
        }
    }
    fluid.pump([0.0, 0.0], 1000, |_| [9.0, -9.0, 0.0, 0.0]);
    go(&mut fluid, 2, &CurrentThread);
    let wrong = [[0.5, f32::NAN, 0.0, 0.0]];
    assert_eq!(Fluid2d::new(s, None, &wrong, 0, Level::best()).err(), Some(FluidError::Parcel { id: 0 }));
    let fine = Fluid2dSettings { radius: 1e-5, ..s };
    assert!(Fluid2d::new(fine, None, &[], 0, Level::best()).is_err());
    let mut none = Fluid2d::new(s, None, &[], 0, Level::best()).unwrap();
    go(&mut none, 4, &CurrentThread);
    assert!(none.is_empty());
}

#[test]
fn distances_are_those_from_the_surface() {
    // A disc of radius 12 nodes.
    let inside: Vec<bool> =
        (0..64 * 64).map(|i| (i % 64 - 32i32).pow(2) + (i / 64 - 32i32).pow(2) < 144).collect();
    let solid = SignedDistanceField::new([64, 64], [1.0, 2.0], 64.0, &inside).unwrap();
    for n in 0..500u64 {
        let (x, y) = (1.0 + 63.0 / 64.0 * unit(2 * n), 2.0 + 63.0 / 64.0 * unit(2 * n + 1));
        let (dx, dy) = (x - 1.5, y - 2.5);
        let far = dx.hypot(dy);
        let (d, way) = solid.at(x, y);
        assert!((d - (far - 12.0 / 64.0)).abs() < 1.6 / 64.0, "{d} at {far}");
        // At the grid's border directions are smoothed against nothing.
        if (4.0 / 64.0..0.4).contains(&far) {
            assert!(way[0] * dx / far + way[1] * dy / far > 0.97, "{way:?} at {dx} {dy}");
        }
    }
    assert!(SignedDistanceField::new([8, 8], [0.0; 2], 1.0, &[false; 64]).is_none());
}
