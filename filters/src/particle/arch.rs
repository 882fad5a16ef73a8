//! Conversions that compile to vector instructions.
#![allow(unsafe_code)] // a conversion of a value that is known to be in range

pub(super) use crate::simd::prefetch;

/// The integer part of `v`, clamped to `low..=high` (whole numbers within ±2^30); `low` for NaN.
///
/// `as` gives the same result, but its range checks prevent vectorization.
#[inline(always)]
pub(crate) fn whole(v: f32, low: i32, high: i32) -> i32 {
    const MOST: i32 = 1 << 30;
    let (low, high) = (low.clamp(-MOST, MOST) as f32, high.clamp(-MOST, MOST) as f32);
    // `>` and `<` are false for NaN, which becomes `low`.
    let v = if v > low { v } else { low };
    let v = if v < high { v } else { high };
    // SAFETY: a number within ±2^30, which `i32` holds.
    unsafe { v.to_int_unchecked::<i32>() }
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn whole_parts_are_kept_in_range() {
        for (v, want) in
            [(1.9, 1), (-1.9, -1), (70000.0, 65535), (-9.0, -4), (f32::NAN, -4), (f32::INFINITY, 65535)]
        {
            assert_eq!(whole(v, -4, 65535), want);
        }
        assert_eq!(whole(f32::INFINITY, i32::MIN, i32::MAX), 1 << 30);
        assert_eq!(whole(f32::NEG_INFINITY, i32::MIN, i32::MAX), -(1 << 30));
    }
}
