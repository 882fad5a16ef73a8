//! Batches: which jobs are finished, which are stale, and which other processes run.

use crate::util::Session;
use serde_json::Value;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const FRAMES: &str = "pattern:zoneplate:size=32x16:frames=6";
/// It is never rendered to its end.
const LONG: &str = "pattern:zoneplate:size=64x48:frames=500000";

/// The state of each job with its reason, as `--status --json` prints them.
fn states(s: &Session, batch: &str) -> Vec<(String, String)> {
    let text = s.run(&format!("{batch} --status --json")).ok().text();
    let line = |l: &str| {
        let line: Value = serde_json::from_str(l).unwrap();
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        (text("state"), text("reason"))
    };
    text.lines().map(line).collect()
}

fn only_states(s: &Session, batch: &str) -> Vec<String> {
    states(s, batch).into_iter().map(|(state, _)| state).collect()
}

/// Waits until the jobs have these states.
fn until(s: &Session, batch: &str, wanted: &[&str]) {
    let begun = Instant::now();
    while only_states(s, batch) != wanted {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}, not {wanted:?}", states(s, batch));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn begin(s: &Session, line: &str) -> Running {
    let mut command = s.command(line);
    Running(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
}

#[test]
fn a_job_is_done_while_its_output_is_whole_and_up_to_date() {
    let s = Session::new();
    s.run(&format!("render {FRAMES} in.y4m -q")).ok();
    s.run(&format!("render {FRAMES} in.%d.png -q")).ok();
    s.write("look.toml", "version = 1\n[[filter]]\nname = \"noise\"\nstrength = 3\n");
    let list = |crf: &str| {
        let job = |input: &str, output: &str, more: &str| {
            format!("[[job]]\ninput = '{input}'\noutput = '{output}'\n{more}\n")
        };
        let text = job("in.y4m", "a.y4m", "recipe = 'look.toml'")
            + &job(FRAMES, "b.y4m", crf)
            + &job("in.%d.png", "c.%d.png", "filters = 'noise'");
        s.write("jobs.toml", text);
    };
    let batch = "batch jobs.toml";
    list("filters = 'invert'");
    s.run(batch).ok().says("3 jobs done");
    let first = ["a.y4m", "b.y4m", "c.3.png"].map(|name| s.read(name));
    s.run(batch).ok().says("3 done before");
    assert_eq!(only_states(&s, batch), ["done"; 3]);
    // options at their defaults and those that change nothing do not make another job
    list("filters = 'invert'\naudio = 'auto'\nfields = 'auto'\nthreads = 2\nstrict = true");
    assert_eq!(only_states(&s, batch), ["done"; 3]);

    // missing outputs are rendered again
    std::fs::remove_file(s.path("b.y4m")).unwrap();
    std::fs::remove_file(s.path("c.3.png")).unwrap();
    assert_eq!(only_states(&s, batch), ["done", "waiting", "waiting"]);
    s.run(batch).ok().says("2 jobs done, 1 done before; 7 frames, 5 kept");
    assert!(["a.y4m", "b.y4m", "c.3.png"].map(|name| s.read(name)) == first);

    // a truncated output
    s.write("b.y4m", &first[1][..100]);
    assert_eq!(only_states(&s, batch), ["done", "stale", "done"]);
    s.run(batch).ends(1).says("b.y4m").says("-y");
    assert_eq!(s.read("b.y4m").len(), 100, "without -y nothing is replaced");
    s.run(&format!("{batch} -y")).ok().says("1 job done, 2 done before");
    assert!(s.read("b.y4m") == first[1]);

    // a recipe that was replaced
    s.write("look.toml", "version = 1\n[[filter]]\nname = \"noise\"\nstrength = 9\n");
    let all = states(&s, batch);
    assert!(all[0].0 == "stale" && all[0].1.contains("look.toml"), "{all:?}");
    s.run(batch).ends(1).says("look.toml").says("2 done before");
    s.run(&format!("{batch} -y")).ok().says("1 job done, 2 done before");
    assert!(s.read("a.y4m") != first[0]);

    // a source that was replaced
    s.run("render pattern:bars:size=32x16:frames=6 in.y4m -q -y").ok();
    let all = states(&s, batch);
    assert!(all[0].0 == "stale" && all[0].1.contains("in.y4m"), "{all:?}");
    s.run(batch).ends(1).says("in.y4m").says("2 done before");
    s.run(&format!("{batch} -y")).ok().says("1 job done, 2 done before");

    // other settings
    list("filters = 'noise'");
    let all = states(&s, batch);
    assert!(all[1].0 == "stale" && all[1].1.contains("(filters is invert instead"), "{all:?}");
    s.run(batch).ends(1).says("other settings").says("2 done before");
    s.run(&format!("{batch} -y")).ok().says("1 job done, 2 done before");
    assert!(s.read("b.y4m") != first[1]);
    s.run(batch).ok().says("3 done before");
}

#[test]
fn a_failed_job_is_tried_again_when_its_settings_have_changed() {
    let s = Session::new();
    let list = |filters: &str| {
        s.write(
            "jobs.toml",
            format!("[[job]]\ninput = '{FRAMES}'\noutput = 'a.y4m'\nfilters = '{filters}'\n"),
        );
    };
    list("sprites=image=none.png");
    s.run("batch jobs.toml").ends(1).says("none.png");
    s.run("batch jobs.toml").ends(1).says("failed before");
    assert_eq!(only_states(&s, "batch jobs.toml"), ["failed"]);
    list("noise");
    assert_eq!(only_states(&s, "batch jobs.toml"), ["waiting"]);
    s.run("batch jobs.toml").ok().says("1 job done");
    // an existing file is not replaced, until it may be
    s.write("two.toml", format!("[[job]]\ninput = '{FRAMES}'\noutput = 'a.y4m'\n"));
    s.run("batch two.toml").ends(1).says("a.y4m");
    s.run("batch two.toml -y").ok().says("1 job done");
}

/// The same list is the same jobs from whatever folder it is named.
#[test]
fn a_list_has_one_state_from_every_folder() {
    let s = Session::new();
    s.run(&format!("render {FRAMES} in.y4m -q")).ok();
    s.write("lists/look.toml", "version = 1\n[[filter]]\nname = \"noise\"\n");
    s.write("lists/in.y4m", s.read("in.y4m"));
    s.write("lists/jobs.toml", "[[job]]\ninput = 'in.y4m'\noutput = 'a.y4m'\nrecipe = 'look.toml'\n");
    s.run("batch lists/jobs.toml").ok().says("1 job done");
    let mut inside = s.command("batch jobs.toml --status");
    let out = inside.current_dir(s.path("lists")).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("1 done"), "{text}");
    let whole = s.path("lists/jobs.toml");
    s.run(&format!("batch '{}'", whole.display())).ok().says("1 done before");
}

#[test]
fn status_tells_what_two_processes_do() {
    let s = Session::new();
    let job = |input: &str, output: &str| format!("[[job]]\ninput = '{input}'\noutput = '{output}'\n");
    let text =
        [(FRAMES, "a.y4m"), ("none.y4m", "b.y4m"), (LONG, "c.y4m"), (LONG, "d.y4m"), (FRAMES, "e.y4m")]
            .map(|(input, output)| job(input, output));
    s.write("jobs.toml", text.concat());
    let batch = "batch jobs.toml";
    assert_eq!(only_states(&s, batch), ["waiting"; 5]);
    let first = begin(&s, batch);
    until(&s, batch, &["done", "failed", "running", "waiting", "waiting"]);
    let mut second = begin(&s, batch);
    until(&s, batch, &["done", "failed", "running", "running", "waiting"]);
    // a crash and an interruption leave a job that waits
    drop(first);
    until(&s, batch, &["done", "failed", "waiting", "running", "waiting"]);
    assert_eq!(states(&s, batch)[2].1, "interrupted");
    let kill = std::process::Command::new("kill").arg(second.0.id().to_string()).status();
    assert!(kill.unwrap().success());
    assert_eq!(second.0.wait().unwrap().code(), Some(143));
    assert_eq!(only_states(&s, batch), ["done", "failed", "waiting", "waiting", "waiting"]);
    assert!(s.path("d.partial.y4m").exists() && !s.path("d.y4m").exists());
    // one job alone
    s.run(&format!("{batch} --job e.y4m")).ok().says("1 job done");
    assert_eq!(only_states(&s, batch), ["done", "failed", "waiting", "waiting", "done"]);
    s.run(&format!("{batch} --job f.y4m")).ends(2).says("f.y4m");
}

/// A job that is taken out of the list is not begun by a process that has read the list before.
#[test]
fn a_job_that_is_removed_from_the_list_is_not_begun() {
    let s = Session::new();
    let job = |input: &str, output: &str| format!("[[job]]\ninput = '{input}'\noutput = '{output}'\n");
    let long = job("pattern:zoneplate:size=320x180:frames=200", "a.y4m");
    let list = |more: &str| s.write("jobs.toml", long.clone() + more + &job(FRAMES, "c.y4m"));
    list(&job(FRAMES, "b.y4m"));
    let mut all = begin(&s, "batch jobs.toml");
    until(&s, "batch jobs.toml", &["running", "waiting", "waiting"]);
    list("");
    assert_eq!(only_states(&s, "batch jobs.toml"), ["running", "waiting"], "too fast a render");
    let mut said = String::new();
    std::io::Read::read_to_string(&mut all.0.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(all.0.wait().unwrap().code(), Some(0), "{said}");
    assert!(s.path("c.y4m").exists() && !s.path("b.y4m").exists(), "{said}");
    assert!(said.contains("no longer in the list") && said.contains("2 jobs done"), "{said}");
}

/// Starts a batch of one video, interrupts it when `far` holds, and returns what it says.
#[cfg(feature = "ffmpeg")]
fn interrupted(s: &Session, far: impl Fn() -> bool) -> String {
    let mut batch = begin(s, "batch jobs.toml");
    let begun = Instant::now();
    while !far() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", s.files());
        std::thread::sleep(Duration::from_millis(5));
    }
    std::process::Command::new("kill").arg(batch.0.id().to_string()).status().unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut batch.0.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(batch.0.wait().unwrap().code(), Some(143), "{said}");
    said
}

#[cfg(feature = "ffmpeg")]
#[test]
fn the_finished_part_of_an_interrupted_video_is_kept_and_named() {
    let s = Session::new();
    let list = |input: &str, output: &str| {
        let job = format!("[[job]]\ninput = '{input}'\noutput = '{output}'\nlossless = true\n");
        s.write("jobs.toml", job);
    };
    let written = |path: &str| s.path(path).metadata().is_ok_and(|meta| meta.len() > 1_000_000);
    list("pattern:zoneplate:size=1920x1080:frames=250", "few.mkv");
    let said = interrupted(&s, || written("few.partial.mkv"));
    assert!(said.contains("few.partial.mkv; the next run starts over"), "{said}");
    assert!(s.path("few.partial.mkv").exists() && !s.path("few.mkv").exists(), "{said}");
    list(LONG, "many.mkv");
    let said = interrupted(&s, || s.path("many.mkv.segments/00000001.nut").exists());
    let count = |after: &str| -> u64 {
        let text = &said[said.find(after).unwrap_or_else(|| panic!("{said}")) + after.len()..];
        text.split(' ').next().unwrap().parse().unwrap()
    };
    let kept = count("interrupted: ");
    assert!(kept >= 500 && kept.is_multiple_of(250), "{said}");
    assert!(count("many.mkv.segments, ") < 250, "{said}");
    assert!(said.contains("of an incomplete segment are lost; the next run renders the rest"), "{said}");
    assert!(states(&s, "batch jobs.toml")[0].1.contains("many.mkv.segments"));
}
