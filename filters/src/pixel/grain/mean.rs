//! The brightness for chroma: the mean of the corresponding block of luma.

use super::arch;
use crate::pixel::convert::CodeSample;
use crate::simd::{Level, multiversion};

/// A luma sample that can be averaged.
pub trait Luma: Copy + Default + 'static {
    /// Averages blocks of `1 << sx` columns and all of `rows` (1, 2 or 4 of them, the last one repeated at the
    /// edge of the picture), halves up. Columns past the end repeat the last one.
    fn mean(level: Level, out: &mut [Self], rows: &[&[Self]], sx: u32);
}

#[inline(always)]
fn codes_body<T: CodeSample>(out: &mut [T], rows: &[&[T]], sx: u32) {
    let count = rows.len().trailing_zeros();
    let (block, shift) = (1usize << sx, sx + count);
    let half = (1u32 << shift) >> 1;
    let code = |v: T| u32::from(v.code());
    let of = |sum: u32| T::from_code((sum >> shift) as u16);
    let whole = rows[0].len() >> sx;
    let (body, rest) = out.split_at_mut(whole);
    match (rows, sx) {
        ([r], 0) => body.iter_mut().zip(*r).for_each(|(o, &a)| *o = a),
        ([r], 1) => {
            for (o, a) in body.iter_mut().zip(r.chunks_exact(2)) {
                *o = of(code(a[0]) + code(a[1]) + half);
            }
        }
        ([r, s], 1) => {
            for ((o, a), b) in body.iter_mut().zip(r.chunks_exact(2)).zip(s.chunks_exact(2)) {
                *o = of(code(a[0]) + code(a[1]) + code(b[0]) + code(b[1]) + half);
            }
        }
        ([r, s], 0) => {
            for ((o, &a), &b) in body.iter_mut().zip(*r).zip(*s) {
                *o = of(code(a) + code(b) + half);
            }
        }
        _ => {
            for (i, o) in body.iter_mut().enumerate() {
                let sum: u32 = rows.iter().flat_map(|r| &r[i * block..][..block]).map(|&v| code(v)).sum();
                *o = of(sum + half);
            }
        }
    }
    for (i, o) in (whole..).zip(rest) {
        let last = rows[0].len() - 1;
        let columns = (i * block..(i + 1) * block).map(|x| x.min(last));
        let sum: u32 = columns.flat_map(|x| rows.iter().map(move |r| r[x])).map(code).sum();
        *o = of(sum + half);
    }
}

#[inline(always)]
fn f32_body(out: &mut [f32], rows: &[&[f32]], sx: u32) {
    // In the order of rows, then columns; at most 16 samples.
    let last = rows[0].len() - 1;
    let part = 1.0 / (rows.len() << sx) as f32;
    for (i, o) in out.iter_mut().enumerate() {
        let mut sum = 0.0f32;
        for r in rows {
            for x in (i << sx)..(i + 1) << sx {
                sum += r[x.min(last)];
            }
        }
        *o = sum * part;
    }
}

multiversion! {
    fn code_rows<T: CodeSample>(level, out: &mut [T], rows: &[&[T]], sx: u32) = codes_body;
    fn f32_rows(level, out: &mut [f32], rows: &[&[f32]], sx: u32) = f32_body;
}

fn codes<T: arch::GrainSample>(level: Level, out: &mut [T], rows: &[&[T]], sx: u32) {
    // A single row is given twice: the mean of four is then that of two.
    let done = match (rows, sx) {
        ([r], 1) => arch::means(level, out, r, r),
        ([r, s], 1) => arch::means(level, out, r, s),
        _ => 0,
    };
    if done < out.len() {
        let none: &[T] = &[];
        let mut rest = [none; 4];
        rest.iter_mut().zip(rows).for_each(|(rest, row)| *rest = &row[done << sx..]);
        code_rows(level, &mut out[done..], &rest[..rows.len()], sx);
    }
}

impl Luma for u8 {
    fn mean(level: Level, out: &mut [u8], rows: &[&[u8]], sx: u32) {
        codes(level, out, rows, sx);
    }
}

impl Luma for u16 {
    fn mean(level: Level, out: &mut [u16], rows: &[&[u16]], sx: u32) {
        codes(level, out, rows, sx);
    }
}

impl Luma for f32 {
    fn mean(level: Level, out: &mut [f32], rows: &[&[f32]], sx: u32) {
        f32_rows(level, out, rows, sx);
    }
}

/// See [`Luma::mean`]. Panics unless there are 1, 2 or 4 rows of the same length, and `out` has one sample per
/// block.
pub fn mean_row<T: Luma>(level: Level, out: &mut [T], rows: &[&[T]], sx: u32) {
    let len = rows[0].len();
    assert!(matches!(rows.len(), 1 | 2 | 4) && rows.iter().all(|r| r.len() == len) && len > 0);
    assert_eq!(out.len(), len.div_ceil(1 << sx));
    T::mean(level, out, rows, sx);
}
