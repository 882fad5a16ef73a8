//! Owned, reusable frames.

use super::{Depth, Format, FrameMut, FrameRef, PlaneMut, PlaneRef, Sample};
use bytemuck::{Pod, Zeroable};

/// 64 bytes aligned to a cache line: the element of buffers, so that rows are aligned.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct CacheLine([u8; 64]);

impl CacheLine {
    /// All zero.
    pub const ZERO: CacheLine = CacheLine([0; 64]);
}

#[derive(Clone, Default)]
struct Plane {
    data: Vec<CacheLine>,
    stride: usize,
}

/// A picture that owns its samples. Rows start on cache lines; the padding after a row is unspecified.
#[derive(Clone)]
pub struct Frame {
    format: Format,
    planes: [Plane; 4],
}

impl Frame {
    /// A frame of the given format with all samples zero.
    pub fn new(format: Format) -> Frame {
        let mut frame = Frame { format, planes: Default::default() };
        frame.shape();
        frame
    }

    /// Changes the frame to another format and reuses the memory if it is large enough. Samples are
    /// unspecified.
    pub fn reset(&mut self, format: Format) {
        if self.format != format {
            self.format = format;
            self.shape();
        }
    }

    fn shape(&mut self) {
        for p in 0..self.format.planes() {
            let plane = &mut self.planes[p];
            let (w, h) = self.format.plane_size(p);
            let blocks = (w * self.format.depth.bytes()).div_ceil(64);
            plane.stride = blocks * 64;
            // Never shrinks, so that a frame that alternates between two formats is not cleared each time.
            if plane.data.len() < blocks * h {
                plane.data.resize(blocks * h, CacheLine::ZERO);
            }
        }
    }

    /// The format.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// Changes the tags (colour, rate, aspect, field order) without changing samples. Panics if size or
    /// storage would differ.
    pub fn retag(&mut self, format: Format) {
        let shape =
            |f: &Format| (f.width, f.height, f.picture, f.family, f.depth, f.subsampling, f.has_alpha());
        assert_eq!(shape(&self.format), shape(&format), "retag may not change what samples there are");
        self.format = format;
    }

    /// The size of the buffers in bytes.
    pub fn bytes(&self) -> usize {
        self.planes.iter().map(|p| p.data.len() * 64).sum()
    }

    /// Plane `p`, to read.
    pub fn plane(&self, p: usize) -> PlaneRef<'_> {
        let plane = &self.planes[p];
        if p >= self.format.planes() {
            return PlaneRef::default();
        }
        let (w, h) = self.format.plane_size(p);
        PlaneRef::new(bytemuck::cast_slice(&plane.data), plane.stride, w * self.format.depth.bytes(), h)
    }

    /// Row `y` of plane `p`. Panics if `T` is not the type of the format's samples: `u8` for 8 bits, `u16` for more,
    /// `f32` for floats.
    pub fn row<T: Sample>(&self, p: usize, y: usize) -> &[T] {
        self.check::<T>();
        self.plane(p).row(y)
    }

    /// Sample `x` of row `y` of plane `p` as a fraction of the highest code; floats unchanged. Slow; for pictures that
    /// are read once. Panics if there is no such sample.
    pub fn value(&self, p: usize, x: usize, y: usize) -> f32 {
        let top = if let Depth::Bits(bits) = self.format.depth { ((1u32 << bits) - 1) as f32 } else { 1.0 };
        match self.format.depth.bytes() {
            1 => f32::from(self.row::<u8>(p, y)[x]) / top,
            2 => f32::from(self.row::<u16>(p, y)[x]) / top,
            _ => self.row::<f32>(p, y)[x],
        }
    }

    /// Row `y` of plane `p`, mutable. Panics as [`row`](Frame::row) does.
    pub fn row_mut<T: Sample>(&mut self, p: usize, y: usize) -> &mut [T] {
        self.check::<T>();
        bytemuck::cast_slice_mut(self.row_bytes_mut(p, y))
    }

    fn check<T: Sample>(&self) {
        let depth = self.format.depth;
        assert_eq!(size_of::<T>(), depth.bytes(), "samples of {depth:?} have another type");
    }

    /// Row `y` of plane `p` as bytes, mutable.
    pub fn row_bytes_mut(&mut self, p: usize, y: usize) -> &mut [u8] {
        let (w, _) = self.format.plane_size(p);
        let plane = &mut self.planes[p];
        let start = y * plane.stride;
        &mut bytemuck::cast_slice_mut(&mut plane.data)[start..start + w * self.format.depth.bytes()]
    }

    /// A view of the whole picture.
    pub fn as_ref(&self) -> FrameRef<'_> {
        FrameRef::new(self.format, [0, 1, 2, 3].map(|p| self.plane(p)))
    }

    /// A mutable view of the whole picture.
    pub fn as_mut(&mut self) -> FrameMut<'_> {
        let format = self.format;
        let mut p = 0;
        let planes = self.planes.each_mut().map(|plane| {
            let (w, h) = if p < format.planes() { format.plane_size(p) } else { (0, 0) };
            p += 1;
            let data: &mut [u8] = bytemuck::cast_slice_mut(&mut plane.data);
            PlaneMut::new(data, plane.stride, w * format.depth.bytes(), h)
        });
        FrameMut::new(format, planes)
    }

    /// Swaps plane `p` with that of another frame, without copying. Panics unless both planes have the same shape.
    pub fn swap_plane(&mut self, p: usize, other: &mut Frame) {
        assert_eq!(self.format.plane_size(p), other.format.plane_size(p));
        assert_eq!(self.format.depth.bytes(), other.format.depth.bytes());
        core::mem::swap(&mut self.planes[p], &mut other.planes[p]);
    }

    /// Calls `each` with the visible bytes of every row, planes in order, top to bottom. Hashing and writing use it.
    pub fn for_each_row(&self, mut each: impl FnMut(&[u8])) {
        for p in 0..self.format.planes() {
            let plane = self.plane(p);
            for y in plane.rows() {
                each(plane.row_bytes(y));
            }
        }
    }
}

impl PartialEq for Frame {
    /// Compares format and visible samples, bit for bit.
    fn eq(&self, o: &Frame) -> bool {
        self.format == o.format
            && (0..self.format.planes()).all(|p| {
                let (a, b) = (self.plane(p), o.plane(p));
                a.rows().all(|y| a.row_bytes(y) == b.row_bytes(y))
            })
    }
}

impl core::fmt::Debug for Frame {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Frame").field("format", &self.format).finish_non_exhaustive()
    }
}
