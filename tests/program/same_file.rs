//! A job never writes a file that it reads, under any name, with and without `-y`.
#![cfg(unix)]

use crate::util::Session;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The setup of each line: `link.y4m` and `hard.y4m` are `c.y4m`, `d` is the folder itself.
const MAKE: &str = "
    gf render pattern:ramp:size=16x8:frames=3 c.y4m -q
    gf render pattern:ramp:size=16x8:frames=3 x.1-of-1.y4m -q
    gf render pattern:ramp:size=64x64:frames=1 card.png -q
    mkdir s v.mkv.segments o l h
    gf render pattern:ramp:size=16x8:frames=5 s/c.%04d.png -q
    cp c.y4m v.mkv.segments/mine.y4m
    ln -s c.y4m link.y4m
    ln -s /dev/fd/3 fd.y4m
    ln c.y4m hard.y4m
    ln -s . d
    ln -s ../s/c.0003.png l/o.0001.png
    ln s/c.0004.png h/o.0002.png
    printf 'seed = 5\\n' > look.toml
    printf 'seed = 5\\n[[filter]]\\nname = \"noise\"\\nstrength = \"@../k.txt\"\\n' > s/look.toml
    printf '0=1;9=4' > k.txt
    gf filters particles=preset=snow --effect > fx.toml
    printf 'frame,x\\n0,1\\n1,2\\n2,5\\n' > t.csv
    ln t.csv t.toml
    cp t.csv t.png
    printf '{\"x\": [0, 1, 4]}' > t.json
    gf curve fit t.csv t.gfa 2> /dev/null
    gf render c.y4m j.y4m --shard 1/2 -q
    gf render c.y4m j.y4m --shard 2/2 -q
    ln -s j.1-of-2.y4m j.link.y4m
    printf '[all]\\nfilters = \"noise\"\\n[[job]]\\ninput = \"c.y4m\"\\noutput = \"hash:jobs.toml\"\\n' > jobs.toml
    printf '[[job]]\\ninput = \"c.y4m\"\\noutput = \"n.y4m\"\\nfilters = \"sprites=image=card.png\"\\n[[job]]\\ninput = \"pattern:ramp:frames=1\"\\noutput = \"d/card.png\"\\n' > assets.toml
    printf '[[job]]\\ninput = \"c.y4m\"\\noutput = \"n.y4m\"\\nfilters = \"particles=effect=fx.toml\"\\n[[job]]\\ninput = \"c.y4m\"\\noutput = \"hash:fx.toml\"\\n' > effects.toml
    printf '[[job]]\\ninput = \"c.y4m\"\\noutput = \"n.y4m\"\\nfilters = \"noise=strength=@t.gfa#x\"\\n[[job]]\\ninput = \"c.y4m\"\\noutput = \"hash:d/t.gfa\"\\n' > curves.toml
    printf '[[job]]\\ninput = \"c.y4m\"\\noutput = \"n.y4m\"\\n[[job]]\\ninput = \"pattern:ramp:frames=1\"\\noutput = \"d/c.y4m\"\\n' > two.toml
    printf '[[job]]\\ninput = \"s/c.####.png\"\\noutput = \"same.y4m\"\\n[[job]]\\ninput = \"c.y4m\"\\noutput = \"d/same.y4m\"\\n' > twice.toml
";

/// Each line would overwrite one of its inputs.
const REFUSED: &str = "
    render c.y4m c.y4m -y
    render c.y4m c.y4m
    render ./c.y4m c.y4m -y
    render c.y4m d/d/c.y4m -y
    render link.y4m c.y4m -y
    render c.y4m link.y4m -y
    render hard.y4m c.y4m -y
    render c.y4m hard.y4m
    render c.y4m hash:c.y4m -y
    render c.y4m hash:d/link.y4m -y
    render c.y4m hash:hard.y4m
    render c.y4m c.y4m --resume
    render x.1-of-1.y4m x.y4m --shard 1/1 -y
    render x.1-of-1.y4m hash:x.y4m --shard 1/1 -y
    render c.y4m c.y4m --cache d -y
    render - c.y4m -y < c.y4m
    render - d/hard.y4m -y < link.y4m
    render - hash:c.y4m -y < c.y4m
    render /dev/stdin c.y4m -y < c.y4m
    render /dev/fd/3 c.y4m -y 3< c.y4m
    render pipe:0 c.y4m -y --allow-protocol pipe < c.y4m
    render pipe: hash:hard.y4m -y --allow-protocol pipe < link.y4m
    render subfile,,start,0,end,0,,:pipe:3 d/c.y4m -y --allow-protocol pipe --allow-protocol subfile 3< hard.y4m
    render c.y4m - >> c.y4m
    render c.y4m - 1<> c.y4m
    render c.y4m fd.y4m -y 3<> c.y4m
    render c.y4m hash: >> c.y4m
    render c.y4m hash:- >> c.y4m
    render - - < c.y4m >> c.y4m
    render c.y4m - -y --recipe look.toml >> look.toml
    render c.y4m hash:look.toml -y --recipe look.toml
    render c.y4m hash:look.toml --recipe d/look.toml
    render c.y4m hash:k.txt -y --recipe s/look.toml
    render c.y4m hash:k.txt -y -f noise=strength=@k.txt
    render c.y4m hash:t.gfa -y -f noise=strength=@d/t.gfa#x
    render c.y4m hash:fx.toml -y -f particles=effect=fx.toml
    render pattern:ramp:size=16x8:frames=1 card.png -y -f 'sprites=image=card.png'
    render pattern:ramp:size=16x8:frames=1 card.png -f 'sprites=image=d/card.png'
    render s/c.####.png s/c.####.png -y
    render s/c.####.png s/c.####.png
    render s/c.####.png s/c.####.png --resume
    render s/c.####.png s/c.####.png -y --shard 2/2
    render s/c.####.png s/c.%04d.png -y
    render s/c.####.png d/s/c.@@@@.png -y
    render 's/*.png' 's/c.$F4.png' -y
    render s s/c.####.png -y
    render s/c.####.png s/c.####.png -y --frames 0-1 --frame-offset 2
    render s/c.0002.png s/c.####.png -y
    render s/c.####.png l/o.####.png -y
    render s/c.####.png h/o.####.png -y
    render s/c.####.png hash:s/c.0002.png -y
    frame s/c.####.png 3 s/c.0003.png -y
    frame s/c.####.png 3 d/s/c.0001.png -y
    frame card.png 0 d/card.png -y
    hash c.y4m >> c.y4m
    hash - < c.y4m >> c.y4m
    hash s/c.####.png >> s/c.0001.png
    analyze card.png --plot card.png -y
    analyze card.png --plot d/card.png
    analyze - --plot t.png -y < t.png
    analyze pattern:ramp:size=64x64:frames=1 --clean card.png --plot card.png -y
    analyze s/c.####.png --plot s/c.0002.png -y
    analyze c.y4m >> c.y4m
    analyze c.y4m --json --clean s/c.####.png >> s/c.0000.png
    analyze c.y4m --plot t.png -y >> t.png
    sheet card.png card.png -y
    sheet card.png d/card.png
    sheet s/c.####.png s/c.0002.png -y
    sheet c.y4m card.png -y -f 'sprites=image=card.png' --compare diff
    probe c.y4m >> c.y4m
    probe - < c.y4m >> c.y4m
    curve fit t.json t.json -y
    curve fit t.csv t.toml -y
    curve fit - t.json -y < t.json
    curve fit t.csv >> t.csv
    curve info t.gfa --jumps 10 -o d/t.gfa -y
    curve info t.gfa >> t.gfa
    curve plot t.png t.png -y
    filters particles=effect=fx.toml --effect >> fx.toml
    join j.1-of-2.y4m j.1-of-2.y4m j.2-of-2.y4m -y
    join j.link.y4m j.1-of-2.y4m j.2-of-2.y4m -y
    join c.y4m j.1-of-2.y4m j.2-of-2.y4m -y
    batch assets.toml -y
    batch effects.toml
    batch curves.toml -y
    batch jobs.toml -y
    batch two.toml -y
    batch two.toml
    batch twice.toml
    batch jobs.toml --status >> jobs.toml
    batch 's/c.####.png' --to 's/{name}.####.png' -y
";

/// All files below a folder except manifests, with their bytes and links.
pub(crate) fn all(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        let meta = path.symlink_metadata().unwrap();
        if meta.is_symlink() {
            found.insert(name, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
        } else if meta.is_dir() {
            found.extend(all(&path));
            found.insert(name, b"folder".to_vec());
        } else {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// Runs a line in a shell, with `gf` for the program.
pub(crate) fn shell(s: &Session, line: &str) -> (Option<i32>, String) {
    let plain = s.command("");
    let mut command = Command::new("bash");
    command.args(["-c", &format!("set -e; gf() {{ \"$0\" \"$@\"; }}\n{line}")]).arg(plain.get_program());
    command.current_dir(s.path("")).env("GRAINFIELD_CACHE", "none").stdin(Stdio::null());
    let out = command.output().unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

pub(crate) fn made(more: &str) -> Session {
    let s = Session::new();
    let (code, said) = shell(&s, &format!("{MAKE}{more}"));
    assert_eq!(code, Some(0), "{said}");
    s
}

/// All lines fail with an error and change nothing.
pub(crate) fn refuses(s: &Session, lines: &str) {
    let before = all(&s.path(""));
    let mut faults = Vec::new();
    for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (code, said) = shell(s, &format!("gf {line}"));
        assert!(!said.contains("panicked"), "{line}\n{said}");
        let named = [" are the same file", "removes files from it"];
        if code != Some(2) || !named.iter().any(|n| said.contains(n)) {
            faults.push(format!("{line}: {code:?} {said}"));
        }
        let after = all(&s.path(""));
        if after != before {
            let of = |a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>| -> Vec<String> {
                a.iter().filter(|(k, v)| b.get(*k) != Some(*v)).map(|(k, _)| k.clone()).collect()
            };
            panic!(
                "{line}: {:?} {:?} {said}\n{}",
                of(&before, &after),
                of(&after, &before),
                faults.join("\n")
            );
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn inputs_are_never_written() {
    refuses(&made(""), REFUSED);
}

#[test]
fn an_input_that_the_shell_has_emptied_is_an_error() {
    let s = made("");
    for line in ["render c.y4m - > c.y4m", "hash link.y4m > c.y4m", "curve fit t.csv > t.csv"] {
        let (code, said) = shell(&s, &format!("gf {line}"));
        assert!(code == Some(2) && said.contains("standard output"), "{line}: {code:?} {said}");
    }
}

/// Similar cases in which no input is written.
#[test]
fn other_files_are_written() {
    let s = made("");
    for line in [
        "render c.y4m e.y4m",
        "render c.y4m o/c.y4m -y",
        "render c.y4m null:",
        "render c.y4m /dev/null",
        "render - e.y4m -y < c.y4m",
        "render c.y4m - < c.y4m > e.y4m",
        "render c.y4m hash:e.txt --recipe look.toml < look.toml",
        "render s/c.####.png s/c.######.png",
        "render s/c.####.png s/e.####.png",
        "render s/c.####.png o/c.####.png",
        "render s/c.####.png o/c.####.png -y",
        "render c.y4m s2.y4m --shard 1/2",
        "analyze card.png --plot e.png > /dev/null",
        "sheet card.png e.png -y --width 160",
        "curve fit t.csv t2.toml",
        "join j.y4m",
        "join j.y4m -y",
    ] {
        let (code, said) = shell(&s, &format!("gf {line}"));
        assert_eq!(code, Some(0), "{line}: {said}");
    }
}

#[cfg(feature = "ffmpeg")]
#[test]
fn files_that_ffmpeg_reads_are_never_written() {
    let s = made(
        "
        gf render pattern:ramp:size=64x36:frames=24 in.mkv -q --lossless
        gf render pattern:ramp:size=64x36:frames=24 other.mkv -q
        gf render in.mkv part.mkv --shard 1/2 --lossless -q
        gf render in.mkv part.mkv --shard 2/2 --lossless -q
        ln -s in.mkv link.mkv
        gf render in.mkv a.ts -q
        gf render in.mkv b.ts -q
        printf '#EXTM3U\\n#EXT-X-TARGETDURATION:1\\n#EXTINF:1,\\na.ts\\n#EXTINF:1,\\nd/b.ts\\n#EXT-X-ENDLIST\\n' > list.m3u8
        printf 'ffconcat version 1.0\\nfile a.ts\\nfile b.ts\\n' > list.ffconcat
    ",
    );
    refuses(
        &s,
        "
        render file:in.mkv in.mkv -y
        render file:d/link.mkv in.mkv
        render file:c.y4m c.y4m -y
        render in.mkv link.mkv -y
        render in.mkv hash:link.mkv -y
        render file:in.mkv hash:in.mkv -y
        render concat:a.ts|b.ts b.ts -y --allow-protocol concat
        render subfile,,start,0,end,0,,:in.mkv in.mkv -y --allow-protocol subfile
        render list.m3u8 b.ts -y
        render list.ffconcat a.ts -y
        render list.ffconcat hash:list.ffconcat -y
        render in.mkv other.mkv -y --lavfi 'movie=other.mkv[x];[in][x]overlay'
        render in.mkv new.mkv --codec libx264 --codec-opt x264-params=pass=1:stats=in.mkv
        render - in.mkv -y < in.mkv
        render in.mkv in.mkv --segments -y
        analyze file:in.mkv --clean file:other.mkv >> other.mkv
        join in.mkv part.1-of-2.mkv part.2-of-2.mkv -y
        join part.2-of-2.mkv part.1-of-2.mkv part.2-of-2.mkv -y
        render v.mkv.segments/mine.y4m v.mkv --segments
        "
        .replace("concat:a.ts|b.ts", "'concat:a.ts|b.ts'")
        .as_str(),
    );
}

/// The library rejects them, too, not only the command line.
#[test]
fn jobs_of_the_library_refuse_too() {
    use grainfield::session::job::{Job, JobError, Request};
    let s = made("");
    let before = all(&s.path(""));
    let at = |name: &str| s.path(name).display().to_string();
    for (input, output, chain) in [
        (at("c.y4m"), at("hard.y4m"), String::new()),
        (at("c.y4m"), format!("hash:{}", at("d/c.y4m")), String::new()),
        (at("s/c.####.png"), at("l/o.####.png"), String::new()),
        ("pattern:ramp:frames=1".into(), at("card.png"), format!("sprites=image={}", at("card.png"))),
        (
            "pattern:ramp:frames=1".into(),
            format!("hash:{}", at("k.txt")),
            format!("noise=strength=@{}", at("k.txt")),
        ),
    ] {
        let recipe = chain.parse::<grainfield_filters::recipe::Recipe>().unwrap_or_default();
        let request = Request { recipe, overwrite: true, ..Request::new(&input, &output) };
        let error = Job::prepare(request).err();
        assert!(matches!(&error, Some(JobError::SameFile(_))), "{input} {output} {chain}: {error:?}");
        assert!(error.is_some_and(|e| e.is_usage()));
    }
    assert_eq!(all(&s.path("")), before);
}
