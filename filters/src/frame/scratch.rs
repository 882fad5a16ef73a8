//! Memory that a thread lends to whatever renders on it, so that nothing is allocated per frame.

use super::CacheLine;
use bytemuck::Pod;

/// Reusable per-thread memory. It grows to the largest request and stays there.
#[derive(Default)]
pub struct Scratch {
    data: Vec<CacheLine>,
}

impl Scratch {
    /// `N` buffers of the given lengths (in `T`), each on cache lines of its own; contents are unspecified.
    pub fn buffers<T: Pod, const N: usize>(&mut self, lens: [usize; N]) -> [&mut [T]; N] {
        let blocks = lens.map(|len| (len * size_of::<T>()).div_ceil(size_of::<CacheLine>()));
        let total = blocks.iter().sum();
        if self.data.len() < total {
            self.data.resize(total, CacheLine::ZERO);
        }
        let mut rest = &mut self.data[..];
        let mut i = 0;
        lens.map(|len| {
            let (head, tail) = core::mem::take(&mut rest).split_at_mut(blocks[i]);
            rest = tail;
            i += 1;
            &mut bytemuck::cast_slice_mut(head)[..len]
        })
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.data.len() * size_of::<CacheLine>()
    }
}

impl core::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Scratch({} bytes)", self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_do_not_overlap() {
        let mut scratch = Scratch::default();
        let [a, b, c] = scratch.buffers::<u16, 3>([3, 0, 100]);
        a.fill(1);
        c.fill(2);
        assert_eq!((a.len(), b.len(), c.len()), (3, 0, 100));
        assert!(a.iter().all(|&x| x == 1));
        assert_eq!(c.as_ptr() as usize % 64, 0);
    }
}
