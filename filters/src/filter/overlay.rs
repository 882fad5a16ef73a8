//! What filters that lay splats over the picture have in common.

use super::{Band, Filter, Memory, Plan, State};
use crate::frame::{Format, Moment, Parity, Picture, PlaneSet, Scratch};
use crate::lend::{Host, Stop};
use crate::noise::seed::{GOLDEN, mix64};
use crate::particle::draw::{Bins, Look, Painter, Splat};
use crate::settings::{Animated, Kind, Setting, SettingError, Unit, Value};
use crate::simd::Level;

/// A painter for a frame or one of its fields, asked in the frame's own coordinates.
pub(super) struct Overlay {
    pub(super) painter: Painter,
    pub(super) format: Format,
    /// The most splats that a frame may have.
    most: usize,
}

impl Overlay {
    pub(super) fn new(
        format: &Format,
        looks: Vec<Look>,
        most: usize,
        level: Level,
    ) -> Result<Overlay, SettingError> {
        let painter = Painter::new(format, looks, level)
            .map_err(|e| SettingError { setting: "", problem: e.to_string() })?;
        Ok(Overlay { painter, format: *format, most })
    }

    /// Width and height of the frame in luma samples.
    pub(super) fn size(&self) -> [f64; 2] {
        [f64::from(self.format.width), f64::from(self.format.height)]
    }

    /// Luma samples in a pixel of a picture 1080 rows high.
    pub(super) fn unit(&self) -> f64 {
        f64::from(self.format.height) / 1080.0
    }

    /// Luma rows of the frame from one row of this picture to the next, and the first.
    pub(super) fn rows(&self) -> (f64, f64) {
        match self.format.picture {
            Picture::Frame => (1.0, 0.0),
            Picture::Field(Parity::Top) => (2.0, 0.0),
            Picture::Field(Parity::Bottom) => (2.0, 1.0),
        }
    }

    /// A splat by its place, half size and angle (turns, clockwise) in the frame. In a field, which has half the rows,
    /// it is made as much flatter along each of its own axes, and turned as its longer one is.
    pub(super) fn splat(&self, centre: [f64; 2], half: [f64; 2], turns: f64) -> Splat {
        let (step, first) = self.rows();
        let y = (centre[1] - first) / step + if step > 1.0 { 0.25 } else { 0.0 };
        let turns = turns - turns.floor();
        if step == 1.0 || turns == 0.0 {
            let half = [half[0] as f32, (half[1] / step) as f32];
            return Splat::new([centre[0] as f32, y as f32], half).turned(turns as f32);
        }
        let (sin, cos) = libm::sincos(turns * core::f64::consts::TAU);
        let length = |x: f64, y: f64| (x * x + y * y / (step * step)).sqrt();
        let half = [half[0] * length(cos, sin), half[1] * length(sin, cos)];
        let turns = libm::atan2(sin / step, cos) / core::f64::consts::TAU;
        Splat::new([centre[0] as f32, y as f32], half.map(|v| v as f32)).turned(turns as f32)
    }

    /// The plan of a frame with something to draw: all planes, alpha too.
    pub(super) fn plan(&self, at: &Moment) -> Plan {
        let all = PlaneSet(((1u16 << self.format.planes()) - 1) as u8);
        let parts = [at.frame.num(), at.frame.den(), at.time.num(), at.time.den()];
        let hash = |seed: u64| parts.iter().fold(seed, |h, p| mix64(h ^ *p as u64).wrapping_add(GOLDEN));
        let key = u128::from(hash(1)) << 64 | u128::from(hash(2));
        Plan { state: Some(key), ..Plan::in_place(all) }
    }

    pub(super) fn memory(&self) -> Memory {
        let tiles = 5 << 14;
        // The splats of one tile, which may be all, as they are found, in order, and what they are ordered by.
        let list = 5 * self.most.next_multiple_of(2) / 2 * size_of::<Splat>();
        let bytes = self.painter.memory(self.most) + list + tiles;
        Memory { fixed: 0, per_frame: bytes }
    }

    /// Sorts the splats of a frame.
    pub(super) fn prepare(
        &self,
        near: Option<State>,
        host: &Host<'_>,
        splats: &[Splat],
    ) -> Result<State, Stop> {
        host.check()?;
        let mut bins = near.and_then(|s| s.downcast::<Bins>().ok()).unwrap_or_default();
        self.painter.bin(&splats[..splats.len().min(self.most)], &mut bins, host.spread);
        Ok(bins)
    }

    pub(super) fn render(&self, state: Option<&State>, band: &mut Band<'_>, scratch: &mut Scratch) {
        if let Some(bins) = state.and_then(|s| s.downcast_ref::<Bins>()) {
            self.painter.draw(bins, &mut band.output, band.writes, scratch);
        }
    }
}

/// A filter that is an overlay of few splats, made anew for each frame.
pub(super) trait Laid: Send + Sync {
    fn overlay(&self) -> &Overlay;

    /// Whether a frame has something to draw.
    fn shows(&self, at: &Moment) -> bool;

    /// What it has.
    fn splats(&self, at: &Moment) -> Vec<Splat>;
}

impl<T: Laid> Filter for T {
    fn output(&self) -> &Format {
        &self.overlay().format
    }

    fn plan(&self, at: &Moment) -> Plan {
        if self.shows(at) { self.overlay().plan(at) } else { Plan::IDLE }
    }

    fn memory(&self) -> Memory {
        self.overlay().memory()
    }

    fn prepare(&self, at: &Moment, near: Option<State>, host: &Host<'_>) -> Result<State, Stop> {
        self.overlay().prepare(near, host, &self.splats(at))
    }

    fn render(&self, _: &Moment, state: Option<&State>, band: &mut Band<'_>, scratch: &mut Scratch) {
        self.overlay().render(state, band, scratch);
    }
}

/// Random numbers of one thing, in the order they are asked for.
#[derive(Clone, Copy)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn of(seed: u64, thing: u64) -> Dice {
        Dice(mix64(seed ^ mix64(thing.wrapping_add(GOLDEN))))
    }

    /// 0 to below 1, a multiple of 2^-53.
    pub(super) fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        (mix64(self.0) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From `low` to below `high`.
    pub(super) fn from(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.roll()
    }
}

/// The lowest and highest value at any key.
pub(super) fn bounds(value: &Animated) -> (f64, f64) {
    match value {
        Animated::Constant(v) => (*v, *v),
        Animated::Curve(c) => {
            c.keys().iter().fold((f64::INFINITY, 0.0), |(low, high), k| (low.min(k.value), high.max(k.value)))
        }
    }
}

/// A setting that is a number and may move.
pub(super) const fn number(
    id: &'static str,
    label: &'static str,
    help: &'static str,
    (min, max): (f64, f64),
    unit: Unit,
    default: f64,
) -> Setting {
    let default = Some(Value::Number(Animated::Constant(default)));
    Setting { id, label, help, kind: Kind::Number { min, max }, unit, default }
}

/// The seed of a filter of its own.
pub(super) const SEED: Setting = Setting {
    id: "seed",
    label: "Seed",
    help: "Another number gives others. When absent it follows from the render's seed and this filter's place in the \
           chain.",
    kind: Kind::Seed,
    unit: Unit::None,
    default: None,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Depth, Family};

    #[test]
    fn both_fields_together_are_the_frame() {
        let frame = Format::new(64, 64, Family::Gray, Depth::Bits(8), (0, 0));
        let of = |format: Format| Overlay::new(&format, vec![], 1, Level::SCALAR).unwrap();
        let at = |format| of(format).splat([10.0, 20.5], [4.0, 2.0], 0.0);
        let whole = at(frame);
        assert_eq!((whole.x, whole.y, whole.half), (2560, 5248, [64, 32]));
        // The middle of row 20 is that of row 10 of the upper field; row 21 is 10 of the lower.
        let (top, bottom) = (at(frame.field(Parity::Top)), at(frame.field(Parity::Bottom)));
        assert_eq!((top.y, top.half), (2688, [64, 16]));
        assert_eq!(bottom.y, 2688 - 128);
        let turned = of(frame.field(Parity::Top)).splat([0.0, 0.0], [4.0, 2.0], 0.25);
        assert_eq!((turned.half, turned.angle), ([32, 32], 0x4000));
    }
}
