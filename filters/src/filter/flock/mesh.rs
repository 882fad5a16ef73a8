//! Surfaces of a body, cut into small quads: rings around a line for what is solid, sheets for wings and fins.

use super::vector::{V, add, cross, mul, sub, unit, wave};
use crate::math::smooth;
use crate::noise::seed::{GOLDEN, mix64};

/// Both sides of a body, -1 and 1: y is negative to its left.
pub(super) const SIDES: [f32; 2] = [-1.0, 1.0];

/// The look of a surface at a point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skin {
    /// Colour of the outer side or of the upper one.
    pub(super) over: V,
    /// Colour of the lower side of a sheet.
    pub(super) under: V,
    /// The strength of highlights.
    pub(super) gloss: f32,
    /// The fraction of light from behind that comes through.
    pub(super) sheer: f32,
}

impl Skin {
    pub(super) fn plain(colour: V) -> Skin {
        Skin { over: colour, under: colour, gloss: 0.0, sheer: 0.0 }
    }
}

/// A grid of vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sheet {
    pub(super) first: usize,
    /// Vertices along u and v.
    pub(super) n: [usize; 2],
    /// Whether the first and last vertices along v are the same, so that only the outer side is seen.
    pub(super) closed: bool,
    /// The upper side is that of the cross product of v and u instead of u and v.
    pub(super) flip: bool,
    /// The number of each sixteen points that are left out: a thin fin or a feather's edge.
    pub(super) gaps: u8,
}

impl Sheet {
    /// A sheet of `n` quads.
    pub(super) fn new(n: [usize; 2]) -> Sheet {
        Sheet { first: 0, n: n.map(|n| n + 1), closed: false, flip: false, gaps: 0 }
    }

    pub(super) fn flipped(self, flip: bool) -> Sheet {
        Sheet { flip, ..self }
    }

    pub(super) fn with_gaps(self, gaps: u8) -> Sheet {
        Sheet { gaps, ..self }
    }
}

/// The surfaces of a body in its own coordinates: x ahead, y to its right, z up.
#[derive(Clone, Debug, Default)]
pub(super) struct Mesh {
    pub(super) at: Vec<V>,
    pub(super) skin: Vec<Skin>,
    pub(super) sheets: Vec<Sheet>,
    /// Whether skins are computed, too. The pose of a body does not change them.
    pub(super) painted: bool,
}

impl Mesh {
    pub(super) fn clear(&mut self, painted: bool) {
        self.at.clear();
        self.sheets.clear();
        self.painted = painted;
        if painted {
            self.skin.clear();
        }
    }

    /// A sheet whose values that are constant along v are computed once for every u.
    pub(super) fn wing<C>(
        &mut self,
        sheet: Sheet,
        column: impl Fn(f32) -> C,
        at: impl Fn(&C, f32) -> V,
        skin: impl Fn(f32, f32) -> Skin,
    ) {
        let sheet = Sheet { first: self.at.len(), ..sheet };
        // Exactly 1 at the end.
        let last = sheet.n.map(|n| (n - 1) as f32);
        for i in 0..sheet.n[0] {
            let u = i as f32 / last[0];
            let column = column(u);
            for j in 0..sheet.n[1] {
                let v = j as f32 / last[1];
                self.at.push(at(&column, v));
                if self.painted {
                    self.skin.push(skin(u, v));
                }
            }
        }
        self.sheets.push(sheet);
    }

    /// A sheet; for u and v from 0 to 1, its places and skins.
    pub(super) fn sheet(
        &mut self,
        sheet: Sheet,
        at: impl Fn(f32, f32) -> V,
        skin: impl Fn(f32, f32) -> Skin,
    ) {
        self.wing(sheet, |u| u, |u, v| at(*u, v), skin);
    }

    /// Rings around a line from its front end to its rear one: `ring(u)` is the centre, half the width and half the height;
    /// `skin` gets u and the angle in turns, from above over the right side.
    pub(super) fn loft(
        &mut self,
        sheet: Sheet,
        ring: impl Fn(f32) -> (V, f32, f32),
        skin: impl Fn(f32, f32) -> Skin,
    ) {
        let at = |(c, wide, high): &(V, f32, f32), v: f32| {
            // The last is the first, to the bit.
            let v = if v >= 1.0 { 0.0 } else { v };
            [c[0], c[1] + wide * wave(v), c[2] + high * wave(v + 0.25)]
        };
        self.wing(Sheet { closed: true, ..sheet }, ring, at, skin);
    }

    /// A ball of one colour.
    pub(super) fn ball(&mut self, n: [usize; 2], [x, y, z]: V, r: f32, skin: Skin) {
        let ring = |u: f32| ([x + r * (1.0 - 2.0 * u), y, z], r * wave(0.5 * u), r * wave(0.5 * u));
        self.loft(Sheet::new(n), ring, |_, _| skin);
    }

    /// A tube of one colour from `a` to `b` with these radii.
    pub(super) fn tube(&mut self, sheet: Sheet, [a, b]: [V; 2], radii: [f32; 2], skin: Skin) {
        let along = unit(sub(b, a), [1.0, 0.0, 0.0]);
        let right = unit(cross(along, [0.0, 0.0, 1.0]), [0.0, 1.0, 0.0]);
        let up = cross(right, along);
        let at = |u: &f32, v: f32| {
            let (u, v) = (*u, if v >= 1.0 { 0.0 } else { v });
            let r = mix(radii[0], radii[1], u);
            let ring = add(mul(right, r * wave(v)), mul(up, r * wave(v + 0.25)));
            add(add(a, mul(sub(b, a), u)), ring)
        };
        self.wing(Sheet { closed: true, ..sheet }, |u| u, at, |_, _| skin);
    }
}

#[inline(always)]
pub(super) const fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

#[inline(always)]
pub(super) fn blend(a: V, b: V, t: f32) -> V {
    [mix(a[0], b[0], t), mix(a[1], b[1], t), mix(a[2], b[2], t)]
}

/// 1 at `at`, 0 from `wide` away on.
#[inline(always)]
pub(super) fn bump(at: f32, wide: f32, v: f32) -> f32 {
    smooth((1.0 - ((v - at) / wide).abs()).max(0.0))
}

/// Points of a curve: ascending x, and y.
pub(super) type Points = [&'static [f32]; 2];

/// A smooth curve through points of ascending x: cubics whose slopes are those between the neighbours.
pub(super) fn curve([xs, ys]: Points, x: f32) -> f32 {
    let last = xs.len() - 1;
    let i = xs[1..last].iter().take_while(|p| **p <= x).count();
    let at = |i: usize| [xs[i.min(last)], ys[i.min(last)]];
    let slope = |i: usize| {
        let (a, b) = (at(i.saturating_sub(1)), at(i + 1));
        (b[1] - a[1]) / (b[0] - a[0])
    };
    let (a, b) = (at(i), at(i + 1));
    let h = b[0] - a[0];
    let t = ((x - a[0]) / h).clamp(0.0, 1.0);
    let (m0, m1) = (slope(i) * h, slope(i + 1) * h);
    let (t2, t3) = (t * t, t * t * t);
    a[1] * (2.0 * t3 - 3.0 * t2 + 1.0)
        + m0 * (t3 - 2.0 * t2 + t)
        + b[1] * (3.0 * t2 - 2.0 * t3)
        + m1 * (t3 - t2)
}

/// A factor that closes the ends of rings from u = 0 to u = 1.
pub(super) fn ends(u: f32) -> f32 {
    if u <= 0.0 || u >= 1.0 { 0.08 } else { 1.0 }
}

/// The radius of rings along a curve that is closed at both ends.
pub(super) fn profile(points: Points, u: f32) -> f32 {
    curve(points, u) * ends(u)
}

/// The fraction of a number.
#[inline(always)]
pub(super) fn fract(v: f32) -> f32 {
    v - v.floor()
}

/// A random number from 0 to 1 for a place of a grid.
#[inline(always)]
pub(super) fn speckle(x: i32, y: i32, seed: u64) -> f32 {
    let key = (x as u32 as u64) << 32 | y as u32 as u64;
    (mix64(key ^ seed.wrapping_mul(GOLDEN)) >> 40) as f32 / (1 << 24) as f32
}

/// Smooth noise from 0 to 1.
pub(super) fn noise(x: f32, y: f32, seed: u64) -> f32 {
    let (i, j) = (x.floor(), y.floor());
    let (u, v) = (smooth(x - i), smooth(y - j));
    let (i, j) = (i as i32, j as i32);
    let row = |j: i32| mix(speckle(i, j, seed), speckle(i.wrapping_add(1), j, seed), u);
    mix(row(j), row(j.wrapping_add(1)), v)
}

/// An animal in a pose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Individual {
    /// Numbers from 0 to 1.
    pub(super) traits: [f32; 4],
    pub(super) seed: u64,
    /// Half a span in samples.
    pub(super) half: f32,
    /// The phase (turns) and the amplitude of its beat.
    pub(super) phase: f32,
    pub(super) effort: f32,
}

impl Individual {
    pub(super) fn new(seed: u64, id: u64, half: f32) -> Individual {
        let bits = mix64(seed ^ id.wrapping_mul(0xa24b_aed4_963e_e407));
        let traits = [0, 16, 32, 48].map(|s| ((bits >> s) & 0xffff) as f32 / 65536.0);
        Individual { traits, seed: bits, half, phase: 0.0, effort: 1.0 }
    }

    /// A sheet whose number of quads along u and v follows from its length, between two limits.
    pub(super) fn cuts(&self, sizes: [(f32, usize, usize); 2]) -> Sheet {
        Sheet::new(sizes.map(|(long, least, most)| ((self.half * long * 0.42) as usize).clamp(least, most)))
    }

    /// A number that depends on a trait: `around`, plus or minus the fraction `part`.
    pub(super) fn vary(&self, which: usize, around: f32, part: f32) -> f32 {
        around * (1.0 + part * (2.0 * self.traits[which] - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_pass_through_their_points() {
        let points: Points = [&[0.0, 0.2, 0.7, 1.0], &[1.0, 3.0, -1.0, 0.5]];
        for (x, y) in points[0].iter().zip(points[1]) {
            assert!((curve(points, *x) - y).abs() < 1e-6);
        }
        assert_eq!((curve(points, -1.0), curve(points, 2.0)), (1.0, 0.5));
        assert_eq!(curve([&[0.0, 1.0], &[1.0, 2.0]], 0.5), 1.5);
    }
}
