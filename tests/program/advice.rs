//! Suggestions for users of other programs and for typing errors: each one names something that works.

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
    for (typed, ours) in [("-i b.y4m", "first argument"), ("-crf 20", "--")] {
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
fn characters_that_the_font_lacks_are_named() {
    let o = clip().run("hash a.y4m -f text=text=We❤noise").ok();
    o.says("filter 1, 'text': the font lacks '❤', for which it shows a box").says("font=FILE");
}

#[test]
#[cfg(feature = "ffmpeg")]
fn names_that_ffmpeg_knows_point_to_it() {
    let s = clip();
    s.run("render a.y4m o.y4m -f hqdn3d=4").ends(2).says("--lavfi hqdn3d=");
    s.run("render a.y4m o.y4m -f nosuchfilteratall").ends(2).says("'grainfield filters'");
    s.run("render a.y4m o.mp4 --codec h265").ends(2).says("did you mean 'libx265'?");
    s.run("render a.y4m o.mp4 --codec libx246").ends(2).says("did you mean 'libx264'?");
    s.run("render a.y4m o.mp4 --preset fastest").ends(2).says("veryfast");
    s.run("render a.y4m o.mp4 --codec prores_ks").says("NAME.mov");
    s.run("render a.y4m o.mov --codec prores_ks").ok();
}

#[test]
fn options_without_effect_are_named() {
    let s = clip();
    s.run("hash a.y4m -f ''").ends(2).says("there is no filter").says("leave the option out");
    for text in ["pq:", ":pq"] {
        s.run(&format!("hash a.y4m --transfer {text}")).ends(2).says("INPUT:OUTPUT");
    }
    s.run("hash a.y4m -f fade").ok().says("fade changes nothing");
    s.run("hash a.y4m -f levels").ok().says("levels changes nothing");
    s.run("hash a.y4m -f lut").ok().says("lut changes nothing");
    s.run("hash a.y4m --rate 30 --missing hold")
        .ok()
        .says("the rate 30 is not used")
        .says("the choice for missing frames is not used");
    let used = s.run("hash a.y4m -f fade=amount=1,color=hue=9 --rate 24").ok();
    assert!(!used.err.contains("nothing") && !used.err.contains("not used"), "{}", used.err);
}

#[test]
#[cfg(feature = "ffmpeg")]
fn advice_can_be_followed() {
    let s = clip();
    s.tool("ffmpeg", "-v error -i a.y4m a.%02d.pcx");
    s.run("probe a.%02d.pcx").ends(2).says("png").says("ffmpeg -i NAME.%04d.pcx");
    s.run("probe 'a.*.pcx'").ends(2).says("ffmpeg -i NAME.%04d.pcx");
    s.run("render a.y4m o.mp4 --codec hevc_vaapi").ends(2).says("graphics card");
    let o = s.run("render a.y4m o.mp4 --codec hevc_nvenc");
    assert!(o.code == Some(0) || o.err.contains("hardware"), "{}", o.err);
}

#[test]
#[cfg(feature = "ffmpeg")]
fn hevc_is_hvc1_and_the_default_of_hdr() {
    let s = clip();
    let streams = |file: &str| {
        let what = "-v error -show_entries stream=codec_name,codec_tag_string -of csv=p=0";
        s.tool("ffprobe", &format!("{what} {file}")).text()
    };
    let source = "pattern:ramp:size=64x48:frames=3:format=yuv420p10";
    s.run(&format!("render {source} sdr.mp4")).ok();
    assert_eq!(streams("sdr.mp4").trim(), "h264,avc1");
    for (file, more) in [("a.mp4", ""), ("a.mov", ""), ("parts.mp4", "--segments")] {
        s.run(&format!("render {source} {file} --transfer pq:pq {more}")).ok();
        assert_eq!(streams(file).trim(), "hevc,hvc1", "{file}");
    }
}
