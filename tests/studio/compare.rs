//! The result against a recipe that was kept, and against stills.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::json;

#[test]
fn a_kept_recipe_and_a_still_stand_beside_the_result() {
    let session = Session::new();
    let line = "pattern:zoneplate:size=320x180:frames=60";
    let studio = Studio::start(&session, line);
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('noise', { strength: '4', seed: '1' }); s.seek(7);");
    b.settle();
    let hashes = "return [v.hashNow('in'), v.hashNow('out')]";
    let first = b.run(hashes);
    b.press("R");
    b.until(
        "return [...document.querySelectorAll('.panelabel')].some((e) => e.textContent.startsWith('A, 1'))",
    );
    b.run("s.setValue(s.doc.value.steps[0].id, 'strength', '9');");
    b.settle();
    let second = b.run(hashes);
    assert_eq!(second[0], first[1], "A is the recipe as it was");
    assert_ne!(second[1], first[1]);
    let label = "return v.panes.get('in').notes.firstElementChild.textContent";
    assert!(b.run(label).as_str().unwrap().starts_with("A, 1: noise"), "{}", b.run(label));
    // A follows the playhead, a still stays.
    b.press("Shift+R");
    b.run("s.seek(8)");
    b.settle();
    assert_eq!(b.run(hashes)[0], second[1]);
    b.press("N");
    b.settle();
    let source = b.run(hashes)[0].clone();
    b.press("N");
    b.settle();
    let kept = b.run(hashes)[0].clone();
    assert!(kept != second[0] && kept != source, "{kept} {source}");
    // The difference is from A, pixel by pixel, and the wipe has it on the left.
    b.run("s.setValue(s.doc.value.steps[0].id, 'strength', '4'); s.view.layout.value = 'diff'; v.zoomTo(1);");
    b.settle();
    let greys = |b: &Browser| {
        b.run(
        "const p = v.panes.get('diff'); const [x, y] = p.origin(); const data = p.canvas.getContext('2d').getImageData(x, y, 320, 180).data;
         return data.every((v, i) => i % 4 === 3 || v === 128);",
    )
    };
    assert_eq!(greys(&b), json!(true));
    b.run("s.against.value = 2;");
    b.settle();
    assert_eq!(greys(&b), json!(false));
    b.press("W");
    b.settle();
    assert!(
        b.run("return v.panes.get('out').notes.firstElementChild.textContent")
            .as_str()
            .unwrap()
            .starts_with("A, 2: noise, frame 7")
    );
    if let Ok(folder) = std::env::var("GRAINFIELD_SHOTS") {
        b.press("1");
        b.settle();
        b.screenshot(&std::path::Path::new(&folder).join("compare.png"));
    }
    // A still can be of another clip, at its own size; a recipe is compared on its own clip alone.
    b.press("1");
    b.settle();
    b.run("globalThis.was = s.clip.value.path; await s.openClip('pattern:bars:size=64x48:frames=9');");
    b.until(
        "return [...document.querySelectorAll('.panelabel')].some((e) => e.textContent.startsWith('A, 2'))",
    );
    b.settle();
    assert!(
        b.run(label).as_str().unwrap().starts_with("A, 2: noise, frame 7 of pattern:zoneplate"),
        "{}",
        b.run(label)
    );
    let still = b.run("return [s.reference.value.id, v.hashNow('in'), v.panes.get('in').zoom() < v.panes.get('out').zoom()]");
    assert_eq!(still, json!([2, second[1], true]));
    b.run("s.against.value = 1");
    b.settle();
    assert_eq!(b.run(label), json!("Source"));
    b.run("s.against.value = 2; await s.openClip(globalThis.was); s.seek(8);");
    b.settle();
    // A is taken, what was there is kept, and all of it survives the server.
    b.run("s.against.value = 1; s.setValue(s.doc.value.steps[0].id, 'strength', '6');");
    b.settle();
    b.press("X");
    b.until("return document.querySelectorAll('[aria-label=\"Compare with\"] option').length === 3");
    b.settle();
    assert_eq!(b.run("return [s.doc.value.steps[0].values.strength, s.against.value]"), json!(["4", 3]));
    b.run("await new Promise((r) => setTimeout(r, 700))");
    drop(studio);
    let studio = Studio::start(&session, line);
    b.open(&studio);
    b.run("s.against.value = 3;");
    b.settle();
    assert!(b.run(label).as_str().unwrap().starts_with("A, 3: noise"));
    b.press("Shift+N");
    b.settle();
    assert_eq!(
        b.run("return [s.references.value.length, v.panes.get('in').notes.firstElementChild.textContent.slice(0, 6)]"),
        json!([1, "Source"])
    );
}
