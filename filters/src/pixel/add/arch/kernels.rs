//! The kernels, written once: each instruction set's file names its registers and instructions and then takes them.

/// Writes the body once for each number, as a constant: places in a ring are then known when compiling.
macro_rules! unrolled {
    ($i:ident in $($n:literal)+ $body:block) => {$({
        #[allow(non_upper_case_globals)]
        const $i: usize = $n;
        $body
    })+};
}
pub(super) use unrolled;

/// The kernels for one set of `$features`. What they are made of is looked up where the macro is used: the type `Steps`
/// of a register, the number `RING` of registers for 32 steps; `start`, which makes these, and `next(ring, m)`, which
/// gives register m of the 32 steps after, all before m being those already; `h8`, which turns the registers of eight
/// steps into centred numbers, and `h8_pairs`, which may leave each two of them in an order of their own; `high(a, b, half)`
/// and `high_pairs(a, b, half)`, the high bytes of two registers, of which each number is rounded by `half` = 128, in the
/// order of the pixels; `start_dealt`, `next_dealt` and `high_dealt`, the same with steps dealt to the registers in the
/// order that packing likes; `ODD`, whether all words of a ring have bit 0 set, which no other bit and no H8 ever looks
/// at and the uniform law sets anyway; and instructions by short names.
macro_rules! kernels {
    ($features:literal) => {
        /// Registers of eight steps, which are 64 pixels.
        const BLOCK: usize = RING / 4;
        /// Pixels of 32 steps.
        const PIXELS: usize = 256;

        /// What 8-bit samples are changed by.
        struct Bytes {
            gain: Steps,
            or: Steps,
            half: Steps,
            sign: Steps,
            lo: Steps,
            hi: Steps,
        }

        impl Bytes {
            #[inline]
            #[target_feature(enable = $features)]
            fn new(job: Job<u8>, or: i16) -> Bytes {
                Bytes {
                    gain: set16(job.gain),
                    or: set16(or),
                    half: set16(job.round),
                    sign: set8(-128),
                    lo: set8(job.lo as i8),
                    hi: set8(job.hi as i8),
                }
            }

            /// Noise times 256, of words or centred numbers.
            #[inline]
            #[target_feature(enable = $features)]
            fn noise(&self, w: Steps) -> Steps {
                mulhi(or(w, self.or), self.gain)
            }

            /// Changes a register of samples by their noise.
            ///
            /// # Safety
            /// As many samples as the register holds must be at `x`.
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn add<const FULL: bool>(&self, x: *mut u8, n: Steps) {
                // SAFETY: the caller's promise.
                let old = unsafe { load(x.cast()) };
                let sum = xor(adds8(xor(old, self.sign), n), self.sign);
                if FULL {
                    // SAFETY: as above.
                    return unsafe { store(x.cast(), sum) };
                }
                let (top, bottom) = (maxu8(old, self.hi), minu8(old, self.lo));
                // SAFETY: as above.
                unsafe { store(x.cast(), maxu8(minu8(sum, top), bottom)) };
            }
        }

        /// What 16-bit samples are changed by.
        struct Words {
            gain: Steps,
            or: Steps,
            half: Steps,
            shift: __m128i,
            sign: Steps,
            lo: Steps,
            hi: Steps,
        }

        impl Words {
            #[inline]
            #[target_feature(enable = $features)]
            fn new(job: Job<u16>, or: i16) -> Words {
                Words {
                    gain: set16(job.gain),
                    or: set16(or),
                    half: set16(job.round),
                    shift: _mm_cvtsi32_si128(job.shift as i32),
                    sign: set16(i16::MIN),
                    lo: set16(job.lo as i16),
                    hi: set16(job.hi as i16),
                }
            }

            /// Changes a register of samples by one of words.
            ///
            /// # Safety
            /// As many samples as the register holds must be at `x`.
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn add(&self, x: *mut u16, w: Steps) {
                let n = sra16(add16(mulhi(or(w, self.or), self.gain), self.half), self.shift);
                // SAFETY: the caller's promise.
                let old = xor(unsafe { load(x.cast()) }, self.sign);
                let (top, bottom) = (max16(old, self.hi), min16(old, self.lo));
                let new = xor(max16(min16(adds16(old, n), top), bottom), self.sign);
                // SAFETY: as above.
                unsafe { store(x.cast(), new) };
            }
        }

        // No closures below: those given to functions without these features are not inlined, and every register would
        // then go through memory.

        /// The registers of block b.
        #[inline]
        #[target_feature(enable = $features)]
        fn block(ring: &[Steps; RING], b: usize) -> [Steps; BLOCK] {
            let mut w = [ring[BLOCK * b]; BLOCK];
            w.copy_from_slice(&ring[BLOCK * b..][..BLOCK]);
            w
        }

        /// The noise of the 64 samples of block b.
        #[inline]
        #[target_feature(enable = $features)]
        fn byte_noise<const H8: bool>(k: &Bytes, ring: &[Steps; RING], b: usize) -> [Steps; BLOCK / 2] {
            let w = block(ring, b);
            let c = if H8 { h8_pairs(w) } else { w };
            let mut noise = [k.half; BLOCK / 2];
            for (i, n) in noise.iter_mut().enumerate() {
                let (a, b) = if H8 || ODD {
                    (mulhi(c[2 * i], k.gain), mulhi(c[2 * i + 1], k.gain))
                } else {
                    (k.noise(c[2 * i]), k.noise(c[2 * i + 1]))
                };
                *n = if H8 { high_pairs(a, b, k.half) } else { high_dealt(a, b, k.half) };
            }
            noise
        }

        /// The centred numbers of block b.
        #[inline]
        #[target_feature(enable = $features)]
        fn centred<const H8: bool>(ring: &[Steps; RING], b: usize) -> [Steps; BLOCK] {
            let w = block(ring, b);
            if H8 { h8(w) } else { w }
        }

        #[target_feature(enable = $features)]
        pub(in crate::pixel::add::arch) fn bytes<const H8: bool>(row: &mut [u8], lanes: &Lanes, job: Job<u8>) {
            // All codes legal: saturating keeps within them.
            if (job.lo, job.hi) == (0, 255) {
                bytes_within::<H8, true>(row, lanes, job);
            } else {
                bytes_within::<H8, false>(row, lanes, job);
            }
        }

        #[target_feature(enable = $features)]
        fn bytes_within<const H8: bool, const FULL: bool>(row: &mut [u8], lanes: &Lanes, job: Job<u8>) {
            const N: usize = size_of::<Steps>();
            let k = Bytes::new(job, !H8 as i16);
            let mut ring = if H8 { start(lanes) } else { start_dealt(lanes) };
            let mut blocks = row.chunks_exact_mut(PIXELS);
            for block in &mut blocks {
                unrolled!(b in 0 1 2 3 {
                    let noise = byte_noise::<H8>(&k, &ring, b);
                    let x = block[64 * b..][..64].as_mut_ptr();
                    // What is asked for ahead may be anywhere.
                    _mm_prefetch::<_MM_HINT_T0>(x.wrapping_add(AHEAD).cast_const().cast());
                    for (i, n) in noise.into_iter().enumerate() {
                        // SAFETY: 64 samples are here: BLOCK / 2 registers of N.
                        unsafe { k.add::<FULL>(x.add(i * N), n) };
                    }
                    for i in 0..BLOCK / 2 {
                        let m = BLOCK * b + 2 * i;
                        if H8 {
                            ring[m] = next(&ring, m);
                            ring[m + 1] = next(&ring, m + 1);
                        } else {
                            [ring[m], ring[m + 1]] = next_dealt(&ring, m);
                        }
                    }
                });
            }
            let mut rests = blocks.into_remainder().chunks_mut(64);
            unrolled!(b in 0 1 2 3 {
                let Some(rest) = rests.next() else { return };
                let noise = byte_noise::<H8>(&k, &ring, b);
                let mut copy = [0; 64];
                let whole = rest.len() == 64;
                let x = if whole {
                    rest.as_mut_ptr()
                } else {
                    copy[..rest.len()].copy_from_slice(rest);
                    copy.as_mut_ptr()
                };
                for (i, n) in noise.into_iter().enumerate() {
                    // SAFETY: 64 samples are here: BLOCK / 2 registers of N.
                    unsafe { k.add::<FULL>(x.add(i * N), n) };
                }
                if !whole {
                    rest.copy_from_slice(&copy[..rest.len()]);
                }
            });
        }

        #[target_feature(enable = $features)]
        pub(in crate::pixel::add::arch) fn words<const H8: bool>(row: &mut [u16], lanes: &Lanes, job: Job<u16>) {
            const N: usize = size_of::<Steps>() / 2;
            let k = Words::new(job, (!H8 && !ODD) as i16);
            let mut ring = start(lanes);
            let mut blocks = row.chunks_exact_mut(PIXELS);
            for block in &mut blocks {
                unrolled!(b in 0 1 2 3 {
                    let c = centred::<H8>(&ring, b);
                    let x = block[64 * b..][..64].as_mut_ptr();
                    // What is asked for ahead may be anywhere.
                    let ahead = x.wrapping_byte_add(AHEAD).cast_const();
                    _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
                    _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_byte_add(64).cast());
                    for (i, c) in c.into_iter().enumerate() {
                        // SAFETY: 64 samples are here: BLOCK registers of N.
                        unsafe { k.add(x.add(i * N), c) };
                    }
                    for m in BLOCK * b..BLOCK * (b + 1) {
                        ring[m] = next(&ring, m);
                    }
                });
            }
            let mut rests = blocks.into_remainder().chunks_mut(64);
            unrolled!(b in 0 1 2 3 {
                let Some(rest) = rests.next() else { return };
                let c = centred::<H8>(&ring, b);
                let mut copy = [0; 64];
                let whole = rest.len() == 64;
                let x = if whole {
                    rest.as_mut_ptr()
                } else {
                    copy[..rest.len()].copy_from_slice(rest);
                    copy.as_mut_ptr()
                };
                for (i, c) in c.into_iter().enumerate() {
                    // SAFETY: 64 samples are here: BLOCK registers of N.
                    unsafe { k.add(x.add(i * N), c) };
                }
                if !whole {
                    rest.copy_from_slice(&copy[..rest.len()]);
                }
            });
        }

        /// Adds numbers that are there: `c | or`, as many as samples.
        #[target_feature(enable = $features)]
        pub(in crate::pixel::add::arch) fn add_bytes(row: &mut [u8], c: &[u16], or: i16, job: Job<u8>) {
            const N: usize = size_of::<Steps>();
            let k = Bytes::new(job, or);
            by_vectors::<u8, N>(row, c, |x, c| {
                let c = c.as_ptr();
                _mm_prefetch::<_MM_HINT_T0>(x.as_ptr().wrapping_add(AHEAD).cast());
                // SAFETY: N samples and N numbers are here, and these are two registers.
                unsafe {
                    let n = high(k.noise(load(c.cast())), k.noise(load(c.add(N / 2).cast())), k.half);
                    k.add::<false>(x.as_mut_ptr(), n);
                }
            });
        }

        /// The same for 16 bits.
        #[target_feature(enable = $features)]
        pub(in crate::pixel::add::arch) fn add_words(row: &mut [u16], c: &[u16], or: i16, job: Job<u16>) {
            const N: usize = size_of::<Steps>() / 2;
            let k = Words::new(job, or);
            by_vectors::<u16, N>(row, c, |x, c| {
                _mm_prefetch::<_MM_HINT_T0>(x.as_ptr().wrapping_byte_add(AHEAD).cast());
                // SAFETY: N samples and N numbers are here.
                unsafe { k.add(x.as_mut_ptr(), load(c.as_ptr().cast())) };
            });
        }
    };
}
pub(super) use kernels;

/// Works on a part of a row that may be shorter than `N`: a whole one where it stands, else in a copy that is filled up.
#[inline(always)]
fn filled_up<T: Copy + Default, const N: usize>(rest: &mut [T], one: impl Fn(&mut [T; N])) {
    if let Ok(whole) = <&mut [T; N]>::try_from(&mut *rest) {
        return one(whole);
    }
    let mut whole = [T::default(); N];
    whole[..rest.len()].copy_from_slice(rest);
    one(&mut whole);
    rest.copy_from_slice(&whole[..rest.len()]);
}

/// Calls `one` with `N` samples and their numbers at a time; the last in copies that are filled up.
#[inline(always)]
pub(super) fn by_vectors<T: Copy + Default, const N: usize>(
    row: &mut [T],
    c: &[u16],
    one: impl Fn(&mut [T; N], &[u16; N]),
) {
    let n = row.len().min(c.len());
    let (rows, rest) = row[..n].as_chunks_mut::<N>();
    let (cs, c_rest) = c[..n].as_chunks::<N>();
    for (x, c) in rows.iter_mut().zip(cs) {
        one(x, c);
    }
    if !rest.is_empty() {
        let mut numbers = [0; N];
        numbers[..c_rest.len()].copy_from_slice(c_rest);
        filled_up(rest, |x| one(x, &numbers));
    }
}
