//! Sessions on the command line: help, lists, errors and exit codes.

use crate::util::Session;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const COMMANDS: [&str; 9] =
    ["render", "hash", "frame", "batch", "join", "filters", "probe", "completions", "man"];

#[test]
fn help_is_short_and_long() {
    let s = Session::new();
    let short = s.run("-h").ok().text();
    let long = s.run("--help").ok().text();
    assert!(short.lines().count() < long.lines().count());
    for command in COMMANDS {
        assert!(short.contains(&format!("  {command} ")), "{command} is not in\n{short}");
        s.run(&format!("{command} -h")).ok();
        s.run(&format!("{command} --help")).ok();
    }
    assert!(long.contains("Examples:"));
    let render = s.run("render --help").ok().text();
    for flag in [
        "--filters",
        "--recipe",
        "--seed",
        "--frames",
        "--frame-offset",
        "--rate",
        "--threads",
        "--memory",
        "--level",
        "--fields",
        "--overwrite",
        "--pix-fmt",
        "--matrix",
        "--range",
        "--missing",
        "--on-error",
        "--strict",
        "--progress",
        "--quiet",
        "--verbose",
    ] {
        assert!(render.contains(flag), "{flag} is not in\n{render}");
    }
    assert!(s.run("--version").ok().text().starts_with("grainfield "));
}

#[test]
fn help_of_a_flag_exists_in_short_form() {
    let render = Session::new().run("render -h").ok().text();
    for line in render.lines().filter(|l| l.trim_start().starts_with('-')) {
        assert!(line.split("  ").filter(|part| !part.trim().is_empty()).count() >= 2, "no help: {line}");
    }
}

#[test]
fn wrong_usage_is_2_and_on_stderr() {
    let s = Session::new();
    for line in [
        "",
        "rendr a b",
        "render",
        "render a",
        "render a b c",
        "render a b --frames x",
        "render a b --memory lots",
        "render a b --seed -1",
        "render a b --level mmx",
        "render a b --threads 0",
        "render a b --rate 0",
        "render a b --pix-fmt nv12x",
        "render a b --matrix bt601",
        "render a b -q -v",
        "render a b -f 'no-such-filter=1'",
        "frame a x b.png",
        "filters no-such-filter",
        "completions tcsh",
    ] {
        let o = s.run(line).ends(2);
        assert!(o.out.is_empty() && !o.err.is_empty(), "{line}: {}", o.err);
    }
    assert_eq!(s.files(), [""; 0]);
}

#[test]
fn numbers_may_begin_with_a_minus() {
    let s = Session::new();
    // The input does not exist: the test checks that the arguments are accepted.
    for line in [
        "render none.y4m out.y4m --frames -5--1",
        "render none.y4m out.y4m --frame-offset -1001",
        "hash none.y4m --frames -5",
        "frame none.y4m -3 out.png",
    ] {
        s.run(line).ends(1).says("error: ").says("none.y4m");
    }
}

#[test]
fn an_input_that_is_not_there_is_named() {
    let s = Session::new();
    for line in ["render none.y4m out.y4m", "hash none.y4m", "frame none.y4m 0 out.png", "probe none.y4m"] {
        let o = s.run(line).ends(1).says("error: ").says("none.y4m");
        assert!(!o.err.contains('\x1b'), "colours without a terminal: {}", o.err);
    }
    assert_eq!(s.files(), [""; 0]);
}

#[test]
fn errors_can_be_json() {
    let o = Session::new().run("render none.y4m out.y4m --progress json").ends(1);
    let event: serde_json::Value = serde_json::from_str(o.err.trim_end()).expect("one object");
    assert_eq!((event["event"].as_str(), event["exit"].as_i64()), (Some("failed"), Some(1)));
    assert!(event["message"].as_str().is_some_and(|m| m.contains("none.y4m")));
}

#[test]
fn colours_follow_the_environment() {
    let forced = Session::new().with_var("CLICOLOR_FORCE", "1");
    forced.run("probe none.y4m").ends(1).says("\x1b[");
    forced.run("probe").ends(2).says("\x1b[");
    let never = Session::new().with_var("CLICOLOR_FORCE", "1").with_var("NO_COLOR", "1");
    assert!(!never.run("probe none.y4m").ends(1).err.contains('\x1b'));
    assert!(!never.run("probe").ends(2).err.contains('\x1b'));
}

#[test]
fn the_level_variable_is_checked() {
    let s = Session::new().with_var("GRAINFIELD_LEVEL", "mmx");
    s.run("hash none.y4m")
        .ends(2)
        .says("GRAINFIELD_LEVEL=mmx")
        .says("scalar, neon, sse2, avx2, avx512 or avx512vbmi");
}

#[test]
fn recipes_that_cannot_be_used() {
    let s = Session::new();
    s.run("render a b --recipe none.toml").ends(1).says("none.toml");
    s.write("bytes.toml", [0xff, 0xfe, 0x00]);
    s.run("render a b --recipe bytes.toml").ends(2).says("bytes.toml").says("UTF-8");
}

#[test]
fn filters_are_listed() {
    let s = Session::new();
    let text = s.run("filters").ok().text();
    let json: serde_json::Value = serde_json::from_str(&s.run("filters --json").ok().text()).expect("JSON");
    for (i, filter) in json.as_array().expect("a list").iter().enumerate() {
        let name = filter["name"].as_str().expect("a name");
        assert!(text.lines().any(|l| l.split_whitespace().next() == Some(name)), "{name} is not in\n{text}");
        // each costs two starts of the program
        if i % 6 != 0 {
            continue;
        }
        let page = s.run(&format!("filters {name}")).ok().text();
        for setting in filter["settings"].as_array().expect("settings") {
            assert!(page.contains(setting["id"].as_str().expect("an id")), "{page}");
        }
        let one: serde_json::Value =
            serde_json::from_str(&s.run(&format!("filters {name} --json")).ok().text()).expect("JSON");
        assert_eq!(&one, filter);
    }
}

#[test]
fn completions_and_the_manual_page_are_whole() {
    let s = Session::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = s.run(&format!("completions {shell}")).ok().text();
        assert!(script.contains("frame-offset"), "{shell}");
    }
    let page = s.run("man").ok().text();
    assert!(page.contains(".TH grainfield 1"));
    for command in COMMANDS {
        assert!(page.contains(&format!("GRAINFIELD {}", command.to_uppercase())), "{command}");
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let s = Session::new();
    for line in ["man", "completions bash", "--help", "filters --json"] {
        let mut child = s
            .command(line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let mut said = String::new();
        let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
        while err.read_line(&mut said).expect("text") > 0 {}
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{line}: {said}");
        assert_eq!(said, "", "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    let s = Session::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let out = s.command("man").stdout(full).stderr(Stdio::piped()).output().expect("it runs");
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).starts_with("error: standard output: "));
}

#[test]
fn the_example_of_every_filter_does_something() {
    let s = Session::new();
    s.run("frame pattern:bars:size=32x24 0 logo.png").ok();
    s.write("look.cube", "LUT_1D_SIZE 2\n0 0 0\n0.5 0.5 0.5\n");
    s.run("render pattern:zoneplate:size=320x200:frames=24 clip.y4m").ok();
    let plain = s.run("hash clip.y4m --frames 0,12").ok().text();
    let names = s.run("filters").ok().text();
    let names: Vec<_> = names.lines().take_while(|l| !l.is_empty()).filter(|l| !l.starts_with(' ')).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names.iter().filter_map(|l| l.split_whitespace().next()) {
        // the page of the handbook, which has the example of the help
        let page = std::fs::read_to_string(format!("docs/src/filters/{name}.md")).expect("a page");
        let line = page.lines().find_map(|l| l.strip_prefix("grainfield render clip.y4m out.y4m -f "));
        let chain = line.expect("an example").trim_matches('"');
        // the quotes belong to the chain
        let mut command = s.command("hash clip.y4m --frames 0,12 -f");
        let out = command.arg(chain).output().expect("it runs");
        assert!(out.status.success(), "{chain}: {}", String::from_utf8_lossy(&out.stderr));
        // dither has nothing to do if no depth is lost
        assert_eq!(String::from_utf8_lossy(&out.stdout) == plain, name == "dither", "{chain}");
    }
}
