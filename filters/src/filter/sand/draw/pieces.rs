//! Flat pieces with a direction: paper, leaves, ash, coins.
//!
//! Lengths are in radii of a piece, along its length (p) and its breadth (q), and light is relative to the colour of the
//! grain. The numbers were chosen by eye, by comparison with photographs.

use super::sand::inside;
use super::{GrainPoint, LARGER, Material, Scratch, Style, Tile, Window, direction, hash, unit};
use crate::math::smoothstep;

/// Drawn size of a piece relative to the grain, so that pieces overlap.
const SIZE: f32 = 1.3;

/// What differs between the materials, apart from the outlines.
struct Look {
    /// The smallest share of the breadth that is seen, of coins the part by which it may be less than 1.
    tilt: f32,
    /// Brightness: its base, its change towards the light, and its random part.
    shade: [f32; 3],
    /// Half the length and breadth of the shadow, and its depth.
    shadow: [f32; 3],
}

const fn look(material: Material) -> Look {
    match material {
        Material::Confetti => Look { tilt: 0.10, shade: [0.88, 0.26, 0.08], shadow: [1.05, 0.95, 0.55] },
        Material::Leaves => Look { tilt: 0.55, shade: [0.82, 0.14, 0.30], shadow: [1.35, 0.6, 0.55] },
        Material::Ash => Look { tilt: 0.7, shade: [0.45, 0.16, 0.5], shadow: [0.8, 0.8, 0.30] },
        _ => Look { tilt: 0.34, shade: [0.92, 0.22, 0.10], shadow: [1.05, 0.95, 0.55] },
    }
}

/// The fraction of flakes of ash that are charred, and their brightness.
const CHARRED: f32 = 0.1;
const CHARRED_SHADE: [f32; 3] = [0.5, 0.1, 0.0];

/// A piece as it is drawn: straight colour and the shape's frame.
pub(super) struct Piece {
    material: Material,
    x: f32,
    y: f32,
    radius: f32,
    rgb: [f32; 3],
    axis: [f32; 2],
    /// Share of the breadth that is seen, negative for the back.
    tilt: f32,
    light: [f32; 2],
    /// Inverse length and breadth of the shadow, and its depth.
    shadow: [f32; 3],
    /// Two random numbers.
    random: [f32; 2],
    /// Direction of a coin's star and of a flake's waves, and the phases of these.
    turn: [f32; 2],
    waves: [f32; 3],
}

/// The effect of a piece on a sample: straight colour and coverage.
pub(super) struct Touch {
    pub(super) rgb: [f32; 3],
    pub(super) cover: f32,
}

impl Piece {
    #[inline(always)]
    pub(super) fn new(style: &Style, grain: &GrainPoint) -> Self {
        let h = hash(grain.id);
        let axis = direction(grain.angle);
        let lean = 2.0 * unit(h, 0) - 1.0;
        let look = look(style.material);
        let tilt = match style.material {
            // Most coins lie nearly flat.
            Material::Coins => 1.0 - look.tilt * lean * lean,
            _ if lean < 0.0 => lean.min(-look.tilt),
            _ => lean.max(look.tilt),
        };
        // A turned piece shows the light on the side that faces it.
        let facing = (axis[0] * style.light[1] - axis[1] * style.light[0]) * lean;
        let charred = style.material == Material::Ash && unit(h, 8) < CHARRED;
        let [base, toward, random] = if charred { CHARRED_SHADE } else { look.shade };
        let shade = base + toward * facing + random * unit(h, 8);
        let breadth = 0.45 + 0.55 * tilt.abs();
        let [long, broad, depth] = look.shadow;
        let g = hash(h);
        let turn = direction(unit(g, 0));
        let waves = [8, 16, 24].map(|shift| unit(g, shift));
        // Few flakes of ash are large, and many are crumbs.
        let size = if style.material == Material::Ash { 0.45 + 0.75 * waves[2] * waves[2] } else { 1.0 };
        Self {
            material: style.material,
            x: grain.x,
            y: grain.y,
            radius: SIZE * size * grain.radius.min(LARGER * style.radius).max(0.1),
            rgb: grain.rgb.map(|c| c * shade),
            axis,
            tilt,
            light: style.light,
            shadow: [1.0 / long, 1.0 / (broad * breadth), depth],
            random: [unit(h, 16), unit(h, 24)],
            turn,
            waves,
        }
    }

    #[inline(always)]
    pub(super) fn reach(&self) -> f32 {
        1.7 * self.radius + 1.5
    }

    /// The effect at a position relative to the centre.
    #[inline(always)]
    pub(super) fn touch(&self, dx: f32, dy: f32) -> Touch {
        let (p, q) = self.place(dx, dy);
        let (inside, factor, addend) = match self.material {
            Material::Confetti => self.paper(p, q),
            Material::Leaves => self.leaf(p, q),
            Material::Ash => self.flake(p, q),
            _ => self.coin(p, q),
        };
        let cover = (inside * self.radius + 0.5).clamp(0.0, 1.0);
        Touch { rgb: self.rgb.map(|c| (c * factor + addend).clamp(0.0, 1.0)), cover }
    }

    /// A place in the piece's frame, in radii.
    #[inline(always)]
    fn place(&self, dx: f32, dy: f32) -> (f32, f32) {
        let [ax, ay] = self.axis;
        let inverse = 1.0 / self.radius;
        ((dx * ax + dy * ay) * inverse, (dy * ax - dx * ay) * inverse)
    }

    /// Shadow on a place: it falls away from the light and is softer than the piece.
    #[inline(always)]
    pub(super) fn shadow(&self, dx: f32, dy: f32) -> f32 {
        let far = 0.24 * self.radius;
        let (p, q) = self.place(dx + far * self.light[0], dy + far * self.light[1]);
        let (p, q) = (p * self.shadow[0], q * self.shadow[1]);
        self.shadow[2] * smoothstep(0.0, 1.0, 1.45 - (p * p + q * q).sqrt())
    }

    /// Distance to the edge, positive inside; factor and addend of the colour.
    #[inline(always)]
    fn paper(&self, p: f32, q: f32) -> (f32, f32, f32) {
        let (a, b) = (1.05, 0.72 * self.tilt.abs());
        let inside = (a - p.abs()).min(b - q.abs());
        // Paper is bent: its brightness runs along it.
        let bend = (self.random[0] - 0.5) * p * 0.45;
        let back = if self.tilt < 0.0 { 0.06 } else { 0.0 };
        (inside, 1.0 + bend - back, back + 0.05 * bend.max(0.0))
    }

    #[inline(always)]
    fn leaf(&self, p: f32, q: f32) -> (f32, f32, f32) {
        let length = 1.4;
        let t = p / length;
        // The midrib bends; the blade is broadest nearer to the stem.
        let q = q - (self.random[0] - 0.5) * 0.5 * (t * t - 0.3);
        let taper = (1.0 - t * t).max(0.0);
        let half = 0.95 * self.tilt.abs() * taper * (1.0 - 0.28 * t);
        let blade = (half - q.abs()).min(length - p.abs());
        let stem = (0.06 - q.abs()).min(p + 1.6).min(-p - 1.1);
        let veins = p * 5.0 - q.abs() * 4.0;
        let veins = (veins - veins.floor() - 0.5).abs();
        let vein = 0.10 * smoothstep(0.36, 0.5, veins) * smoothstep(0.0, 0.2, taper);
        let rib = smoothstep(0.13, 0.04, q.abs());
        let facing = self.light[1] * self.axis[0] - self.light[0] * self.axis[1];
        let fold = 0.17 * facing * (q * 8.0).clamp(-1.0, 1.0);
        let rim = 0.25 * smoothstep(0.16, 0.0, blade);
        let spots = p * 1.7 + q * 2.3 + self.random[1];
        let spots = 0.24 * ((spots - spots.floor() - 0.5).abs() - 0.25);
        (blade.max(stem), 1.0 + fold - vein - rim + spots - 0.22 * rib, 0.10 * rib)
    }

    #[inline(always)]
    fn flake(&self, p: f32, q: f32) -> (f32, f32, f32) {
        // Waves in three directions, by which no two flakes are alike.
        let ([tx, ty], [a, b, d]) = (self.turn, self.waves);
        let (u, v) = (p * tx + q * ty, q * tx - p * ty);
        let wave = |t: f32| {
            let t = (t - t.floor() - 0.5).abs() * 4.0 - 1.0;
            t * (1.5 - 0.5 * t * t)
        };
        let waves = [wave(0.62 * u + 0.2 * v + a), wave(0.66 * v - 0.3 * u + b), wave(1.3 * v + 0.9 * u + d)];
        let edge = 0.13 * waves[0] + 0.10 * waves[1] + 0.12 * waves[2];
        let inside = 0.9 + edge - (p * p + (1.6 + 2.4 * a) * q * q).sqrt();
        // Layers peel off: darker and lighter greys, and a thin pale edge, which is frayed and so soft.
        let rim = smoothstep(0.4, 0.0, inside);
        (0.5 * inside, 0.96 + 0.11 * waves[0] + 0.05 * waves[1], 0.06 * rim)
    }

    #[inline(always)]
    fn coin(&self, p: f32, q: f32) -> (f32, f32, f32) {
        let breadth = self.tilt;
        // Places on the face, and how far they are out.
        let v = q / breadth;
        let r = (p * p + v * v).sqrt();
        let out = 1.0 / r.max(1e-3);
        // Distances across the short axis shrink with it.
        let squash = breadth + (1.0 - breadth) * (p * out) * (p * out);
        let inside = (1.0 - r) * squash;
        let [ax, ay] = self.axis;
        let (gx, gy) = (p * ax - v * ay, p * ay + v * ax);
        let side = gx * self.light[0] + gy * self.light[1];
        // Outward slopes are bright towards the light, inward ones away from it.
        let toward = side * out;
        let ring = |far: f32, width: f32| (1.0 - (r - far).abs() / width).max(0.0);
        let [tx, ty] = self.turn;
        let c = (p * tx + v * ty) * out;
        let c5 = c * (5.0 + c * c * (16.0 * c * c - 20.0));
        let star = 0.40 + 0.13 * c5;
        let relief = ring(0.96, 0.09) - 0.9 * ring(0.78, 0.08) + 0.8 * ring(star, 0.10);
        // Metal mirrors the sky in a band across the face.
        let across = gx * self.light[1] - gy * self.light[0] + 1.2 * (self.random[0] - 0.5);
        let band = smoothstep(0.55, 0.0, (across + 0.3 * side).abs());
        let raised = smoothstep(0.80, 0.86, r) + smoothstep(star + 0.03, star - 0.05, r);
        let factor = 0.74 + 0.16 * side + 0.20 * band + 0.14 * raised + 0.55 * relief * toward;
        let addend = 0.16 * band * band + 0.30 * (relief * toward).max(0.0);
        // The rim is thick on the side away from the eye, and milled.
        let low = q + 0.17;
        let edge = (1.0 - (p * p + low * low / (breadth * breadth)).sqrt()) * squash;
        let mill = 7.0 * p;
        let mill = 0.42 + 0.22 * p + 0.35 * (mill - mill.floor() - 0.5).abs();
        let face = (inside * self.radius + 0.5).clamp(0.0, 1.0);
        (inside.max(edge), mill + face * (factor - mill), face * addend)
    }
}

#[inline(always)]
pub(super) fn draw(
    style: &Style,
    tile: &Tile,
    grains: &[GrainPoint],
    out: &mut [[f32; 4]],
    scratch: &mut Scratch,
) {
    let Scratch { field, gain, .. } = scratch;
    field.prepare(style, tile, 0.0, grains);
    field.map(inside);
    gain.clear();
    gain.resize(out.len(), 0.0);
    for y in 0..tile.height {
        let start = y * tile.width;
        field.row(tile, y, |x, f| {
            out[start + x] = [f[0], f[1], f[2], f[3]];
            gain[start + x] = f[4];
        });
    }
    for grain in grains {
        if tile.sees(grain, style.near()) {
            let piece = &Piece::new(style, grain);
            match style.material {
                Material::Confetti => blend_piece(tile, piece, |p, q| piece.paper(p, q), out),
                Material::Leaves => blend_piece(tile, piece, |p, q| piece.leaf(p, q), out),
                Material::Ash => blend_piece(tile, piece, |p, q| piece.flake(p, q), out),
                _ => blend_piece(tile, piece, |p, q| piece.coin(p, q), out),
            }
        }
    }
    for (sample, gain) in out.iter_mut().zip(gain) {
        for k in 0..3 {
            sample[k] = (sample[k] * *gain).min(sample[3]);
        }
    }
}

/// Samples of a row that are computed together.
const LANES: usize = 8;

/// The part of a shadow that falls on the plate, which may be far behind.
const ON_PLATE: f32 = 0.3;

/// Blends a piece and its shadow onto the samples.
#[inline(always)]
fn blend_piece(
    tile: &Tile,
    piece: &Piece,
    shape: impl Fn(f32, f32) -> (f32, f32, f32),
    out: &mut [[f32; 4]],
) {
    let [r, g, b] = piece.rgb;
    let Window { x0, x1, y0, y1 } = Window::around(tile, piece.x, piece.y, piece.reach());
    let mut keep = [0.0f32; LANES];
    let mut dim = [0.0f32; LANES];
    let mut plate = [0.0f32; LANES];
    let mut factors = [0.0f32; LANES];
    let mut addends = [0.0f32; LANES];
    for y in y0..y1 {
        let dy = (tile.y + y) as f32 + 0.5 - piece.y;
        for x in (x0..x1).step_by(LANES) {
            let left = (tile.x + x) as f32 + 0.5 - piece.x;
            for k in 0..LANES {
                let (p, q) = piece.place(left + k as f32, dy);
                let (inside, factor, addend) = shape(p, q);
                let cover = (inside * piece.radius + 0.5).clamp(0.0, 1.0);
                let shadow = piece.shadow(left + k as f32, dy);
                keep[k] = 1.0 - cover;
                dim[k] = (1.0 - cover) * (1.0 - shadow);
                plate[k] = (1.0 - cover) * (1.0 - ON_PLATE * shadow);
                factors[k] = factor;
                addends[k] = addend;
            }
            let row = &mut out[y * tile.width..][x..(x + LANES).min(x1)];
            for (k, sample) in row.iter_mut().enumerate() {
                let cover = 1.0 - keep[k];
                let colour = [r, g, b].map(|c| (c * factors[k] + addends[k]).clamp(0.0, 1.0));
                for k2 in 0..3 {
                    sample[k2] = sample[k2] * dim[k] + colour[k2] * cover;
                }
                sample[3] = 1.0 - (1.0 - sample[3]) * plate[k];
            }
        }
    }
}
