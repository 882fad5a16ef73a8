//! Vertical and horizontal passes without a change of position, each rounded immediately.
//!
//! The kernels process as many samples as fill their registers and return their number; the rest is for
//! [`accumulate_rows`](super::accumulate_rows), [`accumulate_shifted`](super::accumulate_shifted) and
//! [`dot_row`](super::dot_row), to which they are bit-identical.

/// The largest number of taps of a kernel.
pub(super) const MAX_TAPS: usize = 8;

/// The weights as 16-bit numbers; `None` if they do not fit or their number is odd.
pub(super) fn narrow(w: &[i32]) -> Option<([i16; MAX_TAPS], usize)> {
    let mut out = [0; MAX_TAPS];
    if w.len() > MAX_TAPS || !w.len().is_multiple_of(2) {
        return None;
    }
    for (out, &w) in out.iter_mut().zip(w) {
        *out = i16::try_from(w).ok()?;
    }
    Some((out, w.len()))
}

/// Windows of four samples in groups of four: the first of the eight samples that contain them, the offset of each
/// window, and all sixteen weights.
#[derive(Clone, Debug, Default)]
pub struct Quads {
    pub(super) starts: Vec<u32>,
    pub(super) orders: Vec<[u8; 32]>,
    pub(super) weights: Vec<[i16; 16]>,
}

impl Quads {
    /// Samples that are read from the start; so many must exist from the last window on.
    pub const ROOM: usize = 8;

    /// From windows that begin at `at` and their weights in order; as many groups of four as lie near enough to each
    /// other. `None` if windows do not have four taps.
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
            quads.orders.push(core::array::from_fn(order));
            quads.weights.push(weights);
        }
        quads
    }

    /// The number of samples that must exist.
    pub(super) fn end(&self) -> usize {
        self.starts.iter().max().map_or(0, |&start| start as usize + Quads::ROOM)
    }

    /// The largest number of bytes for so many windows.
    pub const fn bytes(windows: usize) -> usize {
        windows.div_ceil(4) * (4 + 32 + 32)
    }
}
