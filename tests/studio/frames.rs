//! What is shown against what `grainfield` writes.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::{Value, json};

/// A frame that `grainfield frame` writes, and what `grainfield` makes of that in 8-bit R, G and B: the conversion that
/// the studio promises.
fn promised(session: &Session, input: &str, n: i64, chain: &str) -> (usize, Vec<u8>) {
    let filters = if chain.is_empty() { String::new() } else { format!("-f '{chain}'") };
    let whole = if input.contains("gbr") { "whole.png" } else { "whole.y4m" };
    session.run(&format!("frame -y {input} {n} {whole} {filters}")).ok();
    session.run(&format!("frame -y {whole} 0 shown.png -f dither=mode=none --pix-fmt gbrp")).ok();
    let png = image::open(session.path("shown.png")).unwrap().to_rgb8();
    (png.width() as usize, png.pixels().flat_map(|p| [p[0], p[1], p[2], 255]).collect())
}

/// The rows and columns of a part.
fn part(whole: &[u8], width: usize, [x, y, w, h]: [usize; 4]) -> Vec<u8> {
    (y..y + h).flat_map(|y| whole[4 * (y * width + x)..4 * (y * width + x + w)].to_vec()).collect()
}

const INPUTS: [&str; 7] = [
    "pattern:zoneplate:size=67x45:frames=5:format=yuv420p",
    "pattern:bars:size=67x45:frames=5:format=yuv422p10",
    "pattern:ramp:size=67x45:frames=5:format=yuv444p16",
    "pattern:zoneplate:size=64x48:frames=5:format=yuv420p10",
    "pattern:bars:size=67x45:frames=5:format=gbrp",
    "pattern:ramp:size=67x45:frames=5:format=gbrp16",
    "pattern:ramp:size=67x45:frames=5:format=gray",
];
const CHAIN: &str = "noise=strength=9:seed=18446744073709551615,blur=sigma=20";

#[test]
fn frames_are_those_of_the_program() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    for input in INPUTS {
        let clip = studio.open(input);
        for (side, chain) in [("in", ""), ("out", CHAIN)] {
            let key = studio.key(&clip, chain);
            let path = format!("/frame/{}/{key}/3?side={side}", clip["id"]);
            let got = studio.get(&path);
            assert_eq!(got.status, 200, "{input}: {}", String::from_utf8_lossy(&got.body));
            let (width, want) = promised(&session, input, 3, chain);
            assert_eq!(got.header("x-width"), Some(width.to_string().as_str()), "{input}");
            assert!(got.body == want, "{input} {side}: the pixels differ");
            // The hash is of the frame itself, not of what is shown.
            let filters = if chain.is_empty() { String::new() } else { format!("-f '{chain}'") };
            let line = session.run(&format!("hash {input} --frames 3 {filters}")).ok().text();
            let hash = studio.get(&format!("/hash/{}/{key}/3", clip["id"])).json();
            assert_eq!(line.trim(), format!("3 {}", hash["hash"].as_str().unwrap()), "{input}");
            // A part, and smaller.
            let region = studio.get(&format!("{path}&region=5,7,20,11"));
            assert!(region.body == part(&want, width, [5, 7, 20, 11]), "{input}: the part differs");
            let mean = |c: usize| {
                want.iter().skip(c).step_by(4).map(|v| f64::from(*v)).sum::<f64>() / (want.len() / 4) as f64
            };
            let one = studio.get(&format!("{path}&size=1,1")).body;
            (0..3).for_each(|c| assert!((f64::from(one[c]) - mean(c)).abs() <= 0.5, "{input}"));
        }
    }
}

#[test]
fn codes_are_the_frames_own() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let input = "pattern:ramp:size=67x45:frames=5:format=yuv420p10";
    let clip = studio.open(input);
    let key = studio.key(&clip, CHAIN);
    session.run(&format!("frame {input} 3 out.y4m -f '{CHAIN}'")).ok();
    let y4m = session.read("out.y4m");
    let at = y4m.windows(6).position(|w| w == b"FRAME\n").unwrap() + 6;
    let code = |p: usize, x: usize, y: usize| {
        let (w, h, cw) = (67, 45, 34);
        let i = match p {
            0 => y * w + x,
            _ => w * h + (p - 1) * cw * 23 + (y / 2) * cw + x / 2,
        };
        i64::from(u16::from_le_bytes([y4m[at + 2 * i], y4m[at + 2 * i + 1]]))
    };
    let got = studio.get(&format!("/pixels/{}/{key}/3?side=out&region=63,41,9,9", clip["id"])).json();
    assert_eq!(got["names"], json!(["Y", "U", "V"]));
    for p in 0..3 {
        let want: Vec<Vec<f64>> =
            (41..45).map(|y| (63..67).map(|x| code(p, x, y) as f64).collect()).collect();
        assert_eq!(got["planes"][p], json!(want), "plane {p}");
    }
}

#[test]
fn pictures_that_cannot_be_shown_are_errors_with_a_reason() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let clip = studio.open("pattern:bars:size=16x16:frames=5");
    let id = &clip["id"];
    let key = studio.key(&clip, "noise");
    for (path, status) in [
        (format!("/frame/{id}/{key}/5?side=out"), 422),
        (format!("/frame/{id}/{key}/-1?side=out"), 422),
        (format!("/frame/{id}/{key}/0?side=up"), 400),
        (format!("/frame/{id}/{key}/x?side=out"), 400),
        (format!("/frame/{id}/zz/0?side=out"), 400),
        (format!("/frame/{id}/{}/0?side=out", "0123456789abcdef".repeat(2)), 410),
        (format!("/frame/99/{key}/0?side=out"), 410),
        (format!("/frame/{id}/{key}/0?side=out&plane=3"), 422),
        (format!("/frame/{id}/{key}/0?side=out&region=1,2,3"), 400),
        (format!("/frame/{id}/{key}/0?side=out&region=9999999,0,99999999999,1"), 200),
        (format!("/frame/{id}/{key}/0?side=out&size=0,99999999999"), 200),
        (format!("/frame/{id}/{key}/0?side=out&gain=NaN"), 200),
        (format!("/scopes/{id}/{key}/0?side=out&scope=waveform"), 200),
    ] {
        let got = studio.get(&path);
        assert_eq!(got.status, status, "{path}: {}", String::from_utf8_lossy(&got.body));
        assert!(
            status == 200 || got.json()["error"]["text"].as_str().is_some_and(|t| !t.is_empty()),
            "{path}"
        );
    }
}

/// The canvas of a pane as the page's own zoom and place say it should be.
fn check_canvas(b: &Browser, side: &str, width: usize, picture: &[u8], zoom: usize) {
    let (canvas, bytes) = b.canvas(side);
    let place = b.run(&format!("const p = v.panes.get('{side}'); return [p.zoom(), ...p.origin()];"));
    assert_eq!(place[0], json!(zoom), "{side}");
    let [left, top] = [1, 2].map(|i| place[i].as_i64().unwrap());
    let height = picture.len() / 4 / width;
    let mut seen = 0;
    for (i, got) in bytes.chunks_exact(4).enumerate() {
        let (x, y) = ((i % canvas) as i64 - left, (i / canvas) as i64 - top);
        let (px, py) = (x.div_euclid(zoom as i64), y.div_euclid(zoom as i64));
        if (0..width as i64).contains(&px) && (0..height as i64).contains(&py) {
            let at = 4 * (py as usize * width + px as usize);
            assert_eq!(got, &picture[at..at + 4], "{side} at {px},{py}");
            seen += 1;
        }
    }
    assert!(seen >= (width * height * zoom * zoom).min(canvas * 40), "only {seen} are seen");
}

#[test]
fn the_canvas_is_the_frame_to_the_bit() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let browser = Browser::start(1280, 720);
    browser.open(&studio);
    for (ratio, input) in [(1.0, INPUTS[0]), (1.5, INPUTS[1]), (2.0, INPUTS[2]), (1.0, INPUTS[5])] {
        browser.cdp(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": 1280, "height": 720, "deviceScaleFactor": ratio, "mobile": false }),
        );
        browser.run(&format!(
            "await s.openClip('{input}');
             s.replaceRecipe((await s.post('/recipe', {{ clip: null, chain: '{CHAIN}' }})).recipe);
             s.seek(3);"
        ));
        let (width, source) = promised(&session, input, 3, "");
        let (_, result) = promised(&session, input, 3, CHAIN);
        for zoom in [1, 3] {
            browser.run(&format!("v.zoomTo({zoom})"));
            browser.settle();
            check_canvas(&browser, "in", width, &source, zoom);
            check_canvas(&browser, "out", width, &result, zoom);
        }
    }
    // A large one that is fitted is the server's reduction, bit for bit.
    let input = "pattern:zoneplate:size=1301x977:frames=2";
    browser.cdp("Emulation.clearDeviceMetricsOverride", json!({}));
    browser.run(&format!(
        "await s.openClip('{input}'); s.replaceRecipe({{ steps: [], seed: null }}); s.seek(0);"
    ));
    browser.settle();
    let place = browser.run(
        "const p = v.panes.get('in');
         return [p.zoom(), ...p.origin(), p.shown.source.width, p.shown.source.height, s.clip.value.id];",
    );
    let [left, top, w, h] = [1, 2, 3, 4].map(|i| place[i].as_u64().unwrap() as usize);
    let want = studio.get(&format!("/frame/{}/0/0?side=in&size={w},{h}", place[5])).body;
    let (canvas, bytes) = browser.canvas("in");
    assert!(w < 1301 && part(&bytes, canvas, [left, top, w, h]) == want);
}

#[test]
fn differences_and_planes_are_worked_out_at_the_frames_depth() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let clip = studio.open("pattern:ramp:size=40x30:frames=3:format=yuv420p10");
    let key = studio.key(&clip, "noise=strength=1");
    let pixels = |side: &str| -> Vec<Value> {
        let got = studio.get(&format!("/pixels/{}/{key}/1?side={side}&region=0,0,40,30", clip["id"])).json();
        got["planes"][0].as_array().unwrap().iter().flat_map(|r| r.as_array().unwrap().clone()).collect()
    };
    let (a, b) = (pixels("in"), pixels("out"));
    let got = studio.get(&format!("/frame/{}/{key}/1?side=diff&plane=0&gain=16", clip["id"])).body;
    let mut small = 0;
    for (i, (a, b)) in a.iter().zip(&b).enumerate() {
        let by = b.as_f64().unwrap() - a.as_f64().unwrap();
        small += usize::from(by.abs() == 1.0);
        let want = (128.0 + by * 16.0 * 255.0 / 1023.0 + 0.5).floor().clamp(0.0, 255.0);
        assert_eq!(f64::from(got[4 * i]), want, "sample {i}");
    }
    assert!(small > 50, "differences of a single code of ten bits are there and seen");
    let plane = studio.get(&format!("/frame/{}/{key}/1?side=out&plane=0", clip["id"])).body;
    assert_eq!(f64::from(plane[0]), (b[0].as_f64().unwrap() * 255.0 / 1023.0 + 0.5).floor());
}

/// Luma has room, and still the conversion to red, green and blue clips.
#[test]
fn colours_that_the_screen_clips_are_marked() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let clip = studio.open("pattern:bars:size=64x48:format=yuv444p10");
    let marks = |chain: &str, more: &str| {
        let key = studio.key(&clip, chain);
        let shown = |more: &str| studio.get(&format!("/frame/{}/{key}/0?side=out{more}", clip["id"])).body;
        let (plain, marked) = (shown(more), shown(&format!("{more}&clipping=true")));
        let changed = |colour: [u8; 3]| {
            let pixels = plain.chunks_exact(4).zip(marked.chunks_exact(4));
            pixels.filter(|(a, b)| a != b && b[..3] == colour).count()
        };
        (changed([255, 40, 40]), changed([40, 80, 255]))
    };
    let pale = "levels=out-black=0.2:out-white=0.8,color=saturation=0.5";
    assert_eq!(marks(pale, ""), (0, 0));
    let (above, below) = marks(&format!("{pale},color=saturation=4"), "");
    assert!(above > 100 && below > 100, "{above} {below}");
    assert_eq!(marks(&format!("{pale},color=saturation=4"), "&plane=0"), (0, 0));
}
