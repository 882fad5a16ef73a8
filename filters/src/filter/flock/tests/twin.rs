//! A slow reference of every rule: in f64, all pairs of agents, cells as lists.

use super::super::near::{CAP, Cells};
use super::super::rules::{Agent, CAMERA, FLEE_DISTANCE, MARGIN, Rules, StepState};
use super::{rules_of, step_state};
use crate::host::CurrentThread;
use crate::noise::seed::mix64;
use crate::simd::Level;
use std::collections::BTreeMap;

type V = [f64; 3];

fn wide(v: [f32; 3]) -> V {
    v.map(f64::from)
}

fn sum(a: V, k: f64, b: V) -> V {
    [0, 1, 2].map(|i: usize| a[i] + k * b[i])
}

fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn unit(a: V) -> V {
    let long = dot(a, a).sqrt();
    if long > 1e-9 { a.map(|v| v / long) } else { a }
}

fn wave(turns: f64) -> f64 {
    let t = turns - libm::floor(turns + 0.5);
    let w = 8.0 * t - 16.0 * t * t.abs();
    0.775 * w + 0.225 * w * w.abs()
}

/// The next state of an agent.
struct Twin<'a> {
    rules: &'a Rules,
    now: StepState,
    agents: &'a [Agent],
}

impl Twin<'_> {
    fn time(&self) -> f64 {
        self.now.step as f64 * f64::from(self.rules.dt)
    }

    fn own(&self, id: u64) -> f64 {
        let part =
            (mix64(self.rules.seed ^ id.wrapping_mul(0x2545_f491_4f6c_dd1d)) >> 40) as f64 / (1 << 24) as f64;
        f64::from(self.rules.speed) * (0.9 + 0.2 * part)
    }

    fn wander_noise(&self, id: u64) -> V {
        let own = mix64(self.rules.seed ^ id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let at = self.time() * self.rules.wander_rate + (own >> 40) as f64 / (1 << 24) as f64;
        let knot = libm::floor(at);
        let u = at - knot;
        let part = u * u * (3.0 - 2.0 * u);
        let vector = |knot: i64| {
            let bits = mix64(own.wrapping_add((knot as u64).wrapping_mul(0xd129_0d3b_3c1f_9a55)));
            [0, 21, 42].map(|shift| ((bits >> shift) & 0x1f_ffff) as f64 / (1 << 20) as f64 - 1.0)
        };
        let (a, b) = (vector(knot as i64), vector(knot as i64 + 1));
        [0, 1, 2].map(|i: usize| a[i] + (b[i] - a[i]) * part)
    }

    fn turn(&self, part: V) -> (f64, V) {
        let step_wind = self.rules.step_wind(self.now.step);
        let along = dot(wide(step_wind.direction), part) - f64::from(step_wind.front);
        (
            (1.0 - along * along * 12.0).max(0.0).powi(2) * f64::from(self.rules.waves),
            wide(step_wind.direction),
        )
    }

    fn seen(&self, p: V) -> (V, f64) {
        let camera = f64::from(CAMERA);
        let (s, half) = (camera / (camera + p[2]), 0.5 * f64::from(self.rules.aspect));
        ([half + (p[0] - half) * s, 0.5 + (p[1] - 0.5) * s, 0.0], s)
    }

    /// The acceleration, rule by rule.
    fn acceleration(&self, id: usize, others: &[(usize, f64)]) -> V {
        let r = self.rules;
        let f = |v: f32| f64::from(v);
        let of = |a: &Agent| (wide([a[0], a[1], a[2]]), wide([a[3], a[4], a[5]]));
        let ((p, v), own) = (of(&self.agents[id]), self.own(id as u64));
        let from = sum(p, -1.0, wide(self.now.home));
        let part: V = [0, 1, 2].map(|i: usize| from[i] / f(r.home[i]));
        // Home, wind, individual direction, waves, level flight, speed.
        let back = ((dot(part, part).sqrt() - 0.45) * 2.0).clamp(0.0, 3.0) * f(r.pull);
        let mut acc = sum([0.0; 3], -back * own * 2.2, unit(part));
        let ([a, b, c], [x, y, z]) = (wide(r.up), unit(part).map(|v| -v));
        let around = [b * z - c * y, c * x - a * z, a * y - b * x];
        acc = sum(acc, f(r.circle) * own * dot(part, part).sqrt().min(1.0), around);
        for mode in &r.wind {
            let phase = self.time() * mode.rate + mode.phase;
            acc =
                sum(acc, wave(dot(wide(mode.k), p) + phase) * f(r.wander) * own * 1.6, wide(mode.direction));
        }
        acc = sum(acc, f(r.erratic) * own * 9.0, self.wander_noise(id as u64));
        let (strong, way) = self.turn(part);
        acc = sum(acc, -strong * own * 3.0, way);
        acc = sum(acc, -dot(v, wide(r.up)) * f(r.vertical_damping), wide(r.up));
        acc = sum(acc, (own - dot(v, v).sqrt()) / 0.5, unit(v));
        // Predators, threat, obstacle.
        for hunter in &self.agents[r.agents..] {
            let away = sum(p, -1.0, of(hunter).0);
            let near = (1.0 - dot(away, away).sqrt() / f(FLEE_DISTANCE)).max(0.0);
            acc = sum(acc, near * own * 12.0, unit(away));
        }
        let (seen, s) = self.seen(p);
        if let Some([x, y]) = self.now.threat {
            let away = sum(seen, -1.0, [f(x), f(y), 0.0]);
            let near = (1.0 - dot(away, away).sqrt() / f(FLEE_DISTANCE)).max(0.0);
            acc = sum(acc, near * own * 16.0 / s, unit(away));
        }
        if let Some(solid) = &r.solid {
            let (far, [x, y]) = solid.at(seen[0] as f32, seen[1] as f32);
            let near = (1.0 - f(far) / f(MARGIN)).clamp(0.0, 1.5);
            acc = sum(acc, near * own * 18.0, [f(x), f(y), 0.0]);
        }
        // Separation, alignment, cohesion.
        let (mut count, mut to, mut speed, mut apart) = (0.0, [0.0; 3], [0.0; 3], [0.0; 3]);
        for (other, weight) in others.iter().copied().filter(|o| o.0 != id) {
            let (q, w) = of(&self.agents[other]);
            let d = sum(q, -1.0, p);
            let far = dot(d, d).sqrt();
            if far < f(r.perception_radius) {
                (count, to, speed) = (count + weight, sum(to, weight, d), sum(speed, weight, w));
                if far < f(r.separation_radius) {
                    apart = sum(apart, -weight * (1.0 - far / f(r.separation_radius)).powi(2) / far, d);
                }
            }
        }
        acc = sum(acc, f(r.separation) * own / 0.10, apart);
        if count > 0.0 {
            acc = sum(acc, f(r.alignment) / 0.30, sum(speed.map(|s| s / count), -1.0, v));
            acc = sum(acc, f(r.cohesion) * own / (f(r.perception_radius) * 0.60 * count), to);
        }
        acc
    }

    /// Velocity and position after the step.
    fn moved(&self, id: usize, others: &[(usize, f64)]) -> (V, V) {
        let r = self.rules;
        let (a, own, dt) = (&self.agents[id], self.own(id as u64), f64::from(r.dt));
        let acc = self.acceleration(id, others);
        let (strong, most) = (dot(acc, acc).sqrt(), f64::from(r.agility) * own);
        let acc = if strong > most { acc.map(|v| v * most / strong) } else { acc };
        let v = sum(wide([a[3], a[4], a[5]]), dt, acc);
        let fast = dot(v, v).sqrt();
        let v = v.map(|x| x * fast.clamp(0.55 * own, 1.5 * own) / fast);
        (v, sum(wide([a[0], a[1], a[2]]), dt, v))
    }
}

/// The neighbours that an agent evaluates, by lists of cells, and the weight of each.
fn looked_at(cells: &Cells, agents: &[Agent], id: usize, step: u64) -> Vec<(usize, f64)> {
    let mut lists: BTreeMap<[usize; 3], Vec<usize>> = BTreeMap::new();
    agents
        .iter()
        .enumerate()
        .for_each(|(i, a)| lists.entry(cells.place([a[0], a[1], a[2]])).or_default().push(i));
    let cell = cells.place([0, 1, 2].map(|i: usize| agents[id][i]));
    let [x, y, z] = cell.map(|v| v as i64);
    let mut all = vec![];
    for (dz, dy) in (-1..=1).flat_map(|dz| (-1..=1).map(move |dy| (dz, dy))) {
        let mut row = vec![];
        for dx in -1..=1 {
            if let Ok(key) =
                [x + dx, y + dy, z + dz].map(usize::try_from).into_iter().collect::<Result<Vec<_>, _>>()
            {
                row.extend(lists.get(&[key[0], key[1], key[2]]).into_iter().flatten().copied());
            }
        }
        let n = row.len();
        let mut begin = 0;
        if n > CAP {
            let slot = cells.ids.iter().position(|other| *other as usize == row[0]).unwrap();
            let hash = mix64(u64::from(cells.number(cell)) << 32 ^ slot as u64 ^ step << 20);
            begin = (((hash >> 32) * n as u64) >> 32) as usize;
        }
        let weight = n as f64 / n.clamp(1, CAP) as f64;
        all.extend((0..n.min(CAP)).map(|k| (row[(begin + k) % n], weight)));
    }
    all
}

/// Compares a step of every agent; returns the number of agents that evaluated all neighbours in sight.
fn compare(what: &str, rules: &Rules, agents: &[Agent], now: StepState) -> usize {
    let next = rules.step(agents, &now, 6.0, Level::best(), &CurrentThread);
    let twin = Twin { rules, now, agents };
    let cells = Cells::new(&agents[..rules.agents], rules.perception_radius);
    let (mut complete, mut walls) = (0, 0);
    for id in 0..rules.agents {
        let others = looked_at(&cells, &agents[..rules.agents], id, now.step);
        let dense = (0..rules.agents).filter(|o| {
            let d: f32 = (0..3).map(|i| (agents[*o][i] - agents[id][i]).powi(2)).sum();
            d.sqrt() < 0.999 * rules.perception_radius
        });
        complete += usize::from(dense.clone().all(|o| others.iter().any(|other| other.0 == o)));
        let (v, p) = twin.moved(id, &others);
        let got = next[id];
        if let Some(solid) = &rules.solid {
            let (seen, _) = twin.seen(p);
            if solid.at(seen[0] as f32, seen[1] as f32).0 < 1e-4 {
                walls += 1; // moved out of the obstacle, which another test checks
                continue;
            }
        }
        for i in 0..3 {
            let (dv, dp) = (f64::from(got[3 + i]) - v[i], f64::from(got[i]) - p[i]);
            let most = 2e-4 * f64::from(rules.speed);
            assert!(dv.abs() < most && dp.abs() < 4e-6, "{what}: agent {id}: {dv} {dp}");
        }
    }
    assert!(walls * 5 < rules.agents, "{what}: {walls}");
    complete
}

#[test]
fn a_step_is_what_the_rules_say_in_f64() {
    for preset in ["starlings", "seagulls", "fish", "moths", "bats"] {
        // Loose, so that many look at all their neighbours.
        let base = [("preset", preset), ("agents", "150"), ("predators", "2"), ("cohesion", "0.2")];
        let (rules, _, set) = rules_of(&base);
        let mut agents = rules.start(step_state(&rules, 0, set.depth).home);
        for step in 0..40 {
            let threat = (step % 2 == 1).then_some([0.9, 0.4]);
            let now = StepState { threat, ..step_state(&rules, step, set.depth) };
            if step % 9 == 0 || step == 39 {
                let complete = compare(preset, &rules, &agents, now);
                assert!(complete * 3 >= rules.agents, "{preset}: {complete}");
            }
            agents = rules.step(&agents, &now, 6.0, Level::best(), &CurrentThread);
        }
    }
}

#[test]
fn a_dense_flock_looks_at_what_the_lists_say() {
    let (rules, _, set) =
        rules_of(&[("agents", "400"), ("spread", "0.05"), ("size", "200"), ("depth", "0.1")]);
    let mut agents = rules.start(step_state(&rules, 0, set.depth).home);
    for step in 0..3 {
        let now = step_state(&rules, step, set.depth);
        let complete = compare("dense", &rules, &agents, now);
        assert!(complete < rules.agents / 2, "{complete}: not dense");
        agents = rules.step(&agents, &now, 6.0, Level::best(), &CurrentThread);
    }
}
