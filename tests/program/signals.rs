//! Ctrl-C and `kill` during a render, with silent inputs and slow outputs.
#![cfg(unix)]

use crate::util::Session;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// The distance after which a second signal counts.
const APART: Duration = Duration::from_millis(600);
/// A longer wait fails the test.
const PATIENCE: Duration = Duration::from_secs(180);

/// A render of standard input that has received `input` and waits for more.
fn waiting(s: &Session, line: &str, input: &[u8]) -> Child {
    let mut child = s
        .command(line)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // Kept open in the child, so that more may come.
    child.stdin.as_mut().expect("a pipe").write_all(input).expect("it is read");
    child
}

/// Waits until `ready`, with a time limit.
fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !ready() {
        assert!(begun.elapsed() < PATIENCE, "{what} does not come");
        thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill runs");
    assert!(done.success(), "kill {name}");
}

/// Whether the program has installed a handler for the signal, so that it no longer kills.
fn catches(child: &Child, number: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("SigCgt:")).unwrap_or("0").trim().to_owned();
    u64::from_str_radix(&mask, 16).unwrap_or(0) >> (number - 1) & 1 == 1
}

/// The lines of its standard error, as they arrive.
fn lines(child: &mut Child) -> Receiver<String> {
    let err = BufReader::new(child.stderr.take().expect("a pipe"));
    let (send, receive) = mpsc::channel();
    thread::spawn(move || err.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
    receive
}

/// Its exit code, and its remaining messages.
fn ends(mut child: Child, said: &Receiver<String>) -> (Option<i32>, Vec<String>) {
    until("the end", || child.try_wait().expect("it can be waited for").is_some());
    (child.wait().expect("it has ended").code(), said.iter().collect())
}

/// Three frames of y4m and a part of the fourth.
fn three_and_a_bit() -> Vec<u8> {
    let mut stream = b"YUV4MPEG2 W64 H36 F25:1 Ip A1:1 C420jpeg\n".to_vec();
    for _ in 0..3 {
        stream.extend_from_slice(b"FRAME\n");
        stream.extend(std::iter::repeat_n(128u8, 64 * 36 * 3 / 2));
    }
    stream.extend_from_slice(b"FRAME\nabc");
    stream
}

#[cfg(target_os = "linux")]
#[test]
fn before_the_first_frame() {
    for (name, number, code) in [("-INT", 2, 130), ("-TERM", 15, 143)] {
        let s = Session::new();
        let mut child = waiting(&s, "render - out.y4m", b"");
        let said = lines(&mut child);
        until("its signal handler", || catches(&child, number));
        signal(&child, name);
        let (exit, said) = ends(child, &said);
        assert_eq!(exit, Some(code), "{name}: {said:?}");
        assert_eq!(said, ["error: interrupted before the first frame"], "{name}");
        assert_eq!(s.files(), [""; 0], "{name}");
    }
}

/// Starts it with a signal ignored or not, independent of the test's own state.
#[cfg(target_os = "linux")]
fn started(s: &Session, how: &str, line: &str) -> Child {
    let plain = s.command(line);
    let mut command = Command::new("env");
    command.arg(how).arg(plain.get_program()).args(plain.get_args()).current_dir(s.path(""));
    command.env("GRAINFIELD_CACHE", "none");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("env starts")
}

/// Waits until a frame is reported.
fn first_frame(said: &Receiver<String>) {
    while !said.recv_timeout(PATIENCE).expect("a frame is told").contains("\"progress\"") {}
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_run_leaves_a_visible_file_and_replaces_none() {
    let s = Session::new();
    s.write("out.partial.y4m", "mine");
    let begin = || {
        let mut child = started(&s, "--default-signal=HUP", "render - out.y4m -y --progress json");
        child.stdin.as_mut().expect("a pipe").write_all(&three_and_a_bit()).expect("it is read");
        let said = lines(&mut child);
        first_frame(&said);
        (child, said)
    };
    let (child, said) = begin();
    signal(&child, "-KILL");
    ends(child, &said);
    assert_eq!(s.files(), ["out.partial-2.y4m", "out.partial.y4m"]);
    let (living, said) = begin();
    s.run("render pattern:ramp:size=16x8:frames=1 out.y4m -q").ok();
    signal(&living, "-TERM");
    let (exit, said) = ends(living, &said);
    assert_eq!(exit, Some(143));
    assert!(said.last().is_some_and(|last| last.contains("out.partial-3.y4m")), "{said:?}");
    assert_eq!(s.files(), ["out.partial-2.y4m", "out.partial-3.y4m", "out.partial.y4m", "out.y4m"]);
    assert_eq!(s.read("out.partial.y4m"), b"mine");
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_terminal_leaves_the_finished_part() {
    let s = Session::new();
    let mut child = started(&s, "--default-signal=HUP", "render - out.y4m --progress json");
    child.stdin.as_mut().expect("a pipe").write_all(&three_and_a_bit()).expect("it is read");
    let said = lines(&mut child);
    first_frame(&said);
    signal(&child, "-HUP");
    let (exit, said) = ends(child, &said);
    assert_eq!((exit, s.files()), (Some(129), vec!["out.partial.y4m".to_owned()]), "{said:?}");

    // under nohup it continues
    let s = Session::new();
    let mut child = started(&s, "--ignore-signal=HUP", "render - out.y4m --progress json");
    child.stdin.as_mut().expect("a pipe").write_all(&three_and_a_bit()).expect("it is read");
    let said = lines(&mut child);
    until("its signal handler", || catches(&child, 15));
    assert!(!catches(&child, 1));
    signal(&child, "-HUP");
    first_frame(&said);
    signal(&child, "-TERM");
    assert_eq!(ends(child, &said).0, Some(143));
}

/// How a render is interrupted.
const STOPS: [&[&str]; 5] = [&["-INT"], &["-INT", "-INT"], &["-TERM"], &["-TERM", "-INT"], &["-HUP"]];

/// Sends the signals, far enough apart, as long as it runs. Returns how many it got, the exit status, and its last line.
fn stops(mut child: Child, said: &Receiver<String>, signals: &[&str]) -> (usize, i32, serde_json::Value) {
    let mut sent = 0;
    for name in signals {
        if child.try_wait().expect("it can be waited for").is_none() {
            signal(&child, name);
            sent += 1;
            thread::sleep(APART);
        }
    }
    let (exit, said) = ends(child, said);
    let last = said.last().and_then(|last| serde_json::from_str(last).ok());
    (sent, exit.expect("no signal has killed it"), last.unwrap_or_else(|| panic!("no last line: {said:?}")))
}

/// The exit status after a signal.
#[cfg(all(feature = "ffmpeg", target_os = "linux"))]
fn status(signal: &str) -> i32 {
    match signal {
        "-INT" => 130,
        "-TERM" => 143,
        _ => 129,
    }
}

/// Slow encoders: one that takes up to a second for a frame, and one that holds all frames until its end. Every frame
/// that is counted is in the file, whatever the container, the signals and the moment.
#[cfg(all(feature = "ffmpeg", target_os = "linux"))]
#[test]
fn slow_encoders_lose_nothing() {
    // frames of the source, the number after which it is interrupted, and of those that the encoder holds
    let (encoding, flushing) = ((1000, 2, 0), (8, 8, 19));
    for (i, (signals, (frames, after, held))) in
        STOPS.into_iter().zip([encoding, flushing, flushing, encoding, encoding]).enumerate()
    {
        let extension = ["mp4", "mkv"][i % 2];
        let s = Session::new();
        let line = format!(
            "render pattern:zoneplate:size=96x64:frames={frames} out.{extension} -f noise=strength=20 --progress frames \
             --threads 1 --codec libaom-av1 --codec-opt cpu-used=0 --codec-opt lag-in-frames={held} --crf 10"
        );
        let mut child = started(&s, "--default-signal=HUP", &line);
        let said = lines(&mut child);
        let frame = format!("\"event\":\"frame\",\"number\":{}", after - 1);
        while !said.recv_timeout(PATIENCE).expect("a frame is told").contains(&frame) {}
        let (sent, exit, last) = stops(child, &said, signals);
        let what = format!("{extension}, {signals:?}, {sent} sent, held {held}: {last}, {:?}", s.files());
        // The second signal may come after all is done but its exit.
        let came_late = held == 0 && sent > 1 && signals[0] != signals[1] && exit == status(signals[0]);
        let sent = if came_late { 1 } else { sent };
        let at_once = sent > 1;
        assert!(held == 0 || sent == signals.len(), "the encoder is slow: {what}");
        if held > 0 && !at_once {
            // all frames had been read: it was finished
            assert_eq!((exit, s.files()), (0, vec![format!("out.{extension}")]), "{what}");
            continue;
        }
        assert_eq!(exit, status(signals[sent - 1]), "{what}");
        let told = last["frames"].as_u64().unwrap_or_else(|| panic!("{what}"));
        if told == 0 {
            assert!(held > 0 && at_once && s.files().is_empty(), "nothing has left the encoder: {what}");
            continue;
        }
        assert_eq!(s.files(), [format!("out.partial.{extension}")], "{what}");
        let decoded =
            s.tool("ffmpeg", &format!("-v error -i out.partial.{extension} -map 0:v -f framemd5 -"));
        assert_eq!(decoded.err, "", "{what}");
        let decoded = decoded.text().lines().filter(|line| !line.starts_with('#')).count() as u64;
        assert_eq!(decoded, told, "{what}");
        assert!(at_once || told >= after, "{what}");
    }
}

/// As `timeout` and a closing terminal send them: one right after the other. The frames that the encoder holds are
/// written, and the wait for them is reported.
#[cfg(all(feature = "ffmpeg", target_os = "linux"))]
#[test]
fn signals_at_once_are_one() {
    let s = Session::new();
    let line = "render pattern:zoneplate:size=64x48:frames=1000 out.mkv -f noise=strength=20 --progress json --threads 1 \
                --codec libaom-av1 --codec-opt cpu-used=0 --codec-opt lag-in-frames=8 --crf 10";
    let mut child = waiting(&s, line, b"");
    let said = lines(&mut child);
    first_frame(&said);
    let thrice = format!("kill -INT {0}; kill -INT {0}; sleep 0.1; kill -HUP {0}", child.id());
    assert!(Command::new("sh").args(["-c", &thrice]).status().expect("sh runs").success());
    let (exit, said) = ends(child, &said);
    assert!([Some(130), Some(129)].contains(&exit), "{said:?}");
    let json = |line: &String| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    let held = said.iter().map(json).find_map(|line| line["held"].as_u64()).expect("what it waits for");
    assert_eq!(s.files(), ["out.partial.mkv"], "{said:?}");
    let told = json(said.last().expect("a last line"))["frames"].as_u64().expect("a number");
    // a picture that the encoder is taking counts twice
    assert!(held > 1 && told + 1 >= held, "the frames that the encoder held are in it: {said:?}");
    assert_eq!(s.run("hash out.partial.mkv -q").ok().text().lines().count() as u64, told);
}

/// Each image takes about a second. No other files are left than whole frames.
#[cfg(target_os = "linux")]
#[test]
fn slow_images_lose_nothing() {
    for signals in [STOPS[0], STOPS[1]] {
        let s = Session::new();
        let line = "render pattern:zoneplate:size=2600x1500:frames=1000 out.####.png -f noise=strength=60 --progress frames";
        let mut child = waiting(&s, line, b"");
        let said = lines(&mut child);
        while !said.recv_timeout(PATIENCE).expect("a frame is told").contains("\"event\":\"frame\"") {}
        let (_, exit, last) = stops(child, &said, signals);
        assert_eq!(exit, 130, "{last}");
        let told = last["frames"].as_u64().expect("a number");
        let mut want: Vec<String> = (0..told).map(|n| format!("out.{n:04}.png")).collect();
        want.insert(0, ".out.%04d.png.0.manifest".into());
        assert_eq!(s.files(), want, "{last}");
        assert_eq!(s.run("hash out.####.png -q").ok().text().lines().count() as u64, told);
    }
}

/// The reader of the pipe reads nothing until it has been interrupted once: whole frames arrive. If it reads nothing at
/// all, the second signal ends the render.
#[cfg(target_os = "linux")]
#[test]
fn slow_pipes_get_whole_frames() {
    for signals in [&["-INT"][..], &["-INT", "-INT"]] {
        let s = Session::new();
        let mut command = s.command("render pattern:zoneplate:size=640x360:frames=1000 - --progress json");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let said = lines(&mut child);
        assert!(said.recv_timeout(PATIENCE).expect("it starts").contains("started"));
        let mut pipe = child.stdout.take().expect("a pipe");
        let mut head = [0; 1000];
        std::io::Read::read_exact(&mut pipe, &mut head).expect("the first frame comes");
        signal(&child, "-INT");
        thread::sleep(APART);
        if signals.len() > 1 {
            signal(&child, "-INT");
            assert_eq!(ends(child, &said).0, Some(130));
            continue;
        }
        let mut stream = head.to_vec();
        std::io::Read::read_to_end(&mut pipe, &mut stream).expect("it can be read");
        assert_eq!(ends(child, &said).0, Some(130));
        let line = stream.iter().position(|&b| b == b'\n').expect("a header") + 1;
        let frame = b"FRAME\n".len() + 640 * 360 * 3 / 2;
        assert!((stream.len() - line) % frame == 0 && stream.len() > line, "{}", stream.len());
    }
}

#[test]
fn finished_frames_are_kept() {
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let s = Session::new();
        let mut child = waiting(&s, "render - out.y4m --progress json", &three_and_a_bit());
        let said = lines(&mut child);
        while !said.recv_timeout(PATIENCE).expect("a frame is told").contains("\"progress\"") {}
        signal(&child, name);
        let (exit, said) = ends(child, &said);
        assert_eq!(exit, Some(code), "{said:?}");
        let last: serde_json::Value = serde_json::from_str(said.last().expect("a last line")).expect("JSON");
        let told = (last["event"].as_str(), last["exit"].as_i64(), last["partial"].as_str());
        assert_eq!(told, (Some("failed"), Some(code.into()), Some("out.partial.y4m")), "{said:?}");
        assert_eq!(s.files(), ["out.partial.y4m"], "{said:?}");
        // The partial result is a valid stream with the announced number of frames.
        let lines = s.run("hash out.partial.y4m").ok().text();
        assert_eq!(Some(lines.lines().count() as u64), last["frames"].as_u64(), "{said:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn resumable_renders_are_reported() {
    let s = Session::new();
    let begin = |line: &str| {
        let mut child = waiting(&s, line, b"");
        let said = lines(&mut child);
        while !said.recv_timeout(PATIENCE).expect("a frame is told").contains("\"progress\"") {}
        signal(&child, "-INT");
        let (exit, said) = ends(child, &said);
        assert_eq!(exit, Some(130), "{said:?}");
        said.last().expect("a last line").clone()
    };
    let many = "pattern:ramp:size=640x360:frames=100000";
    let hint = "run the same command with --resume";
    let last = begin(&format!("render {many} out.######.png --progress json"));
    assert!(last.contains(hint), "{last}");
    let last = begin(&format!("render {many} out.######.png --progress json --resume"));
    assert!(last.contains("run the same command again") && !last.contains(hint), "{last}");
    // one file without segments cannot be resumed
    let last = begin(&format!("render {many} out.y4m --progress json"));
    assert!(!last.contains(hint) && last.contains("out.partial.y4m"), "{last}");
}

/// A named pipe, which another process may open.
#[cfg(target_os = "linux")]
fn pipe(s: &Session) -> std::path::PathBuf {
    s.tool("mkfifo", "pipe");
    s.path("pipe")
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_without_a_writer() {
    let s = Session::new();
    pipe(&s);
    let mut child = waiting(&s, "render pipe out.y4m", b"");
    let said = lines(&mut child);
    until("its signal handler", || catches(&child, 2));
    thread::sleep(Duration::from_millis(200));
    signal(&child, "-INT");
    let (exit, said) = ends(child, &said);
    assert_eq!(exit, Some(130), "{said:?}");
    assert_eq!(said, ["error: interrupted before the first frame"]);
    assert_eq!(s.files(), ["pipe"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_that_falls_silent() {
    let s = Session::new();
    let path = pipe(&s);
    let mut child = waiting(&s, "render pipe out.y4m --progress json", b"");
    let said = lines(&mut child);
    let mut writer = std::fs::OpenOptions::new().write(true).open(path).expect("the program reads it");
    writer.write_all(&three_and_a_bit()).expect("it is read");
    first_frame(&said);
    signal(&child, "-INT");
    let (exit, said) = ends(child, &said);
    assert_eq!(exit, Some(130), "{said:?}");
    assert!(said.last().is_some_and(|last| last.contains("out.partial.y4m")), "{said:?}");
    assert_eq!(s.files(), ["out.partial.y4m", "pipe"]);
}

/// The message when an input that never responds is cancelled. It must not wait forever.
#[cfg(all(feature = "ffmpeg", target_os = "linux"))]
fn stopped(input: &str) -> String {
    use grainfield::source::{Options, open};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let stop = Arc::new(AtomicBool::new(false));
    let options =
        Options { allow_protocol: vec!["http".into()], stop: Arc::clone(&stop), ..Options::default() };
    let (send, receive) = mpsc::channel();
    let input = std::ffi::OsString::from(input);
    thread::spawn(move || send.send(open(&input, &options).err().map(|e| e.to_string())));
    let early = receive.recv_timeout(Duration::from_millis(300));
    assert!(early.is_err(), "it waits: {early:?}");
    stop.store(true, Ordering::SeqCst);
    receive.recv_timeout(PATIENCE).expect("it ends").expect("it fails")
}

#[cfg(all(feature = "ffmpeg", target_os = "linux"))]
#[test]
fn reads_that_wait_end_in_the_library_too() {
    let s = Session::new();
    let path = pipe(&s);
    let error = stopped(&path.to_string_lossy());
    assert!(error.contains("pipe"), "{error}");
    // Connections are accepted and never answered.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/clip.mkv", silent.local_addr().expect("bound"));
    let error = stopped(&url);
    assert!(error.contains("clip.mkv"), "{error}");
}
