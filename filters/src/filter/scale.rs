//! Placeholder.
use crate::frame::{Format, Frame};
use crate::simd::Level;
pub(super) fn resized(frame: &Frame, width: u32, height: u32, _: Level) -> Frame {
    let format = Format { width, height, ..*frame.format() };
    let mut out = Frame::new(format);
    for p in 0..format.planes() {
        let (w, h) = frame.format().plane_size(p);
        let (ow, oh) = format.plane_size(p);
        for y in 0..oh {
            let from: Vec<f32> = frame.row::<f32>(p, y * h / oh).to_vec();
            for (x, v) in out.row_mut::<f32>(p, y).iter_mut().enumerate() {
                *v = from[x * w / ow];
            }
        }
    }
    out
}
