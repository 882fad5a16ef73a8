//! Recipes by name, several in order, and the configuration file.

use crate::util::Session;

const CLIP: &str = "pattern:bars:size=64x48:frames=3:rate=25";

fn samples(name: &str) -> String {
    format!("{}/samples/recipes/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn looks_are_found_by_name_and_add_up_in_order() {
    let s = Session::new();
    let of = |options: &str| s.run(&format!("hash {CLIP} --frames 1 {options}")).ok().text();
    assert_eq!(of("--look super8"), of(&format!("--recipe {}", samples("look-super8"))));
    assert_eq!(of("--look grain-16mm"), of(&format!("--recipe {}", samples("grain-16mm"))));
    s.write("invert.toml", "[[filter]]\nname='invert'\n");
    s.write("levels.toml", "[[filter]]\nname='levels'\nblack=0.3\n");
    let chain = |chain: &str| of(&format!("-f {chain}"));
    assert_eq!(of("--recipe invert.toml --look ./levels.toml"), chain("invert,levels=black=0.3"));
    assert_eq!(of("--look levels.toml --recipe invert.toml"), chain("levels=black=0.3,invert"));
    assert_eq!(of("-f invert --look levels.toml"), chain("levels=black=0.3,invert"));
    assert_ne!(chain("levels=black=0.3,invert"), chain("invert,levels=black=0.3"));
    // the user's own come first
    s.write(".config/grainfield/looks/mine.toml", "[[filter]]\nname='invert'\n");
    s.write(".config/grainfield/looks/vhs.toml", "[[filter]]\nname='invert'\n");
    assert_eq!((of("--look mine"), of("--look vhs")), (chain("invert"), chain("invert")));
    s.run("looks").ok().text().lines().find(|line| line.starts_with("mine ")).unwrap();
    s.run(&format!("hash {CLIP} --look vhs -v")).ok().says("looks/vhs.toml");
    s.run(&format!("hash {CLIP} --look supr8")).ends(2).says("did you mean 'super8'?");
    s.run(&format!("hash {CLIP} --look none.toml")).ends(1).says("none.toml");
    // a list of jobs names looks, too
    s.write("jobs.toml", format!("[[job]]\ninput='{CLIP}'\noutput='b.y4m'\nlook='super8'\n"));
    s.run("batch jobs.toml").ok();
    assert_eq!(s.run("hash b.y4m --frames 1").ok().text(), of("--look super8"));
    s.run("batch jobs.toml").ok().says("done before");
}

#[test]
fn the_configuration_changes_no_sample() {
    let s = Session::new();
    let line = format!("render {CLIP} o.y4m -f grain");
    s.run(&line).ok();
    let plain = s.read("o.y4m");
    s.run(&line).ends(1).says("-y");
    let file = ".config/grainfield/config.toml";
    s.write(file, "threads = 1\nmemory = '100M'\nlevel = 'scalar'\nprogress = 'json'\noverwrite = true\n");
    s.run(&line).ok().says("\"event\":\"done\"");
    assert_eq!(s.read("o.y4m"), plain);
    let o = s.run(&format!("{line} -v --progress none")).ok().says("config.toml: level = \"scalar\"");
    o.says("level scalar, threads: 1");
    s.run(&format!("{line} -v --progress none --threads 2")).ok().says("threads: 2");
    s.run(&format!("{line} --no-config")).ends(1).says("-y");
    s.run(&format!("--no-config {line} -y")).ok().says("done: 3 frames");
    s.write(file, "quiet = true\n");
    assert_eq!(s.run("hash o.y4m").ok().err, "");
    for (text, says) in [
        ("thread = 2", "unknown field `thread`"),
        ("threads = 0", "a number from 1 to 256"),
        ("\nmemory = 'much'", "line 2"),
        ("progress = 'loud'", "progress is one of auto, bar, json"),
        ("seed = 3", "unknown field `seed`"),
        ("quiet = true\nverbose = true", "exclude each other"),
    ] {
        s.write(file, text);
        s.run("hash o.y4m").ends(2).says(says).says("config.toml");
        s.run("hash o.y4m --no-config").ok();
    }
}
