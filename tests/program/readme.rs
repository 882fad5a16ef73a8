//! The README's commands are run, in order, in a folder that holds what they name.

use std::path::Path;
use std::process::Command;

/// Runs a line of shell in `folder`, with the program on the path; panics unless it succeeds.
fn shell(folder: &Path, line: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_grainfield"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let done = Command::new("bash")
        .args(["-euo", "pipefail", "-c", line])
        .current_dir(folder)
        .env("PATH", path)
        .env("GRAINFIELD_CACHE", folder.join("cache"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{line}\n{}", String::from_utf8_lossy(&done.stderr));
}

/// The lines of the README's `sh` blocks.
fn commands() -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn the_commands_of_the_readme_work() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    shell(folder, "ffmpeg -v error -f lavfi -i testsrc2=size=96x64:rate=24:duration=5 in.mp4");
    shell(folder, "ffmpeg -v error -i in.mp4 -f yuv4mpegpipe clip.y4m");
    shell(folder, "ffmpeg -v error -i in.mp4 -frames:v 20 -start_number 1001 plate.%04d.png");
    std::os::unix::fs::symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples"), folder.join("samples"))
        .unwrap();
    let track: String = (0..120).map(|n| format!("{n},{}\n", 6.0 + f64::from(n % 40) * 0.1)).collect();
    std::fs::write(folder.join("track.csv"), format!("frame,strength\n{track}")).unwrap();
    let commands = commands();
    assert!(commands.len() > 8, "the README's commands are not found: {commands:?}");
    shell(folder, "grainfield render clip.y4m noisy.y4m -f noise=strength=3");
    for line in commands.iter().filter(|line| !line.starts_with("./x ")) {
        if line.starts_with("grainfield render in.mp4") && !cfg!(feature = "ffmpeg") {
            println!("needs the feature ffmpeg, so it is not run: {line}");
            continue;
        }
        shell(folder, line);
    }
    for made in ["out.mp4", "still.png", "noisy.1001.png", "noisy.1010.png", "swell.y4m", "recipe.y4m"] {
        assert!(folder.join(made).is_file(), "{made} is not there");
    }
}

#[test]
fn what_the_readme_points_at_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let targets: Vec<&str> = text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(targets.len() > 5);
    for target in targets.iter().filter(|t| !t.contains("://")) {
        assert!(root.join(target).exists(), "{target} is not there");
    }
}

#[test]
fn every_sample_recipe_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/recipes");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap();
        let recipe = grainfield_filters::recipe::Recipe::parse_toml(&text);
        assert!(recipe.is_ok(), "{}: {}", file.display(), recipe.unwrap_err());
        seen += 1;
    }
    assert!(seen > 0);
}
