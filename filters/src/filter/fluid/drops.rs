//! Isolated parcels: each is drawn as a few droplets of different sizes, and each droplet as the streak that it leaves
//! while the frame is exposed.

use crate::noise::seed::mix64;

/// A parcel: its position, its path during the exposure, its distance from the obstacle, and its number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ParcelPoint {
    pub(super) at: [f32; 2],
    pub(super) motion: [f32; 2],
    pub(super) room: f32,
    pub(super) id: u32,
}

/// The number of droplets of an isolated parcel.
pub(super) const DROPLETS: usize = 4;
/// The radii of the first droplet and of the others, in spacings: the smallest, and how much larger the largest is.
const SIZES: [[f32; 2]; 2] = [[0.12, 0.45], [0.06, 0.22]];
/// The fine drops of a parcel, and how far from it they are at most, in spacings.
pub(super) const SPRAY: usize = 3;
const FLIES: f32 = 10.0;
/// The largest radius, in frame heights.
const LARGEST: f32 = 0.011;
/// The distance of the others from the parcel, at most, in spacings.
const AWAY: [f32; 2] = [2.6, 5.0];

/// A droplet, in frame heights from the frame's corner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Droplet {
    pub(super) at: [f32; 2],
    /// Half of its path during the exposure.
    pub(super) reach: [f32; 2],
    pub(super) radius: f32,
}

/// The droplets of a frame, from the top down.
#[derive(Clone, Debug, Default)]
pub(super) struct Droplets {
    all: Vec<Droplet>,
    /// The height of the highest streak.
    tallest: f32,
}

impl Droplet {
    /// The first and the last height.
    fn rows(&self) -> [f32; 2] {
        let half = self.reach[1].abs() + self.radius;
        [self.at[1] - half, self.at[1] + half]
    }

    /// The droplets of a parcel. Most are fine; `part` is how isolated it is, 0 to 1.
    pub(super) fn of(place: &ParcelPoint, spacing: f32, part: f32) -> [Droplet; DROPLETS] {
        core::array::from_fn(|k| {
            let hash = mix64(u64::from(place.id) * DROPLETS as u64 + k as u64 + (1 << 40));
            let [size, x, y, speed] = [0, 16, 32, 48].map(|b| (hash >> b & 0xffff) as f32 / 65536.0);
            let [least, more] = SIZES[k.min(1)];
            let radius = spacing * (least + more * (size * size * size)) * part.sqrt();
            // None is inside the obstacle.
            let room = place.room / (AWAY[0] + AWAY[1]);
            let away = if room < spacing { room.max(0.0) } else { spacing };
            let away = if k == 0 { 0.0 } else { 2.0 * away };
            let speed = if k == 0 { 0.5 } else { 0.35 + 0.3 * speed };
            Droplet {
                at: [place.at[0] + away * AWAY[0] * (x - 0.5), place.at[1] + away * AWAY[1] * (y - 0.5)],
                reach: place.motion.map(|v| v * speed),
                radius: if radius < LARGEST { radius } else { LARGEST },
            }
        })
    }

    /// The spray of a parcel at the surface: fine drops that fly off from it.
    pub(super) fn spray(place: &ParcelPoint, spacing: f32, wild: f32) -> [Droplet; SPRAY] {
        core::array::from_fn(|k| {
            let hash = mix64(u64::from(place.id) * SPRAY as u64 + k as u64 + (1 << 42));
            let [size, x, y, speed] = [0, 16, 32, 48].map(|b| (hash >> b & 0xffff) as f32 / 65536.0);
            let away = spacing * wild * FLIES * (0.2 + speed);
            let radius = spacing * wild * (0.04 + 0.12 * (size * size * size));
            let speed = 0.35 + 0.3 * speed;
            let [u, v] = place.motion.map(|v| v * speed);
            // They spread as they fly.
            let [x, y] = [x - 0.5, y - 0.65];
            Droplet {
                at: [place.at[0] + away * x, place.at[1] + away * y],
                reach: [u + 0.5 * x * v.abs(), v + 0.5 * y * u.abs()],
                radius,
            }
        })
    }
}

impl Droplets {
    /// Sorts them by all that they are, so that their order is no matter.
    pub(super) fn new(mut all: Vec<Droplet>) -> Droplets {
        let rest = |d: &Droplet| [d.at[0], d.at[1], d.reach[0], d.reach[1], d.radius].map(f32::to_bits);
        all.sort_unstable_by(|a, b| a.rows()[0].total_cmp(&b.rows()[0]).then_with(|| rest(a).cmp(&rest(b))));
        let tallest = all.iter().map(|d| d.rows()[1] - d.rows()[0]).fold(0.0, f32::max);
        Droplets { all, tallest }
    }

    /// Those that may touch a height, with a margin for small ones.
    pub(super) fn near(&self, y: f32, margin: f32) -> impl Iterator<Item = &Droplet> {
        let first = self.all.partition_point(|d| d.rows()[0] < y - self.tallest - margin);
        let rest = &self.all[first..];
        let some = &rest[..rest.partition_point(|d| d.rows()[0] <= y + margin)];
        some.iter().filter(move |d| d.rows()[1] >= y - margin)
    }
}

/// A droplet at one row of samples.
pub(super) struct Streak {
    /// The row's distance below the droplet's centre, and the centre's `x`.
    y: f32,
    x: f32,
    /// The direction of the path, and half of its length.
    way: [f32; 2],
    path: f32,
    /// The same and the radius, but at least half a sample and some more.
    half: f32,
    radius: f32,
    /// The true radius relative to that one: smaller droplets are fainter instead.
    faint: f32,
    /// How much of a lens it is: one of few samples has no picture in it.
    lens: f32,
}

/// What a droplet is at a sample: its opacity before smoothing, and the slope of its surface.
pub(super) type Seen = (f32, [f32; 2]);

/// How much more than in proportion to its time a streak is seen.
const GAIN: f32 = 1.5;
/// The brightness of a long or fine streak, and the radius of a whole lens in samples.
const GLEAM: f32 = 0.55;
const LENS: f32 = 3.0;
/// The largest square of a normal's sideways part.
const STEEP: f32 = 0.85;

impl Streak {
    /// `pixel` is the distance of samples.
    #[inline(always)]
    pub(super) fn new(drop: &Droplet, y: f32, pixel: f32) -> Streak {
        let [u, v] = drop.reach;
        let path = (u * u + v * v).sqrt();
        let way = if path > 0.0 { [u / path, v / path] } else { [0.0, 1.0] };
        let radius = if drop.radius > 0.85 * pixel { drop.radius } else { 0.85 * pixel };
        let half = if path > 0.5 * pixel { path } else { 0.5 * pixel };
        let lens = drop.radius / (LENS * pixel);
        let lens = if lens < 1.0 { lens } else { 1.0 };
        let faint = drop.radius / radius;
        Streak { y: y - drop.at[1], x: drop.at[0], way, half, path, radius, faint, lens }
    }

    /// The first and last x in the row.
    #[inline(always)]
    pub(super) fn span(&self) -> [f32; 2] {
        let far = self.half + self.radius;
        let part = if self.way[1] > 0.0 { self.way[1] } else { -self.way[1] };
        if part * far < 4.0 * self.radius {
            return [self.x - far, self.x + far];
        }
        // The path crosses the row within a radius of it.
        let (middle, more) = (self.y * self.way[0] / self.way[1], self.radius / part);
        [self.x + middle - more, self.x + middle + more]
    }

    /// The brightness of what it scatters of the sky's light: more, the longer or the finer it is.
    #[inline(always)]
    pub(super) fn gleam(&self) -> f32 {
        let long = self.path / (self.path + 2.0 * self.radius);
        let fine = 1.0 - self.lens;
        GLEAM * (long + fine - long * fine)
    }

    /// What is seen of it at an `x`.
    #[inline(always)]
    pub(super) fn at(&self, x: f32) -> Option<Seen> {
        let (dx, [u, v], r) = (x - self.x, self.way, self.radius);
        let (along, across) = (dx * u + self.y * v, self.y * u - dx * v);
        let square = r * r - across * across;
        if square <= 0.0 {
            return None;
        }
        // The part of the exposure in which the droplet is here.
        let wide = square.sqrt();
        let (first, last) = (along - wide, along + wide);
        let first = if first > -self.half { first } else { -self.half };
        let last = if last < self.half { last } else { self.half };
        let time = (last - first) / (2.0 * self.half) * self.faint;
        if time <= 0.0 {
            return None;
        }
        let seen = GAIN * time.sqrt();
        let near = if along > self.path { self.path } else { along };
        let near = if near < -self.path { -self.path } else { near };
        let (end, across) = ((along - near) / r, across / r);
        let square = end * end + across * across;
        let square = if square < STEEP { square } else { STEEP };
        let steep = -self.lens / (1.0 - square).sqrt();
        let slope = [steep * (end * u - across * v), steep * (end * v + across * u)];
        Some((if seen < 1.0 { seen } else { 1.0 }, slope))
    }
}
