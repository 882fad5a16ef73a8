//! Damaged files are errors or pictures, never panics. `GRAINFIELD_TEST_ROUNDS` sets how many are tried of a kind.

use super::holes::stamp;
use super::{next, noisy, open, plan, write};
use grainfield::sink::sequence::accepts;
use grainfield::source::Missing;
use grainfield_filters::frame::Format;

#[test]
fn damage_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    for (ext, name) in [
        ("png", "gray"),
        ("png", "gbrap16"),
        ("tif", "gbrp16"),
        ("jpg", "gbrp"),
        ("webp", "gbrap"),
        ("exr", "gbrapf32"),
        ("cin", "gbrp10"),
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
        let rounds = std::env::var("GRAINFIELD_TEST_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(300);
        for round in 0..rounds {
            let mut file = good.clone();
            match round % 4 {
                0 => file.truncate(draw(good.len())),
                1 => {
                    // heads are short: hit them often
                    let at = draw(good.len().min(200));
                    file[at] = draw(256) as u8;
                }
                2 => (0..1 + draw(8)).for_each(|_| {
                    let at = draw(good.len());
                    file[at] ^= 1 << draw(8);
                }),
                _ => {
                    let (a, b) = (draw(good.len()), draw(good.len()));
                    let len = draw(32).min(good.len() - a.max(b));
                    file.copy_within(a..a + len, b);
                }
            }
            std::fs::write(&bad, &file).unwrap();
            match open(&bad, Missing::Error) {
                Ok(mut source) => match next(&mut *source) {
                    Ok(_) => assert!(
                        round % 4 != 0 || file.len() + 64 > good.len(),
                        "{ext}: a file cut to {} of {} bytes was taken for whole",
                        file.len(),
                        good.len()
                    ),
                    Err(e) => assert!(e.to_string().contains("bad-")),
                },
                Err(e) => assert!(e.to_string().contains("bad-"), "{e}"),
            }
        }
    }
}
