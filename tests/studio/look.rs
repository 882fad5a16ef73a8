//! Ways to look at frames and to move among them.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::{Value, json};

/// Three scenes of ten frames each: `shot.0000.png` and on.
fn scenes(session: &Session) -> &'static str {
    for (i, pattern) in ["bars", "zoneplate", "grey"].iter().enumerate() {
        session
            .run(&format!(
                "render pattern:{pattern}:size=96x54:frames=10 shot.####.png --frame-offset {} -y",
                10 * i
            ))
            .ok();
    }
    "shot.####.png"
}

#[test]
fn cuts_and_markers_are_found_by_keys() {
    let session = Session::new();
    let input = scenes(&session);
    let studio = Studio::start(&session, input);
    let b = Browser::start(1280, 720);
    b.open(&studio);
    let moves = [
        ("Ctrl+Shift+ArrowRight", 10),
        ("Ctrl+Shift+ArrowRight", 20),
        ("Ctrl+Shift+ArrowLeft", 10),
        ("Ctrl+Shift+ArrowLeft", 0),
    ];
    for (key, want) in moves {
        b.press(key);
        b.until(&format!("return document.querySelector('#frame-number').value === '{want}'"));
    }
    // What is cut out is passed over: of a scene that begins in it, the first frame that is seen stands for it.
    b.run("s.selection.value = [8, 14]; s.cutSelection(); s.selection.value = [20, 29]; s.cutSelection(); s.seek(3);");
    for (key, want) in [
        ("Ctrl+Shift+ArrowRight", 15),
        ("Ctrl+Shift+ArrowLeft", 0),
        ("Shift+ArrowRight", 1),
        ("PageDown", 19),
        ("Ctrl+Shift+ArrowLeft", 15),
        ("Shift+ArrowLeft", 7),
        ("Shift+ArrowRight", 15),
    ] {
        b.press(key);
        b.until(&format!("return document.querySelector('#frame-number').value === '{want}'"));
    }
    b.press("Ctrl+Shift+ArrowRight");
    b.until("return document.querySelector('#toasts').textContent.includes('no further cut')");
    assert_eq!(
        b.run("const n = s.frame.value; s.doc.value = { ...s.doc.value, cuts: {} }; return n"),
        json!(15)
    );
    b.run("s.seek(0)");
    // Markers on 0 and 25; the ruler shows them, and they survive a kill.
    b.press("M");
    b.run("s.seek(25)");
    b.press("M");
    b.run("s.seek(12)");
    b.press("M");
    b.press("M");
    assert_eq!(b.run("return s.markers.value"), json!([0, 25]));
    assert_eq!(b.run("return document.querySelectorAll('.ruler .marker').length"), json!(2));
    b.press("}");
    assert_eq!(b.run("return s.frame.value"), json!(25));
    b.press("{");
    assert_eq!(b.run("return s.frame.value"), json!(0));
    b.run("await new Promise((r) => setTimeout(r, 700))");
    drop(studio);
    let studio = Studio::start(&session, input);
    b.open(&studio);
    assert_eq!(b.run("return s.markers.value"), json!([0, 25]));
}

/// Key frames are those that the encoder was told to make; where frames are independent, each is one.
#[test]
fn key_frames_are_found_by_keys() {
    let session = Session::new();
    let made = std::process::Command::new("ffmpeg")
        .args(["-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=24:duration=2"])
        .args(["-c:v", "libx264", "-g", "10", "-keyint_min", "10", "-sc_threshold", "0", "-bf", "2"])
        .args(["-x264-params", "open-gop=0", "-pix_fmt", "yuv420p"])
        .arg(session.path("clip.mp4"))
        .status();
    assert!(made.unwrap().success());
    let studio = Studio::start(&session, "clip.mp4");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    let go = |key: &str, want: i64| {
        b.press(key);
        b.until(&format!("return document.querySelector('#frame-number').value === '{want}'"));
    };
    b.run("s.seek(3)");
    for (key, want) in [("Shift+ArrowRight", 10), ("Shift+ArrowRight", 20), ("Shift+ArrowLeft", 10)] {
        go(key, want);
    }
    b.run("s.seek(45)");
    go("Shift+ArrowLeft", 40);
    b.press("Shift+ArrowRight");
    b.until(
        "return [...document.querySelectorAll('#toasts p')].some((e) => /key frame/.test(e.textContent))",
    );
    assert_eq!(b.run("return s.frame.value"), json!(40));
    b.run("await s.openClip('pattern:bars:size=64x48:frames=5'); s.seek(2);");
    go("Shift+ArrowRight", 3);
    go("Shift+ArrowLeft", 2);
}

/// Fields and gamma against what they mean, worked out here from the frame's own pixels.
#[test]
fn fields_and_gamma_match_their_labels() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let (width, height) = (20, 13);
    let clip = studio.open("pattern:zoneplate:size=20x13:frames=2:format=yuv420p10");
    let get = |more: &str| studio.get(&format!("/frame/{}/0/1?side=in{more}", clip["id"])).body;
    let whole = get("");
    let row = |bytes: &[u8], y: usize| bytes[4 * width * y..4 * width * (y + 1)].to_vec();
    for (name, bottom) in [("top", 0), ("bottom", 1)] {
        let field = get(&format!("&field={name}"));
        for y in 0..height {
            let from = (y / 2 * 2 + bottom).min(height - 1);
            assert_eq!(row(&field, y), row(&whole, from), "{name} {y}");
        }
    }
    assert_eq!(studio.get(&format!("/frame/{}/0/1?side=in&field=left", clip["id"])).status, 400);
    // From 10-bit codes: a single plane is not converted.
    let codes = studio.get(&format!("/pixels/{}/0/1?side=in&region=0,0,20,13", clip["id"])).json();
    let shown = get("&plane=0&gain=0.5&gamma=2.2");
    for (i, code) in
        codes["planes"][0].as_array().unwrap().iter().flat_map(|r| r.as_array().unwrap()).enumerate()
    {
        let want = 255.0 * (code.as_f64().unwrap() / 1023.0 * 0.5).powf(1.0 / 2.2);
        assert!((f64::from(shown[4 * i]) - want).abs() <= 0.500_001, "sample {i}");
    }
    let (plain, bright) = (get("&gamma=1"), get("&gamma=1.6"));
    assert_eq!(plain, whole);
    for (p, b) in plain.iter().zip(&bright) {
        let want = 255.0 * (f64::from(*p) / 255.0).powf(1.0 / 1.6);
        // The picture of 8 bits is itself rounded.
        let slope = if *p < 8 { 40.0 } else { 3.0 };
        assert!((f64::from(*b) - want).abs() <= slope, "{p} {b}");
    }
}

/// What was wanted for a moment does not take the place of what is wanted again.
#[test]
fn a_view_that_comes_back_stays() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:zoneplate:size=960x540:frames=4");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('noise');");
    b.settle();
    b.run("v.zoomTo(4); await 0; v.zoomTo(0);");
    let stays = b.run(
        "await new Promise((r) => setTimeout(r, 800));
         return [...v.panes.values()].filter((p) => p.canvas.isConnected).map((p) => p.shownUrl === p.url);",
    );
    assert_eq!(stays, json!([true, true]));
}

#[test]
fn the_page_shows_fields_gamma_and_planes() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=64x48:frames=4:format=yuv420p10");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    let choose = |name: &str, value: &str| {
        b.run(&format!(
            "const e = document.querySelector('#bar select[aria-label={name}]');
             e.value = '{value}';
             e.dispatchEvent(new Event('change', {{ bubbles: true }}));"
        ));
    };
    choose("Field", "bottom");
    choose("Gamma", "1.6");
    choose("Plane", "0");
    choose("Zoom", "1");
    b.settle();
    let id = b.run("return s.clip.value.id");
    let want = studio.get(&format!("/frame/{id}/0/0?side=in&field=bottom&gamma=1.6&plane=0")).body;
    let place = b.run("return v.panes.get('in').origin()");
    let [left, top] = [0, 1].map(|i| place[i].as_u64().unwrap() as usize);
    let (canvas, bytes) = b.canvas("in");
    for y in 0..48 {
        let at = 4 * ((top + y) * canvas + left);
        assert!(bytes[at..at + 4 * 64] == want[4 * 64 * y..4 * 64 * (y + 1)], "row {y}");
    }
    for want in ["", "top", "bottom"] {
        b.press("T");
        assert_eq!(b.run("return s.view.field.value"), json!(want));
    }
}

#[test]
fn filters_show_their_time() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=320x240:frames=4");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('noise'); await 0; s.addStep('blur', { sigma: '20' }); await 0; s.addStep('invert');");
    b.run("s.editStep(s.doc.value.steps[1].id, (x) => ({ ...x, off: true }));");
    b.settle();
    b.press("Shift+F8");
    b.until("return [...document.querySelectorAll('.took')].filter((e) => / ms$/.test(e.textContent)).length === 2");
    let list = b.run("return [...document.querySelectorAll('.took')].map((e) => e.textContent)");
    assert_eq!(list[1], json!(""), "what is off takes nothing");
    b.press("Shift+F8");
    b.until("return !document.querySelector('.took')");
}

/// Choices have pictures of the frame that is shown, each what it will be.
#[test]
fn presets_are_shown_on_the_frame() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:zoneplate:size=192x108:frames=9");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('invert'); s.seek(5);");
    b.settle();
    b.press("Ctrl+F");
    "vhs noise".split(' ').for_each(|word| {
        word.chars().for_each(|c| b.press(&c.to_string()));
        b.press("Space");
    });
    b.until("return !!document.querySelector('.thumb[data-choice=noise-vhs][data-drawn]')");
    let shown = b.run(
        "const c = document.querySelector('.thumb[data-choice=noise-vhs]');
         // Two to one, from the middle of 192 by 108.
         return [c.width, c.height, [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]];",
    );
    let id = b.run("return s.clip.value.id");
    let key = studio.key(&json!({ "id": id }), "invert,noise=preset=vhs");
    assert_eq!((&shown[0], &shown[1]), (&json!(64), &json!(36)));
    let mut want = studio.get(&format!("/frame/{id}/{key}/5?side=out&region=64,36,64,36")).body;
    // The right half is what the filter adds alone.
    let alone = studio.key(&json!({ "id": id }), "noise=preset=vhs");
    let added = studio.get(&format!("/frame/{id}/{alone}/5?side=diff&gain=4&region=64,36,64,36")).body;
    for at in (0..want.len()).filter(|at| at % 256 >= 128) {
        want[at] = added[at];
    }
    let got: Vec<u8> =
        shown[2].as_array().unwrap().iter().map(|v: &Value| v.as_u64().unwrap() as u8).collect();
    assert!(got == want, "another picture than the filter makes");
    // The work ends with the window.
    b.press("Escape");
    b.settle();
    assert_eq!(b.run("return s.doc.value.steps.length"), json!(1));
}

/// From 80 to 200 percent, samples stay device pixels, and nothing of the page is out of reach.
#[test]
fn everything_grows_and_pictures_stay_exact() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:zoneplate:size=67x45:frames=3");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.cdp(
        "Emulation.setDeviceMetricsOverride",
        json!({ "width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false }),
    );
    b.run("s.addStep('noise'); v.zoomTo(3);");
    let scales = ["-", "-", "-", "+", "+", "+", "+", "+", "+", "+", "+", "+"];
    let mut seen = Vec::new();
    for sign in scales {
        b.press(&format!("Ctrl+Alt+{sign}"));
        b.settle();
        let told = b.run(
            "const p = v.panes.get('out');
             const box = p.canvas.getBoundingClientRect();
             const font = Number.parseFloat(getComputedStyle(document.querySelector('#bar button')).fontSize);
             return [s.scale.value, p.canvas.width - Math.round(box.width * devicePixelRatio), document.documentElement.scrollWidth > innerWidth + 1,
               document.querySelector('#status').getBoundingClientRect().bottom <= innerHeight + 1, font];",
        );
        let scale = told[0].as_u64().unwrap();
        assert!(told[1].as_i64().unwrap().abs() <= 1, "{told}");
        assert_eq!((&told[2], &told[3]), (&json!(false), &json!(true)), "{told}");
        seen.push(scale);
    }
    assert_eq!(seen, [90, 80, 80, 90, 100, 110, 125, 150, 175, 200, 200, 200]);
    // The sample under the pointer is displayed.
    let at = b.run(
        "const p = v.panes.get('in'); const r = p.canvas.getBoundingClientRect();
         const scale = p.canvas.width / r.width;
         return [r.x + (p.origin()[0] + 10.5 * 3) / scale, r.y + (p.origin()[1] + 20.5 * 3) / scale].map(Math.round);",
    );
    b.post(
        "/actions",
        &json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [
            { "type": "pointerMove", "duration": 0, "x": at[0], "y": at[1], "origin": "viewport" } ] }] }),
    );
    let point = "return v.pointer.value && JSON.stringify([v.pointer.value.x, v.pointer.value.y])";
    b.run("await new Promise((r) => setTimeout(r, 100))");
    assert_eq!(b.run(point), json!("[10,20]"));
}

/// Samples have the shape that the clip says, across and under the pointer, until they are shown square.
#[test]
fn samples_have_the_clips_shape() {
    let session = Session::new();
    for (name, shape) in [("wide.mkv", "16/15"), ("narrow.mkv", "8/9")] {
        let made = std::process::Command::new("ffmpeg")
            .args(["-v", "error", "-f", "lavfi", "-i"])
            .arg(format!("testsrc=size=90x72:rate=24:duration=0.2,setsar={shape}"))
            .args(["-c:v", "ffv1"])
            .arg(session.path(name))
            .status();
        assert!(made.unwrap().success());
    }
    let studio = Studio::start(&session, "wide.mkv");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.view.layout.value = 'in'; v.zoomTo(3);");
    let shown = "const p = v.panes.get('in'); return [p.across(), p.zoom(), ...p.origin(), s.clip.value.id];";
    for want in [3.2, 3.0] {
        b.settle();
        let told = b.run(shown);
        let [across, down, left, top] = [0, 1, 2, 3].map(|i| told[i].as_f64().unwrap());
        assert!((across - want).abs() < 1e-9 && down == 3.0, "{told}");
        let frame = studio.get(&format!("/frame/{}/0/0?side=in", told[4])).body;
        let (width, bytes) = b.canvas("in");
        for (x, y) in [(0, 0), (89, 71), (37, 21), (75, 50)] {
            let at = |n: usize, from: f64, by: f64| (from + (n as f64 + 0.5) * by) as usize;
            let (cx, cy) = (at(x, left, across), at(y, top, down));
            assert_eq!(&bytes[4 * (cy * width + cx)..][..3], &frame[4 * (90 * y + x)..][..3], "{x},{y}");
            let under = b.run(&format!(
                "const p = v.panes.get('in'); const r = p.canvas.getBoundingClientRect();
                 return p.at({{ clientX: r.left + {cx}.5 * r.width / p.canvas.width, clientY: r.top + {cy}.5 * r.height / p.canvas.height }}).map(Math.floor);"
            ));
            assert_eq!(under, json!([x, y]));
        }
        b.press("A");
    }
    // Smaller ones are the mean of what they cover, also where that is so in one direction alone.
    let size = |input: &str, zoom: &str| {
        b.run(&format!("await s.openClip('{input}'); s.view.zoom.value = {zoom};"));
        b.settle();
        b.run("const { source } = v.panes.get('in').shown; return [source.width, source.height]")
    };
    assert_eq!(size("wide.mkv", "0.5"), json!([48, 36]));
    assert_eq!(size("narrow.mkv", "1"), json!([80, 72]));
}
