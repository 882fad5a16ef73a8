//! Files that declare absurd sizes: pictures a million pixels wide in a hundred bytes, headers of 10 MB, rates of zero.
//! The program runs in an address space that is too small for the declared size, so that an allocation by an unchecked
//! size ends the run with a signal and fails the test; so does a timeout. The expected result is exit code 1 and a
//! message with the file's name.
#![cfg(target_os = "linux")]

use crate::util::Session;

/// The program, its libraries, a thread and its buffers need about 300 MiB of address space.
const SPACE: usize = 640;

/// The bytes of a small picture that the program wrote.
fn good(s: &Session, name: &str, pix_fmt: &str) -> Vec<u8> {
    s.run(&format!("render pattern:bars:size=24x18:frames=1 {name} --pix-fmt {pix_fmt} -q -y")).ok();
    s.read(name)
}

/// The position of a byte string in a file.
fn find(file: &[u8], text: &[u8]) -> usize {
    file.windows(text.len()).position(|w| w == text).unwrap_or_else(|| panic!("no {}", text.escape_ascii()))
}

fn put(file: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

/// What the program has to do with a file.
#[derive(PartialEq)]
enum Must {
    Read,
    Reject,
    /// Either: the libraries can repair some.
    End,
}

/// Files that one run of the program reads, which is much shorter than a run for each.
struct Files {
    session: Session,
    all: Vec<(String, Must)>,
}

impl Files {
    fn new() -> Files {
        Files { session: Session::new(), all: Vec::new() }
    }

    fn add(&mut self, name: &str, bytes: &[u8], must: Must) {
        let name = format!("{}-{name}", self.all.len());
        self.session.write(&format!("in/{name}"), bytes);
        self.all.push((name, must));
    }

    /// Adds a file that is rejected, with its name.
    fn refused(&mut self, name: &str, bytes: &[u8]) {
        self.add(name, bytes, Must::Reject);
    }

    /// Reads all in one address space of this size in MiB.
    fn run(self, space: usize) {
        let line = "batch 'in/*' --to 'out/{name}.y4m' --jobs 1 --threads 1";
        let out = self.session.within(space, line, b"");
        let text = &out.err;
        assert_eq!(out.code, Some(i32::from(text.contains("error: "))), "{text}");
        for bad in ["panicked", "internal error", "memory allocation"] {
            assert!(!text.contains(bad), "{text}");
        }
        for (name, must) in &self.all {
            let job = format!("error: in/{name}: ");
            let rejected = text.lines().any(|l| l.strip_prefix(&job).is_some_and(|why| why.contains(name)));
            let done = text.contains(&format!("in/{name}: done"));
            assert!(rejected != done, "{name}: rejected: {rejected}, done: {done}\n{text}");
            assert!(
                *must == Must::End || rejected == (*must == Must::Reject),
                "{name}: done: {done}\n{text}"
            );
        }
    }
}

/// Sides that no picture of a few hundred bytes has.
const SIDES: [(u32, u32); 7] = [
    (1 << 31, 1),
    (0x7fff_ffff, 0x7fff_ffff),
    (u32::MAX, u32::MAX),
    (0, 7),
    (60_000, 17_000),
    // within the limits of a picture, but far more than the file can contain
    (60_000, 3_900),
    (3_900, 60_000),
];

#[test]
fn whole_files_pass() {
    let mut files = Files::new();
    for (name, format) in
        [("a.png", "gbrp"), ("a.exr", "gbrpf32"), ("a.tif", "gbrp16"), ("a.jpg", "gbrp"), ("a.ppm", "gbrp")]
    {
        let bytes = good(&files.session, name, format);
        files.add(name, &bytes, Must::Read);
    }
    files.run(SPACE);
}

#[test]
fn png_and_jpeg_and_webp() {
    let mut files = Files::new();
    let png = good(&files.session, "good.png", "gbrp16");
    for (w, h) in SIDES {
        let sides = [w.to_be_bytes(), h.to_be_bytes()].concat();
        files.refused("bad.png", &put(&png, 16, &sides));
        // with a valid checksum, and nothing after it
        let mut head = put(&png, 16, &sides)[..33].to_vec();
        let sum = crc32fast::hash(&head[12..29]).to_be_bytes();
        head[29..].copy_from_slice(&sum);
        files.refused("cut.png", &head);
    }
    // a chunk longer than any file: before the samples, and that of the samples, which are complete
    files.refused(
        "long.png",
        &put(&png, find(&png, b"IDAT") - 8 - 4, &[0x7f, 0xff, 0xff, 0xff])[..find(&png, b"IDAT")],
    );
    files.add("idat.png", &put(&png, find(&png, b"IDAT") - 4, &[0x7f, 0xff, 0xff, 0xff]), Must::End);

    let jpeg = good(&files.session, "good.jpg", "gbrp");
    let frame = find(&jpeg, &[0xff, 0xc0]) + 5;
    for (h, w) in [(65_535u16, 65_535u16), (65_500, 5000), (0, 65_535), (9, 0)] {
        files.refused("bad.jpg", &put(&jpeg, frame, &[h.to_be_bytes(), w.to_be_bytes()].concat()));
    }

    let webp = good(&files.session, "good.webp", "gbrp");
    let head = find(&webp, b"VP8L");
    // 14 bits each of width and height, minus one, which a simple picture may have in a few bytes
    let wide = put(&webp, head + 9, &[0xff, 0xff, 0xff, 0x1f]);
    let mut larger = Files::new();
    larger.refused("wide.webp", &wide);
    larger.run(4096);
    files.refused("chunk.webp", &put(&webp, head + 4, &[0xff, 0xff, 0xff, 0xff])[..head + 12]);
    files.refused("riff.webp", &put(&webp, 4, &[0xfe, 0xff, 0xff, 0xff])[..40]);
    // an extended head with a canvas of 2^24 by 2^24
    let mut canvas = b"RIFF\x2a\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
    canvas.extend([0xff; 6]);
    canvas.extend(&webp[head..]);
    files.refused("canvas.webp", &canvas);
    files.run(SPACE);
}

#[test]
fn exr() {
    let mut files = Files::new();
    let exr = good(&files.session, "good.exr", "gbrpf32");
    for window in ["dataWindow\0box2i\0", "displayWindow\0box2i\0"] {
        let at = find(&exr, window.as_bytes()) + window.len() + 4;
        for box2i in [
            [0, 0, i32::MAX - 1, 0],
            [0, 0, i32::MAX, i32::MAX],
            [i32::MIN, i32::MIN, i32::MAX, i32::MAX],
            [0, 0, 60_000, 17_000],
            [0, 0, 59_999, 3_899],
            [0, 0, 3_899, 59_999],
            [5, 5, -5, -5],
        ] {
            let bytes: Vec<u8> = box2i.iter().flat_map(|v: &i32| v.to_le_bytes()).collect();
            let bad = put(&exr, at, &bytes);
            // the display window is only a hint
            if window.starts_with("data") {
                files.refused("bad.exr", &bad);
            } else {
                files.add("wish.exr", &bad, Must::End);
            }
        }
    }
    // an attribute longer than the file, and a block
    files.refused(
        "long.exr",
        &put(&exr, find(&exr, b"compression\0compression\0") + 24, &[0xff, 0xff, 0xff, 0x7f]),
    );
    let at = find(&exr, b"channels\0chlist\0") + 16;
    files.refused("channels.exr", &put(&exr, at, &[0xff, 0xff, 0xff, 0x7f]));
    files.run(SPACE);
}

#[test]
fn tiff() {
    let mut files = Files::new();
    let tiff = good(&files.session, "good.tif", "gbrp16");
    let long = |at: usize| u32::from_le_bytes(tiff[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(&tiff[..4], b"II*\0");
    let entries = long(4) + 2;
    let count = usize::from(tiff[long(4)]);
    let entry = |tag: u16| {
        let at = (0..count).map(|i| entries + 12 * i);
        at.into_iter()
            .find(|&at| tiff[at..at + 2] == tag.to_le_bytes())
            .unwrap_or_else(|| panic!("no tag {tag}"))
    };
    // each as one LONG
    let set = |file: &[u8], tag: u16, value: u32| {
        let head =
            [4u16.to_le_bytes().to_vec(), 1u32.to_le_bytes().to_vec(), value.to_le_bytes().to_vec()].concat();
        put(file, entry(tag) + 2, &head)
    };
    for (w, h) in SIDES {
        // with the original rows per strip, and with one strip for all
        let sides = set(&set(&tiff, 256, w), 257, h);
        files.refused("bad.tif", &sides);
        files.refused("strip.tif", &set(&sides, 278, h.max(1)));
    }
    files.refused("strips.tif", &set(&tiff, 279, u32::MAX));
    files.refused("offset.tif", &set(&tiff, 273, u32::MAX - 7));
    files.refused("rows.tif", &set(&tiff, 278, 0));
    // a list of four thousand million strips
    files.refused("count.tif", &put(&tiff, entry(273) + 4, &[0xff; 4]));
    files.refused("samples.tif", &set(&tiff, 277, 65_535));
    files.refused("directory.tif", &put(&tiff, 4, &[0xff, 0xff, 0xff, 0x7f]));
    files.run(SPACE);
}

#[test]
fn film() {
    let mut files = Files::new();
    let cineon = good(&files.session, "good.cin", "gbrp10");
    for (w, h) in SIDES {
        // width and height of the first channel, and of all
        let mut bad = cineon.clone();
        for channel in 0..3 {
            bad = put(&bad, 200 + 28 * channel, &[w.to_be_bytes(), h.to_be_bytes()].concat());
        }
        files.refused("bad.cin", &bad);
        files.refused("bad.ppm", format!("P6\n{w} {h}\n255\nabc").as_bytes());
    }
    if cfg!(feature = "ffmpeg") {
        let dpx = good(&files.session, "good.dpx", "gbrp10");
        let jp2 = good(&files.session, "good.j2k", "gbrp");
        for (w, h) in SIDES {
            // in either byte order
            for sides in
                [[w.to_be_bytes(), h.to_be_bytes()].concat(), [w.to_le_bytes(), h.to_le_bytes()].concat()]
            {
                files.refused("bad.dpx", &put(&dpx, 772, &sides));
            }
            files.refused("bad.j2k", &put(&jp2, 8, &[w.to_be_bytes(), h.to_be_bytes()].concat()));
        }
    }
    files.run(SPACE);
}

#[test]
fn y4m() {
    let (s, mut files) = (Session::new(), Files::new());
    let header = |tags: &str| format!("YUV4MPEG2 {tags}\nFRAME\nabc").into_bytes();
    for rate in
        ["0:1", "25:0", "-25:1", "25:-1", "2147483648:1", "1:2147483648", "99999999999999999999:1", "0"]
    {
        files.refused("rate.y4m", &header(&format!("W2 H1 F{rate} Cmono")));
    }
    for tags in ["W-4 H4", "W99999999999999999999 H2", "W4", "W4 H4 A-1:0 C420p99"] {
        files.refused("tags.y4m", &header(tags));
    }
    let mut both = SIDES.map(|(w, h)| header(&format!("W{w} H{h} F25:1 Cmono"))).to_vec();
    // 10 MB of header: without an end, of one tag, of many
    let long = 10 << 20;
    both.push([b"YUV4MPEG2 W2 H1 X".as_slice(), &vec![b'a'; long]].concat());
    both.push([b"YUV4MPEG2 W2 H1 X".as_slice(), &vec![b'a'; long], b"\nFRAME\nab"].concat());
    both.push([b"YUV4MPEG2 W2 H1".as_slice(), &b" X1".repeat(long / 3), b"\nFRAME\nab"].concat());
    both.push([b"YUV4MPEG2 W2 H1 Cmono\nFRAME ".as_slice(), &vec![b'a'; long], b"\nab"].concat());
    for file in both {
        files.refused("bad.y4m", &file);
        // the length of a pipe is unknown: a frame may use up to the limit of 2 GiB
        if !file.starts_with(b"YUV4MPEG2 W60000") && !file.starts_with(b"YUV4MPEG2 W3900") {
            let out = s.within(SPACE, "render - null: -q --threads 1", &file).ends(1);
            assert!(!out.err.contains("memory allocation"), "{}", out.err);
        }
    }
    files.run(SPACE);
    // rates of inputs without one
    good(&s, "f.0001.png", "gbrp");
    for rate in ["0", "24/0", "nan"] {
        s.within(SPACE, &format!("render f.####.png null: -q --rate={rate}"), b"").ends(2).says("--rate");
        s.within(SPACE, &format!("render pattern:bars:rate={rate} null: -q"), b"").ends(1).says("rate");
    }
    s.within(SPACE, "render pattern:bars:size=2147483648x2 null: -q", b"").ends(1);
    s.within(SPACE, "render pattern:bars:size=65536x65536 null: -q", b"").ends(1);
}

#[cfg(feature = "ffmpeg")]
#[test]
fn containers() {
    let (s, mut files) = (Session::new(), Files::new());
    let clip = "-v error -f lavfi -i testsrc2=size=64x48:rate=25:duration=0.4";
    s.tool("ffmpeg", &format!("{clip} -c:v mjpeg good.avi"));
    s.tool("ffmpeg", &format!("{clip} -c:v libx264 good.mp4"));
    s.tool("ffmpeg", &format!("{clip} -c:v rawvideo good.mkv"));
    let mut fine = |name: &str, bytes: &[u8]| files.add(name, bytes, Must::End);
    let avi = s.read("good.avi");
    let stream = find(&avi, b"strh") + 8;
    for (scale, rate) in [(0, 25), (1, 0), (0, 0), (u32::MAX, 1), (1, u32::MAX), (i32::MIN as u32, 3)] {
        fine("rate.avi", &put(&avi, stream + 20, &[scale.to_le_bytes(), rate.to_le_bytes()].concat()));
    }
    let (format, mp4, mkv) = (find(&avi, b"strf") + 8, s.read("good.mp4"), s.read("good.mkv"));
    for (w, h) in SIDES {
        fine("sides.avi", &put(&avi, format + 4, &[w.to_le_bytes(), h.to_le_bytes()].concat()));
    }
    let entry = find(&mp4, b"avc1");
    // the brand has the same letters
    let entry = entry + 4 + mp4[entry + 4..].windows(4).position(|w| w == b"avc1").unwrap();
    fine("sides.mp4", &put(&mp4, entry + 28, &[0xff; 4]));
    for name in ["mdhd", "mvhd"] {
        for scale in [[0; 4], [0xff; 4]] {
            fine("scale.mp4", &put(&mp4, find(&mp4, name.as_bytes()) + 16, &scale));
        }
    }
    for name in ["stts", "stsz", "stco", "stsc", "ctts"] {
        let at = find(&mp4, name.as_bytes()) + if name == "stsz" { 12 } else { 8 };
        fine("count.mp4", &put(&mp4, at, &[0x7f, 0xff, 0xff, 0xff]));
    }
    // PixelWidth, PixelHeight of one byte each; then DefaultDuration
    for (id, value) in [(&[0xb0, 0x81][..], 0xff), (&[0xba, 0x81], 0), (&[0x23, 0xe3, 0x83], 0)] {
        if let Some(at) = mkv.windows(id.len()).position(|w| w == id) {
            fine("field.mkv", &put(&mkv, at + id.len(), &[value]));
        }
    }
    files.run(2 * SPACE);
}
