//! By hand with AVX-512: the comparison of neighbour lists, where the compiler does not find the instruction that
//! packs.
#![allow(unsafe_code)] // loads and stores by pointer; calls for a detected level

use super::{Candidates, test_body};
use crate::simd::{Level, multiversion};

multiversion! {
    fn plain(level, room: &Candidates, i: u32, at: [f32; 3], h2: f32, out: (&mut [u32], &mut [f32])) -> usize = test_body;
}

/// As `test_body`, with the instructions of the level.
#[inline(always)]
pub(super) fn test(
    level: Level,
    room: &Candidates,
    i: u32,
    at: [f32; 3],
    h2: f32,
    out: (&mut [u32], &mut [f32]),
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if level.isa() >= crate::simd::Isa::Avx512 {
        // SAFETY: levels from AVX-512 on are had by detecting the features that `test_512` is compiled for.
        return unsafe { test_512(room, i, at, h2, out) };
    }
    plain(level, room, i, at, h2, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,popcnt,lzcnt")]
fn test_512(room: &Candidates, i: u32, at: [f32; 3], h2: f32, out: (&mut [u32], &mut [f32])) -> usize {
    use super::LANES;
    use core::arch::x86_64::*;
    assert!(room.vectors <= super::ROOM / LANES);
    // As many may be written as there are candidates, and each time a whole vector.
    let most = out.0.len().min(out.1.len());
    let (x, y, z) = (_mm512_set1_ps(at[0]), _mm512_set1_ps(at[1]), _mm512_set1_ps(at[2]));
    let (h2, own) = (_mm512_set1_ps(h2), _mm512_set1_epi32(i as i32));
    let mut n = 0;
    for v in 0..room.vectors {
        assert!(n + LANES <= most);
        // SAFETY: `v < vectors`, and as many whole vectors are in the arrays; `n + LANES <= most`, the shorter
        // output's length.
        unsafe {
            let load = |p: &[f32]| _mm512_loadu_ps(p.as_ptr().add(v * LANES));
            let (dx, dy, dz) = (
                _mm512_sub_ps(x, load(&room.x[..])),
                _mm512_sub_ps(y, load(&room.y[..])),
                _mm512_sub_ps(z, load(&room.z[..])),
            );
            let xy = _mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy));
            let d2 = _mm512_add_ps(xy, _mm512_mul_ps(dz, dz));
            let index = _mm512_loadu_si512(room.index.as_ptr().add(v * LANES).cast());
            let other = _mm512_cmpneq_epi32_mask(index, own);
            let near = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(other, d2, h2);
            _mm512_storeu_si512(out.0.as_mut_ptr().add(n).cast(), _mm512_maskz_compress_epi32(near, index));
            _mm512_storeu_ps(out.1.as_mut_ptr().add(n), _mm512_maskz_compress_ps(near, d2));
            n += near.count_ones() as usize;
        }
    }
    n
}
