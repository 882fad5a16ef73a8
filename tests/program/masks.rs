//! Second inputs: masks, overlays and clean plates, however frames are reached.

use crate::util::Session;

fn lines(s: &Session, line: &str) -> Vec<String> {
    s.run(line).ok().text().lines().map(str::to_owned).collect()
}

/// A clip of 25 frames a second, and mattes of 25 and 50 pictures a second as video and as sequence.
fn session() -> Session {
    let s = Session::new();
    s.run("render pattern:bars:size=64x48:frames=20:rate=25 clip.y4m -f noise=strength=6").ok();
    let moving = "-f transform=pan=0=0\\,0\\;20=0.6\\,0";
    for rate in [25, 50] {
        s.run(&format!("render pattern:ramp:size=64x48:frames=20:rate={rate} matte{rate}.y4m {moving}")).ok();
    }
    s.run("render matte25.y4m matte.####.png --frame-offset 1001 --pix-fmt gray16").ok();
    s
}

#[test]
fn frames_of_a_mask_are_those_of_the_same_time() {
    let s = session();
    let whole = lines(&s, "hash clip.y4m -f invert=mask=matte25.y4m");
    assert_ne!(whole[3], lines(&s, "hash clip.y4m -f invert")[3]);
    for way in ["--threads 1", "--threads 3", "--memory 16MiB"] {
        assert_eq!(lines(&s, &format!("hash clip.y4m -f invert=mask=matte25.y4m {way}")), whole, "{way}");
    }
    for n in [19, 3, 11] {
        let one = lines(&s, &format!("hash clip.y4m -f invert=mask=matte25.y4m --frames {n}"));
        assert_eq!(one, [whole[n].as_str()]);
    }
    let parts = [1, 2].map(|n| lines(&s, &format!("hash clip.y4m -f invert=mask=matte25.y4m --shard {n}/2")));
    assert_eq!(parts.concat(), whole);
    // A sequence follows at the rate of the clip, whatever its numbers; a video has times of its own.
    let sequence = lines(&s, "hash clip.y4m -f invert=mask=matte.####.png");
    let grey = "render matte25.y4m grey.y4m --pix-fmt gray16";
    s.run(grey).ok();
    assert_eq!(lines(&s, "hash clip.y4m -f invert=mask=grey.y4m"), sequence);
    let fast = lines(&s, "hash clip.y4m -f invert=mask=matte50.y4m");
    for n in [1, 7] {
        s.run(&format!("render matte50.y4m one.y4m --frames {} --overwrite", 2 * n)).ok();
        let one = lines(&s, &format!("hash clip.y4m -f invert=mask=one.y4m --frames {n}"));
        assert_eq!(one, [fast[n].as_str()], "frame {n} of 25 a second is frame {} of 50", 2 * n);
    }
    // After its end the last picture stays.
    s.run("render matte50.y4m last.y4m --frames 19").ok();
    assert_eq!(fast[19], lines(&s, "hash clip.y4m -f invert=mask=last.y4m --frames 19")[0]);
}

#[test]
fn files_of_two_sequences_are_paired_by_their_numbers() {
    let s = session();
    s.run("render clip.y4m plate.####.png --frame-offset 1001").ok();
    let paired = lines(&s, "hash plate.####.png -f invert=mask=matte.####.png");
    // Both fields of a frame have its number.
    s.run("render matte25.y4m grey.y4m --pix-fmt gray16").ok();
    let fields = |mask: &str| {
        lines(&s, &format!("hash plate.####.png --rate 25 --fields field -f invert=mask={mask}"))
    };
    assert_eq!(fields("matte.####.png"), fields("grey.y4m"));
    // The same with handles: other first numbers of either.
    s.run("render matte25.y4m handles.####.png --frames 1006-1015 --frame-offset 1001 --pix-fmt gray16").ok();
    let inner = lines(&s, "hash plate.####.png -f invert=mask=handles.####.png --frames 1006-1015");
    assert_eq!(inner, paired[5..15]);
    s.run("render clip.y4m inner.####.png --frames 1006-1015 --frame-offset 1001").ok();
    assert_eq!(lines(&s, "hash inner.####.png -f invert=mask=matte.####.png"), paired[5..15]);
    assert_eq!(
        lines(&s, "hash inner.####.png -f noise=where=plate.####.png"),
        lines(&s, "hash inner.####.png")
    );
    s.run("hash plate.####.png -f invert=mask=handles.####.png")
        .ends(1)
        .says("no picture 1001")
        .says("1006 to 1015");
    // Without a common number the first belongs to the first.
    s.run("render clip.y4m other.####.png --frame-offset 1").ok();
    assert_eq!(lines(&s, "hash other.####.png --frame-offset 1000 -f invert=mask=matte.####.png"), paired);
}

#[test]
fn files_of_masks_are_checked_before_anything_is_written() {
    let s = session();
    s.run("render clip.y4m out.y4m -f invert=mask=elipse").ends(2).says("did you mean 'ellipse'?");
    s.run("render clip.y4m out.y4m -f invert=mask=clip:0").ends(2).says("clip:0").says("VapourSynth");
    s.run("render clip.y4m out.y4m -f invert=mask=none.png").ends(1).says("none.png").says("No such file");
    s.run("render clip.y4m matte25.y4m -f invert=mask=matte25.y4m --overwrite").ends(2).says("matte25.y4m");
    s.run("render clip.y4m matte.1003.png -f overlay=file=matte.####.png --overwrite --frames 3").ends(2);
    s.run("render clip.y4m out.y4m -f invert=mask=clip.y4m:where=clip.y4m").ends(2).says("only one of");
    s.run("render clip.y4m out.y4m -f scale=width=32:mask=ellipse")
        .ends(2)
        .says("mask")
        .says("changes the size");
    assert!(!s.files().iter().any(|f| f.starts_with("out")), "{:?}", s.files());
}

#[test]
fn words_are_no_files_and_files_lie_beside_their_recipe() {
    let s = session();
    s.write("looks/a.toml", "version = 1\n[[filter]]\nname = \"invert\"\nmask = \"luma\"\n");
    assert_eq!(
        lines(&s, "hash clip.y4m --recipe looks/a.toml"),
        lines(&s, "hash clip.y4m -f invert=mask=luma")
    );
    s.write("looks/luma", s.read("matte25.y4m"));
    s.write("looks/b.toml", "version = 1\n[[filter]]\nname = \"invert\"\nmask = \"./luma\"\n");
    let file = lines(&s, "hash clip.y4m --recipe looks/b.toml");
    assert_eq!(file, lines(&s, "hash clip.y4m -f invert=mask=matte25.y4m"));
}

#[test]
fn a_render_is_not_resumed_with_another_mask() {
    let s = session();
    let render = "render clip.y4m out.####.png -f invert=mask=matte25.y4m --frames 0-9";
    s.run(render).ok();
    s.run(&format!("{render} --resume")).ok().says("10 frames");
    s.write("matte25.y4m", s.read("matte50.y4m"));
    s.run(&format!("{render} --resume")).ends(1).says("other settings");
}

#[test]
fn grain_goes_only_where_the_composite_differs_from_the_plate() {
    let s = Session::new();
    s.run("render pattern:ramp:size=240x120:frames=3 plate.y4m -f grain=preset=35mm").ok();
    s.run("render plate.y4m comp.y4m -f levels=gamma=0.5:mask=rectangle:mask_width=0.3:mask_height=0.5").ok();
    s.run("render comp.y4m done.y4m -f noise=strength=9:where=plate.y4m").ok();
    for (area, changes) in
        [("mask_width=0.9:mask_height=0.9:mask_invert=1", false), ("mask_width=0.2:mask_height=0.3", true)]
    {
        // Everything else becomes black.
        let hide = format!("fade=amount=1:mask=rectangle:{area}:mask_invert={}", u8::from(changes));
        let hide =
            if changes { hide } else { "fade=amount=1:mask=rectangle:mask_width=0.9:mask_height=0.9".into() };
        let [a, b] = ["comp", "done"].map(|clip| lines(&s, &format!("hash {clip}.y4m -f {hide}")));
        assert_eq!(a != b, changes, "{area}");
    }
}
