//! Rows that stay level: down and across in one go each, rounded at once.
//!
//! The kernels do as much of a row as fills their registers and say how many samples that were; the rest is for
//! [`accumulate_rows`](super::accumulate_rows), [`accumulate_shifted`](super::accumulate_shifted) and [`dot_row`](super::dot_row), which they equal
//! to the bit.

/// Most taps that a kernel takes.
pub(super) const MAX_TAPS: usize = 8;

/// Weights as numbers of 16 bits, if they are and are an even number of them.
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

/// Windows of four samples, four of them together: where the first of the eight samples is that hold all of them, where in
/// these each is, and all sixteen weights.
#[derive(Clone, Debug, Default)]
pub struct Quads {
    pub(super) starts: Vec<u32>,
    pub(super) orders: Vec<[u8; 32]>,
    pub(super) weights: Vec<[i16; 16]>,
}

impl Quads {
    /// Samples that are read from a start on; so many must be there behind the last window.
    pub const ROOM: usize = 8;

    /// Of windows that begin at `at`, their weights one after the other; as far as four at a time lie near enough. None when
    /// windows are not of four.
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

    /// Samples that must be there.
    pub(super) fn end(&self) -> usize {
        self.starts.iter().max().map_or(0, |&start| start as usize + Quads::ROOM)
    }

    /// Bytes that so many windows take at most.
    pub const fn bytes(windows: usize) -> usize {
        windows.div_ceil(4) * (4 + 32 + 32)
    }
}
