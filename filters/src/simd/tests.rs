use super::*;
use bytemuck::Pod;

#[test]
fn levels_are_in_order_and_start_at_scalar() {
    let all = Level::available();
    assert_eq!(all[0], Level::SCALAR);
    assert!(all.is_sorted());
    assert_eq!(all.last(), Some(&Level::best()));
}

#[test]
fn a_name_is_a_level_where_the_machine_has_it() {
    for isa in ISAS {
        assert_eq!(isa.to_string().parse(), Ok(isa));
        let level = Level::of(isa);
        assert_eq!(level.is_some(), Level::available().iter().any(|l| l.isa() == isa), "{isa}");
        assert!(level.is_none_or(|l| l.isa() == isa), "{isa}");
    }
    // Levels of another architecture are not below the best one.
    assert_eq!(Level::of(Isa::Neon).is_some(), cfg!(all(target_arch = "aarch64", target_endian = "little")));
    assert_eq!(Level::of(Isa::Sse2).is_some(), cfg!(target_arch = "x86_64"));
}

#[inline(always)]
fn sum_body(v: &[u16]) -> u32 {
    v.iter().map(|&x| u32::from(x)).sum()
}
#[inline(always)]
fn sum_of_vectors<V: Vector>(zero: V, v: &[u16]) -> u32 {
    let mut lanes = [[0u16; 32]; 2];
    v.chunks_exact(V::BYTES / 2)
        .fold(zero, |sum, v| sum.add16(zero.load(v)))
        .store(&mut lanes[0][..V::BYTES / 2]);
    lanes.as_flattened().iter().map(|&x| u32::from(x)).sum()
}

multiversion! {
    fn sum(level, v: &[u16]) -> u32 = sum_body;
    fn vectors(level, v: &[u16]) -> u32 => sum_of_vectors;
    fn longest<T: Ord>(level, a: T, b: T) -> T = core::cmp::max;
}

#[test]
fn dispatch_reaches_every_level() {
    let v: Vec<u16> = (0..1000).collect();
    for &level in Level::available() {
        assert_eq!(sum(level, &v), 499_500, "{level}");
        let want = if level == Level::SCALAR { 0 } else { 32 * 31 };
        assert_eq!(vectors(level, &[31; 32]), want, "{level}");
        assert_eq!(longest(level, 3, 4), 4);
    }
}

/// The lanes of a register.
fn lanes<V: Vector, T: Pod>(v: V) -> Vec<T> {
    let mut bytes = [0u8; 64];
    v.store(&mut bytes);
    bytes[..V::BYTES].chunks(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// The lanes of parts of 128 bits, one after another.
fn parts<T: Copy>(of: &[T], order: impl IntoIterator<Item = usize>) -> Vec<T> {
    let n = 16 / size_of::<T>();
    order.into_iter().flat_map(|part| of[part * n..(part + 1) * n].to_vec()).collect()
}

/// Lanes of `a` and `b` in turn.
fn interleaved<T: Copy>(a: &[T], b: &[T]) -> Vec<T> {
    a.iter().zip(b).flat_map(|(a, b)| [*a, *b]).collect()
}

/// Interleaves the lower (0) or the upper (1) half of each part.
fn unpacked<T: Copy>(a: &[T], b: &[T], half: usize) -> Vec<T> {
    let n = 8 / size_of::<T>();
    let halves = a.chunks(n).zip(b.chunks(n)).skip(half).step_by(2);
    halves.flat_map(|(a, b)| interleaved(a, b)).collect()
}

/// Alternates lanes of 64 bits.
fn packed<T: Copy>(a: &[T], b: &[T]) -> Vec<T> {
    let n = 8 / size_of::<T>();
    a.chunks(n).zip(b.chunks(n)).flat_map(|(a, b)| [a, b].concat()).collect()
}

/// 64 bytes: random ones, or lanes of 8 or 16 bits at the ends of what an operation distinguishes.
fn inputs(turn: u64, which: u64) -> [u8; 64] {
    const BYTES: [u8; 8] = [0, 1, 15, 63, 127, 128, 129, 255];
    const WORDS: [u16; 16] =
        [0, 1, 2, 127, 128, 255, 256, 0x0fff, 0x7f00, 0x7f7f, 0x7f80, 0x7fff, 0x8000, 0x8001, 0xff80, 0xffff];
    // The hash of splitmix64.
    let random = |i: usize| {
        let z = (turn << 16 | which << 8 | i as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as usize
    };
    match turn % 3 {
        0 => core::array::from_fn(|i| random(i) as u8),
        1 => core::array::from_fn(|i| BYTES[random(i) % 8]),
        _ => core::array::from_fn(|i| WORDS[random(i / 2) % 16].to_ne_bytes()[i % 2]),
    }
}

/// Compares methods of two registers with a function of one lane of each.
macro_rules! each {
    ($a:ident $b:ident: $($t:ty { $($method:ident = $of:expr;)+ })+) => {$({
        let (x, y) = (lanes::<_, $t>($a), lanes::<_, $t>($b));
        $({
            let of: fn($t, $t) -> $t = $of;
            let want: Vec<$t> = x.iter().zip(&y).map(|(x, y)| of(*x, *y)).collect();
            assert_eq!(lanes::<_, $t>($a.$method($b)), want, "{} of {x:?} and {y:?}", stringify!($method));
        })+
    })+};
}

/// Compares every method with its definition, lane by lane.
fn methods_body<V: Vector>(any: V, turn: u64) -> bool {
    let [a, b, c, d] = [0, 1, 2, 3].map(|which| any.load(&inputs(turn, which)));
    each! { a b:
        u8 {
            and = |x, y| x & y;
            or = |x, y| x | y;
            xor = |x, y| x ^ y;
            subs_u8 = u8::saturating_sub;
            min_u8 = Ord::min;
            max_u8 = Ord::max;
        }
        i8 { adds_i8 = i8::saturating_add; }
        u16 {
            adds_u16 = u16::saturating_add;
            subs_u16 = u16::saturating_sub;
            min_u16 = Ord::min;
            max_u16 = Ord::max;
            mulhi_u16 = |x, y| ((u32::from(x) * u32::from(y)) >> 16) as u16;
        }
        i16 {
            add16 = i16::wrapping_add;
            sub16 = i16::wrapping_sub;
            adds_i16 = i16::saturating_add;
            min_i16 = Ord::min;
            max_i16 = Ord::max;
            mullo16 = i16::wrapping_mul;
            mulhi_i16 = |x, y| ((i32::from(x) * i32::from(y)) >> 16) as i16;
        }
        i32 { add32 = i32::wrapping_add; }
    }
    let bounded = a.max_i16(any.splat16(-32767));
    let pairs = lanes::<_, i16>(bounded).into_iter().zip(lanes::<_, i16>(b));
    let want = pairs.map(|(x, y)| ((i32::from(x) * i32::from(y) + (1 << 14)) >> 15) as i16);
    assert_eq!(lanes::<_, i16>(bounded.mulhrs_i16(b)), want.collect::<Vec<_>>());
    let [bytes, other_bytes] = [a, b].map(lanes::<_, u8>);
    let [words, other_words] = [a, b].map(lanes::<_, u16>);
    let [signed, other_signed, third_signed] = [a, b, c].map(lanes::<_, i16>);
    let [longs, other_longs, third_longs] = [a, b, c].map(lanes::<_, i32>);
    let count = V::BYTES / 16;

    // Loads, stores and constants.
    let own = inputs(turn, 0);
    assert_eq!(bytes, own[..V::BYTES]);
    // SAFETY: 64 bytes are at least a register.
    assert_eq!(lanes::<_, u8>(unsafe { any.read(own.as_ptr()) }), bytes);
    let mut written = [0u8; 64];
    // SAFETY: likewise.
    unsafe { a.write(written.as_mut_ptr()) };
    assert!(written[..V::BYTES] == bytes && written[V::BYTES..].iter().all(|b| *b == 0));
    assert_eq!(lanes::<_, u8>(any.splat8(own[0])), vec![own[0]; V::BYTES]);
    assert_eq!(lanes::<_, i16>(any.splat16(signed[0])), vec![signed[0]; V::BYTES / 2]);
    assert_eq!(lanes::<_, i32>(any.splat32(longs[0])), vec![longs[0]; V::BYTES / 4]);

    // Shifts, also by more bits than a lane has.
    for n in (0..=33).chain([63, 64, 128, 255, 256, 0x1_0000, u32::MAX]) {
        let wide: Vec<u16> = words.iter().map(|x| x.checked_shl(n).unwrap_or(0)).collect();
        assert_eq!(lanes::<_, u16>(a.shl16(n)), wide, "shl16 by {n}");
        let narrow: Vec<u16> = words.iter().map(|x| x.checked_shr(n).unwrap_or(0)).collect();
        assert_eq!(lanes::<_, u16>(a.shr_u16(n)), narrow, "shr_u16 by {n}");
        let narrow: Vec<i16> = signed.iter().map(|x| x >> n.min(15)).collect();
        assert_eq!(lanes::<_, i16>(a.shr_i16(n)), narrow, "shr_i16 by {n}");
        let narrow: Vec<i32> = longs.iter().map(|x| x >> n.min(31)).collect();
        assert_eq!(lanes::<_, i32>(a.shr_i32(n)), narrow, "shr_i32 by {n}");
    }

    // Products and sums of several lanes.
    let products: Vec<i32> =
        signed.iter().zip(&other_signed).map(|(x, y)| i32::from(*x) * i32::from(*y)).collect();
    let pairs: Vec<i32> = products.as_chunks::<2>().0.iter().map(|[x, y]| x.wrapping_add(*y)).collect();
    assert_eq!(lanes::<_, i32>(a.madd16(b)), pairs, "madd16 of {signed:?} and {other_signed:?}");
    let [w, v] = [third_signed[0], third_signed[1]].map(i32::from);
    let sums = a.add_products16(b, any.splat32(third_longs[0]), [c, d]);
    for (half, (sums, before)) in sums.iter().zip([c, d]).enumerate() {
        let before = lanes::<_, i32>(before);
        let want: Vec<i32> = (0..V::BYTES / 4)
            .map(|i| {
                let at = i / 4 * 8 + 4 * half + i % 4;
                let products = [i32::from(signed[at]) * w, i32::from(other_signed[at]) * v];
                before[i].wrapping_add(products[0]).wrapping_add(products[1])
            })
            .collect();
        assert_eq!(lanes::<_, i32>(*sums), want, "add_products16, {half}");
    }
    let sums: Vec<u16> =
        bytes.as_chunks::<2>().0.iter().map(|[x, y]| u16::from(*x) + u16::from(*y)).collect();
    assert_eq!(lanes::<_, u16>(a.add_pairs_u8()), sums);
    let all = longs.iter().fold(0, |x, y| x ^ y);
    assert_eq!(lanes::<_, i32>(a.xor_reduce32()), vec![all; V::BYTES / 4]);
    assert_eq!(a.any_zero16(), words.contains(&0), "{words:?}");
    let tested: Vec<i32> =
        (0..V::BYTES / 4).map(|i| if other_longs[i] & third_longs[i] == 0 { 0 } else { longs[i] }).collect();
    assert_eq!(lanes::<_, i32>(a.select_if_test32(b, c)), tested);

    // Unpacking and packing, in each part and in order.
    assert_eq!(lanes::<_, u8>(a.unpack_low8(b)), unpacked(&bytes, &other_bytes, 0));
    assert_eq!(lanes::<_, u8>(a.unpack_high8(b)), unpacked(&bytes, &other_bytes, 1));
    assert_eq!(lanes::<_, u16>(a.unpack_low16(b)), unpacked(&words, &other_words, 0));
    assert_eq!(lanes::<_, u16>(a.unpack_high16(b)), unpacked(&words, &other_words, 1));
    let (x, y) = (a.preshuffle_for_unpack(), b.preshuffle_for_unpack());
    let both = [x.unpack_low8(y), x.unpack_high8(y)].map(lanes::<_, u8>).concat();
    assert_eq!(both, interleaved(&bytes, &other_bytes), "bytes in order");
    let both = [x.unpack_low16(y), x.unpack_high16(y)].map(lanes::<_, u16>).concat();
    assert_eq!(both, interleaved(&words, &other_words), "words in order");
    let narrow = |x: &[i16]| x.iter().map(|x| (*x).clamp(-128, 127) as i8).collect::<Vec<_>>();
    let [p, q] = [narrow(&signed), narrow(&other_signed)];
    assert_eq!(lanes::<_, i8>(a.pack_i16(b)), packed(&p, &q), "{signed:?} and {other_signed:?}");
    assert_eq!(lanes::<_, i8>(a.pack_i16(b).unshuffle_after_pack()), [p, q].concat());
    let narrow = |x: &[i16]| x.iter().map(|x| (*x).clamp(0, 255) as u8).collect::<Vec<_>>();
    let [p, q] = [narrow(&signed), narrow(&other_signed)];
    assert_eq!(lanes::<_, u8>(a.pack_u16(b)), packed(&p, &q), "{signed:?} and {other_signed:?}");
    assert_eq!(lanes::<_, u8>(a.pack_u16(b).unshuffle_after_pack()), [p, q].concat());
    let narrow = |x: &[i32]| x.iter().map(|x| (*x).clamp(-32768, 32767) as i16).collect::<Vec<_>>();
    let [p, q] = [narrow(&longs), narrow(&other_longs)];
    assert_eq!(lanes::<_, i16>(a.pack_i32(b)), packed(&p, &q), "{longs:?} and {other_longs:?}");
    assert_eq!(lanes::<_, i16>(a.pack_i32(b).unshuffle_after_pack()), [p, q].concat());
    let (x, y) = (a.shr_i16(8), b.shr_i16(8));
    assert_eq!(
        lanes::<_, u8>(x.low_bytes(y)),
        [x, y].map(lanes::<_, u16>).concat().iter().map(|x| *x as u8).collect::<Vec<_>>()
    );
    let (x, y) = (a.min_i16(any.splat16(0x7f7f)), b.min_i16(any.splat16(0x7f7f)));
    let rounded =
        [x, y].map(|x| lanes::<_, i16>(x).iter().map(|x| ((x + 128) >> 8) as i8).collect::<Vec<_>>());
    assert_eq!(lanes::<_, i8>(x.high_bytes(y)), rounded.concat());
    let [even, odd] = [0, 1].map(|first| (first..count).step_by(2));
    let in_turn = |parts: core::iter::StepBy<core::ops::Range<usize>>| parts.flat_map(|i| [i, count + i]);
    let halves = rounded.concat().chunks(8).map(<[i8]>::to_vec).collect::<Vec<_>>();
    let want: Vec<i8> =
        in_turn(even.clone()).chain(in_turn(odd.clone())).flat_map(|i| halves[i].clone()).collect();
    assert_eq!(lanes::<_, i8>(x.high_bytes_of_parts(y)), want);

    // Whole parts.
    let pair = [bytes.clone(), other_bytes].concat();
    let half = count.div_ceil(2);
    assert_eq!(lanes::<_, u8>(a.lower()), parts(&pair, 0..half));
    assert_eq!(lanes::<_, u8>(a.upper()), parts(&pair, count - half..count));
    assert_eq!(lanes::<_, u8>(any.join(a.lower(), a.upper())), bytes);
    if count > 1 {
        let of = |i: core::ops::Range<usize>| i.clone().chain(i.start + count..i.end + count);
        let step =
            |i: &core::iter::StepBy<core::ops::Range<usize>>| i.clone().chain(i.clone().map(|i| i + count));
        for (name, got, want) in [
            ("align_lanes_128", a.align_lanes_128(b), parts(&pair, 1..1 + count)),
            ("align_lanes_256", a.align_lanes_256(b), parts(&pair, 2..2 + count)),
            ("lower_halves", a.lower_halves(b), parts(&pair, of(0..half))),
            ("upper_halves", a.upper_halves(b), parts(&pair, of(half..count))),
            ("even_parts", a.even_parts(b), parts(&pair, step(&even))),
            ("odd_parts", a.odd_parts(b), parts(&pair, step(&odd))),
            ("interleave_even_128", a.interleave_even_128(b), parts(&pair, in_turn(even.clone()))),
            ("interleave_odd_128", a.interleave_odd_128(b), parts(&pair, in_turn(odd.clone()))),
        ] {
            assert_eq!(lanes::<_, u8>(got), want, "{name}");
        }
    }

    // Tables.
    let table: [[u8; 64]; 16] = core::array::from_fn(|i| inputs(3 * turn, 4 + i as u64));
    let entries: &[u8; 256] = bytemuck::cast_ref(&table[..4].as_chunks::<4>().0[0]);
    assert_eq!(
        lanes::<_, u8>(a.look_up8(entries)),
        bytes.iter().map(|i| entries[usize::from(*i)]).collect::<Vec<_>>()
    );
    let entries: &[i16; 256] =
        &core::array::from_fn(|i| bytemuck::cast_slice::<_, i16>(table.as_flattened())[i]);
    let want: Vec<i16> = bytes.iter().map(|i| entries[usize::from(*i)]).collect();
    assert_eq!(a.look_up_words(entries).map(lanes::<_, i16>).concat(), want);
    let pairs: [[i16; 2]; 64] = core::array::from_fn(|i| [entries[2 * i], entries[2 * i + 1]]);
    for (i, got) in a.look_up_pairs(&pairs).map(lanes::<_, i16>).into_iter().enumerate() {
        assert_eq!(got, words.iter().map(|x| pairs[usize::from(*x & 63)][i]).collect::<Vec<_>>(), "{i}");
    }
    let entries: &[i16; 16] = &core::array::from_fn(|i| entries[i]);
    let index = [a.shr_u16(12), b.shr_u16(12)];
    let want =
        index.map(lanes::<_, u16>).concat().iter().map(|i| entries[usize::from(*i)]).collect::<Vec<_>>();
    assert_eq!(index[0].look_up16(index[1], any.table16(entries)).map(lanes::<_, i16>).concat(), want);
    true
}

multiversion! {
    fn check_methods(level, turn: u64) -> bool => methods_body;
}

#[test]
fn every_method_is_its_definition() {
    for &level in Level::available() {
        let checked = (0..3000).filter(|turn| check_methods(level, *turn)).count();
        assert_eq!(checked, if level == Level::SCALAR { 0 } else { 3000 }, "{level}");
    }
}
