//! Neighbour search and the parts of a step of fluid, as the paper's Tables 3 and 4 have them.
//!
//! All rivals run in the same rounds on the same parcels; a figure is the median of the rounds, a ratio the median of
//! the ratios within a round, in processor time of the one thread.
//!
//! `cargo bench -p grainfield-papers --bench sph -- [search] [shares] [parcels=130000] [rounds=15] [steps=60]`: the parts to run (both, if
//! none is named). `search` takes 130,000 parcels unless told, `shares` 180,000 and so many steps (the paper: 4000).
#![allow(unsafe_code)] // the C library's sort and clock are foreign functions
#![allow(missing_docs, unreachable_pub)]

mod native;
#[path = "../../rows/mod.rs"]
mod rows;
#[path = "../../timing/mod.rs"]
mod timing;

use grainfield_filters::host::CurrentThread;
use grainfield_filters::simd::Level;
use grainfield_papers::fluid::{
    Candidates, Fluid, Grid, Layout, List, Phase, Search, Settings, block, pairs,
};
use native::{Bodies, Chains, Native, Near, Rng, hashing};
use rows::{Sheet, gate};
use timing::{median, ratio, time};

/// The value of `name=value`, or a default.
fn asked(name: &str, default: usize) -> usize {
    let value = std::env::args().find_map(|a| a.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
    value.unwrap_or(default)
}

fn part(name: &str) -> bool {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |n: &str| words.iter().any(|w| w == n);
    has(name) || !["search", "shares"].into_iter().any(has)
}

fn main() {
    if part("search") {
        table_3();
    }
    if part("shares") {
        table_4();
    }
}

/// A disordered block with about 20.7 neighbours a parcel, as the paper's has.
fn cloud(n: usize) -> (Vec<[f32; 3]>, f32, [f32; 3]) {
    let side = (n as f64).cbrt().ceil() as usize;
    let mut rng = Rng(3);
    let mut places: Vec<[f32; 3]> = (0..n)
        .map(|i| {
            let lattice = [i % side, i / side % side, i / side / side];
            lattice.map(|v| v as f32 + 0.5 + 0.5 * (rng.unit() - 0.5))
        })
        .collect();
    // In no order, as parcels are that are never sorted.
    for i in (1..n).rev() {
        places.swap(i, (rng.next() % (i as u64 + 1)) as usize);
    }
    (places, 1.735, [side as f32 + 1.0; 3])
}

fn table_3() {
    let n = asked("parcels", 130_000);
    let rounds = asked("rounds", 15);
    let (places, radius, domain) = cloud(n);
    let layout = |search: Search| {
        let grid = Grid::new(domain, search.cell(radius));
        Layout::of(grid, &places, Level::best()).unwrap_or_else(|e| panic!("{e}"))
    };
    let layouts = Search::ALL.map(|s| (s, layout(s).0));
    let sparse = Layout::of(Grid::open(radius), &places, Level::best()).unwrap_or_else(|e| panic!("{e}")).0;
    let (h27, order) = layout(Search::H27);
    let sorted: Vec<[f32; 3]> = order.iter().map(|i| places[*i as usize]).collect();
    let mut near = Near::new(n);
    let mut scalar: [Vec<f64>; 3] = Default::default();
    let mut tested = [0; 3];
    let mut valid = [0; 3];
    let levels = Level::available();
    let mut fast = vec![vec![]; levels.len()];
    let (mut on_sparse, mut filled) = (vec![], vec![]);
    let mut chains = [vec![], vec![], vec![]];
    let mut hashed = vec![];
    let (mut list, mut room) = (List::default(), Candidates::default());
    let mut found = vec![];
    for _ in 0..rounds {
        for (k, (search, layout)) in layouts.iter().enumerate() {
            scalar[k].push(time(|| {
                near.clear();
                tested[k] = pairs(*search, layout, radius, |i, j, d2| near.push(i, j, d2));
            }));
            valid[k] = near.pairs();
        }
        found.clear();
        for (level, times) in levels.iter().zip(&mut fast) {
            times.push(time(|| {
                let all = 0..h27.held().len();
                list.fill(*level, &h27, all, radius, &mut room).unwrap_or_else(|e| panic!("{e}"));
            }));
            found.push(list.pairs());
        }
        on_sparse.push(time(|| {
            let all = 0..sparse.held().len();
            list.fill(Level::best(), &sparse, all, radius, &mut room).unwrap_or_else(|e| panic!("{e}"));
        }));
        found.push(list.pairs());
        filled.push(time(|| {
            let grid = h27.grid().clone();
            std::hint::black_box(Layout::of(grid, &sorted, Level::best()).is_ok());
        }));
        // Fluids: parcels of 64 bytes, chained by cell, in no order and in the curve's.
        for (k, (cell, places)) in
            [(2.0 * radius, &places), (radius, &places), (radius, &sorted)].into_iter().enumerate()
        {
            let mut bodies = Bodies::new(places);
            let mut grid = Chains::new(domain, cell, radius);
            chains[k].push(time(|| {
                near.clear();
                grid.insert(&mut bodies);
                grid.detect(&bodies, &mut near);
            }));
            found.push(near.pairs());
        }
        let mut lists = hashing::Lists::new(n);
        hashing::search(&sorted, radius, &mut lists);
        hashed.push(time(|| hashing::search(&sorted, radius, &mut lists)));
        found.push(lists.pairs());
    }
    assert!(found.iter().chain(&valid).all(|f| *f == valid[0]), "the rivals find different pairs");
    let mut best = 0;
    for k in 1..3 {
        if ratio(&scalar[k], &scalar[best]) < 1.0 {
            best = k;
        }
    }
    let title =
        format!("Table 3: neighbour search, {n} parcels, {:.1} pairs each", valid[0] as f64 / n as f64);
    let columns = ["", "tested pairs", "valid pairs", "ratio", "ms", "best of three / this"];
    let paper = ["paper: tested", "valid", "ratio", "ms"];
    let mut sheet = Sheet::new(title, &[&columns[..], &paper[..]].concat());
    let mut show = |name: &str, times: &[f64], pairs: Option<(u64, usize)>, paper: [&str; 4]| {
        let of = |f: &dyn Fn(u64, usize) -> String| pairs.map_or("-".to_owned(), |(t, v)| f(t, v));
        sheet.row(
            [
                name.to_owned(),
                of(&|t, _| t.to_string()),
                of(&|_, v| v.to_string()),
                of(&|t, v| format!("{:.1}", t as f64 / v as f64)),
                format!("{:.3}", median(times.iter().copied()) * 1e3),
                format!("{:.2}x", ratio(&scalar[best], times)),
            ]
            .into_iter()
            .chain(paper.map(str::to_owned)),
        );
    };
    const NONE: [&str; 4] = ["-"; 4];
    let three = |k: usize| Some((tested[k], valid[k]));
    show("2h cells, 8, plain scalar", &scalar[0], three(0), ["36878962", "2691708", "13.7", "298"]);
    show("h cells, 27, plain scalar", &scalar[1], three(1), ["16472058", "2691708", "6.1", "232"]);
    show("h cells, 14, symmetric, plain scalar", &scalar[2], three(2), ["8236029", "2691708", "3.1", "145"]);
    show("native chains, 2h/8, no order, with insertion", &chains[0], None, NONE);
    show("native chains, h/27, no order, with insertion", &chains[1], None, NONE);
    show("native chains, h/27, Z order, with insertion", &chains[2], None, NONE);
    show("compact spatial hashing, Z order, with table", &hashed, None, NONE);
    for (level, times) in levels.iter().zip(&fast) {
        show(&format!("neighbour list, h/27, {level}"), times, None, NONE);
    }
    show("neighbour list, cells in a packed array", &on_sparse, None, NONE);
    show("(sorting and layout from scratch)", &filled, None, NONE);
    sheet.done();
    let best = ratio(&scalar[best], &fast[levels.len() - 1]);
    gate(
        &format!("neighbour search, {n}, against the paper's best variant in plain scalar"),
        best,
        6.0,
        Some(9.0),
    );
}

/// 180,000 parcels in 141 x 41 x 23 cells.
fn table_4() {
    let n = asked("parcels", 180_000);
    let full = std::env::args().any(|a| a == "full");
    let steps = asked("steps", if full { 4000 } else { 60 });
    let scene = native::Scene::new(n, [141.0, 41.0, 23.0]);
    let settings: Settings = scene.settings;
    let parcels = block(&settings, scene.block).unwrap_or_else(|e| panic!("{e}"));
    let mut fluid = Fluid::new(settings, &parcels, Level::best()).unwrap_or_else(|e| panic!("{e}"));
    let mut ours = [0f64; 6];
    let mut moved = 0;
    for _ in 0..steps {
        let mut last = timing::seconds();
        let mut done = |phase: Phase| {
            let now = timing::seconds();
            ours[phase as usize] += now - last;
            last = now;
        };
        fluid.step_within(&CurrentThread, f64::INFINITY, &mut done).unwrap_or_else(|e| panic!("{e}"));
        moved += fluid.moved();
    }
    let mut native = Native::sorted(&settings, &parcels);
    let mut theirs = [0f64; 5];
    let native_steps = steps.min(asked("native", if full { 1000 } else { 20 }));
    for _ in 0..native_steps {
        native.step(&mut theirs);
    }
    let (total, all) = (ours.iter().sum::<f64>(), theirs.iter().sum::<f64>());
    let of = |p: Phase| ours[p as usize];
    // Insertion into the grid is part of detection, in the paper.
    let rows = [
        ("sort", of(Phase::Sort), 4.5),
        ("detect neighbours", of(Phase::Detect) + of(Phase::Index), 49.1),
        ("compute pressures", of(Phase::Densities), 6.3),
        ("compute forces", of(Phase::Forces), 36.8),
        ("update positions", of(Phase::Update), 3.2),
    ];
    let mut sheet = Sheet::new(
        format!("Table 4: shares of a step, {} parcels, {steps} steps, native {native_steps}", parcels.len()),
        &["step", "ns a parcel", "%", "native code, %", "paper, %"],
    );
    let each = |s: f64| s * 1e9 / (steps * parcels.len()) as f64;
    for (i, (name, s, paper)) in rows.into_iter().enumerate() {
        sheet.row([
            name.to_owned(),
            format!("{:.2}", each(s)),
            format!("{:.1}", s / total * 100.0),
            format!("{:.1}", theirs[i] / all * 100.0),
            format!("{paper:.1}"),
        ]);
    }
    sheet.note(format!(
        "A step: {:.1} ns a parcel (of detection, slots and layout {:.1}); native {:.1} ns; {:.2} % change cells.",
        each(total),
        each(of(Phase::Index)),
        all * 1e9 / (native_steps * parcels.len()) as f64,
        moved as f64 / (steps * parcels.len()) as f64 * 100.0
    ));
    sheet.note(if full { "The paper's steps." } else { "The paper averages 4,000 steps, as `full` does." });
    sheet.done();
}
