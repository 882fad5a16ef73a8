//! By hand with AVX-512: the forces, where the compiler turns sixteen records into vectors one number at a time.
#![allow(unsafe_code)] // loads and stores by pointer; calls for a detected level

use super::{Known, forces_body};
use crate::fluid::list::List;
use crate::fluid::settings::Constants;
use crate::simd::{Level, multiversion};

multiversion! {
    fn plain(level, list: &List, c: &Constants, known: &[Known], out: &mut [[f32; 3]]) = forces_body;
}

/// As `forces_body`, with the instructions of the level.
pub(in crate::fluid) fn forces(
    level: Level,
    list: &List,
    c: &Constants,
    known: &[Known],
    out: &mut [[f32; 3]],
) {
    #[cfg(target_arch = "x86_64")]
    if level.isa() >= crate::simd::Isa::Avx512 {
        // SAFETY: levels from AVX-512 on are had by detecting the features that `forces_512` is compiled for.
        return unsafe { forces_512(list, c, known, out) };
    }
    plain(level, list, c, known, out);
}

/// The same sums in the same lanes: each operation is the one of `forces_body`, sixteen times.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
fn forces_512(list: &List, c: &Constants, known: &[Known], out: &mut [[f32; 3]]) {
    use crate::fluid::list::LANES;
    use core::arch::x86_64::*;
    let all = |v: f32| _mm512_set1_ps(v);
    let (one, four, inv_h) = (all(1.0), all(4.0), all(c.inv_h));
    let (push, drag, pull) = (all(c.push), all(c.drag), all(c.pull));
    for (k, out) in out.iter_mut().enumerate() {
        let me = list.first() + k;
        let own = known[me];
        let (n, near, d2) = list.wide(k);
        let (mut fx, mut fy, mut fz) = (all(0.0), all(0.0), all(0.0));
        for (g, (near, d2)) in near.chunks_exact(LANES).zip(d2.chunks_exact(LANES)).enumerate() {
            let left = n - g * LANES;
            let held = if left < LANES { (1u16 << left) - 1 } else { u16::MAX };
            // Behind the end of the list the parcel meets itself.
            let mut index = [me as u32; LANES];
            for (l, (to, near)) in index.iter_mut().zip(near).enumerate() {
                *to = if l < left { *near } else { *to };
            }
            let record = |l: usize| -> __m256 {
                let known: &Known = &known[index[l] as usize];
                // SAFETY: eight numbers are 32 bytes.
                unsafe { _mm256_loadu_ps(known.as_ptr()) }
            };
            let two = |l: usize| _mm512_insertf32x8::<1>(_mm512_castps256_ps512(record(l)), record(l + 4));
            // Four parcels' first (second) halves side by side, four apart; then each quarter is transposed.
            let halves = |l: usize| {
                let (a, b) = (two(l), two(l + 8));
                (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b))
            };
            let (a, b, c, d) = (halves(0), halves(1), halves(2), halves(3));
            let turn = |a, b, c, d| {
                let pd = |v| _mm512_castps_pd(v);
                let (ab, cd) = (pd(_mm512_unpacklo_ps(a, b)), pd(_mm512_unpacklo_ps(c, d)));
                let (ab2, cd2) = (pd(_mm512_unpackhi_ps(a, b)), pd(_mm512_unpackhi_ps(c, d)));
                let low = |a, b| _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
                let high = |a, b| _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
                [low(ab, cd), high(ab, cd), low(ab2, cd2), high(ab2, cd2)]
            };
            let [x, y, z, q] = turn(a.0, b.0, c.0, d.0);
            let [u, v, w, inv] = turn(a.1, b.1, c.1, d.1);
            let less = |own: f32, other| _mm512_sub_ps(all(own), other);
            let (dx, dy, dz) = (less(own[0], x), less(own[1], y), less(own[2], z));
            let (u, v, w) = (less(own[4], u), less(own[5], v), less(own[6], w));
            // SAFETY: sixteen numbers are 64 bytes.
            let d2 = unsafe { _mm512_loadu_ps(d2.as_ptr()) };
            let s = _mm512_mul_ps(_mm512_sqrt_ps(d2), inv_h);
            let inside = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(held, s, one);
            let t = _mm512_maskz_sub_ps(inside, one, s);
            let xy = _mm512_add_ps(_mm512_mul_ps(dx, u), _mm512_mul_ps(dy, v));
            let along = _mm512_add_ps(xy, _mm512_mul_ps(dz, w));
            let t3 = _mm512_mul_ps(_mm512_mul_ps(t, t), t);
            let press = _mm512_mul_ps(push, _mm512_add_ps(all(own[3]), q));
            let drag = _mm512_mul_ps(_mm512_mul_ps(drag, _mm512_mul_ps(all(own[7]), inv)), along);
            let pull = _mm512_mul_ps(pull, _mm512_mul_ps(t, _mm512_add_ps(one, _mm512_mul_ps(four, s))));
            let f = _mm512_mul_ps(t3, _mm512_sub_ps(_mm512_sub_ps(press, drag), pull));
            fx = _mm512_add_ps(fx, _mm512_mul_ps(f, dx));
            fy = _mm512_add_ps(fy, _mm512_mul_ps(f, dy));
            fz = _mm512_add_ps(fz, _mm512_mul_ps(f, dz));
        }
        *out = [fx, fy, fz].map(|v| {
            let mut lanes = [0f32; LANES];
            // SAFETY: sixteen numbers are 64 bytes.
            unsafe { _mm512_storeu_ps(lanes.as_mut_ptr(), v) };
            super::Sums(lanes).total()
        });
    }
}
