//! A block of 64 particles between the pool and their splats.

use super::bound_layer::EXTRA;
use super::spawn_offset::Row;
use crate::particle::draw;
use crate::particle::{BLOCK, PlacedBlock, pack};
use bytemuck::Zeroable;

pub(super) const ROW: Row = [0.0; BLOCK];

/// A block of particles during the conversion from the pool to splats.
#[derive(Clone, Debug, Zeroable)]
#[repr(C, align(64))]
pub(super) struct ParticleBlock {
    /// The particles from the pool; positions and `live` are changed in the conversion.
    pub(super) block: PlacedBlock,
    /// The particles' extra random numbers, -1 to 1.
    pub(super) extra: [Row; EXTRA],
    /// Birthplaces and the velocities there, where the layer needs them.
    pub(super) from: [Row; 3],
    pub(super) start: [Row; 3],
    /// Their positions when the shutter opened, or at birth if that was later; and the time since then.
    pub(super) past: [Row; 3],
    pub(super) open: Row,
    pub(super) opacity: Row,
    /// The factors of size over life.
    pub(super) grown: Row,
    /// Half sizes without blur, in frame heights.
    pub(super) sharp: Row,
    /// In luma rows of the frame; at the end in its samples.
    pub(super) centre: [Row; 2],
    pub(super) half: [Row; 2],
    pub(super) turns: Row,
    /// The vector from the position when the shutter opened to the current one.
    pub(super) motion: [Row; 2],
    /// Whether it is drawn as a streak.
    pub(super) long: [u32; BLOCK],
    /// The index of the layer's colour.
    pub(super) shade: [u32; BLOCK],
    /// The depth for sorting.
    pub(super) deep: [u32; BLOCK],
    pub(super) splats: draw::SplatColumns,
}

impl ParticleBlock {
    /// A block without particles.
    pub(super) fn empty() -> ParticleBlock {
        ParticleBlock { block: PlacedBlock::EMPTY, ..ParticleBlock::zeroed() }
    }

    /// Clears the bits of invisible particles.
    #[inline(always)]
    pub(super) fn keep(&mut self, flags: &[u8; BLOCK]) {
        self.block.live &= pack(flags);
    }
}
