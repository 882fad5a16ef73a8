//! The parts of the walk: formats, pictures, and settings from their descriptions.

use crate::fixture::{Random, clip, lut, picture};
use grainfield_filters::catalog::Entry;
use grainfield_filters::frame::{
    Alpha, ColorRange, Depth, Family, FieldOrder, Format, Frame, Matrix, PlaneSet,
};
use grainfield_filters::plate::PlateBuilder;
use grainfield_filters::settings::{
    FileAsset, FileKind, ImageAsset, Kind, Setting, SettingError, Value, Values,
};
use std::sync::Arc;

pub(super) const DEPTHS: [Depth; 5] =
    [Depth::Bits(8), Depth::Bits(10), Depth::Bits(12), Depth::Bits(16), Depth::Float];

pub(super) const LAYOUTS: [(Family, (u8, u8)); 8] = [
    (Family::Gray, (0, 0)),
    (Family::Yuv, (1, 1)),
    (Family::Yuv, (1, 0)),
    (Family::Yuv, (0, 0)),
    (Family::Yuv, (0, 1)),
    (Family::Yuv, (2, 0)),
    (Family::Yuv, (2, 2)),
    (Family::Rgb, (0, 0)),
];

pub(super) const SIZES: [(u32, u32); 5] = [(1, 1), (1, 37), (35, 17), (322, 181), (70, 34)];

const ALPHAS: [Alpha; 3] = [Alpha::None, Alpha::Straight, Alpha::Premultiplied];

/// Alpha, full range, and fields: the first six rows contain every pair, all twelve every combination.
pub(super) const FACTORS: [(usize, bool, bool); 12] = [
    (0, true, false),
    (0, false, true),
    (1, true, true),
    (1, false, false),
    (2, true, false),
    (2, false, true),
    (0, true, true),
    (0, false, false),
    (1, true, false),
    (1, false, true),
    (2, true, true),
    (2, false, false),
];

pub(super) fn format(
    (family, subsampling): (Family, (u8, u8)),
    depth: Depth,
    (width, height): (u32, u32),
    (alpha, full, fields): (usize, bool, bool),
    random: &mut Random,
) -> Format {
    let yuv = [Matrix::UNSPECIFIED, Matrix::BT709, Matrix::BT2020NC];
    let matrix = match family {
        Family::Yuv if subsampling == (0, 0) && random.below(3) == 0 => Matrix::RGB,
        Family::Rgb => Matrix::RGB,
        _ => random.pick(&yuv),
    };
    Format {
        alpha: ALPHAS[alpha],
        range: if full { ColorRange::Full } else { ColorRange::Limited },
        matrix,
        fields: if fields { FieldOrder::TopFirst } else { FieldOrder::Progressive },
        ..Format::new(width, height, family, depth, subsampling)
    }
}

/// Every sample of every plane at half of the range.
pub(super) fn flat(format: &Format) -> Frame {
    let mut frame = Frame::new(*format);
    for p in PlaneSet::ALL.iter().filter(|&p| p < format.planes()) {
        for y in 0..format.plane_size(p).1 {
            match format.depth {
                Depth::Bits(8) => frame.row_mut::<u8>(p, y).fill(128),
                Depth::Bits(bits) => frame.row_mut::<u16>(p, y).fill(1 << (bits - 1)),
                Depth::Float => frame.row_mut::<f32>(p, y).fill(0.5),
            }
        }
    }
    frame
}

/// Settings whose cost grows with their value, and their limits in the walk (lower limit for zoom).
const COSTLY: [(&str, &str, f64, f64); 33] = [
    ("fluid", "particles", 100.0, 120.0),
    ("fluid", "start", 0.0, 0.05),
    ("fluid", "gravity", 0.0, 4.0),
    ("flock", "agents", 1.0, 60.0),
    ("flock", "start", 0.0, 0.05),
    ("sand", "size", 24.0, 64.0),
    ("sand", "grains", 1.0, 300.0),
    ("sand", "flow", 0.0, 400.0),
    ("sand", "start", 0.0, 0.05),
    ("sand", "backwards", 0.0, 0.1),
    ("sand", "drift", 0.0, 2000.0),
    ("sand", "melt", 0.0, 2000.0),
    ("particles", "amount", 0.0, 0.1),
    ("particles", "size", 0.0, 3.0),
    ("particles", "speed", 0.0, 3.0),
    ("dust", "amount", 0.0, 12.0),
    ("scratches", "amount", 0.0, 8.0),
    ("noise", "across", 0.0, 16.0),
    ("noise", "down", 0.0, 16.0),
    ("blur", "length", 0.0, 20.0),
    ("transform", "zoom", 0.6, 8.0),
    ("scale", "width", 1.0, 90.0),
    ("scale", "height", 0.0, 70.0),
    ("crop", "left", 0.0, 8.0),
    ("crop", "right", 0.0, 8.0),
    ("crop", "top", 0.0, 8.0),
    ("crop", "bottom", 0.0, 8.0),
    ("pad", "left", 0.0, 8.0),
    ("pad", "right", 0.0, 8.0),
    ("pad", "top", 0.0, 8.0),
    ("pad", "bottom", 0.0, 8.0),
    ("pad", "width", 0.0, 400.0),
    ("pad", "height", 0.0, 200.0),
];

/// Those of them whose defaults are too expensive, or that must be given.
const COUNTS: [(&str, &str); 10] = [
    ("particles", "amount"),
    ("fluid", "particles"),
    ("fluid", "start"),
    ("flock", "agents"),
    ("flock", "start"),
    ("sand", "size"),
    ("sand", "grains"),
    ("sand", "start"),
    ("dust", "amount"),
    ("scale", "width"),
];

/// The highest value of a setting that the walk can afford.
pub(super) fn high(entry: &str, id: &str, max: f64) -> f64 {
    COSTLY.iter().find(|c| c.0 == entry && c.1 == id).map_or(max, |c| max.min(c.3))
}

fn number(entry: &Entry, id: &str, (min, max): (f64, f64), random: &mut Random) -> f64 {
    let costly = COSTLY.iter().find(|c| c.0 == entry.name && c.1 == id);
    let (min, max) = (costly.map_or(min, |c| min.max(c.2)), high(entry.name, id, max));
    match random.below(6) {
        0 => min,
        1 => max,
        // Long ranges are mostly used near their lower end.
        2 => min + (max - min) * random.part() * random.part() * random.part() * 0.1,
        _ => min + (max - min) * random.part(),
    }
}

/// A constant, or a curve with values from `value`.
fn moving(random: &mut Random, mut value: impl FnMut(&mut Random) -> String) -> String {
    if random.below(3) > 0 {
        return value(random);
    }
    let marks = ["=", "|=", "~="];
    [0, 2, 4].map(|key| format!("{key}{}{}", random.pick(&marks), value(random))).join(";")
}

/// A text or picture for a setting; `None` for kinds that stand for text files.
pub(super) fn value(entry: &Entry, setting: &Setting, random: &mut Random) -> Option<Value> {
    let text = match setting.kind {
        Kind::Switch => random.pick(&["true", "false"]).to_owned(),
        Kind::Integer { min, max } => {
            number(entry, setting.id, (min as f64, max as f64), random).round().to_string()
        }
        Kind::Number { min, max } if COUNTS.contains(&(entry.name, setting.id)) => {
            number(entry, setting.id, (min, max), random).to_string()
        }
        Kind::Fixed { min, max } => number(entry, setting.id, (min, max), random).to_string(),
        Kind::Number { min, max } => moving(random, |r| number(entry, setting.id, (min, max), r).to_string()),
        Kind::Seed => random.next().to_string(),
        Kind::Text => random.pick(&["x", "{frame} {timecode}", "ä=B:1, 2"]).to_owned(),
        Kind::Choice(all) => random.pick(all).id.to_owned(),
        Kind::Position { min, max } => moving(random, |r| {
            let [x, y] = [0; 2].map(|_| number(entry, setting.id, (min, max), r));
            format!("{x},{y}")
        }),
        Kind::Colour => moving(random, |r| format!("#{:08x}", r.next() as u32)),
        Kind::Points { min, max } => {
            let mut y = || number(entry, setting.id, (min, max), random);
            format!("0={};0.4={};1={}", y(), y(), y())
        }
        Kind::Image | Kind::SourceFrame => {
            let format = Format::new(9, 7, Family::Gray, Depth::Bits(8), (0, 0));
            return Some(Value::Image(ImageAsset::named("9x7").read(picture(&format, random))));
        }
        Kind::File(FileKind::GrainPlate) => {
            let format = Format::new(80, 40, Family::Gray, Depth::Bits(8), (0, 0));
            let mut builder = PlateBuilder::new(&format).ok()?;
            builder.add(&picture(&format, random)).ok()?;
            let plate = builder.finish().ok()?;
            return Some(Value::File(FileAsset::named("80x40").read(Arc::new(plate), random.next().into())));
        }
        Kind::File(FileKind::Lut) => return Some(lut(random)),
        Kind::File(FileKind::Clip) => return Some(clip(random)),
        Kind::File(_) | Kind::Frames | Kind::Planes => return None,
    };
    Some(setting.parse(&text).unwrap_or_else(|e| panic!("{} {}='{text}': {e:?}", entry.name, setting.id)))
}

/// Random settings of an entry, each given with a probability of `share`.
pub(super) fn settings(
    entry: &'static Entry,
    share: f64,
    random: &mut Random,
) -> Result<Values, SettingError> {
    let mut values = Values::new(entry.settings);
    for setting in entry.settings {
        // Settings of the amount of work are always given.
        let must = COUNTS.contains(&(entry.name, setting.id));
        if (random.part() < share || must)
            && let Some(value) = value(entry, setting, random)
        {
            values.set(setting.id, value)?;
        }
    }
    Ok(values)
}

/// Settings from `id=value:id=value`.
pub(super) fn read(entry: &'static Entry, text: &str) -> Values {
    Values::parse(entry.settings, text).unwrap_or_else(|e| panic!("{}={text}: {e}", entry.name))
}
