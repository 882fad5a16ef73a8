//! Any function of an integer sample, as a table.

use super::affine::{Affine, affine_codes};
use crate::simd::{Level, Vector, multiversion};

/// The result for every code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Table {
    /// A table for 8 bits.
    Narrow(Box<[u8; 256]>),
    /// For 9 to 16 bits; codes beyond the highest have its result.
    Wide(Box<[u16; 65536]>),
}

impl Table {
    /// A table for samples of `bits` bits, from a function of their codes.
    pub fn new(bits: u8, of: impl Fn(u16) -> u16) -> Table {
        if bits == 8 {
            let mut table = Box::new([0; 256]);
            (0..).zip(&mut table[..]).for_each(|(x, t)| *t = of(x) as u8);
            return Table::Narrow(table);
        }
        let count = 1usize << bits;
        let mut all: Vec<u16> = (0..count).map(|x| of(x as u16)).collect();
        let last = all[count - 1];
        all.resize(65536, last);
        match all.into_boxed_slice().try_into() {
            Ok(table) => Table::Wide(table),
            Err(_) => unreachable!("a list was made 65536 long"),
        }
    }

    /// The size in bytes.
    pub const BYTES: usize = 128 << 10;

    /// Looks up a row of 8-bit samples. Panics if the table is for more bits.
    pub fn apply_u8(&self, level: Level, row: &mut [u8]) {
        let Table::Narrow(table) = self else { panic!("a table of 16 bits for samples of 8") };
        let done = look_up_u8(level, row, table);
        row[done..].iter_mut().for_each(|x| *x = table[usize::from(*x)]);
    }

    /// Looks up a row of samples of 9 to 16 bits. Panics if the table is for 8.
    pub fn apply_u16(&self, row: &mut [u16]) {
        let Table::Wide(table) = self else { panic!("a table of 8 bits for samples of 16") };
        row.iter_mut().for_each(|x| *x = table[usize::from(*x)]);
    }
}

/// 16-bit results for every code of fewer bits.
#[derive(Clone, Debug)]
pub struct CodeMap {
    words: Vec<u16>,
    /// The low and high bytes of the results of 8 bits.
    bytes: [[u8; 256]; 2],
    /// Whether each is its code in the high byte.
    shifts: bool,
    /// The line through those of 8 bits.
    line: Option<Affine>,
}

impl CodeMap {
    /// From the results in the order of the codes, which are at least 256, and the legal results.
    pub fn new(mut words: Vec<u16>, legal: (u16, u16)) -> CodeMap {
        let bytes = [0, 1].map(|i| core::array::from_fn(|code| words[code].to_le_bytes()[i]));
        let shifts = words.len() == 256 && (0..).zip(&words).all(|(code, &word)| word == code << 8);
        let line = <&[u16; 256]>::try_from(&words[..]).ok().filter(|_| !shifts);
        let line = line.and_then(|words| Affine::through(words, legal));
        if words.len() > 256 {
            // A comparison of each sample with the highest code would take as long as the look-up.
            words.resize(65536, words[words.len() - 1]);
        }
        CodeMap { words, bytes, shifts, line }
    }

    /// Whether there is a faster way than a look-up.
    pub fn is_fast(&self) -> bool {
        self.shifts || self.line.is_some()
    }

    /// Looks up a row of samples of 9 bits and more; codes without a result have that of the highest. Panics if the rows
    /// differ in length, or for results of 8 bits.
    pub fn row_u16(&self, out: &mut [u16], row: &[u16]) {
        assert_eq!(out.len(), row.len());
        let Ok(words) = <&[u16; 65536]>::try_from(&self.words[..]) else {
            panic!("results of 8 bits for more")
        };
        out.iter_mut().zip(row).for_each(|(o, &v)| *o = words[usize::from(v)]);
    }

    /// Looks up a row of 8-bit samples. Panics if the rows differ in length.
    pub fn row_u8(&self, level: Level, out: &mut [u16], row: &[u8]) {
        assert_eq!(out.len(), row.len());
        if self.shifts {
            return shift_rows(level, out, row);
        }
        let done = match &self.line {
            Some(line) => affine_codes(level, out, row, line),
            None => 0,
        };
        let done = if done > 0 { done } else { look_up_words(level, out, row, &self.bytes) };
        out[done..].iter_mut().zip(&row[done..]).for_each(|(o, &v)| *o = self.words[usize::from(v)]);
    }
}

#[inline(always)]
fn shift_body(out: &mut [u16], row: &[u8]) {
    out.iter_mut().zip(row).for_each(|(o, &v)| *o = u16::from(v) << 8);
}

#[inline(always)]
fn look_up_words_body<V: Vector>(any: V, out: &mut [u16], row: &[u8], bytes: &[[u8; 256]; 2]) -> usize {
    if !V::LOOK_UPS {
        return 0; // as below
    }
    let mut done = 0;
    for (out, block) in out.chunks_exact_mut(V::BYTES).zip(row.chunks_exact(V::BYTES)) {
        let i = any.load(block).preshuffle_for_unpack();
        let (low, high) = (i.look_up8(&bytes[0]), i.look_up8(&bytes[1]));
        low.unpack_low8(high).store(out);
        low.unpack_high8(high).store(&mut out[V::BYTES / 2..]);
        done += V::BYTES;
    }
    done
}

multiversion! {
    fn shift_rows(level, out: &mut [u16], row: &[u8]) = shift_body;
    /// Processes as many samples of a row as fill registers; returns their number.
    fn look_up_words(level, out: &mut [u16], row: &[u8], bytes: &[[u8; 256]; 2]) -> usize => look_up_words_body;
    /// Processes as many samples of a row as fill registers; returns their number.
    fn look_up_u8(level, row: &mut [u8], table: &[u8; 256]) -> usize => look_up_body;
}

#[inline(always)]
fn look_up_body<V: Vector>(zero: V, row: &mut [u8], table: &[u8; 256]) -> usize {
    if !V::LOOK_UPS {
        return 0; // SSE2 has no shuffle by a register
    }
    let mut done = 0;
    for block in row.chunks_exact_mut(V::BYTES) {
        zero.load(block).look_up8(table).store(block);
        done += V::BYTES;
    }
    done
}
