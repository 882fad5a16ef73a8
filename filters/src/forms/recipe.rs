//! Recipes as a page holds them: every value is text, as in a chain, so that 64-bit seeds and curves stay what they are.

use crate::catalog;
use crate::filter::grain;
use crate::frame::{Family, Format, Ranges};
use crate::recipe::{Problem, Recipe, RecipeError};
use crate::settings::common::COMMON;
use crate::settings::{Setting, Values, toml_string};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// The prefix of the lines of a filter that is switched off: other readers see comments.
pub const OFF: &str = "#off ";

/// The prefixes of the lines that say something of a clip: which frames are cut out of it, `#cut "clip.mp4" = "10-29,50-54"`,
/// and by which of FFmpeg's filters it is deinterlaced before all others, `#deinterlace "tape.avi" = "bwdif=mode=send_frame"`.
const CUT: &str = "#cut ";
const DEINTERLACE: &str = "#deinterlace ";
/// FFmpeg's filters by which a recipe may deinterlace a clip. No others: many read and write files.
pub const DEINTERLACERS: [&str; 6] = [
    "bwdif=mode=send_frame",
    "bwdif=mode=send_frame:parity=tff",
    "bwdif=mode=send_frame:parity=bff",
    "bwdif=mode=send_field",
    "bwdif=mode=send_field:parity=tff",
    "bwdif=mode=send_field:parity=bff",
];

/// Texts by the paths of the clips about which they are.
pub type ByClip = BTreeMap<String, String>;

/// A filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepText {
    /// The filter's name.
    pub name: String,
    /// The filter is kept, but not rendered.
    #[serde(default)]
    pub off: bool,
    /// The given values, by the ids of the settings.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
}

/// Filters in order. The page's tests compare its JSON with the page's own, so fields are in alphabetical order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecipeText {
    /// The frames that are cut out of clips.
    #[serde(default)]
    pub cuts: ByClip,
    /// FFmpeg's filters by which clips are deinterlaced.
    #[serde(default)]
    pub deinterlace: ByClip,
    /// The recipe's seed, as text.
    #[serde(default)]
    pub seed: Option<String>,
    /// The filters.
    pub steps: Vec<StepText>,
}

/// The text of a recipe in one of three forms.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnyText {
    /// As in a recipe's file.
    Toml(String),
    /// As for `-f`.
    Chain(String),
    /// As the page holds it.
    Recipe(RecipeText),
}

impl AnyText {
    /// The text as the page holds it.
    ///
    /// # Errors
    /// The text is no recipe.
    pub fn read(self) -> Result<RecipeText, RecipeFault> {
        match self {
            AnyText::Toml(text) => parse(&text, false),
            AnyText::Chain(text) => parse(&text, true),
            AnyText::Recipe(text) => Ok(text),
        }
    }
}

/// What is known of a recipe after it was checked.
#[derive(Debug, Serialize)]
pub struct Checked {
    /// The recipe, with what cannot be read.
    pub recipe: RecipeText,
    /// Equal for recipes with equal results, in hexadecimal digits.
    pub key: String,
    /// The filters that are on, as for `-f`.
    pub chain: String,
    /// The same with every setting written out.
    pub canonical: String,
    /// The text for a file.
    pub toml: String,
    /// See [`effective`].
    pub effective: Vec<BTreeMap<String, String>>,
    /// All that is wrong.
    pub faults: Vec<RecipeFault>,
    /// What a user should know.
    pub notes: Vec<String>,
    /// The format of the result, if it was asked for and nothing is wrong.
    pub made: Option<FormatForm>,
}

impl Checked {
    /// From the recipe as the page holds it, and as it was read.
    pub fn new(recipe: RecipeText, read: &Read) -> Checked {
        Checked {
            key: format!("{:032x}", read.on.key()),
            chain: read.on.to_chain(),
            canonical: read.on.canonical(),
            toml: with_clips(&to_toml(&read.all, &recipe), &recipe),
            effective: effective(&read.all),
            faults: read.faults.clone(),
            notes: Vec::new(),
            made: None,
            recipe,
        }
    }
}

/// The format of pictures.
#[derive(Clone, Debug, Serialize)]
pub struct FormatForm {
    /// In samples.
    pub width: u32,
    /// In samples.
    pub height: u32,
    /// Its name, as `yuv420p`.
    pub format: String,
    /// The names of the planes, in order.
    pub planes: &'static [&'static str],
    /// How much wider than high a sample is shown.
    pub shape: f64,
}

impl FormatForm {
    /// The form of a format.
    pub fn of(format: &Format) -> FormatForm {
        FormatForm {
            width: format.width,
            height: format.height,
            format: format.name(),
            planes: plane_names(format),
            shape: format.shape(),
        }
    }
}

/// The names of a format's planes, in order.
pub fn plane_names(format: &Format) -> &'static [&'static str] {
    let all: &[&str] = match format.family {
        Family::Gray => &["Y", "A"],
        Family::Yuv if format.is_rgb() => &["G", "B", "R", "A"],
        Family::Yuv => &["Y", "U", "V", "A"],
        Family::Rgb => &["G", "B", "R", "A"],
    };
    &all[..format.planes()]
}

/// A fault in a recipe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecipeFault {
    /// What is wrong, and what would be right.
    pub text: String,
    /// The index of the filter, from 0; filters that are off are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The setting's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// The byte range within the setting's text, or within the whole text that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Range<usize>>,
    /// In a whole text: the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl RecipeFault {
    /// A fault without a position.
    pub fn new(text: impl std::fmt::Display) -> RecipeFault {
        RecipeFault { text: text.to_string(), ..RecipeFault::default() }
    }
}

impl From<RecipeError> for RecipeFault {
    fn from(error: RecipeError) -> RecipeFault {
        let parts = error.parts();
        let hint = parts.hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
        RecipeFault {
            text: format!("{}{hint}", parts.problem),
            span: Some(parts.span.clone()),
            line: Some(parts.line),
            ..RecipeFault::default()
        }
    }
}

/// A recipe without the parts that cannot be read.
#[derive(Debug, Default)]
pub struct Read {
    /// All filters, including those that are off.
    pub all: Recipe,
    /// Filters that are on.
    pub on: Recipe,
    /// All that is wrong, in the order of the filters.
    pub faults: Vec<RecipeFault>,
}

/// Reads the page's recipe. A setting that cannot be read is reported and left out, so that all faults are reported at
/// once.
pub fn read(page: &RecipeText) -> Read {
    let mut page = page.clone();
    let mut faults: Vec<RecipeFault> = Vec::new();
    loop {
        let mut places: Vec<(Range<usize>, Option<usize>, Option<&str>)> = Vec::new();
        let mut text = String::new();
        if let Some(seed) = page.seed.as_ref().filter(|s| !s.trim().is_empty()) {
            text += "seed = ";
            let start = text.len();
            text += &toml_string(seed.trim());
            places.push((start..text.len(), None, Some("seed")));
            text += "\n";
        }
        for (i, step) in page.steps.iter().enumerate() {
            let start = text.len();
            text += &format!("[[filter]]\nname = {}\n", toml_string(&step.name));
            places.push((start..text.len(), Some(i), None));
            for (id, value) in &step.values {
                let line = text.len();
                text += &format!("{} = ", toml_string(id));
                let start = text.len();
                text += &toml_string(value);
                // The name of the setting itself may be wrong.
                places.push((line..text.len(), Some(i), Some(id)));
                places.push((start..text.len(), Some(i), Some(id)));
                text += "\n";
            }
        }
        let error = match Recipe::parse_toml(&text) {
            Ok(all) => {
                let on = on(&all, &page);
                faults.sort_by(|a, b| (a.step, &a.setting).cmp(&(b.step, &b.setting)));
                return Read { all, on, faults };
            }
            Err(error) => RecipeFault::from(error),
        };
        let at = error.span.clone().unwrap_or_default().start;
        let place = places.iter().rev().find(|(span, ..)| span.contains(&at) || span.end == at);
        let (span, step, setting) = match place {
            Some((span, step, setting)) => (span.clone(), *step, setting.map(str::to_owned)),
            None => (0..2, None, None),
        };
        // Within the quotes.
        let byte = |at: usize| at.saturating_sub(span.start + 1).min(span.len().saturating_sub(2));
        let inside = |e: &Range<usize>| byte(e.start)..byte(e.end);
        faults.push(RecipeFault {
            step,
            setting: setting.clone(),
            span: error.span.as_ref().map(inside),
            line: None,
            text: error.text,
        });
        match (step, setting) {
            (Some(i), Some(id)) => drop(page.steps[i].values.remove(&id)),
            (None, Some(_)) => page.seed = None,
            // The filter is unknown, or its faults cannot be separated.
            _ => return Read { faults, ..Read::default() },
        }
    }
}

/// The filters that are on.
fn on(all: &Recipe, page: &RecipeText) -> Recipe {
    let off = |i: usize| page.steps.get(i).is_some_and(|s| s.off);
    let mut on = all.clone();
    let before = |i: usize| (0..i).filter(|&j| !off(j)).count();
    on.links = all.links.iter().filter(|l| !off(l.step)).cloned().collect();
    on.links.iter_mut().for_each(|l| l.step = before(l.step));
    let mut i = 0;
    on.steps.retain(|_| {
        i += 1;
        !off(i - 1)
    });
    on
}

/// The index among all filters of a filter that is on.
pub fn place(page: &RecipeText, on: usize) -> Option<usize> {
    page.steps.iter().enumerate().filter(|(_, s)| !s.off).nth(on).map(|(i, _)| i)
}

/// The filters as the page holds them.
pub fn write(recipe: &Recipe, off: &[bool]) -> RecipeText {
    let steps = recipe.steps.iter().enumerate().map(|(i, step)| {
        let mut values: BTreeMap<String, String> =
            step.iter_given().map(|(s, v)| (s.id.to_owned(), v.to_string())).collect();
        for link in recipe.links.iter().filter(|l| l.step == i) {
            values.insert(link.setting.id.into(), link.to_string());
        }
        StepText { name: step.filter.name.into(), off: off.get(i).copied().unwrap_or(false), values }
    });
    RecipeText { steps: steps.collect(), seed: recipe.seed.map(|s| s.to_string()), ..RecipeText::default() }
}

/// The effective values of all settings of a filter: given, from the preset or the default.
pub fn effective(recipe: &Recipe) -> Vec<BTreeMap<String, String>> {
    let steps = recipe.steps.iter().map(|step| {
        let values = [&step.values, &step.common];
        let effective = values.iter().flat_map(|values| {
            let all = values.settings().iter();
            all.filter_map(|s| Some((s.id.to_owned(), values.get(s.id)?.to_string())))
        });
        let mut all: BTreeMap<String, String> = effective.collect();
        if step.filter.name == "grain" {
            all.entry("points".into()).or_insert_with(|| response(&step.values));
        }
        all
    });
    steps.collect()
}

/// The TOML of a recipe; filters that are off are written as comments that the studio reads again.
pub fn to_toml(all: &Recipe, page: &RecipeText) -> String {
    let mut out = String::new();
    let mut header = 0;
    let mut off = false;
    for line in all.to_toml().lines() {
        if line == "[[filter]]" {
            off = page.steps.get(header).is_some_and(|s| s.off);
            header += 1;
        }
        if off && !line.is_empty() {
            out += OFF;
        }
        out += line;
        out += "\n";
    }
    out
}

/// A recipe's text with the filters that are off uncommented, and for each filter whether it is off.
pub fn uncommented(text: &str) -> (String, Vec<bool>) {
    let mut off = Vec::new();
    let mut plain = String::new();
    for line in text.split_inclusive('\n') {
        let (is_off, rest) = line.strip_prefix(OFF).map_or((false, line), |rest| (true, rest));
        if rest.trim_start().starts_with("[[filter]]") {
            off.push(is_off);
        }
        plain += rest;
    }
    (plain, off)
}

/// Reads the TOML of a recipe, or a chain.
///
/// # Errors
/// The text is no recipe.
pub fn parse(text: &str, is_chain: bool) -> Result<RecipeText, RecipeFault> {
    if is_chain {
        return Ok(write(&text.parse::<Recipe>()?, &[]));
    }
    let (plain, off) = uncommented(text);
    let recipe = Recipe::parse_toml(&plain)?;
    // Filters that are not written as headers are all on.
    let read = write(&recipe, if off.len() == recipe.steps.len() { &off } else { &[] });
    let cuts = by_clip(text, CUT, "10-29,50-54", |frames| frames.parse::<Ranges>().is_ok())?;
    let deinterlace = by_clip(text, DEINTERLACE, DEINTERLACERS[0], |graph| DEINTERLACERS.contains(&graph))?;
    Ok(RecipeText { cuts, deinterlace, ..read })
}

/// What the lines with a prefix say of clips.
fn by_clip(text: &str, prefix: &str, example: &str, valid: fn(&str) -> bool) -> Result<ByClip, RecipeFault> {
    let mut all = ByClip::new();
    for (i, line) in text.lines().enumerate() {
        let Some(rest) = line.strip_prefix(prefix) else { continue };
        let read = rest.parse::<toml::Table>().ok().and_then(|line| {
            let (clip, said) = line.into_iter().next()?;
            let said = said.as_str().filter(|text| valid(text))?.to_owned();
            Some((clip, said))
        });
        let (clip, said) = read.ok_or_else(|| RecipeFault {
            text: format!("'{rest}': expected a clip and a text, as \"clip.mp4\" = \"{example}\""),
            line: Some(i + 1),
            ..RecipeFault::default()
        })?;
        all.insert(clip, said);
    }
    Ok(all)
}

/// The text of a recipe with what another says of clips, in lines at its end that are comments elsewhere.
pub fn with_clips(text: &str, recipe: &RecipeText) -> String {
    let ours = |line: &&str| !line.starts_with(CUT) && !line.starts_with(DEINTERLACE);
    let mut out: String = text.split_inclusive('\n').filter(ours).collect();
    for (prefix, said) in [(CUT, &recipe.cuts), (DEINTERLACE, &recipe.deinterlace)] {
        for (clip, text) in said {
            out += &format!("{prefix}{} = {}\n", toml_string(clip), toml_string(text));
        }
    }
    out
}

/// Grain over brightness as the preset or the curve has it, as points to draw a line through.
fn response(values: &Values) -> String {
    let at = |i: u32| {
        let u = f64::from(i) / 32.0;
        format!("{u}={}", (grain::response(values, u) * 1000.0).round() / 1000.0)
    };
    (0..=32).map(at).collect::<Vec<_>>().join(";")
}

/// The description of a setting, by the names of its filter and of the setting.
///
/// # Errors
/// There is no such filter or setting.
pub fn setting(filter: &str, id: &str) -> Result<&'static Setting, RecipeFault> {
    let entry =
        catalog::find(filter).ok_or_else(|| RecipeFault::new(Problem::UnknownFilter(filter.into())))?;
    let mut all = entry.settings.iter().chain(&COMMON);
    all.find(|s| s.id == id)
        .ok_or_else(|| RecipeFault::new(Problem::UnknownSetting(filter.into(), id.into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str, off: bool, values: &[(&str, &str)]) -> StepText {
        let values = values.iter().map(|(id, v)| ((*id).to_owned(), (*v).to_owned())).collect();
        StepText { name: name.into(), off, values }
    }

    #[test]
    fn every_fault_is_reported_at_its_setting() {
        let page = RecipeText {
            steps: vec![
                step("noise", false, &[("strength", "0=0;9*=1"), ("seed", "18446744073709551615")]),
                step("grain", true, &[("size", "x"), ("nosuch", "1")]),
            ],
            seed: Some("-1".into()),
            ..RecipeText::default()
        };
        let read = read(&page);
        let faults_read: Vec<_> =
            read.faults.iter().map(|f| (f.step, f.setting.as_deref(), f.span.clone())).collect();
        // In the order of the filters. For the curve, only the unknown mark is reported.
        assert_eq!(faults_read.len(), 4);
        assert_eq!(faults_read[0], (None, Some("seed"), Some(0..2)));
        assert_eq!(faults_read[1], (Some(0), Some("strength"), Some(5..6)));
        assert_eq!((faults_read[2].0, faults_read[2].1), (Some(1), Some("nosuch")));
        assert_eq!(faults_read[3], (Some(1), Some("size"), Some(0..1)));
        assert_eq!((read.all.steps.len(), read.on.steps.len()), (2, 1));
        assert_eq!(read.on.steps[0].values.seed(), Some(u64::MAX));
    }

    #[test]
    fn toml_contains_filters_that_are_off_and_reads_back() {
        let page = RecipeText {
            steps: vec![
                step("noise", false, &[("strength", "0=0;48~=12"), ("seed", "18446744073709551615")]),
                step("grain", true, &[("preset", "35mm"), ("opacity", "0.5"), ("enable", "1-9,20-")]),
                step("fade", false, &[("color", "#ff8000"), ("planes", "y")]),
            ],
            seed: Some("18446744073709551615".into()),
            cuts: ByClip::from([("a \"b\".mp4".into(), "10-29,50-54".into())]),
            deinterlace: ByClip::from([("tape.avi".into(), "bwdif=mode=send_field".into())]),
        };
        let read = read(&page);
        assert_eq!(read.faults, []);
        let toml = Checked::new(page.clone(), &read).toml;
        assert_eq!(parse(&toml, false), Ok(page));
        // Other readers see only filters that are on.
        let seen = Recipe::parse_toml(&toml).unwrap();
        assert_eq!(seen, read.on);
        assert_eq!(seen.steps.len(), 2);
    }

    #[test]
    fn chains_and_toml_are_read_and_their_faults_have_places() {
        let chain = parse("recipe=seed=7,noise=strength=6", true).unwrap();
        assert_eq!((chain.seed.as_deref(), chain.steps[0].values["strength"].as_str()), (Some("7"), "6"));
        let fault = parse("[[filter]]\nname = \"noize\"\n", false).unwrap_err();
        assert_eq!((fault.line, fault.span), (Some(2), Some(18..25)));
        // It is not run as another of FFmpeg's filters, which may read files.
        let fault = parse("seed = 1\n#deinterlace \"a.avi\" = \"movie=b.avi\"\n", false).unwrap_err();
        assert_eq!(fault.line, Some(2));
    }
}
