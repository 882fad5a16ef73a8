//! Crashed programs, full disks and vanished folders, with real ones.
//!
//! Each test interrupts the program in some way and checks its files: no incomplete file under its final name, no
//! panic, no hang. Then the job is resumed, and the result must be that of an undisturbed run. `GRAINFIELD_SOAK=50`
//! sets the number of kills; `GRAINFIELD_SEED` gives other random numbers.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
#[cfg(feature = "ffmpeg")]
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A longer run counts as a hang.
const PATIENCE: Duration = Duration::from_secs(60);
const FRAMES: usize = 48;
const SOURCE: &str = "pattern:zoneplate:size=320x180:frames=48";
const NOISE: &str = "noise=strength=6";

/// Random numbers: splitmix64.
struct Random(u64);

impl Random {
    fn new(test: &str) -> Random {
        let seed = std::env::var("GRAINFIELD_SEED").map_or(1, |text| text.parse().unwrap());
        println!("{test}: GRAINFIELD_SEED={seed}");
        Random(seed)
    }

    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % most as u64) as usize
    }
}

fn kills() -> usize {
    std::env::var("GRAINFIELD_SOAK").map_or(4, |n| n.parse().unwrap())
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_grainfield"));
    command.env_remove("GRAINFIELD_LEVEL").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// `render SOURCE OUTPUT` with noise and further arguments.
pub(crate) fn render(output: &Path, more: &[&str]) -> Command {
    let mut command = program();
    command.args(["render", SOURCE]).arg(output).args(["-f", NOISE, "--threads", "2"]).args(more);
    command
}

/// Waits for the end; a hang is killed and fails the test.
fn ended(mut child: Child) -> Output {
    let mut err = child.stderr.take();
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(err) = &mut err {
            let _ = err.read_to_end(&mut text);
        }
        text
    });
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("it hangs: {:?}", reader.join().map(|t| String::from_utf8_lossy(&t).into_owned()));
        }
        thread::sleep(Duration::from_millis(5));
    };
    let stderr = reader.join().unwrap();
    let text = String::from_utf8_lossy(&stderr);
    assert!(!text.contains("panicked") && !text.contains("internal error"), "{text}");
    Output { status, stdout: Vec::new(), stderr }
}

pub(crate) fn run(command: &mut Command) -> (i32, String) {
    let out = ended(command.spawn().unwrap());
    (out.status.code().unwrap_or(-1), String::from_utf8_lossy(&out.stderr).into_owned())
}

pub(crate) fn good(command: &mut Command) -> String {
    let (code, text) = run(command);
    assert_eq!(code, 0, "{command:?}: {text}");
    text
}

/// Starts a render that reports every frame, waits for the `k`th, and acts on it.
pub(crate) fn at_frame(mut command: Command, k: usize, act: impl FnOnce(&mut Child)) -> Output {
    let mut child = command.args(["--progress", "frames"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let (send, receive) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            if line.starts_with(b"{\"event\":\"frame\"") {
                let _ = send.send(());
            }
            text.append(&mut line);
        }
        text
    });
    let begun = Instant::now();
    for _ in 0..k {
        // a run that ends earlier was not disturbed
        if receive.recv_timeout(PATIENCE).is_err() {
            break;
        }
    }
    act(&mut child);
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("it hangs");
        }
        thread::sleep(Duration::from_millis(2));
    }
    let status = child.wait().unwrap();
    let stderr = reader.join().unwrap();
    let text = String::from_utf8_lossy(&stderr);
    assert!(!text.contains("panicked") && !text.contains("internal error"), "{text}");
    Output { status, stdout: Vec::new(), stderr }
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
}

fn signal(name: &'static str) -> impl FnOnce(&mut Child) {
    move |child| {
        // it may have ended already
        let _ = Command::new("kill").args([name, &child.id().to_string()]).stderr(Stdio::null()).status();
    }
}

/// All files below a folder except manifests, with their contents.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if !name.ends_with(".manifest") {
            assert!(entry.path().is_file(), "{name} is left");
            all.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    all
}

/// The frames of an undisturbed run.
fn frames() -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    good(&mut render(&folder.path().join("f.####.png"), &["-q"]));
    let all = files(folder.path());
    assert_eq!(all.len(), FRAMES);
    all
}

/// There are frames, and each is complete; also a killed program leaves nothing else.
fn only_whole(folder: &Path, whole: &BTreeMap<String, Vec<u8>>) {
    for (name, bytes) in files(folder) {
        assert!(whole.get(&name) == Some(&bytes), "{name} is left, or not whole");
    }
}

#[test]
fn a_sequence_survives_kills() {
    let mut random = Random::new("sequence");
    let (whole, mut killed) = (frames(), 0);
    for round in 0..kills().div_ceil(4) {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("f.####.png");
        for _ in 0..4 {
            let k = 1 + random.below(FRAMES / 3);
            let out = at_frame(render(&output, &["--resume"]), k, kill);
            killed += usize::from(out.status.code().is_none());
            only_whole(folder.path(), &whole);
        }
        let more: &[&str] = if round % 2 == 0 { &["--resume"] } else { &["--resume", "--verify"] };
        good(&mut render(&output, more));
        assert!(files(folder.path()) == whole, "other files than those of an undisturbed run");
        good(program().arg("join").arg(&output));
        let text = good(&mut render(&output, &["--resume"]));
        assert!(text.contains("48 of 48 frames are complete already"), "{text}");
    }
    println!("{killed} kills in the middle");
    assert!(killed > 0, "nothing was killed in the middle");
}

#[test]
fn shards_of_a_sequence_survive_kills_beside_each_other() {
    let mut random = Random::new("shards");
    let whole = frames();
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("f.####.png");
    let shard = |i: usize| render(&output, &["--resume", "--shard", ["1/2", "2/2"][i]]);
    let k = 1 + random.below(12);
    thread::scope(|scope| {
        scope.spawn(|| at_frame(shard(0), k, kill));
        scope.spawn(|| good(&mut shard(1)));
    });
    only_whole(folder.path(), &whole);
    good(&mut shard(0));
    assert!(files(folder.path()) == whole);
}

#[cfg(feature = "ffmpeg")]
fn hashes(file: &Path) -> Vec<u8> {
    let out = program().arg("hash").arg(file).arg("-q").stdout(Stdio::piped()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

#[cfg(feature = "ffmpeg")]
#[test]
fn a_segmented_video_survives_kills() {
    let mut random = Random::new("segments");
    let home = tempfile::tempdir().unwrap();
    let one = home.path().join("one.mkv");
    good(&mut render(&one, &["--lossless"]));
    let (expected, mut killed) = (hashes(&one), 0);
    for _ in 0..kills().div_ceil(4) {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out.mkv");
        let options = ["--lossless", "--segments", "--segment-frames", "5", "--resume"];
        for _ in 0..4 {
            let k = 1 + random.below(FRAMES / 3);
            let out = at_frame(render(&output, &options), k, kill);
            killed += usize::from(out.status.code().is_none());
            assert!(!output.exists() || hashes(&output) == expected);
        }
        good(&mut render(&output, &options));
        assert_eq!(files(folder.path()).into_keys().collect::<Vec<_>>(), ["out.mkv"]);
        assert!(hashes(&output) == expected);
    }
    println!("{killed} kills in the middle");
    assert!(killed > 0, "nothing was killed in the middle");
}

#[test]
fn signals_leave_resumable_parts() {
    let whole = frames();
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("f.####.png");
        let out = at_frame(render(&output, &["--resume"]), 3, signal(name));
        assert!([Some(code), Some(0)].contains(&out.status.code()), "{out:?}");
        only_whole(folder.path(), &whole);
        good(&mut render(&output, &["--resume"]));
        assert!(files(folder.path()) == whole);

        if !cfg!(feature = "ffmpeg") {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let video = folder.path().join("v.mkv");
        let options = ["--lossless", "--segment-frames", "4", "--resume"];
        let out = at_frame(render(&video, &options), 9, signal(name));
        assert!([Some(code), Some(0)].contains(&out.status.code()), "{out:?}");
        let left = folder.path().join("v.mkv.segments");
        for entry in left.read_dir().into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(name == ".segment.0.manifest" || name.ends_with(".nut"), "{name} is left");
        }
        good(&mut render(&video, &options));
        assert!(!left.exists());
    }
}

/// The same command with a limit for the size of files in KiB, which is an error like a full disk.
pub(crate) fn limited(kibibytes: usize, words: &Command) -> Command {
    let mut command = Command::new("bash");
    let line = format!("ulimit -f {kibibytes}; exec \"$@\"");
    command.args(["-c", &line, "bash"]).arg(words.get_program()).args(words.get_args());
    command.env_remove("GRAINFIELD_LEVEL").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// A separate small disk, if permitted.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: &Path, options: &str) -> Option<Disk> {
        let mut mount = Command::new("mount");
        let done = mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).stderr(Stdio::null()).status();
        done.is_ok_and(|s| s.success()).then(|| Disk(at.to_path_buf()))
    }

    fn remount(&self, options: &str) {
        let done = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).status();
        assert!(done.unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_spoils_nothing() {
    let mut random = Random::new("disk full");
    let whole = frames();
    let all: usize = whole.values().map(|b| b.len().div_ceil(4096) * 4096).sum();
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("f.####.png");
    let size = |bytes: usize| format!("size={}k", bytes.div_ceil(1024).max(40));
    match Disk::mount(folder.path(), &size(all * (1 + random.below(8)) / 10)) {
        Some(disk) => {
            let (code, text) = run(&mut render(&output, &["--resume", "--progress", "json"]));
            assert_eq!(code, 1, "{text}");
            assert!(text.contains("No space left"), "{text}");
            only_whole(folder.path(), &whole);
            assert_eq!(ending(&text).0, files(folder.path()).len() as u64, "{text}");
            let (filler, y4m) = (folder.path().join("filler"), folder.path().join("v.y4m"));
            for filled in [true, false] {
                if filled {
                    let _ = fs::write(&filler, vec![0; 1 << 20]);
                } else {
                    fs::remove_file(&filler).unwrap();
                }
                let (code, text) = run(&mut render(&y4m, &["--progress", "json"]));
                let (told, partial) = ending(&text);
                let frame = 320 * 180 * 3 / 2;
                let there = partial.as_ref().map_or(0, |p| fs::metadata(p).unwrap().len() / frame);
                assert!(code == 1 && told == there && !(filled && there > 0), "{told} {there} {text}");
                partial.iter().for_each(|p| fs::remove_file(p).unwrap());
            }
            disk.remount(&size(all * 3));
            good(&mut render(&output, &["--resume"]));
            assert!(files(folder.path()) == whole);
            drop(disk);
        }
        None => {
            println!("no disk can be mounted here: the size of files is limited instead");
            let largest = whole.values().map(Vec::len).max().unwrap();
            let (code, text) = run(&mut limited(largest / 1024 / 2, &render(&output, &["--resume"])));
            assert_eq!(code, 1, "{text}");
            only_whole(folder.path(), &whole);
            good(&mut render(&output, &["--resume"]));
            assert!(files(folder.path()) == whole);
        }
    }
}

/// The pictures of a video, decoded by FFmpeg, which must not report an error, also not about sound; except that a
/// Matroska file lacks its end.
#[cfg(feature = "ffmpeg")]
fn pictures(file: &Path) -> BTreeSet<String> {
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-i"]).arg(file).args(["-map", "0:v", "-f", "framemd5", "-"]);
    command.args(["-map", "0:a", "-f", "null", "-"]);
    let out = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.lines().all(|line| line.contains("File ended prematurely")), "{}: {said}", file.display());
    let text = String::from_utf8(out.stdout).unwrap();
    let sum = |line: &str| line.rsplit(' ').next().map(str::to_owned);
    text.lines().filter(|line| !line.starts_with('#')).filter_map(sum).collect()
}

/// The contents of the last line of JSON: frames, and the partial result.
fn ending(text: &str) -> (u64, Option<String>) {
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    (last["frames"].as_u64().unwrap(), last["partial"].as_str().map(str::to_owned))
}

/// The disk is full in the middle, or when the encoder is flushed: the partial result is named, with its right number
/// of frames, and all of them are whole. Where the size of files is limited there is no space for the index of an MP4
/// file, which is said.
#[cfg(feature = "ffmpeg")]
#[test]
fn the_remains_of_a_video_on_a_full_disk_are_reported() {
    let home = tempfile::tempdir().unwrap();
    let clip = home.path().join("clip.mkv");
    let mut make = Command::new("ffmpeg");
    make.args([
        "-v",
        "error",
        "-f",
        "lavfi",
        "-i",
        "testsrc2=size=640x360:rate=25",
        "-f",
        "lavfi",
        "-i",
        "sine",
    ]);
    make.args(["-t", "2.4", "-c:v", "mpeg4", "-c:a", "aac"]).arg(&clip);
    assert!(make.status().unwrap().success());
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::mount(folder.path(), "size=3m");
    let limits: &[bool] = if disk.is_some() { &[true, false] } else { &[true] };
    for (frames, preset) in [("0-59", "ultrafast"), ("0-29", "medium")] {
        let words = ["-f", "noise=strength=90", "--crf", "1", "--preset", preset, "--frames", frames];
        let whole_file = home.path().join(format!("{preset}.mkv"));
        good(program().arg("render").arg(&clip).arg(&whole_file).args(words));
        let whole = pictures(&whole_file);
        let kinds: &[&str] = if preset == "medium" { &["mkv", "mp4"] } else { &["mkv", "mov", "ts"] };
        for (extension, limit) in kinds.iter().flat_map(|e| limits.iter().map(move |l| (*e, *l))) {
            let output = folder.path().join(format!("v.{extension}"));
            let mut command = program();
            command.arg("render").arg(&clip).arg(&output).args(words).args(["--progress", "json"]);
            let (code, text) = run(&mut if limit { limited(1800, &command) } else { command });
            assert_eq!(code, 1, "{text}");
            let left: Vec<String> = files(folder.path()).into_keys().collect();
            let (told, partial) = ending(&text);
            let what = format!("{extension}, {preset}, limit {limit}: {left:?}: {text}");
            assert_eq!(left.len(), usize::from(partial.is_some()), "{what}");
            let indexed = ["mp4", "mov"].contains(&extension);
            assert_eq!(left.is_empty(), limit && indexed, "{what}");
            assert!(
                !left.is_empty() || text.contains("it cannot be played, since its end cannot be written"),
                "{what}"
            );
            let mut real = 0;
            if let [name] = &left[..] {
                let file = folder.path().join(name);
                assert_eq!(partial, Some(file.display().to_string()));
                let there = pictures(&file);
                real = there.intersection(&whole).count();
                assert_eq!(real, there.len(), "{what}");
                fs::remove_file(file).unwrap();
            }
            assert_eq!(told, real as u64, "{what}");
        }
    }
}

#[test]
fn a_read_only_folder_is_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("out");
    fs::create_dir(&inner).unwrap();
    let disk = Disk::mount(&inner, "ro,size=100k");
    if disk.is_none() {
        fs::set_permissions(&inner, std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    }
    for name in ["f.####.png", "v.y4m"] {
        let (code, text) = run(&mut render(&inner.join(name), &[]));
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("Read-only") || text.contains("denied"), "{text}");
    }
    drop(disk);
}

#[test]
fn a_folder_that_vanishes_ends_the_render() {
    for name in ["f.####.png", "v.y4m"] {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("out");
        fs::create_dir(&folder).unwrap();
        let output = folder.join(name);
        let out =
            at_frame(render(&output, &[]), 2, |_| fs::rename(&folder, home.path().join("gone")).unwrap());
        // the whole output may have been written before
        if out.status.code() != Some(0) {
            assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));
        }
        assert!(!folder.exists());
    }
}

/// A y4m file with a number of frames.
fn y4m(path: &Path, frames: usize) {
    let size = format!("pattern:zoneplate:size=320x180:frames={frames}");
    good(program().args(["render", &size]).arg(path).arg("-q"));
}

#[test]
fn a_source_that_shrinks_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    let (source, output) = (home.path().join("in.y4m"), home.path().join("out.y4m"));
    y4m(&source, 400);
    let length = source.metadata().unwrap().len();
    let mut command = program();
    command.args(["render", "--threads", "1", "-f", NOISE]).arg(&source).arg(&output);
    let out = at_frame(command, 2, |_| {
        fs::OpenOptions::new().write(true).open(&source).unwrap().set_len(length / 3).unwrap();
    });
    match out.status.code() {
        Some(0) => assert_eq!(output.metadata().unwrap().len(), length),
        code => {
            assert_eq!(code, Some(1), "{}", String::from_utf8_lossy(&out.stderr));
            assert!(!output.exists() && home.path().join("out.partial.y4m").exists());
        }
    }
}

#[test]
fn images_that_shrink_are_an_error() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("out");
    fs::create_dir(&folder).unwrap();
    good(&mut render(&home.path().join("in.####.png"), &["-q"]));
    let cut = home.path().join("in.0040.png");
    let mut command = program();
    command
        .args(["render", "--threads", "1"])
        .arg(home.path().join("in.####.png"))
        .arg(folder.join("f.####.png"));
    let out = at_frame(command, 1, |_| {
        fs::OpenOptions::new().write(true).open(&cut).unwrap().set_len(200).unwrap();
    });
    if out.status.code() != Some(0) {
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{text}");
        assert!(text.contains("in.0040.png"), "{text}");
        assert!(!folder.join("f.0040.png").exists());
    }
}

#[test]
fn pipes_may_close_on_either_side() {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("in.y4m");
    y4m(&source, 30);
    let bytes = fs::read(&source).unwrap();

    // the writer disappears inside a frame
    let output = home.path().join("out.y4m");
    let mut command = program();
    command.args(["render", "-"]).arg(&output).args(["-f", NOISE]).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&bytes[..bytes.len() / 2]).unwrap();
    let out = ended(child);
    assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(!output.exists() && home.path().join("out.partial.y4m").exists());

    // the reader disappears
    let mut command = program();
    command.args(["render"]).arg(&source).args(["-", "-f", NOISE]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut some = [0; 1000];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let out = ended(child);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn a_batch_survives_kills() {
    let mut random = Random::new("batch");
    let whole = frames();
    let home = tempfile::tempdir().unwrap();
    let list = home.path().join("jobs.toml");
    let mut text = format!("[all]\nfilters = '{NOISE}'\n");
    for job in 0..3 {
        text += &format!("[[job]]\ninput = '{SOURCE}'\noutput = 'out/{job}/f.####.png'\n");
    }
    text += "[[job]]\nname = 'bad'\ninput = 'nothing.y4m'\noutput = 'out/bad.y4m'\n";
    fs::write(&list, text).unwrap();
    let batch = || {
        let mut command = program();
        command.arg("batch").arg(&list).args(["--jobs", "2"]);
        command
    };
    for _ in 0..2 {
        at_frame(batch(), 1 + random.below(40), kill);
    }
    // two programs share the rest
    let codes: Vec<i32> = thread::scope(|scope| {
        let both: Vec<_> = (0..2).map(|_| scope.spawn(|| run(&mut batch()).0)).collect();
        both.into_iter().map(|b| b.join().unwrap()).collect()
    });
    assert!(codes.iter().all(|c| [0, 1].contains(c)) && codes.contains(&1), "{codes:?}");
    let (code, text) = run(&mut batch());
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("3 done before"), "{text}");
    for job in 0..3 {
        assert!(files(&home.path().join(format!("out/{job}"))) == whole, "{job}");
    }
}
