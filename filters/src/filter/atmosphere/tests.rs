use super::super::convert::tests::{codes, is_uncovered, raw, reference};
use super::super::testing::{FORMATS, bind, format, frame_time, noise as picture, run};
use super::grid::{FAINT, GLOW};
use super::noise::{ACROSS, DOWN, SCALE, hash};
use super::*;
use crate::frame::{Alpha, ColorRange, Depth, Family, Frame};
use crate::host::CurrentThread;
use crate::noise::seed::{Layer, key};
use crate::settings::Settings;

type Given<'a> = [(&'a str, &'a str)];

/// Noise and its derivatives in f64: sizes, drift and turn as of `Octave::new`.
fn flow(seed: u64, n: u32, size: [f64; 2], drift: [f64; 2], turn: f64, at: [f64; 2]) -> [f64; 3] {
    let h = key(seed, i64::from(n), Layer::AIR.plane(0), n);
    let (s, c) = (f64::from(n) * 2.399963).sin_cos();
    let m = [[c / size[0], -s / size[1]], [s / size[0], c / size[1]]];
    let random = [h & 0xffff, h >> 16 & 0xffff].map(|h| h as f64 / 65536.0);
    let p = [0, 1].map(|i| m[i][0] * (at[0] - drift[0]) + m[i][1] * (at[1] - drift[1]) + random[i]);
    let cell = p.map(f64::floor);
    let [x, y] = [p[0] - cell[0], p[1] - cell[1]];
    let gradient = |dx: i64, dy: i64| {
        // The numbers of lattice points begin at the bits of 1.5 times 2^23.
        let [i, j] = [cell[0] as i64 + dx, cell[1] as i64 + dy].map(|v| (v + 0x4b40_0000) as u32);
        let h = hash(i.wrapping_mul(ACROSS) ^ j.wrapping_mul(DOWN) ^ (h >> 32) as u32);
        let g = [h & 0x7fff, h >> 15 & 0x7fff].map(|v| f64::from(v) - 16383.5);
        let (s, c) = if h >> 31 == 1 { (-turn).sin_cos() } else { turn.sin_cos() };
        [c * g[0] - s * g[1], s * g[0] + c * g[1]]
    };
    let (q, dq) =
        (|t: f64| t * t * t * (t * (t * 6.0 - 15.0) + 10.0), |t: f64| 30.0 * t * t * (t - 1.0) * (t - 1.0));
    let mut all = [0.0; 3];
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let g = gradient(dx, dy);
        let [fx, fy] = [x - dx as f64, y - dy as f64];
        let weight = |d: i64, t: f64| if d == 1 { (q(t), dq(t)) } else { (1.0 - q(t), -dq(t)) };
        let ((wx, sx), (wy, sy)) = (weight(dx, x), weight(dy, y));
        let n = g[0] * fx + g[1] * fy;
        all[0] += n * wx * wy;
        all[1] += (g[0] * wx + n * sx) * wy;
        all[2] += (g[1] * wy + n * sy) * wx;
    }
    let [n, dx, dy] = all.map(|v| v * SCALE);
    [n, m[0][0] * dx + m[1][0] * dy, m[0][1] * dx + m[1][1] * dy]
}

fn smooth(low: f64, high: f64, v: f64) -> f64 {
    let t = ((v - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// How many times wider than its source a plume is at a height.
fn wide(a: &Air, up: f64) -> f64 {
    if a.shape == Shape::Plume { (a.width + 0.42 * up.max(0.0)) / a.width } else { 1.0 }
}

/// The density at a place, or the heat, from the definition in f64, on a grid whose columns are `apart`.
fn density(a: &Air, apart: f64, [wx, wy]: [f64; 2]) -> f64 {
    let up = a.origin[1] - wy;
    let lean = if up > 0.0 { a.lean * up * up / (up + 0.3 * a.height) } else { 0.0 };
    let across = wx - a.origin[0] - lean;
    let above = up / a.height;
    let log = |v: f64| v.max(0.05).ln();
    let (is_plume, is_flames) = (a.shape == Shape::Plume, a.shape == Shape::Flames);
    let wide = wide(a, up);
    let straight = match a.shape {
        Shape::Plume => [across / wide, -log(1.0 + 0.42 * up / a.width) / 0.42 * a.width],
        Shape::Flames => [across, -log(1.0 + 1.6 * above.max(-0.2)) / 1.6 * a.height],
        _ => [wx, wy],
    };
    let drift = [if is_plume || is_flames { 0.0 } else { a.drift[0] }, -a.drift[1]];
    let octave = |n: u32, part: f64, stretch: f64, speed: f64, turn: f64, at: [f64; 2]| {
        let size = [part * a.scale * stretch, part * a.scale];
        flow(a.seed, n, size, drift.map(|v| v * speed), turn * a.change, at)
    };
    let moved = |[_, dx, dy]: [f64; 3], at: [f64; 2], by: f64| [at[0] + by * dy, at[1] - by * dx];
    let amount = |by: f64, part: f64| by * (part * a.scale).powi(2) * a.turbulence;
    let ridge = |v: f64| (1.0 - 2.0 * v.abs()).max(0.0);
    let (st, root) = (a.stretch, a.stretch.sqrt());
    if is_flames {
        let sway = 0.15 + 0.9 * above.clamp(0.0, 1.5);
        let p = moved(octave(31, 1.5, 1.0, 0.75, 0.9, straight), straight, sway * amount(0.222, 1.5));
        let p = moved(octave(32, 0.6, 1.0, 0.9, 1.6, p), p, sway * amount(0.3, 0.6));
        let v = 0.8 * octave(41, 0.9, 0.65 * st, 1.0, 0.5, p)[0]
            + 0.45 * octave(42, 0.45, 0.7 * st, 1.05, 0.9, p)[0]
            + 0.2 * octave(43, 0.2, 0.8 * st, 1.1, 1.4, p)[0];
        let side = (1.0 - 4.0 * (across / a.width).powi(2)).max(-1.0);
        let top = (0.25 + 0.75 * side.max(0.02)) * (1.0 + 0.5 * octave(44, 2.6, st, 0.6, 0.6, p)[0]).max(0.2);
        let heat = v * (0.3 + 0.95 * above.clamp(0.0, 1.0)) + 0.8 - 1.15 * above.max(0.0) / top;
        let heat = heat.max(0.0).powi(2) / (heat.max(0.0) + 0.12) * 1.1;
        return heat * smooth(-0.05, 0.06, above) * smooth(-0.15, 0.35, side + 0.3 * v);
    }
    let p = moved(octave(1, 1.3, st, 0.72, 0.35, straight), straight, amount(0.13, 1.3));
    let n0 = octave(11, 1.0, st, 1.0, 0.2, p)[0];
    let u = p[0] / a.width;
    let p = moved(octave(2, 0.61, root, 0.85, 0.6, p), p, amount(0.12, 0.61));
    let n1 = octave(12, 0.47, root, 1.03, 0.3, p)[0];
    let p = moved(octave(3, 0.27, root, 0.93, 1.0, p), p, amount(0.045, 0.27));
    let [n2, n3] = [octave(13, 0.22, root, 1.06, 0.45, p)[0], octave(14, 0.11, 1.0, 1.1, 0.7, p)[0]];
    let finest = smooth(1.5, 3.0, a.scale * 0.052 * wide / apart) * 0.2;
    let n4 = octave(15, 0.052, 1.0, 1.15, 0.9, p)[0].abs() * finest;
    let wisps = 0.9 * n0 + 0.48 * n1 + 0.24 * n2 + 0.11 * n3;
    let heaps = 1.3 * n0 - 0.5 + 0.95 * n1.abs() + 0.55 * n2.abs() + 0.32 * n3.abs() + n4;
    let mut v = wisps + (heaps - wisps) * a.billows + 1.6 * (a.coverage - 0.5) + 0.35;
    let mut by = 1.0;
    match a.shape {
        Shape::Ground => {
            let above = ((a.floor - wy) / a.height).max(0.0);
            v += 0.42 * (1.0 - above).max(-1.5);
            by = 1.2 * (-0.9 * above * above).exp();
        }
        Shape::Plume => {
            v += 0.65 - 1.7 * u * u;
            by = 1.3 * smooth(-40.0, 60.0, up) * (1.0 - smooth(0.4 * a.height, a.height, up));
            by *= (0.25 + 0.75 / wide.sqrt()) * (1.0 - smooth(0.8, 1.7, (straight[0] / a.width).abs()));
        }
        _ => {}
    }
    let v = v.max(0.0);
    let body = v * v / (v + 0.35 * a.softness + 1e-6);
    let thread =
        (0.45 * ridge(1.6 * n1 + 0.3 * n2) + 0.33 * ridge(1.6 * n2) + 0.22 * ridge(1.6 * n3)).powi(3);
    let part = a.filaments * (1.0 - 0.7 * smooth(0.4, 1.3, body));
    let gust = |n, size: f64, speed: f64| {
        flow(a.seed, n, [size * 1.8, size], [drift[0] * speed, 0.0], 0.4 * a.change, straight)[0]
    };
    let gust = gust(21, 1100.0, 1.3) + 0.4 * gust(22, 420.0, 1.15);
    let gust = if a.gusts > 0.0 { 1.0 - a.gusts + a.gusts * 1.4 * smooth(-0.25, 0.5, gust) } else { 1.0 };
    body * (1.0 - part + part * 3.0 * thread) * by * gust
}

fn bound(given: &Given<'_>, f: &Format, level: Level) -> Atmosphere {
    let mut values = super::super::testing::values(&ENTRY, given);
    values.resolve(0, Some(99)).unwrap();
    AtmosphereSpec::read(&values).bound(f, 42, level).unwrap()
}

/// Spreads light in rows and columns: each sample gets what an exponential of a reach leaves of those before it, then of
/// those after it.
fn glow(light: &[f64], (len, count): (usize, usize), reach: [f64; 2]) -> Vec<f64> {
    let part = |n: usize, reach: f64| {
        let keep = reach / (1.0 + reach);
        let one = move |d: i32| if d < 0 { 0.0 } else { (1.0 - keep) * keep.powi(d) };
        let d = |a: usize, b: usize| a as i32 - b as i32;
        move |to: usize, from: usize| (0..n).map(|k| one(d(k, to)) * one(d(k, from))).sum::<f64>()
    };
    let [across, down] = [part(len, reach[0]), part(count, reach[1])];
    let table = |n: usize, part: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..n * n).map(|i| part(i / n, i % n)).collect()
    };
    let [across, down] = [table(len, &across), table(count, &down)];
    let cell = |i: usize, f: &dyn Fn(usize, usize) -> f64| f(i % len, i / len);
    let rows: Vec<f64> = (0..len * count)
        .map(|i| cell(i, &|x, y| (0..len).map(|k| across[x * len + k] * light[y * len + k]).sum()))
        .collect();
    (0..len * count)
        .map(|i| cell(i, &|x, y| (0..count).map(|k| down[y * count + k] * rows[k * len + x]).sum()))
        .collect()
}

/// The density and the light on the grid from the definition in f64.
fn twin(filter: &Atmosphere, now: &Now) -> [Vec<f64>; 2] {
    let (grid, (len, count)) = (&filter.grid, filter.grid.size);
    let unit = 1920.0 / f64::from(filter.format.width);
    let site = |i: usize, by: f64| (i as f64 - 1.5) * grid.step as f64 * by;
    let down = unit / filter.format.shape();
    let places = (0..count).flat_map(|j| (0..len).map(move |i| (i, j)));
    let all: Vec<f64> = places
        .clone()
        .map(|(i, j)| density(&now.air, grid.step as f64 * unit, [site(i, unit), site(j, down)]))
        .collect();
    if now.air.is_flames() {
        let light: Vec<f64> = all.iter().map(|heat| 5.0 * heat * heat).collect();
        let reach = |by: f64| GLOW * now.air.height / (by * grid.step as f64);
        let light = (0..2).fold(light, |light, _| glow(&light, (len, count), [reach(unit), reach(down)]));
        let light = light.into_iter().map(|v| (v - f64::from(FAINT)).max(0.0)).collect();
        return [all, light];
    }
    let at = |x: f64, y: f64| {
        let near = |v: f64, n: usize| v.clamp(0.0, n as f64 - 1.0) as usize;
        let value = |dx: f64, dy: f64| all[near(y.floor() + dy, count) * len + near(x.floor() + dx, len)];
        let (u, v) = (x - x.floor(), y - y.floor());
        (value(0.0, 0.0) * (1.0 - u) + value(1.0, 0.0) * u) * (1.0 - v)
            + (value(0.0, 1.0) * (1.0 - u) + value(1.0, 1.0) * u) * v
    };
    let far = |d: f64, by: f64, j: usize| {
        d * now.air.scale * wide(&now.air, now.air.origin[1] - site(j, down)) / (by * grid.step as f64)
    };
    let light = places.map(|(i, j)| {
        let [dx, dy] = now.light;
        let steps = [0.025, 0.065, 0.14, 0.27, 0.5];
        let towards = |d| 0.2 * at(i as f64 + far(d * dx, unit, j), j as f64 + far(d * dy, down, j));
        let sum: f64 = steps.map(towards).iter().sum();
        let x = now.shade * 2.2 * (sum - 0.85 * all[j * len + i] + 0.02);
        0.5 - 0.5 * x / (1.0 + x * x).sqrt()
    });
    let light = light.collect();
    [all, light]
}

/// The value of a grid at a sample of plane `p`.
fn interpolated(filter: &Atmosphere, grid: &[f64], p: usize, x: usize, y: usize) -> f64 {
    let (first, step) = filter.format.frame_sites(p);
    let (len, count) = filter.grid.size;
    let place = |v: f64, n: usize| (v / filter.grid.step as f64 + 1.5).clamp(1.0, n as f64 - 3.0);
    let at = [place(first[0] + x as f64 * step[0], len), place(first[1] + y as f64 * step[1], count)];
    let weight = |d: f64| {
        let d = d.abs();
        if d < 1.0 { (4.0 - 6.0 * d * d + 3.0 * d * d * d) / 6.0 } else { (2.0 - d).max(0.0).powi(3) / 6.0 }
    };
    let near = |v: f64| (v as usize - 1)..(v as usize + 3);
    near(at[1])
        .flat_map(|j| near(at[0]).map(move |i| (i, j)))
        .map(|(i, j)| weight(at[0] - i as f64) * weight(at[1] - j as f64) * grid[j * len + i])
        .sum()
}

/// The exact light of air on every site of the grid: gain, then offsets of planes.
fn mixed(filter: &Atmosphere, now: &Now, source: &Frame, [density, light]: &[Vec<f64>; 2]) -> Vec<Vec<f64>> {
    let f = &filter.format;
    let ambient = Ambient::new(source.as_ref(), f, filter.weights, Level::SCALAR);
    let luma = |c: [f64; 3]| 0.7152 * c[0] + 0.0722 * c[1] + 0.2126 * c[2];
    let key = ambient.key.map(f64::from);
    let key = key.map(|k| 1.15 * (0.3 * k + 0.7 * luma(key)));
    let (len, curve) = (filter.grid.size.0, TransferFunction::of(f));
    let around = ambient.widened(len, filter.grid.site(0), filter.grid.step as f64);
    let mut all = vec![Vec::new(); 4];
    for (i, (d, lit)) in density.iter().zip(light).enumerate() {
        let depth = f64::from(now.amount) * d;
        let (own, thin) = (1.0 - (-depth).exp(), 1.0 / (1.0 + 0.35 * depth));
        let offsets = [0, 1, 2].map(|c| {
            let ([a, b], part) = ambient.rows(&around, c, filter.grid.site(i / len));
            let near = f64::from(a[i % len]) + f64::from(part) * f64::from(b[i % len] - a[i % len]);
            let soft = (0.75 * near + 0.25 * key[c]) * (0.25 + 0.3 * thin);
            let hard = key[c] * (0.1 + 1.1 * lit) * (0.6 + 0.4 * thin);
            f64::from(now.tint[c]) * (soft + hard) * own
        });
        let most = offsets.into_iter().fold(0.0, f64::max);
        all[0].push(curve.code((-depth).exp() + most) - curve.code(most));
        let planes = offsets.map(|v| curve.code(v));
        let rows = filter.weights.to_yuv();
        for p in 0..3 {
            let row = rows[p][0] * planes[0] + rows[p][1] * planes[1] + rows[p][2] * planes[2];
            all[p + 1].push(if f.is_rgb() { planes[p] } else { row });
        }
    }
    all
}

/// Differences of R, G and B that flames make, as planes of G, B and R.
fn burnt(filter: &Atmosphere, now: &Now, source: &Frame, [heat, glow]: &[Vec<f64>; 2]) -> Frame {
    let f = source.format();
    let curve = TransferFunction::of(f);
    let rgb =
        Format { picture: f.picture, ..Format::new(f.width, f.height, Family::Rgb, Depth::Float, (0, 0)) };
    let mut made = Frame::new(rgb);
    let a = f.alpha_plane().filter(|_| f.alpha == Alpha::Premultiplied);
    for (x, y) in (0..f.height as usize).flat_map(|y| (0..f.width as usize).map(move |x| (x, y))) {
        let alpha = a.map_or(1.0, |p| (raw(source.plane(p), f.depth, x, y) - codes(f, p).0) / codes(f, p).1);
        let by = if alpha > 0.0 && alpha.is_finite() { alpha } else { 1.0 };
        let h = 1.25 * interpolated(filter, heat, 0, x, y);
        let g = interpolated(filter, glow, 0, x, y);
        let ramps = [(1.1 * h.powi(3), 2.2), (0.28 * h.powi(5), 0.5), (2.6 * h * h, 6.0)];
        for (q, (ramp, shine)) in ramps.into_iter().enumerate() {
            let v = reference(source, &rgb, q, x, y) / by;
            let behind = curve.light(v) * (-f64::from(now.amount) * h * h / (h + 0.15)).exp();
            let ramp = ramp + shine * g * (behind.max(0.0) + 0.012);
            let light = behind + (1.0 - behind).max(0.0) * (1.0 - (-ramp * f64::from(now.tint[q])).exp());
            let alpha = if alpha.is_finite() { alpha } else { 1.0 };
            let more = if h + g > 0.0 && v.is_finite() { (curve.code(light) - v) * alpha } else { 0.0 };
            made.row_mut::<f32>(q, y)[x] = more as f32;
        }
    }
    made
}

fn check(given: &Given<'_>, number: i64, formats: &[(&str, u32, u32)]) {
    for &(name, width, height) in formats {
        let plain = format(name, width, height);
        let multiplied = Format { alpha: Alpha::Premultiplied, range: ColorRange::Full, ..plain };
        for f in [Some(plain), plain.has_alpha().then_some(multiplied)].into_iter().flatten() {
            let source = picture(f);
            let filter = bound(given, &f, Level::SCALAR);
            let (_, now) = filter.at(&frame_time(number)).unwrap();
            let grids = twin(&filter, &now);
            let made = filter.grid.state(
                Level::SCALAR,
                &now.air,
                (now.light, now.shade),
                State::default(),
                &CurrentThread,
            );
            let is_flames = now.air.shape == Shape::Flames;
            for (i, (got, want)) in made.density.iter().zip(&grids[0]).enumerate() {
                assert!((f64::from(*got) - want).abs() < 2e-3, "{given:?} {f:?}: density {i} {got} {want}");
            }
            for (i, (got, want)) in made.light.iter().zip(&grids[1]).enumerate() {
                assert!((f64::from(*got) - want).abs() < 5e-3, "{given:?} {f:?}: light {i} {got} {want}");
            }
            assert!(width < 30 || made.density.iter().any(|v| *v > 0.1), "{given:?} {name}: nothing");
            let grids = [made.density, made.light].map(|all| all.into_iter().map(f64::from).collect());
            let mixed = if is_flames { Vec::new() } else { mixed(&filter, &now, &source, &grids) };
            let added = is_flames.then(|| burnt(&filter, &now, &source, &grids));
            let got = run(&*bind(&ENTRY, given, &f, Level::SCALAR), &source, number, &[]);
            for p in 0..f.planes() {
                let ((w, h), (zero, span)) = (f.plane_size(p), codes(&f, p));
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    let [was, is] = [&source, &got].map(|frame| raw(frame.plane(p), f.depth, x, y));
                    if Some(p) == f.alpha_plane() || !was.is_finite() || is_uncovered(&source, p, x, y) {
                        assert!(was == is || was.is_nan() && is.is_nan(), "{f:?} {p} {x},{y}: {was} {is}");
                        continue;
                    }
                    let want = if let Some(added) = &added {
                        was + reference(added, &f, p, x, y) * span
                    } else {
                        let alpha = reference_alpha(&source, p, x, y);
                        let gain = interpolated(&filter, &mixed[0], p, x, y);
                        let offset = interpolated(&filter, &mixed[1 + p.min(2)], p, x, y);
                        zero + (was - zero) * gain + offset * alpha * span
                    };
                    let limits = f.legal(p).map_or((f64::MIN, f64::MAX), |(low, high)| {
                        (was.min(low.into()), was.max(high.into()))
                    });
                    let want = want.clamp(limits.0, limits.1);
                    let by = if f.depth == Depth::Float { 2e-4 } else { 0.51 + 1e-4 * span };
                    assert!(
                        (is - want).abs() <= by,
                        "{f:?} {given:?} plane {p} at {x},{y}: {was} became {is}, not {want}"
                    );
                }
            }
            for (level, cuts) in Level::available().iter().flat_map(|l| [(*l, &[][..]), (*l, &[4, 8, 16])]) {
                let again = run(&*bind(&ENTRY, given, &f, level), &source, number, cuts);
                assert!(again == got, "{f:?} {given:?} {level} {cuts:?}");
            }
        }
    }
}

fn reference_alpha(source: &Frame, p: usize, x: usize, y: usize) -> f64 {
    let f = source.format();
    let Some(a) = f.alpha_plane().filter(|_| f.alpha == Alpha::Premultiplied) else { return 1.0 };
    let mut row = vec![0.0; f.plane_size(p).0];
    point::mean_alpha(f, source.plane(a), p, y, &mut row);
    row[x]
}

#[test]
fn every_sample_is_as_defined() {
    check(&[("preset", "smoke"), ("width", "900"), ("scale", "500"), ("rise", "0=50;50=90")], 30, FORMATS);
    check(&[("preset", "fire"), ("width", "2500"), ("scale", "600"), ("color", "#80c0ff")], 7, FORMATS);
    let other = [FORMATS[0], FORMATS[3], FORMATS[9], FORMATS[13]];
    check(&[("preset", "clouds"), ("color", "#ff8000"), ("light", "20")], 1_000_000, &other);
    check(&[("preset", "fog"), ("gusts", "1"), ("evolution", "3")], 99, &other);
}

/// Wide planes take another way to interpolate than narrow ones, to the same bytes.
#[test]
fn interpolation_of_all_steps_is_the_same() {
    for (name, width) in [("yuv420p", 970), ("yuv444p", 1930), ("yuv411p", 1927), ("gray", 3001)] {
        let f = format(name, width, 9);
        let grid = Grid::new(&f);
        let row: Vec<f32> = (0..grid.size.0).map(|i| (i * i % 97) as f32).collect();
        for p in 0..f.planes().min(2) {
            let columns = Columns::new(&f, p, &grid);
            let slow = Columns::new(&f, p, &grid).slow();
            for &level in Level::available() {
                let [mut a, mut b] = [vec![0.0; columns.room()], vec![0.0; columns.room()]];
                columns.widen(level, &row, &mut a);
                slow.widen(level, &row, &mut b);
                let n = f.plane_size(p).0;
                assert!(a[..n] == b[..n], "{name} {p} {level}");
            }
        }
    }
}

/// The correlation of two grids, the second moved by whole columns.
fn correlation(a: &[f32], b: &[f32], len: usize, by: usize) -> f64 {
    let pairs = || {
        let rows = a.chunks_exact(len).zip(b.chunks_exact(len));
        rows.flat_map(move |(a, b)| a[..len - by].iter().zip(&b[by..]))
    };
    let n = pairs().count() as f64;
    let mean = pairs().fold([0.0, 0.0], |m, (a, b)| [m[0] + f64::from(*a) / n, m[1] + f64::from(*b) / n]);
    let [mut ab, mut aa, mut bb] = [0.0; 3];
    for (a, b) in pairs() {
        let (a, b) = (f64::from(*a) - mean[0], f64::from(*b) - mean[1]);
        (ab, aa, bb) = (ab + a * b, aa + a * a, bb + b * b);
    }
    ab / (aa * bb).sqrt()
}

#[test]
fn shapes_drift_with_the_wind_and_do_not_boil() {
    let f = format("gray", 960, 540);
    // In 8 frames of 24 a second by 120 samples of a picture 1920 wide: 30 columns of 4.
    let given = [("preset", "clouds"), ("wind", "360"), ("scale", "250"), ("stretch", "1")];
    let filter = bound(&given, &f, Level::best());
    let [first, later] = [48, 56].map(|n| {
        let (_, now) = filter.at(&frame_time(n)).unwrap();
        let state = State::default();
        filter.grid.state(Level::best(), &now.air, (now.light, now.shade), state, &CurrentThread)
    });
    let len = filter.grid.size.0;
    let [still, moved] = [0, 30].map(|by| correlation(&first.density, &later.density, len, by));
    assert!(moved > 0.85 && still < 0.6, "{still} {moved}");
}

#[test]
fn flames_only_add_light_without_soot_and_air_darkens_a_bright_picture_only() {
    let f = format("gbrp16", 320, 180);
    for level in [0u16, 6000, 30_000, 65_535] {
        let mut source = Frame::new(f);
        (0..3).for_each(|p| (0..180).for_each(|y| source.row_mut::<u16>(p, y).fill(level)));
        let made = |given: &Given<'_>| run(&*bind(&ENTRY, given, &f, Level::best()), &source, 20, &[]);
        let values = |frame: &Frame| -> Vec<u16> {
            (0..3).flat_map(|p| (0..180).flat_map(move |y| frame.row::<u16>(p, y).to_vec())).collect()
        };
        let fire = values(&made(&[("preset", "fire"), ("amount", "0")]));
        assert!(fire.iter().all(|v| *v >= level));
        let smoke = values(&made(&[("preset", "smoke")]));
        let [low, high] = [smoke.iter().min().unwrap(), smoke.iter().max().unwrap()];
        match level {
            0 => assert_eq!(*high, 0, "there is no light"),
            65_535 => assert!(*low < 58_000, "it is dark against the sky: {low}"),
            // It is no brighter than the scene by much, and not invisible.
            _ => {
                assert!(f64::from(*high) < 1.4 * f64::from(level) && *low < level, "{level}: {low} to {high}")
            }
        }
    }
}
