//! All levels of this machine give equal bytes, for all combinations of distribution, generator, kernel, depth,
//! subsampling, width and stride.
//!
//! Pictures have the memory layout that a host may use: rows an odd number of samples apart, with the first one
//! aligned to a sample only. The memory between rows must not change.

use grainfield_filters::filter::Band;
use grainfield_filters::frame::{
    ColorRange, Depth, Format, FrameMut, FrameRef, FrameTime, PlaneMut, PlaneRef, Scratch,
};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::simd::Level;

/// All distributions and kinds of noise, and all kernels of grain: none, three taps, five, and halved rasters.
const FIELDS: [&str; 18] = [
    "noise=strength=30:distribution=uniform",
    "noise=strength=200:distribution=binomial:samples=2",
    "noise=strength=9:distribution=binomial:samples=3",
    "noise=strength=30:distribution=binomial:samples=16",
    "noise=strength=30:distribution=gaussian",
    "noise=strength=30:octaves=3:persistence=1.3",
    "noise=strength=30:across=5:down=2:temporal=ar1",
    "noise=strength=0.4:temporal=pink:distribution=gaussian",
    "grain=strength=9:size=0",
    "grain=strength=40:size=SMALL:protect=0",
    "grain=strength=9:size=TAPS3",
    "grain=strength=9:size=TAPS5:curve=flat",
    "grain=strength=9:size=TAPS5:sharpness=1:temporal=0.3",
    "grain=strength=90:size=TAPS5:sharpness=-1:curve=highlights",
    "grain=strength=9:size=HALVED:chroma=1.5",
    "grain=strength=20:size=TWICE:points='0=0;0.4=1;1=0.3'",
    "grain=strength=9:size=TAPS3:space=log",
    "grain=strength=9:size=TAPS3:space=linear",
];
const GENERATORS: [&str; 2] = ["lfsr31", "xs64"];
const DEPTHS: [&str; 7] = ["", "10", "12", "16", "f32", "9", "14"];
const PLANES: [&str; 8] = ["gray", "yuv410p", "yuv411p", "yuv420p", "yuv422p", "yuv440p", "yuv444p", "gbrp"];

/// The settings with the sizes that give the same kernel at this width; the given sizes are for 1920.
fn sized(settings: &str, width: u32) -> String {
    let mut text = settings.to_owned();
    for (word, size) in [("SMALL", 0.4), ("TAPS3", 1.0), ("TAPS5", 1.9), ("HALVED", 3.0), ("TWICE", 5.5)] {
        let typed = size * 1920.0 / f64::from(width);
        // Limit it to the setting's range: narrow pictures get a smaller kernel, which other widths test.
        text = text.replace(word, &format!("{:.3}", f64::min(typed, 16.0)));
    }
    text
}

fn format(planes: &str, depth: &str, width: u32, height: u32) -> Option<Format> {
    Format::from_name(&format!("{planes}{depth}"), width, height).ok()
}

/// Each plane is in one block of memory.
struct Picture {
    format: Format,
    /// Stride in samples, first sample, and the whole memory.
    planes: Vec<(usize, usize, Vec<f64>)>,
}

/// splitmix64.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Picture {
    /// Random samples of the full range, including illegal ones; `odd` determines strides and offsets.
    fn new(format: Format, odd: usize) -> Picture {
        let bytes = format.depth.bytes();
        let plane = |p: usize| {
            let (width, height) = format.plane_size(p);
            let (stride, first) = (width + 2 * (odd % 19) + 1, 2 * (odd % 5) + 1);
            let mut memory = vec![0f64; ((stride * height + first) * bytes).div_ceil(8)];
            let data: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
            for (i, at) in data.chunks_exact_mut(bytes).enumerate() {
                let random = mix(((p as u64) << 40) + i as u64 + 1);
                match format.depth {
                    Depth::Bits(8) => at[0] = random as u8,
                    Depth::Bits(bits) => {
                        at.copy_from_slice(&(random as u16 >> (16 - bits)).to_ne_bytes());
                    }
                    Depth::Float => at.copy_from_slice(
                        &match random % 29 {
                            0 => f32::NAN,
                            1 => f32::NEG_INFINITY,
                            _ => (random >> 8) as u16 as f32 / 50_000.0 - 0.1,
                        }
                        .to_ne_bytes(),
                    ),
                }
            }
            (stride, first, memory)
        };
        Picture { format, planes: (0..format.planes()).map(plane).collect() }
    }

    fn band(&mut self) -> FrameMut<'_> {
        let (format, bytes) = (self.format, self.format.depth.bytes());
        let mut planes: [PlaneMut<'_>; 4] = Default::default();
        for (p, (stride, first, memory)) in self.planes.iter_mut().enumerate() {
            let (width, height) = format.plane_size(p);
            let data: &mut [u8] = bytemuck::cast_slice_mut(memory);
            planes[p] = PlaneMut::new(&mut data[*first * bytes..], *stride * bytes, width * bytes, height);
        }
        FrameMut::new(format, planes)
    }

    fn borrowed(&self) -> FrameRef<'_> {
        let (format, bytes) = (self.format, self.format.depth.bytes());
        let mut planes: [PlaneRef<'_>; 4] = Default::default();
        for (p, (stride, first, memory)) in self.planes.iter().enumerate() {
            let (width, height) = format.plane_size(p);
            let data: &[u8] = bytemuck::cast_slice(memory);
            planes[p] = PlaneRef::new(&data[*first * bytes..], *stride * bytes, width * bytes, height);
        }
        FrameRef::new(format, planes)
    }

    /// All of its memory.
    fn bytes(&self) -> Vec<u8> {
        self.planes.iter().flat_map(|p| bytemuck::cast_slice::<f64, u8>(&p.2)).copied().collect()
    }

    /// The memory between the rows.
    fn between(&self) -> Vec<u8> {
        let bytes = self.format.depth.bytes();
        let mut all = Vec::new();
        for (p, (stride, first, memory)) in self.planes.iter().enumerate() {
            let (width, height) = self.format.plane_size(p);
            let data: &[u8] = bytemuck::cast_slice(memory);
            let row = |y: usize| (first + y * stride) * bytes;
            all.extend_from_slice(&data[..row(0)]);
            (0..height).for_each(|y| {
                all.extend_from_slice(&data[row(y) + width * bytes..row(y + 1).min(data.len())])
            });
        }
        all
    }
}

/// Runs the filter in place on the picture.
fn filtered(settings: &str, format: Format, odd: usize, level: Level, scratch: &mut Scratch) -> Picture {
    let recipe = settings.parse::<Recipe>().unwrap_or_else(|e| panic!("{settings}: {e}"));
    let step = &recipe.steps[0];
    let filter = step.filter.bind(&step.values, &format, 7, level).unwrap();
    let mut picture = Picture::new(format, odd);
    let at = FrameTime::of_frame(odd as i64 - 100, Ratio::whole(24));
    let Some(now) = filter.at(&at) else { return picture };
    let writes = now.plan.writes;
    let rows = 0..format.plane_size(0).1;
    let mut band = Band { rows, input: None, output: picture.band(), writes };
    filter.render(&now, None, &mut band, scratch);
    picture
}

/// Compares every level with the lowest.
fn agree(settings: &str, format: Format, odd: usize, scratch: &mut Scratch) {
    let want = filtered(settings, format, odd, Level::SCALAR, scratch);
    let source = Picture::new(format, odd);
    assert_eq!(want.between(), source.between(), "{settings} {} writes between rows", format.name());
    let bytes = want.bytes();
    for &level in &Level::available()[1..] {
        let got = filtered(settings, format, odd, level, scratch);
        assert!(
            got.bytes() == bytes,
            "{settings}, {}x{} {}, odd {odd}: {level} is not as scalar",
            format.width,
            format.height,
            format.name()
        );
    }
}

/// All combinations of field, generator, depth and subsampling, each with a width of its own.
#[test]
fn every_level_gives_the_same_bytes_for_all_that_goes_together() {
    let mut scratch = Scratch::default();
    let (mut number, mut widths) = (0, [false; 301]);
    for settings in FIELDS {
        for generator in GENERATORS {
            for depth in DEPTHS {
                for planes in PLANES {
                    number += 1;
                    // 113 and 300 have no common divisor.
                    let width = (number * 113 % 300 + 1) as u32;
                    let Some(mut format) = format(planes, depth, width, (number % 9 + 1) as u32) else {
                        assert_eq!(depth, "f32", "{planes}{depth}");
                        continue;
                    };
                    if number % 2 == 1 {
                        format.range = ColorRange::Full;
                    }
                    let settings = sized(settings, width);
                    widths[width as usize] = true;
                    agree(&format!("{settings}:generator={generator}"), format, number, &mut scratch);
                }
            }
        }
    }
    assert!(number > 2000 && widths[1..].iter().all(|&w| w), "{number}");
}

/// Every width for every field, with each kind of sample at every third width.
#[test]
fn every_level_gives_the_same_bytes_at_every_width() {
    let mut scratch = Scratch::default();
    for (i, settings) in FIELDS.iter().enumerate() {
        for (j, name) in ["gray", "gray10", "grayf32"].into_iter().enumerate() {
            // No grain at 300 samples of width is coarse enough for a raster that is halved twice.
            let own = |width: &u32| (*width as usize + i + j).is_multiple_of(3);
            for width in (1..=300u32).filter(own).chain([699, 1024, 2003]) {
                let format = Format::from_name(name, width, 3).unwrap();
                let generator = GENERATORS[(i + width as usize / 7) % 2];
                let settings = sized(settings, width);
                agree(&format!("{settings}:generator={generator}"), format, width as usize, &mut scratch);
            }
        }
    }
}

#[test]
fn dither_is_the_same_at_every_level() {
    let mut scratch = Scratch::default();
    let mut number = 0;
    for mode in ["tpdf", "hp-tpdf", "blue", "uniform", "none"] {
        for deep in [10, 12, 16] {
            for bits in [8, 10, 12].into_iter().filter(|b| *b < deep) {
                for planes in PLANES {
                    for width in [1, 2, 31, 32, 33, 64, 127, 129, 255, 256, 257, 300] {
                        number += 1;
                        let from = format(planes, &deep.to_string(), width, 5).unwrap();
                        let source = Picture::new(from, number);
                        let recipe = format!("dither=mode={mode}:bits={bits}").parse::<Recipe>().unwrap();
                        let step = &recipe.steps[0];
                        let made = |level: Level, scratch: &mut Scratch| {
                            let filter = step.filter.bind(&step.values, &from, 7, level).unwrap();
                            let mut out =
                                Picture::new(Format { depth: Depth::Bits(bits), ..from }, number + 1);
                            let at = FrameTime::of_frame(number as i64, Ratio::whole(24));
                            let now = filter.at(&at).unwrap();
                            let writes = now.plan.writes;
                            let input = Some(source.borrowed());
                            let mut band = Band { rows: 0..5, input, output: out.band(), writes };
                            filter.render(&now, None, &mut band, scratch);
                            out.bytes()
                        };
                        let want = made(Level::SCALAR, &mut scratch);
                        for &level in &Level::available()[1..] {
                            let same = made(level, &mut scratch) == want;
                            assert!(same, "{mode} {} to {bits}, {width} wide, {level}", from.name());
                        }
                    }
                }
            }
        }
    }
}
