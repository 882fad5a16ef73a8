//! Samples are equal to ffmpeg's.

use super::holes::stamp;
use super::{next, noisy, open, plan, write};
use grainfield::source::Missing;
use grainfield_filters::frame::{Format, Frame};
use std::path::Path;
use std::process::Command;

fn ffmpeg(args: &[&str], dir: &Path) -> Vec<u8> {
    let out = Command::new("ffmpeg")
        .args(["-nostdin", "-v", "error"])
        .args(args)
        .current_dir(dir)
        .output()
        .expect("ffmpeg must be installed");
    assert!(out.status.success(), "ffmpeg {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

/// Samples in the order of ffmpeg's packed formats: red, green, blue, alpha of one pixel after another.
fn packed(frame: &Frame) -> Vec<u8> {
    let order: &[usize] = match frame.format().planes() {
        1 => &[0],
        2 => &[0, 1],
        3 => &[2, 0, 1],
        _ => &[2, 0, 1, 3],
    };
    let bytes = frame.format().depth.bytes();
    let mut out = Vec::new();
    for y in 0..frame.format().height as usize {
        for x in 0..frame.format().width as usize {
            for &p in order {
                out.extend_from_slice(&frame.plane(p).row_bytes(y)[x * bytes..][..bytes]);
            }
        }
    }
    out
}

#[test]
fn png_tiff_and_ppm_sequences_decode_as_ffmpeg_decodes_them() {
    // the stored format, our name for it, and the raw one for the comparison
    for (ext, stored, ours, raw) in [
        ("png", "gray", "gray", "gray"),
        ("png", "gray16be", "gray16", "gray16le"),
        ("png", "ya8", "ya8", "ya8"),
        ("png", "ya16be", "ya16", "ya16le"),
        ("png", "rgb24", "gbrp", "rgb24"),
        ("png", "rgb48be", "gbrp16", "rgb48le"),
        ("png", "rgba", "gbrap", "rgba"),
        ("png", "rgba64be", "gbrap16", "rgba64le"),
        ("png", "pal8", "gbrp", "rgb24"),
        ("pgm", "gray", "gray", "gray"),
        ("pgm", "gray16be", "gray16", "gray16le"),
        ("ppm", "rgb24", "gbrp", "rgb24"),
        ("ppm", "rgb48be", "gbrp16", "rgb48le"),
        ("tif", "gray", "gray", "gray"),
        ("tif", "gray16le", "gray16", "gray16le"),
        ("tif", "rgb24", "gbrp", "rgb24"),
        ("tif", "rgb48le", "gbrp16", "rgb48le"),
        ("tif", "rgba64le", "gbrap16", "rgba64le"),
        ("bmp", "bgr24", "gbrp", "rgb24"),
        ("tga", "bgra", "gbrap", "rgba"),
        ("qoi", "rgb24", "gbrp", "rgb24"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let pattern = format!("a.%04d.{ext}");
        let source = "testsrc2=size=67x41:rate=24,format=rgba,noise=alls=30:allf=t";
        let args =
            ["-f", "lavfi", "-i", source, "-frames:v", "3", "-pix_fmt", stored, "-start_number", "1001"];
        ffmpeg(&[&args[..], &[&pattern]].concat(), dir.path());
        let convert = ["-start_number", "1001", "-i", &pattern, "-f", "rawvideo", "-pix_fmt", raw, "-"];
        let want = ffmpeg(&convert, dir.path());
        let mut source = open(dir.path(), Missing::Error).unwrap();
        assert_eq!(source.info().format.name(), ours, "{ext} {stored}");
        assert_eq!((source.info().first, source.info().last), (1001, Some(1003)));
        let mut got = Vec::new();
        let mut numbers = Vec::new();
        while let Some((stamp, frame)) = next(&mut *source).unwrap() {
            numbers.push(stamp.number);
            got.extend(packed(&frame));
        }
        assert_eq!(numbers, [1001, 1002, 1003]);
        assert!(got == want, "{ext} {stored}: samples differ from ffmpeg's");
    }
}

#[test]
fn ffmpeg_reads_the_same_samples() {
    for (ext, name, raw) in [
        ("png", "gray", "gray"),
        ("png", "gray16", "gray16le"),
        ("png", "ya16", "ya16le"),
        ("png", "gbrp", "rgb24"),
        ("png", "gbrp16", "rgb48le"),
        ("png", "gbrap16", "rgba64le"),
        ("pgm", "gray", "gray"),
        ("ppm", "gbrp16", "rgb48le"),
        ("tiff", "gbrp16", "rgb48le"),
        ("webp", "gbrap", "rgba"),
        ("bmp", "gbrp", "rgb24"),
        ("tga", "gbrap", "rgba"),
        ("tga", "gray", "gray"),
        ("qoi", "gbrap", "rgba"),
        ("jxl", "gray16", "gray16le"),
        ("jxl", "gbrp", "rgb24"),
        ("jxl", "gbrap16", "rgba64le"),
        ("exr", "gbrpf32", "gbrpf32le"),
        ("exr", "gbrapf32", "gbrapf32le"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let format = Format::from_name(name, 53, 37).unwrap();
        let output = dir.path().join(format!("x.####.{ext}"));
        let format = grainfield::sink::sequence::accepts(output.as_os_str(), &format).unwrap();
        let frame = noisy(format);
        write(output.as_os_str(), &plan(format, None), &[(stamp(7), frame.clone())]).unwrap();
        let file = format!("x.0007.{ext}");
        let read = ffmpeg(&["-i", &file, "-f", "rawvideo", "-pix_fmt", raw, "-"], dir.path());
        let mut want = Vec::new();
        if ext == "exr" {
            frame.for_each_row(|row| want.extend_from_slice(row));
        } else {
            want = packed(&frame);
        }
        assert!(read == want, "{ext} {name}: ffmpeg reads other samples than were written");
    }
}
