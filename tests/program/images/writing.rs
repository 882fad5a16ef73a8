//! Sinks: names, errors, atomic renames.

use super::holes::stamp;
use super::{noisy, one, plan, write};
use grainfield::disk::DiskError;
use grainfield::sink::sequence::{accepts, create};
use grainfield::sink::{Plan, SinkError};
use grainfield_filters::frame::{Alpha, ColorRange, Format, Matrix};
use std::ffi::OsStr;

#[test]
fn nearest_formats() {
    for (name, png, tiff, jpeg, webp, exr) in [
        ("gray", "gray", "gray", "gray", "gbrp", "grayf32"),
        ("gray10", "gray16", "gray16", "gray", "gbrp", "grayf32"),
        ("grayf32", "gray16", "gbrpf32", "gray", "gbrp", "grayf32"),
        ("ya8", "ya8", "gbrap", "gray", "gbrap", "gbrapf32"),
        ("yuv420p", "gbrp", "gbrp", "gbrp", "gbrp", "gbrpf32"),
        ("yuv420p10", "gbrp16", "gbrp16", "gbrp", "gbrp", "gbrpf32"),
        ("yuva444p12", "gbrap16", "gbrap16", "gbrp", "gbrap", "gbrapf32"),
        ("gbrapf32", "gbrap16", "gbrapf32", "gbrp", "gbrap", "gbrapf32"),
    ] {
        let format = Format::from_name(name, 8, 8).unwrap();
        for (file, want) in
            [("a.png", png), ("a.tif", tiff), ("a.JPG", jpeg), ("a.webp", webp), ("a.exr", exr)]
        {
            let got = accepts(OsStr::new(file), &format).unwrap();
            let want = if file == "a.exr" && name == "ya8" { "ya" } else { want };
            assert!(got.name().starts_with(want), "{name} as {file}: {} and not {want}", got.name());
            assert_eq!(got.range, ColorRange::Full);
            assert_eq!(got.matrix == Matrix::RGB, got.name().starts_with("gb"));
            if got.has_alpha() {
                assert_eq!(got.alpha == Alpha::Premultiplied, file == "a.exr");
            }
            got.check().unwrap();
            assert_eq!(accepts(OsStr::new(file), &got).unwrap(), got, "what is accepted stays");
        }
    }
    let wide = Format::from_name("gray", 20_000, 8).unwrap();
    assert!(accepts(OsStr::new("a.webp"), &wide).unwrap_err().to_string().contains("16383"));
    assert!(accepts(OsStr::new("a.psd"), &wide).unwrap_err().to_string().contains("png"));
}

#[test]
fn every_format_round_trips() {
    let dir = tempfile::tempdir().unwrap();
    for ext in ["png", "tif", "webp", "exr", "ppm"] {
        for name in
            ["gray", "gray16", "grayf32", "ya8", "ya16", "gbrp", "gbrp16", "gbrap", "gbrap16", "gbrapf32"]
        {
            for (w, h) in [(1, 1), (33, 17)] {
                let path = dir.path().join(format!("{name}-{w}.{ext}"));
                let format = Format::from_name(name, w, h).unwrap();
                let format = accepts(path.as_os_str(), &format).unwrap();
                let frame = noisy(format);
                write(path.as_os_str(), &plan(format, Some(1)), &[(stamp(0), frame.clone())]).unwrap();
                let (_, mut again) = one(&path);
                again.retag(format);
                assert!(again == frame, "{name} {w}x{h} as {ext}");
            }
        }
    }
}

#[test]
fn refusals_name_the_accepted_values() {
    let dir = tempfile::tempdir().unwrap();
    let format = Format::from_name("gray", 2, 2).unwrap();
    let at = |name: &str| dir.path().join(name).into_os_string();
    let text = |name: &str, frames| create(&at(name), &plan(format, frames)).err().unwrap().to_string();
    assert!(text("a.png", Some(2)).contains("a.####.png"));
    assert!(text("a.png", None).contains("a.####.png"));
    assert!(text("", Some(2)).contains("####.png"));
    assert!(text("new/", Some(2)).contains("####.png"));
    assert!(text("*.png", Some(2)).contains("%04d"));
    assert!(text("none/a.####.png", Some(2)).contains("does not exist"));
    assert!(text("a.#_#.png", Some(2)).contains("two places"));
    assert!(text("a.####", Some(2)).contains("extension"));
    assert!(text("a.####.gif", Some(2)).contains("extension"));
}

#[test]
fn nothing_is_replaced_without_y() {
    let dir = tempfile::tempdir().unwrap();
    let format = Format::from_name("gray", 2, 2).unwrap();
    let pattern = dir.path().join("a.##.png").into_os_string();
    let frame = noisy(format);
    std::fs::write(dir.path().join("a.02.png"), b"mine").unwrap();
    let frames = [(stamp(1), frame.clone()), (stamp(2), frame.clone())];
    let err = write(&pattern, &plan(format, None), &frames).unwrap_err();
    assert!(matches!(&err, SinkError::Disk(DiskError::Exists(p)) if p.ends_with("a.02.png")), "{err}");
    assert_eq!(std::fs::read(dir.path().join("a.02.png")).unwrap(), b"mine");
    let over = Plan { overwrite: true, ..plan(format, None) };
    write(&pattern, &over, &frames).unwrap();
    assert_ne!(std::fs::read(dir.path().join("a.02.png")).unwrap(), b"mine");
    let one = dir.path().join("a.01.png").into_os_string();
    assert!(matches!(create(&one, &plan(format, Some(1))), Err(SinkError::Disk(DiskError::Exists(_)))));
    let mut names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.01.png", "a.02.png"], "no temporary file is left");
}

#[test]
fn abandoning_leaves_whole_frames_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let format = Format::from_name("gray", 2, 2).unwrap();
    let mut sink = create(dir.path().join("a.@.png").as_os_str(), &plan(format, None)).unwrap();
    let encoder = sink.encoder();
    let frame = noisy(format);
    for n in [1, 2, 3] {
        encoder.encode(&stamp(n), &frame, &mut Vec::new()).unwrap();
    }
    sink.write(&stamp(1), &frame, &[]).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "the others have no names yet");
    let left = sink.abandon().unwrap();
    assert!(left.partial.is_none() && left.frames.is_some());
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["a.1.png"]);
    assert_eq!(one(dir.path().join("a.1.png")).1.row::<u8>(0, 0), frame.row::<u8>(0, 0));
}

#[cfg(unix)]
#[test]
fn new_files_have_ordinary_modes_and_links_are_replaced_not_followed() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let format = Format::from_name("gray", 2, 2).unwrap();
    let target = dir.path().join("precious");
    std::fs::write(&target, b"mine").unwrap();
    std::os::unix::fs::symlink(&target, dir.path().join("a.1.png")).unwrap();
    let over = Plan { overwrite: true, ..plan(format, None) };
    write(dir.path().join("a.@.png").as_os_str(), &over, &[(stamp(1), noisy(format))]).unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), b"mine");
    let written = std::fs::symlink_metadata(dir.path().join("a.1.png")).unwrap();
    assert!(written.is_file());
    let plain = std::fs::metadata(&target).unwrap().permissions().mode();
    assert_eq!(written.permissions().mode(), plain);
}
