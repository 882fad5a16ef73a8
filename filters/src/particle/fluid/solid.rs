//! Obstacles of a fluid: the distance from their surface, over a grid.

/// Signed distances from the surface of something solid, above zero outside it, and which way is out.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedDistanceField {
    /// Nodes across and down.
    size: [usize; 2],
    /// Where node 0 is.
    origin: [f32; 2],
    /// Nodes in a length.
    per: f32,
    distance: Vec<f32>,
}

/// Squares of distances to the nearest node that is set, along one line (P. Felzenszwalb, D. Huttenlocher, *Distance
/// transforms of sampled functions*, 2012): the lower envelope of the parabolas that stand on `f`.
fn line(f: &[f64], out: &mut [f64], feet: &mut [usize], ends: &mut [f64]) {
    let n = f.len();
    let meet = |q: usize, p: usize| {
        let (a, b) = (q as f64, p as f64);
        ((f[q] + a * a) - (f[p] + b * b)) / (2.0 * a - 2.0 * b)
    };
    let mut k = 0;
    (feet[0], ends[0], ends[1]) = (0, f64::NEG_INFINITY, f64::INFINITY);
    for q in 1..n {
        let mut s = meet(q, feet[k]);
        while s <= ends[k] && k > 0 {
            k -= 1;
            s = meet(q, feet[k]);
        }
        k += 1;
        (feet[k], ends[k], ends[k + 1]) = (q, s, f64::INFINITY);
    }
    k = 0;
    for (q, out) in out.iter_mut().enumerate() {
        while ends[k + 1] < q as f64 {
            k += 1;
        }
        let d = q as f64 - feet[k] as f64;
        *out = d * d + f[feet[k]];
    }
}

/// Farther than any two nodes.
const FAR: f64 = 1e12;

fn squares(size: [usize; 2], set: impl Fn(usize) -> bool) -> Vec<f64> {
    let [w, h] = size;
    let mut grid: Vec<f64> = (0..w * h).map(|i| if set(i) { 0.0 } else { FAR }).collect();
    let most = w.max(h);
    let (mut feet, mut ends) = (vec![0; most], vec![0.0; most + 1]);
    let (mut from, mut to) = (vec![0.0; most], vec![0.0; most]);
    for x in 0..w {
        for y in 0..h {
            from[y] = grid[y * w + x];
        }
        line(&from[..h], &mut to[..h], &mut feet, &mut ends);
        for y in 0..h {
            grid[y * w + x] = to[y];
        }
    }
    for row in grid.chunks_exact_mut(w) {
        from[..w].copy_from_slice(row);
        line(&from[..w], row, &mut feet, &mut ends);
    }
    grid
}

impl SignedDistanceField {
    /// The field of nodes that are solid (`true`) or not, `size` of them across and down, the first at `origin`, `per` of them in
    /// a length. `None` where nothing is solid.
    pub fn new(size: [usize; 2], origin: [f32; 2], per: f32, inside: &[bool]) -> Option<SignedDistanceField> {
        assert_eq!(inside.len(), size[0] * size[1]);
        if size[0] < 2 || size[1] < 2 || !inside.contains(&true) {
            return None;
        }
        let (out, within) = (squares(size, |i| inside[i]), squares(size, |i| !inside[i]));
        let step = 1.0 / f64::from(per);
        // The surface runs half way between two nodes.
        let edge = |d2: f64| (d2.sqrt() - 0.5).max(0.0);
        let raw: Vec<f32> = out
            .iter()
            .zip(&within)
            .map(|(o, i)| ((edge(*o) - edge(*i)) * step).clamp(-1e6, 1e6) as f32)
            .collect();
        let mut solid = SignedDistanceField { size, origin, per, distance: raw };
        for _ in 0..2 {
            solid.smooth();
        }
        Some(solid)
    }

    /// Takes off the steps of the nodes: 1 2 1 across and down.
    fn smooth(&mut self) {
        let [w, h] = self.size;
        let old = self.distance.clone();
        let at = |x: usize, y: usize| old[y * w + x];
        for y in 0..h {
            let (up, down) = (y.saturating_sub(1), (y + 1).min(h - 1));
            for x in 0..w {
                let (left, right) = (x.saturating_sub(1), (x + 1).min(w - 1));
                let row = |y: usize| at(left, y) + 2.0 * at(x, y) + at(right, y);
                self.distance[y * w + x] = (row(up) + 2.0 * row(y) + row(down)) * 0.0625;
            }
        }
    }

    /// The distance from the surface, below zero inside, and the direction away from it (of length 1, or 0 where there
    /// is none). Beyond the grid as at its border.
    #[inline]
    pub fn at(&self, x: f32, y: f32) -> (f32, [f32; 2]) {
        let [w, h] = self.size;
        let place = |v: f32, origin: f32, n: usize| ((v - origin) * self.per).max(0.0).min((n - 1) as f32);
        let (u, v) = (place(x, self.origin[0], w), place(y, self.origin[1], h));
        let (i, j) = ((u as usize).min(w - 2), (v as usize).min(h - 2));
        let (fx, fy) = (u - i as f32, v - j as f32);
        let n = j * w + i;
        let (a, b) = (self.distance[n], self.distance[n + 1]);
        let (c, d) = (self.distance[n + w], self.distance[n + w + 1]);
        let (top, low) = (a + (b - a) * fx, c + (d - c) * fx);
        let (gx, gy) = ((b - a) + ((d - c) - (b - a)) * fy, (c - a) + ((d - b) - (c - a)) * fx);
        let length = (gx * gx + gy * gy).sqrt();
        let way = if length > 0.0 { [gx / length, gy / length] } else { [0.0, 0.0] };
        (top + (low - top) * fy, way)
    }

    /// Bytes that stand for it, for keys.
    pub fn words(&self) -> impl Iterator<Item = u32> + '_ {
        let head = [self.size[0] as u32, self.size[1] as u32];
        let place = [self.origin[0], self.origin[1], self.per].map(f32::to_bits);
        head.into_iter().chain(place).chain(self.distance.iter().map(|d| d.to_bits()))
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.distance.len() * 4
    }
}
