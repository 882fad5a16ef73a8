//! Pictures with an orientation tag.

use super::holes::stamp;
use super::{one, plan, write};
use crate::util::Session;
use grainfield::format::images::Meta;
use grainfield_filters::frame::{Format, Frame};
use std::sync::Arc;

/// Exif data of one entry: the orientation.
fn exif(orientation: u8) -> Vec<u8> {
    let entry = [0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0];
    [b"II*\0\x08\0\0\0\x01\0".as_slice(), &entry, &[0; 4]].concat()
}

/// 32 by 16 with a bright left half, stored with this orientation.
fn make(s: &Session, name: &str, orientation: u8) {
    let format = Format::from_name("gbrp", 32, 16).unwrap();
    let mut frame = Frame::new(format);
    for (p, y) in (0..3).flat_map(|p| (0..16).map(move |y| (p, y))) {
        let row = frame.row_mut::<u8>(p, y);
        row[..16].fill(200);
        row[16..].fill(40);
    }
    let mut stamp = stamp(0);
    stamp.carried = Some(Arc::new(Meta { exif: Some(exif(orientation)), ..Meta::default() }));
    write(s.path(name).as_os_str(), &plan(format, Some(1)), &[(stamp, frame)]).unwrap();
}

#[test]
fn video_is_upright() {
    let s = Session::new();
    for ext in ["jpg", "png", "webp"] {
        let name = format!("a.{ext}");
        make(&s, &name, 6);
        let run = s.run(&format!("render {name} {ext}.mp4")).ok();
        assert!(run.err.contains("upright"), "{}", run.err);
        let raw = s.tool("ffmpeg", &format!("-v error -i {ext}.mp4 -f rawvideo -pix_fmt gray -")).out;
        assert_eq!(raw.len(), 16 * 32, "16 wide and 32 high");
        assert!(raw[16 * 4] > 150 && raw[16 * 28] < 80, "{ext}: the bright half is above");
        let y4m = s.run(&format!("render {name} -")).ok().out;
        assert!(y4m.starts_with(b"YUV4MPEG2 W16 H32"), "{ext}");
    }
}

#[test]
fn images_that_can_say_so_stay_as_stored() {
    let s = Session::new();
    for orientation in 1..=8 {
        let name = format!("a{orientation}.png");
        make(&s, &name, orientation);
        let (_, upright) = one(s.path(&name));
        for ext in ["png", "webp", "tif", "exr"] {
            let out = format!("b{orientation}.{ext}");
            s.run(&format!("render {name} {out} --transfer keep")).ok();
            let (_, seen) = one(s.path(&out));
            assert_eq!(
                (seen.format().width, seen.format().height),
                (upright.format().width, upright.format().height)
            );
            if ext != "exr" {
                assert!(
                    (0..3).all(|p| (0..seen.format().height as usize)
                        .all(|y| seen.row::<u8>(p, y) == upright.row::<u8>(p, y))),
                    "{out}"
                );
            }
        }
        // stored in the original orientation: the size in the file's head
        let head = s.read(&format!("b{orientation}.png"));
        assert_eq!((head[19], head[23]), (32, 16), "{orientation}");
    }
}
