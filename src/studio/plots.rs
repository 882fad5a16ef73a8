//! The measurements of `grainfield analyze` over a region of the picture.

use super::fault::Fault;
use super::pixels::cropped;
use grainfield_filters::frame::{Format, Frame};
use grainfield_filters::recipe::Recipe;
use grainfield_render::analyze::{Accumulator, Tools, plot};
use grainfield_render::session::{Cancel, Clip};

/// The largest number of frames that are measured.
pub(super) const MAX_FRAMES: i64 = 24;
/// The smallest width and height of a region.
const LEAST: usize = 32;

/// A plot of what filters add within a region (left, top, width, height) of several frames, or of the input itself if
/// there are no filters.
pub(super) fn png(
    clip: &Clip,
    recipe: &Recipe,
    first: i64,
    region: Option<[usize; 4]>,
    title: &str,
    cancel: &Cancel,
) -> Result<Vec<u8>, Fault> {
    let last = clip.info().last.unwrap_or(first).min(first + MAX_FRAMES - 1);
    let mut sums: Option<(Tools, Accumulator)> = None;
    for number in first..=last {
        let frame = part(&clip.frame_cancellable(number, recipe, cancel)?.frame, region)?;
        let clean = match recipe.steps.len() {
            0 => None,
            _ => Some(part(&clip.frame_cancellable(number, &Recipe::default(), cancel)?.frame, region)?),
        };
        let (a, b) = (frame.format(), clean.as_ref().map(Frame::format));
        if b.is_some_and(|b| {
            (a.width, a.height, a.family, a.subsampling) != (b.width, b.height, b.family, b.subsampling)
        }) {
            return Err(Fault::new(
                "the filters change the size or the format: there is no difference to measure",
            ));
        }
        let (tools, sums) = sums.get_or_insert_with(|| {
            let tools = Tools::new(a, b);
            let sums = Accumulator::new(&tools);
            (tools, sums)
        });
        sums.add(number, tools.measure(&frame, clean.as_ref()));
    }
    let (_, sums) = sums.ok_or_else(|| Fault::new("there is no frame to measure"))?;
    plot::png(&sums.report(), title).map_err(Fault::new)
}

/// A region of a frame, aligned to whole samples of every plane.
fn part(frame: &Frame, region: Option<[usize; 4]>) -> Result<Frame, Fault> {
    let Some([x, y, width, height]) = region else { return Ok(frame.clone()) };
    let from = *frame.format();
    let (all_w, all_h) = (from.width as usize, from.height as usize);
    let (x, y) =
        (x >> from.subsampling.0 << from.subsampling.0, y >> from.subsampling.1 << from.subsampling.1);
    let (width, height) = (width.min(all_w.saturating_sub(x)), height.min(all_h.saturating_sub(y)));
    if width < LEAST || height < LEAST {
        return Err(Fault::new(format!(
            "{width}x{height} is too small to measure: take at least {LEAST}x{LEAST}"
        )));
    }
    // Both fit into `u32`: they are not larger than those of the frame.
    let format = Format { width: width as u32, height: height as u32, ..from };
    Ok(cropped(frame, format, x, y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_samples_of_the_whole() {
        let clip =
            grainfield_render::session::Clip::open("pattern:zoneplate:size=97x81:frames=3:format=yuv420p10")
                .unwrap();
        let whole = clip.frame(1, &Recipe::default()).unwrap().frame;
        let cut = part(&whole, Some([11, 20, 64, 99])).unwrap();
        assert_eq!((cut.format().width, cut.format().height), (64, 61));
        assert_eq!(cut.row::<u16>(0, 3), &whole.row::<u16>(0, 23)[10..74]);
        assert_eq!(cut.row::<u16>(2, 3), &whole.row::<u16>(2, 13)[5..37]);
        assert!(part(&whole, Some([90, 0, 64, 64])).is_err());
        let look = "noise=strength=6".parse::<Recipe>().unwrap();
        let png = |region| png(&clip, &look, 0, region, "a part", &Cancel::new());
        let (a, b) = (png(None).unwrap(), png(Some([0, 0, 48, 48])).unwrap());
        assert!(a.starts_with(b"\x89PNG") && a != b);
    }
}
