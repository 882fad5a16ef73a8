//! How fast the page is, in a browser: figures for people, on a machine that does nothing else.
//! `cargo test --release --test studio speed -- --ignored --nocapture`

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::Value;
use std::process::Command;

/// The middle one of a list.
fn middle(list: &Value) -> f64 {
    let mut all: Vec<f64> = list.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

#[test]
#[ignore = "measures, on a quiet machine, with the release build"]
fn speed() {
    let session = Session::new();
    let made = Command::new("ffmpeg")
        .args(["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=24:duration=20"])
        .args(["-c:v", "libx264", "-preset", "fast", "-g", "48", "-pix_fmt", "yuv420p"])
        .arg(session.path("clip.mp4"))
        .status();
    assert!(made.unwrap().success());
    let studio = Studio::start(&session, "clip.mp4");
    let b = Browser::start(1920, 1080);
    b.open(&studio);
    // From the event of a slider to the pixels of the result on its canvas, without the source's pane.
    for (filter, setting) in [("grain", "strength"), ("particles", "amount")] {
        b.run(&format!(
            "s.replaceRecipe({{ steps: [], seed: null }}); s.addStep('{filter}'); s.view.layout.value = 'out'; s.seek(30);"
        ));
        b.settle();
        let took = b.run(&format!(
            "const range = document.querySelector('[data-setting={setting}] input[type=range]');
             const all = [];
             for (let i = 0; i < 30; i++) {{
               const p = v.panes.get('out');
               const before = p.shownUrl;
               const begun = performance.now();
               // Whole steps: each event is another value.
               range.value = String(Number(range.min) + Number(range.step) * (20 + 2 * i));
               range.dispatchEvent(new Event('input', {{ bubbles: true }}));
               while (p.shownUrl === before || p.running) await new Promise((r) => setTimeout(r));
               all.push(performance.now() - begun);
             }}
             return all;"
        ));
        println!("slider to pixels, 1080p with {filter}: {:.0} ms", middle(&took));
    }
    b.run("s.replaceRecipe({ steps: [], seed: null }); s.addStep('grain');");
    for (layout, every) in [("side", false), ("side", true), ("out", false)] {
        b.run(&format!("s.view.layout.value = '{layout}'; s.seek(0); v.everyFrame.value = {every};"));
        b.settle();
        let shown = b.run(
            "v.loop.value = false;
             let shown = 0;
             const stop = s.effect(() => { void s.frame.value; shown++; });
             v.play(1);
             await new Promise((r) => setTimeout(r, 2000));
             shown = 0;
             await new Promise((r) => setTimeout(r, 6000));
             const said = v.shownRate.value;
             v.play(0);
             stop();
             return [shown / 6, said, v.dropped.value];",
        );
        println!(
            "1080p with grain, fitted, {layout}, every frame {every}: {shown} frames/s, as the page says, dropped"
        );
        b.run("(await import('/app/kept.js')).forget();");
    }
    let took = b.run(
        "s.view.layout.value = 'out';
         const all = [];
         for (let i = 0; i < 30; i++) {
           const begun = performance.now();
           s.seek((i * 197 + 41) % 480);
           await Promise.resolve();
           const p = v.panes.get('out');
           while (p.shown?.number !== s.frame.value || p.running) await new Promise((r) => setTimeout(r));
           all.push(performance.now() - begun);
         }
         return all;",
    );
    println!("seek to a frame of H.264, a keyframe every 48 frames: {:.0} ms", middle(&took));
}
