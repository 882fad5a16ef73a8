//! `match` of a plate without a clean version, with an independent model: plates are made here from random discs (the
//! Boolean model of film grain), so that their grain is known sample by sample.

use crate::util::Session;
use grainfield_filters::recipe::Recipe;
use serde_json::Value;

const WIDTH: usize = 640;
const HEIGHT: usize = 384;
const FRAMES: usize = 6;

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Layers of discs: the share of each sample that they cover, minus the mean, times `strength` codes. Lighter
/// pictures have more discs.
fn discs(clean: &[f64], width: usize, radius: f64, strength: f64, seed: u64) -> Vec<f64> {
    const FINE: usize = 4;
    const LAYERS: usize = 3;
    let height = clean.len() / width;
    let mut grain = vec![0.0; clean.len()];
    let mut random = Random(seed * 0x9e37_79b9 + 1);
    for _ in 0..LAYERS {
        let (w, h) = (width * FINE, height * FINE);
        let mut covered = vec![false; w * h];
        for y in 0..height {
            for x in 0..width {
                let u = (clean[y * width + x] / 255.0).clamp(0.02, 0.98);
                // Number of discs centred in this sample: a Poisson distribution.
                let mean = -(1.0 - u).ln() / (std::f64::consts::PI * radius * radius);
                let (mut p, end) = (random.unit(), (-mean).exp());
                while p > end {
                    p *= random.unit();
                    let (cx, cy) = (x as f64 + random.unit(), y as f64 + random.unit());
                    let at = |c: f64, n: usize| {
                        let low = ((c - radius) * FINE as f64).max(0.0) as usize;
                        low..(((c + radius) * FINE as f64) as usize + 1).min(n)
                    };
                    for j in at(cy, h) {
                        let dy = (j as f64 + 0.5) / FINE as f64 - cy;
                        let mut dx = (at(cx, w).start as f64 + 0.5) / FINE as f64 - cx;
                        for cell in &mut covered[j * w..][at(cx, w)] {
                            *cell |= dx * dx + dy * dy < radius * radius;
                            dx += 1.0 / FINE as f64;
                        }
                    }
                }
            }
        }
        for y in 0..height {
            for x in 0..width {
                let u = (clean[y * width + x] / 255.0).clamp(0.02, 0.98);
                let mut count = 0;
                for j in 0..FINE {
                    let cells = &covered[(y * FINE + j) * w + x * FINE..][..FINE];
                    count += cells.iter().map(|&covered| usize::from(covered)).sum::<usize>();
                }
                let part = count as f64 / (FINE * FINE) as f64;
                grain[y * width + x] += (part - u) * strength;
            }
        }
    }
    grain
}

/// A picture with smooth parts, edges and textures, shifted by `(dx, dy)` samples.
fn picture(dx: f64, dy: f64) -> Vec<f64> {
    let at = |x: f64, y: f64| {
        let smooth = 110.0 + 70.0 * (x / 97.0 + (y / 140.0).sin()).sin();
        let hatch = if (y / 90.0).sin() > 0.2 { 18.0 * (x / 2.3).sin() * (y / 3.1).cos() } else { 0.0 };
        let edge = if (x / 53.0).sin() * (y / 61.0).cos() > 0.55 { 35.0 } else { 0.0 };
        (smooth + hatch + edge).clamp(20.0, 235.0)
    };
    (0..WIDTH * HEIGHT).map(|i| at((i % WIDTH) as f64 + dx, (i / WIDTH) as f64 + dy)).collect()
}

/// An 8-bit grey plate, and its grain.
struct Plate {
    y4m: Vec<u8>,
    clean: Vec<Vec<f64>>,
    grain: Vec<Vec<f64>>,
}

fn plate(radius: f64, strength: f64, at: impl Fn(usize) -> Vec<f64>) -> Plate {
    let mut plate = Plate { y4m: Vec::new(), clean: Vec::new(), grain: Vec::new() };
    plate.y4m.extend(format!("YUV4MPEG2 W{WIDTH} H{HEIGHT} F25:1 Ip Cmono XCOLORRANGE=FULL\n").bytes());
    for n in 0..FRAMES {
        let clean = at(n);
        let grain = discs(&clean, WIDTH, radius, strength, n as u64 + 1);
        plate.y4m.extend(b"FRAME\n");
        let codes: Vec<f64> =
            clean.iter().zip(&grain).map(|(c, g)| (c + g).round().clamp(0.0, 255.0)).collect();
        plate.y4m.extend(codes.iter().map(|&c| c as u8));
        plate.grain.push(codes.iter().zip(&clean).map(|(c, s)| c - s).collect());
        plate.clean.push(clean);
    }
    plate
}

/// The strength of grain by the clean picture's brightness in bins of 8 codes, and the correlation of
/// horizontal neighbours.
fn truth(clean: &[Vec<f64>], grain: &[Vec<f64>]) -> (Vec<f64>, f64) {
    let mut bins = vec![(0.0, 0.0, 0.0); 32];
    let (mut near, mut all) = (0.0, 0.0);
    for (clean, grain) in clean.iter().zip(grain) {
        for (c, g) in clean.iter().zip(grain) {
            let bin = &mut bins[(c / 8.0) as usize];
            *bin = (bin.0 + 1.0, bin.1 + g, bin.2 + g * g);
        }
        for row in grain.chunks(WIDTH) {
            near += row.windows(2).map(|g| g[0] * g[1]).sum::<f64>();
            all += row.iter().map(|g| g * g).sum::<f64>();
        }
    }
    let deviation = |(n, sum, square): &(f64, f64, f64)| {
        if *n > 0.0 { (square / n - (sum / n) * (sum / n)).max(0.0).sqrt() } else { 0.0 }
    };
    (bins.iter().map(deviation).collect(), near / all)
}

/// The skewness of grain by brightness in bins of 32 codes; 0 with few samples.
fn skewness(clean: &[Vec<f64>], grain: &[Vec<f64>]) -> Vec<f64> {
    let of = |i: usize| {
        let pairs = clean.iter().flatten().zip(grain.iter().flatten());
        let all: Vec<f64> = pairs.filter(|p| (p.0 / 32.0) as usize == i).map(|p| *p.1).collect();
        let n = all.len().max(1) as f64;
        let mean = all.iter().sum::<f64>() / n;
        let moment = |k: i32| all.iter().map(|v| (v - mean).powi(k)).sum::<f64>() / n;
        if n > 5000.0 { moment(3) / moment(2).powf(1.5) } else { 0.0 }
    };
    (0..8).map(of).collect()
}

struct Judged {
    report: Value,
    /// The skewness of the plate by brightness, and of the recipe's grain.
    skewness: [Vec<f64>; 2],
    /// The error of the strengths: rms over samples, and the worst bin.
    off: (f64, f64),
    /// The difference between the recipe's grain and the plate's: rms of strength, and correlation of
    /// neighbours.
    again: (f64, f64),
}

fn off(report: &Value, truth: &[f64], got: impl Fn(usize) -> Option<f64>) -> (f64, f64) {
    let (mut sum, mut all, mut worst) = (0.0, 0.0, 0.0f64);
    for bin in report["planes"][0]["strength"].as_array().unwrap() {
        let i = (bin["brightness"].as_f64().unwrap() / 8.0) as usize;
        let Some(got) = got(i).filter(|_| bin["counts"] == true) else { continue };
        let part: f64 = got / truth[i] - 1.0;
        let samples = bin["samples"].as_f64().unwrap();
        (sum, all, worst) = (sum + samples * part * part, all + samples, worst.max(part.abs()));
    }
    assert!(all > 0.0, "{report:#}");
    ((sum / all).sqrt(), worst)
}

fn judged(plate: &Plate) -> Judged {
    let s = Session::new();
    s.write("plate.y4m", &plate.y4m);
    let report = s.run("match plate.y4m -o out.toml --json").ok();
    let report: Value = serde_json::from_str(&report.text()).unwrap();
    let (strength, near) = truth(&plate.clean, &plate.grain);
    let found = |i: usize| {
        let bins = report["planes"][0]["strength"].as_array().unwrap();
        let bin = bins.iter().find(|b| (b["brightness"].as_f64().unwrap() / 8.0) as usize == i)?;
        bin["plate"].as_f64()
    };
    let off_found = off(&report, &strength, found);
    // The clean picture with the recipe's grain.
    let mut clean = plate.y4m.split(|b| *b == b'\n').next().unwrap().to_vec();
    clean.push(b'\n');
    for c in &plate.clean {
        clean.extend(b"FRAME\n");
        clean.extend(c.iter().map(|c| c.round() as u8));
    }
    s.write("clean.y4m", &clean);
    s.run("render clean.y4m again.y4m --recipe out.toml").ok();
    let again = s.read("again.y4m");
    let frames = |y4m: &[u8]| -> Vec<Vec<f64>> {
        let frame = WIDTH * HEIGHT + 6;
        let start = y4m.len() - FRAMES * frame;
        y4m[start..].chunks(frame).map(|f| f[6..].iter().map(|b| f64::from(*b)).collect()).collect()
    };
    let made: Vec<Vec<f64>> = frames(&again)
        .iter()
        .zip(&frames(&clean))
        .map(|(a, c)| a.iter().zip(c).map(|(a, c)| a - c).collect())
        .collect();
    let skewness = [&plate.grain, &made].map(|grain| skewness(&plate.clean, grain));
    let (made, made_near) = truth(&plate.clean, &made);
    let off_again = off(&report, &strength, |i| Some(made[i]));
    Judged { skewness, off: off_found, again: (off_again.0, (made_near - near).abs()), report }
}

fn way(judged: &Judged) -> &str {
    judged.report["evidence"]["from"].as_str().unwrap()
}

fn within(judged: &Judged, rms: f64, worst: f64, near: f64) {
    let said = format!("{:?} {:?} {:#}", judged.off, judged.again, judged.report["evidence"]);
    assert!(judged.off.0 < rms && judged.off.1 < worst, "{said}");
    assert!(judged.again.0 < rms + 0.02 && judged.again.1 < near, "{said}");
    assert_eq!(judged.report["evidence"]["compressed"], false, "{said}");
    // Discs of one size are not grain of two.
    let chain = judged.report["chain"].as_str().unwrap();
    assert!(!chain.contains("variation"), "{chain}");
}

#[test]
fn grain_is_found_where_nothing_moves() {
    let clean = picture(0.0, 0.0);
    let found = judged(&plate(0.8, 14.0, |_| clean.clone()));
    assert_eq!(way(&found), "still");
    within(&found, 0.05, 0.1, 0.06);
    // Few discs are light on dark, many leave dark holes. Three frames tell how much.
    let [plate, made] = &found.skewness;
    let far = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let (left, all) = (far(plate, made), far(plate, &[0.0; 8]));
    assert!(left < 0.35 * all, "{plate:.2?} {made:.2?} {}", found.report["chain"]);
}

#[test]
fn grain_is_found_where_all_moves() {
    let found = judged(&plate(0.8, 14.0, |n| picture(3.0 * n as f64, -2.0 * n as f64)));
    assert_eq!(way(&found), "moved");
    within(&found, 0.1, 0.2, 0.08);
    // With motion by half samples only plain parts can be used.
    let found = judged(&plate(0.8, 14.0, |n| picture(1.5 * n as f64, 0.5 * n as f64)));
    within(&found, 0.1, 0.2, 0.08);
}

#[test]
fn grain_is_found_in_one_frame() {
    let clean = picture(0.0, 0.0);
    let mut one = plate(0.8, 14.0, |_| clean.clone());
    let first = one.y4m.clone();
    // A frame that is repeated counts as one.
    let head = first.iter().position(|b| *b == b'\n').unwrap() + 1;
    let frame = first[head..head + WIDTH * HEIGHT + 6].to_vec();
    one.y4m = [first[..head].to_vec(), frame.repeat(FRAMES)].concat();
    one.grain = vec![one.grain[0].clone(); FRAMES];
    let found = judged(&one);
    assert_eq!(way(&found), "flat");
    within(&found, 0.1, 0.25, 0.1);
}

#[test]
fn held_frames_are_found() {
    let made: Vec<Vec<f64>> = (0..FRAMES).map(|n| picture(4.0 * (n / 2) as f64, 0.0)).collect();
    let mut twos = plate(0.8, 14.0, |n| made[n].clone());
    let head = twos.y4m.iter().position(|b| *b == b'\n').unwrap() + 1;
    let frames: Vec<Vec<u8>> =
        twos.y4m[head..].chunks(WIDTH * HEIGHT + 6).step_by(2).map(|f| f.repeat(2)).collect();
    twos.y4m.truncate(head);
    twos.y4m.extend(frames.concat());
    let s = Session::new();
    s.write("plate.y4m", &twos.y4m);
    assert!(s.run("match plate.y4m -o out.toml").ok().text().contains("2 frames"));
    let recipe = Recipe::parse_toml(std::str::from_utf8(&s.read("out.toml")).unwrap()).unwrap();
    assert_eq!(recipe.steps[0].values.get("hold").unwrap().to_string(), "2");
}

/// Grain of an encoder's table on a still ramp: both chroma planes, and their correlation with luma.
#[test]
fn grain_of_a_table_is_found_without_a_clean_picture() {
    const CLEAN: &str = "pattern:ramp:size=960x256:frames=6:format=yuv420p10";
    let s = Session::new();
    s.run(&format!("render {CLEAN} plate.y4m -f av1grain=vector=2")).ok();
    let of = |line: &str| -> Value { serde_json::from_str(&s.run(line).ok().text()).unwrap() };
    let known = of(&format!("match plate.y4m --clean {CLEAN} --json"));
    let found = of("match plate.y4m -o out.tbl --json");
    for p in 0..3 {
        let [a, b] = [&known, &found].map(|r| &r["planes"][p]);
        let (mut sum, mut all) = (0.0, 0.0);
        for bin in b["strength"].as_array().unwrap().iter().filter(|b| b["counts"] == true) {
            let same =
                a["strength"].as_array().unwrap().iter().find(|o| o["brightness"] == bin["brightness"]);
            let Some(want) = same.and_then(|s| s["plate"].as_f64()).filter(|w| *w > 0.5) else { continue };
            let part = bin["plate"].as_f64().unwrap() / want - 1.0;
            (sum, all) = (sum + part * part, all + 1.0);
        }
        assert!(all > 8.0 && f64::sqrt(sum / all) < 0.06, "{p}: {} {found:#}", f64::sqrt(sum / all));
        let channel = |r: &Value| r["channel"]["plate"].as_f64().unwrap();
        assert!((channel(a) - channel(b)).abs() < 0.05, "{p}: {} {}", channel(a), channel(b));
        assert!(b["spectrum_db"].as_f64().unwrap() < 1.5, "{p}: {}", b["spectrum_db"]);
    }
}

#[test]
fn grain_that_compression_took_is_told() {
    let clean = picture(0.0, 0.0);
    let plate = plate(0.8, 14.0, |_| clean.clone());
    let s = Session::new();
    s.write("plate.y4m", &plate.y4m);
    s.tool("ffmpeg", "-v error -i plate.y4m -pix_fmt gray -c:v libx264 -crf 27 bad.mkv");
    s.run("match bad.mkv").ok().says("compression").says("not certain");
    // What is left of it does not look like grain.
    s.tool("ffmpeg", "-v error -i plate.y4m -pix_fmt gray -c:v libx264 -crf 34 worse.mkv");
    s.run("match worse.mkv -o a.toml").ends(1).says("compression");
}

#[test]
fn a_plate_without_evidence_is_an_error() {
    let s = Session::new();
    s.run("match pattern:bars:size=320x180:frames=4 -o a.toml").ends(1).says("--clean");
    assert!(s.files().is_empty(), "{:?}", s.files());
}
