//! Sessions with the program: separate folders, command lines, and their results.
#![allow(dead_code)] // each test binary uses its part

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A longer run counts as a hang: it is killed, and the test fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// Options of FFmpeg's program, of every version, that make a picture PQ in BT.2020.
pub(crate) const HDR: &str =
    "-vf format=yuv420p10,setparams=range=tv:color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc";

/// A folder in which the program runs, removed at the end of the test.
pub(crate) struct Session {
    dir: tempfile::TempDir,
    vars: Vec<(String, String)>,
}

impl Session {
    pub(crate) fn new() -> Session {
        Session { dir: tempfile::tempdir().expect("a temporary folder"), vars: Vec::new() }
    }

    /// Sets an environment variable.
    pub(crate) fn with_var(mut self, name: &str, value: &str) -> Session {
        self.vars.push((name.into(), value.into()));
        self
    }

    /// The path of a file in the session.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Makes a file.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("inside the folder")).expect("the folder can be made");
        fs::write(path, bytes).expect("the file can be written");
    }

    /// The contents of a file.
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}; there are {:?}", self.files()))
    }

    /// Copies an MP4 file as one whose picture is shown turned, by the first and second column of a matrix (clockwise:
    /// 0, 1, -1, 0): no option of FFmpeg's program for it is in all versions.
    pub(crate) fn turned(&self, from: &str, to: &str, [a, b, c, d]: [i32; 4]) {
        let mut bytes = self.read(from);
        let header = bytes.windows(4).position(|w| w == b"tkhd").expect("a track");
        let matrix: [i32; 9] = [a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30];
        for (to, value) in bytes[header + 44..].chunks_exact_mut(4).zip(matrix) {
            to.copy_from_slice(&value.to_be_bytes());
        }
        self.write(to, bytes);
    }

    /// The files of the folder, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).expect("the folder can be read");
        let mut names: Vec<_> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs the program: `line` is the command line after its name, with single quotes.
    pub(crate) fn run(&self, line: &str) -> Outcome {
        self.piped(line, b"")
    }

    /// Runs it with data on standard input.
    pub(crate) fn piped(&self, line: &str, input: &[u8]) -> Outcome {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().expect("the program starts"), input, format!("grainfield {line}"))
    }

    /// The program, ready to be run in the folder.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_grainfield"));
        command.args(words(line)).current_dir(self.dir.path());
        for var in ["GRAINFIELD_LEVEL", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(var);
        }
        // No session writes to the user's own cache.
        command.env("GRAINFIELD_CACHE", "none");
        // No session reads the user's own configuration.
        command.env("XDG_CONFIG_HOME", self.path(".config"));
        command.envs(self.vars.iter().map(|v| (&v.0, &v.1)));
        command
    }

    /// Runs it in an address space of this size in MiB: a larger allocation ends the program with a signal.
    pub(crate) fn within(&self, mebibytes: usize, line: &str, input: &[u8]) -> Outcome {
        let plain = self.command(line);
        let mut command = Command::new("bash");
        command.args(["-c", &format!("ulimit -v {}; exec \"$@\"", mebibytes * 1024), "bash"]);
        command.arg(plain.get_program()).args(plain.get_args()).current_dir(self.dir.path());
        // each thread would reserve a heap of 64 MiB
        command.env_remove("GRAINFIELD_LEVEL").env("MALLOC_ARENA_MAX", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().expect("bash starts"), input, format!("grainfield {line}"))
    }

    /// Runs another program in the folder, which must succeed; for checks that need FFmpeg.
    pub(crate) fn tool(&self, name: &str, line: &str) -> Outcome {
        let mut command = Command::new(name);
        command.args(words(line)).current_dir(self.dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child =
            command.spawn().unwrap_or_else(|e| panic!("{name}: {e}; ./x test installs what tests need"));
        finish(child, b"", format!("{name} {line}")).ok()
    }
}

/// The result of a run.
pub(crate) struct Outcome {
    line: String,
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Outcome {
    /// Standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap_or_else(|_| panic!("{}: output is no text", self.line))
    }

    /// Asserts that it ended with 0.
    pub(crate) fn ok(self) -> Outcome {
        self.ends(0)
    }

    /// Asserts that it ended with this code and did not panic.
    pub(crate) fn ends(self, code: i32) -> Outcome {
        assert_eq!(self.code, Some(code), "exit code of: {}\n{}", self.line, self.err);
        assert!(!self.err.contains("panicked"), "{}\n{}", self.line, self.err);
        self
    }

    /// Asserts that standard error contains this.
    pub(crate) fn says(self, part: &str) -> Outcome {
        assert!(self.err.contains(part), "{}: {part:?} is not in\n{}", self.line, self.err);
        self
    }
}

/// Splits a line like a shell: spaces between words, single quotes around words with spaces.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut begun, mut quoted) = (String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, begun) = (!quoted, true),
            ' ' | '\n' if !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            c => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    assert!(!quoted, "an open quote: {line}");
    words
}

/// Feeds the child and waits for it.
fn finish(mut child: Child, input: &[u8], line: String) -> Outcome {
    let input = input.to_vec();
    let feeder = child.stdin.take().map(|mut pipe| {
        thread::spawn(move || {
            let _ = pipe.write_all(&input); // it may have ended without reading
        })
    });
    let out = collect(child.stdout.take());
    let err = collect(child.stderr.take());
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().expect("the child can be waited for") {
            Some(status) => break status,
            None if begun.elapsed() > PATIENCE => {
                let _ = child.kill();
                panic!("{line}: hangs");
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    if let Some(feeder) = feeder {
        feeder.join().expect("the feeder ends with its pipe");
    }
    let (out, err) = (out.join().expect("read"), err.join().expect("read"));
    Outcome { line, code: status.code(), out, err: String::from_utf8_lossy(&err).into_owned() }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}
