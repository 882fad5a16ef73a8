//! The native step, with its parcels in one array that is never sorted, sorted now and then or each step by the
//! paper's reference (pairs of cell and place, qsort, gather, copy), or kept in a packed memory array.

use super::{Bodies, Body, Chains, Hold, Near};
use grainfield_filters::pma::{CellBatch, CellPma, CellSettings, Ranked};
use grainfield_filters::simd::Level;
use grainfield_papers::fluid::{Grid, Parcel, Settings};
use grainfield_papers::pma::CellIndex;

impl Ranked for Body {
    type Rank = u32;
    fn rank(&self) -> u32 {
        self.id
    }
}

/// When the parcels are sorted in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Never: they lie as they began.
    Never,
    /// Every so many steps.
    Every(usize),
    /// They are kept so, in a packed memory array.
    Packed,
}

struct Packed {
    pma: CellPma<Body>,
    index: CellIndex,
    batch: CellBatch<Body>,
}

impl Hold for Packed {
    fn len(&self) -> usize {
        self.index.slots.len()
    }
    fn slots(&self) -> usize {
        self.pma.slots()
    }
    #[inline(always)]
    fn slot(&self, k: usize) -> u32 {
        self.index.slots[k]
    }
    #[inline(always)]
    fn at(&self, slot: u32) -> &Body {
        self.pma.payload(slot)
    }
    #[inline(always)]
    fn at_mut(&mut self, slot: u32) -> &mut Body {
        self.pma.payload_mut(slot)
    }
}

enum Data {
    Array(Bodies),
    Packed(Box<Packed>),
}

/// The native simulation.
pub struct Native {
    settings: Settings,
    policy: Policy,
    data: Data,
    spare: Vec<Body>,
    pairs: Vec<(u32, u32)>,
    /// The Z-curve by which the parcels are sorted.
    curve: Grid,
    chains: Chains,
    near: Near,
    steps: usize,
}

extern "C" fn by_cell(a: *const libc::c_void, b: *const libc::c_void) -> libc::c_int {
    // SAFETY: qsort hands in pointers to elements of the array, which is of pairs.
    let (a, b) = unsafe { ((*a.cast::<(u32, u32)>()).0, (*b.cast::<(u32, u32)>()).0) };
    libc::c_int::from(a > b) - libc::c_int::from(a < b)
}

/// The paper's reference: pairs of cell and place are sorted, then the parcels gathered, then copied back.
pub fn reference<T: Copy>(
    items: &mut [T],
    spare: &mut Vec<T>,
    pairs: &mut Vec<(u32, u32)>,
    cell: impl Fn(&T) -> u32,
) {
    pairs.clear();
    pairs.extend((0..).zip(items.iter()).map(|(i, item)| (cell(item), i)));
    // SAFETY: the array has that many elements of that size, and `by_cell` reads elements of its type.
    unsafe { libc::qsort(pairs.as_mut_ptr().cast(), pairs.len(), 8, Some(by_cell)) };
    spare.clear();
    spare.extend(pairs.iter().map(|p| items[p.1 as usize]));
    items.copy_from_slice(spare);
}

impl Native {
    /// Sorted every step, as in the paper's Table 4.
    pub fn sorted(settings: &Settings, parcels: &[Parcel]) -> Native {
        Native::new(settings, parcels, Policy::Every(1))
    }

    pub fn new(settings: &Settings, parcels: &[Parcel], policy: Policy) -> Native {
        let bodies: Vec<Body> =
            parcels.iter().map(|p| Body { id: p.id, pos: p.pos, vel: p.vel, ..Body::default() }).collect();
        let curve = Grid::new(settings.size, settings.radius);
        let data = if policy == Policy::Packed {
            let cells = CellSettings::default();
            let mut pma =
                CellPma::new(curve.numbers(), cells, Level::best()).unwrap_or_else(|e| panic!("{e}"));
            let mut batch = CellBatch::default();
            batch.inserts.extend(bodies.iter().map(|b| (number(&curve, b.pos), *b)));
            pma.apply(&batch).unwrap_or_else(|e| panic!("{e}"));
            batch.clear();
            let mut index = CellIndex::default();
            index.fill(&pma);
            Data::Packed(Box::new(Packed { pma, index, batch }))
        } else {
            Data::Array(Bodies(bodies))
        };
        Native {
            settings: *settings,
            policy,
            data,
            spare: Vec::new(),
            pairs: Vec::new(),
            chains: Chains::new(settings.size, settings.radius, settings.radius),
            curve,
            near: Near::new(parcels.len()),
            steps: 0,
        }
    }

    /// A step; adds the seconds of sorting, detecting, pressures, forces, update.
    pub fn step(&mut self, times: &mut [f64; 5]) {
        let mut last = crate::timing::seconds();
        let mut done = |phase: usize| {
            let now = crate::timing::seconds();
            times[phase] += now - last;
            last = now;
        };
        let s = self.settings;
        let curve = &self.curve;
        match (&mut self.data, self.policy) {
            (Data::Array(b), Policy::Every(n)) if self.steps.is_multiple_of(n) => {
                reference(&mut b.0, &mut self.spare, &mut self.pairs, |b| number(curve, b.pos));
            }
            (Data::Packed(p), _) if self.steps > 0 => {
                for (cell, from) in index_runs(&p.index) {
                    for slot in from {
                        let to = number(curve, p.pma.payload(*slot).pos);
                        if to != cell {
                            p.batch.moves.push((*slot, to));
                        }
                    }
                }
                p.pma.apply(&p.batch).unwrap_or_else(|e| panic!("{e}"));
                p.batch.clear();
            }
            _ => {}
        }
        done(0);
        self.steps += 1;
        match &mut self.data {
            Data::Array(b) => rest(b, &mut self.chains, &mut self.near, &s, &mut done),
            Data::Packed(p) => {
                // The indirection list is part of detection, as in the paper.
                p.index.fill(&p.pma);
                rest(&mut **p, &mut self.chains, &mut self.near, &s, &mut done);
            }
        }
    }
}

fn number(curve: &Grid, pos: [f32; 3]) -> u32 {
    curve.number(curve.cell(pos)).unwrap_or(0) as u32
}

fn index_runs(index: &CellIndex) -> impl Iterator<Item = (u32, &[u32])> {
    let ends = index.cells.iter().skip(1).map(|c| c.1).chain([index.slots.len() as u32]);
    index.cells.iter().zip(ends).map(|((cell, from), to)| (*cell, &index.slots[*from as usize..to as usize]))
}

/// All of a step but sorting.
fn rest(
    bodies: &mut impl Hold,
    chains: &mut Chains,
    near: &mut Near,
    s: &Settings,
    done: &mut impl FnMut(usize),
) {
    let (h, c) = (s.radius, s.sound);
    near.fit(bodies.slots());
    near.clear();
    chains.insert(bodies);
    chains.detect(bodies, near);
    done(1);
    // The lattice's sums, as in the library.
    let (mut whole, mut shear) = (0f32, 0f32);
    for (i, j, k) in (0..125).map(|n| (n % 5 - 2, n / 5 % 5 - 2, n / 25 - 2)) {
        let v = [i, j, k].map(|v| v as f32 * s.spacing);
        let q = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt() / h;
        let t = (1.0 - q).max(0.0);
        whole += t * t * t * t * (1.0 + 4.0 * q);
        shear += t * t * t * (v[0] * v[0]) * (v[1] * v[1]);
    }
    for k in 0..bodies.len() {
        let slot = bodies.slot(k);
        let from = slot as usize * super::STRIDE;
        let mut sum = 1.0;
        for d2 in &near.d2[from..from + near.count[slot as usize] as usize] {
            let q = d2.sqrt() / h;
            let t = 1.0 - q;
            sum += t * t * t * t * (1.0 + 4.0 * q);
        }
        let d = sum / whole;
        let b = bodies.at_mut(slot);
        let d2 = d * d;
        b.pressure = (c * c / 7.0 * (d2 * d2 * d2 * d - 1.0)).max(0.0) / d2;
        b.density = 1.0 / d;
    }
    done(2);
    let (push, drag) = (20.0 / (whole * h * h), 2.0 * s.viscosity / shear);
    for k in 0..bodies.len() {
        let slot = bodies.slot(k);
        let from = slot as usize * super::STRIDE;
        let own = *bodies.at(slot);
        let mut force = s.gravity;
        for n in from..from + near.count[slot as usize] as usize {
            let b = bodies.at(near.near[n]);
            let r: [f32; 3] = core::array::from_fn(|a| own.pos[a] - b.pos[a]);
            let u: [f32; 3] = core::array::from_fn(|a| own.vel[a] - b.vel[a]);
            let t = 1.0 - near.d2[n].sqrt() / h;
            let along = r[0] * u[0] + r[1] * u[1] + r[2] * u[2];
            let f = t * t * t * (push * (own.pressure + b.pressure) - drag * own.density * b.density * along);
            (0..3).for_each(|a| force[a] += f * r[a]);
        }
        bodies.at_mut(slot).force = force;
    }
    done(3);
    let dt = 0.9 * s.cfl * h / c;
    let (skin, wall) = (0.5 * s.spacing, (c / (2.0 * s.spacing)) * (c / (2.0 * s.spacing)));
    for k in 0..bodies.len() {
        let slot = bodies.slot(k);
        let b = bodies.at_mut(slot);
        for a in 0..3 {
            let (low, high) = (skin - b.pos[a], skin - (s.size[a] - b.pos[a]));
            b.vel[a] += (b.force[a] + wall * (low.max(0.0) - high.max(0.0))) * dt;
            b.pos[a] += b.vel[a] * dt;
            if !(0.0..=s.size[a]).contains(&b.pos[a]) {
                b.pos[a] = if b.pos[a] < 0.0 { 0.0 } else { s.size[a] };
                b.vel[a] = 0.0;
            }
        }
    }
    done(4);
}
