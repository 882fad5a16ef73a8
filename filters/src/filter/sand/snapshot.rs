//! What a frame needs of the grains, shared between frames where nothing changes.

use super::draw::{Ground, Material};
use crate::host::lock;
use crate::particle::sand::{Flyer, Grain, Sand, radius};
use std::sync::{Arc, Mutex};

/// log2 of the cells across and down a chunk.
pub(super) const CHUNK: u32 = 4;

/// A grain at rest or awake: its number and place, in diameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub(super) id: u32,
    pub(super) at: [f32; 2],
}

/// An awake grain that is faster than this is drawn like one in flight, in diameters a second: in a dense stream grains
/// touch each other while they fall.
const FAST: f32 = 60.0;

/// The grains of a square of cells.
#[derive(Clone, Default)]
pub(super) struct Chunk {
    pub(super) points: Arc<Vec<Point>>,
    /// Those that are fast. While there are any, the chunk changes in each step.
    fast: Vec<Flyer>,
    /// The number of the update in which they have changed last.
    pub(super) changed: u64,
}

/// The grains of a frame. Chunks without changes are shared by many frames.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    /// The chunks by number, in Z order.
    pub(super) chunks: Arc<Vec<Chunk>>,
    pub(super) ground: Arc<Ground>,
    /// Grains in flight, and others that are fast, by number.
    pub(super) flying: Arc<Vec<Flyer>>,
    /// How far the picture has crumbled.
    pub(super) front: Option<f32>,
    pub(super) tiles: Arc<Tiles>,
    /// The number of updates. One state is updated in one order, so its number stands for all that has changed.
    updates: u64,
}

impl Snapshot {
    /// An empty one for a picture of so many samples, and of so many along a diameter.
    pub(super) fn new(size: [usize; 2], rows: f64) -> Snapshot {
        Snapshot { ground: Arc::new(Ground::new(size, (0.44 * rows) as f32)), ..Snapshot::default() }
    }

    /// Takes over what has changed; a diameter has so many samples.
    pub(super) fn update(&mut self, sand: &mut Sand, front: Option<f32>, rows: f32) {
        self.updates += 1;
        let mut changed: Vec<u32> = Vec::new();
        // A square has 64 cells.
        sand.take_changed(|square| changed.push(square >> (2 * CHUNK - 6)));
        changed.dedup();
        let chunks = Arc::make_mut(&mut self.chunks);
        let ground = Arc::make_mut(&mut self.ground);
        for number in changed {
            if chunks.len() <= number as usize {
                chunks.resize_with(number as usize + 1, Chunk::default);
            }
            let chunk = &mut chunks[number as usize];
            let mut points = Vec::with_capacity(chunk.points.len() + 8);
            chunk.fast.clear();
            sand.read(number << (2 * CHUNK)..(number + 1) << (2 * CHUNK), |grain| {
                let Grain { id, at, velocity, .. } = *grain;
                if velocity[0] * velocity[0] + velocity[1] * velocity[1] > FAST * FAST {
                    chunk.fast.push(Flyer { id, at, velocity });
                } else {
                    points.push(Point { id, at });
                }
            });
            if points == *chunk.points {
                continue;
            }
            for (points, sign) in [(&*chunk.points, -1), (&points, 1)] {
                for point in points {
                    ground.add(point.at.map(|v| v * rows), radius(point.id) * rows, sign);
                }
            }
            (chunk.points, chunk.changed) = (Arc::new(points), self.updates);
        }
        let mut flying = sand.flying().to_vec();
        flying.extend(chunks.iter().flat_map(|chunk| &chunk.fast));
        flying.sort_unstable_by_key(|flyer| flyer.id);
        self.flying = Arc::new(flying);
        self.front = front;
    }
}

/// All that a drawn tile depends on, within the snapshots of one state.
#[derive(Clone, PartialEq)]
pub(super) struct TileKey {
    /// The number of the update in which grains around it have changed last.
    pub(super) changed: u64,
    /// 1 and the number of grains of the picture that still stand around it, once it crumbles. None comes back, so the
    /// number says which.
    pub(super) standing: usize,
    pub(super) material: Material,
    pub(super) colour: Option<[f64; 4]>,
    pub(super) behind: [f64; 4],
}

/// A drawn tile; `None` if it is empty.
pub(super) type Drawn = Option<Arc<Vec<[f32; 4]>>>;

/// Drawn tiles, for all snapshots of one state: of each tile the one that was drawn last. They affect speed only.
#[derive(Default)]
pub(super) struct Tiles(Mutex<Vec<Option<(TileKey, Drawn)>>>);

impl Tiles {
    /// The drawn tile of a key.
    pub(super) fn get(&self, tile: usize, key: &TileKey) -> Option<Drawn> {
        let tiles = lock(&self.0);
        tiles.get(tile)?.as_ref().filter(|(kept, _)| kept == key).map(|(_, drawn)| drawn.clone())
    }

    pub(super) fn put(&self, tile: usize, key: TileKey, drawn: Drawn) {
        let mut tiles = lock(&self.0);
        if tiles.len() <= tile {
            tiles.resize(tile + 1, None);
        }
        tiles[tile] = Some((key, drawn));
    }
}
