//! The one table of filters. Command line, recipes, help and hosts read it.

use crate::filter::Build;
use crate::settings::Setting;

/// A filter as the catalog knows it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What recipes call it. It is part of its seed, so it never changes.
    pub name: &'static str,
    /// What a window would call it.
    pub label: &'static str,
    /// One line: what it does.
    pub help: &'static str,
    /// Its settings.
    pub settings: &'static [Setting],
    /// Makes one of checked settings.
    pub build: Build,
}

/// Every filter, by name.
pub const FILTERS: &[Entry] = &[crate::filter::noise::ENTRY];

/// The filter of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    FILTERS.iter().find(|e| e.name == name)
}
