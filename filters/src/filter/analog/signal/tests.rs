//! The whole path of lines against an obvious twin in f64.

use super::super::events::Drop;
use super::super::line::MARGIN;
use super::super::{ENTRY, Events};
use super::*;
use crate::filter::testing::{format, frame_time, values};
use crate::settings::Settings;
use core::f64::consts::FRAC_PI_2;

/// Errors of f32 after some hundred operations on values up to 2.
const NEAR: f64 = 2e-5;

type Lines64 = Vec<Vec<f64>>;

/// Random values of deviation .3.
fn random(lines: usize, width: usize, seed: u64) -> Lines64 {
    let mut rng = crate::noise::Rng::new(seed, 1);
    (0..lines).map(|_| (0..width).map(|_| rng.range(0.0, 1.0)).collect()).collect()
}

/// Beyond the ends, samples of the same place within a period.
fn at(line: &[f64], i: i64, period: i64) -> f64 {
    let n = line.len() as i64;
    let i = if i < 0 { i.rem_euclid(period) } else { i };
    let i = if i >= n { n - period + (i - n).rem_euclid(period) } else { i };
    line[i as usize]
}

fn filtered(line: &[f64], taps: &[f32], period: i64) -> Vec<f64> {
    let half = taps.len() as i64 / 2;
    let sum = |i: i64| (-half..).zip(taps).map(|(k, &t)| f64::from(t) * at(line, i + k, period)).sum();
    (0..line.len() as i64).map(sum).collect()
}

/// The place of sample `i` in cycles, from the middle of cycle 0; a colour difference there.
fn between(c: &[f64], i: usize) -> f64 {
    let place = (i as f64 - 1.5) / 4.0;
    let f = place - place.floor();
    let k = place.floor() as i64;
    (1.0 - f) * at(c, k, 1) + f * at(c, k + 1, 1)
}

fn moved(line: &[f64], by: f64, overscan: i64) -> Vec<f64> {
    let n = line.len() as i64;
    let sample = |i: i64| if (-overscan..n + overscan).contains(&i) { at(line, i, 1) } else { 0.0 };
    let weight = |x: f64| crate::pixel::resample::InterpolationKernel::Bicubic.weight(x);
    (0..n)
        .map(|i| {
            let place = i as f64 - by;
            let k = place.floor() as i64;
            (k - 1..k + 3).map(|k| sample(k) * weight(place - k as f64)).sum()
        })
        .collect()
}

fn turned(u: &mut [f64], v: &mut [f64], [cos, sin]: [f64; 2]) {
    for (u, v) in u.iter_mut().zip(v) {
        (*u, *v) = (*u * cos - *v * sin, *u * sin + *v * cos);
    }
}

/// The path from its definition, without snow, lost signal and noise.
fn twin(path: &Path, now: &Now, [y, u, v]: [&mut Lines64; 3]) {
    let (step, comb) = (now.lines.step, path.raster.comb);
    let [pal, secam, ntsc] = [System::Pal, System::Secam, System::Ntsc].map(|s| path.system == s);
    let composite = path.connection == Connection::Composite;
    let sign = |i: usize| if pal && now.carriers[i].odd { -1.0 } else { 1.0 };
    let angle = |i: usize, x: usize| FRAC_PI_2 * (x + now.carriers[i].phase) as f64;
    for i in 0..y.len() {
        y[i] = filtered(&y[i], &path.luma, 1);
        if path.connection != Connection::Component {
            let axes = if ntsc { [33f64.to_radians().cos(), -33f64.to_radians().sin()] } else { [1.0, 0.0] };
            turned(&mut u[i], &mut v[i], axes);
            u[i] = filtered(&u[i], &path.chroma[usize::from(ntsc)], 1);
            v[i] = filtered(&v[i], &path.chroma[usize::from(!ntsc)], 1);
            turned(&mut u[i], &mut v[i], [axes[0], -axes[1]]);
        }
        let [cos, sin] = now.hue.map(f64::from);
        if !secam {
            turned(&mut u[i], &mut v[i], [cos, sign(i) * sin]);
        }
        for c in [&mut u[i], &mut v[i]] {
            c.iter_mut().for_each(|c| *c *= f64::from(now.saturation));
        }
        if composite && !secam {
            for x in 0..y[i].len() {
                let a = angle(i, x);
                y[i][x] += between(&u[i], x) * a.sin() + sign(i) * between(&v[i], x) * a.cos();
            }
        }
        let sent = y[i].clone();
        let late = sent.len() / 40;
        let ghost = f64::from(now.ghost);
        for x in 0..sent.len() {
            y[i][x] = (sent[x] + ghost * sent[x.saturating_sub(late)]) / (1.0 + ghost.max(-0.5));
        }
    }
    let sent = y.clone();
    for i in (0..y.len()).filter(|_| composite) {
        let combed = path.comb == Comb::Line && !secam && i >= comb * step;
        let source = match combed {
            true => sent[i].iter().zip(&sent[i - comb * step]).map(|(a, b)| 0.5 * (a - b)).collect(),
            false => sent[i].clone(),
        };
        let carried = filtered(&source, &path.band, 4);
        y[i] = sent[i].iter().zip(&carried).map(|(s, c)| s - c).collect();
        for k in 0..u[i].len() {
            // Two samples of each difference are a quarter and three quarters of their mean.
            let part = |shift: f64| -> f64 {
                let of = |x: usize| {
                    let wave = (angle(i, x) + shift).sin();
                    carried[x] * wave * if (1..3).contains(&(x - 4 * k)) { 0.75 } else { 0.25 }
                };
                (4 * k..4 * k + 4).map(of).sum()
            };
            let (a, b) = (part(0.0), part(FRAC_PI_2));
            if secam {
                u[i][k] += f64::from(FIRE) * a;
                v[i][k] -= f64::from(FIRE) * a;
            } else {
                (u[i][k], v[i][k]) = (a, sign(i) * b);
            }
        }
        u[i] = filtered(&u[i], &path.received, 1);
        v[i] = filtered(&v[i], &path.received, 1);
    }
    let sum = |a: &[f64], b: &[f64], own: f64| -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| own * a + (1.0 - own) * b).collect()
    };
    if path.connection != Connection::Component && !ntsc {
        let [a, b] = [u.clone(), v.clone()];
        for i in step..y.len() {
            let odd = now.carriers[i].odd;
            u[i] = sum(&a[i], &a[i - step], if pal { 0.5 } else { f64::from(u8::from(!odd)) });
            v[i] = sum(&b[i], &b[i - step], if pal { 0.5 } else { f64::from(u8::from(odd)) });
        }
    }
    for copy in 0..path.generations {
        let under = path.deck.unwrap().color_under;
        for c in [&mut *u, &mut *v] {
            let before = c.clone();
            for i in 0..c.len() {
                if under && i >= comb * step {
                    c[i] = sum(&before[i], &before[i - comb * step], 0.5);
                }
                c[i] = filtered(&c[i], &path.tape_chroma, 1);
            }
        }
        for i in 0..y.len() {
            y[i] = filtered(&y[i], &now.playback, 1);
            if copy + 1 < path.generations {
                continue;
            }
            let event = &now.events[i];
            for c in [&mut u[i], &mut v[i]] {
                c.iter_mut().for_each(|c| *c *= f64::from(event.chroma));
            }
            if under {
                turned(&mut u[i], &mut v[i], event.turn.map(f64::from));
            }
            y[i] = moved(&y[i], event.shift.into(), OVERSCAN as i64);
            let by = f64::from(event.shift + now.delay) * 0.25;
            u[i] = moved(&u[i], by, OVERSCAN as i64 / 4);
            v[i] = moved(&v[i], by, OVERSCAN as i64 / 4);
        }
    }
}

/// A picture's lines from `first` on after the path.
fn sent(path: &Path, now: &Now, source: &[Lines64; 3], first: usize) -> [Vec<f32>; 3] {
    let [mut y, mut u, mut v] =
        source.each_ref().map(|p| p[first..].iter().flatten().map(|v| *v as f32).collect::<Vec<_>>());
    let w = path.raster.width;
    let (mut wide, mut sum, mut more) = (vec![9.0; w + 2 * MARGIN], vec![9.0; w], vec![9.0; w]);
    let mut room = Room { level: path.level, wide: &mut wide, sum: &mut sum, more: &mut more };
    let (mut words, mut fine) = (vec![0; noise_len(w)], vec![0; noise_len(w)]);
    let mut coarse = vec![0; noise_len(w / 4)];
    let mut noise = NoiseRoom { words: &mut words, fine: &mut fine, coarse: &mut coarse };
    let mut picture = Picture { first, width: w, y: &mut y, u: &mut u, v: &mut v };
    path.send(now, &mut picture, &mut room, &mut noise);
    [y, u, v]
}

fn bound(given: &[(&str, &str)], count: usize, step: usize, level: Level) -> (Path, Now) {
    let set = AnalogSpec::read(&values(&ENTRY, given));
    let path = Path::new(&set, count, 7, level).unwrap();
    let lines = Lines { count, step, field: 0, part: 1.0, unit: path.raster.width as f64 / 1920.0 };
    let events = Events::new(&set, 7, &format("gray", 64, 64)).at(&frame_time(5), &lines);
    let now = path.now(&set, &frame_time(5), lines, events, 5);
    (path, now)
}

const QUIET: [(&str, &str); 2] = [("noise", "0"), ("dropouts", "0")];

#[test]
fn lines_are_sent_as_defined() {
    let cases: &[&[(&str, &str)]] = &[
        &[("tape", "none")],
        &[("tape", "none"), ("comb", "line"), ("hue", "20"), ("saturation", "1.4")],
        &[("tape", "none"), ("system", "pal"), ("hue", "-50"), ("ghost", "0.3")],
        &[("tape", "none"), ("system", "pal"), ("comb", "line")],
        &[("tape", "none"), ("system", "secam")],
        &[("tape", "none"), ("system", "secam"), ("connection", "svideo"), ("hue", "90")],
        &[("tape", "vhs-sp"), ("connection", "svideo"), ("jitter", "8"), ("edge-wave", "40")],
        &[("tape", "betacam"), ("connection", "component"), ("sharpen", "2"), ("chroma-delay", "-30")],
        &[("tape", "vhs-ep"), ("system", "pal"), ("generations", "3"), ("jitter", "30")],
    ];
    for (case, step) in cases.iter().flat_map(|case| [(case, 1), (case, 2)]) {
        let mut given = [&QUIET[..], case].concat();
        given.extend([("head-switching", "0")]);
        let (path, mut now) = bound(&given, 14, step, Level::best());
        // Noise of chroma is a setting of the phase's errors, too, which stay.
        now.noise = [0.0; 2];
        let w = path.raster.width;
        let source = [random(14, w, 1), random(14, w / 4, 2), random(14, w / 4, 3)];
        let [mut y, mut u, mut v] = source.clone();
        twin(&path, &now, [&mut y, &mut u, &mut v]);
        let got = sent(&path, &now, &source, 0);
        for (p, want) in [y, u, v].into_iter().enumerate() {
            for (x, (want, got)) in want.iter().flatten().zip(&got[p]).enumerate() {
                assert!((want - f64::from(*got)).abs() < NEAR, "{case:?} {step} {p} {x}: {got}, not {want}");
            }
        }
    }
}

#[test]
fn levels_and_first_lines_change_nothing() {
    for (system, comb) in [("ntsc", "line"), ("pal", "notch"), ("pal", "line"), ("secam", "notch")] {
        let given = [
            ("system", system),
            ("comb", comb),
            ("generations", "2"),
            ("tracking", "0.8"),
            ("dropouts", "9"),
            ("snow", "9"),
        ];
        let (path, now) = bound(&given, 40, 2, Level::SCALAR);
        let w = path.raster.width;
        let source = [random(40, w, 1), random(40, w / 4, 2), random(40, w / 4, 3)];
        let want = sent(&path, &now, &source, 0);
        let lead = path.lead(2);
        for &level in Level::available() {
            let (path, now) = bound(&given, 40, 2, level);
            for first in [0, 3, 8] {
                let got = sent(&path, &now, &source, first);
                for (p, n) in [w, w / 4, w / 4].into_iter().enumerate() {
                    let skip = if first == 0 { 0 } else { lead };
                    assert!(
                        got[p][skip * n..] == want[p][(first + skip) * n..],
                        "{system} {comb} {level} {first} {p}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_carrier_repeats_after_four_fields_of_ntsc_and_eight_of_pal() {
    for (system, frames) in [(System::Ntsc, 2), (System::Pal, 4)] {
        let r = system.raster();
        assert_eq!(r.cycles() * 4, r.width);
        let phase = |frame: i64| r.carrier(frame, 1, 17);
        assert!((1..frames).all(|n| phase(n) != phase(0)) && phase(frames) == phase(0), "{frames}");
        assert_eq!(phase(i64::MIN + 3 * frames), phase(i64::MIN + 4 * frames));
        // Lines of a field whose distance is that of the comb are opposite.
        let [a, b] = [40, 40 + r.comb as i64].map(|line| r.carrier(0, 0, line).phase);
        assert_eq!((a + 2) % 4, b);
    }
}

#[test]
fn a_dropout_has_a_tail() {
    let (path, mut now) = bound(&[("tracking", "0"), ("noise", "0"), ("sharpen", "0")], 9, 1, Level::best());
    now.events
        .iter_mut()
        .for_each(|e| *e = LineEvent { chroma: 1.0, turn: [1.0, 0.0], ..LineEvent::default() });
    let w = path.raster.width;
    let source = [vec![vec![0.3; w]; 9], vec![vec![0.0; w / 4]; 9], vec![vec![0.0; w / 4]; 9]];
    let clean = sent(&path, &now, &source, 0);
    now.events[4].drops.push(Drop { start: 100, end: 140, level: 1.0, decay: 0.95 });
    let [y, ..] = sent(&path, &now, &source, 0);
    let rise = |x: usize| f64::from(y[4 * w + x] - clean[0][4 * w + x]);
    let mean = |a: usize, b: usize| (a..b).map(rise).sum::<f64>() / (b - a) as f64;
    assert!(mean(105, 135) > 0.5 && mean(150, 160) > 0.1 && mean(150, 160) < 0.6, "{}", mean(150, 160));
    assert!(mean(40, 80).abs() < 1e-6 && mean(300, 400).abs() < 1e-6);
    assert!(y[..4 * w] == clean[0][..4 * w] && y[5 * w..] == clean[0][5 * w..]);
}
