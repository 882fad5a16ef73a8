//! Frames that are cut out, positions that are typed, and what comes before and after a clip is open.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::json;
use std::process::Command;

#[test]
fn what_is_cut_out_is_neither_played_nor_rendered() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("await s.openClip('pattern:bars:size=64x48:frames=60'); s.addStep('noise'); s.seek(5);");
    b.settle();
    // Also where a filter has the focus, as after it was added.
    b.run("s.selection.value = [10, 19]; document.querySelector('#filters li.chosen .name').focus();");
    b.press("Delete");
    b.run("s.selection.value = [18, 29];");
    b.press("Delete");
    b.run("s.selection.value = [50, 54];");
    b.press("Delete");
    assert_eq!(
        b.run("return [s.cuts.value, s.doc.value.steps.length, s.frame.value]"),
        json!([[[10, 29], [50, 54]], 1, 55])
    );
    assert_eq!(b.run("return s.framesText()"), json!("0-9,30-49,55-59"));
    // Steps and playing pass over it.
    b.run("s.seek(9);");
    b.press("ArrowRight");
    assert_eq!(b.run("return s.frame.value"), json!(30));
    b.press("ArrowLeft");
    assert_eq!(b.run("return s.frame.value"), json!(9));
    // Long steps count the frames that are left, and end at the last of them.
    for (from, by, want) in [
        (5, 10, 35),
        (35, -10, 5),
        (0, 50, 59),
        (57, -50, 0),
        (15, 1, 30),
        (15, -1, 9),
        (31, 20, 56),
        (52, -22, 8),
    ] {
        assert_eq!(
            b.run(&format!("s.seek({from}); s.step({by}); return s.frame.value")),
            json!(want),
            "{from} {by}"
        );
    }
    let seen = b.run(
        "s.seek(6); const seen = []; const stop = s.effect(() => { seen.push(s.frame.value); });
         v.loop.value = false; v.everyFrame.value = true; v.play(1);
         while (v.playing.value) await new Promise((r) => setTimeout(r, 10));
         stop(); return seen;",
    );
    let seen: Vec<i64> = seen.as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect();
    let want: Vec<i64> = (6..10).chain(30..50).chain(55..60).collect();
    assert_eq!(seen, want);
    // A render has the same frames.
    b.press("F7");
    b.run("const e = document.querySelector('#r-output'); e.value = 'cut.y4m'; e.dispatchEvent(new Event('input', { bubbles: true }));");
    b.until("return document.querySelector('.outcome')?.textContent.includes('35 frames') === true");
    b.run("document.querySelector('dialog.render button.main').click()");
    b.until("return [...document.querySelectorAll('.jobs tr.done td')].some((e) => e.textContent.includes('35 frames'))");
    let line = |input: &str, more: &str| {
        let text = session.run(&format!("hash {input} {more}")).ok().text();
        text.lines().map(|l| l.rsplit(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let rendered = line("cut.y4m", "");
    assert_eq!(rendered, line("pattern:bars:size=64x48:frames=60", "-f noise --frames 0-9,30-49,55-59"));
    // An animation may have fewer frames.
    b.press("F7");
    b.run("const e = document.querySelector('#r-output'); e.value = 'cut.gif'; e.dispatchEvent(new Event('input', { bubbles: true }));");
    b.until("return !!document.querySelector('#r-every')");
    b.run("const e = document.querySelector('#r-every'); e.value = '4'; e.dispatchEvent(new Event('change', { bubbles: true }));");
    b.until("return document.querySelector('.outcome')?.textContent.includes('10 frames') === true");
    b.run("document.querySelector('dialog.render button.main').click()");
    b.until("return [...document.querySelectorAll('.jobs tr.done td')].some((e) => e.textContent.includes('10 frames'))");
    assert_eq!(line("cut.gif", "").len(), 10);
    // They are saved with the recipe, as comments of other programs, and come back with it.
    b.run("await s.check(); s.recipePath.value = 'cut.toml'");
    b.press("Ctrl+S");
    b.until("return document.querySelector('#toasts')?.textContent.includes('saved as cut.toml') === true");
    let saved = std::fs::read_to_string(session.path("cut.toml")).unwrap();
    assert!(saved.ends_with("#cut \"pattern:bars:size=64x48:frames=60\" = \"10-29,50-54\"\n"), "{saved}");
    assert_eq!(
        line("pattern:bars:size=64x48:frames=60", "--recipe cut.toml --frames 0-9,30-49,55-59"),
        rendered
    );
    b.run("await s.check(); if (s.dirty.value) throw new Error('it is as it was saved');");
    b.press("Ctrl+Z");
    assert_eq!(b.run("await s.check(); return [s.framesText(), s.dirty.value]"), json!(["0-9,30-59", true]));
    b.press("Shift+Delete");
    assert_eq!(b.run("return s.framesText()"), json!(null));
    b.run("(await import('/app/dialogs.js')).openRecipeFile('cut.toml')");
    b.until("return !!document.querySelector('dialog[open] button.main')");
    b.run("document.querySelector('dialog[open] button.main').click()");
    b.until("return document.querySelectorAll('.ruler .cut').length === 2");
    assert_eq!(
        b.run("await s.check(); return [s.framesText(), s.dirty.value]"),
        json!(["0-9,30-49,55-59", false])
    );
    // The command line that is copied has the same frames.
    session.run(&b.copied_line("copied.y4m")).ok();
    assert_eq!(line("copied.y4m", ""), rendered);
}

/// Timecode is the clip's own, with the numbers that it drops, and what it does not have is said.
#[test]
fn timecode_is_that_of_the_clip() {
    let session = Session::new();
    let made = Command::new("ffmpeg")
        .args("-v error -f lavfi -i color=gray:size=64x48:rate=30000/1001:duration=70".split(' '))
        .args(["-timecode", "01:08:59;28", "-c:v", "mpeg4"])
        .arg(session.path("a.mov"))
        .status();
    assert!(made.unwrap().success());
    let studio = Studio::start(&session, "a.mov");
    let b = Browser::start(1024, 640);
    b.open(&studio);
    for (frame, code) in [
        (0, "01:08:59;28"),
        (1, "01:08:59;29"),
        (2, "01:09:00;02"),
        (1799, "01:09:59;29"),
        (1800, "01:10:00;00"),
    ] {
        assert_eq!(b.run(&format!("s.seek({frame}); return s.codeText({frame})")), json!(code));
        assert_eq!(b.run(&format!("return s.frameOf('{code}')")), json!(frame));
    }
    b.until("return document.querySelector('.time').textContent === '01:10:00;00'");
    b.run("s.seek(7)");
    b.press("Ctrl+G");
    b.run("document.querySelector('dialog input').value = '00:00:01:00'; document.querySelector('dialog form').requestSubmit();");
    b.until("return document.querySelector('dialog .fault')?.textContent.includes('01:08:59;28')");
    // What was wrong is typed anew.
    b.press("9");
    assert_eq!(b.run("return document.querySelector('dialog input').value"), json!("9"));
    assert_eq!(b.run("return s.frame.value"), json!(7));
}

#[test]
fn positions_are_typed_as_they_are_shown() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=64x48:frames=12000:rate=25");
    let b = Browser::start(1024, 640);
    b.open(&studio);
    for (text, frame) in [
        ("48", json!(48)),
        ("+100", json!(140)),
        ("-10", json!(30)),
        ("398.4s", json!(9960)),
        ("1:02.5", json!(1562)),
        ("00:00:02:12", json!(62)),
        ("00:01:00.000", json!(1500)),
        ("abc", json!(null)),
        ("1.5", json!(null)),
        ("", json!(null)),
        ("1::2", json!(62 * 25)),
    ] {
        if text == "1::2" {
            continue;
        }
        assert_eq!(b.run(&format!("s.seek(40); return s.frameOf('{text}')")), frame, "{text}");
    }
    b.run("s.seek(40)");
    b.press("Ctrl+G");
    b.press("+");
    b.press("7");
    b.press("Enter");
    b.until("return document.querySelector('#frame-number').value === '47'");
    // The wheel steps, with Ctrl it enlarges the time.
    b.run("const r = document.querySelector('.ruler'); s.seek(40);
           for (const deltaY of [100, 100, 50, 50, -100]) r.dispatchEvent(new WheelEvent('wheel', { deltaY, bubbles: true, cancelable: true }));");
    assert_eq!(b.run("return s.frame.value"), json!(42));
    b.run("const r = document.querySelector('.ruler'); const at = r.getBoundingClientRect();
           for (let i = 0; i < 12; i++) r.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, ctrlKey: true, clientX: at.x + at.width / 2, clientY: at.y + 20, bubbles: true, cancelable: true }));");
    let span = b.run("return (await import('/app/timeline.js')).span.value");
    assert!(span[1].as_f64().unwrap() - span[0].as_f64().unwrap() < 1500.0, "{span}");
}

#[test]
fn the_start_page_opens_clips_and_finds_dropped_ones() {
    let session = Session::new();
    session.run("render pattern:bars:size=64x48:frames=5 here.y4m").ok();
    std::fs::create_dir(session.path("deep")).unwrap();
    session.run("render pattern:bars:size=32x48:frames=5 deep/down.y4m").ok();
    session.write("look.toml", "version = 1\n[[filter]]\nname = \"noise\"\n");
    // Of numbered photographs each is one by itself.
    session.run("render pattern:bars:size=48x48:frames=3 deep/IMG_%04d.png").ok();
    let size = std::fs::metadata(session.path("deep/down.y4m")).unwrap().len();
    let studio = Studio::start(&session, "");
    let b = Browser::start(1024, 640);
    b.open(&studio);
    b.until("return document.querySelectorAll('.start button').length >= 4");
    if let Ok(folder) = std::env::var("GRAINFIELD_SHOTS") {
        b.screenshot(&std::path::Path::new(&folder).join("start.png"));
    }
    let drop = |name: &str, bytes: u64| {
        b.run(&format!(
            "const data = new DataTransfer(); data.items.add(new File([new Uint8Array({bytes})], '{name}'));
             const over = new DragEvent('dragover', {{ dataTransfer: data, bubbles: true, cancelable: true }});
             const drop = new DragEvent('drop', {{ dataTransfer: data, bubbles: true, cancelable: true }});
             document.body.dispatchEvent(over); document.body.dispatchEvent(drop);
             if (!over.defaultPrevented || !drop.defaultPrevented) throw new Error('the browser would leave the page');"
        ));
    };
    drop("down.y4m", size);
    b.until("return document.querySelector('#status').textContent.includes('32×48')");
    drop("IMG_0002.png", 1);
    b.until("return document.querySelector('#status').textContent.includes('48×48')");
    assert_eq!(b.run("return [s.clip.value.first, s.clip.value.last]"), json!([0, 0]));
    drop("down.y4m", size + 1);
    b.until("return document.querySelector('dialog')?.textContent.includes('--allow-folder') === true");
    b.press("Escape");
    // Typing narrows the list, arrows choose, and recipes are no clips.
    b.press("Ctrl+O");
    b.until("return document.querySelectorAll('.filelist div').length > 0");
    let listed = "[...document.querySelectorAll('.filelist div button')].map((e) => e.textContent)";
    assert_eq!(b.run(&format!("return {listed}")), json!(["deep/", "here.y4m"]));
    b.press("h");
    b.press("e");
    b.press("r");
    assert_eq!(b.run(&format!("return {listed}")), json!(["here.y4m"]));
    b.press("ArrowDown");
    b.press("Enter");
    b.until("return document.querySelector('#status').textContent.includes('64×48')");
    // A clip has one name, and one's own begins without the filters of an example.
    b.run("(await import('/app/keys.js')).command('file.start').run()");
    b.run(
        "[...document.querySelectorAll('.start button')].find((e) => e.textContent.includes('fade')).click()",
    );
    b.until("return document.querySelectorAll('#filters li .name').length === 1");
    let full = json!(session.path("here.y4m"));
    b.run(&format!("await s.openClip({full});"));
    b.until("return !document.querySelector('#filters li .name')");
    assert_eq!(b.run("return s.clip.value.path"), json!("here.y4m"));
}

#[test]
fn masks_are_drawn_and_presets_do_what_they_say() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let b = Browser::start(1280, 800);
    b.open(&studio);
    b.run("await s.openClip('pattern:bars:size=400x200:frames=50'); s.addStep('grain', { strength: '3', seed: '7' }); s.view.layout.value = 'out'; v.zoomTo(1);");
    b.settle();
    // Settings of masks are shown for the masks that have them.
    let shown = "return [...document.querySelectorAll('#filters [data-setting]')].map((e) => e.dataset.setting).filter((id) => /^(mask|where)/.test(id)).map((id) => id.replace('mask_', '')).join(' ')";
    for (mask, want) in [
        ("null", "mask where"),
        ("'rectangle'", "mask at width height max_aspect round feather invert where"),
        ("'luma'", "mask feather invert low high soft where"),
        ("null", "mask where"),
    ] {
        b.run(&format!("s.setValue(s.doc.value.steps[0].id, 'mask', {mask});"));
        b.settle();
        assert_eq!(b.run(shown), json!(want));
    }
    b.press("E");
    let at = b.run(
        "const p = v.panes.get('out'); const r = p.canvas.getBoundingClientRect(); const [x, y] = p.origin();
         return [r.x + x, r.y + y].map(Math.round);",
    );
    let to = |x: i64, y: i64| json!({ "type": "pointerMove", "duration": 0, "x": at[0].as_i64().unwrap() + x, "y": at[1].as_i64().unwrap() + y, "origin": "viewport" });
    b.post("/actions", &json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [
        to(100, 50), { "type": "pointerDown", "button": 0 }, to(150, 90), to(200, 150), { "type": "pointerUp", "button": 0 } ] }] }));
    b.settle();
    assert_eq!(
        b.run("const { mask, mask_at, mask_width, mask_height } = s.doc.value.steps[0].values; return [mask, mask_at, mask_width, mask_height, v.drawing.value, s.checked.value.faults.length]"),
        json!(["ellipse", "0.375,0.5", "0.25", "0.5", null, 0])
    );
    if let Ok(folder) = std::env::var("GRAINFIELD_SHOTS") {
        b.screenshot(&std::path::Path::new(&folder).join("mask.png"));
    }
    // Its handles: the middle moves it, a corner resizes it, and a drag is one step of undo, however long it takes.
    let mask = "const { mask_at, mask_width, mask_height } = s.doc.value.steps[0].values; return [mask_at, mask_width, mask_height]";
    let drag = |from: (i64, i64), by: (i64, i64)| {
        b.post("/actions", &json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [
            to(from.0, from.1), { "type": "pointerDown", "button": 0 }, to(from.0 + by.0 / 2, from.1 + by.1 / 2), { "type": "pause", "duration": 900 },
            to(from.0 + by.0, from.1 + by.1), { "type": "pointerUp", "button": 0 } ] }] }));
        b.settle();
    };
    drag((150, 100), (40, -20));
    assert_eq!(b.run(mask), json!(["0.475,0.4", "0.25", "0.5"]));
    drag((240, 130), (20, 10));
    assert_eq!(b.run(mask), json!(["0.5,0.425", "0.3", "0.55"]));
    drag((140, 85), (-20, 30));
    assert_eq!(b.run(mask), json!(["0.475,0.425", "0.35", "0.55"]));
    // By keys, which step no frames.
    b.run("document.querySelector('.maskbox').focus()");
    b.press("ArrowRight");
    b.press("Shift+ArrowDown");
    b.press("Ctrl+Shift+ArrowLeft");
    b.settle();
    assert_eq!(b.run(mask), json!(["0.465,0.475", "0.325", "0.55"]));
    assert_eq!(b.run("return s.frame.value"), json!(0));
    for want in [
        ["0.4775,0.475", "0.35", "0.55"],
        ["0.4775,0.425", "0.35", "0.55"],
        ["0.475,0.425", "0.35", "0.55"],
        ["0.5,0.425", "0.3", "0.55"],
        ["0.475,0.4", "0.25", "0.5"],
        ["0.375,0.5", "0.25", "0.5"],
    ] {
        b.press("Ctrl+Z");
        assert_eq!(b.run(mask), json!(want));
    }
    // A mask that moves is seen where it is, and a drag sets a key at this frame.
    b.run("s.setValue(s.doc.value.steps[0].id, 'mask_at', '0=0.375,0.5;20=0.475,0.5'); s.seek(10);");
    b.until("return document.querySelector('.maskbox')?.ariaLabel.includes('middle 170, 100, 100 by 100') ?? false");
    drag((170, 100), (20, 20));
    b.until("return document.querySelector('.maskbox').ariaLabel.includes('middle 190, 120, 100 by 100')");
    assert_eq!(b.run(mask), json!(["0=0.375,0.5;10=0.475,0.6;20=0.475,0.5", "0.25", "0.5"]));
    b.run("s.undo()");
    assert_eq!(b.run(mask), json!(["0=0.375,0.5;20=0.475,0.5", "0.25", "0.5"]));
    b.run("s.seek(0); s.setValue(s.doc.value.steps[0].id, 'mask_at', '0.375,0.5');");
    b.settle();
    // A preset takes its own settings back, and leaves the others.
    let choose = "const e = document.querySelector('[data-setting=preset] select'); e.value = 'heavy'; e.dispatchEvent(new Event('change', { bubbles: true }));";
    b.run(choose);
    let values = "const { preset, strength, seed, mask } = s.doc.value.steps[0].values; return [preset ?? null, strength ?? null, seed ?? null, mask ?? null]";
    assert_eq!(b.run(values), json!(["heavy", null, "7", "ellipse"]));
    b.run(
        "[...document.querySelectorAll('#notice button')].find((e) => e.textContent === 'Keep mine').click()",
    );
    assert_eq!(b.run(values), json!(["heavy", "3", "7", "ellipse"]));
}

#[test]
fn a_page_comes_back_with_its_server() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let b = Browser::start(1024, 640);
    b.open(&studio);
    b.run("await s.openClip('pattern:bars:size=64x48:frames=50'); s.addStep('noise', { strength: '9' }); s.seek(7);");
    b.settle();
    let address = studio.address();
    drop(studio);
    b.until("return !!document.querySelector('#notice .lost')");
    let studio = Studio::start(&session, "");
    assert_eq!(studio.address(), address);
    b.until("return !document.querySelector('#notice .lost')");
    b.run("s.seek(21);");
    b.settle();
    assert_eq!(
        b.run("return [v.panes.get('out').shown.number, v.panes.get('out').error, s.doc.value.steps.length]"),
        json!([21, "", 1])
    );
}

#[test]
fn a_small_window_has_all_of_the_transport() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=640x360:frames=500");
    let b = Browser::start(1024, 640);
    b.open(&studio);
    b.run("s.addStep('fade', { amount: '0=1;48=0' }); s.selection.value = [100, 400];");
    for scale in [100, 200] {
        b.run(&format!("s.scale.value = {scale};"));
        b.settle();
        let gone = b.run(
            "return [...document.querySelectorAll('.transport button, .transport input, .transport .digits, .ruler')].filter((e) => {
               const [a, box] = [e, document.querySelector('#timeline')].map((e) => e.getBoundingClientRect());
               return a.width > 0 && (a.right > box.right + 1 || a.bottom > box.bottom + 1 || a.bottom > document.documentElement.scrollHeight * (s.scale.value / 100) + 1);
             }).map((e) => e.outerHTML.slice(0, 90));",
        );
        if let Ok(folder) = std::env::var("GRAINFIELD_SHOTS") {
            b.screenshot(&std::path::Path::new(&folder).join(format!("scale{scale}.png")));
        }
        assert_eq!(gone, json!([]), "{scale} %");
    }
}
