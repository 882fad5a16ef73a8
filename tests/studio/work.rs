//! Recipes with comments, jobs put off, sound, measures, the loupe, and who cannot see or point.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::{Value, json};
use std::io::Read;
use std::process::Command;

fn page(session: &Session, line: &str) -> (Studio, Browser) {
    let studio = Studio::start(session, line);
    let browser = Browser::start(1280, 720);
    browser.cdp(
        "Emulation.setDeviceMetricsOverride",
        json!({ "width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false }),
    );
    browser.open(&studio);
    (studio, browser)
}

const LOOK: &str = "# For the night scenes.\nversion = 1\n\n[[filter]]\nname = \"grain\"\nsize = 1.50 # not larger\npreset = \"35mm\"\n\n# A little more.\n[[filter]]\nname = \"noise\"\nstrength = \"0=0; 24=6\"\n";

#[test]
fn comments_and_order_of_a_recipe_are_saved_again() {
    let session = Session::new();
    session.write("look.toml", LOOK);
    let (_studio, b) = page(&session, "pattern:bars:size=64x48:frames=30 --recipe look.toml");
    assert_eq!(b.run("return s.dirty.value"), json!(false));
    b.run("s.setValue(s.doc.value.steps[0].id, 'size', '2'); s.moveStep(0, 1); s.addStep('invert');");
    b.settle();
    b.press("Ctrl+S");
    b.until("return [...document.querySelectorAll('#toasts p')].some((e) => /saved/.test(e.textContent))");
    let text = String::from_utf8(session.read("look.toml")).unwrap();
    let want = "# For the night scenes.\nversion = 1\n\n# A little more.\n[[filter]]\nname = \"noise\"\nstrength = \"0=0; 24=6\"\n\n[[filter]]\nname = \"grain\"\nsize = 2 # not larger\npreset = \"35mm\"\n\n[[filter]]\nname = \"invert\"\n";
    assert_eq!(text, want);
    // Opened again, it is the same.
    let before = b.run("return s.plainDoc()");
    b.press("Ctrl+L");
    b.until("return !!document.querySelector('.filelist button')");
    b.run(
        "[...document.querySelectorAll('.filelist button')].find((e) => e.textContent === 'look.toml')
           .dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));",
    );
    b.until("return !document.querySelector('dialog[open]')");
    b.settle();
    assert_eq!(b.run("return [s.plainDoc(), s.dirty.value]"), json!([before, false]));
}

/// Neither a recipe nor an effect that another program has changed is replaced without a question, also not after a
/// restart, and changes that are made while a file is written stay unsaved.
#[test]
fn files_that_others_have_changed_are_replaced_only_on_request() {
    let session = Session::new();
    session.write("look.toml", LOOK);
    let (studio, b) = page(&session, "pattern:bars:size=64x48:frames=30 --recipe look.toml");
    let asks = |file: &str| {
        b.until("return !!document.querySelector('dialog[open] footer .main')");
        assert_eq!(session.read(file), b"# theirs\n");
        b.run("document.querySelector('dialog[open] footer .main').click()");
        b.until("return !document.querySelector('dialog[open]')");
        let begun = std::time::Instant::now();
        while session.read(file) == b"# theirs\n" {
            assert!(begun.elapsed().as_secs() < 20);
        }
    };
    b.run("s.setValue(s.doc.value.steps[0].id, 'size', '2');");
    b.settle();
    session.write("look.toml", "# theirs\n");
    b.press("Ctrl+S");
    asks("look.toml");
    // the text that was saved last is known
    b.run("s.setValue(s.doc.value.steps[0].id, 'size', '3');");
    b.settle();
    b.press("Ctrl+S");
    b.until("return !document.querySelector('[title=\"changed since the last save\"]')");
    // also after a restart
    b.run("s.setValue(s.doc.value.steps[0].id, 'size', '4');");
    b.settle();
    b.run("await s.post('/autosave', s.keepsake())");
    drop(studio);
    session.write("look.toml", "# theirs\n");
    let studio = Studio::start(&session, "");
    b.open(&studio);
    b.until("return document.querySelector('.recipe')?.title === 'look.toml'");
    b.settle();
    b.press("Ctrl+S");
    asks("look.toml");
}

#[test]
fn a_postponed_job_waits_until_it_is_resumed() {
    let session = Session::new();
    let (studio, b) = page(&session, "pattern:bars:size=64x48:frames=5");
    let add = |input: &str, output: &str| {
        studio.post("/jobs", &json!({ "input": input, "output": output, "filters": "noise" }));
    };
    add("pattern:zoneplate:size=64x48:frames=500000", "long.y4m");
    add("pattern:bars:size=64x48:frames=5", "a.y4m");
    b.run("s.dock.value = 'jobs'");
    let rows = |states: &str| {
        b.until(&format!(
            "return [...document.querySelectorAll('.jobs tbody tr:not(.why)')].map((e) => e.className).join() === '{states}'"
        ));
    };
    let press = |row: usize, name: &str| {
        b.run(&format!(
            "[...document.querySelectorAll('.jobs tbody tr')[{row}].querySelectorAll('button')].find((e) => [e.textContent, e.title].includes('{name}')).click()"
        ));
    };
    studio.post("/jobs/start", &json!({}));
    rows("running,waiting");
    // Everything happens while the first job runs: it is cancelled alone, and the others go on.
    press(1, "Postpone");
    rows("running,postponed");
    add("pattern:bars:size=64x48:frames=5", "b.y4m");
    add("pattern:bars:size=64x48:frames=5", "c.y4m");
    rows("running,postponed,waiting,waiting");
    press(3, "Remove");
    rows("running,postponed,waiting");
    press(0, "Cancel");
    rows("waiting,postponed,done");
    assert!(!session.path("a.y4m").exists() && session.path("b.y4m").exists());
    assert!(!session.path("c.y4m").exists() && session.path("long.partial.y4m").exists());
    press(0, "Remove");
    rows("postponed,done");
    // A batch of somebody else leaves it out.
    let told = session.run("batch grainfield-jobs.toml --status --json").ok().text();
    assert!(told.contains(r#""job":"a.y4m","state":"postponed""#), "{told}");
    press(0, "Resume");
    rows("waiting,done");
    studio.post("/jobs/start", &json!({}));
    rows("done,done");
    assert!(session.path("a.y4m").exists());
}

#[test]
fn the_loupe_shows_the_codes_of_the_sample_under_the_pointer() {
    let session = Session::new();
    let (_studio, b) = page(&session, "");
    b.press("Q");
    for (bits, format) in [(8, "yuv444p"), (10, "yuv444p10"), (16, "yuv444p16")] {
        let input = format!("pattern:ramp:size=67x45:frames=5:format={format}");
        b.run(&format!(
            "await s.openClip('{input}'); s.replaceRecipe({{ steps: [], seed: null }}); s.addStep('noise', {{ strength: '9' }});
             s.seek(2); v.zoomTo(5);"
        ));
        b.settle();
        // The samples that the program writes.
        let written = |filters: &str| {
            session.run(&format!("frame -y {input} 2 whole.y4m {filters}")).ok();
            let y4m = session.read("whole.y4m");
            let start = y4m.windows(6).position(|w| w == b"FRAME\n").unwrap() + 6;
            y4m[start..].to_vec()
        };
        let (source, result) = (written(""), written("-f noise=strength=9"));
        for (x, y) in [(30, 20), (33, 25), (36, 22)] {
            let at = b.run(&format!(
                "const p = v.panes.get('out'); const r = p.canvas.getBoundingClientRect();
                 return [r.x + p.origin()[0] + {x}.5 * 5, r.y + p.origin()[1] + {y}.5 * 5].map(Math.round);"
            ));
            b.post(
                "/actions",
                &json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [
                    { "type": "pointerMove", "duration": 0, "x": at[0], "y": at[1], "origin": "viewport" } ] }] }),
            );
            let codes = |planes: &[u8]| {
                let one = |p: usize| {
                    let at = (p * 45 + y) * 67 + x;
                    if bits == 8 {
                        u16::from(planes[at])
                    } else {
                        u16::from_le_bytes([planes[2 * at], planes[2 * at + 1]])
                    }
                };
                format!("Y {}  U {}  V {}", one(0), one(1), one(2))
            };
            let want = [format!("{x}, {y}"), codes(&source), codes(&result)];
            let script = format!(
                "return JSON.stringify([...document.querySelectorAll('#loupe td')].map((e) => e.textContent)) === {}",
                json!(json!(want).to_string())
            );
            b.until(&script);
        }
    }
}

#[test]
fn an_area_is_measured() {
    let session = Session::new();
    let (_studio, b) = page(&session, "pattern:grey:size=160x120:frames=4");
    b.run("s.addStep('noise', { strength: '6' }); v.zoomTo(1); s.dock.value = 'measure';");
    b.settle();
    let corner = b.run(
        "const p = v.panes.get('out'); const r = p.canvas.getBoundingClientRect();
         return [r.x + p.origin()[0], r.y + p.origin()[1]].map(Math.round);",
    );
    let [x, y] = [0, 1].map(|i| corner[i].as_i64().unwrap());
    let to = |dx: i64, dy: i64| json!({ "type": "pointerMove", "duration": 0, "x": x + dx, "y": y + dy, "origin": "viewport" });
    b.post(
        "/actions",
        &json!({ "actions": [
            { "type": "key", "id": "keys", "actions": [{ "type": "pause" }, { "type": "keyDown", "value": "\u{e008}" }, { "type": "pause" }, { "type": "pause" }, { "type": "pause" }, { "type": "keyUp", "value": "\u{e008}" }] },
            { "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [
                to(20, 30), { "type": "pause" }, { "type": "pointerDown", "button": 0 }, to(84, 94), { "type": "pointerUp", "button": 0 }, { "type": "pause" } ] } ] }),
    );
    assert_eq!(b.run("return s.area.value"), json!([20, 30, 64, 64]));
    b.run("[...document.querySelectorAll('.measure button')].find((e) => e.textContent === 'Measure the result').click()");
    b.until("return (document.querySelector('.measure img')?.naturalWidth ?? 0) > 400");
    // Too small a part is refused with its reason.
    b.run(
        "s.area.value = [0, 0, 4, 4]; await 0; [...document.querySelectorAll('.measure button')][0].click();",
    );
    b.until(
        "return [...document.querySelectorAll('#toasts p')].some((e) => /too small/.test(e.textContent))",
    );
}

#[test]
fn the_inputs_sound_goes_with_the_picture() {
    let session = Session::new();
    let made = Command::new("ffmpeg")
        .args(["-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=24:duration=4"])
        .args([
            "-f",
            "lavfi",
            "-i",
            "sine=frequency=440:duration=4",
            "-c:v",
            "mpeg4",
            "-c:a",
            "aac",
            "-shortest",
        ])
        .arg(session.path("clip.mp4"))
        .status();
    assert!(made.unwrap().success());
    let (_studio, b) = page(&session, "clip.mp4");
    b.press("Shift+M");
    b.until(
        "return document.querySelector('button[aria-label^=Sound]').getAttribute('aria-pressed') === 'true'",
    );
    b.run("for (let i = 0; i < 200 && !(v.heard()?.readyState > 1); i++) await new Promise((r) => setTimeout(r, 20));");
    b.run("s.seek(24); v.play(1); await new Promise((r) => setTimeout(r, 1200));");
    let told =
        b.run("return [v.heard().paused, v.heard().currentTime - s.frame.value / 24, v.heard().duration]");
    assert_eq!(told[0], json!(false));
    assert!(told[1].as_f64().unwrap().abs() < 0.5, "{told}");
    assert!((told[2].as_f64().unwrap() - 4.0).abs() < 0.2, "{told}");
    b.press("K");
    assert_eq!(b.run("return v.heard().paused"), json!(true));
    // A clip without a file has none.
    b.run("await s.openClip('pattern:bars:size=64x48:frames=5')");
    assert_eq!(b.run("return s.clip.value.sound"), json!(null));
}

/// axe-core finds nothing, whatever is open.
#[test]
fn axe_has_no_findings() {
    let session = Session::new();
    let (studio, b) = page(&session, "");
    let job = json!({ "input": "pattern:bars", "output": "a.y4m", "filters": "noise" });
    studio.post("/jobs", &job);
    let mut axe = String::new();
    flate2::read::GzDecoder::new(&include_bytes!("axe-core-4.14.1.min.js.gz")[..])
        .read_to_string(&mut axe)
        .unwrap();
    b.post("/execute/sync", &json!({ "script": axe, "args": [] }));
    let check = |what: &str| {
        b.settle();
        let found = b.run(
            "const told = await axe.run(document, { resultTypes: ['violations'] });
             return told.violations.map((x) => [x.id, x.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + n.failureSummary)]);",
        );
        assert_eq!(found, json!([]), "{what}");
    };
    check("the start page");
    b.run("await s.openClip('pattern:bars:size=64x48:frames=30')");
    b.run("s.addStep('grain', { preset: '35mm', strength: '0=0;20=9' }); await 0; s.addStep('fade', { color: '#ff8000' }); s.selected.value = 0;");
    for dock in ["curves", "scopes", "measure", "jobs"] {
        b.run(&format!("s.dock.value = '{dock}'"));
        check(dock);
    }
    session.write("sparks.toml", "[[layer]]\nname = \"core\"\nrate = \"0=4;9=40\"\nlife = [1, 2]\nopacity-over = [[0, 1], [1, 0]]\ncolours = [\"#ff8000\"]\n");
    b.run("s.dock.value = 'curves'; s.addStep('particles', { effect: 'sparks.toml' }); await 0; (await import('/app/effect.js')).openEffect(s.selectedStep.value);");
    b.until("return !!document.querySelector('.effect .points')");
    check("an effect");
    b.run("s.selected.value = 0; s.setValue(s.doc.value.steps[0].id, 'mask', 'ellipse');");
    b.press("R");
    b.until("return !!document.querySelector('.maskbox') && !!document.querySelector('[aria-label=\"Compare with\"]')");
    check("a mask, and a recipe to compare with");
    // Each command that opens a window.
    for key in [
        "F1",
        "Ctrl+K",
        "Ctrl+F",
        "F7",
        "Ctrl+O",
        "Ctrl+L",
        "Ctrl+Shift+S",
        "Ctrl+G",
        "Ctrl+Shift+E",
        "Alt+Enter",
        "G",
        "Shift+G",
    ] {
        b.press(key);
        b.until("return !!document.querySelector('dialog[open]')");
        b.run("await new Promise((r) => setTimeout(r, 300))");
        check(key);
        b.press("Escape");
        b.until("return !document.querySelector('dialog[open]')");
    }
    // What asks, what offers and what warns.
    b.press("Ctrl+Alt+N");
    b.until("return !!document.querySelector('dialog[open]')");
    check("a question");
    b.press("Escape");
    b.run("s.offers.value = [{ text: 'An offer.', answers: [['Take it', () => {}]] }]; s.toast('a message', true);");
    check("messages");
}

/// The command line and the recipe that are copied make the frames that the page shows.
#[test]
fn the_copied_command_renders_the_shown_picture() {
    let session = Session::new();
    let (_studio, b) = page(&session, "pattern:ramp:size=64x48:frames=9");
    b.run(
        "s.addStep('noise', { strength: '0=2;8=9', seed: '18446744073709551615' });
         s.addStep('fade', { amount: '0.25', color: '#102030' });
         s.selection.value = [2, 6];
         s.seek(4);
         globalThis.copied = [];
         navigator.clipboard.writeText = async (text) => { globalThis.copied.push(text); };",
    );
    b.settle();
    let shown = b.run("return document.querySelectorAll('#status code')[1].textContent");
    b.press("Ctrl+Shift+C");
    b.until("return globalThis.copied.length === 1");
    b.press("Ctrl+Shift+E");
    b.run(
        "[...document.querySelectorAll('dialog[open] button')].find((e) => e.textContent === 'Copy').click()",
    );
    b.until("return globalThis.copied.length === 2");
    let copied = b.run("return globalThis.copied");
    let (line, recipe) = (copied[0].as_str().unwrap(), copied[1].as_str().unwrap());
    session.write("copied.toml", recipe);
    let codec = " --codec libx264 --crf 16 --pix-fmt yuv420p --codec-opt tune=grain";
    assert!(line.contains(codec), "{line}");
    let line = &line.replacen(line.split(' ').nth(3).unwrap(), "OUTPUT", 1).replacen(codec, "", 1);
    let by_recipe =
        "grainfield render pattern:ramp:size=64x48:frames=9 OUTPUT --recipe copied.toml --frames 2-6";
    for line in [line, by_recipe] {
        let program = session.command("");
        let mut shell = Command::new("bash");
        let name = program.get_program().to_str().unwrap();
        shell.args([
            "-c",
            &format!("{} -q", line.replacen("grainfield", name, 1).replacen("OUTPUT", "hash:-", 1)),
        ]);
        let out = shell.current_dir(session.path("")).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        let hashes: Vec<&str> =
            text.split(|c: char| !c.is_ascii_hexdigit()).filter(|w| w.len() == 32).collect();
        assert_eq!(hashes.len(), 5, "{line}: {text}{}", String::from_utf8_lossy(&out.stderr));
        assert_eq!(json!(hashes[2][..8]), shown, "{line}");
    }
}

/// Each key of the list does something: it changes what the page knows, opens a window, or tells something.
#[test]
fn no_key_of_the_list_is_dead() {
    let session = Session::new();
    let (_studio, b) = page(&session, "pattern:bars:size=64x48:frames=200");
    let all = b.run("return k.commands.flatMap((c) => k.keysOf(c).map((key) => [c.id, key]))");
    let all: Vec<(String, String)> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|pair: &Value| (pair[0].as_str().unwrap().to_owned(), pair[1].as_str().unwrap().to_owned()))
        .collect();
    assert!(all.len() > 80);
    // Each key is of one command, and reaches it.
    let mut seen = std::collections::BTreeMap::new();
    for (id, key) in &all {
        assert_eq!(seen.insert(key.clone(), id.clone()), None, "{key} is twice in the list");
    }
    b.run(
        "globalThis.ran = [];
         for (const c of k.commands) { c.can = undefined; c.run = () => globalThis.ran.push(c.id); }",
    );
    for (id, key) in &all {
        // Those that need Shift on this keyboard for the character itself are typed as that character.
        if key.ends_with("Shift++") {
            continue;
        }
        b.run("globalThis.ran = []");
        b.press(key);
        assert_eq!(b.run("return globalThis.ran"), json!([id]), "{key}");
    }
}
