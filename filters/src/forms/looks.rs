//! Looks: the recipes of `samples/recipes`, which are built in, and how a page lists whole ones.

use super::recipe::{RecipeText, parse};
use serde::Serialize;

macro_rules! recipes {
    ($($file:literal),* $(,)?) => {
        [$(($file, include_str!(concat!("../../../samples/recipes/", $file, ".toml")))),*]
    };
}

/// The built-in recipes: the names of their files, and their texts.
#[rustfmt::skip]
pub const BUILT_IN: [(&str, &str); 64] = recipes![
    "analog", "atmosphere-smoke", "av1-grain", "blizzard", "blur", "color", "crop", "deband", "denoise", "dither-blue", "dust", "fade", "flicker",
    "flock-starlings", "fluid-dam", "fluid-fountain", "fluid-rain", "glow", "grain-16mm", "grain-35mm",
    "grain-digital-iso", "grain-fine-35mm", "grain-heavy", "grain-high-speed", "grain-light", "grain-medium",
    "grain-super8", "halation", "letterbox", "levels", "look-betacam-news", "look-bleach-bypass",
    "look-broadcast-1985", "look-crt-arcade", "look-documentary-16mm", "look-dream", "look-hand-drawn",
    "look-high-iso-night", "look-print-1950s", "look-projector", "look-reversal-1970s", "look-security-camera",
    "look-silent-era", "look-super8", "look-underwater", "look-vhs", "moving", "negative", "noise", "noise-analog-tv",
    "noise-vhs", "particles-embers", "particles-rain", "particles-snow", "sand-hourglass",
    "sand-snowfall", "scale", "scratches", "sprites", "text", "transform", "unsharp", "vignette", "weave",
];

/// The name by which a built-in recipe is called: `look-super8` is `super8`.
pub fn short_name(file: &str) -> &str {
    file.strip_prefix("look-").unwrap_or(file)
}

/// The built-in recipe of a name: the name of its file, and its text.
pub fn built_in(name: &str) -> Option<(&'static str, &'static str)> {
    BUILT_IN.into_iter().find(|(file, _)| short_name(file) == name || *file == name)
}

/// The first sentence of the comment at the start of a recipe.
pub fn about(text: &str) -> String {
    let comment = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
    let text = comment.collect::<Vec<_>>().join(" ");
    text.split_once(". ").map_or(text.clone(), |(first, _)| format!("{first}."))
}

/// A look as a page lists it.
#[derive(Debug, Serialize)]
pub struct LookForm {
    /// The name for `--look`.
    pub name: String,
    /// A sentence about it.
    pub about: String,
    /// The filters.
    pub recipe: RecipeText,
    /// Whether it is the user's own.
    pub own: bool,
}

impl LookForm {
    /// The look of a recipe's text; `None` if the text is no recipe.
    pub fn of(name: &str, text: &str, own: bool) -> Option<LookForm> {
        Some(LookForm { name: name.into(), about: about(text), recipe: parse(text, false).ok()?, own })
    }

    /// The built-in recipes that are whole looks.
    pub fn built_in() -> impl Iterator<Item = LookForm> {
        let looks = BUILT_IN.iter().filter(|(file, _)| file.starts_with("look-"));
        looks.filter_map(|(file, text)| LookForm::of(short_name(file), text, false))
    }
}
