//! The program without FFmpeg: its own functions work in the same way, and for the others it suggests alternatives.
#![cfg(not(feature = "ffmpeg"))]

use crate::util::Session;

#[test]
fn images_and_y4m_are_read_filtered_and_written() {
    let s = Session::new();
    s.run("render pattern:zoneplate:size=67x35:frames=3:format=gray a.####.png").ok();
    let direct = s.run("hash a.####.png -f noise=strength=9 -q").ok().text();
    s.run("render a.####.png b.####.png -f noise=strength=9").ok();
    assert_eq!(s.run("hash b.####.png -q").ok().text(), direct);
    s.run("render b.####.png c.y4m").ok();
    s.run("render c.y4m d.####.png").ok();
    assert_eq!(s.run("hash d.####.png -q").ok().text().len(), direct.len());
}

#[test]
fn videos_are_refused_with_the_way_round() {
    let s = Session::new();
    let source = "pattern:zoneplate:size=64x48:frames=1";
    s.run(&format!("render {source} out.mp4")).ends(2).says("ffmpeg");
    s.run(&format!("render {source} out.####.dpx")).ends(2);
    s.run(&format!("render {source} out.y4m --crf 20")).ends(2);
    // the first bytes of an mp4 file
    s.write("in.mp4", b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41");
    s.run("render in.mp4 out.y4m").ends(1).says("ffmpeg");
    s.run("join out.mp4").ends(2);
    s.run(&format!("hash {source} -f lavfi=negate")).ends(2).says("built with FFmpeg");
    assert_eq!(s.files(), ["in.mp4"]);
}
