//! `atmosphere`: smoke, steam, fog, mist, clouds and fire.
//!
//! The density of the air is computed on a coarse grid (about a quarter of a picture 1920 wide) from noise whose octaves
//! are moved by eddies, in closed form: any frame costs the same, whatever its number. See `density.rs`.
//!
//! **Air** has the optical depth `t` of its density times `amount`, so `e^-t` of the picture's light passes. It adds
//! `(1 - e^-t) L`, where `L` is the light that it reflects: that of the picture around it, blurred, and that of the picture's
//! brightest parts (`ambient.rs`), the latter from one side: the mean density at some distances towards the light, compared
//! with that at the place itself, tells the lit side from the shadowed one. So it is bright by day and dark by night.
//! In each channel the picture's values become `a + b v`, where `a` and `a + b` are what black and white become in linear
//! light (`b` is that of the brightest channel): a value between them is within a few codes, and the planes of any format
//! are changed as they are.
//!
//! **Flames** emit light of their own: with heat `h`, `R = 2.6 c^2`, `G = 1.1 c^3`, `B = 0.28 c^5` of `c = 1.25 h`, the
//! colours of glowing soot. It is added to R, G and B in linear light: `v` becomes `w + (1 - w) (1 - e^-E)`, never above
//! white, where `w = v e^-t` is what passes the soot, with `t = amount c^2 / (c + 0.15)`: faint tips are brown against a bright
//! picture. `E` is the emission and, of the picture around them and of the air before it, the light that they cast.
//!
//! Sources: Perlin and Neyret, "Flow noise", 2001; Neyret, "Advected textures", 2003; Bridson, Hourihan and Nordenstam,
//! "Curl-noise for procedural fluid flow", 2007.

mod composite;
mod density;
mod grid;
mod noise;
mod settings;

use self::composite::{Columns, Mixer};
use self::density::Air;
use self::grid::{Grid, State};
use self::settings::{AtmosphereSpec, Shape};
use super::ambient::Ambient;
use super::flicker::Phase;
use super::point;
use super::rgb::ThroughRgb;
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
use crate::frame::{Format, FrameTime, Scratch};
use crate::host::{Host, PrepareError};
use crate::noise::seed::hash128;
use crate::pixel::convert::Coefficients;
use crate::pixel::transfer::TransferFunction;
use crate::settings::SettingError;
use crate::simd::Level;

/// The catalog's entry.
pub const ENTRY: Entry = Entry::new::<AtmosphereSpec>(
    "atmosphere",
    "Atmosphere",
    "Smoke, steam, fog, mist, clouds and fire that drift, lit by the picture",
);

impl Spec for AtmosphereSpec {
    fn bind(&self, input: &Format, seed: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        Ok(self.bound(input, seed, level)?.boxed())
    }
}

impl AtmosphereSpec {
    fn bound(&self, input: &Format, seed: u64, level: Level) -> Result<Atmosphere, SettingError> {
        let grid = Grid::new(input);
        Ok(Atmosphere {
            format: *input,
            columns: [0, 1].map(|p| Columns::new(input, p, &grid)),
            travel: [&self.wind, &self.rise, &self.evolution].map(|speed| Phase::per_second(speed, input)),
            weights: point::weights(input)?,
            through: ThroughRgb::adding(input, level)?,
            set: self.clone(),
            grid,
            seed,
            level,
        })
    }
}

/// Luma rows that are looked at together for light: whole blocks of chroma.
const ROWS: usize = 8;

struct Atmosphere {
    format: Format,
    set: AtmosphereSpec,
    travel: [Phase; 3],
    grid: Grid,
    /// Of luma and of chroma.
    columns: [Columns; 2],
    weights: Coefficients,
    through: ThroughRgb,
    seed: u64,
    level: Level,
}

/// The parameters at a time.
struct Now {
    air: Air,
    /// The direction of the light, to the right and down, and the contrast of shadows.
    light: [f64; 2],
    shade: f64,
    amount: f32,
    /// By which light is multiplied: G, B, R.
    tint: [f32; 3],
}

impl Render for Atmosphere {
    type Params = Now;
    type State = State;

    fn at(&self, at: &FrameTime) -> Option<(Plan, Now)> {
        let set = &self.set;
        let amount = set.amount.at(at);
        let brightness = set.brightness.at(at);
        if amount <= 0.0 && (set.shape != Shape::Flames || brightness <= 0.0) {
            return None;
        }
        let [wind, rise] = [set.wind.at(at), set.rise.at(at)];
        let [right, up, change] = [0, 1, 2].map(|i| self.travel[i].at(at));
        let position = set.position.at(at);
        let [width, floor] = self.grid.extent;
        let air = Air {
            shape: set.shape,
            seed: self.seed,
            coverage: set.coverage.at(at),
            scale: set.scale.at(at),
            stretch: set.stretch.at(at),
            turbulence: set.turbulence.at(at),
            filaments: set.filaments.at(at),
            billows: set.billows.at(at),
            softness: set.softness.at(at),
            origin: [position[0] * width, position[1] * floor],
            width: set.width.at(at),
            height: set.height.at(at),
            floor,
            drift: [right, up],
            change,
            gusts: set.gusts.at(at),
            lean: (wind / (rise.abs() + 50.0)).clamp(-4.0, 4.0),
        };
        let angle = set.light.at(at).to_radians();
        let color = set.color.at(at);
        let now = Now {
            light: [libm::cos(angle), -libm::sin(angle)],
            shade: set.shade.at(at),
            amount: amount as f32,
            tint: [1, 2, 0].map(|c| (TransferFunction::Srgb.light(color[c]) * brightness) as f32),
            air,
        };
        let words = now.air.words().into_iter().chain([now.light[0], now.light[1], now.shade]);
        let state = Some(hash128(words.map(f64::to_bits)));
        let reach = if set.shape == Shape::Flames { Reach::Rows(self.through.reach()) } else { Reach::Whole };
        // Each band looks at the whole picture.
        let extra_rows = if reach == Reach::Whole { self.format.height / 32 } else { 0 };
        Some((Plan { reach, state, extra_rows, ..Plan::in_place(self.format.color_planes()) }, now))
    }

    fn memory(&self) -> Memory {
        let (len, rows) = self.grid.size;
        // Density and light; offsets and gains of a band; rows of the picture.
        let grids = 4 * (2 + 4) * (len + 16) * rows;
        let rows = 4 * 8 * (len + self.format.width as usize + 64);
        Memory { fixed: 0, per_frame: grids + rows + (256 << 10) + self.through.memory() }
    }

    fn prepare(&self, now: &Now, near: State, host: &Host<'_>) -> Result<State, PrepareError> {
        host.check()?;
        Ok(self.grid.state(self.level, &now.air, (now.light, now.shade), near, host.executor))
    }

    fn render(&self, now: &Now, state: &State, band: &mut Band<'_>, scratch: &mut Scratch) {
        if now.air.shape == Shape::Flames {
            return self.flames(now, state, band, scratch);
        }
        let ambient = Ambient::new(band.source(), &self.format, self.weights, self.level);
        let mixer = Mixer {
            format: &self.format,
            grid: &self.grid,
            columns: &self.columns,
            weights: self.weights,
            amount: now.amount,
            tint: now.tint,
            level: self.level,
        };
        mixer.render(state, &ambient, band, scratch);
    }
}

impl Atmosphere {
    fn flames(&self, now: &Now, state: &State, band: &mut Band<'_>, scratch: &mut Scratch) {
        let input = band.source();
        let (len, wide) = (self.grid.size.0, self.columns[0].room());
        let ([grid, heat, glow, value], scratch) =
            scratch.buffers_and_rest::<f32, 4>([len, wide, wide, self.format.width as usize]);
        let curve = TransferFunction::of(&self.format);
        let mut rest = band.output.reborrow();
        // Rows without light are copied.
        for start in band.rows.clone().step_by(ROWS) {
            let rows = start..(start + ROWS).min(band.rows.end);
            let (output, below) = rest.split_at_row(rows.end);
            rest = below;
            let near = self.through.around(&rows);
            let mut part = Band { rows, input: Some(input), output, writes: band.writes };
            if !self.grid.is_full(state, &self.format, &near) {
                part.copy_source();
                continue;
            }
            self.through.render(&mut part, scratch, |y, _, rows| {
                for (all, row) in [(&state.density, &mut *heat), (&state.light, &mut *glow)] {
                    self.grid.row(self.level, all, &self.format, (0, y), grid);
                    self.columns[0].widen(self.level, grid, row);
                }
                // R, G and B.
                let ramp = [(2.6, 2, 6.0), (1.1, 3, 2.2), (0.28, 5, 0.5)];
                // Only where there is light.
                let mut lit = heat.iter().zip(&*glow).map(|(heat, glow)| heat + glow > 0.0);
                let first = lit.position(|lit| lit).unwrap_or(wide);
                let end = lit.rposition(|lit| lit).map_or(first + 1, |x| first + x + 2).min(value.len());
                for ((row, ramp), tint) in rows.into_iter().zip(ramp).zip([2, 0, 1]) {
                    if first >= end {
                        row.fill(0.0);
                        continue;
                    }
                    row[..first].fill(0.0);
                    row[end..].fill(0.0);
                    let (row, value) = (&mut row[first..end], &mut value[first..end]);
                    let heat = [&heat[first..end], &glow[first..end]];
                    value.copy_from_slice(row);
                    curve.linearize(self.level, row);
                    let ramp = (ramp.0 * now.tint[tint], ramp.1, ramp.2 * now.tint[tint]);
                    composite::burn(self.level, row, heat, now.amount, ramp);
                    curve.encode(self.level, row);
                    composite::difference(self.level, row, value, heat);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests;
