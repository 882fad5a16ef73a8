//! The requirements of keys.

/// An integer that can be a key of a [`Pma`](super::Pma).
pub trait Key: Copy + Ord + Send + Sync + core::fmt::Debug + sealed::Sealed + 'static {
    /// An unsigned number in the same order.
    fn ordered(self) -> u64;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! keys {
    ($($t:ty: $flip:expr),+) => {$(
        impl sealed::Sealed for $t {}
        impl Key for $t {
            #[inline(always)]
            fn ordered(self) -> u64 {
                (self as u64) ^ $flip
            }
        }
    )+};
}
// A signed number is sign-extended; inverting the top bit then orders negative numbers first.
keys!(u8: 0, u16: 0, u32: 0, u64: 0, i8: 1 << 63, i16: 1 << 63, i32: 1 << 63, i64: 1 << 63);

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn ordered_keeps_the_order() {
        let signed = [i64::MIN, -2, -1, 0, 1, i64::MAX];
        assert!(signed.is_sorted_by_key(|k| k.ordered()));
        assert!([i8::MIN, -1, 0, i8::MAX].is_sorted_by_key(|k| k.ordered()));
        assert_eq!(0u64.ordered(), 0);
        assert_eq!(u64::MAX.ordered(), u64::MAX);
        assert_eq!(i64::MIN.ordered(), 0);
    }
}
