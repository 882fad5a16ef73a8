//! The window that renders: what it delivers, what it says about that, and the command line that does the same.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::json;
use std::process::Command;

fn page(session: &Session, line: &str) -> (Studio, Browser) {
    let studio = Studio::start(session, line);
    let browser = Browser::start(1280, 720);
    browser.open(&studio);
    (studio, browser)
}

/// Chooses in the window that renders.
pub(crate) fn choose(b: &Browser, id: &str, value: &str) {
    b.until("return !!document.querySelector('dialog[open] #r-deliver')");
    b.run(&format!(
        "const e = document.querySelector('#r-{id}'); e.value = '{value}'; e.dispatchEvent(new Event('change'));"
    ));
}

#[test]
fn numbered_images_keep_their_name_and_digits() {
    let session = Session::new();
    session.run("render pattern:ramp:size=32x24:frames=3 shot.%04d.png --frame-offset 7").ok();
    let (_studio, b) = page(&session, "shot.%04d.png");
    b.settle();
    b.press("F7");
    for (id, name) in [("dpx", "shot-copy/shot-copy.%04d.dpx"), ("png", "shot-copy/shot-copy.%04d.png")] {
        choose(&b, "deliver", id);
        b.until(&format!("return document.querySelector('#r-output').value === '{name}' && document.querySelector('#r-deliver').value === '{id}'"));
    }
}

/// What cannot be rendered is said before it is tried, and cannot be queued.
#[test]
fn an_output_that_cannot_be_is_refused_at_once() {
    let session = Session::new();
    session.run("render pattern:ramp:size=33x24:frames=3 a.y4m").ok();
    let (_studio, b) = page(&session, "a.y4m");
    b.press("F7");
    choose(&b, "deliver", "auto");
    for (name, format, told) in [
        ("a.y4m", "", "same file"),
        ("", "", "the file name is missing"),
        ("b.png", "", "b/%06d.png"),
        ("b.mkv", "yuv420p", "multiples of 2 by 2"),
    ] {
        choose(&b, "pix-fmt", format);
        b.run(&format!(
            "const e = document.querySelector('#r-output'); e.value = '{name}'; e.dispatchEvent(new Event('input'));"
        ));
        b.until(&format!("return document.querySelector('dialog[open] .outcome .bad')?.textContent.includes('{told}') === true"));
        b.until("return [...document.querySelectorAll('dialog[open] footer button')].filter((e) => /queue|now/.test(e.textContent)).every((e) => e.disabled)");
    }
}

#[test]
fn a_render_says_what_becomes_of_it_and_of_grain() {
    let session = Session::new();
    let (_studio, b) = page(&session, "pattern:bars:size=128x96:frames=6");
    b.run("s.addStep('grain', { preset: '16mm' })");
    b.settle();
    b.press("F7");
    let choose = |id: &str, value: &str| choose(&b, id, value);
    let told = |text: &str| {
        b.until(&format!(
            "return document.querySelector('dialog[open] .outcome')?.textContent.includes('{text}') ?? false"
        ));
    };
    let warned =
        |is: bool| b.until(&format!("return !!document.querySelector('dialog[open] .warning') === {is}"));
    // Grain is kept by default; the name alone decides on request.
    let delivers = |id: &str, ending: &str| {
        b.until(&format!("return document.querySelector('#r-deliver').value === '{id}' && document.querySelector('#r-output').value.endsWith('{ending}')"));
    };
    delivers("h264", ".mkv");
    told("H.264, yuv420p, 128×96, 6 frames");
    warned(false);
    choose("deliver", "gif");
    delivers("gif", ".gif");
    choose("deliver", "auto");
    delivers("auto", ".mkv");
    // H.264 as it is set by default smooths grain; H.265 that is tuned for it keeps it.
    told("H.264, yuv420p, 128×96, 6 frames");
    warned(true);
    choose("deliver", "h265");
    told("H.265, yuv420p10");
    warned(false);
    choose("codec", "libsvtav1");
    told("AV1, yuv420p10");
    warned(true);
    // What cannot be is said before it is tried.
    choose("deliver", "prores");
    choose("pix-fmt", "yuv420p");
    told("yuv420p");
    b.until("return !!document.querySelector('dialog[open] .outcome .bad')");
    choose("deliver", "prores");
    told("ProRes, yuv422p10");
    warned(false);
    // The tags are told, and the transfer can be another one.
    choose("transfer", "smpte2084");
    told("smpte2084, limited");
    choose("transfer", "");
    b.until("return !document.querySelector('dialog[open] .outcome').textContent.includes('smpte2084')");
    b.run("document.querySelector('dialog[open] .main').click()");
    b.until("return !!document.querySelector('.jobs tr.done')");
    let name = b.run("return (await s.get('/jobs')).jobs[0].name");
    let shown = Command::new("ffprobe")
        .args(["-v", "error", "-show_entries", "stream=profile,pix_fmt", "-of", "csv=p=0"])
        .arg(session.path(name.as_str().unwrap()))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&shown.stdout).trim(), "HQ,yuv422p10le");
    // Images get a folder, and have no codec. What was chosen is chosen again.
    b.press("F7");
    delivers("prores", ".mov");
    let has_quality = |is: bool| b.until(&format!("return !!document.querySelector('#r-crf') === {is}"));
    choose("deliver", "h264-10");
    told("H.264, yuv420p10");
    has_quality(true);
    choose("deliver", "prores");
    has_quality(false);
    choose("deliver", "png");
    told("gbrp16");
    b.run("document.querySelector('dialog[open] .main').click()");
    b.until("return document.querySelectorAll('.jobs tr.done').length === 2");
    assert!(session.path("pattern-grain/000005.png").exists());
    copied_lines_do_what_the_window_would(&b, &session);
    // What is proposed is no file that is there; one that is typed is replaced only when that is chosen.
    b.press("F7");
    choose("deliver", "prores");
    delivers("prores", "-2.mov");
    assert_eq!(b.run("return !!document.querySelector('dialog[open] [name=overwrite]')"), json!(false));
    b.run(
        "const e = document.querySelector('#r-output'); e.value = 'pattern-grain.mov'; e.dispatchEvent(new Event('input'));",
    );
    b.until("return !!document.querySelector('dialog[open] [name=overwrite]')");
    b.press("Escape");
    // The name is that of the look, or of the recipe's file, if it has one.
    for (begin, name) in [
        ("s.applyLook(s.plainDoc(), false, 'super8');", "pattern-super8"),
        ("s.recipePath.value = 'looks/my film.toml';", "pattern-my film"),
        ("s.undo();", "pattern-grain"),
    ] {
        b.run(begin);
        b.press("F7");
        choose("deliver", "ffv1");
        b.until(&format!("return document.querySelector('#r-output').value === '{name}.mkv'"));
        b.press("Escape");
    }
}

/// The line has what was chosen last; that of the window what is chosen in it.
fn copied_lines_do_what_the_window_would(b: &Browser, session: &Session) {
    let line = b.copied_line("copied-%06d.png");
    assert!(line.contains(" --pix-fmt gbrp16 "), "{line}");
    session.run(&line).ok();
    assert!(session.read("copied-000005.png") == session.read("pattern-grain/000005.png"));
    b.press("F7");
    choose(b, "deliver", "h265");
    b.run(
        "globalThis.copied = '';
         [...document.querySelectorAll('dialog[open] footer button')].find((e) => e.textContent.startsWith('Copy')).click();",
    );
    b.until("return globalThis.copied !== ''");
    let line = b.run("return globalThis.copied").as_str().unwrap().to_owned();
    let wanted = "pattern-grain.mp4 --codec libx265 --crf 16 --pix-fmt yuv420p10 --codec-opt tune=grain -f grain=preset=16mm";
    assert_eq!(
        line.split_once(" pattern-").map(|(_, rest)| format!("pattern-{rest}")).as_deref(),
        Some(wanted),
        "{line}"
    );
    b.press("Escape");
}

/// What phones and chats play: their sound is AAC, and what is AAC is copied.
#[test]
fn a_delivery_plays_everywhere() {
    let session = Session::new();
    for (name, codec) in [("pcm.mkv", "pcm_s16le"), ("aac.mkv", "aac")] {
        let made = Command::new("ffmpeg")
            .args("-v error -f lavfi -i testsrc2=size=64x48:rate=25:duration=0.4 -f lavfi -i sine=duration=0.4 -pix_fmt yuv422p10le -c:v ffv1 -c:a".split(' '))
            .arg(codec)
            .arg(session.path(name))
            .status();
        assert!(made.unwrap().success());
    }
    let (_studio, b) = page(&session, "pcm.mkv");
    for (name, sound) in [("pcm", "aac"), ("aac", "")] {
        b.run(&format!("await s.openClip('{name}.mkv')"));
        b.settle();
        b.press("F7");
        choose(&b, "deliver", "everywhere");
        b.until("return document.querySelector('.outcome')?.textContent.includes('H.264, yuv420p') === true");
        let told = b.run("return ['deliver', 'audio'].map((id) => document.querySelector(`#r-${id}`).value)");
        assert_eq!(told, json!(["everywhere", sound]));
        let tunings = b.run("return [...document.querySelector('#r-codec-opt').options].map((o) => o.value)");
        assert_eq!(
            tunings,
            json!([
                "",
                "x264-params=vbv-maxrate=12000:vbv-bufsize=12000",
                "tune=grain",
                "tune=film",
                "tune=animation"
            ])
        );
        b.run("document.querySelector('dialog[open] .main').click()");
        b.until(&format!("return [...document.querySelectorAll('.jobs tr.done')].some((e) => e.textContent.includes('{name}-copy.mp4'))"));
        let shown = Command::new("ffprobe")
            .args(["-v", "error", "-show_entries", "stream=codec_name,pix_fmt", "-of", "csv=p=0"])
            .arg(session.path(&format!("{name}-copy.mp4")))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&shown.stdout).trim(), "h264,yuv420p\naac");
        // Another delivery has the sound as it comes.
        b.press("F7");
        choose(&b, "deliver", "prores");
        b.until("return document.querySelector('#r-audio').value === ''");
        choose(&b, "codec", "libx265");
        b.until("return document.querySelector('#r-codec-opt').options.length === 3");
        b.press("Escape");
    }
}

#[test]
fn a_render_keeps_alpha_or_says_that_it_is_lost_and_damage_is_held_on_request() {
    let session = Session::new();
    let (_studio, b) = page(&session, "pattern:transparent:size=64x48:frames=3");
    b.run("s.addStep('fade', {})");
    b.settle();
    b.press("F7");
    let choose = |id: &str, value: &str| choose(&b, id, value);
    let warned = |is: bool| {
        b.until(&format!("return (document.querySelector('dialog[open] .warning')?.textContent.includes('alpha') ?? false) === {is}"));
    };
    choose("deliver", "h264");
    warned(true);
    choose("deliver", "prores4");
    warned(false);
    choose("damaged", "hold");
    b.run("document.querySelector('dialog[open] .main').click()");
    b.until("return !!document.querySelector('.jobs tr.done')");
    let job = b.run("return (await s.get('/jobs')).jobs[0]");
    assert!(
        job["options"].to_string().contains("on-error") && job["options"].to_string().contains("hold"),
        "{job}"
    );
    let shown = Command::new("ffprobe")
        .args(["-v", "error", "-show_entries", "stream=pix_fmt", "-of", "csv=p=0"])
        .arg(session.path(job["name"].as_str().unwrap()))
        .output()
        .unwrap();
    // FFmpeg's decoder has 12 bits.
    assert!(shown.stdout.starts_with(b"yuva444p"), "{shown:?}");
}
