//! Golden values: hashes of every filter in every kind of format, as of their last deliberate change.
//! `GRAINFIELD_BLESS=1 cargo test --test library golden` (or `./x bless`) writes them again; a change of output is a
//! new version of a stream or filter and needs an entry in the changelog.
//!
//! Other tests show that the values are right, with vectors from independent programs. These tests show that they do
//! not change, on every level of this machine.

use crate::fixture::{Random, StatesInMemory, bind, clip, frames, frames_with, lut, picture, rows};
use grainfield_filters::catalog::FILTERS;
use grainfield_filters::chain::{Chain, ChainError, Fields, Options, Step};
use grainfield_filters::frame::{Alpha, Depth, Format, Frame};
use grainfield_filters::host::{CurrentThread, NoCache, StateCache};
use grainfield_filters::noise::seed::fnv1a64;
use grainfield_filters::pixel::convert::Code;
use grainfield_filters::recipe::Recipe;
use grainfield_filters::settings::{FileKind, Kind, Value};
use grainfield_filters::simd::Level;

const FORMATS: &[&str] = &[
    "gray",
    "gray10",
    "gray16",
    "grayf32",
    "ya8",
    "yuv420p",
    "yuv422p10",
    "yuv444p12",
    "yuv411p",
    "yuv440p",
    "yuva420p",
    "gbrp",
    "gbrp16",
    "gbrap",
    "gbrapf32",
];

/// The formats of the chains below: each kind of sample, of colour and of alpha.
const FEW_FORMATS: &[&str] = &["gray16", "yuv420p", "yuva420p", "yuv422p10", "gbrp", "gbrapf32"];

/// Chains to test in addition to each filter with its defaults, which is tested in all formats.
const CHAINS: &[&str] = &[
    "",
    "noise=distribution=binomial",
    "noise=distribution=binomial:samples=16:strength=40",
    "noise=layout=sequential",
    "noise=static=1:strength=100",
    "noise=seed=0x123456789abcdef:planes=0",
    "noise,noise",
    "noise=strength='0=0;3=60':opacity=0.3",
    "grain=preset=super8:temporal=0.3",
    "grain=strength=20:size=16:curve=flat:protect=0",
    "grain=preset=digital-iso:generator=lfsr31:monochrome=1",
    "grain=space=linear:points='0=0;0.4=1;1=0.3':sharpness=1",
    "grain=preset=heavy,dither=mode=blue",
    "grain=strength=9:skew=2:chroma=0.5",
    "grain,dither=mode=hp-tpdf:static=1",
    "grain,dither",
    "av1grain=vector=1",
    "av1grain=vector=3:seed=7",
    "av1grain=vector=12:opacity=0.5:planes=uv",
    "av1grain=iso=1000000",
    "blur=sigma=200,av1grain=vector=2",
    "noise=monochrome=1",
    "noise=octaves=4:persistence=1.5",
    "noise=octaves=3:temporal=pink:generator=xs64",
    "noise=across=9:down=6:distribution=gaussian",
    "noise=temporal=ar1:correlation=0.7",
    "noise=preset=analog-tv",
    "noise=preset=vhs",
    "noise=strength=26:distribution=gaussian:monochrome=true:octaves=8:persistence=1.6:temporal=ar1:correlation=0.9",
    "fade=amount='0=1;4=0'",
    "fade=amount=0.3:color=#8040c0:planes=all",
    "invert=amount='0=0.2;4=1'",
    "levels=black=0.1:white=0.8:out-black=0.05",
    "levels=gamma=1.7:black=-0.1",
    "levels=black=0.1:white=0.8:toe=0.2:shoulder=0.5",
    "color=brightness=0.05:contrast=1.2:saturation=1.3:hue=20:temperature=0.4",
    "lut=file=a.cube",
    "overlay=file=a.png:size=0.6:rotate=20",
    "overlay=file=a.png:blend=screen:light=linear:position='0=0.2,0.3;9=0.8,0.6'",
    "invert=mask=ellipse:mask_width=0.6:mask_feather=60",
    "invert=mask=rectangle:mask_round=0.5:mask_height=0.8:mask_max_aspect=0.9:mask_feather=40",
    "invert=mask=luma:mask_low=0.4:mask_invert=1:opacity=0.7",
    "invert=mask=a.png:mask_at='0.4,0.6':mask_height=0.5",
    "text='{frame}{newline}{timecode}':size=0.3:anchor=top-left:box=0.5:box-color=#203040",
    "text='{frame}{newline}{timecode}':size=0.3:anchor=top-left:box=0.5:box-color=#203040:fit=0",
    "text=text=gÄ:size='0=0.5;9=1.5':position='0=0.1,0.3;9=0.5,0.7':anchor=center:edge=0.2:color=#ff8000c0",
    "deband=threshold=20:range=64:iterations=4",
    "deband=threshold-uv=0:static=1:seed=5",
    "denoise=strength=30",
    "denoise=strength='0=0;3=60':detail=0:search=3:chroma=2",
    "glow=strength='0=0.5;3=2':threshold=0.4:radius=90:tint=#ffc080",
    "halation=red=250:green=60:blue=20:tint=#ffa040:knee=0:planes=y",
    "atmosphere=preset=smoke:width=900:scale=500:wind='0=0;9=200'",
    "atmosphere=preset=fog:gusts=0.7:color=#ffe0c0",
    "atmosphere=preset=fire:width=2500:scale=600:amount=0",
    "atmosphere=preset=clouds:evolution='0=0;9=20':light='0=0;9=180':planes=y",
    "analog=tracking='0=0;9=1':dropouts=40:crease=0.5:generations=2:lines=12",
    "analog=system=pal:comb=line:snow=9:ghost=0.2:hue=20:tape=none",
    "analog=system=secam:connection=svideo:tape=betacam:interlace=false:lines=9",
    "analog=preset=crt-arcade:lines=8:tube-mask=shadow:planes=y",
    "vignette=amount=0.8:roundness=1:center='0.3,0.6',dither=mode=none",
    "flicker=amount=0.2:speed=0.3",
    "blur=sigma=20:planes=all",
    "blur=sigma=500",
    "blur=mode=directional:angle=30:length=9",
    "unsharp=amount=1.5:size=60:threshold=0.02",
    "unsharp=amount='0=0;4=4':size=200:planes=all",
    "unsharp=size=120,dither=mode=none",
    "transform=zoom=1.3:pan='0.05,-0.1':kernel=lanczos:edge=mirror",
    "transform=zoom=0.5:rotate=25:color=red",
    "scale=width=100",
    "scale=width=40:height=50:kernel=lanczos",
    "scale=width=30:light=linear",
    "scale=height=50:light=linear",
    "scale=height=17:kernel=bilinear,grain",
    "scale=width=134:height=90:fit=inside:kernel=nearest",
    "crop=left=8:right=5:top=4:bottom=3",
    "pad=width=80:height=48:color='0=#ff8000;3=#0040ff80'",
    "crop=left=4,scale=width=80,pad=bottom=7:color=white",
    "weave=across=0.01:down=0.01:hops=0.5",
    "dust=amount=60:size=40:hairs=0.4:blotches=0.2:light=0.5",
    "dust=amount='0=0;3=200':seed=7",
    "scratches=amount=20:life='0=2;3=9':width=6:wander=300",
    "sprites=scale=3:stretch=2:rotation=30:position='40,9':blend=screen:fade=0.7",
    "particles=preset=sparks:size=4",
    "particles=preset=sparks:size=4:light=linear",
    "particles=preset=confetti:amount=4:blend=multiply",
    "sprites=scale=3:rotation=30:position='40,9':light=linear",
    "particles=preset=confetti:amount=4:wind='0=0;3=5'",
    "particles=preset=bubbles:speed='0=1;3=4':blend=add:colour=#80c0ff",
    "particles=preset=hyperspace:seed=5:size=3",
    "particles=preset=film-hairs:amount=3",
    "fluid=scene=fountain:particles=500:start=1:refraction=2",
    "fluid=scene=rain:particles=400:start=2:tint=#ff800080:depth='0=1;3=0.5':seed=5",
    "fluid=scene=drop:particles=300:viscosity=0.5:gravity=4,fluid=scene=pour:particles=300:start=1:smoothness=1",
    "flock=agents=300:size=120:predators=1:start=1",
    "flock=preset=seagulls:size=400:haze=1:haze_colour=#80a0c0",
    "flock=preset=fish:agents=60:size=400:colour=#c06020",
    "flock=preset=moths:size=400:goal='0=10,10;3=40,20':light=linear",
    "flock=preset=bats:size=500:shutter=1:seed=4",
    "sand=size=50:flow=300:spread=0.3:start=1:drift=40:wind=0.2:melt=20:gusts=0.2",
    "sand=size=50:flow=300:spread=0.5:start=5:friction='0=1.1;3=0.6':shaking=0.1:drain=0.1:drain_at=0.4",
    "sand=preset=snowfall:size=50:start=2:grains=500:flow=200:shutter=1:seed=5",
    "sand=preset=hourglass:size=24:grains=400:start=0.5",
    "sand=preset=confetti:size=64:start=2:walls=true",
    "sand=preset=ash:size=64:start=2:colour=#80a0c0,sand=preset=leaves:size=64:start=3:light=linear",
    "sand=preset=coins:size=64:start=1:flow='0=20;3=90':position='0=10,0;3=50,5':light=linear",
    "sprites=scale=9:blend=multiply,sprites=blend=add:position='0=0,0;3=66,34'",
];

/// Planes with infinities and NaNs of several payloads: samples that a filter does not replace keep their bits, and
/// computed ones are the same on every machine. The NaNs of processors differ, which levels of one processor do not
/// show.
fn not_finite(level: Level, wanted: &dyn Fn(&str) -> bool, put: &mut dyn FnMut(String)) {
    for chain in chains().filter(|c| wanted(c)) {
        let steps = steps(chain);
        for name in ["grayf32", "gbrapf32"] {
            let format = Format::from_name(name, 67, 35).unwrap();
            let source = picture(&format, &mut Random(1));
            let chain_of = bind(&steps, format, level, None).unwrap();
            let made = frames(&chain_of, &source, [0, 3], &CurrentThread);
            let [a, b] = made.map(|frame| {
                let mut bytes = Vec::new();
                for (p, y) in rows(frame.format()) {
                    bytes.extend(frame.row::<f32>(p, y).iter().flat_map(|v| v.to_bits().to_le_bytes()));
                }
                fnv1a64(&bytes)
            });
            put(format!("{name} | {chain} | 0 {a:016x} 3 {b:016x}"));
        }
    }
}

/// [`CHAINS`], and the filters that need no settings.
fn chains() -> impl Iterator<Item = &'static str> {
    CHAINS.iter().copied().chain(FILTERS.iter().map(|f| f.name).filter(|name| *name != "scale"))
}

/// The filters of a chain; those that name a look-up table or a clip get a random one.
fn steps(chain: &str) -> Vec<Step> {
    let mut steps = chain.parse::<Recipe>().unwrap().steps;
    for step in &mut steps {
        let files = step.iter_given().filter_map(|(setting, value)| match (setting.kind, value) {
            (Kind::File(FileKind::Lut), _) => Some((setting.id, lut(&mut Random(7)))),
            (Kind::File(FileKind::Clip | FileKind::Mask), Value::File(file))
                if !setting.kind.is_word(file.name()) =>
            {
                Some((setting.id, clip(&mut Random(7))))
            }
            _ => None,
        });
        for (id, value) in files.collect::<Vec<_>>() {
            step.set_value(id, value).unwrap();
        }
    }
    steps
}

/// Chains that are run on frames whose colour is multiplied by alpha.
const PREMULTIPLIED: &[&str] = &[
    "invert=amount='0=0.2;4=1'",
    "levels=gamma=1.7:black=-0.1",
    "fade=amount=0.3:color=#8040c0:planes=all",
    "blur=sigma=60:planes=all",
    "unsharp=amount=1.5:size=60:threshold=0.02",
    "denoise=strength=30",
    "lut=file=a.cube",
    "overlay=file=a.png:size=0.6",
    "overlay=file=a.png:blend=add:light=linear",
    "glow=radius=90:threshold=0.4",
    "atmosphere=amount=3",
    "atmosphere=preset=fire:width=2500:scale=600",
    "halation=red=150:green=60:threshold=0.5",
    "text=text=gÄ:size=0.8:box=0.4:color=#ff8000c0",
    "transform=zoom=1.3:pan='0.05,-0.1'",
    "scale=width=100:light=linear",
    "particles=preset=sparks:size=4",
    "sprites=scale=3:rotation=30:position='40,9'",
];

fn premultiplied(
    level: Level,
    sources: &Sources,
    wanted: &dyn Fn(&str) -> bool,
    put: &mut dyn FnMut(String),
) {
    let sources = ["yuva420p", "yuva444p10", "gbrap16", "gbrapf32"]
        .map(|name| (name, (sources.frames_of)(name).map(|frame| multiplied(&frame))));
    for chain in PREMULTIPLIED.iter().filter(|c| wanted(c)) {
        let steps = steps(chain);
        for (name, frames) in &sources {
            let chain_of = bind(&steps, *frames[0].format(), level, None).unwrap();
            put(format!("{name} | {chain} | {}", hashes(&chain_of, frames, &NoCache)));
        }
    }
}

/// The frame with an alpha of patches from 0 to 1 in quarters. Its colour is multiplied by alpha, in subsampled planes
/// by the mean alpha of the samples that they cover.
fn multiplied(frame: &Frame) -> Frame {
    let format = Format { alpha: Alpha::Premultiplied, ..*frame.format() };
    let a = format.alpha_plane().unwrap();
    let at = |p: usize, x: usize, y: usize| match format.depth {
        Depth::Bits(8) => f64::from(frame.row::<u8>(p, y)[x]),
        Depth::Bits(_) => f64::from(frame.row::<u16>(p, y)[x]),
        Depth::Float => f64::from(frame.row::<f32>(p, y)[x]),
    };
    let alpha = |x: usize, y: usize| ((x / 6 + y / 5) % 5) as f64 / 4.0;
    let mut made = Frame::new(format);
    for (p, y) in rows(&format) {
        let (code, (sx, sy)) = (Code::of(&format, p), format.plane_subsampling(p));
        let (zero, top) = (f64::from(code.zero), f64::from(code.span));
        let (last, bottom) = (format.width as usize - 1, format.height as usize - 1);
        for x in 0..format.plane_size(p).0 {
            let block = (y << sy..(y + 1) << sy).flat_map(|y| (x << sx..(x + 1) << sx).map(move |x| (x, y)));
            let sum: f64 = block.map(|(x, y)| alpha(x.min(last), y.min(bottom))).sum();
            let own = if p == a { top } else { at(p, x, y) - zero };
            let v = zero + own * sum / f64::from(1u32 << (sx + sy));
            match format.depth {
                Depth::Bits(8) => made.row_mut::<u8>(p, y)[x] = (v + 0.5) as u8,
                Depth::Bits(_) => made.row_mut::<u16>(p, y)[x] = (v + 0.5) as u16,
                Depth::Float => made.row_mut::<f32>(p, y)[x] = v as f32,
            }
        }
    }
    made
}

/// The input of all chains.
pub(crate) struct Sources {
    /// Makes frames 0 and 3 of `pattern:zoneplate:size=67x35` in a format.
    frames_of: fn(&str) -> [Frame; 2],
    all: Vec<(&'static str, [Frame; 2])>,
}

impl Sources {
    pub(crate) fn new(frames_of: fn(&str) -> [Frame; 2]) -> Sources {
        Sources { frames_of, all: FORMATS.iter().map(|format| (*format, frames_of(format))).collect() }
    }
}

/// The names of all files of golden values.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FILTERS.iter().map(|f| f.name).chain(["source", "not-finite", "premultiplied"])
}

/// The golden values of the chains that begin with one filter, of the empty chain ("source"), of all chains over planes
/// with non-finite samples ("not-finite"), or of some chains over planes with premultiplied colour ("premultiplied").
/// Chains that are not `wanted` are left out. `put` gets each line as soon as it is known.
pub(crate) fn golden(
    name: &str,
    level: Level,
    sources: &Sources,
    wanted: &dyn Fn(&str) -> bool,
    put: &mut dyn FnMut(String),
) {
    match name {
        "not-finite" => return not_finite(level, wanted, put),
        "premultiplied" => return premultiplied(level, sources, wanted, put),
        _ => {}
    }
    for chain in chains().filter(|c| first_filter(c) == name && wanted(c)) {
        let steps = steps(chain);
        // What moves by steps goes the same way in every format.
        let states = StatesInMemory::default();
        let all = !chain.contains(['=', ',']);
        for (format, frames) in sources.all.iter().filter(|s| all || FEW_FORMATS.contains(&s.0)) {
            let input = *frames[0].format();
            let options =
                Options { seed: 0, level, first: 0, last: Some(3), fields: Fields::of(input.fields) };
            let chain_of = Chain::bind::<ChainError>(&steps, input, &options, |made| Ok(*made)).unwrap();
            put(format!("{format} | {chain} | {}", hashes(&chain_of, frames, &states)));
        }
    }
}

/// What a chain makes of frames 0 and 3.
fn hashes(chain: &Chain, frames: &[Frame; 2], states: &dyn StateCache) -> String {
    let list = frames.iter().zip([0, 3]).map(|(frame, n)| {
        let [made] = frames_with(chain, frame, [n], &CurrentThread, states);
        format!("{n} {:032x}", made.digest())
    });
    list.collect::<Vec<_>>().join(" ")
}

fn first_filter(chain: &str) -> &str {
    let name = chain.split([',', '=']).next().unwrap();
    if name.is_empty() { "source" } else { name }
}
