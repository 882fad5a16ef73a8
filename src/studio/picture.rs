//! Finished frames as the page shows them: 8-bit RGB.
//!
//! The conversion is that of `grainfield frame FRAME.y4m 0 OUT.png -f dither=mode=none --pix-fmt gbrp`: the frame that
//! a render writes, converted to 8-bit RGB and rounded to the nearest value. Differences and gains are computed in 16
//! bits before the conversion. A reduced picture is the rounded mean of the area that each pixel covers; filters
//! always process the whole frame in full size.

use super::fault::Fault;
use super::pixels::{Rgba, cropped, span};
use super::shrink::{banded, reduced, shrunk};
use grainfield_filters::filter::convert::assumed_matrix;
use grainfield_filters::frame::{Alpha, Depth, Format, Frame, Sample};
use grainfield_render::session::converted;

/// The part of a frame that is shown, and how it is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// Left, top, width and height of the part that is shown; `None` is the whole frame.
    pub(super) region: Option<[usize; 4]>,
    /// Width and height to which it is reduced.
    pub(super) size: Option<[usize; 2]>,
    /// The factor of brightness, or of the difference.
    pub(super) gain: f64,
    /// Brightness is raised to the power of 1 over this, after the gain.
    pub(super) gamma: f64,
    /// The number of a plane that is shown as grey.
    pub(super) plane: Option<usize>,
    /// What is behind a picture with alpha; `None` ignores alpha.
    pub(super) over: Option<Board>,
    /// Shows a difference from 0 on, without gain: 0 is black.
    pub(super) matte: bool,
    /// Marks samples at the limits of their range.
    pub(super) clipping: bool,
    /// Shows one field, each of its lines twice.
    pub(super) field: Option<Field>,
    /// Reduces before the conversion where that is possible: several times as fast, and wrong by up to three codes, more where
    /// colours are out of gamut. For pictures that are seen for a moment.
    pub(super) quick: bool,
}

/// What is seen where a picture is transparent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Board {
    /// Black.
    Black,
    /// Medium grey.
    Grey,
    /// Squares of two greys, of eight samples.
    Checks,
}

/// Every second line of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Field {
    /// The first line and every second after it.
    Top,
    /// The second line and every second after it.
    Bottom,
}

impl Default for View {
    fn default() -> View {
        View {
            region: None,
            size: None,
            gain: 1.0,
            gamma: 1.0,
            plane: None,
            over: None,
            matte: false,
            clipping: false,
            field: None,
            quick: false,
        }
    }
}

/// The region of a view with its margin, and where the view's region is in it; `None` if that is no small part. The cost
/// of a conversion then depends on the region instead of the frame.
fn surroundings(frame: &Frame, view: &View) -> Option<(Frame, View)> {
    let [x, y, width, height] = view.region?;
    let mut format = *frame.format();
    let ((left, columns), (top, rows)) = (span(x, width, format.width), span(y, height, format.height));
    if 2 * columns * rows > format.width as usize * format.height as usize {
        return None;
    }
    // By the height of the whole frame.
    format.matrix = assumed_matrix(&format).0;
    (format.width, format.height) = (u32::try_from(columns).ok()?, u32::try_from(rows).ok()?);
    let part = cropped(frame, format, left, top);
    Some((part, View { region: Some([x - left, y - top, width, height]), ..*view }))
}

/// Converts a frame for display.
pub(super) fn show(frame: &Frame, view: &View) -> Result<Rgba, Fault> {
    if view.quick
        && let View {
            region: None,
            size: Some(size),
            plane: None,
            over: None,
            clipping: false,
            field: None,
            ..
        } = *view
    {
        return show(&shrunk(frame, size), &View { size: None, quick: false, ..*view });
    }
    if let View {
        region: None, size: Some(size), plane: None, over: None, clipping: false, field: None, ..
    } = *view
        && view.gain == 1.0
        && view.gamma == 1.0
    {
        return banded(frame, size);
    }
    let part = surroundings(frame, view);
    let corner = |view: &View| view.region.map_or([0, 0], |[x, y, ..]| [x, y]);
    let shift = part.as_ref().map_or([0, 0], |(_, part)| [0, 1].map(|i| corner(view)[i] - corner(part)[i]));
    let (frame, view) = part.as_ref().map_or((frame, view), |(frame, view)| (frame, view));
    // The displayed value of a fraction of full scale.
    let tone = |v: f64| {
        let v = v * view.gain;
        if view.gamma == 1.0 { v } else { v.max(0.0).powf(1.0 / view.gamma) }
    };
    let mut whole = match view.plane {
        Some(p) => plane(frame, p, tone)?,
        None if view.gain == 1.0 && view.gamma == 1.0 => pack(&converted(frame, "gbrp")?, |v: u8| v),
        None => {
            let table: Vec<u8> = (0..=u16::MAX).map(|v| byte(255.0 * tone(f64::from(v) / 65535.0))).collect();
            pack(&converted(frame, "gbrp16")?, |v: u16| table[usize::from(v)])
        }
    };
    if let (None, Some(board)) = (view.plane, view.over) {
        put_over(frame, board, shift, &mut whole);
    }
    if view.clipping {
        let rgb = if view.plane.is_none() { Some(converted(frame, "gbrp16")?) } else { None };
        mark_clipping(frame, rgb.as_ref(), &mut whole);
    }
    Ok(finished(whole, view))
}

/// The difference of `b` from `a`: 128 plus the difference times the gain.
pub(super) fn difference(a: &Frame, b: &Frame, view: &View) -> Result<Rgba, Fault> {
    let shape = |f: &Format| (f.width, f.height, f.family, f.depth, f.subsampling);
    if shape(a.format()) != shape(b.format()) {
        return Err(Fault::new("there is no difference to show: the filters change the size or the format"));
    }
    let parts = surroundings(a, view).zip(surroundings(b, view));
    let (a, b, view) = parts.as_ref().map_or((a, b, view), |((a, view), (b, _))| (a, b, view));
    let whole = match view.plane {
        Some(p) => {
            let (top, sampling) = plane_facts(a, p)?;
            let mut out = Rgba::new(a.format().width as usize, a.format().height as usize);
            each(&mut out, |x, y| {
                let (x, y) = (x >> sampling.0, y >> sampling.1);
                let by = code(b, p, x, y) - code(a, p, x, y);
                [byte(128.0 + by * view.gain * 255.0 / top); 3]
            });
            out
        }
        None => {
            let (a, b) = (converted(a, "gbrp16")?, converted(b, "gbrp16")?);
            let mut out = Rgba::new(a.format().width as usize, a.format().height as usize);
            let width = out.width;
            let (zero, gain) = if view.matte { (0.0, 1.0) } else { (128.0, view.gain) };
            for (y, to) in out.bytes.chunks_exact_mut(4 * width).enumerate() {
                for (p, c) in PLACES {
                    let both = a.row::<u16>(p, y).iter().zip(b.row::<u16>(p, y));
                    for (to, (a, b)) in to.chunks_exact_mut(4).zip(both) {
                        to[c] = byte(zero + (f64::from(*b) - f64::from(*a)) * gain / 257.0);
                    }
                }
            }
            out
        }
    };
    Ok(finished(whole, view))
}

/// Applies the field, region and size of the view.
fn finished(mut whole: Rgba, view: &View) -> Rgba {
    if let Some(field) = view.field {
        let row = 4 * whole.width;
        let bottom = usize::from(field == Field::Bottom);
        for y in 0..whole.height {
            // The bottom field of an odd height has one line less.
            let from = (y / 2 * 2 + bottom).min(whole.height - 1);
            whole.bytes.copy_within(from * row..(from + 1) * row, y * row);
        }
    }
    reduced(cut(whole, view.region), view.size)
}

/// The code of a sample, or the value of a float sample.
pub(super) fn code(frame: &Frame, p: usize, x: usize, y: usize) -> f64 {
    match frame.format().depth.bytes() {
        1 => f64::from(frame.row::<u8>(p, y)[x]),
        2 => f64::from(frame.row::<u16>(p, y)[x]),
        _ => f64::from(frame.row::<f32>(p, y)[x]),
    }
}

fn byte(v: f64) -> u8 {
    // The cast saturates, and turns NaN into black.
    (v + 0.5).floor() as u8
}

/// The code of full scale.
pub(super) fn full_scale(frame: &Frame) -> f64 {
    match frame.format().depth {
        Depth::Bits(bits) => f64::from((1u32 << bits) - 1),
        Depth::Float => 1.0,
    }
}

/// Full scale of a plane, and its subsampling.
fn plane_facts(frame: &Frame, p: usize) -> Result<(f64, (u8, u8)), Fault> {
    let format = frame.format();
    if p >= format.planes() {
        return Err(Fault::new(format!("{} has no plane {p}", format.name())));
    }
    Ok((full_scale(frame), format.plane_subsampling(p)))
}

/// One plane as grey: the code as a fraction of full scale.
fn plane(frame: &Frame, p: usize, tone: impl Fn(f64) -> f64) -> Result<Rgba, Fault> {
    let (top, sampling) = plane_facts(frame, p)?;
    // Chroma of float pictures is centred at 0.
    let middle = if frame.format().depth == Depth::Float && frame.format().is_chroma(p) { 0.5 } else { 0.0 };
    let mut out = Rgba::new(frame.format().width as usize, frame.format().height as usize);
    each(&mut out, |x, y| {
        let v = code(frame, p, x >> sampling.0, y >> sampling.1) + middle;
        [byte(255.0 * tone(v / top)); 3]
    });
    Ok(out)
}

fn each(out: &mut Rgba, pixel: impl Fn(usize, usize) -> [u8; 3]) {
    let width = out.width;
    for (y, row) in out.bytes.chunks_exact_mut(4 * width).enumerate() {
        for (x, to) in row.chunks_exact_mut(4).enumerate() {
            to[..3].copy_from_slice(&pixel(x, y));
        }
    }
}

/// For planes G, B and R: the plane, and the index of its byte in a pixel.
const PLACES: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 0)];

/// Planes G, B and R as pixels.
fn pack<T: Sample>(rgb: &Frame, byte: impl Fn(T) -> u8) -> Rgba {
    let (width, height) = (rgb.format().width as usize, rgb.format().height as usize);
    let mut bytes = vec![0; 4 * width * height];
    for (y, to) in bytes.chunks_exact_mut(4 * width).enumerate() {
        let [g, b, r] = [0, 1, 2].map(|p| rgb.row::<T>(p, y));
        for (((to, r), g), b) in to.chunks_exact_mut(4).zip(r).zip(g).zip(b) {
            to.copy_from_slice(&[byte(*r), byte(*g), byte(*b), 255]);
        }
    }
    Rgba { width, height, bytes }
}

/// Puts a picture with alpha over a board, by the displayed values, as most programs do; `shift` is the place of the frame
/// in the whole picture.
fn put_over(frame: &Frame, board: Board, shift: [usize; 2], out: &mut Rgba) {
    let Some(alpha) = frame.format().alpha_plane() else { return };
    let (width, top) = (out.width, full_scale(frame));
    let share = if frame.format().alpha == Alpha::Premultiplied { |_| 1.0 } else { |a: f64| a };
    for (y, row) in out.bytes.chunks_exact_mut(4 * width).enumerate() {
        for (x, to) in row.chunks_exact_mut(4).enumerate() {
            let a = (code(frame, alpha, x, y) / top).clamp(0.0, 1.0);
            let behind = match board {
                Board::Black => 0.0,
                Board::Grey => 128.0,
                Board::Checks => [96.0, 160.0][((x + shift[0]) / 8 + (y + shift[1]) / 8) % 2],
            };
            to[..3].iter_mut().for_each(|v| *v = byte(f64::from(*v) * share(a) + behind * (1.0 - a)));
        }
    }
}

/// Draws stripes over pixels that have a sample at or beyond black or white (the limits of the frame's range), or, of
/// their conversion to `rgb`, one that the conversion may have cut off there: red above white, else blue.
fn mark_clipping(frame: &Frame, rgb: Option<&Frame>, out: &mut Rgba) {
    let format = *frame.format();
    let width = out.width;
    let mut tests: Vec<(&Frame, usize, f64, f64)> = Vec::new();
    for p in format.color_planes().iter().filter(|&p| !format.is_chroma(p)) {
        let (low, high) =
            format.legal(p).map_or((0.0, full_scale(frame)), |(low, high)| (low.into(), high.into()));
        tests.push((frame, p, low, high));
    }
    tests.extend(rgb.iter().flat_map(|rgb| (0..3).map(|p| (*rgb, p, 0.0, 65535.0))));
    for y in 0..out.height {
        for x in (0..width).filter(|x| (x + y) / 4 % 2 == 0) {
            let is = |beyond: fn(f64, f64, f64) -> bool| {
                tests.iter().any(|&(frame, p, low, high)| beyond(code(frame, p, x, y), low, high))
            };
            let colour = match () {
                () if is(|v, _, high| v >= high) => [255, 40, 40],
                () if is(|v, low, _| v <= low) => [40, 80, 255],
                () => continue,
            };
            out.bytes[4 * (y * width + x)..][..3].copy_from_slice(&colour);
        }
    }
}

/// A region of the picture, limited to the picture.
fn cut(whole: Rgba, region: Option<[usize; 4]>) -> Rgba {
    let Some([x, y, width, height]) = region else { return whole };
    let (x, y) = (x.min(whole.width - 1), y.min(whole.height - 1));
    let (width, height) = (width.clamp(1, whole.width - x), height.clamp(1, whole.height - y));
    let rows = whole.bytes.chunks_exact(4 * whole.width).skip(y).take(height);
    let mut bytes = Vec::with_capacity(4 * width * height);
    rows.for_each(|row| bytes.extend_from_slice(&row[4 * x..4 * (x + width)]));
    Rgba { width, height, bytes }
}

#[cfg(test)]
mod tests {
    use super::super::pixels::MARGIN;
    use super::*;
    use grainfield_filters::frame::{ColorRange, Family};

    /// A region is what it is in the whole picture, and no more than its surroundings is converted. The whole is high
    /// enough for another matrix than its parts would have.
    #[test]
    fn regions_are_made_of_their_surroundings() {
        for name in ["yuv420p", "yuv422p10", "yuv411p", "yuv410p", "gbrp16", "grayf32", "yuva444p"] {
            let Ok(format) = Format::from_name(name, 97, 603) else { panic!("{name}") };
            let (mut a, mut b) = (Frame::new(format), Frame::new(format));
            for (frame, by) in [(&mut a, 7919u32), (&mut b, 104_729)] {
                for p in 0..format.planes() {
                    for y in 0..format.plane_size(p).1 {
                        let codes =
                            (0u32..).map(|x| (x * x + 31 * y as u32 + by).wrapping_mul(2_654_435_761) >> 9);
                        match format.depth {
                            Depth::Bits(8) => frame
                                .row_mut::<u8>(p, y)
                                .iter_mut()
                                .zip(codes)
                                .for_each(|(s, c)| *s = c as u8),
                            Depth::Bits(bits) => frame
                                .row_mut::<u16>(p, y)
                                .iter_mut()
                                .zip(codes)
                                .for_each(|(s, c)| *s = (c & ((1 << bits) - 1)) as u16),
                            Depth::Float => frame
                                .row_mut::<f32>(p, y)
                                .iter_mut()
                                .zip(codes)
                                .for_each(|(s, c)| *s = (c & 255) as f32 / 255.0),
                        }
                    }
                }
            }
            for region in [[0, 0, 40, 30], [41, 77, 50, 41], [60, 580, 90, 90], [7, 590, 1, 1]] {
                for view in [
                    View::default(),
                    View { gain: 2.0, ..View::default() },
                    View { over: Some(Board::Checks), ..View::default() },
                    View { plane: Some(0), clipping: true, ..View::default() },
                    View { field: Some(Field::Bottom), clipping: true, ..View::default() },
                ] {
                    let part = View { region: Some(region), ..view };
                    let (small, _) = surroundings(&a, &part).unwrap();
                    assert!(small.format().width <= 50 + 2 * MARGIN as u32 + 16, "{name} {region:?}");
                    let whole = cut(show(&a, &view).unwrap(), Some(region));
                    assert!(show(&a, &part).unwrap() == whole, "{name} {part:?}");
                    let whole = cut(difference(&a, &b, &view).unwrap(), Some(region));
                    assert!(difference(&a, &b, &part).unwrap() == whole, "difference, {name} {part:?}");
                }
            }
        }
    }

    #[test]
    fn parts_are_cut_out_and_never_beyond() {
        let mut from = Rgba::new(7, 5);
        each(&mut from, |x, y| [(x * 37 + y * 11) as u8, (x * 5) as u8, (y * 91) as u8]);
        let part = cut(from.clone(), Some([5, 3, 9, 1]));
        assert_eq!((part.width, part.height), (2, 1));
        assert_eq!(part.bytes[..], from.bytes[4 * (3 * 7 + 5)..4 * (4 * 7)]);
    }

    /// Colours that Y, U and V can hold, and red, green and blue cannot.
    #[test]
    fn what_the_conversion_clips_is_marked() {
        let Ok(format) = Format::from_name("yuv444p", 8, 8) else { panic!() };
        let shown = |codes: [u8; 3], plane| {
            let mut frame = Frame::new(format);
            for (p, v) in codes.into_iter().enumerate() {
                (0..8).for_each(|y| frame.row_mut::<u8>(p, y).fill(v));
            }
            let shown = show(&frame, &View { clipping: true, plane, ..View::default() }).unwrap();
            [shown.bytes[0], shown.bytes[1], shown.bytes[2]]
        };
        assert_eq!(shown([120, 110, 240], None), [255, 40, 40], "red above white");
        assert_eq!(shown([120, 30, 128], None), [40, 80, 255], "blue below black");
        assert_eq!(shown([235, 128, 128], None), [255, 40, 40]);
        assert_eq!(shown([16, 128, 128], None), [40, 80, 255]);
        assert_eq!(shown([120, 110, 240], Some(0)), [120; 3], "the plane alone has room");
        let plain = shown([120, 128, 128], None);
        assert!(plain[0] == plain[1] && plain[1] == plain[2], "{plain:?}");
    }

    #[test]
    fn differences_of_ten_bits_are_seen() {
        let format = Format::new(2, 1, Family::Gray, Depth::Bits(10), (0, 0));
        let (mut a, mut b) = (Frame::new(format), Frame::new(format));
        a.row_mut::<u16>(0, 0).copy_from_slice(&[500, 500]);
        b.row_mut::<u16>(0, 0).copy_from_slice(&[500, 501]);
        let view = View { gain: 16.0, plane: Some(0), ..View::default() };
        let shown = difference(&a, &b, &view).unwrap();
        // 16 codes of 1023 are 3.99 of 255.
        assert_eq!((shown.bytes[0], shown.bytes[4]), (128, 132));
    }

    /// The quick way is the exact one within three codes, where no colour is out of gamut.
    #[test]
    fn reducing_first_gives_nearly_the_same() {
        for name in ["yuv420p", "yuv422p10", "yuv411p", "gbrp", "gbrpf32", "gray16"] {
            let Ok(format) = Format::from_name(name, 93, 61) else { panic!("{name}") };
            let range = if format.family == Family::Yuv { ColorRange::Limited } else { ColorRange::Full };
            for range in [range, ColorRange::Full] {
                let mut frame = Frame::new(Format { range, ..format });
                for p in 0..format.planes() {
                    let (sx, sy) = format.plane_subsampling(p);
                    let value =
                        |x: usize, y: usize| 0.4 + 0.1 * ((x << sx) as f64 / 93.0 - (y << sy) as f64 / 61.0);
                    for y in 0..format.plane_size(p).1 {
                        match format.depth {
                            Depth::Bits(8) => (0..)
                                .zip(frame.row_mut::<u8>(p, y))
                                .for_each(|(x, s)| *s = (255.0 * value(x, y)) as u8),
                            Depth::Bits(bits) => (0..)
                                .zip(frame.row_mut::<u16>(p, y))
                                .for_each(|(x, s)| *s = (f64::from((1u32 << bits) - 1) * value(x, y)) as u16),
                            Depth::Float => (0..)
                                .zip(frame.row_mut::<f32>(p, y))
                                .for_each(|(x, s)| *s = value(x, y) as f32),
                        }
                    }
                }
                for size in [[40, 30], [80, 50], [7, 5], [1, 1]] {
                    let view = View { size: Some(size), ..View::default() };
                    let exact = show(&frame, &view).unwrap();
                    let quick = show(&frame, &View { quick: true, ..view }).unwrap();
                    assert_eq!((exact.width, exact.height), (quick.width, quick.height));
                    let most = exact.bytes.iter().zip(&quick.bytes).map(|(a, b)| a.abs_diff(*b)).max();
                    assert!(most <= Some(3), "{name} {range:?} {size:?}: {most:?}");
                }
            }
        }
    }
}
