//! A look does not depend on the resolution: one recipe at 960, 1920 and 3840 samples per row, reduced to 960, has the
//! same power in every remaining frequency band; and a picture at half its size has the look of the whole one reduced.

use grainfield::analyze::Field;
use grainfield::analyze::spectrum::{Plan, Spectrum};
use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Workspace};
use grainfield_filters::frame::{ColorRange, Depth, Family, Format, Frame, FrameTime};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::simd::Level;
use std::sync::atomic::AtomicBool;

/// Means of squares of `by` samples.
fn reduced(field: &Field, by: usize) -> Field {
    let mut out = Field::from_fn(field.width / by, field.height / by, |_, _| 0.0);
    let (width, part) = (out.width, 1.0 / (by * by) as f32);
    for y in 0..out.height * by {
        let row = &mut out.data[y / by * width..][..width];
        for (sum, samples) in row.iter_mut().zip(field.row(y).chunks_exact(by)) {
            *sum += samples.iter().sum::<f32>() * part;
        }
    }
    out
}

/// Renders frames of a chain over one picture.
struct Look {
    chain: Chain,
    work: Workspace,
    source: Frame,
}

impl Look {
    fn new(chain: &str, source: Frame) -> Look {
        let recipe = chain.parse::<Recipe>().unwrap();
        let options = Options { seed: 5, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
        let chain = Chain::bind::<ChainError>(&recipe.steps, *source.format(), &options, |f| Ok(*f)).unwrap();
        Look { chain, work: Workspace::default(), source }
    }

    /// The change that the chain makes in frame `number`, plane `p`.
    fn change(&mut self, number: i64, p: usize) -> Field {
        let Look { chain, work, source } = self;
        let mut frame = source.clone();
        let stop = AtomicBool::new(false);
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &stop };
        let at = FrameTime::of_frame(number, Ratio::whole(24));
        chain.run(&at, Ratio::ONE, &mut frame, work, &States::default(), &host).unwrap();
        let (mut out, before) = (Field::of(&frame, p), Field::of(source, p));
        out.data.iter_mut().zip(&before.data).for_each(|(a, b)| *a -= b);
        out
    }
}

fn gray(width: u32, height: u32) -> Format {
    Format::new(width, height, Family::Gray, Depth::Float, (0, 0))
}

fn flat(format: Format, value: f32) -> Frame {
    let mut frame = Frame::new(format);
    for p in 0..format.planes() {
        (0..format.plane_size(p).1).for_each(|y| frame.row_mut::<f32>(p, y).fill(value));
    }
    frame
}

/// Power in bands of the radius, of a sixteenth period per sample each.
fn bands(fields: &[Field]) -> Vec<f64> {
    let mut spectrum = Spectrum::new(&Plan::new(fields[0].width, fields[0].height));
    for field in fields {
        let mut field = field.clone();
        field.centre();
        spectrum.add(&field);
    }
    let mut bands = [(0.0, 0.0); 8];
    for ring in spectrum.rings(1.0) {
        let band = &mut bands[((ring.frequency * 16.0) as usize).min(7)];
        *band = (band.0 + ring.power * ring.modes, band.1 + ring.modes);
    }
    bands.iter().map(|(power, modes)| power / modes).collect()
}

fn power(fields: &[Field]) -> f64 {
    let squares = fields.iter().flat_map(|f| &f.data).map(|&v| f64::from(v) * f64::from(v));
    squares.sum::<f64>() / fields.iter().map(|f| f.data.len() as f64).sum::<f64>()
}

/// The largest difference of remaining bands in dB: up to three quarters of the highest frequency, above which the
/// power depends on the method of reduction, and with at least a fiftieth of the strongest band's power.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let most = a.iter().copied().fold(0.0, f64::max);
    let each = a.iter().zip(b).take(6).filter(|(a, _)| **a > most / 50.0);
    each.map(|(a, b)| 10.0 * (b / a).log10()).fold(0.0, |m: f64, db| if db.abs() > m.abs() { db } else { m })
}

/// The result of a chain over grey at three sizes, each reduced to the smallest one, with this number of rows and
/// frames.
fn drawn(chain: &str, rows: u32, frames: i64) -> [Vec<Field>; 3] {
    [1, 2, 4].map(|by| {
        let mut look = Look::new(chain, flat(gray(960 * by as u32, rows * by as u32), 0.4));
        (0..frames).map(|n| reduced(&look.change(n, 0), by)).collect()
    })
}

#[test]
fn grain_is_as_strong_and_coarse_at_every_size() {
    // In float with strength 1, so that nothing is clipped near black or white.
    for settings in [
        "size=0",
        "size=0.5",
        "size=1",
        "size=1.5",
        "size=2.8:sharpness=-0.5",
        "size=5",
        "size=1.2:variation=0.4",
        "preset=16mm",
        "preset=high-speed",
        "preset=digital-iso",
    ] {
        let frames = if settings == "size=5" { 4 } else { 2 };
        let [small, half, whole] = drawn(&format!("grain={settings}:curve=flat"), 180, frames);
        for (what, other) in [("1920", &half), ("3840", &whole)] {
            let all = 10.0 * (power(&small) / power(other)).log10();
            let off = apart(&bands(other), &bands(&small));
            println!("{settings}: 960 beside {what}: {all:.2} dB in all, {off:.2} in a band");
            assert!(all.abs() < 0.5 && off.abs() < 1.0, "{settings} at {what}: {all} dB, {off} dB in a band");
        }
        let all = 10.0 * (power(&half) / power(&whole)).log10();
        let off = apart(&bands(&whole), &bands(&half));
        assert!(all.abs() < 0.5 && off.abs() < 1.0, "{settings}: {all} dB, {off} dB in a band");
    }
}

/// Chroma, and 8 bits near black: compares with a picture of half the size.
#[test]
fn a_picture_of_half_the_size_is_the_reduced_one() {
    for preset in ["35mm", "16mm", "super8", "high-speed", "digital-iso", "fine-35mm"] {
        for (depth, value) in [(Depth::Float, 0.4), (Depth::Bits(8), 60.0), (Depth::Bits(10), 500.0)] {
            let of = |width: u32, p: usize| {
                let format = Format {
                    range: ColorRange::Full,
                    ..Format::new(width, width / 5, Family::Yuv, depth, (1, 1))
                };
                let mut frame = Frame::new(format);
                for p in 0..3 {
                    for y in 0..format.plane_size(p).1 {
                        match depth {
                            Depth::Bits(8) => frame.row_mut::<u8>(p, y).fill(value as u8),
                            Depth::Bits(_) => frame.row_mut::<u16>(p, y).fill(value as u16),
                            Depth::Float => frame.row_mut::<f32>(p, y).fill(value),
                        }
                    }
                }
                let mut look = Look::new(&format!("grain=preset={preset}"), frame);
                let by = width as usize / 960;
                (0..2).map(|n| reduced(&look.change(n, p), by)).collect::<Vec<_>>()
            };
            for p in [0, 1] {
                let (draft, whole) = (of(960, p), of(1920, p));
                // 8-bit pictures contain the noise of rounding, at any size.
                let all = 10.0 * (power(&draft) / power(&whole)).log10();
                println!("{preset} {depth:?} plane {p}: {all:.2} dB");
                assert!(all.abs() < 0.5, "{preset} {depth:?} plane {p}: {all} dB");
            }
        }
    }
}

#[test]
fn drawn_objects_have_the_same_place_and_size() {
    for chain in
        ["dust=amount=200:size=9", "scratches=amount=20:width=9", "particles=preset=snow:size=3:amount=2"]
    {
        let [small, half, whole] = drawn(chain, 540, 2);
        for (what, other) in [("1920", &half), ("3840", &whole)] {
            let off = apart(&bands(other), &bands(&small));
            println!("{chain}: 960 beside {what}: {off:.2} dB in a band");
            assert!(off.abs() < 1.0, "{chain} at {what}: {off} dB in a band");
        }
    }
}

#[test]
fn blur_and_unsharp_reach_as_far() {
    // Blots of many sizes, from a picture of 3840 samples by averaging.
    let mut state = 7u32;
    let mut dice = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    let mut large = Field::from_fn(3840, 2160, |_, _| 0.5);
    for _ in 0..1500 {
        let (x, y, side, light) = (dice() * 3840.0, dice() * 2160.0, 4.0 + 200.0 * dice() * dice(), dice());
        let [x0, y0] = [x as usize, y as usize];
        for y in y0..(y0 + side as usize).min(2160) {
            large.data[y * 3840..][x0..(x0 + side as usize).min(3840)].fill(light);
        }
    }
    for chain in ["blur=sigma=6", "blur=mode=directional:angle=30:length=40", "unsharp=amount=1.5:size=8"] {
        let [small, half, whole] = [4, 2, 1].map(|by| {
            let field = reduced(&large, by);
            let mut frame = Frame::new(gray(field.width as u32, field.height as u32));
            (0..field.height).for_each(|y| frame.row_mut::<f32>(0, y).copy_from_slice(field.row(y)));
            let mut out = Look::new(chain, frame).change(0, 0);
            out.data.iter_mut().zip(&field.data).for_each(|(a, b)| *a += b);
            reduced(&out, 4 / by)
        });
        for (what, other) in [("1920", &half), ("3840", &whole)] {
            let off = apart(&bands(std::slice::from_ref(other)), &bands(std::slice::from_ref(&small)));
            println!("{chain}: 960 beside {what}: {off:.2} dB in a band");
            assert!(off.abs() < 1.0, "{chain} at {what}: {off} dB in a band");
        }
    }
}
