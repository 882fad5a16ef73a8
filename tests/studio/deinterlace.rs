//! Interlaced clips: the offer, and that preview, render, job and copied command line have the same frames.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::{Value, json};
use std::process::Command;

#[test]
fn an_interlaced_clip_is_deinterlaced_everywhere() {
    let session = Session::new();
    let made = Command::new("ffmpeg")
        .args("-v error -f lavfi -i testsrc2=size=96x64:rate=50:duration=1.2".split(' '))
        .args(
            "-vf tinterlace=interleave_top,fieldorder=tff -flags +ilme+ildct -c:v mpeg2video -g 8 -bf 2"
                .split(' '),
        )
        .arg(session.path("tape.mpg"))
        .status();
    assert!(made.unwrap().success());
    let hashes = |command: &str| {
        let text = session.run(&format!("hash {command}")).ok().text();
        text.lines().map(|l| l.rsplit(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let studio = Studio::start(&session, "");
    let b = Browser::start(1440, 810);
    b.open(&studio);
    b.run("await s.openClip('tape.mpg'); s.addStep('noise'); s.seek(12); s.markers.value = [3]; s.selection.value = [8, 9];");
    b.settle();
    let answer = |name: &str| {
        b.run(&format!(
            "[...document.querySelectorAll('#notice button')].find((e) => e.textContent === '{name}').click()"
        ))
    };
    let shown = |frame: usize| -> Value {
        b.run(&format!("s.seek({frame});"));
        b.settle();
        b.run("return v.hashNow('in')")
    };
    // The length may be told before the answer has come.
    b.run("const real = fetch; globalThis.fetch = async (...a) => { const r = await real(...a); if (String(a[0]).includes('/open')) await new Promise((f) => setTimeout(f, 1500)); return r; };");
    answer("One frame for each field");
    b.until("return !document.querySelector('#notice p')");
    b.settle();
    // What was chosen is chosen still, by the new numbers.
    b.run(
        "while (!s.clip.value.lavfi || s.clip.value.estimated) await new Promise((r) => setTimeout(r, 20));",
    );
    assert_eq!(
        b.run("return [s.frame.value, s.markers.value, s.selection.value, s.clip.value.last, s.rate.value]"),
        json!([24, [6], [16, 19], 59, 50])
    );
    let fields = hashes("tape.mpg --lavfi bwdif=mode=send_field");
    assert_eq!(fields.len(), 60);
    for frame in [41, 7, 59, 0] {
        assert_eq!(shown(frame), json!(fields[frame]), "{frame}");
    }
    // Whole frames of the file are cut out.
    b.run("s.selection.value = [17, 20];");
    b.press("Delete");
    assert_eq!(b.run("return s.framesText()"), json!("0-15,22-59"));
    b.press("F7");
    b.run("const e = document.querySelector('#r-output'); e.value = 'out.y4m'; e.dispatchEvent(new Event('input', { bubbles: true }));");
    b.until("return document.querySelector('.outcome')?.textContent.includes('54 frames') === true");
    b.run("document.querySelector('dialog.render button.main').click()");
    b.until("return !!document.querySelector('.jobs tr.done')");
    let line = "tape.mpg --lavfi bwdif=mode=send_field -f noise --frames 0-15,22-59";
    assert_eq!(hashes("out.y4m"), hashes(line));
    session.run(&b.copied_line("copied.y4m")).ok();
    assert_eq!(hashes("copied.y4m"), hashes(line));
    // It is found among the filters, and the page remembers the choice.
    b.press("Ctrl+F");
    b.run("const e = document.querySelector('dialog input.search'); e.value = 'deinterlace'; e.dispatchEvent(new Event('input', { bubbles: true }));");
    b.press("Enter");
    b.until("return document.querySelectorAll('input[name=way]').length === 3");
    b.run("document.querySelectorAll('input[name=way]')[1].click()");
    b.until("return document.querySelectorAll('input[name=way]')[1].checked && document.querySelector('dialog[open] p').textContent.includes('send_frame')");
    b.press("Escape");
    b.run("await s.post('/autosave', s.keepsake());");
    b.open(&studio);
    b.until("return !document.querySelector('#notice')?.textContent.includes('interlaced')");
    b.run("while (s.clip.value.estimated) await new Promise((r) => setTimeout(r, 20));");
    assert_eq!(
        b.run("return [s.clip.value.lavfi, s.clip.value.fields, s.framesText()]"),
        json!(["bwdif=mode=send_frame", "progressive", "0-7,11-29"])
    );
    let frames = hashes("tape.mpg --lavfi bwdif=mode=send_frame");
    for frame in [23, 2] {
        assert_eq!(shown(frame), json!(frames[frame]), "{frame}");
    }
    // No page runs another graph: it could write files.
    let other = json!({ "path": "tape.mpg", "lavfi": "metadata=print:file=x" });
    assert_eq!(studio.send("POST", "/open", &other).status, 422);
}

/// A capture whose file says nothing of its fields: the user gives their order.
#[test]
fn the_order_of_fields_is_chosen() {
    let session = Session::new();
    let made = Command::new("ffmpeg")
        .args("-v error -f lavfi -i testsrc2=size=96x64:rate=50:duration=0.4".split(' '))
        .args("-vf tinterlace=interleave_bottom,setfield=auto -pix_fmt yuv422p -c:v huffyuv".split(' '))
        .arg(session.path("capture.avi"))
        .status();
    assert!(made.unwrap().success());
    let studio = Studio::start(&session, "");
    let b = Browser::start(1280, 720);
    b.open(&studio);
    b.run("await s.openClip('capture.avi'); (await import('/app/deinterlace.js')).deinterlaceDialog();");
    b.until(
        "return document.querySelector('dialog[open] p').textContent.startsWith('The file does not say')",
    );
    let order = |value: &str| {
        b.run(&format!("const e = document.querySelector('.order select'); e.value = '{value}'; e.dispatchEvent(new Event('change'));"))
    };
    let orders = "return [...document.querySelectorAll('.order option')].map((e) => e.textContent)";
    let all = json!([
        "as the file says (it says nothing: top field first)",
        "top field first",
        "bottom field first"
    ]);
    assert_eq!(b.run(orders), all);
    let hashes = |graph: &str| {
        let text = session.run(&format!("hash capture.avi --lavfi {graph}")).ok().text();
        text.lines().map(|l| l.rsplit(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // The order that is chosen first holds for the way that is chosen then.
    order(":parity=bff");
    assert_eq!(b.run("return s.clip.value.lavfi"), json!(""));
    b.run("document.querySelectorAll('input[name=way]')[2].click()");
    let graphs =
        ["bwdif=mode=send_field:parity=bff", "bwdif=mode=send_field:parity=tff", "bwdif=mode=send_field"];
    for graph in graphs {
        order(graph.strip_prefix("bwdif=mode=send_field").unwrap());
        b.until(&format!(
            "return document.querySelectorAll('input[name=way]')[2].checked && document.querySelector('dialog[open] p').textContent.startsWith('FFmpeg’s {graph} ')"
        ));
        assert_eq!(b.run(orders), all);
        let frames = hashes(graph);
        assert_eq!(frames.len(), 20);
        for frame in [13, 4, 19] {
            b.run(&format!("s.seek({frame});"));
            b.settle();
            assert_eq!(b.run("return v.hashNow('in')"), json!(frames[frame]), "{graph} {frame}");
        }
    }
    // It is saved with the recipe, and undone.
    b.press("Escape");
    b.press("Ctrl+Z");
    let graph = graphs[1];
    b.run(&format!("while (s.clip.value.lavfi !== '{graph}') await new Promise((r) => setTimeout(r, 20));"));
    let toml = b.run("await s.check(); return s.checked.value.toml");
    let line = format!("#deinterlace \"capture.avi\" = \"{graph}\"\n");
    assert!(toml.as_str().unwrap().ends_with(&line), "{toml}");
    assert_ne!(hashes(graphs[0]), hashes(graphs[1]));
    assert_eq!(hashes(graphs[1]), hashes(graphs[2]));
}
