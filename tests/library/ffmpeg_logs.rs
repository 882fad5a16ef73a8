//! Messages of libav about one input are assigned to that input, whatever else runs in the process.
#![cfg(feature = "ffmpeg")]

use crate::video::{ffmpeg, next, open_with};
use grainfield::source::{Options, Slot};
use std::path::Path;

/// Errors of reading an input through.
fn errors(file: &Path, threads: usize) -> Vec<String> {
    let mut source = open_with(file, &Options { threads: Some(threads), ..Options::default() }).unwrap();
    let (mut slot, mut all) = (Slot::default(), Vec::new());
    loop {
        match next(&mut *source, &mut slot) {
            Ok(Some(_)) => {}
            Ok(None) => return all,
            Err(e) => all.push(e.to_string()),
        }
        assert!(all.len() < 1000, "no end");
    }
}

#[test]
fn every_input_reports_its_own_faults() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let clip = "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2,noise=alls=12:allf=t:all_seed=5";
    ffmpeg(folder, &format!("{clip} -c:v ffv1 -g 1 cut.mkv"));
    ffmpeg(folder, &format!("{clip} -c:v libx264 -g 25 -threads 1 hurt.ts"));
    let (cut, hurt) = (folder.join("cut.mkv"), folder.join("hurt.ts"));
    let bytes = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let mut bytes = std::fs::read(&hurt).unwrap();
    (20..bytes.len() / 188 - 20).step_by(9).for_each(|i| bytes[188 * i + 100] ^= 0x24);
    std::fs::write(&hurt, bytes).unwrap();
    let alone = [errors(&cut, 1), errors(&hurt, 1)];
    assert!(alone[0].len() == 1 && alone[0][0].contains("prematurely"), "{alone:?}");
    assert!(alone[1].iter().any(|e| e.contains("[h264]")), "{alone:?}");
    std::thread::scope(|scope| {
        for i in 0..4 {
            let (file, alone) = ([&cut, &hurt][i % 2], &alone[i % 2]);
            scope.spawn(move || (0..6).for_each(|n| assert_eq!(errors(file, 1 + n % 3), *alone)));
        }
    });
}
