//! DPX: headers made byte by byte here, after SMPTE ST 268, go through a render.

use super::holes::stamp;
use super::{noisy, one, plan, write};
use crate::util::Session;
use grainfield_filters::frame::{Format, Frame, Transfer};

fn word(file: &mut [u8], at: usize, value: u32, little: bool) {
    file[at..at + 4].copy_from_slice(&if little { value.to_le_bytes() } else { value.to_be_bytes() });
}

fn short(file: &mut [u8], at: usize, value: u16, little: bool) {
    file[at..at + 2].copy_from_slice(&if little { value.to_le_bytes() } else { value.to_be_bytes() });
}

/// A scan of 4x2 pixels, 10 bits, filled by method A, with every header of the standard, and user data.
fn scan(little: bool, frame: u32) -> Vec<u8> {
    let mut f = vec![0; 2048 + 44 + 32];
    let put = |f: &mut [u8], at: usize, v| word(f, at, v, little);
    put(&mut f, 0, 0x5344_5058);
    put(&mut f, 4, 2048 + 44);
    f[8..12].copy_from_slice(b"V2.0");
    put(&mut f, 16, 2048 + 44 + 32);
    put(&mut f, 20, 1);
    put(&mut f, 24, 1664);
    put(&mut f, 28, 384);
    put(&mut f, 32, 44);
    f[36..48].copy_from_slice(b"scan.001.dpx");
    f[136..155].copy_from_slice(b"2024:06:11:10:20:30");
    f[160..167].copy_from_slice(b"Scanity");
    f[260..267].copy_from_slice(b"Reel 12");
    f[460..470].copy_from_slice(b"Studio One");
    put(&mut f, 660, u32::MAX);
    short(&mut f, 770, 1, little);
    put(&mut f, 772, 4);
    put(&mut f, 776, 2);
    put(&mut f, 784, 95);
    put(&mut f, 788, 0.02f32.to_bits());
    put(&mut f, 792, 685);
    put(&mut f, 796, 2.046f32.to_bits());
    // R, G, B; printing density and its colorimetry; 10 bits; padded to 32 bits
    f[800..804].copy_from_slice(&[50, 1, 1, 10]);
    short(&mut f, 804, 1, little);
    put(&mut f, 808, 2048 + 44);
    f[820..824].copy_from_slice(b"left");
    f[1556..1560].copy_from_slice(b"ARRI");
    put(&mut f, 1628, 1);
    put(&mut f, 1632, 1);
    f[1664..1680].copy_from_slice(b"0245030123451234");
    f[1680..1684].copy_from_slice(b"4-35");
    put(&mut f, 1712, frame);
    put(&mut f, 1724, 24f32.to_bits());
    f[1732..1736].copy_from_slice(b"A001");
    f[1764..1771].copy_from_slice(b"SC 12/3");
    put(&mut f, 1920, 0x1020_3000 + frame);
    put(&mut f, 1924, 0x1234_5678);
    put(&mut f, 1940, 24f32.to_bits());
    f[2048..2053].copy_from_slice(b"owner");
    f[2080..2092].copy_from_slice(b"user's bytes");
    for i in 0..8u32 {
        let (r, g, b) = (i * 100, 1023 - i, 512 + i + frame);
        put(&mut f, 2092 + 4 * i as usize, r << 22 | g << 12 | b << 2);
    }
    f
}

#[test]
fn the_time_code_of_a_scan_goes_to_containers_that_store_one() {
    let s = Session::new();
    for n in [7, 8, 9] {
        s.write(&format!("scan.{n}.dpx"), scan(false, n));
    }
    for (frames, wanted) in [("", "10:20:30:07"), ("--frames 8-9", "10:20:30:08")] {
        for out in ["out.mov", "out.mkv"] {
            let said = s.run(&format!("render scan.@.dpx {out} -y --codec ffv1 {frames}")).ok().err;
            assert!(said.contains("edge code") && !said.contains("time code"), "{out}: {said}");
            let read = s.tool("ffprobe", &format!("-v error -show_streams -show_format {out}")).text();
            assert!(read.to_lowercase().contains(&format!("timecode={wanted}\n")), "{out}: {read}");
        }
    }
    for out in ["out.ts --pix-fmt yuv420p", "out.y4m"] {
        s.run(&format!("render scan.@.dpx {out}")).ok().says("time code");
    }
}

#[test]
fn a_scan_goes_through_byte_for_byte() {
    let s = Session::new();
    for little in [false, true] {
        for n in [7, 8] {
            s.write(&format!("{little}.{n}.dpx"), scan(little, n));
        }
        s.run(&format!("render {little}.@.dpx out.{little}.@.dpx --strict")).ok();
        for n in [7, 8] {
            let name = format!("out.{little}.{n}.dpx");
            let (mut was, is) = (scan(little, n), s.read(&name));
            // except for the name
            was[36..136].fill(0);
            was[36..36 + name.len()].copy_from_slice(name.as_bytes());
            let at = was.iter().zip(&is).position(|(a, b)| a != b);
            assert!(was == is, "little: {little}: differs at {at:?}");
        }
    }
    // the transfer field is kept, even without a corresponding tag
    for said in [0, 3, 4, 7, 10, 11, 255] {
        let mut file = scan(true, 7);
        file[801] = said;
        s.write("light.dpx", &file);
        s.run("render light.dpx same.dpx -y").ok();
        assert_eq!(s.read("same.dpx")[801], said);
    }
    let told = s.run("probe true.@.dpx").ok().text();
    for part in ["10:20:30:07", "printing density", "0245030123451234", "Reel 12", "Scanity", "SC 12/3"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn losses_of_the_header_are_named_once_and_errors_with_strict() {
    let s = Session::new();
    s.write("a.1.dpx", scan(false, 7));
    s.write("a.2.dpx", scan(false, 8));
    let run = s.run("render a.@.dpx b.@.png").ok();
    assert_eq!(run.err.matches("time code").count(), 1, "{}", run.err);
    let run = s.run("render a.@.dpx c.@.png --strict");
    assert_ne!(run.code, Some(0));
    assert!(run.err.contains("time code") && run.err.contains("project"), "{}", run.err);
    assert!(!s.files().iter().any(|f| f.starts_with("c.")), "{:?}", s.files());
}

#[test]
fn a_hole_gets_the_header_that_all_frames_share() {
    let s = Session::new();
    s.write("a.1.dpx", scan(false, 7));
    s.write("a.3.dpx", scan(false, 9));
    s.run("render a.@.dpx b.@.dpx --missing black").ok();
    let black = s.read("b.2.dpx");
    assert_eq!(&black[260..267], b"Reel 12");
    assert_eq!(black[1920..1928], [0xff; 8], "no time code");
    assert_eq!(black[2092..], [0; 32]);
}

#[test]
fn a_held_frame_has_no_time_code_of_another_and_gives_way_to_the_lost_file() {
    let s = Session::new();
    s.write("a.1.dpx", scan(false, 7));
    s.write("a.3.dpx", scan(false, 9));
    s.run("render a.@.dpx b.@.dpx --missing hold --resume").ok();
    let held = s.read("b.2.dpx");
    assert_eq!(held[2092..], s.read("b.1.dpx")[2092..]);
    assert_eq!((&held[260..267], &held[1920..1928]), (&b"Reel 12"[..], &[0xff; 8][..]));
    assert_ne!(s.read("b.1.dpx")[1920..1924], [0xff; 4]);
    s.write("a.2.dpx", scan(false, 8));
    s.run("render a.@.dpx b.@.dpx --resume").ends(1).says("b.2.dpx").says("another source");
    s.run("render a.@.dpx b.@.dpx --resume -y").ok().says("2 of 3 frames are complete already");
    assert_ne!(s.read("b.2.dpx")[1920..1924], [0xff; 4]);
    s.run("join b.@.dpx").ok().says("3 frames");
}

/// ffmpeg decodes the same samples, in every depth and packing that is written.
#[test]
fn ffmpeg_reads_the_output() {
    let s = Session::new();
    for (name, raw) in [
        ("gbrp", "gbrp"),
        ("gbrp10", "gbrp10le"),
        ("gbrp12", "gbrp12le"),
        ("gbrp16", "gbrp16le"),
        ("gbrap16", "gbrap16le"),
        ("gray16", "gray16le"),
    ] {
        for width in [1, 5, 8, 33] {
            let format = Format::from_name(name, width, 5).unwrap();
            let out = s.path(&format!("{name}.{width}.dpx"));
            let format = grainfield::sink::sequence::accepts(out.as_os_str(), &format).unwrap();
            assert_eq!(format.name(), name);
            let frame = noisy(format);
            write(out.as_os_str(), &plan(format, Some(1)), &[(stamp(0), frame.clone())]).unwrap();
            let got =
                s.tool("ffmpeg", &format!("-v error -i {name}.{width}.dpx -f rawvideo -pix_fmt {raw} -")).out;
            let mut want = Vec::new();
            frame.for_each_row(|row| want.extend_from_slice(row));
            assert!(got == want, "{name} {width}");
            assert!(one(&out).1.format().transfer == Transfer::UNSPECIFIED);
        }
    }
    // both methods of padding 10 and 12 bits, and packed 12 bits, in both byte orders
    for (bits, packing) in [(10u8, 1u16), (10, 2), (12, 1), (12, 0)] {
        for little in [false, true] {
            let mut file = scan(little, 1);
            file[803] = bits;
            short(&mut file, 804, packing, little);
            file.resize(2092 + 2 * 24, 0x55);
            s.write("p.1.dpx", &file);
            s.run("render p.1.dpx q.1.dpx -y").ok();
            let md5 =
                |f: &str| s.tool("ffmpeg", &format!("-v error -i {f} -f rawvideo -pix_fmt gbrp16le -")).out;
            assert_eq!(md5("p.1.dpx"), md5("q.1.dpx"), "{bits} {packing} {little}");
            let written = s.read("q.1.dpx");
            assert_eq!(
                written[..2048],
                file[..2048]
                    .iter()
                    .copied()
                    .enumerate()
                    // sizes and name
                    .map(|(i, b)| {
                        if (16..20).contains(&i) || (36..136).contains(&i) { written[i] } else { b }
                    })
                    .collect::<Vec<_>>()[..],
                "{bits} {packing} {little}"
            );
        }
    }
}

/// Density, as DPX and Cineon tag it, gets grain like film: none in the film base, most around mid-grey.
#[test]
fn grain_on_density_is_that_of_film() {
    let s = Session::new();
    let codes = [60u16, 95, 125, 200, 445, 685, 900, 1023];
    // Strips of 240 samples, equal in R, G and B.
    let flat = |transfer, file: &str| {
        let format = Format { transfer, ..Format::from_name("gbrp10", 1920, 24).unwrap() };
        let mut frame = Frame::new(format);
        for (p, y) in (0..3).flat_map(|p| (0..24).map(move |y| (p, y))) {
            frame.row_mut::<u16>(p, y).iter_mut().enumerate().for_each(|(x, v)| *v = codes[x / 240]);
        }
        let out = s.path(file);
        let format = grainfield::sink::sequence::accepts(out.as_os_str(), &format).unwrap();
        write(out.as_os_str(), &plan(format, Some(1)), &[(stamp(0), frame)]).unwrap();
    };
    let strips = |file: &str| {
        let frame = one(s.path(file)).1;
        let strip = |i: usize| {
            let rows = (0..24).flat_map(|y| frame.row::<u16>(0, y)[240 * i..240 * (i + 1)].to_vec());
            let squares = rows.map(|v| (f64::from(v) - f64::from(codes[i])).powi(2));
            (squares.sum::<f64>() / (24.0 * 240.0)).sqrt()
        };
        [0, 1, 2, 3, 4, 5, 6, 7].map(strip)
    };
    let model = |u: f64| u.powf(0.508) * (1.0 - u).powf(0.664);
    let peak = model(0.508 / 1.172);
    let density = |file: &str| {
        for (code, got) in codes.into_iter().zip(strips(file)) {
            let u = ((f64::from(code) - 95.0) / (1023.0 - 95.0)).max(0.0);
            let want = 32.0 * model(u) / peak;
            // Rounding adds noise; four standard errors.
            assert!((got - want).abs() < 0.04 * want + 0.1, "{file} {code}: {got} for {want}");
        }
    };
    let render = |from: &str, to: &str, space: &str| {
        s.run(&format!("render {from} {to} -f grain=strength=8:size=0:chroma=0{space}")).ok();
    };
    flat(Transfer::DENSITY, "a.1.dpx");
    flat(Transfer::UNSPECIFIED, "b.1.dpx");
    flat(Transfer::DENSITY, "c.1.cin");
    render("a.1.dpx", "density.1.dpx", "");
    density("density.1.dpx");
    render("c.1.cin", "density.1.cin", "");
    density("density.1.cin");
    // Written by a program that leaves the tag out: name it by hand.
    render("b.1.dpx", "named.1.dpx", ":space=log");
    density("named.1.dpx");
    render("b.1.dpx", "video.1.dpx", "");
    assert!(strips("video.1.dpx")[0] > 10.0, "video has grain at 60 of 1023");
}

/// The header of television counts, else that of film, if it is possible; `--rate` overrides it.
#[test]
fn a_sequence_has_the_rate_of_its_first_header() {
    let s = Session::new();
    let rate_of = |s: &Session, name: &str| {
        let bytes = s.read(name);
        let line = String::from_utf8_lossy(bytes.split(|b| *b == b'\n').next().unwrap()).into_owned();
        line.split(' ').find_map(|word| word.strip_prefix('F')).unwrap().to_owned()
    };
    let unset = f32::from_bits(u32::MAX);
    for (little, tv, film, wanted) in [
        (false, 25.0, 24.0, "25:1"),
        (true, unset, 23.976, "24000:1001"),
        (false, 0.0, 24000.0 / 1001.0, "24000:1001"),
        (true, 29.97, unset, "30000:1001"),
        (false, f32::INFINITY, 12.5, "25:2"),
        (false, 5000.0, 0.5, "24:1"),
        (true, -25.0, unset, "24:1"),
    ] {
        for n in [7, 8] {
            let mut file = scan(little, n);
            // the first file counts
            let tv = if n == 7 { tv } else { 60.0 };
            word(&mut file, 1940, tv.to_bits(), little);
            word(&mut file, 1724, film.to_bits(), little);
            s.write(&format!("r.{n}.dpx"), file);
        }
        s.run("render r.@.dpx out.y4m -y").ok();
        assert_eq!(rate_of(&s, "out.y4m"), wanted, "{tv} {film}");
        // a file that is written says the same, or what was chosen
        for (option, wanted) in [("", wanted), ("--rate 30", "30:1")] {
            s.run(&format!("render r.@.dpx w.@.dpx -y {option}")).ok();
            s.run("render w.@.dpx out.y4m -y").ok();
            let stated =
                wanted != "24:1" && (tv.is_finite() || film.is_finite()) && tv != 5000.0 && tv != -25.0;
            assert_eq!(rate_of(&s, "out.y4m"), if stated { wanted } else { "24:1" }, "{tv} {film} {option}");
        }
    }
    s.run("render r.@.dpx out.y4m -y --rate 50").ok();
    assert_eq!(rate_of(&s, "out.y4m"), "50:1");
}
