//! A step of the awake grains in f64, over all pairs and without a grid: what the fast one must compute.

use super::tests::{FORCES, SIZE, floor, grains, poured, scene};
use super::*;
use crate::host::CurrentThread;
use crate::noise::seed::mix64;
use crate::noise::value_noise::uniform;
use std::collections::BTreeMap;

type V = [f64; 2];

const TIME: f64 = 1.0 / 96.0;
const GRAVITY: f64 = FORCES.gravity as f64;
const FASTEST: f64 = 0.45;
const EDGE: f64 = BORDER as f64;

#[derive(Clone, Copy, Debug)]
struct Body {
    id: u32,
    radius: f64,
    at: V,
    from: V,
    velocity: V,
    still: u16,
    is_asleep: bool,
    is_carried: bool,
    lies: bool,
}

fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn add(a: V, b: V, scale: f64) -> V {
    [a[0] + scale * b[0], a[1] + scale * b[1]]
}

/// The gap between two bodies, and the direction from the second to the first.
fn gap(a: &Body, b: &Body) -> (f64, V) {
    let way = add(a.at, b.at, -1.0);
    let distance = dot(way, way).sqrt();
    (distance - a.radius - b.radius, way.map(|v| v / distance))
}

/// Out of an overlap along the normal, and back across it as far as friction holds.
fn correction(normal: V, overlap: f64, relative: V, friction: f64) -> V {
    let slide = add(relative, normal, -dot(relative, normal));
    let far = dot(slide, slide).sqrt();
    let part = if far > friction * overlap { friction * overlap / far } else { 1.0 };
    add(normal.map(|n| n * overlap), slide, -part)
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Buried,
    Surface(V),
    Undermined,
}

/// Where a body is.
fn place(all: &[Body], body: &Body) -> Place {
    let column = |x: f64| (x + EDGE).floor();
    let mut held: BTreeMap<(i64, i64), f64> = BTreeMap::new();
    for other in all {
        *held.entry((column(other.at[0]) as i64, column(other.at[1]) as i64)).or_default() += 1.0 / 1.3;
    }
    let is_empty = |dx: i64, dy: i64| {
        let (u, v) = (column(body.at[0]) as i64 + dx, column(body.at[1]) as i64 + dy);
        !held.contains_key(&(u, v)) && v as f64 + 0.5 - EDGE <= f64::from(SIZE[1])
    };
    if [(0, 1), (0, 2), (-1, 2), (1, 2)].iter().all(|(dx, dy)| is_empty(*dx, *dy)) {
        return Place::Undermined;
    }
    let foot = body.at[1] + body.radius + EDGE;
    let fall = |side: f64| {
        let mut depth = 0.0;
        for k in 1..=3 {
            let u = column(body.at[0]) + side * f64::from(k);
            for v in 0..(f64::from(SIZE[1]) + 2.0 * EDGE) as i64 {
                let seen = ((v + 1) as f64).min(foot + 4.0) - (v as f64).max(foot - 4.0);
                let fill = match v as f64 + 0.5 - EDGE > f64::from(SIZE[1]) {
                    true => 1.0,
                    false => held.get(&(u as i64, v)).copied().unwrap_or(0.0),
                };
                depth += fill * seen.max(0.0) / 3.0;
            }
        }
        (4.0 - depth) / (column(body.at[0]) + 0.5 + 2.0 * side - EDGE - body.at[0]).abs()
    };
    let [left, right] = [fall(-1.0), fall(1.0)];
    let is_right = match body.velocity[0] {
        v if v.abs() > 2.0 => v > 0.0,
        _ if left != right => right > left,
        _ => body.id & 1 == 0,
    };
    let (side, fall) = if is_right { (1.0, right) } else { (-1.0, left) };
    let fall = fall.clamp(-1.0, 2.0);
    let length = (1.0 + fall * fall).sqrt();
    if left < -1.8 && right < -1.8 {
        return Place::Buried;
    }
    Place::Surface([side * fall / length, -1.0 / length])
}

/// Advances awake bodies by a short step; returns the contacts, and which bodies are held on both sides.
fn short_step(all: &mut [Body], places: &[Place], friction: [f64; 2]) -> (Vec<Vec<usize>>, Vec<bool>) {
    for body in all.iter_mut() {
        body.from = body.at;
        if !body.is_asleep {
            body.velocity[1] += GRAVITY * TIME;
            let far = dot(body.velocity, body.velocity).sqrt() * TIME;
            body.at = add(body.at, body.velocity, TIME * (FASTEST / far).min(1.0));
        }
    }
    let below = |body: &Body| f64::from(SIZE[1]) - body.at[1] - body.radius;
    let contacts: Vec<Vec<usize>> = (0..all.len())
        .map(|i| (0..all.len()).filter(|j| *j != i && gap(&all[i], &all[*j]).0 < 0.06).collect())
        .collect();
    let is_held: Vec<bool> = (0..all.len())
        .map(|i| {
            let on_floor = below(&all[i]) < 0.02;
            let lies_on = |right: bool| {
                contacts[i].iter().any(|j| {
                    let way = add(all[i].at, all[*j].at, -1.0);
                    gap(&all[i], &all[*j]).0 < 0.02 && way[1] < 0.1 && (way[0] <= 0.0) == right
                })
            };
            on_floor || lies_on(false) && lies_on(true)
        })
        .collect();
    for _ in 0..2 {
        let before = all.to_vec();
        for i in (0..before.len()).filter(|i| !before[*i].is_asleep) {
            let body = &before[i];
            let moved = |body: &Body| add(body.at, body.from, -1.0);
            let friction = if places[i] == Place::Buried && is_held[i] { friction[0] } else { 0.0 };
            let (mut sum, mut count) = ([0.0; 2], 0.0);
            for other in contacts[i].iter().map(|j| &before[*j]) {
                let (gap, normal) = gap(body, other);
                if gap < 0.0 {
                    let relative = add(moved(body), moved(other), -1.0);
                    let share = if other.is_asleep { 1.0 } else { 0.5 - 0.45 * normal[1] };
                    sum = add(sum, correction(normal, -gap, relative, friction), share);
                    count += 1.0;
                }
            }
            let at = add(body.at, sum, if count > 1.0 { 1.5 / count } else { 1.0 });
            let body = Body { at, ..*body };
            let overlap = -below(&body);
            let up = [0.0, -1.0];
            let out = correction(up, overlap, moved(&body), friction);
            all[i].at = if overlap > 0.0 { add(at, out, 1.0) } else { at };
        }
    }
    let before = all.to_vec();
    for i in (0..before.len()).filter(|i| !before[*i].is_asleep) {
        let body = &before[i];
        let on_floor = below(body) < 0.06;
        let others = || contacts[i].iter().map(|j| &before[*j]);
        let lower = |other: &Body| other.at[1] - body.at[1];
        all[i].lies |= on_floor || others().any(|other| other.is_asleep && lower(other) > 0.1);
        let is_supported = on_floor || others().any(|other| lower(other) > -0.1);
        let moved = add(body.at, body.from, -1.0);
        all[i].velocity = match places[i] {
            Place::Buried => moved.map(|v| 0.75 * v / TIME),
            Place::Undermined => moved.map(|v| v / TIME),
            Place::Surface(_) if !is_supported => body.velocity,
            Place::Surface(normal) => {
                let v = body.velocity;
                let along = dot(v, normal);
                let slide = add(v, normal, -along);
                let speed = dot(slide, slide).sqrt();
                let lost = friction[1] * (-along).max(0.0).min(GRAVITY * TIME * -normal[1]);
                let part = if speed > lost { 1.0 - lost / speed } else { 0.0 };
                let keep = if dot(moved, v) / TIME < 0.5 * dot(v, v) { 0.97 } else { 1.0 };
                let after = add(slide.map(|v| v * part), normal, along.max(0.0)).map(|v| v * keep);
                let speed = dot(after, after).sqrt();
                let fast = after.map(|v| v * (FASTEST / TIME / speed).min(1.0));
                let mut after = fast;
                for other in others().filter(|other| !other.is_asleep) {
                    let its = add(other.at, other.from, -1.0).map(|v| v / TIME);
                    let to = gap(other, body).1;
                    if (other.at[0] - body.at[0]).abs() >= 0.3 {
                        after = add(after, to, -0.5 * dot(add(fast, its, -1.0), to).max(0.0));
                    }
                }
                after
            }
        };
    }
    (contacts, is_held)
}

/// A whole step: the bodies after it, and which of them have been woken.
fn whole_step(start: &[Body]) -> (Vec<Body>, Vec<bool>) {
    let mut all = start.to_vec();
    let places: Vec<Place> = all.iter().map(|body| place(start, body)).collect();
    let friction = [0.2, f64::from(step::surface_friction(0.8))];
    short_step(&mut all, &places, friction);
    let (contacts, is_held) = short_step(&mut all, &places, friction);
    all.iter_mut().for_each(|body| body.is_carried = body.lies || body.is_asleep);
    for _ in 0..all.len() {
        for (i, j) in contacts.iter().enumerate().flat_map(|(i, with)| with.iter().map(move |j| (i, *j))) {
            let is_below = all[j].at[1] > all[i].at[1] && !all[j].is_asleep && !all[i].is_asleep;
            all[i].is_carried |= is_below && all[j].is_carried;
        }
    }
    let mut woken = vec![false; all.len()];
    for (i, body) in all.iter_mut().enumerate().filter(|(_, body)| !body.is_asleep) {
        let far = dot(add(body.at, start[i].at, -1.0), add(body.at, start[i].at, -1.0)).sqrt();
        let is_steep = matches!(places[i], Place::Surface([x, y]) if x.abs() > -y * 1.6 * 0.8);
        for (j, other) in start.iter().enumerate().filter(|(_, other)| other.is_asleep) {
            let is_above = other.at[1] - start[i].at[1] < 0.2 * (body.radius + other.radius);
            let leaves = far > 0.06 || gap(body, other).0 >= 0.06;
            woken[j] |= gap(body, other).0 < -0.4 || is_steep && far > 0.06 && contacts[i].contains(&j);
            woken[j] |= far > 0.001 && is_above && leaves && gap(&start[i], other).0 < 0.06;
        }
        let limit = if places[i] == Place::Buried { 0.05 } else { 0.02 };
        body.still = match far {
            _ if !body.is_carried || places[i] == Place::Undermined => body.still.saturating_sub(1),
            far if far < limit && is_held[i] => body.still + 4,
            far if far < 0.15 => body.still + 1,
            _ => body.still.saturating_sub(4),
        };
        if body.still >= ASLEEP {
            body.velocity = [0.0; 2];
        }
    }
    for (body, _) in all.iter_mut().zip(&woken).filter(|(_, woken)| **woken) {
        (body.still, body.is_carried) = (0, true);
    }
    (all, woken)
}

/// A step of a heap into which grains have fallen.
#[test]
fn a_step_is_that_of_the_twin() {
    compare(75, |step| if step < 60 { poured(step, 6) } else { Vec::new() });
}

/// A step of a column that collapses: most of its awake grains are buried.
#[test]
fn a_step_of_a_collapse_is_that_of_the_twin() {
    let column = |id: u32| {
        let (row, x) = ((id / 24) as f32, (id % 24) as f32);
        let at = [88.0 + x + 0.5 * (row % 2.0), SIZE[1] - 0.5 - 0.9 * row];
        Flyer { id, at, velocity: [0.0; 2] }
    };
    compare(14, |step| if step == 0 { (0..600).map(column).collect() } else { Vec::new() });
}

/// Compares a step of both after so many steps, when no grain is in flight.
fn compare(steps: u32, arrivals: impl Fn(u32) -> Vec<Flyer>) {
    let mut sand = scene(floor());
    let mut step = 0;
    while step < steps || !sand.flying().is_empty() {
        sand.step(&FORCES, &arrivals(step), &CurrentThread).unwrap();
        step += 1;
    }
    let start: Vec<Body> = grains(&sand)
        .iter()
        .map(|grain| {
            let [at, velocity] = [grain.at, grain.velocity].map(|v| v.map(f64::from));
            let (still, is_carried) = (grain.still, grain.is_carried);
            let (radius, is_asleep) = (f64::from(radius(grain.id)), still >= ASLEEP);
            Body { id: grain.id, radius, at, from: at, velocity, still, is_asleep, is_carried, lies: false }
        })
        .collect();
    // Whether a pair that just touches counts as a contact is a matter of rounding: the fast step is that of one of
    // several heaps that differ by as much.
    let heap = |n: u64| {
        let tiny = |id: u32, a: u64| (uniform(mix64(n << 40 ^ u64::from(id) << 1 ^ a)) - 0.5) * 1e-5;
        let shaken = |body: &Body| Body { at: [0, 1].map(|a| body.at[a] + tiny(body.id, a as u64)), ..*body };
        whole_step(&start.iter().map(shaken).collect::<Vec<_>>())
    };
    let heaps: Vec<(Vec<Body>, Vec<bool>)> = (0..12).map(heap).collect();
    sand.step(&FORCES, &[], &CurrentThread).unwrap();
    let mut fast: BTreeMap<u32, Grain> = grains(&sand).into_iter().map(|grain| (grain.id, grain)).collect();
    // Grains without contacts are flyers.
    let flying = sand.flying().iter().map(|f| {
        (f.id, Grain { id: f.id, at: f.at, velocity: f.velocity, still: ASLEEP, is_carried: false })
    });
    fast.extend(flying);
    let is_close = |body: &Body| {
        let grain = &fast[&body.id];
        let far = [0, 1].map(|a: usize| (f64::from(grain.at[a]) - body.at[a]).abs());
        let faster = [0, 1].map(|a: usize| (f64::from(grain.velocity[a]) - body.velocity[a]).abs());
        let flies = sand.flying().iter().any(|flyer| flyer.id == body.id);
        far.iter().all(|d| *d < 1e-4)
            && faster.iter().all(|d| *d < 2e-2)
            && (flies || (grain.still, grain.is_carried) == (body.still, body.is_carried))
    };
    let differing: Vec<&Body> = (0..start.len())
        .filter(|i| !heaps.iter().any(|(all, _)| is_close(&all[*i])))
        .map(|i| &heaps[0].0[i])
        .collect();
    let awake = start.iter().filter(|body| !body.is_asleep).count();
    let is_rich = awake > 50 && start.len() - awake > 20 && heaps[0].1.contains(&true);
    assert!(is_rich, "{awake} of {}", start.len());
    assert!(differing.is_empty(), "of {awake} awake grains move in another way: {differing:?}");
}
