//! A headless Chromium, by the WebDriver protocol: HTTP and JSON, of which the tests need a few words.

use crate::server::{Studio, answer};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// Each Chromium, while no test has it: starting one takes a second of processor time. Two keep two cores busy.
static IDLE: [Mutex<Option<Chromium>>; 2] = [const { Mutex::new(None) }; 2];

/// A browser.
pub(crate) struct Chromium {
    /// Kills the driver and the browser when its input ends, as it does with the process of the tests.
    driver: Child,
    port: u16,
    session: String,
}

/// A browser in a test, which has it alone.
pub(crate) struct Browser(Option<Chromium>, MutexGuard<'static, Option<Chromium>>);

impl std::ops::Deref for Browser {
    type Target = Chromium;

    fn deref(&self) -> &Chromium {
        self.0.as_ref().unwrap()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // This ends its input.
        let _ = self.driver.wait();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let browser = self.0.take().unwrap();
        // What a test leaves behind that fails is not known.
        if !std::thread::panicking() {
            browser.clear();
            *self.1 = Some(browser);
        }
    }
}

impl Browser {
    /// One with a window of a size.
    pub(crate) fn start(width: u32, height: u32) -> Browser {
        let mut idle = loop {
            let free = IDLE.iter().find_map(|browser| match browser.try_lock() {
                Ok(idle) => Some(idle),
                Err(TryLockError::Poisoned(idle)) => Some(idle.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            });
            match free {
                Some(idle) => break idle,
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let browser = idle.take().unwrap_or_else(Chromium::new);
        browser.post("/window/rect", &json!({ "width": width, "height": height }));
        Browser(Some(browser), idle)
    }
}

impl Chromium {
    fn new() -> Chromium {
        let mut driver = Command::new("sh")
            .args(["-c", "chromedriver --port=0 --allowed-ips=127.0.0.1 </dev/null & read end; kill -9 0"])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            line.rsplit_once("on port ")
                .and_then(|(_, n)| n.trim_end_matches('.').parse::<u16>().ok())
                .filter(|n| *n > 0)
        });
        std::thread::spawn(move || lines.for_each(drop));
        let port = port.expect("chromedriver starts: ./x test-studio installs it");
        let mut browser = Chromium { driver, port, session: String::new() };
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--force-color-profile=srgb",
        ];
        let wanted =
            json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": { "args": arguments } } } });
        let made = browser.call("POST", "/session", &wanted);
        browser.session = format!("/session/{}", made["sessionId"].as_str().unwrap());
        browser.post("/timeouts", &json!({ "script": 120_000, "pageLoad": 60_000 }));
        browser
    }

    /// Closes all pages, with what is emulated in them and stored for them.
    fn clear(&self) {
        let old = self.call("GET", &format!("{}/window/handles", self.session), &Value::Null);
        self.new_tab();
        let new = self.tab();
        for handle in old.as_array().unwrap() {
            self.post("/window", &json!({ "handle": handle }));
            self.close_tab(&new);
        }
        // The new page has the focus of the keyboard only then.
        self.cdp("Page.bringToFront", json!({}));
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let reply = answer(&mut stream);
        let told = reply.json();
        assert_eq!(reply.status, 200, "{path}: {}", told["value"]["message"].as_str().unwrap_or("?"));
        told["value"].clone()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        self.call("POST", &format!("{}{path}", self.session), body)
    }

    /// Opens the studio's page and waits for it.
    pub(crate) fn open(&self, studio: &Studio) {
        // A studio that was started again may have the same address, which would not be loaded anew.
        self.post("/url", &json!({ "url": "about:blank" }));
        self.post("/url", &json!({ "url": studio.address() }));
        self.until("return document.body.dataset.ready === 'true'");
        self.settle();
    }

    /// The tab that is used.
    pub(crate) fn tab(&self) -> Value {
        self.call("GET", &format!("{}/window", self.session), &Value::Null)
    }

    /// Opens another tab, and uses it.
    pub(crate) fn new_tab(&self) {
        let made = self.post("/window/new", &json!({ "type": "tab" }));
        self.post("/window", &json!({ "handle": made["handle"] }));
    }

    /// Closes the tab that is used, and uses another one.
    pub(crate) fn close_tab(&self, next: &Value) {
        self.call("DELETE", &format!("{}/window", self.session), &Value::Null);
        self.post("/window", &json!({ "handle": next }));
    }

    /// Drags with the mouse from the middle of an element.
    pub(crate) fn drag(&self, selector: &str, by: (i32, i32)) {
        let at = self.run(&format!(
            "const b = document.querySelector('{selector}').getBoundingClientRect();
             return [Math.round(b.left + b.width / 2), Math.round(b.top + b.height / 2)];"
        ));
        let (x, y) = (at[0].as_i64().unwrap(), at[1].as_i64().unwrap());
        let to = |x: i64, y: i64| json!({ "type": "pointerMove", "duration": 50, "x": x, "y": y });
        let all = [
            to(x, y),
            json!({ "type": "pointerDown", "button": 0 }),
            to(x + i64::from(by.0), y + i64::from(by.1)),
            json!({ "type": "pointerUp", "button": 0 }),
        ];
        self.post("/actions", &json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": all }] }));
    }

    /// Runs a function's body in the page; `await` may stand in it, and `s`, `v` and `k` are its modules of state (with
    /// what is cut), viewer and keys.
    pub(crate) fn run(&self, body: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];
             (async () => {{
               const [state, cutting, v, k] = await Promise.all(['state', 'cutting', 'viewer', 'keys'].map((m) => import(`/app/${{m}}.js`)));
               const s = {{ ...state, ...cutting }};
               {body}
             }})().then((value) => done({{ value: value ?? null }}), (error) => done({{ error: String(error.stack ?? error) }}));"
        );
        let told = self.post("/execute/async", &json!({ "script": script, "args": [] }));
        assert!(told["error"].is_null(), "{body}: {}", told["error"]);
        told["value"].clone()
    }

    /// The command line that the page copies, without the program, and with this output.
    pub(crate) fn copied_line(&self, output: &str) -> String {
        self.run("globalThis.copied = ''; navigator.clipboard.writeText = async (text) => { globalThis.copied = text; };");
        self.press("Ctrl+Shift+C");
        self.until("return globalThis.copied !== ''");
        let line = self.run("return globalThis.copied");
        let mut words: Vec<&str> = line.as_str().unwrap().split(' ').skip(1).collect();
        words[2] = output;
        words.join(" ")
    }

    /// Waits until this is true.
    pub(crate) fn until(&self, body: &str) {
        let begun = Instant::now();
        while self.post("/execute/sync", &json!({ "script": body, "args": [] })) != json!(true) {
            assert!(begun.elapsed() < Duration::from_secs(40), "never: {body}\n{}", self.messages());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the recipe is checked and everything that should be seen is.
    pub(crate) fn settle(&self) {
        self.run(
            "for (let quiet = 0; quiet < 3;) {
               await new Promise((r) => setTimeout(r, 20));
               const recipe = JSON.stringify(s.checked.value?.recipe ?? null) === JSON.stringify(s.plainDoc())
                 || s.checked.value?.faults.length > 0;
               const shown = !s.clip.value || [...v.panes.values()].every((p) => !p.canvas.isConnected || p.error || (p.shownUrl === p.url && !p.running));
               // A frame that rests has its hash a moment later.
               const hashed = !s.clip.value || !s.key.value || [...v.panes.values()].every((p) => !p.canvas.isConnected || p.error || v.hashNow(p.side === 'in' ? 'in' : 'out'));
               quiet = recipe && shown && hashed ? quiet + 1 : 0;
             }",
        );
    }

    /// What the page has told the user.
    pub(crate) fn messages(&self) -> String {
        let script = "return [...document.querySelectorAll('#toasts p, .fault, .panelabel.bad')].map((e) => e.textContent).join('\\n')";
        self.post("/execute/sync", &json!({ "script": script, "args": [] })).to_string()
    }

    /// Presses keys as a keyboard does: those of a combination together, `Ctrl+Shift+F7`.
    pub(crate) fn press(&self, combination: &str) {
        let mut parts: Vec<&str> = combination.split('+').filter(|p| !p.is_empty()).collect();
        if combination.ends_with('+') {
            parts.push("+");
        }
        let codes: Vec<String> = parts.iter().map(|p| code(p).to_string()).collect();
        let down = codes.iter().map(|c| json!({ "type": "keyDown", "value": c }));
        let up = codes.iter().rev().map(|c| json!({ "type": "keyUp", "value": c }));
        let all: Vec<Value> = down.chain(up).collect();
        self.post("/actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": all }] }));
    }

    /// A command of Chromium's own protocol.
    pub(crate) fn cdp(&self, name: &str, values: Value) {
        self.post("/goog/cdp/execute", &json!({ "cmd": name, "params": values }));
    }

    /// The pixels of a pane, and how wide it is.
    pub(crate) fn canvas(&self, side: &str) -> (usize, Vec<u8>) {
        let got = self.run(&format!(
            "const c = v.panes.get('{side}').canvas;
             const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
             let text = '';
             for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
             return [c.width, btoa(text)];"
        ));
        (got[0].as_u64().unwrap() as usize, base64(got[1].as_str().unwrap()))
    }

    /// A picture of the window, into a file.
    pub(crate) fn screenshot(&self, path: &std::path::Path) {
        let text = self.call("GET", &format!("{}/screenshot", self.session), &Value::Null);
        std::fs::write(path, base64(text.as_str().unwrap())).unwrap();
    }
}

/// The characters that WebDriver has for keys.
fn code(key: &str) -> char {
    match key {
        "Ctrl" => '\u{e009}',
        "Shift" => '\u{e008}',
        "Alt" => '\u{e00a}',
        "ArrowLeft" => '\u{e012}',
        "ArrowUp" => '\u{e013}',
        "ArrowRight" => '\u{e014}',
        "ArrowDown" => '\u{e015}',
        "PageUp" => '\u{e00e}',
        "PageDown" => '\u{e00f}',
        "End" => '\u{e010}',
        "Home" => '\u{e011}',
        "Delete" => '\u{e017}',
        "Enter" => '\u{e007}',
        "Escape" => '\u{e00c}',
        "Tab" => '\u{e004}',
        "Space" => ' ',
        f if f.len() > 1 && f.starts_with('F') => {
            char::from_u32(0xe030 + f[1..].parse::<u32>().unwrap()).unwrap()
        }
        one => one.chars().next().unwrap().to_ascii_lowercase(),
    }
}

fn base64(text: &str) -> Vec<u8> {
    let value = |b: u8| match b {
        b'A'..=b'Z' => b - b'A',
        b'a'..=b'z' => b - b'a' + 26,
        b'0'..=b'9' => b - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b'=').map(value).collect();
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let bits = four.iter().fold(0u32, |all, d| all << 6 | u32::from(*d)) << (6 * (4 - four.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    out
}
