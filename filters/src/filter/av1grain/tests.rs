mod reference;

use super::*;
use crate::film_grain::Segment;
use crate::film_grain::tests::any_params;
use crate::filter::testing::{bind, format, noise, run, try_bind};
use crate::frame::{ColorRange, Depth, Frame, Transfer};
use crate::settings::Value;
use md5::{Digest, Md5};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use reference::grained;

/// A picture for which the hashes with grain are known: Y = 3x + 5y, U = 7x + y, V = x + 11y in 8 bits,
/// shifted.
fn known(format: Format) -> Frame {
    let mut frame = Frame::new(format);
    let Depth::Bits(bits) = format.depth else { panic!() };
    for p in 0..format.planes() {
        let (w, h) = format.plane_size(p);
        for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
            let v = [3 * x + 5 * y, 7 * x + y, x + 11 * y][p] & 255;
            match bits {
                8 => frame.row_mut::<u8>(p, y)[x] = v as u8,
                _ => frame.row_mut::<u16>(p, y)[x] = (v << (bits - 8)) as u16,
            }
        }
    }
    frame
}

fn md5(frame: &Frame) -> String {
    let mut md5 = Md5::new();
    for p in 0..frame.format().planes() {
        for y in 0..frame.format().plane_size(p).1 {
            md5.update(frame.plane(p).row_bytes(y));
        }
    }
    md5.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

fn with_table(table: Table, format: &Format, given: &[(&str, &str)], level: Level) -> Box<dyn Filter> {
    let mut values = Values::new(ENTRY.settings);
    values.set("table", Value::File(FileAsset::named("t").read(Arc::new(table), 1))).unwrap();
    for (id, text) in given {
        let setting = ENTRY.settings.iter().find(|s| s.id == *id).unwrap();
        values.set(id, setting.parse(text).unwrap()).unwrap();
    }
    ENTRY.bind(&values, format, 42, level).unwrap()
}

/// Compares with the MD5 of planes from decoders and a C program.
#[test]
fn decoders_say_the_same() {
    for (number, name, width, height, want) in [
        (1, "yuv420p", 97, 71, "957584a8c2214647ef68400845cef8a4"),
        (11, "yuv422p10", 97, 71, "a54309c882c5d40946787397b880c92b"),
        (15, "yuv444p12", 97, 71, "bffdbc137f64b4ad7e39ece90a5c9fb1"),
        (14, "gray", 97, 71, "75321361732a0b11db221bef74f4bdcf"),
        (16, "yuv420p10", 353, 199, "2029e40da17d907a29b5be3a2e2cab38"),
    ] {
        let format = format(name, width, height);
        let source = known(format);
        let (params, seed) = vector(number).unwrap();
        assert_eq!(md5(&grained(&source, &params, seed)), want, "reference, vector {number}");
        for &level in Level::available() {
            let filter = bind(&ENTRY, &[("vector", &number.to_string())], &format, level);
            assert_eq!(md5(&run(&*filter, &source, 0, &[])), want, "vector {number} {level}");
        }
    }
}

/// All levels and bands agree with the reference, over pictures of all codes, sizes and parameters.
#[test]
fn rows_are_the_reference() {
    let names = [
        "gray",
        "gray10",
        "gray12",
        "yuv420p",
        "yuv422p",
        "yuv444p",
        "yuv420p10",
        "yuv422p10",
        "yuv444p10",
        "yuv420p12",
        "yuv422p12",
        "yuv444p12",
        "gbrp",
        "gbrp10",
        "yuv440p",
        "yuvj420p",
    ];
    let config = Config { cases: 160, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let case = (any_params(), any::<u16>(), 0..names.len(), 1u32..140, 1u32..110, any::<bool>());
    TestRunner::new_with_rng(config, rng)
        .run(&case, |(params, seed, name, width, height, full)| {
            let range = if full { ColorRange::Full } else { ColorRange::Limited };
            let format = Format { range, ..format(names[name], width, height) };
            let source = noise(format);
            let want = grained(&source, &params, seed);
            let table = Table::constant(params, seed);
            for &level in Level::available() {
                let filter = with_table(table.clone(), &format, &[], level);
                prop_assert!(run(&*filter, &source, 0, &[]) == want, "{} {level}", names[name]);
            }
            let filter = with_table(table, &format, &[], Level::best());
            prop_assert!(run(&*filter, &source, 0, &[4, 8, 40]) == want, "{} bands", names[name]);
            Ok(())
        })
        .unwrap();
}

/// The upper twelve bits of deeper samples are those of a decoder.
#[test]
fn deeper_samples_keep_what_is_below() {
    let (deep, narrow) = (format("yuv420p16", 75, 41), format("yuv420p12", 75, 41));
    let source = noise(deep);
    let mut upper = Frame::new(narrow);
    for p in 0..3 {
        for y in 0..narrow.plane_size(p).1 {
            let row = source.row::<u16>(p, y);
            upper.row_mut::<u16>(p, y).iter_mut().zip(row).for_each(|(v, s)| *v = s >> 4);
        }
    }
    let run = |format, source| run(&*bind(&ENTRY, &[("vector", "3")], format, Level::best()), source, 0, &[]);
    let (got, want) = (run(&deep, &source), run(&narrow, &upper));
    for p in 0..3 {
        for y in 0..narrow.plane_size(p).1 {
            let rows = got.row::<u16>(p, y).iter().zip(want.row::<u16>(p, y)).zip(source.row::<u16>(p, y));
            assert!(rows.into_iter().all(|((g, w), s)| *g == w << 4 | s & 15), "plane {p} row {y}");
        }
    }
}

fn segment(start: i64, end: i64, apply: bool, seed: u16, of: Option<usize>) -> Segment {
    Segment { start, end, apply, seed, params: of.map(|n| vector(n).unwrap().0) }
}

/// The test vector and the seed of a frame.
fn grain_of(filter: &Av1Grain, at: &FrameTime) -> Option<(usize, u16)> {
    let (_, now) = filter.at(at)?;
    let params = filter.table.params(now.segment).unwrap();
    Some(((1..=16).find(|&n| &vector(n).unwrap().0 == params).unwrap(), now.seed))
}

fn over(table: Table, seed: Option<u16>, offset: i64) -> Av1Grain {
    let format = format("yuv420p", 64, 64);
    Av1Grain {
        blocks: Blocks::new(&format),
        format,
        table: Arc::new(table),
        seed,
        offset,
        level: Level::best(),
    }
}

/// 24 frames a second: frame 10 begins at 4166666 (the floor of 4166666.7), where a program that rounds up writes
/// 4166667.
#[test]
fn segments_hold_from_their_first_frame() {
    for start in [4_166_666, 4_166_667] {
        let table = Table {
            segments: vec![
                segment(0, start, true, 100, Some(1)),
                segment(start, 10_000_000, true, 200, None),
                segment(10_000_000, 15_000_000, false, 300, Some(3)),
                // From 30 to 48 there is no grain.
                segment(12_500_000, 15_000_000, true, 400, Some(4)),
                segment(20_000_000, i64::MAX, true, 500, None),
            ],
        };
        let filter = over(table, None, 0);
        let rate = Ratio::whole(24);
        let at = |n| grain_of(&filter, &FrameTime::of_frame(n, rate));
        assert_eq!(at(0), Some((1, 100)));
        assert_eq!(at(9), Some((1, 100 + 9 * 3381)));
        assert_eq!(at(10), Some((1, 200)), "update 0 keeps what there was, with a seed of its own");
        assert_eq!(at(23), Some((1, 200 + 13 * 3381)));
        assert_eq!((at(24), at(29)), (None, None), "the first segment that holds has none");
        assert_eq!((at(36), at(47)), (None, None));
        assert_eq!(at(48), Some((4, 500)));
        assert_eq!(at(49), Some((4, 500 + 3381)));
        // The time of a frame counts, not its number, with a tolerance of one tick.
        let late = FrameTime::of_time(1010, Ratio::new(416_667, 1_000_000).unwrap());
        assert_eq!(grain_of(&filter, &late), Some((1, 200)));
    }
}

#[test]
fn seeds_and_offsets_are_the_users() {
    let table = Table {
        segments: vec![
            segment(0, 5_000_000, true, 100, Some(1)),
            segment(5_000_000, i64::MAX, true, 7, Some(2)),
        ],
    };
    let at = |filter: &Av1Grain, n| grain_of(filter, &FrameTime::of_frame(n, Ratio::whole(24)));
    let seeded = over(table.clone(), Some(1000), 0);
    assert_eq!((at(&seeded, 2), at(&seeded, 12)), (Some((1, 7762)), Some((2, (1000 + 12 * 3381) as u16))));
    let later = over(table.clone(), None, 12);
    assert_eq!((at(&later, 0), at(&later, 1)), (Some((2, 7)), Some((2, 3388))));
    let earlier = over(table, None, -3);
    assert_eq!((at(&earlier, 2), at(&earlier, 3)), (None, Some((1, 100))));
}

/// No rate or number causes an overflow.
#[test]
fn any_moment_may_be_asked_for() {
    for rate in
        [Ratio::new(1, i64::from(i32::MAX)), Ratio::new(24_000, 1001), Ratio::new(i64::from(i32::MAX), 1)]
    {
        let format = Format { rate: rate.unwrap(), ..format("yuv420p", 64, 64) };
        for offset in ["0", "1000000000", "-1000000000"] {
            let filter = bind(&ENTRY, &[("offset", offset)], &format, Level::best());
            for n in [0, 1, -1, i64::from(i32::MAX), i64::MAX / 1_000_000] {
                filter.at(&FrameTime::of_frame(n, rate.unwrap()));
            }
        }
    }
}

#[test]
fn one_thing_says_what_the_grain_is_like() {
    let format = format("yuv420p", 64, 64);
    let refused = |given: &[(&str, &str)]| try_bind(&ENTRY, given, &format, Level::best()).err().unwrap();
    assert_eq!(refused(&[("vector", "2"), ("iso", "100")]).setting, "iso");
    assert_eq!(refused(&[("vector", "2"), ("table", "a.tbl")]).setting, "vector");
    let unread = refused(&[("table", "a.tbl")]);
    assert!(unread.setting == "table" && unread.problem.contains("a.tbl"), "{unread}");
}

/// If luma has no grain, 4:2:0 has none in chroma either; other formats may have.
#[test]
fn chroma_alone_has_grain_where_streams_can_say_so() {
    let mut params = vector(1).unwrap().0;
    params.points[0].clear();
    for (name, planes) in [("yuv420p", 0), ("yuv422p", 6), ("yuv444p", 6), ("gray", 0)] {
        let filter =
            with_table(Table::constant(params.clone(), 1), &format(name, 64, 64), &[], Level::best());
        let writes = filter.at(&FrameTime::of_frame(0, Ratio::whole(24))).map_or(0, |now| now.plan.writes.0);
        assert_eq!(writes, planes, "{name}");
    }
}

/// Compares with points computed by libaom's `photon_noise_table.c` in C.
#[test]
fn photons_are_counted_as_libaom_counts_them() {
    let points = |name, width, height, transfer, iso| {
        let format = Format { transfer, ..format(name, width, height) };
        photon::table(&format, iso).params(0).unwrap().points[0].iter().map(|p| p[1]).collect::<Vec<_>>()
    };
    let srgb = Transfer::SRGB;
    let table = photon::table(&format("yuv420p", 1920, 1080), 800.0);
    let params = table.params(0).unwrap();
    let x: Vec<u8> = params.points[0].iter().map(|p| p[0]).collect();
    assert_eq!(x, [0, 20, 39, 59, 78, 98, 118, 137, 157, 177, 196, 216, 235, 255]);
    assert_eq!(table.to_string().parse(), Ok(table));
    assert_eq!(points("yuv420p", 1920, 1080, srgb, 800.0), [1, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6]);
    assert_eq!(
        points("yuv420p", 3840, 2160, srgb, 25600.0),
        [70, 78, 65, 55, 51, 48, 46, 45, 43, 42, 42, 41, 40, 41]
    );
    assert_eq!(
        points("yuv420p10", 3840, 2160, Transfer::PQ, 6400.0),
        [85, 75, 31, 19, 13, 9, 7, 5, 4, 3, 2, 2, 1, 1]
    );
    assert_eq!(
        points("yuv420p10", 1920, 1080, Transfer::HLG, 1600.0),
        [16, 6, 5, 5, 5, 4, 4, 4, 3, 3, 2, 2, 2, 2]
    );
    assert_eq!(points("gray", 97, 71, srgb, 100.0), [0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
}
