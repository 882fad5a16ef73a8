//! Registers of any width, for kernels written by hand.

use bytemuck::Pod;

/// A register of 16, 32 or 64 bytes, as lanes of 8, 16 or 32 bits.
///
/// A value is a witness: it can only come from another one, and the first from the dispatch
/// ([`multiversion!`](crate::simd)), so whoever holds one runs on a machine that has its instructions. That makes every method
/// safe, those too that make a register of something else and look at nothing of `self`.
///
/// Bodies over registers are `#[inline(always)]` from the dispatch down, and closures in them do one or two operations at
/// most: a closure is compiled without the level's instructions, and where it is not inlined every register goes through memory.
/// That holds for what is given to `for_each` and to the `map` of arrays, so these are written as loops.
///
/// Names say what happens to lanes, `u` and `i` whether they are signed where that matters, `adds` and `subs` that results
/// saturate. Packing and unpacking work on each 128 bits by themselves; [`deal`](Vector::deal) and
/// [`gather`](Vector::gather) bring results in the order of memory.
#[rustfmt::skip]
pub(crate) trait Vector: Copy {
    /// The next narrower register.
    type Half: Vector;
    /// Bytes of a register.
    const BYTES: usize;
    /// Whether bytes are looked up and moved across the whole register at once.
    const BYTE_TABLES: bool = false;

    /// The first bytes of a slice. Panics when it is shorter than a register.
    fn load<T: Pod>(self, from: &[T]) -> Self;
    /// To the first bytes of a slice. Panics when it is shorter than a register.
    fn store<T: Pod>(self, to: &mut [T]);
    /// The bytes from an address on, aligned or not.
    ///
    /// # Safety
    /// As many as a register has must be there.
    unsafe fn read<T: Pod>(self, from: *const T) -> Self;
    /// To the bytes from an address on, aligned or not.
    ///
    /// # Safety
    /// As many as a register has must be there, for the caller alone.
    unsafe fn write<T: Pod>(self, to: *mut T);
    fn splat8(self, v: u8) -> Self;
    fn splat16(self, v: i16) -> Self;
    fn splat32(self, v: i32) -> Self;

    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;

    fn add8(self, b: Self) -> Self;
    fn sub8(self, b: Self) -> Self;
    fn adds_i8(self, b: Self) -> Self;
    fn subs_u8(self, b: Self) -> Self;
    fn min_u8(self, b: Self) -> Self;
    fn max_u8(self, b: Self) -> Self;

    fn add16(self, b: Self) -> Self;
    fn sub16(self, b: Self) -> Self;
    fn adds_i16(self, b: Self) -> Self;
    fn adds_u16(self, b: Self) -> Self;
    fn subs_u16(self, b: Self) -> Self;
    fn min_i16(self, b: Self) -> Self;
    fn max_i16(self, b: Self) -> Self;
    fn min_u16(self, b: Self) -> Self;
    fn max_u16(self, b: Self) -> Self;
    /// The lower half of a product.
    fn mullo16(self, b: Self) -> Self;
    /// The upper half, `floor(a b / 65536)`.
    fn mulhi_i16(self, b: Self) -> Self;
    fn mulhi_u16(self, b: Self) -> Self;
    /// Shifted by a number of bits that is the same for all lanes.
    fn shl16(self, n: u32) -> Self;
    fn shr_u16(self, n: u32) -> Self;
    fn shr_i16(self, n: u32) -> Self;

    fn add32(self, b: Self) -> Self;
    fn shr_i32(self, n: u32) -> Self;
    /// Products of signed 16 bits, each pair of neighbours added.
    fn madd16(self, b: Self) -> Self;

    /// Lanes, or 0 where `x` and `y` have no bit in common.
    fn where_any32(self, x: Self, y: Self) -> Self;
    /// All lanes under XOR, in every one.
    fn xor_all32(self) -> Self;

    /// Lanes of the lower (upper) half of each 128 bits, one of each in turn.
    fn unpack_low8(self, b: Self) -> Self;
    fn unpack_high8(self, b: Self) -> Self;
    fn unpack_low16(self, b: Self) -> Self;
    fn unpack_high16(self, b: Self) -> Self;
    /// Lanes of half the size, saturating: 128 bits of both in turn.
    fn pack_i16(self, b: Self) -> Self;
    fn pack_u16(self, b: Self) -> Self;
    fn pack_i32(self, b: Self) -> Self;
    /// The order from which unpacking makes consecutive lanes.
    fn deal(self) -> Self;
    /// The order that packing leaves, back to that of the lanes packed.
    fn gather(self) -> Self;

    /// Neighbouring bytes added, in lanes of 16 bits.
    fn pairs_u8(self) -> Self;
    /// The lower bytes of lanes of 16 bits that fit a signed one, in the order of the lanes.
    #[inline(always)]
    fn low_bytes(self, b: Self) -> Self {
        self.pack_i16(b).gather()
    }

    /// The upper bytes of lanes of 16 bits, rounded, in the order of the lanes; and of two registers whose parts of 128 bits
    /// are in turn (`a.even_in_turn(b)` and `a.odd_in_turn(b)` are in order).
    #[inline(always)]
    fn high_bytes(self, b: Self) -> Self {
        self.high_bytes_of_parts(b).gather()
    }
    fn high_bytes_of_parts(self, b: Self) -> Self;

    /// Whether any lane of 16 bits is zero.
    fn any_zero16(self) -> bool;

    // Parts of 128 bits, two or four a register; for registers of one part these mean nothing.

    /// The register that begins one part (two parts) after this one, which another follows.
    fn after_step(self, next: Self) -> Self;
    fn after_two(self, next: Self) -> Self;
    /// The lower (upper) half of both, one after the other.
    fn lower_halves(self, b: Self) -> Self;
    fn upper_halves(self, b: Self) -> Self;
    /// The even (odd) parts of both, one after the other, and one of each in turn.
    fn even_parts(self, b: Self) -> Self;
    fn odd_parts(self, b: Self) -> Self;
    fn even_in_turn(self, b: Self) -> Self;
    fn odd_in_turn(self, b: Self) -> Self;
    /// The lower (upper) half as a register, and a register of both; one of 128 bits is its own half.
    fn lower(self) -> Self::Half;
    fn upper(self) -> Self::Half;
    fn join(self, lower: Self::Half, upper: Self::Half) -> Self;

    /// Bytes looked up.
    fn look_up8(self, table: &[u8; 256]) -> Self {
        let mut lanes = [0u8; 64];
        self.store(&mut lanes);
        self.load(&lanes.map(|i| table[usize::from(i)]))
    }
    /// Entries of 16 bits by bytes: of the first and of the second half of them.
    fn look_up_words(self, table: &[i16; 256]) -> [Self; 2] {
        let mut lanes = [0u8; 64];
        self.store(&mut lanes);
        let words = lanes.map(|i| table[usize::from(i)]);
        [self.load(&words), self.load(&words[Self::BYTES / 2..])]
    }
    /// A table as [`look_up16`](Vector::look_up16) takes it.
    fn table16(self, table: &[i16; 16]) -> [Self; 2] {
        [self.load(table), self.load(&table[8..])]
    }
    /// Lanes of 16 bits, from 0 to 15, looked up.
    fn look_up16(self, table: [Self; 2]) -> Self {
        let (mut lanes, mut entries) = ([0u16; 32], [0i16; 16]);
        self.store(&mut lanes);
        table[0].store(&mut entries);
        table[1].store(&mut entries[8..]);
        self.load(&lanes.map(|i| entries[usize::from(i)]))
    }
}
