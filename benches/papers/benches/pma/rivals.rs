//! The rivals, each as good as is reasonable.
#![allow(unsafe_code)] // calls of the C library's qsort

use rdst::RadixSort;

extern "C" fn by_key(a: *const libc::c_void, b: *const libc::c_void) -> libc::c_int {
    // SAFETY: qsort hands in pointers to elements of the array, which is of u64.
    let (a, b) = unsafe { (*a.cast::<u64>(), *b.cast::<u64>()) };
    libc::c_int::from(a > b) - libc::c_int::from(a < b)
}

/// The C library's qsort: the paper's rival.
pub(crate) fn qsort(keys: &mut [u64]) {
    // SAFETY: the array has that many elements of that size, and `by_key` reads elements of its type.
    unsafe { libc::qsort(keys.as_mut_ptr().cast(), keys.len(), 8, Some(by_key)) }
}

extern "C" fn by_cell(a: *const libc::c_void, b: *const libc::c_void) -> libc::c_int {
    // SAFETY: as in `by_key`, the array being of pairs.
    let (a, b) = unsafe { ((*a.cast::<(u32, u32)>()).0, (*b.cast::<(u32, u32)>()).0) };
    libc::c_int::from(a > b) - libc::c_int::from(a < b)
}

/// qsort of (cell, place) pairs.
pub(crate) fn qsort_pairs(pairs: &mut [(u32, u32)]) {
    // SAFETY: as in `qsort`.
    unsafe { libc::qsort(pairs.as_mut_ptr().cast(), pairs.len(), 8, Some(by_cell)) }
}

/// Insertion sort.
pub(crate) fn isort(keys: &mut [u64]) {
    for i in 1..keys.len() {
        let key = keys[i];
        let mut to = i;
        while to > 0 && keys[to - 1] > key {
            keys[to] = keys[to - 1];
            to -= 1;
        }
        keys[to] = key;
    }
}

/// A radix sort by a crate, on one thread.
pub(crate) fn radix(keys: &mut [u64]) {
    keys.radix_sort_builder().with_single_threaded_tuner().with_parallel(false).sort();
}

/// Takes the movers out, closing the gaps; then the keys that stay are `keys[..n]`.
pub(crate) fn extract(keys: &mut [u64], moves: &[(usize, u64)], movers: &mut Vec<u64>) -> usize {
    movers.clear();
    movers.extend(moves.iter().map(|m| m.1));
    let mut to = moves.first().map_or(keys.len(), |m| m.0);
    for (i, m) in moves.iter().enumerate() {
        let end = moves.get(i + 1).map_or(keys.len(), |m| m.0);
        keys.copy_within(m.0 + 1..end, to);
        to += end - m.0 - 1;
    }
    to
}

/// Merges two sorted arrays without a branch on their elements.
pub(crate) fn merge(a: &[u64], b: &[u64], out: &mut [u64]) {
    let (mut i, mut j, mut k) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        let left = x <= y;
        out[k] = if left { x } else { y };
        i += usize::from(left);
        j += usize::from(!left);
        k += 1;
    }
    if i < a.len() {
        out[k..].copy_from_slice(&a[i..]);
    } else {
        out[k..].copy_from_slice(&b[j..]);
    }
}
