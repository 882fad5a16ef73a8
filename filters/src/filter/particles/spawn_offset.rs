//! Birthplaces other than a box: a disc, beyond an edge of the frame, the bright areas of a picture, a path.

use super::curve_rate::Clock;
use super::layer::{Layer, Side, SpawnArea};
use crate::curve::Curve;
use crate::frame::{Alpha, Family, Frame};
use crate::noise::seed::{GOLDEN, mix64};
use crate::particle::{BLOCK, PlacedBlock};
use crate::ratio::Ratio;

/// One value of every lane of a block.
pub(super) type Row = [f32; BLOCK];

/// The largest number of cells along a side of a mask.
const CELLS: usize = 512;

/// The offset of particles from their position in the pool, which is the centre of the picture at depth 0.
pub(super) struct SpawnOffset {
    from: OffsetKind,
    depth: [f32; 2],
    seed: u64,
    aspect: f32,
}

enum OffsetKind {
    Disc { centre: [f32; 2], radius: f32 },
    Edge(Side, f32),
    Mask(Mask),
    Path(Box<Curve<[f64; 2]>>, Clock),
}

impl SpawnOffset {
    /// The offsets of a layer; `None` if the pool places its particles.
    pub(super) fn new(
        layer: &Layer,
        seed: u64,
        aspect: f32,
        rate: Ratio,
    ) -> Result<Option<SpawnOffset>, String> {
        let from = match layer.place {
            SpawnArea::Volume { .. } | SpawnArea::Tunnel { .. } | SpawnArea::Box { .. } => return Ok(None),
            SpawnArea::Disc { centre, radius, .. } => OffsetKind::Disc { centre, radius },
            SpawnArea::Edge { side, .. } => OffsetKind::Edge(side, 0.02 + 2.0 * layer.size.reach()),
            SpawnArea::Mask { .. } => {
                let picture = layer.mask.as_ref().ok_or("there is no mask")?;
                OffsetKind::Mask(
                    Mask::new(picture.require()?).map_err(|e| format!("{}: {e}", picture.name()))?,
                )
            }
            SpawnArea::Path { .. } => {
                let path = layer.path.as_ref().ok_or("there is no path")?;
                OffsetKind::Path(Box::new(path.clone()), Clock::new(path, rate))
            }
        };
        Ok(Some(SpawnOffset { from, depth: layer.place.depth(), seed, aspect }))
    }

    /// Moves the particles of a block that was placed, and their birthplaces.
    pub(super) fn shift(&self, births: &[i64; BLOCK], block: &mut PlacedBlock, from: &mut [Row; 3]) {
        for lane in block.lanes() {
            let at = self.place(block.number(lane), births[lane]);
            for (axis, at) in at.into_iter().enumerate() {
                block.position[axis][lane] += at;
                from[axis][lane] += at;
            }
        }
    }

    /// The birthplace of a particle.
    fn place(&self, number: i64, birth: i64) -> [f32; 3] {
        let bits = mix64(self.seed ^ mix64((number as u64).wrapping_add(GOLDEN)));
        // 0 to below 1, from separate bits.
        let [r, s, t] = [bits >> 43, bits >> 22, bits].map(|b| (b & 0x1f_ffff) as f32 * (1.0 / 2_097_152.0));
        let z = self.depth[0] + (self.depth[1] - self.depth[0]) * t;
        // A position of the frame, in its widths and heights, as seen at this depth.
        let seen = |x: f32, y: f32| [(x - 0.5) * self.aspect * z, (y - 0.5) * z, z];
        match &self.from {
            OffsetKind::Disc { centre, radius } => {
                let (sin, cos) = libm::sincosf(r * core::f32::consts::TAU);
                let far = radius * s.sqrt();
                [(centre[0] - 0.5) * self.aspect + far * cos, centre[1] - 0.5 + far * sin, z]
            }
            OffsetKind::Edge(side, beyond) => {
                let (along, wide) = (r * 1.1 - 0.05, beyond / self.aspect);
                match side {
                    Side::Top => seen(along, -beyond),
                    Side::Bottom => seen(along, 1.0 + beyond),
                    Side::Left => seen(-wide, along),
                    Side::Right => seen(1.0 + wide, along),
                }
            }
            OffsetKind::Mask(mask) => {
                let [x, y] = mask.pick((bits >> 32) as u32, s, t);
                seen(x, y)
            }
            OffsetKind::Path(curve, clock) => {
                let [x, y] = curve.value_at(clock.at(birth));
                seen(x as f32, y as f32)
            }
        }
    }
}

/// A picture as a probability distribution: brighter and more opaque areas have more births.
struct Mask {
    size: [usize; 2],
    /// The cumulative sums of all cells; the last is 2^32.
    sums: Vec<u64>,
}

impl Mask {
    fn new(frame: &Frame) -> Result<Mask, &'static str> {
        let format = frame.format();
        if format.family == Family::Yuv {
            return Err("a mask must be grey or RGB, not YUV: save it as PNG");
        }
        let (w, h) = format.plane_size(0);
        let at = |p: usize, x: usize, y: usize| {
            let v = frame.value(p, x, y);
            // `>` is false for NaN.
            if v > 0.0 { f64::from(v.min(1.0)) } else { 0.0 }
        };
        let size = [w.min(CELLS), h.min(CELLS)];
        let mut cells = vec![0.0f64; size[0] * size[1]];
        for y in 0..h {
            for x in 0..w {
                let light = match format.family {
                    Family::Gray => at(0, x, y),
                    _ => 0.2126 * at(2, x, y) + 0.7152 * at(0, x, y) + 0.0722 * at(1, x, y),
                };
                let alpha = match format.alpha_plane() {
                    Some(p) if format.alpha == Alpha::Straight => at(p, x, y),
                    _ => 1.0,
                };
                cells[y * size[1] / h * size[0] + x * size[0] / w] += light * alpha;
            }
        }
        let all: f64 = cells.iter().sum();
        if all.is_nan() || all <= 0.0 {
            return Err("the mask is black everywhere: no particle could be born");
        }
        let mut sum = 0.0;
        let mut sums: Vec<u64> = cells
            .iter()
            .map(|c| {
                sum += c;
                (sum / all * 4_294_967_296.0) as u64
            })
            .collect();
        if let Some(last) = sums.last_mut() {
            *last = 1 << 32;
        }
        Ok(Mask { size, sums })
    }

    /// A position in the picture, 0 to 1, from three random numbers.
    fn pick(&self, bits: u32, s: f32, t: f32) -> [f32; 2] {
        let cell = self.sums.partition_point(|sum| *sum <= u64::from(bits));
        let [x, y] = [cell % self.size[0], cell / self.size[0]];
        [(x as f32 + s) / self.size[0] as f32, (y as f32 + t) / self.size[1] as f32]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Format;
    use crate::particle::FLICKS;
    use crate::settings::ImageAsset;

    fn places(layer: Layer) -> Vec<[f32; 3]> {
        let origin = SpawnOffset::new(&layer, 7, 2.0, Ratio::whole(24)).unwrap().unwrap();
        (0..2000).map(|i| origin.place(i, i * FLICKS / 24)).collect()
    }

    #[test]
    fn discs_are_filled_evenly() {
        let place = SpawnArea::Disc { centre: [0.25, 0.5], radius: 0.2, z: [1.0, 2.0] };
        let all = places(Layer { place, ..Layer::default() });
        let from = |p: &[f32; 3]| ((p[0] + 0.5) * (p[0] + 0.5) + p[1] * p[1]).sqrt();
        assert!(all.iter().all(|p| from(p) <= 0.2001 && (1.0..=2.0).contains(&p[2])));
        // Half of them are within the radius of half of the area.
        let inner = all.iter().filter(|p| from(p) < 0.2 / 2f32.sqrt()).count();
        assert!((900..1100).contains(&inner), "{inner}");
    }

    #[test]
    fn edges_are_out_of_sight() {
        for side in [Side::Top, Side::Bottom, Side::Left, Side::Right] {
            let place = SpawnArea::Edge { side, z: [0.5, 2.0] };
            for [x, y, z] in places(Layer { place, ..Layer::default() }) {
                let [x, y] = [x / z / 2.0 + 0.5, y / z + 0.5];
                let out = [-y, y - 1.0, -x, x - 1.0][side as usize];
                assert!((0.0..0.1).contains(&out), "{side:?} {x} {y}");
            }
        }
    }

    #[test]
    fn masks_are_followed() {
        let mut frame = Frame::new(Format::from_name("gray", 8, 4).unwrap());
        (frame.row_mut::<u8>(0, 1)[6], frame.row_mut::<u8>(0, 3)[0]) = (200, 100);
        let mask = ImageAsset::named("m.png").read(frame.clone());
        let layer = Layer { place: SpawnArea::Mask { z: [1.0; 2] }, mask: Some(mask), ..Layer::default() };
        let all = places(layer.clone());
        let cell = |p: &[f32; 3]| [((p[0] / 2.0 + 0.5) * 8.0) as i32, ((p[1] + 0.5) * 4.0) as i32];
        let bright = all.iter().filter(|p| cell(p) == [6, 1]).count();
        let dim = all.iter().filter(|p| cell(p) == [0, 3]).count();
        assert!(bright + dim == 2000 && (1250..1420).contains(&bright), "{bright} {dim}");
        frame.row_mut::<u8>(0, 1)[6] = 0;
        frame.row_mut::<u8>(0, 3)[0] = 0;
        let black = Layer { mask: Some(ImageAsset::named("m.png").read(frame)), ..layer };
        assert!(SpawnOffset::new(&black, 7, 2.0, Ratio::whole(24)).is_err());
    }

    #[test]
    fn paths_are_followed_from_birth_to_birth() {
        let path = Some("0=0,0.5;100=1,0.5".parse().unwrap());
        let all = places(Layer { place: SpawnArea::Path { z: [1.0; 2] }, path, ..Layer::default() });
        assert_eq!([all[0], all[50], all[100]], [[-1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]);
    }
}
