//! Neighbour search and the parts of a step of fluid, as the paper's Tables 3 and 4 have them.
//!
//! All rivals run in the same rounds on the same parcels; a figure is the median of the rounds, a ratio the median of
//! the ratios within a round, in processor time of the one thread.
//!
//! `cargo bench --bench sph -- [search] [shares] [parcels=130000] [rounds=15] [steps=60]`: the parts to run (both, if
//! none is named). `search` takes 130,000 parcels unless told, `shares` 180,000 and so many steps (the paper: 4000).
#![allow(unsafe_code)] // the C library's sort and clock are foreign functions
#![allow(missing_docs, unreachable_pub)]

mod native;
mod timing;

use grainfield_filters::lend::Alone;
use grainfield_filters::particle::fluid::{
    Fluid, Grid, Layout, List, Phase, Room, Search, Settings, block, pairs,
};
use grainfield_filters::simd::Level;
use native::{Bodies, Chains, Native, Near, Rng, hashing};
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
    let (mut list, mut room) = (List::default(), Room::default());
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
    println!("Table 3: neighbour search, {n} parcels, {:.1} neighbours each", valid[0] as f64 / n as f64);
    println!("  (paper at 130,000: 2h/8 298 ms, h/27 232 ms, h/14 145 ms)");
    let show = |name: &str, times: &[f64], tests: u64| {
        let per = if tests > 0 {
            format!("{tests:>10} tested, {:>5.1} a pair", tests as f64 / valid[0] as f64)
        } else {
            String::new()
        };
        println!(
            "  {name:<44} {:>9.3} ms  {:>6.2}x  {per}",
            median(times.iter().copied()) * 1e3,
            ratio(&scalar[best], times)
        );
    };
    show("2h cells, 8, plain scalar", &scalar[0], tested[0]);
    show("h cells, 27, plain scalar", &scalar[1], tested[1]);
    show("h cells, 14, symmetric, plain scalar", &scalar[2], tested[2]);
    show("native chains, 2h/8, no order, with insertion", &chains[0], 0);
    show("native chains, h/27, no order, with insertion", &chains[1], 0);
    show("native chains, h/27, Z order, with insertion", &chains[2], 0);
    show("compact spatial hashing, Z order, with table", &hashed, 0);
    for (level, times) in levels.iter().zip(&fast) {
        show(&format!("neighbour list, h/27, {level}"), times, 0);
    }
    show("neighbour list, cells in a packed array", &on_sparse, 0);
    show("(sorting and layout from scratch)", &filled, 0);
    println!(
        "  x: against the best of the paper's three. Gate 6x, stretch 9x: {:.2}x",
        ratio(&scalar[best], &fast[levels.len() - 1])
    );
}

/// 180,000 parcels in 141 x 41 x 23 cells.
fn table_4() {
    let n = asked("parcels", 180_000);
    let steps = asked("steps", 60);
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
        fluid.step_within(&Alone, f64::INFINITY, &mut done).unwrap_or_else(|e| panic!("{e}"));
        moved += fluid.moved();
    }
    let mut native = Native::sorted(&settings, &parcels);
    let mut theirs = [0f64; 5];
    let native_steps = steps.min(asked("native", 20));
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
    println!(
        "Table 4: shares of a step, {} parcels, {steps} steps ({native_steps} of the native code)",
        parcels.len()
    );
    println!("  {:<20} {:>12} {:>8} {:>10} {:>8}", "", "ours, ns", "%", "native, %", "paper, %");
    let each = |s: f64| s * 1e9 / (steps * parcels.len()) as f64;
    for (i, (name, s, paper)) in rows.into_iter().enumerate() {
        println!(
            "  {name:<20} {:>12.2} {:>8.1} {:>10.1} {paper:>8.1}",
            each(s),
            s / total * 100.0,
            theirs[i] / all * 100.0
        );
    }
    println!(
        "  a step: {:.1} ns a parcel (of detection, slots and layout {:.1}); native {:.1} ns; {:.2} % change cells",
        each(total),
        each(of(Phase::Index)),
        all * 1e9 / (native_steps * parcels.len()) as f64,
        moved as f64 / (steps * parcels.len()) as f64 * 100.0
    );
}
