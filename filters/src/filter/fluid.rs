//! `fluid`: a liquid over the picture that breaks, falls, spouts and rains, and through which the picture is seen bent.
//!
//! The liquid is smoothed particle hydrodynamics in a box with the frame's shape ([`Flat`]): it must be stepped, so
//! frame n is so many steps of one length after the source's first frame, whatever range is rendered. Every
//! [`JUMP`] frames the state goes to the store that the host lends, and any frame is at most that many away from a
//! stored one. It never sees the moving picture; what obstructs it is an image, or one frame of the source.
//!
//! | module | what it holds |
//! |---|---|
//! | `settings` | what can be set |
//! | `scene` | what there is at the start, what comes in, and the constants |
//! | `state` | a state as bytes, and what it is known by |
//! | `surface` | from parcels to a surface over a grid |
//! | `paint`, `film` | from the surface to samples, and over rows and planes |

mod film;
mod paint;
mod scene;
mod settings;
mod state;
mod surface;
#[cfg(test)]
mod tests;

use super::effect::{key, weights};
use super::{Band, Entry, Filter, Memory, Plan, Reach, Spec, State};
use crate::frame::{Alpha, Family, Format, Frame, Moment, PlaneSet, Scratch};
use crate::lend::{Host, Stop};
use crate::particle::fluid::{EVERY, Flat};
use crate::pixel::convert::Coefficients;
use crate::ratio::Ratio;
use crate::settings::{Animated, Picture, SettingError, Values};
use crate::simd::Level;
use film::Film;
use paint::{FARTHEST, Look};
use scene::{Mask, Scene, Wish};
use settings::SETTINGS;
use std::collections::VecDeque;
use std::sync::Arc;
use surface::{Place, Shape, Surface};

/// The catalog's entry.
pub const ENTRY: Entry = Entry {
    name: "fluid",
    label: "Fluid",
    help: "A liquid over the picture: a dam break, a fountain, rain that fills the frame",
    settings: SETTINGS,
    build,
};

/// Frames from one stored state to the next.
pub const JUMP: u64 = 24;
/// The most parcels that may be asked for.
pub const MOST: i64 = 200_000;
/// The last frame: beyond it nobody waits for what comes.
const LAST: u64 = 1 << 24;
/// Frames whose parcels are kept for workers that come late, and for going backwards.
const RECENT: usize = JUMP as usize + 1;

fn fault(setting: &'static str, problem: impl ToString) -> SettingError {
    SettingError { setting, problem: problem.to_string() }
}

#[derive(Clone)]
struct FluidSpec {
    kind: scene::Kind,
    count: usize,
    gravity: f64,
    viscosity: f64,
    tension: f64,
    start: f64,
    shape: Option<Picture>,
    obstacle: Option<(&'static str, Picture)>,
    dark: bool,
    threshold: f64,
    tint: Animated<[f64; 4]>,
    depth: Animated,
    refraction: Animated,
    shine: Animated,
    smoothness: f64,
    ripples: f64,
    draft: bool,
    seed: Option<u64>,
}

fn build(values: &Values) -> Result<Box<dyn Spec>, SettingError> {
    let constant = |id: &'static str| {
        values.number(id).constant().ok_or_else(|| {
            fault(
                id,
                "stays the same over the clip, for every frame follows from those before: it takes no curve",
            )
        })
    };
    let kind = match values.choice("scene") {
        "drop" => scene::Kind::Drop,
        "fountain" => scene::Kind::Fountain,
        "pour" => scene::Kind::Pour,
        "rain" => scene::Kind::Rain,
        "shape" => scene::Kind::Shape,
        _ => scene::Kind::Dam,
    };
    let shape = values.image("shape").cloned();
    match (kind, &shape) {
        (scene::Kind::Shape, None) => {
            return Err(fault("shape", "scene=shape needs an image: shape=FILE.png"));
        }
        (scene::Kind::Shape, _) | (_, None) => {}
        (_, Some(_)) => {
            return Err(fault("shape", "is for scene=shape; what obstructs the liquid is `obstacle`"));
        }
    }
    let obstacle = match (values.image("obstacle"), values.image("obstacle_frame")) {
        (Some(_), Some(_)) => {
            return Err(fault("obstacle_frame", "stands for `obstacle`: give one of the two"));
        }
        (Some(image), None) => Some(("obstacle", image.clone())),
        (None, Some(frame)) => Some(("obstacle_frame", frame.clone())),
        (None, None) => None,
    };
    Ok(Box::new(FluidSpec {
        kind,
        count: values.whole("particles") as usize,
        gravity: constant("gravity")?,
        viscosity: constant("viscosity")?,
        tension: constant("tension")?,
        start: constant("start")?,
        shape,
        obstacle,
        dark: values.choice("solid") == "dark",
        threshold: constant("threshold")?,
        tint: values.colour("tint"),
        depth: values.number("depth"),
        refraction: values.number("refraction"),
        shine: values.number("shine"),
        smoothness: constant("smoothness")?,
        ripples: constant("ripples")?,
        draft: values.switch("draft"),
        seed: values.seed("seed"),
    }))
}

/// Which samples of a picture are on the wanted side of the threshold: 1 or 0.
fn mask(frame: &Frame, threshold: f64, dark: bool) -> Result<Mask, String> {
    let format = frame.format();
    if format.family == Family::Yuv {
        return Err("a mask is grey or R, G and B, not Y, U and V: save it as PNG".into());
    }
    let (w, h) = format.plane_size(0);
    let at = |p: usize, x: usize, y: usize| frame.value(p, x, y);
    let limit = threshold as f32;
    let mut light = Vec::with_capacity(w * h);
    for y in 0..h {
        for x in 0..w {
            let luma = if format.family == Family::Gray {
                at(0, x, y)
            } else {
                0.7152 * at(0, x, y) + 0.0722 * at(1, x, y) + 0.2126 * at(2, x, y)
            };
            let alpha = format.alpha_plane().map_or(1.0, |p| at(p, x, y));
            let luma = if format.alpha == Alpha::Straight { luma * alpha } else { luma };
            let bright = luma > limit;
            light.push(f32::from(u8::from(bright != dark)));
        }
    }
    Ok(Mask { size: [w, h], light })
}

impl Spec for FluidSpec {
    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let read = |setting: &'static str, picture: &Picture, dark: bool| {
            let Some(frame) = picture.frame() else {
                return Err(fault(setting, format!("{} has not been read", picture.name())));
            };
            mask(frame, self.threshold, dark).map_err(|e| fault(setting, e))
        };
        let shape = match &self.shape {
            Some(picture) => {
                let mask = read("shape", picture, false)?;
                let all = mask.light.iter().filter(|v| **v > 0.0).count();
                if all * 1000 < mask.light.len() {
                    return Err(fault(
                        "shape",
                        "almost nothing in it is brighter than `threshold`: lower it",
                    ));
                }
                Some(mask)
            }
            None => None,
        };
        let solid = match &self.obstacle {
            Some((setting, picture)) => Some(read(setting, picture, self.dark)?),
            None => None,
        };
        let sample = input.shape();
        let aspect = f64::from(input.width) * sample / f64::from(input.height);
        if !(1.0 / 16.0..=16.0).contains(&aspect) {
            return Err(fault(
                "",
                "the frame is more than sixteen times as long one way as the other: crop it",
            ));
        }
        let rate = if input.rate > Ratio::ZERO { input.rate } else { Ratio::whole(24) };
        let scene = Scene::new(Wish {
            kind: self.kind,
            count: self.count,
            gravity: self.gravity,
            viscosity: self.viscosity,
            tension: self.tension,
            seed: self.seed.unwrap_or(seed),
            aspect,
            frame: 1.0 / rate.to_f64(),
            shape,
            solid,
        });
        let surface = Shape {
            aspect: aspect as f32,
            spacing: scene.set.spacing,
            smoothness: self.smoothness as f32,
            ripples: self.ripples as f32,
            row: 1.0 / input.height as f32,
            draft: self.draft,
        };
        let ahead = libm::floor(self.start * rate.to_f64() + 0.5) as u64 * scene.steps;
        let key = state::key(&scene.words());
        // Some pictures have no colours.
        let weights = weights(input)?;
        Ok(Box::new(Fluid {
            set: self.clone(),
            format: *input,
            level,
            rate,
            sample: sample as f32,
            scene,
            surface,
            ahead,
            key,
            weights,
        }))
    }
}

struct Fluid {
    set: FluidSpec,
    format: Format,
    level: Level,
    rate: Ratio,
    /// Sample aspect ratio.
    sample: f32,
    scene: Scene,
    surface: Shape,
    /// Steps before the source's first frame.
    ahead: u64,
    /// Of the scene's states.
    key: u128,
    weights: Coefficients,
}

/// Where parcels are, in frame heights from the frame's corner.
type Places = Arc<Vec<Place>>;

/// What is moved on from frame to frame.
struct Line {
    key: u128,
    flat: Flat,
    /// Places after so many steps, of the latest frames.
    recent: VecDeque<(u64, Places)>,
}

impl Fluid {
    /// Steps before the frame is shown, whole and settled.
    fn steps(&self, at: &Moment) -> u64 {
        let (t, r) = (at.time, self.rate);
        let over = i128::from(t.num()).checked_mul(i128::from(r.num()));
        let over = over.and_then(|v| v.checked_mul(i128::from(self.scene.steps))).unwrap_or(0);
        let under = i128::from(t.den()) * i128::from(r.den());
        let steps = u64::try_from(over.div_euclid(under.max(1)).max(0)).unwrap_or(u64::MAX / 4);
        (steps / EVERY * EVERY).min(u64::MAX / 4) + self.ahead
    }

    fn places(&self, flat: &Flat) -> Places {
        let [left, top] = self.scene.origin();
        Arc::new(flat.places().map(|(id, [x, y])| Place { at: [x - left, y - top], id }).collect())
    }

    fn look(&self, at: &Moment) -> Look {
        let alpha = self.set.tint.at(at)[3];
        Look {
            tint: paint::layer(self.set.depth.at(at) * alpha),
            bend: if self.set.draft { 0.0 } else { (0.035 * self.set.refraction.at(at)) as f32 },
            shine: self.set.shine.at(at) as f32,
        }
    }

    /// The latest stored state after `after` steps and up to `to`.
    fn stored(&self, after: Option<u64>, to: u64, host: &Host<'_>) -> Result<Option<Flat>, Stop> {
        let every = JUMP * self.scene.steps;
        let mut steps = to / every * every;
        while steps > 0 && after.is_none_or(|a| steps > a) {
            host.check()?;
            if let Some(bytes) = host.store.get(state::at(self.key, steps))
                && let Some(parcels) = state::load(&bytes, steps, self.scene.most())
                && let Ok(flat) = self.scene.restore(&parcels, steps, self.level)
            {
                return Ok(Some(flat));
            }
            steps -= every;
        }
        Ok(None)
    }
}

impl Filter for Fluid {
    fn output(&self) -> &Format {
        &self.format
    }

    fn plan(&self, at: &Moment) -> Plan {
        let all = PlaneSet(((1u16 << self.format.planes()) - 1) as u8);
        let state = key(&[self.steps(at) as f64]);
        let rows = f64::from(FARTHEST) * f64::from(self.format.height) + 2.0;
        Plan { reach: Reach::Rows(rows as u32), state: Some(state), ..Plan::in_place(all) }
    }

    fn memory(&self) -> Memory {
        let parcels = self.scene.most();
        let cells = (self.scene.set.size[0] * self.scene.set.size[1])
            / (self.scene.set.radius * self.scene.set.radius);
        // A parcel in the packed array, by place, as it is saved, and in the latest frames.
        let each = 64 + 48 + 40 + size_of::<Place>() * RECENT;
        let row = self.format.width as usize * 6 * 4;
        Memory {
            fixed: parcels * each + cells as usize * 64 + (1 << 20),
            per_frame: parcels * size_of::<Place>() + self.surface.bytes() + row + (1 << 16),
        }
    }

    fn stepped(&self) -> bool {
        true
    }

    fn step(&self, at: &Moment, line: &mut Option<State>, host: &Host<'_>) -> Result<State, Stop> {
        let target = self.steps(at);
        if target - self.ahead > LAST * self.scene.steps {
            let text =
                format!("fluid is stepped from the first frame on, and goes no further than {LAST} frames");
            return Err(Stop::Failed(text));
        }
        let failed = |e: crate::particle::fluid::FluidError| Stop::Failed(e.to_string());
        let kept = line.take().and_then(|l| l.downcast::<Line>().ok()).filter(|l| l.key == self.key);
        if let Some(kept) = kept {
            if let Some((_, places)) = kept.recent.iter().find(|(steps, _)| *steps == target) {
                let places = places.clone();
                *line = Some(kept);
                return Ok(Box::new(places));
            }
            *line = Some(kept);
        }
        // Whatever happens from here on, what stands in `line` is a state, if there is one.
        let now = line.as_ref().and_then(|l| l.downcast_ref::<Line>()).map(|l| l.flat.steps());
        let usable = now.filter(|n| *n <= target);
        let flat = match self.stored(usable, target, host)? {
            Some(flat) => Some(flat),
            None if usable.is_some() => None,
            None => Some(self.scene.start(self.level).map_err(failed)?),
        };
        let mut kept = match line.take().and_then(|l| l.downcast::<Line>().ok()) {
            Some(mut kept) => {
                if let Some(flat) = flat {
                    kept.flat = flat;
                }
                kept
            }
            None => {
                let Some(flat) = flat else { return Err(Stop::Failed("no state to start from".into())) };
                Box::new(Line { key: self.key, flat, recent: VecDeque::new() })
            }
        };
        let done = self.go(&mut kept, target, host);
        let places = kept.recent.back().map(|(_, places)| places.clone());
        // What has failed half way is no state.
        if !matches!(done, Err(Stop::Failed(_))) {
            *line = Some(kept);
        }
        done?;
        Ok(Box::new(places.unwrap_or_default()))
    }

    fn prepare(&self, _: &Moment, near: Option<State>, host: &Host<'_>) -> Result<State, Stop> {
        host.check()?;
        let places = near.and_then(|s| s.downcast::<Places>().ok()).unwrap_or_default();
        Ok(Box::new(self.surface.surface(self.level, &places)))
    }

    fn render(&self, at: &Moment, state: Option<&State>, band: &mut Band<'_>, scratch: &mut Scratch) {
        let Some(surface) = state.and_then(|s| s.downcast_ref::<Surface>()) else { return };
        let film = Film {
            format: &self.format,
            level: self.level,
            look: self.look(at),
            tint: self.set.tint.at(at),
            weights: self.weights,
            sample: self.sample,
        };
        match self.format.depth.bytes() {
            1 => film.lay::<u8>(surface, band, scratch),
            2 => film.lay::<u16>(surface, band, scratch),
            _ => film.lay::<f32>(surface, band, scratch),
        }
    }
}

impl Fluid {
    /// Steps on to `target`; the latest of what is kept is then that.
    fn go(&self, line: &mut Line, target: u64, host: &Host<'_>) -> Result<(), Stop> {
        let frame = self.scene.steps;
        // From one frame to the next nobody waits long.
        let long = target.saturating_sub(line.flat.steps()) > frame;
        loop {
            let steps = line.flat.steps();
            if long && steps.is_multiple_of(frame) {
                host.store.stepping(steps / frame, target.div_ceil(frame));
            }
            if steps.is_multiple_of(self.scene.steps) || steps == target {
                if steps > 0 && steps.is_multiple_of(JUMP * self.scene.steps) {
                    let bytes = state::save(&line.flat.parcels(), steps);
                    host.store.put(state::at(self.key, steps), &bytes);
                }
                line.recent.retain(|(n, _)| *n != steps);
                while line.recent.len() >= RECENT {
                    line.recent.pop_front();
                }
                line.recent.push_back((steps, self.places(&line.flat)));
            }
            if steps >= target {
                return Ok(());
            }
            host.check()?;
            let moved = self.scene.go_on(&mut line.flat, host.spread);
            moved.map_err(|e| Stop::Failed(e.to_string()))?;
        }
    }
}
