//! Splats laid over a tile, small soft discs from their stamps.
#![allow(clippy::needless_range_loop)] // a lane is a place in many rows

use super::look::Look;
use super::painter::{Painter, Stamps};
use super::place::{Effect, FEW};
use super::splat::Splat;
use super::stamp::Stamp;
use super::sweep::Sheet;
use super::tile::{Part, ROOM, Tile};
use super::wide::wide;
use crate::simd::{Level, multiversion};

multiversion! {
    /// Draws splats, in this order, into a tile's samples.
    pub(super) fn paint(level, tile: &Tile, painter: &Painter, stamps: &Stamps, splats: &[Splat], desk: &mut Desk, samples: &mut [f32], own: Level) = paint_body;
}

/// What is drawn, and with what.
#[derive(Clone, Copy)]
struct Work<'a> {
    painter: &'a Painter,
    stamps: &'a Stamps,
    splats: &'a [Splat],
    few: &'a [Few; MANY],
    own: Level,
}

/// Stretches of [`FEW`] splats that are made ready at a time.
const MANY: usize = 16;

/// What the drawing of a band needs for a while.
pub(super) struct Desk {
    few: [Few; MANY],
    sheet: Sheet,
}

impl Desk {
    pub(super) const EMPTY: Desk = Desk { few: [Few::EMPTY; MANY], sheet: Sheet::EMPTY };
}

/// One part after the other, so that only its stamps and samples need be near. What is usual is compiled for itself: so
/// many planes, and so many samples from row to row, that no step of a stamp has to be checked.
#[inline(always)]
fn paint_body(
    tile: &Tile,
    painter: &Painter,
    stamps: &Stamps,
    splats: &[Splat],
    desk: &mut Desk,
    samples: &mut [f32],
    own: Level,
) {
    let Desk { few, sheet } = desk;
    for splats in splats.chunks(FEW * MANY) {
        // All of them first: what is written number by number cannot at once be read as vectors.
        for (few, splats) in few.iter_mut().zip(splats.chunks(FEW)) {
            few.take(splats, stamps);
        }
        let work = Work { painter, stamps, splats, few, own };
        each_part(tile, work, sheet, samples);
    }
}

#[inline(always)]
fn each_part(tile: &Tile, work: Work<'_>, sheet: &mut Sheet, samples: &mut [f32]) {
    for part in tile.parts() {
        match (part.group.count, part.stride) {
            (1, 80) => lay::<1, 80>(part, work, sheet, samples),
            (2, 48) => lay::<2, 48>(part, work, sheet, samples),
            (3, 80) => lay::<3, 80>(part, work, sheet, samples),
            (3, 48) => lay::<3, 48>(part, work, sheet, samples),
            _ => lay::<0, 0>(part, work, sheet, samples),
        }
    }
}

/// `C` planes, or any number; `S` samples from row to row, or any number.
#[inline(always)]
fn lay<const C: usize, const S: usize>(part: &Part, work: Work<'_>, sheet: &mut Sheet, samples: &mut [f32]) {
    let stride = if S > 0 { S } else { part.stride };
    let count = if C > 0 { C } else { part.group.count.min(4) };
    let spot = Spot::new(part);
    let mut at = Places::EMPTY;
    let mut mix = [[[0.0f32; FEW]; 2]; 4];
    let mut cuts = Cuts([[0.0; 16]; FEW]);
    for (splats, few) in work.splats.chunks(FEW).zip(work.few) {
        spot.find(few, &mut at);
        few.effects(part, work.painter, splats, &mut mix);
        // Coverage of all that are small, then one after the other onto the samples.
        for (j, cut) in cuts.0.iter_mut().enumerate().take(splats.len()) {
            at.to[j] = OUTSIDE;
            let Some(stamp) = work.stamps.stamp(few.set[j], part.group.kind) else { continue };
            let [x, y] =
                [0, 1].map(|a| at.cell[a][j].wrapping_add(stamp.start[a][at.phase[a][j] as usize & 15]));
            // From 0 to where the stamp still fits: a negative number is a large one without sign. One that is not
            // wholly in the buffer does not touch the tile.
            let fits = (x as u32 <= (spot.size[0] - stamp.width as i32) as u32)
                & (y as u32 <= (spot.size[1] - stamp.rows as i32) as u32);
            if !fits {
                continue;
            }
            at.to[j] = y as u32 * stride as u32 + x as u32;
            if stamp.long == 16 {
                cover(stamp, &at, j, few.opacity[j], cut);
            }
        }
        for (j, splat) in splats.iter().enumerate() {
            let Some(stamp) = work.stamps.stamp(few.set[j], part.group.kind) else {
                if let Some(look) = work.painter.looks.get(usize::from(splat.look)) {
                    wide(work.own, part, work.painter, splat, look, sheet, samples);
                }
                continue;
            };
            if at.to[j] == OUTSIDE {
                continue;
            }
            let place = at.to[j] as usize;
            for (base, [fade, ink]) in part.base.iter().zip(&mix).take(count) {
                let (to, mix) = (base + place, [fade[j], ink[j]]);
                match (stamp.long, stamp.rows) {
                    (16, 3) => press::<3>(&cuts.0[j], mix, to, stride, samples),
                    (16, 4) => press::<4>(&cuts.0[j], mix, to, stride, samples),
                    (32, _) => press_rows::<4, 32>(stamp, &at, j, few.opacity[j], mix, to, stride, samples),
                    _ => press_rows::<8, 64>(stamp, &at, j, few.opacity[j], mix, to, stride, samples),
                }
            }
        }
    }
}

/// What a splat does to each plane of a part.
#[inline(always)]
pub(super) fn effects(painter: &Painter, part: &Part, splat: &Splat, look: &Look) -> [Effect; 4] {
    let mut out = [Effect::default(); 4];
    for (out, p) in out.iter_mut().zip(part.group.planes()) {
        *out = painter.places[*p].effect(look.blend, splat.colour, look.gain);
    }
    out
}

/// Coverage of the cells of stamps, times opacity.
#[repr(C, align(64))]
struct Cuts([[f32; 16]; FEW]);

/// Not in the tile's buffer.
const OUTSIDE: u32 = u32::MAX;

/// Splats side by side.
#[repr(C, align(64))]
struct Few {
    at: [[i32; FEW]; 2],
    opacity: [f32; FEW],
    colour: [[u16; FEW]; 3],
    /// Their stamps.
    set: [u16; FEW],
    /// Whether all are of one look.
    alike: bool,
}

impl Few {
    const EMPTY: Few =
        Few { at: [[0; FEW]; 2], opacity: [0.0; FEW], colour: [[0; FEW]; 3], set: [0; FEW], alike: true };

    #[inline(always)]
    fn take(&mut self, splats: &[Splat], stamps: &Stamps) {
        let look = splats.first().map_or(0, |s| s.look);
        self.alike = true;
        for (j, splat) in splats.iter().enumerate().take(FEW) {
            self.at[0][j] = splat.x;
            self.at[1][j] = splat.y;
            self.opacity[j] = f32::from(splat.opacity) * (1.0 / 65535.0);
            for c in 0..3 {
                self.colour[c][j] = splat.colour[c];
            }
            self.set[j] = stamps.set(splat);
            self.alike &= splat.look == look;
        }
    }

    /// What they do to each plane of a part: fades and inks.
    #[inline(always)]
    fn effects(&self, part: &Part, painter: &Painter, splats: &[Splat], mix: &mut [[[f32; FEW]; 2]; 4]) {
        let looks = &painter.looks;
        if self.alike {
            let Some(look) = splats.first().and_then(|s| looks.get(usize::from(s.look))) else { return };
            for (p, [fade, ink]) in part.group.planes().iter().zip(mix) {
                painter.places[*p].effects(look.blend, look.gain, &self.colour, fade, ink);
            }
            return;
        }
        for (j, splat) in splats.iter().enumerate().take(FEW) {
            let Some(look) = looks.get(usize::from(splat.look)) else { continue };
            let effects = effects(painter, part, splat, look);
            for (mix, effect) in mix.iter_mut().zip(effects) {
                (mix[0][j], mix[1][j]) = (effect.fade, effect.ink);
            }
        }
    }
}

/// Where splats side by side come to lie in a part's buffer.
#[repr(C, align(64))]
struct Places {
    /// Cell of the centre.
    cell: [[i32; FEW]; 2],
    /// Sixteenth of the centre in its cell, and how far it is beyond that, in sixteenths.
    phase: [[u32; FEW]; 2],
    left: [[f32; FEW]; 2],
    /// First sample of the stamp, counted from the plane's.
    to: [u32; FEW],
}

impl Places {
    const EMPTY: Places =
        Places { cell: [[0; FEW]; 2], phase: [[0; FEW]; 2], left: [[0.0; FEW]; 2], to: [OUTSIDE; FEW] };
}

/// How places are found in a part.
struct Spot {
    /// log2 of a sixteenth of a cell, left or top edge of cell 0, and first cell of the buffer: across and down.
    by: [u32; 2],
    edge: [i32; 2],
    from: [i32; 2],
    /// Cells of the buffer.
    size: [i32; 2],
}

impl Spot {
    #[inline(always)]
    fn new(part: &Part) -> Spot {
        let cells = &part.group.cells;
        let mut spot = Spot { by: [0; 2], edge: [0; 2], from: [0; 2], size: [0; 2] };
        for a in 0..2 {
            spot.by[a] = 4 + cells.shift[a];
            spot.edge[a] = cells.edge(a);
            spot.from[a] = part.from[a] - ROOM as i32;
            spot.size[a] = (part.size[a] + 2 * ROOM) as i32;
        }
        spot
    }

    #[inline(always)]
    fn find(&self, few: &Few, out: &mut Places) {
        for a in 0..2 {
            let (by, edge, from) = (self.by[a], self.edge[a], self.from[a]);
            let unit = 1.0 / (1u32 << by) as f32;
            for j in 0..FEW {
                let place = few.at[a][j].wrapping_sub(edge);
                let near = place.wrapping_add(1 << (by - 1)) >> by;
                out.left[a][j] = place.wrapping_sub(near << by) as f32 * unit;
                out.phase[a][j] = (near & 15) as u32;
                out.cell[a][j] = (near >> 4).wrapping_sub(from);
            }
        }
    }
}

/// Coverage of a cell of a stamp.
#[inline(always)]
fn cut(cover: f32, across: f32, down: f32, left: [f32; 2], opacity: f32) -> f32 {
    let v = cover + left[0] * across + left[1] * down;
    let v = if v > 0.0 { v } else { 0.0 };
    (if v < 1.0 { v } else { 1.0 }) * opacity
}

/// Coverage of all cells of a small stamp.
#[inline(always)]
fn cover(stamp: &Stamp, at: &Places, j: usize, opacity: f32, out: &mut [f32; 16]) {
    let phase = [0, 1].map(|a| at.phase[a][j] as usize & 15);
    let left = [at.left[0][j], at.left[1][j]];
    let Some([cover, across, down]) = stamp.cover::<16>(phase[0], phase[1]) else { return };
    for i in 0..16 {
        out[i] = cut(cover[i], across[i], down[i], left, opacity);
    }
}

/// Lays `R` rows of 4 over a plane from sample `to` on.
#[inline(always)]
fn press<const R: usize>(
    cuts: &[f32; 16],
    [fade, ink]: [f32; 2],
    to: usize,
    stride: usize,
    samples: &mut [f32],
) {
    let long = (R - 1) * stride + 4;
    let Some(cells) = samples.get_mut(to..).and_then(|s| s.get_mut(..long)) else { return };
    for r in 0..R {
        let row = &mut cells[r * stride..][..4];
        for i in 0..4 {
            row[i] = row[i] * (1.0 - cuts[4 * r + i] * fade) + cuts[4 * r + i] * ink;
        }
    }
}

/// Lays a stamp of any height and `W` cells across over a plane, row by row.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn press_rows<const W: usize, const N: usize>(
    stamp: &Stamp,
    at: &Places,
    j: usize,
    opacity: f32,
    [fade, ink]: [f32; 2],
    mut to: usize,
    stride: usize,
    samples: &mut [f32],
) {
    let phase = [0, 1].map(|a| at.phase[a][j] as usize & 15);
    let left = [at.left[0][j], at.left[1][j]];
    let Some([cover, across, down]) = stamp.cover::<N>(phase[0], phase[1]) else { return };
    let (cover, across, down) =
        (cover.as_chunks::<W>().0, across.as_chunks::<W>().0, down.as_chunks::<W>().0);
    for ((cover, across), down) in cover.iter().zip(across).zip(down).take(stamp.rows) {
        let Some(row) = samples.get_mut(to..).and_then(|s| s.first_chunk_mut::<W>()) else { return };
        for i in 0..W {
            let cut = cut(cover[i], across[i], down[i], left, opacity);
            row[i] = row[i] * (1.0 - cut * fade) + cut * ink;
        }
        to += stride;
    }
}
