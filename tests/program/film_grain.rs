//! Grain of AV1 streams: a picture decoded without grain and filtered by `av1grain` equals the picture decoded with
//! grain. libaom encodes, libdav1d decodes, both in FFmpeg.

use crate::util::Session;
use grainfield_filters::film_grain::{ChromaIndex, Params, Segment, Table, seed_of_frame};
use std::fmt::Write;

/// The frame rate of all clips here: a frame every 417083 1/3 ticks.
const RATE: (i64, i64) = (24_000, 1001);

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) * n) >> 31
    }

    fn curve(&mut self, count: u64) -> Vec<[u8; 2]> {
        let mut x: Vec<u8> = (0..count).map(|_| self.below(256) as u8).collect();
        x.sort_unstable();
        x.dedup();
        x.into_iter().map(|x| [x, self.below(256) as u8]).collect()
    }

    /// Parameters that streams of every format can carry.
    fn params(&mut self) -> Params {
        let lag = self.below(4) as u8;
        let reach = [127, 40, 12][self.below(3) as usize];
        let mut coefficients = [0, 1, 2].map(|p| {
            let count = Params::coefficient_count(lag, p);
            (0..count).map(|_| (self.below(2 * reach + 1) as i64 - reach as i64) as i8).collect::<Vec<_>>()
        });
        coefficients[0].iter_mut().for_each(|c| *c = (*c).max(-127));
        let count = 1 + self.below(14);
        let chroma = if self.below(3) == 0 { [0, 0] } else { [0; 2].map(|_| 1 + self.below(10)) };
        let index = |r: &mut Random| ChromaIndex {
            own: r.below(256) as u8,
            luma: r.below(256) as u8,
            offset: r.below(512) as u16,
        };
        Params {
            points: [self.curve(count), self.curve(chroma[0]), self.curve(chroma[1])],
            lag,
            coefficients,
            coefficient_shift: 6 + self.below(4) as u8,
            grain_shift: self.below(4) as u8,
            scaling_shift: 8 + self.below(4) as u8,
            chroma_from_luma: chroma == [0, 0] && self.below(2) == 0,
            overlap: self.below(4) > 0,
            index: [index(self), index(self)],
            clip: false,
        }
    }
}

/// A table with different parameters for each frame, and the seeds of the encoder.
fn table(frames: i64, seed: u64) -> Table {
    let mut random = Random(seed);
    let first = 1 + random.below(65_535) as u16;
    let time = |n: i64| n * 10_000_000 * RATE.1 / RATE.0;
    let segment = |n| Segment {
        start: time(n),
        end: time(n + 1),
        apply: true,
        seed: seed_of_frame(first, n as u64),
        params: Some(random.params()),
    };
    Table { segments: (0..frames).map(segment).collect() }
}

/// Encodes a moving picture with grain options of libaom, decodes it with and without grain, and compares that with the
/// filter.
fn same(s: &Session, format: &str, (width, height): (u32, u32), frames: i64, grain: &str, filter: &str) {
    let rate = format!("{}/{}", RATE.0, RATE.1);
    let mut line =
        format!("-v error -y -f lavfi -i testsrc2=size={width}x{height}:rate={rate} -frames:v {frames} ");
    // Noise makes every code, limited to legal ones so that clipping is visible.
    write!(
        line,
        "-vf noise=alls=60:allf=t,format={format} -c:v libaom-av1 -cpu-used 8 -crf 40 -lag-in-frames 0 "
    )
    .unwrap();
    s.tool("ffmpeg", &format!("{line} -aom-params {grain} a.mkv"));
    same_decoded(s, &format!("{format} {width}x{height} {grain}"), frames, filter);
}

/// Decodes a stream with and without its grain, and compares that with the filter.
fn same_decoded(s: &Session, what: &str, frames: i64, filter: &str) {
    let decode = |on: u8, name: &str| {
        s.tool("ffmpeg", &format!("-v error -y -c:v libdav1d -filmgrain {on} -i a.mkv -strict -1 {name}"));
    };
    decode(0, "off.y4m");
    decode(1, "on.y4m");
    s.run(&format!("render off.y4m -f {filter} ours.y4m -y")).ok();
    let [off, on, ours] = ["off.y4m", "on.y4m", "ours.y4m"].map(|name| s.read(name));
    let samples = |y4m: &[u8]| {
        let mut rest = y4m;
        let mut all = Vec::new();
        let line = |rest: &mut &[u8]| {
            let end = rest.iter().position(|&b| b == b'\n').unwrap() + 1;
            *rest = &rest[end..];
        };
        line(&mut rest);
        let bytes = rest.len() / frames as usize;
        for frame in rest.chunks_exact(bytes) {
            let mut frame = frame;
            line(&mut frame);
            all.push(frame.to_vec());
        }
        assert_eq!(all.len(), frames as usize, "{what}");
        all
    };
    let [off, on, ours] = [samples(&off), samples(&on), samples(&ours)];
    for (n, ((off, on), ours)) in off.iter().zip(&on).zip(&ours).enumerate() {
        let first = on.iter().zip(ours).position(|(a, b)| a != b);
        assert_eq!(first, None, "{what}: frame {n} differs from this byte on");
        assert!(off != on || what.contains("table"), "{what}: the stream has grain");
    }
    assert!(off != on, "{what}: the stream has grain");
}

fn vector(s: &Session, number: u32, format: &str, size: (u32, u32)) {
    same(s, format, size, 2, &format!("film-grain-test={number}"), &format!("av1grain=vector={number}"));
}

fn random_tables(s: &Session, format: &str, size: (u32, u32), frames: i64, seed: u64) {
    s.write("t.tbl", table(frames, seed).to_string());
    same(s, format, size, frames, "film-grain-table=t.tbl", "av1grain=table=t.tbl");
}

#[test]
fn grain_is_the_decoders() {
    let s = Session::new();
    for (number, format, size) in [
        (1, "yuv420p", (97, 71)),
        (5, "yuv444p10le", (33, 65)),
        (11, "yuv422p10le", (130, 99)),
        (15, "yuv420p12le", (66, 34)),
        (14, "gray", (97, 71)),
    ] {
        vector(&s, number, format, size);
    }
    for (format, size, seed) in
        [("yuv420p", (97, 71), 1), ("yuv420p10le", (66, 34), 2), ("yuv444p", (35, 67), 3)]
    {
        random_tables(&s, format, size, 8, seed);
    }
}

/// Decoders add grain to coded samples: after filters in 16 bits, and if depth is lost, the picture has the output's
/// depth before grain is added.
#[test]
fn grain_is_added_at_the_depth_of_the_output() {
    let s = Session::new();
    let clip = "pattern:zoneplate:size=97x71:frames=2:format=yuv420p10";
    let last = "dither=mode=none";
    for (before, format) in [("blur=sigma=30,", "yuv420p10"), ("", "yuv420p"), ("blur=sigma=30,", "yuv420p")]
    {
        let chain = |steps: &str| format!("{before}{steps}{last} --pix-fmt {format} -y");
        s.run(&format!("render {clip} mid.y4m -f {}", chain(""))).ok();
        s.run("render mid.y4m want.y4m -f av1grain=vector=3 -y").ok();
        s.run(&format!("render {clip} got.y4m -f {}", chain("av1grain=vector=3,"))).ok();
        assert!(s.read("got.y4m") == s.read("want.y4m"), "{before} {format}");
        assert!(s.read("got.y4m") != s.read("mid.y4m"));
        // Later filters work in 16 bits again.
        s.run("render mid.y4m want.y4m -f av1grain=vector=3,invert,dither=mode=none -y").ok();
        s.run(&format!("render {clip} got.y4m -f {}", chain("av1grain=vector=3,invert,"))).ok();
        assert!(s.read("got.y4m") == s.read("want.y4m"), "{before} {format}, and a filter behind");
    }
}

#[test]
fn libaom_carries_a_table() {
    let s = Session::new();
    let tables = table(4, 7).to_string();
    // As other programs write it.
    s.write("t.tbl", tables.replace('\n', "\r\n"));
    let clip = format!("pattern:zoneplate:size=97x71:frames=4:rate={}/{}:format=yuv420p", RATE.0, RATE.1);
    let render = |codec: &str| format!("render {clip} a.mkv --codec {codec} --film-grain-table t.tbl -y");
    s.run(&format!("{} --preset 8 --codec-opt lag-in-frames=0", render("libaom-av1"))).ok();
    same_decoded(&s, "a table by --film-grain-table", 4, "av1grain=table=t.tbl");
    // The table is read, so it must not be written, under any name.
    s.write("t.mkv", s.read("t.tbl"));
    let itself = format!("render {clip} t.mkv --codec libaom-av1 --film-grain-table t.mkv -y");
    s.run(&itself).ends(2).says("the film grain table").says("are the same file");
    assert_eq!(s.read("t.mkv"), s.read("t.tbl"));
    // Chroma grain has no meaning for a gray picture, at which libaom would abort.
    let gray = clip.replace("yuv420p", "gray");
    s.run(&format!("render {gray} g.mkv --codec libaom-av1 --preset 8 --film-grain-table t.tbl")).ok();
    // These would encode without grain and without an error.
    for codec in ["libx264", "libsvtav1"] {
        s.run(&render(codec)).ends(2).says("libaom-av1");
    }
    s.write("t.tbl", "filmgrn1\nE 0\n");
    s.run(&render("libaom-av1")).ends(2).says("t.tbl: line 2");
}

/// All vectors in all formats and many sizes, and 500 tables: `./x soak`.
#[test]
#[ignore = "minutes; ./x soak runs it"]
fn grain_is_the_decoders_always() {
    let s = Session::new();
    let formats = [
        "gray",
        "gray10le",
        "gray12le",
        "yuv420p",
        "yuv420p10le",
        "yuv420p12le",
        "yuv422p",
        "yuv422p10le",
        "yuv422p12le",
        "yuv444p",
        "yuv444p10le",
        "yuv444p12le",
    ];
    let sizes = [(97, 71), (66, 34), (130, 99), (33, 65), (352, 198)];
    for (i, format) in formats.into_iter().enumerate() {
        for number in 1..=16 {
            vector(&s, number, format, sizes[(i + number as usize) % sizes.len()]);
        }
    }
    for seed in 0..25 {
        let i = seed as usize;
        random_tables(&s, formats[3 + i % 10], sizes[i % sizes.len()], 20, 1000 + seed);
    }
}
