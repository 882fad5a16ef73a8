//! Scene cuts: frames at which the picture changes abruptly.

use super::fault::Fault;
use super::picture::{code, full_scale};
use grainfield_filters::frame::Frame;
use grainfield_filters::recipe::Recipe;
use grainfield_render::session::{Cancel, Clip};

/// The numbers of columns and rows of cells whose means are compared: motion within cells, noise and grain
/// have little effect.
const CELLS: (usize, usize) = (32, 18);
/// At a cut, the means change by at least this fraction of full scale, summed over the planes...
const LEAST: f64 = 0.07;
/// ...and by at least this multiple of the change of the frame before: in a fast pan every frame changes a
/// lot.
const TIMES: f64 = 2.5;
/// The number of frames in a block of the backward search, as sources decode forward.
const BLOCK: i64 = 48;

/// The first frame of the next scene after `from`, or, backward, of the last scene that begins before it.
pub(super) fn find(clip: &Clip, from: i64, back: bool, cancel: &Cancel) -> Result<Option<i64>, Fault> {
    let first = clip.info().first;
    if !back {
        let mut cuts = Cuts::new(clip, from, cancel)?;
        while cuts.next < clip.info().last.unwrap_or(i64::MAX) {
            if cuts.step()? {
                return Ok(Some(cuts.next));
            }
        }
        return Ok(None);
    }
    let mut end = from;
    while end > first {
        let start = (end - BLOCK).max(first);
        // One frame more gives the amount of change before the block.
        let mut cuts = Cuts::new(clip, (start - 1).max(first), cancel)?;
        let mut found = None;
        while cuts.next + 1 < end {
            let is_cut = cuts.step()?;
            if is_cut && cuts.next > start {
                found = Some(cuts.next);
            }
        }
        if found.is_some() {
            return Ok(found);
        }
        // The cut at `end - 1` has been searched for, the one at `start` has not.
        end = if start == first { first } else { start + 1 };
    }
    Ok((from > first).then_some(first))
}

/// Searches frame by frame.
struct Cuts<'a> {
    clip: &'a Clip,
    cancel: &'a Cancel,
    /// The frame that was measured last.
    next: i64,
    means: Vec<f64>,
    change: Option<f64>,
}

impl Cuts<'_> {
    fn new<'a>(clip: &'a Clip, from: i64, cancel: &'a Cancel) -> Result<Cuts<'a>, Fault> {
        let mut cuts = Cuts { clip, cancel, next: from, means: Vec::new(), change: None };
        cuts.means = cuts.look()?;
        Ok(cuts)
    }

    fn look(&self) -> Result<Vec<f64>, Fault> {
        Ok(means(&self.clip.frame_cancellable(self.next, &Recipe::default(), self.cancel)?.frame))
    }

    /// Whether a scene begins with the next frame.
    fn step(&mut self) -> Result<bool, Fault> {
        self.next += 1;
        let means = self.look()?;
        let cells = (CELLS.0 * CELLS.1) as f64;
        let change = means.iter().zip(&self.means).map(|(a, b)| (a - b).abs()).sum::<f64>() / cells;
        let usual = self.change.replace(change).unwrap_or(0.0);
        self.means = means;
        Ok(change >= LEAST && change >= TIMES * usual)
    }
}

/// The mean of each cell of each plane as a fraction of full scale, over at most 8 by 8 of its samples.
fn means(frame: &Frame) -> Vec<f64> {
    let format = frame.format();
    let mut all = Vec::with_capacity(3 * CELLS.0 * CELLS.1);
    for p in format.color_planes().iter() {
        let (sx, sy) = format.plane_subsampling(p);
        let top = full_scale(frame);
        let size = |n: u32, by: u8| (n as usize).div_ceil(1 << by);
        let (width, height) = (size(format.width, sx), size(format.height, sy));
        for j in 0..CELLS.1 {
            for i in 0..CELLS.0 {
                let places = |n: usize, cell: usize, cells: usize| {
                    let (from, to) = (cell * n / cells, ((cell + 1) * n / cells).max(cell * n / cells + 1));
                    (from..to.min(n)).step_by(((to - from) / 8).max(1))
                };
                let (mut sum, mut count) = (0.0, 0.0);
                for y in places(height, j, CELLS.1) {
                    for x in places(width, i, CELLS.0) {
                        sum += code(frame, p, x, y);
                        count += 1.0;
                    }
                }
                all.push(sum / f64::max(count, 1.0) / top);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_found_both_ways() {
        let folder = tempfile::tempdir().unwrap();
        // Scenes of 20, 60 and 10 frames: three levels, each with a slow fade.
        let mut bytes = b"YUV4MPEG2 W40 H30 F24:1 Ip C420jpeg\n".to_vec();
        for n in 0..90u8 {
            let level = match n {
                0..20 => 40 + n,
                20..80 => 120 + n / 4,
                _ => 60,
            };
            bytes.extend_from_slice(b"FRAME\n");
            bytes.extend((0..1200usize).map(|i| level.wrapping_add((i % 7) as u8)));
            bytes.extend([128; 600]);
        }
        let path = folder.path().join("cuts.y4m");
        std::fs::write(&path, bytes).unwrap();
        let clip = grainfield_render::session::Clip::open(&path).unwrap();
        let cancel = Cancel::new();
        let look = |from, back| find(&clip, from, back, &cancel).unwrap();
        assert_eq!([0, 19, 20, 79].map(|n| look(n, false)), [Some(20), Some(20), Some(80), Some(80)]);
        assert_eq!((look(80, false), look(89, false)), (None, None));
        assert_eq!([89, 81, 80, 21, 20, 1].map(|n| look(n, true)), [80, 80, 20, 20, 0, 0].map(Some));
        assert_eq!(look(0, true), None);
        cancel.cancel();
        assert!(find(&clip, 0, false, &cancel).is_err());
    }
}
