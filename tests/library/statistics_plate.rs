//! Grain from a plate: it has the plate's spectrum and distribution, and nothing of it is seen twice in a frame.
//!
//! The plate is made here: discs of many sizes at random places, so neither normal nor of the filter's own spectrum.

use crate::fixture::Random;
use grainfield::analyze::fft::Fft2;
use grainfield::analyze::spectrum::{Plan, Spectrum};
use grainfield::analyze::{Field, Moments};
use grainfield_filters::catalog;
use grainfield_filters::frame::{Depth, Family, Format, Frame, FrameTime, PlaneSet, Scratch};
use grainfield_filters::plate::{Plate, PlateBuilder, TILE};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::settings::{FileAsset, Value, Values};
use grainfield_filters::simd::Level;
use std::sync::Arc;

const SIDE: usize = 512;

/// Discs on black: a picture that is a number of tiles high.
fn discs(tiles: usize) -> Frame {
    let format = Format::new(TILE as u32, (TILE * tiles) as u32, Family::Gray, Depth::Float, (0, 0));
    let (width, height) = format.plane_size(0);
    let mut frame = Frame::new(format);
    let mut random = Random(7);
    for _ in 0..width * height / 6 {
        let radius = 0.6 + 1.6 * random.part() * random.part();
        let (x, y) = (random.part() * width as f64, random.part() * height as f64);
        for dy in -3i64..=3 {
            let (row, left) = (y as i64 + dy, x as i64 - 3);
            let Some(row) = usize::try_from(row).ok().filter(|&row| row < height) else { continue };
            for at in left.max(0)..(left + 7).min(width as i64) {
                let far = (at as f64 + 0.5 - x).hypot(row as f64 + 0.5 - y);
                frame.row_mut::<f32>(0, row)[at as usize] += (radius + 0.5 - far).clamp(0.0, 1.0) as f32;
            }
        }
    }
    frame
}

fn plate(picture: &Frame) -> Arc<Plate> {
    let mut builder = PlateBuilder::new(picture.format()).unwrap();
    builder.add(picture).unwrap();
    Arc::new(builder.finish().unwrap())
}

/// The grain on a flat picture, of strength 1.
fn grain(plate: &Arc<Plate>, number: i64) -> Field {
    let format = Format::new(SIDE as u32, SIDE as u32, Family::Gray, Depth::Float, (0, 0));
    let entry = catalog::find("grain").unwrap();
    let mut values = Values::parse(entry.settings, "strength=20:curve=flat").unwrap();
    values.set("plate", Value::File(FileAsset::named("discs").read(Arc::clone(plate), 1))).unwrap();
    let filter = entry.bind(&values, &format, 5, Level::best()).unwrap();
    let mut frame = Frame::new(format);
    (0..SIDE).for_each(|y| frame.row_mut::<f32>(0, y).fill(0.5));
    let now = filter.at(&FrameTime::of_frame(number, Ratio::whole(24))).unwrap();
    let mut band = grainfield_filters::filter::Band {
        rows: 0..SIDE,
        input: None,
        output: frame.as_mut(),
        writes: PlaneSet::ALL,
    };
    filter.render(&now, None, &mut band, &mut Scratch::default());
    let mut field = Field::of(&frame, 0);
    field.data.iter_mut().for_each(|v| *v = (*v - 127.5) / 20.0);
    field
}

/// The highest autocorrelation at shifts of more than a patch, over the rms of all of them.
fn repeats(field: &Field) -> f64 {
    let fft = Fft2::<f32>::new(SIDE, SIDE);
    let correlator = grainfield::analyze::peak::Correlator::new(SIDE, SIDE);
    let mut centred = field.clone();
    centred.centre();
    let mut data = correlator.fingerprint(&centred, None);
    data.iter_mut().for_each(|c| *c = c.conj() * *c);
    fft.inverse(&mut data, &mut Vec::new());
    let far = |i: usize| {
        let away = |d: usize| d.min(SIDE - d);
        away(i % SIDE).max(away(i / SIDE)) > TILE
    };
    let far: Vec<f64> = (0..data.len()).filter(|&i| far(i)).map(|i| f64::from(data[i].re)).collect();
    let rms = (far.iter().map(|v| v * v).sum::<f64>() / far.len() as f64).sqrt();
    far.iter().fold(0.0, |most: f64, v| most.max(v.abs())) / rms
}

#[test]
fn grain_of_a_plate_is_the_plates() {
    let picture = discs(24);
    let plate = plate(&picture);
    let plan = Plan::new(TILE, TILE);
    let rings = |fields: &[Field]| {
        let mut spectrum = Spectrum::new(&plan);
        fields.iter().for_each(|field| spectrum.add(field));
        spectrum.rings(1.0)
    };
    let mut own = Field::of(&picture, 0);
    own.centre();
    let moments = Moments::of(own.data.iter().map(|&v| f64::from(v)));
    own.data.iter_mut().for_each(|v| *v /= moments.deviation() as f32);
    let made: Vec<Field> = (0..6).map(|n| grain(&plate, n)).collect();
    // Rings below 1/64 of a period per sample are beyond a tile.
    for (a, b) in rings(&[own]).iter().zip(&rings(&made)).skip(1) {
        let off = 10.0 * (a.power / b.power).log10();
        assert!(a.power < 0.01 || off.abs() < 0.3, "{} periods per sample: {off} dB", a.frequency);
    }
    let of = Moments::of(made.iter().flat_map(|f| &f.data).map(|&v| f64::from(v)));
    assert!((of.deviation() - 1.0).abs() < 0.01, "{}", of.deviation());
    // Sums of two patches are nearer to a normal distribution.
    let skew = of.skew() / moments.skew();
    assert!(moments.skew() > 0.5 && (0.85..1.0).contains(&skew), "{} of {}", of.skew(), moments.skew());
}

#[test]
fn no_patch_is_seen_twice_in_a_frame() {
    let many = plate(&discs(24));
    for number in 0..3 {
        let most = repeats(&grain(&many, number));
        assert!(most < 6.0, "frame {number}: {most} sigma");
    }
    // Fewer tiles than patches repeat, which this test would see.
    let few = plate(&discs(3));
    let most = repeats(&grain(&few, 0));
    assert!(most > 9.0, "{most} sigma");
}
