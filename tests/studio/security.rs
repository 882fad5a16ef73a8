//! Who may ask: each line of the list by raw bytes, as an attacker's page, program or proxy would send them.

use crate::server::{Studio, answer};
use crate::util::Session;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

fn studio() -> (Session, Studio) {
    let session = Session::new();
    let studio = Studio::start(&session, "");
    (session, studio)
}

/// A request for the catalog with the right token and these further lines of head.
fn with(studio: &Studio, more: &str) -> u16 {
    studio.head("GET /api/catalog", &format!("{more}Authorization: Bearer {}\r\n", studio.token)).status
}

#[test]
fn only_this_machine_is_served() {
    let (_session, studio) = studio();
    assert_eq!(with(&studio, "Host: HOST\r\n"), 200);
    // Another address of the same machine.
    assert!(TcpStream::connect(("127.0.0.2", studio.port)).is_err());
}

#[test]
fn the_host_has_to_be_ours() {
    let (session, own) = studio();
    let port = own.port;
    for (more, status) in [
        ("Host: HOST\r\n".to_owned(), 200),
        (format!("Host: localhost:{port}\r\n"), 200),
        (String::new(), 400),
        ("Host: 127.0.0.1\r\n".into(), 403),
        (format!("Host: evil.example:{port}\r\n"), 403),
        (format!("Host: 127.0.0.1.evil.example:{port}\r\n"), 403),
        ("Host: evil.example\r\nX-Forwarded-Host: HOST\r\nForwarded: host=HOST\r\n".into(), 403),
        ("Host: HOST\r\nHost: evil.example\r\n".into(), 403),
    ] {
        let got = with(&own, &more);
        assert!(got == status || (status == 400 && got == 403), "{more:?}: {got}");
    }
    // A name in the target itself, as for a proxy.
    let target = format!("GET http://evil.example:{port}/api/catalog");
    let head = format!("Host: HOST\r\nAuthorization: Bearer {}\r\n", own.token);
    assert_eq!(own.head(&target, &head).status, 403);
    // The host name of a tunnel is accepted if it is allowed by an option.
    let tunnelled = Studio::start(&session, "--allow-host grain.example:8443");
    assert_eq!(with(&tunnelled, "Host: grain.example:8443\r\n"), 200);
    assert_eq!(with(&own, "Host: grain.example:8443\r\n"), 403);
}

#[test]
fn other_pages_are_refused() {
    let (_session, studio) = studio();
    let port = studio.port;
    for (more, status) in [
        ("Origin: http://HOST\r\n".to_owned(), 200),
        ("Origin: null\r\n".into(), 403),
        ("Origin: https://evil.example\r\n".into(), 403),
        (format!("Origin: http://localhost:{port}\r\n"), 403),
        (format!("Origin: http://127.0.0.1:{}\r\n", port ^ 1), 403),
        ("Origin: https://HOST\r\n".into(), 403),
        ("Origin: http://HOST\r\nOrigin: https://evil.example\r\n".into(), 403),
        ("Sec-Fetch-Site: same-origin\r\n".into(), 200),
        ("Sec-Fetch-Site: same-site\r\n".into(), 403),
        ("Sec-Fetch-Site: cross-site\r\n".into(), 403),
        ("Sec-Fetch-Site: none\r\n".into(), 403),
    ] {
        assert_eq!(with(&studio, &format!("Host: HOST\r\n{more}")), status, "{more:?}");
    }
    // A link from elsewhere may lead to the page, but nothing of it may be loaded from elsewhere.
    assert_eq!(studio.head("GET /", "Host: HOST\r\nSec-Fetch-Site: cross-site\r\n").status, 200);
    assert_eq!(studio.head("GET /app/main.js", "Host: HOST\r\nSec-Fetch-Site: cross-site\r\n").status, 403);
    // Other origins are not allowed by the response.
    let asked = studio.head(
        "OPTIONS /api/open",
        "Host: HOST\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n",
    );
    assert_eq!((asked.status, asked.header("access-control-allow-origin")), (403, None));
}

#[test]
fn the_token_is_required_and_served_nowhere() {
    let (_session, studio) = studio();
    let token = &studio.token;
    let wrong: String = token.chars().rev().collect();
    for more in [
        String::new(),
        format!("Authorization: Bearer {wrong}\r\n"),
        format!("Authorization: Bearer {}\r\n", &token[..63]),
        format!("Authorization: Bearer {token}0\r\n"),
        format!("Authorization: Basic {token}\r\n"),
        format!("Cookie: token={token}\r\n"),
        format!("Authorization: Bearer {token}\r\nAuthorization: Bearer {wrong}\r\n"),
    ] {
        let got = studio.head("GET /api/catalog", &format!("Host: HOST\r\n{more}"));
        assert_eq!(got.status, 401, "{more}");
        assert!(got.header("set-cookie").is_none());
    }
    assert_eq!(studio.head(&format!("GET /api/catalog?token={token}"), "Host: HOST\r\n").status, 401);
    for path in ["/", "/app/main.js", "/app/api.js"] {
        let got = studio.head(&format!("GET {path}"), "Host: HOST\r\n");
        assert!(!String::from_utf8_lossy(&got.body).contains(token.as_str()), "{path}");
    }
}

#[test]
fn every_answer_is_shut_in() {
    let (_session, studio) = studio();
    let ok = format!("Host: HOST\r\nAuthorization: Bearer {}\r\n", studio.token);
    for (line, head) in [
        ("GET /", "Host: HOST\r\n"),
        ("GET /app/none.js", "Host: HOST\r\n"),
        ("GET /api/catalog", &ok),
        ("GET /", "Host: evil.example\r\n"),
    ] {
        let got = studio.head(line, head);
        let policy = got.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; ") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(got.header(name), Some(value), "{line} {head}");
        }
    }
    for path in
        ["/app/../Cargo.toml", "/app/%2e%2e/assets.rs", "/app//etc/passwd", "/app/vendor", "/etc/passwd"]
    {
        assert_eq!(studio.head(&format!("GET {path}"), "Host: HOST\r\n").status, 404, "{path}");
    }
}

#[test]
fn forms_and_large_bodies_are_refused() {
    let (_session, studio) = studio();
    let send = |kind: &str, body: &str, length: usize| {
        let head = format!(
            "POST /api/open HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n{kind}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}",
            studio.port, studio.token
        );
        studio.raw(head.as_bytes()).status
    };
    let body = "{\"path\":\"pattern:bars:size=8x8:frames=2\"}";
    assert_eq!(send("Content-Type: application/json\r\n", body, body.len()), 200);
    for kind in ["", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"] {
        assert_eq!(send(kind, body, body.len()), 415, "{kind}");
    }
    let large = format!("{{\"path\":\"{}\"}}", "x".repeat(2 << 20));
    assert_eq!(send("Content-Type: application/json\r\n", &large, large.len()), 413);
    assert_eq!(send("Content-Type: application/json\r\n", "{", 1), 400);
}

/// A request for a socket.
fn socket(studio: &Studio, more: &str) -> (TcpStream, u16) {
    let mut stream = TcpStream::connect(("127.0.0.1", studio.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let head = format!(
        "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n{more}\r\n",
        studio.port
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    let status = String::from_utf8_lossy(&first)[9..].parse().unwrap();
    if status == 101 {
        let mut byte = [0];
        let mut tail = Vec::new();
        while !tail.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            tail.push(byte[0]);
        }
    }
    (stream, status)
}

/// A text as a masked frame of a socket.
fn text(words: &str) -> Vec<u8> {
    let mut frame = vec![0x81, 0x80 | words.len() as u8, 0, 0, 0, 0];
    frame.extend(words.bytes());
    frame
}

/// The rest of what a socket says until it is closed or quiet for a second.
fn said(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut all = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(n) = stream.read(&mut buffer) {
        if n == 0 {
            break;
        }
        all.extend_from_slice(&buffer[..n]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn sockets_need_an_origin_and_the_token() {
    let (_session, studio) = studio();
    let own = format!("Origin: http://127.0.0.1:{}\r\n", studio.port);
    assert_eq!(socket(&studio, "").1, 403);
    assert_eq!(socket(&studio, "Origin: https://evil.example\r\n").1, 403);
    let (mut stream, status) = socket(&studio, &own);
    assert_eq!(status, 101);
    stream.write_all(&text(&studio.token)).unwrap();
    assert!(said(stream).contains("hello"));
    let (mut stream, _) = socket(&studio, &own);
    stream.write_all(&text("0123")).unwrap();
    assert!(!said(stream).contains("hello"));
    // One that says nothing is shut.
    let (mut stream, _) = socket(&studio, &own);
    assert_eq!(stream.read(&mut [0; 64]).map_or(0, |n| n.min(1)), 0, "closed without a word");
}

#[test]
fn many_open_pages_are_bounded_and_leave_room() {
    let (_session, studio) = studio();
    let own = format!("Origin: http://127.0.0.1:{}\r\n", studio.port);
    let mut open = Vec::new();
    for _ in 0..32 {
        let (mut stream, status) = socket(&studio, &own);
        assert_eq!(status, 101);
        stream.write_all(&text(&studio.token)).unwrap();
        let mut hello = [0; 2];
        stream.read_exact(&mut hello).unwrap();
        open.push(stream);
    }
    assert_eq!(socket(&studio, &own).1, 503);
    assert_eq!(studio.get("/catalog").status, 200);
    drop(open);
}

#[test]
fn files_stay_beneath_the_folder() {
    let (session, studio) = studio();
    session.write("look.toml", "version = 1\n");
    session.write("movie.txt", "x");
    std::os::unix::fs::symlink("/etc/passwd", session.path("link.toml")).unwrap();
    std::os::unix::fs::symlink("/etc", session.path("folder")).unwrap();
    for path in [
        "/etc/passwd",
        "../x",
        "link.toml",
        "folder/passwd",
        "file:/etc/passwd",
        "concat:a|b",
        "http://127.0.0.1:1/a.mp4",
    ] {
        let got = studio.send("POST", "/open", &json!({ "path": path }));
        assert_eq!(got.status, 422, "{path}");
        let quoted = path.replace('/', "%2F").replace(':', "%3A").replace('|', "%7C");
        assert_eq!(studio.get(&format!("/file?path={quoted}")).status, 422, "{path}");
        assert_eq!(studio.get(&format!("/probe?path={quoted}")).status, 422, "{path}");
        let got = studio.send("PUT", "/file", &json!({ "path": path, "text": "x", "overwrite": true }));
        assert_eq!(got.status, 422, "{path}");
        let chain = format!("sprites=image='{path}'");
        let told = studio.post("/recipe", &json!({ "clip": null, "chain": chain }));
        assert_eq!(told["faults"][0]["setting"], "image", "{path}: {told}");
        let job = json!({ "input": "pattern:bars", "output": path, "filters": "" });
        assert_eq!(studio.send("POST", "/jobs", &job).status, 422, "{path}");
    }
    // Nor do the pictures that effects name, saved or not, nor the files of a job.
    let outside = tempfile::tempdir().unwrap();
    image::GrayImage::new(4, 4).save(outside.path().join("secret.png")).unwrap();
    let name = outside.path().join("secret.png");
    let effect = format!("[[layer]]\nshape = \"sprite\"\nsprite = \"{}\"\n", name.display());
    session.write("effect.toml", &effect);
    session.write("plain.toml", "[[layer]]\nrate = 4\n");
    let recipe = |file: &str, drafts: Value| {
        let told = studio.post(
            "/recipe",
            &json!({ "clip": null, "chain": format!("particles=effect={file}"), "drafts": drafts }),
        );
        told["faults"].clone()
    };
    assert_eq!(recipe("plain.toml", json!({})), json!([]));
    for told in [recipe("effect.toml", json!({})), recipe("plain.toml", json!({ "plain.toml": effect }))] {
        assert_eq!(told[0]["setting"], "effect", "{told}");
        assert!(told[0]["text"].as_str().unwrap().contains("only files below"), "{told}");
    }
    for filters in ["particles=effect=effect.toml".to_owned(), format!("sprites=image='{}'", name.display())]
    {
        let job = json!({ "input": "pattern:bars", "output": "out.y4m", "filters": filters });
        assert_eq!(studio.send("POST", "/jobs", &job).status, 422, "{filters}");
    }
    for option in ["lavfi", "allow-protocol", "recipe", "film-grain-table", "filters"] {
        let job = json!({ "input": "pattern:bars", "output": "out.y4m", "filters": "", "options": { option: "x" } });
        assert_eq!(studio.send("POST", "/jobs", &job).status, 422, "{option}");
    }
    for (option, status) in [("stats=/tmp/x", 422), ("x265-params=csv=x", 422), ("tune=grain", 200)] {
        let job = json!({ "input": "pattern:bars", "output": "o.mp4", "filters": "", "options": { "codec-opt": option } });
        assert_eq!(studio.send("POST", "/jobs", &job).status, status, "{option}");
    }
    let clip = studio.open("pattern:bars:size=64x48:frames=2");
    let key = studio.key(&clip, "noise");
    for (output, status) in [("/etc/x.mp4", 422), ("../x.mp4", 422), ("link.toml", 422), ("x.mp4", 200)] {
        let asked = json!({ "clip": clip["id"], "key": key, "output": output });
        assert_eq!(studio.send("POST", "/output", &asked).status, status, "{output}");
    }
    assert_eq!(studio.get("/files?folder=folder").status, 422);
    // An existing file is replaced only with `overwrite`, and only recipes are written.
    let save = |path: &str, overwrite: bool| {
        studio
            .send("PUT", "/file", &json!({ "path": path, "text": "seed = 1\n", "overwrite": overwrite }))
            .status
    };
    assert_eq!(save("look.toml", false), 409);
    assert_eq!(session.read("look.toml"), b"version = 1\n");
    assert_eq!(save("look.toml", true), 200);
    assert_eq!(session.read("look.toml"), b"seed = 1\n");
    assert_eq!(save("movie.txt", true), 422);
    // without `overwrite` only if it is as it was read
    let unchanged = |was: &str| {
        let body = json!({ "path": "look.toml", "text": "seed = 1\n", "was": was });
        studio.send("PUT", "/file", &body)
    };
    let refused = unchanged("version = 1\n");
    assert_eq!(refused.status, 409);
    assert!(refused.json().to_string().contains("was changed by another program"));
    assert_eq!(unchanged("seed = 1\n").status, 200);
    assert_eq!(studio.get("/file?path=look.toml").json()["text"], "seed = 1\n");
    // The list of jobs is no recipe.
    assert_eq!(save("grainfield-jobs.toml", true), 422);
}

/// A recipe in another folder, and a look, name the files that the page names, for the program too.
#[test]
fn recipes_are_saved_with_names_that_lead_from_their_folder() {
    let session = Session::new();
    std::fs::create_dir(session.path("sub")).unwrap();
    let config = session.path("config");
    session.write("print.cube", "LUT_1D_SIZE 2\n0 0 0\n1 0.5 1\n");
    let variables = [("DISPLAY", ""), ("XDG_CONFIG_HOME", config.to_str().unwrap())];
    let studio = Studio::start_with(&session, "", &variables);
    let text = "[[filter]]\nname = \"lut\"\nfile = \"print.cube\"\n";
    let body = json!({ "path": "sub/j.toml", "text": text, "recipe": true });
    let written = studio.send("PUT", "/file", &body).json()["text"].clone();
    assert_eq!(written, json!(text.replace("print", "../print")));
    let read = studio.get("/file?path=sub/j.toml").json();
    assert_eq!([&read["text"], &read["recipe"]], [&written, &json!(text)]);
    assert_eq!(studio.send("PUT", "/looks", &json!({ "name": "mine", "text": text })).status, 200);
    let looks = studio.get("/looks").json();
    assert_eq!(looks[0]["recipe"]["steps"][0]["values"]["file"], "print.cube");
    let hash = |more: &str| {
        let mut command = session.command(&format!("hash pattern:bars:size=32x32:frames=1 {more}"));
        let out = command.env("XDG_CONFIG_HOME", &config).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        out.stdout
    };
    let want = hash("-f lut=file=print.cube");
    assert_eq!(hash("--recipe sub/j.toml"), want);
    assert_eq!(hash("--look mine"), want);
    assert_ne!(hash(""), want);
}

#[test]
fn ctrl_c_ends_it_within_a_second() {
    let (_session, mut studio) = studio();
    let own = format!("Origin: http://127.0.0.1:{}\r\n", studio.port);
    let (mut page, _) = socket(&studio, &own);
    page.write_all(&text(&studio.token)).unwrap();
    // A frame that takes long: its steps are told, so it runs.
    let clip = studio.open("pattern:bars:size=640x360:frames=2000");
    let key = studio.key(&clip, "fluid");
    let mut waiting = TcpStream::connect(("127.0.0.1", studio.port)).unwrap();
    let head = format!(
        "GET /api/frame/{}/{key}/1999?side=out HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        clip["id"], studio.port, studio.token
    );
    waiting.write_all(head.as_bytes()).unwrap();
    page.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut told = Vec::new();
    while !String::from_utf8_lossy(&told).contains("simulating") {
        let mut buffer = [0; 512];
        let n = page.read(&mut buffer).unwrap();
        assert!(n > 0, "the socket ends");
        told.extend_from_slice(&buffer[..n]);
    }
    let begun = Instant::now();
    let pid = studio.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let status = studio.child.wait().unwrap();
    assert!(status.success(), "{status}");
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    drop((page, waiting));
}

/// A client that leaves takes its render with it.
#[test]
fn a_render_for_a_closed_page_stops() {
    let (_session, studio) = studio();
    let clip = studio.open("pattern:bars:size=640x360:frames=2000");
    let key = studio.key(&clip, "fluid");
    let path = |n: i64| format!("/api/frame/{}/{key}/{n}?side=out", clip["id"]);
    // More of them than there are threads; were they still stepping, the last would not be answered for long.
    for n in 0..20 {
        let mut stream = TcpStream::connect(("127.0.0.1", studio.port)).unwrap();
        let head = format!(
            "GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
            path(1990 - n),
            studio.port,
            studio.token
        );
        stream.write_all(head.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(30));
    }
    let mut stream = TcpStream::connect(("127.0.0.1", studio.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = format!(
        "GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        path(0),
        studio.port,
        studio.token
    );
    stream.write_all(head.as_bytes()).unwrap();
    assert_eq!(answer(&mut stream).status, 200);
}
