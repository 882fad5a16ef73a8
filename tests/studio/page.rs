//! The page, as its users work with it.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::{Value, json};

const CLIP: &str = "pattern:zoneplate:size=96x64:frames=48";

fn page(line: &str) -> (Session, Studio, Browser) {
    let session = Session::new();
    let studio = Studio::start(&session, line);
    let browser = Browser::start(1280, 720);
    browser.open(&studio);
    (session, studio, browser)
}

/// Every setting of every filter has a control; each takes a value by its own events, and the server takes it too. What
/// all filters have is set in the first.
#[test]
fn every_kind_of_setting_has_its_control() {
    let (session, _studio, b) = page(CLIP);
    session.write("picture.png", png());
    let found = b.run(
        "const kinds = {};
         const wrong = [];
         const type = (e, value, event = 'change') => { e.value = value; e.dispatchEvent(new Event(event, { bubbles: true })); };
         const wait = () => new Promise((r) => setTimeout(r));
         s.view.layout.value = 'in';
         for (const filter of s.catalog.value) {
           s.replaceRecipe({ steps: [], seed: null });
           s.addStep(filter.name);
           await s.check();
           await wait();
           const step = () => s.doc.value.steps[0];
           for (const set of [...filter.settings, ...filter.common]) {
             // A setting that depends on another setting's value is shown with that value.
             if (set.only_when) {
               s.setValue(step().id, set.only_when.setting, set.only_when.values[0]);
               await s.check();
               await wait();
             } else if (set.group === 'Mask' && !/^(mask|where)$/.test(set.id)) {
               s.setValue(step().id, 'mask', 'ellipse');
               s.setValue(step().id, 'where', set.id === 'where_over' ? 'picture.png' : null);
               await s.check();
               await wait();
             }
             const box = document.querySelector(`.setting[data-setting='${set.id}']`);
             if (!box) { wrong.push([filter.name, set.id, 'no control']); continue; }
             const field = box.querySelector('input[id], select[id]');
             if (!field || !box.querySelector('label').htmlFor || box.querySelector('label').control !== field) wrong.push([filter.name, set.id, 'no label']);
             kinds[set.kind] = (kinds[set.kind] ?? 0) + 1;
             if (filter !== s.catalog.value[0] && filter.common.includes(set)) continue;
             let want;
             if (set.kind === 'switch') { field.click(); want = String(field.checked); }
             else if (set.kind === 'choice') { want = [...field.options].at(-1).value; type(field, want); }
             else if (set.kind === 'number' || set.kind === 'whole') {
               const range = box.querySelector('input[type=range]');
               range.value = String((Number(range.min) + Number(range.max)) / 2);
               range.dispatchEvent(new Event('input', { bubbles: true }));
               await wait();
               want = step().values[set.id];
               if (!Number.isFinite(Number(want)) || want < set.min || want > set.max) wrong.push([filter.name, set.id, want]);
             } else {
               want = { seed: set.id === 'state' ? '77' : '18446744073709551615', colour: '#ff8040', position: set.max < 100 ? '0.25,0.75' : '12,34.5', frames: '1-9,20-', planes: 'y', image: 'picture.png',
                 effect: '', 'grain table': '', 'grain plate': '', 'look-up table': '', 'track file': '', font: '', text: { timecode: '01:00:00:00', graph: 'negate' }[set.id] ?? 'a {frame}', clip: '', mask: 'ellipse', 'source frame': '7', points: '0=0;0.5=1;1=0.25' }[set.kind];
               if (want === undefined) { wrong.push([filter.name, set.id, `no such kind: ${set.kind}`]); continue; }
               if (want === '') continue;
               type(field, want);
             }
             await wait();
             if (step().values[set.id] !== want) wrong.push([filter.name, set.id, `${step().values[set.id]} for ${want}`]);
             await s.check();
             const fault = s.checked.value.faults.find((f) => f.setting === set.id);
             const effective = s.checked.value.effective[0]?.[set.id];
             // Settings that a filter rejects for these pictures, or without another setting.
             const refused = ['noise.persistence', 'crop.right', 'crop.bottom', 'fade.to', 'levels.channel', 'fluid.shape'];
             if (fault && !refused.includes(`${filter.name}.${set.id}`)) wrong.push([filter.name, set.id, fault.text]);
             else if (set.kind === 'seed' && effective !== want) wrong.push([filter.name, set.id, effective]);
             s.setValue(step().id, set.id, null);
           }
         }
         return [kinds, wrong];",
    );
    assert_eq!(found[1], json!([]));
    for kind in [
        "switch",
        "choice",
        "number",
        "whole",
        "seed",
        "colour",
        "position",
        "frames",
        "planes",
        "image",
        "effect",
        "grain table",
        "track file",
        "mask",
        "points",
    ] {
        assert!(found[0][kind].as_u64().is_some_and(|n| n > 0), "{kind}: {}", found[0]);
    }
}

fn png() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::RgbaImage::from_pixel(8, 8, image::Rgba([200, 100, 50, 255]))
        .write_to(&mut bytes, image::ImageFormat::Png)
        .unwrap();
    bytes.into_inner()
}

#[test]
fn an_error_is_shown_at_its_setting_and_the_picture_stays() {
    let (_session, _studio, b) = page(CLIP);
    b.run("s.addStep('noise'); s.addStep('grain');");
    b.settle();
    let key = b.run("return s.key.value");
    b.run(
        "s.selected.value = 0;
         await new Promise((r) => setTimeout(r));
         const e = document.querySelector('[data-setting=strength] .number');
         e.value = '0=0;9*=1';
         e.dispatchEvent(new Event('change', { bubbles: true }));",
    );
    b.until("return !!document.querySelector('[data-setting=strength] .fault')");
    assert_eq!(b.run("return document.querySelectorAll('.fault').length"), json!(1));
    assert_eq!(b.run("return s.key.value"), key);
    b.run("s.undo()");
    b.until("return !document.querySelector('.fault')");
}

#[test]
fn recipes_go_out_and_come_back_the_same() {
    let (session, _studio, b) = page(CLIP);
    b.run(
        "s.addStep('noise', { strength: '0=0;24a=12;47=3', seed: '18446744073709551615', planes: 'y' });
         await 0;
         s.addStep('grain', { preset: '35mm', opacity: '0.5', enable: '1-9,20-' });
         await 0;
         s.addStep('fade', { color: '#ff8000', amount: '0.25' });
         s.editStep(s.doc.value.steps[1].id, (x) => ({ ...x, off: true }));
         s.edit((d) => ({ ...d, seed: '18446744073709551615' }));",
    );
    b.settle();
    let before = b.run("return s.plainDoc()");
    b.press("Ctrl+S");
    b.until("return !!document.querySelector('dialog[open] form')");
    b.press("Enter");
    b.until("return !document.querySelector('dialog[open]') ");
    let toml = String::from_utf8(session.read("look.toml")).unwrap();
    assert!(toml.contains("18446744073709551615") || toml.contains("0xffffffffffffffff"), "{toml}");
    // The program reads it, without the filter that is off.
    let line = session.run(&format!("hash {CLIP} --frames 9 --recipe look.toml")).ok().text();
    assert_eq!(b.run("s.seek(9); return s.dirty.value"), json!(false));
    b.settle();
    assert_eq!(line.trim(), format!("9 {}", b.run("return v.hashes.value.out").as_str().unwrap()));
    b.run("s.replaceRecipe({ steps: [], seed: null })");
    b.settle();
    b.press("Ctrl+L");
    b.until("return !!document.querySelector('.filelist button')");
    b.run(
        "const file = [...document.querySelectorAll('.filelist button')].find((e) => e.textContent === 'look.toml');
         file.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));",
    );
    // The empty recipe is a change that was not saved.
    b.until("return document.querySelectorAll('dialog[open] .main').length === 2");
    b.run("[...document.querySelectorAll('dialog[open] .main')].at(-1).click()");
    b.until("return !document.querySelector('dialog[open]')");
    b.settle();
    assert_eq!(b.run("return s.plainDoc()"), before);
    // And by the command line.
    let chain = b.run("return s.checked.value.chain");
    let again =
        session.run(&format!("hash {CLIP} --frames 9 -f {}", chain.as_str().unwrap().replace('\'', "\\'")));
    if again.code == Some(0) {
        assert_eq!(again.text(), line);
    }
}

/// What a slider gives 200 times: the last one is shown, and nothing is left to be rendered.
#[test]
fn of_many_slider_events_the_last_one_is_used() {
    let (session, studio, b) = page("pattern:zoneplate:size=640x360:frames=48");
    b.run("s.addStep('grain'); s.seek(5);");
    b.settle();
    b.run(
        "const range = document.querySelector('[data-setting=strength] input[type=range]');
         for (let i = 0; i <= 200; i++) {
           range.value = String(Number(range.min) + ((Number(range.max) - Number(range.min)) * ((i * 37) % 201)) / 201);
           range.dispatchEvent(new Event('input', { bubbles: true }));
           if (i % 4 === 0) await new Promise(requestAnimationFrame);
         }
         range.value = String(Number(range.min) + (Number(range.max) - Number(range.min)) / 4);
         range.dispatchEvent(new Event('input', { bubbles: true }));",
    );
    b.settle();
    let strength = b.run("return s.doc.value.steps[0].values.strength");
    let shown = b.run("return [v.hashes.value.out, v.busy.value, s.checked.value.key === s.key.value]");
    let line = session
        .run(&format!(
            "hash pattern:zoneplate:size=640x360:frames=48 --frames 5 -f grain=strength={}",
            strength.as_str().unwrap()
        ))
        .ok()
        .text();
    assert_eq!(shown, json!([line.trim().strip_prefix("5 ").unwrap(), false, true]));
    // One step of undo for one drag.
    b.run("s.undo()");
    b.settle();
    assert_eq!(b.run("return s.doc.value.steps[0].values"), json!({}));
    drop(studio);
}

#[test]
fn curves_are_made_by_hand() {
    let (_session, _studio, b) = page(CLIP);
    b.run("s.addStep('noise', { strength: '4' });");
    b.settle();
    b.run("document.querySelector('[data-setting=strength] .tools button').click()");
    b.settle();
    assert_eq!(b.run("return s.doc.value.steps[0].values.strength"), json!("0=4"));
    b.until("return document.querySelectorAll('.curves .key').length === 1");
    // A key at frame 24 by the slider, in the middle by Shift+click, and one moved by dragging.
    b.run(
        "s.seek(24);
         const e = document.querySelector('[data-setting=strength] .number');
         e.value = '12';
         e.dispatchEvent(new Event('change', { bubbles: true }));",
    );
    b.until("return document.querySelectorAll('.curves .key').length === 2");
    assert_eq!(b.run("return s.doc.value.steps[0].values.strength"), json!("0=4;24=12"));
    let at = |n: usize| -> [i64; 2] {
        let box_ = b.run(&format!(
            "const r = document.querySelectorAll('.curves .key')[{n}].getBoundingClientRect();
             return [Math.round(r.x + r.width / 2), Math.round(r.y + r.height / 2)];"
        ));
        [0, 1].map(|i| box_[i].as_i64().unwrap())
    };
    let [x, y] = at(1);
    let [x0, _] = at(0);
    let by = (x - x0) / 2;
    let mouse = |steps: Value| {
        b.post("/actions", &json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": steps }] }));
    };
    let to = |x: i64, y: i64| json!({ "type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": "viewport" });
    mouse(
        json!([to(x, y), { "type": "pointerDown", "button": 0 }, to(x + by / 2, y), to(x + by, y), { "type": "pointerUp", "button": 0 }]),
    );
    b.settle();
    let text = b.run("return s.doc.value.steps[0].values.strength");
    assert_eq!(text, json!("0=4;36=12"), "frames are whole");
    // A shape from the table; the drawn line is the library's.
    b.run(
        "const shape = document.querySelector('.keytable select');
         shape.value = 'hold';
         shape.dispatchEvent(new Event('change', { bubbles: true }));",
    );
    b.settle();
    assert_eq!(b.run("return s.doc.value.steps[0].values.strength"), json!("0(hold)=4;36=12"));
    b.run("s.seek(20)");
    b.until("return document.querySelector('.keybar .digits').textContent === '4'");
    b.until("return document.querySelector('[data-setting=strength] .number').value === '4'");
    // Deleted by a key, and back.
    b.run("const e = document.querySelectorAll('.keytable button')[1]; e.click()");
    b.settle();
    assert_eq!(b.run("return s.doc.value.steps[0].values.strength"), json!("0(hold)=4"));
    b.run("s.undo()");
    b.settle();
    assert_eq!(b.run("return s.doc.value.steps[0].values.strength"), json!("0(hold)=4;36=12"));
}

#[test]
fn a_position_is_chosen_in_the_picture() {
    let (_session, _studio, b) = page(CLIP);
    b.run("s.addStep('vignette');");
    b.settle();
    let canvas = b.run(
        "document.querySelector('[data-setting=center] button[aria-label$=picture]').click();
         const c = v.panes.get('out').canvas; const r = c.getBoundingClientRect(); const p = v.panes.get('out');
         return [Math.round(r.x + (p.origin()[0] + 10 * p.zoom()) / devicePixelRatio), Math.round(r.y + (p.origin()[1] + 20 * p.zoom()) / devicePixelRatio)];",
    );
    b.post(
        "/actions",
        &json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [
            { "type": "pointerMove", "duration": 0, "x": canvas[0], "y": canvas[1], "origin": "viewport" },
            { "type": "pointerDown", "button": 0 }, { "type": "pointerUp", "button": 0 } ] }] }),
    );
    b.settle();
    let at = b.run("return s.doc.value.steps[0].values.center.split(',').map(Number)");
    assert!(
        (at[0].as_f64().unwrap() * 96.0 - 10.0).abs() < 0.5
            && (at[1].as_f64().unwrap() * 64.0 - 20.0).abs() < 0.5,
        "{at}"
    );
}

#[test]
fn renders_are_jobs_of_the_batch() {
    let (session, _studio, b) = page(CLIP);
    b.run("s.addStep('noise', { strength: '6' }); s.selection.value = [10, 19];");
    b.settle();
    b.press("F7");
    b.until("return !!document.querySelector('dialog[open] #r-output')");
    b.run(
        "const e = document.querySelector('#r-output'); e.value = 'made.y4m'; e.dispatchEvent(new Event('input'));
         document.querySelector('dialog[open] .main').click();",
    );
    b.until("return document.querySelector('.jobs tr.done')?.textContent.includes('10 frames') ?? false");
    session.run(&format!("render {CLIP} want.y4m -f noise=strength=6 --frames 10-19")).ok();
    assert!(session.read("made.y4m") == session.read("want.y4m"));
    // An existing file is not replaced without confirmation, and the list has the format of the batch.
    b.press("F7");
    b.until("return !!document.querySelector('dialog[open] #r-output')");
    b.run("const e = document.querySelector('#r-output'); e.value = 'made.y4m'; e.dispatchEvent(new Event('input')); document.querySelector('dialog[open] .main').click();");
    b.until("return !!document.querySelector('dialog[open] .fault')");
    b.press("Escape");
    let told = session.run("batch grainfield-jobs.toml --status --json").ok().text();
    assert!(told.contains("\"done\""), "{told}");
}

#[test]
fn a_render_is_stopped_and_goes_on() {
    let (session, studio, b) = page("pattern:zoneplate:size=640x360:frames=4000");
    let job = json!({ "input": "pattern:zoneplate:size=640x360:frames=4000", "output": "long.y4m", "filters": "grain" });
    studio.post("/jobs", &job);
    studio.post("/jobs/start", &json!({}));
    b.run("s.dock.value = 'jobs'");
    b.until("return !!document.querySelector('.jobs tr.running progress')");
    b.run("[...document.querySelectorAll('.jobs .sidebar button')].find((e) => e.textContent === 'Stop').click()");
    b.until(
        "return !!document.querySelector('.jobs tr.waiting') && !document.querySelector('.jobs tr.running')",
    );
    assert!(!session.path("long.y4m").exists());
    b.run("document.querySelector('.jobs tr.waiting button[aria-label=\"Remove\"]').click()");
    b.until("return !document.querySelector('.jobs tbody tr')");
}

#[test]
fn unsaved_work_is_back_after_a_kill() {
    let session = Session::new();
    let mut studio = Studio::start(&session, CLIP);
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('noise', { strength: '7', seed: '18446744073709551615' }); s.seek(11);");
    b.settle();
    b.run("await new Promise((r) => setTimeout(r, 1000))");
    let before = b.run("return s.plainDoc()");
    studio.child.kill().unwrap();
    studio.child.wait().unwrap();
    b.until("return document.querySelector('#notice .lost')?.checkVisibility() ?? false");
    let studio = Studio::start(&session, CLIP);
    b.open(&studio);
    assert_eq!(b.run("return s.plainDoc()"), before);
    // Undo ends where the page began.
    b.run("s.undo()");
    assert_eq!(b.run("return s.plainDoc()"), before);
}

#[test]
fn eight_tabs_work() {
    let (_session, studio, b) = page(CLIP);
    for _ in 0..7 {
        b.new_tab();
        b.open(&studio);
    }
    b.run("s.addStep('noise'); s.seek(3)");
    b.settle();
    assert_eq!(b.run("return [s.connected.value, v.panes.get('out').shown.number]"), json!([true, 3]));
}

#[test]
fn playing_shows_frames_and_counts_those_it_leaves_out() {
    let (_session, _studio, b) = page(CLIP);
    b.run("s.addStep('noise'); s.selection.value = [4, 40];");
    b.settle();
    let got = b.run(
        "v.loop.value = false;
         v.everyFrame.value = true;
         const seen = [];
         const stop = s.effect(() => seen.push(s.frame.value));
         v.play(1);
         await new Promise((r) => { const off = s.effect(() => { if (!v.playing.value) { r(); queueMicrotask(() => off()); } }); });
         stop();
         return [seen, v.dropped.value];",
    );
    // Every frame, each once, in order.
    let want: Vec<i64> = std::iter::once(0).chain(4..=40).collect();
    assert_eq!(got, json!([want, 0]));
    let got = b.run(
        "v.everyFrame.value = false;
         s.seek(4);
         const seen = [];
         const stop = s.effect(() => seen.push(s.frame.value));
         v.play(1);
         await new Promise((r) => { const off = s.effect(() => { if (!v.playing.value) { r(); queueMicrotask(() => off()); } }); });
         stop();
         return [seen.filter((n) => n > 4).length + v.dropped.value, seen.at(-1)];",
    );
    assert_eq!(got, json!([36, 40]));
}
