//! Draws patterns in integers with single divisions, so that samples are the same everywhere.

use super::spec::{Kind, Spec};
use grainfield_filters::frame::{Depth, Family, Format, Frame, Matrix, Sample};
use grainfield_filters::ratio::Ratio;

/// The bars, left to right, as R G B: 1 is 75%.
const BARS: [[i64; 3]; 8] =
    [[1, 1, 1], [1, 1, 0], [0, 1, 1], [0, 1, 0], [1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 0, 0]];

/// The zone plate repeats after this number of frames: 2^32 / 2^27.
const PERIOD: i64 = 32;

/// A colour or grey as an exact fraction of each plane's range: luma, R, G, B and alpha 0 to 1, chroma -1/2 to 1/2.
type Colour = [(i64, i64); 4];

/// The data that are the same for all frames.
pub(super) struct Drawing {
    spec: Spec,
    /// The picture of all frames; `None` for a pattern that moves.
    still: Option<Frame>,
    /// The zone plate's phase along x and along y, in 2^-32 turns; their sum is the phase at a point.
    phases: [Vec<u32>; 2],
}

impl Drawing {
    pub(super) fn new(spec: Spec) -> Drawing {
        let moving = spec.kind == Kind::Zoneplate;
        let (w, h) = (spec.format.width, spec.format.height);
        let phases =
            if moving { [phases(w, w.max(h)), phases(h, w.max(h))] } else { [Vec::new(), Vec::new()] };
        let still = (!moving).then(|| still(&spec));
        Drawing { spec, still, phases }
    }

    /// Draws the picture of the given number.
    pub(super) fn draw(&self, number: i64, frame: &mut Frame) {
        let format = self.spec.format;
        frame.reset(format);
        let Some(still) = &self.still else { return self.zoneplate(number, frame) };
        for p in 0..format.planes() {
            let plane = still.plane(p);
            for y in plane.rows() {
                frame.row_bytes_mut(p, y).copy_from_slice(plane.row_bytes(y));
            }
        }
    }

    /// Rings: grey of sin(phase), where the phase grows with the square of the distance from the middle and
    /// reaches half a turn per sample at the ends of the longer side. The sine is an integer approximation,
    /// accurate to 0.1%; see [`sine`].
    fn zoneplate(&self, number: i64, frame: &mut Frame) {
        let format = self.spec.format;
        let shift = (number.rem_euclid(PERIOD) as u32).wrapping_mul(1 << 27);
        let [across, down] = &self.phases;
        for p in 0..format.planes() {
            if format.is_chroma(p) || format.alpha_plane() == Some(p) {
                let value = if format.is_chroma(p) { (0, 1) } else { (1, 1) };
                (0..format.plane_size(p).1).for_each(|y| fill(frame, p, y, |_| value));
                continue;
            }
            let codes = format.legal(p);
            for (y, down) in down.iter().enumerate() {
                let phase = down.wrapping_sub(shift);
                match (format.depth, codes) {
                    (Depth::Bits(8), Some((lo, hi))) => {
                        let row = frame.row_mut::<u8>(p, y).iter_mut().zip(across);
                        row.for_each(|(out, x)| *out = scale(sine(phase.wrapping_add(*x)), lo, hi) as u8);
                    }
                    (Depth::Bits(_), Some((lo, hi))) => {
                        let row = frame.row_mut::<u16>(p, y).iter_mut().zip(across);
                        row.for_each(|(out, x)| *out = scale(sine(phase.wrapping_add(*x)), lo, hi) as u16);
                    }
                    _ => {
                        let row = frame.row_mut::<f32>(p, y).iter_mut().zip(across);
                        row.for_each(|(out, x)| *out = sine(phase.wrapping_add(*x)) as f32 / 65535.0);
                    }
                }
            }
        }
    }
}

/// The phases along a side of `n` samples: (distance from the middle)^2 / (2 * longer), in 2^-32 turns.
fn phases(n: u32, longer: u32) -> Vec<u32> {
    let along = |i: u32| {
        let twice = (2 * u64::from(i) + 1).abs_diff(u64::from(n));
        // twice^2 / 4 / (2 * longer) turns; twice < 2^16, so nothing overflows 64 bits
        ((twice * twice) << 29) / u64::from(longer.max(1))
    };
    (0..n).map(|i| along(i) as u32).collect()
}

/// (1 + sin(2 pi t)) / 2 for `t` in 2^-32 turns, as 0 to 65535: a parabola for each half turn with a
/// correction.
#[inline(always)]
fn sine(t: u32) -> u32 {
    // the position in the half turn u = 0..2^15, and p = 4u(1 - u) as 0..2^15
    let u = (t >> 16) & 0x7fff;
    let p = (u * (0x8000 - u)) >> 13;
    // 0.775p + 0.225p^2
    let s = ((p * (25395 + ((7373 * p) >> 15))) >> 15).min(0x7fff);
    if t >> 31 == 0 { 0x8000 + s } else { 0x7fff - s }
}

/// Maps 0..65535 to `lo..=hi`, rounded.
#[inline(always)]
fn scale(value: u32, lo: u16, hi: u16) -> u32 {
    u32::from(lo) + ((u32::from(hi - lo)) * value + 32767) / 65535
}

/// Fills row `y` of plane `p` with `at(x)` as a fraction of the plane's range.
fn fill(frame: &mut Frame, p: usize, y: usize, at: impl Fn(usize) -> (i64, i64)) {
    let format = *frame.format();
    match format.depth {
        Depth::Bits(8) => set_row(frame, p, y, |x| code(&format, p, at(x)) as u8),
        Depth::Bits(_) => set_row(frame, p, y, |x| code(&format, p, at(x))),
        Depth::Float => set_row(frame, p, y, |x| {
            let (num, den) = at(x);
            (num as f64 / den as f64) as f32
        }),
    }
}

fn set_row<T: Sample>(frame: &mut Frame, p: usize, y: usize, at: impl Fn(usize) -> T) {
    frame.row_mut::<T>(p, y).iter_mut().enumerate().for_each(|(x, out)| *out = at(x));
}

/// The nearest code of an exact fraction of plane `p`'s range; halves are rounded up.
fn code(format: &Format, p: usize, (num, den): (i64, i64)) -> u16 {
    let Depth::Bits(bits) = format.depth else { return 0 };
    let (lo, hi) = format.legal(p).unwrap_or((0, 0));
    let (zero, span) = match format.is_chroma(p) {
        true => (1 << (bits - 1), i128::from(hi - lo)),
        false => (i128::from(lo), i128::from(hi - lo)),
    };
    let (num, den) = (i128::from(num), i128::from(den));
    let code = zero + (2 * span * num + den).div_euclid(2 * den);
    code.clamp(0, (1 << bits) - 1) as u16
}

/// Luma's weights of red and blue in ten thousandths.
fn weights(matrix: Matrix) -> (i64, i64) {
    match matrix {
        Matrix::BT709 => (2126, 722),
        Matrix::FCC => (3000, 1100),
        Matrix::SMPTE240M => (2120, 870),
        Matrix::BT2020NC => (2627, 593),
        _ => (2990, 1140),
    }
}

/// An R G B colour in quarters (0, 3, 4) in the planes of a format.
fn colour(format: &Format, [r, g, b]: [i64; 3]) -> Colour {
    let (kr, kb) = weights(format.matrix);
    let unit = 10_000;
    // luma in 1/40000
    let y = kr * r + (unit - kr - kb) * g + kb * b;
    let alpha = (1, 1);
    match format.family {
        Family::Gray => [(y, 4 * unit), alpha, alpha, alpha],
        Family::Rgb => [(g, 4), (b, 4), (r, 4), alpha],
        // (B - Y) / (2 (1 - Kb)) and (R - Y) / (2 (1 - Kr))
        Family::Yuv => {
            [(y, 4 * unit), (unit * b - y, 8 * (unit - kb)), (unit * r - y, 8 * (unit - kr)), alpha]
        }
    }
}

/// A grey in the planes of a format.
fn grey(format: &Format, level: Ratio) -> Colour {
    let level = (level.num(), level.den());
    let alpha = (1, 1);
    match format.family {
        Family::Gray => [level, alpha, alpha, alpha],
        Family::Rgb => [level, level, level, alpha],
        Family::Yuv => [level, (0, 1), (0, 1), alpha],
    }
}

/// The picture of a still pattern. A chroma sample has the colour of its first luma sample.
fn still(spec: &Spec) -> Frame {
    let format = spec.format;
    let mut frame = Frame::new(format);
    let ratio = |n: u32, d: u32| Ratio::new(n.into(), d.into()).unwrap_or(Ratio::ZERO);
    let last = spec.format.width - 1;
    let bars = BARS.map(|b| colour(&format, b.map(|c| 3 * c)));
    let level = grey(&format, spec.level);
    let (black, white) = (grey(&format, Ratio::ZERO), grey(&format, Ratio::ONE));
    let at = |x: u32, y: u32| match spec.kind {
        Kind::Bars => bars[(u64::from(x) * 8 / u64::from(format.width)) as usize],
        Kind::Ramp => grey(&format, if last == 0 { Ratio::ZERO } else { ratio(x, last) }),
        Kind::Grey | Kind::Zoneplate => level,
        Kind::Checker => [black, white][((x / spec.square + y / spec.square) % 2) as usize],
        Kind::Transparent => black,
    };
    for p in 0..format.planes() {
        let (sx, sy) = format.plane_subsampling(p);
        let alpha = format.alpha_plane() == Some(p);
        // all rows are equal, except that the checker has two kinds: draw the first of each kind
        let mut firsts = [None; 2];
        for y in 0..format.plane_size(p).1 {
            let odd = spec.kind == Kind::Checker && ((y as u32) << sy) / spec.square % 2 == 1;
            if let Some(first) = firsts[usize::from(odd)] {
                copy_row(&mut frame, p, first, y);
                continue;
            }
            firsts[usize::from(odd)] = Some(y);
            fill(&mut frame, p, y, |x| match (alpha, spec.kind) {
                (true, Kind::Transparent) => (0, 1),
                (true, _) => (1, 1),
                _ => at((x as u32) << sx, (y as u32) << sy)[p],
            });
        }
    }
    frame
}

fn copy_row(frame: &mut Frame, p: usize, from: usize, to: usize) {
    let row = frame.plane(p).row_bytes(from).to_vec();
    frame.row_bytes_mut(p, to).copy_from_slice(&row);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(text: &str, number: i64) -> Frame {
        let spec = Spec::parse(text, None).unwrap();
        let mut frame = Frame::new(spec.format);
        Drawing::new(spec).draw(number, &mut frame);
        frame
    }

    fn bars(text: &str) -> Vec<[u16; 3]> {
        let f = picture(text, 0);
        let get = |p: usize, i: usize| {
            let x = (2 * i + 1) * f.format().plane_size(p).0 / 16;
            match f.format().depth {
                Depth::Bits(8) => f.row::<u8>(p, 1)[x].into(),
                _ => f.row::<u16>(p, 1)[x],
            }
        };
        (0..8).map(|i| [0, 1, 2].map(|p| get(p, i))).collect()
    }

    #[test]
    fn bars_have_the_published_codes() {
        // the common tables of 75% bars in ITU-R BT.801 and BT.709
        let sd = [
            [180, 128, 128],
            [162, 44, 142],
            [131, 156, 44],
            [112, 72, 58],
            [84, 184, 198],
            [65, 100, 212],
            [35, 212, 114],
            [16, 128, 128],
        ];
        assert_eq!(bars("bars:size=720x576"), sd);
        let hd = [
            [180, 128, 128],
            [168, 44, 136],
            [145, 147, 44],
            [133, 63, 52],
            [63, 193, 204],
            [51, 109, 212],
            [28, 212, 120],
            [16, 128, 128],
        ];
        assert_eq!(bars("bars:format=yuv422p"), hd);
        let hd10 = bars("bars:format=yuv422p10");
        assert_eq!((hd10[0], hd10[1]), ([721, 512, 512], [674, 176, 543]));
        let rgb = bars("bars:format=gbrp");
        assert_eq!((rgb[0], rgb[1], rgb[5]), ([191; 3], [191, 0, 191], [0, 0, 191]));
    }

    #[test]
    fn ramps_reach_both_ends_and_never_fall() {
        for (format, lo, hi) in [
            ("gray16:range=full", 0, 65535),
            ("gray16", 16 << 8, 235 << 8),
            ("yuv420p10", 64, 940),
            ("gbrp12", 0, 4095),
            ("yuv444p16:range=full", 0, 65535),
        ] {
            let f = picture(&format!("ramp:size=3000x3:format={format}"), 5);
            let row = f.row::<u16>(0, 2);
            assert_eq!((row[0], row[2999]), (lo, hi), "{format}");
            assert!(row.is_sorted());
            let exact = |x: usize| f64::from(lo) + f64::from(hi - lo) * x as f64 / 2999.0;
            assert!(row.iter().enumerate().all(|(x, &v)| (f64::from(v) - exact(x)).abs() <= 0.5));
        }
        let f = picture("ramp:size=5x1:format=gbrpf32", 0);
        assert_eq!(f.row::<f32>(2, 0), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(picture("ramp:size=1x1:format=gray", 0).row::<u8>(0, 0), [16]);
    }

    #[test]
    fn greys_checkers_and_nothing() {
        let f = picture("grey:size=7x5:format=yuva420p10:level=1", 3);
        assert_eq!((f.row::<u16>(0, 4), f.row::<u16>(1, 2)), (&[940; 7][..], &[512; 4][..]));
        assert_eq!(f.row::<u16>(3, 4), [1023; 7]);
        assert_eq!(picture("grey:size=1x1:format=grayf32:level=1/4", 0).row::<f32>(0, 0), [0.25]);
        let f = picture("checker:size=4x4:square=2:format=ya8:range=full", 0);
        assert_eq!((f.row::<u8>(0, 1), f.row::<u8>(0, 2)), (&[0, 0, 255, 255][..], &[255, 255, 0, 0][..]));
        assert_eq!(f.row::<u8>(1, 3), [255; 4]);
        let f = picture("transparent:size=3x3", 0);
        f.for_each_row(|row| assert!(row.iter().all(|&b| b == 0)));
        let f = picture("transparent:size=2x2:format=yuva444p", 0);
        assert_eq!([0, 1, 2, 3].map(|p| f.row::<u8>(p, 1)[1]), [16, 128, 128, 0]);
    }

    #[test]
    fn the_sine_is_near_a_sine() {
        let mut worst = 0f64;
        for i in 0..4096u32 {
            let exact = 0.5 + 0.5 * (std::f64::consts::TAU * f64::from(i) / 4096.0).sin();
            worst = worst.max((f64::from(sine(i << 20)) / 65535.0 - exact).abs());
        }
        assert!(worst < 0.001, "{worst}");
    }

    #[test]
    fn zone_plates_move_and_come_back() {
        for format in ["yuv420p", "gray10", "gbrpf32", "yuva444p16", "ya16"] {
            let of = |n| picture(&format!("zoneplate:size=67x35:format={format}"), n);
            assert_eq!(of(0), of(PERIOD));
            assert_eq!(of(3), of(3 + PERIOD * (i64::MAX / PERIOD - 1)));
            assert_ne!(of(0), of(1));
        }
        let f = picture("zoneplate:size=512x256:format=gray", 0);
        let row = f.row::<u8>(0, 128);
        let (lo, hi) = (row.iter().min().unwrap(), row.iter().max().unwrap());
        assert!(*lo <= 17 && *hi >= 234 && *lo >= 16 && *hi <= 235);
        // the middle is smooth, the ends alternate
        assert!(row[255].abs_diff(row[257]) < 4 && row[0].abs_diff(row[1]) > 100);
        // symmetric about both axes
        assert!(row.iter().eq(row.iter().rev()));
        assert_eq!(f.row::<u8>(0, 0), f.row::<u8>(0, 255));
    }

    #[test]
    fn every_format_can_be_drawn() {
        for kind in ["bars", "ramp", "grey", "zoneplate", "checker"] {
            for chroma in
                ["yuv420p", "yuv422p", "yuv444p", "yuv440p", "yuv411p", "yuv410p", "yuva420p", "gbrp", "gray"]
            {
                for depth in ["", "9", "16", "f32"] {
                    let f = picture(&format!("{kind}:size=5x3:format={chroma}{depth}"), 1);
                    for p in 0..f.format().planes() {
                        let Some((lo, hi)) = f.format().legal(p) else { continue };
                        for y in f.plane(p).rows() {
                            let legal = match f.format().depth {
                                Depth::Bits(8) => {
                                    f.row::<u8>(p, y).iter().all(|&v| (lo..=hi).contains(&v.into()))
                                }
                                _ => f.row::<u16>(p, y).iter().all(|v| (lo..=hi).contains(v)),
                            };
                            assert!(legal, "{kind} {chroma}{depth}");
                        }
                    }
                }
            }
        }
    }
}
