//! MD5 sums of bytes and of a frame's samples.

use super::{Family, Frame};
use md5::{Digest, Md5};

/// The MD5 of some bytes as a number, first byte highest: as 32 hexadecimal digits (`{:032x}`) it is the usual text.
pub fn md5(bytes: impl AsRef<[u8]>) -> u128 {
    u128::from_be_bytes(Md5::digest(bytes).into())
}

impl Frame {
    /// The MD5 of the visible samples: planes in order `Y U V A` or `G B R A`, rows without padding, little endian.
    /// Grey with alpha is interleaved, as in FFmpeg's packed `ya8` and `ya16`. The first byte is highest. The
    /// result equals FFmpeg's `framemd5` for the same pixel format.
    pub fn digest(&self) -> u128 {
        let mut md5 = Md5::new();
        let format = self.format();
        let size = format.depth.bytes();
        let mut swapped = Vec::new();
        let mut add = |row: &[u8]| {
            if cfg!(target_endian = "big") && size > 1 {
                swapped.clear();
                swapped.extend(row.chunks_exact(size).flat_map(|sample| sample.iter().rev()));
                md5.update(&swapped);
            } else {
                md5.update(row);
            }
        };
        if format.family == Family::Gray && format.has_alpha() {
            let (luma, alpha) = (self.plane(0), self.plane(1));
            let mut both = Vec::new();
            for y in luma.rows() {
                both.clear();
                let samples = luma.row_bytes(y).chunks_exact(size).zip(alpha.row_bytes(y).chunks_exact(size));
                samples.for_each(|(a, b)| both.extend(a.iter().chain(b)));
                add(&both);
            }
        } else {
            self.for_each_row(add);
        }
        u128::from_be_bytes(md5.finalize().into())
    }
}
