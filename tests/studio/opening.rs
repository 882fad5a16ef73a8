//! What opening and listing clips reads, and the memory that open clips take.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A line of `/proc/PID/FILE` as a number.
fn count(studio: &Studio, file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/{file}", studio.child.id())).unwrap();
    let line = text.lines().find_map(|l| l.strip_prefix(name)).unwrap_or_else(|| panic!("{name}: {text}"));
    line.trim_start_matches(':').split_whitespace().next().unwrap().parse().unwrap()
}

/// Bytes that a request makes the studio read.
fn reads<T>(studio: &Studio, request: impl FnOnce() -> T) -> (u64, T) {
    let before = count(studio, "io", "rchar");
    let told = request();
    (count(studio, "io", "rchar") - before, told)
}

fn ffmpeg(arguments: &str, path: &Path) {
    let made =
        Command::new("ffmpeg").args(["-v", "error", "-y"]).args(arguments.split(' ')).arg(path).status();
    assert!(made.expect("ffmpeg starts: ./x test installs what tests need").success(), "{arguments}");
}

/// A clip of more than 20 MB as MP4, Matroska, MPEG-TS and AVI.
fn large(session: &Session) {
    let one = session.path("one.mp4");
    ffmpeg(
        "-f lavfi -i nullsrc=size=320x240:rate=24:duration=2,geq=random(1)*255:128:128 -c:v libx264 -preset veryfast -qp 8 -bf 2",
        &one,
    );
    let loops = 24_000_000 / std::fs::metadata(&one).unwrap().len();
    for name in ["long.mp4", "long.mkv", "long.ts", "long.avi"] {
        ffmpeg(&format!("-stream_loop {loops} -i {} -c copy", one.display()), &session.path(name));
    }
}

/// Asks until the length of a clip is exact.
fn exact(studio: &Studio, clip: &Value) -> Value {
    let begun = Instant::now();
    loop {
        let told = studio.get(&format!("/clip/{}", clip["id"])).json();
        if told["estimated"] == json!(false) {
            return told;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{told}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn opening_reads_the_head_and_the_rest_once_afterwards() {
    let session = Session::new().with_var("GRAINFIELD_CACHE", "cache");
    large(&session);
    let studio = Studio::start(&session, "");
    for name in ["long.mp4", "long.mkv", "long.ts"] {
        let size = std::fs::metadata(session.path(name)).unwrap().len();
        assert!(size > 20_000_000, "{name}: {size}");
        let (bytes, clip) = reads(&studio, || {
            let clip = studio.open(name);
            let path = format!("/frame/{}/0/0?side=in&size=80,60", clip["id"]);
            assert_eq!(studio.get(&path).status, 200, "{name}");
            clip
        });
        assert!(bytes < 4_000_000, "{name}: {bytes} bytes");
        assert_eq!(clip["estimated"], json!(true), "{name}: {clip}");
        let last = clip["last"].as_i64().unwrap();
        let told = exact(&studio, &clip);
        let real = told["last"].as_i64().unwrap();
        assert!((last - real).abs() <= 3 && real > 200, "{name}: {last} was said, {real} is right");
        // A frame at the end, and the clip once more: nothing is scanned again.
        let (bytes, again) = reads(&studio, || {
            let path = format!("/frame/{}/0/{real}?side=in&size=80,60", clip["id"]);
            assert_eq!(studio.get(&path).status, 200, "{name}");
            studio.open(name)
        });
        assert_eq!((&again["estimated"], &again["last"]), (&json!(false), &json!(real)), "{name}");
        // Up to the end of the last group of pictures, not all of the file.
        assert!(bytes < size * 2 / 3, "{name}: {bytes} bytes");
    }
}

#[test]
fn a_thousand_long_videos_are_listed_without_reading_them() {
    let session = Session::new();
    large(&session);
    std::fs::create_dir(session.path("many")).unwrap();
    for n in 0..1000 {
        let kind = ["mp4", "mkv", "ts", "avi"][n % 4];
        std::fs::hard_link(
            session.path(&format!("long.{kind}")),
            session.path(&format!("many/{n:04}-take.{kind}")),
        )
        .unwrap();
    }
    let studio = Studio::start(&session, "");
    let (bytes, listed) = reads(&studio, || studio.get("/files?folder=many").json());
    assert_eq!(listed["files"].as_array().unwrap().len(), 1000);
    assert!(bytes < 100_000, "{bytes} bytes");
    for name in ["many/0000-take.mp4", "many/0001-take.mkv", "many/0002-take.ts", "many/0003-take.avi"] {
        let probe = || studio.get(&format!("/probe?path={}", name.replace('/', "%2F"))).json();
        let (bytes, told) = reads(&studio, probe);
        assert_eq!((&told["width"], &told["height"]), (&json!(320), &json!(240)), "{name}: {told}");
        assert!(told["seconds"].as_f64().unwrap() > 8.0, "{name}: {told}");
        assert!(bytes < 1_000_000, "{name}: {bytes} bytes");
        let (bytes, again) = reads(&studio, probe);
        assert_eq!(again, told);
        assert!(bytes < 10_000, "{name}: {bytes} bytes for what is known");
    }
    // It is known by its path, size and time.
    ffmpeg("-f lavfi -i testsrc=size=64x48:rate=24:duration=1 -c:v mpeg4", &session.path("many/new.mp4"));
    std::fs::rename(session.path("many/new.mp4"), session.path("many/0000-take.mp4")).unwrap();
    let told = studio.get("/probe?path=many%2F0000-take.mp4").json();
    assert_eq!(told["width"], json!(64));
}

/// A list tells what is seen once the clip is open.
#[test]
fn listed_clips_have_the_size_and_length_that_they_have_when_open() {
    let session = Session::new();
    session.run("render pattern:bars:size=96x54:rate=12:frames=40 moves.gif").ok();
    session.run("render pattern:bars:size=96x54:frames=1 still.gif").ok();
    ffmpeg("-f lavfi -i testsrc=size=96x54:rate=12:duration=2 -c:v mpeg4", &session.path("flat.mp4"));
    session.turned("flat.mp4", "turned.mp4", [0, 1, -1, 0]);
    session.turned("flat.mp4", "over.mp4", [-1, 0, 0, -1]);
    let studio = Studio::start(&session, "");
    for (name, size, seconds) in [
        ("moves.gif", [96, 54], json!(3.33)),
        ("still.gif", [96, 54], Value::Null),
        ("turned.mp4", [54, 96], json!(2.0)),
        ("over.mp4", [96, 54], json!(2.0)),
    ] {
        let told = studio.get(&format!("/probe?path={name}")).json();
        assert_eq!(told, json!({ "width": size[0], "height": size[1], "seconds": seconds }), "{name}");
        let open = studio.open(name);
        assert_eq!([&open["width"], &open["height"]], [&told["width"], &told["height"]], "{name}");
    }
}

#[test]
fn only_rows_in_sight_are_read() {
    let session = Session::new();
    session.run("render pattern:bars:size=64x48:frames=24 0000.y4m").ok();
    for n in 1..400 {
        std::fs::hard_link(session.path("0000.y4m"), session.path(&format!("{n:04}.y4m"))).unwrap();
    }
    let studio = Studio::start(&session, "");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    let told = |row: &str| {
        b.until(&format!(
            "return [...document.querySelectorAll('.filelist div')].some((e) => e.textContent.includes('{row}') && e.textContent.includes('64×48, 0:01.0'))"
        ));
    };
    let asked =
        "return performance.getEntriesByType('resource').filter((e) => e.name.includes('/probe')).length";
    b.press("Ctrl+O");
    told("0000.y4m");
    b.run("await new Promise((r) => setTimeout(r, 1000))");
    let seen = b.run(asked).as_u64().unwrap();
    assert!((5..60).contains(&seen), "{seen} rows were read");
    b.run("document.querySelector('.filelist').scrollTop = 1e6");
    told("0399.y4m");
    assert!(b.run(asked).as_u64().unwrap() < 120);
}

/// Many large clips stay within the bound, and idle ones give their memory back.
#[test]
fn memory_is_bounded_and_given_back() {
    let session = Session::new();
    ffmpeg(
        "-f lavfi -i testsrc2=size=1920x1080:rate=24:duration=2 -c:v mpeg4 -qscale:v 3 -g 12",
        &session.path("0.mp4"),
    );
    for n in 1..4 {
        std::fs::hard_link(session.path("0.mp4"), session.path(&format!("{n}.mp4"))).unwrap();
    }
    let studio = Studio::start(&session, "--memory 300M --idle 2");
    for n in 0..4 {
        let clip = studio.open(&format!("{n}.mp4"));
        std::thread::scope(|scope| {
            for part in 0..3 {
                let (studio, clip) = (&studio, &clip);
                scope.spawn(move || {
                    for frame in (part..36).step_by(3) {
                        let path = format!("/frame/{}/0/{frame}?side=in&region=0,0,64,64", clip["id"]);
                        assert_eq!(studio.get(&path).status, 200);
                    }
                });
            }
        });
    }
    let most = count(&studio, "status", "VmHWM");
    assert!(most < 300_000, "{most} kB at most");
    let begun = Instant::now();
    while count(&studio, "status", "VmRSS") > 90_000 {
        let told = count(&studio, "status", "VmRSS");
        assert!(begun.elapsed() < Duration::from_secs(20), "{told} kB are kept when nothing is asked for");
        std::thread::sleep(Duration::from_millis(100));
    }
    // What was closed opens again.
    assert_eq!(studio.get("/frame/1/0/5?side=in&size=64,36").status, 200);
}

/// Only clips are listed, and the one that what is typed has left is opened by Enter.
#[test]
fn typing_finds_a_clip_and_enter_opens_it() {
    let session = Session::new();
    for name in ["far", "near"] {
        session.run(&format!("render pattern:bars:size=64x48:frames=3 {name}.y4m")).ok();
    }
    for name in ["far.wav", "a.py", "b.status", "c.toml", "d.lock", "LICENSE"] {
        session.write(name, "x");
    }
    session.write("e.MKV", "x");
    let studio = Studio::start(&session, "");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.press("Ctrl+O");
    b.until("return document.querySelectorAll('.filelist [data-path]').length > 0");
    let names = "return [...document.querySelectorAll('.filelist [data-path]')].map((e) => e.dataset.path)";
    assert_eq!(b.run(names), json!(["e.MKV", "far.y4m", "near.y4m"]));
    "fa".chars().for_each(|c| b.press(&c.to_string()));
    b.until("return document.querySelectorAll('.filelist [data-path]').length === 1");
    b.press("Enter");
    b.until("return !document.querySelector('dialog[open]')");
    assert_eq!(b.run("return s.clip.value.path"), json!("far.y4m"));
}

/// Samples without a header are described once, and preview, render and copied command line read them alike.
#[test]
fn samples_without_a_header_are_described() {
    let session = Session::new();
    ffmpeg(
        "-f lavfi -i testsrc2=size=98x54:rate=24:duration=1 -pix_fmt uyvy422 -f rawvideo",
        &session.path("scan_98x54.yuv"),
    );
    let hashes = |command: &str| {
        let text = session.run(&format!("hash {command}")).ok().text();
        text.lines().map(|l| l.rsplit(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let studio = Studio::start(&session, "scan_98x54.yuv");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    let answer = |fields: &str| {
        b.until("return !!document.querySelector('#s-width')");
        b.run(&format!(
            "for (const [id, value] of Object.entries({fields})) document.querySelector('#s-' + id).value = value; document.querySelector('dialog button.main').click();"
        ));
    };
    // The size is that in the name.
    b.until("return document.querySelector('#s-width')?.value === '98'");
    answer("{ height: '100000' }");
    b.until("return document.querySelector('dialog .fault')?.textContent.includes('98x100000') === true");
    answer("{ height: '54', format: 'uyvy422', rate: '24' }");
    b.run("while (!s.clip.value) await new Promise((r) => setTimeout(r, 20));");
    b.until("return !document.querySelector('dialog')");
    let all = hashes("scan_98x54.yuv --raw 98x54:uyvy422:24");
    assert_eq!(all.len(), 24);
    for frame in [17, 3] {
        b.run(&format!("s.seek({frame});"));
        b.settle();
        assert_eq!(b.run("return v.hashNow('in')"), json!(all[frame]), "{frame}");
    }
    b.run("s.addStep('noise');");
    b.press("F7");
    b.run("const e = document.querySelector('#r-output'); e.value = 'out.y4m'; e.dispatchEvent(new Event('input', { bubbles: true }));");
    b.until("return document.querySelector('.outcome')?.textContent.includes('24 frames') === true");
    b.run("document.querySelector('dialog.render button.main').click()");
    b.until("return !!document.querySelector('.jobs tr.done')");
    let noise = hashes("scan_98x54.yuv --raw 98x54:uyvy422:24 -f noise");
    assert_eq!(hashes("out.y4m"), noise);
    session.run(&b.copied_line("copied.y4m")).ok();
    assert_eq!(hashes("copied.y4m"), noise);
    // The page remembers it.
    b.run("await s.post('/autosave', s.keepsake());");
    b.open(&studio);
    b.run("while (s.clip.value?.raw !== '98x54:uyvy422:24') await new Promise((r) => setTimeout(r, 20));");
}
