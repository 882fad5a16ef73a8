//! Shards, segments, joining and batches, on the command line.

use crate::util::Session;

const NOISE: &str = "-f noise=strength=6";

/// A clip with 30 frames.
fn session() -> Session {
    let s = Session::new();
    s.run("render pattern:zoneplate:size=64x48:frames=30 in.y4m -q").ok();
    s
}

#[test]
fn shards_are_one_run() {
    let s = session();
    let all = s.run(&format!("hash in.y4m {NOISE} -q")).ok().text();
    let mut parts = String::new();
    for i in 1..=7 {
        parts += &s.run(&format!("hash in.y4m {NOISE} -q --shard {i}/7")).ok().text();
    }
    assert_eq!(parts, all);

    s.run(&format!("render in.y4m one.y4m {NOISE} -q")).ok();
    for i in 1..=3 {
        s.run(&format!("render in.y4m out.y4m {NOISE} -q --shard {i}/3")).ok();
    }
    s.run("join out.y4m").ok().says("3 shards, 30 frames");
    assert!(s.read("out.y4m") == s.read("one.y4m"));
    // more shards than frames
    for i in 1..=32 {
        s.run(&format!("render in.y4m 'hash:h.txt' {NOISE} -q --shard {i}/32")).ok();
    }
    s.run("join hash:h.txt").ok();
    assert_eq!(String::from_utf8(s.read("h.txt")).unwrap_or_default(), all);
    // of selected frames, in their order
    let chosen = s.run("hash in.y4m -q --frames 20-5x3,7 ").err;
    assert!(chosen.contains("20 is after 5"), "{chosen}");
    let chosen = s.run("hash in.y4m -q --frames 20-25,7,3-9x2").ok().text();
    let halves =
        [1, 2].map(|i| s.run(&format!("hash in.y4m -q --frames 20-25,7,3-9x2 --shard {i}/2")).ok().text());
    assert_eq!(halves.concat(), chosen);
}

#[test]
fn shards_that_make_no_sense() {
    let s = session().with_var("SLURM_ARRAY_TASK_ID", "x");
    for (shard, part) in [("0/3", "from 1"), ("4/3", "ends at 3"), ("1/0", "0 shards"), ("a", "I/N")] {
        s.run(&format!("hash in.y4m --shard {shard}")).ends(2).says(part);
    }
    s.run("hash in.y4m --shard auto").ends(2).says("SLURM_ARRAY_TASK_ID=x");
    // not read unless requested
    s.run("hash in.y4m --shard 1/2 -q").ok();
    s.piped("hash - --shard 1/2", &s.read("in.y4m")).ends(2).says("--frames A-B");
}

#[test]
fn the_environment_selects_the_shard() {
    let slurm = [("ID", "12"), ("MIN", "10"), ("STEP", "2"), ("COUNT", "3")];
    let s = slurm.iter().fold(session(), |s, v| s.with_var(&format!("SLURM_ARRAY_TASK_{}", v.0), v.1));
    let auto = s.run("hash in.y4m -q --shard auto").ok().text();
    assert_eq!(auto, s.run("hash in.y4m -q --shard 2/3").ok().text());
    let s = session().with_var("JOB_COMPLETION_INDEX", "0");
    s.run("render in.y4m a.y4m --shard auto/12").ok().says(" to a.01-of-12.y4m in ");
    assert!(s.files().contains(&"a.01-of-12.y4m".to_owned()), "{:?}", s.files());
}

#[test]
fn only_shards_of_one_render_are_joined() {
    let s = session();
    for i in 1..=3 {
        s.run(&format!("render in.y4m out.y4m {NOISE} -q --shard {i}/3")).ok();
    }
    s.run("join out.y4m out.1-of-3.y4m out.3-of-3.y4m").ends(1).says("shard 2 of 3 is missing");
    s.run("join out.y4m out.1-of-3.y4m out.1-of-3.y4m").ends(1).says("both shard 1");
    s.run("join out.1-of-3.y4m out.1-of-3.y4m out.2-of-3.y4m out.3-of-3.y4m -y").ends(2).says("a shard");
    s.run("join none.y4m").ends(1).says("no shard");
    s.run("render in.y4m out.y4m -f noise=strength=7 -q --shard 2/3").ends(1).says("-y");
    s.run("render in.y4m out.y4m -f noise=strength=7 -q --shard 2/3 -y").ok();
    s.run("join out.y4m").ends(1).says("other settings").says("strength=7");
    s.run(&format!("render in.y4m out.y4m {NOISE} -q --shard 2/3 --resume")).ends(1).says("other settings");
    s.run(&format!("render in.y4m out.y4m {NOISE} -q --shard 2/3 --resume -y")).ok();
    let mut bytes = s.read("out.3-of-3.y4m");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    s.write("out.3-of-3.y4m", bytes);
    s.run("join out.y4m").ends(1).says("out.3-of-3.y4m: is damaged");
    assert!(!s.files().contains(&"out.y4m".to_owned()));
}

#[test]
fn the_manifest_of_a_shard_is_needed() {
    let s = session();
    let render = |more: &str| s.run(&format!("render in.y4m out.y4m {NOISE} -q --frames 0-9 --shard {more}"));
    render("1/2").ok();
    render("2/2").ok();
    render("2/2 --resume").ok();
    render("2/2 --resume --verify").ok();
    let shards = ["out.1-of-2.y4m", "out.1-of-2.y4m.shard", "out.2-of-2.y4m", "out.2-of-2.y4m.shard"];
    assert_eq!(s.files(), [&["in.y4m"], &shards[..]].concat(), "one record each");
    // a copy has the time at which it was copied
    for name in shards {
        s.write(&format!("copy/{name}"), s.read(name));
    }
    s.run("join copy/out.y4m").ok().says("2 shards, 10 frames");
    s.run(&format!("render in.y4m one.y4m {NOISE} -q --frames 0-9")).ok();
    assert!(s.read("copy/out.y4m") == s.read("one.y4m"));
    // of one source
    s.write("in.y4m", s.read("in.y4m"));
    render("2/2 --resume").ends(1).says("another source");
    render("2/2 -y").ok();
    s.run("join out.y4m").ends(1).says("another source");
    s.tool("rm", "out.2-of-2.y4m.shard");
    s.run("join out.y4m").ends(1).says("out.2-of-2.y4m.shard");
}

#[test]
fn manifests_of_other_versions_are_refused_and_named() {
    let s = session();
    s.run("render in.y4m out.y4m -q --shard 1/1").ok();
    let former = "{\"grainfield_shard\":1,\"index\":1,\"count\":1}";
    s.write("out.1-of-1.y4m.shard", former);
    s.write(".f.%02d.png.0.manifest", "grainfield manifest 9 ~01234567\n");
    for line in
        ["join out.y4m", "render in.y4m out.y4m --shard 1/1 --resume", "render in.y4m out.y4m --shard 1/1 -y"]
    {
        s.run(line).ends(1).says("out.1-of-1.y4m.shard").says("another version").says("remove this file");
    }
    s.run("render in.y4m f.##.png --frames 0 --resume").ends(1).says("another version");
    assert_eq!(s.read("out.1-of-1.y4m.shard"), former.as_bytes());
    s.tool("rm", "out.1-of-1.y4m.shard");
    s.run("render in.y4m out.y4m -q --shard 1/1 -y").ok();
    s.run("join out.y4m").ok();
}

#[test]
fn a_sequence_is_resumed_and_checked() {
    let s = session();
    s.write("o/x", "");
    let render = |more: &str| s.run(&format!("render in.y4m o/f.##.png {NOISE} --resume {more}"));
    render("--frames 0-9").ok();
    render("--frames 0-9").ok().says("10 of 10 frames are complete already");
    s.run("join o/f.##.png").ok().says("10 frames");
    s.run("join o/f.##.png --frames 0-10").ends(1).says("frame 10 is missing");
    render("").ok().says("10 of 30 frames are complete already");
    // changed bytes with the same size and time are only found by reading them
    let file = s.path("o/f.07.png");
    let time = file.metadata().and_then(|m| m.modified()).unwrap_or(std::time::UNIX_EPOCH);
    let mut bytes = s.read("o/f.07.png");
    bytes[40] ^= 1;
    s.write("o/f.07.png", bytes);
    render("").ends(1).says("f.07.png is not in the manifest");
    let open = std::fs::OpenOptions::new().write(true).open(&file);
    assert!(open.and_then(|f| f.set_modified(time)).is_ok());
    render("").ok().says("30 of 30");
    render("--verify").ends(1).says("f.07.png is damaged");
    s.run("join o/f.##.png").ends(1).says("f.07.png: is damaged");
    render("--verify -y").ok().says("29 of 30");
    s.run("join o/f.##.png").ok();
    let other = s.run("render in.y4m o/f.##.png -f noise=strength=7 --resume").ends(1);
    other.says("f.00.png was made with other settings").says("29 more");
    // the source has changed
    s.write("in.y4m", s.read("in.y4m"));
    render("").ends(1).says("another source");
    s.run("render in.y4m one.png --frames 3 --resume").ok();
    s.run("render in.y4m one.png --frames 3 --resume").ok().says("1 frames are complete already");
    s.run("render in.y4m one.png --frames 4 --resume").ends(1).says("-y");
    s.piped("render - o/f.##.png --resume", &s.read("in.y4m")).ends(2).says("a pipe");
    // an image of the recipe has changed
    let sprite = "render in.y4m o/s.##.png --frames 0-1 -f sprites=image=card.png --resume";
    s.run("render pattern:ramp:size=8x8:frames=1 card.png").ok();
    s.run(sprite).ok();
    s.run("render pattern:bars:size=8x8:frames=1 card.png -y").ok();
    let told = s.run(sprite).ends(1).err;
    assert!(told.contains("image") && !told.contains("()"), "{told}");
}

#[cfg(feature = "ffmpeg")]
#[test]
fn a_video_in_segments_or_shards_is_that_of_one_run() {
    let s = Session::new();
    s.tool("ffmpeg", "-v error -f lavfi -i testsrc2=size=96x64:rate=24000/1001:duration=2 -f lavfi -i sine=duration=2 -g 13 -c:v libx264 -c:a aac in.mp4");
    let packets = |name: &str| {
        let line = format!("-v error -show_entries packet=stream_index,pts,dts,duration -of csv {name}");
        let mut lines: Vec<String> = s.tool("ffprobe", &line).text().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    for (ext, codec) in
        [("mkv", "--lossless"), ("mp4", "--codec libx264 --preset fast"), ("mov", "--codec prores_ks")]
    {
        let render = |name: &str, more: &str| {
            s.run(&format!("render in.mp4 {name}.{ext} {NOISE} {codec} -q {more}")).ok();
        };
        render("one", "");
        render("seg", "--segment-frames 10");
        (1..=3).for_each(|i| render("sh", &format!("--segment-frames 10 --shard {i}/3")));
        s.run(&format!("join sh.{ext}")).ok();
        let hash = |name: &str| s.run(&format!("hash {name}.{ext} -q")).ok().text();
        assert_eq!(hash("seg"), hash("sh"), "{ext}");
        if ext != "mp4" {
            assert_eq!(hash("seg"), hash("one"), "{ext}");
        }
        assert_eq!(packets(&format!("seg.{ext}")), packets(&format!("sh.{ext}")));
        // the sound is present, and every picture has its time
        let times = |name: &str| {
            let cut = |l: &String| l.split(',').take(3).map(str::to_owned).collect::<Vec<_>>();
            packets(&format!("{name}.{ext}")).iter().map(cut).collect::<Vec<_>>()
        };
        assert_eq!(times("seg"), times("one"), "{ext}");
    }
    let left: Vec<String> = s.files().into_iter().filter(|f| f.ends_with(".segments")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The alpha channel of VP9 is side data of the packets.
#[cfg(feature = "ffmpeg")]
#[test]
fn segments_keep_alpha() {
    let s = Session::new();
    s.run("render pattern:zoneplate:size=64x48:frames=8 f.####.png -q").ok();
    s.tool("ffmpeg", "-v error -start_number 0 -stream_loop 1 -i f.%04d.png -vf format=yuva420p,fade=in:0:8:alpha=1 -c:v ffv1 a.mkv");
    let render = |name: &str, more: &str| {
        s.run(&format!("render a.mkv {name} --codec libvpx-vp9 --codec-opt auto-alt-ref=0 -q {more}"))
    };
    render("one.webm", "").ok();
    render("out.webm", "--segment-frames 16").ok();
    let packets = |name: &str| {
        s.tool("ffprobe", &format!("-v error -show_packets -show_data_hash md5 -of csv {name}")).text()
    };
    assert!(packets("one.webm").contains("Matroska BlockAdditional"));
    assert_eq!(packets("out.webm"), packets("one.webm"));
}

/// The segments fit, but not the joined file.
#[cfg(feature = "ffmpeg")]
#[test]
fn a_full_disk_leaves_whole_segments() {
    use crate::faults::{files, good, limited, render, run};
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("v.mkv");
    let options = ["--lossless", "--segment-frames", "4", "--resume"];
    let (code, text) = run(&mut limited(1000, &render(&output, &options)));
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("File too large") && !output.exists(), "{text}");
    // changed bytes are noticed, also where size and time are those that were recorded
    let segment = folder.path().join("v.mkv.segments/00000000.nut");
    let bytes = std::fs::read(&segment).unwrap();
    let time = segment.metadata().unwrap().modified().unwrap();
    let refused = |bytes: &[u8], more: &[&str], problem: &str| {
        std::fs::write(&segment, bytes).unwrap();
        std::fs::File::options().write(true).open(&segment).unwrap().set_modified(time).unwrap();
        let (code, text) = run(&mut render(&output, &[&options, more].concat()));
        assert!(code == 1 && text.contains(problem) && !output.exists(), "{text}");
    };
    for at in [60, bytes.len() / 2, bytes.len() - 1] {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        refused(&changed, &[], "00000000.nut: its bytes are not those that were written");
        refused(&changed, &["--verify"], "00000000.nut is damaged");
    }
    refused(&bytes[..bytes.len() - 9], &[], "00000000.nut is not in the manifest");
    std::fs::write(&segment, bytes).unwrap();
    std::fs::File::options().write(true).open(&segment).unwrap().set_modified(time).unwrap();
    let text = good(&mut render(&output, &options));
    assert!(text.contains("frames are complete already"), "{text}");
    assert_eq!(files(folder.path()).into_keys().collect::<Vec<_>>(), ["v.mkv"]);
}

#[cfg(feature = "ffmpeg")]
#[test]
fn segments_of_other_settings_are_not_used() {
    let s = session();
    let render = |chain: &str, more: &str| {
        s.run(&format!("render in.y4m out.mkv -f {chain} --lossless --segment-frames 8 {more}"))
    };
    // a folder as after a crash: the last segment is missing, another file is incomplete
    render("noise=strength=3", "--shard 1/2").ok();
    s.run("render in.y4m v.mkv -f noise=strength=3 --lossless --segment-frames 8 --frames 0-15 -q").ok();
    s.write("out.mkv.segments/00000002.partial.nut", "half");
    s.write("out.mkv.segments/00000001.nut", "no segment");
    render("noise=strength=3", "").ends(1).says("resume it, or overwrite them");
    render("noise=strength=3", "--resume").ends(1).says("00000001.nut is not in the manifest");
    render("noise=strength=3", "--resume -y").ok();
    assert!(!s.files().contains(&"out.mkv.segments".to_owned()));
    render("noise=strength=3", "--resume").ok().says("complete already");
    render("noise=strength=4", "--resume").ends(1).says("other settings");
    // as another version has left them
    s.write("old.mkv.segments/00000000.segment", "GFSEGM1\n");
    s.write("old.mkv.segments/lock", "");
    let old = s.run("render in.y4m old.mkv --lossless --segments --resume -y").ends(1);
    old.says("old.mkv.segments/").says("another version");
    s.run("render in.y4m out.png --segments").ends(2).says("only a video").says("--segments");
}

#[test]
fn batches() {
    let s = session();
    s.write("shots/a/plate.0001.png", "");
    for shot in ["a", "b"] {
        s.write(&format!("shots/{shot}/x"), "");
        s.run(&format!("render in.y4m shots/{shot}/plate.####.png -q --frames 1-4 -y")).ok();
    }
    let batch = "batch 'shots/*/plate.####.png' --to 'out/{dir}/{name}.####.png' -f noise=strength=4";
    s.run(&format!("{batch} --dry-run")).ok();
    assert!(!s.files().contains(&"out".to_owned()));
    s.run(&format!("{batch} --jobs 2")).ok().says("2 jobs done; 8 frames");
    s.run("render shots/a/plate.####.png f.####.png -f noise=strength=4 -q").ok();
    assert!(s.read("out/a/plate.0003.png") == s.read("f.0003.png"));
    s.run(batch).ok().says("2 done before");
    // one by one, the images of a film have the same noise
    s.run("batch 'f.????.png' --to 'single/{name}.png' -f noise")
        .ok()
        .says("4 of the inputs are numbered images")
        .says("f.%04d.png");
    // the same options in another spelling are equal
    let batch_again = "batch 'shots/*/plate.####.png' --frame-offset=0 --to 'out/{dir}/{name}.####.png' --filters=noise=strength=4";
    s.run(&format!("{batch_again} --threads 1 --missing error --on-error=stop")).ok().says("2 done before");
    s.run(&(batch_again.replace("=0", "=1") + " -y")).ok().says("2 jobs done");
    s.run(&format!("{batch} --strict --rate 25 -y")).ok().says("2 jobs done");
    s.run(&format!("{batch} --rate=25 --strict")).ok().says("2 done before");
    let status = s.run(&format!("{batch} --status")).ok().text();
    assert!(status.contains("0 waiting, 0 running, 0 done, 0 failed, 2 stale"), "{status}");
    assert!(status.contains("other settings (rate is 25 instead of nothing)"), "{status}");

    s.write(
        "jobs.toml",
        "folder = 'res'\n[all]\nfilters = 'noise'\n[[job]]\ninput = 'in.y4m'\noutput = 'a.y4m'\nframes = '0-4'\n\
         [[job]]\ninput = 'later.y4m'\noutput = 'b.y4m'\n[[job]]\ninput = 'in.y4m'\noutput = '../c.y4m'\n",
    );
    let dry = s.run("batch jobs.toml --dry-run").ends(1).text();
    assert!(dry.contains("outside"), "{dry}");
    s.run("batch jobs.toml").ends(1).says("1 job done, 2 failed").says("outside");
    s.write("later.y4m", s.read("in.y4m"));
    s.run("batch jobs.toml").ends(1).says("failed before");
    s.run("batch jobs.toml --retry --outside").ok().says("2 jobs done, 1 done before");
    assert!(s.read("res/b.y4m") == s.read("c.y4m"));
    let json = s.run("batch jobs.toml --status --json").ok().text();
    let states: Vec<String> = json
        .lines()
        .map(|l| {
            serde_json::from_str::<serde_json::Value>(l).map(|v| v["state"].to_string()).unwrap_or_default()
        })
        .collect();
    assert_eq!(states, ["\"done\"", "\"done\"", "\"done\""]);

    s.write("bad.toml", "[[job]]\ninput='in.y4m'\noutput='x.y4m'\nstrenght=3\n");
    s.run("batch bad.toml")
        .ends(2)
        .says("line 4, job 1 (x.y4m): 'grainfield render' has no option strenght")
        .says("see 'grainfield render -h'");
    s.write("bad.toml", "[all]\nfilter = 'noise'\n[[job]]\ninput='in.y4m'\noutput='x.y4m'\n");
    s.run("batch bad.toml").ends(2).says("line 2, job 1").says("did you mean filters?");
    s.write("bad.toml", "[[job]]\ninput='in.y4m'\noutput='x.y4m'\ncrf = 'much'\n");
    s.run("batch bad.toml").ends(2).says("line 4, job 1").says("much");
    s.write("bad.toml", "[[job]]\ninput='in.y4m'\noutput=\n");
    s.run("batch bad.toml").ends(2).says("line 3");
    s.run("batch bad.toml -f noise").ends(2).says("into the list");
    s.run("batch in.y4m").ends(2).says("NAME.toml");
}

#[test]
fn every_frame_is_reported_with_progress_frames() {
    let s = session();
    let told = s.run("render in.y4m null: --progress frames").ok().err;
    let frames: Vec<i64> = told
        .lines()
        .filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok())
        .filter(|v| v["event"] == "frame")
        .filter_map(|v| v["number"].as_i64())
        .collect();
    assert_eq!(frames, (0..30).collect::<Vec<_>>());
}
