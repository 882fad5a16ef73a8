//! The windows that open clips and render them.

use crate::browser::Browser;
use crate::deliveries::choose;
use crate::server::Studio;
use crate::util::Session;
use serde_json::{Value, json};

fn page(session: &Session, line: &str) -> (Studio, Browser) {
    let studio = Studio::start(session, line);
    let browser = Browser::start(1280, 720);
    browser.open(&studio);
    (studio, browser)
}

/// Clicks on what has this text.
fn click(b: &Browser, what: &str, text: &str, event: &str) {
    b.until(&format!(
        "return [...document.querySelectorAll('{what}')].some((e) => e.textContent.trim() === {0})",
        json!(text)
    ));
    b.run(&format!(
        "[...document.querySelectorAll('{what}')].find((e) => e.textContent.trim() === {0})
           .dispatchEvent(new MouseEvent('{event}', {{ bubbles: true }}));",
        json!(text)
    ));
}

#[test]
fn clips_are_found_by_their_folders_and_opened_again() {
    let session = Session::new();
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(session.path("night")).unwrap();
    session.run("render pattern:bars:size=64x48:frames=48 night/clip.y4m").ok();
    session.run("render pattern:ramp:size=32x24:frames=3 shot.%04d.png --frame-offset 7").ok();
    session.run(&format!("render pattern:grey:size=16x16:frames=2 {}/far.y4m", other.path().display())).ok();
    let (_studio, b) = page(&session, &format!("--allow-folder {}", other.path().display()));
    let row = |name: &str, told: &str| {
        b.until(&format!(
            "return [...document.querySelectorAll('.filelist div')].some((e) => e.textContent.includes('{name}') && e.textContent.includes('{told}'))"
        ));
    };
    let trail = || b.run("return [...document.querySelectorAll('.crumb')].map((e) => e.textContent)");
    b.press("Ctrl+O");
    click(&b, ".filelist button", "night/", "click");
    row("clip.y4m", "64×48, 0:02.0");
    assert_eq!(trail().as_array().unwrap()[1..], [json!("night")]);
    b.run("document.querySelector('.crumb').click()");
    // Numbered images are one clip.
    row("shot.%04d.png", "7–9: 3 images");
    row("shot.%04d.png", "32×24");
    assert_eq!(b.run("return document.querySelectorAll('.filelist div').length"), json!(2));
    click(&b, ".filelist button", "shot.%04d.png", "dblclick");
    b.until("return !document.querySelector('dialog[open]')");
    assert_eq!(b.run("return [s.clip.value.first, s.clip.value.last]"), json!([7, 9]));
    // Another folder, that was allowed.
    let other_folder = || {
        b.press("Ctrl+O");
        b.until("return !!document.querySelector('[aria-label=\"Other folders\"]')");
        b.run(
            "const e = document.querySelector('[aria-label=\"Other folders\"]'); e.selectedIndex = 1;
             e.dispatchEvent(new Event('change'));",
        );
    };
    other_folder();
    click(&b, ".filelist button", "far.y4m", "dblclick");
    b.until("return !document.querySelector('dialog[open]')");
    assert_eq!(b.run("return s.clip.value.width"), json!(16));
    b.press("Ctrl+O");
    click(&b, ".recent button", "shot.%04d.png", "click");
    b.until("return !document.querySelector('dialog[open]')");
    assert_eq!(b.run("return [s.clip.value.width, s.recent.value.length]"), json!([32, 2]));
    // A folder that is all that fits what is typed is opened.
    other_folder();
    b.until(
        "return [...document.querySelectorAll('.filelist button')].some((e) => e.textContent === 'night/')",
    );
    let give = |name: &str| {
        b.run(&format!(
            "const e = document.querySelector('#file-name'); e.value = '{name}';
             e.dispatchEvent(new Event('input', {{ bubbles: true }})); await 0;
             document.querySelector('dialog[open] footer .main').click();"
        ));
    };
    give("nigh");
    b.until("return [...document.querySelectorAll('.crumb')].at(-1).textContent === 'night'");
    b.press("Escape");
    // A recipe is saved in the folder that is shown, also if it has another name first.
    b.run("s.addStep('noise');");
    b.press("Ctrl+Shift+S");
    b.until("return [...document.querySelectorAll('.crumb')].at(-1)?.textContent === 'night'");
    give("hero.toml");
    b.until("return !document.querySelector('dialog[open]')");
    assert!(session.path("night/hero.toml").exists() && !session.path("hero.toml").exists());
    b.press("Ctrl+Shift+S");
    b.until("return document.querySelector('#file-name')?.value === 'hero.toml'");
    b.run("document.querySelector('.crumb').click()");
    b.until("return document.querySelectorAll('.crumb').length === 1");
    b.run("document.querySelector('dialog[open] footer .main').click()");
    b.until("return !document.querySelector('dialog[open]')");
    assert!(session.path("hero.toml").exists());
}

/// A setting is given files that it reads.
#[test]
fn files_of_a_setting_are_of_its_kind() {
    let session = Session::new();
    for name in ["warm.cube", "cold.CUBE", "clip.mp4", "a.png", "b.toml", "c.gfa"] {
        session.write(name, "");
    }
    let (_studio, b) = page(&session, "pattern:bars:size=64x48:frames=9");
    let rows = |filter: &str, label: &str, typed: &str| {
        b.run(&format!("s.addStep('{filter}')"));
        b.settle();
        b.until(&format!("return !!document.querySelector('[aria-label=\"{label}: choose a file\"]')"));
        b.run(&format!("document.querySelector('[aria-label=\"{label}: choose a file\"]').click()"));
        b.until("return !!document.querySelector('.crumb')");
        b.run(&format!("const e = document.querySelector('#file-name'); e.value = '{typed}'; e.dispatchEvent(new Event('input'));"));
        let rows =
            b.run("return [...document.querySelectorAll('.filelist button')].map((e) => e.textContent)");
        b.press("Escape");
        b.until("return !document.querySelector('dialog[open]')");
        rows
    };
    assert_eq!(rows("lut", "File", ""), json!(["cold.CUBE", "warm.cube"]));
    assert_eq!(rows("lut", "File", "wa"), json!(["warm.cube"]));
    assert_eq!(rows("overlay", "File", ""), json!(["a.png", "clip.mp4"]));
    assert_eq!(rows("sprites", "Image", ""), json!(["a.png"]));
    assert_eq!(rows("sprites", "Tracks", ""), json!(["c.gfa"]));
    assert_eq!(rows("particles", "Effect file", ""), json!(["b.toml"]));
    // The name that is proposed is replaced by typing.
    b.press("Ctrl+S");
    b.until("return document.querySelector('#file-name')?.value === 'look.toml'");
    b.press("x");
    b.until("return document.querySelector('#file-name').value === 'x'");
}

#[test]
fn filters_are_found_by_the_words_of_colourists() {
    let session = Session::new();
    let (_studio, b) = page(&session, "pattern:bars:size=64x48:frames=9");
    b.press("Ctrl+F");
    b.until("return !!document.querySelector('.chooser input')");
    for (typed, want) in [
        ("brightness", "color levels"),
        ("exposure", "levels color"),
        ("lift", "levels"),
        ("gain", "levels"),
        ("curve", "levels"),
        ("white balance", "levels color"),
        ("tint", "levels color"),
        ("match", "levels color lut"),
        ("vignette edges", "vignette"),
        ("date", "text"),
        ("title", "text"),
        ("subtitle", "text"),
        ("brighter", "color levels"),
        ("warm", "color"),
        ("dark corners", "vignette"),
        ("darker edges", "vignette"),
        ("hide face", "blur"),
        ("pixelate", "blur"),
    ] {
        let first = b.run(&format!(
            "const e = document.querySelector('.chooser input'); e.value = '{typed}'; e.dispatchEvent(new Event('input'));
             return document.querySelector('.chooser [role=option]')?.id.replace('choice-', '') ?? 'none';"
        ));
        assert!(want.split(' ').any(|name| first == *name), "{typed}: {first}");
    }
    // Who chooses by the keyboard goes on with the filter, whose settings do not take the keys of commands.
    b.run("const e = document.querySelector('.chooser input'); e.value = 'grain'; e.dispatchEvent(new Event('input'));");
    b.press("Enter");
    b.until("return document.activeElement === document.querySelector('#filters li.chosen .name')");
    b.press("f");
    assert_eq!(b.run("return s.doc.value.steps[0].values"), json!({}));
    b.run("document.activeElement.blur()");
    b.press("Ctrl+K");
    b.until("return !!document.querySelector('.chooser input')");
    for typed in ["export", "gif", "trim", "split", "cut", "full", "example"] {
        let found = b.run(&format!(
            "const e = document.querySelector('.chooser input'); e.value = '{typed}'; e.dispatchEvent(new Event('input'));
             return document.querySelectorAll('.chooser [role=option]').length;"
        ));
        assert_ne!(found, json!(0), "{typed}");
    }
}

/// The start page can be seen again, and each of its examples is made without the others.
#[test]
fn the_start_page_comes_back() {
    let session = Session::new();
    let (_studio, b) = page(&session, "");
    let example = |n: usize| {
        b.until("return document.querySelectorAll('.start ul:last-of-type button').length === 3");
        b.run(&format!("document.querySelectorAll('.start ul:last-of-type button')[{n}].click()"));
    };
    let filters = "return JSON.stringify(s.doc.value.steps.map((e) => e.name))";
    let has = |name: &str| {
        let shown = format!(
            "return [...document.querySelectorAll('#filters li .name')].map((e) => e.textContent).join() === '{name}'"
        );
        b.until(&shown);
        b.settle();
    };
    example(0);
    has("Film grain");
    b.run("k.command('file.start').run()");
    b.run("s.setValue(s.doc.value.steps[0].id, 'strength', '5')");
    example(1);
    click(&b, "dialog[open] button", "Discard the changes", "click");
    has("Particles");
    assert_eq!(b.run(filters), json!("[\"particles\"]"));
}

/// The name of A does not push the bar into a second row.
#[test]
fn the_bar_has_one_row() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=64x48:frames=9");
    let b = Browser::start(1600, 900);
    b.open(&studio);
    let height = "return document.querySelector('#bar').offsetHeight";
    let before = b.run(height);
    b.run("for (const name of ['grain', 'vignette', 'analog', 'halation', 'particles', 'color', 'levels']) s.addStep(name); await s.check(); k.command('compare.keep').run();");
    b.until("return !!document.querySelector('[aria-label=\"Compare with\"]')");
    assert_eq!(b.run(height), before);
}

#[test]
fn grain_that_is_reduced_is_told_and_shown_at_its_size() {
    let session = Session::new();
    let (studio, b) = page(&session, "pattern:grey:size=1920x1080:frames=3");
    let badges = || {
        b.settle();
        b.run("return ['in', 'out'].map((side) => !!v.panes.get(side).notes.querySelector('.badge'))")
    };
    assert_eq!(badges(), json!([false, false]));
    b.run("s.addStep('grain', {})");
    assert_eq!(badges(), json!([false, true]));
    b.run("v.panes.get('out').notes.querySelector('.badge').click()");
    assert_eq!(badges(), json!([false, false]));
    assert_eq!(b.run("return v.panes.get('out').zoom()"), json!(1));
    // It can be closed for good.
    b.run("v.zoomTo(0)");
    assert_eq!(badges(), json!([false, true]));
    b.run("v.panes.get('out').notes.querySelector('.badge').nextElementSibling.click()");
    assert_eq!(badges(), json!([false, false]));
    b.run("await new Promise((r) => setTimeout(r, 1000))");
    b.open(&studio);
    assert_eq!(badges(), json!([false, false]));
    b.run("s.view.hints.value = true");
    // A filter without detail of that kind needs no warning.
    b.run("s.replaceRecipe({ steps: [{ name: 'vignette', off: false, values: {} }], seed: null }); v.zoomTo(0);");
    assert_eq!(badges(), json!([false, false]));
    // A GIF of this size is large.
    b.press("F7");
    choose(&b, "deliver", "gif");
    let smaller =
        "[...document.querySelectorAll('dialog[open] button')].find((e) => e.textContent.includes('480'))";
    b.until(&format!("return !!{smaller}"));
    b.run(&format!("{smaller}.click()"));
    b.until("return document.querySelector('dialog[open] .outcome').textContent.includes('480×270')");
}

#[test]
fn the_hash_is_that_of_the_frame_and_each_side_of_a_wipe_has_its_name() {
    let session = Session::new();
    let input = "pattern:bars:size=96x64:frames=5";
    let (_studio, b) = page(&session, input);
    b.run("s.addStep('noise', { strength: '6' }); s.seek(2); s.view.layout.value = 'out';");
    b.settle();
    b.run("s.view.layout.value = 'diff'");
    let shown = |b: &Browser| b.run("return document.querySelectorAll('#status code')[1].textContent");
    let hash = |strength: u32| {
        let told = session.run(&format!("hash {input} -f noise=strength={strength} --frames 2")).ok().text();
        let hash = told.split(|c: char| !c.is_ascii_hexdigit()).find(|word| word.len() == 32);
        hash.map(|h| h[..8].to_owned()).unwrap_or_else(|| panic!("{told}"))
    };
    b.settle();
    assert_eq!(shown(&b), json!(hash(6)));
    // Another recipe, another frame: the old hash is not shown any more, and then the new one is.
    let told = b.run(
        "const before = s.key.value;
         return new Promise((done) => {
           s.effect(() => {
             if (s.key.value !== before) queueMicrotask(() => done(document.querySelectorAll('#status code')[1].textContent));
           });
           s.setValue(s.doc.value.steps[0].id, 'strength', '9');
         });",
    );
    assert_eq!(told, json!("–"));
    b.settle();
    assert_eq!(shown(&b), json!(hash(9)));
    b.run("s.view.layout.value = 'wipe'");
    b.settle();
    let names = b.run(
        "const of = (e) => [e.textContent.split(',')[0], e.getBoundingClientRect().x];
         const [label, right] = v.panes.get('out').notes.children;
         return [of(label), of(right)];",
    );
    assert_eq!((&names[0][0], &names[1][0]), (&json!("Source"), &json!("Result")));
    assert!(names[0][1].as_f64() < names[1][1].as_f64(), "{names}");
    // The source's part is drawn when it arrives, however late.
    let late = b.run(
        "const real = fetch;
         globalThis.fetch = async (...a) => {
           const got = await real(...a);
           if (String(a[0]).includes('side=in')) await new Promise((f) => setTimeout(f, 600));
           return got;
         };
         const [source, { canvas }] = [v.panes.get('in'), v.panes.get('out')];
         const rest = async () => {
           await new Promise((f) => setTimeout(f, 400));
           while (source.running || source.shownUrl !== source.url) await new Promise((f) => setTimeout(f, 20));
         };
         [s.view.zoom.value, s.view.center.value] = [40, [0.1, 0.1]];
         await rest();
         s.view.center.value = [0.9, 0.9];
         await rest();
         const seen = () => canvas.toDataURL();
         const before = seen();
         v.panes.get('out').draw();
         return before === seen();",
    );
    assert_eq!(late, json!(true));
}

#[test]
fn the_list_of_keys_is_as_wide_as_its_window() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    for (width, height) in [(1280, 720), (2560, 1440)] {
        let b = Browser::start(width, height);
        b.open(&studio);
        b.press("F1");
        b.until("return document.querySelectorAll('dialog[open] kbd').length > 60");
        let cut = b.run(
            "const d = document.querySelector('dialog[open]');
             const right = d.getBoundingClientRect().right;
             return [d.scrollWidth - d.clientWidth, [...d.querySelectorAll('kbd')].filter((e) => e.getBoundingClientRect().right > right).length];",
        );
        assert_eq!(cut, json!([0, 0]), "{width}x{height}");
    }
}

/// What runs is on top, what is done is below, the newest first, and can be played.
#[test]
fn the_running_job_is_on_top_and_a_done_one_is_played() {
    let session = Session::new();
    let (studio, b) = page(&session, "pattern:grey:size=32x32:frames=3");
    let add = |input: &str, output: &str| {
        studio.post("/jobs", &json!({ "input": input, "output": output, "filters": "noise" }))["id"].clone()
    };
    b.run("s.dock.value = 'jobs';");
    for (i, name) in ["older.y4m", "done.y4m"].iter().enumerate() {
        let id = add("pattern:bars:size=64x48:frames=5", name);
        studio.post("/jobs/start", &json!({ "id": id }));
        b.until(&format!("return document.querySelectorAll('.jobs tr.done').length > {i}"));
    }
    let ids =
        ["one.y4m", "two.y4m", "long.mkv"].map(|name| add("pattern:bars:size=64x48:frames=500000", name));
    studio.post("/jobs/start", &json!({ "id": ids[2] }));
    let shown = "return [...document.querySelectorAll('.jobs tbody tr')].map((r) => r.children[1].textContent).join(' ')";
    b.until(&format!("return (() => {{ {shown} }})() === 'long.mkv one.y4m two.y4m done.y4m older.y4m' && !!document.querySelector('.jobs tr.running')"));
    studio.post("/jobs/stop", &json!({}));
    b.until("return !document.querySelector('.jobs tr.running')");
    let rows =
        "(() => [...document.querySelectorAll('.jobs tbody tr')].map((r) => r.children[1].textContent))()";
    // Earlier and later are places among those that are not done.
    b.until(&format!("return {rows}.length === 5 && {rows}[3] === 'done.y4m'"));
    let first = b.run(&format!("return {rows}[0]"));
    b.run("document.querySelector('.jobs tbody tr [aria-label=Later]').click()");
    b.until(&format!("return {rows}[1] === {first}"));
    b.run("[...document.querySelectorAll('.jobs tr.done button')].find((e) => e.textContent === 'Play').click()");
    b.until("return document.querySelector('#status').textContent.includes('done.y4m: 64×48')");
}

/// The size is estimated from a few frames: exactly where all frames have one size, and stated as an estimate.
#[test]
fn the_size_of_a_render_is_estimated() {
    let session = Session::new();
    let (studio, b) = page(&session, "pattern:zoneplate:size=160x90:frames=200");
    let clip = studio.open("pattern:zoneplate:size=160x90:frames=200");
    let key = studio.key(&clip, "noise=strength=9");
    let ask = |output: &str, options: Value, count: u64| {
        let body = json!({ "clip": clip["id"], "key": key, "output": output, "options": options, "first": 0, "count": count });
        studio.send("POST", "/estimate", &body)
    };
    for (output, frames) in [("all.y4m", "0-199"), ("few.y4m", "0-6"), ("one.y4m", "0")] {
        session.run(&format!("render pattern:zoneplate:size=160x90:frames=200 {output} -f noise=strength=9 --frames {frames}")).ok();
        let count = if frames == "0" { 1 } else { frames[2..].parse::<u64>().unwrap() + 1 };
        let told = ask(output, json!({}), count).json();
        assert_eq!(
            told["bytes"].as_f64().unwrap() as u64,
            std::fs::metadata(session.path(output)).unwrap().len(),
            "{told}"
        );
        assert_eq!(told["frames"], json!(count.min(36)));
    }
    // An encoder's own options may write files.
    for options in [json!({ "codec": "libx264", "codec-opt": "stats=/tmp/x" }), json!({ "lavfi": "null" })] {
        assert_eq!(ask("a.mp4", options, 9).status, 422);
    }
    assert_eq!(ask("../a.mp4", json!({}), 9).status, 422);
    let before = std::fs::read_dir(session.path("")).unwrap().count();
    b.run("s.addStep('noise', { strength: '9' });");
    b.settle();
    b.press("F7");
    b.until("return document.querySelector('.outcome')?.textContent.includes('estimated from 36 frames') === true");
    let text = b.run("return document.querySelector('.outcome').textContent");
    assert!(
        text.as_str().unwrap().contains("Size: about ") && text.as_str().unwrap().contains("Mbit/s"),
        "{text}"
    );
    if let Ok(folder) = std::env::var("GRAINFIELD_SHOTS") {
        b.screenshot(&std::path::Path::new(&folder).join("estimate.png"));
    }
    // Other settings, another estimate; nothing stays behind.
    b.run("const e = document.querySelector('#r-crf'); e.value = '40'; e.dispatchEvent(new Event('input', { bubbles: true }));");
    b.until("return document.querySelector('.outcome').textContent.includes('rendering a few frames')");
    b.until("return document.querySelector('.outcome').textContent.includes('estimated from 36 frames')");
    assert_ne!(b.run("return document.querySelector('.outcome').textContent"), text);
    assert_eq!(std::fs::read_dir(session.path("")).unwrap().count(), before);
}

/// The folder of a finished file opens in the file manager, where there is one: never the file, and no other.
#[test]
fn a_finished_file_is_shown_in_its_folder() {
    use std::os::unix::fs::PermissionsExt;
    let session = Session::new();
    let (studio, b) = page(&session, "pattern:bars:size=64x48:frames=5");
    let add = |studio: &Studio| {
        let job =
            json!({ "input": "pattern:bars:size=64x48:frames=5", "output": "out/a.y4m", "filters": "noise" });
        studio.post("/jobs", &job)["id"].clone()
    };
    std::fs::create_dir(session.path("out")).unwrap();
    let id = add(&studio);
    b.run("s.dock.value = 'jobs'; s.dockOpen.value = true;");
    b.until("return document.querySelectorAll('.jobs tbody tr').length === 1");
    assert_eq!(studio.get("/jobs").json()["shows"], json!(false));
    assert_eq!(studio.send("POST", "/jobs/show", &json!({ "id": id })).status, 422, "it is not done");
    studio.post("/jobs/start", &json!({}));
    b.until("return !!document.querySelector('.jobs tr.done')");
    let button =
        "[...document.querySelectorAll('.jobs tr.done button')].find((e) => e.textContent === 'Show file')";
    assert_eq!(b.run(&format!("return !!{button}")), json!(false), "there is no screen");
    assert_eq!(studio.send("POST", "/jobs/show", &json!({ "id": id })).status, 422);
    drop(studio);
    std::fs::create_dir(session.path("bin")).unwrap();
    let tool = session.path("bin/xdg-open");
    std::fs::write(&tool, "#!/bin/sh\necho \"$#:$1\" >> \"${0%/*}/opened\"\n").unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", session.path("bin").display(), std::env::var("PATH").unwrap());
    let screen = [("PATH", path.as_str()), ("DISPLAY", ":99")];
    let studio =
        Studio::start_with(&session, "pattern:bars:size=64x48:frames=5 --allow-host a.example:1", &screen);
    assert_eq!(studio.get("/jobs").json()["shows"], json!(false), "the page may be on another machine");
    drop(studio);
    let studio = Studio::start_with(&session, "pattern:bars:size=64x48:frames=5", &screen);
    b.open(&studio);
    b.run("s.dock.value = 'jobs'; s.dockOpen.value = true;");
    b.until(&format!("return !!{button}"));
    if let Ok(folder) = std::env::var("GRAINFIELD_SHOTS") {
        b.screenshot(&std::path::Path::new(&folder).join("show.png"));
    }
    b.run(&format!("{button}.click()"));
    let opened = || std::fs::read_to_string(session.path("bin/opened")).unwrap_or_default();
    let begun = std::time::Instant::now();
    while opened().is_empty() && begun.elapsed() < std::time::Duration::from_secs(20) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let out = session.path("out").canonicalize().unwrap();
    assert_eq!(opened(), format!("1:{}\n", out.display()));
    // A folder that has become a link to somewhere else is not opened.
    std::fs::rename(session.path("out"), session.path("was")).unwrap();
    let other = tempfile::tempdir().unwrap();
    std::fs::copy(session.path("was/a.y4m"), other.path().join("a.y4m")).unwrap();
    std::os::unix::fs::symlink(other.path(), session.path("out")).unwrap();
    assert_eq!(studio.send("POST", "/jobs/show", &json!({ "id": id })).status, 422);
    assert_eq!(studio.send("POST", "/jobs/show", &json!({ "id": "none" })).status, 422);
    assert_eq!(opened().lines().count(), 1);
}
