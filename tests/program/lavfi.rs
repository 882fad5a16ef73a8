//! FFmpeg's filters as members of a chain: the samples of FFmpeg's own program, whichever frame comes first.
#![cfg(feature = "ffmpeg")]

use crate::util::{Outcome, Session};

/// Samples without a container's limits, from FFmpeg's program.
const RAW: &str = "-v error -y -fflags bitexact -f lavfi -i";

fn clip(s: &Session, name: &str, size: &str, pix_fmt: &str) {
    let source = format!("testsrc2=size=160x90:rate=25:duration=0.28,scale={size},noise=alls=30:all_seed=5");
    s.tool("ffmpeg", &format!("{RAW} {source} -pix_fmt {pix_fmt} -c:v rawvideo {name}"));
}

fn run(s: &Session, command: &str, chain: &str) -> Outcome {
    // The words of a session have no quotes within quotes.
    let (before, after) = command.split_once("CHAIN").unwrap();
    s.write("chain.toml", format!("version = 1\n{chain}"));
    s.run(&format!("{before}--recipe chain.toml{after}"))
}

/// A recipe of the filter alone, with more settings.
fn alone(graph: &str, more: &str) -> String {
    format!("[[filter]]\nname = \"lavfi\"\ngraph = \"{graph}\"\n{more}\n")
}

fn hashes(s: &Session, command: &str, chain: &str) -> Vec<String> {
    run(s, command, chain).ok().text().lines().map(str::to_owned).collect()
}

#[test]
fn samples_are_those_of_ffmpegs_program_in_any_order() {
    let s = Session::new();
    for (pix_fmt, size, graphs) in [
        (
            "yuv420p",
            "67x35",
            &[
                "negate",
                "eq=contrast=1.2",
                "hue=h=200*t:s=1.5",
                "unsharp",
                "crop=20:16:4:2,vflip",
                "scale=30:-2:flags=bicubic+accurate_rnd+full_chroma_int+bitexact",
            ][..],
        ),
        ("yuv422p10", "67x35", &["negate", "unsharp=7:7:1.5", "gblur=sigma=2", "crop=w=21:h=9:x=40*t"]),
        ("yuva444p12", "33x20", &["hflip"]),
        ("gbrp", "67x35", &["negate", "colorbalance=rs=0.3", "curves=preset=vintage"]),
        ("gray", "67x35", &["negate", "gblur=sigma=2"]),
        ("gray16", "21x9", &["vflip"]),
        ("gbrap16", "21x9", &["hflip"]),
        ("ya8", "21x9", &["vflip"]),
        ("yuv420p", "1x1", &["negate", "hue=s=0"]),
    ] {
        clip(&s, "in.nut", size, pix_fmt);
        for graph in graphs {
            s.tool(
                "ffmpeg",
                &format!("-v error -y -i in.nut -vf {graph} -pix_fmt {pix_fmt} -c:v rawvideo out.nut"),
            );
            let theirs: Vec<String> = s.run("hash out.nut").ok().text().lines().map(str::to_owned).collect();
            let chain = alone(graph, "");
            assert_eq!(
                hashes(&s, "hash in.nut CHAIN --threads 1", &chain),
                theirs,
                "{graph} on {pix_fmt} {size}"
            );
            let four = hashes(&s, "hash in.nut CHAIN --threads 4 --memory 16MiB", &chain);
            assert_eq!(four, theirs, "{graph} on {pix_fmt}");
            let one = hashes(&s, "hash in.nut CHAIN --frames 5", &chain);
            assert_eq!(one, [theirs[5].as_str()], "{graph} on {pix_fmt}, frame 5");
        }
    }
}

#[test]
fn it_is_a_filter_like_others() {
    let s = Session::new();
    clip(&s, "in.nut", "64x48", "yuv420p");
    let plain: Vec<String> = s.run("hash in.nut").ok().text().lines().map(str::to_owned).collect();
    let given = |more| hashes(&s, "hash in.nut CHAIN", &alone("negate", more));
    // The common settings, between filters of 16 bits, twice, and by its position on the command line.
    assert_eq!(given("opacity = 0"), plain);
    assert_eq!(given("enable = \"2-\"")[..2], plain[..2]);
    assert_eq!(given(""), s.run("hash in.nut -f lavfi=negate").ok().text().lines().collect::<Vec<_>>());
    let twice = alone("negate", "") + &alone("negate", "");
    assert_eq!(hashes(&s, "hash in.nut CHAIN", &twice), plain);
    for more in ["mask = \"ellipse\"", "planes = \"y\"", "opacity = 0.5"] {
        let mixed = given(more);
        assert!(mixed[3] != plain[3] && mixed[3] != given("")[3], "{more}");
    }
    // FFmpeg's `eq` has 8 bits: the chain of 16 bits is reduced before it.
    let chain = |graph| format!("[[filter]]\nname = \"blur\"\nsigma = 40\n{}", alone(graph, ""));
    assert_ne!(
        hashes(&s, "hash in.nut CHAIN", &chain("eq=contrast=1.2")),
        hashes(&s, "hash in.nut CHAIN", &chain("negate"))
    );
    // These keep something from one frame to the next in FFmpeg.
    for graph in ["vignette", "histeq=antibanding=strong"] {
        let whole = hashes(&s, "hash in.nut CHAIN", &alone(graph, ""));
        assert_eq!(hashes(&s, "hash in.nut CHAIN --frames 3", &alone(graph, "")), whole[3..4], "{graph}");
    }
    // Fields are pictures; their chroma has a row less than FFmpeg's pictures of that height.
    let fields = "hash in.nut CHAIN --fields field --threads";
    clip(&s, "in.nut", "35x22", "yuv420p");
    let one = hashes(&s, &format!("{fields} 1"), &alone("gblur=sigma=2", ""));
    assert_eq!(hashes(&s, &format!("{fields} 4"), &alone("gblur=sigma=2", "")), one);
    run(&s, "frame in.nut 3 a.png CHAIN", &alone("negate", "")).ok();
    run(&s, "render in.nut a.mkv CHAIN", &alone("scale=32:20", "")).ok();
    s.write("batch.toml", "[[job]]\ninput = \"in.nut\"\noutput = \"b.mkv\"\nrecipe = \"chain.toml\"\n");
    s.run("batch batch.toml").ok();
    assert_eq!(s.run("hash b.mkv").ok().text(), s.run("hash a.mkv").ok().text());
}

#[test]
fn graphs_that_break_the_promise_are_refused_by_name() {
    let s = Session::new();
    clip(&s, "in.nut", "64x48", "yuv420p");
    let refused = |graph: &str| run(&s, "render in.nut out.mkv CHAIN", &alone(graph, "")).ends(2);
    refused("hflip,tmix=frames=3").says("filter 2 of the graph, 'tmix'").says("--lavfi");
    refused("crop=32:24:n:8").says("'n'");
    refused("hfilp").says("'hflip'");
    refused("hue=s=oops").says("oops");
    refused("unsharp=luma_msize_x=4").says("unsharp");
    refused("lut3d=file=a.cube").says("lut=file=");
    refused("curves=plot=plot.txt").says("file");
    refused("movie=in.nut[a];[in][a]overlay").says("movie");
    refused("scale=60000:60000").says("60000x60000");
    refused("split").says("split");
    refused("hflip[a").says("FFmpeg");
    // Several quotes deep, as in FFmpeg: a comma and a colon of an expression, and an apostrophe.
    run(&s, "hash in.nut CHAIN", &alone("crop=w='min(40,iw)':h=20:x='if(gt(t,0.1),2,4)'", "")).ok();
    s.run("hash in.nut -f lavfi=crop\\=w\\=20\\:h\\=16\\,hflip").ok();
    assert!(!s.files().iter().any(|name| name.starts_with("out") || name == "plot.txt"));
}
