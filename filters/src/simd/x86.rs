//! Registers of 128, 256 and 512 bits.
#![allow(unsafe_code)] // instructions of a level, and loads and stores of whole registers
#![allow(unused_unsafe)] // SSE2 is part of x86-64 and needs no witness; one table serves all widths

use super::Vector;
use bytemuck::Pod;
use core::arch::asm;
use core::arch::x86_64::*;

macro_rules! register {
    ($(#[$meta:meta])* $name:ident($v:ident, $half:ident), $load:ident $store:ident $set8:ident $set16:ident $set32:ident,
     $wide:literal, { $($binary:ident $of_two:ident;)+ }, { $($shift:ident $by:ident;)+ },
     { $($unary:ident $of_one:ident;)+ }, { $($own:tt)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name($v);

        impl $name {
            /// The first witness, zero.
            ///
            /// # Safety
            /// The machine must support the instructions of these registers.
            #[inline(always)]
            pub(crate) unsafe fn witness() -> Self {
                // SAFETY: guaranteed by the caller.
                $name(unsafe { $set8(0) })
            }
        }

        impl Vector for $name {
            type Half = $half;
            const BYTES: usize = size_of::<$v>();
            const BYTE_TABLES: bool = $wide;

            #[inline(always)]
            unsafe fn read<T: Pod>(self, from: *const T) -> Self {
                // SAFETY: guaranteed by the caller; any bytes are a valid register, and `self` is a witness of the
                // instruction.
                $name(unsafe { $load(from.cast()) })
            }
            #[inline(always)]
            unsafe fn write<T: Pod>(self, to: *mut T) {
                // SAFETY: guaranteed by the caller; any bytes are a valid `T`, and `self` is a witness of the
                // instruction.
                unsafe { $store(to.cast(), self.0) }
            }
            #[inline(always)]
            fn splat8(self, v: u8) -> Self {
                // SAFETY: `self` is a witness of the instruction.
                $name(unsafe { $set8(v as i8) })
            }
            #[inline(always)]
            fn splat16(self, v: i16) -> Self {
                // SAFETY: `self` is a witness of the instruction.
                $name(unsafe { $set16(v) })
            }
            #[inline(always)]
            fn splat32(self, v: i32) -> Self {
                // SAFETY: `self` is a witness of the instruction.
                $name(unsafe { $set32(v) })
            }
            $(#[inline(always)]
            fn $binary(self, b: Self) -> Self {
                // SAFETY: `self` is a witness of the instruction.
                $name(unsafe { $of_two(self.0, b.0) })
            })+
            $(#[inline(always)]
            fn $shift(self, n: u32) -> Self {
                // SAFETY: `self` is a witness of the instruction; SSE2 is part of x86-64.
                $name(unsafe { $by(self.0, _mm_cvtsi32_si128(n as i32)) })
            })+
            $(#[inline(always)]
            fn $unary(self) -> Self {
                // SAFETY: `self` is a witness of the instructions.
                $name(unsafe { $of_one(self.0) })
            })+
            own! { $($own)* }
        }
    };
}

/// Operations that each width implements differently.
macro_rules! own {
    ($($method:ident($me:ident $(, $arg:ident: $ty:ty)*) -> $ret:ty = $call:expr;)+) => {$(
        #[inline(always)]
        fn $method($me $(, $arg: $ty)*) -> $ret {
            // SAFETY: `self` is a witness of the instructions.
            unsafe { $call }
        }
    )+};
}

/// Defines registers from a table of operations: for each an instruction of every width, or a function below.
macro_rules! registers {
    ({ $($binary:ident $two_1:ident $two_2:ident $two_3:ident;)+ },
     { $($shift:ident $by_1:ident $by_2:ident $by_3:ident;)+ },
     { $($unary:ident $one_1:ident $one_2:ident $one_3:ident;)+ }) => {
        register! {
            /// 128 bits, any x86-64.
            Sse2(__m128i, Sse2), _mm_loadu_si128 _mm_storeu_si128 _mm_set1_epi8 _mm_set1_epi16 _mm_set1_epi32, false,
            { $($binary $two_1;)+ }, { $($shift $by_1;)+ }, { $($unary $one_1;)+ }, {
                select_if_test32(self, x: Self, y: Self) -> Self = Sse2(select_if_test_128(self.0, x.0, y.0));
                any_zero16(self) -> bool = _mm_movemask_epi8(_mm_cmpeq_epi16(self.0, _mm_setzero_si128())) != 0;
                high_bytes_of_parts(self, b: Self) -> Self = Sse2(high_bytes_128(self.0, b.0));
                lower(self) -> Sse2 = self;
                upper(self) -> Sse2 = self;
                join(self, lower: Sse2, _upper: Sse2) -> Self = lower;
                look_up_words(self, table: &[i16; 256]) -> [Self; 2] = look_up_words_128(self.0, table).map(Sse2);
                look_up_pairs(self, table: &[[i16; 2]; 64]) -> [Self; 2] = look_up_pairs_128(self.0, table).map(Sse2);
            }
        }
        register! {
            /// 256 bits, AVX2.
            Avx2(__m256i, Sse2), _mm256_loadu_si256 _mm256_storeu_si256 _mm256_set1_epi8 _mm256_set1_epi16 _mm256_set1_epi32,
            false, { $($binary $two_2;)+ }, { $($shift $by_2;)+ }, { $($unary $one_2;)+ },
            {
                select_if_test32(self, x: Self, y: Self) -> Self = Avx2(select_if_test_256(self.0, x.0, y.0));
                any_zero16(self) -> bool = _mm256_movemask_epi8(_mm256_cmpeq_epi16(self.0, _mm256_setzero_si256())) != 0;
                high_bytes_of_parts(self, b: Self) -> Self = Avx2(high_bytes_256(self.0, b.0));
                lower(self) -> Sse2 = Sse2(_mm256_castsi256_si128(self.0));
                upper(self) -> Sse2 = Sse2(_mm256_extracti128_si256::<1>(self.0));
                join(self, lower: Sse2, upper: Sse2) -> Self =
                    Avx2(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(lower.0), upper.0));
                look_up8(self, table: &[u8; 256]) -> Self = Avx2(look_up8_256(self.0, table));
                table16(self, table: &[i16; 16]) -> [Self; 2] = { let [low, high] = table16_256(table); [Avx2(low), Avx2(high)] };
                look_up16(self, b: Self, table: [Self; 2]) -> [Self; 2] = look_up16_256(self.0, b.0, table[0].0, table[1].0).map(Avx2);
            }
        }
        register! {
            /// 512 bits, AVX-512 F, BW, VL and DQ.
            Avx512(__m512i, Avx2), _mm512_loadu_si512 _mm512_storeu_si512 _mm512_set1_epi8 _mm512_set1_epi16 _mm512_set1_epi32,
            false, { $($binary $two_3;)+ }, { $($shift $by_3;)+ }, { $($unary $one_3;)+ },
            {
                any_zero16(self) -> bool = _mm512_cmpeq_epi16_mask(self.0, _mm512_setzero_si512()) != 0;
                select_if_test32(self, x: Self, y: Self) -> Self = Avx512(select_if_test_512(self.0, x.0, y.0));
                high_bytes(self, b: Self) -> Self = Avx512(high_bytes_512(self.0, b.0)).unshuffle_after_pack();
                high_bytes_of_parts(self, b: Self) -> Self = Avx512(swap_middle_512(high_bytes_512(self.0, b.0)));
                lower(self) -> Avx2 = Avx2(_mm512_castsi512_si256(self.0));
                upper(self) -> Avx2 = Avx2(_mm512_extracti64x4_epi64::<1>(self.0));
                join(self, lower: Avx2, upper: Avx2) -> Self =
                    Avx512(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(lower.0), upper.0));
                look_up8(self, table: &[u8; 256]) -> Self = Avx512(look_up8_512(self.0, table));
                table16(self, table: &[i16; 16]) -> [Self; 2] = [Avx512(table16_512(table)); 2];
                look_up16(self, b: Self, table: [Self; 2]) -> [Self; 2] =
                    [Avx512(look_up16_512(self.0, table[0].0)), Avx512(look_up16_512(b.0, table[0].0))];
            }
        }
        register! {
            /// 512 bits, AVX-512 with VBMI.
            Vbmi(__m512i, Avx2), _mm512_loadu_si512 _mm512_storeu_si512 _mm512_set1_epi8 _mm512_set1_epi16 _mm512_set1_epi32,
            true, { $($binary $two_3;)+ }, { $($shift $by_3;)+ }, { $($unary $one_3;)+ },
            {
                any_zero16(self) -> bool = _mm512_cmpeq_epi16_mask(self.0, _mm512_setzero_si512()) != 0;
                select_if_test32(self, x: Self, y: Self) -> Self = Vbmi(select_if_test_512(self.0, x.0, y.0));
                low_bytes(self, b: Self) -> Self = Vbmi(bytes_vbmi::<0, false>(self.0, b.0));
                high_bytes(self, b: Self) -> Self = Vbmi(high_bytes_vbmi::<false>(self.0, b.0));
                high_bytes_of_parts(self, b: Self) -> Self = Vbmi(high_bytes_vbmi::<true>(self.0, b.0));
                lower(self) -> Avx2 = Avx2(_mm512_castsi512_si256(self.0));
                upper(self) -> Avx2 = Avx2(_mm512_extracti64x4_epi64::<1>(self.0));
                join(self, lower: Avx2, upper: Avx2) -> Self =
                    Vbmi(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(lower.0), upper.0));
                look_up8(self, table: &[u8; 256]) -> Self = Vbmi(look_up8_vbmi(self.0, table));
                table16(self, table: &[i16; 16]) -> [Self; 2] = [Vbmi(table16_512(table)); 2];
                look_up16(self, b: Self, table: [Self; 2]) -> [Self; 2] =
                    [Vbmi(look_up16_512(self.0, table[0].0)), Vbmi(look_up16_512(b.0, table[0].0))];
            }
        }
    };
}

#[rustfmt::skip]
registers! {
    {
        and _mm_and_si128 _mm256_and_si256 _mm512_and_si512;
        or _mm_or_si128 _mm256_or_si256 _mm512_or_si512;
        xor _mm_xor_si128 _mm256_xor_si256 _mm512_xor_si512;
        adds_i8 _mm_adds_epi8 _mm256_adds_epi8 _mm512_adds_epi8;
        subs_u8 _mm_subs_epu8 _mm256_subs_epu8 _mm512_subs_epu8;
        min_u8 _mm_min_epu8 _mm256_min_epu8 _mm512_min_epu8;
        max_u8 _mm_max_epu8 _mm256_max_epu8 _mm512_max_epu8;
        add16 _mm_add_epi16 _mm256_add_epi16 _mm512_add_epi16;
        sub16 _mm_sub_epi16 _mm256_sub_epi16 _mm512_sub_epi16;
        adds_i16 _mm_adds_epi16 _mm256_adds_epi16 _mm512_adds_epi16;
        adds_u16 _mm_adds_epu16 _mm256_adds_epu16 _mm512_adds_epu16;
        subs_u16 _mm_subs_epu16 _mm256_subs_epu16 _mm512_subs_epu16;
        min_i16 _mm_min_epi16 _mm256_min_epi16 _mm512_min_epi16;
        max_i16 _mm_max_epi16 _mm256_max_epi16 _mm512_max_epi16;
        min_u16 min_u16_128 _mm256_min_epu16 _mm512_min_epu16;
        max_u16 max_u16_128 _mm256_max_epu16 _mm512_max_epu16;
        mullo16 _mm_mullo_epi16 _mm256_mullo_epi16 _mm512_mullo_epi16;
        mulhi_i16 _mm_mulhi_epi16 _mm256_mulhi_epi16 _mm512_mulhi_epi16;
        mulhi_u16 mulhi_u16_128 mulhi_u16_256 mulhi_u16_512;
        mulhrs_i16 mulhrs_128 _mm256_mulhrs_epi16 _mm512_mulhrs_epi16;
        add32 _mm_add_epi32 _mm256_add_epi32 _mm512_add_epi32;
        madd16 _mm_madd_epi16 _mm256_madd_epi16 _mm512_madd_epi16;
        unpack_low8 _mm_unpacklo_epi8 _mm256_unpacklo_epi8 _mm512_unpacklo_epi8;
        unpack_high8 _mm_unpackhi_epi8 _mm256_unpackhi_epi8 _mm512_unpackhi_epi8;
        unpack_low16 _mm_unpacklo_epi16 _mm256_unpacklo_epi16 _mm512_unpacklo_epi16;
        unpack_high16 _mm_unpackhi_epi16 _mm256_unpackhi_epi16 _mm512_unpackhi_epi16;
        pack_i16 _mm_packs_epi16 _mm256_packs_epi16 _mm512_packs_epi16;
        pack_u16 _mm_packus_epi16 _mm256_packus_epi16 _mm512_packus_epi16;
        pack_i32 _mm_packs_epi32 _mm256_packs_epi32 _mm512_packs_epi32;
        align_lanes_128 second_128 align_128_of_256 align_128_of_512;
        align_lanes_256 second_128 second_256 align_256_of_512;
        lower_halves second_128 lower_256 lower_512;
        upper_halves second_128 upper_256 upper_512;
        even_parts second_128 lower_256 even_parts_512;
        odd_parts second_128 upper_256 odd_parts_512;
        interleave_even_128 second_128 lower_256 interleave_even_512;
        interleave_odd_128 second_128 upper_256 interleave_odd_512;
    },
    {
        shl16 _mm_sll_epi16 _mm256_sll_epi16 _mm512_sll_epi16;
        shr_u16 _mm_srl_epi16 _mm256_srl_epi16 _mm512_srl_epi16;
        shr_i16 _mm_sra_epi16 _mm256_sra_epi16 _mm512_sra_epi16;
        shr_i32 _mm_sra_epi32 _mm256_sra_epi32 _mm512_sra_epi32;
    },
    {
        xor_reduce32 xor_reduce_128 xor_reduce_256 xor_reduce_512;
        add_pairs_u8 add_pairs_u8_128 add_pairs_u8_256 add_pairs_u8_512;
        preshuffle_for_unpack same_128 swap_middle_256 preshuffle_512;
        unshuffle_after_pack same_128 swap_middle_256 unshuffle_512;
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn select_if_test_128(v: __m128i, x: __m128i, y: __m128i) -> __m128i {
    _mm_andnot_si128(_mm_cmpeq_epi32(_mm_and_si128(x, y), _mm_setzero_si128()), v)
}

#[inline]
#[target_feature(enable = "avx2")]
fn select_if_test_256(v: __m256i, x: __m256i, y: __m256i) -> __m256i {
    _mm256_andnot_si256(_mm256_cmpeq_epi32(_mm256_and_si256(x, y), _mm256_setzero_si256()), v)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn select_if_test_512(v: __m512i, x: __m512i, y: __m512i) -> __m512i {
    _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(x, y), v)
}

#[inline]
#[target_feature(enable = "sse2")]
fn xor_reduce_128(v: __m128i) -> __m128i {
    let v = _mm_xor_si128(v, _mm_shuffle_epi32::<0b01_00_11_10>(v));
    _mm_xor_si128(v, _mm_shuffle_epi32::<0b10_11_00_01>(v))
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor_reduce_256(v: __m256i) -> __m256i {
    let v = _mm256_xor_si256(v, _mm256_permute4x64_epi64::<0b01_00_11_10>(v));
    let v = _mm256_xor_si256(v, _mm256_shuffle_epi32::<0b01_00_11_10>(v));
    _mm256_xor_si256(v, _mm256_shuffle_epi32::<0b10_11_00_01>(v))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor_reduce_512(v: __m512i) -> __m512i {
    let v = _mm512_xor_si512(v, _mm512_shuffle_i64x2::<0b01_00_11_10>(v, v));
    let v = _mm512_xor_si512(v, _mm512_shuffle_i64x2::<0b10_11_00_01>(v, v));
    let v = _mm512_xor_si512(v, _mm512_shuffle_epi32::<0b01_00_11_10>(v));
    _mm512_xor_si512(v, _mm512_shuffle_epi32::<0b10_11_00_01>(v))
}

#[inline]
#[target_feature(enable = "sse2")]
fn add_pairs_u8_128(a: __m128i) -> __m128i {
    _mm_add_epi16(_mm_and_si128(a, _mm_set1_epi16(0xff)), _mm_srli_epi16::<8>(a))
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_pairs_u8_256(a: __m256i) -> __m256i {
    _mm256_maddubs_epi16(a, _mm256_set1_epi8(1))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_pairs_u8_512(a: __m512i) -> __m512i {
    _mm512_maddubs_epi16(a, _mm512_set1_epi8(1))
}

#[inline]
fn same_128(a: __m128i) -> __m128i {
    a
}

/// Its own inverse.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_middle_256(a: __m256i) -> __m256i {
    _mm256_permute4x64_epi64::<0b11_01_10_00>(a)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn preshuffle_512(a: __m512i) -> __m512i {
    _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), a)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn unshuffle_512(a: __m512i) -> __m512i {
    _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), a)
}

#[inline]
fn second_128(_: __m128i, b: __m128i) -> __m128i {
    b
}

#[inline]
fn second_256(_: __m256i, b: __m256i) -> __m256i {
    b
}

/// Operations on two registers with one instruction and a constant.
macro_rules! by_constant {
    ($features:literal $v:ident: $($name:ident($a:ident, $b:ident) = $call:expr;)+) => {$(
        #[inline]
        #[target_feature(enable = $features)]
        fn $name($a: $v, $b: $v) -> $v {
            $call
        }
    )+};
}

by_constant! { "avx2" __m256i:
    align_128_of_256(a, b) = _mm256_permute2x128_si256::<0x21>(a, b);
    lower_256(a, b) = _mm256_permute2x128_si256::<0x20>(a, b);
    upper_256(a, b) = _mm256_permute2x128_si256::<0x31>(a, b);
}

by_constant! { "avx512f" __m512i:
    align_128_of_512(a, b) = _mm512_alignr_epi64::<2>(b, a);
    align_256_of_512(a, b) = _mm512_alignr_epi64::<4>(b, a);
    lower_512(a, b) = _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b);
    upper_512(a, b) = _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b);
    even_parts_512(a, b) = _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
    odd_parts_512(a, b) = _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b);
    interleave_even_512(a, b) = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), b);
    interleave_odd_512(a, b) = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), b);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn swap_middle_512(a: __m512i) -> __m512i {
    _mm512_shuffle_i64x2::<0b11_01_10_00>(a, a)
}

#[inline]
#[target_feature(enable = "sse2")]
fn high_bytes_128(a: __m128i, b: __m128i) -> __m128i {
    let high = |v| _mm_srai_epi16::<8>(_mm_add_epi16(v, _mm_set1_epi16(128)));
    _mm_packs_epi16(high(a), high(b))
}

// The rounding product with 128 is (a * 128 + 2^14) >> 15, which equals (a + 128) >> 8, in one instruction.

#[inline]
#[target_feature(enable = "avx2")]
fn high_bytes_256(a: __m256i, b: __m256i) -> __m256i {
    let half = _mm256_set1_epi16(128);
    _mm256_packs_epi16(_mm256_mulhrs_epi16(a, half), _mm256_mulhrs_epi16(b, half))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn high_bytes_512(a: __m512i, b: __m512i) -> __m512i {
    let half = _mm512_set1_epi16(128);
    _mm512_packs_epi16(_mm512_mulhrs_epi16(a, half), _mm512_mulhrs_epi16(b, half))
}

/// One VBMI instruction permutes the bytes of two registers: from `first` on every second byte, eight from each part.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn bytes_vbmi<const FIRST: u8, const INTERLEAVED: bool>(a: __m512i, b: __m512i) -> __m512i {
    let at = const {
        let parts = if INTERLEAVED { [0, 4, 2, 6, 1, 5, 3, 7] } else { [0, 1, 2, 3, 4, 5, 6, 7] };
        let mut at = [0; 64];
        let mut i = 0;
        while i < 64 {
            at[i] = 16 * parts[i / 8] + 2 * (i % 8) as u8 + FIRST;
            i += 1;
        }
        at
    };
    // SAFETY: 64 bytes are 512 bits.
    _mm512_permutex2var_epi8(a, unsafe { _mm512_loadu_si512(at.as_ptr().cast()) }, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn high_bytes_vbmi<const INTERLEAVED: bool>(a: __m512i, b: __m512i) -> __m512i {
    let half = _mm512_set1_epi16(128);
    bytes_vbmi::<1, INTERLEAVED>(_mm512_add_epi16(a, half), _mm512_add_epi16(b, half))
}

#[inline]
#[target_feature(enable = "sse2")]
fn min_u16_128(a: __m128i, b: __m128i) -> __m128i {
    _mm_sub_epi16(a, _mm_subs_epu16(a, b))
}

#[inline]
#[target_feature(enable = "sse2")]
fn mulhrs_128(a: __m128i, b: __m128i) -> __m128i {
    let (low, high) = (_mm_mullo_epi16(a, b), _mm_mulhi_epi16(a, b));
    // The two highest bits of the lower half, of which the first belongs to the result and the second rounds it.
    let rounded = _mm_srli_epi16::<1>(_mm_add_epi16(_mm_srli_epi16::<14>(low), _mm_set1_epi16(1)));
    _mm_add_epi16(_mm_add_epi16(high, high), rounded)
}

#[inline]
#[target_feature(enable = "sse2")]
fn max_u16_128(a: __m128i, b: __m128i) -> __m128i {
    _mm_adds_epu16(_mm_subs_epu16(a, b), b)
}

/// The standard library implements the upper half of a 16-bit product with 32-bit arithmetic. If another operation
/// follows, the compiler continues in 32 bits, at twice to four times the cost. Inline assembly forces the instruction.
macro_rules! mulhi_u16 {
    ($($name:ident $features:literal $v:ident $class:ident $code:literal;)+) => {$(
        #[inline]
        #[target_feature(enable = $features)]
        fn $name(a: $v, b: $v) -> $v {
            let mut out = a;
            // SAFETY: it only reads and writes registers, and the function is compiled for the features it
            // needs.
            unsafe {
                asm!($code, inout($class) out, in($class) b, options(pure, nomem, nostack, preserves_flags));
            }
            out
        }
    )+};
}

mulhi_u16! {
    mulhi_u16_128 "sse2" __m128i xmm_reg "pmulhuw {0}, {1}";
    mulhi_u16_256 "avx2" __m256i ymm_reg "vpmulhuw {0}, {0}, {1}";
    mulhi_u16_512 "avx512f,avx512bw" __m512i zmm_reg "vpmulhuw {0}, {0}, {1}";
}

#[inline]
#[target_feature(enable = "avx2")]
fn repeat_256(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: sixteen bytes are 128 bits.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// SSE2 has no table permutation: entries are assembled in general registers, four at a time. Lane by lane takes twice
/// as long.
#[inline]
#[target_feature(enable = "sse2")]
fn look_up_words_128(x: __m128i, table: &[i16; 256]) -> [__m128i; 2] {
    let four = |bytes: u32| {
        let word = |i: u32| u64::from(table[(bytes >> (8 * i) & 255) as usize] as u16) << (16 * i);
        (word(0) | word(1) | word(2) | word(3)) as i64
    };
    let low = _mm_cvtsi128_si64(x) as u64;
    let high = _mm_cvtsi128_si64(_mm_unpackhi_epi64(x, x)) as u64;
    [
        _mm_set_epi64x(four((low >> 32) as u32), four(low as u32)),
        _mm_set_epi64x(four((high >> 32) as u32), four(high as u32)),
    ]
}

/// SSE2 shuffles by no register, so lanes take their entries one by one.
#[inline]
#[target_feature(enable = "sse2")]
fn look_up_pairs_128(x: __m128i, table: &[[i16; 2]; 64]) -> [__m128i; 2] {
    let pair = |i: u64| {
        let [a, b] = table[(i & 63) as usize];
        _mm_cvtsi32_si128(i32::from(a) & 0xffff | i32::from(b) << 16)
    };
    let four = |lanes: u64| {
        let low = _mm_unpacklo_epi32(pair(lanes), pair(lanes >> 16));
        _mm_unpacklo_epi64(low, _mm_unpacklo_epi32(pair(lanes >> 32), pair(lanes >> 48)))
    };
    let low = four(_mm_cvtsi128_si64(x) as u64);
    let high = four(_mm_cvtsi128_si64(_mm_unpackhi_epi64(x, x)) as u64);
    let first = |v| _mm_srai_epi32::<16>(_mm_slli_epi32::<16>(v));
    [
        _mm_packs_epi32(first(low), first(high)),
        _mm_packs_epi32(_mm_srai_epi32::<16>(low), _mm_srai_epi32::<16>(high)),
    ]
}

/// Sixteen shuffles look up sixteen entries each; bits 4 to 7 of a byte select among them. A shuffle gives 0 if bit 7
/// is set, which combines two of them without a branch.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up8_256(x: __m256i, table: &[u8; 256]) -> __m256i {
    let mut parts = [x; 16];
    for (part, entries) in parts.iter_mut().zip(table.as_chunks().0) {
        *part = repeat_256(entries);
    }
    let low = _mm256_and_si256(x, _mm256_set1_epi8(0x8f_u8 as i8));
    let high = _mm256_xor_si256(low, _mm256_set1_epi8(0x80_u8 as i8));
    let one = |i: usize| {
        _mm256_or_si256(_mm256_shuffle_epi8(parts[i], low), _mm256_shuffle_epi8(parts[i + 8], high))
    };
    let (bit4, bit5, bit6) =
        (_mm256_slli_epi16::<3>(x), _mm256_slli_epi16::<2>(x), _mm256_slli_epi16::<1>(x));
    let two = |i: usize| _mm256_blendv_epi8(one(i), one(i + 1), bit4);
    let four = |i: usize| _mm256_blendv_epi8(two(i), two(i + 2), bit5);
    _mm256_blendv_epi8(four(0), four(4), bit6)
}

/// Without VBMI there is no wider shuffle.
#[inline]
#[target_feature(enable = "avx2,avx512f")]
fn look_up8_512(x: __m512i, table: &[u8; 256]) -> __m512i {
    let low = look_up8_256(_mm512_castsi512_si256(x), table);
    let high = look_up8_256(_mm512_extracti64x4_epi64::<1>(x), table);
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// Four registers hold the table; two instructions look up either half of it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn look_up8_vbmi(x: __m512i, table: &[u8; 256]) -> __m512i {
    // SAFETY: every quarter of the table is 512 bits.
    let part = |i: usize| unsafe { _mm512_loadu_si512(table[64 * i..64 * i + 64].as_ptr().cast()) };
    let (low, high) =
        (_mm512_permutex2var_epi8(part(0), x, part(1)), _mm512_permutex2var_epi8(part(2), x, part(3)));
    _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high)
}

/// A byte shuffle has sixteen entries, as many as the table; low and high bytes are looked up separately.
#[inline]
#[target_feature(enable = "avx2")]
fn table16_256(table: &[i16; 16]) -> [__m256i; 2] {
    // SAFETY: sixteen lanes are twice 128 bits.
    let (a, b) =
        unsafe { (_mm_loadu_si128(table.as_ptr().cast()), _mm_loadu_si128(table[8..].as_ptr().cast())) };
    let byte = _mm_set1_epi16(0xff);
    let low = _mm_packus_epi16(_mm_and_si128(a, byte), _mm_and_si128(b, byte));
    let high = _mm_packus_epi16(_mm_srli_epi16::<8>(a), _mm_srli_epi16::<8>(b));
    [_mm256_broadcastsi128_si256(low), _mm256_broadcastsi128_si256(high)]
}

/// The indices of both registers share one, so that a shuffle looks up a byte of all of them.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up16_256(a: __m256i, b: __m256i, low: __m256i, high: __m256i) -> [__m256i; 2] {
    let i = _mm256_packus_epi16(a, b);
    let (low, high) = (_mm256_shuffle_epi8(low, i), _mm256_shuffle_epi8(high, i));
    [_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)]
}

/// One register suffices.
#[inline]
#[target_feature(enable = "avx512f")]
fn table16_512(table: &[i16; 16]) -> __m512i {
    // SAFETY: sixteen lanes are 256 bits.
    _mm512_broadcast_i64x4(unsafe { _mm256_loadu_si256(table.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn look_up16_512(i: __m512i, table: __m512i) -> __m512i {
    _mm512_permutexvar_epi16(i, table)
}
