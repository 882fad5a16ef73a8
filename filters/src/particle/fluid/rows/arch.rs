//! By hand with AVX-512: the sums of a parcel stay in registers, and are added up there. The compiler keeps them in
//! memory, writes sixteen numbers at a time and reads them one by one.
#![allow(unsafe_code)] // loads and stores by pointer; calls for a detected level

use super::{View, densities_body, forces_body};
use crate::simd::{Level, multiversion};
use core::ops::Range;

multiversion! {
    fn plain_densities(level, view: View<'_>, rows: Range<usize>, own: &mut [f32], below: &mut [f32]) = densities_body;
    fn plain_forces(level, view: View<'_>, rows: Range<usize>, own: [&mut [f32]; 2], below: [&mut [f32]; 2]) = forces_body;
}

/// Sums of the kernel for the parcels in the rows of cells, and what those of the rows below get of them.
pub(in crate::particle::fluid) fn densities(
    level: Level,
    view: View<'_>,
    rows: Range<usize>,
    own: &mut [f32],
    below: &mut [f32],
) {
    #[cfg(target_arch = "x86_64")]
    if level.isa() >= crate::simd::Isa::Avx512 {
        // SAFETY: a level from AVX-512 on exists only if the processor has the features that `densities` is compiled for.
        return unsafe { avx512::densities(view, rows, own, below) };
    }
    plain_densities(level, view, rows, own, below);
}

/// Accelerations of the parcels in the rows of cells, x and y, and what those of the rows below get of them.
pub(in crate::particle::fluid) fn forces(
    level: Level,
    view: View<'_>,
    rows: Range<usize>,
    own: [&mut [f32]; 2],
    below: [&mut [f32]; 2],
) {
    #[cfg(target_arch = "x86_64")]
    if level.isa() >= crate::simd::Isa::Avx512 {
        // SAFETY: a level from AVX-512 on exists only if the processor has the features that `forces` is compiled for.
        return unsafe { avx512::forces(view, rows, own, below) };
    }
    plain_forces(level, view, rows, own, below);
}

/// The same sums in the same lanes: each operation is one of `densities_body` and `forces_body`, sixteen times.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::super::{Constants, LANES, NeighborSums, lanes, lanes_mut};
    use super::{Range, View};
    use core::arch::x86_64::*;

    /// A parcel, in all lanes: place, velocity, pressure over density squared, rest density over density.
    type Known = [__m512; 6];

    /// The constants in all lanes.
    struct Wide {
        one: __m512,
        four: __m512,
        inv_h: __m512,
        push: __m512,
        drag: __m512,
        pull: __m512,
    }

    impl Wide {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
        #[inline]
        fn new(c: &Constants) -> Wide {
            let all = |v: f32| _mm512_set1_ps(v);
            let (one, four, inv_h) = (all(1.0), all(4.0), all(c.inv_h));
            Wide { one, four, inv_h, push: all(c.push), drag: all(c.drag), pull: all(c.pull) }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
    #[inline]
    fn load(v: &[f32], at: usize) -> __m512 {
        // SAFETY: sixteen numbers are 64 bytes.
        unsafe { _mm512_loadu_ps(lanes(v, at).as_ptr()) }
    }

    /// Adds a register to sixteen numbers.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
    #[inline]
    fn add_to(to: &mut [f32; LANES], v: __m512) {
        // SAFETY: sixteen numbers are 64 bytes.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), _mm512_add_ps(_mm512_loadu_ps(to.as_ptr()), v)) }
    }

    /// The lanes before `left`.
    #[inline(always)]
    fn before(left: usize) -> __mmask16 {
        if left < LANES { (1 << left) - 1 } else { __mmask16::MAX }
    }

    /// The sums of the lanes of two registers, each in the tree of [`Sums::total`](super::super::Sums::total).
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
    #[inline]
    fn totals(a: __m512, b: __m512) -> [f32; 2] {
        let eight = |v| _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps::<1>(v));
        let four = |v| _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
        let (a, b) = (four(eight(a)), four(eight(b)));
        // Lanes 0 and 1 of both, plus lanes 2 and 3 of both.
        let two = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
        let one = _mm_add_ps(two, _mm_movehl_ps(two, two));
        [_mm_cvtss_f32(one), _mm_cvtss_f32(_mm_movehdup_ps(one))]
    }

    /// How near sixteen places are: 1 at the parcel, 0 at and beyond the radius and outside of `held`; and the distance
    /// in radii.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
    #[inline]
    fn near(w: &Wide, dx: __m512, dy: __m512, held: __mmask16) -> (__m512, __m512) {
        let far = _mm512_sqrt_ps(_mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy)));
        let s = _mm512_mul_ps(far, w.inv_h);
        let inside = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(held, s, w.one);
        (_mm512_maskz_sub_ps(inside, w.one, s), s)
    }

    /// The kernel at sixteen places.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
    #[inline]
    fn accumulate_density(
        view: &View<'_>,
        w: &Wide,
        [x, y]: [__m512; 2],
        at: usize,
        held: __mmask16,
    ) -> __m512 {
        let (dx, dy) = (_mm512_sub_ps(x, load(view.x, at)), _mm512_sub_ps(y, load(view.y, at)));
        let (t, s) = near(w, dx, dy, held);
        let t2 = _mm512_mul_ps(t, t);
        _mm512_mul_ps(_mm512_mul_ps(t2, t2), _mm512_add_ps(w.one, _mm512_mul_ps(w.four, s)))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
    pub(super) fn densities(view: View<'_>, rows: Range<usize>, own: &mut [f32], below: &mut [f32]) {
        let w = Wide::new(view.constants);
        let (first, next) = (view.row(rows.start), view.row(rows.start + 1));
        below.fill(0.0);
        let mut neighbors = NeighborSums::NONE;
        for [cell, beside, under] in view.held(rows) {
            neighbors.clear(&under);
            let mut first_sums = _mm512_setzero_ps();
            let held = before(under.len());
            let sums = own[cell.start - first..cell.end - first].iter_mut();
            for (k, own) in cell.zip(sums) {
                let place = [_mm512_set1_ps(view.x[k]), _mm512_set1_ps(view.y[k])];
                let mut sum = _mm512_setzero_ps();
                for at in beside.clone().step_by(LANES) {
                    // The neighbour adds this pair in its own pass.
                    let v = accumulate_density(&view, &w, place, at, before(beside.end - at));
                    sum = _mm512_add_ps(sum, v);
                }
                if !under.is_empty() {
                    let v = accumulate_density(&view, &w, place, under.start, held);
                    sum = _mm512_add_ps(sum, v);
                    first_sums = _mm512_add_ps(first_sums, v);
                    for at in (under.start + LANES..under.end).step_by(LANES) {
                        let v = accumulate_density(&view, &w, place, at, before(under.end - at));
                        sum = _mm512_add_ps(sum, v);
                        add_to(lanes_mut(&mut neighbors.rest, at - under.start - LANES), v);
                    }
                }
                *own = totals(sum, sum)[0];
            }
            add_to(&mut neighbors.first.0, first_sums);
            neighbors.add(below, next, &under);
        }
    }

    /// The force of sixteen others on a parcel, x and y.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
    #[inline]
    fn accumulate_forces(view: &View<'_>, w: &Wide, own: &Known, at: usize, held: __mmask16) -> [__m512; 2] {
        let [x, y, u, v, pressure_term, inv_density] = *own;
        let (dx, dy) = (_mm512_sub_ps(x, load(view.x, at)), _mm512_sub_ps(y, load(view.y, at)));
        let (du, dv) = (_mm512_sub_ps(u, load(view.vx, at)), _mm512_sub_ps(v, load(view.vy, at)));
        let (t, s) = near(w, dx, dy, held);
        let along = _mm512_add_ps(_mm512_mul_ps(dx, du), _mm512_mul_ps(dy, dv));
        let push = _mm512_mul_ps(w.push, _mm512_add_ps(pressure_term, load(view.pressure_term, at)));
        let inv_density = _mm512_mul_ps(inv_density, load(view.inv_density, at));
        let drag = _mm512_mul_ps(_mm512_mul_ps(w.drag, inv_density), along);
        let pull = _mm512_mul_ps(t, _mm512_add_ps(w.one, _mm512_mul_ps(w.four, s)));
        let strong = _mm512_sub_ps(_mm512_sub_ps(push, drag), _mm512_mul_ps(w.pull, pull));
        let f = _mm512_mul_ps(_mm512_mul_ps(_mm512_mul_ps(t, t), t), strong);
        [_mm512_mul_ps(f, dx), _mm512_mul_ps(f, dy)]
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
    pub(super) fn forces(
        view: View<'_>,
        rows: Range<usize>,
        [ax, ay]: [&mut [f32]; 2],
        [bx, by]: [&mut [f32]; 2],
    ) {
        let w = Wide::new(view.constants);
        let (first, next) = (view.row(rows.start), view.row(rows.start + 1));
        bx.fill(0.0);
        by.fill(0.0);
        let (mut tx, mut ty) = (NeighborSums::NONE, NeighborSums::NONE);
        let zero = _mm512_setzero_ps();
        for [cell, beside, under] in view.held(rows) {
            tx.clear(&under);
            ty.clear(&under);
            let (mut first_x, mut first_y) = (zero, zero);
            let held = before(under.len());
            let part = cell.start - first..cell.end - first;
            let sums = ax[part.clone()].iter_mut().zip(&mut ay[part]);
            for (k, (ax, ay)) in cell.zip(sums) {
                let known = [
                    view.x[k],
                    view.y[k],
                    view.vx[k],
                    view.vy[k],
                    view.pressure_term[k],
                    view.inv_density[k],
                ];
                let mut own = [zero; 6];
                for (own, known) in own.iter_mut().zip(known) {
                    *own = _mm512_set1_ps(known);
                }
                let (mut sx, mut sy) = (zero, zero);
                for at in beside.clone().step_by(LANES) {
                    let [fx, fy] = accumulate_forces(&view, &w, &own, at, before(beside.end - at));
                    (sx, sy) = (_mm512_add_ps(sx, fx), _mm512_add_ps(sy, fy));
                }
                if !under.is_empty() {
                    let [fx, fy] = accumulate_forces(&view, &w, &own, under.start, held);
                    (sx, sy) = (_mm512_add_ps(sx, fx), _mm512_add_ps(sy, fy));
                    (first_x, first_y) = (_mm512_sub_ps(first_x, fx), _mm512_sub_ps(first_y, fy));
                    for at in (under.start + LANES..under.end).step_by(LANES) {
                        let [fx, fy] = accumulate_forces(&view, &w, &own, at, before(under.end - at));
                        (sx, sy) = (_mm512_add_ps(sx, fx), _mm512_add_ps(sy, fy));
                        let from = at - under.start - LANES;
                        add_to(lanes_mut(&mut tx.rest, from), _mm512_sub_ps(zero, fx));
                        add_to(lanes_mut(&mut ty.rest, from), _mm512_sub_ps(zero, fy));
                    }
                }
                [*ax, *ay] = totals(sx, sy);
            }
            add_to(&mut tx.first.0, first_x);
            add_to(&mut ty.first.0, first_y);
            tx.add(bx, next, &under);
            ty.add(by, next, &under);
        }
    }
}
