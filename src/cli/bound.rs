//! `filters NAME=SETTINGS`: the memory that a filter needs with these settings, and the effect that they draw.

use grainfield_filters::chain::Step;
use grainfield_filters::filter::{Memory, particles};
use grainfield_filters::frame::{Depth, Family, Format};
use grainfield_filters::recipe::effect;
use grainfield_filters::recipe::{Recipe, RecipeError};
use grainfield_filters::settings::SettingError;
use grainfield_filters::simd::Level;
use grainfield_io::disk::FileRef;
use grainfield_render::session::job::{self, JobError};
use serde_json::json;
use std::fmt::Write;

/// An error in the filter or its settings.
#[derive(Debug, thiserror::Error)]
pub(super) enum BoundError {
    #[error("{0}")]
    Chain(#[from] RecipeError),
    #[error("give one filter, not {0}")]
    One(usize),
    #[error(transparent)]
    Files(#[from] JobError),
    #[error("{0}: {1}")]
    Settings(&'static str, #[source] SettingError),
    #[error("--effect applies to 'particles' only, not to '{0}'")]
    NoEffect(&'static str),
}

impl BoundError {
    /// Whether asking differently would help.
    pub(super) fn is_usage(&self) -> bool {
        if let BoundError::Files(e) = self { e.is_usage() } else { true }
    }
}

/// A filter with its settings, with the files that they name already read.
pub(super) fn step(text: &str) -> Result<Step, BoundError> {
    let mut recipe = text.parse::<Recipe>()?;
    let mut access = job::files_in_recipe(&recipe);
    access.write("the report", FileRef::Stdout);
    access.check().map_err(JobError::from)?;
    grainfield_render::assets::attach(&mut recipe).map_err(JobError::from)?;
    job::load_files(&mut recipe)?;
    let count = recipe.steps.len();
    match recipe.steps.pop() {
        Some(step) if count == 1 => Ok(step),
        _ => Err(BoundError::One(count)),
    }
}

/// The format that the figures refer to.
fn picture() -> Format {
    Format::new(1920, 1080, Family::Yuv, Depth::Bits(8), (1, 1))
}

fn bound(step: &Step) -> Result<(Memory, Option<i64>), BoundError> {
    let fault = |e| BoundError::Settings(step.filter.name, e);
    let spec = (step.filter.build)(&step.values).map_err(fault)?;
    let memory = spec.bind(&picture(), 0, Level::best()).map_err(fault)?.memory();
    let alive = match step.filter.name {
        "particles" => Some(particles::max_alive(&step.values, &picture()).map_err(fault)?),
        _ => None,
    };
    Ok((memory, alive))
}

/// The bound, for people.
pub(super) fn text(step: &Step) -> Result<String, BoundError> {
    let (memory, alive) = bound(step)?;
    let mut out = format!("{} with these settings, at 1920x1080 in yuv420p:\n", step.filter.name);
    if let Some(alive) = alive {
        let _ = writeln!(
            out,
            "  particles  at most {alive} at a time ({} is the limit)",
            particles::MAX_PARTICLES
        );
    }
    let _ = writeln!(
        out,
        "  memory     at most {:.1} MB per frame in progress, plus {:.1} MB in total",
        memory.per_frame as f64 / 1e6,
        memory.fixed as f64 / 1e6
    );
    Ok(out)
}

/// The same as JSON.
pub(super) fn json(step: &Step) -> Result<String, BoundError> {
    let (memory, alive) = bound(step)?;
    let mut object = json!({
        "name": step.filter.name,
        "width": 1920,
        "height": 1080,
        "bytes_per_frame": memory.per_frame,
        "bytes_once": memory.fixed,
    });
    if let Some(alive) = alive {
        object["most_alive"] = json!(alive);
        object["limit"] = json!(particles::MAX_PARTICLES);
    }
    Ok(format!("{object:#}\n"))
}

/// The effect that the settings draw, as an effect file.
pub(super) fn effect(step: &Step, typed: &str) -> Result<String, BoundError> {
    if step.filter.name != "particles" {
        return Err(BoundError::NoEffect(step.filter.name));
    }
    let drawn = particles::effect(&step.values).map_err(|e| BoundError::Settings(step.filter.name, e))?;
    let tame = |c: char| if c.is_control() { ' ' } else { c };
    let typed: String = typed.chars().map(tame).collect();
    Ok(format!("# {typed}; draw it with particles=effect=FILE\n{}", effect::print_explained(&drawn)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_settings_are_printed_or_refused() {
        let of = |t: &str| step(t).and_then(|s| text(&s));
        let said = of("particles=preset=snow").unwrap();
        assert!(said.contains("at most 12") && said.contains("4000000 is the limit"), "{said}");
        let value: serde_json::Value =
            serde_json::from_str(&json(&step("particles=snow:amount=2").unwrap()).unwrap()).unwrap();
        assert!(
            value["most_alive"].as_i64() > Some(16_000)
                && value["bytes_per_frame"].as_i64() > Some(1_000_000)
        );
        assert!(of("noise").unwrap().contains("memory"));
        let many = of("particles=amount=1000").unwrap_err();
        assert!(many.is_usage() && std::error::Error::source(&many).unwrap().to_string().contains("at most"));
        assert!(matches!(of("noise,noise"), Err(BoundError::One(2))));
        assert!(matches!(of("particles=effect=/no/such.toml"), Err(BoundError::Files(e)) if !e.is_usage()));
    }

    #[test]
    fn a_preset_is_written_as_an_effect() {
        let said = |t: &str| effect(&step(t).unwrap(), t);
        let toml = said("particles=preset=embers:colour=red").unwrap();
        assert!(
            toml.starts_with("# particles=preset=embers:colour=red;") && toml.contains("#ff0000"),
            "{toml}"
        );
        effect::parse(&toml).unwrap();
        assert!(matches!(said("noise"), Err(BoundError::NoEffect("noise"))));
    }
}
