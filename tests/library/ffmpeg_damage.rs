//! Damaged files: an error that names the place, and neither panic nor hang, from five codecs and four containers.
#![cfg(feature = "ffmpeg")]

use crate::video::{Random, Seen, ffmpeg, next, open, open_with};
use grainfield::source::{Options, Slot, Source};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

const SEED: u64 = 0x5851_f42d_4c95_7f2d;
/// Far longer than any read of these small files takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads everything that can be read, then seeks; returns the texts of errors.
fn abuse(file: &Path, seed: u64) -> (usize, Vec<String>) {
    let mut source = match open_with(file, &Options::default()) {
        Ok(source) => source,
        Err(e) => return (0, vec![e.to_string()]),
    };
    let (mut frames, mut errors) = (0, Vec::new());
    let mut slot = Slot::default();
    loop {
        match next(&mut *source, &mut slot) {
            Ok(Some(_)) => frames += 1,
            Ok(None) => break,
            Err(e) => errors.push(e.to_string()),
        }
        assert!(frames + errors.len() < 10_000, "no end");
    }
    let mut random = Random(seed);
    for _ in 0..5 {
        if source.seek(random.below(60) as i64).is_ok() {
            let _ = next(&mut *source, &mut slot);
        }
    }
    (frames, errors)
}

/// Runs with a time limit, so that a hang is a failure.
fn guarded(file: &Path, seed: u64, what: &str) -> (usize, Vec<String>) {
    let (send, receive) = mpsc::channel();
    let file = file.to_owned();
    let own = std::thread::spawn(move || {
        let result = abuse(&file, seed);
        let _ = send.send(());
        result
    });
    if receive.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("{what}: still reading after {PATIENCE:?}");
    }
    own.join().unwrap_or_else(|_| panic!("{what}: panicked"))
}

#[test]
fn cut_flipped_and_swapped() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let clip = "-f lavfi -i testsrc2=size=64x48:rate=25:duration=2,noise=alls=24:allf=t:all_seed=5";
    let mut told = 0;
    for (name, codec) in [
        ("a.mp4", "-c:v libx264 -g 12 -bf 2"),
        ("a.mkv", "-c:v libx265 -x265-params keyint=12:log-level=error:pools=1"),
        ("a.webm", "-c:v libvpx-vp9 -g 12 -b:v 300k"),
        ("a.ts", "-c:v mpeg2video -g 12 -bf 2 -q:v 3"),
        ("a.avi", "-c:v mpeg4 -g 12 -bf 2 -q:v 3"),
        ("b.mkv", "-c:v ffv1 -level 3 -slicecrc 1 -g 1"),
        ("b.mov", "-c:v prores_ks"),
        ("c.mkv", "-c:v libaom-av1 -cpu-used 8 -g 12 -b:v 300k"),
    ] {
        ffmpeg(folder, &format!("{clip} {codec} {name}"));
        let whole = std::fs::read(folder.join(name)).unwrap();
        let mut random = Random(SEED);
        for round in 0..12 {
            let mut bytes = whole.clone();
            let len = bytes.len() as u64;
            let what = match round % 3 {
                0 => {
                    bytes.truncate(random.below(len) as usize);
                    "cut"
                }
                1 => {
                    // In every second round the head is kept, so that decoders get damaged data, too.
                    let from = if round % 2 == 0 { 0 } else { len / 3 };
                    for _ in 0..=random.below(40) {
                        let at = from + random.below(len - from);
                        bytes[at as usize] ^= 1 << random.below(8);
                    }
                    "flipped"
                }
                _ => {
                    let block = 1 + random.below(len / 8) as usize;
                    let a = random.below(len / 2 - block as u64) as usize;
                    let b = (len / 2 + random.below(len / 2 - block as u64)) as usize;
                    let copy = bytes[a..a + block].to_vec();
                    bytes.copy_within(b..b + block, a);
                    bytes[b..b + block].copy_from_slice(&copy);
                    "swapped"
                }
            };
            let file = folder.join(format!("bad_{name}"));
            std::fs::write(&file, bytes).unwrap();
            let what = format!("{name} {what}, round {round}, seed {SEED:#x}");
            let (frames, errors) = guarded(&file, SEED ^ round, &what);
            for error in &errors {
                assert!(error.contains(&format!("bad_{name}")), "{what}: {error}");
                // After the first frame, an error must name its position.
                assert!(frames == 0 || error.contains("frame "), "{what}: {error}");
            }
            told += usize::from(!errors.is_empty());
        }
    }
    assert!(told > 40, "only {told} of 96 damaged files were complained about");
}

/// Opens a file for decoding on one thread, since libav's result for damaged data depends on the number of
/// threads.
fn alone(file: &Path) -> Box<dyn Source> {
    open_with(file, &Options { threads: Some(1), ..Options::default() }).unwrap_or_else(|e| panic!("{e}"))
}

/// The result of reading from the start: frames by number, or `None` for an error.
fn read_through(file: &Path) -> Vec<Option<Seen>> {
    let mut source = alone(file);
    let mut slot = Slot::default();
    let mut list: Vec<Option<Seen>> = Vec::new();
    let mut errors = 0;
    loop {
        match next(&mut *source, &mut slot) {
            Ok(Some(seen)) => {
                // A damaged frame has a number but no picture.
                list.resize(seen.number as usize, None);
                list.push(Some(seen));
            }
            Ok(None) => return list,
            Err(_) => errors += 1,
        }
        assert!(errors < 1000, "no end");
    }
}

/// Frames after damage have the numbers of reading from the start, however they are reached.
#[test]
fn behind_damage_frames_are_the_same_however_found() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let clip = "-f lavfi -i testsrc2=size=128x96:rate=25:duration=3,noise=alls=24:allf=t:all_seed=5";
    for (name, codec) in [
        ("a.ts", "-c:v libx264 -g 12 -bf 3"),
        ("b.ts", "-c:v libx265 -x265-params keyint=12:log-level=error:pools=1"),
        ("c.ts", "-c:v mpeg2video -g 12 -bf 2 -q:v 3"),
        ("d.mkv", "-c:v libx264 -g 12 -bf 3"),
    ] {
        ffmpeg(folder, &format!("{clip} {codec} {name}"));
        let whole = std::fs::read(folder.join(name)).unwrap();
        let middle = whole.len() / 188 / 2 * 188;
        for damage in ["lost", "wiped", "flipped", "torn"] {
            // Matroska loses whole clusters to a flipped bit, which shows only when they are read.
            if damage == "flipped" && name.ends_with("mkv") {
                continue;
            }
            let mut bytes = whole.clone();
            match damage {
                "lost" => drop(bytes.drain(middle..middle + 188 * 40)),
                // Payloads only, so that the container is intact.
                "wiped" => (0..30).for_each(|i| bytes[middle + 188 * i + 20..][..160].fill(0x5a)),
                "flipped" => (0..200).for_each(|i| bytes[middle + 94 * i + 40] ^= 1 << (i % 8)),
                _ => drop(bytes.drain(middle + 60..middle + 4000)),
            }
            let file = folder.join(format!("{damage}_{name}"));
            std::fs::write(&file, bytes).unwrap();
            let wanted = read_through(&file);
            // Pictures in the damaged part have areas that decoders fill with earlier data: compare their times.
            let same = |seen: Option<Seen>, n: u64| match (seen, &wanted[n as usize]) {
                (seen, wanted_one) if n * 3 < wanted.len() as u64 || n * 3 > wanted.len() as u64 * 2 => {
                    seen == *wanted_one
                }
                (Some(a), Some(b)) => (a.number, a.time) == (b.number, b.time.clone()),
                _ => true,
            };
            let mut random = Random(SEED);
            // Without reading first. A container does not show flipped bits inside pictures, so in that case the
            // part must have been read before.
            let fresh = if damage == "flipped" { 0 } else { 20 };
            for n in (0..fresh).map(|_| random.below(wanted.len() as u64)) {
                assert!(same(sought(&mut *alone(&file), n), n), "{damage} {name}: {n}");
            }
            let mut source = alone(&file);
            while source.next(&mut Slot::default()).is_ok_and(|f| f.is_some()) {}
            for i in 0..40 {
                let n = random.below(wanted.len() as u64);
                assert!(same(sought(&mut *source, n), n), "{damage} {name}: seek {i} to {n}");
            }
        }
    }
}

/// A frame by its number; `None` for an error.
fn sought(source: &mut dyn Source, n: u64) -> Option<Seen> {
    source.seek(n as i64).and_then(|()| next(source, &mut Slot::default())).ok().flatten()
}

#[test]
fn an_error_names_frame_and_time_and_reading_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.mkv");
    ffmpeg(
        folder.path(),
        "-f lavfi -i testsrc2=size=64x48:rate=25:duration=2 -c:v ffv1 -level 3 -slicecrc 1 -g 1 -threads 1 a.mkv",
    );
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40].fill(0x55);
    std::fs::write(&file, bytes).unwrap();
    let (frames, errors) = guarded(&file, 1, "a.mkv");
    assert!(frames >= 48, "{frames} frames came through: {errors:?}");
    assert_eq!(errors.len(), 1, "{errors:?}");
    let error = &errors[0];
    assert!(error.contains("frame 2") && error.contains(" s)") && error.contains("a.mkv"), "{error}");
}

#[test]
fn pictures_that_change_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    for (name, size, format) in
        [("a.ts", "64x48", "yuv420p"), ("b.ts", "80x48", "yuv420p"), ("c.ts", "64x48", "yuv422p")]
    {
        let clip = format!("-f lavfi -i testsrc2=size={size}:rate=25:duration=1");
        ffmpeg(folder.path(), &format!("{clip} -c:v libx264 -pix_fmt {format} {name}"));
    }
    for (second, now) in [("b.ts", "80x48 yuv420p"), ("c.ts", "64x48 yuv422p")] {
        let mut bytes = std::fs::read(folder.path().join("a.ts")).unwrap();
        bytes.extend(std::fs::read(folder.path().join(second)).unwrap());
        std::fs::write(folder.path().join("two.ts"), bytes).unwrap();
        let (frames, errors) = guarded(&folder.path().join("two.ts"), 1, second);
        assert!(frames >= 20, "{frames}");
        let named = errors
            .iter()
            .any(|e| e.contains(now) && e.contains("began as 64x48 yuv420p") && e.contains("frame "));
        assert!(named, "{errors:?}");
    }
}

#[test]
fn a_file_that_is_not_a_video_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    ffmpeg(folder, "-f lavfi -i sine=duration=1 a.m4a");
    std::fs::write(folder.join("text.txt"), "Once upon a time\n".repeat(50)).unwrap();
    std::fs::write(folder.join("empty.mp4"), "").unwrap();
    let error = |name: &str| match open_with(folder.join(name), &Options::default()) {
        Ok(_) => panic!("{name} was opened"),
        Err(e) => e.to_string(),
    };
    let sound = error("a.m4a");
    assert!(sound.contains("it has no video stream, only audio (aac)"), "{sound}");
    for name in ["text.txt", "empty.mp4", "missing.mp4"] {
        assert!(error(name).contains(name), "{}", error(name));
    }
    assert!(error("missing.mp4").contains("No such file"), "{}", error("missing.mp4"));
    let http = open_with("http://localhost:9/a.mp4", &Options::default()).err().unwrap().to_string();
    assert!(http.contains("'http:' is a protocol"), "{http}");
    let concat = open_with("concat:a.ts|b.ts", &Options::default()).err().unwrap().to_string();
    assert!(concat.contains("'concat:' is a protocol"), "{concat}");
}

#[test]
fn odd_names() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    ffmpeg(folder.path(), "-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v libx264 a.mkv");
    for name in [&b"a:b.mkv"[..], b"\xff\xfe.mkv", b"http:x.mkv", b"a b%03.mkv"] {
        let to = folder.path().join(std::ffi::OsStr::from_bytes(name));
        std::fs::copy(folder.path().join("a.mkv"), &to).unwrap();
        assert_eq!(open(&to).info().last, Some(24), "{}", to.display());
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.mp4", "a.ts", "a.avi", "a.mkv", "a.y4m"] {
        let file = dir.path().join(name);
        let (codec, format) = match name {
            "a.y4m" => ("", "yuv420p"),
            "a.ts" => ("-c:v mpeg2video -q:v 2", "yuv420p"),
            _ => ("-c:v mjpeg -q:v 2", "yuvj420p"),
        };
        ffmpeg(
            dir.path(),
            &format!(
                "-f lavfi -i testsrc2=size=320x240:rate=25:duration=3.2,noise=alls=24:allf=t:all_seed=5 {codec} -pix_fmt {format} {name}"
            ),
        );
        let bytes = std::fs::read(&file).unwrap();
        let read = |change: &dyn Fn()| {
            std::fs::write(&file, &bytes).unwrap();
            let mut source = open(&file);
            let mut slot = Slot::default();
            for n in 0..5 {
                assert!(matches!(source.next(&mut slot), Ok(Some(_))), "{name}: frame {n}");
            }
            change();
            let mut errors = Vec::new();
            for _ in 0..200 {
                match source.next(&mut slot) {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(error) => errors.push(error.to_string()),
                }
            }
            assert!(matches!(source.next(&mut slot), Ok(None)), "{name}: it has ended");
            errors
        };
        let half = bytes.len() / 2;
        let cut =
            || std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(half as u64).unwrap();
        let errors = read(&cut);
        let sizes = format!(
            "truncated while it was read: it had {} bytes when it was opened, and has {half} now",
            bytes.len()
        );
        assert!(
            errors.last().is_some_and(|e| e.contains(&sizes) && e.contains("frame ")),
            "{name}: {errors:?}"
        );
        let replace = || {
            let other = dir.path().join("other");
            std::fs::write(&other, &bytes[..half]).unwrap();
            std::fs::rename(&other, &file).unwrap();
        };
        let errors = read(&replace);
        assert!(errors.last().is_some_and(|e| e.contains("replaced by another file")), "{name}: {errors:?}");
        let grow = || {
            use std::io::Write;
            std::fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(&[0; 4]).unwrap();
        };
        let removed = || std::fs::remove_file(&file).unwrap();
        for harmless in [&grow as &dyn Fn(), &removed] {
            let errors = read(harmless);
            assert!(errors.iter().all(|e| !e.contains("while it was read")), "{name}: {errors:?}");
        }
    }
}
