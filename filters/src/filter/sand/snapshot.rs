//! What a frame needs of the grains, shared between frames where nothing changes.

use crate::particle::sand::{Flyer, Sand};
use std::sync::Arc;

/// log2 of the cells across and down a chunk.
pub(super) const CHUNK: u32 = 5;

/// A grain at rest or awake: its number and place, in diameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub(super) id: u32,
    pub(super) at: [f32; 2],
}

/// What a frame needs of the grains. Chunks of 32 x 32 cells in which nothing changes are shared by many frames.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    /// By number, in Z order.
    pub(super) chunks: Arc<Vec<Arc<Vec<Point>>>>,
    pub(super) flying: Arc<Vec<Flyer>>,
    /// How far the picture has crumbled.
    pub(super) front: Option<f32>,
}

impl Snapshot {
    /// Takes over what has changed.
    pub(super) fn update(&mut self, sand: &mut Sand, front: Option<f32>) {
        let mut changed: Vec<u32> = Vec::new();
        // A block has 64 cells.
        sand.take_changed(|block| changed.push(block >> (2 * CHUNK - 6)));
        changed.dedup();
        let chunks = Arc::make_mut(&mut self.chunks);
        for chunk in changed {
            if chunks.len() <= chunk as usize {
                chunks.resize_with(chunk as usize + 1, Arc::default);
            }
            let mut points = Vec::new();
            sand.read(chunk << (2 * CHUNK)..(chunk + 1) << (2 * CHUNK), |grain| {
                points.push(Point { id: grain.id, at: grain.at });
            });
            chunks[chunk as usize] = Arc::new(points);
        }
        self.flying = Arc::new(sand.flying().to_vec());
        self.front = front;
    }
}
