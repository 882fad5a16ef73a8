use super::*;
use crate::simd::Level;

#[test]
fn weights_sum_to_one_exactly() {
    for list in
        [vec![1.0], vec![0.1; 777], vec![-0.1, 0.7, 0.6, -0.1], vec![0.0, 0.0, 0.0], vec![], vec![1e-9; 3]]
    {
        let w = weights(&list);
        assert_eq!(w.iter().sum::<i32>(), 1 << BITS, "{list:?}");
        let total: f64 = list.iter().sum();
        if total > 0.0 {
            for (w, e) in w.iter().zip(&list) {
                assert!((f64::from(*w) - e / total * 16384.0).abs() <= 1.0, "{w} {e}");
            }
        }
    }
    assert_eq!(weights(&[0.0, 0.0, 0.0]), [0, 16384, 0]);
}

fn rows_of<T: Kernel>(top: f64) -> Vec<Vec<T>> {
    let sample = |i: usize| T::from_f64(((i * 40503 + 977) % 65536) as f64 / 65535.0 * top);
    (0..9).map(|k| (0..301).map(|x| sample(x * 9 + k * 131)).collect()).collect()
}

fn sums<T: Kernel>(top: f64, bits: u8, by: f64) {
    let rows = rows_of::<T>(top);
    for list in [
        vec![1.0],
        vec![-0.1, 0.6, 0.6, -0.1],
        vec![1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 1.0],
        vec![-0.07, 0.0, 0.57, 0.5, 0.0],
    ] {
        let w = T::weights(&list);
        let total: f64 = list.iter().sum();
        let run = |level: Level, pass: Pass, shifted: bool| {
            let (mut acc, mut out) = (vec![T::ZERO; 287], vec![T::from_f64(0.0); 287]);
            if shifted {
                convolve_row(level, (&mut out, &mut acc), &rows[2][3..], &w, (bits, pass));
            } else {
                convolve_rows(level, (&mut out, &mut acc), &w, |k| &rows[k][1..], (bits, pass));
            }
            out
        };
        for shifted in [false, true] {
            let want = run(Level::SCALAR, Pass::Direct, shifted);
            for &level in Level::available() {
                let same = run(level, Pass::Direct, shifted);
                assert!(same.iter().zip(&want).all(|(a, b)| a.number() == b.number()), "{level} {list:?}");
            }
            for (x, got) in want.iter().enumerate() {
                let sample = |k: usize| if shifted { rows[2][3 + x + k] } else { rows[k][1 + x] };
                let exact: f64 = list.iter().enumerate().map(|(k, w)| sample(k).number() * w / total).sum();
                let exact = if bits == 0 { exact } else { exact.clamp(0.0, top) };
                assert!((got.number() - exact).abs() <= by, "{list:?} {x}: {} {exact}", got.number());
            }
        }
    }
}

#[test]
fn sums_are_exact_at_every_level() {
    sums::<u8>(255.0, 8, 0.52);
    sums::<u16>(1023.0, 10, 0.6);
    // Weights are multiples of 2^-14, so their mean error is 2^-15.
    sums::<u16>(65535.0, 16, 8.0);
    sums::<f32>(1.0, 0, 1e-6);
}

#[test]
fn windows_are_sums() {
    let rows = rows_of::<u16>(65535.0);
    for n in [1usize, 2, 4, 6, 7] {
        let at: Vec<u32> = (0..200).map(|i| (i * 7 % 290) as u32).collect();
        let w: Vec<i32> = (0..200 * n).map(|i| (i as i32 * 37 % 16384) / n as i32).collect();
        for &level in Level::available() {
            let mut acc = vec![0; 200];
            dot_row::<u16>(level, &mut acc, &rows[0], &at, &w);
            for i in 0..200 {
                let want: i64 =
                    (0..n).map(|k| i64::from(rows[0][at[i] as usize + k]) * i64::from(w[i * n + k])).sum();
                assert_eq!(i64::from(acc[i]), want, "{level} {n} {i}");
            }
        }
    }
}

#[test]
fn the_steps_within_are_those() {
    let unit = 1i64 << 32;
    for start in [-9 * unit, -unit - 1, -1, 0, 1, unit / 3, 5 * unit, 40 * unit] {
        for step in [0, 1, -1, unit / 7, -unit / 3, unit, -unit, 2 * unit + 5, -5 * unit] {
            for (lo, hi) in [(0, 10), (3, 3), (-4, 2), (5, 4)] {
                let (first, last) = super::warp::within(start, step, (lo, hi), 30);
                assert!(first <= last && last <= 30);
                for i in 0..30usize {
                    let whole = (start + i as i64 * step) >> 32;
                    let inside = whole >= lo && whole < hi;
                    assert_eq!(inside, (first..last).contains(&i), "{start} {step} {lo}..{hi} at {i}");
                }
            }
        }
    }
}

/// The hand-written kernels against the general ones, on slices that end where the last sample is read or written.
fn kernels<T: Warp + PartialEq>(top: f64, bits: u8) {
    let some =
        |n: usize| (0..n).map(|i| T::from_f64(f64::from((i * 40503 + 977) as u16) / 65535.0 * top)).collect();
    let (width, height) = (13usize, 11usize);
    let (samples, unit): (Vec<T>, i64) = (some(width * height), 1 << 32);
    let ends = (width as i64 - 1, height as i64 - 1);
    for (shape, edge) in [
        (InterpolationKernel::Bilinear, Edge::Extend),
        (InterpolationKernel::Bicubic, Edge::Color),
        (InterpolationKernel::Bicubic, Edge::Wrap),
    ] {
        let phases = Phases::new::<T>(shape, 1.0);
        let whole = (0, width as i64);
        let patch = Patch {
            samples: &samples,
            stride: width,
            columns: whole,
            rows: (0, height as i64),
            edge,
            color: T::from_f64(3.0),
            bits,
        };
        for (u, v, du, dv) in [
            (0, 0, unit / 2, unit / 3),
            (ends.0 * unit, ends.1 * unit, -unit / 3, -unit / 4),
            (-3 * unit, 4 * unit, unit, 0),
        ] {
            let run = |level: Level| {
                let mut out = vec![T::from_f64(0.0); 29];
                T::walk(level, &mut out, &patch, SampleLine { u, v, du, dv }, (&phases, &phases));
                out
            };
            Level::available()
                .iter()
                .for_each(|l| assert!(run(*l) == run(Level::SCALAR), "{l} {shape:?} {u} {du}"));
        }
    }
    for (taps, n) in
        [1, 2, 5, 8, 15, 57, 80].into_iter().flat_map(|taps| [7, 16, 31, 32, 75, 200].map(|n| (taps, n)))
    {
        // Some weights are negative, as those of sharp kernels.
        let list: Vec<f64> = (0..taps).map(|k| if k % 4 == 1 { -0.3 } else { 1.0 + k as f64 }).collect();
        let w = T::weights(&list);
        let rows: Vec<Vec<T>> = (0..taps).map(|k| some(n + k).split_off(k)).collect();
        let row: Vec<T::Wide> =
            (0..n + taps - 1).map(|i| T::Wide::from_f64((i * 5003 % 65536) as f64)).collect();
        let run = |level: Level| {
            let mut acc = vec![T::ZERO; n];
            let (mut down, mut along) = (vec![T::Wide::from_f64(0.0); n], vec![T::from_f64(0.0); n]);
            convolve_rows(level, (&mut down, &mut acc), &w, |k| &rows[k][..], (bits, Pass::Widen));
            convolve_row(level, (&mut along, &mut acc), &row, &w, (bits, Pass::Narrow));
            let down: Vec<f64> = down.iter().map(|v| v.number()).collect();
            (down, along)
        };
        for &level in Level::available() {
            assert!(run(level) == run(Level::SCALAR), "{level} {taps} {n}");
        }
    }
}

#[test]
fn kernels_of_every_level_agree_within_their_slices() {
    kernels::<u8>(255.0, 8);
    kernels::<u16>(1023.0, 10);
    kernels::<u16>(65535.0, 16);
}
