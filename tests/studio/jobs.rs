//! The list of jobs as it is used: played, cancelled and begun again, and told when an entry or a server is broken.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::{Value, json};

const SHORT: &str = "pattern:bars:size=64x48:frames=5";
/// It is never rendered to its end.
const LONG: &str = "pattern:zoneplate:size=64x48:frames=500000";

fn page(session: &Session, line: &str) -> (Studio, Browser) {
    let studio = Studio::start(session, line);
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("s.dock.value = 'jobs'; s.dockOpen.value = true;");
    (studio, b)
}

fn add(studio: &Studio, input: &str, output: &str) -> Value {
    studio.post("/jobs", &json!({ "input": input, "output": output, "filters": "noise" }))["id"].clone()
}

/// The row of a job, as an expression of the page.
fn row(name: &str) -> String {
    format!(
        "[...document.querySelectorAll('.jobs tbody tr')].find((r) => r.children[1]?.textContent === '{name}')"
    )
}

fn is(b: &Browser, name: &str, state: &str) {
    b.until(&format!("return {}?.className === '{state}'", row(name)));
}

/// Waits until a cell of a job's row begins with a text: 0 is the state, 3 the progress.
fn says(b: &Browser, name: &str, cell: usize, text: &str) {
    b.until(&format!("return {}?.children[{cell}].textContent.trim().startsWith('{text}')", row(name)));
}

/// Clicks by the mouse in the middle of the button of a row.
fn click(b: &Browser, name: &str, text: &str) {
    let at = b.run(&format!(
        "const e = [...{}.querySelectorAll('button')].find((e) => (e.ariaLabel ?? e.textContent) === '{text}').getBoundingClientRect();
         return [Math.round(e.x + e.width / 2), Math.round(e.y + e.height / 2)];",
        row(name)
    ));
    let mouse = json!([
        { "type": "pointerMove", "duration": 0, "x": at[0], "y": at[1] },
        { "type": "pointerDown", "button": 0 },
        { "type": "pointerUp", "button": 0 }
    ]);
    b.post("/actions", &json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": mouse }] }));
}

/// The finished file is shown as it is; Space holds it; and there is a way back.
#[test]
fn a_finished_job_is_played_without_filters_and_held_by_space() {
    let session = Session::new();
    let (studio, b) = page(&session, "pattern:grey:size=32x32:frames=90");
    b.run("s.addStep('invert'); s.seek(7); s.selection.value = [2, 30];");
    let input = "pattern:bars:size=64x48:frames=200";
    for name in ["one.y4m", "two.y4m"] {
        studio.post("/jobs/start", &json!({ "id": add(&studio, input, name) }));
        is(&b, name, "done");
    }
    b.run("await new Promise((r) => setTimeout(r, 700))");
    for name in ["one.y4m", "two.y4m"] {
        click(&b, name, "Play");
        b.until("return document.querySelector('#notice').textContent.includes('without')");
        b.until(&format!("return document.querySelector('#status').textContent.includes('{name}')"));
        assert_eq!(
            b.run("return [s.view.layout.value, v.playing.value, s.doc.value.steps.length]"),
            json!(["in", 1, 1])
        );
        b.press("Space");
        assert_eq!(b.run("return v.playing.value"), json!(0), "Space holds it");
        b.press("Space");
        assert_eq!(b.run("return v.playing.value"), json!(1), "Space plays on");
    }
    assert_eq!(b.run("return document.querySelectorAll('#notice p').length"), json!(1));
    b.press("Space");
    b.settle();
    b.run("[...document.querySelectorAll('#notice button')].find((e) => e.textContent.startsWith('Back')).click()");
    b.until("return document.querySelector('#status').textContent.includes('32×32')");
    b.settle();
    let back = "return [s.view.layout.value, s.frame.value, s.selection.value, s.doc.value.steps.length, document.querySelectorAll('#notice p').length]";
    assert_eq!(b.run(back), json!(["side", 7, [2, 30], 1, 0]));
    // With the focus on any button, Space plays; Enter presses it.
    b.run("document.querySelector('#tab-scopes').focus()");
    b.press("Space");
    assert_eq!(b.run("return [v.playing.value, s.dock.value]"), json!([1, "jobs"]));
    b.press("Space");
    b.press("Enter");
    assert_eq!(b.run("return [v.playing.value, s.dock.value]"), json!([0, "scopes"]));
}

/// A row that has moved under the pointer is not clicked, and rows keep their buttons.
#[test]
fn a_click_hits_no_job_that_has_just_come_under_it() {
    let session = Session::new();
    let (studio, b) = page(&session, SHORT);
    for name in ["a.y4m", "b.y4m", "c.y4m"] {
        add(&studio, SHORT, name);
        is(&b, name, "waiting");
    }
    b.run(&format!("globalThis.row = {}", row("c.y4m")));
    b.run(&format!(
        "await new Promise((r) => setTimeout(r, 700)); {}.querySelector('[aria-label=Later]').click()",
        row("a.y4m")
    ));
    b.until("return document.querySelectorAll('.jobs tbody tr')[1].children[1].textContent === 'a.y4m'");
    click(&b, "b.y4m", "Remove");
    b.run("await new Promise((r) => setTimeout(r, 400))");
    assert_eq!(studio.get("/jobs").json()["jobs"].as_array().unwrap().len(), 3, "it was too early");
    b.run("await new Promise((r) => setTimeout(r, 700))");
    click(&b, "b.y4m", "Remove");
    b.until("return document.querySelectorAll('.jobs tbody tr').length === 2");
    assert_eq!(
        b.run(&format!("return globalThis.row === {}", row("c.y4m"))),
        json!(true),
        "a row is its job's"
    );
}

/// A job that waits is changed in the render window, which has its choices; if the window is closed, nothing is changed.
#[test]
fn a_waiting_job_is_changed_in_its_place() {
    let session = Session::new();
    let (studio, b) = page(&session, "pattern:grey:size=32x32:frames=9");
    b.run("s.addStep('invert')");
    let options = json!({ "codec": "libx264", "crf": "21", "preset": "fast", "on-error": "hold" });
    let job =
        json!({ "input": SHORT, "output": "a.mp4", "filters": "noise", "frames": "1-3", "options": options });
    studio.post("/jobs", &job);
    add(&studio, SHORT, "b.y4m");
    is(&b, "b.y4m", "waiting");
    let list = || String::from_utf8(session.read("grainfield-jobs.toml")).unwrap();
    let before = list();
    let change = || {
        b.run(&format!(
            "[...{}.querySelectorAll('button')].find((e) => e.textContent === 'Change').click()",
            row("a.mp4")
        ));
        b.until(
            "return document.querySelector('dialog.render .outcome')?.textContent.includes('H.264') === true",
        );
        b.run(
            "return [...['output', 'codec', 'crf', 'preset', 'damaged'].map((id) => document.querySelector(`#r-${id}`).value),
               document.querySelector('dialog.render .outcome').textContent.includes('64×48, 3 frames')];",
        )
    };
    let choices = json!(["a.mp4", "libx264", "21", "fast", "hold", true]);
    assert_eq!(change(), choices);
    b.press("Escape");
    assert_eq!(list(), before);
    // The page still has its own clip and filters, which the job may be given.
    assert_eq!(b.run("return [s.clip.value.width, s.doc.value.steps[0].name]"), json!([32, "invert"]));
    assert_eq!(change(), choices);
    b.run(
        "for (const [id, value, event] of [['output', 'z.mp4', 'input'], ['crf', '30', 'input'], ['filters', 'page', 'change']]) {
           const e = document.querySelector(`#r-${id}`);
           e.value = value;
           e.dispatchEvent(new Event(event, { bubbles: true }));
         }
         document.querySelector('dialog.render .main').click();",
    );
    is(&b, "z.mp4", "waiting");
    let rows = studio.get("/jobs").json()["jobs"].clone();
    let wanted = ["codec=libx264", "crf=30", "filters=invert", "frames=1-3", "on-error=hold", "preset=fast"];
    assert_eq!(
        (&rows[0]["name"], &rows[0]["options"], rows.as_array().unwrap().len()),
        (&json!("z.mp4"), &json!(wanted), 2)
    );
    assert!(list().starts_with(&before[..before.find("output").unwrap()]), "{}", list());
}

/// One that was cancelled is rendered again after the one that runs.
#[test]
fn a_cancelled_job_is_queued_again_while_another_runs() {
    let session = Session::new();
    let (studio, b) = page(&session, SHORT);
    add(&studio, LONG, "a.y4m");
    add(&studio, LONG, "b.y4m");
    let start =
        "[...document.querySelectorAll('.jobs .sidebar button')].find((e) => e.textContent === 'Start')";
    b.until(&format!("return {start}?.disabled === false"));
    b.run(&format!("{start}.click()"));
    is(&b, "a.y4m", "running");
    studio.post("/jobs/cancel", &json!({ "id": b.run("return (await s.get('/jobs')).jobs[0].id") }));
    is(&b, "a.y4m", "waiting");
    says(&b, "a.y4m", 0, "cancelled");
    is(&b, "b.y4m", "running");
    b.until(&format!("return {start}.disabled === false"));
    b.run(&format!("{start}.click()"));
    b.until(
        "return [...document.querySelectorAll('#toasts p')].some((e) => e.textContent.includes('after'))",
    );
    is(&b, "b.y4m", "running");
    studio.post("/jobs/cancel", &json!({ "id": b.run("return (await s.get('/jobs')).jobs[1].id") }));
    is(&b, "a.y4m", "running");
    studio.post("/jobs/stop", &json!({}));
    is(&b, "a.y4m", "waiting");
    // Beside one that was begun alone, too: it comes after that.
    studio.post("/jobs/start", &json!({ "id": b.run("return (await s.get('/jobs')).jobs[1].id") }));
    is(&b, "b.y4m", "running");
    b.run(&format!("{start}.click()"));
    b.run("await new Promise((r) => setTimeout(r, 500))");
    says(&b, "a.y4m", 0, "cancelled");
    studio.post("/jobs/cancel", &json!({ "id": b.run("return (await s.get('/jobs')).jobs[1].id") }));
    is(&b, "a.y4m", "running");
    studio.post("/jobs/stop", &json!({}));
}

/// A quality below 0 is refused where it is typed; an entry that cannot be read fails, and says why.
#[test]
fn what_cannot_be_rendered_is_told() {
    let session = Session::new();
    let list = format!(
        "[[job]]\ninput = '{SHORT}'\noutput = 'a.y4m'\ncrf = 'abc'\n\n[[job]]\ninput = '{SHORT}'\noutput = 'b.y4m'\n"
    );
    session.write("grainfield-jobs.toml", list);
    let (studio, b) = page(&session, SHORT);
    studio.post("/jobs/start", &json!({}));
    is(&b, "b.y4m", "done");
    is(&b, "a.y4m", "failed");
    b.until("return (document.querySelector('.jobs tr.why')?.textContent ?? '').includes('crf')");
    let bad = json!({ "input": SHORT, "output": "c.mp4", "filters": "noise", "options": { "crf": "-5" } });
    assert_eq!(studio.send("POST", "/jobs", &bad).status, 422);
    b.press("F7");
    b.until("return !!document.querySelector('#r-crf')");
    b.run(
        "for (const [id, value] of [['output', 'c.mp4'], ['crf', '-5']]) {
           const e = document.querySelector(`#r-${id}`);
           e.value = value;
           e.dispatchEvent(new Event('input', { bubbles: true }));
         }",
    );
    b.until(
        "return (document.querySelector('dialog[open] .outcome .bad')?.textContent ?? '').includes('-5')",
    );
}

/// After the server and then the render have been killed, the row says so without being asked: nobody tells the new server
/// how far the render is.
#[test]
fn a_render_that_was_killed_is_interrupted() {
    let session = Session::new();
    let (mut studio, b) = page(&session, SHORT);
    studio.post("/jobs/start", &json!({ "id": add(&studio, LONG, "a.y4m") }));
    is(&b, "a.y4m", "running");
    b.until(&format!("return {}?.children[3].textContent.includes('%')", row("a.y4m")));
    let by = studio.get("/jobs").json()["jobs"][0]["by"].as_str().unwrap().to_owned();
    studio.child.kill().unwrap();
    studio.child.wait().unwrap();
    let _studio = Studio::start(&session, SHORT);
    says(&b, "a.y4m", 3, &format!("by another program, {by}"));
    let killed = std::process::Command::new("kill").args(["-9", by.rsplit(':').next().unwrap()]).status();
    assert!(killed.is_ok());
    is(&b, "a.y4m", "waiting");
    says(&b, "a.y4m", 0, "interrupted");
}

/// The list is read at a glance: hours and minutes, one line each, and its buttons in a narrow window.
#[test]
fn progress_is_one_line_and_a_narrow_list_has_its_buttons() {
    let session = Session::new();
    let (studio, b) = page(&session, SHORT);
    studio.post("/jobs/start", &json!({ "id": add(&studio, LONG, "a-long-name-of-a-render.y4m") }));
    is(&b, "a-long-name-of-a-render.y4m", "running");
    // The job's own events come in between: what is shown is read at once.
    let cell = row("a-long-name-of-a-render.y4m");
    let told = b.run(&format!("const p = await import('/app/panels.js'); p.onTold({{ type: 'job', told: {{ event: 'started', job: 'a-long-name-of-a-render.y4m', total: 500000 }} }});
           p.onTold({{ type: 'job', told: {{ event: 'progress', job: 'a-long-name-of-a-render.y4m', frame: 123456, total: 500000, fps: 123.45, eta_s: 4813 }} }});
           const e = {cell}.children[3]; return [e.textContent.trim(), e.getBoundingClientRect().height < 34 && e.scrollWidth <= e.clientWidth];"));
    if let Ok(folder) = std::env::var("GRAINFIELD_SHOTS") {
        b.screenshot(&std::path::Path::new(&folder).join("wide.png"));
    }
    assert_eq!(told, json!(["24 %, 1:20:13 left, 123.45 fps", true]));
    drop(b);
    let b = Browser::start(700, 720);
    b.open(&studio);
    b.run("s.dock.value = 'jobs'; s.dockOpen.value = true;");
    is(&b, "a-long-name-of-a-render.y4m", "running");
    if let Ok(folder) = std::env::var("GRAINFIELD_SHOTS") {
        b.screenshot(&std::path::Path::new(&folder).join("narrow.png"));
    }
    let seen = b.run(&format!(
        "const e = [...{}.querySelectorAll('button')].find((e) => e.textContent === 'Cancel').getBoundingClientRect();
         return document.elementFromPoint(e.x + e.width / 2, e.y + e.height / 2)?.textContent;",
        row("a-long-name-of-a-render.y4m")
    ));
    assert_eq!(seen, json!("Cancel"));
    studio.post("/jobs/stop", &json!({}));
}

/// What the output cannot keep is a note; that it does not name the program that wrote the source is not said.
#[test]
fn what_is_not_kept_is_a_note() {
    let session = Session::new();
    for (name, tags) in [("plain", "software=x"), ("more", "mood=y")] {
        let made = std::process::Command::new("ffmpeg")
            .args(
                "-v error -f lavfi -i testsrc2=size=64x48:rate=25:duration=0.2 -c:v ffv1 -metadata"
                    .split(' '),
            )
            .args([tags, &format!("{}/{name}.mkv", session.path("").display())])
            .status();
        assert!(made.unwrap().success());
    }
    let (studio, b) = page(&session, "");
    b.run("globalThis.told = []; s.effect(() => { for (const t of s.toasts.value) if (!told.includes(t)) told.push(t); });");
    for name in ["plain", "more"] {
        let id = add(&studio, &format!("{name}.mkv"), &format!("{name}.mp4"));
        studio.post("/jobs/start", &json!({ "id": id }));
        is(&b, &format!("{name}.mp4"), "done");
    }
    b.until("return told.some((t) => /tags are lost/.test(t.text))");
    let told =
        b.run("return told.filter((t) => /tags/.test(t.text)).map((t) => [t.text.split('/').pop(), t.bad])");
    assert_eq!(told, json!([["more.mp4 (mp4) cannot keep everything: tags are lost (MOOD)", false]]));
}
