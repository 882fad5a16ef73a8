//! Pictures of single agents: the mesh of a body in the poses that it takes while the shutter is open, lit, and drawn.

use super::bat;
use super::bird::{FALCON, GULL, STARLING};
use super::figure::{Figure, palette};
use super::fish;
use super::light::Light;
use super::mesh::{Mesh, Sheet, blend};
use super::moth;
use super::raster::{Corner, REACH, Strip, strip_rows};
use super::vector::{V, cross, mul, sub, unit};
use super::view::{AgentPose, Area, View};
use crate::particle::draw::Picture;

/// The largest number of poses, and of those that are built; the others are interpolated.
const POSES: usize = 48;
const BUILT: usize = 7;

/// Buffers for drawing.
#[derive(Default)]
pub(super) struct RenderBuffers {
    mesh: Mesh,
    /// Positions of vertices in luma samples of the picture, and their distance, of all built poses.
    built: Vec<V>,
    /// Positions in points of one pose.
    placed: Vec<Corner>,
    /// Colours of the upper and lower sides.
    colours: Vec<[V; 2]>,
    strip: Strip,
    rows: [Vec<[f32; 4]>; 2],
}

/// The largest area of an agent with half a span of so many rows, in a picture of a size in samples whose rows are shown
/// `narrow` samples wide.
pub(super) fn largest_area(half: f64, size: [f64; 2], narrow: f64) -> f64 {
    let around = 2.0 * 1.9 * half + 2.0 * f64::from(MARGIN) + 0.25 * size[1];
    (around * narrow).min(size[0]).max(1.0) * around.min(size[1]).max(1.0)
}

/// Samples beyond the edges of the frame, which its last cells of chroma reach into.
const BESIDE: i32 = 4;
/// Samples around a body.
const MARGIN: f32 = (REACH + 1) as f32;

impl View<'_> {
    /// A position in rows of the frame as luma samples of the picture, which may be a field.
    fn sample(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let (step, first) = self.overlay.format.field_rows();
        let y = (f64::from(y) - first) / step + if step > 1.0 { 0.25 } else { 0.0 };
        [(f64::from(x) * self.overlay.narrow()) as f32, y as f32]
    }

    /// The area of an agent; `None` if it is outside of the frame.
    pub(super) fn area(&self, s: &AgentPose) -> Option<Area> {
        let [a, r, u] = s.here.axes;
        let reach = |i: usize| match s.figure {
            Figure::Herring => 1.15 * a[i].abs() + 0.50 * r[i].abs() + 0.5 * u[i].abs(),
            _ => 0.85 * a[i].abs() + 1.10 * (r[i] * r[i] + u[i] * u[i]).sqrt(),
        };
        let shown = self.overlay.picture_size();
        let low = self.sample([0, 1].map(|i: usize| s.here.at[i].min(s.then.at[i]) - reach(i)));
        let high = self.sample([0, 1].map(|i: usize| s.here.at[i].max(s.then.at[i]) + reach(i)));
        // `as` saturates and turns NaN into 0.
        let clip = |v: f32, i: usize| (v as i32).clamp(-BESIDE, shown[i] as i32 + BESIDE);
        let from = [0, 1].map(|i: usize| clip((low[i] - MARGIN).floor(), i));
        let to = [0, 1].map(|i: usize| clip((high[i] + MARGIN).ceil(), i));
        let visible = from[0] < to[0] && from[1] < to[1];
        visible.then(|| Area { from, size: [0, 1].map(|i: usize| (to[i] - from[i]) as usize) })
    }

    /// The picture of an agent in its area.
    pub(super) fn picture(&self, s: &AgentPose, area: &Area, buffers: &mut RenderBuffers) -> Picture {
        let poses = self.pose_count(s);
        self.build(s, poses, area, buffers);
        let RenderBuffers { mesh, built, placed, colours, strip, rows: [down, out] } = buffers;
        // Points per sample, across and down.
        let sub = match poses {
            1 => 4,
            2..4 => 3,
            _ => 2,
        };
        let mut picture = Picture::new(area.from, area.size[0]);
        let kernel = self.softness();
        let weight = 1.0 / (poses * sub * sub) as f32;
        let step = strip_rows(area.size[0], sub);
        for top in (0..area.size[1]).step_by(step) {
            let count = step.min(area.size[1] - top);
            strip.start([area.size[0], count + 2 * REACH], top as i32 - REACH as i32, sub);
            for pose in 0..poses {
                place(built, mesh.at.len(), [pose, poses], sub, placed);
                strip.pose(pose);
                for sheet in &mesh.sheets {
                    draw(sheet, placed, colours, strip);
                }
                strip.add();
            }
            for row in 0..count {
                strip.soft_row(row + REACH, weight, kernel, down, out);
                self.overlay.painter.add_row(&mut picture, out);
            }
        }
        picture
    }

    /// The number of poses while the shutter is open: one for each sample that the tips of wings or fins move.
    fn pose_count(&self, s: &AgentPose) -> usize {
        let [dx, dy] = [0, 1].map(|i: usize| s.then.at[i] - s.here.at[i]);
        let swing = if s.figure == Figure::Herring { 1.2 } else { 5.2 };
        let beat = swing * s.own.effort * self.beats * self.params.shutter * s.own.half;
        let moved = (dx * dx + dy * dy).sqrt() + beat;
        (moved.ceil() as usize).clamp(1, POSES)
    }

    /// Builds the mesh in some of the poses, and lights it in the middle one.
    fn build(&self, s: &AgentPose, poses: usize, area: &Area, buffers: &mut RenderBuffers) {
        let RenderBuffers { mesh, built, colours, .. } = buffers;
        let mut own = s.own;
        let count = match poses {
            1 => 1,
            2..8 if s.figure == Figure::Herring => 2,
            2..8 => 3,
            _ => BUILT,
        };
        built.clear();
        for k in 0..count {
            let t = if count > 1 { k as f32 / (count - 1) as f32 } else { 0.0 };
            own.phase = s.own.phase + self.beats * self.params.shutter * t;
            mesh.clear(k == 0);
            match s.figure {
                Figure::Starling | Figure::Gull if s.falcon => FALCON.build(mesh, &own),
                Figure::Starling => STARLING.build(mesh, &own),
                Figure::Gull => GULL.build(mesh, &own),
                Figure::Bat => bat::build(mesh, &own),
                Figure::Moth => moth::build(mesh, &own),
                Figure::Herring => fish::build(mesh, &own),
            }
            if k == count / 2 {
                self.light_up(mesh, s, &Light::new(self, s.figure, s.position), colours);
            }
            let middle = [0, 1].map(|i: usize| s.here.at[i] + (s.then.at[i] - s.here.at[i]) * t);
            built.extend(mesh.at.iter().map(|a| {
                let w = s.here.turned(*a);
                let [x, y] = self.sample([middle[0] + w[0], middle[1] + w[1]]);
                [x - area.from[0] as f32, y - area.from[1] as f32, w[2]]
            }));
        }
    }

    /// Weights of the samples beside the middle one: a Gaussian about as wide as that of a sharp lens.
    fn softness(&self) -> [f32; 2] {
        let sigma = (0.52 * self.overlay.size()[0] / 1920.0).clamp(0.44, 0.95);
        [1.0, 4.0].map(|d: f64| libm::exp(-d / (2.0 * sigma * sigma)) as f32)
    }

    /// The colours of all vertices.
    fn light_up(&self, mesh: &Mesh, s: &AgentPose, light: &Light, colours: &mut Vec<[V; 2]>) {
        colours.clear();
        let turned: Vec<V> = mesh.at.iter().map(|a| s.here.turned(*a)).collect();
        let most = palette(s.figure).iter().flatten().fold(0.0f64, |m, v| m.max(*v)) as f32;
        for sheet in &mesh.sheets {
            let [n, m] = sheet.n;
            let at = |i: usize, j: usize| turned[sheet.first + i * m + j];
            for i in 0..n {
                for j in 0..m {
                    let (i0, i1) = (i.saturating_sub(1), (i + 1).min(n - 1));
                    let (j0, j1) = if sheet.closed {
                        (if j == 0 { m - 2 } else { j - 1 }, if j + 1 == m { 1 } else { j + 1 })
                    } else {
                        (j.saturating_sub(1), (j + 1).min(m - 1))
                    };
                    let (du, dv) = (sub(at(i1, j), at(i0, j)), sub(at(i, j1), at(i, j0)));
                    let normal = unit(cross(du, dv), [0.0, 0.0, -1.0]);
                    let normal = if sheet.flip { mul(normal, -1.0) } else { normal };
                    let skin = &mesh.skin[sheet.first + i * m + j];
                    let under = mul(normal, -1.0);
                    colours.push([
                        light.shade(skin.over, skin, normal, most),
                        if sheet.closed { [0.0; 3] } else { light.shade(skin.under, skin, under, most) },
                    ]);
                }
            }
        }
    }
}

/// The position of a pose's points in a sample: each pose has its own, evenly spread.
fn jitter(pose: usize, poses: usize) -> [f32; 2] {
    if poses == 1 {
        return [0.5; 2];
    }
    let n = pose as f32;
    let [a, b] = [0.5 + n * 0.754_877_7, 0.5 + n * 0.569_840_3];
    [a - a.floor(), b - b.floor()]
}

/// The corners of a pose in points.
fn place(built: &[V], long: usize, [pose, poses]: [usize; 2], sub: usize, placed: &mut Vec<Corner>) {
    let [jx, jy] = jitter(pose, poses);
    let k = sub as f32;
    let point = |p: V| ([p[0] * k - jx, p[1] * k - jy, p[2]], [0.0; 3]);
    placed.clear();
    let count = built.len() / long.max(1);
    let t = if poses > 1 { pose as f32 / (poses - 1) as f32 } else { 0.0 } * (count - 1) as f32;
    let from = (t as usize).min(count.saturating_sub(2));
    let part = t - from as f32;
    let (a, b) = (&built[from * long..][..long], &built[(from + 1).min(count - 1) * long..][..long]);
    placed.extend(a.iter().zip(b).map(|(a, b)| point(blend(*a, *b, part))));
}

/// Draws the quads of a sheet.
fn draw(sheet: &Sheet, placed: &[Corner], colours: &[[V; 2]], strip: &mut Strip) {
    let [n, m] = sheet.n;
    for i in 0..n - 1 {
        for j in 0..m - 1 {
            let at = sheet.first + i * m + j;
            let four = [at, at + m, at + m + 1, at + 1];
            for three in [[0, 1, 2], [0, 2, 3]] {
                let ids = three.map(|k: usize| four[k]);
                let [a, b, c] = ids.map(|k| placed[k].0);
                // Towards the viewer: z is away from it.
                let turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
                let over = (turn < 0.0) != sheet.flip;
                if sheet.closed && !over {
                    continue;
                }
                let side = usize::from(!over);
                let corners = ids.map(|k| (placed[k].0, colours[k][side]));
                strip.triangle([&corners[0], &corners[1], &corners[2]], sheet.gaps);
            }
        }
    }
}
