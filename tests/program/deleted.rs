//! Outputs that the user deletes while they are written.
#![cfg(target_os = "linux")]

use crate::faults::{at_frame, files, program};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Acts after two frames of ten have been written, which come through a pipe.
fn amid(output: &Path, act: impl FnOnce()) -> String {
    let mut frames = b"YUV4MPEG2 W64 H36 F25:1 Ip A1:1 C420jpeg\n".to_vec();
    for n in 0..10 {
        frames.extend_from_slice(b"FRAME\n");
        frames.extend(std::iter::repeat_n(n, 64 * 36 * 3 / 2));
    }
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&frames).unwrap();
    let mut command = program();
    command.args(["render", "-"]).arg(output).args(["--threads", "1"]).stdin(reader);
    let out = at_frame(command, 2, |_| {
        act();
        drop(writer);
    });
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{text}");
    text
}

/// What the user deletes while it is written is not said to be there.
#[test]
fn deleted_outputs_are_noticed() {
    let outputs = if cfg!(feature = "ffmpeg") { &["v.y4m", "v.mkv", "v.mp4"][..] } else { &["v.y4m"] };
    for name in outputs {
        let folder = tempfile::tempdir().unwrap();
        let partial = folder.path().join(name.replace("v.", "v.partial."));
        let text = amid(&folder.path().join(name), || fs::remove_file(partial).unwrap());
        assert!(text.contains("was deleted or moved while it was written"), "{text}");
        assert_eq!(files(folder.path()).len(), 0);
    }
    let folder = tempfile::tempdir().unwrap();
    let text = amid(&folder.path().join("f.####.png"), || {
        (0..2).for_each(|n| fs::remove_file(folder.path().join(format!("f.000{n}.png"))).unwrap());
    });
    assert!(text.contains("frame 0 was finished but its file is gone (and those of 1 more)"), "{text}");
    assert_eq!(files(folder.path()).len(), 8);
}
