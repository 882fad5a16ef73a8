//! The slope of the surface on either side of a grain.
//!
//! A pile's surface is bumpy, so a grain in a hollow between two others would rest on any slope. Whether it slides is
//! decided as in models of sand piles: by the height of the surface next to it, over [`AHEAD`] columns of cells, on the
//! side to which it moves or which is lower.

use super::cells::{BORDER, Cells};
use super::grain::Body;

/// Columns on a side.
const AHEAD: usize = 3;
/// Rows above and below a grain's foot that are seen.
const DEEP: usize = 4;
/// Grains in a full cell.
const FULL: f32 = 1.3;
/// A grain is buried if the surface rises by more than this on both sides.
const BURIED: f32 = -1.8;
/// Rows of cells of a hole below a grain.
const HOLE: usize = 2;
/// Below this speed, in diameters a second, a grain slides to the lower side.
const SLOW: f32 = 2.0;

/// The mean fall of the surface in some columns below `foot`, a row of the grid with its fraction, in diameters.
fn fall(cells: &Cells, columns: core::ops::Range<usize>, foot: f32) -> f32 {
    let from = (foot - DEEP as f32).max(0.0);
    let first = from as usize;
    let part = from - first as f32;
    let end = (first + 2 * DEEP).min(cells.last()[1]);
    let amount = |(grains, solid): (u32, u32)| grains as f32 * (1.0 / FULL) + solid as f32;
    let mut fill = 0.0f32;
    for x in columns {
        let rows = |rows| amount(cells.held_in_column(x, rows));
        fill += (1.0 - part) * rows(first..first + 1) + rows(first + 1..end) + part * rows(end..end + 1);
    }
    DEEP as f32 - fill * (1.0 / AHEAD as f32)
}

/// The position of a grain relative to the surface.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Place {
    /// Inside the pile.
    Buried,
    /// On the surface, whose normal this is, upwards.
    Surface([f32; 2]),
    /// Over a hole. It falls and stays awake; otherwise grains would bridge holes of any width.
    Undermined,
}

/// The position of a grain with a velocity.
pub(super) fn place(cells: &Cells, body: &Body, velocity: [f32; 2]) -> Place {
    let [column, row] = cells.column_row(body.at);
    let [last, lowest] = cells.last();
    let is_empty = |x: usize, rows: core::ops::Range<usize>| cells.held_in_column(x, rows) == (0, 0);
    let (below, end) = (row + 1, row + 1 + HOLE);
    let beside = [column.max(1) - 1, (column + 1).min(last)];
    if end <= lowest && is_empty(column, below..end) && beside.iter().all(|x| is_empty(*x, below + 1..end)) {
        return Place::Undermined;
    }
    let foot = body.at[1] + body.radius + BORDER;
    // From the grain to the middle of the columns.
    let part = body.at[0] + BORDER - column as f32;
    let middle = 0.5 + 0.5 * (AHEAD as f32 + 1.0);
    let left = fall(cells, column.max(AHEAD) - AHEAD..column, foot) / (middle - 1.0 + part);
    let right = fall(cells, column + 1..(column + AHEAD).min(last) + 1, foot) / (middle - part);
    if left < BURIED && right < BURIED {
        return Place::Buried;
    }
    let side = match velocity[0] {
        v if v > SLOW => 1.0,
        v if v < -SLOW => -1.0,
        _ if right > left => 1.0,
        _ if right < left => -1.0,
        _ if body.id & 1 == 0 => 1.0,
        _ => -1.0f32,
    };
    let fall = (if side > 0.0 { right } else { left }).clamp(-1.0, 2.0);
    let length = (1.0 + fall * fall).sqrt();
    Place::Surface([side * fall / length, -1.0 / length])
}
