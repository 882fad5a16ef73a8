//! Windows at individual positions, for the kernels that process several of them at a time.
//!
//! The kernels process as many samples as fill their registers and return their number; the rest is for
//! [`dot_row`](super::dot_row), to which they are bit-identical.

/// Windows of four samples in groups of four: the first of the eight samples that contain them, the offset of each
/// window, and all sixteen weights.
#[derive(Clone, Debug, Default)]
pub struct Quads {
    pub(super) starts: Vec<u32>,
    pub(super) orders: Vec<[u8; 32]>,
    pub(super) weights: Vec<[i16; 16]>,
    /// The number of samples that must exist.
    pub(super) end: usize,
}

impl Quads {
    /// Samples that are read from the start; so many must exist from the last window on.
    pub const ROOM: usize = 8;

    /// From windows that begin at `at` and their weights in order; as many groups of four as lie near enough to each
    /// other. No group if windows do not have four taps.
    pub fn new(at: &[u32], w: &[i32]) -> Quads {
        let mut quads = Quads::default();
        if at.is_empty() || w.len() != 4 * at.len() {
            return quads;
        }
        for (at, w) in at.chunks_exact(4).zip(w.chunks_exact(16)) {
            let start = at.iter().copied().min().unwrap_or(0);
            if at.iter().any(|a| a - start > 4) {
                break;
            }
            let mut weights = [0; 16];
            for (out, &w) in weights.iter_mut().zip(w) {
                let Ok(w) = i16::try_from(w) else { return quads };
                *out = w;
            }
            let order = |byte: usize| {
                let (tap, half) = (byte / 2, byte % 2);
                (2 * ((at[tap / 4] - start) as usize + tap % 4) + half) as u8
            };
            quads.starts.push(start);
            quads.end = quads.end.max(start as usize + Quads::ROOM);
            quads.orders.push(core::array::from_fn(order));
            quads.weights.push(weights);
        }
        quads
    }

    /// The number of windows in groups.
    pub(super) fn windows(&self) -> usize {
        4 * self.starts.len()
    }

    /// The largest number of bytes for so many windows.
    pub const fn bytes(windows: usize) -> usize {
        windows.div_ceil(4) * (4 + 32 + 32)
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
