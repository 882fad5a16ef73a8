//! Registers of 128 bits of ARM64. NEON is part of its baseline, so instructions need no witness.
#![allow(unsafe_code)] // instructions of a level, and loads and stores of whole registers
#![allow(unused_unsafe)] // one macro serves instructions and methods without any

use super::Vector;
use bytemuck::Pod;
use core::arch::aarch64::*;
use core::convert::identity;

/// 128 bits, any ARM64. Lanes are in the order of little-endian memory.
#[derive(Clone, Copy)]
pub(crate) struct Neon(uint8x16_t);

impl Neon {
    /// The first witness, zero.
    #[inline(always)]
    pub(crate) fn witness() -> Self {
        // SAFETY: NEON is part of ARM64.
        Neon(unsafe { vdupq_n_u8(0) })
    }
}

/// Operations on two registers, with one instruction or a function below; first those that cast them to lanes, and back.
macro_rules! binary {
    ($($to:ident $back:ident { $($method:ident $of_two:ident;)+ })+) => {$($(
        #[inline(always)]
        fn $method(self, b: Self) -> Self {
            // SAFETY: NEON is part of ARM64.
            Neon(unsafe { $back($of_two($to(self.0), $to(b.0))) })
        }
    )+)+};
}

/// Shifts by a register, to the right if its lanes are negative. The instruction reads eight bits of them.
macro_rules! shifts {
    ($($method:ident $by:ident $splat:ident($n:ident) = $lane:expr, $to:ident $back:ident;)+) => {$(
        #[inline(always)]
        fn $method(self, $n: u32) -> Self {
            // SAFETY: NEON is part of ARM64.
            Neon(unsafe { $back($by($to(self.0), $splat($lane))) })
        }
    )+};
}

/// Any other operation.
macro_rules! own {
    ($($method:ident($me:ident $(, $arg:ident: $ty:ty)*) -> $ret:ty = $call:expr;)+) => {$(
        #[inline(always)]
        fn $method($me $(, $arg: $ty)*) -> $ret {
            // SAFETY: NEON is part of ARM64.
            unsafe { $call }
        }
    )+};
}

#[rustfmt::skip]
impl Vector for Neon {
    type Half = Neon;
    const BYTES: usize = 16;
    const LOOK_UPS: bool = true;
    const PAIR_PRODUCTS: bool = false;

    #[inline(always)]
    unsafe fn read<T: Pod>(self, from: *const T) -> Self {
        // SAFETY: guaranteed by the caller; any bytes are a valid register.
        Neon(unsafe { vld1q_u8(from.cast()) })
    }
    #[inline(always)]
    unsafe fn write<T: Pod>(self, to: *mut T) {
        // SAFETY: guaranteed by the caller; any bytes are a valid `T`.
        unsafe { vst1q_u8(to.cast(), self.0) }
    }

    binary! {
        identity identity {
            and vandq_u8;
            or vorrq_u8;
            xor veorq_u8;
            subs_u8 vqsubq_u8;
            min_u8 vminq_u8;
            max_u8 vmaxq_u8;
            unpack_low8 vzip1q_u8;
            unpack_high8 vzip2q_u8;
            low_bytes vuzp1q_u8;
            align_lanes_128 second;
            align_lanes_256 second;
            lower_halves second;
            upper_halves second;
            even_parts second;
            odd_parts second;
            interleave_even_128 second;
            interleave_odd_128 second;
        }
        vreinterpretq_s8_u8 vreinterpretq_u8_s8 { adds_i8 vqaddq_s8; }
        vreinterpretq_u16_u8 vreinterpretq_u8_u16 {
            add16 vaddq_u16;
            sub16 vsubq_u16;
            adds_u16 vqaddq_u16;
            subs_u16 vqsubq_u16;
            min_u16 vminq_u16;
            max_u16 vmaxq_u16;
            mullo16 vmulq_u16;
            mulhi_u16 mulhi_u16;
            unpack_low16 vzip1q_u16;
            unpack_high16 vzip2q_u16;
        }
        vreinterpretq_s16_u8 vreinterpretq_u8_s16 {
            adds_i16 vqaddq_s16;
            min_i16 vminq_s16;
            max_i16 vmaxq_s16;
            mulhi_i16 mulhi_i16;
            mulhrs_i16 vqrdmulhq_s16;
        }
        vreinterpretq_s16_u8 vreinterpretq_u8_s32 { madd16 madd16; }
        vreinterpretq_s16_u8 vreinterpretq_u8_s8 { pack_i16 pack_i16; high_bytes_of_parts high_bytes; }
        vreinterpretq_s16_u8 identity { pack_u16 pack_u16; }
        vreinterpretq_s32_u8 vreinterpretq_u8_s16 { pack_i32 pack_i32; }
        vreinterpretq_u32_u8 vreinterpretq_u8_u32 { add32 vaddq_u32; }
    }
    shifts! {
        shl16 vshlq_u16 vdupq_n_s16(n) = n.min(16) as i16, vreinterpretq_u16_u8 vreinterpretq_u8_u16;
        shr_u16 vshlq_u16 vdupq_n_s16(n) = -(n.min(16) as i16), vreinterpretq_u16_u8 vreinterpretq_u8_u16;
        shr_i16 vshlq_s16 vdupq_n_s16(n) = -(n.min(15) as i16), vreinterpretq_s16_u8 vreinterpretq_u8_s16;
        shr_i32 vshlq_s32 vdupq_n_s32(n) = -(n.min(31) as i32), vreinterpretq_s32_u8 vreinterpretq_u8_s32;
    }
    own! {
        splat8(self, v: u8) -> Self = Neon(vdupq_n_u8(v));
        splat16(self, v: i16) -> Self = Neon(vreinterpretq_u8_s16(vdupq_n_s16(v)));
        splat32(self, v: i32) -> Self = Neon(vreinterpretq_u8_s32(vdupq_n_s32(v)));
        select_if_test32(self, x: Self, y: Self) -> Self = Neon(select_if_test32(self.0, x.0, y.0));
        xor_reduce32(self) -> Self = Neon(xor_reduce32(self.0));
        preshuffle_for_unpack(self) -> Self = self;
        unshuffle_after_pack(self) -> Self = self;
        add_pairs_u8(self) -> Self = Neon(vreinterpretq_u8_u16(vpaddlq_u8(self.0)));
        any_zero16(self) -> bool = vminvq_u16(vreinterpretq_u16_u8(self.0)) == 0;
        lower(self) -> Self = self;
        upper(self) -> Self = self;
        join(self, lower: Self, _upper: Self) -> Self = lower;
        add_products16(self, b: Self, weights: Self, sums: [Self; 2]) -> [Self; 2] =
            add_products16([self, b, weights], sums);
        look_up8(self, table: &[u8; 256]) -> Self = Neon(look_up8(self.0, table));
        look_up16(self, b: Self, table: [Self; 2]) -> [Self; 2] =
            [Neon(look_up16(self.0, table)), Neon(look_up16(b.0, table))];
    }
}

#[inline(always)]
fn second(_: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    b
}

/// The doubling product in one instruction saturates for -32768 times itself.
#[inline]
#[target_feature(enable = "neon")]
fn mulhi_i16(a: int16x8_t, b: int16x8_t) -> int16x8_t {
    let low = vreinterpretq_s16_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)));
    vuzp2q_s16(low, vreinterpretq_s16_s32(vmull_high_s16(a, b)))
}

#[inline]
#[target_feature(enable = "neon")]
fn mulhi_u16(a: uint16x8_t, b: uint16x8_t) -> uint16x8_t {
    let low = vreinterpretq_u16_u32(vmull_u16(vget_low_u16(a), vget_low_u16(b)));
    vuzp2q_u16(low, vreinterpretq_u16_u32(vmull_high_u16(a, b)))
}

#[inline]
#[target_feature(enable = "neon")]
fn madd16(a: int16x8_t, b: int16x8_t) -> int32x4_t {
    vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b))
}

/// A product and its sum are one instruction, which takes one weight for all lanes.
#[inline]
#[target_feature(enable = "neon")]
fn add_products16([a, b, w]: [Neon; 3], [low, high]: [Neon; 2]) -> [Neon; 2] {
    let (a, b) = (vreinterpretq_s16_u8(a.0), vreinterpretq_s16_u8(b.0));
    let (low, high) = (vreinterpretq_s32_u8(low.0), vreinterpretq_s32_u8(high.0));
    let w = vreinterpretq_s16_u8(w.0);
    let low = vmlal_laneq_s16::<0>(low, vget_low_s16(a), w);
    let low = vmlal_laneq_s16::<1>(low, vget_low_s16(b), w);
    let high = vmlal_high_laneq_s16::<1>(vmlal_high_laneq_s16::<0>(high, a, w), b, w);
    [Neon(vreinterpretq_u8_s32(low)), Neon(vreinterpretq_u8_s32(high))]
}

#[inline]
#[target_feature(enable = "neon")]
fn pack_i16(a: int16x8_t, b: int16x8_t) -> int8x16_t {
    vqmovn_high_s16(vqmovn_s16(a), b)
}

#[inline]
#[target_feature(enable = "neon")]
fn pack_u16(a: int16x8_t, b: int16x8_t) -> uint8x16_t {
    vqmovun_high_s16(vqmovun_s16(a), b)
}

#[inline]
#[target_feature(enable = "neon")]
fn pack_i32(a: int32x4_t, b: int32x4_t) -> int16x8_t {
    vqmovn_high_s32(vqmovn_s32(a), b)
}

#[inline]
#[target_feature(enable = "neon")]
fn high_bytes(a: int16x8_t, b: int16x8_t) -> int8x16_t {
    vrshrn_high_n_s16::<8>(vrshrn_n_s16::<8>(a), b)
}

#[inline]
#[target_feature(enable = "neon")]
fn select_if_test32(v: uint8x16_t, x: uint8x16_t, y: uint8x16_t) -> uint8x16_t {
    vandq_u8(v, vreinterpretq_u8_u32(vtstq_u32(vreinterpretq_u32_u8(x), vreinterpretq_u32_u8(y))))
}

#[inline]
#[target_feature(enable = "neon")]
fn xor_reduce32(v: uint8x16_t) -> uint8x16_t {
    let v = vreinterpretq_u32_u8(veorq_u8(v, vextq_u8::<8>(v, v)));
    vreinterpretq_u8_u32(veorq_u32(v, vrev64q_u32(v)))
}

/// An instruction looks up 64 entries; indices beyond them keep what the one before gave.
#[inline]
#[target_feature(enable = "neon")]
fn look_up8(x: uint8x16_t, table: &[u8; 256]) -> uint8x16_t {
    // SAFETY: every quarter of the table is 64 bytes.
    let part = |i: usize| unsafe { vld1q_u8_x4(table[64 * i..64 * i + 64].as_ptr()) };
    let mut y = vqtbl4q_u8(part(0), x);
    for i in 1..4 {
        y = vqtbx4q_u8(y, part(i), vsubq_u8(x, vdupq_n_u8(64 * i as u8)));
    }
    y
}

/// Two registers hold the table; the bytes of entry i are those at 2i and 2i + 1.
#[inline]
#[target_feature(enable = "neon")]
fn look_up16(i: uint8x16_t, [low, high]: [Neon; 2]) -> uint8x16_t {
    let i = vmlaq_u16(vdupq_n_u16(0x0100), vreinterpretq_u16_u8(i), vdupq_n_u16(0x0202));
    vqtbl2q_u8(uint8x16x2_t(low.0, high.0), vreinterpretq_u8_u16(i))
}
