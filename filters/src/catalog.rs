//! The table of all filters. The command line, recipes, help and hosts read it.

pub use crate::filter::{Entry, Role};

/// All filters, in the order of the help.
pub const FILTERS: &[Entry] = &[
    crate::filter::noise::ENTRY,
    crate::filter::grain::ENTRY,
    crate::filter::av1grain::ENTRY,
    crate::filter::dither::ENTRY,
    crate::filter::deband::ENTRY,
    crate::filter::denoise::ENTRY,
    crate::filter::fade::ENTRY,
    crate::filter::invert::ENTRY,
    crate::filter::levels::ENTRY,
    crate::filter::color::ENTRY,
    crate::filter::lut::ENTRY,
    crate::filter::vignette::ENTRY,
    crate::filter::flicker::ENTRY,
    crate::filter::blur::ENTRY,
    crate::filter::unsharp::ENTRY,
    crate::filter::glow::GLOW,
    crate::filter::glow::HALATION,
    crate::filter::scale::ENTRY,
    crate::filter::crop::CROP,
    crate::filter::crop::PAD,
    crate::filter::transform::ENTRY,
    crate::filter::weave::ENTRY,
    crate::filter::dust::ENTRY,
    crate::filter::scratches::ENTRY,
    crate::filter::analog::ENTRY,
    crate::filter::overlay::ENTRY,
    crate::filter::text::ENTRY,
    crate::filter::sprites::ENTRY,
    crate::filter::particles::ENTRY,
    crate::filter::fluid::ENTRY,
    crate::filter::atmosphere::ENTRY,
    crate::filter::flock::ENTRY,
    crate::filter::sand::ENTRY,
    crate::filter::lavfi::ENTRY,
];

/// Finds a filter by name.
pub fn find(name: &str) -> Option<&'static Entry> {
    FILTERS.iter().find(|e| e.name == name)
}
