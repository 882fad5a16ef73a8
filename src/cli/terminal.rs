//! Output of text: standard output, standard error and its colours.

use grainfield_io::disk::is_mute;
use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

/// Writes to standard output. A closed pipe is not an error.
pub(super) fn print(text: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Standard error; nothing is written if it is a file that the job reads.
#[derive(Debug)]
pub(super) struct Errors;

impl Write for Errors {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if is_mute() { Ok(bytes.len()) } else { io::stderr().write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// The styles of the first word of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Style {
    colour: bool,
}

impl Style {
    /// For standard error: coloured on a terminal; `NO_COLOR`, `CLICOLOR_FORCE` and `CLICOLOR=0` are honoured, in
    /// this order, as clap does for its own messages.
    pub(super) fn of_stderr() -> Style {
        Style { colour: wanted(env::var_os, io::stderr().is_terminal()) }
    }

    /// `error:`, in bold red.
    pub(super) fn error(self) -> &'static str {
        if self.colour { "\x1b[1;31merror:\x1b[0m" } else { "error:" }
    }

    /// `warning:`, in bold yellow.
    pub(super) fn warning(self) -> &'static str {
        if self.colour { "\x1b[1;33mwarning:\x1b[0m" } else { "warning:" }
    }

    /// `note:`, in bold cyan.
    pub(super) fn note(self) -> &'static str {
        if self.colour { "\x1b[1;36mnote:\x1b[0m" } else { "note:" }
    }
}

fn wanted(var: impl Fn(&'static str) -> Option<OsString>, terminal: bool) -> bool {
    let set = |name| var(name).is_some_and(|v| !v.is_empty());
    if set("NO_COLOR") {
        false
    } else if set("CLICOLOR_FORCE") && var("CLICOLOR_FORCE").is_some_and(|v| v != "0") {
        true
    } else if var("CLICOLOR").is_some_and(|v| v == "0") || var("TERM").is_some_and(|v| v == "dumb") {
        false
    } else {
        terminal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_conventions() {
        let with = |vars: &'static [(&str, &str)], terminal| {
            wanted(|name| vars.iter().find(|v| v.0 == name).map(|v| v.1.into()), terminal)
        };
        assert!(with(&[], true));
        assert!(!with(&[], false));
        assert!(!with(&[("NO_COLOR", "1")], true));
        assert!(with(&[("NO_COLOR", "")], true));
        assert!(with(&[("CLICOLOR_FORCE", "1")], false));
        assert!(!with(&[("CLICOLOR_FORCE", "0")], false));
        assert!(!with(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false));
        assert!(!with(&[("CLICOLOR", "0")], true));
        assert!(!with(&[("TERM", "dumb")], true));
    }
}
