//! Rows of samples as `f32`, and back: for what works on many layers and rounds once.

use crate::frame::Sample;
use crate::simd::{Level, multiversion};

/// A sample that [`lift`] takes out of a row and [`settle`] puts back.
pub trait Lifted: Sample {
    /// See [`lift`].
    #[doc(hidden)]
    fn lift(level: Level, row: &[Self], zero: f32, out: &mut [f32]);
    /// See [`settle`].
    #[doc(hidden)]
    fn settle(level: Level, values: &[f32], zero: f32, legal: (f32, f32), row: &mut [Self]);
    /// The sample as a number.
    fn number(self) -> f32;
    /// The sample of a number: rounded (a half to even), not a number and all below 0 being 0; float as it is.
    fn of(number: f32) -> Self;
}

/// Rounds 0..65535 to whole numbers, a half to even, without asking for an instruction that does.
const MAGIC: f32 = 8_388_608.0;

#[inline(always)]
fn whole(v: f32) -> u32 {
    let v = if v > 0.0 { v } else { 0.0 };
    let v = if v < 65535.0 { v } else { 65535.0 };
    (v + MAGIC).to_bits() & 0xffff
}

/// The legal range, widened to hold what was there before.
#[inline(always)]
fn kept(v: f32, before: f32, (low, high): (f32, f32)) -> f32 {
    let low = if before < low { before } else { low };
    let high = if before > high { before } else { high };
    let v = if v > low { v } else { low };
    if v < high { v } else { high }
}

macro_rules! integer {
    ($t:ty, $lift:ident, $settle:ident, $lift_body:ident, $settle_body:ident) => {
        #[inline(always)]
        fn $lift_body(row: &[$t], zero: f32, out: &mut [f32]) {
            for (out, s) in out.iter_mut().zip(row) {
                *out = f32::from(*s) - zero;
            }
        }

        #[inline(always)]
        fn $settle_body(values: &[f32], zero: f32, legal: (f32, f32), row: &mut [$t]) {
            for (s, v) in row.iter_mut().zip(values) {
                *s = whole(kept(*v + zero, f32::from(*s), legal)) as $t;
            }
        }

        multiversion! {
            fn $lift(level, row: &[$t], zero: f32, out: &mut [f32]) = $lift_body;
            fn $settle(level, values: &[f32], zero: f32, legal: (f32, f32), row: &mut [$t]) = $settle_body;
        }

        impl Lifted for $t {
            fn lift(level: Level, row: &[$t], zero: f32, out: &mut [f32]) {
                $lift(level, row, zero, out);
            }
            fn settle(level: Level, values: &[f32], zero: f32, legal: (f32, f32), row: &mut [$t]) {
                $settle(level, values, zero, legal, row);
            }
            #[inline(always)]
            fn number(self) -> f32 {
                self.into()
            }
            #[inline(always)]
            fn of(number: f32) -> $t {
                whole(number).min(u32::from(<$t>::MAX)) as $t
            }
        }
    };
}

integer!(u8, lift_u8, settle_u8, lift_u8_body, settle_u8_body);
integer!(u16, lift_u16, settle_u16, lift_u16_body, settle_u16_body);

impl Lifted for f32 {
    fn lift(_: Level, row: &[f32], _: f32, out: &mut [f32]) {
        out.iter_mut().zip(row).for_each(|(o, s)| *o = *s);
    }
    fn settle(_: Level, values: &[f32], _: f32, _: (f32, f32), row: &mut [f32]) {
        row.iter_mut().zip(values).for_each(|(s, v)| *s = *v);
    }
    #[inline(always)]
    fn number(self) -> f32 {
        self
    }
    #[inline(always)]
    fn of(number: f32) -> f32 {
        number
    }
}

/// Samples less the code of nominal zero; float samples as they are.
pub fn lift<T: Lifted>(level: Level, row: &[T], zero: f32, out: &mut [f32]) {
    T::lift(level, row, zero, out);
}

/// The way back from [`lift`]: rounded to the nearest code (a half to even) and kept to the legal codes, or as far
/// outside of them as the sample in `row` was. Float samples are taken as they are.
pub fn settle<T: Lifted>(level: Level, values: &[f32], zero: f32, legal: (f32, f32), row: &mut [T]) {
    T::settle(level, values, zero, legal, row);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_comes_back_at_every_level() {
        for &level in Level::available() {
            for offset in 0..5 {
                let row: Vec<u16> = (offset..=65535).collect();
                let mut values = vec![0.0; row.len()];
                lift(level, &row, 4096.0, &mut values);
                assert_eq!(values[7], f32::from(offset) + 7.0 - 4096.0);
                let mut back = row.clone();
                settle(level, &values, 4096.0, (4096.0, 60160.0), &mut back);
                assert_eq!(back, row, "{level}: codes beyond the legal ones stay where they were");
                let row: Vec<u8> = (offset as u8..=255).collect();
                let mut values = vec![0.0; row.len()];
                lift(level, &row, 16.0, &mut values);
                let mut back = row.clone();
                settle(level, &values, 16.0, (16.0, 235.0), &mut back);
                assert_eq!(back, row);
            }
        }
    }

    #[test]
    fn what_changes_stays_legal_and_is_rounded() {
        let values = [-1e30, -0.6, 0.5, 1.5, 218.9, 300.0, f32::NAN, f32::INFINITY];
        for &level in Level::available() {
            let mut row = [100u8; 8];
            settle(level, &values, 16.0, (16.0, 235.0), &mut row);
            assert_eq!(row, [16, 16, 16, 18, 235, 235, 16, 235], "{level}");
            let mut row = [250u8, 3, 250, 3, 250, 3, 250, 3];
            settle(level, &[300.0, -30.0].repeat(4), 16.0, (16.0, 235.0), &mut row);
            assert_eq!(row, [250, 3, 250, 3, 250, 3, 250, 3]);
        }
    }
}
