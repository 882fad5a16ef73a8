//! Shared parts of filters that draw splats over the picture.

use super::{Band, Memory, Plan, Render};
use crate::choices;
use crate::frame::{Format, FrameTime, Scratch};
use crate::host::{Host, PrepareError};
use crate::noise::seed::hash128;
use crate::particle::draw::{Bins, Blend, BlendSpace, Painter, Splat, SplatStyle};
use crate::settings::SettingError;
use crate::simd::Level;

/// A painter for a frame or one of its fields, used in the coordinates of the frame.
pub(super) struct Overlay {
    pub(super) painter: Painter,
    pub(super) format: Format,
    /// The largest number of splats of a frame.
    most: usize,
}

impl Overlay {
    pub(super) fn new(
        format: &Format,
        styles: Vec<SplatStyle>,
        most: usize,
        level: Level,
    ) -> Result<Overlay, SettingError> {
        Overlay::with_space(format, styles, BlendSpace::Gamma, most, level)
    }

    /// The same, with colours mixed in the given space.
    pub(super) fn with_space(
        format: &Format,
        styles: Vec<SplatStyle>,
        space: BlendSpace,
        most: usize,
        level: Level,
    ) -> Result<Overlay, SettingError> {
        let painter = Painter::new(format, styles, space, level).map_err(|e| SettingError::new("", e))?;
        Ok(Overlay { painter, format: *format, most })
    }

    /// Width and height of the frame in luma samples.
    pub(super) fn size(&self) -> [f64; 2] {
        [f64::from(self.format.width), f64::from(self.format.height)]
    }

    /// Width and height of the picture that is drawn, which may be a field, in luma samples.
    pub(super) fn picture_size(&self) -> [usize; 2] {
        let (w, h) = self.format.plane_size(0);
        [w, h]
    }

    /// Luma samples across in a displayed width of one row's height.
    pub(super) fn narrow(&self) -> f64 {
        1.0 / self.format.shape()
    }

    /// Luma rows per pixel of a picture 1080 rows high.
    pub(super) fn unit(&self) -> f64 {
        f64::from(self.format.height) / 1080.0
    }

    /// A splat from its position in samples, its half size in rows, and its angle (turns, clockwise) in the frame. In a
    /// field, which has half the rows, it is flattened along each of its own axes, and rotated like its longer one.
    pub(super) fn splat(&self, centre: [f64; 2], half: [f64; 2], turns: f64) -> Splat {
        let (step, first) = self.format.field_rows();
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

    /// The plan of a frame with splats: all planes, including alpha.
    pub(super) fn plan(&self, at: &FrameTime) -> Plan {
        let all = self.format.all_planes();
        let parts = [at.frame.num(), at.frame.den(), at.time.num(), at.time.den()];
        Plan { state: Some(hash128(parts.map(|p| p as u64))), ..Plan::in_place(all) }
    }

    pub(super) fn memory(&self) -> Memory {
        // The rows of a tile, their previous values, and those of a block.
        let tiles = 32 << 14;
        // The splats of one tile, which may be all of them: as they are found, in order, and their sort keys.
        let list = 5 * self.most.next_multiple_of(2) / 2 * size_of::<Splat>();
        let bytes = self.painter.memory(self.most) + list + tiles;
        Memory { fixed: 0, per_frame: bytes }
    }

    /// Sorts the splats of a frame.
    fn prepare(&self, mut bins: Bins, host: &Host<'_>, splats: &[Splat]) -> Result<Bins, PrepareError> {
        host.check()?;
        self.painter.bin(&splats[..splats.len().min(self.most)], &mut bins, host.executor);
        Ok(bins)
    }
}

/// A filter with few splats, which are computed anew for each frame.
pub(super) trait SplatFilter: Send + Sync + 'static {
    fn overlay(&self) -> &Overlay;

    /// Whether a frame has splats.
    fn shows(&self, at: &FrameTime) -> bool;

    /// The splats of a frame. An error comes from a file that is read while rendering.
    fn splats(&self, at: &FrameTime) -> Result<Vec<Splat>, PrepareError>;

    fn memory(&self) -> Memory {
        self.overlay().memory()
    }
}

impl<T: SplatFilter> Render for T {
    type Params = FrameTime;
    type State = Bins;

    fn at(&self, at: &FrameTime) -> Option<(Plan, FrameTime)> {
        self.shows(at).then(|| (self.overlay().plan(at), *at))
    }

    fn memory(&self) -> Memory {
        SplatFilter::memory(self)
    }

    fn prepare(&self, at: &FrameTime, near: Bins, host: &Host<'_>) -> Result<Bins, PrepareError> {
        self.overlay().prepare(near, host, &self.splats(at)?)
    }

    fn render(&self, _: &FrameTime, bins: &Bins, band: &mut Band<'_>, scratch: &mut Scratch) {
        self.overlay().painter.draw(bins, &mut band.output, band.writes, scratch);
    }
}

choices! {
    for Blend {
        /// covers the frame
        Over = "over",
        /// adds light
        Add = "add",
        /// adds light without exceeding white
        Screen = "screen",
        /// multiplies, which darkens the frame
        Multiply = "multiply",
    }
}

choices! {
    for BlendSpace {
        /// code values, as most programs do
        Gamma = "gamma",
        /// linear light, as light adds in a camera
        Linear = "linear",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::frame::{ColorRange, Depth, Family, Frame, Parity, PlaneSet};
    use crate::host::{CurrentThread, NoCache};
    use crate::particle::draw::{Shape, reference::coverage};
    use core::sync::atomic::AtomicBool;

    /// Compares a filter's splats on a uniform 8-bit grey frame with the definition in f64; coverage is the mean of
    /// 16 x 16 points per sample.
    pub(in crate::filter) fn is_as_defined(
        laid: &impl SplatFilter,
        shapes: &[Shape],
        at: &FrameTime,
        code: u8,
    ) {
        let format = laid.overlay().format;
        let (width, height) = (format.width as usize, format.height as usize);
        let mut frame = Frame::new(format);
        (0..height).for_each(|y| frame.row_mut::<u8>(0, y).fill(code));
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
        let bins = laid.prepare(at, Bins::default(), &host).unwrap();
        let mut band = Band { rows: 0..height, input: None, output: frame.as_mut(), writes: PlaneSet::ALL };
        laid.render(at, &bins, &mut band, &mut Scratch::default());

        let (black, span) = if format.range == ColorRange::Full { (0.0, 255.0) } else { (16.0, 219.0) };
        let mut want = vec![(f64::from(code) - black) / span; width * height];
        let splats = laid.splats(at).unwrap();
        assert!(!splats.is_empty());
        for s in &splats {
            let (cx, cy) = (f64::from(s.x) / 256.0, f64::from(s.y) / 256.0);
            let reach = f64::from(s.half[0] + s.half[1]) / 16.0 + 2.0;
            let rows = (cy - reach).max(0.0) as usize..((cy + reach).max(0.0) as usize).min(height);
            let columns = (cx - reach).max(0.0) as usize..((cx + reach).max(0.0) as usize).min(width);
            for (y, x) in rows.flat_map(|y| columns.clone().map(move |x| (y, x))) {
                let at = [x as f64 + 0.5 - cx, y as f64 + 0.5 - cy];
                let covered = coverage(&shapes[s.style as usize], s, at, [1.0; 2]);
                let a = covered * f64::from(s.opacity) / 65535.0;
                let p = &mut want[y * width + x];
                *p = *p * (1.0 - a) + a * f64::from(s.colour[0]) / 65535.0;
            }
        }
        let mut changed = 0;
        for (i, want) in want.iter().enumerate() {
            let (got, want) = (f64::from(frame.row::<u8>(0, i / width)[i % width]), black + span * want);
            assert!((got - want).abs() <= 1.0, "{} {}: {got}, not {want}", i % width, i / width);
            changed += usize::from((want - f64::from(code)).abs() > 4.0);
        }
        assert!(changed > 20, "only {changed} samples are changed");
    }

    #[test]
    fn both_fields_together_are_the_frame() {
        let frame = Format::new(64, 64, Family::Gray, Depth::Bits(8), (0, 0));
        let of = |format: Format| Overlay::new(&format, vec![], 1, Level::SCALAR).unwrap();
        let at = |format| of(format).splat([10.0, 20.5], [4.0, 2.0], 0.0);
        let whole = at(frame);
        assert_eq!((whole.x, whole.y, whole.half), (2560, 5248, [64, 32]));
        // The middle of row 20 is that of row 10 of the top field; row 21 is row 10 of the bottom field.
        let (top, bottom) = (at(frame.field(Parity::Top)), at(frame.field(Parity::Bottom)));
        assert_eq!((top.y, top.half), (2688, [64, 16]));
        assert_eq!(bottom.y, 2688 - 128);
        let turned = of(frame.field(Parity::Top)).splat([0.0, 0.0], [4.0, 2.0], 0.25);
        assert_eq!((turned.half, turned.angle), ([32, 32], 0x4000));
    }
}
