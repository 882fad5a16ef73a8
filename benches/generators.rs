//! Random numbers into a buffer of 16 KiB, which stays in the first cache: this program's streams beside the
//! generators that the article on fast noise starts from, and those in use today.
//!
//! All fill the same buffer of 8192 16-bit words; a generator of wider words gives as many words as it has bits for.
//! `./x bench generators`
#![allow(unsafe_code)] // libc's rand, and the intrinsics of the article's first try
#![allow(clippy::expect_used, missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use grainfield_filters::noise::lfsr31::{self, Lanes};
use grainfield_filters::noise::xs64;
use grainfield_filters::particle::step;
use grainfield_filters::simd::Level;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::hint::black_box;
use std::time::Duration;

const WORDS: usize = 8192;

/// Numerical Recipes' LCG, the high half of each state.
fn lcg(state: &mut u32, out: &mut [u16]) {
    for w in out {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *w = (*state >> 16) as u16;
    }
}

/// One shift register, as the article writes it down.
fn lfsr_scalar(x: &mut u32, out: &mut [u16]) {
    for w in out {
        *x = (*x << 16).wrapping_add(((*x >> 12) ^ (*x >> 15)) & 0xffff);
        *w = *x as u16;
    }
}

/// The article's first try: four 32-bit registers in a vector, the low halves masked and packed.
#[cfg(target_arch = "x86_64")]
fn four_registers(state: &mut [[u32; 4]; 2], out: &mut [u16]) {
    use std::arch::x86_64::*;
    // SAFETY: x86-64 has SSE2; loads and stores are unaligned and within the slices.
    unsafe {
        let mut x = state.map(|s| _mm_loadu_si128(s.as_ptr().cast()));
        let step = |x: __m128i| {
            let taps = _mm_xor_si128(_mm_srli_epi32(x, 12), _mm_srli_epi32(x, 15));
            _mm_or_si128(_mm_slli_epi32(x, 16), _mm_and_si128(taps, _mm_set1_epi32(0xffff)))
        };
        // SSE2 packs with signed saturation, so the low half is brought to the high one and shifted down with its sign.
        let low = |x: __m128i| _mm_srai_epi32(_mm_slli_epi32(x, 16), 16);
        for eight in out.chunks_exact_mut(8) {
            x = x.map(step);
            _mm_storeu_si128(eight.as_mut_ptr().cast(), _mm_packs_epi32(low(x[0]), low(x[1])));
        }
        for (s, x) in state.iter_mut().zip(x) {
            _mm_storeu_si128(s.as_mut_ptr().cast(), x);
        }
    }
}

/// Listing 2 of the article on particles, one sequence; 16 bits of each float's mantissa.
fn listing_2(bits: &mut u32, out: &mut [u16]) {
    for w in out {
        let r = step(*bits);
        *bits = r.to_bits();
        *w = ((r + 3.0).to_bits() >> 7) as u16;
    }
}

fn generators(c: &mut Criterion) {
    let mut group = c.benchmark_group("generators");
    group
        .throughput(Throughput::Bytes(2 * WORDS as u64))
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600));
    let mut out = vec![0u16; WORDS];

    group.bench_function("libc rand", |b| {
        // SAFETY: rand has no arguments, and nothing else here calls it.
        b.iter(|| black_box(&mut out[..]).iter_mut().for_each(|w| *w = unsafe { libc::rand() } as u16));
    });
    let mut state = 1u32;
    group.bench_function("LCG, inlined", |b| b.iter(|| lcg(&mut state, black_box(&mut out))));
    let mut x = 1u32;
    group
        .bench_function("one LFSR, as written down", |b| b.iter(|| lfsr_scalar(&mut x, black_box(&mut out))));
    #[cfg(target_arch = "x86_64")]
    {
        let mut four = [[1, 2, 3, 4], [5, 6, 7, 8]];
        group.bench_function("four LFSRs, masked and packed", |b| {
            b.iter(|| four_registers(&mut four, black_box(&mut out)));
        });
    }
    let mut bits = 4231.0f32.to_bits();
    group.bench_function("Listing 2", |b| b.iter(|| listing_2(&mut bits, black_box(&mut out))));
    let mut xoshiro = Xoshiro256PlusPlus::seed_from_u64(1);
    group.bench_function("xoshiro256++", |b| {
        b.iter(|| {
            for four in black_box(&mut out[..]).as_chunks_mut::<4>().0 {
                let n = xoshiro.next_u64();
                *four = [n, n >> 16, n >> 32, n >> 48].map(|n| n as u16);
            }
        });
    });
    let mut sfmt = {
        use rand_core_06::SeedableRng;
        sfmt::SFMT::seed_from_u64(1)
    };
    group.bench_function("SFMT19937", |b| {
        use rand_core_06::RngCore;
        b.iter(|| {
            for four in black_box(&mut out[..]).as_chunks_mut::<4>().0 {
                let n = sfmt.next_u64();
                *four = [n, n >> 16, n >> 32, n >> 48].map(|n| n as u16);
            }
        });
    });
    for &level in Level::available() {
        let mut lanes = Lanes::of([1, 2, 3, 4, 5, 6, 7, 8]);
        group.bench_function(format!("lfsr31 {level}"), |b| {
            b.iter(|| lfsr31::fill(level, &mut lanes, black_box(&mut out)));
        });
        let mut lanes = xs64::Lanes::of_key(1);
        group.bench_function(format!("xs64 {level}"), |b| {
            b.iter(|| xs64::fill(level, &mut lanes, black_box(&mut out)));
        });
    }
    group.finish();
}

criterion_group!(benches, generators);
criterion_main!(benches);
