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

/// A clip of 20 minutes in 1080p, with a key frame every 250 frames.
fn twenty_minutes(session: &Session) {
    let ffmpeg = |line: &str| {
        let mut command = Command::new("ffmpeg");
        command.args(["-v", "error", "-y"]).args(line.split(' ')).current_dir(session.path(""));
        assert!(command.status().unwrap().success());
    };
    ffmpeg(
        "-f lavfi -i testsrc2=size=1920x1080:rate=25:duration=60 -c:v libx264 -preset veryfast -g 250 -keyint_min 250 \
         -sc_threshold 0 -pix_fmt yuv420p minute.mp4",
    );
    ffmpeg("-stream_loop 19 -i minute.mp4 -c copy long.mp4");
}

/// The hand on the timeline of a long clip, and jumps in it.
#[test]
#[ignore = "measures, on a quiet machine, with the release build"]
fn scrubbing() {
    let session = Session::new();
    twenty_minutes(&session);
    let studio = Studio::start(&session, "long.mp4");
    let b = Browser::start(1920, 1080);
    b.open(&studio);
    b.until("return !document.body.textContent.includes('about 3') && !document.body.textContent.includes('about 29')");
    for (what, layout, chain) in [("the result", "out", "grain"), ("both", "side", "grain")] {
        b.run(&format!(
            "s.replaceRecipe({{ steps: [], seed: null }}); if ('{chain}') s.addStep('{chain}'); s.view.layout.value = '{layout}'; s.seek(0);"
        ));
        b.settle();
        // Over so much of the timeline in five seconds, there and back.
        for part in [1.0, 0.1, 0.01] {
            let got = b.run(&format!(
                "const ruler = document.querySelector('.ruler');
                 const box = ruler.getBoundingClientRect();
                 const p = v.panes.get('{layout}' === 'in' ? 'in' : 'out');
                 let [shown, other, was] = [0, 0, p.shownUrl];
                 let number = p.shown.number;
                 const stop = s.effect(() => {{
                   void v.drawn.value;
                   if (p.shownUrl !== was) shown++;
                   if (p.shown.number !== number) other++;
                   [was, number] = [p.shownUrl, p.shown.number];
                 }});
                 const begun = performance.now();
                 for (let t = 0; t < 5000; t = performance.now() - begun) {{
                   const at = (t < 2500 ? t : 5000 - t) / 2500;
                   const x = box.x + box.width * (0.3 * (1 - {part}) + at * {part}) * 0.999;
                   ruler.dispatchEvent(new PointerEvent('pointermove', {{ buttons: 1, clientX: x, clientY: box.y + 20, bubbles: true }}));
                   await new Promise((r) => setTimeout(r, 8));
                 }}
                 stop();
                 ruler.dispatchEvent(new PointerEvent('pointerup', {{ bubbles: true }}));
                 return [shown / 5, other / 5];"
            ));
            println!(
                "scrubbing {what}, {} s of the clip in 2.5 s: {got} pictures and different frames/s",
                1200.0 * part
            );
            b.settle();
        }
        let took = b.run(
            "const [near, exact] = [[], []];
             for (let i = 0; i < 20; i++) {
               await new Promise((r) => setTimeout(r, 300));
               const begun = performance.now();
               const p = v.panes.get(s.view.layout.value === 'in' ? 'in' : 'out');
               const was = p.shownUrl;
               s.seek((i * 10007 + 4111) % 30000);
               await Promise.resolve();
               while (p.shownUrl === was) await new Promise((r) => setTimeout(r));
               near.push(performance.now() - begun);
               while (p.shown?.number !== s.frame.value || p.running) await new Promise((r) => setTimeout(r));
               exact.push(performance.now() - begun);
             }
             return [near, exact];",
        );
        println!(
            "random seek {what}: a key frame after {:.0} ms, the frame after {:.0} ms",
            middle(&took[0]),
            middle(&took[1])
        );
    }
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
