//! Which results must be equal, and which must differ.

use super::made::{DEPTHS, FACTORS, LAYOUTS, flat, format, read};
use super::{Case, FRAME, Random, SEED, bind, first_difference, frames, rows, step};
use grainfield_filters::catalog::FILTERS;
use grainfield_filters::frame::{Family, FieldOrder, Format, Frame, Parity};
use grainfield_filters::host::CurrentThread;
use grainfield_filters::settings::Kind;
use grainfield_filters::simd::Level;

/// YUV 4:4:4 planes that are tagged G, B and R are filtered like RGB.
#[test]
fn planes_tagged_gbr_are_rgb() {
    for (number, entry) in FILTERS.iter().enumerate() {
        for round in 0..12 {
            let depth = DEPTHS[round % DEPTHS.len()];
            let mut random = Random(SEED ^ (100 * number + round) as u64);
            let rgb = format(LAYOUTS[7], depth, (66, 34), FACTORS[round], &mut random);
            let Ok(case) = Case::new(entry, rgb, &mut random) else { panic!("{}", entry.name) };
            let yuv = Format { family: Family::Yuv, ..rgb };
            let mut source = Frame::new(yuv);
            for (p, y) in rows(&yuv) {
                source.row_bytes_mut(p, y).copy_from_slice(case.source.plane(p).row_bytes(y));
            }
            let chain = bind(std::slice::from_ref(&case.step), yuv, Level::best(), None).unwrap();
            let [got] = frames(&chain, &source, [FRAME], &CurrentThread);
            let [want] = frames(&case.chain(Level::best()), &case.source, [FRAME], &CurrentThread);
            let sizes = [&got, &want].map(|f| (f.format().width, f.format().height));
            assert_eq!(sizes[0], sizes[1], "{case}");
            for (p, y) in rows(want.format()) {
                assert!(got.plane(p).row_bytes(y) == want.plane(p).row_bytes(y), "{case}: plane {p} row {y}");
            }
        }
    }
}

/// For a filter with the setting `static`, the fields of a frame differ, but frames do not.
#[test]
fn fields_of_static_frames_differ() {
    let format =
        Format { fields: FieldOrder::BottomFirst, ..Format::from_name("yuv420p10", 64, 32).unwrap() };
    let mut walked = 0;
    for entry in FILTERS.iter().filter(|e| e.settings.iter().any(|s| s.id == "static")) {
        let choices = entry.settings.iter().filter_map(|s| match s.kind {
            Kind::Choice(all) => Some(all.iter().map(|c| format!("{}={}", s.id, c.id))),
            _ => None,
        });
        for way in choices.flatten().chain([String::new()]) {
            let step = step(entry, read(entry, &format!("static=true:{way}")));
            // A uniform picture is dithered only if its value lies between two codes.
            let bits = (entry.name == "dither").then_some(8);
            let mut source = flat(&format);
            (0..32).for_each(|y| source.row_mut::<u16>(0, y).fill(514));
            let Ok(chain) = bind(&[step], format, Level::best(), bits) else { continue };
            let [a, b] = frames(&chain, &source, [2, FRAME], &CurrentThread);
            assert_eq!(first_difference(&a, &b), None, "{} {way}: frames differ", entry.name);
            let plain = (0..32).all(|y| a.plane(0).row_bytes(y) == a.plane(0).row_bytes(0));
            if plain {
                continue;
            }
            let fields = [Parity::Top, Parity::Bottom].map(|parity| a.as_ref().field(parity));
            let same = (0..16).all(|y| fields[0].plane(0).row_bytes(y) == fields[1].plane(0).row_bytes(y));
            assert!(!same, "{} {way}: both fields are the same", entry.name);
            walked += 1;
        }
    }
    assert!(walked > 20, "{walked}");
}
