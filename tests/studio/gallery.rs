//! The gallery of looks and presets.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::json;

/// Waits until the pictures in sight are drawn as they are wanted.
fn drawn(b: &Browser) {
    b.until(
        "const box = document.querySelector('.gallery')?.getBoundingClientRect();
         const all = [...document.querySelectorAll('.gallery canvas')].filter((c) => c.getBoundingClientRect().top < box.bottom);
         return all.length > 3 && all.every((c) => c.dataset.drawn === c.dataset.choice);",
    );
}

/// The pixels of the pictures, as numbers to compare.
const SUMS: &str = "[...document.querySelectorAll('.gallery canvas[data-drawn]')].map((c) =>
    c.getContext('2d').getImageData(0, 0, c.width, c.height).data.reduce((sum, v, i) => (sum * 31 + v + i) % 4294967291, 7))";

fn click(b: &Browser, name: &str) {
    b.run(&format!(
        "[...document.querySelectorAll('.gallery button')].find((e) => e.querySelector('b').textContent === '{name}').click()"
    ));
    b.until("return !document.querySelector('dialog[open]')");
}

/// The recipes that the command line finds by name are in the gallery, and what is no recipe is left out.
#[test]
fn own_looks_come_first() {
    let session = Session::new();
    std::fs::create_dir_all(session.path(".config/grainfield/looks")).unwrap();
    session
        .write(".config/grainfield/looks/night.toml", "# Our night. Blue.\n[[filter]]\nname = \"invert\"\n");
    session.write(".config/grainfield/looks/vhs.toml", "[[filter]]\nname = \"noise\"\nstrength = 3\n");
    session.write(".config/grainfield/looks/broken.toml", "[[filter");
    let studio = Studio::start(&session, "pattern:bars:size=320x180:frames=9");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.edit((d) => ({ ...d, seed: '7' }))");
    b.press("G");
    drawn(&b);
    let cards = b.run("return [...document.querySelectorAll('.gallery button')].map((e) => [e.querySelector('b').textContent, e.title])");
    assert_eq!(cards[0], json!(["night", "Your own. Our night."]));
    let names: Vec<&str> = cards.as_array().unwrap().iter().map(|card| card[0].as_str().unwrap()).collect();
    assert_eq!(names.iter().filter(|name| **name == "vhs").count(), 1, "{names:?}");
    assert!(!names.contains(&"broken"));
    click(&b, "vhs");
    b.settle();
    assert_eq!(
        b.run("return s.doc.value.steps.map((one) => [one.name, one.values.strength])"),
        json!([["noise", "3"]])
    );
    // The same look is the same picture, whatever was there before.
    assert_eq!(b.run("return s.doc.value.seed"), json!(null));
}

/// The folder of looks is none of those whose files a page may name.
#[test]
fn a_recipe_is_kept_as_an_own_look_and_shown() {
    let session = Session::new();
    let config = tempfile::tempdir().unwrap();
    let folder = config.path().join("grainfield/looks");
    let home = config.path().to_str().unwrap();
    let studio = Studio::start_with(
        &session,
        "pattern:bars:size=64x48:frames=9",
        &[("XDG_CONFIG_HOME", home), ("DISPLAY", "")],
    );
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('invert'); s.selection.value = [1, 2]; s.cutSelection();");
    b.settle();
    let keep = |name: &str| {
        b.run("k.command('recipe.look').run()");
        b.until("return !!document.querySelector('dialog[open] [aria-label=\"Name of the look\"]')");
        b.run(&format!("document.querySelector('dialog[open] input').value = {}", json!(name)));
        b.press("Enter");
    };
    keep("night 2");
    b.until("return !document.querySelector('dialog[open]')");
    let text = std::fs::read_to_string(folder.join("night 2.toml")).unwrap();
    assert!(text.contains("invert") && !text.contains("cut"), "{text}");
    // What is there is replaced only on request.
    b.run("s.addStep('noise')");
    b.settle();
    keep("night 2");
    b.until("return [...document.querySelectorAll('dialog[open] button')].some((e) => e.textContent === 'Replace it')");
    b.press("Escape");
    b.press("Escape");
    b.until("return !document.querySelector('dialog[open]')");
    assert_eq!(std::fs::read_to_string(folder.join("night 2.toml")).unwrap(), text);
    for bad in ["../a", "a/b", "a.toml", "", " a", "\0"] {
        let body = json!({ "name": bad, "text": text, "overwrite": true });
        assert_eq!(studio.send("PUT", "/looks", &body).status, 422, "{bad:?}");
    }
    // So is a built-in one, which an own one of its name hides.
    for name in ["vhs", "look-vhs"] {
        let body = json!({ "name": name, "text": text });
        assert_eq!(studio.send("PUT", "/looks", &body).status, 409, "{name}");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    b.press("G");
    drawn(&b);
    assert_eq!(b.run("return document.querySelector('.gallery b').textContent"), json!("night 2"));
    // The recipe's file is not the look's; undo brings it back.
    b.run("s.recipePath.value = 'mine.toml'");
    click(&b, "night 2");
    b.settle();
    let now = "return [s.recipePath.value, s.doc.value.steps.length]";
    assert_eq!(b.run(now), json!(["", 1]));
    b.run("s.undo()");
    assert_eq!(b.run(now), json!(["mine.toml", 2]));
    b.run("s.redo()");
    assert_eq!(b.run(now), json!(["", 1]));
}

#[test]
fn a_look_is_chosen_by_its_picture() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:bars:size=320x180:frames=9");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('invert')");
    b.settle();
    b.press("G");
    drawn(&b);
    let looks = b.run("return [...document.querySelectorAll('.gallery b')].map((e) => e.textContent)");
    assert!(looks.as_array().unwrap().len() >= 16, "{looks}");
    assert!(looks.as_array().unwrap().contains(&json!("vhs")), "{looks}");
    let all = format!("const all = {SUMS}; return [all.length, new Set(all).size, all];");
    let whole = b.run(&all);
    assert_eq!(whole[0], whole[1], "no two looks have the same picture");
    // Each look has half of its strength, without a fault.
    b.run(
        "const e = document.querySelector('#strength'); e.value = '50'; e.dispatchEvent(new Event('input'));",
    );
    drawn(&b);
    let half = b.run(&all);
    let pairs = whole[2].as_array().unwrap().iter().zip(half[2].as_array().unwrap());
    assert!(pairs.into_iter().take(8).all(|(a, b)| a != b), "{whole} {half}");
    b.run("document.querySelector('.gallery').lastElementChild.scrollIntoView()");
    drawn(&b);
    click(&b, "vhs");
    b.settle();
    let steps = "return s.doc.value.steps.map((one) => [one.name, one.values.opacity ?? null])";
    assert_eq!(b.run(steps), json!([["analog", "0.5"]]));
    b.press("Ctrl+Z");
    assert_eq!(b.run(steps), json!([["invert", null]]));
    // Its picture is that of the frame which is shown afterwards.
    b.press("G");
    drawn(&b);
    b.run(
        "document.querySelector('.gallerybar input[type=checkbox]').click();
         globalThis.thumb = [...document.querySelectorAll('.gallery canvas')].find((c) => c.dataset.choice.startsWith('/vhs|'));
         globalThis.thumb.scrollIntoView();",
    );
    b.until("return globalThis.thumb.dataset.drawn === globalThis.thumb.dataset.choice");
    click(&b, "vhs");
    b.settle();
    assert_eq!(b.run(steps), json!([["invert", null], ["analog", null]]));
    let same = b.run(
        "const { thumb } = globalThis;
         const { picture } = await import('/app/api.js');
         const got = await picture(`/frame/${s.clip.value.id}/${s.key.value}/0?side=out&size=${thumb.width},${thumb.height}&quick=true`);
         const shown = thumb.getContext('2d').getImageData(0, 0, thumb.width, thumb.height).data;
         return [thumb.width, shown.every((v, i) => v === got.image.data[i])];",
    );
    assert_eq!(same, json!([208, true]));
}

#[test]
fn a_preset_is_chosen_by_its_picture_and_nothing_is_drawn_after_escape() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:grey:size=1920x1080:frames=9");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('grain', { preset: '16mm', strength: '40', planes: 'y' })");
    b.settle();
    b.run("document.querySelector('[aria-label=\"Presets as pictures\"]').click()");
    drawn(&b);
    // The preset's own strength comes back, other settings stay.
    click(&b, "super8");
    let values = "return s.doc.value.steps.map((one) => one.values)";
    assert_eq!(b.run(values), json!([{ "preset": "super8", "planes": "y" }]));
    b.press("Ctrl+Z");
    assert_eq!(b.run(values), json!([{ "preset": "16mm", "strength": "40", "planes": "y" }]));
    // A preset of another filter is added with its filter.
    b.press("G");
    b.until("return !!document.querySelector('.gallerybar select')");
    b.run("const e = document.querySelector('.gallerybar select'); e.value = 'analog'; e.dispatchEvent(new Event('change'));");
    b.until("return document.querySelectorAll('.gallery canvas').length < 16");
    drawn(&b);
    b.press("Escape");
    b.until("return !document.querySelector('dialog[open]')");
    // Escape while pictures are made ends that.
    b.press("G");
    b.until("return !!document.querySelector('.gallery canvas')");
    b.press("Escape");
    b.settle();
    let asked =
        "return performance.getEntriesByType('resource').filter((e) => e.name.includes('size=208')).length";
    let before = b.run(asked);
    b.run("await new Promise((r) => setTimeout(r, 700))");
    assert_eq!(b.run(asked), before);
    assert_eq!(b.run(values).as_array().unwrap().len(), 1);
}

/// The settings of another filter are shown from their title on; those of the same one stay where they are.
#[test]
fn a_look_is_shown_from_its_title_on() {
    let session = Session::new();
    let studio = Studio::start(&session, "pattern:grey:size=64x48:frames=9");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('grain')");
    b.settle();
    let top = "return document.querySelector('.settings').scrollTop";
    b.run("document.querySelector('.settings').scrollTop = 100; s.setValue(s.doc.value.steps[0].id, 'strength', '40')");
    b.settle();
    assert_eq!(b.run(top), json!(100));
    b.run("s.applyLook({ steps: [{ name: 'analog', off: false, values: {} }], seed: null }, false)");
    b.settle();
    assert_eq!(b.run(top), json!(0));
}
