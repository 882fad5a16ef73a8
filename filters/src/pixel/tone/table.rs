//! Any function of an integer sample, as a table.

use crate::simd::{Level, Vector, multiversion};

/// The result for every code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Table {
    /// Of 8 bits.
    Narrow(Box<[u8; 256]>),
    /// For 9 to 16 bits; codes beyond the highest have its result.
    Wide(Box<[u16; 65536]>),
}

impl Table {
    /// Of samples of `bits` bits, from a function of their codes.
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

multiversion! {
    /// Processes as many samples of a row as fill registers; returns their number.
    fn look_up_u8(level, row: &mut [u8], table: &[u8; 256]) -> usize => look_up_body;
}

#[inline(always)]
fn look_up_body<V: Vector>(zero: V, row: &mut [u8], table: &[u8; 256]) -> usize {
    if V::BYTES < 32 {
        return 0; // SSE2 has no shuffle by a register
    }
    let mut done = 0;
    for block in row.chunks_exact_mut(V::BYTES) {
        zero.load(block).look_up8(table).store(block);
        done += V::BYTES;
    }
    done
}
