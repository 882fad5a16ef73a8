//! Particle pools: the article's forms, as rivals, beside the program's.
//!
//! `cargo bench --bench pools [-- COUNT...] [full]` (`full`: twice as long a warm-up). Every form runs in every round
//! on the same machine in the same minute; a figure is the median over the rounds, a ratio the median of the rounds'
//! ratios. The simulated time is 60 frames a second; lives are 1.2 to 1.6 s, and 0.1 to 10 s, the ring's worst case.
//!
//! The rivals do what the article's do and no more: add the speed to the position, count the life down, remove and add.
//! The program's pool makes its particles' parameters again from their seeds and moves them in closed form to any
//! frame.
#![allow(unsafe_code)] // rivals compiled for the same instructions as the library: a guarded target_feature call
#![allow(missing_docs)]

use grainfield_filters::particle::*;
use grainfield_filters::simd::{Isa, Level};
use std::hint::black_box;
use std::sync::Arc;

mod rows;
mod timing;
use rows::{Sheet, gate};
use timing::{median, ratio, time};

const FPS: i64 = 60;
const DT: f32 = 1.0 / FPS as f32;

/// The record of "around 130 bytes".
#[derive(Clone, Copy)]
#[repr(C, packed(2))]
struct Record {
    position: [f32; 3],
    velocity: [f32; 3],
    left: f32,
    rest: [u8; 102],
}
const _: () = assert!(size_of::<Record>() == 130);

/// A small generator for the rivals' births.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u32 << 24) as f32
    }
}

/// What all forms have in common: how many, how long they live.
#[derive(Clone, Copy)]
struct Scene {
    count: usize,
    life: [f32; 2],
}

impl Scene {
    fn rate(&self) -> f64 {
        self.count as f64 / (f64::from(self.life[0] + self.life[1]) / 2.0)
    }
    fn record(&self, rng: &mut Rng) -> Record {
        Record {
            position: [rng.next(), rng.next(), rng.next()],
            velocity: [rng.next() - 0.5, rng.next() - 0.5, rng.next() - 0.5],
            left: self.life[0] + (self.life[1] - self.life[0]) * rng.next(),
            rest: [1; 102],
        }
    }
    /// The particles of a pool that has run for ever: ages spread as they are in the steady state.
    fn start(&self, rng: &mut Rng) -> Vec<Record> {
        let births = (self.rate() * f64::from(self.life[1])) as usize;
        let aged = |i: usize, rng: &mut Rng| {
            let mut r = self.record(rng);
            r.left -= self.life[1] * (births - i) as f32 / births as f32;
            r
        };
        (0..births).map(|i| aged(i, rng)).filter(|r| r.left > 0.0).collect()
    }
}

/// Births that are due by a frame, fractions carried over.
struct Due {
    rate: f64,
    frame: i64,
}

impl Due {
    fn next(&mut self) -> usize {
        let at = |f: i64| (self.rate * f as f64 / FPS as f64) as usize;
        self.frame += 1;
        at(self.frame) - at(self.frame - 1)
    }
}

/// One form of pool. `frame` goes on by one frame and says how many it updated.
trait Form {
    fn frame(&mut self) -> usize;
}

fn step(r: &mut Record) -> bool {
    let (mut p, v) = (r.position, r.velocity);
    for a in 0..3 {
        p[a] += v[a] * DT;
    }
    r.position = p;
    r.left -= DT;
    r.left > 0.0
}

/// `new` and `delete`, and `erase` from the middle.
struct NewErase {
    scene: Scene,
    rng: Rng,
    due: Due,
    #[allow(clippy::vec_box)] // the article's form is the point
    list: Vec<Box<Record>>,
}

impl NewErase {
    fn new(scene: Scene) -> NewErase {
        let mut rng = Rng(99);
        let mut list: Vec<Box<Record>> = scene.start(&mut rng).into_iter().map(Box::new).collect();
        // A heap that has been in use for a while hands out its free places in no order.
        for i in (1..list.len()).rev() {
            list.swap(i, (rng.next() * (i + 1) as f32) as usize % (i + 1));
        }
        NewErase { scene, rng, due: Due { rate: scene.rate(), frame: 0 }, list }
    }
}

impl Form for NewErase {
    fn frame(&mut self) -> usize {
        let n = self.list.len();
        let mut i = 0;
        while i < self.list.len() {
            if step(&mut self.list[i]) {
                i += 1;
            } else {
                self.list.remove(i);
            }
        }
        for _ in 0..self.due.next() {
            self.list.push(Box::new(self.scene.record(&mut self.rng)));
        }
        n
    }
}

/// Records in one block, pointers (places) to them, the dead swapped to the end.
struct Pooled {
    scene: Scene,
    rng: Rng,
    due: Due,
    memory: Vec<Record>,
    places: Vec<usize>,
    used: usize,
}

impl Pooled {
    fn new(scene: Scene) -> Pooled {
        let mut rng = Rng(99);
        let mut memory = scene.start(&mut rng);
        let used = memory.len();
        memory.resize(used + used / 8 + 64, scene.record(&mut rng));
        let places = (0..memory.len()).collect();
        Pooled { scene, rng, due: Due { rate: scene.rate(), frame: 0 }, memory, places, used }
    }
}

impl Form for Pooled {
    fn frame(&mut self) -> usize {
        let n = self.used;
        let mut i = 0;
        while i < self.used {
            if step(&mut self.memory[self.places[i]]) {
                i += 1;
            } else {
                self.used -= 1;
                self.places.swap(i, self.used);
            }
        }
        for _ in 0..self.due.next().min(self.places.len() - self.used) {
            self.memory[self.places[self.used]] = self.scene.record(&mut self.rng);
            self.used += 1;
        }
        n
    }
}

/// The ring: records in order of birth, dead ones skipped, a birth refused when there is no room.
struct Ring {
    scene: Scene,
    rng: Rng,
    due: Due,
    memory: Vec<Record>,
    first: usize,
    len: usize,
}

impl Ring {
    fn new(scene: Scene) -> Ring {
        let mut rng = Rng(99);
        let births = (scene.rate() * f64::from(scene.life[1])) as usize;
        let mut memory: Vec<Record> = (0..births)
            .map(|i| {
                let mut r = scene.record(&mut rng);
                r.left -= scene.life[1] * (births - i) as f32 / births as f32;
                r
            })
            .collect();
        memory.resize(births + births / 16 + 64, scene.record(&mut rng));
        Ring { scene, rng, due: Due { rate: scene.rate(), frame: 0 }, memory, first: 0, len: births }
    }
}

impl Form for Ring {
    fn frame(&mut self) -> usize {
        let mut n = 0;
        let room = self.memory.len();
        let end = self.first + self.len;
        for range in [self.first..end.min(room), 0..end.saturating_sub(room)] {
            for r in &mut self.memory[range] {
                if r.left > 0.0 {
                    n += 1;
                    step(r);
                }
            }
        }
        while self.len > 0 && self.memory[self.first].left <= 0.0 {
            self.first = (self.first + 1) % room;
            self.len -= 1;
        }
        for _ in 0..self.due.next().min(room - self.len) {
            let place = (self.first + self.len) % room;
            self.memory[place] = self.scene.record(&mut self.rng);
            self.len += 1;
        }
        n
    }
}

/// Records themselves swapped with the last.
struct SwapRemove {
    scene: Scene,
    rng: Rng,
    due: Due,
    list: Vec<Record>,
}

impl SwapRemove {
    fn new(scene: Scene) -> SwapRemove {
        let mut rng = Rng(99);
        let list = scene.start(&mut rng);
        SwapRemove { scene, rng, due: Due { rate: scene.rate(), frame: 0 }, list }
    }
}

impl Form for SwapRemove {
    fn frame(&mut self) -> usize {
        let n = self.list.len();
        let mut i = 0;
        while i < self.list.len() {
            if step(&mut self.list[i]) {
                i += 1;
            } else {
                self.list.swap_remove(i);
            }
        }
        for _ in 0..self.due.next() {
            self.list.push(self.scene.record(&mut self.rng));
        }
        n
    }
}

/// Structure of arrays with swap-remove; `COLD` is what is carried along beside the 28 bytes that are used.
struct Arrays<const COLD: usize> {
    scene: Scene,
    rng: Rng,
    due: Due,
    hot: [Vec<f32>; 7],
    cold: Vec<[u8; COLD]>,
    level: Level,
}

impl<const COLD: usize> Arrays<COLD> {
    fn new(scene: Scene, level: Level) -> Self {
        let mut rng = Rng(99);
        let list = scene.start(&mut rng);
        let due = Due { rate: scene.rate(), frame: 0 };
        let mut this = Arrays { scene, rng, due, hot: Default::default(), cold: vec![], level };
        list.iter().for_each(|r| this.push(r));
        this
    }
    fn push(&mut self, r: &Record) {
        let (p, v) = (r.position, r.velocity);
        let values = [p[0], p[1], p[2], v[0], v[1], v[2], r.left];
        self.hot.iter_mut().zip(values).for_each(|(row, v)| row.push(v));
        self.cold.push([1; COLD]);
    }
}

#[inline(always)]
fn arrays_body(hot: &mut [Vec<f32>; 7], dead: &mut Vec<u32>) {
    let [x, y, z, u, v, w, left] = hot;
    for (p, v) in [(x, u), (y, v), (z, w)] {
        for (p, v) in p.iter_mut().zip(v) {
            *p += *v * DT;
        }
    }
    for (i, chunk) in left.chunks_mut(64).enumerate() {
        let mut any = 0u32;
        for left in chunk.iter_mut() {
            *left -= DT;
            any |= u32::from(*left <= 0.0);
        }
        if any != 0 {
            dead.extend((0..chunk.len()).filter(|&j| chunk[j] <= 0.0).map(|j| (i * 64 + j) as u32));
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2")]
fn arrays_avx512(hot: &mut [Vec<f32>; 7], dead: &mut Vec<u32>) {
    arrays_body(hot, dead);
}

impl<const COLD: usize> Form for Arrays<COLD> {
    fn frame(&mut self) -> usize {
        let n = self.hot[0].len();
        let mut dead = Vec::new();
        match self.level.isa() {
            // SAFETY: a `Level` is made by detection only, so the machine has these instructions.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 | Isa::Avx512Vbmi => unsafe { arrays_avx512(&mut self.hot, &mut dead) },
            _ => arrays_body(&mut self.hot, &mut dead),
        }
        for &i in dead.iter().rev() {
            self.hot.iter_mut().for_each(|row| {
                row.swap_remove(i as usize);
            });
            self.cold.swap_remove(i as usize);
        }
        for _ in 0..self.due.next() {
            let r = self.scene.record(&mut self.rng);
            self.push(&r);
        }
        n
    }
}

fn emitter(scene: Scene) -> (Emitter, Kind) {
    let mut spreads = [Spread { base: 1.0, offset: 0.5 }; STANDARD];
    spreads[Parameter::Life as usize] = Spread::between(scene.life[0], scene.life[1]);
    let shape = EmitterShape::new([0.0; 3], [100.0; 3], [0.0, -1.0, 0.0], 0.1);
    let births = ConstantRate::new(scene.rate());
    let (Ok(shape), Ok(births), Ok(kind)) = (shape, births, Kind::new(spreads, vec![])) else {
        panic!("the bench's own settings are right")
    };
    (Emitter { seed: 1, kind: 0, births: Arc::new(births), shape }, kind)
}

/// Positions in blocks, x, y and z, and the bits that say who lives.
struct Positions {
    kept: Vec<([[f32; BLOCK]; 3], u64)>,
    block: PlacedBlock,
}

impl Positions {
    fn new(blocks: usize) -> Positions {
        Positions { kept: vec![([[0.0; BLOCK]; 3], 0); blocks], block: PlacedBlock::EMPTY }
    }
    /// Keeps what was placed last; returns how many live.
    fn keep(&mut self, index: usize) -> usize {
        self.kept[index] = (self.block.position, self.block.live);
        self.block.live.count_ones() as usize
    }
}

/// The use of the positions.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Keep,
    HandOn,
    Dress,
}

/// The program's pool: positions put into arrays, or handed on block by block as drawing takes them, with or without
/// sizes and angles.
struct Ours {
    pool: Pool,
    frame: i64,
    what: What,
    out: Positions,
}

impl Ours {
    fn new(scene: Scene, level: Level, what: What) -> Ours {
        let (emitter, kind) = emitter(scene);
        let Ok(pool) = Pool::new(emitter, kind, None, 0..LAST, u32::MAX, level) else {
            panic!("a steady pool of a few million fits")
        };
        let blocks = pool.bytes() / size_of::<Columns>() + 1;
        Ours { pool, frame: 0, what, out: Positions::new(blocks) }
    }
}

impl Form for Ours {
    fn frame(&mut self) -> usize {
        self.frame += 1;
        self.pool.seek(self.frame * (FLICKS / FPS));
        let mut n = 0;
        for index in 0..self.pool.blocks() {
            self.pool.place(index, &View::ALL, &mut self.out.block);
            if self.what == What::Dress {
                self.pool.set_size_and_angle(&mut self.out.block);
            }
            if self.what == What::Keep {
                n += self.out.keep(index);
            } else {
                n += black_box(&self.out.block).live.count_ones() as usize;
            }
        }
        black_box(&mut self.out.kept);
        n
    }
}

/// No pool at all: every frame from the emitter and the frame's number.
struct Closed {
    emitter: Emitter,
    kind: Kind,
    live_window: LiveWindow,
    frame: i64,
    out: Positions,
    level: Level,
}

impl Closed {
    fn new(scene: Scene, level: Level) -> Closed {
        let (emitter, kind) = emitter(scene);
        let live_window = LiveWindow::of(&kind, None);
        let blocks = live_window.max_alive(&emitter, 0..LAST) as usize / BLOCK + 2;
        Closed { emitter, kind, live_window, frame: 0, out: Positions::new(blocks), level }
    }
}

impl Form for Closed {
    fn frame(&mut self) -> usize {
        self.frame += 1;
        let at = self.frame * (FLICKS / FPS);
        let window = self.live_window.window(&self.emitter, at);
        let (first, last) =
            (window.start.div_euclid(BLOCK as i64), (window.end - 1).div_euclid(BLOCK as i64));
        let (mut n, mut columns) = (0, Columns::EMPTY);
        for block in first..=last {
            self.emitter.fill(self.level, block, &mut columns);
            let lanes = lanes(block * BLOCK as i64, &window);
            place(self.level, &self.kind, &columns, at, &View::ALL, lanes, &mut self.out.block);
            n += self.out.keep((block - first) as usize);
        }
        black_box(&mut self.out.kept);
        n
    }
}

fn main() {
    let asked: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let counts = if asked.is_empty() { vec![100, 10_000, 100_000, 1_000_000] } else { asked };
    let level = Level::best();
    let names = [
        "new/delete, erase",
        "pooled pointers, swap",
        "ring of records",
        "swap-remove of records",
        "arrays, 130 bytes",
        "arrays, 28 bytes",
        "pool, positions kept",
        "pool, handed on",
        "pool, dressed, handed on",
        "no pool, closed form",
    ];
    for life in [[1.2, 1.6], [0.1, 10.0]] {
        for &count in &counts {
            let scene = Scene { count, life };
            let mut forms: Vec<Option<Box<dyn Form>>> = vec![
                // Erasing from the middle of a million takes seconds a frame.
                (count <= 100_000).then(|| Box::new(NewErase::new(scene)) as Box<dyn Form>),
                Some(Box::new(Pooled::new(scene))),
                Some(Box::new(Ring::new(scene))),
                Some(Box::new(SwapRemove::new(scene))),
                Some(Box::new(Arrays::<102>::new(scene, level))),
                Some(Box::new(Arrays::<0>::new(scene, level))),
                Some(Box::new(Ours::new(scene, level, What::Keep))),
                Some(Box::new(Ours::new(scene, level, What::HandOn))),
                Some(Box::new(Ours::new(scene, level, What::Dress))),
                Some(Box::new(Closed::new(scene, level))),
            ];
            // Frames a timing: some 4 M updates, and never fewer than the pool's sieve takes from mark to mark; warm
            // until every particle has been replaced.
            let frames = (4_000_000 / count).clamp(40, 4000);
            let times = if std::env::args().any(|a| a == "full") { 2.0 } else { 1.0 };
            let warm = (life[1] * times * FPS as f32) as usize;
            for form in forms.iter_mut().skip(1).flatten() {
                for _ in 0..warm {
                    form.frame();
                }
            }
            let mut speeds = vec![vec![]; forms.len()];
            for _ in 0..7 {
                for (form, speeds) in forms.iter_mut().zip(&mut speeds) {
                    let Some(form) = form else { continue };
                    form.frame();
                    let mut updated = 0;
                    let seconds = time(|| updated = (0..frames).map(|_| form.frame()).sum());
                    speeds.push(updated as f64 / seconds / 1e6);
                }
            }
            let title = format!("Pools: {count} particles, lives {} to {} s, {level}", life[0], life[1]);
            let mut sheet =
                Sheet::new(title, &["", "M updates/s", "to pointers", "to ring", "measured before"]);
            for (i, (name, v)) in names.iter().zip(&speeds).enumerate() {
                if !v.is_empty() {
                    let before = BEFORE.iter().find(|b| (b.0, b.1) == (i, count) && life[0] > 1.0);
                    sheet.row([
                        (*name).to_owned(),
                        format!("{:.1}", median(v.iter().copied())),
                        format!("{:.2}", ratio(v, &speeds[1])),
                        format!("{:.2}", ratio(v, &speeds[2])),
                        before.map_or("-".to_owned(), |b| b.2.to_owned()),
                    ]);
                }
            }
            if count == 1_000_000 && life[0] > 1.0 {
                sheet.note("The article has no figures but \"twice as fast\" for the ring; those are of a prototype.");
                let small = "pool, 28 to 32 bytes a particle, 1 M, against ";
                gate(&format!("{small}pooled pointers"), ratio(&speeds[7], &speeds[1]), 15.0, Some(18.0));
                gate(&format!("{small}the ring"), ratio(&speeds[7], &speeds[2]), 6.0, Some(8.0));
                let claim = ratio(&speeds[2], &speeds[1]);
                gate("ring against pooled pointers, 130 bytes, 1 M (the article's claim)", claim, 2.0, None);
            }
            sheet.done();
        }
    }
}

/// What a prototype reached on another machine: which form, how many, M updates/s.
const BEFORE: [(usize, usize, &str); 11] = [
    (0, 100_000, "5.6"),
    (1, 100_000, "69-94"),
    (1, 1_000_000, "35"),
    (2, 100_000, "134"),
    (2, 1_000_000, "80"),
    (3, 100_000, "165"),
    (3, 1_000_000, "90"),
    (4, 100_000, "213"),
    (4, 1_000_000, "125"),
    (5, 100_000, "780"),
    (5, 1_000_000, "600"),
];
