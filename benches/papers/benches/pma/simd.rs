//! Rivals with AVX-512: a merge of sorted arrays, and a full sort.
#![allow(unsafe_code)] // loads and stores by pointer, and calls of functions for AVX-512

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

/// Whether the machine has what the rivals need.
pub(crate) fn present() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512f")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Merges two sorted arrays, eight keys at a step. Needs [`present`].
#[cfg(target_arch = "x86_64")]
pub(crate) fn merge(a: &[u64], b: &[u64], out: &mut [u64]) {
    assert!(present() && out.len() == a.len() + b.len());
    // SAFETY: the machine has AVX-512 F.
    unsafe { merge_512(a, b, out) }
}

/// Sorts. Needs [`present`].
#[cfg(target_arch = "x86_64")]
pub(crate) fn sort(keys: &mut [u64], room: &mut Vec<u64>) {
    assert!(present());
    if room.len() < keys.len() + 8 {
        room.resize(keys.len() + 8, 0);
    }
    // SAFETY: the machine has AVX-512 F.
    unsafe { quick_512(keys, room, 2 * (usize::BITS - keys.len().leading_zeros())) }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn merge(_: &[u64], _: &[u64], _: &mut [u64]) {}
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn sort(_: &mut [u64], _: &mut Vec<u64>) {}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn reverse(v: __m512i) -> __m512i {
    _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), v)
}

/// Sorts a bitonic sequence of eight.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn bitonic(v: __m512i) -> __m512i {
    let w = _mm512_shuffle_i64x2::<0b01_00_11_10>(v, v);
    let v = _mm512_mask_blend_epi64(0b1111_0000, _mm512_min_epu64(v, w), _mm512_max_epu64(v, w));
    let w = _mm512_permutex_epi64::<0b01_00_11_10>(v);
    let v = _mm512_mask_blend_epi64(0b1100_1100, _mm512_min_epu64(v, w), _mm512_max_epu64(v, w));
    let w = _mm512_permutex_epi64::<0b10_11_00_01>(v);
    _mm512_mask_blend_epi64(0b1010_1010, _mm512_min_epu64(v, w), _mm512_max_epu64(v, w))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn merge_512(a: &[u64], b: &[u64], out: &mut [u64]) {
    if a.len() < 8 || b.len() < 8 {
        super::rivals::merge(a, b, out);
        return;
    }
    // SAFETY: both have eight keys.
    let (mut carry, first) =
        unsafe { (_mm512_loadu_si512(a.as_ptr().cast()), _mm512_loadu_si512(b.as_ptr().cast())) };
    let (mut i, mut j, mut k) = (8, 8, 0);
    let mut next = first;
    loop {
        let turned = reverse(next);
        let low = bitonic(_mm512_min_epu64(carry, turned));
        carry = bitonic(_mm512_max_epu64(carry, turned));
        // SAFETY: eight keys have been read for each eight written, and the carry beside.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().add(k).cast(), low) };
        k += 8;
        if i + 8 > a.len() || j + 8 > b.len() {
            break;
        }
        let left = a[i] <= b[j];
        let from = if left { &a[i] } else { &b[j] } as *const u64;
        // SAFETY: eight keys remain in either.
        next = unsafe { _mm512_loadu_si512(from.cast()) };
        i += 8 * usize::from(left);
        j += 8 * usize::from(!left);
    }
    // What is left: the carry, less than eight of one array, any number of the other.
    let mut kept = [0u64; 8];
    // SAFETY: room for eight.
    unsafe { _mm512_storeu_si512(kept.as_mut_ptr().cast(), carry) };
    let (short, long) = if i + 8 > a.len() { (&a[i..], &b[j..]) } else { (&b[j..], &a[i..]) };
    let mut few = kept.to_vec();
    few.extend_from_slice(short);
    few.sort_unstable();
    let (mut f, mut l) = (0, 0);
    while f < few.len() {
        if l < long.len() && long[l] < few[f] {
            out[k] = long[l];
            l += 1;
        } else {
            out[k] = few[f];
            f += 1;
        }
        k += 1;
    }
    out[k..].copy_from_slice(&long[l..]);
}

/// Quicksort: keys are divided by compressing registers, small parts sorted by the library.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn quick_512(keys: &mut [u64], room: &mut [u64], depth: u32) {
    if keys.len() <= 128 || depth == 0 {
        small_512(keys, room, depth);
        return;
    }
    let n = keys.len();
    let mut sample = [0u64; 9];
    for (s, v) in sample.iter_mut().enumerate() {
        *v = keys[(n - 1) * s / 8];
    }
    sample.sort_unstable();
    let pivot = sample[4];
    let (mut low, mut high) = (0, 0);
    let p = _mm512_set1_epi64(pivot as i64);
    let whole = n / 8 * 8;
    for i in (0..whole).step_by(8) {
        // SAFETY: eight keys from `i` on; `low <= i`, so what is overwritten has been read; the room has eight more
        // than the keys.
        unsafe {
            let v = _mm512_loadu_si512(keys.as_ptr().add(i).cast());
            let below = _mm512_cmplt_epu64_mask(v, p);
            _mm512_storeu_si512(keys.as_mut_ptr().add(low).cast(), _mm512_maskz_compress_epi64(below, v));
            _mm512_storeu_si512(room.as_mut_ptr().add(high).cast(), _mm512_maskz_compress_epi64(!below, v));
            low += below.count_ones() as usize;
            high += 8 - below.count_ones() as usize;
        }
    }
    for i in whole..n {
        let key = keys[i];
        if key < pivot {
            keys[low] = key;
            low += 1;
        } else {
            room[high] = key;
            high += 1;
        }
    }
    keys[low..].copy_from_slice(&room[..high]);
    if low == 0 {
        // The pivot is the least: its equals come first and are done.
        let mut equal = 0;
        for i in 0..n {
            if keys[i] == pivot {
                keys.swap(i, equal);
                equal += 1;
            }
        }
        quick_512(&mut keys[equal..], room, depth - 1);
        return;
    }
    let (left, right) = keys.split_at_mut(low);
    quick_512(left, room, depth - 1);
    quick_512(right, room, depth - 1);
}

/// Sorts few keys: eights by a network, then merges of registers, twice as long each time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn small_512(keys: &mut [u64], room: &mut [u64], _: u32) {
    if keys.len() > 128 {
        keys.sort_unstable();
        return;
    }
    let n = keys.len();
    let mut a = [u64::MAX; 128];
    a[..n].copy_from_slice(keys);
    let registers = n.div_ceil(8).next_power_of_two();
    let mut r = [_mm512_set1_epi64(-1); 16];
    for (i, v) in r.iter_mut().enumerate().take(registers) {
        // SAFETY: `i < 16`, and there are 128 keys.
        *v = sort_8(unsafe { _mm512_loadu_si512(a.as_ptr().add(8 * i).cast()) });
    }
    let mut run = 1;
    while run < registers {
        for start in (0..registers).step_by(2 * run) {
            // Second half turned round makes the whole bitonic.
            for i in 0..run {
                let (x, y) = (r[start + i], reverse(r[start + 2 * run - 1 - i]));
                r[start + i] = _mm512_min_epu64(x, y);
                r[start + 2 * run - 1 - i] = reverse(_mm512_max_epu64(x, y));
            }
            let mut gap = run / 2;
            while gap > 0 {
                for block in (start..start + 2 * run).step_by(2 * gap) {
                    for i in block..block + gap {
                        let (x, y) = (r[i], r[i + gap]);
                        r[i] = _mm512_min_epu64(x, y);
                        r[i + gap] = _mm512_max_epu64(x, y);
                    }
                }
                gap /= 2;
            }
            for v in &mut r[start..start + 2 * run] {
                *v = bitonic(*v);
            }
        }
        run *= 2;
    }
    for (i, v) in r.iter().enumerate().take(registers) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(a.as_mut_ptr().add(8 * i).cast(), *v) };
    }
    let _ = room;
    keys.copy_from_slice(&a[..n]);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn sort_8(v: __m512i) -> __m512i {
    let w = _mm512_permutex_epi64::<0b10_11_00_01>(v);
    let v = _mm512_mask_blend_epi64(0b1010_1010, _mm512_min_epu64(v, w), _mm512_max_epu64(v, w));
    let w = _mm512_permutex_epi64::<0b00_01_10_11>(v);
    let v = _mm512_mask_blend_epi64(0b1100_1100, _mm512_min_epu64(v, w), _mm512_max_epu64(v, w));
    let w = _mm512_permutex_epi64::<0b10_11_00_01>(v);
    let v = _mm512_mask_blend_epi64(0b1010_1010, _mm512_min_epu64(v, w), _mm512_max_epu64(v, w));
    let w = reverse(v);
    let v = _mm512_mask_blend_epi64(0b1111_0000, _mm512_min_epu64(v, w), _mm512_max_epu64(v, w));
    let w = _mm512_permutex_epi64::<0b01_00_11_10>(v);
    let v = _mm512_mask_blend_epi64(0b1100_1100, _mm512_min_epu64(v, w), _mm512_max_epu64(v, w));
    let w = _mm512_permutex_epi64::<0b10_11_00_01>(v);
    _mm512_mask_blend_epi64(0b1010_1010, _mm512_min_epu64(v, w), _mm512_max_epu64(v, w))
}
