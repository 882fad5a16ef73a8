//! Damaged files are errors or pictures, never panics, and need neither long nor more memory than a picture of the
//! sequence's size. `GRAINFIELD_TEST_ROUNDS` sets the number for each kind.

use super::holes::stamp;
use super::{next, noisy, open, plan, write};
use crate::bound::peak_of;
use grainfield::sink::sequence::accepts;
use grainfield::source::Missing;
use grainfield_filters::frame::Format;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Far longer than any read of these small files takes.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn damage_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    let (alive, heard) = channel();
    std::thread::spawn(move || {
        loop {
            match heard.recv_timeout(PATIENCE) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("a damaged file has been read for {PATIENCE:?}");
                    std::process::exit(1);
                }
            }
        }
    });
    for (ext, name) in [
        ("png", "gray"),
        ("png", "gbrap16"),
        ("tif", "gbrp16"),
        ("jpg", "gbrp"),
        ("webp", "gbrap"),
        ("exr", "gbrapf32"),
        ("cin", "gbrp10"),
        ("pgm", "gray"),
        ("ppm", "gbrp16"),
        ("bmp", "gbrp"),
        ("tga", "gbrap"),
        ("qoi", "gbrap"),
        #[cfg(feature = "ffmpeg")]
        ("jxl", "gbrap16"),
    ] {
        let path = dir.path().join(format!("good-{name}.{ext}"));
        let format = accepts(path.as_os_str(), &Format::from_name(name, 23, 19).unwrap()).unwrap();
        write(path.as_os_str(), &plan(format, Some(1)), &[(stamp(0), noisy(format))]).unwrap();
        let good = std::fs::read(&path).unwrap();
        let bad = dir.path().join(format!("bad-{name}.{ext}"));
        let mut state = 12_345u32;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 4) as usize % below
        };
        // the memory for reading an intact one, and for the larger picture that a changed size may declare
        let room = peak_of(|| drop(next(&mut *open(&path, Missing::Error).unwrap()).unwrap())) + (64 << 20);
        let rounds = std::env::var("GRAINFIELD_TEST_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(300);
        for round in 0..rounds {
            let mut file = good.clone();
            match round % 5 {
                0 => file.truncate(draw(good.len())),
                1 => {
                    // heads are short: change them often
                    let at = draw(good.len().min(200));
                    file[at] = draw(256) as u8;
                }
                2 => (0..1 + draw(8)).for_each(|_| {
                    let at = draw(good.len());
                    file[at] ^= 1 << draw(8);
                }),
                3 => {
                    // exchange two blocks
                    let block = 1 + draw(good.len() / 4);
                    let (a, b) =
                        (draw(good.len() / 2 - block), good.len() / 2 + draw(good.len() / 2 - block));
                    let (head, tail) = file.split_at_mut(good.len() / 2);
                    head[a..a + block].swap_with_slice(&mut tail[b - good.len() / 2..][..block]);
                }
                _ => {
                    let (a, b) = (draw(good.len()), draw(good.len()));
                    let len = draw(32).min(good.len() - a.max(b));
                    file.copy_within(a..a + len, b);
                }
            }
            std::fs::write(&bad, &file).unwrap();
            alive.send(()).unwrap();
            let held = peak_of(|| read(&bad, ext, round, file.len(), good.len()));
            assert!(held <= room, "{name}.{ext}, round {round}: {held} bytes are held");
        }
    }
}

/// Opens a damaged file and reads its picture.
fn read(bad: &Path, ext: &str, round: usize, len: usize, whole: usize) {
    match open(bad, Missing::Error) {
        Ok(mut source) => match next(&mut *source) {
            Ok(_) => assert!(
                !round.is_multiple_of(5) || len + 64 > whole,
                "{ext}: a file cut to {len} of {whole} bytes was taken for whole"
            ),
            Err(e) => assert!(e.to_string().contains("bad-")),
        },
        Err(e) => assert!(e.to_string().contains("bad-"), "{e}"),
    }
}
