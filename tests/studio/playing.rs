//! Playing, stepping back and the hand on the timeline.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::json;
use std::process::Command;

/// H.264 with one key frame in 200 frames.
fn long(session: &Session, size: &str) {
    let made = Command::new("ffmpeg")
        .args(["-v", "error", "-f", "lavfi", "-i", &format!("testsrc2=size={size}:rate=24:duration=17")])
        .args([
            "-c:v",
            "libx264",
            "-preset",
            "ultrafast",
            "-g",
            "200",
            "-keyint_min",
            "200",
            "-sc_threshold",
            "0",
        ])
        .args(["-pix_fmt", "yuv420p"])
        .arg(session.path("long.mp4"))
        .status();
    assert!(made.unwrap().success());
}

/// What cannot keep up shows what it has made, as often as it makes one, and says so.
#[test]
fn playing_shows_the_newest_finished_frame() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("await s.openClip('pattern:zoneplate:size=1920x1080:frames=4000'); s.addStep('grain'); s.seek(0);");
    b.settle();
    let got = b.run(
        "const shown = [];
         const stop = s.effect(() => { shown.push(s.frame.value); });
         performance.clearResourceTimings(); performance.setResourceTimingBufferSize(5000);
         v.loop.value = false;
         v.play(1);
         await new Promise((r) => setTimeout(r, 6000));
         const said = [v.shownRate.value, v.dropped.value];
         v.play(0); stop();
         const asked = performance.getEntriesByType('resource').filter((e) => e.name.includes('/frame/')).length;
         return [shown, ...said, asked];",
    );
    let shown: Vec<i64> = got[0].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect();
    let (rate, dropped, asked) =
        (got[1].as_f64().unwrap(), got[2].as_i64().unwrap(), got[3].as_u64().unwrap());
    assert!(shown.windows(2).all(|w| w[1] > w[0]), "never back: {shown:?}");
    // Two panes: nearly all that was asked for is shown.
    let count = shown.len() as u64 - 1;
    assert!(count >= 6 && 2 * count + 12 + asked / 4 >= asked, "{count} shown, {asked} asked for");
    assert_eq!(dropped, shown.last().unwrap() - count as i64, "{shown:?}");
    let true_rate = count as f64 / 6.0;
    assert!(rate > 0.5 * true_rate && rate < 2.0 * true_rate, "{rate} of {true_rate}");
    // It keeps the clock of the clip, as late as one frame takes.
    assert!(*shown.last().unwrap() > 24 * 3, "{shown:?}");
    println!("{count} frames in 6 s, {dropped} dropped, {rate} fps said, {asked} asked for");
}

#[test]
fn a_loop_is_made_once_and_steps_back_are_there() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("await s.openClip('pattern:zoneplate:size=320x240:frames=400'); s.addStep('grain'); s.seek(0); s.selection.value = [10, 29];");
    b.settle();
    b.run(
        "v.loop.value = true; v.play(1);
         for (let seen = 0; seen < 45;) { const n = s.frame.value; await new Promise((r) => setTimeout(r, 5)); if (s.frame.value !== n) seen++; }
         performance.clearResourceTimings();
         for (let seen = 0; seen < 25;) { const n = s.frame.value; await new Promise((r) => setTimeout(r, 5)); if (s.frame.value !== n) seen++; }
         v.play(0);",
    );
    b.settle();
    let asked = "performance.getEntriesByType('resource').filter((e) => e.name.includes('/frame/') && !e.name.includes('quick')).length";
    // The frame at rest may be asked for anew, those of the loop are there.
    assert!(b.run(&format!("return {asked}")).as_u64().unwrap() <= 2);
    b.until("return !!document.querySelector('.ruler .ready')");
    // Around a frame that rests, the next ones are made.
    b.run("s.selection.value = null; s.seek(200); await new Promise((r) => setTimeout(r, 1500));");
    b.settle();
    let took = b.run(
        "const all = [];
         for (const n of [199, 198, 199, 200, 201]) {
           const begun = performance.now();
           s.seek(n);
           while (v.panes.get('out').shown.number !== n) await new Promise((r) => setTimeout(r));
           all.push(performance.now() - begun);
         }
         return Math.max(...all);",
    );
    assert!(took.as_f64().unwrap() < 60.0, "{took} ms");
}

#[test]
fn a_long_group_of_pictures_is_decoded_once_for_steps_back() {
    let session = Session::new();
    long(&session, "640x360");
    let studio = Studio::start(&session, "");
    let clip = studio.open("long.mp4");
    let get = |n: i64| {
        let begun = std::time::Instant::now();
        let reply = studio.get(&format!("/frame/{}/0/{n}?side=in&region=200,100,240,40", clip["id"]));
        assert_eq!(reply.status, 200);
        (begun.elapsed(), reply.body)
    };
    // In order, for comparison.
    let want: Vec<Vec<u8>> = (180..199).map(|n| get(n).1).collect();
    let studio = Studio::start(&session, "");
    let clip = studio.open("long.mp4");
    let get = |n: i64| {
        let begun = std::time::Instant::now();
        (
            studio.get(&format!("/frame/{}/0/{n}?side=in&region=200,100,240,40", clip["id"])).body,
            begun.elapsed(),
        )
    };
    get(0);
    get(398);
    let first = get(198);
    let again = get(197).1;
    let mut later: Vec<std::time::Duration> = Vec::new();
    for n in (180..197).rev() {
        let (body, took) = get(n);
        assert!(body == want[(n - 180) as usize], "frame {n}");
        later.push(took);
    }
    later.sort();
    println!("seek {:?}, first back {again:?}, then {:?}", first.1, later[8]);
    assert!(later[8] * 3 < first.1, "{:?} {later:?}", first.1);
}

#[test]
fn the_hand_on_the_timeline_sees_key_frames() {
    let session = Session::new();
    long(&session, "640x360");
    let studio = Studio::start(&session, "");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("await s.openClip('long.mp4'); s.seek(0);");
    b.settle();
    b.until("return !document.body.textContent.includes('about 4')");
    let at = b.run("const r = document.querySelector('.ruler').getBoundingClientRect(); return [r.x, r.y + 20, r.width].map(Math.round);");
    let x = |n: i64| at[0].as_i64().unwrap() + n * at[2].as_i64().unwrap() / 408;
    let moves = |list: Vec<serde_json::Value>| {
        b.post("/actions", &json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": list }] }));
    };
    let to =
        |n: i64| json!({ "type": "pointerMove", "duration": 0, "x": x(n), "y": at[1], "origin": "viewport" });
    b.run("window.seen = []; s.effect(() => { void v.drawn.value; const p = v.panes.get('in'); window.seen.push([p.shown?.number, p.notes.firstElementChild.textContent]); });");
    moves(vec![
        to(100),
        json!({ "type": "pointerDown", "button": 0 }),
        to(330),
        json!({ "type": "pause", "duration": 150 }),
        to(340),
        json!({ "type": "pause", "duration": 900 }),
    ]);
    b.settle();
    let seen = b.run("return window.seen");
    let about =
        |e: &serde_json::Value| e[0] == json!(400) && e[1].as_str().unwrap().contains("about: key frame 400");
    assert!(seen.as_array().unwrap().iter().any(about), "{seen}");
    // The hand rests: the frame itself, though the button is still down.
    let shown =
        b.run("return [v.panes.get('in').shown.number, s.frame.value, v.panes.get('in').notes.firstElementChild.textContent]");
    assert_eq!(shown[0], shown[1]);
    assert!(
        (337..344).contains(&shown[1].as_i64().unwrap()) && !shown[2].as_str().unwrap().contains("about"),
        "{shown}"
    );
    moves(vec![json!({ "type": "pointerUp", "button": 0 })]);
}

/// A frame that is far away takes long: a key frame is seen before it, and does not stay.
#[test]
fn a_jump_shows_a_key_frame_first() {
    let session = Session::new();
    long(&session, "640x360");
    let studio = Studio::start(&session, "");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("await s.openClip('long.mp4'); s.addStep('invert'); s.seek(0);");
    b.settle();
    b.until("return !document.body.textContent.includes('about 4')");
    let seen = b.run(
        "const seen = [];
         const stop = s.effect(() => { void v.drawn.value; const p = v.panes.get('out'); seen.push(p.shown?.number + p.notes.firstElementChild.textContent.slice(6)); });
         s.seek(170);
         while (v.panes.get('out').shown.number !== 170) await new Promise((r) => setTimeout(r));
         await new Promise((r) => setTimeout(r, 300));
         stop(); return [...new Set(seen.map((one) => one.replace(/, \\d+ %/, '')))];",
    );
    assert_eq!(seen, json!(["0", "200, about: key frame 200", "170"]));
    b.settle();
    let hash = session.run("hash long.mp4 --frames 170").ok().text();
    assert!(hash.contains(b.run("return v.hashNow('in')").as_str().unwrap()), "{hash}");
    // A step needs none.
    b.run("s.seek(171)");
    b.settle();
    assert_eq!(b.run("return v.panes.get('out').shownUrl.includes('near')"), json!(false));
}

/// While a slider is dragged, the source's frame is decoded no more: its file is gone.
#[test]
fn a_drag_decodes_the_source_once() {
    let session = Session::new();
    session.run("render pattern:zoneplate:size=640x360:frames=1 shot.####.png").ok();
    let studio = Studio::start(&session, "shot.####.png");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('grain')");
    b.settle();
    std::fs::remove_file(session.path("shot.0000.png")).unwrap();
    let shown = b.run(
        "const range = document.querySelector('[data-setting=strength] input[type=range]');
         const shown = new Set();
         for (let i = 0; i < 12; i++) {
           range.value = String(Number(range.min) + Number(range.step) * (20 + 2 * i));
           range.dispatchEvent(new Event('input', { bubbles: true }));
           await new Promise((r) => setTimeout(r, 40));
           shown.add(v.panes.get('out').shownUrl);
         }
         return shown.size;",
    );
    assert!(shown.as_u64() > Some(2), "pictures follow the slider: {shown}");
    b.settle();
    assert_eq!(
        b.run("const p = v.panes.get('out'); return [p.error, p.shownUrl === p.url]"),
        json!(["", true])
    );
}

/// Ten frames at 25 a second, then seven that are shown for a fifth of a second each, and a last one.
#[test]
fn frames_of_a_varying_rate_have_their_own_times() {
    let session = Session::new();
    session.tool(
        "ffmpeg",
        "-v error -f lavfi -i testsrc2=size=160x120:rate=25:duration=2 -vf select=lt(n\\,10)+not(mod(n\\,5)) -fps_mode vfr \
         -pix_fmt yuv420p uneven.mkv",
    );
    let studio = Studio::start(&session, "uneven.mkv");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("while (!s.begins.value) await new Promise((r) => setTimeout(r, 20)); s.addStep('noise'); s.setValue(s.doc.value.steps[0].id, 'strength', '0s=1;1s=9'); s.seek(13);");
    b.settle();
    b.until("return document.querySelector('.time').textContent === '00:00:01.000'");
    assert_eq!(
        b.run("return ['0.39s', '0.41s', '1.19s', '0:01.2', '9s'].map((t) => s.frameOf(t))"),
        json!([9, 10, 13, 14, 17])
    );
    // A key of a curve in seconds lies at the frame that has its value.
    b.until("return !!document.querySelectorAll('.keymark').length");
    let keys = b.run("const x = (e) => e.getAttribute('d').match(/M([\\d.]+)/)[1]; const all = [...document.querySelectorAll('.keymark')].map(x); return [all.length, (all[1] - all[0]) / (document.querySelector('.head').getAttribute('x') - all[0] + document.querySelector('.head').getAttribute('width') / 2)]");
    assert_eq!(keys[0], 2);
    assert!((keys[1].as_f64().unwrap() - 1.0).abs() < 0.02, "{keys}");
    let shown = b.run(
        "const shown = [];
         s.seek(0); v.loop.value = false;
         await new Promise((r) => setTimeout(r, 1000));
         const begun = performance.now();
         v.play(1);
         const stop = s.effect(() => { shown.push([s.frame.value, performance.now() - begun]); });
         while (v.playing.value) await new Promise((r) => setTimeout(r, 20));
         stop();
         return [shown, performance.now() - begun];",
    );
    let took = shown[1].as_f64().unwrap();
    assert!((1840.0..4000.0).contains(&took), "1.84 seconds: {shown}");
    for shown in shown[0].as_array().unwrap() {
        let (n, at) = (shown[0].as_i64().unwrap(), shown[1].as_f64().unwrap());
        let begins = if n < 10 { 40.0 * n as f64 } else { 400.0 + 200.0 * (n - 10) as f64 };
        assert!(at > begins - 60.0, "frame {n} after {at} ms");
    }
}

/// The header tells the length of the sound, which is longer than the picture.
#[test]
fn a_clip_plays_to_its_end_though_its_header_promises_more() {
    let session = Session::new();
    let inputs = "-f lavfi -i testsrc2=size=160x120:rate=25:duration=1 -f lavfi -i sine=duration=2";
    session.tool("ffmpeg", &format!("-v error {inputs} -pix_fmt yuv420p short.mp4"));
    let studio = Studio::start(&session, "");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    let played = b.run(
        "await s.openClip('short.mp4');
         v.loop.value = false; v.play(1);
         while (v.playing.value) await new Promise((r) => setTimeout(r, 20));
         return [s.clip.value.last, s.frame.value];",
    );
    assert_eq!(played, json!([24, 24]));
    assert_eq!(b.messages(), "\"\"");
}

/// Scopes follow what plays.
#[test]
fn scopes_are_drawn_while_it_plays() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:zoneplate:size=640x360:frames=400");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('noise')");
    b.settle();
    b.press("S");
    let shown = "document.querySelector('canvas[data-scope=vectorscope]')?.dataset.frame";
    b.until(&format!("return {shown} === '0'"));
    let got = b.run(&format!(
        "const seen = new Set();
         v.play(1);
         const end = performance.now() + 4000;
         while (performance.now() < end) {{ await new Promise((r) => setTimeout(r, 20)); seen.add({shown}); }}
         const said = [seen.size, v.shownRate.value, s.frame.value - {shown}];
         v.play(0);
         return said;"
    ));
    println!("{got}: scopes in 4 s, frames a second, frames that the scopes are behind");
    assert!(got[0].as_u64().unwrap() >= 2, "{got}");
    b.until(&format!(
        "return {shown} === document.querySelector('canvas[data-scope=histogram]').dataset.frame"
    ));
}

/// What is told about a picture that nobody waits for any more is not shown, and not taken for the next one's.
#[test]
fn steps_of_a_simulation_are_told_while_a_picture_is_waited_for() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:grey:size=32x32:frames=9");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    let told = b.run(
        "const { onTold } = await import('/app/panels.js');
         const stepped = () => onTold({ type: 'simulating', done: 30, all: 37 });
         const said = () => document.querySelector('#status').textContent.includes('stepping 30 of 37');
         const all = [];
         stepped();
         all.push(said());
         v.busy.value = true;
         all.push(said());
         stepped();
         all.push(said());
         s.key.value = 'other';
         all.push(said());
         stepped();
         v.busy.value = false;
         all.push(said());
         v.busy.value = true;
         all.push(said());
         v.busy.value = false;
         return all;",
    );
    assert_eq!(told, json!([false, false, true, false, false, false]));
}
