//! Pictures of random samples, second inputs, and chains that run on them: without files, clocks and threads, so that the
//! golden values can be computed on any machine.

use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Step, Workspace};
use grainfield_filters::frame::{Alpha, Depth, Family, Format, Frame, FrameTime, SecondInput};
use grainfield_filters::host::{Executor, Host, NoCache, StateCache};
use grainfield_filters::lut::Lut;
use grainfield_filters::ratio::Ratio;
use grainfield_filters::settings::{FileAsset, Value};
use grainfield_filters::simd::Level;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// splitmix64.
#[derive(Clone)]
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A number in 0..1.
    pub(crate) fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// Non-finite samples: infinities, and NaNs of several payloads, one of them signalling.
pub(crate) const ODD: [u32; 6] =
    [0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffc0_1234, 0x7fc5_4321, 0x7fa0_0001];

/// Random samples of every code, including illegal ones and many extremes; floats include non-finite ones.
pub(crate) fn picture(format: &Format, random: &mut Random) -> Frame {
    let mut frame = Frame::new(*format);
    for p in 0..format.planes() {
        for y in 0..format.plane_size(p).1 {
            match format.depth {
                Depth::Bits(bits) => {
                    let top = ((1u32 << bits) - 1) as u16;
                    let mut code = || match random.next() {
                        r if r % 16 == 0 => top,
                        r if r % 16 == 1 => 0,
                        r => (r >> 32) as u16 & top,
                    };
                    if bits == 8 {
                        frame.row_mut::<u8>(p, y).iter_mut().for_each(|v| *v = code() as u8);
                    } else {
                        frame.row_mut::<u16>(p, y).iter_mut().for_each(|v| *v = code());
                    }
                }
                Depth::Float => frame.row_mut::<f32>(p, y).iter_mut().for_each(|v| {
                    let r = random.next();
                    *v = match r % 23 {
                        0 => f32::from_bits(ODD[(r >> 32) as usize % ODD.len()]),
                        1 => 0.0,
                        _ => (r >> 40) as f32 / 12_000_000.0 - 0.2,
                    };
                }),
            }
        }
    }
    frame
}

/// A look-up table with a part for each channel and one for all, over an input range of its own.
pub(crate) fn lut(random: &mut Random) -> Value {
    let mut text = "LUT_1D_SIZE 5\nLUT_3D_SIZE 4\nDOMAIN_MIN -0.1 0 0.05\nDOMAIN_MAX 1.2 1 1.1\n".to_owned();
    for _ in 0..5 + 4 * 4 * 4 {
        let [r, g, b] = [0; 3].map(|_| random.part() * 1.4 - 0.2);
        writeln!(text, "{r} {g} {b}").unwrap();
    }
    let lut: Lut = text.parse().unwrap();
    Value::File(FileAsset::named("random.cube").read(Arc::new(lut), random.next().into()))
}

/// A picture with alpha as second input.
pub(crate) fn clip(random: &mut Random) -> Value {
    let format = Format { alpha: Alpha::Straight, ..Format::new(21, 9, Family::Rgb, Depth::Bits(8), (0, 0)) };
    let clip: Arc<dyn SecondInput> = Arc::new(Arc::new(picture(&format, random)));
    Value::File(FileAsset::named("21x9").read(clip, random.next().into()))
}

pub(crate) fn bind(
    steps: &[Step],
    format: Format,
    level: Level,
    bits: Option<u8>,
) -> Result<Chain, ChainError> {
    let options = Options { seed: 11, level, first: 0, last: Some(99), fields: Fields::of(format.fields) };
    Chain::bind(steps, format, &options, |made| {
        Ok(bits.map_or(*made, |bits| Format { depth: Depth::Bits(bits), ..*made }))
    })
}

/// Renders frames in order, keeping states in between.
pub(crate) fn frames<const N: usize>(
    chain: &Chain,
    source: &Frame,
    numbers: [i64; N],
    executor: &dyn Executor,
) -> [Frame; N] {
    frames_with(chain, source, numbers, executor, &NoCache)
}

/// The same with a store for the states of what moves by steps.
pub(crate) fn frames_with<const N: usize>(
    chain: &Chain,
    source: &Frame,
    numbers: [i64; N],
    executor: &dyn Executor,
    cache: &dyn StateCache,
) -> [Frame; N] {
    let (mut work, states, stop) = (Workspace::default(), States::default(), AtomicBool::new(false));
    let host = Host { executor, cache, stop: &stop };
    let rate = source.format().rate;
    numbers.map(|n| {
        let mut frame = source.clone();
        let duration = Ratio::ONE.checked_div(rate).unwrap();
        chain.run(&FrameTime::of_frame(n, rate), duration, &mut frame, &mut work, &states, &host).unwrap();
        frame
    })
}

pub(crate) fn rows(format: &Format) -> impl Iterator<Item = (usize, usize)> + '_ {
    (0..format.planes()).flat_map(|p| (0..format.plane_size(p).1).map(move |y| (p, y)))
}

/// States in memory.
#[derive(Default)]
pub(crate) struct StatesInMemory(Mutex<HashMap<u128, Vec<u8>>>);

impl StateCache for StatesInMemory {
    fn get(&self, key: u128) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(&key).cloned()
    }

    fn put(&self, key: u128, bytes: &[u8]) {
        self.0.lock().unwrap().insert(key, bytes.to_vec());
    }
}
