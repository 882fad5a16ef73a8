//! The queue of renders, by the server's interface.

use crate::server::Studio;
use crate::util::Session;
use serde_json::{Value, json};
use std::process::Child;
use std::time::{Duration, Instant};

const SHORT: &str = "pattern:bars:size=64x48:frames=5";
/// It is never rendered to its end.
const LONG: &str = "pattern:zoneplate:size=64x48:frames=500000";

/// A job, as the page asks for it.
fn job(input: &str, output: &str) -> Value {
    json!({ "input": input, "output": output, "filters": "noise" })
}

/// Adds a job, and renders it now.
fn render(studio: &Studio, job: &Value) {
    let id = studio.post("/jobs", job)["id"].clone();
    studio.post("/jobs/start", &json!({ "id": id }));
}

/// A studio whose renders end with the test.
struct Ending(Studio);

impl std::ops::Deref for Ending {
    type Target = Studio;

    fn deref(&self) -> &Studio {
        &self.0
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.send("POST", "/jobs/stop", &json!({}));
    }
}

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(session: &Session) -> Ending {
    Ending(Studio::start(session, ""))
}

/// The state of each job, by its name, as the page shows it.
fn states(studio: &Studio) -> Vec<(String, String)> {
    let told = studio.get("/jobs").json();
    let rows = told["jobs"].as_array().unwrap().iter();
    rows.map(|r| (r["name"].as_str().unwrap().into(), r["state"].as_str().unwrap().into())).collect()
}

/// As the command line shows it.
fn told(session: &Session) -> Vec<(String, String)> {
    let text = session.run("batch grainfield-jobs.toml --status --json").ok().text();
    let line = |l: &str| {
        let line: Value = serde_json::from_str(l).unwrap();
        (line["job"].as_str().unwrap().into(), line["state"].as_str().unwrap().into())
    };
    text.lines().map(line).collect()
}

fn until(studio: &Studio, wanted: &[(&str, &str)]) {
    let begun = Instant::now();
    loop {
        let now = states(studio);
        if now.iter().map(|(name, state)| (name.as_str(), state.as_str())).eq(wanted.iter().copied()) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{now:?}, not {wanted:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn act(studio: &Studio, verb: &str, name: &str) {
    let told = studio.get("/jobs").json();
    let row = told["jobs"].as_array().unwrap().iter().find(|r| r["name"] == name).cloned();
    studio.post(&format!("/jobs/{verb}"), &json!({ "id": row.unwrap()["id"] }));
}

#[test]
fn a_render_to_the_name_of_a_done_job_is_rendered() {
    let session = Session::new();
    let studio = start(&session);
    render(&studio, &job(SHORT, "k.y4m"));
    until(&studio, &[("k.y4m", "done")]);
    let first = session.read("k.y4m");
    // The file is gone: the job is not done, and renders again, also after it was removed and added again.
    std::fs::remove_file(session.path("k.y4m")).unwrap();
    assert_eq!(states(&studio), [("k.y4m".into(), "waiting".into())]);
    render(&studio, &job(SHORT, "k.y4m"));
    until(&studio, &[("k.y4m", "done")]);
    std::fs::remove_file(session.path("k.y4m")).unwrap();
    act(&studio, "remove", "k.y4m");
    render(&studio, &job(SHORT, "k.y4m"));
    until(&studio, &[("k.y4m", "done")]);
    assert!(session.read("k.y4m") == first);
    // The file is there: it is replaced when that is confirmed, with the same and with other settings.
    assert_eq!(studio.send("POST", "/jobs", &job(SHORT, "k.y4m")).status, 422);
    let mut other = job(SHORT, "k.y4m");
    other["overwrite"] = json!(true);
    let changed = || std::fs::metadata(session.path("k.y4m")).unwrap().modified().unwrap();
    let before = changed();
    render(&studio, &other);
    let begun = Instant::now();
    while changed() == before {
        assert!(begun.elapsed() < Duration::from_secs(60), "it is not rendered: {:?}", states(&studio));
        std::thread::sleep(Duration::from_millis(20));
    }
    until(&studio, &[("k.y4m", "done")]);
    other["filters"] = json!("invert");
    render(&studio, &other);
    until(&studio, &[("k.y4m", "done")]);
    session.run(&format!("render {SHORT} want.y4m -f invert")).ok();
    let begun = Instant::now();
    while session.read("k.y4m") != session.read("want.y4m") {
        assert!(begun.elapsed() < Duration::from_secs(60), "it has the first settings");
        std::thread::sleep(Duration::from_millis(20));
    }
    until(&studio, &[("k.y4m", "done")]);
    assert_eq!(told(&session), states(&studio));
}

#[test]
fn jobs_are_acted_on_alone_while_others_run() {
    let session = Session::new();
    let studio = start(&session);
    let add = |output: &str, input: &str| studio.post("/jobs", &job(input, output));
    add("a.y4m", LONG);
    add("b.y4m", SHORT);
    add("c.y4m", SHORT);
    add("d.y4m", LONG);
    studio.post("/jobs/start", &json!({}));
    let expect = |rows: &[(&str, &str)]| until(&studio, rows);
    expect(&[("a.y4m", "running"), ("b.y4m", "waiting"), ("c.y4m", "waiting"), ("d.y4m", "waiting")]);
    // One is rendered now, while the first runs.
    render(&studio, &job(SHORT, "now.y4m"));
    let rest = [("b.y4m", "waiting"), ("c.y4m", "waiting"), ("d.y4m", "waiting")];
    expect(&[&[("a.y4m", "running")], &rest[..], &[("now.y4m", "done")]].concat());
    // A name that is in the queue is taken, and the message is not about the file of the list.
    let refused = studio.send("POST", "/jobs", &job(SHORT, "a.y4m"));
    assert_eq!(refused.status, 422);
    let text = refused.json().to_string();
    assert!(text.contains("a.y4m") && !text.contains("line") && !text.contains("jobs.toml"), "{text}");
    // Two that wait are removed and postponed, and are not rendered when the first ends.
    act(&studio, "remove", "b.y4m");
    act(&studio, "postpone", "c.y4m");
    expect(&[("a.y4m", "running"), ("c.y4m", "postponed"), ("d.y4m", "waiting"), ("now.y4m", "done")]);
    // One that runs is cancelled alone: the others go on, and what it has finished stays.
    act(&studio, "cancel", "a.y4m");
    expect(&[("a.y4m", "waiting"), ("c.y4m", "postponed"), ("d.y4m", "running"), ("now.y4m", "done")]);
    assert!(session.path("a.partial.y4m").exists() && !session.path("a.y4m").exists());
    assert!(!session.path("b.y4m").exists() && !session.path("c.y4m").exists());
    assert_eq!(told(&session), states(&studio));
    session.run("batch grainfield-jobs.toml --job c.y4m").ok().says("postponed");
    // One that runs is postponed, another removed.
    act(&studio, "postpone", "d.y4m");
    render(&studio, &job(LONG, "e.y4m"));
    let rest = [("a.y4m", "waiting"), ("c.y4m", "postponed"), ("d.y4m", "postponed"), ("now.y4m", "done")];
    expect(&[&rest[..], &[("e.y4m", "running")]].concat());
    act(&studio, "remove", "e.y4m");
    expect(&rest);
    act(&studio, "resume", "c.y4m");
    act(&studio, "start", "c.y4m");
    expect(&[("a.y4m", "waiting"), ("c.y4m", "done"), ("d.y4m", "postponed"), ("now.y4m", "done")]);
    // Their programs have ended.
    let begun = Instant::now();
    while studio.get("/jobs").json()["running"] == json!(true) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", session.files());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(["b.y4m", "d.y4m", "e.y4m"].iter().all(|name| !session.path(name).exists()));
}

/// The studio and the command line know a job by the same name, whatever is at its default.
#[test]
fn the_command_line_and_the_studio_see_the_same_states() {
    let session = Session::new();
    let list = format!(
        "[all]\naudio = 'auto'\n[[job]]\ninput = '{SHORT}'\noutput = 'a.y4m'\non_error = 'stop'\n\n\
         [[job]]\ninput = '{LONG}'\noutput = 'b.y4m'\n\n[[job]]\ninput = 'none.y4m'\noutput = 'c.y4m'\n"
    );
    session.write("grainfield-jobs.toml", list);
    session.run("batch grainfield-jobs.toml --job a.y4m --job c.y4m").ends(1);
    let running = Process(session.command("batch grainfield-jobs.toml").spawn().unwrap());
    let studio = start(&session);
    let all = [("a.y4m", "done"), ("b.y4m", "running"), ("c.y4m", "failed")];
    until(&studio, &all);
    assert_eq!(told(&session), states(&studio));
    // Another process's job is not stopped from here.
    let row = studio.get("/jobs").json()["jobs"][1].clone();
    for verb in ["cancel", "remove", "postpone"] {
        let refused = studio.send("POST", &format!("/jobs/{verb}"), &json!({ "id": row["id"] }));
        assert_eq!(refused.status, 422, "{verb}");
    }
    drop(running);
    until(&studio, &[("a.y4m", "done"), ("b.y4m", "waiting"), ("c.y4m", "failed")]);
    assert_eq!(told(&session), states(&studio));
}
