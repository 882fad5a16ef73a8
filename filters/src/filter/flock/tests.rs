mod bodies;
mod twin;

use super::*;
use crate::filter::State;
use crate::filter::testing::{self, Backwards, CountingCache};
use crate::frame::{Depth, Family, Frame};
use crate::host::{CurrentThread, Executor, NoCache, StateCache};
use crate::ratio::Ratio;
use crate::settings::{Settings, Value};
use std::sync::atomic::{AtomicBool, Ordering};

fn values(settings: &[(&str, &str)]) -> Values {
    testing::values(&ENTRY, settings)
}

fn small() -> Format {
    Format::new(96, 54, Family::Yuv, Depth::Bits(8), (1, 1))
}

fn bound(settings: &[(&str, &str)], format: &Format, level: Level) -> Box<dyn Filter> {
    ENTRY.bind(&values(settings), format, 3, level).unwrap()
}

fn render(
    format: &Format,
    filter: &dyn Filter,
    line: &mut Option<State>,
    n: i64,
    store: &dyn StateCache,
    executor: &dyn Executor,
    cuts: &[usize],
) -> Frame {
    let format = *format;
    let at = FrameTime::of_frame(n, Ratio::whole(24));
    let host = Host { executor, cache: store, stop: &AtomicBool::new(false) };
    let now = filter.at(&at).unwrap();
    let stepped = filter.step(&now, line, &host).unwrap();
    let state = filter.prepare(&now, Some(stepped), &host).unwrap();
    let mut out = Frame::new(format);
    for p in 0..format.planes() {
        for y in 0..format.plane_size(p).1 {
            match format.depth.bytes() {
                1 => out.row_mut::<u8>(p, y).fill(150),
                2 => out.row_mut::<u16>(p, y).fill(500),
                _ => out.row_mut::<f32>(p, y).fill(0.6),
            }
        }
    }
    let mut rest = out.as_mut();
    let mut scratch = Scratch::default();
    let mut draw = |output: crate::frame::FrameMut<'_>| {
        let rows = output.plane(0).rows();
        let mut band = Band { rows, input: None, output, writes: now.plan.writes };
        filter.render(&now, Some(&state), &mut band, &mut scratch);
    };
    for cut in cuts {
        let (band, below) = rest.split_at_row(*cut);
        draw(band);
        rest = below;
    }
    draw(rest);
    out
}

const FLOCK: &[(&str, &str)] =
    &[("preset", "starlings"), ("agents", "700"), ("size", "90"), ("start", "0.2")];

#[test]
fn any_way_to_a_frame_gives_the_same() {
    let filter = bound(FLOCK, &small(), Level::best());
    let shelf = CountingCache::default();
    let mut line = None;
    let all: Vec<Frame> =
        (0..60).map(|n| render(&small(), &*filter, &mut line, n, &shelf, &CurrentThread, &[])).collect();
    assert!(all[0] != all[1] && all[30] != all[59]);
    // Frames 19 and 43 are multiples of the interval after the start, which is 5 frames earlier.
    assert_eq!(shelf.kept.lock().unwrap().len(), 2);
    let mut line = None;
    for n in [59, 3, 31, 30, 29, 59, 0, 44, 43] {
        assert!(
            render(&small(), &*filter, &mut line, n, &shelf, &CurrentThread, &[]) == all[n as usize],
            "{n} warm"
        );
    }
    assert!(shelf.found.load(Ordering::Relaxed) >= 2);
    for n in [25, 2] {
        assert!(
            render(&small(), &*filter, &mut None, n, &NoCache, &Backwards(3), &[16, 20]) == all[n as usize],
            "{n} cold"
        );
    }
    // Stored states under other settings do not belong to this flock.
    for other in
        [("separation", "0.5"), ("seed", "9"), ("agents", "701"), ("goal", "0=1,1;20=50,20"), ("flap", "2")]
    {
        let mut settings = FLOCK.to_vec();
        settings.retain(|(id, _)| *id != other.0);
        settings.push(other);
        let filter = bound(&settings, &small(), Level::best());
        let want = render(&small(), &*filter, &mut None, 30, &NoCache, &CurrentThread, &[]);
        assert!(render(&small(), &*filter, &mut None, 30, &shelf, &CurrentThread, &[]) == want, "{other:?}");
    }
}

#[test]
fn levels_and_bands_change_nothing() {
    for preset in ["seagulls", "fish", "moths", "bats"] {
        let settings = &[("preset", preset), ("agents", "9"), ("size", "500"), ("start", "0.1")][..];
        for name in ["gray", "yuv420p", "yuv422p10", "gbrpf32", "yuva444p"] {
            let format = Format::from_name(name, 67, 44).unwrap();
            let first = bound(settings, &format, Level::SCALAR);
            let want = render(&format, &*first, &mut None, 5, &NoCache, &CurrentThread, &[]);
            for &level in Level::available() {
                let filter = bound(settings, &format, level);
                for cuts in [&[][..], &[2, 4, 20, 40]] {
                    let got = render(&format, &*filter, &mut None, 5, &NoCache, &Backwards(3), cuts);
                    assert!(got == want, "{preset} {name} {level} {cuts:?}");
                }
            }
        }
    }
}

/// A bound flock, to read its agents.
pub(super) fn rules_of(settings: &[(&str, &str)]) -> (Rules, f32, FlockSpec) {
    let set = FlockSpec::read(&values(settings));
    let aspect = 16.0 / 9.0;
    let walls = set.solid(aspect).unwrap();
    let (rules, beats) = kinds::rules(&set, 7, aspect, 1.0 / 48.0, walls);
    (rules, beats, set)
}

pub(super) fn step_state(rules: &Rules, step: u64, depth: f64) -> StepState {
    StepState { step, home: [0.5 * rules.aspect, 0.5, 0.5 * depth as f32], threat: None }
}

fn after(rules: &Rules, depth: f64, steps: u64, change: impl Fn(StepState) -> StepState) -> Vec<Agent> {
    let mut agents = rules.start(step_state(rules, 0, depth).home);
    for step in 0..steps {
        agents =
            rules.step(&agents, &change(step_state(rules, step, depth)), 6.0, Level::best(), &CurrentThread);
    }
    agents
}

/// The alignment of all velocities, 0 to 1.
fn order(rules: &Rules, agents: &[Agent]) -> f32 {
    // For each agent, among its neighbours.
    let near = |a: &Agent, b: &Agent| {
        (0..3).map(|i| (a[i] - b[i]) * (a[i] - b[i])).sum::<f32>().sqrt() < rules.perception_radius
    };
    let heading = |a: &Agent| vector::unit([a[3], a[4], a[5]], [0.0; 3]);
    let mut sum = (0.0, 0);
    for (i, a) in agents.iter().enumerate() {
        for b in agents[i + 1..].iter().filter(|b| near(a, b)) {
            sum = (sum.0 + vector::dot(heading(a), heading(b)), sum.1 + 1);
        }
    }
    sum.0 / sum.1.max(1) as f32
}

/// The mean distance to the nearest neighbour.
fn gap(agents: &[Agent]) -> f32 {
    let far = |a: &Agent, b: &Agent| (0..3).map(|i| (a[i] - b[i]) * (a[i] - b[i])).sum::<f32>();
    let nearest = |i: usize| {
        let others = agents.iter().enumerate().filter(|(j, _)| *j != i);
        others.map(|(_, b)| far(&agents[i], b)).fold(f32::MAX, f32::min).sqrt()
    };
    (0..agents.len()).map(nearest).sum::<f32>() / agents.len() as f32
}

#[test]
fn wings_turn_no_faster_than_the_course_and_a_roll() {
    let (rules, beats, set) = rules_of(&[("preset", "seagulls"), ("agents", "300")]);
    let level = |a: &Agent| {
        let ahead = vector::unit([a[3], a[4], a[5]], [0.0; 3]);
        (ahead, vector::unit(vector::cross(ahead, rules.up), [0.0; 3]))
    };
    let wing = |a: &Agent| {
        let (ahead, right) = level(a);
        let above = vector::cross(right, ahead);
        let (sin, cos) = (vector::wave(a[6]), vector::wave(a[6] + 0.25));
        vector::unit(vector::sub(vector::mul(right, cos), vector::mul(above, sin)), [0.0; 3])
    };
    let between = |a, b| vector::dot(a, b).clamp(-1.0, 1.0).acos();
    let mut agents = rules.start(step_state(&rules, 0, set.depth).home);
    let mut past_the_vertical = 0;
    for step in 0..600 {
        let now = step_state(&rules, step, set.depth);
        let next = rules.step(&agents, &now, beats, Level::best(), &CurrentThread);
        for (a, b) in agents.iter().zip(&next) {
            let most = rules::ROLL_RATE * rules.dt * core::f32::consts::TAU + 0.02;
            let turned = between(level(a).0, level(b).0);
            assert!(between(wing(a), wing(b)) < turned + most, "step {step}: {a:?} {b:?}");
            past_the_vertical += i32::from(vector::dot(level(a).1, level(b).1) < 0.0);
        }
        agents = next;
    }
    // There, level wings would jump.
    assert!(past_the_vertical > 0);
}

#[test]
fn each_rule_does_what_it_says() {
    let base = [("agents", "500"), ("waves", "0")];
    let with = |more: &[(&str, &str)]| {
        let (rules, _, set) = rules_of(&[&base[..], more].concat());
        let agents = after(&rules, set.depth, 150, |m| m);
        (order(&rules, &agents), gap(&agents), agents)
    };
    let plain = with(&[]);
    assert!(plain.0 > with(&[("alignment", "0")]).0 + 0.05, "alignment");
    assert!(plain.1 > 1.15 * with(&[("separation", "0")]).1, "separation");
    assert!(plain.1 > 1.1 * with(&[("cohesion", "6"), ("separation", "0.5")]).1, "cohesion");
    let spread = |agents: &[Agent]| {
        agents.iter().map(|a| (a[0] - 0.889).abs() + (a[1] - 0.5).abs()).sum::<f32>() / agents.len() as f32
    };
    assert!(spread(&plain.2) < 0.8 * spread(&with(&[("pull", "0")]).2), "pull");
}

#[test]
fn what_is_feared_is_kept_away_from() {
    let (rules, _, set) = rules_of(&[("agents", "600"), ("waves", "0")]);
    let near = |agents: &[Agent]| {
        let of = |a: &Agent| rules.project([a[0], a[1], a[2]]);
        agents.iter().map(of).filter(|[x, y]| (x - 0.889).abs() < 0.12 && (y - 0.5).abs() < 0.12).count()
    };
    let free = near(&after(&rules, set.depth, 120, |m| m));
    let fled = near(&after(&rules, set.depth, 120, |m| StepState { threat: Some([0.889, 0.5]), ..m }));
    assert!(free > 20 && fled * 4 < free, "{fled} of {free}");
    // A predator flies through the flock and disperses the agents around it.
    let (hunted, _, set) = rules_of(&[("agents", "600"), ("waves", "0"), ("predators", "2")]);
    let mut agents = after(&hunted, set.depth, 60, |m| m);
    assert_eq!(agents.len(), 602);
    let (mut around_hunters, mut around_others) = (0, 0);
    for step in 60..160 {
        agents =
            hunted.step(&agents, &step_state(&hunted, step, set.depth), 6.0, Level::best(), &CurrentThread);
        let around = |me: usize| {
            let far =
                |a: &Agent| (0..3).map(|i| (a[i] - agents[me][i]) * (a[i] - agents[me][i])).sum::<f32>();
            agents[..600].iter().enumerate().filter(|(i, a)| *i != me && far(a) < 0.06 * 0.06).count()
        };
        around_hunters += around(600) + around(601);
        around_others += around(0) + around(300);
    }
    assert!(around_hunters * 3 < around_others, "{around_hunters} of {around_others}");
}

#[test]
fn a_goal_that_moves_takes_the_flock_along() {
    let (rules, _, set) = rules_of(&[("agents", "300"), ("spread", "0.3")]);
    let agents = after(&rules, set.depth, 250, |m| StepState { home: [2.5, 0.5, m.home[2]], ..m });
    let middle = agents.iter().map(|a| a[0]).sum::<f32>() / 300.0;
    assert!(middle > 2.0, "{middle}");
}

#[test]
fn nothing_enters_what_is_solid() {
    let mut half = Frame::new(Format::new(32, 18, Family::Gray, Depth::Bits(8), (0, 0)));
    (4..14).for_each(|y| half.row_mut::<u8>(0, y)[10..22].fill(255));
    for side in ["bright", "dark"] {
        let mut values = values(&[("agents", "400"), ("solid", side), ("speed", "2"), ("erratic", "1")]);
        values.set("obstacle", Value::Image(ImageAsset::named("h.png").read(half.clone()))).unwrap();
        let set = FlockSpec::read(&values);
        let walls = set.solid(16.0 / 9.0).unwrap();
        let (rules, _) = kinds::rules(&set, 7, 16.0 / 9.0, 1.0 / 48.0, walls);
        let mut agents = rules.start(step_state(&rules, 0, set.depth).home);
        let mut least = f32::MAX;
        for step in 0..200 {
            agents =
                rules.step(&agents, &step_state(&rules, step, set.depth), 6.0, Level::best(), &CurrentThread);
            for a in &agents {
                let [x, y] = rules.project([a[0], a[1], a[2]]);
                least = least.min(rules.solid.as_ref().unwrap().at(x, y).0);
            }
        }
        // A node is 1/180: at most two nodes deep.
        assert!(least > -0.011, "{side}: {least}");
    }
}

#[test]
fn a_sheet_is_drawn_instead_of_the_figure() {
    let mut sheet = Frame::new(Format::new(8, 4, Family::Rgb, Depth::Bits(8), (0, 0)));
    (0..4).for_each(|y| sheet.row_mut::<u8>(2, y).fill(255));
    let mut given = values(&[("agents", "60"), ("size", "200"), ("columns", "2"), ("haze", "0")]);
    given.set("image", Value::Image(ImageAsset::named("s.png").read(sheet))).unwrap();
    let format = Format::new(96, 54, Family::Rgb, Depth::Bits(8), (0, 0));
    let filter = ENTRY.bind(&given, &format, 3, Level::best()).unwrap();
    let frame = render(&format, &*filter, &mut None, 1, &NoCache, &CurrentThread, &[]);
    let red = (0..54).flat_map(|y| frame.row::<u8>(2, y).iter().copied()).filter(|v| *v > 250).count();
    assert!(red > 100, "{red}");
}

/// Large agents are pictures of their own, however many there are.
#[test]
fn the_look_does_not_depend_on_the_number_of_agents() {
    for agents in ["8000", "8001", "30000"] {
        let set = FlockSpec::read(&values(&[("agents", agents), ("size", "200")]));
        let flock = set.bound(&small(), 3, Level::best()).unwrap();
        let (_, now) = Render::at(&flock, &FrameTime::of_frame(0, Ratio::whole(24))).unwrap();
        let animals = flock.rules.start(flock.step_state(0).home);
        let (pictures, _) = flock.pictures(&flock.view(&now), &animals, &CurrentThread);
        assert!(pictures.len() > 100, "{agents}: {}", pictures.len());
    }
}

/// Moths are lit as by a lamp in the picture, but only a preset or a setting draws one.
#[test]
fn a_lamp_is_drawn_when_it_is_asked_for() {
    let moths = |more: &[(&str, &str)]| {
        let format = Format::new(96, 54, Family::Gray, Depth::Bits(8), (0, 0));
        let given = [&[("agents", "1"), ("size", "0")][..], more].concat();
        render(&format, &*bound(&given, &format, Level::best()), &mut None, 0, &NoCache, &CurrentThread, &[])
    };
    let dark = moths(&[("figure", "starling")]);
    assert!(moths(&[("figure", "moth")]) == dark && moths(&[("preset", "moths"), ("glow", "0")]) == dark);
    assert!(moths(&[("figure", "moth"), ("glow", "0.5")]) != dark && moths(&[("preset", "moths")]) != dark);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |settings: &[(&str, &str)], format: &Format| match (ENTRY.build)(&values(settings)) {
        Err(e) => e,
        Ok(spec) => spec.bind(format, 1, Level::best()).err().unwrap(),
    };
    assert_eq!(refused(&[("obstacle", "x.png")], &small()).setting, "obstacle");
    assert_eq!(
        refused(&[("obstacle", "x.png"), ("obstacle_frame", "3")], &small()).setting,
        "obstacle_frame"
    );
    assert_eq!(refused(&[("image", "x.png")], &small()).setting, "image");
    let long = Format { width: 8000, height: 20, ..small() };
    assert!(refused(&[], &long).problem.contains("crop"));
    let filter = bound(FLOCK, &small(), Level::best());
    let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
    let far = FrameTime::of_frame(i64::MAX / 1001, Ratio::whole(24));
    assert!(matches!(filter.step(&filter.at(&far).unwrap(), &mut None, &host), Err(PrepareError::Failed(_))));
}

#[test]
fn an_agent_looks_at_so_many_however_dense_the_flock_is() {
    // All are in sight of each other.
    let (rules, _, set) =
        rules_of(&[("agents", "3000"), ("spread", "0.02"), ("depth", "0"), ("size", "400")]);
    let agents = after(&rules, set.depth, 3, |m| m);
    let cells = near::Cells::new(&agents, rules.perception_radius);
    let (mut all, mut seen) = (0, 0);
    for a in &agents {
        let cell = cells.place([a[0], a[1], a[2]]);
        let (runs, count) = cells.around(cell);
        let (mut near, mut looked) = (0, vec![]);
        for run in &runs[..count] {
            near += run.to - run.from;
            looked.extend(
                near::looked_at(cells.number(cell), 3, *run).into_iter().flat_map(|part| part.from..part.to),
            );
        }
        let count = looked.len();
        looked.sort_unstable();
        looked.dedup();
        assert_eq!(looked.len(), count, "nobody is looked at twice");
        (all, seen) = (all.max(near), seen.max(count));
    }
    assert!(all > 1000 && seen <= 9 * near::CAP, "{all} {seen}");
    assert!(agents.iter().flatten().all(|v| v.is_finite()));
}

#[test]
fn levels_and_parts_make_the_same_step() {
    for size in ["1", "200"] {
        let (rules, _, set) = rules_of(&[("agents", "1300"), ("spread", "0.3"), ("size", size)]);
        let start = after(&rules, set.depth, 2, |m| m);
        let now = step_state(&rules, 2, set.depth);
        let want = rules.step(&start, &now, 6.0, Level::SCALAR, &CurrentThread);
        for &level in Level::available() {
            let got = rules.step(&start, &now, 6.0, level, &Backwards(3));
            assert!(got == want, "{size} {level}");
        }
    }
}
