//! No file of a user is overwritten without being asked, by FFmpeg's filters, encoders or our own records.

use crate::same_file::{all, made, refuses, shell};
use crate::util::Session;

/// Each line ends with this code and message, and changes nothing.
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
fn files_that_ffmpeg_writes_itself() {
    let s = made(
        "
        gf render pattern:ramp:size=64x36:frames=3 in.mkv -q --lossless
        gf render pattern:ramp:size=64x36:frames=3 other.mkv -q
        ln -s in.mkv link.mkv
        printf 'in.mkv\\n' > name.txt
        printf '[[job]]\\ninput = \"in.mkv\"\\noutput = \"n.mkv\"\\nlavfi = \"movie=other.mkv[x];[in][x]overlay\"\\n[[job]]\\ninput = \"in.mkv\"\\noutput = \"other.mkv\"\\n' > graphs.toml
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
        render in.mkv new.mkv --lavfi 'metadata=mode=print:/file=name.txt' -y
        render in.mkv hash:name.txt --lavfi 'metadata=mode=print:/key=name.txt' -y
        batch graphs.toml -y
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
fn graphs_apply_to_inputs_that_ffmpeg_reads() {
    let s = made("");
    ends(
        &s,
        2,
        "FFmpeg's filters run on inputs that FFmpeg reads",
        "
        hash c.y4m --lavfi hflip
        hash - --lavfi hflip < c.y4m
        hash pattern:ramp:frames=1 --lavfi hflip
        hash s/c.####.png --lavfi hflip
        probe card.png --lavfi hflip
        ",
    );
}

/// Manifests, notes, status files and folders of segments that belong to others are kept and named.
#[test]
fn files_of_others_with_our_names_stay() {
    let s = made(
        "
        cp c.y4m .m.y4m.0.manifest
        cp c.y4m .n.y4m.0.manifest
        cp c.y4m w.1-of-2.y4m.shard
        printf '[[job]]\\ninput = \"c.y4m\"\\noutput = \"out.y4m\"\\n' > mine.toml
        cp c.y4m mine.toml.status
    ",
    );
    ends(&s, 1, ".m.y4m.0.manifest", "render c.y4m m.y4m --resume");
    ends(&s, 1, "w.1-of-2.y4m.shard", "render c.y4m w.y4m --shard 1/2");
    ends(&s, 1, "mine.toml.status", "batch mine.toml");
    refuses(&s, "render .n.y4m.0.manifest n.y4m --resume --rate 24");
}

/// The partial result of an output that is a link is beside the link's target, and never replaces a file.
#[test]
fn partial_outputs_are_never_replaced() {
    let s = made("mkdir p; cp c.y4m p/r.y4m; cp c.y4m p/r.partial.y4m; ln -s p/r.y4m z.y4m");
    s.run("render p/r.partial.y4m z.y4m -y -f noise").ok();
    assert_eq!(s.read("p/r.partial.y4m"), s.read("c.y4m"));
    s.write("cut.y4m", &s.read("c.y4m")[..400]);
    s.run("render cut.y4m z.y4m -y").ends(1).says("p/r.partial-2.y4m");
    assert_eq!(s.read("p/r.partial.y4m"), s.read("c.y4m"));
}

#[test]
fn jobs_of_a_batch() {
    let job = |input: &str, output: &str, more: &str| {
        format!("[[job]]\ninput = \"{input}\"\noutput = \"{output}\"\n{more}\n")
    };
    let s = made("printf 'nonsense' > slip.toml");
    s.write("status.toml", job("c.y4m", "hash:status.toml.status", ""));
    s.write(
        "slipped.toml",
        job("c.y4m", "n.y4m", "recipe = \"slip.toml\"") + &job("c.y4m", "hash:slip.toml", ""),
    );
    s.write("chained.toml", job("c.y4m", "one.y4m", "") + &job("one.y4m", "two.y4m", ""));
    refuses(
        &s,
        "
        batch status.toml -y
        batch slipped.toml -y
        ",
    );
    for _ in 0..2 {
        let (code, said) = shell(&s, "gf batch chained.toml");
        assert_eq!(code, Some(0), "{said}");
    }
}

#[cfg(feature = "ffmpeg")]
#[test]
fn folders_of_segments_that_are_not_ours() {
    let s = made(
        "mkdir f.mkv.segments; cp c.y4m f.mkv.segments/mine.tmp; mkdir g.mkv.segments; cp c.y4m g.mkv.segments/lock",
    );
    ends(&s, 1, "mine.tmp", "render c.y4m f.mkv --segments -y");
    ends(&s, 1, "lock", "render c.y4m g.mkv --segments -y");
}

/// A message would be written to the file: nothing is printed, and the exit code shows the error.
#[test]
fn no_message_is_written_to_an_input() {
    let s = made("");
    let before = all(&s.path(""));
    for line in "
        render c.y4m new.y4m 2>> c.y4m
        render hard.y4m new.y4m -y 2>> link.y4m
        render - new.y4m < c.y4m 2>> c.y4m
        render c.y4m --no-such-option 2>> c.y4m
        render c.y4m no/such/folder.y4m -y 2>> c.y4m
        render c.y4m new.y4m -v --recipe look.toml 2>> look.toml
        render c.y4m new.y4m -v --recipe s/look.toml 2>> k.txt
        render c.y4m new.y4m -f noise=strength=@t.gfa#x 2>> t.gfa
        render c.y4m new.y4m -f noise=strength=@k.txt,nonsense 2>> k.txt
        render c.y4m new.y4m -f particles=effect=fx.toml 2>> fx.toml
        hash s/c.####.png 2>> s/c.0001.png
        hash s 2>> s/c.0002.png
        frame s/c.####.png 3 new.png -v 2>> s/c.0001.png
        analyze c.y4m --clean s/c.####.png 2>> s/c.0001.png
        sheet card.png new.png 2>> card.png
        probe c.y4m 2>> c.y4m
        curve fit t.csv new.toml 2>> t.csv
        filters particles=effect=fx.toml 2>> fx.toml
        join j.y4m -y 2>> j.2-of-2.y4m
        batch jobs.toml 2>> jobs.toml
        batch two.toml -y 2>> c.y4m
        batch 's/c.*.png' --to 'o/{name}.png' 2>> s/c.0002.png
    "
    .lines()
    .map(str::trim)
    .filter(|line| !line.is_empty())
    {
        let (code, said) = shell(&s, &format!("gf {line}"));
        assert_eq!((code, said.as_str()), (Some(2), ""), "{line}");
        assert!(all(&s.path("")) == before, "{line}: something has changed");
    }
    let (code, said) = shell(&s, "gf render c.y4m new.y4m 2>> log; grep -c done log");
    assert_eq!(code, Some(0), "{said}");
}
