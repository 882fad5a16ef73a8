//! Rearranges the bytes of a stream so that they compress well: field by field over all keys, and numbers byte by
//! byte.
//!
//! Consecutive keys differ little: the track counts up, the time is the same or the next, and most values have
//! similar signs and exponents. In columns, with track and time as differences, that becomes runs of repeated bytes.

use super::format::{CHUNK_BYTES, CYCLES, INDEX, JUMP, POINTS};

/// First byte of the output of [`to_columns`]: unchanged, or columns with times in frames or seconds.
const PLAIN: u8 = 0;
const FRAMES: u8 = 1;
const SECONDS: u8 = 2;
/// Added to the first byte, times one more than the number of decimals, if all values are stored as integers.
const DECIMALS: u8 = 16;
/// 10 to the power of the number of decimals.
const SCALES: [f64; 10] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// The integer that gives the value, bit for bit, when it is divided by `scale`.
fn whole(value: [u8; 8], scale: f64) -> Option<[u8; 8]> {
    let v = f64::from_le_bytes(value);
    let n = (v * scale).round();
    // Below 2^53 every integer is exact.
    let same = n.abs() < 9e15 && (n / scale).to_bits() == v.to_bits();
    same.then(|| (n as i64).to_le_bytes())
}

/// All values as integers with the fewest decimals that represent them exactly, if any number does. Fitted
/// curves have few.
fn decimals(values: &[[u8; 8]]) -> Option<(u8, Vec<[u8; 8]>)> {
    (1u8..).zip(SCALES).find_map(|(code, scale)| {
        Some((code, values.iter().map(|v| whole(*v, scale)).collect::<Option<_>>()?))
    })
}

/// The columns: one list of bytes for each field.
#[derive(Default)]
struct Columns {
    /// Track, counts, places: the fields before a key.
    heads: Vec<[u8; 4]>,
    small: Vec<u8>,
    times: Vec<[u8; 8]>,
    tags: Vec<u8>,
    values: Vec<[u8; 8]>,
    numbers: Vec<[u8; 8]>,
}

/// The number of values that follow the value of a key of this shape; `None` if no shape has this tag.
const fn numbers(tag: u8) -> Option<usize> {
    match tag {
        0..=3 | 16..=45 => Some(0),
        4 => Some(2),
        5 => Some(4),
        _ => None,
    }
}

/// Visits the fields of a chunk in order: `take` receives or returns the bytes of each.
trait FieldVisitor {
    fn head(&mut self) -> Option<u32>;
    fn small(&mut self) -> Option<u8>;
    fn time(&mut self) -> Option<()>;
    fn tag(&mut self) -> Option<u8>;
    fn value(&mut self) -> Option<()>;
    fn number(&mut self) -> Option<()>;
    fn is_end(&self) -> bool;
}

fn visit(kind: u32, seconds: bool, f: &mut impl FieldVisitor) -> Option<()> {
    fn key(seconds: bool, f: &mut impl FieldVisitor) -> Option<()> {
        f.time()?;
        if seconds {
            f.time()?;
        }
        let tag = f.tag()?;
        f.value()?;
        (0..numbers(tag)?).try_for_each(|_| f.number())
    }
    while !f.is_end() {
        match kind {
            POINTS => {
                f.head()?;
                key(seconds, f)?;
            }
            JUMP => {
                let rules = f.small()?;
                if rules % 16 == 1 || rules % 16 == 2 || rules / 16 == 1 || rules / 16 == 2 {
                    continue;
                }
                f.head()?;
                f.head()?;
                f.small()?;
                for _ in 0..f.small()? {
                    key(seconds, f)?;
                }
            }
            CYCLES => {
                f.head()?;
                f.small()?;
                for _ in 0..f.head()? {
                    key(seconds, f)?;
                }
            }
            INDEX => {
                f.time()?;
                if seconds {
                    f.time()?;
                }
                f.time()?;
                f.time()?;
                f.head()?;
            }
            _ => return None,
        }
    }
    Some(())
}

/// Distributes the fields of a chunk to columns.
struct ColumnWriter<'a> {
    data: &'a [u8],
    columns: Columns,
}

impl ColumnWriter<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.data.split_first_chunk()?;
        self.data = rest;
        Some(*first)
    }
}

impl FieldVisitor for ColumnWriter<'_> {
    fn head(&mut self) -> Option<u32> {
        let bytes = self.take()?;
        self.columns.heads.push(bytes);
        Some(u32::from_le_bytes(bytes))
    }
    fn small(&mut self) -> Option<u8> {
        let [byte] = self.take()?;
        self.columns.small.push(byte);
        Some(byte)
    }
    fn time(&mut self) -> Option<()> {
        let bytes = self.take()?;
        self.columns.times.push(bytes);
        Some(())
    }
    fn tag(&mut self) -> Option<u8> {
        let [byte] = self.take()?;
        self.columns.tags.push(byte);
        Some(byte)
    }
    fn value(&mut self) -> Option<()> {
        let bytes = self.take()?;
        self.columns.values.push(bytes);
        Some(())
    }
    fn number(&mut self) -> Option<()> {
        let bytes = self.take()?;
        self.columns.numbers.push(bytes);
        Some(())
    }
    fn is_end(&self) -> bool {
        self.data.is_empty()
    }
}

/// Reassembles a chunk from columns.
struct ColumnReader {
    columns: Columns,
    at: [usize; 6],
    length: usize,
    out: Vec<u8>,
}

impl ColumnReader {
    fn put<const N: usize>(&mut self, column: usize, get: fn(&Columns) -> &[[u8; N]]) -> Option<[u8; N]> {
        let bytes = *get(&self.columns).get(self.at[column])?;
        self.at[column] += 1;
        self.out.extend(bytes);
        Some(bytes)
    }

    fn put_byte(&mut self, column: usize, get: fn(&Columns) -> &[u8]) -> Option<u8> {
        let byte = *get(&self.columns).get(self.at[column])?;
        self.at[column] += 1;
        self.out.push(byte);
        Some(byte)
    }
}

impl FieldVisitor for ColumnReader {
    fn head(&mut self) -> Option<u32> {
        self.put(0, |c| &c.heads).map(u32::from_le_bytes)
    }
    fn small(&mut self) -> Option<u8> {
        self.put_byte(1, |c| &c.small)
    }
    fn time(&mut self) -> Option<()> {
        self.put(2, |c| &c.times).map(|_| ())
    }
    fn tag(&mut self) -> Option<u8> {
        self.put_byte(3, |c| &c.tags)
    }
    fn value(&mut self) -> Option<()> {
        self.put(4, |c| &c.values).map(|_| ())
    }
    fn number(&mut self) -> Option<()> {
        self.put(5, |c| &c.numbers).map(|_| ())
    }
    fn is_end(&self) -> bool {
        self.out.len() >= self.length
    }
}

/// Stores the first bytes of all numbers, then the second bytes, and so on.
fn to_byte_planes<const N: usize>(all: &[[u8; N]], out: &mut Vec<u8>) {
    (0..N).for_each(|plane| out.extend(all.iter().map(|bytes| bytes[plane])));
}

fn differences(times: &mut [[u8; 8]], step: usize) {
    for i in (step..times.len()).rev() {
        let (a, b) = (i64::from_le_bytes(times[i - step]), i64::from_le_bytes(times[i]));
        times[i] = b.wrapping_sub(a).to_le_bytes();
    }
}

fn sums(times: &mut [[u8; 8]], step: usize) {
    for i in step..times.len() {
        let (a, b) = (i64::from_le_bytes(times[i - step]), i64::from_le_bytes(times[i]));
        times[i] = b.wrapping_add(a).to_le_bytes();
    }
}

/// Rearranges a piece of a stream (its head, a chunk with its header, or its tail) for compression. `seconds` is the
/// stream's unit. A piece that is not a chunk is returned unchanged behind a marker byte.
pub fn to_columns(piece: &[u8], seconds: bool) -> Vec<u8> {
    columns(piece, seconds).unwrap_or_else(|| [&[PLAIN], piece].concat())
}

fn columns(piece: &[u8], seconds: bool) -> Option<Vec<u8>> {
    let (head, payload) = piece.split_at_checked(CHUNK_BYTES as usize)?;
    let kind = u32::from_le_bytes(*head.first_chunk()?);
    let mut apart = ColumnWriter { data: payload, columns: Columns::default() };
    visit(kind, seconds, &mut apart)?;
    let mut c = apart.columns;
    differences(&mut c.times, step(kind, seconds));
    if kind == POINTS {
        for i in (1..c.heads.len()).rev() {
            let (a, b) = (u32::from_le_bytes(c.heads[i - 1]), u32::from_le_bytes(c.heads[i]));
            c.heads[i] = b.wrapping_sub(a).to_le_bytes();
        }
    }
    let mut out = Vec::with_capacity(piece.len() + 25);
    let mut how = if seconds { SECONDS } else { FRAMES };
    if let Some((code, wholes)) = decimals(&c.values).filter(|_| !c.values.is_empty()) {
        how += DECIMALS * code;
        c.values = wholes;
    }
    out.push(how);
    out.extend(head);
    let counts = [c.heads.len(), c.small.len(), c.times.len(), c.tags.len(), c.values.len(), c.numbers.len()];
    for n in counts {
        out.extend(u32::try_from(n).ok()?.to_le_bytes());
    }
    to_byte_planes(&c.heads, &mut out);
    out.extend(&c.small);
    to_byte_planes(&c.times, &mut out);
    out.extend(&c.tags);
    to_byte_planes(&c.values, &mut out);
    to_byte_planes(&c.numbers, &mut out);
    Some(out)
}

/// The distance back to the time that is most similar to a time.
const fn step(kind: u32, seconds: bool) -> usize {
    match (kind, seconds) {
        (INDEX, false) => 3,
        (INDEX, true) => 4,
        (_, false) => 1,
        (_, true) => 2,
    }
}

/// Reverses [`to_columns`]; `None` if the bytes cannot be its output. Memory is bounded by a small multiple of their
/// length.
pub fn from_columns(arranged: &[u8]) -> Option<Vec<u8>> {
    let (&how, rest) = arranged.split_first()?;
    let (how, code) = (how % DECIMALS, how / DECIMALS);
    let seconds = match how {
        PLAIN if code == 0 => return Some(rest.to_vec()),
        FRAMES => false,
        SECONDS => true,
        _ => return None,
    };
    let (head, rest) = rest.split_at_checked(CHUNK_BYTES as usize)?;
    let (counts, mut rest) = rest.split_first_chunk::<24>()?;
    let count = |i: usize| counts[4 * i..].first_chunk().map(|b| u32::from_le_bytes(*b) as usize);
    let mut c = Columns::default();
    let kind = u32::from_le_bytes(*head.first_chunk()?);
    let length = rest.len();
    c.heads = from_byte_planes(&mut rest, count(0)?)?;
    c.small = split(&mut rest, count(1)?)?.to_vec();
    c.times = from_byte_planes(&mut rest, count(2)?)?;
    c.tags = split(&mut rest, count(3)?)?.to_vec();
    c.values = from_byte_planes(&mut rest, count(4)?)?;
    c.numbers = from_byte_planes(&mut rest, count(5)?)?;
    if !rest.is_empty() {
        return None;
    }
    if code > 0 {
        let scale = *SCALES.get(usize::from(code) - 1)?;
        let value = |n: &[u8; 8]| (i64::from_le_bytes(*n) as f64 / scale).to_le_bytes();
        c.values = c.values.iter().map(value).collect();
    }
    sums(&mut c.times, step(kind, seconds));
    if kind == POINTS {
        for i in 1..c.heads.len() {
            let (a, b) = (u32::from_le_bytes(c.heads[i - 1]), u32::from_le_bytes(c.heads[i]));
            c.heads[i] = b.wrapping_add(a).to_le_bytes();
        }
    }
    let mut together =
        ColumnReader { columns: c, at: [0; 6], length: length + head.len(), out: head.to_vec() };
    visit(kind, seconds, &mut together)?;
    (together.out.len() == length + head.len()).then_some(together.out)
}

fn split<'a>(rest: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (first, last) = rest.split_at_checked(n)?;
    *rest = last;
    Some(first)
}

fn from_byte_planes<const N: usize>(rest: &mut &[u8], n: usize) -> Option<Vec<[u8; N]>> {
    let all = split(rest, n.checked_mul(N)?)?;
    Some((0..n).map(|i| core::array::from_fn(|plane| all[plane * n + i])).collect())
}
