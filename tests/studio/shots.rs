//! Pictures of the window for people to look at: `GRAINFIELD_SHOTS=FOLDER GRAINFIELD_CLIP=CLIP cargo test --test studio
//! shots -- --ignored`.

use crate::browser::Browser;
use crate::server::Studio;
use crate::util::Session;
use serde_json::json;
use std::path::PathBuf;

#[test]
#[ignore = "makes pictures for people"]
fn shots() {
    let named =
        |name: &str| PathBuf::from(std::env::var(name).unwrap_or_else(|_| panic!("{name} is a path")));
    let (folder, clip) = (named("GRAINFIELD_SHOTS"), named("GRAINFIELD_CLIP"));
    for (name, width, height) in [("small", 1280, 720), ("large", 2560, 1440)] {
        let session = Session::new();
        session.write("flower.mp4", std::fs::read(&clip).unwrap());
        session.write("broken.mp4", "not a video");
        std::fs::create_dir(session.path("night")).unwrap();
        std::fs::create_dir(session.path("scans")).unwrap();
        session
            .run("render pattern:zoneplate:size=1920x1080:frames=24 plate.%04d.tif --frame-offset 1001")
            .ok();
        let studio = Studio::start(&session, "");
        let b = Browser::start(width, height);
        b.cdp(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
        b.open(&studio);
        let shot = |what: &str| {
            b.settle();
            b.run("await new Promise((r) => setTimeout(r, 900))");
            b.screenshot(&folder.join(format!("{name}-{what}.png")));
        };
        shot("empty");
        b.press("Ctrl+O");
        b.until("return [...document.querySelectorAll('.filelist span')].filter((e) => e.textContent.includes('×')).length === 2");
        shot("open");
        b.press("Escape");
        b.run("await s.openClip('flower.mp4'); s.addStep('grain', { preset: '16mm' }); await 0; s.addStep('vignette'); await 0;
               s.addStep('fade', { amount: '0=1;24(cubic-out)=0;90=0;110=1', color: '0=#402010;60=#000000' }); await 0;
               s.selection.value = [12, 96]; s.seek(30); s.selected.value = 0; s.dockOpen.value = false; s.markers.value = [62];");
        shot("main");
        b.run("s.selected.value = 2; s.dock.value = 'curves'; s.dockOpen.value = true;");
        shot("curves");
        b.run("s.dock.value = 'scopes'; s.selected.value = 1;");
        shot("scopes");
        b.run("s.view.layout.value = 'wipe'; s.view.zoom.value = 1; s.dock.value = 'jobs'; s.selected.value = 0; await s.post('/file', { path: 'look.toml', text: s.checked.value.toml }, 'PUT');");
        let long = "pattern:zoneplate:size=640x360:frames=9000";
        for (input, output) in [
            ("flower.mp4", "flower-grain.mp4"),
            ("broken.mp4", "broken-grain.mp4"),
            (long, "chart-grain.mkv"),
            ("flower.mp4", "flower-grain.mov"),
        ] {
            let frames = if input == "flower.mp4" { Some("12-20") } else { None };
            let filters = "grain=preset=16mm,vignette";
            studio.post(
                "/jobs",
                &json!({ "input": input, "output": output, "filters": filters, "frames": frames }),
            );
        }
        studio.post("/jobs/start", &json!({}));
        b.until("return !!document.querySelector('.jobs tr.running progress') && !!document.querySelector('.jobs tr.failed')");
        shot("jobs");
        studio.post("/jobs/stop", &json!({}));
        b.until("return !document.querySelector('.jobs tr.running')");
        b.run("s.view.layout.value = 'diff'; s.view.zoom.value = 2; s.view.loupe.value = true;");
        let at = b.run("const r = v.panes.get('diff').canvas.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2].map(Math.round);");
        b.post(
            "/actions",
            &json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [
                { "type": "pointerMove", "duration": 0, "x": at[0], "y": at[1], "origin": "viewport" } ] }] }),
        );
        shot("difference");
        b.run("s.view.layout.value = 'side'; s.view.zoom.value = 0; s.view.loupe.value = false; s.dock.value = 'measure'; s.area.value = [400, 60, 256, 256];");
        b.run("document.querySelector('.measure button').click()");
        b.until("return (document.querySelector('.measure img')?.naturalWidth ?? 0) > 400");
        shot("measure");
        b.run("s.area.value = null; s.dock.value = 'curves'; s.view.layout.value = 'side'; s.replaceRecipe({ steps: [{ name: 'particles', off: false, values: { preset: 'embers' } }], seed: null });");
        shot("preset");
        session.run("filters particles=preset=embers --effect").ok();
        session.write("embers.toml", session.run("filters particles=preset=embers --effect").ok().text());
        b.run("s.replaceRecipe({ steps: [{ name: 'particles', off: false, values: { effect: 'embers.toml' } }], seed: null }); await 0;
               (await import('/app/effect.js')).openEffect(s.doc.value.steps[0]);");
        b.until("return !!document.querySelector('.effect [data-key=rate] .tools button')");
        b.run("document.querySelector('.effect [data-key=rate] .tools button').click()");
        b.until("return document.querySelectorAll('.curves .key').length === 1");
        b.run("const e = document.querySelector('[aria-label=\"The curve as text\"]'); e.value = '0=0;24(smooth)=90;80=90;110=0'; e.dispatchEvent(new Event('change')); document.querySelector('.effect').scrollIntoView();");
        shot("particles");
        b.run("s.replaceRecipe({ steps: [{ name: 'grain', off: false, values: { preset: '16mm' } }], seed: null });");
        for (key, what) in
            [("Ctrl+F", "add"), ("F1", "keys"), ("F7", "render"), ("G", "looks"), ("Ctrl+K", "commands")]
        {
            b.press(key);
            if what == "add" {
                "film".chars().for_each(|c| b.press(&c.to_string()));
                b.until("return [...document.querySelectorAll('.thumb')].slice(0, 6).every((e) => e.dataset.drawn)");
            }
            shot(what);
            b.run("document.querySelector('dialog').close()");
        }
    }
}
