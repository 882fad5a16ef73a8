//! Sorting the incoming elements of a batch.

use super::Key;
use grainfield_filters::pma::Ranked;

/// From this size on, a radix sort is faster.
const RADIX_FROM: usize = 200;
/// The largest number of bits per pass.
const MAX_DIGIT: u32 = 12;

/// Sorts by key, then rank. `spare` is a buffer that is kept between calls.
///
/// Two passes of a radix sort over the top bits in which the keys differ, as many as their number needs; then
/// elements with equal top bits are sorted by insertion. If too many are equal (adversarial keys), a comparison sort
/// takes over.
pub(super) fn sort<K: Key, V: Ranked>(items: &mut [(K, V)], spare: &mut Vec<(K, V)>) {
    let by_tag = |a: &(K, V), b: &(K, V)| (a.0, a.1.rank()).cmp(&(b.0, b.1.rank()));
    if items.len() < RADIX_FROM || items.len() > u32::MAX as usize {
        items.sort_unstable_by(by_tag);
        return;
    }
    let (mut low, mut high) = (u64::MAX, 0);
    for (k, _) in items.iter() {
        low = low.min(k.ordered());
        high = high.max(k.ordered());
    }
    let varying = 64 - (high - low).leading_zeros();
    // Three bits more than the number of items: random keys are then rarely equal in these bits.
    let wanted = (items.len().ilog2() + 4).min(varying).min(2 * MAX_DIGIT);
    let digit = wanted.div_ceil(2);
    if digit > 0 {
        let shift = varying - wanted;
        let prefix = |item: &(K, V)| ((item.0.ordered() - low) >> shift) as usize;
        let below = (1 << digit) - 1;
        let mut counts = [[0u32; 1 << MAX_DIGIT]; 2];
        for item in items.iter() {
            let p = prefix(item);
            counts[0][p & below] += 1;
            counts[1][(p >> digit) & below] += 1;
        }
        if spare.len() < items.len() {
            spare.extend_from_slice(&items[spare.len()..]);
        }
        spare.truncate(items.len());
        pass(items, spare, &mut counts[0][..=below], |item| prefix(item) & below);
        pass(spare, items, &mut counts[1][..=below], |item| (prefix(item) >> digit) & below);
    }
    if !insertion(items) {
        items.sort_unstable_by(by_tag);
    }
}

/// One stable counting pass.
fn pass<T: Copy>(from: &[T], to: &mut [T], starts: &mut [u32], digit: impl Fn(&T) -> usize) {
    let mut sum = 0;
    for s in starts.iter_mut() {
        sum += core::mem::replace(s, sum);
    }
    for item in from {
        let at = &mut starts[digit(item)];
        to[*at as usize] = *item;
        *at += 1;
    }
}

/// An insertion sort that stops, with `false`, after more than four steps per item.
fn insertion<K: Key, V: Ranked>(items: &mut [(K, V)]) -> bool {
    let tag = |item: &(K, V)| (item.0, item.1.rank());
    let mut steps = 4 * items.len();
    for i in 1..items.len() {
        let item = items[i];
        if tag(&items[i - 1]) <= tag(&item) {
            continue;
        }
        let mut to = i;
        while to > 0 && tag(&items[to - 1]) > tag(&item) {
            items[to] = items[to - 1];
            to -= 1;
        }
        items[to] = item;
        match steps.checked_sub(i - to) {
            Some(rest) => steps = rest,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn sorts_as_the_library_does(seed: u64, n in 0usize..3000, spread in 0u32..64, step in 1u64..1000) {
            let mut x = seed | 1;
            let mut items: Vec<(u64, u32)> = (0..n)
                .map(|i| {
                    x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    ((x >> spread).wrapping_mul(step), (x >> 40) as u32 ^ i as u32)
                })
                .collect();
            let mut right = items.clone();
            right.sort_unstable();
            sort(&mut items, &mut Vec::new());
            prop_assert_eq!(items, right);
        }
    }

    #[test]
    fn sorts_the_ends_of_the_range() {
        let mut items: Vec<(u64, ())> =
            (0..1000).map(|i| (if i % 3 == 0 { u64::MAX } else { i % 2 }, ())).collect();
        sort(&mut items, &mut Vec::new());
        assert!(items.is_sorted());
        let mut same = vec![(7i32, 3u32); 500];
        same[400].1 = 1;
        sort(&mut same, &mut Vec::new());
        assert_eq!(same[0], (7, 1));
    }
}
