//! The paper's Figures 5 and 6: sorting and the whole of a corner breaking dam.
//!
//! `cargo bench -p grainfield-papers --bench fluid_figures -- [sort] [total] [parcels=N] [steps=N] [full]`: the parts to run (both, if none
//! is named). `sort` takes 200,000 parcels and 480 steps unless told, `full` the paper's 2,900,000 in 354 x 94 x 55
//! cells; `total` takes the paper's 180,000 in 141 x 41 x 23, and 60 steps, or with `full` the paper's 1,000. The
//! paper's steps are longer than ours, so that more parcels change cells in each.
#![allow(unsafe_code)] // the C library's sort and clock are foreign functions
#![allow(missing_docs, unreachable_pub)]

mod native;
#[path = "../../rows/mod.rs"]
mod rows;
#[path = "../../timing/mod.rs"]
mod timing;

use grainfield_filters::host::CurrentThread;
use grainfield_filters::simd::Level;
use grainfield_papers::fluid::{Fluid, Parcel, Phase, block};
use native::{Native, Policy, Scene};
use rows::Sheet;
use timing::{median, ratio, time};

/// The value of `name=value`, or a default.
fn asked(name: &str, default: usize) -> usize {
    let value = std::env::args().find_map(|a| a.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
    value.unwrap_or(default)
}

fn has(name: &str) -> bool {
    std::env::args().any(|a| a == name)
}

fn main() {
    let any = has("sort") || has("total");
    if has("sort") || !any {
        figure_5();
    }
    if has("total") || !any {
        figure_6();
    }
}

/// Sort time and share of movers, step by step.
fn figure_5() {
    let n = asked("parcels", if has("full") { 2_900_000 } else { 200_000 });
    let steps = asked("steps", 480);
    // The same box at another number of parcels.
    let scale = (n as f32 / 2_900_000.0).cbrt();
    let scene = Scene::new(n, [354.0, 94.0, 55.0].map(|c| (c * scale).round()));
    let s = scene.settings;
    let mut parcels = block(&s, scene.block).unwrap_or_else(|e| panic!("{e}"));
    // It begins in the air, as the paper's does.
    let lift = 0.2 * s.size[1];
    // A lattice would cross the cells' borders layer by layer.
    let mut rng = native::Rng(9);
    for p in &mut parcels {
        p.pos = p.pos.map(|v| v + 0.3 * s.spacing * (rng.unit() - 0.5));
        p.pos[1] += lift;
    }
    let mut fluid = Fluid::new(s, &parcels, Level::best()).unwrap_or_else(|e| panic!("{e}"));
    let grid = fluid.layout().grid().clone();
    let number = |p: &Parcel| grid.number(grid.cell(p.pos)).unwrap_or(0) as u32;
    let mut sheet = Sheet::new(
        format!(
            "Figure 5: sorting in a breaking dam, {} parcels, {:?} cells, {steps} steps",
            parcels.len(),
            grid.size()
        ),
        &[
            "step",
            "movers",
            "reference, ms",
            "PMA, ms",
            "with slots and layout, ms",
            "reference / PMA",
            "paper",
        ],
    );
    let mut dense: Vec<Parcel> = fluid.parcels().copied().collect();
    let mut by_id = vec![Parcel::default(); parcels.len()];
    let (mut spare, mut pairs) = (vec![], vec![]);
    let (mut theirs, mut ours, mut with, mut shares) = (vec![], vec![], vec![], vec![]);
    for step in 1..=steps {
        let mut last = timing::seconds();
        let mut took = [0.0; 6];
        let mut done = |phase: Phase| {
            let now = timing::seconds();
            took[phase as usize] = now - last;
            last = now;
        };
        fluid.step_within(&CurrentThread, f64::INFINITY, &mut done).unwrap_or_else(|e| panic!("{e}"));
        fluid.parcels().for_each(|p| by_id[p.id as usize] = *p);
        // The rival's array is as it sorted it the last time, with the new places and velocities.
        dense.iter_mut().for_each(|p| *p = by_id[p.id as usize]);
        theirs.push(time(|| native::reference(&mut dense, &mut spare, &mut pairs, number)));
        ours.push(took[Phase::Sort as usize]);
        with.push(took[Phase::Sort as usize] + took[Phase::Index as usize]);
        shares.push(fluid.moved() as f64 / fluid.len() as f64);
        if step % (steps / 12).max(1) == 0 {
            let i = step - 1;
            sheet.row([
                step.to_string(),
                format!("{:.2} %", shares[i] * 100.0),
                format!("{:.3}", theirs[i] * 1e3),
                format!("{:.3}", ours[i] * 1e3),
                format!("{:.3}", with[i] * 1e3),
                format!("{:.1}x", theirs[i] / ours[i]),
                "3x at 10 % movers, 1x at 20 %".to_owned(),
            ]);
        }
    }
    assert!(dense.windows(2).all(|w| number(&w[0]) <= number(&w[1])));
    sheet.note(format!(
        "Median over all steps: {:.2} % movers, {:.1}x ({:.1}x with slots and layout); most movers {:.1} %.",
        median(shares.iter().copied()) * 100.0,
        ratio(&theirs, &ours),
        ratio(&theirs, &with),
        shares.iter().copied().fold(0.0, f64::max) * 100.0
    ));
    if !has("full") {
        sheet.note(
            "The paper has 2,900,000 parcels in 354 x 94 x 55 cells, as `full` does. Its steps are longer.",
        );
    }
    sheet.done();
}

/// The time of the whole, by when parcels are sorted.
fn figure_6() {
    let n = asked("parcels", 180_000);
    let steps = asked("steps", if has("full") { 1000 } else { 60 });
    let scene = Scene::new(n, [141.0, 41.0, 23.0]);
    let parcels = block(&scene.settings, scene.block).unwrap_or_else(|e| panic!("{e}"));
    let policies = [
        ("native, never sorted", Policy::Never),
        ("native, sorted every 100 steps", Policy::Every(100)),
        ("native, sorted every step", Policy::Every(1)),
        ("native, kept in a packed array", Policy::Packed),
    ];
    let mut natives = policies.map(|(_, p)| Native::new(&scene.settings, &parcels, p));
    let mut fluid = Fluid::new(scene.settings, &parcels, Level::best()).unwrap_or_else(|e| panic!("{e}"));
    let mut times: [Vec<f64>; 5] = Default::default();
    const ROUND: usize = 5;
    for _ in 0..steps.div_ceil(ROUND) {
        for (native, times) in natives.iter_mut().zip(&mut times) {
            times.push(time(|| (0..ROUND).for_each(|_| native.step(&mut [0.0; 5]))));
        }
        times[4].push(time(|| {
            for _ in 0..ROUND {
                fluid.step(&CurrentThread).unwrap_or_else(|e| panic!("{e}"));
            }
        }));
    }
    let mut sheet = Sheet::new(
        format!(
            "Figure 6: total time of a breaking dam, {} parcels, {} steps",
            parcels.len(),
            steps.div_ceil(ROUND) * ROUND
        ),
        &["", "total, s", "ms a step", "time saved against every 100", "paper"],
    );
    let names = policies.map(|p| p.0);
    let paper = ["-", "0 %", "5 %", "9 %", "-"];
    for ((name, t), paper) in names.into_iter().chain(["this library"]).zip(&times).zip(paper) {
        sheet.row([
            name.to_owned(),
            format!("{:.2}", t.iter().sum::<f64>()),
            format!("{:.2}", median(t.iter().copied()) * 1e3 / ROUND as f64),
            format!("{:.1} %", (1.0 - ratio(t, &times[1])) * 100.0),
            paper.to_owned(),
        ]);
    }
    if !has("full") {
        sheet.note("The paper has 1,000 steps, as `full` does. In so few, parcels that are never sorted are hardly in disorder.");
    }
    sheet.done();
}
