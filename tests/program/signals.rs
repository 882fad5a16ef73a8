//! Ctrl-C and `kill` during a render with a silent input.
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
const PATIENCE: Duration = Duration::from_secs(60);

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

/// The next run of the same output removes the temporary files of a killed run, and no other files.
#[cfg(target_os = "linux")]
#[test]
fn files_of_a_killed_run_are_removed_by_the_next() {
    let s = Session::new();
    s.write(".out.grainfield-mine.tmp", "mine");
    s.write(".out-abcdefghijkl.tmp", "mine");
    s.write("out.partial.y4m", "mine");
    let mine = s.files();
    let begin = || {
        let mut child = started(&s, "--default-signal=HUP", "render - out.y4m --progress json");
        child.stdin.as_mut().expect("a pipe").write_all(&three_and_a_bit()).expect("it is read");
        let said = lines(&mut child);
        while !said.recv_timeout(PATIENCE).expect("a frame is told").contains("\"progress\"") {}
        (child, said)
    };
    let (child, said) = begin();
    assert_eq!(s.files().len(), mine.len() + 1);
    signal(&child, "-KILL");
    ends(child, &said);
    assert_eq!(s.files().len(), mine.len() + 1);
    let (living, said) = begin();
    assert_eq!(s.files().len(), mine.len() + 1, "one goes, one comes");
    s.run("render pattern:ramp:size=16x8:frames=1 out.y4m -q").ok();
    assert_eq!(s.files().len(), mine.len() + 2, "what is being written stays");
    signal(&living, "-TERM");
    let (exit, said) = ends(living, &said);
    assert_eq!(exit, Some(143));
    assert!(said.last().is_some_and(|last| last.contains("out.partial-2.y4m")), "{said:?}");
    let mut want = [mine, vec!["out.partial-2.y4m".into(), "out.y4m".into()]].concat();
    want.sort();
    assert_eq!(s.files(), want);
    assert_eq!(s.read("out.partial.y4m"), b"mine");
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_terminal_leaves_the_finished_part() {
    let s = Session::new();
    let mut child = started(&s, "--default-signal=HUP", "render - out.y4m --progress json");
    child.stdin.as_mut().expect("a pipe").write_all(&three_and_a_bit()).expect("it is read");
    let said = lines(&mut child);
    while !said.recv_timeout(PATIENCE).expect("a frame is told").contains("\"progress\"") {}
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
    while !said.recv_timeout(PATIENCE).expect("a frame is told").contains("\"progress\"") {}
    signal(&child, "-TERM");
    assert_eq!(ends(child, &said).0, Some(143));
}

#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_leaves_no_temporary_files() {
    let many = "pattern:ramp:size=640x360:frames=100000";
    for (output, left) in [("out.######.png", None), ("out.y4m", Some("out.partial.y4m"))] {
        let s = Session::new();
        let mut child = waiting(&s, &format!("render {many} {output} --progress json"), b"");
        let said = lines(&mut child);
        while !said.recv_timeout(PATIENCE).expect("a frame is told").contains("\"progress\"") {}
        signal(&child, "-INT");
        thread::sleep(APART);
        if child.try_wait().expect("it can be waited for").is_none() {
            signal(&child, "-INT");
        }
        let (exit, said) = ends(child, &said);
        assert_eq!(exit, Some(130), "{said:?}");
        let hidden: Vec<String> = s.files().into_iter().filter(|f| f.ends_with(".tmp")).collect();
        assert_eq!(hidden, [""; 0], "{output}");
        assert!(left.is_none_or(|left| s.files().contains(&left.to_owned())), "{:?}", s.files());
    }
}

/// As `timeout` and a closing terminal send them: one right after the other. The output is completed, however long that
/// takes.
#[cfg(all(feature = "ffmpeg", target_os = "linux"))]
#[test]
fn signals_at_once_are_one() {
    let s = Session::new();
    let slow = "-f noise=strength=60 --preset slower --codec-opt rc-lookahead=60";
    let line = format!("render pattern:zoneplate:size=480x270:frames=100000 out.mkv --progress json {slow}");
    let mut child = waiting(&s, &line, b"");
    let said = lines(&mut child);
    let frame = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok()?["frame"].as_u64();
    while frame(&said.recv_timeout(PATIENCE).expect("a frame is told")).is_none_or(|n| n < 60) {}
    let twice = format!("kill -INT {0}; kill -INT {0}; sleep 0.1; kill -HUP {0}", child.id());
    assert!(Command::new("sh").args(["-c", &twice]).status().expect("sh runs").success());
    let (exit, said) = ends(child, &said);
    assert!([Some(130), Some(129)].contains(&exit), "{said:?}");
    assert_eq!(s.files(), ["out.partial.mkv"], "{said:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_third_signal_ends_at_once() {
    let s = Session::new();
    let mut child =
        waiting(&s, "render pattern:ramp:size=640x360:frames=100 out.######.png --progress json", b"");
    let said = lines(&mut child);
    while !said.recv_timeout(PATIENCE).expect("a frame is told").contains("\"progress\"") {}
    for _ in 0..3 {
        signal(&child, "-INT");
        thread::sleep(APART);
        if child.try_wait().expect("it can be waited for").is_some() {
            break;
        }
    }
    let (exit, said) = ends(child, &said);
    assert!([Some(130), Some(0)].contains(&exit), "{said:?}");
    assert!(!s.files().iter().any(|f| f.ends_with(".tmp")), "{:?}", s.files());
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
    while !said.recv_timeout(PATIENCE).expect("a frame is told").contains("\"progress\"") {}
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
