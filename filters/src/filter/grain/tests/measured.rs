//! What is measured of the picture: deviation, response, spectrum, correlation.

use super::*;

/// The deviation of each plane from a flat picture of the given codes, as (mean, sd).
fn flat(format: Format, codes: [u16; 3], given: &str, frames: i64) -> Vec<(f64, f64)> {
    let mut sums = vec![(0.0, 0.0, 0.0); format.planes()];
    for number in 0..frames {
        let mut frame = Frame::new(format);
        for (p, &code) in codes.iter().enumerate().take(format.planes()) {
            for y in 0..format.plane_size(p).1 {
                match format.depth {
                    Depth::Bits(8) => frame.row_mut::<u8>(p, y).fill(code as u8),
                    Depth::Bits(_) => frame.row_mut::<u16>(p, y).fill(code),
                    Depth::Float => frame.row_mut::<f32>(p, y).fill(f32::from(code) / 65535.0),
                }
            }
        }
        render(&*bind(given, &format, Level::best()), &mut frame, number, &[]);
        for (p, s) in sums.iter_mut().enumerate() {
            for y in 0..format.plane_size(p).1 {
                let add = |v: f64| {
                    let d = v - f64::from(codes[p]);
                    *s = (s.0 + 1.0, s.1 + d, s.2 + d * d);
                };
                match format.depth {
                    Depth::Bits(8) => frame.row::<u8>(p, y).iter().map(|&v| v.into()).for_each(add),
                    Depth::Bits(_) => frame.row::<u16>(p, y).iter().map(|&v| v.into()).for_each(add),
                    Depth::Float => {
                        frame.row::<f32>(p, y).iter().map(|&v| f64::from(v) * 65535.0).for_each(add)
                    }
                }
            }
        }
    }
    sums.iter().map(|(n, a, b)| (a / n, (b / n - (a / n) * (a / n)).sqrt())).collect()
}

#[test]
fn strength_is_the_deviation_at_the_peak() {
    // The curve is at its peak at 7/16 of the way to white.
    let peak = |bits: u8, full: bool| {
        let (low, span) = if full { (0.0, 255.0) } else { (16.0, 219.0) };
        ((low + span * 7.0 / 16.0) * f64::from(1u32 << (bits - 8)) + 0.5) as u16
    };
    for (name, bits, given, strength) in [
        ("gray", 8, "strength=4", 4.0),
        ("gray", 8, "strength=0.6", 0.6),
        ("gray10", 10, "strength=4:size=0", 4.0),
        ("gray16", 16, "strength=9:size=1.7:sharpness=1", 9.0),
        ("gray12", 12, "strength=5:size=2:sharpness=-1", 5.0),
        ("gray", 8, "strength=6:size=2.5", 6.0),
        ("gray", 8, "strength=6:size=4.6", 6.0),
        ("gray", 8, "strength=6:size=5:generator=lfsr31", 6.0),
        ("gray", 8, "strength=6:temporal=0.5", 6.0),
        ("gray", 8, "strength=6:size=1:variation=0.4", 6.0),
        ("gray10", 10, "strength=6:size=0.3:variation=1", 6.0),
    ] {
        let format = Format::from_name(name, 1920, 400).unwrap();
        let got = flat(format, [peak(bits, false); 3], given, 2)[0];
        let sd = got.1 / f64::from(1u32 << (bits - 8));
        // Coarse grain has fewer independent samples.
        let within = if given.contains("size=4") || given.contains("size=5") { 0.02 } else { 0.01 };
        assert!((sd / strength - 1.0).abs() < within, "{name} {given}: {sd}");
        assert!(got.0.abs() < 0.02 * got.1, "{name} {given}: mean {}", got.0);
    }
    let format = Format::from_name("yuv420p", 1920, 400).unwrap();
    let got = flat(format, [peak(8, false), 128, 128], "strength=5", 2);
    for (p, want) in [(0, 5.0), (1, 3.0), (2, 3.0)] {
        assert!((got[p].1 / want - 1.0).abs() < 0.01, "plane {p}: {:?}", got[p]);
    }
    let format = Format::from_name("gbrp", 1920, 400).unwrap();
    for given in ["strength=5", "strength=5:monochrome=1", "strength=5:chroma=1"] {
        // What the channels have for themselves is strongest in blue.
        let own = if given.contains("mono") {
            0.0
        } else if given.contains("chroma") {
            1.0
        } else {
            0.6f64
        };
        for (p, got) in flat(format, [peak(8, true); 3], given, 2).iter().enumerate() {
            let layer = [1.0, 1.5, 1.1][p];
            let want = 5.0 * (1.0 - own * own + own * own * layer * layer).sqrt();
            assert!((got.1 / want - 1.0).abs() < 0.01, "{given} plane {p}: {got:?} for {want}");
        }
    }
    let format = Format::from_name("grayf32", 1920, 400).unwrap();
    let got = flat(format, [(65535.0 * 7.0 / 16.0) as u16; 3], "strength=4", 1)[0];
    assert!((got.1 / 65535.0 * 255.0 / 4.0 - 1.0).abs() < 0.01, "{got:?}");
}

#[test]
fn the_response_follows_the_curve() {
    let format = Format { range: ColorRange::Full, ..Format::from_name("gray", 1920, 200).unwrap() };
    for (given, curve) in [
        ("strength=6", GrainSpec::read(&values("")).response()),
        ("strength=6:curve=shadows", GrainSpec::read(&values("curve=shadows")).response()),
        ("strength=6:points=0=0.5;0.3=1;0.31=0.2;1=0", {
            GrainSpec::read(&values("points=0=0.5;0.3=1;0.31=0.2;1=0")).response()
        }),
    ] {
        for code in [0u16, 30, 60, 75, 80, 120, 180, 230, 255] {
            let got = flat(format, [code; 3], given, 1)[0].1;
            let want = 6.0 * curve.at(f64::from(code) / 255.0);
            // Black and white cut one half of what there is.
            if want == 0.0 {
                assert_eq!(got, 0.0, "{given} at {code}");
            } else if code != 0 {
                assert!((got - want).abs() < 0.02 * want + 0.05, "{given} at {code}: {got} for {want}");
            }
        }
    }
    // In limited range black and white are 16 and 235.
    let format = Format::from_name("gray10", 640, 100).unwrap();
    for code in [64, 940] {
        assert_eq!(flat(format, [code; 3], "strength=20", 1)[0], (0.0, 0.0));
    }
}

#[test]
fn hdr_and_linear_have_responses_of_their_own() {
    let shape = |transfer, v: f64| {
        let format =
            Format { transfer, range: ColorRange::Full, ..Format::from_name("gray16", 1920, 40).unwrap() };
        flat(format, [(v * 65535.0) as u16; 3], "strength=4", 1)[0].1 / 257.0
    };
    // 100 cd/m2 is near the peak, 1000 white; in video the same codes are in the middle and bright.
    assert!((shape(Transfer::PQ, 0.508) / 4.0 - 1.0).abs() < 0.05);
    assert!(shape(Transfer::PQ, 0.752) < 0.2 && shape(Transfer::BT709, 0.752) > 2.5);
    assert!((shape(Transfer::HLG, 0.5) / 4.0 - 1.0).abs() < 0.05);
    assert!(shape(Transfer::HLG, 1.0) < 0.01);
    // Linear: a stop is a stop, so grain grows with the light.
    let (dark, light) = (shape(Transfer::LINEAR, 0.09), shape(Transfer::LINEAR, 0.18));
    assert!((light / dark - 2.0).abs() < 0.25, "{dark} {light}");
    let format = Format { transfer: Transfer::LINEAR, ..Format::from_name("grayf32", 1920, 40).unwrap() };
    for v in [0.09, 0.18, 0.7] {
        let float = flat(format, [(v * 65535.0) as u16; 3], "strength=4", 1)[0].1 / 257.0;
        assert!((float / shape(Transfer::LINEAR, v) - 1.0).abs() < 0.05, "{v}: {float}");
    }
}

/// In place, decimation in time; `re` and `im` of a power of two.
fn fft(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut size = 2;
    while size <= n {
        for k in 0..size / 2 {
            let angle = -2.0 * core::f64::consts::PI * k as f64 / size as f64;
            let (s, c) = (libm::sin(angle), libm::cos(angle));
            for start in (0..n).step_by(size) {
                let (a, b) = (start + k, start + k + size / 2);
                let (x, y) = (re[b] * c - im[b] * s, re[b] * s + im[b] * c);
                (re[b], im[b]) = (re[a] - x, im[a] - y);
                re[a] += x;
                im[a] += y;
            }
        }
        size *= 2;
    }
}

/// The power spectrum of the grain on grey, 256x256, summed over tiles of some frames.
fn spectrum(given: &str, frames: i64) -> Vec<f64> {
    const N: usize = 256;
    let format = Format { range: ColorRange::Full, ..Format::from_name("gray16", 1920, 1024).unwrap() };
    let mut power = vec![0.0; N * N];
    for number in 0..frames {
        let mut frame = Frame::new(format);
        (0..1024).for_each(|y| frame.row_mut::<u16>(0, y).fill(28672));
        render(&*bind(given, &format, Level::best()), &mut frame, number, &[]);
        for (ty, tx) in (0..4).flat_map(|y| (0..7).map(move |x| (y, x))) {
            let mut re = vec![0.0; N * N];
            let mut im = vec![0.0; N * N];
            for y in 0..N {
                let row = &frame.row::<u16>(0, ty * N + y)[tx * N..][..N];
                for x in 0..N {
                    // A Hann window, so that what does not end at the edge does not smear.
                    let hann = |i: usize| {
                        0.5 - 0.5 * libm::cos(2.0 * core::f64::consts::PI * (i as f64 + 0.5) / N as f64)
                    };
                    re[y * N + x] = (f64::from(row[x]) - 28672.0) * hann(x) * hann(y);
                }
                fft(&mut re[y * N..][..N], &mut im[y * N..][..N]);
            }
            for x in 0..N {
                let mut a: Vec<f64> = (0..N).map(|y| re[y * N + x]).collect();
                let mut b: Vec<f64> = (0..N).map(|y| im[y * N + x]).collect();
                fft(&mut a, &mut b);
                for y in 0..N {
                    power[y * N + x] += a[y] * a[y] + b[y] * b[y];
                }
            }
        }
    }
    power
}

#[test]
fn the_radial_spectrum_is_the_kernels() {
    const N: usize = 256;
    for (given, a, b) in [
        ("size=1:strength=20", 0.21, 0.0),
        ("size=0:strength=20", 0.0, 0.0),
        ("size=1.85:strength=20", 0.5, 0.1),
    ] {
        let power = spectrum(given, 4);
        let response = |k: usize| {
            let w = 2.0 * core::f64::consts::PI * k as f64 / N as f64;
            let h = 1.0 + 2.0 * a * libm::cos(w) + 2.0 * b * libm::cos(2.0 * w);
            h * h
        };
        // 24 rings from the lowest frequencies to the highest a row can have.
        let mut rings = [(0.0, 0.0); 24];
        for (y, x) in (0..N).flat_map(|y| (0..N).map(move |x| (y, x))) {
            let fold = |k: usize| k.min(N - k) as f64 / (N / 2) as f64;
            let radius = (fold(x) * fold(x) + fold(y) * fold(y)).sqrt();
            if radius > 0.04 && radius < 1.0 {
                let ring = &mut rings[(radius * 24.0) as usize];
                *ring = (ring.0 + power[y * N + x], ring.1 + response(x) * response(y));
            }
        }
        let db: Vec<f64> = rings.iter().skip(1).map(|(p, r)| 10.0 * libm::log10(p / r)).collect();
        let mean = db.iter().sum::<f64>() / db.len() as f64;
        let rms = (db.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / db.len() as f64).sqrt();
        assert!(rms < 0.1, "{given}: {rms} dB, {db:?}");
    }
}

/// Grain of one frame of a plane on grey, as deviations.
fn field(format: Format, p: usize, n: i64, given: &str) -> Vec<f64> {
    let mut frame = Frame::new(format);
    for p in 0..format.planes() {
        (0..format.plane_size(p).1).for_each(|y| frame.row_mut::<u16>(p, y).fill(28672));
    }
    render(&*bind(given, &format, Level::best()), &mut frame, n, &[]);
    let rows = (0..format.plane_size(p).1).flat_map(|y| frame.row::<u16>(p, y).to_vec());
    rows.map(|v| f64::from(v) - 28672.0).collect()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn frames_planes_and_fields_are_independent_unless_asked() {
    let format = Format { range: ColorRange::Full, ..Format::from_name("yuv444p16", 640, 400).unwrap() };
    let sigma = 1.0 / (640.0f64 * 400.0).sqrt();
    // Neighbouring samples go together, so there are somewhat fewer independent ones.
    let bound = 6.5 * sigma * 1.2;
    let size = "strength=5:size=3";
    let first = field(format, 0, 0, size);
    for n in [1, 2, 64, -1, 1 << 40] {
        assert!(correlation(&first, &field(format, 0, n, size)).abs() < bound, "frame {n}");
    }
    for p in [1, 2] {
        assert!(correlation(&first, &field(format, p, 0, size)).abs() < bound, "plane {p}");
    }
    let other = "strength=5:size=3:seed=7";
    assert!(correlation(&first, &field(format, 0, 0, other)).abs() < bound);
    for rho in [0.3, 0.5, 0.7] {
        let given = format!("strength=5:size=3:temporal={rho}");
        let all: Vec<Vec<f64>> = (0..4).map(|n| field(format, 0, n, &given)).collect();
        let mut want = 1.0;
        for (n, frame) in all.iter().enumerate() {
            let got = correlation(&all[0], frame);
            // A window of frames ends, and with it the correlation.
            assert!((got - want).abs() < 0.04, "rho {rho}, {n} frames apart: {got} for {want}");
            want *= rho;
        }
    }
    let rgb = Format::from_name("gbrp16", 640, 400).unwrap();
    for (given, want) in [
        ("chroma=1", 0.0),
        ("chroma=0.6", 0.64 / (0.64 + 0.36 * 1.1 * 1.1f64).sqrt()),
        ("monochrome=1", 1.0),
        ("chroma=0", 1.0),
    ] {
        let (g, r) = (field(rgb, 0, 0, given), field(rgb, 2, 0, given));
        assert!((correlation(&g, &r) - want).abs() < 0.01, "{given}: {}", correlation(&g, &r));
    }
    // Coarse grain of their own leaves channels the same share; narrower pictures lose less of it than of fine grain.
    let wide = Format::from_name("gbrp16", 1920, 200).unwrap();
    let of = |p, given| field(wide, p, 0, given);
    let [fine, coarse] =
        ["chroma=0.6", "chroma=0.6:chroma-size=3"].map(|given| correlation(&of(0, given), &of(2, given)));
    assert!((fine - coarse).abs() < 0.03, "{fine} {coarse}");
}

#[test]
fn the_response_is_the_model_down_to_black_and_keeps_the_mean() {
    // At 16 bits and in every code's neighbourhood; u^.508 (1-u)^.664 over its peak.
    let format = Format { range: ColorRange::Full, ..Format::from_name("gray16", 1920, 200).unwrap() };
    let model = |u: f64| u.powf(0.508) * (1.0 - u).powf(0.664);
    let peak = model(0.508 / 1.172);
    for eighth in [9, 10, 11, 13, 16, 20, 23, 28, 33, 41, 47, 52, 60, 64, 95, 120, 200, 512] {
        for u in [f64::from(eighth) / 1024.0, 1.0 - f64::from(eighth) / 1024.0] {
            let code = (u * 65535.0).round() as u16;
            let (mean, sd) = flat(format, [code; 3], "strength=1:size=0", 1)[0];
            let want = 257.0 * model(f64::from(code) / 65535.0) / peak;
            let off = 20.0 * (sd / want).log10();
            // Five standard errors of 384,000 samples are 0.05 dB.
            assert!(off.abs() < 0.15, "{eighth}/1024 of {u}: {off} dB");
            assert!(mean.abs() < 0.01 * sd + 1.0, "{u}: {mean}");
        }
    }
    for name in ["gray", "gray10"] {
        let format = Format::from_name(name, 1920, 100).unwrap();
        let per = if name == "gray" { 1.0 } else { 4.0 };
        for above in [1, 2, 3, 4, 6, 9, 14] {
            for code in [16 + above, 235 - above] {
                let mean =
                    flat(format, [(f64::from(code) * per) as u16; 3], "strength=10:size=0", 1)[0].0 / per;
                assert!(mean.abs() < 0.1, "{name} {code}: {mean}");
            }
        }
    }
}

/// Of grain of two sizes a part has the spectrum of the coarser one: over means of 8 x 8 samples their variances add up.
#[test]
fn the_variation_is_a_share_of_coarser_grain() {
    let format = Format::from_name("gray16", 1920, 480).unwrap();
    let of_means = |given: &str| {
        let mut frame = Frame::new(format);
        (0..480).for_each(|y| frame.row_mut::<u16>(0, y).fill(32768));
        render(&*bind(&format!("curve=flat:strength=6:{given}"), &format, Level::best()), &mut frame, 0, &[]);
        let mean = |x: usize, y: usize| {
            let rows = (8 * y..8 * y + 8).flat_map(|y| &frame.row::<u16>(0, y)[8 * x..8 * x + 8]);
            rows.map(|&v| f64::from(v) - 32768.0).sum::<f64>() / 64.0
        };
        let means: Vec<f64> =
            (0..60).flat_map(|y| (0..240).map(move |x| (x, y))).map(|(x, y)| mean(x, y)).collect();
        means.iter().map(|m| m * m).sum::<f64>() / means.len() as f64
    };
    for size in [0.5, 1.4] {
        let (fine, coarse) = (of_means(&format!("size={size}")), of_means(&format!("size={}", 2.5 * size)));
        assert!(coarse > 1.5 * fine, "{coarse} {fine}");
        for part in [0.2, 0.5] {
            let (got, want) =
                (of_means(&format!("size={size}:variation={part}")), fine + part * (coarse - fine));
            assert!((got / want - 1.0).abs() < 0.1, "size {size}, {part}: {got} for {want}");
        }
    }
}

/// Black clips the noise of a sensor, but hardly lifts the picture.
#[test]
fn sensor_noise_hardly_lifts_black() {
    let format = Format::from_name("yuv420p10", 1920, 200).unwrap();
    for above in [0, 4, 12, 24, 60] {
        let got = flat(format, [64 + above, 512, 512], "preset=digital-iso", 2);
        assert!(got[0].0 < 0.22 * 4.0, "{above}: {got:?}");
        assert!(got[0].1 > 0.22 * 4.0 && got[1].1 > 0.2 * 4.0, "{above}: {got:?}");
    }
}

/// Counted grain is skewed by twice the slope of its strength, and clipping moves the mean by less than .1 code.
#[test]
fn skewness_follows_the_slope_of_the_curve() {
    let format = Format::from_name("gray16", 1920, 300).unwrap();
    let curve = |u: f64| {
        let value = |u: f64| u.powf(0.508) * (1.0 - u).powf(0.664);
        value(u) / value(0.508 / 1.172)
    };
    for (u, skew) in [(0.1, 2.0), (0.1, 1.0), (0.43, 2.0), (0.8, 2.0), (0.95, 2.0), (0.1, 0.0)] {
        let code = ((16.0 + 219.0 * u) * 256.0) as u16;
        let (mut n, mut sums) = (0.0, [0.0; 3]);
        for number in 0..4 {
            let mut frame = Frame::new(format);
            (0..300).for_each(|y| frame.row_mut::<u16>(0, y).fill(code));
            let given = format!("strength=8:skew={skew}:protect=0");
            render(&*bind(&given, &format, Level::best()), &mut frame, number, &[]);
            for v in (0..300).flat_map(|y| frame.row::<u16>(0, y)) {
                let d = (f64::from(*v) - f64::from(code)) / 256.0;
                n += 1.0;
                sums = [sums[0] + d, sums[1] + d * d, sums[2] + d * d * d];
            }
        }
        let [mean, square, cube] = sums.map(|s| s / n);
        let sd = (square - mean * mean).sqrt();
        let got = (cube - 3.0 * mean * square + 2.0 * mean * mean * mean) / (sd * sd * sd);
        let want = 2.0 * skew * 8.0 / 219.0 * (curve(u + 0.004) - curve(u - 0.004)) / 0.008;
        assert!((got - want).abs() < 0.03 + 0.03 * want.abs(), "{u} {skew}: {got} {want}");
        assert!((sd / (8.0 * curve(u)) - 1.0).abs() < 0.02, "{u} {skew}: {sd}");
        assert!(mean.abs() < 0.05, "{u} {skew}: {mean}");
    }
    for name in ["gray", "gray10"] {
        let format = Format::from_name(name, 1920, 200).unwrap();
        let per = if name == "gray" { 1 } else { 4 };
        for code in [16, 17, 18, 20, 24, 32, 219, 227, 231, 233, 234, 235] {
            let got = flat(format, [code * per; 3], "strength=8:skew=2", 2)[0];
            assert!((got.0 / f64::from(per)).abs() < 0.1, "{name} {code}: {got:?}");
        }
    }
}
