//! Moving elements to the slots of their cells.

use crate::simd::{multiversion, prefetch};

multiversion! {
    /// Moves elements to the cursors of their goals, which are incremented: element `i` to the cursor of cell `goals[i]
    /// & mask`, unless `cursors`, which begin at cell `low`, have none for it. Cursors count from `first`, the slot
    /// number of `into[0]`.
    pub(super) fn scatter<P: Copy>(
        level, from: (&[P], &[u32]), mask: u32, cursors: (u32, &mut [u32]), into: (u32, &mut [P]),
    ) = scatter_body;
}

/// The prefetch distance in elements, within blocks of [`STRETCH`] elements.
const AHEAD: usize = 512;
const STRETCH: usize = 64;

/// The reference of [`scatter`], and its body: elements of 32 bytes are copied as one register if possible.
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
