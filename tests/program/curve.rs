//! `curve` and `sheet`: fitting, printing, drawing; settings that read their curve from a file.

use crate::util::Session;

/// A movement with a bend and a tremble.
fn samples() -> String {
    let mut text = "frame,x,y\n".to_owned();
    for i in 0..=240 {
        let t = f64::from(i);
        text += &format!("{i},{:.3},{:.3}\n", 0.5 * t + 20.0 * (t / 40.0).sin(), (t - 120.0).abs() / 12.0);
    }
    text
}

#[test]
fn samples_become_curves_in_every_form() {
    let s = Session::new();
    s.write("track.csv", samples());
    let out = s.run("curve fit track.csv --error 0.25 --shape hermite --track x").ok();
    let text = out.text();
    let keys = text.split(';').count();
    assert!(text.starts_with("0(hermite ") && (3..16).contains(&keys), "{text}");
    assert!(out.err.contains(&format!("x: {keys} keys for 241 samples")), "{}", out.err);
    s.run("curve fit track.csv tracks.gfa --error 0.25").ok();
    s.run("curve fit track.csv tracks.gfa --error 0.25").ends(1).says("exists");
    s.run("curve fit track.csv tracks.toml --error 0.25").ok();
    s.run("curve fit track.csv tracks.json --error 0.25 --shape bezier").ok();
    s.run("curve fit track.csv smooth.json --error 0.25 --shape smooth").ends(2).says("--shape bezier");
    s.run("curve fit track.csv plain.json --error 0.25").ok();
    assert!(s.run("curve info plain.json").ok().text().contains("x: "));
    let info = s.run("curve info tracks.gfa").ok().text();
    for part in ["tracks       2, keys in frames", "jump frames", "names        x, y"] {
        assert!(info.contains(part), "{part:?} is not in\n{info}");
    }
    let x = s.run("curve info tracks.gfa --track x").ok().text();
    let toml = String::from_utf8(s.read("tracks.toml")).expect("text");
    assert!(toml.contains(&format!("\"x\" = \"{}\"", x.trim())), "{toml}\n{x}");
    for line in ["curve info tracks.gfa --track z", "curve fit track.csv --track z"] {
        let o = s.run(line).ends(2).says("no track 'z'; did you mean 'x'?\n");
        assert_eq!(o.err.lines().count(), 1, "{}", o.err);
    }
    s.run("render pattern:ramp:frames=2 null: -f noise=strength=@tracks.gfa#z")
        .ends(2)
        .says("no track 'z'; did you mean 'x'?\n");
    s.run("curve info tracks.gfa --jumps 10 -o more.gfa").ok();
    assert!(s.read("more.gfa").len() > s.read("tracks.gfa").len());
    assert!(s.run("curve info tracks.json").ok().text().contains("x: "));
    assert!(s.run("curve info '0~=0;48=12'").ok().text().contains("2 keys, 0 to 48, values 0 to 12"));
    s.run("curve info '0*=0;48=12'").ends(2).says("is not a shape").says("\n   ^");
    s.run("curve fit none.csv").ends(1).says("none.csv");
    s.write("bad.csv", "frame,x\n0,1\n0,2\n");
    s.run("curve fit bad.csv").ends(1).says("bad.csv: line 3: track 'x'");
    s.run("curve fit track.csv --error -1").ends(2);
    s.run("curve fit track.csv out.txt").ends(2).says("NAME.gfa");
}

#[test]
fn plots_are_pngs() {
    let s = Session::new();
    s.write("track.csv", samples());
    for what in ["track.csv", "'0~=0;48(bounce-out)=12;96=4'", "'<mirror;0=0;48=3;>repeat'"] {
        s.run(&format!("curve plot {what} plot.png -y")).ok();
        assert_eq!(&s.read("plot.png")[..8], b"\x89PNG\r\n\x1a\n");
    }
    s.run("curve plot track.csv plot.jpg").ends(2).says("PNG");
}

#[test]
fn a_setting_takes_its_curve_from_a_file() {
    let s = Session::new();
    s.write("x.csv", "frame,strength\n0,0\n1,4\n2,8\n3,12\n4,12\n5,12\n");
    s.run("curve fit x.csv look/tracks.gfa").ends(1).says("does not exist");
    s.write("look/look.toml", "[[filter]]\nname = \"noise\"\nstrength = \"@tracks.gfa#strength\"\n");
    s.run("curve fit x.csv look/tracks.gfa --shape linear").ok();
    s.write("curve.txt", "0=0;3=12\n");
    let hash = |how: &str| s.run(&format!("hash pattern:grey:size=64x48:frames=6 {how} -q")).ok().text();
    s.write("want.toml", "[[filter]]\nname = \"noise\"\nstrength = \"0=0;3=12\"\n");
    let want = hash("--recipe want.toml");
    assert_ne!(want, hash("-f noise=strength=12"));
    for how in [
        "-f noise=strength=@look/tracks.gfa#strength",
        "-f noise=strength=@look/tracks.gfa",
        "-f noise=strength=@curve.txt",
        "--recipe look/look.toml",
    ] {
        assert_eq!(hash(how), want, "{how}");
    }
    let refused =
        |how: &str, code| s.run(&format!("hash pattern:grey:size=64x48:frames=6 -f {how}")).ends(code);
    refused("noise=strength=@none.gfa#x", 1).says("none.gfa");
    refused("noise=strength=@look/tracks.gfa#strenght", 2).says("did you mean 'strength'");
    s.write("big.txt", "0=1;9=1000000");
    refused("noise=strength=@big.txt", 2).says("strength=@big.txt").says("is not from");
}

#[test]
fn sheets_show_frames_alone_and_against_the_source() {
    let s = Session::new();
    let input = "pattern:bars:size=160x90:frames=40";
    let size = |name: &str| {
        let bytes = s.read(name);
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four"));
        (number(16), number(20))
    };
    s.run(&format!("sheet {input} a.png")).ok();
    let alone = size("a.png");
    assert!((1560..=1600).contains(&alone.0), "{alone:?}");
    for compare in ["side", "split", "diff"] {
        s.run(&format!(
            "sheet {input} {compare}.png -f noise=strength=20 --compare {compare} --frames 0-8x2 --width 800"
        ))
        .ok();
        assert!((760..=800).contains(&size(&format!("{compare}.png")).0));
    }
    s.run(&format!("sheet {input} one.png --frames 3 --columns 1 --width 400")).ok();
    s.run(&format!("sheet {input} one.png")).ends(1).says("exists");
    s.run(&format!("sheet {input} b.png --compare diff")).ends(2).says("-f");
    s.run(&format!("sheet {input} b.jpg")).ends(2).says("PNG");
    s.run("sheet pattern:bars:size=160x90:frames=900 b.png --frames 0-899").ends(2).says("400");
    let pipe = s.run(&format!("render {input} -")).ok().out;
    s.piped("sheet - pipe.png", &pipe).ok();
    s.piped("sheet - pipe2.png -f noise --compare side", &pipe).ends(2).says("twice");
    assert_eq!(s.files(), ["a.png", "diff.png", "one.png", "pipe.png", "side.png", "split.png"]);
}
