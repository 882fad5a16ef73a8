//! Births, motion and the pool against their definitions.

use super::births::*;
use super::record::STEP;
use super::*;
use crate::fixed;
use crate::ratio::Ratio;
use crate::simd::Level;
use proptest::prelude::*;
use std::sync::Arc;

impl View {
    /// Whether a square of half width `size` at `position`, turned any way, touches the view.
    fn touches(&self, position: [f32; 3], size: f32) -> bool {
        let wide = size * core::f32::consts::SQRT_2;
        (0..3).all(|a| position[a] + wide >= self.low[a] && position[a] - wide <= self.high[a])
    }
}

impl PlacedBlock {
    /// The living of a block with sizes and angles, in order of their numbers: number and state.
    fn iter(&self) -> impl Iterator<Item = (i64, Placed)> + '_ {
        self.lanes().map(|j| {
            let placed = Placed {
                age: self.age[j],
                life: self.life[j],
                position: [0, 1, 2].map(|a| self.position[a][j]),
                size: self.size[j],
                angle: self.angle[j],
                bits: self.bits[j],
            };
            (self.number(j), placed)
        })
    }
}

impl Columns {
    /// Particle `lane` as the record of 32 bytes.
    pub(super) fn particle(&self, lane: usize, kind: u16) -> Particle {
        Particle {
            birth: self.birth[lane],
            position: [0, 1, 2].map(|a| self.position[a][lane]),
            direction: [0, 1, 2].map(|a| self.direction[a][lane]),
            kind,
            seed: self.seed[lane],
        }
    }
}

/// The velocity that a particle starts with, in units a second: the definition of [`starts`].
fn start(kind: &Kind, particle: &Particle) -> [f32; 3] {
    let mut draws = Draws::of(particle.seed);
    let values: [f32; STANDARD] = kind.standard().map(|s| s.at(draws.draw()));
    let speed = values[Parameter::Speed as usize] * STEP;
    particle.direction.map(|d| f32::from(d) * speed)
}

/// Another's births through the trait's own search only.
#[derive(Debug)]
struct Searched<'a>(&'a dyn Births);

impl Births for Searched<'_> {
    fn born(&self, at: i64) -> i64 {
        self.0.born(at)
    }
}

fn times(births: &dyn Births, level: Level, first: i64) -> [i64; BLOCK] {
    let mut out = [0; BLOCK];
    births.times(level, first, &mut out);
    out
}

/// Times agree with counts, at every level, and with the search.
fn check(births: &dyn Births, first: i64) {
    let want = times(&Searched(births), Level::SCALAR, first);
    for (j, &t) in want.iter().enumerate() {
        let number = first + j as i64;
        if t == NEVER {
            assert!(births.born(LAST) <= number);
        } else {
            assert!(births.born(t) > number, "{births:?} {number} at {t}");
            assert!(t == -LAST || births.born(t - 1) <= number, "{births:?} {number} at {t}");
        }
    }
    for &level in Level::available() {
        assert_eq!(times(births, level, first), want, "{births:?} {first} {level}");
    }
}

#[test]
fn one_birth_a_frame_is_one_birth_a_frame() {
    for (num, den) in [(25, 1), (24_000, 1001), (30_000, 1001), (60, 1), (120_000, 1001), (2997, 125)] {
        let rate = Ratio::new(num, den).unwrap();
        // 24000/1001 is no whole number of millionths: 24 a second in film time instead.
        let steady =
            ConstantRate::new(if den == 1001 { num as f64 / 1000.0 } else { rate.to_f64() }).unwrap();
        for n in (0..2000).chain([1_000_000, 10_000_000, 123_456_789]) {
            let at = if den == 1001 {
                flicks(Ratio::new(n * 1000, num).unwrap())
            } else {
                flicks(Ratio::new(n * den, num).unwrap())
            };
            assert_eq!(steady.born(at), n, "{num}/{den} frame {n}");
        }
    }
}

#[test]
fn times_of_steady_births() {
    // From 2^44 millionths on, quotients are looked at twice.
    let border = [17_592_186.0, 17_592_186.044_416, 17_592_186.044_417];
    let rates = [0.0, 1e-6, 0.1, 1.0, 24.0, 29.97, 1e3, 715_000.0, 9_999_999.999_999, 1e8];
    for r in rates.into_iter().chain(border) {
        let steady = ConstantRate::new(r).unwrap();
        for first in
            [0, 1, -1, -64, -65, 1000, 123_456_789, -123_456_789, 1 << 40, -(1 << 40), 1 << 55, -(1 << 55)]
        {
            check(&steady, first);
        }
    }
}

#[test]
fn rates_that_cannot_be_are_refused() {
    for r in [-1.0, 1.1e8, f64::NAN, f64::INFINITY] {
        assert!(matches!(ConstantRate::new(r), Err(RateError::Range(_))), "{r}");
    }
    assert_eq!(Bursts::new(&[(5, 1), (4, 1)]), Err(RateError::Order(1)));
}

/// Births whose rate grows from time 0 on: so many in the first second, four times as many in the first two.
#[derive(Debug)]
struct Accelerating(i64);

impl Births for Accelerating {
    fn born(&self, at: i64) -> i64 {
        // For twelve days, so that squares stay in range.
        let (at, second) = (i128::from(at.clamp(0, FLICKS << 20)), i128::from(FLICKS));
        (at * at * i128::from(self.0) / (second * second)) as i64
    }
}

#[test]
fn times_follow_from_any_count() {
    let births = Accelerating(10);
    assert_eq!([-1, 0, 1, 3].map(|s| births.born(s * FLICKS)), [0, 0, 10, 90]);
    for first in [-100, 0, 1 << 30] {
        check(&births, first);
    }
    check(&Accelerating(0), 0);
}

#[test]
fn bursts_come_at_once() {
    let bursts = Bursts::new(&[(100, 3), (200, 0), (300, 70)]).unwrap();
    assert_eq!([99, 100, 299, 300].map(|t| bursts.born(t)), [0, 3, 3, 73]);
    for first in [-70, -1, 0, 2, 3, 60] {
        check(&bursts, first);
    }
}

fn spreads(values: [(f32, f32); STANDARD]) -> [Spread; STANDARD] {
    values.map(|(base, offset)| Spread { base, offset })
}

fn test_kind() -> Kind {
    Kind::new(
        spreads([
            (1.4, 0.9),
            (80.0, 60.0),
            (0.0, 20.0),
            (98.1, 5.0),
            (0.0, 9.0),
            (2.0, 1.5),
            (0.3, 0.9),
            (0.0, 1.0),
            (0.2, 2.0),
        ]),
        vec![Spread { base: 1.0, offset: 0.5 }; 2],
    )
    .unwrap()
}

fn test_emitter(births: Arc<dyn Births>) -> Emitter {
    let shape = EmitterShape::new([3.0, -7.0, 1.0], [400.0, 20.0, 5.0], [0.2, -1.0, 0.1], 0.4).unwrap();
    Emitter { seed: 99, kind: 1, births, shape }
}

fn every_births() -> Vec<Arc<dyn Births>> {
    vec![
        Arc::new(ConstantRate::new(333.3).unwrap()),
        Arc::new(Accelerating(60)),
        Arc::new(Bursts::new(&[(FLICKS, 500), (FLICKS * 2, 1), (FLICKS * 5, 130)]).unwrap()),
    ]
}

/// All that live at `at`, found by looking at every number that could.
fn living(emitter: &Emitter, kind: &Kind, cap: Option<u32>, at: i64) -> Vec<(i64, Placed)> {
    let end = emitter.births.born(at + FLICKS);
    let oldest = cap.map_or(i64::MIN, |c| emitter.births.born(at) - i64::from(c));
    (emitter.births.born(at - 9 * FLICKS)..end)
        .filter(|&n| n >= oldest)
        .filter_map(|n| placed(kind, &emitter.particle(n), at).map(|p| (n, p)))
        .collect()
}

fn read(pool: &Pool, view: &View) -> Vec<(i64, Placed)> {
    let mut block = PlacedBlock::EMPTY;
    let mut all = Vec::new();
    for index in 0..pool.blocks() {
        pool.place(index, view, &mut block);
        pool.set_size_and_angle(&mut block);
        all.extend(block.iter());
    }
    all
}

#[test]
fn the_pool_holds_the_living_particles_after_any_sequence_of_frames() {
    // Lives that vary much use the survivor cache, others do not.
    let mut even = *test_kind().standard();
    even[Parameter::Life as usize] = Spread { base: 2.0, offset: 0.2 };
    for kind in [test_kind(), Kind::new(even, vec![]).unwrap()] {
        a_pool_holds_who_lives(&kind);
    }
}

fn a_pool_holds_who_lives(kind: &Kind) {
    for births in every_births() {
        let emitter = test_emitter(births);
        let times: Vec<i64> = (-20..80).map(|n| n * FLICKS / 10 + n * 7).collect();
        for cap in [None, Some(100), Some(0)] {
            let want: Vec<_> = times.iter().map(|&t| living(&emitter, kind, cap, t)).collect();
            let most = want.iter().map(Vec::len).max();
            assert!(cap.is_some() || most > Some(300), "{most:?} of {:?}", emitter.births);
            for &level in Level::available() {
                let span = times[0]..times[99] + 1;
                let mut pool = Pool::new(emitter.clone(), kind.clone(), cap, span, 100_000, level).unwrap();
                let bytes = pool.bytes();
                let shuffled = (0..100).map(|i| i * 37 % 100);
                for i in (0..100).chain((0..100).rev()).chain(shuffled) {
                    pool.seek(times[i]);
                    assert_eq!(read(&pool, &View::ALL), want[i], "{:?} {cap:?} {level} {i}", emitter.births);
                }
                assert_eq!(pool.bytes(), bytes);
            }
        }
    }
}

/// Computed apart, in Python, from the definitions: every operation in double, then rounded to single.
#[test]
fn golden_particles() {
    let emitter = test_emitter(Arc::new(ConstantRate::new(1234.5).unwrap()));
    // Number, birth, bits of the position, direction, seed.
    type Born = (i64, i64, [u32; 3], [i16; 3], u32);
    let births: [Born; 4] = [
        (0, 571_568, [0x4389_7e00, 0xc0de_14f2, 0xc075_5e94], [13892, -29496, -3269], 0x42f3_a936),
        (-1, 0, [0x438a_4357, 0x4095_70b4, 0x40a7_8252], [13879, -22106, 19808], 0x79ce_5dc9),
        (12345, 7_056_571_568, [0xc3a8_c163, 0xbf88_d6d8, 0x4065_49d9], [-7271, -31950, -20], 0x17f2_3a6a),
        (
            1 << 40,
            628_445_042_170_474_849,
            [0x43c8_cdec, 0xc198_f72f, 0x3f02_fb00],
            [6923, -31481, 5892],
            0x07e9_528f,
        ),
    ];
    for (number, birth, position, direction, seed) in births {
        let p = emitter.particle(number);
        assert_eq!((p.birth, p.position.map(f32::to_bits)), (birth, position), "{number}");
        assert_eq!((p.direction, p.seed), (direction, seed), "{number}");
    }
    // All that live at frame 1000 of 24 a second: FNV-1a-64 of number, position, size, angle and sequence.
    let mut pool = Pool::new(emitter, test_kind(), None, 0..LAST, 5000, Level::best()).unwrap();
    pool.seek(flicks(Ratio::new(1000, 24).unwrap()));
    let all = read(&pool, &View::ALL);
    let hash = |h: u64, bytes: &[u8]| {
        bytes.iter().fold(h, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
    };
    let sum = all.iter().fold(0xcbf2_9ce4_8422_2325, |h, (number, p)| {
        let [x, y, z] = p.position;
        let words = [x, y, z, p.size, p.angle].map(f32::to_bits);
        let h = words.iter().fold(hash(h, &number.to_le_bytes()), |h, w| hash(h, &w.to_le_bytes()));
        hash(h, &p.bits.to_le_bytes())
    });
    assert_eq!((all.len(), sum), (1732, 0xf9fd_71fc_9ab5_bec7));
}

#[test]
fn records_of_the_pool_are_the_emitters() {
    let emitter = test_emitter(Arc::new(ConstantRate::new(777.0).unwrap()));
    let mut pool = Pool::new(emitter.clone(), test_kind(), None, 0..FLICKS * 9, 5000, Level::best()).unwrap();
    pool.seek(FLICKS * 7);
    let mut block = PlacedBlock::EMPTY;
    let mut seen = 0;
    for index in 0..pool.blocks() {
        pool.place(index, &View::ALL, &mut block);
        for lane in block.lanes() {
            let record = pool.block(index).unwrap().particle(lane, emitter.kind);
            assert_eq!(record, emitter.particle(block.number(lane)));
            seen += 1;
        }
    }
    assert!(seen > 1000, "{seen}");
}

#[test]
fn starts_are_the_definitions() {
    let emitter = test_emitter(Arc::new(ConstantRate::new(777.0).unwrap()));
    let (mut from, mut starts) = ([[0.0; BLOCK]; 3], [[0.0; BLOCK]; 3]);
    let mut block = PlacedBlock::EMPTY;
    for &level in Level::available() {
        let mut pool = Pool::new(emitter.clone(), test_kind(), None, 0..FLICKS * 9, 5000, level).unwrap();
        pool.seek(FLICKS * 7);
        for index in 0..pool.blocks() {
            pool.place(index, &View::ALL, &mut block);
            pool.set_size_and_angle(&mut block);
            pool.starts(index, &mut from, &mut starts);
            let births = pool.births(index).unwrap();
            for lane in block.lanes() {
                let number = block.number(lane);
                let particle = emitter.particle(number);
                assert_eq!(starts.map(|row| row[lane]), start(pool.kind(), &particle), "{level} {number}");
                assert_eq!(from.map(|row| row[lane]), particle.position, "{level} {number}");
                assert_eq!(births[lane], particle.birth, "{level} {number}");
            }
        }
    }
}

#[test]
fn frame_ten_million_is_as_near_as_any() {
    let emitter = test_emitter(Arc::new(ConstantRate::new(300.0).unwrap()));
    let kind = test_kind();
    let at = flicks(Ratio::new(10_000_000, 24).unwrap());
    let mut pool = Pool::new(emitter.clone(), kind.clone(), None, 0..at + 1, 2000, Level::best()).unwrap();
    pool.seek(at);
    assert_eq!(read(&pool, &View::ALL), living(&emitter, &kind, None, at));
}

#[test]
fn times_outside_the_span_do_no_harm() {
    let births = Arc::new(Accelerating(10));
    let mut pool = Pool::new(test_emitter(births), test_kind(), None, 0..FLICKS, 100, Level::best()).unwrap();
    for at in [i64::MIN, -LAST, -1, FLICKS * 5, LAST, i64::MAX] {
        pool.seek(at);
        assert!(read(&pool, &View::ALL).len() <= 64 * 3);
    }
}

#[test]
fn too_many_are_refused_beforehand() {
    let emitter = test_emitter(Arc::new(ConstantRate::new(1e8).unwrap()));
    let made = Pool::new(emitter, test_kind(), None, 0..FLICKS, 1_000_000, Level::best());
    assert!(matches!(made, Err(PoolError::TooMany { alive: 229_999_000.., most: 1_000_000 })));
}

#[test]
fn a_cap_never_brings_anyone_back() {
    let emitter = test_emitter(Arc::new(Bursts::new(&[(0, 500), (FLICKS, 300), (FLICKS * 3, 20)]).unwrap()));
    let lives = LiveWindow::of(&test_kind(), Some(150));
    let mut dropped = i64::MIN;
    for n in 0..500 {
        let window = lives.window(&emitter, n * FLICKS / 60);
        assert!(window.end - window.start <= 150);
        assert!(window.start >= dropped);
        dropped = window.start;
    }
}

#[test]
fn culling_allows_for_the_rounding_of_positions() {
    // A step of f32 is 1/16 at a million: 0.032 along the way and 0.032 of size are each rounded up to it.
    let kind = Kind::new(
        spreads([
            (2.0, 0.0),
            (0.032, 0.0),
            (0.0, 0.0),
            (0.0, 0.0),
            (0.0, 0.0),
            (0.032 / core::f32::consts::SQRT_2, 0.0),
            (0.0, 0.0),
            (0.0, 0.0),
            (0.0, 0.0),
        ]),
        vec![],
    )
    .unwrap();
    let births = Arc::new(Bursts::new(&[(0, 64)]).unwrap());
    let shape = EmitterShape::new([1e6, 0.0, 0.0], [0.0; 3], [1.0, 0.0, 0.0], 0.0).unwrap();
    let emitter = Emitter { seed: 1, kind: 0, births, shape };
    let view = View { low: [1e6 + 0.125, -1.0, -1.0], high: [2e6, 1.0, 1.0] };
    let p = placed(&kind, &emitter.particle(0), FLICKS).unwrap();
    assert!(view.touches(p.position, p.size));
    assert!(view.can_hold(emitter.particle(0).position, kind.reach(1.0)));
}

prop_compose! {
    fn any_spread()(exp in -10i32..20, base in -1.0f32..1.0, offset in -1.0f32..1.0, fixed: bool) -> Spread {
        let scale = if exp < 0 { 1.0 / (1 << -exp) as f32 } else { (1 << exp) as f32 };
        Spread { base: base * scale, offset: if fixed { 0.0 } else { offset * scale } }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..fixed(3) })]

    #[test]
    fn culling_drops_nothing_that_is_seen(
        spreads in prop::array::uniform9(any_spread()),
        life in 0.0f32..100.0,
        centre in prop::array::uniform3(-1e4f32..1e4),
        half in prop::array::uniform3(0.0f32..1e4),
        corner in prop::array::uniform3(-2e4f32..2e4),
        extent in prop::array::uniform3(0.0f32..2e4),
        axis in prop::array::uniform3(-1.0f32..1.0),
        cap in 0.0f32..2.0,
        seed: u64,
        age in 0.0f64..1.0,
    ) {
        let mut spreads = spreads;
        spreads[Parameter::Life as usize] = Spread { base: life, offset: life * 0.5 };
        let kind = Kind::new(spreads, vec![]).unwrap();
        let Ok(shape) = EmitterShape::new(centre, half, axis, cap) else { return Ok(()) };
        let emitter = Emitter { seed, kind: 0, births: Arc::new(Bursts::new(&[(0, 64)]).unwrap()), shape };
        let at = (age * kind.longest() as f64) as i64;
        let (mut columns, mut block) = (Columns::EMPTY, PlacedBlock::EMPTY);
        emitter.fill(Level::best(), 0, &mut columns);
        let mut seen = 0;
        // One box as drawn, and one that touches the first particle with its very corner.
        let first = placed(&kind, &emitter.particle(0), at);
        let touch = first.map_or(corner, |p| {
            core::array::from_fn(|a| p.position[a] + p.size * core::f32::consts::SQRT_2)
        });
        for low in [corner, touch] {
            let view = View { low, high: core::array::from_fn(|a| low[a] + extent[a]) };
            for &level in Level::available() {
                place(level, &kind, &columns, at, &view, u64::MAX, &mut block);
                set_size_and_angle(level, &kind, &mut block);
                let got: Vec<_> = block.iter().collect();
                for n in 0..64 {
                    let kept = got.iter().find(|(m, _)| *m == n).map(|(_, p)| *p);
                    let want = placed(&kind, &emitter.particle(n), at);
                    if let Some(p) = want && view.touches(p.position, p.size) {
                        prop_assert_eq!(kept, want, "dropped {} {}", level, n);
                        seen += 1;
                    }
                    prop_assert!(kept.is_none() || kept == want);
                }
            }
        }
        prop_assert!(first.is_none() || seen > 0 || first.is_some_and(|p| !p.position[0].is_finite()));
    }

    #[test]
    fn any_births_are_bounded(
        count in 0i64..1000,
        looks in prop::collection::vec(0.0f64..1.0, 40),
        life in 0i64..10_000_000_000,
        first in -1_000_000i64..1_000_000,
    ) {
        let (births, from, to) = (Accelerating(count), -FLICKS, 20 * FLICKS);
        let most = births.max_alive(from, to, life);
        for at in looks.iter().map(|l| from + (l * (to - from) as f64) as i64).chain([0, life.min(to), to]) {
            let alive = births.born(at) - births.born(at - life);
            prop_assert!(alive <= most, "{} of {}", alive, most);
        }
        check(&births, first);
    }

    #[test]
    fn steady_births_are_bounded(rate in 0.0f64..1e6, life in 0i64..1 << 33, t in -(1i64 << 50)..1 << 50, first: i32) {
        let steady = ConstantRate::new(rate).unwrap();
        let alive = steady.born(t) - steady.born(t - life);
        prop_assert!(alive <= steady.max_alive(0, 0, life));
        // The trait's own bound is for any births; it is near.
        let loose = Searched(&steady).max_alive(t, t + FLICKS, life);
        prop_assert!(alive <= loose && loose as f64 <= steady.max_alive(0, 0, life) as f64 * 1.07 + rate / 60.0 + 2.0);
        check(&steady, first.into());
    }
}
