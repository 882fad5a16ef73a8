//! What the samples of a clip mean, where its tags are wrong, and how alpha and masks are seen.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::json;

/// The studio reads samples as the program does with the same options, and says what an output cannot hold of them.
#[test]
fn tags_that_are_replaced_are_those_of_the_options() {
    let session = Session::new();
    session.run("render pattern:bars:size=64x48:frames=2:format=yuv444p a.y4m").ok();
    let studio = Studio::start(&session, "");
    let open = |tags| studio.send("POST", "/open", &json!({ "path": "a.y4m", "tags": tags }));
    let told = open(json!({ "matrix": "bt2020nc", "range": "full", "transfer": "smpte2084" })).json();
    assert_eq!(told["colour"], "bt2020nc, smpte2084, full");
    let options = "--matrix bt2020nc --range full --transfer smpte2084:keep --pix-fmt gbrp";
    session.run(&format!("frame a.y4m 0 a.png -f dither=mode=none {options}")).ok();
    let want: Vec<u8> =
        image::open(session.path("a.png")).unwrap().to_rgba8().pixels().flat_map(|p| p.0).collect();
    let shown = |clip: &serde_json::Value| studio.get(&format!("/frame/{}/0/0?side=in", clip["id"])).body;
    assert!(shown(&told) == want, "the pixels differ");
    assert!(shown(&open(json!({})).json()) != want);
    for (name, value) in [("matrix", "bt7090"), ("range", "unspecified"), ("rate", "0"), ("pix-fmt", "gray")]
    {
        let fault = open(json!({ name: value }));
        assert_eq!(fault.status, 422, "{name}");
        assert!(String::from_utf8_lossy(&fault.body).contains(name));
    }
    let key = studio.key(&told, "");
    let estimate = json!({ "clip": told["id"], "key": key, "output": "b/%04d.jpg", "first": 0, "count": 2 });
    let losses = studio.post("/estimate", &estimate)["losses"].to_string();
    assert!(losses.contains("transfer"), "{losses}");
}

/// The page asks for it, and its renders and the copied command line have it.
#[test]
fn the_page_replaces_tags_and_renders_with_them() {
    let session = Session::new();
    session.run("render pattern:bars:size=64x48:frames=3:format=yuv444p a.%02d.jpg").ok();
    let studio = Studio::start(&session, "a.%02d.jpg");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("(await import('/app/keys.js')).command('file.tags').run();");
    b.until("return !!document.querySelector('dialog[open] #t-rate')");
    b.run(
        "const form = document.querySelector('dialog[open] form');
         for (const [id, value] of Object.entries({ range: 'full', transfer: 'smpte2084', rate: '25' })) form.elements[id].value = value;
         form.requestSubmit();",
    );
    b.until("return /PQ/.test(document.querySelector('#status').textContent)");
    let line = b.copied_line("b.mkv");
    assert!(
        line.contains("--range full")
            && line.contains("--rate 25")
            && line.contains("--transfer smpte2084:auto"),
        "{line}"
    );
    session.run(&line).ok();
    let told = session.run("probe b.mkv").ok().text();
    for pair in [["rate", "25"], ["transfer", "smpte2084"]] {
        assert!(told.lines().any(|line| line.split_whitespace().eq(pair)), "{told}");
    }
    b.press("F7");
    b.until("return document.querySelector('dialog[open] .outcome')?.textContent.includes('smpte2084')");
    b.run("[...document.querySelectorAll('dialog[open] button')].find((e) => e.textContent === 'Add to the queue').click()");
    b.until("return [...document.querySelectorAll('.jobs button')].some((e) => e.textContent === 'Change')");
    b.run("[...document.querySelectorAll('.jobs button')].find((e) => e.textContent === 'Change').click()");
    b.until("return document.querySelector('dialog[open] #r-transfer')?.value === ''");
    b.run("[...document.querySelectorAll('dialog[open] button')].find((e) => e.textContent === 'Change the job').click()");
    b.until("return !document.querySelector('dialog[open]')");
    let jobs = std::fs::read_to_string(session.path("grainfield-jobs.toml")).unwrap();
    assert!(jobs.contains("transfer = \"smpte2084:auto\"") && jobs.contains("rate = \"25\""), "{jobs}");
}

/// Alpha is mixed with what is behind it; a mask is white where its filter acts.
#[test]
fn alpha_and_masks_are_seen() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    for alpha in ["straight", "premultiplied"] {
        let clip = studio.open(&format!("pattern:bars:size=64x48:frames=1:format=gbrap:alpha={alpha}"));
        let key = studio.key(&clip, "fade=amount=1:to=alpha:mask=ellipse:mask_feather=100");
        let at = format!("{}/{key}/0?side=out", clip["id"]);
        let codes = studio.get(&format!("/pixels/{at}&region=0,0,64,48")).json();
        let code = |p: usize, x: usize, y: usize| codes["planes"][p][y][x].as_f64().unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for (over, boards) in [("black", [0.0; 2]), ("grey", [128.0; 2]), ("checks", [96.0, 160.0])] {
            for (region, x0, y0) in [("", 0, 0), ("&region=37,5,20,9", 37, 5)] {
                let shown = studio.get(&format!("/frame/{at}&over={over}{region}"));
                let width: usize = shown.header("x-width").unwrap().parse().unwrap();
                for (i, pixel) in shown.body.chunks_exact(4).enumerate() {
                    let (x, y) = (x0 + i % width, y0 + i / width);
                    let a = code(3, x, y) / 255.0;
                    seen.insert(code(3, x, y) as u8);
                    let share = if alpha == "straight" { a } else { 1.0 };
                    let green = code(0, x, y) * share + boards[(x / 8 + y / 8) % 2] * (1.0 - a);
                    assert_eq!(pixel[1], (green + 0.5).floor().min(255.0) as u8, "{alpha} {over} {x},{y}");
                }
            }
        }
        assert!(seen.len() > 9, "{seen:?}");
    }
    let clip = studio.open("pattern:bars:size=64x48:frames=1");
    let [black, white] = ["black", "white"]
        .map(|color| studio.key(&clip, &format!("noise,fade=amount=1:color={color}:mask=ellipse")));
    let shown =
        studio.get(&format!("/frame/{0}/{white}/0?side=diff&matte=true&against={0}.{black}.0", clip["id"]));
    let pixel = |x: usize, y: usize| shown.body[4 * (64 * y + x)..][..3].to_vec();
    assert_eq!((pixel(32, 24), pixel(0, 0)), (vec![255; 3], vec![0; 3]));
}
