//! Rows of samples as `f32` and back, for filters that draw many layers and round once.

use super::convert::CodeSample;
use crate::frame::{PlaneMut, PlaneRef, Sample};
use crate::simd::multiversion;

/// A sample that [`to_f32`] reads from a row and [`from_f32`] writes back.
pub trait ConvertF32: Sample {
    /// See [`to_f32`].
    #[doc(hidden)]
    fn less(self, zero: f32) -> f32;
    /// See [`from_f32`].
    #[doc(hidden)]
    fn replaced(self, value: f32, zero: f32, legal: (f32, f32)) -> Self;
    /// The sample as a number.
    fn number(self) -> f32;
    /// The sample of a number: rounded (a half to even), NaN and negative numbers become 0; float is not
    /// changed.
    fn from_f32(number: f32) -> Self;
}

/// Samples of a plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Area {
    /// The first sample and the first row, as in the whole picture.
    pub from: [usize; 2],
    /// Width and height.
    pub size: [usize; 2],
}

/// Rounds 0..65535 to whole numbers (a half to even) without a rounding instruction.
const MAGIC: f32 = 8_388_608.0;

#[inline(always)]
fn whole(v: f32) -> u16 {
    let v = if v > 0.0 { v } else { 0.0 };
    let v = if v < 65535.0 { v } else { 65535.0 };
    (v + MAGIC).to_bits() as u16
}

/// The legal range, widened to include the previous value.
#[inline(always)]
fn kept(v: f32, before: f32, (low, high): (f32, f32)) -> f32 {
    let low = if before < low { before } else { low };
    let high = if before > high { before } else { high };
    let v = if v > low { v } else { low };
    if v < high { v } else { high }
}

impl<T: CodeSample> ConvertF32 for T {
    #[inline(always)]
    fn less(self, zero: f32) -> f32 {
        f32::from(self.code()) - zero
    }
    #[inline(always)]
    fn replaced(self, value: f32, zero: f32, legal: (f32, f32)) -> T {
        T::from_code(whole(kept(value + zero, f32::from(self.code()), legal)))
    }
    #[inline(always)]
    fn number(self) -> f32 {
        self.code().into()
    }
    #[inline(always)]
    fn from_f32(number: f32) -> T {
        let top = if size_of::<T>() == 1 { 255 } else { u16::MAX };
        T::from_code(whole(number).min(top))
    }
}

impl ConvertF32 for f32 {
    #[inline(always)]
    fn less(self, _: f32) -> f32 {
        self
    }
    /// Keeps non-finite samples bit for bit, and writes no new ones.
    #[inline(always)]
    fn replaced(self, value: f32, _: f32, _: (f32, f32)) -> f32 {
        if value.is_finite() && self.is_finite() { value } else { self }
    }
    #[inline(always)]
    fn number(self) -> f32 {
        self
    }
    #[inline(always)]
    fn from_f32(number: f32) -> f32 {
        number
    }
}

#[inline(always)]
fn to_f32_body<T: ConvertF32>(row: &[T], zero: f32, out: &mut [f32]) {
    for (out, s) in out.iter_mut().zip(row) {
        *out = s.less(zero);
    }
}

#[inline(always)]
fn from_f32_body<T: ConvertF32>(values: &[f32], zero: f32, legal: (f32, f32), row: &mut [T]) {
    for (s, v) in row.iter_mut().zip(values) {
        *s = s.replaced(*v, zero, legal);
    }
}

#[inline(always)]
fn to_f32_rows_body<T: ConvertF32>(
    plane: &PlaneRef<'_>,
    area: Area,
    zero: f32,
    out: &mut [f32],
    stride: usize,
) {
    let Area { from: [x, y], size: [w, h] } = area;
    for (j, out) in out.chunks_mut(stride).enumerate().take(h) {
        let (out, room) = out.split_at_mut(w);
        to_f32_body(&plane.row::<T>(y + j)[x..][..w], zero, out);
        match <&mut [f32; 16]>::try_from(&mut *room) {
            Ok(room) => *room = [0.0; 16], // in one go
            Err(_) => room.fill(0.0),
        }
    }
}

#[inline(always)]
fn from_f32_rows_body<T: ConvertF32>(
    values: &[f32],
    stride: usize,
    zero: f32,
    legal: (f32, f32),
    plane: &mut PlaneMut<'_>,
    area: Area,
) {
    let Area { from: [x, y], size: [w, h] } = area;
    for (j, values) in values.chunks(stride).enumerate().take(h) {
        from_f32_body(&values[..w], zero, legal, &mut plane.row_mut::<T>(y + j)[x..][..w]);
    }
}

multiversion! {
    /// Samples minus the code of nominal zero; float samples are not changed.
    pub fn to_f32<T: ConvertF32>(level, row: &[T], zero: f32, out: &mut [f32]) = to_f32_body;

    /// The inverse of [`to_f32`]: rounded to the nearest code (a half to even) and clamped to the legal codes, or as
    /// far outside of them as the sample in `row` was. Float samples are copied; if either side is not finite, the
    /// sample in `row` stays unchanged.
    pub fn from_f32<T: ConvertF32>(level, values: &[f32], zero: f32, legal: (f32, f32), row: &mut [T]) = from_f32_body;

    /// [`to_f32`] of an area of a plane into rows at a distance of `stride`; the rest of each row becomes 0.
    pub fn to_f32_rows<T: ConvertF32>(
        level, plane: &PlaneRef<'_>, area: Area, zero: f32, out: &mut [f32], stride: usize,
    ) = to_f32_rows_body::<T>;

    /// [`from_f32`] of rows at a distance of `stride` into an area of a plane.
    pub fn from_f32_rows<T: ConvertF32>(
        level, values: &[f32], stride: usize, zero: f32, legal: (f32, f32), plane: &mut PlaneMut<'_>, area: Area,
    ) = from_f32_rows_body::<T>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;

    #[test]
    fn every_code_comes_back_at_every_level() {
        for &level in Level::available() {
            for offset in 0..5 {
                let row: Vec<u16> = (offset..=65535).collect();
                let mut values = vec![0.0; row.len()];
                to_f32(level, &row, 4096.0, &mut values);
                assert_eq!(values[7], f32::from(offset) + 7.0 - 4096.0);
                let mut back = row.clone();
                from_f32(level, &values, 4096.0, (4096.0, 60160.0), &mut back);
                assert_eq!(back, row, "{level}: codes beyond the legal ones stay where they were");
                let row: Vec<u8> = (offset as u8..=255).collect();
                let mut values = vec![0.0; row.len()];
                to_f32(level, &row, 16.0, &mut values);
                let mut back = row.clone();
                from_f32(level, &values, 16.0, (16.0, 235.0), &mut back);
                assert_eq!(back, row);
            }
        }
    }

    #[test]
    fn changed_samples_are_legal_and_rounded() {
        let values = [-1e30, -0.6, 0.5, 1.5, 218.9, 300.0, f32::NAN, f32::INFINITY];
        for &level in Level::available() {
            let mut row = [100u8; 8];
            from_f32(level, &values, 16.0, (16.0, 235.0), &mut row);
            assert_eq!(row, [16, 16, 16, 18, 235, 235, 16, 235], "{level}");
            let mut row = [250u8, 3, 250, 3, 250, 3, 250, 3];
            from_f32(level, &[300.0, -30.0].repeat(4), 16.0, (16.0, 235.0), &mut row);
            assert_eq!(row, [250, 3, 250, 3, 250, 3, 250, 3]);
        }
    }

    /// Converts every sample of an area to `f32` and back at every level, against [`ConvertF32`] for single
    /// samples.
    fn areas_are_rows<T: ConvertF32 + PartialEq + core::fmt::Debug + Copy>(
        of: impl Fn(u64) -> T,
        legal: (f32, f32),
    ) {
        use crate::noise::seed::mix64;
        let (width, height, pad) = (83, 9, 5);
        let all: Vec<T> = (0..(width + pad) * height).map(|i| of(mix64(i as u64))).collect();
        let bytes = size_of::<T>();
        for &level in Level::available() {
            for (from, size) in [([0, 0], [83, 9]), ([7, 2], [64, 4]), ([1, 8], [32, 1]), ([82, 0], [1, 9])] {
                let (stride, area) = (size[0] + 3, Area { from, size });
                let mut plane = all.clone();
                let mut out = vec![f32::NAN; stride * size[1]];
                let data: &mut [u8] = bytemuck::cast_slice_mut(&mut plane);
                let mut view = PlaneMut::new(data, (width + pad) * bytes, width * bytes, height);
                to_f32_rows::<T>(level, &view.as_ref(), area, 16.0, &mut out, stride);
                for (i, v) in out.iter_mut().enumerate() {
                    let (x, y) = (i % stride, i / stride);
                    let mut want = [0.0];
                    if x < size[0] {
                        to_f32(
                            Level::SCALAR,
                            &all[(from[1] + y) * (width + pad) + from[0] + x..][..1],
                            16.0,
                            &mut want,
                        );
                    }
                    assert_eq!(v.to_bits(), want[0].to_bits(), "{level} {x} {y}");
                    *v = *v * 1.1 - 3.3;
                }
                from_f32_rows::<T>(level, &out, stride, 16.0, legal, &mut view, area);
                let mut want = all.clone();
                for (x, y) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y))) {
                    let at = (from[1] + y) * (width + pad) + from[0] + x;
                    from_f32(Level::SCALAR, &out[y * stride + x..][..1], 16.0, legal, &mut want[at..][..1]);
                }
                assert!(plane == want, "{level} {area:?}");
            }
        }
    }

    #[test]
    fn areas_are_converted_sample_by_sample() {
        areas_are_rows(|n| n as u8, (16.0, 235.0));
        areas_are_rows(|n| n as u16 & 1023, (64.0, 940.0));
        areas_are_rows(|n| (n >> 40) as f32 / 1e6, (0.0, 0.0));
    }
}
