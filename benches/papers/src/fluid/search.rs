//! The three ways to find neighbours that the paper's Table 3 compares, behind one interface.
//!
//! These are the plain forms, one pair at a time; [`List`](super::List) is the quick one. All find the same pairs.

use super::Layout;

/// A way to find neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Cells of twice the radius: the 8 (in one layer 4) that the parcel's own place in its cell leaves.
    TwoH8,
    /// Cells of the radius: 27 around the parcel.
    H27,
    /// Cells of the radius: the parcel's own and the 13 that follow it, each pair found once and given both ways.
    H14,
}

impl Search {
    /// All of them.
    pub const ALL: [Search; 3] = [Search::TwoH8, Search::H27, Search::H14];

    /// The size of cells for a radius.
    pub fn cell(self, radius: f32) -> f32 {
        match self {
            Search::TwoH8 => 2.0 * radius,
            Search::H27 | Search::H14 => radius,
        }
    }
}

/// The 13 cells of the 26 around one that come after it by z, y, x.
const AFTER: [[i32; 3]; 13] = [
    [1, 0, 0],
    [-1, 1, 0],
    [0, 1, 0],
    [1, 1, 0],
    [-1, -1, 1],
    [0, -1, 1],
    [1, -1, 1],
    [-1, 0, 1],
    [0, 0, 1],
    [1, 0, 1],
    [-1, 1, 1],
    [0, 1, 1],
    [1, 1, 1],
];

/// The square of the distance of two places: the one way to compute it, in this order.
#[inline(always)]
pub(super) fn square(a: [f32; 3], b: [f32; 3]) -> f32 {
    let (dx, dy, dz) = (a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    dx * dx + dy * dy + dz * dz
}

/// Calls `f(i, j, d2)` for every two parcels nearer than `radius`, both ways round: `i` and `j` are places in the
/// layout, `d2` the square of their distance. The number of pairs tested is returned. The layout's cells must have
/// the search's size ([`Search::cell`]). The order of the calls is the search's own.
pub fn pairs(search: Search, layout: &Layout, radius: f32, mut f: impl FnMut(u32, u32, f32)) -> u64 {
    let h2 = radius * radius;
    let mut tested = 0;
    for held in layout.held() {
        let [x, y, z] = held.cell;
        let own = held.first..held.first + held.len;
        match search {
            Search::TwoH8 => {
                for i in own {
                    let at = layout.at(i as usize);
                    let within = layout.grid().within(at, held.cell);
                    let low: [i32; 3] = core::array::from_fn(|a| held.cell[a] - i32::from(within[a] < 0.5));
                    for (dz, dy, dx) in (0..8).map(|n| (n >> 2, n >> 1 & 1, n & 1)) {
                        let others = layout.of_cell([low[0] + dx, low[1] + dy, low[2] + dz]);
                        tested += u64::from(others.end - others.start);
                        for j in others {
                            let d2 = square(at, layout.at(j as usize));
                            if d2 < h2 && j != i {
                                f(i, j, d2);
                            }
                        }
                    }
                }
            }
            Search::H27 => {
                let mut runs = [(0, 0); 27];
                let n = layout.around(held.cell, &mut runs);
                for i in own {
                    let at = layout.at(i as usize);
                    for &(first, len) in &runs[..n] {
                        tested += u64::from(len);
                        for j in first..first + len {
                            let d2 = square(at, layout.at(j as usize));
                            if d2 < h2 && j != i {
                                f(i, j, d2);
                            }
                        }
                    }
                }
            }
            Search::H14 => {
                let mut both = |i: u32, j: u32| {
                    let d2 = square(layout.at(i as usize), layout.at(j as usize));
                    if d2 < h2 {
                        f(i, j, d2);
                        f(j, i, d2);
                    }
                };
                for i in own.clone() {
                    tested += u64::from(own.end - i - 1);
                    (i + 1..own.end).for_each(|j| both(i, j));
                }
                for [dx, dy, dz] in AFTER {
                    let others = layout.of_cell([x + dx, y + dy, z + dz]);
                    tested += u64::from(held.len) * u64::from(others.end - others.start);
                    for i in own.clone() {
                        others.clone().for_each(|j| both(i, j));
                    }
                }
            }
        }
    }
    tested
}
