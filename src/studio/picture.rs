//! Finished frames as the page shows them: 8-bit RGB.
//!
//! The conversion is that of `grainfield frame FRAME.y4m 0 OUT.png -f dither=mode=none --pix-fmt gbrp`: the frame that
//! a render writes, converted to 8-bit RGB and rounded to the nearest value. Differences and gains are computed in 16
//! bits before the conversion. A reduced picture is the rounded mean of the area that each pixel covers; filters
//! always process the whole frame in full size.

use super::fault::Fault;
use grainfield_filters::filter::convert::assumed_matrix;
use grainfield_filters::frame::{Depth, Family, Format, Frame, Sample};
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
    /// Marks samples at the limits of their range.
    pub(super) clipping: bool,
    /// Shows one field, each of its lines twice.
    pub(super) field: Option<Field>,
    /// Reduces before the conversion where that is possible: several times as fast, and wrong by up to three codes, more where
    /// colours are out of gamut. For pictures that are seen for a moment.
    pub(super) quick: bool,
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
            clipping: false,
            field: None,
            quick: false,
        }
    }
}

/// Pixels of four bytes: red, green, blue, 255.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rgba {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) bytes: Vec<u8>,
}

impl Rgba {
    pub(super) fn new(width: usize, height: usize) -> Rgba {
        Rgba { width, height, bytes: [0, 0, 0, 255].repeat(width * height) }
    }
}

/// Samples around a region that its conversion may use: chroma is interpolated from neighbours.
const MARGIN: usize = 16;

/// The region of a view with its margin, and where the view's region is in it; `None` if that is no small part. The cost
/// of a conversion then depends on the region instead of the frame.
fn surroundings(frame: &Frame, view: &View) -> Option<(Frame, View)> {
    let [x, y, width, height] = view.region?;
    let mut format = *frame.format();
    let span = |at: usize, size: usize, all: u32| {
        let all = all as usize;
        let at = at.min(all - 1);
        // Multiples of 8 keep the places of chroma, fields and stripes.
        let from = at.saturating_sub(MARGIN) / 8 * 8;
        (from, (at + size.clamp(1, all - at) + MARGIN).next_multiple_of(8).min(all) - from)
    };
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

/// The part of a frame that begins at a sample of every plane and has the size of `format`.
pub(super) fn cropped(frame: &Frame, format: Format, left: usize, top: usize) -> Frame {
    let mut part = Frame::new(format);
    for p in 0..format.planes() {
        let (sx, sy) = format.plane_subsampling(p);
        let bytes = format.depth.bytes();
        for row in 0..format.plane_size(p).1 {
            let from = &frame.plane(p).row_bytes((top >> sy) + row)[(left >> sx) * bytes..];
            let to = part.row_bytes_mut(p, row);
            to.copy_from_slice(&from[..to.len()]);
        }
    }
    part
}

/// Converts a frame for display.
pub(super) fn show(frame: &Frame, view: &View) -> Result<Rgba, Fault> {
    if view.quick
        && let View { region: None, size: Some(size), plane: None, clipping: false, field: None, .. } = *view
    {
        return show(&shrunk(frame, size), &View { size: None, quick: false, ..*view });
    }
    let part = surroundings(frame, view);
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
    if view.clipping {
        mark_clipping(frame, &mut whole);
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
            for (y, to) in out.bytes.chunks_exact_mut(4 * width).enumerate() {
                for (p, c) in PLACES {
                    let both = a.row::<u16>(p, y).iter().zip(b.row::<u16>(p, y));
                    for (to, (a, b)) in to.chunks_exact_mut(4).zip(both) {
                        to[c] = byte(128.0 + (f64::from(*b) - f64::from(*a)) * view.gain / 257.0);
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

/// The names of a frame's planes, in order.
pub(super) fn plane_names(format: &Format) -> &'static [&'static str] {
    let all: &[&str] = match format.family {
        Family::Gray => &["Y", "A"],
        Family::Yuv if format.is_rgb() => &["G", "B", "R", "A"],
        Family::Yuv => &["Y", "U", "V", "A"],
        Family::Rgb => &["G", "B", "R", "A"],
    };
    &all[..format.planes()]
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

/// Draws stripes over pixels that have a sample at or beyond black or white (the limits of the frame's
/// range).
fn mark_clipping(frame: &Frame, out: &mut Rgba) {
    let format = *frame.format();
    let (width, planes) = (out.width, format.color_planes());
    let ends = |p: usize| {
        format.legal(p).map_or((0.0, full_scale(frame)), |(low, high)| (f64::from(low), f64::from(high)))
    };
    for p in planes.iter().filter(|&p| !format.is_chroma(p)) {
        let (low, high) = ends(p);
        for y in 0..out.height {
            for x in 0..width {
                let v = code(frame, p, x, y);
                let stripe = (x + y) / 4 % 2 == 0;
                if stripe && (v <= low || v >= high) {
                    let colour = if v <= low { [40, 80, 255] } else { [255, 40, 40] };
                    out.bytes[4 * (y * width + x)..][..3].copy_from_slice(&colour);
                }
            }
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

/// Reduces by the mean of the area that each pixel covers, computed exactly and rounded half up; never
/// enlarges.
fn reduced(from: Rgba, size: Option<[usize; 2]>) -> Rgba {
    let Some([width, height]) = size else { return from };
    let (width, height) = (width.clamp(1, from.width), height.clamp(1, from.height));
    if (width, height) == (from.width, from.height) {
        return from;
    }
    // Sums are whole numbers that the floats hold exactly: down at most 255 times the height of a picture, below 2^24;
    // across and down 255 times its pixels, below 2^53.
    let all = (from.width * from.height) as f64;
    let (across, down) = (weights(from.width, width), weights(from.height, height));
    let mut sums = vec![0.0f32; 4 * from.width];
    let mut bytes = vec![0; 4 * width * height];
    for ((first, parts), to) in down.iter().zip(bytes.chunks_exact_mut(4 * width)) {
        sums.fill(0.0);
        for (row, &part) in from.bytes.chunks_exact(4 * from.width).skip(*first).zip(parts) {
            sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += f32::from(*v) * part as f32);
        }
        for ((first, parts), to) in across.iter().zip(to.chunks_exact_mut(4)) {
            let mut pixel = [0.0f64; 4];
            for (sum, &part) in sums[4 * first..].chunks_exact(4).zip(parts) {
                for c in 0..4 {
                    pixel[c] += f64::from(sum[c]) * part;
                }
            }
            // A mean is at least 1 / (2 * all) away from where it is rounded to another code, which is more than the
            // division can be wrong.
            to.copy_from_slice(&pixel.map(|sum| ((2.0 * sum + all) / (2.0 * all)) as u8));
        }
    }
    Rgba { width, height, bytes }
}

/// All planes in one size, by the mean of the area that each sample covers; whole numbers become 16 bits.
fn shrunk(frame: &Frame, [width, height]: [usize; 2]) -> Frame {
    let from = *frame.format();
    let (width, height) = (width.clamp(1, from.width as usize), height.clamp(1, from.height as usize));
    let depth = if from.depth == Depth::Float { Depth::Float } else { Depth::Bits(16) };
    // By the height of the whole frame.
    let matrix = assumed_matrix(&from).0;
    let (w, h) = (width as u32, height as u32);
    let mut small = Frame::new(Format { width: w, height: h, subsampling: (0, 0), depth, matrix, ..from });
    for p in 0..from.planes() {
        let (columns, rows) = from.plane_size(p);
        let (across, down) = (weights(columns, width), weights(rows, height));
        let all = (columns * rows) as f32;
        // The middle of chroma and the ends of the range are other codes in 16 bits.
        let (scale, middle) = match from.depth {
            Depth::Bits(bits) if from.full_range() => {
                let middle = if from.is_chroma(p) { (1u32 << (bits - 1)) as f32 } else { 0.0 };
                (65535.0 / ((1u32 << bits) - 1) as f32, middle)
            }
            Depth::Bits(bits) => ((1u32 << (16 - bits)) as f32, 0.0),
            Depth::Float => (1.0, 0.0),
        };
        let mut sums = vec![0.0f32; columns];
        for (y, (first, parts)) in down.iter().enumerate() {
            sums.fill(0.0);
            for (row, &part) in (*first..).zip(parts) {
                let part = part as f32;
                match from.depth.bytes() {
                    1 => sums
                        .iter_mut()
                        .zip(frame.row::<u8>(p, row))
                        .for_each(|(s, v)| *s += f32::from(*v) * part),
                    2 => sums
                        .iter_mut()
                        .zip(frame.row::<u16>(p, row))
                        .for_each(|(s, v)| *s += f32::from(*v) * part),
                    _ => sums.iter_mut().zip(frame.row::<f32>(p, row)).for_each(|(s, v)| *s += *v * part),
                }
            }
            let means = across.iter().map(|(first, parts)| {
                sums[*first..].iter().zip(parts).fold(0.0, |sum, (v, part)| sum + v * *part as f32) / all
            });
            if depth == Depth::Float {
                small.row_mut::<f32>(p, y).iter_mut().zip(means).for_each(|(to, v)| *to = v);
            } else {
                let zero = if middle > 0.0 { 32768.5 } else { 0.5 };
                // The cast saturates.
                let code = |v: f32| ((v - middle) * scale + zero) as u16;
                small.row_mut::<u16>(p, y).iter_mut().zip(means).for_each(|(to, v)| *to = code(v));
            }
        }
    }
    small
}

/// For each of `to` samples: the first of the `from` samples that it covers, and the covered lengths of that and the
/// following ones, in units of 1/`to` of a sample.
fn weights(from: usize, to: usize) -> Vec<(usize, Vec<f64>)> {
    (0..to)
        .map(|i| {
            let (start, end) = (i * from, (i + 1) * from);
            let first = start / to;
            let last = (end - 1) / to;
            let part = |s: usize| (((s + 1) * to).min(end) - (s * to).max(start)) as f64;
            (first, (first..=last).map(part).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::frame::ColorRange;

    fn made(width: usize, height: usize) -> Rgba {
        let mut p = Rgba::new(width, height);
        each(&mut p, |x, y| [(x * 37 + y * 11) as u8, (x * 5) as u8, (y * 91) as u8]);
        p
    }

    #[test]
    fn smaller_is_the_mean_of_the_area() {
        let from = made(7, 5);
        for (width, height) in [(3, 2), (7, 1), (1, 5), (6, 4), (1, 1)] {
            let to = reduced(from.clone(), Some([width, height]));
            for y in 0..height {
                for x in 0..width {
                    for c in 0..3 {
                        // The reference: the overlap of each sample with the pixel.
                        let overlap = |s: usize, i: usize, from: usize, to: usize| {
                            let (a, b) = ((i * from) as f64 / to as f64, ((i + 1) * from) as f64 / to as f64);
                            ((s + 1) as f64).min(b) - (s as f64).max(a)
                        };
                        let mut sum = 0.0;
                        for sy in 0..5 {
                            for sx in 0..7 {
                                let w =
                                    overlap(sx, x, 7, width).max(0.0) * overlap(sy, y, 5, height).max(0.0);
                                sum += w * f64::from(from.bytes[4 * (sy * 7 + sx) + c]);
                            }
                        }
                        let mean = sum * (width * height) as f64 / 35.0;
                        let got = f64::from(to.bytes[4 * (y * width + x) + c]);
                        assert!(
                            (got - mean).abs() <= 0.5 + 1e-9,
                            "{width}x{height} at {x},{y}: {got} {mean}"
                        );
                    }
                }
            }
        }
    }

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
        let from = made(7, 5);
        let part = cut(from.clone(), Some([5, 3, 9, 1]));
        assert_eq!((part.width, part.height), (2, 1));
        assert_eq!(part.bytes[..], from.bytes[4 * (3 * 7 + 5)..4 * (4 * 7)]);
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
