//! `man` and `completions`, generated from the arguments.

use super::commands::Cli;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::io::{self, Write};

/// The completion script for a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "grainfield", &mut text);
    text
}

/// One page for the program and all its commands.
pub(super) fn page() -> io::Result<Vec<u8>> {
    let mut top = Cli::command();
    top.build();
    let mut page = Vec::new();
    let man = Man::new(top.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    let render = top.find_subcommand("render").cloned();
    for command in top.get_subcommands() {
        let basis = render.as_ref().filter(|_| matches!(command.get_name(), "hash" | "frame" | "analyze"));
        section(&mut page, command, basis)?;
    }
    page.write_all(ENVIRONMENT.as_bytes())?;
    writeln!(page, ".SH EXAMPLES")?;
    literal(&mut page, &top)?;
    Ok(page)
}

const ENVIRONMENT: &str = r"\
.SH ENVIRONMENT
.TP
\fBGRAINFIELD_LEVEL\fR
Highest instruction set: scalar; sse2, avx2, avx512 or avx512vbmi on x86-64; neon on ARM64. See \fB\-\-level\fR.
.TP
\fBNO_COLOR\fR, \fBCLICOLOR_FORCE\fR
No colours in messages, or colours even if standard error is not a terminal.
.TP
\fBGRAINFIELD_CACHE\fR
The cache folder, or none. See \fB\-\-cache\fR.
.SH EXIT STATUS
.TP
\fB0\fR
Done; also when the reader of the output has closed the pipe.
.TP
\fB1\fR
Failed.
.TP
\fB2\fR
Wrong usage. No message is printed if standard error is an input file of the command.
.TP
\fB129\fR, \fB130\fR, \fB143\fR
Hung up, interrupted, terminated. Finished frames are kept as NAME.partial.EXT. A second signal ends at once, without the
frames that the encoder holds.
";

/// A command: synopsis, description, options. Those that `basis` has too are named there, not repeated.
fn section(page: &mut Vec<u8>, command: &Command, basis: Option<&Command>) -> io::Result<()> {
    let shared = |id: &clap::Id| {
        basis.is_some_and(|b| b.get_arguments().any(|a| a.get_id() == id && !a.is_positional()))
    };
    let bin = format!("grainfield {}", command.get_name());
    let own = command.clone().bin_name(&bin).mut_args(|a| {
        let hide = matches!(a.get_id().as_str(), "help" | "version") || shared(a.get_id());
        a.hide(hide)
    });
    writeln!(page, ".SH \"{}\"", bin.to_uppercase())?;
    let man = Man::new(own.clone());
    let mut text = Vec::new();
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    for line in text.lines() {
        match line {
            // Their headings make no sense inside a section; the parts speak for themselves.
            ".SH SYNOPSIS" | ".SH DESCRIPTION" | ".SH OPTIONS" => writeln!(page, ".PP")?,
            // Preamble that the title has already written.
            r".ie \n(.g .ds Aq \(aq" | r".el .ds Aq '" => {}
            _ => writeln!(page, "{}", line.replacen(".SH ", ".SS ", 1))?,
        }
    }
    if let Some(basis) = basis {
        writeln!(page, ".PP\nAlso takes the options of {}:", basis.get_name())?;
        let names = command.get_arguments().filter(|a| shared(a.get_id()));
        let names: Vec<_> = names.filter_map(|a| a.get_long()).filter(|n| *n != "help").collect();
        let names: Vec<_> = names.iter().map(|n| format!(r"\fB\-\-{}\fR", n.replace('-', r"\-"))).collect();
        writeln!(page, "{}.", names.join(", "))?;
    }
    literal(page, command)
}

/// The examples, line by line as they are.
fn literal(page: &mut Vec<u8>, command: &Command) -> io::Result<()> {
    let Some(text) = command.get_after_long_help() else { return Ok(()) };
    writeln!(page, ".PP\n.nf")?;
    for line in text.to_string().lines() {
        // A leading dot or quote would be a macro; `\&` prints nothing and prevents that.
        writeln!(page, r"\&{}", line.replace('\\', r"\e").replace('-', r"\-").replace('\'', r"\(aq"))?;
    }
    writeln!(page, ".fi")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_option() {
        let page = String::from_utf8(page().unwrap()).unwrap();
        for command in Cli::command().get_subcommands() {
            assert!(page.contains(&format!("GRAINFIELD {}", command.get_name().to_uppercase())));
            for long in command.get_arguments().filter_map(|a| a.get_long()) {
                let long = long.replace('-', r"\-");
                assert!(page.contains(&format!(r"\-\-{long}")), "--{long} of {}", command.get_name());
            }
        }
    }
}
