//! Sorting the elements that a batch brings.

use super::{Key, Ranked};

/// From here on a radix sort pays.
const RADIX_FROM: usize = 200;

/// Sorts by key, then rank. `spare` is room that is kept between calls.
///
/// Two passes of a radix sort over the top bits that tell the keys apart, as many as their number needs, then the
/// few that agree in those bits are sorted by comparing. Keys that all agree in them (an adversary's) cost a sort by
/// comparing of the whole, no more.
pub(super) fn sort<K: Key, V: Ranked>(items: &mut Vec<(K, V)>, spare: &mut Vec<(K, V)>) {
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
    // Three bits more than the number of items: random keys then seldom agree.
    let wanted = (items.len().ilog2() + 4).min(varying).min(24);
    let digit = wanted.div_ceil(2);
    let shift = varying - wanted;
    let prefix = |k: K| (k.ordered() - low) >> shift;
    if digit > 0 {
        pass(items, spare, digit, |k| prefix(k) as usize & ((1 << digit) - 1));
        pass(items, spare, digit, |k| (prefix(k) >> digit) as usize);
    }
    let mut from = 0;
    while from < items.len() {
        let p = prefix(items[from].0);
        let mut to = from + 1;
        while to < items.len() && prefix(items[to].0) == p {
            to += 1;
        }
        if to - from > 1 {
            items[from..to].sort_unstable_by(by_tag);
        }
        from = to;
    }
}

/// One stable counting pass by a digit of `bits` bits.
fn pass<K: Key, V: Ranked>(
    items: &mut Vec<(K, V)>,
    spare: &mut Vec<(K, V)>,
    bits: u32,
    digit: impl Fn(K) -> usize,
) {
    let mut starts = [0u32; 1 << 12];
    let starts = &mut starts[..1 << bits];
    for (k, _) in items.iter() {
        starts[digit(*k)] += 1;
    }
    let mut sum = 0;
    for s in starts.iter_mut() {
        sum += core::mem::replace(s, sum);
    }
    spare.clear();
    spare.extend_from_slice(items);
    for item in items.iter() {
        let at = &mut starts[digit(item.0)];
        spare[*at as usize] = *item;
        *at += 1;
    }
    core::mem::swap(items, spare);
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
