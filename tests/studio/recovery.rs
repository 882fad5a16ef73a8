//! Unsaved work of each tab after the server has been killed.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

const CLIP: &str = "pattern:bars:size=64x48:frames=30";

fn work(tab: &Value, name: &str) -> Value {
    let recipe = json!({ "seed": null, "steps": [{ "name": name, "off": false, "values": {} }] });
    json!({ "tab": tab, "when": 1, "clip": CLIP, "frame": 3, "recipe": recipe, "dirty": true })
}

fn kill(mut studio: Studio) {
    studio.child.kill().unwrap();
    studio.child.wait().unwrap();
}

fn first_filter(state: &Value) -> &Value {
    &state["recipe"]["steps"][0]["name"]
}

#[test]
fn no_tab_loses_its_work_to_another() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let [a, b] = [0, 1].map(|_| studio.get("/session").json()["tab"].clone());
    assert!(a.is_string() && a != b, "{a} {b}");
    studio.post("/autosave", &work(&a, "noise"));
    studio.post("/autosave", &work(&b, "invert"));
    // A page that is loaded again has its own work, and no new tab takes it away.
    let again = studio.get(&format!("/session?tab={}", a.as_str().unwrap())).json();
    assert_eq!((first_filter(&again["autosave"]), &again["unsaved"]), (&json!("noise"), &json!([])));
    kill(studio);

    let studio = Studio::start(&session, "");
    let told = studio.get("/session").json();
    assert_eq!(first_filter(&told["autosave"]), "invert", "the newest: {told}");
    let offered = told["unsaved"].as_array().unwrap();
    assert_eq!((offered.len(), &offered[0]["filters"]), (1, &json!(["noise"])), "{told}");
    // The other is taken by its name, once.
    let id = offered[0]["id"].as_str().unwrap();
    let other = studio.get(&format!("/session?work={id}")).json();
    assert_eq!((first_filter(&other["autosave"]), &other["unsaved"]), (&json!("noise"), &json!([])));
    assert_eq!(studio.get("/session").json()["autosave"]["recipe"], Value::Null);
    kill(studio);

    // Dismissed work is gone, and old work is not offered.
    let studio = Studio::start(&session, "");
    let id = studio.get("/session").json()["unsaved"][0]["id"].clone();
    studio.post("/forget", &json!({ "id": id }));
    kill(studio);
    let studio = Studio::start(&session, "");
    assert_eq!(studio.get("/session").json()["unsaved"], json!([]));
    kill(studio);
    let old = SystemTime::now() - Duration::from_secs(25 * 3600);
    let mut files = 0;
    for entry in std::fs::read_dir(session.path(".state/grainfield/studio")).unwrap() {
        std::fs::File::open(entry.unwrap().path()).unwrap().set_modified(old).unwrap();
        files += 1;
    }
    assert!(files > 0);
    let studio = Studio::start(&session, "");
    let told = studio.get("/session").json();
    assert_eq!((&told["autosave"]["dirty"], &told["unsaved"]), (&json!(false), &json!([])), "{told}");
    // Names of tabs are no paths.
    for bad in ["../x", "a/b", "", "0123456789abcdef0"] {
        assert_eq!(studio.send("POST", "/autosave", &work(&json!(bad), "noise")).status, 400, "{bad}");
        assert_eq!(studio.send("POST", "/forget", &json!({ "id": bad })).status, 400, "{bad}");
    }
}

/// The server runs on: a page that is open is offered the work of one that is closed, and a new page continues it, whatever
/// empty page was stored after it.
#[test]
fn work_of_a_closed_tab_is_offered_and_continued_at_once() {
    let session = Session::new();
    let studio = Studio::start(&session, CLIP);
    let b = Browser::start(1280, 720);
    let first = b.tab();
    b.open(&studio);
    b.new_tab();
    b.open(&studio);
    b.run("s.addStep('noise'); s.seek(7)");
    b.settle();
    // At once: before the page stores its state by itself.
    b.run("s.addStep('invert'); await s.check()");
    b.close_tab(&first);
    let offer = "document.querySelector('#notice')?.textContent.includes('unsaved work') ?? false";
    b.until(&format!("return {offer}"));
    b.run("s.markers.value = [7]");
    stored(&b);
    let work = "return [s.doc.value.steps.map((e) => e.name), s.frame.value]";
    for _ in 0..2 {
        b.new_tab();
        b.open(&studio);
        assert_eq!(b.run(work), json!([["noise", "invert"], 7]));
        b.close_tab(&first);
    }
    b.new_tab();
    b.open(&studio);
    let other = b.tab();
    b.post("/window", &json!({ "handle": first }));
    b.until(&format!("return !({offer})"));
    b.post("/window", &json!({ "handle": other }));
    // Reloading takes nothing away.
    b.post("/refresh", &json!({}));
    b.until("return document.body.dataset.ready === 'true'");
    b.settle();
    assert_eq!(b.run(work), json!([["noise", "invert"], 7]));
}

/// A second tab is told of the unsaved work of the first, and may have a copy: both are kept.
#[test]
fn a_second_tab_may_have_a_copy_of_unsaved_work() {
    let session = Session::new();
    let studio = Studio::start(&session, CLIP);
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('noise', { strength: '7' }); s.selection.value = [3, 9]; s.cutSelection();");
    stored(&b);
    let first = b.tab();
    b.new_tab();
    b.open(&studio);
    let work = "return [s.doc.value.steps.map((e) => [e.name, e.values]), s.framesText(), s.dirty.value]";
    assert_eq!(b.run(work)[0], json!([]));
    let answer =
        "[...document.querySelectorAll('#notice button')].find((e) => e.textContent === 'Open a copy here')";
    b.until(&format!("return !!{answer}"));
    b.run(&format!("{answer}.click()"));
    b.until("return document.querySelectorAll('#filters li').length === 1");
    b.settle();
    let copy = json!([[["noise", { "strength": "7" }]], "0-2,10-29", true]);
    assert_eq!(b.run(work), copy);
    b.run("s.addStep('invert')");
    stored(&b);
    b.post("/window", &json!({ "handle": first }));
    assert_eq!(b.run(work), copy);
    assert_eq!(studio.get("/work?id=../x").status, 400);
}

/// An empty recipe is no work, however new it is.
#[test]
fn the_newest_work_is_restored_after_a_restart() {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    let [a, b] = [0, 1].map(|_| studio.get("/session").json()["tab"].clone());
    studio.post("/autosave", &work(&a, "noise"));
    let mut empty = work(&b, "noise");
    (empty["recipe"]["steps"], empty["dirty"]) = (json!([]), json!(false));
    std::thread::sleep(Duration::from_millis(20));
    studio.post("/autosave", &empty);
    kill(studio);
    let studio = Studio::start(&session, CLIP);
    let told = studio.get("/session").json();
    assert_eq!((first_filter(&told["autosave"]), &told["unsaved"]), (&json!("noise"), &json!([])), "{told}");
}

/// What the page shows is what it showed before it was loaded again.
#[test]
fn the_layout_comes_back() {
    let session = Session::new();
    let studio = Studio::start(&session, CLIP);
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.press("3");
    b.press("S");
    stored(&b);
    b.open(&studio);
    assert_eq!(
        b.run("return [s.view.layout.value, s.dock.value, s.dockOpen.value]"),
        json!(["out", "scopes", true])
    );
}

#[test]
fn the_offer_covers_nothing_and_does_what_it_says() {
    let session = Session::new();
    let studio = Studio::start(&session, CLIP);
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('noise'); await 0; s.addStep('invert'); await 0; s.addStep('blur'); s.seek(11); s.selection.value = [3, 9];");
    b.settle();
    b.run("await new Promise((r) => setTimeout(r, 1000))");
    kill(studio);
    let studio = Studio::start(&session, CLIP);
    b.open(&studio);
    b.until("return !!document.querySelector('#notice button')");
    let covered = b.run(
        "const n = document.getElementById('notice').getBoundingClientRect();
         const p = document.getElementById('view').getBoundingClientRect();
         return n.height > 0 && n.bottom > p.top + 0.5 && n.top < p.bottom - 0.5;",
    );
    assert_eq!(covered, json!(false));
    assert_eq!(b.run("return s.doc.value.steps.map((e) => e.name)"), json!(["noise", "invert", "blur"]));
    // Also after the recipe has been changed.
    b.run("s.addStep('grain')");
    b.settle();
    b.run("[...document.querySelectorAll('#notice button')].find((e) => e.textContent === 'Start without it').click()");
    b.settle();
    let told = "return [s.doc.value.steps.length, s.frame.value, s.selection.value, s.clip.value.path, s.dirty.value]";
    assert_eq!(b.run(told), json!([0, 11, [3, 9], CLIP, false]));
    assert_eq!(b.run("return document.querySelector('#notice').childElementCount"), json!(0));
    b.run("s.undo()");
    assert_eq!(b.run("return s.doc.value.steps.length"), json!(4));
    // Another recipe, or clip, and there is nothing to leave.
    stored(&b);
    b.open(&studio);
    let told = "return document.querySelector('#notice').textContent.includes('is restored')";
    b.until(told);
    b.run("await s.openClip('pattern:ramp:size=64x48:frames=30')");
    assert_eq!(b.run(told), json!(false));
}

/// Lets the page store its state.
fn stored(b: &Browser) {
    b.settle();
    b.run("await new Promise((r) => setTimeout(r, 1000))");
}

const NAMED: &str = "return [s.recipePath.value, s.dirty.value, s.doc.value.steps.map((e) => e.name), Object.values(s.plainDoc().cuts)]";

/// What is saved is there again with its name, in the same tab and in another.
#[test]
fn a_saved_recipe_comes_back_under_its_name() {
    let session = Session::new();
    let studio = Studio::start(&session, CLIP);
    let save = |b: &Browser, path: &str| {
        b.press("Ctrl+Shift+S");
        b.until("return !!document.querySelector('#file-name')");
        b.run(&format!(
            "const e = document.querySelector('#file-name'); e.value = '{path}';
             e.dispatchEvent(new Event('input', {{ bubbles: true }}));
             document.querySelector('dialog[open] footer .main').click();"
        ));
        b.until("return !document.querySelector('dialog[open]')");
        stored(b);
    };
    let again = |want: Value| {
        let b = Browser::start(1280, 720);
        b.open(&studio);
        assert_eq!(b.run(NAMED), want, "in a new tab");
        b.until("return !document.querySelector('#notice').childElementCount");
        b.open(&studio);
        assert_eq!(b.run(NAMED), want, "loaded again");
    };
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.selection.value = [3, 9]; s.cutSelection();");
    save(&b, "cuts.toml");
    let want = json!(["cuts.toml", false, [], ["3-9"]]);
    b.open(&studio);
    assert_eq!(b.run(NAMED), want);
    drop(b);
    again(want);
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('noise', { strength: '9' })");
    save(&b, "chain.toml");
    let want = json!(["chain.toml", false, ["noise"], ["3-9"]]);
    b.open(&studio);
    assert_eq!(b.run(NAMED), want);
    drop(b);
    again(want);
}

/// Frames that are cut out of other clips are no change of a recipe that is opened or begun.
#[test]
fn cuts_of_other_clips_do_not_mark_a_recipe() {
    let session = Session::new();
    session.write("look.toml", "version = 1\n\n[[filter]]\nname = \"noise\"\n");
    let studio = Studio::start(&session, CLIP);
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.selection.value = [3, 9]; s.cutSelection(); await s.openClip('pattern:ramp:size=64x48:frames=9'); await (await import('/app/dialogs.js')).openedRecipe({ steps: [{ name: 'noise', off: false, values: {} }], seed: null }, 'look.toml', 'version = 1\\n\\n[[filter]]\\nname = \"noise\"\\n')");
    b.settle();
    assert_eq!(b.run("return [s.dirty.value, s.recipePath.value]"), json!([false, "look.toml"]));
    b.press("Ctrl+Alt+N");
    b.settle();
    assert_eq!(b.run(NAMED), json!(["", false, [], ["3-9"]]));
    b.run("s.selection.value = [1, 2]; s.cutSelection();");
    b.settle();
    assert_eq!(b.run("return s.dirty.value"), json!(true));
}

/// A recipe with an error has no picture: the pane and the window that renders say what is there instead.
#[test]
fn a_restored_recipe_with_an_error_is_told() {
    let session = Session::new();
    let studio = Studio::start(&session, CLIP);
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.addStep('noise', { strength: '9' })");
    b.settle();
    let label = "v.panes.get('out').notes.firstElementChild.textContent";
    assert_eq!(b.run(&format!("return {label}")), json!("Result"));
    b.run("s.setValue(s.doc.value.steps[0].id, 'strength', 'much')");
    b.until("return document.querySelectorAll('.panelabel').length > 0 && [...document.querySelectorAll('.panelabel')].some((e) => e.textContent.includes('error') && e.textContent.includes('before'))");
    stored(&b);
    b.open(&studio);
    let told = b.run(&format!("return {label}"));
    assert!(told.as_str().unwrap().contains("error") && told.as_str().unwrap().contains("source"), "{told}");
    b.press("F7");
    b.until("return (document.querySelector('dialog[open] .fault')?.textContent ?? '').includes('error')");
    b.press("Escape");
    b.run("s.setValue(s.doc.value.steps[0].id, 'strength', '3')");
    b.settle();
    assert_eq!(b.run(&format!("return {label}")), json!("Result"));
}
