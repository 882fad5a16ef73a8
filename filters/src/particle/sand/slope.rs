//! The slope of the surface on either side of a grain.
//!
//! A pile's surface is bumpy, so a grain in a hollow between two others would rest on any slope. Whether it slides is
//! decided as in models of sand piles: by the height of the surface next to it, over [`AHEAD`] columns of cells, on the
//! side to which it moves or which is lower.

use super::cells::{BORDER, Cells, Wall};
use super::grain::Body;

/// Columns on a side.
const AHEAD: i32 = 3;
/// Heights from this far above to this far below a grain's foot are seen, in diameters.
const DEEP: f32 = 4.0;
/// Grains in a full cell.
const FULL: f32 = 1.3;
/// A grain is buried if the surface rises by more than this on both sides.
const BURIED: f32 = -1.8;
/// Below this speed, in diameters a second, a grain slides to the lower side.
const SLOW: f32 = 2.0;

/// The mean fall of the surface on a side per distance: 1 is 45 degrees downwards.
fn fall(cells: &Cells, column: i32, foot: f32, side: i32, x: f32) -> f32 {
    let from = foot - DEEP;
    let first = from as i32;
    let mut fill = 0.0f32;
    for k in 1..=AHEAD {
        let u = column + side * k;
        for v in first..=first + 2 * DEEP as i32 {
            let low = (v as f32).max(from);
            let high = ((v + 1) as f32).min(from + 2.0 * DEEP);
            let cell = cells.at(u.max(0) as u32, v.max(0) as u32);
            let part = match cell.wall {
                Wall::Solid => 1.0,
                _ => (cell.sleepers[1] - cell.sleepers[0] + u32::from(cell.count)) as f32 * (1.0 / FULL),
            };
            fill += part * (high - low);
        }
    }
    let middle = column as f32 + 0.5 + side as f32 * (0.5 * (AHEAD as f32 + 1.0));
    (DEEP - fill * (1.0 / AHEAD as f32)) / (middle - x).abs()
}

/// The normal of the surface on which a grain lies, upwards; `None` if it is buried.
pub(super) fn surface(cells: &Cells, body: &Body, velocity: [f32; 2]) -> Option<[f32; 2]> {
    let x = body.at[0] + BORDER;
    let [column, _] = cells.column_row(body.at).map(|v| v as i32);
    let foot = body.at[1] + body.radius + BORDER;
    let [left, right] = [-1, 1].map(|side| fall(cells, column, foot, side, x));
    if left < BURIED && right < BURIED {
        return None;
    }
    let side = match velocity[0] {
        v if v > SLOW => 1.0,
        v if v < -SLOW => -1.0,
        _ if left != right => {
            if right > left {
                1.0
            } else {
                -1.0f32
            }
        }
        _ => {
            if body.id & 1 == 0 {
                1.0
            } else {
                -1.0
            }
        }
    };
    let fall = (if side > 0.0 { right } else { left }).clamp(-1.0, 2.0);
    let length = (1.0 + fall * fall).sqrt();
    Some([side * fall / length, -1.0 / length])
}
