//! FFmpeg's filters as members of a chain: the samples of FFmpeg's own program, whichever frame comes first.
#![cfg(feature = "ffmpeg")]

use crate::util::{Outcome, Session};

fn session(size: &str, pix_fmt: &str) -> Session {
    let s = Session::new();
    let source = format!("testsrc2=size=160x90:rate=25:duration=0.28,scale={size},noise=alls=30:all_seed=5");
    s.tool("ffmpeg", &format!("-v error -f lavfi -i {source} -pix_fmt {pix_fmt} -c:v rawvideo in.nut"));
    s
}

/// A filter of a recipe: the words of a session have no quotes within quotes.
fn graph(graph: &str, more: &str) -> String {
    format!("[[filter]]\nname = \"lavfi\"\ngraph = \"{graph}\"\n{more}\n")
}

fn run(s: &Session, command: &str, filters: &str) -> Outcome {
    s.write("chain.toml", format!("version = 1\n{filters}"));
    s.run(&format!("{command} --recipe chain.toml"))
}

fn hashes(s: &Session, filters: &str, more: &str) -> Vec<String> {
    run(s, &format!("hash in.nut {more}"), filters).ok().text().lines().map(str::to_owned).collect()
}

#[test]
fn samples_are_those_of_ffmpegs_program_in_any_order() {
    for (pix_fmt, size, graphs) in [
        ("yuv420p", "67x35", "negate eq=contrast=1.2 hue=h=200*t:s=1.5 unsharp crop=20:16:4:2,vflip"),
        ("yuv420p", "66x34", "scale=30:-2:flags=bicubic+accurate_rnd+full_chroma_int+bitexact"),
        ("yuv422p10", "67x35", "negate unsharp=7:7:1.5 gblur=sigma=2 crop=w=21:h=9:x=40*t"),
        ("yuva444p12", "33x20", "hflip"),
        ("gbrp", "67x35", "negate colorbalance=rs=0.3 curves=preset=vintage"),
        ("gray", "67x35", "negate gblur=sigma=2 edgedetect geq=lum=X+2*Y"),
        ("gray16", "21x9", "vflip"),
        ("gbrap16", "21x9", "hflip"),
        ("ya8", "21x9", "vflip"),
        ("yuv420p", "1x1", "negate hue=s=0"),
    ] {
        let s = session(size, pix_fmt);
        for text in graphs.split(' ') {
            s.tool(
                "ffmpeg",
                &format!("-v error -y -i in.nut -vf {text} -pix_fmt {pix_fmt} -c:v rawvideo out.nut"),
            );
            let theirs: Vec<String> = s.run("hash out.nut").ok().text().lines().map(str::to_owned).collect();
            for (way, part) in [("--threads 1", 0..7), ("--threads 4 --memory 16MiB --frames 3-5", 3..6)] {
                assert_eq!(
                    hashes(&s, &graph(text, ""), way),
                    theirs[part],
                    "{text} on {pix_fmt} {size} {way}"
                );
            }
        }
    }
}

#[test]
fn it_is_a_filter_like_others() {
    let s = session("35x22", "yuv420p");
    let [plain, negative] = ["opacity = 0", ""].map(|more| hashes(&s, &graph("negate", more), ""));
    assert_eq!(hashes(&s, &graph("negate", "enable = \"2-\""), ""), [&plain[..2], &negative[2..]].concat());
    assert_eq!(hashes(&s, &graph("negate", "").repeat(2), ""), plain);
    assert_eq!(s.run("hash in.nut -f lavfi=negate").ok().text().lines().collect::<Vec<_>>(), negative);
    for more in ["mask = \"ellipse\"", "planes = \"y\"", "opacity = 0.5"] {
        let mixed = hashes(&s, &graph("negate", more), "");
        assert!(mixed[3] != plain[3] && mixed[3] != negative[3], "{more}");
    }
    // Fields, whose pictures have a row of chroma less than FFmpeg's, and a chain of 16 bits, of which `eq` has 8. The
    // others keep something from one frame to the next in FFmpeg.
    let deep = format!("[[filter]]\nname = \"blur\"\nsigma = 40\n{}", graph("eq=contrast=1.2", ""));
    let more = ["gblur=sigma=2", "vignette", "histeq=antibanding=strong"].map(|text| graph(text, ""));
    for filters in more.iter().chain([&deep]) {
        let whole = hashes(&s, filters, "--fields field --threads 1");
        assert_eq!(hashes(&s, filters, "--fields field --threads 4 --frames 3"), whole[3..4], "{filters}");
    }
    run(&s, "frame in.nut 3 a.png", &deep).ok();
    run(&s, "render in.nut a.y4m", &graph("scale=32:20", "")).ok();
    s.write("batch.toml", "[[job]]\ninput = \"in.nut\"\noutput = \"b.y4m\"\nrecipe = \"chain.toml\"\n");
    s.run("batch batch.toml").ok();
    assert!(s.read("a.y4m") == s.read("b.y4m"));
}

#[test]
fn graphs_that_break_the_promise_are_refused_by_name() {
    let s = session("64x48", "yuv420p");
    for (text, part) in [
        ("hflip,tmix=frames=3", "filter 2 of the graph, 'tmix'"),
        ("hqdn3d", "--lavfi"),
        ("crop=32:24:n:8", "'n'"),
        ("hfilp", "'hflip'"),
        ("hue=s=oops", "oops"),
        ("unsharp=luma_msize_x=4", "unsharp"),
        ("lut3d=file=a.cube", "file"),
        ("curves=plot=plot.txt", "file"),
        ("selectivecolor=psfile=a.asv", "file"),
        ("movie=in.nut[a];[in][a]overlay", "movie"),
        ("scale=60000:60000", "60000x60000"),
        ("hflip[a", "FFmpeg"),
    ] {
        run(&s, "render in.nut out.mkv", &graph(text, "")).ends(2).says(part);
    }
    assert_eq!(s.files(), ["chain.toml", "in.nut"]);
    s.run("hash in.nut -f hqdn3d").ends(2).says("--lavfi hqdn3d");
    s.run("hash in.nut -f hflip").ends(2).says("lavfi='hflip");
    // Quotes of FFmpeg within those of a recipe and of a chain.
    let quoted = hashes(&s, &graph("crop=w='min(40,iw)':h=20:x='if(gt(t,9),2,4)',hflip", ""), "");
    assert_eq!(quoted, hashes(&s, &graph("crop=40:20:4,hflip", ""), ""));
    let chain = r"-f lavfi=crop\=40\:20\:4\,hflip";
    assert_eq!(s.run(&format!("hash in.nut {chain}")).ok().text().lines().collect::<Vec<_>>(), quoted);
}

#[test]
fn float_samples_stay_unless_a_filter_takes_none() {
    let s = Session::new();
    let source = "-v error -f lavfi -i testsrc2=size=35x22:rate=25:duration=0.04 -pix_fmt gbrapf32le";
    s.tool("ffmpeg", &format!("{source} in.0001.exr"));
    // FFmpeg 5.1 ends the program if `boxblur` gets float samples.
    for (text, is_cut) in [("hflip", false), ("negate", true), ("boxblur=3", true)] {
        let done = run(&s, "render in.0001.exr out.0001.exr -y", &graph(text, "")).ok();
        assert_eq!(done.err.contains("beyond 0 to 1 are cut off"), is_cut, "{text}: {}", done.err);
    }
}
