//! `analyze` with known results.

use crate::util::Session;
use serde_json::Value;

const GREY: &str = "pattern:grey:size=320x200:frames=4";

fn report(session: &Session, line: &str) -> Value {
    let out = session.run(&format!("analyze {line} --json -q")).ok();
    serde_json::from_slice(&out.out).unwrap_or_else(|e| panic!("{line}: {e}"))
}

fn number(report: &Value, path: &str) -> f64 {
    report.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number {path}"))
}

/// The measured strength is the set strength, for every kind of picture.
#[test]
fn noise_has_its_strength_in_every_format() {
    let s = Session::new();
    for format in [
        "gray",
        "yuv420p",
        "yuv411p",
        "yuv422p10",
        "yuva444p12",
        "gray16",
        "gbrp",
        "gbrapf32",
        "grayf32",
        "ya8",
    ] {
        let r = report(&s, &format!("{GREY}:format={format} -f noise=strength=6:generator=xs64"));
        assert_eq!(r["pix_fmt"], format);
        assert_eq!(number(&r, "/frames"), 4.0);
        for p in r["planes"].as_array().expect("planes") {
            let sd = p["sd"].as_f64().expect("a number");
            // Rounding to 8 bits adds 1/12 to the variance.
            let expected = if p["name"] == "A" { 0.0 } else { 6.0 };
            assert!((sd - expected).abs() < 0.05, "{format} {}: {sd}", p["name"]);
            if expected > 0.0 {
                let kurtosis = number(p, "/kurtosis");
                assert!((kurtosis + 1.2).abs() < 0.03, "{format}: {kurtosis}");
                let chance = number(p, "/spectrum/chance_db");
                let flatness = number(p, "/spectrum/flatness_db");
                assert!(flatness < 2.5 * chance, "{format}: {flatness} dB, {chance} dB by chance");
            }
        }
    }
}

/// With a clean version, by filters, and without both: three methods with the same figures.
#[test]
fn three_ways_agree() {
    let s = Session::new();
    s.run(&format!("render {GREY}:format=gray10 clean.y4m")).ok();
    s.run("render clean.y4m noisy.y4m -f noise=strength=8:distribution=gaussian").ok();
    let twin = report(&s, "noisy.y4m --clean clean.y4m");
    let chain = report(&s, "clean.y4m -f noise=strength=8:distribution=gaussian --threads 1");
    let alone = report(&s, "noisy.y4m");
    assert_eq!(twin["planes"], chain["planes"]);
    for path in
        ["/planes/0/sd", "/planes/0/kurtosis", "/planes/0/spectrum/flatness_db", "/planes/0/histogram/ks"]
    {
        let (a, b) = (number(&twin, path), number(&alone, path));
        assert!((a - b).abs() < 1e-3, "{path}: {a} {b}");
    }
    let shallow =
        s.run("analyze noisy.y4m --clean pattern:grey:size=320x200:format=gray:frames=4 --json").ok();
    assert!(!shallow.out.is_empty());
}

/// Noise that repeats in every frame is detected, also in frame 3 compared with frame 0.
#[test]
fn static_noise_is_found() {
    let s = Session::new();
    let r = report(&s, &format!("{GREY}:format=gray -f noise=static=true"));
    assert_eq!(number(&r, "/planes/0/temporal/2/frames"), 3.0);
    assert_eq!(number(&r, "/planes/0/temporal/2/value"), 1.0);
    assert_eq!((number(&r, "/planes/0/peak/value"), number(&r, "/planes/0/peak/dx")), (1.0, 0.0));
    let moving = report(&s, &format!("{GREY}:format=gray -f noise"));
    assert!(number(&moving, "/planes/0/temporal/0/sigmas").abs() < 5.0);
    assert!(number(&moving, "/planes/0/peak/sigmas") < 6.5);
}

/// A table, and a plot that is a PNG; neither replaces a file without -y.
#[test]
fn tables_and_plots() {
    let s = Session::new();
    let line = format!("analyze {GREY}:format=yuv420p -f noise --plot plot.png");
    let text = s.run(&line).ok().text();
    for part in ["320x200 yuv420p, 4 frames (0 to 3)", "standard deviation", "U with V", "luma 112 to 128"] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    assert_eq!(&s.read("plot.png")[..8], b"\x89PNG\r\n\x1a\n");
    s.run(&line).ends(1).says("exists");
    s.run(&format!("{line} -y")).ok();
    s.run("analyze pattern:grey --plot plot.jpg").ends(2).says("PNG");
    assert_eq!(s.files(), ["plot.png"]);
}

/// Frames: the requested ones, else the default number; also from a pipe.
#[test]
fn the_first_24_frames_by_default() {
    let s = Session::new();
    let long = "pattern:grey:size=32x20:format=gray:frames=100";
    s.run(&format!("analyze {long} -f noise")).ok().says("the first 24 of 100 frames");
    let r = report(&s, &format!("{long} -f noise --frames 3-90x2"));
    assert_eq!((number(&r, "/frames"), number(&r, "/first"), number(&r, "/last")), (44.0, 3.0, 89.0));
    let pipe = s.run(&format!("render {long} -")).ok().out;
    let out = s.piped("analyze - -f noise --json", &pipe).ok();
    let r: Value = serde_json::from_slice(&out.out).expect("JSON");
    assert_eq!(number(&r, "/frames"), 24.0);
}

#[test]
fn inputs_that_cannot_be_compared_are_refused() {
    let s = Session::new();
    s.run("analyze pattern:grey:size=32x20 --clean pattern:grey:size=32x22").ends(2).says("must be equal");
    s.run(&format!("analyze {GREY} --clean pattern:grey:size=320x200:frames=2"))
        .ends(1)
        .says("select frames that both have");
    s.run("analyze - --clean -").ends(2).says("both");
    s.run("analyze nothing.y4m").ends(1);
    // Fewer frames than the default are no error.
    s.run(&format!("analyze {GREY} --clean pattern:grey:size=320x200:frames=2 --frames 0-1")).ok();
}

/// Inputs without measurable noise: one sample, all equal, non-finite.
#[test]
fn nothing_to_measure_is_no_error() {
    let s = Session::new();
    s.run("analyze pattern:grey:size=1x1:format=gray:frames=1 --plot a.png").ok();
    let r = report(&s, "pattern:ramp:size=3x300:format=grayf32:frames=2 -f noise=strength=0");
    assert_eq!(number(&r, "/planes/0/sd"), 0.0);
}
