//! What is said to somebody who knows another program, or has mistyped: each advice names something that works.

use crate::util::Session;

fn clip() -> Session {
    let s = Session::new();
    s.run("render pattern:bars:size=64x48:frames=3 a.y4m").ok();
    s
}

#[test]
fn help_is_a_command_with_topics() {
    let s = Session::new();
    for topic in ["", "render", "help", "curves", "sequences", "farms", "grain"] {
        assert!(s.run(&format!("help {topic}")).ok().text().lines().count() > 5, "{topic}");
    }
    assert_eq!(s.run("help render").ok().text(), s.run("render --help").ok().text());
    assert_eq!(s.run("help grain").ok().text(), s.run("filters grain").ok().text());
    s.run("help sequencs").ends(2).says("did you mean 'sequences'?");
    s.run("help qwertz").ends(2).says("curves").says("grainfield help");
    let first = s.run("").ends(2);
    assert!(first.err.lines().count() <= 4, "{}", first.err);
    first.says("grainfield help").says("grainfield filters");
}

#[test]
fn options_of_ffmpeg_point_to_ours() {
    let s = clip();
    for (typed, ours) in [("-ss 1", "--frames"), ("-i b.y4m", "first argument"), ("-crf 20", "--")] {
        s.run(&format!("render a.y4m o.y4m {typed}")).ends(2).says("FFmpeg").says(ours);
    }
}

#[test]
fn a_curve_that_a_shell_has_cut_is_named() {
    let s = clip();
    s.run("hash a.y4m -f noise=strength=0=0").ok().says("a curve with one key").says("quotes");
    let whole = s.run("hash a.y4m -f noise=strength=0=0\\;2=4").ok();
    assert!(!whole.err.contains("one key"), "{}", whole.err);
}

#[test]
#[cfg(feature = "ffmpeg")]
fn names_that_ffmpeg_knows_point_to_it() {
    let s = clip();
    s.run("render a.y4m o.y4m -f scale=32:24").ends(2).says("--lavfi scale=");
    s.run("render a.y4m o.y4m -f nosuchfilteratall").ends(2).says("'grainfield filters'");
    s.run("render a.y4m o.mp4 --codec h265").ends(2).says("did you mean 'libx265'?");
    s.run("render a.y4m o.mp4 --codec libx246").ends(2).says("did you mean 'libx264'?");
    s.run("render a.y4m o.mp4 --preset fastest").ends(2).says("veryfast");
    s.run("render a.y4m o.mp4 --codec prores_ks").says("NAME.mov");
    s.run("render a.y4m o.mov --codec prores_ks").ok();
}
