//! A plane as floating-point numbers.

use grainfield_filters::frame::{Depth, Frame};

/// A plane, or the difference of two, in 8-bit code values at every depth: an integer sample of n bits is divided by
/// 2^(n-8), a float sample multiplied by 255.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// Numbers per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Row by row, `width * height` of them.
    pub data: Vec<f32>,
}

impl Field {
    /// From a function of x and y.
    pub fn from_fn(width: usize, height: usize, mut f: impl FnMut(usize, usize) -> f32) -> Field {
        let mut data = Vec::with_capacity(width * height);
        for y in 0..height {
            data.extend((0..width).map(|x| f(x, y)));
        }
        Field { width, height, data }
    }

    /// Plane `p` of a frame. NaN and infinity are kept.
    pub fn of(frame: &Frame, p: usize) -> Field {
        let (width, height) = frame.format().plane_size(p);
        let mut field = Field { width, height, data: Vec::with_capacity(width * height) };
        for y in 0..height {
            match frame.format().depth {
                Depth::Bits(8) => field.data.extend(frame.row::<u8>(p, y).iter().map(|&v| f32::from(v))),
                Depth::Bits(bits) => {
                    let unit = 1.0 / f32::from(1u16 << (bits - 8));
                    field.data.extend(frame.row::<u16>(p, y).iter().map(|&v| f32::from(v) * unit));
                }
                Depth::Float => field.data.extend(frame.row::<f32>(p, y).iter().map(|&v| v * 255.0)),
            }
        }
        field
    }

    /// The difference from another of the same size.
    pub fn minus(mut self, other: &Field) -> Field {
        assert_eq!((self.width, self.height), (other.width, other.height), "fields of two sizes");
        for (a, b) in self.data.iter_mut().zip(&other.data) {
            *a -= b;
        }
        self
    }

    /// Row `y`.
    pub fn row(&self, y: usize) -> &[f32] {
        &self.data[y * self.width..][..self.width]
    }

    /// Subtracts the mean and replaces non-finite numbers by 0; returns how many there were.
    pub fn centre(&mut self) -> u64 {
        let finite = || self.data.iter().filter(|v| v.is_finite());
        let count = finite().count();
        let mean = finite().map(|&v| f64::from(v)).sum::<f64>() / count.max(1) as f64;
        for v in &mut self.data {
            *v = if v.is_finite() { (f64::from(*v) - mean) as f32 } else { 0.0 };
        }
        (self.data.len() - count) as u64
    }

    /// Its central part of at most this size.
    pub fn middle(&self, width: usize, height: usize) -> Field {
        let (w, h) = (width.min(self.width), height.min(self.height));
        let (left, top) = ((self.width - w) / 2, (self.height - h) / 2);
        Field::from_fn(w, h, |x, y| self.row(top + y)[left + x])
    }

    /// Means of blocks of `2^x` by `2^y` samples; blocks at the right and lower edge may be smaller.
    pub fn shrunk(&self, x: u8, y: u8) -> Field {
        if (x, y) == (0, 0) {
            return self.clone();
        }
        let (bw, bh) = (1 << x, 1 << y);
        Field::from_fn(self.width.div_ceil(bw), self.height.div_ceil(bh), |bx, by| {
            let rows = by * bh..((by + 1) * bh).min(self.height);
            let columns = bx * bw..((bx + 1) * bw).min(self.width);
            let count = rows.len() * columns.len();
            let sum: f64 = rows.flat_map(|y| &self.row(y)[columns.clone()]).map(|&v| f64::from(v)).sum();
            (sum / count as f64) as f32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::frame::Format;

    fn frame(name: &str) -> Frame {
        Frame::new(Format::from_name(name, 2, 1).unwrap())
    }

    #[test]
    fn every_depth_means_the_same() {
        let mut a = frame("gray");
        a.row_mut::<u8>(0, 0).copy_from_slice(&[16, 255]);
        assert_eq!(Field::of(&a, 0).data, [16.0, 255.0]);
        let mut b = frame("gray10");
        b.row_mut::<u16>(0, 0).copy_from_slice(&[64, 1023]);
        assert_eq!(Field::of(&b, 0).data, [16.0, 255.75]);
        let mut c = frame("grayf32");
        c.row_mut::<f32>(0, 0).copy_from_slice(&[1.0, f32::NAN]);
        let mut field = Field::of(&c, 0);
        assert!(field.data[0] == 255.0 && field.data[1].is_nan());
        assert_eq!(field.centre(), 1);
        assert_eq!(field.data, [0.0, 0.0]);
    }

    #[test]
    fn blocks_at_the_edge_are_means_of_the_existing_samples() {
        let f = Field::from_fn(3, 3, |x, y| (x + 10 * y) as f32);
        assert_eq!(f.shrunk(1, 1).data, [5.5, 7.0, 20.5, 22.0]);
        assert_eq!(f.middle(1, 9).data, [1.0, 11.0, 21.0]);
        assert_eq!(f.clone().minus(&f).data, [0.0; 9]);
    }
}
