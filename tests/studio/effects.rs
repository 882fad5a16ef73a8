//! Effects of particles, edited in the page.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::json;

const CLIP: &str = "pattern:grey:size=96x64:frames=48";

fn page(session: &Session) -> (Studio, Browser) {
    let studio = Studio::start(session, CLIP);
    let browser = Browser::start(1280, 720);
    browser.open(&studio);
    (studio, browser)
}

/// Waits until the result is what the program makes of these filters.
fn until_shown(session: &Session, b: &Browser, n: i64, filters: &str) {
    let line = session.run(&format!("hash {CLIP} --frames {n} -f '{filters}'")).ok().text();
    let hash = line.trim().split_once(' ').unwrap().1.to_owned();
    let of = "(await import('/app/viewer.js')).hashes.value.out";
    for _ in 0..400 {
        b.settle();
        if b.run(&format!("return {of}")) == json!(hash) {
            return;
        }
    }
    panic!("never {hash} of {filters}: {}", b.messages());
}

fn press(b: &Browser, name: &str) {
    b.until(&format!("return [...document.querySelectorAll('#filters button, dialog[open] button')].some((e) => e.textContent === '{name}' && !e.disabled)"));
    b.run(&format!("[...document.querySelectorAll('#filters button, dialog[open] button')].findLast((e) => e.textContent === '{name}').click()"));
}

fn give(b: &Browser, key: &str, value: &str) {
    b.until(&format!("return !!document.querySelector('[data-key={key}] input')"));
    b.run(&format!(
        "const e = document.querySelector('[data-key={key}] input:not([type=color])');
         e.value = {};
         e.dispatchEvent(new Event('change', {{ bubbles: true }}));",
        json!(value)
    ));
}

#[test]
fn an_effect_is_edited_shown_at_once_and_saved_on_request() {
    let session = Session::new();
    session.write("mine.toml", "# Somebody else's.\n");
    let (studio, b) = page(&session);
    b.run("s.addStep('particles', { preset: 'embers', colour: '#40ff40', seed: '7' }); s.seek(20);");
    until_shown(&session, &b, 20, "particles=preset=embers:colour=#40ff40:seed=7");
    // The preset becomes a file with the same effect. An existing file with this name is not replaced without
    // confirmation.
    press(&b, "Edit the preset’s effect…");
    b.until("return !!document.querySelector('dialog[open] input[aria-label=\"File name\"]')");
    let name = |name: &str| {
        b.run(&format!(
            "const e = document.querySelector('dialog[open] input[aria-label=\"File name\"]');
             e.value = '{name}'; e.dispatchEvent(new Event('input', {{ bubbles: true }}));"
        ));
        b.run("document.querySelector('dialog[open] form').requestSubmit()");
    };
    name("mine");
    press(&b, "Cancel");
    assert_eq!(session.read("mine.toml"), b"# Somebody else's.\n");
    name("embers");
    b.until("return !document.querySelector('dialog[open]') && !!document.querySelector('.effect')");
    assert_eq!(b.run("return s.doc.value.steps[0].values"), json!({ "effect": "embers.toml", "seed": "7" }));
    until_shown(&session, &b, 20, "particles=preset=embers:colour=#40ff40:seed=7");
    let written = session.read("embers.toml");
    // A number: the picture is that of the text, the file stays.
    give(&b, "rate", "333");
    b.until("return document.querySelector('.effect summary').textContent.endsWith('•')");
    let draft = || b.run("return s.doc.value.drafts['embers.toml']").as_str().unwrap().to_owned();
    assert!(draft().contains("rate = 333"), "{}", draft());
    session.write("other.toml", draft());
    until_shown(&session, &b, 20, "particles=effect=other.toml:seed=7");
    assert_eq!(session.read("embers.toml"), written);
    // A value that a key does not take is reported there, and the picture stays.
    give(&b, "life", "never");
    b.until("return !!document.querySelector('[data-key=life] .fault')");
    assert!(draft().contains("rate = 333") && !draft().contains("never"));
    // A curve, by the editor of curves and its keys.
    b.run("document.querySelector('[data-key=rate] .tools button').click()");
    b.until("return document.querySelectorAll('.curves .key').length === 1");
    b.run("s.seek(24); document.querySelector('.curves').focus()");
    b.until("return document.querySelector('.keybar .digits').textContent === '333'");
    b.press("Enter");
    b.until("return document.querySelectorAll('.curves .key').length === 2");
    b.press("Shift+ArrowUp");
    b.press("Shift+ArrowUp");
    b.press("ArrowRight");
    b.until("return s_drafts().includes('rate = \"0=333;25=533\"'); function s_drafts() { return document.querySelector('[data-key=rate] input').value === '0=333;25=533' ? 'rate = \"0=333;25=533\"' : ''; }");
    b.settle();
    assert!(draft().contains("rate = \"0=333;25=533\""), "{}", draft());
    session.write("other.toml", draft());
    until_shown(&session, &b, 24, "particles=effect=other.toml:seed=7");
    // Values over life, colours and a key that was not there.
    give(&b, "opacity-over", "[[0, 0], [0.5, 1], [1, 0]]");
    b.run(
        "const e = document.querySelector('[data-key=colours] input[type=color]');
         e.value = '#0080ff'; e.dispatchEvent(new Event('input', { bubbles: true }));",
    );
    b.run(
        "const e = document.querySelector('.effect select[aria-label=\"Give another key\"]');
         e.value = 'squash'; e.dispatchEvent(new Event('change', { bubbles: true }));",
    );
    b.until("return !!document.querySelector('[data-key=squash]')");
    let begun = std::time::Instant::now();
    while !draft().contains("squash = 1") && begun.elapsed().as_secs() < 40 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let text = draft();
    for part in ["opacity-over = [[0, 0], [0.5, 1], [1, 0]]", "#0080ff", "squash = 1"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    session.write("other.toml", &text);
    until_shown(&session, &b, 24, "particles=effect=other.toml:seed=7");
    // It is there in another page, and a render waits until it is saved.
    b.run("await new Promise((r) => setTimeout(r, 900))");
    b.post("/url", &json!({ "url": "about:blank" }));
    b.open(&studio);
    assert_eq!(draft(), text);
    until_shown(&session, &b, 24, "particles=effect=other.toml:seed=7");
    b.press("F7");
    b.until("return !!document.querySelector('dialog[open] #r-output')");
    b.run("document.querySelector('dialog[open] .main').click()");
    b.until(
        "return document.querySelector('dialog[open] .fault')?.textContent.includes('embers.toml') ?? false",
    );
    b.press("Escape");
    press(&b, "Edit the effect");
    b.until("return !!document.querySelector('.effect')");
    // Another program has written it in the meantime: its changes are not overwritten without confirmation.
    session.write("embers.toml", "[[layer]]\nrate = 1\n");
    press(&b, "Save");
    press(&b, "Cancel");
    assert_eq!(session.read("embers.toml"), b"[[layer]]\nrate = 1\n");
    press(&b, "Save");
    press(&b, "Replace it");
    b.until("return !document.querySelector('.effect summary').textContent.endsWith('•')");
    assert_eq!(String::from_utf8(session.read("embers.toml")).unwrap(), text);
    until_shown(&session, &b, 24, "particles=effect=embers.toml:seed=7");
    // A change while the file is written stays unsaved.
    give(&b, "rate", "11");
    b.until("return document.querySelector('.effect summary').textContent.endsWith('•')");
    b.run(
        "[...document.querySelectorAll('#filters button')].find((e) => e.textContent === 'Save').click();
         s.edit((d) => ({ ...d, drafts: { 'embers.toml': d.drafts['embers.toml'].replace('rate = 11', 'rate = 12') } }));",
    );
    b.until("return [...document.querySelectorAll('#toasts p')].some((e) => /saved as embers/.test(e.textContent))");
    b.settle();
    assert!(String::from_utf8(session.read("embers.toml")).unwrap().contains("rate = 11"));
    assert!(draft().contains("rate = 12"));
}

#[test]
fn layers_are_copied_removed_and_undone() {
    let session = Session::new();
    session.write(
        "two.toml",
        "# Kept.\n[[layer]]\nname = \"a\"\nrate = 40\n\n[[layer]]\nname = \"b\"\nrate = 9\n",
    );
    let (_studio, b) = page(&session);
    b.run("s.addStep('particles', { effect: 'two.toml' }); s.seek(20);");
    b.settle();
    press(&b, "Edit the effect");
    let tool = |name: &str| {
        b.until(&format!(
            "return document.querySelector('.effect button[aria-label=\"{name}\"]')?.disabled === false"
        ));
        b.run(&format!("document.querySelector('.effect button[aria-label=\"{name}\"]').click()"));
    };
    let layers = "[...document.querySelector('.effect select[aria-label=Layer]').options].map((o) => o.textContent.trim()).join()";
    b.until(&format!(
        "return !!document.querySelector('.effect') && {layers} === 'Layer 1 a of 2,Layer 2 b of 2'"
    ));
    tool("Copy the layer");
    b.until(&format!("return {layers} === 'Layer 1 a of 3,Layer 2 of 3,Layer 3 b of 3'"));
    b.until("return document.querySelector('.effect select[aria-label=Layer]').value === '1'");
    tool("Draw the layer earlier");
    b.until(&format!("return {layers} === 'Layer 1 of 3,Layer 2 a of 3,Layer 3 b of 3'"));
    tool("Remove the layer");
    b.until(&format!("return {layers} === 'Layer 1 a of 2,Layer 2 b of 2'"));
    b.run("s.undo(); s.undo(); s.undo();");
    b.until(&format!("return {layers} === 'Layer 1 a of 2,Layer 2 b of 2'"));
    assert_eq!(b.run("return [s.doc.value.drafts, s.unsavedEffects.value]"), json!([{}, []]));
    b.run("s.redo()");
    b.until(&format!("return {layers} === 'Layer 1 a of 3,Layer 2 of 3,Layer 3 b of 3'"));
}
