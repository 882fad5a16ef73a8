//! The time that each filter adds to a frame.

use super::fault::Fault;
use grainfield_filters::recipe::Recipe;
use grainfield_render::session::{Cancel, Clip};
use std::time::{Duration, Instant};

/// The number of measured runs; the fastest counts, as other work of the machine slows the rest.
const RUNS: usize = 3;

/// Milliseconds of each filter: the time of the frame with the chain up to this filter, less the time without
/// this filter.
pub(super) fn measure(clip: &Clip, recipe: &Recipe, number: i64, cancel: &Cancel) -> Result<Vec<f64>, Fault> {
    let mut before = Duration::ZERO;
    let mut all = Vec::with_capacity(recipe.steps.len());
    for count in 0..=recipe.steps.len() {
        let mut part = recipe.clone();
        part.steps.truncate(count);
        part.links.retain(|link| link.step < count);
        // The first run decodes, binds and advances stateful filters; later runs of the same frame do not.
        clip.frame_cancellable(number, &part, cancel)?;
        let mut best = Duration::MAX;
        for _ in 0..RUNS {
            let begun = Instant::now();
            clip.frame_cancellable(number, &part, cancel)?;
            best = best.min(begun.elapsed());
        }
        if count > 0 {
            all.push((best.saturating_sub(before)).as_secs_f64() * 1000.0);
        }
        before = best;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_has_its_time() {
        let clip = grainfield_render::session::Clip::open("pattern:bars:size=320x240:frames=3").unwrap();
        let recipe = "noise,blur=sigma=40,invert".parse::<Recipe>().unwrap();
        let times = measure(&clip, &recipe, 1, &Cancel::new()).unwrap();
        assert_eq!(times.len(), 3);
        assert!(times.iter().all(|t| t.is_finite() && *t >= 0.0) && times.iter().sum::<f64>() > 0.0);
        assert_eq!(measure(&clip, &Recipe::default(), 1, &Cancel::new()).unwrap(), [0.0; 0]);
    }
}
