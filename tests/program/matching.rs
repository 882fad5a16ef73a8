//! `match` finds the grain of a plate.

use crate::util::Session;
use grainfield_filters::recipe::Recipe;
use serde_json::Value;

const CLEAN: &str = "pattern:ramp:size=960x256:frames=4:format=yuv420p10";

/// The report on a plate that `chain` made from the ramp, and the session with the output.
fn matched(chain: &str, output: &str) -> (Session, Value) {
    matched_over(CLEAN, chain, output)
}

fn matched_over(clean: &str, chain: &str, output: &str) -> (Session, Value) {
    let s = Session::new();
    // y4m has no R, G and B.
    let plate = if clean.contains("gbrp") { "plate.%d.png" } else { "plate.y4m" };
    s.run(&format!("render {clean} {plate} -f {chain} --seed 5")).ok();
    let report = s.run(&format!("match {plate} --clean {clean} -o {output} --plot plot.png --json")).ok();
    assert!(s.read("plot.png").starts_with(b"\x89PNG"));
    (s, serde_json::from_str(&report.text()).unwrap())
}

fn number(report: &Value, plane: usize, what: &str) -> f64 {
    report["planes"][plane][what].as_f64().unwrap_or_else(|| panic!("{what}: {report:#}"))
}

fn setting(recipe: &Recipe, id: &str) -> f64 {
    recipe.steps[0].values.get(id).unwrap().to_string().parse().unwrap()
}

#[test]
fn a_recipe_is_found_again() {
    for preset in ["16mm", "digital-iso"] {
        let chain = format!("grain=preset={preset}");
        let plate = chain.parse::<Recipe>().unwrap();
        let (size, chroma) = (setting(&plate, "size"), setting(&plate, "chroma"));
        let (s, report) = matched(&chain, "out.toml");
        let recipe = Recipe::parse_toml(std::str::from_utf8(&s.read("out.toml")).unwrap()).unwrap();
        assert!((setting(&recipe, "size") - size).abs() <= 0.1, "{preset}: {}", recipe.to_chain());
        assert!((setting(&recipe, "chroma") - chroma).abs() <= 0.02, "{preset}: {}", recipe.to_chain());
        // The report is about the recipe that was written: both are rendered and measured again here, with other
        // seeds.
        s.run(&format!("render {CLEAN} again.y4m --recipe out.toml --seed 99")).ok();
        let again = s.run(&format!("match again.y4m --clean {CLEAN} --json")).ok();
        let again: Value = serde_json::from_str(&again.text()).unwrap();
        let bins = |report: &Value| -> Vec<(f64, f64)> {
            let all = report["planes"][0]["strength"].as_array().unwrap();
            all.iter().map(|b| (b["samples"].as_f64().unwrap(), b["plate"].as_f64().unwrap())).collect()
        };
        let (mut off, mut count) = (0.0, 0.0);
        for ((samples, plate), (_, made)) in bins(&report).into_iter().zip(bins(&again)) {
            if plate >= 1.0 {
                off += samples * (made / plate - 1.0).powi(2);
                count += samples;
            }
        }
        assert!(count > 0.0 && (off / count).sqrt() < 0.02, "{preset}: {}", (off / count).sqrt());
        assert!(number(&report, 0, "spectrum_db") < 0.3, "{preset}: {report:#}");
    }
}

/// Grain of one size and of two: the settings come back, not others that look similar. At half the width the fine part of
/// super8 is as fine as the samples, and its sharpness cannot be told.
#[test]
fn the_settings_of_presets_are_found_again() {
    const WIDE: &str = "pattern:ramp:size=1920x256:frames=4:format=yuv420p10";
    for preset in ["fine-35mm", "super8"] {
        let chain = format!("grain=preset={preset}");
        let plate = chain.parse::<Recipe>().unwrap();
        let (s, report) = matched_over(WIDE, &chain, "out.toml");
        let recipe = Recipe::parse_toml(std::str::from_utf8(&s.read("out.toml")).unwrap()).unwrap();
        let off = |id: &str| setting(&recipe, id) - setting(&plate, id);
        let said = format!("{preset}: {}", recipe.to_chain());
        assert!((off("strength") / setting(&plate, "strength")).abs() <= 0.02, "{said}");
        for (id, most) in
            [("size", 0.1), ("variation", 0.05), ("sharpness", 0.15), ("chroma", 0.02), ("chroma-size", 0.15)]
        {
            assert!(off(id).abs() <= most, "{id}: {said}");
        }
        assert_eq!(recipe.to_chain().contains("variation"), chain.contains("super8"), "{said}");
        assert!(number(&report, 0, "spectrum_db") < 0.3, "{preset}: {report:#}");
    }
}

/// Skewed grain is found again from the difference, and symmetric grain, which rounding and clipping skew, is not skewed.
#[test]
fn skew_is_found_again() {
    for (chain, skew) in [("grain=size=1.5:strength=9:skew=3", 3.0), ("grain=preset=high-speed", 0.0)] {
        let (s, report) = matched(chain, "out.toml");
        let recipe = Recipe::parse_toml(std::str::from_utf8(&s.read("out.toml")).unwrap()).unwrap();
        assert!((setting(&recipe, "skew") - skew).abs() <= 0.15 * skew, "{}", recipe.to_chain());
        let found = &report["planes"][0]["skew"];
        let off = found["plate"].as_f64().unwrap() - found["match"].as_f64().unwrap();
        assert!(off.abs() < 0.15, "{found}");
    }
    // A few samples are skewed by chance.
    const FEW: &str = "pattern:ramp:size=256x128:frames=1:format=yuv420p10";
    for seed in 1..=4 {
        let s = Session::new();
        s.run(&format!("render {FEW} plate.y4m -f grain=size=3:strength=3 --seed {seed}")).ok();
        let report = s.run(&format!("match plate.y4m --clean {FEW} -o out.toml --json")).ok();
        let report: Value = serde_json::from_str(&report.text()).unwrap();
        assert!(!report["chain"].as_str().unwrap().contains("skew"), "{}", report["chain"]);
    }
}

/// Channels of a scan, and U and V, have grain of unlike strength; that of equal ones is not called unlike.
#[test]
fn the_strengths_of_channels_are_found_again() {
    for (format, chain, wanted) in [
        ("gbrp10", "grain=strength=5:chroma=0.7:red=0.8:blue=1.7", [0.8, 1.7]),
        ("yuv444p10", "grain=strength=5:red=0.7:blue=1.25", [0.748, 1.336]),
        ("gbrp10", "grain=strength=5:chroma=0.7", [1.0, 1.0]),
    ] {
        let (s, report) = matched_over(&CLEAN.replace("yuv420p10", format), chain, "out.toml");
        let recipe = Recipe::parse_toml(std::str::from_utf8(&s.read("out.toml")).unwrap()).unwrap();
        for (id, wanted) in ["red", "blue"].into_iter().zip(wanted) {
            let found = setting(&recipe, id);
            assert!((found / wanted - 1.0).abs() <= 0.03, "{id}: {}", recipe.to_chain());
        }
        for plane in 0..3 {
            assert!(number(&report, plane, "strength_rms") < 0.04, "{plane}: {report:#}");
        }
    }
}

#[test]
fn grain_in_time_is_found_again() {
    let (s, report) = matched("grain=size=0:temporal=0.5", "out.toml");
    let recipe = Recipe::parse_toml(std::str::from_utf8(&s.read("out.toml")).unwrap()).unwrap();
    assert!((setting(&recipe, "temporal") - 0.5).abs() <= 0.03, "{}", recipe.to_chain());
    let temporal = &report["planes"][0]["temporal"];
    assert!((temporal["match"].as_f64().unwrap() - 0.5).abs() < 0.03, "{temporal}");
}

/// Grain of an encoder's table is found as a table; and a plate with grain from another filter.
#[test]
fn a_table_is_fitted() {
    let (s, report) = matched("av1grain=vector=2", "out.tbl");
    // Chroma has a quarter of the samples, so spectra differ more by chance.
    for (plane, spectrum) in [(0, 0.6), (1, 1.2), (2, 1.2)] {
        assert!(number(&report, plane, "strength_rms") < 0.03, "{plane}: {report:#}");
        assert!(number(&report, plane, "spectrum_db") < spectrum, "{plane}: {report:#}");
        let channel = &report["planes"][plane]["channel"];
        let off = channel["plate"].as_f64().unwrap() - channel["match"].as_f64().unwrap();
        assert!(off.abs() < 0.05, "{plane}: {channel}");
    }
    let channel = report["planes"][1]["channel"]["plate"].as_f64().unwrap();
    assert!(channel > 0.7, "chroma of this vector is luma's: {channel}");
    s.run(&format!("render {CLEAN} again.y4m -f av1grain=table=out.tbl")).ok();
}

#[test]
fn what_cannot_be_matched_is_said() {
    let s = Session::new();
    s.run(&format!("match {CLEAN} --clean {CLEAN} -o a.toml")).ends(1).says("do not differ");
    assert!(s.files().is_empty(), "{:?}", s.files());
    let other = "pattern:ramp:size=320x180:frames=4:format=yuv420p10";
    s.run(&format!("match {CLEAN} --clean {other}")).ends(2).says("320x180");
    s.run(&format!("match {CLEAN} --clean {CLEAN} -o a.txt")).ends(2).says(".tbl");
    s.run(&format!("match {CLEAN} --clean {CLEAN} --area 900,0,100,100")).ends(2).says("960x256");
    s.run(&format!("match {CLEAN} --clean {CLEAN} --frames 90")).ends(2).says("--frames");
}

/// The plate's own grain is kept in a file, and the recipe puts it back.
#[test]
fn the_plates_own_grain_is_kept() {
    let s = Session::new();
    s.run(&format!("render {CLEAN} plate.y4m -f grain=size=2:strength=6:chroma-size=2 --seed 5")).ok();
    let keep = format!("match plate.y4m --clean {CLEAN} --keep grain.y4m -o own.toml");
    let report = s.run(&format!("{keep} --json")).ok();
    let report: Value = serde_json::from_str(&report.text()).unwrap();
    assert!(report["kept"]["patches"].as_u64().unwrap() >= 12 && report["kept"]["side"] == 160, "{report:#}");
    for plane in 0..3 {
        assert!(number(&report, plane, "strength_rms") < 0.03, "{plane}: {report:#}");
        assert!(number(&report, plane, "spectrum_db") < 0.3, "{plane}: {report:#}");
    }
    // Render by the file that was written: what the report says holds for other frames.
    s.run(&format!("render {CLEAN} again.y4m --recipe own.toml --seed 99")).ok();
    let again = s.run(&format!("match again.y4m --clean {CLEAN} --keep again-grain.y4m --json")).ok();
    let again: Value = serde_json::from_str(&again.text()).unwrap();
    let bins = |report: &Value, of: &str| -> Vec<f64> {
        let all = report["planes"][0]["strength"].as_array().unwrap();
        all.iter()
            .filter(|b| b["samples"].as_f64().unwrap() > 20_000.0)
            .map(|b| b[of].as_f64().unwrap())
            .collect()
    };
    for (was, is) in bins(&report, "plate").into_iter().zip(bins(&again, "plate")) {
        assert!((is / was - 1.0).abs() < 0.05, "{is} instead of {was}");
    }

    // A file is written only where none is, under a name that can hold it.
    s.run(&keep).ends(1).says("grain.y4m");
    s.run(&format!("match plate.y4m --clean {CLEAN} --keep plate.y4m -y")).ends(2).says("the plate");
    s.run(&format!("match plate.y4m --clean {CLEAN} --keep a.png")).ends(2).says(".y4m");
    s.run("match plate.y4m --keep a.y4m").ends(2).says("--clean");
    s.run("render plate.y4m out.y4m -f grain=plate=none.y4m").ends(1).says("none.y4m");
    let y4m = s.read("grain.y4m");
    s.write("cut.y4m", &y4m[..y4m.len() / 2]);
    s.run("render plate.y4m out.y4m -f grain=plate=cut.y4m").ends(2).says("ends inside frame 0");
    s.write("noise.y4m", &y4m[7..5000]);
    s.run("render plate.y4m out.y4m -f grain=plate=noise.y4m").says("noise.y4m");
    s.run("render pattern:grey:size=64x64:frames=1 grey.y4m").ok();
    s.run("render plate.y4m out.y4m -f grain=plate=grey.y4m").ends(2).says("one colour");
    assert!(!s.files().iter().any(|f| f.contains("out.y4m")), "{:?}", s.files());
}

/// Grain of RGB is kept as a picture, with the correlation of its channels.
#[test]
fn grain_of_rgb_is_kept_as_a_picture() {
    let s = Session::new();
    let clean = "pattern:ramp:size=640x256:frames=2:format=gbrp10";
    s.run(&format!("render {clean} plate.####.png -f grain=size=1.5:strength=8:chroma=0.6 --seed 5")).ok();
    s.run(&format!("render {clean} clean.####.png")).ok();
    let report = s.run("match plate.####.png --clean clean.####.png --keep own.png -o own.toml --json").ok();
    let report: Value = serde_json::from_str(&report.text()).unwrap();
    for plane in 0..3 {
        assert!(number(&report, plane, "strength_rms") < 0.03, "{plane}: {report:#}");
        let channel = &report["planes"][plane]["channel"];
        let off = channel["plate"].as_f64().unwrap() - channel["match"].as_f64().unwrap();
        assert!(off.abs() < 0.03, "{plane}: {channel}");
    }
}

/// A clean version that still holds grain is told by the differences of frames; a true one is not suspected.
#[test]
fn a_clean_version_with_grain_is_doubted() {
    let s = Session::new();
    s.run(&format!("render {CLEAN} plate.y4m -f grain=size=1.5:strength=6 --seed 5")).ok();
    s.run("render plate.y4m soft.y4m -f blur=sigma=1").ok();
    let of = |clean: &str| -> Value {
        let report = s.run(&format!("match plate.y4m --clean {clean} --json")).ok();
        serde_json::from_str(&report.text()).unwrap()
    };
    let (clean, soft) = (of(CLEAN), of("soft.y4m"));
    assert_eq!(clean["certain"], true, "{}", clean["doubt"]);
    assert_eq!(soft["certain"], false);
    assert!(soft["doubt"].as_str().unwrap().contains("still holds grain"), "{}", soft["doubt"]);
}
