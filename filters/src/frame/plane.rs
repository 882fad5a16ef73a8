//! Borrowed planes and pictures. Rows have their numbers in the whole picture, even if only a band of it is
//! borrowed.

use super::{Format, Parity};
use core::ops::Range;

/// A sample type: `u8`, `u16` or `f32`. Kernels rely on their sizes, so there are no others:
///
/// ```compile_fail,E0277
/// impl grainfield_filters::frame::Sample for u32 {}
/// ```
pub trait Sample: sealed::Sealed + bytemuck::Pod + PartialOrd + Send + Sync + 'static {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! samples {
    ($($t:ty)*) => {$(
        impl sealed::Sealed for $t {}
        impl Sample for $t {}
    )*};
}
samples!(u8 u16 f32);

/// The rows of a view.
#[derive(Clone, Copy, Debug, Default)]
struct RowLayout {
    stride: usize,
    row_bytes: usize,
    /// The first row and the number of rows, of the plane's height.
    first: usize,
    count: usize,
    height: usize,
}

impl RowLayout {
    fn new(len: usize, stride: usize, row_bytes: usize, rows: Range<usize>, height: usize) -> RowLayout {
        let count = rows.len();
        assert!(stride >= row_bytes, "a stride of {stride} bytes is less than a row of {row_bytes}");
        let needed = if count == 0 { 0 } else { (count - 1) * stride + row_bytes };
        assert!(len >= needed, "a plane of {count} rows needs {needed} bytes, got {len}");
        RowLayout { stride, row_bytes, first: rows.start, count, height }
    }

    fn rows(&self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// The bytes of row `y`.
    #[inline(always)]
    fn bytes(&self, y: usize) -> Range<usize> {
        let start = (y - self.first) * self.stride;
        start..start + self.row_bytes
    }

    /// The rows of a field, and the byte at which they start.
    fn field(&self, parity: Parity) -> (usize, RowLayout) {
        let odd = (parity == Parity::Bottom) as usize;
        let skip = (self.first + odd) % 2;
        let layout = RowLayout {
            stride: 2 * self.stride,
            first: (self.first + skip) / 2,
            count: (self.count + 1).saturating_sub(skip) / 2,
            height: (self.height + 1 - odd) / 2,
            ..*self
        };
        (skip * self.stride, layout)
    }
}

/// A view of rows of a plane.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlaneRef<'a> {
    data: &'a [u8],
    layout: RowLayout,
}

/// A mutable view of rows of a plane.
#[derive(Debug, Default)]
pub struct PlaneMut<'a> {
    data: &'a mut [u8],
    layout: RowLayout,
}

impl<'a> PlaneRef<'a> {
    /// A whole plane of `height` rows of `row_bytes` bytes, `stride` bytes apart. Panics if `data` is too short.
    pub fn new(data: &'a [u8], stride: usize, row_bytes: usize, height: usize) -> PlaneRef<'a> {
        PlaneRef { data, layout: RowLayout::new(data.len(), stride, row_bytes, 0..height, height) }
    }

    /// The range of rows in this view, numbered as in the whole picture.
    pub fn rows(&self) -> Range<usize> {
        self.layout.rows()
    }

    /// The height of the whole plane.
    pub fn height(&self) -> usize {
        self.layout.height
    }

    /// Row `y` (numbered as in the whole picture) as bytes.
    pub fn row_bytes(&self, y: usize) -> &'a [u8] {
        &self.data[self.layout.bytes(y)]
    }

    /// Row `y` as samples. Panics if `T` is not the plane's sample type (size or alignment) or `y` is outside the
    /// view.
    pub fn row<T: Sample>(&self, y: usize) -> &'a [T] {
        bytemuck::cast_slice(self.row_bytes(y))
    }

    /// All samples from the view's first row on, and the row stride in samples. Panics like
    /// [`row`](PlaneRef::row), and if the stride is not a whole number of samples.
    pub fn samples<T: Sample>(&self) -> (&'a [T], usize) {
        let (size, stride) = (size_of::<T>(), self.layout.stride);
        assert!(stride.is_multiple_of(size), "a stride of {stride} bytes for samples of {size}");
        let whole = self.data.len() / size * size;
        (bytemuck::cast_slice(&self.data[..whole]), stride / size)
    }

    /// The rows of one field, numbered as in the field.
    pub fn field(&self, parity: Parity) -> PlaneRef<'a> {
        let (start, layout) = self.layout.field(parity);
        PlaneRef { data: &self.data[start.min(self.data.len())..], layout }
    }
}

impl<'a> PlaneMut<'a> {
    /// A whole plane of `height` rows of `row_bytes` bytes, `stride` bytes apart. Panics if `data` is too short.
    pub fn new(data: &'a mut [u8], stride: usize, row_bytes: usize, height: usize) -> PlaneMut<'a> {
        PlaneMut::of_rows(data, stride, row_bytes, 0..height, height)
    }

    /// The rows `rows` of a plane of `height` rows, for intermediate results of a filter. Panics if `data` is too
    /// short.
    pub fn of_rows(
        data: &'a mut [u8],
        stride: usize,
        row_bytes: usize,
        rows: Range<usize>,
        height: usize,
    ) -> PlaneMut<'a> {
        let layout = RowLayout::new(data.len(), stride, row_bytes, rows, height);
        PlaneMut { data, layout }
    }

    /// The range of rows in this view, numbered as in the whole picture.
    pub fn rows(&self) -> Range<usize> {
        self.layout.rows()
    }

    /// The height of the whole plane.
    pub fn height(&self) -> usize {
        self.layout.height
    }

    /// Row `y` (numbered as in the whole picture) as bytes.
    pub fn row_bytes_mut(&mut self, y: usize) -> &mut [u8] {
        &mut self.data[self.layout.bytes(y)]
    }

    /// Row `y` as samples. Panics if `T` is not the plane's sample type or `y` is outside the view.
    pub fn row_mut<T: Sample>(&mut self, y: usize) -> &mut [T] {
        bytemuck::cast_slice_mut(self.row_bytes_mut(y))
    }

    /// An immutable view of the same rows.
    pub fn as_ref(&self) -> PlaneRef<'_> {
        PlaneRef { data: self.data, layout: self.layout }
    }

    /// A shorter borrow of the same rows.
    pub fn reborrow(&mut self) -> PlaneMut<'_> {
        PlaneMut { data: self.data, layout: self.layout }
    }

    /// Splits the view before row `y`.
    pub fn split_at_row(self, y: usize) -> (PlaneMut<'a>, PlaneMut<'a>) {
        let layout = self.layout;
        let y = y.clamp(layout.first, layout.first + layout.count);
        let count = y - layout.first;
        let (above, below) = self.data.split_at_mut((count * layout.stride).min(self.data.len()));
        let rest = RowLayout { first: y, count: layout.count - count, ..layout };
        (
            PlaneMut { data: above, layout: RowLayout { count, ..layout } },
            PlaneMut { data: below, layout: rest },
        )
    }

    /// The rows of one field, numbered as in the field.
    pub fn field(self, parity: Parity) -> PlaneMut<'a> {
        let (start, layout) = self.layout.field(parity);
        let start = start.min(self.data.len());
        PlaneMut { data: &mut self.data[start..], layout }
    }
}

/// A view of a picture or of a band of its rows.
#[derive(Clone, Copy, Debug)]
pub struct FrameRef<'a> {
    /// The format.
    pub format: Format,
    planes: [PlaneRef<'a>; 4],
}

impl<'a> FrameRef<'a> {
    /// Makes a picture of its planes; those past `format.planes()` are ignored.
    pub fn new(format: Format, planes: [PlaneRef<'a>; 4]) -> FrameRef<'a> {
        FrameRef { format, planes }
    }

    /// Plane `p`.
    pub fn plane(&self, p: usize) -> PlaneRef<'a> {
        self.planes[p]
    }

    /// One field as a separate picture.
    pub fn field(&self, parity: Parity) -> FrameRef<'a> {
        FrameRef { format: self.format.field(parity), planes: self.planes.map(|p| p.field(parity)) }
    }
}

/// A mutable view of a picture or of a band of its rows.
#[derive(Debug)]
pub struct FrameMut<'a> {
    /// The format of the whole picture.
    pub format: Format,
    planes: [PlaneMut<'a>; 4],
}

impl<'a> FrameMut<'a> {
    /// Makes a picture of its planes; those past `format.planes()` are ignored.
    pub fn new(format: Format, planes: [PlaneMut<'a>; 4]) -> FrameMut<'a> {
        FrameMut { format, planes }
    }

    /// Plane `p`, mutable.
    pub fn plane_mut(&mut self, p: usize) -> &mut PlaneMut<'a> {
        &mut self.planes[p]
    }

    /// A view of plane `p`.
    pub fn plane(&self, p: usize) -> PlaneRef<'_> {
        self.planes[p].as_ref()
    }

    /// An immutable view of the same rows.
    pub fn as_ref(&self) -> FrameRef<'_> {
        FrameRef::new(self.format, self.planes.each_ref().map(PlaneMut::as_ref))
    }

    /// All planes, mutable.
    pub fn planes_mut(&mut self) -> &mut [PlaneMut<'a>; 4] {
        &mut self.planes
    }

    /// A shorter borrow of the same rows.
    pub fn reborrow(&mut self) -> FrameMut<'_> {
        let [a, b, c, d] = &mut self.planes;
        FrameMut { format: self.format, planes: [a.reborrow(), b.reborrow(), c.reborrow(), d.reborrow()] }
    }

    /// Splits the view before luma row `y`, which must be a multiple of the chroma block height.
    pub fn split_at_row(self, y: usize) -> (FrameMut<'a>, FrameMut<'a>) {
        let format = self.format;
        let mut p = 0;
        let pairs = self.planes.map(|plane| {
            let (_, sy) = format.plane_subsampling(p);
            p += 1;
            plane.split_at_row(y.div_ceil(1 << sy))
        });
        let [a, b, c, d] = pairs;
        (FrameMut { format, planes: [a.0, b.0, c.0, d.0] }, FrameMut { format, planes: [a.1, b.1, c.1, d.1] })
    }

    /// The rows of one field, as a separate picture or a part of one.
    pub fn field(self, parity: Parity) -> FrameMut<'a> {
        FrameMut { format: self.format.field(parity), planes: self.planes.map(|p| p.field(parity)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_bands_meet_every_row_once() {
        for height in 1..12usize {
            let mut data = vec![0u8; height * 5];
            for cut in (0..=height).step_by(2) {
                data.fill(0);
                let (a, b) = PlaneMut::new(&mut data, 5, 3, height).split_at_row(cut);
                for mut part in [a, b] {
                    for parity in [Parity::Top, Parity::Bottom] {
                        let odd = (parity == Parity::Bottom) as u8;
                        let mut field = part.reborrow().field(parity);
                        for y in field.rows() {
                            let row = 2 * y + usize::from(odd);
                            field.row_mut::<u8>(y).fill(row as u8 + 1);
                        }
                        let rows = field.rows();
                        let same = part.as_ref().field(parity);
                        assert_eq!(same.rows(), rows);
                        assert!(rows.into_iter().all(|y| same.row::<u8>(y) == [(2 * y) as u8 + 1 + odd; 3]));
                    }
                }
                for y in 0..height {
                    assert_eq!(&data[5 * y..5 * y + 3], &[y as u8 + 1; 3], "height {height} cut {cut}");
                }
            }
        }
    }
}
