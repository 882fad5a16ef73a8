//! The commands of README and handbook are run, in order, in a folder with the files that they name; links point to
//! existing files; pages of filters match the catalog.

use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

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

/// The README and the handbook's pages that are written by hand.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let files = std::fs::read_dir(root().join("docs/src")).unwrap().map(|f| f.unwrap().path());
    pages.extend(files.filter(|f| f.extension().is_some_and(|e| e == "md")));
    pages.sort();
    assert!(pages.len() > 10, "the handbook's pages are not found: {pages:?}");
    pages
}

/// The lines of a page's `sh` blocks, except for those that set up the repository.
fn commands(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    let lines = blocks.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>());
    lines.filter(|line| !line.starts_with("./x ") && !line.is_empty()).collect()
}

/// A folder with the files that the commands name.
fn folder_of_files() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    shell(folder, "ffmpeg -v error -f lavfi -i testsrc2=size=96x64:rate=24:duration=5 in.mp4");
    shell(folder, "ffmpeg -v error -i in.mp4 -f yuv4mpegpipe clip.y4m");
    shell(folder, "ffmpeg -v error -i in.mp4 -frames:v 20 -start_number 1001 plate.%04d.png");
    shell(folder, "grainfield render clip.y4m noisy.y4m -f noise=strength=3");
    let track: String = (0..120).map(|n| format!("{n},{}\n", 6.0 + f64::from(n % 40) * 0.1)).collect();
    std::fs::write(folder.join("track.csv"), format!("frame,strength\n{track}")).unwrap();
    home
}

#[test]
fn the_commands_of_the_readme_and_the_handbook_work() {
    let files = folder_of_files();
    let run = |page: &Path| {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path();
        shell(folder, &format!("cp {}/* .", files.path().display()));
        std::os::unix::fs::symlink(root().join("samples"), folder.join("samples")).unwrap();
        let commands = commands(page);
        for line in &commands {
            if !cfg!(feature = "ffmpeg") && line.contains("in.mp4") && line.starts_with("grainfield") {
                println!("needs the feature ffmpeg, so it is not run: {line}");
                continue;
            }
            shell(folder, line);
        }
        commands.len()
    };
    let count: usize = std::thread::scope(|scope| {
        let pages: Vec<_> = pages().into_iter().map(|page| scope.spawn(move || run(&page))).collect();
        pages.into_iter().map(|page| page.join().unwrap()).sum()
    });
    assert!(count > 40, "only {count} commands are found");
}

#[test]
fn links_of_the_readme_and_the_handbook_exist() {
    let mut seen = 0;
    let filters = std::fs::read_dir(root().join("docs/src/filters")).unwrap().map(|f| f.unwrap().path());
    for page in pages().into_iter().chain(filters.filter(|f| f.is_file())) {
        let text = std::fs::read_to_string(&page).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            if !target.contains("://") && !file.is_empty() {
                assert!(
                    page.parent().unwrap().join(file).exists(),
                    "{}: {target} is not there",
                    page.display()
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 40, "only {seen} links are found");
}

/// The output of the program.
fn printed(words: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_grainfield")).args(words).output().unwrap();
    assert!(done.status.success(), "{words:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// The pages of filters: file name below `docs/src`, and text.
fn filter_pages() -> Vec<(String, String)> {
    let list: Value = serde_json::from_str(&printed(&["filters", "--json"])).unwrap();
    let list = list.as_array().unwrap();
    let mut index = format!("# Filters\n\n{MADE}\n\n| filter | what it does |\n|---|---|\n");
    let mut pages = Vec::new();
    for filter in list {
        let name = text(filter, "name");
        writeln!(index, "| [{name}](filters/{name}.md) | {} |", text(filter, "help")).unwrap();
        pages.push((format!("filters/{name}.md"), filter_page(filter)));
    }
    index.push_str("\nEvery filter also takes:\n\n");
    settings(&mut index, &list[0]["common"]);
    pages.push(("filters.md".to_owned(), index));
    pages
}

/// The first line of each page that is generated from the catalog.
const MADE: &str = "<!-- Generated from the catalog by ./x bless. -->";

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// A text for a table's cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

fn filter_page(filter: &Value) -> String {
    let name = text(filter, "name");
    let mut page = format!("# {name}\n\n{MADE}\n\n{}.\n\n", text(filter, "help"));
    let help = printed(&["filters", name]);
    let example = help.split("Example:\n").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    writeln!(page, "```sh\n{}\n```\n", example.trim()).unwrap();
    let picture = |key: &str| {
        let file = format!("pictures/{name}{key}.jpg");
        root().join("docs/src/filters").join(&file).exists().then(|| format!("![{name}{key}]({file})"))
    };
    if let Some(picture) = picture("") {
        writeln!(page, "{picture}\n").unwrap();
    }
    for setting in filter["settings"].as_array().unwrap() {
        let Some(choices) = setting["choices"].as_array() else { continue };
        let shown: Vec<_> =
            choices.iter().filter_map(|c| Some((c, picture(&format!("-{}", text(c, "id")))?))).collect();
        if shown.is_empty() {
            continue;
        }
        writeln!(page, "## {}s\n", text(setting, "label")).unwrap();
        for (choice, picture) in shown {
            let id = text(choice, "id");
            writeln!(
                page,
                "**`{}={id}`** {}\n\n{picture}\n",
                text(setting, "id"),
                cell(text(choice, "help"))
            )
            .unwrap();
        }
    }
    page.push_str("## Settings\n\n");
    settings(&mut page, &filter["settings"]);
    page.push_str("\n[All filters](../filters.md) also take `enable`, `planes` and `opacity`.\n");
    page
}

fn settings(page: &mut String, settings: &Value) {
    page.push_str("| setting | takes | default | can be animated | what it does |\n|---|---|---|---|---|\n");
    for setting in settings.as_array().unwrap() {
        let kind = match text(setting, "kind") {
            "whole" => "whole number",
            "switch" => "true or false",
            "frames" => "frame ranges",
            "source frame" => "frame number",
            "image" => "image file",
            "effect" => "effect file",
            "grain table" => "film grain table",
            "grain plate" => "clip or picture of grain",
            kind => kind,
        };
        let mut takes = match (setting["min"].as_f64(), setting["max"].as_f64()) {
            (Some(min), Some(max)) => format!("{kind}, {min} to {max}"),
            _ => kind.to_owned(),
        };
        let unit = setting["unit"].as_str().filter(|_| !kind.starts_with("frame "));
        if let Some(unit) = unit.filter(|u| !["", "0 to 1"].contains(u)) {
            write!(takes, " ({unit})").unwrap();
        }
        if let Some(choices) = setting["choices"].as_array() {
            let words: Vec<_> =
                choices.iter().map(|c| format!("`{}`: {}", text(c, "id"), text(c, "help"))).collect();
            takes = words.join("<br>");
        }
        let default = match &setting["default"] {
            Value::Null => String::new(),
            Value::String(word) => format!("`{word}`"),
            Value::Number(number) => format!("`{}`", number.as_f64().unwrap()),
            other => format!("`{other}`"),
        };
        let moves = if setting["animatable"] == true { "yes" } else { "" };
        let help = cell(text(setting, "help"));
        writeln!(
            page,
            "| `{}` | {} | {default} | {moves} | {help} |",
            text(setting, "id"),
            takes.replace('|', "\\|")
        )
        .unwrap();
    }
}

#[test]
fn the_pages_of_filters_are_those_of_the_catalog() {
    let docs = root().join("docs/src");
    let pages = filter_pages();
    if std::env::var_os("GRAINFIELD_BLESS").is_some() {
        std::fs::create_dir_all(docs.join("filters")).unwrap();
        for (name, text) in &pages {
            std::fs::write(docs.join(name), text).unwrap();
        }
    }
    let old: Vec<_> = pages
        .iter()
        .filter(|(name, text)| std::fs::read_to_string(docs.join(name)).ok().as_ref() != Some(text))
        .collect();
    assert!(
        old.is_empty(),
        "write them anew by ./x bless: {:?}",
        old.iter().map(|p| &p.0).collect::<Vec<_>>()
    );
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for (name, _) in &pages {
        assert!(summary.contains(&format!("({name})")), "{name} is not in SUMMARY.md");
    }
    let files = std::fs::read_dir(docs.join("filters"))
        .unwrap()
        .filter(|f| f.as_ref().unwrap().path().is_file())
        .count();
    assert_eq!(files, pages.len() - 1, "docs/src/filters holds pages of filters that are not there");
}

#[test]
fn every_sample_recipe_is_read() {
    let folder = root().join("samples/recipes");
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
