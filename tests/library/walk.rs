//! A walk over the whole catalog: checks the guarantees of all filters for every filter, with settings from its
//! description and over every format. A new filter in the catalog is included automatically.
//!
//! Every entry meets every format at one size, and the other factors pairwise; `./x soak` walks the full product.

mod alike;
mod curves;
mod made;
mod twins;

use crate::fixture::{ODD, Random, bind, clip, frames, frames_with, picture, rows};

use grainfield_filters::catalog::{Entry, FILTERS, Role};
use grainfield_filters::chain::{Chain, Step};
use grainfield_filters::frame::{Depth, Format, Frame};
use grainfield_filters::host::{CurrentThread, Executor};
use grainfield_filters::settings::{Value, Values};
use grainfield_filters::simd::Level;
use made::{DEPTHS, FACTORS, LAYOUTS, SIZES, format, settings};
use rayon::prelude::*;
use std::fmt;

/// The seed of the walk's random numbers.
const SEED: u64 = 20_261_122;

/// The frame that is rendered.
const FRAME: i64 = 1;

/// Runs the tasks backwards, in many bands.
struct Backwards;
impl Executor for Backwards {
    fn execute(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).rev().for_each(task);
    }
    fn width(&self) -> usize {
        7
    }
}

fn step(filter: &'static Entry, values: Values) -> Step {
    Step::new(filter, values)
}

struct Case {
    step: Step,
    format: Format,
    source: Frame,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Format { width, height, alpha, range, matrix, fields, .. } = self.format;
        let name = self.format.name();
        write!(
            f,
            "{name} {width}x{height} {alpha:?} {range:?} {matrix:?} {fields:?} {}",
            self.step.filter.name
        )?;
        for (setting, value) in self.step.iter_given() {
            match value {
                Value::Image(_) => write!(f, " {}=9x7", setting.id)?,
                value => write!(f, " {}={value:?}", setting.id)?,
            }
        }
        Ok(())
    }
}

impl Case {
    /// A case of an entry; contradictory settings are drawn again, with fewer settings each time.
    fn new(filter: &'static Entry, format: Format, random: &mut Random) -> Result<Case, String> {
        let mut refused = String::new();
        for share in [0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0] {
            let Ok(values) = settings(filter, share, random) else { continue };
            let mut step = step(filter, values);
            if share > 0.3 && random.below(4) == 0 {
                step.set("planes", random.pick(&["all", "0", "12", "0a"])).unwrap();
            }
            if share > 0.3 && random.below(3) == 0 {
                step.set("opacity", random.part()).unwrap();
            }
            if share > 0.2 && random.below(3) == 0 {
                let mask = random.pick(&["ellipse", "rectangle", "luma", "color", "alpha", "clip"]);
                step.set("mask", mask).unwrap();
                if mask == "clip" {
                    step.set_value("mask", clip(random)).unwrap();
                }
                step.set("mask_feather", 300.0 * random.part()).unwrap();
                step.set("mask_invert", random.below(2) == 0).unwrap();
            }
            match bind(std::slice::from_ref(&step), format, Level::best(), None) {
                Ok(_) => return Ok(Case { step, format, source: picture(&format, random) }),
                Err(e) => refused = e.to_string(),
            }
        }
        Err(format!("{} refuses {}: {refused}", filter.name, format.name()))
    }

    fn chain(&self, level: Level) -> Chain {
        bind(std::slice::from_ref(&self.step), self.format, level, None).unwrap()
    }

    fn given(&self, id: &str, word: &str) -> bool {
        self.step.values.iter_given().any(|(s, v)| s.id == id && matches!(v, Value::Choice(c) if *c == word))
    }

    /// Checks all guarantees.
    fn check(&self, turn: usize) -> Result<(), String> {
        let chain = self.chain(Level::best());
        let [_, made] = frames(&chain, &self.source, [2, FRAME], &CurrentThread);
        self.codes(&made)?;
        self.alpha(&made)?;
        self.finite(&made)?;
        // The reference, and each level in turn.
        let levels = Level::available();
        for level in [Level::SCALAR, levels[turn % levels.len()]] {
            let [alone] = frames(&self.chain(level), &self.source, [FRAME], &Backwards);
            if let Some(place) = first_difference(&made, &alone) {
                return Err(format!("{place}: alone, in bands, by {level}, it is another"));
            }
        }
        self.untouched("opacity=0", |step| step.set("opacity", 0).unwrap())?;
        self.untouched("enable", |step| step.set("enable", "7-").unwrap())
    }

    /// A picture that the filter does not change in this frame equals the input, to the bit.
    fn untouched(&self, what: &str, change: impl Fn(&mut Step)) -> Result<(), String> {
        let mut step = self.step.clone();
        change(&mut step);
        // Some filters change the format, and cannot be mixed.
        let Ok(chain) = bind(&[step], self.format, Level::best(), None) else { return Ok(()) };
        if *chain.output() != self.format {
            return Ok(());
        }
        let [got] = frames(&chain, &self.source, [FRAME], &CurrentThread);
        first_difference(&got, &self.source).map_or(Ok(()), |at| Err(format!("{at}: changed despite {what}")))
    }

    fn codes(&self, made: &Frame) -> Result<(), String> {
        let format = made.format();
        let Depth::Bits(bits @ 9..=15) = format.depth else { return Ok(()) };
        let top = (1u16 << bits) - 1;
        for (p, y) in rows(format) {
            if let Some(code) = made.row::<u16>(p, y).iter().find(|v| **v > top) {
                return Err(format!("plane {p} row {y}: code {code} in {bits} bits"));
            }
        }
        Ok(())
    }

    fn alpha(&self, made: &Frame) -> Result<(), String> {
        let asked = self.step.common.given("planes").is_some()
            || self.given("to", "alpha")
            || self.given("channel", "a");
        let Some(a) = self.format.alpha_plane() else { return Ok(()) };
        if asked || self.step.filter.role != Role::Adjusts || made.format().depth != self.format.depth {
            return Ok(());
        }
        let same = |y| made.plane(a).row_bytes(y) == self.source.plane(a).row_bytes(y);
        let other = (0..self.format.plane_size(a).1).find(|&y| !same(y));
        other.map_or(Ok(()), |y| Err(format!("alpha, row {y}: touched")))
    }

    /// Non-finite samples that are not replaced keep their bits; the values of others do not affect the result.
    fn finite(&self, made: &Frame) -> Result<(), String> {
        if made.format().depth != Depth::Float {
            return Ok(());
        }
        if self.step.filter.role == Role::Moves {
            let moved = |a: &f32| a.is_finite() || ODD.contains(&a.to_bits());
            let odd = rows(made.format()).find(|&(p, y)| !made.row::<f32>(p, y).iter().all(moved));
            return odd.map_or(Ok(()), |(p, y)| Err(format!("plane {p} row {y}: a sample of no source")));
        }
        let mut of_finite = None;
        for (p, y) in rows(&self.format) {
            let (before, after) = (self.source.row::<f32>(p, y), made.row::<f32>(p, y));
            for (x, (b, a)) in before.iter().zip(after).enumerate() {
                let right = match () {
                    () if b.is_finite() => a.is_finite(),
                    () if a.to_bits() == b.to_bits() => true,
                    () => {
                        let other = of_finite.get_or_insert_with(|| self.of_finite());
                        a.is_finite() && a.to_bits() == other.row::<f32>(p, y)[x].to_bits()
                    }
                };
                if !right {
                    let (b, a) = (b.to_bits(), a.to_bits());
                    return Err(format!("plane {p} at {x},{y}: {b:08x} became {a:08x}"));
                }
            }
        }
        Ok(())
    }

    /// The result for the source with finite samples in their place.
    fn of_finite(&self) -> Frame {
        let mut source = self.source.clone();
        for (p, y) in rows(&self.format) {
            source.row_mut::<f32>(p, y).iter_mut().filter(|v| !v.is_finite()).for_each(|v| *v = 0.375);
        }
        let [made] = frames(&self.chain(Level::best()), &source, [FRAME], &CurrentThread);
        made
    }
}

fn first_difference(a: &Frame, b: &Frame) -> Option<String> {
    if a.format() != b.format() {
        return Some("format".into());
    }
    rows(a.format()).find_map(|(p, y)| {
        let (a, b) = (a.plane(p), b.plane(p));
        if a.row_bytes(y) == b.row_bytes(y) {
            return None;
        }
        let x = a.row_bytes(y).iter().zip(b.row_bytes(y)).position(|(a, b)| a != b)?;
        Some(format!("plane {p} row {y} byte {x}"))
    })
}

/// All cases of the walk: entry, layout, depth, size, the other factors, and the variant of settings.
fn cases(full: bool) -> Vec<(&'static Entry, [usize; 5])> {
    let mut all = Vec::new();
    for entry in FILTERS {
        for (layout, depth) in (0..LAYOUTS.len()).flat_map(|l| (0..DEPTHS.len()).map(move |d| (l, d))) {
            if full {
                let more =
                    |s| (0..FACTORS.len()).flat_map(move |f| (0..3).map(move |n| [layout, depth, s, f, n]));
                all.extend((0..SIZES.len()).flat_map(more).map(|factors| (entry, factors)));
                continue;
            }
            // One of the sizes, and every pair of the other factors several times.
            let turn = layout * DEPTHS.len() + depth;
            all.push((entry, [layout, depth, (turn + turn / SIZES.len()) % SIZES.len(), turn % 6, 0]));
        }
    }
    // Fluid and sand reject frames with a ratio of sides above sixteen to one, when they are bound.
    for (entry, factors) in &mut all {
        if ["fluid", "sand"].contains(&entry.name) && SIZES[factors[2]] == (1, 37) {
            factors[2] = 0;
        }
    }
    all
}

#[test]
fn every_filter_keeps_every_promise_on_every_format() {
    println!("seed {SEED}");
    let mut all = cases(std::env::var_os("GRAINFIELD_SOAK").is_some());
    // One filter only, to find a fault.
    if let Ok(name) = std::env::var("GRAINFIELD_WALK") {
        all.retain(|(entry, _)| entry.name == name);
    }
    let failures: Vec<String> = all
        .into_par_iter()
        .enumerate()
        .filter_map(|(number, (entry, [layout, depth, size, factors, _]))| {
            let mut random = Random(SEED ^ ((number as u64) << 32));
            let format = format(LAYOUTS[layout], DEPTHS[depth], SIZES[size], FACTORS[factors], &mut random);
            let case = match Case::new(entry, format, &mut random) {
                Ok(case) => case,
                Err(why) => return Some(why),
            };
            let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case.check(number)));
            let why = match checked {
                Ok(Ok(())) => return None,
                Ok(Err(why)) => why,
                Err(_) => "it panics".into(),
            };
            Some(format!("{case}: {why}"))
        })
        .collect();
    let shown = failures.iter().take(40).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of the walk's cases fail (seed {SEED}):\n{shown}", failures.len());
}
