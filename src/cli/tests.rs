use super::*;
use clap::CommandFactory;

#[test]
fn the_arguments_are_sound() {
    Cli::command().debug_assert();
}

/// The width rule of `args`.
#[test]
fn help_fits_100_columns() {
    let mut top = Cli::command().term_width(100);
    top.build();
    let mut pages = vec![top.clone()];
    pages.extend(top.get_subcommands().cloned().map(|c| c.term_width(100)));
    for mut page in pages {
        for text in [page.render_help(), page.render_long_help()] {
            for line in text.to_string().lines() {
                assert!(line.chars().count() <= 100, "{}: {line}", page.get_name());
            }
        }
    }
}

#[test]
fn causes_are_printed_once() {
    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Told {
        text: &'static str,
        source: Option<Box<Told>>,
    }
    let told = |text, source| Told { text, source };
    let disk = told("disk full", None);
    let inner = told("writing frame 3 failed", Some(Box::new(disk)));
    let outer = told("out.y4m: writing frame 3 failed", Some(Box::new(inner)));
    assert_eq!(with_causes(&outer), "out.y4m: writing frame 3 failed\n  because: disk full");
}
