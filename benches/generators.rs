//! Random numbers in a buffer of 16 KiB, which fits the L1 cache: this program's streams compared with the
//! generators in the article on fast noise, and with current ones.
//!
//! All fill the same buffer of 8192 16-bit words; a generator of wider words gives several words at a time. They
//! alternate in many short rounds, and the figure is the best tenth in the thread's processor time, which reduces
//! the effect of other loads. `./x bench generators` prints the table.
#![allow(unsafe_code)] // libc's rand, and the intrinsics of the article's first version

mod timing;

use grainfield_filters::noise::lfsr31::{self, Lanes};
use grainfield_filters::noise::xs64;
use grainfield_filters::particle::step;
use grainfield_filters::simd::Level;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::hint::black_box;

const WORDS: usize = 8192;

/// Numerical Recipes' LCG, using the high half of each state.
fn lcg(state: &mut u32, out: &mut [u16]) {
    for w in out {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *w = (*state >> 16) as u16;
    }
}

/// One shift register, as in the article.
fn lfsr_scalar(x: &mut u32, out: &mut [u16]) {
    for w in out {
        *x = (*x << 16).wrapping_add(((*x >> 12) ^ (*x >> 15)) & 0xffff);
        *w = *x as u16;
    }
}

/// The article's first version: four 32-bit registers in a vector, the low halves masked and packed.
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
        // SSE2 packs with signed saturation, so the low half is moved to the high one and shifted down with its sign.
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

/// Another interpretation of the article: 8-bit words of sixteen registers, whose bytes of equal rank share a
/// vector, the lowest first. There are no byte shifts, so words are shifted and masked.
#[cfg(target_arch = "x86_64")]
fn sixteen_registers(state: &mut [[u8; 16]; 4], out: &mut [u16]) {
    use std::arch::x86_64::*;
    // SAFETY: x86-64 has SSE2; loads and stores are unaligned and within the slices.
    unsafe {
        let [mut b0, mut b1, mut b2, mut b3] = state.map(|s| _mm_loadu_si128(s.as_ptr().cast()));
        let mask = |byte: i8| _mm_set1_epi8(byte);
        for eight in out.chunks_exact_mut(8) {
            // The new byte is (x >> 20) ^ (x >> 23).
            let far = _mm_or_si128(
                _mm_and_si128(_mm_srli_epi16(b2, 4), mask(0x0f)),
                _mm_and_si128(_mm_slli_epi16(b3, 4), mask(-0x10)),
            );
            // x + x shifts bytes by one.
            let near = _mm_or_si128(_mm_and_si128(_mm_srli_epi16(b2, 7), mask(1)), _mm_add_epi8(b3, b3));
            (b3, b2, b1, b0) = (b2, b1, b0, _mm_xor_si128(far, near));
            _mm_storeu_si128(eight.as_mut_ptr().cast(), b0);
        }
        for (s, x) in state.iter_mut().zip([b0, b1, b2, b3]) {
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

/// Fills a buffer and keeps the state.
type Fill = Box<dyn FnMut(&mut [u16])>;

/// The vector registers give the same as one register.
#[cfg(target_arch = "x86_64")]
fn check() {
    let mut four = [[1, 2, 3, 4], [5, 6, 7, 8]];
    let mut out = vec![0; 8 * 100];
    four_registers(&mut four, &mut out);
    for lane in 0..8 {
        let (mut x, mut alone) = (lane as u32 + 1, [0; 100]);
        lfsr_scalar(&mut x, &mut alone);
        assert!(
            alone.iter().zip(out.chunks(8)).all(|(a, eight)| *a == eight[lane]),
            "register {lane} of eight"
        );
    }
    let first = |lane: u32| 0x1234_5678u32.wrapping_mul(2 * lane + 1);
    let rank = |byte: u32| core::array::from_fn(|lane| (first(lane as u32) >> (8 * byte)) as u8);
    let mut sixteen = [0, 1, 2, 3].map(rank);
    sixteen_registers(&mut sixteen, &mut out);
    for lane in 0..16 {
        let mut x = first(lane as u32);
        for row in out.chunks(8) {
            x = (x << 8) | (((x >> 20) ^ (x >> 23)) & 0xff);
            let byte = row[lane / 2].to_le_bytes()[lane % 2];
            assert_eq!(byte, x as u8, "register {lane} of sixteen");
        }
    }
}

fn all() -> Vec<(String, Fill)> {
    let mut list: Vec<(String, Fill)> = Vec::new();
    let mut add = |name: &str, fill: Fill| list.push((name.to_owned(), fill));
    // SAFETY: rand has no arguments, and nothing else here calls it.
    add("libc rand", Box::new(|out| out.iter_mut().for_each(|w| *w = unsafe { libc::rand() } as u16)));
    let mut bits = 4231.0f32.to_bits();
    add("Listing 2 of the article on particles", Box::new(move |out| listing_2(&mut bits, out)));
    let mut state = 1u32;
    add("LCG, inlined", Box::new(move |out| lcg(&mut state, out)));
    let mut x = 1u32;
    add("one LFSR, as written down", Box::new(move |out| lfsr_scalar(&mut x, out)));
    #[cfg(target_arch = "x86_64")]
    {
        check();
        let mut four = [[1, 2, 3, 4], [5, 6, 7, 8]];
        add("LFSRs of 32 bits, four a vector, masked and packed", {
            Box::new(move |out| four_registers(&mut four, out))
        });
        let mut sixteen: [[u8; 16]; 4] =
            core::array::from_fn(|i| core::array::from_fn(|j| (16 * i + j + 1) as u8));
        add("LFSRs, sixteen of 8-bit words in four vectors", {
            Box::new(move |out| sixteen_registers(&mut sixteen, out))
        });
    }
    let mut xoshiro = Xoshiro256PlusPlus::seed_from_u64(1);
    add("xoshiro256++", {
        Box::new(move |out| {
            for four in out.as_chunks_mut::<4>().0 {
                let n = xoshiro.next_u64();
                *four = [n, n >> 16, n >> 32, n >> 48].map(|n| n as u16);
            }
        })
    });
    let mut sfmt = {
        use rand_core_06::SeedableRng;
        sfmt::SFMT::seed_from_u64(1)
    };
    add("SFMT19937", {
        use rand_core_06::RngCore;
        Box::new(move |out| {
            for four in out.as_chunks_mut::<4>().0 {
                let n = sfmt.next_u64();
                *four = [n, n >> 16, n >> 32, n >> 48].map(|n| n as u16);
            }
        })
    });
    for &level in Level::available() {
        let mut lanes = Lanes::of([1, 2, 3, 4, 5, 6, 7, 8]);
        add(&format!("lfsr31, {level}"), Box::new(move |out| lfsr31::fill(level, &mut lanes, out)));
        let mut lanes = xs64::Lanes::of_key(1);
        add(&format!("xs64, {level}"), Box::new(move |out| xs64::fill(level, &mut lanes, out)));
    }
    list
}

/// Number of rounds, and the shortest time of a turn in seconds.
const ROUNDS: usize = 60;
const TURN: f64 = 2e-3;

fn main() {
    // `cargo test` also runs benches, to check that they work.
    let rounds = if std::env::args().any(|a| a == "--bench") { ROUNDS } else { 1 };
    let mut out = vec![0u16; WORDS];
    let mut list = all();
    let mut turn = |fill: &mut Fill, times: usize| {
        let run = || (0..times).for_each(|_| fill(black_box(&mut out)));
        timing::time(run) / times as f64
    };
    let times: Vec<usize> =
        list.iter_mut().map(|(_, f)| (TURN / turn(f, 20)).ceil().max(1.0) as usize).collect();
    let mut took = vec![Vec::new(); list.len()];
    for _ in 0..rounds {
        for ((fill, times), took) in list.iter_mut().map(|l| &mut l.1).zip(&times).zip(&mut took) {
            took.push(turn(fill, *times));
        }
    }
    let rates = took.iter_mut().map(|t| {
        t.sort_by(f64::total_cmp);
        2e-9 * WORDS as f64 / t[t.len() / 10]
    });
    println!("| random 16-bit words into 16 KiB, one core | GB/s |\n|---|---|");
    for ((name, _), rate) in list.iter().zip(rates) {
        println!("| {name} | {rate:.2} |");
    }
}
