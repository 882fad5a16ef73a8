//! Grain from a plate, against the definition.

use super::*;
use crate::filter::testing::{FORMATS, format as named};
use crate::noise::seed::key_of_frame;
use crate::plate::{PlateBuilder, PlateError};
use crate::settings::FileAsset;
use core::f64::consts::FRAC_PI_2;

/// A plate of random numbers in tiles of `side`.
fn plate(name: &str, side: u32, tiles: u32) -> Arc<Plate> {
    let format = named(name, side, side * tiles);
    let mut builder = PlateBuilder::new(&format).unwrap();
    builder.add(&picture(format)).unwrap();
    Arc::new(builder.finish().unwrap())
}

fn with(plate: &Arc<Plate>, given: &str) -> Values {
    let mut values = values(given);
    values.set("plate", Value::File(FileAsset::named("a").read(Arc::clone(plate), 1))).unwrap();
    values
}

/// n at a sample of plane `p`, from tiles and the frame's key.
fn n_at(plate: &Plate, format: &Format, p: usize, frame: i64, (x, y): (usize, usize)) -> i64 {
    let plane = plate.plane_for(format, p);
    let salt = if plane != p && format.is_chroma(p) { p as u32 } else { 0 };
    let (sx, sy) = plate.plane_subsampling(plane);
    let key = |i: u32| key_of_frame(42, frame).row(40 << 8 | salt, i);
    let (side, overlap) = (plate.side(), plate.side() / 20 * 4);
    let distance = side - overlap;
    let word = key(0);
    let offset = |word: u64| (((word & 0xffff_ffff) * (distance as u64 / 4)) >> 32) as usize * 4;
    let at = [x + (offset(word) >> sx), y + (offset(word >> 32) >> sy)];
    let [shift_x, shift_y] = [sx, sy];
    let sizes = [(side >> shift_x, overlap >> shift_x), (side >> shift_y, overlap >> shift_y)];
    // The patches over the sample, each with its weight in 1/32768 and the place in it.
    let covers = [0, 1].map(|d| {
        let (side, overlap) = sizes[d];
        let (cell, place) = (at[d] / (side - overlap), at[d] % (side - overlap));
        let w =
            |k: usize| (32768.0 * (FRAC_PI_2 * (k as f64 + 0.5) / overlap as f64).sin()).round().min(32767.0);
        if place >= overlap {
            vec![(cell + 1, place, 32768i64)]
        } else {
            let far = place + side - overlap;
            vec![(cell + 1, place, w(place) as i64), (cell, far, w(overlap - 1 - place) as i64)]
        }
    });
    let columns = format.width as usize / distance + 3;
    let tile = |column: usize, row: usize, x: usize, y: usize| {
        let (cell, count) = (row * columns + column, 4 * plate.count());
        let all: Vec<u32> = (0..count as u32)
            .map(|i| {
                let (key, bits) = (key(1 + (cell / count) as u32), 32 - (count as u32 - 1).leading_zeros());
                let mut v = i;
                loop {
                    for round in 0..4 {
                        let word = mix64(key.wrapping_add(round));
                        let add = (word >> 32) as u32;
                        v = v.wrapping_mul(word as u32 | 1).wrapping_add(add) % (1 << bits);
                        v ^= v >> (bits / 2);
                    }
                    if v < count as u32 {
                        return v;
                    }
                }
            })
            .collect();
        let mut sorted = all.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..count as u32), "a permutation");
        let drawn = all[cell % count] as usize;
        let (w, h) = (sizes[0].0, sizes[1].0);
        let x = if drawn & 1 != 0 { w - 1 - x } else { x };
        let y = if drawn & 2 != 0 { h - 1 - y } else { y };
        i64::from(plate.samples(plane)[(drawn / 4 * h + y) * w + x])
    };
    let round = |sum: i64| (sum + 16384) >> 15;
    let h = |row: usize, y: usize| {
        if let [(column, x, _)] = covers[0][..] {
            return tile(column, row, x, y);
        }
        round(covers[0].iter().map(|&(column, x, w)| w * tile(column, row, x, y)).sum())
    };
    if let [(row, y, _)] = covers[1][..] {
        return h(row, y);
    }
    round(covers[1].iter().map(|&(row, y, w)| w * h(row, y)).sum())
}

#[test]
fn patches_are_placed_as_defined() {
    for (plate, name, width, height) in [
        (plate("yuv420p16", 64, 3), "yuv420p16", 131, 83),
        (plate("yuv420p16", 36, 1), "yuv420p16", 131, 83),
        (plate("yuv411p", 40, 2), "yuv411p16", 70, 50),
        (plate("gray", 48, 5), "yuv422p16", 95, 61),
        (plate("gbrp", 48, 5), "gbrp16", 95, 61),
        (plate("yuv444p", 48, 5), "gbrp16", 95, 61),
        (plate("yuv420p16", 160, 1), "yuv420p16", 1, 1),
    ] {
        let format = Format { range: ColorRange::Full, ..named(name, width, height) };
        // One code is a standard deviation, so that n shows up to a rounding.
        let values = with(&plate, "strength=16:chroma=1:curve=flat:space=video");
        let filter = ENTRY.bind(&values, &format, 42, Level::SCALAR).unwrap();
        for frame in [0, -7] {
            let mut got = Frame::new(format);
            for p in 0..format.planes() {
                (0..format.plane_size(p).1).for_each(|y| got.row_mut::<u16>(p, y).fill(32768));
            }
            render(&*filter, &mut got, frame, &[]);
            for p in 0..format.planes() {
                let (w, h) = format.plane_size(p);
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    let n = n_at(&plate, &format, p, frame, (x, y));
                    let want = 32768.0 + n as f64 / 1024.0 * 16.0 * 256.0;
                    let is = f64::from(got.row::<u16>(p, y)[x]);
                    assert!(
                        (is - want).abs() <= 6.0,
                        "{name} plane {p} {x},{y} of {frame}: {is}, not {want}"
                    );
                }
            }
        }
    }
}

#[test]
fn levels_and_bands_agree_and_settings_work() {
    for &(name, width, height) in FORMATS {
        let format = named(name, width, height);
        let own = plate("yuv420p", 40, 3);
        for (given, field) in [("", false), ("temporal=0.4:monochrome=true", false), ("hold=2", true)] {
            let format = if field { format.field(Parity::Top) } else { format };
            let values = with(&own, given);
            let source = picture(format);
            let made = |level, cuts: &[usize]| {
                let mut frame = source.clone();
                render(&*ENTRY.bind(&values, &format, 42, level).unwrap(), &mut frame, 5, cuts);
                frame
            };
            let want = made(Level::SCALAR, &[]);
            assert!(width * height < 9 || want != source, "{name} {given}");
            for &level in Level::available() {
                for cuts in [&[][..], &[4], &[4, 8]] {
                    let cuts: Vec<usize> =
                        cuts.iter().copied().filter(|&c| c < format.plane_size(0).1).collect();
                    assert!(made(level, &cuts) == want, "{name} {given} {level} {cuts:?}");
                }
            }
        }
    }
}

/// The variance is the same where patches overlap; correlated frames keep it.
#[test]
fn seams_do_not_show_in_the_variance() {
    let plate = plate("gray16", 160, 24);
    let format = Format { range: ColorRange::Full, ..named("gray16", 512, 256) };
    for given in ["", ":temporal=0.3"] {
        let values = with(&plate, &format!("strength=16:curve=flat:space=video{given}"));
        let filter = ENTRY.bind(&values, &format, 42, Level::SCALAR).unwrap();
        // By eighths of the distance between patches, across and down.
        let mut sums = [[(0.0, 0.0); 8]; 2];
        for frame in 0..12 {
            let mut got = Frame::new(format);
            (0..256).for_each(|y| got.row_mut::<u16>(0, y).fill(32768));
            render(&*filter, &mut got, frame, &[]);
            let word = key_of_frame(42, frame).row(40 << 8, 0);
            let offset = [word, word >> 32].map(|w| (((w & 0xffff_ffff) * 32) >> 32) as usize * 4);
            for (x, y) in (0..256).flat_map(|y| (0..512).map(move |x| (x, y))) {
                let d = (f64::from(got.row::<u16>(0, y)[x]) - 32768.0) / 4096.0;
                for (sums, at) in sums.iter_mut().zip([x + offset[0], y + offset[1]]) {
                    let sum = &mut sums[at % 128 / 16];
                    *sum = (sum.0 + d * d, sum.1 + 1.0);
                }
            }
        }
        for (phase, (power, count)) in sums.iter().flatten().enumerate() {
            let off = power / count - 1.0;
            let bound = if given.is_empty() { 0.05 } else { 0.08 };
            assert!(off.abs() < bound, "{given} phase {phase}: {off}");
        }
    }
}

#[test]
fn what_is_no_grain_is_refused() {
    let small = named("gray", 200, 31);
    assert_eq!(PlateBuilder::new(&small).unwrap_err(), PlateError::Small { size: (200, 31) });
    let flat = named("yuv420p", 64, 64);
    let mut builder = PlateBuilder::new(&flat).unwrap();
    builder.add(&Frame::new(flat)).unwrap();
    assert_eq!(builder.finish().unwrap_err(), PlateError::Flat);
    assert_eq!(PlateBuilder::new(&flat).unwrap().finish().unwrap_err(), PlateError::None);
    let float = named("grayf32", 64, 64);
    let (mut huge, mut builder) = (Frame::new(float), PlateBuilder::new(&float).unwrap());
    assert_eq!(builder.add(&picture(float)), Err(PlateError::NotFinite { picture: 0 }));
    huge.row_mut::<f32>(0, 3)[5] = f32::MAX;
    let mut builder = PlateBuilder::new(&float).unwrap();
    builder.add(&huge).unwrap();
    let _ = builder.finish();

    let unread = values("plate=grain.y4m");
    let format = named("gray", 64, 64);
    let error = ENTRY.bind(&unread, &format, 42, Level::SCALAR).err().unwrap();
    assert_eq!(error.setting, "plate");
    let twice = with(&plate("gray", 64, 1), "size=2");
    assert_eq!(ENTRY.bind(&twice, &format, 42, Level::SCALAR).err().unwrap().setting, "size");
}

/// A plate is the same, whatever offset, factor and depth its pictures have.
#[test]
fn the_mean_and_the_strength_of_the_file_do_not_matter() {
    let made = |name: &str, of: &dyn Fn(u64) -> f64| {
        let format = named(name, 64, 64);
        let mut frame = Frame::new(format);
        for (x, y) in (0..64usize).flat_map(|y| (0..64usize).map(move |x| (x, y))) {
            let v = of(mix64((y * 64 + x) as u64) % 64);
            match format.depth {
                Depth::Bits(8) => frame.row_mut::<u8>(0, y)[x] = v as u8,
                Depth::Bits(_) => frame.row_mut::<u16>(0, y)[x] = v as u16,
                Depth::Float => frame.row_mut::<f32>(0, y)[x] = v as f32,
            }
        }
        let mut builder = PlateBuilder::new(&format).unwrap();
        builder.add(&frame).unwrap();
        builder.finish().unwrap().samples(0).to_vec()
    };
    let want = made("gray", &|v| 60.0 + v as f64);
    assert_eq!(made("gray16", &|v| 5000.0 + 300.0 * v as f64), want);
    assert_eq!(made("grayf32", &|v| v as f64 / 64.0 - 0.5), want);
    let power = want.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>() / want.len() as f64;
    assert!((power.sqrt() / 1024.0 - 1.0).abs() < 1e-3);
}
