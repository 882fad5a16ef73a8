//! Writes generated descriptions of the catalog: `grainfield-describe python`, `kdenlive FOLDER` or `names`.

use host_kit::describe::{kdenlive, plugin_name, python};
use std::io;
use std::path::Path;
use std::process::ExitCode;

fn run(line: &[String]) -> io::Result<bool> {
    match line {
        [what] if what == "python" => print!("{}", python()),
        [what] if what == "names" => {
            let filters = grainfield_filters::catalog::FILTERS.iter().map(Some).chain([None]);
            filters.for_each(|filter| println!("{}", plugin_name(filter)));
        }
        [what, folder] if what == "kdenlive" => {
            std::fs::create_dir_all(folder)?;
            for (name, text) in kdenlive() {
                std::fs::write(Path::new(folder).join(name), text)?;
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn main() -> ExitCode {
    let line: Vec<String> = std::env::args().skip(1).collect();
    match run(&line) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("usage: grainfield-describe python | kdenlive FOLDER | names");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
