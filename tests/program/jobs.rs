//! Whole jobs in one command, as restorers, encoders and compositors do them, on scripted clips with the flags and data
//! of real ones.

use crate::util::{HDR, Session};

fn ffmpeg(s: &Session, line: &str) {
    s.tool("ffmpeg", &format!("-nostdin -v error -y {line}"));
}

/// What `ffprobe` says of the first video stream, or of the sound.
fn probe(s: &Session, file: &str, stream: &str, entries: &str) -> String {
    let line = format!("-v error -select_streams {stream} -show_entries {entries} -of csv=p=0 {file}");
    s.tool("ffprobe", &line).text().trim().to_owned()
}

#[test]
fn a_dv_tape_is_deinterlaced_cleaned_weaved_and_grained_to_prores_with_its_sound() {
    let s = Session::new();
    ffmpeg(
        &s,
        "-f lavfi -i testsrc2=size=720x576:rate=50:duration=0.4 -f lavfi -i sine=duration=0.4:sample_rate=48000 \
         -vf tinterlace=interleave_bottom,setfield=bff,format=yuv420p -ac 2 -target pal-dv tape.dv",
    );
    let chain = "blur=sigma=0.6,weave=across=0.002,grain=preset=16mm";
    s.run(&format!("render tape.dv out.mov --lavfi bwdif=mode=send_frame -f {chain} --codec prores_ks")).ok();
    let video = probe(&s, "out.mov", "v:0", "stream=codec_name,width,height,field_order,nb_frames");
    assert!(video.starts_with("prores,720,576,") && video.ends_with(",10"), "{video}");
    assert!(!["tt", "bb", "tb", "bt"].iter().any(|order| video.contains(order)), "{video}");
    assert!(probe(&s, "out.mov", "a:0", "stream=codec_name,channels").contains("pcm_s16le,2"));
}

#[test]
fn a_dpx_scan_is_dusted_and_regrained_under_a_mask_and_keeps_its_timecode() {
    let s = Session::new();
    ffmpeg(
        &s,
        "-f lavfi -i testsrc2=size=128x72:rate=24:duration=0.2 -pix_fmt gbrp10le -start_number 1001 plain.%04d.dpx",
    );
    s.run("render plain.####.dpx scan.####.dpx --rate 24").ok();
    let chain = "dust=amount=4:mask=matte.png,grain=preset=35mm:mask=matte.png:mask_feather=20";
    s.run("frame pattern:ramp:size=128x72:frames=1 0 matte.png").ok();
    s.run(&format!("render scan.####.dpx out.####.dpx -f {chain}")).ok();
    assert_eq!(s.files().iter().filter(|f| f.starts_with("out.100")).count(), 5);
    // The left of the ramp is black: nothing changes there.
    let hide = "fade=amount=1:mask=rectangle:mask_at=0.52\\,0.5";
    let [a, b] = ["scan", "out"].map(|name| s.run(&format!("hash {name}.####.dpx -f {hide}")).ok().text());
    assert_eq!(a, b);
}

#[test]
fn an_rgba_exr_sequence_becomes_prores_4444_with_straight_alpha() {
    let s = Session::new();
    s.run("render pattern:bars:size=64x48:frames=4:format=gbrapf32 cg.####.exr -f fade=amount=0.5:planes=a")
        .ok();
    s.run(
        "render cg.####.exr out.mov -f grain=preset=light --codec prores_ks --pix-fmt yuva444p10 --rate 24",
    )
    .ok();
    let video = probe(&s, "out.mov", "v:0", "stream=codec_name,profile,pix_fmt,nb_frames");
    assert!(video.starts_with("prores,4444,yuva444p"), "{video}");
    // Half of the alpha of everything, and colour that is not multiplied by it.
    s.run("frame out.mov 0 back.png").ok();
    let text = s.tool("ffprobe", "-v error -show_entries stream=pix_fmt -of csv=p=0 back.png").text();
    assert!(text.starts_with("rgba"), "{text}");
}

#[test]
fn an_anime_episode_is_debanded_to_10_bits() {
    let s = Session::new();
    ffmpeg(
        &s,
        "-f lavfi -i gradients=size=320x180:rate=24000/1001:duration=0.3:speed=0.01 -f lavfi -i sine=duration=0.3 -c:v libx264 -pix_fmt yuv420p -c:a aac ep.mkv",
    );
    s.run("render ep.mkv out.mkv -f deband --pix-fmt yuv420p10 --codec libx265 --crf 16").ok();
    assert_eq!(probe(&s, "out.mkv", "v:0", "stream=codec_name,pix_fmt"), "hevc,yuv420p10le");
    assert_eq!(probe(&s, "out.mkv", "a:0", "stream=codec_name"), "aac");
}

#[test]
fn a_phone_clip_that_is_rotated_and_of_variable_rate_gets_snow_behind_a_matte() {
    let s = Session::new();
    ffmpeg(
        &s,
        "-f lavfi -i testsrc2=size=160x90:rate=30:duration=0.5 -vf setpts=N*N/90/TB -fps_mode vfr -c:v libx264 -pix_fmt yuv420p raw.mp4",
    );
    s.turned("raw.mp4", "phone.mp4", [0, 1, -1, 0]);
    s.run("frame phone.mp4 0 first.png").ok();
    let snow = "particles=preset=snow:amount=2:mask=ellipse:mask_invert=1:mask_feather=20";
    s.run(&format!("render phone.mp4 out.mkv -f {snow} --codec ffv1")).ok();
    let times = |file: &str| probe(&s, file, "v:0", "packet=pts_time");
    assert_eq!(times("out.mkv").lines().count(), times("phone.mp4").lines().count());
    let size = |file: &str| probe(&s, file, "v:0", "stream=width,height");
    assert_eq!(size("out.mkv"), "90,160", "upright");
    s.run(&format!("frame phone.mp4 7 a.png -f {snow}")).ok();
    s.run("frame out.mkv 7 b.png").ok();
}

#[test]
fn a_second_video_is_overlaid_in_screen() {
    let s = Session::new();
    ffmpeg(
        &s,
        "-f lavfi -i testsrc2=size=128x72:rate=25:duration=0.4 -c:v libx264 -pix_fmt yuv420p main.mp4",
    );
    ffmpeg(&s, "-f lavfi -i mandelbrot=size=96x54:rate=50 -t 0.4 -c:v ffv1 flare.mkv");
    let chain = "overlay=file=flare.mkv:blend=screen:size=0.8:start=0.08";
    s.run(&format!("render main.mp4 out.mkv -f {chain} --codec ffv1")).ok();
    let whole: Vec<String> = s.run("hash out.mkv").ok().text().lines().map(str::to_owned).collect();
    let plain: Vec<String> = s.run("hash main.mp4").ok().text().lines().map(str::to_owned).collect();
    assert_eq!(whole[..2], plain[..2], "it begins with the third frame");
    assert_ne!(whole[2], plain[2]);
    let one = s.run(&format!("hash main.mp4 -f {chain} --frames 7")).ok().text();
    assert_eq!(one.trim(), whole[7], "any frame alone");
}

#[test]
fn a_cube_look_is_applied_at_4k() {
    let s = Session::new();
    let cube = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/luts/warm-print.cube");
    s.write("look.cube", std::fs::read(cube).unwrap());
    s.run("render pattern:bars:size=3840x2160:frames=1:format=yuv420p10 out.mkv -f lut=file=look.cube --codec ffv1").ok();
    assert_eq!(probe(&s, "out.mkv", "v:0", "stream=width,height,pix_fmt"), "3840,2160,yuv420p10le");
}

#[test]
fn a_damaged_file_is_rendered_whole_with_held_frames() {
    let s = Session::new();
    let clip = "-f lavfi -i testsrc2=size=160x96:rate=25:duration=1,noise=alls=12:allf=t:all_seed=5";
    ffmpeg(&s, &format!("{clip} -c:v ffv1 -level 3 -slicecrc 1 -g 1 clip.mkv"));
    let mut bytes = s.read("clip.mkv");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    s.write("clip.mkv", bytes);
    let o = s.run("render clip.mkv out.mkv -f grain=preset=16mm --codec ffv1 --on-error hold").ok();
    assert!(o.err.contains("is replaced by frame"), "{}", o.err);
    assert_eq!(probe(&s, "out.mkv", "v:0", "stream=codec_name"), "ffv1");
    assert_eq!(s.run("hash out.mkv").ok().text().lines().count(), 25);
}

/// The luma of all frames of a file.
fn luma(s: &Session, file: &str) -> Vec<u8> {
    s.tool("ffmpeg", &format!("-nostdin -v error -i {file} -f rawvideo -pix_fmt gray -")).out
}

#[test]
fn an_hdr10_clip_is_grained_and_stays_hdr10() {
    let s = Session::new();
    let master = "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)";
    ffmpeg(
        &s,
        &format!(
            "-f lavfi -i testsrc2=size=192x108:rate=24000/1001 -t 0.3 {HDR} -c:v libx265 -x265-params \
             log-level=error:hdr10=1:repeat-headers=1:master-display={master}:max-cll=1000,400 hdr.mp4"
        ),
    );
    s.run("render hdr.mp4 out.mp4 -f grain=preset=35mm --codec libx265 --preset ultrafast").ok();
    let said = |file: &str| {
        let stream = probe(&s, file, "v:0", "stream=codec_name,profile,pix_fmt,color_space,color_transfer");
        let data = s.tool("ffprobe", &format!("-v error -read_intervals %+#1 -show_frames {file}")).text();
        let kept = [
            "red_x",
            "green_y",
            "white_point_x",
            "max_luminance",
            "min_luminance",
            "max_content",
            "max_average",
        ];
        let data = data.lines().filter(|line| kept.iter().any(|name| line.starts_with(name)));
        (stream.trim_end_matches(',').to_owned(), data.map(str::to_owned).collect::<Vec<_>>())
    };
    let (stream, data) = said("out.mp4");
    assert_eq!(stream, "hevc,Main 10,yuv420p10le,bt2020nc,smpte2084");
    assert_eq!(data.len(), 7, "{data:?}");
    assert_eq!((stream, data), said("hdr.mp4"));
    assert_ne!(luma(&s, "out.mp4"), luma(&s, "hdr.mp4"));
}

#[test]
fn a_talk_is_cut_by_times_with_its_timecode_burnt_in() {
    let s = Session::new();
    ffmpeg(
        &s,
        "-f lavfi -i testsrc2=size=320x180:rate=25:duration=2 -f lavfi -i sine=duration=2 -timecode 01:00:00:00 \
         -c:v libx264 -pix_fmt yuv420p -c:a aac talk.mov",
    );
    let cut = |file: &str, chain: &str| {
        s.run(&format!("render talk.mov {file} -ss 0.8 -to 1.2 --codec ffv1 {chain}")).ok();
        luma(&s, file).chunks(320 * 180).map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let (plain, out) = (cut("plain.mkv", ""), cut("out.mkv", "-f text"));
    assert_eq!((plain.len(), out.len()), (10, 10));
    for (n, (a, b)) in plain.iter().zip(&out).enumerate() {
        let changed: Vec<usize> = (0..a.len()).filter(|i| a[*i] != b[*i]).collect();
        assert!(changed.len() > 200, "frame {n}: {} samples", changed.len());
        let beside =
            changed.iter().find(|i| !(120..200).contains(&(*i % 320)) || !(158..174).contains(&(*i / 320)));
        assert_eq!(beside, None, "frame {n}");
    }
    // The same text, written out.
    let fixed = |text: &str| cut("fixed.mkv", &format!("-y -f text='{text}'"));
    let first = fixed("01\\:00\\:00\\:20");
    assert!(first[0] == out[0] && first[1] != out[1]);
    assert!(fixed("01\\:00\\:00\\:21")[1] == out[1]);
    assert_eq!(probe(&s, "out.mkv", "a:0", "stream=codec_name"), "aac");
}

#[test]
fn a_small_gif_for_the_web_is_made_of_a_clip() {
    let s = Session::new();
    ffmpeg(
        &s,
        "-f lavfi -i testsrc2=size=320x180:rate=25:duration=0.8 -c:v libx264 -pix_fmt yuv420p clip.mp4",
    );
    s.run("render clip.mp4 web.gif --lavfi fps=12.5 -f scale=width=160:height=90,grain=preset=16mm").ok();
    assert_eq!(probe(&s, "web.gif", "v:0", "stream=codec_name,width,height"), "gif,160,90");
    let times = probe(&s, "web.gif", "v:0", "packet=pts_time");
    let times: Vec<f64> = times.lines().map(|t| t.trim_end_matches(',').parse().unwrap()).collect();
    assert_eq!(times.len(), 10);
    assert!(times.windows(2).all(|t| (t[1] - t[0] - 0.08).abs() < 0.001), "{times:?}");
}

#[test]
fn raw_frames_are_grained_between_two_programs() {
    let s = Session::new();
    ffmpeg(
        &s,
        "-f lavfi -i testsrc2=size=96x54:rate=25:duration=0.4 -pix_fmt yuv422p10le -strict -1 clip.y4m",
    );
    let frames = "-nostdin -v error -i clip.y4m -f rawvideo -";
    let raw = s.tool("ffmpeg", frames).out;
    let chain = "-f grain=preset=35mm,vignette";
    let out = s.piped(&format!("render - raw: --raw 96x54:yuv422p10le:25 {chain}"), &raw).ok().out;
    assert_eq!(out.len(), raw.len());
    assert!(out != raw);
    s.write("out.raw", &out);
    ffmpeg(
        &s,
        "-f rawvideo -video_size 96x54 -pixel_format yuv422p10le -framerate 25 -i out.raw -c:v ffv1 out.mkv",
    );
    s.run(&format!("render clip.y4m whole.mkv {chain} --codec ffv1")).ok();
    let [a, b] = ["out.mkv", "whole.mkv"].map(|file| s.run(&format!("hash {file}")).ok().text());
    assert_eq!(a, b);
}

/// The incomplete file of an interrupted run cannot be continued: a resumed run says so, and replaces it.
#[test]
fn a_single_file_begins_anew() {
    let s = Session::new();
    let clip = "pattern:bars:size=32x16:frames=5";
    for out in [
        "out.y4m",
        #[cfg(feature = "ffmpeg")]
        "out.mkv",
    ] {
        let partial = |n: &str| out.replace('.', &format!(".partial{n}."));
        for n in ["", "-2", "-4"] {
            s.write(&partial(n), b"an earlier run");
        }
        let o =
            s.run(&format!("render {clip} {out} -y --resume")).ok().says(&partial("")).says("begins anew");
        assert_eq!(o.err.contains("--segments"), out == "out.mkv", "{}", o.err);
        // another program may be writing them
        let kept = ["", "-2", "-4"].iter().all(|n| s.read(&partial(n)) == b"an earlier run");
        assert!(s.path(out).exists() && kept, "{:?}", s.files());
    }
}
