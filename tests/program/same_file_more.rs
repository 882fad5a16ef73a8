//! Nothing of a user's is written over unasked, whoever would do it: FFmpeg's filters, encoders, our own notes.

use crate::same_file::{all, made, refuses, shell};
use crate::util::Session;

/// Each line ends so, and nothing changes.
fn ends(s: &Session, code: i32, part: &str, lines: &str) {
    let before = all(&s.path(""));
    for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (ended, said) = shell(s, &format!("gf {line}"));
        assert!(ended == Some(code) && said.contains(part), "{line}: {ended:?} {said}");
        assert!(all(&s.path("")) == before, "{line}: something has changed");
    }
}

#[cfg(feature = "ffmpeg")]
#[test]
fn what_ffmpeg_writes_on_its_own() {
    let s = made(
        "
        gf render pattern:ramp:size=64x36:frames=3 in.mkv -q --lossless
        gf render pattern:ramp:size=64x36:frames=3 other.mkv -q
        ln -s in.mkv link.mkv
    ",
    );
    refuses(
        &s,
        "
        hash in.mkv --lavfi 'signalstats,metadata=mode=print:file=in.mkv'
        hash in.mkv --lavfi \"signalstats , metadata@a=mode=print:file='link.mkv'\"
        probe in.mkv --lavfi 'metadata=mode=print:file=d/in.mkv'
        analyze in.mkv --lavfi 'metadata=mode=print:file=in.mkv'
        sheet in.mkv new.png --lavfi 'metadata=mode=print:file=in.mkv' -y
        render in.mkv new.mkv --lavfi 'metadata=mode=print:file=new.mkv'
        render in.mkv new.mkv --lavfi 'split[a][b];[a][b]psnr=stats_file=in.mkv' -y
        render in.mkv new.mkv --lavfi 'split[a][b];[a][b]ssim=in.mkv' -y
        render in.mkv new.mkv -y --lavfi 'movie=other.mkv[x];[in][x]overlay,metadata=mode=print:file=other.mkv'
        ",
    );
    ends(
        &s,
        2,
        "exists and would be replaced",
        "
        hash in.mkv --lavfi metadata=mode=print:file=t.csv
        probe in.mkv --lavfi metadata=mode=print:file=t.csv
        render in.mkv new.mkv --codec libx264 --codec-opt x264-params=pass=1:stats=t.csv
        ",
    );
    let (code, said) =
        shell(&s, "gf render in.mkv new.mkv -y --lavfi signalstats,metadata=mode=print:file=t.csv");
    assert_eq!(code, Some(0), "{said}");
    assert!(s.read("t.csv").starts_with(b"frame:0"));
}

#[test]
fn graphs_are_for_what_ffmpeg_reads() {
    let s = made("");
    ends(
        &s,
        2,
        "--lavfi is for video",
        "
        hash c.y4m --lavfi hflip
        hash - --lavfi hflip < c.y4m
        hash pattern:ramp:frames=1 --lavfi hflip
        hash s/c.####.png --lavfi hflip
        probe card.png --lavfi hflip
        ",
    );
}
