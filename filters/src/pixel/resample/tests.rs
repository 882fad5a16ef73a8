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

/// Gaussian sums of rows of every length, whose rows end where the last sample is read.
fn blurs<T: smooth::Smooth + Kernel + PartialEq>(top: f64, by: f64) {
    use super::smooth::*;
    let sample = |i: usize| T::from_f64(f64::from((i * 40503 + i / 7 * 977) as u16) / 65535.0 * top);
    let lengths = [1usize, 5, 16, 31, 33, 64, 200, 256, 300, 523];
    for (reach, n) in [1usize, 2, 6, 7, 15].into_iter().flat_map(|reach| lengths.map(|n| (reach, n))) {
        let list: Vec<f64> = (0..=reach).map(|k| libm::exp(-((k * k) as f64) / (reach + 1) as f64)).collect();
        let w = Weights::<T>::new(&list);
        // More rows than are interleaved at a time.
        let rows: Vec<Vec<T>> =
            (0..35 + 2 * reach).map(|y| (0..n).map(|x| sample(x * 9 + y * 131)).collect()).collect();
        let run = |level: Level| {
            let (pitch, mut room) = (n + 2 * reach + ROW_ROOM, vec![T::from_f64(0.0); COLUMNS_ROOM]);
            let mut wide = vec![T::from_f64(0.0); 35 * pitch];
            blur_columns(level, (&mut wide[reach..], pitch, n), |y| &rows[y][..], &w, &mut room);
            let mut out = vec![T::from_f64(0.0); 35 * n];
            for (out, wide) in out.chunks_exact_mut(n).zip(wide.chunks_exact_mut(pitch)) {
                let (first, last) = (wide[reach], wide[reach + n - 1]);
                wide[..reach].fill(first);
                wide[reach + n..].fill(last);
                blur_row(level, out, wide, &w);
            }
            out
        };
        let want = run(Level::SCALAR);
        Level::available().iter().for_each(|&l| assert!(run(l) == want, "{l} {reach} {n}"));
        let total = 2.0 * list.iter().sum::<f64>() - list[0];
        let weights = || (0..=2 * reach).map(|k| list[k.abs_diff(reach)] / total).enumerate();
        for (i, got) in want.iter().enumerate().step_by(37) {
            let (x, y) = (i % n, i / n);
            let column = |x: usize| weights().map(|(k, w)| w * rows[y + k][x].number()).sum::<f64>();
            let at = |k: usize| (x + k).saturating_sub(reach).min(n - 1);
            let exact: f64 = weights().map(|(k, w)| w * column(at(k))).sum();
            assert!((got.number() - exact).abs() <= by, "{reach} {n} {i}: {} {exact}", got.number());
        }
    }
    for n in [1, 2, 7, 16, 33, 200] {
        let row: Vec<T> = (0..2 * n + 4).map(sample).collect();
        let run = |level: Level| {
            let mut out = vec![T::from_f64(0.0); 6 * n];
            let (half, rest) = out.split_at_mut(n);
            let (rows, rest) = rest.split_at_mut(n);
            let (between, double) = rest.split_at_mut(n);
            halve_row(level, half, &row);
            halve_rows(level, rows, [&row[..n], &row[1..], &row[2..], &row[3..]]);
            between_rows(level, between, &row, &row[1..]);
            double_row(level, &mut double[..2 * n + 1], &row);
            out
        };
        let want = run(Level::SCALAR);
        Level::available().iter().for_each(|&l| assert!(run(l) == want, "{l} {n}"));
        let v = |i: usize| row[i].number();
        for i in 0..n {
            let half = |i: usize| 0.125 * (v(i) + v(i + 3)) + 0.375 * (v(i + 1) + v(i + 2));
            let double = [v(i + 1) * 0.75 + v(i) * 0.25, v(i + 1) * 0.75 + v(i + 2) * 0.25];
            let exact = [half(2 * i), half(i), v(i) * 0.75 + v(i + 1) * 0.25, double[0], double[1]];
            for (j, exact) in [i, n + i, 2 * n + i, 3 * n + 2 * i, 3 * n + 2 * i + 1].into_iter().zip(exact) {
                assert!((want[j].number() - exact).abs() <= by, "{n} {j}: {} {exact}", want[j].number());
            }
        }
        assert!((want[5 * n].number() - v(n + 1) * 0.75 - v(n) * 0.25).abs() <= by);
    }
}

#[test]
fn blurred_rows_are_exact_sums_at_every_level() {
    // Two roundings, and weights of 15 bits.
    blurs::<u16>(65535.0, 9.0);
    blurs::<f32>(1.0, 1e-6);
}

#[test]
fn a_flat_row_keeps_every_value() {
    use super::smooth::*;
    for sigma in [0.05, 0.4, 1.0, 2.3, 3.9] {
        let list: Vec<f64> =
            (0..=MAX_REACH).map(|k| libm::exp(-((k * k) as f64) / (2.0 * sigma * sigma))).collect();
        let w = Weights::<u16>::new(&list);
        for v in [0, 1, 255, 32767, 32768, 40001, 65534, 65535] {
            let (row, mut room) = (vec![v; 40], vec![0; COLUMNS_ROOM]);
            let (pitch, mut out) = (40 + 2 * MAX_REACH + ROW_ROOM, vec![0; 40]);
            let mut wide = vec![0; pitch];
            blur_columns(Level::best(), (&mut wide[..], pitch, 40), |_| &row[..], &w, &mut room);
            let first = wide[0];
            wide.fill(first);
            blur_row(Level::best(), &mut out, &wide, &w);
            assert!(out == row, "{sigma} {v}");
        }
    }
}
