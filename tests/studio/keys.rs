//! Every key, by a keyboard.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::json;

#[test]
fn keys_do_what_the_list_describes() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=64x48:frames=200");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('noise'); s.addStep('grain');");
    let frame = "s.frame.value";
    let selection = "s.selection.value";
    let layout = "s.view.layout.value";
    for (key, what, want) in [
        ("ArrowRight", frame, json!(1)),
        (".", frame, json!(2)),
        ("ArrowLeft", frame, json!(1)),
        (",", frame, json!(0)),
        ("PageDown", frame, json!(50)),
        ("Alt+ArrowRight", frame, json!(100)),
        ("PageUp", frame, json!(50)),
        ("Alt+ArrowLeft", frame, json!(0)),
        ("Ctrl+ArrowRight", frame, json!(199)),
        ("Ctrl+ArrowLeft", frame, json!(0)),
        ("PageDown", frame, json!(50)),
        ("Home", selection, json!([50, 199])),
        ("PageDown", frame, json!(100)),
        ("End", selection, json!([50, 100])),
        ("[", frame, json!(50)),
        ("]", frame, json!(100)),
        ("Ctrl+D", selection, json!(null)),
        ("Ctrl+A", selection, json!([0, 199])),
        ("I", selection, json!([100, 199])),
        ("O", selection, json!([100, 100])),
        ("Ctrl+D", selection, json!(null)),
        ("2", layout, json!("stack")),
        ("F9", layout, json!("out")),
        ("F10", layout, json!("in")),
        ("5", layout, json!("wipe")),
        ("D", layout, json!("diff")),
        ("V", layout, json!("out")),
        ("B", layout, json!("in")),
        ("1", layout, json!("side")),
        ("Z", "s.view.zoom.value", json!(1)),
        ("+", "s.view.zoom.value", json!(2)),
        ("-", "s.view.zoom.value", json!(1)),
        ("F", "s.view.zoom.value", json!(0)),
        ("C", "s.view.clipping.value", json!(true)),
        ("C", "s.view.clipping.value", json!(false)),
        ("Q", "s.view.loupe.value", json!(true)),
        ("S", "s.dock.value", json!("scopes")),
        ("F4", "s.dock.value", json!("jobs")),
        ("Ctrl+Shift+K", "s.dock.value", json!("curves")),
        ("Ctrl+B", "s.doc.value.steps.map((x) => x.off)", json!([false, true])),
        ("Alt+ArrowUp", "s.doc.value.steps.map((x) => x.name)", json!(["grain", "noise"])),
        ("Alt+ArrowDown", "s.doc.value.steps.map((x) => x.name)", json!(["noise", "grain"])),
        ("Ctrl+C", "s.doc.value.steps.length", json!(2)),
        ("Ctrl+V", "s.doc.value.steps.map((x) => x.name)", json!(["noise", "grain", "grain"])),
        ("Delete", "s.doc.value.steps.length", json!(2)),
        ("Ctrl+Z", "s.doc.value.steps.length", json!(3)),
        ("Ctrl+Y", "s.doc.value.steps.length", json!(2)),
        ("Ctrl+X", "s.doc.value.steps.length", json!(1)),
        ("L", "v.playing.value", json!(1)),
        ("L", "v.playing.value", json!(2)),
        ("K", "v.playing.value", json!(0)),
        ("J", "v.playing.value", json!(-1)),
        ("Escape", "v.playing.value", json!(0)),
        ("Space", "v.playing.value", json!(1)),
        ("Space", "v.playing.value", json!(0)),
        ("Enter", "v.playSide.value", json!("out")),
        ("Enter", "v.playing.value", json!(0)),
        ("Shift+Enter", "v.playSide.value", json!("in")),
        ("Escape", "v.playing.value", json!(0)),
        ("F5", "v.playing.value", json!(1)),
        ("K", "v.playing.value", json!(0)),
    ] {
        b.press(key);
        assert_eq!(
            b.run(&format!("await new Promise((r) => setTimeout(r)); return {what}")),
            want,
            "after {key}"
        );
    }
    // In the list of filters arrows choose; Home and End are those of the playhead there, too.
    b.run("s.addStep('noise'); s.seek(30); await 0; document.querySelector('#filters li .name').click(); document.querySelector('#filters li.chosen .name').focus();");
    b.press("Home");
    b.run("s.seek(40)");
    b.press("End");
    b.press("ArrowDown");
    assert_eq!(b.run("return [s.selection.value, s.selected.value]"), json!([[30, 40], 1]));
    // Keys that open a window, which Escape shuts.
    for key in
        ["F1", "Ctrl+K", "Ctrl+F", "Ctrl+G", "Ctrl+O", "F2", "Ctrl+L", "Ctrl+Shift+S", "F7", "Ctrl+Shift+E"]
    {
        b.press(key);
        b.until("return document.querySelectorAll('dialog[open]').length === 1");
        b.press("Escape");
        b.until("return document.querySelectorAll('dialog').length === 0");
    }
}

#[test]
fn everything_is_done_without_a_mouse() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=64x48:frames=20");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    // A filter by its name, and its strength typed.
    b.press("Ctrl+F");
    "film grain: 16mm".chars().for_each(|c| b.press(&c.to_string().replace(' ', "Space")));
    b.press("Enter");
    b.settle();
    assert_eq!(
        b.run("return s.doc.value.steps.map((x) => [x.name, x.values.preset])"),
        json!([["grain", "16mm"]])
    );
    b.run("document.querySelector('[data-setting=strength] .number').focus()");
    b.press("ArrowUp");
    b.settle();
    let strength = b.run("return Number(s.doc.value.steps[0].values.strength)").as_f64().unwrap();
    assert!(strength > 0.0);
    // Letters that are typed are no commands.
    b.press("Z");
    assert_eq!(b.run("return s.view.zoom.value"), json!(0));
    b.press("Escape");
    // Another key for a command, which is kept.
    b.press("F1");
    b.run("document.querySelector('button.key[aria-label^=\"One to one\"]').click()");
    b.press("Y");
    b.press("Escape");
    b.press("Y");
    assert_eq!(b.run("return s.view.zoom.value"), json!(1));
    // The palette.
    b.press("Ctrl+K");
    "difference".chars().for_each(|c| b.press(&c.to_string()));
    b.press("Enter");
    assert_eq!(b.run("return s.view.layout.value"), json!("diff"));
    // Every control has a name, and can be reached.
    let nameless = b.run(
        "const all = [...document.querySelectorAll('button, input, select, [role=slider], canvas')];
         return all.filter((e) => e.checkVisibility() && !(e.ariaLabel || e.labels?.length || e.textContent.trim() || e.title))
           .map((e) => e.outerHTML.slice(0, 120));",
    );
    assert_eq!(nameless, json!([]));
}

/// The edge of a panel that was dragged keeps no keys.
#[test]
fn space_plays_after_a_panel_was_resized() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=64x48:frames=200");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    let width = "return document.querySelector('#filters').offsetWidth";
    let before = b.run(width).as_u64().unwrap();
    b.drag("#filters .splitter", (-40, 0));
    assert_ne!(b.run(width).as_u64().unwrap(), before);
    b.press("Space");
    b.until("return document.activeElement === document.body");
    assert_ne!(b.run("return v.playing.value"), json!(0));
    b.run("v.play(0); document.querySelector('#filters .splitter').focus()");
    b.press("ArrowLeft");
    b.press("Space");
    assert_ne!(b.run("return v.playing.value"), json!(0));
}

/// Until a changed curve is computed, its setting shows the last value.
#[test]
fn a_curve_that_changes_shows_no_other_value() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=64x48:frames=200");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('fade', { amount: '0=0.5;100=0.75', color: '0=red;100=#ff0000' }); s.seek(20)");
    let fields = "const value = (q) => document.querySelector(`[data-setting=${q}`)?.value;
                  const all = () => [value('amount] .number'), value('amount] input[type=range]'), value('color] input')];";
    b.until(&format!("{fields} return all()[0] === '0.55' && all()[2] === '#ff0000'"));
    let seen = b.run(&format!(
        "{fields} const [{{ id }}] = s.doc.value.steps;
         s.setValue(id, 'amount', '0=0.55;100=0.75'); s.setValue(id, 'color', '0=#f00;100=#ff0000');
         return all();"
    ));
    assert_eq!(seen, json!(["0.55", "0.55", "#ff0000"]));
    b.until(&format!("{fields} return all()[0] === '0.59'"));
}

/// People look for filters by the words of their trade, with any ending.
#[test]
fn filters_are_found_by_other_words() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let b = Browser::start(1024, 640);
    b.open(&studio);
    b.press("Ctrl+F");
    for (typed, first) in [
        ("damage", "dust"),
        ("damaged", "dust"),
        ("dropouts", "analog"),
        ("stabilise", "transform"),
        ("stabilization", "transform"),
        ("sharpening", "unsharp"),
        ("resizing", "scale"),
        ("letterboxed", "pad"),
        ("LUT", "lut"),
        ("curves", "levels"),
        ("ffmpeg", "lavfi"),
        ("mirror", "lavfi"),
        ("degrain", "denoise"),
        ("birds", "flock"),
        ("fire", "atmosphere-fire"),
        ("sand", "sand"),
    ] {
        b.run(&format!(
            "const e = document.querySelector('dialog input.search'); e.value = '{typed}'; e.dispatchEvent(new Event('input', {{ bubbles: true }}));"
        ));
        b.until(&format!("return document.querySelector('#choices [role=option]')?.id === 'choice-{first}'"));
    }
}
