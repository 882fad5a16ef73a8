//! y4m, patterns and hashes compared with FFmpeg: the same samples, the same header lines.

use grainfield::sink::{self, Plan, Sink};
use grainfield::source::{self, Options, Slot, Source};
use grainfield_filters::frame::{ColorRange, Family, Format, Frame};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs ffmpeg and returns its standard output.
fn ffmpeg(arguments: &[&str]) -> Vec<u8> {
    let run = Command::new("ffmpeg")
        .args(["-v", "error", "-nostdin", "-y"])
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .expect("ffmpeg is needed for this test");
    assert!(run.status.success(), "ffmpeg {arguments:?}");
    run.stdout
}

/// The output of ffmpeg's framemd5, frame by frame.
fn framemd5(arguments: &[&str]) -> Vec<String> {
    let text = String::from_utf8(ffmpeg(&[arguments, &["-f", "framemd5", "-"]].concat())).unwrap();
    let sums =
        text.lines().filter(|l| !l.starts_with('#')).map(|l| l.rsplit(", ").next().unwrap().to_string());
    sums.map(|s| s.trim().to_string()).collect()
}

fn slot() -> Slot {
    Slot::default()
}

/// The hashes of all remaining frames.
fn hashes(source: &mut dyn Source) -> Vec<String> {
    let (mut slot, decoder, mut all) = (slot(), source.decoder(), Vec::new());
    while let Some(stamp) = source.next(&mut slot).unwrap() {
        decoder.decode(&stamp, &mut slot).unwrap();
        all.push(format!("{:032x}", slot.frame.digest()));
    }
    all
}

fn copy(mut sink: Box<dyn Sink>, source: &mut dyn Source) {
    let (mut slot, decoder, encoder) = (slot(), source.decoder(), sink.encoder());
    let mut encoded = Vec::new();
    while let Some(stamp) = source.next(&mut slot).unwrap() {
        decoder.decode(&stamp, &mut slot).unwrap();
        encoded.clear();
        encoder.encode(&stamp, &slot.frame, &mut encoded).unwrap();
        sink.write(&stamp, &slot.frame, &encoded).unwrap();
    }
    sink.finish().unwrap();
}

fn plan(source: &dyn Source) -> Plan {
    let info = source.info();
    Plan {
        format: info.format,
        carried: info.carried.clone(),
        untouched_format: true,
        overwrite: true,
        frames: None,
        ends: grainfield::journal::SourceEnds::BOTH,
        cuts: Default::default(),
        encoding: sink::Encoding::default(),
        journal: Default::default(),
        lost_in_video: Vec::new(),
        timecode: None,
        clock: None,
        pix_fmt: None,
    }
}

fn open(path: &Path) -> Box<dyn Source> {
    source::y4m::open(path.as_os_str(), &Options::default()).unwrap()
}

const SIGNAL: &str = "testsrc2=size=70x38:rate=30000/1001:duration=0.2";

/// Pixel formats that FFmpeg writes as y4m, and options that change the header.
const WRITTEN: [(&str, &[&str]); 27] = [
    ("yuv420p", &[]),
    ("yuv420p", &["-chroma_sample_location", "left"]),
    ("yuv420p", &["-chroma_sample_location", "topleft"]),
    ("yuv420p", &["-chroma_sample_location", "center"]),
    ("yuv420p", &["-color_range", "pc"]),
    ("yuv420p", &["-color_range", "tv"]),
    ("yuv420p", &["-field_order", "tt"]),
    ("yuv420p", &["-field_order", "bb"]),
    ("yuv420p", &["-vf", "setsar=16/11"]),
    ("yuv411p", &[]),
    ("yuv422p", &[]),
    ("yuv444p", &[]),
    ("yuva444p", &[]),
    ("gray", &[]),
    ("gray9", &[]),
    ("gray10", &[]),
    ("gray12", &[]),
    ("gray16", &[]),
    ("yuv420p9", &[]),
    ("yuv420p10", &[]),
    ("yuv422p10", &[]),
    ("yuv444p10", &[]),
    ("yuv420p12", &[]),
    ("yuv422p12", &[]),
    ("yuv444p14", &[]),
    ("yuv422p16", &[]),
    ("yuv444p16", &[]),
];

#[test]
fn the_output_of_ffmpeg_is_read_and_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let (theirs, ours) = (dir.path().join("theirs.y4m"), dir.path().join("ours.y4m"));
    for (name, options) in WRITTEN {
        let t = theirs.to_str().unwrap();
        let write = ["-f", "lavfi", "-i", SIGNAL];
        let format = ["-pix_fmt", name, "-strict", "-1", "-f", "yuv4mpegpipe", t];
        ffmpeg(&[&write[..], options, &format[..]].concat());
        let mut source = open(&theirs);
        let info = source.info().clone();
        assert_eq!((info.format.name().as_str(), info.last), (name, Some(5)), "{options:?}");
        assert!(info.notes.is_empty(), "{:?}", info.notes);
        let sums = hashes(&mut *source);
        assert_eq!(sums, framemd5(&["-i", t]), "{name} {options:?}");

        // unchanged, byte for byte
        source.seek(0).unwrap();
        copy(grainfield::format::y4m::sink::create(ours.as_os_str(), &plan(&*source)).unwrap(), &mut *source);
        assert_eq!(std::fs::read(&ours).unwrap(), std::fs::read(&theirs).unwrap(), "{name} {options:?}");

        // with our own header, ffmpeg and our reader give the same result
        source.seek(0).unwrap();
        let composed = Plan { carried: None, ..plan(&*source) };
        assert_eq!(grainfield::format::y4m::sink::accepts(&info.format), info.format, "{name} {options:?}");
        copy(grainfield::format::y4m::sink::create(ours.as_os_str(), &composed).unwrap(), &mut *source);
        let bytes = std::fs::read(&ours).unwrap();
        assert!(bytes.iter().position(|&b| b == b'\n').unwrap() < 79);
        let again = open(&ours).info().format;
        assert_eq!(again, info.format, "{name} {options:?}");
        assert_eq!(framemd5(&["-i", ours.to_str().unwrap()]), sums, "{name} {options:?}");
    }
}

#[test]
fn pipes_and_files_give_the_same_frames() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.y4m");
    ffmpeg(&["-f", "lavfi", "-i", "testsrc2=size=322x182:rate=25:duration=2", path.to_str().unwrap()]);
    let mut source = open(&path);
    let all = hashes(&mut *source);
    assert_eq!(all.len(), 50);
    let file = std::fs::File::open(&path).unwrap();
    let mut pipe = source::y4m::from_reader("pipe".into(), Box::new(file), &Options::default()).unwrap();
    assert_eq!(hashes(&mut *pipe), all);
    let mut slot = slot();
    for n in [49, 0, 20, 21, 3, 48, 20] {
        source.seek(n).unwrap();
        assert_eq!(source.next(&mut slot).unwrap().unwrap().number, n);
        assert_eq!(format!("{:032x}", slot.frame.digest()), all[n as usize]);
    }
}

#[test]
fn hashes_equal_framemd5() {
    let names = [
        "gray",
        "gray10le",
        "gray16le",
        "ya8",
        "ya16le",
        "yuv420p",
        "yuv410p",
        "yuv440p",
        "yuv420p10le",
        "yuva422p12le",
        "yuva420p",
        "gbrp",
        "gbrap",
        "gbrp9le",
        "gbrap16le",
        "gbrpf32le",
        "gbrapf32le",
        "grayf32le",
    ];
    for name in names {
        let input =
            ["-f", "lavfi", "-i", "testsrc2=size=36x20:rate=5:duration=0.2,scale=35:19", "-pix_fmt", name];
        let raw = ffmpeg(&[&input[..], &["-f", "rawvideo", "-"]].concat());
        let mut frame = Frame::new(Format::from_name(name, 35, 19).unwrap());
        let format = *frame.format();
        let size = format.depth.bytes();
        let packed = format.family == Family::Gray && format.has_alpha();
        let mut at = 0;
        for p in 0..format.planes() {
            let (w, h) = format.plane_size(p);
            for y in 0..h {
                let row = frame.row_bytes_mut(p, y);
                if packed {
                    for x in 0..w {
                        let from = ((y * w + x) * 2 + p) * size;
                        row[x * size..][..size].copy_from_slice(&raw[from..from + size]);
                    }
                } else {
                    row.copy_from_slice(&raw[at..at + w * size]);
                    at += w * size;
                }
            }
        }
        assert_eq!(vec![format!("{:032x}", frame.digest())], framemd5(&input), "{name}");
    }
}

#[test]
fn parameters_and_strange_tags_are_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a.y4m"), dir.path().join("b.y4m"));
    let mut bytes =
        b"YUV4MPEG2 XONE=1 C420paldv  H4 W6 Im F0:0 XCOLORRANGE=FULL A0:0 XTWO XLENGTH=2\nFRAME Itpi Xa=b\n"
            .to_vec();
    bytes.extend(0..36);
    bytes.extend_from_slice(b"FRAME\n");
    bytes.extend(36..72);
    std::fs::write(&first, &bytes).unwrap();
    let mut source = open(&first);
    copy(grainfield::format::y4m::sink::create(second.as_os_str(), &plan(&*source)).unwrap(), &mut *source);
    assert_eq!(std::fs::read(&second).unwrap(), bytes);

    // a header that would be wrong is not repeated
    source.seek(0).unwrap();
    let mut changed = plan(&*source);
    changed.format.range = ColorRange::Limited;
    copy(grainfield::format::y4m::sink::create(second.as_os_str(), &changed).unwrap(), &mut *source);
    let text = String::from_utf8(std::fs::read(&second).unwrap()).unwrap();
    assert!(
        text.starts_with("YUV4MPEG2 W6 H4 F25:1 Im A0:0 C420paldv XCOLORRANGE=LIMITED\nFRAME Itpi Xa=b\n")
    );
}

#[test]
fn patterns_pass_through_ffmpeg() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p.y4m");
    for name in ["bars", "ramp", "grey", "zoneplate", "checker"] {
        for format in ["yuv420p", "yuv422p10", "yuv444p16", "gray16", "yuva444p"] {
            let text = format!("pattern:{name}:size=67x35:frames=3:format={format}");
            let mut source = source::pattern::open(OsStr::new(&text), &Options::default()).unwrap();
            let sums = hashes(&mut *source);
            assert_eq!(sums.len(), 3);
            source.seek(0).unwrap();
            copy(
                grainfield::format::y4m::sink::create(path.as_os_str(), &plan(&*source)).unwrap(),
                &mut *source,
            );
            assert_eq!(hashes(&mut *open(&path)), sums, "{text}");
            assert_eq!(framemd5(&["-i", path.to_str().unwrap()]), sums, "{text}");
        }
    }
}

#[test]
fn an_abandoned_sink_leaves_a_playable_file() {
    let dir = tempfile::tempdir().unwrap();
    let (path, partial) = (dir.path().join("p.y4m"), dir.path().join("p.partial.y4m"));
    let mut source =
        source::pattern::open(OsStr::new("bars:size=64x36:frames=9"), &Options::default()).unwrap();
    let mut sink = grainfield::format::y4m::sink::create(path.as_os_str(), &plan(&*source)).unwrap();
    let (mut slot, decoder) = (slot(), source.decoder());
    for _ in 0..4 {
        let stamp = source.next(&mut slot).unwrap().unwrap();
        decoder.decode(&stamp, &mut slot).unwrap();
        sink.write(&stamp, &slot.frame, &[]).unwrap();
    }
    let left = sink.abandon().unwrap();
    assert_eq!((left.partial, left.frames), (Some(partial.clone()), Some(4)));
    assert!(!path.exists());
    assert_eq!(open(&partial).info().last, Some(3));
    assert_eq!(framemd5(&["-i", partial.to_str().unwrap()]).len(), 4);
    // nothing was written, so no file is left
    let sink = grainfield::format::y4m::sink::create(path.as_os_str(), &plan(&*source)).unwrap();
    let left = sink.abandon().unwrap();
    assert_eq!((left.partial, left.frames), (None, Some(0)));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn hash_files_have_a_line_a_frame() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sums.txt");
    let text = OsStr::new("pattern:zoneplate:size=16x16:frames=3:format=gbrap");
    let mut source = source::pattern::open(text, &Options::default()).unwrap();
    let sums = hashes(&mut *source);
    source.seek(0).unwrap();
    copy(grainfield::format::hash::create(path.as_os_str(), &plan(&*source)).unwrap(), &mut *source);
    let lines: String = sums.iter().enumerate().map(|(n, s)| format!("{n} {s}\n")).collect();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), lines);
}
