//! Windows at individual positions, for the kernels that process several of them at a time.
//!
//! The kernels process as many samples as fill their registers and return their number; the rest is for
//! [`dot_row`](super::dot_row), to which they are bit-identical.

/// Windows in groups of eight, in either half of which the same samples of all four windows lie within a register of
/// eight samples.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// The first sample of each half.
    pub(super) starts: Vec<[u32; 2]>,
    /// The bytes that the first two samples of each window have in the register.
    pub(super) orders: Vec<[u8; 32]>,
    /// For each group, two samples' weights after the other, those of all windows.
    pub(super) weights: Vec<[i16; 16]>,
    /// Samples of a window in twos.
    pub(super) pairs: usize,
    /// The number of samples that must exist.
    pub(super) end: usize,
}

impl Groups {
    /// So many samples must exist behind the last window.
    pub const ROOM: usize = 8;

    /// From windows that begin at `at` and their weights in order; as many groups as there are from the first on.
    pub fn new(at: &[u32], w: &[i32]) -> Groups {
        let taps = w.len() / at.len().max(1);
        let mut all = Groups { pairs: taps.div_ceil(2), ..Groups::default() };
        if taps == 0 || w.iter().any(|&w| i16::try_from(w).is_err()) {
            return all;
        }
        for (at, w) in at.as_chunks::<8>().0.iter().zip(w.chunks_exact(8 * taps)) {
            let starts = [0, 4].map(|i| at[i..i + 4].iter().copied().min().unwrap_or(0));
            let place = |i: usize| at[i] - starts[i / 4];
            if (0..8).any(|i| place(i) > 6) {
                break;
            }
            all.starts.push(starts);
            all.end = all.end.max(starts[0].max(starts[1]) as usize + 2 * all.pairs + 6);
            all.orders.push(core::array::from_fn(|b| 2 * place(b / 4) as u8 + b as u8 % 4));
            let weight = |i: usize, k: usize| if k < taps { w[i * taps + k] as i16 } else { 0 };
            let pair = |j: usize| core::array::from_fn(|i| weight(i / 2, 2 * j + i % 2));
            all.weights.extend((0..all.pairs).map(pair));
        }
        all
    }

    /// The number of windows in groups.
    pub(super) fn windows(&self) -> usize {
        8 * self.starts.len()
    }

    /// The largest number of bytes for so many windows of so many samples.
    pub const fn bytes(windows: usize, taps: usize) -> usize {
        windows / 8 * (8 + 32 + 32 * taps.div_ceil(2))
    }
}

/// Windows of a multiple of eight samples.
#[derive(Clone, Debug, Default)]
pub struct Octets {
    pub(super) starts: Vec<u32>,
    /// The weights of the windows, one after the other.
    pub(super) weights: Vec<[i16; 8]>,
    /// The number of samples that must exist.
    pub(super) end: usize,
}

impl Octets {
    /// From windows in a row of `len` samples that begin at `at` and their weights in order. None if the row is shorter
    /// than a window, or a weight has more than 16 bits.
    pub fn new(at: &[u32], w: &[i32], len: usize) -> Octets {
        let taps = w.len() / at.len().max(1);
        let room = taps.next_multiple_of(8);
        let mut octets = Octets::default();
        if taps == 0 || room > len || w.iter().any(|&w| i16::try_from(w).is_err()) {
            return octets;
        }
        for (&at, w) in at.iter().zip(w.chunks_exact(taps)) {
            let start = (at as usize).min(len - room);
            let mut weights = vec![0; room];
            let own = &mut weights[at as usize - start..][..taps];
            own.iter_mut().zip(w).for_each(|(out, &w)| *out = w as i16);
            octets.starts.push(start as u32);
            octets.end = octets.end.max(start + room);
            octets.weights.extend(weights.as_chunks::<8>().0);
        }
        octets
    }

    /// The largest number of bytes for so many windows of so many samples.
    pub const fn bytes(windows: usize, taps: usize) -> usize {
        windows * (4 + 2 * taps.next_multiple_of(8))
    }
}
