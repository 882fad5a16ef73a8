//! Vector registers of any width, for handwritten kernels.

use bytemuck::Pod;

/// A register of 16, 32 or 64 bytes, as lanes of 8, 16 or 32 bits.
///
/// A value is a witness: it is made from another value, the first one by the dispatch ([`multiversion!`](crate::simd)),
/// so it exists only on a machine that supports its instructions. That makes every method safe, including those that do
/// not use the contents of `self`.
///
/// Bodies over registers are `#[inline(always)]` from the dispatch down, and closures in them have one or two
/// operations at most: a closure is compiled without the level's instructions, and if it is not inlined, every register
/// goes through memory. The same holds for closures passed to `for_each` and to the `map` of arrays, so use loops
/// instead.
///
/// Names give the size of lanes, with `u` or `i` if the sign matters; `adds` and `subs` saturate. Packing and unpacking
/// work on each 128-bit part separately; [`preshuffle_for_unpack`](Vector::preshuffle_for_unpack) and
/// [`unshuffle_after_pack`](Vector::unshuffle_after_pack) restore the order in memory.
#[rustfmt::skip]
pub(crate) trait Vector: Copy {
    /// The next narrower register.
    type Half: Vector;
    /// Bytes of a register.
    const BYTES: usize;
    /// Whether [`look_up8`](Vector::look_up8) and [`look_up16`](Vector::look_up16) are instructions, not loads of entries.
    const LOOK_UPS: bool = Self::BYTES > 16;
    /// Whether [`madd16`](Vector::madd16) is one instruction.
    const PAIR_PRODUCTS: bool = true;
    /// Whether byte look-ups and permutations work across the whole register.
    const BYTE_TABLES: bool = false;

    /// Loads the first bytes of a slice. Panics if it is shorter than a register.
    #[inline(always)]
    fn load<T: Pod>(self, from: &[T]) -> Self {
        assert!(size_of_val(from) >= Self::BYTES, "a slice shorter than a register");
        // SAFETY: the slice is long enough.
        unsafe { self.read(from.as_ptr()) }
    }
    /// Stores to the first bytes of a slice. Panics if it is shorter than a register.
    #[inline(always)]
    fn store<T: Pod>(self, to: &mut [T]) {
        assert!(size_of_val(to) >= Self::BYTES, "a slice shorter than a register");
        // SAFETY: the slice is long enough.
        unsafe { self.write(to.as_mut_ptr()) }
    }
    /// Loads the bytes at an address, aligned or not.
    ///
    /// # Safety
    /// The bytes of a whole register must be readable there.
    unsafe fn read<T: Pod>(self, from: *const T) -> Self;
    /// Stores to the bytes at an address, aligned or not.
    ///
    /// # Safety
    /// The bytes of a whole register must be writable there, with exclusive access.
    unsafe fn write<T: Pod>(self, to: *mut T);
    fn splat8(self, v: u8) -> Self;
    fn splat16(self, v: i16) -> Self;
    fn splat32(self, v: i32) -> Self;

    fn and(self, b: Self) -> Self;
    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;

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
    /// The lower half of the products.
    fn mullo16(self, b: Self) -> Self;
    /// The upper half of the products, `floor(a b / 65536)`.
    fn mulhi_i16(self, b: Self) -> Self;
    fn mulhi_u16(self, b: Self) -> Self;
    /// The products in 32768ths, rounded, halves up; those of -32768 with itself have no defined result.
    fn mulhrs_i16(self, b: Self) -> Self;
    /// Shifts all lanes by the same number of bits.
    fn shl16(self, n: u32) -> Self;
    fn shr_u16(self, n: u32) -> Self;
    fn shr_i16(self, n: u32) -> Self;

    fn add32(self, b: Self) -> Self;
    fn shr_i32(self, n: u32) -> Self;
    /// Products of signed 16-bit lanes, with neighbouring pairs added.
    fn madd16(self, b: Self) -> Self;

    /// The lanes of `self`, or 0 where `x` and `y` have no bit in common.
    fn select_if_test32(self, x: Self, y: Self) -> Self;
    /// Adds `self * w + b * v` to sums of 32 bits, for the lower and the upper half of each 128 bits. `weights` has w in the
    /// even and v in the odd lanes.
    #[inline(always)]
    fn add_products16(self, b: Self, weights: Self, [low, high]: [Self; 2]) -> [Self; 2] {
        [
            low.add32(self.unpack_low16(b).madd16(weights)),
            high.add32(self.unpack_high16(b).madd16(weights)),
        ]
    }

    /// The XOR of all lanes, in every lane.
    fn xor_reduce32(self) -> Self;

    /// Interleaves the lanes of the lower (upper) half of each 128 bits.
    fn unpack_low8(self, b: Self) -> Self;
    fn unpack_high8(self, b: Self) -> Self;
    fn unpack_low16(self, b: Self) -> Self;
    fn unpack_high16(self, b: Self) -> Self;
    /// Narrows lanes to half the size, saturating; 128-bit parts of both alternate.
    fn pack_i16(self, b: Self) -> Self;
    fn pack_u16(self, b: Self) -> Self;
    fn pack_i32(self, b: Self) -> Self;
    /// Permutes so that unpacking gives consecutive lanes.
    fn preshuffle_for_unpack(self) -> Self;
    /// Restores the order of the lanes after packing.
    fn unshuffle_after_pack(self) -> Self;

    /// Sums of neighbouring bytes, in lanes of 16 bits.
    fn add_pairs_u8(self) -> Self;
    /// The lower bytes of 16-bit lanes that fit a signed one, in the order of the lanes.
    #[inline(always)]
    fn low_bytes(self, b: Self) -> Self {
        self.pack_i16(b).unshuffle_after_pack()
    }

    /// The upper bytes of 16-bit lanes, rounded, in the order of the lanes; and of two registers whose 128-bit parts
    /// alternate (`a.interleave_even_128(b)` and `a.interleave_odd_128(b)` are in order). Lanes above 0x7f7f, which round to
    /// 128, have no defined result.
    #[inline(always)]
    fn high_bytes(self, b: Self) -> Self {
        self.high_bytes_of_parts(b).unshuffle_after_pack()
    }
    fn high_bytes_of_parts(self, b: Self) -> Self;

    /// Whether any lane of 16 bits is zero.
    fn any_zero16(self) -> bool;

    // Operations on 128-bit parts, two or four per register; they have no meaning for registers of one part.

    /// The register that begins one part (two parts) later in the concatenation with `next`.
    fn align_lanes_128(self, next: Self) -> Self;
    fn align_lanes_256(self, next: Self) -> Self;
    /// The lower (upper) halves of both, concatenated.
    fn lower_halves(self, b: Self) -> Self;
    fn upper_halves(self, b: Self) -> Self;
    /// The even (odd) parts of both, concatenated or alternating.
    fn even_parts(self, b: Self) -> Self;
    fn odd_parts(self, b: Self) -> Self;
    fn interleave_even_128(self, b: Self) -> Self;
    fn interleave_odd_128(self, b: Self) -> Self;
    /// The lower (upper) half as a register, and the concatenation of two; a register of 128 bits is its own
    /// half.
    fn lower(self) -> Self::Half;
    fn upper(self) -> Self::Half;
    fn join(self, lower: Self::Half, upper: Self::Half) -> Self;

    /// Looks up bytes.
    fn look_up8(self, table: &[u8; 256]) -> Self {
        let mut lanes = [0u8; 64];
        self.store(&mut lanes);
        self.load(&lanes.map(|i| table[usize::from(i)]))
    }
    /// Looks up 16-bit entries by bytes, for the first and the second half of the bytes.
    fn look_up_words(self, table: &[i16; 256]) -> [Self; 2] {
        let mut lanes = [0u8; 64];
        self.store(&mut lanes);
        let words = lanes.map(|i| table[usize::from(i)]);
        [self.load(&words), self.load(&words[Self::BYTES / 2..])]
    }
    /// Looks up pairs of entries by the six lowest bits of 16-bit lanes: the first of each, and the second.
    fn look_up_pairs(self, table: &[[i16; 2]; 64]) -> [Self; 2] {
        let (mut lanes, mut pairs) = ([0u16; 32], [[0i16; 32]; 2]);
        self.store(&mut lanes);
        for (x, i) in lanes[..Self::BYTES / 2].iter().enumerate() {
            [pairs[0][x], pairs[1][x]] = table[usize::from(*i & 63)];
        }
        [self.load(&pairs[0]), self.load(&pairs[1])]
    }
    /// Prepares a table for [`look_up16`](Vector::look_up16).
    fn table16(self, table: &[i16; 16]) -> [Self; 2] {
        [self.load(table), self.load(&table[8..])]
    }
    /// Looks up the 16-bit lanes of two registers, with values from 0 to 15.
    fn look_up16(self, b: Self, table: [Self; 2]) -> [Self; 2] {
        let (mut lanes, mut entries) = ([[0u16; 32]; 2], [0i16; 16]);
        self.store(&mut lanes[0]);
        b.store(&mut lanes[1]);
        table[0].store(&mut entries);
        table[1].store(&mut entries[8..]);
        let looked_up = lanes.map(|lanes| lanes.map(|i| entries[usize::from(i)]));
        [self.load(&looked_up[0]), self.load(&looked_up[1])]
    }
}
