//! Which files the server reads: none outside its folders, by whatever name inside a file or a pattern.

use crate::server::Studio;
use crate::util::Session;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::Path;

/// The first answer that is not 200: of opening an input, else of its frames.
fn refused(studio: &Studio, input: &str, frames: &[i64]) -> Option<String> {
    let told = studio.send("POST", "/open", &json!({ "path": input }));
    if told.status != 200 {
        return Some(told.json()["error"]["text"].as_str().unwrap().to_owned());
    }
    let clip = told.json();
    frames.iter().find_map(|n| {
        let got = studio.get(&format!("/frame/{}/0/{n}?side=in", clip["id"]));
        (got.status != 200).then(|| got.json()["error"]["text"].as_str().unwrap().to_owned())
    })
}

/// A short video.
fn video(path: &Path) {
    let made = std::process::Command::new("ffmpeg")
        .args(["-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=24:duration=0.5"])
        .args(["-c:v", "mpeg4", "-y"])
        .arg(path)
        .status();
    assert!(made.expect("ffmpeg starts: ./x test installs what tests need").success());
}

#[test]
fn images_of_a_sequence_may_not_lead_outside() {
    let session = Session::new();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.png");
    image::GrayImage::new(16, 12).save(&secret).unwrap();
    for (folder, link) in [("first", 1), ("second", 2)] {
        std::fs::create_dir(session.path(folder)).unwrap();
        for n in 1..=3 {
            let path = session.path(&format!("{folder}/shot.{n:04}.png"));
            if n == link {
                symlink(&secret, path).unwrap()
            } else {
                std::fs::copy(&secret, path).map(drop).unwrap()
            }
        }
    }
    // A link that stays inside is a file like others.
    std::fs::create_dir(session.path("inner")).unwrap();
    symlink(session.path("second/shot.0001.png"), session.path("inner/shot.0001.png")).unwrap();
    let studio = Studio::start(&session, "");
    for folder in ["first", "second"] {
        for name in ["", "/shot.%04d.png", "/shot.####.png", "/shot.@@@@.png", "/shot.*.png", "/shot.$F4.png"]
        {
            let told = refused(&studio, &format!("{folder}{name}"), &[1, 2, 3, 0]);
            let told = told.unwrap_or_else(|| panic!("{folder}{name} is read"));
            assert!(told.contains("leads outside") && told.contains("shot.000"), "{told}");
        }
    }
    assert_eq!(refused(&studio, "inner/shot.%04d.png", &[1]), None);
    assert_eq!(refused(&studio, "inner/shot.0001.png", &[0]), None);
    // Nor does a job read it, which runs as another process.
    let job = json!({ "input": "second/shot.%04d.png", "output": "out.y4m", "filters": "noise" });
    studio.post("/jobs", &job);
    studio.post("/jobs/start", &json!({}));
    let begun = std::time::Instant::now();
    let failed = loop {
        let rows = studio.get("/jobs").json()["jobs"].clone();
        match rows[0]["state"].as_str() {
            Some("failed") => break rows[0]["reason"].as_str().unwrap_or_default().to_owned(),
            Some("done") => panic!("the image outside was rendered"),
            _ => assert!(begun.elapsed().as_secs() < 60, "{rows}"),
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert!(failed.contains("leads outside"), "{failed}");
}

#[test]
fn names_in_playlists_may_not_lead_outside() {
    let session = Session::new();
    let outside = tempfile::tempdir().unwrap();
    let far = outside.path().join("far.ts");
    video(&far);
    video(&session.path("near.ts"));
    symlink(&far, session.path("link.ts")).unwrap();
    let m3u8 = |name: &str, file: &str| {
        let text = format!("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.5,\n{file}\n#EXT-X-ENDLIST\n");
        session.write(name, text);
    };
    let far = far.to_str().unwrap();
    m3u8("near.m3u8", "near.ts");
    m3u8("far.m3u8", far);
    m3u8("url.m3u8", &format!("file:{far}"));
    m3u8("crypto.m3u8", &format!("crypto:{far}"));
    m3u8("link.m3u8", "link.ts");
    m3u8("up.m3u8", &format!("..{far}"));
    session.write("master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nfar.m3u8\n");
    session.write("far.ffconcat", format!("ffconcat version 1.0\nfile '{far}'\n"));
    session.write("link.ffconcat", "ffconcat version 1.0\nfile link.ts\n");
    let mpd = |file: &str| {
        format!(
            "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" \
             mediaPresentationDuration=\"PT1S\"><Period><AdaptationSet contentType=\"video\" mimeType=\"video/mp4\">\
             <Representation id=\"0\" bandwidth=\"1\" width=\"64\" height=\"48\"><BaseURL>{file}</BaseURL>\
             <SegmentBase indexRange=\"0-10\"/></Representation></AdaptationSet></Period></MPD>"
        )
    };
    video(&outside.path().join("far.mp4"));
    symlink(outside.path().join("far.mp4"), session.path("link.mp4")).unwrap();
    session.write("far.mpd", mpd(&outside.path().join("far.mp4").to_string_lossy()));
    session.write("link.mpd", mpd("link.mp4"));
    let studio = Studio::start(&session, "");
    assert_eq!(refused(&studio, "near.m3u8", &[0]), None, "a playlist of files inside is read");
    let lists = ["far.m3u8", "url.m3u8", "crypto.m3u8", "link.m3u8", "up.m3u8", "master.m3u8"];
    for list in lists.into_iter().chain(["far.ffconcat", "link.ffconcat", "far.mpd", "link.mpd"]) {
        assert!(refused(&studio, list, &[0]).is_some(), "{list} is read");
        assert_eq!(studio.get(&format!("/probe?path={list}")).status, 422, "{list}");
    }
}

#[test]
fn files_of_a_recipe_may_not_lead_outside() {
    let session = Session::new();
    let outside = tempfile::tempdir().unwrap();
    image::GrayImage::new(4, 4).save(outside.path().join("secret.png")).unwrap();
    std::fs::write(outside.path().join("curve.txt"), "0=1;9=2").unwrap();
    std::fs::write(outside.path().join("effect.toml"), "[[layer]]\nrate = 4\n").unwrap();
    for name in ["secret.png", "curve.txt", "effect.toml"] {
        symlink(outside.path().join(name), session.path(name)).unwrap();
    }
    symlink(outside.path(), session.path("folder")).unwrap();
    session.write("sprite.toml", "[[layer]]\nshape = \"sprite\"\nsprite = \"secret.png\"\n");
    let studio = Studio::start(&session, "");
    for chain in [
        "sprites=image=secret.png",
        "sprites=image=folder/secret.png",
        "noise=strength=@curve.txt",
        "particles=effect=effect.toml",
        "particles=effect=sprite.toml",
        "grain=plate=secret.png",
    ] {
        let told = studio.post("/recipe", &json!({ "clip": null, "chain": chain }));
        let text = told["faults"][0]["text"].as_str().unwrap_or_else(|| panic!("{chain}: {told}"));
        assert!(text.contains("only files below") || text.contains("leads outside"), "{chain}: {text}");
    }
    let listed = studio.get("/files").json();
    assert_eq!(
        (&listed["folders"], listed["files"].as_array().map(Vec::len)),
        (&json!([]), Some(1)),
        "{listed}"
    );
    let _: Value = listed;
}
