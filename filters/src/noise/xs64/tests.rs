//! Test vectors of the definition, and all fast implementations against the slow one.

use super::super::seed::fnv1a64;
use super::super::{CycleStart, Distribution, Generator, Layout, Shape, Stream, distribution, noise_at};
use super::*;

fn hd(distribution: Distribution) -> Shape {
    Shape::new(&[(1920, 1080); 3], Layout::Keyed, distribution).unwrap()
}

fn bind(shape: &Shape, seed: u64, level: Level) -> Stream {
    Stream::new(Generator::Xs64, shape, CycleStart::Seed(seed), Layer::BASE, level).unwrap()
}

#[test]
fn vectors() {
    type Row = (u64, i64, usize, u32, [u16; 12], u16);
    #[rustfmt::skip]
    let rows: [Row; 4] = [
        (0, 0, 0, 0, [0x0383, 0xb9cb, 0xa2be, 0x6651, 0x48b3, 0x9931, 0x7c9e, 0x08e6, 0x3f0b, 0x5686, 0x76a7, 0x37aa], 0x5be1),
        (1, 0, 0, 0, [0x6f71, 0xc323, 0x8c8e, 0xf361, 0x3496, 0xc318, 0xc7ce, 0x1b3e, 0x9060, 0x14e2, 0x8328, 0x20fc], 0x9490),
        (0, 1, 0, 0, [0x7a00, 0xfe1e, 0xb784, 0xfc5c, 0x2f8c, 0x2ffc, 0x0f6e, 0x7ffe, 0x8469, 0x7b14, 0x5388, 0xbf4f], 0x1464),
        (0x0123_4567_89ab_cdef, 1_000_000, 2, 1079,
            [0x2e55, 0x4fe9, 0xd71d, 0x3974, 0xea3c, 0x884e, 0x0864, 0xb825, 0x4581, 0x07c0, 0xf60a, 0xb4ac], 0x9ed4),
    ];
    for (seed, frame, plane, y, want, last) in rows {
        for &level in Level::available() {
            let mut row = vec![0; 1920];
            bind(&hd(Distribution::UNIFORM), seed, level).fill_row(frame, plane, y, 0..1920, &mut row);
            assert_eq!((&row[..8], &row[32..36], row[1919]), (&want[..8], &want[8..], last), "{level}");
        }
    }
}

#[test]
fn plane_hashes_of_words_and_of_h8() {
    for &level in Level::available() {
        let stream = bind(&hd(Distribution::UNIFORM), 1, level);
        let (mut words, mut bells) = (Vec::new(), Vec::new());
        let (mut row, mut c) = (vec![0; 2048], vec![0; 2048]);
        for y in 0..1080 {
            stream.fill_row(0, 0, y, 0..1920, &mut row[..1920]);
            words.extend(row[..1920].iter().flat_map(|w| w.to_le_bytes()));
            bind(&hd(Distribution::H8), 1, level).fill_row(0, 0, y, 0..1920, &mut row);
            distribution::centre(level, Distribution::H8, LANES, &row, &mut c);
            if y == 0 {
                assert_eq!(c[..8], [-2107, -10143, -8746, 9184, -3663, -2752, -7483, -1931]);
            }
            bells.extend(c[..1920].iter().flat_map(|w| w.to_le_bytes()));
        }
        assert_eq!(fnv1a64(&words), 0x93de_dc1a_55b1_afa5, "{level}");
        assert_eq!(fnv1a64(&bells), 0xed2d_012f_21e9_77ff, "{level}");
    }
}

#[test]
fn every_body_is_the_reference_at_every_length() {
    let start = Lanes::of_key(99);
    for &level in Level::available() {
        for steps in (0..14).chain([63, 64, 65]) {
            for cut in (0..=steps).step_by(3) {
                let mut lanes = start;
                let mut got = vec![0xaaaa; steps * LANES + 20];
                let (a, b) = got[1..].split_at_mut(cut * LANES);
                fill(level, &mut lanes, a);
                fill(level, &mut lanes, b);
                for i in 0..LANES {
                    let mut w = start.w.map(|p| p[i]);
                    for s in 0..steps {
                        let (next, out) = step(w);
                        assert_eq!(got[1 + s * LANES + i], out, "{level} {steps} {cut}");
                        w = next;
                    }
                    assert_eq!(lanes.w.map(|p| p[i]), w);
                }
                assert_eq!(got[1 + steps * LANES..], [0xaaaa; 19]);
            }
        }
    }
}

#[test]
fn jumps_are_steps_and_the_period_is_full() {
    let start = Lanes::of_key(5);
    for steps in [0u64, 1, 2, 31, 1000] {
        let (mut jumped, mut stepped) = (start, start);
        jump(&mut jumped, steps);
        fill(Level::best(), &mut stepped, &mut vec![0; steps as usize * LANES]);
        assert_eq!(jumped, stepped);
    }
    let m = matrix();
    assert_eq!(m.pow((1 << 64) - 1), Matrix64::IDENTITY);
    for prime in [3u128, 5, 17, 257, 641, 65537, 6_700_417] {
        assert_ne!(m.pow(((1 << 64) - 1) / prime), Matrix64::IDENTITY, "{prime}");
    }
}

#[test]
fn one_pixel_is_the_row_for_any_tile_and_shape() {
    for distribution in [Distribution::UNIFORM, Distribution::Sum(3), Distribution::Sum(16), Distribution::H8]
    {
        let shape = Shape::new(&[(600, 3), (33, 2)], Layout::Keyed, distribution).unwrap();
        let stream = bind(&shape, 77, Level::best());
        let block = shape.block(LANES as u32);
        for frame in [0, -1, i64::MIN, i64::MAX] {
            for (plane, w, y) in [(0, 600u32, 2), (1, 33, 1)] {
                let pixels = w.next_multiple_of(block) as usize;
                let mut row = vec![0; pixels * distribution.words() as usize];
                stream.fill_row(frame, plane, y, 0..w, &mut row);
                let mut c = vec![0; pixels];
                distribution::centre(Level::SCALAR, distribution, LANES, &row, &mut c);
                for x in 0..w {
                    assert_eq!(
                        noise_at(Generator::Xs64, &shape, 77, (frame, plane), x, y),
                        c[x as usize],
                        "{distribution:?} {x}"
                    );
                }
                for x in [1, 32, 257, 599].into_iter().filter(|x| *x < w) {
                    let skip = (x / block * block * distribution.words()) as usize;
                    let mut tile = vec![0; row.len() - skip];
                    stream.fill_row(frame, plane, y, x..w, &mut tile);
                    assert_eq!(tile, row[skip..], "{distribution:?} from {x}");
                }
            }
        }
    }
}
