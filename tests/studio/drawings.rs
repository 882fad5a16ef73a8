//! What is drawn by hand in the page: curves, their axis and handles, the response of grain, the list of filters.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::json;

/// A drag of the mouse between two places of the window.
fn drag(b: &Browser, from: [f64; 2], to: [f64; 2]) {
    let go = |p: [f64; 2]| json!({ "type": "pointerMove", "duration": 0, "x": p[0].round(), "y": p[1].round(), "origin": "viewport" });
    let middle = [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0];
    b.post(
        "/actions",
        &json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [
            go(from), { "type": "pointerDown", "button": 0 }, go(middle), go(to), { "type": "pointerUp", "button": 0 } ] }] }),
    );
}

/// The middle of an element.
fn place(b: &Browser, selector: &str) -> [f64; 2] {
    let at = b.run(&format!(
        "const r = document.querySelector('{selector}').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2];"
    ));
    [0, 1].map(|i| at[i].as_f64().unwrap())
}

fn studio_with(session: &Session, values: &str) -> (Studio, Browser) {
    let studio = Studio::start(session, "pattern:zoneplate:size=160x90:frames=101");
    let b = Browser::start(1600, 900);
    b.open(&studio);
    b.run(&format!("s.addStep('noise', {values}); s.dock.value = 'curves'; s.dockOpen.value = true;"));
    b.until("return document.querySelectorAll('.curves .key').length > 0");
    (studio, b)
}

/// A stretch with handles: the shape is chosen in the table, a handle is dragged, and the library draws what it says.
#[test]
fn handles_of_a_curve_are_dragged() {
    let session = Session::new();
    let (_studio, b) = studio_with(&session, "{ strength: '0=0;100=10' }");
    b.run(
        "const e = document.querySelector('.keytable select'); e.focus(); e.value = 'bezier'; e.dispatchEvent(new Event('change'));",
    );
    let text = "return s.doc.value.steps[0].values.strength";
    assert_eq!(b.run(text), json!("0(bezier 0.333 0 0.667 0)=0;100=10"));
    b.until("return document.querySelectorAll('.curves .handle').length === 2");
    let (key, handle) = (place(&b, ".curves .key"), place(&b, ".curves .handle"));
    let end = place(&b, ".curves .key:last-of-type");
    // To half the time and half the height.
    let half = [(key[0] + end[0]) / 2.0, (key[1] + end[1]) / 2.0];
    drag(&b, handle, half);
    let written = b.run(text);
    let shape = written.as_str().unwrap().strip_prefix("0(bezier ").unwrap();
    let numbers: Vec<f64> = shape.split([' ', ')']).take(4).map(|n| n.parse().unwrap()).collect();
    assert!((numbers[0] - 0.5).abs() < 0.02 && (numbers[1] - 5.0).abs() < 0.3, "{written}");
    assert_eq!(numbers[2..], [0.667, 0.0]);
    // One step of undo.
    b.run("s.undo()");
    assert_eq!(b.run(text), json!("0(bezier 0.333 0 0.667 0)=0;100=10"));
}

/// The plot has the whole range of a setting and keeps it; a key that is dragged to its end is there.
#[test]
fn the_values_of_a_curve_stay_where_they_are() {
    let session = Session::new();
    let (_studio, b) = studio_with(&session, "{ opacity: '50=0.9' }");
    let levels = || {
        let all = b
            .run("return [...document.querySelectorAll('.curves .grid + .level')].map((e) => e.textContent)");
        all.as_array().unwrap().iter().map(|e| e.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(levels(), ["0", "0.5", "1"]);
    // The plot's lines at 0 and 1, and a key by a double click a tenth above the lower one.
    let plot = b.run("const all = [...document.querySelectorAll('.curves .level')].filter((e) => e.previousElementSibling?.classList.contains('grid'));
                      const y = (t) => all.find((e) => e.textContent === t).previousElementSibling.getBoundingClientRect().y;
                      return [y('0'), y('1'), document.querySelector('.curves').getBoundingClientRect().y]");
    let [bottom, top, above] = [0, 1, 2].map(|i| plot[i].as_f64().unwrap());
    let key = place(&b, ".curves .key");
    let at = [key[0] + 200.0, bottom + (top - bottom) * 0.1];
    let click = |down: &str| json!({ "type": down, "button": 0 });
    let go = json!({ "type": "pointerMove", "duration": 0, "x": at[0].round(), "y": at[1].round(), "origin": "viewport" });
    let twice = ["pointerDown", "pointerUp", "pointerDown", "pointerUp"].map(click);
    let steps: Vec<_> = std::iter::once(go).chain(twice).collect();
    b.post("/actions", &json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": steps }] }));
    b.until("return document.querySelectorAll('.curves .key').length === 2");
    assert_eq!(levels(), ["0", "0.5", "1"]);
    assert_eq!(b.run("return String(getSelection())"), json!(""));
    let text = "return s.doc.value.steps[0].values.opacity";
    let made = b.run(text);
    let value: f64 = made.as_str().unwrap().rsplit('=').next().unwrap().parse().unwrap();
    assert!((value - 0.1).abs() < 0.012, "{made}");
    // To the top and a bit beside it, beyond it, and below the plot.
    let first = |made: serde_json::Value| made.as_str().unwrap().split([';', '=']).nth(1).unwrap().to_owned();
    for (to, want) in
        [(top + 2.0, "1"), (top - 5.0, "1"), (above - 40.0, "1"), (bottom - 2.0, "0"), (bottom + 12.0, "0")]
    {
        let key = place(&b, ".curves .key");
        drag(&b, [key[0] + 1.0, key[1] + 1.0], [key[0] + 1.0, to]);
        assert_eq!(first(b.run(text)), want, "dragged to {to}");
        b.run("s.undo(); await new Promise((r) => setTimeout(r, 500));");
    }
    // Ctrl and the wheel enlarge the values, and a button shows all again.
    b.run("const p = document.querySelector('.curves'); const r = p.getBoundingClientRect();
           p.dispatchEvent(new WheelEvent('wheel', { deltaY: -1, ctrlKey: true, clientX: r.x + 99, clientY: r.y + r.height / 2, bubbles: true, cancelable: true }));");
    b.until("return document.querySelectorAll('.curves .grid + .level')[2].textContent !== '1'");
    b.run(
        "[...document.querySelectorAll('.keybar button')].find((e) => e.textContent === 'See all').click()",
    );
    b.until("return document.querySelectorAll('.curves .grid + .level')[2].textContent === '1'");
}

/// The ruler above the curves has the same axis, also when the curves are zoomed; keys stand on it.
#[test]
fn the_ruler_and_the_curves_share_an_axis() {
    let session = Session::new();
    let (_studio, b) = studio_with(&session, "{ strength: '10=0;60=10' }");
    for _ in 0..2 {
        for n in [10, 60] {
            b.run(&format!("s.seek({n})"));
            let (ruler, plot) = (place(&b, ".ruler .head"), place(&b, ".curves line.head"));
            assert!((ruler[0] - plot[0]).abs() < 1.5, "frame {n}: {ruler:?} {plot:?}");
        }
        assert_eq!(b.run("return document.querySelectorAll('.ruler .keymark').length"), json!(2));
        // A click on the ruler goes to the frame that stands there.
        let at = place(&b, ".ruler .keymark");
        drag(&b, at, at);
        assert_eq!(b.run("return s.frame.value"), json!(10));
        b.run("const p = document.querySelector('.curves'); const r = p.getBoundingClientRect();
               p.dispatchEvent(new WheelEvent('wheel', { deltaY: -1, clientX: r.x + r.width * .4, clientY: r.y + 20, bubbles: true, cancelable: true }));
               await new Promise((r) => setTimeout(r, 300));");
    }
    // Beside a short plot the ruler keeps its length.
    b.cdp(
        "Emulation.setDeviceMetricsOverride",
        json!({ "width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false }),
    );
    b.until(
        "const [track, ruler] = ['.ruler .track', '.ruler'].map((e) => document.querySelector(e).getBoundingClientRect().width);
         return ruler < 1000 && track > 0.99 * ruler",
    );
    // Without the plot the ruler is as wide as the clip, once all of it is seen.
    b.press("Ctrl+Shift+K");
    b.run("s.seek(0); (await import('/app/timeline.js')).span.value = null;");
    let (head, ruler) = (
        place(&b, ".ruler .head"),
        b.run("return document.querySelector('.ruler').getBoundingClientRect().x"),
    );
    assert!(head[0] - ruler.as_f64().unwrap() < 10.0, "{head:?}");
}

/// Grain over brightness is drawn as the preset has it, and becomes points that keep its shape.
#[test]
fn the_response_of_grain_is_drawn_and_changed() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=64x48:frames=2");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('grain', { curve: 'shadows' });");
    b.settle();
    // u^0.35 (1-u)^1.4 over its peak at u = 0.2: 1, and at 0.75 0.312 (computed with a calculator).
    let points =
        b.run("return s.checked.value.effective[0].points.split(';').map((p) => p.split('=').map(Number))");
    let at = |u: f64| {
        let all = points.as_array().unwrap().iter();
        let near = all.min_by_key(|p| ((p[0].as_f64().unwrap() - u).abs() * 1e6) as i64).unwrap();
        near[1].as_f64().unwrap()
    };
    assert!((at(0.2) - 1.0).abs() < 0.002 && (at(0.75) - 0.312).abs() < 0.002, "{points}");
    assert!(
        b.run("return document.querySelector('[data-setting=points] path').getAttribute('d').length > 200")
            == json!(true)
    );
    assert_eq!(b.run("return document.querySelectorAll('[data-setting=points] circle').length"), json!(0));
    // As in Chromium, whose pointers do not count clicks.
    b.run("for (let i = 0; i < 2; i++) document.querySelector('[data-setting=points] svg').dispatchEvent(new PointerEvent('pointerdown', { clientX: 1, clientY: 1, bubbles: true }))");
    b.settle();
    let values = b.run("return s.doc.value.steps[0].values");
    assert!(values["curve"].is_null(), "{values}");
    assert_eq!(values["points"].as_str().unwrap().split(';').count(), 9, "{values}");
    assert_eq!(b.run("return s.checked.value.faults.length"), json!(0));
    assert_eq!(b.run("return document.querySelectorAll('[data-setting=points] circle').length"), json!(9));
    // What few need is folded.
    assert_eq!(
        b.run("return document.querySelector('[data-setting=generator]').closest('details').open"),
        json!(false)
    );
}

/// Filters stand under what they are for; presets are folded until they are wanted or something is typed.
#[test]
fn filters_are_found_by_their_use() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=64x48:frames=2");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.press("Ctrl+F");
    let count = |selector: &str| {
        b.run(&format!("return document.querySelectorAll('dialog {selector}').length")).as_u64().unwrap()
    };
    let filters = b.run("return s.catalog.value.length").as_u64().unwrap();
    // And what deinterlaces the clip.
    assert_eq!(count("[role=option]"), filters + 1);
    let headings =
        b.run("return [...document.querySelectorAll('dialog .heading')].map((e) => e.textContent)");
    assert_eq!(headings.as_array().unwrap().len(), 5, "a filter is in no group: {headings}");
    b.press("ArrowRight");
    assert!(count(".preset") > 3);
    b.press("ArrowDown");
    b.press("ArrowLeft");
    assert_eq!(count(".preset"), 0);
    assert_eq!(
        b.run("return document.querySelector('dialog [aria-selected=true]').id"),
        json!("choice-grain")
    );
    "vhs".chars().for_each(|c| b.press(&c.to_string()));
    b.press("Enter");
    assert_eq!(b.run("return s.doc.value.steps[0].values.preset"), json!("vhs"));
}

/// Pictures fill the pane where that is wanted, and fit by whole steps else.
#[test]
fn pictures_fit_and_fill() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:zoneplate:size=100x50:frames=2");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.view.layout.value = 'in'");
    b.settle();
    let fit = "const p = v.panes.get('in'); return [p.zoom(), p.canvas.width / 100, p.canvas.height / 50, p.origin()]";
    let told = b.run(fit);
    let most = told[1].as_f64().unwrap().min(told[2].as_f64().unwrap());
    assert_eq!(told[0].as_f64().unwrap(), most.floor());
    b.press("Shift+F");
    b.settle();
    let told = b.run(fit);
    assert_eq!(told[0].as_f64().unwrap(), most);
    // Every sample is where it belongs: the middle of its square.
    let id = b.run("return s.clip.value.id");
    let want = studio.get(&format!("/frame/{id}/0/0?side=in")).body;
    let (width, bytes) = b.canvas("in");
    let [left, top] = [0, 1].map(|i| told[3][i].as_f64().unwrap());
    for (x, y) in [(0, 0), (99, 49), (37, 21), (64, 5)] {
        let at = |n: usize, from: f64| (from + (n as f64 + 0.5) * most) as usize;
        let got = &bytes[4 * (at(y, top) * width + at(x, left))..][..3];
        assert_eq!(got, &want[4 * (100 * y + x)..][..3], "{x},{y}");
    }
    b.press("F");
    assert_eq!(b.run("return s.view.zoom.value"), json!(0));
}

/// Panels grow, panes are swapped, times are timecode, the file's facts are listed: by keys, and what should be is
/// kept.
#[test]
fn the_window_is_arranged() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=64x48:frames=100:rate=24000/1001");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    let sides = "return [...document.querySelectorAll('.pane')].map((e) => e.dataset.side)";
    assert_eq!(b.run(sides), json!(["in", "out"]));
    b.press("Shift+B");
    assert_eq!(b.run(sides), json!(["out", "in"]));
    let time = "return document.querySelector('.time').textContent.trim()";
    b.run("s.seek(50)");
    // 50 * 1001 / 24000 s = 2.0854 s; 2 s and 2 frames of 24.
    assert_eq!(b.run(time), json!("00:00:02:02"));
    b.press("Shift+T");
    assert_eq!(b.run(time), json!("00:00:02.085"));
    let height = "return document.querySelector('#dock').offsetHeight";
    let before = b.run(height).as_u64().unwrap();
    b.run("document.querySelector('#dock .splitter').focus()");
    b.press("ArrowUp");
    assert_eq!(b.run(height).as_u64().unwrap(), before + 16);
    let at = place(&b, "#filters .splitter");
    let width = "return document.querySelector('#filters').offsetWidth";
    let before = b.run(width).as_u64().unwrap();
    drag(&b, at, [at[0] - 60.0, at[1]]);
    assert!(b.run(width).as_u64().unwrap().abs_diff(before + 60) <= 4);
    b.press("Alt+Enter");
    b.until("return document.querySelector('dialog .facts')?.textContent.includes('0 to 99, 24000/1001') === true");
    b.press("Escape");
    // Kept by the next page.
    let (wide, high) = (b.run(width), b.run(height));
    b.run("await new Promise((r) => setTimeout(r, 900))");
    b.open(&studio);
    assert_eq!((b.run(width), b.run(height)), (wide, high));
    assert_eq!(b.run(time), json!("00:00:02.085"));
}
