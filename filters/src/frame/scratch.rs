//! Memory that a thread lends to the code that renders on it, so that no frame allocates memory.

use super::{CacheLine, Format, FrameMut, PlaneMut};
use bytemuck::Pod;
use core::ops::Range;

/// Reusable memory of a thread. It grows to the largest request and never shrinks.
#[derive(Default)]
pub struct Scratch {
    data: Vec<CacheLine>,
    inner: Option<Box<Scratch>>,
}

impl Scratch {
    /// `N` buffers of the given lengths (in `T`), each aligned to a cache line; contents are unspecified.
    pub fn buffers<T: Pod, const N: usize>(&mut self, lens: [usize; N]) -> [&mut [T]; N] {
        self.buffers_and_rest(lens).0
    }

    /// The same, with scratch memory for another filter that is called while the buffers are in use.
    pub fn buffers_and_rest<T: Pod, const N: usize>(
        &mut self,
        lens: [usize; N],
    ) -> ([&mut [T]; N], &mut Scratch) {
        let blocks = lens.map(|len| (len * size_of::<T>()).div_ceil(size_of::<CacheLine>()));
        let total = blocks.iter().sum();
        if self.data.len() < total {
            self.data.resize(total, CacheLine::ZERO);
        }
        let mut rest = &mut self.data[..];
        let mut i = 0;
        let buffers = lens.map(|len| {
            let (head, tail) = core::mem::take(&mut rest).split_at_mut(blocks[i]);
            rest = tail;
            i += 1;
            &mut bytemuck::cast_slice_mut(head)[..len]
        });
        (buffers, self.inner.get_or_insert_default())
    }

    /// A picture of these luma rows, whole chroma blocks, whose contents are unspecified; and scratch memory for others
    /// while it is in use.
    pub fn picture(&mut self, format: Format, luma: &Range<usize>) -> (FrameMut<'_>, &mut Scratch) {
        let plane = |p: usize| {
            let (width, height) = if p < format.planes() { format.plane_size(p) } else { (0, 0) };
            let (_, sy) = format.plane_subsampling(p);
            let row = width * format.depth.bytes();
            (row, (luma.start >> sy)..luma.end.div_ceil(1 << sy).min(height), height)
        };
        let planes = [0, 1, 2, 3].map(plane);
        let stride = |row: usize| row.next_multiple_of(64);
        let sizes = planes.clone().map(|(row, rows, _)| stride(row) * rows.len());
        let (buffers, rest) = self.buffers_and_rest(sizes);
        let mut planes = planes.into_iter();
        let planes = buffers.map(|data| match planes.next() {
            Some((row, rows, height)) => PlaneMut::of_rows(data, stride(row), row, rows, height),
            None => PlaneMut::default(),
        });
        (FrameMut::new(format, planes), rest)
    }

    /// The bytes that [`picture`](Scratch::picture) takes for so many luma rows, at most.
    pub fn picture_bytes(format: &Format, rows: usize) -> usize {
        (0..format.planes())
            .map(|p| (format.plane_size(p).0 * format.depth.bytes()).next_multiple_of(64) * rows)
            .sum()
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.data.len() * size_of::<CacheLine>() + self.inner.as_ref().map_or(0, |inner| inner.bytes())
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

    #[test]
    fn buffers_are_held_while_the_rest_is_used() {
        let mut scratch = Scratch::default();
        let ([held], rest) = scratch.buffers_and_rest::<u8, 1>([1000]);
        held.fill(7);
        rest.buffers::<u8, 1>([5000])[0].fill(9);
        assert!(held.iter().all(|v| *v == 7));
        assert!((6000..6200).contains(&scratch.bytes()), "{}", scratch.bytes());
    }
}
