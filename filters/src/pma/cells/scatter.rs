//! Moving elements to where their cells begin.

use crate::simd::{multiversion, prefetch};

multiversion! {
    /// Moves elements to where the cursors of their goals stand, which go on by one: element `i` to the cursor of cell
    /// `goals[i] & mask`, unless `cursors`, which begin at cell `low`, have none for it. The places count from `first`, the
    /// number of `into[0]`.
    pub(super) fn scatter<P: Copy>(
        level, from: (&[P], &[u32]), mask: u32, cursors: (u32, &mut [u32]), into: (u32, &mut [P]),
    ) = scatter_body;
}

/// How many elements ahead of the one being moved memory is asked for, in one go of [`STRETCH`] elements.
const AHEAD: usize = 512;
const STRETCH: usize = 64;

/// The definition of [`scatter`], and its body: elements of 32 bytes go in one piece where registers are as wide.
#[inline(always)]
fn scatter_body<P: Copy>(
    (items, goals): (&[P], &[u32]),
    mask: u32,
    (low, cursors): (u32, &mut [u32]),
    (first, into): (u32, &mut [P]),
) {
    let line = (64 / size_of::<P>().max(1)).max(1);
    for (i, (stretch, goals)) in items.chunks(STRETCH).zip(goals.chunks(STRETCH)).enumerate() {
        let from = i * STRETCH + AHEAD;
        if let Some(soon) = items.get(from..from + STRETCH) {
            soon.iter().step_by(line).for_each(prefetch);
        }
        for (item, goal) in stretch.iter().zip(goals) {
            if let Some(to) = cursors.get_mut((goal & mask).wrapping_sub(low) as usize) {
                into[(*to - first) as usize] = *item;
                *to += 1;
            }
        }
    }
}
