//! Image sequences through the whole program, as on a render farm, compared with ffmpeg.
//!
//! `./x bench sequences [FRAMES] [ROUNDS]`, by default 100 frames and 3 rounds. The frames are a panning 1080p
//! photograph under film grain, which compress like scans. The bench prints the smallest wall time of the rounds,
//! processor time over wall time and peak memory of that round, bytes per frame, and the median of the rounds' ratios
//! to ffmpeg (PNG to PNG with its noise filter, at the same measured sigma), alternating in each round. Then a finished
//! sequence of 10,000 frames is resumed, and the start-up of some commands is timed.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GRAINFIELD: &str = env!("CARGO_BIN_EXE_grainfield");
/// ffmpeg's `alls=14` has a sigma of 7.7 code values, measured on grey; so do these settings.
const OURS: &str = "noise=strength=7.7";
const THEIRS: &str = "noise=alls=14:allf=t";

/// The median.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut v: Vec<f64> = values.into_iter().collect();
    v.sort_by(f64::total_cmp);
    v[v.len() / 2]
}

/// The cost of a run of a program.
#[derive(Clone, Copy)]
struct Took {
    /// Seconds of wall time.
    wall: f64,
    /// Seconds of processor time, over all threads.
    cpu: f64,
    /// Peak memory in bytes.
    peak: f64,
}

/// Runs a command to its end. The system's counters are read while it runs, and once more before it is
/// reaped.
fn run(command: &mut Command) -> Took {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (stat, status) = (format!("/proc/{}/stat", child.id()), format!("/proc/{}/status", child.id()));
    let (mut peak, mut cpu) = (0.0f64, 0.0);
    loop {
        if let Ok(text) = fs::read_to_string(&status) {
            let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
            let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
            peak = kib.map_or(peak, |k| peak.max(k * 1024.0));
        }
        let text = fs::read_to_string(&stat).unwrap_or_default();
        // after the name, which may contain any character: the state, and ticks of a hundredth of a second
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
        if let [Ok(user), Ok(system)] = [11, 12].map(|i| fields.get(i).unwrap_or(&"").parse::<f64>()) {
            cpu = (user + system) / 100.0;
        }
        if fields.first().is_none_or(|state| *state == "Z") {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let wall = start.elapsed().as_secs_f64();
    assert!(child.wait().unwrap().success(), "{command:?}");
    Took { wall, cpu, peak }
}

fn ours(words: &str) -> Command {
    let mut command = Command::new(GRAINFIELD);
    command.env_remove("GRAINFIELD_LEVEL").args(words.split_whitespace());
    command
}

fn ffmpeg(words: &str) -> Command {
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-v", "error", "-y"]).args(words.split_whitespace());
    command
}

/// The size of the files in a folder in bytes, without hidden ones.
fn bytes(folder: &Path) -> f64 {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let seen = entries.filter(|e| !e.file_name().to_string_lossy().starts_with('.'));
    seen.map(|e| e.metadata().unwrap().len() as f64).sum()
}

fn fresh(folder: &Path) -> &Path {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    folder
}

fn sequences(home: &Path, frames: usize, rounds: usize) {
    let at = |name: &str| home.join(name).display().to_string();
    let picture = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/pictures/flower.jpg");
    fresh(&home.join("png"));
    fresh(&home.join("exr"));
    run(&mut ffmpeg(&format!(
        "-loop 1 -i {picture} -vf scale=2400:1350:flags=bicubic,crop=1920:1080:x=mod(2*n\\,480):y=mod(n\\,270) -frames:v \
         {frames} -pix_fmt gbrp -f nut -c:v rawvideo {}",
        at("clip.nut")
    )));
    run(&mut ours(&format!("render {} {}/f.####.png -f grain=preset=35mm", at("clip.nut"), at("png"))));
    // half floats, as from renderers
    run(&mut ffmpeg(&format!(
        "-i {}/f.%04d.png -pix_fmt gbrpf32le -c:v exr -compression zip16 -format half {}/f.%04d.exr",
        at("png"),
        at("exr")
    )));
    fs::remove_file(home.join("clip.nut")).unwrap();
    let frame = 1920.0 * 1080.0 * 3.0;
    let (mut all, mut sizes) = (vec![Vec::new(); 3], [0.0; 3]);
    for _ in 0..rounds {
        for (i, took) in all.iter_mut().enumerate() {
            let to = home.join("out");
            fresh(&to);
            took.push(match i {
                0 => run(&mut ours(&format!(
                    "render {}/f.####.png {}/f.####.png -f {OURS}",
                    at("png"),
                    at("out")
                ))),
                1 => run(&mut ffmpeg(&format!(
                    "-i {}/f.%04d.png -vf {THEIRS} {}/f.%04d.png",
                    at("png"),
                    at("out")
                ))),
                _ => run(&mut ours(&format!(
                    "render {}/f.####.exr {}/f.####.exr -f {OURS}",
                    at("exr"),
                    at("out")
                ))),
            });
            sizes[i] = bytes(&to) / frames as f64;
        }
    }
    println!("{frames} frames of 1080p with noise, {rounds} rounds\n");
    println!("| | frames/s | processor / wall | peak memory, MB | frames it holds | MB a frame |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (i, name) in ["PNG to PNG", "PNG to PNG, ffmpeg", "EXR to EXR"].into_iter().enumerate() {
        let best = all[i].iter().min_by(|a, b| a.wall.total_cmp(&b.wall)).unwrap();
        let held = best.peak / frame / if i == 2 { 4.0 } else { 1.0 };
        println!(
            "| {name} | {:.1} | {:.2} | {:.0} | {held:.1} | {:.2} |",
            frames as f64 / best.wall,
            best.cpu / best.wall,
            best.peak / 1e6,
            sizes[i] / 1e6
        );
    }
    let ratio = |f: fn(&Took) -> f64| median(all[1].iter().zip(&all[0]).map(|(t, o)| f(t) / f(o)));
    println!(
        "\nffmpeg takes {:.2} times the time, {:.2} times the processor time, {:.2} times the bytes\n",
        ratio(|t| t.wall),
        ratio(|t| t.cpu),
        sizes[1] / sizes[0]
    );
}

fn resumed(home: &Path) {
    let to = home.join("many");
    fresh(&to);
    let render = format!(
        "render pattern:bars:size=64x36:frames=10000 {}/f.#####.png -f noise=strength=4 --resume",
        to.display()
    );
    let made = run(&mut ours(&render)).wall;
    let again = median((0..3).map(|_| run(&mut ours(&render)).wall));
    let read = run(&mut ours(&format!("{render} --verify"))).wall;
    println!(
        "10,000 frames made in {made:.1} s; resumed when finished in {again:.3} s, and in {read:.3} s with every byte read\n"
    );
}

/// Milliseconds from start to end, median of 50 runs.
fn start_up() {
    println!("| command | ms |\n|---|---:|");
    for words in [
        "--version",
        "filters noise",
        "probe pattern:bars",
        "render pattern:bars:frames=1:size=16x16 null: -f noise -q",
    ] {
        let times = (0..50).map(|_| {
            let mut command = ours(words);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let start = Instant::now();
            assert!(command.status().unwrap().success(), "{words}");
            start.elapsed().as_secs_f64() * 1e3
        });
        println!("| {words} | {:.1} |", median(times));
    }
}

fn main() {
    // cargo adds its own arguments
    let mut numbers = std::env::args().skip(1).filter_map(|a| a.parse::<usize>().ok());
    let (frames, rounds) = (numbers.next().unwrap_or(100), numbers.next().unwrap_or(3));
    let home = tempfile::tempdir().unwrap();
    if cfg!(feature = "ffmpeg") {
        sequences(home.path(), frames, rounds);
    }
    resumed(home.path());
    start_up();
}
