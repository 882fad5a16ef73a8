//! A studio that runs, and requests to it as bytes.

use crate::util::Session;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

/// A studio, in a session's folder. It ends with the test.
pub(crate) struct Studio {
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|l| {
            let (key, value) = l.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {}\n{}", self.head, String::from_utf8_lossy(&self.body)))
    }
}

impl Studio {
    /// Starts one: `line` stands behind `grainfield studio --no-browser`.
    pub(crate) fn start(session: &Session, line: &str) -> Studio {
        Studio::start_with(session, line, &[("DISPLAY", ""), ("WAYLAND_DISPLAY", "")])
    }

    /// The same with these variables of the environment.
    pub(crate) fn start_with(session: &Session, line: &str, environment: &[(&str, &str)]) -> Studio {
        let mut command = session.command(&format!("studio --no-browser {line}"));
        command.env("XDG_STATE_HOME", session.path(".state")).envs(environment.iter().copied());
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the studio starts");
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let rest = address.trim().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("{address:?}"));
        let (port, token) = rest.split_once("/#").unwrap();
        assert!(token.len() == 64 && token.bytes().all(|b| b.is_ascii_hexdigit()), "{token}");
        Studio { child, port: port.parse().unwrap(), token: token.into() }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/#{}", self.port, self.token)
    }

    /// Sends these bytes, and reads until the server ends the connection or the answer is whole.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // It may answer before it has read everything.
        let _ = stream.write_all(bytes);
        answer(&mut stream)
    }

    /// A request with these lines of head behind its first one; `HOST` stands for the studio's own.
    pub(crate) fn head(&self, line: &str, more: &str) -> Reply {
        let text = format!("{line} HTTP/1.1\r\n{more}Connection: close\r\n\r\n");
        self.raw(text.replace("HOST", &format!("127.0.0.1:{}", self.port)).as_bytes())
    }

    /// As the page asks.
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.head(
            &format!("GET /api{path}"),
            &format!("Host: HOST\r\nAuthorization: Bearer {}\r\n", self.token),
        )
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Reply {
        let body = body.to_string();
        let head = format!(
            "{method} /api{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nOrigin: http://127.0.0.1:{0}\r\nSec-Fetch-Site: same-origin\r\n\
             Authorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            self.token,
            body.len()
        );
        self.raw(head.as_bytes())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let reply = self.send("POST", path, body);
        let told = reply.json();
        assert_eq!(reply.status, 200, "{path} {body}: {told}");
        told
    }

    /// Opens an input; what it is, with its id.
    pub(crate) fn open(&self, path: &str) -> Value {
        self.post("/open", &json!({ "path": path }))
    }

    /// The key of a chain.
    pub(crate) fn key(&self, clip: &Value, chain: &str) -> String {
        let told = self.post("/recipe", &json!({ "clip": clip["id"], "chain": chain }));
        assert_eq!(told["faults"], json!([]), "{chain}");
        told["key"].as_str().unwrap().into()
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Its renders outlive it, and would slow down the tests that follow.
            let _ = std::process::Command::new("pkill").args(["-P", &self.child.id().to_string()]).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads one answer.
pub(crate) fn answer(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    let mut whole = usize::MAX;
    loop {
        if whole == usize::MAX
            && let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n")
        {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length =
                head.lines().find_map(|l| l.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
            if let Some(length) = length {
                whole = end + 4 + length;
            }
        }
        if bytes.len() >= whole {
            break;
        }
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
            // The server has closed while we were still sending.
            Err(_) if !bytes.is_empty() => break,
            Err(e) => panic!("no answer: {e}"),
        }
    }
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no head in {:?}", String::from_utf8_lossy(&bytes)));
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply { status, head, body: bytes.split_off(end + 4) }
}
